#include "simulate/collective_result.h"

#include "base/mem.h"
#include "base/text.h"
#include "graph/collective_choose.h"

/* What is owned while it is asked. */
typedef struct work {
    ss_collective c;
    uint32_t *machine;
    ss_reduction_tree tree;
} work;

/* Chunks where nothing looks at them. */
static ss_status refuse_chunks(const ss_collective_ask *ask, ss_error *err)
{
    const char *name = ss_operation_name(ask->operation);
    bool any = ask->algorithm == SS_ALGORITHMS;
    ss_text with = {0};
    for (uint32_t a = 0; a < SS_ALGORITHMS; a++)
        if (ss_collective_is_chunked(ask->operation, (ss_algorithm)a))
            ss_text_add(&with, "%s%s", with.n ? ", " : "", ss_algorithm_name((ss_algorithm)a));
    bool looks = any ? with.n > 0 : ss_collective_is_chunked(ask->operation, ask->algorithm);
    ss_status s = SS_OK;
    if (ask->chunks > 1 && !looks)
        s = ss_fail(
            err, SS_EINVAL, "chunks are %u, and %s%s%s cuts nothing into chunks; %s%s", ask->chunks,
            name, any ? "" : " by ", any ? "" : ss_algorithm_name(ask->algorithm),
            with.n ? "these algorithms do: " : "none of its algorithms does", ss_text_get(&with));
    ss_text_free(&with);
    return s;
}

static ss_status refuse(const ss_collective_ask *ask, const ss_party *p, ss_error *err)
{
    const char *name = ss_operation_name(ask->operation);
    ss_status s;
    if (ask->members < 2)
        return ss_fail(err, SS_EINVAL, "%s between %u device%s: two at least are needed", name,
                       ask->members, ask->members == 1 ? "" : "s");
    if (ask->algorithm != SS_ALGORITHMS && !ss_collective_has(ask->operation, ask->algorithm))
        return ss_fail(err, SS_EINVAL, "%s has no algorithm %s; it has %s", name,
                       ss_algorithm_name(ask->algorithm), ss_collective_algorithms(ask->operation));
    if ((s = refuse_chunks(ask, err)))
        return s;
    if (ask->operation == SS_P2P && ask->members != 2)
        return ss_fail(err, SS_EINVAL, "p2p is between 2 devices, not %u", ask->members);
    if ((s = ss_lower_check_options(&ask->options, err)))
        return s;
    bool *seen = ss_alloc_zeroed((size_t)p->topology->devices + 1, sizeof *seen);
    if (!seen)
        return ss_fail_memory(err, "members of a collective", p->topology->devices);
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
    if (ask->algorithm == SS_IN_NETWORK)
        return ss_reduction_tree_make(p->topology, p->routes, p->device, n, &w->tree, err);
    return SS_OK;
}

static ss_status find_form(const ss_collective_ask *ask, const ss_party *p, work *w,
                           double *seconds, ss_error *err)
{
    ss_price price = {0, 0};
    ss_pricer *pricer;
    ss_status s = ss_pricer_new(&pricer, err);
    if (s)
        return s;
    if (ask->algorithm == SS_ALGORITHMS)
        s = ss_choose_collective(pricer, &w->c, p, &ask->options, &price, err);
    else
        s = ss_price_chunks(pricer, &w->c, p, &ask->options, &price, err);
    ss_pricer_free(pricer);
    *seconds = price.latency_s + price.transfer_s;
    return s;
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
        s = find_form(ask, p, &w, &out->closed_form_s, err);
    out->algorithm = w.c.algorithm;
    out->chunks = w.c.chunks;
    if (!s)
        s = simulate(&w, ask, p, e, out, err);
    ss_reduction_tree_free(&w.tree);
    ss_free(w.machine);
    return s;
}
