/* lower.c - the order of work: which tasks come when, so that ids are places in that order.
 *
 * Phase 0: operators as the model has them, for each the messages into it and then its parts. Phase
 * 1, when training: the same backwards, for each operator that a gradient has to reach.  The other
 * phases are in lower_sync.c.  Every edge goes from a smaller to a larger id, whatever takes no
 * time.
 */
#include "graph/lowering.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

ss_lower_options ss_lower_options_start(void)
{
    return (ss_lower_options){.training = true,
                              .coalesce = SS_COALESCE_NONE,
                              .sync = SS_SYNC_PARAMETER_SERVER,
                              .overlap = true,
                              .links = SS_LINKS_FIFO_HOP,
                              .max_segments = 16,
                              .run = {.streams = 1, .slowed_by_copies = 1}};
}

ss_status ss_lower_check_options(const ss_lower_options *o, ss_error *err)
{
    bool collective = o->sync >= SS_SYNC_RING;
    bool chunked = o->sync == SS_SYNC_TREE || o->sync == SS_SYNC_DOUBLE_TREE ||
                   o->sync == SS_SYNC_IN_NETWORK || o->sync == SS_SYNC_AUTO;
    if ((unsigned)o->sync >= SS_SYNCS)
        return ss_fail(err, SS_EINVAL, "sync %d does not exist", (int)o->sync);
    if ((unsigned)o->coalesce > SS_COALESCE_PER_DEVICE)
        return ss_fail(err, SS_EINVAL, "coalesce %d does not exist", (int)o->coalesce);
    if (o->lumped && !o->training)
        return ss_fail(
            err, SS_EINVAL,
            "lumped puts backward into the task of forward, and without training there is "
            "no backward: give one of the two");
    if (o->aggregate && o->training && !collective)
        return ss_fail(
            err, SS_EINVAL,
            "aggregate makes one task of an all-reduce (ring, tree, two_level, ...), and sync is "
            "%s",
            ss_sync_name(o->sync));
    if (o->links == SS_LINKS_SHARED && o->training && o->aggregate && o->flow_limit > 0)
        return ss_fail(
            err, SS_EINVAL,
            "flow_limit is of one message, and aggregate makes one flow of all that meet: "
            "give one of the two");
    if (o->chunk_bytes < 0)
        return ss_fail(err, SS_EINVAL, "chunks of %lld bytes: give a positive size, or 0 for none",
                       (long long)o->chunk_bytes);
    if (o->chunk_bytes && o->training && !chunked)
        return ss_fail(
            err, SS_EINVAL,
            "chunk cuts what tree, double_tree, in_network and auto pass on, and sync is %s",
            ss_sync_name(o->sync));
    if (o->links == SS_LINKS_SHARED && o->training && o->sync == SS_SYNC_CLOSED_FORM)
        return ss_fail(
            err, SS_EINVAL,
            "sync closed_form makes tasks that hold all links, and shared links are held "
            "by nobody; ring, tree, two_level and parameter_server send messages");
    if (!(o->update_passes >= 0) || o->update_passes > 1e6)
        return ss_fail(err, SS_EINVAL, "update_passes is %g: it must be from 0 to 1e6",
                       o->update_passes);
    if (!(o->flow_limit >= 0) || isinf(o->flow_limit))
        return ss_fail(err, SS_EINVAL, "flow_limit is %g B/s: it must be 0 (none) or more",
                       o->flow_limit);
    if (o->flow_limit > 0 && o->links != SS_LINKS_SHARED)
        return ss_fail(
            err, SS_EINVAL,
            "flow_limit is of messages that share links, and links are %s, where each has "
            "its links to itself: give links = \"shared\", or no limit",
            ss_links_mode_name(o->links));
    if (o->segment_bytes < 0)
        return ss_fail(err, SS_EINVAL,
                       "segments of %lld bytes: give a positive size, or 0 for none",
                       (long long)o->segment_bytes);
    return SS_OK;
}

static ss_status refuse_strategy(const ss_model *m, const ss_topology *t, const ss_strategy *s,
                                 ss_error *err)
{
    if (s->model != m || s->topology != t)
        return ss_fail(err, SS_EINVAL, "the strategy is for another %s, \"%s\"",
                       s->model != m ? "model" : "topology",
                       s->model != m ? s->model->name : s->topology->name);
    if (s->ops != m->ops)
        return ss_fail(err, SS_EINVAL,
                       "the strategy was made when model \"%s\" had %u operators; it has %u now",
                       m->name, s->ops, m->ops);
    return SS_OK;
}

static ss_status start_tasks(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_topology *t = w->topology;
    size_t links = (size_t)t->links + 1, devices = (size_t)t->devices + 1;
    ss_status e;
    if (t->laws && !w->options.ideal_links && w->options.training && w->options.aggregate)
        return ss_fail(
            err, SS_EUNSUPPORTED,
            "aggregate knows the latency and bandwidth of links alone, and those of "
            "topology %s fall short of them by size or load: give ideal_links too, or let "
            "the messages be sent",
            t->name);
    if (links > s->link_cap) {
        uint32_t cap = ss_grown(s->link_cap, links);
        if ((e = SS_REGROW(s->bytes_per_s, cap, "links", err)) ||
            (e = SS_REGROW(s->latency_s, cap, "links", err)) ||
            (e = SS_REGROW(s->law, cap, "links", err)))
            return e;
        s->link_cap = cap;
    }
    if (devices > s->device_cap) {
        uint32_t cap = ss_grown(s->device_cap, devices);
        if ((e = SS_REGROW(s->stamp, cap, "devices", err)) ||
            (e = SS_REGROW(s->at_device, cap, "devices", err)))
            return e;
        s->device_cap = cap;
    }
    s->bytes_per_s[0] = s->latency_s[0] = 0;
    s->law[0] = NULL;
    for (uint32_t l = 1; l <= t->links; l++) {
        const ss_link_def *def = &t->link[l].def;
        s->law[l] = w->options.ideal_links ? NULL : def->law;
        s->bytes_per_s[l] = def->bytes_per_s * (s->law[l] ? 1 - s->law[l]->load : 1);
        s->latency_s[l] = def->latency_s;
    }
    memset(s->stamp, 0, devices * sizeof *s->stamp);
    s->stamps = 0;
    e = ss_luck_start(&s->luck, w->options.chance, w->options.repetition, w->model, t, err);
    if (!e)
        e = ss_tasks_start(w->tasks, t->devices, t->links, s->bytes_per_s, s->latency_s,
                           w->options.links, err);
    ss_tasks_set_flows(w->tasks, 1, w->options.flow_limit);
    if (!e)
        e = ss_tasks_set_laws(w->tasks, t->laws ? (const ss_link_law *const *)s->law : NULL, err);
    return e ? e : ss_tasks_draw(w->tasks, &s->luck, err);
}

static ss_status start_out(ss_lowering *w, ss_error *err)
{
    ss_lowered *out = w->out;
    size_t ops = (size_t)w->model->ops + 1;
    if (ops > out->op_cap) {
        uint32_t cap = ss_grown(out->op_cap, ops);
        ss_status e;
        if ((e = SS_REGROW(out->forward, cap, "operators", err)) ||
            (e = SS_REGROW(out->backward, cap, "operators", err)))
            return e;
        out->op_cap = cap;
    }
    memset(out->forward, 0, ops * sizeof *out->forward);
    memset(out->backward, 0, ops * sizeof *out->backward);
    memset(out->moved, 0, sizeof out->moved);
    out->ops = w->model->ops;
    out->options = w->options;
    out->charged_bytes = 0;
    out->shards = out->shard_devices = 0;
    w->s->sents = 0;
    return SS_OK;
}

/* Whether the timer would say the same of both parts. */
static bool times_alike(const ss_lowering *w, ss_op op, uint32_t a, uint32_t b)
{
    const ss_op_def *def = w->model->op[op.i].def;
    const ss_device *device = ss_lowering_config(w, op)->device;
    const ss_box *x = &w->s->box[a], *y = &w->s->box[b];
    const uint32_t *alike = w->timer->alike;
    if (!alike || alike[device[a].i] != alike[device[b].i])
        return false;
    for (uint32_t d = 0; d < x->rank; d++) {
        if (x->hi[d] - x->lo[d] != y->hi[d] - y->lo[d])
            return false;
        if (x->lo[d] != y->lo[d] && def->dim[d].cls != SS_DIM_SAMPLE)
            return false;
    }
    return true;
}

/* Time of one part: of one phase, or of both together.  *out is that of the part before it. */
static ss_status time_part(const ss_lowering *w, ss_op op, uint32_t part, bool forward,
                           bool backward, ss_time *out, ss_error *err)
{
    ss_device device = ss_lowering_config(w, op)->device[part];
    const ss_box *box = &w->s->box[part];
    const ss_timer *t = w->timer;
    ss_time back = 0;
    ss_status e = SS_OK;
    /* 0 may stand for a time that is missing: these are counted */
    if (part && *out > 0 && times_alike(w, op, part - 1, part))
        return SS_OK;
    *out = 0;
    if (forward)
        e = t->part(t->context, w->model, op, SS_FORWARD, box, device, out, err);
    if (!e && backward)
        e = t->part(t->context, w->model, op, SS_BACKWARD, box, device, &back, err);
    return e ? e : ss_time_add(*out, back, out, err);
}

static uint8_t part_kind(bool forward, bool backward)
{
    return forward && backward ? SS_TASK_LUMPED : forward ? SS_TASK_FORWARD : SS_TASK_BACKWARD;
}

/* Of one phase, or of both together; saturates. */
static ss_status add_times(const ss_lowering *w, ss_op op, bool forward, bool backward,
                           uint64_t *by_device, ss_error *err)
{
    const ss_config *c = ss_lowering_config(w, op);
    ss_task_label label = {.kind = part_kind(forward, backward), .op = op.i};
    ss_status e = SS_OK;
    ss_time time = 0, drawn;
    for (uint32_t p = 0; p < c->parts && !e; p++) {
        label.part = p;
        e = time_part(w, op, p, forward, backward, &time, err);
        if (!e)
            e = ss_luck_hold(&w->s->luck, &label, c->device[p].i, time, &drawn, err);
        uint64_t *sum = &by_device[c->device[p].i];
        if (!e)
            *sum = *sum > UINT64_MAX - (uint64_t)drawn ? UINT64_MAX : *sum + (uint64_t)drawn;
    }
    return e;
}

ss_status ss_lower_add_times(ss_lowering *w, ss_op op, uint64_t *by_device, ss_error *err)
{
    bool lumped = w->options.lumped && w->s->needs[op.i];
    ss_status e = ss_lower_boxes(w, op, err);
    if (!e)
        e = add_times(w, op, true, lumped, by_device, err);
    if (!e && ss_lower_has_backward(w, op))
        e = add_times(w, op, false, true, by_device, err);
    return e;
}

/* How far the task waits for memory, where runs ask. */
static ss_status bind_part(ss_lowering *w, ss_op op, uint32_t part, bool backward, ss_task task,
                           ss_error *err)
{
    const ss_timer *t = w->timer;
    double bound = 0;
    if (!(w->options.run.interference > 0) || !t->part_bound)
        return SS_OK;
    ss_status e = t->part_bound(t->context, w->model, op, backward ? SS_BACKWARD : SS_FORWARD,
                                &w->s->box[part], ss_lowering_config(w, op)->device[part], &bound,
                                err);
    return e ? e : ss_tasks_bind(w->tasks, task, bound, err);
}

const char *ss_stream_name(ss_stream s)
{
    static const char *const name[SS_STREAMS] = {"copy", "sum", "update", "message"};
    return (unsigned)s < SS_STREAMS ? name[s] : "none";
}

static double stream_bound(const ss_lowering *w, ss_stream what, double bytes, ss_device device)
{
    const ss_timer *t = w->timer;
    return t->memory_bound ? t->memory_bound(t->context, what, bytes, device) : 1;
}

ss_status ss_lower_add_stream(ss_lowering *w, ss_stream what, double bytes, ss_device device,
                              const ss_task_label *label, ss_task *out, ss_error *err)
{
    ss_time time;
    ss_status e = w->timer->memory(w->timer->context, what, bytes, device, &time, err);
    if (!e)
        e = ss_tasks_add(w->tasks, device.i, time, 0, label, out, err);
    if (e || !(w->options.run.interference > 0))
        return e;
    return ss_tasks_bind(w->tasks, *out, stream_bound(w, what, bytes, device), err);
}

/* Where devices do the copying of messages, it reads and writes what they carry. */
static ss_status bind_copies(const ss_lowering *w, ss_error *err)
{
    const ss_run_options *o = &w->options.run;
    ss_status e = SS_OK;
    if (!(o->interference > 0) || !o->copies_block)
        return SS_OK;
    for (uint32_t i = 1; i <= w->tasks->n && !e; i++) {
        const ss_task_label *l = &w->tasks->label[i];
        ss_device copier = ss_run_options_block_receiver(o) ? l->to : l->from;
        if (l->kind == SS_TASK_TRANSFER && copier.i)
            e = ss_tasks_bind(w->tasks, (ss_task){i},
                              stream_bound(w, SS_STREAM_MESSAGE, 2.0 * (double)w->tasks->bytes[i],
                                           copier),
                              err);
    }
    return e;
}

ss_status ss_lower_forward_parts(ss_lowering *w, ss_op op, ss_error *err)
{
    const ss_config *c = ss_lowering_config(w, op);
    bool lumped = w->options.lumped && w->s->needs[op.i];
    ss_task_label label = {.kind = part_kind(true, lumped), .op = op.i};
    ss_status e = ss_lower_boxes(w, op, err);
    w->out->forward[op.i].i = w->tasks->n + 1;
    ss_lower_rewind(w, op, false);
    ss_time time = 0;
    for (uint32_t p = 0; p < c->parts && !e; p++) {
        ss_task task;
        label.part = p;
        e = time_part(w, op, p, true, lumped, &time, err);
        if (!e)
            e = ss_tasks_add(w->tasks, c->device[p].i, time, 0, &label, &task, err);
        if (!e)
            e = bind_part(w, op, p, lumped, task, err);
        if (!e)
            e = ss_lower_after_inputs(w, op, p, err);
    }
    return e;
}

ss_status ss_lower_backward_parts(ss_lowering *w, ss_op op, ss_error *err)
{
    const ss_config *c = ss_lowering_config(w, op);
    ss_task_label label = {.kind = part_kind(false, true), .op = op.i};
    ss_status e = ss_lower_boxes(w, op, err);
    w->out->backward[op.i].i = w->tasks->n + 1;
    ss_lower_rewind(w, op, true);
    ss_time time = 0;
    for (uint32_t p = 0; p < c->parts && !e; p++) {
        ss_task task, forward = {w->out->forward[op.i].i + p};
        label.part = p;
        e = time_part(w, op, p, false, true, &time, err);
        if (!e)
            e = ss_tasks_add(w->tasks, c->device[p].i, time, 0, &label, &task, err);
        if (!e)
            e = bind_part(w, op, p, true, task, err);
        if (!e)
            e = ss_tasks_after(w->tasks, forward, err);
        if (!e)
            e = ss_lower_after_gradients(w, op, p, err);
    }
    return e;
}

static ss_status lower_forward(ss_lowering *w, ss_op op, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t f = w->s->first_feed[op.i]; f < w->s->first_feed[op.i + 1] && !e; f++)
        e = ss_lower_feed_forward(w, f, err);
    return e ? e : ss_lower_forward_parts(w, op, err);
}

static ss_status lower_backward(ss_lowering *w, ss_op op, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_status e = SS_OK;
    for (uint32_t u = s->first_use[op.i]; u < s->first_use[op.i + 1] && !e; u++)
        if (ss_lower_carries_gradient(w, &s->feed[s->use[u]]))
            e = ss_lower_feed_backward(w, s->use[u], err);
    if (!e)
        e = ss_lower_partial_sums(w, op, err);
    return e ? e : ss_lower_backward_parts(w, op, err);
}

static ss_status lower_weights(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t weights = w->model->weights;
    ss_status e = ss_lower_weights(w, err);
    for (uint32_t x = 1; x <= weights && !e; x++)
        e = ss_lower_shards_of(w, (ss_weight){x}, err);
    if (e || !w->options.training)
        return e;
    s->waits = 0;
    s->meeting.devices = 0;
    if (ss_lower_has_barriers(w))
        e = ss_lower_barriers(w, err);
    for (uint32_t x = 1; x <= weights && !e; x++)
        e = ss_lower_meet(w, (ss_weight){x}, err);
    for (uint32_t x = 1; x <= weights && !e; x++)
        e = ss_lower_update(w, (ss_weight){x}, err);
    for (uint32_t x = 1; x <= weights && !e; x++)
        e = ss_lower_send_back(w, (ss_weight){x}, err);
    return e;
}

static ss_status lower_phases(ss_lowering *w, ss_error *err)
{
    uint32_t ops = w->model->ops;
    ss_status e = ss_lower_ranges(w, err);
    if (!e)
        e = ss_lower_feeds(w, err);
    for (uint32_t i = 1; i <= ops && !e; i++) {
        e = ss_lowering_look_up(w, "lowering forward work", i - 1, ops, err);
        if (!e)
            e = lower_forward(w, (ss_op){i}, err);
    }
    for (uint32_t i = ops; i > 0 && w->options.training && !w->options.lumped && !e; i--) {
        e = ss_lowering_look_up(w, "lowering backward work", ops - i, ops, err);
        if (!e && w->s->needs[i])
            e = lower_backward(w, (ss_op){i}, err);
    }
    return e ? e : lower_weights(w, err);
}

ss_status ss_lower_start(const ss_model *m, const ss_topology *t, ss_routes *r,
                         const ss_strategy *s, const ss_timer *timer,
                         const ss_lower_options *options, ss_lowered *out, ss_lowering *w,
                         ss_error *err)
{
    ss_status e = ss_lower_check_options(options, err);
    if (!e)
        e = refuse_strategy(m, t, s, err);
    if (e)
        return e;
    if (!out->scratch && !(out->scratch = ss_alloc_zeroed(1, sizeof *out->scratch)))
        return ss_fail_memory(err, "lowering", sizeof *out->scratch);
    *w = (ss_lowering){.model = m,
                       .topology = t,
                       .routes = r,
                       .strategy = s,
                       .timer = timer,
                       .options = *options,
                       .out = out,
                       .tasks = &out->tasks,
                       .s = out->scratch};
    e = start_tasks(w, err);
    return e ? e : start_out(w, err);
}

ss_status ss_lower(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                   const ss_timer *timer, const ss_lower_options *options, ss_lowered *out,
                   ss_error *err)
{
    ss_lowering w;
    ss_status e = ss_lower_start(m, t, r, s, timer, options, out, &w, err);
    if (!e)
        e = lower_phases(&w, err);
    if (!e)
        e = bind_copies(&w, err);
    return e ? e : ss_tasks_finish(w.tasks, err);
}

ss_status ss_lower_start_bare(const ss_topology *t, ss_routes *r, const ss_lower_options *options,
                              ss_lowered *out, ss_lowering *w, ss_error *err)
{
    if (!out->scratch && !(out->scratch = ss_alloc_zeroed(1, sizeof *out->scratch)))
        return ss_fail_memory(err, "lowering", sizeof *out->scratch);
    out->options = *options;
    *w = (ss_lowering){.topology = t,
                       .routes = r,
                       .options = *options,
                       .out = out,
                       .tasks = &out->tasks,
                       .s = out->scratch};
    w->s->sents = 0;
    return start_tasks(w, err);
}

ss_status ss_lower_nothing(const ss_topology *t, ss_links_mode links, ss_lowered *out,
                           ss_error *err)
{
    ss_lower_options options = ss_lower_options_start();
    ss_lowering w;
    options.links = links;
    ss_status s = ss_lower_start_bare(t, NULL, &options, out, &w, err);
    return s ? s : ss_tasks_finish(w.tasks, err);
}

double ss_lowered_bytes_moved(const ss_lowered *l)
{
    double sum = l->charged_bytes;
    for (uint32_t c = 0; c < SS_CARGOS; c++)
        sum += (double)l->moved[c];
    return sum;
}

static void free_scratch(struct ss_lower_scratch *s)
{
    if (!s)
        return;
    ss_luck_free(&s->luck);
    ss_pricer_free(s->pricer);
    ss_free(s->bytes_per_s);
    ss_free(s->latency_s);
    ss_free(s->law);
    ss_free(s->leg);
    ss_free(s->needs);
    ss_free(s->first_feed);
    ss_free(s->first_use);
    ss_free(s->use);
    ss_free(s->feed);
    ss_free(s->piece);
    ss_free(s->by_from);
    ss_free(s->sent);
    ss_free(s->box);
    ss_free(s->made);
    ss_free(s->first_range);
    ss_free(s->range);
    ss_free(s->made_range);
    ss_free(s->count);
    ss_free(s->cursor);
    ss_free(s->before);
    ss_free(s->stamp);
    ss_free(s->at_device);
    ss_free(s->cover);
    ss_free(s->cover_group);
    ss_free(s->cover_copied);
    ss_free(s->border);
    ss_free(s->cell_group);
    ss_free(s->cell_count);
    ss_free(s->cell_copied);
    ss_free(s->sum);
    ss_free(s->to_add);
    ss_free(s->first_user);
    ss_free(s->first_shard);
    ss_free(s->shards_of);
    ss_free(s->user);
    ss_free(s->give);
    ss_free(s->give_order);
    ss_free(s->mark);
    ss_free(s->first_from);
    ss_free(s->from);
    ss_free(s->first_wait);
    ss_free(s->wait);
    ss_free(s->own);
    ss_free(s->update);
    ss_free(s->barrier);
    ss_free(s->arrived);
    ss_free(s->member_added);
    ss_free(s->member_told);
    ss_free(s->machine);
    ss_free(s->of_machine);
    ss_free(s->resource);
    ss_free(s->told_next);
    ss_free(s->no_limit);
    ss_reduction_tree_free(&s->tree);
    ss_messages_free(&s->messages);
    ss_free(s);
}

void ss_lower_forget(ss_lowered *l)
{
    ss_error err;
    (void)ss_tasks_set_laws(&l->tasks, NULL, &err); /* they were in there */
    free_scratch(l->scratch);
    l->scratch = NULL;
}

void ss_lowered_free(ss_lowered *l)
{
    if (!l)
        return;
    ss_tasks_free(&l->tasks);
    ss_free(l->forward);
    ss_free(l->backward);
    ss_free(l->shard);
    ss_free(l->shard_device);
    free_scratch(l->scratch);
    *l = (ss_lowered){0};
}
