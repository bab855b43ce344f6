/* lua_trace.c - soapstone.trace: times of operators in what torch.profiler recorded. */
#include "lua/lua_trace.h"

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/lua_profile.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "validation/torch/trace.h"

enum { SHOWN = 30 };

static void free_trace(void *object)
{
    if (object)
        ss_torch_trace_free(object);
    ss_free(object);
}

static const ss_torch_trace *check(lua_State *L, int index)
{
    return ss_lua_check(L, index, &ss_lua_trace_type);
}

/* trace.read(path) -> trace */
static int trace_read(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "trace.read: the path");
    const ss_watch *watch = ss_lua_watch(L);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_trace_type);

    ss_error err;
    box->object = ss_alloc_zeroed(1, sizeof(ss_torch_trace));
    if (!box->object) {
        ss_fail_memory(&err, "a trace", sizeof(ss_torch_trace));
        return ss_lua_raise(L, &err);
    }
    if (ss_torch_trace_read(path, watch, box->object, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

typedef struct profile_options {
    const char *kind;
} profile_options;

static const ss_opt profile_list[] = {
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(profile_options, kind),
     .help = "of the device; its name in the trace unless given"},
    {0},
};

/* trace:profile { kind = } -> profile */
static int trace_profile(lua_State *L)
{
    const ss_torch_trace *t = check(L, 1);
    profile_options o = {0};
    lua_settop(L, 2);
    ss_lua_opts(L, 2, profile_list, "trace:profile", &o);
    ss_profile *out = ss_lua_push_profile(L);

    ss_error err;
    if (ss_torch_trace_profile(t, o.kind, out, &err)) {
        ss_fail_in(&err, "trace:profile");
        return ss_lua_raise(L, &err);
    }
    return 1;
}

static int push_text(lua_State *L, const ss_torch_trace *t, uint32_t most)
{
    ss_text *text = ss_lua_text_new(L);
    ss_error err;
    if (ss_torch_trace_text(t, most, text, &err))
        return ss_lua_raise(L, &err);
    return ss_lua_text_push(L, text);
}

/* trace:text(rows) -> text: so many rows at most, 0: all */
static int trace_text(lua_State *L)
{
    const ss_torch_trace *t = check(L, 1);
    lua_Integer rows = luaL_optinteger(L, 2, SHOWN);
    if (rows < 0 || rows > UINT32_MAX)
        return ss_lua_refuse(L, "trace:text: %d rows; it must be at least 0, which is all", (int)rows);
    return push_text(L, t, (uint32_t)rows);
}

static int trace_json(lua_State *L)
{
    const ss_torch_trace *t = check(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_error err;
    if (ss_torch_trace_json(t, text, &err))
        return ss_lua_raise(L, &err);
    return ss_lua_text_push(L, text);
}

/* -- what is in it ---------------------------------------------------------------------------- */

static void set_statistics(lua_State *L, const ss_statistics *s)
{
    ss_lua_set_integer(L, "calls", s->n);
    ss_lua_set_number(L, "median", s->median);
    ss_lua_set_number(L, "mean", s->mean);
    ss_lua_set_number(L, "deviation", s->deviation);
    ss_lua_set_number(L, "q05", s->q05);
    ss_lua_set_number(L, "q25", s->q25);
    ss_lua_set_number(L, "q75", s->q75);
    ss_lua_set_number(L, "q95", s->q95);
    ss_lua_set_number(L, "least", s->least);
    ss_lua_set_number(L, "most", s->most);
}

static int get_rows(lua_State *L, int box)
{
    const ss_torch_trace *t = check(L, box);
    lua_createtable(L, (int)t->rows, 0);
    for (uint32_t i = 0; i < t->rows; i++) {
        const ss_torch_row *r = &t->row[i];
        lua_createtable(L, 0, 17);
        ss_lua_set_text(L, "operator", r->name);
        ss_lua_set_text(L, "shapes", r->shapes);
        ss_lua_set_text(L, "types", r->types);
        ss_lua_set_text(L, "kind", r->kind);
        ss_lua_set_text(L, "phase", r->kind ? ss_phase_name(r->phase) : NULL);
        ss_lua_set_text(L, "why", r->kind ? NULL : r->why);
        ss_lua_set_number(L, "total", r->total_s);
        set_statistics(L, &r->s);
        ss_lua_strict_row(L, "row of a trace", "kind|phase|why");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "row of a trace");
    return 1;
}

static int get_parts(lua_State *L, int box)
{
    const ss_torch_trace *t = check(L, box);
    lua_createtable(L, (int)t->parts, 0);
    for (uint32_t i = 0; i < t->parts; i++) {
        const ss_torch_part *p = &t->part[i];
        lua_createtable(L, 0, 16);
        ss_lua_set_text(L, "kind", p->kind);
        ss_lua_set_text(L, "attributes", p->attributes);
        ss_lua_set_text(L, "shape", p->shape);
        ss_lua_set_text(L, "dtype", ss_dtype_name(p->dtype));
        ss_lua_set_text(L, "phase", ss_phase_name(p->phase));
        set_statistics(L, &p->s);
        ss_lua_strict_row(L, "part in a trace", NULL);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "part in a trace");
    return 1;
}

static int get_device(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->device);
    return 1;
}

static int get_times(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->of_device ? "device" : "host");
    return 1;
}

static int get_total(lua_State *L, int box)
{
    lua_pushnumber(L, check(L, box)->total_s);
    return 1;
}

static int get_mapped(lua_State *L, int box)
{
    lua_pushnumber(L, check(L, box)->mapped_s);
    return 1;
}

static int get_untied(lua_State *L, int box)
{
    lua_pushnumber(L, check(L, box)->untied_s);
    return 1;
}

static const ss_lua_field trace_fields[] = {
    {"rows", get_rows, "list: operators of PyTorch by shapes, with their times and what they are here"},
    {"parts", get_parts, "list: the operators of ours among them, with their times"},
    {"device", get_device, "the name of the device; empty unless the trace has it"},
    {"times", get_times, "device or host: whose time it is"},
    {"total", get_total, "seconds of all of it"},
    {"mapped", get_mapped, "seconds of operators of ours"},
    {"untied", get_untied, "seconds that no operator launched"},
    {NULL, NULL, NULL},
};

static int trace_tostring(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_trace_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "trace (closed)");
        return 1;
    }
    return push_text(L, box->object, SHOWN);
}

static int trace_length(lua_State *L)
{
    lua_pushinteger(L, check(L, 1)->rows);
    return 1;
}

static const ss_lua_method trace_methods[] = {
    {"json", trace_json, "() -> text: all of it, as JSON"},
    {"profile", trace_profile, "({ kind = }) -> profile: the operators of ours, for costs.table"},
    {"text", trace_text, "(rows) -> text: a page with so many rows, 30 unless given; 0: all"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_trace_type = {
    .name = "soapstone.trace",
    .noun = "trace",
    .free = free_trace,
    .fields = trace_fields,
    .methods = trace_methods,
    .text = trace_tostring,
    .length = trace_length,
};

static const ss_lua_method functions[] = {
    {"read", trace_read, "(path) -> trace: a Chrome trace of torch.profiler, gzip or not"},
    {NULL, NULL, NULL},
};

void ss_lua_open_trace(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_trace_type);
    ss_lua_push_module(L, "trace", functions);
}
