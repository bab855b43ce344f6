/* trajectory_open.c - the log of a search that is there already: opened to go on, or repaired. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/trajectory_inside.h"

void ss_log_free(ss_trajectory *t)
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

ss_status ss_log_blank(const char *path, ss_trajectory **out, ss_error *err)
{
    ss_trajectory *t = ss_alloc_zeroed(1, sizeof *t);
    if (t) {
        t->journal.fd = -1;
        t->path = ss_strdup(path);
    }
    if (!t || !t->path) {
        ss_log_free(t);
        return ss_fail_memory(err, "the log of a search", sizeof *t);
    }
    *out = t;
    return SS_OK;
}

ss_status ss_log_read_starts(ss_trajectory *t, ss_error *err)
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
        ss_log_group(c->name, SS_LOG_STEPS, group, sizeof group);
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
ss_status ss_log_open_file(ss_trajectory *t, uint64_t *id, ss_error *err)
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
        s = ss_log_read_starts(t, err);
    return s ? s : open_begun_chains(t, err);
}

static ss_status bring_in(ss_trajectory *t, const ss_text *content, ss_log_recovery *found,
                          ss_error *err)
{
    ss_journal_reader first, r;
    uint64_t id = 0;
    bool says = ss_journal_read(&first, content);
    r = first;
    ss_status s = says ? ss_pages_redo(t->path, &r, &found->pages, err) : SS_OK;
    if (!s)
        s = ss_log_open_file(t, &id, err);
    if (!s && says && first.id != id)
        s = ss_fail(err, SS_EFORMAT,
                    "%s.journal belongs to another file of that name: move it away, and %s can be "
                    "opened",
                    t->path, t->path);
    if (!s && !says)
        return ss_journal_begin(&t->journal, id, err);
    if (!s)
        s = ss_log_replay(t, &r, &found->rows, err);
    found->cut_bytes = content->n - r.bytes;
    if (!s)
        s = ss_journal_go_on(&t->journal, &first, &r, err);
    return s ? s : ss_log_commit(t, err);
}

ss_status ss_log_open(const char *path, ss_trajectory **out, ss_log_recovery *found, ss_error *err)
{
    ss_trajectory *t = NULL;
    ss_text content = {0};
    *found = (ss_log_recovery){0};
    if (access(path, F_OK))
        return ss_fail(err, SS_ENOTFOUND, "cannot read %s: there is no such file", path);
    bool had_journal = ss_journal_look(path) != SS_JOURNAL_NONE;
    ss_status s = ss_log_blank(path, &t, err);
    if (!s)
        s = ss_journal_open(path, &t->journal, &content, err);
    if (!s)
        s = bring_in(t, &content, found, err);
    ss_text_free(&content);
    if (s && t && !had_journal)
        ss_journal_remove(&t->journal);
    if (s)
        ss_log_free(t);
    else
        *out = t;
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

static void tell(const char *path, const ss_log_recovery *found, ss_text *report)
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
    if (ss_journal_look(path) == SS_JOURNAL_NONE)
        return repair_whole(path, report, err);
    ss_log_recovery found;
    ss_trajectory *t;
    ss_status s = ss_log_open(path, &t, &found, err);
    if (!s)
        s = ss_trajectory_close(t, NULL, err);
    if (s)
        return s;
    tell(path, &found, report);
    return ss_text_status(report, err);
}

ss_trajectory_state ss_trajectory_look(const char *path)
{
    switch (ss_journal_look(path)) {
    case SS_JOURNAL_LEFT:
        return SS_TRAJECTORY_KILLED;
    case SS_JOURNAL_HELD:
        return SS_TRAJECTORY_BEING_WRITTEN;
    default:
        return SS_TRAJECTORY_CLOSED;
    }
}
