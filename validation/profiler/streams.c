/* streams.c - copies, sums, updates and messages, over a range of sizes. */
#include "config.h"

#include "validation/profiler/streams.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "io/measured.h"
#include "validation/executor/copies.h"

enum { ALIGNED = 64 };

/* One size of one of them. */
typedef struct bench {
    ss_stream what;
    int64_t words;
    void *block[3];
    float *to, *from, *and;
    double *sample;
    double *crowded; /* times as long as alone */
} bench;

static float *array(void **block, int64_t words)
{
    size_t bytes = (size_t)words * sizeof(float);
    char *at = *block = ss_alloc(bytes + ALIGNED);
    if (!at)
        return NULL;
    at += (ALIGNED - (uintptr_t)at % ALIGNED) % ALIGNED;
    for (int64_t i = 0; i < words; i++)
        ((float *)(void *)at)[i] = 1;
    return (float *)(void *)at;
}

static ss_status make(bench *b, const ss_streams_options *o, ss_arena *memory, ss_error *err)
{
    b->to = array(&b->block[0], b->words);
    b->from = array(&b->block[1], b->words);
    b->and = b->what == SS_STREAM_SUM ? array(&b->block[2], b->words) : b->from;
    b->sample = ss_arena_take(memory, (o->rounds + 1) * sizeof *b->sample);
    b->crowded = ss_arena_take(memory, (o->crowded + 1) * sizeof *b->crowded);
    return b->to && b->from && b->and &&b->sample && b->crowded
               ? SS_OK
               : ss_fail_memory(err, "what is measured", (size_t)b->words * 3 * sizeof(float));
}

/* While the other core streams it writes nothing for us. */
static double measure(const bench *b, ss_crowd *crowd, bool crowded)
{
    static const ss_copy_mode mode[SS_STREAMS] = {SS_COPY, SS_COPY_SUM, SS_COPY_STEP, SS_COPY};
    struct timespec from, to;
    ss_copy c = ss_copy_row(mode[b->what], b->to, b->from, b->and, b->words);
    c.rate = 1e-6f;
    /* in a step, weights that are updated were used not long before, and so were gradients that are added to */
    if (b->what == SS_STREAM_UPDATE || b->what == SS_STREAM_MESSAGE)
        ss_rewrite(b->to, (size_t)b->words * sizeof(float));
    if (b->what == SS_STREAM_MESSAGE && !crowded)
        ss_crowd_rewrite(crowd, b->from, (size_t)b->words * sizeof(float));
    else if (crowd && !crowded)
        ss_crowd_wake(crowd); /* as a core that computes */
    if (b->what != SS_STREAM_MESSAGE || crowded)
        ss_rewrite(b->from, (size_t)b->words * sizeof(float));
    if (b->what == SS_STREAM_SUM)
        ss_rewrite(b->and, (size_t)b->words * sizeof(float));
    clock_gettime(CLOCK_MONOTONIC, &from);
    ss_copy_do(&c);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    return fmax(seconds, 1e-9); /* what the clock does not see takes time all the same */
}

static ss_status all_rounds(bench *b, uint32_t n, const ss_streams_options *o, ss_crowd *crowd,
                            const ss_watch *w, ss_error *err)
{
    uint32_t crowded = crowd ? o->crowded : 0, plain = o->warm_up + o->rounds,
             all = plain + crowded;
    ss_status s = SS_OK;
    for (uint32_t r = 0; r < all && !s; r++) {
        s = ss_look_up(w, "measuring copies", r, all, err);
        for (uint32_t i = 0; i < n && !s; i++) {
            double alone = measure(&b[i], crowd, false);
            if (r < plain) {
                if (r >= o->warm_up)
                    b[i].sample[r - o->warm_up] = alone;
                continue;
            }
            /* at once, so that a machine that drifts is the same in both */
            ss_crowd_stream(crowd, true);
            b[i].crowded[r - plain] = measure(&b[i], crowd, true) / alone;
            ss_crowd_stream(crowd, false);
        }
    }
    return s;
}

/* What is slowed by a stream, against the largest copy: that is a stream itself. */
static ss_status take_results(const bench *b, uint32_t n, const ss_streams_options *o, bool crowded,
                              ss_stream_row *row, double *interference, ss_error *err)
{
    ss_status s = SS_OK;
    *interference = NAN;
    for (uint32_t i = 0; i < n && !s; i++) {
        ss_statistics beside;
        row[i] = (ss_stream_row){
            .what = b[i].what, .bytes = b[i].words * (int64_t)sizeof(float), .sample = b[i].sample};
        s = ss_statistics_of(b[i].sample, o->rounds, &row[i].s, err);
        if (s || !crowded)
            continue;
        s = ss_statistics_of(b[i].crowded, o->crowded, &beside, err);
        row[i].bound = s ? 0 : beside.median - 1;
        if (!s && b[i].what == SS_STREAM_COPY) /* by size: the last is the largest */
            *interference = fmax(row[i].bound, 0);
    }
    for (uint32_t i = 0; i < n && !s && crowded; i++) {
        row[i].has_bound = true;
        row[i].bound = *interference > 0 ? fmin(1, fmax(0, row[i].bound / *interference)) : 0;
    }
    return s;
}

ss_status ss_streams_measure(const ss_streams_options *o, ss_crowd *crowd, const ss_watch *w,
                             ss_arena *memory, ss_stream_row **row, uint32_t *rows,
                             double *interference, ss_error *err)
{
    uint32_t sizes = 0, n = 0;
    if (!o->rounds || (crowd && !o->crowded) || o->least < (int64_t)sizeof(float) ||
        o->most < o->least)
        return ss_fail(err, SS_EINVAL,
                       "%u rounds, %u crowded, of %lld to %lld bytes measure nothing", o->rounds,
                       o->crowded, (long long)o->least, (long long)o->most);
    for (int64_t x = o->least; x <= o->most; x *= 2)
        sizes++;
    bench *b = ss_alloc_zeroed((size_t)sizes * SS_STREAMS, sizeof *b);
    ss_stream_row *out = ss_arena_take(memory, (size_t)sizes * SS_STREAMS * sizeof *out);
    ss_status s = b && out ? SS_OK : ss_fail_memory(err, "what is measured", sizes * sizeof *b);
    for (int what = 0; what < SS_STREAMS && !s; what++)
        for (int64_t x = o->least; x <= o->most && !s && (crowd || what != SS_STREAM_MESSAGE);
             x *= 2) {
            b[n] = (bench){.what = (ss_stream)what, .words = x / (int64_t)sizeof(float)};
            s = make(&b[n++], o, memory, err);
        }
    if (!s)
        s = all_rounds(b, n, o, crowd, w, err);
    if (!s)
        s = take_results(b, n, o, crowd != NULL, out, interference, err);
    for (uint32_t i = 0; b && i < n; i++)
        for (int k = 0; k < 3; k++)
            ss_free(b[i].block[k]);
    ss_free(b);
    *row = s ? NULL : out;
    *rows = s ? 0 : n;
    return s;
}
