/* figure_fixture.h - for tests that draw: the gnuplot scripts, whether gnuplot is there, and a folder to
 * draw in. */
#ifndef SS_FIGURE_FIXTURE_H
#define SS_FIGURE_FIXTURE_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scripts[4096];

static bool there(const char *path)
{
    struct stat is;
    return !stat(path, &is);
}

static bool have_gnuplot(void)
{
    static int status = -1;
    if (status < 0)
        status = system("gnuplot --version >/dev/null 2>&1");
    return status == 0;
}

/* Finds the scripts and goes into the folder, which is made if it is not there. */
static bool draw_in(const char *folder)
{
    const char *top = getenv("SS_SRCDIR");
    snprintf(scripts, sizeof scripts, "%s/analysis", top ? top : ".");
    return (!mkdir(folder, 0755) || errno == EEXIST) && !chdir(folder);
}

#endif
