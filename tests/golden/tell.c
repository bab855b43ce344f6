/* tell.c - writes what soapstone tells of two small steps and a search into a folder: the golden files.
 *
 *     tell FOLDER
 */
#include <stdio.h>
#include <stdlib.h>

#include "io/dot.h"
#include "io/file.h"
#include "io/fit_report.h"
#include "io/plot_calibration.h"
#include "io/plot_search.h"
#include "io/plot_strategy.h"
#include "io/plot_throughput.h"
#include "io/report.h"
#include "io/trace.h"
#include "search_view.h"
#include "steps.h"

static ss_error err;
static const char *folder;

static const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, ss_text *text)
{
    net_must(ss_file_write(in_folder(name), ss_text_get(text), text->n, &err), &err);
    ss_text_free(text);
}

static void tell_bare(void)
{
    step s;
    ss_text t = {0};
    ss_plot_options o = {0};
    step_bare(&s, SS_LINKS_FIFO_PIPE);
    net_must(ss_report_text(&s.view, &t, &err), &err);
    put("bare.report.txt", &t);
    net_must(ss_dot_text(&s.view, &(ss_dot_options){.device_order = true}, &t, NULL, &err), &err);
    put("bare.dot", &t);
    net_must(ss_plot_data(&s.view, SS_PLOT_GANTT, &o, &t, &err), &err);
    put("bare.gantt.tsv", &t);
    net_must(ss_trace_write(&s.view, in_folder("bare.trace.json"), NULL, NULL, &err), &err);
    step_free(&s);
}

static void tell_small(void)
{
    step s;
    ss_text t = {0};
    ss_plot_options o = {0};
    ss_lower_options lower = ss_lower_options_start();
    lower.update_passes = 3;
    step_small(&s, &lower);
    net_must(ss_report_text(&s.view, &t, &err), &err);
    put("small.report.txt", &t);
    net_must(ss_report_json(&s.view, &t, &err), &err);
    put("small.report.json", &t);
    net_must(ss_plot_data(&s.view, SS_PLOT_LINKS, &o, &t, &err), &err);
    put("small.links.tsv", &t);
    net_must(ss_plot_data(&s.view, SS_PLOT_MEMORY, &o, &t, &err), &err);
    put("small.memory.tsv", &t);
    ss_picture picture;
    net_must(ss_picture_of(s.strategy, "mixed", &picture, &err), &err);
    net_must(ss_plot_strategy_data(&picture, &o, &t, &err), &err);
    put("small.strategy.tsv", &t);
    ss_picture_free(&picture);
    net_must(ss_dot_text(&s.view, &(ss_dot_options){.max_nodes = 30}, &t, NULL, &err), &err);
    put("small.dot", &t);
    step_free(&s);
}

static void tell_search(void)
{
    static ss_trajectory_step row[2][40];
    ss_trajectory_chain chain[2] = {walk_of("data_parallel", row[0], 40, 1),
                                    walk_of("expert_rnn", row[1], 30, 2)};
    ss_trajectory_view v = view_of(chain, 2);
    ss_plot_log log = {NULL, &v};
    ss_plot_search_options so = {0};
    ss_plot_options o = {0};
    ss_text t = {0};
    net_must(ss_plot_search_data(&log, 1, SS_PLOT_COST, &so, &o, &t, &err), &err);
    put("search.tsv", &t);
    net_must(ss_plot_search_data(&log, 1, SS_PLOT_ACCEPTANCE, &so, &o, &t, &err), &err);
    put("acceptance.tsv", &t);
    static const ss_plot_rate rate[] = {{"nmt", "data parallel", 4, 268.25, false},
                                        {"nmt", "data parallel", 1, 358, false},
                                        {"nmt", "data parallel", 4, 268, true},
                                        {"rnnlm", "found", 16, 234.5, false}};
    ss_plot_rate_options ro = {.title = "small", .note = "made up", .ideal = true};
    net_must(ss_plot_throughput_data(rate, 4, &ro, &t, &err), &err);
    put("throughput.tsv", &t);
}

/* A ring over 4 with a row far off, to four digits: the last ones may depend on the machine's logarithm. */
static void tell_fit(void)
{
    static const ss_sample row[] = {{4096, 26.1e-6, 1, false},   {16384, 27.4e-6, 1, false},
                                    {65536, 36.9e-6, 1, false},  {262144, 190e-6, 1, false},
                                    {1 << 20, 220e-6, 1, false}, {1 << 22, 809e-6, 1, false},
                                    {1 << 24, 3.19e-3, 1, false}};
    ss_fit_options fo = {.least_squares = false};
    ss_fit *f = NULL;
    ss_text t = {0};
    net_must(ss_pattern_find("all_reduce", NULL, 4, 0, &fo.pattern, &err), &err);
    net_must(ss_fit_new(row, 7, &fo, &f, NULL, &err), &err);
    net_must(ss_fit_report_text(f, "made up", &t, &err), &err);
    put("calibration.fit.txt", &t);
    ss_fit_free(f);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: tell FOLDER\n");
        return 2;
    }
    folder = argv[1];
    tell_bare();
    tell_small();
    tell_search();
    tell_fit();
    return 0;
}
