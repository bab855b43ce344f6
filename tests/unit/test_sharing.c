/* Flows that share links: small networks whose rates and ends were worked out by hand. */
#include "check.h"

#include <math.h>

#include "base/mem.h"
#include "simulate/engine.h"
#include "simulate/sharing.h"

static ss_error err;
static ss_sharing *s;

/* Three links in a row, of 1, 2 and 1 GB/s.  Path 1 crosses all three, 2 the first, 3 and 4 the second, 5
 * the last. */
static const double bytes_per_s[] = {0, 1e9, 2e9, 1e9};
static const uint32_t first[] = {0, 0, 3, 4, 5, 6, 7}, link[] = {1, 2, 3, 1, 2, 2, 3};
static const ss_paths paths = {.n = 5, .first = first, .link = link};

static double rate(uint32_t path)
{
    return ldexp((double)ss_sharing_rate(s, path), -ss_sharing_scale(s));
}

static bool is_rate(uint32_t path, double wanted)
{
    return fabs(rate(path) - wanted) <= 1e-15 * wanted + ldexp(1, -ss_sharing_scale(s));
}

static void begin(uint32_t path, ss_time now)
{
    CHECK_OK(ss_sharing_begin(s, now, path, 1000000, path, &err));
}

/* The long flow gets half of the first and last link; what it leaves of the second is halved. */
static void a_long_flow_gets_what_its_fullest_link_gives(void)
{
    CHECK_OK(ss_sharing_start(s, 3, bytes_per_s, &paths, &err));
    for (uint32_t p = 1; p <= 5; p++)
        begin(p, 0);
    ss_sharing_settle(s, 0);
    CHECK(is_rate(1, 5e8) && is_rate(2, 5e8) && is_rate(5, 5e8));
    CHECK(is_rate(3, 7.5e8) && is_rate(4, 7.5e8));
    CHECK(ss_sharing_bottleneck(s, 1) == 1 && ss_sharing_bottleneck(s, 3) == 2);
    CHECK(ss_sharing_flows(s) == 5);
}

static void a_flow_that_ends_leaves_its_rate_to_the_others(void)
{
    CHECK_OK(ss_sharing_start(s, 3, bytes_per_s, &paths, &err));
    for (uint32_t p = 1; p <= 5; p++)
        begin(p, 0);
    ss_sharing_settle(s, 0);
    /* 3 and 4: 1 MB at 0.75 GB/s */
    CHECK(ss_sharing_next(s) == 1333333333);
    CHECK(ss_sharing_end(s, 1333333333) + ss_sharing_end(s, 1333333333) == 3 + 4);
    CHECK(ss_sharing_end(s, 1333333333) == 0);
    ss_sharing_settle(s, 1333333333);
    CHECK(is_rate(1, 5e8)); /* the first and last link still hold it back */
    CHECK(ss_sharing_next(s) == 2000000000);
    uint32_t sum = 0;
    for (uint32_t f; (f = ss_sharing_end(s, 2000000000));)
        sum += f;
    CHECK(sum == 1 + 2 + 5);
    ss_sharing_settle(s, 2000000000);
    CHECK(ss_sharing_next(s) == SS_TIME_MAX && ss_sharing_flows(s) == 0);
    for (uint32_t l = 1; l <= 3; l++)
        CHECK(ss_sharing_used(s, l) == 0);
}

static void a_link_that_stands_still_holds_its_flows(void)
{
    CHECK_OK(ss_sharing_start(s, 3, bytes_per_s, &paths, &err));
    begin(2, 0);
    begin(3, 0);
    ss_sharing_settle(s, 0);
    CHECK_OK(ss_sharing_set_link(s, 1, 0, &err));
    ss_sharing_settle(s, 0);
    CHECK(rate(2) == 0 && is_rate(3, 2e9));
    CHECK(ss_sharing_next(s) == 500000000 && ss_sharing_end(s, 500000000) == 3);
    ss_sharing_settle(s, 500000000);
    CHECK(ss_sharing_next(s) == SS_TIME_MAX && ss_sharing_flows(s) == 1);
    CHECK(ss_sharing_set_link(s, 1, 1e12, &err) == SS_ERANGE);
    CHECK_OK(ss_sharing_set_link(s, 1, 4e9, &err));
    ss_sharing_settle(s, 500000000);
    CHECK(ss_sharing_next(s) == 750000000);
}

/* Many senders, each with a link of its own, that stand still and go on at one instant: together they
 * would be more than any number here holds. */
static void many_that_go_on_at_once_share_the_link_of_the_one_who_receives(void)
{
    enum { SENDERS = 100 }; /* their sum would be below 0 in 64 bits */
    static double of[SENDERS + 2];
    static uint32_t begins[SENDERS + 2], two[2 * SENDERS];
    for (uint32_t i = 1; i <= SENDERS + 1; i++)
        of[i] = 1e9;
    for (uint32_t p = 1; p <= SENDERS; p++) {
        begins[p + 1] = 2 * p;
        two[2 * p - 2] = p;
        two[2 * p - 1] = SENDERS + 1;
    }
    const ss_paths all = {.n = SENDERS, .first = begins, .link = two};
    CHECK_OK(ss_sharing_start(s, SENDERS + 1, of, &all, &err));
    for (uint32_t p = 1; p <= SENDERS; p++) {
        CHECK_OK(ss_sharing_set_link(s, p, 0, &err));
        begin(p, 0);
    }
    ss_sharing_settle(s, 0);
    for (uint32_t p = 1; p <= SENDERS; p++)
        CHECK_OK(ss_sharing_set_link(s, p, 1e9, &err));
    ss_sharing_settle(s, 7);
    for (uint32_t p = 1; p <= SENDERS; p++)
        CHECK(is_rate(p, 1e9 / SENDERS));
}

/* Three flows over all links, of at most 250 MB/s each at first. */
static void a_cap_that_changes_holds_its_flows_by_what_it_is_now(void)
{
    static const double cap[] = {0, 2.5e8};
    const ss_paths capped = {.n = 1, .first = first, .link = link, .cap = cap};
    CHECK_OK(ss_sharing_start(s, 3, bytes_per_s, &capped, &err));
    for (int i = 0; i < 3; i++)
        begin(1, 0);
    ss_sharing_settle(s, 0);
    CHECK(is_rate(1, 2.5e8) && ss_sharing_bottleneck(s, 1) == 0);
    ss_sharing_set_cap(s, 1, 1e17); /* more than the links have, thousands of times */
    ss_sharing_settle(s, 1000000);
    CHECK(is_rate(1, 1e9 / 3) && ss_sharing_bottleneck(s, 1) == 1);
    ss_sharing_set_cap(s, 1, 0);
    ss_sharing_settle(s, 2000000);
    CHECK(rate(1) == 0 && ss_sharing_next(s) == SS_TIME_MAX);
    ss_sharing_set_cap(s, 1, 1e8);
    ss_sharing_settle(s, 3000000);
    CHECK(is_rate(1, 1e8));
}

static void a_flow_that_would_not_end_in_time_is_refused(void)
{
    const double slow[] = {0, 1e-3};
    const ss_paths one = {.n = 1, .first = first + 1, .link = link};
    CHECK_OK(ss_sharing_start(s, 1, slow, &one, &err));
    CHECK(ss_sharing_begin(s, 0, 1, INT64_MAX, 1, &err) == SS_ERANGE);
    CHECK_TEXT(err.text, "would take longer than 106 days");
    CHECK(ss_sharing_flows(s) == 0);
}

static void paths_are_added_while_flows_are_under_way(void)
{
    static const ss_paths two = {.n = 2, .first = first, .link = link};
    CHECK_OK(ss_sharing_start(s, 3, bytes_per_s, &two, &err));
    begin(1, 0);
    begin(2, 0);
    ss_sharing_settle(s, 0);
    CHECK_OK(ss_sharing_add_paths(s, &paths, &err));
    begin(5, 1000000000);
    begin(3, 1000000000);
    ss_sharing_settle(s, 1000000000);
    CHECK(is_rate(1, 5e8) && is_rate(5, 5e8) && is_rate(3, 1.5e9));
    CHECK(ss_sharing_next(s) == 1000000000 + 666666667);
}

/* What is left tells a second sharing all that it needs. */
static void what_is_left_goes_on_elsewhere_as_here(void)
{
    ss_sharing *other;
    ss_flow_left left[5];
    CHECK_OK(ss_sharing_new(&other, &err));
    CHECK_OK(ss_sharing_start(s, 3, bytes_per_s, &paths, &err));
    for (uint32_t p = 1; p <= 5; p++)
        begin(p, 0);
    ss_sharing_settle(s, 0);
    ss_sharing_left(s, 777777777, left);
    CHECK_OK(ss_sharing_start(other, 3, bytes_per_s, &paths, &err));
    for (uint32_t i = 0; i < 5; i++)
        CHECK_OK(ss_sharing_begin_left(other, 777777777, left[i].number, left[i].left,
                                       left[i].number, &err));
    ss_sharing_settle(other, 777777777);
    CHECK(ss_sharing_next(other) == ss_sharing_next(s));
    for (uint32_t p = 1; p <= 5; p++)
        CHECK(ss_sharing_rate(other, p) == ss_sharing_rate(s, p));
    ss_sharing_free(other);
}

static void every_allocation_of_a_simulation_may_fail(void)
{
    ss_tasks t = {0};
    const double latency_s[] = {0, 1e-6, 0, 0};
    CHECK_OK(ss_tasks_start(&t, 1, 3, bytes_per_s, latency_s, SS_LINKS_SHARED, &err));
    for (uint32_t i = 0; i < 60; i++) {
        ss_task last;
        uint32_t n;
        CHECK_OK(ss_tasks_transfer(&t, (uint32_t[]){1 + i % 3, 1 + (i + 1) % 3}, 1 + i % 2,
                                   1000 * (i + 1), 0, 0, NULL, NULL, 0, &last, &n, &err));
    }
    CHECK_OK(ss_tasks_finish(&t, &err));
    for (uint64_t k = 0;; k++) {
        ss_engine *e = NULL;
        ss_timeline l = {0};
        size_t blocks = ss_mem_blocks();
        ss_mem_fail_after((int64_t)k);
        ss_status status = ss_engine_new(&e, &err);
        if (!status)
            status = ss_engine_run(e, &t, &l, &err);
        ss_mem_fail_never();
        ss_engine_free(e);
        ss_timeline_free(&l);
        CHECK(ss_mem_blocks() == blocks, "failure %d", (int)k);
        if (!status)
            break;
        CHECK(status == SS_ENOMEM, "%s", err.text);
    }
    ss_tasks_free(&t);
}

int main(void)
{
    if (ss_sharing_new(&s, &err))
        return 99;
    RUN(a_long_flow_gets_what_its_fullest_link_gives);
    RUN(a_flow_that_ends_leaves_its_rate_to_the_others);
    RUN(a_link_that_stands_still_holds_its_flows);
    RUN(many_that_go_on_at_once_share_the_link_of_the_one_who_receives);
    RUN(a_cap_that_changes_holds_its_flows_by_what_it_is_now);
    RUN(a_flow_that_would_not_end_in_time_is_refused);
    RUN(paths_are_added_while_flows_are_under_way);
    RUN(what_is_left_goes_on_elsewhere_as_here);
    RUN(every_allocation_of_a_simulation_may_fail);
    ss_sharing_free(s);
    return DONE();
}
