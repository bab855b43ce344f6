#include "io/report.h"

#include <jansson.h>

#include "base/mem.h"
#include "check.h"
#include "graph/tasks.h"
#include "steps.h"

static ss_error err;

/* Columns of the widest line: UTF-8 characters, not bytes. */
static uint32_t widest(const char *text)
{
    uint32_t most = 0, now = 0;
    for (; *text; text++) {
        if (*text == '\n')
            now = 0;
        else
            now += ((unsigned char)*text & 0xc0) != 0x80;
        most = now > most ? now : most;
    }
    return most;
}

static void the_page_says_what_matters(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    CHECK_OK(ss_report_text(&s.view, &t, &err));
    const char *const said[] = {"mlp on cluster, mixed", "step time",   "samples/s",
                                "96 samples a step",     "bytes moved", "weight gradient",
                                "links fifo-hop",        "gpu2.2",      "peak memory",
                                "busiest links",         "behind ",     "critical path",
                                "sync parameter_server", "% queueing"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        CHECK(strstr(t.at, said[i]), "\"%s\" is missing from\n%s", said[i], t.at);
    CHECK(!strstr(t.at, "note:"), "%s", t.at);
    CHECK(widest(t.at) <= SS_REPORT_WIDTH, "%u columns", widest(t.at));
    ss_text_free(&t);
    step_free(&s);
}

static void a_long_name_is_cut_and_what_is_behind_it_is_not(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options o = ss_lower_options_start();
    step_begin(&s, step_mlp(96, 100, 2), net_cluster(1, 2, 10e9, 1e9, 1e-6));
    step_run(&s, &o, "strategies/of-a-long-folder/mine.strategy (changed)");
    CHECK_OK(ss_report_text(&s.view, &t, &err));
    CHECK_TEXT(t.at, ", strategies/of-a-lon… (changed)\n");
    ss_text_free(&t);
    step_free(&s);
}

static void many_devices_are_shown_by_their_extremes(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options o = ss_lower_options_start();
    step_begin(&s, step_mlp(96, 100, 2), net_cluster(10, 4, 10e9, 1e9, 1e-6));
    step_split(&s, 1, 0, 33, 1); /* the last seven have nothing to do */
    step_run(&s, &o, NULL);
    CHECK_OK(ss_report_text(&s.view, &t, &err));
    CHECK_TEXT(t.at, "… 24 more, ");
    CHECK_TEXT(t.at, "7 of 40 devices compute nothing");
    CHECK(strstr(t.at, "gpu1.1 ") && strstr(t.at, "gpu10.4 "), "%s", t.at);
    CHECK(widest(t.at) <= SS_REPORT_WIDTH, "%u columns", widest(t.at));
    ss_text_free(&t);
    step_free(&s);
}

static void what_does_not_fit_is_named_with_what_it_is_made_of(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options o = ss_lower_options_start();
    step_begin(&s, step_mlp(96, 1000, 1), net_cluster(1, 2, 10e9, 1e9, 1e-6));
    s.topology->device[1].def.memory_bytes = 7e6;
    s.topology->device[2].def.memory_bytes = 0;
    step_run(&s, &o, "whole");
    CHECK_OK(ss_report_text(&s.view, &t, &err));
    CHECK_TEXT(t.at, "OVER");
    CHECK_TEXT(t.at, "1 of 2 devices would run out of memory; most of all gpu1.1, which holds ");
    CHECK_TEXT(t.at, "weights 3.819 MiB, weight gradients 3.819 MiB");
    CHECK_TEXT(t.at, "the capacity of 1 of 2 devices is not known");
    CHECK(widest(t.at) <= SS_REPORT_WIDTH, "%u columns", widest(t.at));
    ss_text_free(&t);
    step_free(&s);
}

static void bytes_that_no_link_saw_are_told(void)
{
    step s;
    ss_text t = {0};
    ss_lower_options o = ss_lower_options_start();
    o.sync = SS_SYNC_CLOSED_FORM;
    step_small(&s, &o);
    CHECK_OK(ss_report_text(&s.view, &t, &err));
    CHECK_TEXT(t.at, "are charged in closed form and cross no simulated link");
    ss_text_free(&t);
    step_free(&s);
}

/* Names as long and as odd as they come, in a view by hand. */
static void odd_names_keep_to_the_page(void)
{
    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    memcpy(name + 3, "\xc3\xa4\n\x1b[31m\"\\", 10);
    ss_view_lane lane[3] = {{.name = ""},
                            {.name = name,
                             .kind = name,
                             .busy = 5,
                             .sent = INT64_MAX,
                             .received = INT64_MAX,
                             .held_peak = INT64_MAX,
                             .capacity_bytes = 1},
                            {.name = name,
                             .kind = name,
                             .is_link = true,
                             .busy = 7,
                             .messages = UINT32_MAX,
                             .sent = INT64_MAX,
                             .longest_wait = SS_TIME_MAX}};
    ss_view_task task[3] = {{.name = ""},
                            {.id = 1,
                             .lane = 1,
                             .lanes = 1,
                             .kind = SS_TASK_FORWARD,
                             .name = name,
                             .op = name,
                             .end = 5,
                             .finish = 5},
                            {.id = 2,
                             .lane = 1,
                             .lanes = 1,
                             .kind = SS_TASK_BACKWARD,
                             .name = name,
                             .op = name,
                             .on_critical_path = 1,
                             .behind = 1,
                             .start = 5,
                             .end = 12,
                             .finish = 12}};
    ss_view_held held = {1, 0, INT64_MAX};
    ss_view v = {.model = name,
                 .topology = name,
                 .strategy = name,
                 .assumptions = "A1",
                 .step_time = 12,
                 .devices = 1,
                 .lanes = 2,
                 .tasks = 2,
                 .helds = 1,
                 .lane = lane,
                 .task = task,
                 .held = &held,
                 .samples = 1e18,
                 .bytes_moved = 1e18,
                 .path_compute = 7,
                 .path_queueing = 5,
                 .path_queueing_device = 2,
                 .path_queueing_link = 3};
    ss_text t = {0};
    CHECK_OK(ss_report_text(&v, &t, &err));
    CHECK(widest(t.at) <= SS_REPORT_WIDTH, "%u columns:\n%s", widest(t.at), t.at);
    CHECK(!strchr(t.at, '\x1b'), "an escape reached the terminal");
    ss_text_clear(&t);
    CHECK_OK(ss_report_json(&v, &t, &err));
    json_error_t at;
    json_t *j = json_loads(t.at, JSON_REJECT_DUPLICATES, &at);
    CHECK(j, "line %d: %s", at.line, at.text);
    json_t *device = json_array_get(json_object_get(j, "devices"), 0);
    CHECK(!strcmp(json_string_value(json_object_get(device, "name")), name));
    CHECK(json_integer_value(json_object_get(device, "sent_bytes")) == INT64_MAX);
    json_decref(j);
    ss_text_free(&t);
}

static double number(const json_t *j, const char *name)
{
    return json_number_value(json_object_get(j, name));
}

static void json_has_the_same_numbers(void)
{
    step s;
    ss_text t = {0};
    json_error_t at;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    CHECK_OK(ss_report_json(&s.view, &t, &err));
    json_t *j = json_loads(t.at, JSON_REJECT_DUPLICATES, &at);
    CHECK(j, "line %d: %s", at.line, at.text);
    const ss_result *r = s.result;
    CHECK(number(j, "step_time_s") == ss_time_seconds(r->step_time));
    CHECK(number(j, "throughput_samples_per_s") == r->samples_per_s);
    CHECK(number(j, "moved_bytes") == r->bytes_moved);
    json_t *devices = json_object_get(j, "devices"), *links = json_object_get(j, "links");
    CHECK(json_array_size(devices) == 4 && json_array_size(links) == 12);
    for (uint32_t d = 1; d <= 4; d++) {
        json_t *one = json_array_get(devices, d - 1);
        CHECK(number(one, "busy_s") == ss_time_seconds(r->device[d].busy));
        CHECK(number(one, "idle_s") == ss_time_seconds(r->device[d].idle));
        CHECK(number(one, "received_bytes") == (double)r->device[d].received);
        CHECK(number(one, "peak_memory_bytes") == (double)r->device[d].held_peak);
    }
    json_t *path = json_object_get(j, "critical_path");
    json_t *parts = json_object_get(path, "contributors"), *part;
    double sum = 0;
    size_t i;
    json_array_foreach(parts, i, part)
    {
        sum += number(part, "active_s") + number(part, "queueing_s");
        CHECK((number(part, "queueing_s") > 0) == (json_object_get(part, "longest_wait") != NULL));
    }
    CHECK(sum > 0.999999999 * number(j, "step_time_s") &&
          sum < 1.000000001 * number(j, "step_time_s"));
    ss_time waited = 0;
    json_array_foreach(json_object_get(path, "waited_for"), i, part) waited +=
        (ss_time)(number(part, "queueing_s") * 1e12 + 0.5);
    CHECK(waited > 0 && waited == s.view.path_queueing, "%lld", (long long)waited);
    CHECK(number(path, "queueing_link_s") == ss_time_seconds(s.view.path_queueing_link));
    json_decref(j);
    ss_text_free(&t);
    step_free(&s);
}

static void contributors_make_up_the_step(void)
{
    step s;
    ss_contributor *list;
    uint32_t n;
    ss_time sum = 0, last = SS_TIME_MAX;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    CHECK_OK(ss_report_contributors(&s.view, &list, &n, &err));
    for (uint32_t i = 0; i < n; i++) {
        sum += list[i].active + list[i].queueing;
        CHECK(list[i].active + list[i].queueing <= last, "they come heaviest first");
        last = list[i].active + list[i].queueing;
    }
    CHECK(sum == s.view.step_time, "%lld of %lld", (long long)sum, (long long)s.view.step_time);
    ss_free(list);
    step_free(&s);
}

static void no_memory_is_said_and_nothing_is_left(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    size_t blocks = ss_mem_blocks();
    for (int json = 0; json < 2; json++) {
        ss_status status = SS_ENOMEM;
        for (int64_t n = 0; status == SS_ENOMEM; n++) {
            ss_text t = {0};
            ss_mem_fail_after(n);
            status = json ? ss_report_json(&s.view, &t, &err) : ss_report_text(&s.view, &t, &err);
            ss_mem_fail_never();
            ss_text_free(&t);
            CHECK(ss_mem_blocks() == blocks && n < 1000, "request %d", (int)n);
            CHECK(status == SS_OK || status == SS_ENOMEM);
        }
    }
    step_free(&s);
}

int main(void)
{
    RUN(the_page_says_what_matters);
    RUN(a_long_name_is_cut_and_what_is_behind_it_is_not);
    RUN(many_devices_are_shown_by_their_extremes);
    RUN(what_does_not_fit_is_named_with_what_it_is_made_of);
    RUN(bytes_that_no_link_saw_are_told);
    RUN(odd_names_keep_to_the_page);
    RUN(json_has_the_same_numbers);
    RUN(contributors_make_up_the_step);
    RUN(no_memory_is_said_and_nothing_is_left);
    return DONE();
}
