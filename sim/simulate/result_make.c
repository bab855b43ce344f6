/* result_make.c - a result from a strategy, a bare task graph, or a run; result.c draws up the account. */
#include "simulate/result_inside.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

static ss_status new_result(ss_result **out, ss_error *err)
{
    ss_result *r = ss_alloc_zeroed(1, sizeof *r);
    ss_lowered *l = ss_alloc_zeroed(1, sizeof *l);
    if (!r || !l) {
        ss_free(r);
        ss_free(l);
        return ss_fail_memory(err, "a result", sizeof *r + sizeof *l);
    }
    r->lowered = l;
    *out = r;
    return SS_OK;
}

/* What links offered, where one changed. */
static ss_status keep_bandwidths(ss_result *r, const ss_run *run, ss_error *err)
{
    uint32_t links = r->lowered->tasks.links, changed = 0;
    for (uint32_t i = 0; i < r->changes; i++)
        changed += r->change[i].kind <= SS_CHANGE_LINK_WORKS;
    if (!changed)
        return SS_OK;
    r->mean_bytes_per_s = ss_alloc_zeroed(links + (size_t)1, sizeof *r->mean_bytes_per_s);
    if (!r->mean_bytes_per_s)
        return ss_fail_memory(err, "a result", links * sizeof *r->mean_bytes_per_s);
    for (uint32_t l = 1; l <= links; l++)
        r->mean_bytes_per_s[l] = ss_run_mean_bandwidth(run, l, r->timeline.makespan);
    return SS_OK;
}

static ss_status keep_run(ss_result *r, const ss_run *run, ss_error *err)
{
    const ss_change *change = ss_run_changes(run, &r->changes);
    ss_status s = ss_run_timeline(run, &r->timeline, err);
    if (s)
        return s;
    r->change = ss_alloc((r->changes + (size_t)1) * sizeof *r->change);
    if (!r->change)
        return ss_fail_memory(err, "a result", r->changes * sizeof *r->change);
    if (r->changes)
        memcpy(r->change, change, r->changes * sizeof *r->change);
    return keep_bandwidths(r, run, err);
}

static ss_status run_by_options(ss_result *r, const ss_watch *watch, ss_error *err)
{
    ss_run *made;
    ss_status s = ss_run_new(&r->lowered->tasks, &r->lowered->options.run, &made, err);
    if (s)
        return s;
    ss_run_set_watch(made, watch);
    s = ss_run_finish(made, err);
    if (!s)
        s = keep_run(r, made, err);
    ss_run_free(made);
    return s;
}

static ss_status run(ss_result *r, ss_engine *e, ss_error *err)
{
    double began = ss_seconds_now();
    ss_status s = ss_run_options_published(&r->lowered->options.run)
                      ? ss_engine_run(e, &r->lowered->tasks, &r->timeline, err)
                      : run_by_options(r, ss_engine_watch(e), err);
    r->simulate_s = ss_seconds_now() - began;
    return s;
}

/* What takes longest, where the whole is too long for a time: mostly a bandwidth or a speed in
 * another unit than was meant. */
static ss_status name_longest(const ss_result *r, const ss_model *m, const ss_topology *t,
                              ss_error *err)
{
    const ss_tasks *tasks = &r->lowered->tasks;
    uint32_t longest = 1;
    for (uint32_t i = 2; i <= tasks->n; i++)
        if (tasks->hold[i] > tasks->hold[longest])
            longest = i;
    const ss_task_label *label = &tasks->label[longest];
    char time[SS_QUANTITY_TEXT], size[SS_QUANTITY_TEXT], rate[SS_QUANTITY_TEXT];
    uint32_t where = tasks->where[longest];
    ss_format_time(tasks->hold[longest], time, sizeof time);
    if (where > tasks->devices) {
        uint32_t n, link = 0;
        const uint32_t *crossed = ss_tasks_resources(tasks, (ss_task){longest}, &n);
        for (uint32_t k = 0; k < n; k++) { /* the slowest */
            uint32_t l = crossed[k] > tasks->devices ? crossed[k] - tasks->devices : 0;
            if (l && (!link || tasks->bytes_per_s[l] < tasks->bytes_per_s[link]))
                link = l;
        }
        if (link)
            return ss_fail(
                err, SS_ERANGE,
                "the step takes longer than 106 days, which times cannot hold; its longest task, "
                "%s, sends %s over link %s of %s: is that bandwidth in the unit you mean?",
                time,
                ss_format_quantity((double)tasks->bytes[longest], SS_UNIT_BYTES, size, sizeof size),
                t->link[link].name,
                ss_format_quantity(tasks->bytes_per_s[link], SS_UNIT_BYTES_PER_SECOND, rate,
                                   sizeof rate));
    }
    bool of_op = label->kind == SS_TASK_FORWARD || label->kind == SS_TASK_BACKWARD ||
                 label->kind == SS_TASK_LUMPED;
    return ss_fail(
        err, SS_ERANGE,
        "the step takes longer than 106 days, which times cannot hold; its longest task, "
        "%s, is %s%s%s on %s: look at the units of its costs, and of the flops, "
        "memory_bandwidth and speed of that device",
        time, ss_task_kind_name((ss_task_kind)label->kind), of_op ? " of " : "",
        of_op && label->op <= m->ops ? m->op[label->op].name : "",
        where <= tasks->devices ? ss_topology_device_name(t, (ss_device){where}) : "?");
}

static void count_samples(ss_result *r, const ss_model *m)
{
    double seconds = ss_time_seconds(r->step_time);
    r->samples = (double)ss_model_batch(m);
    r->samples_per_s = seconds > 0 ? r->samples / seconds : 0;
    r->bytes_moved = ss_lowered_bytes_moved(r->lowered);
}

ss_status ss_result_new(const ss_model *m, const ss_topology *t, ss_routes *r, const ss_strategy *s,
                        const ss_timer *timer, const ss_lower_options *options, ss_engine *e,
                        ss_result **out, ss_error *err)
{
    ss_result *made;
    ss_status status = new_result(&made, err);
    if (status)
        return status;
    double began = ss_seconds_now();
    made->lowered->watch = ss_engine_watch(e);
    status = ss_lower(m, t, r, s, timer, options, made->lowered, err);
    made->lower_s = ss_seconds_now() - began;
    if (!status) {
        status = run(made, e, err);
        if (status == SS_ERANGE)
            name_longest(made, m, t, err);
    }
    if (!status)
        status = ss_result_account(made, t, r, ss_engine_watch(e), err);
    ss_holds holds = {0};
    if (!status)
        status = ss_lower_holds(m, s, made->lowered, &holds, err);
    if (!status)
        status = ss_result_hold(made, t, &holds, err);
    ss_holds_free(&holds);
    if (status) {
        ss_result_free(made);
        return status;
    }
    count_samples(made, m);
    *out = made;
    return SS_OK;
}

ss_status ss_result_of_tasks(ss_tasks *t, ss_engine *e, ss_result **out, ss_error *err)
{
    ss_result *made;
    ss_status status = new_result(&made, err);
    if (status) {
        ss_tasks_free(t);
        return status;
    }
    made->lowered->tasks = *t;
    *t = (ss_tasks){0};
    status = run(made, e, err);
    if (!status)
        status = ss_result_account(made, NULL, NULL, ss_engine_watch(e), err);
    if (status) {
        ss_result_free(made);
        return status;
    }
    made->bytes_moved = (double)ss_tasks_bytes_moved(&made->lowered->tasks);
    *out = made;
    return SS_OK;
}

/* The graph that was run, finished again with what was added: its bytes are cargo of no kind. */
static ss_status take_tasks(ss_result *r, const ss_run *run, bool bare, ss_error *err)
{
    ss_tasks with = {0};
    const ss_tasks *all = ss_run_tasks(run);
    int64_t before = ss_tasks_bytes_moved(&r->lowered->tasks);
    ss_status s = ss_tasks_copy(all, &with, err);
    if (!s)
        s = ss_tasks_finish(&with, err);
    if (s) {
        ss_tasks_free(&with);
        return s;
    }
    r->added = with.n - ss_run_given(run);
    ss_tasks_free(&r->lowered->tasks);
    r->lowered->tasks = with;
    if (!bare)
        r->lowered->moved[SS_CARGO_NONE] += ss_tasks_bytes_moved(&with) - before;
    return SS_OK;
}

static ss_status take_names(ss_result *r, const char *const *name, ss_error *err)
{
    if (!name || !r->added)
        return SS_OK;
    r->name = ss_arena_take(&r->names, r->added * sizeof *r->name);
    if (!r->name)
        return ss_fail_memory(err, "names of tasks", r->added * sizeof *r->name);
    for (uint32_t i = 0; i < r->added; i++) {
        size_t n = name[i] ? strlen(name[i]) + 1 : 0;
        char *copy = n ? ss_arena_take(&r->names, n) : NULL;
        if (n && !copy)
            return ss_fail_memory(err, "names of tasks", n);
        r->name[i] = n ? memcpy(copy, name[i], n) : NULL;
    }
    return SS_OK;
}

static ss_status copy_line(ss_result *r, const ss_timeline *line, ss_error *err)
{
    size_t bytes = ((size_t)line->n + 1) * sizeof *line->start;
    ss_status s = ss_timeline_reserve(&r->timeline, line->n, err);
    if (s)
        return s;
    memcpy(r->timeline.ready, line->ready, bytes);
    memcpy(r->timeline.start, line->start, bytes);
    memcpy(r->timeline.end, line->end, bytes);
    r->timeline.n = line->n;
    r->timeline.makespan = line->makespan;
    return SS_OK;
}

ss_status ss_result_of_line(const ss_model *m, const ss_topology *t, ss_routes *r,
                            const ss_strategy *s, ss_lowered *l, const ss_timeline *line,
                            ss_result **out, ss_error *err)
{
    ss_result *made;
    ss_holds holds = {0};
    ss_status status = new_result(&made, err);
    if (status) {
        ss_lowered_free(l);
        return status;
    }
    *made->lowered = *l;
    *l = (ss_lowered){0};
    if (line->n != made->lowered->tasks.n)
        status = ss_fail(err, SS_EINVAL, "the timeline has %u tasks, and the task graph %u",
                         line->n, made->lowered->tasks.n);
    if (!status)
        status = ss_lower_holds(m, s, made->lowered, &holds, err);
    if (!status)
        status = copy_line(made, line, err);
    if (!status)
        status = ss_result_account(made, t, r, NULL, err);
    if (!status)
        status = ss_result_hold(made, t, &holds, err);
    ss_holds_free(&holds);
    if (status) {
        ss_result_free(made);
        return status;
    }
    count_samples(made, m);
    *out = made;
    return SS_OK;
}

ss_status ss_result_of_run(const ss_model *m, const ss_topology *t, ss_routes *r,
                           const ss_strategy *s, ss_lowered *l, const ss_run *run,
                           const char *const *name, ss_result **out, ss_error *err)
{
    ss_result *made;
    ss_holds holds = {0};
    ss_status status = new_result(&made, err);
    if (status) {
        ss_lowered_free(l);
        return status;
    }
    *made->lowered = *l;
    *l = (ss_lowered){0};
    if (m) /* of what was lowered: what a script added holds no memory */
        status = ss_lower_holds(m, s, made->lowered, &holds, err);
    if (!status)
        status = take_tasks(made, run, !m, err);
    if (!status)
        status = take_names(made, name, err);
    if (!status)
        status = keep_run(made, run, err);
    if (!status)
        status = ss_result_account(made, t, r, made->lowered->watch, err);
    if (!status && m)
        status = ss_result_hold(made, t, &holds, err);
    ss_holds_free(&holds);
    if (status) {
        ss_result_free(made);
        return status;
    }
    if (m)
        count_samples(made, m);
    else
        made->bytes_moved = (double)ss_tasks_bytes_moved(&made->lowered->tasks);
    *out = made;
    return SS_OK;
}

void ss_result_free(ss_result *r)
{
    if (!r)
        return;
    ss_lowered_free(r->lowered);
    ss_free(r->lowered);
    ss_timeline_free(&r->timeline);
    ss_free(r->device);
    ss_free(r->link);
    ss_free(r->held);
    ss_free(r->held_first);
    ss_critical_free(&r->critical);
    ss_free(r->change);
    ss_arena_free(&r->names);
    ss_free(r->mean_bytes_per_s);
    ss_free(r->costs);
    ss_free(r->costs_notes);
    ss_free(r);
}
