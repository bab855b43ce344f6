/* What a search is told, by name, and what makes no sense of it. */
#include <math.h>

#include "search/search_inside.h"

static const char *const searchers[SS_SEARCHERS] = {"mcmc", "greedy", "annealing", "random"};

static const char *const ends[SS_ENDS] = {"not",     "proposals", "seconds", "no_better",
                                          "stopped", "descent",   "proven"};

const char *ss_searcher_name(ss_searcher s)
{
    return (unsigned)s < SS_SEARCHERS ? searchers[s] : "unknown";
}

const char *ss_search_end_name(ss_search_end e)
{
    return (unsigned)e < SS_ENDS ? ends[e] : "unknown";
}

ss_search_options ss_search_options_start(void)
{
    return (ss_search_options){.searcher = SS_SEARCH_MCMC,
                               .seed = 1,
                               .proposals = 10000,
                               .warm_up = 1000,
                               .beta_relative = 1000,
                               .last_beta_factor = 100,
                               .space = ss_space_options_start(),
                               .score = ss_score_options_start()};
}

static ss_status check_positive(double x, const char *what, ss_error *err)
{
    if (x >= 0 && isfinite(x))
        return SS_OK;
    return ss_fail(err, SS_EINVAL, "%s of a search is %g: it must be 0 or more", what, x);
}

ss_status ss_search_check_options(const ss_search_options *o, ss_error *err)
{
    if ((unsigned)o->searcher >= SS_SEARCHERS)
        return ss_fail(err, SS_EINVAL, "no searcher has the number %d", (int)o->searcher);
    ss_status s = check_positive(o->seconds, "seconds", err);
    if (!s)
        s = check_positive(o->beta_per_s, "beta", err);
    if (!s)
        s = check_positive(o->beta_relative, "beta_relative", err);
    if (!s && !o->proposals && !(o->seconds > 0) && !o->stop_half)
        s = ss_fail(
            err, SS_EINVAL,
            "a search without limit would never end: give proposals, seconds, or stop_half");
    if (s || o->searcher != SS_SEARCH_ANNEALING)
        return s;
    if (!(o->last_beta_factor > 0 && isfinite(o->last_beta_factor)))
        return ss_fail(err, SS_EINVAL,
                       "annealing ends at %g times its first beta: a number above 0 is wanted",
                       o->last_beta_factor);
    if (!o->proposals)
        return ss_fail(err, SS_EINVAL,
                       "annealing needs a number of proposals, over which its beta grows: a clock "
                       "would make every run another one");
    return SS_OK;
}
