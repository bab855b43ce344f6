#include "check.h"

#include "base/mem.h"
#include "graph/tasks.h"

static ss_error err;

/* Three links: [1] and [2] have a latency. */
static const double bytes_per_s[] = {0, 1e9, 4e9, 0.5e9};
static const double latency_s[] = {0, 3e-6, 7e-6, 0};

static ss_status start(ss_tasks *t, ss_links_mode mode)
{
    return ss_tasks_start(t, 2, 3, bytes_per_s, latency_s, mode, &err);
}

static ss_task add(ss_tasks *t, uint32_t resource, ss_time hold)
{
    ss_task task = {0};
    if (ss_tasks_add(t, resource, hold, 0, NULL, &task, &err))
        printf("  %s\n", err.text);
    return task;
}

static void wrong_links_are_refused(void)
{
    ss_tasks t = {0};
    double bw[] = {0, 1e9, -5}, lat[] = {0, 0, 0};
    CHECK(ss_tasks_start(&t, 1, 2, bw, lat, SS_LINKS_FIFO_HOP, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "link 2: bandwidth is -5 B/s");
    bw[2] = 1.0 / 0.0;
    CHECK(ss_tasks_start(&t, 1, 2, bw, lat, SS_LINKS_FIFO_HOP, &err) == SS_EINVAL);
    bw[2] = 0.0 / 0.0;
    CHECK(ss_tasks_start(&t, 1, 2, bw, lat, SS_LINKS_FIFO_HOP, &err) == SS_EINVAL);
    bw[2] = 1e9;
    lat[1] = -1e-9;
    CHECK(ss_tasks_start(&t, 1, 2, bw, lat, SS_LINKS_FIFO_PIPE, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "link 1: latency is -1e-09 s");
    lat[1] = 1e9; /* 31 years */
    CHECK(ss_tasks_start(&t, 1, 2, bw, lat, SS_LINKS_FIFO_PIPE, &err) == SS_ERANGE);
    CHECK_TEXT(err.text, "link 1");
    CHECK(ss_tasks_start(&t, 1u << 31, 1u << 31, bw, lat, SS_LINKS_FIFO_HOP, &err) == SS_ERANGE);
    CHECK(ss_tasks_start(&t, 1, 2, bw, lat, (ss_links_mode)9, &err) == SS_EINVAL);
    ss_tasks_free(&t);
}

static void wrong_tasks_are_refused_and_change_nothing(void)
{
    ss_tasks t = {0};
    ss_task task;
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    CHECK(ss_tasks_after(&t, (ss_task){3}, &err) == SS_EINVAL);
    CHECK(ss_tasks_add(&t, 0, 5, 0, NULL, &task, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1: resource 0 does not exist");
    CHECK(ss_tasks_add(&t, 6, 5, 0, NULL, &task, &err) == SS_EINVAL);
    CHECK(ss_tasks_add(&t, 1, -5, 0, NULL, &task, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1: its time is negative, -5 ps");
    CHECK(ss_tasks_add(&t, 1, 5, -7, NULL, &task, &err) == SS_EINVAL);
    CHECK(ss_tasks_after(&t, (ss_task){0}, &err) == SS_EINVAL);
    CHECK(t.n == 0 && t.edges == 0, "%u %u", t.n, t.edges);
    add(&t, 1, 5);
    CHECK(ss_tasks_after(&t, (ss_task){1}, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1 waits for itself");
    CHECK_OK(ss_tasks_after(&t, (ss_task){3}, &err));
    CHECK(ss_tasks_finish(&t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1 waits for task 3; there are 1 to 1");
    ss_tasks_free(&t);
}

static void more_than_2_to_the_63_bytes_are_refused(void)
{
    ss_tasks t = {0};
    ss_task task, first;
    uint32_t n, link = 1;
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    CHECK_OK(ss_tasks_add(&t, 3, 5, INT64_MAX - 10, NULL, &task, &err));
    CHECK(ss_tasks_add(&t, 3, 5, 11, NULL, &task, &err) == SS_ERANGE);
    CHECK(ss_tasks_transfer(&t, &link, 1, 11, 0, 0, NULL, NULL, 0, &first, &n, &err) == SS_ERANGE);
    CHECK_OK(ss_tasks_transfer(&t, &link, 1, 10, 0, 0, NULL, NULL, 0, &first, &n, &err));
    CHECK(ss_tasks_bytes_moved(&t) == INT64_MAX);
    ss_tasks_free(&t);
}

static void an_edge_that_would_leave_the_order_open_is_refused(void)
{
    ss_tasks t = {0};
    CHECK_OK(start(&t, SS_LINKS_FIFO_PIPE));
    add(&t, 1, 5);
    CHECK_OK(ss_tasks_after(&t, (ss_task){2}, &err));
    add(&t, 1, 0);
    CHECK(ss_tasks_finish(&t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "task 1 waits for task 2, which takes no time and has a larger id");

    /* with a lag it takes time for those who wait: link 1 is resource 3 */
    CHECK_OK(start(&t, SS_LINKS_FIFO_PIPE));
    add(&t, 1, 5);
    CHECK_OK(ss_tasks_after(&t, (ss_task){2}, &err));
    add(&t, 3, 0);
    CHECK_OK(ss_tasks_finish(&t, &err));

    /* the other way round no time is fine */
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    add(&t, 1, 0);
    add(&t, 1, 0);
    CHECK_OK(ss_tasks_after(&t, (ss_task){1}, &err));
    CHECK_OK(ss_tasks_finish(&t, &err));
    ss_tasks_free(&t);
}

static void rows_hold_the_edges_both_ways(void)
{
    ss_tasks t = {0};
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    /* 5 -> 2, 1 -> 3, 2 -> 4, 1 -> 4, 5 -> 4 */
    static const uint32_t before[][3] = {{0}, {0}, {5}, {1}, {2, 1, 5}, {0}};
    for (uint32_t i = 1; i <= 5; i++) {
        add(&t, 1 + i % 2, 7 * (ss_time)i);
        for (uint32_t k = 0; k < 3 && before[i][k]; k++)
            CHECK_OK(ss_tasks_after(&t, (ss_task){before[i][k]}, &err));
    }
    CHECK_OK(ss_tasks_finish(&t, &err));
    static const uint32_t first_in[] = {0, 0, 0, 1, 2, 5, 5}, in[] = {5, 1, 2, 1, 5};
    static const uint32_t first_out[] = {0, 0, 2, 3, 3, 3, 5}, out[] = {3, 4, 4, 2, 4};
    for (uint32_t i = 1; i <= 6; i++) {
        CHECK(t.first_in[i] == first_in[i], "%u: %u", i, t.first_in[i]);
        CHECK(t.first_out[i] == first_out[i], "%u: %u", i, t.first_out[i]);
    }
    CHECK(!memcmp(t.in, in, sizeof in));
    CHECK(!memcmp(t.out, out, sizeof out));
    ss_tasks_free(&t);
}

static void equal_sets_have_one_id(void)
{
    ss_tasks t = {0};
    CHECK_OK(start(&t, SS_LINKS_FIFO_PATH));
    uint32_t a, b, c, n;
    CHECK(ss_tasks_set(&t, (uint32_t[]){3, 2}, 2, &a, &err) == SS_EINVAL);
    CHECK(ss_tasks_set(&t, (uint32_t[]){2, 2}, 2, &a, &err) == SS_EINVAL);
    CHECK(ss_tasks_set(&t, (uint32_t[]){2, 6}, 2, &a, &err) == SS_EINVAL);
    CHECK(ss_tasks_set(&t, (uint32_t[]){0, 2}, 2, &a, &err) == SS_EINVAL);
    CHECK(ss_tasks_set(&t, NULL, 0, &a, &err) == SS_EINVAL);
    CHECK_OK(ss_tasks_set(&t, (uint32_t[]){2, 3}, 2, &a, &err));
    CHECK_OK(ss_tasks_set(&t, (uint32_t[]){2, 3, 5}, 3, &b, &err));
    CHECK_OK(ss_tasks_set(&t, (uint32_t[]){2, 3}, 2, &c, &err));
    CHECK(a == 6 && b == 7 && c == a && t.sets == 2, "%u %u %u", a, b, c);
    ss_task task = add(&t, b, 11);
    const uint32_t *r = ss_tasks_resources(&t, task, &n);
    CHECK(n == 3 && r[0] == 2 && r[1] == 3 && r[2] == 5);
    task = add(&t, 4, 11);
    r = ss_tasks_resources(&t, task, &n);
    CHECK(n == 1 && r[0] == 4);
    CHECK_OK(start(&t, SS_LINKS_FIFO_PATH)); /* sets do not outlive their graph */
    CHECK_OK(ss_tasks_set(&t, (uint32_t[]){2, 3, 5}, 3, &b, &err));
    CHECK(b == 6, "%u", b);
    ss_tasks_free(&t);
}

static void many_sets_are_told_apart(void)
{
    ss_tasks t = {0};
    static double bw[302], lat[302];
    for (uint32_t i = 0; i < 302; i++)
        bw[i] = 1e9;
    CHECK_OK(ss_tasks_start(&t, 0, 301, bw, lat, SS_LINKS_FIFO_PATH, &err));
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 300; i++) {
            uint32_t w;
            CHECK_OK(ss_tasks_set(&t, (uint32_t[]){i, i + 1}, 2, &w, &err));
            CHECK(w == 301 + i, "%u: %u", i, w);
        }
    }
    CHECK(t.sets == 300);
    ss_tasks_free(&t);
}

static void a_message_is_a_chain_of_hops(void)
{
    ss_tasks t = {0};
    ss_task first;
    uint32_t n;
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    ss_task a = add(&t, 1, 5), b = add(&t, 2, 6);
    ss_task_label label = {.kind = SS_TASK_TRANSFER, .cargo = SS_CARGO_WEIGHT, .op = 17, .part = 3};
    CHECK_OK(ss_tasks_transfer(&t, (uint32_t[]){2, 1, 3}, 3, 1001, 0, 0, &label, (ss_task[]){a, b},
                               2, &first, &n, &err));
    CHECK(first.i == 5 && n == 1 && t.n == 5);
    CHECK(t.hold[3] == 7000000 + 250250, "%lld", (long long)t.hold[3]);
    CHECK(t.hold[4] == 3000000 + 1001000, "%lld", (long long)t.hold[4]);
    CHECK(t.hold[5] == 2002000, "%lld", (long long)t.hold[5]);
    CHECK(t.where[3] == 4 && t.where[4] == 3 && t.where[5] == 5);
    CHECK(t.label[4].hop == 1 && t.label[4].op == 17 && t.label[4].cargo == SS_CARGO_WEIGHT);
    CHECK_OK(ss_tasks_finish(&t, &err));
    CHECK(t.first_in[4] - t.first_in[3] == 2 && t.in[t.first_in[4]] == 3);
    CHECK(ss_tasks_bytes_moved(&t) == 1001);

    CHECK_OK(start(&t, SS_LINKS_FIFO_PIPE));
    CHECK_OK(ss_tasks_transfer(&t, (uint32_t[]){2, 1}, 2, 1001, 0, 0, &label, NULL, 0, &first, &n,
                               &err));
    CHECK(t.hold[1] == 250250 && ss_tasks_lag(&t, (ss_task){1}) == 7000000);
    CHECK(t.hold[2] == 1001000 && ss_tasks_lag(&t, (ss_task){2}) == 3000000);
    ss_tasks_free(&t);
}

static void a_message_over_a_path_is_one_task(void)
{
    ss_tasks t = {0};
    ss_task first;
    uint32_t n;
    CHECK_OK(start(&t, SS_LINKS_FIFO_PATH));
    CHECK_OK(ss_tasks_transfer(&t, (uint32_t[]){3, 1, 2}, 3, 1001, 100, 4, NULL, NULL, 0, &first,
                               &n, &err));
    CHECK(first.i == 1 && n == 1 && t.n == 1);
    CHECK(t.hold[1] == 10000000 + 2002000, "%lld", (long long)t.hold[1]);
    CHECK(t.label[1].kind == SS_TASK_TRANSFER);
    const uint32_t *r = ss_tasks_resources(&t, first, &n);
    CHECK(n == 3 && r[0] == 3 && r[1] == 4 && r[2] == 5);
    CHECK_OK(
        ss_tasks_transfer(&t, (uint32_t[]){2, 1, 3}, 3, 55, 0, 0, NULL, NULL, 0, &first, &n, &err));
    CHECK(t.sets == 1 && t.where[2] == t.where[1]);
    CHECK(ss_tasks_transfer(&t, (uint32_t[]){2, 1, 2}, 3, 55, 0, 0, NULL, NULL, 0, &first, &n,
                            &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "crosses link 2 twice");
    CHECK(t.n == 2 && t.sets == 1 && n == 0);
    CHECK_OK(ss_tasks_transfer(&t, (uint32_t[]){2}, 1, 0, 0, 0, NULL, NULL, 0, &first, &n, &err));
    CHECK(t.where[3] == 4 && t.hold[3] == 7000000);
    ss_tasks_free(&t);
}

static void segments_cover_the_message_hop_by_hop(void)
{
    ss_tasks t = {0};
    ss_task first;
    uint32_t n;
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    ss_task a = add(&t, 1, 5);
    /* 1003 bytes in pieces of at most 300: four, of 251, 251, 251 and 250 */
    CHECK_OK(
        ss_tasks_transfer(&t, (uint32_t[]){1, 3}, 2, 1003, 300, 16, NULL, &a, 1, &first, &n, &err));
    CHECK(first.i == 6 && n == 4 && t.n == 9);
    CHECK(ss_tasks_transfer_count(t.mode, 2, 1003, 300, 16) == 8);
    for (uint32_t i = 2; i <= 9; i++) {
        bool last = i == 5 || i == 9;
        CHECK(t.bytes[i] == (last ? 250 : 251), "%u", i);
        CHECK(t.where[i] == (i < 6 ? 3 : 5), "%u", i);
        CHECK(t.first_in[i + 1] - t.first_in[i] == 1, "%u", i);
        CHECK(t.in[t.first_in[i]] == (i < 6 ? 1 : i - 4), "%u", i);
        CHECK(t.hold[i] == (i < 6 ? 3000000 + t.bytes[i] * 1000 : t.bytes[i] * 2000), "%u", i);
    }
    CHECK(ss_tasks_bytes_moved(&t) == 1003);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_HOP, 2, 1003, 300, 3) == 6);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_HOP, 2, 900, 300, 16) == 6);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_HOP, 2, 0, 300, 16) == 2);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_HOP, 2, 1003, 0, 16) == 2);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_HOP, 2, 1003, 1, 1) == 2);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_PATH, 2, 1003, 300, 16) == 1);
    CHECK(ss_tasks_transfer_count(SS_LINKS_FIFO_PIPE, 0, 1003, 300, 16) == 0);
    ss_tasks_free(&t);
}

static void wrong_messages_add_nothing(void)
{
    ss_tasks t = {0};
    ss_task first, zero = {0};
    uint32_t n, link = 1, none = 4;
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    CHECK(ss_tasks_transfer(&t, &link, 1, -3, 0, 0, NULL, NULL, 0, &first, &n, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "a transfer of -3 bytes");
    CHECK(ss_tasks_transfer(&t, &link, 1, 3, -1, 0, NULL, NULL, 0, &first, &n, &err) == SS_EINVAL);
    CHECK(ss_tasks_transfer(&t, &none, 1, 3, 0, 0, NULL, NULL, 0, &first, &n, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "a transfer over link 4; there are 1 to 3");
    CHECK(ss_tasks_transfer(&t, &link, 1, 3, 0, 0, NULL, &zero, 1, &first, &n, &err) == SS_EINVAL);
    /* 2^62 bytes at 0.5 GB/s take 292 years; the second hop is what fails */
    CHECK(ss_tasks_transfer(&t, (uint32_t[]){2, 3}, 2, INT64_C(1) << 52, 0, 0, NULL, NULL, 0,
                            &first, &n, &err) == SS_OK);
    uint32_t before = t.n;
    CHECK(ss_tasks_transfer(&t, (uint32_t[]){2, 3}, 2, INT64_C(1) << 54, 0, 0, NULL, NULL, 0,
                            &first, &n, &err) == SS_ERANGE);
    CHECK_TEXT(err.text, "over link 3");
    CHECK(t.n == before && n == 0);
    CHECK_OK(ss_tasks_transfer(&t, NULL, 0, 3, 0, 0, NULL, NULL, 0, &first, &n, &err));
    CHECK(t.n == before && n == 0);
    ss_tasks_free(&t);
}

static void lowering_again_asks_for_no_memory(void)
{
    ss_tasks t = {0};
    uint64_t asked = 0;
    for (int round = 0; round < 3; round++) {
        CHECK_OK(start(&t, SS_LINKS_FIFO_PATH));
        for (uint32_t i = 1; i <= 1000; i++) {
            ss_task first;
            uint32_t n;
            ss_task a = add(&t, 1 + i % 2, i);
            CHECK_OK(ss_tasks_transfer(&t, (uint32_t[]){1 + i % 3, 1 + (i + 1) % 3}, 2, i, 0, 0,
                                       NULL, &a, 1, &first, &n, &err));
        }
        CHECK_OK(ss_tasks_finish(&t, &err));
        CHECK(round == 0 || ss_mem_requests() == asked, "round %d", round);
        asked = ss_mem_requests();
    }
    size_t live = ss_mem_live();
    CHECK(ss_tasks_memory(&t) == live, "%zu, live are %zu", ss_tasks_memory(&t), live);
    ss_tasks_free(&t);
    CHECK(ss_mem_blocks() == 0);
}

static void a_reserved_graph_takes_no_more_than_it_needs(void)
{
    enum { N = 10001, EDGES = 3 };
    ss_tasks t = {0};
    CHECK_OK(start(&t, SS_LINKS_FIFO_HOP));
    CHECK_OK(ss_tasks_reserve(&t, N, N * EDGES, &err));
    for (uint32_t i = 1; i <= N; i++) {
        add(&t, 1, 3);
        for (uint32_t k = 1; k <= EDGES && k < i; k++)
            CHECK_OK(ss_tasks_after(&t, (ss_task){i - k}, &err));
    }
    CHECK_OK(ss_tasks_finish(&t, &err));
    /* columns, rows both ways, edges both ways, and what does not depend on n */
    size_t each = 8 + 4 + 8 + sizeof(ss_task_label) + 4 + 4 + 8 * EDGES;
    CHECK(ss_tasks_memory(&t) <= N * each + 400, "%zu", ss_tasks_memory(&t));
    ss_tasks_free(&t);
}

static void a_failed_allocation_leaves_a_graph_that_can_be_freed(void)
{
    for (int64_t k = 0;; k++) {
        ss_tasks t = {0};
        ss_mem_fail_after(k);
        ss_status s = start(&t, SS_LINKS_FIFO_PATH);
        for (uint32_t i = 1; i <= 40 && !s; i++) {
            ss_task a = {0}, first;
            uint32_t n;
            s = ss_tasks_add(&t, 1, 7, 0, NULL, &a, &err);
            if (!s)
                s = ss_tasks_transfer(&t, (uint32_t[]){3, 1 + i % 2}, 2, i, 0, 0, NULL, &a, 1,
                                      &first, &n, &err);
        }
        if (!s)
            s = ss_tasks_finish(&t, &err);
        ss_mem_fail_never();
        ss_tasks_free(&t);
        CHECK(ss_mem_blocks() == 0, "failure %d", (int)k);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM, "%s", err.text);
    }
}

static void names_are_read_back(void)
{
    ss_links_mode m;
    CHECK_OK(ss_links_mode_parse("fifo-pipe", &m, &err));
    CHECK(m == SS_LINKS_FIFO_PIPE && !strcmp(ss_links_mode_name(m), "fifo-pipe"));
    CHECK(ss_links_mode_parse("fifo_hop", &m, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "did you mean fifo-hop?");
    CHECK_OK(ss_links_mode_parse("shared", &m, &err));
    CHECK(m == SS_LINKS_SHARED && !strcmp(ss_links_mode_name(m), "shared"));
    CHECK(!strcmp(ss_task_kind_name(SS_TASK_COLLECTIVE), "collective"));
    CHECK(!strcmp(ss_task_kind_name((ss_task_kind)77), "none"));
    CHECK(!strcmp(ss_cargo_name(SS_CARGO_WEIGHT), "weight"));
}

int main(void)
{
    RUN(wrong_links_are_refused);
    RUN(wrong_tasks_are_refused_and_change_nothing);
    RUN(more_than_2_to_the_63_bytes_are_refused);
    RUN(an_edge_that_would_leave_the_order_open_is_refused);
    RUN(rows_hold_the_edges_both_ways);
    RUN(equal_sets_have_one_id);
    RUN(many_sets_are_told_apart);
    RUN(a_message_is_a_chain_of_hops);
    RUN(a_message_over_a_path_is_one_task);
    RUN(segments_cover_the_message_hop_by_hop);
    RUN(wrong_messages_add_nothing);
    RUN(lowering_again_asks_for_no_memory);
    RUN(a_reserved_graph_takes_no_more_than_it_needs);
    RUN(a_failed_allocation_leaves_a_graph_that_can_be_freed);
    RUN(names_are_read_back);
    return DONE();
}
