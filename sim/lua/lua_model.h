/* lua_model.h - what lua_model.c, which builds models, and lua_model_ask.c, which asks them, share.
 */
#ifndef SS_LUA_MODEL_H
#define SS_LUA_MODEL_H

#include <stdint.h>

#include <lua.h>

#include "graph/model.h"
#include "graph/op.h"
#include "lua/box.h"

/* The value behind a tensor of a script; its user value is the model. */
typedef struct ss_lua_tensor {
    ss_tensor tensor;
} ss_lua_tensor;

/* Pushes a tensor of the model at stack index `model`. */
void ss_lua_tensor_push(lua_State *L, int model, ss_tensor tensor);

/* Pushes the value as a script writes it: true, "relu", 3. */
void ss_lua_attr_push(lua_State *L, const ss_attr_def *a, int64_t value);

extern const ss_lua_field ss_lua_model_fields[];
int ss_lua_model_totals(lua_State *L);
int ss_lua_model_ops(lua_State *L);
int ss_lua_model_op(lua_State *L);
int ss_lua_model_text(lua_State *L);

#endif
