/* plot_curves.h - figures of curves: any series over any axes, in one panel or several.
 *
 * All of them are drawn by analysis/curves.gp; search.gp and others load it.  The table says everything,
 * so that a person can change names, axes or looks there and draw again (docs/file-format.md lists
 * its rows).
 */
#ifndef SS_PLOT_CURVES_H
#define SS_PLOT_CURVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "io/plot.h"

typedef enum ss_plot_look {
    SS_PLOT_LINES,
    SS_PLOT_STEPS, /* a value holds until the next */
    SS_PLOT_POINTS,
    SS_PLOT_BOTH, /* lines and points */
    SS_PLOT_LOOKS
} ss_plot_look;

typedef enum ss_plot_tone {
    SS_PLOT_PLAIN,
    SS_PLOT_PALE,      /* behind the others: thin, in a lighter colour */
    SS_PLOT_PUBLISHED, /* of somebody else: dashed, with open points */
    SS_PLOT_TONES
} ss_plot_tone;

const char *ss_plot_look_name(ss_plot_look l); /* "lines" */
const char *ss_plot_tone_name(ss_plot_tone t); /* "plain" */

enum {
    SS_PLOT_MAX_SERIES = 200,
    SS_PLOT_MAX_ENTRIES = 40, /* of the legend */
    SS_PLOT_MAX_PANELS = 24,
    SS_PLOT_NO_COLOUR = UINT32_MAX /* grey, for what stands for every colour */
};

typedef struct ss_plot_axis {
    const char *name; /* "cost" */
    const char *unit; /* NULL: none is written. "s": the figure chooses ns, us, ms or s */
    uint32_t log;     /* 0: linear; else the base, 2 or 10 */
    double from, to;  /* NAN: as far as the values go */
} ss_plot_axis;

typedef struct ss_plot_series {
    const char *label; /* in the legend; NULL: not there */
    uint32_t panel;    /* from 0 */
    uint32_t colour;   /* from 0; series that belong together have one */
    ss_plot_look look;
    ss_plot_tone tone;
    const double *x, *y; /* [n]; a y that is no number interrupts a line */
    uint32_t n;
} ss_plot_series;

typedef struct ss_plot_curves {
    const char *figure; /* name of the script: "lines" */
    const char *title;  /* "" : none */
    ss_plot_axis x, y;
    const char *const *panel; /* [panels]: names; one panel may have "" */
    uint32_t panels;
    uint32_t columns;             /* of panels; 0: as many as fit */
    const ss_plot_series *series; /* [n] */
    uint32_t n;
    const char *const *note; /* [notes] */
    uint32_t notes;
    bool ticks_at_values; /* of x: a number for each value, as far as there is room */
    const double *ticks;  /* [n_ticks] of x, in place of those: where values are moved aside */
    uint32_t n_ticks;
    bool zero_at_left; /* x = 0 stands at the left end of a logarithmic axis; else it is refused */
} ss_plot_curves;

/* Refuses, naming the series: no series, or none with a point; too many
 * series, panels or entries of the legend; an x that is no finite number; an infinite y; a value not above 0 on an axis that is
 * logarithmic, or an end or a tick of it; a tick that is no finite number; an axis that ends before it begins; axes that show nothing of any series. */
ss_status ss_plot_curves_data(const ss_plot_curves *c, ss_text *out, ss_error *err);
/* As ss_plot. */
ss_status ss_plot_curves_draw(const ss_plot_curves *c, const char *path, const ss_plot_options *o,
                              ss_error *err);

#endif
