/* Running the chains of a search, on threads, and telling what they did.
 *
 * A chain works in slices of a twentieth of a second or of some hundred steps.  A thread takes the
 * chain that has waited longest, works a slice, and hands over what came of it; so chains take turns
 * whatever the number of threads, and a stop is heeded soon.  Only the thread that runs the search
 * calls the sink and the watch.  A chain has two batches: with both on their way it waits, which
 * bounds what is kept.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "search/search_inside.h"

enum { SLICE_STEPS = 512, MOST_THREADS = 1024 };

static const double SLICE_S = 0.05, LOOK_S = 0.1;

typedef struct crew {
    ss_search *search;
    const ss_search_sink *sink;
    const ss_watch *watch;
    pthread_mutex_t lock;
    pthread_cond_t work,
        news; /* a chain may be worked on; a batch is full, or nobody works any more */
    /* under the lock: rings */
    ss_lane **ready; /* [lanes] */
    ss_batch **full; /* [lanes * SS_LANE_BATCHES] */
    uint32_t first_ready, readies, first_full, fulls, at_work;
    atomic_bool stop;
    /* by the thread that runs the search */
    ss_status status;
    ss_error *err;
    bool stopped, sink_failed;
    double looked;
} crew;

/* ------------------------------------------------------------------------------- under the lock */

static void queue_lane(crew *c, ss_lane *lane)
{
    if (lane->queued || lane->at_work || lane->over || !lane->spares)
        return;
    lane->queued = true;
    c->ready[(c->first_ready + c->readies++) % c->search->lanes] = lane;
    pthread_cond_signal(&c->work);
}

/* NULL: no chain is waiting. */
static ss_batch *take_work(crew *c)
{
    if (!c->readies)
        return NULL;
    ss_lane *lane = c->ready[c->first_ready];
    c->first_ready = (c->first_ready + 1) % c->search->lanes;
    c->readies--;
    lane->queued = false;
    lane->at_work = true;
    c->at_work++;
    return lane->spare[--lane->spares];
}

static void hand_over(crew *c, ss_batch *b)
{
    ss_lane *lane = b->lane;
    lane->at_work = false;
    lane->over = b->status || b->after.end;
    c->at_work--;
    uint32_t room = c->search->lanes * SS_LANE_BATCHES;
    c->full[(c->first_full + c->fulls++) % room] = b;
    queue_lane(c, lane);
    pthread_cond_signal(&c->news);
}

static ss_batch *take_full(crew *c)
{
    if (!c->fulls)
        return NULL;
    ss_batch *b = c->full[c->first_full];
    c->first_full = (c->first_full + 1) % (c->search->lanes * SS_LANE_BATCHES);
    c->fulls--;
    return b;
}

static void give_back(crew *c, ss_batch *b)
{
    ss_lane *lane = b->lane;
    lane->spare[lane->spares++] = b;
    queue_lane(c, lane);
}

/* ------------------------------------------------------------------------------ a slice of work */

typedef struct shift {
    double before, began; /* seconds at work before; when this slice began */
} shift;

static double seconds_at_work(void *context)
{
    const shift *s = context;
    return s->before + (ss_seconds_now() - s->began);
}

static void work(crew *c, ss_batch *b)
{
    ss_chain *chain = b->lane->chain;
    shift now = {ss_chain_seconds(chain), ss_seconds_now()};
    ss_chain_clock clock = {seconds_at_work, &now};
    ss_rows *rows = c->sink && c->sink->step ? &b->rows : NULL;
    b->status = SS_OK;
    for (uint32_t k = 0; k < SLICE_STEPS && !b->status; k++) {
        if (atomic_load_explicit(&c->stop, memory_order_relaxed) || ss_chain_end(chain) ||
            ss_chain_seconds(chain) - now.before > SLICE_S)
            break;
        b->status = ss_chain_step(chain, &clock, rows, &b->err);
    }
    ss_chain_standing(chain, &b->after);
    b->share_done = ss_chain_share_done(chain);
    if (b->status)
        ss_fail_in(&b->err, "search from %s, step %llu", b->lane->name,
                   (unsigned long long)b->after.steps + 1);
}

static void *worker(void *context)
{
    crew *c = context;
    pthread_mutex_lock(&c->lock);
    while (!atomic_load(&c->stop)) {
        ss_batch *b = take_work(c);
        if (!b) {
            pthread_cond_wait(&c->work, &c->lock);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        work(c, b);
        pthread_mutex_lock(&c->lock);
        hand_over(c, b);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* -------------------------------------------------------------------------------------- telling */

static void stop(crew *c)
{
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->stop, true);
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
}

/* The first one is the one that is answered. */
static void keep_error(crew *c, ss_status s, const ss_error *err)
{
    if (!c->status && c->err)
        *c->err = *err;
    if (!c->status)
        c->status = s;
}

/* Of a sink: nothing more is told, and everything ends. */
static bool failed(crew *c, ss_status s, const ss_error *err)
{
    if (!s)
        return false;
    keep_error(c, s, err);
    c->sink_failed = true;
    stop(c);
    return true;
}

static void tell_end(crew *c, ss_lane *lane, ss_search_end why)
{
    ss_error err = {0};
    lane->told.end = why;
    if (c->sink && c->sink->end && !c->sink_failed)
        failed(c, c->sink->end(c->sink->context, lane->number, why, &err), &err);
}

static void tell(crew *c, ss_batch *b)
{
    const ss_search_sink *sink = c->sink;
    ss_lane *lane = b->lane;
    ss_error err = {0};
    for (uint32_t i = 0; i < b->rows.n && !c->sink_failed; i++)
        if (failed(c, sink->step(sink->context, lane->number, &b->rows.row[i], &err), &err))
            break;
    ss_rows_clear(&b->rows);
    ss_search_end why = b->after.end;
    lane->told = b->after;
    lane->told.end = SS_END_NOT;
    lane->share_done = b->share_done;
    if (b->status) { /* what others did until then is told yet */
        keep_error(c, b->status, &b->err);
        stop(c);
    } else if (why) {
        tell_end(c, lane, why);
    }
}

/* Now and then: what was told is written out, and the watch looks. */
static void look(crew *c, bool at_once)
{
    double now = ss_seconds_now(), done = 0;
    ss_error err = {0};
    if (!at_once && now - c->looked < LOOK_S)
        return;
    c->looked = now;
    if (c->sink && c->sink->flush && !c->sink_failed)
        failed(c, c->sink->flush(c->sink->context, &err), &err);
    if (at_once || c->stopped)
        return;
    bool limited = c->search->options.proposals || c->search->options.seconds > 0;
    for (uint32_t i = 0; limited && i < c->search->lanes; i++)
        done += c->search->lane[i].told.end ? 1 : c->search->lane[i].share_done;
    ss_status s = ss_look_up(c->watch, "searching", done, limited ? c->search->lanes : 0, &err);
    if (!s)
        return;
    c->stopped = true;
    if (s != SS_ESTOPPED)
        keep_error(c, s, &err);
    stop(c);
}

/* -------------------------------------------------------------------------------------- running */

static bool all_over(const crew *c)
{
    return !c->fulls && !c->at_work && (atomic_load(&c->stop) || !c->readies);
}

/* Waits for a full batch, or for the next look. */
static void wait_for_news(crew *c)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(LOOK_S * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&c->news, &c->lock, &until);
}

/* Until every chain is over; without `others` this thread does the work itself. */
static void run_crew(crew *c, bool others)
{
    pthread_mutex_lock(&c->lock);
    while (!all_over(c)) {
        ss_batch *b = others || atomic_load(&c->stop) ? NULL : take_work(c);
        if (b) {
            pthread_mutex_unlock(&c->lock);
            work(c, b);
            pthread_mutex_lock(&c->lock);
            hand_over(c, b);
        }
        b = take_full(c);
        if (!b && others)
            wait_for_news(c);
        pthread_mutex_unlock(&c->lock);
        if (b)
            tell(c, b);
        look(c, false);
        pthread_mutex_lock(&c->lock);
        if (b)
            give_back(c, b);
    }
    pthread_mutex_unlock(&c->lock);
}

static uint32_t threads_of(const ss_search *s, uint32_t chains)
{
    uint32_t threads = s->options.threads;
    if (!threads) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        threads = n > 0 && n < MOST_THREADS ? (uint32_t)n : 1;
    }
    return threads < chains ? threads : chains;
}

/* With fewer than two threads to share among there is nothing to share; nor where the machine has
 * no more threads to give. */
static void work_together(crew *c, uint32_t threads)
{
    pthread_t *thread = threads > 1 ? ss_alloc(threads * sizeof *thread) : NULL;
    uint32_t n = 0;
    sigset_t all, before; /* signals are for the thread that was there before */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (thread && n < threads && !pthread_create(&thread[n], NULL, worker, c))
        n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    run_crew(c, n > 0);
    stop(c);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    ss_free(thread);
}

static ss_status open_crew(crew *c, ss_error *err)
{
    uint32_t lanes = c->search->lanes;
    pthread_condattr_t monotonic;
    c->ready = ss_alloc(lanes * sizeof *c->ready);
    c->full = ss_alloc(lanes * SS_LANE_BATCHES * sizeof *c->full);
    if (!c->ready || !c->full) {
        ss_free(c->ready);
        ss_free(c->full);
        return ss_fail_memory(err, "the threads of a search", lanes * sizeof *c->full);
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return SS_OK;
}

static void close_crew(crew *c)
{
    pthread_cond_destroy(&c->news);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    ss_free(c->ready);
    ss_free(c->full);
}

/* Queues the chains that have something left to do, after telling where they begin. */
static uint32_t begin(crew *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->search->lanes && !c->status; i++) {
        ss_lane *lane = &c->search->lane[i];
        ss_error err = {0};
        if (!lane->begun && c->sink && c->sink->begin) {
            ss_search_standing at;
            ss_chain_standing(lane->chain, &at);
            if (failed(c,
                       c->sink->begin(c->sink->context, lane->number, lane->start, at.start,
                                      at.beta_per_s, &err),
                       &err))
                break;
        }
        lane->over = lane->begun && lane->told.end && lane->told.end != SS_END_STOPPED;
        if (!lane->over)
            lane->told.end = SS_END_NOT;
        lane->begun = true;
        lane->queued = lane->at_work = false;
        n += !lane->over;
        queue_lane(c, lane);
    }
    return n;
}

ss_status ss_search_run(ss_search *s, const ss_search_sink *sink, const ss_watch *watch,
                        ss_error *err)
{
    crew c = {.search = s, .sink = sink, .watch = watch, .err = err, .looked = ss_seconds_now()};
    ss_status status = open_crew(&c, err);
    if (status)
        return status;
    uint32_t chains = begin(&c);
    if (!c.status)
        work_together(&c, threads_of(s, chains));
    for (uint32_t i = 0; i < s->lanes && c.stopped && !c.status; i++)
        if (!s->lane[i].over)
            tell_end(&c, &s->lane[i], SS_END_STOPPED);
    look(&c, true);
    close_crew(&c);
    return c.status;
}
