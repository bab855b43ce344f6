#include "simulate/sensitivity.h"

#include "base/hash.h"
#include "base/mem.h"
#include "simulate/run.h"

static ss_time move(const ss_tasks *t, uint32_t i, uint64_t seed, uint32_t run)
{
    uint64_t h = ss_hash_u64(ss_hash_u64(ss_hash_u64(SS_HASH_START, seed), run), i);
    ss_time by = (ss_time)(h >> 32) % 3 - 1, hold = t->hold[i];
    if (ss_tasks_flows(t, (ss_task){i}))
        return hold + by < 0 ? 0 : hold + by;
    return hold && hold + by > 0 ? hold + by : hold;
}

ss_status ss_sensitivity_find(const ss_tasks *t, const ss_run_options *order, ss_time makespan,
                              ss_engine *e, uint32_t runs, uint64_t seed, ss_sensitivity *out,
                              ss_error *err)
{
    bool by_run = order && !ss_run_options_published(order);
    ss_timeline line = {0};
    ss_tasks moved = *t; /* but for the holds, what is there */
    ss_status s = SS_OK;
    *out = (ss_sensitivity){runs, makespan, makespan};
    moved.hold = ss_alloc(((size_t)t->n + 1) * sizeof *moved.hold);
    if (!moved.hold)
        return ss_fail_memory(err, "durations that are moved", t->n * sizeof *moved.hold);
    moved.hold[0] = 0;
    for (uint32_t run = 1; run <= runs && !s; run++) {
        for (uint32_t i = 1; i <= t->n; i++)
            moved.hold[i] = move(t, i, seed, run);
        s = by_run ? ss_run_simulate(&moved, order, ss_engine_watch(e), &line, err)
                   : ss_engine_run(e, &moved, &line, err);
        if (!s && line.makespan < out->least)
            out->least = line.makespan;
        if (!s && line.makespan > out->most)
            out->most = line.makespan;
    }
    ss_free(moved.hold);
    ss_timeline_free(&line);
    return s;
}

ss_status ss_sensitivity_of_result(const ss_result *r, ss_engine *e, uint32_t runs, uint64_t seed,
                                   ss_sensitivity *out, ss_error *err)
{
    ss_run_options order = r->lowered->options.run;
    if (r->added)
        return ss_fail(err, SS_EINVAL,
                       "a script added tasks while this ran, and only it knows when: run it again "
                       "with other durations");
    if (order.order == SS_ORDER_PRIORITY)
        return ss_fail(err, SS_EINVAL,
                       "the priorities of this run are not kept: run it again with other "
                       "durations");
    order.change = r->change; /* those of a script, too, at the times they had */
    order.changes = r->changes;
    ss_status s = ss_sensitivity_find(&r->lowered->tasks, &order, r->timeline.makespan, e, runs,
                                      seed, out, err);
    out->least += r->overhead; /* it made no longer step than a time can hold */
    out->most += r->overhead;
    return s;
}

double ss_sensitivity_spread(const ss_sensitivity *s)
{
    return s->least ? (double)(s->most - s->least) / (double)s->least : 0;
}
