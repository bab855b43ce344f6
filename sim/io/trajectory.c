#include "config.h"

#include "io/trajectory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/trajectory_inside.h"

enum {
    ROWS_AT_ONCE = 1 << 16, /* that wait before they go into the tables */
    LINES_BYTES = 1 << 18,  /* of the journal that wait */
    PAGES_BYTES = 64 << 20, /* that wait for a commit */
    COMMIT_SHARE = 20       /* a commit takes up to this part of the time between two */
};
static const double commit_every_s = 0.5;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_killed_in(const ss_trajectory *t)
{
    return t->broken.status != SS_OK;
}

/* After a failure nothing more is recorded: what is in memory may be half of something. */
static ss_status broke(ss_trajectory *t, ss_error *err)
{
    ss_error own = {0};
    ss_error *e = err ? err : &own;
    if (!is_killed_in(t)) {
        (void)ss_journal_write(&t->journal, NULL);
        t->broken = *e;
        size_t n = strlen(t->broken.text);
        snprintf(t->broken.text + n, sizeof t->broken.text - n,
                 "; what was recorded before is kept, and comes into the file with \"soapstone "
                 "repair %s\"",
                 t->path);
    }
    *e = t->broken;
    return t->broken.status;
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

static ss_status commit(ss_trajectory *t, ss_error *err)
{
    double began = seconds_now();
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < t->chains; i++)
        s = ss_log_settle(&t->chain[i], err);
    if (!s)
        s = ss_h5_flush(t->f, err);
    if (!s)
        s = ss_pages_commit(t->pages, &t->journal, err);
    if (s)
        return broke(t, err);
    t->committed_at = seconds_now();
    t->commit_took = t->committed_at - began;
    t->uncommitted = false;
    return SS_OK;
}

static bool is_time_to_commit(const ss_trajectory *t)
{
    double wait = COMMIT_SHARE * t->commit_took;
    if (ss_pages_waiting(t->pages) > PAGES_BYTES)
        return true;
    return t->uncommitted &&
           seconds_now() - t->committed_at >= (wait > commit_every_s ? wait : commit_every_s);
}

static ss_status sink_flush(void *context, ss_error *err)
{
    ss_trajectory *t = context;
    if (is_killed_in(t))
        return refuse_broken(t, err);
    if (ss_journal_write(&t->journal, err))
        return broke(t, err);
    return is_time_to_commit(t) ? commit(t, err) : SS_OK;
}

static ss_status sink_begin(void *context, uint32_t chain, const ss_strategy *start, ss_time cost,
                            double beta_per_s, ss_error *err)
{
    (void)start;
    ss_trajectory *t = context;
    if (is_killed_in(t))
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
    if (ss_log_line_begin(&t->journal, chain, cost, beta_per_s, err) ||
        ss_log_begin_chain(t, chain, cost, beta_per_s, err))
        return broke(t, err);
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
    if (is_killed_in(t))
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
        return broke(t, err);
    return ss_pages_waiting(t->pages) > PAGES_BYTES ? commit(t, err) : SS_OK;
}

static ss_status sink_end(void *context, uint32_t chain, ss_search_end why, ss_error *err)
{
    ss_trajectory *t = context;
    if (is_killed_in(t))
        return refuse_broken(t, err);
    if (chain >= t->chains || !t->chain[chain].begun)
        return ss_fail(err, SS_EINVAL, "%s: chain %u ends, which has not begun", t->path,
                       chain + 1);
    if (ss_log_line_end(&t->journal, chain, (uint32_t)why, err) ||
        ss_log_end_chain(t, chain, (uint32_t)why, err))
        return broke(t, err);
    t->uncommitted = true;
    return SS_OK;
}

ss_search_sink ss_trajectory_sink(ss_trajectory *t)
{
    return (ss_search_sink){t, sink_begin, sink_step, sink_flush, sink_end};
}

/* --------------------------------------------------------------------------- opening and closing */

static void forget(ss_trajectory *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->chains; i++)
        ss_log_chain_free(&t->chain[i]);
    ss_free(t->chain);
    ss_h5_close(t->f);
    ss_pages_free(t->pages);
    ss_journal_close(&t->journal);
    ss_log_past_free(t->past);
    ss_arena_free(&t->arena);
    ss_free(t->path);
    ss_free(t);
}

static ss_status blank(const char *path, ss_trajectory **out, ss_error *err)
{
    ss_trajectory *t = ss_alloc_zeroed(1, sizeof *t);
    if (t) {
        t->journal.fd = -1;
        t->path = ss_strdup(path);
    }
    if (!t || !t->path) {
        forget(t);
        return ss_fail_memory(err, "the log of a search", sizeof *t);
    }
    *out = t;
    return SS_OK;
}

/* The rows of /starts. */
static ss_status read_starts(ss_trajectory *t, ss_error *err)
{
    const ss_record_table *table = &ss_log_starts;
    void *row = NULL;
    uint32_t rows = 0;
    ss_status s = ss_h5_get_table(t->f, table->group, table->field, table->fields, table->stride, 0,
                                  &t->arena, &row, &rows, err);
    if (!s && !(t->chain = ss_alloc_zeroed(rows, sizeof *t->chain)))
        s = ss_fail_memory(err, "the chains of a log", rows * sizeof *t->chain);
    for (uint32_t i = 0; !s && i < rows; i++) {
        const ss_log_start *start = (const ss_log_start *)row + i;
        t->chain[i].name = start->name;
        t->chain[i].start = start->start;
        t->chains = i + 1;
    }
    return s;
}

static ss_status open_begun_chains(ss_trajectory *t, ss_error *err)
{
    char group[SS_LOG_PATH];
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < t->chains; i++) {
        ss_log_chain *c = &t->chain[i];
        uint64_t cost = 0;
        name_of_chain(t, i, group, sizeof group);
        if (!ss_h5_has(t->f, group))
            continue;
        s = ss_h5_get_u64(t->f, group, "start_cost", &cost, err);
        if (!s)
            s = ss_h5_get_f64(t->f, group, "beta", &c->beta_per_s, err);
        c->start_cost = (ss_time)cost;
        c->ended = ss_h5_has_attribute(t->f, group, "end");
        if (!s)
            s = ss_log_open_chain(t, i, err);
    }
    return s;
}

/* The file, which its journal (if it says anything) has made whole. */
static ss_status open_file(ss_trajectory *t, uint64_t *id, ss_error *err)
{
    ss_status s = ss_pages_open(t->path, &t->pages, err);
    if (!s)
        s = ss_h5_reopen(t->path, t->pages, &t->f, err);
    if (!s)
        s = ss_h5_check_format(t->f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s && !ss_log_is_in(t->f))
        s = ss_fail(err, SS_EFORMAT, "%s is a record, but no log of a search", t->path);
    if (!s)
        s = ss_h5_get_u64(t->f, "search", "wallclock_id", id, err);
    if (!s)
        s = ss_h5_get_u64(t->f, "search", "seed", &t->seed, err);
    if (!s)
        s = read_starts(t, err);
    return s ? s : open_begun_chains(t, err);
}

/* What opening an old log did. */
typedef struct recovery {
    uint64_t rows;
    uint32_t pages;
    uint64_t journal_bytes, cut_bytes;
    bool no_file;
} recovery;

static ss_status bring_in(ss_trajectory *t, const ss_text *content, recovery *found, ss_error *err)
{
    ss_journal_reader first, r;
    uint64_t id = 0;
    bool says = ss_journal_read(&first, content);
    r = first;
    ss_status s = says ? ss_pages_redo(t->path, &r, &found->pages, err) : SS_OK;
    if (!s)
        s = open_file(t, &id, err);
    if (!s && says && first.id != id)
        s = ss_fail(err, SS_EFORMAT,
                    "%s.journal belongs to another file of that name: move it away, and %s can be "
                    "opened",
                    t->path, t->path);
    if (!s && !says)
        return ss_journal_begin(&t->journal, id, err);
    if (!s)
        s = ss_log_replay(t, &r, &found->rows, err);
    found->journal_bytes = content->n;
    found->cut_bytes = content->n - r.bytes;
    if (!s)
        s = ss_journal_go_on(&t->journal, &first, &r, err);
    return s ? s : commit(t, err);
}

static ss_status open_old(const char *path, ss_trajectory **out, recovery *found, ss_error *err)
{
    ss_trajectory *t = NULL;
    ss_text content = {0};
    *found = (recovery){.no_file = access(path, F_OK) != 0};
    if (found->no_file)
        return ss_fail(err, SS_ENOTFOUND, "cannot read %s: there is no such file", path);
    bool had_journal = ss_journal_look(path) != 0;
    ss_status s = blank(path, &t, err);
    if (!s)
        s = ss_journal_open(path, &t->journal, &content, err);
    if (!s)
        s = bring_in(t, &content, found, err);
    ss_text_free(&content);
    if (s && t && !had_journal)
        ss_journal_remove(&t->journal);
    if (s)
        forget(t);
    else
        *out = t;
    return s;
}

/* ------------------------------------------------------------------------------------- creating */

static bool is_taken(const ss_log_start *start, uint32_t n, const char *name)
{
    bool taken = !strcmp(name, "best"); /* that of the end */
    for (uint32_t i = 0; i < n; i++)
        taken = taken || !strcmp(start[i].name, name);
    return taken;
}

/* Chains are named after their starts, those of equal name with a number. */
static ss_status name_chains(const ss_trajectory_inputs *in, ss_arena *a, ss_log_start *start,
                             ss_error *err)
{
    for (uint32_t i = 0; i < in->starts; i++) {
        size_t n = strlen(in->start[i].name) + 16;
        char *name = ss_arena_take(a, n);
        if (!name)
            return ss_fail_memory(err, "the name of a chain", n);
        snprintf(name, n, "%s", in->start[i].name);
        for (uint32_t k = 2; is_taken(start, i, name); k++)
            snprintf(name, n, "%s_%u", in->start[i].name, k);
        start[i] = (ss_log_start){name, in->start[i].name};
    }
    return SS_OK;
}

static ss_status put_search(ss_record *r, const ss_trajectory_inputs *in, uint64_t id,
                            ss_error *err)
{
    ss_status s = ss_h5_put_group(r->h5, "search", err);
    if (!s)
        s = ss_h5_put_text(r->h5, "search", "options", in->options ? in->options : "", err);
    if (!s)
        s = ss_h5_put_text(r->h5, "search", "limits", in->limits ? in->limits : "", err);
    if (!s)
        s = ss_h5_put_u64(r->h5, "search", "seed", in->seed, err);
    return s ? s : ss_h5_put_u64(r->h5, "search", "wallclock_id", id, err);
}

static ss_status put_inputs(ss_record *r, const ss_trajectory_inputs *in, uint64_t id,
                            ss_error *err)
{
    ss_arena a = {0};
    ss_log_start *start = ss_arena_take(&a, (in->starts + 1) * sizeof *start);
    ss_status s = start ? name_chains(in, &a, start, err)
                        : ss_fail_memory(err, "the chains of a log", in->starts * sizeof *start);
    if (!s)
        s = ss_record_model(r, in->model, err);
    if (!s)
        s = ss_record_topology(r, in->topology, err);
    for (uint32_t i = 0; !s && i < in->starts; i++)
        s = ss_record_strategy(r, start[i].name, in->start[i].strategy, err);
    if (!s)
        s = put_search(r, in, id, err);
    if (!s)
        s = ss_h5_put_table(r->h5, ss_log_starts.group, ss_log_starts.field, ss_log_starts.fields,
                            start, ss_log_starts.stride, in->starts, err);
    if (!s)
        s = ss_h5_put_text(r->h5, ss_log_starts.group, "long_name", ss_log_starts.long_name, err);
    ss_arena_free(&a);
    return s;
}

/* A log without a row, whole or not at all. */
static ss_status write_base(const char *path, const ss_trajectory_inputs *in, uint64_t id,
                            ss_error *err)
{
    ss_record *r;
    ss_status s = ss_record_create(path, in->manifest, &r, err);
    if (s)
        return s;
    s = put_inputs(r, in, id, err);
    if (!s)
        return ss_record_finish(r, err);
    ss_record_abandon(r);
    return s;
}

/* Tells this log from another one of the same name; the same of all under SOURCE_DATE_EPOCH. */
static uint64_t new_id(const ss_trajectory_inputs *in)
{
    struct timespec now = {0};
    uint64_t h = ss_hash_u64(SS_HASH_START, in->seed);
    if (getenv("SOURCE_DATE_EPOCH"))
        return h;
    clock_gettime(CLOCK_REALTIME, &now);
    h = ss_hash_u64(h, (uint64_t)now.tv_sec);
    h = ss_hash_u64(h, (uint64_t)now.tv_nsec);
    return ss_hash_u64(h, (uint64_t)getpid());
}

static ss_status refuse_unended(const char *path, const ss_text *content, ss_error *err)
{
    ss_journal_reader r;
    if (access(path, F_OK) || !ss_journal_read(&r, content))
        return SS_OK;
    return ss_fail(
        err, SS_EINVAL,
        "%s is the log of a search that was killed: resume it, or make the file whole with "
        "\"soapstone repair %s\" and keep it under another name",
        path, path);
}

static ss_status create(ss_trajectory *t, const ss_trajectory_inputs *in, const ss_text *content,
                        ss_error *err)
{
    uint64_t id = new_id(in), found = 0;
    ss_status s = refuse_unended(t->path, content, err);
    if (!s)
        s = ss_journal_cut(&t->journal, 0, SS_HASH_START, err);
    if (!s)
        s = write_base(t->path, in, id, err);
    if (!s)
        s = open_file(t, &found, err);
    return s ? s : ss_journal_begin(&t->journal, id, err);
}

ss_status ss_trajectory_create(const char *path, const ss_trajectory_inputs *in,
                               ss_trajectory **out, ss_error *err)
{
    ss_trajectory *t = NULL;
    ss_text content = {0};
    ss_status s = in->starts ? blank(path, &t, err)
                             : ss_fail(err, SS_EINVAL, "%s: a search without a start", path);
    bool had_journal = ss_journal_look(path) != 0;
    if (!s)
        s = ss_journal_open(path, &t->journal, &content, err);
    if (!s) {
        s = create(t, in, &content, err);
        if (s && !had_journal)
            ss_journal_remove(&t->journal);
    }
    ss_text_free(&content);
    if (s) {
        forget(t);
        return s;
    }
    t->in = *in;
    t->committed_at = seconds_now();
    *out = t;
    return SS_OK;
}

/* ------------------------------------------------------------------------------------- resuming */

/* The first line in which two texts of options differ. */
static ss_status other_options(const ss_trajectory *t, const char *was, const char *is,
                               ss_error *err)
{
    size_t line = 0;
    for (size_t i = 0; was[i] && was[i] == is[i]; i++)
        if (was[i] == '\n')
            line = i + 1;
    was += line;
    is += line;
    return ss_fail(err, SS_EINVAL,
                   "%s is the log of a search with other options: it has \"%.*s\", and now it is "
                   "\"%.*s\"",
                   t->path, (int)strcspn(was, "\n"), was, (int)strcspn(is, "\n"), is);
}

static ss_status check_options(ss_trajectory *t, const ss_trajectory_inputs *in, ss_error *err)
{
    const char *options = in->options ? in->options : "", *was = "";
    ss_status s = ss_h5_get_text(t->f, "search", "options", &t->arena, &was, err);
    if (!s && strcmp(was, options) != 0)
        s = other_options(t, was, options, err);
    if (!s && t->seed != in->seed)
        s = ss_fail(err, SS_EINVAL, "%s is the log of a search with seed %llu, and now it is %llu",
                    t->path, (unsigned long long)t->seed, (unsigned long long)in->seed);
    return s;
}

static ss_status check_starts(ss_trajectory *t, const ss_trajectory_inputs *in, ss_error *err)
{
    char found[SS_RECORD_NAME + 1];
    if (t->chains != in->starts)
        return ss_fail(err, SS_EINVAL,
                       "%s is the log of a search from %u start%s, and now there %s %u", t->path,
                       t->chains, ss_plural(t->chains), in->starts == 1 ? "is" : "are", in->starts);
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < in->starts; i++) {
        ss_strategy_loading how = {.by_name = false};
        ss_strategy *was = NULL;
        if (strcmp(t->chain[i].start, in->start[i].name) != 0)
            return ss_fail(err, SS_EINVAL,
                           "%s is the log of a search whose start %u is \"%s\", and now it is "
                           "\"%s\"",
                           t->path, i + 1, t->chain[i].start, in->start[i].name);
        s = ss_record_read_strategy(t->path, t->chain[i].name, in->model, in->topology, &how, found,
                                    &was, err);
        if (!s && !ss_strategy_same(was, in->start[i].strategy))
            s = ss_fail(err, SS_EINVAL,
                        "%s is the log of a search whose start \"%s\" is another strategy: compare "
                        "it with /strategies/%s of the log",
                        t->path, in->start[i].name, t->chain[i].name);
        ss_strategy_free(was);
    }
    return s;
}

static ss_status go_on(ss_trajectory *t, const ss_trajectory_inputs *in, ss_error *err)
{
    ss_status s = check_options(t, in, err);
    if (!s)
        s = check_starts(t, in, err);
    for (uint32_t i = 0; !s && i < t->chains; i++)
        if (t->chain[i].begun)
            s = ss_log_seen_read(t->f, &t->chain[i], err);
    if (!s)
        s = ss_h5_drop_attribute(t->f, "search", "limits", err);
    if (!s)
        s = ss_h5_put_text(t->f, "search", "limits", in->limits ? in->limits : "", err);
    return s ? s : commit(t, err);
}

ss_status ss_trajectory_resume(const char *path, const ss_trajectory_inputs *in,
                               ss_trajectory **out, ss_error *err)
{
    recovery found;
    ss_trajectory *t;
    ss_status s = open_old(path, &t, &found, err);
    if (s)
        return s;
    s = go_on(t, in, err);
    if (s) {
        if (!is_killed_in(t))
            ss_journal_remove(&t->journal); /* all of it is in the file */
        forget(t);
        return s;
    }
    t->in = *in;
    *out = t;
    return SS_OK;
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
    ss_status s = is_killed_in(t) ? refuse_broken(t, err) : SS_OK;
    if (!s && best_or_null && put_best(t, best_or_null, err))
        s = broke(t, err);
    if (!s)
        s = commit(t, err);
    if (!s) {
        ss_pages_trim(t->pages);
        ss_journal_remove(&t->journal);
    }
    forget(t);
    return s;
}

/* ---------------------------------------------------------------------------------------- repair */

static ss_status repair_whole(const char *path, ss_text *report, ss_error *err)
{
    ss_h5 *f;
    ss_status s = ss_h5_open(path, &f, err);
    if (s == SS_EFORMAT)
        ss_fail_in(err, "there is no %s.journal to repair it from", path);
    if (s)
        return s;
    ss_h5_close(f);
    ss_text_add(report, "%s is whole: there is nothing to repair\n", path);
    return ss_text_status(report, err);
}

static void tell(const char *path, const recovery *found, ss_text *report)
{
    if (found->pages)
        ss_text_add(report, "%s: a commit was finished (%u page%s)\n", path, found->pages,
                    ss_plural(found->pages));
    ss_text_add(report, "%s: %llu row%s came from the journal\n", path,
                (unsigned long long)found->rows, ss_plural(found->rows));
    if (found->cut_bytes)
        ss_text_add(report, "%s: the last %llu byte%s of the journal were half of a row\n", path,
                    (unsigned long long)found->cut_bytes, ss_plural(found->cut_bytes));
    ss_text_add(report, "%s is whole\n", path);
}

ss_status ss_trajectory_repair(const char *path, ss_text *report, ss_error *err)
{
    if (!ss_journal_look(path))
        return repair_whole(path, report, err);
    recovery found;
    ss_trajectory *t;
    ss_status s = open_old(path, &t, &found, err);
    if (!s)
        s = ss_trajectory_close(t, NULL, err);
    if (s)
        return s;
    tell(path, &found, report);
    return ss_text_status(report, err);
}

ss_trajectory_state ss_trajectory_look(const char *path)
{
    static const ss_trajectory_state state[] = {SS_TRAJECTORY_CLOSED, SS_TRAJECTORY_KILLED,
                                                SS_TRAJECTORY_BEING_WRITTEN};
    return state[ss_journal_look(path)];
}
