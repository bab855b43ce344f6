#include "check.h"

#include "base/hash.h"
#include "base/mem.h"
#include "simulate/engine.h"

static ss_error err;

/* Resources: devices 1 .. 4, then links 5 .. 7 of which [1] has a latency. */
static const double bytes_per_s[] = {0, 1e9, 4e9, 0.5e9};
static const double latency_s[] = {0, 3e-12, 0, 0};

typedef struct world {
    ss_tasks t;
    ss_engine *e;
    ss_timeline l;
} world;

static ss_status open_world(world *w, ss_links_mode mode)
{
    *w = (world){0};
    ss_status s = ss_engine_new(&w->e, &err);
    return s ? s : ss_tasks_start(&w->t, 4, 3, bytes_per_s, latency_s, mode, &err);
}

static void close_world(world *w)
{
    ss_tasks_free(&w->t);
    ss_timeline_free(&w->l);
    ss_engine_free(w->e);
}

/* Up to four predecessors, 0: none. */
static uint32_t add(world *w, uint32_t resource, ss_time hold, uint32_t a, uint32_t b, uint32_t c,
                    uint32_t d)
{
    uint32_t before[] = {a, b, c, d};
    ss_task task = {0};
    if (ss_tasks_add(&w->t, resource, hold, 0, NULL, &task, &err))
        printf("  %s\n", err.text);
    for (int k = 0; k < 4; k++)
        if (before[k] && ss_tasks_after(&w->t, (ss_task){before[k]}, &err))
            printf("  %s\n", err.text);
    return task.i;
}

static ss_status run(world *w)
{
    ss_status s = ss_tasks_finish(&w->t, &err);
    if (!s)
        s = ss_engine_run(w->e, &w->t, &w->l, &err);
    return s ? s : ss_timeline_check(&w->t, &w->l, &err);
}

static void a_cycle_is_refused_by_name(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    add(&w, 1, 7, 0, 0, 0, 0);
    add(&w, 2, 7, 1, 4, 0, 0);
    add(&w, 3, 7, 2, 0, 0, 0);
    add(&w, 1, 7, 1, 3, 0, 0);
    add(&w, 1, 7, 4, 0, 0, 0);
    CHECK(run(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "circle: task 2, which waits for task 4, which waits for task 3, which "
                         "waits for task 2");
    close_world(&w);
}

static void a_long_cycle_is_named_in_part(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    enum { N = 200000 };
    for (uint32_t i = 1; i <= N; i++)
        add(&w, 1, 7, i == 1 ? N : i - 1, 0, 0, 0);
    CHECK(run(&w) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1, which waits for task 200000, which waits for task 199999");
    CHECK_TEXT(err.text, "and so on through 200000 tasks back to task 1");
    close_world(&w);
}

static void times_that_do_not_fit_are_refused(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_PIPE));
    add(&w, 2, SS_TIME_MAX - 5, 0, 0, 0, 0);
    add(&w, 1, 5, 1, 0, 0, 0);
    CHECK_OK(run(&w));
    CHECK(w.l.makespan == SS_TIME_MAX);
    add(&w, 1, 1, 2, 0, 0, 0);
    CHECK(run(&w) == SS_ERANGE);
    CHECK_TEXT(err.text, "task 3 would end later than 106 days");
    CHECK(w.l.n == 2 && w.l.makespan == SS_TIME_MAX, "the old timeline stays");

    /* the same on a set, and by a lag of 3 */
    CHECK_OK(ss_tasks_start(&w.t, 4, 3, bytes_per_s, latency_s, SS_LINKS_FIFO_PIPE, &err));
    uint32_t set;
    CHECK_OK(ss_tasks_set(&w.t, (uint32_t[]){2, 3}, 2, &set, &err));
    add(&w, 2, SS_TIME_MAX - 5, 0, 0, 0, 0);
    add(&w, set, 6, 0, 0, 0, 0);
    CHECK(run(&w) == SS_ERANGE);
    CHECK_OK(ss_tasks_start(&w.t, 4, 3, bytes_per_s, latency_s, SS_LINKS_FIFO_PIPE, &err));
    add(&w, 5, SS_TIME_MAX - 2, 0, 0, 0, 0);
    CHECK(run(&w) == SS_ERANGE);
    CHECK_OK(ss_tasks_start(&w.t, 4, 3, bytes_per_s, latency_s, SS_LINKS_FIFO_PIPE, &err));
    add(&w, 5, SS_TIME_MAX - 3, 0, 0, 0, 0);
    CHECK_OK(run(&w));
    CHECK(w.l.makespan == SS_TIME_MAX);
    close_world(&w);
}

static void an_unfinished_graph_is_refused(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    add(&w, 1, 7, 0, 0, 0, 0);
    CHECK(ss_engine_run(w.e, &w.t, &w.l, &err) == SS_EINVAL);
    close_world(&w);
}

static void nothing_to_do_takes_no_time(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    CHECK_OK(run(&w));
    CHECK(w.l.n == 0 && w.l.makespan == 0);
    close_world(&w);
}

/* MLSys 2019, figure 4: three layers unrolled over two steps.  Links 5 (GPU1 to GPU2) and 6. */
static void figure_4_comes_out_as_printed(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    uint32_t t11 = add(&w, 1, 2, 0, 0, 0, 0), t12 = add(&w, 1, 2, 0, 0, 0, 0);
    uint32_t t21 = add(&w, 1, 2, 0, 0, 0, 0), t22 = add(&w, 1, 2, 0, 0, 0, 0);
    uint32_t x11 = add(&w, 5, 1, t11, 0, 0, 0), x12 = add(&w, 5, 1, t12, 0, 0, 0);
    uint32_t t31 = add(&w, 2, 1, x11, 0, 0, 0), t32 = add(&w, 2, 1, x12, 0, 0, 0);
    uint32_t x21 = add(&w, 5, 1, t21, 0, 0, 0), x22 = add(&w, 5, 1, t22, 0, 0, 0);
    uint32_t t41 = add(&w, 2, 1, x21, t31, 0, 0), t42 = add(&w, 2, 1, x22, t32, 0, 0);
    uint32_t x31 = add(&w, 6, 1, t31, 0, 0, 0), x32 = add(&w, 6, 1, t32, 0, 0, 0);
    add(&w, 3, 3, x31, x32, 0, 0);
    uint32_t x41 = add(&w, 6, 1, t41, 0, 0, 0), x42 = add(&w, 6, 1, t42, 0, 0, 0);
    add(&w, 3, 3, x41, x42, 0, 0);
    CHECK_OK(run(&w));
    static const ss_time ready[] = {0, 0, 0, 0, 0, 2, 4, 3, 5, 6, 8, 7, 9, 4, 6, 7, 8, 10, 11};
    static const ss_time start[] = {0, 0, 2, 4, 6, 2, 4, 3, 5, 6, 8, 7, 9, 4, 6, 7, 8, 10, 11};
    CHECK(w.t.n == 18 && w.l.makespan == 14, "%lld", (long long)w.l.makespan);
    for (uint32_t i = 1; i <= 18; i++)
        CHECK(w.l.ready[i] == ready[i] && w.l.start[i] == start[i], "task %u: %lld, %lld", i,
              (long long)w.l.ready[i], (long long)w.l.start[i]);
    close_world(&w);
}

/* The same after the first recurrent operator went to one part. */
static void figure_4_after_the_change_comes_out_as_printed(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    uint32_t t11 = add(&w, 1, 2, 0, 0, 0, 0), t12 = add(&w, 1, 2, 0, 0, 0, 0);
    uint32_t t21 = add(&w, 1, 2, 0, 0, 0, 0), t22 = add(&w, 1, 2, 0, 0, 0, 0);
    uint32_t x11 = add(&w, 5, 1, t11, 0, 0, 0), x12 = add(&w, 5, 1, t12, 0, 0, 0);
    uint32_t t31 = add(&w, 2, 2, x11, x12, 0, 0);
    uint32_t x21 = add(&w, 5, 1, t21, 0, 0, 0), x22 = add(&w, 5, 1, t22, 0, 0, 0);
    uint32_t t41 = add(&w, 2, 1, x21, t31, 0, 0), t42 = add(&w, 2, 1, x22, t31, 0, 0);
    uint32_t x31 = add(&w, 6, 2, t31, 0, 0, 0);
    add(&w, 3, 3, x31, 0, 0, 0);
    uint32_t x41 = add(&w, 6, 1, t41, 0, 0, 0), x42 = add(&w, 6, 1, t42, 0, 0, 0);
    add(&w, 3, 3, x41, x42, 0, 0);
    CHECK_OK(run(&w));
    static const ss_time ready[] = {0, 0, 0, 0, 0, 2, 4, 5, 6, 8, 7, 9, 7, 9, 8, 10, 11};
    static const ss_time start[] = {0, 0, 2, 4, 6, 2, 4, 5, 6, 8, 7, 9, 7, 9, 9, 10, 12};
    CHECK(w.t.n == 16 && w.l.makespan == 15, "%lld", (long long)w.l.makespan);
    for (uint32_t i = 1; i <= 16; i++)
        CHECK(w.l.ready[i] == ready[i] && w.l.start[i] == start[i], "task %u: %lld, %lld", i,
              (long long)w.l.ready[i], (long long)w.l.start[i]);
    close_world(&w);
}

/* Two tasks are ready at one time on device 3; which has the smaller id decides between 9 and 14.
 */
static ss_time tie(world *w, bool short_one_first)
{
    add(w, 1, 1, 0, 0, 0, 0);
    add(w, 2, 1, 0, 0, 0, 0);
    if (short_one_first) {
        add(w, 3, 1, 1, 0, 0, 0);
        add(w, 3, 5, 2, 0, 0, 0);
    } else {
        add(w, 3, 5, 2, 0, 0, 0);
        add(w, 3, 1, 1, 0, 0, 0);
    }
    add(w, 4, 7, short_one_first ? 3 : 4, 0, 0, 0);
    return run(w) ? -1 : w->l.makespan;
}

static void among_equal_ready_times_the_smaller_id_goes_first(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    ss_time a = tie(&w, true);
    CHECK(a == 9, "%lld", (long long)a);
    CHECK_OK(ss_tasks_start(&w.t, 4, 3, bytes_per_s, latency_s, SS_LINKS_FIFO_HOP, &err));
    a = tie(&w, false);
    CHECK(a == 14, "%lld", (long long)a);
    close_world(&w);
}

/* Graham, "Bounds on multiprocessing timing anomalies" (SIAM J. Appl. Math. 1969): no defect. */
static void a_shorter_task_can_make_the_whole_longer(void)
{
    ss_time makespan[2];
    for (int k = 0; k < 2; k++) {
        world w;
        CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
        add(&w, 1, k ? 2 : 4, 0, 0, 0, 0);
        add(&w, 2, 3, 0, 0, 0, 0);
        add(&w, 3, 10, 1, 0, 0, 0);
        add(&w, 3, 1, 2, 0, 0, 0);
        add(&w, 4, 10, 4, 0, 0, 0);
        CHECK_OK(run(&w));
        makespan[k] = w.l.makespan;
        close_world(&w);
    }
    CHECK(makespan[0] == 14 && makespan[1] == 23, "%lld %lld", (long long)makespan[0],
          (long long)makespan[1]);
}

static void a_task_on_a_set_waits_for_all_of_it_and_blocks_it(void)
{
    world w;
    uint32_t set;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_PATH));
    CHECK_OK(ss_tasks_set(&w.t, (uint32_t[]){1, 3}, 2, &set, &err));
    uint32_t a = add(&w, 1, 5, 0, 0, 0, 0);   /* 0..5 */
    uint32_t b = add(&w, set, 3, 0, 0, 0, 0); /* waits for 1, though 3 is free: 5..8 */
    uint32_t c = add(&w, 3, 2, 0, 0, 0, 0);   /* behind b: 8..10 */
    uint32_t d = add(&w, 2, 1, b, 0, 0, 0);   /* 8..9 */
    CHECK_OK(run(&w));
    CHECK(w.l.start[a] == 0 && w.l.start[b] == 5 && w.l.start[c] == 8 && w.l.start[d] == 8);
    close_world(&w);
}

static void a_lag_delays_successors_and_not_the_resource(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_PIPE));
    uint32_t a = add(&w, 5, 7, 0, 0, 0, 0), b = add(&w, 5, 7, 0, 0, 0, 0);
    uint32_t c = add(&w, 6, 1, a, 0, 0, 0), d = add(&w, 1, 0, b, 0, 0, 0);
    CHECK_OK(run(&w));
    CHECK(w.l.start[b] == 7 && w.l.end[b] == 14);
    CHECK(w.l.ready[c] == 10 && w.l.ready[d] == 17 && w.l.makespan == 17);
    CHECK(ss_timeline_finish(&w.t, &w.l, (ss_task){b}) == 17);
    close_world(&w);
}

static void tasks_without_duration_keep_the_order(void)
{
    /* 1 and 2 take no time; 3 becomes ready at 0 through them and goes before 4 all the same. */
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    add(&w, 1, 0, 0, 0, 0, 0);
    add(&w, 1, 0, 1, 0, 0, 0);
    add(&w, 2, 9, 2, 0, 0, 0);
    add(&w, 2, 5, 0, 0, 0, 0);
    CHECK_OK(run(&w));
    CHECK(w.l.start[3] == 0 && w.l.start[4] == 9, "%lld %lld", (long long)w.l.start[3],
          (long long)w.l.start[4]);
    close_world(&w);
}

static void one_task_may_release_many(void)
{
    enum { N = 5000 };
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    add(&w, 1, 3, 0, 0, 0, 0);
    for (uint32_t i = 2; i <= N; i++)
        add(&w, 1 + i % 4, 2, 1, 1, 0, 0); /* said twice */
    CHECK_OK(run(&w));
    CHECK(w.l.makespan == 3 + 2 * ((N - 1) / 4 + 1), "%lld", (long long)w.l.makespan);
    close_world(&w);
}

/* Beyond the size from which tasks are taken in large batches and wait in buckets. */
static void a_large_graph_keeps_the_conditions_too(void)
{
    enum { N = 150000 };
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_PIPE));
    for (uint32_t i = 1; i <= N; i++) {
        uint64_t h = ss_hash_u64(SS_HASH_START, i);
        uint32_t a = (uint32_t)(h % i), b = (uint32_t)((h >> 20) % i); /* 0: none */
        add(&w, 1 + (uint32_t)(h >> 40) % 7, (ss_time)(h >> 50), a, b, 0, 0);
    }
    CHECK_OK(run(&w));
    close_world(&w);
}

static void the_check_finds_every_kind_of_lie(void)
{
    world w;
    CHECK_OK(open_world(&w, SS_LINKS_FIFO_HOP));
    add(&w, 1, 5, 0, 0, 0, 0);
    add(&w, 1, 4, 0, 0, 0, 0);
    add(&w, 2, 3, 1, 0, 0, 0);
    add(&w, 2, 3, 2, 0, 0, 0);
    CHECK_OK(run(&w));
    w.l.ready[3]--;
    CHECK(ss_timeline_check(&w.t, &w.l, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "E1: task 3");
    w.l.ready[3]++;
    w.l.start[4]++, w.l.end[4]++, w.l.makespan++;
    CHECK(ss_timeline_check(&w.t, &w.l, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "E2, E3: task 4");
    w.l.start[4]--;
    CHECK(ss_timeline_check(&w.t, &w.l, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "E4: task 4");
    w.l.end[4]--;
    CHECK(ss_timeline_check(&w.t, &w.l, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "makespan");
    w.l.makespan--;
    CHECK_OK(ss_timeline_check(&w.t, &w.l, &err));
    /* 2 before 1: every start follows from the one before, but the order is not (ready, id) */
    w.l.start[2] = 0, w.l.end[2] = 4, w.l.start[1] = 4, w.l.end[1] = 9;
    w.l.ready[4] = 4, w.l.start[4] = 4, w.l.end[4] = 7;
    w.l.ready[3] = 9, w.l.start[3] = 9, w.l.end[3] = 12;
    w.l.makespan = 12;
    CHECK(ss_timeline_check(&w.t, &w.l, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "E2, E3: task 1");
    w.l.n = 3;
    CHECK(ss_timeline_check(&w.t, &w.l, &err) == SS_EINVAL);
    close_world(&w);
}

static ss_status build_and_run_some(world *w)
{
    ss_status s = open_world(w, SS_LINKS_FIFO_PATH);
    uint32_t set;
    if (!s)
        s = ss_tasks_set(&w->t, (uint32_t[]){1, 3}, 2, &set, &err);
    for (uint32_t i = 1; i <= 600 && !s; i++) {
        ss_task task;
        s = ss_tasks_add(&w->t, i % 7 ? 1 + i % 4 : set, 7, 0, NULL, &task, &err);
        if (!s && i > 500)
            s = ss_tasks_after(&w->t, (ss_task){i - 500}, &err);
    }
    return s ? s : ss_tasks_finish(&w->t, &err);
}

static void runs_ask_for_memory_once_and_survive_its_absence(void)
{
    world w;
    CHECK_OK(build_and_run_some(&w));
    CHECK_OK(ss_engine_run(w.e, &w.t, &w.l, &err));
    uint64_t asked = ss_mem_requests();
    CHECK_OK(ss_engine_run(w.e, &w.t, &w.l, &err));
    CHECK(ss_mem_requests() == asked);
    size_t known = ss_engine_memory(w.e) + ss_tasks_memory(&w.t) + 3 * sizeof(ss_time) * w.l.cap;
    CHECK(ss_mem_live() == known, "%zu %zu", ss_mem_live(), known);
    close_world(&w);
    for (int64_t k = 0;; k++) {
        CHECK_OK(build_and_run_some(&w));
        ss_mem_fail_after(k);
        ss_status s = ss_engine_run(w.e, &w.t, &w.l, &err);
        if (!s)
            s = ss_timeline_check(&w.t, &w.l, &err);
        ss_mem_fail_never();
        close_world(&w);
        CHECK(ss_mem_blocks() == 0, "failure %d", (int)k);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM, "%s", err.text);
    }
}

int main(void)
{
    RUN(a_cycle_is_refused_by_name);
    RUN(a_long_cycle_is_named_in_part);
    RUN(times_that_do_not_fit_are_refused);
    RUN(an_unfinished_graph_is_refused);
    RUN(nothing_to_do_takes_no_time);
    RUN(figure_4_comes_out_as_printed);
    RUN(figure_4_after_the_change_comes_out_as_printed);
    RUN(among_equal_ready_times_the_smaller_id_goes_first);
    RUN(a_shorter_task_can_make_the_whole_longer);
    RUN(a_task_on_a_set_waits_for_all_of_it_and_blocks_it);
    RUN(a_lag_delays_successors_and_not_the_resource);
    RUN(tasks_without_duration_keep_the_order);
    RUN(one_task_may_release_many);
    RUN(a_large_graph_keeps_the_conditions_too);
    RUN(the_check_finds_every_kind_of_lie);
    RUN(runs_ask_for_memory_once_and_survive_its_absence);
    return DONE();
}
