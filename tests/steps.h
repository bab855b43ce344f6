/* steps.h - simulated steps for tests of what is told of them.
 *
 * A step owns everything it was made from.  Times come from a timer with round figures: 10 TFLOP/s
 * and 500 GB/s, so that a person can check them.
 */
#ifndef SS_STEPS_H
#define SS_STEPS_H

#include "graph/lower.h"
#include "io/view.h"
#include "networks.h"
#include "simulate/result.h"

typedef struct step {
    ss_model *model;
    ss_topology *topology;
    ss_routes *routes;
    ss_strategy *strategy;
    ss_engine *engine;
    ss_result *result;
    ss_view view;
} step; /* {0} */

static inline void step_free(step *s)
{
    ss_view_free(&s->view);
    ss_result_free(s->result);
    ss_engine_free(s->engine);
    ss_strategy_free(s->strategy);
    ss_routes_free(s->routes);
    ss_topology_free(s->topology);
    ss_model_free(s->model);
    *s = (step){0};
}

static inline ss_status step_part(void *context, const ss_model *m, ss_op op, ss_phase phase,
                                  const ss_box *main, ss_device device, ss_time *out, ss_error *err)
{
    (void)context, (void)device;
    ss_work work;
    const ss_op_row *row = &m->op[op.i];
    ss_op_work(row->def, phase, row->input_gradient, main, &work);
    return ss_time_from_seconds(work.flops / 10e12, row->name, out, err);
}

static inline ss_status step_memory(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                                    ss_error *err)
{
    (void)what;
    (void)context, (void)device;
    return ss_time_from_seconds(bytes / 500e9, "memory", out, err);
}

static const ss_timer step_timer = {.part = step_part, .memory = step_memory};

/* Samples over the first `parts` devices. */
static inline void step_split(step *s, uint32_t op, uint32_t dim, uint32_t parts, uint32_t first)
{
    ss_error err;
    uint32_t degree[SS_MAX_DIMS] = {1, 1, 1, 1, 1};
    ss_device device[64];
    degree[dim] = parts;
    for (uint32_t p = 0; p < parts; p++)
        device[p].i = (first + p - 1) % s->topology->devices + 1;
    net_must(ss_strategy_set(s->strategy, (ss_op){op}, degree, s->model->op[op].def->out[0].rank,
                             device, parts, &err),
             &err);
}

/* The parts that a strategy and a simulation need, for a model and a topology that it takes over.
 */
static inline void step_begin(step *s, ss_model *m, ss_topology *t)
{
    ss_error err;
    *s = (step){.model = m, .topology = t};
    net_must(ss_routes_new(t, &s->routes, &err), &err);
    net_must(ss_strategy_new(m, t, &s->strategy, &err), &err);
    net_must(ss_engine_new(&s->engine, &err), &err);
}

static inline void step_run(step *s, const ss_lower_options *o, const char *strategy_name)
{
    ss_error err;
    net_must(ss_result_new(s->model, s->topology, s->routes, s->strategy, &step_timer, o, s->engine,
                           &s->result, &err),
             &err);
    net_must(ss_view_of_result(s->result, s->model, s->topology, strategy_name, &s->view, &err),
             &err);
}

static inline ss_model *step_mlp(int64_t batch, int width, int layers)
{
    ss_model *m = net_new("mlp");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){batch, width});
    char name[32];
    for (int i = 1; i <= layers; i++) {
        snprintf(name, sizeof name, "fc%d", i);
        x = net_out(m, net_op(m, (net_place){NULL, (uint32_t)i}, "linear", name, &x, 1, "out",
                              width, NULL));
    }
    return m;
}

/* Three dense layers on two machines of two: the first by samples over all four devices, the second
 * by channels over the first machine, the third whole on the last device. */
static inline void step_small(step *s, const ss_lower_options *o)
{
    step_begin(s, step_mlp(96, 1000, 3), net_cluster(2, 2, 10e9, 1.25e9, 2e-6));
    step_split(s, 1, 0, 4, 1);
    step_split(s, 2, 1, 2, 1);
    step_split(s, 3, 0, 1, 4);
    step_run(s, o, "mixed");
}

/* The translation network, samples over all devices or over machines with layer l on GPU (l - 1)
 * mod `each` of each. */
static inline void step_nmt(step *s, uint32_t machines, uint32_t each, bool expert,
                            const ss_lower_options *o)
{
    uint32_t devices = machines * each;
    step_begin(s, net_nmt(64 * (int64_t)devices, 1),
               net_cluster(machines, each, 20e9, 12.5e9, 1e-6));
    for (uint32_t i = 1; i <= s->model->ops; i++) {
        ss_error err;
        ss_device device[256];
        uint32_t parts = expert ? machines : devices, layer = s->model->op[i].layer;
        for (uint32_t p = 0; p < parts; p++)
            device[p].i = expert ? each * p + 1 + (layer - 1) % each : p + 1;
        net_must(ss_strategy_set(s->strategy, (ss_op){i}, &parts, 1, device, parts, &err), &err);
    }
    step_run(s, o, expert ? "expert" : "data_parallel");
}

/* A task graph without a model: two devices and two links, by hand.
 *
 *     1 on device 1, 2 on device 2; message 3 (1 -> 2) and then 4 over link 1, both after task 1;
 * task 5 on device 2 after 2 and 3; task 6 there after 4; message 7 back over link 2 after 5 */
static inline void step_bare(step *s, ss_links_mode mode)
{
    ss_error err;
    const double bandwidth[] = {0, 1e9, 2e9}, latency[] = {0, 1e-6, 3e-6};
    ss_tasks t = {0};
    ss_task id, last;
    uint32_t n;
    const uint32_t there = 1, back = 2;
    ss_task_label compute = {.kind = SS_TASK_COMPUTE};
    ss_task_label forth = {.kind = SS_TASK_TRANSFER, .from = {1}, .to = {2}};
    ss_task_label home = {.kind = SS_TASK_TRANSFER, .from = {2}, .to = {1}};
    *s = (step){0};
    net_must(ss_engine_new(&s->engine, &err), &err);
    net_must(ss_tasks_start(&t, 2, 2, bandwidth, latency, mode, &err), &err);
    net_must(ss_tasks_add(&t, 1, 7000000, 0, &compute, &id, &err), &err);
    net_must(ss_tasks_add(&t, 2, 5000000, 0, &compute, &id, &err), &err);
    for (int64_t bytes = 3000; bytes <= 5000; bytes += 2000)
        net_must(ss_tasks_transfer(&t, &there, 1, bytes, 0, 0, &forth, &(ss_task){1}, 1, &last, &n,
                                   &err),
                 &err);
    net_must(ss_tasks_add(&t, 2, 2500000, 0, &compute, &id, &err), &err);
    net_must(ss_tasks_after(&t, (ss_task){2}, &err), &err);
    net_must(ss_tasks_after(&t, (ss_task){3}, &err), &err);
    net_must(ss_tasks_add(&t, 2, 1500000, 0, &compute, &id, &err), &err);
    net_must(ss_tasks_after(&t, (ss_task){4}, &err), &err);
    net_must(ss_tasks_transfer(&t, &back, 1, 8000, 0, 0, &home, &(ss_task){5}, 1, &last, &n, &err),
             &err);
    net_must(ss_tasks_finish(&t, &err), &err);
    net_must(ss_result_of_tasks(&t, s->engine, &s->result, &err), &err);
    net_must(ss_view_of_result(s->result, NULL, NULL, NULL, &s->view, &err), &err);
}

#endif
