/* picture.h - a strategy as rows that a figure can be made of, whether it is in memory or in a file.
 *
 * As view.h is for a step: a record holds what the picture needs, so no model has to be made again to
 * draw a strategy from last year.  A picture owns its memory and refers to nothing else.
 */
#ifndef SS_PICTURE_H
#define SS_PICTURE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "graph/strategy.h"

typedef struct ss_picture_device {
    const char *name;
    uint32_t machine; /* 0: alone */
} ss_picture_device;

typedef struct ss_picture_op {
    const char *name, *share;            /* share "": weights of its own */
    const char *dimensions;              /* "n:s c:p": name and class of each */
    uint32_t layer;                      /* 0: none */
    uint32_t degree[SS_MAX_DIMS], parts; /* parts as strategy.h numbers them */
    uint32_t first;                      /* row of `device`, from 0, of part 0 */
} ss_picture_op;

typedef struct ss_picture_edge {
    uint32_t from, to; /* operators; from 0: an input of the model */
} ss_picture_edge;

typedef struct ss_picture {
    const char *model, *topology, *strategy; /* names */
    uint32_t ops, devices, parts, edges;
    ss_picture_op *op;         /* [ops + 1], rows from 1 */
    ss_picture_device *device; /* [devices + 1], rows from 1 */
    uint32_t *part;            /* [parts]: device of each, operator by operator */
    ss_picture_edge *edge;     /* [edges] */
    ss_arena arena;            /* holds all of it */
} ss_picture;                  /* {0} */

ss_status ss_picture_of(const ss_strategy *s, const char *name, ss_picture *out, ss_error *err);

/* From a record or the log of a search.  Without a name: the only strategy, or that which a search
 * found ("best"). */
ss_status ss_picture_read(const char *path, const char *name_or_null, ss_picture *out,
                          ss_error *err);

void ss_picture_free(ss_picture *p);

/* Of a dimension its class, an ss_dim_class; SS_DIM_WHOLE beyond the operator's rank. */
char ss_picture_class(const ss_picture_op *op, uint32_t dim);

#endif
