/* dag.c - first what the file says, as plain arrays, every number checked; then the task graph. */
#include "io/dag.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "graph/cycle.h"
#include "io/file.h"

/* A file's content; ids as in the file, from 0. */
typedef struct content {
    const char *name; /* of the file */
    json_t *root;
    uint32_t devices, links, routes, tasks, deps;
    double *speed;
    double *bytes_per_s, *latency_s;  /* [links + 1], from 1, as ss_tasks_start wants them */
    uint32_t *first_of_route, *route; /* links from 1; [routes + 1] rows */
    uint32_t *before, *after;         /* [deps] */
    uint32_t *first_in, *in;          /* deps by `after`; tasks counted from 1: [tasks + 2] */
} content;

static void drop(content *c)
{
    json_decref(c->root);
    ss_free(c->speed);
    ss_free(c->bytes_per_s);
    ss_free(c->latency_s);
    ss_free(c->first_of_route);
    ss_free(c->route);
    ss_free(c->before);
    ss_free(c->after);
    ss_free(c->first_in);
    ss_free(c->in);
}

void ss_dag_free(ss_dag *d)
{
    if (!d)
        return;
    ss_tasks_free(&d->tasks);
    ss_free(d->first);
    ss_free(d->count);
    *d = (ss_dag){0};
}

static ss_status refuse(const content *c, ss_error *err, ss_status status, const char *format, ...)
    SS_PRINTF(4, 5);

static ss_status refuse(const content *c, ss_error *err, ss_status status, const char *format, ...)
{
    char text[SS_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ss_fail(err, status, "%s: %s", c->name, text);
}

enum { QUOTED = 24, DESCRIBED = 48, PLACE = 64 };

/* The beginning of a string of the file, fit for one line: cut between characters. */
static const char *quote(const char *s, char *buffer)
{
    size_t n = 0;
    for (; s[n] && n < QUOTED; n++)
        buffer[n] = (unsigned char)s[n] < 0x20 || s[n] == 0x7f ? '?' : s[n];
    if (s[n])
        while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
            n--;
    buffer[n] = 0;
    return buffer;
}

/* What stands there, for "expected ..., got ...". */
static const char *describe(const json_t *v, char *buffer, size_t n)
{
    char quoted[QUOTED + 1];
    if (!v)
        return "nothing";
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        snprintf(buffer, n, "a list of %zu", json_array_size(v));
        return buffer;
    case JSON_STRING:
        snprintf(buffer, n, "\"%s\"", quote(json_string_value(v), quoted));
        return buffer;
    case JSON_INTEGER:
        snprintf(buffer, n, "%lld", (long long)json_integer_value(v));
        return buffer;
    case JSON_REAL:
        return ss_format_double(json_real_value(v), buffer, n);
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

static ss_status expected(const content *c, const char *place, const char *what, const json_t *got,
                          ss_error *err)
{
    char buffer[DESCRIBED];
    return refuse(c, err, SS_EFORMAT, "%s: expected %s, got %s", place, what,
                  describe(got, buffer, sizeof buffer));
}

/* A whole number below `count`: the id of one of the things called `what`. */
static ss_status read_id(const content *c, const char *place, const json_t *v, uint32_t count,
                         const char *what, uint32_t *out, ss_error *err)
{
    if (!json_is_integer(v))
        return expected(c, place, "a whole number", v, err);
    json_int_t i = json_integer_value(v);
    if (i >= 0 && i < count) {
        *out = (uint32_t)i;
        return SS_OK;
    }
    if (count == 0)
        return refuse(c, err, SS_EINVAL, "%s: %s %lld does not exist; there are no %ss", place,
                      what, (long long)i, what);
    return refuse(c, err, SS_EINVAL, "%s: %s %lld does not exist; %ss are 0 to %u", place, what,
                  (long long)i, what, count - 1);
}

static ss_status read_number(const content *c, const char *place, const json_t *v, bool zero_too,
                             const char *what, double *out, ss_error *err)
{
    if (!json_is_number(v))
        return expected(c, place, what, v, err);
    *out = json_number_value(v);
    if (!isfinite(*out) || *out < 0 || (*out == 0 && !zero_too))
        return refuse(c, err, SS_EINVAL, "%s: %s is %g; it must be %s", place, what, *out,
                      zero_too ? "0 or more" : "more than 0");
    return SS_OK;
}

/* Whole, and written as an integer or as a real that is one (3e6). */
static ss_status read_bytes(const content *c, const char *place, const json_t *v, int64_t *out,
                            ss_error *err)
{
    double x;
    char digits[SS_DOUBLE_TEXT];
    ss_status s = read_number(c, place, v, true, "a number of bytes", &x, err);
    if (s)
        return s;
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return SS_OK;
    }
    if (x != floor(x))
        return refuse(c, err, SS_EINVAL, "%s: %s bytes; a payload is a whole number", place,
                      ss_format_double(x, digits, sizeof digits));
    if (x >= 9223372036854775808.0)
        return refuse(c, err, SS_ERANGE, "%s: %g bytes are more than 2^63", place, x);
    *out = (int64_t)x;
    return SS_OK;
}

/* The list under a key; an absent one is empty, unless it must be there. */
static ss_status read_list(const content *c, const char *key, bool must, json_t **out, uint32_t *n,
                           ss_error *err)
{
    *out = json_object_get(c->root, key);
    *n = 0;
    if (!*out && must)
        return refuse(c, err, SS_EFORMAT, "there is no \"%s\"", key);
    if (!*out)
        return SS_OK;
    if (!json_is_array(*out))
        return expected(c, key, "a list", *out, err);
    if (json_array_size(*out) >= UINT32_MAX / 2)
        return refuse(c, err, SS_ERANGE, "%s: a list of %zu is too long", key,
                      json_array_size(*out));
    *n = (uint32_t)json_array_size(*out);
    return SS_OK;
}

static ss_status read_row(const content *c, const char *place, const json_t *row, uint32_t n,
                          const char *what, ss_error *err)
{
    return json_is_array(row) && json_array_size(row) == n ? SS_OK
                                                           : expected(c, place, what, row, err);
}

static ss_status no_memory(const content *c, const char *what, size_t bytes, ss_error *err)
{
    ss_fail_memory(err, what, bytes);
    return ss_fail_in(err, "%s", c->name);
}

static ss_status take(const content *c, void *array_of_any_type, size_t count, size_t bytes_each,
                      const char *what, ss_error *err)
{
    void *block = ss_alloc_zeroed(count, bytes_each);
    memcpy(array_of_any_type, &block, sizeof block);
    return block ? SS_OK : no_memory(c, what, count * bytes_each, err);
}

#define TAKE(array, count, what) take(c, &(array), (count), sizeof *(array), (what), err)

static ss_status read_devices(content *c, ss_error *err)
{
    json_t *list;
    ss_status s = read_list(c, "devices", false, &list, &c->devices, err);
    if (!s)
        s = TAKE(c->speed, c->devices, "devices");
    for (uint32_t i = 0; i < c->devices && !s; i++) {
        char place[PLACE];
        snprintf(place, sizeof place, "devices[%u]", i);
        s = read_number(c, place, json_array_get(list, i), false, "a device's relative speed",
                        &c->speed[i], err);
    }
    return s;
}

static ss_status read_links(content *c, ss_error *err)
{
    json_t *list;
    ss_status s = read_list(c, "links", false, &list, &c->links, err);
    if (!s)
        s = TAKE(c->bytes_per_s, (size_t)c->links + 1, "links");
    if (!s)
        s = TAKE(c->latency_s, (size_t)c->links + 1, "links");
    for (uint32_t i = 0; i < c->links && !s; i++) {
        json_t *row = json_array_get(list, i);
        char place[PLACE];
        snprintf(place, sizeof place, "links[%u]", i);
        if ((s = read_row(c, place, row, 2, "[bytes per second, latency in seconds]", err)))
            return s;
        snprintf(place, sizeof place, "links[%u][0]", i);
        s = read_number(c, place, json_array_get(row, 0), false, "a bandwidth in bytes per second",
                        &c->bytes_per_s[i + 1], err);
        if (s)
            return s;
        snprintf(place, sizeof place, "links[%u][1]", i);
        s = read_number(c, place, json_array_get(row, 1), true, "a latency in seconds",
                        &c->latency_s[i + 1], err);
    }
    return s;
}

/* `seen` has a row for each link: the last route, from 1, that crossed it. */
static ss_status read_route(content *c, uint32_t i, const json_t *row, uint32_t *seen,
                            ss_error *err)
{
    char place[PLACE];
    snprintf(place, sizeof place, "routes[%u]", i);
    uint32_t first = c->first_of_route[i], n = (uint32_t)json_array_size(row);
    if (!json_is_array(row) || n == 0)
        return expected(c, place, "a list of at least one link", row, err);
    if (n > UINT16_MAX)
        return refuse(c, err, SS_ERANGE, "%s: %u links; a route may have %d", place, n, UINT16_MAX);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t link;
        snprintf(place, sizeof place, "routes[%u][%u]", i, k);
        ss_status s = read_id(c, place, json_array_get(row, k), c->links, "link", &link, err);
        if (s)
            return s;
        if (seen[link] == i + 1)
            return refuse(c, err, SS_EINVAL, "%s: the route crosses link %u twice", place, link);
        seen[link] = i + 1;
        c->route[first + k] = link + 1;
    }
    c->first_of_route[i + 1] = first + n;
    return SS_OK;
}

static ss_status read_routes(content *c, ss_error *err)
{
    json_t *list;
    ss_status s = read_list(c, "routes", false, &list, &c->routes, err);
    uint64_t all = 0;
    for (uint32_t i = 0; i < c->routes && !s; i++)
        all += json_array_size(json_array_get(list, i));
    if (!s && all > UINT32_MAX)
        s = refuse(c, err, SS_ERANGE, "routes: they have %llu links in all",
                   (unsigned long long)all);
    if (!s)
        s = TAKE(c->first_of_route, (size_t)c->routes + 1, "routes");
    if (!s)
        s = TAKE(c->route, all, "routes");
    uint32_t *seen = NULL;
    if (!s)
        s = TAKE(seen, c->links, "routes");
    for (uint32_t i = 0; i < c->routes && !s; i++)
        s = read_route(c, i, json_array_get(list, i), seen, err);
    ss_free(seen);
    return s;
}

static ss_status read_deps(content *c, ss_error *err)
{
    json_t *list;
    ss_status s = read_list(c, "deps", false, &list, &c->deps, err);
    if (!s)
        s = TAKE(c->before, c->deps, "dependencies");
    if (!s)
        s = TAKE(c->after, c->deps, "dependencies");
    for (uint32_t i = 0; i < c->deps && !s; i++) {
        json_t *row = json_array_get(list, i);
        char place[PLACE];
        snprintf(place, sizeof place, "deps[%u]", i);
        if ((s = read_row(c, place, row, 2, "[task before, task after]", err)))
            return s;
        snprintf(place, sizeof place, "deps[%u][0]", i);
        s = read_id(c, place, json_array_get(row, 0), c->tasks, "task", &c->before[i], err);
        if (s)
            return s;
        snprintf(place, sizeof place, "deps[%u][1]", i);
        s = read_id(c, place, json_array_get(row, 1), c->tasks, "task", &c->after[i], err);
        if (!s && c->before[i] == c->after[i])
            s = refuse(c, err, SS_EINVAL, "deps[%u]: task %u waits for itself", i, c->after[i]);
    }
    return s;
}

/* Dependencies by the task that waits, in the order of the file; tasks and rows from 1. */
static ss_status sort_deps(content *c, ss_error *err)
{
    ss_status s = TAKE(c->first_in, (size_t)c->tasks + 2, "dependencies");
    if (!s)
        s = TAKE(c->in, c->deps, "dependencies");
    if (s)
        return s;
    for (uint32_t i = 0; i < c->deps; i++)
        c->first_in[c->after[i] + 1]++;
    for (uint32_t i = 1; i <= c->tasks + 1; i++)
        c->first_in[i] += c->first_in[i - 1];
    for (uint32_t i = c->deps; i-- > 0;)
        c->in[--c->first_in[c->after[i] + 1]] = c->before[i] + 1;
    if (ss_cycle_refuse(c->tasks, c->first_in, c->in, 0, err))
        return ss_fail_in(err, "%s", c->name);
    return SS_OK;
}

static ss_status check_keys(const content *c, ss_error *err)
{
    static const char *const known[] = {"devices", "links", "routes", "tasks", "deps",
                                        "name",    "about", "made",   "expect"};
    enum { KNOWN = sizeof known / sizeof *known };
    const char *key;
    json_t *value;
    json_object_foreach(c->root, key, value)
    {
        uint32_t k = 0;
        while (k < KNOWN && strcmp(key, known[k]) != 0)
            k++;
        if (k < KNOWN)
            continue;
        const char *near = ss_nearest(key, known, KNOWN);
        char quoted[QUOTED + 1];
        return refuse(c, err, SS_EFORMAT, "unknown key \"%s\"%s%s%s", quote(key, quoted),
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return SS_OK;
}

static ss_status parse(const char *text, size_t n, content *c, ss_error *err)
{
    json_error_t where;
    c->root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
    if (!c->root && json_error_code(&where) == json_error_out_of_memory)
        return no_memory(c, "a task graph's text", n, err);
    if (!c->root)
        return ss_fail(err, SS_EFORMAT, "%s:%d:%d: %s", c->name, where.line,
                       where.column > 0 ? where.column : 1, where.text);
    if (!json_is_object(c->root))
        return expected(c, "the file", "an object", c->root, err);
    return check_keys(c, err);
}

/* From here on the graph. */

/* Tasks of the graph that stand for task i of the file. */
typedef struct shape {
    bool is_transfer;
    uint32_t where; /* device or route */
    double seconds;
    int64_t bytes;
} shape;

static ss_status read_task(const content *c, uint32_t i, const json_t *row, shape *out,
                           ss_error *err)
{
    char place[PLACE];
    snprintf(place, sizeof place, "tasks[%u]", i);
    ss_status s =
        read_row(c, place, row, 3, "[\"c\", device, seconds] or [\"x\", route, bytes]", err);
    if (s)
        return s;
    const char *kind = json_string_value(json_array_get(row, 0));
    if (!kind || (strcmp(kind, "c") != 0 && strcmp(kind, "x") != 0)) {
        snprintf(place, sizeof place, "tasks[%u][0]", i);
        return expected(c, place, "\"c\" (compute) or \"x\" (transfer)", json_array_get(row, 0),
                        err);
    }
    *out = (shape){.is_transfer = kind[0] == 'x'};
    snprintf(place, sizeof place, "tasks[%u][1]", i);
    s = out->is_transfer
            ? read_id(c, place, json_array_get(row, 1), c->routes, "route", &out->where, err)
            : read_id(c, place, json_array_get(row, 1), c->devices, "device", &out->where, err);
    if (s)
        return s;
    snprintf(place, sizeof place, "tasks[%u][2]", i);
    json_t *amount = json_array_get(row, 2);
    return out->is_transfer
               ? read_bytes(c, place, amount, &out->bytes, err)
               : read_number(c, place, amount, true, "a time in seconds", &out->seconds, err);
}

static const uint32_t *route_of(const content *c, const shape *x, uint32_t *links)
{
    *links = c->first_of_route[x->where + 1] - c->first_of_route[x->where];
    return c->route + c->first_of_route[x->where];
}

/* Which graph tasks each file task will be, so that it may wait for one that comes later. */
static ss_status number_tasks(const content *c, const shape *x, const ss_dag_options *o, ss_dag *d,
                              ss_error *err)
{
    uint64_t next = 1;
    for (uint32_t i = 0; i < c->tasks; i++) {
        uint64_t all = 1, last = 1;
        if (x[i].is_transfer) {
            uint32_t links;
            route_of(c, &x[i], &links);
            all = ss_tasks_transfer_count(o->mode, links, x[i].bytes, o->segment_bytes,
                                          o->max_segments);
            last = all == 1 ? 1 : all / links; /* one task, or hops of so many segments */
        }
        next += all;
        if (next > UINT32_MAX / 2)
            return refuse(c, err, SS_ERANGE,
                          "tasks[%u]: more than 2^31 tasks with this one's hops "
                          "and segments",
                          i);
        d->first[i] = (ss_task){(uint32_t)(next - last)};
        d->count[i] = (uint32_t)last;
    }
    return SS_OK;
}

static ss_status add_compute(const content *c, const shape *x, uint32_t i, const ss_task *before,
                             uint32_t befores, ss_dag *d, ss_error *err)
{
    ss_task_label label = {.kind = SS_TASK_COMPUTE, .part = i};
    ss_time hold;
    ss_task task;
    ss_status s = ss_time_from_seconds(x->seconds / c->speed[x->where], "time", &hold, err);
    if (!s)
        s = ss_tasks_add(&d->tasks, x->where + 1, hold, 0, &label, &task, err);
    for (uint32_t k = 0; k < befores && !s; k++)
        s = ss_tasks_after(&d->tasks, before[k], err);
    return s;
}

/* As ss_tasks_transfer would refuse it, which counts links from 1. */
static ss_status refuse_slow_link(const content *c, const shape *x, const uint32_t *link,
                                  uint32_t links, ss_error *err)
{
    for (uint32_t k = 0; k < links; k++) {
        ss_time hold;
        char rate[SS_QUANTITY_TEXT];
        double bytes_per_s = c->bytes_per_s[link[k]];
        double seconds = (double)x->bytes / bytes_per_s + c->latency_s[link[k]];
        if (ss_time_from_seconds(seconds, "transfer", &hold, err))
            return ss_fail_in(
                err, "%lld bytes over links[%u] of %s", (long long)x->bytes, link[k] - 1,
                ss_format_quantity(bytes_per_s, SS_UNIT_BYTES_PER_SECOND, rate, sizeof rate));
    }
    return SS_OK;
}

static ss_status add_transfer(const content *c, const shape *x, uint32_t i, const ss_task *before,
                              uint32_t befores, const ss_dag_options *o, ss_dag *d, ss_error *err)
{
    ss_task_label label = {.kind = SS_TASK_TRANSFER, .part = i};
    uint32_t links, n;
    const uint32_t *link = route_of(c, x, &links);
    ss_task first;
    if (o->mode != SS_LINKS_SHARED && o->mode != SS_LINKS_FIFO_PATH &&
        refuse_slow_link(c, x, link, links, err))
        return err->status;
    return ss_tasks_transfer(&d->tasks, link, links, x->bytes, o->segment_bytes, o->max_segments,
                             &label, before, befores, &first, &n, err);
}

/* ss_tasks_finish would refuse it too, but knows neither the file's ids nor the place. */
static ss_status check_order(const content *c, const ss_dag *d, ss_error *err)
{
    for (uint32_t i = 0; i < c->deps; i++) {
        uint32_t a = c->before[i], b = c->after[i];
        ss_task last = {d->first[a].i + d->count[a] - 1};
        if (a < b || !ss_tasks_is_instant(&d->tasks, last))
            continue;
        return refuse(
            c, err, SS_EINVAL,
            "deps[%u]: task %u waits for task %u, which takes no time and has a larger id: "
            "what runs first among equal ready times would be left open; number task %u "
            "before task %u",
            i, b, a, a, b);
    }
    return SS_OK;
}

/* `before` has room for the last tasks of all predecessors of any one task. */
static ss_status add_tasks(const content *c, const shape *x, const ss_dag_options *o,
                           ss_task *before, ss_dag *d, ss_error *err)
{
    for (uint32_t i = 0; i < c->tasks; i++) {
        uint32_t befores = 0;
        for (uint32_t e = c->first_in[i + 1]; e < c->first_in[i + 2]; e++) {
            uint32_t p = c->in[e] - 1;
            for (uint32_t k = 0; k < d->count[p]; k++)
                before[befores++] = (ss_task){d->first[p].i + k};
        }
        ss_status s = x[i].is_transfer ? add_transfer(c, &x[i], i, before, befores, o, d, err)
                                       : add_compute(c, &x[i], i, before, befores, d, err);
        if (s)
            return ss_fail_in(err, "%s: tasks[%u]", c->name, i);
    }
    ss_status s = check_order(c, d, err);
    if (!s && ss_tasks_finish(&d->tasks, err))
        s = ss_fail_in(err, "%s", c->name);
    return s;
}

static uint64_t most_befores(const content *c, const ss_dag *d)
{
    uint64_t most = 0;
    for (uint32_t i = 1; i <= c->tasks; i++) {
        uint64_t sum = 0;
        for (uint32_t e = c->first_in[i]; e < c->first_in[i + 1]; e++)
            sum += d->count[c->in[e] - 1];
        if (sum > most)
            most = sum;
    }
    return most;
}

static ss_status build(const content *c, const shape *x, const ss_dag_options *o, ss_dag *d,
                       ss_error *err)
{
    ss_task *before = NULL;
    d->n = c->tasks;
    ss_status s = TAKE(d->first, c->tasks, "tasks of a file");
    if (!s)
        s = TAKE(d->count, c->tasks, "tasks of a file");
    if (!s)
        s = number_tasks(c, x, o, d, err);
    if (!s)
        s = TAKE(before, most_befores(c, d), "dependencies");
    if (!s &&
        ss_tasks_start(&d->tasks, c->devices, c->links, c->bytes_per_s, c->latency_s, o->mode, err))
        s = ss_fail_in(err, "%s", c->name);
    if (!s)
        s = add_tasks(c, x, o, before, d, err);
    ss_free(before);
    return s;
}

static ss_status read_and_build(content *c, const ss_dag_options *o, ss_dag *d, ss_error *err)
{
    json_t *list;
    shape *x = NULL;
    ss_status s;
    if ((s = read_devices(c, err)) || (s = read_links(c, err)) || (s = read_routes(c, err)) ||
        (s = read_list(c, "tasks", true, &list, &c->tasks, err)))
        return s;
    s = TAKE(x, c->tasks, "tasks of a file");
    for (uint32_t i = 0; i < c->tasks && !s; i++)
        s = read_task(c, i, json_array_get(list, i), &x[i], err);
    if (!s)
        s = read_deps(c, err);
    if (!s)
        s = sort_deps(c, err);
    if (!s)
        s = build(c, x, o, d, err);
    ss_free(x);
    return s;
}

ss_status ss_dag_parse(const char *text, size_t n, const char *name_for_errors,
                       const ss_dag_options *o, ss_dag *out, ss_error *err)
{
    content c = {.name = name_for_errors};
    *out = (ss_dag){0};
    ss_status s = parse(text, n, &c, err);
    if (!s)
        s = read_and_build(&c, o, out, err);
    drop(&c);
    if (s)
        ss_dag_free(out);
    return s;
}

ss_status ss_dag_read(const char *path, const ss_dag_options *o, ss_dag *out, ss_error *err)
{
    ss_text text = {0};
    *out = (ss_dag){0};
    ss_status s = ss_file_read(path, SS_DAG_MOST_BYTES, &text, err);
    if (!s)
        s = ss_dag_parse(ss_text_get(&text), text.n, path, o, out, err);
    ss_text_free(&text);
    return s;
}
