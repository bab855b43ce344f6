#include "graph/link_law.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static const double most_bytes = 1e15, longest_latency_s = 1e6;

static ss_status check_steps(const ss_link_law *l, ss_error *err)
{
    for (uint32_t i = 0; i < l->steps; i++) {
        if (!(l->step[i].bytes >= 0 && l->step[i].bytes <= most_bytes))
            return ss_fail(err, SS_EINVAL, "latency step %u: %g bytes; it must be from 0 to %g",
                           i + 1, l->step[i].bytes, most_bytes);
        if (!(l->step[i].latency_s >= 0 && l->step[i].latency_s <= longest_latency_s))
            return ss_fail(err, SS_EINVAL, "latency step %u: %g seconds; it must be from 0 to %g",
                           i + 1, l->step[i].latency_s, longest_latency_s);
        if (i && l->step[i].bytes <= l->step[i - 1].bytes)
            return ss_fail(
                err, SS_EINVAL,
                "latency step %u is from %g bytes on and the one before it from %g; they "
                "must grow",
                i + 1, l->step[i].bytes, l->step[i - 1].bytes);
    }
    return SS_OK;
}

ss_status ss_link_law_check(const ss_link_law *l, ss_error *err)
{
    if (!(l->half_bytes >= 0 && l->half_bytes <= most_bytes))
        return ss_fail(err, SS_EINVAL, "the half size is %g bytes; it must be from 0 to %g",
                       l->half_bytes, most_bytes);
    if (l->half_bytes > 0 && l->curve.n)
        return ss_fail(err, SS_EINVAL,
                       "a half size and a measured curve both say what share of the bandwidth a "
                       "message gets: give one of the two");
    if (!(l->load >= 0 && l->load < 1))
        return ss_fail(err, SS_EINVAL,
                       "the load is %g of the bandwidth; it must be 0 or more and below 1",
                       l->load);
    return check_steps(l, err);
}

ss_status ss_link_law_copy(const ss_link_law *l, ss_link_law **out, ss_error *err)
{
    ss_link_law *copy = ss_alloc_zeroed(1, sizeof *copy);
    if (!copy)
        return ss_fail_memory(err, "the law of a link", sizeof *copy);
    copy->half_bytes = l->half_bytes;
    copy->load = l->load;
    ss_status s = SS_OK;
    if (l->curve.n)
        s = ss_efficiency_new(l->curve.bytes_per_s, l->curve.bytes, l->curve.share, l->curve.n,
                              &copy->curve, err);
    if (!s && l->steps) {
        copy->step = ss_alloc(l->steps * sizeof *copy->step);
        if (copy->step) {
            memcpy(copy->step, l->step, l->steps * sizeof *copy->step);
            copy->steps = l->steps;
        } else {
            s = ss_fail_memory(err, "the law of a link", l->steps * sizeof *copy->step);
        }
    }
    if (s)
        ss_link_law_free(copy);
    else
        *out = copy;
    return s;
}

void ss_link_law_free(ss_link_law *l)
{
    if (!l)
        return;
    ss_efficiency_free(&l->curve);
    ss_free(l->step);
    ss_free(l);
}

bool ss_link_law_is_none(const ss_link_law *l)
{
    return !l || (l->half_bytes == 0 && !l->curve.n && !l->steps && l->load == 0);
}

bool ss_link_law_same(const ss_link_law *a, const ss_link_law *b)
{
    return ss_link_law_hash(SS_HASH_START, a) == ss_link_law_hash(SS_HASH_START, b);
}

uint64_t ss_link_law_hash(uint64_t h, const ss_link_law *l)
{
    if (ss_link_law_is_none(l))
        return h;
    h = ss_hash_double(h, l->half_bytes);
    h = ss_hash_double(h, l->load);
    h = ss_hash_u64(h, l->curve.n);
    for (uint32_t i = 0; i < l->curve.n; i++)
        h = ss_hash_double(ss_hash_double(h, l->curve.bytes[i]), l->curve.share[i]);
    h = ss_hash_u64(h, l->steps);
    for (uint32_t i = 0; i < l->steps; i++)
        h = ss_hash_double(ss_hash_double(h, l->step[i].bytes), l->step[i].latency_s);
    return h;
}

double ss_link_law_seconds(const ss_link_law *l, double bytes_per_s, double bytes)
{
    if (!(bytes > 0))
        return 0;
    if (l && l->curve.n)
        return bytes / (bytes_per_s * ss_efficiency_at(&l->curve, bytes));
    return (bytes + (l ? l->half_bytes : 0)) / bytes_per_s;
}

double ss_link_law_share(const ss_link_law *l, double bytes)
{
    return l && bytes > 0 ? bytes / ss_link_law_seconds(l, 1, bytes) : 1;
}

double ss_link_law_latency(const ss_link_law *l, double latency_s, double bytes)
{
    for (uint32_t i = l ? l->steps : 0; i-- > 0;)
        if (bytes >= l->step[i].bytes)
            return l->step[i].latency_s;
    return latency_s;
}
