/* streams.c - copies, sums, updates and messages, over a range of sizes. */
#include "config.h"

#include "validation/profiler/streams.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "io/measured.h"
#include "validation/executor/copies.h"

/* A step touches each of its arrays a few times, and many others in between; one array that is used in each round would
 * be easier to reach (pages of it are still known to the core: a copy of 32 KiB takes 1.3 us instead of 3 on one
 * machine).  So each size has several places that take turns, as far as they are small. */
enum { ALIGNED = 64, PLACES = 16, PLACES_BYTES = 1 << 22 };

/* The arrays of one size of one of them, on one side: ours, or the other core's. */
typedef struct place {
    float *to, *from, *and;
} place;

/* All sizes of one of them. */
typedef struct group {
    ss_stream what;
    uint32_t sizes;
    int64_t least;     /* words of the first; each is twice the one before */
    float *side[2][3]; /* to, from, and; all groups have the same */
    double *sample;    /* [sizes][rounds] */
    double *crowded;   /* [sizes][crowded] times as long as alone */
    double *took;      /* [2][sizes] in the round under way */
} group;

typedef struct streams {
    const ss_streams_options *o;
    ss_crowd *crowd;
    char *between[2]; /* one for each side */
    void *block[6];   /* of the arrays of both sides */
    ss_meeting meeting;
} streams;

/* What one side does in a round. */
typedef struct turn {
    streams *s;
    const group *g;
    int side;
    bool alone;
    uint32_t round;
} turn;

static int64_t words_of(const group *g, uint32_t size)
{
    return g->least << size;
}

/* ---- memory -------------------------------------------------------------------------------- */

static uint32_t places_of(const group *g, uint32_t size)
{
    int64_t fit = PLACES_BYTES / (words_of(g, size) * (int64_t)sizeof(float));
    return fit < 1 ? 1 : fit < PLACES ? (uint32_t)fit : PLACES;
}

/* Each begins on a line of its own. */
static int64_t apart(const group *g, uint32_t size)
{
    int64_t line = ALIGNED / (int64_t)sizeof(float);
    return (words_of(g, size) + line - 1) / line * line;
}

/* Words before the places of a size, in a block of all sizes. */
static int64_t words_before(const group *g, uint32_t size)
{
    int64_t words = 0;
    for (uint32_t i = 0; i < size; i++)
        words += apart(g, i) * places_of(g, i);
    return words;
}

static place place_of(const group *g, int side, uint32_t size, uint32_t round)
{
    uint32_t n = round * SS_STREAMS + g->what; /* groups have the same places */
    int64_t at = words_before(g, size) + apart(g, size) * (n % places_of(g, size));
    float *const *x = g->side[side];
    return (place){x[0] + at, x[1] + at, x[2] ? x[2] + at : x[1] + at};
}

static float *block_of(const group *g, void **block)
{
    size_t bytes = (size_t)words_before(g, g->sizes) * sizeof(float) + ALIGNED;
    char *at = *block = ss_alloc(bytes);
    if (!at)
        return NULL;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)(void *)at)[i] = 1;
    return (float *)(void *)(at + (ALIGNED - (uintptr_t)at % ALIGNED) % ALIGNED);
}

/* The arrays of the first group, which serve the others too: one group is measured at a time. */
static ss_status make_arrays(streams *s, group *g, uint32_t groups, ss_error *err)
{
    int arrays = groups > SS_STREAM_SUM ? 3 : 2;
    for (int side = 0; side < (s->crowd ? 2 : 1); side++)
        for (int k = 0; k < arrays; k++) {
            float *at = block_of(g, &s->block[3 * side + k]);
            if (!at)
                return ss_fail_memory(err, "what is measured",
                                      (size_t)words_before(g, g->sizes) * sizeof(float));
            for (uint32_t i = 0; i < groups; i++)
                g[i].side[side][k] = k < 2 || g[i].what == SS_STREAM_SUM ? at : NULL;
        }
    return SS_OK;
}

static ss_status make_group(group *g, const ss_streams_options *o, ss_arena *memory, ss_error *err)
{
    g->sample = ss_arena_take(memory, (size_t)g->sizes * (o->rounds + 1) * sizeof *g->sample);
    g->crowded = ss_alloc_zeroed((size_t)g->sizes * (o->crowded + 1), sizeof *g->crowded);
    g->took = ss_alloc_zeroed((size_t)g->sizes * 2, sizeof *g->took);
    return g->sample && g->crowded && g->took ? SS_OK : ss_fail_memory(err, "what is measured", 0);
}

static void free_group(group *g)
{
    ss_free(g->crowded);
    ss_free(g->took);
}

static void free_arrays(streams *s)
{
    for (int k = 0; k < 6; k++)
        ss_free(s->block[k]);
    ss_free(s->between[0]);
    ss_free(s->between[1]);
}

/* ---- one round of a group ------------------------------------------------------------------- */

/* In a step, what is written lay there from the step before, or from the forward pass. */
static void prepare(const turn *t)
{
    for (uint32_t i = 0; i < t->g->sizes; i++)
        ss_rewrite(place_of(t->g, t->side, i, t->round).to, (size_t)words_of(t->g, i) * sizeof(float));
}

static void rewrite_sources(const turn *t, uint32_t i)
{
    place at = place_of(t->g, t->side, i, t->round);
    ss_rewrite(at.from, (size_t)words_of(t->g, i) * sizeof(float));
    if (at.and != at.from)
        ss_rewrite(at.and, (size_t)words_of(t->g, i) * sizeof(float));
}

/* The largest first, so that the caches of who writes them hold the small ones. */
static void rewrite_all(void *context)
{
    const turn *t = context;
    for (uint32_t i = t->g->sizes; i-- > 0;)
        rewrite_sources(t, i);
}

static void fill_caches(const turn *t)
{
    char *between = t->s->between[t->side];
    if (between)
        memset(between, ++between[0], t->s->o->between_bytes);
}

static double time_of(const ss_copy *c)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    ss_copy_do(c);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    return fmax(seconds, 1e-9); /* what the clock does not see takes time all the same */
}

static void take_turn(const turn *t)
{
    static const ss_copy_mode mode[SS_STREAMS] = {SS_COPY, SS_COPY_SUM, SS_COPY_STEP, SS_COPY};
    const group *g = t->g;
    bool message = g->what == SS_STREAM_MESSAGE;
    int writer = message && !t->alone ? !t->side : t->side;
    float word[2] = {0};
    ss_copy first = ss_copy_row(mode[g->what], word, word + 1, word + 1, 1);
    for (uint32_t i = 0; i < g->sizes; i++) {
        place at = place_of(g, t->side, i, t->round), written = place_of(g, writer, i, t->round);
        ss_copy c = ss_copy_row(mode[g->what], at.to, written.from, at.and, words_of(g, i));
        first.rate = c.rate = 1e-6f;
        if (!message)
            rewrite_sources(t, i);
        if (!t->alone)
            ss_meet(&t->s->meeting);
        ss_copy_do(&first); /* the code is at hand */
        g->took[(size_t)t->side * g->sizes + i] = time_of(&c);
    }
}

static void companion(void *context)
{
    const turn *t = context;
    prepare(t);
    if (t->g->what == SS_STREAM_MESSAGE)
        rewrite_all(context);
    fill_caches(t);
    take_turn(t);
}

static void do_alone(streams *s, const group *g, uint32_t round)
{
    turn t = {s, g, 0, true, round};
    prepare(&t);
    if (g->what == SS_STREAM_MESSAGE) {
        ss_crowd_begin(s->crowd, rewrite_all, &t);
        ss_crowd_finish(s->crowd);
    } else if (s->crowd) {
        ss_crowd_wake(s->crowd); /* as a core that computes */
    }
    fill_caches(&t);
    take_turn(&t);
}

static void do_together(streams *s, const group *g, uint32_t round)
{
    turn ours = {s, g, 0, false, round}, theirs = {s, g, 1, false, round};
    ss_crowd_begin(s->crowd, companion, &theirs);
    companion(&ours);
    ss_crowd_finish(s->crowd);
}

static ss_status all_rounds(streams *s, group *g, uint32_t groups, const ss_watch *w, ss_error *err)
{
    const ss_streams_options *o = s->o;
    uint32_t plain = o->warm_up + o->rounds, all = plain + (s->crowd ? o->crowded : 0);
    ss_status status = SS_OK;
    for (uint32_t r = 0; r < all && !status; r++) {
        status = ss_look_up(w, "measuring copies", r, all, err);
        for (uint32_t k = 0; k < groups && !status; k++) {
            do_alone(s, &g[k], r);
            for (uint32_t i = 0; i < g[k].sizes && r >= o->warm_up && r < plain; i++)
                g[k].sample[(size_t)i * o->rounds + r - o->warm_up] = g[k].took[i];
            if (r < plain)
                continue;
            for (uint32_t i = 0; i < g[k].sizes; i++)
                g[k].crowded[(size_t)i * o->crowded + r - plain] = 1 / g[k].took[i];
            do_together(s, &g[k], r); /* at once, so that a machine that drifts is the same in both */
            for (uint32_t i = 0; i < g[k].sizes; i++)
                g[k].crowded[(size_t)i * o->crowded + r - plain] *= g[k].took[i];
        }
    }
    return status;
}

/* ---- results ------------------------------------------------------------------------------- */

double ss_bound_of(double times_as_long, double interference)
{
    return interference > 0 && times_as_long > 1 ? fmin(1, sqrt((times_as_long - 1) / interference)) : 0;
}

/* A copy of what no cache holds: a group of one size. */
static ss_status measure_interference(const streams *s, double *interference, ss_error *err)
{
    ss_streams_options o = *s->o;
    streams plain = {.o = &o, .crowd = s->crowd};
    group g = {.what = SS_STREAM_COPY, .sizes = 1, .least = (int64_t)(ss_beyond_caches() / 4 / sizeof(float))};
    ss_statistics beside;
    ss_arena memory = {0};
    o.rounds = o.warm_up = 0;
    o.between_bytes = 0;
    ss_status status = make_group(&g, &o, &memory, err);
    if (!status)
        status = make_arrays(&plain, &g, 1, err);
    if (!status)
        status = all_rounds(&plain, &g, 1, NULL, err);
    if (!status)
        status = ss_statistics_of(g.crowded, o.crowded, &beside, err);
    if (!status)
        *interference = fmax(beside.median - 1, 0);
    free_group(&g);
    free_arrays(&plain);
    ss_arena_free(&memory);
    return status;
}

static ss_status take_results(const streams *s, const group *g, double interference, ss_stream_row *row,
                              ss_error *err)
{
    const ss_streams_options *o = s->o;
    ss_status status = SS_OK;
    for (uint32_t i = 0; i < g->sizes && !status; i++) {
        ss_statistics beside;
        row[i] = (ss_stream_row){.what = g->what,
                                 .bytes = words_of(g, i) * (int64_t)sizeof(float),
                                 .sample = g->sample + (size_t)i * o->rounds};
        status = ss_statistics_of(row[i].sample, o->rounds, &row[i].s, err);
        if (status || !s->crowd)
            continue;
        status = ss_statistics_of(g->crowded + (size_t)i * o->crowded, o->crowded, &beside, err);
        row[i].has_bound = true;
        row[i].bound = status ? 0 : ss_bound_of(beside.median, interference);
    }
    return status;
}

static ss_status make_between(streams *s, ss_error *err)
{
    size_t bytes = s->o->between_bytes;
    for (int k = 0; k < (s->crowd ? 2 : 1) && bytes; k++)
        if (!(s->between[k] = ss_alloc_zeroed(bytes, 1)))
            return ss_fail_memory(err, "what fills caches", bytes);
    return SS_OK;
}

ss_status ss_streams_measure(const ss_streams_options *o, ss_crowd *crowd, const ss_watch *w,
                             ss_arena *memory, ss_stream_row **row, uint32_t *rows,
                             double *interference, ss_error *err)
{
    group g[SS_STREAMS] = {0};
    uint32_t sizes = 0, groups = crowd ? SS_STREAMS : SS_STREAM_MESSAGE;
    streams s = {.o = o, .crowd = crowd};
    if (!o->rounds || (crowd && !o->crowded) || o->least < (int64_t)sizeof(float) ||
        o->most < o->least)
        return ss_fail(err, SS_EINVAL,
                       "%u rounds, %u crowded, of %lld to %lld bytes measure nothing", o->rounds,
                       o->crowded, (long long)o->least, (long long)o->most);
    for (int64_t x = o->least; x <= o->most; x *= 2)
        sizes++;
    ss_stream_row *out = ss_arena_take(memory, (size_t)sizes * groups * sizeof *out);
    ss_status status = out ? make_between(&s, err) : ss_fail_memory(err, "what is measured", 0);
    for (uint32_t k = 0; k < groups && !status; k++) {
        g[k] = (group){.what = (ss_stream)k, .sizes = sizes, .least = o->least / (int64_t)sizeof(float)};
        status = make_group(&g[k], o, memory, err);
    }
    if (!status)
        status = make_arrays(&s, g, groups, err);
    *interference = NAN;
    if (!status && crowd)
        status = measure_interference(&s, interference, err);
    if (!status)
        status = all_rounds(&s, g, groups, w, err);
    for (uint32_t k = 0; k < groups && !status; k++)
        status = take_results(&s, &g[k], *interference, out + (size_t)k * sizes, err);
    for (uint32_t k = 0; k < groups; k++)
        free_group(&g[k]);
    free_arrays(&s);
    *row = status ? NULL : out;
    *rows = status ? 0 : sizes * groups;
    return status;
}
