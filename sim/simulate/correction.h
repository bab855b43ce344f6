/* correction.h - how long tasks take in a step, against what is known of their times alone.
 *
 * A task that takes t seconds alone takes overhead + factor x t in a step, with a factor for each kind of operator and
 * phase ("linear forward"), for all kinds of a phase that have none of their own ("forward"), and for each kind of stream
 * ("copy", "sum", "update", "message").  What is not set is 1, and the overhead 0.  What takes no time alone (a view) takes
 * none.  validation/compare/task_fit.h finds one from executed steps; docs/decisions/0046-a-step-is-not-its-parts.md says
 * what it stands for.
 */
#ifndef SS_CORRECTION_H
#define SS_CORRECTION_H

#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/lower.h"
#include "graph/op.h"

typedef struct ss_correction ss_correction;

ss_status ss_correction_new(ss_correction **out, ss_error *err);
void ss_correction_free(ss_correction *c); /* when its last holder is gone; NULL: nothing */
ss_correction *ss_correction_hold(ss_correction *c); /* once more; then it is not to be changed */

ss_status ss_correction_set_overhead(ss_correction *c, double seconds, ss_error *err); /* 0 to 1 s */
/* Refuses what is no name of the above, with the nearest, and factors that are not above 0. */
ss_status ss_correction_set(ss_correction *c, const char *what, double factor, ss_error *err);

double ss_correction_of_part(const ss_correction *c, const ss_op_kind *kind, ss_phase phase, double seconds);
double ss_correction_of_stream(const ss_correction *c, ss_stream what, double seconds);

void ss_correction_say(const ss_correction *c, ss_text *out); /* " corrected by 12 factors and 0.2 us a task" */
uint64_t ss_correction_hash(const ss_correction *c, uint64_t h);

#endif
