#include "config.h"

#include "io/trace.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "graph/tasks.h"
#include "steps.h"

static ss_error err;
static const char path[] = "test_trace.json";

enum { MOST = 20000 };

typedef struct event {
    int64_t start, end; /* picoseconds */
    int64_t pid, tid;
} event;

/* Exact: a time is printed with six decimals of a microsecond. */
static int64_t picoseconds(const json_t *e, const char *name)
{
    double us = json_real_value(json_object_get(e, name));
    return (int64_t)(us * 1e6 + 0.5);
}

static json_t *load(void)
{
    json_error_t at;
    json_t *j = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
    if (!j)
        printf("  line %d: %s\n", at.line, at.text);
    return j;
}

static const char *text(const json_t *e, const char *name)
{
    const char *s = json_string_value(json_object_get(e, name));
    return s ? s : "";
}

static uint32_t count(const json_t *j, const char *phase)
{
    uint32_t n = 0;
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(j, "traceEvents"), i, e) n += !strcmp(text(e, "ph"), phase);
    return n;
}

static event slice_list[MOST];
static uint32_t slices;

static int by_lane_then_start(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void list_slices(const json_t *j)
{
    size_t i;
    json_t *e;
    slices = 0;
    json_array_foreach(json_object_get(j, "traceEvents"), i, e)
    {
        if (strcmp(text(e, "ph"), "X") || slices == MOST)
            continue;
        int64_t ts = picoseconds(e, "ts");
        slice_list[slices++] =
            (event){ts, ts + picoseconds(e, "dur"), json_integer_value(json_object_get(e, "pid")),
                    json_integer_value(json_object_get(e, "tid"))};
    }
    qsort(slice_list, slices, sizeof slice_list[0], by_lane_then_start);
}

static bool slices_follow_each_other(void)
{
    for (uint32_t i = 1; i < slices; i++) {
        const event *a = &slice_list[i - 1], *b = &slice_list[i];
        if (a->pid == b->pid && a->tid == b->tid && b->start < a->end)
            return false;
    }
    return true;
}

/* As a viewer sees it: instants and lengths cut to nanoseconds. */
static bool inside_a_slice(const json_t *e)
{
    int64_t at = picoseconds(e, "ts"), pid = json_integer_value(json_object_get(e, "pid")),
            tid = json_integer_value(json_object_get(e, "tid"));
    for (uint32_t i = 0; i < slices; i++) {
        const event *s = &slice_list[i];
        int64_t ns = s->start / 1000, length = (s->end - s->start) / 1000;
        if (s->pid == pid && s->tid == tid && at >= s->start &&
            (at / 1000 < ns + length || (length == 0 && at == s->start)))
            return true;
    }
    return false;
}

static void check_trace(const ss_view *v, const ss_trace_counts *c)
{
    json_t *j = load();
    CHECK(j);
    list_slices(j);
    CHECK(slices == c->slices && slices_follow_each_other(), "%u slices", slices);
    size_t i;
    json_t *e;
    static int64_t begun[MOST];
    memset(begun, 0, sizeof begun);
    json_array_foreach(json_object_get(j, "traceEvents"), i, e)
    {
        const char *phase = text(e, "ph");
        CHECK(json_is_integer(json_object_get(e, "pid")) &&
              json_is_integer(json_object_get(e, "tid")));
        CHECK(!strcmp(phase, "M") || picoseconds(e, "ts") >= 0);
        if (*phase != 's' && *phase != 'f')
            continue;
        int64_t id = json_integer_value(json_object_get(e, "id"));
        CHECK(inside_a_slice(e), "flow %d", (int)id);
        CHECK(id > 0 && id < MOST && begun[id] == (*phase == 's' ? 0 : 1), "flow %d", (int)id);
        begun[id] += 1;
        CHECK(*phase == 's' || !strcmp(text(e, "bp"), "e"));
    }
    CHECK(count(j, "s") == c->flows && count(j, "f") == c->flows && count(j, "C") == c->counters);
    CHECK(v->tasks);
    json_decref(j);
}

static void a_trace_is_what_viewers_want(void)
{
    step s;
    ss_trace_counts c;
    for (int mode = 0; mode < SS_LINKS_MODES; mode++) {
        ss_lower_options o = ss_lower_options_start();
        o.links = (ss_links_mode)mode;
        o.update_passes = 1;
        step_small(&s, &o);
        CHECK_OK(ss_trace_write(&s.view, path, NULL, &c, &err));
        check_trace(&s.view, &c);
        CHECK(c.flows > 0 && c.counters == s.view.helds && c.left_out == 0);
        CHECK(c.slices == s.view.tasks + s.view.mores);
        step_free(&s);
    }
    remove(path);
}

static void times_are_exact_to_the_picosecond(void)
{
    ss_view_lane lane[2] = {{.name = ""}, {.name = "d", .kind = ""}};
    ss_view_task task[2] = {{.name = ""},
                            {.id = 1,
                             .lane = 1,
                             .lanes = 1,
                             .kind = SS_TASK_COMPUTE,
                             .name = "t",
                             .op = "t",
                             .start = 1234567890123456789,
                             .end = 1234567890123456790,
                             .finish = 1234567890123456790}};
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .assumptions = "",
                 .devices = 1,
                 .lanes = 1,
                 .tasks = 1,
                 .lane = lane,
                 .task = task};
    char all[4000] = "";
    CHECK_OK(ss_trace_write(&v, path, NULL, NULL, &err));
    FILE *f = fopen(path, "r");
    CHECK(f && fread(all, 1, sizeof all - 1, f) > 0);
    fclose(f);
    CHECK_TEXT(all, "\"ts\":1234567890123.456789,\"dur\":0.000001");
    remove(path);
}

/* A link that several messages share at once: what would cross another goes beside it. */
static void overlapping_slices_get_lanes_of_their_own(void)
{
    ss_view_lane lane[3] = {
        {.name = ""}, {.name = "d", .kind = ""}, {.name = "l", .kind = "ib", .is_link = true}};
    ss_view_task task[5] = {{.name = ""}};
    const int64_t when[5][2] = {{0, 0}, {0, 10000}, {4000, 12000}, {10000, 15000}, {11000, 20000}};
    for (uint32_t i = 1; i <= 4; i++)
        task[i] = (ss_view_task){.id = i,
                                 .lane = 2,
                                 .lanes = 1,
                                 .kind = SS_TASK_TRANSFER,
                                 .name = "m",
                                 .op = "m",
                                 .start = when[i][0],
                                 .end = when[i][1],
                                 .finish = when[i][1]};
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .assumptions = "",
                 .devices = 1,
                 .lanes = 2,
                 .tasks = 4,
                 .lane = lane,
                 .task = task};
    ss_trace_counts c;
    CHECK_OK(ss_trace_write(&v, path, NULL, &c, &err));
    check_trace(&v, &c);
    int64_t first = slice_list[0].tid, last = slice_list[3].tid;
    CHECK(first != last && slice_list[0].pid == slice_list[3].pid, "two lanes, then a third");
    json_t *j = load();
    size_t i;
    json_t *e;
    uint32_t named = 0;
    json_array_foreach(json_object_get(j, "traceEvents"), i, e)
    {
        const char *name = text(json_object_get(e, "args"), "name");
        named += !strcmp(text(e, "name"), "thread_name") &&
                 (!strcmp(name, "l") || !strcmp(name, "l (2)") || !strcmp(name, "l (3)"));
    }
    CHECK(named == 3, "%u lanes have names", named);
    json_decref(j);
    remove(path);
}

static void a_window_keeps_what_touches_it(void)
{
    step s;
    ss_trace_counts all, some;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    ss_time half = s.view.step_time / 2;
    ss_trace_options w = {.from = half, .to = half + half / 4};
    CHECK_OK(ss_trace_write(&s.view, path, NULL, &all, &err));
    CHECK_OK(ss_trace_write(&s.view, path, &w, &some, &err));
    check_trace(&s.view, &some);
    uint32_t wanted = 0;
    for (uint32_t i = 1; i <= s.view.tasks; i++)
        wanted += s.view.task[i].end >= w.from && s.view.task[i].start <= w.to;
    CHECK(some.slices == wanted && some.slices + some.left_out == s.view.tasks);
    CHECK(some.slices > 0 && some.slices < all.slices && some.flows < all.flows);
    CHECK(some.counters >= 4, "each device's memory at the beginning: %u", some.counters);
    w = (ss_trace_options){.from = half, .to = half};
    CHECK(ss_trace_write(&s.view, path, &w, NULL, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "the window is empty");
    step_free(&s);
    remove(path);
}

static void a_filter_takes_names_or_patterns(void)
{
    step s;
    ss_trace_counts c;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    ss_trace_options w = {.only = "fc2.forward"};
    CHECK_OK(ss_trace_write(&s.view, path, &w, &c, &err));
    CHECK(c.slices == 2, "%u", c.slices);
    w.only = "fc[13].*ward?[03]?";
    CHECK_OK(ss_trace_write(&s.view, path, &w, &c, &err));
    check_trace(&s.view, &c);
    CHECK(c.slices == 6, "fc1 and fc3, forward and backward, parts 0 and 3: %u", c.slices);
    w = (ss_trace_options){.no_flows = true, .no_memory = true};
    CHECK_OK(ss_trace_write(&s.view, path, &w, &c, &err));
    CHECK(c.flows == 0 && c.counters == 0);
    step_free(&s);
    remove(path);
}

static void names_are_escaped(void)
{
    const char *odd = "\"quoted\" \\ \n \x01 \xff end";
    ss_view_lane lane[3] = {
        {.name = ""}, {.name = odd, .kind = odd}, {.name = odd, .kind = odd, .is_link = true}};
    ss_view_task task[2] = {{.name = ""},
                            {.id = 1,
                             .lane = 2,
                             .lanes = 1,
                             .kind = SS_TASK_TRANSFER,
                             .name = odd,
                             .op = odd,
                             .end = 9,
                             .finish = 9}};
    ss_view v = {.model = odd,
                 .topology = odd,
                 .strategy = odd,
                 .assumptions = odd,
                 .devices = 1,
                 .lanes = 2,
                 .tasks = 1,
                 .lane = lane,
                 .task = task};
    ss_trace_counts c;
    ss_trace_options w = {.only = odd};
    CHECK_OK(ss_trace_write(&v, path, &w, &c, &err));
    json_t *j = load();
    CHECK(j && c.slices == 1);
    CHECK_TEXT(text(json_object_get(j, "otherData"), "model"),
               "\"quoted\" \\ \n \x01 \xef\xbf\xbd end");
    json_decref(j);
    remove(path);
}

static void what_cannot_be_written_leaves_nothing(void)
{
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    CHECK(ss_trace_write(&s.view, "no/such/folder/t.json", NULL, NULL, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "no/such/folder");
    size_t blocks = ss_mem_blocks();
    ss_status status = SS_ENOMEM;
    for (int64_t n = 0; status == SS_ENOMEM; n++) {
        ss_mem_fail_after(n);
        status = ss_trace_write(&s.view, path, NULL, NULL, &err);
        ss_mem_fail_never();
        struct stat is;
        CHECK(ss_mem_blocks() == blocks && n < 500, "request %d", (int)n);
        CHECK(status == SS_OK || (status == SS_ENOMEM && stat(path, &is)), "%s", err.text);
    }
    step_free(&s);
    remove(path);
}

int main(void)
{
    RUN(a_trace_is_what_viewers_want);
    RUN(times_are_exact_to_the_picosecond);
    RUN(overlapping_slices_get_lanes_of_their_own);
    RUN(a_window_keeps_what_touches_it);
    RUN(a_filter_takes_names_or_patterns);
    RUN(names_are_escaped);
    RUN(what_cannot_be_written_leaves_nothing);
    return DONE();
}
