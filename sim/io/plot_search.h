/* plot_search.h - figures of searches, from their logs: what was found when, and how the walk went.
 *
 * Several logs, each with a chain or more, lie over each other, a colour for each chain.  A log of
 * millions of proposals is thinned: of the best cost every change is kept, so that curve is exact; of
 * the current cost those values that share a column of the figure are drawn by the first, the least, the
 * greatest and the last, and a note says of how many values.  Shares are means over a moving window,
 * taken at one proposal a column.
 */
#ifndef SS_PLOT_SEARCH_H
#define SS_PLOT_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "io/plot.h"
#include "io/trajectory.h"

typedef enum ss_plot_search_kind {
    SS_PLOT_COST,       /* best and current cost: search.gp */
    SS_PLOT_ACCEPTANCE, /* share accepted, stopped early, and of tasks simulated: acceptance.gp */
    SS_PLOT_SEARCH_KINDS
} ss_plot_search_kind;

const char *ss_plot_search_kind_name(ss_plot_search_kind k); /* "search", "acceptance" */

typedef struct ss_plot_log {
    const char *label; /* tells it from the others; a chain is named too where there are several.
                          Of one log it is in the title; NULL: not there */
    const ss_trajectory_view *view;
} ss_plot_log;

enum { SS_PLOT_CHAINS = 8, SS_PLOT_MAX_CHAINS = 20 };

/* Where an axis begins or ends: as far as the values go unless given. */
typedef struct ss_plot_end {
    bool given;
    double at;
} ss_plot_end;

typedef struct ss_plot_search_options {
    ss_plot_end from_x,
        to_x; /* proposals or seconds: what is outside is not drawn, and y goes as far
                                 as what is inside */
    ss_plot_end from_y, to_y; /* seconds of a step, or percent */
    bool seconds;             /* of wall clock, each chain's own, instead of proposals */
    bool log_x, log_y;
    uint32_t
        window; /* proposals that a share is the mean of; 0: a fiftieth of the longest chain, 20
                            at least. Of a shorter chain all of it */
    uint32_t
        max_chains; /* 0: 8, that more colours than can be told apart; at most 20. Beyond, those that
                            found the least cost; a note says of how many */
} ss_plot_search_options;

/* Refuses: no log; no chain with a proposal yet; a window longer than a log; too many chains; a share on
 * a logarithmic axis; axes that begin behind the longest chain, or end before they begin. */
ss_status ss_plot_search_data(const ss_plot_log *log, uint32_t logs, ss_plot_search_kind kind,
                              const ss_plot_search_options *so, const ss_plot_options *o,
                              ss_text *out, ss_error *err);
ss_status ss_plot_search(const ss_plot_log *log, uint32_t logs, ss_plot_search_kind kind,
                         const char *path, const ss_plot_search_options *so,
                         const ss_plot_options *o, ss_error *err);

#endif
