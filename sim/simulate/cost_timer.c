/* What lowering asks: the time of a part on a device of one topology.
 *
 * Lowering asks for every part of every operator, so the usual case must cost less than the task
 * that comes of it: the last answer for each operator and phase is compared first, then the memo,
 * and only a part that is new goes to the sources.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "simulate/cost_inside.h"

enum { NO_INPUT_GRADIENT = 1 << 8, WAYS = 2 };

struct ss_cost_timer {
    ss_costs *c;
    const ss_topology *t;
    uint64_t hash;       /* of the topology: another may come to lie in its place */
    uint32_t *device;    /* [devices + 1], number in the memo */
    ss_memo_entry *last; /* [WAYS * (2 * ops + 2)], by operator and phase, the latest first */
    uint32_t last_cap, age;
};

void ss_cost_timer_free(ss_cost_timer *t)
{
    if (!t)
        return;
    ss_free(t->device);
    ss_free(t->last);
    ss_free(t);
}

/* --- asking the sources ----------------------------------------------------------------------- */

static ss_status ask_source(const ss_cost_source *s, const ss_cost_part *part,
                            ss_cost_answer *answer, ss_error *err)
{
    if (s->sort == SS_COST_TABLE)
        return ss_cost_table_ask(s->table, part, answer, err);
    if (s->sort == SS_COST_GIVEN)
        ss_cost_given_ask(s->given, part, answer);
    else
        ss_cost_roofline_ask(s->roofline, part, answer);
    return SS_OK;
}

static void describe(const ss_cost_part *part, ss_text *out)
{
    ss_text attributes = {0}, shape = {0};
    ss_cost_key(part->op, part->main, &attributes, &shape);
    ss_text_add(out, "%s: %s %s, %s, %s, on %s", part->op_name, part->op->kind->name,
                ss_text_get(&shape), ss_dtype_name(part->op->out[0].dtype),
                ss_phase_name(part->phase), part->device->kind);
    if (attributes.n)
        ss_text_add(out, " (%s)", ss_text_get(&attributes));
    ss_text_free(&attributes);
    ss_text_free(&shape);
}

/* What a table did not know, in words, for the report. */
static ss_status keep_unknown(ss_cost_slot *slot, const ss_cost_part *part, const char *why,
                              ss_error *err)
{
    ss_text key = {0};
    uint32_t number;
    slot->unknowns++;
    if (slot->unknown.n >= SS_COST_TOLD)
        return SS_OK;
    describe(part, &key);
    if (*why)
        ss_text_add(&key, "; %s", why);
    ss_status s = ss_text_status(&key, err);
    if (!s)
        s = ss_names_add(&slot->unknown, ss_text_get(&key), &number, err);
    ss_text_free(&key);
    return s;
}

/* The first answer of the sources, and whose it is, from 1 (0: nobody's); `why` collects what those
 * before it had to say. */
static ss_status ask_sources(ss_costs *c, const ss_cost_part *part, ss_cost_answer *answer,
                             uint32_t *source, ss_text *why, ss_error *err)
{
    *answer = (ss_cost_answer){0};
    *source = 0;
    for (uint32_t i = 0; i < c->sources; i++) {
        ss_status s = ask_source(c->source[i].is, part, answer, err);
        if (s)
            return s;
        if (answer->found == SS_COST_EXACT)
            c->source[i].exact++;
        if (answer->found == SS_COST_INTERPOLATED)
            c->source[i].interpolated++;
        answer->seconds *= c->source[i].scale;
        if (c->source[i].correction)
            answer->seconds =
                c->source[i].after * ss_correction_of_part(c->source[i].correction, part->op->kind,
                                                           part->phase, answer->seconds);
        if (answer->found) {
            *source = i + 1;
            return SS_OK;
        }
        if (answer->why_not[0])
            ss_text_add(why, "; %s", answer->why_not);
        if (c->source[i].is->sort == SS_COST_TABLE &&
            (s = keep_unknown(&c->source[i], part, answer->why_not, err)))
            return s;
    }
    return SS_OK;
}

/* The first roofline source; NULL: the built-in one.  No other source knows of memory. */
static const ss_cost_slot *roofline_of(const ss_costs *c)
{
    for (uint32_t i = 0; i < c->sources; i++)
        if (c->source[i].is->sort == SS_COST_ROOFLINE)
            return &c->source[i];
    return NULL;
}

static double bound_of(const ss_costs *c, const ss_cost_part *part, const ss_cost_answer *answer)
{
    const ss_cost_slot *slot = roofline_of(c);
    if (answer->has_bound)
        return answer->bound;
    return ss_cost_roofline_bound(slot ? slot->is->roofline : NULL, part, answer->seconds);
}

static ss_status time_of(const ss_costs *c, const ss_cost_part *part, double seconds, ss_time *out,
                         ss_error *err)
{
    ss_status s =
        ss_time_from_seconds(seconds * c->scale / part->device->speed, "the time", out, err);
    return s ? ss_fail_in(err, "%s of %s on %s", ss_phase_name(part->phase), part->op_name,
                          part->device->kind)
             : SS_OK;
}

/* A part that the memo does not know: its time, or the negated number of what is missing. */
static ss_status ask(ss_costs *c, const ss_cost_part *part, ss_memo_entry *out, ss_error *err)
{
    ss_cost_answer answer;
    ss_text why = {0}, key = {0};
    c->fresh++;
    ss_status s = ask_sources(c, part, &answer, &out->source, &why, err);
    if (!s && answer.found) {
        out->bound = (float)bound_of(c, part, &answer);
        s = time_of(c, part, answer.seconds, &out->time, err);
    } else if (!s) {
        uint32_t number;
        describe(part, &key);
        ss_text_add(&key, "%s", ss_text_get(&why));
        s = ss_text_status(&key, err);
        if (!s)
            s = ss_cost_note_missing(c, ss_text_get(&key), &number, err);
        if (!s)
            out->time = -(ss_time)number;
    }
    ss_text_free(&why);
    ss_text_free(&key);
    return s;
}

/* --- the timer -------------------------------------------------------------------------------- */

static ss_status reserve_last(ss_cost_timer *t, uint32_t ops, ss_error *err)
{
    size_t need = WAYS * (2 * (size_t)ops + 2);
    uint32_t old = t->last_cap;
    ss_status s = SS_RESERVE(t->last, t->last_cap, need, "costs", err);
    if (!s && t->last_cap > old)
        memset(t->last + old, 0, (t->last_cap - old) * sizeof *t->last);
    if (!s && t->age != t->c->age) {
        memset(t->last, 0, t->last_cap * sizeof *t->last);
        t->age = t->c->age;
    }
    return s;
}

/* A part that is none of the last: from the memo, else from the sources. */
static ss_status recall(ss_cost_timer *t, const ss_op_row *row, const ss_memo_key *key,
                        const ss_box *main, ss_device device, ss_memo_entry *out, ss_error *err)
{
    ss_costs *c = t->c;
    const ss_memo_entry *known = ss_memo_find(&c->memo, key);
    if (known) {
        *out = *known;
        return SS_OK;
    }
    ss_phase phase = key->phase == SS_FORWARD ? SS_FORWARD : SS_BACKWARD;
    ss_cost_part part = {
        row->def, row->name, phase, row->input_gradient, main, &t->t->device[device.i].def};
    *out = (ss_memo_entry){.key = *key};
    ss_status s = ask(c, &part, out, err);
    return s ? s : ss_memo_put(&c->memo, out, err);
}

static ss_status answer(ss_costs *c, const ss_memo_entry *known, ss_time *out)
{
    if (known->time < 0)
        ss_cost_miss(c, (uint32_t)-known->time);
    else
        c->source[known->source - 1].told++;
    *out = known->time < 0 ? 0 : known->time;
    return SS_OK;
}

/* What is known of a part: one of the last, or of those before. */
static ss_status look_up(ss_cost_timer *t, const ss_model *m, ss_op op, ss_phase phase,
                         const ss_box *main, ss_device device, const ss_memo_entry **out,
                         ss_error *err)
{
    ss_costs *c = t->c;
    const ss_op_row *row = &m->op[op.i];
    uint32_t place = WAYS * (2 * op.i + (phase == SS_BACKWARD));
    ss_status s = SS_OK;
    if (place >= t->last_cap || t->age != c->age)
        s = reserve_last(t, m->ops, err);
    if (s)
        return s;

    ss_memo_entry *last = &t->last[place];
    ss_memo_key key; /* filled as far as it is read */
    key.device = t->device[device.i];
    key.phase = (uint32_t)phase;
    if (phase == SS_BACKWARD && !row->input_gradient)
        key.phase |= NO_INPUT_GRADIENT;
    key.name = c->given_names.n ? ss_names_find(&c->given_names, row->name) : 0;
    key.def = last->key.def;
    if (!ss_memo_is_def(&c->memo, key.def, row->def))
        s = ss_memo_def_number(&c->memo, row->def, &key.def, err);
    if (s)
        return s;
    ss_memo_place(&key, row->def, main);
    for (uint32_t way = 0; way < WAYS; way++)
        if (ss_memo_same(&key, &last[way].key)) {
            *out = &last[way];
            return SS_OK;
        }

    ss_memo_entry found;
    s = recall(t, row, &key, main, device, &found, err);
    if (s)
        return s;
    memmove(last + 1, last, (WAYS - 1) * sizeof *last);
    *last = found;
    *out = last;
    return SS_OK;
}

static ss_status part_time(void *context, const ss_model *m, ss_op op, ss_phase phase,
                           const ss_box *main, ss_device device, ss_time *out, ss_error *err)
{
    ss_cost_timer *t = context;
    const ss_memo_entry *known;
    ss_status s = look_up(t, m, op, phase, main, device, &known, err);
    t->c->asked += !s;
    return s ? s : answer(t->c, known, out);
}

static ss_status part_bound(void *context, const ss_model *m, ss_op op, ss_phase phase,
                            const ss_box *main, ss_device device, double *out, ss_error *err)
{
    const ss_memo_entry *known;
    ss_status s = look_up(context, m, op, phase, main, device, &known, err);
    if (!s)
        *out = known->time < 0 ? 0 : (double)known->bound;
    return s;
}

static double corrected(const ss_cost_slot *slot, ss_stream what, double seconds)
{
    seconds *= slot->scale;
    return slot->correction
               ? slot->after * ss_correction_of_stream(slot->correction, what, seconds)
               : seconds;
}

/* The first table that knows of such streams on the device; its scale is that of all it says. */
static bool ask_tables(const ss_cost_timer *t, ss_stream what, double bytes, ss_device device,
                       double *seconds, double *bound)
{
    const ss_costs *c = t->c;
    const char *kind = t->t->device[device.i].def.kind;
    for (uint32_t i = 0; i < c->sources; i++) {
        if (c->source[i].is->sort != SS_COST_TABLE ||
            !ss_cost_table_ask_stream(c->source[i].is->table, kind, what, bytes, seconds, bound))
            continue;
        *seconds = corrected(&c->source[i], what, *seconds);
        return true;
    }
    return false;
}

static ss_status roofline_memory(const ss_cost_timer *t, ss_stream what, double bytes,
                                 ss_device device, double *seconds, ss_error *err)
{
    const ss_device_def *def = &t->t->device[device.i].def;
    if (!(def->memory_bytes_per_s > 0))
        return ss_fail(err, SS_EINVAL,
                       "device %s has no memory bandwidth, which the time of sums and weight "
                       "updates needs",
                       ss_topology_device_name(t->t, device));
    const ss_cost_slot *slot = roofline_of(t->c);
    ss_roofline c = ss_cost_roofline_for(slot ? slot->is->roofline : NULL, def->kind);
    *seconds = c.launch_s + bytes / (def->memory_bytes_per_s * c.memory_efficiency);
    *seconds = slot ? corrected(slot, what, *seconds) : *seconds;
    return SS_OK;
}

static ss_status memory_time(void *context, ss_stream what, double bytes, ss_device device,
                             ss_time *out, ss_error *err)
{
    const ss_cost_timer *t = context;
    double seconds, bound;
    ss_status s = ask_tables(t, what, bytes, device, &seconds, &bound)
                      ? SS_OK
                      : roofline_memory(t, what, bytes, device, &seconds, err);
    if (s)
        return s;
    s = ss_time_from_seconds(seconds * t->c->scale / t->t->device[device.i].def.speed, "the time",
                             out, err);
    return s ? ss_fail_in(err, "reading and writing %g bytes on device %s", bytes,
                          ss_topology_device_name(t->t, device))
             : SS_OK;
}

/* What was never measured waits all the time. */
static double memory_bound(void *context, ss_stream what, double bytes, ss_device device)
{
    double seconds, bound = 1;
    return ask_tables(context, what, bytes, device, &seconds, &bound) ? bound : 1;
}

static ss_status number_devices(ss_cost_timer *t, ss_error *err)
{
    const ss_topology *topology = t->t;
    uint32_t *device = ss_alloc_zeroed((size_t)topology->devices + 1, sizeof *device);
    if (!device)
        return ss_fail_memory(err, "costs", topology->devices * sizeof *device);
    ss_free(t->device);
    t->device = device;
    for (uint32_t i = 1; i <= topology->devices; i++) {
        ss_device_def def = topology->device[i].def;
        uint32_t kind;
        ss_status s = ss_names_add(&t->c->kinds, def.kind, &kind, err);
        if (s)
            return s;
        def.kind = ss_names_text(&t->c->kinds, kind); /* outlives the topology */
        s = ss_memo_device_number(&t->c->memo, &def, &device[i], err);
        if (s)
            return s;
    }
    return SS_OK;
}

static ss_cost_timer *timer_of(const ss_costs *c, const ss_topology *t)
{
    for (uint32_t i = 0; i < c->timers; i++)
        if (c->timer[i]->t == t)
            return c->timer[i];
    return NULL;
}

static ss_status new_timer(ss_costs *c, const ss_topology *t, ss_cost_timer **out, ss_error *err)
{
    ss_status s = SS_RESERVE(c->timer, c->timer_cap, (size_t)c->timers + 1, "timers", err);
    if (s)
        return s;
    ss_cost_timer *timer = ss_alloc_zeroed(1, sizeof *timer);
    if (!timer)
        return ss_fail_memory(err, "a timer", sizeof *timer);
    timer->c = c;
    timer->t = t;
    c->timer[c->timers++] = timer;
    *out = timer;
    return SS_OK;
}

ss_status ss_costs_timer(ss_costs *c, const ss_topology *t, ss_timer *out, ss_error *err)
{
    ss_status s = SS_OK;
    ss_cost_timer *timer = timer_of(c, t);
    if (!timer)
        s = new_timer(c, t, &timer, err);
    uint64_t hash = ss_topology_hash(t);
    if (!s && (!timer->device || timer->hash != hash)) {
        if (timer->last)
            memset(timer->last, 0, timer->last_cap * sizeof *timer->last);
        timer->hash = 0;
        s = number_devices(timer, err);
    }
    if (!s) {
        timer->hash = hash;
        *out = (ss_timer){.context = timer,
                          .part = part_time,
                          .memory = memory_time,
                          .part_bound = part_bound,
                          .memory_bound = memory_bound,
                          .alike = timer->device};
    }
    return s;
}
