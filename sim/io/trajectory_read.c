/* trajectory_read.c - the log of a search for plots and for people. */
#include "config.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/names.h"
#include "io/trajectory_inside.h"

#define FIELD(name, type, member)                                                                  \
    {                                                                                              \
        name, type, offsetof(ss_trajectory_step, member), NULL, NULL, NULL, 0, false               \
    }

static const ss_h5_field step_field[] = {
    FIELD("step", SS_H5_ROW, step),
    FIELD("operator", SS_H5_U32, op),
    FIELD("operators", SS_H5_U32, ops),
    FIELD("tasks", SS_H5_U32, tasks),
    FIELD("visited", SS_H5_U32, visited),
    FIELD("accepted", SS_H5_BOOL, accepted),
    FIELD("stopped", SS_H5_BOOL, stopped),
    FIELD("infeasible", SS_H5_BOOL, infeasible),
    FIELD("fell_back", SS_H5_BOOL, fell_back),
    FIELD("proposed", SS_H5_I64, proposed),
    FIELD("current", SS_H5_I64, current),
    FIELD("best", SS_H5_I64, best),
    FIELD("wallclock", SS_H5_F64, wallclock_s),
};
enum { STEP_FIELDS = sizeof step_field / sizeof step_field[0] };

static ss_status read_chain(ss_h5 *f, const ss_log_start *start, ss_trajectory_chain *c,
                            ss_arena *a, ss_error *err)
{
    char group[SS_LOG_PATH];
    uint64_t cost = 0;
    void *row = NULL;
    c->name = start->name;
    c->start = start->start;
    ss_log_group(c->name, SS_LOG_STEPS, group, sizeof group);
    if (!ss_h5_has(f, group)) /* it has not begun */
        return SS_OK;
    ss_status s = ss_h5_get_u64(f, group, "start_cost", &cost, err);
    if (!s)
        s = ss_h5_get_f64(f, group, "beta", &c->beta_per_s, err);
    if (!s)
        s = ss_h5_get_u64(f, group, "seed", &c->seed, err);
    if (!s && ss_h5_has_attribute(f, group, "end"))
        s = ss_h5_get_text(f, group, "end", a, &c->end, err);
    if (!s)
        s = ss_h5_get_table(f, group, step_field, STEP_FIELDS, sizeof *c->step, 0, a, &row,
                            &c->steps, err);
    c->start_cost = (ss_time)cost;
    c->step = row;
    return s;
}

static ss_status read_all(ss_h5 *f, ss_trajectory_view *v, ss_error *err)
{
    const ss_record_table *table = &ss_log_starts;
    const char *const object[] = {"search", "search", "model", "topology"};
    const char *const name[] = {"options", "limits", "name", "name"};
    const char **const value[] = {&v->options, &v->limits, &v->model, &v->topology};
    void *start = NULL;
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < 4; i++)
        s = ss_h5_get_text(f, object[i], name[i], &v->arena, value[i], err);
    if (!s)
        s = ss_h5_get_table(f, table->group, table->field, table->fields, table->stride, 0,
                            &v->arena, &start, &v->chains, err);
    size_t bytes = (v->chains + 1) * sizeof *v->chain;
    ss_trajectory_chain *chain = s ? NULL : ss_arena_take(&v->arena, bytes);
    if (!s && !chain)
        s = ss_fail_memory(err, "the chains of a log", bytes);
    if (chain)
        memset(chain, 0, bytes);
    for (uint32_t i = 0; !s && i < v->chains; i++)
        s = read_chain(f, (const ss_log_start *)start + i, &chain[i], &v->arena, err);
    v->chain = chain;
    return s;
}

bool ss_trajectory_has_option(const char *options, const char *line)
{
    size_t n = strlen(line);
    for (const char *at = options; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (!strncmp(at, line, n) && (at[n] == '\n' || !at[n]))
            return true;
    }
    return false;
}

ss_trajectory_tries ss_trajectory_begin_reading(const char *path)
{
    return (ss_trajectory_tries){.written =
                                     ss_trajectory_look(path) == SS_TRAJECTORY_BEING_WRITTEN};
}

bool ss_trajectory_read_again(const char *path, ss_status s, ss_trajectory_tries *t)
{
    enum { MOST_TRIES = 20 };
    static const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000}; /* a commit takes less */
    bool now = ss_trajectory_look(path) == SS_TRAJECTORY_BEING_WRITTEN;
    if (s != SS_EFORMAT || t->n >= MOST_TRIES || (!now && !t->written))
        return false;
    t->n++;
    t->written = now; /* when it has ended, once more is enough */
    nanosleep(&moment, NULL);
    return true;
}

ss_status ss_trajectory_name_repair(const char *path, ss_status s, ss_error *err)
{
    if (s != SS_EFORMAT || !err)
        return s;
    ss_error why = *err;
    switch (ss_trajectory_look(path)) {
    case SS_TRAJECTORY_KILLED:
        ss_fail(err, s, "%s (\"soapstone repair %s\" makes it whole)", why.text, path);
        break;
    case SS_TRAJECTORY_BEING_WRITTEN:
        ss_fail(err, s, "%s (a search is writing to it meanwhile: try again)", why.text);
        break;
    default:
        break;
    }
    return s;
}

ss_status ss_trajectory_read_once(const char *path, ss_trajectory_view *out, ss_error *err)
{
    ss_h5 *f;
    ss_trajectory_view v = {.chains = 0};
    ss_status s = ss_h5_open(path, &f, err);
    if (s)
        return s;
    s = ss_h5_check_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s && !ss_log_is_in(f))
        s = ss_fail(err, SS_EINVAL, "%s is a record, but no log of a search", path);
    if (!s)
        s = read_all(f, &v, err);
    ss_h5_close(f);
    if (s)
        ss_arena_free(&v.arena);
    else
        *out = v;
    return s;
}

ss_status ss_trajectory_read(const char *path, ss_trajectory_view *out, ss_error *err)
{
    ss_trajectory_tries tries = ss_trajectory_begin_reading(path);
    ss_status s;
    do
        s = ss_trajectory_read_once(path, out, err);
    while (ss_trajectory_read_again(path, s, &tries));
    return ss_trajectory_name_repair(path, s, err);
}
