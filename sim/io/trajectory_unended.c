/* trajectory_unended.c - the log of a search that did not end: who may not replace it, and what it
 * found until then. */
#include "config.h"

#include <unistd.h>

#include "io/trajectory_inside.h"

bool ss_trajectory_can_go_on(const char *options)
{
    return !ss_trajectory_has_option(options, "searcher = exhaustive");
}

/* -------------------------------------------------------------------------------- not replaced */

/* What the file itself says; nothing where it cannot be read, which others tell better. */
typedef struct account {
    bool unended; /* a chain has begun and not ended */
    bool can_go_on;
} account;

static ss_status read_account(ss_h5 *f, ss_arena *a, account *out, ss_error *err)
{
    const ss_record_table *table = &ss_log_starts;
    const char *options = "";
    char group[SS_LOG_PATH];
    void *row = NULL;
    uint32_t rows = 0;
    ss_status s = ss_h5_check_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (s || !ss_log_is_in(f))
        return s;
    s = ss_h5_get_text(f, "search", "options", a, &options, err);
    if (!s)
        s = ss_h5_get_table(f, table->group, table->field, table->fields, table->stride, 0, a, &row,
                            &rows, err);
    out->can_go_on = ss_trajectory_can_go_on(options);
    for (uint32_t i = 0; !s && i < rows; i++) {
        ss_log_group(((const ss_log_start *)row)[i].name, SS_LOG_STEPS, group, sizeof group);
        out->unended |= ss_h5_has(f, group) && !ss_h5_has_attribute(f, group, "end");
    }
    return s;
}

static ss_status look_inside(const char *path, account *out, ss_error *err)
{
    ss_arena a = {0};
    ss_h5 *f = NULL;
    ss_error reason;
    *out = (account){.can_go_on = true};
    ss_status s = ss_h5_open(path, &f, &reason);
    if (!s)
        s = read_account(f, &a, out, &reason);
    ss_h5_close(f);
    ss_arena_free(&a);
    return s == SS_ENOMEM ? ss_fail(err, s, "%s", reason.text) : SS_OK;
}

ss_status ss_log_refuse_killed(const char *path, ss_error *err)
{
    account is;
    ss_status s = look_inside(path, &is, err);
    return s ? s
             : ss_fail(err, SS_EINVAL,
                       "%s is the log of a search that was killed: %smake the file whole with "
                       "\"soapstone repair %s\" and keep it under another name",
                       path, is.can_go_on ? "resume it, or " : "", path);
}

ss_status ss_log_refuse_unended(const char *path, ss_error *err)
{
    account is;
    ss_status s = look_inside(path, &is, err);
    if (s || !is.unended)
        return s;
    return ss_fail(err, SS_EINVAL,
                   "%s is the log of a search that did not end: %skeep it under another name, or "
                   "remove it",
                   path, is.can_go_on ? "resume it, " : "");
}

ss_status ss_trajectory_check_ended(const char *path, ss_error *err)
{
    if (access(path, F_OK))
        return SS_OK;
    switch (ss_trajectory_look(path)) {
    case SS_TRAJECTORY_KILLED:
        return ss_log_refuse_killed(path, err);
    case SS_TRAJECTORY_BEING_WRITTEN:
        return ss_fail(err, SS_EIO,
                       "%s is being written by another soapstone: it is the log of a search", path);
    default:
        return ss_log_refuse_unended(path, err);
    }
}

/* -------------------------------------------------------------------------------- what it found */

/* What was accepted is what was better: of an exhaustive search nothing else is. */
static ss_status take_accepted(ss_trajectory *t, ss_strategy *best, ss_error *err)
{
    ss_search_past past = ss_trajectory_past(t);
    const ss_choice *to = NULL;
    uint64_t step = 0;
    uint32_t n = 0;
    ss_time cost;
    for (;;) {
        ss_status s = past.accepted(past.context, 0, step, &step, &to, &n, &cost, err);
        if (s || !step)
            return s;
        for (uint32_t k = 0; !s && k < n; k++)
            s = ss_strategy_set(best, to[k].op, to[k].config.degree, SS_MAX_DIMS,
                                to[k].config.device, to[k].config.parts, err);
        if (s)
            return ss_fail_in(err, "%s: step %llu", t->path, (unsigned long long)step);
    }
}

static ss_status read_best(ss_trajectory *t, const ss_model *m, const ss_topology *topology,
                           ss_strategy_loading *l, ss_strategy **out, ss_error *err)
{
    const char *options = "";
    char group[SS_LOG_PATH], found[SS_RECORD_NAME + 1];
    ss_status s = ss_h5_open(t->path, &t->f, err);
    if (!s)
        s = ss_h5_get_text(t->f, "search", "options", &t->arena, &options, err);
    if (!s && ss_trajectory_can_go_on(options))
        return ss_fail(err, SS_ENOTFOUND,
                       "%s is the log of a search that has not ended, and holds no best strategy "
                       "yet: resume it, or name one of its starts",
                       t->path);
    if (!s && l && l->by_name)
        return ss_fail(err, SS_EINVAL,
                       "%s is the log of a search that did not end: its best so far is loaded for "
                       "the model and topology that it is of, not by name",
                       t->path);
    if (!s)
        s = ss_log_read_starts(t, err);
    if (s)
        return s;
    ss_log_group(t->chain[0].name, SS_LOG_STEPS, group, sizeof group);
    t->chain[0].begun = ss_h5_has(t->f, group);
    ss_strategy *best = NULL;
    s = ss_record_read_strategy(t->path, t->chain[0].name, m, topology, l, found, &best, err);
    if (!s)
        s = take_accepted(t, best, err);
    if (s)
        ss_strategy_free(best);
    else
        *out = best;
    return s;
}

ss_status ss_trajectory_read_best(const char *path, const ss_model *m, const ss_topology *topology,
                                  ss_strategy_loading *l, ss_strategy **out, ss_error *err)
{
    ss_trajectory *t;
    ss_status s = ss_log_blank(path, &t, err);
    if (s)
        return s;
    s = read_best(t, m, topology, l, out, err);
    ss_log_free(t);
    return s;
}
