/* lower_sync.c - how the gradients of a weight meet, and its update.
 *
 * Phases: 2 barriers, 3 messages that carry gradients, 4 updates, 5 messages that carry weights
 * back. A phase is done for all shards before the next one begins, so that ids are in structural
 * order.  There is no phase 6: a step is over when its last task is, and a barrier that takes no
 * time would not change when that is.
 *
 * All-reduces leave the sum with everyone, and everyone updates; with a parameter
 * server the master alone does, and sends the weights back.  Who holds a shard alone has nothing to
 * wait for.
 */
#include "graph/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const sync_names[SS_SYNCS] = {"none",
                                                 "closed_form",
                                                 "parameter_server",
                                                 "ring",
                                                 "tree",
                                                 "two_level",
                                                 "bidirectional_ring",
                                                 "double_tree",
                                                 "halving_doubling",
                                                 "hierarchical",
                                                 "in_network",
                                                 "auto"};

const char *ss_sync_name(ss_sync s)
{
    return (unsigned)s < SS_SYNCS ? sync_names[s] : "unknown";
}

/* ---- barriers ---------------------------------------------------------------------------- */

/* The task of a part after which its device has done its share of backward. */
static uint32_t last_task(const ss_lowered *out, uint32_t op, uint32_t part)
{
    return (out->backward[op].i ? out->backward[op].i : out->forward[op].i) + part;
}

static ss_status add_barrier(ss_lowering *w, uint32_t device, ss_error *err)
{
    ss_task_label label = {.kind = SS_TASK_BARRIER, .part = device};
    return ss_tasks_add(w->tasks, device ? device : 1, 0, 0, &label, &w->s->barrier[device], err);
}

/* One for each device that has tasks, after all of them; in closed form, one more after those. */
ss_status ss_lower_barriers(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    bool all = w->options.sync == SS_SYNC_CLOSED_FORM;
    uint32_t devices = w->topology->devices;
    size_t parts = 0;
    ss_status e = SS_RESERVE(s->barrier, s->barrier_cap, (size_t)devices + 1, "barriers", err);
    if (!e)
        e = SS_RESERVE(s->count, s->count_cap, (size_t)devices + 2, "barriers", err);
    if (e)
        return e;
    memset(s->count, 0, ((size_t)devices + 2) * sizeof *s->count);
    for (uint32_t i = 1; i <= w->model->ops; i++)
        for (uint32_t p = 0; p < w->strategy->config[i].parts; p++, parts++)
            s->count[w->strategy->config[i].device[p].i + 1]++;
    if ((e = SS_RESERVE(s->before, s->before_cap, parts, "barriers", err)))
        return e;
    for (uint32_t d = 1; d <= devices + 1; d++)
        s->count[d] += s->count[d - 1];
    for (uint32_t i = 1; i <= w->model->ops; i++)
        for (uint32_t p = 0; p < w->strategy->config[i].parts; p++)
            s->before[s->count[w->strategy->config[i].device[p].i]++].i = last_task(w->out, i, p);
    for (uint32_t d = 1; d <= devices; d++) { /* count[d] is now where d's tasks end */
        s->barrier[d].i = 0;
        if (s->count[d - 1] == s->count[d] && !w->every_barrier)
            continue;
        e = add_barrier(w, d, err);
        for (uint32_t b = s->count[d - 1]; b < s->count[d] && !e; b++)
            e = ss_tasks_after(w->tasks, s->before[b], err);
        if (e)
            return e;
    }
    if (all)
        e = add_barrier(w, 0, err);
    for (uint32_t d = 1; d <= devices && all && !e; d++)
        if (s->barrier[d].i)
            e = ss_tasks_after(w->tasks, s->barrier[d], err);
    return e;
}

/* ---- what a device's own gradient of a shard waits for ----------------------------------- */

/* Puts the tasks of row r of shard_device into s->before. */
ss_status ss_lower_own_sources(ss_lowering *w, uint32_t r, uint32_t *n, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    bool barrier = !w->options.overlap;
    uint32_t first = s->first_from[r], last = s->first_from[r + 1];
    *n = barrier ? 1 : last - first;
    ss_status e = SS_RESERVE(s->before, s->before_cap, *n, "dependencies", err);
    if (e)
        return e;
    if (barrier)
        s->before[0] = s->barrier[w->out->shard_device[r].i];
    for (uint32_t i = first; i < last && !barrier; i++)
        s->before[i - first].i = s->from[i];
    return SS_OK;
}

/* The task added last waits for them. */
ss_status ss_lower_after_own(ss_lowering *w, uint32_t r, ss_error *err)
{
    uint32_t n;
    ss_status e = ss_lower_own_sources(w, r, &n, err);
    for (uint32_t i = 0; i < n && !e; i++)
        e = ss_tasks_after(w->tasks, w->s->before[i], err);
    return e;
}

/* The update of the row at hand waits for a task. */
ss_status ss_lower_wait_for(struct ss_lower_scratch *s, uint32_t task, ss_error *err)
{
    ss_status e = SS_RESERVE(s->wait, s->wait_cap, (size_t)s->waits + 1, "updates", err);
    if (!e)
        s->wait[s->waits++] = task;
    return e;
}

ss_status ss_lower_wait_for_sent(struct ss_lower_scratch *s, uint32_t sent, ss_error *err)
{
    ss_status e = SS_OK;
    for (uint32_t i = 0; i < s->sent[sent].arrivals && !e; i++)
        e = ss_lower_wait_for(s, s->sent[sent].arrival + i, err);
    return e;
}

/* ---- phase 3: gradients ------------------------------------------------------------------ */

ss_task_label ss_lower_weight_label(const ss_lowering *w, uint32_t shard, ss_task_kind kind,
                                    ss_cargo cargo)
{
    uint32_t weight = w->out->shard[shard].weight.i;
    return (ss_task_label){.kind = (uint8_t)kind,
                           .cargo = (uint8_t)cargo,
                           .op = weight,
                           .part = shard,
                           .to_part = shard - w->s->first_shard[weight] + 1};
}

static ss_status gradients_to_master(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    const ss_device *device = w->out->shard_device + x->first_device;
    ss_task_label label =
        ss_lower_weight_label(w, shard, SS_TASK_TRANSFER, SS_CARGO_WEIGHT_GRADIENT);
    s->own[x->first_device] = true;
    s->first_wait[x->first_device] = s->waits;
    for (uint32_t r = 1; r < x->devices; r++) {
        uint32_t n, sent;
        ss_status e = ss_lower_own_sources(w, x->first_device + r, &n, err);
        if (!e)
            e = ss_lower_send(w, device[r], device[0], x->bytes, &label, s->before, n, &sent, err);
        if (!e)
            e = ss_lower_wait_for_sent(s, sent, err);
        if (e)
            return e;
    }
    for (uint32_t r = 1; r < x->devices; r++) {
        s->first_wait[x->first_device + r] = s->waits;
        s->own[x->first_device + r] = false;
    }
    return SS_OK;
}

static ss_status meet(ss_lowering *w, uint32_t shard, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    if (x->devices == 1 || w->options.sync == SS_SYNC_NONE) {
        for (uint32_t r = x->first_device; r < x->first_device + x->devices; r++) {
            s->first_wait[r] = s->waits;
            s->own[r] = true;
        }
        return SS_OK;
    }
    if (w->options.sync == SS_SYNC_CLOSED_FORM)
        return ss_lower_charge_in_closed_form(w, shard, err);
    if (w->options.sync == SS_SYNC_PARAMETER_SERVER)
        return gradients_to_master(w, shard, err);
    return w->options.aggregate ? ss_lower_meet_as_one_task(w, shard, err)
                                : ss_lower_meet_by_messages(w, shard, err);
}

/* ---- phases 4 and 5: updates, and weights back ------------------------------------------- */

static ss_status add_update(ss_lowering *w, uint32_t shard, uint32_t r, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_shard *x = &w->out->shard[shard];
    ss_device device = w->out->shard_device[r];
    ss_task_label label = ss_lower_weight_label(w, shard, SS_TASK_UPDATE, SS_CARGO_NONE);
    ss_task update;
    double bytes = w->options.update_passes * (double)x->bytes;
    ss_status e = bytes > 0
                      ? ss_lower_add_stream(w, SS_STREAM_UPDATE, bytes, device, &label, &update, err)
                      : ss_tasks_add(w->tasks, device.i, 0, 0, &label, &update, err);
    if (e)
        return e;
    s->update[r] = update.i;
    if (s->own[r])
        e = ss_lower_after_own(w, r, err);
    for (uint32_t i = s->first_wait[r]; i < s->first_wait[r + 1] && !e; i++)
        e = ss_tasks_after(w->tasks, (ss_task){s->wait[i]}, err);
    return e;
}

/* An update that takes no time is left out where nothing waits for it. */
static ss_status update_shard(ss_lowering *w, uint32_t shard, ss_error *err)
{
    const ss_shard *x = &w->out->shard[shard];
    bool server = w->options.sync == SS_SYNC_PARAMETER_SERVER && x->devices > 1;
    ss_status e = SS_OK;
    for (uint32_t r = 0; r < (server ? 1 : x->devices) && !e; r++)
        if (server || w->options.update_passes > 0)
            e = add_update(w, shard, x->first_device + r, err);
    return e;
}

static ss_status weights_from_master(ss_lowering *w, uint32_t shard, ss_error *err)
{
    const ss_shard *x = &w->out->shard[shard];
    const ss_device *device = w->out->shard_device + x->first_device;
    ss_task_label label = ss_lower_weight_label(w, shard, SS_TASK_TRANSFER, SS_CARGO_WEIGHT);
    ss_task update = {w->s->update[x->first_device]};
    ss_status e = SS_OK;
    for (uint32_t r = 1; r < x->devices && !e; r++) {
        uint32_t sent;
        e = ss_lower_send(w, device[0], device[r], x->bytes, &label, &update, 1, &sent, err);
    }
    return e;
}

static ss_status reserve_members(struct ss_lower_scratch *s, uint32_t most, ss_error *err)
{
    if (most <= s->member_cap)
        return SS_OK;
    uint32_t cap = ss_grown(s->member_cap, most);
    ss_status e;
    if ((e = SS_REGROW(s->member_added, cap, "members", err)) ||
        (e = SS_REGROW(s->member_told, cap, "members", err)) ||
        (e = SS_REGROW(s->machine, cap, "members", err)))
        return e;
    s->member_cap = cap;
    return SS_OK;
}

/* For the shards of one weight. */
static ss_status reserve_rows(ss_lowering *w, uint32_t first, uint32_t shards, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    size_t rows = (size_t)w->out->shard_devices + 2;
    uint32_t most = 0;
    for (uint32_t k = first; k < first + shards; k++)
        most = w->out->shard[k].devices > most ? w->out->shard[k].devices : most;
    ss_status e;
    if ((e = SS_RESERVE(s->first_wait, s->first_wait_cap, rows, "updates", err)) ||
        (e = SS_RESERVE(s->own, s->own_cap, rows, "updates", err)) ||
        (e = SS_RESERVE(s->update, s->update_cap, rows, "updates", err)))
        return e;
    size_t machines = (size_t)w->topology->machines + 1;
    if (machines > s->of_machine_cap) {
        uint32_t old = s->of_machine_cap;
        if ((e = SS_RESERVE(s->of_machine, s->of_machine_cap, machines, "machines", err)))
            return e;
        memset(s->of_machine + old, 0, (s->of_machine_cap - old) * sizeof *s->of_machine);
    }
    return reserve_members(s, most, err);
}

ss_status ss_lower_meet(ss_lowering *w, ss_weight weight, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t first = s->first_shard[weight.i], n = s->shards_of[weight.i];
    ss_status e = reserve_rows(w, first, n, err);
    for (uint32_t k = first; k < first + n && !e; k++) {
        e = ss_lowering_look_up(w, "lowering the meeting of gradients", k - 1, w->out->shards, err);
        if (!e)
            e = meet(w, k, err);
    }
    if (!e && n) {
        const ss_shard *last = &w->out->shard[first + n - 1];
        s->first_wait[last->first_device + last->devices] = s->waits;
    }
    return e;
}

ss_status ss_lower_update(ss_lowering *w, ss_weight weight, ss_error *err)
{
    uint32_t first = w->s->first_shard[weight.i], n = w->s->shards_of[weight.i];
    ss_status e = SS_OK;
    for (uint32_t k = first; k < first + n && !e; k++)
        e = update_shard(w, k, err);
    return e;
}

ss_status ss_lower_send_back(ss_lowering *w, ss_weight weight, ss_error *err)
{
    uint32_t first = w->s->first_shard[weight.i], n = w->s->shards_of[weight.i];
    bool server = w->options.sync == SS_SYNC_PARAMETER_SERVER;
    ss_status e = SS_OK;
    for (uint32_t k = first; k < first + n && !e; k++) {
        e = ss_lowering_look_up(w, "lowering updates", k - 1, w->out->shards, err);
        if (!e && server && w->out->shard[k].devices > 1)
            e = weights_from_master(w, k, err);
    }
    return e;
}

bool ss_lower_has_barriers(const ss_lowering *w)
{
    return w->options.training && (w->options.sync == SS_SYNC_CLOSED_FORM || !w->options.overlap);
}
