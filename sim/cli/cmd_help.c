/* cmd_help.c - soapstone help [COMMAND | operators | options | KIND | TYPE] */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "graph/op.h"
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
    &ss_lua_model_type, &ss_lua_tensor_type,  &ss_lua_topology_type, &ss_lua_node_type,
    &ss_lua_costs_type, &ss_lua_problem_type, &ss_lua_strategy_type, &ss_lua_result_type,
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

static ss_status unknown_topic(const char *topic, ss_error *err)
{
    const char *names[256];
    uint32_t n = 0, kinds;
    const ss_op_kind *const *kind = ss_op_kinds(&kinds);
    for (uint32_t i = 0; ss_commands[i] && n < 100; i++)
        names[n++] = ss_commands[i]->name;
    names[n++] = "operators";
    names[n++] = "options";
    for (int i = 0; i < TYPES; i++)
        names[n++] = types[i]->noun;
    for (uint32_t i = 0; i < kinds && n < 256; i++)
        names[n++] = kind[i]->name;
    const char *near = ss_nearest(topic, names, n);
    if (near)
        return ss_fail(err, SS_EINVAL, "there is no help on '%s'; did you mean '%s'?", topic, near);
    return ss_fail(
        err, SS_EINVAL,
        "there is no help on '%s'; topics are the commands, operators, options, and each "
        "kind of operator",
        topic);
}

static int run(ss_cli *cli)
{
    ss_error err;
    ss_text text = {0};
    const char *topic = cli->arguments ? cli->argument[0] : NULL;
    const ss_command *command = topic ? ss_command_find(topic) : NULL;
    const ss_op_kind *kind = topic ? ss_op_kind_find(topic) : NULL;
    ss_status s = SS_OK;
    if (!topic)
        ss_args_overview(&text);
    else if (command)
        ss_args_help(command, &text);
    else if (!strcmp(topic, "operators"))
        add_kinds(&text);
    else if (!strcmp(topic, "options"))
        ss_lua_problem_help(&text);
    else if (find_type(topic))
        add_type(find_type(topic), &text);
    else if (kind)
        add_kind(kind, &text);
    else
        s = unknown_topic(topic, &err);
    if (!s)
        s = ss_text_status(&text, &err);
    if (!s)
        fputs(ss_text_get(&text), stdout);
    ss_text_free(&text);
    return s ? ss_cli_fail(&err) : 0;
}

static const ss_flag flags[] = {{0}};

const ss_command ss_command_help = {
    .name = "help",
    .summary = "Explains a command, a kind of operator, or what a script holds",
    .usage = "help [COMMAND | operators | options | KIND | TYPE]",
    .about =
        "operators lists the kinds of operators, options those of a problem; KIND is one of the\n"
        "former (conv2d); TYPE is model, tensor, topology, node, costs, problem, strategy or "
        "result.",
    .flags = flags,
    .example = "soapstone help conv2d",
    .most = 1,
    .run = run,
};
