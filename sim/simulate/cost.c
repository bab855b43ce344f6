#include "simulate/cost.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "graph/catalog.h"
#include "simulate/cost_inside.h"

enum { MOST_KINDS = 64 };

ss_status ss_costs_new(ss_costs **out, ss_error *err)
{
    ss_costs *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "costs", sizeof *c);
    c->scale = 1;
    c->round = 1;
    *out = c;
    return SS_OK;
}

static void release(ss_cost_source *s)
{
    if (!s || --s->holders)
        return;
    ss_cost_given_free(s->given);
    ss_cost_table_free(s->table);
    ss_cost_roofline_free(s->roofline);
    ss_free(s);
}

void ss_costs_free(ss_costs *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->sources; i++) {
        release(c->source[i].is);
        ss_correction_free(c->source[i].correction);
        ss_names_free(&c->source[i].unknown);
    }
    for (uint32_t i = 0; i < c->timers; i++)
        ss_cost_timer_free(c->timer[i]);
    ss_free(c->source);
    ss_free(c->timer);
    ss_free(c->missing_round);
    ss_names_free(&c->missing);
    ss_names_free(&c->given_names);
    ss_names_free(&c->kinds);
    ss_memo_free(&c->memo);
    ss_free(c);
}

/* Answers remembered before a source was added may not be its answers, and it may know what none
 * did. */
static void forget(ss_costs *c)
{
    ss_memo_forget(&c->memo);
    ss_names_free(&c->missing);
    c->missed = 0;
    c->age++;
}

static ss_status new_source(ss_cost_sort sort, const char *table, ss_cost_source **out,
                            ss_error *err)
{
    ss_cost_source *s = ss_alloc_zeroed(1, sizeof *s);
    if (!s)
        return ss_fail_memory(err, "a source of costs", sizeof *s);
    s->sort = sort;
    s->holders = 1;
    ss_status status = sort == SS_COST_GIVEN   ? ss_cost_given_new(&s->given, err)
                       : sort == SS_COST_TABLE ? ss_cost_table_new(table, &s->table, err)
                                               : ss_cost_roofline_new(&s->roofline, err);
    if (status) {
        release(s);
        return status;
    }
    *out = s;
    return SS_OK;
}

/* The source that was added last if it is of that sort and nobody else's; else a new one. */
static ss_status last_source(ss_costs *c, ss_cost_sort sort, const char *new_table,
                             ss_cost_source **out, ss_error *err)
{
    ss_cost_source *last = c->sources ? c->source[c->sources - 1].is : NULL;
    if (last && last->sort == sort && last->holders == 1 && !new_table &&
        c->source[c->sources - 1].scale == 1 && !c->source[c->sources - 1].correction) {
        *out = last;
        return SS_OK;
    }
    ss_status s =
        SS_RESERVE(c->source, c->source_cap, (size_t)c->sources + 1, "sources of costs", err);
    if (!s)
        s = new_source(sort, new_table ? new_table : "a table", out, err);
    if (!s)
        c->source[c->sources++] = (ss_cost_slot){.is = *out, .scale = 1, .after = 1};
    return s;
}

ss_status ss_costs_add_roofline(ss_costs *c, const ss_roofline *override, ss_error *err)
{
    ss_cost_source *source;
    ss_status s = last_source(c, SS_COST_ROOFLINE, NULL, &source, err);
    if (!s && override)
        s = ss_cost_roofline_add(source->roofline, override, err);
    forget(c);
    return s;
}

ss_status ss_costs_add_given(ss_costs *c, const char *op_name, double forward_s, double backward_s,
                             bool whole, ss_error *err)
{
    ss_cost_source *source;
    uint32_t id;
    ss_status s = last_source(c, SS_COST_GIVEN, NULL, &source, err);
    if (!s)
        s = ss_cost_given_add(source->given, op_name, forward_s, backward_s, whole, err);
    if (!s)
        s = ss_names_add(&c->given_names, op_name, &id, err);
    forget(c);
    return s;
}

ss_status ss_costs_check_given(const ss_costs *c, const ss_model *m, ss_error *err)
{
    for (uint32_t i = 1; i <= c->given_names.n; i++) {
        const char *name = ss_names_text(&c->given_names, i);
        if (ss_names_find(&m->op_names, name))
            continue;
        const char *near = ss_names_nearest(&m->op_names, name);
        return ss_fail(err, SS_EINVAL, "given time of %s: model %s has no such operator%s%s%s",
                       name, m->name, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
    }
    return SS_OK;
}

static ss_status kinds_of(const ss_topology *t, ss_names *kinds, ss_error *err)
{
    uint32_t id;
    ss_status s = SS_OK;
    for (uint32_t i = 1; !s && i <= t->devices; i++) {
        const char *kind = t->device[i].def.kind;
        if (kind && *kind)
            s = ss_names_add(kinds, kind, &id, err);
    }
    return s;
}

/* "p100, v100 and 2 more" */
static void list_kinds(const ss_names *kinds, ss_text *out)
{
    enum { SHOWN = 4 };
    for (uint32_t i = 1; i <= kinds->n && i <= SHOWN; i++)
        ss_text_add(out, "%s%s", i > 1 ? ", " : "", ss_names_text(kinds, i));
    if (kinds->n > SHOWN)
        ss_text_add(out, " and %u more", kinds->n - SHOWN);
}

static ss_status check_table(const ss_cost_table *table, const ss_topology *t,
                             const ss_names *kinds, ss_error *err)
{
    const ss_names *measured = ss_cost_table_devices(table);
    const char *near = NULL;
    for (uint32_t i = 1; i <= measured->n; i++) {
        if (ss_names_find(kinds, ss_names_text(measured, i)))
            return SS_OK;
        if (!near)
            near = ss_names_nearest(kinds, ss_names_text(measured, i));
    }
    ss_text has = {0}, there = {0};
    list_kinds(measured, &has);
    list_kinds(kinds, &there);
    ss_status s =
        ss_fail(err, SS_EINVAL,
                "table %s can time nothing here: it is of devices of kind %s, and those of "
                "topology %s are %s%s%s%s",
                ss_cost_table_name(table), ss_text_get(&has), t->name, ss_text_get(&there),
                near ? "; was " : "", near ? near : "", near ? " meant?" : "");
    ss_text_free(&has);
    ss_text_free(&there);
    return s;
}

static ss_status check_roofline(const ss_cost_roofline *r, const ss_topology *t,
                                const ss_names *kinds, ss_error *err)
{
    const char *known[MOST_KINDS], *kind;
    uint32_t builtins, n = 0;
    const ss_roofline *builtin = ss_rooflines(&builtins);
    for (uint32_t i = 0; i < builtins && n < MOST_KINDS; i++)
        if (strcmp(builtin[i].kind, "*") != 0)
            known[n++] = builtin[i].kind;
    for (uint32_t i = 1; i <= kinds->n && n < MOST_KINDS; i++)
        known[n++] = ss_names_text(kinds, i);
    for (uint32_t i = 0; (kind = ss_cost_roofline_kind(r, i)); i++) {
        bool serves = !strcmp(kind, "*") || ss_names_find(kinds, kind) || ss_device_kind_find(kind);
        for (uint32_t k = 0; k < builtins && !serves; k++)
            serves = !strcmp(builtin[k].kind, kind);
        if (serves)
            continue;
        const char *near = ss_nearest(kind, known, n);
        return ss_fail(err, SS_EINVAL,
                       "roofline of %s: neither topology %s nor the catalogue has devices of that "
                       "kind%s%s%s",
                       kind, t->name, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
    }
    return SS_OK;
}

ss_status ss_costs_check_devices(const ss_costs *c, const ss_topology *t, ss_error *err)
{
    ss_names kinds = {0};
    ss_status s = kinds_of(t, &kinds, err);
    for (uint32_t i = 0; !s && i < c->sources; i++) {
        const ss_cost_source *source = c->source[i].is;
        if (source->sort == SS_COST_TABLE)
            s = check_table(source->table, t, &kinds, err);
        if (source->sort == SS_COST_ROOFLINE)
            s = check_roofline(source->roofline, t, &kinds, err);
    }
    ss_names_free(&kinds);
    return s;
}

ss_status ss_costs_begin_table(ss_costs *c, const char *name, ss_error *err)
{
    ss_cost_source *source;
    forget(c);
    return last_source(c, SS_COST_TABLE, name, &source, err);
}

ss_status ss_costs_add_measured(ss_costs *c, const ss_measured *row, ss_error *err)
{
    ss_cost_source *source;
    ss_status s = last_source(c, SS_COST_TABLE, NULL, &source, err);
    if (!s)
        s = ss_cost_table_add(source->table, row, err);
    forget(c);
    return s;
}

ss_status ss_costs_add_stream(ss_costs *c, const ss_measured_stream *row, ss_error *err)
{
    ss_cost_source *source;
    ss_status s = last_source(c, SS_COST_TABLE, NULL, &source, err);
    if (!s)
        s = ss_cost_table_add_stream(source->table, row, err);
    forget(c);
    return s;
}

ss_status ss_costs_measured(const ss_costs *c, const ss_op_def *op, ss_phase phase, bool input_gradient,
                            const ss_box *main, const ss_device_def *device, double *seconds, bool *known,
                            ss_error *err)
{
    const ss_cost_part part = {op, op->kind->name, phase, input_gradient, main, device};
    *known = false;
    for (uint32_t i = 0; i < c->sources && !*known; i++) {
        ss_cost_answer answer;
        if (c->source[i].is->sort != SS_COST_TABLE)
            continue;
        ss_status s = ss_cost_table_ask(c->source[i].is->table, &part, &answer, err);
        if (s)
            return s;
        *known = answer.found == SS_COST_EXACT;
        *seconds = answer.seconds;
    }
    return SS_OK;
}

ss_status ss_costs_add_all(ss_costs *c, const ss_costs *from, ss_error *err)
{
    uint32_t n = from->sources; /* the same may be appended to itself */
    double from_scale = from == c ? 1 : from->scale;
    ss_status s =
        SS_RESERVE(c->source, c->source_cap, (size_t)c->sources + n, "sources of costs", err);
    for (uint32_t i = 1; !s && i <= from->given_names.n; i++) {
        uint32_t id;
        s = ss_names_add(&c->given_names, ss_names_text(&from->given_names, i), &id, err);
    }
    if (s)
        return s;
    for (uint32_t i = 0; i < n; i++) {
        const ss_cost_slot *x = &from->source[i];
        x->is->holders++;
        c->source[c->sources++] = (ss_cost_slot){
            .is = x->is,
            .scale = x->correction ? x->scale : x->scale * from_scale,
            .correction = x->correction ? ss_correction_hold(x->correction) : NULL,
            .after = x->correction ? x->after * from_scale : 1,
        };
    }
    forget(c);
    return SS_OK;
}

ss_status ss_costs_copy(const ss_costs *from, ss_costs **out, ss_error *err)
{
    ss_costs *c = NULL;
    ss_status s = ss_costs_new(&c, err);
    if (s)
        return s;
    s = ss_costs_add_all(c, from, err);
    if (s) {
        ss_costs_free(c);
        return s;
    }
    /* one scale for all of it, as there: it counts for sums and updates too, which no source knows */
    for (uint32_t i = 0; i < c->sources; i++) {
        c->source[i].scale = from->source[i].scale;
        c->source[i].after = from->source[i].after;
    }
    c->scale = from->scale;
    *out = c;
    return SS_OK;
}

ss_status ss_costs_set_scale(ss_costs *c, double scale, ss_error *err)
{
    if (!(scale > 0 && isfinite(scale)))
        return ss_fail(err, SS_EINVAL,
                       "times cannot become %g times as long: a number above 0 is wanted", scale);
    c->scale = scale;
    forget(c);
    return SS_OK;
}

ss_status ss_costs_correct(ss_costs *c, ss_correction *x, ss_error *err)
{
    if (!c->sources)
        return ss_fail(err, SS_EINVAL, "there are no costs to correct");
    for (uint32_t i = 0; i < c->sources; i++)
        if (c->source[i].correction)
            return ss_fail(err, SS_EINVAL, "these costs are corrected already: correct what they were made of");
    for (uint32_t i = 0; i < c->sources; i++) {
        c->source[i].correction = ss_correction_hold(x);
        c->source[i].after = 1;
    }
    forget(c);
    return SS_OK;
}

/* --- what was not known ----------------------------------------------------------------------- */

ss_status ss_cost_note_missing(ss_costs *c, const char *key, uint32_t *number, ss_error *err)
{
    ss_status s = SS_RESERVE(c->missing_round, c->missing_cap, (size_t)c->missing.n + 2,
                             "costs that were not found", err);
    uint32_t before = c->missing.n;
    if (!s)
        s = ss_names_add(&c->missing, key, number, err);
    if (!s && *number > before)
        c->missing_round[*number] = 0;
    return s;
}

void ss_cost_miss(ss_costs *c, uint32_t number)
{
    if (c->missing_round[number] == c->round)
        return;
    c->missing_round[number] = c->round;
    if (!c->missed++)
        c->first_missed = number;
}

static bool has_roofline(const ss_costs *c)
{
    for (uint32_t i = 0; i < c->sources; i++)
        if (c->source[i].is->sort == SS_COST_ROOFLINE)
            return true;
    return false;
}

ss_status ss_costs_refuse_missing(ss_costs *c, ss_error *err)
{
    uint32_t missed = c->missed;
    c->missed = 0;
    c->round++;
    if (!missed)
        return SS_OK;
    if (!c->sources)
        return ss_fail(err, SS_ENOTFOUND, "no costs: add given times, a table, or a roofline");
    const char *first = ss_names_text(&c->missing, c->first_missed);
    const char *mend = has_roofline(c) ? ""
                                       : "; a roofline stacked underneath answers what others do "
                                         "not: costs.stack { these, costs.roofline() }";
    if (missed == 1)
        return ss_fail(err, SS_ENOTFOUND, "no time is known for %s%s", first, mend);
    return ss_fail(err, SS_ENOTFOUND,
                   "no time is known for %u parts of operators; the first is %s%s", missed, first,
                   mend);
}

/* --- hash ------------------------------------------------------------------------------------ */

uint64_t ss_costs_hash(const ss_costs *c)
{
    uint64_t h = ss_hash_double(SS_HASH_START, c->scale);
    for (uint32_t i = 0; i < c->sources; i++) {
        const ss_cost_source *s = c->source[i].is;
        h = ss_hash_u64(h, s->sort);
        h = ss_hash_double(h, c->source[i].scale);
        if (c->source[i].correction) {
            h = ss_hash_double(h, c->source[i].after);
            h = ss_correction_hash(c->source[i].correction, h);
        }
        h = s->sort == SS_COST_GIVEN   ? ss_cost_given_hash(s->given, h)
            : s->sort == SS_COST_TABLE ? ss_cost_table_hash(s->table, h)
                                       : ss_cost_roofline_hash(s->roofline, h);
    }
    return h;
}
