#include "validation/torch/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/names.h"
#include "validation/profiler/profile_inside.h"
#include "validation/torch/events.h"
#include "validation/torch/map.h"

enum { NOBODY = 0 }; /* rows of operators are from 1 */

typedef struct call {
    int64_t begin, end;  /* ns */
    int64_t self, total; /* what is counted, of the call alone and with all in it */
    int64_t back;        /* of its backward, all nodes */
    uint64_t external;
    int64_t sequence;      /* -1: none */
    uint32_t order;        /* in the file */
    uint32_t thread, what; /* a row of called */
    uint32_t parent;       /* NOBODY: none */
    uint32_t
        unit; /* the call that is an operator of ours and that this is part of, or its backward */
    bool in_backward; /* within a node of autograd, or one */
    bool has_external, has_same_child;
    bool has_back, back_inputs, back_weights, back_unclear; /* of a unit */
} call;

typedef struct launch {
    uint64_t correlation;
    int64_t at;
    uint32_t thread;
} launch;

typedef struct work {
    uint64_t correlation, external;
    int64_t ns;
    bool has_correlation, has_external;
} work;

/* A call by its text: what it maps onto is asked once. */
typedef struct called {
    const char *name, *dims, *types, *concrete; /* in the names' memory but cut: own copies */
    bool node, asked;
    uint32_t key; /* of ours, an id of `keys`; 0: none */
    bool weights;
    const char *why;
} called;

/* Of ours. */
typedef struct ours {
    const ss_op_kind *kind;
    const char *attributes, *shape;
    ss_dtype dtype;
} ours;

typedef struct reader {
    ss_torch_trace *t;
    call *op; /* from 1 */
    uint32_t ops, op_cap;
    launch *launch;
    uint32_t launches, launch_cap;
    work *work;
    uint32_t works, work_cap;
    ss_names threads, calls, keys;
    called *called; /* by calls' ids */
    uint32_t called_cap;
    ours *ours; /* by keys' ids */
    uint32_t ours_cap;
    ss_text text;
    bool shapes; /* some operator has them */
} reader;

/* ---- what the trace says ------------------------------------------------------------------------------------- */

static ss_status take_device(void *context, const char *name, ss_error *err)
{
    ss_torch_trace *t = ((reader *)context)->t;
    if (*t->device) {
        t->several = t->several || strcmp(t->device, name) != 0;
        return SS_OK;
    }
    t->device = ss_profile_keep(&t->memory, name);
    return t->device ? SS_OK : ss_fail_memory(err, "a trace", 0);
}

/* What autograd does for one call of the forward pass: "autograd::engine::evaluate_function: AddmmBackward0", and within it
 * "AddmmBackward0", which old traces have alone. */
static bool is_node(const char *name)
{
    return !strncmp(name, "autograd::engine::evaluate_function", 35) ||
           (!strstr(name, "::") && strstr(name, "Backward"));
}

static ss_status call_of(reader *r, const ss_torch_event *e, uint32_t *id, ss_error *err)
{
    uint32_t before = r->calls.n;
    ss_text_clear(&r->text);
    ss_text_add(&r->text, "%s\x1e%s\x1e%s\x1e%s", e->name, e->dims, e->types, e->concrete);
    ss_status s = ss_text_status(&r->text, err);
    if (!s)
        s = SS_RESERVE(r->called, r->called_cap, (size_t)r->calls.n + 2, "a trace", err);
    if (!s)
        s = ss_names_add(&r->calls, ss_text_get(&r->text), id, err);
    if (s || r->calls.n == before)
        return s;
    called c = {.name = ss_profile_keep(&r->t->memory, e->name),
                .dims = ss_profile_keep(&r->t->memory, e->dims),
                .types = ss_profile_keep(&r->t->memory, e->types),
                .concrete = ss_profile_keep(&r->t->memory, e->concrete),
                .node = is_node(e->name)};
    if (!c.name || !c.dims || !c.types || !c.concrete)
        return ss_fail_memory(err, "a trace", r->text.n);
    r->called[*id] = c;
    return SS_OK;
}

static ss_status take_operator(reader *r, const ss_torch_event *e, uint32_t thread, ss_error *err)
{
    uint32_t what;
    ss_status s = call_of(r, e, &what, err);
    if (!s)
        s = SS_RESERVE(r->op, r->op_cap, (size_t)r->ops + 2, "a trace", err);
    if (s)
        return s;
    r->shapes = r->shapes || e->has_dims;
    uint32_t i = ++r->ops;
    r->op[i] = (call){.begin = e->begin_ns,
                      .end = e->begin_ns + e->ns,
                      .order = i,
                      .thread = thread,
                      .what = what,
                      .has_external = e->has_external,
                      .external = e->external,
                      .sequence = e->has_sequence ? e->sequence : -1};
    return SS_OK;
}

static ss_status take(void *context, const ss_torch_event *e, ss_error *err)
{
    reader *r = context;
    uint32_t thread;
    ss_status s = ss_names_add(&r->threads, e->thread, &thread, err);
    if (s)
        return s;
    switch (e->sort) {
    case SS_TORCH_OPERATOR:
        return take_operator(r, e, thread, err);
    case SS_TORCH_LAUNCH:
        if (!e->has_correlation)
            return SS_OK;
        s = SS_RESERVE(r->launch, r->launch_cap, (size_t)r->launches + 1, "a trace", err);
        if (!s)
            r->launch[r->launches++] = (launch){e->correlation, e->begin_ns, thread};
        return s;
    default:
        s = SS_RESERVE(r->work, r->work_cap, (size_t)r->works + 1, "a trace", err);
        if (!s)
            r->work[r->works++] =
                (work){e->correlation, e->external, e->ns, e->has_correlation, e->has_external};
        return s;
    }
}

/* ---- which operator is in which ------------------------------------------------------------------------------ */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_unsigned(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By thread, then by beginning, the longer first: what contains others comes before them. */
static int by_time(const void *x, const void *y)
{
    const call *a = x, *b = y;
    int c = compare(a->thread, b->thread);
    c = c ? c : compare(a->begin, b->begin);
    c = c ? c : compare(b->end, a->end);
    return c ? c : compare(a->order, b->order);
}

static void find_parents(reader *r)
{
    uint32_t open = NOBODY; /* the innermost */
    qsort(r->op + 1, r->ops, sizeof *r->op, by_time);
    for (uint32_t i = 1; i <= r->ops; i++) {
        call *o = &r->op[i];
        while (open && (r->op[open].thread != o->thread || r->op[open].end <= o->begin))
            open = r->op[open].parent;
        o->parent = open;
        o->in_backward = r->called[o->what].node || (open && r->op[open].in_backward);
        if (open && !strcmp(r->called[r->op[open].what].name, r->called[o->what].name))
            r->op[open].has_same_child = true;
        open = i;
    }
}

/* The innermost operator of a thread at an instant; NOBODY: none. */
static uint32_t operator_at(const reader *r, uint32_t thread, int64_t at)
{
    uint32_t low = 1, high = r->ops + 1; /* the first that begins later is in low .. high */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const call *o = &r->op[middle];
        if (o->thread < thread || (o->thread == thread && o->begin <= at))
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t i = low - 1;
    while (i && (r->op[i].thread != thread || r->op[i].end <= at))
        i = r->op[i].thread == thread ? r->op[i].parent : NOBODY;
    return i;
}

/* ---- what took the time -------------------------------------------------------------------------------------- */

static int by_correlation(const void *x, const void *y)
{
    return compare_unsigned(((const launch *)x)->correlation, ((const launch *)y)->correlation);
}

typedef struct outer {
    uint64_t external;
    uint32_t op;
} outer;

static int by_external(const void *x, const void *y)
{
    return compare_unsigned(((const outer *)x)->external, ((const outer *)y)->external);
}

static uint32_t launcher(const reader *r, const work *w, const outer *by_id, uint32_t ids)
{
    launch wanted = {.correlation = w->correlation};
    const launch *l = w->has_correlation && r->launches
                          ? bsearch(&wanted, r->launch, r->launches, sizeof wanted, by_correlation)
                          : NULL;
    if (l)
        return operator_at(r, l->thread, l->at);
    outer id = {.external = w->external};
    bool told = w->has_external && !(w->has_correlation && w->correlation == w->external);
    const outer *o = told && ids ? bsearch(&id, by_id, ids, sizeof id, by_external) : NULL;
    return o ? o->op : NOBODY;
}

static ss_status count_device(reader *r, ss_error *err)
{
    uint32_t ids = 0;
    int64_t untied = 0;
    outer *by_id = ss_alloc((r->ops + 1) * sizeof *by_id);
    if (!by_id)
        return ss_fail_memory(err, "a trace", r->ops * sizeof *by_id);
    for (uint32_t i = 1; i <= r->ops; i++)
        if (r->op[i].has_external)
            by_id[ids++] = (outer){r->op[i].external, i};
    qsort(by_id, ids, sizeof *by_id, by_external);
    if (r->launches)
        qsort(r->launch, r->launches, sizeof *r->launch, by_correlation);
    for (uint32_t k = 0; k < r->works; k++) {
        uint32_t i = launcher(r, &r->work[k], by_id, ids);
        if (i)
            r->op[i].self += r->work[k].ns;
        else
            untied += r->work[k].ns;
        r->t->total_s += 1e-9 * (double)r->work[k].ns;
    }
    r->t->untied_s = 1e-9 * (double)untied;
    ss_free(by_id);
    return SS_OK;
}

/* Of the host: without that of the operators in it. */
static void count_host(reader *r)
{
    for (uint32_t i = r->ops; i; i--) {
        call *o = &r->op[i];
        o->self += o->end - o->begin;
        o->self = o->self < 0 ? 0 : o->self; /* those in it went on beyond its end */
        if (o->parent)
            r->op[o->parent].self -= o->end - o->begin;
    }
    for (uint32_t i = 1; i <= r->ops; i++)
        r->t->total_s += 1e-9 * (double)r->op[i].self;
}

static void add_up(reader *r)
{
    for (uint32_t i = r->ops; i; i--) {
        r->op[i].total += r->op[i].self;
        if (r->op[i].parent)
            r->op[r->op[i].parent].total += r->op[i].total;
    }
}

/* ---- what of it is ours -------------------------------------------------------------------------------------- */

static ss_status ask(reader *r, called *c, ss_error *err)
{
    ss_torch_key k;
    if (c->asked)
        return SS_OK;
    ss_status s = ss_torch_map(c->name, c->dims, c->types, c->concrete, &k, err);
    c->asked = true;
    c->why = k.why;
    c->weights = k.weights;
    if (!s && k.kind) {
        uint32_t before = r->keys.n;
        ss_text_clear(&r->text);
        ss_text_add(&r->text, "%s|%s|%s|%s", k.kind->name, ss_text_get(&k.attributes),
                    ss_text_get(&k.shape), ss_dtype_name(k.dtype));
        s = ss_text_status(&r->text, err);
        if (!s)
            s = SS_RESERVE(r->ours, r->ours_cap, (size_t)before + 2, "a trace", err);
        if (!s)
            s = ss_names_add(&r->keys, ss_text_get(&r->text), &c->key, err);
        if (!s && r->keys.n != before) {
            ours o = {k.kind, ss_profile_keep(&r->t->memory, ss_text_get(&k.attributes)),
                      ss_profile_keep(&r->t->memory, ss_text_get(&k.shape)), k.dtype};
            r->ours[c->key] = o;
            if (!o.attributes || !o.shape)
                s = ss_fail_memory(err, "a trace", 0);
        }
    }
    ss_torch_key_free(&k);
    return s;
}

/* Forward: the outermost call that maps.  Under autocast a call stands within one of its own name that has the arguments before they
 * were cast: the inner one counts. */
static ss_status find_units(reader *r, ss_error *err)
{
    for (uint32_t i = 1; i <= r->ops; i++) {
        call *o = &r->op[i];
        if (o->in_backward)
            continue;
        if (o->parent && r->op[o->parent].unit) {
            o->unit = r->op[o->parent].unit;
            continue;
        }
        ss_status s = ask(r, &r->called[o->what], err);
        if (s)
            return s;
        if (r->called[o->what].key && !o->has_same_child)
            o->unit = i;
    }
    return SS_OK;
}

typedef struct sequenced {
    int64_t sequence;
    int64_t begin;
    uint32_t op;
} sequenced;

static int by_sequence(const void *x, const void *y)
{
    const sequenced *a = x, *b = y;
    int c = compare(a->sequence, b->sequence);
    c = c ? c : compare(a->begin, b->begin);
    return c ? c : compare(a->op, b->op);
}

/* The call of the forward pass that made a node: of those with its number the one that began last, since those around it took the number
 * before it was given away.  NOBODY where threads have numbers of their own that agree. */
static uint32_t maker_of(const reader *r, const sequenced *of, uint32_t n, int64_t sequence)
{
    uint32_t low = 0, high = n; /* the first beyond */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (of[middle].sequence <= sequence)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || of[low - 1].sequence != sequence)
        return NOBODY;
    uint32_t maker = of[low - 1].op;
    for (uint32_t i = low; i && of[i - 1].sequence == sequence; i--)
        if (r->op[of[i - 1].op].thread != r->op[maker].thread)
            return NOBODY;
    return maker;
}

/* What is computed in a node says of what the gradients are: masks of aten::..._backward say it in words ("[True, False]": of inputs, of
 * weights), and of products there are two, or the one over samples for weights. */
static void look_at_gradients(reader *r, uint32_t i, call *unit)
{
    const called *c = &r->called[r->op[i].what], *of = &r->called[unit->what];
    char item[SS_TORCH_ITEM];
    size_t n = strlen(c->name);
    uint32_t items = ss_torch_items(c->concrete);
    if (!of->weights)
        return;
    if (n > 9 && !strcmp(c->name + n - 9, "_backward") && items) {
        const char *mask = ss_torch_item(c->concrete, items - 1, item);
        if (strncmp(mask, "[True", 5) && strncmp(mask, "[False", 6))
            return;
        const char *second = strchr(mask, ',');
        unit->back_inputs |= mask[1] == 'T';
        unit->back_weights |= second && second[1 + (second[1] == ' ')] == 'T';
    } else if (!strcmp(c->name, "aten::mm")) {
        int64_t rows = 1, inner = ss_torch_extent(c->dims, 0, 1);
        uint32_t input = !strcmp(of->name, "aten::addmm"); /* the argument that is x */
        for (uint32_t d = 0; ss_torch_extent(of->dims, input, d + 1); d++)
            rows *= ss_torch_extent(of->dims, input, d);
        /* over samples or, where a sample is as wide as there are many, the second of two */
        bool weights =
            inner == rows && (ss_torch_extent(c->dims, 0, 0) != rows || unit->back_inputs);
        unit->back_weights |= weights;
        unit->back_inputs |= !weights;
    } else if (!strcmp(c->name, "aten::embedding_dense_backward") ||
               !strcmp(c->name, "aten::embedding_backward")) {
        unit->back_weights = true;
    }
}

/* A node with all in it is part of the backward of the unit whose call made it. */
static ss_status find_backward(reader *r, ss_error *err)
{
    uint32_t n = 0;
    sequenced *of = ss_alloc((r->ops + 1) * sizeof *of);
    if (!of)
        return ss_fail_memory(err, "a trace", r->ops * sizeof *of);
    for (uint32_t i = 1; i <= r->ops; i++)
        if (!r->op[i].in_backward && r->op[i].sequence >= 0)
            of[n++] = (sequenced){r->op[i].sequence, r->op[i].begin, i};
    qsort(of, n, sizeof *of, by_sequence);
    for (uint32_t i = 1; i <= r->ops; i++) {
        call *o = &r->op[i];
        if (!o->in_backward)
            continue;
        if (o->parent && r->op[o->parent].in_backward) {
            o->unit = r->op[o->parent].unit;
        } else {
            uint32_t maker = o->sequence < 0 ? NOBODY : maker_of(r, of, n, o->sequence);
            o->unit = maker ? r->op[maker].unit : NOBODY;
            if (o->unit) {
                r->op[o->unit].back += o->total;
                r->op[o->unit].has_back = true;
            }
        }
        if (o->unit)
            look_at_gradients(r, i, &r->op[o->unit]);
    }
    ss_free(of);
    return SS_OK;
}

/* The phase of what its backward did; SS_PHASES: it cannot be told. */
static ss_phase phase_of_backward(const reader *r, const call *unit)
{
    const called *c = &r->called[unit->what];
    if (!c->weights)
        return SS_BACKWARD;
    if (unit->back_inputs && unit->back_weights)
        return SS_BACKWARD;
    if (!unit->back_inputs && !unit->back_weights)
        return SS_PHASES;
    return unit->back_weights ? SS_WEIGHT_GRADIENT : SS_INPUT_GRADIENT;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

typedef struct took {
    uint32_t what, key, phase; /* key 0: none of ours */
    int64_t ns, begin;
    uint32_t op;
} took;

static int by_row(const void *x, const void *y)
{
    const took *a = x, *b = y;
    int c = compare(a->what, b->what);
    c = c ? c : compare(a->key, b->key);
    c = c ? c : compare(a->phase, b->phase);
    c = c ? c : compare(a->begin, b->begin);
    return c ? c : compare(a->op, b->op);
}

static bool one_row(const took *a, const took *b)
{
    return a->what == b->what && a->key == b->key && a->phase == b->phase;
}

/* "[[64,1024],[],[[3],[4]],[]]" -> "64x1024, -, (3, 4)": without those at the end that are no tensors. */
static void spell_shapes(ss_text *t, const char *dims)
{
    uint32_t open = 0, whole = 0; /* bytes up to the last tensor */
    for (size_t i = 0; dims[i]; i++) {
        char c = dims[i], before = i ? dims[i - 1] : 0;
        if (c == '[' && ++open == 2) {
            ss_text_add(t, "%s%s", before == ',' ? ", " : "",
                        dims[i + 1] == ']'   ? "-"
                        : dims[i + 1] == '[' ? "("
                                             : "");
        } else if (c == '[' && open == 3 && before == ',') {
            ss_text_add(t, ", ");
        } else if (c == ']') {
            if (open == 2 && before == ']')
                ss_text_add(t, ")");
            if (open-- == 2 && before != '[')
                whole = t->n;
        } else if (c == ',' && before != ']') {
            ss_text_add(t, "x");
        } else if (c >= '0' && c <= '9') {
            ss_text_add_bytes(t, &c, 1);
        }
    }
    if (t->at && !t->failed) {
        t->n = whole;
        t->at[whole] = 0;
    }
}

static void spell_types(ss_text *t, const char *types)
{
    for (; *types; types++)
        ss_text_add_bytes(t, *types == SS_TORCH_NEXT ? ", " : types,
                          *types == SS_TORCH_NEXT ? 2 : 1);
}

static const char *keep_text(reader *r, ss_error *err)
{
    const char *copy = ss_text_status(&r->text, err)
                           ? NULL
                           : ss_profile_keep(&r->t->memory, ss_text_get(&r->text));
    if (!copy)
        ss_fail_memory(err, "a trace", r->text.n);
    return copy;
}

static int by_total(const void *x, const void *y)
{
    const ss_torch_row *a = x, *b = y;
    if (a->total_s != b->total_s)
        return a->total_s < b->total_s ? 1 : -1;
    int c = strcmp(a->name, b->name);
    c = c ? c : strcmp(a->shapes, b->shapes);
    c = c ? c : compare(a->phase, b->phase);
    return c ? c : strcmp(a->types, b->types);
}

static const char *why_not(const reader *r, uint32_t op)
{
    const call *o = &r->op[op];
    const called *c = &r->called[o->what];
    if (o->unit)
        return "of which gradients its backward is cannot be told";
    if (!o->in_backward)
        return o->has_same_child && c->key ? "around a call of its own name (autocast)" : c->why;
    while (o->parent && r->op[o->parent].in_backward)
        o = &r->op[o->parent];
    return strstr(r->called[o->what].name, "AccumulateGrad")
               ? "gradients are put where they are kept"
               : "backward of no operator of ours";
}

static ss_status make_row(reader *r, const took *first, uint32_t n, double *seconds,
                          ss_torch_row *row, ss_error *err)
{
    const called *c = &r->called[first->what];
    *row = (ss_torch_row){.name = c->name, .phase = (ss_phase)first->phase};
    ss_text_clear(&r->text);
    spell_shapes(&r->text, c->dims);
    row->shapes = keep_text(r, err);
    ss_text_clear(&r->text);
    spell_types(&r->text, c->types);
    row->types = row->shapes ? keep_text(r, err) : NULL;
    if (!row->types)
        return SS_ENOMEM;
    int64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        seconds[i] = 1e-9 * (double)first[i].ns;
        total += first[i].ns;
    }
    row->total_s = 1e-9 * (double)total;
    row->kind = first->key ? r->ours[first->key].kind->name : NULL;
    row->why = first->key ? NULL : why_not(r, first->op);
    r->t->mapped_s += first->key ? row->total_s : 0;
    return ss_statistics_of(seconds, n, &row->s, err);
}

static ss_status make_rows(reader *r, took *all, uint32_t n, double *seconds, ss_error *err)
{
    ss_torch_trace *t = r->t;
    uint32_t cap = 0;
    qsort(all, n, sizeof *all, by_row);
    for (uint32_t i = 0, last = 0; i < n; i = last) {
        while (last < n && one_row(&all[i], &all[last]))
            last++;
        ss_status s = SS_RESERVE(t->row, cap, (size_t)t->rows + 1, "a trace", err);
        if (!s)
            s = make_row(r, all + i, last - i, seconds, &t->row[t->rows], err);
        if (s)
            return s;
        t->rows++;
    }
    if (t->rows)
        qsort(t->row, t->rows, sizeof *t->row, by_total);
    return SS_OK;
}

/* ---- parts --------------------------------------------------------------------------------------------------- */

static int by_part(const void *x, const void *y)
{
    const took *a = x, *b = y;
    int c = compare(a->key, b->key);
    c = c ? c : compare(a->phase, b->phase);
    c = c ? c : compare(a->begin, b->begin);
    return c ? c : compare(a->op, b->op);
}

static ss_status make_part(reader *r, const took *first, uint32_t n, ss_torch_part *p,
                           ss_error *err)
{
    const ours *o = &r->ours[first->key];
    double *sample = ss_arena_take(&r->t->memory, n * sizeof *sample);
    if (!sample)
        return ss_fail_memory(err, "a trace", n * sizeof *sample);
    for (uint32_t i = 0; i < n; i++)
        sample[i] = 1e-9 * (double)first[i].ns;
    *p = (ss_torch_part){.kind = o->kind->name,
                         .attributes = o->attributes,
                         .shape = o->shape,
                         .dtype = o->dtype,
                         .phase = (ss_phase)first->phase,
                         .sample = sample};
    return ss_statistics_of(sample, n, &p->s, err);
}

static ss_status make_parts(reader *r, took *all, uint32_t n, ss_error *err)
{
    ss_torch_trace *t = r->t;
    uint32_t cap = 0;
    qsort(all, n, sizeof *all, by_part);
    for (uint32_t i = 0, last = 0; i < n; i = last) {
        while (last < n && all[i].key == all[last].key && all[i].phase == all[last].phase)
            last++;
        ss_status s = SS_RESERVE(t->part, cap, (size_t)t->parts + 1, "a trace", err);
        if (!s)
            s = make_part(r, all + i, last - i, &t->part[t->parts], err);
        if (s)
            return s;
        t->parts++;
    }
    return SS_OK;
}

/* What a unit took, of which only views may have taken nothing: else its kernels are not in the trace. */
static void add_part(const reader *r, took *all, uint32_t *n, uint32_t i, ss_phase phase,
                     int64_t ns)
{
    uint32_t key = r->called[r->op[i].what].key;
    if (phase == SS_PHASES || (ns <= 0 && !r->ours[key].kind->view))
        return;
    all[(*n)++] =
        (took){.key = key, .phase = (uint32_t)phase, .ns = ns, .begin = r->op[i].begin, .op = i};
}

static ss_status tell(reader *r, ss_error *err)
{
    uint32_t n = 0, parts = 0;
    took *all = ss_alloc((r->ops + 1) * sizeof *all);
    took *of_parts = ss_alloc((2 * (size_t)r->ops + 1) * sizeof *of_parts);
    double *seconds = ss_alloc((r->ops + 1) * sizeof *seconds);
    ss_status s =
        all && of_parts && seconds ? SS_OK : ss_fail_memory(err, "a trace", r->ops * sizeof *all);
    for (uint32_t i = 1; i <= r->ops && !s; i++) {
        const call *o = &r->op[i];
        ss_phase phase = SS_FORWARD;
        uint32_t key = o->unit ? r->called[r->op[o->unit].what].key : 0;
        if (o->unit && o->in_backward)
            phase = phase_of_backward(r, &r->op[o->unit]);
        if (phase == SS_PHASES)
            key = 0;
        if (o->self > 0)
            all[n++] = (took){o->what, key, key ? (uint32_t)phase : 0, o->self, o->begin, i};
        if (o->unit == i) {
            add_part(r, of_parts, &parts, i, SS_FORWARD, o->total);
            if (o->has_back)
                add_part(r, of_parts, &parts, i, phase_of_backward(r, o), o->back);
        }
    }
    if (!s)
        s = make_rows(r, all, n, seconds, err);
    if (!s)
        s = make_parts(r, of_parts, parts, err);
    ss_free(all);
    ss_free(of_parts);
    ss_free(seconds);
    return s;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static ss_status check(const reader *r, ss_error *err)
{
    if (!r->ops)
        return ss_fail(
            err, SS_EFORMAT,
            "%s: it has no operators (cat cpu_op): is it a trace that torch.profiler wrote?",
            r->t->path);
    if (!r->shapes)
        return ss_fail(err, SS_EFORMAT,
                       "%s: its operators have no shapes: record them with "
                       "torch.profiler.profile(record_shapes=True)",
                       r->t->path);
    return SS_OK;
}

static ss_status work_out(reader *r, ss_error *err)
{
    ss_status s = check(r, err);
    if (s)
        return s;
    r->t->operators = r->ops;
    r->t->works = r->works;
    r->t->of_device = r->works > 0;
    find_parents(r);
    if (r->works)
        s = count_device(r, err);
    else
        count_host(r);
    add_up(r);
    if (!s)
        s = find_units(r, err);
    if (!s)
        s = find_backward(r, err);
    return s ? s : tell(r, err);
}

static void free_reader(reader *r)
{
    ss_free(r->op);
    ss_free(r->launch);
    ss_free(r->work);
    ss_free(r->called);
    ss_free(r->ours);
    ss_names_free(&r->threads);
    ss_names_free(&r->calls);
    ss_names_free(&r->keys);
    ss_text_free(&r->text);
}

void ss_torch_trace_free(ss_torch_trace *t)
{
    ss_free(t->row);
    ss_free(t->part);
    ss_arena_free(&t->memory);
    *t = (ss_torch_trace){0};
}

/* text NULL: of the file */
static ss_status read(const char *path, const char *text, size_t n, const ss_watch *w,
                      ss_torch_trace *out, ss_error *err)
{
    ss_torch_trace t = {.device = ""};
    reader r = {.t = &t};
    const ss_torch_reader events = {&r, take, take_device};
    t.path = ss_profile_keep(&t.memory, path);
    ss_status s = t.path ? SS_OK : ss_fail_memory(err, "a trace", 0);
    if (!s)
        s = text ? ss_torch_parse_events(text, n, path, &events, err)
                 : ss_torch_read_events(path, &events, w, err);
    if (!s)
        s = work_out(&r, err);
    free_reader(&r);
    if (s)
        ss_torch_trace_free(&t);
    else
        *out = t;
    return s;
}

ss_status ss_torch_trace_read(const char *path, const ss_watch *w, ss_torch_trace *out,
                              ss_error *err)
{
    return read(path, NULL, 0, w, out, err);
}

ss_status ss_torch_trace_parse(const char *text, size_t n, const char *name, ss_torch_trace *out,
                               ss_error *err)
{
    return read(name, text, n, NULL, out, err);
}

/* ---- a profile ----------------------------------------------------------------------------------------------- */

static ss_status check_kind(const ss_torch_trace *t, const char *kind, ss_error *err)
{
    if (!kind && !*t->device)
        return ss_fail(err, SS_EINVAL, "%s does not name its device: say what kind it is", t->path);
    if (!kind && t->several)
        return ss_fail(
            err, SS_EINVAL,
            "%s has devices of several names, %s among them: say of which kind the times are",
            t->path, t->device);
    if (kind && !*kind)
        return ss_fail(err, SS_EINVAL, "the kind of device is \"\"");
    if (!t->parts)
        return ss_fail(err, SS_EINVAL, "%s: none of its operators is one of ours", t->path);
    return SS_OK;
}

ss_status ss_torch_trace_profile(const ss_torch_trace *t, const char *kind, ss_profile *out,
                                 ss_error *err)
{
    ss_status s = check_kind(t, kind, err);
    if (s)
        return s;
    ss_profile p = {.version = "PyTorch (trace)",
                    .machine = "",
                    .processor = t->device,
                    .inputs = "step",
                    .element = "dtype",
                    .wallclock = ""};
    p.device_kind = ss_profile_keep(&p.memory, kind ? kind : t->device);
    p.processor = ss_profile_keep(&p.memory, t->device);
    if (!p.device_kind || !p.processor)
        s = ss_fail_memory(err, "a profile", 0);
    for (uint32_t i = 0; i < t->parts && !s; i++) {
        const ss_torch_part *x = &t->part[i];
        const ss_measured m = {.kind = x->kind,
                               .device_kind = p.device_kind,
                               .attributes = x->attributes,
                               .shape = x->shape,
                               .dtype = ss_dtype_name(x->dtype),
                               .phase = x->phase};
        s = ss_profile_add(&p, &m, x->sample, x->s.n, err);
        if (!s && p.rounds < x->s.n)
            p.rounds = x->s.n;
    }
    ss_costs *c =
        NULL; /* what no table may have is refused here, and not by whoever reads the file */
    if (!s)
        s = ss_costs_new(&c, err);
    if (!s)
        s = ss_profile_add_to_costs(&p, t->path, c, err);
    ss_costs_free(c);
    if (s)
        ss_profile_free(&p);
    else
        *out = p;
    return s;
}
