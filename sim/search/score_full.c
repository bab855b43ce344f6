/* Full: the task graph is lowered anew and simulated whole, with every proposal.
 *
 * FlexFlow (MLSys 2019), algorithm 1: what delta simulation is compared with.
 */
#include "base/mem.h"
#include "search/score_inside.h"
#include "simulate/run.h"

typedef struct full {
    ss_lowered lowered;
    ss_timeline timeline;
} full;

static ss_status open_full(ss_scorer *s, ss_error *err)
{
    s->state = ss_alloc_zeroed(1, sizeof(full));
    return s->state ? SS_OK : ss_fail_memory(err, "a scorer", sizeof(full));
}

static void close_full(ss_scorer *s)
{
    full *f = s->state;
    if (!f)
        return;
    ss_lowered_free(&f->lowered);
    ss_timeline_free(&f->timeline);
    ss_free(f);
    s->state = NULL;
}

static ss_status simulate(ss_scorer *s, full *f, ss_error *err)
{
    const ss_run_options *o = &s->options.lower.run;
    if (ss_run_options_published(o))
        return ss_engine_run(s->engine, &f->lowered.tasks, &f->timeline, err);
    return ss_run_simulate(&f->lowered.tasks, o, ss_engine_watch(s->engine), &f->timeline, err);
}

static ss_status score(ss_scorer *s, ss_score *out, ss_error *err)
{
    full *f = s->state;
    ss_status status = ss_lower(s->model, s->topology, s->routes, s->next, &s->timer,
                                &s->options.lower, &f->lowered, err);
    ss_status missing = ss_costs_refuse_missing(s->costs, status ? NULL : err); /* asked anyway */
    if (!status)
        status = missing;
    if (!status)
        status = simulate(s, f, err);
    if (!status)
        status = ss_time_add(f->timeline.makespan, s->step, &out->cost, err);
    if (status)
        return status;
    out->tasks = out->touched = out->visited = f->lowered.tasks.n;
    return ss_price_add(&s->price, s->next, &f->lowered, &f->timeline, out, err);
}

static ss_status attempt(ss_scorer *s, ss_time bound, ss_score *out, ss_error *err)
{
    (void)bound;
    return score(s, out, err);
}

static ss_status accept_full(ss_scorer *s, ss_error *err)
{
    (void)s, (void)err;
    return SS_OK;
}

static void reject_full(ss_scorer *s)
{
    (void)s;
}

const ss_score_kind ss_score_full = {.name = "full",
                                     .open = open_full,
                                     .close = close_full,
                                     .start = score,
                                     .attempt = attempt,
                                     .accept = accept_full,
                                     .reject = reject_full};
