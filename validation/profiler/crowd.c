/* crowd.c - a thread on another core, at one's command. */
#include "config.h"

#include "validation/profiler/crowd.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 1 << 20 };

typedef enum order { ORDER_NONE, ORDER_REWRITE, ORDER_STREAM, ORDER_QUIT } order;

struct ss_crowd {
    uint32_t core;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    order order;      /* NONE: none, or obeyed */
    bool busy;        /* it streams, or is awake */
    atomic_bool stop; /* that ends */
    void *at;
    size_t bytes;
    char *from, *to; /* of the stream */
    bool failed;     /* to be pinned */
};

/* Four times the largest cache that the system tells of, and at least 64 MiB. */
size_t ss_crowd_stream_bytes(void)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 1L << 24 ? 4 * (size_t)cache : (size_t)1 << 26;
}

ss_status ss_pin_this_thread(uint32_t core, ss_error *err)
{
    cpu_set_t may, one;
    if (sched_getaffinity(0, sizeof may, &may))
        return ss_fail(err, SS_EIO, "the system does not say on which cores it may compute");
    CPU_ZERO(&one);
    if (core < CPU_SETSIZE)
        CPU_SET(core, &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof one, &one))
        return ss_fail(err, SS_EINVAL, "there is no core %u, or it may not be used", core);
    return SS_OK;
}

/* Volatile, so that it is done. */
void ss_rewrite(const void *at, size_t bytes)
{
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)at;
    for (size_t i = 0; i < bytes / sizeof *word; i++)
        word[i] = word[i];
}

static void stream(ss_crowd *c)
{
    size_t bytes = ss_crowd_stream_bytes();
    for (size_t at = 0; !atomic_load_explicit(&c->stop, memory_order_relaxed);
         at = at + 2 * (size_t)CHUNK > bytes ? 0 : at + CHUNK)
        memcpy(c->to + at, c->from + at, CHUNK);
}

static void tell(ss_crowd *c, bool busy)
{
    pthread_mutex_lock(&c->mutex);
    c->order = ORDER_NONE;
    c->busy = busy;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

static void *obey(void *context)
{
    ss_crowd *c = context;
    c->failed = ss_pin_this_thread(c->core, NULL) != SS_OK;
    tell(c, false);
    for (;;) {
        pthread_mutex_lock(&c->mutex);
        while (c->order == ORDER_NONE)
            pthread_cond_wait(&c->changed, &c->mutex);
        order what = c->order;
        pthread_mutex_unlock(&c->mutex);
        if (what == ORDER_QUIT)
            return NULL;
        if (what == ORDER_REWRITE)
            ss_rewrite(c->at, c->bytes);
        tell(c, true);
        if (what == ORDER_STREAM)
            stream(c);
        while (!atomic_load_explicit(&c->stop, memory_order_relaxed))
            ;
        tell(c, false);
    }
}

/* Until it is obeyed; of a stream: until it has begun. */
static void command(ss_crowd *c, order what)
{
    pthread_mutex_lock(&c->mutex);
    c->order = what;
    pthread_cond_broadcast(&c->changed);
    while (c->order != ORDER_NONE)
        pthread_cond_wait(&c->changed, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
}

ss_status ss_crowd_new(uint32_t core, ss_crowd **out, ss_error *err)
{
    size_t bytes = ss_crowd_stream_bytes();
    ss_crowd *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "a crowd", sizeof *c);
    c->core = core;
    c->order = ORDER_STREAM; /* until the thread says that it is there */
    c->from = ss_alloc(bytes);
    c->to = ss_alloc(bytes);
    ss_status s = c->from && c->to ? SS_OK : ss_fail_memory(err, "a crowd", bytes);
    if (!s) {
        memset(c->from, 1, bytes);
        memset(c->to, 2, bytes);
        pthread_mutex_init(&c->mutex, NULL);
        pthread_cond_init(&c->changed, NULL);
        if (pthread_create(&c->thread, NULL, obey, c)) {
            pthread_mutex_destroy(&c->mutex);
            pthread_cond_destroy(&c->changed);
            s = ss_fail(err, SS_EIO, "the system starts no thread to measure beside");
        }
    }
    if (s) {
        ss_free(c->from);
        ss_free(c->to);
        ss_free(c);
        return s;
    }
    pthread_mutex_lock(&c->mutex);
    while (c->order != ORDER_NONE)
        pthread_cond_wait(&c->changed, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
    if (c->failed) {
        ss_crowd_free(c);
        return ss_fail(err, SS_EINVAL, "there is no core %u, or it may not be used", core);
    }
    *out = c;
    return SS_OK;
}

void ss_crowd_stream(ss_crowd *c, bool on)
{
    if (!on) {
        ss_crowd_rest(c);
        return;
    }
    ss_crowd_rest(c);
    atomic_store(&c->stop, false);
    command(c, ORDER_STREAM);
}

void ss_crowd_rest(ss_crowd *c)
{
    atomic_store(&c->stop, true);
    pthread_mutex_lock(&c->mutex);
    while (c->busy)
        pthread_cond_wait(&c->changed, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
}

void ss_crowd_rewrite(ss_crowd *c, void *at, size_t bytes)
{
    ss_crowd_rest(c);
    c->at = at;
    c->bytes = bytes;
    atomic_store(&c->stop, false);
    command(c, ORDER_REWRITE);
}

void ss_crowd_wake(ss_crowd *c)
{
    ss_crowd_rewrite(c, NULL, 0);
}

void ss_crowd_free(ss_crowd *c)
{
    if (!c)
        return;
    ss_crowd_stream(c, false);
    pthread_mutex_lock(&c->mutex);
    c->order = ORDER_QUIT;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    pthread_join(c->thread, NULL);
    pthread_mutex_destroy(&c->mutex);
    pthread_cond_destroy(&c->changed);
    ss_free(c->from);
    ss_free(c->to);
    ss_free(c);
}
