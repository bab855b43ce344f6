/* Names of moves and reaches, and a configuration as a person reads it. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "search/space.h"

static const char *const move_names[SS_MOVES] = {"free", "block", "pow2", "place", "list"};
static const char *const reach_names[SS_REACHES] = {"one", "group", "neighbour", "all", "descent"};

const char *ss_move_name(ss_move m)
{
    return m < SS_MOVES ? move_names[m] : "none";
}

const char *ss_reach_name(ss_reach r)
{
    return reach_names[r];
}

typedef struct line {
    char *at;
    size_t size, n;
    bool full;
} line;

/* What does not fit is left out whole; the text then ends in "...". */
static void put(line *l, const char *format, ...) SS_PRINTF(2, 3);
static void put(line *l, const char *format, ...)
{
    if (l->full || !l->size)
        return;
    char piece[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof piece && l->n + (size_t)n + sizeof "..." <= l->size) {
        memcpy(l->at + l->n, piece, (size_t)n + 1);
        l->n += (size_t)n;
        return;
    }
    l->full = true;
    snprintf(l->at + l->n, l->size - l->n, "...");
}

void ss_config_write(const ss_model *m, ss_op op, const ss_config *c, char *text, size_t size)
{
    const ss_op_def *def = m->op[op.i].def;
    line l = {.at = text, .size = size};
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        if (c->degree[d] > 1)
            put(&l, "%s%s %u", l.n ? ", " : "", def->dim[d].name, c->degree[d]);
    put(&l, l.n ? " on" : "whole on");
    for (uint32_t k = 0, end; k < c->parts; k = end) {
        uint32_t first = c->device[k].i;
        for (end = k + 1; end < c->parts && c->device[end].i == first + (end - k);)
            end++;
        if (end == k + 1)
            put(&l, " %u", first);
        else
            put(&l, " %u-%u", first, first + (end - k - 1));
    }
}
