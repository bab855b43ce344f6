/* threads.c - one step: a thread for each device, its queue, and the clock. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "validation/executor/execution_inside.h"

enum { SPINS = 2000 };

typedef struct waiting {
    ss_time ready;
    uint32_t id;
} waiting;

/* Ready tasks of one device, least (ready, id) first.  The lock is held for some instructions at a time.  Queues are
 * a cache line apart, so that no two have one in common: by their size, since memory is aligned for no more than a
 * pointer. */
typedef struct queue {
    atomic_flag lock;
    atomic_uint n;
    waiting *heap;
    char apart[64 - 2 * sizeof(void *)];
} queue;

typedef struct member {
    struct ss_crew *crew;
    ss_execution *execution;
    uint32_t device;
    pthread_t thread;
    bool started;
} member;

struct ss_crew {
    member *member;               /* [devices + 1] */
    queue *queue;                 /* [devices + 1] */
    waiting *heaps;               /* memory of all queues */
    atomic_uint *missing;         /* by task, [n + 1] */
    ss_time *ready, *start, *end; /* the caller's, of the step under way */
    int64_t began_ns;
    atomic_uint done, arrived, left;
    atomic_bool begun, failed;
    /* Between steps threads sleep. */
    pthread_mutex_t mutex;
    pthread_cond_t wake, over;
    bool has_mutex;
    uint64_t step; /* that is under way, or was the last; 0: none yet */
    bool quit;
    ss_error error;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static ss_time now(const struct ss_crew *c)
{
    return (now_ns() - c->began_ns) * 1000; /* ps */
}

/* ---- queues -------------------------------------------------------------------------------- */

static void lock(queue *q)
{
    while (atomic_flag_test_and_set_explicit(&q->lock, memory_order_acquire))
        ;
}

static void unlock(queue *q)
{
    atomic_flag_clear_explicit(&q->lock, memory_order_release);
}

static bool goes_before(waiting a, waiting b)
{
    return a.ready != b.ready ? a.ready < b.ready : a.id < b.id;
}

static void push(queue *q, waiting x)
{
    lock(q);
    uint32_t i = atomic_load_explicit(&q->n, memory_order_relaxed);
    atomic_store_explicit(&q->n, i + 1, memory_order_relaxed);
    for (; i && goes_before(x, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = x;
    unlock(q);
}

static uint32_t pop(queue *q)
{
    if (!atomic_load_explicit(&q->n, memory_order_relaxed))
        return 0;
    lock(q);
    uint32_t n = atomic_load_explicit(&q->n, memory_order_relaxed), first = 0, i = 0;
    if (n) {
        first = q->heap[0].id;
        waiting x = q->heap[--n];
        for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
            if (k + 1 < n && goes_before(q->heap[k + 1], q->heap[k]))
                k++;
            if (!goes_before(q->heap[k], x))
                break;
            q->heap[i] = q->heap[k];
        }
        q->heap[i] = x;
        atomic_store_explicit(&q->n, n, memory_order_relaxed);
    }
    unlock(q);
    return first;
}

/* ---- a thread ------------------------------------------------------------------------------ */

static void fail(struct ss_crew *c, const ss_error *err)
{
    pthread_mutex_lock(&c->mutex);
    if (!atomic_exchange(&c->failed, true))
        c->error = *err;
    pthread_mutex_unlock(&c->mutex);
}

/* The latest end of those that a task waits for: who tells it last need not be who ended last. */
static ss_time ready_at(const ss_execution *e, uint32_t task)
{
    const ss_tasks *t = &e->lowered->tasks;
    ss_time ready = 0;
    for (uint32_t i = t->first_in[task]; i < t->first_in[task + 1]; i++)
        ready = e->crew->end[t->in[i]] > ready ? e->crew->end[t->in[i]] : ready;
    return ready;
}

static void tell_successors(ss_execution *e, uint32_t task)
{
    struct ss_crew *c = e->crew;
    const ss_tasks *t = &e->lowered->tasks;
    for (uint32_t i = t->first_out[task]; i < t->first_out[task + 1]; i++) {
        uint32_t next = t->out[i];
        if (atomic_fetch_sub_explicit(&c->missing[next], 1, memory_order_acq_rel) != 1)
            continue;
        c->ready[next] = ready_at(e, next);
        push(&c->queue[e->action[next].device], (waiting){c->ready[next], next});
    }
}

static void do_task(ss_execution *e, uint32_t task)
{
    struct ss_crew *c = e->crew;
    ss_error err;
    c->start[task] = now(c);
    if (ss_action_do(e, &e->action[task], &err))
        fail(c, &err);
    c->end[task] = now(c);
    tell_successors(e, task);
    atomic_fetch_add_explicit(&c->done, 1, memory_order_acq_rel);
}

static void work(const member *m)
{
    struct ss_crew *c = m->crew;
    uint32_t n = m->execution->lowered->tasks.n, spins = 0;
    while (atomic_load_explicit(&c->done, memory_order_acquire) < n &&
           !atomic_load_explicit(&c->failed, memory_order_relaxed)) {
        uint32_t task = pop(&c->queue[m->device]);
        if (task) {
            do_task(m->execution, task);
            spins = 0;
        } else if (++spins > SPINS) { /* more threads than cores, it may be */
            sched_yield();
            spins = 0;
        }
    }
}

/* Gradients of the shards that a device holds begin at 0. */
static void clear_gradients(const member *m)
{
    const ss_execution *e = m->execution;
    const ss_lowered *l = e->lowered;
    for (uint32_t k = 1; k <= l->shards; k++) {
        const ss_shard *s = &l->shard[k];
        for (uint32_t r = s->first_device; r < s->first_device + s->devices; r++)
            if (l->shard_device[r].i == m->device)
                memset(e->holding[r].gradient, 0, (size_t)ss_box_elements(&s->box) * sizeof(float));
    }
}

static void *live(void *argument)
{
    member *m = argument;
    struct ss_crew *c = m->crew;
    for (uint64_t seen = 0;;) {
        pthread_mutex_lock(&c->mutex);
        while (c->step == seen && !c->quit)
            pthread_cond_wait(&c->wake, &c->mutex);
        seen = c->step;
        bool quit = c->quit;
        pthread_mutex_unlock(&c->mutex);
        if (quit)
            return NULL;
        clear_gradients(m);
        atomic_fetch_add(&c->arrived, 1);
        while (!atomic_load_explicit(&c->begun, memory_order_acquire))
            sched_yield();
        work(m);
        pthread_mutex_lock(&c->mutex);
        atomic_fetch_add(&c->left, 1);
        pthread_cond_signal(&c->over);
        pthread_mutex_unlock(&c->mutex);
    }
}

/* ---- a crew -------------------------------------------------------------------------------- */

static ss_status pin(const ss_execution *e, member *m, ss_error *err)
{
    cpu_set_t may, one;
    if (!e->options.pinned)
        return SS_OK;
    if (sched_getaffinity(0, sizeof may, &may))
        return ss_fail(err, SS_EIO, "the system does not say on which cores it may compute");
    uint32_t wanted = e->options.core ? e->options.core[m->device] : UINT32_MAX, n = 0;
    CPU_ZERO(&one);
    for (uint32_t core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &may))
            continue;
        if (wanted == UINT32_MAX ? n == m->device - 1 : core == wanted)
            CPU_SET(core, &one);
        n++;
    }
    if (!CPU_COUNT(&one))
        return wanted == UINT32_MAX
                   ? ss_fail(err, SS_EINVAL,
                             "%u devices want a core each, and there are %u: execute on fewer "
                             "devices, or not "
                             "pinned",
                             e->topology->devices, n)
                   : ss_fail(err, SS_EINVAL, "there is no core %u, or it may not be used", wanted);
    if (pthread_setaffinity_np(m->thread, sizeof one, &one))
        return ss_fail(err, SS_EIO, "the system does not pin threads");
    return SS_OK;
}

static ss_status start_member(ss_execution *e, uint32_t device, ss_error *err)
{
    member *m = &e->crew->member[device];
    *m = (member){.crew = e->crew, .execution = e, .device = device};
    if (pthread_create(&m->thread, NULL, live, m))
        return ss_fail(err, SS_EIO, "the system starts no more threads: of %u devices %u have one",
                       e->topology->devices, device - 1);
    m->started = true;
    return pin(e, m, err);
}

ss_status ss_crew_new(ss_execution *e, ss_error *err)
{
    uint32_t devices = e->topology->devices, n = e->lowered->tasks.n;
    struct ss_crew *c = e->crew = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "threads of devices", sizeof *c);
    size_t rows = (size_t)devices + 1;
    c->member = ss_alloc_zeroed(rows, sizeof *c->member);
    c->queue = ss_alloc_zeroed(rows, sizeof *c->queue);
    c->heaps = ss_alloc_zeroed((size_t)n + rows, sizeof *c->heaps);
    c->missing = ss_alloc_zeroed((size_t)n + 1, sizeof *c->missing);
    if (!c->member || !c->queue || !c->heaps || !c->missing)
        return ss_fail_memory(err, "threads of devices", rows * sizeof *c->queue);
    uint32_t *count = ss_alloc_zeroed(rows + 1, sizeof *count);
    if (!count)
        return ss_fail_memory(err, "threads of devices", rows * sizeof *count);
    for (uint32_t i = 1; i <= n; i++)
        count[e->action[i].device + 1]++;
    for (uint32_t d = 1; d <= devices; d++) {
        count[d + 1] += count[d];
        c->queue[d].heap = c->heaps + count[d];
        atomic_flag_clear(&c->queue[d].lock);
    }
    ss_free(count);
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->wake, NULL);
    pthread_cond_init(&c->over, NULL);
    c->has_mutex = true;
    ss_status s = SS_OK;
    for (uint32_t d = 1; d <= devices && !s; d++)
        s = start_member(e, d, err);
    return s;
}

void ss_crew_free(ss_execution *e)
{
    struct ss_crew *c = e->crew;
    if (!c)
        return;
    if (c->has_mutex) {
        pthread_mutex_lock(&c->mutex);
        c->quit = true;
        pthread_cond_broadcast(&c->wake);
        pthread_mutex_unlock(&c->mutex);
    }
    for (uint32_t d = 1; c->member && d <= e->topology->devices; d++)
        if (c->member[d].started)
            pthread_join(c->member[d].thread, NULL);
    if (c->has_mutex) {
        pthread_mutex_destroy(&c->mutex);
        pthread_cond_destroy(&c->wake);
        pthread_cond_destroy(&c->over);
    }
    ss_free(c->member);
    ss_free(c->queue);
    ss_free(c->heaps);
    ss_free(c->missing);
    ss_free(c);
    e->crew = NULL;
}

/* ---- a step -------------------------------------------------------------------------------- */

static void set_out(ss_execution *e, ss_timeline *out)
{
    struct ss_crew *c = e->crew;
    const ss_tasks *t = &e->lowered->tasks;
    c->ready = out->ready;
    c->start = out->start;
    c->end = out->end;
    atomic_store(&c->done, 0);
    atomic_store(&c->arrived, 0);
    atomic_store(&c->left, 0);
    atomic_store(&c->begun, false);
    atomic_store(&c->failed, false);
    for (uint32_t d = 1; d <= e->topology->devices; d++)
        atomic_store(&c->queue[d].n, 0);
    for (uint32_t i = 0; i <= t->n; i++) {
        out->ready[i] = out->start[i] = out->end[i] = 0;
        uint32_t before = i ? t->first_in[i + 1] - t->first_in[i] : 0;
        atomic_store(&c->missing[i], before);
        if (i && !before)
            push(&c->queue[e->action[i].device], (waiting){0, i});
    }
}

ss_status ss_execution_step(ss_execution *e, ss_timeline *out, ss_error *err)
{
    struct ss_crew *c = e->crew;
    uint32_t n = e->lowered->tasks.n;
    ss_status s = ss_timeline_reserve(out, n, err);
    if (s)
        return s;
    out->n = n;
    ss_free(out->finish);
    out->finish = NULL;
    set_out(e, out);
    pthread_mutex_lock(&c->mutex);
    c->step++;
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->mutex);
    while (atomic_load(&c->arrived) < e->topology->devices)
        sched_yield();
    c->began_ns = now_ns();
    atomic_store_explicit(&c->begun, true, memory_order_release);
    pthread_mutex_lock(&c->mutex);
    while (atomic_load(&c->left) < e->topology->devices)
        pthread_cond_wait(&c->over, &c->mutex);
    pthread_mutex_unlock(&c->mutex);
    if (atomic_load(&c->failed)) {
        *err = c->error;
        return err->status;
    }
    out->makespan = 0;
    for (uint32_t i = 1; i <= n; i++)
        out->makespan = out->end[i] > out->makespan ? out->end[i] : out->makespan;
    return SS_OK;
}
