/* lua_config.c - how an operator is cut and placed, as a script says it and reads it. */
#include <string.h>

#include <lauxlib.h>

#include "lua/lua_strategy.h"

enum { PATH = 200 };

/* { n = 4, c = 2 }, or { 4, 1, 2 } in the order of the dimensions; absent ones are not cut. */
static void read_degrees(lua_State *L, int index, const ss_op_def *def, const char *what,
                         uint32_t *degree)
{
    char path[PATH];
    const char *names[SS_MAX_DIMS];
    uint32_t rank = def->out[0].rank;
    for (uint32_t d = 0; d < rank; d++) {
        names[d] = def->dim[d].name;
        degree[d] = 1;
    }
    if (!lua_istable(L, index))
        ss_lua_refuse(L, "%s: option 'degrees' should be a table such as { %s = 4 }, not %s", what,
                      names[0], ss_lua_kind_of(L, index));
    lua_Unsigned listed = lua_rawlen(L, index);
    if (listed > rank)
        ss_lua_refuse(L, "%s: option 'degrees' has %d numbers, and the output has %d dimension%s",
                      what, (int)listed, (int)rank, ss_plural(rank));
    if (!listed) {
        ss_lua_name(path, sizeof path, "%s: option 'degrees'", what);
        ss_lua_opts_names(L, index, NULL, names, rank, path);
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (listed) {
            lua_rawgeti(L, index, (lua_Integer)d + 1);
        } else {
            lua_pushstring(L, names[d]);
            lua_rawget(L, index);
        }
        ss_lua_name(path, sizeof path, "%s: option 'degrees.%s'", what, names[d]);
        if (!lua_isnil(L, -1))
            degree[d] = (uint32_t)ss_lua_integer(L, -1, 1, SS_MAX_PARTS, path);
        lua_pop(L, 1);
    }
}

/* A device or a list of them, in Lua's memory; leaves one value on the stack. */
static const ss_device *read_devices(lua_State *L, int index, int topology, const char *what,
                                     uint32_t *n)
{
    char path[PATH];
    if (!lua_istable(L, index)) {
        ss_lua_name(path, sizeof path, "%s: option 'devices'", what);
        ss_device *one = lua_newuserdatauv(L, sizeof *one, 0);
        *one = ss_lua_device(L, index, topology, path);
        *n = 1;
        return one;
    }
    lua_Unsigned listed = lua_rawlen(L, index);
    if (listed < 1 || listed > SS_MAX_PARTS)
        ss_lua_refuse(L, "%s: option 'devices' lists %d device%s; 1 to %d are possible", what,
                      (int)listed, ss_plural(listed), SS_MAX_PARTS);
    ss_device *device = lua_newuserdatauv(L, (size_t)listed * sizeof *device, 0);
    for (lua_Unsigned i = 0; i < listed; i++) {
        ss_lua_name(path, sizeof path, "%s: option 'devices[%d]'", what, (int)i + 1);
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        device[i] = ss_lua_device(L, -1, topology, path);
        lua_pop(L, 1);
    }
    *n = (uint32_t)listed;
    return device;
}

static const ss_opt cut_list[] = {
    {.name = "degrees",
     .kind = SS_OPT_VALUE,
     .help = "{ n = 4, c = 2 }; what is there unless given"},
    {.name = "devices",
     .kind = SS_OPT_VALUE,
     .help = "a device for each part, or one for all; what is there unless given"},
    {0},
};

void ss_lua_read_cut(lua_State *L, int index, const ss_op_def *def, int topology, const char *what,
                     ss_lua_cut *cut)
{
    int unused, top = lua_gettop(L);
    ss_lua_opts(L, index, cut_list, what, &unused);
    if (ss_lua_push_option(L, index, "degrees") != LUA_TNIL)
        read_degrees(L, top + 1, def, what, cut->degree);
    if (ss_lua_push_option(L, index, "devices") != LUA_TNIL)
        cut->device = read_devices(L, top + 2, topology, what, &cut->devices);
}

const ss_config *ss_lua_config(lua_State *L, int index, const ss_op_def *def, int topology,
                               const char *what)
{
    int top = lua_gettop(L);
    ss_lua_cut cut = {.device = NULL};
    ss_config *c = lua_newuserdatauv(L, sizeof *c, 1);
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        cut.degree[d] = 1;
    ss_lua_read_cut(L, index, def, topology, what, &cut);
    uint64_t product = 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        product = product > SS_MAX_PARTS ? product : product * cut.degree[d];
    if (product > SS_MAX_PARTS)
        ss_lua_refuse(L, "%s: the degrees make more than %d parts", what, SS_MAX_PARTS);
    uint32_t parts = (uint32_t)product;
    if (!cut.device)
        ss_lua_refuse(L, "%s: option 'devices' is missing (a device for each part, or one for all)",
                      what);
    if (cut.devices != parts && cut.devices != 1)
        ss_lua_refuse(L, "%s: option 'devices' lists %u, and the degrees make %u part%s", what,
                      (unsigned)cut.devices, (unsigned)parts, ss_plural(parts));
    *c = (ss_config){.parts = parts};
    memcpy(c->degree, cut.degree, sizeof c->degree);
    c->device = lua_newuserdatauv(L, parts * sizeof *c->device, 0);
    for (uint32_t k = 0; k < parts; k++)
        c->device[k] = cut.device[cut.devices == 1 ? 0 : k];
    lua_setiuservalue(L, top + 1, 1);
    lua_settop(L, top + 1);
    return c;
}

void ss_lua_push_config(lua_State *L, const ss_strategy *s, ss_op op)
{
    const ss_config *c = &s->config[op.i];
    const ss_op_def *def = s->model->op[op.i].def;
    uint32_t rank = def->out[0].rank;
    lua_Integer pins = 0;
    lua_createtable(L, 0, 4);
    lua_createtable(L, 0, (int)rank);
    for (uint32_t d = 0; d < rank; d++)
        ss_lua_set_integer(L, def->dim[d].name, c->degree[d]);
    lua_setfield(L, -2, "degrees");
    ss_lua_set_integer(L, "parts", c->parts);
    lua_createtable(L, (int)c->parts, 0);
    for (uint32_t k = 0; k < c->parts; k++) {
        lua_pushinteger(L, c->device[k].i);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "devices");
    lua_newtable(L);
    for (uint32_t d = 0; d < rank; d++) {
        if (!ss_strategy_pinned_degree(s, op, d))
            continue;
        lua_pushstring(L, def->dim[d].name);
        lua_rawseti(L, -2, ++pins);
    }
    if (s->pin[op.i] & SS_PIN_DEVICES) {
        lua_pushliteral(L, "devices");
        lua_rawseti(L, -2, ++pins);
    }
    lua_setfield(L, -2, "pinned");
}
