/* lua_unit.c - soapstone.unit: quantities with their units, in and out. */
#include <string.h>

#include <lauxlib.h>

#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"

static const ss_unit units[] = {SS_UNIT_NONE,  SS_UNIT_SECONDS,
                                SS_UNIT_BYTES, SS_UNIT_BYTES_PER_SECOND,
                                SS_UNIT_FLOP,  SS_UNIT_FLOP_PER_SECOND};
enum { UNITS = sizeof units / sizeof *units };

/* "s", "B", "B/s", "FLOP", "FLOP/s", or "1" for plain numbers (also if absent) */
static ss_unit read_unit(lua_State *L, int arg)
{
    const char *names[UNITS];
    if (lua_isnoneornil(L, arg))
        return SS_UNIT_NONE;
    const char *word = ss_lua_text(L, arg, "the unit");
    for (int i = 0; i < UNITS; i++) {
        names[i] = ss_unit_symbol(units[i]);
        if (!strcmp(word, names[i]))
            return units[i];
    }
    ss_lua_unknown(L, "unknown unit", word, names, UNITS);
    return SS_UNIT_NONE;
}

/* unit.read("25 GB/s", "B/s") -> 25e9; a number is given back */
static int unit_read(lua_State *L)
{
    ss_unit unit = read_unit(L, 2);
    lua_pushnumber(L, ss_lua_quantity(L, 1, unit, "the quantity"));
    return 1;
}

/* unit.show(25e9, "B/s") -> "25 GB/s" */
static int unit_show(lua_State *L)
{
    char text[SS_QUANTITY_TEXT];
    ss_unit unit = read_unit(L, 2);
    double value = ss_lua_quantity(L, 1, unit, "the quantity");
    lua_pushstring(L, ss_format_quantity(value, unit, text, sizeof text));
    return 1;
}

/* unit.exact(0.1) -> "0.1" */
static int unit_exact(lua_State *L)
{
    char digits[SS_DOUBLE_TEXT];
    double value = ss_lua_quantity(L, 1, SS_UNIT_NONE, "the number");
    lua_pushstring(L, ss_format_double(value, digits, sizeof digits));
    return 1;
}

static const ss_lua_method functions[] = {
    {"read", unit_read, "(value, unit) -> number: \"25 GB/s\" as bytes per second"},
    {"show", unit_show, "(number, unit) -> text: readable, with its unit"},
    {"exact", unit_exact, "(number) -> text: as few digits as read back as the same number"},
    {NULL, NULL, NULL},
};

void ss_lua_open_unit(lua_State *L)
{
    ss_lua_push_module(L, "unit", functions);
}
