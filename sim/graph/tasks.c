/* tasks.c - columns of tasks and rows of edges; sets: tasks_set.c, messages: tasks_transfer.c.
 *
 * Adding is what a lowering does most, so the checks are a few comparisons and the columns grow
 * together.  Successor rows are made once, at the end, by counting: that costs two passes over the
 * edges and no memory beside the rows themselves.
 */
#include "graph/tasks_inside.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "graph/luck.h"

static const char *const mode_names[SS_LINKS_MODES] = {"fifo-hop", "fifo-pipe", "fifo-path",
                                                       "shared"};

static const char *const kind_names[SS_TASK_KINDS] = {
    "none",       "compute", "forward", "backward", "lumped",
    "accumulate", "barrier", "update",  "transfer", "collective", "gather"};

static const char *const cargo_names[SS_CARGOS] = {"none", "activation", "gradient",
                                                   "weight_gradient", "weight"};

const char *ss_links_mode_name(ss_links_mode m)
{
    return (unsigned)m < SS_LINKS_MODES ? mode_names[m] : "none";
}

ss_status ss_links_mode_parse(const char *text, ss_links_mode *out, ss_error *err)
{
    for (unsigned m = 0; m < SS_LINKS_MODES; m++) {
        if (!strcmp(text, mode_names[m])) {
            *out = (ss_links_mode)m;
            return SS_OK;
        }
    }
    const char *near = ss_nearest(text, mode_names, SS_LINKS_MODES);
    return ss_fail(err, SS_EINVAL,
                   "links \"%s\": there are fifo-hop, fifo-pipe, fifo-path and shared%s%s%s", text,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

const char *ss_task_kind_name(ss_task_kind k)
{
    return (unsigned)k < SS_TASK_KINDS ? kind_names[k] : "none";
}

const char *ss_cargo_name(ss_cargo c)
{
    return (unsigned)c < SS_CARGOS ? cargo_names[c] : "none";
}

static ss_status check_link(uint32_t i, double bytes_per_s, double latency_s, ss_error *err)
{
    if (!(bytes_per_s > 0) || isinf(bytes_per_s))
        return ss_fail(err, SS_EINVAL,
                       "link %u: bandwidth is %g B/s; it must be positive and finite", i,
                       bytes_per_s);
    if (!(latency_s >= 0) || isinf(latency_s))
        return ss_fail(err, SS_EINVAL, "link %u: latency is %g s; it must be 0 or more, and finite",
                       i, latency_s);
    return SS_OK;
}

static ss_status reserve_resources(ss_tasks *t, uint32_t devices, uint32_t links, ss_error *err)
{
    if ((uint64_t)devices + links > UINT32_MAX / 2)
        return ss_fail(err, SS_ERANGE, "%u device%s and %u link%s are more than 2^31 resources",
                       devices, ss_plural(devices), links, ss_plural(links));
    ss_status s = SS_RESERVE(t->lag, t->resource_cap, (size_t)devices + links + 1, "lags", err);
    if (!s && (size_t)links + 1 > t->link_cap) {
        uint32_t cap = ss_grown(t->link_cap, (size_t)links + 1);
        s = SS_REGROW(t->bytes_per_s, cap, "bandwidths of links", err);
        if (!s)
            s = SS_REGROW(t->latency_s, cap, "latencies of links", err);
        if (!s)
            s = SS_REGROW(t->last_bytes, cap, "messages of links", err);
        if (!s)
            s = SS_REGROW(t->last_hold, cap, "messages of links", err);
        if (!s)
            t->link_cap = cap;
    }
    return s;
}

static ss_status grow_tasks(ss_tasks *t, size_t cap, ss_error *err)
{
    ss_status s;
    if ((s = SS_REGROW(t->hold, cap, "tasks", err)) ||
        (s = SS_REGROW(t->where, cap, "tasks", err)) ||
        (s = SS_REGROW(t->bytes, cap, "tasks", err)) ||
        (s = SS_REGROW(t->label, cap, "labels of tasks", err)) ||
        (s = SS_REGROW(t->first_in, cap + 1, "tasks", err)))
        return s;
    t->cap = (uint32_t)cap;
    return SS_OK;
}

ss_status ss_tasks_set_laws(ss_tasks *t, const ss_link_law *const *law, ss_error *err)
{
    for (uint32_t l = 1; law && l <= t->links; l++)
        if (law[l] && law[l]->steps && t->mode == SS_LINKS_FIFO_PIPE)
            return ss_fail(
                err, SS_EINVAL,
                "link %u has another latency for another size of message, and in fifo-pipe "
                "a latency belongs to the link: take fifo-hop, fifo-path or shared",
                l);
    t->law = law;
    return SS_OK;
}

void ss_tasks_set_flows(ss_tasks *t, uint32_t weight, double limit)
{
    t->flow_weight = weight;
    t->flow_limit = limit;
}

/* Columns that are there only where they say something. */
static ss_status reserve_columns(ss_tasks *t, ss_error *err)
{
    ss_status s = SS_OK;
    if (t->draws_flows)
        s = SS_RESERVE(t->flow, t->flow_cap, t->cap, "flows", err);
    if (!s && t->binds)
        s = SS_RESERVE(t->bound, t->bound_cap, t->cap, "bounds of tasks", err);
    return s;
}

/* Room for `more` tasks behind the last one; row 0 is always there. */
ss_status ss_tasks_reserve_tasks(ss_tasks *t, uint64_t more, ss_error *err)
{
    size_t need = (size_t)t->n + 1 + more;
    if (need <= t->cap)
        return SS_OK;
    uint32_t cap = need < UINT32_MAX / 2 ? ss_grown(t->cap, need) : 0;
    if (!cap)
        return ss_fail(err, SS_ERANGE, "too many tasks: %zu; at most 2^31 fit", need - 1);
    ss_status s = grow_tasks(t, cap, err);
    return s ? s : reserve_columns(t, err);
}

ss_status ss_tasks_reserve_edges(ss_tasks *t, uint64_t more, ss_error *err)
{
    size_t need = (size_t)t->edges + more;
    return need <= t->edge_cap ? SS_OK : SS_RESERVE(t->in, t->edge_cap, need, "dependencies", err);
}

ss_status ss_tasks_start(ss_tasks *t, uint32_t devices, uint32_t links, const double *bytes_per_s,
                         const double *latency_s, ss_links_mode mode, ss_error *err)
{
    if ((unsigned)mode >= SS_LINKS_MODES)
        return ss_fail(err, SS_EINVAL, "links mode %d does not exist", (int)mode);
    ss_status s = reserve_resources(t, devices, links, err);
    if (s)
        return s;
    memset(t->lag, 0, ((size_t)devices + links + 1) * sizeof *t->lag);
    t->n = t->edges = t->sets = 0;
    t->moved = 0;
    t->devices = devices;
    t->links = links;
    t->mode = mode;
    t->law = NULL;
    t->flow_weight = 1;
    t->flow_limit = 0;
    t->finished = false;
    t->luck = NULL;
    t->draws_flows = t->amid = t->binds = false;
    if (t->set_slots)
        memset(t->set_slot, 0, t->set_slots * sizeof *t->set_slot);
    t->bytes_per_s[0] = t->latency_s[0] = 0;
    for (uint32_t l = 1; l <= links; l++) {
        t->bytes_per_s[l] = bytes_per_s[l];
        t->latency_s[l] = latency_s[l];
        t->last_bytes[l] = -1;
        if ((s = check_link(l, bytes_per_s[l], latency_s[l], err)))
            return s;
        if (mode == SS_LINKS_FIFO_PIPE &&
            (s = ss_time_from_seconds(latency_s[l], "latency", &t->lag[devices + l], err)))
            return ss_fail_in(err, "link %u", l);
    }
    if ((s = ss_tasks_reserve_tasks(t, 1, err)))
        return s;
    t->hold[0] = t->bytes[0] = 0;
    t->where[0] = 0;
    t->label[0] = (ss_task_label){0};
    t->first_in[0] = t->first_in[1] = 0;
    return SS_OK;
}

void ss_tasks_free(ss_tasks *t)
{
    if (!t)
        return;
    ss_free(t->hold);
    ss_free(t->where);
    ss_free(t->bytes);
    ss_free(t->label);
    ss_free(t->first_in);
    ss_free(t->in);
    ss_free(t->first_out);
    ss_free(t->out);
    ss_free(t->lag);
    ss_free(t->bytes_per_s);
    ss_free(t->latency_s);
    ss_free(t->last_bytes);
    ss_free(t->last_hold);
    ss_free(t->flow);
    ss_free(t->bound);
    ss_free(t->first_of_set);
    ss_free(t->of_set);
    ss_free(t->weight_of_set);
    ss_free(t->limit_of_set);
    ss_free(t->share_of_set);
    ss_free(t->most_of_set);
    ss_free(t->set_slot);
    *t = (ss_tasks){0};
}

ss_status ss_tasks_draw(ss_tasks *t, const ss_luck *luck, ss_error *err)
{
    t->luck = luck && luck->chance ? luck : NULL;
    t->draws_flows = t->mode == SS_LINKS_SHARED && ss_luck_scales_messages(t->luck);
    ss_status s = reserve_columns(t, err);
    if (s)
        t->draws_flows = false;
    return s;
}

ss_status ss_tasks_reserve(ss_tasks *t, uint32_t tasks, uint32_t edges, ss_error *err)
{
    if (tasks >= UINT32_MAX / 2)
        return ss_fail(err, SS_ERANGE, "too many tasks: %u; at most 2^31 fit", tasks);
    if (tasks >= t->cap) {
        ss_status s = grow_tasks(t, (size_t)tasks + 1, err);
        if (!s)
            s = reserve_columns(t, err);
        if (s)
            return s;
    }
    if (edges > t->edge_cap) {
        ss_status s = SS_REGROW(t->in, edges, "dependencies", err);
        if (s)
            return s;
        t->edge_cap = edges;
    }
    return SS_OK;
}

ss_status ss_tasks_reserve_more(ss_tasks *t, uint32_t tasks, uint32_t edges, ss_error *err)
{
    ss_status s = ss_tasks_reserve_tasks(t, tasks, err);
    return s ? s : ss_tasks_reserve_edges(t, edges, err);
}

/* Of n elements; `array` is what was copied with the struct, and becomes its own. */
static ss_status copy_array(void *array_of_any_type, size_t n, size_t bytes_each, ss_error *err)
{
    void *old, *block = ss_alloc((n ? n : 1) * bytes_each);
    memcpy(&old, array_of_any_type, sizeof old);
    memcpy(array_of_any_type, &block, sizeof block);
    if (!block)
        return ss_fail_memory(err, "a copy of a task graph", n * bytes_each);
    if (n)
        memcpy(block, old, n * bytes_each);
    return SS_OK;
}

#define COPY(array, n)                                                                             \
    s = s ? (t->array = NULL, s) : copy_array(&t->array, (n), sizeof *t->array, err)

ss_status ss_tasks_copy(const ss_tasks *from, ss_tasks *out, ss_error *err)
{
    ss_tasks *t = out;
    ss_status s = SS_OK;
    *t = *from;
    size_t tasks = (size_t)t->n + 1, rows = tasks + 1,
           resources = (size_t)t->devices + t->links + 1;
    size_t links = (size_t)t->links + 1, sets = (size_t)t->sets + 2;
    size_t members = t->sets ? from->first_of_set[t->sets + 1] : 0;
    COPY(hold, tasks);
    COPY(where, tasks);
    COPY(bytes, tasks);
    COPY(label, tasks);
    COPY(first_in, rows);
    COPY(in, t->edges);
    COPY(first_out, t->finished ? rows : 0);
    COPY(out, t->finished ? t->edges : 0);
    COPY(lag, resources);
    COPY(bytes_per_s, links);
    COPY(latency_s, links);
    COPY(last_bytes, links);
    COPY(last_hold, links);
    COPY(first_of_set, t->sets ? sets : 0);
    COPY(of_set, members);
    COPY(weight_of_set, t->sets ? sets : 0);
    COPY(limit_of_set, t->sets ? sets : 0);
    if (from->share_of_set) {
        COPY(share_of_set, members);
        COPY(most_of_set, t->sets ? sets : 0);
    }
    COPY(set_slot, t->set_slots);
    COPY(flow, t->draws_flows ? tasks : 0);
    t->flow_cap = t->draws_flows ? (uint32_t)tasks : 0;
    COPY(bound, t->binds ? tasks : 0);
    t->bound_cap = t->binds ? (uint32_t)tasks : 0;
    t->luck = NULL; /* it may not last as long */
    t->cap = t->n + 1;
    t->edge_cap = t->edges;
    t->set_cap = t->sets ? (uint32_t)sets : 0;
    t->of_set_cap = (uint32_t)members;
    t->row_out_cap = t->finished ? (uint32_t)rows : 0;
    t->out_cap = t->finished ? t->edges : 0;
    t->resource_cap = (uint32_t)resources;
    t->link_cap = (uint32_t)links;
    if (s)
        ss_tasks_free(t);
    return s;
}

/* Where links are shared nobody holds one. */
static bool is_held_link(const ss_tasks *t, uint32_t where)
{
    return t->mode == SS_LINKS_SHARED && where > t->devices && where <= t->devices + t->links;
}

static ss_status refuse_task(const ss_tasks *t, uint32_t where, ss_time hold, int64_t bytes,
                             ss_error *err)
{
    if (is_held_link(t, where))
        return ss_fail(err, SS_EINVAL,
                       "task %u would hold link %u; shared links are crossed by transfers and held "
                       "by nobody",
                       t->n + 1, where - t->devices);
    if (where == 0 || where > (uint64_t)t->devices + t->links + t->sets)
        return ss_fail(
            err, SS_EINVAL,
            "task %u: resource %u does not exist; there are %u device%s, %u link%s, %u set%s",
            t->n + 1, where, t->devices, ss_plural(t->devices), t->links, ss_plural(t->links),
            t->sets, ss_plural(t->sets));
    if (hold < 0)
        return ss_fail(err, SS_EINVAL, "task %u: its time is negative, %lld ps", t->n + 1,
                       (long long)hold);
    if (bytes < 0)
        return ss_fail(err, SS_EINVAL, "task %u: %lld byte%s", t->n + 1, (long long)bytes,
                       ss_plural((uint64_t)bytes));
    return ss_fail(err, SS_ERANGE, "task %u: with its %lld byte%s more than 2^63 are moved in all",
                   t->n + 1, (long long)bytes, ss_plural((uint64_t)bytes));
}

/* A meeting that flows is drawn as a message is: chance scales its bytes and not its latency. */
static ss_status draw_task(const ss_tasks *t, uint32_t resource, int64_t bytes,
                           const ss_task_label *label, ss_time *hold, double *flow, ss_error *err)
{
    bool flows = t->mode == SS_LINKS_SHARED && resource > t->devices + t->links;
    if (label->kind != SS_TASK_COLLECTIVE || !flows)
        return ss_luck_hold(t->luck, label, resource, *hold, hold, err);
    ss_luck_message luck;
    ss_status s = ss_luck_of_message(t->luck, label, &luck, err);
    if (!s)
        s = ss_time_add(*hold, luck.more, hold, err);
    *flow = s ? 0 : (double)bytes * luck.factor;
    if (*flow >= 0x1p63)
        return ss_fail(err, SS_ERANGE, "%lld bytes that take as long as %g", (long long)bytes,
                       *flow);
    return s;
}

ss_status ss_tasks_add(ss_tasks *t, uint32_t resource, ss_time hold, int64_t bytes,
                       const ss_task_label *label, ss_task *out, ss_error *err)
{
    static const ss_task_label none = {0};
    if (resource - 1 >= t->devices + t->links + t->sets || hold < 0 || bytes < 0 ||
        bytes > INT64_MAX - t->moved || is_held_link(t, resource))
        return refuse_task(t, resource, hold, bytes, err);
    if ((size_t)t->n + 1 >= t->cap) {
        ss_status s = ss_tasks_reserve_tasks(t, 1, err);
        if (s)
            return s;
    }
    double flow = 0;
    if (t->luck && label) {
        ss_status s = draw_task(t, resource, bytes, label, &hold, &flow, err);
        if (s)
            return s;
    }
    out->i = ss_tasks_push(t, resource, hold, bytes, label ? label : &none);
    if (t->draws_flows && flow > 0)
        t->flow[out->i] = (int64_t)fmax(1, nearbyint(flow));
    t->finished = false;
    return SS_OK;
}

ss_status ss_tasks_bind(ss_tasks *t, ss_task task, double bound, ss_error *err)
{
    if (!task.i || task.i > t->n || !(bound >= 0 && bound <= 1))
        return ss_fail(err, SS_EINVAL,
                       "task %u of %u waits for memory %g of its time: it must be from 0 to 1",
                       task.i, t->n, bound);
    if (!t->binds) {
        t->binds = true;
        ss_status s = reserve_columns(t, err);
        t->binds = !s;
        if (s)
            return s;
        memset(t->bound, 0, ((size_t)t->n + 1) * sizeof *t->bound);
    }
    t->bound[task.i] = (float)bound;
    return SS_OK;
}

ss_status ss_tasks_after(ss_tasks *t, ss_task before, ss_error *err)
{
    if (before.i == 0 || before.i == t->n)
        return before.i
                   ? ss_fail(err, SS_EINVAL, "task %u waits for itself", t->n)
                   : ss_fail(err, SS_EINVAL, "task %u waits for task 0; tasks count from 1", t->n);
    if (t->n == 0)
        return ss_fail(err, SS_EINVAL, "a dependency on task %u comes before the first task",
                       before.i);
    if (t->edges >= t->edge_cap) {
        ss_status s = ss_tasks_reserve_edges(t, 1, err);
        if (s)
            return s;
    }
    ss_tasks_push_edge(t, before.i);
    t->finished = false;
    return SS_OK;
}

ss_status ss_tasks_repeat(ss_tasks *t, uint32_t times, const uint32_t *first_more,
                          const uint32_t *more, const ss_watch *watch, ss_error *err)
{
    uint32_t n = t->n;
    uint64_t copies = times - 1, edges = t->edges + (uint64_t)first_more[n + 1];
    if (t->moved && (uint64_t)t->moved > (uint64_t)INT64_MAX / times)
        return ss_fail(err, SS_ERANGE, "%u steps move more than 2^63 bytes", times);
    ss_status s = ss_tasks_reserve_tasks(t, copies * n, err);
    if (!s)
        s = ss_tasks_reserve_edges(t, copies * edges, err);
    for (uint64_t i = n + UINT64_C(1); i <= times * (uint64_t)n && !s; i++) {
        uint32_t of = (uint32_t)((i - 1) % n) + 1, before = (uint32_t)i - of;
        if (i % SS_LOOK_EVERY == 0)
            s = ss_look_up(watch, "putting steps in a row", (double)i, (double)n * times, err);
        uint32_t at = ss_tasks_push(t, t->where[of], t->hold[of], t->bytes[of], &t->label[of]);
        if (t->draws_flows)
            t->flow[at] = t->flow[of];
        if (t->binds)
            t->bound[at] = t->bound[of];
        for (uint32_t e = t->first_in[of]; e < t->first_in[of + 1]; e++)
            ss_tasks_push_edge(t, t->in[e] + before);
        for (uint32_t e = first_more[of]; e < first_more[of + 1]; e++)
            ss_tasks_push_edge(t, more[e] + before - n);
    }
    t->finished = false;
    return s;
}

/* An edge to a smaller id, a > b, is right only if a takes time: then (ready, id) still grows. */
static ss_status check_edges(const ss_tasks *t, ss_error *err)
{
    for (uint32_t b = 1; b <= t->n; b++) {
        for (uint32_t e = t->first_in[b]; e < t->first_in[b + 1]; e++) {
            uint32_t a = t->in[e];
            if (a <= b)
                continue;
            if (a > t->n)
                return ss_fail(err, SS_EINVAL, "task %u waits for task %u; there are 1 to %u", b, a,
                               t->n);
            if (ss_tasks_is_instant(t, (ss_task){a}))
                return ss_fail(
                    err, SS_EINVAL,
                    "task %u waits for task %u, which takes no time and has a larger id: "
                    "what runs first among equal ready times would be left open; number "
                    "task %u before task %u",
                    b, a, a, b);
        }
    }
    return SS_OK;
}

static ss_status reserve_out(ss_tasks *t, ss_error *err)
{
    /* Nothing in the old arrays is wanted, so they need not be copied. */
    if ((size_t)t->n + 2 > t->row_out_cap) {
        size_t cap = (size_t)t->cap + 1;
        ss_free(t->first_out);
        t->row_out_cap = 0;
        t->first_out = ss_alloc(cap * sizeof *t->first_out);
        if (!t->first_out)
            return ss_fail_memory(err, "successors of tasks", cap * sizeof *t->first_out);
        t->row_out_cap = (uint32_t)cap;
    }
    if (t->edges > t->out_cap || !t->out) {
        ss_free(t->out);
        t->out_cap = 0;
        t->out = ss_alloc((size_t)t->edge_cap * sizeof *t->out);
        if (!t->out)
            return ss_fail_memory(err, "dependencies", (size_t)t->edge_cap * sizeof *t->out);
        t->out_cap = t->edge_cap;
    }
    return SS_OK;
}

ss_status ss_tasks_finish(ss_tasks *t, ss_error *err)
{
    ss_status s = check_edges(t, err);
    if (!s)
        s = reserve_out(t, err);
    if (s)
        return s;
    /* first_out[a] counts, then is the end of row a, then, filled from behind, its beginning. */
    memset(t->first_out, 0, ((size_t)t->n + 2) * sizeof *t->first_out);
    for (uint32_t e = 0; e < t->edges; e++)
        t->first_out[t->in[e]]++;
    for (uint32_t i = 1; i <= t->n + 1; i++)
        t->first_out[i] += t->first_out[i - 1];
    for (uint32_t b = t->n; b > 0; b--)
        for (uint32_t e = t->first_in[b]; e < t->first_in[b + 1]; e++)
            t->out[--t->first_out[t->in[e]]] = b;
    t->finished = true;
    return SS_OK;
}

const uint32_t *ss_tasks_resources(const ss_tasks *t, ss_task task, uint32_t *n)
{
    uint32_t w = t->where[task.i];
    if (w <= t->devices + t->links) {
        *n = 1;
        return &t->where[task.i];
    }
    uint32_t s = w - t->devices - t->links;
    *n = t->first_of_set[s + 1] - t->first_of_set[s];
    return t->of_set + t->first_of_set[s];
}

int64_t ss_tasks_bytes_moved(const ss_tasks *t)
{
    return t->moved;
}

size_t ss_tasks_memory(const ss_tasks *t)
{
    size_t task = sizeof *t->hold + sizeof *t->where + sizeof *t->bytes + sizeof *t->label +
                  sizeof *t->first_in;
    size_t last_row = t->cap ? sizeof *t->first_in : 0;
    return t->cap * task + last_row + (t->edge_cap + (size_t)t->out_cap) * sizeof *t->in +
           t->row_out_cap * sizeof *t->first_out + t->resource_cap * sizeof *t->lag +
           t->set_cap * (sizeof *t->weight_of_set + sizeof *t->limit_of_set) +
           (t->share_of_set ? (t->of_set_cap + (size_t)t->set_cap) * sizeof *t->share_of_set : 0) +
           t->link_cap * (sizeof *t->bytes_per_s + sizeof *t->latency_s + sizeof *t->last_bytes +
                          sizeof *t->last_hold) +
           (t->set_cap + (size_t)t->of_set_cap + t->set_slots) * sizeof *t->of_set +
           t->flow_cap * sizeof *t->flow + t->bound_cap * sizeof *t->bound;
}
