/* profile_file.c - profiles: rows, merging, and their HDF5 file. */
#include "config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "io/file.h"
#include "io/h5.h"
#include "io/measured.h"
#include "validation/profiler/profile_inside.h"

/* Those of io/measured_h5.c: a profile is such a table. */
#define KIND "soapstone measured table"
enum { FORMAT = 1 };
static const char table[] = "measured", samples[] = "samples", streams[] = "streams";

void ss_profile_free(ss_profile *p)
{
    ss_free(p->row);
    ss_arena_free(&p->memory);
    *p = (ss_profile){0};
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool same_key(const ss_measured *a, const ss_measured *b)
{
    return a->phase == b->phase && !strcmp(a->kind, b->kind) && !strcmp(a->attributes, b->attributes) &&
           !strcmp(a->shape, b->shape) && !strcmp(a->dtype, b->dtype) &&
           !strcmp(a->device_kind, b->device_kind);
}

static uint32_t find(const ss_profile *p, const ss_measured *m)
{
    uint32_t i = 0;
    while (i < p->rows && !same_key(&p->row[i].m, m))
        i++;
    return i;
}

ss_status ss_profile_add(ss_profile *p, const ss_measured *m, const double *sample, uint32_t n, ss_error *err)
{
    ss_profile_row row = {.m = *m};
    double *copy = ss_arena_take(&p->memory, (n + 1) * sizeof *copy);
    row.m.kind = ss_profile_keep(&p->memory, m->kind);
    row.m.device_kind = ss_profile_keep(&p->memory, m->device_kind);
    row.m.attributes = ss_profile_keep(&p->memory, m->attributes);
    row.m.shape = ss_profile_keep(&p->memory, m->shape);
    row.m.dtype = ss_profile_keep(&p->memory, m->dtype);
    if (!copy || !row.m.kind || !row.m.device_kind || !row.m.attributes || !row.m.shape || !row.m.dtype)
        return ss_fail_memory(err, "a profile", n * sizeof *copy);
    memcpy(copy, sample, n * sizeof *copy);
    row.sample = copy;
    ss_status s = ss_statistics_of(sample, n, &row.s, err);
    if (!s)
        s = SS_RESERVE(p->row, p->cap, (size_t)p->rows + 1, "a profile", err);
    if (s)
        return s;
    row.m.seconds = row.s.median;
    row.m.spread_s = row.s.deviation;
    row.m.samples = row.s.n;
    uint32_t at = find(p, m);
    p->row[at] = row;
    p->rows += at == p->rows;
    return SS_OK;
}

/* ---- merging ------------------------------------------------------------------------------- */

static ss_status check_same(const char *what, const char *a, const char *b, ss_error *err)
{
    return strcmp(a, b) == 0
               ? SS_OK
               : ss_fail(err, SS_EINVAL, "profiles of %s \"%s\" and \"%s\" do not go together", what, a, b);
}

static ss_status take_description(ss_profile *into, const ss_profile *from, ss_error *err)
{
    const char *const text[] = {from->device_kind, from->version, from->machine,  from->processor,
                                from->inputs,      from->element, from->wallclock};
    const char **const to[] = {&into->device_kind, &into->version, &into->machine,  &into->processor,
                               &into->inputs,      &into->element, &into->wallclock};
    const char *kept[sizeof text / sizeof text[0]];
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        if (!(kept[i] = ss_profile_keep(&into->memory, text[i])))
            return ss_fail_memory(err, "a profile", 0);
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        *to[i] = kept[i];
    into->cores = from->cores;
    into->rounds = from->rounds;
    return SS_OK;
}

ss_status ss_profile_check_same(const ss_profile *a, const char *device_kind, const char *version,
                                const char *inputs, const char *element, ss_error *err)
{
    ss_status s = check_same("device kind", a->device_kind, device_kind, err);
    if (!s)
        s = check_same("version", a->version, version, err);
    if (!s)
        s = check_same("inputs", a->inputs, inputs, err);
    return s ? s : check_same("element type", a->element, element, err);
}

/* Instead of those that were there. */
static ss_status take_streams(ss_profile *into, const ss_stream_row *row, uint32_t rows, double interference,
                              ss_error *err)
{
    ss_stream_row *copy = ss_arena_take(&into->memory, (rows + 1) * sizeof *copy);
    if (!copy)
        return ss_fail_memory(err, "a profile", rows * sizeof *copy);
    memcpy(copy, row, rows * sizeof *copy);
    for (uint32_t i = 0; i < rows; i++)
        copy[i].sample = NULL;
    into->stream = copy;
    into->streams = rows;
    into->interference = interference;
    return SS_OK;
}

ss_status ss_profile_merge(ss_profile *into, const ss_profile *from, ss_error *err)
{
    ss_status s = SS_OK;
    if (into->device_kind)
        s = ss_profile_check_same(into, from->device_kind, from->version, from->inputs, from->element, err);
    if (!s)
        s = take_description(into, from, err);
    for (uint32_t i = 0; i < from->rows && !s; i++)
        s = ss_profile_add(into, &from->row[i].m, from->row[i].sample, from->row[i].s.n, err);
    if (!s && from->streams)
        s = take_streams(into, from->stream, from->streams, from->interference, err);
    return s;
}

ss_status ss_profile_add_to_costs(const ss_profile *p, const char *name, ss_costs *c, ss_error *err)
{
    ss_status s = ss_costs_begin_table(c, name, err);
    for (uint32_t i = 0; i < p->rows && !s; i++)
        s = ss_costs_add_measured(c, &p->row[i].m, err);
    for (uint32_t i = 0; i < p->streams && !s; i++) {
        const ss_stream_row *x = &p->stream[i];
        s = ss_costs_add_stream(c,
                                &(ss_measured_stream){.device_kind = p->device_kind,
                                                      .what = x->what,
                                                      .bytes = ss_stream_traffic(x->what, (double)x->bytes),
                                                      .seconds = x->s.median,
                                                      .has_bound = x->has_bound,
                                                      .bound = x->bound},
                                err);
    }
    return s;
}

static double mean_of(double a, uint32_t n, double b, uint32_t m)
{
    return (a * n + b * m) / ((double)n + m);
}

static ss_status pool_row(ss_profile *into, const ss_profile_row *row, ss_error *err)
{
    uint32_t at = find(into, &row->m), n = at < into->rows ? into->row[at].s.n : 0;
    double *sample = ss_alloc((n + (size_t)row->s.n) * sizeof *sample);
    ss_measured m = row->m;
    if (!sample)
        return ss_fail_memory(err, "a profile", row->s.n * sizeof *sample);
    if (n) {
        const ss_measured *old = &into->row[at].m;
        memcpy(sample, into->row[at].sample, n * sizeof *sample);
        m.has_bound = m.has_bound || old->has_bound;
        m.bound = !old->has_bound ? m.bound : row->m.has_bound ? mean_of(old->bound, n, m.bound, row->s.n) : old->bound;
    }
    memcpy(sample + n, row->sample, row->s.n * sizeof *sample);
    ss_status s = ss_profile_add(into, &m, sample, n + row->s.n, err);
    ss_free(sample);
    return s;
}

/* Of the same streams and sizes; others take the place of those there. */
static ss_status pool_streams(ss_profile *into, const ss_profile *from, ss_error *err)
{
    bool same = into->streams == from->streams;
    for (uint32_t i = 0; same && i < from->streams; i++)
        same = into->stream[i].what == from->stream[i].what && into->stream[i].bytes == from->stream[i].bytes;
    if (!same)
        return take_streams(into, from->stream, from->streams, from->interference, err);
    uint32_t n = from->streams ? into->stream[0].s.n : 0, m = from->streams ? from->stream[0].s.n : 0;
    for (uint32_t i = 0; i < from->streams; i++) {
        ss_statistics *a = &into->stream[i].s;
        const ss_statistics *b = &from->stream[i].s;
        a->median = mean_of(a->median, n, b->median, m);
        a->mean = mean_of(a->mean, n, b->mean, m);
        a->deviation = mean_of(a->deviation, n, b->deviation, m);
        a->q05 = mean_of(a->q05, n, b->q05, m);
        a->q25 = mean_of(a->q25, n, b->q25, m);
        a->q75 = mean_of(a->q75, n, b->q75, m);
        a->q95 = mean_of(a->q95, n, b->q95, m);
        a->n = n + m;
        into->stream[i].bound = mean_of(into->stream[i].bound, n, from->stream[i].bound, m);
    }
    into->interference = mean_of(into->interference, n, from->interference, m);
    return SS_OK;
}

ss_status ss_profile_pool(ss_profile *into, const ss_profile *from, ss_error *err)
{
    ss_status s = SS_OK;
    if (!into->device_kind)
        return ss_profile_merge(into, from, err);
    s = ss_profile_check_same(into, from->device_kind, from->version, from->inputs, from->element, err);
    uint64_t rounds = into->rounds + from->rounds;
    if (!s)
        s = take_description(into, from, err);
    for (uint32_t i = 0; i < from->rows && !s; i++)
        s = pool_row(into, &from->row[i], err);
    if (!s && from->streams)
        s = pool_streams(into, from, err);
    into->rounds = s ? into->rounds : rounds;
    return s;
}

/* ---- the machine --------------------------------------------------------------------------- */

static void processor_name(char *out, size_t n)
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    out[0] = 0;
    while (f && !out[0] && fgets(line, sizeof line, f)) {
        char *colon = strncmp(line, "model name", 10) ? NULL : strchr(line, ':');
        if (!colon)
            continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, n, "%s", colon + 1 + strspn(colon + 1, " "));
    }
    if (f)
        fclose(f);
}

ss_status ss_profile_describe_machine(ss_profile *p, ss_error *err)
{
    struct utsname u;
    char machine[512] = "", processor[512], date[64] = "";
    if (uname(&u) >= 0)
        snprintf(machine, sizeof machine, "%.64s %.64s %.64s", u.sysname, u.release, u.machine);
    processor_name(processor, sizeof processor);
    time_t now = time(NULL);
    struct tm t;
    if (gmtime_r(&now, &t))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &t);
    long cores = sysconf(_SC_NPROCESSORS_CONF);
    p->cores = cores > 0 ? (uint64_t)cores : 0;
    p->machine = ss_profile_keep(&p->memory, machine);
    p->processor = ss_profile_keep(&p->memory, processor);
    p->wallclock = ss_profile_keep(&p->memory, date);
    return p->machine && p->processor && p->wallclock ? SS_OK : ss_fail_memory(err, "a profile", 0);
}

/* ---- the file ------------------------------------------------------------------------------ */

typedef struct row_in_file {
    ss_measured m; /* but for the phase */
    const char *phase;
    ss_statistics s;
    uint32_t crowded; /* whether it was measured beside a stream */
} row_in_file;

typedef struct stream_in_file {
    const char *what;
    ss_stream_row r;
    double bytes;
} stream_in_file;

typedef struct sample_in_file {
    uint32_t row;
    double seconds;
} sample_in_file;

#define TEXT(name, member, long_name)                                                              \
    {                                                                                              \
        name, SS_H5_TEXT, offsetof(row_in_file, member), NULL, long_name, NULL, 0, false           \
    }
#define SECONDS(name, member, long_name)                                                           \
    {                                                                                              \
        name, SS_H5_F64, offsetof(row_in_file, member), "s", long_name, NULL, 0, false             \
    }

static const ss_h5_field field[] = {
    TEXT("kind", m.kind, "operator kind"),
    TEXT("attributes", m.attributes, "name=value of each attribute"),
    TEXT("shape", m.shape, "extents of the part's output < of its inputs"),
    TEXT("dtype", m.dtype, "element type of the output"),
    TEXT("phase", phase, "forward, backward, input_gradient or weight_gradient"),
    TEXT("device", m.device_kind, "device kind"),
    SECONDS("seconds", m.seconds, "median of the samples"),
    SECONDS("spread_s", m.spread_s, "standard deviation without outliers"),
    {"samples", SS_H5_U32, offsetof(row_in_file, m.samples), "1", "how many there are", NULL, 0, false},
    SECONDS("mean_s", s.mean, "mean without outliers"),
    SECONDS("q05_s", s.q05, "quantile 0.05"),
    SECONDS("q25_s", s.q25, "quantile 0.25"),
    SECONDS("q75_s", s.q75, "quantile 0.75"),
    SECONDS("q95_s", s.q95, "quantile 0.95"),
    SECONDS("least_s", s.least, "least sample"),
    SECONDS("most_s", s.most, "largest sample"),
    {"outliers", SS_H5_U32, offsetof(row_in_file, s.outliers), "1",
     "samples more than 3 interquartile ranges beyond the quartiles", NULL, 0, false},
    {"memory_bound", SS_H5_F64, offsetof(row_in_file, m.bound), "1",
     "how far it waits for memory that other cores use too, 0 to 1", NULL, 0, true},
    {"crowded", SS_H5_U32, offsetof(row_in_file, crowded), "1",
     "1: memory_bound was measured, 0: it is not known", NULL, 0, true},
};
enum { FIELDS = sizeof field / sizeof field[0] };

static const ss_h5_field sample_field[] = {
    {"row", SS_H5_U32, offsetof(sample_in_file, row), NULL, "row of /measured, from 1", NULL, 0, false},
    {"seconds", SS_H5_F64, offsetof(sample_in_file, seconds), "s", "time it took", NULL, 0, false},
};
enum { SAMPLE_FIELDS = sizeof sample_field / sizeof sample_field[0] };

#define STREAM(name, unit, member, long_name)                                                      \
    {                                                                                              \
        name, SS_H5_F64, offsetof(stream_in_file, member), unit, long_name, NULL, 0, false         \
    }

static const ss_h5_field stream_field[] = {
    {"what", SS_H5_TEXT, offsetof(stream_in_file, what), NULL, "copy, sum, update or message", NULL, 0, false},
    STREAM("bytes", "B", bytes, "of the result"),
    STREAM("seconds", "s", r.s.median, "median of the samples"),
    STREAM("spread_s", "s", r.s.deviation, "standard deviation without outliers"),
    {"samples", SS_H5_U32, offsetof(stream_in_file, r.s.n), "1", "how many there were", NULL, 0, false},
    STREAM("q05_s", "s", r.s.q05, "quantile 0.05"),
    STREAM("q25_s", "s", r.s.q25, "quantile 0.25"),
    STREAM("q75_s", "s", r.s.q75, "quantile 0.75"),
    STREAM("q95_s", "s", r.s.q95, "quantile 0.95"),
    STREAM("memory_bound", "1", r.bound, "how far it waits for memory that other cores use too, 0 to 1"),
};
enum { STREAM_FIELDS = sizeof stream_field / sizeof stream_field[0] };

static ss_status put_streams(ss_h5 *f, const ss_profile *p, ss_error *err)
{
    stream_in_file *row = ss_alloc((p->streams + 1) * sizeof *row);
    if (!row)
        return ss_fail_memory(err, "a profile's file", p->streams * sizeof *row);
    for (uint32_t i = 0; i < p->streams; i++)
        row[i] = (stream_in_file){ss_stream_name(p->stream[i].what), p->stream[i], (double)p->stream[i].bytes};
    ss_status s = ss_h5_put_table(f, streams, stream_field, STREAM_FIELDS, row, sizeof *row, p->streams, err);
    if (!s)
        s = ss_h5_put_f64(f, streams, "interference", p->interference, err);
    ss_free(row);
    return s;
}

static ss_status get_streams(ss_h5 *f, ss_profile *p, ss_arena *arena, ss_error *err)
{
    void *at = NULL;
    uint32_t rows = 0;
    double interference = 0;
    ss_status s = ss_h5_get_table(f, streams, stream_field, STREAM_FIELDS, sizeof(stream_in_file), 0, arena, &at,
                                  &rows, err);
    ss_stream_row *out = s ? NULL : ss_arena_take(arena, (rows + 1) * sizeof *out);
    if (!s && !out)
        s = ss_fail_memory(err, "a profile", rows * sizeof *out);
    for (uint32_t i = 0; i < rows && !s; i++) {
        const stream_in_file *x = (const stream_in_file *)at + i;
        out[i] = x->r;
        out[i].has_bound = true;
        out[i].bytes = (int64_t)x->bytes;
        s = ss_stream_parse(x->what, &out[i].what, err);
        if (!s && !(x->bytes >= 1 && x->bytes < 0x1p62 && x->r.s.median > 0 && x->r.bound >= 0 && x->r.bound <= 1))
            s = ss_fail(err, SS_EFORMAT, "%s of %g bytes, %g s, waits for memory %g of its time", x->what, x->bytes,
                        x->r.s.median, x->r.bound);
        if (s)
            ss_fail_in(err, "%s: row %u of /%s", ss_h5_path(f), i + 1, streams);
    }
    if (!s)
        s = ss_h5_get_f64(f, streams, "interference", &interference, err);
    if (!s && !(interference >= 0 && interference <= 1000))
        s = ss_fail(err, SS_EFORMAT, "%s: interference of /%s is %g", ss_h5_path(f), streams, interference);
    return s ? s : take_streams(p, out, rows, interference, err);
}

static ss_status put_description(ss_h5 *f, const ss_profile *p, ss_error *err)
{
    const struct {
        const char *name, *value;
    } text[] = {{"long_name", "measured times of operators"},
                {"device_kind", p->device_kind},
                {"library", p->version},
                {"machine", p->machine},
                {"processor", p->processor},
                {"inputs", p->inputs},
                {"element_type", p->element},
                {"wallclock", p->wallclock}};
    ss_status s = SS_OK;
    for (size_t i = 0; i < sizeof text / sizeof text[0] && !s; i++)
        s = ss_h5_put_text(f, table, text[i].name, text[i].value, err);
    if (!s)
        s = ss_h5_put_u64(f, table, "cores", p->cores, err);
    return s ? s : ss_h5_put_u64(f, table, "rounds", p->rounds, err);
}

static ss_status put(ss_h5 *f, const ss_profile *p, const row_in_file *row, const sample_in_file *sample,
                     uint32_t n, ss_error *err)
{
    ss_status s = ss_h5_put_format(f, KIND, FORMAT, err);
    if (!s)
        s = ss_h5_put_table(f, table, field, FIELDS, row, sizeof *row, p->rows, err);
    if (!s)
        s = put_description(f, p, err);
    if (!s)
        s = ss_h5_put_table(f, samples, sample_field, SAMPLE_FIELDS, sample, sizeof *sample, n, err);
    if (!s && p->streams)
        s = put_streams(f, p, err);
    return s;
}

ss_status ss_profile_write(const char *path, const ss_profile *p, ss_error *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->rows; i++)
        n += p->row[i].s.n;
    if (!p->rows)
        return ss_fail(err, SS_EINVAL, "%s: a profile without rows is not written", path);
    if (n >= UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "%s: a profile of %zu samples", path, n);
    row_in_file *row = ss_alloc(p->rows * sizeof *row);
    sample_in_file *sample = ss_alloc(n * sizeof *sample);
    ss_h5 *f = NULL;
    ss_status s = row && sample ? ss_h5_create(path, &f, err)
                                : ss_fail_memory(err, "a profile's file", n * sizeof *sample);
    if (!s) {
        n = 0;
        for (uint32_t i = 0; i < p->rows; i++) {
            const ss_profile_row *x = &p->row[i];
            row[i] = (row_in_file){x->m, ss_phase_name(x->m.phase), x->s, x->m.has_bound};
            for (uint32_t k = 0; k < x->s.n; k++)
                sample[n++] = (sample_in_file){i + 1, x->sample[k]};
        }
        s = put(f, p, row, sample, (uint32_t)n, err);
        if (s)
            ss_h5_close(f);
        else
            s = ss_h5_finish(f, err);
    }
    ss_free(row);
    ss_free(sample);
    return s;
}

ss_status ss_profile_check_place(const char *path, ss_error *err)
{
    ss_h5 *f = NULL;
    ss_error reason;
    if (!ss_file_holds(path))
        return SS_OK;
    ss_status s = ss_h5_open(path, &f, &reason);
    if (!s)
        s = ss_h5_check_format(f, KIND, FORMAT, &reason);
    bool profile = !s && ss_h5_has(f, samples);
    ss_h5_close(f);
    if (s == SS_ENOMEM)
        return ss_fail(err, s, "%s", reason.text);
    return profile ? SS_OK : ss_file_fail_kind(err, path, "profile of this soapstone");
}

static ss_status get_description(ss_h5 *f, ss_profile *p, ss_error *err)
{
    const struct {
        const char *name, **to;
    } text[] = {{"device_kind", &p->device_kind}, {"library", &p->version},
                {"machine", &p->machine},         {"processor", &p->processor},
                {"inputs", &p->inputs},           {"element_type", &p->element},
                {"wallclock", &p->wallclock}};
    ss_status s = SS_OK;
    for (size_t i = 0; i < sizeof text / sizeof text[0] && !s; i++)
        s = ss_h5_get_text(f, table, text[i].name, &p->memory, text[i].to, err);
    if (!s)
        s = ss_h5_get_u64(f, table, "cores", &p->cores, err);
    return s ? s : ss_h5_get_u64(f, table, "rounds", &p->rounds, err);
}

/* Statistics are worked out anew: they are a function of the samples. */
static ss_status add_rows(const char *path, ss_profile *p, const row_in_file *row, uint32_t rows,
                          const sample_in_file *sample, uint32_t n, double *seconds, ss_error *err)
{
    ss_status s = SS_OK;
    uint32_t at = 0;
    for (uint32_t i = 0; i < rows && !s; i++) {
        ss_measured m = row[i].m;
        m.has_bound = row[i].crowded != 0;
        uint32_t first = at;
        while (at < n && sample[at].row == i + 1)
            seconds[at] = sample[at].seconds, at++;
        s = ss_measured_phase_parse(row[i].phase, &m.phase, err);
        if (!s && at - first != m.samples)
            s = ss_fail(err, SS_EFORMAT, "%u samples, of which /%s has %u", m.samples, samples, at - first);
        if (!s)
            s = ss_profile_add(p, &m, seconds + first, at - first, err);
        if (!s && p->rows != i + 1)
            s = ss_fail(err, SS_EFORMAT, "it is there twice");
        if (s)
            ss_fail_in(err, "%s: row %u of /%s", path, i + 1, table);
    }
    if (!s && at != n)
        s = ss_fail(err, SS_EFORMAT, "%s: row %u of /%s is of no row of /%s", path, at + 1, samples, table);
    return s;
}

static ss_status get(ss_h5 *f, ss_profile *p, ss_arena *arena, ss_error *err)
{
    void *row = NULL, *sample = NULL;
    uint32_t rows = 0, n = 0;
    ss_status s = ss_h5_check_format(f, KIND, FORMAT, err);
    if (!s && !ss_h5_has(f, samples))
        s = ss_fail(err, SS_EFORMAT, "%s has no /%s: it is no profile", ss_h5_path(f), samples);
    if (!s)
        s = get_description(f, p, err);
    if (!s)
        s = ss_h5_get_table(f, table, field, FIELDS, sizeof(row_in_file), 0, arena, &row, &rows, err);
    if (!s)
        s = ss_h5_get_table(f, samples, sample_field, SAMPLE_FIELDS, sizeof(sample_in_file), 0, arena, &sample,
                            &n, err);
    double *seconds = s ? NULL : ss_arena_take(arena, (n + 1) * sizeof *seconds);
    if (!s && !seconds)
        s = ss_fail_memory(err, "a profile", n * sizeof *seconds);
    if (!s && ss_h5_has(f, streams))
        s = get_streams(f, p, arena, err);
    return s ? s : add_rows(ss_h5_path(f), p, row, rows, sample, n, seconds, err);
}

ss_status ss_profile_read(const char *path, ss_profile *out, ss_error *err)
{
    ss_h5 *f;
    ss_status s = ss_h5_open(path, &f, err);
    if (s)
        return s;
    ss_profile p = {0};
    ss_arena arena = {0};
    s = get(f, &p, &arena, err);
    ss_h5_close(f);
    ss_arena_free(&arena);
    if (s)
        ss_profile_free(&p);
    else
        *out = p;
    return s;
}
