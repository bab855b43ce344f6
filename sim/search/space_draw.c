/* Drawing: a configuration for one operator, and what a proposal does with it. */

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "search/space_inside.h"

/* ---------------------------------------------------------------------------- one configuration */

static ss_move draw_move(const space_op *o, ss_rng *rng)
{
    double u = ss_rng_uniform(rng);
    ss_move last = SS_MOVES;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        if (!(o->weight[m] > 0))
            continue;
        last = m; /* also where rounding leaves a little over at the end */
        if (u < o->weight[m])
            break;
        u -= o->weight[m];
    }
    return last;
}

static void draw_devices(const ss_space *s, ss_move m, ss_rng *rng, ss_config *c)
{
    if (m == SS_MOVE_FREE)
        for (uint32_t k = 0; k < c->parts; k++)
            c->device[k].i = (uint32_t)ss_rng_below(rng, s->devices) + 1;
    else
        space_place_nth(m, s->devices, ss_rng_below(rng, space_places(m, s->devices, c->parts)), c);
}

ss_status ss_space_draw(const ss_space *s, ss_op op, ss_rng *rng, ss_move *move, ss_config *out,
                        ss_error *err)
{
    const space_op *o = &s->op[op.i];
    const space_class *c = space_class_of(s, o);
    ss_move m = draw_move(o, rng);
    if (m == SS_MOVES)
        return ss_fail(err, SS_EINVAL, "%s: none of the moves offers it a configuration",
                       s->model->op[op.i].name);
    *move = m;
    if (m == SS_MOVE_LIST)
        return ss_config_copy(&s->list[o->first_list + ss_rng_below(rng, o->lists)].config, out,
                              err);
    uint32_t degree[SS_MAX_DIMS];
    ss_degrees_draw(space_counts(c, m), c->budget[m], c->exact > 0, rng, degree);
    ss_status st = space_set_degrees(o, degree, out, err);
    if (!st && !c->exact)
        draw_devices(s, m, rng, out);
    return st;
}

/* ------------------------------------------------------------------------------------ proposals */

void ss_proposal_free(ss_proposal *p)
{
    for (uint32_t k = 0; k < p->cap; k++)
        ss_free(p->choice[k].config.device);
    ss_free(p->choice);
    *p = (ss_proposal){0};
}

ss_status ss_proposal_reserve(ss_proposal *p, uint32_t n, ss_error *err)
{
    uint32_t before = p->cap;
    ss_status st = SS_RESERVE(p->choice, p->cap, n, "a proposal", err);
    if (!st && p->cap > before)
        memset(p->choice + before, 0, (p->cap - before) * sizeof *p->choice);
    return st;
}

/* One more choice, whose list of devices may be there from an earlier proposal. */
static ss_status add(ss_proposal *p, ss_op op, ss_error *err)
{
    ss_status st = ss_proposal_reserve(p, p->n + 1, err);
    if (!st)
        p->choice[p->n++].op = op;
    return st;
}

static ss_status add_copy(ss_proposal *p, ss_op op, const ss_config *c, ss_error *err)
{
    ss_status st = add(p, op, err);
    return st ? st : ss_config_copy(c, &p->choice[p->n - 1].config, err);
}

static void swap(ss_choice *a, ss_choice *b)
{
    ss_choice t = *a;
    *a = *b;
    *b = t;
}

/* Leaves out what is there already, unless that is all of it; puts the rest in order. */
static void finish(const ss_strategy *now, ss_proposal *p)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < p->n; k++)
        if (!ss_config_same(&p->choice[k].config, &now->config[p->choice[k].op.i]))
            swap(&p->choice[kept++], &p->choice[k]);
    p->same = p->n && !kept;
    if (kept)
        p->n = kept;
    for (uint32_t k = 1; k < p->n; k++)
        for (uint32_t j = k; j > 0 && p->choice[j].op.i < p->choice[j - 1].op.i; j--)
            swap(&p->choice[j], &p->choice[j - 1]);
}

/* What has no density was outside of the space and is left as if that were free. */
static double log_factor(double old, double new)
{
    return old == -INFINITY ? 0 : old - new;
}

static ss_status propose_one(const ss_space *s, const ss_strategy *now, ss_op op, ss_rng *rng,
                             ss_proposal *p, ss_error *err)
{
    ss_status st = add(p, op, err);
    if (!st)
        st = ss_space_draw(s, op, rng, &p->move, &p->choice[0].config, err);
    if (!st && s->options.hastings)
        p->log_hastings = log_factor(ss_space_log_density(s, op, &now->config[op.i]),
                                     ss_space_log_density(s, op, &p->choice[0].config));
    return st;
}

/* ---------------------------------------------------------------------------------------- group */

/* Same shape and pins: what one may have the other may have. */
static bool alike(const ss_space *s, ss_op a, ss_op b)
{
    const space_op *x = &s->op[a.i], *y = &s->op[b.i];
    return x->movable && y->movable && !memcmp(&x->open, &y->open, sizeof x->open) &&
           (!x->open.exact || !memcmp(x->pinned.device, y->pinned.device,
                                      x->pinned.parts * sizeof *x->pinned.device));
}

/* The operators that move with this one, ascending; itself where it shares with none. */
static ss_status add_group(const ss_space *s, ss_op op, ss_proposal *p, ss_error *err)
{
    uint32_t group = s->model->op[op.i].group;
    if (!group)
        return add(p, op, err);
    ss_status st = SS_OK;
    for (uint32_t k = s->group_first[group]; k < s->group_first[group + 1] && !st; k++)
        if (alike(s, op, s->group_op[k]))
            st = add(p, s->group_op[k], err);
    return st;
}

/* Log of the sum over the operators that could have been chosen: each would have moved them all. */
static double log_group_density(const ss_space *s, const ss_proposal *p, const ss_config *c)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t k = 0; k < p->n; k++)
        most = fmax(most, ss_space_log_density(s, p->choice[k].op, c));
    if (most == -INFINITY)
        return most;
    for (uint32_t k = 0; k < p->n; k++)
        sum += exp(ss_space_log_density(s, p->choice[k].op, c) - most);
    return most + log(sum);
}

static bool group_is_one(const ss_strategy *now, const ss_proposal *p)
{
    const ss_config *first = &now->config[p->choice[0].op.i];
    for (uint32_t k = 1; k < p->n; k++)
        if (!ss_config_same(first, &now->config[p->choice[k].op.i]))
            return false;
    return true;
}

static ss_status propose_group(const ss_space *s, const ss_strategy *now, ss_op op, ss_rng *rng,
                               ss_proposal *p, ss_error *err)
{
    ss_status st = add_group(s, op, p, err);
    if (st)
        return st;
    if (s->options.hastings && !group_is_one(now, p)) {
        p->n = 0;
        return SS_OK;
    }
    st = ss_space_draw(s, op, rng, &p->move, &p->choice[0].config, err);
    for (uint32_t k = 1; k < p->n && !st; k++)
        st = ss_config_copy(&p->choice[0].config, &p->choice[k].config, err);
    if (!st && s->options.hastings)
        p->log_hastings = log_factor(log_group_density(s, p, &now->config[p->choice[0].op.i]),
                                     log_group_density(s, p, &p->choice[0].config));
    return st;
}

/* ------------------------------------------------------------------------------------ neighbour */

static bool may_copy(const ss_space *s, const ss_config *c, ss_op from, ss_op to,
                     const ss_proposal *p)
{
    uint32_t product;
    if (to.i == from.i || !s->op[to.i].movable || !space_fits(&s->op[to.i], c, &product))
        return false;
    for (uint32_t k = 0; k < p->n; k++)
        if (p->choice[k].op.i == to.i)
            return false;
    return true;
}

/* An edge from `at` by the bytes of its tensor, among those to where a copy may go; 0: none. */
static ss_op next_on_walk(const ss_space *s, const ss_config *c, ss_op from, ss_op at, ss_rng *rng,
                          const ss_proposal *p)
{
    const space_edge *edge = s->edge + s->op[at.i].first_edge;
    double sum = 0;
    ss_op next = {0};
    for (uint32_t k = 0; k < s->op[at.i].edges; k++)
        if (may_copy(s, c, from, edge[k].to, p))
            sum += edge[k].bytes;
    if (!(sum > 0))
        return next;
    double u = ss_rng_uniform(rng) * sum;
    for (uint32_t k = 0; k < s->op[at.i].edges; k++) {
        if (!may_copy(s, c, from, edge[k].to, p))
            continue;
        next = edge[k].to;
        if (u < edge[k].bytes)
            break;
        u -= edge[k].bytes;
    }
    return next;
}

static ss_status propose_neighbour(const ss_space *s, const ss_strategy *now, ss_op op, ss_rng *rng,
                                   ss_proposal *p, ss_error *err)
{
    const double further = 0.75; /* as in the releases from r21.03 on */
    const ss_config *c = &now->config[op.i];
    ss_op at = op;
    do {
        at = next_on_walk(s, c, op, at, rng, p);
        if (!at.i)
            return SS_OK;
        ss_status st = add_copy(p, at, c, err);
        if (st)
            return st;
    } while (ss_rng_uniform(rng) < further);
    return SS_OK;
}

/* ---------------------------------------------------------------------------------------------- */

static ss_reach draw_reach(const ss_space *s, ss_rng *rng)
{
    double group = s->options.group, neighbour = s->options.neighbour;
    if (!(group + neighbour > 0))
        return SS_REACH_ONE;
    double u = ss_rng_uniform(rng);
    return u < group ? SS_REACH_GROUP : u < group + neighbour ? SS_REACH_NEIGHBOUR : SS_REACH_ONE;
}

ss_status ss_space_propose(const ss_space *s, const ss_strategy *now, ss_rng *rng, ss_proposal *out,
                           ss_error *err)
{
    ss_op op = s->movable[ss_rng_below(rng, s->movables)];
    out->reach = draw_reach(s, rng);
    out->move = SS_MOVES;
    out->n = 0;
    out->log_hastings = 0;
    ss_status st;
    if (out->reach == SS_REACH_GROUP)
        st = propose_group(s, now, op, rng, out, err);
    else if (out->reach == SS_REACH_NEIGHBOUR)
        st = propose_neighbour(s, now, op, rng, out, err);
    else
        st = propose_one(s, now, op, rng, out, err);
    if (st)
        out->n = 0;
    finish(now, out);
    return st;
}
