#include "simulate/collective_result.h"

#include "base/mem.h"

/* What is owned while it is asked. */
typedef struct work {
    ss_collective c;
    uint32_t *machine;
    ss_reduction_tree tree;
    ss_messages list;
} work;

static ss_status refuse(const ss_collective_ask *ask, const ss_party *p, ss_error *err)
{
    const char *name = ss_operation_name(ask->operation);
    if (ask->members < 2)
        return ss_fail(err, SS_EINVAL, "%s between %u device%s: two at least are needed", name,
                       ask->members, ask->members == 1 ? "" : "s");
    if (ask->algorithm != SS_ALGORITHMS && !ss_collective_has(ask->operation, ask->algorithm))
        return ss_fail(err, SS_EINVAL, "%s has no algorithm %s; it has %s", name,
                       ss_algorithm_name(ask->algorithm), ss_collective_algorithms(ask->operation));
    if (ask->operation == SS_P2P && ask->members != 2)
        return ss_fail(err, SS_EINVAL, "p2p is between 2 devices, not %u", ask->members);
    bool *seen = ss_alloc_zeroed((size_t)p->topology->devices + 1, sizeof *seen);
    if (!seen)
        return ss_fail_memory(err, "members of a collective", p->topology->devices);
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < ask->members && !s; i++) {
        if (seen[p->device[i].i])
            s = ss_fail(err, SS_EINVAL, "%s: device %s is named twice", name,
                        ss_topology_device_name(p->topology, p->device[i]));
        seen[p->device[i].i] = true;
    }
    ss_free(seen);
    return s;
}

static ss_status set_up(const ss_collective_ask *ask, const ss_party *p, work *w, ss_error *err)
{
    uint32_t n = ask->members;
    w->machine = ss_alloc((size_t)n * sizeof *w->machine);
    if (!w->machine)
        return ss_fail_memory(err, "members of a collective", n * sizeof *w->machine);
    for (uint32_t i = 0; i < n; i++)
        w->machine[i] = p->topology->device[p->device[i].i].def.machine;
    w->c = (ss_collective){ask->operation, ask->algorithm, n,       ask->bytes,
                           ask->chunks,    w->machine,     &w->tree};
    ss_wire inside, across;
    if (ask->algorithm == SS_IN_NETWORK)
        return ss_reduction_tree_make(p->topology, p->routes, p->device, n, &w->tree, err);
    if (ask->algorithm != SS_ALGORITHMS)
        return SS_OK;
    ss_status s = ss_collective_neighbours(&w->c, p, &inside, &across, err);
    if (!s)
        ss_collective_choose(&w->c, inside, across);
    return s;
}

/* Which messages there are does not depend on chunks, but for how many. */
static ss_status find_form(work *w, const ss_party *p, double *seconds, ss_error *err)
{
    ss_wire inside, across;
    ss_collective whole = w->c;
    whole.chunks = 1;
    ss_status s = ss_collective_messages(&whole, &w->list, err);
    if (!s)
        s = ss_collective_wires(&whole, p, &w->list, &inside, &across, err);
    ss_messages_free(&w->list);
    if (s)
        return s;
    if (!ss_collective_is_chunked(w->c.operation, w->c.algorithm))
        w->c.chunks = 1;
    else if (!w->c.chunks)
        w->c.chunks = ss_collective_best_chunks(&w->c, inside, across);
    *seconds = ss_collective_seconds(&w->c, inside, across);
    return SS_OK;
}

static ss_status simulate(const work *w, const ss_collective_ask *ask, const ss_party *p,
                          ss_engine *e, ss_collective_answer *out, ss_error *err)
{
    ss_lowered lowered = {.watch = ss_engine_watch(e)};
    ss_status s = ss_lower_collective(&w->c, p, &ask->options, &lowered, &out->messages, err);
    if (!s)
        s = ss_result_of_tasks(&lowered.tasks, e, &out->result, err);
    if (!s)
        out->result->lowered->options = ask->options; /* what was in force */
    ss_lowered_free(&lowered);
    return s;
}

ss_status ss_collective_simulate(const ss_collective_ask *ask, const ss_party *p, ss_engine *e,
                                 ss_collective_answer *out, ss_error *err)
{
    work w = {0};
    *out = (ss_collective_answer){0};
    ss_status s = refuse(ask, p, err);
    if (!s)
        s = set_up(ask, p, &w, err);
    if (!s)
        s = find_form(&w, p, &out->closed_form_s, err);
    out->algorithm = w.c.algorithm;
    out->chunks = w.c.chunks;
    if (!s)
        s = simulate(&w, ask, p, e, out, err);
    ss_messages_free(&w.list);
    ss_reduction_tree_free(&w.tree);
    ss_free(w.machine);
    return s;
}
