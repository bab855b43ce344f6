/* prop_shared [COUNT [SEED]] - task graphs over shared links, through the engine and its slow twin.
 *
 * Every ready, start and end must be equal, also those of a run (run.h) that is left alone, and the conditions of engine.h must hold.  Laws that need no
 * twin: which number a device has changes nothing; a link takes no less time than its bytes need; and the
 * critical path sums to the makespan.  Times and sizes are few, so that much happens at one instant.
 */
enum { MOST_TASKS = 400, MOST_DEVICES = 6, MOST_LINKS = 9, MOST_ROUTE = 4 };
#define TWIN_NAME "prop_shared"

#include "twin_graph.h"

#include "reference/sharing_naive.h"

static uint64_t count = 2000;

typedef struct manner {
    uint32_t devices, links, tasks, edges, window;
    uint32_t longest, most_bytes; /* holds are 0 .. longest ps, transfers 0 .. most_bytes */
    bool odd_rates;
    double faster; /* where a byte takes less than a picosecond, ends and beginnings meet */
    uint32_t device_as[MOST_DEVICES + 1]; /* a renumbering */
} manner;

static void draw_manner(manner *m)
{
    static const uint32_t longest[] = {0, 1, 3, 1000, 1000000};
    static const uint32_t bytes[] = {1, 2, 1000, 100000};
    m->devices = 1 + draw(MOST_DEVICES);
    m->links = 1 + draw(MOST_LINKS);
    m->tasks = 1 + draw(draw(4) ? 40 : draw(8) ? 100 : MOST_TASKS);
    m->edges = draw(4);
    m->window = 1 + draw(draw(2) ? 8 : 60);
    m->longest = longest[draw(5)];
    m->most_bytes = bytes[draw(4)];
    m->odd_rates = draw(2);
    m->faster = draw(4) ? 1 : draw(2) ? 1e3 : 1e5;
    for (uint32_t i = 0; i <= m->devices; i++)
        m->device_as[i] = i;
}

static uint32_t draw_before(const ss_tasks *t, const manner *m, ss_task *before)
{
    uint32_t n = t->n ? draw(m->edges + 1) : 0;
    for (uint32_t k = 0; k < n; k++)
        before[k].i = t->n - draw(t->n < m->window ? t->n : m->window);
    return n;
}

static ss_status add_transfer(ss_tasks *t, const manner *m)
{
    uint32_t order[MOST_LINKS + 1], links, n;
    ss_task before[4], first;
    links = 1 + draw(m->links < MOST_ROUTE ? m->links : MOST_ROUTE);
    for (uint32_t i = 0; i <= m->links; i++)
        order[i] = i;
    for (uint32_t i = 1; i <= links; i++) {
        uint32_t k = i + draw(m->links - i + 1), swapped = order[k];
        order[k] = order[i];
        order[i] = swapped;
    }
    uint32_t befores = draw_before(t, m, before);
    return ss_tasks_transfer(t, order + 1, links, draw(3) ? m->most_bytes : draw(m->most_bytes + 1),
                             0, 0, NULL, before, befores, &first, &n, &err);
}

static ss_status add_compute(ss_tasks *t, const manner *m)
{
    ss_task before[4], task;
    uint32_t befores = draw_before(t, m, before);
    ss_status s = ss_tasks_add(t, m->device_as[1 + draw(m->devices)], draw(m->longest + 1), 0, NULL,
                               &task, &err);
    for (uint32_t k = 0; k < befores && !s; k++)
        s = ss_tasks_after(t, before[k], &err);
    return s;
}

static ss_status build(ss_tasks *t, const manner *m, uint64_t from)
{
    double bytes_per_s[MOST_LINKS + 1] = {0}, latency_s[MOST_LINKS + 1] = {0};
    drawn = from;
    for (uint32_t i = 1; i <= m->links; i++) {
        bytes_per_s[i] = m->faster * (m->odd_rates ? 1e9 + draw(1000000000) : 1e9 * (1 + draw(3)));
        latency_s[i] = 1e-12 * draw(3) * draw(1000);
    }
    ss_status s =
        ss_tasks_start(t, m->devices, m->links, bytes_per_s, latency_s, SS_LINKS_SHARED, &err);
    while (t->n < m->tasks && !s)
        s = draw(2) ? add_transfer(t, m) : add_compute(t, m);
    return s ? s : ss_tasks_finish(t, &err);
}

static void compare_renumbered(manner *m, uint64_t from)
{
    for (uint32_t i = m->devices; i > 1; i--) {
        uint32_t k = 1 + draw(i), swapped = m->device_as[i];
        m->device_as[i] = m->device_as[k];
        m->device_as[k] = swapped;
    }
    CHECK_OK(build(&renumbered, m, from));
    CHECK_OK(ss_engine_run(engine, &renumbered, &other, &err));
    for (uint32_t i = 1; i <= graph.n; i++)
        CHECK(line.end[i] == other.end[i], WITH);
}

static void check_laws(void)
{
    double bytes[MOST_LINKS + 1] = {0};
    for (uint32_t i = 1; i <= graph.n; i++) {
        uint32_t n;
        const uint32_t *r = ss_tasks_resources(&graph, (ss_task){i}, &n);
        for (uint32_t k = 0; k < n && ss_tasks_flows(&graph, (ss_task){i}); k++)
            bytes[r[k] - graph.devices] += (double)graph.bytes[i];
    }
    for (uint32_t l = 1; l <= graph.links; l++) /* each end is rounded by half a picosecond */
        CHECK(bytes[l] / graph.bytes_per_s[l] * 1e12 <= (double)line.makespan + graph.n, WITH);
    find_path();
}

static void every_time_equals_the_slow_twins(void)
{
    CHECK_OK(ss_engine_new(&engine, &err));
    for (uint64_t g = 0; g < count && !check_this_failed; g++) {
        manner m;
        this_seed = seed + g;
        drawn = 0;
        draw_manner(&m);
        uint64_t from = drawn;
        simulate_and_compare(build(&graph, &m, from), simulate_shared_naive);
        if (!check_this_failed)
            check_laws();
        if (!check_this_failed)
            compare_renumbered(&m, from);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    RUN(every_time_equals_the_slow_twins);
    return end_twin();
}
