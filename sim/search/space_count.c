/* How many configurations a move can draw, the n-th of them, and with what chance one is drawn. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "search/space_inside.h"

/* ----------------------------------------------------------------------------------- placements */

/* One part is the same with any stride: only the first counts. */
static uint64_t strided_places(uint64_t devices, uint64_t parts)
{
    if (parts == 1)
        return devices;
    uint64_t sum = 0;
    for (uint64_t stride = 1; (parts - 1) * stride < devices; stride *= 2)
        sum += devices - (parts - 1) * stride;
    return sum;
}

uint64_t space_places(ss_move m, uint32_t devices, uint32_t parts)
{
    uint64_t all = 1;
    switch (m) {
    case SS_MOVE_FREE:
        for (uint32_t k = 0; k < parts && (all != UINT64_MAX && devices > 1); k++)
            all = space_times(all, devices);
        return all;
    case SS_MOVE_BLOCK:
        return parts <= devices ? devices - parts + 1 : 0;
    case SS_MOVE_POW2:
        return strided_places(devices, parts);
    default:
        return parts == 1 ? devices : 0;
    }
}

void space_place_nth(ss_move m, uint32_t devices, uint64_t nth, ss_config *c)
{
    uint64_t stride = 1;
    if (m == SS_MOVE_FREE) {
        for (uint32_t k = c->parts; k-- > 0; nth /= devices)
            c->device[k].i = (uint32_t)(nth % devices) + 1;
        return;
    }
    if (m == SS_MOVE_POW2 && c->parts > 1)
        for (;; stride *= 2) {
            uint64_t here = devices - (c->parts - 1) * stride;
            if (nth < here)
                break;
            nth -= here;
        }
    for (uint32_t k = 0; k < c->parts; k++)
        c->device[k].i = (uint32_t)(nth + k * stride) + 1;
}

static bool devices_exist(const ss_config *c, uint32_t devices)
{
    for (uint32_t k = 0; k < c->parts; k++)
        if (c->device[k].i < 1 || c->device[k].i > devices)
            return false;
    return true;
}

/* What follows each other at one distance; 1 for a single part, 0: nothing does. */
static uint32_t stride_of(const ss_config *c)
{
    if (c->parts == 1)
        return 1;
    uint32_t stride = c->device[1].i - c->device[0].i;
    for (uint32_t k = 1; k < c->parts; k++)
        if (c->device[k].i <= c->device[k - 1].i || c->device[k].i - c->device[k - 1].i != stride)
            return 0;
    return stride;
}

/* -------------------------------------------------------------------------------------- classes */

static ss_status count_move(const ss_space *s, space_class *c, ss_move m, ss_error *err)
{
    const ss_degrees *t = space_counts(c, m);
    if (!c->budget[m])
        return SS_OK;
    uint64_t *within = ss_alloc_zeroed((size_t)c->most + 1, sizeof *within);
    if (!within)
        return ss_fail_memory(err, "the numbers of configurations", c->most * sizeof *within);
    c->within[m] = within;
    for (uint32_t p = 1; p <= c->most; p++) {
        within[p] = within[p - 1];
        uint32_t ways = ss_degrees_ways(t, p);
        if (!ways || p > c->budget[m] || (c->exact && p != c->exact))
            continue;
        uint64_t places = c->exact ? 1 : space_places(m, s->devices, p * c->fixed);
        within[p] = space_add(within[p], space_times(ways, places));
        c->vectors[m] += places ? ways : 0;
    }
    if (!c->vectors[m])
        c->budget[m] = 0;
    else
        c->log_vectors[m] = log((double)c->vectors[m]);
    return SS_OK;
}

ss_status space_count_class(const ss_space *s, space_class *c, ss_error *err)
{
    ss_status st = SS_OK;
    for (uint32_t k = 0; k < 2 && !st; k++)
        st = ss_degrees_new(c->limit, c->n, c->most, k == 1, &s->divisors, &c->counts[k], err);
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST && !st; m++)
        st = count_move(s, c, m, err);
    return st;
}

/* ------------------------------------------------------------------------------- configurations */

ss_status space_set_degrees(const space_op *o, const uint32_t *open, ss_config *c, ss_error *err)
{
    uint32_t parts = o->open.fixed;
    for (uint32_t k = 0; k < o->open.n; k++)
        parts *= open[k];
    ss_status st = SS_RESERVE(c->device, c->cap, parts, "the devices of an operator's parts", err);
    if (st)
        return st;
    memcpy(c->degree, o->open.degree, sizeof c->degree);
    for (uint32_t k = 0; k < o->open.n; k++)
        c->degree[o->open.dim[k]] = open[k];
    c->parts = parts;
    if (o->open.exact)
        memcpy(c->device, o->pinned.device, parts * sizeof *c->device);
    return SS_OK;
}

bool space_fits(const space_op *o, const ss_config *c, uint32_t *product)
{
    uint32_t k = 0;
    uint64_t open = 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        if (k < o->open.n && o->open.dim[k] == d) {
            if (c->degree[d] < 1 || c->degree[d] > o->open.limit[k++])
                return false;
            open *= c->degree[d];
            if (open > SS_MAX_PARTS)
                return false;
        } else if (c->degree[d] != o->open.degree[d]) {
            return false;
        }
    }
    if (c->parts != open * o->open.fixed)
        return false;
    *product = (uint32_t)open;
    return !o->open.exact || (c->parts == o->pinned.parts &&
                              !memcmp(c->device, o->pinned.device, c->parts * sizeof *c->device));
}

uint64_t ss_space_count(const ss_space *s, ss_move move, ss_op op)
{
    const space_op *o = &s->op[op.i];
    const space_class *c = space_class_of(s, o);
    if (move == SS_MOVE_LIST)
        return o->lists;
    return c->budget[move] ? c->within[move][c->most] : 0;
}

ss_status ss_space_nth(const ss_space *s, ss_move move, ss_op op, uint64_t nth, ss_config *out,
                       ss_error *err)
{
    const space_op *o = &s->op[op.i];
    const space_class *c = space_class_of(s, o);
    uint64_t count = ss_space_count(s, move, op);
    if (nth >= count)
        return ss_fail(err, SS_EINVAL, "%s: %s has %llu configurations: number %llu is not there",
                       s->model->op[op.i].name, ss_move_name(move), (unsigned long long)count,
                       (unsigned long long)nth);
    if (move == SS_MOVE_LIST)
        return ss_config_copy(&s->list[o->first_list + nth].config, out, err);
    uint32_t low = 1, high = c->most, degree[SS_MAX_DIMS];
    while (low < high) { /* the least product with more than nth configurations up to it */
        uint32_t middle = low + (high - low) / 2;
        if (c->within[move][middle] > nth)
            high = middle;
        else
            low = middle + 1;
    }
    nth -= c->within[move][low - 1];
    uint64_t places = c->exact ? 1 : space_places(move, s->devices, low * c->fixed);
    ss_degrees_nth(space_counts(c, move), low, (uint32_t)(nth / places), degree);
    ss_status st = space_set_degrees(o, degree, out, err);
    if (!st && !c->exact)
        space_place_nth(move, s->devices, nth % places, out);
    return st;
}

/* -------------------------------------------------------------------------------------- density */

int space_compare_choices(const void *a, const void *b)
{
    const ss_choice *x = a, *y = b;
    if (x->op.i != y->op.i)
        return x->op.i < y->op.i ? -1 : 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        if (x->config.degree[d] != y->config.degree[d])
            return x->config.degree[d] < y->config.degree[d] ? -1 : 1;
    for (uint32_t k = 0; k < x->config.parts && k < y->config.parts; k++)
        if (x->config.device[k].i != y->config.device[k].i)
            return x->config.device[k].i < y->config.device[k].i ? -1 : 1;
    return (x->config.parts > y->config.parts) - (x->config.parts < y->config.parts);
}

static double log_list(const ss_space *s, const space_op *o, ss_op op, const ss_config *c)
{
    ss_choice wanted = {.op = op, .config = *c};
    if (!o->lists || !bsearch(&wanted, s->list + o->first_list, o->lists, sizeof *s->list,
                              space_compare_choices))
        return -INFINITY;
    return -log(o->lists);
}

static bool powers_of_two(const space_op *o, const ss_config *c)
{
    for (uint32_t k = 0; k < o->open.n; k++) {
        uint32_t degree = c->degree[o->open.dim[k]];
        if (degree & (degree - 1))
            return false;
    }
    return true;
}

/* Of a move other than list; the configuration fits, its devices are there. */
static double log_move(const ss_space *s, const space_op *o, ss_move m, const ss_config *c,
                       uint32_t product)
{
    const space_class *class = space_class_of(s, o);
    if (product > class->budget[m])
        return -INFINITY;
    if (m == SS_MOVE_POW2 && !powers_of_two(o, c))
        return -INFINITY;
    if (class->exact)
        return -class->log_vectors[m];
    if (m == SS_MOVE_FREE)
        return -class->log_vectors[m] - c->parts * log(s->devices);
    uint32_t stride = stride_of(c);
    bool placed = m == SS_MOVE_POW2 ? stride && !(stride & (stride - 1)) : stride == 1;
    return placed ? -class->log_vectors[m] - log((double)space_places(m, s->devices, c->parts))
                  : -INFINITY;
}

double ss_space_log_density(const ss_space *s, ss_op op, const ss_config *c)
{
    const space_op *o = &s->op[op.i];
    double term[SS_MOVES], most = -INFINITY, sum = 0;
    uint32_t product = 0;
    bool fits = space_fits(o, c, &product) && devices_exist(c, s->devices);
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        term[m] = -INFINITY;
        if (o->weight[m] > 0 && m == SS_MOVE_LIST)
            term[m] = log_list(s, o, op, c);
        else if (o->weight[m] > 0 && fits)
            term[m] = log_move(s, o, m, c, product);
        term[m] += o->log_weight[m];
        most = fmax(most, term[m]);
    }
    if (most == -INFINITY)
        return most;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++)
        sum += exp(term[m] - most);
    return most + log(sum);
}
