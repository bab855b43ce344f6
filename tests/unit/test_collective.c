#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "graph/collective.h"

enum { MOST = 17, SEED = 20240229 };

static ss_error err;
static ss_rng rng;
static ss_messages list;

typedef enum { RING, TREE, TWO_LEVEL, ALGORITHMS } algorithm;

/* Machines of three, then one that stands alone, then the first machine again, out of order. */
static const uint32_t machine[MOST] = {1, 1, 5, 5, 5, 0, 0, 1, 2, 2, 9, 2, 9, 9, 4, 3, 4};
static const int64_t sizes[] = {0, 1, 7, 1000003};

static ss_status generate(algorithm a, uint32_t n, int64_t bytes)
{
    switch (a) {
    case RING:
        return ss_collective_ring(n, bytes, &list, &err);
    case TREE:
        return ss_collective_tree(n, bytes, &list, &err);
    default:
        return ss_collective_two_level(n, machine, bytes, &list, &err);
    }
}

/* ------------------------------------------------ an interpreter of message lists
 *
 * A tensor is cut where any message begins or ends.  Every piece at a member is a number in which
 * each member has three bits: how often its contribution is in there. */
typedef struct state {
    int64_t cut[MOST + 3];
    uint32_t cuts;
    uint64_t at[MOST][MOST + 2]; /* by member and piece */
    uint64_t under_way[2 * MOST * MOST + 1]
                      [MOST + 2]; /* what a message carries, read when it is sent */
    char sent[2 * MOST * MOST + 1], arrived[2 * MOST * MOST + 1];
} state;

static void add_cut(state *s, int64_t at)
{
    uint32_t k = 0;
    while (k < s->cuts && s->cut[k] < at)
        k++;
    if (k < s->cuts && s->cut[k] == at)
        return;
    memmove(&s->cut[k + 1], &s->cut[k], (s->cuts - k) * sizeof s->cut[0]);
    s->cut[k] = at;
    s->cuts++;
}

static void start(state *s, uint32_t n, int64_t bytes)
{
    memset(s, 0, sizeof *s);
    add_cut(s, 0);
    add_cut(s, bytes);
    for (uint32_t m = 1; m <= list.n; m++) {
        add_cut(s, list.row[m].offset);
        add_cut(s, list.row[m].offset + list.row[m].bytes);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k + 1 < s->cuts; k++)
            s->at[i][k] = 1ULL << 3 * i;
}

static bool may_go(const state *s, uint32_t m)
{
    for (uint32_t k = 0; k < list.row[m].afters; k++)
        if (!s->arrived[list.after[list.row[m].first_after + k]])
            return false;
    return true;
}

/* Sends or delivers a message; sending reads, delivering writes, and anything may lie between. */
static void advance(state *s, uint32_t m)
{
    const ss_message *msg = &list.row[m];
    for (uint32_t k = 0; k + 1 < s->cuts; k++) {
        if (s->cut[k] < msg->offset || s->cut[k] >= msg->offset + msg->bytes)
            continue;
        if (!s->sent[m])
            s->under_way[m][k] = s->at[msg->from][k];
        else if (msg->adds)
            s->at[msg->to][k] += s->under_way[m][k];
        else
            s->at[msg->to][k] = s->under_way[m][k];
    }
    if (s->sent[m])
        s->arrived[m] = 1;
    s->sent[m] = 1;
}

/* Takes messages in a random order among those that may go; false if none may and some are left. */
static bool play(state *s)
{
    for (uint32_t left = 2 * list.n; left > 0; left--) {
        uint32_t can = 0, taken = 0;
        for (uint32_t m = 1; m <= list.n; m++)
            if (!s->arrived[m] && (s->sent[m] || may_go(s, m)) && !ss_rng_below(&rng, ++can))
                taken = m;
        if (!taken)
            return false;
        advance(s, taken);
    }
    return true;
}

static void everyone_ends_with_the_sum_in_any_order(void)
{
    static state s;
    for (algorithm a = RING; a < ALGORITHMS; a++)
        for (uint32_t n = 1; n <= MOST; n++)
            for (uint32_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++)
                for (int again = 0; again < (n < 9 ? 5 : 1); again++) {
                    CHECK_OK(generate(a, n, sizes[b]));
                    start(&s, n, sizes[b]);
                    CHECK(play(&s), "algorithm %u, %u members: stuck", a, n);
                    uint64_t sum = 0;
                    for (uint32_t i = 0; i < n; i++)
                        sum += 1ULL << 3 * i;
                    for (uint32_t i = 0; i < n && sizes[b]; i++)
                        for (uint32_t k = 0; k + 1 < s.cuts; k++)
                            CHECK(s.at[i][k] == sum,
                                  "algorithm %u, %u members, %d bytes, seed %d: "
                                  "member %u piece %u has %llo",
                                  a, n, (int)sizes[b], SEED, i, k, (unsigned long long)s.at[i][k]);
                }
}

static void rows_are_in_topological_order(void)
{
    for (algorithm a = RING; a < ALGORITHMS; a++)
        for (uint32_t n = 1; n <= MOST; n++) {
            CHECK_OK(generate(a, n, 1234567));
            CHECK(list.n == (a == RING ? 2 * n * (n - 1) : 2 * (n - 1)), "%u messages", list.n);
            for (uint32_t m = 1; m <= list.n; m++) {
                const ss_message *msg = &list.row[m];
                CHECK(msg->from < n && msg->to < n && msg->from != msg->to, "message %u", m);
                CHECK(msg->first_after + msg->afters <= list.afters, "message %u", m);
                for (uint32_t k = 0; k < msg->afters; k++) {
                    uint32_t before = list.after[msg->first_after + k];
                    CHECK(before >= 1 && before < m, "message %u after %u", m, before);
                }
            }
        }
}

/* Every round of the ring moves the tensor once, every member but one sends and hears it in a tree.
 */
static void twice_the_tensor_for_all_members_but_one_is_moved(void)
{
    for (algorithm a = RING; a < ALGORITHMS; a++)
        for (uint32_t n = 1; n <= MOST; n++)
            for (uint32_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++) {
                CHECK_OK(generate(a, n, sizes[b]));
                int64_t all = 0, by[MOST] = {0};
                for (uint32_t m = 1; m <= list.n; m++) {
                    all += list.row[m].bytes;
                    by[list.row[m].from] += list.row[m].bytes;
                }
                CHECK(all == 2 * (int64_t)(n - 1) * sizes[b], "algorithm %u, %u members: %lld", a,
                      n, (long long)all);
                for (uint32_t i = 0; i < n && a == RING; i++) {
                    int64_t least = 2 * (int64_t)(n - 1) * (sizes[b] / n);
                    CHECK(by[i] >= least && by[i] <= least + 2 * (int64_t)(n - 1),
                          "member %u: %lld", i, (long long)by[i]);
                }
            }
}

static void a_member_of_the_ring_never_overtakes_itself(void)
{
    CHECK_OK(ss_collective_ring(5, 23, &list, &err));
    for (uint32_t m = 6; m <= list.n; m++) {
        bool own = false;
        for (uint32_t k = 0; k < list.row[m].afters; k++)
            own |= list.row[list.after[list.row[m].first_after + k]].from == list.row[m].from;
        CHECK(own, "message %u", m);
    }
}

static void a_ring_is_reused_for_tensors_of_other_sizes(void)
{
    ss_messages fresh = {0};
    CHECK_OK(ss_collective_ring(13, 1000, &list, &err));
    ss_message *row = list.row;
    uint64_t before = ss_mem_requests();
    CHECK_OK(ss_collective_ring(13, 77, &list, &err));
    CHECK_OK(ss_collective_ring(13, 77, &list, &err));
    CHECK(list.row == row && ss_mem_requests() == before, "memory was asked for");
    CHECK_OK(ss_collective_ring(13, 77, &fresh, &err));
    CHECK(fresh.n == list.n && !memcmp(fresh.row + 1, list.row + 1, fresh.n * sizeof *row), "rows");
    CHECK_OK(ss_collective_tree(13, 77, &list, &err));
    CHECK_OK(ss_collective_ring(13, 77, &list, &err));
    CHECK(fresh.n == list.n && !memcmp(fresh.row + 1, list.row + 1, fresh.n * sizeof *row), "rows");
    CHECK_OK(ss_collective_ring(13, 0, &list, &err));
    CHECK(list.n == 0, "%u messages for nothing", list.n);
    ss_messages_free(&fresh);
}

static void wrong_input_is_refused_and_changes_nothing(void)
{
    CHECK_OK(ss_collective_ring(3, 10, &list, &err));
    for (algorithm a = RING; a < ALGORITHMS; a++) {
        CHECK(generate(a, 0, 10) == SS_EINVAL, "no members");
        CHECK(generate(a, 4, -1) == SS_EINVAL, "negative bytes");
        CHECK_TEXT(err.text, "-1 bytes");
        ss_mem_fail_after(0);
        ss_status s = generate(a, MOST, 1);
        ss_mem_fail_never();
        CHECK(!s || s == SS_ENOMEM, "%s", err.text);
    }
    CHECK(ss_collective_ring(70000, 1, &list, &err) == SS_ERANGE, "%s", err.text);
    ss_messages_free(&list);
    ss_mem_fail_after(0);
    CHECK(ss_collective_ring(5, 1, &list, &err) == SS_ENOMEM, "%s", err.text);
    ss_mem_fail_never();
    CHECK(list.n == 0, "%u messages", list.n);
}

/* ------------------------------------------------ closed forms against one port a member and
 * direction */

static double time_of_list(uint32_t n, const uint32_t *where, const double *a, const double *b)
{
    static double end[2 * 64 * 64], ready[2 * 64 * 64];
    static bool done[2 * 64 * 64];
    double out[64] = {0}, in[64] = {0}, last = 0;
    memset(done, 0, sizeof done);
    (void)n;
    for (uint32_t left = list.n; left > 0; left--) {
        uint32_t next = 0;
        for (uint32_t m = 1; m <= list.n; m++) {
            bool can = !done[m];
            ready[m] = 0;
            for (uint32_t k = 0; k < list.row[m].afters; k++) {
                uint32_t before = list.after[list.row[m].first_after + k];
                can &= done[before];
                ready[m] = end[before] > ready[m] ? end[before] : ready[m];
            }
            if (can && (!next || ready[m] < ready[next]))
                next = m;
        }
        const ss_message *msg = &list.row[next];
        bool across = where && (!where[msg->from] || where[msg->from] != where[msg->to]);
        double start = ready[next];
        start = out[msg->from] > start ? out[msg->from] : start;
        start = in[msg->to] > start ? in[msg->to] : start;
        end[next] = start + a[across] + (double)msg->bytes / b[across];
        out[msg->from] = in[msg->to] = end[next];
        last = end[next] > last ? end[next] : last;
        done[next] = true;
    }
    return last;
}

static bool near(double x, double y)
{
    return x - y <= 1e-12 * (x + y) && y - x <= 1e-12 * (x + y);
}

static void closed_forms_are_what_the_messages_take(void)
{
    double a[2] = {3e-6, 17e-6}, b[2] = {11e9, 1.3e9};
    for (uint32_t n = 1; n <= 33; n++) {
        int64_t bytes = 1001 * (int64_t)n; /* even shares: the closed form knows no other */
        CHECK_OK(ss_collective_ring(n, bytes, &list, &err));
        double ring = ss_collective_ring_seconds(n, (double)bytes, a[0], b[0]);
        double list_time = time_of_list(n, NULL, a, b);
        CHECK(near(ring, list_time), "ring of %u: %g, %g", n, ring, list_time);
        CHECK_OK(ss_collective_tree(n, bytes, &list, &err));
        double tree = ss_collective_tree_seconds(n, (double)bytes, a[0], b[0]);
        list_time = time_of_list(n, NULL, a, b);
        CHECK(near(tree, list_time), "tree of %u: %g, %g", n, tree, list_time);
    }
    for (uint32_t machines = 1; machines <= 6; machines++)
        for (uint32_t each = 1; each <= 5; each++) {
            uint32_t where[30];
            for (uint32_t i = 0; i < machines * each; i++)
                where[i] = each == 1 ? 0 : i / each + 1;
            CHECK_OK(ss_collective_two_level(machines * each, where, 123457, &list, &err));
            double two = ss_collective_two_level_seconds(machines * each, where, 123457, a[0], b[0],
                                                         a[1], b[1]);
            double list_time = time_of_list(machines * each, where, a, b);
            CHECK(near(two, list_time), "%u machines of %u: %g, %g", machines, each, two,
                  list_time);
        }
    CHECK(near(ss_collective_ring_seconds(4, 1e9, 0, 1e9), 1.5), "2 (n-1) / n");
    CHECK(near(ss_collective_tree_seconds(7, 1e9, 1, 1e9), 16),
          "two messages up and two down on each of two levels, 2 s each");
}

int main(void)
{
    if (ss_rng_open(&rng, SEED, "collective", &err))
        return 99;
    RUN(everyone_ends_with_the_sum_in_any_order);
    RUN(rows_are_in_topological_order);
    RUN(twice_the_tensor_for_all_members_but_one_is_moved);
    RUN(a_member_of_the_ring_never_overtakes_itself);
    RUN(a_ring_is_reused_for_tensors_of_other_sizes);
    RUN(closed_forms_are_what_the_messages_take);
    RUN(wrong_input_is_refused_and_changes_nothing);
    ss_messages_free(&list);
    ss_rng_close(&rng);
    return DONE();
}
