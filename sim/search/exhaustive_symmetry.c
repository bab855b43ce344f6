/* exhaustive_symmetry.c - permutations of devices that change no time.
 *
 * A permutation is used if the permuted strategy has the same task graph but for the names of
 * resources, tasks that share a resource being in the same order of ids; then every time is the same.
 *
 * - Devices: equal costs (ss_timer.alike), equal memory where that counts, and two are in one machine
 *   where their images are.
 * - Links: routes between images are images of routes, link by link, under one permutation of links
 *   of equal bandwidth and latency.
 * - Ids of forward and backward work, and of messages between operators, say nothing of devices.
 * - Gradients that meet do: the devices of a shard are listed from the master's upwards and round
 *   (lower.h), and rings, trees and the order of messages follow that list.  A rotation of all device
 *   numbers keeps the list, whatever the shard.  Another permutation keeps it where no shard can
 *   have more than two devices, and where gradients do not meet.
 * - Barriers take no time, and each is on the device that it speaks for; but the one of all devices,
 *   which the closed form has, is on device 1.  It waits there for updates of weights that one device
 *   holds alone, if these take time; then device 1 has to stay where it is.
 *
 * Where the permuted strategy lies in the space, only the first of the two in the order of visiting
 * has to be looked at.  That is told from a prefix if all configurations of what is not decided have
 * images in the space, else later, at the last from the whole strategy (blocks that begin at the
 * first device have no image further down).
 */
#include "search/exhaustive_inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

enum { MOST_PERMUTED = 8, MOST_SYMMETRIES = 5040 };

typedef struct keyed {
    uint64_t key;
    uint32_t row;
} keyed;

typedef struct finding {
    ss_exhaustive_tables *t;
    ss_symmetries *out;
    uint32_t *to;                  /* [devices + 1], the permutation at hand */
    bool *taken;                   /* [devices + 1] */
    uint32_t *link_to, *link_from; /* [links + 1] */
    keyed *row;                    /* [rows] by operator, then key */
    ss_error *err;
} finding;

static uint64_t key_of(const ss_config *c, const uint32_t *to)
{
    uint64_t h = SS_HASH_START;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        h = ss_hash_u64(h, c->degree[d]);
    for (uint32_t p = 0; p < c->parts; p++)
        h = ss_hash_u64(h, to ? to[c->device[p].i] : c->device[p].i);
    return h;
}

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_image(const ss_config *a, const ss_config *b, const uint32_t *to)
{
    if (a->parts != b->parts || memcmp(a->degree, b->degree, sizeof a->degree) != 0)
        return false;
    for (uint32_t p = 0; p < a->parts; p++)
        if (to[a->device[p].i] != b->device[p].i)
            return false;
    return true;
}

static uint32_t image_of(const finding *f, uint32_t row)
{
    const ss_exhaustive_tables *t = f->t;
    const ss_config *c = &t->space->config[row];
    uint64_t key = key_of(c, f->to);
    uint32_t lo = t->first[t->op_of[row]], end = t->first[t->op_of[row] + 1], hi = end;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->row[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < end && f->row[lo].key == key; lo++)
        if (is_image(c, &t->space->config[f->row[lo].row], f->to))
            return f->row[lo].row;
    return SS_NO_ROW;
}

/* ---- what a permutation has to keep ------------------------------------------------------ */

static bool keeps_devices(const finding *f)
{
    const ss_exhaustive_tables *t = f->t;
    const ss_device_row *device = t->topology->device;
    const ss_lower_options *o = &t->options;
    if (o->chance && !ss_chance_is_even(o->chance))
        return false;
    if (o->training && o->sync == SS_SYNC_CLOSED_FORM && o->update_passes > 0 && f->to[1] != 1)
        return false;
    for (uint32_t a = 1; a <= t->devices; a++) {
        if (t->timer->alike[a] != t->timer->alike[f->to[a]])
            return false;
        if (t->price.rule != SS_MEMORY_IGNORED &&
            device[a].def.memory_bytes != device[f->to[a]].def.memory_bytes)
            return false;
        for (uint32_t b = 1; b < a; b++) {
            uint32_t m = device[a].def.machine, n = device[f->to[a]].def.machine;
            if ((m && m == device[b].def.machine) != (n && n == device[f->to[b]].def.machine))
                return false;
        }
    }
    return true;
}

static bool keeps_link(const finding *f, ss_link from, ss_link to)
{
    const ss_link_def *a = &f->t->topology->link[from.i].def, *b = &f->t->topology->link[to.i].def;
    if (f->link_to[from.i] || f->link_from[to.i])
        return f->link_to[from.i] == to.i && f->link_from[to.i] == from.i;
    f->link_to[from.i] = to.i;
    f->link_from[to.i] = from.i;
    return a->bytes_per_s == b->bytes_per_s && a->latency_s == b->latency_s;
}

static bool keeps_route(const finding *f, uint32_t a, uint32_t b)
{
    ss_exhaustive_tables *t = f->t;
    ss_route from, to;
    uint32_t n, m;
    if (ss_routes_find(t->routes, (ss_device){a}, (ss_device){b}, &from, f->err) ||
        ss_routes_find(t->routes, (ss_device){f->to[a]}, (ss_device){f->to[b]}, &to, f->err))
        return false;
    const ss_link *x = ss_route_links(t->routes, from, &n), *y = ss_route_links(t->routes, to, &m);
    bool same = n == m;
    for (uint32_t i = 0; i < n && same; i++)
        same = keeps_link(f, x[i], y[i]);
    return same;
}

static bool keeps_routes(const finding *f)
{
    size_t links = (size_t)f->t->topology->links + 1;
    memset(f->link_to, 0, links * sizeof *f->link_to);
    memset(f->link_from, 0, links * sizeof *f->link_from);
    for (uint32_t a = 1; a <= f->t->devices; a++)
        for (uint32_t b = 1; b <= f->t->devices; b++)
            if (a != b && !keeps_route(f, a, b))
                return false;
    return true;
}

/* ---- finding them ------------------------------------------------------------------------ */

static ss_status reserve_one(finding *f, ss_error *err)
{
    ss_symmetries *o = f->out;
    if (o->n < o->cap)
        return SS_OK;
    uint32_t cap = o->cap ? 2 * o->cap : 8;
    ss_status s =
        ss_regrow(&o->image, (size_t)cap * f->t->rows, sizeof *o->image, "symmetries", err);
    if (!s)
        s = ss_regrow(&o->device, (size_t)cap * (f->t->devices + 1), sizeof *o->device,
                      "symmetries", err);
    if (!s)
        s = ss_regrow(&o->all_from, cap, sizeof *o->all_from, "symmetries", err);
    if (!s)
        o->cap = cap;
    return s;
}

static ss_status try_one(finding *f, ss_error *err)
{
    const ss_exhaustive_tables *t = f->t;
    ss_symmetries *o = f->out;
    bool moves = false;
    for (uint32_t d = 1; d <= t->devices; d++)
        moves |= f->to[d] != d;
    if (!moves || !keeps_devices(f) || !keeps_routes(f))
        return SS_OK;
    ss_status s = reserve_one(f, err);
    if (s)
        return s;
    uint32_t *image = o->image + (size_t)o->n * t->rows, all_from = 0;
    bool some = true;
    for (uint32_t k = 0; k < t->ops && some; k++) {
        uint32_t op = t->order[k], here = 0, n = t->first[op + 1] - t->first[op];
        for (uint32_t g = t->first[op]; g < t->first[op + 1]; g++)
            here += (image[g] = image_of(f, g)) != SS_NO_ROW;
        some = here > 0;
        all_from = here < n ? k + 1 : all_from;
    }
    if (!some)
        return SS_OK;
    o->all_from[o->n] = all_from;
    memcpy(o->device + (size_t)o->n * (t->devices + 1), f->to,
           ((size_t)t->devices + 1) * sizeof *f->to);
    o->n++;
    return SS_OK;
}

static ss_status try_rotations(finding *f, ss_error *err)
{
    uint32_t n = f->t->devices;
    ss_status s = SS_OK;
    for (uint32_t by = 1; by < n && by < MOST_SYMMETRIES && !s; by++) {
        for (uint32_t d = 1; d <= n; d++)
            f->to[d] = (d - 1 + by) % n + 1;
        s = try_one(f, err);
    }
    return s;
}

static ss_status try_all(finding *f, uint32_t d, ss_error *err)
{
    ss_status s = SS_OK;
    if (d > f->t->devices)
        return try_one(f, err);
    for (uint32_t k = 1; k <= f->t->devices && !s && f->out->n < MOST_SYMMETRIES; k++) {
        if (f->taken[k])
            continue;
        f->taken[k] = true;
        f->to[d] = k;
        s = try_all(f, d + 1, err);
        f->taken[k] = false;
    }
    return s;
}

/* The most devices that any configuration of an operator uses. */
static uint32_t most_devices(const ss_exhaustive_tables *t, uint32_t op, bool *seen)
{
    uint32_t most = 0;
    for (uint32_t g = t->first[op]; g < t->first[op + 1]; g++) {
        uint32_t n = 0;
        memset(seen, 0, (size_t)t->devices + 1);
        for (uint32_t k = t->slot[g]; k < t->slot[g] + t->parts[g]; k++) {
            n += !seen[t->device[k]];
            seen[t->device[k]] = true;
        }
        most = n > most ? n : most;
    }
    return most;
}

/* Two holders may change places, but where an algorithm gives them different parts. */
static bool order_of_holders_matters(const finding *f)
{
    const ss_exhaustive_tables *t = f->t;
    if (!t->options.training || t->options.sync == SS_SYNC_NONE)
        return false;
    for (uint32_t k = 1; k <= t->model->groups; k++) {
        uint32_t holders = 0;
        for (uint32_t u = 0; u < t->group[k].users; u++)
            holders += most_devices(t, t->group[k].user[u], f->taken);
        if (holders > (t->options.sync > SS_SYNC_TWO_LEVEL ? 1U : 2U))
            return true;
    }
    return false;
}

static ss_status find(finding *f, ss_error *err)
{
    ss_exhaustive_tables *t = f->t;
    for (uint32_t g = 0; g < t->rows; g++)
        f->row[g] = (keyed){key_of(&t->space->config[g], NULL), g};
    for (uint32_t i = 1; i <= t->ops; i++)
        qsort(f->row + t->first[i], t->first[i + 1] - t->first[i], sizeof *f->row, by_key);
    bool rotations = t->devices > MOST_PERMUTED || order_of_holders_matters(f);
    memset(f->taken, 0, (size_t)t->devices + 1);
    return rotations ? try_rotations(f, err) : try_all(f, 1, err);
}

ss_status ss_symmetries_find(ss_exhaustive_tables *t, ss_symmetries *out, ss_error *err)
{
    ss_error unread;
    size_t devices = (size_t)t->devices + 1, links = (size_t)t->topology->links + 1;
    finding f = {.t = t, .out = out, .err = &unread};
    if (!t->timer->alike)
        return SS_OK;
    f.to = ss_alloc_zeroed(devices, sizeof *f.to);
    f.taken = ss_alloc_zeroed(devices, sizeof *f.taken);
    f.link_to = ss_alloc_zeroed(links, sizeof *f.link_to);
    f.link_from = ss_alloc_zeroed(links, sizeof *f.link_from);
    f.row = ss_alloc_zeroed(t->rows, sizeof *f.row);
    ss_status s = f.to && f.taken && f.link_to && f.link_from && f.row
                      ? find(&f, err)
                      : ss_fail_memory(err, "symmetries", t->rows * sizeof *f.row);
    ss_free(f.to);
    ss_free(f.taken);
    ss_free(f.link_to);
    ss_free(f.link_from);
    ss_free(f.row);
    return s;
}

void ss_symmetries_free(ss_symmetries *s)
{
    ss_free(s->image);
    ss_free(s->device);
    ss_free(s->all_from);
    *s = (ss_symmetries){0};
}
