/* lua_model_ask.c - what a model and its tensors say when a script asks them.  See lua_model.c,
 * which builds them. */
#include <string.h>

#include <lauxlib.h>

#include "lua/lua_model.h"
#include "lua/opts.h"
#include "lua/types.h"

static ss_lua_model *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_model_type);
}

/* -- tensors ---------------------------------------------------------------------------------- */

static ss_lua_tensor *check_value(lua_State *L, int index)
{
    ss_lua_tensor *v = ss_lua_value_test(L, index, &ss_lua_tensor_type);
    if (!v)
        ss_lua_refuse(L, "a tensor is expected, not %s", ss_lua_kind_of(L, index));
    return v;
}

static const ss_tensor_row *tensor_row(lua_State *L, int index)
{
    ss_lua_tensor *v = check_value(L, index);
    lua_getiuservalue(L, index, 1);
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_model_type);
    lua_pop(L, 1); /* the tensor keeps it */
    if (!box) {
        ss_lua_refuse(L, "the model of this tensor is closed");
        return NULL;
    }
    return &((ss_lua_model *)box->object)->model->tensor[v->tensor.i];
}

void ss_lua_tensor_push(lua_State *L, int model, ss_tensor tensor)
{
    ss_lua_tensor *v = ss_lua_value_new(L, &ss_lua_tensor_type, sizeof *v, model);
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
    .same = ss_lua_value_same,
};

/* -- asking it -------------------------------------------------------------------------------- */

/* model:totals() -> table */
int ss_lua_model_totals(lua_State *L)
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
void ss_lua_attr_push(lua_State *L, const ss_attr_def *a, int64_t value)
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
        ss_lua_attr_push(L, &def->kind->attr[i], def->attr[i]);
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
        ss_lua_tensor_push(L, model, row->in[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "inputs");
    lua_createtable(L, (int)def->outputs, 0);
    for (uint32_t i = 0; i < def->outputs; i++) {
        ss_lua_tensor_push(L, model, row->out[i]);
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
int ss_lua_model_ops(lua_State *L)
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
int ss_lua_model_op(lua_State *L)
{
    ss_model *m = check(L, 1)->model;
    push_op(L, 1, m, ss_lua_op(L, 2, m, "model:op: the operator"));
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

int ss_lua_model_text(lua_State *L)
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
        text, sizeof text, "model %s: %d operator%s, batch %lld, %s parameters (%s), %s forward",
        m->name, (int)t.operators, ss_plural((uint64_t)t.operators), (long long)ss_model_batch(m),
        ss_format_quantity((double)t.parameters, SS_UNIT_NONE, parameters, sizeof parameters),
        ss_format_quantity((double)t.parameter_bytes, SS_UNIT_BYTES, bytes, sizeof bytes),
        ss_format_quantity(t.forward_flops, SS_UNIT_FLOP, flops, sizeof flops));
    lua_pushstring(L, text);
    return 1;
}

const ss_lua_field ss_lua_model_fields[] = {
    {"name", get_name, "what reports and files call it"},
    {"batch", get_batch, "samples of one step"},
    {"dtype", get_dtype, "element type of new inputs"},
    {NULL, NULL, NULL},
};
