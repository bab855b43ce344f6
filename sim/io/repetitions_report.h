/* repetitions_report.h - repetitions (search/repetitions.h) for a person, and as JSON. */
#ifndef SS_REPETITIONS_REPORT_H
#define SS_REPETITIONS_REPORT_H

#include "base/text.h"
#include "search/repetitions.h"

/* name: by strategy; assumptions: what was in force. */
void ss_repetitions_report(const ss_repetitions *r, const char *const *name,
                           const char *assumptions, ss_text *out);
void ss_repetitions_json(const ss_repetitions *r, const char *const *name, const char *assumptions,
                         ss_text *out);

#endif
