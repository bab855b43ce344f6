/* prop_engine [COUNT [SEED]] - random task graphs through the engine and its slow twin.
 *
 * Every ready, start and end must be equal, also those of a run (run.h) that is left alone, the conditions of engine.h must hold, and laws that
 * need no twin: numbering independent resources otherwise changes nothing, three times the
 * durations are three times the times, no resource does its work in less time than the work takes,
 * and the critical path sums to the makespan.  Durations are few and small, so that most ready
 * times tie.
 */
enum { MOST_TASKS = 3000, MOST_DEVICES = 9, MOST_LINKS = 7, MOST_ROUTE = 4 };
#define TWIN_NAME "prop_engine"

#include "twin_graph.h"

#include "reference/simulate_naive.h"

static uint64_t count = 10000;

/* What kind of graph: drawn first, so that a graph is all of one manner. */
typedef struct manner {
    uint32_t devices, links, tasks;
    ss_links_mode mode;
    uint32_t longest;       /* durations are 0 .. longest */
    uint32_t edges, window; /* most predecessors of a task, and how far back they lie */
    bool any_order;         /* edges may lead to smaller ids */
    bool sets, transfers;
    uint32_t device_as[MOST_DEVICES + 1], link_as[MOST_LINKS + 1]; /* a renumbering */
} manner;

static void draw_manner(manner *m)
{
    static const uint32_t longest[] = {0, 1, 2, 3, 20, 1000000};
    m->devices = 1 + draw(draw(3) ? MOST_DEVICES : 1);
    m->links = draw(MOST_LINKS + 1);
    m->tasks = draw(draw(4) ? 50 : 200);
    if (draw(2500) == 0)
        m->tasks = MOST_TASKS - 20;                 /* a queue that has to grow */
    m->mode = (ss_links_mode)draw(SS_LINKS_SHARED); /* prop_shared has that */
    m->longest = longest[draw(6)];
    m->edges = draw(5);
    m->window = 1 + draw(draw(2) ? 8 : 200);
    m->any_order = draw(4) == 0;
    m->sets = draw(3) == 0;
    m->transfers = m->links && !m->any_order && draw(2);
    for (uint32_t i = 0; i <= m->devices; i++)
        m->device_as[i] = i;
    for (uint32_t i = 0; i <= m->links; i++)
        m->link_as[i] = i;
}

static void shuffle(uint32_t *id, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = 1 + draw(i), swapped = id[i];
        id[i] = id[k];
        id[k] = swapped;
    }
}

static uint32_t resource_as(const manner *m, uint32_t r)
{
    return r <= m->devices ? m->device_as[r] : m->devices + m->link_as[r - m->devices];
}

static ss_status draw_set(ss_tasks *t, const manner *m, uint32_t *where)
{
    bool in[MOST_DEVICES + MOST_LINKS + 1] = {false};
    uint32_t resource[MOST_DEVICES + MOST_LINKS], n = 0;
    for (uint32_t k = 1 + draw(3); k > 0; k--)
        in[resource_as(m, 1 + draw(m->devices + m->links))] = true;
    for (uint32_t r = 1; r <= m->devices + m->links; r++)
        if (in[r])
            resource[n++] = r;
    return ss_tasks_set(t, resource, n, where, &err);
}

static ss_status add_transfer(ss_tasks *t, const manner *m)
{
    uint32_t order[MOST_LINKS + 1], link[MOST_ROUTE], links, n;
    ss_task before[8], first;
    for (uint32_t i = 0; i <= m->links; i++)
        order[i] = i;
    shuffle(order, m->links);
    links = 1 + draw(m->links < MOST_ROUTE ? m->links : MOST_ROUTE);
    for (uint32_t i = 0; i < links; i++)
        link[i] = m->link_as[order[i + 1]];
    uint32_t befores = t->n ? draw(m->edges + 1) : 0;
    for (uint32_t k = 0; k < befores; k++)
        before[k].i = t->n - draw(t->n < m->window ? t->n : m->window);
    return ss_tasks_transfer(t, link, links, draw(m->longest + 1), draw(3), draw(4), NULL, before,
                             befores, &first, &n, &err);
}

static ss_status add_task(ss_tasks *t, const manner *m)
{
    uint32_t where = 1 + draw(m->devices + (draw(2) ? m->links : 0));
    ss_task task;
    ss_status s = SS_OK;
    if (m->sets && draw(3) == 0)
        s = draw_set(t, m, &where);
    else
        where = resource_as(m, where);
    if (!s)
        s = ss_tasks_add(t, where, draw(m->longest + 1) + m->any_order, 0, NULL, &task, &err);
    uint32_t earlier = t->n - 1;
    for (uint32_t k = earlier ? draw(m->edges + 1) : 0; k > 0 && !s; k--)
        s = ss_tasks_after(t, (ss_task){t->n - 1 - draw(earlier < m->window ? earlier : m->window)},
                           &err);
    return s;
}

/* Ids from n down, so that every edge leads to a smaller one; durations are positive then. */
static void turn_round(ss_tasks *t)
{
    for (uint32_t e = 0; e < t->edges; e++)
        t->in[e] = t->n + 1 - t->in[e];
    for (uint32_t e = 0; e < t->edges / 2; e++) {
        uint32_t swapped = t->in[e];
        t->in[e] = t->in[t->edges - 1 - e];
        t->in[t->edges - 1 - e] = swapped;
    }
    uint32_t first[MOST_TASKS + 2];
    for (uint32_t i = 1; i <= t->n + 1; i++)
        first[i] = t->edges - t->first_in[t->n + 2 - i];
    memcpy(t->first_in + 1, first + 1, (t->n + 1) * sizeof *first);
    for (uint32_t i = 1; i <= t->n / 2; i++) {
        uint32_t k = t->n + 1 - i, where = t->where[i];
        ss_time hold = t->hold[i];
        t->where[i] = t->where[k], t->hold[i] = t->hold[k];
        t->where[k] = where, t->hold[k] = hold;
    }
}

/* The graph of `this_seed` under a renumbering; the same tasks in any case. */
static ss_status build(ss_tasks *t, const manner *m, uint64_t from)
{
    double bytes_per_s[MOST_LINKS + 1] = {0}, latency_s[MOST_LINKS + 1] = {0};
    drawn = from;
    for (uint32_t i = 1; i <= m->links; i++) {
        bytes_per_s[m->link_as[i]] = 1e12 / (1 + draw(3)); /* a byte takes 1, 2 or 3 ps */
        latency_s[m->link_as[i]] = 1e-12 * draw(m->longest ? 4 : 1);
    }
    ss_status s = ss_tasks_start(t, m->devices, m->links, bytes_per_s, latency_s, m->mode, &err);
    while (t->n < m->tasks && !s)
        s = m->transfers && draw(3) == 0 ? add_transfer(t, m) : add_task(t, m);
    if (!s && m->any_order)
        turn_round(t);
    return s ? s : ss_tasks_finish(t, &err);
}

static bool is_same(const ss_timeline *a, const ss_timeline *b, ss_time times)
{
    if (a->n != b->n || a->makespan * times != b->makespan)
        return false;
    for (uint32_t i = 1; i <= a->n; i++)
        if (a->ready[i] * times != b->ready[i] || a->start[i] * times != b->start[i] ||
            a->end[i] * times != b->end[i])
            return false;
    return true;
}

static void compare_renumbered(manner *m, uint64_t from)
{
    shuffle(m->device_as, m->devices);
    shuffle(m->link_as, m->links);
    CHECK_OK(build(&renumbered, m, from));
    CHECK_OK(ss_engine_run(engine, &renumbered, &other, &err));
    CHECK(is_same(&line, &other, 1), WITH);
}

static void compare_three_times_as_long(void)
{
    for (uint32_t i = 1; i <= graph.n; i++)
        graph.hold[i] *= 3;
    for (uint32_t r = 1; r <= graph.devices + graph.links; r++)
        graph.lag[r] *= 3;
    CHECK_OK(ss_engine_run(engine, &graph, &other, &err));
    CHECK(is_same(&line, &other, 3), WITH);
}

static void check_bounds_and_path(void)
{
    ss_time work[MOST_DEVICES + MOST_LINKS + 1] = {0}, serial = 0;
    for (uint32_t i = 1; i <= graph.n; i++) {
        uint32_t n;
        const uint32_t *r = ss_tasks_resources(&graph, (ss_task){i}, &n);
        for (uint32_t k = 0; k < n; k++)
            work[r[k]] += graph.hold[i];
        serial += graph.hold[i] + ss_tasks_lag(&graph, (ss_task){i});
    }
    for (uint32_t r = 1; r <= graph.devices + graph.links; r++)
        CHECK(work[r] <= line.makespan, WITH);
    CHECK(line.makespan <= serial, WITH);
    find_path();
    for (uint32_t k = 0; k < critical.n; k++)
        CHECK((critical.step[k].queueing > 0) == (critical.step[k].blocker.i > 0), WITH);
}

static void every_time_equals_the_slow_twins(void)
{
    uint64_t tasks = 0, edges = 0;
    CHECK_OK(ss_engine_new(&engine, &err));
    for (uint64_t g = 0; g < count && !check_this_failed; g++) {
        manner m;
        this_seed = seed + g;
        drawn = 0;
        draw_manner(&m);
        ss_engine_take_at_once(engine, (uint32_t[]){0, 1, 3, 16}[draw(4)]);
        uint64_t from = drawn;
        simulate_and_compare(build(&graph, &m, from), simulate_naive);
        tasks += graph.n;
        edges += graph.edges;
        if (!check_this_failed)
            check_bounds_and_path();
        if (!check_this_failed)
            compare_renumbered(&m, from);
        if (!check_this_failed)
            compare_three_times_as_long();
    }
    printf("%llu graphs, %.1f tasks and %.1f edges on average\n", (unsigned long long)count,
           (double)tasks / (double)count, (double)edges / (double)count);
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
