/* The n-th request for memory fails, and so does every later one, for n = 0, 1, 2, ... until a
 * whole job gets by: each failure is "no memory", leaves nothing behind in memory and no file under
 * the final name or beside it. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "graph/lower.h"
#include "io/dag.h"
#include "io/dot.h"
#include "io/file.h"
#include "io/measured.h"
#include "io/measured_h5.h"
#include "io/plot.h"
#include "io/record.h"
#include "io/record_layout.h"
#include "io/report.h"
#include "io/strategy_file.h"
#include "io/trace.h"
#include "io/trajectory.h"
#include "io/view.h"
#include "no_sync.h"
#include "simulate/cost.h"
#include "simulate/delta.h"
#include "simulate/result.h"

#define HERE "fail_each_allocation.dir/"
#define OUTPUT HERE "output"

/* ---------------------------------------------------------------------------------- the big job */

typedef struct work {
    ss_model *m;
    ss_topology *t;
    ss_routes *routes;
    ss_strategy *s;
    ss_costs *costs;
    ss_engine *engine;
    ss_chance *chance;
    ss_result *result;
    ss_view view;
} work;

static void free_work(work *w)
{
    ss_view_free(&w->view);
    ss_result_free(w->result);
    ss_engine_free(w->engine);
    ss_chance_free(w->chance);
    ss_costs_free(w->costs);
    ss_strategy_free(w->s);
    ss_routes_free(w->routes);
    ss_topology_free(w->t);
    ss_model_free(w->m);
    *w = (work){0};
}

static ss_status add_op(ss_model *m, const char *kind, const char *name, ss_tensor in,
                        const char *attr, int64_t value, ss_tensor *out, ss_error *err)
{
    const ss_op_kind *k = ss_op_kind_find(kind);
    ss_op_spec spec = ss_op_spec_start(k, name);
    ss_op op;
    spec.in = &in;
    spec.inputs = 1;
    for (uint32_t i = 0; i < ss_op_kind_attrs(k); i++)
        if (!strcmp(k->attr[i].name, attr))
            spec.attr[i] = value;
    ss_status s = ss_model_add(m, &spec, &op, err);
    if (!s)
        *out = m->op[op.i].out[0];
    return s;
}

static ss_status build_model(work *w, ss_error *err)
{
    ss_shape shape = {SS_F32, 2, {30, 48}};
    ss_tensor x, y;
    ss_status s = ss_model_new("small", &w->m, err);
    if (!s)
        s = ss_model_input(w->m, "x", &shape, &x, err);
    if (!s)
        s = add_op(w->m, "linear", "fc1", x, "out", 96, &y, err);
    if (!s)
        s = add_op(w->m, "linear", "fc2", y, "out", 64, &x, err);
    return s ? s : add_op(w->m, "linear", "fc3", x, "out", 10, &y, err);
}

static ss_status build_topology(work *w, ss_error *err)
{
    static const char *const name[] = {"g1", "g2", "g3", "g4"};
    ss_device_def gpu = {.kind = "p100",
                         .flop_per_s = {[SS_F32] = 10.6e12},
                         .memory_bytes_per_s = 732e9,
                         .memory_bytes = 16e9,
                         .machine = 1,
                         .speed = 1};
    ss_link_def wire = {.kind = "pcie", .bytes_per_s = 1e10, .latency_s = 1e-6, .weight = 1};
    ss_node hub;
    ss_device d;
    ss_link l;
    ss_status s = ss_topology_new("star", &w->t, err);
    if (!s)
        s = ss_topology_add_switch(w->t, "hub", &hub, err);
    for (uint32_t i = 0; !s && i < 4; i++) {
        s = ss_topology_add_device(w->t, name[i], &gpu, &d, err);
        if (!s)
            s = ss_topology_add_link(w->t, w->t->device[d.i].node, hub, &wire, &l, err);
        if (!s)
            s = ss_topology_add_link(w->t, hub, w->t->device[d.i].node, &wire, &l, err);
    }
    return s;
}

static ss_status build_strategy(work *w, ss_error *err)
{
    uint32_t degree[] = {1, 3};
    ss_device device[] = {{2}, {3}, {4}};
    ss_status s = ss_strategy_new(w->m, w->t, &w->s, err);
    if (!s)
        s = ss_strategy_data_parallel(w->s, err);
    return s ? s : ss_strategy_set(w->s, (ss_op){2}, degree, 2, device, 3, err);
}

static ss_status build_costs(work *w, ss_error *err)
{
    ss_status s = ss_costs_new(&w->costs, err);
    if (!s)
        s = ss_costs_add_given(w->costs, "fc1", 1e-5, 2e-5, true, err);
    return s ? s : ss_costs_add_roofline(w->costs, NULL, err);
}

static ss_status draw_times(work *w, ss_error *err)
{
    static const double sample[] = {1, 2, 1.5};
    ss_draw some = {.kind = SS_DRAW_SAMPLES, .mean = 1, .sample = sample, .samples = 3};
    ss_chance *c = NULL;
    ss_status s = ss_chance_new(7, &c, err);
    if (!s)
        s = ss_chance_set(c, SS_LUCK_COMPUTE, &some, err);
    if (!s)
        s = ss_chance_set(c, SS_LUCK_TRANSFER, &some, err);
    if (!s)
        s = ss_chance_set_kind(c, "linear", &some, err);
    if (!s)
        s = ss_chance_set_device(c, "g2", (ss_device){0}, &some, err);
    if (!s)
        s = ss_chance_copy(c, &w->chance, err);
    ss_chance_free(c);
    return s ? s : ss_chance_bind(w->chance, w->t, err);
}

static ss_status simulate(work *w, ss_error *err)
{
    ss_timer timer;
    ss_lower_options options = ss_lower_options_start();
    options.sync = SS_SYNC_RING;
    ss_status s = draw_times(w, err);
    options.chance = w->chance;
    if (!s)
        s = ss_routes_new(w->t, &w->routes, err);
    if (!s)
        s = ss_engine_new(&w->engine, err);
    if (!s)
        s = ss_costs_timer(w->costs, w->t, &timer, err);
    if (!s)
        s = ss_result_new(w->m, w->t, w->routes, w->s, &timer, &options, w->engine, &w->result,
                          err);
    if (!s)
        s = ss_costs_refuse_missing(w->costs, err);
    return s ? s : ss_view_of_result(w->result, w->m, w->t, "by hand", &w->view, err);
}

static ss_status record(const work *w, ss_error *err)
{
    static const ss_manifest_file file = {"net.lua", "return 7"};
    static const double sample[] = {0.5, 1.5};
    static const ss_chance chance = {
        .draw = {{.kind = SS_DRAW_SAMPLES, .mean = 1, .sample = sample, .samples = 2}}};
    static const ss_manifest manifest = {"0", "c",   "s.lua", "print(1)", "sync = ring",
                                         7,   &file, 1,       &chance};
    static const ss_record_origin origin = {"by hand", "sync = ring\n", "costs: none\n", &chance};
    ss_record *r;
    ss_status s = ss_record_create(OUTPUT, &manifest, &r, err);
    if (s)
        return s;
    s = ss_record_model(r, w->m, err);
    if (!s)
        s = ss_record_topology(r, w->t, err);
    if (!s)
        s = ss_record_strategy(r, "by hand", w->s, err);
    if (!s)
        s = ss_record_timeline(r, "by hand", &w->view, &origin, err);
    if (!s)
        return ss_record_finish(r, err);
    ss_record_abandon(r);
    return s;
}

static ss_status build(work *w, ss_error *err)
{
    ss_status s = build_model(w, err);
    if (!s)
        s = build_topology(w, err);
    if (!s)
        s = build_strategy(w, err);
    if (!s)
        s = build_costs(w, err);
    return s ? s : simulate(w, err);
}

static ss_status whole_job(ss_error *err)
{
    work w = {0};
    ss_status s = build(&w, err);
    if (!s)
        s = record(&w, err);
    free_work(&w);
    return s;
}

/* --------------------------------------------- small ones, on what was prepared while memory
 * lasted */

static work ready;

static ss_status write_trace(ss_error *err)
{
    return ss_trace_write(&ready.view, OUTPUT, &(ss_trace_options){0}, NULL, err);
}

static ss_status write_dot(ss_error *err)
{
    return ss_dot_write(&ready.view, OUTPUT, &(ss_dot_options){.device_order = true}, NULL, err);
}

static ss_status tell(ss_error *err)
{
    ss_text text = {0};
    ss_status s = ss_report_text(&ready.view, &text, err);
    if (!s)
        s = ss_report_json(&ready.view, &text, err);
    if (!s)
        s = ss_strategy_print(ready.s, &text, err);
    if (!s)
        s = ss_costs_report(ready.costs, &text, err);
    ss_text_free(&text);
    return s;
}

static ss_status tabulate(ss_error *err)
{
    ss_status s = SS_OK;
    for (int kind = 0; !s && kind < SS_PLOT_KINDS; kind++) {
        ss_text text = {0};
        s = ss_plot_data(&ready.view, (ss_plot_kind)kind, &(ss_plot_options){0}, &text, err);
        ss_text_free(&text);
    }
    return s;
}

static ss_status save_strategy(ss_error *err)
{
    return ss_strategy_save(ready.s, OUTPUT, err);
}

static ss_status load_strategy(ss_error *err)
{
    ss_strategy_loading loading = {0};
    ss_strategy *s = NULL;
    ss_status status = ss_strategy_load(HERE "input.strategy", ready.m, ready.t, &loading, &s, err);
    ss_strategy_free(s);
    return status;
}

static ss_status read_record(ss_error *err)
{
    ss_view v = {0};
    ss_text text = {0};
    ss_status s = ss_record_read_timeline(HERE "input.h5", NULL, &v, err);
    if (!s)
        s = ss_record_describe(HERE "input.h5", true, &text, err);
    ss_text_free(&text);
    ss_view_free(&v);
    return s;
}

static ss_status read_strategy_of_record(ss_error *err)
{
    char found[SS_RECORD_NAME + 1];
    ss_strategy *s = NULL;
    ss_status status =
        ss_record_read_strategy(HERE "input.h5", "by hand", ready.m, ready.t, NULL, found, &s, err);
    ss_strategy_free(s);
    return status;
}

#define LOG HERE "log.h5"

static ss_status take_a_step(const ss_search_sink *sink, uint64_t step, ss_error *err)
{
    static ss_device other[] = {{4}, {1}};
    ss_choice from[2], to[2];
    for (uint32_t i = 0; i < 2; i++) {
        from[i] = to[i] = (ss_choice){{i + 1}, ready.s->config[i + 1]};
        to[i].config.parts = to[i].config.degree[0] = 2;
        to[i].config.degree[1] = 1;
        to[i].config.device = other;
    }
    ss_step s = {.step = step,
                 .op = 1,
                 .ops = 1 + step % 2,
                 .from = from,
                 .to = to,
                 .accepted = step == 3,
                 .proposed = 71,
                 .current = step < 3 ? 75 : 71,
                 .best = step < 3 ? 75 : 71};
    return sink->step(sink->context, 0, &s, err);
}

static ss_status ask_the_past(ss_trajectory *t, ss_error *err)
{
    ss_search_past past = ss_trajectory_past(t);
    ss_search_left left;
    const ss_choice *to;
    uint64_t step;
    uint32_t n;
    ss_time cost;
    ss_status s = past.accepted(past.context, 0, 0, &step, &to, &n, &cost, err);
    return s ? s : past.last(past.context, 0, &left, err);
}

static ss_status log_steps(ss_trajectory *t, uint64_t from, uint64_t to, ss_error *err)
{
    ss_search_sink sink = ss_trajectory_sink(t);
    ss_status s = from > 1 ? ask_the_past(t, err) : SS_OK;
    if (!s)
        s = sink.begin(sink.context, 0, ready.s, 75, 0.1, err);
    for (uint64_t k = from; !s && k <= to; k++)
        s = take_a_step(&sink, k, err);
    if (!s)
        s = sink.flush(sink.context, err);
    if (!s)
        s = sink.end(sink.context, 0, SS_END_PROPOSALS, err);
    ss_status closed = ss_trajectory_close(t, ready.s, s ? NULL : err);
    return s ? s : closed;
}

static ss_status log_a_search(ss_error *err)
{
    static const ss_manifest manifest = {.version = "1", .command = "c", .script_name = "s"};
    ss_search_start start = {"data", ready.s};
    ss_trajectory_inputs in = {.manifest = &manifest,
                               .model = ready.m,
                               .topology = ready.t,
                               .start = &start,
                               .starts = 1,
                               .seed = 7,
                               .commit_every_s = 1e-9};
    ss_trajectory *t;
    ss_trajectory_view v = {.chains = 0};
    ss_text text = {0};
    (void)remove(LOG);
    (void)remove(LOG ".journal");
    ss_status s = ss_trajectory_create(LOG, &in, &t, err);
    if (!s)
        s = log_steps(t, 1, 5, err);
    if (!s)
        s = ss_trajectory_resume(LOG, &in, &t, err);
    if (!s)
        s = log_steps(t, 6, 9, err);
    if (!s)
        s = ss_trajectory_read(LOG, &v, err);
    if (!s)
        s = ss_record_describe(LOG, false, &text, err);
    if (!s)
        s = ss_trajectory_repair(LOG, &text, err);
    ss_arena_free(&v.arena);
    ss_text_free(&text);
    return s;
}

/* The second operator whole on a device. */
static ss_status move_operator(ss_live *l, ss_delta *d, uint32_t device, uint32_t limit,
                               ss_error *err)
{
    ss_device where = {device};
    ss_config config = {.device = &where, .parts = 1};
    ss_op op = {2};
    for (uint32_t k = 0; k < SS_MAX_DIMS; k++)
        config.degree[k] = 1;
    ss_deltaed found;
    ss_time over;
    ss_status s = ss_live_change(l, &op, &config, 1, SS_TIME_MAX, &over, err);
    if (s)
        return s;
    s = ss_delta_change(d, l, SS_TIME_MAX, limit, &found, err);
    if (s) {
        ss_delta_undo(d);
        ss_live_undo(l);
        return s;
    }
    ss_delta_keep(d, l);
    ss_live_keep(l);
    return ss_delta_check(d, l, false, err);
}

static ss_status change_in_place(ss_error *err)
{
    ss_lower_options o = ss_lower_options_start();
    ss_live *l = NULL;
    ss_delta *d = NULL;
    ss_timer timer;
    ss_deltaed found;
    ss_status s = ss_costs_timer(ready.costs, ready.t, &timer, err);
    if (!s)
        s = ss_live_new(ready.s, ready.routes, &timer, &o, &l, err);
    if (!s)
        s = ss_delta_new(true, &d, err);
    if (!s)
        s = ss_delta_whole(d, l, SS_TIME_MAX, &found, err);
    if (!s) {
        ss_delta_keep(d, l);
        s = move_operator(l, d, 1, SS_DELTA_NO_LIMIT, err);
    }
    for (uint32_t device = 2; device <= 4 && !s; device++)
        s = move_operator(l, d, device, device == 3 ? 1 : SS_DELTA_NO_LIMIT, err);
    if (!s)
        s = ss_delta_tidy(d, l, err);
    if (!s)
        s = move_operator(l, d, 1, SS_DELTA_NO_LIMIT, err);
    ss_delta_free(d);
    ss_live_free(l);
    return s;
}

static ss_status say_costs(ss_error *err)
{
    ss_text line = {0}, notes = {0};
    ss_status s = ss_costs_check_devices(ready.costs, ready.t, err);
    if (!s)
        s = ss_costs_say(ready.costs, &line, &notes, err);
    ss_text_free(&line);
    ss_text_free(&notes);
    return s;
}

static ss_status write_measured(ss_error *err)
{
    static const ss_measured row[] = {{.kind = "linear",
                                       .device_kind = "p100",
                                       .attributes = "activation=relu",
                                       .shape = "64x96 < 64x48",
                                       .dtype = "f32",
                                       .seconds = 1e-5},
                                      {.kind = "relu",
                                       .device_kind = "v100",
                                       .attributes = "",
                                       .shape = "7x13 < 7x13",
                                       .dtype = "f32",
                                       .phase = SS_BACKWARD,
                                       .seconds = 1e-6}};
    return ss_measured_write_h5(OUTPUT, row, 2, err);
}

static ss_status read_measured(ss_error *err)
{
    ss_costs *c = NULL;
    ss_text text = {0};
    ss_status s = ss_costs_new(&c, err);
    if (!s)
        s = ss_measured_read_h5(HERE "input.profile.h5", c, err);
    if (!s)
        s = ss_measured_read_csv(HERE "input.csv", c, err);
    if (!s)
        s = ss_record_describe(HERE "input.profile.h5", false, &text, err);
    ss_text_free(&text);
    ss_costs_free(c);
    return s;
}

static ss_status read_dag(ss_error *err)
{
    ss_dag dag = {0};
    ss_engine *engine = NULL;
    ss_timeline line = {0};
    ss_status s = ss_dag_read(HERE "input.json", &(ss_dag_options){0}, &dag, err);
    if (!s)
        s = ss_engine_new(&engine, err);
    if (!s)
        s = ss_engine_run(engine, &dag.tasks, &line, err);
    ss_timeline_free(&line);
    ss_engine_free(engine);
    ss_dag_free(&dag);
    return s;
}

/* ---------------------------------------------------------------------------------- the failing */

typedef ss_status job(ss_error *err);

static bool nothing_is_left_behind(void)
{
    return system("test -z \"$(ls -A " HERE " | grep output)\"") == 0;
}

/* Fails each request in turn; *all is how many there are. The sentence of the first odd one is
 * kept. */
static bool fails_cleanly(job *work_to_do, bool writes, ss_error *err, int64_t *all)
{
    size_t blocks = ss_mem_blocks();
    for (*all = 0;; (*all)++) {
        memset(err, 0, sizeof *err);
        ss_mem_fail_after(*all);
        ss_status s = work_to_do(err);
        ss_mem_fail_never();
        if (ss_mem_blocks() != blocks) {
            printf("  request %lld: %zu blocks left\n", (long long)*all, ss_mem_blocks() - blocks);
            return false;
        }
        if (!s)
            return !writes || (access(OUTPUT, F_OK) == 0 && remove(OUTPUT) == 0);
        if (s != SS_ENOMEM || !strstr(err->text, "no memory")) {
            printf("  request %lld: status %d\n", (long long)*all, (int)s);
            return false;
        }
        if (writes &&
            (access(OUTPUT, F_OK) == 0 || (*all % 16 == 0 && !nothing_is_left_behind()))) {
            printf("  request %lld: a file is left\n", (long long)*all);
            return false;
        }
    }
}

static void check_job(job *work_to_do, bool writes)
{
    ss_error err;
    int64_t all;
    CHECK(fails_cleanly(work_to_do, writes, &err, &all), "%s", err.text);
    CHECK(all > 0, "it asks for no memory");
    CHECK(!writes || nothing_is_left_behind(), "a file is left");
    printf("  %lld requests\n", (long long)all);
}

static void from_model_to_record_every_failure_is_clean(void)
{
    check_job(whole_job, true);
}

static void writing_a_trace_every_failure_is_clean(void)
{
    check_job(write_trace, true);
}

static void writing_a_graph_every_failure_is_clean(void)
{
    check_job(write_dot, true);
}

static void telling_every_failure_is_clean(void)
{
    check_job(tell, false);
}

static void tabulating_for_figures_every_failure_is_clean(void)
{
    check_job(tabulate, false);
}

static void saving_a_strategy_every_failure_is_clean(void)
{
    check_job(save_strategy, true);
}

static void loading_a_strategy_every_failure_is_clean(void)
{
    check_job(load_strategy, false);
}

static void logging_a_search_every_failure_is_clean(void)
{
    check_job(log_a_search, false);
}

static void changing_in_place_every_failure_is_clean(void)
{
    check_job(change_in_place, false);
}

static void reading_a_record_every_failure_is_clean(void)
{
    check_job(read_record, false);
}

static void loading_a_strategy_from_a_record_every_failure_is_clean(void)
{
    check_job(read_strategy_of_record, false);
}

static void saying_the_costs_every_failure_is_clean(void)
{
    check_job(say_costs, false);
}

static void writing_measured_times_every_failure_is_clean(void)
{
    check_job(write_measured, true);
}

static void reading_measured_times_every_failure_is_clean(void)
{
    check_job(read_measured, false);
}

static void reading_a_task_graph_every_failure_is_clean(void)
{
    check_job(read_dag, false);
}

static const char small_csv[] = "kind,attributes,shape,dtype,phase,device,seconds\n"
                                "linear,,8x9 < 8x7,f32,forward,k80,1 ms\n";

static const char small_dag[] =
    "{\"devices\": [1, 0.5], \"links\": [[1e9, 1e-6], [2e9, 0]], \"routes\": [[0, 1]],\n"
    " \"tasks\": [[\"c\", 0, 1e-3], [\"x\", 0, 1000], [\"c\", 1, 2e-3]],\n"
    " \"deps\": [[0, 1], [1, 2]]}";

static ss_status prepare(ss_error *err)
{
    ss_status s = build(&ready, err);
    if (!s)
        s = ss_strategy_save(ready.s, HERE "input.strategy", err);
    if (!s)
        s = ss_file_write(HERE "input.json", small_dag, strlen(small_dag), err);
    if (!s)
        s = ss_file_write(HERE "input.csv", small_csv, strlen(small_csv), err);
    if (!s)
        s = write_measured(err);
    if (!s && rename(OUTPUT, HERE "input.profile.h5"))
        s = ss_fail(err, SS_EIO, "cannot rename the table");
    if (!s)
        s = record(&ready, err);
    if (!s && rename(OUTPUT, HERE "input.h5"))
        s = ss_fail(err, SS_EIO, "cannot rename the record");
    return s;
}

int main(void)
{
    ss_error err = {0};
    if (system("rm -rf " HERE) || mkdir("fail_each_allocation.dir", 0777))
        return 1;
    size_t blocks = ss_mem_blocks();
    if (prepare(&err)) {
        printf("%s\n0 passed, 1 failed\n", err.text);
        return 1;
    }
    RUN(from_model_to_record_every_failure_is_clean);
    RUN(writing_a_trace_every_failure_is_clean);
    RUN(writing_a_graph_every_failure_is_clean);
    RUN(telling_every_failure_is_clean);
    RUN(tabulating_for_figures_every_failure_is_clean);
    RUN(saving_a_strategy_every_failure_is_clean);
    RUN(loading_a_strategy_every_failure_is_clean);
    RUN(logging_a_search_every_failure_is_clean);
    RUN(changing_in_place_every_failure_is_clean);
    RUN(reading_a_record_every_failure_is_clean);
    RUN(loading_a_strategy_from_a_record_every_failure_is_clean);
    RUN(saying_the_costs_every_failure_is_clean);
    RUN(writing_measured_times_every_failure_is_clean);
    RUN(reading_measured_times_every_failure_is_clean);
    RUN(reading_a_task_graph_every_failure_is_clean);
    free_work(&ready);
    if (ss_mem_blocks() != blocks) {
        printf("%zu blocks were not freed\n", ss_mem_blocks() - blocks);
        check_failed++;
    }
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}
