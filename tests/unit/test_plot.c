#include "config.h"

#include "io/plot.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "figure_fixture.h"
#include "graph/tasks.h"
#include "io/file.h"
#include "steps.h"

static ss_error err;

/* The next line of a table, cut at its tabs; false at the end.  The text is written to. */
static bool next_row(char **at, char **field, uint32_t *fields)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end)
        return false;
    *end = 0;
    *at = end + 1;
    *fields = 0;
    for (;;) {
        field[(*fields)++] = line;
        if (!(line = strchr(line, '\t')) || *fields == 8)
            return true;
        *line++ = 0;
    }
}

static bool is_bar(const char *kind)
{
    const char *const others[] = {"kind", "title", "note", "device", "link", "critical", "waiting"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(kind, others[i]))
            return false;
    return true;
}

/* However bars are merged: the time that a lane is drawn busy is the time that it was.  Tasks of
 * all lengths from far below what can be seen, with and without gaps. */
static void merged_bars_keep_the_busy_time(void)
{
    enum { TASKS = 30000 };
    static ss_view_task task[TASKS + 1];
    ss_view_lane lane[2] = {{.name = ""}, {.name = "d", .kind = ""}};
    ss_time now = 0, busy = 0;
    for (uint32_t i = 1; i <= TASKS; i++) {
        ss_time length = 1 + (ss_time)(i * 7919u) % (i % 97 ? 1000 : 900000),
                gap = i % 5 ? 0 : (ss_time)(i % 311);
        task[i] = (ss_view_task){.id = i,
                                 .lane = 1,
                                 .lanes = 1,
                                 .op = "",
                                 .name = "",
                                 .kind = i % 3 ? SS_TASK_FORWARD : SS_TASK_UPDATE,
                                 .start = now,
                                 .end = now + length,
                                 .finish = now + length};
        now += length + gap;
        busy += length;
    }
    lane[1].busy = busy;
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .step_time = now,
                 .devices = 1,
                 .lanes = 1,
                 .tasks = TASKS,
                 .lane = lane,
                 .task = task};
    ss_text t = {0};
    CHECK_OK(ss_plot_data(&v, SS_PLOT_GANTT, &(ss_plot_options){.max_links = 99}, &t, &err));
    char *at = t.at, *field[8];
    uint32_t fields, tasks = 0, bars = 0;
    double drawn = 0, last = 0;
    while (next_row(&at, field, &fields)) {
        CHECK(fields == 7, "%u fields", fields);
        double begin = atof(field[3]), end = atof(field[4]), filled = atof(field[5]);
        CHECK(filled >= 0 && filled <= 1 && begin <= end, "%s", field[1]);
        if (!is_bar(field[2]))
            continue;
        CHECK(begin >= last, "bars do not cover each other");
        last = end;
        drawn += (end - begin) * filled;
        tasks += (uint32_t)atoi(field[6]);
        bars++;
    }
    CHECK(tasks == TASKS && bars > 300 && bars < 1500, "%u tasks in %u bars", tasks, bars);
    double wanted = ss_time_seconds(busy); /* filled has four digits */
    CHECK(drawn > 0.9999 * wanted && drawn < 1.0001 * wanted, "%g s drawn of %g", drawn, wanted);
    ss_text_free(&t);
}

static void a_window_cuts_bars(void)
{
    step s;
    ss_text t = {0};
    step_bare(&s, SS_LINKS_FIFO_HOP);
    ss_plot_options o = {.from = 6000000, .to = 12000000};
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err));
    CHECK_TEXT(t.at, "0\tdevice1\tcompute\t0.000006000000\t0.000007000000\t1\t1\n");
    CHECK_TEXT(t.at, "1\tdevice2\tcompute\t0.000011000000\t0.000012000000\t1\t1\n");
    CHECK_TEXT(t.at, "3\tlink1\ttransfer\t0.000007000000\t0.000011000000\t1\t1\n");
    ss_text_free(&t);
    step_free(&s);
}

static void a_wrong_window_is_refused_in_its_units(void)
{
    static const struct {
        ss_time from, to;
        const char *said;
    } wrong[] = {{6000000, 6000000, "from 6.000 us to 6.000 us: it has to end after it begins"},
                 {7000000, 1000, "from 7.000 us to 1.000 ns: it has to end after it begins"},
                 {-1000, 0, "from -1.000 ns to 0 s: times count from the begin of the step"},
                 {0, -7, "times count from the begin of the step"},
                 {3 * SS_PICOSECONDS, 0, "from 3.000 s on: the step is over at "}};
    step s;
    ss_text t = {0};
    step_bare(&s, SS_LINKS_FIFO_HOP);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ss_plot_options o = {.from = wrong[i].from, .to = wrong[i].to};
        CHECK(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err) == SS_EINVAL && t.n == 0);
        CHECK_TEXT(err.text, wrong[i].said);
    }
    ss_plot_options o = {.from = s.view.step_time};
    CHECK(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err) == SS_EINVAL);
    o = (ss_plot_options){.from = s.view.step_time - 1, .to = 2 * s.view.step_time};
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err));
    ss_text_free(&t);
    step_free(&s);
}

/* Two steps can have one axis of time. */
static void an_axis_may_end_behind_the_step(void)
{
    step s;
    ss_text t = {0};
    char title[64];
    step_bare(&s, SS_LINKS_FIFO_HOP);
    ss_plot_options o = {.to = 3 * s.view.step_time};
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err));
    snprintf(title, sizeof title, "\ttitle\t0.000000000000\t0.%012lld\t",
             (long long)(3 * s.view.step_time));
    CHECK_TEXT(t.at, title);
    CHECK(!strstr(t.at, "is shown"));
    ss_text_free(&t);
    step_free(&s);
}

static void what_is_left_out_is_told(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options o = ss_lower_options_start();
    step_nmt(&s, 4, 4, false, &o);
    ss_plot_options p = {.max_devices = 6, .max_links = 5};
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_GANTT, &p, &t, &err));
    CHECK_TEXT(t.at, "Not shown: 10 devices between the busiest and the idlest.\tnote");
    CHECK_TEXT(t.at, "Not shown: 3 links of the critical path.\tnote");
    CHECK_TEXT(t.at, "Not shown: 32 less busy links.\tnote");
    CHECK_TEXT(t.at, " are drawn merged into ");
    ss_text_clear(&t);
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_LINKS, &p, &t, &err));
    CHECK_TEXT(t.at, "Not shown: 35 less busy links.\tnote");
    ss_text_clear(&t);
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_MEMORY, &p, &t, &err));
    CHECK_TEXT(t.at, "Not shown: 10 devices that hold less.\tnote");
    ss_text_free(&t);
    step_free(&s);
}

static void thinned_memory_keeps_its_extremes(void)
{
    enum { CHANGES = 5000 };
    static ss_view_held held[CHANGES];
    ss_view_lane lane[2] = {{.name = ""}, {.name = "d", .kind = ""}};
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .step_time = 1000000,
                 .devices = 1,
                 .lanes = 1,
                 .helds = CHANGES,
                 .lane = lane,
                 .held = held};
    for (int i = 0; i < CHANGES; i++)
        held[i] = (ss_view_held){1, 200 * i, 1000 + (i * 7919) % 4999};
    held[3777].bytes = 1000000;
    held[1234].bytes = 1;
    ss_text t = {0};
    CHECK_OK(ss_plot_data(&v, SS_PLOT_MEMORY, &(ss_plot_options){.scripts = NULL}, &t, &err));
    CHECK_TEXT(t.at, "\t0\t1000000\n");
    CHECK_TEXT(t.at, "\t0\t1\n");
    CHECK_TEXT(t.at, " changes less than 1.678 ns apart are drawn by their extremes.");
    CHECK(t.n < 300000, "%u bytes", t.n);
    ss_text_free(&t);
}

/* Many links: the least busy ones carry the critical path, each for a moment. */
static void links_of_the_critical_path_come_first(void)
{
    enum { LINKS = 90 };
    static const struct {
        uint32_t path, asked, shown, path_shown;
        const char *said;
    } want[] = {{3, 0, 16, 3, "Not shown: 74 less busy links."},
                {3, 7, 7, 3, "Not shown: 83 less busy links."},
                {21, 0, 21, 21, "Not shown: 69 less busy links."},
                {71, 0, 64, 64, "Not shown: 7 links of the critical path."},
                {9, 5, 5, 5, "Not shown: 4 links of the critical path."}};
    for (size_t w = 0; w < sizeof want / sizeof want[0]; w++) {
        ss_view_lane lane[LINKS + 2] = {{.name = ""}, {.name = "d", .kind = ""}};
        ss_view_task task[LINKS + 1] = {{.name = ""}};
        for (uint32_t i = 1; i <= LINKS; i++) {
            bool path = i > LINKS - want[w].path;
            ss_time length = 1000000 - 9001 * (ss_time)i;
            lane[i + 1] = (ss_view_lane){
                .name = path ? "slim" : "busy", .kind = "", .is_link = true, .busy = length};
            task[i] = (ss_view_task){.id = i,
                                     .lane = i + 1,
                                     .lanes = 1,
                                     .kind = SS_TASK_TRANSFER,
                                     .name = "",
                                     .op = "",
                                     .end = length,
                                     .finish = length,
                                     .on_critical_path = path};
        }
        ss_view v = {.model = "",
                     .topology = "",
                     .strategy = "",
                     .step_time = 1000000,
                     .devices = 1,
                     .lanes = LINKS + 1,
                     .tasks = LINKS,
                     .lane = lane,
                     .task = task};
        ss_text t = {0};
        ss_plot_options o = {.max_links = want[w].asked};
        CHECK_OK(ss_plot_data(&v, SS_PLOT_GANTT, &o, &t, &err));
        CHECK_TEXT(t.at, want[w].said);
        char *at = t.at, *field[8];
        uint32_t fields, shown = 0, path = 0, marks = 0;
        while (next_row(&at, field, &fields)) {
            shown += !strcmp(field[2], "link");
            path += !strcmp(field[2], "link") && !strcmp(field[1], "slim");
            marks += !strcmp(field[2], "critical");
        }
        CHECK(shown == want[w].shown && path == want[w].path_shown && marks == path,
              "%u: %u shown, %u of the path", (unsigned)w, shown, path);
        ss_text_free(&t);
    }
}

/* Nine devices, of which the middle ones by work carry the critical path one after the other; and
 * a window in which only the last of them does. */
static void devices_of_the_critical_path_in_the_window_come_first(void)
{
    enum { DEVICES = 9 };
    static const char *const name[] = {"", "a", "b", "c", "d", "e", "f", "g", "h", "i"};
    ss_view_lane lane[DEVICES + 1] = {{.name = ""}};
    ss_view_task task[DEVICES + 1] = {{.name = ""}};
    for (uint32_t i = 1; i <= DEVICES; i++) {
        ss_time start = 1000 * (ss_time)i, end = start + 970 - 13 * (ss_time)i;
        lane[i] = (ss_view_lane){.name = name[i], .kind = "", .busy = end - start};
        task[i] = (ss_view_task){.id = i,
                                 .lane = i,
                                 .lanes = 1,
                                 .kind = SS_TASK_COMPUTE,
                                 .name = "",
                                 .op = "",
                                 .start = start,
                                 .end = end,
                                 .finish = end,
                                 .on_critical_path = i >= 4 && i <= 6};
    }
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .step_time = 11000,
                 .devices = DEVICES,
                 .lanes = DEVICES,
                 .tasks = DEVICES,
                 .lane = lane,
                 .task = task};
    static const struct {
        ss_time from;
        uint32_t most;
        const char *shown, *said;
    } want[] = {{0, 5, "adefi", "Not shown: 4 devices between the busiest and the idlest."},
                {0, 2, "de", "Not shown: 1 device of the critical path."},
                {0, 9, "abcdefghi", "critical"},
                {5999, 3, "afi", "Not shown: 6 devices between the busiest and the idlest."}};
    for (size_t w = 0; w < sizeof want / sizeof want[0]; w++) {
        ss_text t = {0};
        ss_plot_options o = {.from = want[w].from, .max_devices = want[w].most};
        CHECK_OK(ss_plot_data(&v, SS_PLOT_GANTT, &o, &t, &err));
        CHECK_TEXT(t.at, want[w].said);
        char *at = t.at, *field[8], shown[DEVICES + 1] = "";
        uint32_t fields, n = 0;
        while (next_row(&at, field, &fields))
            if (!strcmp(field[2], "device") && n < DEVICES)
                shown[n++] = field[1][0];
        CHECK(!strcmp(shown, want[w].shown), "%s, not %s", shown, want[w].shown);
        ss_text_free(&t);
    }
}

/* A device that is on the critical path for 3 ps at each end and in the middle of 7 ms: too short
 * for any printer.  Gives the view of it in memory of the caller. */
static ss_view a_step_of_moments(ss_view_lane *lane, ss_view_task *task)
{
    static const ss_time at[] = {0, 3500000000, 6999999997};
    lane[0] = (ss_view_lane){.name = ""};
    lane[1] = (ss_view_lane){.name = "d", .kind = "", .busy = 9};
    for (uint32_t i = 1; i <= 3; i++)
        task[i] = (ss_view_task){.id = i,
                                 .lane = 1,
                                 .lanes = 1,
                                 .kind = SS_TASK_FORWARD,
                                 .name = "",
                                 .op = "",
                                 .start = at[i - 1],
                                 .end = at[i - 1] + 3,
                                 .finish = at[i - 1] + 3,
                                 .on_critical_path = true};
    return (ss_view){.model = "",
                     .topology = "",
                     .strategy = "",
                     .step_time = 7000000000,
                     .devices = 1,
                     .lanes = 1,
                     .tasks = 3,
                     .lane = lane,
                     .task = task};
}

static void moments_of_the_critical_path_are_wide_enough_to_see(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    ss_view_lane lane[2];
    ss_view_task task[4];
    ss_view v = a_step_of_moments(lane, task);
    ss_plot_options o = {.scripts = scripts};
    ss_text figure = {0};
    CHECK_OK(ss_plot(&v, SS_PLOT_GANTT, "moments.svg", &o, &err));
    CHECK_OK(ss_file_read("moments.svg", 1000000, &figure, &err));
    uint32_t marks = 0;
    const char *black = "<polygon fill = 'rgb(  0,   0,   0)' points = '";
    for (char *at = figure.at; (at = strstr(at, black));) {
        double x[5], y[5], least = INFINITY, most = -INFINITY;
        at += strlen(black);
        char *p = at;
        for (int i = 0; i < 4; i++) {
            x[i] = strtod(p, &p);
            y[i] = strtod(*p == ',' ? p + 1 : p, &p);
            least = fmin(least, x[i]);
            most = fmax(most, x[i]);
        }
        CHECK(most - least > 1, "%g to %g, at %g", least, most, y[0]); /* the legend's are wider */
        marks++;
    }
    CHECK(marks == 4, "%u: three marks and the legend's", marks);
    ss_text_free(&figure);
    remove("moments.svg");
    remove("moments.svg.tsv");
}

/* Two devices and a link.  Task 2 waits on device 1 for task 1; task 3, on device 2 and the link,
 * waits for the link, which task 4 has; task 5 waits a moment (20 ps) and again after 30 ps. */
static ss_view a_step_of_waits(ss_view_lane *lane, ss_view_task *task)
{
    static uint32_t more[] = {3};
    static const struct {
        uint32_t lane, lanes, behind;
        bool critical;
        ss_time ready, start, end;
    } is[] = {{1, 1, 0, false, 0, 0, 3000000},
              {1, 1, 1, true, 1100000, 3000000, 4000000},
              {2, 2, 4, true, 4000000, 6500000, 8000000},
              {3, 1, 0, false, 4000000, 4000000, 6500000},
              {2, 1, 3, true, 8000000, 8000020, 8000050},
              {2, 1, 5, true, 8000080, 8000100, 9000000}};
    lane[0] = (ss_view_lane){.name = ""};
    for (uint32_t l = 1; l <= 3; l++)
        lane[l] = (ss_view_lane){.name = l == 3   ? "a->b"
                                         : l == 2 ? "b"
                                                  : "a",
                                 .kind = "",
                                 .is_link = l == 3,
                                 .busy = l};
    for (uint32_t i = 1; i <= 6; i++)
        task[i] = (ss_view_task){.id = i,
                                 .lane = is[i - 1].lane,
                                 .lanes = is[i - 1].lanes,
                                 .kind = SS_TASK_COMPUTE,
                                 .name = "",
                                 .op = "",
                                 .behind = is[i - 1].behind,
                                 .ready = is[i - 1].ready,
                                 .start = is[i - 1].start,
                                 .end = is[i - 1].end,
                                 .finish = is[i - 1].end,
                                 .on_critical_path = is[i - 1].critical};
    return (ss_view){.model = "",
                     .topology = "",
                     .strategy = "",
                     .step_time = 9000000,
                     .devices = 2,
                     .lanes = 3,
                     .tasks = 6,
                     .mores = 1,
                     .more = more,
                     .lane = lane,
                     .task = task};
}

static uint32_t count(const char *text, const char *word)
{
    uint32_t n = 0;
    for (; text && (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void a_wait_of_the_critical_path_is_marked_on_the_lane_it_waits_for(void)
{
    ss_view_lane lane[4];
    ss_view_task task[7];
    ss_view v = a_step_of_waits(lane, task);
    ss_text t = {0};
    ss_plot_options o = {0};
    CHECK_OK(ss_plot_data(&v, SS_PLOT_GANTT, &o, &t, &err));
    CHECK_TEXT(t.at, "0\ta\twaiting\t0.000001100000\t0.000003000000\t1\t0\n");
    CHECK_TEXT(t.at, "3\ta->b\twaiting\t0.000004000000\t0.000006500000\t1\t0\n");
    CHECK_TEXT(t.at, "1\tb\twaiting\t0.000008000000\t0.000008000100\t1\t0\n");
    CHECK(count(t.at, "waiting") == 3, "waits too near to be told apart are one");
    ss_text_clear(&t);
    o = (ss_plot_options){.from = 2000000, .to = 5000000}; /* the task on the link comes later */
    CHECK_OK(ss_plot_data(&v, SS_PLOT_GANTT, &o, &t, &err));
    CHECK_TEXT(t.at, "0\ta\twaiting\t0.000002000000\t0.000003000000\t1\t0\n");
    CHECK_TEXT(t.at, "3\ta->b\twaiting\t0.000004000000\t0.000005000000\t1\t0\n");
    CHECK(count(t.at, "waiting") == 2);
    ss_text_free(&t);
}

static void waits_of_the_critical_path_are_dotted_and_in_the_legend(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    ss_view_lane lane[4];
    ss_view_task task[7];
    ss_view v = a_step_of_waits(lane, task);
    ss_plot_options o = {.scripts = scripts};
    ss_text figure = {0};
    CHECK_OK(ss_plot(&v, SS_PLOT_GANTT, "waits.svg", &o, &err));
    CHECK_OK(ss_file_read("waits.svg", 1000000, &figure, &err));
    CHECK_TEXT(figure.at, ">critical path waits<");
    CHECK(count(figure.at, "stroke-dasharray") == 2, "three waits and the legend's");
    for (uint32_t i = 1; i <= 6; i++)
        task[i].ready = task[i].start;
    ss_text_clear(&figure);
    CHECK_OK(ss_plot(&v, SS_PLOT_GANTT, "waits.svg", &o, &err));
    CHECK_OK(ss_file_read("waits.svg", 1000000, &figure, &err));
    CHECK(!strstr(figure.at, "critical path waits") && !strstr(figure.at, "stroke-dasharray"));
    CHECK_TEXT(figure.at, ">critical path<");
    ss_text_free(&figure);
    remove("waits.svg");
    remove("waits.svg.tsv");
}

/* Capacities far and near, and a device that holds nothing. */
static ss_view a_mixed_cluster(ss_view_lane *lane, ss_view_held *held)
{
    const double gib = 1024.0 * 1024 * 1024;
    static const char *const name[] = {"", "old1", "big1", "big2", "idle1"};
    static const double gibs[] = {0, 16, 24, 24, 0.04};
    for (uint32_t i = 0; i <= 4; i++) {
        lane[i] = (ss_view_lane){.name = name[i], .kind = "", .capacity_bytes = gibs[i] * gib};
        if (i && i < 4) {
            lane[i].held_peak = 10000000 + 1000003 * (int64_t)i;
            lane[i].held_peak_by[0] = lane[i].held_peak;
            held[i - 1] = (ss_view_held){i, 0, lane[i].held_peak};
        }
    }
    return (ss_view){.model = "",
                     .topology = "",
                     .strategy = "",
                     .step_time = 7000000,
                     .devices = 4,
                     .lanes = 4,
                     .helds = 3,
                     .lane = lane,
                     .held = held};
}

static void a_device_that_holds_nothing_keeps_its_row(void)
{
    ss_view_lane lane[5];
    ss_view_held held[3];
    ss_view v = a_mixed_cluster(lane, held);
    ss_text t = {0};
    CHECK_OK(ss_plot_data(&v, SS_PLOT_MEMORY, &(ss_plot_options){.scripts = NULL}, &t, &err));
    CHECK_TEXT(t.at, "3\tidle1\tdevice\t0.000000000000\t0\t0\n");
    CHECK_TEXT(t.at, "3\tidle1\theld by the emptiest\t0.000007000000\t0\t0\n");
    ss_text_free(&t);
}

static void each_capacity_is_told_in_a_unit_of_its_size(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    ss_view_lane lane[5];
    ss_view_held held[3];
    ss_view v = a_mixed_cluster(lane, held);
    ss_plot_options o = {.scripts = scripts, .width_in = 7};
    ss_text figure = {0};
    CHECK_OK(ss_plot(&v, SS_PLOT_MEMORY, "cluster.svg", &o, &err));
    CHECK_OK(ss_file_read("cluster.svg", 1000000, &figure, &err));
    CHECK_TEXT(figure.at, "Capacity 16.00 GiB (1 device), beyond the axes.");
    CHECK_TEXT(figure.at, "Capacity 24.00 GiB (2 devices), beyond the axes.");
    CHECK_TEXT(figure.at, "Capacity 40.96 MiB (1 device), beyond the axes.");
    CHECK_TEXT(figure.at, ">idle1<");
    lane[4].capacity_bytes = 11000000; /* is drawn, not told */
    lane[1].capacity_bytes = lane[2].capacity_bytes;
    ss_text_clear(&figure);
    CHECK_OK(ss_plot(&v, SS_PLOT_MEMORY, "cluster.svg", &o, &err));
    CHECK_OK(ss_file_read("cluster.svg", 1000000, &figure, &err));
    CHECK_TEXT(figure.at, "Capacity 24.00 GiB (3 devices), beyond the axes.");
    CHECK(!strstr(figure.at, "10.49 MiB") && strstr(figure.at, ">capacity<"));
    ss_text_free(&figure);
    remove("cluster.svg");
    remove("cluster.svg.tsv");
}

static void only_a_gantt_chart_has_a_window(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options lower = ss_lower_options_start();
    step_small(&s, &lower);
    for (ss_plot_kind kind = SS_PLOT_LINKS; kind <= SS_PLOT_MEMORY; kind++) {
        ss_plot_options from = {.from = 7}, to = {.to = 1300};
        CHECK(ss_plot_data(&s.view, kind, &from, &t, &err) == SS_EINVAL);
        CHECK_TEXT(err.text, "is of the whole step");
        CHECK_TEXT(err.text, ss_plot_kind_name(kind));
        CHECK(ss_plot_data(&s.view, kind, &to, &t, &err) == SS_EINVAL && t.n == 0);
    }
    ss_text_free(&t);
    step_free(&s);
}

/* A script that draws three figures for each of its steps is not to die of one. */
static void a_figure_of_nothing_says_what_there_is_not(void)
{
    static const struct {
        ss_plot_kind kind;
        const char *nothing, *idle;
    } said[] = {
        {SS_PLOT_GANTT, "The step takes no time.", "The step takes no time."},
        {SS_PLOT_LINKS, "There are no links.", "No link carries anything: 2 of 2 are idle."},
        {SS_PLOT_MEMORY, "No memory is held in this step.", "The step takes no time."}};
    ss_view_lane lane[4] = {{.name = ""},
                            {.name = "d", .kind = ""},
                            {.name = "d->e", .kind = "", .is_link = true},
                            {.name = "e->d", .kind = "", .is_link = true}};
    ss_view_held held[1] = {{1, 0, 77}};
    ss_view nothing = {.model = "", .topology = "", .strategy = ""}, idle = nothing;
    idle.devices = 1;
    idle.lanes = 3;
    idle.lane = lane;
    idle.helds = 1;
    idle.held = held;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        ss_text t = {0};
        ss_plot_options o = {.scripts = scripts};
        CHECK_OK(ss_plot_data(&nothing, said[i].kind, &o, &t, &err));
        CHECK_TEXT(t.at, said[i].nothing);
        ss_text_clear(&t);
        CHECK_OK(ss_plot_data(&idle, said[i].kind, &o, &t, &err));
        CHECK_TEXT(t.at, said[i].idle);
        for (int k = 0; k < 2 && have_gnuplot(); k++) {
            ss_text_clear(&t);
            CHECK_OK(ss_plot(k ? &idle : &nothing, said[i].kind, "nothing.svg", &o, &err));
            CHECK_OK(ss_file_read("nothing.svg", 1000000, &t, &err));
            CHECK_TEXT(t.at, k ? said[i].idle : said[i].nothing);
            CHECK_TEXT(t.at, said[i].kind == SS_PLOT_LINKS ? "of the step" : ">time (ns)<");
        }
        ss_text_free(&t);
    }
    remove("nothing.svg");
    remove("nothing.svg.tsv");
}

static void bytes_charged_in_closed_form_are_told(void)
{
    ss_view v = {
        .model = "", .topology = "", .strategy = "", .step_time = 7, .charged_bytes = 7168};
    ss_text t = {0};
    CHECK_OK(ss_plot_data(&v, SS_PLOT_LINKS, &(ss_plot_options){.max_links = 9}, &t, &err));
    CHECK_TEXT(t.at,
               "0\tThere are no links. 7.000 KiB are charged in closed form, on no link.\tnote");
    ss_text_free(&t);
}

static void wrong_names_are_refused_before_anything_is_written(void)
{
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    ss_plot_options o = {.scripts = scripts};
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.gif", &o, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, ".svg, .png or .pdf");
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "folder.svg/figure", &o, &err) == SS_EINVAL);
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "no/folder/figure.svg", &o, &err) == SS_ENOTFOUND);
    o.scripts = "/no/such/scripts";
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "/no/such/scripts/gantt.gp");
    o = (ss_plot_options){.scripts = scripts, .width_in = 1e9};
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "1e+09 inches");
    o.width_in = NAN;
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EINVAL);
    CHECK(!there("figure.svg") && !there("figure.svg.tsv") && !there("figure.gif"));
    step_free(&s);
}

static void without_gnuplot_one_is_told_how_to_get_it(void)
{
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    ss_plot_options o = {.scripts = scripts, .gnuplot = "no-such-gnuplot"};
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EUNSUPPORTED, "%s",
          err.text);
    CHECK_TEXT(err.text, "apt install gnuplot-nox");
    CHECK(!there("figure.svg") && !there("figure.svg.tsv"));
    step_free(&s);
}

static void gnuplot_is_looked_up_in_the_path(void)
{
    const char *fake = "#!/bin/sh\necho \"it is $0\"; exit 7\n";
    const char *path = getenv("PATH");
    char before[8192];
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    snprintf(before, sizeof before, "%s", path ? path : "");
    CHECK(!mkdir("a", 0755) && !mkdir("b", 0755) && !mkdir("c", 0755));
    CHECK(!mkdir("a/fake-gnuplot", 0755), "a folder is no program");
    CHECK_OK(ss_file_write("b/fake-gnuplot", fake, strlen(fake), &err)); /* may not be run */
    CHECK_OK(ss_file_write("c/fake-gnuplot", fake, strlen(fake), &err));
    CHECK(!chmod("b/fake-gnuplot", 0644) && !chmod("c/fake-gnuplot", 0755));
    ss_plot_options o = {.scripts = scripts, .gnuplot = "fake-gnuplot"};
    setenv("PATH", "/no/such/folder:a:b:c:/bin", 1);
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EIO);
    CHECK_TEXT(err.text, "it is c/fake-gnuplot");
    setenv("PATH", "/no/such/folder:a:b", 1);
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EUNSUPPORTED);
    CHECK_TEXT(err.text, "there is no program \"fake-gnuplot\"");
    o.gnuplot = "b/fake-gnuplot";
    CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EUNSUPPORTED);
    setenv("PATH", before, 1);
    remove("c/fake-gnuplot");
    remove("b/fake-gnuplot");
    CHECK(!rmdir("a/fake-gnuplot") && !rmdir("a") && !rmdir("b") && !rmdir("c"));
    step_free(&s);
}

/* Programs that stand for gnuplot: one fails, one draws nothing, one warns of a missing file. */
static void what_gnuplot_says_is_passed_on(void)
{
    static const struct {
        const char *script, *said;
    } fake[] = {{"echo '  line 3: nonsense' >&2; exit 1", "exit status 1): line 3: nonsense"},
                {"exit 0", "gnuplot drew nothing into"},
                {"echo '<svg>' >\"$5\"", "unfinished, after 6 bytes"},
                {"echo drawn >\"$5\"; echo 'warning: Skipping data file with no valid points' >&2",
                 "Skipping data file"},
                {"kill -9 $$", "ended by signal 9"},
                {"i=0; while [ $i -lt 3000 ]; do echo 'much to be said about this' >&2; "
                 "i=$((i+1)); done; exit 7",
                 "exit status 7"}};
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    for (size_t i = 0; i < sizeof fake / sizeof fake[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "#!/bin/sh\n%s\n", fake[i].script);
        CHECK_OK(ss_file_write("./fake-gnuplot", text, strlen(text), &err));
        CHECK(!chmod("./fake-gnuplot", 0755));
        ss_plot_options o = {.scripts = scripts, .gnuplot = "./fake-gnuplot"};
        CHECK(ss_plot(&s.view, SS_PLOT_GANTT, "figure.svg", &o, &err) == SS_EIO, "%s", err.text);
        CHECK_TEXT(err.text, fake[i].said);
        CHECK(!there("figure.svg") && !there("figure.svg.tsv"));
    }
    remove("./fake-gnuplot");
    step_free(&s);
}

/* A name that a shell or gnuplot would take apart, under a locale with commas if there is one. */
static void figures_appear_whatever_their_name(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    static const char *const name[] = {"a figure's \"best\" $HOME `ls`.svg", "-.png", "|cat.pdf",
                                       "< ls.svg"};
    static const char *const begins[] = {"<?xml", "\x89PNG", "%PDF", "<?xml"};
    step s;
    ss_lower_options lower = ss_lower_options_start();
    step_small(&s, &lower);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    for (int kind = 0; kind < SS_PLOT_KINDS; kind++) {
        for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
            char table[80];
            ss_plot_options o = {.scripts = scripts, .width_in = i == 1 ? 7 : 0};
            snprintf(table, sizeof table, "%s.tsv", name[i]);
            CHECK_OK(ss_plot(&s.view, (ss_plot_kind)kind, name[i], &o, &err));
            ss_text figure = {0};
            CHECK_OK(ss_file_read(name[i], 10000000, &figure, &err));
            CHECK(figure.n > 5000 && !strncmp(figure.at, begins[i], strlen(begins[i])), "%s",
                  name[i]);
            CHECK(i || strstr(figure.at, "mlp on cluster, mixed"), "the title is there");
            CHECK(there(table));
            ss_text_free(&figure);
            remove(name[i]);
            remove(table);
        }
    }
    unsetenv("LC_ALL");
    step_free(&s);
}

/* What tells lanes apart is often the end of their names. */
static void long_names_are_shortened_where_it_hurts_least(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    ss_view_lane lane[4] = {{.name = ""},
                            {.name = "machine1.rack2.accelerator31", .kind = ""},
                            {.name = "node1.gpu1->node1.gpu30", .kind = "", .is_link = true},
                            {.name = "n1.gpu1--n2.gpu1", .kind = "", .is_link = true}};
    ss_view_task task[4] = {{.name = ""}};
    for (uint32_t i = 1; i <= 3; i++) {
        lane[i].busy = 1000 * i;
        task[i] = (ss_view_task){.id = i,
                                 .lane = i,
                                 .lanes = 1,
                                 .kind = SS_TASK_COMPUTE,
                                 .name = "",
                                 .op = "",
                                 .end = 1000 * i,
                                 .finish = 1000 * i};
    }
    ss_view v = {.model = "",
                 .topology = "",
                 .strategy = "",
                 .step_time = 3000,
                 .devices = 1,
                 .lanes = 3,
                 .tasks = 3,
                 .lane = lane,
                 .task = task};
    ss_plot_options o = {.scripts = scripts, .width_in = 2.5};
    ss_text figure = {0};
    CHECK_OK(ss_plot(&v, SS_PLOT_GANTT, "names.svg", &o, &err));
    CHECK_OK(ss_file_read("names.svg", 1000000, &figure, &err));
    CHECK(strstr(figure.at, ">machine1.…lerator31<"), "the middle goes");
    CHECK(strstr(figure.at, ">node1.gpu1->.gpu30<") || strstr(figure.at, ">node1.gpu1-&gt;.gpu30<"),
          "what both ends have in common goes");
    CHECK(strstr(figure.at, ">n1.gpu1--n2.gpu1<"), "a short name stays");
    CHECK_TEXT(figure.at, ".gpu30 stands for"); /* and both are explained */
    CHECK_TEXT(figure.at, "… in a name stands for");
    ss_text_clear(&figure);
    o.width_in = 3.5;
    CHECK_OK(ss_plot(&v, SS_PLOT_GANTT, "names.svg", &o, &err));
    CHECK_OK(ss_file_read("names.svg", 1000000, &figure, &err));
    CHECK_TEXT(figure.at, ">machine1.rack2.accelerator31<"); /* there is room */
    CHECK_TEXT(figure.at, "node1.gpu30<");
    CHECK(!strstr(figure.at, "stands for"));
    ss_text_free(&figure);
    remove("names.svg");
    remove("names.svg.tsv");
}

/* A step of one device and one link with names of the caller's. */
static ss_view a_step_named(const char *name, ss_view_lane *lane, ss_view_task *task,
                            ss_view_held *held)
{
    *held = (ss_view_held){1, 0, 4096};
    lane[0] = (ss_view_lane){.name = ""};
    lane[1] = (ss_view_lane){.name = name, .kind = "", .busy = 777000, .held_peak = 4096};
    lane[1].held_peak_by[0] = 4096;
    lane[2] = (ss_view_lane){.name = name, .kind = "", .is_link = true, .busy = 3210000};
    for (uint32_t i = 1; i <= 2; i++)
        task[i] = (ss_view_task){.id = i,
                                 .lane = i,
                                 .lanes = 1,
                                 .kind = i == 1 ? SS_TASK_FORWARD : SS_TASK_TRANSFER,
                                 .name = name,
                                 .op = name,
                                 .end = (ss_time)lane[i].busy,
                                 .finish = (ss_time)lane[i].busy};
    return (ss_view){.model = name,
                     .topology = "",
                     .strategy = "",
                     .step_time = 3210000,
                     .devices = 1,
                     .lanes = 2,
                     .tasks = 2,
                     .helds = 1,
                     .lane = lane,
                     .task = task,
                     .held = held};
}

/* What a shell, gnuplot's enhanced text, its escapes or its tables would take for something else.
 */
static void names_appear_as_they_are(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    static const struct {
        const char *name, *shown;
    } odd[] = {{"b\\s\\n\\tx\\", ">b\\s\\n\\tx\\<"},
               {"a \"q\" 'r'", ">a \"q\" 'r'<"},
               {"a_b^c{d}@e~f", ">a_b^c{d}@e~f<"},
               {"#1 %s $x `ls`", ">#1 %s $x `ls`<"},
               {"a&b", ">a&amp;b<"},
               {"\xc3\xa9\xe2\x82\xac", ">\xc3\xa9\xe2\x82\xac<"},
               {"a\xff\xc3", ">a?"
                             "?<"},
               {"a\nb\tc", ">a b c<"}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        ss_view_lane lane[3];
        ss_view_task task[3] = {{.name = ""}};
        ss_view_held held;
        ss_view v = a_step_named(odd[i].name, lane, task, &held);
        for (int kind = 0; kind < SS_PLOT_KINDS; kind++) {
            ss_text figure = {0};
            ss_plot_options o = {.scripts = scripts};
            CHECK_OK(ss_plot(&v, (ss_plot_kind)kind, "odd.svg", &o, &err));
            CHECK_OK(ss_file_read("odd.svg", 1000000, &figure, &err));
            CHECK(strstr(figure.at, odd[i].shown), "figure %d has no %s", kind, odd[i].shown);
            char title[80];
            snprintf(title, sizeof title, "%.*s: 3.210 µs a step<", (int)strlen(odd[i].shown) - 1,
                     odd[i].shown);
            CHECK_TEXT(figure.at, title);
            ss_text_free(&figure);
        }
    }
    remove("odd.svg");
    remove("odd.svg.tsv");
}

/* Where poppler finds the words of a figure in PDF, which the same library draws as one in PNG. */
static void no_word_leaves_the_page(void)
{
    if (!have_gnuplot() || system("pdftotext -v >pdf.said 2>&1")) {
        printf("  skipped: no gnuplot or no pdftotext\n");
        remove("pdf.said");
        return;
    }
    static const double width[] = {1, 1.7, 3.5, 7.3, 40};
    ss_view_lane lane[3];
    ss_view_task task[3] = {{.name = ""}};
    ss_view_held held;
    ss_view v = a_step_named("WWWWWWWWWWWWWWWWWWWWWWWWW", lane, task, &held);
    v.model = "MEGATRON-8.3B-WMMA MWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWMWM";
    v.topology = "DGX-SUPERPOD-MMWW";
    v.strategy = "DPMW";
    for (size_t w = 0; w < sizeof width / sizeof width[0]; w++) {
        for (int kind = 0; kind < SS_PLOT_KINDS; kind++) {
            ss_text said = {0};
            ss_plot_options o = {.scripts = scripts, .width_in = width[w]};
            CHECK_OK(ss_plot(&v, (ss_plot_kind)kind, "wide.pdf", &o, &err));
            CHECK(!system("pdftotext -bbox wide.pdf pdf.said"));
            CHECK_OK(ss_file_read("pdf.said", 1000000, &said, &err));
            uint32_t words = 0;
            for (const char *c = said.at; (c = strstr(c, "<word ")); c++) {
                double x0, y0, x1, y1;
                CHECK(sscanf(c, "<word xMin=\"%lf\" yMin=\"%lf\" xMax=\"%lf\" yMax=\"%lf\"", &x0,
                             &y0, &x1, &y1) == 4);
                CHECK(x0 >= 0 && y0 >= 0 && x1 <= 72 * width[w] + 0.5, "%g in, figure %d: %.90s",
                      width[w], kind, c);
                words++;
            }
            CHECK(words > 8, "%u words", words);
            CHECK_TEXT(said.at, ">step<");
            ss_text_free(&said);
        }
    }
    remove("wide.pdf");
    remove("wide.pdf.tsv");
    remove("pdf.said");
}

static void a_window_is_told_and_microseconds_are_written_one_way(void)
{
    step s;
    ss_text t = {0};
    step_bare(&s, SS_LINKS_FIFO_HOP);
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_GANTT, &(ss_plot_options){.max_links = 2}, &t, &err));
    CHECK(!strstr(t.at, "is shown"));
    CHECK_TEXT(t.at, " µs a step\ttitle");
    ss_text_clear(&t);
    ss_plot_options o = {.from = 6000000, .to = 12000000};
    CHECK_OK(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err));
    CHECK_TEXT(t.at, " µs a step, of which 6.000 µs to 12.00 µs is shown\ttitle");
    CHECK(!strstr(t.at, " us"));
    if (have_gnuplot()) { /* a blank before a number would put it beside its tick */
        o.scripts = scripts;
        ss_text_clear(&t);
        CHECK_OK(ss_plot(&s.view, SS_PLOT_GANTT, "window.svg", &o, &err));
        CHECK_OK(ss_file_read("window.svg", 1000000, &t, &err));
        CHECK_TEXT(t.at, ">8<");
        CHECK(!strstr(t.at, "> 8<"));
        remove("window.svg");
        remove("window.svg.tsv");
    }
    ss_text_free(&t);
    step_free(&s);
}

/* CIE lightness, 0 black to 100 white, of the colour that the scripts give a kind. */
static double lightness(const char *script, const char *kind)
{
    char what[60];
    unsigned rgb = 0;
    snprintf(what, sizeof what, "kind eq \"%s\"", kind);
    const char *at = strstr(script, what);
    at = at ? strstr(at, "0x") : NULL;
    if (!at || sscanf(at, "0x%x", &rgb) != 1)
        return NAN;
    static const double share[] = {0.0722, 0.7152, 0.2126}; /* of blue, green, red */
    double light = 0;
    for (int i = 0; i < 3; i++) {
        double c = (rgb >> 8 * i & 255) / 255.0;
        light += share[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return 116 * cbrt(light) - 16;
}

static void kinds_in_one_lane_differ_in_black_and_white(void)
{
    static const char *const lane[2][4] = {{"forward", "backward", "update", "accumulate"},
                                           {"weight_gradient", "gradient", "activation", "weight"}};
    char path[4200];
    ss_text script = {0};
    snprintf(path, sizeof path, "%s/common.gp", scripts);
    CHECK_OK(ss_file_read(path, 1000000, &script, &err));
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < 4; i++) {
            double light = lightness(script.at, lane[l][i]);
            double before = i ? lightness(script.at, lane[l][i - 1]) : 20;
            CHECK(light - before > 12 && light < 95, "%s: %g after %g", lane[l][i], light, before);
        }
    ss_text_free(&script);
}

static void a_figure_is_the_same_each_time(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    step s;
    step_bare(&s, SS_LINKS_FIFO_PIPE);
    ss_text once = {0}, twice = {0};
    ss_plot_options o = {.scripts = scripts};
    CHECK_OK(ss_plot(&s.view, SS_PLOT_GANTT, "once.svg", &o, &err));
    CHECK_OK(ss_plot(&s.view, SS_PLOT_GANTT, "twice.svg", &o, &err));
    CHECK_OK(ss_file_read("once.svg", 1000000, &once, &err));
    CHECK_OK(ss_file_read("twice.svg", 1000000, &twice, &err));
    CHECK(once.n == twice.n && !memcmp(once.at, twice.at, once.n));
    ss_text_free(&once);
    ss_text_free(&twice);
    remove("once.svg");
    remove("once.svg.tsv");
    remove("twice.svg");
    remove("twice.svg.tsv");
    step_free(&s);
}

static void no_memory_is_said_and_nothing_is_left(void)
{
    step s;
    ss_lower_options lower = ss_lower_options_start();
    step_small(&s, &lower);
    size_t blocks = ss_mem_blocks();
    for (int kind = 0; kind < SS_PLOT_KINDS; kind++) {
        ss_status status = SS_ENOMEM;
        for (int64_t n = 0; status == SS_ENOMEM; n++) {
            ss_plot_options o = {.scripts = scripts, .gnuplot = "no-such-gnuplot"};
            ss_mem_fail_after(n);
            status = ss_plot(&s.view, (ss_plot_kind)kind, "figure.svg", &o, &err);
            ss_mem_fail_never();
            CHECK(ss_mem_blocks() == blocks && n < 1000, "request %d", (int)n);
        }
        CHECK(status == SS_EUNSUPPORTED && !there("figure.svg"), "%s", err.text);
    }
    step_free(&s);
}

int main(void)
{
    if (!draw_in("test_plot.dir"))
        return 99;
    RUN(merged_bars_keep_the_busy_time);
    RUN(a_window_cuts_bars);
    RUN(a_wrong_window_is_refused_in_its_units);
    RUN(an_axis_may_end_behind_the_step);
    RUN(what_is_left_out_is_told);
    RUN(thinned_memory_keeps_its_extremes);
    RUN(links_of_the_critical_path_come_first);
    RUN(devices_of_the_critical_path_in_the_window_come_first);
    RUN(moments_of_the_critical_path_are_wide_enough_to_see);
    RUN(a_wait_of_the_critical_path_is_marked_on_the_lane_it_waits_for);
    RUN(waits_of_the_critical_path_are_dotted_and_in_the_legend);
    RUN(a_device_that_holds_nothing_keeps_its_row);
    RUN(each_capacity_is_told_in_a_unit_of_its_size);
    RUN(only_a_gantt_chart_has_a_window);
    RUN(a_figure_of_nothing_says_what_there_is_not);
    RUN(bytes_charged_in_closed_form_are_told);
    RUN(wrong_names_are_refused_before_anything_is_written);
    RUN(without_gnuplot_one_is_told_how_to_get_it);
    RUN(gnuplot_is_looked_up_in_the_path);
    RUN(what_gnuplot_says_is_passed_on);
    RUN(figures_appear_whatever_their_name);
    RUN(long_names_are_shortened_where_it_hurts_least);
    RUN(names_appear_as_they_are);
    RUN(no_word_leaves_the_page);
    RUN(a_window_is_told_and_microseconds_are_written_one_way);
    RUN(kinds_in_one_lane_differ_in_black_and_white);
    RUN(a_figure_is_the_same_each_time);
    RUN(no_memory_is_said_and_nothing_is_left);
    if (chdir("..") || rmdir("test_plot.dir"))
        printf("test_plot.dir is not empty\n"), check_failed++;
    return DONE();
}
