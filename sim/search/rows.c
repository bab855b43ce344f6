#include "search/rows.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

static ss_status copy_choices(ss_arena *a, const ss_choice *from, uint32_t n, const ss_choice **out,
                              ss_error *err)
{
    ss_choice *to = ss_arena_take(a, n * sizeof *to);
    if (!to)
        return ss_fail_memory(err, "steps of a search", n * sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = from[i].config.parts * sizeof *from[i].config.device;
        to[i] = from[i];
        to[i].config.cap = from[i].config.parts;
        to[i].config.device = ss_arena_take(a, bytes);
        if (!to[i].config.device)
            return ss_fail_memory(err, "steps of a search", bytes);
        memcpy(to[i].config.device, from[i].config.device, bytes);
    }
    *out = to;
    return SS_OK;
}

ss_status ss_rows_add(ss_rows *r, const ss_step *step, ss_error *err)
{
    ss_status s = SS_RESERVE(r->row, r->cap, (size_t)r->n + 1, "steps of a search", err);
    if (s)
        return s;
    ss_step *to = &r->row[r->n];
    *to = *step;
    s = copy_choices(&r->arena, step->from, step->ops, &to->from, err);
    if (!s)
        s = copy_choices(&r->arena, step->to, step->ops, &to->to, err);
    if (!s)
        r->n++;
    return s;
}

void ss_rows_drop_last(ss_rows *r)
{
    r->n -= r->n > 0;
}

void ss_rows_clear(ss_rows *r)
{
    r->n = 0;
    ss_arena_drop(&r->arena);
}

void ss_rows_free(ss_rows *r)
{
    if (!r)
        return;
    ss_free(r->row);
    ss_arena_free(&r->arena);
    *r = (ss_rows){0};
}
