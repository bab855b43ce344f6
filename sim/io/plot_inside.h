/* plot_inside.h - what the tables of the figures share. */
#ifndef SS_PLOT_INSIDE_H
#define SS_PLOT_INSIDE_H

#include "graph/tasks.h"
#include "io/plot.h"

enum {
    SS_PLOT_LABEL = 200,  /* characters of a lane's name; the scripts shorten what they show */
    SS_PLOT_DEVICES = 64, /* rows of devices unless the options say how many */
    SS_PLOT_COLOURS =
        SS_TASK_KINDS + SS_CARGOS /* what a bar may show: a kind of task, or a cargo */
};

/* A field of the table: a backslash as two and a quote as \042, which gnuplot reads back; line ends,
 * tabs and other control bytes become blanks, and what is no UTF-8 a question mark.  Names are cut to
 * `width` letters. */
void ss_plot_add_field(ss_text *out, const char *s, uint32_t width);
const char *ss_plot_time(ss_time t, char *b, size_t n); /* "1.500 µs"; n: SS_QUANTITY_TEXT */
void ss_plot_add_seconds(ss_text *out, ss_time t);      /* after a tab, exact */
void ss_plot_add_count(ss_text *out, uint32_t n, const char *what); /* "12 devices" */
/* Row, label and kind of the title; `more` follows the step's time. */
void ss_plot_add_title(const ss_view *v, const char *more, ss_text *out);

/* Columns of a figure that a reader could tell apart. */
int64_t ss_plot_cells(const ss_plot_options *o);

uint32_t ss_plot_colour(const ss_view_task *t);
const char *ss_plot_colour_name(uint32_t colour);

typedef struct ss_plot_ranked {
    int64_t much;
    uint32_t lane;
    bool critical; /* comes before all that are not */
} ss_plot_ranked;

/* Lanes first .. last, those of the critical path first, then by how long they are busy (or how
 * much they hold).  critical: [lanes + 1], or NULL where the path does not matter.  To be freed;
 * NULL: no memory. */
ss_plot_ranked *ss_plot_rank(const ss_view *v, uint32_t first, uint32_t last, bool by_memory,
                             const bool *critical, ss_error *err);

ss_status ss_plot_check_width(const ss_plot_options *o, ss_error *err);
/* What can be refused before there is a table: the ending of the path, the script, the width. */
ss_status ss_plot_check(const char *figure, const char *path, const ss_plot_options *o,
                        ss_error *err);
/* Draws a table with FIGURE.gp, as ss_plot does. */
ss_status ss_plot_draw(const char *figure, const ss_text *table, const char *path,
                       const ss_plot_options *o, ss_error *err);

ss_status ss_plot_gantt_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                             ss_error *err);
ss_status ss_plot_links_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                             ss_error *err);
ss_status ss_plot_memory_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                              ss_error *err);

#endif
