/* clock.h - seconds on a clock that only goes forward: for how long something takes, never for a result.
 */
#ifndef SS_CLOCK_H
#define SS_CLOCK_H

#include <time.h>

static inline double ss_seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
