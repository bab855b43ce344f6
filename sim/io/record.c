#include "config.h"

#include "io/record.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"
#include "io/h5.h"
#include "io/record_inside.h"
#include "io/record_layout.h"

/* ------------------------------------------------------------------------------------ manifest */

static const ss_h5_field manifest_field[] = {
    {"script", SS_H5_TEXT, offsetof(ss_manifest, script_text), NULL, "the script that was run",
     NULL, 0, false},
    {"options", SS_H5_TEXT, offsetof(ss_manifest, options), NULL,
     "options of the record's problem, one \"name = value\" a line; a timeline has its own", NULL,
     0, false},
};

static const ss_h5_field file_field[] = {
    {"name", SS_H5_TEXT, offsetof(ss_manifest_file, name), NULL, "path of a file that was read",
     NULL, 0, false},
    {"text", SS_H5_TEXT, offsetof(ss_manifest_file, text), NULL, "what was in it", NULL, 0, false},
};

static ss_status put_files(ss_h5 *f, const ss_manifest *m, ss_error *err)
{
    if (!m->files)
        return SS_OK;
    ss_status s = ss_h5_put_table(f, "manifest/files", file_field, 2, m->file, sizeof *m->file,
                                  m->files, err);
    return s ? s
             : ss_h5_put_text(f, "manifest/files", "long_name", "files that the run was made of",
                              err);
}

/* "model name : Xeon" of Linux; elsewhere, and where it says nothing, "". */
static void find_processor(char *name, size_t n)
{
    *name = 0;
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (f && !*name && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon && colon[1] == ' ') {
            colon[strcspn(colon, "\n")] = 0;
            snprintf(name, n, ", %s", colon + 2);
        }
    }
    if (f)
        fclose(f);
}

/* What may differ between equal runs.  Under SOURCE_DATE_EPOCH nothing may. The machine has no name
 * here: records are passed on. */
static ss_status put_clock(ss_h5 *f, ss_error *err)
{
    if (getenv("SOURCE_DATE_EPOCH"))
        return SS_OK;
    char at[32] = "", machine[512], processor[256];
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    struct utsname u;
    find_processor(processor, sizeof processor);
    if (uname(&u) < 0)
        return ss_h5_put_text(f, "manifest", "wallclock_start", at, err);
    snprintf(machine, sizeof machine, "%s %s%s, %ld processors", u.sysname, u.machine, processor,
             sysconf(_SC_NPROCESSORS_ONLN));
    ss_status s = ss_h5_put_text(f, "manifest", "wallclock_start", at, err);
    return s ? s : ss_h5_put_text(f, "manifest", "machine", machine, err);
}

static ss_status put_manifest(ss_h5 *f, const ss_manifest *m, ss_error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } text[] = {{"version", offsetof(ss_manifest, version)},
                {"command", offsetof(ss_manifest, command)},
                {"script_name", offsetof(ss_manifest, script_name)}};
    ss_status s = ss_h5_put_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s)
        s = ss_h5_put_values(f, "manifest", manifest_field, 2, m, err);
    for (uint32_t i = 0; !s && i < sizeof text / sizeof text[0]; i++) {
        const char *value;
        memcpy(&value, (const char *)m + text[i].offset, sizeof value);
        s = ss_h5_put_text(f, "manifest", text[i].name, value ? value : "", err);
    }
    if (!s)
        s = ss_h5_put_u64(f, "manifest", "seed", m->seed, err);
    if (!s)
        s = put_files(f, m, err);
    if (!s)
        s = ss_record_samples(f, "manifest", m->chance, err);
    return s ? s : put_clock(f, err);
}

ss_status ss_record_check_place(const char *path, ss_error *err)
{
    ss_h5 *f = NULL;
    ss_error reason;
    if (!ss_file_holds(path))
        return SS_OK;
    ss_status s = ss_h5_open(path, &f, &reason);
    if (!s)
        s = ss_h5_check_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, &reason);
    ss_h5_close(f);
    if (s == SS_ENOMEM)
        return ss_fail(err, s, "%s", reason.text);
    return s ? ss_file_fail_kind(err, path, "record or log of this soapstone") : SS_OK;
}

ss_status ss_record_create(const char *path, const ss_manifest *manifest, ss_record **out,
                           ss_error *err)
{
    ss_record *r = ss_alloc_zeroed(1, sizeof *r);
    if (!r)
        return ss_fail_memory(err, "a record", sizeof *r);
    ss_status s = ss_h5_create(path, &r->h5, err);
    if (!s)
        s = put_manifest(r->h5, manifest, err);
    if (s)
        ss_record_abandon(r);
    else
        *out = r;
    return s;
}

ss_status ss_record_finish(ss_record *r, ss_error *err)
{
    ss_status s = ss_h5_finish(r->h5, err);
    ss_free(r);
    return s;
}

void ss_record_abandon(ss_record *r)
{
    if (!r)
        return;
    ss_h5_close(r->h5);
    ss_free(r);
}

/* ------------------------------------------------------------------------------------- timeline */

/* The name becomes a group's, so it must be one. */
ss_status ss_record_group(ss_record *r, const char *above, const char *what, const char *name,
                          char *group, size_t n, ss_error *err)
{
    size_t length = strlen(name);
    bool fine = length && length <= SS_RECORD_NAME && strcmp(name, ".") != 0;
    for (size_t i = 0; fine && i < length; i++)
        fine = name[i] != '/' && !iscntrl((unsigned char)name[i]);
    if (!fine)
        return ss_fail(err, SS_EINVAL,
                       "a %s of a record cannot have the name \"%.*s\": it has 1 to %d characters, "
                       "no slash and no control character",
                       what, SS_RECORD_NAME, name, SS_RECORD_NAME);
    snprintf(group, n, "%s/%s", above, name);
    if (ss_h5_has(r->h5, group))
        return ss_fail(err, SS_EINVAL,
                       "%s: two of what is recorded are a %s called \"%s\": give one another name",
                       ss_h5_path(r->h5), what, name);
    return SS_OK;
}

ss_status ss_record_put(ss_record *r, const char *group, const ss_record_table *t, const void *row,
                        uint32_t rows, ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    snprintf(at, sizeof at, "%s/%s", group, t->group);
    ss_status s = ss_h5_put_table(r->h5, at, t->field, t->fields, row, t->stride, rows, err);
    return s ? s : ss_h5_put_text(r->h5, at, "long_name", t->long_name, err);
}

static ss_status put_summary(ss_record *r, const char *group, const ss_view *v, ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    const ss_record_table *t = &ss_record_summary;
    snprintf(at, sizeof at, "%s/%s", group, t->group);
    ss_status s = ss_h5_put_values(r->h5, at, t->field, t->fields, v, err);
    if (!s)
        s = ss_h5_put_text(r->h5, at, "long_name", t->long_name, err);
    ss_record_moved_row moved[SS_CARGOS];
    for (uint32_t i = 0; i < SS_CARGOS; i++)
        moved[i] = (ss_record_moved_row){(uint8_t)i, v->moved[i]};
    return s ? s : ss_record_put(r, group, &ss_record_moved, moved, SS_CARGOS, err);
}

static ss_status put_names(ss_record *r, const char *group, const ss_view *v, const char *strategy,
                           ss_error *err)
{
    const char *const name[] = {"model", "topology", "strategy", "assumptions"};
    const char *const value[] = {v->model, v->topology, strategy ? strategy : v->strategy,
                                 v->assumptions};
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < 4; i++)
        s = ss_h5_put_text(r->h5, group, name[i], value[i] ? value[i] : "", err);
    return s;
}

static const ss_h5_field origin_field[] = {
    {"options", SS_H5_TEXT, offsetof(ss_record_origin, options), NULL,
     "what was in force, one \"name = value\" a line", NULL, 0, false},
    {"costs", SS_H5_TEXT, offsetof(ss_record_origin, costs), NULL,
     "where the times came from, of all simulations of the problem until the record was made", NULL,
     0, false},
};

ss_status ss_record_timeline(ss_record *r, const char *name, const ss_view *v,
                             const ss_record_origin *origin_or_null, ss_error *err)
{
    static const ss_record_origin unknown = {0};
    const ss_record_origin *origin = origin_or_null ? origin_or_null : &unknown;
    char group[SS_RECORD_PATH];
    ss_status s = ss_record_group(r, "timeline", "timeline", name, group, sizeof group, err);
    if (!s && (s = ss_record_check_view(v, SS_EINVAL, err)))
        ss_fail_in(err, "timeline %s", name);
    if (!s && origin_or_null)
        s = ss_h5_put_values(r->h5, group, origin_field, 2, origin, err);
    if (!s)
        s = ss_record_samples(r->h5, group, origin->chance, err);
    if (!s)
        s = put_summary(r, group, v, err);
    if (!s)
        s = put_names(r, group, v, origin->strategy, err);
    if (!s)
        s = ss_record_put(r, group, &ss_record_lanes, v->lane + 1, v->lanes, err);
    if (!s)
        s = ss_record_put(r, group, &ss_record_tasks, v->task + 1, v->tasks, err);
    if (!s)
        s = ss_record_put(r, group, &ss_record_more, v->more, v->mores, err);
    if (!s)
        s = ss_record_put(r, group, &ss_record_memory, v->held, v->helds, err);
    if (!s && v->stretches)
        s = ss_record_put(r, group, &ss_record_changed, v->stretch, v->stretches, err);
    if (!s && v->events)
        s = ss_record_put(r, group, &ss_record_events, v->event, v->events, err);
    return s ? s : ss_record_put(r, group, &ss_record_edges, v->edge, v->edges, err);
}
