/* lower_shards.c - which device holds which box of which weight.
 *
 * Operators that share a weight (the unrolled steps of a recurrent layer) may cut it differently.
 * Then the borders of all their parts cut it: each shard lies in every part as a whole or not at
 * all, and is summed over exactly the devices that hold it.  What several steps or parts on one
 * device contribute is summed there first and for nothing, as the 2018 runtime did.
 */
#include "graph/lowering.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* An operator that uses a weight, as its weight number `slot`. */
typedef struct ss_user {
    ss_op op;
    uint32_t slot;
} ss_user;

/* One part's contribution to one shard of the weight at hand. */
typedef struct ss_give {
    uint32_t shard; /* from 0, in the weight */
    ss_device device;
    uint32_t task; /* that makes its gradient; 0: none does */
} ss_give;

/* How a weight is cut: shards are cells, the last dimension fastest. */
typedef struct cut {
    uint32_t rank;
    int64_t *at[SS_MAX_DIMS]; /* where shards begin, ascending, and where the last ends */
    uint32_t n[SS_MAX_DIMS];  /* shards along each dimension */
    uint32_t shards;
} cut;

static ss_status list_users(ss_lowering *w, ss_error *err)
{
    const ss_model *m = w->model;
    struct ss_lower_scratch *s = w->s;
    size_t users = 0;
    ss_status e =
        SS_RESERVE(s->first_user, s->user_first_cap, (size_t)m->weights + 2, "weights", err);
    if (e)
        return e;
    memset(s->first_user, 0, ((size_t)m->weights + 2) * sizeof *s->first_user);
    for (uint32_t i = 1; i <= m->ops; i++)
        for (uint32_t k = 0; k < m->op[i].def->weights; k++, users++)
            s->first_user[m->op[i].weight[k].i + 1]++;
    if ((e = SS_RESERVE(s->user, s->user_cap, users, "users of weights", err)))
        return e;
    for (uint32_t x = 1; x <= m->weights + 1; x++)
        s->first_user[x] += s->first_user[x - 1];
    for (uint32_t i = 1; i <= m->ops; i++)
        for (uint32_t k = 0; k < m->op[i].def->weights; k++)
            s->user[s->first_user[m->op[i].weight[k].i]++] = (ss_user){{i}, k};
    /* Filling moved each beginning to the next one's; move them back. */
    memmove(s->first_user + 1, s->first_user, ((size_t)m->weights + 1) * sizeof *s->first_user);
    s->first_user[0] = s->first_user[1] = 0;
    return SS_OK;
}

/* The output dimension that cuts dimension d of the weight here, or -1. */
static int cut_by(const ss_lowering *w, const ss_user *u, uint32_t d)
{
    int follows = w->model->op[u->op.i].def->weight[u->slot].follows[d];
    return follows >= 0 && ss_lowering_config(w, u->op)->degree[follows] > 1 ? follows : -1;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t unique(int64_t *at, uint32_t n)
{
    uint32_t kept = 0;
    bool sorted = true;
    for (uint32_t i = 1; i < n && sorted; i++)
        sorted = at[i - 1] <= at[i];
    if (!sorted)
        qsort(at, n, sizeof *at, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || at[kept - 1] != at[i])
            at[kept++] = at[i];
    return kept;
}

static ss_status cut_weight(ss_lowering *w, ss_weight weight, cut *c, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shape *shape = &w->model->weight[weight.i].shape;
    uint32_t first = s->first_user[weight.i], last = s->first_user[weight.i + 1];
    size_t borders = 2 * SS_MAX_DIMS;
    for (uint32_t u = first; u < last; u++)
        for (uint32_t d = 0; d < shape->rank; d++) {
            int by = cut_by(w, &s->user[u], d);
            borders += by < 0 ? 0 : ss_lowering_config(w, s->user[u].op)->degree[by];
        }
    ss_status e = SS_RESERVE(s->border, s->border_cap, borders, "shards of a weight", err);
    if (e)
        return e;
    int64_t *at = s->border;
    uint64_t shards = 1;
    c->rank = shape->rank;
    for (uint32_t d = 0; d < shape->rank; d++) {
        uint32_t n = 0;
        at[n++] = 0;
        for (uint32_t u = first; u < last; u++) {
            int by = cut_by(w, &s->user[u], d);
            if (by < 0)
                continue;
            uint32_t degree = ss_lowering_config(w, s->user[u].op)->degree[by];
            const int64_t *lo = ss_lower_range(w, s->user[u].op, (uint32_t)by);
            for (uint32_t k = 1; k < degree; k++)
                at[n++] = lo[k]; /* a weight that follows a dimension has its extent: op.h */
        }
        n = unique(at, n);
        at[n] = shape->extent[d];
        c->at[d] = at;
        c->n[d] = n;
        at += n + 1;
        if ((shards *= n) > UINT32_MAX / 2)
            return ss_fail(err, SS_ERANGE, "weight %s is cut into more than 2^31 shards",
                           w->model->weight[weight.i].name);
    }
    c->shards = (uint32_t)shards;
    return SS_OK;
}

static uint32_t shard_at(const cut *c, uint32_t d,
                         int64_t x) /* the shard along d that begins at x */
{
    uint32_t lo = 0, hi = c->n[d];
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->at[d][mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* A contribution to every shard inside the box. */
static ss_status give_box(struct ss_lower_scratch *s, const cut *c, const ss_box *box,
                          ss_device device, uint32_t task, ss_error *err)
{
    uint32_t k[SS_MAX_DIMS], begin[SS_MAX_DIMS], end[SS_MAX_DIMS];
    size_t shards = 1;
    for (uint32_t d = 0; d < c->rank; d++) {
        begin[d] = k[d] = box->lo[d] == 0 ? 0 : shard_at(c, d, box->lo[d]);
        end[d] = box->hi[d] == c->at[d][c->n[d]] ? c->n[d] : shard_at(c, d, box->hi[d]);
        shards *= end[d] - begin[d];
    }
    ss_status e =
        SS_RESERVE(s->give, s->give_cap, (size_t)s->gives + shards, "shards of weights", err);
    if (e)
        return e;
    for (size_t n = 0; n < shards; n++) {
        uint32_t shard = 0;
        for (uint32_t d = 0; d < c->rank; d++)
            shard = shard * c->n[d] + k[d];
        s->give[s->gives++] = (ss_give){shard, device, task};
        for (uint32_t d = c->rank; d-- > 0 && ++k[d] == end[d];)
            k[d] = begin[d];
    }
    return SS_OK;
}

/* Contributions of the parts of one operator. */
static ss_status give_parts(ss_lowering *w, const ss_user *u, const cut *c, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_config *config = ss_lowering_config(w, u->op);
    const ss_op_def *def = w->model->op[u->op.i].def;
    uint32_t task = w->out->backward[u->op.i].i;
    if (!task && w->options.training)
        task = w->out->forward[u->op.i].i; /* lumped */
    if (c->shards == 1) {
        ss_status e =
            SS_RESERVE(s->give, s->give_cap, (size_t)s->gives + config->parts, "shards", err);
        for (uint32_t p = 0; p < config->parts && !e; p++)
            s->give[s->gives++] = (ss_give){0, config->device[p], task ? task + p : 0};
        return e;
    }
    ss_status e = ss_lower_boxes(w, u->op, err);
    for (uint32_t p = 0; p < config->parts && !e; p++) {
        ss_box box;
        ss_op_weight_box(def, u->slot, &s->box[p], &box);
        e = give_box(s, c, &box, config->device[p], task ? task + p : 0, err);
    }
    return e;
}

/* Contributions of all operators, by operator and part. */
static ss_status list_gives(ss_lowering *w, ss_weight weight, const cut *c, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    s->gives = 0;
    for (uint32_t u = s->first_user[weight.i]; u < s->first_user[weight.i + 1] && !e; u++)
        e = give_parts(w, &s->user[u], c, err);
    return e;
}

/* give_order: contributions by shard, in the order they had; count[k] is where shard k ends. */
static ss_status sort_gives(struct ss_lower_scratch *s, uint32_t shards, ss_error *err)
{
    ss_status e = SS_RESERVE(s->count, s->count_cap, (size_t)shards + 1, "shards", err);
    if (!e)
        e = SS_RESERVE(s->give_order, s->give_order_cap, s->gives, "shards", err);
    if (e)
        return e;
    memset(s->count, 0, ((size_t)shards + 1) * sizeof *s->count);
    for (uint32_t g = 0; g < s->gives; g++)
        s->count[s->give[g].shard + 1]++;
    for (uint32_t k = 1; k <= shards; k++)
        s->count[k] += s->count[k - 1];
    for (uint32_t g = 0; g < s->gives; g++)
        s->give_order[s->count[s->give[g].shard]++] = g;
    return SS_OK;
}

static void place_of_shard(const cut *c, uint32_t k, ss_box *box)
{
    box->rank = c->rank;
    for (uint32_t d = c->rank; d-- > 0;) {
        uint32_t i = k % c->n[d];
        k /= c->n[d];
        box->lo[d] = c->at[d][i];
        box->hi[d] = c->at[d][i + 1];
    }
}

static void push_marked(ss_lowered *out, uint64_t bits, uint32_t word)
{
    for (uint32_t b = 0; bits; b++, bits >>= 1)
        if (bits & 1)
            out->shard_device[++out->shard_devices].i = word * 64 + b;
}

/* The devices of one shard: the master, then upwards and round. */
static ss_status list_devices(ss_lowering *w, uint32_t begin, uint32_t end, ss_shard *shard,
                              ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t words = w->topology->devices / 64 + 1, n = 0;
    ss_device master = s->give[s->give_order[begin]].device;
    memset(s->mark, 0, words * sizeof *s->mark);
    for (uint32_t g = begin; g < end; g++) {
        uint32_t d = s->give[s->give_order[g]].device.i;
        n += !(s->mark[d / 64] >> (d % 64) & 1);
        s->mark[d / 64] |= UINT64_C(1) << (d % 64);
    }
    ss_lowered *out = w->out;
    ss_status e = SS_RESERVE(out->shard_device, out->shard_device_cap,
                             (size_t)out->shard_devices + n + 1, "devices of shards", err);
    if (e)
        return e;
    shard->first_device = out->shard_devices + 1;
    shard->devices = n;
    uint32_t at = master.i / 64;
    uint64_t below = (UINT64_C(1) << (master.i % 64)) - 1;
    push_marked(out, s->mark[at] & ~below, at);
    for (uint32_t i = at + 1; i < words; i++)
        push_marked(out, s->mark[i], i);
    for (uint32_t i = 0; i < at; i++)
        push_marked(out, s->mark[i], i);
    push_marked(out, s->mark[at] & below, at);
    return SS_OK;
}

/* first_from, from: for each device of the shard the tasks that make its gradient there. */
static ss_status list_sources(ss_lowering *w, uint32_t begin, uint32_t end, const ss_shard *shard,
                              ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t row = shard->first_device, rows = row + shard->devices;
    ss_status e = SS_RESERVE(s->first_from, s->first_from_cap, (size_t)rows + 2, "shards", err);
    if (!e)
        e = SS_RESERVE(s->from, s->from_cap, (size_t)s->froms + (end - begin), "shards", err);
    if (e)
        return e;
    for (uint32_t r = row; r < rows; r++) {
        s->at_device[w->out->shard_device[r].i] = r;
        s->first_from[r + 1] = 0;
    }
    for (uint32_t g = begin; g < end; g++) {
        const ss_give *give = &s->give[s->give_order[g]];
        s->first_from[s->at_device[give->device.i] + 1] += give->task != 0;
    }
    s->first_from[row] = s->froms;
    for (uint32_t r = row; r < rows; r++)
        s->first_from[r + 1] += s->first_from[r];
    s->froms = s->first_from[rows];
    for (uint32_t g = end; g-- > begin;) { /* from behind, so that the order is kept */
        const ss_give *give = &s->give[s->give_order[g]];
        if (give->task)
            s->from[--s->first_from[s->at_device[give->device.i] + 1]] = give->task;
    }
    for (uint32_t r = row; r < rows; r++)
        s->first_from[r] = s->first_from[r + 1];
    s->first_from[rows] = s->froms;
    return SS_OK;
}

ss_status ss_lower_shards_of(ss_lowering *w, ss_weight weight, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_lowered *out = w->out;
    cut c = {0};
    s->first_shard[weight.i] = out->shards + 1;
    s->shards_of[weight.i] = 0;
    ss_status e = cut_weight(w, weight, &c, err);
    if (!e)
        e = list_gives(w, weight, &c, err);
    if (!e)
        e = sort_gives(s, c.shards, err);
    if (!e)
        e = SS_RESERVE(out->shard, out->shard_cap, (size_t)out->shards + c.shards + 1,
                       "shards of weights", err);
    int64_t element = ss_dtype_bytes(w->model->weight[weight.i].shape.dtype);
    for (uint32_t k = 0; k < c.shards && !e; k++) {
        uint32_t begin = k ? s->count[k - 1] : 0, end = s->count[k];
        ss_shard *shard = &out->shard[out->shards + 1];
        shard->weight = weight;
        place_of_shard(&c, k, &shard->box);
        shard->bytes = ss_box_elements(&shard->box) * element;
        e = list_devices(w, begin, end, shard, err);
        if (!e)
            e = list_sources(w, begin, end, shard, err);
        out->shards += !e;
    }
    s->shards_of[weight.i] = c.shards;
    return e;
}

ss_status ss_lower_weights(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    size_t rows = (size_t)w->model->weights + 1;
    w->out->shards = w->out->shard_devices = s->froms = 0;
    ss_status e = list_users(w, err);
    if (!e)
        e = SS_RESERVE(s->mark, s->mark_cap, w->topology->devices / 64 + 1, "devices", err);
    if (e || rows <= s->weight_cap)
        return e;
    uint32_t cap = ss_grown(s->weight_cap, rows);
    if ((e = SS_REGROW(s->first_shard, cap, "weights", err)) ||
        (e = SS_REGROW(s->shards_of, cap, "weights", err)))
        return e;
    s->weight_cap = cap;
    return SS_OK;
}
