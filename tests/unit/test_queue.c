#include "check.h"

#include "base/hash.h"
#include "base/mem.h"
#include "simulate/queue.h"

static ss_error err;
static uint64_t seed, drawn;

static uint64_t draw(uint64_t below)
{
    return ss_hash_u64(ss_hash_u64(SS_HASH_START, seed), drawn++) % below;
}

static bool take(ss_queue *q, ss_entry *least)
{
    if (q->n == 0 && (q->later == 0 || !ss_queue_refill(q)))
        return false;
    *least = ss_queue_pop(q);
    return true;
}

/* The twin: looks at all that wait. */
enum { ROOM = 12000 };
static ss_entry waiting[ROOM];
static uint32_t waits;

static ss_entry take_naive(void)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < waits; i++)
        if (waiting[i].ready < waiting[least].ready ||
            (waiting[i].ready == waiting[least].ready && waiting[i].id < waiting[least].id))
            least = i;
    ss_entry x = waiting[least];
    waiting[least] = waiting[--waits];
    return x;
}

static bool is_same(ss_entry a, ss_entry b)
{
    return a.ready == b.ready && a.id == b.id && a.where == b.where;
}

/* Pushes ahead of what was taken last, by up to `ahead`; `most` wait at most. */
static void follow_the_twin(ss_queue *q, ss_time ahead, uint32_t most, uint32_t pushes)
{
    uint32_t id = 0;
    ss_entry last = {0};
    CHECK_OK(ss_queue_clear(q, &err));
    waits = 0;
    while (id < pushes || waits) {
        bool give = id < pushes && waits < most && (waits == 0 || draw(5) < 3);
        if (give) {
            /* an equal time only with a larger id, as edges of a task graph give it */
            ss_time ready = last.ready + (ss_time)draw((uint64_t)ahead + 1);
            ss_entry x = {ready, ++id, (uint32_t)draw(1000)};
            waiting[waits++] = x;
            CHECK(ss_queue_push(q, x), "seed %llu", (unsigned long long)seed);
            continue;
        }
        ss_entry wanted = take_naive();
        CHECK(take(q, &last), "seed %llu", (unsigned long long)seed);
        CHECK(is_same(last, wanted), "seed %llu: got %lld %u, expected %lld %u",
              (unsigned long long)seed, (long long)last.ready, last.id, (long long)wanted.ready,
              wanted.id);
    }
    CHECK(q->n == 0 && q->later == 0 && !take(q, &last));
}

static void it_gives_what_a_look_at_all_gives(void)
{
    static const ss_time ahead[] = {0, 1, 3, 1000, 1000000007, INT64_C(1) << 55};
    ss_queue q = {0};
    for (seed = 1; seed <= 36 && !check_this_failed; seed++) {
        drawn = 0;
        follow_the_twin(&q, ahead[seed % 6], seed <= 12 ? 40 : 3000, 9000);
    }
    ss_queue_free(&q);
}

static void the_whole_range_of_times_fits(void)
{
    ss_queue q = {0};
    ss_entry x, last = {0};
    seed = 5, drawn = 0;
    CHECK_OK(ss_queue_clear(&q, &err));
    for (uint32_t i = 1; i <= 20000; i++)
        CHECK(ss_queue_push(&q, (ss_entry){(ss_time)(draw(UINT64_MAX) >> (1 + draw(63))), i, 0}));
    CHECK(ss_queue_push(&q, (ss_entry){SS_TIME_MAX, UINT32_MAX, 0}));
    for (uint32_t i = 1; i <= 20001; i++, last = x) {
        CHECK(take(&q, &x));
        CHECK(ss_entry_before(&last, &x), "%u", i);
    }
    CHECK(last.ready == SS_TIME_MAX && last.id == UINT32_MAX && !take(&q, &x));
    ss_queue_free(&q);
}

/* Ids need not come in order: a task releases others of any id. */
static void equal_times_leave_by_id_however_they_came(void)
{
    enum { N = 50000, STEP = 7919 };
    ss_queue q = {0};
    ss_entry x;
    CHECK_OK(ss_queue_clear(&q, &err));
    for (uint32_t i = 0; i < N; i++)
        CHECK(ss_queue_push(&q, (ss_entry){77, 1 + i * STEP % N, 3}));
    for (uint32_t i = 1; i <= N; i++) {
        CHECK(take(&q, &x));
        CHECK(x.id == i && x.ready == 77, "%u: %u", i, x.id);
    }
    ss_queue_free(&q);
}

static void a_long_queue_takes_what_its_entries_take(void)
{
    enum { N = 1000000 };
    ss_queue q = {0};
    ss_entry x;
    uint64_t asked = 0;
    seed = 9;
    for (int round = 0; round < 2; round++) {
        drawn = 0;
        CHECK_OK(ss_queue_clear(&q, &err));
        for (uint32_t i = 1; i <= N; i++)
            CHECK(ss_queue_push(&q, (ss_entry){(ss_time)draw(1000000000), i, 0}));
        while (take(&q, &x))
            ;
        CHECK(round == 0 || asked == ss_mem_requests());
        asked = ss_mem_requests();
    }
    CHECK(ss_queue_memory(&q) < 1.6 * N * sizeof(ss_entry), "%zu", ss_queue_memory(&q));
    CHECK(ss_queue_memory(&q) == ss_mem_live(), "%zu", ss_mem_live());
    ss_queue_free(&q);
}

static void no_memory_is_said(void)
{
    for (int64_t k = 0;; k++) {
        ss_queue q = {0};
        ss_entry x;
        ss_mem_fail_after(k);
        bool fine = ss_queue_clear(&q, &err) == SS_OK;
        seed = 3, drawn = 0;
        for (uint32_t i = 1; i <= 9000 && fine; i++)
            fine = ss_queue_push(&q, (ss_entry){(ss_time)draw(100000), i, 0});
        for (uint32_t i = 1; i <= 9000 && fine; i++)
            fine = take(&q, &x);
        ss_mem_fail_never();
        ss_queue_free(&q);
        CHECK(ss_mem_blocks() == 0);
        if (fine)
            break;
    }
}

int main(void)
{
    RUN(it_gives_what_a_look_at_all_gives);
    RUN(the_whole_range_of_times_fits);
    RUN(equal_times_leave_by_id_however_they_came);
    RUN(a_long_queue_takes_what_its_entries_take);
    RUN(no_memory_is_said);
    return DONE();
}
