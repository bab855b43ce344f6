#include "config.h"

#include "io/trajectory.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "io/trajectory_inside.h"

enum {
    ROWS_AT_ONCE = 1 << 16, /* that wait before they go into the tables */
    LINES_BYTES = 1 << 18,  /* of the journal that wait */
    PAGES_BYTES = 64 << 20, /* that wait for a commit */
    COMMIT_SHARE = 20       /* a commit takes up to this part of the time between two */
};
static const double commit_every_s = 0.5; /* unless the inputs say something else */

bool ss_log_is_broken(const ss_trajectory *t)
{
    return t->broken.status != SS_OK;
}

/* After a failure nothing more is recorded: what is in memory may be half of something. */
static ss_status broke(ss_trajectory *t, ss_status why, ss_error *err)
{
    if (ss_log_is_broken(t))
        return why;
    (void)ss_journal_write(&t->journal, NULL);
    if (err)
        t->broken = *err;
    t->broken.status = why;
    size_t n = strlen(t->broken.text);
    snprintf(t->broken.text + n, sizeof t->broken.text - n,
             "; what was recorded before is kept, and comes into the file with \"soapstone repair "
             "%s\"",
             t->path);
    if (err)
        *err = t->broken;
    return why;
}

static ss_status refuse_broken(const ss_trajectory *t, ss_error *err)
{
    if (err)
        *err = t->broken;
    return t->broken.status;
}

/* -------------------------------------------------------------------------------------- chains */

static void name_of_chain(const ss_trajectory *t, uint32_t chain, char *group, size_t n)
{
    ss_log_group(t->chain[chain].name, SS_LOG_STEPS, group, n);
}

ss_status ss_log_open_chain(ss_trajectory *t, uint32_t chain, ss_error *err)
{
    ss_log_chain *c = &t->chain[chain];
    char group[SS_LOG_PATH];
    ss_status s = SS_OK;
    for (uint32_t k = 0; !s && k < SS_LOG_TABLES; k++) {
        const ss_record_table *table = &ss_log_table[k];
        ss_log_group(c->name, (ss_log_kind)k, group, sizeof group);
        s = ss_h5_grow_open(t->f, group, table->field, table->fields, table->stride,
                            &c->rows[k].table, err);
    }
    c->begun = !s;
    return s;
}

ss_status ss_log_begin_chain(ss_trajectory *t, uint32_t chain, ss_time cost, double beta_per_s,
                             ss_error *err)
{
    ss_log_chain *c = &t->chain[chain];
    char group[SS_LOG_PATH];
    ss_status s = SS_OK;
    for (uint32_t k = 0; !s && k < SS_LOG_TABLES; k++) {
        const ss_record_table *table = &ss_log_table[k];
        ss_log_group(c->name, (ss_log_kind)k, group, sizeof group);
        s = ss_h5_grow_make(t->f, group, table->field, table->fields, err);
        if (!s)
            s = ss_h5_put_text(t->f, group, "long_name", table->long_name, err);
    }
    name_of_chain(t, chain, group, sizeof group);
    if (!s)
        s = ss_h5_put_u64(t->f, group, "chain", chain + 1, err);
    if (!s)
        s = ss_h5_put_text(t->f, group, "start", c->start, err);
    if (!s)
        s = ss_h5_put_u64(t->f, group, "start_cost", (uint64_t)cost, err);
    if (!s)
        s = ss_h5_put_f64(t->f, group, "beta", beta_per_s, err);
    if (!s)
        s = ss_h5_put_u64(t->f, group, "seed", t->seed, err);
    c->start_cost = cost;
    c->beta_per_s = beta_per_s;
    return s ? s : ss_log_open_chain(t, chain, err);
}

ss_status ss_log_go_on_chain(ss_trajectory *t, uint32_t chain, ss_error *err)
{
    char group[SS_LOG_PATH];
    if (!t->chain[chain].ended)
        return SS_OK;
    name_of_chain(t, chain, group, sizeof group);
    t->chain[chain].ended = false;
    return ss_h5_drop_attribute(t->f, group, "end", err);
}

ss_status ss_log_end_chain(ss_trajectory *t, uint32_t chain, uint32_t why, ss_error *err)
{
    char group[SS_LOG_PATH];
    name_of_chain(t, chain, group, sizeof group);
    ss_status s = ss_log_go_on_chain(t, chain, err);
    if (!s)
        s = ss_h5_put_text(t->f, group, "end", ss_search_end_name((ss_search_end)why), err);
    t->chain[chain].ended = true;
    return s;
}

/* ---------------------------------------------------------------------------------------- sink */

ss_status ss_log_commit(ss_trajectory *t, ss_error *err)
{
    double began = ss_seconds_now();
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < t->chains; i++)
        s = ss_log_settle(&t->chain[i], err);
    if (!s)
        s = ss_h5_flush(t->f, err);
    if (!s)
        s = ss_pages_commit(t->pages, &t->journal, err);
    if (s)
        return broke(t, s, err);
    t->committed_at = ss_seconds_now();
    t->commit_took = t->committed_at - began;
    t->uncommitted = false;
    return SS_OK;
}

static bool is_time_to_commit(const ss_trajectory *t)
{
    double wait = COMMIT_SHARE * t->commit_took;
    if (wait < commit_every_s)
        wait = commit_every_s;
    if (t->in.commit_every_s > 0)
        wait = t->in.commit_every_s;
    return ss_pages_waiting(t->pages) > PAGES_BYTES ||
           (t->uncommitted && ss_seconds_now() - t->committed_at >= wait);
}

static ss_status sink_flush(void *context, ss_error *err)
{
    ss_trajectory *t = context;
    if (ss_log_is_broken(t))
        return refuse_broken(t, err);
    ss_status s = ss_journal_write(&t->journal, err);
    if (s)
        return broke(t, s, err);
    return is_time_to_commit(t) ? ss_log_commit(t, err) : SS_OK;
}

static ss_status sink_begin(void *context, uint32_t chain, const ss_strategy *start, ss_time cost,
                            double beta_per_s, ss_error *err)
{
    (void)start;
    ss_trajectory *t = context;
    if (ss_log_is_broken(t))
        return refuse_broken(t, err);
    if (chain >= t->chains)
        return ss_fail(err, SS_EINVAL, "%s is for %u chains, and chain %u begins", t->path,
                       t->chains, chain + 1);
    ss_log_chain *c = &t->chain[chain];
    if (c->begun && (c->start_cost != cost || c->beta_per_s != beta_per_s))
        return ss_fail(
            err, SS_EINVAL,
            "%s is of another search: chain %s started at %.17g s with beta %.17g /s, and "
            "now at %.17g s with beta %.17g /s",
            t->path, c->name, ss_time_seconds(c->start_cost), c->beta_per_s, ss_time_seconds(cost),
            beta_per_s);
    if (c->begun)
        return SS_OK;
    ss_status s = ss_log_line_begin(&t->journal, chain, cost, beta_per_s, err);
    if (!s)
        s = ss_log_begin_chain(t, chain, cost, beta_per_s, err);
    if (s)
        return broke(t, s, err);
    t->uncommitted = true;
    return SS_OK;
}

/* The row of a configuration; a new one is recorded. */
static ss_status intern(ss_trajectory *t, uint32_t chain, const ss_choice *choice, uint32_t *row,
                        ss_error *err)
{
    ss_log_chain *c = &t->chain[chain];
    const ss_config *config = &choice->config;
    uint32_t next = ss_log_count(c, SS_LOG_CONFIGURATIONS) + 1;
    *row = ss_log_seen_find(&c->seen, choice->op.i, config->degree, &config->device->i,
                            config->parts, next);
    if (*row)
        return SS_OK;
    ss_log_configuration own = {.op = choice->op.i,
                                .parts = config->parts,
                                .first_device = ss_log_count(c, SS_LOG_DEVICES)};
    memcpy(own.degree, config->degree, sizeof own.degree);
    ss_log_add(c, SS_LOG_CONFIGURATIONS, &own, 1);
    ss_log_add(c, SS_LOG_DEVICES, config->device, config->parts);
    *row = next;
    ss_status s = ss_log_line_rows(&t->journal, SS_LOG_CONFIGURATIONS, chain, &own, 1, err);
    return s ? s
             : ss_log_line_rows(&t->journal, SS_LOG_DEVICES, chain, config->device, config->parts,
                                err);
}

static ss_status reserve(ss_log_chain *c, const ss_step *step, ss_error *err)
{
    uint64_t devices = 0;
    for (uint32_t i = 0; i < step->ops; i++)
        devices += (uint64_t)step->from[i].config.parts + step->to[i].config.parts;
    if (devices > UINT32_MAX / 2)
        return ss_fail(err, SS_ERANGE, "a proposal has %llu parts, too many for a log",
                       (unsigned long long)devices);
    ss_status s = ss_log_reserve(c, SS_LOG_STEPS, 1, err);
    if (!s)
        s = ss_log_reserve(c, SS_LOG_CONFIGURATIONS, 2 * step->ops, err);
    if (!s)
        s = ss_log_reserve(c, SS_LOG_DEVICES, (uint32_t)devices, err);
    if (!s)
        s = ss_log_reserve(c, SS_LOG_SEVERAL, step->ops, err);
    return s ? s : ss_log_seen_reserve(&c->seen, 2 * step->ops, err);
}

static ss_status add_choices(ss_trajectory *t, uint32_t chain, const ss_step *step,
                             ss_log_step *row, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < step->ops; i++) {
        ss_log_several one = {.step = (uint32_t)step->step, .op = step->to[i].op.i};
        s = intern(t, chain, &step->from[i], &one.old, err);
        if (!s)
            s = intern(t, chain, &step->to[i], &one.new, err);
        if (!i) {
            row->old = one.old;
            row->new = one.new;
        }
        if (s || step->ops == 1)
            continue;
        ss_log_add(&t->chain[chain], SS_LOG_SEVERAL, &one, 1);
        s = ss_log_line_rows(&t->journal, SS_LOG_SEVERAL, chain, &one, 1, err);
    }
    return s;
}

static ss_status add_step(ss_trajectory *t, uint32_t chain, const ss_step *step, ss_error *err)
{
    ss_log_step row = {.op = step->ops ? step->op : 0,
                       .ops = step->ops,
                       .reach = (uint8_t)step->reach,
                       .move = (uint8_t)step->move,
                       .proposed = step->proposed,
                       .current = step->current,
                       .best = step->best,
                       .accepted = step->accepted,
                       .stopped = step->stopped,
                       .infeasible = step->infeasible,
                       .fell_back = step->fell_back,
                       .log_hastings = step->log_hastings,
                       .uniform = step->uniform,
                       .tasks = step->tasks,
                       .touched = step->touched,
                       .visited = step->visited,
                       .changed = step->changed,
                       .wallclock_s = step->wall_s};
    ss_status s = add_choices(t, chain, step, &row, err);
    if (!s)
        s = ss_log_line_rows(&t->journal, SS_LOG_STEPS, chain, &row, 1, err);
    if (!s)
        ss_log_add(&t->chain[chain], SS_LOG_STEPS, &row, 1);
    return s;
}

static ss_status sink_step(void *context, uint32_t chain, const ss_step *step, ss_error *err)
{
    ss_trajectory *t = context;
    if (ss_log_is_broken(t))
        return refuse_broken(t, err);
    if (chain >= t->chains || !t->chain[chain].begun)
        return ss_fail(err, SS_EINVAL, "%s: a step of chain %u, which has not begun", t->path,
                       chain + 1);
    ss_log_chain *c = &t->chain[chain];
    uint32_t known = ss_log_count(c, SS_LOG_STEPS);
    if (step->step != (uint64_t)known + 1)
        return ss_fail(err, SS_EINVAL, "%s: step %llu of chain %s after %u steps", t->path,
                       (unsigned long long)step->step, c->name, known);
    ss_status s = reserve(c, step, err);
    if (!s)
        s = ss_log_go_on_chain(t, chain, err);
    if (!s)
        s = add_step(t, chain, step, err);
    t->uncommitted = true;
    if (!s && c->rows[SS_LOG_STEPS].n >= ROWS_AT_ONCE)
        s = ss_log_settle(c, err);
    if (!s && t->journal.line_at >= LINES_BYTES)
        s = ss_journal_write(&t->journal, err);
    if (s)
        return broke(t, s, err);
    return ss_pages_waiting(t->pages) > PAGES_BYTES ? ss_log_commit(t, err) : SS_OK;
}

static ss_status sink_end(void *context, uint32_t chain, ss_search_end why, ss_error *err)
{
    ss_trajectory *t = context;
    if (ss_log_is_broken(t))
        return refuse_broken(t, err);
    if (chain >= t->chains || !t->chain[chain].begun)
        return ss_fail(err, SS_EINVAL, "%s: chain %u ends, which has not begun", t->path,
                       chain + 1);
    ss_status s = ss_log_line_end(&t->journal, chain, (uint32_t)why, err);
    if (!s)
        s = ss_log_end_chain(t, chain, (uint32_t)why, err);
    if (s)
        return broke(t, s, err);
    t->uncommitted = true;
    return SS_OK;
}

ss_search_sink ss_trajectory_sink(ss_trajectory *t)
{
    return (ss_search_sink){t, sink_begin, sink_step, sink_flush, sink_end};
}

/* -------------------------------------------------------------------------------------- closing */

static ss_status put_best(ss_trajectory *t, const ss_strategy *best, ss_error *err)
{
    struct ss_record r = {t->f};
    ss_status s = ss_h5_drop(t->f, "strategies/best", err);
    return s ? s : ss_record_strategy(&r, "best", best, err);
}

ss_status ss_trajectory_close(ss_trajectory *t, const ss_strategy *best_or_null, ss_error *err)
{
    ss_status s = ss_log_is_broken(t) ? refuse_broken(t, err) : SS_OK;
    if (!s && best_or_null && (s = put_best(t, best_or_null, err)))
        s = broke(t, s, err);
    if (!s)
        s = ss_log_commit(t, err);
    if (!s) {
        ss_pages_trim(t->pages);
        ss_journal_remove(&t->journal);
    }
    ss_log_free(t);
    return s;
}
