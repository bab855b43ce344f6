#include "search/descent.h"

#include "base/array.h"
#include "base/mem.h"

static bool has_move(const ss_space_options *o, ss_move move)
{
    bool of_free = move == SS_MOVE_BLOCK || move == SS_MOVE_POW2;
    return o->weight[move] > 0 || (of_free && o->weight[SS_MOVE_FREE] > 0);
}

static ss_status add_run(ss_descent *d, ss_op op, ss_move move, ss_error *err)
{
    uint64_t n = ss_space_count(d->space, move, op);
    if (!n)
        return SS_OK;
    if (n > INT64_MAX - d->candidates)
        return ss_fail(err, SS_ERANGE, "a descent through more than 2^63 changes never ends");
    uint32_t cap = ss_grown(d->cap, (size_t)d->runs + 2);
    if ((size_t)d->runs + 2 > d->cap) {
        const char *what = "the changes of a descent";
        ss_status s = SS_REGROW(d->op, cap, what, err);
        if (!s)
            s = SS_REGROW(d->move, cap, what, err);
        if (!s)
            s = SS_REGROW(d->first, cap, what, err);
        if (s)
            return s;
        d->cap = cap;
    }
    d->op[d->runs] = op;
    d->move[d->runs] = move;
    d->first[d->runs++] = d->candidates;
    d->candidates += n;
    d->first[d->runs] = d->candidates;
    return SS_OK;
}

ss_status ss_descent_list(const ss_space *space, const ss_strategy *strategy,
                          const ss_space_options *o, ss_descent *out, ss_error *err)
{
    static const ss_move moves[] = {SS_MOVE_BLOCK, SS_MOVE_POW2, SS_MOVE_PLACE, SS_MOVE_LIST};
    ss_status s = SS_OK;
    *out = (ss_descent){.space = space,
                        .has_block = has_move(o, SS_MOVE_BLOCK),
                        .max_parts = o->max_parts ? o->max_parts : strategy->topology->devices};
    for (uint32_t op = 1; op <= strategy->ops && !s; op++)
        for (uint32_t k = 0; k < 4 && !s; k++)
            if (ss_space_movable(space, (ss_op){op}) && has_move(o, moves[k]))
                s = add_run(out, (ss_op){op}, moves[k], err);
    if (s)
        ss_descent_free(out);
    return s;
}

void ss_descent_free(ss_descent *d)
{
    if (!d)
        return;
    ss_free(d->op);
    ss_free(d->move);
    ss_free(d->first);
    *d = (ss_descent){0};
}

static uint32_t run_of(const ss_descent *d, uint64_t number)
{
    uint32_t low = 0, high = d->runs;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (d->first[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Parts in order on devices that follow each other. */
static bool is_block(const ss_descent *d, const ss_config *c)
{
    if (!d->has_block || c->parts > d->max_parts)
        return false;
    for (uint32_t k = 1; k < c->parts; k++)
        if (c->device[k].i != c->device[0].i + k)
            return false;
    return true;
}

ss_status ss_descent_candidate(const ss_descent *d, uint64_t number, ss_proposal *out,
                               ss_error *err)
{
    ss_status s = ss_proposal_reserve(out, 1, err);
    if (s)
        return s;
    uint32_t run = run_of(d, number);
    ss_config *c = &out->choice[0].config;
    s = ss_space_nth(d->space, d->move[run], d->op[run], number - d->first[run], c, err);
    if (s)
        return s;
    out->reach = SS_REACH_DESCENT;
    out->move = d->move[run];
    out->choice[0].op = d->op[run];
    out->n = d->move[run] == SS_MOVE_BLOCK || !is_block(d, c);
    out->log_hastings = 0;
    out->same = false;
    return SS_OK;
}
