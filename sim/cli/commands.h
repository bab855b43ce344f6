/* commands.h - the rows of the table of commands. */
#ifndef SS_CLI_COMMANDS_H
#define SS_CLI_COMMANDS_H

#include "cli/args.h"

extern const ss_command ss_command_run, ss_command_help;

#endif
