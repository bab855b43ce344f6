/* exhaustive.c - the walk, its limits and its account. */
#include "config.h"

#include "search/exhaustive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "search/exhaustive_inside.h"

/* Looking up costs a clock; a strategy simulated counts as so many looked at. */
enum { LOOK_EVERY = 1024, SIMULATED = 8, LINE = 160 };

typedef struct walk {
    ss_exhaustive_tables t;
    ss_partial partial;
    ss_symmetries symmetries;
    const ss_exhaustive_options *o;
    ss_watch watch; /* of the caller, with the limit of time */
    const ss_watch *callers;
    ss_exhaustive_teller teller;
    ss_exhaustive_result *out;
    uint32_t *row;     /* as they are visited: of operator i at first[i] .. */
    uint32_t *rank;    /* by row: its place there */
    uint32_t *active;  /* [ops + 1][symmetries]: of those that may still prove something twice the
                        * number, and 1 more if they make the prefix an earlier one */
    uint32_t *actives; /* [ops + 1] */
    double *inside;    /* [ops + 1]: strategies below a prefix of so many operators */
    double *fraction;  /* [ops + 1]: the same as a share of all */
    double began;
    uint32_t until_look;
    ss_search_end over; /* SS_END_NOT: it goes on */
} walk;

ss_exhaustive_options ss_exhaustive_options_start(void)
{
    return (ss_exhaustive_options){.lower = ss_lower_options_start(),
                                   .bounds = (1u << SS_BOUNDS) - 1};
}

const char *ss_bound_name(ss_bound b)
{
    static const char *const name[SS_BOUNDS] = {"path", "work", "bytes", "symmetry"};
    return (unsigned)b < SS_BOUNDS ? name[b] : "unknown";
}

void ss_exhaustive_result_free(ss_exhaustive_result *r)
{
    ss_strategy_free(r->best);
    *r = (ss_exhaustive_result){0};
}

/* ---- limits ------------------------------------------------------------------------------ */

/* For all that takes long, the tables too: out of time is a stop. */
static ss_status look_at_clock(void *context, const char *what, double done, double whole,
                               ss_error *err)
{
    walk *w = context;
    if (w->o->seconds > 0 && ss_seconds_now() - w->began >= w->o->seconds) {
        w->over = SS_END_SECONDS;
        return ss_fail(err, SS_ESTOPPED, "out of time");
    }
    ss_status s = ss_look_up(w->callers, what, done, whole, err);
    if (s == SS_ESTOPPED)
        w->over = SS_END_STOPPED;
    return s;
}

static void watch_over(void *context)
{
    (void)context; /* that is for the caller */
}

/* A stop ends the walk, and is no error. */
static ss_status heed(walk *w, ss_status s)
{
    if (s != SS_ESTOPPED)
        return s;
    if (w->over == SS_END_STOPPED)
        ss_look_heeded(w->callers);
    if (!w->over)
        w->over = SS_END_STOPPED; /* by the sink */
    return SS_OK;
}

static ss_status look(walk *w, uint32_t steps, ss_error *err)
{
    char line[LINE], best[SS_QUANTITY_TEXT];
    if (w->until_look > steps) {
        w->until_look -= steps;
        return SS_OK;
    }
    w->until_look = LOOK_EVERY;
    const ss_exhaustive_result *out = w->out;
    snprintf(line, sizeof line, "exhaustive search, best %s, %llu simulated",
             out->walled ? "fits nowhere" : ss_format_time(out->cost, best, sizeof best),
             (unsigned long long)out->simulated);
    ss_status s = ss_exhaustive_tell_flush(&w->teller, err);
    return s ? s : heed(w, ss_look_up(&w->watch, line, out->share, 1, err));
}

static void leave_out(walk *w, uint32_t depth, ss_bound why)
{
    w->out->cut[why]++;
    w->out->inside[why] += w->inside[depth];
    w->out->share += w->fraction[depth];
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* What bounds are compared with, which know nothing of the step's overhead. */
static ss_time best_tasks(const walk *w)
{
    return w->out->cost - w->t.step;
}

static ss_status keep_as_best(walk *w, ss_time cost, ss_error *err)
{
    ss_exhaustive_tables *t = &w->t;
    ss_exhaustive_result *out = w->out;
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= t->ops && !s; i++)
        s = ss_config_copy(&t->strategy->config[i], &out->best->config[i], err);
    out->cost = cost;
    out->better = true;
    out->walled = false;
    if (w->o->bounds & 1u << SS_BOUND_PATH)
        out->hopeless += ss_exhaustive_filter(t, best_tasks(w));
    return s;
}

static ss_status simulate(walk *w, ss_error *err)
{
    ss_exhaustive_tables *t = &w->t;
    ss_exhaustive_result *out = w->out;
    if (w->o->simulate && out->simulated >= w->o->simulate) {
        w->over = SS_END_PROPOSALS;
        return SS_OK;
    }
    ss_score score;
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= t->ops && !s; i++)
        s = ss_exhaustive_put(t, w->partial.row[i], err);
    if (!s)
        s = ss_exhaustive_simulate(t, &score, err);
    if (s)
        return s;
    out->simulated++;
    out->share += w->fraction[t->ops];
    bool less = score.cost < out->cost;
    score.infeasible = score.infeasible && less; /* said of what would have been accepted */
    bool better = less && !(score.infeasible && w->o->memory == SS_MEMORY_WALL);
    s = ss_exhaustive_tell(&w->teller, t->strategy, out->best, &score, better, err);
    if (!s && better)
        s = keep_as_best(w, score.cost, err);
    return s ? s : look(w, SIMULATED, err);
}

/* Whether a symmetry makes an earlier strategy of every one below.  Listed for the next depth are
 * those that may yet: that leave the prefix with this row as it is, or make it an earlier one while
 * something further on may have no image. */
static bool is_image_of_earlier(walk *w, uint32_t depth, uint32_t row)
{
    const ss_symmetries *y = &w->symmetries;
    const uint32_t *active = w->active + (size_t)depth * y->n;
    uint32_t *next = w->active + (size_t)(depth + 1) * y->n, n = 0;
    for (uint32_t k = 0; k < w->actives[depth]; k++) {
        uint32_t which = active[k] / 2, earlier = active[k] % 2;
        uint32_t image = y->image[(size_t)which * w->t.rows + row];
        if (image == SS_NO_ROW || (!earlier && w->rank[image] > w->rank[row]))
            continue;
        earlier |= w->rank[image] < w->rank[row];
        if (earlier && depth + 1 >= y->all_from[which])
            return true;
        next[n++] = 2 * which + earlier;
    }
    w->actives[depth + 1] = n;
    return false;
}

static ss_status visit(walk *w, uint32_t depth, ss_error *err);

static ss_status visit_row(walk *w, uint32_t depth, uint32_t row, ss_error *err)
{
    ss_exhaustive_tables *t = &w->t;
    if (!t->alive[row]) {
        leave_out(w, depth + 1, SS_BOUND_PATH);
        return SS_OK;
    }
    if (is_image_of_earlier(w, depth, row)) {
        leave_out(w, depth + 1, SS_BOUND_SYMMETRY);
        return SS_OK;
    }
    w->out->nodes++;
    ss_status s = ss_partial_push(&w->partial, row, err);
    if (s)
        return s;
    ss_bounds_found b;
    s = ss_partial_bounds(&w->partial, w->o->bounds, best_tasks(w), &b, err);
    if (!s && b.most >= best_tasks(w))
        leave_out(w, depth + 1, b.which);
    else if (!s)
        s = depth + 1 == t->ops ? simulate(w, err) : visit(w, depth + 1, err);
    ss_partial_pop(&w->partial);
    return s ? s : look(w, 1, err);
}

static ss_status visit(walk *w, uint32_t depth, ss_error *err)
{
    uint32_t op = w->t.order[depth];
    ss_status s = SS_OK;
    for (uint32_t k = w->t.first[op]; k < w->t.first[op + 1] && !s && !w->over; k++)
        s = visit_row(w, depth, w->row[k], err);
    return s;
}

/* ---- setting out ------------------------------------------------------------------------- */

typedef struct promising {
    ss_time least;
    uint32_t row;
} promising;

static int by_promise(const void *a, const void *b)
{
    const promising *x = a, *y = b;
    if (x->least != y->least)
        return x->least < y->least ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static ss_status order_rows(walk *w, ss_error *err)
{
    ss_exhaustive_tables *t = &w->t;
    promising *p = ss_alloc_zeroed(t->rows, sizeof *p);
    if (!p)
        return ss_fail_memory(err, "an exhaustive search", t->rows * sizeof *p);
    for (uint32_t g = 0; g < t->rows; g++)
        p[g] = (promising){t->least[g], g};
    for (uint32_t i = 1; i <= t->ops; i++)
        qsort(p + t->first[i], t->first[i + 1] - t->first[i], sizeof *p, by_promise);
    for (uint32_t g = 0; g < t->rows; g++) {
        w->row[g] = p[g].row;
        w->rank[p[g].row] = g;
    }
    ss_free(p);
    return SS_OK;
}

static void count_space(const ss_alternatives *a, ss_exhaustive_result *out)
{
    out->size = 1;
    out->configurations = a->rows;
    for (uint32_t i = 1; i <= a->ops; i++) {
        uint32_t n = a->first[i + 1] - a->first[i];
        out->log10_size += log10(n);
        out->size = out->size > UINT64_MAX / n ? UINT64_MAX : out->size * n;
    }
}

static void measure_space(walk *w)
{
    ss_exhaustive_tables *t = &w->t;
    ss_exhaustive_result *out = w->out;
    w->inside[t->ops] = 1;
    w->fraction[0] = 1;
    for (uint32_t k = t->ops; k-- > 0;) {
        uint32_t op = t->order[k], n = t->first[op + 1] - t->first[op];
        w->inside[k] = w->inside[k + 1] * n;
    }
    for (uint32_t k = 0; k < t->ops; k++) {
        uint32_t op = t->order[k];
        w->fraction[k + 1] = w->fraction[k] / (t->first[op + 1] - t->first[op]);
    }
    for (uint32_t i = 1; i <= t->ops; i++) {
        ss_time least = SS_TIME_MAX;
        for (uint32_t g = t->first[i]; g < t->first[i + 1]; g++)
            least = t->least[g] < least ? t->least[g] : least;
        out->least = least > out->least ? least : out->least;
    }
    out->least += t->step;
}

static ss_status set_out(walk *w, ss_error *err)
{
    ss_exhaustive_tables *t = &w->t;
    ss_status s = ss_partial_new(t, &w->partial, err);
    if (!s && w->o->bounds & 1u << SS_BOUND_SYMMETRY)
        s = ss_symmetries_find(t, &w->symmetries, err);
    if (s)
        return s;
    size_t ops = (size_t)t->ops + 1, n = w->symmetries.n;
    w->row = ss_alloc_zeroed(t->rows, sizeof *w->row);
    w->rank = ss_alloc_zeroed(t->rows, sizeof *w->rank);
    w->active = ss_alloc_zeroed(ops * n, sizeof *w->active);
    w->actives = ss_alloc_zeroed(ops, sizeof *w->actives);
    w->inside = ss_alloc_zeroed(ops, sizeof *w->inside);
    w->fraction = ss_alloc_zeroed(ops, sizeof *w->fraction);
    if (!w->row || !w->rank || !w->active || !w->actives || !w->inside || !w->fraction)
        return ss_fail_memory(err, "an exhaustive search", ops * n * sizeof *w->active);
    for (uint32_t k = 0; k < n; k++)
        w->active[k] = 2 * k;
    w->actives[0] = w->symmetries.n;
    w->out->symmetries = w->symmetries.n;
    measure_space(w);
    return order_rows(w, err);
}

static void walk_free(walk *w)
{
    ss_exhaustive_tables_free(&w->t);
    ss_exhaustive_teller_free(&w->teller);
    ss_partial_free(&w->partial);
    ss_symmetries_free(&w->symmetries);
    ss_free(w->row);
    ss_free(w->rank);
    ss_free(w->active);
    ss_free(w->actives);
    ss_free(w->inside);
    ss_free(w->fraction);
}

static ss_status walk_all(walk *w, ss_error *err)
{
    ss_exhaustive_result *out = w->out;
    ss_status s = set_out(w, err);
    out->tables_s = ss_seconds_now() - w->began;
    if (s)
        return s;
    w->until_look = LOOK_EVERY;
    if (w->o->bounds & 1u << SS_BOUND_PATH)
        out->hopeless = ss_exhaustive_filter(&w->t, best_tasks(w));
    s = visit(w, 0, err);
    out->proven = !s && !w->over;
    if (out->proven)
        out->share = 1;
    return s;
}

/* The incumbent is the best until there is a better one; where it does not fit, any that does. */
static ss_status begin(walk *w, ss_error *err)
{
    const ss_score *given = &w->t.given;
    w->out->walled = given->infeasible && w->o->memory == SS_MEMORY_WALL;
    w->out->cost = w->out->walled ? SS_TIME_MAX : given->cost;
    return ss_exhaustive_tell_begin(&w->teller, w->out->best, given->cost, err);
}

/* Whether the best fits is of interest also where it does not matter. */
static ss_status look_at_memory(walk *w, ss_error *err)
{
    ss_exhaustive_tables *t = &w->t;
    ss_score score;
    ss_status s = SS_OK;
    t->price.rule = SS_MEMORY_PENALTY;
    t->price.s_per_byte = 0;
    for (uint32_t i = 1; i <= t->ops && !s; i++)
        s = ss_config_copy(&w->out->best->config[i], &t->strategy->config[i], err);
    if (!s)
        s = ss_exhaustive_simulate(t, &score, err);
    w->out->fits = !s && !score.infeasible;
    return s;
}

static ss_status end(walk *w, ss_error *err)
{
    ss_exhaustive_result *out = w->out;
    if (out->walled)
        out->cost = w->t.given.cost;
    else if (out->proven || out->least > out->cost)
        out->least = out->cost;
    ss_status s = look_at_memory(w, err);
    out->seconds = ss_seconds_now() - w->began;
    return s;
}

static ss_status search(walk *w, const ss_model *m, const ss_topology *t, const ss_timer *timer,
                        const ss_alternatives *space, const ss_strategy *incumbent, ss_error *err)
{
    ss_exhaustive_result *out = w->out;
    ss_status s = ss_strategy_copy(incumbent, &out->best, err);
    if (!s)
        s = ss_exhaustive_tables_fill(&w->t, m, t, timer, space, incumbent, &w->o->lower, &w->watch,
                                      err);
    if (s && s != SS_ESTOPPED)
        return s;
    ss_status filled = s;
    count_space(space, out);
    s = begin(w, err);
    if (s)
        return s;
    s = heed(w, filled ? filled : walk_all(w, err));
    if (!s)
        s = end(w, err);
    if (!s)
        s = ss_exhaustive_tell_end(&w->teller, w->over ? w->over : SS_END_PROVEN, err);
    return s;
}

ss_status ss_exhaustive(const ss_model *m, const ss_topology *t, const ss_timer *timer,
                        const ss_alternatives *space, const ss_strategy *incumbent,
                        const ss_exhaustive_options *o, const ss_search_sink *sink,
                        const ss_watch *watch, ss_exhaustive_result *out, ss_error *err)
{
    if (o->lower.links == SS_LINKS_SHARED)
        return ss_fail(
            err, SS_EUNSUPPORTED,
            "an exhaustive search has no bounds for shared links; it proves an optimum for "
            "fifo-hop, fifo-pipe and fifo-path");
    if (!ss_run_options_published(&o->lower.run))
        return ss_fail(
            err, SS_EUNSUPPORTED,
            "an exhaustive search has bounds for tasks in the order in which they became ready, "
            "one at a time, on links and devices that stay as they are: leave order, streams, "
            "copies_block, slowed_by_copies, interference and events as they are unless given");
    if (o->lower.gather)
        return ss_fail(err, SS_EUNSUPPORTED,
                       "an exhaustive search has no bounds for putting together what parts read: "
                       "leave gather as it is "
                       "unless given");
    double now = ss_seconds_now();
    walk w = {.o = o, .callers = watch, .out = out, .began = now};
    w.watch = (ss_watch){.context = &w, .look = look_at_clock, .over = watch_over};
    w.t.price = (ss_price){.rule = o->memory, .s_per_byte = o->penalty_s_per_byte};
    w.teller = (ss_exhaustive_teller){.sink = sink, .began = now};
    *out = (ss_exhaustive_result){0};
    ss_status s = search(&w, m, t, timer, space, incumbent, err);
    walk_free(&w);
    if (s)
        ss_exhaustive_result_free(out);
    return s;
}
