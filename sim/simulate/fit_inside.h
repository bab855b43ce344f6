/* fit_inside.h - the robust estimate that the parts of a fit share: times as sums of a few positive
 * parameters. */
#ifndef SS_FIT_INSIDE_H
#define SS_FIT_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "simulate/fit.h"

enum { SS_FIT_PARAMETERS = 3 };

/* time i = sum over j of x[i * p + j] * theta[j], with errors that are factors. */
typedef struct ss_fit_problem {
    const double *x;           /* [n * p], none below 0, a row with something above 0 */
    const double *log_seconds; /* [n] */
    const double *weight;      /* [n] */
    uint32_t n, p;
    bool least_squares;
} ss_fit_problem;

typedef struct ss_fit_solution {
    double theta[SS_FIT_PARAMETERS];
    double covariance[SS_FIT_PARAMETERS][SS_FIT_PARAMETERS];
    double spread;
    double *residual; /* [n], of the caller: log of measured over fitted */
    double *trust;    /* [n], of the caller */
} ss_fit_solution;

/* theta holds where to begin, each above 0. */
ss_status ss_fit_solve(const ss_fit_problem *p, ss_fit_solution *s, ss_error *err);

/* What n relative errors are like; their order and signs are lost. */
void ss_fit_judge(double *error, uint32_t n, ss_accuracy *out);
/* Fills f->curve: each size by the others. */
ss_status ss_fit_try_curve(ss_fit *f, ss_error *err);

#endif
