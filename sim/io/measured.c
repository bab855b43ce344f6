#include "io/measured.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "io/csv.h"
#include "io/h5.h"
#include "io/measured_h5.h"
#include "io/measured_tally.h"

enum { COLUMNS = 10 };

enum { KIND, ATTRIBUTES, SHAPE, DTYPE, PHASE, DEVICE, SECONDS, SPREAD_S, SAMPLES, BOUND };

static const char *const column_name[COLUMNS] = {
    "kind",   "attributes", "shape",   "dtype",    "phase",
    "device", "seconds",    "spread_s", "samples", "memory_bound"};

/* More of a profile: its statistics, which readers work out of the samples anew. */
static const char *const profile_column[] = {"samples_s", "mean_s", "q05_s",  "q25_s",   "q75_s",
                                             "q95_s",     "least_s", "most_s", "outliers"};
enum { PROFILE_COLUMNS = sizeof profile_column / sizeof profile_column[0] };

const char *const *ss_measured_columns(uint32_t *n)
{
    *n = COLUMNS;
    return column_name;
}

ss_status ss_measured_phase_parse(const char *text, ss_phase *out, ss_error *err)
{
    for (int p = 0; p < SS_PHASES; p++) {
        *out = (ss_phase)p;
        if (!strcmp(text, ss_phase_name(*out)))
            return SS_OK;
    }
    return ss_fail(err, SS_EINVAL,
                   "phase %s: forward or backward is wanted, or a part of backward, input_gradient or "
                   "weight_gradient",
                   text);
}

ss_status ss_stream_parse(const char *text, ss_stream *out, ss_error *err)
{
    for (unsigned s = 0; s < SS_STREAMS; s++) {
        *out = (ss_stream)s;
        if (!strcmp(text, ss_stream_name(*out)))
            return SS_OK;
    }
    return ss_fail(err, SS_EINVAL, "stream %s: there are copy, sum, update and message", text);
}

double ss_stream_traffic(ss_stream s, double bytes)
{
    return s == SS_STREAM_SUM || s == SS_STREAM_UPDATE ? 3 * bytes : 2 * bytes;
}

static ss_status unknown_column(const ss_csv *l, uint32_t f, ss_error *err)
{
    const char *known[COLUMNS + PROFILE_COLUMNS];
    memcpy(known, column_name, sizeof column_name);
    memcpy(known + COLUMNS, profile_column, sizeof profile_column);
    const char *near = ss_nearest(l->field[f], known, COLUMNS + PROFILE_COLUMNS);
    ss_fail(err, SS_EFORMAT, "there is no column %s%s%s%s", l->field[f],
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return ss_csv_fail(l, l->column[f], err);
}

enum { NAME = SS_CSV_NAME, UNIT = SS_CSV_UNIT };

/* Where the columns are. */
typedef struct layout {
    int32_t field_of[COLUMNS + PROFILE_COLUMNS]; /* -1: nowhere */
    const char *const *theirs;                   /* [COLUMNS] what the file calls them, each NULL: as we do; or NULL */
    char unit[COLUMNS][UNIT];                    /* of plain numbers; "" where none was said */
} layout;

/* The value of "1 UNIT" is asked for, so that a wrong one is refused in the header. */
static ss_status check_unit(const layout *y, int32_t c, ss_error *err)
{
    char text[UNIT + 4];
    double value;
    if (!y->unit[c][0])
        return SS_OK;
    if (c != SECONDS && c != SPREAD_S)
        return ss_fail(err, SS_EFORMAT, "column %s has no unit, and [%s] is behind it", column_name[c], y->unit[c]);
    snprintf(text, sizeof text, "1 %s", y->unit[c]);
    ss_status s = ss_parse_quantity(text, SS_UNIT_SECONDS, &value, err);
    return s ? ss_fail_in(err, "column %s [%s]", column_name[c], y->unit[c]) : SS_OK;
}

/* Columns that the file calls otherwise. */
static ss_status find_theirs(const ss_csv *l, layout *y, ss_error *err)
{
    char sought[NAME], name[NAME], unit[UNIT];
    for (int32_t c = 0; c < COLUMNS && y->theirs; c++) {
        if (!y->theirs[c])
            continue;
        ss_status s = ss_csv_heading(y->theirs[c], sought, y->unit[c], err);
        for (uint32_t f = 0; f < l->fields && !s; f++) {
            unit[0] = 0;
            s = ss_csv_column(l, f, name, unit, err);
            if (s || strcmp(name, sought) != 0)
                continue;
            y->field_of[c] = (int32_t)f;
            if (unit[0] && !y->unit[c][0])
                memcpy(y->unit[c], unit, sizeof unit);
        }
        if (!s && y->field_of[c] < 0)
            s = ss_fail(err, SS_EFORMAT, "there is no column %s, which is to be the %s", sought, column_name[c]);
        if (!s)
            s = check_unit(y, c, err);
        if (s)
            return ss_csv_fail(l, 1, err);
    }
    return SS_OK;
}

static int32_t column_called(const char *name)
{
    for (int32_t c = 0; c < COLUMNS; c++)
        if (!strcmp(name, column_name[c]))
            return c;
    for (int32_t c = 0; c < PROFILE_COLUMNS; c++)
        if (!strcmp(name, profile_column[c]))
            return COLUMNS + c;
    return -1;
}

/* With names of the file's own, other columns are left alone. */
static ss_status read_header(const ss_csv *l, layout *y, ss_error *err)
{
    for (int32_t c = 0; c < COLUMNS + PROFILE_COLUMNS; c++)
        y->field_of[c] = -1;
    ss_status s = find_theirs(l, y, err);
    for (uint32_t f = 0; f < l->fields && !s; f++) {
        char name[NAME], unit[UNIT] = "";
        s = ss_csv_column(l, f, name, unit, err);
        int32_t c = s ? -1 : column_called(name);
        bool renamed = c >= 0 && c < COLUMNS && y->theirs && y->theirs[c];
        if (!s && c < 0 && !y->theirs)
            return unknown_column(l, f, err);
        if (s || c < 0 || renamed)
            continue;
        if (y->field_of[c] >= 0)
            s = ss_fail(err, SS_EFORMAT, "column %s is there twice", name);
        y->field_of[c] = (int32_t)f;
        if (!s && c < COLUMNS) {
            memcpy(y->unit[c], unit, sizeof unit);
            s = check_unit(y, c, err);
        }
        if (s)
            return ss_csv_fail(l, l->column[f], err);
    }
    for (int32_t c = 0; c < SS_MEASURED_REQUIRED && !s; c++)
        if (y->field_of[c] < 0) {
            ss_fail(err, SS_EFORMAT, "column %s is missing", column_name[c]);
            return ss_csv_fail(l, 1, err);
        }
    return s;
}

/* A plain number is in the unit of its column. */
static ss_status read_seconds(const layout *y, int32_t c, const char *text, double *out, ss_error *err)
{
    char with_unit[64 + UNIT], *end;
    strtod(text, &end);
    if (y->unit[c][0] && *text && !*end && strlen(text) < 64) {
        snprintf(with_unit, sizeof with_unit, "%s %s", text, y->unit[c]);
        text = with_unit;
    }
    return ss_parse_quantity(text, SS_UNIT_SECONDS, out, err);
}

static ss_status read_samples(const char *text, uint32_t *out, ss_error *err)
{
    double n;
    ss_status s = ss_parse_quantity(text, SS_UNIT_NONE, &n, err);
    if (s)
        return s;
    if (!(n >= 0 && n <= UINT32_MAX && n == (double)(uint32_t)n))
        return ss_fail(err, SS_EINVAL, "samples is %s: a whole number is wanted", text);
    *out = (uint32_t)n;
    return SS_OK;
}

/* The numbers and the phase of a row; *bad is the column that is refused. */
static ss_status read_values(const layout *y, const char *const *text, ss_measured *row, int32_t *bad,
                             ss_error *err)
{
    *bad = PHASE;
    ss_status s = ss_measured_phase_parse(text[PHASE], &row->phase, err);
    if (!s) {
        *bad = SECONDS;
        s = read_seconds(y, SECONDS, text[SECONDS], &row->seconds, err);
    }
    if (!s && text[SPREAD_S][0]) {
        *bad = SPREAD_S;
        s = read_seconds(y, SPREAD_S, text[SPREAD_S], &row->spread_s, err);
    }
    if (!s && text[SAMPLES][0]) {
        *bad = SAMPLES;
        s = read_samples(text[SAMPLES], &row->samples, err);
    }
    if (!s && text[BOUND][0]) {
        *bad = BOUND;
        row->has_bound = true;
        s = ss_parse_quantity(text[BOUND], SS_UNIT_NONE, &row->bound, err);
    }
    return s;
}

/* Which column of a refused row the sentence is about; the first if it is about the whole row. */
static int32_t refused_column(const ss_measured *row, const ss_error *err)
{
    ss_dtype dtype;
    if (!ss_op_kind_find(row->kind))
        return KIND;
    if (ss_dtype_parse(row->dtype, &dtype, NULL))
        return DTYPE;
    if (!(row->seconds >= 0))
        return SECONDS;
    if (!(row->spread_s >= 0))
        return SPREAD_S;
    if (!row->device_kind[0])
        return DEVICE;
    if (row->has_bound && !(row->bound >= 0 && row->bound <= 1))
        return BOUND;
    if (err && !strncmp(err->text, "it took 0 ", 10))
        return SECONDS;
    if (err && !strncmp(err->text, "shape ", 6))
        return SHAPE;
    if (err && !strncmp(err->text, "attribute ", 10))
        return ATTRIBUTES;
    return KIND;
}

/* What becomes of the rows, beside being added to costs. */
typedef struct sink {
    ss_costs *costs;
    ss_measured_tally *tally; /* or NULL: nobody counts */
    const ss_measured_visitor *visitor; /* or NULL */
    const char *const *theirs; /* names of columns, or NULL */
} sink;

static ss_status visit(const ss_csv *l, const sink *to, const layout *y,
                       const ss_measured *row, ss_error *err)
{
    int32_t samples = y->field_of[COLUMNS]; /* the first of a profile's */
    ss_status s = SS_OK;
    if (to->visitor)
        s = to->visitor->take(to->visitor->context, row, samples < 0 ? "" : l->field[samples], err);
    return s ? ss_csv_fail(l, samples < 0 ? 1 : l->column[samples], err) : SS_OK;
}

static ss_status read_row(const ss_csv *l, uint32_t fields, const layout *y, const sink *to,
                          ss_error *err)
{
    const int32_t *field_of = y->field_of;
    if (l->fields != fields) {
        ss_fail(err, SS_EFORMAT, "%u fields, and the header has %u", l->fields, fields);
        return ss_csv_fail(l, l->column[l->fields - 1], err);
    }
    const char *text[COLUMNS];
    for (int32_t k = 0; k < COLUMNS; k++)
        text[k] = field_of[k] < 0 ? "" : l->field[field_of[k]];
    ss_measured row = {.kind = text[KIND],
                       .device_kind = text[DEVICE],
                       .attributes = text[ATTRIBUTES],
                       .shape = text[SHAPE],
                       .dtype = text[DTYPE]};
    int32_t bad;
    if (read_values(y, text, &row, &bad, err))
        return ss_csv_fail(l, l->column[field_of[bad]], err);
    if (ss_costs_add_measured(to->costs, &row, err))
        return ss_csv_fail(l, l->column[field_of[refused_column(&row, err)]], err);
    ss_status s = visit(l, to, y, &row, err);
    if (s)
        return s;
    return to->tally ? ss_measured_count(to->tally, row.device_kind, row.kind, err) : SS_OK;
}

static ss_status read_lines(ss_csv *l, const sink *to, ss_error *err)
{
    layout y = {.theirs = to->theirs};
    bool found;
    ss_status s = ss_csv_next(l, &found, err);
    if (!s && !found)
        return ss_fail(err, SS_EFORMAT,
                       "%s: a table of measured times is empty: a header line is "
                       "wanted",
                       l->path);
    if (!s)
        s = read_header(l, &y, err);
    uint32_t rows = 0;
    for (uint32_t fields = l->fields; !s; rows++) {
        s = ss_csv_next(l, &found, err);
        if (s || !found)
            break;
        s = read_row(l, fields, &y, to, err);
    }
    if (!s && !rows && !to->tally)
        return ss_fail(err, SS_EFORMAT, "%s:%u: a table of measured times has no rows", l->path,
                       l->of);
    return s;
}

static ss_status read_csv(const char *path, const sink *to, ss_error *err)
{
    ss_csv l;
    ss_status s = ss_csv_open(path, &l, err);
    if (s)
        return s;
    if (to->visitor)
        s = to->visitor->head(to->visitor->context, l.at, err);
    if (s)
        ss_fail_in(err, "%s", path);
    else
        s = ss_costs_begin_table(to->costs, path, err);
    if (!s)
        s = read_lines(&l, to, err);
    ss_csv_close(&l);
    return s;
}

ss_status ss_measured_read_csv(const char *path, ss_costs *c, ss_error *err)
{
    return read_csv(path, &(sink){.costs = c}, err);
}

ss_status ss_measured_visit_csv(const char *path, const ss_measured_visitor *v, ss_error *err)
{
    ss_costs *c = NULL; /* refuses what no table may have */
    ss_status s = ss_costs_new(&c, err);
    if (!s)
        s = read_csv(path, &(sink){.costs = c, .visitor = v}, err);
    ss_costs_free(c);
    return s;
}

bool ss_measured_is_csv(const char *text)
{
    if (!strncmp(text, "\xef\xbb\xbf", 3))
        text += 3;
    for (text += strspn(text, " \t\r\n"); *text == '#'; text += strspn(text, " \t\r\n"))
        text += strcspn(text, "\n");
    text += *text == '"';
    size_t n = strcspn(text, ",\"\r\n \t");
    for (int32_t c = 0; c < COLUMNS; c++)
        if (strlen(column_name[c]) == n && !strncmp(text, column_name[c], n))
            return true;
    return false;
}

ss_status ss_measured_describe_csv(const char *path, bool json, ss_text *out, ss_error *err)
{
    ss_measured_tally tally = {0};
    ss_costs *c = NULL;
    ss_status s = ss_costs_new(&c, err);
    if (!s)
        s = read_csv(path, &(sink){.costs = c, .tally = &tally}, err);
    if (!s) {
        ss_measured_tell(&tally, path, json, out);
        s = ss_text_status(out, err);
    }
    ss_measured_tally_free(&tally);
    ss_costs_free(c);
    return s;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);
    return n >= e && !strcmp(path + n - e, ending);
}

static bool is_h5(const char *path)
{
    return ends_in(path, ".h5") || ends_in(path, ".hdf5") || ss_h5_begins(path);
}

ss_status ss_measured_read(const char *path, ss_costs *c, ss_error *err)
{
    return is_h5(path) ? ss_measured_read_h5(path, c, err) : ss_measured_read_csv(path, c, err);
}

ss_status ss_measured_read_as(const char *path, const char *const *theirs, ss_costs *c, ss_error *err)
{
    if (is_h5(path))
        return ss_fail(err, SS_EINVAL, "%s: columns have other names in CSV alone, and this is HDF5", path);
    return read_csv(path, &(sink){.costs = c, .theirs = theirs}, err);
}
