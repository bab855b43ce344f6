#include "io/measured.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "io/file.h"
#include "io/h5.h"
#include "io/measured_h5.h"
#include "io/measured_tally.h"

enum { MOST_BYTES = 1 << 30, COLUMNS = 9, MOST_FIELDS = 64 };

enum { KIND, ATTRIBUTES, SHAPE, DTYPE, PHASE, DEVICE, SECONDS, SPREAD_S, SAMPLES };

static const char *const column_name[COLUMNS] = {
    "kind", "attributes", "shape", "dtype", "phase", "device", "seconds", "spread_s", "samples"};

const char *const *ss_measured_columns(uint32_t *n)
{
    *n = COLUMNS;
    return column_name;
}

ss_status ss_measured_phase_parse(const char *text, ss_phase *out, ss_error *err)
{
    if (!strcmp(text, "forward"))
        *out = SS_FORWARD;
    else if (!strcmp(text, "backward"))
        *out = SS_BACKWARD;
    else
        return ss_fail(err, SS_EINVAL, "phase %s: forward or backward is wanted", text);
    return SS_OK;
}

/* Fields of the line that is being read; each text is inside the file's bytes, ended by a 0. */
typedef struct line {
    const char *path;
    char *at;        /* what is still to be read */
    uint32_t number; /* of the line that begins at `at`, from 1 */
    uint32_t of;     /* number of the line whose fields are here */
    uint32_t fields;
    char *field[MOST_FIELDS];
    uint32_t column[MOST_FIELDS]; /* where each begins */
} line;

static ss_status fail_at(const line *l, uint32_t column, ss_error *err)
{
    return ss_fail_in(err, "%s:%u:%u", l->path, l->of, column);
}

/* Characters, not bytes, from `start` to `end`; the first is 1. */
static uint32_t column_of(const char *start, const char *end)
{
    uint32_t n = 1;
    for (; start < end; start++)
        n += ((unsigned char)*start & 0xc0) != 0x80;
    return n;
}

/* "a ""quoted"" field": shortened in place; *end is behind the closing quote.  NULL: there is none.
 */
static char *unquote(char *field, char **end)
{
    char *to = field;
    for (char *from = field + 1; *from && *from != '\n'; from++) {
        if (*from == '"' && *++from != '"') {
            *to = 0; /* at or before the closing quote */
            *end = from;
            return field;
        }
        *to++ = *from;
    }
    return NULL;
}

static void trim(char *field)
{
    size_t n = strlen(field);
    while (n && (field[n - 1] == ' ' || field[n - 1] == '\t' || field[n - 1] == '\r'))
        field[--n] = 0;
}

/* One field from l->at on; *more: a comma followed. */
static ss_status read_field(line *l, const char *start, bool *more, ss_error *err)
{
    l->at += strspn(l->at, " \t");
    uint32_t column = column_of(start, l->at);
    if (l->fields == MOST_FIELDS) {
        ss_fail(err, SS_EFORMAT, "more than %d fields", MOST_FIELDS);
        return fail_at(l, column, err);
    }
    l->column[l->fields] = column;
    char *field = l->at, *end = l->at;
    if (*field == '"') {
        field = unquote(field, &end);
        if (!field) {
            ss_fail(err, SS_EFORMAT, "the quote that begins here does not end on this line");
            return fail_at(l, column, err);
        }
        end += strspn(end, " \t\r");
        if (*end && *end != ',' && *end != '\n') {
            ss_fail(err, SS_EFORMAT, "a comma is wanted behind the quoted field");
            return fail_at(l, column, err);
        }
    } else {
        end += strcspn(end, ",\n");
    }
    char stop = *end;
    *end = 0;
    trim(field);
    *more = stop == ',';
    l->field[l->fields++] = field;
    l->at = end + (stop != 0);
    return SS_OK;
}

/* Steps over lines without fields; *found is false at the end of the file. */
static ss_status next_line(line *l, bool *found, ss_error *err)
{
    for (*found = false; *l->at && !*found;) {
        char *start = l->at;
        l->of = l->number++;
        l->fields = 0;
        if (start[strspn(start, " \t\r")] == '#' || start[strspn(start, " \t\r")] == '\n' ||
            !start[strspn(start, " \t\r")]) {
            l->at += strcspn(start, "\n");
            l->at += *l->at == '\n';
            continue;
        }
        bool more = true;
        while (more) {
            ss_status s = read_field(l, start, &more, err);
            if (s)
                return s;
        }
        *found = true;
    }
    return SS_OK;
}

/* Which field holds which column, -1: none. */
static ss_status read_header(const line *l, int32_t *field_of, ss_error *err)
{
    for (int32_t c = 0; c < COLUMNS; c++)
        field_of[c] = -1;
    for (uint32_t f = 0; f < l->fields; f++) {
        int32_t c = 0;
        while (c < COLUMNS && strcmp(l->field[f], column_name[c]) != 0)
            c++;
        const char *near = ss_nearest(l->field[f], column_name, COLUMNS);
        if (c == COLUMNS)
            ss_fail(err, SS_EFORMAT, "there is no column %s%s%s%s", l->field[f],
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        else if (field_of[c] >= 0)
            ss_fail(err, SS_EFORMAT, "column %s is there twice", l->field[f]);
        if (c == COLUMNS || field_of[c] >= 0)
            return fail_at(l, l->column[f], err);
        field_of[c] = (int32_t)f;
    }
    for (int32_t c = 0; c < SS_MEASURED_REQUIRED; c++)
        if (field_of[c] < 0) {
            ss_fail(err, SS_EFORMAT, "column %s is missing", column_name[c]);
            return fail_at(l, 1, err);
        }
    return SS_OK;
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
static ss_status read_values(const char *const *text, ss_measured *row, int32_t *bad, ss_error *err)
{
    *bad = PHASE;
    ss_status s = ss_measured_phase_parse(text[PHASE], &row->phase, err);
    if (!s) {
        *bad = SECONDS;
        s = ss_parse_quantity(text[SECONDS], SS_UNIT_SECONDS, &row->seconds, err);
    }
    if (!s && text[SPREAD_S][0]) {
        *bad = SPREAD_S;
        s = ss_parse_quantity(text[SPREAD_S], SS_UNIT_SECONDS, &row->spread_s, err);
    }
    if (!s && text[SAMPLES][0]) {
        *bad = SAMPLES;
        s = read_samples(text[SAMPLES], &row->samples, err);
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
    if (err && !strncmp(err->text, "it took 0 ", 10))
        return SECONDS;
    if (err && !strncmp(err->text, "shape ", 6))
        return SHAPE;
    if (err && !strncmp(err->text, "attribute ", 10))
        return ATTRIBUTES;
    return KIND;
}

/* What becomes of the rows. */
typedef struct sink {
    ss_costs *costs;
    ss_measured_tally *tally; /* or NULL: nobody counts */
} sink;

static ss_status read_row(const line *l, uint32_t fields, const int32_t *field_of, const sink *to,
                          ss_error *err)
{
    if (l->fields != fields) {
        ss_fail(err, SS_EFORMAT, "%u fields, and the header has %u", l->fields, fields);
        return fail_at(l, l->column[l->fields - 1], err);
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
    if (read_values(text, &row, &bad, err))
        return fail_at(l, l->column[field_of[bad]], err);
    if (ss_costs_add_measured(to->costs, &row, err))
        return fail_at(l, l->column[field_of[refused_column(&row, err)]], err);
    return to->tally ? ss_measured_count(to->tally, row.device_kind, row.kind, err) : SS_OK;
}

static ss_status read_lines(line *l, const sink *to, ss_error *err)
{
    int32_t field_of[COLUMNS];
    bool found;
    ss_status s = next_line(l, &found, err);
    if (!s && !found)
        return ss_fail(err, SS_EFORMAT,
                       "%s: a table of measured times is empty: a header line is "
                       "wanted",
                       l->path);
    if (!s)
        s = read_header(l, field_of, err);
    uint32_t rows = 0;
    for (uint32_t fields = l->fields; !s; rows++) {
        s = next_line(l, &found, err);
        if (s || !found)
            break;
        s = read_row(l, fields, field_of, to, err);
    }
    if (!s && !rows && !to->tally)
        return ss_fail(err, SS_EFORMAT, "%s:%u: a table of measured times has no rows", l->path,
                       l->of);
    return s;
}

static ss_status read_csv(const char *path, const sink *to, ss_error *err)
{
    ss_text bytes = {0};
    ss_status s = ss_file_read(path, MOST_BYTES, &bytes, err);
    if (!s && memchr(ss_text_get(&bytes), 0, bytes.n))
        s = ss_fail(err, SS_EFORMAT, "%s: not a text file: it has a zero byte", path);
    if (!s)
        s = ss_costs_begin_table(to->costs, path, err);
    if (!s) {
        char none[1] = "";
        line l = {.path = path, .at = bytes.at ? bytes.at : none, .number = 1};
        if (!strncmp(l.at, "\xef\xbb\xbf", 3)) /* the mark that some programs put in front */
            l.at += 3;
        s = read_lines(&l, to, err);
    }
    ss_text_free(&bytes);
    return s;
}

ss_status ss_measured_read_csv(const char *path, ss_costs *c, ss_error *err)
{
    return read_csv(path, &(sink){c, NULL}, err);
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
        s = read_csv(path, &(sink){c, &tally}, err);
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

ss_status ss_measured_read(const char *path, ss_costs *c, ss_error *err)
{
    if (ends_in(path, ".h5") || ends_in(path, ".hdf5") || ss_h5_begins(path))
        return ss_measured_read_h5(path, c, err);
    return ss_measured_read_csv(path, c, err);
}
