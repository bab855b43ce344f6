/* lua_chance.c - soapstone.chance: which times are drawn, from which distributions. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>

#include "graph/chance.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200 };

static void free_chance(void *object)
{
    ss_chance_free(object);
}

/* -- one distribution ------------------------------------------------------------------------- */

typedef struct draw_options {
    double cv, mean;
    bool scaled;
} draw_options;

static const ss_opt draw_list[] = {
    {.name = "cv",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(draw_options, cv),
     .preset = SS_OPT_KEEP,
     .help = "standard deviation over mean, of lognormal and gamma"},
    {.name = "mean",
     .kind = SS_OPT_VALUE,
     .help = "of a factor 1 unless given; seconds, or a text with a unit"},
    {.name = "values", .kind = SS_OPT_VALUE, .help = "of samples: a list, each as likely"},
    {.name = "scaled",
     .kind = SS_OPT_FLAG,
     .at = offsetof(draw_options, scaled),
     .preset = 1,
     .help = "samples of a factor are scaled to the mean; false: they are factors as they are"},
    {.name = "tail",
     .kind = SS_OPT_VALUE,
     .help = "{ share =, factor = }: so many of the draws are so many times as large"},
    {0},
};

static const ss_opt tail_list[] = {
    {.name = "share",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_draw, tail_share),
     .preset = SS_OPT_REQUIRED,
     .max = 1,
     .help = "of the draws"},
    {.name = "factor",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(ss_draw, tail_factor),
     .preset = SS_OPT_REQUIRED,
     .max = 1e6,
     .help = "how many times as large"},
    {0},
};

static double number_or_seconds(lua_State *L, int index, bool seconds, const char *path)
{
    return ss_lua_quantity(L, index, seconds ? SS_UNIT_SECONDS : SS_UNIT_NONE, path);
}

/* Samples, in Lua's memory, on the stack; the draw's own copy is made of them at once. */
static void read_values(lua_State *L, int table, bool seconds, const char *path, ss_draw *d)
{
    char name[PATH];
    int type = ss_lua_push_option(L, table, "values");
    if (type == LUA_TNIL)
        ss_lua_refuse(L, "%s: option 'values' is missing (a list of %s)", path,
                      seconds ? "times" : "factors");
    if (type != LUA_TTABLE)
        ss_lua_refuse(L, "%s: option 'values' should be a list of %s, not %s", path,
                      seconds ? "times" : "factors", ss_lua_kind_of(L, -1));
    int list = lua_gettop(L);
    lua_Unsigned n = lua_rawlen(L, list);
    if (n > 1 << 20)
        ss_lua_refuse(L, "%s: option 'values' has %d numbers; at most %d are possible", path,
                      (int)n, 1 << 20);
    double *value = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *value, 0);
    for (lua_Unsigned i = 0; i < n; i++) {
        ss_lua_name(name, sizeof name, "%s: option 'values[%d]'", path, (int)i + 1);
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        value[i] = number_or_seconds(L, -1, seconds, name);
        lua_pop(L, 1);
    }
    d->sample = value;
    d->samples = (uint32_t)n;
}

static void read_tail(lua_State *L, int table, const char *path, ss_draw *d)
{
    char name[PATH];
    ss_lua_name(name, sizeof name, "%s: option 'tail'", path);
    int type = ss_lua_push_option(L, table, "tail");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        ss_lua_refuse(L, "%s should be a table such as { share = 0.01, factor = 5 }, not %s", name,
                      ss_lua_kind_of(L, -1));
    if (type == LUA_TTABLE)
        ss_lua_opts(L, -1, tail_list, name, d);
    lua_pop(L, 1);
}

/* Pushes the table at `index` without its first element, which names the distribution. */
static int push_options(lua_State *L, int index)
{
    lua_newtable(L);
    int copy = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        bool first = lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1;
        if (first) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, copy);
    }
    return copy;
}

static void refuse_useless(lua_State *L, int table, const ss_draw *d, const char *path)
{
    bool random = d->kind == SS_DRAW_LOGNORMAL || d->kind == SS_DRAW_GAMMA;
    const char *const useless[] = {random ? NULL : "cv",
                                   d->kind == SS_DRAW_SAMPLES ? NULL : "values",
                                   d->kind == SS_DRAW_SAMPLES ? NULL : "scaled"};
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++)
        if (useless[i] && ss_lua_is_given(L, table, useless[i]))
            ss_lua_refuse(L, "%s: option '%s' does nothing for %s", path, useless[i],
                          ss_draw_kind_name(d->kind));
    if (random && !ss_lua_is_given(L, table, "cv"))
        ss_lua_refuse(L, "%s: option 'cv' is missing (standard deviation over mean)", path);
}

static void read_table(lua_State *L, int index, bool seconds, const char *path, ss_draw *d)
{
    char name[PATH];
    draw_options o = {.scaled = true};
    ss_lua_name(name, sizeof name, "%s: the distribution", path);
    lua_rawgeti(L, index, 1);
    d->kind = (ss_draw_kind)(SS_DRAW_CONSTANT +
                             ss_lua_choice(L, -1, "constant|lognormal|gamma|samples", name));
    int table = push_options(L, index);
    ss_lua_opts(L, table, draw_list, path, &o);
    refuse_useless(L, table, d, path);
    d->cv = o.cv;
    ss_lua_name(name, sizeof name, "%s: option 'mean'", path);
    if (ss_lua_push_option(L, table, "mean") != LUA_TNIL)
        d->mean = number_or_seconds(L, -1, seconds, name);
    else if (d->kind == SS_DRAW_SAMPLES)
        d->mean = seconds || !o.scaled ? NAN : 1;
    else if (seconds)
        ss_lua_refuse(L, "%s is missing (seconds, such as \"5 us\")", name);
    else
        d->mean = 1;
    read_tail(L, table, path, d);
    if (d->kind == SS_DRAW_SAMPLES)
        read_values(L, table, seconds, path, d);
}

/* A number, a text with a unit, or { "lognormal", cv = 0.1 }; leaves values on the stack, which keep it. */
static ss_draw read_draw(lua_State *L, int index, bool seconds, const char *path)
{
    ss_draw d = {.kind = SS_DRAW_CONSTANT};
    index = lua_absindex(L, index);
    luaL_checkstack(L, 20, path);
    if (lua_istable(L, index))
        read_table(L, index, seconds, path, &d);
    else if (lua_type(L, index) == LUA_TNUMBER || lua_type(L, index) == LUA_TSTRING)
        d.mean = number_or_seconds(L, index, seconds, path);
    else
        ss_lua_refuse(L,
                      "%s should be %s or a distribution such as { \"lognormal\", cv = 0.1%s }, "
                      "not %s",
                      path, seconds ? "seconds" : "a number", seconds ? ", mean = \"5 us\"" : "",
                      ss_lua_kind_of(L, index));
    return d;
}

/* -- all of them ------------------------------------------------------------------------------ */

typedef struct chance_options {
    int64_t seed;
    uint32_t repetition;
} chance_options;

static const ss_opt chance_list[] = {
    {.name = "seed",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(chance_options, seed),
     .preset = SS_OPT_KEEP,
     .max = 0x1p53,
     .help = "of every draw; the run's unless given"},
    {.name = "repetition",
     .kind = SS_OPT_COUNT,
     .at = offsetof(chance_options, repetition),
     .preset = 1,
     .min = 1,
     .max = 4e9,
     .help = "which is drawn where nothing else is said"},
    {.name = "compute", .kind = SS_OPT_VALUE, .help = "factor of each task that computes"},
    {.name = "kinds",
     .kind = SS_OPT_VALUE,
     .help = "{ lstm = factor, ... }: instead, of operators of a kind"},
    {.name = "on",
     .kind = SS_OPT_VALUE,
     .help = "{ [device] = factor, ... }: instead, of the tasks of a device"},
    {.name = "devices", .kind = SS_OPT_VALUE, .help = "factor of each device, drawn once a step"},
    {.name = "slow",
     .kind = SS_OPT_VALUE,
     .help = "{ [device] = number, ... }: factor of a device"},
    {.name = "transfer", .kind = SS_OPT_VALUE, .help = "factor of each message's bytes on links"},
    {.name = "launch",
     .kind = SS_OPT_VALUE,
     .help = "seconds of each task that computes and takes time"},
    {.name = "message", .kind = SS_OPT_VALUE, .help = "seconds of each message"},
    {.name = "step", .kind = SS_OPT_VALUE, .help = "seconds of the step"},
    {0},
};

void ss_lua_chance_help(ss_text *out)
{
    ss_opts_help(chance_list, NULL, out);
}

static int raise_in(lua_State *L, ss_error *err)
{
    ss_fail_in(err, "soapstone.chance");
    return ss_lua_raise(L, err);
}

static void read_one(lua_State *L, ss_chance *c, ss_luck_of x)
{
    char path[PATH];
    ss_error err;
    int top = lua_gettop(L);
    ss_lua_name(path, sizeof path, "soapstone.chance: option '%s'", ss_luck_name(x));
    if (ss_lua_push_option(L, 1, ss_luck_name(x)) != LUA_TNIL) {
        ss_draw d = read_draw(L, -1, x >= SS_LUCK_LAUNCH, path);
        if (ss_chance_set(c, x, &d, &err))
            raise_in(L, &err);
    }
    lua_settop(L, top);
}

/* Calls `take` with each entry of a table: its key is at -2, its value at -1. */
static void each_entry(lua_State *L, ss_chance *c, const char *option,
                       void (*take)(lua_State *, ss_chance *, const char *path))
{
    char path[PATH];
    int top = lua_gettop(L);
    int type = ss_lua_push_option(L, 1, option);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        ss_lua_refuse(L, "soapstone.chance: option '%s' should be a table, not %s", option,
                      ss_lua_kind_of(L, -1));
    if (type == LUA_TTABLE) {
        ss_lua_push_sorted_keys(L, top + 1);
        lua_Integer n = (lua_Integer)lua_rawlen(L, top + 2);
        for (lua_Integer i = 1; i <= n; i++) {
            lua_rawgeti(L, top + 2, i);
            lua_pushvalue(L, -1);
            lua_rawget(L, top + 1);
            if (lua_type(L, -2) == LUA_TSTRING)
                ss_lua_name(path, sizeof path, "soapstone.chance: option '%s.%.60s'", option,
                            lua_tostring(L, -2));
            else
                ss_lua_name(path, sizeof path, "soapstone.chance: option '%s[%s]'", option,
                            lua_type(L, -2) == LUA_TNUMBER ? luaL_tolstring(L, -2, NULL)
                                                           : ss_lua_kind_of(L, -2));
            lua_settop(L, top + 4);
            take(L, c, path);
            lua_settop(L, top + 2);
        }
    }
    lua_settop(L, top);
}

static void take_kind(lua_State *L, ss_chance *c, const char *path)
{
    ss_error err;
    const char *kind = ss_lua_text(L, -2, path);
    ss_draw d = read_draw(L, -1, false, path);
    if (ss_chance_set_kind(c, kind, &d, &err))
        raise_in(L, &err);
}

/* The key: a name, or a number from 1. */
static ss_device read_key(lua_State *L, const char *path, const char **name)
{
    *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (*name)
        return (ss_device){0};
    if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > UINT32_MAX)
        ss_lua_refuse(L, "%s: devices are named by a text or a number from 1", path);
    return (ss_device){(uint32_t)lua_tointeger(L, -2)};
}

static void take_device(lua_State *L, ss_chance *c, const char *path)
{
    ss_error err;
    const char *name;
    ss_device device = read_key(L, path, &name);
    ss_draw d = read_draw(L, -1, false, path);
    if (ss_chance_set_device(c, name, device, &d, &err))
        raise_in(L, &err);
}

static void take_slow(lua_State *L, ss_chance *c, const char *path)
{
    ss_error err;
    const char *name;
    ss_device device = read_key(L, path, &name);
    if (ss_chance_set_slow(c, name, device, ss_lua_quantity(L, -1, SS_UNIT_NONE, path), &err))
        raise_in(L, &err);
}

/* soapstone.chance { seed =, compute =, ... } -> chance */
int ss_lua_chance_new(lua_State *L)
{
    chance_options o = {.seed = (int64_t)ss_lua_seed(L)};
    ss_lua_opts(L, 1, chance_list, "soapstone.chance", &o);
    if (lua_isnoneornil(L, 1))
        return ss_lua_refuse(L, "soapstone.chance takes a table of options");
    lua_settop(L, 1);
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_chance_type);
    ss_error err;
    ss_chance *c = NULL;
    if (ss_chance_new((uint64_t)o.seed, &c, &err))
        return ss_lua_raise(L, &err);
    box->object = c;
    c->repetition = o.repetition;
    for (int x = 0; x < SS_LUCKS; x++)
        read_one(L, c, (ss_luck_of)x);
    each_entry(L, c, "kinds", take_kind);
    each_entry(L, c, "on", take_device);
    each_entry(L, c, "slow", take_slow);
    if (!ss_chance_breaks_times(c) && !ss_chance_breaks_overheads(c))
        return ss_lua_refuse(L, "soapstone.chance: nothing is drawn: give compute, kinds, on, "
                                "devices, slow, transfer, launch, message or step");
    return 1;
}

/* -- asking ----------------------------------------------------------------------------------- */

static int get_seed(lua_State *L, int index)
{
    lua_pushinteger(L,
                    (lua_Integer)((ss_chance *)ss_lua_check(L, index, &ss_lua_chance_type))->seed);
    return 1;
}

static int get_repetition(lua_State *L, int index)
{
    lua_pushinteger(L, ((ss_chance *)ss_lua_check(L, index, &ss_lua_chance_type))->repetition);
    return 1;
}

void ss_lua_chance_say(const ss_chance *c, ss_text *out)
{
    bool times = ss_chance_breaks_times(c), overheads = ss_chance_breaks_overheads(c);
    ss_chance_say_times(c, out);
    ss_text_add(out, times && overheads ? "; " : "");
    ss_chance_say_overheads(c, out);
    if (ss_chance_is_random(c))
        ss_text_add(out, "; seed %llu, repetition %u", (unsigned long long)c->seed, c->repetition);
}

static int chance_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_chance_type.name);
    if (box->closed) {
        lua_pushliteral(L, "chance (closed)");
        return 1;
    }
    ss_text *text = ss_lua_text_new(L);
    ss_text_add(text, "chance: ");
    ss_lua_chance_say(box->object, text);
    return ss_lua_text_push(L, text);
}

static const ss_lua_field chance_fields[] = {
    {"seed", get_seed, "of every draw"},
    {"repetition", get_repetition, "which is drawn where nothing else is said"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_chance_type = {
    .name = "soapstone.chance",
    .noun = "chance",
    .many = true,
    .free = free_chance,
    .fields = chance_fields,
    .text = chance_text,
};
