/* Measured times, and those between them.
 *
 * Rows that agree in kind, attributes, element type, phase, device kind and ranks make a group; in
 * it a row is a list of extents (the output's, then each input's) and its seconds.  A part that was
 * not measured is looked for between two rows that differ from it in one extent of the output, the
 * sample say, and in those input extents that follow it.  Between them time is a straight line in
 * logarithms, exact for any power of the size; nothing is ever said of sizes beyond the measured
 * ones.  Where no two rows are so near, the corners of a measured box around the part will do:
 * along one dimension after the other, the same line between what is known or found on either side.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_interp.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "simulate/cost_sources.h"

enum { MAX_EXTENTS = SS_MAX_DIMS * (SS_MAX_INPUTS + 1), FORM_TEXT = 3 * (SS_MAX_INPUTS + 2) };

typedef struct table_row {
    const int64_t *extent; /* [group.extents] */
    double seconds, spread_s;
    uint32_t samples;
    bool has_bound;
    double bound;
} table_row;

typedef struct group {
    table_row *row;
    uint32_t rows, cap, extents;
} group;

typedef struct place {
    uint32_t group, row;
} place;

struct ss_cost_table {
    char *name;
    ss_names keys; /* "kind|attributes|dtype|phase|device kind|ranks" -> group */
    group *group;  /* from 1 */
    uint32_t group_cap;
    ss_names exact; /* "key|extents" -> place */
    place *place;   /* from 1 */
    uint32_t place_cap;
    ss_arena arena;   /* extents */
    ss_names devices; /* kinds */
    ss_cost_streams *streams;
};

typedef struct extents {
    int64_t at[MAX_EXTENTS];
    uint32_t n;
    char form[FORM_TEXT]; /* ranks: "4<4,2" */
} extents;

ss_status ss_cost_table_new(const char *name, ss_cost_table **out, ss_error *err)
{
    ss_cost_table *t = ss_alloc_zeroed(1, sizeof *t);
    char *copy = ss_strdup(name);
    if (!t || !copy) {
        ss_free(t);
        ss_free(copy);
        return ss_fail_memory(err, "a table of times", sizeof *t);
    }
    t->name = copy;
    *out = t;
    return SS_OK;
}

void ss_cost_table_free(ss_cost_table *t)
{
    if (!t)
        return;
    for (uint32_t i = 1; i <= t->keys.n; i++)
        ss_free(t->group[i].row);
    ss_free(t->group);
    ss_free(t->place);
    ss_cost_streams_free(t->streams);
    ss_names_free(&t->keys);
    ss_names_free(&t->exact);
    ss_names_free(&t->devices);
    ss_arena_free(&t->arena);
    ss_free(t->name);
    ss_free(t);
}

const char *ss_cost_table_name(const ss_cost_table *t)
{
    return t->name;
}

uint32_t ss_cost_table_rows(const ss_cost_table *t)
{
    return t->exact.n;
}

const ss_names *ss_cost_table_devices(const ss_cost_table *t)
{
    return &t->devices;
}

/* --- shapes in text --------------------------------------------------------------------------- */

static ss_status shape_syntax(const char *text, const char *at, ss_error *err)
{
    return ss_fail(err, SS_EINVAL,
                   "shape %s: at \"%.20s\": extents of the output, then of each input are wanted, "
                   "as in 64x1000 < 64x4096",
                   text, at);
}

/* "64x3x224": reads one list of extents and moves *at behind it. */
static ss_status read_list(const char *text, const char **at, int64_t least, extents *e,
                           ss_error *err)
{
    uint32_t rank = 0;
    for (;;) {
        char *end;
        if (!isdigit((unsigned char)**at))
            return shape_syntax(text, *at, err);
        long long n = strtoll(*at, &end, 10);
        if (n < least || n > INT64_C(1) << 62 || rank == SS_MAX_DIMS)
            return ss_fail(err, SS_EINVAL,
                           "shape %s: at \"%.20s\": an extent is at least %lld, and there are at "
                           "most %d",
                           text, *at, (long long)least, SS_MAX_DIMS);
        e->at[e->n++] = n;
        rank++;
        *at = end;
        if (*end != 'x')
            break;
        *at = end + 1;
    }
    size_t used = strlen(e->form);
    e->form[used] = (char)('0' + rank);
    e->form[used + 1] = 0;
    return SS_OK;
}

static ss_status read_shape(const char *text, extents *e, ss_error *err)
{
    const char *at = text + strspn(text, " ");
    uint32_t inputs = 0;
    e->n = 0;
    e->form[0] = 0;
    ss_status s = read_list(text, &at, 1, e, err);
    while (!s) {
        at += strspn(at, " ");
        if (!*at)
            return SS_OK;
        if (*at != (inputs ? ',' : '<') || inputs++ == SS_MAX_INPUTS)
            return shape_syntax(text, at, err);
        strcat(e->form, inputs == 1 ? "<" : ",");
        at++;
        at += strspn(at, " ");
        s = read_list(text, &at, 0, e, err);
    }
    return s;
}

/* What no part of any operator of the kind can have: another number of inputs, or another number of
 * samples in an input than in the output (an input that a part does not need is empty). */
static ss_status check_shape(const char *text, const ss_op_kind *kind, const extents *e,
                             ss_error *err)
{
    uint32_t inputs = 0, at = (uint32_t)(e->form[0] - '0');
    for (const char *c = e->form + 1; *c; c += 2) {
        uint32_t rank = (uint32_t)(c[1] - '0');
        bool empty = false;
        for (uint32_t d = 0; d < rank; d++)
            empty = empty || !e->at[at + d];
        inputs++;
        if (!empty && e->at[at] != e->at[0])
            return ss_fail(err, SS_EINVAL,
                           "shape %s: the output has %lld samples and input %u has %lld: a part of "
                           "%s reads the samples that it makes",
                           text, (long long)e->at[0], inputs, (long long)e->at[at], kind->name);
        at += rank;
    }
    if (inputs >= kind->min_inputs && inputs <= kind->max_inputs)
        return SS_OK;
    return ss_fail(err, SS_EINVAL, "shape %s: %s reads %u%s input%s, and there %s %u", text,
                   kind->name, kind->min_inputs,
                   kind->max_inputs > kind->min_inputs ? " or more" : "",
                   kind->max_inputs == 1 ? "" : "s", inputs == 1 ? "is" : "are", inputs);
}

/* --- adding ----------------------------------------------------------------------------------- */

static ss_status find_kind(const char *name, const ss_op_kind **out, ss_error *err)
{
    *out = ss_op_kind_find(name);
    if (*out)
        return SS_OK;
    uint32_t n;
    const ss_op_kind *const *all = ss_op_kinds(&n);
    const char *known[256];
    for (uint32_t i = 0; i < n && i < 256; i++)
        known[i] = all[i]->name;
    const char *nearest = ss_nearest(name, known, n < 256 ? n : 256);
    return ss_fail(err, SS_EINVAL, "%s is no kind of operator%s%s%s", name,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A view, which moves no data, may cost nothing; all others that are said to were not measured. */
static ss_status refuse_nothing(const ss_measured *row, const ss_op_kind *kind, ss_error *err)
{
    if (row->seconds > 0 || kind->view)
        return SS_OK;
    return ss_fail(err, SS_EINVAL, "it took 0 seconds: a %s does something, and so it takes time",
                   kind->name);
}

static ss_status refuse_seconds(const ss_measured *row, ss_error *err)
{
    if (!(row->seconds >= 0 && isfinite(row->seconds)))
        return ss_fail(err, SS_EINVAL, "it took %g seconds", row->seconds);
    if (!(row->spread_s >= 0 && isfinite(row->spread_s)))
        return ss_fail(err, SS_EINVAL, "its spread is %g seconds", row->spread_s);
    if (row->has_bound && !(row->bound >= 0 && row->bound <= 1))
        return ss_fail(err, SS_EINVAL, "it waits for memory %g of its time; it must be from 0 to 1",
                       row->bound);
    if (!row->device_kind || !*row->device_kind)
        return ss_fail(err, SS_EINVAL, "the device kind is missing");
    return SS_OK;
}

/* The group's key of a row that a person wrote; its extents come with it. */
static ss_status read_row(const ss_measured *row, ss_text *key, extents *e, ss_error *err)
{
    const ss_op_kind *kind;
    ss_dtype dtype;
    ss_text attributes = {0};
    ss_status s = refuse_seconds(row, err);
    if (!s)
        s = find_kind(row->kind, &kind, err);
    if (!s)
        s = refuse_nothing(row, kind, err);
    if (!s)
        s = ss_dtype_parse(row->dtype, &dtype, err);
    if (!s)
        s = read_shape(row->shape, e, err);
    if (!s)
        s = check_shape(row->shape, kind, e, err);
    if (!s)
        s = ss_cost_attributes(kind, row->attributes ? row->attributes : "", &attributes, err);
    if (!s) {
        ss_text_add(key, "%s|%s|%s|%s|%s|%s", kind->name, ss_text_get(&attributes),
                    ss_dtype_name(dtype), ss_phase_name(row->phase), row->device_kind, e->form);
        s = ss_text_status(key, err);
    }
    ss_text_free(&attributes);
    return s;
}

static ss_status group_of(ss_cost_table *t, const char *key, uint32_t extents_of_row, uint32_t *id,
                          ss_error *err)
{
    *id = ss_names_find(&t->keys, key);
    if (*id)
        return SS_OK;
    ss_status s = SS_RESERVE(t->group, t->group_cap, (size_t)t->keys.n + 2, "measured times", err);
    if (!s)
        s = ss_names_add(&t->keys, key, id, err);
    if (!s)
        t->group[*id] = (group){.extents = extents_of_row};
    return s;
}

/* Makes the key of a group that of a row in it. */
static ss_status add_extents_to_key(ss_text *key, const extents *e, ss_error *err)
{
    for (uint32_t i = 0; i < e->n; i++)
        ss_text_add(key, i ? ",%lld" : "|%lld", (long long)e->at[i]);
    return ss_text_status(key, err);
}

static ss_status add_row(ss_cost_table *t, uint32_t id, const char *key, const ss_measured *row,
                         const extents *e, ss_error *err)
{
    if (ss_names_find(&t->exact, key))
        return ss_fail(err, SS_EINVAL, "%s %s (%s, %s, %s on %s) was measured before", row->kind,
                       row->shape, row->attributes ? row->attributes : "", row->dtype,
                       ss_phase_name(row->phase), row->device_kind);
    group *g = &t->group[id];
    uint32_t found;
    ss_status s = SS_RESERVE(g->row, g->cap, (size_t)g->rows + 1, "measured times", err);
    if (!s)
        s = SS_RESERVE(t->place, t->place_cap, (size_t)t->exact.n + 2, "measured times", err);
    if (s)
        return s;
    int64_t *copy = ss_arena_take(&t->arena, e->n * sizeof *copy);
    if (!copy)
        return ss_fail_memory(err, "measured times", e->n * sizeof *copy);
    s = ss_names_add(&t->devices, row->device_kind, &found, err);
    if (!s)
        s = ss_names_add(&t->exact, key, &found, err);
    if (s)
        return s;
    memcpy(copy, e->at, e->n * sizeof *copy);
    t->place[found] = (place){id, g->rows};
    g->row[g->rows++] = (table_row){copy,         row->seconds,   row->spread_s,
                                    row->samples, row->has_bound, row->bound};
    return SS_OK;
}

ss_status ss_cost_table_add(ss_cost_table *t, const ss_measured *row, ss_error *err)
{
    ss_text key = {0};
    extents e;
    uint32_t id;
    ss_status s = read_row(row, &key, &e, err);
    if (!s)
        s = group_of(t, ss_text_get(&key), e.n, &id, err);
    if (!s)
        s = add_extents_to_key(&key, &e, err);
    if (!s)
        s = add_row(t, id, ss_text_get(&key), row, &e, err);
    ss_text_free(&key);
    return s;
}

ss_status ss_cost_table_add_stream(ss_cost_table *t, const ss_measured_stream *row, ss_error *err)
{
    uint32_t device;
    ss_status s = t->streams ? SS_OK : ss_cost_streams_new(&t->streams, err);
    if (!s)
        s = ss_cost_streams_add(t->streams, row, err);
    return s ? s : ss_names_add(&t->devices, row->device_kind, &device, err);
}

bool ss_cost_table_ask_stream(const ss_cost_table *t, const char *device_kind, ss_stream what,
                              double bytes, double *seconds, double *bound)
{
    return t->streams && ss_cost_streams_ask(t->streams, device_kind, what, bytes, seconds, bound);
}

/* --- asking ----------------------------------------------------------------------------------- */

static void add_box(extents *e, const ss_box *box)
{
    size_t used = strlen(e->form);
    e->form[used] = (char)('0' + box->rank);
    e->form[used + 1] = 0;
    for (uint32_t d = 0; d < box->rank; d++)
        e->at[e->n++] = box->hi[d] > box->lo[d] ? box->hi[d] - box->lo[d] : 0;
}

static void extents_of_box(const ss_op_def *op, const ss_box *main, extents *e)
{
    e->n = 0;
    e->form[0] = 0;
    add_box(e, main);
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_box in;
        ss_op_input_box(op, i, main, &in);
        strcat(e->form, i ? "," : "<");
        add_box(e, &in);
    }
}

/* Which extents change with extent d of the output: told by halving it. */
static void find_followers(const ss_cost_part *part, const extents *q, uint32_t d, bool *follows)
{
    extents half;
    ss_box box = *part->main;
    int64_t grain = part->op->dim[d].grain > 1 ? part->op->dim[d].grain : 1;
    int64_t less = q->at[d] / 2 / grain * grain;
    box.hi[d] = box.lo[d] + (less > 0 ? less : q->at[d]);
    extents_of_box(part->op, &box, &half);
    for (uint32_t i = 0; i < q->n; i++)
        follows[i] = half.at[i] != q->at[i];
}

/* A row that differs from q in extent d and its followers alone, and in all of them the same way.
 */
static bool on_the_line(const table_row *row, const extents *q, uint32_t d, const bool *follows)
{
    bool less = row->extent[d] < q->at[d];
    for (uint32_t i = 0; i < q->n; i++)
        if (row->extent[i] != q->at[i] && (!follows[i] || (row->extent[i] < q->at[i]) != less))
            return false;
    return row->extent[d] != q->at[d];
}

typedef struct bracket {
    const table_row *below, *above; /* the nearest */
} bracket;

static bracket bracket_of(const group *g, const extents *q, uint32_t d, const bool *follows)
{
    bracket b = {0};
    for (uint32_t i = 0; i < g->rows; i++) {
        const table_row *row = &g->row[i];
        if (!on_the_line(row, q, d, follows))
            continue;
        if (row->extent[d] < q->at[d] && (!b.below || row->extent[d] > b.below->extent[d]))
            b.below = row;
        if (row->extent[d] > q->at[d] && (!b.above || row->extent[d] < b.above->extent[d]))
            b.above = row;
    }
    return b;
}

double ss_cost_between(double x[2], double y[2], double at)
{
    bool logarithms = y[0] > 0 && y[1] > 0; /* a time of 0 has none */
    if (logarithms) {
        at = log(at);
        for (int i = 0; i < 2; i++) {
            x[i] = log(x[i]);
            y[i] = log(y[i]);
        }
    }
    /* A straight line needs no state, so it lives here and takes no memory. */
    gsl_interp line = {.type = gsl_interp_linear, .size = 2};
    gsl_interp_init(&line, x, y, 2);
    double value = gsl_interp_eval(&line, x, y, at, NULL);
    return logarithms ? exp(value) : value;
}

static void say_outside(const bracket *b, const ss_cost_part *part, const extents *q, uint32_t d,
                        ss_cost_answer *answer)
{
    const table_row *row = b->below ? b->below : b->above;
    if (row && !answer->why_not[0])
        snprintf(answer->why_not, sizeof answer->why_not,
                 "dimension %s is %lld, and was measured only %s %lld", part->op->dim[d].name,
                 (long long)q->at[d], b->below ? "up to" : "from", (long long)row->extent[d]);
}

/* The first dimension that has neighbours on both sides: the sample, if it has. */
static void interpolate(const group *g, const ss_cost_part *part, const extents *q,
                        ss_cost_answer *answer)
{
    for (uint32_t d = 0; d < part->main->rank; d++) {
        bool follows[MAX_EXTENTS];
        find_followers(part, q, d, follows);
        bracket b = bracket_of(g, q, d, follows);
        if (b.below && b.above) {
            double x[2] = {(double)b.below->extent[d], (double)b.above->extent[d]};
            double y[2] = {b.below->seconds, b.above->seconds};
            answer->found = SS_COST_INTERPOLATED;
            answer->seconds = ss_cost_between(x, y, (double)q->at[d]);
            answer->has_bound = b.below->has_bound && b.above->has_bound;
            answer->bound = (b.below->bound + b.above->bound) / 2;
            return;
        }
        say_outside(&b, part, q, d, answer);
    }
}

/* --- between the corners of a box ------------------------------------------------------------- */

typedef struct corner_search {
    const ss_cost_table *t;
    const group *g;
    const char *key; /* of the group */
    const ss_cost_part *part;
    ss_text text; /* working memory */
} corner_search;

/* The time of a part of this size if it was measured. */
static const table_row *measured_row(corner_search *s, const ss_box *main)
{
    extents e;
    extents_of_box(s->part->op, main, &e);
    ss_text_clear(&s->text);
    ss_text_add(&s->text, "%s", s->key);
    if (add_extents_to_key(&s->text, &e, NULL))
        return NULL;
    uint32_t exact = ss_names_find(&s->t->exact, ss_text_get(&s->text));
    return exact ? &s->g->row[s->t->place[exact].row] : NULL;
}

/* The measured size along d that is next to `from`, above or below it; 0: none. */
static int64_t next_size(const group *g, uint32_t d, int64_t from, bool above)
{
    int64_t best = 0;
    for (uint32_t i = 0; i < g->rows; i++) {
        int64_t x = g->row[i].extent[d];
        if (above ? x > from && (!best || x < best) : x < from && x > best)
            best = x;
    }
    return best;
}

static bool find_between(corner_search *s, const ss_box *main, uint32_t dims, double *seconds);

/* Along d, on one side: the nearest size for which something is known in the dimensions left. */
static bool find_side(corner_search *s, const ss_box *main, uint32_t dims, uint32_t d, bool above,
                      double *size, double *seconds)
{
    enum { TRIES = 4 };
    ss_box at = *main;
    int64_t x = main->hi[d] - main->lo[d];
    for (int i = 0; i < TRIES && (x = next_size(s->g, d, x, above)) > 0; i++) {
        at.hi[d] = at.lo[d] + x;
        *size = (double)x;
        if (find_between(s, &at, dims, seconds))
            return true;
    }
    return false;
}

/* `dims`: a bit for each dimension along which one may still look aside. */
static bool find_between(corner_search *s, const ss_box *main, uint32_t dims, double *seconds)
{
    const table_row *row = measured_row(s, main);
    if (row) {
        *seconds = row->seconds;
        return true;
    }
    for (uint32_t d = 0; d < main->rank; d++) {
        uint32_t left = dims & ~(1u << d);
        double x[2], y[2];
        if (left == dims || !find_side(s, main, left, d, false, &x[0], &y[0]) ||
            !find_side(s, main, left, d, true, &x[1], &y[1]))
            continue;
        *seconds = ss_cost_between(x, y, (double)(main->hi[d] - main->lo[d]));
        return true;
    }
    return false;
}

static void interpolate_in_box(const ss_cost_table *t, const group *g, const char *key,
                               const ss_cost_part *part, ss_cost_answer *answer)
{
    corner_search s = {.t = t, .g = g, .key = key, .part = part};
    if (find_between(&s, part->main, (1u << part->main->rank) - 1, &answer->seconds))
        answer->found = SS_COST_INTERPOLATED;
    else if (!answer->why_not[0])
        snprintf(answer->why_not, sizeof answer->why_not,
                 "of its kind and shape sizes on both sides were not measured");
    ss_text_free(&s.text);
}

/* --- the answer ------------------------------------------------------------------------------- */

static ss_status key_of_part(const ss_cost_part *part, ss_phase phase, const extents *e,
                             ss_text *key, ss_error *err)
{
    ss_text attributes = {0}, shape = {0};
    ss_cost_key(part->op, part->main, &attributes, &shape);
    ss_text_add(key, "%s|%s|%s|%s|%s|%s", part->op->kind->name, ss_text_get(&attributes),
                ss_dtype_name(part->op->out[0].dtype), ss_phase_name(phase), part->device->kind,
                e->form);
    ss_status s = ss_text_status(&attributes, err);
    if (!s)
        s = ss_text_status(key, err);
    ss_text_free(&attributes);
    ss_text_free(&shape);
    return s;
}

/* The measured backward pass has both gradients.  Of one that needs no gradient of its input, the
 * share by FLOP is taken. */
static void leave_out_input_gradient(const ss_cost_part *part, ss_cost_answer *answer)
{
    ss_work both, weights;
    if (!answer->found)
        return;
    ss_op_work(part->op, SS_BACKWARD, true, part->main, &both);
    ss_op_work(part->op, SS_BACKWARD, false, part->main, &weights);
    if (!(weights.flops < both.flops))
        return;
    answer->found = SS_COST_INTERPOLATED;
    answer->seconds *= weights.flops / both.flops;
}

static void say_no_group(const ss_cost_table *t, const ss_cost_part *part, ss_cost_answer *answer)
{
    if (!ss_names_find(&t->devices, part->device->kind))
        snprintf(answer->why_not, sizeof answer->why_not, "nothing was measured on %s",
                 part->device->kind);
    else
        snprintf(answer->why_not, sizeof answer->why_not,
                 "no such operator was measured (kind, attributes, type, phase, number of inputs)");
}

/* What was measured of one phase. */
static ss_status ask_phase(const ss_cost_table *t, const ss_cost_part *part, ss_phase phase,
                           ss_cost_answer *answer, ss_error *err)
{
    extents e;
    ss_text key = {0};
    *answer = (ss_cost_answer){0};
    extents_of_box(part->op, part->main, &e);
    ss_status s = key_of_part(part, phase, &e, &key, err);
    uint32_t id = s ? 0 : ss_names_find(&t->keys, ss_text_get(&key));
    if (!s && !id)
        say_no_group(t, part, answer);
    size_t group_key = key.n;
    if (id)
        s = add_extents_to_key(&key, &e, err);
    if (id && !s) {
        uint32_t exact = ss_names_find(&t->exact, ss_text_get(&key));
        if (exact) {
            answer->found = SS_COST_EXACT;
            const table_row *row = &t->group[id].row[t->place[exact].row];
            answer->seconds = row->seconds;
            answer->has_bound = row->has_bound;
            answer->bound = row->bound;
        } else {
            interpolate(&t->group[id], part, &e, answer);
            key.at[group_key] = 0;
            if (!answer->found)
                interpolate_in_box(t, &t->group[id], key.at, part, answer);
        }
    }
    ss_text_free(&key);
    return s;
}

/* Where the backward pass was not measured as one: the sum of its parts. */
static ss_status add_parts(const ss_cost_table *t, const ss_cost_part *part, ss_cost_answer *answer,
                           ss_error *err)
{
    ss_cost_answer inputs, weights = {.found = SS_COST_EXACT};
    ss_status s = ask_phase(t, part, SS_INPUT_GRADIENT, &inputs, err);
    if (!s && part->op->weights)
        s = ask_phase(t, part, SS_WEIGHT_GRADIENT, &weights, err);
    if (s || !inputs.found || !weights.found)
        return s;
    bool exact = inputs.found == SS_COST_EXACT && weights.found == SS_COST_EXACT;
    answer->found = exact ? SS_COST_EXACT : SS_COST_INTERPOLATED;
    answer->seconds = inputs.seconds + weights.seconds;
    answer->has_bound = inputs.has_bound && (weights.has_bound || !(weights.seconds > 0));
    answer->bound = inputs.seconds * inputs.bound + weights.seconds * weights.bound;
    answer->bound /= answer->seconds > 0 ? answer->seconds : 1;
    return SS_OK;
}

ss_status ss_cost_table_ask(const ss_cost_table *t, const ss_cost_part *part,
                            ss_cost_answer *answer, ss_error *err)
{
    if (part->phase == SS_FORWARD)
        return ask_phase(t, part, SS_FORWARD, answer, err);
    if (!part->input_gradient) {
        ss_status s = ask_phase(t, part, SS_WEIGHT_GRADIENT, answer, err);
        if (s || answer->found)
            return s;
        s = ask_phase(t, part, SS_BACKWARD, answer, err);
        if (!s)
            leave_out_input_gradient(part, answer);
        return s;
    }
    ss_status s = ask_phase(t, part, SS_BACKWARD, answer, err);
    return s || answer->found ? s : add_parts(t, part, answer, err);
}

uint64_t ss_cost_table_hash(const ss_cost_table *t, uint64_t h)
{
    h = ss_hash_u64(h, t->keys.n);
    for (uint32_t i = 1; i <= t->keys.n; i++) {
        const group *g = &t->group[i];
        h = ss_hash_text(h, ss_names_text(&t->keys, i));
        for (uint32_t k = 0; k < g->rows; k++) {
            h = ss_hash_bytes(h, g->row[k].extent, g->extents * sizeof *g->row[k].extent);
            h = ss_hash_double(h, g->row[k].seconds);
            h = ss_hash_double(h, g->row[k].spread_s);
            h = ss_hash_u64(h, g->row[k].samples);
            if (g->row[k].has_bound)
                h = ss_hash_double(h, g->row[k].bound);
        }
    }
    return ss_cost_streams_hash(t->streams, h);
}
