#include "lua/opts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "lua/box.h"
#include "lua/state.h"

enum { PATH = 200, CHOICES = 32, NAMES = 128, LIST = 768, MOST_LISTED = 32 };

static const char *const examples[] = {
    [SS_UNIT_NONE] = "0.5",         [SS_UNIT_SECONDS] = "\"700 ns\"",
    [SS_UNIT_BYTES] = "\"16 GiB\"", [SS_UNIT_BYTES_PER_SECOND] = "\"25 GB/s\"",
    [SS_UNIT_FLOP] = "\"2 GFLOP\"", [SS_UNIT_FLOP_PER_SECOND] = "\"9.3 TFLOP/s\"",
};

void ss_lua_name(char *buffer, size_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, n, format, args);
    va_end(args);
}

/* -- single values ---------------------------------------------------------------------------- */

static int wrong_kind(lua_State *L, int index, const char *path, const char *wanted)
{
    return ss_lua_refuse(L, "%s should be %s, not %s", path, wanted, ss_lua_kind_of(L, index));
}

double ss_lua_quantity(lua_State *L, int index, ss_unit unit, const char *path)
{
    if (lua_type(L, index) == LUA_TNUMBER) {
        double value = lua_tonumber(L, index);
        if (isnan(value))
            ss_lua_refuse(L, "%s is not a number (nan)", path);
        return value;
    }
    if (lua_type(L, index) == LUA_TSTRING) {
        ss_error err;
        double value;
        if (ss_parse_quantity(lua_tostring(L, index), unit, &value, &err)) {
            ss_fail_in(&err, "%s", path);
            ss_lua_raise(L, &err);
        }
        return value;
    }
    char wanted[PATH];
    if (unit == SS_UNIT_NONE)
        snprintf(wanted, sizeof wanted, "a number");
    else
        snprintf(wanted, sizeof wanted, "a number of %s or a text such as %s", ss_unit_name(unit),
                 examples[unit]);
    wrong_kind(L, index, path, wanted);
    return 0;
}

lua_Integer ss_lua_integer(lua_State *L, int index, lua_Integer min, lua_Integer max,
                           const char *path)
{
    if (lua_type(L, index) != LUA_TNUMBER)
        wrong_kind(L, index, path, "a whole number");
    int whole;
    lua_Integer value = lua_tointegerx(L, index, &whole);
    if (!whole) {
        double given = lua_tonumber(L, index);
        if (isnan(given))
            ss_lua_refuse(L, "%s is not a number (nan)", path);
        if (given != floor(given))
            ss_lua_refuse(L, "%s is %g, which is not a whole number", path, given);
        ss_lua_refuse(L, "%s is %g; it must be at %s %lld", path, given,
                      given < 0 ? "least" : "most", (long long)(given < 0 ? min : max));
    }
    if (value < min)
        ss_lua_refuse(L, "%s is %lld; it must be at least %lld", path, (long long)value,
                      (long long)min);
    if (value > max)
        ss_lua_refuse(L, "%s is %lld; it must be at most %lld", path, (long long)value,
                      (long long)max);
    return value;
}

const char *ss_lua_text(lua_State *L, int index, const char *path)
{
    if (lua_type(L, index) != LUA_TSTRING)
        wrong_kind(L, index, path, "a text");
    size_t n;
    const char *text = lua_tolstring(L, index, &n);
    if (strlen(text) != n)
        ss_lua_refuse(L, "%s has a zero byte in it", path);
    return text;
}

uint32_t ss_lua_list(lua_State *L, int index, const char *path)
{
    index = lua_absindex(L, index);
    lua_Unsigned n = lua_rawlen(L, index);
    luaL_checkstack(L, 4, path);
    if (n > INT32_MAX)
        ss_lua_refuse(L, "%s has too many elements", path);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING)
            ss_lua_refuse(L, "%s is a list, and has '%s' in it", path, lua_tostring(L, -2));
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 ||
            (lua_Unsigned)lua_tointeger(L, -2) > n) {
            lua_pushvalue(L, -2); /* lua_next goes by the key, which must not become a text */
            ss_lua_refuse(L, "%s is a list, and has an element %s with none before it", path,
                          lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1)
                                                         : ss_lua_kind_of(L, -1));
        }
    }
    for (lua_Unsigned i = 1; i <= n; i++) {
        if (lua_rawgeti(L, index, (lua_Integer)i) == LUA_TNIL)
            ss_lua_refuse(L, "%s is a list, and has no element %d of %d", path, (int)i, (int)n);
        lua_pop(L, 1);
    }
    return (uint32_t)n;
}

/* "full, half and one_way"; cut where the buffer ends. */
static const char *join(char *list, size_t size, const char *const *names, uint32_t n,
                        const char *last)
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < n && used < size; i++) {
        const char *comma = i == 0 ? "" : i + 1 < n ? ", " : last;
        used += (size_t)snprintf(list + used, size - used, "%s%s", comma, names[i]);
    }
    return list;
}

int ss_lua_unknown(lua_State *L, const char *what, const char *word, const char *const *names,
                   uint32_t n)
{
    char list[LIST];
    const char *near = ss_nearest(word, names, n);
    if (near)
        return ss_lua_refuse(L, "%s '%s'; did you mean '%s'?", what, word, near);
    if (n == 0 || n > MOST_LISTED)
        return ss_lua_refuse(L, "%s '%s'", what, word);
    return ss_lua_refuse(L, "%s '%s'; there are %s", what, word,
                         join(list, sizeof list, names, n, " and "));
}

/* Cuts "a|b|c" into `names`, using `buffer` for the text. */
static uint32_t cut_choices(const char *choices, char *buffer, size_t size, const char **names)
{
    uint32_t n = 0;
    snprintf(buffer, size, "%s", choices);
    for (char *at = buffer; at && n < CHOICES;) {
        names[n++] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = '\0';
    }
    return n;
}

int ss_lua_choice(lua_State *L, int index, const char *choices, const char *path)
{
    char buffer[512], what[PATH], list[LIST];
    const char *names[CHOICES];
    uint32_t n = cut_choices(choices, buffer, sizeof buffer, names);
    if (lua_type(L, index) != LUA_TSTRING)
        wrong_kind(L, index, path, join(list, sizeof list, names, n, " or "));
    const char *word = ss_lua_text(L, index, path);
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(word, names[i]))
            return (int)i;
    ss_lua_name(what, sizeof what, "%s cannot be", path);
    return ss_lua_unknown(L, what, word, names, n);
}

/* -- tables of them --------------------------------------------------------------------------- */

static uint32_t known_names(const ss_opt *list, const char *const *more, uint32_t mores,
                            const char **names)
{
    uint32_t n = 0;
    for (; list && list->name && n < NAMES; list++)
        names[n++] = list->name;
    for (uint32_t i = 0; i < mores && n < NAMES; i++)
        names[n++] = more[i];
    return n;
}

static bool is_known(const char *word, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(word, names[i]))
            return true;
    return false;
}

void ss_lua_opts_names(lua_State *L, int index, const ss_opt *list, const char *const *more,
                       uint32_t mores, const char *what)
{
    const char *names[NAMES], *unknown = NULL;
    if (lua_isnoneornil(L, index))
        return;
    if (!lua_istable(L, index))
        ss_lua_refuse(L, "%s takes a table of options, not %s", what, ss_lua_kind_of(L, index));
    index = lua_absindex(L, index);
    uint32_t n = known_names(list, more, mores, names);
    luaL_checkstack(L, 4, what);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            ss_lua_refuse(L, "%s: options have names, and there is %s without one", what,
                          ss_lua_kind_of(L, -1));
        }
        const char *word = lua_tostring(L, -2);
        /* of several unknown names the first by the alphabet: the order of lua_next is chance */
        if (!is_known(word, names, n) && (!unknown || strcmp(word, unknown) < 0))
            unknown = word;
    }
    if (unknown) {
        char text[PATH];
        ss_lua_name(text, sizeof text, "%s: unknown option", what);
        ss_lua_unknown(L, text, unknown, names, n);
    }
}

/* A plain number is told as such: nobody reads 1.000 E as 1e18, and 0.999999 is not 1. */
static const char *show(double value, ss_unit unit, char *buffer, size_t n)
{
    if (unit != SS_UNIT_NONE)
        return ss_format_quantity(value, unit, buffer, n);
    snprintf(buffer, n, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.10g", value);
    return buffer;
}

static void check_bounds(lua_State *L, const ss_opt *o, double value, const char *path)
{
    char has[SS_QUANTITY_TEXT], bound[SS_QUANTITY_TEXT];
    if (o->min < o->max && !(value >= o->min))
        ss_lua_refuse(L, "%s is %s; it must be at least %s", path,
                      show(value, o->unit, has, sizeof has),
                      show(o->min, o->unit, bound, sizeof bound));
    if (o->min < o->max && !(value <= o->max))
        ss_lua_refuse(L, "%s is %s; it must be at most %s", path,
                      show(value, o->unit, has, sizeof has),
                      show(o->max, o->unit, bound, sizeof bound));
}

/* A whole number, or text that comes to one: "4 MiB", "64k". */
static int64_t read_integer(lua_State *L, int index, const ss_opt *o, const char *path)
{
    bool count = o->kind == SS_OPT_COUNT, bounded = o->min < o->max;
    lua_Integer max = bounded && o->max < 9e18 ? (lua_Integer)o->max
                      : count                  ? UINT32_MAX
                                               : INT64_MAX;
    lua_Integer min = bounded ? (lua_Integer)o->min : count ? 0 : INT64_MIN;
    if (lua_type(L, index) != LUA_TSTRING)
        return ss_lua_integer(L, index, min, max, path);
    double value = ss_lua_quantity(L, index, o->unit, path);
    check_bounds(L, o, value, path);
    if (value != floor(value) || fabs(value) > 9e15)
        ss_lua_refuse(L, "%s is %s, which is not a whole number", path, lua_tostring(L, index));
    return (int64_t)value;
}

/* The value on top of the stack; nil: the preset. */
static void store(lua_State *L, const ss_opt *o, const char *path, void *at)
{
    bool absent = lua_isnil(L, -1);
    switch (o->kind) {
    case SS_OPT_QUANTITY: {
        double value = absent ? o->preset : ss_lua_quantity(L, -1, o->unit, path);
        if (!absent)
            check_bounds(L, o, value, path);
        memcpy(at, &value, sizeof value);
        return;
    }
    case SS_OPT_COUNT: {
        uint32_t value = absent ? (uint32_t)o->preset : (uint32_t)read_integer(L, -1, o, path);
        memcpy(at, &value, sizeof value);
        return;
    }
    case SS_OPT_INTEGER: {
        int64_t value = absent ? (int64_t)o->preset : read_integer(L, -1, o, path);
        memcpy(at, &value, sizeof value);
        return;
    }
    case SS_OPT_FLAG: {
        if (!absent && !lua_isboolean(L, -1))
            wrong_kind(L, -1, path, "true or false");
        bool value = absent ? o->preset > 0 : lua_toboolean(L, -1);
        memcpy(at, &value, sizeof value);
        return;
    }
    case SS_OPT_TEXT: {
        const char *value = absent ? NULL : ss_lua_text(L, -1, path);
        memcpy(at, &value, sizeof value);
        return;
    }
    case SS_OPT_CHOICE: {
        int value = absent ? (int)o->preset : ss_lua_choice(L, -1, o->choices, path);
        memcpy(at, &value, sizeof value);
        return;
    }
    case SS_OPT_VALUE:
        return;
    }
}

static int missing(lua_State *L, const ss_opt *o, const char *what)
{
    if (o->kind == SS_OPT_QUANTITY && o->unit != SS_UNIT_NONE)
        return ss_lua_refuse(L, "%s: option '%s' is missing (%s, such as %s)", what, o->name,
                             ss_unit_name(o->unit), examples[o->unit]);
    return ss_lua_refuse(L, "%s: option '%s' is missing (%s)", what, o->name, o->help);
}

int ss_lua_push_option(lua_State *L, int index, const char *name)
{
    if (!lua_istable(L, index)) {
        lua_pushnil(L);
        return LUA_TNIL;
    }
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    return lua_rawget(L, index);
}

bool ss_lua_is_given(lua_State *L, int index, const char *name)
{
    bool there = ss_lua_push_option(L, index, name) != LUA_TNIL;
    lua_pop(L, 1);
    return there;
}

void ss_lua_opts(lua_State *L, int index, const ss_opt *list, const char *what, void *out)
{
    ss_lua_opts_names(L, index, list, NULL, 0, what);
    if (lua_istable(L, index))
        index = lua_absindex(L, index);
    for (const ss_opt *o = list; o->name; o++) {
        char path[PATH];
        ss_lua_name(path, sizeof path, "%s: option '%s'", what, o->name);
        ss_lua_push_option(L, index, o->name);
        if (lua_isnil(L, -1) && isnan(o->preset))
            missing(L, o, what);
        if (!lua_isnil(L, -1) || !isinf(o->preset))
            store(L, o, path, (char *)out + o->at);
        lua_pop(L, 1); /* the table keeps a text alive */
    }
}

/* -- help ------------------------------------------------------------------------------------- */

static double preset_of(const ss_opt *o, const void *presets)
{
    const char *at = (const char *)presets + o->at;
    double number = 0;
    uint32_t count;
    int64_t integer;
    int choice;
    bool flag;
    if (!isinf(o->preset))
        return o->preset;
    switch (o->kind) {
    case SS_OPT_QUANTITY:
        memcpy(&number, at, sizeof number);
        return number;
    case SS_OPT_COUNT:
        memcpy(&count, at, sizeof count);
        return count;
    case SS_OPT_INTEGER:
        memcpy(&integer, at, sizeof integer);
        return (double)integer;
    case SS_OPT_CHOICE:
        memcpy(&choice, at, sizeof choice);
        return choice;
    case SS_OPT_FLAG:
        memcpy(&flag, at, sizeof flag);
        return flag;
    case SS_OPT_TEXT:
    case SS_OPT_VALUE:
        break;
    }
    return 0;
}

static void add_preset(const ss_opt *o, double preset, ss_text *out)
{
    char value[SS_QUANTITY_TEXT], buffer[512];
    const char *names[CHOICES];
    if (isnan(preset)) {
        ss_text_add(out, "; must be given");
        return;
    }
    switch (o->kind) {
    case SS_OPT_CHOICE:
        cut_choices(o->choices, buffer, sizeof buffer, names);
        ss_text_add(out, "; %s unless given", names[(int)preset]);
        return;
    case SS_OPT_FLAG:
        ss_text_add(out, "; %s unless given", preset > 0 ? "true" : "false");
        return;
    case SS_OPT_TEXT:
    case SS_OPT_VALUE:
        return;
    default:
        ss_text_add(out, "; %s unless given", show(preset, o->unit, value, sizeof value));
    }
}

void ss_opts_help(const ss_opt *list, const void *presets, ss_text *out)
{
    for (const ss_opt *o = list; o->name; o++) {
        ss_text_add(out, "  %-18s %s", o->name, o->help ? o->help : "");
        if (o->kind == SS_OPT_CHOICE) {
            ss_text_add(out, ": ");
            for (const char *c = o->choices; *c; c++)
                if (*c == '|')
                    ss_text_add(out, ", ");
                else
                    ss_text_add_bytes(out, c, 1);
        } else if (o->kind == SS_OPT_QUANTITY && o->unit != SS_UNIT_NONE) {
            ss_text_add(out, " (%s)", ss_unit_name(o->unit));
        }
        if (!o->help || !strstr(o->help, "unless given"))
            add_preset(o, preset_of(o, presets), out);
        ss_text_add(out, "\n");
    }
}
