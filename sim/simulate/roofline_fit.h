/* roofline_fit.h - from measured times of parts of operators to the seven constants of a device kind.
 *
 * Errors of such times are factors and some of them are far off, so the fit is robust.h's, of logarithms of times, with
 * the constants as logarithms: they stay above 0, and in the range that roofline.h gives them.  A time is the longer of two, which has
 * valleys of its own: the fit is begun at the built-in constants and at ones of no device, each moved constant by constant
 * over its whole range as long as the sum of absolute deviations falls, and the better end counts.
 *
 * What the data do not tell keeps the built-in value: a constant that no row's time depends on (convolutions, where there are none), or one
 * whose standard error is more than half of it, is put back to the built-in value and the others are fitted again; where that
 * makes the rows no worse than chance would (the loss of two standard errors), it stays there.  Where it does make them worse, the
 * data say on which side of the built-in value the constant is, and not how far: SS_ROOFLINE_EDGE.
 *
 * docs/decisions/0047-the-roofline-is-fitted-on-what-was-measured.md has the reasons.
 */
#ifndef SS_ROOFLINE_FIT_H
#define SS_ROOFLINE_FIT_H

#include <stdint.h>

#include "base/status.h"
#include "simulate/roofline.h"

typedef struct ss_roofline_row {
    ss_roofline_work work;  /* with FLOP or bytes above 0 */
    double peak, bandwidth; /* of the device, FLOP/s and B/s; above 0 where the work has FLOP, bytes */
    double seconds;         /* measured, above 0 */
} ss_roofline_row;

typedef enum ss_roofline_told {
    SS_ROOFLINE_FITTED,
    SS_ROOFLINE_KEPT, /* the rows do not tell: the built-in value */
    SS_ROOFLINE_EDGE  /* not the built-in value, but little more is known */
} ss_roofline_told;
const char *ss_roofline_told_name(ss_roofline_told told); /* "fitted", "kept", "edge" */

typedef struct ss_roofline_fit {
    ss_roofline constants; /* kind and source are those of the built-in ones */
    ss_roofline_told told[SS_ROOFLINE_CONSTANTS];
    double error[SS_ROOFLINE_CONSTANTS]; /* standard errors, in the unit of the constant; INFINITY at an edge that no row is
                                            on; NAN of what was kept */
    uint32_t rows;
    uint32_t outliers; /* rows that do not count at all */
    double spread;     /* standard deviation of the logarithm of a time */
} ss_roofline_fit;

enum { SS_ROOFLINE_ROWS = 1000000 };

/* Refuses no rows, or no more than constants that they could tell, and rows that make no sense, by their number, from 1. */
ss_status ss_roofline_fit_new(const ss_roofline_row *row, uint32_t rows, const ss_roofline *builtin,
                              ss_roofline_fit *out, ss_error *err);

#endif
