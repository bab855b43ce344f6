#include <math.h>

#include "base/mem.h"
#include "graph/collective_parts.h"

/* ---- trees in chunks --------------------------------------------------------------------- */

/* One tree while its messages are written.  Of a chunk come first the messages up, children before their
 * parent: from the last vertex of the order to the first but one; then those down, in the order.  Chunks
 * follow each other, and in each the trees. */
typedef struct pipe {
    const ss_pipe_tree *t;
    uint32_t *place;               /* by vertex: in the order */
    uint32_t *first_child, *child; /* rows: children by vertex, in the order; [n + 1], [n] */
    uint32_t before, stride;       /* rows before this tree in a chunk, and of a whole chunk */
} pipe;

static uint32_t vertex_at(const ss_pipe_tree *t, uint32_t place)
{
    return t->order ? t->order[place] : place;
}

static uint32_t rows_of_chunk(const ss_pipe_tree *t)
{
    return (t->n - 1) * ((uint32_t)t->up + t->down);
}

static uint32_t row_up(const pipe *p, uint32_t v, uint32_t chunk)
{
    return chunk * p->stride + p->before + p->t->n - p->place[v];
}

static uint32_t row_down(const pipe *p, uint32_t v, uint32_t chunk)
{
    return chunk * p->stride + p->before + (p->t->up ? p->t->n - 1 : 0) + p->place[v];
}

static ss_status start_pipe(pipe *p, const ss_pipe_tree *t, ss_error *err)
{
    uint32_t n = t->n;
    *p = (pipe){.t = t};
    p->place = ss_alloc_zeroed((size_t)n, 3 * sizeof *p->place + sizeof *p->place);
    if (!p->place)
        return ss_fail_memory(err, "a tree of a collective", n * 4 * sizeof *p->place);
    p->child = p->place + n;
    p->first_child = p->place + 2 * (size_t)n; /* n + 1 of them */
    for (uint32_t i = 0; i < n; i++)
        p->place[vertex_at(t, i)] = i;
    for (uint32_t i = 1; i < n; i++)
        p->first_child[t->parent[vertex_at(t, i)] + 1]++;
    for (uint32_t v = 0; v < n; v++)
        p->first_child[v + 1] += p->first_child[v];
    for (uint32_t i = n - 1; i >= 1; i--) { /* filled from behind, so in the order */
        uint32_t v = vertex_at(t, i);
        p->child[--p->first_child[t->parent[v] + 1]] = v;
    }
    for (uint32_t v = 0; v < n; v++) /* each is one place too far to the right now */
        p->first_child[v] = p->first_child[v + 1];
    p->first_child[n] = n - 1;
    return SS_OK;
}

static void after_children(ss_messages *m, const pipe *p, uint32_t v, uint32_t chunk)
{
    for (uint32_t k = p->first_child[v]; k < p->first_child[v + 1]; k++)
        ss_messages_after(m, row_up(p, p->child[k], chunk));
}

static void add_up(ss_messages *m, const pipe *p, uint32_t chunk, uint32_t chunks)
{
    const ss_pipe_tree *t = p->t;
    ss_share what = ss_share_of(t->what, chunks, chunk);
    for (uint32_t i = t->n - 1; i >= 1; i--) {
        uint32_t v = vertex_at(t, i), parent = t->parent[v];
        ss_message *x = ss_messages_add(m, v, parent, what.offset, what.bytes, true);
        x->own = !chunk && v < t->members;
        x->last = parent == vertex_at(t, 0) && chunk + 1 == chunks;
        after_children(m, p, v, chunk);
        if (chunk)
            ss_messages_after(m, row_up(p, v, chunk - 1));
    }
}

static void add_down(ss_messages *m, const pipe *p, uint32_t chunk, uint32_t chunks)
{
    const ss_pipe_tree *t = p->t;
    uint32_t root = vertex_at(t, 0);
    ss_share what = ss_share_of(t->what, chunks, chunk);
    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t v = vertex_at(t, i), parent = t->parent[v];
        ss_message *x = ss_messages_add(m, parent, v, what.offset, what.bytes, false);
        x->own = !chunk && parent == root && root < t->members;
        x->last = chunk + 1 == chunks;
        if (parent != root)
            ss_messages_after(m, row_down(p, parent, chunk));
        else if (t->up)
            after_children(m, p, root, chunk);
        if (chunk)
            ss_messages_after(m, row_down(p, v, chunk - 1));
    }
}

/* What the messages of one chunk wait for, at most. */
static uint64_t afters_of_chunk(const pipe *p)
{
    uint32_t root = vertex_at(p->t, 0);
    uint64_t of_root = p->first_child[root + 1] - p->first_child[root];
    return 2 * (uint64_t)rows_of_chunk(p->t) + of_root * of_root;
}

enum { MOST_TREES = 2 };

ss_status ss_pipe_trees(const ss_pipe_tree *tree, uint32_t trees, uint32_t chunks, ss_messages *out,
                        ss_error *err)
{
    pipe p[MOST_TREES] = {{0}};
    uint64_t messages = 0, afters = 0, rows = 0;
    int64_t least = INT64_MAX, bytes = 0;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < trees && !s; i++) {
        s = start_pipe(&p[i], &tree[i], err);
        p[i].before = (uint32_t)rows;
        rows += rows_of_chunk(&tree[i]);
        least = tree[i].what.bytes < least ? tree[i].what.bytes : least;
        bytes += tree[i].what.bytes;
    }
    chunks = chunks > least ? (uint32_t)least : chunks ? chunks : 1; /* none is empty */
    for (uint32_t i = 0; i < trees && !s; i++) {
        p[i].stride = (uint32_t)rows;
        messages += (uint64_t)chunks * rows_of_chunk(&tree[i]);
        afters += chunks * afters_of_chunk(&p[i]);
    }
    if (!s)
        s = ss_messages_start(out, tree->members, bytes, messages, afters, err);
    for (uint32_t c = 0; c < chunks && !s; c++)
        for (uint32_t i = 0; i < trees; i++) {
            if (tree[i].up)
                add_up(out, &p[i], c, chunks);
            if (tree[i].down)
                add_down(out, &p[i], c, chunks);
        }
    for (uint32_t i = 0; i < trees; i++)
        ss_free(p[i].place);
    return s;
}

/* ---- the binary tree, and a chain -------------------------------------------------------- */

/* Trees of members: `parents` has room for a tree of each. */
static ss_status make_trees(const ss_collective *c, uint32_t trees,
                            uint32_t (*parent)(uint32_t n, uint32_t t, uint32_t i),
                            const uint32_t *order, bool up, bool down, ss_messages *out,
                            ss_error *err)
{
    uint32_t n = c->members, *parents = ss_alloc_zeroed((size_t)n, trees * sizeof *parents);
    if (!parents)
        return ss_fail_memory(err, "a tree of a collective", (size_t)n * trees * sizeof *parents);
    ss_pipe_tree tree[MOST_TREES];
    for (uint32_t t = 0; t < trees; t++) {
        for (uint32_t i = 0; i < n; i++)
            parents[t * n + i] = parent(n, t, i);
        tree[t] = (ss_pipe_tree){.members = n,
                                 .n = n,
                                 .parent = parents + (size_t)t * n,
                                 .order = order ? order + (size_t)t * n : NULL,
                                 .what = ss_share_of((ss_share){0, c->bytes}, trees, t),
                                 .up = up,
                                 .down = down};
    }
    ss_status s = ss_pipe_trees(tree, trees, c->chunks, out, err);
    ss_free(parents);
    return s;
}

static uint32_t heap_parent(uint32_t n, uint32_t t, uint32_t i)
{
    (void)n, (void)t;
    return i ? (i - 1) / 2 : 0;
}

static uint32_t chain_parent(uint32_t n, uint32_t t, uint32_t i)
{
    (void)n, (void)t;
    return i ? i - 1 : 0;
}

/* A member's two messages down do not wait for each other: they are ready together, and where they
 * share a link it takes them in the order of their ids. */
ss_status ss_make_tree(const ss_collective *c, ss_messages *out, ss_error *err)
{
    return make_trees(c, 1, heap_parent, NULL, true, true, out, err);
}

ss_status ss_collective_tree(uint32_t members, int64_t bytes, ss_messages *out, ss_error *err)
{
    ss_collective c = {SS_ALL_REDUCE, SS_TREE, members, bytes, 1, NULL, NULL};
    return ss_collective_messages(&c, out, err);
}

ss_status ss_make_chain(const ss_collective *c, ss_messages *out, ss_error *err)
{
    bool up = c->operation == SS_REDUCE;
    return make_trees(c, 1, chain_parent, NULL, up, !up, out, err);
}

double ss_form_chain(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    uint32_t k = c->chunks > c->bytes ? (uint32_t)c->bytes : c->chunks;
    k = k ? k : 1;
    return ((double)c->members - 2 + k) *
           (x.latency_s + ss_largest_share(c->bytes, k) / x.bytes_per_s);
}

/* Messages one after the other until the root of a tree of `size` members has all (up), or until
 * its last member has it (down).  In a tree filled from the left at least one of the two subtrees
 * is complete, so this takes as many steps as the tree has levels, squared at most. */
typedef struct span {
    double up, down;
} span;

static uint64_t left_size(uint64_t size)
{
    uint64_t full = 1; /* members of the complete levels */
    while (2 * full + 1 <= size)
        full = 2 * full + 1;
    uint64_t last = size - full, half = (full + 1) / 2;
    return (full - 1) / 2 + (last < half ? last : half);
}

static span tree_span(uint64_t size)
{
    if (size <= 1)
        return (span){0, 0};
    uint64_t left = left_size(size), right = size - 1 - left;
    span l = tree_span(left);
    if (!right)
        return (span){l.up + 1, l.down + 1};
    span r = left == right ? l : tree_span(right);
    double first = l.up < r.up ? l.up : r.up, second = l.up < r.up ? r.up : l.up;
    double arrived = first + 1; /* then the root's port is free for the other */
    double up = (arrived > second ? arrived : second) + 1;
    double down = l.down + 1 > r.down + 2 ? l.down + 1 : r.down + 2;
    return (span){up, down};
}

double ss_collective_tree_seconds(uint32_t members, double bytes, double a, double b)
{
    span s = tree_span(members);
    return (s.up + s.down) * (a + bytes / b);
}

/* Each further chunk costs a latency on its branch, and the bytes that the busiest member sends of it. */
double ss_form_tree(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    uint32_t k = c->chunks > c->bytes ? (uint32_t)c->bytes : c->chunks;
    k = k ? k : 1;
    span s = tree_span(c->members);
    double most = c->members < 3 ? 1 : c->members < 5 ? 2 : 3;
    double first = s.up + s.down, more = k - 1, chunk = ss_largest_share(c->bytes, k);
    return (first + more) * x.latency_s + (first + most * more) * chunk / x.bytes_per_s;
}

/* ---- the double tree --------------------------------------------------------------------- */

/* The in-order tree over 1 .. n-1: a member whose lowest bit is b has children b/2 to the left and, as far
 * as there are members, to the right; its parent is where b gives way to 2b, or, if that is beyond the
 * last, to the left. */
static uint32_t in_order_parent(uint32_t n, uint32_t i)
{
    if (!i)
        return 0;
    uint32_t low = i & (~i + 1), up = (i ^ low) | low << 1;
    return up < n ? up : i ^ low;
}

uint32_t ss_double_tree_parent(uint32_t n, uint32_t t, uint32_t i)
{
    if (!t)
        return in_order_parent(n, i);
    if (n % 2 == 0)
        return n - 1 - in_order_parent(n, n - 1 - i);
    uint32_t p = in_order_parent(n, (i + n - 1) % n);
    return (p + 1) % n;
}

/* Members of both trees by depth, and in a level by number. */
static uint32_t order_tree(uint32_t n, uint32_t t, uint32_t *order)
{
    uint32_t placed = 0, depth = 0;
    for (; placed < n; depth++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = 0;
            for (uint32_t v = i, p; (p = ss_double_tree_parent(n, t, v)) != v; v = p)
                d++;
            if (d == depth)
                order[placed++] = i;
        }
    return depth - 1;
}

ss_status ss_make_double_tree(const ss_collective *c, ss_messages *out, ss_error *err)
{
    uint32_t n = c->members, trees = c->bytes > 1 ? 2 : 1;
    uint32_t *order = ss_alloc_zeroed((size_t)n, 2 * sizeof *order);
    if (!order)
        return ss_fail_memory(err, "a tree of a collective", (size_t)n * 2 * sizeof *order);
    for (uint32_t t = 0; t < trees; t++)
        (void)order_tree(n, t, order + (size_t)t * n);
    ss_status s = make_trees(c, trees, ss_double_tree_parent, order, true, true, out, err);
    ss_free(order);
    return s;
}

/* Tree 0 is as high as member 1, leftmost of the in-order tree, is deep: as n - 1 has bits; tree 1 is its image. */
static uint32_t height_of(uint32_t n)
{
    uint32_t bits = 0;
    for (n--; n; n /= 2)
        bits++;
    return bits;
}

double ss_form_double_tree(const ss_collective *c, ss_wire inside, ss_wire across)
{
    ss_wire x = ss_worse_wire(inside, across);
    int64_t half = c->bytes - c->bytes / 2;
    uint32_t n = c->members, k = c->chunks > c->bytes / 2 ? (uint32_t)(c->bytes / 2) : c->chunks;
    k = k ? k : 1;
    double levels = height_of(n), chunk = ss_largest_share(half, k);
    double passed = 2 * (levels - 1) + 4.0 * k * (n - 1) / n;
    return (2 * levels + k - 1) * x.latency_s + passed * chunk / x.bytes_per_s;
}

/* ---- in the network ---------------------------------------------------------------------- */

ss_status ss_make_in_network(const ss_collective *c, ss_messages *out, ss_error *err)
{
    const ss_reduction_tree *t = c->tree;
    if (!t || t->members != c->members)
        return ss_fail(err, SS_EINVAL, "in_network needs the tree of switches of its %u members",
                       c->members);
    ss_pipe_tree tree = {.members = t->members,
                         .n = t->n,
                         .parent = t->parent,
                         .order = t->order,
                         .what = {0, c->bytes},
                         .up = true,
                         .down = true};
    return ss_pipe_trees(&tree, 1, c->chunks, out, err);
}

/* Of the way between the root and a member: all of its messages, and the longest of them. */
typedef struct way {
    double sum, most;
} way;

static way way_of(const ss_reduction_tree *t, uint32_t member, double chunk, bool up)
{
    way w = {0, 0};
    for (uint32_t v = member; v != t->root; v = t->parent[v]) {
        double seconds = up ? t->up_latency_s[v] + chunk / t->up_bytes_per_s[v]
                            : t->down_latency_s[v] + chunk / t->down_bytes_per_s[v];
        w.sum += seconds;
        w.most = fmax(w.most, seconds);
    }
    return w;
}

/* The longest path of chunks and links, from any member up and to any member down: chunks behind the
 * first cost the longest message on that path each. */
double ss_form_in_network(const ss_collective *c, ss_wire inside, ss_wire across)
{
    (void)inside, (void)across;
    const ss_reduction_tree *t = c->tree;
    uint32_t k = c->chunks > c->bytes ? (uint32_t)c->bytes : c->chunks;
    k = k ? k : 1;
    double chunk = ss_largest_share(c->bytes, k), sum[2] = {0}, with[2] = {0};
    for (uint32_t i = 0; t && i < t->members; i++)
        for (int up = 0; up < 2; up++) {
            way w = way_of(t, i, chunk, up);
            sum[up] = fmax(sum[up], w.sum);
            with[up] = fmax(with[up], w.sum + (k - 1) * w.most);
        }
    return fmax(with[0] + sum[1], sum[0] + with[1]);
}
