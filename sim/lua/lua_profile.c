/* lua_profile.c - problem:profile and soapstone.profile: times of operators, measured on this machine. */
#include "lua/lua_profile.h"

#include <string.h>

#include <lauxlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/strict.h"
#include "lua/types.h"
#include "validation/operators/onednn.h"
#include "validation/profiler/profile_csv.h"

enum { STRATEGIES = 100000 };

static void free_profile(void *object)
{
    if (object)
        ss_profile_free(object);
    ss_free(object);
}

static const ss_profile *check(lua_State *L, int index)
{
    return ss_lua_check(L, index, &ss_lua_profile_type);
}

ss_profile *ss_lua_push_profile(lua_State *L)
{
    ss_lua_box *box = ss_lua_box_new(L, &ss_lua_profile_type);
    ss_error err;
    box->object = ss_alloc_zeroed(1, sizeof(ss_profile));
    if (!box->object) {
        ss_fail_memory(&err, "a profile", sizeof(ss_profile));
        ss_lua_raise(L, &err);
    }
    return box->object;
}

/* -- measuring -------------------------------------------------------------------------------- */

typedef struct profile_options {
    const char *kind;
    uint32_t rounds, warm_up;
    double budget, memory, seed;
    int64_t core, beside; /* -1: none was given */
    int inputs;
    bool parts_of_backward, new_only;
} profile_options;

static const ss_opt profile_list[] = {
    {.name = "rounds",
     .kind = SS_OPT_COUNT,
     .at = offsetof(profile_options, rounds),
     .preset = 15,
     .min = 1,
     .max = 1e6,
     .help = "samples of each time"},
    {.name = "warm_up",
     .kind = SS_OPT_COUNT,
     .at = offsetof(profile_options, warm_up),
     .preset = 2,
     .max = 1e6,
     .help = "rounds before, which are not counted"},
    {.name = "budget",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(profile_options, budget),
     .max = 1e9,
     .unit = SS_UNIT_SECONDS,
     .help = "no round begins after so long, but the first; 0: no limit"},
    {.name = "core",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(profile_options, core),
     .preset = SS_OPT_KEEP,
     .max = 1e6,
     .help = "of this machine, from 0, to measure on; any unless given"},
    {.name = "beside",
     .kind = SS_OPT_INTEGER,
     .at = offsetof(profile_options, beside),
     .preset = SS_OPT_KEEP,
     .max = 1e6,
     .help = "another core, from 0: how far each time waits for memory that it uses, and how long copies take"},
    {.name = "seed",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(profile_options, seed),
     .preset = 1,
     .max = 0x1p53,
     .help = "of weights, inputs and labels"},
    {.name = "inputs",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(profile_options, inputs),
     .choices = "warm|cold",
     .help = "just written, or in no cache"},
    {.name = "parts_of_backward",
     .kind = SS_OPT_FLAG,
     .at = offsetof(profile_options, parts_of_backward),
     .help = "gradients of inputs and of weights apart, too"},
    {.name = "memory",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(profile_options, memory),
     .max = 1e18,
     .unit = SS_UNIT_BYTES,
     .help = "of arrays at a time; 0: a quarter of the machine's"},
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(profile_options, kind),
     .help = "of the devices that this machine's cores stand for; that of the topology's unless "
             "given"},
    {.name = "known",
     .kind = SS_OPT_VALUE,
     .help = "a profile: what it has is not measured, and is in the new one too"},
    {.name = "new_only",
     .kind = SS_OPT_FLAG,
     .at = offsetof(profile_options, new_only),
     .help = "what is known is not in the new one"},
    {0},
};

/* Of one strategy or a list: in Lua's memory, on the stack. */
static const ss_strategy **read_strategies(lua_State *L, const char *what, uint32_t *n)
{
    bool list = lua_istable(L, 2);
    lua_Unsigned count = list ? lua_rawlen(L, 2) : 1;
    if (count < 1 || count > STRATEGIES)
        ss_lua_refuse(L, "%s: the list has %d strategies; 1 to %d are possible", what, (int)count,
                      STRATEGIES);
    const ss_strategy **s = lua_newuserdatauv(L, (size_t)count * sizeof *s, 0);
    for (lua_Unsigned i = 0; i < count; i++) {
        if (list)
            lua_rawgeti(L, 2, (lua_Integer)i + 1);
        else
            lua_pushvalue(L, 2);
        ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_strategy_type);
        if (!box && list)
            ss_lua_refuse(L, "%s: strategy %d of the list is %s", what, (int)i + 1,
                          ss_lua_kind_of(L, -1));
        if (!box)
            ss_lua_refuse(L, "%s takes a strategy or a list of them, not %s", what,
                          ss_lua_kind_of(L, -1));
        s[i] = ((ss_lua_strategy *)box->object)->strategy;
        lua_pop(L, 1); /* the argument keeps it */
    }
    *n = (uint32_t)count;
    return s;
}

/* A time is of a kind of device, and is measured on this machine, which is one. */
static const char *kind_of_devices(lua_State *L, const ss_topology *t, const char *given,
                                   const char *what)
{
    const char *first = NULL;
    for (uint32_t i = 1; i <= t->devices; i++) {
        const char *kind = t->device[i].def.kind;
        if (given && !strcmp(kind, given))
            return given;
        if (!given && first && strcmp(kind, first) != 0)
            ss_lua_refuse(
                L,
                "%s: topology %s has devices of the kinds %s and %s, and what is measured is of "
                "one: say which with the option 'kind'",
                what, t->name, first, kind);
        first = first ? first : kind;
    }
    if (given)
        ss_lua_refuse(L, "%s: option 'kind': topology %s has no device of kind '%s'", what, t->name,
                      given);
    return first;
}

static const ss_profile *known_profile(lua_State *L, int options, const char *what)
{
    if (ss_lua_push_option(L, options, "known") == LUA_TNIL)
        return NULL;
    ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_profile_type);
    if (!box)
        ss_lua_refuse(L,
                      "%s: option 'known' should be a profile (of problem:profile or "
                      "soapstone.profile.read), not %s",
                      what, ss_lua_kind_of(L, -1));
    return box->object;
}

typedef struct profile_job {
    const profile_options *o;
    const char *kind;
    const ss_profile *known;
    const ss_strategy **strategy;
    uint32_t strategies;
    const ss_watch *watch;
} profile_job;

static ss_status measure_missing(const profile_job *j, const ss_kernels *kernels,
                                 const ss_kernel_maker *maker, ss_profile *out, uint32_t *rows,
                                 bool *measured, ss_error *err)
{
    ss_profiler_options o = {.rounds = j->o->rounds,
                             .warm_up = j->o->warm_up,
                             .budget_s = j->o->budget,
                             .core = (int32_t)j->o->core,
                             .beside = (int32_t)j->o->beside,
                             .crowded = j->o->rounds < 5 ? j->o->rounds : 5,
                             .seed = (uint64_t)j->o->seed,
                             .cold = j->o->inputs == 1,
                             .parts_of_backward = j->o->parts_of_backward,
                             .keep_stopped = true,
                             .memory_bytes = j->o->memory};
    ss_profiler *p = NULL;
    ss_status s = ss_profiler_new(maker, j->kind, ss_kernels_version(kernels), &o, &p, err);
    if (!s && j->known)
        s = ss_profiler_know_profile(p, j->known, err);
    for (uint32_t i = 0; i < j->strategies && !s; i++)
        s = ss_profiler_add_strategy(p, j->strategy[i], err);
    *rows = s ? 0 : ss_profiler_rows(p);
    *measured = !s && !ss_profiler_is_idle(p);
    if (*measured)
        s = ss_profiler_measure(p, j->watch, out, err);
    *rows = s ? 0 : out->rows;
    ss_profiler_free(p);
    return s;
}

static ss_status make_profile(const profile_job *j, ss_profile *out, uint32_t *rows, ss_error *err)
{
    ss_kernels *kernels = NULL;
    ss_profile measured = {0};
    ss_status s = ss_kernels_new(&kernels, err);
    if (s)
        return s;
    ss_kernel_maker maker = ss_kernels_maker(kernels);
    bool any;
    s = measure_missing(j, kernels, &maker, &measured, rows, &any, err);
    if (!s && j->known && !j->o->new_only)
        s = ss_profile_merge(out, j->known, err);
    if (!s && any)
        s = ss_profile_merge(out, &measured, err);
    ss_profile_free(&measured);
    ss_kernels_free(kernels);
    return s;
}

/* problem:profile(strategy or list, options) -> profile, number of times that were measured, seconds that it took */
int ss_lua_problem_profile(lua_State *L)
{
    const ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    profile_options o = {.core = -1, .beside = -1};
    lua_settop(L, 3);
    ss_lua_opts(L, 3, profile_list, "problem:profile", &o);
    profile_job j = {.o = &o, .known = known_profile(L, 3, "problem:profile"), .watch = ss_lua_watch(L)};
    j.kind = kind_of_devices(L, p->topology, o.kind, "problem:profile");
    j.strategy = read_strategies(L, "problem:profile", &j.strategies);
    for (uint32_t i = 0; i < j.strategies; i++)
        ss_lua_refuse_other(L, "problem:profile", p, j.strategy[i]);
    ss_profile *out = ss_lua_push_profile(L);

    ss_error err;
    uint32_t rows = 0;
    double began = ss_seconds_now();
    if (make_profile(&j, out, &rows, &err)) {
        ss_fail_in(&err, "problem:profile");
        return ss_lua_raise(L, &err);
    }
    lua_pushinteger(L, rows);
    lua_pushnumber(L, ss_seconds_now() - began);
    return 3;
}

/* -- files, and several together -------------------------------------------------------------- */

/* profile.read(path) -> profile */
static int profile_read(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "profile.read: the path");
    ss_profile *out = ss_lua_push_profile(L);

    ss_error err;
    if (ss_profile_read(path, out, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

/* profile.import(path) -> profile */
static int profile_import(lua_State *L)
{
    const char *path = ss_lua_text(L, 1, "profile.import: the path");
    ss_profile *out = ss_lua_push_profile(L);

    ss_error err;
    if (ss_profile_read_csv(path, out, &err))
        return ss_lua_raise(L, &err);
    return 1;
}

typedef struct merge_options {
    bool pool;
} merge_options;

static const ss_opt merge_list[] = {{.name = "pool",
                                     .kind = SS_OPT_FLAG,
                                     .at = offsetof(merge_options, pool),
                                     .help = "of what several have, the samples of all"},
                                    {0}};

/* profile.merge({ first, second, ... }, { pool = }) -> profile: of what several have, the last one's */
static int profile_merge(lua_State *L)
{
    merge_options o;
    ss_lua_opts(L, 2, merge_list, "profile.merge", &o);
    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        return ss_lua_refuse(L, "profile.merge takes a list of profiles, not %s",
                             ss_lua_kind_of(L, 1));
    uint32_t n = ss_lua_list(L, 1, "profile.merge: the list of profiles");
    if (!n)
        return ss_lua_refuse(L, "profile.merge: there is no profile in the list");
    ss_profile *out = ss_lua_push_profile(L);
    for (uint32_t i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i);
        ss_lua_box *box = ss_lua_box_test(L, -1, &ss_lua_profile_type);
        if (!box)
            return ss_lua_refuse(L, "profile.merge: element %d is %s, not a profile", (int)i,
                                 ss_lua_kind_of(L, -1));

        ss_error err;
        if (o.pool ? ss_profile_pool(out, box->object, &err)
                   : ss_profile_merge(out, box->object, &err)) {
            ss_fail_in(&err, "profile.merge: element %u", i);
            return ss_lua_raise(L, &err);
        }
        lua_pop(L, 1);
    }
    return 1;
}

/* profile:write(path) */
static int profile_write(lua_State *L)
{
    const ss_profile *p = check(L, 1);
    const char *path = ss_lua_text(L, 2, "profile:write: the path");

    ss_error err;
    if (ss_profile_check_place(path, &err) || ss_profile_write(path, p, &err))
        return ss_lua_raise(L, &err);
    return 0;
}

/* Makes nothing: what is lacking is counted, and not measured. */
static ss_status no_kernel(void *context, const ss_op_def *def, const ss_box *main, ss_kernel **out,
                           ss_error *err)
{
    (void)context, (void)def, (void)main, (void)out;
    return ss_fail(err, SS_EUNSUPPORTED, "nothing is measured here");
}

/* What is known may come from any library; NULL: nothing is.  With a path what is missing is listed there. */
static ss_status find_missing(const char *kind, const ss_profile *known, bool parts,
                              const ss_strategy **strategy, uint32_t n, const char *path,
                              uint32_t *rows, ss_error *err)
{
    const ss_kernel_maker maker = {.make = no_kernel};
    ss_profiler_options o = ss_profiler_options_start();
    ss_profiler *p = NULL;
    o.parts_of_backward = parts;
    ss_status s = ss_profiler_new(&maker, kind, "", &o, &p, err);
    for (uint32_t i = 0; known && i < known->rows && !s; i++)
        s = ss_profiler_known(p, &known->row[i].m, err);
    for (uint32_t i = 0; i < n && !s; i++)
        s = ss_profiler_add_strategy(p, strategy[i], err);
    *rows = s ? 0 : ss_profiler_rows(p);
    if (!s && path && *rows)
        s = ss_profiler_write_list(p, path, err);
    ss_profiler_free(p);
    return s;
}

/* profile:lacks(strategy or list) -> how many times that they need are not in it */
static int profile_lacks(lua_State *L)
{
    const ss_profile *p = check(L, 1);
    uint32_t n, rows;
    lua_settop(L, 2);
    const ss_strategy **s = read_strategies(L, "profile:lacks", &n);

    ss_error err;
    if (find_missing(p->device_kind, p, false, s, n, NULL, &rows, &err)) {
        ss_fail_in(&err, "profile:lacks");
        return ss_lua_raise(L, &err);
    }
    lua_pushinteger(L, rows);
    return 1;
}

typedef struct list_options {
    const char *kind;
    bool parts_of_backward;
} list_options;

static const ss_opt list_list[] = {
    {.name = "parts_of_backward",
     .kind = SS_OPT_FLAG,
     .at = offsetof(list_options, parts_of_backward),
     .help = "gradients of inputs and of weights apart, too"},
    {.name = "kind",
     .kind = SS_OPT_TEXT,
     .at = offsetof(list_options, kind),
     .help = "of the devices that the times are for; that of the topology's unless given"},
    {.name = "known", .kind = SS_OPT_VALUE, .help = "a profile: what it has is left out"},
    {0},
};

/* problem:list_times(path, strategy or list, options) -> how many; none: nothing is written */
int ss_lua_problem_list_times(lua_State *L)
{
    const ss_lua_problem *p = ss_lua_check(L, 1, &ss_lua_problem_type);
    const char *path = ss_lua_text(L, 2, "problem:list_times: the path");
    list_options o = {0};
    uint32_t n, rows;
    lua_settop(L, 4);
    ss_lua_opts(L, 4, list_list, "problem:list_times", &o);
    const ss_profile *known = known_profile(L, 4, "problem:list_times");
    const char *kind = kind_of_devices(L, p->topology, o.kind, "problem:list_times");
    lua_rotate(L, 2, -1); /* strategies are the second argument of those who measure */
    const ss_strategy **s = read_strategies(L, "problem:list_times", &n);
    for (uint32_t i = 0; i < n; i++)
        ss_lua_refuse_other(L, "problem:list_times", p, s[i]);

    ss_error err;
    if (find_missing(kind, known, o.parts_of_backward, s, n, path, &rows, &err)) {
        ss_fail_in(&err, "problem:list_times");
        return ss_lua_raise(L, &err);
    }
    lua_pushinteger(L, rows);
    return 1;
}

/* -- what is in it ---------------------------------------------------------------------------- */

static int get_rows(lua_State *L, int box)
{
    const ss_profile *p = check(L, box);
    lua_createtable(L, (int)p->rows, 0);
    for (uint32_t i = 0; i < p->rows; i++) {
        const ss_profile_row *r = &p->row[i];
        lua_createtable(L, 0, 17);
        ss_lua_set_text(L, "kind", r->m.kind);
        ss_lua_set_text(L, "attributes", r->m.attributes);
        ss_lua_set_text(L, "shape", r->m.shape);
        ss_lua_set_text(L, "dtype", r->m.dtype);
        ss_lua_set_text(L, "phase", ss_phase_name(r->m.phase));
        ss_lua_set_text(L, "device", r->m.device_kind);
        ss_lua_set_number(L, "median", r->s.median);
        ss_lua_set_number(L, "mean", r->s.mean);
        ss_lua_set_number(L, "deviation", r->s.deviation);
        ss_lua_set_number(L, "q05", r->s.q05);
        ss_lua_set_number(L, "q25", r->s.q25);
        ss_lua_set_number(L, "q75", r->s.q75);
        ss_lua_set_number(L, "q95", r->s.q95);
        ss_lua_set_number(L, "least", r->s.least);
        ss_lua_set_number(L, "most", r->s.most);
        ss_lua_set_integer(L, "outliers", r->s.outliers);
        if (r->m.has_bound)
            ss_lua_set_number(L, "memory_bound", r->m.bound);
        lua_createtable(L, (int)r->s.n, 0);
        for (uint32_t k = 0; k < r->s.n; k++) {
            lua_pushnumber(L, r->sample[k]);
            lua_rawseti(L, -2, (lua_Integer)k + 1);
        }
        lua_setfield(L, -2, "samples");
        ss_lua_strict_row(L, "row of a profile", "memory_bound");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "row of a profile");
    return 1;
}

static int get_streams(lua_State *L, int box)
{
    const ss_profile *p = check(L, box);
    lua_createtable(L, (int)p->streams, 0);
    for (uint32_t i = 0; i < p->streams; i++) {
        const ss_stream_row *r = &p->stream[i];
        lua_createtable(L, 0, 9);
        ss_lua_set_text(L, "what", ss_stream_name(r->what));
        ss_lua_set_integer(L, "bytes", r->bytes);
        ss_lua_set_number(L, "median", r->s.median);
        ss_lua_set_number(L, "deviation", r->s.deviation);
        ss_lua_set_number(L, "q05", r->s.q05);
        ss_lua_set_number(L, "q25", r->s.q25);
        ss_lua_set_number(L, "q75", r->s.q75);
        ss_lua_set_number(L, "q95", r->s.q95);
        ss_lua_set_number(L, "memory_bound", r->bound);
        ss_lua_strict_row(L, "stream of a profile", NULL);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    ss_lua_strict_list(L, "stream of a profile");
    return 1;
}

static int get_interference(lua_State *L, int box)
{
    lua_pushnumber(L, check(L, box)->interference);
    return 1;
}

static int get_kind(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->device_kind);
    return 1;
}

static int get_library(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->version);
    return 1;
}

static int get_machine(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->machine);
    return 1;
}

static int get_processor(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->processor);
    return 1;
}

static int get_inputs(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->inputs);
    return 1;
}

static int get_wallclock(lua_State *L, int box)
{
    lua_pushstring(L, check(L, box)->wallclock);
    return 1;
}

static const ss_lua_field profile_fields[] = {
    {"rows", get_rows, "list: each time with its statistics and samples"},
    {"streams", get_streams, "list: copies, sums, updates and messages by size, if measured beside a core"},
    {"interference", get_interference, "how much longer two streams take beside each other; 0 unless measured"},
    {"device", get_kind, "the kind of device"},
    {"library", get_library, "what computed the operators, with its version"},
    {"machine", get_machine, "system and architecture"},
    {"processor", get_processor, "its name"},
    {"inputs", get_inputs, "warm or cold"},
    {"wallclock", get_wallclock, "when the last of it was measured"},
    {NULL, NULL, NULL},
};

static int profile_json(lua_State *L)
{
    const ss_profile *p = check(L, 1);
    ss_text *text = ss_lua_text_new(L);
    ss_error err;
    if (ss_profile_report_json(p, text, &err))
        return ss_lua_raise(L, &err);
    return ss_lua_text_push(L, text);
}

static int profile_text(lua_State *L)
{
    ss_lua_box *box = luaL_checkudata(L, 1, ss_lua_profile_type.name);
    if (box->closed || !box->object) {
        lua_pushliteral(L, "profile (closed)");
        return 1;
    }
    ss_text *text = ss_lua_text_new(L);
    ss_error err;
    if (ss_profile_report_text(box->object, text, &err))
        return ss_lua_raise(L, &err);
    return ss_lua_text_push(L, text);
}

static int profile_length(lua_State *L)
{
    lua_pushinteger(L, check(L, 1)->rows);
    return 1;
}

static const ss_lua_method profile_methods[] = {
    {"json", profile_json, "() -> text: every row with its samples, as JSON"},
    {"lacks", profile_lacks,
     "(strategy or list) -> number: times that they need and it does not have"},
    {"write", profile_write, "(path): HDF5, for profile.read, costs.table and --costs"},
    {NULL, NULL, NULL},
};

const ss_lua_type ss_lua_profile_type = {
    .name = "soapstone.profile",
    .noun = "profile",
    .free = free_profile,
    .fields = profile_fields,
    .methods = profile_methods,
    .text = profile_text,
    .length = profile_length,
};

static const ss_lua_method functions[] = {
    {"import", profile_import, "(path) -> profile: one that was measured elsewhere, in CSV with every sample"},
    {"merge", profile_merge, "(list of profiles) -> profile: of what several have the last one's"},
    {"read", profile_read, "(path) -> profile: one that was written"},
    {NULL, NULL, NULL},
};

void ss_lua_open_profile(lua_State *L)
{
    ss_lua_type_register(L, &ss_lua_profile_type);
    ss_lua_push_module(L, "profile", functions);
}
