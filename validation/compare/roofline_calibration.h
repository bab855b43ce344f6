/* roofline_calibration.h - a roofline fitted to what strategies need and a table has measured, and tested on parts that were
 * left out.
 *
 * Each part of an operator is a row once for each phase that has work, whoever needs it.  Parts are drawn by key (kind, attributes, shape,
 * element type: ss_cost_key), so that all phases of a part are on the same side; of each kind of operator a share of its keys is held
 * out, so that both sides have all kinds.
 */
#ifndef SS_ROOFLINE_CALIBRATION_H
#define SS_ROOFLINE_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "graph/strategy.h"
#include "simulate/cost.h"
#include "simulate/roofline_fit.h"
#include "validation/compare/compare.h"

typedef struct ss_roofline_part {
    uint32_t key; /* of `keys` */
    const ss_op_kind *kind;
    ss_phase phase;
    bool input_gradient;
    bool held_out;
    ss_roofline_row row;         /* with the measured seconds */
    double builtin_s, fitted_s;  /* by the constants */
} ss_roofline_part;

/* Comparisons with what was measured; n is 0 where there are no rows. */
typedef struct ss_roofline_errors {
    ss_comparison builtin, fitted;
} ss_roofline_errors;

typedef struct ss_roofline_calibration {
    ss_names keys; /* "linear in=512 bias | 64x512 < 64x512 | f32" */
    ss_roofline_part *part;
    uint32_t parts, cap;
    uint32_t unknown; /* keys and phases that are needed and that no table has exactly */
    const ss_roofline *builtin;
    ss_roofline_fit fit;
    ss_roofline_errors on_fitted, on_held_out;
} ss_roofline_calibration; /* {0} is empty */

void ss_roofline_calibration_free(ss_roofline_calibration *c); /* what is in it */

typedef struct ss_roofline_calibration_options {
    const char *kind; /* of devices; the others' parts are left out */
    double hold_out;  /* the share of the keys of `strategy` that is not fitted, 0 to 1 */
    uint64_t seed;
} ss_roofline_calibration_options;

/* `test`: strategies whose parts are held out as well, those that no `strategy` needs.  `measured` has the tables.
 * Refuses devices of the kind that differ in peaks or bandwidth, or lack what the work of their parts needs; where no
 * table has any of the parts; and what ss_roofline_fit_new refuses.  c was empty, and is freed by the caller in any case. */
ss_status ss_roofline_calibrate(ss_roofline_calibration *c, const ss_strategy *const *strategy, uint32_t strategies,
                                const ss_strategy *const *test, uint32_t tests, const ss_costs *measured,
                                const ss_roofline_calibration_options *o, ss_error *err);

#endif
