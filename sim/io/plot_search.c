/* plot_search.c - curves of searches, thinned to what can be seen. */
#include "config.h"

#include "io/plot_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/plot_curves.h"
#include "io/plot_inside.h"

enum { LEAST_WINDOW = 20, WINDOWS = 50, SERIES = 3 * SS_PLOT_MAX_CHAINS + 2, NAME = 80 };

typedef struct curve {
    const ss_trajectory_chain *chain;
    const char *label;
    uint32_t order; /* among all chains of all logs */
    bool walled;    /* nothing was accepted where memory is a wall: the log does not say whether the
                       start is within it */
} curve;

typedef struct figure {
    const ss_plot_search_options *so;
    int64_t cells;
    curve *chain; /* [chains]: those that are shown, in their order */
    uint32_t chains, not_begun, left_out;
    bool penalty;   /* some cost has a penalty in it */
    double longest; /* of x */
    uint32_t most_steps, window;
    ss_plot_series series[SERIES];
    uint32_t n;
    uint64_t values, drawn; /* of current cost */
    ss_text title, note[3], axis;
    const char *notes[3];
    ss_arena arena;
    ss_error *err;
} figure;

static const char *const kind_names[SS_PLOT_SEARCH_KINDS] = {"search", "acceptance"};

const char *ss_plot_search_kind_name(ss_plot_search_kind k)
{
    return (unsigned)k < SS_PLOT_SEARCH_KINDS ? kind_names[k] : "none";
}

static double x_of(const figure *f, const ss_trajectory_step *s)
{
    return f->so->seconds ? s->wallclock_s : s->step;
}

/* ----------------------------------------------------------------------- which chains are shown */

static ss_time best_of(const ss_trajectory_chain *c)
{
    return c->steps ? c->step[c->steps - 1].best : c->start_cost;
}

static int by_best(const void *a, const void *b)
{
    const curve *x = a, *y = b;
    ss_time p = best_of(x->chain), q = best_of(y->chain);
    if (p != q)
        return p < q ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_order(const void *a, const void *b)
{
    const curve *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

static const char *label_of(figure *f, const ss_plot_log *log, uint32_t logs, uint32_t chain)
{
    const char *name = log->view->chain[chain].name;
    if (logs == 1 || !log->label)
        return name;
    if (log->view->chains == 1)
        return log->label;
    size_t n = strlen(log->label) + strlen(name) + 3;
    char *label = ss_arena_take(&f->arena, n);
    if (label)
        snprintf(label, n, "%s, %s", log->label, name);
    return label;
}

static bool has_accepted(const ss_trajectory_chain *c)
{
    for (uint32_t i = 0; i < c->steps; i++)
        if (c->step[i].accepted)
            return true;
    return false;
}

static ss_status list_chains(figure *f, const ss_plot_log *log, uint32_t logs)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < logs; i++)
        all += log[i].view->chains;
    f->chain = ss_arena_take(&f->arena, (all + (size_t)1) * sizeof *f->chain);
    if (!f->chain)
        return ss_fail_memory(f->err, "a figure", all * sizeof *f->chain);
    for (uint32_t i = 0; i < logs; i++) {
        bool wall = ss_trajectory_has_option(log[i].view->options, "memory = wall");
        f->penalty =
            f->penalty || ss_trajectory_has_option(log[i].view->options, "memory = penalty");
        for (uint32_t k = 0; k < log[i].view->chains; k++) {
            const ss_trajectory_chain *c = &log[i].view->chain[k];
            if (!c->steps) {
                f->not_begun++;
                continue;
            }
            const char *label = label_of(f, &log[i], logs, k);
            if (!label)
                return ss_fail_memory(f->err, "a figure", NAME);
            f->chain[f->chains] = (curve){c, label, f->chains, wall && !has_accepted(c)};
            f->chains++;
        }
    }
    if (!f->chains)
        return ss_fail(f->err, SS_EINVAL, "no chain of %s has made a proposal yet",
                       logs == 1 ? "this log" : "these logs");
    uint32_t most = f->so->max_chains ? f->so->max_chains : SS_PLOT_CHAINS;
    if (f->chains > most) {
        qsort(f->chain, f->chains, sizeof *f->chain, by_best);
        f->left_out = f->chains - most;
        f->chains = most;
        qsort(f->chain, f->chains, sizeof *f->chain, by_order);
    }
    return SS_OK;
}

static void measure(figure *f)
{
    for (uint32_t i = 0; i < f->chains; i++) {
        const ss_trajectory_chain *c = f->chain[i].chain;
        f->longest = fmax(f->longest, x_of(f, &c->step[c->steps - 1]));
        f->most_steps = c->steps > f->most_steps ? c->steps : f->most_steps;
    }
    uint32_t share = f->most_steps / WINDOWS;
    f->window = f->so->window ? f->so->window : share > LEAST_WINDOW ? share : LEAST_WINDOW;
}

static ss_status check_window(const figure *f)
{
    const ss_plot_end *from = &f->so->from_x, *to = &f->so->to_x;
    if (from->given && to->given && from->at >= to->at)
        return ss_fail(f->err, SS_EINVAL, "from_x is %g and to_x %g: a window ends after it begins",
                       from->at, to->at);
    if (from->given && !(from->at >= 0 && from->at < f->longest))
        return ss_fail(f->err, SS_EINVAL, "from_x is %g: the longest chain goes from 0 to %g %s",
                       from->at, f->longest, f->so->seconds ? "s" : "proposals");
    if (to->given && !(to->at > 0))
        return ss_fail(f->err, SS_EINVAL, "to_x is %g: a search begins at 0", to->at);
    return SS_OK;
}

/* --------------------------------------------------------------------------------------- series */

static ss_status begin_series(figure *f, uint32_t most, ss_plot_series *s, double **x, double **y)
{
    *x = ss_arena_take(&f->arena, most * sizeof **x);
    *y = ss_arena_take(&f->arena, most * sizeof **y);
    if (!*x || !*y)
        return ss_fail_memory(f->err, "a figure", most * sizeof **x);
    s->x = *x;
    s->y = *y;
    f->series[f->n++] = *s;
    return SS_OK;
}

static double window_from(const figure *f)
{
    return f->so->from_x.given ? f->so->from_x.at : 0;
}

static double window_to(const figure *f)
{
    return f->so->to_x.given ? f->so->to_x.at : f->longest;
}

static bool is_inside(const figure *f, double x)
{
    return x >= window_from(f) && x <= window_to(f);
}

/* The column that a place on the axis of x falls into; -1 and cells + 1 for all that is beyond its ends. */
static int64_t column(const figure *f, double x, double first)
{
    double from = window_from(f), to = window_to(f);
    if (x < from)
        return -1;
    if (x > to)
        return f->cells + 1;
    if (f->so->log_x) {
        from = from > 0 ? from : first;
        double span = log(to / from);
        return span > 0 && x > from ? (int64_t)(log(x / from) / span * (double)f->cells) : 0;
    }
    return to > from ? (int64_t)((x - from) / (to - from) * (double)f->cells) : 0;
}

/* Leaves of the last series what is inside of the window.  Of steps the value goes on from one end of it to the
 * other: each place that this takes is one of a point that is left out. */
static void clip(figure *f, double *x, double *y)
{
    ss_plot_series *s = &f->series[f->n - 1];
    bool steps = s->look == SS_PLOT_STEPS;
    double from = window_from(f), to = window_to(f);
    uint32_t i = 0, n = 0;
    while (i < s->n && x[i] < from)
        i++;
    if (steps && i && i < s->n && x[i] > from) {
        x[n] = from;
        y[n++] = y[i - 1];
    }
    for (; i < s->n && x[i] <= to; i++) {
        x[n] = x[i];
        y[n++] = y[i];
    }
    if (steps && n && i < s->n) {
        x[n] = to;
        y[n] = y[n - 1];
        n++;
    }
    s->n = n;
}

static ss_status add_best(figure *f, const curve *c, ss_plot_series s)
{
    const ss_trajectory_step *step = c->chain->step;
    uint32_t changes = 2;
    ss_time best = c->chain->start_cost;
    for (uint32_t i = 0; i < c->chain->steps; i++) {
        changes += step[i].best != best;
        best = step[i].best;
    }
    double *x, *y;
    ss_status status = begin_series(f, changes, &s, &x, &y);
    if (status)
        return status;
    uint32_t n = 0;
    x[n] = 0;
    y[n++] = ss_time_seconds(best = c->chain->start_cost);
    for (uint32_t i = 0; i < c->chain->steps; i++) {
        if (step[i].best == best && i + 1 < c->chain->steps)
            continue;
        x[n] = x_of(f, &step[i]);
        y[n++] = ss_time_seconds(best = step[i].best);
    }
    f->series[f->n - 1].n = n;
    clip(f, x, y);
    return SS_OK;
}

static ss_status add_current(figure *f, const curve *c, ss_plot_series s)
{
    const ss_trajectory_step *step = c->chain->step;
    uint32_t steps = c->chain->steps, n = 0;
    uint64_t most = 4 * (uint64_t)(f->cells + 4);
    double *x, *y, first = x_of(f, &step[0]);
    ss_status status = begin_series(f, most < steps ? (uint32_t)most + 1 : steps + 1, &s, &x, &y);
    if (status)
        return status;
    first = first > 0 ? first : f->longest / 1e6;
    x[n] = 0;
    y[n++] = ss_time_seconds(c->chain->start_cost);
    for (uint32_t i = 0; i < steps;) {
        uint32_t last = i, least = i, greatest = i;
        while (last + 1 < steps &&
               column(f, x_of(f, &step[last + 1]), first) == column(f, x_of(f, &step[i]), first)) {
            last++;
            least = step[last].current < step[least].current ? last : least;
            greatest = step[last].current > step[greatest].current ? last : greatest;
        }
        for (uint32_t k = i; k <= last; k++)
            if (k == i || k == last || k == least || k == greatest) {
                x[n] = x_of(f, &step[k]);
                y[n++] = ss_time_seconds(step[k].current);
                f->drawn += is_inside(f, x[n - 1]);
            }
        i = last + 1;
    }
    for (uint32_t i = 0; i < steps; i++)
        f->values += is_inside(f, x_of(f, &step[i]));
    f->series[f->n - 1].n = n;
    clip(f, x, y);
    return SS_OK;
}

/* Pale ones first: what is drawn later lies above. */
static ss_status add_costs(figure *f)
{
    bool one = f->chains == 1;
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < f->chains; i++)
        s = add_current(f, &f->chain[i],
                        (ss_plot_series){.colour = i, .look = SS_PLOT_STEPS, .tone = SS_PLOT_PALE});
    for (uint32_t i = 0; !s && i < f->chains; i++)
        s = add_best(f, &f->chain[i],
                     (ss_plot_series){.label = one ? "best so far" : f->chain[i].label,
                                      .colour = i,
                                      .look = SS_PLOT_STEPS});
    if (s)
        return s;
    if (!one)
        f->series[f->n++] = (ss_plot_series){
            .label = "thick: best so far", .colour = SS_PLOT_NO_COLOUR, .look = SS_PLOT_STEPS};
    f->series[f->n++] = (ss_plot_series){.label = one ? "current cost" : "thin: current cost",
                                         .colour = one ? 0 : SS_PLOT_NO_COLOUR,
                                         .look = SS_PLOT_STEPS,
                                         .tone = SS_PLOT_PALE};
    return SS_OK;
}

static double share_of(const ss_trajectory_step *s, uint32_t panel)
{
    if (panel == 2)
        return s->tasks ? (double)s->visited / s->tasks : 0;
    return panel == 1 ? s->stopped : s->accepted;
}

/* The mean of the last `window` proposals, at the end of each column from the first full window on. */
static ss_status add_share(figure *f, const curve *c, uint32_t panel, ss_plot_series s)
{
    const ss_trajectory_step *step = c->chain->step;
    uint32_t steps = c->chain->steps, n = 0, window = f->window < steps ? f->window : steps;
    uint64_t most = (uint64_t)f->cells + 5;
    double *x, *y, sum = 0, first = x_of(f, &step[0]);
    ss_status status = begin_series(f, most < steps ? (uint32_t)most : steps, &s, &x, &y);
    if (status)
        return status;
    first = first > 0 ? first : f->longest / 1e6;
    for (uint32_t i = 0; i < steps; i++) {
        sum += share_of(&step[i], panel);
        if (i >= window)
            sum -= share_of(&step[i - window], panel);
        bool ends = i + 1 == steps ||
                    column(f, x_of(f, &step[i + 1]), first) != column(f, x_of(f, &step[i]), first);
        if (i + 1 < window || !ends)
            continue;
        x[n] = x_of(f, &step[i]);
        y[n++] = round(1e8 * sum / window) / 1e6; /* sums of rounded numbers stray */
    }
    f->series[f->n - 1].n = n;
    clip(f, x, y);
    return SS_OK;
}

static ss_status add_shares(figure *f)
{
    ss_status s = SS_OK;
    for (uint32_t panel = 0; panel < 3; panel++)
        for (uint32_t i = 0; !s && i < f->chains; i++)
            s = add_share(f, &f->chain[i], panel,
                          (ss_plot_series){.label = f->chains == 1 ? NULL : f->chain[i].label,
                                           .panel = panel,
                                           .colour = i,
                                           .look = SS_PLOT_LINES});
    return s;
}

/* ---------------------------------------------------------------------------------------- words */

static bool one_problem(const ss_plot_log *log, uint32_t logs)
{
    for (uint32_t i = 1; i < logs; i++)
        if (strcmp(log[i].view->model, log[0].view->model) ||
            strcmp(log[i].view->topology, log[0].view->topology))
            return false;
    return true;
}

/* What was found, as far as the logs know it. */
static void add_best_word(figure *f)
{
    char b[SS_QUANTITY_TEXT];
    ss_time best[2] = {SS_TIME_MAX, SS_TIME_MAX}; /* [1]: of chains that are walled */
    for (uint32_t i = 0; i < f->chains; i++) {
        const curve *c = &f->chain[i];
        ss_time least = best_of(c->chain);
        best[c->walled] = least < best[c->walled] ? least : best[c->walled];
    }
    if (best[0] == SS_TIME_MAX)
        ss_text_add(&f->title, "nothing accepted; a start's step is %s",
                    ss_plot_time(best[1], b, sizeof b));
    else
        ss_text_add(&f->title, "a %s of %s found", f->penalty ? "cost" : "step",
                    ss_plot_time(best[0], b, sizeof b));
}

static void add_words(figure *f, const ss_plot_log *log, uint32_t logs, ss_plot_search_kind kind)
{
    if (logs == 1 && log->label)
        ss_text_add(&f->title, "%.*s: ", NAME, log->label);
    if (one_problem(log, logs))
        ss_text_add(&f->title, "%.*s on %.*s: ", NAME, log[0].view->model, NAME,
                    log[0].view->topology);
    else
        ss_text_add(&f->title, "%u searches of several problems: ", logs);
    add_best_word(f);
    ss_text *note = f->note;
    if (kind == SS_PLOT_COST && f->drawn < f->values)
        ss_text_add(note++,
                    "Of current costs %llu of %llu are drawn: the first, least, greatest and last "
                    "of each column.",
                    (unsigned long long)f->drawn, (unsigned long long)f->values);
    if (f->left_out)
        ss_text_add(note++, "Not shown: %u chain%s that found no less.", f->left_out,
                    ss_plural(f->left_out));
    if (f->not_begun)
        ss_text_add(note++, "%u chain%s made no proposal.", f->not_begun, ss_plural(f->not_begun));
    ss_text_add(&f->axis, "mean of %u proposals", f->window);
}

static ss_status words_status(figure *f, uint32_t *notes)
{
    ss_status s = ss_text_status(&f->title, f->err);
    if (!s)
        s = ss_text_status(&f->axis, f->err);
    for (*notes = 0; !s && *notes < 3 && f->note[*notes].n; ++*notes) {
        f->notes[*notes] = ss_text_get(&f->note[*notes]);
        s = ss_text_status(&f->note[*notes], f->err);
    }
    return s;
}

/* ---------------------------------------------------------------------------------- the figures */

static ss_status check(const ss_plot_log *log, uint32_t logs, ss_plot_search_kind kind,
                       const ss_plot_search_options *so, ss_error *err)
{
    if (!logs)
        return ss_fail(err, SS_EINVAL, "a figure of a search needs a log");
    if (so->max_chains > SS_PLOT_MAX_CHAINS)
        return ss_fail(err, SS_EINVAL,
                       "%u chains in one figure: at most %d can be drawn over each other",
                       so->max_chains, SS_PLOT_MAX_CHAINS);
    if (kind == SS_PLOT_ACCEPTANCE && so->log_y)
        return ss_fail(err, SS_EINVAL,
                       "shares may be 0, so their axis cannot be logarithmic: only x can");
    if (kind == SS_PLOT_COST && so->window)
        return ss_fail(err, SS_EINVAL,
                       "a window of %u proposals: costs are drawn as they are, only shares are "
                       "means of a window",
                       so->window);
    uint32_t longest = 0;
    for (uint32_t i = 0; i < logs; i++)
        for (uint32_t k = 0; k < log[i].view->chains; k++)
            longest = log[i].view->chain[k].steps > longest ? log[i].view->chain[k].steps : longest;
    if (longest && so->window > longest)
        return ss_fail(err, SS_EINVAL, "a window of %u proposals: the longest chain has %u",
                       so->window, longest);
    return SS_OK;
}

static double end_at(ss_plot_end end, double otherwise)
{
    return end.given ? end.at : otherwise;
}

static ss_status make_table(figure *f, const ss_plot_log *log, uint32_t logs,
                            ss_plot_search_kind kind, ss_text *out)
{
    static const char *const shares[] = {"accepted (% of proposals)",
                                         "stopped early (% of proposals)",
                                         "simulated (% of all tasks)"};
    static const char *const none[] = {""};
    bool costs = kind == SS_PLOT_COST;
    uint32_t notes = 0;
    ss_status s = list_chains(f, log, logs);
    if (s)
        return s;
    measure(f);
    s = check_window(f);
    if (s)
        return s;
    s = costs ? add_costs(f) : add_shares(f);
    if (s)
        return s;
    add_words(f, log, logs, kind);
    s = words_status(f, &notes);
    if (s)
        return s;
    const ss_plot_search_options *so = f->so;
    uint32_t log_x = so->log_x ? 10 : 0;
    ss_plot_axis x = {"proposals", NULL, log_x, end_at(so->from_x, NAN), end_at(so->to_x, NAN)};
    if (so->seconds) {
        x.name = "wall-clock time";
        x.unit = "s";
    }
    ss_plot_axis cost = {f->penalty ? "cost: step time and penalty" : "step time", "s",
                         so->log_y ? 10 : 0, end_at(so->from_y, NAN), end_at(so->to_y, NAN)};
    ss_plot_axis share = {ss_text_get(&f->axis), NULL, 0, end_at(so->from_y, -3),
                          end_at(so->to_y, 103)}; /* lines at 0 and 100 are seen */
    ss_plot_curves c = {.figure = ss_plot_search_kind_name(kind),
                        .title = ss_text_get(&f->title),
                        .x = x,
                        .y = costs ? cost : share,
                        .panel = costs ? none : shares,
                        .panels = costs ? 1 : 3,
                        .columns = 1,
                        .zero_at_left = true,
                        .series = f->series,
                        .n = f->n,
                        .note = f->notes,
                        .notes = notes};
    return ss_plot_curves_data(&c, out, f->err);
}

ss_status ss_plot_search_data(const ss_plot_log *log, uint32_t logs, ss_plot_search_kind kind,
                              const ss_plot_search_options *so, const ss_plot_options *o,
                              ss_text *out, ss_error *err)
{
    ss_status s = ss_plot_check_width(o, err);
    if (!s)
        s = check(log, logs, kind, so, err);
    if (s)
        return s;
    figure *f = ss_alloc_zeroed(1, sizeof *f);
    if (!f)
        return ss_fail_memory(err, "a figure", sizeof *f);
    f->so = so;
    f->err = err;
    f->cells = ss_plot_cells(o);
    s = make_table(f, log, logs, kind, out);
    ss_arena_free(&f->arena);
    ss_text_free(&f->title);
    ss_text_free(&f->axis);
    for (int i = 0; i < 3; i++)
        ss_text_free(&f->note[i]);
    ss_free(f);
    return s;
}

ss_status ss_plot_search(const ss_plot_log *log, uint32_t logs, ss_plot_search_kind kind,
                         const char *path, const ss_plot_search_options *so,
                         const ss_plot_options *o, ss_error *err)
{
    ss_text table = {0};
    const char *script = ss_plot_search_kind_name(kind);
    ss_status s = ss_plot_check(script, path, o, err);
    if (!s)
        s = ss_plot_search_data(log, logs, kind, so, o, &table, err);
    if (!s)
        s = ss_plot_draw(script, &table, path, o, err);
    ss_text_free(&table);
    return s;
}
