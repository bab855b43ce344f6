/* cmd_help.c - soapstone help [TOPIC] */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/host.h"
#include "graph/op.h"
#include "lua/library.h"
#include "lua/lua_fit.h"
#include "lua/lua_profile.h"
#include "lua/lua_trace.h"
#include "lua/types.h"

static void add_preset(const ss_attr_def *a, ss_text *out)
{
    char preset[SS_ATTR_TEXT];
    if (a->preset == SS_ATTR_REQUIRED)
        ss_text_add(out, "; must be given\n");
    else
        ss_text_add(out, "; %s unless given\n", ss_attr_text(a, a->preset, preset, sizeof preset));
}

static void add_attribute(const ss_attr_def *a, ss_text *out)
{
    ss_text_add(out, "  %-16s %s", a->name, a->help);
    if (a->choices && strcmp(a->choices, "bool")) {
        ss_text_add(out, ": ");
        for (const char *c = a->choices; *c; c++)
            if (*c == '|')
                ss_text_add(out, ", ");
            else
                ss_text_add_bytes(out, c, 1);
    }
    add_preset(a, out);
}

/* kernel, as most people write it, before kernel_h and kernel_w. */
static void add_pair(const ss_attr_def *h, const char *stem, ss_text *out)
{
    ss_text_add(out, "  %-16s %s and %s at once: a number, or { h, w }", stem, h[0].name,
                h[1].name);
    add_preset(h, out);
    for (int i = 0; i < 2; i++)
        ss_text_add(out, "    %-14s %s\n", h[i].name, h[i].help);
}

/* "{ out =, kernel =, ... }": what must be given. */
static void add_call(const ss_op_kind *kind, ss_text *out)
{
    char stem[SS_ATTR_STEM];
    uint32_t n = ss_op_kind_attrs(kind);
    ss_text_add(out, "model:%s(name, %s, {", kind->name,
                kind->max_inputs == 1 ? "tensor" : "{ tensors }");
    for (uint32_t i = 0; i < n; i++) {
        bool pair = ss_op_kind_pair(kind, i, stem);
        if (kind->attr[i].preset == SS_ATTR_REQUIRED)
            ss_text_add(out, " %s =,", pair ? stem : kind->attr[i].name);
        i += pair;
    }
    ss_text_add(out, " ... })\n");
}

static void add_kind(const ss_op_kind *kind, ss_text *out)
{
    char stem[SS_ATTR_STEM];
    uint32_t n = ss_op_kind_attrs(kind);
    add_call(kind, out);
    ss_text_add(out, "\n%s\n\noptions:\n", kind->summary);
    for (uint32_t i = 0; i < n; i++) {
        const ss_attr_def *a = &kind->attr[i];
        if (!ss_op_kind_pair(kind, i, stem) || a[0].preset != a[1].preset) {
            add_attribute(a, out);
            continue;
        }
        add_pair(a, stem, out);
        i++;
    }
    ss_text_add(out, "  %-16s operators with one label share their weights\n", "share");
    ss_text_add(out, "  %-16s a number for grouping and placement; 0: none\n", "layer");
}

static void add_kinds(ss_text *out)
{
    uint32_t n;
    const ss_op_kind *const *kinds = ss_op_kinds(&n);
    for (uint32_t i = 0; i < n; i++)
        ss_text_add(out, "%-22s %s\n", kinds[i]->name, kinds[i]->summary);
    ss_text_add(out, "\nsoapstone help KIND lists the options of one.\n");
}

/* What a script can hold. */
static const ss_lua_type *const types[] = {
    &ss_lua_model_type,       &ss_lua_tensor_type,  &ss_lua_topology_type, &ss_lua_node_type,
    &ss_lua_costs_type,       &ss_lua_problem_type, &ss_lua_strategy_type, &ss_lua_result_type,
    &ss_lua_run_type,         &ss_lua_search_type,  &ss_lua_fit_type,      &ss_lua_chance_type,
    &ss_lua_repetitions_type, &ss_lua_profile_type, &ss_lua_trace_type,
};
enum { TYPES = sizeof types / sizeof *types };

static const ss_lua_type *find_type(const char *noun)
{
    for (int i = 0; i < TYPES; i++)
        if (!strcmp(types[i]->noun, noun))
            return types[i];
    return NULL;
}

static void add_type(const ss_lua_type *type, ss_text *out)
{
    for (const ss_lua_field *f = type->fields; f && f->name; f++)
        ss_text_add(out, "%s.%-16s %s\n", type->noun, f->name, f->help);
    if (type == &ss_lua_model_type)
        ss_text_add(out,
                    "%s:KIND(name, tensors, { options }) -> tensors: adds an operator; soapstone "
                    "help operators\n",
                    type->noun);
    for (const ss_lua_method *m = type->methods; m && m->name; m++)
        ss_text_add(out, "%s:%s%s\n", type->noun, m->name, m->help);
    if (type->free)
        ss_text_add(out, "%s:close(): frees it before the collector does\n", type->noun);
    ss_text_add(out, "\ndocs/lua-api.md has examples.\n");
}

static void add_units(ss_text *out)
{
    static const ss_unit units[] = {SS_UNIT_SECONDS,          SS_UNIT_BYTES,
                                    SS_UNIT_BYTES_PER_SECOND, SS_UNIT_FLOP,
                                    SS_UNIT_FLOP_PER_SECOND,  SS_UNIT_NONE};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        ss_text_add(out, "%-18s such as %s\n", ss_unit_name(units[i]), ss_unit_example(units[i]));
    ss_text_add(out,
                "\nA quantity is a number in the unit itself (2 is two seconds) or a text with its "
                "own.\ntimes     s ms us ns ps min h d\n"
                "prefixes  k M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024\n"
                "B is bytes, b is bits, for rates: \"100 Gb/s\" is 12.5 GB/s. Upper and lower case "
                "matter.\n");
}

static void add_links(ss_text *out)
{
    ss_text_add(
        out,
        "What a transfer does to its links: option links of soapstone.problem, soapstone.run,\n"
        "soapstone.collective and soapstone.dag, and simulate --links.\n\n"
        "fifo-hop   links serve one message at a time; a message crosses them one after the other\n"
        "           and holds each for latency + bytes / bandwidth (unless given)\n"
        "fifo-pipe  the same, held for bytes / bandwidth; a message arrives the latency later\n"
        "fifo-path  a message holds its whole route for all latencies + bytes / least bandwidth\n"
        "shared     messages flow at once, at max-min fair rates, after all latencies\n\n"
        "How links fall short of their figures (half_size, efficiency, latency_by_size, load) is "
        "told to\n"
        "t:link: docs/lua-api.md. How they change on the way: help events.\n");
}

static void add_events(ss_text *out)
{
    ss_text_add(out, "Links and devices that change at given times: option events of "
                     "soapstone.problem and\nsoapstone.run, a list of { at = \"1 ms\", link = "
                     "\"a->b\", does = \"fail\" }. Each has\n\n");
    ss_lua_events_help(out);
    ss_text_add(out, "\nA script that decides on the way what happens drives a run: help run.\n");
}

/* Topics that are no command, operator or type; a NULL `add` reads a folder of ours. */
static const struct topic {
    const char *name, *summary;
    void (*add)(ss_text *out);
} topics[] = {
    {"topics", "this list", NULL},
    {"operators", "the kinds of operators; help KIND lists the options of one", add_kinds},
    {"options", "those of soapstone.problem: the assumptions of a simulation", ss_lua_problem_help},
    {"links", "what a transfer does to its links: fifo-hop, fifo-pipe, fifo-path, shared",
     add_links},
    {"events", "links and devices that change at given times", add_events},
    {"chances", "those of soapstone.chance: which times are drawn", ss_lua_chance_help},
    {"strategies", "ready-made strategies and their options", ss_lua_strategies_help},
    {"searches", "options of soapstone.search", ss_lua_searches_help},
    {"units", "how quantities are written", add_units},
    {"models", "what models/ has; help NAME tells of one", NULL},
    {"topologies", "what topologies/ has; help NAME tells of one", NULL},
};
enum { TOPICS = sizeof topics / sizeof *topics, OF_FOLDERS = TOPICS - 2 };

static const struct topic *find_topic(const char *name)
{
    for (int i = 0; i < TOPICS; i++)
        if (!strcmp(topics[i].name, name))
            return &topics[i];
    return NULL;
}

static void add_topics(ss_text *out)
{
    ss_text_add(out, "soapstone help TOPIC, where TOPIC is\n");
    for (int i = 0; i < TOPICS; i++)
        ss_text_add(out, "  %-12s %s\n", topics[i].name, topics[i].summary);
    ss_text_add(out, "or a command:");
    for (uint32_t i = 0; ss_commands[i]; i++)
        ss_text_add(out, " %s", ss_commands[i]->name);
    ss_text_add(out, "\nor what a script holds:");
    for (int i = 0; i < TYPES; i++)
        ss_text_add(out, " %s", types[i]->noun);
    ss_text_add(out, "\nor a kind of operator, a model or a topology by its name: conv2d, nmt, "
                     "ring\n");
}

/* -- what models/ and topologies/ have: needs Lua, which knows where they are ------------------ */

/* Each file of the folder with the first sentence of its comment. */
static void add_folder(lua_State *L, const char *folder, ss_text *out)
{
    ss_lua_push_library(L, folder);
    lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, i);
        ss_text_add(out, "%-16s ", lua_tostring(L, -1));
        ss_lua_library_comment(L, folder, lua_tostring(L, -1), false, out);
        ss_text_add(out, "\n");
        lua_pop(L, 1);
    }
    ss_text_add(out, "\nrequire \"%s.NAME\" { options }; soapstone help NAME says more of one.\n",
                folder);
}

static uint32_t add_names(lua_State *L, const char *folder, const char **names, uint32_t n,
                          uint32_t most)
{
    ss_lua_push_library(L, folder); /* stays on the stack and keeps the names */
    uint32_t files = (uint32_t)lua_rawlen(L, -1);
    for (uint32_t i = 1; i <= files && n < most; i++) {
        lua_rawgeti(L, -1, i);
        names[n++] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return n;
}

static int unknown_topic(lua_State *L, const char *topic)
{
    enum { MOST = 512 };
    const char *names[MOST];
    uint32_t n = 0, kinds;
    const ss_op_kind *const *kind = ss_op_kinds(&kinds);
    for (uint32_t i = 0; ss_commands[i] && n < 100; i++)
        names[n++] = ss_commands[i]->name;
    for (int i = 0; i < TOPICS; i++)
        names[n++] = topics[i].name;
    for (int i = 0; i < TYPES; i++)
        names[n++] = types[i]->noun;
    for (uint32_t i = 0; i < kinds && n < MOST; i++)
        names[n++] = kind[i]->name;
    for (int i = OF_FOLDERS; i < TOPICS; i++)
        n = add_names(L, topics[i].name, names, n, MOST);
    const char *near = ss_nearest(topic, names, n);
    if (near)
        return ss_lua_refuse(L, "there is no help on '%s'; did you mean '%s'?", topic, near);
    return ss_lua_refuse(L, "there is no help on '%s'; soapstone help topics lists what there is",
                         topic);
}

/* Adds the options that the file declares, as its function tells them to options.help. */
static void add_declared(lua_State *L, const char *folder, const char *name, ss_text *out)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "soapstone.options");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "help");
    lua_getglobal(L, "require");
    lua_pushfstring(L, "%s.%s", folder, name);
    lua_call(L, 1, 1);
    lua_call(L, 1, 1);
    const char *lines = lua_tostring(L, -1);
    if (lines && *lines)
        ss_text_add(out, "\n\noptions:\n%s", lines);
    lua_pop(L, 2);
}

/* What needs no Lua; false: it is a folder of ours, one of its files, or nothing. */
static bool add_plain(const char *word, ss_text *out)
{
    const ss_command *command = word ? ss_command_find(word) : NULL;
    const ss_op_kind *kind = word ? ss_op_kind_find(word) : NULL;
    const ss_lua_type *type = word ? find_type(word) : NULL;
    const struct topic *topic = word ? find_topic(word) : NULL;
    if (!word)
        ss_args_overview(out);
    else if (command && type) { /* search is both */
        ss_args_help(command, out);
        ss_text_add(out, "\nwhat a script holds:\n");
        add_type(type, out);
    } else if (command)
        ss_args_help(command, out);
    else if (topic == topics)
        add_topics(out);
    else if (topic && topic->add)
        topic->add(out);
    else if (type)
        add_type(type, out);
    else if (kind)
        add_kind(kind, out);
    else
        return false;
    return true;
}

int ss_help_push(lua_State *L, const char *word)
{
    const struct topic *topic = find_topic(word);
    ss_text *text = ss_lua_text_new(L);
    bool found = add_plain(word, text);
    if (!found && topic) {
        add_folder(L, topic->name, text);
        found = true;
    }
    for (int i = OF_FOLDERS; i < TOPICS && !found; i++) {
        found = ss_lua_library_comment(L, topics[i].name, word, true, text);
        if (found)
            add_declared(L, topics[i].name, word, text);
        if (found)
            ss_text_add(text, "\nrequire \"%s.%s\" { options }\n", topics[i].name, word);
    }
    return found ? ss_lua_text_push(L, text) : unknown_topic(L, word);
}

static int folder_body(lua_State *L)
{
    ss_help_push(L, ss_host_cli(L)->argument[0]);
    fputs(lua_tostring(L, -1), stdout);
    lua_pushinteger(L, 0);
    return 1;
}

static int run(ss_cli *cli)
{
    ss_text text = {0};
    if (!add_plain(cli->arguments ? cli->argument[0] : NULL, &text))
        return ss_host_call(cli, folder_body);
    ss_error err;
    ss_status s = ss_text_status(&text, &err);
    if (!s)
        fputs(ss_text_get(&text), stdout);
    ss_text_free(&text);
    return s ? ss_cli_fail(&err) : 0;
}

static const ss_flag flags[] = {{0}};

const ss_command ss_command_help = {
    .name = "help",
    .summary = "Explains a command, a kind of operator, what a script holds, and more",
    .usage = "help [TOPIC]",
    .about =
        "help topics lists what can be asked: commands, operators and each kind of them (conv2d),\n"
        "options, strategies, searches, units, models, topologies, and what a script holds (model, "
        "result).",
    .flags = flags,
    .example = "soapstone help conv2d",
    .most = 1,
    .run = run,
};
