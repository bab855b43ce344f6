/* crowd.c - a thread on another core, at one's command. */
#include "config.h"

#include "validation/profiler/crowd.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/mem.h"

struct ss_crowd {
    uint32_t core;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    void (*work)(void *); /* to be begun; NULL: none is */
    void *context;
    bool busy;            /* it works, or is awake */
    atomic_bool done;     /* with the work */
    atomic_bool stop;     /* being awake */
    bool quit, failed;    /* failed: to be pinned */
};

typedef struct words {
    void *at;
    size_t bytes;
} words;

/* In bytes; 0: there is none of that number. */
static size_t cache_of_system(int number)
{
    char path[80];
    unsigned long kib = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", number);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%luK", &kib) != 1)
        kib = 0;
    fclose(file);
    return (size_t)kib << 10;
}

/* Not sysconf(_SC_LEVEL3_CACHE_SIZE): on some processors it is the sum of all of a package (320 MiB where a core has 32). */
size_t ss_largest_cache(void)
{
    enum { CACHES = 10 };
    size_t largest = 0;
    for (int i = 0; i < CACHES; i++) {
        size_t bytes = cache_of_system(i);
        largest = bytes > largest ? bytes : largest;
    }
    return largest ? largest : (size_t)32 << 20;
}

size_t ss_beyond_caches(void)
{
    size_t least = (size_t)64 << 20, bytes = 4 * ss_largest_cache();
    return bytes > least ? bytes : least;
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

void ss_meet(ss_meeting *m)
{
    unsigned both = (atomic_fetch_add(&m->came, 1) | 1) + 1;
    while (atomic_load_explicit(&m->came, memory_order_acquire) < both)
        ;
}

/* ---- the thread ---------------------------------------------------------------------------- */

static void tell(ss_crowd *c, bool busy)
{
    pthread_mutex_lock(&c->mutex);
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
        while (!c->work && !c->quit)
            pthread_cond_wait(&c->changed, &c->mutex);
        void (*work)(void *) = c->work;
        void *of = c->context;
        c->work = NULL;
        pthread_mutex_unlock(&c->mutex);
        if (!work)
            return NULL;
        work(of);
        atomic_store(&c->done, true);
        while (!atomic_load_explicit(&c->stop, memory_order_relaxed))
            ;
        tell(c, false);
    }
}

ss_status ss_crowd_new(uint32_t core, ss_crowd **out, ss_error *err)
{
    ss_crowd *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "a crowd", sizeof *c);
    c->core = core;
    c->busy = true; /* until the thread says that it is there */
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, obey, c)) {
        pthread_mutex_destroy(&c->mutex);
        pthread_cond_destroy(&c->changed);
        ss_free(c);
        return ss_fail(err, SS_EIO, "the system starts no thread to measure beside");
    }
    ss_crowd_rest(c);
    if (c->failed) {
        ss_crowd_free(c);
        return ss_fail(err, SS_EINVAL, "there is no core %u, or it may not be used", core);
    }
    *out = c;
    return SS_OK;
}

void ss_crowd_free(ss_crowd *c)
{
    if (!c)
        return;
    ss_crowd_rest(c);
    pthread_mutex_lock(&c->mutex);
    c->quit = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    pthread_join(c->thread, NULL);
    pthread_mutex_destroy(&c->mutex);
    pthread_cond_destroy(&c->changed);
    ss_free(c);
}

/* ---- commands ------------------------------------------------------------------------------ */

void ss_crowd_rest(ss_crowd *c)
{
    atomic_store(&c->stop, true);
    pthread_mutex_lock(&c->mutex);
    while (c->busy)
        pthread_cond_wait(&c->changed, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
}

void ss_crowd_begin(ss_crowd *c, void (*work)(void *), void *context)
{
    ss_crowd_rest(c);
    atomic_store(&c->stop, false);
    atomic_store(&c->done, false);
    pthread_mutex_lock(&c->mutex);
    c->work = work;
    c->context = context;
    c->busy = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mutex);
}

void ss_crowd_finish(ss_crowd *c)
{
    while (!atomic_load_explicit(&c->done, memory_order_acquire))
        ;
}

static void rewrite(void *context)
{
    const words *w = context;
    ss_rewrite(w->at, w->bytes);
}

void ss_crowd_rewrite(ss_crowd *c, void *at, size_t bytes)
{
    words w = {at, bytes};
    ss_crowd_begin(c, rewrite, &w);
    ss_crowd_finish(c);
}

void ss_crowd_wake(ss_crowd *c)
{
    ss_crowd_rewrite(c, NULL, 0);
}
