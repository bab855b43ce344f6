/* trajectory_make.c - a new log of a search, and an old one for the same search. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "io/file.h"
#include "io/trajectory_inside.h"

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
    if (access(path, F_OK))
        return SS_OK;
    return ss_journal_read(&r, content) ? ss_log_refuse_killed(path, err)
                                        : ss_log_refuse_unended(path, err);
}

/* In the words of a file that cannot be written, before a journal is made beside it. */
static ss_status check_path(const char *path, ss_error *err)
{
    ss_file f;
    struct stat is;
    if (!stat(path, &is) && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
        return ss_fail(err, SS_EINVAL, "cannot write %s: a log is a regular file", path);
    ss_status s = ss_file_begin(path, &f, err);
    if (!s)
        ss_file_abandon(&f);
    return s;
}

static ss_status create(ss_trajectory *t, const ss_trajectory_inputs *in, const ss_text *content,
                        ss_error *err)
{
    uint64_t id = new_id(in), found = 0;
    ss_status s = refuse_unended(t->path, content, err);
    if (!s)
        s = ss_record_check_place(t->path, err);
    if (!s)
        s = ss_journal_cut(&t->journal, 0, SS_HASH_START, err);
    if (!s)
        s = write_base(t->path, in, id, err);
    if (!s)
        s = ss_log_open_file(t, &found, err);
    return s ? s : ss_journal_begin(&t->journal, id, err);
}

ss_status ss_trajectory_create(const char *path, const ss_trajectory_inputs *in,
                               ss_trajectory **out, ss_error *err)
{
    ss_trajectory *t = NULL;
    ss_text content = {0};
    ss_status s = in->starts ? ss_log_blank(path, &t, err)
                             : ss_fail(err, SS_EINVAL, "%s: a search without a start", path);
    bool had_journal = ss_journal_look(path) != SS_JOURNAL_NONE;
    if (!s)
        s = check_path(path, err);
    if (!s)
        s = ss_journal_open(path, &t->journal, &content, err);
    if (!s) {
        s = create(t, in, &content, err);
        if (s && !had_journal)
            ss_journal_remove(&t->journal);
    }
    ss_text_free(&content);
    if (s) {
        ss_log_free(t);
        return s;
    }
    t->in = *in;
    t->committed_at = ss_seconds_now();
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
    return s ? s : ss_log_commit(t, err);
}

ss_status ss_trajectory_resume(const char *path, const ss_trajectory_inputs *in,
                               ss_trajectory **out, ss_error *err)
{
    ss_log_recovery found;
    ss_trajectory *t;
    ss_status s = ss_log_open(path, &t, &found, err);
    if (s)
        return s;
    s = go_on(t, in, err);
    if (s) {
        if (!ss_log_is_broken(t))
            ss_journal_remove(&t->journal); /* all of it is in the file */
        ss_log_free(t);
        return s;
    }
    t->in = *in;
    *out = t;
    return SS_OK;
}
