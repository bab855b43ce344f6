/* lua_manifest.c - who made a file, and what was in force: for records and for logs. */
#include <config.h>

#include <string.h>

#include <lauxlib.h>

#include "io/record.h"
#include "lua/lua_order.h"
#include "lua/opts.h"
#include "lua/state.h"
#include "lua/types.h"

enum { PATH = 200 };

/* -- who -------------------------------------------------------------------------------------- */

/* Adds a word so that a shell reads it as it is. */
static void add_word(luaL_Buffer *b, const char *word, bool first)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (!first)
        luaL_addchar(b, ' ');
    if (*word && !word[strspn(word, plain)]) {
        luaL_addstring(b, word);
        return;
    }
    luaL_addchar(b, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            luaL_addstring(b, "'\\'");
        luaL_addchar(b, *word);
    }
    luaL_addchar(b, '\'');
}

/* The words of the command line, from `arg`; "" in a host without it. Leaves a text on the stack.
 */
static const char *push_command(lua_State *L)
{
    luaL_Buffer b;
    lua_getglobal(L, "arg");
    int arg = lua_gettop(L);
    if (!lua_istable(L, arg))
        return lua_pushliteral(L, "");
    lua_Integer i = 0;
    while (lua_rawgeti(L, arg, i - 1) == LUA_TSTRING)
        i--;
    lua_settop(L, arg);
    /* A buffer may lie on the stack, so all words go there before it. */
    lua_Integer first = i;
    while (lua_rawgeti(L, arg, i) == LUA_TSTRING) {
        luaL_checkstack(L, 4, "too many words");
        i++;
    }
    lua_pop(L, 1);
    luaL_buffinit(L, &b);
    for (lua_Integer k = first; k < i; k++)
        add_word(&b, lua_tostring(L, arg + 1 + (int)(k - first)), k == first);
    luaL_pushresult(&b);
    return lua_tostring(L, -1);
}

/* What `soapstone run` noted, or the script of a host: arg[0] where it is the name of a Lua file.
 * The program's own commands have no script; the command says all. */
static void read_script(lua_State *L, ss_manifest *m)
{
    m->script_name = ss_lua_script(L, &m->script_text);
    if (m->script_name)
        return;
    m->script_name = m->script_text = "";
    lua_getglobal(L, "arg");
    if (lua_istable(L, -1) && lua_rawgeti(L, -1, 0) == LUA_TSTRING)
        m->script_name = lua_tostring(L, -1); /* stays on the stack */
    size_t n = strlen(m->script_name);
    if (n < 4 || strcmp(m->script_name + n - 4, ".lua") != 0)
        m->script_name = "";
}

const ss_manifest_file *ss_lua_manifest_files(lua_State *L, int index, const char *what,
                                              uint32_t *n)
{
    char path[PATH];
    *n = 0;
    if (ss_lua_push_option(L, index, "files") == LUA_TNIL)
        return NULL;
    if (!lua_istable(L, -1))
        ss_lua_refuse(L, "%s: option 'files' should be a table, not %s", what,
                      ss_lua_kind_of(L, -1));
    int table = lua_gettop(L);
    ss_lua_push_sorted_keys(L, table);
    int keys = lua_gettop(L); /* keeps the names */
    uint32_t count = (uint32_t)lua_rawlen(L, keys);
    ss_manifest_file *file = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *file, 0);
    for (; *n < count; ++*n) {
        lua_rawgeti(L, keys, (lua_Integer)*n + 1);
        lua_pushvalue(L, -1);
        lua_rawget(L, table);
        if (lua_type(L, -2) != LUA_TSTRING)
            ss_lua_refuse(
                L, "%s: option 'files' should be a table of texts by the names of their files",
                what);
        ss_lua_name(path, sizeof path, "%s: option 'files.%.60s'", what, lua_tostring(L, -2));
        file[*n] = (ss_manifest_file){ss_lua_text(L, -2, path), ss_lua_text(L, -1, path)};
        lua_pop(L, 2);
    }
    return file; /* stays on the stack */
}

void ss_lua_manifest(lua_State *L, ss_manifest *out)
{
    out->version = PACKAGE_VERSION;
    out->command = push_command(L);
    out->seed = ss_lua_seed(L);
    read_script(L, out);
}

/* -- what was in force ------------------------------------------------------------------------- */

void ss_lua_write_options(const ss_lower_options *o, const ss_topology *t, const char *costs,
                          ss_text *out)
{
    ss_text_add(out, "costs = %s\n", costs);
    ss_text_add(out, "training = %s\n", o->training ? "true" : "false");
    ss_text_add(out, "lumped = %s\n", o->lumped ? "true" : "false");
    ss_text_add(out, "coalesce = %s\n", o->coalesce == SS_COALESCE_NONE ? "none" : "per_device");
    ss_text_add(out, "sync = %s\n", ss_sync_name(o->sync));
    ss_text_add(out, "overlap = %s\n", o->overlap ? "true" : "false");
    ss_text_add(out, "aggregate = %s\n", o->aggregate ? "true" : "false");
    ss_text_add(out, "chunk = %lld\n", (long long)o->chunk_bytes);
    ss_text_add(out, "partial_sums = %s\n", o->partial_sums ? "true" : "false");
    ss_text_add(out, "gather = %s\n", o->gather ? "true" : "false");
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "update_passes = %s\n",
                ss_format_double(o->update_passes, digits, sizeof digits));
    ss_text_add(out, "links = %s\n", ss_links_mode_name(o->links));
    char limit[SS_DOUBLE_TEXT];
    ss_text_add(out, "ideal_links = %s\n", o->ideal_links ? "true" : "false");
    ss_text_add(out, "flow_limit = %s\n", ss_format_double(o->flow_limit, limit, sizeof limit));
    ss_text_add(out, "segment = %lld\n", (long long)o->segment_bytes);
    ss_text_add(out, "max_segments = %u\n", (unsigned)o->max_segments);
    ss_text_add(out, "order = %s\n", ss_order_name(o->run.order));
    ss_text_add(out, "streams = %u\n", (unsigned)o->run.streams);
    ss_text_add(out, "copies_block = %s\n", o->run.copies_block ? "true" : "false");
    ss_text_add(out, "blocked_end = %s\n", ss_blocked_end_name(o->run.blocked_end));
    ss_text_add(out, "slowed_by_copies = %s\n",
                ss_format_double(o->run.slowed_by_copies, digits, sizeof digits));
    ss_text_add(out, "interference = %s\n",
                ss_format_double(o->run.interference, digits, sizeof digits));
    ss_text_add(out, "chance = ");
    if (o->chance)
        ss_chance_write(o->chance, out);
    else
        ss_text_add(out, "none");
    if (o->repetition)
        ss_text_add(out, "\nrepetition = %u", (unsigned)o->repetition);
    ss_text_add(out, "\nevents = ");
    ss_lua_write_events(&o->run, t, out);
    ss_text_add(out, "\n");
}

/* Those of the problem: which source answers how much is each timeline's to say. */
ss_status ss_lua_problem_options(const ss_lua_problem *p, ss_text *out, ss_error *err)
{
    ss_text costs = {0}, notes = {0};
    ss_costs_count(p->costs);
    ss_status s = ss_costs_say(p->costs, &costs, &notes, err);
    ss_lua_write_options(&p->options, p->topology, ss_text_get(&costs), out);
    ss_text_free(&costs);
    ss_text_free(&notes);
    return s ? s : ss_text_status(out, err);
}
