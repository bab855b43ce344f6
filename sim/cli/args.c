#include "cli/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- finding ---------------------------------------------------------------------------------- */

const ss_command *ss_command_find(const char *name)
{
    for (uint32_t i = 0; ss_commands[i]; i++)
        if (!strcmp(ss_commands[i]->name, name))
            return ss_commands[i];
    return NULL;
}

static const ss_flag help_flag = {"help", 'h', NULL, "this text"};

static const ss_flag *find_flag(const ss_command *c, const char *name, size_t n)
{
    for (const ss_flag *f = c->flags; f && f->name; f++)
        if (strlen(f->name) == n && !strncmp(f->name, name, n))
            return f;
    return n == 4 && !strncmp(name, "help", 4) ? &help_flag : NULL;
}

static const ss_flag *find_letter(const ss_command *c, char letter)
{
    for (const ss_flag *f = c->flags; f && f->name; f++)
        if (f->letter == letter)
            return f;
    return letter == 'h' ? &help_flag : NULL;
}

static ss_status unknown_flag(const ss_command *c, const char *word, ss_error *err)
{
    const char *names[SS_MAX_GIVEN];
    char name[64];
    uint32_t n = 0;
    for (const ss_flag *f = c->flags; f && f->name && n < SS_MAX_GIVEN - 1; f++)
        names[n++] = f->name;
    names[n++] = "help";
    snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
    name[strcspn(name, "=")] = '\0';
    const char *near = word[1] == '-' ? ss_nearest(name, names, n) : NULL;
    if (near)
        return ss_fail(err, SS_EINVAL, "%s has no option %s; did you mean --%s?", c->name, word,
                       near);
    return ss_fail(err, SS_EINVAL, "%s has no option %s; soapstone %s --help lists them", c->name,
                   word, c->name);
}

/* -- reading ---------------------------------------------------------------------------------- */

/* What its help says: NAME,... is a list, which may go on. */
static bool may_repeat(const ss_flag *f)
{
    return strstr(f->value, "...") || strstr(f->help, "(may be repeated)");
}

static ss_status add_given(ss_cli *cli, const ss_flag *f, const char *value, ss_error *err)
{
    if (cli->givens == SS_MAX_GIVEN)
        return ss_fail(err, SS_EINVAL, "more than %d options", SS_MAX_GIVEN);
    for (uint32_t i = 0; i < cli->givens; i++)
        if (cli->given[i].flag == f && value && !may_repeat(f))
            return ss_fail(err, SS_EINVAL, "--%s is there twice: %s and %s", f->name,
                           cli->given[i].value, value);
    cli->given[cli->givens++] = (ss_given){f, value};
    return SS_OK;
}

/* One option at argv[*i]; moves *i over its value if that is an argument of its own. */
static ss_status read_flag(ss_cli *cli, int *i, ss_error *err)
{
    const char *word = cli->argv[*i], *value = NULL;
    const ss_flag *f;
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        f = find_flag(cli->command, word + 2, n);
        if (word[2 + n] == '=')
            value = word + 2 + n + 1;
    } else {
        f = find_letter(cli->command, word[1]);
        if (f && word[2] && !f->value)
            f = NULL; /* letters are not gathered: -jv */
        if (f && word[2])
            value = word + 2;
    }
    if (!f)
        return unknown_flag(cli->command, word, err);
    if (value && !f->value)
        return ss_fail(err, SS_EINVAL, "--%s takes no value", f->name);
    if (f->value && !value) {
        if (*i + 1 >= cli->argc)
            return ss_fail(err, SS_EINVAL, "--%s needs %s after it", f->name, f->value);
        value = cli->argv[++*i];
    }
    return add_given(cli, f, value, err);
}

static ss_status check_count(const ss_cli *cli, ss_error *err)
{
    const ss_command *c = cli->command;
    if (ss_args_has(cli, "help"))
        return SS_OK;
    if (cli->arguments < c->least)
        return ss_fail(err, SS_EINVAL, "something is missing: soapstone %s", c->usage);
    if (cli->arguments > c->most && !c->rest_is_scripts)
        return ss_fail(err, SS_EINVAL, "%s has nothing to do with '%s': soapstone %s", c->name,
                       cli->argument[c->most], c->usage);
    return SS_OK;
}

ss_status ss_args_read(ss_cli *cli, ss_error *err)
{
    bool options_end = false;
    for (int i = cli->first; i < cli->argc; i++) {
        const char *word = cli->argv[i];
        if (!options_end && !strcmp(word, "--")) {
            options_end = true;
        } else if (!options_end && word[0] == '-' && word[1]) {
            ss_status s = read_flag(cli, &i, err);
            if (s)
                return s;
        } else {
            if (cli->arguments == SS_MAX_GIVEN)
                return ss_fail(err, SS_EINVAL, "more than %d arguments", SS_MAX_GIVEN);
            cli->argument[cli->arguments++] = word;
            if (cli->arguments == 1)
                cli->first = i;
            if (cli->command->rest_is_scripts)
                break;
        }
    }
    return check_count(cli, err);
}

bool ss_args_has(const ss_cli *cli, const char *flag)
{
    for (uint32_t i = 0; i < cli->givens; i++)
        if (!strcmp(cli->given[i].flag->name, flag))
            return true;
    return false;
}

const char *ss_args_value(const ss_cli *cli, const char *flag)
{
    for (uint32_t i = cli->givens; i-- > 0;)
        if (!strcmp(cli->given[i].flag->name, flag))
            return cli->given[i].value;
    return NULL;
}

ss_status ss_args_integer(const ss_cli *cli, const char *flag, int64_t preset, int64_t *out,
                          ss_error *err)
{
    const char *text = ss_args_value(cli, flag);
    *out = preset;
    if (!text)
        return SS_OK;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return ss_fail(err, SS_EINVAL, "--%s should be a whole number, not '%s'", flag, text);
    *out = value;
    return SS_OK;
}

/* -- help ------------------------------------------------------------------------------------- */

static void add_flag(const ss_flag *f, ss_text *out)
{
    char left[64];
    snprintf(left, sizeof left, "%s%c%s--%s%s%s", f->letter ? "-" : "", f->letter ? f->letter : ' ',
             f->letter ? ", " : "   ", f->name, f->value ? " " : "", f->value ? f->value : "");
    ss_text_add(out, "  %-26s %s\n", left, f->help);
}

void ss_args_help(const ss_command *c, ss_text *out)
{
    ss_text_add(out, "usage: soapstone %s\n\n%s.\n", c->usage, c->summary);
    if (c->about)
        ss_text_add(out, "\n%s\n", c->about);
    ss_text_add(out, "\noptions:\n");
    for (const ss_flag *f = c->flags; f && f->name; f++)
        add_flag(f, out);
    add_flag(&help_flag, out);
    ss_text_add(out, "\nexample:\n  %s\n", c->example);
}

void ss_args_overview(ss_text *out)
{
    ss_text_add(out, "usage: soapstone COMMAND [ARGUMENT...]\n"
                     "       soapstone FILE.lua [ARGUMENT...]\n\n"
                     "Simulates a training step of a deep network under a parallelization "
                     "strategy.\n\ncommands:\n");
    for (uint32_t i = 0; ss_commands[i]; i++)
        ss_text_add(out, "  %-10s %s\n", ss_commands[i]->name, ss_commands[i]->summary);
    ss_text_add(
        out,
        "\nsoapstone COMMAND --help says more; soapstone help topics lists what else there is\n"
        "to ask (operators, models, topologies, strategies, units); soapstone --version "
        "says which.\n"
        "exit status: 0 done, 1 the answer is no, 2 the input is wrong, 3 the machine "
        "failed\n");
}

int ss_cli_fail(const ss_error *err)
{
    fflush(stdout);
    fprintf(stderr, "soapstone: %s\n", err->text);
    return ss_status_exit(err->status);
}
