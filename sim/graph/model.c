#include "graph/model.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

enum { MAX_NAME = 200, NAME_ROOM = MAX_NAME + 16 };

static const int64_t most_bytes = INT64_C(1) << 62;

/* Names and sizes */

static ss_status check_name(const char *name, const char *what, ss_error *err)
{
    if (!name || !*name)
        return ss_fail(err, SS_EINVAL, "%s needs a name", what);
    if (strlen(name) > MAX_NAME)
        return ss_fail(err, SS_EINVAL, "%s: a name has at most %d bytes: \"%.40s...\"", what,
                       MAX_NAME, name);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return ss_fail(err, SS_EINVAL, "%s: a name has no control characters", what);
    return SS_OK;
}

ss_status ss_model_new(const char *name, ss_model **out, ss_error *err)
{
    ss_status s = check_name(name, "a model", err);
    if (s)
        return s;
    ss_model *m = ss_alloc_zeroed(1, sizeof *m);
    if (!m)
        return ss_fail_memory(err, "a model", sizeof *m);
    m->name = ss_strdup(name);
    if (!m->name) {
        ss_free(m);
        return ss_fail_memory(err, "a name", strlen(name) + 1);
    }
    *out = m;
    return SS_OK;
}

void ss_model_free(ss_model *m)
{
    if (!m)
        return;
    ss_names_free(&m->op_names);
    ss_names_free(&m->tensor_names);
    ss_names_free(&m->share_names);
    ss_arena_free(&m->memory);
    ss_free(m->op);
    ss_free(m->tensor);
    ss_free(m->weight);
    ss_free(m->use);
    ss_free(m->share_op);
    ss_free(m->name);
    ss_free(m);
}

static ss_status add_bytes(int64_t *total, const ss_shape *s, ss_error *err)
{
    int64_t bytes = ss_shape_bytes(s);
    if (bytes > most_bytes - *total)
        return ss_fail(err, SS_ERANGE, "the model would be larger than 2^62 bytes");
    *total += bytes;
    return SS_OK;
}

ss_status ss_model_input(ss_model *m, const char *name, const ss_shape *shape, ss_tensor *out,
                         ss_error *err)
{
    int64_t bytes = m->bytes;
    ss_status s = check_name(name, "an input", err);
    if (!s && ss_names_find(&m->tensor_names, name))
        s = ss_fail(err, SS_EINVAL, "input %s: the model has a tensor of that name", name);
    if (!s && ss_shape_check(shape, "it", err))
        s = ss_fail_in(err, "input %s", name);
    if (!s && add_bytes(&bytes, shape, err))
        s = ss_fail_in(err, "input %s", name);
    if (!s)
        s = SS_RESERVE(m->tensor, m->tensor_cap, (size_t)m->tensors + 2, "tensors", err);
    uint32_t id;
    if (!s)
        s = ss_names_add(&m->tensor_names, name, &id, err);
    if (s)
        return s;

    m->tensor[0] = (ss_tensor_row){0};
    m->tensor[id] = (ss_tensor_row){.name = ss_names_text(&m->tensor_names, id), .shape = *shape};
    m->tensors = id;
    m->bytes = bytes;
    out->i = id;
    return SS_OK;
}

ss_op_spec ss_op_spec_start(const ss_op_kind *kind, const char *name)
{
    ss_op_spec spec = {.kind = kind, .name = name};
    for (uint32_t i = 0; i < ss_op_kind_attrs(kind); i++)
        spec.attr[i] = kind->attr[i].preset;
    return spec;
}

/* Adding an operator: refuse */

static ss_status define(const ss_model *m, const ss_op_spec *spec, ss_op_def *def, ss_error *err)
{
    *def = (ss_op_def){.kind = spec->kind, .inputs = spec->inputs};
    if (spec->inputs > SS_MAX_INPUTS)
        return ss_fail(err, SS_EINVAL, "%u input%s were given: at most %d are possible",
                       spec->inputs, ss_plural(spec->inputs), SS_MAX_INPUTS);
    for (uint32_t i = 0; i < spec->inputs; i++) {
        uint32_t t = spec->in[i].i;
        if (!t || t > m->tensors)
            return ss_fail(err, SS_EINVAL, "input %u is tensor %u: the model has 1 to %u", i + 1, t,
                           m->tensors);
        def->in[i] = m->tensor[t].shape;
    }
    memcpy(def->attr, spec->attr, sizeof def->attr);
    return ss_op_def_finish(def, err);
}

/* "enc1", and for the outputs behind the first "enc1.hy". */
static void tensor_name(const ss_op_spec *spec, uint32_t output, char *out)
{
    if (output == 0)
        snprintf(out, NAME_ROOM, "%s", spec->name);
    else
        snprintf(out, NAME_ROOM, "%s.%s", spec->name, spec->kind->output_name[output]);
}

static ss_status check_names(const ss_model *m, const ss_op_spec *spec, const ss_op_def *def,
                             ss_error *err)
{
    char name[NAME_ROOM];
    if (ss_names_find(&m->op_names, spec->name))
        return ss_fail(err, SS_EINVAL, "the model has an operator of that name");
    for (uint32_t o = 0; o < def->outputs; o++) {
        tensor_name(spec, o, name);
        if (ss_names_find(&m->tensor_names, name))
            return ss_fail(err, SS_EINVAL, "the model has a tensor \"%s\" already", name);
    }
    return SS_OK;
}

static ss_status check_same_weights(const ss_model *m, const ss_op_row *first, const ss_op_def *def,
                                    const char *label, ss_error *err)
{
    char theirs[SS_SHAPE_TEXT], mine[SS_SHAPE_TEXT];
    if (first->def->weights != def->weights)
        return ss_fail(err, SS_EINVAL,
                       "it would share \"%s\" with %s, which has %u weight%s, and it has %u "
                       "(does one have a bias?)",
                       label, first->name, first->def->weights, ss_plural(first->def->weights),
                       def->weights);
    for (uint32_t w = 0; w < def->weights; w++) {
        const ss_weight_row *row = &m->weight[first->weight[w].i];
        if (!ss_shape_same(&row->shape, &def->weight[w].shape))
            return ss_fail(err, SS_EINVAL,
                           "it would share \"%s\" with %s, whose %s is %s %s, and its own is %s %s",
                           label, first->name, def->weight[w].name, ss_dtype_name(row->shape.dtype),
                           ss_shape_text(&row->shape, theirs, sizeof theirs),
                           ss_dtype_name(def->weight[w].shape.dtype),
                           ss_shape_text(&def->weight[w].shape, mine, sizeof mine));
    }
    return SS_OK;
}

/* A label may be the name of an operator that bears it, and of no other: whoever writes
 * share = "enc1" beside an operator enc1 without it means to share with that one. */
static ss_status check_share(const ss_model *m, const ss_op_spec *spec, const ss_op_def *def,
                             ss_op *first, ss_error *err)
{
    *first = (ss_op){0};
    if (!def->weights)
        return SS_OK;
    if (!spec->share) {
        uint32_t label = ss_names_find(&m->share_names, spec->name);
        if (!label)
            return SS_OK;
        return ss_fail(err, SS_EINVAL,
                       "its name is the share label of %s: give it share = \"%s\" too, or another "
                       "name",
                       m->op[m->share_op[label]].name, spec->name);
    }
    ss_status s = check_name(spec->share, "share", err);
    if (s)
        return s;
    uint32_t named = ss_names_find(&m->op_names, spec->share);
    if (named && m->op[named].group &&
        (!m->op[named].share || strcmp(m->op[named].share, spec->share)))
        return ss_fail(
            err, SS_EINVAL,
            "share is \"%s\", the name of an operator with weights of its own: give that "
            "one share = \"%s\" too",
            spec->share, spec->share);
    uint32_t label = ss_names_find(&m->share_names, spec->share);
    if (!label)
        return SS_OK;
    first->i = m->share_op[label];
    return check_same_weights(m, &m->op[first->i], def, spec->share, err);
}

static ss_status check_size(const ss_model *m, const ss_op_def *def, bool new_weights,
                            int64_t *bytes, ss_error *err)
{
    ss_status s = SS_OK;
    *bytes = m->bytes;
    for (uint32_t o = 0; o < def->outputs && !s; o++)
        s = add_bytes(bytes, &def->out[o], err);
    for (uint32_t w = 0; new_weights && w < def->weights && !s; w++)
        s = add_bytes(bytes, &def->weight[w].shape, err);
    return s;
}

/* Reserve */

typedef struct addition {
    ss_op_def *def;
    ss_tensor *in;
    const char *weight_name[SS_MAX_WEIGHTS];
    ss_op first;    /* whose weights it shares; 0: they are new */
    bool new_label; /* its share label is new */
    int64_t bytes;  /* of the model with it */
} addition;

static ss_status reserve_rows(ss_model *m, const ss_op_def *def, ss_error *err)
{
    ss_status s = SS_RESERVE(m->op, m->op_cap, (size_t)m->ops + 2, "operators", err);
    if (!s)
        s = SS_RESERVE(m->tensor, m->tensor_cap, (size_t)m->tensors + def->outputs + 1, "tensors",
                       err);
    if (!s)
        s = SS_RESERVE(m->weight, m->weight_cap, (size_t)m->weights + def->weights + 1, "weights",
                       err);
    if (!s)
        s = SS_RESERVE(m->use, m->use_cap, (size_t)m->uses + def->inputs + 1, "readers", err);
    if (!s)
        s = SS_RESERVE(m->share_op, m->share_cap, (size_t)m->share_names.n + 2, "share labels",
                       err);
    return s;
}

static ss_status take_memory(ss_model *m, const ss_op_spec *spec, const ss_op_def *def, addition *a,
                             ss_error *err)
{
    a->def = ss_arena_take(&m->memory, sizeof *def);
    if (!a->def)
        return ss_fail_memory(err, "an operator", sizeof *def);
    *a->def = *def;
    a->def->no_halo = m->no_halo;
    a->in = ss_arena_take(&m->memory, (size_t)def->inputs * sizeof *a->in);
    if (!a->in)
        return ss_fail_memory(err, "inputs", (size_t)def->inputs * sizeof *a->in);
    if (def->inputs)
        memcpy(a->in, spec->in, (size_t)def->inputs * sizeof *a->in);
    for (uint32_t w = 0; !a->first.i && w < def->weights; w++) {
        char *name = ss_arena_take(&m->memory, NAME_ROOM);
        if (!name)
            return ss_fail_memory(err, "a name", NAME_ROOM);
        snprintf(name, NAME_ROOM, "%s.%s", spec->share ? spec->share : spec->name,
                 def->weight[w].name);
        a->weight_name[w] = name;
    }
    return SS_OK;
}

/* All its names or none. */
static ss_status add_names(ss_model *m, const ss_op_spec *spec, const ss_op_def *def, bool label,
                           ss_error *err)
{
    uint32_t id, outputs = 0;
    ss_status s = ss_names_add(&m->op_names, spec->name, &id, err);
    if (s)
        return s;
    while (outputs < def->outputs && !s) {
        char name[NAME_ROOM];
        tensor_name(spec, outputs, name);
        s = ss_names_add(&m->tensor_names, name, &id, err);
        outputs += !s;
    }
    if (!s && label)
        s = ss_names_add(&m->share_names, spec->share, &id, err);
    if (!s)
        return SS_OK;
    while (outputs--)
        ss_names_drop_last(&m->tensor_names);
    ss_names_drop_last(&m->op_names);
    return s;
}

/* Change: nothing below can fail */

static void add_use(ss_model *m, ss_tensor t, ss_op op, uint32_t input)
{
    ss_tensor_row *row = &m->tensor[t.i];
    uint32_t u = ++m->uses;
    m->use[0] = (ss_use_row){0};
    m->use[u] = (ss_use_row){.op = op, .input = input};
    if (row->last_use)
        m->use[row->last_use].next = u;
    else
        row->first_use = u;
    row->last_use = u;
}

static void add_outputs(ss_model *m, ss_op op)
{
    ss_op_row *row = &m->op[op.i];
    for (uint32_t o = 0; o < row->def->outputs; o++) {
        uint32_t t = ++m->tensors;
        m->tensor[0] = (ss_tensor_row){0};
        m->tensor[t] = (ss_tensor_row){.name = ss_names_text(&m->tensor_names, t),
                                       .shape = row->def->out[o],
                                       .producer = op,
                                       .slot = o};
        row->out[o].i = t;
    }
}

static void add_weights(ss_model *m, ss_op op, const addition *a)
{
    ss_op_row *row = &m->op[op.i];
    if (a->first.i) {
        row->group = m->op[a->first.i].group;
        memcpy(row->weight, m->op[a->first.i].weight, sizeof row->weight);
        return;
    }
    if (!row->def->weights)
        return;
    row->group = ++m->groups;
    for (uint32_t w = 0; w < row->def->weights; w++) {
        uint32_t i = ++m->weights;
        m->weight[0] = (ss_weight_row){0};
        m->weight[i] = (ss_weight_row){
            .name = a->weight_name[w], .shape = row->def->weight[w].shape, .group = row->group};
        row->weight[w].i = i;
    }
}

static void add_operator(ss_model *m, const ss_op_spec *spec, const addition *a, ss_op *out)
{
    ss_op op = {++m->ops};
    ss_op_row *row = &m->op[op.i];
    m->op[0] = (ss_op_row){0};
    *row = (ss_op_row){.name = ss_names_text(&m->op_names, op.i),
                       .def = a->def,
                       .in = a->in,
                       .layer = spec->layer};
    for (uint32_t i = 0; i < a->def->inputs; i++) {
        if (m->tensor[a->in[i].i].producer.i && !spec->kind->no_input_gradient)
            row->input_gradient = true;
        add_use(m, a->in[i], op, i);
    }
    add_outputs(m, op);
    add_weights(m, op, a);
    if (spec->share && a->def->weights) {
        uint32_t label = ss_names_find(&m->share_names, spec->share);
        row->share = ss_names_text(&m->share_names, label);
        m->share_op[0] = 0;
        if (a->new_label)
            m->share_op[label] = op.i;
    }
    m->bytes = a->bytes;
    *out = op;
}

ss_status ss_model_add(ss_model *m, const ss_op_spec *spec, ss_op *out, ss_error *err)
{
    ss_status s = check_name(spec->name, spec->kind->name, err);
    if (s)
        return s;
    ss_op_def def;
    addition a = {0};
    s = define(m, spec, &def, err);
    if (!s)
        s = check_names(m, spec, &def, err);
    if (!s)
        s = check_share(m, spec, &def, &a.first, err);
    if (!s)
        s = check_size(m, &def, !a.first.i, &a.bytes, err);
    if (s)
        return ss_fail_in(err, "%s (%s)", spec->name, spec->kind->name), s;

    a.new_label = spec->share && def.weights && !a.first.i;
    s = reserve_rows(m, &def, err);
    if (!s)
        s = take_memory(m, spec, &def, &a, err);
    if (!s)
        s = add_names(m, spec, &def, a.new_label, err);
    if (s)
        return s;
    add_operator(m, spec, &a, out);
    return SS_OK;
}

/* Asking */

ss_model_totals ss_model_total(const ss_model *m)
{
    ss_model_totals t = {.operators = m->ops};
    for (uint32_t w = 1; w <= m->weights; w++) {
        t.parameters += ss_shape_elements(&m->weight[w].shape);
        t.parameter_bytes += ss_shape_bytes(&m->weight[w].shape);
    }
    for (uint32_t i = 1; i <= m->ops; i++) {
        const ss_op_def *def = m->op[i].def;
        ss_box whole = ss_box_whole(&def->out[0]);
        ss_work work;
        ss_op_work(def, SS_FORWARD, true, &whole, &work);
        t.macs += work.macs;
        t.forward_flops += work.flops;
        t.output_elements += ss_shape_elements(&def->out[0]);
    }
    return t;
}

int64_t ss_model_batch(const ss_model *m)
{
    int64_t batch = 0;
    for (uint32_t i = 1; i <= m->ops; i++) {
        const ss_op_def *def = m->op[i].def;
        for (uint32_t d = 0; d < def->out[0].rank; d++)
            if (def->dim[d].cls == SS_DIM_SAMPLE && def->out[0].extent[d] > batch)
                batch = def->out[0].extent[d];
    }
    return batch;
}

static uint64_t hash_shape(uint64_t h, const ss_shape *s)
{
    h = ss_hash_u64(ss_hash_u64(h, s->dtype), s->rank);
    for (uint32_t d = 0; d < s->rank; d++)
        h = ss_hash_u64(h, (uint64_t)s->extent[d]);
    return h;
}

/* Output shapes, weights and work follow from what is folded in here. */
static uint64_t hash_operator(uint64_t h, const ss_op_row *row)
{
    h = ss_hash_text(ss_hash_text(h, row->name), row->def->kind->name);
    h = ss_hash_u64(ss_hash_u64(h, row->layer), row->group);
    for (uint32_t a = 0; a < ss_op_kind_attrs(row->def->kind); a++)
        h = ss_hash_u64(h, (uint64_t)row->def->attr[a]);
    h = ss_hash_u64(h, row->def->inputs);
    for (uint32_t i = 0; i < row->def->inputs; i++)
        h = ss_hash_u64(h, row->in[i].i);
    return h;
}

uint64_t ss_model_hash(const ss_model *m)
{
    uint64_t h = ss_hash_text(SS_HASH_START, m->name);
    h = ss_hash_double(h, m->optimizer_bytes_per_weight_byte);
    if (m->no_halo)
        h = ss_hash_text(h, "no halo");
    for (uint32_t t = 1; t <= m->tensors; t++)
        if (!m->tensor[t].producer.i)
            h = hash_shape(ss_hash_text(ss_hash_u64(h, t), m->tensor[t].name), &m->tensor[t].shape);
    for (uint32_t i = 1; i <= m->ops; i++)
        h = hash_operator(h, &m->op[i]);
    return h;
}

/* Checking: what always holds */

static ss_status check_inputs_of(const ss_model *m, uint32_t i, ss_error *err)
{
    const ss_op_row *row = &m->op[i];
    bool gradient = false;
    for (uint32_t k = 0; k < row->def->inputs; k++) {
        const ss_tensor_row *t = &m->tensor[row->in[k].i];
        if (t->producer.i >= i)
            return ss_fail(err, SS_EINVAL, "%s reads %s, which comes later", row->name, t->name);
        if (!ss_shape_same(&t->shape, &row->def->in[k]))
            return ss_fail(err, SS_EINVAL, "%s: shape of input %u", row->name, k + 1);
        gradient = gradient || (t->producer.i && !row->def->kind->no_input_gradient);
        uint32_t u = t->first_use;
        while (u && !(m->use[u].op.i == i && m->use[u].input == k))
            u = m->use[u].next;
        if (!u)
            return ss_fail(err, SS_EINVAL, "%s is no reader of %s", row->name, t->name);
    }
    if (gradient != row->input_gradient)
        return ss_fail(err, SS_EINVAL, "%s: input_gradient", row->name);
    return SS_OK;
}

static ss_status check_outputs_of(const ss_model *m, uint32_t i, ss_error *err)
{
    const ss_op_row *row = &m->op[i];
    for (uint32_t o = 0; o < row->def->outputs; o++) {
        const ss_tensor_row *t = &m->tensor[row->out[o].i];
        if (t->producer.i != i || t->slot != o || !ss_shape_same(&t->shape, &row->def->out[o]))
            return ss_fail(err, SS_EINVAL, "%s: output %u", row->name, o);
    }
    if (!row->group != !row->def->weights)
        return ss_fail(err, SS_EINVAL, "%s: group %u", row->name, row->group);
    for (uint32_t w = 0; w < row->def->weights; w++) {
        const ss_weight_row *weight = &m->weight[row->weight[w].i];
        if (weight->group != row->group ||
            !ss_shape_same(&weight->shape, &row->def->weight[w].shape))
            return ss_fail(err, SS_EINVAL, "%s: weight %s", row->name, weight->name);
    }
    return SS_OK;
}

static ss_status check_counts(const ss_model *m, ss_error *err)
{
    uint32_t uses = 0, inputs = 0;
    for (uint32_t t = 1; t <= m->tensors; t++)
        for (uint32_t u = m->tensor[t].first_use, last = 0; u; last = u, u = m->use[u].next) {
            if (last > u || ++uses > m->uses)
                return ss_fail(err, SS_EINVAL, "readers of %s", m->tensor[t].name);
            if (!m->use[u].next && u != m->tensor[t].last_use)
                return ss_fail(err, SS_EINVAL, "last reader of %s", m->tensor[t].name);
        }
    for (uint32_t i = 1; i <= m->ops; i++)
        inputs += m->op[i].def->inputs;
    if (uses != m->uses || uses != inputs || m->op_names.n != m->ops ||
        m->tensor_names.n != m->tensors)
        return ss_fail(err, SS_EINVAL, "counts: %u readers listed of %u, %u names of %u operators",
                       uses, m->uses, m->op_names.n, m->ops);
    return SS_OK;
}

ss_status ss_model_check(const ss_model *m, ss_error *err)
{
    ss_status s = check_counts(m, err);
    for (uint32_t i = 1; i <= m->ops && !s; i++) {
        if (ss_names_find(&m->op_names, m->op[i].name) != i)
            s = ss_fail(err, SS_EINVAL, "operator %u is not found as %s", i, m->op[i].name);
        if (!s)
            s = check_inputs_of(m, i, err);
        if (!s)
            s = check_outputs_of(m, i, err);
    }
    for (uint32_t t = 1; t <= m->tensors && !s; t++)
        if (ss_names_find(&m->tensor_names, m->tensor[t].name) != t)
            s = ss_fail(err, SS_EINVAL, "tensor %u is not found as %s", t, m->tensor[t].name);
    return s;
}
