/* exhaustive_tell.c - what an exhaustive search does, as steps of a chain. */
#include "base/clock.h"
#include "base/mem.h"
#include "search/exhaustive_inside.h"

static const double FLUSH_S = 0.1;

ss_status ss_exhaustive_tell_begin(ss_exhaustive_teller *t, const ss_strategy *incumbent,
                                   ss_time cost, ss_error *err)
{
    size_t n = (size_t)incumbent->ops + 1;
    t->shown = cost;
    t->flushed = ss_seconds_now();
    if (!t->sink)
        return SS_OK;
    t->from = ss_alloc_zeroed(n, sizeof *t->from);
    t->to = ss_alloc_zeroed(n, sizeof *t->to);
    if (!t->from || !t->to)
        return ss_fail_memory(err, "the steps of an exhaustive search", n * sizeof *t->to);
    return t->sink->begin ? t->sink->begin(t->sink->context, 0, incumbent, cost, 0, err) : SS_OK;
}

ss_status ss_exhaustive_tell(ss_exhaustive_teller *t, const ss_strategy *strategy,
                             const ss_strategy *best, const ss_score *score, bool accepted,
                             ss_error *err)
{
    if (accepted)
        t->shown = score->cost;
    t->steps++;
    if (!t->sink || !t->sink->step)
        return SS_OK;
    ss_step step = {.step = t->steps,
                    .reach = SS_REACH_ALL,
                    .move = SS_MOVES,
                    .from = t->from,
                    .to = t->to,
                    .proposed = score->cost,
                    .current = t->shown,
                    .best = t->shown,
                    .accepted = accepted,
                    .infeasible = score->infeasible,
                    .tasks = score->tasks,
                    .touched = score->touched,
                    .visited = score->visited,
                    .wall_s = ss_seconds_now() - t->began};
    for (uint32_t i = 1; i <= strategy->ops; i++) {
        if (ss_config_same(&strategy->config[i], &best->config[i]))
            continue;
        t->from[step.ops] = (ss_choice){{i}, best->config[i]};
        t->to[step.ops++] = (ss_choice){{i}, strategy->config[i]};
    }
    step.op = step.ops ? t->to[0].op.i : 0;
    return t->sink->step(t->sink->context, 0, &step, err);
}

ss_status ss_exhaustive_tell_flush(ss_exhaustive_teller *t, ss_error *err)
{
    if (!t->sink || !t->sink->flush)
        return SS_OK;
    double now = ss_seconds_now();
    if (now - t->flushed < FLUSH_S)
        return SS_OK;
    t->flushed = now;
    return t->sink->flush(t->sink->context, err);
}

ss_status ss_exhaustive_tell_end(ss_exhaustive_teller *t, ss_search_end why, ss_error *err)
{
    return t->sink && t->sink->end ? t->sink->end(t->sink->context, 0, why, err) : SS_OK;
}

void ss_exhaustive_teller_free(ss_exhaustive_teller *t)
{
    ss_free(t->from);
    ss_free(t->to);
    *t = (ss_exhaustive_teller){0};
}
