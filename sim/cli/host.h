/* host.h - the Lua state of a command, and the one protected call around what it runs. */
#ifndef SS_CLI_HOST_H
#define SS_CLI_HOST_H

#include <lua.h>

#include "cli/args.h"

/* Opens a state, calls `body` in it under a traceback handler, closes it; -> the exit status.  The
 * body returns nothing, or one integer (a status). */
int ss_host_call(ss_cli *cli, lua_CFunction body);

/* Inside a body: the command line that ss_host_call was given. */
ss_cli *ss_host_cli(lua_State *L);

/* The global `arg`, from which a record takes the command that made it: argv[zero] is at 0, what is
 * before it at negative places, as the stock interpreter has it. */
void ss_host_set_arg(lua_State *L, const ss_cli *cli, int zero);

/* Message handler: the error as text, with a traceback under --debug and for what goes wrong inside
 * our own Lua files. */
int ss_host_traceback(lua_State *L);

/* Ctrl-C raises an error in the script, unless work that ends well when it is stopped heeds it
 * (base/watch.h): then the script goes on, and the program ends with the status of an interrupted
 * one.  A second one ends the program. */
void ss_host_catch_interrupt(lua_State *L);
void ss_host_release_interrupt(void);

/* Commands whose body is scripts/lua/commands/NAME.lua: it gets a table of options (by name) and
 * arguments (from 1), and may return an exit status. */
int ss_host_script_command(ss_cli *cli);

/* Pushes the text of `soapstone help WORD`, or raises about a word that is no topic. */
int ss_help_push(lua_State *L, const char *word);

#endif
