#include "search/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "search/space_inside.h"

ss_space_options ss_space_options_start(void)
{
    return (ss_space_options){
        .weight = {[SS_MOVE_FREE] = 1, [SS_MOVE_BLOCK] = 1, [SS_MOVE_POW2] = 1}};
}

/* ------------------------------------------------------------------------------------- refusals */

static ss_status check_options(const ss_space_options *o, ss_error *err)
{
    double sum = 0;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        if (!(o->weight[m] >= 0) || isinf(o->weight[m]))
            return ss_fail(err, SS_EINVAL, "the weight of move %s is %g: it must be 0 or more",
                           ss_move_name(m), o->weight[m]);
        sum += o->weight[m];
    }
    if (!(sum > 0) || isinf(sum))
        return ss_fail(err, SS_EINVAL, "the weights of the moves add up to %g: give one above 0",
                       sum);
    if (o->weight[SS_MOVE_LIST] > 0 && !o->lists)
        return ss_fail(err, SS_EINVAL,
                       "the weight of move list is %g, but no configurations are given",
                       o->weight[SS_MOVE_LIST]);
    if (!(o->group >= 0) || !(o->neighbour >= 0) || !(o->group + o->neighbour < 1))
        return ss_fail(
            err, SS_EINVAL,
            "the chances of group (%g) and neighbour (%g) must be 0 or more and together "
            "below 1",
            o->group, o->neighbour);
    if (o->hastings && o->neighbour > 0)
        return ss_fail(err, SS_EINVAL,
                       "neighbour moves have no way back, so the Hastings factor is not known: "
                       "turn one of them off");
    if (o->max_parts > SS_MAX_PARTS)
        return ss_fail(err, SS_EINVAL, "max_parts is %u: it must be at most %d", o->max_parts,
                       SS_MAX_PARTS);
    return SS_OK;
}

static ss_status check_choice(const ss_strategy *pinned, const ss_choice *c, uint32_t number,
                              ss_error *err)
{
    uint32_t parts;
    ss_status st = ss_strategy_allows(pinned, c->op, c->config.degree, SS_MAX_DIMS,
                                      c->config.device, c->config.parts, &parts, err);
    if (st) {
        ss_fail_in(err, "configuration %u of the list", number);
        return st;
    }
    if (parts != c->config.parts)
        return ss_fail(err, SS_EINVAL,
                       "configuration %u of the list: %s: %u device%s for the %u parts that its "
                       "degrees make",
                       number, pinned->model->op[c->op.i].name, c->config.parts,
                       ss_plural(c->config.parts), parts);
    return SS_OK;
}

/* ----------------------------------------------------------------------------------------- list */

static ss_status copy_list(ss_space *s, const ss_strategy *pinned, const ss_space_options *o,
                           ss_error *err)
{
    if (!o->lists)
        return SS_OK;
    for (uint32_t k = 0; k < o->lists; k++) {
        ss_status st = check_choice(pinned, &o->list[k], k + 1, err);
        if (st)
            return st;
    }
    s->list = ss_alloc_zeroed(o->lists, sizeof *s->list);
    if (!s->list)
        return ss_fail_memory(err, "a list of configurations", o->lists * sizeof *s->list);
    for (; s->lists < o->lists; s->lists++) {
        s->list[s->lists].op = o->list[s->lists].op;
        ss_status st = ss_config_copy(&o->list[s->lists].config, &s->list[s->lists].config, err);
        if (st)
            return st;
    }
    qsort(s->list, s->lists, sizeof *s->list, space_compare_choices);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < s->lists; k++) {
        if (kept && !space_compare_choices(&s->list[kept - 1], &s->list[k]))
            ss_free(s->list[k].config.device);
        else
            s->list[kept++] = s->list[k];
    }
    s->lists = kept;
    for (uint32_t k = 0; k < s->lists; k++) {
        space_op *op = &s->op[s->list[k].op.i];
        if (!op->lists++)
            op->first_list = k;
    }
    return SS_OK;
}

/* -------------------------------------------------------------------------------------- classes */

/* The largest open product of each move; counting finds out whether that leaves it anything. */
static void set_budgets(const ss_space *s, const ss_degrees_open *o, space_class *c)
{
    uint32_t devices = s->devices < SS_MAX_PARTS ? s->devices : SS_MAX_PARTS;
    uint32_t most = s->options.max_parts ? s->options.max_parts : devices;
    c->budget[SS_MOVE_FREE] = ss_degrees_budget(o, most);
    c->budget[SS_MOVE_BLOCK] = ss_degrees_budget(o, most < devices ? most : devices);
    c->budget[SS_MOVE_POW2] = ss_degrees_budget(o, devices);
    c->budget[SS_MOVE_PLACE] = o->fixed == 1 && o->exact <= 1;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++)
        c->most = c->budget[m] > c->most ? c->budget[m] : c->most;
}

static bool same_class(const space_class *a, const space_class *b)
{
    return a->n == b->n && !memcmp(a->limit, b->limit, sizeof a->limit) && a->fixed == b->fixed &&
           a->exact == b->exact && a->most == b->most;
}

static ss_status find_class(ss_space *s, space_op *o, ss_error *err)
{
    space_class c = {.n = o->open.n, .fixed = o->open.fixed, .exact = o->open.exact};
    set_budgets(s, &o->open, &c);
    for (uint32_t k = 0; k < c.n; k++)
        c.limit[k] = o->open.limit[k] < c.most ? o->open.limit[k] : c.most;
    for (o->class = 0; o->class < s->classes; o->class ++)
        if (same_class(&c, &s->class[o->class]))
            return SS_OK;
    ss_status st = SS_RESERVE(s->class, s->class_cap, (size_t)s->classes + 1, "a space", err);
    if (!st)
        s->class[s->classes++] = c;
    return st;
}

static ss_status make_ops(ss_space *s, const ss_strategy *pinned, ss_error *err)
{
    ss_status st = SS_OK;
    uint32_t most = 1;
    for (uint32_t i = 1; i <= s->ops && !st; i++) {
        space_op *o = &s->op[i];
        ss_degrees_open_of(pinned, (ss_op){i}, &o->open);
        if (o->open.exact)
            st = ss_config_copy(&pinned->config[i], &o->pinned, err);
        if (!st)
            st = find_class(s, o, err);
    }
    for (uint32_t k = 0; k < s->classes; k++)
        most = s->class[k].most > most ? s->class[k].most : most;
    if (!st)
        st = ss_divisors_new(most, &s->divisors, err);
    for (uint32_t k = 0; k < s->classes && !st; k++)
        st = space_count_class(s, &s->class[k], err);
    return st;
}

/* -------------------------------------------------------------------------------- what may move */

static void set_weights(const ss_space *s, ss_op op)
{
    space_op *o = &s->op[op.i];
    double sum = 0;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        o->weight[m] = ss_space_count(s, m, op) ? s->options.weight[m] : 0;
        sum += o->weight[m];
    }
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        o->weight[m] = sum > 0 ? o->weight[m] / sum : 0;
        o->log_weight[m] = log(o->weight[m]);
    }
}

/* Whether the moves that count offer a configuration besides the one that it has, or two. */
static ss_status find_movable(ss_space *s, ss_op op, const ss_config *held, ss_config scratch[2],
                              ss_error *err)
{
    space_op *o = &s->op[op.i];
    bool have_one = false;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES && !o->movable; m++) {
        if (!(o->weight[m] > 0))
            continue;
        if (ss_space_count(s, m, op) > 1) {
            o->movable = true;
            break;
        }
        ss_status st = ss_space_nth(s, m, op, 0, &scratch[have_one], err);
        if (st)
            return st;
        o->movable = have_one && !ss_config_same(&scratch[0], &scratch[1]);
        have_one = true;
    }
    o->movable |= have_one && !ss_config_same(&scratch[0], held);
    if (o->movable)
        s->movable[s->movables++] = op;
    return SS_OK;
}

static ss_status find_choices(ss_space *s, const ss_strategy *pinned, ss_error *err)
{
    ss_config scratch[2] = {{.cap = 0}};
    ss_status st = SS_OK;
    for (uint32_t i = 1; i <= s->ops && !st; i++) {
        set_weights(s, (ss_op){i});
        st = find_movable(s, (ss_op){i}, &pinned->config[i], scratch, err);
    }
    ss_free(scratch[0].device);
    ss_free(scratch[1].device);
    if (!st && !s->movables)
        return ss_fail(
            err, SS_EINVAL,
            "there is nothing to search: on %u device%s of %s, with these moves and pins, "
            "no operator of %s has a choice",
            s->devices, ss_plural(s->devices), s->topology->name, s->model->name);
    return st;
}

/* ----------------------------------------------------------------------------- groups and edges */

static ss_status make_groups(ss_space *s, ss_error *err)
{
    const ss_model *m = s->model;
    s->group_first = ss_alloc_zeroed((size_t)m->groups + 2, sizeof *s->group_first);
    s->group_op = ss_alloc_zeroed((size_t)s->ops + 1, sizeof *s->group_op);
    if (!s->group_first || !s->group_op)
        return ss_fail_memory(err, "the groups of a space", s->ops * sizeof *s->group_op);
    uint32_t n = 0;
    for (uint32_t i = 1; i <= s->ops; i++)
        s->group_first[m->op[i].group + 1]++;
    for (uint32_t g = 1; g <= m->groups + 1; g++)
        s->group_first[g] = n += s->group_first[g];
    for (uint32_t i = 1; i <= s->ops; i++)
        s->group_op[s->group_first[m->op[i].group]++].i = i;
    memmove(s->group_first + 1, s->group_first, ((size_t)m->groups + 1) * sizeof *s->group_first);
    s->group_first[0] = 0;
    return SS_OK;
}

static void add_edge(ss_space *s, space_op *o, ss_op to, ss_tensor t)
{
    s->edge[o->first_edge + o->edges++] =
        (space_edge){.to = to, .bytes = (double)ss_shape_bytes(&s->model->tensor[t.i].shape)};
}

static ss_status make_edges(ss_space *s, ss_error *err)
{
    const ss_model *m = s->model;
    /* Each use of a tensor is an edge from either end. */
    s->edge = ss_alloc_zeroed(2 * (size_t)m->uses + 1, sizeof *s->edge);
    if (!s->edge)
        return ss_fail_memory(err, "the edges of a space", 2 * m->uses * sizeof *s->edge);
    uint32_t n = 0;
    for (uint32_t i = 1; i <= s->ops; i++) {
        space_op *o = &s->op[i];
        const ss_op_row *row = &m->op[i];
        o->first_edge = n;
        for (uint32_t k = 0; k < row->def->inputs; k++)
            if (m->tensor[row->in[k].i].producer.i)
                add_edge(s, o, m->tensor[row->in[k].i].producer, row->in[k]);
        for (uint32_t k = 0; k < row->def->outputs; k++)
            for (uint32_t u = m->tensor[row->out[k].i].first_use; u; u = m->use[u].next)
                add_edge(s, o, m->use[u].op, row->out[k]);
        n += o->edges;
    }
    return SS_OK;
}

/* ---------------------------------------------------------------------------------------------- */

static ss_status make(ss_space *s, const ss_strategy *pinned, const ss_space_options *o,
                      ss_error *err)
{
    s->op = ss_alloc_zeroed((size_t)s->ops + 1, sizeof *s->op);
    s->movable = ss_alloc_zeroed((size_t)s->ops + 1, sizeof *s->movable);
    if (!s->op || !s->movable)
        return ss_fail_memory(err, "a space", s->ops * sizeof *s->op);
    ss_status st = make_ops(s, pinned, err);
    if (!st)
        st = copy_list(s, pinned, o, err);
    if (!st)
        st = find_choices(s, pinned, err);
    if (!st)
        st = make_groups(s, err);
    if (!st)
        st = make_edges(s, err);
    return st;
}

ss_status ss_space_new(const ss_strategy *pinned, const ss_space_options *o, ss_space **out,
                       ss_error *err)
{
    ss_status st = check_options(o, err);
    if (!st)
        st = ss_strategy_check(pinned, err);
    if (st)
        return st;
    ss_space *s = ss_alloc_zeroed(1, sizeof *s);
    if (!s)
        return ss_fail_memory(err, "a space", sizeof *s);
    s->model = pinned->model;
    s->topology = pinned->topology;
    s->ops = pinned->ops;
    s->devices = pinned->topology->devices;
    s->options = *o;
    s->options.list = NULL;
    st = make(s, pinned, o, err);
    if (st)
        ss_space_free(s);
    else
        *out = s;
    return st;
}

static void free_class(space_class *c)
{
    ss_degrees_free(&c->counts[0]);
    ss_degrees_free(&c->counts[1]);
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++)
        ss_free(c->within[m]);
}

void ss_space_free(ss_space *s)
{
    if (!s)
        return;
    for (uint32_t i = 1; s->op && i <= s->ops; i++)
        ss_free(s->op[i].pinned.device);
    for (uint32_t k = 0; k < s->classes; k++)
        free_class(&s->class[k]);
    for (uint32_t k = 0; k < s->lists; k++)
        ss_free(s->list[k].config.device);
    ss_divisors_free(&s->divisors);
    ss_free(s->op);
    ss_free(s->movable);
    ss_free(s->class);
    ss_free(s->list);
    ss_free(s->edge);
    ss_free(s->group_first);
    ss_free(s->group_op);
    ss_free(s);
}

bool ss_space_movable(const ss_space *s, ss_op op)
{
    return s->op[op.i].movable;
}
