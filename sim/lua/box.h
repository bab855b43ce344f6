/* box.h - C objects that a script holds.
 *
 * A box is a Lua userdata with a pointer to one object of the core.  It is made empty, and filled
 * after: a Lua error in between finds a box that owns nothing, never an object without an owner.
 *
 * Boxes hold other boxes (a strategy its problem, a problem its model).  A script may close any of
 * them in any order, and the collector finds them in any order; the object goes when its box is
 * closed and nobody holds it any more.
 *
 * A type is one table of fields and methods.  __index, the help, completion at the prompt and the
 * test of the annotation file all read that table.
 */
#ifndef SS_LUA_BOX_H
#define SS_LUA_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "base/status.h"
#include "base/text.h"

enum { SS_LUA_HOLDS = 3 };

typedef struct ss_lua_field {
    const char *name;
    int (*get)(lua_State *L, int box); /* pushes one value; the box is checked and open */
    const char *help;
} ss_lua_field;

typedef struct ss_lua_method {
    const char *name;
    lua_CFunction call;
    const char *help; /* "(arguments) -> results: what it does" */
} ss_lua_method;

typedef struct ss_lua_type {
    const char *name;                 /* of the metatable: "soapstone.model" */
    const char *noun;                 /* in a sentence: "model" */
    void (*free)(void *object);       /* takes NULL; NULL: the box owns nothing */
    const ss_lua_field *fields;       /* ends at the first without a name; NULL: none */
    const ss_lua_method *methods;     /* the same */
    lua_CFunction text, same, length; /* __tostring, __eq, __len, or NULL */
    bool many;                        /* the noun takes no article: costs */
} ss_lua_type;

typedef struct ss_lua_box {
    void *object; /* NULL: not there yet, or gone */
    const ss_lua_type *type;
    uint32_t users; /* boxes that hold this one */
    bool closed;
    bool fixed; /* somebody reckons with it as it is: it may not change any more */
    struct ss_lua_box *holds[SS_LUA_HOLDS];
} ss_lua_box;

/* Makes the metatable, once for each state. */
void ss_lua_type_register(lua_State *L, const ss_lua_type *type);

/* Pushes a table of functions: a part of the module. */
void ss_lua_push_functions(lua_State *L, const ss_lua_method *list);

/* Pushes an empty box. */
ss_lua_box *ss_lua_box_new(lua_State *L, const ss_lua_type *type);

/* The box at `holder` keeps the one at `held` alive, and open underneath, until it is gone itself.
 */
void ss_lua_box_hold(lua_State *L, int holder, int slot, int held);
void ss_lua_box_push_held(lua_State *L, int holder, int slot);

/* Argument `arg`, raised about if it is of another type or closed. */
ss_lua_box *ss_lua_box_check(lua_State *L, int arg, const ss_lua_type *type);
void *ss_lua_check(lua_State *L, int arg, const ss_lua_type *type);
/* The same for what is about to change: raised about if the box is fixed. */
void *ss_lua_check_change(lua_State *L, int arg, const ss_lua_type *type);
/* NULL, silently, if it is something else or closed. */
ss_lua_box *ss_lua_box_test(lua_State *L, int index, const ss_lua_type *type);

/* Values without an object behind them (a tensor, a node) share the machinery of fields and
 * methods: a plain userdata of `bytes` with the type's metatable and one user value, the box at
 * `owner`. */
void *ss_lua_value_new(lua_State *L, const ss_lua_type *type, size_t bytes, int owner);
void *ss_lua_value_test(lua_State *L, int index, const ss_lua_type *type);
int ss_lua_value_same(lua_State *L); /* __eq of such types: the same bytes and the same owner */

/* A text for the core to write into, freed by the collector if nothing else does it; and its end:
 * pushes what was written (or raises), frees it, and gives 1. */
ss_text *ss_lua_text_new(lua_State *L);
int ss_lua_text_push(lua_State *L, ss_text *text);

/* Raises the sentence with the place in the user's script in front: the innermost Lua function that
 * is not one of soapstone's own files.  Notes the status, for the program's exit. */
int ss_lua_raise(lua_State *L, const ss_error *err);
/* Pushes the text that would be raised, for a script to raise when it has done what it can. */
void ss_lua_push_raised(lua_State *L, const ss_error *err);
int ss_lua_refuse(lua_State *L, const char *format, ...) SS_PRINTF(2, 3); /* SS_EINVAL */

/* The status that goes with an error message that reached the top. */
ss_status ss_lua_raised_status(lua_State *L, const char *message);
/* Whether it came through ss_lua_raise: then it has its place and needs no traceback. */
bool ss_lua_was_refused(lua_State *L, const char *message);

/* "a number", "a model", "nothing": what is at the index, in a sentence.  Pushes nothing; the
 * answer is good as long as the value lives. */
const char *ss_lua_kind_of(lua_State *L, int index);
const char *ss_lua_article(const ss_lua_type *type); /* "a ", "an ", "" of many */

#endif
