/* twin_graph.h - random task graphs through the engine, a run and a slow twin, for prop_engine and prop_shared.
 *
 * Whoever includes it has defined TWIN_NAME (of the program, as text) and MOST_TASKS. */
#ifndef SS_TWIN_GRAPH_H
#define SS_TWIN_GRAPH_H

#include "by_run.h"
#include "check.h"

#include "base/hash.h"
#include "base/mem.h"
#include "simulate/critical.h"
#include "simulate/engine.h"

static uint64_t seed = 1;
static uint64_t this_seed, drawn; /* of the graph at hand */
static ss_error err;

static uint32_t draw(uint32_t below)
{
    return below ? (uint32_t)(ss_hash_u64(ss_hash_u64(SS_HASH_START, this_seed), drawn++) % below)
                 : 0;
}

/* Kept from graph to graph: what a run leaves behind must not matter to the next. */
static ss_tasks graph, renumbered;
static ss_engine *engine;
static ss_timeline line, other;
static ss_critical critical;

#define WITH "graph %llu (" TWIN_NAME " 1 SEED)", (unsigned long long)this_seed

typedef uint32_t slow_twin(const ss_tasks *t, ss_time *ready, ss_time *start, ss_time *end);

static void compare_with_twin(slow_twin *simulate)
{
    static ss_time ready[MOST_TASKS + 1], start[MOST_TASKS + 1], end[MOST_TASKS + 1];
    CHECK(simulate(&graph, ready, start, end) == graph.n, WITH);
    for (uint32_t i = 1; i <= graph.n; i++)
        CHECK(line.ready[i] == ready[i] && line.start[i] == start[i] && line.end[i] == end[i],
              "task %u of graph %llu (" TWIN_NAME " 1 SEED): %lld %lld %lld, in the twin %lld %lld "
              "%lld",
              i, (unsigned long long)this_seed, (long long)line.ready[i], (long long)line.start[i],
              (long long)line.end[i], (long long)ready[i], (long long)start[i], (long long)end[i]);
}

/* The graph at hand, which `built` says is there: simulated into `line`, and compared. */
static void simulate_and_compare(ss_status built, slow_twin *simulate)
{
    CHECK(!built, "%s; graph %llu", err.text, (unsigned long long)this_seed);
    CHECK(!ss_engine_run(engine, &graph, &line, &err), "%s; graph %llu", err.text,
          (unsigned long long)this_seed);
    CHECK(!ss_timeline_check(&graph, &line, &err), "%s; graph %llu", err.text,
          (unsigned long long)this_seed);
    compare_with_twin(simulate);
    if (!check_this_failed)
        CHECK(is_timeline_of_run(&graph, &line, draw(8), &err), "%s; graph %llu", err.text,
              (unsigned long long)this_seed);
}

static void find_path(void)
{
    CHECK_OK(ss_critical_find(&graph, &line, &critical, &err));
    CHECK(critical.compute + critical.transfer + critical.queueing == line.makespan, WITH);
}

/* Where the claim has run. */
static int end_twin(void)
{
    ss_tasks_free(&graph);
    ss_tasks_free(&renumbered);
    ss_engine_free(engine);
    ss_timeline_free(&line);
    ss_timeline_free(&other);
    ss_critical_free(&critical);
    if (ss_mem_blocks()) {
        printf("%zu blocks of memory are lost\n", ss_mem_blocks());
        check_failed++;
    }
    return DONE();
}

#endif
