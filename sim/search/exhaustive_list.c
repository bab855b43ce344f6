/* exhaustive_space.c - lists of configurations. */
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "search/exhaustive.h"

ss_status ss_alternatives_start(ss_alternatives *a, uint32_t ops, ss_error *err)
{
    ss_alternatives_free(a);
    a->first = ss_alloc_zeroed((size_t)ops + 2, sizeof *a->first);
    if (!a->first)
        return ss_fail_memory(err, "configurations", (size_t)ops * sizeof *a->first);
    a->ops = ops;
    return SS_OK;
}

void ss_alternatives_free(ss_alternatives *a)
{
    for (uint32_t i = 0; i < a->cap; i++)
        ss_free(a->config[i].device);
    ss_free(a->config);
    ss_free(a->first);
    *a = (ss_alternatives){0};
}

ss_status ss_alternatives_add(ss_alternatives *a, ss_op op, const ss_config *c, ss_error *err)
{
    if (op.i < 1 || op.i > a->ops || a->first[op.i + 1] != a->rows)
        return ss_fail(
            err, SS_EINVAL,
            "configurations of operator %u: there are operators 1 to %u, and they come in "
            "ascending order",
            op.i, a->ops);
    for (uint32_t i = a->first[op.i]; i < a->rows; i++)
        if (ss_config_same(&a->config[i], c))
            return SS_OK;
    if (a->rows == a->cap) {
        uint32_t cap = a->cap;
        ss_status s = SS_RESERVE(a->config, a->cap, (size_t)a->rows + 1, "configurations", err);
        if (s)
            return s;
        memset(a->config + cap, 0, (a->cap - cap) * sizeof *a->config);
    }
    ss_status s = ss_config_copy(c, &a->config[a->rows], err);
    if (s)
        return s;
    a->rows++;
    for (uint32_t i = op.i + 1; i <= a->ops + 1; i++)
        a->first[i] = a->rows;
    return SS_OK;
}
