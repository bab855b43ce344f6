#include "cli/commands.h"

const ss_command *const ss_commands[] = {
    &ss_command_run,
    &ss_command_simulate,
    &ss_command_search,
    &ss_command_plot,
    &ss_command_inspect,
    &ss_command_calibrate,
    &ss_command_profile,
    &ss_command_execute,
    &ss_command_trace,
    &ss_command_validate,
    &ss_command_repair,
    &ss_command_repl,
    &ss_command_bench,
    &ss_command_help,
    NULL,
};
