/* lower_naive.h - the slow twins of ss_lower and ss_lower_holds: every pair of parts, every
 * element, nothing remembered.
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

/* A message between parts p of the operator that makes input v of j, and q of j. */
typedef struct naive_message {
    ss_cargo cargo;
    uint32_t j, v, p, q;
    uint32_t first, arrival, segments; /* tasks of its first and of its last hop */
    int64_t bytes;
    uint32_t sum; /* task that adds up its gradients before it leaves, or 0 */
} naive_message;

typedef struct naive_lowered {
    ss_tasks tasks;
    uint32_t *forward, *backward; /* by operator: task of part 0; 0: none */
    uint32_t **sum;               /* by operator, part: task that adds up its gradients, or 0 */
    uint32_t ops;
    naive_message *message; /* [messages] */
    uint32_t messages;
    uint32_t shards;
    naive_shard *shard; /* [shards] */
    int64_t moved[SS_CARGOS];
    double charged_bytes;
} naive_lowered;

void naive_lower(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                 const ss_timer *timer, const ss_lower_options *o, naive_lowered *out);

/* The slow twin of ss_lower_holds: a line of text for each hold, sorted. */
typedef struct naive_holds {
    char **line;
    uint32_t n;
} naive_holds;

void naive_hold(const ss_model *m, const ss_strategy *s, const ss_lower_options *o,
                const naive_lowered *l, naive_holds *out);
/* The holds of ss_lower_holds in the same form. */
void naive_holds_of(const ss_holds *h, naive_holds *out);
void naive_holds_free(naive_holds *h);

void naive_lowered_free(naive_lowered *n);

#endif
