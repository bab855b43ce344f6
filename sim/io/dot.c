#include "config.h"

#include "io/dot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "graph/tasks.h"
#include "io/dot_merge.h"
#include "io/file.h"

enum { READABLE_NODES = 200 };

/* One or more tasks drawn as one. */
typedef struct node {
    uint32_t first;         /* the task with the lowest id: names and places the node */
    uint32_t tasks, hops;   /* messages count once in `tasks`, by their first hop */
    uint32_t work;          /* how many of them are no messages */
    uint32_t lane;          /* that all of them are on; 0: several */
    bool one_op, like_ops;  /* of one operator; of some whose names differ in numbers only */
    bool one_kind, one_end; /* of one kind and cargo; between the same two */
    bool critical;
    ss_time active;
    int64_t bytes;
} node;

typedef struct arrow {
    uint32_t from, to; /* nodes */
    bool critical, order;
} arrow;

typedef struct drawing {
    const ss_view *v;
    ss_dot_nodes merged;
    node *node; /* [nodes + 1], by lowest task id */
    arrow *arrow;
    uint32_t arrows, arrow_cap;
    ss_error *err;
} drawing;

/* ---------------------------------------------------------------------------------------- nodes */

static void join(const drawing *d, node *into, uint32_t task)
{
    const ss_view_task *t = &d->v->task[task];
    if (!into->first)
        *into = (node){.first = task,
                       .lane = t->lane,
                       .one_op = true,
                       .like_ops = true,
                       .one_kind = true,
                       .one_end = true};
    const ss_view_task *first = &d->v->task[into->first];
    into->tasks += t->hop == 0;
    into->hops++;
    into->work += !ss_view_is_message(t);
    into->lane = into->lane == t->lane ? into->lane : 0;
    into->one_op = into->one_op && !strcmp(first->op, t->op);
    into->like_ops = into->like_ops && ss_dot_same_but_numbers(first->op, t->op);
    into->one_kind = into->one_kind && first->kind == t->kind && first->cargo == t->cargo;
    into->one_end = into->one_end && first->from == t->from && first->to == t->to;
    into->critical = into->critical || t->on_critical_path;
    into->active += t->finish - t->start;
    into->bytes += t->hop ? 0 : t->bytes;
}

static ss_status make_nodes(drawing *d, uint32_t max_nodes)
{
    ss_status s = ss_dot_merge(d->v, max_nodes, &d->merged, d->err);
    if (s)
        return s;
    d->node = ss_alloc_zeroed(d->merged.nodes + (size_t)1, sizeof *d->node);
    if (!d->node)
        return ss_fail_memory(d->err, "a drawing", d->merged.nodes * sizeof *d->node);
    for (uint32_t i = 1; i <= d->v->tasks; i++)
        join(d, &d->node[d->merged.node_of[i]], i);
    return SS_OK;
}

/* Work on one device is drawn within it. */
static uint32_t cluster_of(const drawing *d, const node *n)
{
    return n->work == n->hops && n->lane <= d->v->devices ? n->lane : 0;
}

/* --------------------------------------------------------------------------------------- arrows */

static ss_status add_arrow(drawing *d, uint32_t before, uint32_t after, bool order)
{
    const ss_view_task *a = &d->v->task[before], *b = &d->v->task[after];
    uint32_t from = d->merged.node_of[before], to = d->merged.node_of[after];
    if (from == to)
        return SS_OK;
    ss_status s =
        SS_RESERVE(d->arrow, d->arrow_cap, d->arrows + (size_t)1, "arrows of a drawing", d->err);
    if (s)
        return s;
    bool critical = !order && a->on_critical_path && b->on_critical_path && a->finish == b->ready;
    d->arrow[d->arrows++] = (arrow){from, to, critical, order};
    return SS_OK;
}

static int by_ends(const void *a, const void *b)
{
    const arrow *x = a, *y = b;
    if (x->order != y->order)
        return x->order ? 1 : -1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static ss_status add_device_order(drawing *d)
{
    const ss_view *v = d->v;
    ss_view_turn *list = ss_alloc(v->tasks * sizeof *list);
    if (!list)
        return ss_fail_memory(d->err, "a drawing", v->tasks * sizeof *list);
    uint32_t n = 0;
    for (uint32_t i = 1; i <= v->tasks; i++)
        if (v->task[i].lane && v->task[i].lane <= v->devices)
            list[n++] = (ss_view_turn){v->task[i].start, v->task[i].lane, i};
    qsort(list, n, sizeof *list, ss_view_turn_order);
    ss_status s = SS_OK;
    for (uint32_t i = 1; i < n && !s; i++)
        if (list[i].lane == list[i - 1].lane)
            s = add_arrow(d, list[i - 1].task, list[i].task, true);
    ss_free(list);
    return s;
}

static ss_status add_arrows(drawing *d, bool device_order)
{
    ss_status s = SS_OK;
    for (uint32_t e = 0; e < d->v->edges && !s; e++)
        s = add_arrow(d, d->v->edge[e][0], d->v->edge[e][1], false);
    if (!s && device_order)
        s = add_device_order(d);
    if (s)
        return s;
    if (d->arrows)
        qsort(d->arrow, d->arrows, sizeof *d->arrow, by_ends);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->arrows; i++) {
        if (kept && !by_ends(&d->arrow[kept - 1], &d->arrow[i]))
            d->arrow[kept - 1].critical |= d->arrow[i].critical;
        else
            d->arrow[kept++] = d->arrow[i];
    }
    d->arrows = kept;
    return SS_OK;
}

/* ----------------------------------------------------------------------------------------- text */

/* Inside quotes: what would end them or start an escape is escaped, control bytes become blanks. */
static void add_escaped(ss_text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            ss_text_add_bytes(out, "\\", 1);
        ss_text_add_bytes(out, (unsigned char)*s < 0x20 || *s == 0x7f ? " " : s, 1);
    }
}

/* A name with its numbers replaced, for what stands for all of them. */
static void add_pattern(ss_text *out, const char *s)
{
    while (*s) {
        size_t digits = strspn(s, "0123456789");
        char one[2] = {*s, 0};
        add_escaped(out, digits ? "#" : one);
        s += digits ? digits : 1;
    }
}

/* Colour-blind safe (Okabe and Ito 2008), light for text on top; the figures use the same hues. */
static const char *fill_of(const ss_view_task *t)
{
    static const char *const by_cargo[SS_CARGOS] = {"#dddddd", "#cfe8f7", "#f9dfb3", "#eed3e2",
                                                    "#faf5c0"};
    switch (t->kind) {
    case SS_TASK_FORWARD:
        return "#a6cfe8";
    case SS_TASK_BACKWARD:
        return "#f0b48f";
    case SS_TASK_UPDATE:
        return "#9ad8c3";
    case SS_TASK_TRANSFER:
    case SS_TASK_COLLECTIVE:
        return by_cargo[t->cargo < SS_CARGOS ? t->cargo : 0];
    default:
        return "#dddddd";
    }
}

/* Names of kinds are one word in tables; in a drawing they are for people. */
static void add_spoken(ss_text *out, const char *name)
{
    for (; *name; name++)
        ss_text_add_bytes(out, *name == '_' ? " " : name, 1);
}

static void add_ends(const drawing *d, const ss_view_task *t, ss_text *out)
{
    if (!t->from || !t->to)
        return;
    ss_text_add(out, "\\n");
    add_escaped(out, d->v->lane[t->from].name);
    ss_text_add(out, " -> ");
    add_escaped(out, d->v->lane[t->to].name);
}

/* "12 tasks", "1 message", "12 tasks, 3 messages" */
static void add_counts(const node *n, ss_text *out)
{
    uint32_t messages = n->tasks > n->work ? n->tasks - n->work : 0;
    if (n->work)
        ss_text_add(out, "%u task%s", n->work, ss_plural(n->work));
    if (messages)
        ss_text_add(out, "%s%u message%s", n->work ? ", " : "", messages, ss_plural(messages));
    if (!n->work && !messages) /* later hops of messages that begin elsewhere */
        ss_text_add(out, "%u hop%s", n->hops, ss_plural(n->hops));
}

static void add_what(const drawing *d, const node *n, ss_text *out)
{
    const ss_view_task *t = &d->v->task[n->first];
    if (n->one_op)
        add_escaped(out, t->op);
    else if (n->like_ops)
        add_pattern(out, t->op);
    ss_text_add(out, "%s", (n->one_op || n->like_ops) && *t->op ? " " : "");
    if (n->one_kind) {
        add_spoken(out, t->cargo ? ss_cargo_name(t->cargo) : ss_task_kind_name(t->kind));
    } else if (d->merged.beyond == SS_DOT_STEP) {
        ss_text_add(out, "work");
    } else {
        ss_text_add(out, "%s%s", ss_dot_phase(t), n->work < n->hops ? " and its messages" : "");
    }
}

static void add_label(const drawing *d, const node *n, ss_text *out)
{
    const ss_view_task *t = &d->v->task[n->first];
    char b[SS_QUANTITY_TEXT];
    if (n->hops == 1 || (n->tasks == 1 && !n->work && !t->hop)) {
        add_escaped(out, t->name);
    } else {
        add_what(d, n, out);
        ss_text_add(out, "\\n");
        add_counts(n, out);
        if (n->one_end)
            add_ends(d, t, out);
    }
    ss_text_add(out, "\\n%s", ss_format_time(n->active, b, sizeof b));
    if (n->bytes)
        ss_text_add(out, ", %s", ss_format_quantity((double)n->bytes, SS_UNIT_BYTES, b, sizeof b));
}

static void add_node(const drawing *d, uint32_t i, const char *indent, ss_text *out)
{
    const node *n = &d->node[i];
    const ss_view_task *t = &d->v->task[n->first];
    ss_text_add(out, "%st%u [label=\"", indent, n->first);
    add_label(d, n, out);
    ss_text_add(out, "\", fillcolor=\"%s\"", n->one_kind ? fill_of(t) : "#dddddd");
    if (!n->work)
        ss_text_add(out, ", shape=ellipse");
    if (n->critical)
        ss_text_add(out, ", penwidth=2.5");
    ss_text_add(out, "];\n");
}

static void add_nodes(const drawing *d, ss_text *out)
{
    const ss_view *v = d->v;
    for (uint32_t lane = 1; lane <= v->devices; lane++) {
        bool open = false;
        for (uint32_t i = 1; i <= d->merged.nodes; i++) {
            if (cluster_of(d, &d->node[i]) != lane)
                continue;
            if (!open) {
                ss_text_add(out, "  subgraph cluster_%u {\n    label=\"", lane);
                add_escaped(out, v->lane[lane].name);
                ss_text_add(out, "\"; color=gray60; fontcolor=gray30;\n");
            }
            open = true;
            add_node(d, i, "    ", out);
        }
        if (open)
            ss_text_add(out, "  }\n");
    }
    for (uint32_t i = 1; i <= d->merged.nodes; i++)
        if (!cluster_of(d, &d->node[i]))
            add_node(d, i, "  ", out);
}

static void add_edges(const drawing *d, ss_text *out)
{
    for (uint32_t i = 0; i < d->arrows; i++) {
        const arrow *a = &d->arrow[i];
        ss_text_add(out, "  t%u -> t%u", d->node[a->from].first, d->node[a->to].first);
        if (a->order)
            ss_text_add(out, " [style=dashed, color=gray50, constraint=false]");
        else if (a->critical)
            ss_text_add(out, " [penwidth=2.5]");
        ss_text_add(out, ";\n");
    }
}

static void add_note(const drawing *d, ss_text *out)
{
    static const char *const what[SS_DOT_MERGINGS] = {
        "tasks",
        "the hops of a message",
        "tasks of an operator on a device",
        "tasks of an operator",
        "layers that differ in numbers only",
        "tasks of one kind",
        "forward, backward and update with their messages",
        "everything"};
    const ss_view *v = d->v;
    char b[SS_QUANTITY_TEXT];
    ss_text_add(out, "  label=\"");
    const char *const names[] = {*v->model ? v->model : "task graph", v->topology, v->strategy};
    for (int i = 0; i < 3; i++) {
        ss_text_add(out, "%s", i && *names[i] ? i == 1 ? " on " : ", " : "");
        add_escaped(out, names[i]);
    }
    ss_text_add(out, "; step time %s", ss_format_time(v->step_time, b, sizeof b));
    ss_dot_merging all = d->merged.merging, beyond = d->merged.beyond;
    if (beyond != SS_DOT_TASKS)
        ss_text_add(out, "\\n%u tasks merged into %u nodes: %s%s%s", v->tasks, d->merged.nodes,
                    all ? what[all] : "", all ? ", and of the shortest ones " : "", what[beyond]);
    ss_text_add(out, "\"; labelloc=t; labeljust=l;\n");
}

static void add_legend(const drawing *d, bool device_order, ss_text *out)
{
    ss_text_add(
        out, "  legend [shape=plaintext, style=\"\", label=<<table border=\"0\" cellborder=\"1\" "
             "cellspacing=\"0\" cellpadding=\"3\">\n    <tr><td>box: work on a device, its "
             "time</td></tr>\n    <tr><td>ellipse: message, its time and size</td></tr>\n    "
             "<tr><td><b>bold: critical path</b></td></tr>\n");
    if (device_order)
        ss_text_add(out, "    <tr><td>dashed: order on a device</td></tr>\n");
    bool seen[SS_TASK_KINDS][SS_CARGOS] = {{false}};
    for (uint32_t i = 1; i <= d->merged.nodes; i++) {
        const ss_view_task *t = &d->v->task[d->node[i].first];
        if (!d->node[i].one_kind || t->kind >= SS_TASK_KINDS || t->cargo >= SS_CARGOS ||
            seen[t->kind][t->cargo])
            continue;
        seen[t->kind][t->cargo] = true;
        ss_text_add(out, "    <tr><td bgcolor=\"%s\">%s", fill_of(t), ss_task_kind_name(t->kind));
        ss_text_add(out, "%s", t->cargo ? ": " : "");
        add_spoken(out, t->cargo ? ss_cargo_name(t->cargo) : "");
        ss_text_add(out, "</td></tr>\n");
    }
    ss_text_add(out, "    </table>>];\n");
}

static ss_status add_drawing(drawing *d, const ss_dot_options *o, ss_text *out)
{
    ss_status s = make_nodes(d, o->max_nodes ? o->max_nodes : READABLE_NODES);
    if (!s)
        s = add_arrows(d, o->device_order);
    if (s)
        return s;
    ss_text_add(out, "digraph step {\n  rankdir=LR; fontname=\"sans-serif\"; fontsize=12;\n"
                     "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
                     "  edge [arrowsize=0.6];\n");
    if (d->v->assumptions && *d->v->assumptions) {
        ss_text_add(out, "  comment=\"");
        add_escaped(out, d->v->assumptions);
        ss_text_add(out, "\";\n");
    }
    add_note(d, out);
    add_legend(d, o->device_order, out);
    add_nodes(d, out);
    add_edges(d, out);
    ss_text_add(out, "}\n");
    return ss_text_status(out, d->err);
}

ss_status ss_dot_text(const ss_view *v, const ss_dot_options *o, ss_text *out,
                      ss_dot_merging *merging_or_null, ss_error *err)
{
    static const ss_dot_options usual;
    drawing d = {.v = v, .err = err};
    ss_status s = add_drawing(&d, o ? o : &usual, out);
    if (!s && merging_or_null)
        *merging_or_null = d.merged.beyond;
    ss_free(d.merged.node_of);
    ss_free(d.node);
    ss_free(d.arrow);
    return s;
}

ss_status ss_dot_write(const ss_view *v, const char *path, const ss_dot_options *o,
                       ss_dot_merging *merging_or_null, ss_error *err)
{
    ss_text text = {0};
    ss_status s = ss_dot_text(v, o, &text, merging_or_null, err);
    if (!s)
        s = ss_file_write(path, ss_text_get(&text), text.n, err);
    ss_text_free(&text);
    return s;
}
