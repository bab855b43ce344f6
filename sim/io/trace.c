#include "config.h"

#include "io/trace.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text.h"
#include "graph/tasks.h"
#include "io/file.h"

enum { FLUSH_AT = 1 << 15, PS_IN_NS = 1000, PS_IN_US = 1000000 };

/* A task on one of its lanes.  slot: 0, or more where it would cross the slice before it. */
typedef struct slice {
    ss_view_turn at;
    uint32_t slot;
} slice;

typedef struct writer {
    const ss_view *v;
    const ss_trace_options *o;
    ss_time to;
    slice *slice; /* by lane, then time */
    uint32_t slices;
    uint32_t *group; /* [lanes + 1]: process of a lane */
    uint32_t *
        shown_as; /* [tasks + 1]: row of `slice` where arrows meet the task, from 1; 0: not shown */
    ss_text text; /* events on their way to the file */
    ss_file file;
    bool any; /* an event was written */
    ss_trace_counts counts;
    ss_error *err;
} writer;

/* ------------------------------------------------------------------------------------ selection */

static bool matches(const char *pattern, const char *name)
{
    if (strpbrk(pattern, "*?["))
        return !fnmatch(pattern, name, 0);
    return strstr(name, pattern) != NULL;
}

static bool wanted(const writer *w, const ss_view_task *t)
{
    if (t->end < w->o->from || t->start > w->to || !t->lane)
        return false;
    return !w->o->only || matches(w->o->only, t->name) || matches(w->o->only, t->op);
}

static ss_status choose_slices(writer *w)
{
    const ss_view *v = w->v;
    size_t n = 0;
    for (uint32_t i = 1; i <= v->tasks; i++)
        n += wanted(w, &v->task[i]) ? v->task[i].lanes : 0;
    if (n >= UINT32_MAX)
        return ss_fail(w->err, SS_ERANGE, "a trace of %zu slices is too large", n);
    w->slice = ss_alloc(n * sizeof *w->slice);
    w->shown_as = ss_alloc_zeroed(v->tasks + (size_t)1, sizeof *w->shown_as);
    if (!w->slice || !w->shown_as)
        return ss_fail_memory(w->err, "a trace", n * sizeof *w->slice);
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        if (!wanted(w, t)) {
            w->counts.left_out++;
            continue;
        }
        w->slice[w->slices++] = (slice){{t->start, t->lane, i}, 0};
        for (uint32_t k = 1; k < t->lanes; k++)
            w->slice[w->slices++] = (slice){{t->start, v->more[t->first_more + k - 1], i}, 0};
    }
    qsort(w->slice, w->slices, sizeof *w->slice, ss_view_turn_order);
    for (uint32_t k = w->slices; k > 0; k--)
        w->shown_as[w->slice[k - 1].at.task] = k; /* the first lane wins */
    return SS_OK;
}

/* Puts each slice of a lane into the first slot that is free by then.  With exclusive resources
 * that is always slot 0; links that several flows share need more. */
static ss_status choose_slots(writer *w)
{
    ss_time *free_at = NULL;
    uint32_t slots = 0, cap = 0;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < w->slices && !s; i++) {
        slice *now = &w->slice[i];
        if (i == 0 || now->at.lane != now[-1].at.lane)
            slots = 0;
        uint32_t k = 0;
        while (k < slots && free_at[k] > now->at.start)
            k++;
        if (k == slots) {
            s = SS_RESERVE(free_at, cap, slots + (size_t)1, "lanes of a trace", w->err);
            slots++;
        }
        if (!s) {
            now->slot = k;
            free_at[k] = w->v->task[now->at.task].end;
        }
    }
    ss_free(free_at);
    return s;
}

/* Devices are processes of their own; links are gathered by kind, in the order of their first. */
static ss_status choose_processes(writer *w)
{
    const ss_view *v = w->v;
    w->group = ss_alloc_zeroed(v->lanes + (size_t)1, sizeof *w->group);
    if (!w->group)
        return ss_fail_memory(w->err, "a trace", v->lanes * sizeof *w->group);
    uint32_t groups = v->devices;
    for (uint32_t l = 1; l <= v->lanes; l++) {
        if (l <= v->devices) {
            w->group[l] = l;
            continue;
        }
        uint32_t same = v->devices + 1;
        while (same < l && strcmp(v->lane[same].kind, v->lane[l].kind))
            same++;
        w->group[l] = same < l ? w->group[same] : ++groups;
    }
    return SS_OK;
}

/* --------------------------------------------------------------------------------------- events */

/* A trace of a million tasks is half a gigabyte: its events are put together by hand, in a fifth of
 * the time that printf takes.  Inline, so that a literal is copied by a move or two. */
static inline void add(ss_text *out, const char *s)
{
    size_t n = strlen(s);
    if (out->failed || out->n + n >= out->cap) {
        ss_text_add_bytes(out, s, n);
        return;
    }
    memcpy(out->at + out->n, s, n + 1);
    out->n += (uint32_t)n;
}

static inline void add_number(ss_text *out, uint64_t n, uint32_t least_digits)
{
    char digits[24];
    uint32_t at = sizeof digits - 1;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n || sizeof digits - 1 - at < least_digits);
    add(out, digits + at);
}

static inline void add_time(ss_text *out, const char *key, ss_time t)
{
    uint64_t ps = t < 0 ? -(uint64_t)t : (uint64_t)t;
    add(out, key);
    if (t < 0)
        add(out, "-");
    add_number(out, ps / PS_IN_US, 1);
    add(out, ".");
    add_number(out, ps % PS_IN_US, 6);
}

static uint32_t thread_of(const writer *w, const slice *s)
{
    /* Numbers of threads must differ within a process: lane, and beyond all lanes the extra slots.
     */
    return s->at.lane + s->slot * (w->v->lanes + 1);
}

/* Begins an event: {"ph":"X","pid":3,"tid":3 */
static void begin(writer *w, char phase, uint32_t pid, uint32_t tid)
{
    add(&w->text, w->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    add(&w->text, (char[]){phase, 0});
    add(&w->text, "\",\"pid\":");
    add_number(&w->text, pid, 1);
    add(&w->text, ",\"tid\":");
    add_number(&w->text, tid, 1);
    w->any = true;
}

/* Ends it, and hands full buffers on: what is in memory does not grow with the trace. */
static ss_status finish(writer *w)
{
    add(&w->text, "}");
    if (w->text.n < FLUSH_AT && !w->text.failed)
        return SS_OK;
    ss_status s = ss_text_status(&w->text, w->err);
    if (!s)
        s = ss_file_put(&w->file, ss_text_get(&w->text), w->text.n, w->err);
    ss_text_clear(&w->text);
    return s;
}

static ss_status name_it(writer *w, const char *what, uint32_t pid, uint32_t tid,
                         const char *before, const char *name, uint32_t slot)
{
    ss_text full = {0};
    ss_text_add(&full, "%s%s", before, name);
    if (slot)
        ss_text_add(&full, " (%u)", slot + 1);
    begin(w, 'M', pid, tid);
    ss_text_add(&w->text, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    ss_text_add_json_string(&w->text, ss_text_get(&full));
    ss_text_add(&w->text, "}");
    w->text.failed |= full.failed;
    ss_text_free(&full);
    return finish(w);
}

static ss_status sort_it(writer *w, const char *what, uint32_t pid, uint32_t tid, uint32_t place)
{
    begin(w, 'M', pid, tid);
    ss_text_add(&w->text, ",\"name\":\"%s\",\"args\":{\"sort_index\":%u}", what, place);
    return finish(w);
}

static ss_status write_processes(writer *w)
{
    const ss_view *v = w->v;
    uint32_t named = v->devices;
    ss_status s = SS_OK;
    for (uint32_t l = 1; l <= v->lanes && !s; l++) {
        uint32_t pid = w->group[l];
        if (l > v->devices && pid <= named)
            continue;
        if (l > v->devices)
            named = pid;
        s = l > v->devices ? name_it(w, "process_name", pid, 0, "links: ", v->lane[l].kind, 0)
                           : name_it(w, "process_name", pid, 0, "", v->lane[l].name, 0);
        if (!s)
            s = sort_it(w, "process_sort_index", pid, 0, pid);
    }
    return s;
}

static ss_status write_threads(writer *w)
{
    const ss_view *v = w->v;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < w->slices && !s;) {
        uint32_t lane = w->slice[i].at.lane, slots = 0;
        for (; i < w->slices && w->slice[i].at.lane == lane; i++)
            slots = w->slice[i].slot >= slots ? w->slice[i].slot + 1 : slots;
        for (uint32_t k = 0; k < slots && !s; k++) {
            slice at = {{0, lane, 0}, k};
            const char *name = lane <= v->devices ? "compute" : v->lane[lane].name;
            uint32_t pid = w->group[lane], tid = thread_of(w, &at);
            s = name_it(w, "thread_name", pid, tid, "", name, k);
            if (!s)
                s = sort_it(w, "thread_sort_index", pid, tid, lane);
        }
    }
    return s;
}

static const char *category(const ss_view_task *t)
{
    return t->cargo ? ss_cargo_name(t->cargo) : ss_task_kind_name(t->kind);
}

static ss_status write_slice(writer *w, const slice *at)
{
    const ss_view_task *t = &w->v->task[at->at.task];
    begin(w, 'X', w->group[at->at.lane], thread_of(w, at));
    add_time(&w->text, ",\"ts\":", t->start);
    add_time(&w->text, ",\"dur\":", t->end - t->start);
    add(&w->text, ",\"name\":");
    ss_text_add_json_string(&w->text, t->name);
    add(&w->text, ",\"cat\":\"");
    add(&w->text, category(t));
    add(&w->text,
        t->on_critical_path ? ",critical\",\"args\":{\"task\":" : "\",\"args\":{\"task\":");
    add_number(&w->text, t->id, 1);
    add(&w->text, ",\"of\":");
    ss_text_add_json_string(&w->text, t->op);
    add_time(&w->text, ",\"queued_us\":", t->start - t->ready);
    if (t->bytes)
        ss_text_add(&w->text, ",\"bytes\":%" PRId64, t->bytes);
    if (t->finish > t->end)
        add_time(&w->text, ",\"latency_us\":", t->finish - t->end);
    if (t->on_critical_path)
        ss_text_add(&w->text, ",\"critical\":true");
    if (t->behind && t->behind <= w->v->tasks) {
        ss_text_add(&w->text, ",\"behind\":");
        ss_text_add_json_string(&w->text, w->v->task[t->behind].name);
    }
    add(&w->text, "}");
    w->counts.slices++;
    return finish(w);
}

static ss_status write_end(writer *w, char phase, uint32_t id, const slice *at, ss_time when)
{
    begin(w, phase, w->group[at->at.lane], thread_of(w, at));
    add_time(&w->text, ",\"ts\":", when);
    add(&w->text, ",\"id\":");
    add_number(&w->text, id, 1);
    add(&w->text, ",\"name\":\"message\",\"cat\":\"message\"");
    add(&w->text, phase == 'f' ? ",\"bp\":\"e\"" : "");
    return finish(w);
}

/* An arrow for each dependency that a message makes or meets, if both its ends are shown. */
static ss_status write_flows(writer *w)
{
    const ss_view *v = w->v;
    ss_status s = SS_OK;
    for (uint32_t e = 0; e < v->edges && !s; e++) {
        const ss_view_task *a = &v->task[v->edge[e][0]], *b = &v->task[v->edge[e][1]];
        uint32_t from = w->shown_as[v->edge[e][0]], to = w->shown_as[v->edge[e][1]];
        if (!from || !to || (!ss_view_is_message(a) && !ss_view_is_message(b)))
            continue;
        ss_time whole_ns = (a->end - a->start) / PS_IN_NS;
        ss_time leaves = a->start + (whole_ns > 1 ? (whole_ns - 1) * PS_IN_NS : 0);
        s = write_end(w, 's', e + 1, &w->slice[from - 1], leaves);
        if (!s)
            s = write_end(w, 'f', e + 1, &w->slice[to - 1], b->start);
        w->counts.flows++;
    }
    return s;
}

static ss_status write_held(writer *w, const ss_view_held *h, ss_time at)
{
    begin(w, 'C', w->group[h->lane], 0);
    add_time(&w->text, ",\"ts\":", at);
    ss_text_add(&w->text, ",\"name\":\"memory held\",\"args\":{\"bytes\":%" PRId64 "}", h->bytes);
    w->counts.counters++;
    return finish(w);
}

/* Inside the window, and at its beginning what was held by then. */
static ss_status write_memory(writer *w)
{
    const ss_view *v = w->v;
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < v->helds && !s; i++) {
        const ss_view_held *h = &v->held[i];
        bool last = i + 1 == v->helds || v->held[i + 1].lane != h->lane;
        if (h->at >= w->o->from && h->at <= w->to)
            s = write_held(w, h, h->at);
        else if (h->at < w->o->from && (last || v->held[i + 1].at > w->o->from))
            s = write_held(w, h, w->o->from);
    }
    return s;
}

/* ----------------------------------------------------------------------------------------- file */

static void write_head(writer *w)
{
    const ss_view *v = w->v;
    ss_text_add(&w->text, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"program\":\"%s\"",
                PACKAGE_STRING);
    const char *const of[][2] = {{"model", v->model},
                                 {"topology", v->topology},
                                 {"strategy", v->strategy},
                                 {"assumptions", v->assumptions},
                                 {"only", w->o->only ? w->o->only : ""}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        ss_text_add(&w->text, ",\"%s\":", of[i][0]);
        ss_text_add_json_string(&w->text, of[i][1]);
    }
    add_time(&w->text, ",\"step_us\":", v->step_time);
    ss_text_add(&w->text, ",\"tasks_left_out\":%u},\n\"traceEvents\":[", w->counts.left_out);
}

static ss_status write_all(writer *w)
{
    write_head(w);
    ss_status s = write_processes(w);
    if (!s)
        s = write_threads(w);
    for (uint32_t i = 0; i < w->slices && !s; i++)
        s = write_slice(w, &w->slice[i]);
    if (!s && !w->o->no_flows) /* after the slices: a viewer binds an arrow to a slice it knows */
        s = write_flows(w);
    if (!s && !w->o->no_memory)
        s = write_memory(w);
    ss_text_add(&w->text, "\n]}\n");
    if (!s)
        s = ss_text_status(&w->text, w->err);
    if (!s)
        s = ss_file_put(&w->file, ss_text_get(&w->text), w->text.n, w->err);
    return s;
}

ss_status ss_trace_write(const ss_view *v, const char *path, const ss_trace_options *o,
                         ss_trace_counts *counts, ss_error *err)
{
    static const ss_trace_options everything;
    writer w = {.v = v, .o = o ? o : &everything, .err = err};
    w.to = w.o->to ? w.o->to : SS_TIME_MAX;
    if (w.o->from < 0 || w.to <= w.o->from) {
        char from[SS_QUANTITY_TEXT], to[SS_QUANTITY_TEXT];
        return ss_fail(err, SS_EINVAL, "a trace from %s to %s: the window is empty",
                       ss_format_time(w.o->from, from, sizeof from),
                       ss_format_time(w.to, to, sizeof to));
    }
    ss_status s = choose_slices(&w);
    if (!s)
        s = choose_slots(&w);
    if (!s)
        s = choose_processes(&w);
    if (!s)
        s = ss_file_begin(path, &w.file, err);
    if (!s) {
        s = write_all(&w);
        if (!s)
            s = ss_file_commit(&w.file, err);
        else
            ss_file_abandon(&w.file);
    }
    ss_free(w.slice);
    ss_free(w.group);
    ss_free(w.shown_as);
    ss_text_free(&w.text);
    if (!s && counts)
        *counts = w.counts;
    return s;
}
