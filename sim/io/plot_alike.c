/* plot_alike.c - which neighbours are drawn once. */
#include "config.h"

#include "io/plot_alike.h"

#include <stdio.h>
#include <string.h>

typedef struct lists {
    uint32_t *first; /* [blocks + 1]: where a block's operators begin in `op` */
    uint32_t *op;    /* [ops]: block by block, in their order */
} lists;

static void *take(ss_plot_blocks *b, size_t n, size_t each, ss_error *err)
{
    void *at = ss_arena_take(&b->arena, (n ? n : 1) * each);
    if (at)
        memset(at, 0, (n ? n : 1) * each);
    else
        ss_fail_memory(err, "a figure", n * each);
    return at;
}

static ss_status list_ops(ss_plot_blocks *b, uint32_t ops, lists *l, ss_error *err)
{
    l->first = take(b, b->n + (size_t)2, sizeof *l->first, err);
    l->op = l->first ? take(b, ops, sizeof *l->op, err) : NULL;
    if (!l->op)
        return SS_ENOMEM;
    for (uint32_t i = 1; i <= ops; i++)
        l->first[b->place[i].block + 2]++;
    for (uint32_t k = 2; k < b->n + 2; k++)
        l->first[k] += l->first[k - 1];
    for (uint32_t i = 1; i <= ops; i++)
        l->op[l->first[b->place[i].block + 1]++] = i;
    return SS_OK;
}

static bool are_alike(const ss_picture *p, uint32_t a, uint32_t b)
{
    const ss_picture_op *x = &p->op[a], *y = &p->op[b];
    return x->parts == y->parts && !strcmp(x->dimensions, y->dimensions) &&
           !memcmp(x->degree, y->degree, sizeof x->degree) &&
           !memcmp(p->part + x->first, p->part + y->first, x->parts * sizeof *p->part);
}

/* --------------------------------------------------------------------------------------- blocks */

static bool blocks_alike(const ss_picture *p, const ss_plot_blocks *b, const lists *l, uint32_t x,
                         uint32_t y)
{
    const ss_plot_block *m = &b->block[x], *n = &b->block[y];
    if (m->unrolled || n->unrolled || m->ops != n->ops || m->rows != n->rows ||
        m->columns != n->columns)
        return false;
    for (uint32_t i = 0; i < m->ops; i++) {
        uint32_t of = l->op[l->first[x] + i], and = l->op[l->first[y] + i];
        if (b->place[of].column != b->place[and].column || b->place[of].row != b->place[and].row ||
            !are_alike(p, of, and))
            return false;
    }
    return true;
}

static ss_status label_run(ss_plot_blocks *b, uint32_t head, uint32_t last, uint32_t times,
                           ss_error *err)
{
    const char *from = b->block[head].label, *to = b->block[last].label;
    size_t n = strlen(from) + strlen(to) + 32;
    char *label = take(b, n, 1, err);
    if (!label)
        return SS_ENOMEM;
    snprintf(label, n, "%s … %s ×%u", from, to, times);
    b->block[head].label = label;
    return SS_OK;
}

static ss_status merge_blocks(const ss_picture *p, uint32_t ops, ss_plot_blocks *b, const lists *l,
                              ss_error *err)
{
    uint32_t *now = take(b, b->n, sizeof *now, err), kept = 0;
    ss_status s = now ? SS_OK : SS_ENOMEM;
    for (uint32_t head = 0, next; !s && head < b->n; head = next) {
        for (next = head + 1; next < b->n && blocks_alike(p, b, l, head, next); next++)
            for (uint32_t i = 0; i < b->block[head].ops; i++)
                b->like[l->op[l->first[next] + i]] = l->op[l->first[head] + i];
        if (next > head + 1)
            s = label_run(b, head, next - 1, next - head, err);
        for (uint32_t k = head; k < next; k++)
            now[k] = kept;
        b->block[kept++] = b->block[head];
    }
    if (s)
        return s;
    for (uint32_t i = 1; i <= ops; i++)
        b->place[i].block = now[b->place[i].block];
    b->n = kept;
    return SS_OK;
}

/* ---------------------------------------------------------------------------------------- steps */

/* In every unrolled block that has one of these columns. */
static bool steps_alike(const ss_picture *p, const ss_plot_blocks *b, const lists *l, uint32_t x,
                        uint32_t y)
{
    for (uint32_t k = 0; k < b->n; k++) {
        const ss_plot_block *m = &b->block[k];
        if (!m->unrolled || (x >= m->ops && y >= m->ops))
            continue;
        if (x >= m->ops || y >= m->ops ||
            !are_alike(p, l->op[l->first[k] + x], l->op[l->first[k] + y]))
            return false;
    }
    return true;
}

static ss_status merge_steps(const ss_picture *p, ss_plot_blocks *b, const lists *l, ss_error *err)
{
    uint32_t most = 0, kept = 0;
    for (uint32_t k = 0; k < b->n; k++)
        if (b->block[k].unrolled && b->block[k].columns > most)
            most = b->block[k].columns;
    b->step = take(b, most, sizeof *b->step, err);
    uint32_t *now = b->step ? take(b, most, sizeof *now, err) : NULL;
    if (!now)
        return SS_ENOMEM;
    for (uint32_t c = 0; c < most; c++) {
        if (!c || !steps_alike(p, b, l, b->step[kept - 1].first, c))
            b->step[kept++].first = c;
        b->step[kept - 1].last = c;
        now[c] = kept - 1;
    }
    for (uint32_t k = 0; k < b->n; k++) {
        ss_plot_block *m = &b->block[k];
        if (!m->unrolled)
            continue;
        for (uint32_t c = 0; c < m->ops; c++) {
            uint32_t op = l->op[l->first[k] + c], first = b->step[now[c]].first;
            b->place[op].column = now[c];
            b->like[op] = first < c ? l->op[l->first[k] + first] : 0;
        }
        m->columns = now[m->ops - 1] + 1;
    }
    return SS_OK;
}

ss_status ss_plot_alike(const ss_picture *p, uint32_t ops, ss_plot_blocks *b, ss_error *err)
{
    lists l;
    b->like = take(b, ops + (size_t)1, sizeof *b->like, err);
    ss_status s = b->like ? list_ops(b, ops, &l, err) : SS_ENOMEM;
    if (!s)
        s = merge_steps(p, b, &l, err);
    return s ? s : merge_blocks(p, ops, b, &l, err);
}
