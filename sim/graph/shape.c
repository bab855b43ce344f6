#include "graph/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *name;
    int64_t bytes;
} dtypes[SS_DTYPES] = {
    [SS_F64] = {"f64", 8},   [SS_F32] = {"f32", 4}, [SS_TF32] = {"tf32", 4},
    [SS_BF16] = {"bf16", 2}, [SS_F16] = {"f16", 2}, [SS_F8] = {"f8", 1},
    [SS_I64] = {"i64", 8},   [SS_I32] = {"i32", 4}, [SS_I8] = {"i8", 1},
};

/* Above it a sum of two sizes might not fit in 63 bits. */
static const int64_t most_bytes = INT64_C(1) << 62;

int64_t ss_dtype_bytes(ss_dtype t)
{
    return dtypes[t].bytes;
}

const char *ss_dtype_name(ss_dtype t)
{
    return dtypes[t].name;
}

ss_status ss_dtype_parse(const char *text, ss_dtype *out, ss_error *err)
{
    const char *name[SS_DTYPES];
    for (uint32_t i = 0; i < SS_DTYPES; i++) {
        name[i] = dtypes[i].name;
        if (!strcmp(text, name[i])) {
            *out = (ss_dtype)i;
            return SS_OK;
        }
    }
    const char *near = ss_nearest(text, name, SS_DTYPES);
    if (near)
        return ss_fail(err, SS_EINVAL, "unknown element type \"%s\": did you mean \"%s\"?", text,
                       near);
    return ss_fail(err, SS_EINVAL,
                   "unknown element type \"%s\": f64, f32, tf32, bf16, f16, f8, i64, i32 and i8 "
                   "are known",
                   text);
}

ss_status ss_shape_check(const ss_shape *s, const char *what, ss_error *err)
{
    if (s->rank < 1 || s->rank > SS_MAX_DIMS)
        return ss_fail(err, SS_EINVAL, "%s has %u dimensions: 1 to %d are possible", what, s->rank,
                       SS_MAX_DIMS);
    int64_t room = most_bytes / ss_dtype_bytes(s->dtype);
    char text[SS_SHAPE_TEXT];
    for (uint32_t d = 0; d < s->rank; d++) {
        if (s->extent[d] < 1)
            return ss_fail(err, SS_EINVAL, "%s would be %s: dimension %u has no elements", what,
                           ss_shape_text(s, text, sizeof text), d + 1);
        if (s->extent[d] > room)
            return ss_fail(err, SS_ERANGE, "%s would be %s: more than 2^62 bytes", what,
                           ss_shape_text(s, text, sizeof text));
        room /= s->extent[d];
    }
    return SS_OK;
}

int64_t ss_shape_elements(const ss_shape *s)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < s->rank; d++)
        n *= s->extent[d];
    return n;
}

int64_t ss_shape_bytes(const ss_shape *s)
{
    return ss_shape_elements(s) * ss_dtype_bytes(s->dtype);
}

bool ss_shape_same(const ss_shape *a, const ss_shape *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->extent[d] != b->extent[d])
            return false;
    return true;
}

char *ss_shape_text(const ss_shape *s, char *buffer, size_t n)
{
    size_t used = 0;
    if (n)
        buffer[0] = 0;
    for (uint32_t d = 0; d < s->rank && d < SS_MAX_DIMS && used < n; d++) {
        int wrote =
            snprintf(buffer + used, n - used, d ? "x%lld" : "%lld", (long long)s->extent[d]);
        if (wrote < 0)
            break;
        used += (size_t)wrote;
    }
    return buffer;
}

int64_t ss_box_elements(const ss_box *b)
{
    if (ss_box_empty(b))
        return 0;
    int64_t n = 1;
    for (uint32_t d = 0; d < b->rank; d++)
        n *= b->hi[d] - b->lo[d];
    return n;
}

bool ss_box_intersect(const ss_box *a, const ss_box *b, ss_box *out)
{
    ss_box x = {.rank = a->rank};
    for (uint32_t d = 0; d < a->rank; d++) {
        x.lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        x.hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        if (x.lo[d] >= x.hi[d])
            return false;
    }
    *out = x;
    return true;
}

bool ss_box_same(const ss_box *a, const ss_box *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])
            return false;
    return true;
}

static int64_t grains(int64_t extent, int64_t grain)
{
    return extent / grain + (extent % grain != 0);
}

static int64_t part_start(int64_t units, int64_t degree, int64_t k)
{
    int64_t longer = units % degree;
    return k * (units / degree) + (k < longer ? k : longer);
}

void ss_part_range(int64_t extent, int64_t grain, uint32_t degree, uint32_t k, int64_t *lo,
                   int64_t *hi)
{
    int64_t units = grains(extent, grain);
    *lo = part_start(units, degree, k) * grain;
    *hi = part_start(units, degree, (int64_t)k + 1) * grain;
    if (*lo > extent)
        *lo = extent;
    if (*hi > extent)
        *hi = extent;
}

void ss_part_ranges(int64_t extent, int64_t grain, uint32_t degree, int64_t *lo, int64_t *hi)
{
    int64_t units = grains(extent, grain), each = units / degree, longer = units % degree;
    int64_t at = 0;
    for (uint32_t k = 0; k < degree; k++) {
        lo[k] = at;
        at += (each + (k < longer)) * grain;
        at = at < extent ? at : extent; /* the last grain may be cut short */
        hi[k] = at;
    }
}
