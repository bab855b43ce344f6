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

static void the_hops_of_a_message_are_one_node(void)
{
    step s;
    ss_text t = {0};
    ss_dot_merging merging;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    uint32_t first_hops = 0;
    for (uint32_t i = 1; i <= s.view.tasks; i++)
        first_hops += s.view.task[i].hop == 0;
    CHECK_OK(ss_dot_text(&s.view, NULL, &t, &merging, &err));
    CHECK(merging == SS_DOT_TASKS && count(t.at, "fillcolor=") == first_hops, "%u nodes, %u tasks",
          count(t.at, "fillcolor="), first_hops);
    CHECK(!strstr(t.at, "(hop"));
    CHECK_TEXT(t.at, "fc1[2] -> fc2[0]\\n180.8 us, 93.75 KiB"); /* four hops, its bytes once */
    CHECK(graphviz(t.at) != 1);
    ss_text_free(&t);
    step_free(&s);
}

static void a_large_graph_is_merged_until_it_can_be_read(void)
{
    const uint32_t most[] = {0, 40, 20};
    const ss_dot_merging wanted[] = {SS_DOT_LAYERS, SS_DOT_KINDS, SS_DOT_DEVICES};
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_nmt(&s, 2, 2, true, &o);
    for (int i = 0; i < 3; i++) {
        ss_text t = {0};
        ss_dot_merging merging;
        CHECK_OK(ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = most[i]}, &t, &merging, &err));
        CHECK(merging == wanted[i], "at most %u nodes: %d, with %u", most[i], (int)merging,
              count(t.at, "fillcolor="));
        CHECK(count(t.at, "fillcolor=") <= (most[i] ? most[i] : 200));
        char note[80];
        snprintf(note, sizeof note, "%u tasks merged into %u nodes", s.view.tasks,
                 count(t.at, "fillcolor="));
        CHECK(strstr(t.at, note), "no \"%s\" in\n%.300s", note, t.at);
        CHECK(graphviz(t.at) != 1);
        ss_text_free(&t);
    }
    step_free(&s);
}

static void merged_nodes_keep_all_time_and_bytes(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_nmt(&s, 2, 2, true, &o);
    ss_text t = {0};
    CHECK_OK(ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = 20}, &t, NULL, &err));
    ss_time forward = 0;
    uint32_t tasks = 0;
    for (uint32_t i = 1; i <= s.view.tasks; i++) {
        const ss_view_task *v = &s.view.task[i];
        forward += v->kind == SS_TASK_FORWARD ? v->end - v->start : 0;
        tasks += v->kind == SS_TASK_FORWARD;
    }
    char wanted[80], time[SS_QUANTITY_TEXT];
    snprintf(wanted, sizeof wanted, "forward\\n%u tasks\\n%s\"", tasks,
             ss_format_time(forward, time, sizeof time));
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
    RUN(the_hops_of_a_message_are_one_node);
    RUN(a_large_graph_is_merged_until_it_can_be_read);
    RUN(merged_nodes_keep_all_time_and_bytes);
    RUN(names_are_escaped);
    RUN(no_memory_is_said_and_nothing_is_left);
    return DONE();
}
