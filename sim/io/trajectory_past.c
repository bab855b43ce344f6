/* trajectory_past.c - what a search that is resumed asks of its log. */
#include <string.h>

#include "base/mem.h"
#include "io/trajectory_inside.h"

/* A table of a chain as it was when it was first asked for. */
typedef struct rows {
    void *row;
    uint32_t n;
} rows;

typedef struct past_chain {
    rows table[SS_LOG_TABLES];
    ss_choice *choice; /* as many as one step has at most */
} past_chain;

struct ss_log_past {
    ss_arena arena;
    past_chain *chain; /* NULL: not read yet */
};

void ss_log_past_free(ss_log_past *p)
{
    if (!p)
        return;
    ss_arena_free(&p->arena);
    ss_free(p);
}

static ss_status has_no_such(const ss_trajectory *t, uint32_t chain, const char *what,
                             uint32_t step, ss_error *err)
{
    return ss_fail(err, SS_EFORMAT, "%s: step %u of chain %s has a %s that is not there", t->path,
                   step, t->chain[chain].name, what);
}

/* Row numbers that the two functions below go by. */
static ss_status check(const ss_trajectory *t, uint32_t chain, const past_chain *p, ss_error *err)
{
    const ss_log_step *step = p->table[SS_LOG_STEPS].row;
    const ss_log_configuration *c = p->table[SS_LOG_CONFIGURATIONS].row;
    const ss_log_several *m = p->table[SS_LOG_SEVERAL].row;
    uint32_t steps = p->table[SS_LOG_STEPS].n, at = 0;
    for (uint32_t i = 0; i < p->table[SS_LOG_CONFIGURATIONS].n; i++)
        if (c[i].parts > p->table[SS_LOG_DEVICES].n ||
            c[i].first_device > p->table[SS_LOG_DEVICES].n - c[i].parts)
            return ss_fail(err, SS_EFORMAT, "%s: configuration %u of chain %s has no such devices",
                           t->path, i + 1, t->chain[chain].name);
    for (uint32_t i = 0; i < steps; i++) {
        if (step[i].new > p->table[SS_LOG_CONFIGURATIONS].n || (step[i].ops && !step[i].new))
            return has_no_such(t, chain, "configuration", i + 1, err);
        for (uint32_t k = 0; step[i].ops > 1 && k < step[i].ops; k++, at++)
            if (at >= p->table[SS_LOG_SEVERAL].n || m[at].step != i + 1 || !m[at].new ||
                m[at].new > p->table[SS_LOG_CONFIGURATIONS].n)
                return has_no_such(t, chain, "row of several", i + 1, err);
    }
    return SS_OK;
}

static ss_status read_chain(ss_trajectory *t, uint32_t chain, past_chain *p, ss_arena *a,
                            ss_error *err)
{
    char group[SS_LOG_PATH];
    ss_status s = SS_OK;
    for (uint32_t k = 0; !s && k < SS_LOG_TABLES; k++) {
        const ss_record_table *table = &ss_log_table[k];
        ss_log_group(t->chain[chain].name, (ss_log_kind)k, group, sizeof group);
        s = ss_h5_get_table(t->f, group, table->field, table->fields, table->stride, 0, a,
                            &p->table[k].row, &p->table[k].n, err);
    }
    if (!s)
        s = check(t, chain, p, err);
    uint32_t most = 1;
    const ss_log_step *step = p->table[SS_LOG_STEPS].row;
    for (uint32_t i = 0; !s && i < p->table[SS_LOG_STEPS].n; i++)
        most = step[i].ops > most ? step[i].ops : most;
    if (!s && !(p->choice = ss_arena_take(a, most * sizeof *p->choice)))
        s = ss_fail_memory(err, "the past of a search", most * sizeof *p->choice);
    return s;
}

static ss_status read_past(ss_trajectory *t, ss_error *err)
{
    ss_log_past *p = ss_alloc_zeroed(1, sizeof *p);
    if (!p)
        return ss_fail_memory(err, "the past of a search", sizeof *p);
    size_t bytes = (t->chains + 1) * sizeof *p->chain;
    ss_status s = SS_OK;
    p->chain = ss_arena_take(&p->arena, bytes);
    if (!p->chain)
        s = ss_fail_memory(err, "the past of a search", bytes);
    else
        memset(p->chain, 0, bytes);
    for (uint32_t i = 0; !s && i < t->chains; i++)
        if (t->chain[i].begun)
            s = read_chain(t, i, &p->chain[i], &p->arena, err);
    if (s)
        ss_log_past_free(p);
    else
        t->past = p;
    return s;
}

static ss_status past_of(ss_trajectory *t, uint32_t chain, past_chain **out, ss_error *err)
{
    ss_status s = t->past ? SS_OK : read_past(t, err);
    if (!s && chain >= t->chains)
        s = ss_fail(err, SS_EINVAL, "%s is for %u chains, and chain %u was asked for", t->path,
                    t->chains, chain + 1);
    if (!s)
        *out = &t->past->chain[chain];
    return s;
}

static void give(const past_chain *p, uint32_t op, uint32_t row, ss_choice *out)
{
    const ss_log_configuration *c =
        (const ss_log_configuration *)p->table[SS_LOG_CONFIGURATIONS].row + (row - 1);
    uint32_t *device = (uint32_t *)p->table[SS_LOG_DEVICES].row + c->first_device;
    *out = (ss_choice){.op = {op}, .config = {.parts = c->parts, .cap = c->parts}};
    memcpy(out->config.degree, c->degree, sizeof c->degree);
    out->config.device = (ss_device *)(void *)device;
}

/* The first row of `several` that a step has: they are in the order of steps. */
static const ss_log_several *several_of(const past_chain *p, uint32_t step)
{
    const ss_log_several *m = p->table[SS_LOG_SEVERAL].row;
    uint32_t low = 0, high = p->table[SS_LOG_SEVERAL].n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return &m[low];
}

static ss_status accepted(void *context, uint32_t chain, uint64_t after, uint64_t *number,
                          const ss_choice **to, uint32_t *n, ss_time *cost, ss_error *err)
{
    past_chain *p;
    ss_status s = past_of(context, chain, &p, err);
    *number = 0;
    if (s)
        return s;
    const ss_log_step *step = p->table[SS_LOG_STEPS].row;
    uint64_t i = after;
    while (i < p->table[SS_LOG_STEPS].n && (!step[i].accepted || !step[i].ops))
        i++;
    if (i >= p->table[SS_LOG_STEPS].n)
        return SS_OK;
    uint32_t ops = step[i].ops;
    const ss_log_several *m = ops > 1 ? several_of(p, (uint32_t)i + 1) : NULL;
    for (uint32_t k = 0; k < ops; k++)
        give(p, m ? m[k].op : step[i].op, m ? m[k].new : step[i].new, &p->choice[k]);
    *number = i + 1;
    *to = p->choice;
    *n = ops;
    *cost = step[i].current;
    return SS_OK;
}

static void count(const ss_log_step *step, uint32_t steps, ss_time start, ss_search_left *left)
{
    double visited = 0;
    ss_time best = start;
    for (uint32_t i = 0; i < steps; i++) {
        bool descends = step[i].reach == SS_REACH_DESCENT;
        left->descended += descends;
        left->descending = descends ? left->descending + 1 : 0;
        left->stopped += step[i].stopped;
        left->infeasible += step[i].infeasible;
        left->fell_back += step[i].fell_back;
        visited += step[i].tasks ? (double)step[i].visited / step[i].tasks : 0;
        if (step[i].best != best) {
            left->best_step = i + 1;
            left->best_seconds = step[i].wallclock_s;
        }
        best = step[i].best;
        left->seconds = step[i].wallclock_s;
    }
    left->steps = steps;
    left->visited_share = steps ? visited / steps : 0;
}

static ss_status last(void *context, uint32_t chain, ss_search_left *out, ss_error *err)
{
    ss_trajectory *t = context;
    past_chain *p;
    ss_status s = past_of(t, chain, &p, err);
    *out = (ss_search_left){0};
    if (!s)
        count(p->table[SS_LOG_STEPS].row, p->table[SS_LOG_STEPS].n, t->chain[chain].start_cost,
              out);
    return s;
}

ss_search_past ss_trajectory_past(ss_trajectory *t)
{
    return (ss_search_past){t, accepted, last};
}
