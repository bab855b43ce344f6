/* lua_strategy.c - strategies from a script: changed by hand, pinned, compared, kept. */
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "io/record.h"
#include "io/record_layout.h"
#include "io/strategy_file.h"
#include "lua/lua_strategy.h"

enum { PATH = 200 };

#define NAMED(options, says)                                                                       \
    {                                                                                              \
        .name = "name", .kind = SS_OPT_TEXT, .at = offsetof(options, name), .help = (says)         \
    }

static ss_lua_strategy *check(lua_State *L, int arg)
{
    return ss_lua_check(L, arg, &ss_lua_strategy_type);
}

static void free_strategy(void *object)
{
    ss_lua_strategy *s = object;
    if (!s)
        return;
    ss_strategy_free(s->strategy);
    ss_free(s->name);
    ss_free(s);
}

ss_status ss_lua_strategy_wrap(ss_strategy *strategy, const char *given, const char *otherwise,
                               ss_lua_strategy **out, ss_error *err)
{
    const char *name = given ? given : otherwise;
    ss_lua_strategy *s = ss_alloc_zeroed(1, sizeof *s);
    char *copy = ss_strdup(name);
    if (!s || !copy) {
        ss_free(s);
        ss_free(copy);
        ss_strategy_free(strategy);
        return ss_fail_memory(err, "a strategy", sizeof *s + strlen(name));
    }
    *s = (ss_lua_strategy){.strategy = strategy, .name = copy, .named = given != NULL};
    *out = s;
    return SS_OK;
}

ss_status ss_lua_strategy_rename(ss_lua_strategy *s, const char *name, ss_error *err)
{
    char *copy = ss_strdup(name);
    if (!copy)
        return ss_fail_memory(err, "the name of a strategy", strlen(name) + 1);
    ss_free(s->name);
    s->name = copy;
    s->named = true;
    s->changed = false;
    return SS_OK;
}

ss_lua_box *ss_lua_strategy_box(lua_State *L, int problem)
{
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    ss_lua_box_hold(L, lua_gettop(L), SS_LUA_HOLD_PROBLEM, problem);
    return box;
}

const char *ss_lua_strategy_push_name(lua_State *L, const ss_lua_strategy *s)
{
    return lua_pushfstring(L, "%s%s", s->name, s->changed && !s->named ? " (changed)" : "");
}

int ss_lua_strategy_push_copy(lua_State *L, int problem, const ss_strategy *from, const char *name)
{
    ss_lua_box *box = ss_lua_strategy_box(L, problem);

    ss_error err;
    ss_strategy *copy = NULL;
    ss_lua_strategy *s = NULL;
    if (ss_strategy_copy(from, &copy, &err) || ss_lua_strategy_wrap(copy, name, NULL, &s, &err))
        return ss_lua_raise(L, &err);

    box->object = s;
    return 1;
}

/* -- files ------------------------------------------------------------------------------------ */

typedef struct load_options {
    const char *name;
    bool by_name;
} load_options;

static const ss_opt load_list[] = {
    NAMED(load_options, "what reports call it, and of a record which is meant"),
    {.name = "by_name",
     .kind = SS_OPT_FLAG,
     .at = offsetof(load_options, by_name),
     .help = "onto another size of the model or another topology: operators are matched by name"},
    {0},
};

int ss_lua_strategy_load(lua_State *L, int problem, const char *path, int options)
{
    ss_lua_problem *p = ss_lua_check(L, problem, &ss_lua_problem_type);
    load_options o = {0};
    ss_lua_opts(L, options, load_list, "problem:load_strategy", &o);
    ss_lua_box *box = ss_lua_strategy_box(L, problem);

    ss_error err;
    ss_strategy *s = NULL;
    ss_lua_strategy *wrapped = NULL;
    ss_strategy_loading how = {.by_name = o.by_name};
    char found[SS_RECORD_NAME + 1];
    bool record = ss_h5_begins(path);
    if (record ? ss_record_read_strategy(path, o.name, p->model, p->topology, &how, found, &s, &err)
               : ss_strategy_load(path, p->model, p->topology, &how, &s, &err))
        return ss_lua_raise(L, &err);
    if (ss_lua_strategy_wrap(s, o.name, record ? found : path, &wrapped, &err))
        return ss_lua_raise(L, &err);

    box->object = wrapped;
    lua_createtable(L, 0, 3);
    ss_lua_set_integer(L, "matched", how.matched);
    ss_lua_set_integer(L, "missing", how.missing);
    ss_lua_set_integer(L, "unknown", how.unknown);
    return 2;
}

/* strategy:save(path) */
static int strategy_save(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    const char *path = ss_lua_text(L, 2, "strategy:save: the path");

    ss_error err;
    if (ss_strategy_check_place(path, &err) || ss_strategy_save(s->strategy, path, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

/* -- changing by hand ------------------------------------------------------------------------- */

/* strategy:set(operator, { degrees =, devices = }) -> the strategy */
static int strategy_set(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    const ss_model *m = s->strategy->model;
    ss_op op = ss_lua_op(L, 2, m, "strategy:set: the operator");
    char what[PATH];
    ss_lua_name(what, sizeof what, "strategy:set: operator %.80s", m->op[op.i].name);
    lua_settop(L, 3);
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
    ss_lua_box_push_held(L, 4, SS_LUA_HOLD_TOPOLOGY); /* 5 */
    const ss_config *now = &s->strategy->config[op.i];
    ss_lua_cut cut = {.device = now->device, .devices = now->parts};
    memcpy(cut.degree, now->degree, sizeof cut.degree);
    ss_lua_read_cut(L, 3, m->op[op.i].def, 5, what, &cut);

    ss_error err;
    if (ss_strategy_set(s->strategy, op, cut.degree, m->op[op.i].def->out[0].rank, cut.device,
                        cut.devices, &err))
        return ss_lua_raise(L, &err);

    s->changed = true;
    lua_settop(L, 1);
    return 1;
}

/* strategy:pin(operator, what) -> the strategy; what: "all", "degrees", "devices", a dimension */
static int strategy_pin(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    const ss_model *m = s->strategy->model;
    ss_op op = ss_lua_op(L, 2, m, "strategy:pin: the operator");
    const char *word =
        lua_isnoneornil(L, 3) ? "all" : ss_lua_text(L, 3, "strategy:pin: what is to be pinned");
    const ss_op_def *def = m->op[op.i].def;
    const char *names[3 + SS_MAX_DIMS] = {"all", "degrees", "devices"};
    static const ss_pin pins[] = {SS_PIN_ALL, SS_PIN_DEGREES, SS_PIN_DEVICES};
    uint32_t n = 3, found = 0;
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        names[n++] = def->dim[d].name;
    while (found < n && strcmp(names[found], word) != 0)
        found++;
    if (found == n)
        return ss_lua_unknown(L, "strategy:pin: there is nothing called", word, names, n);

    ss_error err;
    if (found < 3 ? ss_strategy_pin(s->strategy, op, pins[found], &err)
                  : ss_strategy_pin_degree(s->strategy, op, found - 3, &err))
        return ss_lua_raise(L, &err);

    lua_settop(L, 1);
    return 1;
}

/* strategy:unpin(operator) -> the strategy */
static int strategy_unpin(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    ss_strategy_unpin(s->strategy,
                      ss_lua_op(L, 2, s->strategy->model, "strategy:unpin: the operator"));
    lua_settop(L, 1);
    return 1;
}

/* -- asking it -------------------------------------------------------------------------------- */

/* strategy:get(operator) -> table */
static int strategy_get(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    ss_lua_push_config(L, s->strategy,
                       ss_lua_op(L, 2, s->strategy->model, "strategy:get: the operator"));
    return 1;
}

/* Pushes the list of { op =, here =, there = } and what a person reads of it. */
static int push_diff(lua_State *L, const ss_strategy *a, const ss_strategy *b)
{
    lua_newtable(L);
    for (uint32_t i = 1, n = 0; i <= a->ops; i++) {
        if (ss_config_same(&a->config[i], &b->config[i]))
            continue;
        lua_createtable(L, 0, 3);
        ss_lua_set_text(L, "op", a->model->op[i].name);
        ss_lua_push_config(L, a, (ss_op){i});
        lua_setfield(L, -2, "here");
        ss_lua_push_config(L, b, (ss_op){i});
        lua_setfield(L, -2, "there");
        lua_rawseti(L, -2, ++n);
    }
    int list = lua_gettop(L);
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_strategy_diff(a, b, text, NULL, &err))
        return ss_lua_raise(L, &err);

    lua_pushvalue(L, list);
    return 1 + ss_lua_text_push(L, text);
}

/* strategy:diff(other) -> list of { op =, here =, there = }, text */
static int strategy_diff(lua_State *L)
{
    const ss_strategy *a = check(L, 1)->strategy, *b = check(L, 2)->strategy;
    if (a->model != b->model)
        return ss_lua_refuse(L,
                             "strategy:diff: one is of model %s, the other of another object (%s): "
                             "make both of problems with the same model",
                             a->model->name, b->model->name);
    return push_diff(L, a, b);
}

static int strategy_same(lua_State *L)
{
    ss_lua_box *a = ss_lua_box_test(L, 1, &ss_lua_strategy_type);
    ss_lua_box *b = ss_lua_box_test(L, 2, &ss_lua_strategy_type);
    const ss_strategy *x = a ? ((ss_lua_strategy *)a->object)->strategy : NULL;
    const ss_strategy *y = b ? ((ss_lua_strategy *)b->object)->strategy : NULL;
    lua_pushboolean(L, x && y && x->model == y->model && x->topology == y->topology &&
                           ss_strategy_same(x, y));
    return 1;
}

typedef struct copy_options {
    const char *name;
} copy_options;

static const ss_opt copy_list[] = {
    NAMED(copy_options, "what reports call it; as the other unless given"), {0}};

/* strategy:copy({ name = }) -> strategy */
static int strategy_copy(lua_State *L)
{
    ss_lua_strategy *s = check(L, 1);
    copy_options o = {0};
    ss_lua_opts(L, 2, copy_list, "strategy:copy", &o);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_strategy_type);
    int at = lua_gettop(L);
    ss_lua_box_push_held(L, 1, SS_LUA_HOLD_PROBLEM);
    ss_lua_box_hold(L, at, SS_LUA_HOLD_PROBLEM, at + 1);
    lua_settop(L, at);

    ss_error err;
    ss_strategy *copy = NULL;
    ss_lua_strategy *wrapped = NULL;
    if (ss_strategy_copy(s->strategy, &copy, &err) ||
        ss_lua_strategy_wrap(copy, o.name, s->name, &wrapped, &err))
        return ss_lua_raise(L, &err);

    wrapped->named = o.name || s->named;
    wrapped->changed = s->changed && !o.name;
    box->object = wrapped;
    return 1;
}

static int get_name(lua_State *L, int index)
{
    const ss_lua_strategy *s = check(L, index);
    ss_lua_strategy_push_name(L, s);
    return 1;
}

static int get_problem(lua_State *L, int index)
{
    ss_lua_box_push_held(L, index, SS_LUA_HOLD_PROBLEM);
    return 1;
}

static int strategy_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_strategy_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "strategy (closed)");
        return 1;
    }
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_strategy_print(((ss_lua_strategy *)box->object)->strategy, text, &err))
        return ss_lua_raise(L, &err);

    return ss_lua_text_push(L, text);
}

static const ss_lua_field strategy_fields[] = {
    {"name", get_name, "its kind, or the name that was given"},
    {"problem", get_problem, "what it is a strategy for"},
    {NULL, NULL, NULL},
};

static const ss_lua_method strategy_methods[] = {
    {"set", strategy_set, "(operator, { degrees =, devices = }): cuts and places one operator"},
    {"get", strategy_get, "(operator) -> table: degrees, parts, devices, pinned"},
    {"pin", strategy_pin, "(operator, what): all, degrees, devices or a dimension stays as it is"},
    {"unpin", strategy_unpin, "(operator): takes its pins away"},
    {"apply", ss_lua_strategy_apply, "(kind, options): a ready-made one, around what is pinned"},
    {"copy", strategy_copy, "({ name = }) -> strategy: one that can be changed on its own"},
    {"diff", strategy_diff, "(other) -> list of { op, here, there }, text: where they differ"},
    {"save", strategy_save, "(path): for problem:load_strategy"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_strategy_type = {
    .name = "soapstone.strategy",
    .noun = "strategy",
    .free = free_strategy,
    .fields = strategy_fields,
    .methods = strategy_methods,
    .text = strategy_text,
    .same = strategy_same,
};
