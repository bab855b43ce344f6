#include "config.h"

#include "io/dot.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "graph/tasks.h"
#include "io/file.h"

enum { READABLE_NODES = 200 };

/* One or more tasks drawn as one. */
typedef struct node {
    uint32_t first; /* the task with the lowest id: names and places the node */
    uint32_t tasks;
    uint32_t cluster; /* device lane; 0: a message or a task of no single device */
    ss_time active;
    int64_t bytes;
    bool critical;
} node;

typedef struct arrow {
    uint32_t from, to; /* nodes */
    bool critical, order;
} arrow;

typedef struct drawing {
    const ss_view *v;
    ss_dot_merging merging;
    uint32_t *node_of; /* [tasks + 1] */
    uint32_t *root;    /* [tasks + 1]: the first hop of a message; of another task itself */
    node *node;        /* [nodes + 1], by lowest task id */
    uint32_t nodes, node_cap;
    uint32_t *slot; /* open addressing over nodes; 0: free */
    uint32_t slots;
    arrow *arrow;
    uint32_t arrows, arrow_cap;
    ss_error *err;
} drawing;

static bool is_message(const ss_view_task *t)
{
    return t->kind == SS_TASK_TRANSFER || t->kind == SS_TASK_COLLECTIVE;
}

/* -------------------------------------------------------------------------------------- merging */

/* Is `b` the name `a` but for the numbers in it? */
static bool same_but_numbers(const char *a, const char *b)
{
    for (;;) {
        bool number = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        if (!number && *a != *b)
            return false;
        if (!*a)
            return true;
        if (!number) {
            a++, b++;
            continue;
        }
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
    }
}

static uint64_t hash_but_numbers(uint64_t h, const char *s)
{
    while (*s) {
        size_t digits = strspn(s, "0123456789");
        h = ss_hash_u64(h, digits ? '0' : (unsigned char)*s);
        s += digits ? digits : 1;
    }
    return h;
}

static uint64_t key_of(const drawing *d, uint32_t task)
{
    const ss_view_task *t = &d->v->task[task];
    uint64_t h = SS_HASH_START;
    if (d->merging == SS_DOT_TASKS)
        return ss_hash_u64(h, d->root[task]);
    h = ss_hash_u64(h, (uint64_t)t->kind << 8 | t->cargo);
    if (d->merging < SS_DOT_DEVICES) {
        h = ss_hash_u64(h, is_message(t) ? 0 : t->lane);
        h = ss_hash_u64(ss_hash_u64(h, t->from), t->to);
    }
    return d->merging == SS_DOT_LAYERS ? hash_but_numbers(h, t->op) : h;
}

static bool same_node(const drawing *d, uint32_t a, uint32_t b)
{
    const ss_view_task *x = &d->v->task[a], *y = &d->v->task[b];
    if (d->merging == SS_DOT_TASKS)
        return d->root[a] == d->root[b];
    if (x->kind != y->kind || x->cargo != y->cargo)
        return false;
    if (d->merging == SS_DOT_DEVICES)
        return true;
    if (x->from != y->from || x->to != y->to || (!is_message(x) && x->lane != y->lane))
        return false;
    return d->merging != SS_DOT_LAYERS || same_but_numbers(x->op, y->op);
}

static void join(drawing *d, uint32_t n, uint32_t task)
{
    const ss_view_task *t = &d->v->task[task];
    node *into = &d->node[n];
    into->tasks += t->hop == 0;
    into->active += t->finish - t->start;
    into->bytes += t->hop ? 0 : t->bytes;
    into->critical |= t->on_critical_path;
    d->node_of[task] = n;
}

static ss_status place(drawing *d, uint32_t task)
{
    uint32_t at = (uint32_t)key_of(d, task) & (d->slots - 1);
    while (d->slot[at] && !same_node(d, d->node[d->slot[at]].first, task))
        at = (at + 1) & (d->slots - 1);
    if (!d->slot[at]) {
        ss_status s =
            SS_RESERVE(d->node, d->node_cap, d->nodes + (size_t)2, "nodes of a drawing", d->err);
        if (s)
            return s;
        const ss_view_task *t = &d->v->task[task];
        bool placed = d->merging < SS_DOT_DEVICES && !is_message(t) && t->lane <= d->v->devices;
        d->node[++d->nodes] = (node){.first = task, .cluster = placed ? t->lane : 0};
        d->slot[at] = d->nodes;
    }
    join(d, d->slot[at], task);
    return SS_OK;
}

static ss_status merge(drawing *d, ss_dot_merging merging)
{
    d->merging = merging;
    d->nodes = 0;
    memset(d->slot, 0, d->slots * sizeof *d->slot);
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= d->v->tasks && !s; i++)
        s = place(d, i);
    return s;
}

static ss_status merge_until_readable(drawing *d, uint32_t max_nodes)
{
    const ss_view *v = d->v;
    d->slots = 16;
    while (d->slots / 2 < v->tasks && d->slots < 1u << 31)
        d->slots *= 2;
    d->slot = ss_alloc(d->slots * sizeof *d->slot);
    d->node_of = ss_alloc_zeroed(v->tasks + (size_t)1, sizeof *d->node_of);
    d->root = ss_alloc_zeroed(v->tasks + (size_t)1, sizeof *d->root);
    if (!d->slot || !d->node_of || !d->root)
        return ss_fail_memory(d->err, "a drawing", d->slots * sizeof *d->slot);
    for (uint32_t i = 1; i <= v->tasks; i++) {
        uint32_t before = v->task[i].hop ? v->task[i].from_task : 0;
        d->root[i] = before && before < i ? d->root[before] : i;
    }
    ss_dot_merging merging = SS_DOT_TASKS;
    ss_status s = merge(d, merging);
    while (!s && d->nodes > max_nodes && merging + 1 < SS_DOT_MERGINGS)
        s = merge(d, ++merging);
    return s;
}

/* --------------------------------------------------------------------------------------- arrows */

static ss_status add_arrow(drawing *d, uint32_t before, uint32_t after, bool order)
{
    const ss_view_task *a = &d->v->task[before], *b = &d->v->task[after];
    uint32_t from = d->node_of[before], to = d->node_of[after];
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

static void add_ends(const drawing *d, const ss_view_task *t, ss_text *out)
{
    if (!t->from || !t->to || d->merging == SS_DOT_DEVICES)
        return;
    ss_text_add(out, "\\n");
    add_escaped(out, d->v->lane[t->from].name);
    ss_text_add(out, " -> ");
    add_escaped(out, d->v->lane[t->to].name);
}

static void add_label(const drawing *d, const node *n, ss_text *out)
{
    const ss_view_task *t = &d->v->task[n->first];
    char b[SS_QUANTITY_TEXT];
    if (n->tasks == 1) {
        add_escaped(out, t->name);
    } else {
        if (d->merging == SS_DOT_LAYERS)
            add_pattern(out, t->op);
        ss_text_add(out, "%s%s\\n%u %s", d->merging == SS_DOT_LAYERS ? " " : "",
                    t->cargo ? ss_cargo_name(t->cargo) : ss_task_kind_name(t->kind), n->tasks,
                    is_message(t) ? "messages" : "tasks");
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
    ss_text_add(out, "\", fillcolor=\"%s\"", fill_of(t));
    if (is_message(t))
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
        for (uint32_t i = 1; i <= d->nodes; i++) {
            if (d->node[i].cluster != lane)
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
    for (uint32_t i = 1; i <= d->nodes; i++)
        if (!d->node[i].cluster)
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
        "", "layers that differ in numbers only are one node",
        "tasks of one kind on a device are one node", "tasks of one kind are one node"};
    const ss_view *v = d->v;
    char b[SS_QUANTITY_TEXT];
    ss_text_add(out, "  label=\"");
    const char *const names[] = {*v->model ? v->model : "task graph", v->topology, v->strategy};
    for (int i = 0; i < 3; i++) {
        ss_text_add(out, "%s", i && *names[i] ? i == 1 ? " on " : ", " : "");
        add_escaped(out, names[i]);
    }
    ss_text_add(out, "; step time %s", ss_format_time(v->step_time, b, sizeof b));
    if (d->merging != SS_DOT_TASKS)
        ss_text_add(out, "\\n%u tasks merged into %u nodes: %s", v->tasks, d->nodes,
                    what[d->merging]);
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
    for (uint32_t i = 1; i <= d->nodes; i++) {
        const ss_view_task *t = &d->v->task[d->node[i].first];
        if (t->kind >= SS_TASK_KINDS || t->cargo >= SS_CARGOS || seen[t->kind][t->cargo])
            continue;
        seen[t->kind][t->cargo] = true;
        ss_text_add(out, "    <tr><td bgcolor=\"%s\">%s%s%s</td></tr>\n", fill_of(t),
                    ss_task_kind_name(t->kind), t->cargo ? ": " : "",
                    t->cargo ? ss_cargo_name(t->cargo) : "");
    }
    ss_text_add(out, "    </table>>];\n");
}

static ss_status add_drawing(drawing *d, const ss_dot_options *o, ss_text *out)
{
    ss_status s = merge_until_readable(d, o->max_nodes ? o->max_nodes : READABLE_NODES);
    if (!s)
        s = add_arrows(d, o->device_order);
    if (s)
        return s;
    ss_text_add(out, "digraph step {\n  rankdir=LR; fontname=\"sans-serif\"; fontsize=12;\n"
                     "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
                     "  edge [arrowsize=0.6];\n");
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
        *merging_or_null = d.merging;
    ss_free(d.node_of);
    ss_free(d.root);
    ss_free(d.node);
    ss_free(d.slot);
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
