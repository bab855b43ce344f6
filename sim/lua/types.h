/* types.h - the types a script can hold, for bindings that take several. */
#ifndef SS_LUA_TYPES_H
#define SS_LUA_TYPES_H

#include <lua.h>

#include "graph/model.h"
#include "graph/route.h"
#include "graph/strategy.h"
#include "graph/topology.h"
#include "io/record.h"
#include "io/view.h"
#include "lua/box.h"
#include "simulate/cost.h"
#include "simulate/engine.h"
#include "simulate/result.h"

/* What boxes hold: that of a problem its model and topology, those of strategies, results, runs and
 * searches their problem; results and runs without one their topology, if there is one. */
enum { SS_LUA_HOLD_MODEL = 0, SS_LUA_HOLD_TOPOLOGY = 1, SS_LUA_HOLD_PROBLEM = 0 };

/* A model, and what new tensors of it are made of. */
typedef struct ss_lua_model {
    ss_model *model;
    ss_dtype dtype;
} ss_lua_model;

/* What is needed to simulate, and what every simulation of it uses again. */
typedef struct ss_lua_problem {
    const ss_model *model; /* kept by the boxes that the problem holds */
    const ss_topology *topology;
    ss_routes *routes;
    ss_costs *costs; /* of its own: the sources of those that were given */
    ss_engine *engine;
    ss_timer timer;
    ss_lower_options options;
    ss_change *event;  /* of the options */
    ss_chance *chance; /* of the options; NULL: none */
} ss_lua_problem;

typedef struct ss_lua_strategy {
    ss_strategy *strategy;
    char *name;
    bool named;   /* by the script; else after its kind or file, and what changes it then says so */
    bool changed; /* since it got its name */
} ss_lua_strategy;

typedef struct ss_lua_search ss_lua_search; /* lua_search.h */

typedef struct ss_lua_result {
    ss_result *result;
    const ss_model *model; /* NULL: a bare task graph */
    const ss_topology *topology;
    char *name;             /* of the strategy */
    ss_strategy *strategy;  /* as it was then; NULL as the model */
    ss_view view, lanes;    /* lanes: the view without tasks */
    bool viewed, has_lanes; /* they are there: made when first asked for */
} ss_lua_result;

extern const ss_lua_type ss_lua_model_type, ss_lua_tensor_type;
extern const ss_lua_type ss_lua_topology_type, ss_lua_node_type;
extern const ss_lua_type ss_lua_costs_type, ss_lua_problem_type;
extern const ss_lua_type ss_lua_chance_type, ss_lua_repetitions_type;
extern const ss_lua_type ss_lua_strategy_type, ss_lua_result_type, ss_lua_search_type;
extern const ss_lua_type ss_lua_run_type;

/* A device of the topology at stack index `topology`: the node that t:device returned, its number,
 * or its name. */
ss_device ss_lua_device(lua_State *L, int index, int topology, const char *path);

/* An operator of the model: its name or its position. */
ss_op ss_lua_op(lua_State *L, int index, const ss_model *m, const char *path);

/* The view of the result at stack index `index`. */
const ss_view *ss_lua_view(lua_State *L, int index);
/* Step and lanes alone: of a large graph much less. */
const ss_view *ss_lua_view_of_lanes(lua_State *L, int index);

/* Pushes a strategy of the problem at `problem`: ready-made by the options at `index`. */
int ss_lua_strategy_new(lua_State *L, int problem, const char *kind, int options);
/* The same from a file; and a table of what was matched. */
int ss_lua_strategy_load(lua_State *L, int problem, const char *path, int options);
/* Pushes the expert's strategy, unless there is none for the model: then it pushes nothing. */
bool ss_lua_strategy_push_expert(lua_State *L, int problem);
/* Pushes a copy of a strategy of the problem at `problem`, called `name`. */
int ss_lua_strategy_push_copy(lua_State *L, int problem, const ss_strategy *s, const char *name);
/* A configuration { degrees =, devices = } at `index` for an operator of the strategy's model, in
 * Lua's memory; leaves one value on the stack, which keeps it.  `topology`: its box's index. */
const ss_config *ss_lua_config(lua_State *L, int index, const ss_op_def *def, int topology,
                               const char *what);
/* Pushes costs of the same sources. */
int ss_lua_costs_push_copy(lua_State *L, const ss_costs *from);
/* Refuses a strategy of another model or topology than the problem's, saying what would help. */
void ss_lua_refuse_other(lua_State *L, const char *what, const ss_lua_problem *p,
                         const ss_strategy *s);
/* Pushes what reports call it: a name that the script gave stays, others say what was changed. */
const char *ss_lua_strategy_push_name(lua_State *L, const ss_lua_strategy *s);
/* The ready-made ones and their options, for the help. */
void ss_lua_strategies_help(ss_text *out);
/* Pushes what a simulation of the problem at `problem` says. */
int ss_lua_result_new(lua_State *L, int problem, const ss_lua_strategy *s, const char *name,
                      uint32_t repetition);

int ss_lua_result_sensitivity(lua_State *L); /* result:sensitivity */
int ss_lua_result_overlapped(lua_State *L);  /* result:overlapped */

/* The spread of a strategy's step time, as a share, when durations move by a picosecond: of so many runs, with
 * the seed 0, as report.compare asks. */
enum { SS_LUA_NOISE_RUNS = 4 };
ss_status ss_lua_noise_of(const ss_lua_problem *p, const ss_strategy *strategy,
                          const ss_watch *watch, double *spread, ss_error *err);
/* A line on that for the page of a search; nothing where exclusive links move by less than a millionth. */
void ss_lua_noise_say(double spread, const ss_lower_options *o, ss_text *out);

/* Pushes a box whose result is to be filled in. */
ss_lua_result *ss_lua_result_push_empty(lua_State *L);

/* problem:repetitions(strategy or list, options) -> repetitions */
int ss_lua_problem_repetitions(lua_State *L);
/* What is drawn, in a sentence. */
void ss_lua_chance_say(const ss_chance *c, ss_text *out);
void ss_lua_chance_help(ss_text *out);
int ss_lua_chance_new(lua_State *L); /* soapstone.chance */

/* The options of soapstone.problem, for the help. */
void ss_lua_problem_help(ss_text *out);
void ss_lua_events_help(ss_text *out);
/* Those of searches, likewise. */
void ss_lua_searches_help(ss_text *out);
int ss_lua_collective(lua_State *L);    /* soapstone.collective */
int ss_lua_problem_new(lua_State *L);   /* soapstone.problem */
int ss_lua_problem_start(lua_State *L); /* problem:start */
int ss_lua_problem_execute(lua_State *L);
int ss_lua_problem_proof(lua_State *L);
int ss_lua_problem_without_kernels(lua_State *L);
int ss_lua_problem_profile(lua_State *L); /* problem:profile */
int ss_lua_problem_list_times(lua_State *L); /* problem:list_times */
int ss_lua_dag_start(lua_State *L);     /* dag.start */
int ss_lua_run_new(lua_State *L);       /* soapstone.run */
int ss_lua_record(lua_State *L);        /* soapstone.record */
int ss_lua_compare(lua_State *L);
int ss_lua_inspect(lua_State *L);       /* soapstone.inspect */
int ss_lua_repair(lua_State *L);        /* soapstone.repair */

/* Who made a file: version, command, script and seed, in texts that stay on the stack. */
void ss_lua_manifest(lua_State *L, ss_manifest *out);
/* The files at `option` of the table at `index`, for the manifest; leaves values on the stack. */
const ss_manifest_file *ss_lua_manifest_files(lua_State *L, int index, const char *what,
                                              uint32_t *n);
/* The assumptions and costs of a simulation, and of a problem, one "name = value" a line. */
void ss_lua_write_options(const ss_lower_options *o, const ss_topology *t, const char *costs,
                          ss_text *out);
ss_status ss_lua_problem_options(const ss_lua_problem *p, ss_text *out, ss_error *err);

void ss_lua_push_count(lua_State *L, double value); /* an integer where it is one */
void ss_lua_set_number(lua_State *L, const char *key, double value);
void ss_lua_set_integer(lua_State *L, const char *key, lua_Integer value);
void ss_lua_set_count(lua_State *L, const char *key, double value);
void ss_lua_set_text(lua_State *L, const char *key, const char *value); /* NULL: nothing */
void ss_lua_set_flag(lua_State *L, const char *key, bool value);
void ss_lua_set_time(lua_State *L, const char *key, ss_time value); /* in seconds */

/* Each pushes the table of its part of the module. */
void ss_lua_open_calibrate(lua_State *L);
void ss_lua_open_costs(lua_State *L);
void ss_lua_open_dag(lua_State *L);
void ss_lua_open_plot(lua_State *L);
void ss_lua_open_profile(lua_State *L);
void ss_lua_open_search(lua_State *L);
void ss_lua_open_unit(lua_State *L);
void ss_lua_open_model(lua_State *L);
void ss_lua_open_topology(lua_State *L);
void ss_lua_open_trace(lua_State *L);
void ss_lua_register_problem(lua_State *L); /* the types of problems, strategies, results */

#endif
