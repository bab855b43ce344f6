/* route_why.c - why a device cannot be reached: the sentence names what is in the way. */
#include "graph/route_inside.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { MOST_NAMED = 3 };

/* The topology with what failed in place: nodes are their own places here. */
typedef struct whole {
    const ss_topology *t;
    ss_arc_rows out, into;
    uint32_t *queue;        /* [nodes + 1] */
    uint8_t *from, *before; /* by node: reached from the source; leads to the target */
} whole;

enum { NOT = 0, REACHED = 1 };

static ss_status open_whole(whole *w, const ss_topology *t, ss_error *err)
{
    w->t = t;
    w->queue = ss_alloc((t->nodes + 1) * sizeof *w->queue);
    w->from = ss_alloc_zeroed((size_t)t->nodes + 1, 1);
    w->before = ss_alloc_zeroed((size_t)t->nodes + 1, 1);
    ss_arc *list = ss_alloc(2 * (size_t)t->links * sizeof *list);
    uint32_t n = 0;
    ss_status s = SS_OK;
    if (!w->queue || !w->from || !w->before || !list)
        s = ss_fail_memory(err, "the links of a topology", 2 * t->links * sizeof *list);
    for (uint32_t i = 1; !s && i <= t->links; i++) {
        const ss_link_row *l = &t->link[i];
        list[n++] = (ss_arc){l->from.i, l->to.i, i};
        if (l->def.half_duplex)
            list[n++] = (ss_arc){l->to.i, l->from.i, i};
    }
    if (!s)
        s = ss_arcs_sort(list, n, t->nodes, false, &w->out, err);
    if (!s)
        s = ss_arcs_sort(list, n, t->nodes, true, &w->into, err);
    ss_free(list);
    return s;
}

static void close_whole(whole *w)
{
    ss_free(w->queue);
    ss_free(w->from);
    ss_free(w->before);
    ss_arc_rows_free(&w->out);
    ss_arc_rows_free(&w->into);
}

/* Marks what is reached from a node, or, against the arcs, what leads there. */
static void spread(const whole *w, uint32_t start, bool back, bool failed_too, bool all_forward,
                   uint8_t *mark)
{
    const ss_arc_rows *rows = back ? &w->into : &w->out;
    uint32_t n = 0;
    mark[start] = REACHED;
    w->queue[n++] = start;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = w->queue[i];
        if (at != start && !all_forward && !w->t->node[at].forwards)
            continue;
        for (uint32_t k = rows->first[at]; k < rows->first[at + 1]; k++) {
            uint32_t next = back ? rows->arc[k].tail : rows->arc[k].head;
            if (mark[next] ||
                (!failed_too && !ss_topology_works(w->t, (ss_link){rows->arc[k].link})))
                continue;
            mark[next] = REACHED;
            w->queue[n++] = next;
        }
    }
}

/* What failed of a link: a switch at its ends rather than the link. */
static ss_node failed_end(const ss_topology *t, ss_link link)
{
    const ss_link_row *l = &t->link[link.i];
    if (t->node[l->to.i].failed)
        return l->to;
    return t->node[l->from.i].failed ? l->from : (ss_node){0};
}

/* "link a->s, switch nic3 and 2 more": what failed between what is reached and what leads on. */
static uint32_t name_failures(const whole *w, uint32_t source, uint32_t target, ss_text *names)
{
    const ss_topology *t = w->t;
    uint8_t *named = ss_alloc_zeroed((size_t)t->nodes + 1, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; named && i < w->out.first[t->nodes + 1]; i++) {
        const ss_arc *a = &w->out.arc[i];
        if (!w->from[a->tail] || w->from[a->head] || !w->before[a->head] ||
            !(a->tail == source || t->node[a->tail].forwards) ||
            !(a->head == target || t->node[a->head].forwards))
            continue;
        ss_node end = failed_end(t, (ss_link){a->link});
        if (named[end.i])
            continue;
        named[end.i] = end.i != 0;
        if (n++ < MOST_NAMED)
            ss_text_add(names, "%s%s %s", n > 1 ? ", " : "", end.i ? "switch" : "link",
                        end.i ? t->node[end.i].name : t->link[a->link].name);
    }
    if (n > MOST_NAMED)
        ss_text_add(names, " and %u more", n - MOST_NAMED);
    ss_free(named);
    return n;
}

/* The first device on a way that passes through devices that do not forward; 0: there is no way. */
static uint32_t in_the_way(const whole *w, uint32_t source, uint32_t target)
{
    const ss_topology *t = w->t;
    memset(w->from, NOT, (size_t)t->nodes + 1);
    memset(w->before, NOT, (size_t)t->nodes + 1);
    spread(w, source, false, true, false, w->from);
    spread(w, target, true, true, true, w->before);
    if (!w->before[source])
        return 0;
    for (uint32_t i = 1; i <= t->nodes; i++)
        if (w->from[i] && w->before[i] && i != source && !t->node[i].forwards)
            return i;
    return 0;
}

ss_status ss_route_unreachable(const ss_topology *t, ss_device from, ss_device to, ss_error *err)
{
    const char *a = ss_topology_device_name(t, from), *b = ss_topology_device_name(t, to);
    uint32_t source = t->device[from.i].node.i, target = t->device[to.i].node.i;
    whole w = {0};
    ss_text names = {0};
    ss_status s = open_whole(&w, t, err);
    if (s) {
        close_whole(&w);
        return s;
    }
    spread(&w, source, false, false, false, w.from);
    spread(&w, target, true, true, false, w.before);
    uint32_t blocker = 0;
    if (w.before[source] && name_failures(&w, source, target, &names) && !names.failed)
        s = ss_fail(err, SS_EINVAL, "%s cannot be reached from %s any more: %s failed", b, a,
                    ss_text_get(&names));
    else if ((blocker = in_the_way(&w, source, target)))
        s = ss_fail(err, SS_EINVAL,
                    "%s cannot be reached from %s: the way leads through device %s, which does "
                    "not forward",
                    b, a, t->node[blocker].name);
    else
        s = ss_fail(err, SS_EINVAL, "%s cannot be reached from %s: no links lead there", b, a);
    ss_text_free(&names);
    close_whole(&w);
    return s;
}
