/* exhaustive_paths.c - least paths through what is not decided.
 *
 * By dynamic programming over the operators: what the longest path takes at least, given the
 * configuration of one operator and the best for all others.  Where several operators follow, the
 * longest of their least is taken; where several parts do, the longest of theirs.  Each number is
 * thus the least over completions of a longest path, and at most that of any completion.
 *
 * `round` is for the way there and back: from the start of a part's forward task to the end of a
 * part's backward one, through operators further on, each in one configuration both ways.
 */
#include "search/exhaustive_inside.h"

#include "base/mem.h"

static inline ss_time larger(ss_time a, ss_time b)
{
    return a > b ? a : b;
}

/* A row's slots are few: everything below is small loops over parts. */
typedef struct ends {
    const ss_exhaustive_tables *t;
    const ss_pair *pair;
    uint32_t from, to; /* rows */
} ends;

/* To the start of part u of `to`, from the least starts of the parts of `from`. */
static ss_time head_through(const ends *x, uint32_t u)
{
    const ss_exhaustive_tables *t = x->t;
    const ss_time *lag = t->lag + x->pair->forward + u;
    uint32_t slot = t->slot[x->from], width = t->parts[x->to];
    ss_time most = 0;
    for (uint32_t p = 0; p < t->parts[x->from]; p++)
        most = larger(most, t->head[slot + p] + t->forward[slot + p] + lag[(size_t)p * width]);
    return most;
}

/* From the end of backward of part v of `to`, through backward of `from`, to the end. */
static ss_time tail_through(const ends *x, uint32_t v)
{
    const ss_exhaustive_tables *t = x->t;
    uint32_t slot = t->slot[x->from], width = t->parts[x->from];
    const ss_time *lag = t->lag + x->pair->backward + (size_t)v * width;
    ss_time most = 0;
    for (uint32_t q = 0; q < width; q++)
        most = larger(most, lag[q] + t->backward[slot + q] + t->tail[slot + q]);
    return most;
}

/* From the end of forward of part p of `from`, through `to`, to the end. */
static ss_time onward_through(const ends *x, uint32_t p)
{
    const ss_exhaustive_tables *t = x->t;
    uint32_t slot = t->slot[x->to], width = t->parts[x->to];
    const ss_time *lag = t->lag + x->pair->forward + (size_t)p * width;
    ss_time most = 0;
    for (uint32_t u = 0; u < width; u++)
        most = larger(most, lag[u] + t->onward[slot + u]);
    return most;
}

/* For all parts p and q of `from`: from the end of forward of p, through `to` and back, to the start
 * of backward of q. */
static void round_through(const ends *x, ss_time *half, ss_time *out)
{
    const ss_exhaustive_tables *t = x->t;
    uint32_t a = t->parts[x->from], b = t->parts[x->to];
    const ss_time *there = t->lag + x->pair->forward, *back = t->lag + x->pair->backward;
    const ss_time *round = t->round + t->round_at[x->to];
    for (uint32_t p = 0; p < a; p++)
        for (uint32_t v = 0; v < b; v++) {
            ss_time most = SS_NO_PATH;
            for (uint32_t u = 0; u < b; u++)
                most = larger(most, there[p * b + u] + round[u * b + v]);
            half[p * b + v] = most;
        }
    for (uint32_t p = 0; p < a; p++)
        for (uint32_t q = 0; q < a; q++) {
            ss_time most = SS_NO_PATH;
            for (uint32_t v = 0; v < b; v++)
                most = larger(most, half[p * b + v] + back[v * a + q]);
            out[p * a + q] = most < 0 ? SS_NO_PATH : most;
        }
}

/* The least over the living rows of the operator at the other end of an edge. */
static ss_time least_through(const ss_exhaustive_tables *t, const ss_reads *e, uint32_t row,
                             bool giver, uint32_t part,
                             ss_time (*through)(const ends *x, uint32_t part))
{
    uint32_t other = giver ? e->to : e->from;
    ss_time least = SS_TIME_MAX;
    for (uint32_t g = t->first[other]; g < t->first[other + 1] && least > 0; g++) {
        if (!t->alive[g])
            continue;
        uint32_t from = giver ? row : g, to = giver ? g : row;
        ends x = {t, ss_exhaustive_pair(t, e, from, to), from, to};
        ss_time through_g = through(&x, part);
        least = through_g < least ? through_g : least;
    }
    return least == SS_TIME_MAX ? 0 : least;
}

static bool goes_back(const ss_exhaustive_tables *t, const ss_reads *e)
{
    return t->has_backward[e->from] && t->has_backward[e->to];
}

/* What the meeting of weights that nobody else uses adds after a part. */
static ss_time meeting_after(const ss_exhaustive_tables *t, uint32_t row, uint32_t part)
{
    uint32_t group = t->model->op[t->op_of[row]].group;
    return group && t->group[group].users == 1 ? t->alone[row].after[part] : 0;
}

static void update_forwards(ss_exhaustive_tables *t, uint32_t op)
{
    for (uint32_t g = t->first[op]; g < t->first[op + 1]; g++)
        for (uint32_t p = 0; p < t->parts[g] && t->alive[g]; p++) {
            ss_time head = 0, tail = meeting_after(t, g, p);
            for (uint32_t e = t->first_in[op]; e < t->first_in[op + 1]; e++) {
                const ss_reads *r = &t->reads[e];
                head = larger(head, least_through(t, r, g, false, p, head_through));
                if (goes_back(t, r))
                    tail = larger(tail, least_through(t, r, g, false, p, tail_through));
            }
            t->head[t->slot[g] + p] = head;
            t->tail[t->slot[g] + p] = tail;
        }
}

/* round of a row: the least through each reader, the longest of these, and the part itself. */
static void update_round(ss_exhaustive_tables *t, uint32_t row)
{
    uint32_t op = t->op_of[row], n = t->parts[row], slot = t->slot[row];
    ss_time *round = t->round + t->round_at[row];
    ss_time *half = t->scratch, *one = half + (size_t)t->most_parts * t->most_parts;
    ss_time *least = one + (size_t)t->most_parts * t->most_parts;
    for (uint32_t k = 0; k < n * n; k++)
        round[k] = k % (n + 1) ? SS_NO_PATH : 0;
    for (uint32_t o = t->first_out[op]; o < t->first_out[op + 1]; o++) {
        const ss_reads *e = &t->reads[t->out[o]];
        if (!t->has_backward[e->to])
            continue;
        for (uint32_t k = 0; k < n * n; k++)
            least[k] = SS_TIME_MAX;
        for (uint32_t g = t->first[e->to]; g < t->first[e->to + 1]; g++) {
            if (!t->alive[g])
                continue;
            ends x = {t, ss_exhaustive_pair(t, e, row, g), row, g};
            round_through(&x, half, one);
            for (uint32_t k = 0; k < n * n; k++)
                least[k] = one[k] < least[k] ? one[k] : least[k];
        }
        for (uint32_t k = 0; k < n * n; k++)
            if (least[k] != SS_TIME_MAX)
                round[k] = larger(round[k], least[k]);
    }
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < n; q++)
            if (round[p * n + q] >= 0)
                round[p * n + q] += t->forward[slot + p] + t->backward[slot + q];
}

static void update_onward(ss_exhaustive_tables *t, uint32_t row)
{
    uint32_t op = t->op_of[row], n = t->parts[row], slot = t->slot[row];
    for (uint32_t p = 0; p < n; p++) {
        ss_time most = t->has_backward[op] ? 0 : meeting_after(t, row, p);
        for (uint32_t o = t->first_out[op]; o < t->first_out[op + 1]; o++)
            most =
                larger(most, least_through(t, &t->reads[t->out[o]], row, true, p, onward_through));
        most += t->forward[slot + p];
        for (uint32_t q = 0; q < n && t->has_backward[op]; q++)
            most = larger(most, t->round[t->round_at[row] + p * n + q] + t->tail[slot + q]);
        t->onward[slot + p] = most;
    }
}

void ss_exhaustive_paths_update(ss_exhaustive_tables *t)
{
    for (uint32_t i = 1; i <= t->ops; i++)
        update_forwards(t, i);
    for (uint32_t i = t->ops; i > 0; i--)
        for (uint32_t g = t->first[i]; g < t->first[i + 1]; g++) {
            if (!t->alive[g])
                continue;
            if (t->has_backward[i])
                update_round(t, g);
            update_onward(t, g);
            t->least[g] = 0;
            for (uint32_t k = t->slot[g]; k < t->slot[g] + t->parts[g]; k++)
                t->least[g] = larger(t->least[g], t->head[k] + t->onward[k]);
        }
    for (uint32_t i = 1; i <= t->ops; i++) {
        t->least_work[i] = SS_TIME_MAX;
        for (uint32_t g = t->first[i]; g < t->first[i + 1]; g++)
            if (t->alive[g] && t->work[g] < t->least_work[i])
                t->least_work[i] = t->work[g];
        if (t->least_work[i] == SS_TIME_MAX)
            t->least_work[i] = 0;
    }
}

uint32_t ss_exhaustive_filter(ss_exhaustive_tables *t, ss_time best)
{
    uint32_t died = 0, now;
    do {
        now = 0;
        for (uint32_t g = 0; g < t->rows; g++)
            if (t->alive[g] && t->least[g] >= best) {
                t->alive[g] = false;
                now++;
            }
        if (now)
            ss_exhaustive_paths_update(t);
        died += now;
    } while (now);
    return died;
}

ss_status ss_exhaustive_paths_fill(ss_exhaustive_tables *t, ss_error *err)
{
    size_t rounds = 0, square = (size_t)t->most_parts * t->most_parts;
    t->alive = ss_alloc_zeroed(t->rows, sizeof *t->alive);
    t->head = ss_alloc_zeroed(t->slots, sizeof *t->head);
    t->onward = ss_alloc_zeroed(t->slots, sizeof *t->onward);
    t->tail = ss_alloc_zeroed(t->slots, sizeof *t->tail);
    t->least = ss_alloc_zeroed(t->rows, sizeof *t->least);
    t->least_work = ss_alloc_zeroed((size_t)t->ops + 1, sizeof *t->least_work);
    t->round_at = ss_alloc_zeroed(t->rows, sizeof *t->round_at);
    for (uint32_t g = 0; g < t->rows && t->round_at; g++) {
        t->round_at[g] = rounds;
        rounds += (size_t)t->parts[g] * t->parts[g];
    }
    t->round = ss_alloc_zeroed(rounds, sizeof *t->round);
    t->scratch = ss_alloc_zeroed(3 * square, sizeof *t->scratch);
    if (!t->alive || !t->head || !t->onward || !t->tail || !t->least || !t->least_work ||
        !t->round_at || !t->round || !t->scratch)
        return ss_fail_memory(err, "the paths of an exhaustive search", rounds * sizeof *t->round);
    for (uint32_t g = 0; g < t->rows; g++)
        t->alive[g] = true;
    ss_exhaustive_paths_update(t);
    return SS_OK;
}
