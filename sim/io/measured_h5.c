#include "io/measured_h5.h"

#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/names.h"
#include "io/h5.h"
#include "io/measured.h"
#include "io/measured_tally.h"

#define KIND "soapstone measured table"
enum { FORMAT = 1 };

typedef struct row_in_file {
    ss_measured m; /* but for the phase */
    const char *phase;
    uint32_t crowded;
} row_in_file;

static const char table[] = "measured";

#define TEXT(name, member, long_name)                                                              \
    {                                                                                              \
        name, SS_H5_TEXT, offsetof(row_in_file, member), NULL, long_name, NULL, 0, false           \
    }

static const ss_h5_field field[] = {
    TEXT("kind", m.kind, "operator kind"),
    TEXT("attributes", m.attributes, "name=value of each attribute"),
    TEXT("shape", m.shape, "extents of the part's output < of its inputs"),
    TEXT("dtype", m.dtype, "element type of the output"),
    TEXT("phase", phase, "forward, backward, input_gradient or weight_gradient"),
    TEXT("device", m.device_kind, "device kind"),
    {"seconds", SS_H5_F64, offsetof(row_in_file, m.seconds), "s", "time it took", NULL, 0, false},
    {"spread_s", SS_H5_F64, offsetof(row_in_file, m.spread_s), "s",
     "standard deviation; 0: not known", NULL, 0, true},
    {"samples", SS_H5_U32, offsetof(row_in_file, m.samples), "1",
     "runs that the time is the middle of; 0: not known", NULL, 0, true},
    {"memory_bound", SS_H5_F64, offsetof(row_in_file, m.bound), "1",
     "how far it waits for memory that other devices of its machine use too, 0 to 1", NULL, 0, true},
    {"crowded", SS_H5_U32, offsetof(row_in_file, crowded), "1",
     "1: memory_bound was measured, 0: it is not known", NULL, 0, true},
};
enum { FIELDS = sizeof field / sizeof field[0] };

static ss_status put_rows(ss_h5 *f, const row_in_file *row, uint32_t rows, ss_error *err)
{
    ss_status s = ss_h5_put_format(f, KIND, FORMAT, err);
    if (!s)
        s = ss_h5_put_table(f, table, field, FIELDS, row, sizeof *row, rows, err);
    return s ? s : ss_h5_put_text(f, table, "long_name", "measured times of operators", err);
}

ss_status ss_measured_write_h5(const char *path, const ss_measured *row, uint32_t rows,
                               ss_error *err)
{
    size_t bytes = sizeof(row_in_file) * rows;
    row_in_file *all = ss_alloc(bytes);
    if (!all)
        return ss_fail_memory(err, "a table of measured times", bytes);
    for (uint32_t i = 0; i < rows; i++)
        all[i] = (row_in_file){row[i], ss_phase_name(row[i].phase), row[i].has_bound};
    ss_h5 *f;
    ss_status s = ss_h5_create(path, &f, err);
    if (!s && (s = put_rows(f, all, rows, err)))
        ss_h5_close(f);
    else if (!s)
        s = ss_h5_finish(f, err);
    ss_free(all);
    return s;
}

/* A file that says what it is must be such a table; one made by hand need not say it. */
static ss_status get_rows(ss_h5 *f, ss_arena *arena, row_in_file **row, uint32_t *rows,
                          ss_error *err)
{
    void *at = NULL;
    ss_status s = SS_OK;
    if (ss_h5_has_attribute(f, "/", "format_name"))
        s = ss_h5_check_format(f, KIND, FORMAT, err);
    if (!s && !ss_h5_has(f, table))
        s = ss_fail(err, SS_EFORMAT, "%s has no table \"%s\" of measured times", ss_h5_path(f),
                    table);
    if (!s)
        s = ss_h5_get_table(f, table, field, FIELDS, sizeof **row, 0, arena, &at, rows, err);
    *row = at;
    return s;
}

static ss_status add_rows(const char *path, row_in_file *row, uint32_t rows, ss_costs *c,
                          ss_error *err)
{
    ss_status s = ss_costs_begin_table(c, path, err);
    if (!s && !rows)
        s = ss_fail(err, SS_EFORMAT, "%s: /%s, a table of measured times, has no rows", path,
                    table);
    for (uint32_t i = 0; !s && i < rows; i++) {
        row[i].m.has_bound = row[i].crowded != 0;
        s = ss_measured_phase_parse(row[i].phase, &row[i].m.phase, err);
        if (!s)
            s = ss_costs_add_measured(c, &row[i].m, err);
        if (s)
            ss_fail_in(err, "%s: row %u of /%s", path, i + 1, table);
    }
    return s;
}

/* ---- streams: of profiles ----------------------------------------------------------------------- */

static const char streams[] = "streams";

typedef struct stream_in_file {
    const char *what;
    double bytes, seconds, bound;
} stream_in_file;

static const ss_h5_field stream_field[] = {
    {"what", SS_H5_TEXT, offsetof(stream_in_file, what), NULL, "copy, sum, update or message", NULL, 0, false},
    {"bytes", SS_H5_F64, offsetof(stream_in_file, bytes), "B", "of the result", NULL, 0, false},
    {"seconds", SS_H5_F64, offsetof(stream_in_file, seconds), "s", "time it took", NULL, 0, false},
    {"memory_bound", SS_H5_F64, offsetof(stream_in_file, bound), "1",
     "how far it waits for memory that other devices of its machine use too, 0 to 1", NULL, 0, false},
};
enum { STREAM_FIELDS = sizeof stream_field / sizeof stream_field[0] };

static ss_status get_streams(ss_h5 *f, ss_arena *arena, stream_in_file **row, uint32_t *rows, ss_error *err)
{
    void *at = NULL;
    ss_status s = SS_OK;
    *rows = 0;
    if (ss_h5_has(f, streams))
        s = ss_h5_get_table(f, streams, stream_field, STREAM_FIELDS, sizeof **row, 0, arena, &at, rows, err);
    *row = at;
    return s;
}

/* They are times of the device kind of the first row. */
static ss_status add_streams(const char *path, const stream_in_file *row, uint32_t rows,
                             const char *device_kind, ss_costs *c, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < rows && !s; i++) {
        ss_measured_stream x = {.device_kind = device_kind,
                                .seconds = row[i].seconds,
                                .has_bound = true,
                                .bound = row[i].bound};
        s = ss_stream_parse(row[i].what, &x.what, err);
        x.bytes = s ? 0 : ss_stream_traffic(x.what, row[i].bytes);
        if (!s)
            s = ss_costs_add_stream(c, &x, err);
        if (s)
            ss_fail_in(err, "%s: row %u of /%s", path, i + 1, streams);
    }
    return s;
}

ss_status ss_measured_read_h5(const char *path, ss_costs *c, ss_error *err)
{
    ss_h5 *f;
    ss_status s = ss_h5_open(path, &f, err);
    if (s)
        return s;
    ss_arena arena = {0};
    row_in_file *row = NULL;
    uint32_t rows = 0;
    s = get_rows(f, &arena, &row, &rows, err);
    stream_in_file *stream = NULL;
    uint32_t n = 0;
    if (!s)
        s = get_streams(f, &arena, &stream, &n, err);
    ss_h5_close(f);
    if (!s)
        s = add_rows(path, row, rows, c, err);
    if (!s)
        s = add_streams(path, stream, n, row[0].m.device_kind, c, err);
    ss_arena_free(&arena);
    return s;
}

/* ---------------------------------------------------------------------------------- describing */

bool ss_measured_is_in_h5(ss_h5 *f)
{
    return ss_h5_has(f, table) && !ss_h5_has(f, "manifest");
}

ss_status ss_measured_describe_h5(ss_h5 *f, bool json, ss_text *out, ss_error *err)
{
    ss_arena arena = {0};
    ss_measured_tally tally = {0};
    row_in_file *row = NULL;
    uint32_t rows = 0;
    ss_status s = get_rows(f, &arena, &row, &rows, err);
    for (uint32_t i = 0; !s && i < rows; i++)
        s = ss_measured_count(&tally, row[i].m.device_kind, row[i].m.kind, err);
    if (!s) {
        ss_measured_tell(&tally, ss_h5_path(f), json, out);
        s = ss_text_status(out, err);
    }
    ss_measured_tally_free(&tally);
    ss_arena_free(&arena);
    return s;
}
