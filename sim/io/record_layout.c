#include "io/record_layout.h"

#include <math.h>
#include <stddef.h>

/* The names of the columns below, in this order. */
_Static_assert(SS_HELD_KINDS == 5 && SS_HELD_WEIGHTS == 0 && SS_HELD_WEIGHT_GRADIENTS == 1 &&
                   SS_HELD_OPTIMIZER == 2 && SS_HELD_ACTIVATIONS == 3 && SS_HELD_GRADIENTS == 4,
               "a kind of held memory has no column");

static const char *kind_label(uint32_t kind)
{
    return ss_task_kind_name((ss_task_kind)kind);
}

static const char *cargo_label(uint32_t cargo)
{
    return ss_cargo_name((ss_cargo)cargo);
}

#define FIELD(name, type, row, member, units, long_name)                                           \
    {                                                                                              \
        name, type, offsetof(row, member), units, long_name, NULL, 0, false                        \
    }
#define LABELLED(name, row, member, long_name, label, labels)                                      \
    {                                                                                              \
        name, SS_H5_ENUM, offsetof(row, member), NULL, long_name, label, labels, false             \
    }
#define NUMBER(name, long_name)                                                                    \
    {                                                                                              \
        name, SS_H5_ROW, SS_H5_NO_MEMBER, "1", long_name, NULL, 0, false                           \
    }
#define TABLE(name, group, long_name, field, row)                                                  \
    const ss_record_table name = {group, long_name, field, sizeof field / sizeof field[0],         \
                                  sizeof(row)}

#define LANE(name, type, member, units, long_name)                                                 \
    FIELD(name, type, ss_view_lane, member, units, long_name)

static const ss_h5_field lane_field[] = {
    NUMBER("lane", "number of the device or link"),
    LANE("name", SS_H5_TEXT, name, NULL, "name of the device or link"),
    LANE("kind", SS_H5_TEXT, kind, NULL, "its kind"),
    LANE("is_link", SS_H5_BOOL, is_link, NULL, "a link; else a device"),
    LANE("capacity", SS_H5_F64, capacity_bytes, "B", "memory of a device; 0: not known"),
    LANE("bandwidth", SS_H5_F64, bytes_per_s, "B/s", "bandwidth of a link"),
    LANE("busy", SS_H5_I64, busy, "ps", "time taken by tasks"),
    LANE("communicating", SS_H5_I64, communicating, "ps",
         "time during which a transfer of the device is under way"),
    LANE("longest_wait", SS_H5_I64, longest_wait, "ps", "longest wait of a message for the link"),
    LANE("sent", SS_H5_I64, sent, "B", "bytes sent by a device, or carried by a link"),
    LANE("received", SS_H5_I64, received, "B", "bytes received by a device"),
    LANE("messages", SS_H5_U32, messages, "1", "messages carried by a link"),
    LANE("held_peak", SS_H5_I64, held_peak, "B", "most memory held at a time"),
    LANE("held_peak_at", SS_H5_I64, held_peak_at, "ps", "when that was first reached"),
    LANE("held_peak_weights", SS_H5_I64, held_peak_by[0], "B", "weights, of held_peak"),
    LANE("held_peak_weight_gradients", SS_H5_I64, held_peak_by[1], "B",
         "gradients of weights, of held_peak"),
    LANE("held_peak_optimizer", SS_H5_I64, held_peak_by[2], "B", "optimizer state, of held_peak"),
    LANE("held_peak_activations", SS_H5_I64, held_peak_by[3], "B", "activations, of held_peak"),
    LANE("held_peak_gradients", SS_H5_I64, held_peak_by[4], "B",
         "gradients of activations, of held_peak"),
};
TABLE(ss_record_lanes, "lanes", "devices and links", lane_field, ss_view_lane);

#define TASK(name, type, member, units, long_name)                                                 \
    FIELD(name, type, ss_view_task, member, units, long_name)

static const ss_h5_field task_field[] = {
    TASK("task", SS_H5_ROW, id, "1", "number of the task"),
    TASK("name", SS_H5_TEXT, name, NULL, "name of the task"),
    TASK("operator", SS_H5_TEXT, op, NULL, "operator or weight it belongs to"),
    LABELLED("kind", ss_view_task, kind, "what it does", kind_label, SS_TASK_KINDS),
    LABELLED("cargo", ss_view_task, cargo, "what a transfer carries", cargo_label, SS_CARGOS),
    TASK("lane", SS_H5_U32, lane, "1", "device or link it holds: a lane"),
    TASK("lanes", SS_H5_U32, lanes, "1", "how many lanes it holds"),
    TASK("first_more", SS_H5_U32, first_more, "1",
         "the others begin at this row (from 0) of more_lanes"),
    TASK("ready", SS_H5_I64, ready, "ps", "when all it waits for has come"),
    TASK("start", SS_H5_I64, start, "ps", "when it takes its lane"),
    TASK("end", SS_H5_I64, end, "ps", "when its lane is free again"),
    TASK("finish", SS_H5_I64, finish, "ps", "when what waits for it may go on"),
    TASK("bytes", SS_H5_I64, bytes, "B", "payload of a transfer"),
    TASK("from_lane", SS_H5_U32, from, "1", "device a transfer leaves: a lane; 0: not known"),
    TASK("to_lane", SS_H5_U32, to, "1", "device a transfer is for: a lane; 0: not known"),
    TASK("hop", SS_H5_U32, hop, "1", "position of a transfer in its route, from 0"),
    TASK("from_task", SS_H5_U32, from_task, "1", "a task that a transfer waits for; 0: none"),
    TASK("to_task", SS_H5_U32, to_task, "1", "a task that waits for a transfer; 0: none"),
    TASK("critical", SS_H5_BOOL, on_critical_path, NULL, "on the path that decides the step time"),
    TASK("behind", SS_H5_U32, behind, "1",
         "on the critical path and queued: the task in front of it; 0: none"),
    {"waited_lane", SS_H5_U32, offsetof(ss_view_task, waited), "1",
     "on the critical path and queued: the lane it waited for; 0: none", NULL, 0, true},
};
TABLE(ss_record_tasks, "tasks", "what was done, where and when", task_field, ss_view_task);

static const ss_h5_field more_field[] = {
    {"lane", SS_H5_U32, 0, "1", "a further lane that a task holds", NULL, 0, false},
};
TABLE(ss_record_more, "more_lanes", "lanes of tasks that hold several, see tasks/first_more",
      more_field, uint32_t);

static const ss_h5_field memory_field[] = {
    FIELD("lane", SS_H5_U32, ss_view_held, lane, "1", "device: a lane"),
    FIELD("time", SS_H5_I64, ss_view_held, at, "ps", "when the memory held changes"),
    FIELD("bytes", SS_H5_I64, ss_view_held, bytes, "B", "memory held from then on"),
};
TABLE(ss_record_memory, "memory", "memory held over time, by device", memory_field, ss_view_held);

static const ss_h5_field changed_field[] = {
    FIELD("lane", SS_H5_U32, ss_view_stretch, lane, "1", "device or link: a lane"),
    FIELD("from", SS_H5_I64, ss_view_stretch, from, "ps", "from when on it was not as at first"),
    FIELD("to", SS_H5_I64, ss_view_stretch, to, "ps", "until when"),
    FIELD("still", SS_H5_BOOL, ss_view_stretch, still, NULL,
          "it stood still; else another bandwidth, latency or speed"),
};
TABLE(ss_record_changed, "changed", "when devices and links were not as at first", changed_field,
      ss_view_stretch);

static const ss_h5_field event_field[] = {
    FIELD("at", SS_H5_I64, ss_view_event, at, "ps", "when it happened"),
    FIELD("lane", SS_H5_U32, ss_view_event, lane, "1", "device or link: a lane"),
    FIELD("event", SS_H5_TEXT, ss_view_event, what, NULL, "what happened"),
    FIELD("bandwidth", SS_H5_F64, ss_view_event, bytes_per_s, "B/s",
          "of a link from then on; 0: nothing passes"),
    FIELD("latency", SS_H5_F64, ss_view_event, latency_s, "s", "of a link from then on"),
    FIELD("speed", SS_H5_F64, ss_view_event, speed, "1",
          "of a device from then on; 0: it stands still"),
};
TABLE(ss_record_events, "events", "what happened to devices and links", event_field, ss_view_event);

static const ss_h5_field edge_field[] = {
    {"before", SS_H5_U32, 0, "1", "a task", NULL, 0, false},
    {"after", SS_H5_U32, sizeof(uint32_t), "1", "a task that waits for it", NULL, 0, false},
};
TABLE(ss_record_edges, "edges", "what waits for what", edge_field, uint32_t[2]);

static const ss_h5_field moved_field[] = {
    LABELLED("cargo", ss_record_moved_row, cargo, "what was carried", cargo_label, SS_CARGOS),
    FIELD("bytes", SS_H5_F64, ss_record_moved_row, bytes, "B", "each message once"),
};
TABLE(ss_record_moved, "moved", "bytes moved, by what they were", moved_field, ss_record_moved_row);

#define VALUE(name, type, member, units, long_name)                                                \
    FIELD(name, type, ss_view, member, units, long_name)

static const ss_h5_field summary_field[] = {
    VALUE("step_time", SS_H5_I64, step_time, "ps", "time of one training step"),
    VALUE("samples", SS_H5_F64, samples, "1", "samples of one step"),
    VALUE("bytes_moved", SS_H5_F64, bytes_moved, "B", "bytes moved, each message once"),
    VALUE("charged_bytes", SS_H5_F64, charged_bytes, "B",
          "of bytes_moved: charged in closed form, so on no link"),
    VALUE("path_compute", SS_H5_I64, path_compute, "ps", "of the critical path: computing"),
    VALUE("path_transfer", SS_H5_I64, path_transfer, "ps", "of the critical path: transfers"),
    VALUE("path_queueing", SS_H5_I64, path_queueing, "ps",
          "of the critical path: waiting for a busy device or link"),
    {"path_queueing_device", SS_H5_I64, offsetof(ss_view, path_queueing_device), "ps",
     "of path_queueing: waiting for a device", NULL, 0, true},
    {"path_queueing_link", SS_H5_I64, offsetof(ss_view, path_queueing_link), "ps",
     "of path_queueing: waiting for a link", NULL, 0, true},
    {"path_slowed", SS_H5_I64, offsetof(ss_view, path_slowed), "ps",
     "of path_transfer: slowed by others on shared links", NULL, 0, true},
    {"path_overhead", SS_H5_I64, offsetof(ss_view, path_overhead), "ps",
     "of the step, when its tasks are over", NULL, 0, true},
    VALUE("devices", SS_H5_U32, devices, "1", "lanes that are devices; links follow"),
};
TABLE(ss_record_summary, "summary", "the step as a whole", summary_field, ss_view);

const ss_h5_field ss_record_strategy_file = {
    "file", SS_H5_TEXT, 0,    NULL, "the strategy as a file: what problem:load_strategy reads",
    NULL,   0,          false};

/* -------------------------------------------------------------------------------------- checks */

typedef struct complaint {
    ss_status status;
    ss_error *err;
} complaint;

static ss_status out_of_range(const complaint *c, const char *column, uint32_t row, uint32_t found,
                              uint32_t most)
{
    return ss_fail(c->err, c->status, "%s: row %u is %u, and there are %u", column, row, found,
                   most);
}

static ss_status check_lanes(const ss_view *v, const complaint *c)
{
    if (v->devices > v->lanes)
        return ss_fail(c->err, c->status, "summary/devices is %u, and there are %u lanes",
                       v->devices, v->lanes);
    for (uint32_t i = 1; i <= v->lanes; i++) {
        const ss_view_lane *l = &v->lane[i];
        if (l->is_link != (i > v->devices))
            return ss_fail(c->err, c->status,
                           "lanes/is_link: row %u is out of place: the first %u lanes are devices, "
                           "the rest links",
                           i, v->devices);
        if (!(l->capacity_bytes >= 0) || !(l->bytes_per_s >= 0))
            return ss_fail(c->err, c->status,
                           "lanes: row %u has a capacity of %g B and a bandwidth of %g B/s", i,
                           l->capacity_bytes, l->bytes_per_s);
        if (l->busy < 0 || l->communicating < 0 || l->longest_wait < 0 || l->held_peak_at < 0)
            return ss_fail(c->err, c->status, "lanes: row %u has a time below 0", i);
        if (l->sent < 0 || l->received < 0 || l->held_peak < 0)
            return ss_fail(c->err, c->status, "lanes: row %u has a size below 0", i);
    }
    return SS_OK;
}

static ss_status check_lanes_of_task(const ss_view *v, const ss_view_task *t, uint32_t i,
                                     const complaint *c)
{
    if (!t->lane || t->lane > v->lanes)
        return out_of_range(c, "tasks/lane", i, t->lane, v->lanes);
    if (!t->lanes ||
        (t->lanes > 1 && (t->first_more > v->mores || t->lanes - 1 > v->mores - t->first_more)))
        return ss_fail(c->err, c->status,
                       "tasks: row %u holds %u lanes from row %u of more_lanes, which has %u rows",
                       i, t->lanes, t->first_more, v->mores);
    if (t->from > v->lanes)
        return out_of_range(c, "tasks/from_lane", i, t->from, v->lanes);
    if (t->to > v->lanes)
        return out_of_range(c, "tasks/to_lane", i, t->to, v->lanes);
    return SS_OK;
}

static ss_status check_tasks(const ss_view *v, const complaint *c)
{
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        ss_status s = check_lanes_of_task(v, t, i, c);
        if (s)
            return s;
        if (t->from_task > v->tasks)
            return out_of_range(c, "tasks/from_task", i, t->from_task, v->tasks);
        if (t->to_task > v->tasks)
            return out_of_range(c, "tasks/to_task", i, t->to_task, v->tasks);
        if (t->behind > v->tasks)
            return out_of_range(c, "tasks/behind", i, t->behind, v->tasks);
        if (t->waited > v->lanes)
            return out_of_range(c, "tasks/waited_lane", i, t->waited, v->lanes);
        if (t->ready < 0 || t->start < t->ready || t->end < t->start || t->finish < t->end)
            return ss_fail(c->err, c->status,
                           "tasks: row %u has times out of order (ready, start, end, finish)", i);
        if (t->bytes < 0)
            return ss_fail(c->err, c->status, "tasks/bytes: row %u is below 0", i);
    }
    return SS_OK;
}

static ss_status check_rest(const ss_view *v, const complaint *c)
{
    for (uint32_t i = 0; i < v->mores; i++)
        if (!v->more[i] || v->more[i] > v->lanes)
            return out_of_range(c, "more_lanes/lane", i + 1, v->more[i], v->lanes);
    for (uint32_t i = 0; i < v->helds; i++) {
        const ss_view_held *h = &v->held[i];
        if (!h->lane || h->lane > v->devices)
            return out_of_range(c, "memory/lane", i + 1, h->lane, v->devices);
        bool in_order = !i || h[-1].lane < h->lane || (h[-1].lane == h->lane && h[-1].at <= h->at);
        if (h->at < 0 || h->bytes < 0 || !in_order)
            return ss_fail(c->err, c->status,
                           "memory: row %u is out of order (by lane, then time) or below 0", i + 1);
    }
    for (uint32_t i = 0; i < v->stretches; i++) {
        const ss_view_stretch *x = &v->stretch[i];
        if (!x->lane || x->lane > v->lanes)
            return out_of_range(c, "changed/lane", i + 1, x->lane, v->lanes);
        if (x->from < 0 || x->to < x->from)
            return ss_fail(c->err, c->status, "changed: row %u has times out of order or below 0",
                           i + 1);
    }
    for (uint32_t i = 0; i < v->events; i++) {
        const ss_view_event *x = &v->event[i];
        if (!x->lane || x->lane > v->lanes)
            return out_of_range(c, "events/lane", i + 1, x->lane, v->lanes);
        if (x->at < 0 || (i && x->at < x[-1].at))
            return ss_fail(c->err, c->status, "events: row %u is out of order or below 0", i + 1);
    }
    for (uint32_t i = 0; i < v->edges; i++)
        for (uint32_t k = 0; k < 2; k++)
            if (!v->edge[i][k] || v->edge[i][k] > v->tasks)
                return out_of_range(c, k ? "edges/after" : "edges/before", i + 1, v->edge[i][k],
                                    v->tasks);
    return SS_OK;
}

ss_status ss_record_check_view(const ss_view *v, ss_status status, ss_error *err)
{
    complaint c = {status, err};
    if (v->step_time < 0 || v->path_compute < 0 || v->path_transfer < 0 || v->path_queueing < 0 ||
        v->path_queueing_device < 0 || v->path_queueing_link < 0 || v->path_slowed < 0 ||
        v->path_overhead < 0)
        return ss_fail(err, status, "summary has a time below 0");
    if (!isfinite(v->samples) || !isfinite(v->bytes_moved) || !isfinite(v->charged_bytes))
        return ss_fail(err, status, "summary has a value that is not finite");
    ss_status s = check_lanes(v, &c);
    if (!s)
        s = check_tasks(v, &c);
    return s ? s : check_rest(v, &c);
}
