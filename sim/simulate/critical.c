#include "simulate/critical.h"

#include "base/array.h"
#include "base/mem.h"

void ss_critical_free(ss_critical *c)
{
    if (!c)
        return;
    ss_free(c->step);
    *c = (ss_critical){0};
}

static uint32_t last_task(const ss_tasks *t, const ss_timeline *l)
{
    for (uint32_t i = 1; i <= t->n; i++)
        if (ss_timeline_finish(t, l, (ss_task){i}) == l->makespan)
            return i;
    return 0;
}

/* The predecessor that made it ready last; 0: it had none. */
static uint32_t released_by(const ss_tasks *t, const ss_timeline *l, uint32_t i)
{
    uint32_t least = 0;
    for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++) {
        uint32_t p = t->in[e];
        if (ss_timeline_finish(t, l, (ss_task){p}) == l->ready[i] && (!least || p < least))
            least = p;
    }
    return least;
}

static bool is_transfer(const ss_tasks *t, uint32_t i)
{
    uint8_t kind = t->label[i].kind;
    if (kind == SS_TASK_NONE)
        return t->where[i] > t->devices;
    return kind == SS_TASK_TRANSFER || kind == SS_TASK_COLLECTIVE;
}

/* The first resource that both hold; 0: none. */
static uint32_t shared_resource(const ss_tasks *t, uint32_t a, uint32_t b)
{
    uint32_t na, nb;
    const uint32_t *ra = ss_tasks_resources(t, (ss_task){a}, &na);
    const uint32_t *rb = ss_tasks_resources(t, (ss_task){b}, &nb);
    for (uint32_t i = 0, k = 0; i < na && k < nb;) { /* both ascend */
        if (ra[i] == rb[k])
            return ra[i];
        if (ra[i] < rb[k])
            i++;
        else
            k++;
    }
    return 0;
}

static bool blocks(const ss_tasks *t, const ss_run_options *o, uint32_t i, uint32_t device)
{
    const ss_task_label *label = &t->label[i];
    bool left = ss_run_options_block_sender(o) && label->from.i == device;
    bool reached = ss_run_options_block_receiver(o) && label->to.i == device;
    return device && (t->where[i] == device || (t->where[i] > t->devices && (left || reached)));
}

/* The first resource that both hold; 0: none. */
static uint32_t held_by_both(const ss_tasks *t, const ss_run_options *o, uint32_t a, uint32_t b)
{
    bool flow = ss_tasks_flows(t, (ss_task){a}) || ss_tasks_flows(t, (ss_task){b});
    uint32_t both = flow ? 0 : shared_resource(t, a, b);
    if (both || !o->copies_block)
        return both;
    uint32_t ends[] = {t->where[a] <= t->devices ? t->where[a] : t->label[a].from.i,
                       t->label[a].to.i};
    for (int k = 0; k < 2 && !both; k++)
        if (blocks(t, o, a, ends[k]) && blocks(t, o, b, ends[k]))
            both = ends[k];
    return both <= t->devices ? both : 0;
}

/* In whatever order tasks are taken, who is in front begins first. */
static bool is_in_front(const ss_tasks *t, const ss_timeline *l, const ss_run_options *o,
                        uint32_t u, uint32_t i)
{
    bool before = l->start[u] < l->start[i] ||
                  (l->start[u] == l->start[i] &&
                   (l->ready[u] < l->ready[i] || (l->ready[u] == l->ready[i] && u < i)));
    return before && held_by_both(t, o, u, i);
}

/* A step that queued started when the task in front of it ended.  That is one that took time,
 * unless a task without duration on several resources was held up on another of them.  Steps are in
 * order of time, so for every task of the graph those that start at its end are found by halving.
 */
static void find_blockers(const ss_tasks *t, const ss_timeline *l, const ss_run_options *o,
                          ss_critical *c)
{
    for (uint32_t u = 1; u <= t->n; u++) {
        uint32_t low = 0, high = c->n;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (l->start[c->step[middle].task.i] < l->end[u])
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < c->n && l->start[c->step[low].task.i] == l->end[u]; low++) {
            ss_critical_step *s = &c->step[low];
            uint32_t known = s->blocker.i; /* u grows: of equals the smallest stays */
            bool better = known == 0 || (t->hold[known] == 0 && t->hold[u] > 0);
            if (s->queueing > 0 && better && is_in_front(t, l, o, u, s->task.i))
                s->blocker.i = u;
        }
    }
}

/* What the step waited for: of several resources the one that the task in front of it held. */
static uint32_t waited_for(const ss_tasks *t, const ss_run_options *o, const ss_critical_step *s)
{
    uint32_t n = 0, shared = s->blocker.i ? held_by_both(t, o, s->blocker.i, s->task.i) : 0;
    const uint32_t *resource = ss_tasks_resources(t, s->task, &n);
    return shared ? shared : n ? resource[0] : 0;
}

static void split_queueing(const ss_tasks *t, const ss_run_options *o, ss_critical *c)
{
    c->queueing_device = c->queueing_link = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        ss_critical_step *s = &c->step[i];
        if (s->queueing > 0)
            s->resource = waited_for(t, o, s);
        if (s->resource > t->devices)
            c->queueing_link += s->queueing;
        else
            c->queueing_device += s->queueing;
    }
}

ss_status ss_critical_find(const ss_tasks *t, const ss_timeline *l, ss_critical *out, ss_error *err)
{
    const ss_run_options published = {0};
    ss_slowed slowed = {.tasks = t, .line = l};
    return ss_critical_find_in_run(&slowed, &published, out, err);
}

ss_status ss_critical_find_in_run(const ss_slowed *slowed, const ss_run_options *o,
                                  ss_critical *out, ss_error *err)
{
    const ss_tasks *t = slowed->tasks;
    const ss_timeline *l = slowed->line;
    uint32_t last = last_task(t, l), n = 0;
    for (uint32_t i = last; i; i = released_by(t, l, i))
        n++;
    ss_status s = SS_RESERVE(out->step, out->cap, n, "the critical path", err);
    if (s)
        return s;
    out->compute = out->transfer = out->queueing = out->slowed = 0;
    out->n = n;
    for (uint32_t i = last, k = n; i; i = released_by(t, l, i)) {
        ss_time queueing = l->start[i] - l->ready[i];
        ss_time work = ss_timeline_finish(t, l, (ss_task){i}) - l->start[i];
        out->step[--k] = (ss_critical_step){.task = {i}, .queueing = queueing};
        out->queueing += queueing;
        out->slowed += ss_slowed_of(slowed, (ss_task){i});
        if (is_transfer(t, i))
            out->transfer += work;
        else
            out->compute += work;
    }
    find_blockers(t, l, o, out);
    split_queueing(t, o, out);
    return SS_OK;
}
