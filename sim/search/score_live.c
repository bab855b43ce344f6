/* Replay and delta: the task graph is changed in place (graph/live.h).
 *
 * Replay simulates it whole, delta only what the change can reach, or, where that is cheaper, only
 * what it moves (simulate/delta.h).  Where memory counts, the holds
 * of a proposal come from lowering it anew: that is asked only of proposals that are not stopped.
 */
#include "base/array.h"
#include "base/mem.h"
#include "graph/live.h"
#include "search/score_inside.h"
#include "simulate/delta.h"

typedef struct live {
    ss_live *graph;
    ss_delta *delta;
    ss_config *config; /* of the operators that change */
    uint32_t config_cap;
    ss_lowered lowered; /* where memory counts */
    ss_timeline timeline;
} live;

static void drop(live *x)
{
    ss_live_free(x->graph);
    ss_delta_free(x->delta);
    x->graph = NULL;
    x->delta = NULL;
}

static void close_live(ss_scorer *s)
{
    live *x = s->state;
    if (!x)
        return;
    drop(x);
    ss_free(x->config);
    ss_lowered_free(&x->lowered);
    ss_timeline_free(&x->timeline);
    ss_free(x);
    s->state = NULL;
}

static ss_status open_live(ss_scorer *s, ss_error *err)
{
    s->state = ss_alloc_zeroed(1, sizeof(live));
    return s->state ? SS_OK : ss_fail_memory(err, "a scorer", sizeof(live));
}

/* What memory adds to the last run, if it counts. */
static ss_status add_memory(ss_scorer *s, bool of_last_run, ss_score *out, ss_error *err)
{
    live *x = s->state;
    if (s->options.memory == SS_MEMORY_IGNORED || out->stopped)
        return SS_OK;
    ss_status e = ss_lower(s->model, s->topology, s->routes, s->next, &s->timer, &s->options.lower,
                           &x->lowered, err);
    if (!e)
        e = ss_delta_timeline(x->delta, x->graph, of_last_run, &x->timeline, err);
    return e ? e : ss_price_add(&s->price, s->next, &x->lowered, &x->timeline, out, err);
}

static ss_status refuse_missing(ss_scorer *s, ss_status so_far, ss_error *err)
{
    ss_status missing = ss_costs_refuse_missing(s->costs, so_far ? NULL : err); /* asked anyway */
    return so_far ? so_far : missing;
}

static ss_status start_live(ss_scorer *s, ss_score *out, ss_error *err)
{
    live *x = s->state;
    ss_deltaed run = {0};
    drop(x);
    ss_status e = ss_delta_new(s->options.early_stop, &x->delta, err);
    if (!e)
        e = refuse_missing(
            s, ss_live_new(s->next, s->routes, &s->timer, &s->options.lower, &x->graph, err), err);
    if (!e)
        e = ss_delta_whole(x->delta, x->graph, SS_TIME_MAX, &run, err);
    if (e)
        return e;
    ss_delta_keep(x->delta, x->graph);
    e = ss_time_add(run.makespan, s->step, &out->cost, err);
    out->tasks = out->touched = out->visited = ss_live_tasks(x->graph);
    return e ? e : add_memory(s, false, out, err);
}

static uint32_t count_touched(const ss_live *l)
{
    uint32_t n = l->rewireds;
    for (uint32_t k = 0; k < l->mades; k++)
        n += l->made[k].n + l->gone[k].n;
    return n;
}

static void undo(live *x)
{
    ss_delta_undo(x->delta);
    ss_live_undo(x->graph);
}

static ss_status list_configs(ss_scorer *s, ss_error *err)
{
    live *x = s->state;
    ss_status e = SS_RESERVE(x->config, x->config_cap, s->changes, "changed operators", err);
    for (uint32_t i = 0; i < s->changes && !e; i++)
        x->config[i] = s->next->config[s->changed[i].i];
    return e;
}

/* Whether some device alone computes longer than the bound; nothing is under way then. */
static ss_status compute_too_much(ss_scorer *s, ss_time bound, ss_score *out, ss_error *err)
{
    live *x = s->state;
    uint64_t most;
    if (bound == SS_TIME_MAX)
        return SS_OK;
    ss_status e = ss_live_most_compute(x->graph, s->changed, x->config, s->changes, &most, err);
    if (!e && most <= (uint64_t)SS_TIME_MAX && (ss_time)most > bound) {
        out->cost = (ss_time)most;
        out->stopped = true;
    }
    return e;
}

/* Changes the graph, unless it is certain already that the bound is passed: then the score says so, and
 * nothing is under way. */
static ss_status change(ss_scorer *s, ss_time bound, ss_score *out, ss_error *err)
{
    live *x = s->state;
    ss_status e = list_configs(s, err);
    if (!e)
        e = compute_too_much(s, bound, out, err);
    if (e || out->stopped)
        return e;
    e = ss_live_change(x->graph, s->changed, x->config, s->changes, bound, &out->cost, err);
    out->stopped = out->cost > 0;
    return e;
}

/* What is left of a bound of the cost for the tasks. */
static ss_time bound_of_tasks(const ss_scorer *s, ss_time bound)
{
    return bound == SS_TIME_MAX || bound < 0 ? bound : bound - s->step;
}

static ss_status attempt(ss_scorer *s, ss_time bound, ss_score *out, ss_error *err)
{
    live *x = s->state;
    ss_deltaed run;
    bound = bound_of_tasks(s, bound);
    ss_status e = refuse_missing(s, change(s, bound, out, err), err);
    if (!e && out->stopped)
        return ss_time_add(out->cost, s->step, &out->cost, err);
    if (!e)
        e = s->options.way == SS_SCORE_REPLAY
                ? ss_delta_whole(x->delta, x->graph, bound, &run, err)
                : ss_delta_change(x->delta, x->graph, bound, SS_DELTA_AS_EXPECTED, &run, err);
    if (!e) {
        e = ss_time_add(run.makespan, s->step, &out->cost, err);
        out->stopped = run.stopped;
        out->visited = run.visited;
        if (s->options.count_changed && !run.stopped)
            out->changed = ss_delta_changed(x->delta, x->graph);
        out->fell_back = run.fell_back;
        out->tasks = ss_live_tasks(x->graph);
        out->touched = count_touched(x->graph);
        if (!e)
            e = add_memory(s, true, out, err);
    }
    if (e)
        undo(x);
    return e;
}

static ss_status accept_live(ss_scorer *s, ss_error *err)
{
    live *x = s->state;
    ss_delta_keep(x->delta, x->graph);
    ss_live_keep(x->graph);
    return ss_live_is_untidy(x->graph) ? ss_delta_tidy(x->delta, x->graph, err) : SS_OK;
}

static void reject_live(ss_scorer *s)
{
    undo(s->state);
}

#define LIVE_KIND(its_name)                                                                        \
    {                                                                                              \
        .name = its_name, .open = open_live, .close = close_live, .start = start_live,             \
        .attempt = attempt, .accept = accept_live, .reject = reject_live                           \
    }

const ss_score_kind ss_score_replay = LIVE_KIND("replay");
const ss_score_kind ss_score_delta = LIVE_KIND("delta");
