#include "io/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "graph/tasks.h"

/* Every value begins with its key; what stands before it says whether a comma is due. */
static void key(ss_text *out, const char *name)
{
    char last = out->n ? out->at[out->n - 1] : '{';
    if (!strchr("{[ \n", last))
        ss_text_add(out, ", ");
    ss_text_add_json_string(out, name);
    ss_text_add(out, ": ");
}

/* Seconds, exact: a picosecond is the twelfth decimal. */
static void add_seconds(ss_text *out, const char *name, ss_time t)
{
    key(out, name);
    char digits[24];
    uint64_t size = t < 0 ? -(uint64_t)t : (uint64_t)t;
    int n = snprintf(digits, sizeof digits, "%012" PRIu64, size % SS_PICOSECONDS);
    while (n > 1 && digits[n - 1] == '0')
        digits[--n] = 0;
    ss_text_add(out, "%s%" PRIu64 ".%s", t < 0 ? "-" : "", size / SS_PICOSECONDS, digits);
}

static void add_number(ss_text *out, const char *name, double x)
{
    key(out, name);
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "%s", isfinite(x) ? ss_format_double(x, digits, sizeof digits) : "null");
}

static void add_string(ss_text *out, const char *name, const char *text)
{
    key(out, name);
    ss_text_add_json_string(out, text);
}

static void add_count(ss_text *out, const char *name, int64_t n)
{
    key(out, name);
    ss_text_add(out, "%" PRId64, n);
}

static void json_device(const ss_view_lane *lane, ss_time step, ss_text *out)
{
    add_string(out, "name", lane->name);
    add_string(out, "kind", lane->kind);
    add_seconds(out, "busy_s", lane->busy);
    add_seconds(out, "idle_s", step - lane->busy);
    add_seconds(out, "communicating_s", lane->communicating);
    add_count(out, "sent_bytes", lane->sent);
    add_count(out, "received_bytes", lane->received);
    add_count(out, "peak_memory_bytes", lane->held_peak);
    add_seconds(out, "peak_memory_at_s", lane->held_peak_at);
    key(out, "peak_memory_bytes_by");
    ss_text_add(out, "{");
    for (uint32_t k = 0; k < SS_HELD_KINDS; k++)
        add_count(out, ss_held_name(k), lane->held_peak_by[k]);
    ss_text_add(out, "}");
    add_number(out, "capacity_bytes", lane->capacity_bytes > 0 ? lane->capacity_bytes : NAN);
}

static void json_link(const ss_view_lane *lane, ss_text *out)
{
    add_string(out, "name", lane->name);
    add_string(out, "kind", lane->kind);
    add_number(out, "bandwidth_bytes_per_s", lane->bytes_per_s);
    add_seconds(out, "busy_s", lane->busy);
    add_count(out, "carried_bytes", lane->sent);
    add_count(out, "messages", lane->messages);
    add_seconds(out, "longest_wait_s", lane->longest_wait);
}

static void json_lanes(const ss_view *v, ss_text *out)
{
    ss_text_add(out, "  \"devices\": [");
    for (uint32_t d = 1; d <= v->devices; d++) {
        ss_text_add(out, "%s\n    {", d > 1 ? "," : "");
        json_device(&v->lane[d], v->step_time, out);
        ss_text_add(out, "}");
    }
    ss_text_add(out, "],\n  \"links\": [");
    for (uint32_t l = v->devices + 1; l <= v->lanes; l++) {
        ss_text_add(out, "%s\n    {", l > v->devices + 1 ? "," : "");
        json_link(&v->lane[l], out);
        ss_text_add(out, "}");
    }
    ss_text_add(out, "],\n");
}

static void json_contributor(const ss_view *v, const ss_contributor *c, ss_text *out)
{
    add_string(out, "operator", c->op);
    add_string(out, "kind", ss_task_kind_name(c->kind));
    if (c->cargo)
        add_string(out, "cargo", ss_cargo_name(c->cargo));
    add_count(out, "tasks", c->tasks);
    add_seconds(out, "active_s", c->active);
    add_seconds(out, "queueing_s", c->queueing);
    if (!c->waited)
        return;
    const ss_view_task *t = &v->task[c->waited];
    key(out, "longest_wait");
    ss_text_add(out, "{");
    add_string(out, "task", t->name);
    add_seconds(out, "wait_s", t->start - t->ready);
    add_string(out, "for", t->waited && t->waited <= v->lanes ? v->lane[t->waited].name : "");
    add_string(out, "behind", t->behind && t->behind <= v->tasks ? v->task[t->behind].name : "");
    ss_text_add(out, "}");
}

static ss_status json_waited(const ss_view *v, ss_text *out, ss_error *err)
{
    ss_waited *list;
    uint32_t n;
    ss_status s = ss_report_waited(v, &list, &n, err);
    if (s)
        return s;
    add_seconds(out, "queueing_device_s", v->path_queueing_device);
    add_seconds(out, "queueing_link_s", v->path_queueing_link);
    add_seconds(out, "slowed_s", v->path_slowed);
    key(out, "waited_for");
    ss_text_add(out, "[");
    for (uint32_t i = 0; i < n; i++) {
        ss_text_add(out, "%s{", i ? ", " : "");
        add_string(out, "name", v->lane[list[i].lane].name);
        add_seconds(out, "queueing_s", list[i].queueing);
        ss_text_add(out, "}");
    }
    ss_text_add(out, "]");
    ss_free(list);
    return SS_OK;
}

static ss_status json_critical(const ss_view *v, ss_text *out, ss_error *err)
{
    ss_contributor *list;
    uint32_t n;
    ss_status s = ss_report_contributors(v, &list, &n, err);
    if (s)
        return s;
    ss_text_add(out, "  \"critical_path\": {");
    add_seconds(out, "compute_s", v->path_compute);
    add_seconds(out, "transfer_s", v->path_transfer);
    add_seconds(out, "queueing_s", v->path_queueing);
    add_seconds(out, "overhead_s", v->path_overhead);
    s = json_waited(v, out, err);
    key(out, "contributors");
    ss_text_add(out, "[");
    for (uint32_t i = 0; i < n; i++) {
        ss_text_add(out, "%s\n    {", i ? "," : "");
        json_contributor(v, &list[i], out);
        ss_text_add(out, "}");
    }
    ss_text_add(out, "]},\n");
    ss_free(list);
    return s;
}

static void json_head(const ss_view *v, ss_text *out)
{
    double seconds = ss_time_seconds(v->step_time);
    ss_text_add(out, "{\n  ");
    add_string(out, "model", v->model);
    add_string(out, "topology", v->topology);
    add_string(out, "strategy", v->strategy);
    ss_text_add(out, ",\n  ");
    add_string(out, "assumptions", v->assumptions);
    ss_text_add(out, ",\n  ");
    add_seconds(out, "step_time_s", v->step_time);
    add_number(out, "samples", v->samples);
    add_number(out, "throughput_samples_per_s", seconds > 0 ? v->samples / seconds : NAN);
    add_count(out, "tasks", v->tasks);
    ss_text_add(out, ",\n  ");
    add_number(out, "moved_bytes", v->bytes_moved);
    key(out, "moved_bytes_by");
    ss_text_add(out, "{");
    for (uint32_t c = 1; c < SS_CARGOS; c++)
        add_number(out, ss_cargo_name(c), v->moved[c]);
    ss_text_add(out, "}");
    add_number(out, "charged_bytes", v->charged_bytes);
    ss_text_add(out, ",\n");
}

static void json_notes(const ss_view *v, ss_text *out)
{
    ss_text notes = {0};
    ss_report_notes(v, &notes);
    ss_text_add(out, "  \"notes\": [");
    char *line = notes.at;
    for (bool first = true; line && *line; first = false) {
        char *end = strchr(line, '\n');
        *end = 0;
        ss_text_add(out, first ? "\n    " : ",\n    ");
        ss_text_add_json_string(out, line);
        line = end + 1;
    }
    ss_text_add(out, "]\n}\n");
    out->failed |= notes.failed;
    ss_text_free(&notes);
}

ss_status ss_report_json(const ss_view *v, ss_text *out, ss_error *err)
{
    json_head(v, out);
    json_lanes(v, out);
    ss_status s = json_critical(v, out, err);
    if (!s)
        json_notes(v, out);
    return s ? s : ss_text_status(out, err);
}
