/* prop_run [COUNT [SEED]] - random runs against their slow twin, in every time of every task.
 *
 * Orders, streams, copies that block and slow, devices that slow each other, and links and devices that change, fail and go on, over
 * the three exclusive meanings of a link.  Durations are few and small, so that most times tie.  A run that is
 * looked at on the way has the same times as one that is not, and what the twin never ends the run refuses.
 */
#include "check.h"

#include "base/hash.h"
#include "reference/run_naive.h"
#include "simulate/run.h"

enum { MOST_TASKS = 60, MOST_CHANGES = 8, UNTIL = 3000 };

static uint64_t count = 10000, seed = 1;
static uint64_t this_seed, drawn;
static ss_error err;
static ss_tasks graph;
static ss_change changes[MOST_CHANGES];
static int32_t priority[4 * MOST_TASKS];

static uint32_t draw(uint32_t below)
{
    return below ? (uint32_t)(ss_hash_u64(ss_hash_u64(SS_HASH_START, this_seed), drawn++) % below)
                 : 0;
}

static bool binds; /* this graph */

static void bind(ss_task task)
{
    if (binds && draw(2))
        CHECK_OK(ss_tasks_bind(&graph, task, 1, &err));
}

static void draw_task(void)
{
    ss_task before[3], task;
    uint32_t befores = graph.n ? draw(4) : 0, n;
    for (uint32_t i = 0; i < befores; i++) {
        uint32_t window = graph.n < 8 ? graph.n : 8;
        before[i].i = graph.n - draw(window);
    }
    if (graph.links && draw(2)) {
        uint32_t link[] = {1 + draw(graph.links), 0}, links = 1;
        if (graph.links > 1 && draw(2))
            link[links++] = link[0] % graph.links + 1;
        ss_task_label label = {.kind = SS_TASK_TRANSFER,
                               .from = {draw(graph.devices + 1)},
                               .to = {draw(graph.devices + 1)}};
        CHECK_OK(ss_tasks_transfer(&graph, link, links, draw(10), 0, 0, &label, before, befores,
                                   &task, &n, &err));
        for (uint32_t i = 0; i < n; i++)
            bind((ss_task){task.i + i});
        return;
    }
    CHECK_OK(ss_tasks_add(&graph, 1 + draw(graph.devices), draw(12), 0, NULL, &task, &err));
    bind(task);
    for (uint32_t i = 0; i < befores; i++)
        CHECK_OK(ss_tasks_after(&graph, before[i], &err));
}

static bool draw_graph(void)
{
    double bytes_per_s[5], latency_s[5];
    uint32_t devices = 1 + draw(3), links = draw(4), tasks = 1 + draw(draw(3) ? 12 : MOST_TASKS);
    for (uint32_t l = 1; l <= links; l++) {
        bytes_per_s[l] = draw(2) ? 1e12 : 5e11;
        latency_s[l] = draw(4) * 1e-12;
    }
    if (ss_tasks_start(&graph, devices, links, bytes_per_s, latency_s,
                       (ss_links_mode)draw(SS_LINKS_SHARED), &err))
        abort();
    binds = devices == 2 && draw(2);
    while (graph.n < tasks)
        draw_task();
    return ss_tasks_finish(&graph, &err) == SS_OK;
}

static void draw_change(ss_change *c)
{
    static const double shares[] = {0, 0.25, 0.5, 1, 2, 3.0 / 1024, 1.0 / 256};
    *c = (ss_change){.at = draw(draw(3) ? 40 : 200),
                     .kind = graph.links ? (ss_change_kind)draw(SS_CHANGES)
                                         : (ss_change_kind)(SS_CHANGE_SPEED + draw(4)),
                     .share = 1,
                     .latency_s = draw(2) ? -1 : draw(5) * 1e-12,
                     .bytes_per_s = -1,
                     .speed = shares[draw(draw(4) ? 5 : 7)]};
    bool link = c->kind <= SS_CHANGE_LINK_WORKS;
    c->who = 1 + draw(link ? graph.links : graph.devices);
    if (link && draw(2))
        c->bytes_per_s = graph.bytes_per_s[c->who] * shares[draw(draw(4) ? 5 : 7)];
}

static ss_run_options draw_options(void)
{
    ss_run_options o = {.order = (ss_order)draw(SS_ORDERS),
                        .priority = priority,
                        .streams = draw(4),
                        .copies_block = draw(3) == 0,
                        .blocked_end = (ss_blocked_end)draw(SS_BLOCKED_ENDS),
                        .slowed_by_copies = draw(3) ? 0 : 0.5,
                        .change = changes,
                        .changes = draw(2) ? 0 : draw(MOST_CHANGES)};
    if (binds) { /* one task at a time beside one, so that speeds are exact in the twin */
        o.interference = draw(2) ? 1 : 3;
        o.streams = draw(2);
    }
    for (uint32_t i = 1; i <= graph.n; i++)
        priority[i] = (int32_t)draw(3) - 1;
    for (uint32_t i = 0; i < o.changes; i++)
        draw_change(&changes[i]);
    return o;
}

/* To the end, or until the twin gave up; looked at on the way. */
static bool go_to_end(ss_run *r)
{
    for (uint32_t k = draw(10); k; k--) {
        ss_time next = ss_run_next(r), now = ss_run_now(r);
        if (next != SS_TIME_MAX && ss_run_advance(r, now + (next - now + 1) / 2, &err))
            return false;
    }
    return ss_run_finish(r, &err) == SS_OK && ss_run_now(r) <= UNTIL;
}

static void every_time_of_every_task_is_that_of_the_twin(void)
{
    static ss_time ready[256], start[256], end[256], finish[256];
    uint64_t ended = 0;
    for (uint64_t g = 0; g < count; g++) {
        this_seed = ss_hash_u64(ss_hash_u64(SS_HASH_START, seed), g);
        drawn = 0;
        if (!draw_graph())
            continue; /* an instant task in front of one with a smaller number */
        ss_run_options o = draw_options();
        bool ends = run_naive(&graph, &o, UNTIL, ready, start, end, finish);
        ss_run *r;
        CHECK_OK(ss_run_new(&graph, &o, &r, &err));
        bool ended_too = go_to_end(r);
        CHECK(ended_too == ends, "graph %llu: the twin %s, the run %s", (unsigned long long)g,
              ends ? "ends" : "does not end", ended_too ? "does" : err.text);
        for (uint32_t i = 1; i <= graph.n && ends && ended_too; i++) {
            ss_time at[3];
            ss_run_times(r, (ss_task){i}, &at[0], &at[1], &at[2]);
            bool same = at[0] == ready[i] && at[1] == start[i] && at[2] == end[i] &&
                        ss_run_finish_of(r, (ss_task){i}) == finish[i];
            CHECK(same,
                  "graph %llu: task %u is %lld, %lld to %lld, %lld; of the twin %lld, %lld to "
                  "%lld, %lld",
                  (unsigned long long)g, i, (long long)at[0], (long long)at[1], (long long)at[2],
                  (long long)ss_run_finish_of(r, (ss_task){i}), (long long)ready[i],
                  (long long)start[i], (long long)end[i], (long long)finish[i]);
            if (!same)
                break;
        }
        ended += ends;
        ss_run_free(r);
    }
    CHECK(ended > count / 3, "%llu of %llu ended", (unsigned long long)ended,
          (unsigned long long)count);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("%llu graphs, seed %llu\n", (unsigned long long)count, (unsigned long long)seed);
    RUN(every_time_of_every_task_is_that_of_the_twin);
    ss_tasks_free(&graph);
    return DONE();
}
