/* plot_strategy.h - a strategy drawn: a box for each operator, cut into its parts, in the colours of
 * the devices that hold them.
 *
 * As in FlexFlow's figures 12 and 13 (MLSys 2019): rows of a box are parts of the samples, columns parts
 * of the other dimensions.  Operators of a layer, or whose names begin alike ("A1.2_1"), are a block, in
 * which they go from left to right as they depend on each other and branches lie one below the other.
 * Of an unrolled recurrent network a layer is a row and a step a column.
 */
#ifndef SS_PLOT_STRATEGY_H
#define SS_PLOT_STRATEGY_H

#include "base/status.h"
#include "base/text.h"
#include "io/picture.h"
#include "io/plot.h"

enum {
    SS_PLOT_MAX_OPS = 3000, /* those behind are left out, and a note says so */
    SS_PLOT_MAX_GRID = 32   /* parts in a row or column of a box; of more, every n-th is drawn */
};

/* Refuses a model without operators. */
ss_status ss_plot_strategy_data(const ss_picture *p, const ss_plot_options *o, ss_text *out,
                                ss_error *err);
ss_status ss_plot_strategy(const ss_picture *p, const char *path, const ss_plot_options *o,
                           ss_error *err);

#endif
