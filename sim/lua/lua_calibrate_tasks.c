/* lua_calibrate_tasks.c - soapstone.calibrate.tasks: from executed tasks to what a step does to them. */
#include <lauxlib.h>

#include "base/names.h"
#include "lua/lua_fit.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "validation/compare/task_fit.h"

enum { PATH = 100 };

typedef struct task_options {
    const char *group;
    double alone, executed, bound, beside;
} task_options;

static const ss_opt task_list[] = {
    {.name = "group", .kind = SS_OPT_TEXT, .at = offsetof(task_options, group), .preset = SS_OPT_REQUIRED},
    {.name = "alone",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(task_options, alone),
     .preset = SS_OPT_REQUIRED,
     .max = 1e9,
     .unit = SS_UNIT_SECONDS},
    {.name = "executed",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(task_options, executed),
     .preset = SS_OPT_REQUIRED,
     .max = 1e9,
     .unit = SS_UNIT_SECONDS},
    {.name = "bound", .kind = SS_OPT_QUANTITY, .at = offsetof(task_options, bound), .max = 1},
    {.name = "beside", .kind = SS_OPT_QUANTITY, .at = offsetof(task_options, beside), .max = 1e6},
    {0},
};

typedef struct fit_of_tasks {
    ss_names groups;
    ss_task_time *row;
    uint32_t rows;
    ss_task_fit fit;
    ss_task_group *group;
} fit_of_tasks;

/* Which is on the stack: ends the memory that is not Lua's, also where an error jumps. */
static int free_groups(lua_State *L)
{
    fit_of_tasks *f = lua_touserdata(L, 1);
    ss_names_free(&f->groups);
    return 0;
}

static fit_of_tasks *push_fit_of_tasks(lua_State *L, lua_Unsigned rows)
{
    fit_of_tasks *f = lua_newuserdatauv(L, sizeof *f, 2);
    *f = (fit_of_tasks){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, free_groups);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    f->row = lua_newuserdatauv(L, ((size_t)rows + 1) * sizeof *f->row, 0);
    lua_setiuservalue(L, -2, 1);
    return f;
}

static void read_tasks(lua_State *L, fit_of_tasks *f)
{
    char path[PATH];
    ss_error err;
    lua_Unsigned n = lua_rawlen(L, 1);
    for (uint32_t i = 0; i < n; i++) {
        task_options o;
        uint32_t id;
        ss_lua_name(path, sizeof path, "calibrate.tasks: task %u", i + 1);
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        if (!lua_istable(L, -1))
            ss_lua_refuse(L, "%s should be { group =, alone =, executed = }, not %s", path, ss_lua_kind_of(L, -1));
        ss_lua_opts(L, -1, task_list, path, &o);
        if (ss_names_add(&f->groups, o.group, &id, &err))
            ss_lua_raise(L, &err);
        f->row[i] = (ss_task_time){id - 1, o.alone, o.executed, o.bound, o.beside};
        lua_pop(L, 1);
    }
    f->rows = (uint32_t)n;
}

/* calibrate.tasks(list of { group =, alone =, executed =, bound =, beside = }, { interference = })
 * -> { overhead =, interference =, spread =, errors =, factors = { [group] = }, groups = } */
int ss_lua_calibrate_tasks(lua_State *L)
{
    static const ss_opt list[] = {{.name = "interference", .kind = SS_OPT_QUANTITY, .at = 0, .max = 1000}, {0}};
    double interference;
    ss_error err;
    if (!lua_istable(L, 1) || lua_rawlen(L, 1) > SS_TASK_ROWS)
        return ss_lua_refuse(L, "calibrate.tasks takes a list of at most %d tasks, not %s", SS_TASK_ROWS,
                             lua_istable(L, 1) ? "more" : ss_lua_kind_of(L, 1));
    lua_settop(L, 2);
    ss_lua_opts(L, 2, list, "calibrate.tasks", &interference);
    fit_of_tasks *f = push_fit_of_tasks(L, lua_rawlen(L, 1));
    read_tasks(L, f);
    f->group = lua_newuserdatauv(L, ((size_t)f->groups.n + 1) * sizeof *f->group, 0);
    lua_setiuservalue(L, -2, 2);
    if (ss_task_fit_new(f->row, f->rows, f->groups.n, interference, &f->fit, f->group, &err)) {
        ss_fail_in(&err, "calibrate.tasks");
        return ss_lua_raise(L, &err);
    }
    lua_createtable(L, 0, 8);
    ss_lua_set_number(L, "overhead", f->fit.overhead_s);
    ss_lua_set_number(L, "overhead_error", f->fit.overhead_error);
    ss_lua_set_number(L, "interference", f->fit.interference);
    ss_lua_set_number(L, "interference_error", f->fit.interference_error);
    ss_lua_set_number(L, "spread", f->fit.spread);
    lua_createtable(L, 0, (int)f->groups.n); /* factors */
    lua_createtable(L, (int)f->groups.n, 0); /* groups */
    for (uint32_t g = 0; g < f->groups.n; g++) {
        const ss_task_group *x = &f->group[g];
        const char *name = ss_names_text(&f->groups, g + 1);
        lua_pushnumber(L, x->factor);
        lua_setfield(L, -3, name);
        lua_createtable(L, 0, 6);
        ss_lua_set_text(L, "name", name);
        ss_lua_set_integer(L, "tasks", x->tasks);
        ss_lua_set_number(L, "factor", x->factor);
        ss_lua_set_number(L, "error", x->error);
        ss_lua_set_number(L, "alone", x->alone_s);
        ss_lua_set_number(L, "executed", x->executed_s);
        ss_lua_strict_row(L, "group of tasks", NULL);
        lua_rawseti(L, -2, (lua_Integer)g + 1);
    }
    lua_setfield(L, -3, "groups");
    lua_setfield(L, -2, "factors");
    ss_lua_strict_row(L, "calibration of tasks", NULL);
    return 1;
}
