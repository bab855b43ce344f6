/* collective_steps.c - lists of messages as steps that follow each other. */
#include "base/array.h"
#include "base/mem.h"
#include "graph/collective_parts.h"

void ss_steps_free(ss_steps *x)
{
    ss_messages_free(&x->list);
    ss_free(x->order);
    ss_free(x->first);
    ss_free(x->times);
    *x = (ss_steps){0};
}

ss_status ss_steps_reserve(ss_steps *x, uint32_t steps, uint32_t rows, ss_error *err)
{
    ss_status s = SS_RESERVE(x->order, x->row_cap, (size_t)rows + 1, "steps of a collective", err);
    if (!s && steps + (size_t)2 > x->cap) {
        uint32_t cap = ss_grown(x->cap, steps + (size_t)2);
        if (!(s = SS_REGROW(x->first, cap, "steps of a collective", err)) &&
            !(s = SS_REGROW(x->times, cap, "steps of a collective", err)))
            x->cap = cap;
    }
    if (!s) {
        x->steps = 0;
        x->first[0] = 0;
    }
    return s;
}

void ss_steps_end(ss_steps *x, double times)
{
    uint32_t row = x->first[x->steps];
    x->times[x->steps++] = times;
    for (; row < x->list.n; row++)
        x->order[row] = row + 1;
    x->first[x->steps] = row;
}

ss_status ss_collective_steps(const ss_collective *c, ss_steps *out, bool *made, ss_error *err)
{
    bool chain = c->operation == SS_BROADCAST || c->operation == SS_REDUCE;
    *made = (c->algorithm == SS_RING && !chain) || c->algorithm == SS_BIDIRECTIONAL_RING ||
            c->algorithm == SS_HIERARCHICAL;
    out->streams = c->algorithm == SS_BIDIRECTIONAL_RING;
    if (!*made)
        return SS_OK;
    return c->algorithm == SS_HIERARCHICAL ? ss_steps_of_hierarchical(c, out, err)
                                           : ss_steps_of_ring(c, out, err);
}
