/* What lowering costs, as a multiple of simulating what it makes: 64 devices, the wanted ratio is
 * at most 3.  Both are the best of several runs in one process, warm; the first lowering of each
 * case is given too, since a script that simulates once pays for that one (routes and times of
 * operators are found then, and kept).  Times of operators come from a roofline, so they are what a
 * user's run would ask.  Every option that changes what is lowered has its rows.
 *
 * bench_lower [RUNS [TEXT...]]      only rows whose model, strategy or options contain each TEXT */
#include "config.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "graph/lower.h"
#include "networks.h"
#include "simulate/cost.h"
#include "simulate/engine.h"

static ss_error err;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { DATA, EXPERT, RANDOM };
enum { SERVER, NO_SYNC, RING, AGGREGATE, TWO_LEVEL, SUMS, PER_DEVICE, LUMPED, INFERENCE, VARIANTS };

static void place(ss_strategy *s, int how)
{
    if (how == DATA) {
        net_must(ss_strategy_data_parallel(s, &err), &err);
    } else if (how == RANDOM) {
        ss_rng rng;
        net_must(ss_rng_open(&rng, 1, "bench_lower", &err), &err);
        net_must(ss_strategy_random(s, &rng, 64, &err), &err);
        ss_rng_close(&rng);
    } else if (s->model->op[1].layer) {
        net_must(ss_strategy_expert_rnn(s, false, &err), &err);
    } else {
        net_must(ss_strategy_expert_cnn(s, &err), &err);
    }
}

typedef struct bench {
    ss_topology *t;
    ss_routes *r;
    ss_timer timer;
    ss_engine *engine;
    int runs;
    char **only; /* texts that a row has to contain, each; NULL ends */
    double worst;
} bench;

static ss_lower_options options_of(int variant, char *text, size_t n)
{
    static const struct {
        const char *name;
        ss_sync sync;
    } meets[] = {{"parameter_server", SS_SYNC_PARAMETER_SERVER},
                 {"none", SS_SYNC_NONE},
                 {"ring", SS_SYNC_RING}};
    ss_lower_options o = ss_lower_options_start();
    o.sync = SS_SYNC_NONE;
    switch (variant) {
    case SERVER:
    case NO_SYNC:
    case RING:
        o.sync = meets[variant].sync;
        snprintf(text, n, "%s", meets[variant].name);
        break;
    case AGGREGATE:
        o.sync = SS_SYNC_RING;
        o.aggregate = true;
        snprintf(text, n, "ring, aggregate");
        break;
    case TWO_LEVEL:
        o.sync = SS_SYNC_TWO_LEVEL;
        snprintf(text, n, "two_level");
        break;
    case SUMS:
        o.partial_sums = true;
        snprintf(text, n, "none, partial sums");
        break;
    case PER_DEVICE:
        o.coalesce = SS_COALESCE_PER_DEVICE;
        snprintf(text, n, "none, per_device");
        break;
    case LUMPED:
        o.lumped = true;
        snprintf(text, n, "none, lumped");
        break;
    default:
        o.training = false;
        snprintf(text, n, "inference");
    }
    return o;
}

static void measure(bench *b, const char *name, ss_model *m, int how, int variant)
{
    static const char *const names[] = {"data", "expert", "random"};
    char text[32];
    ss_strategy *s;
    ss_lowered l = {0};
    ss_timeline line = {0};
    ss_lower_options o = options_of(variant, text, sizeof text);
    for (char **only = b->only; *only; only++)
        if (!strstr(name, *only) && !strstr(names[how], *only) && !strstr(text, *only))
            return;
    net_must(ss_strategy_new(m, b->t, &s, &err), &err);
    place(s, how);
    double first = now(), lower = 1e9, simulate = 1e9;
    net_must(ss_lower(m, b->t, b->r, s, &b->timer, &o, &l, &err), &err);
    first = now() - first;
    /* a small graph takes less than the machine's hiccups: the best of more runs is asked for */
    int runs = b->runs + (int)(400000 / (l.tasks.n + 1));
    uint64_t requests = ss_mem_requests();
    for (int i = 0; i < runs; i++) {
        double t0 = now();
        net_must(ss_lower(m, b->t, b->r, s, &b->timer, &o, &l, &err), &err);
        double t1 = now();
        lower = t1 - t0 < lower ? t1 - t0 : lower;
    }
    requests = ss_mem_requests() - requests;
    for (int i = 0; i < runs; i++) {
        double t0 = now();
        net_must(ss_engine_run(b->engine, &l.tasks, &line, &err), &err);
        double t1 = now();
        simulate = t1 - t0 < simulate ? t1 - t0 : simulate;
    }
    double tasks = l.tasks.n, ratio = lower / simulate;
    printf("%-10s %-7s %-19s %8.0f %5.2f %8.1f %8.1f %8.1f %7.2f%s\n", name, names[how], text,
           tasks, l.tasks.edges / tasks, 1e9 * first / tasks, 1e9 * lower / tasks,
           1e9 * simulate / tasks, ratio, requests ? "  asked for memory again" : "");
    b->worst = ratio > b->worst ? ratio : b->worst;
    ss_lowered_free(&l);
    ss_timeline_free(&line);
    ss_strategy_free(s);
}

int main(int argc, char **argv)
{
    bench b = {.t = net_cluster(16, 4, 10e9, 7e9, 1e-6),
               .runs = argc > 1 ? atoi(argv[1]) : 7,
               .only = argv + (argc > 2 ? 2 : argc)};
    ss_costs *costs;
    net_must(ss_routes_new(b.t, &b.r, &err), &err);
    net_must(ss_costs_new(&costs, &err), &err);
    net_must(ss_costs_add_roofline(costs, NULL, &err), &err);
    net_must(ss_costs_timer(costs, b.t, &b.timer, &err), &err);
    net_must(ss_engine_new(&b.engine, &err), &err);
    struct {
        const char *name;
        ss_model *m;
    } net[] = {{"alexnet", net_alexnet(64 * 256)},
               {"inception", net_inception(64 * 64)},
               {"nmt", net_nmt(64 * 64, 1)}};
    printf("%-10s %-7s %-19s %8s %5s %8s %8s %8s %7s\n", "model", "strategy", "options", "tasks",
           "edges", "first", "lower", "simulate", "ratio");
    printf("%-10s %-7s %-19s %8s %5s %8s %8s %8s %7s\n", "", "", "", "", "/task", "ns/task",
           "ns/task", "ns/task", "");
    for (int i = 0; i < 3; i++) {
        for (int variant = 0; variant < VARIANTS; variant++)
            for (int how = DATA; how <= RANDOM; how++)
                measure(&b, net[i].name, net[i].m, how, variant);
        ss_model_free(net[i].m);
    }
    printf("worst ratio %.2f, wanted at most 3\n", b.worst);
    ss_engine_free(b.engine);
    ss_costs_free(costs);
    ss_routes_free(b.r);
    ss_topology_free(b.t);
    return 0;
}
