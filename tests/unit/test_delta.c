/* Graphs small enough to follow by hand: by the engine, by replay and by delta, each time. */
#include "simulate/delta.h"

#include "bare_live.h"
#include "check.h"

static ss_error err;

typedef struct world {
    bare_live live;
    ss_delta *delta;
    ss_engine *engine;
    ss_tasks tasks;
    ss_timeline full, found;
} world;

static bool open_world(world *w, const bare_graph *g)
{
    *w = (world){0};
    ss_deltaed r;
    bare_open(&w->live, g);
    bool right = !ss_engine_new(&w->engine, &err) && !ss_delta_new(true, &w->delta, &err) &&
                 !ss_delta_whole(w->delta, &w->live.live, SS_TIME_MAX, &r, &err);
    if (right)
        ss_delta_keep(w->delta, &w->live.live);
    return right;
}

static void close_world(world *w)
{
    ss_delta_free(w->delta);
    bare_close(&w->live);
    ss_engine_free(w->engine);
    ss_tasks_free(&w->tasks);
    ss_timeline_free(&w->full);
    ss_timeline_free(&w->found);
}

static bool same_times(const ss_timeline *a, const ss_timeline *b)
{
    size_t bytes = (a->n + (size_t)1) * sizeof *a->ready;
    return a->n == b->n && a->makespan == b->makespan && !memcmp(a->ready, b->ready, bytes) &&
           !memcmp(a->start, b->start, bytes) && !memcmp(a->end, b->end, bytes);
}

/* The makespan of what is held, by the engine and as it is held; -1: they differ. */
static ss_time held(world *w)
{
    bare_to_tasks(&w->live.now, &w->tasks);
    if (ss_engine_run(w->engine, &w->tasks, &w->full, &err) ||
        ss_timeline_check(&w->tasks, &w->full, &err) ||
        ss_delta_timeline(w->delta, &w->live.live, false, &w->found, &err) ||
        ss_delta_check(w->delta, &w->live.live, false, &err))
        return -1;
    return same_times(&w->full, &w->found) ? w->found.makespan : -1;
}

/* The makespan of g by the engine, by replay and by a sweep, which is kept if there is no undo; -1 if
 * any of them differs in any time. visited: by the sweep. */
static ss_time change(world *w, const bare_graph *g, bool undo, uint32_t *visited)
{
    ss_deltaed r = {0};
    bare_to_tasks(g, &w->tasks);
    bool right = !ss_engine_run(w->engine, &w->tasks, &w->full, &err);
    ss_time before = held(w);
    bare_to_tasks(g, &w->tasks);
    right = right && !ss_engine_run(w->engine, &w->tasks, &w->full, &err);
    bare_change(&w->live, g);
    static const uint32_t limits[] = {0, 1, SS_DELTA_AS_EXPECTED, SS_DELTA_NO_LIMIT};
    for (int k = 0; k < 4 && right; k++) {
        right = !ss_delta_change(w->delta, &w->live.live, SS_TIME_MAX, limits[k], &r, &err) &&
                r.makespan == w->full.makespan &&
                !ss_delta_timeline(w->delta, &w->live.live, true, &w->found, &err) &&
                !ss_delta_check(w->delta, &w->live.live, true, &err) &&
                same_times(&w->full, &w->found);
        if (!right)
            printf("  limit %u: %lld, not %lld: %s\n", limits[k], (long long)r.makespan,
                   (long long)w->full.makespan, err.text);
    }
    *visited = r.visited;
    if (undo) {
        ss_delta_undo(w->delta);
        bare_undo(&w->live);
        return right && held(w) == before ? r.makespan : -1;
    }
    ss_delta_keep(w->delta, &w->live.live);
    bare_keep(&w->live);
    return right && held(w) == r.makespan ? r.makespan : -1;
}

/* From one graph to the other, undone, kept, and back. */
static bool goes_from_to(const bare_graph *a, ss_time a_takes, const bare_graph *b, ss_time b_takes)
{
    world w;
    uint32_t visited;
    bool right =
        open_world(&w, a) && held(&w) == a_takes && change(&w, b, true, &visited) == b_takes &&
        change(&w, b, false, &visited) == b_takes && change(&w, a, false, &visited) == a_takes;
    close_world(&w);
    return right;
}

/* ---- what the printed algorithm gets wrong ------------------------------------------------ */

/* A (4) and B (2), both ready at 0; A on device `a`, B on 1. */
static bare_graph two_tasks(uint32_t a)
{
    bare_graph g = bare_new(2, 2);
    bare_add(&g, 1, a, 4);
    bare_add(&g, 2, 1, 2);
    return g;
}

static void what_came_behind_a_task_that_moved_away_starts_earlier(void)
{
    bare_graph together = two_tasks(1), apart = two_tasks(2);
    CHECK(goes_from_to(&together, 6, &apart, 4), "%s", err.text);
    bare_free(&together);
    bare_free(&apart);
}

/* x is ready after p, y after q, both take 3 on device 1. */
static bare_graph two_in_turn(ss_time p, ss_time q)
{
    bare_graph g = bare_new(3, 4);
    bare_add(&g, 1, 2, p);
    bare_add(&g, 2, 3, q);
    bare_add(&g, 3, 1, 3);
    bare_after(&g, 3, 1, 0);
    bare_add(&g, 4, 1, 3);
    bare_after(&g, 4, 2, 0);
    return g;
}

static void tasks_that_change_places_are_both_moved(void)
{
    bare_graph x_first = two_in_turn(1, 2), y_first = two_in_turn(5, 2);
    CHECK(goes_from_to(&x_first, 7, &y_first, 8), "%s", err.text); /* printed: 10 */
    world w;
    uint32_t visited;
    CHECK(open_world(&w, &x_first), "%s", err.text);
    CHECK(change(&w, &y_first, false, &visited) == 8, "%s", err.text);
    CHECK(w.found.start[3] == 5 && w.found.start[4] == 2, "x at %lld, y at %lld",
          (long long)w.found.start[3], (long long)w.found.start[4]);
    CHECK(visited == 3, "%u visited", visited); /* p, x and y */
    close_world(&w);
    bare_free(&x_first);
    bare_free(&y_first);
}

/* Devices a, b, c, g; t1 (a, 1), t3 (b, t3_takes), u after t1 on g (1), v after t3 on g (5), w after
 * u on c (7).  Where u and v are ready together, the first of them by structure is first. */
static bare_graph tie(ss_time t3_takes, bool u_first)
{
    enum { A = 1, B, C, G };
    bare_graph g = bare_new(4, 5);
    uint32_t u = u_first ? 3 : 4, v = u_first ? 4 : 3;
    bare_add(&g, 1, A, 1);
    bare_add(&g, 2, B, t3_takes);
    bare_add(&g, u, G, 1);
    bare_after(&g, u, 1, 0);
    bare_add(&g, v, G, 5);
    bare_after(&g, v, 2, 0);
    bare_add(&g, 5, C, 7);
    bare_after(&g, 5, u, 0);
    return g;
}

static void ties_are_broken_by_structure(void)
{
    bare_graph later = tie(4, true), equal = tie(1, true);
    CHECK(goes_from_to(&later, 9, &equal, 9), "%s", err.text);
    bare_free(&later);
    bare_free(&equal);
    later = tie(4, false), equal = tie(1, false);
    CHECK(goes_from_to(&later, 9, &equal, 14), "%s", err.text);
    bare_free(&later);
    bare_free(&equal);
}

/* x (10) after p on 1; y (1) after q on 1; z (10) after y on 4. */
static bare_graph anomaly(ss_time p)
{
    bare_graph g = bare_new(4, 5);
    bare_add(&g, 1, 2, p);
    bare_add(&g, 2, 3, 2);
    bare_add(&g, 3, 1, 10);
    bare_after(&g, 3, 1, 0);
    bare_add(&g, 4, 1, 1);
    bare_after(&g, 4, 2, 0);
    bare_add(&g, 5, 4, 10);
    bare_after(&g, 5, 4, 0);
    return g;
}

static void a_shorter_task_may_make_the_step_longer(void)
{
    bare_graph longer = anomaly(3), shorter = anomaly(1);
    CHECK(goes_from_to(&longer, 13, &shorter, 22), "%s", err.text);
    bare_free(&longer);
    bare_free(&shorter);
}

/* ---- the worked example ------------------------------------------------------------------ */

/* FlexFlow (MLSys 2019), figure 4: three layers, two steps.  Embedding on device 1, recurrent on 2,
 * linear on 3; 4 is the link from 1 to 2, 5 that from 2 to 3.  Blocks in structural order: before
 * each operator's parts the messages into it. */
enum { O1 = 1, O2, INTO_O3, O3, INTO_O4, O4, INTO_O5, O5, INTO_O6, O6, FIGURE_BLOCKS = O6 };

static void add_parts(bare_graph *g, uint32_t block, uint32_t resource, uint32_t parts,
                      ss_time hold, uint32_t after)
{
    for (uint32_t k = 0; k < parts; k++) {
        bare_add(g, block, resource, hold);
        for (uint32_t i = 0; after && i < g->block[after].n; i++)
            if (parts == 1 || i == k)
                bare_after(g, block, after, i);
    }
}

static bare_graph figure(uint32_t parts_of_o3)
{
    bare_graph g = bare_new(5, FIGURE_BLOCKS);
    ss_time whole = parts_of_o3 == 1 ? 2 : 1; /* one part does the work of two */
    add_parts(&g, O1, 1, 2, 2, 0);
    add_parts(&g, O2, 1, 2, 2, 0);
    add_parts(&g, INTO_O3, 4, 2, 1, O1);
    add_parts(&g, O3, 2, parts_of_o3, whole, INTO_O3);
    add_parts(&g, INTO_O4, 4, 2, 1, O2);
    for (uint32_t k = 0; k < 2; k++) {
        bare_add(&g, O4, 2, 1);
        bare_after(&g, O4, INTO_O4, k);
        bare_after(&g, O4, O3, parts_of_o3 == 1 ? 0 : k); /* on one device: no transfer */
    }
    add_parts(&g, INTO_O5, 5, parts_of_o3, whole, O3);
    add_parts(&g, O5, 3, 1, 3, INTO_O5);
    add_parts(&g, INTO_O6, 5, 2, 1, O4);
    add_parts(&g, O6, 3, 1, 3, INTO_O6);
    return g;
}

static const ss_time before_ready[] = {0, 0, 0, 0, 0, 2, 4, 3, 5, 6, 8, 7, 9, 4, 6, 7, 8, 10, 11};
static const ss_time before_start[] = {0, 0, 2, 4, 6, 2, 4, 3, 5, 6, 8, 7, 9, 4, 6, 7, 8, 10, 11};
static const ss_time after_ready[] = {0, 0, 0, 0, 0, 2, 4, 5, 6, 8, 7, 9, 7, 9, 8, 10, 11};
static const ss_time after_start[] = {0, 0, 2, 4, 6, 2, 4, 5, 6, 8, 7, 9, 7, 9, 9, 10, 12};

static void the_worked_example_has_every_time_of_the_figure(void)
{
    bare_graph before = figure(2), after = figure(1);
    world w;
    uint32_t visited;
    CHECK(goes_from_to(&before, 14, &after, 15), "%s", err.text);
    CHECK(open_world(&w, &before) && held(&w) == 14, "%s", err.text);
    CHECK(w.found.n == 18 && !memcmp(w.found.ready, before_ready, sizeof before_ready) &&
              !memcmp(w.found.start, before_start, sizeof before_start),
          "before");
    CHECK(change(&w, &after, false, &visited) == 15, "%s", err.text);
    CHECK(w.found.n == 16 && !memcmp(w.found.ready, after_ready, sizeof after_ready) &&
              !memcmp(w.found.start, after_start, sizeof after_start),
          "after");
    /* The grey area of the figure: o3, its transfer, the first transfer of o4, o5 and o6; and both
     * parts of o4, which are looked at because they follow o3. */
    CHECK(visited >= 5 && visited <= 7, "%u visited", visited);
    close_world(&w);
    bare_free(&before);
    bare_free(&after);
}

int main(void)
{
    RUN(what_came_behind_a_task_that_moved_away_starts_earlier);
    RUN(tasks_that_change_places_are_both_moved);
    RUN(ties_are_broken_by_structure);
    RUN(a_shorter_task_may_make_the_step_longer);
    RUN(the_worked_example_has_every_time_of_the_figure);
    return DONE();
}
