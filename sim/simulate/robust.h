/* robust.h - a few constants from many measured times, some of which are far off: Tukey's bisquare.
 *
 * Errors of times are factors, so logarithms are compared, and the constants are fitted as logarithms, which keeps them
 * above 0.  Least squares by GSL's trust region, over and over, each row weighted by how far it is off in units of a scale
 * from the median deviation, until the weights stay.
 */
#ifndef SS_ROBUST_H
#define SS_ROBUST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_robust_problem {
    uint32_t n, p;             /* rows; constants, of which there are fewer */
    const double *log_seconds; /* [n]: measured */
    const double *weight;      /* [n]: how many rows like the others it counts for */
    bool least_squares;        /* no row is doubted */
    const void *model;
    /* What row i takes (a logarithm) with constants theta [p], all above 0; and by how much that grows with the logarithm
     * of each. */
    double (*log_time)(const void *model, uint32_t i, const double *theta);
    void (*slope)(const void *model, uint32_t i, const double *theta, double *out);
    const char *what; /* "line": "no line can be put through these times" */
} ss_robust_problem;

typedef struct ss_robust_solution {
    double *theta;    /* [p], of the caller: where to begin, and then what was found */
    double *residual; /* [n], of the caller: log of measured over fitted */
    double *trust;    /* [n], of the caller: 1 counts in full, 0 not at all */
    double scale;     /* of residuals of weight 1, what trust goes by; 1 of least squares */
    double spread;    /* the standard deviation of the logarithm of a time of weight 1 that belongs to J'J: of the bisquare
                         that of an M-estimator with Huber's correction for few rows ("Robust statistics", 1981, 7.6) */
} ss_robust_solution;

ss_status ss_robust_solve(const ss_robust_problem *p, ss_robust_solution *s, ss_error *err);

/* What a residual of so many scales counts: 0 to 1. */
double ss_robust_trust(double scales);
/* The loss of it: its square where it is small, and never more than a third of 4.685 squared, where it does not count at all. */
double ss_robust_loss(double scales);

/* Of n values, which are put in order. */
double ss_robust_median(double *value, uint32_t n);

#endif
