/* prop_live_shared [CASES [SEED]] - changes of a task graph over shared links, replayed from a snapshot.
 *
 * After every change the timeline must be that of lowering anew and simulating all, in every field; a
 * rejected change leaves the old one; bounds are true; and work that is reckoned with is there. */
#include "changed_graph.h"
#include "check.h"

#include "base/mem.h"

enum { CHANGES = 12 };

static uint64_t seed;
static uint64_t changes, stopped, visited, tasks;

static bool same_times(work *w, bool of_last_run)
{
    const ss_timeline *a = &w->timeline, *b = &w->found;
    net_must(ss_delta_timeline(w->delta, w->live, of_last_run, &w->found, &err), &err);
    bool same = a->n == b->n && a->makespan == b->makespan;
    for (uint32_t i = 1; i <= a->n && same; i++)
        same = a->ready[i] == b->ready[i] && a->start[i] == b->start[i] && a->end[i] == b->end[i];
    return same;
}

static bool bound_is_true(work *w)
{
    ss_time true_one = w->timeline.makespan;
    ss_time bound = chance(50) ? true_one - draw(0, 3) : draw(0, true_one + true_one / 4);
    ss_deltaed r;
    net_must(chance(50) ? ss_delta_whole(w->delta, w->live, bound, &r, &err)
                        : ss_delta_change(w->delta, w->live, bound, SS_DELTA_AS_EXPECTED, &r, &err),
             &err);
    stopped += r.stopped;
    return r.stopped ? r.makespan > bound && r.makespan <= true_one
                     : r.makespan == true_one && true_one <= bound;
}

static bool one_change(work *w)
{
    ss_op op = {(uint32_t)draw(1, w->m->ops)};
    ss_strategy *before;
    ss_deltaed r;
    ss_time over;
    net_must(ss_strategy_copy(w->s, &before, &err), &err);
    random_config(w->s, op.i);
    simulate_full(w);
    net_must(ss_live_change(w->live, &op, &w->s->config[op.i], 1, SS_TIME_MAX, &over, &err), &err);
    bool right = ss_live_work_over(w->live, w->timeline.makespan) == 0 && bound_is_true(w);
    net_must(ss_delta_change(w->delta, w->live, SS_TIME_MAX, SS_DELTA_AS_EXPECTED, &r, &err), &err);
    right = right && !r.stopped && r.makespan == w->timeline.makespan && same_times(w, true);
    visited += r.visited;
    tasks += w->live->n;
    if (chance(50)) {
        ss_delta_keep(w->delta, w->live);
        ss_live_keep(w->live);
        if (ss_live_is_untidy(w->live) || chance(10))
            net_must(ss_delta_tidy(w->delta, w->live, &err), &err);
        ss_strategy_free(before);
        return right && same_times(w, false);
    }
    ss_delta_undo(w->delta);
    ss_live_undo(w->live);
    ss_strategy_free(w->s);
    w->s = before;
    simulate_full(w);
    return right && same_times(w, false);
}

static bool one_case(void)
{
    work w = draw_work(random_shared_options, &timer);
    open_work(&w);
    net_must(ss_delta_new(true, &w.delta, &err), &err);
    net_must(ss_live_new(w.s, w.routes, &timer, &w.o, &w.live, &err), &err);
    ss_deltaed r;
    net_must(ss_delta_whole(w.delta, w.live, SS_TIME_MAX, &r, &err), &err);
    ss_delta_keep(w.delta, w.live);
    simulate_full(&w);
    bool right = r.makespan == w.timeline.makespan && same_times(&w, false);
    for (int i = 0; i < CHANGES && right; i++, changes++)
        right = one_change(&w);
    if (!right)
        printf("  seed %llu, change %llu\n", (unsigned long long)seed, (unsigned long long)changes);
    close_work(&w);
    return right;
}

static uint64_t cases = 400, first = 1;

static void a_replay_from_a_snapshot_is_the_whole_simulation(void)
{
    for (uint64_t k = 0; k < cases; k++) {
        seed = first + k;
        ss_rng_close(&rng);
        CHECK_OK(ss_rng_open(&rng, seed, "live", &err));
        CHECK(one_case(), "prop_live_shared 1 %llu", (unsigned long long)seed);
    }
    printf("%llu changes, %.0f %% of their tasks were simulated, %llu runs stopped\n",
           (unsigned long long)changes, 100 * (double)visited / (double)tasks,
           (unsigned long long)stopped);
    CHECK(visited < tasks && stopped > 0);
}

int main(int argc, char **argv)
{
    cases = argc > 1 ? strtoull(argv[1], NULL, 10) : cases;
    first = argc > 2 ? strtoull(argv[2], NULL, 10) : first;
    printf("seed %llu\n", (unsigned long long)first);
    RUN(a_replay_from_a_snapshot_is_the_whole_simulation);
    ss_rng_close(&rng);
    if (ss_mem_blocks()) {
        printf("%zu blocks of memory are lost\n", ss_mem_blocks());
        check_failed++;
    }
    return DONE();
}
