/* How long copies, sums, updates and messages take on a kind of device, by size: what a measured table knows beside
 * operators.
 */
#include <math.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "simulate/cost_sources.h"

typedef struct stream_row {
    uint32_t device; /* in `devices` */
    ss_stream what;
    double bytes, seconds, bound;
    bool has_bound;
} stream_row;

struct ss_cost_streams {
    ss_names devices;   /* kinds */
    stream_row *stream; /* by device, stream and bytes */
    uint32_t streams, stream_cap;
};

ss_status ss_cost_streams_new(ss_cost_streams **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "measured times", sizeof **out);
}

void ss_cost_streams_free(ss_cost_streams *t)
{
    if (!t)
        return;
    ss_names_free(&t->devices);
    ss_free(t->stream);
    ss_free(t);
}

static ss_status refuse_stream(const ss_measured_stream *row, ss_error *err)
{
    if ((unsigned)row->what >= SS_STREAMS)
        return ss_fail(err, SS_EINVAL, "stream %d does not exist", (int)row->what);
    if (!(row->bytes > 0 && isfinite(row->bytes)) || !(row->seconds > 0 && isfinite(row->seconds)))
        return ss_fail(err, SS_EINVAL, "%s of %g bytes took %g seconds", ss_stream_name(row->what),
                       row->bytes, row->seconds);
    if (row->has_bound && !(row->bound >= 0 && row->bound <= 1))
        return ss_fail(err, SS_EINVAL,
                       "%s of %g bytes waits for memory %g of its time; it must be from 0 to 1",
                       ss_stream_name(row->what), row->bytes, row->bound);
    if (!row->device_kind || !*row->device_kind)
        return ss_fail(err, SS_EINVAL, "the device kind is missing");
    return SS_OK;
}

static bool stream_goes_before(const stream_row *a, const stream_row *b)
{
    if (a->device != b->device)
        return a->device < b->device;
    if (a->what != b->what)
        return a->what < b->what;
    return a->bytes < b->bytes;
}

ss_status ss_cost_streams_add(ss_cost_streams *t, const ss_measured_stream *row, ss_error *err)
{
    stream_row x = {.what = row->what,
                    .bytes = row->bytes,
                    .seconds = row->seconds,
                    .bound = row->has_bound ? row->bound : 1,
                    .has_bound = row->has_bound};
    ss_status s = refuse_stream(row, err);
    if (!s)
        s = ss_names_add(&t->devices, row->device_kind, &x.device, err);
    if (!s)
        s = SS_RESERVE(t->stream, t->stream_cap, (size_t)t->streams + 1, "measured times", err);
    if (s)
        return s;
    uint32_t i = t->streams++;
    for (; i && stream_goes_before(&x, &t->stream[i - 1]); i--)
        t->stream[i] = t->stream[i - 1];
    t->stream[i] = x;
    return SS_OK;
}

bool ss_cost_streams_ask(const ss_cost_streams *t, const char *device_kind, ss_stream what,
                         double bytes, double *seconds, double *bound)
{
    uint32_t device = ss_names_find(&t->devices, device_kind);
    const stream_row *below = NULL, *above = NULL;
    for (uint32_t i = 0; i < t->streams && device; i++) {
        const stream_row *x = &t->stream[i];
        if (x->device != device || x->what != what)
            continue;
        if (x->bytes <= bytes)
            below = x;
        else if (!above)
            above = x;
    }
    if (!below && !above)
        return false;
    *bound = below && above ? (below->bound + above->bound) / 2
             : below        ? below->bound
                            : above->bound;
    if (!below) {
        *seconds = above->seconds;
    } else if (!above) {
        *seconds = below->seconds * (bytes / below->bytes);
    } else {
        double x[2] = {below->bytes, above->bytes}, y[2] = {below->seconds, above->seconds};
        *seconds = ss_cost_between(x, y, bytes);
    }
    return true;
}

uint64_t ss_cost_streams_hash(const ss_cost_streams *t, uint64_t h)
{
    for (uint32_t i = 0; t && i < t->streams; i++) {
        const stream_row *x = &t->stream[i];
        h = ss_hash_text(h, ss_names_text(&t->devices, x->device));
        h = ss_hash_u64(h, x->what);
        h = ss_hash_double(h, x->bytes);
        h = ss_hash_double(h, x->seconds);
        h = ss_hash_double(h, x->has_bound ? x->bound : -1);
    }
    return h;
}
