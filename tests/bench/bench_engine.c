/* bench_engine [MOST_TASKS] - full simulation of random task graphs with three predecessors a task.
 *
 * Two families.  `anywhere`: predecessors lie anywhere among the earlier tasks, the hardest case
 * for the caches.  `near`: among the last 1000, which is nearer to a training step.  64 devices,
 * durations up to a millisecond, so that tasks queue.
 */
#include "config.h"

#include "bench.h"

#include "base/hash.h"
#include "base/mem.h"
#include "reference/simulate_naive.h"
#include "simulate/engine.h"

enum { DEVICES = 64, BEFORE = 3, NEAR = 1000 };

static ss_error err;
static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(ss_hash_u64(SS_HASH_START, drawn++) % below);
}

typedef struct bench {
    const char *family;
    uint32_t n, window;
    bool grown; /* arrays double as they grow, as for someone who does not know n beforehand */
    ss_tasks t;
    ss_engine *e;
    ss_timeline l;
    double add, finish, first; /* ns a task, into memory not touched before */
    double run;                /* the same, best of several, memory kept */
    double bytes;              /* a task, at the worst moment */
} bench;

static void build(bench *b)
{
    static const double none[1] = {0};
    drawn = b->n;
    double t0 = bench_now();
    bench_must(ss_tasks_start(&b->t, DEVICES, 0, none, none, SS_LINKS_FIFO_HOP, &err), &err);
    if (!b->grown)
        bench_must(ss_tasks_reserve(&b->t, b->n, b->n * BEFORE, &err), &err);
    for (uint32_t i = 1; i <= b->n; i++) {
        ss_task task;
        bench_must(
            ss_tasks_add(&b->t, 1 + draw(DEVICES), 1 + draw(1000000000), 0, NULL, &task, &err),
            &err);
        uint32_t from = b->window && i > b->window ? i - b->window : 1;
        for (uint32_t k = 0; k < BEFORE && i > 1; k++)
            bench_must(ss_tasks_after(&b->t, (ss_task){from + draw(i - from)}, &err), &err);
    }
    double t1 = bench_now();
    bench_must(ss_tasks_finish(&b->t, &err), &err);
    b->add = (t1 - t0) * 1e9 / b->n;
    b->finish = (bench_now() - t1) * 1e9 / b->n;
}

static void measure(bench *b)
{
    size_t before = ss_mem_live();
    ss_mem_peak_reset();
    build(b);
    bench_must(ss_engine_new(&b->e, &err), &err);
    uint32_t runs = 5 + 2000000 / b->n;
    for (uint32_t r = 0; r < runs; r++) {
        double t0 = bench_now();
        bench_must(ss_engine_run(b->e, &b->t, &b->l, &err), &err);
        double ns = (bench_now() - t0) * 1e9 / b->n;
        if (r == 0)
            b->first = b->run = ns;
        b->run = ns < b->run ? ns : b->run;
    }
    b->bytes = (double)(ss_mem_peak() - before) / b->n;
    bench_must(ss_timeline_check(&b->t, &b->l, &err), &err);
}

static void drop(bench *b)
{
    ss_tasks_free(&b->t);
    ss_timeline_free(&b->l);
    ss_engine_free(b->e);
}

static double twin_ns(const bench *b)
{
    size_t bytes = ((size_t)b->n + 1) * sizeof(ss_time);
    ss_time *ready = malloc(bytes), *start = malloc(bytes), *end = malloc(bytes);
    if (!ready || !start || !end)
        exit(99);
    double t0 = bench_now();
    uint32_t ran = simulate_naive(&b->t, ready, start, end);
    double ns = (bench_now() - t0) * 1e9 / b->n;
    for (uint32_t i = 1; i <= b->n; i++)
        if (ran != b->n || end[i] != b->l.end[i])
            exit(99);
    free(ready);
    free(start);
    free(end);
    return ns;
}

static void say(const bench *b, const char *what, double value, const char *unit, double most,
                double least)
{
    char line[80];
    snprintf(line, sizeof line, "engine, %s, %u tasks: %s", b->family, b->n, what);
    bench_line(line, value, unit, most, least);
}

static void measure_family(const char *family, uint32_t window, uint32_t most)
{
    double first = 0;
    for (uint32_t n = 10000; n <= most; n *= 10) {
        bench b = {.family = family, .n = n, .window = window};
        measure(&b);
        say(&b, "adding, into new memory", b.add, "ns/task", 0, 0);
        say(&b, "successor rows, into new memory", b.finish, "ns/task", 0, 0);
        say(&b, "first simulation, in new memory", b.first, "ns/task", 0, 0);
        say(&b, "simulation, memory kept", b.run, "ns/task", 0, 0);
        say(&b, "memory, all included", b.bytes, "B/task", 150, 0);
        if (n == 10000) {
            double twin = twin_ns(&b);
            say(&b, "slow twin", twin, "ns/task", 0, 0);
            say(&b, "twin / engine", twin / b.run, "", 0, 20);
            first = b.run;
        } else {
            say(&b, "simulation / that of 10000", b.run / first, "", 4, 0);
        }
        drop(&b);
    }
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    measure_family("anywhere", 0, most);
    measure_family("near", NEAR, most);
    printf(
        "The twin looks at every task for each task: its time a task grows with their number, so "
        "it\nis compared where it is quickest, at 10000.\n");
    bench b = {.family = "anywhere", .n = most + most / 20, .grown = true};
    measure(&b);
    say(&b, "memory, arrays just doubled", b.bytes, "B/task", 0, 0);
    drop(&b);
    return 0;
}
