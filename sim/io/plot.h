/* plot.h - figures: a step's data as a table, and gnuplot to draw it.
 *
 * The scripts are analysis/KIND.gp, made for people to edit; each takes DATA, OUT and a width and
 * needs nothing else, and the table is kept beside the figure, so a figure can be redone, changed
 * or redrawn by another program without soapstone:  gnuplot -c gantt.gp step.svg.tsv step.pdf 7
 *
 * Bars too short to be seen are merged, and the figure says how many and how they are to be read;
 * so are lanes left out.  A table is tab-separated with a header line; rows of kind "title" and
 * "note" hold the words on the figure in the column "label".  In names a backslash is doubled and a
 * quote is \042, as gnuplot reads them.
 */
#ifndef SS_PLOT_H
#define SS_PLOT_H

#include "base/status.h"
#include "base/text.h"
#include "io/view.h"

typedef enum ss_plot_kind {
    SS_PLOT_GANTT,  /* what each device and link does when */
    SS_PLOT_LINKS,  /* how long the busiest links are taken, and by what */
    SS_PLOT_MEMORY, /* memory held over time, and what its peak is made of */
    SS_PLOT_KINDS
} ss_plot_kind;

const char *ss_plot_kind_name(ss_plot_kind k); /* "gantt" */

#define SS_PLOT_COLUMN_IN 3.5 /* inches: the width of a column on paper */
enum { SS_PLOT_SLIMMEST_IN = 1, SS_PLOT_WIDEST_IN = 40 };

typedef struct ss_plot_options {
    const char *scripts; /* folder of the *.gp files; needed to draw */
    const char *gnuplot; /* program; NULL: "gnuplot", looked up in PATH */
    double width_in;     /* inches on paper, 1 to 40; 0: 3.5, one column. Text is 7 points there. */
    ss_time from, to;    /* of a Gantt chart, else refused; to 0: to the end of the step, and behind
                             it there is room */
    uint32_t max_devices; /* lanes; 0: 64. Beyond: those of the critical path, the busiest and
                             the idlest; or the fullest */
    uint32_t max_links;   /* lanes; 0: 24, the busiest, of links. In a Gantt chart those of the
                             critical path come before the busiest; 0: 16, for the path up to 64 */
} ss_plot_options;        /* {0} and a folder is the usual figure */

/* Only the table.  Of what there is not (no link carries anything, a bare task graph holds no
 * memory, a step takes no time) it says so in a note, so that figures of a list of steps can be
 * drawn whatever the steps.  A window that begins behind the step, or ends before it begins, is
 * refused. */
ss_status ss_plot_data(const ss_view *v, ss_plot_kind kind, const ss_plot_options *o, ss_text *out,
                       ss_error *err);

/* Refuses a path whose ending is none of these, before anything is drawn. */
ss_status ss_plot_check_ending(const char *path, ss_error *err);

/* Draws into `path`, whose ending (.svg, .png, .pdf) says the format, and keeps the table beside it
 * as PATH.tsv.  Nothing appears under its final name before both are whole.  Without gnuplot
 * SS_EUNSUPPORTED; if gnuplot fails SS_EIO with what it said. */
ss_status ss_plot(const ss_view *v, ss_plot_kind kind, const char *path, const ss_plot_options *o,
                  ss_error *err);

#endif
