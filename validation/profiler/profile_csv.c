#include "validation/profiler/profile_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "io/file.h"
#include "io/measured.h"
#include "simulate/cost_sources.h"
#include "validation/profiler/profile_inside.h"

/* ---- reading ------------------------------------------------------------------------------------------------- */

typedef struct reader {
    ss_profile *p;
    double *sample; /* of the row at hand */
    uint32_t cap;
} reader;

/* The text behind "# NAME: " among the comment lines that come first; "" where there is none. */
static ss_status head_text(ss_profile *p, const char *text, const char *name, const char **out,
                           ss_error *err)
{
    size_t n = strlen(name), value = 0;
    const char *at = text + strspn(text, " \t\r\n"), *found = "";
    for (; *at == '#'; at += strcspn(at, "\n"), at += strspn(at, " \t\r\n")) {
        const char *word = at + 1 + strspn(at + 1, " \t");
        if (strncmp(word, name, n) != 0 || word[n] != ':')
            continue;
        found = word + n + 1 + strspn(word + n + 1, " \t");
        value = strcspn(found, "\r\n");
        while (value && (found[value - 1] == ' ' || found[value - 1] == '\t'))
            value--;
        break;
    }
    char *copy = ss_arena_take(&p->memory, value + 1);
    if (!copy)
        return ss_fail_memory(err, "a profile", value);
    memcpy(copy, found, value);
    copy[value] = 0;
    *out = copy;
    return SS_OK;
}

static ss_status head_count(ss_profile *p, const char *text, const char *name, uint64_t *out,
                            ss_error *err)
{
    const char *word = "";
    char *end;
    ss_status s = head_text(p, text, name, &word, err);
    if (s || !*word)
        return s;
    unsigned long long n = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || n > UINT32_MAX)
        return ss_fail(err, SS_EFORMAT, "the comment \"%s: %.40s\" should be a whole number", name,
                       word);
    *out = n;
    return SS_OK;
}

static ss_status take_head(void *context, const char *text, ss_error *err)
{
    ss_profile *p = ((reader *)context)->p;
    const struct {
        const char *name, **to;
    } of[] = {{"device_kind", &p->device_kind}, {"library", &p->version},
              {"machine", &p->machine},         {"processor", &p->processor},
              {"inputs", &p->inputs},           {"element_type", &p->element},
              {"wallclock", &p->wallclock}};
    ss_status s = SS_OK;
    for (size_t i = 0; i < sizeof of / sizeof of[0] && !s; i++)
        s = head_text(p, text, of[i].name, of[i].to, err);
    if (!s)
        s = head_count(p, text, "cores", &p->cores, err);
    return s ? s : head_count(p, text, "rounds", &p->rounds, err);
}

static ss_status read_samples(reader *r, const char *text, uint32_t *n, ss_error *err)
{
    *n = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        char *end;
        double seconds = strtod(at, &end);
        if (end == at || (*end && *end != ' ') || !(seconds >= 0 && isfinite(seconds)))
            return ss_fail(err, SS_EFORMAT,
                           "sample %u is \"%.*s\": seconds are wanted, with a blank between two",
                           *n + 1, (int)(strcspn(at, " ") < 40 ? strcspn(at, " ") : 40), at);
        ss_status s = SS_RESERVE(r->sample, r->cap, (size_t)*n + 1, "samples", err);
        if (s)
            return s;
        r->sample[(*n)++] = seconds;
        at = end;
    }
    if (*n)
        return SS_OK;
    return ss_fail(err, SS_EFORMAT,
                   "no samples (column samples_s): this is a table of measured times, for "
                   "costs.table and --costs, and no "
                   "profile");
}

/* "8x6<8x64 ,8x6" -> "8x6 < 8x64, 8x6" */
static void spell_shape(const char *text, ss_text *out)
{
    for (; *text; text++)
        if (*text == '<')
            ss_text_add(out, " < ");
        else if (*text == ',')
            ss_text_add(out, ", ");
        else if (*text != ' ')
            ss_text_add_bytes(out, text, 1);
}

/* What was written is a rounded median; more than its last digits apart is another number. */
static bool agree(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

static ss_status check_row(const ss_profile *p, const ss_measured *said, uint32_t rows_before,
                           ss_error *err)
{
    const ss_profile_row *row = &p->row[p->rows - 1];
    if (p->rows == rows_before)
        return ss_fail(err, SS_EFORMAT, "it is there twice");
    if (said->samples && said->samples != row->s.n)
        return ss_fail(err, SS_EFORMAT, "samples is %u, and samples_s has %u", said->samples,
                       row->s.n);
    if (!agree(said->seconds, row->s.median))
        return ss_fail(err, SS_EFORMAT, "seconds is %g, and the median of its samples is %g",
                       said->seconds, row->s.median);
    return SS_OK;
}

static ss_status add_row(reader *r, const ss_measured *row, uint32_t n, ss_text *attributes,
                         ss_text *shape, ss_error *err)
{
    ss_measured m = *row;
    spell_shape(row->shape, shape);
    ss_status s = ss_cost_attributes(ss_op_kind_find(row->kind), row->attributes, attributes, err);
    if (!s)
        s = ss_text_status(shape, err);
    if (s)
        return s;
    m.attributes = ss_text_get(attributes);
    m.shape = ss_text_get(shape);
    uint32_t before = r->p->rows;
    s = ss_profile_add(r->p, &m, r->sample, n, err);
    return s ? s : check_row(r->p, row, before, err);
}

static ss_status take_row(void *context, const ss_measured *row, const char *samples_s,
                          ss_error *err)
{
    reader *r = context;
    ss_text attributes = {0}, shape = {0};
    uint32_t n;
    ss_status s = read_samples(r, samples_s, &n, err);
    if (!s && !*r->p->device_kind) {
        r->p->device_kind = ss_profile_keep(&r->p->memory, row->device_kind);
        s = r->p->device_kind ? SS_OK : ss_fail_memory(err, "a profile", 0);
    }
    if (!s && strcmp(r->p->device_kind, row->device_kind) != 0)
        s = ss_fail(err, SS_EFORMAT, "device is %s, and a profile is of one kind, here %s",
                    row->device_kind, r->p->device_kind);
    if (!s)
        s = add_row(r, row, n, &attributes, &shape, err);
    ss_text_free(&attributes);
    ss_text_free(&shape);
    return s;
}

ss_status ss_profile_read_csv(const char *path, ss_profile *out, ss_error *err)
{
    ss_profile p = {0};
    reader r = {.p = &p};
    const ss_measured_visitor visitor = {&r, take_head, take_row};
    ss_status s = ss_measured_visit_csv(path, &visitor, err);
    ss_free(r.sample);
    if (s)
        ss_profile_free(&p);
    else
        *out = p;
    return s;
}

/* ---- what is to be measured ---------------------------------------------------------------------------------- */

/* In quotes, which shapes of several inputs need. */
static void add_field(ss_text *t, const char *text)
{
    ss_text_add(t, "\"");
    for (; *text; text++) {
        if (*text == '"')
            ss_text_add(t, "\"");
        ss_text_add_bytes(t, text, 1);
    }
    ss_text_add(t, "\"");
}

static void add_rows(const ss_profiler *p, const ss_profiled *x, ss_text *t)
{
    const ss_op_def *def = x->model->op[x->op.i].def;
    for (int i = 0; i < SS_PHASES; i++) {
        if (!x->phase[i])
            continue;
        ss_text_add(t, "%s,", def->kind->name);
        add_field(t, x->attributes);
        ss_text_add(t, ",");
        add_field(t, x->shape);
        ss_text_add(t, ",%s,%s,", ss_dtype_name(def->out[0].dtype), ss_phase_name((ss_phase)i));
        add_field(t, p->device_kind);
        ss_text_add(t, "\n");
    }
}

#define LIST "# times to be measured"

static ss_status check_place(const char *path, ss_error *err)
{
    char begin[sizeof LIST] = "";
    FILE *f = ss_file_holds(path) ? fopen(path, "rb") : NULL;
    if (!f)
        return SS_OK; /* what cannot be read is said when it is written */
    size_t n = fread(begin, 1, sizeof LIST - 1, f);
    fclose(f);
    return n == sizeof LIST - 1 && !strcmp(begin, LIST)
               ? SS_OK
               : ss_file_fail_kind(err, path, "list of times");
}

ss_status ss_profiler_write_list(const ss_profiler *p, const char *path, ss_error *err)
{
    ss_text t = {0};
    ss_text_add(&t, LIST ": validation/profile_torch.py does it with PyTorch\n"
                         "kind,attributes,shape,dtype,phase,device\n");
    for (uint32_t i = 1; i <= p->keys.n; i++)
        add_rows(p, &p->of[i], &t);
    ss_status s = ss_text_status(&t, err);
    if (!s)
        s = check_place(path, err);
    if (!s)
        s = ss_file_write(path, ss_text_get(&t), t.n, err);
    ss_text_free(&t);
    return s;
}
