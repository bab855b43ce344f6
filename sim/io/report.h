/* report.h - a step as a page for a terminal, and as JSON.
 *
 * Works on a view, so a timeline read back from a file is told like one just simulated.  The page
 * is at most 100 columns wide and a screen or two long however many devices there are: it shows the
 * extremes and says how many rows it left out.  The JSON has every device and link; times are in
 * seconds, exact to the picosecond, and names carry their unit ("busy_s", "sent_bytes").
 */
#ifndef SS_REPORT_H
#define SS_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "io/view.h"

enum {
    SS_REPORT_WIDTH = 100,
    SS_REPORT_DEVICES = 16, /* shown in full up to here; above, the busiest and the idlest */
    SS_REPORT_LINKS = 6,
    SS_REPORT_WAITED = 3,
    SS_REPORT_CONTRIBUTORS = 6
};

/* Both append to `out`; on failure it is left with what was appended so far. */
ss_status ss_report_text(const ss_view *v, ss_text *out, ss_error *err);
ss_status ss_report_json(const ss_view *v, ss_text *out, ss_error *err);

/* What a reader must be warned of: memory that does not fit, devices left idle, bytes that no link
 * saw.  A sentence a line; nothing where there is nothing to say. */
void ss_report_notes(const ss_view *v, ss_text *out);

/* What the critical path is made of: its tasks grouped by operator (or weight), kind and cargo,
 * heaviest first.  active + queueing over all groups is the step time, less its overhead. */
typedef struct ss_contributor {
    const char *op;
    uint8_t kind, cargo; /* ss_task_kind, ss_cargo */
    uint32_t tasks;
    ss_time active, queueing;
    uint32_t waited; /* the task of the group that queued longest; 0: none did */
} ss_contributor;

/* What the tasks of the critical path queued for, the longest first; the sum is path_queueing. */
typedef struct ss_waited {
    uint32_t lane;
    ss_time queueing;
} ss_waited;

/* *out is for the caller to ss_free. */
ss_status ss_report_waited(const ss_view *v, ss_waited **out, uint32_t *n, ss_error *err);
ss_status ss_report_contributors(const ss_view *v, ss_contributor **out, uint32_t *n,
                                 ss_error *err);

/* For other pages of ours: a name in so many columns, cut with … or, with `fill`, filled up; and words
 * from column `indent` on, in lines of SS_REPORT_WIDTH, the later ones indented too. */
void ss_report_add_name(ss_text *out, const char *name, uint32_t width, bool fill);
void ss_report_add_wrapped(ss_text *out, const char *text, uint32_t indent);

#endif
