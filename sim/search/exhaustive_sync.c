/* exhaustive_sync.c - the meeting of a group's gradients, given the configurations of its users.
 *
 * Which shards there are, who holds them and who their master is depends on all operators that
 * share the weights, so nothing is said of a group before the last of them is decided.  Then the
 * strategy is lowered once and the group's part of its graph kept.
 */
#include "search/exhaustive_inside.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"

/* Groups with several users have many combinations; some kilobytes each. */
enum { MOST_KEPT = 50000 };

static void free_meeting(ss_meeting *m)
{
    ss_free(m->row);
    ss_free(m->task);
    ss_free(m->pred);
    ss_free(m->resource);
    ss_free(m->after);
    ss_free(m->device);
    *m = (ss_meeting){0};
}

void ss_exhaustive_meetings_free(ss_exhaustive_tables *t)
{
    for (uint32_t g = 0; g < t->rows && t->alone; g++)
        free_meeting(&t->alone[g]);
    for (uint32_t k = 0; k < t->kept_slots; k++)
        if (t->kept[k]) {
            free_meeting(t->kept[k]);
            ss_free(t->kept[k]);
        }
    for (uint32_t k = 1; k <= (t->model ? t->model->groups : 0) && t->spare; k++)
        free_meeting(&t->spare[k]);
    ss_free(t->alone);
    ss_free(t->kept);
    ss_free(t->spare);
    ss_free(t->group);
    ss_free(t->user);
}

static ss_status list_groups(ss_exhaustive_tables *t, ss_error *err)
{
    const ss_model *m = t->model;
    t->group = ss_alloc_zeroed((size_t)m->groups + 1, sizeof *t->group);
    t->spare = ss_alloc_zeroed((size_t)m->groups + 1, sizeof *t->spare);
    t->user = ss_alloc_zeroed(t->ops, sizeof *t->user);
    t->alone = ss_alloc_zeroed(t->rows, sizeof *t->alone);
    if (!t->group || !t->spare || !t->user || !t->alone)
        return ss_fail_memory(err, "the weights of an exhaustive search",
                              t->rows * sizeof *t->alone);
    uint32_t n = 0;
    for (uint32_t k = 1; k <= m->groups; k++) {
        ss_group *g = &t->group[k];
        g->user = t->user + n;
        for (uint32_t i = 1; i <= t->ops; i++)
            if (m->op[i].group == k) {
                t->user[n++] = i;
                g->users++;
                g->last = t->place[i] > g->last ? t->place[i] : g->last;
            }
    }
    return SS_OK;
}

/* ---- reading a graph --------------------------------------------------------------------- */

static bool belongs(const ss_exhaustive_tables *t, uint32_t group, const ss_task_label *l)
{
    bool meets = l->kind == SS_TASK_UPDATE || l->kind == SS_TASK_COLLECTIVE ||
                 (l->kind == SS_TASK_TRANSFER &&
                  (l->cargo == SS_CARGO_WEIGHT_GRADIENT || l->cargo == SS_CARGO_WEIGHT));
    return meets && t->model->weight[l->op].group == group;
}

static ss_status keep_pred(ss_exhaustive_tables *t, uint32_t group, uint32_t task, ss_meeting *m,
                           ss_error *err)
{
    const ss_task_label *l = &t->lowered.tasks.label[task];
    const ss_group *g = &t->group[group];
    ss_meeting_pred p = {SS_PRED_PART, 0, l->part};
    if (t->task_time[task] >= 0)
        p = (ss_meeting_pred){SS_PRED_TASK, (uint32_t)t->task_time[task], 0};
    else if (l->kind == SS_TASK_BARRIER)
        p = (ss_meeting_pred){l->part ? SS_PRED_DEVICE : SS_PRED_ALL, l->part, 0};
    else
        while (p.who < g->users && g->user[p.who] != l->op)
            p.who++;
    if (p.kind == SS_PRED_PART && p.who == g->users)
        return SS_OK; /* nobody whom the group knows: leaving it out makes no bound larger */
    ss_status s = SS_RESERVE(m->pred, m->pred_cap, (size_t)m->preds + 1, "meetings", err);
    if (!s)
        m->pred[m->preds++] = p;
    return s;
}

static ss_status keep_task(ss_exhaustive_tables *t, uint32_t group, uint32_t task, ss_meeting *m,
                           ss_error *err)
{
    const ss_tasks *g = &t->lowered.tasks;
    uint32_t n;
    const uint32_t *resource = ss_tasks_resources(g, (ss_task){task}, &n);
    ss_status s = SS_RESERVE(m->task, m->task_cap, (size_t)m->tasks + 1, "meetings", err);
    if (!s)
        s = SS_RESERVE(m->resource, m->resource_cap, (size_t)m->resources + n, "meetings", err);
    if (s)
        return s;
    ss_time lag = ss_tasks_lag(g, (ss_task){task});
    if (g->hold[task] > SS_EXHAUSTIVE_MOST_TIME || lag > SS_EXHAUSTIVE_MOST_TIME)
        return ss_fail(err, SS_ERANGE,
                       "the meeting of the gradients of %s takes longer than an exhaustive search "
                       "can add up (281 s)",
                       t->model->weight[g->label[task].op].name);
    m->task[m->tasks] = (ss_meeting_task){.hold = g->hold[task],
                                          .lag = lag,
                                          .after = lag,
                                          .first_resource = m->resources,
                                          .resources = n,
                                          .first_pred = m->preds};
    memcpy(m->resource + m->resources, resource, n * sizeof *resource);
    m->resources += n;
    for (uint32_t e = g->first_in[task]; e < g->first_in[task + 1] && !s; e++)
        s = keep_pred(t, group, g->in[e], m, err);
    m->task[m->tasks].preds = m->preds - m->task[m->tasks].first_pred;
    t->task_time[task] = m->tasks++;
    return s;
}

static uint32_t first_part(const ss_exhaustive_tables *t, const ss_group *g, const uint32_t *row,
                           uint32_t user)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < user; k++)
        n += t->parts[row[g->user[k]]];
    return n;
}

static void raise(ss_time *at, ss_time to)
{
    if (to > *at)
        *at = to;
}

/* From the last task to the first, what comes after each; and after parts and devices. */
static void measure_ends(const ss_exhaustive_tables *t, const ss_group *g, const uint32_t *row,
                         ss_meeting *m)
{
    for (uint32_t i = m->tasks; i-- > 0;) {
        const ss_meeting_task *x = &m->task[i];
        ss_time rest = x->hold + x->after;
        if (x->resources && m->resource[x->first_resource] > t->devices)
            m->charged += x->hold; /* no update */
        for (uint32_t e = x->first_pred; e < x->first_pred + x->preds; e++) {
            const ss_meeting_pred *p = &m->pred[e];
            if (p->kind == SS_PRED_TASK)
                raise(&m->task[p->who].after, m->task[p->who].lag + rest);
            else if (p->kind == SS_PRED_PART)
                raise(&m->after[first_part(t, g, row, p->who) + p->part], rest);
            else
                raise(&m->device[p->kind == SS_PRED_ALL ? 0 : p->who], rest);
        }
    }
    if (t->options.sync != SS_SYNC_CLOSED_FORM)
        m->charged = 0;
    for (uint32_t k = 0, n = 0; k < g->users && m->device; k++)
        for (uint32_t p = 0; p < t->parts[row[g->user[k]]]; p++, n++) {
            raise(&m->after[n], m->device[0]);
            raise(&m->after[n], m->device[t->device[t->slot[row[g->user[k]]] + p]]);
        }
}

static ss_status reserve_meeting(ss_exhaustive_tables *t, uint32_t group, const uint32_t *row,
                                 ss_meeting *m, ss_error *err)
{
    const ss_group *g = &t->group[group];
    uint32_t parts = first_part(t, g, row, g->users);
    size_t tasks = (size_t)t->lowered.tasks.n + 1;
    ss_status s = SS_RESERVE(t->task_time, t->task_time_cap, tasks, "tasks", err);
    if (!s)
        s = SS_RESERVE(m->after, m->after_cap, parts, "meetings", err);
    if (s)
        return s;
    bool barriers = t->options.sync == SS_SYNC_CLOSED_FORM || !t->options.overlap;
    if (barriers && !m->device &&
        !(m->device = ss_alloc_zeroed((size_t)t->devices + 1, sizeof *m->device)))
        return ss_fail_memory(err, "meetings", t->devices * sizeof *m->device);
    if (!m->row && !(m->row = ss_alloc_zeroed(g->users, sizeof *m->row)))
        return ss_fail_memory(err, "meetings", g->users * sizeof *m->row);
    memset(m->after, 0, parts * sizeof *m->after);
    if (m->device)
        memset(m->device, 0, ((size_t)t->devices + 1) * sizeof *m->device);
    m->tasks = m->preds = m->resources = 0;
    m->charged = 0;
    return SS_OK;
}

static ss_status fill_meeting(ss_exhaustive_tables *t, uint32_t group, const uint32_t *row,
                              ss_meeting *m, ss_error *err)
{
    const ss_group *g = &t->group[group];
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < g->users && !s; k++)
        s = ss_exhaustive_put(t, row[g->user[k]], err);
    if (!s)
        s = ss_exhaustive_lower(t, err);
    if (!s)
        s = reserve_meeting(t, group, row, m, err);
    const ss_tasks *tasks = &t->lowered.tasks;
    for (uint32_t i = 1; i <= tasks->n && !s; i++) {
        t->task_time[i] = -1;
        if (belongs(t, group, &tasks->label[i]))
            s = keep_task(t, group, i, m, err);
    }
    if (s)
        return s;
    for (uint32_t k = 0; k < g->users; k++)
        m->row[k] = row[g->user[k]];
    measure_ends(t, g, row, m);
    return SS_OK;
}

/* ---- meetings that are kept -------------------------------------------------------------- */

ss_status ss_exhaustive_meetings_fill(ss_exhaustive_tables *t, ss_error *err)
{
    ss_status s = list_groups(t, err);
    uint32_t *row = s ? NULL : ss_alloc_zeroed((size_t)t->ops + 1, sizeof *row);
    if (!s && !row)
        s = ss_fail_memory(err, "meetings", t->ops * sizeof *row);
    for (uint32_t k = 1; k <= t->model->groups && !s; k++) {
        if (t->group[k].users != 1)
            continue;
        uint32_t i = t->group[k].user[0];
        for (uint32_t r = t->first[i]; r < t->first[i + 1] && !s; r++) {
            row[i] = r;
            s = ss_look_up(t->watch, "meetings of gradients", k, t->model->groups, err);
            if (!s)
                s = fill_meeting(t, k, row, &t->alone[r], err);
        }
    }
    ss_free(row);
    return s;
}

static ss_meeting **place_of(const ss_exhaustive_tables *t, const ss_group *g, const uint32_t *row)
{
    uint64_t h = SS_HASH_START;
    for (uint32_t k = 0; k < g->users; k++)
        h = ss_hash_u64(h, row[g->user[k]]);
    for (uint32_t at = (uint32_t)h & (t->kept_slots - 1);; at = (at + 1) & (t->kept_slots - 1)) {
        ss_meeting *m = t->kept[at];
        bool same = m && t->model->op[t->op_of[m->row[0]]].group ==
                             t->model->op[t->op_of[row[g->user[0]]]].group;
        for (uint32_t k = 0; k < g->users && same; k++)
            same = m->row[k] == row[g->user[k]];
        if (!m || same)
            return &t->kept[at];
    }
}

ss_status ss_exhaustive_meeting(ss_exhaustive_tables *t, uint32_t group, const uint32_t *row,
                                const ss_meeting **out, ss_error *err)
{
    const ss_group *g = &t->group[group];
    if (g->users == 1) {
        *out = &t->alone[row[g->user[0]]];
        return SS_OK;
    }
    if (!t->kept) {
        t->kept = ss_alloc_zeroed(4 * MOST_KEPT, sizeof *t->kept);
        if (!t->kept)
            return ss_fail_memory(err, "meetings", 4 * MOST_KEPT * sizeof *t->kept);
        for (t->kept_slots = 1; t->kept_slots * 2 <= 4 * MOST_KEPT;)
            t->kept_slots *= 2;
    }
    ss_meeting **place = place_of(t, g, row);
    if (*place) {
        *out = *place;
        return SS_OK;
    }
    if (t->kept_n >= MOST_KEPT) {
        *out = &t->spare[group];
        return fill_meeting(t, group, row, &t->spare[group], err);
    }
    ss_meeting *m = ss_alloc_zeroed(1, sizeof *m);
    if (!m)
        return ss_fail_memory(err, "meetings", sizeof *m);
    ss_status s = fill_meeting(t, group, row, m, err);
    if (s) {
        free_meeting(m);
        ss_free(m);
        return s;
    }
    *place = m;
    t->kept_n++;
    *out = m;
    return SS_OK;
}
