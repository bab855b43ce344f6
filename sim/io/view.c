#include "io/view.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* What is needed while a view is drawn up. */
typedef struct builder {
    ss_view *v;
    const ss_result *r;
    const ss_model *m;    /* NULL: a bare task graph */
    const ss_topology *t; /* the same */
    uint32_t
        *first_shard; /* [weights + 2]: rows of ss_lowered.shard by weight; NULL without a model */
    ss_text text;     /* a name in the making */
    ss_error *err;
} builder;

static ss_status no_memory(builder *b)
{
    return ss_fail_memory(b->err, "a view of the result", 0);
}

static const char *keep(builder *b, const char *text)
{
    size_t n = strlen(text) + 1;
    char *kept = ss_arena_take(&b->v->arena, n);
    return kept ? memcpy(kept, text, n) : NULL;
}

/* What was built up in b->text since it was cleared; NULL: no memory. */
static const char *keep_built(builder *b)
{
    return b->text.failed ? NULL : keep(b, ss_text_get(&b->text));
}

static void *take_rows(builder *b, size_t rows, size_t bytes_each)
{
    if (rows > SIZE_MAX / 8 / bytes_each)
        return NULL;
    void *taken = ss_arena_take(&b->v->arena, rows * bytes_each);
    return taken ? memset(taken, 0, rows * bytes_each) : NULL;
}

/* ---------------------------------------------------------------------------------------- lanes */

static const char *numbered(builder *b, const char *what, uint32_t i)
{
    ss_text_clear(&b->text);
    ss_text_add(&b->text, "%s%u", what, i);
    return keep_built(b);
}

static ss_status device_lane(builder *b, uint32_t d)
{
    ss_view_lane *lane = &b->v->lane[d];
    const ss_device_use *use = &b->r->device[d];
    lane->name =
        b->t ? keep(b, ss_topology_device_name(b->t, (ss_device){d})) : numbered(b, "device", d);
    lane->kind = keep(b, b->t && b->t->device[d].def.kind ? b->t->device[d].def.kind : "");
    lane->capacity_bytes = b->t ? b->t->device[d].def.memory_bytes : 0;
    lane->busy = use->busy;
    lane->communicating = use->communicating;
    lane->sent = use->sent;
    lane->received = use->received;
    lane->held_peak = use->held_peak;
    lane->held_peak_at = use->held_peak_at;
    memcpy(lane->held_peak_by, use->held_peak_by, sizeof lane->held_peak_by);
    return lane->name && lane->kind ? SS_OK : no_memory(b);
}

static ss_status link_lane(builder *b, uint32_t l)
{
    ss_view_lane *lane = &b->v->lane[b->v->devices + l];
    const ss_link_use *use = &b->r->link[l];
    lane->name = b->t ? keep(b, b->t->link[l].name) : numbered(b, "link", l);
    lane->kind = keep(b, b->t && b->t->link[l].def.kind ? b->t->link[l].def.kind : "link");
    lane->is_link = true;
    lane->bytes_per_s = b->r->lowered->tasks.bytes_per_s[l];
    lane->busy = use->busy;
    lane->sent = use->bytes;
    lane->messages = use->messages;
    lane->longest_wait = use->longest_wait;
    return lane->name && lane->kind ? SS_OK : no_memory(b);
}

static ss_status add_lanes(builder *b)
{
    ss_view *v = b->v;
    v->devices = b->r->devices;
    v->lanes = b->r->devices + b->r->links;
    v->lane = take_rows(b, v->lanes + (size_t)1, sizeof *v->lane);
    if (!v->lane)
        return no_memory(b);
    v->lane[0].name = v->lane[0].kind = "";
    ss_status s = SS_OK;
    for (uint32_t d = 1; d <= b->r->devices && !s; d++)
        s = device_lane(b, d);
    for (uint32_t l = 1; l <= b->r->links && !s; l++)
        s = link_lane(b, l);
    return s;
}

/* ------------------------------------------------------------------------------- names of tasks */

/* Some labels name a weight where others name an operator (lower.h). */
static bool about_weight(const ss_task_label *label)
{
    return label->kind == SS_TASK_UPDATE || label->kind == SS_TASK_COLLECTIVE ||
           label->cargo == SS_CARGO_WEIGHT_GRADIENT || label->cargo == SS_CARGO_WEIGHT;
}

static const char *lane_name(const builder *b, uint32_t device)
{
    return device <= b->v->devices ? b->v->lane[device].name : "";
}

static void name_weight_task(builder *b, uint32_t task, const char *op)
{
    const ss_task_label *label = &b->r->lowered->tasks.label[task];
    const ss_lowered *l = b->r->lowered;
    ss_text_add(&b->text, "%s", op);
    uint32_t w = label->op, shard = label->part;
    if (shard && shard <= l->shards && b->first_shard[w + 1] - b->first_shard[w] > 1)
        ss_text_add(&b->text, "[%u]", shard - b->first_shard[w]);
    if (label->kind == SS_TASK_COLLECTIVE)
        ss_text_add(&b->text, " all-reduce");
    else if (label->kind == SS_TASK_TRANSFER)
        ss_text_add(&b->text, " %s %s -> %s",
                    label->cargo == SS_CARGO_WEIGHT ? "weights" : "gradient",
                    lane_name(b, label->from.i), lane_name(b, label->to.i));
    else
        ss_text_add(&b->text, ".%s on %s", ss_task_kind_name(label->kind),
                    lane_name(b, b->r->lowered->tasks.where[task]));
}

static void name_op_task(builder *b, const ss_task_label *label, const char *op)
{
    if (label->kind != SS_TASK_TRANSFER) {
        ss_text_add(&b->text, "%s.%s[%u]", op, ss_task_kind_name(label->kind), label->part);
        return;
    }
    const char *to = label->to_op <= b->m->ops ? b->m->op[label->to_op].name : "";
    ss_text_add(&b->text, "%s[%u] -> %s[%u]%s", op, label->part, to, label->to_part,
                label->cargo == SS_CARGO_GRADIENT ? " gradient" : "");
}

/* Of a task that a script added. */
static const char *given_name(const builder *b, uint32_t task)
{
    const ss_result *r = b->r;
    uint32_t first = r->lowered->tasks.n - r->added + 1;
    return r->name && task >= first ? r->name[task - first] : NULL;
}

static const char *task_name(builder *b, uint32_t task, const char *op)
{
    const ss_task_label *label = &b->r->lowered->tasks.label[task];
    ss_text_clear(&b->text);
    if (label->kind == SS_TASK_BARRIER && label->part)
        ss_text_add(&b->text, "barrier on %s", lane_name(b, label->part));
    else if (label->kind == SS_TASK_BARRIER)
        ss_text_add(&b->text, "barrier");
    else if (given_name(b, task))
        ss_text_add(&b->text, "%s", given_name(b, task));
    else if (!b->m || !label->op)
        ss_text_add(&b->text, "%s %u", ss_task_kind_name(label->kind), task);
    else if (about_weight(label))
        name_weight_task(b, task, op);
    else
        name_op_task(b, label, op);
    if (label->hop)
        ss_text_add(&b->text, " (hop %u)", label->hop + 1u);
    return keep_built(b);
}

/* ---------------------------------------------------------------------------------------- tasks */

/* Operators' and weights' names are kept once: [ops + 1], [weights + 1], [SS_TASK_KINDS]. */
typedef struct kept_names {
    const char **op, **weight, *kind[SS_TASK_KINDS];
} kept_names;

static ss_status keep_names(builder *b, kept_names *k)
{
    for (uint32_t i = 0; i < SS_TASK_KINDS; i++)
        k->kind[i] = ss_task_kind_name(i);
    if (!b->m)
        return SS_OK;
    k->op = take_rows(b, b->m->ops + (size_t)1, sizeof *k->op);
    k->weight = take_rows(b, b->m->weights + (size_t)1, sizeof *k->weight);
    if (!k->op || !k->weight)
        return no_memory(b);
    for (uint32_t i = 1; i <= b->m->ops; i++)
        if (!(k->op[i] = keep(b, b->m->op[i].name)))
            return no_memory(b);
    for (uint32_t i = 1; i <= b->m->weights; i++)
        if (!(k->weight[i] = keep(b, b->m->weight[i].name)))
            return no_memory(b);
    return SS_OK;
}

static const char *kept_name(const builder *b, const kept_names *k, const ss_task_label *label)
{
    if (!b->m || !label->op)
        return k->kind[label->kind];
    if (about_weight(label))
        return label->op <= b->m->weights ? k->weight[label->op] : "";
    return label->op <= b->m->ops ? k->op[label->op] : "";
}

static void set_lanes(builder *b, uint32_t task, uint32_t *mores)
{
    ss_view_task *row = &b->v->task[task];
    uint32_t n = 0;
    const uint32_t *resource = ss_tasks_resources(&b->r->lowered->tasks, (ss_task){task}, &n);
    row->lanes = n;
    row->lane = n ? resource[0] : 0;
    row->first_more = *mores;
    for (uint32_t i = 1; i < n; i++)
        b->v->more[(*mores)++] = resource[i];
}

static ss_status add_task(builder *b, const kept_names *k, uint32_t i, uint32_t *mores)
{
    const ss_tasks *t = &b->r->lowered->tasks;
    const ss_timeline *l = &b->r->timeline;
    const ss_task_label *label = &t->label[i];
    ss_view_task *row = &b->v->task[i];
    set_lanes(b, i, mores);
    row->id = i;
    row->kind = label->kind;
    row->cargo = label->cargo;
    row->hop = label->hop;
    row->op = kept_name(b, k, label);
    row->name = task_name(b, i, row->op);
    row->ready = l->ready[i];
    row->start = l->start[i];
    row->end = l->end[i];
    row->finish = ss_timeline_finish(t, l, (ss_task){i});
    row->bytes = t->bytes[i];
    if (label->kind == SS_TASK_TRANSFER) {
        row->from = label->from.i;
        row->to = label->to.i;
    }
    if (label->kind == SS_TASK_TRANSFER || label->kind == SS_TASK_COLLECTIVE) {
        row->from_task = t->first_in[i] < t->first_in[i + 1] ? t->in[t->first_in[i]] : 0;
        row->to_task = t->first_out[i] < t->first_out[i + 1] ? t->out[t->first_out[i]] : 0;
    }
    return row->name ? SS_OK : no_memory(b);
}

static ss_status add_tasks(builder *b)
{
    const ss_tasks *t = &b->r->lowered->tasks;
    ss_view *v = b->v;
    kept_names k = {0};
    ss_status s = keep_names(b, &k);
    if (s)
        return s;
    size_t mores = 0;
    for (uint32_t i = 1; i <= t->n; i++) {
        uint32_t n = 0;
        ss_tasks_resources(t, (ss_task){i}, &n);
        mores += n ? n - 1 : 0;
    }
    if (mores > UINT32_MAX)
        return ss_fail(b->err, SS_ERANGE, "tasks hold too many links together: %zu", mores);
    v->tasks = t->n;
    v->task = take_rows(b, t->n + (size_t)1, sizeof *v->task);
    v->more = take_rows(b, mores, sizeof *v->more);
    if (!v->task || !v->more)
        return no_memory(b);
    v->task[0].name = v->task[0].op = "";
    for (uint32_t i = 1; i <= t->n && !s; i++)
        s = add_task(b, &k, i, &v->mores);
    return s;
}

static ss_status add_edges(builder *b)
{
    const ss_tasks *t = &b->r->lowered->tasks;
    ss_view *v = b->v;
    v->edge = take_rows(b, t->edges, sizeof *v->edge);
    if (!v->edge)
        return no_memory(b);
    for (uint32_t i = 1; i <= t->n; i++)
        for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++) {
            v->edge[v->edges][0] = t->in[e];
            v->edge[v->edges++][1] = i;
        }
    return SS_OK;
}

static void mark_critical_path(builder *b)
{
    const ss_critical *c = &b->r->critical;
    for (uint32_t i = 0; i < c->n; i++) {
        ss_view_task *row = &b->v->task[c->step[i].task.i];
        row->on_critical_path = 1;
        row->behind = c->step[i].blocker.i;
        row->waited = c->step[i].resource;
    }
    b->v->path_compute = c->compute;
    b->v->path_transfer = c->transfer;
    b->v->path_queueing = c->queueing;
    b->v->path_queueing_device = c->queueing_device;
    b->v->path_slowed = c->slowed;
    b->v->path_overhead = b->r->overhead;
    b->v->path_queueing_link = c->queueing_link;
}

/* ----------------------------------------------------------------------------------- the whole
 * step */

static ss_status add_held(builder *b)
{
    const ss_result *r = b->r;
    ss_view *v = b->v;
    uint32_t n = r->held ? r->held_first[r->devices + 1] : 0;
    v->held = take_rows(b, n, sizeof *v->held);
    if (!v->held)
        return no_memory(b);
    for (uint32_t d = 1; d <= r->devices && n; d++)
        for (uint32_t i = r->held_first[d]; i < r->held_first[d + 1]; i++)
            v->held[v->helds++] = (ss_view_held){d, r->held[i].at, r->held[i].bytes};
    return SS_OK;
}

static bool has_loss(const ss_model *m)
{
    for (uint32_t i = 1; i <= m->ops; i++)
        if (m->op[i].def->kind->is_loss)
            return true;
    return false;
}

static void assume_of_messages(ss_text *t, const ss_lower_options *o)
{
    char size[SS_QUANTITY_TEXT];
    bool at_once = ss_links_are_crossed_at_once(o->links);
    if (o->segment_bytes > 0 && o->max_segments > 1 && !(at_once && o->ideal_links))
        ss_text_add(t, "; segments of %s, at most %u%s",
                    ss_format_quantity((double)o->segment_bytes, SS_UNIT_BYTES, size, sizeof size),
                    o->max_segments, at_once ? ", where a node stages" : "");
}

static void assume_of_lowering(ss_text *t, const ss_model *m, const ss_lower_options *o)
{
    char size[SS_QUANTITY_TEXT];
    ss_text_add(t, "; %s",
                !o->training ? "forward only"
                : o->lumped  ? "forward and backward as one task"
                             : "training");
    if (o->coalesce == SS_COALESCE_PER_DEVICE)
        ss_text_add(t, "; coalesced per device");
    if (m->no_halo)
        ss_text_add(t, "; no halo");
    assume_of_messages(t, o);
    if (o->gather)
        ss_text_add(t, "; timed gathers");
    if (!o->training)
        return;
    ss_text_add(t, "; sync %s", ss_sync_name(o->sync));
    if (o->sync != SS_SYNC_NONE && o->sync != SS_SYNC_CLOSED_FORM)
        ss_text_add(t, ", %s%s", o->overlap ? "overlapped" : "after all backward work",
                    o->aggregate ? ", each meeting one task" : "");
    if (o->chunk_bytes > 0)
        ss_text_add(t, ", chunks of %s",
                    ss_format_quantity((double)o->chunk_bytes, SS_UNIT_BYTES, size, sizeof size));
    if (o->update_passes > 0)
        ss_text_add(t, "; updates of %g passes", o->update_passes);
    else
        ss_text_add(t, "; free updates");
    ss_text_add(t, "; %s partial sums", o->partial_sums ? "timed" : "free");
    if (!has_loss(m))
        ss_text_add(t, "; no loss: gradients start at the last operators");
}

/* Where nothing is said, routes are the lowest shortest ones and everything works. */
static void assume_of_topology(ss_text *text, const ss_topology *t)
{
    if (t->routing != SS_ROUTING_SHORTEST)
        ss_text_add(text, "; routing %s, seed %llu", ss_routing_name(t->routing),
                    (unsigned long long)t->routing_seed);
    if (t->failures)
        ss_text_add(text, "; %u failed link%s or switch%s avoided", t->failures,
                    t->failures == 1 ? "" : "s", t->failures == 1 ? "" : "es");
}

/* What the script asked for, of whichever number of tasks that is. */
static void assume_of_script(ss_text *text, const ss_result *r)
{
    const ss_tasks *t = &r->lowered->tasks;
    uint32_t computations = 0, messages = 0, hops = 0;
    bool far = false;
    for (uint32_t i = t->n - r->added + 1; i <= t->n; i++) {
        bool sent = t->label[i].kind == SS_TASK_TRANSFER;
        computations += !sent;
        hops += sent && t->where[i] > t->devices; /* to oneself none */
        far |= sent && t->label[i].hop;
        messages += sent && t->label[i].hop == 0;
    }
    if (computations)
        ss_text_add(text, "%u computation%s", computations, ss_plural(computations));
    if (messages)
        ss_text_add(text, "%s%u message%s", computations ? " and " : "", messages,
                    ss_plural(messages));
    if (far)
        ss_text_add(text, " (%u hops)", hops);
}

/* What happened on the way; of much the first. */
static void assume_of_run(ss_text *text, const ss_result *r, const ss_topology *t)
{
    enum { SOME = 6 };
    for (uint32_t i = 0; i < r->changes && i < SOME; i++) {
        ss_text_add(text, i ? ", " : "; on the way: ");
        ss_change_say(&r->change[i], t, text);
    }
    if (r->changes > SOME)
        ss_text_add(text, " and %u change%s more", r->changes - SOME, ss_plural(r->changes - SOME));
    if (!r->added)
        return;
    ss_text_add(text, "; ");
    assume_of_script(text, r);
    ss_text_add(text, " added by the script");
}

/* Routes whose messages get more of shared links than others, or no more than so much. */
static void assume_of_weights(ss_text *text, const ss_topology *t, const ss_lower_options *o)
{
    uint32_t weighed = 0, most = 0, limited = 0;
    for (uint32_t i = 0; o->links == SS_LINKS_SHARED && i < t->givens; i++) {
        limited += t->given[i].limit > 0;
        weighed += t->given[i].weight != 1;
        most = t->given[i].weight > most ? t->given[i].weight : most;
    }
    if (weighed)
        ss_text_add(text, ", weight of up to %u on %u route%s", most, weighed, ss_plural(weighed));
    if (limited)
        ss_text_add(text, ", %u route%s with a limit", limited, ss_plural(limited));
}

/* How links fall short of the published full bandwidth: each as ", what". */
static void assume_of_laws(ss_text *text, const ss_topology *t, const ss_lower_options *o)
{
    uint32_t by_size = 0, latency = 0, loaded = 0;
    double most = 0;
    char limit[SS_QUANTITY_TEXT];
    for (uint32_t l = 1; t->laws && !o->ideal_links && l <= t->links; l++) {
        const ss_link_law *law = t->link[l].def.law;
        if (!law)
            continue;
        by_size += law->half_bytes > 0 || law->curve.n;
        latency += law->steps > 0;
        loaded += law->load > 0;
        most = law->load > most ? law->load : most;
    }
    if (by_size)
        ss_text_add(text, ", efficiency by size of %u link%s", by_size, ss_plural(by_size));
    if (latency)
        ss_text_add(text, ", latency by size of %u link%s", latency, ss_plural(latency));
    if (loaded)
        ss_text_add(text, ", load of up to %g%% on %u link%s", 100 * most, loaded,
                    ss_plural(loaded));
    bool at_once = o->links == SS_LINKS_SHARED || o->links == SS_LINKS_FIFO_PATH;
    if (t->stagings && !o->ideal_links && at_once) /* else every node does */
        ss_text_add(text, ", staging at %u node%s", t->stagings, ss_plural(t->stagings));
    assume_of_weights(text, t, o);
    if (o->flow_limit > 0 && o->links == SS_LINKS_SHARED)
        ss_text_add(
            text, ", at most %s a message",
            ss_format_quantity(o->flow_limit, SS_UNIT_BYTES_PER_SECOND, limit, sizeof limit));
    if (o->ideal_links && (t->laws || t->stagings))
        ss_text_add(text, ", what its links fall short of is left aside");
}

static const char *what_links_give(const ss_result *r, bool ideal)
{
    bool shared = r->lowered->tasks.mode == SS_LINKS_SHARED, change = false;
    for (uint32_t i = 0; i < r->changes; i++)
        change |= r->change[i].kind <= SS_CHANGE_LINK_WORKS;
    if (change)
        return shared ? "broken: bandwidth shared max-min, of links that change"
                      : "broken: links that change";
    if (shared)
        return "broken: bandwidth shared max-min";
    return ideal ? "full bandwidth" : "broken: less than full bandwidth";
}

static void assume_of_links(builder *b)
{
    const ss_lower_options *o = &b->r->lowered->options;
    ss_text laws = {0};
    if (b->t)
        assume_of_laws(&laws, b->t, o);
    bool ideal = o->ideal_links || !*ss_text_get(&laws);
    ss_text_add(&b->text, "A2 %s, links %s%s", what_links_give(b->r, ideal),
                ss_links_mode_name(b->r->lowered->tasks.mode), ss_text_get(&laws));
    ss_text_free(&laws);
}

static void assume_of_times(ss_text *text, const ss_lower_options *o)
{
    const ss_chance *c = o->chance;
    double interference = o->run.interference;
    bool drawn = c && ss_chance_breaks_times(c);
    ss_text_add(text, "A1 %s", drawn || interference > 0 ? "broken: " : "one duration a task");
    if (drawn)
        ss_chance_say_times(c, text);
    if (interference > 0)
        ss_text_add(text, "%sdevices of a machine slow each other, interference %g",
                    drawn ? "; " : "", interference);
}

static void assume_of_overheads(ss_text *text, const ss_lower_options *o)
{
    const ss_chance *c = o->chance;
    bool kept = !c || !ss_chance_breaks_overheads(c);
    ss_text_add(text, "A4 %s", kept ? "no overhead" : "broken: ");
    if (!kept)
        ss_chance_say_overheads(c, text);
    if (c && ss_chance_is_random(c))
        ss_text_add(text, "; chance of seed %llu, repetition %u", (unsigned long long)c->seed,
                    o->repetition ? o->repetition : c->repetition);
}

static const char *assumptions(builder *b)
{
    ss_text *t = &b->text;
    ss_text_clear(t);
    assume_of_times(t, &b->r->lowered->options);
    ss_text_add(t, "; ");
    assume_of_links(b);
    ss_text_add(t, "; ");
    ss_run_options_say(&b->r->lowered->options.run, t);
    ss_text_add(t, "; ");
    assume_of_overheads(t, &b->r->lowered->options);
    assume_of_run(t, b->r, b->t);
    if (b->t)
        assume_of_topology(t, b->t);
    if (b->m)
        assume_of_lowering(t, b->m, &b->r->lowered->options);
    else
        assume_of_messages(t, &b->r->lowered->options);
    if (b->r->costs)
        ss_text_add(t, "; costs: %s", b->r->costs);
    return keep_built(b);
}

static ss_status add_step(builder *b, const char *strategy_name)
{
    ss_view *v = b->v;
    const ss_result *r = b->r;
    v->model = keep(b, b->m && b->m->name ? b->m->name : "");
    v->topology = keep(b, b->t && b->t->name ? b->t->name : "");
    v->strategy = keep(b, strategy_name ? strategy_name : "");
    v->assumptions = assumptions(b);
    v->cautions = keep(b, r->costs_notes ? r->costs_notes : "");
    v->step_time = r->step_time;
    v->samples = r->samples;
    v->bytes_moved = r->bytes_moved;
    v->charged_bytes = r->lowered->charged_bytes;
    for (uint32_t c = 0; c < SS_CARGOS; c++)
        v->moved[c] = (double)r->lowered->moved[c];
    if (!b->m)
        v->moved[SS_CARGO_NONE] = r->bytes_moved;
    return v->model && v->topology && v->strategy && v->assumptions && v->cautions ? SS_OK
                                                                                   : no_memory(b);
}

static ss_status find_shards(builder *b)
{
    if (!b->m)
        return SS_OK;
    const ss_lowered *l = b->r->lowered;
    b->first_shard = ss_alloc_zeroed(b->m->weights + (size_t)2, sizeof *b->first_shard);
    if (!b->first_shard)
        return no_memory(b);
    uint32_t row = 1;
    for (uint32_t w = 1; w <= b->m->weights + 1; w++) {
        b->first_shard[w] = row;
        while (row <= l->shards && l->shard[row].weight.i == w)
            row++;
    }
    return SS_OK;
}

static ss_status add_step_and_lanes(builder *b, const char *strategy_name)
{
    ss_status s = add_step(b, strategy_name);
    return s ? s : add_lanes(b);
}

static ss_status done(builder *b, ss_status s, ss_view *out)
{
    ss_free(b->first_shard);
    ss_text_free(&b->text);
    if (s)
        ss_view_free(b->v);
    else
        *out = *b->v;
    return s;
}

ss_status ss_view_of_lanes(const ss_result *r, const ss_model *m, const ss_topology *t,
                           const char *strategy_name, ss_view *out, ss_error *err)
{
    ss_view v = {0};
    builder b = {.v = &v, .r = r, .m = m, .t = t, .err = err};
    return done(&b, add_step_and_lanes(&b, strategy_name), out);
}

ss_status ss_view_of_result(const ss_result *r, const ss_model *m, const ss_topology *t,
                            const char *strategy_name, ss_view *out, ss_error *err)
{
    ss_view v = {0};
    builder b = {.v = &v, .r = r, .m = m, .t = t, .err = err};
    ss_status s = find_shards(&b);
    if (!s)
        s = add_step_and_lanes(&b, strategy_name);
    if (!s)
        s = add_tasks(&b);
    if (!s)
        s = add_edges(&b);
    if (!s)
        s = add_held(&b);
    if (!s)
        s = ss_view_stretches(r, &v.arena, &v.stretch, &v.stretches, err);
    if (!s)
        s = ss_view_events(r, t, &v.arena, &v.event, &v.events, err);
    if (!s)
        mark_critical_path(&b);
    return done(&b, s, out);
}

void ss_view_free(ss_view *v)
{
    if (!v)
        return;
    ss_arena_free(&v->arena);
    *v = (ss_view){0};
}

int ss_view_turn_order(const void *a, const void *b)
{
    const ss_view_turn *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}
