/* exhaustive_space.c - the configurations that moves of a space can draw, as lists. */
#include "base/mem.h"
#include "search/exhaustive.h"

/* Refuses counts that no list can hold. */
static ss_status add_moved(const ss_space *space, ss_move move, ss_op op, const ss_strategy *now,
                           ss_config *c, ss_alternatives *out, ss_error *err)
{
    uint64_t n = ss_space_count(space, move, op);
    if (n > SS_EXHAUSTIVE_CONFIGS)
        return ss_fail(
            err, SS_EINVAL,
            "move %s can give operator %s %s%llu configurations; an exhaustive search is "
            "for %d at most: take fewer parts or another move",
            ss_move_name(move), now->model->op[op.i].name, n == UINT64_MAX ? "more than " : "",
            (unsigned long long)n, SS_EXHAUSTIVE_CONFIGS);
    ss_status s = SS_OK;
    for (uint64_t k = 0; k < n && !s; k++) {
        s = ss_space_nth(space, move, op, k, c, err);
        if (!s)
            s = ss_alternatives_add(out, op, c, err);
    }
    return s;
}

ss_status ss_alternatives_of_space(const ss_space *space, unsigned moves, const ss_strategy *now,
                                   ss_alternatives *out, ss_error *err)
{
    ss_config c = {0};
    ss_status s = ss_alternatives_start(out, now->ops, err);
    for (uint32_t i = 1; i <= now->ops && !s; i++) {
        ss_op op = {i};
        for (unsigned move = 0; move < SS_MOVES && !s; move++)
            if (moves & 1u << move && ss_space_movable(space, op))
                s = add_moved(space, (ss_move)move, op, now, &c, out, err);
        if (!s && out->first[i] == out->first[i + 1])
            s = ss_alternatives_add(out, op, &now->config[i], err);
    }
    ss_free(c.device);
    return s;
}
