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

/* Reads the options at `index` for a search of the problem at `problem`; `what` names the call. */
void ss_lua_search_read(lua_State *L, int problem, int index, ss_searcher searcher,
                        const char *what, ss_lua_search_request *out);

/* Starts, moves and configurations alone, around what `out` has for options. */
void ss_lua_search_read_space(lua_State *L, int problem, int index, const char *what,
                              ss_lua_search_request *out);
int ss_lua_search_exhaustive(lua_State *L); /* search.exhaustive */

/* What decides the rows of its log, and what decides how many there are: a line each. */
void ss_lua_search_write_options(const ss_lua_search_request *r, ss_text *out);
void ss_lua_search_write_limits(const ss_search_options *o, ss_text *out);
void ss_lua_search_write_exhaustive(const ss_lua_search_request *r, ss_text *out);

struct ss_lua_search {
    ss_search *search;
    ss_search_options options; /* without the list of configurations */
    ss_search_start *start;    /* [starts], copies */
    uint32_t starts;
    double seconds;   /* that its runs took */
    bool interrupted; /* the last run was told to stop */

    char *log_path;     /* NULL: none */
    ss_trajectory *log; /* open: from where it was made to the end of the first run, and in runs */
    bool log_broken;    /* the search went on where the log could not */
    ss_manifest manifest;
    ss_text problem_text, options_text, limits_text;
    ss_arena arena; /* holds the manifest and the names of starts */
};

/* A page for a person, and everything as JSON. */
void ss_lua_search_page(const ss_lua_search *s, ss_text *out);
void ss_lua_search_json(const ss_lua_search *s, ss_text *out);
/* "12 %, 34 s left, best 512.3 ms (-42.0 %), ...": what a progress line says. */
void ss_lua_search_line(const ss_lua_search *s, double share, double rate, double left_s,
                        char *line, size_t n);

#endif
