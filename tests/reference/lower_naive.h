/* lower_naive.h - the slow twin of ss_lower: every pair of parts, every element, nothing
 * remembered.
 *
 * It says in loops what lower.h says in words.  Tensors must be small: overlaps are counted element
 * by element.  It stops the program when something is refused, so give it what ss_lower took.
 */
#ifndef SS_LOWER_NAIVE_H
#define SS_LOWER_NAIVE_H

#include "graph/lower.h"

typedef struct naive_shard {
    uint32_t weight;
    ss_box box;
    uint32_t devices;
    uint32_t *device; /* [devices] */
} naive_shard;

typedef struct naive_lowered {
    ss_tasks tasks;
    uint32_t shards;
    naive_shard *shard; /* [shards] */
    int64_t moved[SS_CARGOS];
    double charged_bytes;
} naive_lowered;

void naive_lower(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                 const ss_timer *timer, const ss_lower_options *o, naive_lowered *out);
void naive_lowered_free(naive_lowered *n);

#endif
