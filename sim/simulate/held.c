#include "simulate/held.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

/* A hold begins or ends. */
typedef struct ss_held_edge {
    ss_time at;
    int64_t bytes; /* negative: given back */
    uint32_t device;
    uint32_t what; /* ss_held */
} edge;

static int by_device_then_time(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static uint32_t list_edges(const ss_holds *holds, const ss_timeline *l, edge *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < holds->n; i++) {
        const ss_hold *h = &holds->hold[i];
        ss_time from = h->from.i ? l->start[h->from.i] : 0, until = -1;
        for (uint32_t k = 0; k < h->untils; k++) {
            ss_time end = l->end[holds->until[h->first_until + k].i];
            if (end > until)
                until = end;
        }
        if (h->untils && until <= from)
            continue;
        list[n++] = (edge){from, h->bytes, h->device.i, h->what};
        if (h->untils)
            list[n++] = (edge){until, -h->bytes, h->device.i, h->what};
    }
    qsort(list, n, sizeof *list, by_device_then_time);
    return n;
}

static ss_status add_bytes(int64_t *sum, int64_t more, ss_error *err)
{
    if (__builtin_add_overflow(*sum, more, sum))
        return ss_fail(err, SS_ERANGE, "more than 2^63 bytes in one place");
    return SS_OK;
}

static void note_peak(ss_held_peak *peak, ss_time at, int64_t held, const int64_t *by)
{
    if (held <= peak->bytes)
        return;
    peak->bytes = held;
    peak->at = at;
    for (uint32_t k = 0; k < SS_HELD_KINDS; k++)
        peak->by[k] = by[k];
}

/* One device's edges, in order of time; rows of changes are appended at *rows. */
static ss_status sweep_device(ss_held_account *a, uint32_t d, const edge *list, uint32_t n,
                              uint32_t *rows, ss_error *err)
{
    int64_t by[SS_HELD_KINDS] = {0}, sum = 0;
    a->change[(*rows)++] = (ss_held_change){0, 0};
    for (uint32_t i = 0; i < n;) {
        ss_time at = list[i].at;
        int64_t up = 0, down = 0;
        for (; i < n && list[i].at == at; i++) {
            ss_status s = add_bytes(list[i].bytes > 0 ? &up : &down, list[i].bytes, err);
            if (!s)
                s = add_bytes(&by[list[i].what], list[i].bytes, err);
            if (s)
                return ss_fail_in(err, "memory held on device %u", d);
        }
        ss_status s = add_bytes(&sum, down, err);
        if (!s)
            s = add_bytes(&sum, up, err);
        if (s)
            return ss_fail_in(err, "memory held on device %u", d);
        ss_held_change *last = &a->change[*rows - 1];
        if (at == last->at)
            last->bytes = sum;
        else if (sum != last->bytes)
            a->change[(*rows)++] = (ss_held_change){at, sum};
        note_peak(&a->peak[d], at, sum, by);
    }
    return SS_OK;
}

static ss_status reserve(ss_held_account *a, const ss_holds *holds, uint32_t devices, ss_error *err)
{
    size_t most = (size_t)holds->n * 2;
    if (most + devices > UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "too many tensors held: %u", holds->n);
    const char *what = "the account of memory";
    ss_status s = SS_RESERVE(a->edge, a->edge_cap, most, what, err);
    if (!s)
        s = SS_RESERVE(a->change, a->change_cap, most + devices, what, err);
    if (!s)
        s = SS_RESERVE(a->peak, a->peak_cap, (size_t)devices + 1, what, err);
    if (!s)
        s = SS_RESERVE(a->first, a->first_cap, (size_t)devices + 2, what, err);
    return s;
}

ss_status ss_held_account_make(const ss_holds *holds, const ss_timeline *l, uint32_t devices,
                               ss_held_account *out, ss_error *err)
{
    ss_status s = reserve(out, holds, devices, err);
    if (s)
        return s;
    out->devices = devices;
    for (uint32_t d = 0; d <= devices; d++)
        out->peak[d] = (ss_held_peak){0};
    uint32_t n = list_edges(holds, l, out->edge), rows = 0, i = 0;
    out->first[0] = 0;
    for (uint32_t d = 1; d <= devices; d++) {
        uint32_t first = i;
        while (i < n && out->edge[i].device == d)
            i++;
        out->first[d] = rows;
        s = sweep_device(out, d, out->edge + first, i - first, &rows, err);
        if (s)
            return s;
    }
    out->first[devices + 1] = rows;
    return SS_OK;
}

void ss_held_account_free(ss_held_account *a)
{
    if (!a)
        return;
    ss_free(a->peak);
    ss_free(a->change);
    ss_free(a->first);
    ss_free(a->edge);
    *a = (ss_held_account){0};
}

double ss_held_excess(const ss_held_account *a, const ss_topology *t)
{
    double over = 0;
    for (uint32_t d = 1; d <= a->devices; d++) {
        double has = t->device[d].def.memory_bytes, held = (double)a->peak[d].bytes;
        if (has > 0 && held > has)
            over += held - has;
    }
    return over;
}
