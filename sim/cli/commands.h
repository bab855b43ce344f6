/* commands.h - the rows of the table of commands. */
#ifndef SS_CLI_COMMANDS_H
#define SS_CLI_COMMANDS_H

#include "cli/args.h"

extern const ss_command ss_command_run, ss_command_repair, ss_command_repl, ss_command_help;
extern const ss_command ss_command_search, ss_command_calibrate, ss_command_profile,
    ss_command_execute, ss_command_trace, ss_command_validate;
extern const ss_command ss_command_simulate, ss_command_plot, ss_command_inspect, ss_command_bench;

#endif
