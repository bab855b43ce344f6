/* opts.h - a table of options, read into a struct by one list.
 *
 * The list is the one place for an option's name, preset, bounds, unit and help: the reader, its
 * messages and the help pages come from it.  A name that is not in the list is refused, because a
 * misspelt option that is ignored is a wrong result that looks right.
 *
 * Tables are read raw.  An __index of the script's could close the object in our hands.
 */
#ifndef SS_LUA_OPTS_H
#define SS_LUA_OPTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/text.h"
#include "base/units.h"

typedef enum ss_opt_kind {
    SS_OPT_QUANTITY, /* double: a number in the base unit, or text with a unit */
    SS_OPT_COUNT,    /* uint32_t */
    SS_OPT_INTEGER,  /* int64_t; also a quantity of bytes that is whole, "4 MiB" */
    SS_OPT_FLAG,     /* bool */
    SS_OPT_TEXT,     /* const char *: lives as long as the table does; NULL if absent */
    SS_OPT_CHOICE,   /* int: the index among choices */
    SS_OPT_VALUE     /* anything: the caller reads it (ss_lua_push_option); nothing is stored */
} ss_opt_kind;

#define SS_OPT_REQUIRED NAN
#define SS_OPT_KEEP                                                                                \
    INFINITY /* if absent, what the struct has stays: it was filled with presets                   \
              */

typedef struct ss_opt {
    const char *name;
    ss_opt_kind kind;
    size_t at;     /* offset in the struct */
    double preset; /* SS_OPT_REQUIRED: must be given; of a choice its index; of a text: absent */
    double min, max;
    ss_unit unit;
    const char *choices; /* "full|half|one_way" */
    const char *help;    /* what it is; units, preset and bounds are added to it */
} ss_opt;

/* Reads the table at `index` (nothing or nil: every preset).  `what` names the call in messages:
 * "topology:link". */
void ss_lua_opts(lua_State *L, int index, const ss_opt *list, const char *what, void *out);

/* Pushes the option's value for those who read it by themselves, nil where it or the table is not
 * there; returns its type. */
int ss_lua_push_option(lua_State *L, int index, const char *name);
bool ss_lua_is_given(lua_State *L, int index, const char *name);

/* Only refuses: a value that is no table, keys that are in neither list (either may be NULL). */
void ss_lua_opts_names(lua_State *L, int index, const ss_opt *list, const char *const *more,
                       uint32_t mores, const char *what);

/* Single values, by the same rules.  `path` names the value: "device: option 'flops.f32'". */
double ss_lua_quantity(lua_State *L, int index, ss_unit unit, const char *path);
lua_Integer ss_lua_integer(lua_State *L, int index, lua_Integer min, lua_Integer max,
                           const char *path);
/* How long the list at the index is, which has nothing else in it: what a script wrote into it by a name or behind
 * a hole would be passed over. */
uint32_t ss_lua_list(lua_State *L, int index, const char *path);
int ss_lua_choice(lua_State *L, int index, const char *choices, const char *path);
const char *ss_lua_text(lua_State *L, int index, const char *path);

/* snprintf that may cut, for the names of values in messages. */
void ss_lua_name(char *buffer, size_t n, const char *format, ...) SS_PRINTF(3, 4);

/* "did you mean 'x'?" or the list of what there is. */
int ss_lua_unknown(lua_State *L, const char *what, const char *word, const char *const *names,
                   uint32_t n);

/* The lines of the help page; `presets` is a filled struct for options with SS_OPT_KEEP, or NULL.
 * A help that says itself what is so "unless given" is left as it is. */
void ss_opts_help(const ss_opt *list, const void *presets, ss_text *out);

#endif
