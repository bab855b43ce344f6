/* by_run.h - a task graph through a run that is stopped now and then, for tests that have its timeline. */
#ifndef SS_BY_RUN_H
#define SS_BY_RUN_H

#include "simulate/run.h"

/* Whether a run, left alone but looked at after `pieces` instants chosen by the caller's numbers, has the
 * timeline. */
static inline bool is_timeline_of_run(const ss_tasks *t, const ss_timeline *l, uint32_t pieces,
                                      ss_error *err)
{
    ss_run *r;
    ss_run_options o = {0};
    ss_timeline by_run = {0};
    bool same = false, happened = true;
    if (ss_run_new(t, &o, &r, err))
        return false;
    for (uint32_t k = 0; k < pieces && happened; k++) {
        ss_time next = ss_run_next(r);
        if (next != SS_TIME_MAX && k % 2 && ss_run_now(r) < next &&
            ss_run_advance(r, ss_run_now(r) + (next - ss_run_now(r)) / 2, err))
            goto done;
        if (ss_run_step(r, &happened, err))
            goto done;
    }
    if (ss_run_finish(r, err) || ss_run_timeline(r, &by_run, err))
        goto done;
    ss_fail(err, SS_EINVAL, "the timelines differ");
    same = by_run.n == l->n && by_run.makespan == l->makespan;
    for (uint32_t i = 1; i <= l->n && same; i++)
        same = by_run.ready[i] == l->ready[i] && by_run.start[i] == l->start[i] &&
               by_run.end[i] == l->end[i];
done:
    ss_run_free(r);
    ss_timeline_free(&by_run);
    return same;
}

#endif
