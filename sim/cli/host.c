#include <config.h>

#include "cli/host.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/clock.h"
#include "lua/box.h"
#include "lua/state.h"

static const char CLI = 0; /* address is the registry's key */

ss_cli *ss_host_cli(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &CLI);
    ss_cli *cli = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return cli;
}

/* -- Ctrl-C ----------------------------------------------------------------------------------- */

static lua_State *interrupted; /* whom the signal is for; a signal handler gets no context */
static volatile sig_atomic_t was_interrupted;
static bool was_heeded; /* it stopped work that ends well, and the script went on */
enum { STATUS_INTERRUPTED = 128 + SIGINT }; /* as a shell has it */

/* The hook stays until the call is over: a pcall of the script's catches this once, and its next
 * line raises again.  The place is the script's, never that of a file of ours. */
static void raise_in_hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    ss_error err;
    ss_fail(&err, SS_ESTOPPED, "interrupted");
    ss_lua_raise(L, &err);
}

static void on_interrupt(int signal_number)
{
    signal(signal_number, SIG_DFL); /* the next one ends the program */
    was_interrupted = 1;
    /* not on calls: the error's own handler is one */
    lua_sethook(interrupted, raise_in_hook, LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

void ss_host_catch_interrupt(lua_State *L)
{
    interrupted = L;
    was_interrupted = 0;
    was_heeded = false;
    signal(SIGINT, on_interrupt);
}

void ss_host_release_interrupt(void)
{
    signal(SIGINT, SIG_DFL);
    if (interrupted)
        lua_sethook(interrupted, NULL, 0, 0); /* it came when the work was done: nothing to stop */
}

/* -- long work -------------------------------------------------------------------------------- */

enum { LINE = 512, PATIENCE = 2 /* s: what is done by then needs no progress line */ };
static const double SHOW_EVERY = 0.2; /* s */

typedef struct sight {
    double began, shown; /* s on a steady clock; 0: not yet */
} sight;

static uint32_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

/* A line that the next one replaces: one that is wider than the terminal could not be. */
static void show(const char *what, double percent, bool known)
{
    char line[LINE];
    uint32_t most = terminal_columns() - 1;
    if (known)
        snprintf(line, sizeof line, "%s: %.0f %%", what, percent);
    else
        snprintf(line, sizeof line, "%s", what);
    fprintf(stderr, "\r\033[K%.*s", (int)(most < LINE ? most : LINE - 1), line);
    fflush(stderr);
}

static ss_status look(void *context, const char *what, double done, double whole, ss_error *err)
{
    sight *s = context;
    double percent = whole > 0 ? 100 * done / whole : 0, now = ss_seconds_now();
    if (was_interrupted)
        return ss_fail(err, SS_ESTOPPED, "interrupted while %s (%.0f %% done)",
                       what ? what : "working", percent);
    if (s->began == 0)
        s->began = now;
    if (!what || now - s->began < PATIENCE || now - s->shown < SHOW_EVERY || !isatty(STDERR_FILENO))
        return SS_OK;
    show(what, percent, whole > 0);
    s->shown = now;
    return SS_OK;
}

static void over(void *context)
{
    sight *s = context;
    if (s->shown > 0)
        fputs("\r\033[K", stderr);
    *s = (sight){0};
}

/* The script goes on; the next Ctrl-C ends the program. */
static void heeded(void *context)
{
    (void)context;
    if (interrupted)
        lua_sethook(interrupted, NULL, 0, 0);
    was_heeded = was_interrupted;
    was_interrupted = 0;
}

/* -- the protected call ----------------------------------------------------------------------- */

/* Whether the innermost Lua function is a file of ours: then the error is ours to explain. */
static bool raised_in_own_file(lua_State *L)
{
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0)
            return ss_lua_is_own_source(L, ar.source);
    }
    return false;
}

int ss_host_traceback(lua_State *L)
{
    const char *message = lua_tostring(L, 1);
    if (!message) {
        if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
            return 1;
        luaL_where(L, 2); /* 1 is `error` itself */
        message =
            lua_pushfstring(L, "%s(the error is %s)", lua_tostring(L, -1), ss_lua_kind_of(L, 1));
    }
    ss_cli *cli = ss_host_cli(L);
    bool debug = cli && ss_args_has(cli, "debug");
    bool bug_of_ours = !was_interrupted && !ss_lua_was_refused(L, message) && raised_in_own_file(L);
    if (debug || bug_of_ours)
        luaL_traceback(L, L, message, 1);
    else
        lua_pushstring(L, message);
    return 1;
}

typedef struct job {
    ss_cli *cli;
    lua_CFunction body;
    int64_t seed;
    const ss_watch *watch;
} job;

/* Everything that may run out of memory or raise. */
static int protected_main(lua_State *L)
{
    job *j = lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_pushlightuserdata(L, j->cli);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &CLI);
    ss_lua_prepare(L, (uint64_t)j->seed);
    ss_lua_set_watch(L, j->watch);
    ss_host_catch_interrupt(L);
    lua_pushcfunction(L, j->body);
    lua_call(L, 0, 1);
    return 1;
}

static int report(lua_State *L, int outcome)
{
    if (outcome == LUA_OK) {
        int status = lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : 0;
        return was_heeded && !status ? STATUS_INTERRUPTED : status;
    }
    const char *message = lua_tostring(L, -1);
    fflush(stdout);
    fprintf(stderr, "soapstone: %s\n", message ? message : "an error without a message");
    if (was_interrupted)
        return STATUS_INTERRUPTED;
    if (outcome == LUA_ERRMEM)
        return ss_status_exit(SS_ENOMEM);
    return ss_status_exit(ss_lua_raised_status(L, message));
}

int ss_host_call(ss_cli *cli, lua_CFunction body)
{
    ss_error err;
    sight s = {0};
    ss_watch watch = {.context = &s, .look = look, .over = over, .heeded = heeded};
    job j = {.cli = cli, .body = body, .watch = &watch};
    if (ss_args_integer(cli, "seed", 0, &j.seed, &err))
        return ss_cli_fail(&err);
    if (j.seed < 0 || j.seed > (int64_t)1 << 53) {
        ss_fail(&err, SS_EINVAL, "--seed is %lld; it must be from 0 to 2^53", (long long)j.seed);
        return ss_cli_fail(&err);
    }
    lua_State *L = ss_lua_new();
    if (!L) {
        ss_fail_memory(&err, "a Lua state", 0);
        return ss_cli_fail(&err);
    }
    lua_pushcfunction(L, ss_host_traceback);
    lua_pushcfunction(L, protected_main);
    lua_pushlightuserdata(L, &j);
    int status = report(L, lua_pcall(L, 1, 1, 1));
    ss_host_release_interrupt();
    lua_close(L);
    return status;
}

/* -- commands written in Lua ------------------------------------------------------------------ */

/* { json = true, links = "fifo-hop", option = { "a=1", "b=2" }, "FILE", ... } */
static void push_arguments(lua_State *L, const ss_cli *cli)
{
    lua_newtable(L);
    for (uint32_t i = 0; i < cli->arguments; i++) {
        lua_pushstring(L, cli->argument[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    for (uint32_t i = 0; i < cli->givens; i++) {
        const ss_given *g = &cli->given[i];
        if (!g->value) {
            lua_pushboolean(L, 1);
            lua_setfield(L, -2, g->flag->name);
            continue;
        }
        if (lua_getfield(L, -1, g->flag->name) == LUA_TNIL) {
            lua_pop(L, 1);
            lua_newtable(L);
            lua_pushvalue(L, -1);
            lua_setfield(L, -3, g->flag->name);
        }
        lua_pushstring(L, g->value);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        lua_pop(L, 1);
    }
}

void ss_host_set_arg(lua_State *L, const ss_cli *cli, int zero)
{
    lua_createtable(L, cli->argc - zero, zero + 1);
    for (int i = 0; i < cli->argc; i++) {
        lua_pushstring(L, cli->argv[i]);
        lua_rawseti(L, -2, i - zero);
    }
    lua_setglobal(L, "arg");
}

static int script_body(lua_State *L)
{
    ss_cli *cli = ss_host_cli(L);
    ss_host_set_arg(L, cli, 1);
    const char *path =
        lua_pushfstring(L, "%s/scripts/lua/commands/%s.lua", ss_lua_home(L), cli->command->name);
    if (luaL_loadfilex(L, path, "t"))
        return lua_error(L);
    push_arguments(L, cli);
    lua_call(L, 1, 1);
    return 1;
}

int ss_host_script_command(ss_cli *cli)
{
    return ss_host_call(cli, script_body);
}
