/* plot.c - running gnuplot on a table. */
#include "config.h"

#include "io/plot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"
#include "io/plot_inside.h"

enum { SAID = 2000 }; /* bytes of gnuplot's complaint that are kept */

extern char **environ;

static const char *const kind_names[SS_PLOT_KINDS] = {"gantt", "links", "memory"};

const char *ss_plot_kind_name(ss_plot_kind k)
{
    return (unsigned)k < SS_PLOT_KINDS ? kind_names[k] : "none";
}

/* ------------------------------------------------------------------------------ the environment */

/* gnuplot must print and read decimal points whatever the user's language is. Of pointers only: the
 * strings are the process's own. */
static char **plain_environment(ss_error *err)
{
    static char numeric[] = "LC_NUMERIC=C";
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **list = ss_alloc((n + 2) * sizeof *list);
    if (!list) {
        ss_fail_memory(err, "gnuplot's environment", (n + 2) * sizeof *list);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) && strncmp(environ[i], "LC_NUMERIC=", 11))
            list[kept++] = environ[i];
    list[kept++] = numeric;
    list[kept] = NULL;
    return list;
}

/* ---------------------------------------------------------------------------------- the program */

static bool can_run(const char *path)
{
    struct stat is;
    return !stat(path, &is) && S_ISREG(is.st_mode) && !access(path, X_OK);
}

static ss_status no_program(const char *name, ss_error *err)
{
    return ss_fail(err, SS_EUNSUPPORTED,
                   "figures need gnuplot, and there is no program \"%s\": install it (Debian: apt "
                   "install gnuplot-nox), or write the table alone and draw it elsewhere",
                   name);
}

/* Looked up here and not by posix_spawnp: whether a program is missing is told by some only as exit
 * status 127 of a child, under valgrind for one. */
static ss_status find_program(const char *name, ss_text *path, ss_error *err)
{
    const char *folders = getenv("PATH");
    bool found = false;
    if (strchr(name, '/')) {
        ss_text_add(path, "%s", name);
        found = can_run(name);
    } else {
        for (const char *at = folders ? folders : "/bin:/usr/bin"; at && !found;) {
            size_t n = strcspn(at, ":");
            ss_text_clear(path);
            ss_text_add(path, "%.*s%s%s", (int)n, at, n ? "/" : "./", name);
            ss_status s = ss_text_status(path, err);
            if (s)
                return s;
            found = can_run(path->at);
            at = at[n] ? at + n + 1 : NULL;
        }
    }
    ss_status s = ss_text_status(path, err);
    return s ? s : found ? SS_OK : no_program(name, err);
}

/* ------------------------------------------------------------------------------------ the child */

/* Everything it says, cut to what fits; the pipe is read to its end so that the child never waits.
 */
static void listen_to(int fd, char *said)
{
    size_t n = 0;
    for (;;) {
        char rest[512];
        bool full = n + 1 >= SAID;
        ssize_t got = read(fd, full ? rest : said + n, full ? sizeof rest : SAID - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (!full)
            n += (size_t)got;
    }
    said[n] = 0;
}

static int spawn_quietly(pid_t *pid, char *const *argv, char **env, int say)
{
    posix_spawn_file_actions_t acts;
    int e = posix_spawn_file_actions_init(&acts);
    if (e)
        return e;
    e = posix_spawn_file_actions_addopen(&acts, 0, "/dev/null", O_RDONLY, 0);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&acts, say, 1);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&acts, say, 2);
    if (!e)
        e = posix_spawn(pid, argv[0], &acts, NULL, argv, env);
    posix_spawn_file_actions_destroy(&acts);
    return e;
}

/* Gives the exit status as of waitpid. */
static ss_status run(char *const *argv, char *said, int *status, ss_error *err)
{
    char **env = plain_environment(err);
    if (!env)
        return SS_ENOMEM;
    int ends[2];
    if (pipe(ends)) {
        ss_free(env);
        return ss_fail(err, SS_EIO, "cannot run %s: %s", argv[0], strerror(errno));
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC); /* its copies as 1 and 2 stay open */
    pid_t pid;
    int e = spawn_quietly(&pid, argv, env, ends[1]);
    close(ends[1]);
    ss_free(env);
    if (!e) {
        listen_to(ends[0], said);
        while (waitpid(pid, status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    if (e == ENOENT)
        return no_program(argv[0], err);
    return e ? ss_fail(err, SS_EIO, "cannot run %s: %s", argv[0], strerror(e)) : SS_OK;
}

/* ------------------------------------------------------------------------------ what it said */

/* gnuplot ends with 0 after some things that spoil a figure. */
static bool spoiled(const char *said)
{
    static const char *const bad[] = {"Cannot find or open file", "Skipping data file",
                                      "no valid points", "undefined variable"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (strstr(said, bad[i]))
            return true;
    return false;
}

/* One line of it: blanks for line ends, nothing twice. */
static void squeeze(char *said)
{
    char *to = said;
    for (const char *c = said; *c; c++) {
        bool blank = (unsigned char)*c <= ' ' || *c == 0x7f;
        if (!blank)
            *to++ = *c;
        else if (to > said && to[-1] != ' ')
            *to++ = ' ';
    }
    while (to > said && to[-1] == ' ')
        to--;
    *to = 0;
}

/* What a whole file of a format ends with, but for white space. */
static const struct {
    const char *format, *mark;
    size_t n;
} endings[] = {{"svg", "</svg>", 6}, {"png", "IEND\xae\x42\x60\x82", 8}, {"pdf", "%%EOF", 5}};

static bool ends_well(FILE *f, const char *format)
{
    char end[32];
    if (fseek(f, -(long)sizeof end, SEEK_END))
        return false;
    size_t n = fread(end, 1, sizeof end, f);
    while (n && isspace((unsigned char)end[n - 1]))
        n--;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (!strcmp(endings[i].format, format))
            return n >= endings[i].n &&
                   !memcmp(end + n - endings[i].n, endings[i].mark, endings[i].n);
    return true;
}

static ss_status judge(int status, char *said, const char *script, ss_error *err)
{
    bool bad_words = spoiled(said);
    squeeze(said);
    if (WIFSIGNALED(status))
        return ss_fail(err, SS_EIO, "gnuplot was ended by signal %d while drawing %s",
                       WTERMSIG(status), script);
    if (WEXITSTATUS(status) || bad_words)
        return ss_fail(err, SS_EIO, "gnuplot failed on %s (exit status %d): %.600s", script,
                       WEXITSTATUS(status), said);
    return SS_OK;
}

/* -------------------------------------------------------------------------------------- drawing */

/* A name that gnuplot takes for a file: "< cmd" and "|cmd" would be run by a shell, "-" be read
 * from standard input. */
static void add_safe(ss_text *out, const char *path)
{
    ss_text_add(out, "%s%s", path[0] == '/' ? "" : "./", path);
}

static ss_status draw(const char *script, const char *data, const char *figure, const char *format,
                      const ss_plot_options *o, ss_error *err)
{
    static char quiet[] = "-d", call[] = "-c";
    char width[32], said[SAID] = "";
    ss_text word[4] = {{0}};
    snprintf(width, sizeof width, "%.4g", o->width_in > 0 ? o->width_in : SS_PLOT_COLUMN_IN);
    ss_status s = find_program(o->gnuplot ? o->gnuplot : "gnuplot", &word[0], err);
    add_safe(&word[1], script);
    add_safe(&word[2], data);
    add_safe(&word[3], figure);
    ss_text form = {0};
    ss_text_add(&form, "%s", format);
    if (!s)
        s = ss_text_status(&form, err);
    for (int i = 0; i < 4 && !s; i++)
        s = ss_text_status(&word[i], err);
    if (!s) {
        char *argv[] = {word[0].at, quiet, call,    word[1].at, word[2].at,
                        word[3].at, width, form.at, NULL};
        int status = 0;
        s = run(argv, said, &status, err);
        if (!s)
            s = judge(status, said, script, err);
    }
    for (int i = 0; i < 4; i++)
        ss_text_free(&word[i]);
    ss_text_free(&form);
    return s;
}

static ss_status format_of(const char *path, const char **format, ss_error *err)
{
    static const char *const known[] = {"svg", "png", "pdf"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof known[0]; i++) {
        if (!strcmp(dot + 1, known[i])) {
            *format = known[i];
            return SS_OK;
        }
    }
    return ss_fail(err, SS_EINVAL,
                   "cannot tell the format of %s: a figure's name ends in .svg, .png or .pdf",
                   path);
}

ss_status ss_plot_check_ending(const char *path, ss_error *err)
{
    const char *format;
    return format_of(path, &format, err);
}

static ss_status find_script(const char *figure, const ss_plot_options *o, ss_text *script,
                             ss_error *err)
{
    if (!o->scripts)
        return ss_fail(err, SS_EINVAL, "no folder of gnuplot scripts was given");
    ss_text_add(script, "%s/%s.gp", o->scripts, figure);
    ss_status s = ss_text_status(script, err);
    if (!s && access(script->at, R_OK))
        s = ss_file_fail(err, errno, "read the gnuplot script", script->at);
    return s;
}

/* gnuplot ends well although what it drew did not fit on the disk, or nothing was drawn. */
static ss_status check_whole(const char *drawn, const char *path, const char *format,
                             const char *script, ss_error *err)
{
    enum { ROOM = 64 << 10 };
    struct stat is = {0};
    struct statvfs disk;
    FILE *f = fopen(drawn, "rb");
    if (!f || fstat(fileno(f), &is))
        is.st_mode = S_IFREG;
    bool whole = f && (!S_ISREG(is.st_mode) || ends_well(f, format));
    bool full = f && !fstatvfs(fileno(f), &disk) && disk.f_bavail < ROOM / disk.f_frsize;
    if (f)
        fclose(f);
    if (whole)
        return SS_OK;
    if (full)
        return ss_file_fail(err, ENOSPC, "write", path);
    if (is.st_size)
        return ss_fail(err, SS_EIO, "gnuplot left %s unfinished, after %lld bytes, with %s", path,
                       (long long)is.st_size, script);
    return ss_fail(err, SS_EIO, "gnuplot drew nothing into %s with %s", path, script);
}

/* Both files are complete under temporary names before either gets its own. */
static ss_status draw_and_commit(const char *script, const ss_text *table, const char *path,
                                 const char *data_path, const char *format,
                                 const ss_plot_options *o, ss_error *err)
{
    ss_file data = {0}, figure = {0};
    ss_status s = ss_file_begin(path, &figure, err);
    if (s)
        return s;
    s = ss_file_begin(data_path, &data, err);
    if (s) {
        ss_file_abandon(&figure);
        return s;
    }
    s = ss_file_put(&data, ss_text_get(table), table->n, err);
    if (!s)
        s = ss_file_flush(&data, err);
    if (!s)
        s = draw(script, data.temporary ? data.temporary : data.path,
                 figure.temporary ? figure.temporary : figure.path, format, o, err);
    if (!s)
        s = check_whole(figure.temporary ? figure.temporary : figure.path, path, format, script,
                        err);
    if (!s) {
        s = ss_file_commit(&data, err);
        data = (ss_file){0};
    }
    if (!s)
        return ss_file_commit(&figure, err);
    ss_file_abandon(&data);
    ss_file_abandon(&figure);
    return s;
}

ss_status ss_plot_check(const char *figure, const char *path, const ss_plot_options *o,
                        ss_error *err)
{
    const char *format = NULL;
    ss_text script = {0};
    ss_status s = format_of(path, &format, err);
    if (!s)
        s = find_script(figure, o, &script, err);
    ss_text_free(&script);
    return s ? s : ss_plot_check_width(o, err);
}

ss_status ss_plot_draw(const char *figure, const ss_text *table, const char *path,
                       const ss_plot_options *o, ss_error *err)
{
    const char *format = NULL;
    ss_text script = {0}, data_path = {0};
    ss_status s = format_of(path, &format, err);
    if (!s)
        s = find_script(figure, o, &script, err);
    ss_text_add(&data_path, "%s.tsv", path);
    if (!s)
        s = ss_text_status(&data_path, err);
    if (!s)
        s = draw_and_commit(script.at, table, path, data_path.at, format, o, err);
    ss_text_free(&script);
    ss_text_free(&data_path);
    return s;
}

ss_status ss_plot(const ss_view *v, ss_plot_kind kind, const char *path, const ss_plot_options *o,
                  ss_error *err)
{
    ss_text table = {0};
    ss_status s = ss_plot_check(ss_plot_kind_name(kind), path, o, err);
    if (!s)
        s = ss_plot_data(v, kind, o, &table, err);
    if (!s)
        s = ss_plot_draw(ss_plot_kind_name(kind), &table, path, o, err);
    ss_text_free(&table);
    return s;
}
