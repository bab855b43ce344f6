/* lua_run.h - what lua_run.c, which makes runs and passes time, and lua_run_act.c, which asks them and
 * changes what is there, need of each other. */
#ifndef SS_LUA_RUN_H
#define SS_LUA_RUN_H

#include "base/arena.h"
#include "lua/types.h"
#include "simulate/run.h"

/* Of a problem its box holds the problem; of one that began with nothing the topology; else nothing. */
typedef struct ss_lua_run {
    ss_run *run;
    ss_lowered lowered;    /* what it began with; the result's, once it is finished */
    ss_strategy *strategy; /* as it was then; NULL without a model */
    const ss_model *model;
    const ss_topology *topology;
    ss_routes *routes, *own_routes; /* own: where there is no problem that has some */
    bool ideal_links;               /* so nothing stages */
    char *name, *costs, *costs_notes;
    const char **added; /* names of the tasks that were added, or NULL; [named] */
    uint32_t named, named_cap;
    ss_arena names; /* what they are made of */
    bool finished;
    double lower_s, simulate_s;
} ss_lua_run;

ss_lua_run *ss_lua_run_check(lua_State *L);        /* argument 1 */
ss_lua_run *ss_lua_run_check_change(lua_State *L); /* the same, for what is not finished */
/* Pushes the box of the topology, whose index it gives; raises where there is none. */
int ss_lua_run_push_topology(lua_State *L, const ss_lua_run *r);

int ss_lua_run_set_link(lua_State *L);
int ss_lua_run_fail(lua_State *L);
int ss_lua_run_restore(lua_State *L);
int ss_lua_run_set_device(lua_State *L);
int ss_lua_run_pause(lua_State *L);
int ss_lua_run_resume(lua_State *L);
int ss_lua_run_fail_device(lua_State *L);
int ss_lua_run_compute(lua_State *L);
int ss_lua_run_send(lua_State *L);
int ss_lua_run_task(lua_State *L);
int ss_lua_run_ended(lua_State *L);

#endif
