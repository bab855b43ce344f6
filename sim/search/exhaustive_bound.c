/* exhaustive_bound.c - bounds of a partial strategy.
 *
 * Of the operators that are decided all tasks are known, and of those that are not the least paths
 * through them.  That gives every known task a head (no completion lets it start earlier) and a tail
 * (after its end no completion is over sooner); the longest head + time + tail is the path bound.
 * An operator that is not decided and reads one that is gets the best of its configurations, seen
 * from all of its givers at once.
 *
 * What one resource has to do can be no shorter than if tasks could be interrupted, between their
 * heads and tails: that bounds work where it is a device and bytes where it is a link.  It holds
 * whatever order the simulation takes tasks in, and so for a completion with anomalies too.
 */
#include "search/exhaustive_inside.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

static inline ss_time larger(ss_time a, ss_time b)
{
    return a > b ? a : b;
}

static inline void raise(ss_time *at, ss_time to)
{
    if (to > *at)
        *at = to;
}

ss_status ss_partial_new(ss_exhaustive_tables *t, ss_partial *out, ss_error *err)
{
    uint32_t slots = 0;
    *out = (ss_partial){.t = t};
    out->row = ss_alloc_zeroed((size_t)t->ops + 1, sizeof *out->row);
    out->at = ss_alloc_zeroed((size_t)t->ops + 1, sizeof *out->at);
    for (uint32_t i = 1; i <= t->ops && out->row && out->at; i++) {
        uint32_t most = 0;
        for (uint32_t g = t->first[i]; g < t->first[i + 1]; g++)
            most = t->parts[g] > most ? t->parts[g] : most;
        out->row[i] = SS_NO_ROW;
        out->at[i] = slots;
        slots += most;
    }
    out->head = ss_alloc_zeroed(slots, sizeof *out->head);
    out->back = ss_alloc_zeroed(slots, sizeof *out->back);
    out->tail = ss_alloc_zeroed(slots, sizeof *out->tail);
    out->back_tail = ss_alloc_zeroed(slots, sizeof *out->back_tail);
    out->meeting = ss_alloc_zeroed((size_t)t->model->groups + 1, sizeof(const ss_meeting *));
    out->device_end = ss_alloc_zeroed((size_t)t->devices + 1, sizeof *out->device_end);
    out->device_tail = ss_alloc_zeroed((size_t)t->devices + 1, sizeof *out->device_tail);
    out->in = ss_alloc_zeroed(t->most_parts, sizeof *out->in);
    out->out = ss_alloc_zeroed(t->most_parts, sizeof *out->out);
    out->first_due = ss_alloc_zeroed((size_t)t->resources + 2, sizeof *out->first_due);
    if (out->row && out->at && out->head && out->back && out->tail && out->back_tail &&
        out->meeting && out->device_end && out->device_tail && out->in && out->out &&
        out->first_due)
        return SS_OK;
    ss_partial_free(out);
    return ss_fail_memory(err, "a partial strategy", slots * sizeof *out->head);
}

void ss_partial_free(ss_partial *p)
{
    ss_free(p->row);
    ss_free(p->at);
    ss_free(p->head);
    ss_free(p->back);
    ss_free(p->tail);
    ss_free(p->back_tail);
    ss_free(p->meeting);
    ss_free(p->device_end);
    ss_free(p->device_tail);
    ss_free(p->in);
    ss_free(p->out);
    ss_free(p->due);
    ss_free(p->sorted);
    ss_free(p->where);
    ss_free(p->first_due);
    ss_free(p->meeting_head);
    ss_free(p->heap);
    *p = (ss_partial){0};
}

/* ---- heads and tails --------------------------------------------------------------------- */

/* From decided givers: the heads of the parts of `row`, no less than what is there. */
static void heads_from_givers(const ss_partial *p, uint32_t op, uint32_t row, ss_time *head)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t n = t->parts[row];
    for (uint32_t e = t->first_in[op]; e < t->first_in[op + 1]; e++) {
        const ss_reads *r = &t->reads[e];
        uint32_t giver = p->row[r->from];
        if (giver == SS_NO_ROW)
            continue;
        const ss_time *lag = t->lag + ss_exhaustive_pair(t, r, giver, row)->forward;
        for (uint32_t k = 0; k < t->parts[giver]; k++, lag += n) {
            ss_time end = p->head[p->at[r->from] + k] + t->forward[t->slot[giver] + k];
            for (uint32_t u = 0; u < n; u++)
                raise(&head[u], end + lag[u]);
        }
    }
}

/* The same the other way: tails of backward of `row` through backward of decided givers. */
static void tails_from_givers(const ss_partial *p, uint32_t op, uint32_t row, ss_time *tail)
{
    const ss_exhaustive_tables *t = p->t;
    for (uint32_t e = t->first_in[op]; e < t->first_in[op + 1]; e++) {
        const ss_reads *r = &t->reads[e];
        uint32_t giver = p->row[r->from];
        if (giver == SS_NO_ROW || !t->has_backward[r->from])
            continue;
        const ss_time *lag = t->lag + ss_exhaustive_pair(t, r, giver, row)->backward;
        uint32_t n = t->parts[giver], slot = t->slot[giver];
        for (uint32_t v = 0; v < t->parts[row]; v++)
            for (uint32_t q = 0; q < n; q++)
                raise(&tail[v],
                      lag[v * n + q] + t->backward[slot + q] + p->back_tail[p->at[r->from] + q]);
    }
}

ss_status ss_partial_push(ss_partial *p, uint32_t row, ss_error *err)
{
    ss_exhaustive_tables *t = p->t;
    uint32_t op = t->op_of[row], group = t->model->op[op].group;
    ss_time *head = p->head + p->at[op];
    p->row[op] = row;
    memset(head, 0, t->parts[row] * sizeof *head);
    heads_from_givers(p, op, row, head);
    ss_status s = SS_OK;
    if (group && t->group[group].last == p->decided)
        s = ss_exhaustive_meeting(t, group, p->row, &p->meeting[group], err);
    if (s)
        p->row[op] = SS_NO_ROW;
    else
        p->decided++;
    return s;
}

void ss_partial_pop(ss_partial *p)
{
    uint32_t op = p->t->order[--p->decided];
    p->row[op] = SS_NO_ROW;
    p->meeting[p->t->model->op[op].group] = NULL;
}

/* What meetings that wait for all work of a device, or of all devices, add after it. */
static void find_device_tails(ss_partial *p)
{
    const ss_exhaustive_tables *t = p->t;
    ss_time charged = 0;
    memset(p->device_tail, 0, ((size_t)t->devices + 1) * sizeof *p->device_tail);
    for (uint32_t k = 1; k <= t->model->groups; k++) {
        const ss_meeting *m = p->meeting[k];
        if (!m || !m->device)
            continue;
        for (uint32_t d = 0; d <= t->devices; d++)
            raise(&p->device_tail[d], m->device[d]);
        charged += m->charged;
    }
    raise(&p->device_tail[0], charged);
    for (uint32_t d = 1; d <= t->devices; d++)
        raise(&p->device_tail[d], p->device_tail[0]);
}

static void last_tails(const ss_partial *p, uint32_t op, uint32_t row, ss_time *tail)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t group = t->model->op[op].group, n = 0;
    const ss_meeting *m = group ? p->meeting[group] : NULL;
    const ss_group *g = &t->group[group];
    for (uint32_t k = 0; m && g->user[k] != op; k++)
        n += t->parts[p->row[g->user[k]]];
    for (uint32_t q = 0; q < t->parts[row]; q++) {
        tail[q] = p->device_tail[t->device[t->slot[row] + q]];
        if (m)
            raise(&tail[q], m->after[n + q]);
    }
}

/* From the end of forward of a decided operator: through its own backward, and through decided
 * readers. */
static void forward_tails(const ss_partial *p, uint32_t op, uint32_t row)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t n = t->parts[row], slot = t->slot[row], at = p->at[op];
    const ss_time *round = t->round + t->round_at[row];
    ss_time *tail = p->tail + at;
    if (!t->has_backward[op])
        last_tails(p, op, row, tail);
    for (uint32_t k = 0; k < n; k++) {
        if (t->has_backward[op])
            tail[k] = 0;
        for (uint32_t q = 0; q < n && t->has_backward[op]; q++)
            raise(&tail[k], round[k * n + q] - t->forward[slot + k] + p->back_tail[at + q]);
        raise(&tail[k], t->onward[slot + k] - t->forward[slot + k]);
    }
    for (uint32_t o = t->first_out[op]; o < t->first_out[op + 1]; o++) {
        const ss_reads *e = &t->reads[t->out[o]];
        uint32_t reader = p->row[e->to];
        if (reader == SS_NO_ROW)
            continue;
        const ss_time *lag = t->lag + ss_exhaustive_pair(t, e, row, reader)->forward;
        uint32_t m = t->parts[reader];
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t u = 0; u < m; u++)
                raise(&tail[k],
                      lag[k * m + u] + t->forward[t->slot[reader] + u] + p->tail[p->at[e->to] + u]);
    }
}

static ss_time find_tails(ss_partial *p)
{
    const ss_exhaustive_tables *t = p->t;
    ss_time most = 0;
    find_device_tails(p);
    for (uint32_t k = 0; k < p->decided; k++) {
        uint32_t op = t->order[k], row = p->row[op];
        if (!t->has_backward[op])
            continue;
        last_tails(p, op, row, p->back_tail + p->at[op]);
        tails_from_givers(p, op, row, p->back_tail + p->at[op]);
    }
    for (uint32_t k = p->decided; k-- > 0;) {
        uint32_t op = t->order[k], row = p->row[op];
        forward_tails(p, op, row);
        for (uint32_t i = 0; i < t->parts[row]; i++)
            raise(&most,
                  p->head[p->at[op] + i] + t->forward[t->slot[row] + i] + p->tail[p->at[op] + i]);
    }
    return most;
}

/* Heads of backward, from the last decided operator to the first. */
static void find_back_heads(ss_partial *p)
{
    const ss_exhaustive_tables *t = p->t;
    for (uint32_t k = p->decided; k-- > 0;) {
        uint32_t op = t->order[k], row = p->row[op], n = t->parts[row], slot = t->slot[row];
        const ss_time *round = t->round + t->round_at[row];
        ss_time *back = p->back + p->at[op];
        if (!t->has_backward[op])
            continue;
        for (uint32_t q = 0; q < n; q++) {
            back[q] = 0;
            for (uint32_t i = 0; i < n; i++)
                raise(&back[q], p->head[p->at[op] + i] + round[i * n + q] - t->backward[slot + q]);
        }
        for (uint32_t o = t->first_out[op]; o < t->first_out[op + 1]; o++) {
            const ss_reads *e = &t->reads[t->out[o]];
            uint32_t reader = p->row[e->to];
            if (reader == SS_NO_ROW || !t->has_backward[e->to])
                continue;
            const ss_time *lag = t->lag + ss_exhaustive_pair(t, e, row, reader)->backward;
            for (uint32_t v = 0; v < t->parts[reader]; v++) {
                ss_time end = p->back[p->at[e->to] + v] + t->backward[t->slot[reader] + v];
                for (uint32_t q = 0; q < n; q++)
                    raise(&back[q], end + lag[v * n + q]);
            }
        }
    }
}

/* ---- paths through operators that are next to decided ones ------------------------------- */

static ss_time path_with(const ss_partial *p, uint32_t op, uint32_t row)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t n = t->parts[row], slot = t->slot[row];
    const ss_time *round = t->round + t->round_at[row];
    ss_time most = 0;
    memcpy(p->in, t->head + slot, n * sizeof *p->in);
    heads_from_givers(p, op, row, p->in);
    if (t->has_backward[op]) {
        memcpy(p->out, t->tail + slot, n * sizeof *p->out);
        tails_from_givers(p, op, row, p->out);
    }
    for (uint32_t u = 0; u < n; u++) {
        raise(&most, p->in[u] + t->onward[slot + u]);
        for (uint32_t v = 0; v < n && t->has_backward[op]; v++)
            raise(&most, p->in[u] + round[u * n + v] + p->out[v]);
    }
    return most;
}

static bool has_decided_giver(const ss_partial *p, uint32_t op)
{
    const ss_exhaustive_tables *t = p->t;
    for (uint32_t e = t->first_in[op]; e < t->first_in[op + 1]; e++)
        if (p->row[t->reads[e].from] != SS_NO_ROW)
            return true;
    return false;
}

/* The least over the configurations of operators that read decided ones; looking at one ends as soon
 * as it cannot tell more than `floor`. */
static ss_time path_through_next(const ss_partial *p, ss_time most, ss_time floor, ss_time enough)
{
    const ss_exhaustive_tables *t = p->t;
    for (uint32_t k = p->decided; k < t->ops && most < enough; k++) {
        uint32_t op = t->order[k];
        if (!has_decided_giver(p, op))
            continue;
        ss_time least = SS_TIME_MAX, useless = larger(floor, most);
        for (uint32_t g = t->first[op]; g < t->first[op + 1] && least > useless; g++)
            if (t->alive[g]) {
                ss_time with = path_with(p, op, g);
                least = with < least ? with : least;
            }
        if (least > useless && least != SS_TIME_MAX)
            most = least;
    }
    return most;
}

/* ---- what resources have to do ----------------------------------------------------------- */

static ss_status add_due(ss_partial *p, uint32_t where, ss_time head, ss_time hold, ss_time tail,
                         ss_error *err)
{
    if (hold <= 0)
        return SS_OK;
    if (p->dues == p->due_cap) {
        uint32_t cap = ss_grown(p->due_cap, (size_t)p->dues + 1);
        ss_status s;
        if ((s = SS_REGROW(p->due, cap, "bounds", err)) ||
            (s = SS_REGROW(p->sorted, cap, "bounds", err)) ||
            (s = SS_REGROW(p->heap, cap, "bounds", err)) ||
            (s = SS_REGROW(p->where, cap, "bounds", err)))
            return s;
        p->due_cap = cap;
    }
    p->where[p->dues] = where;
    p->due[p->dues++] = (ss_due){head, hold, tail};
    return SS_OK;
}

static ss_status add_parts(ss_partial *p, uint32_t op, ss_error *err)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t row = p->row[op], slot = t->slot[row], at = p->at[op];
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < t->parts[row] && !s; k++) {
        s = add_due(p, t->device[slot + k], p->head[at + k], t->forward[slot + k], p->tail[at + k],
                    err);
        if (!s && t->has_backward[op])
            s = add_due(p, t->device[slot + k], p->back[at + k], t->backward[slot + k],
                        p->back_tail[at + k], err);
    }
    return s;
}

static ss_status add_crossings(ss_partial *p, const ss_reads *e, ss_error *err)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t giver = p->row[e->from], reader = p->row[e->to];
    const ss_pair *pair = ss_exhaustive_pair(t, e, giver, reader);
    const ss_crossing *c = t->crossing + pair->crossing;
    uint32_t a = p->at[e->from], b = p->at[e->to];
    const ss_time *forward_a = t->forward + t->slot[giver],
                  *forward_b = t->forward + t->slot[reader];
    const ss_time *back_a = t->backward + t->slot[giver], *back_b = t->backward + t->slot[reader];
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < pair->forwards && !s; k++, c++)
        s = add_due(p, c->resource, p->head[a + c->from] + forward_a[c->from] + c->before, c->hold,
                    c->after + forward_b[c->to] + p->tail[b + c->to], err);
    for (uint32_t k = 0; k < pair->backwards && !s; k++, c++)
        s = add_due(p, c->resource, p->back[b + c->from] + back_b[c->from] + c->before, c->hold,
                    c->after + back_a[c->to] + p->back_tail[a + c->to], err);
    return s;
}

static ss_time part_end(const ss_partial *p, uint32_t op, uint32_t part)
{
    const ss_exhaustive_tables *t = p->t;
    uint32_t at = p->at[op] + part, slot = t->slot[p->row[op]] + part;
    return t->has_backward[op] ? p->back[at] + t->backward[slot] : p->head[at] + t->forward[slot];
}

static void find_device_ends(ss_partial *p)
{
    const ss_exhaustive_tables *t = p->t;
    memset(p->device_end, 0, ((size_t)t->devices + 1) * sizeof *p->device_end);
    for (uint32_t k = 0; k < p->decided; k++) {
        uint32_t op = t->order[k], row = p->row[op];
        for (uint32_t i = 0; i < t->parts[row]; i++) {
            ss_time end = part_end(p, op, i);
            raise(&p->device_end[t->device[t->slot[row] + i]], end);
            raise(&p->device_end[0], end);
        }
    }
}

static ss_time pred_end(const ss_partial *p, const ss_group *g, const ss_meeting *m,
                        const ss_meeting_pred *pred)
{
    if (pred->kind == SS_PRED_TASK)
        return p->meeting_head[pred->who] + m->task[pred->who].hold + m->task[pred->who].lag;
    if (pred->kind == SS_PRED_PART)
        return part_end(p, g->user[pred->who], pred->part);
    return p->device_end[pred->kind == SS_PRED_ALL ? 0 : pred->who];
}

static ss_status add_meeting(ss_partial *p, uint32_t group, ss_error *err)
{
    const ss_meeting *m = p->meeting[group];
    const ss_group *g = &p->t->group[group];
    ss_status s =
        SS_RESERVE(p->meeting_head, p->meeting_head_cap, (size_t)m->tasks + 1, "bounds", err);
    for (uint32_t i = 0; i < m->tasks && !s; i++) {
        const ss_meeting_task *x = &m->task[i];
        ss_time head = 0;
        for (uint32_t e = x->first_pred; e < x->first_pred + x->preds; e++)
            raise(&head, pred_end(p, g, m, &m->pred[e]));
        p->meeting_head[i] = head;
        for (uint32_t r = 0; r < x->resources && !s; r++)
            s = add_due(p, m->resource[x->first_resource + r], head, x->hold, x->after, err);
    }
    return s;
}

static ss_status list_dues(ss_partial *p, ss_error *err)
{
    const ss_exhaustive_tables *t = p->t;
    ss_status s = SS_OK;
    p->dues = 0;
    find_back_heads(p);
    find_device_ends(p);
    for (uint32_t k = 0; k < p->decided && !s; k++) {
        uint32_t op = t->order[k];
        s = add_parts(p, op, err);
        for (uint32_t e = t->first_in[op]; e < t->first_in[op + 1] && !s; e++)
            s = add_crossings(p, &t->reads[e], err);
    }
    for (uint32_t k = 1; k <= t->model->groups && !s; k++)
        if (p->meeting[k])
            s = add_meeting(p, k, err);
    if (s)
        return s;
    uint32_t *first = p->first_due;
    memset(first, 0, ((size_t)t->resources + 2) * sizeof *first);
    for (uint32_t i = 0; i < p->dues; i++)
        first[p->where[i] + 1]++;
    for (uint32_t r = 1; r <= t->resources + 1; r++)
        first[r] += first[r - 1];
    for (uint32_t i = 0; i < p->dues; i++)
        p->sorted[first[p->where[i]]++] = p->due[i];
    for (uint32_t r = t->resources + 1; r > 0; r--) /* filling moved each to the next one's */
        first[r] = first[r - 1];
    first[0] = 0;
    return SS_OK;
}

static void sift_down(const ss_due *due, uint32_t *heap, uint32_t n, uint32_t i)
{
    uint32_t x = heap[i];
    for (uint32_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && due[heap[c + 1]].tail > due[heap[c]].tail)
            c++;
        if (due[heap[c]].tail <= due[x].tail)
            break;
        heap[i] = heap[c];
    }
    heap[i] = x;
}

static void sift_up(const ss_due *due, uint32_t *heap, uint32_t i)
{
    uint32_t x = heap[i];
    for (; i && due[heap[(i - 1) / 2]].tail < due[x].tail; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = x;
}

ss_time ss_due_least(ss_due *due, uint32_t n, uint32_t *heap)
{
    for (uint32_t i = 1; i < n; i++) { /* by head; there are few */
        ss_due x = due[i];
        uint32_t k = i;
        for (; k && due[k - 1].head > x.head; k--)
            due[k] = due[k - 1];
        due[k] = x;
    }
    ss_time now = 0, least = 0;
    for (uint32_t next = 0, waiting = 0; next < n || waiting;) {
        if (!waiting)
            now = larger(now, due[next].head);
        for (; next < n && due[next].head <= now; next++) {
            heap[waiting] = next;
            sift_up(due, heap, waiting++);
        }
        ss_due *x = &due[heap[0]];
        ss_time run = x->hold;
        if (next < n && due[next].head - now < run)
            run = due[next].head - now;
        now += run;
        x->hold -= run;
        if (!x->hold) {
            raise(&least, now + x->tail);
            heap[0] = heap[--waiting];
            sift_down(due, heap, waiting, 0);
        }
    }
    return least;
}

/* The longest of resources first .. last, if it can be more than `most`. */
static ss_time longest_resource(ss_partial *p, uint32_t first, uint32_t last, ss_time most,
                                ss_time floor, ss_time enough)
{
    for (uint32_t r = first; r <= last && most < enough; r++) {
        ss_due *due = p->sorted + p->first_due[r];
        uint32_t n = p->first_due[r + 1] - p->first_due[r];
        ss_time head = SS_TIME_MAX, tail = 0, sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            head = due[i].head < head ? due[i].head : head;
            tail = larger(tail, due[i].tail);
            sum += due[i].hold;
        }
        if (n && head + sum + tail > larger(most, floor))
            most = larger(most, ss_due_least(due, n, p->heap));
    }
    return most;
}

/* All work that there is, spread over all devices. */
static ss_time spread_work(const ss_partial *p)
{
    const ss_exhaustive_tables *t = p->t;
    ss_time sum = 0;
    for (uint32_t i = 1; i <= t->ops; i++)
        sum += p->row[i] == SS_NO_ROW ? t->least_work[i] : t->work[p->row[i]];
    return sum / t->devices + (sum % t->devices != 0);
}

static bool found(ss_bounds_found *out, ss_bound which, ss_time bound, ss_time enough)
{
    out->bound[which] = bound;
    if (bound > out->most) {
        out->most = bound;
        out->which = which;
    }
    return bound >= enough;
}

ss_status ss_partial_bounds(ss_partial *p, unsigned bounds, ss_time enough, ss_bounds_found *out,
                            ss_error *err)
{
    const ss_exhaustive_tables *t = p->t;
    ss_time floor = enough == SS_TIME_MAX ? 0 : enough - 1; /* less than `enough` is no use */
    *out = (ss_bounds_found){0};
    ss_time path = find_tails(p);
    if (bounds & 1u << SS_BOUND_PATH) {
        if (path < enough)
            path = path_through_next(p, path, floor, enough);
        if (found(out, SS_BOUND_PATH, path, enough))
            return SS_OK;
    }
    ss_time work = bounds & 1u << SS_BOUND_WORK ? spread_work(p) : 0;
    if (found(out, SS_BOUND_WORK, work, enough) ||
        !(bounds & (1u << SS_BOUND_WORK | 1u << SS_BOUND_BYTES)))
        return SS_OK;
    ss_status s = list_dues(p, err);
    if (s)
        return s;
    if (bounds & 1u << SS_BOUND_WORK) {
        work = longest_resource(p, 1, t->devices, work, floor, enough);
        if (found(out, SS_BOUND_WORK, work, enough))
            return SS_OK;
    }
    if (bounds & 1u << SS_BOUND_BYTES)
        found(out, SS_BOUND_BYTES,
              longest_resource(p, t->devices + 1, t->resources, 0, floor, enough), enough);
    return SS_OK;
}
