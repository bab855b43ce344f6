/* The n-th request for memory fails, and so does every later one, for n = 0, 1, 2, ... while a Lua
 * script builds, simulates and records: each time the script ends with an error about memory, the
 * state closes, nothing is left behind, and a file of the final name is a whole one. */
#include "config.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "io/record.h"
#include "lua/state.h"

#define HERE "fail_in_lua.dir/"
#define OUTPUT HERE "output.h5"

enum { RUNS = 20 };

static char script[4096];

/* Everything that allocates, under one protected call. */
static int run(lua_State *L)
{
    ss_lua_prepare(L, 7);
    lua_createtable(L, 1, 0);
    lua_pushliteral(L, OUTPUT);
    lua_rawseti(L, -2, 1);
    lua_setglobal(L, "arg");
    if (luaL_loadfile(L, script) != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 0);
    return 0;
}

typedef struct outcome {
    int lua; /* LUA_OK, LUA_ERRRUN, LUA_ERRMEM; -1: no state */
    char text[400];
} outcome;

static outcome run_with(int64_t requests)
{
    outcome o = {-1, ""};
    ss_mem_fail_after(requests);
    lua_State *L = ss_lua_new();
    if (L) {
        lua_pushcfunction(L, run);
        o.lua = lua_pcall(L, 0, 0, 0);
        const char *text = o.lua == LUA_OK ? "" : lua_tostring(L, -1);
        snprintf(o.text, sizeof o.text, "%s", text ? text : "(no text)");
        lua_close(L);
    }
    ss_mem_fail_never();
    return o;
}

static bool is_about_memory(const outcome *o)
{
    return o->lua == -1 || o->lua == LUA_ERRMEM || strstr(o->text, "memory") != NULL;
}

/* A file that is there is whole; whatever else is there should not be. */
static bool files_are_clean(ss_error *err)
{
    ss_text text = {0};
    ss_status s = access(OUTPUT, F_OK) == 0 ? ss_record_describe(OUTPUT, false, &text, err) : SS_OK;
    ss_text_free(&text);
    remove(OUTPUT);
    return !s && system("test -z \"$(ls -A " HERE ")\"") == 0;
}

static void a_script_that_runs_out_of_memory_anywhere_ends_cleanly(void)
{
    ss_error err = {0};
    outcome o;
    int64_t n = 0;
    CHECK(run_with(-1).lua == LUA_OK, "%s", run_with(-1).text); /* also what is made only once */
    CHECK(files_are_clean(&err), "%s", err.text);
    size_t blocks = ss_mem_blocks();
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < RUNS; i++) { /* Lua's tables are laid out by addresses: collections move */
        uint64_t before = ss_mem_requests();
        CHECK(run_with(-1).lua == LUA_OK, "again");
        int64_t all = (int64_t)(ss_mem_requests() - before);
        least = all < least ? all : least;
        most = all > most ? all : most;
        CHECK(files_are_clean(&err), "%s", err.text);
    }
    while ((o = run_with(n)).lua != LUA_OK) {
        CHECK(is_about_memory(&o), "request %lld: %s", (long long)n, o.text);
        CHECK(ss_mem_blocks() == blocks, "request %lld: %zu blocks left", (long long)n,
              ss_mem_blocks() - blocks);
        bool is_there = access(OUTPUT, F_OK) == 0;
        CHECK((n % 64 && !is_there) || files_are_clean(&err), "request %lld: %s", (long long)n,
              err.text);
        n++;
    }
    printf("  %lld requests\n", (long long)n);
    /* A collection may come a little earlier or later; anything more was swallowed. */
    CHECK(n <= most + 4 && n + 4 >= least, "it got by with %lld requests of %lld to %lld",
          (long long)n, (long long)least, (long long)most);
    CHECK(ss_mem_blocks() == blocks, "%zu blocks left", ss_mem_blocks() - blocks);
    CHECK(files_are_clean(&err), "%s", err.text);
}

int main(void)
{
    const char *source = getenv("SS_SRCDIR");
    snprintf(script, sizeof script, "%s/tests/memory/short_script.lua", source ? source : "..");
    setenv("SOAPSTONE_HOME", source ? source : "..", 1);
    if (system("rm -rf " HERE) || mkdir("fail_in_lua.dir", 0777))
        return 1;
    RUN(a_script_that_runs_out_of_memory_anywhere_ends_cleanly);
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}
