/* fit_report.h - a fit as a page for a terminal, and as JSON. */
#ifndef SS_FIT_REPORT_H
#define SS_FIT_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "simulate/fit.h"

enum { SS_FIT_REPORT_OUTLIERS = 5 }; /* the furthest are shown, of more */

/* name: of the curve, or "". Both append. */
ss_status ss_fit_report_text(const ss_fit *f, const char *name, ss_text *out, ss_error *err);
ss_status ss_fit_report_json(const ss_fit *f, const char *name, ss_text *out, ss_error *err);

/* What a reader must be warned of: what the rows leave open, a shape that is no line.  A sentence a line;
 * nothing where there is nothing to say. */
void ss_fit_report_notes(const ss_fit *f, ss_text *out);

#endif
