/* lua_model.c - soapstone.model: networks from a script; what it says when asked is in
 * lua_model_ask.c.
 *
 * There is a method for each operator kind, made from the table of kinds (graph/op.h): its
 * attributes are the method's options.  A new kind needs nothing here.
 */
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/lua_model.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

enum { PATH = 200 };

/* -- making one ------------------------------------------------------------------------------- */

static void free_model(void *object)
{
    ss_lua_model *m = object;
    if (!m)
        return;
    ss_model_free(m->model);
    ss_free(m);
}

static ss_status make_model(const char *name, ss_dtype dtype, double state, bool halo,
                            ss_lua_model **out, ss_error *err)
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
    m->model->no_halo = !halo;
    *out = m;
    return SS_OK;
}

typedef struct new_options {
    const char *name, *dtype;
    int optimizer;
    bool halo;
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
    {.name = "halo",
     .kind = SS_OPT_FLAG,
     .at = offsetof(new_options, halo),
     .preset = 1,
     .help = "parts of images read what their windows see beyond their own rows and columns"},
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

/* model.new { name =, dtype =, optimizer =, halo = } -> model */
static int model_new(lua_State *L)
{
    new_options o;
    ss_lua_opts(L, 1, new_list, "model.new", &o);
    ss_dtype dtype = o.dtype ? read_dtype(L, o.dtype, "model.new: option 'dtype'") : SS_F32;
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_model_type);

    ss_error err;
    ss_lua_model *m = NULL;
    if (make_model(o.name, dtype, o.optimizer, o.halo, &m, &err))
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
        return ss_lua_refuse(L, "model:input: input %.60s has %d extent%s; 1 to %d are possible",
                             name, (int)rank, ss_plural(rank), SS_MAX_DIMS);
    shape.rank = (uint32_t)rank;
    for (uint32_t d = 0; d < rank; d++) {
        ss_lua_name(path, sizeof path, "model:input: input %.60s: extent %d", name, (int)d + 1);
        lua_rawgeti(L, 3, (lua_Integer)d + 1);
        shape.extent[d] = ss_lua_integer(L, -1, 1, INT64_MAX, path);
        lua_pop(L, 1);
    }
    ss_lua_tensor_push(L, 1, (ss_tensor){0});
    ss_lua_tensor *v = lua_touserdata(L, -1);

    ss_error err;
    if (ss_model_input(m->model, name, &shape, &v->tensor, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

/* -- operators -------------------------------------------------------------------------------- */

static int find_attr(const ss_op_kind *kind, const char *name)
{
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

/* kernel = 3 or { 3, 1 }, on top of the stack, into kernel_h, which is attribute `h`, and kernel_w.
 */
static void read_pair(lua_State *L, const ss_op_kind *kind, uint32_t h, const char *stem,
                      int64_t *attr, const char *what)
{
    char path[PATH];
    bool list = lua_istable(L, -1);
    if (list && lua_rawlen(L, -1) != 2)
        ss_lua_refuse(L, "%s: option '%s' has %d number%s; it takes one, or two: { h, w }", what,
                      stem, (int)lua_rawlen(L, -1), ss_plural(lua_rawlen(L, -1)));
    if (!list && lua_type(L, -1) != LUA_TNUMBER)
        ss_lua_refuse(
            L, "%s: option '%s' should be a whole number, or { h, w }, not %s (%s; and %s)", what,
            stem, ss_lua_kind_of(L, -1), kind->attr[h].help, kind->attr[h + 1].help);
    for (uint32_t i = 0; i < 2; i++) {
        if (list) {
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
            ss_lua_name(path, sizeof path, "%s: option '%s[%d]'", what, stem, (int)i + 1);
        } else {
            lua_pushvalue(L, -1);
            ss_lua_name(path, sizeof path, "%s: option '%s'", what, stem);
        }
        attr[h + i] = read_attr(L, &kind->attr[h + i], path);
        lua_pop(L, 1);
    }
}

/* What is asked for most, kernel rather than kernel_h, stands first: so it does in messages. */
static void refuse_unknown_options(lua_State *L, int index, const ss_op_kind *kind,
                                   const char *what)
{
    char stem[SS_MAX_ATTRS][SS_ATTR_STEM];
    const char *names[2 * SS_MAX_ATTRS + 2];
    uint32_t n = 0, attrs = ss_op_kind_attrs(kind);
    for (uint32_t i = 0; i < attrs; i++)
        if (ss_op_kind_pair(kind, i, stem[i]))
            names[n++] = stem[i];
    for (uint32_t i = 0; i < attrs; i++)
        names[n++] = kind->attr[i].name;
    names[n++] = "share";
    names[n++] = "layer";
    ss_lua_opts_names(L, index, NULL, names, n, what);
}

/* Raw value of an option on top of the stack; false and nothing pushed if absent. */
static bool get_option(lua_State *L, int index, const char *name)
{
    if (ss_lua_push_option(L, index, name) != LUA_TNIL)
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
    uint32_t attrs = ss_op_kind_attrs(spec->kind);
    for (uint32_t i = 0; i < attrs; i++) {
        char stem[SS_ATTR_STEM];
        if (!ss_op_kind_pair(spec->kind, i, stem) || !get_option(L, index, stem))
            continue;
        read_pair(L, spec->kind, i, stem, spec->attr, what);
        lua_pop(L, 1);
    }
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
    int at = find_attr(spec->kind, "dtype");
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
        char stem[SS_ATTR_STEM];
        if (spec->attr[i] != SS_ATTR_REQUIRED)
            continue;
        if (ss_op_kind_pair(spec->kind, i, stem) && spec->attr[i + 1] == SS_ATTR_REQUIRED)
            ss_lua_refuse(L, "%s: option '%s' is missing (a number, or { h, w }: %s, %s)", what,
                          stem, a->help, a[1].help);
        else
            ss_lua_refuse(L, "%s: option '%s' is missing (%s)", what, a->name, a->help);
    }
}

static ss_tensor read_tensor(lua_State *L, int index, int model, const char *what, uint32_t i)
{
    ss_lua_tensor *v = ss_lua_value_test(L, index, &ss_lua_tensor_type);
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
        ss_lua_refuse(L, "%s: %d input%s; %s takes %d%s", what, (int)n, ss_plural(n), kind->name,
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
    ss_lua_tensor *out[SS_MAX_OUTPUTS];
    for (int i = 0; i < SS_MAX_OUTPUTS; i++) { /* made before the work: this may raise */
        ss_lua_tensor_push(L, 1, (ss_tensor){0});
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

/* -- the type ---------------------------------------------------------------------------------- */

static const ss_lua_method model_methods[] = {
    {"input", model_input, "(name, extents, { dtype = }) -> tensor: what the network reads"},
    {"totals", ss_lua_model_totals, "() -> table: parameters, macs, forward_flops, ..."},
    {"ops", ss_lua_model_ops, "() -> iterator of tables: every operator in order"},
    {"op", ss_lua_model_op, "(name or position) -> table: one operator"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_model_type = {
    .name = "soapstone.model",
    .noun = "model",
    .free = free_model,
    .fields = ss_lua_model_fields,
    .methods = model_methods,
    .text = ss_lua_model_text,
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
        ss_lua_attr_push(L, a, a->preset);
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
    {"new", model_new, "({ name =, dtype =, optimizer =, halo = }) -> model"},
    {NULL, NULL, NULL},
};

void ss_lua_open_model(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_tensor_type);
    ss_lua_type_register(L, &ss_lua_model_type);
    add_kinds(L);
    ss_lua_push_module(L, "model", functions);
}
