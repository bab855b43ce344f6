/* cmd_repl.c - soapstone repl: a prompt.
 *
 * An expression is printed, a statement is run, a chunk that is not complete goes on in the next
 * line.  From a pipe there are no prompts, and the first error ends the program, as in a script.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "cli/commands.h"
#include "cli/host.h"
#include "cli/prompt.h"
#include "lua/box.h"
#include "lua/opts.h"
#include "lua/state.h"

/* -- completion ------------------------------------------------------------------------------- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Appends the string keys of the table on top of the stack that begin with `start`; sorted later.
 */
static void add_keys(lua_State *L, const char *path, const char *start, ss_text *out)
{
    size_t n = strlen(start);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        bool plain = *name && !isdigit((unsigned char)*name) && strncmp(name, "__", 2) != 0;
        for (const char *c = name; *c; c++)
            plain = plain && in_name(*c);
        if (plain && !strncmp(name, start, n))
            ss_text_add(out, "%s%s\n", path, name);
    }
}

/* Replaces the value on top by the tables that its names are in: itself, or fields and methods. */
static void add_names_of(lua_State *L, const char *path, const char *start, ss_text *out)
{
    static const char *const tables[] = {"__fields", "__methods"};
    if (lua_istable(L, -1)) {
        add_keys(L, path, start, out);
        return;
    }
    if (!lua_getmetatable(L, -1))
        return;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        lua_pushstring(L, tables[i]);
        if (lua_rawget(L, -2) == LUA_TTABLE)
            add_keys(L, path, start, out);
        lua_pop(L, 1);
    }
    if (lua_pushliteral(L, "__index"), lua_rawget(L, -2) == LUA_TTABLE)
        add_keys(L, path, start, out); /* strings */
    lua_pop(L, 2);
}

typedef struct request {
    const char *word; /* "t:lin", not ended */
    size_t n;
    ss_text *out;
} request;

/* Walks word up to its last dot or colon. Getters of ours may raise (closed), hence protected. */
static int complete_protected(lua_State *L)
{
    request *r = lua_touserdata(L, 1);
    const char *word = lua_pushlstring(L, r->word, r->n);
    lua_pushglobaltable(L);
    const char *at = word;
    for (;;) {
        size_t n = strcspn(at, ".:");
        if (!at[n])
            break;
        lua_pushlstring(L, at, n);
        if (lua_type(L, -2) == LUA_TTABLE)
            lua_rawget(L, -2);
        else if (luaL_getmetafield(L, -2, "__fields") == LUA_TTABLE)
            lua_pop(L, 1), lua_gettable(L, -2);
        else
            return 0;
        at += n + 1;
    }
    const char *path = lua_pushlstring(L, word, (size_t)(at - word));
    lua_insert(L, -2);
    add_names_of(L, path, at, r->out);
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines of a text in their order, each once. */
static void sort_lines(ss_text *text)
{
    enum { MOST = 512 };
    const char *line[MOST];
    uint32_t n = 0;
    ss_text sorted = {0};
    for (char *at = text->at; at && *at && n < MOST; n++) {
        line[n] = at;
        at += strcspn(at, "\n");
        *at++ = '\0';
    }
    qsort(line, n, sizeof *line, compare_lines);
    for (uint32_t i = 0; i < n; i++)
        if (!i || strcmp(line[i], line[i - 1]) != 0)
            ss_text_add(&sorted, "%s\n", line[i]);
    ss_text_free(text);
    *text = sorted;
}

static size_t complete(void *context, const char *line, size_t n, ss_text *out)
{
    lua_State *L = context;
    size_t begin = n;
    while (begin > 0 &&
           (in_name(line[begin - 1]) || line[begin - 1] == '.' || line[begin - 1] == ':'))
        begin--;
    request r = {line + begin, n - begin, out};
    int top = lua_gettop(L);
    lua_pushcfunction(L, complete_protected);
    lua_pushlightuserdata(L, &r);
    if (lua_pcall(L, 1, 0, 0))
        ss_text_clear(out);
    lua_settop(L, top);
    sort_lines(out);
    return n - begin;
}

/* -- chunks ----------------------------------------------------------------------------------- */

static bool is_incomplete(lua_State *L)
{
    static const char mark[] = "<eof>";
    size_t n;
    const char *message = lua_tolstring(L, -1, &n);
    return message && n >= sizeof mark - 1 && !strcmp(message + n - (sizeof mark - 1), mark);
}

/* Lines before the chunk, from a pipe: errors then have the line of the input.  Lua reads them
 * again for each chunk, which a long input does not make a prompt for. */
typedef struct chunk_at {
    bool counted;
    uint32_t first; /* line of its first line, from 1 */
} chunk_at;

static int load_text(lua_State *L, const chunk_at *at, const char *before, const char *chunk)
{
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (uint32_t i = 1; at->counted && i < at->first; i++)
        luaL_addchar(&text, '\n');
    luaL_addstring(&text, before);
    luaL_addstring(&text, chunk);
    luaL_pushresult(&text);
    size_t n;
    const char *whole = lua_tolstring(L, -1, &n);
    int outcome = luaL_loadbufferx(L, whole, n, "=stdin", "t");
    lua_remove(L, -2);
    return outcome;
}

/* Leaves a function, or an error message, on the stack.  "1 +" is the beginning of an expression
 * and no statement at all: then what the expression lacks is the message. */
static int load_chunk(lua_State *L, const chunk_at *at, const char *chunk)
{
    bool equals = chunk[0] == '=';
    int outcome = load_text(L, at, "return ", equals ? chunk + 1 : chunk);
    if (outcome == LUA_OK || equals)
        return outcome;
    bool begun = is_incomplete(L);
    int expression = lua_gettop(L);
    outcome = load_text(L, at, "", chunk);
    if (begun && outcome == LUA_ERRSYNTAX && !is_incomplete(L))
        lua_pop(L, 1);
    else
        lua_remove(L, expression);
    return outcome;
}

/* Reads lines until a chunk is whole; false at the end of the input. */
static bool read_chunk(lua_State *L, ss_prompt *p, chunk_at *at, ss_text *line, ss_text *chunk,
                       int *outcome)
{
    uint32_t lines = 0;
    ss_text_clear(chunk);
    for (;;) {
        ss_read got = ss_prompt_read(p, chunk->n ? "... " : "> ", line);
        if (got == SS_READ_CANCELLED) {
            ss_text_clear(chunk);
            continue;
        }
        if (got == SS_READ_END && !chunk->n)
            return false;
        if (got == SS_READ_LINE) {
            ss_text_add(chunk, "%s%s", chunk->n ? "\n" : "", ss_text_get(line));
            lines++;
        }
        *outcome = load_chunk(L, at, ss_text_get(chunk));
        if (got == SS_READ_END || *outcome != LUA_ERRSYNTAX || !is_incomplete(L)) {
            at->first += lines;
            return true;
        }
        lua_pop(L, 1);
    }
}

/* "exit" or "quit", unless the script has something of that name. */
static bool asks_to_end(lua_State *L, const char *chunk)
{
    static const char *const words[] = {"exit", "quit", "exit()", "quit()"};
    size_t n = strcspn(chunk, " \t();");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(chunk, words[i]) != 0)
            continue;
        lua_pushglobaltable(L);
        lua_pushlstring(L, chunk, n);
        bool ours = lua_rawget(L, -2) == LUA_TNIL;
        lua_pop(L, 2);
        return ours;
    }
    return false;
}

/* -- printing --------------------------------------------------------------------------------- */

enum { MOST_ENTRIES = 24, MOST_VALUE = 72 };

/* "name = ..." of a table that is called something: a device of a result, a link, a step. */
static bool print_name(lua_State *L, int index)
{
    lua_pushliteral(L, "name");
    bool named = lua_rawget(L, index) == LUA_TSTRING;
    if (named)
        printf("{ name = \"%.*s\", ... }", MOST_VALUE, lua_tostring(L, -1));
    lua_pop(L, 1);
    return named;
}

/* A value in a table's listing: one line, cut. */
static void print_entry(lua_State *L, int index)
{
    size_t n;
    bool text = lua_type(L, index) == LUA_TSTRING;
    if (lua_istable(L, index) && luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) {
        lua_Integer items = (lua_Integer)lua_rawlen(L, index);
        if (print_name(L, index))
            return;
        if (items)
            printf("{ ... } -- list of %lld", (long long)items);
        else
            fputs((lua_pushnil(L), lua_next(L, index)) ? "{ ... }" : "{}", stdout);
        return;
    }
    if (lua_isfunction(L, index)) { /* where it lies in memory is chance */
        fputs("function", stdout);
        return;
    }
    const char *line = luaL_tolstring(L, index, &n);
    size_t cut = strcspn(line, "\n");
    cut = cut < MOST_VALUE ? cut : MOST_VALUE;
    printf("%s%.*s%s%s", text ? "\"" : "", (int)cut, line, cut < n ? "..." : "", text ? "\"" : "");
}

/* Whether every key has a place in the order. */
static bool has_plain_keys(lua_State *L, int index)
{
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        int t = lua_type(L, -2);
        if (t != LUA_TNUMBER && t != LUA_TSTRING && t != LUA_TBOOLEAN) {
            lua_pop(L, 2);
            return false;
        }
    }
    return true;
}

/* One level of a table, its keys in their order. */
static void print_table(lua_State *L, int index)
{
    ss_lua_push_sorted_keys(L, index);
    int keys = lua_gettop(L);
    lua_Integer n = (lua_Integer)lua_rawlen(L, keys);
    fputs(n ? "{\n" : "{", stdout);
    for (lua_Integer i = 1; i <= n && i <= MOST_ENTRIES; i++) {
        lua_rawgeti(L, keys, i);
        bool name = lua_type(L, -1) == LUA_TSTRING;
        printf(name ? "  %s = " : "  [%s] = ", luaL_tolstring(L, -1, NULL));
        lua_pop(L, 1);
        lua_rawget(L, index);
        print_entry(L, lua_gettop(L));
        fputc('\n', stdout);
        lua_settop(L, keys);
    }
    if (n > MOST_ENTRIES)
        printf("  ... and %lld more\n", (long long)(n - MOST_ENTRIES));
    fputc('}', stdout);
    lua_settop(L, keys - 1);
}

static void print_results(lua_State *L, int first)
{
    int last = lua_gettop(L);
    for (int i = first; i <= last; i++) {
        size_t n;
        if (lua_istable(L, i) && luaL_getmetafield(L, i, "__tostring") == LUA_TNIL &&
            has_plain_keys(L, i)) {
            fputs(i > first ? "\t" : "", stdout);
            print_table(L, i);
            continue;
        }
        lua_settop(L, last);
        const char *text = luaL_tolstring(L, i, &n);
        fputs(i > first ? "\t" : "", stdout);
        fwrite(text, 1, n, stdout);
        lua_pop(L, 1);
    }
    if (last >= first)
        fputc('\n', stdout);
    fflush(stdout);
}

/* luaL_tolstring may call a __tostring of the script's. */
static int print_protected(lua_State *L)
{
    print_results(L, 1);
    return 0;
}

static int call_chunk(lua_State *L, const ss_prompt *prompt)
{
    int base = lua_gettop(L);
    lua_pushcfunction(L, ss_host_traceback);
    lua_insert(L, base);
    ss_host_catch_interrupt(L);
    ss_prompt_let_interrupt(prompt);
    int outcome = lua_pcall(L, 0, LUA_MULTRET, base);
    if (outcome == LUA_OK) {
        lua_pushcfunction(L, print_protected);
        lua_insert(L, base + 1);
        outcome = lua_pcall(L, lua_gettop(L) - base - 1, 0, base);
    }
    ss_prompt_hold_interrupt(prompt);
    ss_host_release_interrupt();
    lua_remove(L, base);
    return outcome;
}

/* -- help at the prompt ------------------------------------------------------------------------ */

/* help "conv2d" -> text, which the prompt prints */
static int help_on(lua_State *L)
{
    ss_help_push(L, ss_lua_text(L, 2, "help: the topic"));
    size_t n;
    const char *text = lua_tolstring(L, -1, &n);
    lua_pushlstring(L, text, n && text[n - 1] == '\n' ? n - 1 : n);
    return 1;
}

static int help_text(lua_State *L)
{
    lua_pushliteral(
        L,
        "help \"TOPIC\" explains a topic: help \"topics\" lists them all, help \"operators\" the\n"
        "kinds of operators, help \"conv2d\" the options of one, help \"models\" and\n"
        "help \"topologies\" what is ready-made, help \"result\" what a result can be asked.\n"
        "  m = require \"models.mlp\" {}\n"
        "  t = require \"topologies.ring\" {}\n"
        "  p = soapstone.problem { model = m, topology = t }\n"
        "  r = p:simulate(p:strategy \"data_parallel\")\n"
        "  r\n"
        "An expression is printed; Tab completes names; Ctrl-D ends.");
    return 1;
}

/* The global `help`: a value that prints itself and can be called. */
static void set_help(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, help_on);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, help_text);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    lua_setglobal(L, "help");
}

/* -- the loop --------------------------------------------------------------------------------- */

typedef struct repl {
    ss_prompt *prompt;
    ss_text line, chunk;
} repl;

static int body(lua_State *L)
{
    repl *r = ss_host_cli(L)->data;
    ss_error err;
    if (ss_prompt_new(complete, L, &r->prompt, &err))
        return ss_lua_raise(L, &err);
    bool talks = ss_prompt_interactive(r->prompt);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "soapstone");
    lua_call(L, 1, 1);
    if (talks) {
        lua_getfield(L, -1, "version");
        printf("soapstone %s, %s. The module is in the global soapstone; help says more; "
               "Ctrl-D ends.\n",
               lua_tostring(L, -1), LUA_RELEASE);
        lua_pop(L, 1);
    }
    lua_setglobal(L, "soapstone");
    set_help(L);
    int outcome;
    chunk_at at = {.counted = !talks, .first = 1};
    while (read_chunk(L, r->prompt, &at, &r->line, &r->chunk, &outcome)) {
        ss_prompt_remember(r->prompt, ss_text_get(&r->chunk));
        if (asks_to_end(L, ss_text_get(&r->chunk)))
            break;
        if (outcome == LUA_OK)
            outcome = call_chunk(L, r->prompt);
        if (outcome != LUA_OK && !talks)
            return lua_error(L);
        if (outcome != LUA_OK) {
            const char *message = lua_tostring(L, -1);
            fprintf(stderr, "%s\n", message ? message : "an error without a message");
        }
        lua_settop(L, 0);
    }
    return 0;
}

static int run(ss_cli *cli)
{
    repl r = {0};
    cli->data = &r;
    int status = ss_host_call(cli, body);
    ss_prompt_free(r.prompt);
    ss_text_free(&r.line);
    ss_text_free(&r.chunk);
    return status;
}

static const ss_flag flags[] = {
    {"seed", 0, "N", "where math.random starts; 0 unless given"},
    {"debug", 0, NULL, "errors come with a traceback"},
    {0},
};

const ss_command ss_command_repl = {
    .name = "repl",
    .summary = "A prompt for Lua, with soapstone loaded",
    .usage = "repl [--seed N] [--debug]",
    .about =
        "Expressions are printed, tables one level deep; what is not complete goes on in the next\n"
        "line; Tab completes names, fields and methods; Ctrl-C cancels; Ctrl-D, exit or quit\n"
        "ends it; help \"TOPIC\" says what soapstone help TOPIC does; the history is kept in\n"
        "$XDG_STATE_HOME/soapstone/history. From a pipe there are no prompts, and the first\n"
        "error ends it.",
    .flags = flags,
    .example = "echo 'print(soapstone.version)' | soapstone repl",
    .run = run,
};
