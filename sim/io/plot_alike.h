/* plot_alike.h - equal neighbours of a strategy's picture, drawn once with a count.
 *
 * Operators are alike if they are cut along the same dimensions, to the same degrees, and their parts lie on the
 * same devices.  Blocks that follow each other, of operators that stand alike and are alike, become one
 * ("stage3.2 … stage3.23 ×22"); of an unrolled network so do steps that are alike in every layer.
 */
#ifndef SS_PLOT_ALIKE_H
#define SS_PLOT_ALIKE_H

#include "io/plot_blocks.h"

/* Sets like[op] of the operators that others are drawn for, and makes blocks and columns fewer. */
ss_status ss_plot_alike(const ss_picture *p, uint32_t ops, ss_plot_blocks *b, ss_error *err);

#endif
