/* main.c - the program: finds the command, hands over, and makes sure that what was printed is out.
 */
#include <config.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "io/h5.h"

/* The reader of a pipe has gone: `soapstone run x.lua | head`.  It had what it wanted. */
static bool nobody_listens(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* Where an earlier write failed, what it said is gone; a write of nothing may say it again, and a
 * disk that has no room is asked. */
static const char *why_not_written(int error_number)
{
    struct statvfs disk;
    if (!error_number && write(STDOUT_FILENO, "", 0) < 0)
        error_number = errno;
    if (!error_number && !fstatvfs(STDOUT_FILENO, &disk) && !disk.f_bavail)
        error_number = ENOSPC;
    return error_number ? strerror(error_number) : "some of it was lost";
}

/* Runs at exit, so that a script's os.exit passes here too. A full disk must not look like success.
 */
static void close_stdout(void)
{
    int error_number = fflush(stdout) ? errno : 0;
    if ((!error_number && !ferror(stdout)) || error_number == EPIPE || nobody_listens())
        return;
    fprintf(stderr, "soapstone: cannot write to standard output: %s\n",
            why_not_written(error_number));
    _exit(3);
}

/* For tests: SOAPSTONE_FAIL_ALLOCATION=n makes every request from the n-th (0: the first) fail. */
static void fail_allocations_if_asked(void)
{
    const char *n = getenv("SOAPSTONE_FAIL_ALLOCATION");
    if (n && *n)
        ss_mem_fail_after(strtoll(n, NULL, 10));
}

static int print_text(void (*write)(ss_text *out))
{
    ss_error err;
    ss_text text = {0};
    write(&text);
    ss_status s = ss_text_status(&text, &err);
    if (!s)
        fputs(ss_text_get(&text), stdout);
    ss_text_free(&text);
    return s ? ss_cli_fail(&err) : 0;
}

static int unknown_command(const char *word)
{
    ss_error err;
    const char *names[64];
    uint32_t n = 0;
    for (; ss_commands[n] && n < 64; n++)
        names[n] = ss_commands[n]->name;
    const char *near = ss_nearest(word, names, n);
    if (near)
        ss_fail(&err, SS_EINVAL, "there is no command '%s'; did you mean '%s'?", word, near);
    else
        ss_fail(&err, SS_EINVAL, "there is no command '%s'; soapstone help lists them", word);
    return ss_cli_fail(&err);
}

static bool is_script(const char *word)
{
    size_t n = strlen(word);
    return n > 4 && !strcmp(word + n - 4, ".lua");
}

static int run_command(ss_cli *cli)
{
    ss_error err;
    if (ss_args_read(cli, &err))
        return ss_cli_fail(&err);
    if (!ss_args_has(cli, "help"))
        return cli->command->run(cli);
    ss_text text = {0};
    ss_args_help(cli->command, &text);
    ss_status s = ss_text_status(&text, &err);
    if (!s)
        fputs(ss_text_get(&text), stdout);
    ss_text_free(&text);
    return s ? ss_cli_fail(&err) : 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a write then fails, and is reported where it matters */
    gsl_set_error_handler_off();
    ss_h5_never_print();
    atexit(close_stdout);
    fail_allocations_if_asked();
    if (argc < 2) {
        print_text(ss_args_overview);
        return 2;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--version") || !strcmp(word, "-v")) {
        puts("soapstone " PACKAGE_VERSION);
        return 0;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        return print_text(ss_args_overview);
    ss_cli cli = {.argc = argc, .argv = argv, .first = 2, .command = ss_command_find(word)};
    if (!cli.command && is_script(word)) {
        cli.command = &ss_command_run;
        cli.first = 1;
    }
    return cli.command ? run_command(&cli) : unknown_command(word);
}
