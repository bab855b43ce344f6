/* search_log.h - a log of a search in memory: the sink that fills it, the past that it is for a
 * resume, and what must be true of every row. */
#ifndef SS_SEARCH_LOG_H
#define SS_SEARCH_LOG_H

#include <math.h>

#include "check.h"
#include "search/rows.h"
#include "search/search.h"
#include "search/threshold.h"

enum { LOG_CHAINS = 8 };

typedef struct log_chain {
    ss_rows rows;
    uint64_t begun, ended;
    ss_time start;
    double beta;
    ss_search_end why;
} log_chain;

typedef struct search_log {
    log_chain chain[LOG_CHAINS];
    uint64_t steps, flushes;
    uint64_t fail_at; /* the sink fails at this step of all; 0: never */
    uint64_t keep;    /* the past knows so many steps of each chain; 0: all */
} search_log;

static inline ss_status log_begin(void *context, uint32_t chain, const ss_strategy *start,
                                  ss_time cost, double beta, ss_error *e)
{
    search_log *log = context;
    (void)start, (void)e;
    log->chain[chain].begun++;
    log->chain[chain].start = cost;
    log->chain[chain].beta = beta;
    return SS_OK;
}

static inline ss_status log_step(void *context, uint32_t chain, const ss_step *step, ss_error *e)
{
    search_log *log = context;
    if (++log->steps == log->fail_at)
        return ss_fail(e, SS_EIO, "the disk is full at step %llu", (unsigned long long)step->step);
    return ss_rows_add(&log->chain[chain].rows, step, e);
}

static inline ss_status log_flush(void *context, ss_error *e)
{
    (void)e;
    ((search_log *)context)->flushes++;
    return SS_OK;
}

static inline ss_status log_end(void *context, uint32_t chain, ss_search_end why, ss_error *e)
{
    log_chain *c = &((search_log *)context)->chain[chain];
    (void)e;
    c->ended++;
    c->why = why;
    return SS_OK;
}

static inline ss_search_sink log_sink(search_log *log)
{
    return (ss_search_sink){log, log_begin, log_step, log_flush, log_end};
}

static inline void log_free(search_log *log)
{
    for (int i = 0; i < LOG_CHAINS; i++)
        ss_rows_free(&log->chain[i].rows);
    *log = (search_log){0};
}

static inline uint32_t log_known(const search_log *log, uint32_t chain)
{
    uint32_t n = log->chain[chain].rows.n;
    return log->keep && log->keep < n ? (uint32_t)log->keep : n;
}

static inline ss_status log_accepted(void *context, uint32_t chain, uint64_t after, uint64_t *step,
                                     const ss_choice **to, uint32_t *n, ss_time *cost, ss_error *e)
{
    const search_log *log = context;
    (void)e;
    *step = 0;
    for (uint32_t i = 0; i < log_known(log, chain); i++) {
        const ss_step *row = &log->chain[chain].rows.row[i];
        if (row->step <= after || !row->accepted)
            continue;
        *step = row->step;
        *to = row->to;
        *n = row->ops;
        *cost = row->proposed;
        break;
    }
    return SS_OK;
}

static inline ss_status log_last(void *context, uint32_t chain, ss_search_left *out, ss_error *e)
{
    const search_log *log = context;
    double shares = 0;
    ss_time best = log->chain[chain].start;
    (void)e;
    *out = (ss_search_left){0};
    for (uint32_t i = 0; i < log_known(log, chain); i++) {
        const ss_step *row = &log->chain[chain].rows.row[i];
        bool descends = row->reach == SS_REACH_DESCENT;
        out->steps = row->step;
        out->seconds = row->wall_s;
        if (row->best != best) {
            best = row->best;
            out->best_step = row->step;
            out->best_seconds = row->wall_s;
        }
        out->descended += descends;
        out->descending = descends ? out->descending + 1 : 0;
        out->stopped += row->stopped;
        out->infeasible += row->infeasible;
        out->fell_back += row->fell_back;
        shares += row->tasks ? (double)row->visited / row->tasks : 0;
    }
    out->visited_share = out->steps ? shares / (double)out->steps : 0;
    return SS_OK;
}

static inline ss_search_past log_past(search_log *log)
{
    return (ss_search_past){log, log_accepted, log_last};
}

static inline bool log_same_choices(const ss_choice *a, const ss_choice *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].op.i != b[i].op.i || !ss_config_same(&a[i].config, &b[i].config))
            return false;
    return true;
}

/* All but the clock; with `bounds`, one of the two may have stopped early where the other did not. */
static inline bool log_same_row(const ss_step *a, const ss_step *b, bool bounds)
{
    bool cost = a->proposed == b->proposed && a->stopped == b->stopped &&
                a->visited == b->visited && a->changed == b->changed;
    if (bounds && a->stopped != b->stopped)
        cost = !a->accepted && (a->stopped ? a->proposed < b->proposed : b->proposed < a->proposed);
    return cost && a->step == b->step && a->reach == b->reach && a->move == b->move &&
           a->op == b->op && a->ops == b->ops && log_same_choices(a->from, b->from, a->ops) &&
           log_same_choices(a->to, b->to, a->ops) && a->current == b->current &&
           a->best == b->best && a->log_hastings == b->log_hastings && a->uniform == b->uniform &&
           a->accepted == b->accepted && a->tasks == b->tasks;
}

/* The first row of `from` and later in which they differ, from 1; 0: none. */
static inline uint64_t log_differs(const ss_rows *a, uint32_t from, const ss_rows *b, bool bounds)
{
    for (uint32_t i = 0; from + i < a->n || i < b->n; i++)
        if (from + i >= a->n || i >= b->n || !log_same_row(&a->row[from + i], &b->row[i], bounds))
            return i + 1;
    return 0;
}

/* What follows from the rows before, for walks by mcmc; 0, or the row that does not. */
static inline uint64_t log_breaks_rule(const log_chain *c)
{
    ss_time current = c->start, best = c->start;
    for (uint32_t i = 0; i < c->rows.n; i++) {
        const ss_step *row = &c->rows.row[i];
        ss_time bound = ss_threshold(row->uniform, row->log_hastings, c->beta, current);
        bool accepted = row->ops && !row->stopped && row->proposed <= bound;
        if (row->reach == SS_REACH_DESCENT)
            accepted = row->ops && !row->stopped &&
                       (row->proposed < current || (row->accepted && row->proposed == best));
        current = accepted ? row->proposed : current;
        best = current < best ? current : best;
        if (row->step != i + 1 || row->accepted != accepted || row->current != current ||
            row->best != best)
            return i + 1;
    }
    return 0;
}

#endif
