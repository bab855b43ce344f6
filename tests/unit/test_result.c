#include "simulate/result.h"

#include "base/mem.h"
#include "check.h"
#include "steps.h"

static ss_error err;

enum { US = 1000000 };

/* By hand.  fifo-hop: message 3 takes 1 + 3 us after the 7 of task 1, message 4 then 1 + 5 (it
 * waited 4); task 5 runs 11 .. 13.5, message 7 takes 3 + 4 and ends at 20.5, task 6 runs 17
 * .. 18.5. */
static void a_bare_graph_is_accounted_for(void)
{
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    const ss_result *r = s.result;
    CHECK(r->step_time == 20500000, "%lld", (long long)r->step_time);
    CHECK(r->devices == 2 && r->links == 2 && r->samples == 0 && r->samples_per_s == 0);
    CHECK(r->device[1].busy == 7 * US && r->device[1].idle == 13500000);
    CHECK(r->device[2].busy == 9 * US && r->compute == 16 * US);
    CHECK(r->device[1].sent == 8000 && r->device[1].received == 8000);
    CHECK(r->device[2].sent == 8000 && r->device[2].received == 8000);
    CHECK(r->device[1].communicating == 13500000, "7 .. 20.5 without a gap: %lld",
          (long long)r->device[1].communicating);
    CHECK(r->link[1].busy == 10 * US && r->link[1].bytes == 8000 && r->link[1].messages == 2);
    CHECK(r->link[1].longest_wait == 4 * US && r->link[2].longest_wait == 0);
    CHECK(r->bytes_moved == 16000 && r->held_first[3] == 0 && !r->over_capacity);
    step_free(&s);
}

/* fifo-pipe: the latency passes outside the link, yet the message is under way. */
static void latency_is_communication_but_takes_no_link(void)
{
    step s;
    step_bare(&s, SS_LINKS_FIFO_PIPE);
    const ss_result *r = s.result;
    CHECK(r->link[1].busy == 8 * US && r->link[1].longest_wait == 3 * US);
    CHECK(r->device[1].communicating == 13500000, "%lld", (long long)r->device[1].communicating);
    step_free(&s);
}

static void a_message_with_unknown_ends_is_nobodys(void)
{
    const double bandwidth[] = {0, 1e9}, latency[] = {0, 0};
    ss_engine *e;
    ss_tasks t = {0};
    ss_task last;
    ss_result *r;
    uint32_t n;
    const uint32_t link = 1;
    net_must(ss_engine_new(&e, &err), &err);
    net_must(ss_tasks_start(&t, 1, 1, bandwidth, latency, SS_LINKS_FIFO_HOP, &err), &err);
    net_must(ss_tasks_transfer(&t, &link, 1, 777, 0, 0, NULL, NULL, 0, &last, &n, &err), &err);
    net_must(ss_tasks_finish(&t, &err), &err);
    CHECK_OK(ss_result_of_tasks(&t, e, &r, &err));
    CHECK(r->device[1].sent == 0 && r->device[1].communicating == 0 && r->device[1].busy == 0);
    CHECK(r->link[1].bytes == 777 && r->bytes_moved == 777);
    ss_result_free(r);
    ss_engine_free(e);
}

static void a_step_without_tasks_takes_no_time(void)
{
    ss_engine *e;
    ss_tasks t = {0};
    ss_result *r;
    net_must(ss_engine_new(&e, &err), &err);
    net_must(ss_tasks_start(&t, 2, 0, NULL, NULL, SS_LINKS_FIFO_HOP, &err), &err);
    net_must(ss_tasks_finish(&t, &err), &err);
    CHECK_OK(ss_result_of_tasks(&t, e, &r, &err));
    CHECK(r->step_time == 0 && r->critical.n == 0 && r->device[2].idle == 0);
    ss_result_free(r);
    ss_engine_free(e);
}

static void a_graph_that_is_refused_is_taken_over_all_the_same(void)
{
    ss_engine *e;
    ss_tasks t = {0};
    ss_result *r = NULL;
    ss_task id;
    ss_task_label compute = {.kind = SS_TASK_COMPUTE};
    net_must(ss_engine_new(&e, &err), &err);
    size_t blocks = ss_mem_blocks();
    net_must(ss_tasks_start(&t, 1, 0, NULL, NULL, SS_LINKS_FIFO_HOP, &err), &err);
    for (uint32_t i = 1; i <= 2; i++) { /* each after the other */
        net_must(ss_tasks_add(&t, 1, US, 0, &compute, &id, &err), &err);
        net_must(ss_tasks_after(&t, (ss_task){3 - i}, &err), &err);
    }
    net_must(ss_tasks_finish(&t, &err), &err);
    CHECK(ss_result_of_tasks(&t, e, &r, &err) == SS_EINVAL && !r, "%s", err.text);
    CHECK(t.n == 0 && t.hold == NULL, "the graph has moved");
    ss_tasks_free(&t);
    ss_engine_free(e);
    CHECK(ss_mem_blocks() <= blocks, "%zu blocks, %zu before", ss_mem_blocks(), blocks);
}

static void a_trained_step_is_accounted_for(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    const ss_result *r = s.result;
    CHECK(r->samples == 96 && r->samples_per_s > 0);
    CHECK(r->samples_per_s == 96 / ss_time_seconds(r->step_time));
    CHECK(r->critical.compute + r->critical.transfer + r->critical.queueing == r->step_time);
    /* fc1 is everywhere: its 1,001,000 weights and gradients of 4 bytes; fc2 halves on machine 1,
     * fc3 on the last. */
    const int64_t fc = 1001000 * 4;
    CHECK(r->device[3].held_peak_by[SS_HELD_WEIGHTS] == fc);
    CHECK(r->device[1].held_peak_by[SS_HELD_WEIGHTS] == fc + fc / 2);
    CHECK(r->device[4].held_peak_by[SS_HELD_WEIGHT_GRADIENTS] == 2 * fc);
    CHECK(r->device[1].held_peak_by[SS_HELD_OPTIMIZER] == 0);
    for (uint32_t d = 1; d <= 4; d++) {
        const ss_held_change *first = &r->held[r->held_first[d]];
        CHECK(first->at == 0 && first->bytes >= 2 * fc, "device %u holds %lld", d,
              (long long)first->bytes);
        CHECK(r->device[d].held_peak >= first->bytes);
    }
    CHECK(!r->over_capacity);
    step_free(&s);
}

static void a_device_that_is_too_small_is_noticed(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    int64_t peak = s.result->device[4].held_peak;
    for (int spare = 0; spare >= -1; spare--) {
        ss_result *r;
        s.topology->device[4].def.memory_bytes = (double)(peak + spare);
        CHECK_OK(ss_result_new(s.model, s.topology, s.routes, s.strategy, &step_timer, &o, s.engine,
                               &r, &err));
        CHECK(r->over_capacity == (spare < 0), "%d bytes to spare", spare);
        ss_result_free(r);
    }
    step_free(&s);
}

static void the_closed_form_is_charged_but_crosses_no_link(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    o.sync = SS_SYNC_CLOSED_FORM;
    step_small(&s, &o);
    const ss_result *r = s.result;
    int64_t sent = 0;
    for (uint32_t d = 1; d <= 4; d++)
        sent += r->device[d].sent;
    CHECK(r->lowered->charged_bytes == 2 * 3 * 1001000 * 4.0, "%.0f", r->lowered->charged_bytes);
    CHECK((double)sent == r->bytes_moved - r->lowered->charged_bytes);
    step_free(&s);
}

/* Every request for memory fails once: the call says so, and nothing of it is left. */
/* Stops at the look number `stop`. */
typedef struct guard {
    uint32_t looks, stop, overs;
    bool lied;
} guard;

static ss_status guard_look(void *context, const char *what, double done, double whole, ss_error *e)
{
    guard *g = context;
    g->lied = g->lied || !*what || done < 0 || done > whole;
    return ++g->looks == g->stop ? ss_fail(e, SS_ESTOPPED, "stopped while %s", what) : SS_OK;
}

static void guard_over(void *context)
{
    ((guard *)context)->overs++;
}

static void a_watch_stops_the_work_wherever_it_looks(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    ss_time plain = s.result->step_time;
    guard g = {0};
    ss_watch watch = {.context = &g, .look = guard_look, .over = guard_over};
    ss_engine_set_watch(s.engine, &watch);
    ss_status status = SS_ESTOPPED;
    while (status == SS_ESTOPPED) {
        ss_result *r = NULL;
        g.looks = 0, g.stop++;
        size_t before = ss_mem_blocks();
        status = ss_result_new(s.model, s.topology, s.routes, s.strategy, &step_timer, &o, s.engine,
                               &r, &err);
        CHECK(status == SS_OK || (status == SS_ESTOPPED && !r), "%s", err.text);
        CHECK(status || r->step_time == plain);
        ss_result_free(r);
        CHECK(ss_mem_blocks() == before, "look %u", g.stop);
    }
    /* before every operator, forward and backward, and every shard, twice; the last time at none */
    CHECK(g.stop == 2 * s.model->ops + 2 * s.result->lowered->shards + 1, "%u", g.stop);
    CHECK(!g.lied);
    CHECK(g.overs == 0, "only the caller says so");
    step_free(&s);
}

static void a_long_run_is_stopped_on_its_way(void)
{
    enum { TASKS = 600000 };
    ss_engine *e;
    net_must(ss_engine_new(&e, &err), &err);
    guard g = {0};
    ss_watch watch = {.context = &g, .look = guard_look, .over = guard_over};
    ss_engine_set_watch(e, &watch);
    for (uint32_t stop = 1; stop <= 5; stop++) {
        ss_tasks t = {0};
        ss_result *r = NULL;
        ss_task id;
        ss_task_label compute = {.kind = SS_TASK_COMPUTE};
        net_must(ss_tasks_start(&t, 1, 0, NULL, NULL, SS_LINKS_FIFO_HOP, &err), &err);
        for (uint32_t i = 0; i < TASKS; i++)
            net_must(ss_tasks_add(&t, 1, US, 0, &compute, &id, &err), &err);
        net_must(ss_tasks_finish(&t, &err), &err);
        g.looks = 0, g.stop = stop;
        ss_status status = ss_result_of_tasks(&t, e, &r, &err);
        /* two looks of the run, two of the account */
        CHECK(status == (stop < 5 ? SS_ESTOPPED : SS_OK), "look %u of %u", stop, g.looks);
        const char *what = stop <= 2 ? "simulating" : "adding up";
        CHECK(stop == 5 || strstr(err.text, what), "look %u: %s", stop, err.text);
        ss_result_free(r);
    }
    ss_engine_free(e);
}

/* Eight devices round a switch, each with a gradient of 4 MiB: by messages, and as one task that holds its links
 * or, where they are shared, flows over them. */
static ss_time meeting_time(ss_sync sync, ss_links_mode links, int64_t chunk, bool aggregate)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    o.sync = sync;
    o.links = links;
    o.chunk_bytes = chunk;
    o.aggregate = aggregate;
    ss_model *m = net_new("layer");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){64, 1024});
    net_op(m, (net_place){NULL, 1}, "linear", "fc", &x, 1, "out", 1024, "bias", 0, NULL);
    step_begin(&s, m, net_cluster(1, 8, 10e9, 10e9, 2e-6));
    step_split(&s, 1, 0, 8, 1);
    step_run(&s, &o, NULL);
    ss_time time = s.result->step_time;
    step_free(&s);
    return time;
}

static void a_meeting_takes_the_same_as_one_task_where_its_form_is_exact(void)
{
    static const ss_sync exact[] = {SS_SYNC_RING, SS_SYNC_HALVING_DOUBLING, SS_SYNC_HIERARCHICAL,
                                    SS_SYNC_IN_NETWORK, SS_SYNC_AUTO};
    for (uint32_t k = 0; k < sizeof exact / sizeof *exact; k++)
        for (uint32_t mode = SS_LINKS_FIFO_PATH; mode < SS_LINKS_MODES; mode++) {
            int64_t chunk = exact[k] == SS_SYNC_IN_NETWORK ? 1 << 18 : 0;
            ss_time many = meeting_time(exact[k], (ss_links_mode)mode, chunk, false);
            ss_time one = meeting_time(exact[k], (ss_links_mode)mode, chunk, true);
            CHECK(many == one, "%s, links %s: %lld and %lld", ss_sync_name(exact[k]),
                  ss_links_mode_name((ss_links_mode)mode), (long long)many, (long long)one);
        }
    /* 16 chunks up and down, 18 messages long: 2 us and 256 KiB at 10 GB/s */
    ss_time ring = meeting_time(SS_SYNC_NONE, SS_LINKS_SHARED, 0, false);
    ss_time sharp = meeting_time(SS_SYNC_IN_NETWORK, SS_LINKS_SHARED, 1 << 18, false);
    CHECK(sharp - ring == 17 * (2000000 + 26214400), "%lld", (long long)(sharp - ring));
}

static void no_memory_leaves_nothing(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    o.sync = SS_SYNC_TWO_LEVEL;
    o.aggregate = true;
    step_begin(&s, step_mlp(12, 20, 2), net_cluster(2, 2, 1e9, 1e9, 1e-6));
    step_split(&s, 1, 0, 4, 1);
    ss_status status = SS_ENOMEM;
    int64_t n = 0;
    for (; status == SS_ENOMEM; n++) {
        ss_result *r = NULL;
        ss_view v = {0};
        ss_engine *e = NULL;
        size_t before = ss_mem_blocks();
        ss_mem_fail_after(n);
        status = ss_engine_new(&e, &err);
        if (!status)
            status = ss_result_new(s.model, s.topology, s.routes, s.strategy, &step_timer, &o, e,
                                   &r, &err);
        if (!status)
            status = ss_view_of_result(r, s.model, s.topology, "x", &v, &err);
        ss_mem_fail_never();
        CHECK(status == SS_OK || status == SS_ENOMEM, "%s", err.text);
        ss_view_free(&v);
        ss_result_free(r);
        ss_engine_free(e);
        /* routes are found once and kept, whoever asked */
        CHECK(ss_mem_blocks() <= before + 8, "request %lld: %zu blocks, %zu before", (long long)n,
              ss_mem_blocks(), before);
        CHECK(n < 5000);
    }
    size_t blocks = ss_mem_blocks();
    ss_result *r;
    net_must(ss_result_new(s.model, s.topology, s.routes, s.strategy, &step_timer, &o, s.engine, &r,
                           &err),
             &err);
    ss_result_free(r);
    ss_engine_free(s.engine);
    s.engine = NULL;
    CHECK(n > 20 && ss_mem_blocks() < blocks + 1, "%lld requests", (long long)n);
    step_free(&s);
    CHECK(ss_mem_blocks() == 0, "%zu blocks are left", ss_mem_blocks());
}

static void names_say_what_a_task_is(void)
{
    step s;
    ss_lower_options o = ss_lower_options_start();
    o.update_passes = 1;
    step_small(&s, &o);
    const char *const wanted[] = {"fc1.forward[3]",
                                  "fc2.backward[1]",
                                  "fc1[0] -> fc2[1]",
                                  "fc1[2] -> fc2[0] (hop 4)",
                                  "fc2[1] -> fc1[3] gradient",
                                  "fc1.w gradient gpu2.2 -> gpu1.1",
                                  "fc1.w weights gpu1.1 -> gpu1.2",
                                  "fc2.w[1].update on gpu1.2",
                                  "fc3.b.update on gpu2.2"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        bool found = false;
        for (uint32_t k = 1; k <= s.view.tasks; k++)
            found = found || !strcmp(s.view.task[k].name, wanted[i]);
        CHECK(found, "no task is called \"%s\"", wanted[i]);
    }
    CHECK(!strcmp(s.view.lane[1].name, "gpu1.1") && !strcmp(s.view.lane[1].kind, "p100"));
    CHECK(!strcmp(s.view.task[1].op, "fc1") && s.view.edges == s.result->lowered->tasks.edges);
    step_free(&s);
    step_bare(&s, SS_LINKS_FIFO_HOP);
    CHECK(!strcmp(s.view.task[3].name, "transfer 3") && !strcmp(s.view.lane[3].name, "link1"));
    step_free(&s);
}

static void a_view_tells_who_was_in_front(void)
{
    step s;
    step_bare(&s, SS_LINKS_FIFO_HOP);
    const ss_view *v = &s.view;
    CHECK(v->task[1].on_critical_path && v->task[3].on_critical_path &&
          v->task[7].on_critical_path);
    CHECK(v->path_compute == 9500000 && v->path_transfer == 11 * US && v->path_queueing == 0);
    CHECK(v->task[3].from == 1 && v->task[3].to == 2 && v->task[3].from_task == 1 &&
          v->task[3].to_task == 5);
    step_free(&s);
    ss_lower_options o = ss_lower_options_start();
    step_small(&s, &o);
    uint32_t queued = 0;
    for (uint32_t i = 1; i <= s.view.tasks; i++) {
        const ss_view_task *t = &s.view.task[i];
        if (!t->on_critical_path || t->start == t->ready)
            continue;
        queued++;
        CHECK(t->behind && s.view.task[t->behind].end == t->start, "task %u", i);
    }
    CHECK(queued > 0);
    step_free(&s);
}

int main(void)
{
    RUN(a_bare_graph_is_accounted_for);
    RUN(latency_is_communication_but_takes_no_link);
    RUN(a_message_with_unknown_ends_is_nobodys);
    RUN(a_step_without_tasks_takes_no_time);
    RUN(a_graph_that_is_refused_is_taken_over_all_the_same);
    RUN(a_trained_step_is_accounted_for);
    RUN(a_device_that_is_too_small_is_noticed);
    RUN(the_closed_form_is_charged_but_crosses_no_link);
    RUN(a_watch_stops_the_work_wherever_it_looks);
    RUN(a_long_run_is_stopped_on_its_way);
    RUN(a_meeting_takes_the_same_as_one_task_where_its_form_is_exact);
    RUN(no_memory_leaves_nothing);
    RUN(names_say_what_a_task_is);
    RUN(a_view_tells_who_was_in_front);
    return DONE();
}
