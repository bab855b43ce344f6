/* dot_merge.c - see the header for the rule that keeps a merged graph free of circles. */
#include "config.h"

#include "io/dot_merge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "graph/tasks.h"

/* Arrays by task have tasks + 1 rows, arrays by class 2 * tasks + 2: a class is numbered by its
 * lowest task, and one of the coarser level by that plus the number of tasks. */
typedef struct merger {
    const ss_view *v;
    uint32_t *root;                 /* by task: the first hop of a message; else itself */
    uint32_t *first_out, *out;      /* tasks that wait for one */
    uint32_t *order;                /* tasks, each behind those it waits for */
    uint32_t *fine, *coarse, *rank; /* by task: its classes; by fine class: how active, from 0 */
    uint32_t *key, *stage;          /* by task */
    uint32_t *dense, *circle, *low, *first_key_out, *key_out, *at, *stack; /* by class */
    uint32_t *slot, slots;     /* open addressing; 0: free */
    uint32_t *node_of, *first; /* by task; by node: its lowest task */
} merger;

/* -------------------------------------------------------------------------------------- classes */

bool ss_dot_same_but_numbers(const char *a, const char *b)
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

const char *ss_dot_phase(const ss_view_task *t)
{
    switch (t->kind) {
    case SS_TASK_FORWARD:
    case SS_TASK_GATHER:
        return "forward";
    case SS_TASK_BACKWARD:
    case SS_TASK_ACCUMULATE:
        return "backward";
    case SS_TASK_LUMPED:
        return "lumped";
    case SS_TASK_UPDATE:
    case SS_TASK_BARRIER:
        return "update";
    default:
        break;
    }
    return t->cargo == SS_CARGO_ACTIVATION                                       ? "forward"
           : t->cargo == SS_CARGO_GRADIENT                                       ? "backward"
           : t->cargo == SS_CARGO_WEIGHT_GRADIENT || t->cargo == SS_CARGO_WEIGHT ? "update"
                                                                                 : "work";
}

static uint64_t class_hash(const merger *m, ss_dot_merging level, uint32_t task)
{
    const ss_view_task *t = &m->v->task[m->root[task]];
    uint64_t h = SS_HASH_START;
    if (level <= SS_DOT_MESSAGES)
        return ss_hash_u64(h, level ? m->root[task] : task);
    if (level == SS_DOT_STEP)
        return h;
    if (level == SS_DOT_PHASES)
        return ss_hash_text(h, ss_dot_phase(t));
    h = ss_hash_u64(h, (uint64_t)t->kind << 8 | t->cargo);
    if (level <= SS_DOT_OPERATORS)
        h = ss_hash_text(h, t->op);
    if (level == SS_DOT_LAYERS)
        h = hash_but_numbers(h, t->op);
    if (level == SS_DOT_PARTS)
        h = ss_hash_u64(ss_view_is_message(t) ? ss_hash_u64(h, t->from) : h,
                        ss_view_is_message(t) ? t->to : t->lane);
    return h;
}

static bool same_class(const merger *m, ss_dot_merging level, uint32_t a, uint32_t b)
{
    const ss_view_task *x = &m->v->task[m->root[a]], *y = &m->v->task[m->root[b]];
    if (level <= SS_DOT_MESSAGES)
        return level ? m->root[a] == m->root[b] : a == b;
    if (level == SS_DOT_STEP)
        return true;
    if (level == SS_DOT_PHASES)
        return !strcmp(ss_dot_phase(x), ss_dot_phase(y));
    if (x->kind != y->kind || x->cargo != y->cargo)
        return false;
    if (level == SS_DOT_KINDS)
        return true;
    if (level == SS_DOT_LAYERS)
        return ss_dot_same_but_numbers(x->op, y->op);
    if (strcmp(x->op, y->op))
        return false;
    return level == SS_DOT_OPERATORS ||
           (ss_view_is_message(x) ? x->from == y->from && x->to == y->to : x->lane == y->lane);
}

static void find_classes(merger *m, ss_dot_merging level, uint32_t *class)
{
    memset(m->slot, 0, m->slots * sizeof *m->slot);
    for (uint32_t i = 1; i <= m->v->tasks; i++) {
        uint32_t at = (uint32_t)class_hash(m, level, i) & (m->slots - 1);
        while (m->slot[at] && !same_class(m, level, m->slot[at], i))
            at = (at + 1) & (m->slots - 1);
        if (!m->slot[at])
            m->slot[at] = i;
        class[i] = m->slot[at];
    }
}

/* -------------------------------------------------------------------------------------- circles */

/* key: 1 .. the number of classes in use; the first `switched` of the finer ones, by rank, have
 * given way to their coarser ones. */
static uint32_t choose_keys(merger *m, uint32_t switched)
{
    uint32_t n = m->v->tasks, keys = 0;
    memset(m->dense, 0, (2 * (size_t)n + 2) * sizeof *m->dense);
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t class = m->rank[m->fine[i]] < switched ? n + m->coarse[i] : m->fine[i];
        if (!m->dense[class])
            m->dense[class] = ++keys;
        m->key[i] = m->dense[class];
    }
    return keys;
}

static void link_keys(merger *m, uint32_t keys)
{
    const ss_view *v = m->v;
    memset(m->first_key_out, 0, (keys + (size_t)2) * sizeof *m->first_key_out);
    for (uint32_t e = 0; e < v->edges; e++)
        m->first_key_out[m->key[v->edge[e][0]] + 1]++;
    for (uint32_t k = 1; k <= keys; k++)
        m->first_key_out[k + 1] += m->first_key_out[k];
    for (uint32_t k = 1; k <= keys; k++)
        m->at[k] = m->first_key_out[k];
    for (uint32_t e = 0; e < v->edges; e++)
        m->key_out[m->at[m->key[v->edge[e][0]]]++] = m->key[v->edge[e][1]];
    for (uint32_t k = 1; k <= keys; k++)
        m->at[k] = m->first_key_out[k];
}

/* Strongly connected components after Tarjan ("Depth-first search and linear graph algorithms",
 * 1972), without recursion: circle[k] is the same for classes on a common circle. */
static void find_circles(merger *m, uint32_t keys)
{
    uint32_t *index = m->dense, *walk = m->stack, *open = m->stack + keys + 1;
    uint32_t found = 0, circles = 0, opens = 0;
    memset(index, 0, (keys + (size_t)1) * sizeof *index);
    memset(m->circle, 0, (keys + (size_t)1) * sizeof *m->circle);
    for (uint32_t k = 1; k <= keys; k++) {
        uint32_t depth = 0;
        if (!index[k]) {
            index[k] = m->low[k] = ++found;
            walk[depth++] = open[opens++] = k;
        }
        while (depth) {
            uint32_t a = walk[depth - 1];
            if (m->at[a] < m->first_key_out[a + 1]) {
                uint32_t b = m->key_out[m->at[a]++];
                if (!index[b]) {
                    index[b] = m->low[b] = ++found;
                    walk[depth++] = open[opens++] = b;
                } else if (!m->circle[b] && index[b] < m->low[a]) {
                    m->low[a] = index[b];
                }
                continue;
            }
            depth--;
            if (depth && m->low[a] < m->low[walk[depth - 1]])
                m->low[walk[depth - 1]] = m->low[a];
            if (m->low[a] != index[a])
                continue;
            circles++;
            do
                m->circle[open[--opens]] = circles;
            while (open[opens] != a);
        }
    }
}

static void find_stages(merger *m)
{
    const ss_view *v = m->v;
    memset(m->stage, 0, (v->tasks + (size_t)1) * sizeof *m->stage);
    for (uint32_t i = 0; i < v->tasks; i++) {
        uint32_t a = m->order[i];
        for (uint32_t e = m->first_out[a]; e < m->first_out[a + 1]; e++) {
            uint32_t b = m->out[e], least = m->stage[a] + (m->key[a] != m->key[b]);
            if (m->circle[m->key[a]] == m->circle[m->key[b]] && m->stage[b] < least)
                m->stage[b] = least;
        }
    }
}

/* Numbers the nodes by their lowest task; gives how many. */
static uint32_t number_nodes(merger *m)
{
    uint32_t nodes = 0;
    memset(m->slot, 0, m->slots * sizeof *m->slot);
    for (uint32_t i = 1; i <= m->v->tasks; i++) {
        uint64_t h = ss_hash_u64(ss_hash_u64(SS_HASH_START, m->key[i]), m->stage[i]);
        uint32_t at = (uint32_t)h & (m->slots - 1);
        while (m->slot[at] && (m->key[m->first[m->slot[at]]] != m->key[i] ||
                               m->stage[m->first[m->slot[at]]] != m->stage[i]))
            at = (at + 1) & (m->slots - 1);
        if (!m->slot[at]) {
            m->slot[at] = ++nodes;
            m->first[nodes] = i;
        }
        m->node_of[i] = m->slot[at];
    }
    return nodes;
}

static uint32_t count_nodes(merger *m, uint32_t switched)
{
    uint32_t keys = choose_keys(m, switched);
    link_keys(m, keys);
    find_circles(m, keys);
    find_stages(m);
    return number_nodes(m);
}

/* -------------------------------------------------------------------------------- getting ready */

static void link_tasks(merger *m)
{
    const ss_view *v = m->v;
    for (uint32_t e = 0; e < v->edges; e++)
        m->first_out[v->edge[e][0] + 1]++;
    for (uint32_t i = 1; i <= v->tasks + 1; i++)
        m->first_out[i] += m->first_out[i - 1];
    for (uint32_t e = 0; e < v->edges; e++)
        m->out[m->first_out[v->edge[e][0]] + m->key[v->edge[e][0]]++] = v->edge[e][1];
}

/* Ids are in this order for a lowered step, not for whatever a file of tasks holds. */
static void put_in_order(merger *m)
{
    const ss_view *v = m->v;
    uint32_t *waits = m->stage, n = 0;
    for (uint32_t e = 0; e < v->edges; e++)
        waits[v->edge[e][1]]++;
    for (uint32_t i = 1; i <= v->tasks; i++)
        if (!waits[i])
            m->order[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = m->first_out[m->order[i]]; e < m->first_out[m->order[i] + 1]; e++)
            if (!--waits[m->out[e]])
                m->order[n++] = m->out[e];
}

static ss_status get_ready(merger *m, ss_error *err)
{
    const ss_view *v = m->v;
    size_t tasks = v->tasks + (size_t)2, classes = 2 * tasks, edges = v->edges + (size_t)1;
    m->slots = 16;
    while (m->slots / 2 < v->tasks && m->slots < 1u << 31)
        m->slots *= 2;
    struct {
        uint32_t **at;
        size_t n;
    } want[] = {{&m->root, tasks},
                {&m->first_out, tasks},
                {&m->out, edges},
                {&m->order, tasks},
                {&m->fine, tasks},
                {&m->coarse, tasks},
                {&m->rank, tasks},
                {&m->key, tasks},
                {&m->stage, tasks},
                {&m->dense, classes},
                {&m->circle, classes},
                {&m->low, classes},
                {&m->first_key_out, classes},
                {&m->key_out, edges},
                {&m->at, classes},
                {&m->stack, 2 * classes},
                {&m->slot, m->slots},
                {&m->node_of, tasks},
                {&m->first, tasks}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        if (!(*want[i].at = ss_alloc_zeroed(want[i].n, sizeof **want[i].at)))
            return ss_fail_memory(err, "a drawing", want[i].n * sizeof **want[i].at);
    for (uint32_t i = 1; i <= v->tasks; i++) {
        uint32_t before = v->task[i].hop ? v->task[i].from_task : 0;
        m->root[i] = before && before < i ? m->root[before] : i;
    }
    link_tasks(m);
    put_in_order(m);
    return SS_OK;
}

static void merger_free(merger *m)
{
    uint32_t *const all[] = {m->root,   m->first_out, m->out,           m->order,   m->fine,
                             m->coarse, m->rank,      m->key,           m->stage,   m->dense,
                             m->circle, m->low,       m->first_key_out, m->key_out, m->at,
                             m->stack,  m->slot,      m->node_of,       m->first};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ss_free(all[i]);
}

/* ----------------------------------------------------------------------------- how far to merge */

typedef struct ranked {
    ss_time active;
    uint32_t class;
} ranked;

static int least_active_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->active != y->active)
        return x->active < y->active ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

/* Ranks the finer classes; gives how many there are in `n`. */
static ss_status rank_classes(merger *m, uint32_t *n, ss_error *err)
{
    const ss_view *v = m->v;
    ranked *list = ss_alloc_zeroed(v->tasks + (size_t)1, sizeof *list);
    if (!list)
        return ss_fail_memory(err, "a drawing", v->tasks * sizeof *list);
    *n = 0;
    for (uint32_t i = 1; i <= v->tasks; i++) {
        if (m->fine[i] == i) {
            m->rank[i] = *n;
            list[(*n)++].class = i;
        }
        list[m->rank[m->fine[i]]].active += v->task[i].finish - v->task[i].start;
    }
    if (*n)
        qsort(list, *n, sizeof *list, least_active_first);
    for (uint32_t k = 0; k < *n; k++)
        m->rank[list[k].class] = k;
    ss_free(list);
    return SS_OK;
}

/* As few of the finer classes give way as will do: all would.  More of them giving way may once in
 * a while make a node more, so the number found is one that was tried. */
static ss_status merge_part(merger *m, uint32_t max_nodes, ss_dot_nodes *out, ss_error *err)
{
    uint32_t high = 0, low = 0;
    find_classes(m, out->merging, m->fine);
    find_classes(m, out->beyond, m->coarse);
    ss_status s = rank_classes(m, &high, err);
    if (s)
        return s;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (count_nodes(m, middle) <= max_nodes)
            high = middle;
        else
            low = middle;
    }
    out->nodes = count_nodes(m, high);
    return SS_OK;
}

ss_status ss_dot_merge(const ss_view *v, uint32_t max_nodes, ss_dot_nodes *out, ss_error *err)
{
    merger m = {.v = v};
    ss_status s = get_ready(&m, err);
    ss_dot_merging level = SS_DOT_TASKS;
    *out = (ss_dot_nodes){0};
    while (!s) {
        find_classes(&m, level, m.fine);
        out->nodes = count_nodes(&m, 0);
        if (out->nodes <= max_nodes || level + 1 == SS_DOT_MERGINGS)
            break;
        level++;
    }
    if (!s) {
        out->merging = level ? level - 1 : level;
        out->beyond = level;
        if (level)
            s = merge_part(&m, max_nodes, out, err);
    }
    if (!s) {
        out->node_of = m.node_of;
        m.node_of = NULL;
    }
    merger_free(&m);
    return s;
}
