/* bench.h - one number for each line, and what was wanted of it.
 *
 * A bench asserts nothing: a busy machine is not a defect.  What it prints is the best of several
 * runs in CPU time, which is what the machine can do rather than what else it was doing, and ratios
 * are between runs of one process.
 */
#ifndef SS_BENCH_H
#define SS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/status.h"

static inline double bench_now(void) /* seconds of CPU time */
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void bench_must(ss_status s, const ss_error *err)
{
    if (s) {
        fprintf(stderr, "bench: %s\n", err->text);
        exit(99);
    }
}

/* `most` or `least` that was wanted; 0: nothing was. */
static inline void bench_line(const char *what, double value, const char *unit, double most,
                              double least)
{
    printf("%-68s %10.4g %-8s", what, value, unit);
    if (most > 0)
        printf("  wanted at most %g: %s", most, value <= most ? "yes" : "NO");
    if (least > 0)
        printf("  wanted at least %g: %s", least, value >= least ? "yes" : "NO");
    printf("\n");
    fflush(stdout);
}

#endif
