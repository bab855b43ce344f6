/* lower_cover.c - how much boxes that may overlap cover, counted exactly.
 *
 * The borders of all boxes cut the tensor into cells, each inside or outside of a box as a whole.
 * The boxes come from cut tensors, so they share most borders and the cells are few.
 */
#include "graph/lowering.h"

#include <string.h>

#include "base/array.h"

typedef struct borders {
    uint32_t rank;
    int64_t *at[SS_MAX_DIMS]; /* ascending, none twice */
    uint32_t n[SS_MAX_DIMS];
    uint32_t stride[SS_MAX_DIMS]; /* between cells that are neighbours along it */
    size_t cells;
} borders;

static uint32_t place_of(const int64_t *at, uint32_t n, int64_t x) /* the first not below x */
{
    uint32_t lo = 0;
    while (lo < n) {
        uint32_t mid = lo + (n - lo) / 2;
        if (at[mid] < x)
            lo = mid + 1;
        else
            n = mid;
    }
    return lo;
}

static void add_border(int64_t *at, uint32_t *n, int64_t x)
{
    uint32_t i = place_of(at, *n, x);
    if (i < *n && at[i] == x)
        return;
    memmove(at + i + 1, at + i, (*n - i) * sizeof *at);
    at[i] = x;
    ++*n;
}

static ss_status find_borders(struct ss_lower_scratch *s, borders *b, ss_error *err)
{
    size_t row = 2 * (size_t)s->covers;
    b->rank = s->cover[0].rank;
    b->cells = 1;
    ss_status e =
        SS_RESERVE(s->border, s->border_cap, row * b->rank, "borders of overlapping parts", err);
    if (e)
        return e;
    for (uint32_t d = b->rank; d-- > 0;) {
        b->at[d] = s->border + d * row;
        b->n[d] = 0;
        for (uint32_t i = 0; i < s->covers; i++) {
            add_border(b->at[d], &b->n[d], s->cover[i].lo[d]);
            add_border(b->at[d], &b->n[d], s->cover[i].hi[d]);
        }
        b->stride[d] = (uint32_t)b->cells;
        b->cells *= b->n[d] - 1;
        if (b->cells > UINT32_MAX / 2)
            return ss_fail(err, SS_ERANGE, "%u parts overlap in too many ways to be counted",
                           s->covers);
    }
    if (b->cells > s->cell_cap) {
        uint32_t cap = ss_grown(s->cell_cap, b->cells);
        if ((e = SS_REGROW(s->cell_group, cap, "overlaps of parts", err)) ||
            (e = SS_REGROW(s->cell_count, cap, "overlaps of parts", err)) ||
            (e = SS_REGROW(s->cell_copied, cap, "overlaps of parts", err)))
            return e;
        s->cell_cap = cap;
    }
    memset(s->cell_count, 0, b->cells * sizeof *s->cell_count);
    return SS_OK;
}

/* Counts one box in dimension d and those after it, from cell `at` on. */
static void count_box(struct ss_lower_scratch *s, const borders *b, uint32_t i, uint32_t d,
                      uint32_t at)
{
    const ss_box *box = &s->cover[i];
    if (d == b->rank) {
        if (!s->cell_count[at] || s->cell_group[at] != s->cover_group[i])
            s->cell_count[at]++;
        s->cell_group[at] = s->cover_group[i];
        s->cell_copied[at] = s->cover_copied[i];
        return;
    }
    uint32_t k = place_of(b->at[d], b->n[d], box->lo[d]);
    for (; b->at[d][k] < box->hi[d]; k++)
        count_box(s, b, i, d + 1, at + k * b->stride[d]);
}

static int64_t cell_elements(const borders *b, size_t cell)
{
    int64_t elements = 1;
    for (uint32_t d = 0; d < b->rank; d++) {
        uint32_t k = (uint32_t)(cell / b->stride[d]) % (b->n[d] - 1);
        elements *= b->at[d][k + 1] - b->at[d][k];
    }
    return elements;
}

static bool all_the_same(const struct ss_lower_scratch *s)
{
    for (uint32_t i = 1; i < s->covers; i++)
        if (!ss_box_same(&s->cover[0], &s->cover[i]) || s->cover_group[i] == s->cover_group[i - 1])
            return false;
    return true;
}

ss_status ss_lower_cover(struct ss_lower_scratch *s, int64_t *covered, double *added,
                         double *copied, ss_error *err)
{
    *covered = 0;
    *added = *copied = 0;
    if (!s->covers)
        return SS_OK;
    if (all_the_same(s)) { /* one box, or the partial sums of a channel split: no need to count */
        *covered = ss_box_elements(&s->cover[0]);
        *added = s->covers > 1 ? (double)*covered * (s->covers + 1.0) : 0;
        *copied = s->covers == 1 && s->cover_copied[0] ? 2.0 * (double)*covered : 0;
        return SS_OK;
    }
    borders b;
    ss_status e = find_borders(s, &b, err);
    if (e)
        return e;
    for (uint32_t i = 0; i < s->covers; i++)
        count_box(s, &b, i, 0, 0);
    for (size_t c = 0; c < b.cells; c++) {
        if (!s->cell_count[c])
            continue;
        int64_t elements = cell_elements(&b, c);
        *covered += elements;
        *added += s->cell_count[c] > 1 ? (double)elements * (s->cell_count[c] + 1.0) : 0;
        *copied += s->cell_count[c] == 1 && s->cell_copied[c] ? 2.0 * (double)elements : 0;
    }
    return SS_OK;
}
