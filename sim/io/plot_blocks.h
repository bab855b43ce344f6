/* plot_blocks.h - which operators are drawn together, and where in their block each stands. */
#ifndef SS_PLOT_BLOCKS_H
#define SS_PLOT_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "io/picture.h"

typedef struct ss_plot_block {
    const char *label; /* "A1", "encoder1" */
    bool unrolled;     /* steps that share their weights: one row */
    uint32_t ops;
    uint32_t columns, rows; /* of operators */
} ss_plot_block;

typedef struct ss_plot_place {
    uint32_t block;       /* from 0 */
    uint32_t column, row; /* in the block */
} ss_plot_place;

typedef struct ss_plot_steps {
    uint32_t first, last; /* from 0 */
} ss_plot_steps;

typedef struct ss_plot_blocks {
    ss_plot_block *block; /* [n], in the order of their first operators */
    uint32_t n;
    ss_plot_place *place; /* [ops + 1] */
    bool unrolled;        /* most operators are of unrolled blocks: layers are rows */
    uint32_t *like;       /* [ops + 1]: the operator drawn for it, or 0; NULL: each is drawn */
    ss_plot_steps *step;  /* of each column of unrolled blocks; NULL: one */
    ss_arena arena;
} ss_plot_blocks; /* {0} */

/* Of operators 1 .. ops of the picture. */
ss_status ss_plot_blocks_of(const ss_picture *p, uint32_t ops, ss_plot_blocks *out, ss_error *err);
void ss_plot_blocks_free(ss_plot_blocks *b);

#endif
