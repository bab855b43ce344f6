#include "space_naive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rules {
    const ss_strategy *pinned;
    ss_op op;
    uint32_t devices, max_parts;
    bool devices_pinned;
} rules;

static bool power_of_two(uint32_t x)
{
    for (uint32_t p = 1; p && p <= x; p *= 2)
        if (p == x)
            return true;
    return false;
}

static bool open_dim(const rules *r, uint32_t d)
{
    return !ss_strategy_pinned_degree(r->pinned, r->op, d);
}

/* Saves trying all lists of devices for degrees that no list makes right. */
static bool keeps_pins(const rules *r, const uint32_t *degree, uint32_t parts)
{
    const ss_config *now = &r->pinned->config[r->op.i];
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        if (!open_dim(r, d) && degree[d] != now->degree[d])
            return false;
    return !r->devices_pinned || parts == now->parts;
}

/* Whether the degrees are some that the move draws, devices apart. */
static bool vector_of(const rules *r, ss_move m, const uint32_t *degree, uint32_t parts)
{
    bool whole = true, powers = true;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        whole = whole && (!open_dim(r, d) || degree[d] == 1);
        powers = powers && (!open_dim(r, d) || power_of_two(degree[d]));
    }
    if (m == SS_MOVE_PLACE)
        return parts == 1;
    if (m == SS_MOVE_POW2)
        return powers && (r->devices_pinned || parts <= r->devices);
    if (r->devices_pinned)
        return true;
    if (m == SS_MOVE_BLOCK && parts > r->devices)
        return false;
    return parts <= r->max_parts || whole;
}

static bool devices_of(const rules *r, ss_move m, const uint32_t *device, uint32_t parts)
{
    if (r->devices_pinned || m == SS_MOVE_FREE || parts == 1)
        return true;
    if (m == SS_MOVE_PLACE)
        return false;
    int64_t stride = (int64_t)device[1] - device[0];
    for (uint32_t k = 1; k < parts; k++)
        if ((int64_t)device[k] - device[k - 1] != stride)
            return false;
    return m == SS_MOVE_BLOCK ? stride == 1 : stride > 0 && power_of_two((uint32_t)stride);
}

static void add(naive_space *s, const naive_config *c)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->at = realloc(s->at, s->cap * sizeof *s->at);
        if (!s->at)
            exit(99);
    }
    s->at[s->n++] = *c;
}

/* Moves an odometer on, the last wheel fastest; false: it is at its beginning again. */
static bool turn(uint32_t *wheel, uint32_t n, const uint32_t *most)
{
    while (n-- > 0) {
        if (wheel[n] < most[n]) {
            wheel[n]++;
            return true;
        }
        wheel[n] = 1;
    }
    return false;
}

/* All lists of devices for these degrees; the chances become 1 / lists. */
static void add_lists(const rules *r, const uint32_t *degree, uint32_t parts, bool *has,
                      naive_space *out)
{
    naive_config c = {.parts = parts};
    uint32_t most[NAIVE_PARTS], first = out->n, lists[SS_MOVES] = {0};
    memcpy(c.degree, degree, sizeof c.degree);
    for (uint32_t k = 0; k < parts; k++)
        c.device[k] = 1, most[k] = r->devices;
    do {
        ss_device device[NAIVE_PARTS];
        bool any = false;
        for (uint32_t k = 0; k < parts; k++)
            device[k].i = c.device[k];
        if (ss_strategy_allows(r->pinned, r->op, degree, SS_MAX_DIMS, device, parts, NULL, NULL))
            continue;
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++) {
            c.q[m] = vector_of(r, m, degree, parts) && devices_of(r, m, c.device, parts);
            lists[m] += c.q[m] > 0;
            any = any || c.q[m] > 0;
        }
        if (any)
            add(out, &c);
    } while (turn(c.device, parts, most));
    for (uint32_t k = first; k < out->n; k++)
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++)
            if (out->at[k].q[m] > 0)
                out->at[k].q[m] /= lists[m];
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++)
        has[m] = lists[m] > 0;
}

static int compare(const void *a, const void *b)
{
    const naive_config *x = a, *y = b;
    int by_degree = memcmp(x->degree, y->degree, sizeof x->degree);
    return by_degree ? by_degree : memcmp(x->device, y->device, sizeof x->device);
}

static naive_config of_config(const ss_config *c)
{
    naive_config n = {.parts = c->parts};
    memcpy(n.degree, c->degree, sizeof n.degree);
    for (uint32_t k = 0; k < c->parts && k < NAIVE_PARTS; k++)
        n.device[k] = c->device[k].i;
    return n;
}

static void add_list(const ss_choice *list, uint32_t lists, ss_op op, naive_space *out)
{
    uint32_t different = 0;
    for (uint32_t k = 0; k < lists; k++) {
        if (list[k].op.i != op.i)
            continue;
        naive_config c = of_config(&list[k].config);
        uint32_t i = 0;
        while (i < out->n && compare(&out->at[i], &c))
            i++;
        if (i == out->n)
            add(out, &c);
        different += !(out->at[i].q[SS_MOVE_LIST] > 0);
        out->at[i].q[SS_MOVE_LIST] = 1;
    }
    for (uint32_t i = 0; i < out->n; i++)
        if (out->at[i].q[SS_MOVE_LIST] > 0)
            out->at[i].q[SS_MOVE_LIST] = 1.0 / different;
}

void naive_space_of(const ss_strategy *pinned, ss_op op, uint32_t max_parts, const ss_choice *list,
                    uint32_t lists, naive_space *out)
{
    rules r = {.pinned = pinned,
               .op = op,
               .devices = pinned->topology->devices,
               .devices_pinned = pinned->pin[op.i] & SS_PIN_DEVICES};
    r.max_parts = max_parts ? max_parts : r.devices;
    uint32_t degree[SS_MAX_DIMS], most[SS_MAX_DIMS], vectors[SS_MOVES] = {0};
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        uint32_t limit = ss_strategy_limit(pinned, op, d);
        degree[d] = 1;
        most[d] = limit < NAIVE_PARTS ? limit : NAIVE_PARTS;
    }
    do {
        bool has[SS_MOVES] = {false};
        uint32_t parts = 1;
        for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
            parts *= degree[d];
        if (parts > NAIVE_PARTS || !keeps_pins(&r, degree, parts))
            continue;
        bool wanted = false;
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++)
            wanted = wanted || vector_of(&r, m, degree, parts);
        if (!wanted)
            continue;
        add_lists(&r, degree, parts, has, out);
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++)
            vectors[m] += has[m];
    } while (turn(degree, SS_MAX_DIMS, most));
    for (uint32_t k = 0; k < out->n; k++)
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++)
            if (out->at[k].q[m] > 0)
                out->at[k].q[m] /= vectors[m];
    add_list(list, lists, op, out);
    for (uint32_t k = 0; k < out->n; k++)
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++)
            out->offers[m] = out->offers[m] || out->at[k].q[m] > 0;
    qsort(out->at, out->n, sizeof *out->at, compare);
}

void naive_space_free(naive_space *s)
{
    free(s->at);
    *s = (naive_space){0};
}

uint32_t naive_space_find(const naive_space *s, const ss_config *c)
{
    naive_config wanted = of_config(c);
    const naive_config *at = bsearch(&wanted, s->at, s->n, sizeof *s->at, compare);
    return c->parts <= NAIVE_PARTS && at ? (uint32_t)(at - s->at) : s->n;
}
