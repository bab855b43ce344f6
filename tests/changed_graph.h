/* changed_graph.h - a random problem whose task graph is changed in place, beside the same lowered anew, for
 * prop_live and prop_live_shared.
 *
 * Whoever includes it opens `rng` first. */
#ifndef SS_CHANGED_GRAPH_H
#define SS_CHANGED_GRAPH_H

#include "random_problem.h"
#include "simulate/delta.h"
#include "simulate/replay.h"

typedef struct work {
    ss_model *m;
    ss_topology *t;
    ss_routes *routes;
    ss_strategy *s;
    ss_chance *luck;
    ss_lower_options o;
    const ss_timer *timer;
    ss_live *live;
    ss_replay *replay; /* NULL: not by replay */
    ss_delta *delta;
    ss_lowered full;
    ss_engine *engine;
    ss_timeline timeline, found;
} work;

/* A model, a topology and chance, by such options; the topology may still be changed. */
static work draw_work(ss_lower_options (*options)(void), const ss_timer *by)
{
    work w = {.timer = by};
    w.m = random_model();
    w.t = random_topology();
    w.o = options();
    w.o.chance = w.luck = random_chance(w.t, 40);
    return w;
}

static void open_work(work *w)
{
    net_must(ss_routes_new(w->t, &w->routes, &err), &err);
    net_must(ss_strategy_new(w->m, w->t, &w->s, &err), &err);
    for (uint32_t i = 1; i <= w->m->ops; i++)
        random_config(w->s, i);
    net_must(ss_engine_new(&w->engine, &err), &err);
}

static void close_work(work *w)
{
    ss_live_free(w->live);
    ss_replay_free(w->replay);
    ss_delta_free(w->delta);
    ss_engine_free(w->engine);
    ss_lowered_free(&w->full);
    ss_timeline_free(&w->timeline);
    ss_timeline_free(&w->found);
    ss_strategy_free(w->s);
    ss_routes_free(w->routes);
    ss_chance_free(w->luck);
    ss_topology_free(w->t);
    ss_model_free(w->m);
}

/* w->s, whose graph w->live is, lowered and simulated anew. */
static void simulate_full(work *w)
{
    net_must(ss_lower(w->m, w->t, w->routes, w->s, w->timer, &w->o, &w->full, &err), &err);
    net_must(ss_engine_run(w->engine, &w->full.tasks, &w->timeline, &err), &err);
}

#endif
