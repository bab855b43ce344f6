/* run_cases.c - inputs with right answers computed elsewhere, against ours.
 *
 *     tests/run-cases FILE.json...
 *
 * Reads from each file what kind it is; a new kind is one row of `kinds` and one function.  A line
 * is printed for each case that differs, with what was expected and what came; the last line is
 * "N passed, N failed", with ", N skipped" if this version does not offer what some of them ask.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "io/dag.h"
#include "simulate/engine.h"

static unsigned passed, failed, skipped;

static void fail(const char *path, const char *format, ...) SS_PRINTF(2, 3);

static void fail(const char *path, const char *format, ...)
{
    va_list args;
    printf("FAILED %s: ", path);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    failed++;
}

/* contention-*.json: a task graph and, for each meaning of links, when every task finishes. */

static double number_at(const json_t *list, size_t i)
{
    json_t *v = json_array_get(list, i);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* A file's task finishes when the last of its segments does. */
static double finish_of(const ss_dag *d, const ss_timeline *l, uint32_t i)
{
    ss_time latest = 0;
    for (uint32_t k = 0; k < d->count[i]; k++) {
        ss_time f = ss_timeline_finish(&d->tasks, l, (ss_task){d->first[i].i + k});
        if (f > latest)
            latest = f;
    }
    return ss_time_seconds(latest);
}

static bool is_off(double got, double wanted, double tolerance)
{
    return !(fabs(got - wanted) <= tolerance); /* also if one of them is not a number */
}

static void compare_finishes(const char *path, const char *mode, const json_t *expect,
                             const ss_dag *d, const ss_timeline *l)
{
    const json_t *finish = json_object_get(expect, "finish");
    if (json_array_size(finish) != d->n) {
        fail(path, "%s: %zu finish times are given for %u tasks", mode, json_array_size(finish),
             d->n);
        return;
    }
    json_t *whole = json_object_get(expect, "makespan");
    double makespan = json_is_number(whole) ? json_number_value(whole) : NAN;
    double tolerance = fmax(1e-9 * makespan, 0.5e-12 * d->n);
    uint32_t off = 0, first = 0;
    for (uint32_t i = d->n; i-- > 0;) {
        if (is_off(finish_of(d, l, i), number_at(finish, i), tolerance)) {
            off++;
            first = i;
        }
    }
    double got = ss_time_seconds(l->makespan);
    if (off)
        fail(path, "%s: task %u: expected finish %.12g s, got %.12g s; %u of %u tasks differ", mode,
             first, number_at(finish, first), finish_of(d, l, first), off, d->n);
    else if (is_off(got, makespan, tolerance))
        fail(path, "%s: expected makespan %.12g s, got %.12g s", mode, makespan, got);
    else
        passed++;
}

static void run_mode(const char *path, const char *text, size_t n, const char *mode,
                     const json_t *expect)
{
    ss_error err;
    ss_dag_options o = {0};
    ss_status s = ss_links_mode_parse(mode, &o.mode, &err);
    if (s == SS_EUNSUPPORTED) {
        printf("skipped %s: %s\n", path, err.text);
        skipped++;
        return;
    }
    ss_dag d = {0};
    ss_engine *e = NULL;
    ss_timeline l = {0};
    if (!s)
        s = ss_dag_parse(text, n, path, &o, &d, &err);
    if (!s)
        s = ss_engine_new(&e, &err);
    if (!s)
        s = ss_engine_run(e, &d.tasks, &l, &err);
    if (!s)
        s = ss_timeline_check(&d.tasks, &l, &err);
    if (s)
        fail(path, "%s: expected a timeline, got the error: %s", mode, err.text);
    else
        compare_finishes(path, mode, expect, &d, &l);
    ss_timeline_free(&l);
    ss_engine_free(e);
    ss_dag_free(&d);
}

static bool is_contention(const json_t *root)
{
    return json_is_array(json_object_get(root, "tasks")) &&
           json_is_array(json_object_get(root, "devices")) &&
           json_is_object(json_object_get(root, "expect"));
}

static void run_contention(const char *path, const char *text, size_t n, json_t *root)
{
    const char *mode;
    json_t *expect;
    json_object_foreach(json_object_get(root, "expect"), mode, expect)
    {
        run_mode(path, text, n, mode, expect);
    }
}

static const struct kind {
    const char *name;
    bool (*is)(const json_t *root);
    void (*run)(const char *path, const char *text, size_t n, json_t *root);
} kinds[] = {
    {"contention", is_contention, run_contention},
};

static void run_text(const char *path, const char *text, size_t n)
{
    json_error_t where;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        fail(path, "line %d, column %d: %s", where.line, where.column, where.text);
        return;
    }
    size_t k = 0, known = sizeof kinds / sizeof *kinds;
    while (k < known && !kinds[k].is(root))
        k++;
    if (k < known) {
        kinds[k].run(path, text, n, root);
    } else {
        printf("skipped %s: this version runs no case of its kind\n", path);
        skipped++;
    }
    json_decref(root);
}

static char *read_all(FILE *f, size_t *n)
{
    char *text = NULL;
    size_t cap = 0;
    *n = 0;
    do {
        cap = cap ? 2 * cap : 1 << 16;
        char *more = realloc(text, cap);
        if (!more)
            break;
        text = more;
        *n += fread(text + *n, 1, cap - *n, f);
    } while (*n == cap);
    return text;
}

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail(path, "the file cannot be opened");
        return;
    }
    size_t n;
    char *text = read_all(f, &n);
    if (!text || ferror(f))
        fail(path, "the file cannot be read");
    else
        run_text(path, text, n);
    free(text);
    fclose(f);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        printf("usage: run-cases FILE.json...\n");
        return argc < 2 ? 2 : 0;
    }
    for (int i = 1; i < argc; i++)
        run_file(argv[i]);
    printf("%u passed, %u failed", passed, failed);
    if (skipped)
        printf(", %u skipped", skipped);
    printf("\n");
    return failed > 0;
}
