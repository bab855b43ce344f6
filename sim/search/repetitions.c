#include "config.h"

#include "search/repetitions.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "simulate/engine.h"
#include "simulate/run.h"

enum { MOST_THREADS = 1024, LOOK_NS = 50000000 };

/* ---- one step after the other ------------------------------------------------------------- */

typedef struct shared {
    const ss_repetitions_ask *ask;
    double *seconds;
    atomic_uint_fast64_t next, done; /* simulations */
    atomic_bool enough;              /* none is begun any more */
    atomic_bool stop;                /* nor ended */
} shared;

/* What a thread has of its own. */
typedef struct hand {
    shared *all;
    ss_costs *costs;
    ss_timer timer;
    ss_routes *routes;
    ss_engine *engine;
    ss_lowered lowered;
    ss_timeline line;
    ss_watch watch;          /* of the simulation under way */
    const ss_watch *callers; /* looked up to by this thread alone; NULL: another one does */
    ss_status status;
    uint64_t failed_at;
    ss_error err;
} hand;

static uint64_t wanted(const shared *x)
{
    return (uint64_t)x->ask->n * x->ask->strategies;
}

static ss_status look(void *context, const char *what, double done, double whole, ss_error *err)
{
    hand *h = context;
    (void)what, (void)done, (void)whole;
    if (atomic_load(&h->all->stop))
        return ss_fail(err, SS_ESTOPPED, "stopped");
    return ss_look_up(h->callers, "repetitions", (double)atomic_load(&h->all->done),
                      (double)wanted(h->all), err);
}

static void open_hand(hand *h, shared *x, const ss_watch *callers)
{
    const ss_repetitions_ask *ask = x->ask;
    *h = (hand){.all = x, .callers = callers};
    h->watch = (ss_watch){.context = h, .look = look};
    ss_status s = ss_costs_copy(ask->costs, &h->costs, &h->err);
    if (!s)
        s = ss_costs_timer(h->costs, ask->topology, &h->timer, &h->err);
    if (!s)
        s = ss_routes_new(ask->topology, &h->routes, &h->err);
    if (!s)
        s = ss_engine_new(&h->engine, &h->err);
    if (!s)
        ss_engine_set_watch(h->engine, &h->watch);
    h->lowered.watch = &h->watch;
    h->status = s;
}

static void close_hand(hand *h)
{
    ss_engine_free(h->engine);
    ss_routes_free(h->routes);
    ss_costs_free(h->costs);
    ss_lowered_free(&h->lowered);
    ss_timeline_free(&h->line);
}

static ss_status simulate(hand *h, const ss_strategy *strategy, const ss_lower_options *o,
                          double *seconds, ss_error *err)
{
    const ss_repetitions_ask *ask = h->all->ask;
    ss_time step, all;
    ss_status s =
        ss_lower(ask->model, ask->topology, h->routes, strategy, &h->timer, o, &h->lowered, err);
    ss_status missing = ss_costs_refuse_missing(h->costs, s ? NULL : err);
    if (!s)
        s = missing;
    if (!s && ss_run_options_published(&o->run))
        s = ss_engine_run(h->engine, &h->lowered.tasks, &h->line, err);
    else if (!s)
        s = ss_run_simulate(&h->lowered.tasks, &o->run, &h->watch, &h->line, err);
    if (!s)
        s = ss_chance_step(o->chance, o->repetition, &step, err);
    if (!s)
        s = ss_time_add(h->line.makespan, step, &all, err);
    if (!s)
        *seconds = ss_time_seconds(all);
    return s;
}

/* Takes the next until none is left: the strategies of a repetition follow each other. */
static void *work(void *context)
{
    hand *h = context;
    shared *x = h->all;
    const ss_repetitions_ask *ask = x->ask;
    while (!h->status && !atomic_load(&x->enough)) {
        uint64_t i = atomic_fetch_add(&x->next, 1);
        if (i >= wanted(x))
            break;
        uint32_t k = (uint32_t)(i / ask->strategies), which = (uint32_t)(i % ask->strategies);
        ss_lower_options o = *ask->lower;
        o.repetition = ask->first + k;
        h->failed_at = i;
        h->status = look(h, "", 0, 0, &h->err);
        if (!h->status)
            h->status = simulate(h, ask->strategy[which], &o,
                                 &x->seconds[(size_t)which * ask->n + k], &h->err);
        atomic_fetch_add(&x->done, 1);
    }
    if (h->status)
        atomic_store(&x->enough, true);
    return NULL;
}

/* ---- threads ------------------------------------------------------------------------------ */

static uint32_t threads_of(const ss_repetitions_ask *ask, uint64_t most)
{
    uint32_t threads = ask->threads;
    if (!threads) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        threads = n > 0 ? (uint32_t)n : 1;
    }
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    return threads < most ? threads : (uint32_t)most;
}

/* Looks up until everything is done; the others then end by themselves. */
static ss_status wait_for_all(shared *x, const ss_watch *watch, ss_error *err)
{
    ss_status s = SS_OK;
    while (!s && !atomic_load(&x->enough) && atomic_load(&x->done) < wanted(x)) {
        struct timespec pause = {0, LOOK_NS};
        nanosleep(&pause, NULL);
        s = ss_look_up(watch, "repetitions", (double)atomic_load(&x->done), (double)wanted(x), err);
    }
    if (s) {
        atomic_store(&x->enough, true);
        atomic_store(&x->stop, true);
    }
    return s;
}

/* Simulations are begun in order, and what was begun ends: so the first that fails is the same however many
 * threads there are. */
static ss_status first_failure(const hand *h, uint32_t n, ss_error *err)
{
    const hand *first = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (h[i].status && h[i].status != SS_ESTOPPED &&
            (!first || h[i].failed_at < first->failed_at))
            first = &h[i];
    if (!first)
        return SS_OK;
    if (err)
        *err = first->err;
    return first->status;
}

static ss_status work_alone(shared *x, const ss_watch *watch, ss_error *err)
{
    hand h;
    open_hand(&h, x, watch);
    work(&h);
    if (h.status && err)
        *err = h.err;
    close_hand(&h);
    return h.status;
}

static ss_status work_together(shared *x, uint32_t threads, const ss_watch *watch, ss_error *err)
{
    hand *h = ss_alloc_zeroed(threads, sizeof *h);
    pthread_t *thread = ss_alloc(threads * sizeof *thread);
    if (!h || !thread) {
        ss_free(h);
        ss_free(thread);
        return ss_fail_memory(err, "the threads of repetitions", threads * sizeof *h);
    }
    sigset_t all, before; /* signals are for the thread that was there before */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    uint32_t n = 0;
    for (; n < threads; n++) { /* costs are copied by one thread at a time */
        open_hand(&h[n], x, NULL);
        if (pthread_create(&thread[n], NULL, work, &h[n])) {
            close_hand(&h[n]);
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ss_status s = n ? wait_for_all(x, watch, err) : work_alone(x, watch, err);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    ss_status failed = first_failure(h, n, s ? NULL : err);
    for (uint32_t i = 0; i < n; i++)
        close_hand(&h[i]);
    ss_free(h);
    ss_free(thread);
    return s ? s : failed;
}

/* ---- what they say ------------------------------------------------------------------------ */

static ss_status sum_up(ss_repetitions *r, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < r->strategies && !s; i++)
        s = ss_spread_of(r->seconds + (size_t)i * r->n, r->n, r->confidence, &r->spread[i], err);
    for (uint32_t p = 0; p < r->pairs && !s; p++) {
        uint32_t a, b;
        ss_repetitions_pair(r, p, &a, &b);
        s = ss_paired_of(r->seconds + (size_t)a * r->n, r->seconds + (size_t)b * r->n, r->n,
                         r->confidence, &r->pair[p], err);
    }
    return s;
}

static ss_status refuse(const ss_repetitions_ask *ask, ss_error *err)
{
    if (!ask->lower->chance || !ss_chance_is_random(ask->lower->chance))
        return ss_fail(err, SS_EINVAL,
                       "nothing is drawn in this problem, so every repetition would be the same: "
                       "give it the option chance = soapstone.chance { ... }");
    if (!ask->strategies || ask->strategies > SS_REPETITIONS_STRATEGIES)
        return ss_fail(err, SS_EINVAL, "repetitions of %u strategies; 1 to %d are possible",
                       ask->strategies, SS_REPETITIONS_STRATEGIES);
    if (!ask->n || !ask->first || ask->n > UINT32_MAX - ask->first)
        return ss_fail(err, SS_EINVAL, "%u repetitions from number %u on", ask->n, ask->first);
    if (!(ask->confidence > 0 && ask->confidence < 1))
        return ss_fail(err, SS_EINVAL, "a confidence of %g; it must be above 0 and below 1",
                       ask->confidence);
    for (uint32_t i = 0; i < ask->strategies; i++)
        if (ask->strategy[i]->model != ask->model || ask->strategy[i]->topology != ask->topology)
            return ss_fail(err, SS_EINVAL, "strategy %u is of another problem", i + 1);
    return SS_OK;
}

ss_status ss_repetitions_run(const ss_repetitions_ask *ask, const ss_watch *watch,
                             ss_repetitions *out, ss_error *err)
{
    ss_status s = refuse(ask, err);
    if (s)
        return s;
    uint32_t k = ask->strategies;
    *out = (ss_repetitions){.strategies = k,
                            .first = ask->first,
                            .n = ask->n,
                            .confidence = ask->confidence,
                            .pairs = k * (k - 1) / 2};
    out->seconds = ss_alloc_zeroed((size_t)k * ask->n, sizeof *out->seconds);
    out->spread = ss_alloc_zeroed(k, sizeof *out->spread);
    out->pair = ss_alloc_zeroed((size_t)out->pairs + 1, sizeof *out->pair);
    if (!out->seconds || !out->spread || !out->pair)
        s = ss_fail_memory(err, "repetitions", (size_t)k * ask->n * sizeof *out->seconds);
    shared x = {.ask = ask, .seconds = out->seconds};
    uint32_t threads = threads_of(ask, wanted(&x));
    if (!s)
        s = threads > 1 ? work_together(&x, threads, watch, err) : work_alone(&x, watch, err);
    if (!s)
        s = sum_up(out, err);
    if (s)
        ss_repetitions_free(out);
    return s;
}

void ss_repetitions_free(ss_repetitions *r)
{
    for (uint32_t i = 0; i < r->strategies && r->spread; i++)
        ss_spread_free(&r->spread[i]);
    ss_free(r->seconds);
    ss_free(r->spread);
    ss_free(r->pair);
    *r = (ss_repetitions){0};
}

void ss_repetitions_pair(const ss_repetitions *r, uint32_t pair, uint32_t *first, uint32_t *second)
{
    *first = 0;
    for (uint32_t left = r->strategies - 1; pair >= left; left--) {
        pair -= left;
        ++*first;
    }
    *second = *first + 1 + pair;
}
