/* exhaustive_tables.c - times and transfers, by configuration and by pair of configurations.
 *
 * No rule of lowering is told here a second time.  For each pair of configurations of two operators
 * that read one another the whole strategy is lowered, with the others as they happen to be, and
 * what the graph has between the parts of the two is kept: that depends on nothing else.  Sums of
 * gradients that come from several readers do depend on the others, and count as taking no time.
 */
#include "search/exhaustive_inside.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

/* Some 200 bytes each. */
enum { MOST_PAIRS = 4000000 };

/* ---- the strategy at hand ---------------------------------------------------------------- */

ss_status ss_exhaustive_put(ss_exhaustive_tables *t, uint32_t row, ss_error *err)
{
    return ss_config_copy(&t->space->config[row], &t->strategy->config[t->op_of[row]], err);
}

ss_status ss_exhaustive_lower(ss_exhaustive_tables *t, ss_error *err)
{
    ss_status s = ss_lower(t->model, t->topology, t->routes, t->strategy, t->timer, &t->options,
                           &t->lowered, err);
    return s ? ss_fail_in(err, "exhaustive search") : SS_OK;
}

ss_status ss_exhaustive_simulate(ss_exhaustive_tables *t, ss_score *out, ss_error *err)
{
    *out = (ss_score){0};
    ss_status s = ss_exhaustive_lower(t, err);
    if (!s)
        s = ss_engine_run(t->engine, &t->lowered.tasks, &t->timeline, err);
    if (s)
        return s;
    if ((s = ss_time_add(t->timeline.makespan, t->step, &out->cost, err)))
        return s;
    out->tasks = out->touched = out->visited = t->lowered.tasks.n;
    return ss_price_add(&t->price, t->strategy, &t->lowered, &t->timeline, out, err);
}

/* ---- what there is ----------------------------------------------------------------------- */

static ss_status refuse(const ss_model *m, const ss_alternatives *a, ss_error *err)
{
    if (a->ops != m->ops || !m->ops)
        return ss_fail(err, SS_EINVAL, "configurations for %u operators; model \"%s\" has %u",
                       a->ops, m->name, m->ops);
    if (m->ops > SS_EXHAUSTIVE_OPS)
        return ss_fail(err, SS_EINVAL,
                       "model \"%s\" has %u operators; an exhaustive search is for %d at most",
                       m->name, m->ops, SS_EXHAUSTIVE_OPS);
    for (uint32_t i = 1; i <= m->ops; i++)
        if (a->first[i] == a->first[i + 1] || a->first[i + 1] - a->first[i] > SS_EXHAUSTIVE_CONFIGS)
            return ss_fail(err, SS_EINVAL,
                           "operator %s has %u configurations; an exhaustive search is for 1 to %d",
                           m->op[i].name, a->first[i + 1] - a->first[i], SS_EXHAUSTIVE_CONFIGS);
    return SS_OK;
}

static ss_status allocate(void *array_of_any_type, size_t n, size_t each, ss_error *err)
{
    void *p = ss_alloc_zeroed(n ? n : 1, each);
    if (!p)
        return ss_fail_memory(err, "the tables of an exhaustive search", n * each);
    memcpy(array_of_any_type, &p, sizeof p);
    return SS_OK;
}

#define ALLOCATE(array, n) allocate(&(array), (n), sizeof *(array), err)

static ss_status list_rows(ss_exhaustive_tables *t, ss_error *err)
{
    const ss_alternatives *a = t->space;
    ss_status s;
    t->rows = a->first[a->ops + 1];
    for (uint32_t g = 0; g < t->rows; g++)
        t->slots += a->config[g].parts;
    if ((s = ALLOCATE(t->op_of, t->rows)) || (s = ALLOCATE(t->parts, t->rows)) ||
        (s = ALLOCATE(t->slot, t->rows)) || (s = ALLOCATE(t->work, t->rows)) ||
        (s = ALLOCATE(t->device, t->slots)) || (s = ALLOCATE(t->forward, t->slots)) ||
        (s = ALLOCATE(t->backward, t->slots)) || (s = ALLOCATE(t->has_backward, t->ops + 1)))
        return s;
    uint32_t slot = 0;
    for (uint32_t i = 1; i <= t->ops; i++)
        for (uint32_t g = a->first[i]; g < a->first[i + 1]; g++) {
            t->op_of[g] = i;
            t->parts[g] = a->config[g].parts;
            t->slot[g] = slot;
            for (uint32_t p = 0; p < t->parts[g]; p++)
                t->device[slot++] = a->config[g].device[p].i;
            if (t->parts[g] > t->most_parts)
                t->most_parts = t->parts[g];
        }
    return SS_OK;
}

static bool reads(const ss_model *m, uint32_t to, uint32_t from)
{
    for (uint32_t v = 0; v < m->op[to].def->inputs; v++)
        if (m->tensor[m->op[to].in[v].i].producer.i == from)
            return true;
    return false;
}

static ss_status list_edges(ss_exhaustive_tables *t, ss_error *err)
{
    const ss_model *m = t->model;
    ss_status s;
    if ((s = ALLOCATE(t->reads, m->uses + 1)) || (s = ALLOCATE(t->first_in, t->ops + 2)) ||
        (s = ALLOCATE(t->first_out, t->ops + 2)) || (s = ALLOCATE(t->out, m->uses + 1)))
        return s;
    for (uint32_t i = 1; i <= t->ops; i++) {
        t->first_in[i] = t->edges;
        for (uint32_t k = 1; k < i; k++)
            if (reads(m, i, k)) {
                size_t a = t->first[i + 1] - t->first[i], b = t->first[k + 1] - t->first[k];
                t->reads[t->edges++] = (ss_reads){k, i, t->pairs};
                t->pairs += a * b;
            }
        if (t->pairs > MOST_PAIRS)
            return ss_fail(err, SS_EINVAL,
                           "operators that read one another have more than %d pairs of "
                           "configurations, too many for the tables of an exhaustive search",
                           MOST_PAIRS);
    }
    t->first_in[t->ops + 1] = t->edges;
    uint32_t n = 0;
    for (uint32_t i = 1; i <= t->ops; i++) {
        t->first_out[i] = n;
        for (uint32_t e = 0; e < t->edges; e++)
            if (t->reads[e].from == i)
                t->out[n++] = e;
    }
    t->first_out[t->ops + 1] = n;
    return ALLOCATE(t->pair, t->pairs);
}

/* ---- times of parts ---------------------------------------------------------------------- */

static ss_status keep_times(ss_exhaustive_tables *t, uint32_t row, ss_error *err)
{
    const ss_lowered *l = &t->lowered;
    uint32_t op = t->op_of[row], slot = t->slot[row];
    t->has_backward[op] = l->backward[op].i != 0;
    t->work[row] = 0;
    for (uint32_t p = 0; p < t->parts[row]; p++) {
        ss_time *f = &t->forward[slot + p], *b = &t->backward[slot + p];
        *f = l->tasks.hold[l->forward[op].i + p];
        *b = t->has_backward[op] ? l->tasks.hold[l->backward[op].i + p] : 0;
        if (*f > SS_EXHAUSTIVE_MOST_TIME || *b > SS_EXHAUSTIVE_MOST_TIME)
            return ss_fail(err, SS_ERANGE,
                           "operator %s takes longer than an exhaustive search can add up (281 s)",
                           t->model->op[op].name);
        t->work[row] += *f + *b;
    }
    return SS_OK;
}

static ss_status fill_times(ss_exhaustive_tables *t, ss_error *err)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i <= t->ops; i++)
        if (t->first[i + 1] - t->first[i] > most)
            most = t->first[i + 1] - t->first[i];
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < most && !s; k++) {
        s = ss_look_up(t->watch, "times of the parts", k, most, err);
        for (uint32_t i = 1; i <= t->ops && !s; i++)
            s = ss_exhaustive_put(t, t->first[i] + k % (t->first[i + 1] - t->first[i]), err);
        if (!s)
            s = ss_exhaustive_lower(t, err);
        for (uint32_t i = 1; i <= t->ops && !s; i++)
            s = keep_times(t, t->first[i] + k % (t->first[i + 1] - t->first[i]), err);
    }
    return s;
}

/* ---- what lies between two operators ----------------------------------------------------- */

/* One direction between two operators, in the graph at hand. */
typedef struct between {
    const ss_tasks *tasks;
    uint32_t source, sources; /* tasks of the parts that give, and their number */
    uint32_t target, targets;
    uint32_t from, to; /* operators as labels have them: who sends, who receives */
    ss_cargo cargo;
} between;

/* Whether a task carries something from the one to the other, or adds up what does. */
static bool carries(const between *b, uint32_t task)
{
    const ss_task_label *l = &b->tasks->label[task];
    if (l->kind == SS_TASK_TRANSFER)
        return l->cargo == b->cargo && l->op == b->from && l->to_op == b->to;
    if (l->kind != SS_TASK_ACCUMULATE || b->cargo != SS_CARGO_GRADIENT)
        return false;
    return l->to_op ? l->op == b->from && l->to_op == b->to : l->op == b->to;
}

/* Sums of what several operators sent depend on all of them. */
static ss_time time_of(const between *b, uint32_t task)
{
    const ss_task_label *l = &b->tasks->label[task];
    return l->kind == SS_TASK_ACCUMULATE && !l->to_op ? 0 : b->tasks->hold[task];
}

/* The latest that the end of part `source` lets `task` be ready. */
static ss_time reach_of(const ss_exhaustive_tables *t, const between *b, uint32_t source,
                        uint32_t task)
{
    const ss_tasks *g = b->tasks;
    const ss_time *reach = t->reach + (size_t)source * (g->n + 1);
    ss_time most = SS_NO_PATH;
    for (uint32_t e = g->first_in[task]; e < g->first_in[task + 1]; e++) {
        uint32_t u = g->in[e];
        ss_time r = SS_NO_PATH;
        if (u == b->source + source)
            r = 0;
        else if (t->task_time[u] >= 0 && reach[u] >= 0)
            r = reach[u] + t->task_time[u] + ss_tasks_lag(g, (ss_task){u});
        most = r > most ? r : most;
    }
    return most;
}

/* The part that the task's message is for. */
static uint32_t target_of(const between *b, uint32_t task)
{
    const ss_task_label *l = &b->tasks->label[task];
    return l->kind == SS_TASK_ACCUMULATE && !l->to_op ? l->part : l->to_part;
}

/* From the end of the task to the start of that part. */
static ss_time rest_of(const ss_exhaustive_tables *t, const between *b, uint32_t task)
{
    const ss_tasks *g = b->tasks;
    uint32_t target = target_of(b, task);
    ss_time most = SS_NO_PATH, lag = ss_tasks_lag(g, (ss_task){task});
    for (uint32_t e = g->first_out[task]; e < g->first_out[task + 1]; e++) {
        uint32_t v = g->out[e];
        ss_time r = SS_NO_PATH;
        if (v == b->target + target)
            r = lag;
        else if (t->task_time[v] >= 0 && t->rest[v] >= 0 && target_of(b, v) == target)
            r = t->rest[v] + t->task_time[v] + lag;
        most = r > most ? r : most;
    }
    return most;
}

static ss_status measure(ss_exhaustive_tables *t, const between *b, ss_error *err)
{
    const ss_tasks *g = b->tasks;
    size_t rows = (size_t)g->n + 1;
    ss_status s = SS_RESERVE(t->reach, t->reach_cap, rows * b->sources, "tasks", err);
    if (!s)
        s = SS_RESERVE(t->rest, t->rest_cap, rows, "tasks", err);
    if (!s)
        s = SS_RESERVE(t->task_time, t->task_time_cap, rows, "tasks", err);
    if (s)
        return s;
    for (uint32_t i = 1; i <= g->n; i++) {
        t->task_time[i] = carries(b, i) ? time_of(b, i) : -1;
        if (t->task_time[i] > SS_EXHAUSTIVE_MOST_TIME ||
            (t->task_time[i] >= 0 && ss_tasks_lag(g, (ss_task){i}) > SS_EXHAUSTIVE_MOST_TIME))
            return ss_fail(
                err, SS_ERANGE,
                "a transfer from %s to %s takes longer than an exhaustive search can add "
                "up (281 s)",
                t->model->op[b->from].name, t->model->op[b->to].name);
        for (uint32_t k = 0; k < b->sources && t->task_time[i] >= 0; k++)
            t->reach[k * rows + i] = reach_of(t, b, k, i);
    }
    for (uint32_t i = g->n; i > 0; i--)
        t->rest[i] = t->task_time[i] >= 0 ? rest_of(t, b, i) : SS_NO_PATH;
    return SS_OK;
}

static ss_status reserve_rows(void *array_of_any_type, size_t *cap, size_t need, size_t each,
                              ss_error *err)
{
    if (need <= *cap)
        return SS_OK;
    size_t more = *cap ? *cap : 1024;
    while (more < need)
        more *= 2;
    ss_status s =
        ss_regrow(array_of_any_type, more, each, "transfers of an exhaustive search", err);
    if (!s)
        *cap = more;
    return s;
}

static ss_status keep_lags(ss_exhaustive_tables *t, const between *b, size_t *at, ss_error *err)
{
    ss_status s = reserve_rows(&t->lag, &t->lag_cap, t->lags + (size_t)b->sources * b->targets,
                               sizeof *t->lag, err);
    if (s)
        return s;
    *at = t->lags;
    for (uint32_t k = 0; k < b->sources; k++)
        for (uint32_t q = 0; q < b->targets; q++)
            t->lag[t->lags++] = reach_of(t, b, k, b->target + q);
    return SS_OK;
}

/* One for each resource that a task holds. */
static ss_status keep_crossings(ss_exhaustive_tables *t, const between *b, uint32_t *n,
                                ss_error *err)
{
    const ss_tasks *g = b->tasks;
    ss_status s = SS_OK;
    *n = 0;
    for (uint32_t i = 1; i <= g->n && !s; i++) {
        const ss_task_label *l = &g->label[i];
        if (t->task_time[i] <= 0)
            continue;
        ss_time before = t->reach[(size_t)l->part * (g->n + 1) + i];
        uint32_t resources;
        const uint32_t *resource = ss_tasks_resources(g, (ss_task){i}, &resources);
        s = reserve_rows(&t->crossing, &t->crossing_cap, t->crossings + resources,
                         sizeof *t->crossing, err);
        for (uint32_t r = 0; r < resources && !s; r++, ++*n)
            t->crossing[t->crossings++] = (ss_crossing){resource[r],     l->part, l->to_part,
                                                        t->task_time[i], before,  t->rest[i]};
    }
    return s;
}

static ss_status keep_pair(ss_exhaustive_tables *t, const ss_reads *e, uint32_t from, uint32_t to,
                           ss_error *err)
{
    const ss_lowered *l = &t->lowered;
    size_t wide = t->first[e->to + 1] - t->first[e->to];
    ss_pair *pair = &t->pair[e->pair + (from - t->first[e->from]) * wide + (to - t->first[e->to])];
    between b = {&l->tasks,      l->forward[e->from].i,
                 t->parts[from], l->forward[e->to].i,
                 t->parts[to],   e->from,
                 e->to,          SS_CARGO_ACTIVATION};
    pair->crossing = t->crossings;
    ss_status s = measure(t, &b, err);
    if (!s)
        s = keep_lags(t, &b, &pair->forward, err);
    if (!s)
        s = keep_crossings(t, &b, &pair->forwards, err);
    if (s || !l->backward[e->from].i || !l->backward[e->to].i)
        return s;
    b = (between){&l->tasks,      l->backward[e->to].i,
                  t->parts[to],   l->backward[e->from].i,
                  t->parts[from], e->to,
                  e->from,        SS_CARGO_GRADIENT};
    s = measure(t, &b, err);
    if (!s)
        s = keep_lags(t, &b, &pair->backward, err);
    return s ? s : keep_crossings(t, &b, &pair->backwards, err);
}

/* All other operators in the configuration with the fewest parts, so that graphs are small. */
static ss_status put_least(ss_exhaustive_tables *t, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= t->ops && !s; i++) {
        uint32_t least = t->first[i];
        for (uint32_t g = least; g < t->first[i + 1]; g++)
            if (t->parts[g] < t->parts[least])
                least = g;
        s = ss_exhaustive_put(t, least, err);
    }
    return s;
}

static ss_status fill_pairs(ss_exhaustive_tables *t, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < t->edges && !s; k++) {
        const ss_reads *e = &t->reads[k];
        s = put_least(t, err);
        for (uint32_t a = t->first[e->from]; a < t->first[e->from + 1] && !s; a++) {
            s = ss_look_up(t->watch, "tables of the bounds", k, t->edges, err);
            for (uint32_t b = t->first[e->to]; b < t->first[e->to + 1] && !s; b++) {
                if ((s = ss_exhaustive_put(t, a, err)) || (s = ss_exhaustive_put(t, b, err)) ||
                    (s = ss_exhaustive_lower(t, err)))
                    return s;
                s = keep_pair(t, e, a, b, err);
            }
        }
    }
    return s;
}

/* ---- the order of deciding --------------------------------------------------------------- */

static double least_work(const ss_exhaustive_tables *t, uint32_t op)
{
    ss_time least = t->work[t->first[op]];
    for (uint32_t g = t->first[op]; g < t->first[op + 1]; g++)
        least = t->work[g] < least ? t->work[g] : least;
    return (double)least;
}

static bool may_come(const ss_exhaustive_tables *t, uint32_t op)
{
    if (t->place[op] != SS_NO_ROW)
        return false;
    for (uint32_t e = t->first_in[op]; e < t->first_in[op + 1]; e++)
        if (t->place[t->reads[e].from] == SS_NO_ROW)
            return false;
    return true;
}

/* Givers come before readers.  Of those that may come: one whose weights are in use already, so
 * that their meeting is known early; then the one with most to compute; then the first. */
static ss_status choose_order(ss_exhaustive_tables *t, ss_error *err)
{
    bool *begun = NULL;
    ss_status s;
    if ((s = ALLOCATE(t->order, t->ops)) || (s = ALLOCATE(t->place, t->ops + 1)) ||
        (s = ALLOCATE(begun, t->model->groups + 1)))
        return s;
    for (uint32_t i = 1; i <= t->ops; i++)
        t->place[i] = SS_NO_ROW;
    for (uint32_t n = 0; n < t->ops; n++) {
        uint32_t best = 0;
        bool best_shares = false;
        for (uint32_t i = 1; i <= t->ops; i++) {
            if (!may_come(t, i))
                continue;
            bool shares = t->model->op[i].group && begun[t->model->op[i].group];
            if (!best || shares > best_shares ||
                (shares == best_shares && least_work(t, i) > least_work(t, best))) {
                best = i;
                best_shares = shares;
            }
        }
        t->order[n] = best;
        t->place[best] = n;
        begun[t->model->op[best].group] = true;
    }
    ss_free(begun);
    return SS_OK;
}

/* ---- all of it --------------------------------------------------------------------------- */

ss_status ss_exhaustive_tables_fill(ss_exhaustive_tables *t, const ss_model *m,
                                    const ss_topology *topology, const ss_timer *timer,
                                    const ss_alternatives *space, const ss_strategy *any,
                                    const ss_lower_options *o, const ss_watch *watch, ss_error *err)
{
    ss_status s = refuse(m, space, err);
    if (s)
        return s;
    t->model = m;
    t->topology = topology;
    t->timer = timer;
    t->space = space;
    t->watch = watch;
    t->options = *o;
    t->ops = m->ops;
    t->first = space->first;
    t->devices = topology->devices;
    t->resources = topology->devices + topology->links;
    if ((s = ss_chance_step(o->chance, o->repetition, &t->step, err)) ||
        (s = ss_routes_new(topology, &t->routes, err)) || (s = ss_engine_new(&t->engine, err)) ||
        (s = ss_strategy_copy(any, &t->strategy, err)) || (s = list_rows(t, err)) ||
        (s = list_edges(t, err)) || (s = ss_exhaustive_simulate(t, &t->given, err)) ||
        (s = fill_times(t, err)) || (s = fill_pairs(t, err)) || (s = choose_order(t, err)) ||
        (s = ss_exhaustive_meetings_fill(t, err)))
        return s;
    return ss_exhaustive_paths_fill(t, err);
}

void ss_exhaustive_tables_free(ss_exhaustive_tables *t)
{
    ss_exhaustive_meetings_free(t);
    ss_routes_free(t->routes);
    ss_engine_free(t->engine);
    ss_strategy_free(t->strategy);
    ss_lowered_free(&t->lowered);
    ss_timeline_free(&t->timeline);
    ss_price_free(&t->price);
    void *const rows[] = {t->op_of,     t->parts,        t->slot,      t->device,    t->forward,
                          t->backward,  t->has_backward, t->work,      t->reads,     t->first_in,
                          t->first_out, t->out,          t->pair,      t->lag,       t->crossing,
                          t->order,     t->place,        t->alive,     t->head,      t->onward,
                          t->tail,      t->round_at,     t->round,     t->least,     t->scratch,
                          t->reach,     t->rest,         t->task_time, t->least_work};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ss_free(rows[i]);
    *t = (ss_exhaustive_tables){0};
}
