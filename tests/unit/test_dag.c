#include "check.h"

#include "base/mem.h"
#include "io/dag.h"
#include "simulate/engine.h"

static ss_error err;
static const ss_dag_options hop = {.mode = SS_LINKS_FIFO_HOP};

static ss_status parse(const char *text, const ss_dag_options *o, ss_dag *d)
{
    return ss_dag_parse(text, strlen(text), "x.json", o, d, &err);
}

/* The parts of a small graph, each of which can be replaced by something wrong. */
#define FILE_OF(devices, links, routes, tasks, deps)                                               \
    "{\"devices\":" devices ",\n\"links\":" links ",\n\"routes\":" routes ",\n\"tasks\":" tasks    \
    ",\n\"deps\":" deps "}"
#define DEVICES "[1.0, 0.5]"
#define LINKS "[[1e9, 1e-6], [2e9, 0]]"
#define ROUTES "[[0], [0, 1]]"
#define TASKS "[[\"c\", 0, 1e-3], [\"x\", 1, 1000], [\"c\", 1, 2e-3]]"
#define DEPS "[[0, 1], [1, 2]]"

static const struct wrong {
    const char *text, *sentence;
    ss_status status;
} wrongs[] = {
    {"", "x.json:1:1: ", SS_EFORMAT},
    {"{\"tasks\":\n [[\"c\", 0, 1e-3],\n", "x.json:3:", SS_EFORMAT},
    {"{\"tasks\": [[\"c\", 0, 00]]}", "x.json:1:", SS_EFORMAT},
    {"{\"tasks\": [[\"c\", 0, NaN]]}", "x.json:1:", SS_EFORMAT},
    {"{\"tasks\": [[\"c\", 0, 1e999]]}", "real number overflow", SS_EFORMAT},
    {"{\"tasks\": [[\"c\", 0, 99999999999999999999]]}", "too big integer", SS_EFORMAT},
    {"{\"tasks\": [], \"tasks\": []}", "duplicate object key", SS_EFORMAT},
    {"{\"tasks\": []} trailing", "x.json:1:", SS_EFORMAT},
    {"[]", "x.json: the file: expected an object, got a list of 0", SS_EFORMAT},
    {"{}", "x.json: there is no \"tasks\"", SS_EFORMAT},
    {"{\"tasks\": [], \"dep\": []}", "unknown key \"dep\"; did you mean \"deps\"?", SS_EFORMAT},
    {"{\"tasks\": [], \"zzzzzzzz\": []}", "unknown key \"zzzzzzzz\"", SS_EFORMAT},
    {FILE_OF("{}", LINKS, ROUTES, TASKS, DEPS), "devices: expected a list, got an object",
     SS_EFORMAT},
    {FILE_OF("[1, 0]", LINKS, ROUTES, TASKS, DEPS),
     "devices[1]: a device's relative speed is 0; it must be more than 0", SS_EINVAL},
    {FILE_OF("[1, \"fast\"]", LINKS, ROUTES, TASKS, DEPS),
     "devices[1]: expected a device's relative speed, got \"fast\"", SS_EFORMAT},
    {FILE_OF("[\"a\\n\\u00e4bcdefghijklmnopqrst\\u00e4uvw\"]", LINKS, ROUTES, TASKS, DEPS),
     "relative speed, got \"a?\xc3\xa4"
     "bcdefghijklmnopqrst\"",
     SS_EFORMAT},
    {FILE_OF(DEVICES, "[[1e9], [2e9, 0]]", ROUTES, TASKS, DEPS),
     "links[0]: expected [bytes per second, latency in seconds], got a list of 1", SS_EFORMAT},
    {FILE_OF(DEVICES, "[[1e9, 1e-6], [-2e9, 0]]", ROUTES, TASKS, DEPS), "links[1][0]: a bandwidth",
     SS_EINVAL},
    {FILE_OF(DEVICES, "[[1e9, -1e-6], [2e9, 0]]", ROUTES, TASKS, DEPS), "links[0][1]: a latency",
     SS_EINVAL},
    {FILE_OF(DEVICES, "[[1e9, null], [2e9, 0]]", ROUTES, TASKS, DEPS),
     "links[0][1]: expected a latency in seconds, got null", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, "[[], [0, 1]]", TASKS, DEPS),
     "routes[0]: expected a list of at least one link, got a list of 0", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, "[[0], [0, 2]]", TASKS, DEPS),
     "routes[1][1]: link 2 does not exist; links are 0 to 1", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, "[[0], [1, 1]]", TASKS, DEPS),
     "routes[1][1]: the route crosses link 1 twice", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, "[[0], 1]", TASKS, DEPS), "routes[1]: expected a list", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, "[[0], [0.5]]", TASKS, DEPS),
     "routes[1][0]: expected a whole number, got 0.5", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 2, 1]]", "[]"),
     "tasks[0][1]: device 2 does not exist; devices are 0 to 1", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", -1, 1]]", "[]"), "tasks[0][1]: device -1",
     SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 0, 1], [\"x\", 9, 1]]", "[]"),
     "tasks[1][1]: route 9 does not exist; routes are 0 to 1", SS_EINVAL},
    {FILE_OF(DEVICES, "[]", "[]", "[[\"x\", 0, 1]]", "[]"),
     "tasks[0][1]: route 0 does not exist; there are no routes", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"y\", 0, 1]]", "[]"),
     "tasks[0][0]: expected \"c\" (compute) or \"x\" (transfer), got \"y\"", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[0, 0, 1]]", "[]"), "tasks[0][0]: expected", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 0]]", "[]"), "tasks[0]: expected [\"c\", device",
     SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 0, -1e-3]]", "[]"),
     "tasks[0][2]: a time in seconds is -0.001; it must be 0 or more", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 1, 9e6]]", "[]"), "the longest time is 106 days",
     SS_ERANGE},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"x\", 0, -5]]", "[]"),
     "tasks[0][2]: a number of bytes is -5", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"x\", 0, 1.5]]", "[]"),
     "tasks[0][2]: 1.5 bytes; a payload is a whole number", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"x\", 0, 1e30]]", "[]"), "are more than 2^63", SS_ERANGE},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"x\", 0, 9000000000000000000]]", "[]"),
     "x.json: tasks[0]: 9000000000000000000 bytes over links[0] of 1.000 GB/s: transfer is 9e+09 s",
     SS_ERANGE},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"x\", 0, true]]", "[]"),
     "tasks[0][2]: expected a number of bytes, got true", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, TASKS, "[[0, 3]]"),
     "deps[0][1]: task 3 does not exist; tasks are 0 to 2", SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, TASKS, "[[0, 1], [1]]"),
     "deps[1]: expected [task before, task after], got a list of 1", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, TASKS, "[[0, \"1\"]]"),
     "deps[0][1]: expected a whole number, got \"1\"", SS_EFORMAT},
    {FILE_OF(DEVICES, LINKS, ROUTES, TASKS, "[[1, 1]]"), "deps[0]: task 1 waits for itself",
     SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, TASKS, "[[0, 1], [1, 2], [2, 0]]"),
     "x.json: tasks wait for each other in a circle: task 0, which waits for task 2, which waits "
     "for task 1, which waits for task 0",
     SS_EINVAL},
    {FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 0, 1], [\"c\", 0, 0]]", "[[1, 0]]"),
     "x.json: deps[0]: task 0 waits for task 1, which takes no time and has a larger id",
     SS_EINVAL},
};

static void every_wrong_file_is_refused_in_its_own_words(void)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        ss_dag d;
        ss_status s = parse(wrongs[i].text, &hop, &d);
        CHECK(s == wrongs[i].status, "%zu: %d %s", i, (int)s, s ? err.text : wrongs[i].text);
        CHECK(strstr(err.text, wrongs[i].sentence), "%zu: %s", i, err.text);
        CHECK(strncmp(err.text, "x.json:", 7) == 0, "%zu: %s", i, err.text);
        CHECK(d.n == 0 && d.first == NULL && ss_mem_blocks() == 0, "%zu", i);
    }
}

static void a_file_cut_short_anywhere_is_refused(void)
{
    static const char whole[] = FILE_OF(DEVICES, LINKS, ROUTES, TASKS, DEPS);
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        ss_dag d;
        CHECK(ss_dag_parse(whole, n, "x.json", &hop, &d, &err) == SS_EFORMAT, "%zu", n);
        CHECK_TEXT(err.text, "x.json:");
    }
    ss_dag d;
    CHECK_OK(ss_dag_parse(whole, sizeof whole - 1, "x.json", &hop, &d, &err));
    ss_dag_free(&d);
}

static void deep_nesting_is_refused(void)
{
    enum { DEEP = 100000 };
    static char text[2 * DEEP + 1];
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    ss_dag d;
    CHECK(ss_dag_parse(text, 2 * DEEP, "x.json", &hop, &d, &err) == SS_EFORMAT);
    CHECK_TEXT(err.text, "maximum parsing depth reached");
}

static void a_missing_file_and_a_folder_are_told_apart(void)
{
    ss_dag d;
    CHECK(ss_dag_read("/nonexistent/x.json", &hop, &d, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "/nonexistent/x.json");
    CHECK(ss_dag_read("/", &hop, &d, &err) == SS_EINVAL, "%s", err.text);
}

static void a_file_becomes_its_graph(void)
{
    ss_dag d;
    CHECK_OK(parse(FILE_OF(DEVICES, LINKS, ROUTES, TASKS, DEPS), &hop, &d));
    CHECK(d.n == 3 && d.tasks.n == 4 && d.tasks.devices == 2 && d.tasks.links == 2);
    CHECK(d.first[0].i == 1 && d.first[1].i == 3 && d.first[2].i == 4);
    CHECK(d.count[0] == 1 && d.count[1] == 1 && d.count[2] == 1);
    CHECK(d.tasks.hold[1] == 1000000000 && d.tasks.hold[4] == 4000000000);
    CHECK(d.tasks.hold[2] == 1000000 + 1000000 && d.tasks.hold[3] == 500000);
    CHECK(d.tasks.where[1] == 1 && d.tasks.where[2] == 3 && d.tasks.where[3] == 4);
    CHECK(d.tasks.label[3].kind == SS_TASK_TRANSFER && d.tasks.label[3].part == 1);
    CHECK(d.tasks.finished && d.tasks.edges == 3);
    ss_dag_free(&d);

    ss_dag_options o = {SS_LINKS_FIFO_PATH, 0, 0};
    CHECK_OK(parse(FILE_OF(DEVICES, LINKS, ROUTES, TASKS, DEPS), &o, &d));
    CHECK(d.tasks.n == 3 && d.tasks.hold[2] == 2000000);
    ss_dag_free(&d);

    o = (ss_dag_options){SS_LINKS_FIFO_PIPE, 300, 8};
    CHECK_OK(parse(FILE_OF(DEVICES, LINKS, ROUTES, TASKS, DEPS), &o, &d));
    CHECK(d.tasks.n == 10 && d.first[1].i == 6 && d.count[1] == 4 && d.first[2].i == 10);
    CHECK(d.tasks.first_in[11] - d.tasks.first_in[10] == 4);
    ss_dag_free(&d);

    CHECK_OK(parse("{\"tasks\": []}", &hop, &d));
    CHECK(d.n == 0 && d.tasks.n == 0 && d.tasks.finished);
    ss_dag_free(&d);
}

/* A task may wait for a later one, a dependency may be said twice, bytes may be written as a real.
 */
static void the_order_of_a_file_is_free(void)
{
    ss_dag d;
    CHECK_OK(parse(
        FILE_OF(DEVICES, LINKS, ROUTES, "[[\"c\", 0, 1], [\"x\", 1, 1e3]]", "[[1, 0], [1, 0]]"),
        &hop, &d));
    ss_engine *e;
    ss_timeline l = {0};
    CHECK_OK(ss_engine_new(&e, &err));
    CHECK_OK(ss_engine_run(e, &d.tasks, &l, &err));
    CHECK_OK(ss_timeline_check(&d.tasks, &l, &err));
    CHECK(l.ready[1] == 2500000, "%lld", (long long)l.ready[1]);
    ss_timeline_free(&l);
    ss_engine_free(e);
    ss_dag_free(&d);
}

static void no_memory_is_said_and_nothing_stays(void)
{
    static const char whole[] = FILE_OF(DEVICES, LINKS, ROUTES, TASKS, DEPS);
    for (int64_t k = 0;; k++) {
        ss_dag d;
        ss_mem_fail_after(k);
        ss_status s = parse(whole, &hop, &d);
        ss_mem_fail_never();
        if (!s) {
            ss_dag_free(&d);
            break;
        }
        CHECK(s == SS_ENOMEM, "%s", err.text);
        CHECK(ss_mem_blocks() == 0, "failure %d", (int)k);
    }
}

int main(void)
{
    RUN(every_wrong_file_is_refused_in_its_own_words);
    RUN(a_file_cut_short_anywhere_is_refused);
    RUN(deep_nesting_is_refused);
    RUN(a_missing_file_and_a_folder_are_told_apart);
    RUN(a_file_becomes_its_graph);
    RUN(the_order_of_a_file_is_free);
    RUN(no_memory_is_said_and_nothing_stays);
    return DONE();
}
