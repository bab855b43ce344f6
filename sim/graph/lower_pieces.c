/* lower_pieces.c - what each part of an operator needs of the parts before it.
 *
 * An output that is cut along some dimensions is a grid: where a part begins along one dimension
 * depends on one digit of its number alone.  Then the parts that a box touches are found dimension
 * by dimension, at a cost that grows with the pieces found and not with the pairs there are.
 * Whether an output is such a grid is looked at, not known by kind; if it is not, every pair is
 * tried.
 */
#include "graph/lowering.h"

#include <string.h>

#include "base/array.h"

/* Along one dimension of the tensor, part k of `degree` makes lo[k] .. hi[k] - 1. */
typedef struct axis {
    uint32_t dim, degree;
    uint32_t stride; /* between the numbers of parts that differ by one along it */
    double parts_per_element;
    const int64_t *lo, *hi;
} axis;

typedef struct grid {
    ss_box first; /* what part 0 makes */
    uint32_t axes,
        others; /* dimensions that have an axis, and those along which all parts are alike */
    axis axis[SS_MAX_DIMS];
    uint32_t other[SS_MAX_DIMS];
} grid;

/* The digits of part numbers, dimension 0 slowest. */
static void strides_of(const ss_config *c, uint32_t stride[SS_MAX_DIMS])
{
    uint32_t s = 1;
    for (uint32_t d = SS_MAX_DIMS; d-- > 0;) {
        stride[d] = s;
        s *= c->degree[d];
    }
}

/* ---- where parts begin and end ----------------------------------------------------------- */

ss_status ss_lower_range_of(ss_lowering *w, ss_op op, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_op_def *def = w->model->op[op.i].def;
    const uint32_t *degree = ss_lowering_config(w, op)->degree;
    size_t n = s->ranges;
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        n += 2 * (size_t)degree[d];
    if (n > UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "the strategy has more than 2^31 parts");
    ss_status e = SS_RESERVE(s->range, s->range_cap, n, "parts", err);
    if (e)
        return e;
    s->first_range[op.i] = s->ranges;
    int64_t *range = s->range + s->ranges;
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        ss_part_ranges(def->out[0].extent[d], def->dim[d].grain, degree[d], range,
                       range + degree[d]);
        range += 2 * (size_t)degree[d];
    }
    s->ranges = (uint32_t)n;
    return SS_OK;
}

ss_status ss_lower_ranges(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t ops = w->model->ops;
    ss_status e = SS_RESERVE(s->first_range, s->first_range_cap, (size_t)ops + 2, "parts", err);
    s->ranges = 0;
    for (uint32_t i = 1; i <= ops && !e; i++)
        e = ss_lower_range_of(w, (ss_op){i}, err);
    return e;
}

const int64_t *ss_lower_range(const ss_lowering *w, ss_op op, uint32_t d)
{
    const ss_config *c = ss_lowering_config(w, op);
    const int64_t *range = w->s->range + w->s->first_range[op.i];
    for (uint32_t k = 0; k < d; k++)
        range += 2 * (size_t)c->degree[k];
    return range;
}

ss_status ss_lower_boxes(ss_lowering *w, ss_op op, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    if (s->boxes_of == op.i)
        return SS_OK;
    const ss_config *c = ss_lowering_config(w, op);
    uint32_t rank = w->model->op[op.i].def->out[0].rank;
    ss_status e = SS_RESERVE(s->box, s->box_cap, c->parts, "parts of an operator", err);
    if (e)
        return e;
    s->boxes_of = op.i;
    ss_strategy_part_box(w->strategy, op, 0, &s->box[0]);
    /* The last dimension turns fastest: what is filled so far is repeated for each further range.
     */
    uint32_t filled = 1;
    for (uint32_t d = rank; d-- > 0;) {
        const int64_t *lo = ss_lower_range(w, op, d), *hi = lo + c->degree[d];
        for (uint32_t k = 1; k < c->degree[d]; k++) {
            ss_box *at = s->box + (size_t)k * filled;
            memcpy(at, s->box, filled * sizeof *at);
            for (uint32_t i = 0; i < filled; i++) {
                at[i].lo[d] = lo[k];
                at[i].hi[d] = hi[k];
            }
        }
        filled *= c->degree[d];
    }
    return SS_OK;
}

/* ---- who feeds whom ---------------------------------------------------------------------- */

static bool backward_reaches(const ss_model *m, const bool *needs, const ss_op_row *row)
{
    if (row->def->weights)
        return true;
    if (row->def->kind->no_input_gradient)
        return false;
    for (uint32_t v = 0; v < row->def->inputs; v++)
        if (needs[m->tensor[row->in[v].i].producer.i])
            return true;
    return false;
}

static ss_status reserve_feeds(ss_lowering *w, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    size_t rows = (size_t)w->model->ops + 2, inputs = w->model->uses;
    if (rows > s->op_cap) {
        uint32_t cap = ss_grown(s->op_cap, rows);
        ss_status e;
        if ((e = SS_REGROW(s->needs, cap, "operators", err)) ||
            (e = SS_REGROW(s->first_feed, cap, "operators", err)) ||
            (e = SS_REGROW(s->first_use, cap, "operators", err)))
            return e;
        s->op_cap = cap;
    }
    ss_status e = SS_RESERVE(s->use, s->use_cap, inputs + 1, "inputs of operators", err);
    if (!e)
        e = SS_RESERVE(s->feed, s->feed_cap, inputs + 1, "inputs of operators", err);
    return e ? e : SS_RESERVE(s->cursor, s->cursor_cap, inputs + 1, "inputs of operators", err);
}

static void list_uses(struct ss_lower_scratch *s, uint32_t ops)
{
    memset(s->first_use, 0, ((size_t)ops + 2) * sizeof *s->first_use);
    for (uint32_t f = 1; f <= s->feeds; f++)
        s->first_use[s->feed[f].from.i + 1]++;
    for (uint32_t i = 1; i <= ops + 1; i++)
        s->first_use[i] += s->first_use[i - 1];
    for (uint32_t f = s->feeds; f > 0; f--) /* from behind: the last becomes the first free place */
        s->use[--s->first_use[s->feed[f].from.i + 1]] = f;
    for (uint32_t i = 0; i <= ops; i++)
        s->first_use[i] = s->first_use[i + 1];
    s->first_use[ops + 1] = s->feeds;
}

ss_status ss_lower_feeds(ss_lowering *w, ss_error *err)
{
    const ss_model *m = w->model;
    struct ss_lower_scratch *s = w->s;
    ss_status status = reserve_feeds(w, err);
    if (status)
        return status;
    s->feeds = s->pieces = 0;
    s->boxes_of = 0;
    s->needs[0] = false;
    for (uint32_t i = 1; i <= m->ops; i++) {
        const ss_op_row *row = &m->op[i];
        s->needs[i] = backward_reaches(m, s->needs, row);
        s->first_feed[i] = s->feeds + 1;
        for (uint32_t v = 0; v < row->def->inputs; v++) {
            const ss_tensor_row *t = &m->tensor[row->in[v].i];
            if (t->producer.i)
                s->feed[++s->feeds] = (ss_feed){.from = t->producer,
                                                .to = {i},
                                                .slot = t->slot,
                                                .input = v,
                                                .element_bytes = ss_dtype_bytes(t->shape.dtype)};
        }
    }
    s->first_feed[m->ops + 1] = s->feeds + 1;
    list_uses(s, m->ops);
    return SS_OK;
}

/* ---- grids ------------------------------------------------------------------------------- */

static void made_by(const ss_lowering *w, const ss_feed *f, uint32_t part, ss_box *out)
{
    ss_box main;
    ss_strategy_part_box(w->strategy, f->from, part, &main);
    ss_op_output_box(w->model->op[f->from.i].def, f->slot, &main, out);
}

/* Another output than the main one: fills the ranges of one axis.  `main` is the box of part 0;
 * false: parts do not follow each other along one dimension. */
static bool measure_axis(const ss_lowering *w, const ss_feed *f, ss_box main, uint32_t d,
                         const ss_box *first, axis *a, int64_t *range)
{
    const int64_t *main_lo = ss_lower_range(w, f->from, d), *main_hi = main_lo + a->degree;
    int64_t *lo = range, *hi = range + a->degree;
    a->lo = lo;
    a->hi = hi;
    a->dim = UINT32_MAX;
    for (uint32_t k = 1; k < a->degree; k++) {
        ss_box box;
        main.lo[d] = main_lo[k];
        main.hi[d] = main_hi[k];
        ss_op_output_box(w->model->op[f->from.i].def, f->slot, &main, &box);
        for (uint32_t i = 0; i < box.rank; i++) {
            if (box.lo[i] == first->lo[i] && box.hi[i] == first->hi[i])
                continue;
            if (a->dim != UINT32_MAX && a->dim != i)
                return false;
            a->dim = i;
        }
        if (a->dim == UINT32_MAX)
            return false; /* two parts make the same */
        lo[0] = first->lo[a->dim];
        hi[0] = first->hi[a->dim];
        lo[k] = box.lo[a->dim];
        hi[k] = box.hi[a->dim];
        if (lo[k] < hi[k - 1] || hi[k] <= lo[k])
            return false;
    }
    return true;
}

/* What the last part makes must be what its digits say; a kind whose regions do not factor into
 * dimensions is found out here. */
static bool last_part_agrees(const ss_lowering *w, const ss_feed *f, const grid *g, uint32_t parts)
{
    ss_box expected = g->first, last;
    for (uint32_t i = 0; i < g->axes; i++) {
        expected.lo[g->axis[i].dim] = g->axis[i].lo[g->axis[i].degree - 1];
        expected.hi[g->axis[i].dim] = g->axis[i].hi[g->axis[i].degree - 1];
    }
    made_by(w, f, parts - 1, &last);
    return ss_box_same(&expected, &last);
}

/* The axes of a grid, but for the ranges along them. */
static void start_axes(const ss_config *c, grid *g, uint32_t cut[SS_MAX_DIMS])
{
    uint32_t stride[SS_MAX_DIMS];
    strides_of(c, stride);
    g->axes = 0;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        if (c->degree[d] > 1) {
            cut[g->axes] = d;
            g->axis[g->axes++] = (axis){.degree = c->degree[d], .stride = stride[d]};
        }
}

/* Other outputs than the main one: does what parts make form a grid?  Fills the ranges if so. */
static ss_status measure_grid(ss_lowering *w, const ss_feed *f, const uint32_t *cut, grid *g,
                              bool *regular, ss_error *err)
{
    const ss_config *c = ss_lowering_config(w, f->from);
    ss_box main;
    size_t ranges = 0;
    for (uint32_t i = 0; i < g->axes; i++)
        ranges += 2 * (size_t)g->axis[i].degree;
    ss_status e = SS_RESERVE(w->s->made_range, w->s->made_range_cap, ranges, "parts", err);
    if (e)
        return e;
    ss_strategy_part_box(w->strategy, f->from, 0, &main);
    *regular = !ss_box_empty(&g->first);
    unsigned taken = 0; /* dimensions that have an axis */
    int64_t *range = w->s->made_range;
    for (uint32_t i = 0; i < g->axes && *regular; i++) {
        axis *a = &g->axis[i];
        *regular = measure_axis(w, f, main, cut[i], &g->first, a, range) && !(taken & 1u << a->dim);
        taken |= *regular ? 1u << a->dim : 0;
        range += 2 * (size_t)a->degree;
    }
    *regular = *regular && last_part_agrees(w, f, g, c->parts);
    return SS_OK;
}

static void list_others(grid *g)
{
    g->others = 0;
    for (uint32_t d = 0; d < g->first.rank; d++) {
        bool has_axis = false;
        for (uint32_t i = 0; i < g->axes; i++)
            has_axis |= g->axis[i].dim == d;
        if (!has_axis)
            g->other[g->others++] = d;
    }
}

/* *regular: what the parts of the feed's giver make forms the grid *g. */
static ss_status grid_of(ss_lowering *w, const ss_feed *f, grid *g, bool *regular, ss_error *err)
{
    uint32_t cut[SS_MAX_DIMS];
    ss_status e = SS_OK;
    start_axes(ss_lowering_config(w, f->from), g, cut);
    made_by(w, f, 0, &g->first);
    *regular = true;
    if (f->slot)
        e = measure_grid(w, f, cut, g, regular, err);
    for (uint32_t i = 0; i < g->axes && !e && *regular; i++) {
        axis *a = &g->axis[i];
        if (!f->slot) { /* the main output is cut as the configuration says */
            a->dim = cut[i];
            a->lo = ss_lower_range(w, f->from, cut[i]);
            a->hi = a->lo + a->degree;
        }
        a->parts_per_element = (double)a->degree / (double)(a->hi[a->degree - 1] - a->lo[0]);
    }
    list_others(g);
    return e;
}

/* The first part along the axis that ends after x: guessed as if all were equal, then mended. */
static uint32_t first_ending_after(const axis *a, int64_t x)
{
    if (x <= a->lo[0])
        return 0;
    if (x >= a->hi[a->degree - 1])
        return a->degree;
    uint32_t k = (uint32_t)((double)(x - a->lo[0]) * a->parts_per_element);
    if (k >= a->degree)
        k = a->degree - 1;
    while (k && a->hi[k - 1] > x)
        k--;
    while (a->hi[k] <= x)
        k++;
    return k;
}

/* ---- pieces ------------------------------------------------------------------------------ */

static int64_t common(int64_t lo, int64_t hi, int64_t other_lo, int64_t other_hi)
{
    lo = lo > other_lo ? lo : other_lo;
    hi = hi < other_hi ? hi : other_hi;
    return hi > lo ? hi - lo : 0;
}

static inline ss_status reserve_pieces(struct ss_lower_scratch *s, size_t more, ss_error *err)
{
    size_t need = (size_t)s->pieces + 1 + more;
    ss_status e = SS_OK;
    if (need > s->piece_cap)
        e = SS_RESERVE(s->piece, s->piece_cap, need, "transfers between parts", err);
    if (!e && need > s->by_from_cap)
        e = SS_RESERVE(s->by_from, s->by_from_cap, need, "transfers between parts", err);
    return e;
}

static inline void push_piece(struct ss_lower_scratch *s, uint32_t from, uint32_t to, int64_t bytes)
{
    uint32_t i = ++s->pieces;
    s->piece[i] = (ss_piece){.from = from, .to = to, .bytes = bytes, .lead = i};
}

/* Every part of the grid that box `need` of part `to` touches. */
static ss_status pieces_of_grid(struct ss_lower_scratch *s, const ss_feed *f, const grid *g,
                                const ss_box *need, uint32_t to, ss_error *err)
{
    uint32_t k[SS_MAX_DIMS], begin[SS_MAX_DIMS], end[SS_MAX_DIMS];
    size_t most = 1;
    uint32_t from = 0;
    for (uint32_t i = 0; i < g->axes; i++) {
        const axis *a = &g->axis[i];
        begin[i] = k[i] = first_ending_after(a, need->lo[a->dim]);
        for (end[i] = begin[i]; end[i] < a->degree && a->lo[end[i]] < need->hi[a->dim];)
            end[i]++;
        most *= end[i] - begin[i];
        from += k[i] * a->stride;
    }
    int64_t bytes = f->element_bytes;
    for (uint32_t i = 0; i < g->others; i++) {
        uint32_t d = g->other[i];
        bytes *= common(need->lo[d], need->hi[d], g->first.lo[d], g->first.hi[d]);
    }
    if (!bytes || !most)
        return SS_OK;
    ss_status e = reserve_pieces(s, most, err);
    if (!e && g->axes == 1) { /* nearly always */
        const axis *a = &g->axis[0];
        for (uint32_t j = begin[0]; j < end[0]; j++, from += a->stride) {
            int64_t n = common(need->lo[a->dim], need->hi[a->dim], a->lo[j], a->hi[j]);
            if (n)
                push_piece(s, from, to, bytes * n);
        }
        return SS_OK;
    }
    for (uint32_t i = g->axes; !e; i = g->axes) {
        int64_t volume = bytes;
        for (uint32_t j = 0; j < g->axes; j++) {
            const axis *a = &g->axis[j];
            volume *= common(need->lo[a->dim], need->hi[a->dim], a->lo[k[j]], a->hi[k[j]]);
        }
        if (volume)
            push_piece(s, from, to, volume);
        while (i-- > 0) {
            from += g->axis[i].stride;
            if (++k[i] < end[i])
                break;
            from -= (end[i] - begin[i]) * g->axis[i].stride;
            k[i] = begin[i];
        }
        if (i == UINT32_MAX)
            break;
    }
    return e;
}

static ss_status pieces_of_any(ss_lowering *w, const ss_feed *f, uint32_t parts, const ss_box *need,
                               uint32_t to, ss_error *err)
{
    ss_status e = reserve_pieces(w->s, parts, err);
    for (uint32_t p = 0; p < parts && !e; p++) {
        ss_box both;
        if (ss_box_intersect(need, &w->s->made[p], &both))
            push_piece(w->s, p, to, ss_box_elements(&both) * f->element_bytes);
    }
    return e;
}

static bool in_order_of_givers(const struct ss_lower_scratch *s, const ss_feed *f)
{
    for (uint32_t i = f->first + 1; i < f->first + f->pieces; i++)
        if (s->piece[i].from < s->piece[i - 1].from)
            return false;
    return true;
}

/* A counting sort: by_from lists the feed's pieces by giving part; order among equals is kept. */
static ss_status sort_pieces(ss_lowering *w, const ss_feed *f, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    uint32_t parts = ss_lowering_config(w, f->from)->parts;
    if (in_order_of_givers(s, f)) {
        for (uint32_t i = f->first; i < f->first + f->pieces; i++)
            s->by_from[i] = i;
        return SS_OK;
    }
    ss_status e = SS_RESERVE(s->count, s->count_cap, (size_t)parts + 1, "parts", err);
    if (e)
        return e;
    memset(s->count, 0, ((size_t)parts + 1) * sizeof *s->count);
    const ss_piece *piece = s->piece + f->first;
    for (uint32_t i = 0; i < f->pieces; i++)
        s->count[piece[i].from + 1]++;
    for (uint32_t p = 1; p <= parts; p++)
        s->count[p] += s->count[p - 1];
    for (uint32_t i = 0; i < f->pieces; i++)
        s->by_from[f->first + s->count[piece[i].from]++] = f->first + i;
    return SS_OK;
}

ss_status ss_lower_pieces(ss_lowering *w, uint32_t feed, ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    ss_feed *f = &s->feed[feed];
    const ss_op_def *reader = w->model->op[f->to.i].def;
    uint32_t parts = ss_lowering_config(w, f->to)->parts;
    uint32_t givers = ss_lowering_config(w, f->from)->parts;
    grid g;
    bool regular = false;
    ss_status e = ss_lower_boxes(w, f->to, err);
    if (!e)
        e = grid_of(w, f, &g, &regular, err);
    if (!e && !regular)
        e = SS_RESERVE(s->made, s->made_cap, givers, "parts", err);
    if (!e && !regular)
        for (uint32_t p = 0; p < givers; p++)
            made_by(w, f, p, &s->made[p]);
    f->first = s->pieces + 1;
    for (uint32_t q = 0; q < parts && !e; q++) {
        ss_box need;
        ss_op_input_box(reader, f->input, &s->box[q], &need);
        if (ss_box_empty(&need))
            continue;
        e = regular ? pieces_of_grid(s, f, &g, &need, q, err)
                    : pieces_of_any(w, f, givers, &need, q, err);
    }
    f->pieces = s->pieces + 1 - f->first;
    return e ? e : sort_pieces(w, f, err);
}

void ss_lower_piece_box(const ss_model *m, const ss_strategy *s, const ss_feed *f,
                        const ss_piece *p, ss_box *out)
{
    ss_box main, made, needed;
    ss_strategy_part_box(s, f->from, p->from, &main);
    ss_op_output_box(m->op[f->from.i].def, f->slot, &main, &made);
    ss_strategy_part_box(s, f->to, p->to, &main);
    ss_op_input_box(m->op[f->to.i].def, f->input, &main, &needed);
    ss_box_intersect(&made, &needed, out);
}
