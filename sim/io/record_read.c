#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "io/h5.h"
#include "io/record.h"
#include "io/record_layout.h"
#include "io/trajectory.h"

/* "data, expert and 3 more" */
static void list_names(const ss_names *names, ss_text *out)
{
    enum { SHOWN = 8 };
    for (uint32_t i = 1; i <= names->n && i <= SHOWN; i++)
        ss_text_add(out, "%s\"%s\"", i > 1 ? ", " : "", ss_names_text(names, i));
    if (names->n > SHOWN)
        ss_text_add(out, " and %u more", names->n - SHOWN);
}

/* What a record has several of, and where. */
typedef struct kind_of_thing {
    const char *one, *several, *above;
} kind_of_thing;

static const kind_of_thing timelines = {"timeline", "timelines", "timeline"};
static const kind_of_thing strategies = {"strategy", "strategies", "strategies"};

static ss_status no_such(ss_h5 *f, const kind_of_thing *k, const ss_names *names, const char *name,
                         ss_error *err)
{
    ss_text all = {0};
    list_names(names, &all);
    const char *near = name ? ss_names_nearest(names, name) : NULL;
    ss_status s;
    if (!names->n)
        s = ss_fail(err, SS_ENOTFOUND, "%s holds no %s", ss_h5_path(f), k->one);
    else if (!name)
        s = ss_fail(err, SS_EINVAL, "%s holds %u %s, so say which: %s", ss_h5_path(f), names->n,
                    k->several, ss_text_get(&all));
    else if (near)
        s = ss_fail(err, SS_ENOTFOUND, "%s holds no %s \"%s\"; did you mean \"%s\"?", ss_h5_path(f),
                    k->one, name, near);
    else
        s = ss_fail(err, SS_ENOTFOUND, "%s holds no %s \"%s\"; it holds %s", ss_h5_path(f), k->one,
                    name, ss_text_get(&all));
    ss_text_free(&all);
    return s;
}

/* The group of the thing that is asked for, or of the best that a search found, or of the only one. */
static ss_status find(ss_h5 *f, const kind_of_thing *k, const char *name, char *group, size_t n,
                      ss_error *err)
{
    ss_names names = {0};
    ss_status s = SS_OK;
    if (ss_h5_has(f, k->above))
        s = ss_h5_list(f, k->above, &names, err);
    if (!name && k == &strategies && ss_names_find(&names, "best"))
        name = "best";
    if (!s && (name ? !ss_names_find(&names, name) : names.n != 1))
        s = no_such(f, k, &names, name, err);
    if (!s)
        snprintf(group, n, "%s/%s", k->above, name ? name : ss_names_text(&names, 1));
    ss_names_free(&names);
    return s;
}

/* Reading into a view that is not yet anybody's. */
typedef struct reading {
    ss_h5 *f;
    const char *group;
    ss_view v;
} reading;

static ss_status get_rows(reading *r, const ss_record_table *t, uint32_t before, void **row,
                          uint32_t *rows, ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    snprintf(at, sizeof at, "%s/%s", r->group, t->group);
    return ss_h5_get_table(r->f, at, t->field, t->fields, t->stride, before, &r->v.arena, row, rows,
                           err);
}

static ss_status get_names(reading *r, ss_error *err)
{
    const char *const name[] = {"model", "topology", "strategy", "assumptions"};
    const char **const value[] = {&r->v.model, &r->v.topology, &r->v.strategy, &r->v.assumptions};
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < 4; i++)
        s = ss_h5_get_text(r->f, r->group, name[i], &r->v.arena, value[i], err);
    return s;
}

static ss_status get_summary(reading *r, ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    const ss_record_table *t = &ss_record_summary;
    snprintf(at, sizeof at, "%s/%s", r->group, t->group);
    ss_status s = ss_h5_get_values(r->f, at, t->field, t->fields, &r->v.arena, &r->v, err);
    void *moved = NULL;
    uint32_t rows = 0;
    if (!s)
        s = get_rows(r, &ss_record_moved, 0, &moved, &rows, err);
    for (uint32_t i = 0; !s && i < rows; i++) {
        const ss_record_moved_row *m = (const ss_record_moved_row *)moved + i;
        r->v.moved[m->cargo] += m->bytes;
    }
    return s;
}

/* A table that is there only where something changed on the way. */
static ss_status get_if_there(reading *r, const ss_record_table *table, void **rows, uint32_t *n,
                              ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    snprintf(at, sizeof at, "%s/%s", r->group, table->group);
    return ss_h5_has(r->f, at) ? get_rows(r, table, 0, rows, n, err) : SS_OK;
}

static ss_status get_changed(reading *r, ss_error *err)
{
    void *stretch = NULL, *event = NULL;
    ss_status s = get_if_there(r, &ss_record_changed, &stretch, &r->v.stretches, err);
    if (!s)
        s = get_if_there(r, &ss_record_events, &event, &r->v.events, err);
    r->v.stretch = stretch;
    r->v.event = event;
    return s;
}

static ss_status get_tables(reading *r, ss_error *err)
{
    void *lane = NULL, *task = NULL, *more = NULL, *held = NULL, *edge = NULL;
    ss_view *v = &r->v;
    ss_status s = get_rows(r, &ss_record_lanes, 1, &lane, &v->lanes, err);
    if (!s)
        s = get_rows(r, &ss_record_tasks, 1, &task, &v->tasks, err);
    if (!s)
        s = get_rows(r, &ss_record_more, 0, &more, &v->mores, err);
    if (!s)
        s = get_rows(r, &ss_record_memory, 0, &held, &v->helds, err);
    if (!s)
        s = get_rows(r, &ss_record_edges, 0, &edge, &v->edges, err);
    if (!s)
        s = get_changed(r, err);
    if (s)
        return s;
    v->lane = lane;
    v->task = task;
    v->more = more;
    v->held = held;
    v->edge = edge;
    s = ss_record_check_view(v, SS_EFORMAT, err);
    if (s)
        ss_fail_in(err, "%s: /%s", ss_h5_path(r->f), r->group);
    return s;
}

ss_status ss_record_read_timeline(const char *path, const char *name_or_null, ss_view *out,
                                  ss_error *err)
{
    char group[SS_RECORD_PATH];
    reading r = {NULL, group, {.model = NULL}};
    ss_status s = ss_h5_open(path, &r.f, err);
    if (s)
        return ss_trajectory_name_repair(path, s, err);
    s = ss_h5_check_format(r.f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s)
        s = find(r.f, &timelines, name_or_null, group, sizeof group, err);
    if (!s)
        s = get_summary(&r, err);
    if (!s)
        s = get_names(&r, err);
    if (!s)
        s = get_tables(&r, err);
    ss_h5_close(r.f);
    if (s)
        ss_arena_free(&r.v.arena);
    else
        *out = r.v;
    return s;
}

static ss_status parse(ss_h5 *f, const char *group, const ss_model *m, const ss_topology *t,
                       ss_strategy_loading *l, ss_strategy **out, ss_error *err)
{
    ss_arena a = {0};
    ss_text name = {0};
    const char *text = NULL;
    ss_status s = ss_h5_get_values(f, group, &ss_record_strategy_file, 1, &a, &text, err);
    ss_text_add(&name, "%s: /%s/file", ss_h5_path(f), group);
    if (!s)
        s = ss_text_status(&name, err);
    if (!s)
        s = ss_strategy_parse(text, strlen(text), ss_text_get(&name), m, t, l, out, err);
    ss_text_free(&name);
    ss_arena_free(&a);
    return s;
}

/* The log of a search that did not end: its only strategies are those that it started from. */
static bool lacks_best(ss_h5 *f)
{
    return ss_h5_has(f, "search") && !ss_h5_has(f, "strategies/best");
}

ss_status ss_record_read_strategy(const char *path, const char *name_or_null, const ss_model *m,
                                  const ss_topology *t, ss_strategy_loading *l, char *found,
                                  ss_strategy **out, ss_error *err)
{
    char group[SS_RECORD_PATH];
    ss_h5 *f;
    ss_status s = ss_h5_open(path, &f, err);
    if (s)
        return ss_trajectory_name_repair(path, s, err);
    s = ss_h5_check_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s && lacks_best(f) && (!name_or_null || !strcmp(name_or_null, "best"))) {
        ss_h5_close(f);
        snprintf(found, SS_RECORD_NAME + 1, "best");
        return ss_trajectory_read_best(path, m, t, l, out, err);
    }
    if (!s)
        s = find(f, &strategies, name_or_null, group, sizeof group, err);
    if (!s)
        s = parse(f, group, m, t, l, out, err);
    if (!s)
        snprintf(found, SS_RECORD_NAME + 1, "%s", strchr(group, '/') + 1);
    ss_h5_close(f);
    return s;
}
