#include "check.h"

#include "base/mem.h"
#include "simulate/critical.h"

static ss_error err;
static const double bytes_per_s[] = {0, 1e9, 4e9};
static const double latency_s[] = {0, 3e-12, 0};

typedef struct world {
    ss_tasks t;
    ss_engine *e;
    ss_timeline l;
    ss_critical c;
} world;

static ss_status open_world(world *w)
{
    *w = (world){0};
    ss_status s = ss_engine_new(&w->e, &err);
    return s ? s : ss_tasks_start(&w->t, 3, 2, bytes_per_s, latency_s, SS_LINKS_FIFO_PIPE, &err);
}

static void close_world(world *w)
{
    ss_tasks_free(&w->t);
    ss_timeline_free(&w->l);
    ss_engine_free(w->e);
    ss_critical_free(&w->c);
}

static uint32_t add(world *w, uint32_t resource, ss_time hold, uint32_t a, uint32_t b)
{
    ss_task task = {0};
    uint32_t before[] = {a, b};
    if (ss_tasks_add(&w->t, resource, hold, 0, NULL, &task, &err))
        printf("  %s\n", err.text);
    for (int k = 0; k < 2; k++)
        if (before[k] && ss_tasks_after(&w->t, (ss_task){before[k]}, &err))
            printf("  %s\n", err.text);
    return task.i;
}

static ss_status run(world *w)
{
    ss_status s = ss_tasks_finish(&w->t, &err);
    if (!s)
        s = ss_engine_run(w->e, &w->t, &w->l, &err);
    return s ? s : ss_critical_find(&w->t, &w->l, &w->c, &err);
}

static void the_parts_sum_to_the_makespan(void)
{
    world w;
    CHECK_OK(open_world(&w));
    uint32_t a = add(&w, 1, 7, 0, 0);  /* 0..7 */
    uint32_t b = add(&w, 1, 5, 0, 0);  /* 7..12 */
    uint32_t x = add(&w, 4, 11, b, 0); /* 12..23, arrives at 26 */
    uint32_t c = add(&w, 2, 24, a, 0); /* 7..31 */
    uint32_t d = add(&w, 2, 2, x, 0);  /* ready 26, starts 31, ends 33 */
    CHECK_OK(run(&w));
    CHECK(w.l.makespan == 33, "%lld", (long long)w.l.makespan);
    CHECK(w.c.n == 3, "%u", w.c.n);
    CHECK(w.c.step[0].task.i == b && w.c.step[0].queueing == 7 && w.c.step[0].blocker.i == a);
    CHECK(w.c.step[1].task.i == x && w.c.step[1].queueing == 0 && w.c.step[1].blocker.i == 0);
    CHECK(w.c.step[2].task.i == d && w.c.step[2].queueing == 5 && w.c.step[2].blocker.i == c);
    CHECK(w.c.compute == 7 && w.c.transfer == 14 && w.c.queueing == 12);
    CHECK(w.c.step[0].resource == 1 && w.c.step[1].resource == 0 && w.c.step[2].resource == 2);
    CHECK(w.c.queueing_device == 12 && w.c.queueing_link == 0);
    close_world(&w);
}

static void what_was_waited_for_is_what_the_one_in_front_held(void)
{
    world w;
    uint32_t set;
    CHECK_OK(open_world(&w));
    CHECK_OK(ss_tasks_set(&w.t, (uint32_t[]){4, 5}, 2, &set, &err));
    uint32_t a = add(&w, 5, 8, 0, 0);   /* 0..8 on the second of two links, arrives at 11 */
    uint32_t b = add(&w, set, 5, 0, 0); /* 8..13 */
    add(&w, 1, 20, 0, 0);               /* 0..20 */
    uint32_t c = add(&w, 1, 2, b, 0);   /* ready 13, starts 20 */
    CHECK_OK(run(&w));
    CHECK(w.c.n == 2 && w.c.step[0].task.i == b && w.c.step[1].task.i == c, "%u", w.c.n);
    CHECK(w.c.step[0].blocker.i == a && w.c.step[0].resource == 5, "%u", w.c.step[0].resource);
    CHECK(w.c.step[1].resource == 1, "%u", w.c.step[1].resource);
    CHECK(w.c.queueing_link == 8 && w.c.queueing_device == 7, "%lld",
          (long long)w.c.queueing_device);
    CHECK(w.c.queueing_link + w.c.queueing_device == w.c.queueing);
    close_world(&w);
}

static void of_equal_predecessors_the_smallest_is_followed(void)
{
    world w;
    CHECK_OK(open_world(&w));
    add(&w, 1, 7, 0, 0);
    add(&w, 2, 7, 0, 0);
    add(&w, 3, 1, 2, 1);
    add(&w, 1, 1, 1, 2); /* ends last too; the smaller id is taken */
    CHECK_OK(run(&w));
    CHECK(w.c.n == 2 && w.c.step[0].task.i == 1 && w.c.step[1].task.i == 3);
    close_world(&w);
}

static void what_takes_no_time_blocks_nobody(void)
{
    world w;
    uint32_t set;
    CHECK_OK(open_world(&w));
    CHECK_OK(ss_tasks_set(&w.t, (uint32_t[]){1, 2}, 2, &set, &err));
    add(&w, 1, 9, 0, 0);
    uint32_t blocker = add(&w, set, 4, 0, 0); /* 9..13 */
    add(&w, 2, 0, 0, 0);                      /* 13..13 */
    uint32_t last = add(&w, 2, 3, 0, 0);      /* 13..16 */
    CHECK_OK(run(&w));
    CHECK(w.l.makespan == 16 && w.c.n == 1 && w.c.step[0].task.i == last);
    CHECK(w.c.step[0].blocker.i == blocker, "%u", w.c.step[0].blocker.i);
    CHECK(w.c.queueing == 13 && w.c.compute == 3 && w.c.transfer == 0);
    close_world(&w);
}

static void unless_it_was_held_up_elsewhere(void)
{
    world w;
    uint32_t set;
    CHECK_OK(open_world(&w));
    CHECK_OK(ss_tasks_set(&w.t, (uint32_t[]){1, 2}, 2, &set, &err));
    add(&w, 1, 9, 0, 0);
    uint32_t blocker = add(&w, set, 0, 0, 0); /* 9..9 */
    uint32_t last = add(&w, 2, 3, 0, 0);      /* 9..12, behind the one without duration */
    CHECK_OK(run(&w));
    CHECK(w.c.n == 1 && w.c.step[0].task.i == last);
    CHECK(w.c.step[0].blocker.i == blocker, "%u", w.c.step[0].blocker.i);
    close_world(&w);
}

static void an_empty_graph_has_an_empty_path(void)
{
    world w;
    CHECK_OK(open_world(&w));
    CHECK_OK(run(&w));
    CHECK(w.c.n == 0 && w.c.compute == 0 && w.c.transfer == 0 && w.c.queueing == 0);
    close_world(&w);
}

static void labels_say_what_is_transfer(void)
{
    world w;
    ss_task task;
    CHECK_OK(open_world(&w));
    ss_task_label l = {.kind = SS_TASK_COLLECTIVE};
    CHECK_OK(ss_tasks_add(&w.t, 1, 5, 0, &l, &task, &err));
    l.kind = SS_TASK_UPDATE;
    CHECK_OK(ss_tasks_add(&w.t, 1, 6, 0, &l, &task, &err));
    CHECK_OK(ss_tasks_after(&w.t, (ss_task){1}, &err));
    CHECK_OK(run(&w));
    CHECK(w.c.transfer == 5 && w.c.compute == 6);
    close_world(&w);
}

static void no_memory_is_said(void)
{
    world w;
    CHECK_OK(open_world(&w));
    add(&w, 1, 9, 0, 0);
    CHECK_OK(run(&w));
    ss_critical c = {0};
    ss_mem_fail_after(0);
    ss_status s = ss_critical_find(&w.t, &w.l, &c, &err);
    ss_mem_fail_never();
    CHECK(s == SS_ENOMEM && c.n == 0);
    close_world(&w);
    CHECK(ss_mem_blocks() == 0);
}

int main(void)
{
    RUN(the_parts_sum_to_the_makespan);
    RUN(what_was_waited_for_is_what_the_one_in_front_held);
    RUN(of_equal_predecessors_the_smallest_is_followed);
    RUN(what_takes_no_time_blocks_nobody);
    RUN(unless_it_was_held_up_elsewhere);
    RUN(an_empty_graph_has_an_empty_path);
    RUN(labels_say_what_is_transfer);
    RUN(no_memory_is_said);
    return DONE();
}
