/* lua_model.c - soapstone.model: networks from a script.
 *
 * There is a method for each operator kind, made from the table of kinds (graph/op.h): its
 * attributes are the method's options.  A new kind needs nothing here.
 */
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200 };

static ss_lua_model *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_model_type);
}

/* -- tensors ---------------------------------------------------------------------------------- */

typedef struct tensor_value {
    ss_tensor tensor;
} tensor_value;

static tensor_value *check_tensor_value(lua_State *L, int index)
{
    tensor_value *v = ss_lua_value_test(L, index, &ss_lua_tensor_type);
    if (!v)
        ss_lua_refuse(L, "a tensor is expected, not %s", ss_lua_kind_of(L, index));
    return v;
}

static const ss_tensor_row *tensor_row(lua_State *L, int index)
{
    tensor_value *v = check_tensor_value(L, index);
    lua_getiuservalue(L, index, 1);
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_model_type);
    lua_pop(L, 1); /* the tensor keeps it */
    if (!box) {
        ss_lua_refuse(L, "the model of this tensor is closed");
        return NULL;
    }
    return &((ss_lua_model *)box->object)->model->tensor[v->tensor.i];
}

static void push_tensor(lua_State *L, int model, ss_tensor tensor)
{
    tensor_value *v = ss_lua_value_new(L, &ss_lua_tensor_type, sizeof *v, model);
    v->tensor = tensor;
}

static void push_extents(lua_State *L, const ss_shape *s)
{
    lua_createtable(L, (int)s->rank, 0);
    for (uint32_t d = 0; d < s->rank; d++) {
        lua_pushinteger(L, s->extent[d]);
        lua_rawseti(L, -2, (lua_Integer)d + 1);
    }
}

static int tensor_get_name(lua_State *L, int index)
{
    lua_pushstring(L, tensor_row(L, index)->name);
    return 1;
}

static int tensor_get_shape(lua_State *L, int index)
{
    push_extents(L, &tensor_row(L, index)->shape);
    return 1;
}

static int tensor_get_dtype(lua_State *L, int index)
{
    lua_pushstring(L, ss_dtype_name(tensor_row(L, index)->shape.dtype));
    return 1;
}

static int tensor_text(lua_State *L)
{
    char shape[128];
    const ss_tensor_row *row = tensor_row(L, 1);
    lua_pushfstring(L, "tensor %s %s %s", row->name,
                    ss_shape_text(&row->shape, shape, sizeof shape),
                    ss_dtype_name(row->shape.dtype));
    return 1;
}

static int tensor_same(lua_State *L)
{
    tensor_value *a = ss_lua_value_test(L, 1, &ss_lua_tensor_type);
    tensor_value *b = ss_lua_value_test(L, 2, &ss_lua_tensor_type);
    bool same = a && b && a->tensor.i == b->tensor.i;
    if (same) {
        lua_getiuservalue(L, 1, 1);
        lua_getiuservalue(L, 2, 1);
        same = lua_rawequal(L, -1, -2);
    }
    lua_pushboolean(L, same);
    return 1;
}

static const ss_lua_field tensor_fields[] = {
    {"name", tensor_get_name, "the operator's; of further outputs \"enc1.hy\""},
    {"shape", tensor_get_shape, "list of extents; the first is the sample"},
    {"dtype", tensor_get_dtype, "element type: \"f32\""},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_tensor_type = {
    .name = "soapstone.tensor",
    .noun = "tensor",
    .fields = tensor_fields,
    .text = tensor_text,
    .same = tensor_same,
};

/* -- making one ------------------------------------------------------------------------------- */

static void free_model(void *object)
{
    ss_lua_model *m = object;
    if (!m)
        return;
    ss_model_free(m->model);
    ss_free(m);
}

static ss_status make_model(const char *name, ss_dtype dtype, double state, ss_lua_model **out,
                            ss_error *err)
{
    ss_lua_model *m = ss_alloc_zeroed(1, sizeof *m);
    if (!m)
        return ss_fail_memory(err, "a model", sizeof *m);
    ss_status s = ss_model_new(name, &m->model, err);
    if (s) {
        ss_free(m);
        return s;
    }
    m->dtype = dtype;
    m->model->optimizer_bytes_per_weight_byte = state;
    *out = m;
    return SS_OK;
}

typedef struct new_options {
    const char *name, *dtype;
    int optimizer;
} new_options;

static const ss_opt new_list[] = {
    {.name = "name",
     .kind = SS_OPT_TEXT,
     .at = offsetof(new_options, name),
     .preset = SS_OPT_REQUIRED,
     .help = "what reports and files call it"},
    {.name = "dtype",
     .kind = SS_OPT_TEXT,
     .at = offsetof(new_options, dtype),
     .help = "element type of its inputs and weights; f32 unless given"},
    {.name = "optimizer",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(new_options, optimizer),
     .choices = "sgd|momentum|adam",
     .help = "keeps 0, 1 or 2 numbers for each weight"},
    {0},
};

static ss_dtype read_dtype(lua_State *L, const char *text, const char *what)
{
    ss_error err;
    ss_dtype dtype;
    if (ss_dtype_parse(text, &dtype, &err)) {
        ss_fail_in(&err, "%s", what);
        ss_lua_raise(L, &err);
    }
    return dtype;
}

/* model.new { name =, dtype =, optimizer = } -> model */
static int model_new(lua_State *L)
{
    new_options o;
    ss_lua_opts(L, 1, new_list, "model.new", &o);
    ss_dtype dtype = o.dtype ? read_dtype(L, o.dtype, "model.new: option 'dtype'") : SS_F32;
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_model_type);

    ss_error err;
    ss_lua_model *m = NULL;
    if (make_model(o.name, dtype, o.optimizer, &m, &err))
        return ss_lua_raise(L, &err);

    box->object = m;
    return 1;
}

static const ss_opt input_list[] = {
    {.name = "dtype", .kind = SS_OPT_TEXT, .help = "element type; the model's unless given"},
    {0},
};

/* model:input(name, { extents }, { dtype = }) -> tensor */
static int model_input(lua_State *L)
{
    ss_lua_model *m = ss_lua_check_change(L, 1, &ss_lua_model_type);
    const char *name = ss_lua_text(L, 2, "model:input: the name");
    const char *dtype;
    char path[PATH];
    if (!lua_istable(L, 3))
        return ss_lua_refuse(L, "model:input: input %.60s needs a list of extents, not %s", name,
                             ss_lua_kind_of(L, 3));
    ss_lua_opts(L, 4, input_list, "model:input", &dtype);
    ss_lua_name(path, sizeof path, "model:input: input %.60s: option 'dtype'", name);
    ss_shape shape = {.dtype = dtype ? read_dtype(L, dtype, path) : m->dtype};
    lua_Unsigned rank = lua_rawlen(L, 3);
    if (rank < 1 || rank > SS_MAX_DIMS)
        return ss_lua_refuse(L, "model:input: input %.60s has %d extents; 1 to %d are possible",
                             name, (int)rank, SS_MAX_DIMS);
    shape.rank = (uint32_t)rank;
    for (uint32_t d = 0; d < rank; d++) {
        ss_lua_name(path, sizeof path, "model:input: input %.60s: extent %d", name, (int)d + 1);
        lua_rawgeti(L, 3, (lua_Integer)d + 1);
        shape.extent[d] = ss_lua_integer(L, -1, 1, INT64_MAX, path);
        lua_pop(L, 1);
    }
    push_tensor(L, 1, (ss_tensor){0});
    tensor_value *v = lua_touserdata(L, -1);

    ss_error err;
    if (ss_model_input(m->model, name, &shape, &v->tensor, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

/* -- operators -------------------------------------------------------------------------------- */

/* kernel = 3 or { 3, 1 } stands for kernel_h and kernel_w. */
static const char *const pairs_of[] = {"kernel", "stride", "padding", "factor"};
enum { PAIRS = sizeof pairs_of / sizeof *pairs_of };

static int find_attr(const ss_op_kind *kind, const char *stem, const char *end)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", stem, end);
    uint32_t n = ss_op_kind_attrs(kind);
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(kind->attr[i].name, name))
            return (int)i;
    return -1;
}

static int64_t read_attr(lua_State *L, const ss_attr_def *a, const char *path)
{
    bool flag = a->choices && !strcmp(a->choices, "bool");
    if (flag) {
        if (!lua_isboolean(L, -1))
            ss_lua_refuse(L, "%s should be true or false, not %s", path, ss_lua_kind_of(L, -1));
        return lua_toboolean(L, -1);
    }
    if (a->choices)
        return ss_lua_choice(L, -1, a->choices, path);
    return ss_lua_integer(L, -1, a->min, a->max, path);
}

/* The value of `kernel` on top of the stack, into kernel_h and kernel_w. */
static void read_pair(lua_State *L, const ss_op_kind *kind, const char *stem, int64_t *attr,
                      const char *what)
{
    int h = find_attr(kind, stem, "_h"), w = find_attr(kind, stem, "_w");
    char path[PATH];
    bool list = lua_istable(L, -1);
    if (list && lua_rawlen(L, -1) != 2)
        ss_lua_refuse(L, "%s: option '%s' has %d numbers; it takes one, or two: { h, w }", what,
                      stem, (int)lua_rawlen(L, -1));
    for (int i = 0; i < 2; i++) {
        int at = i ? w : h;
        if (list) {
            lua_rawgeti(L, -1, i + 1);
            ss_lua_name(path, sizeof path, "%s: option '%s[%d]'", what, stem, i + 1);
        } else {
            lua_pushvalue(L, -1);
            ss_lua_name(path, sizeof path, "%s: option '%s'", what, stem);
        }
        attr[at] = read_attr(L, &kind->attr[at], path);
        lua_pop(L, 1);
    }
}

static bool has_pair(const ss_op_kind *kind, const char *stem)
{
    return find_attr(kind, stem, "_h") >= 0 && find_attr(kind, stem, "_w") >= 0;
}

static void refuse_unknown_options(lua_State *L, int index, const ss_op_kind *kind,
                                   const char *what)
{
    const char *names[SS_MAX_ATTRS + PAIRS + 2];
    uint32_t n = 0, attrs = ss_op_kind_attrs(kind);
    for (uint32_t i = 0; i < attrs; i++)
        names[n++] = kind->attr[i].name;
    for (int i = 0; i < PAIRS; i++)
        if (has_pair(kind, pairs_of[i]))
            names[n++] = pairs_of[i];
    names[n++] = "share";
    names[n++] = "layer";
    ss_lua_opts_names(L, index, NULL, names, n, what);
}

/* Raw value of an option on top of the stack; false and nothing pushed if absent. */
static bool get_option(lua_State *L, int index, const char *name)
{
    lua_pushstring(L, name);
    if (lua_rawget(L, index) != LUA_TNIL)
        return true;
    lua_pop(L, 1);
    return false;
}

static void read_options(lua_State *L, int index, ss_op_spec *spec, const char *what)
{
    char path[PATH];
    refuse_unknown_options(L, index, spec->kind, what);
    if (!lua_istable(L, index))
        return;
    for (int i = 0; i < PAIRS; i++) {
        if (!has_pair(spec->kind, pairs_of[i]) || !get_option(L, index, pairs_of[i]))
            continue;
        read_pair(L, spec->kind, pairs_of[i], spec->attr, what);
        lua_pop(L, 1);
    }
    uint32_t attrs = ss_op_kind_attrs(spec->kind);
    for (uint32_t i = 0; i < attrs; i++) {
        if (!get_option(L, index, spec->kind->attr[i].name))
            continue;
        ss_lua_name(path, sizeof path, "%s: option '%s'", what, spec->kind->attr[i].name);
        spec->attr[i] = read_attr(L, &spec->kind->attr[i], path);
        lua_pop(L, 1);
    }
    if (get_option(L, index, "share")) {
        ss_lua_name(path, sizeof path, "%s: option 'share'", what);
        spec->share = ss_lua_text(L, -1, path);
        lua_pop(L, 1); /* the table keeps it */
    }
    if (get_option(L, index, "layer")) {
        ss_lua_name(path, sizeof path, "%s: option 'layer'", what);
        spec->layer = (uint32_t)ss_lua_integer(L, -1, 0, INT32_MAX, path);
        lua_pop(L, 1);
    }
}

/* An attribute "dtype" is the model's element type unless it is given. */
static void preset_dtype(const ss_lua_model *m, ss_op_spec *spec)
{
    int at = find_attr(spec->kind, "dtype", "");
    int64_t dtype;
    if (at >= 0 && !ss_attr_parse(&spec->kind->attr[at], ss_dtype_name(m->dtype), &dtype, NULL))
        spec->attr[at] = dtype;
}

/* Raises for an attribute that has no preset and was not given. */
static void require_attrs(lua_State *L, const ss_op_spec *spec, const char *what)
{
    uint32_t attrs = ss_op_kind_attrs(spec->kind);
    for (uint32_t i = 0; i < attrs; i++) {
        const ss_attr_def *a = &spec->kind->attr[i];
        if (spec->attr[i] == SS_ATTR_REQUIRED)
            ss_lua_refuse(L, "%s: option '%s' is missing (%s)", what, a->name, a->help);
    }
}

static ss_tensor read_tensor(lua_State *L, int index, int model, const char *what, uint32_t i)
{
    tensor_value *v = ss_lua_value_test(L, index, &ss_lua_tensor_type);
    if (!v)
        ss_lua_refuse(L, "%s: input %d should be a tensor, not %s", what, (int)i + 1,
                      ss_lua_kind_of(L, index));
    lua_getiuservalue(L, index, 1);
    if (lua_touserdata(L, -1) != lua_touserdata(L, model))
        ss_lua_refuse(L, "%s: input %d is a tensor of another model", what, (int)i + 1);
    lua_pop(L, 1);
    return v->tensor;
}

/* One tensor or a list of them at `index`, into `in`. */
static uint32_t read_inputs(lua_State *L, int index, const ss_op_kind *kind, const char *what,
                            ss_tensor *in)
{
    if (!lua_istable(L, index)) {
        in[0] = read_tensor(L, index, 1, what, 0);
        return 1;
    }
    lua_Unsigned n = lua_rawlen(L, index);
    if (n < kind->min_inputs || n > kind->max_inputs)
        ss_lua_refuse(L, "%s: %d inputs; %s takes %d%s", what, (int)n, kind->name,
                      (int)kind->min_inputs,
                      kind->max_inputs == kind->min_inputs ? "" : " or more");
    for (uint32_t i = 0; i < n; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        in[i] = read_tensor(L, -1, 1, what, i);
        lua_pop(L, 1);
    }
    return (uint32_t)n;
}

/* model:KIND(name, tensor or { tensors }, { attribute =, ..., share =, layer = }) -> tensors.
 * Upvalue: the kind. */
static int model_add(lua_State *L)
{
    const ss_op_kind *kind = lua_touserdata(L, lua_upvalueindex(1));
    ss_lua_model *m = ss_lua_check_change(L, 1, &ss_lua_model_type);
    char what[PATH], path[PATH];
    ss_lua_name(path, sizeof path, "model:%s: the name", kind->name);
    ss_op_spec spec = ss_op_spec_start(kind, ss_lua_text(L, 2, path));
    ss_lua_name(what, sizeof what, "%s %.80s", kind->name, spec.name);
    ss_tensor in[SS_MAX_INPUTS];
    spec.in = in;
    spec.inputs = read_inputs(L, 3, kind, what, in);
    preset_dtype(m, &spec);
    read_options(L, 4, &spec, what);
    require_attrs(L, &spec, what);
    lua_settop(L, 4);
    tensor_value *out[SS_MAX_OUTPUTS];
    for (int i = 0; i < SS_MAX_OUTPUTS; i++) { /* made before the work: this may raise */
        push_tensor(L, 1, (ss_tensor){0});
        out[i] = lua_touserdata(L, -1);
    }

    ss_error err;
    ss_op op;
    if (ss_model_add(m->model, &spec, &op, &err))
        return ss_lua_raise(L, &err);

    const ss_op_row *row = &m->model->op[op.i];
    for (uint32_t i = 0; i < row->def->outputs; i++)
        out[i]->tensor = row->out[i];
    lua_settop(L, 4 + (int)row->def->outputs);
    return (int)row->def->outputs;
}

/* -- asking it -------------------------------------------------------------------------------- */

/* model:totals() -> table */
static int model_totals(lua_State *L)
{
    ss_model_totals t = ss_model_total(check(L, 1)->model);
    lua_createtable(L, 0, 6);
    ss_lua_set_integer(L, "parameters", t.parameters);
    ss_lua_set_integer(L, "parameter_bytes", t.parameter_bytes);
    ss_lua_set_count(L, "macs", t.macs);
    ss_lua_set_count(L, "forward_flops", t.forward_flops);
    ss_lua_set_integer(L, "output_elements", t.output_elements);
    ss_lua_set_integer(L, "operators", t.operators);
    return 1;
}

/* The value as a script writes it: true, "relu", 3. */
static void push_attr_value(lua_State *L, const ss_attr_def *a, int64_t value)
{
    char text[SS_ATTR_TEXT];
    if (!a->choices)
        lua_pushinteger(L, value);
    else if (!strcmp(a->choices, "bool"))
        lua_pushboolean(L, value != 0);
    else
        lua_pushstring(L, ss_attr_text(a, value, text, sizeof text));
}

static void push_attrs(lua_State *L, const ss_op_def *def)
{
    uint32_t n = ss_op_kind_attrs(def->kind);
    lua_createtable(L, 0, (int)n);
    for (uint32_t i = 0; i < n; i++) {
        push_attr_value(L, &def->kind->attr[i], def->attr[i]);
        lua_setfield(L, -2, def->kind->attr[i].name);
    }
}

static void push_dims(lua_State *L, const ss_op_def *def)
{
    lua_createtable(L, (int)def->out[0].rank, 0);
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        char cls[2] = {(char)def->dim[d].cls, '\0'};
        lua_createtable(L, 0, 4);
        ss_lua_set_text(L, "name", def->dim[d].name);
        ss_lua_set_text(L, "class", cls);
        ss_lua_set_integer(L, "extent", def->out[0].extent[d]);
        ss_lua_set_integer(L, "grain", def->dim[d].grain);
        lua_rawseti(L, -2, (lua_Integer)d + 1);
    }
}

static void push_op(lua_State *L, int model, const ss_model *m, ss_op op)
{
    const ss_op_row *row = &m->op[op.i];
    const ss_op_def *def = row->def;
    ss_box whole = ss_box_whole(&def->out[0]);
    ss_work work;
    ss_op_work(def, SS_FORWARD, row->input_gradient, &whole, &work);
    int64_t parameters = 0;
    for (uint32_t w = 0; w < def->weights; w++)
        parameters += ss_shape_elements(&def->weight[w].shape);

    lua_createtable(L, 0, 12);
    ss_lua_set_integer(L, "index", op.i);
    ss_lua_set_text(L, "name", row->name);
    ss_lua_set_text(L, "kind", def->kind->name);
    ss_lua_set_text(L, "share", row->share);
    ss_lua_set_integer(L, "layer", row->layer);
    ss_lua_set_integer(L, "parameters", parameters);
    ss_lua_set_count(L, "macs", work.macs);
    ss_lua_set_count(L, "flops", work.flops);
    push_attrs(L, def);
    lua_setfield(L, -2, "attributes");
    push_dims(L, def);
    lua_setfield(L, -2, "dims");
    lua_createtable(L, (int)def->inputs, 0);
    for (uint32_t i = 0; i < def->inputs; i++) {
        push_tensor(L, model, row->in[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "inputs");
    lua_createtable(L, (int)def->outputs, 0);
    for (uint32_t i = 0; i < def->outputs; i++) {
        push_tensor(L, model, row->out[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "outputs");
}

/* Upvalues: the model, the position. */
static int next_op(lua_State *L)
{
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    ss_model *m = check(L, 1)->model;
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    if (i > m->ops)
        return 0;
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(2));
    push_op(L, 1, m, (ss_op){(uint32_t)i});
    return 1;
}

/* model:ops() -> iterator of tables */
static int model_ops(lua_State *L)
{
    check(L, 1);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_op, 2);
    return 1;
}

ss_op ss_lua_op(lua_State *L, int index, const ss_model *m, const char *path)
{
    if (lua_type(L, index) == LUA_TNUMBER)
        return (ss_op){(uint32_t)ss_lua_integer(L, index, 1, m->ops, path)};
    const char *name = ss_lua_text(L, index, path);
    uint32_t id = ss_names_find(&m->op_names, name);
    if (!id) {
        const char *near = ss_names_nearest(&m->op_names, name);
        if (near)
            ss_lua_refuse(L, "%s: model %s has no operator '%s'; did you mean '%s'?", path, m->name,
                          name, near);
        ss_lua_refuse(L, "%s: model %s has no operator '%s'", path, m->name, name);
    }
    return (ss_op){id};
}

/* model:op(name or position) -> table */
static int model_op(lua_State *L)
{
    ss_model *m = check(L, 1)->model;
    push_op(L, 1, m, ss_lua_op(L, 2, m, "model:op"));
    return 1;
}

static int get_name(lua_State *L, int index)
{
    lua_pushstring(L, check(L, index)->model->name);
    return 1;
}

static int get_batch(lua_State *L, int index)
{
    lua_pushinteger(L, ss_model_batch(check(L, index)->model));
    return 1;
}

static int get_dtype(lua_State *L, int index)
{
    lua_pushstring(L, ss_dtype_name(check(L, index)->dtype));
    return 1;
}

static int model_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_model_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "model (closed)");
        return 1;
    }
    const ss_model *m = ((ss_lua_model *)box->object)->model;
    ss_model_totals t = ss_model_total(m);
    char parameters[SS_QUANTITY_TEXT], bytes[SS_QUANTITY_TEXT], flops[SS_QUANTITY_TEXT], text[400];
    ss_lua_name(
        text, sizeof text, "model %s: %d operators, batch %lld, %s parameters (%s), %s forward",
        m->name, (int)t.operators, (long long)ss_model_batch(m),
        ss_format_quantity((double)t.parameters, SS_UNIT_NONE, parameters, sizeof parameters),
        ss_format_quantity((double)t.parameter_bytes, SS_UNIT_BYTES, bytes, sizeof bytes),
        ss_format_quantity(t.forward_flops, SS_UNIT_FLOP, flops, sizeof flops));
    lua_pushstring(L, text);
    return 1;
}

static const ss_lua_field model_fields[] = {
    {"name", get_name, "what reports and files call it"},
    {"batch", get_batch, "samples of one step"},
    {"dtype", get_dtype, "element type of new inputs"},
    {NULL, NULL, NULL},
};

static const ss_lua_method model_methods[] = {
    {"input", model_input, "(name, extents, { dtype = }) -> tensor: what the network reads"},
    {"totals", model_totals, "() -> table: parameters, macs, forward_flops, ..."},
    {"ops", model_ops, "() -> iterator of tables: every operator in order"},
    {"op", model_op, "(name or position) -> table: one operator"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_model_type = {
    .name = "soapstone.model",
    .noun = "model",
    .free = free_model,
    .fields = model_fields,
    .methods = model_methods,
    .text = model_text,
};

/* -- the module ------------------------------------------------------------------------------- */

/* Adds a method for each operator kind to those of the type. */
static void add_kinds(lua_State *L)
{
    uint32_t n;
    const ss_op_kind *const *kinds = ss_op_kinds(&n);
    luaL_getmetatable(L, ss_lua_model_type.name);
    lua_getfield(L, -1, "__methods");
    for (uint32_t i = 0; i < n; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)kinds[i]);
        lua_pushcclosure(L, model_add, 1);
        lua_setfield(L, -2, kinds[i]->name);
    }
    lua_pop(L, 2);
}

static void push_attribute(lua_State *L, const ss_attr_def *a)
{
    lua_createtable(L, 0, 6);
    ss_lua_set_text(L, "name", a->name);
    ss_lua_set_text(L, "help", a->help);
    ss_lua_set_text(L, "choices", a->choices);
    ss_lua_set_flag(L, "required", a->preset == SS_ATTR_REQUIRED);
    if (a->preset != SS_ATTR_REQUIRED) {
        push_attr_value(L, a, a->preset);
        lua_setfield(L, -2, "preset");
    }
}

/* model.kinds() -> { { name =, summary =, attributes = { ... }, min_inputs =, max_inputs = }, ... }
 */
static int model_kinds(lua_State *L)
{
    uint32_t n;
    const ss_op_kind *const *kinds = ss_op_kinds(&n);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t attrs = ss_op_kind_attrs(kinds[i]);
        lua_createtable(L, 0, 5);
        ss_lua_set_text(L, "name", kinds[i]->name);
        ss_lua_set_text(L, "summary", kinds[i]->summary);
        ss_lua_set_integer(L, "min_inputs", kinds[i]->min_inputs);
        ss_lua_set_integer(L, "max_inputs", kinds[i]->max_inputs);
        lua_createtable(L, (int)attrs, 0);
        for (uint32_t k = 0; k < attrs; k++) {
            push_attribute(L, &kinds[i]->attr[k]);
            lua_rawseti(L, -2, (lua_Integer)k + 1);
        }
        lua_setfield(L, -2, "attributes");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static const ss_lua_method functions[] = {
    {"kinds", model_kinds, "() -> list of tables: the kinds of operators and their options"},
    {"new", model_new, "({ name =, dtype =, optimizer = }) -> model"},
    {NULL, NULL, NULL},
};

void ss_lua_open_model(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_tensor_type);
    ss_lua_type_register(L, &ss_lua_model_type);
    add_kinds(L);
    ss_lua_push_functions(L, functions);
}
