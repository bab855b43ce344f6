/* Runs that are changed on the way: every number here was worked out by hand. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/result.h"
#include "simulate/run.h"

static ss_error err;

/* Two devices, a link each way of 1 byte a ps and 5 ps, and a link 1 -> 2 of half that. */
static ss_tasks t;

static void open_graph(ss_links_mode mode)
{
    const double bytes_per_s[] = {0, 1e12, 1e12, 5e11}, latency_s[] = {0, 5e-12, 5e-12, 0};
    CHECK_OK(ss_tasks_start(&t, 2, 3, bytes_per_s, latency_s, mode, &err));
}

static ss_task compute(uint32_t device, ss_time hold, ss_task before)
{
    ss_task out = {0};
    if (ss_tasks_add(&t, device, hold, 0, NULL, &out, &err))
        abort();
    if (before.i && ss_tasks_after(&t, before, &err))
        abort();
    return out;
}

static ss_task transfer(uint32_t link, int64_t bytes, ss_task before)
{
    ss_task out = {0};
    uint32_t n;
    ss_task_label label = {.kind = SS_TASK_TRANSFER, .from = {1}, .to = {2}};
    if (ss_tasks_transfer(&t, &link, 1, bytes, 0, 0, &label, &before, before.i ? 1 : 0, &out, &n,
                          &err))
        abort();
    return out;
}

static ss_run *start(const ss_run_options *o)
{
    static const ss_run_options as_published = {0};
    ss_run *r = NULL;
    if (ss_tasks_finish(&t, &err) || ss_run_new(&t, o ? o : &as_published, &r, &err))
        printf("  %s\n", err.text);
    return r;
}

static ss_time end_of(ss_run *r, ss_task task)
{
    ss_time ready, begun, end;
    ss_run_times(r, task, &ready, &begun, &end);
    return end;
}

static ss_time start_of(ss_run *r, ss_task task)
{
    ss_time ready, begun, end;
    ss_run_times(r, task, &ready, &begun, &end);
    return begun;
}

/* 100 ps: 30 at full speed, then 70 at half. */
static void a_device_that_slows_down_takes_longer_for_what_is_left(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = compute(1, 100, (ss_task){0}), b = compute(1, 10, a);
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 30, &err));
    CHECK(ss_run_stage(r, a) == SS_STAGE_RUNS && ss_run_stage(r, b) == SS_STAGE_WAITS);
    CHECK_OK(ss_run_set_speed(r, (ss_device){1}, 0.5, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 170 && end_of(r, b) == 190);
    ss_run_free(r);
}

static void a_device_that_is_paused_goes_on_where_it_was(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = compute(1, 100, (ss_task){0});
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 30, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){1}, 0, &err));
    CHECK(ss_run_next(r) == SS_TIME_MAX);
    CHECK_OK(ss_run_advance(r, 1000, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){1}, 1, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 1070);
    ss_run_free(r);
}

static void a_device_that_failed_begins_anew(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = compute(1, 100, (ss_task){0});
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 30, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){1}, 0, &err));
    CHECK_OK(ss_run_restart(r, (ss_device){1}, &err));
    CHECK_OK(ss_run_advance(r, 40, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){1}, 1, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(start_of(r, a) == 0 && end_of(r, a) == 140);
    ss_run_free(r);
}

/* To 1e-9, and the picosecond that each of two changes rounds. */
static void nearly_at(ss_time got, double wanted_ps)
{
    CHECK(fabs((double)got - wanted_ps) <= 1 + 1e-9 * wanted_ps, "%lld ps, not %.0f",
          (long long)got, wanted_ps);
}

/* A third of the work at full speed, a third at 9e-6 of it, and the rest at what is asked. */
static void speeds_far_below_1_are_what_was_said(void)
{
    static const double speeds[] = {0.7, 1e-3, 7e-6, 1e-9, 3e-11, 900};
    const double third = 3e6;
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++)
        for (int mode = 0; mode <= SS_LINKS_FIFO_PATH; mode++) {
            double slow = 0.3 * 3e-5, second = third / slow;
            open_graph((ss_links_mode)mode);
            ss_task a = compute(2, 3 * (ss_time)third, (ss_task){0});
            ss_task b = transfer(3, 9 * (ss_time)third / 6, (ss_task){0}); /* at half a byte a ps */
            ss_run *r = start(NULL);
            CHECK_OK(ss_run_advance(r, (ss_time)third, &err));
            CHECK_OK(ss_run_set_speed(r, (ss_device){2}, slow, &err));
            CHECK_OK(ss_run_set_link(r, 3, 5e11 * slow, 0, &err));
            CHECK_OK(ss_run_advance(r, (ss_time)(third + second / 3), &err)); /* looked at */
            CHECK_OK(ss_run_advance(r, (ss_time)(third + second), &err));
            CHECK_OK(ss_run_set_speed(r, (ss_device){2}, speeds[k], &err));
            CHECK_OK(ss_run_set_link(r, 3, 5e11 * speeds[k], 0, &err));
            CHECK(ss_run_speed(r, (ss_device){2}) / speeds[k] - 1 < 1e-9);
            CHECK_OK(ss_run_finish(r, &err));
            nearly_at(end_of(r, a), third + second + third / speeds[k]);
            nearly_at(end_of(r, b), third + second + third / speeds[k]);
            ss_run_free(r);
        }
}

/* 1e-17 of its speed is more than nothing, and 100 ps take 116 days: it may be mended. */
static void what_would_end_too_late_is_named_and_can_be_mended(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = compute(2, 100, (ss_task){0});
    transfer(3, 100, (ss_task){0});
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 30, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){2}, 1e-30, &err));
    CHECK_OK(ss_run_set_link(r, 3, 1e-6, 0, &err));
    CHECK(ss_run_speed(r, (ss_device){2}) > 0);
    CHECK(ss_run_finish(r, &err) == SS_ERANGE);
    CHECK_TEXT(err.text, "task 1 would end later than 106 days");
    CHECK_OK(ss_run_advance(r, 1030, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){2}, 1, &err));
    CHECK_OK(ss_run_set_link(r, 3, 1e12, 0, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 1100);
    ss_run_free(r);
}

static void what_can_never_end_is_named(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    compute(2, 100, (ss_task){0});
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_set_speed(r, (ss_device){2}, 0, &err));
    CHECK(ss_run_finish(r, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1 can never end: device 2 stands still");
    ss_run_free(r);
}

/* fifo-hop: 5 ps latency and 100 bytes.  At 25, 20 bytes are across; the rest has a quarter. */
static void a_link_that_slows_down_keeps_its_latency(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = transfer(1, 100, (ss_task){0}), b = transfer(1, 10, a);
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 25, &err));
    CHECK_OK(ss_run_set_link(r, 1, 2.5e11, 7e-12, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 25 + 80 * 4);
    CHECK(end_of(r, b) == 345 + 7 + 40);
    ss_run_free(r);
}

/* fifo-path over links of 1 and 1/2 byte a ps: 100 bytes take 200 ps after 5.  At half of its bandwidth the first is no
 * slower than the second; with a quarter the 80 bytes that are left take 320. */
static void a_route_is_as_fast_as_its_slowest_link(void)
{
    static const double to[] = {5e11, 2.5e11};
    for (int k = 0; k < 2; k++) {
        const uint32_t route[] = {1, 3};
        ss_task a;
        uint32_t n;
        open_graph(SS_LINKS_FIFO_PATH);
        CHECK_OK(ss_tasks_transfer(&t, route, 2, 100, 0, 0, NULL, NULL, 0, &a, &n, &err));
        ss_run *r = start(NULL);
        CHECK_OK(ss_run_advance(r, 45, &err));
        CHECK_OK(ss_run_set_link(r, 1, to[k], 5e-12, &err));
        CHECK_OK(ss_run_finish(r, &err));
        CHECK(end_of(r, a) == (k ? 45 + 320 : 205), "%lld", (long long)end_of(r, a));
        ss_run_free(r);
    }
}

/* shared: two flows of 100 bytes on one link from 5 on; at 25 each has 10 bytes; then a quarter. */
static void flows_go_on_with_what_a_link_has_left(void)
{
    open_graph(SS_LINKS_SHARED);
    ss_task a = transfer(1, 100, (ss_task){0}), b = transfer(1, 100, (ss_task){0});
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 25, &err));
    CHECK(ss_run_rate(r, a) == 5e11 && ss_run_stage(r, b) == SS_STAGE_FLOWS);
    CHECK_OK(ss_run_set_link(r, 1, 2.5e11, 5e-12, &err));
    CHECK(ss_run_rate(r, a) == 1.25e11);
    CHECK_OK(ss_run_advance(r, 105, &err)); /* ten bytes more for each */
    CHECK_OK(ss_run_set_link(r, 1, 0, 5e-12, &err));
    CHECK(ss_run_next(r) == SS_TIME_MAX);
    CHECK_OK(ss_run_advance(r, 1000, &err));
    CHECK_OK(ss_run_set_link(r, 1, 1e12, 5e-12, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 1160 && end_of(r, b) == 1160);
    ss_run_free(r);
}

static void tasks_are_added_while_others_run(void)
{
    open_graph(SS_LINKS_SHARED);
    ss_task a = compute(1, 100, (ss_task){0}), b, c, d;
    ss_run *r = start(NULL);
    CHECK_OK(ss_run_advance(r, 50, &err));
    CHECK_OK(ss_run_add(r, (ss_device){1}, 20, NULL, NULL, 0, &b, &err));
    CHECK_OK(ss_run_send(
        r, &(ss_run_message){.link = (uint32_t[]){3, 2}, .links = 2, .bytes = 30, .weight = 1},
        NULL, (ss_task[]){a, b}, 2, &c, &err));
    CHECK_OK(ss_run_add(r, (ss_device){2}, 1, NULL, &c, 1, &d, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(start_of(r, b) == 100 && end_of(r, b) == 120);
    CHECK(end_of(r, c) == 120 + 5 + 60 && end_of(r, d) == 186);
    CHECK_OK(ss_run_add(r, (ss_device){2}, 4, NULL, &a, 1, &b, &err)); /* after one that is done */
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(start_of(r, b) == 186 && end_of(r, b) == 190);
    CHECK(ss_run_add(r, (ss_device){2}, 4, NULL, &(ss_task){99}, 1, &b, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "a new task waits for task 99; there are 1 to 5");
    CHECK(ss_run_add(r, (ss_device){3}, 4, NULL, NULL, 0, &b, &err) == SS_EINVAL);
    ss_run_free(r);
}

static void a_run_may_begin_with_nothing(void)
{
    open_graph(SS_LINKS_FIFO_PIPE);
    ss_run *r = start(NULL);
    ss_task a, b;
    CHECK_OK(ss_run_send(
        r, &(ss_run_message){.link = (uint32_t[]){1}, .links = 1, .bytes = 10, .weight = 1}, NULL,
        NULL, 0, &a, &err));
    CHECK_OK(ss_run_add(r, (ss_device){2}, 3, NULL, &a, 1, &b, &err));
    bool happened;
    uint32_t n;
    CHECK_OK(ss_run_step(r, &happened, &err));
    CHECK(happened && ss_run_now(r) == 10 && ss_run_stage(r, a) == SS_STAGE_ARRIVES);
    CHECK_OK(ss_run_step(r, &happened, &err));
    CHECK(ss_run_now(r) == 15 && ss_run_ended(r, &n)[0].i == a.i && n == 1);
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, b) == 18);
    CHECK_OK(ss_run_step(r, &happened, &err));
    CHECK(!happened);
    ss_run_free(r);
}

/* Three tasks, of 30, 10 and 20 ps, that are ready while another runs, until 50. */
static void orders_are_what_they_say(void)
{
    static const int32_t priority[] = {0, 0, 0, 5, 7, -1};
    const struct {
        ss_order order;
        ss_time start[3];
    } cases[] = {{SS_ORDER_FIFO, {50, 80, 90}},
                 {SS_ORDER_SHORTEST, {80, 50, 60}},
                 {SS_ORDER_PRIORITY, {70, 100, 50}}};
    for (unsigned k = 0; k < 3; k++) {
        open_graph(SS_LINKS_FIFO_HOP);
        ss_task last = compute(2, 1, (ss_task){0});
        compute(1, 50, (ss_task){0});
        ss_task of[] = {compute(1, 30, last), compute(1, 10, last), compute(1, 20, last)};
        ss_run *r = start(&(ss_run_options){.order = cases[k].order, .priority = priority});
        CHECK_OK(ss_run_finish(r, &err));
        for (unsigned i = 0; i < 3; i++)
            CHECK(start_of(r, of[i]) == cases[k].start[i], "%u %u: %d", k, i,
                  (int)start_of(r, of[i]));
        ss_run_free(r);
    }
}

/* Task 2 is ready from the beginning, and the program has it behind task 3, which waits for device 2. */
static void a_program_waits_for_its_next(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task far = compute(2, 40, (ss_task){0});
    ss_task first = compute(1, 10, far), second = compute(1, 5, (ss_task){0});
    ss_run *fifo = start(NULL), *program = start(&(ss_run_options){.order = SS_ORDER_PROGRAM});
    CHECK_OK(ss_run_finish(fifo, &err));
    CHECK_OK(ss_run_finish(program, &err));
    CHECK(start_of(fifo, second) == 0 && start_of(fifo, first) == 40);
    CHECK(start_of(program, first) == 40 && start_of(program, second) == 50);
    ss_run_free(fifo);
    ss_run_free(program);
}

static void streams_run_side_by_side(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task of[] = {compute(1, 30, (ss_task){0}), compute(1, 10, (ss_task){0}),
                    compute(1, 20, (ss_task){0})};
    ss_run *r = start(&(ss_run_options){.streams = 2});
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, of[0]) == 30 && end_of(r, of[1]) == 10 && end_of(r, of[2]) == 30);
    ss_run_free(r);
}

/* 105 ps for the message; what device 2 computes meanwhile waits, or is slower. */
static void copies_block_or_slow_the_devices_at_their_ends(void)
{
    for (int shared = 0; shared < 2; shared++) {
        open_graph(shared ? SS_LINKS_SHARED : SS_LINKS_FIFO_HOP);
        ss_task copy = transfer(1, 100, (ss_task){0}), work = compute(2, 60, (ss_task){0});
        ss_run *free = start(NULL), *block = start(&(ss_run_options){.copies_block = true});
        ss_run *slow = start(&(ss_run_options){.slowed_by_copies = 0.5});
        CHECK_OK(ss_run_finish(free, &err));
        CHECK_OK(ss_run_finish(block, &err));
        CHECK_OK(ss_run_finish(slow, &err));
        CHECK(end_of(free, copy) == 105 && end_of(free, work) == 60);
        CHECK(end_of(block, copy) == 105 && end_of(block, work) == 165);
        /* 105 ps at half speed are 52.5 of 60; the rest is at full speed, 7.5 rounded up */
        CHECK(end_of(slow, copy) == 105 && end_of(slow, work) == 113);
        ss_run_free(free);
        ss_run_free(block);
        ss_run_free(slow);
    }
}

/* The same message, copied by one of the two: what the other computes goes on. */
static void copies_block_who_does_the_copying(void)
{
    static const ss_time ends[SS_BLOCKED_ENDS][2] = {{165, 165}, {165, 60}, {60, 165}};
    for (int shared = 0; shared < 2; shared++)
        for (int end = 0; end < SS_BLOCKED_ENDS; end++) {
            open_graph(shared ? SS_LINKS_SHARED : SS_LINKS_FIFO_HOP);
            ss_task copy = transfer(1, 100, (ss_task){0});
            ss_task of[] = {compute(1, 60, (ss_task){0}), compute(2, 60, (ss_task){0})};
            ss_run *r =
                start(&(ss_run_options){.copies_block = true, .blocked_end = (ss_blocked_end)end});
            CHECK_OK(ss_run_finish(r, &err));
            CHECK(end_of(r, copy) == 105 && end_of(r, of[0]) == ends[end][0] &&
                  end_of(r, of[1]) == ends[end][1]);
            ss_run_free(r);
        }
}

/* After 15 ps at a quarter of its speed a quarter of a picosecond is left of 4: less than half of one at full
 * speed, which is rounded away, but the second copy begins where the first one ends. */
static void a_copy_that_follows_another_at_once_gives_no_respite(void)
{
    for (int shared = 0; shared < 2; shared++) {
        open_graph(shared ? SS_LINKS_SHARED : SS_LINKS_FIFO_HOP);
        ss_task work = compute(2, 4, (ss_task){0}), copy = transfer(1, 10, (ss_task){0});
        ss_run *alone = start(&(ss_run_options){.slowed_by_copies = 0.25});
        CHECK_OK(ss_run_finish(alone, &err));
        CHECK(end_of(alone, copy) == 15 && end_of(alone, work) == 15);
        ss_run_free(alone);
        ss_task next = transfer(1, 10, copy);
        ss_run *both = start(&(ss_run_options){.slowed_by_copies = 0.25});
        CHECK_OK(ss_run_finish(both, &err));
        CHECK(end_of(both, next) == 30 && end_of(both, work) == 16);
        ss_run_free(both);
    }
}

/* 100 bytes after 5 ps: at 25, 20 are across; at 45 half speed is gone for good, and 5 ps are nothing. */
static void what_was_planned_happens_at_its_time(void)
{
    const ss_change plan[] = {{.at = 45, .kind = SS_CHANGE_LINK_FAILS, .who = 1},
                              {.at = 25,
                               .kind = SS_CHANGE_LINK,
                               .who = 1,
                               .bytes_per_s = -1,
                               .share = 0.5,
                               .latency_s = 7e-12},
                              {.at = 50, .kind = SS_CHANGE_LINK_WORKS, .who = 1},
                              {.at = 999, .kind = SS_CHANGE_PAUSE, .who = 1}};
    for (int shared = 0; shared < 2; shared++) {
        open_graph(shared ? SS_LINKS_SHARED : SS_LINKS_FIFO_HOP);
        ss_task a = transfer(1, 100, (ss_task){0}), b = transfer(1, 10, a);
        ss_run *r = start(&(ss_run_options){.change = plan, .changes = 4});
        uint32_t n;
        CHECK_OK(ss_run_advance(r, 47, &err));
        CHECK(ss_run_bandwidth(r, 1) == 0 && ss_run_latency(r, 1) == 7e-12);
        CHECK_OK(ss_run_finish(r, &err));
        CHECK(end_of(r, a) == 50 + 140 && end_of(r, b) == 190 + 7 + 20, "%d", (int)end_of(r, a));
        CHECK(ss_run_bandwidth(r, 1) == 5e11);
        /* 25 ps at 1, 20 at 1/2, 5 at 0, 167 at 1/2 */
        CHECK(fabs(ss_run_mean_bandwidth(r, 1, 217) / (1e12 * (25 + 10 + 83.5) / 217) - 1) < 1e-12);
        CHECK(ss_run_mean_bandwidth(r, 2, 217) == 1e12);
        const ss_change *c = ss_run_changes(r, &n);
        CHECK(n == 3 && c[0].at == 25 && c[1].kind == SS_CHANGE_LINK_FAILS && c[2].at == 50);
        CHECK(ss_run_next(r) == 999); /* it was not needed for the end */
        ss_run_free(r);
    }
}

/* What is planned for the beginning is so for what begins with it: 11 ps of latency, 20 at half speed. */
static void what_was_planned_for_the_start_holds_from_the_start(void)
{
    const ss_change plan[] = {
        {.kind = SS_CHANGE_LINK, .who = 1, .bytes_per_s = 5e11, .share = 1, .latency_s = 11e-12},
        {.kind = SS_CHANGE_SPEED, .who = 2, .speed = 2}};
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = transfer(1, 10, (ss_task){0}), b = compute(2, 50, (ss_task){0});
    ss_run *r = start(&(ss_run_options){.change = plan, .changes = 2});
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 31 && end_of(r, b) == 25);
    ss_run_free(r);
    const ss_change wrong[] = {{.kind = SS_CHANGE_LINK_FAILS, .who = 4},
                               {.kind = SS_CHANGE_PAUSE, .who = 3},
                               {.kind = SS_CHANGE_SPEED, .who = 1, .speed = -1},
                               {.at = -1, .kind = SS_CHANGE_PAUSE, .who = 1}};
    for (int k = 0; k < 4; k++)
        CHECK(ss_run_new(&t, &(ss_run_options){.change = &wrong[k], .changes = 1}, &r, &err) ==
                  SS_EINVAL,
              "%d", k);
}

/* Device 1 fails at 30 of 100, is told to work at half speed at 40, and does so from 60 on. */
static void a_device_that_stands_still_goes_on_at_the_speed_it_was_given(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task a = compute(1, 100, (ss_task){0});
    ss_run *r = start(NULL);
    ss_change c = {.kind = SS_CHANGE_DEVICE_FAILS, .who = 1, .speed = 0.5};
    CHECK_OK(ss_run_advance(r, 30, &err));
    CHECK_OK(ss_run_change(r, &c, &err));
    CHECK_OK(ss_run_advance(r, 40, &err));
    c.kind = SS_CHANGE_SPEED;
    CHECK_OK(ss_run_change(r, &c, &err));
    CHECK(ss_run_speed(r, (ss_device){1}) == 0 && ss_run_next(r) == SS_TIME_MAX);
    CHECK_OK(ss_run_advance(r, 60, &err));
    c.kind = SS_CHANGE_RESUME;
    CHECK_OK(ss_run_change(r, &c, &err));
    CHECK(ss_run_speed(r, (ss_device){1}) == 0.5);
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 260, "%d", (int)end_of(r, a));
    ss_run_free(r);
}

static void a_message_to_oneself_takes_no_time_and_waits_for_nobody(void)
{
    open_graph(SS_LINKS_SHARED);
    compute(1, 100, (ss_task){0});
    ss_run *r = start(NULL);
    ss_task a, b;
    ss_task_label label = {.kind = SS_TASK_TRANSFER, .from = {1}, .to = {1}};
    CHECK_OK(ss_run_advance(r, 30, &err));
    CHECK_OK(ss_run_send(r, &(ss_run_message){.bytes = 40}, &label, NULL, 0, &a, &err));
    CHECK_OK(ss_run_add(r, (ss_device){2}, 7, NULL, &a, 1, &b, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 30 && end_of(r, b) == 37 && ss_run_now(r) == 100);
    CHECK(ss_run_send(r, &(ss_run_message){.bytes = 40}, NULL, NULL, 0, &a, &err) == SS_EINVAL);
    ss_run_free(r);
}

/* fifo-pipe: 5 ps of latency pass outside; 9 after the change, of what leaves the link then. */
static void a_result_of_a_run_has_what_was_changed_and_added(void)
{
    static const char *const name[] = {"mine", NULL};
    open_graph(SS_LINKS_FIFO_PIPE);
    ss_task a = transfer(1, 10, (ss_task){0}), b = compute(2, 50, a), c, d;
    ss_run *r = start(NULL);
    ss_lowered l = {0};
    ss_result *result;
    CHECK_OK(ss_run_advance(r, 3, &err));
    CHECK_OK(ss_run_change(
        r,
        &(ss_change){
            .kind = SS_CHANGE_LINK, .who = 1, .bytes_per_s = -1, .share = 1, .latency_s = 9e-12},
        &err));
    CHECK_OK(ss_run_add(r, (ss_device){2}, 4, NULL, &b, 1, &c, &err));
    CHECK_OK(ss_run_send(
        r, &(ss_run_message){.link = (uint32_t[]){3}, .links = 1, .bytes = 30, .weight = 1}, NULL,
        &c, 1, &d, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK_OK(ss_tasks_copy(&t, &l.tasks, &err));
    CHECK_OK(ss_result_of_run(NULL, NULL, NULL, NULL, &l, r, name, &result, &err));
    CHECK(result->step_time == 10 + 9 + 50 + 4 + 60 && result->critical.n == 4);
    CHECK(result->critical.compute == 54 && result->critical.transfer == 79);
    CHECK(result->device[2].busy == 54 && result->link[1].busy == 10 && result->link[3].busy == 60);
    CHECK(result->added == 2 && result->changes == 1 && result->change[0].at == 3);
    CHECK_TEXT(result->name[0], "mine");
    CHECK(!result->name[1] && result->bytes_moved == 40);
    ss_result_free(result);
    ss_run_free(r);
}

/* Over a link of a byte a ps, which has a quarter from 25 on, fails at 100 and works at 150: 100 bytes alone have 20 and
 * 18.75 before, and 61.25 take 245 more.  Two flows of 100 have 10, 9.375 and then 1 / 8 of a byte a ps each. */
static void a_flow_is_slowed_by_others_and_not_by_its_link(void)
{
    const ss_change change[] = {
        {.kind = SS_CHANGE_LINK, .who = 1, .bytes_per_s = -1, .share = 0.25, .latency_s = 9e-12},
        {.kind = SS_CHANGE_LINK_FAILS, .who = 1},
        {.kind = SS_CHANGE_LINK_WORKS, .who = 1}};
    const ss_time at[] = {25, 100, 150};
    for (int flows = 1; flows <= 2; flows++) {
        open_graph(SS_LINKS_SHARED);
        for (int i = 0; i < flows; i++)
            (void)transfer(1, 100, (ss_task){0});
        ss_run *r = start(NULL);
        ss_lowered l = {0};
        ss_result *result;
        for (int i = 0; i < 3; i++) {
            CHECK_OK(ss_run_advance(r, at[i], &err));
            CHECK_OK(ss_run_change(r, &change[i], &err));
        }
        CHECK_OK(ss_run_finish(r, &err));
        CHECK_OK(ss_tasks_copy(&t, &l.tasks, &err));
        CHECK_OK(ss_result_of_run(NULL, NULL, NULL, NULL, &l, r, NULL, &result, &err));
        CHECK(result->step_time == (flows == 1 ? 395 : 795));
        CHECK(result->critical.slowed == (flows == 1 ? 0 : 400), "slowed by %lld",
              (long long)result->critical.slowed);
        CHECK(result->link[1].longest_wait == result->critical.slowed);
        ss_result_free(result);
        ss_run_free(r);
    }
}

/* What starts after a latency changed has that, alone too. */
static void another_latency_slows_nobody(void)
{
    open_graph(SS_LINKS_SHARED);
    ss_task a = compute(1, 50, (ss_task){0});
    (void)transfer(1, 100, a);
    ss_change slower = {.at = 10,
                        .kind = SS_CHANGE_LINK,
                        .who = 1,
                        .bytes_per_s = -1,
                        .share = 1,
                        .latency_s = 8e-11};
    ss_run_options o = {.change = &slower, .changes = 1};
    ss_run *r = start(&o);
    ss_lowered l = {0};
    ss_result *result;
    CHECK_OK(ss_run_finish(r, &err));
    CHECK_OK(ss_tasks_copy(&t, &l.tasks, &err));
    CHECK_OK(ss_result_of_run(NULL, NULL, NULL, NULL, &l, r, NULL, &result, &err));
    CHECK(result->step_time == 50 + 80 + 100 && result->critical.slowed == 0);
    ss_result_free(result);
    ss_run_free(r);
}

/* Tasks of 30, 10 and 20 ps in two streams: the device is busy for 30, of which nothing is counted twice. */
static void streams_of_a_device_are_busy_once(void)
{
    open_graph(SS_LINKS_FIFO_HOP);
    compute(1, 30, (ss_task){0}), compute(1, 10, (ss_task){0}), compute(1, 20, (ss_task){0});
    ss_task far = compute(2, 40, (ss_task){0});
    compute(1, 7, far);
    ss_run *r = start(&(ss_run_options){.streams = 2});
    ss_lowered l = {.options = {.run = {.streams = 2}}};
    ss_result *result;
    CHECK_OK(ss_run_finish(r, &err));
    CHECK_OK(ss_tasks_copy(&t, &l.tasks, &err));
    CHECK_OK(ss_result_of_run(NULL, NULL, NULL, NULL, &l, r, NULL, &result, &err));
    CHECK(result->device[1].busy == 37 && result->device[1].idle == 10);
    ss_result_free(result);
    ss_run_free(r);
}

/* What device 2 computes waits for a copy, and the next copy for that: who was in front is told.  Where the sender
 * alone is blocked, that copy waits for the first one. */
static void critical_path_of_copies(ss_blocked_end end)
{
    bool sender = end == SS_BLOCKED_SENDER;
    open_graph(SS_LINKS_FIFO_HOP);
    ss_task copy = transfer(1, 100, (ss_task){0}), work = compute(2, 60, (ss_task){0}),
            other = transfer(3, 10, (ss_task){0});
    ss_run_options o = {.copies_block = true, .blocked_end = end};
    ss_run *r = start(&o);
    ss_lowered l = {.options = {.run = o}};
    ss_result *result;
    CHECK_OK(ss_run_finish(r, &err));
    CHECK_OK(ss_tasks_copy(&t, &l.tasks, &err));
    CHECK_OK(ss_result_of_run(NULL, NULL, NULL, NULL, &l, r, NULL, &result, &err));
    const ss_critical *c = &result->critical;
    ss_time waited = sender ? 105 : 165;
    CHECK(c->n == 1 && c->step[0].task.i == other.i && c->step[0].queueing == waited);
    CHECK(c->step[0].blocker.i == (sender ? copy.i : work.i), "%u", c->step[0].blocker.i);
    CHECK(c->step[0].resource == (sender ? 1 : 2), "%u", c->step[0].resource);
    CHECK(c->queueing_device == waited && c->queueing_link == 0);
    ss_result_free(result);
    ss_run_free(r);
}

static void a_critical_path_knows_that_copies_block(void)
{
    critical_path_of_copies(SS_BLOCKED_BOTH);
    critical_path_of_copies(SS_BLOCKED_SENDER);
    critical_path_of_copies(SS_BLOCKED_RECEIVER);
}

static void wrong_changes_are_refused_and_change_nothing(void)
{
    open_graph(SS_LINKS_SHARED);
    ss_task a = transfer(1, 100, (ss_task){0});
    ss_run *r = start(NULL);
    CHECK(ss_run_set_link(r, 4, 1, 0, &err) == SS_EINVAL);
    CHECK(ss_run_set_link(r, 1, -1, 0, &err) == SS_EINVAL);
    CHECK(ss_run_set_link(r, 1, 1e12, -1, &err) == SS_EINVAL);
    CHECK(ss_run_set_link(r, 1, 1e14, 0, &err) == SS_ERANGE);
    CHECK(ss_run_set_speed(r, (ss_device){1}, -1, &err) == SS_EINVAL);
    CHECK(ss_run_set_speed(r, (ss_device){0}, 1, &err) == SS_EINVAL);
    CHECK_OK(ss_run_advance(r, 50, &err));
    CHECK(ss_run_advance(r, 49, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "cannot go back");
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 105);
    ss_run_free(r);
    ss_run_options o = {.order = SS_ORDER_PRIORITY};
    CHECK(ss_run_new(&t, &o, &r, &err) == SS_EINVAL);
    o = (ss_run_options){.slowed_by_copies = 2};
    CHECK(ss_run_new(&t, &o, &r, &err) == SS_EINVAL);
}

static ss_task bound_task(uint32_t device, ss_time hold, double bound)
{
    ss_task task = compute(device, hold, (ss_task){0});
    if (ss_tasks_bind(&t, task, bound, &err))
        abort();
    return task;
}

static void open_devices(uint32_t devices)
{
    const double none[] = {0};
    CHECK_OK(ss_tasks_start(&t, devices, 0, none, none, SS_LINKS_FIFO_HOP, &err));
}

/* 8 * 1/2 * 1/4 = 1: both take twice as long, until the shorter ends after 200 ps; then the longer, with 100 ps of
 * its 200 done, is alone. */
static void devices_of_a_machine_slow_each_other(void)
{
    open_devices(2);
    ss_task a = bound_task(1, 100, 0.5), b = bound_task(2, 200, 0.25), c = compute(2, 50, a);
    ss_run *r = start(&(ss_run_options){.interference = 8});
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 200 && end_of(r, b) == 300, "%lld, %lld", (long long)end_of(r, a),
          (long long)end_of(r, b));
    CHECK(end_of(r, c) == 350);
    ss_run_free(r);
    r = start(&(ss_run_options){.interference = 0});
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, a) == 100 && end_of(r, b) == 200);
    ss_run_free(r);
}

/* Of three, each beside two others: 1 + 2 * 1/2 * (1/2 + 1), 1 + 2 * 1/2 * (1/2 + 1) and 1 + 2 * 1 * (1/2 + 1/2). */
static void pressure_adds_up_over_the_other_devices(void)
{
    open_devices(4);
    ss_task a = bound_task(1, 10000, 0.5), b = bound_task(2, 10000, 0.5), c = bound_task(3, 10000, 1),
            d = bound_task(4, 10000, 0);
    ss_run *r = start(&(ss_run_options){.interference = 2});
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, d) == 10000);
    CHECK(end_of(r, a) == 25000 && end_of(r, b) == 25000, "%lld", (long long)end_of(r, a));
    /* 25000 ps at 1/3, then alone */
    CHECK(end_of(r, c) == 25000 + 10000 - 8333, "%lld", (long long)end_of(r, c));
    ss_run_free(r);
}

/* A device that stands still presses on nobody: 100 ps at half speed, 100 alone, and the rest at half again. */
static void a_device_that_stands_still_slows_nobody(void)
{
    open_devices(2);
    ss_task a = bound_task(1, 1000, 1), b = bound_task(2, 200, 1);
    ss_run *r = start(&(ss_run_options){.interference = 1});
    CHECK_OK(ss_run_advance(r, 100, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){2}, 0, &err));
    CHECK_OK(ss_run_advance(r, 200, &err));
    CHECK_OK(ss_run_set_speed(r, (ss_device){2}, 1, &err));
    CHECK_OK(ss_run_finish(r, &err));
    CHECK(end_of(r, b) == 500, "%lld", (long long)end_of(r, b));
    CHECK(end_of(r, a) == 500 + 1000 - 300, "%lld", (long long)end_of(r, a));
    ss_run_free(r);
}

static void bounds_beyond_1_are_refused(void)
{
    open_devices(1);
    ss_task a = compute(1, 1, (ss_task){0});
    CHECK(ss_tasks_bind(&t, a, 1.5, &err) == SS_EINVAL && strstr(err.text, "from 0 to 1"));
    CHECK(ss_tasks_bind(&t, (ss_task){2}, 1, &err) == SS_EINVAL);
    ss_run *r;
    CHECK_OK(ss_tasks_finish(&t, &err));
    CHECK(ss_run_new(&t, &(ss_run_options){.interference = -1}, &r, &err) == SS_EINVAL);
    CHECK(strstr(err.text, "interference is -1"), "%s", err.text);
}

static void every_allocation_may_fail(void)
{
    open_graph(SS_LINKS_SHARED);
    ss_task a = transfer(1, 100, (ss_task){0}), b;
    bound_task(2, 10, 1);
    compute(2, 10, a);
    CHECK_OK(ss_tasks_finish(&t, &err));
    for (uint64_t k = 1;; k++) {
        ss_change change = {.at = 3, .kind = SS_CHANGE_LINK_FAILS, .who = 2};
        ss_run_options o = {
            .order = SS_ORDER_PROGRAM, .streams = 2, .interference = 1, .change = &change, .changes = 1};
        ss_lowered l = {0};
        ss_result *result = NULL;
        ss_run *r = NULL;
        size_t blocks = ss_mem_blocks();
        ss_mem_fail_after((int64_t)k - 1);
        ss_status s = ss_run_new(&t, &o, &r, &err);
        if (!s)
            s = ss_run_advance(r, 4, &err);
        change.kind = SS_CHANGE_LINK_WORKS;
        if (!s)
            s = ss_run_change(r, &change, &err);
        if (!s)
            s = ss_run_send(
                r,
                &(ss_run_message){.link = (uint32_t[]){3, 2}, .links = 2, .bytes = 30, .weight = 1},
                NULL, &a, 1, &b, &err);
        if (!s)
            s = ss_run_finish(r, &err);
        if (!s)
            s = ss_tasks_copy(&t, &l.tasks, &err);
        if (!s)
            s = ss_result_of_run(NULL, NULL, NULL, NULL, &l, r, (const char *[]){"b"}, &result,
                                 &err);
        ss_mem_fail_never();
        ss_lowered_free(&l);
        ss_result_free(result);
        ss_run_free(r);
        CHECK(ss_mem_blocks() == blocks, "failure %d", (int)k);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM, "%s", err.text);
    }
}

int main(void)
{
    RUN(a_device_that_slows_down_takes_longer_for_what_is_left);
    RUN(a_device_that_is_paused_goes_on_where_it_was);
    RUN(a_device_that_failed_begins_anew);
    RUN(speeds_far_below_1_are_what_was_said);
    RUN(what_would_end_too_late_is_named_and_can_be_mended);
    RUN(what_can_never_end_is_named);
    RUN(a_link_that_slows_down_keeps_its_latency);
    RUN(a_route_is_as_fast_as_its_slowest_link);
    RUN(flows_go_on_with_what_a_link_has_left);
    RUN(tasks_are_added_while_others_run);
    RUN(a_run_may_begin_with_nothing);
    RUN(orders_are_what_they_say);
    RUN(a_program_waits_for_its_next);
    RUN(streams_run_side_by_side);
    RUN(copies_block_or_slow_the_devices_at_their_ends);
    RUN(copies_block_who_does_the_copying);
    RUN(a_copy_that_follows_another_at_once_gives_no_respite);
    RUN(what_was_planned_happens_at_its_time);
    RUN(what_was_planned_for_the_start_holds_from_the_start);
    RUN(a_device_that_stands_still_goes_on_at_the_speed_it_was_given);
    RUN(a_message_to_oneself_takes_no_time_and_waits_for_nobody);
    RUN(a_result_of_a_run_has_what_was_changed_and_added);
    RUN(a_flow_is_slowed_by_others_and_not_by_its_link);
    RUN(another_latency_slows_nobody);
    RUN(streams_of_a_device_are_busy_once);
    RUN(a_critical_path_knows_that_copies_block);
    RUN(wrong_changes_are_refused_and_change_nothing);
    RUN(devices_of_a_machine_slow_each_other);
    RUN(pressure_adds_up_over_the_other_devices);
    RUN(a_device_that_stands_still_slows_nobody);
    RUN(bounds_beyond_1_are_refused);
    RUN(every_allocation_may_fail);
    ss_tasks_free(&t);
    return DONE();
}
