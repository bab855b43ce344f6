#include "search/threshold.h"

#include <math.h>

bool ss_threshold_accepts(double log_uniform, double log_hastings, double beta_per_s,
                          ss_time current, ss_time proposed)
{
    return log_uniform <= beta_per_s * ss_time_seconds(current - proposed) + log_hastings;
}

/* Where the rule would turn if numbers were exact, within 0 .. SS_TIME_MAX. */
static ss_time guess(double log_uniform, double log_hastings, double beta_per_s, ss_time current)
{
    double at = (double)current + (log_hastings - log_uniform) / beta_per_s * SS_PICOSECONDS;
    if (!(at > 0)) /* not a number either */
        return 0;
    return at < 0x1p63 ? (ss_time)at : SS_TIME_MAX;
}

ss_time ss_threshold(double uniform, double log_hastings, double beta_per_s, ss_time current)
{
    double log_uniform = log(uniform);
#define ACCEPTS(cost) ss_threshold_accepts(log_uniform, log_hastings, beta_per_s, current, cost)
    if (ACCEPTS(SS_TIME_MAX))
        return SS_TIME_MAX;
    if (!ACCEPTS(0))
        return -1;
    /* Accepted up to `low`, and not from `high` on.  From the guess, mostly right to a picosecond or
     * two, outwards in steps that double, and then by halves. */
    ss_time low = 0, high = SS_TIME_MAX, step = 1;
    ss_time at = guess(log_uniform, log_hastings, beta_per_s, current);
    if (ACCEPTS(at)) {
        for (low = at; high - low > step;)
            if (ACCEPTS(low + step))
                low += step, step *= 2;
            else
                high = low + step;
    } else {
        for (high = at; high - low > step;)
            if (ACCEPTS(high - step))
                low = high - step;
            else
                high -= step, step *= 2;
    }
    while (high - low > 1) {
        ss_time middle = low + (high - low) / 2;
        if (ACCEPTS(middle))
            low = middle;
        else
            high = middle;
    }
#undef ACCEPTS
    return low;
}
