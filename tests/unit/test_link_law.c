/* Links that fall short of their bandwidth and latency: every number was worked out by hand. */
#include "check.h"

#include <math.h>

#include "base/mem.h"
#include "graph/link_law.h"
#include "simulate/engine.h"

static ss_error err;

static void half_a_size_gets_half(void)
{
    ss_link_law l = {.half_bytes = 1000};
    CHECK(ss_link_law_seconds(&l, 1e9, 1000) == 2e-6);
    CHECK(ss_link_law_seconds(&l, 1e9, 9000) == 1e-5);
    CHECK(ss_link_law_seconds(&l, 1e9, 0) == 0);
    CHECK(ss_link_law_seconds(NULL, 1e9, 1000) == 1e-6);
}

static void a_curve_says_what_share_a_size_gets(void)
{
    double bytes[] = {100, 10000}, share[] = {0.01, 1};
    ss_link_law l = {.curve = {1, bytes, share, 2}};
    CHECK(ss_link_law_seconds(&l, 1e9, 100) == 1e-5);
    CHECK(fabs(ss_link_law_seconds(&l, 1e9, 1000) - 1e-5) < 1e-17); /* 0.1 of it */
    CHECK(ss_link_law_seconds(&l, 1e9, 10) == 1e-5);                /* as the smallest */
    CHECK(ss_link_law_seconds(&l, 1e9, 20000) == 2e-5);
}

static void latency_is_that_of_the_last_step_reached(void)
{
    ss_link_step step[] = {{100, 2e-6}, {5000, 9e-6}};
    ss_link_law l = {.step = step, .steps = 2};
    CHECK(ss_link_law_latency(&l, 1e-6, 99) == 1e-6);
    CHECK(ss_link_law_latency(&l, 1e-6, 100) == 2e-6);
    CHECK(ss_link_law_latency(&l, 1e-6, 5000) == 9e-6);
    CHECK(ss_link_law_latency(NULL, 1e-6, 5000) == 1e-6);
}

static void wrong_laws_are_refused(void)
{
    double one[] = {1};
    ss_link_step back[] = {{100, 1e-6}, {100, 2e-6}}, below[] = {{1, -1}};
    CHECK(ss_link_law_check(&(ss_link_law){.half_bytes = -1}, &err) == SS_EINVAL);
    CHECK(ss_link_law_check(&(ss_link_law){.load = 1}, &err) == SS_EINVAL);
    CHECK(ss_link_law_check(&(ss_link_law){.half_bytes = 1, .curve = {1, one, one, 1}}, &err) ==
          SS_EINVAL);
    CHECK(ss_link_law_check(&(ss_link_law){.step = back, .steps = 2}, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "they must grow");
    CHECK(ss_link_law_check(&(ss_link_law){.step = below, .steps = 1}, &err) == SS_EINVAL);
    CHECK_OK(ss_link_law_check(&(ss_link_law){0}, &err));
}

static void copies_are_equal_and_of_their_own(void)
{
    double bytes[] = {1, 2}, share[] = {0.5, 1};
    ss_link_step step[] = {{100, 2e-6}};
    ss_link_law l = {.curve = {1, bytes, share, 2}, .step = step, .steps = 1, .load = 0.25};
    ss_link_law *copy;
    size_t blocks = ss_mem_blocks();
    CHECK_OK(ss_link_law_copy(&l, &copy, &err));
    CHECK(ss_link_law_same(&l, copy) && !ss_link_law_same(copy, NULL));
    bytes[1] = 3;
    CHECK(!ss_link_law_same(&l, copy) && ss_link_law_is_none(&(ss_link_law){0}));
    ss_link_law_free(copy);
    CHECK(ss_mem_blocks() == blocks);
}

/* A task graph with two links, of 1 and 2 bytes a ps and 10 and 20 ps, the second with a law. */
static ss_tasks t;
static const ss_link_law half = {.half_bytes = 300};
static const ss_link_law *laws[] = {NULL, NULL, &half};

static void open_graph(ss_links_mode mode)
{
    const double bytes_per_s[] = {0, 1e12, 2e12}, latency_s[] = {0, 1e-11, 2e-11};
    CHECK_OK(ss_tasks_start(&t, 2, 2, bytes_per_s, latency_s, mode, &err));
    CHECK_OK(ss_tasks_set_laws(&t, laws, &err));
}

static uint32_t send(int64_t bytes)
{
    ss_task last = {0};
    uint32_t n;
    if (ss_tasks_transfer(&t, (uint32_t[]){1, 2}, 2, bytes, 0, 0, NULL, NULL, 0, &last, &n, &err))
        printf("  %s\n", err.text);
    return last.i;
}

static ss_time makespan(void)
{
    ss_engine *e;
    ss_timeline l = {0};
    ss_time end = -1;
    if (!ss_tasks_finish(&t, &err) && !ss_engine_new(&e, &err)) {
        if (!ss_engine_run(e, &t, &l, &err) && !ss_timeline_check(&t, &l, &err))
            end = l.makespan;
        else
            printf("  %s\n", err.text);
        ss_engine_free(e);
    }
    ss_timeline_free(&l);
    return end;
}

/* 100 bytes: 100 ps on the first link, (100 + 300) / 2 on the second. */
static void every_meaning_of_a_link_knows_the_law(void)
{
    const struct {
        ss_links_mode mode;
        ss_time makespan;
    } cases[] = {{SS_LINKS_FIFO_HOP, 110 + 220},
                 {SS_LINKS_FIFO_PIPE, 110 + 220},
                 {SS_LINKS_FIFO_PATH, 30 + 200},
                 {SS_LINKS_SHARED, 30 + 200}};
    for (unsigned k = 0; k < 4; k++) {
        open_graph(cases[k].mode);
        send(100);
        CHECK(makespan() == cases[k].makespan, "%u", k);
    }
}

/* Two flows of at most 0.5 bytes a ps each on a link of 1: neither slows the other. */
static void small_messages_at_once_use_more_of_a_link_than_one(void)
{
    open_graph(SS_LINKS_SHARED);
    send(100);
    send(100);
    CHECK(makespan() == 230);
    open_graph(SS_LINKS_SHARED);
    for (int i = 0; i < 4; i++)
        send(100);
    CHECK(makespan() == 430); /* a quarter of the first link each */
}

/* On the first link: 3 parts for one flow, 1 for the other; 300 bytes take 400 ps, then the other has 200
 * of its 300 left, alone. */
static void flows_of_more_weight_get_more(void)
{
    laws[2] = NULL;
    open_graph(SS_LINKS_SHARED);
    ss_tasks_set_flows(&t, 3, 0);
    uint32_t heavy = send(300);
    ss_tasks_set_flows(&t, 1, 0);
    uint32_t light = send(300);
    CHECK(t.where[heavy] != t.where[light]);
    CHECK(makespan() == 30 + 400 + 200);
    laws[2] = &half;
}

static void no_flow_has_more_than_its_limit(void)
{
    laws[2] = NULL;
    open_graph(SS_LINKS_SHARED);
    ss_tasks_set_flows(&t, 1, 2.5e11);
    send(100);
    CHECK(makespan() == 30 + 400);
    laws[2] = &half;
}

static void latency_by_size_is_refused_where_it_belongs_to_the_link(void)
{
    ss_link_step step[] = {{100, 2e-6}};
    ss_link_law by_size = {.step = step, .steps = 1};
    const ss_link_law *some[] = {NULL, &by_size, NULL};
    open_graph(SS_LINKS_FIFO_PIPE);
    CHECK(ss_tasks_set_laws(&t, some, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "link 1 has another latency for another size");
    open_graph(SS_LINKS_FIFO_PATH);
    CHECK_OK(ss_tasks_set_laws(&t, some, &err));
    send(100);
    CHECK(makespan() == 2000000 + 20 + 100);
}

int main(void)
{
    RUN(half_a_size_gets_half);
    RUN(a_curve_says_what_share_a_size_gets);
    RUN(latency_is_that_of_the_last_step_reached);
    RUN(wrong_laws_are_refused);
    RUN(copies_are_equal_and_of_their_own);
    RUN(every_meaning_of_a_link_knows_the_law);
    RUN(small_messages_at_once_use_more_of_a_link_than_one);
    RUN(flows_of_more_weight_get_more);
    RUN(no_flow_has_more_than_its_limit);
    RUN(latency_by_size_is_refused_where_it_belongs_to_the_link);
    ss_tasks_free(&t);
    return DONE();
}
