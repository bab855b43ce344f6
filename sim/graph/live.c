/* live.c - which blocks there are, which of them a change makes anew, and how it is undone.
 *
 * A configuration of operator i decides
 *   the messages of every feed into it and out of it, in both directions,
 *   its own parts, forward and backward, and the sums before them,
 *   the sums before the backward parts of the operators that it reads,
 *   the meeting, update and way back of each weight that it uses;
 * these blocks are made anew.  Kept, with other predecessors, are
 *   the forward parts of its readers,
 *   the backward parts of the operators that it reads,
 *   barriers.
 * Everything else names only tasks that stay where they are.
 */
#include "graph/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/live_inside.h"

/* ---- blocks ------------------------------------------------------------------------------ */

static void push_block(ss_live *l, ss_block_kind kind, uint32_t of, uint32_t *of_number)
{
    l->block[++l->blocks] = (ss_block){.kind = kind, .of = of};
    if (of_number)
        of_number[of] = l->blocks;
}

static void list_op_blocks(ss_live *l)
{
    struct ss_live_inside *x = l->inside;
    const struct ss_lower_scratch *s = x->w.s;
    uint32_t ops = x->w.model->ops;
    for (uint32_t i = 1; i <= ops; i++) {
        for (uint32_t f = s->first_feed[i]; f < s->first_feed[i + 1]; f++)
            push_block(l, SS_BLOCK_FORWARD_MESSAGES, f, x->forward_messages);
        push_block(l, SS_BLOCK_FORWARD, i, x->forward);
    }
    for (uint32_t i = ops; i > 0; i--) {
        if (!ss_lower_has_backward(&x->w, (ss_op){i}))
            continue;
        for (uint32_t u = s->first_use[i]; u < s->first_use[i + 1]; u++)
            if (ss_lower_carries_gradient(&x->w, &s->feed[s->use[u]]))
                push_block(l, SS_BLOCK_BACKWARD_MESSAGES, s->use[u], x->backward_messages);
        push_block(l, SS_BLOCK_SUMS, i, x->sums);
        push_block(l, SS_BLOCK_BACKWARD, i, x->backward);
    }
}

static ss_status list_blocks(ss_live *l, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    const ss_model *m = x->w.model;
    uint32_t feeds = x->w.s->feeds;
    size_t most = 2 * (size_t)feeds + 3 * (size_t)m->ops + 3 * (size_t)m->weights + 2;
    size_t numbers = 2 * ((size_t)feeds + 1) + 3 * ((size_t)m->ops + 1) + m->weights + 1;
    l->block = ss_alloc_zeroed(most, sizeof *l->block);
    uint32_t *number = x->numbers = ss_alloc_zeroed(numbers, sizeof *number);
    if (!l->block || !number)
        return ss_fail_memory(err, "blocks of tasks", most * sizeof *l->block);
    x->forward_messages = number;
    x->backward_messages = number += feeds + 1;
    x->forward = number += feeds + 1;
    x->sums = number += m->ops + 1;
    x->backward = number += m->ops + 1;
    x->meeting = number += m->ops + 1;
    list_op_blocks(l);
    if (ss_lower_has_barriers(&x->w)) {
        push_block(l, SS_BLOCK_BARRIERS, 0, NULL);
        x->barriers = l->blocks;
    }
    for (uint32_t k = 1; k <= m->weights; k++)
        push_block(l, SS_BLOCK_MEETING, k, x->meeting);
    for (uint32_t k = 1; k <= m->weights; k++)
        push_block(l, SS_BLOCK_UPDATE, k, NULL);
    for (uint32_t k = 1; k <= m->weights; k++)
        push_block(l, SS_BLOCK_WEIGHTS_BACK, k, NULL);
    return SS_OK;
}

static ss_status make_meeting(ss_lowering *w, ss_weight weight, ss_error *err)
{
    ss_status e = ss_lower_shards_of(w, weight, err);
    return e || !w->options.training ? e : ss_lower_meet(w, weight, err);
}

/* Writes the tasks of a block behind all others. */
static ss_status make(ss_lowering *w, const ss_block *b, ss_error *err)
{
    bool training = w->options.training;
    switch (b->kind) {
    case SS_BLOCK_FORWARD_MESSAGES:
        return ss_lower_feed_forward(w, b->of, err);
    case SS_BLOCK_FORWARD:
        return ss_lower_forward_parts(w, (ss_op){b->of}, err);
    case SS_BLOCK_BACKWARD_MESSAGES:
        return ss_lower_feed_backward(w, b->of, err);
    case SS_BLOCK_SUMS:
        return ss_lower_partial_sums(w, (ss_op){b->of}, err);
    case SS_BLOCK_BACKWARD:
        return ss_lower_backward_parts(w, (ss_op){b->of}, err);
    case SS_BLOCK_BARRIERS:
        return ss_lower_barriers(w, err);
    case SS_BLOCK_MEETING:
        return make_meeting(w, (ss_weight){b->of}, err);
    case SS_BLOCK_UPDATE:
        return training ? ss_lower_update(w, (ss_weight){b->of}, err) : SS_OK;
    case SS_BLOCK_WEIGHTS_BACK:
        return training ? ss_lower_send_back(w, (ss_weight){b->of}, err) : SS_OK;
    }
    return SS_OK;
}

/* Makes block number b; *run is where its tasks lie. */
static ss_status make_run(ss_live *l, uint32_t b, ss_block *run, ss_error *err)
{
    ss_lowering *w = &l->inside->w;
    *run = l->block[b];
    run->first = w->tasks->n + 1;
    w->tasks->moved = 0; /* sums of bytes mean nothing here, and must not overflow */
    memset(w->out->moved, 0, sizeof w->out->moved);
    ss_status e = make(w, run, err);
    run->n = w->tasks->n + 1 - run->first;
    return e ? e : ss_live_place(l, b, run, err);
}

/* ---- a change ---------------------------------------------------------------------------- */

static void save_mark(const ss_live *l, ss_live_mark *m)
{
    const ss_lowering *w = &l->inside->w;
    *m = (ss_live_mark){.tasks = w->tasks->n,
                        .edges = w->tasks->edges,
                        .outs = l->inside->outs,
                        .n = l->n,
                        .sents = w->s->sents,
                        .pieces = w->s->pieces,
                        .ranges = w->s->ranges,
                        .froms = w->s->froms,
                        .waits = w->s->waits,
                        .shards = w->out->shards,
                        .shard_devices = w->out->shard_devices};
}

static void back_to_mark(ss_live *l, const ss_live_mark *m)
{
    ss_lowering *w = &l->inside->w;
    w->tasks->n = m->tasks;
    w->tasks->edges = m->edges;
    l->inside->outs = m->outs;
    l->n = m->n;
    w->s->sents = m->sents;
    w->s->pieces = m->pieces;
    w->s->ranges = m->ranges;
    w->s->froms = m->froms;
    w->s->waits = m->waits;
    w->out->shards = m->shards;
    w->out->shard_devices = m->shard_devices;
}

/* What the lowering remembers of rows that may be written over. */
static void forget_rows(struct ss_live_inside *x)
{
    x->w.s->boxes_of = 0;
    x->w.s->meeting.devices = 0;
}

/* Remembers the value of a number before it changes. */
static ss_status save_number(struct ss_live_inside *x, uint32_t *at, ss_error *err)
{
    ss_status e = SS_RESERVE(x->saved, x->saved_cap, (size_t)x->saveds + 1, "a change", err);
    if (!e)
        x->saved[x->saveds++] = (ss_live_saved){at, *at};
    return e;
}

static ss_status save_feed(struct ss_live_inside *x, uint32_t feed, ss_error *err)
{
    ss_feed *f = &x->w.s->feed[feed];
    ss_status e = save_number(x, &f->first, err);
    return e ? e : save_number(x, &f->pieces, err);
}

static ss_status save_op(struct ss_live_inside *x, ss_op op, ss_error *err)
{
    ss_status e = save_number(x, &x->w.out->forward[op.i].i, err);
    if (!e)
        e = save_number(x, &x->w.out->backward[op.i].i, err);
    return e;
}

/* Blocks to be made anew, and to be kept with other predecessors, are noted by number; then they
 * are taken in structural order, in which each names only tasks that are there. */
static ss_status note(struct ss_live_inside *x, uint32_t b, bool keep, ss_error *err)
{
    if (!b)
        return SS_OK;
    if (x->todo[b] == x->change + !keep || x->todo[b] == x->change + 1)
        return SS_OK; /* as noted, or to be made anew in any case */
    bool first = x->todo[b] < x->change;
    x->todo[b] = x->change + !keep;
    if (!first)
        return SS_OK;
    ss_status e = SS_RESERVE(x->order, x->order_cap, (size_t)x->orders + 1, "a change", err);
    if (!e)
        x->order[x->orders++] = b;
    return e;
}

static ss_status note_feed(struct ss_live_inside *x, uint32_t feed, ss_error *err)
{
    const ss_feed *f = &x->w.s->feed[feed];
    ss_status e = note(x, x->forward_messages[feed], false, err);
    if (!e)
        e = note(x, x->forward[f->to.i], true, err);
    if (e || !x->backward_messages[feed])
        return e;
    if (!(e = note(x, x->backward_messages[feed], false, err)) &&
        !(e = note(x, x->sums[f->from.i], false, err)))
        e = note(x, x->backward[f->from.i], true, err);
    return e;
}

static ss_status note_weight(struct ss_live_inside *x, ss_weight k, ss_error *err)
{
    uint32_t weights = x->w.model->weights, b = x->meeting[k.i];
    ss_status e = note(x, b, false, err);
    if (!e)
        e = note(x, b + weights, false, err);
    return e ? e : note(x, b + 2 * weights, false, err);
}

static ss_status note_op(struct ss_live_inside *x, ss_op op, ss_error *err)
{
    const struct ss_lower_scratch *s = x->w.s;
    const ss_op_row *row = &x->w.model->op[op.i];
    ss_status e = note(x, x->forward[op.i], false, err);
    if (!e)
        e = note(x, x->sums[op.i], false, err);
    if (!e)
        e = note(x, x->backward[op.i], false, err);
    for (uint32_t f = s->first_feed[op.i]; f < s->first_feed[op.i + 1] && !e; f++)
        e = note_feed(x, f, err);
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1] && !e; u++)
        e = note_feed(x, s->use[u], err);
    for (uint32_t k = 0; k < row->def->weights && !e; k++)
        e = note_weight(x, row->weight[k], err);
    return e;
}

/* What making a block writes into tables, saved before. */
static ss_status save_tables(struct ss_live_inside *x, const ss_block *b, ss_error *err)
{
    ss_status e = SS_OK;
    struct ss_lower_scratch *s = x->w.s;
    if (b->kind == SS_BLOCK_FORWARD_MESSAGES)
        e = save_feed(x, b->of, err);
    if (b->kind == SS_BLOCK_FORWARD || b->kind == SS_BLOCK_BACKWARD)
        e = save_op(x, (ss_op){b->of}, err);
    if (b->kind == SS_BLOCK_MEETING && !(e = save_number(x, &s->first_shard[b->of], err)))
        e = save_number(x, &s->shards_of[b->of], err);
    for (uint32_t d = 0; b->kind == SS_BLOCK_BARRIERS && d <= x->w.topology->devices && !e; d++)
        e = save_number(x, &s->barrier[d].i, err);
    return e;
}

/* The tables of a block that is kept name its old slots again. */
static void point_back(struct ss_live_inside *x, uint32_t from)
{
    for (uint32_t i = x->saveds; i-- > from;)
        *x->saved[i].at = x->saved[i].was;
    x->saveds = from;
}

static ss_status change_block(ss_live *l, uint32_t b, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    uint32_t saveds = x->saveds;
    ss_block run;
    ss_status e = save_tables(x, &l->block[b], err);
    if (!e)
        e = make_run(l, b, &run, err);
    if (e)
        return e;
    if (x->todo[b] == x->change + 1)
        return ss_live_replace(l, b, &run, err);
    point_back(x, saveds);
    return ss_live_rewire(l, b, &run, err);
}

static ss_status swap_config(struct ss_live_inside *x, ss_op op, const ss_config *c, ss_error *err)
{
    ss_status e = SS_RESERVE(x->config, x->config_cap, (size_t)x->configs + 1, "a change", err);
    if (e)
        return e;
    ss_live_config *old = &x->config[x->configs];
    if (x->configs == x->configs_made) {
        old->config = (ss_config){0};
        x->configs_made++;
    }
    if ((e = SS_RESERVE(old->config.device, old->config.cap, c->parts, "a change", err)))
        return e;
    ss_config *now = &x->strategy->config[op.i], fresh = old->config;
    memcpy(fresh.degree, c->degree, sizeof fresh.degree);
    memcpy(fresh.device, c->device, c->parts * sizeof *c->device);
    fresh.parts = c->parts;
    old->op = op;
    old->config = *now;
    *now = fresh;
    x->configs++;
    return SS_OK;
}

/* The blocks that are made anew, as they were. */
static void count_old(ss_live *l, uint64_t sign)
{
    const struct ss_live_inside *x = l->inside;
    for (uint32_t i = 0; i < x->orders; i++)
        if (x->todo[x->order[i]] == x->change + 1)
            ss_live_count_work(l, &l->block[x->order[i]], sign);
}

ss_time ss_live_work_over(const ss_live *l, ss_time bound)
{
    uint64_t most = 0;
    for (uint32_t i = 1; i <= l->pool->devices + l->pool->links; i++)
        most = l->work[i] > most ? l->work[i] : most;
    return most > (uint64_t)SS_TIME_MAX || (ss_time)most <= bound ? 0 : (ss_time)most;
}

static ss_status apply(ss_live *l, const ss_op *op, const ss_config *config, uint32_t n,
                       ss_time bound, ss_time *over, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    ss_status e = SS_OK;
    for (uint32_t i = 0; i < n && !e; i++) {
        e = swap_config(x, op[i], &config[i], err);
        if (!e)
            e = save_number(x, &x->w.s->first_range[op[i].i], err);
        if (!e)
            e = ss_lower_range_of(&x->w, op[i], err);
        if (!e)
            e = note_op(x, op[i], err);
    }
    if (!e && x->barriers)
        e = note(x, x->barriers, true, err);
    if (e)
        return e;
    qsort(x->order, x->orders, sizeof *x->order, ss_by_number);
    count_old(l, UINT64_MAX);
    x->lifted = true;
    for (uint32_t i = 0; i < x->orders && !e; i++) {
        e = change_block(l, x->order[i], err);
        if (!e && bound < SS_TIME_MAX && (*over = ss_live_work_over(l, bound)))
            return SS_OK;
    }
    return e ? e : ss_live_hook(l, err);
}

ss_status ss_live_change(ss_live *l, const ss_op *op, const ss_config *config, uint32_t n,
                         ss_time bound, ss_time *over, ss_error *err)
{
    *over = 0;
    struct ss_live_inside *x = l->inside;
    if (l->changing)
        return ss_fail(err, SS_EINVAL, "a change is under way: undo or keep it first");
    save_mark(l, &x->mark);
    x->saveds = x->orders = x->configs = 0;
    l->gones = l->mades = l->rewireds = l->turneds = 0;
    x->change += 2;
    l->changing = true;
    forget_rows(x);
    x->lifted = false;
    ss_status e = apply(l, op, config, n, bound, over, err);
    if (e || *over)
        ss_live_undo(l);
    return e;
}

void ss_live_undo(ss_live *l)
{
    struct ss_live_inside *x = l->inside;
    if (!l->changing)
        return;
    ss_live_unhook(l);
    if (x->lifted)
        count_old(l, 1);
    point_back(x, 0);
    back_to_mark(l, &x->mark);
    for (uint32_t i = x->configs; i-- > 0;) {
        ss_config *now = &x->strategy->config[x->config[i].op.i], fresh = *now;
        *now = x->config[i].config;
        x->config[i].config = fresh;
    }
    forget_rows(x);
    l->changing = false;
}

static void take_away(uint64_t *by_device, const ss_live *l, uint32_t b)
{
    const ss_block *block = &l->block[b];
    for (uint32_t i = block->first; b && i < block->first + block->n; i++)
        by_device[l->row[i].where] -= (uint64_t)l->row[i].hold;
}

/* The holds of the parts that a configuration would have; the graph does not come to know it. */
static ss_status add_compute(ss_live *l, ss_op op, const ss_config *c, uint64_t *by_device,
                             ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    struct ss_lower_scratch *s = x->w.s;
    ss_config *now = &x->strategy->config[op.i], held = *now;
    uint32_t first_range = s->first_range[op.i], ranges = s->ranges;
    *now = *c;
    forget_rows(x);
    ss_status e = ss_lower_range_of(&x->w, op, err);
    if (!e)
        e = ss_lower_add_times(&x->w, op, by_device, err);
    *now = held;
    forget_rows(x);
    s->first_range[op.i] = first_range;
    s->ranges = ranges;
    return e;
}

ss_status ss_live_most_compute(ss_live *l, const ss_op *op, const ss_config *config, uint32_t n,
                               uint64_t *out, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    uint32_t devices = x->w.topology->devices;
    uint64_t *sum = x->computed;
    ss_status e = SS_OK;
    memcpy(sum, x->compute, ((size_t)devices + 1) * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        take_away(sum, l, x->forward[op[i].i]);
        take_away(sum, l, x->backward[op[i].i]);
    }
    for (uint32_t i = 0; i < n && !e; i++)
        e = add_compute(l, op[i], &config[i], sum, err);
    *out = 0;
    for (uint32_t d = 1; d <= devices; d++)
        *out = sum[d] > *out ? sum[d] : *out;
    return e;
}

void ss_live_keep(ss_live *l)
{
    l->changing = false;
}

uint32_t ss_live_first_new(const ss_live *l)
{
    return l->changing ? l->inside->mark.tasks + 1 : l->pool->n + 1;
}

/* ---- a graph ----------------------------------------------------------------------------- */

static ss_status build(ss_live *l, const ss_lower_options *options, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    ss_lowering *w = &x->w;
    ss_status e = ss_lower_start(x->strategy->model, x->strategy->topology, x->routes, x->strategy,
                                 &x->timer, options, &x->lowered, w, err);
    l->pool = &x->lowered.tasks;
    w->every_barrier = true;
    if (!e)
        e = ss_lower_ranges(w, err);
    if (!e)
        e = ss_lower_feeds(w, err);
    if (!e)
        e = ss_lower_weights(w, err);
    if (e)
        return e;
    w->s->waits = 0;
    w->s->meeting.devices = 0;
    e = list_blocks(l, err);
    if (e)
        return e;
    size_t resources = (size_t)w->topology->devices + w->topology->links + 1;
    l->work = ss_alloc_zeroed(resources, sizeof *l->work);
    x->todo = ss_alloc_zeroed((size_t)l->blocks + 1, sizeof *x->todo);
    x->compute = ss_alloc_zeroed((size_t)w->topology->devices + 1, sizeof *x->compute);
    x->computed = ss_alloc_zeroed((size_t)w->topology->devices + 1, sizeof *x->computed);
    if (!l->work || !x->todo || !x->compute || !x->computed)
        return ss_fail_memory(err, "a task graph", resources * sizeof *l->work);
    for (uint32_t b = 1; b <= l->blocks && !e; b++) {
        ss_block run;
        e = make_run(l, b, &run, err);
        if (!e)
            e = ss_live_replace(l, b, &run, err);
    }
    return e ? e : ss_live_hook(l, err);
}

ss_status ss_live_new(const ss_strategy *s, ss_routes *r, const ss_timer *timer,
                      const ss_lower_options *options, ss_live **out, ss_error *err)
{
    ss_live *l = ss_alloc_zeroed(1, sizeof *l);
    if (l && !(l->inside = ss_alloc_zeroed(1, sizeof *l->inside))) {
        ss_free(l);
        l = NULL;
    }
    if (!l)
        return ss_fail_memory(err, "a task graph", sizeof *l);
    struct ss_live_inside *x = l->inside;
    x->routes = r;
    x->timer = *timer;
    x->change = 2;
    ss_status e = ss_strategy_copy(s, &x->strategy, err);
    if (!e)
        e = build(l, options, err);
    l->gones = l->mades = l->rewireds = l->turneds = 0;
    x->fewest_outs = x->outs;
    x->fewest_edges = l->pool ? l->pool->edges : 0;
    if (e)
        ss_live_free(l);
    else
        *out = l;
    return e;
}

void ss_live_free(ss_live *l)
{
    if (!l)
        return;
    struct ss_live_inside *x = l->inside;
    for (uint32_t i = 0; i < x->configs_made; i++)
        ss_free(x->config[i].config.device);
    ss_free(x->config);
    ss_free(x->saved);
    ss_free(x->order);
    ss_free(x->todo);
    ss_free(x->compute);
    ss_free(x->computed);
    ss_free(x->numbers);
    ss_free(x->gone);
    ss_free(x->made);
    ss_free(x->replaced);
    ss_free(x->rewired);
    ss_free(x->turned);
    ss_free(x->turn);
    ss_lowered_free(&x->lowered);
    ss_strategy_free(x->strategy);
    ss_free(x);
    ss_free(l->row);
    ss_free(l->in);
    ss_free(l->out);
    ss_free(l->block);
    ss_free(l->work);
    ss_free(l);
}

bool ss_live_is_untidy(const ss_live *l)
{
    const struct ss_live_inside *x = l->inside;
    return l->pool->n / 3 * 2 > l->n + 512 || x->outs / 3 * 2 > x->fewest_outs + 1024 ||
           l->pool->edges / 3 * 2 > x->fewest_edges + 1024;
}

ss_status ss_live_tidy(ss_live *l, ss_error *err)
{
    struct ss_live_inside *x = l->inside;
    if (l->changing)
        return ss_fail(err, SS_EINVAL, "a change is under way: undo or keep it first");
    ss_live *fresh;
    ss_status e = ss_live_new(x->strategy, x->routes, &x->timer, &x->lowered.options, &fresh, err);
    if (e)
        return e;
    ss_live old = *l;
    *l = *fresh;
    *fresh = old;
    ss_live_free(fresh);
    return SS_OK;
}

uint32_t ss_live_tasks(const ss_live *l)
{
    uint32_t b = l->inside->barriers, absent = 0;
    for (uint32_t k = 0; b && k < l->block[b].n; k++)
        absent += ss_live_is_absent(l, l->block[b].first + k);
    return l->n - absent;
}
