#include "config.h"

#include "io/dot.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "check.h"
#include "graph/tasks.h"
#include "steps.h"

static ss_error err;

static uint32_t count(const char *text, const char *what)
{
    uint32_t n = 0;
    for (const char *c = text; (c = strstr(c, what)); c += strlen(what))
        n++;
    return n;
}

/* Is Graphviz there, and does it take the text? Prints what it says. */
static int graphviz(const char *text)
{
    if (system("dot -V >/dev/null 2>&1"))
        return 77;
    FILE *f = popen("dot -Tsvg >test_dot.svg 2>test_dot.said", "w");
    if (!f)
        return 77;
    fputs(text, f);
    int status = pclose(f);
    struct stat is, said;
    bool drawn = !stat("test_dot.svg", &is) && is.st_size > 1000;
    bool quiet = !stat("test_dot.said", &said) && said.st_size == 0;
    remove("test_dot.svg");
    remove("test_dot.said");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && drawn && quiet ? 0 : 1;
}

static void a_small_graph_is_drawn_whole(void)
{
    step s;
    ss_text t = {0};
    ss_dot_merging merging;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    CHECK_OK(ss_dot_text(&s.view, NULL, &t, &merging, &err));
    CHECK(merging == SS_DOT_TASKS && count(t.at, "subgraph cluster_") == 2);
    CHECK(count(t.at, " -> t") == s.view.edges, "%u arrows", count(t.at, " -> t"));
    CHECK_TEXT(t.at, "t3 -> t5 [penwidth=2.5];"); /* on the critical path */
    CHECK_TEXT(t.at, "t4 -> t6;");
    CHECK(!strstr(t.at, "dashed") && !strstr(t.at, "merged"));
    CHECK(graphviz(t.at) != 1, "graphviz takes it");
    ss_text_clear(&t);
    CHECK_OK(ss_dot_text(&s.view, &(ss_dot_options){.device_order = true}, &t, NULL, &err));
    CHECK_TEXT(t.at, "t2 -> t5 [style=dashed, color=gray50, constraint=false];");
    CHECK_TEXT(t.at, "t5 -> t6 [style=dashed");
    ss_text_free(&t);
    step_free(&s);
}

static void the_hops_of_a_message_are_merged_first(void)
{
    step s;
    ss_text t = {0};
    ss_dot_merging merging;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    uint32_t first_hops = 0;
    for (uint32_t i = 1; i <= s.view.tasks; i++)
        first_hops += s.view.task[i].hop == 0;
    CHECK_OK(ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = first_hops}, &t, &merging, &err));
    CHECK(merging == SS_DOT_MESSAGES && count(t.at, "fillcolor=") == first_hops,
          "%u nodes, %u tasks", count(t.at, "fillcolor="), first_hops);
    CHECK(!strstr(t.at, "(hop"));
    CHECK_TEXT(t.at, "fc1[2] -> fc2[0]\\n180.8 us, 93.75 KiB"); /* four hops, its bytes once */
    CHECK_TEXT(t.at, "nodes: the hops of a message\"");
    CHECK(graphviz(t.at) != 1);
    ss_text_free(&t);
    step_free(&s);
}

/* Reads the arrows back.  Takes away what nothing leads to until nothing is left. */
static bool has_a_circle(const char *text, uint32_t tasks)
{
    uint32_t *from = calloc(strlen(text), sizeof *from), *to = calloc(strlen(text), sizeof *to);
    bool *gone = calloc(tasks + (size_t)1, sizeof *gone), *led = calloc(tasks + (size_t)1, 1);
    uint32_t n = 0, left = UINT32_MAX, before = 0;
    for (const char *c = text; (c = strstr(c, "\n  t")); c++)
        n += sscanf(c, "\n  t%u -> t%u", &from[n], &to[n]) == 2;
    while (left != before) {
        before = left;
        left = 0;
        memset(led, 0, tasks + (size_t)1);
        for (uint32_t i = 0; i < n; i++)
            led[to[i]] |= !gone[from[i]];
        for (uint32_t i = 0; i < n; i++) {
            gone[from[i]] |= !led[from[i]];
            left += !gone[from[i]];
        }
    }
    free(from);
    free(to);
    free(gone);
    free(led);
    return left > 0;
}

/* Steps of several ways to be parallel, and every few limits: never more nodes than asked for,
 * nearly as many, and no circle. */
static void merging_nearly_reaches_its_limit_and_closes_no_circle(void)
{
    for (int way = 0; way < 4; way++) {
        step s;
        ss_lower_options o = ss_lower_options_start();
        if (way < 3)
            step_nmt(&s, 1 + (way > 0), 2, way != 1, &o);
        else
            step_small(&s, &o);
        for (uint32_t most = 1; most < s.view.tasks + 40; most += 1 + most / 3) {
            ss_text t = {0};
            ss_dot_merging merging;
            CHECK_OK(
                ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = most}, &t, &merging, &err));
            uint32_t nodes = count(t.at, "fillcolor=");
            CHECK(nodes <= most, "way %d: %u nodes, at most %u", way, nodes, most);
            CHECK(most < 24 || nodes == s.view.tasks || nodes >= most - most / 10 - 3,
                  "way %d: %u nodes of %u, at most %u, level %d", way, nodes, s.view.tasks, most,
                  (int)merging);
            CHECK((merging == SS_DOT_TASKS) == (most >= s.view.tasks));
            CHECK(!has_a_circle(t.at, s.view.tasks), "way %d, at most %u", way, most);
            ss_text_free(&t);
        }
        step_free(&s);
    }
}

static void a_merged_graph_says_so_and_can_be_drawn(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_nmt(&s, 2, 2, true, &o);
    for (uint32_t most = 10; most < 300; most += 70) {
        ss_text t = {0};
        CHECK_OK(ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = most}, &t, NULL, &err));
        char note[80];
        snprintf(note, sizeof note, "%u tasks merged into %u nodes: ", s.view.tasks,
                 count(t.at, "fillcolor="));
        CHECK(strstr(t.at, note), "no \"%s\" in\n%.300s", note, t.at);
        CHECK(!strstr(t.at, "weight_gradient"));
        CHECK(most < 80 || strstr(t.at, "weight gradient"));
        CHECK(graphviz(t.at) != 1);
        ss_text_free(&t);
    }
    step_free(&s);
}

/* a forwards, then b, then a again: an operator a that is one node would be before and behind b.
 * Rows are in an order that no lowering has. */
static void what_would_close_a_circle_stays_apart(void)
{
    static const char *const op[] = {"", "a", "b", "a", "a"};
    uint32_t edge[][2] = {{3, 2}, {2, 1}, {3, 4}};
    ss_view_lane lane[2] = {{.name = ""}, {.name = "d", .kind = ""}};
    ss_view_task task[5] = {{.name = ""}};
    for (uint32_t i = 1; i <= 4; i++)
        task[i] = (ss_view_task){.id = i,
                                 .lane = 1,
                                 .lanes = 1,
                                 .kind = SS_TASK_FORWARD,
                                 .name = op[i],
                                 .op = op[i],
                                 .end = 10 + i,
                                 .finish = 10 + i};
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .devices = 1,
                 .lanes = 1,
                 .tasks = 4,
                 .edges = 3,
                 .lane = lane,
                 .task = task,
                 .edge = edge};
    ss_text t = {0};
    CHECK_OK(ss_dot_text(&v, &(ss_dot_options){.max_nodes = 3}, &t, NULL, &err));
    CHECK(count(t.at, "fillcolor=") == 3 && !has_a_circle(t.at, 4), "%s", t.at);
    CHECK_TEXT(t.at, "t3 -> t2;");
    CHECK_TEXT(t.at, "t2 -> t1;");
    CHECK_TEXT(t.at, "a forward\\n2 tasks\\n27.00 ps");
    ss_text_free(&t);
}

static void merged_nodes_keep_all_time_and_bytes(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_nmt(&s, 2, 2, true, &o);
    ss_text t = {0};
    CHECK_OK(ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = 3}, &t, NULL, &err));
    ss_time forward = 0;
    uint32_t tasks = 0, messages = 0;
    int64_t bytes = 0;
    for (uint32_t i = 1; i <= s.view.tasks; i++) {
        const ss_view_task *v = &s.view.task[i];
        if (v->kind != SS_TASK_FORWARD && v->cargo != SS_CARGO_ACTIVATION)
            continue;
        forward += v->finish - v->start;
        tasks += v->kind == SS_TASK_FORWARD;
        messages += v->cargo == SS_CARGO_ACTIVATION && v->hop == 0;
        bytes += v->cargo == SS_CARGO_ACTIVATION && v->hop == 0 ? v->bytes : 0;
    }
    CHECK(messages > 0 && bytes > 0);
    char wanted[160], time[SS_QUANTITY_TEXT], size[SS_QUANTITY_TEXT];
    snprintf(wanted, sizeof wanted, "forward and its messages\\n%u tasks, %u messages\\n%s, %s\"",
             tasks, messages, ss_format_time(forward, time, sizeof time),
             ss_format_quantity((double)bytes, SS_UNIT_BYTES, size, sizeof size));
    CHECK_TEXT(t.at, wanted);
    ss_text_free(&t);
    step_free(&s);
}

static void names_are_escaped(void)
{
    const char *odd = "a\"b\\c\nd\x01";
    ss_view_lane lane[2] = {{.name = ""}, {.name = odd, .kind = odd}};
    ss_view_task task[2] = {{.name = ""},
                            {.id = 1,
                             .lane = 1,
                             .lanes = 1,
                             .kind = SS_TASK_FORWARD,
                             .name = odd,
                             .op = odd,
                             .end = 9,
                             .finish = 9}};
    ss_view v = {.model = odd,
                 .topology = odd,
                 .strategy = odd,
                 .assumptions = odd,
                 .devices = 1,
                 .lanes = 1,
                 .tasks = 1,
                 .lane = lane,
                 .task = task};
    ss_text t = {0};
    CHECK_OK(ss_dot_text(&v, NULL, &t, NULL, &err));
    CHECK_TEXT(t.at, "t1 [label=\"a\\\"b\\\\c d \\n");
    CHECK_TEXT(t.at, "label=\"a\\\"b\\\\c d \"; color");
    CHECK(graphviz(t.at) != 1);
    ss_text_free(&t);
}

static void no_memory_is_said_and_nothing_is_left(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    size_t blocks = ss_mem_blocks();
    ss_status status = SS_ENOMEM;
    for (int64_t n = 0; status == SS_ENOMEM; n++) {
        ss_text t = {0};
        ss_mem_fail_after(n);
        status = ss_dot_text(&s.view, &(ss_dot_options){.device_order = true}, &t, NULL, &err);
        ss_mem_fail_never();
        ss_text_free(&t);
        CHECK(ss_mem_blocks() == blocks && n < 1000 && (!status || status == SS_ENOMEM));
    }
    step_free(&s);
}

int main(void)
{
    RUN(a_small_graph_is_drawn_whole);
    RUN(the_hops_of_a_message_are_merged_first);
    RUN(merging_nearly_reaches_its_limit_and_closes_no_circle);
    RUN(a_merged_graph_says_so_and_can_be_drawn);
    RUN(what_would_close_a_circle_stays_apart);
    RUN(merged_nodes_keep_all_time_and_bytes);
    RUN(names_are_escaped);
    RUN(no_memory_is_said_and_nothing_is_left);
    return DONE();
}
