/* cmd_run.c - soapstone run FILE.lua [ARG...] */
#include <string.h>

#include <lauxlib.h>

#include "cli/commands.h"
#include "cli/host.h"
#include "io/file.h"
#include "lua/box.h"
#include "lua/state.h"

enum { MOST_SCRIPT = 64 << 20 };

/* The whole script, so that the record can have the very text that ran. */
static int load_script(lua_State *L, const char *script)
{
    bool from_stdin = !strcmp(script, "-");
    const char *path = from_stdin ? "/dev/stdin" : script;
    ss_text *text = ss_lua_text_new(L);

    ss_error err;
    if (ss_file_read(path, MOST_SCRIPT, text, &err))
        return ss_lua_raise(L, &err);

    ss_lua_text_push(L, text);
    size_t n;
    const char *chunk = lua_tolstring(L, -1, &n);
    lua_pushvalue(L, -1);
    lua_pushstring(L, from_stdin ? "stdin" : script);
    ss_lua_note_script(L);
    if (n >= 3 &&
        !memcmp(chunk, "\xef\xbb\xbf", 3)) { /* the mark that some editors begin UTF-8 with */
        chunk += 3;
        n -= 3;
    }
    if (*chunk == '#') { /* "#!/usr/bin/env soapstone": its newline stays, so lines keep numbers */
        size_t first = strcspn(chunk, "\n");
        chunk += first;
        n -= first;
    }
    const char *name = from_stdin ? "=stdin" : lua_pushfstring(L, "@%s", script);
    if (luaL_loadbufferx(L, chunk, n, name, "t"))
        return lua_error(L); /* a syntax error has its place in it */
    return 1;
}

static int body(lua_State *L)
{
    ss_cli *cli = ss_host_cli(L);
    const char *script = cli->argument[0];
    ss_host_set_arg(L, cli, cli->first);
    ss_lua_add_script_folder(L, script);
    load_script(L, script);
    int n = 0;
    luaL_checkstack(L, cli->argc + 1, "too many arguments for the script");
    for (int i = cli->first + 1; i < cli->argc; i++, n++)
        lua_pushstring(L, cli->argv[i]);
    lua_call(L, n, 0);
    return 0;
}

static int run(ss_cli *cli)
{
    return ss_host_call(cli, body);
}

static const ss_flag flags[] = {
    {"seed", 0, "N", "where math.random starts; 0 unless given"},
    {"debug", 0, NULL, "errors come with a traceback"},
    {0},
};

const ss_command ss_command_run = {
    .name = "run",
    .summary = "Runs a Lua script",
    .usage = "run [--seed N] [--debug] FILE.lua [ARGUMENT...]",
    .about = "The script finds its arguments in `arg` and `...`; - reads it from standard input.\n"
             "Two runs of one script with the same arguments and seed give the same output.",
    .flags = flags,
    .example = "soapstone run scripts/lua/experiments/first.lua results/",
    .least = 1,
    .rest_is_scripts = true,
    .run = run,
};
