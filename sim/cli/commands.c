#include "cli/commands.h"

const ss_command *const ss_commands[] = {
    &ss_command_run,
    &ss_command_help,
    NULL,
};
