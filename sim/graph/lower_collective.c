/* lower_collective.c - a collective by itself, without a model. */
#include "graph/lowering.h"

#include "base/array.h"
#include "graph/collective_route.h"

/* What a message waits for, in s->before. */
static ss_status list_before(struct ss_lower_scratch *s, const ss_message *m, uint32_t *n,
                             ss_error *err)
{
    ss_status e = SS_OK;
    *n = 0;
    for (uint32_t a = 0; a < m->afters && !e; a++) {
        const ss_sent *sent = &s->sent[s->messages.after[m->first_after + a]];
        e = SS_RESERVE(s->before, s->before_cap, (size_t)*n + sent->arrivals, "dependencies", err);
        for (uint32_t i = 0; i < sent->arrivals && !e; i++)
            s->before[(*n)++].i = sent->arrival + i;
    }
    return e;
}

static ss_status send_message(ss_lowering *w, const ss_collective *c, const ss_party *p, uint32_t i,
                              ss_error *err)
{
    struct ss_lower_scratch *s = w->s;
    const ss_message *m = &s->messages.row[i];
    ss_task_label label = {.kind = SS_TASK_TRANSFER, .part = m->from, .to_part = m->to, .turn = i};
    uint32_t n, links, sent; /* which is i: there are no others */
    const ss_link *link;
    ss_status e = list_before(s, m, &n, err);
    if (e)
        return e;
    if (c->algorithm != SS_IN_NETWORK)
        return ss_lower_send(w, p->device[m->from], p->device[m->to], m->bytes, &label, s->before,
                             n, &sent, err);
    label.from = m->from < c->members ? p->device[m->from] : (ss_device){0};
    label.to = m->to < c->members ? p->device[m->to] : (ss_device){0};
    e = ss_collective_way(c, p, m, &link, &links, err);
    return e ? e : ss_lower_send_over_link(w, *link, m->bytes, &label, s->before, n, &sent, err);
}

ss_status ss_lower_collective(const ss_collective *c, const ss_party *p,
                              const ss_lower_options *options, ss_lowered *out, uint32_t *sent,
                              ss_error *err)
{
    ss_lowering w;
    ss_status e = ss_lower_start_bare(p->topology, p->routes, options, out, &w, err);
    if (!e)
        e = ss_collective_messages(c, &w.s->messages, err);
    uint32_t messages = e ? 0 : w.s->messages.n;
    if (sent)
        *sent = messages;
    if (!e)
        e = ss_tasks_reserve(w.tasks, messages, w.s->messages.afters, err);
    for (uint32_t i = 1; i <= messages && !e; i++) {
        if (i % SS_LOOK_EVERY == 0)
            e = ss_lowering_look_up(&w, "lowering a collective", i, messages, err);
        if (!e)
            e = send_message(&w, c, p, i, err);
    }
    if (!e)
        e = ss_tasks_finish(w.tasks, err);
    ss_lower_forget(out);
    return e;
}
