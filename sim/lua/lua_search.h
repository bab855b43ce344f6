/* lua_search.h - what the bindings of searches share; nobody else includes it.
 *
 * A search keeps everything that it was made of: copies of the strategies it starts from and of
 * what its log tells, so that a script may change or close what it gave.
 */
#ifndef SS_LUA_SEARCH_H
#define SS_LUA_SEARCH_H

#include "base/arena.h"
#include "io/trajectory.h"
#include "lua/opts.h"
#include "lua/types.h"
#include "search/search.h"

/* What a script asks for.  Texts, strategies and lists are kept by the table at `kept`. */
typedef struct ss_lua_search_request {
    ss_search_options options;
    const ss_search_start *start; /* [starts] */
    uint32_t starts;
    const char *log; /* NULL: none */
    bool resume;
    const ss_manifest_file *file; /* [files]: for the log */
    uint32_t files;
    uint64_t configurations_hash; /* 0: none were given */
    int kept;                     /* a table on the stack */
} ss_lua_search_request;

/* Searchers that take beta, and those that move groups and copy to neighbours: a bit for each. */
enum {
    SS_LUA_WITH_BETA = 1 << SS_SEARCH_MCMC | 1 << SS_SEARCH_ANNEALING,
    SS_LUA_WITH_REACHES = SS_LUA_WITH_BETA | 1 << SS_SEARCH_GREEDY
};

/* Reads the options at `index` for a search of the problem at `problem`; `what` names the call. */
void ss_lua_search_read(lua_State *L, int problem, int index, ss_searcher searcher,
                        const char *what, ss_lua_search_request *out);

/* What an effort stands for: how long, how many random starts besides the ready-made ones, and how
 * often devices in any order.  {0}: none was asked for. */
typedef struct ss_lua_effort {
    const char *name;
    double seconds; /* over all chains */
    uint32_t randoms;
    double free;
} ss_lua_effort;

/* Starts, moves and configurations alone, around what `out` has for options. */
void ss_lua_search_read_space(lua_State *L, int problem, int index, const char *what,
                              const ss_lua_effort *e, ss_lua_search_request *out);
int ss_lua_search_exhaustive(lua_State *L); /* search.exhaustive */

/* What decides the rows of its log, and what decides how many there are: a line each. */
void ss_lua_search_write_options(const ss_lua_search_request *r, ss_text *out);
void ss_lua_search_write_limits(const ss_search_options *o, ss_text *out);
void ss_lua_search_write_exhaustive(const ss_lua_search_request *r, ss_text *out);

/* The best of a chain, looked at again: what its cost is made of, and whether it fits. */
typedef struct ss_lua_search_best {
    bool known;
    uint64_t step; /* of the best that it is about */
    ss_time step_time, penalty;
    bool fits; /* no device has too little memory, whatever the search thought of that */
} ss_lua_search_best;

struct ss_lua_search {
    ss_search *search;
    ss_search_options options; /* without the list of configurations */
    ss_search_start *start;    /* [starts], copies */
    uint32_t starts;
    ss_lua_search_best *best; /* [starts]: of when it was last asked */
    struct {
        bool known;
        uint32_t chain;
        uint64_t step; /* of the best of all that it is about */
        double spread;
    } noise;          /* of when it was last asked */
    double seconds;   /* that its runs took */
    bool interrupted; /* the last run was told to stop */

    char *log_path;     /* NULL: none */
    ss_trajectory *log; /* open: from where it was made to the end of the first run, and in runs */
    bool log_broken;    /* the search went on where the log could not */
    ss_manifest manifest;
    ss_text problem_text, options_text, limits_text;
    ss_arena arena; /* holds the manifest and the names of starts */
};

/* A user value of a search that no hold takes: the box of its best, until it runs again. */
enum { SS_LUA_SEARCH_BEST = 3 };

const ss_lua_problem *ss_lua_search_problem(lua_State *L, int index); /* of the search there */
uint64_t ss_lua_search_steps(const ss_lua_search *s);                 /* of all chains so far */

/* What a script may ask of a search (lua_search_ask.c). */
extern const ss_lua_field ss_lua_search_fields[];
int ss_lua_search_best_of(lua_State *L);
int ss_lua_search_start_of(lua_State *L);
int ss_lua_search_json(lua_State *L);
int ss_lua_search_text(lua_State *L);

/* A page for a person, and everything as JSON; of a search whose bests were looked at, and the noise of
 * the best of all. */
void ss_lua_search_write_page(const ss_lua_search *s, ss_text *out);
void ss_lua_search_write_json(const ss_lua_search *s, ss_text *out);
/* "12 %, 34 s left, best 512.3 ms (-42.0 %), ...": what a progress line says. */
void ss_lua_search_line(const ss_lua_search *s, double share, double rate, double left_s,
                        char *line, size_t n);

#endif
