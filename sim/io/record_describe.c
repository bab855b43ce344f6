#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/units.h"
#include "io/h5.h"
#include "io/measured_h5.h"
#include "io/record.h"
#include "io/record_layout.h"
#include "io/trajectory.h"

/* What is told of a timeline without reading its tables. */
typedef struct timeline {
    const char *name, *model, *topology, *strategy, *assumptions;
    uint32_t tasks, lanes;
    ss_view summary; /* only the single values of ss_record_summary are filled */
} timeline;

/* Everything that is told, so that the two ways of telling it say the same. */
typedef struct contents {
    const char *creator, *version, *command, *script, *start, *machine, *model, *topology;
    uint64_t format, seed;
    uint32_t operators, devices, links;
    ss_names strategies, files;
    timeline *timeline;
    uint32_t timelines;
    ss_trajectory_view search; /* without chains: of no search */
    ss_trajectory_state state; /* of the file, where it is the log of a search */
    ss_arena arena;
} contents;

/* One column is enough to know how many rows a table has. */
static ss_status count_rows(ss_h5 *f, const char *group, const char *table, const char *column,
                            uint32_t *rows, ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    ss_h5_field field = {column, SS_H5_U32, 0, NULL, NULL, NULL, 0, false};
    snprintf(at, sizeof at, "%s/%s", group, table);
    return ss_h5_rows(f, at, &field, 1, rows, err);
}

static ss_status get_attributes(ss_h5 *f, const char *object, const char *const *name,
                                const char **const *value, uint32_t n, ss_arena *a, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < n; i++)
        s = ss_h5_get_text(f, object, name[i], a, value[i], err);
    return s;
}

/* The clock's attributes are not there in a reproducible record. */
static ss_status get_optional(ss_h5 *f, const char *object, const char *name, ss_arena *a,
                              const char **value, ss_error *err)
{
    *value = "";
    return ss_h5_has_attribute(f, object, name) ? ss_h5_get_text(f, object, name, a, value, err)
                                                : SS_OK;
}

static ss_status get_manifest(ss_h5 *f, contents *c, ss_error *err)
{
    const char *const name[] = {"version", "command", "script_name"};
    const char **const value[] = {&c->version, &c->command, &c->script};
    ss_status s = get_attributes(f, "manifest", name, value, 3, &c->arena, err);
    if (!s)
        s = ss_h5_get_u64(f, "manifest", "seed", &c->seed, err);
    if (!s)
        s = ss_h5_get_u64(f, "/", "format", &c->format, err);
    if (!s)
        s = ss_h5_get_text(f, "/", "creator", &c->arena, &c->creator, err);
    if (!s)
        s = get_optional(f, "manifest", "wallclock_start", &c->arena, &c->start, err);
    return s ? s : get_optional(f, "manifest", "machine", &c->arena, &c->machine, err);
}

static ss_status get_files(ss_h5 *f, contents *c, ss_error *err)
{
    static const ss_h5_field name = {"name", SS_H5_TEXT, 0, NULL, NULL, NULL, 0, false};
    void *at = NULL;
    uint32_t rows = 0, id;
    if (!ss_h5_has(f, "manifest/files"))
        return SS_OK;
    ss_status s = ss_h5_get_table(f, "manifest/files", &name, 1, sizeof(const char *), 0, &c->arena,
                                  &at, &rows, err);
    for (uint32_t i = 0; !s && i < rows; i++)
        s = ss_names_add(&c->files, ((const char *const *)at)[i], &id, err);
    return s;
}

static ss_status get_inputs(ss_h5 *f, contents *c, ss_error *err)
{
    ss_status s = SS_OK;
    if (ss_h5_has(f, "model")) {
        s = ss_h5_get_text(f, "model", "name", &c->arena, &c->model, err);
        if (!s)
            s = count_rows(f, "model", "operators", "operator", &c->operators, err);
    }
    if (!s && ss_h5_has(f, "topology")) {
        s = ss_h5_get_text(f, "topology", "name", &c->arena, &c->topology, err);
        if (!s)
            s = count_rows(f, "topology", "devices", "device", &c->devices, err);
        if (!s)
            s = count_rows(f, "topology", "links", "link", &c->links, err);
    }
    if (!s && ss_h5_has(f, "strategies"))
        s = ss_h5_list(f, "strategies", &c->strategies, err);
    return s;
}

static ss_status get_timeline(ss_h5 *f, contents *c, const char *name, timeline *t, ss_error *err)
{
    char group[SS_RECORD_PATH], at[2 * SS_RECORD_PATH];
    const char *const attribute[] = {"model", "topology", "strategy", "assumptions"};
    const char **const value[] = {&t->model, &t->topology, &t->strategy, &t->assumptions};
    const ss_record_table *summary = &ss_record_summary;
    snprintf(group, sizeof group, "timeline/%s", name);
    snprintf(at, sizeof at, "%s/%s", group, summary->group);
    size_t n = strlen(name) + 1;
    char *copy = ss_arena_take(&c->arena, n);
    if (!copy)
        return ss_fail_memory(err, "the names of a record", n);
    t->name = memcpy(copy, name, n);
    ss_status s = get_attributes(f, group, attribute, value, 4, &c->arena, err);
    if (!s)
        s = ss_h5_get_values(f, at, summary->field, summary->fields, &c->arena, &t->summary, err);
    if (!s)
        s = count_rows(f, group, ss_record_tasks.group, "task", &t->tasks, err);
    return s ? s : count_rows(f, group, ss_record_lanes.group, "lane", &t->lanes, err);
}

static ss_status get_timelines(ss_h5 *f, contents *c, ss_error *err)
{
    ss_names names = {0};
    ss_status s = ss_h5_has(f, "timeline") ? ss_h5_list(f, "timeline", &names, err) : SS_OK;
    size_t bytes = sizeof *c->timeline * (names.n + 1);
    if (!s && !(c->timeline = ss_arena_take(&c->arena, bytes)))
        s = ss_fail_memory(err, "the timelines of a record", bytes);
    if (!s)
        memset(c->timeline, 0, bytes);
    for (uint32_t i = 1; !s && i <= names.n; i++)
        s = get_timeline(f, c, ss_names_text(&names, i), &c->timeline[c->timelines++], err);
    ss_names_free(&names);
    return s;
}

static double per_second(const timeline *t)
{
    return t->summary.step_time ? t->summary.samples / ss_time_seconds(t->summary.step_time) : 0;
}

/* What a chain did, counted. */
typedef struct tally {
    uint32_t accepted, stopped;
    uint64_t best_step;
    ss_time best;
    double seconds;
} tally;

static tally count(const ss_trajectory_chain *c)
{
    tally t = {.best = c->start_cost};
    for (uint32_t i = 0; i < c->steps; i++) {
        const ss_trajectory_step *s = &c->step[i];
        t.accepted += s->accepted;
        t.stopped += s->stopped;
        if (s->best != t.best)
            t.best_step = s->step;
        t.best = s->best;
        t.seconds = s->wallclock_s;
    }
    return t;
}

static const char *state_text(const contents *c, const ss_trajectory_chain *chain)
{
    if (c->state == SS_TRAJECTORY_KILLED)
        return "killed";
    if (chain->end)
        return chain->end;
    return c->state == SS_TRAJECTORY_BEING_WRITTEN ? "at work" : "did not end";
}

/* Of a log that was made whole after it was killed. */
static bool can_go_on(const contents *c)
{
    bool ended = true;
    for (uint32_t i = 0; i < c->search.chains; i++)
        ended &= c->search.chain[i].end != NULL;
    return !ended && c->state == SS_TRAJECTORY_CLOSED && ss_trajectory_can_go_on(c->search.options);
}

static void tell_search(const char *path, const contents *c, ss_text *out)
{
    for (uint32_t i = 0; i < c->search.chains; i++) {
        const ss_trajectory_chain *chain = &c->search.chain[i];
        char start[SS_QUANTITY_TEXT], best[SS_QUANTITY_TEXT], took[SS_QUANTITY_TEXT];
        tally t = count(chain);
        ss_text_add(out, "  search      %s: %u proposal%s, step %s -> %s (at proposal %llu)",
                    chain->name, chain->steps, ss_plural(chain->steps),
                    ss_format_time(chain->start_cost, start, sizeof start),
                    ss_format_time(t.best, best, sizeof best), (unsigned long long)t.best_step);
        if (chain->steps)
            ss_text_add(out, ", %.3g %% accepted, %s", 100.0 * t.accepted / chain->steps,
                        ss_format_quantity(t.seconds, SS_UNIT_SECONDS, took, sizeof took));
        ss_text_add(out, "; %s\n", state_text(c, chain));
    }
    if (c->search.chains && c->state == SS_TRAJECTORY_KILLED)
        ss_text_add(out,
                    "              the last rows are in %s.journal: \"soapstone repair %s\" brings "
                    "them in\n",
                    path, path);
    if (can_go_on(c))
        ss_text_add(out,
                    "              \"soapstone search --resume %s\", with the other options as "
                    "before, goes on with it\n",
                    path);
}

static void tell(const char *path, const contents *c, ss_text *out)
{
    ss_text_add(out, "%s: soapstone record, format %llu, by %s\n", path,
                (unsigned long long)c->format, c->creator);
    if (*c->command)
        ss_text_add(out, "  command     %s\n", c->command);
    if (*c->script)
        ss_text_add(out, "  script      %s (its text is in /manifest/script)\n", c->script);
    for (uint32_t i = 1; i <= c->files.n; i++)
        ss_text_add(out, "%s%s", i == 1 ? "  files       " : ", ", ss_names_text(&c->files, i));
    if (c->files.n)
        ss_text_add(out, " (%s in /manifest/files)\n",
                    c->files.n > 1 ? "their texts are" : "its text is");
    ss_text_add(out, "  seed        %llu\n", (unsigned long long)c->seed);
    if (*c->start)
        ss_text_add(out, "  written     %s on %s\n", c->start, c->machine);
    if (c->model)
        ss_text_add(out, "  model       %s, %u operator%s\n", c->model, c->operators,
                    ss_plural(c->operators));
    if (c->topology)
        ss_text_add(out, "  topology    %s, %u device%s, %u link%s\n", c->topology, c->devices,
                    ss_plural(c->devices), c->links, ss_plural(c->links));
    for (uint32_t i = 1; i <= c->strategies.n; i++)
        ss_text_add(out, "%s%s", i == 1 ? "  strategies  " : ", ",
                    ss_names_text(&c->strategies, i));
    if (c->strategies.n)
        ss_text_add(out, "\n");
    for (uint32_t i = 0; i < c->timelines; i++) {
        const timeline *t = &c->timeline[i];
        char step[SS_QUANTITY_TEXT], moved[SS_QUANTITY_TEXT];
        ss_text_add(out, "  timeline    %s: %s of %s on %s, step %s", t->name, t->strategy,
                    t->model, t->topology, ss_format_time(t->summary.step_time, step, sizeof step));
        if (t->summary.samples > 0)
            ss_text_add(out, ", %.6g samples/s", per_second(t));
        uint32_t devices = t->summary.devices, links = t->lanes - devices;
        ss_text_add(out, ", %s moved, %u task%s on %u device%s and %u link%s\n",
                    ss_format_quantity(t->summary.bytes_moved, SS_UNIT_BYTES, moved, sizeof moved),
                    t->tasks, ss_plural(t->tasks), devices, ss_plural(devices), links,
                    ss_plural(links));
        ss_text_add(out, "              %s\n", t->assumptions);
    }
    tell_search(path, c, out);
}

static void add_json(ss_text *out, const char *before, const char *value)
{
    ss_text_add(out, "%s", before);
    ss_text_add_json_string(out, value);
}

static void add_number(ss_text *out, const char *before, double value)
{
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "%s%s", before, ss_format_double(value, digits, sizeof digits));
}

static void tell_timeline_json(const timeline *t, ss_text *out)
{
    add_json(out, "\n    {\"name\": ", t->name);
    add_json(out, ", \"model\": ", t->model);
    add_json(out, ", \"topology\": ", t->topology);
    add_json(out, ", \"strategy\": ", t->strategy);
    add_json(out, ",\n     \"assumptions\": ", t->assumptions);
    add_number(out, ",\n     \"step_time_s\": ", ss_time_seconds(t->summary.step_time));
    add_number(out, ", \"samples\": ", t->summary.samples);
    add_number(out, ", \"samples_per_s\": ", per_second(t));
    add_number(out, ", \"bytes_moved\": ", t->summary.bytes_moved);
    ss_text_add(out, ", \"tasks\": %u, \"devices\": %u, \"links\": %u}", t->tasks,
                t->summary.devices, t->lanes - t->summary.devices);
}

static void tell_search_json(const contents *c, ss_text *out)
{
    static const char *const state[] = {"closed", "killed", "being written"};
    _Static_assert(SS_TRAJECTORY_CLOSED == 0 && SS_TRAJECTORY_KILLED == 1 &&
                       SS_TRAJECTORY_BEING_WRITTEN == 2,
                   "a state has another name");
    add_json(out, ",\n \"search\": {\"state\": ", state[c->state]);
    add_json(out, ", \"options\": ", c->search.options);
    add_json(out, ", \"limits\": ", c->search.limits);
    ss_text_add(out, ",\n  \"chains\": [");
    for (uint32_t i = 0; i < c->search.chains; i++) {
        const ss_trajectory_chain *chain = &c->search.chain[i];
        tally t = count(chain);
        add_json(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ", chain->name);
        add_json(out, ", \"start\": ", chain->start);
        ss_text_add(out, ", \"proposals\": %u, \"accepted\": %u, \"stopped\": %u", chain->steps,
                    t.accepted, t.stopped);
        add_number(out, ", \"start_s\": ", ss_time_seconds(chain->start_cost));
        add_number(out, ", \"best_s\": ", ss_time_seconds(t.best));
        ss_text_add(out, ", \"best_proposal\": %llu", (unsigned long long)t.best_step);
        add_number(out, ", \"beta\": ", chain->beta_per_s);
        add_number(out, ", \"wallclock_s\": ", t.seconds);
        if (chain->end)
            add_json(out, ", \"end\": ", chain->end);
        ss_text_add(out, "}");
    }
    ss_text_add(out, "]}");
}

static void tell_json(const char *path, const contents *c, ss_text *out)
{
    add_json(out, "{\"file\": ", path);
    ss_text_add(out, ",\n \"kind\": \"%s\", \"format\": %llu", SS_RECORD_KIND,
                (unsigned long long)c->format);
    add_json(out, ", \"creator\": ", c->creator);
    add_json(out, ",\n \"manifest\": {\"version\": ", c->version);
    add_json(out, ", \"command\": ", c->command);
    add_json(out, ", \"script\": ", c->script);
    ss_text_add(out, ", \"files\": [");
    for (uint32_t i = 1; i <= c->files.n; i++)
        add_json(out, i > 1 ? ", " : "", ss_names_text(&c->files, i));
    ss_text_add(out, "]");
    /* a text: many readers hold numbers as doubles */
    ss_text_add(out, ", \"seed\": \"%llu\"", (unsigned long long)c->seed);
    if (*c->start) {
        add_json(out, ", \"wallclock_start\": ", c->start);
        add_json(out, ", \"machine\": ", c->machine);
    }
    ss_text_add(out, "}");
    if (c->model) {
        add_json(out, ",\n \"model\": {\"name\": ", c->model);
        ss_text_add(out, ", \"operators\": %u}", c->operators);
    }
    if (c->topology) {
        add_json(out, ",\n \"topology\": {\"name\": ", c->topology);
        ss_text_add(out, ", \"devices\": %u, \"links\": %u}", c->devices, c->links);
    }
    ss_text_add(out, ",\n \"strategies\": [");
    for (uint32_t i = 1; i <= c->strategies.n; i++)
        add_json(out, i > 1 ? ", " : "", ss_names_text(&c->strategies, i));
    ss_text_add(out, "],\n \"timelines\": [");
    for (uint32_t i = 0; i < c->timelines; i++) {
        ss_text_add(out, "%s", i ? "," : "");
        tell_timeline_json(&c->timeline[i], out);
    }
    ss_text_add(out, "]");
    if (c->search.chains)
        tell_search_json(c, out);
    ss_text_add(out, "}\n");
}

static ss_status describe_record(ss_h5 *f, const char *path, bool json, ss_text *out, ss_error *err)
{
    contents c = {.creator = ""};
    ss_status s = ss_h5_check_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s)
        s = get_manifest(f, &c, err);
    if (!s)
        s = get_files(f, &c, err);
    if (!s)
        s = get_inputs(f, &c, err);
    if (!s)
        s = get_timelines(f, &c, err);
    if (!s && ss_h5_has(f, "search")) {
        s = ss_trajectory_read_once(path, &c.search, err);
        c.state = ss_trajectory_look(path);
    }
    if (!s)
        json ? tell_json(path, &c, out) : tell(path, &c, out);
    if (!s)
        s = ss_text_status(out, err);
    ss_names_free(&c.strategies);
    ss_names_free(&c.files);
    ss_arena_free(&c.search.arena);
    ss_arena_free(&c.arena);
    return s;
}

static ss_status describe_once(const char *path, bool json, ss_text *out, ss_error *err)
{
    ss_h5 *f;
    ss_status s = ss_h5_open(path, &f, err);
    if (s)
        return s;
    s = ss_measured_is_in_h5(f) ? ss_measured_describe_h5(f, json, out, err)
                                : describe_record(f, path, json, out, err);
    ss_h5_close(f);
    return s;
}

/* What is read is told last: a text that failed is as it was. */
ss_status ss_record_describe(const char *path, bool json, ss_text *out, ss_error *err)
{
    ss_trajectory_tries tries = ss_trajectory_begin_reading(path);
    ss_status s;
    do
        s = describe_once(path, json, out, err);
    while (ss_trajectory_read_again(path, s, &tries));
    return ss_trajectory_name_repair(path, s, err);
}
