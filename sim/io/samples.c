/* samples.c - a table of times, cut into curves. */
#include "io/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "io/csv.h"

enum { UNIT = SS_CSV_UNIT, NAME = SS_CSV_NAME };

/* Tables round both, to three digits or so. */
static const double SAME_RATE = 0.05;

static const struct column {
    const char *name;
    ss_unit unit;
    bool text;
} columns[SS_SAMPLES_COLUMNS] = {
    {"bytes", SS_UNIT_BYTES, false},
    {"seconds", SS_UNIT_SECONDS, false},
    {"bandwidth", SS_UNIT_BYTES_PER_SECOND, false},
    {"weight", SS_UNIT_NONE, false},
    {"curve", SS_UNIT_NONE, true},
    {"operation", SS_UNIT_NONE, true},
    {"algorithm", SS_UNIT_NONE, true},
    {"ranks", SS_UNIT_NONE, false},
    {"method", SS_UNIT_NONE, true},
};

const char *ss_samples_column_name(ss_samples_column c)
{
    return columns[c].name;
}

typedef struct reader {
    ss_csv csv;
    int32_t field[SS_SAMPLES_COLUMNS]; /* -1: not there */
    char unit[SS_SAMPLES_COLUMNS][UNIT];
    uint32_t fields;
    ss_samples *out;
    ss_names keys; /* of the curves, in their order */
    ss_text key;
} reader;

/* -- the header ------------------------------------------------------------------------------- */

/* The value of "1 UNIT" is asked for, so that a wrong one is refused in the header. */
static ss_status check_unit(const reader *r, int c, ss_error *err)
{
    char text[UNIT + 4];
    double value;
    if (!r->unit[c][0])
        return SS_OK;
    if (columns[c].text || c == SS_SAMPLES_RANKS)
        return ss_fail(err, SS_EFORMAT, "column %s has no unit, and [%s] is behind it",
                       columns[c].name, r->unit[c]);
    snprintf(text, sizeof text, "1 %s", r->unit[c]);
    ss_status s = ss_parse_quantity(text, columns[c].unit, &value, err);
    return s ? ss_fail_in(err, "column %s [%s]", columns[c].name, r->unit[c]) : SS_OK;
}

/* A field that nobody wants, but that looks like one of ours that is not there. */
static ss_status check_slip(const reader *r, const char *name, const char *const *wanted,
                            ss_error *err)
{
    const char *missing[SS_SAMPLES_COLUMNS];
    uint32_t n = 0;
    for (int c = 0; c < SS_SAMPLES_COLUMNS; c++)
        if (r->field[c] < 0 && !(wanted && wanted[c]))
            missing[n++] = columns[c].name;
    const char *near = ss_nearest(name, missing, n);
    if (near)
        return ss_fail(err, SS_EFORMAT,
                       "there is no column %s; did you mean %s? Then say so, "
                       "--columns %s=%s or columns = { %s = \"%s\" }; where it is something "
                       "else, name it otherwise",
                       name, near, near, name, near, name);
    return SS_OK;
}

static ss_status find_column(reader *r, int c, const char *wanted, ss_error *err)
{
    char sought[NAME], name[NAME], ignored[UNIT];
    ss_status s = ss_csv_heading(wanted ? wanted : columns[c].name, sought, r->unit[c], err);
    bool given = r->unit[c][0];
    for (uint32_t f = 0; !s && f < r->csv.fields; f++) {
        s = ss_csv_column(&r->csv, f, name, ignored, err);
        if (s || strcmp(name, sought) != 0)
            continue;
        if (r->field[c] >= 0) {
            ss_fail(err, SS_EFORMAT, "column %s is there twice", sought);
            return ss_csv_fail(&r->csv, r->csv.column[f], err);
        }
        r->field[c] = (int32_t)f;
        s = ss_csv_column(&r->csv, f, name, given ? ignored : r->unit[c], err);
        if (!s)
            s = check_unit(r, c, err);
        if (s)
            return ss_csv_fail(&r->csv, r->csv.column[f], err);
    }
    if (!s && wanted && r->field[c] < 0) {
        ss_fail(err, SS_EFORMAT, "there is no column %s, which is to be the %s", sought,
                columns[c].name);
        return ss_csv_fail(&r->csv, 1, err);
    }
    return s ? ss_csv_fail(&r->csv, 1, err) : SS_OK;
}

static ss_status read_header(reader *r, const char *const *wanted, ss_error *err)
{
    for (int c = 0; c < SS_SAMPLES_COLUMNS; c++) {
        r->field[c] = -1;
        ss_status s = find_column(r, c, wanted ? wanted[c] : NULL, err);
        if (s)
            return s;
    }
    for (uint32_t f = 0; f < r->csv.fields; f++) {
        bool taken = false;
        for (int c = 0; c < SS_SAMPLES_COLUMNS; c++)
            taken = taken || r->field[c] == (int32_t)f;
        if (!taken && check_slip(r, r->csv.field[f], wanted, err))
            return ss_csv_fail(&r->csv, r->csv.column[f], err);
    }
    bool time = r->field[SS_SAMPLES_SECONDS] >= 0 || r->field[SS_SAMPLES_BANDWIDTH] >= 0;
    if (r->field[SS_SAMPLES_BYTES] < 0 || !time) {
        ss_fail(err, SS_EFORMAT, "column %s is missing", time ? "bytes" : "seconds (or bandwidth)");
        return ss_csv_fail(&r->csv, 1, err);
    }
    r->fields = r->csv.fields;
    return SS_OK;
}

/* -- a row ------------------------------------------------------------------------------------ */

/* "" where there is no such column. */
static const char *text_of(const reader *r, int c)
{
    return r->field[c] < 0 ? "" : r->csv.field[r->field[c]];
}

static ss_status read_number(const reader *r, int c, double *out, ss_error *err)
{
    char with_unit[64 + UNIT], *end;
    const char *text = text_of(r, c);
    strtod(text, &end);
    if (r->unit[c][0] && *text && !*end && strlen(text) < 64) {
        snprintf(with_unit, sizeof with_unit, "%s %s", text, r->unit[c]);
        text = with_unit;
    }
    return ss_parse_quantity(text, columns[c].unit, out, err);
}

/* The sentence is there: puts the column's place before it. */
static ss_status fail_column(const reader *r, int c, ss_error *err)
{
    return ss_csv_fail(&r->csv, r->csv.column[r->field[c]], err);
}

static ss_status read_positive(const reader *r, int c, double *out, ss_error *err)
{
    ss_status s = read_number(r, c, out, err);
    if (!s && !(*out > 0))
        s = ss_fail(err, SS_EINVAL, "%s is %s: above 0 is wanted", columns[c].name, text_of(r, c));
    return s ? fail_column(r, c, err) : SS_OK;
}

/* Where a row has both its seconds count, and a bandwidth that says otherwise is noted. */
static ss_status compare_rate(const reader *r, const ss_sample *s, ss_error *err)
{
    double rate;
    if (!*text_of(r, SS_SAMPLES_BANDWIDTH) || !*text_of(r, SS_SAMPLES_SECONDS) || !(s->bytes > 0))
        return SS_OK;
    ss_status status = read_positive(r, SS_SAMPLES_BANDWIDTH, &rate, err);
    if (!status && fabs(s->bytes / s->seconds / rate - 1) > SAME_RATE)
        r->out->other_rates++;
    return status;
}

static ss_status read_time(const reader *r, ss_sample *s, bool *there, ss_error *err)
{
    double rate = 0;
    *there = true;
    if (*text_of(r, SS_SAMPLES_SECONDS))
        return read_positive(r, SS_SAMPLES_SECONDS, &s->seconds, err);
    *there = *text_of(r, SS_SAMPLES_BANDWIDTH) != 0;
    ss_status status = *there ? read_positive(r, SS_SAMPLES_BANDWIDTH, &rate, err) : SS_OK;
    if (status || !*there)
        return status;
    if (!(s->bytes > 0)) {
        ss_fail(err, SS_EINVAL, "0 bytes have no bandwidth: their seconds are wanted");
        return fail_column(r, SS_SAMPLES_BYTES, err);
    }
    s->seconds = s->bytes / rate;
    return SS_OK;
}

static ss_status read_method(const reader *r, ss_sample *s, ss_error *err)
{
    const char *text = text_of(r, SS_SAMPLES_METHOD);
    s->streamed = !strcmp(text, "streamed");
    if (!*text || s->streamed || !strcmp(text, "one_way"))
        return SS_OK;
    ss_fail(err, SS_EINVAL, "method %s: one_way or streamed is wanted", text);
    return fail_column(r, SS_SAMPLES_METHOD, err);
}

static ss_status read_ranks(const reader *r, uint32_t *ranks, ss_error *err)
{
    double n = 0;
    *ranks = 0;
    if (!*text_of(r, SS_SAMPLES_RANKS))
        return SS_OK;
    ss_status s = read_number(r, SS_SAMPLES_RANKS, &n, err);
    if (!s && !(n >= 2 && n <= 1e9 && n == (double)(uint32_t)n))
        s = ss_fail(err, SS_EINVAL, "ranks is %s: a whole number from 2 is wanted",
                    text_of(r, SS_SAMPLES_RANKS));
    *ranks = s ? 0 : (uint32_t)n;
    return s ? fail_column(r, SS_SAMPLES_RANKS, err) : SS_OK;
}

/* Words that a table has are known ones; ranks may be left to whoever fits. */
static ss_status check_pattern(const reader *r, uint32_t ranks, ss_error *err)
{
    ss_pattern p;
    const char *operation = text_of(r, SS_SAMPLES_OPERATION);
    const char *algorithm = text_of(r, SS_SAMPLES_ALGORITHM);
    if (!*operation)
        return SS_OK;
    bool p2p = !strcmp(operation, "p2p");
    if (!ss_pattern_find(operation, NULL, p2p ? 0 : 2, 0, &p, err)) {
        if (!*algorithm || !ss_pattern_find(operation, algorithm,
                                            ranks ? ranks
                                            : p2p ? 0
                                                  : 2,
                                            0, &p, err))
            return SS_OK;
        return fail_column(r, SS_SAMPLES_ALGORITHM, err);
    }
    return fail_column(r, SS_SAMPLES_OPERATION, err);
}

/* -- curves ----------------------------------------------------------------------------------- */

static ss_status add_curve(reader *r, uint32_t ranks, ss_error *err)
{
    ss_samples *s = r->out;
    ss_status status = SS_RESERVE(s->curve, s->cap, s->n + (size_t)1, "curves", err);
    if (status)
        return status;
    ss_samples_curve *c = &s->curve[s->n++];
    *c = (ss_samples_curve){.name = ss_strdup(text_of(r, SS_SAMPLES_CURVE)),
                            .operation = ss_strdup(text_of(r, SS_SAMPLES_OPERATION)),
                            .algorithm = ss_strdup(text_of(r, SS_SAMPLES_ALGORITHM)),
                            .ranks = ranks};
    if (!c->name || !c->operation || !c->algorithm)
        return ss_fail_memory(err, "a curve's name", NAME);
    return SS_OK;
}

/* Rows are of one curve if all that the table says of the curve is the same. */
static ss_status find_curve(reader *r, uint32_t ranks, ss_samples_curve **out, ss_error *err)
{
    uint32_t id = 0;
    ss_text_clear(&r->key);
    ss_text_add(&r->key, "%u,%s,%s,%s", ranks, text_of(r, SS_SAMPLES_OPERATION),
                text_of(r, SS_SAMPLES_ALGORITHM), text_of(r, SS_SAMPLES_CURVE));
    ss_status s = ss_text_status(&r->key, err);
    if (!s)
        s = ss_names_add(&r->keys, ss_text_get(&r->key), &id, err);
    if (!s && id > r->out->n)
        s = add_curve(r, ranks, err);
    *out = s ? NULL : &r->out->curve[id - 1];
    return s;
}

static ss_status read_row(reader *r, ss_error *err)
{
    ss_sample row = {.weight = 1};
    uint32_t ranks;
    bool there;
    if (r->csv.fields != r->fields) {
        ss_fail(err, SS_EFORMAT, "%u fields, and the header has %u", r->csv.fields, r->fields);
        return ss_csv_fail(&r->csv, r->csv.column[r->csv.fields - 1], err);
    }
    if (!*text_of(r, SS_SAMPLES_BYTES)) {
        r->out->skipped++;
        return SS_OK;
    }
    ss_status s = read_number(r, SS_SAMPLES_BYTES, &row.bytes, err);
    if (!s && !(row.bytes >= 0))
        s = ss_fail(err, SS_EINVAL, "bytes is %s: it cannot be below 0",
                    text_of(r, SS_SAMPLES_BYTES));
    if (!s && row.bytes > SS_SAMPLE_MOST_BYTES)
        s = ss_fail(err, SS_EINVAL, "bytes is %s: at most %g is wanted",
                    text_of(r, SS_SAMPLES_BYTES), SS_SAMPLE_MOST_BYTES);
    if (s)
        return fail_column(r, SS_SAMPLES_BYTES, err);
    s = read_time(r, &row, &there, err);
    if (!s && there &&
        (row.seconds > SS_SAMPLE_MOST_SECONDS || row.seconds < SS_SAMPLE_LEAST_SECONDS)) {
        bool most = row.seconds > SS_SAMPLE_MOST_SECONDS;
        ss_fail(err, SS_EINVAL, "it took %g s: at %s %g s is wanted", row.seconds,
                most ? "most" : "least", most ? SS_SAMPLE_MOST_SECONDS : SS_SAMPLE_LEAST_SECONDS);
        return fail_column(
            r, *text_of(r, SS_SAMPLES_SECONDS) ? SS_SAMPLES_SECONDS : SS_SAMPLES_BANDWIDTH, err);
    }
    if (!s && there)
        s = compare_rate(r, &row, err);
    r->out->skipped += !s && !there;
    if (s || !there)
        return s;
    if (*text_of(r, SS_SAMPLES_WEIGHT))
        s = read_positive(r, SS_SAMPLES_WEIGHT, &row.weight, err);
    if (!s && row.weight > SS_SAMPLE_MOST_WEIGHT) {
        ss_fail(err, SS_EINVAL, "weight is %s: at most %g is wanted", text_of(r, SS_SAMPLES_WEIGHT),
                SS_SAMPLE_MOST_WEIGHT);
        return fail_column(r, SS_SAMPLES_WEIGHT, err);
    }
    if (!s)
        s = read_method(r, &row, err);
    if (!s)
        s = read_ranks(r, &ranks, err);
    if (!s)
        s = check_pattern(r, ranks, err);
    if (s)
        return s;
    ss_samples_curve *c;
    s = find_curve(r, ranks, &c, err);
    if (!s)
        s = SS_RESERVE(c->sample, c->cap, c->n + (size_t)1, "measured times", err);
    if (!s)
        c->sample[c->n++] = row;
    return s;
}

static ss_status read_rows(reader *r, const char *const *wanted, ss_error *err)
{
    bool found;
    ss_status s = ss_csv_next(&r->csv, &found, err);
    if (!s && !found)
        return ss_fail(err, SS_EFORMAT, "%s: the table is empty: a header line is wanted",
                       r->csv.path);
    if (!s)
        s = read_header(r, wanted, err);
    while (!s && !(s = ss_csv_next(&r->csv, &found, err)) && found)
        s = read_row(r, err);
    if (!s && !r->out->n)
        return ss_fail(err, SS_EFORMAT, "%s:%u: the table has no row with a time", r->csv.path,
                       r->csv.of);
    return s;
}

ss_status ss_samples_read(const char *path, const char *const column[SS_SAMPLES_COLUMNS],
                          ss_samples *out, ss_error *err)
{
    *out = (ss_samples){0};
    reader r = {.out = out};
    ss_status s = ss_csv_open(path, &r.csv, err);
    if (!s)
        s = read_rows(&r, column, err);
    ss_csv_close(&r.csv);
    ss_names_free(&r.keys);
    ss_text_free(&r.key);
    if (s)
        ss_samples_free(out);
    return s;
}

void ss_samples_free(ss_samples *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        ss_free(s->curve[i].name);
        ss_free(s->curve[i].operation);
        ss_free(s->curve[i].algorithm);
        ss_free(s->curve[i].sample);
    }
    ss_free(s->curve);
    *s = (ss_samples){0};
}
