/* Times that the user gave, by operator name. */
#include <math.h>
#include <stdatomic.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "simulate/cost_sources.h"

typedef struct given_row {
    double forward_s, backward_s;
    bool whole;
    atomic_bool asked; /* costs of several threads may share a source */
} given_row;

struct ss_cost_given {
    ss_names names;
    given_row *row; /* by name, from 1 */
    uint32_t cap;
};

ss_status ss_cost_given_new(ss_cost_given **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "given times", sizeof **out);
}

void ss_cost_given_free(ss_cost_given *g)
{
    if (!g)
        return;
    ss_names_free(&g->names);
    ss_free(g->row);
    ss_free(g);
}

static ss_status refuse_seconds(const char *op_name, const char *phase, double seconds,
                                ss_error *err)
{
    if (isnan(seconds) || (seconds >= 0 && isfinite(seconds)))
        return SS_OK;
    return ss_fail(err, SS_EINVAL, "given time of %s: %s takes %g seconds", op_name, phase,
                   seconds);
}

ss_status ss_cost_given_add(ss_cost_given *g, const char *op_name, double forward_s,
                            double backward_s, bool whole, ss_error *err)
{
    if (!op_name || !*op_name)
        return ss_fail(err, SS_EINVAL, "a given time needs the name of an operator");
    ss_status s = refuse_seconds(op_name, "forward", forward_s, err);
    if (!s)
        s = refuse_seconds(op_name, "backward", backward_s, err);
    if (s)
        return s;
    if (isnan(forward_s) && isnan(backward_s))
        return ss_fail(err, SS_EINVAL, "given time of %s: neither forward nor backward is given",
                       op_name);
    if (ss_names_find(&g->names, op_name))
        return ss_fail(err, SS_EINVAL, "given time of %s: it was given before", op_name);
    uint32_t id;
    s = SS_RESERVE(g->row, g->cap, (size_t)g->names.n + 2, "given times", err);
    if (!s)
        s = ss_names_add(&g->names, op_name, &id, err);
    if (!s)
        g->row[id] = (given_row){forward_s, backward_s, whole, false};
    return s;
}

/* What part of the whole operator's work a part is: by FLOP; by bytes where nothing is computed; by
 * elements where nothing is moved either. */
static double share_of(const ss_cost_part *p)
{
    ss_work part, whole;
    ss_box all = ss_box_whole(&p->op->out[0]);
    ss_op_work(p->op, p->phase, p->input_gradient, p->main, &part);
    ss_op_work(p->op, p->phase, p->input_gradient, &all, &whole);
    if (whole.flops > 0)
        return part.flops / whole.flops;
    if (whole.bytes > 0)
        return part.bytes / whole.bytes;
    return (double)ss_box_elements(p->main) / (double)ss_box_elements(&all);
}

void ss_cost_given_ask(ss_cost_given *g, const ss_cost_part *part, ss_cost_answer *answer)
{
    *answer = (ss_cost_answer){0};
    uint32_t id = ss_names_find(&g->names, part->op_name);
    if (!id)
        return;
    given_row *row = &g->row[id];
    atomic_store_explicit(&row->asked, true, memory_order_relaxed);
    double seconds = part->phase == SS_FORWARD ? row->forward_s : row->backward_s;
    if (isnan(seconds))
        return;
    answer->found = SS_COST_EXACT;
    answer->seconds = row->whole ? seconds * share_of(part) : seconds;
}

const ss_names *ss_cost_given_names(const ss_cost_given *g)
{
    return &g->names;
}

bool ss_cost_given_asked(const ss_cost_given *g, uint32_t name)
{
    return g->row[name].asked;
}

uint64_t ss_cost_given_hash(const ss_cost_given *g, uint64_t h)
{
    h = ss_hash_u64(h, g->names.n);
    for (uint32_t i = 1; i <= g->names.n; i++) {
        h = ss_hash_text(h, ss_names_text(&g->names, i));
        h = ss_hash_double(h, g->row[i].forward_s);
        h = ss_hash_double(h, g->row[i].backward_s);
        h = ss_hash_u64(h, g->row[i].whole);
    }
    return h;
}
