/* args.h - the command line: which commands there are, what they take, and reading it.
 *
 * A command is one row: its usage, options and example.  The reader, its messages and --help come
 * from the row, so none of them needs a Lua file to be found.
 */
#ifndef SS_CLI_ARGS_H
#define SS_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

typedef struct ss_flag {
    const char *name;  /* "json": given as --json, or --option=value, or --option value */
    char letter;       /* 'o': also -o; 0: none */
    const char *value; /* "FILE": what it takes; NULL: nothing */
    const char *help;
} ss_flag;

typedef struct ss_cli ss_cli;

typedef struct ss_command {
    const char *name, *summary, *usage; /* usage without the program's name */
    const char *about;                  /* a paragraph, or NULL */
    const ss_flag *flags;               /* ends at the first without a name */
    const char *example;
    uint32_t least, most;    /* arguments that are no options */
    bool rest_is_scripts;    /* what follows the first argument is not read */
    int (*run)(ss_cli *cli); /* -> the exit status */
} ss_command;

typedef struct ss_given {
    const ss_flag *flag;
    const char *value; /* NULL if it takes none */
} ss_given;

enum { SS_MAX_GIVEN = 64 };

struct ss_cli {
    int argc;
    char **argv;
    const ss_command *command;
    int first; /* argv[first] is the first argument that is no option */
    const char *argument[SS_MAX_GIVEN];
    uint32_t arguments;
    ss_given given[SS_MAX_GIVEN];
    uint32_t givens;
    void *data; /* of the command's own */
};

extern const ss_command *const ss_commands[]; /* ends at NULL */

const ss_command *ss_command_find(const char *name);

/* Refuses unknown options and commands with the nearest one. */
ss_status ss_args_read(ss_cli *cli, ss_error *err);

bool ss_args_has(const ss_cli *cli, const char *flag);
const char *ss_args_value(const ss_cli *cli, const char *flag); /* NULL: not given; else the last */
ss_status ss_args_integer(const ss_cli *cli, const char *flag, int64_t preset, int64_t *out,
                          ss_error *err);

void ss_args_help(const ss_command *c, ss_text *out);
void ss_args_overview(ss_text *out);

/* "soapstone: the sentence" on stderr; gives the exit status of it. */
int ss_cli_fail(const ss_error *err);

#endif
