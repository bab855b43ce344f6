#include "check.h"

#include "base/mem.h"
#include "simulate/sensitivity.h"

static ss_error err;

static ss_tasks t;
static ss_engine *engine;

/* A chain of n tasks of `hold` each. */
static void open_chain(uint32_t n, ss_time hold)
{
    const double none[] = {0};
    ss_task id;
    CHECK_OK(ss_tasks_start(&t, 1, 0, none, none, SS_LINKS_FIFO_HOP, &err));
    for (uint32_t i = 1; i <= n; i++) {
        CHECK_OK(ss_tasks_add(&t, 1, hold, 0, NULL, &id, &err));
        if (i > 1)
            CHECK_OK(ss_tasks_after(&t, (ss_task){i - 1}, &err));
    }
    CHECK_OK(ss_tasks_finish(&t, &err));
}

/* A sum of n independent moves of -1, 0 or 1 is within 5 of its standard deviations, sqrt(2 n / 3). */
static void a_chain_moves_as_a_sum_of_picoseconds(void)
{
    enum { N = 600, RUNS = 200 };
    ss_sensitivity s;
    ss_timeline l = {0};
    open_chain(N, 1000);
    CHECK_OK(ss_engine_run(engine, &t, &l, &err));
    CHECK_OK(ss_sensitivity_find(&t, NULL, l.makespan, engine, RUNS, 3, &s, &err));
    CHECK(s.runs == RUNS && s.least < N * 1000 && s.most > N * 1000);
    CHECK(s.least >= N * 1000 - 100 && s.most <= N * 1000 + 100, "%lld %lld", (long long)s.least,
          (long long)s.most);
    CHECK(s.most - s.least > 40); /* two standard deviations; 200 runs reach five or six */
    CHECK(ss_sensitivity_spread(&s) == (double)(s.most - s.least) / (double)s.least);
    ss_timeline_free(&l);
}

static void what_takes_no_time_stays_so_and_the_graph_is_as_it_was(void)
{
    ss_sensitivity s;
    open_chain(5, 0);
    CHECK_OK(ss_sensitivity_find(&t, NULL, 0, engine, 20, 1, &s, &err));
    CHECK(s.least == 0 && s.most == 0 && ss_sensitivity_spread(&s) == 0);
    for (uint32_t i = 1; i <= t.n; i++)
        CHECK(t.hold[i] == 0);
}

static void seeds_differ_and_one_seed_does_not(void)
{
    ss_sensitivity a, b, c;
    open_chain(600, 1000);
    CHECK_OK(ss_sensitivity_find(&t, NULL, 600000, engine, 3, 1, &a, &err));
    CHECK_OK(ss_sensitivity_find(&t, NULL, 600000, engine, 3, 1, &b, &err));
    CHECK_OK(ss_sensitivity_find(&t, NULL, 600000, engine, 3, 2, &c, &err));
    CHECK(a.least == b.least && a.most == b.most);
    CHECK(a.least != c.least || a.most != c.most);
}

int main(void)
{
    if (ss_engine_new(&engine, &err))
        return 99;
    RUN(a_chain_moves_as_a_sum_of_picoseconds);
    RUN(what_takes_no_time_stays_so_and_the_graph_is_as_it_was);
    RUN(seeds_differ_and_one_seed_does_not);
    ss_tasks_free(&t);
    ss_engine_free(engine);
    return DONE();
}
