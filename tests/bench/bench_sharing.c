/* bench_sharing [MOST_TASKS] - transfers over shared links, against the same graph over exclusive ones.
 *
 * A tree: 64 devices in racks of 8, links of 12.5 GB/s and 2 us, racks four times oversubscribed.  Layers of
 * 128 tasks on any device, each after 1 to 3 of the layer before, with a transfer where the device is another;
 * times and sizes are log-normal, so nothing ends in a tie.  And flows that all begin at once, any two of
 * 64 devices on one switch: all of them are in one component, and each end gives all others a new rate.
 */
#include "config.h"

#include "bench.h"

#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "reference/sharing_naive.h"
#include "simulate/engine.h"

enum { DEVICES = 64, RACK = 8, RACKS = DEVICES / RACK, WIDTH = 128 };
enum { LINKS = 2 * DEVICES + 2 * RACKS };

static ss_error err;
static uint64_t drawn;

static uint64_t bits(void)
{
    return ss_hash_u64(SS_HASH_START, drawn++);
}

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(bits() % below);
}

static double uniform(void)
{
    return ((double)(bits() >> 11) + 0.5) * 0x1p-53;
}

/* exp of a normal of that deviation: sizes around `middle`. */
static double spread(double middle, double deviation)
{
    double normal = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
    return middle * exp(deviation * normal);
}

typedef struct bench {
    ss_tasks t;
    ss_engine *e;
    ss_timeline l;
} bench;

static void start(bench *b, ss_links_mode mode, double oversubscribed)
{
    double bytes_per_s[LINKS + 1], latency_s[LINKS + 1];
    for (uint32_t i = 1; i <= LINKS; i++) {
        bytes_per_s[i] = i <= 2 * DEVICES ? 12.5e9 : 12.5e9 * RACK / oversubscribed;
        latency_s[i] = 2e-6;
    }
    bench_must(ss_tasks_start(&b->t, DEVICES, LINKS, bytes_per_s, latency_s, mode, &err), &err);
    drawn = 0;
}

static ss_task transfer(bench *b, uint32_t from, uint32_t to, bool tree, double bytes,
                        const ss_task *before)
{
    uint32_t link[4] = {1 + from, 1 + DEVICES + to}, links = 2, n;
    if (tree && from / RACK != to / RACK) {
        link[1] = 1 + 2 * DEVICES + from / RACK;
        link[2] = 1 + 2 * DEVICES + RACKS + to / RACK;
        link[3] = 1 + DEVICES + to;
        links = 4;
    }
    ss_task last;
    bench_must(ss_tasks_transfer(&b->t, link, links, 1 + (int64_t)bytes, 0, 0, NULL, before,
                                 before ? 1 : 0, &last, &n, &err),
               &err);
    return last;
}

static void layer(bench *b, ss_task *task, uint32_t *device, const ss_task *before,
                  const uint32_t *where)
{
    for (uint32_t i = 0; i < WIDTH; i++) {
        ss_task wait[3];
        uint32_t waits = before[0].i ? 1 + draw(3) : 0;
        device[i] = draw(DEVICES);
        for (uint32_t k = 0; k < waits; k++) {
            uint32_t p = draw(WIDTH);
            wait[k] = before[p];
            if (where[p] != device[i])
                wait[k] = transfer(b, where[p], device[i], true, spread(4e6, 1.2), &before[p]);
        }
        ss_time hold = (ss_time)(spread(4e-4, 0.8) * SS_PICOSECONDS);
        bench_must(ss_tasks_add(&b->t, 1 + device[i], hold, 0, NULL, &task[i], &err), &err);
        for (uint32_t k = 0; k < waits; k++)
            bench_must(ss_tasks_after(&b->t, wait[k], &err), &err);
    }
}

static void layers(bench *b, ss_links_mode mode, uint32_t tasks)
{
    ss_task task[2][WIDTH] = {{{0}}};
    uint32_t device[2][WIDTH] = {{0}};
    start(b, mode, 4);
    for (uint32_t k = 0; b->t.n < tasks; k++)
        layer(b, task[k % 2], device[k % 2], task[(k + 1) % 2], device[(k + 1) % 2]);
    bench_must(ss_tasks_finish(&b->t, &err), &err);
}

static double best_of(bench *b, int runs)
{
    double best = INFINITY;
    for (int i = 0; i < runs; i++) {
        double began = bench_now();
        bench_must(ss_engine_run(b->e, &b->t, &b->l, &err), &err);
        best = fmin(best, bench_now() - began);
    }
    return best;
}

static void bench_layers(uint32_t most)
{
    bench b = {0};
    double first = 0;
    char what[100];
    bench_must(ss_engine_new(&b.e, &err), &err);
    for (uint32_t n = 10000; n <= most; n *= 10) {
        layers(&b, SS_LINKS_FIFO_PATH, n);
        double exclusive = best_of(&b, 3) / b.t.n;
        layers(&b, SS_LINKS_SHARED, n);
        double shared = best_of(&b, 3) / b.t.n;
        double bytes = (double)(ss_tasks_memory(&b.t) + ss_engine_memory(b.e)) / b.t.n;
        first = first > 0 ? first : shared;
        snprintf(what, sizeof what, "%u tasks, shared", b.t.n);
        bench_line(what, shared * 1e9, "ns/task", 0, 0);
        snprintf(what, sizeof what, "%u tasks, shared by exclusive (fifo-path)", b.t.n);
        bench_line(what, shared / exclusive, "times", 0, 0);
        snprintf(what, sizeof what, "%u tasks, shared, by the first of these", b.t.n);
        bench_line(what, shared / first, "times", 2, 0);
        snprintf(what, sizeof what, "%u tasks, memory with the timeline", b.t.n);
        bench_line(what, bytes + 3 * sizeof(ss_time), "B/task", 200, 0);
    }
    ss_tasks_free(&b.t);
    ss_engine_free(b.e);
    ss_timeline_free(&b.l);
}

/* Any two devices. */
static void flows(bench *b, uint32_t n)
{
    start(b, SS_LINKS_SHARED, 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = draw(DEVICES), to = (from + 1 + draw(DEVICES - 1)) % DEVICES;
        transfer(b, from, to, false, spread(16e6, 1), NULL);
    }
    bench_must(ss_tasks_finish(&b->t, &err), &err);
}

static double naive(const bench *b)
{
    size_t rows = (size_t)b->t.n + 1;
    ss_time *times = ss_alloc(3 * rows * sizeof *times);
    if (!times)
        exit(99);
    double began = bench_now();
    simulate_shared_naive(&b->t, times, times + rows, times + 2 * rows);
    double took = bench_now() - began;
    ss_free(times);
    return took;
}

static void bench_flows(void)
{
    bench b = {0};
    char what[100];
    bench_must(ss_engine_new(&b.e, &err), &err);
    for (uint32_t n = 100; n <= 10000; n *= 10) {
        flows(&b, n);
        double took = best_of(&b, n < 10000 ? 5 : 1);
        snprintf(what, sizeof what, "%u flows at once on one switch", n);
        bench_line(what, took / n * 1e6, "us/flow", 0, 0);
        if (n > 100)
            continue;
        snprintf(what, sizeof what, "%u flows at once, everything solved anew by this", n);
        bench_line(what, naive(&b) / took, "times", 0, 0);
    }
    ss_tasks_free(&b.t);
    ss_engine_free(b.e);
    ss_timeline_free(&b.l);
}

int main(int argc, char **argv)
{
    bench_layers(argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000);
    bench_flows();
    return 0;
}
