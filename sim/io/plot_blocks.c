/* plot_blocks.c - blocks of operators: by layer, by shared weights, by how their names begin. */
#include "config.h"

#include "io/plot_blocks.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

enum { LARGE = 24 /* operators; a block of more goes by longer beginnings of names */ };

typedef struct sorting {
    const ss_picture *p;
    uint32_t ops;
    ss_names keys;
    uint32_t *key; /* [ops + 1] */
    ss_error *err;
} sorting;

static const char *first_dot(const char *name)
{
    return strchr(name, '.');
}

/* ------------------------------------------------------------------------------- which block */

/* Keys that are no beginnings of names begin with a control character, which no name has. */
static void write_key(const ss_picture_op *op, bool longer, uint32_t loose, ss_text *key)
{
    const char *dot = first_dot(op->name), *last = strrchr(op->name, '.');
    ss_text_clear(key);
    if (op->layer)
        ss_text_add(key, "\001layer %u", op->layer);
    else if (*op->share)
        ss_text_add(key, "\001share %s", op->share);
    else if (dot)
        ss_text_add(key, "%.*s", (int)((longer ? last : dot) - op->name), op->name);
    else
        ss_text_add(key, "\001loose %u", loose);
}

static ss_status give_keys(sorting *s, const uint32_t *size)
{
    ss_text key = {0};
    ss_status status = SS_OK;
    uint32_t loose = 0;
    bool before = false;
    for (uint32_t i = 1; !status && i <= s->ops; i++) {
        const ss_picture_op *op = &s->p->op[i];
        bool alone = !op->layer && !*op->share && !first_dot(op->name);
        loose += alone && !before ? 1 : 0;
        before = alone;
        write_key(op, size && size[s->key[i]] > LARGE, loose, &key);
        status = ss_text_status(&key, s->err);
        if (!status)
            status = ss_names_add(&s->keys, ss_text_get(&key), &s->key[i], s->err);
    }
    ss_text_free(&key);
    return status;
}

/* Twice: beginnings that too many names have in common are made longer. */
static ss_status sort_ops(sorting *s)
{
    s->key = ss_alloc_zeroed(s->ops + (size_t)1, sizeof *s->key);
    if (!s->key)
        return ss_fail_memory(s->err, "a figure", s->ops * sizeof *s->key);
    ss_status status = give_keys(s, NULL);
    uint32_t *size = status ? NULL : ss_alloc_zeroed(s->keys.n + (size_t)1, sizeof *size);
    if (status || !size)
        return status ? status : ss_fail_memory(s->err, "a figure", s->keys.n * sizeof *size);
    for (uint32_t i = 1; i <= s->ops; i++)
        size[s->key[i]]++;
    ss_names_free(&s->keys);
    s->keys = (ss_names){0};
    status = give_keys(s, size);
    ss_free(size);
    return status;
}

/* ---------------------------------------------------------------------------------- its label */

/* How many bytes the names have in common at their begin. */
static size_t in_common(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] && a[i] == b[i])
        i++;
    return i;
}

static void label_loose(const sorting *s, uint32_t first, uint32_t last, size_t common,
                        ss_text *out)
{
    const char *name = s->p->op[first].name;
    while (common && (isdigit((unsigned char)name[common - 1]) || name[common - 1] == '_'))
        common--;
    if (first == last)
        ss_text_add(out, "%s", name);
    else if (common >= 2)
        ss_text_add(out, "%.*s", (int)common, name);
    else
        ss_text_add(out, "%s … %s", name, s->p->op[last].name);
}

/* What is written over block `key`. */
static void write_label(const sorting *s, uint32_t key, ss_text *out)
{
    const char *text = ss_names_text(&s->keys, key);
    uint32_t first = 0, last = 0;
    bool one_share = true, one_begin = true;
    size_t common = 0, begin = 0;
    for (uint32_t i = 1; i <= s->ops; i++) {
        const ss_picture_op *op = &s->p->op[i];
        if (s->key[i] != key)
            continue;
        if (!first) {
            const char *dot = first_dot(op->name);
            first = i;
            common = strlen(op->name);
            begin = dot ? (size_t)(dot - op->name) : common;
        }
        const ss_picture_op *of = &s->p->op[first];
        last = i;
        common = in_common(op->name, of->name, common);
        one_share = one_share && *op->share && !strcmp(op->share, of->share);
        one_begin =
            one_begin && common >= begin && (op->name[begin] == '.' || op->name[begin] == 0);
    }
    ss_text_clear(out);
    if (text[0] != '\001')
        ss_text_add(out, "%s", text);
    else if (one_share)
        ss_text_add(out, "%s", s->p->op[first].share);
    else if (!strncmp(text + 1, "loose", 5))
        label_loose(s, first, last, common, out);
    else if (one_begin)
        ss_text_add(out, "%.*s", (int)begin, s->p->op[first].name);
    else
        ss_text_add(out, "%s", text + 1); /* "layer 3" */
}

/* ------------------------------------------------------------------------------ places in it */

/* Where the rows of a block end: the last operator of each. */
typedef struct tracks {
    uint32_t *last; /* [cap], from 0: operator */
    uint32_t cap;
} tracks;

static bool unrolled(const sorting *s, uint32_t key)
{
    const char *share = NULL;
    uint32_t n = 0;
    for (uint32_t i = 1; i <= s->ops; i++)
        if (s->key[i] == key) {
            share = share ? share : s->p->op[i].share;
            if (!*share || strcmp(share, s->p->op[i].share))
                return false;
            n++;
        }
    return n > 1;
}

/* One column to the right of what it reads in the block; in the row of the first of these that is the last of
 * its row, or else in a new one.  Edges come by their readers: `edge` [edges of op], all before it. */
static void place_op(ss_plot_blocks *b, uint32_t op, const uint32_t *before, uint32_t n, tracks *t)
{
    ss_plot_place *place = &b->place[op];
    ss_plot_block *block = &b->block[place->block];
    uint32_t row = block->rows;
    for (uint32_t k = 0; k < n; k++) {
        const ss_plot_place *from = &b->place[before[k]];
        if (from->block != place->block)
            continue;
        if (from->column + 1 > place->column)
            place->column = from->column + 1;
        if (t[place->block].last[from->row] == before[k] && from->row < row)
            row = from->row;
    }
    place->row = row;
    t[place->block].last[row] = op;
    if (row == block->rows)
        block->rows++;
    if (place->column + 1 > block->columns)
        block->columns = place->column + 1;
}

static bool is_between(const ss_picture_edge *e, uint32_t ops)
{
    return e->from && e->to <= ops && e->from < e->to;
}

/* What each operator reads, in the order of the edges: reads[first[op] .. first[op + 1] - 1]. */
static ss_status index_edges(const ss_picture *p, uint32_t ops, uint32_t **first, uint32_t **reads,
                             ss_arena *a, ss_error *err)
{
    size_t bytes = (ops + (size_t)2) * sizeof **first,
           more = (p->edges + (size_t)1) * sizeof **reads;
    *first = ss_arena_take(a, bytes);
    *reads = *first ? ss_arena_take(a, more) : NULL;
    if (!*reads)
        return ss_fail_memory(err, "a figure", bytes + more);
    memset(*first, 0, bytes);
    for (uint32_t i = 0; i < p->edges; i++)
        if (is_between(&p->edge[i], ops))
            (*first)[p->edge[i].to + 1]++;
    for (uint32_t i = 1; i <= ops + 1; i++)
        (*first)[i] += (*first)[i - 1];
    uint32_t *at = ss_arena_take(a, bytes);
    if (!at)
        return ss_fail_memory(err, "a figure", bytes);
    memcpy(at, *first, bytes);
    for (uint32_t i = 0; i < p->edges; i++)
        if (is_between(&p->edge[i], ops))
            (*reads)[at[p->edge[i].to]++] = p->edge[i].from;
    return SS_OK;
}

static ss_status place_ops(sorting *s, ss_plot_blocks *b)
{
    uint32_t *first, *reads;
    ss_status status = index_edges(s->p, s->ops, &first, &reads, &b->arena, s->err);
    tracks *t = status ? NULL : ss_arena_take(&b->arena, b->n * sizeof *t);
    uint32_t *rows = t ? ss_arena_take(&b->arena, (s->ops + (size_t)1) * sizeof *rows) : NULL;
    if (status || !rows)
        return status ? status : ss_fail_memory(s->err, "a figure", s->ops * sizeof *rows);
    for (uint32_t i = 0, used = 0; i < b->n; i++) {
        t[i].last = rows + used; /* a row for each operator is enough */
        used += b->block[i].ops;
    }
    for (uint32_t i = 1; i <= s->ops; i++) {
        ss_plot_block *block = &b->block[b->place[i].block];
        if (!block->unrolled) {
            place_op(b, i, reads + first[i], first[i + 1] - first[i], t);
            continue;
        }
        b->place[i].column = block->columns++;
        block->rows = 1;
    }
    return SS_OK;
}

/* --------------------------------------------------------------------------------------- all */

static ss_status make_blocks(sorting *s, ss_plot_blocks *b)
{
    b->block = ss_arena_take(&b->arena, s->keys.n * sizeof *b->block);
    b->place = ss_arena_take(&b->arena, (s->ops + (size_t)1) * sizeof *b->place);
    if (!b->block || !b->place)
        return ss_fail_memory(s->err, "a figure", s->ops * sizeof *b->place);
    memset(b->block, 0, s->keys.n * sizeof *b->block);
    memset(b->place, 0, (s->ops + (size_t)1) * sizeof *b->place);
    b->n = s->keys.n;
    ss_text label = {0};
    ss_status status = SS_OK;
    for (uint32_t k = 0; !status && k < b->n; k++) {
        write_label(s, k + 1, &label);
        status = ss_text_status(&label, s->err);
        char *kept = status ? NULL : ss_arena_take(&b->arena, label.n + (size_t)1);
        if (!status && !kept)
            status = ss_fail_memory(s->err, "a figure", label.n);
        if (kept)
            b->block[k].label = memcpy(kept, ss_text_get(&label), label.n + (size_t)1);
        b->block[k].unrolled = unrolled(s, k + 1);
    }
    ss_text_free(&label);
    uint32_t steps = 0;
    for (uint32_t i = 1; i <= s->ops; i++) {
        b->place[i].block = s->key[i] - 1;
        b->block[s->key[i] - 1].ops++;
        steps += b->block[s->key[i] - 1].unrolled ? 1 : 0;
    }
    b->unrolled = 2 * steps > s->ops;
    return status;
}

ss_status ss_plot_blocks_of(const ss_picture *p, uint32_t ops, ss_plot_blocks *out, ss_error *err)
{
    sorting s = {.p = p, .ops = ops, .err = err};
    ss_plot_blocks b = {0};
    ss_status status = sort_ops(&s);
    if (!status)
        status = make_blocks(&s, &b);
    if (!status)
        status = place_ops(&s, &b);
    ss_names_free(&s.keys);
    ss_free(s.key);
    if (status)
        ss_plot_blocks_free(&b);
    else
        *out = b;
    return status;
}

void ss_plot_blocks_free(ss_plot_blocks *b)
{
    ss_arena_free(&b->arena);
    *b = (ss_plot_blocks){0};
}
