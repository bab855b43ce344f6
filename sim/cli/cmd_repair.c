/* cmd_repair.c - soapstone repair FILE */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/host.h"
#include "io/trajectory.h"

static int repair(ss_cli *cli)
{
    ss_text report = {0};
    ss_error err;
    ss_status s = ss_trajectory_repair(cli->argument[0], &report, &err);
    if (!s)
        fputs(ss_text_get(&report), stdout);
    ss_text_free(&report);
    return s ? ss_cli_fail(&err) : 0;
}

static const ss_flag flags[] = {{0}};

const ss_command ss_command_repair = {
    .name = "repair",
    .summary = "Makes the log of a search whole that was killed",
    .usage = "repair FILE.h5",
    .about =
        "What FILE.h5.journal has comes into FILE.h5, and the journal goes. Resuming the search\n"
        "does the same by itself. A file that is whole is left alone.",
    .flags = flags,
    .example = "soapstone repair nmt.h5",
    .least = 1,
    .most = 1,
    .run = repair,
};
