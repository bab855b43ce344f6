/* How often delta simulation as printed is wrong, and ours: random operator graphs, one operator's
 * configuration changed, against simulating all.
 *
 * Operators with 1 to 3 inputs among the earlier ones, cut into 1, 2 or 4 parts along the batch, each
 * on a random device; a message for each pair of parts that share a piece and not a device, on the
 * link between the two; times of 1 to 20.
 *
 * prop_published_delta [CHANGES [SEED]]: that many in each row of the table */
#include "bare_live.h"
#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "reference/delta_published.h"
#include "simulate/delta.h"

static ss_error err;
static ss_rng rng;
static uint64_t seed;

enum { MOST_OPS = 80, MOST_INPUTS = 3, MOST_PARTS = 4 };

static uint32_t draw(uint32_t from, uint32_t to)
{
    return from + (uint32_t)ss_rng_below(&rng, to - from + 1);
}

typedef struct op {
    uint32_t inputs, input[MOST_INPUTS];
    uint32_t parts, device[MOST_PARTS];
} op;

typedef struct network {
    uint32_t ops, devices;
    ss_time longest;
    uint64_t salt;
    op op[MOST_OPS + 1];
} network;

static void configure(const network *x, op *o)
{
    o->parts = 1u << draw(0, 2);
    for (uint32_t p = 0; p < o->parts; p++)
        o->device[p] = draw(1, x->devices);
}

static void random_network(network *x, uint32_t ops, uint32_t devices, ss_time longest)
{
    *x = (network){.ops = ops, .devices = devices, .longest = longest, .salt = draw(0, 1u << 30)};
    for (uint32_t i = 1; i <= ops; i++) {
        op *o = &x->op[i];
        uint32_t wanted = draw(1, MOST_INPUTS);
        while (i > 1 && o->inputs < wanted && o->inputs < i - 1) {
            uint32_t input = draw(1, i - 1);
            bool twice = false;
            for (uint32_t k = 0; k < o->inputs; k++)
                twice |= o->input[k] == input;
            if (!twice)
                o->input[o->inputs++] = input;
        }
        configure(x, o);
    }
}

/* Of what a task is, not of when it was made. */
static ss_time takes(const network *x, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint64_t h = ss_hash_u64(ss_hash_u64(SS_HASH_START, x->salt), (uint64_t)a << 32 | b);
    h = ss_hash_u64(h, (uint64_t)c << 32 | d);
    return 1 + (ss_time)(h % (uint64_t)x->longest);
}

/* Blocks of an operator: its inputs' messages, then its parts. */
static uint32_t block_of(uint32_t i, uint32_t input)
{
    return (i - 1) * (MOST_INPUTS + 1) + input + 1;
}

static bool share_a_piece(const op *a, uint32_t p, const op *b, uint32_t q)
{
    return p * b->parts < (q + 1) * a->parts && q * a->parts < (p + 1) * b->parts;
}

static void add_inputs(const network *x, bare_graph *g, uint32_t i, uint32_t q)
{
    const op *o = &x->op[i];
    for (uint32_t k = 0; k < o->inputs; k++) {
        const op *from = &x->op[o->input[k]];
        for (uint32_t p = 0; p < from->parts; p++) {
            uint32_t a = from->device[p], b = o->device[q], messages = block_of(i, k);
            if (!share_a_piece(from, p, o, q))
                continue;
            if (a == b) {
                bare_after(g, block_of(i, MOST_INPUTS), block_of(o->input[k], MOST_INPUTS), p);
                continue;
            }
            ss_time time = takes(x, i * 4 + k, from->parts * 4 + p, o->parts * 4 + q, a * 64 + b);
            bare_add(g, messages, x->devices * a + b, time);
            bare_after(g, messages, block_of(o->input[k], MOST_INPUTS), p);
            bare_after(g, block_of(i, MOST_INPUTS), messages, g->block[messages].n - 1);
        }
    }
}

static bare_graph lower(const network *x)
{
    bare_graph g = bare_new(x->devices * (x->devices + 1), block_of(x->ops, MOST_INPUTS));
    for (uint32_t i = 1; i <= x->ops; i++)
        for (uint32_t q = 0; q < x->op[i].parts; q++) {
            uint32_t device = x->op[i].device[q], parts = x->op[i].parts;
            bare_add(&g, block_of(i, MOST_INPUTS), device, takes(x, i * 4 + 3, parts, q, device));
            add_inputs(x, &g, i, q);
        }
    return g;
}

/* ---- a row of the table ------------------------------------------------------------------ */

enum { OURS = PUBLISHED_READINGS };

typedef struct tally {
    uint32_t changes;
    uint32_t wrong_timeline[OURS + 1], wrong_makespan[OURS + 1]; /* by reading, and ours */
    uint64_t tasks, moved, visited;
} tally;

typedef struct world {
    bare_live live;
    ss_delta *delta;
    ss_engine *engine;
    ss_tasks tasks;
    ss_timeline old, full, found;
} world;

/* By slot, what the engine found for the graph that `live` has. */
static published_times *by_slot(const ss_live *l, const ss_timeline *t)
{
    published_times *times = bare_room(l->pool->n + (size_t)1, sizeof *times);
    uint32_t id = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            id++;
            times[i] = (published_times){t->ready[id], t->start[id], t->end[id]};
        }
    return times;
}

static void count_published(world *w, published_reading reading, const published_times *old,
                            const published_times *right, tally *t)
{
    const ss_live *l = &w->live.live;
    size_t slots = l->pool->n + (size_t)1;
    published_times *times = bare_copied(old, slots, slots, sizeof *times);
    t->wrong_makespan[reading] += delta_published(l, reading, times) != w->full.makespan;
    bool wrong = false;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            wrong |= times[i].ready != right[i].ready || times[i].start != right[i].start ||
                     times[i].end != right[i].end;
    t->wrong_timeline[reading] += wrong;
    free(times);
}

static void count_ours(world *w, const published_times *right, tally *t)
{
    const ss_live *l = &w->live.live;
    ss_deltaed r;
    bare_must(ss_delta_change(w->delta, l, SS_TIME_MAX, SS_DELTA_NO_LIMIT, &r, &err), &err);
    bare_must(ss_delta_timeline(w->delta, l, true, &w->found, &err), &err);
    t->visited += r.visited;
    t->moved += ss_delta_changed(w->delta, l);
    t->wrong_makespan[OURS] += r.makespan != w->full.makespan;
    published_times *times = by_slot(l, &w->found);
    t->wrong_timeline[OURS] += memcmp(times, right, (l->pool->n + (size_t)1) * sizeof *times) != 0;
    free(times);
}

static void simulate(world *w, const bare_graph *g, ss_timeline *out)
{
    bare_to_tasks(g, &w->tasks);
    bare_must(ss_engine_run(w->engine, &w->tasks, out, &err), &err);
}

/* One operator of a random graph changed. */
static void count_one(uint32_t ops, uint32_t devices, ss_time longest, tally *t)
{
    network x;
    world w = {0};
    ss_deltaed r;
    random_network(&x, ops, devices, longest);
    bare_graph before = lower(&x);
    configure(&x, &x.op[draw(1, ops)]);
    bare_graph after = lower(&x);
    bare_must(ss_engine_new(&w.engine, &err), &err);
    bare_must(ss_delta_new(false, &w.delta, &err), &err);
    simulate(&w, &before, &w.old);
    simulate(&w, &after, &w.full);
    bare_open(&w.live, &before);
    bare_must(ss_delta_whole(w.delta, &w.live.live, SS_TIME_MAX, &r, &err), &err);
    ss_delta_keep(w.delta, &w.live.live);
    published_times *held = by_slot(&w.live.live, &w.old);
    size_t had = w.live.pool.n + (size_t)1;
    bare_change(&w.live, &after);
    published_times *old = bare_copied(held, had, w.live.pool.n + (size_t)1, sizeof *old);
    published_times *right = by_slot(&w.live.live, &w.full);
    for (int reading = 0; reading < PUBLISHED_READINGS; reading++)
        count_published(&w, (published_reading)reading, old, right, t);
    count_ours(&w, right, t);
    t->changes++;
    t->tasks += w.live.live.n;
    bare_undo(&w.live);
    bare_close(&w.live);
    bare_free(&before);
    bare_free(&after);
    free(held);
    free(old);
    free(right);
    ss_delta_free(w.delta);
    ss_engine_free(w.engine);
    ss_tasks_free(&w.tasks);
    ss_timeline_free(&w.old);
    ss_timeline_free(&w.full);
    ss_timeline_free(&w.found);
}

static uint32_t changes;

static void print_row(const tally *t)
{
    double n = changes / 100.0;
    for (int k = 0; k <= OURS; k++)
        printf("  %4.1f / %4.1f", t->wrong_timeline[k] / n, t->wrong_makespan[k] / n);
    printf("  %6.1f %6.1f %7.1f\n", (double)t->tasks / changes, (double)t->moved / changes,
           (double)t->visited / changes);
}

static void the_printed_algorithm_errs_and_ours_does_not(void)
{
    static const struct {
        uint32_t ops, devices;
        ss_time longest;
    } row[] = {{8, 3, 20}, {20, 4, 20}, {30, 6, 20}, {40, 4, 20}, {80, 8, 20}, {20, 4, 2}};
    printf(
        "  wrong timelines / wrong makespans in percent of %u changes; tasks, those whose times\n"
        "  change, and those that ours visits\n"
        "  ops devices times  to the letter  kindest      repaired     ours          tasks"
        "  moved visited\n",
        changes);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        tally t = {0};
        while (t.changes < changes)
            count_one(row[k].ops, row[k].devices, row[k].longest, &t);
        printf("  %3u %7u  1-%-2d", row[k].ops, row[k].devices, (int)row[k].longest);
        print_row(&t);
        CHECK(t.wrong_timeline[OURS] == 0 && t.wrong_makespan[OURS] == 0, "ours: %u of %u",
              t.wrong_timeline[OURS], t.changes);
        CHECK(t.wrong_timeline[PUBLISHED_LETTER] && t.wrong_timeline[PUBLISHED_KINDEST],
              "never wrong");
    }
}

int main(int argc, char **argv)
{
    changes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 60;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("  seed %llu\n", (unsigned long long)seed);
    bare_must(ss_rng_open(&rng, seed, "published delta", &err), &err);
    RUN(the_printed_algorithm_errs_and_ours_does_not);
    ss_rng_close(&rng);
    return DONE();
}
