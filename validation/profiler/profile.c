/* profile.c - which keys and phases are to be measured. */
#include "validation/profiler/profile.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "validation/profiler/profile_inside.h"

ss_profiler_options ss_profiler_options_start(void)
{
    return (ss_profiler_options){.rounds = 15, .warm_up = 2, .core = -1, .beside = -1, .crowded = 5, .seed = 1};
}

const char *ss_profile_keep(ss_arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *at = ss_arena_take(a, n);
    return at ? memcpy(at, text, n) : NULL;
}

ss_status ss_profiler_new(const ss_kernel_maker *maker, const char *device_kind, const char *version,
                          const ss_profiler_options *o, ss_profiler **out, ss_error *err)
{
    if (!o->rounds)
        return ss_fail(err, SS_EINVAL, "a profile needs at least 1 round");
    if (o->beside >= 0 && !o->crowded)
        return ss_fail(err, SS_EINVAL, "a profile beside another core needs at least 1 crowded round");
    if (o->beside >= 0 && o->beside == o->core)
        return ss_fail(err, SS_EINVAL, "core %d is to measure and to be beside what is measured", o->core);
    if (!(o->budget_s >= 0) || !(o->memory_bytes >= 0))
        return ss_fail(err, SS_EINVAL, "a profile's budget is %g s and its memory %g B", o->budget_s,
                       o->memory_bytes);
    ss_profiler *p = ss_alloc_zeroed(1, sizeof *p);
    if (!p)
        return ss_fail_memory(err, "a profiler", sizeof *p);
    p->maker = *maker;
    p->options = *o;
    p->device_kind = ss_profile_keep(&p->memory, device_kind);
    p->version = ss_profile_keep(&p->memory, version);
    if (!p->device_kind || !p->version) {
        ss_profiler_free(p);
        return ss_fail_memory(err, "a profiler", sizeof *p);
    }
    *out = p;
    return SS_OK;
}

void ss_profiler_free(ss_profiler *p)
{
    if (!p)
        return;
    ss_names_free(&p->known);
    ss_names_free(&p->keys);
    ss_free(p->of);
    ss_arena_free(&p->memory);
    ss_free(p);
}

/* ---- what is known ------------------------------------------------------------------------------------------- */

static void spell(ss_text *t, const char *kind, const char *attributes, const char *shape, const char *dtype,
                  const char *phase)
{
    ss_text_clear(t);
    ss_text_add(t, "%s|%s|%s|%s|%s", kind, attributes, shape, dtype, phase);
}

ss_status ss_profiler_known(ss_profiler *p, const ss_measured *row, ss_error *err)
{
    if (strcmp(row->device_kind, p->device_kind) != 0)
        return SS_OK;
    ss_text key = {0};
    uint32_t id;
    spell(&key, row->kind, row->attributes, row->shape, row->dtype, ss_phase_name(row->phase));
    ss_status s = ss_text_status(&key, err);
    if (!s)
        s = ss_names_add(&p->known, ss_text_get(&key), &id, err);
    ss_text_free(&key);
    return s;
}

const char *ss_profiler_inputs(const ss_profiler *p)
{
    return p->options.cold ? "cold" : "warm";
}

const char *ss_profiler_element(void)
{
    return "f32";
}

ss_status ss_profiler_know_profile(ss_profiler *p, const ss_profile *known, ss_error *err)
{
    ss_status s = ss_profile_check_same(known, p->device_kind, p->version, ss_profiler_inputs(p),
                                        ss_profiler_element(), err);
    for (uint32_t i = 0; i < known->streams && !s; i++)
        p->known_stream = fmax(p->known_stream, (double)known->stream[i].bytes);
    if (!s && known->interference > 0)
        p->interference = known->interference;
    for (uint32_t i = 0; i < known->rows && !s; i++)
        s = ss_profiler_known(p, &known->row[i].m, err);
    return s;
}

/* ---- what is to be measured ---------------------------------------------------------------------------------- */

/* The phases that an operator needs where it stands in its model. */
static void phases_of(const ss_profiler *p, const ss_op_row *op, bool *phase)
{
    bool weights = op->def->weights > 0, parts = p->options.parts_of_backward;
    phase[SS_FORWARD] = true;
    phase[SS_BACKWARD] = op->input_gradient;
    phase[SS_INPUT_GRADIENT] = op->input_gradient && parts;
    phase[SS_WEIGHT_GRADIENT] = weights && (!op->input_gradient || parts);
}

/* The row of a key, which is made where it is new. */
static ss_status row_of(ss_profiler *p, const ss_profiled *x, const char *key, uint32_t *id, ss_error *err)
{
    *id = ss_names_find(&p->keys, key);
    if (*id)
        return SS_OK;
    ss_profiled row = *x;
    row.attributes = ss_profile_keep(&p->memory, x->attributes);
    row.shape = ss_profile_keep(&p->memory, x->shape);
    if (!row.attributes || !row.shape)
        return ss_fail_memory(err, "a profiler", 0);
    ss_status s = SS_RESERVE(p->of, p->cap, p->keys.n + 2, "a profiler", err);
    if (!s)
        s = ss_names_add(&p->keys, key, id, err);
    if (!s)
        p->of[*id] = row;
    return s;
}

/* Whether the operator before it that has its weight comes just before it but for those of its own layer: a step of
 * a recurrent layer, whose weights are still where the step before left them. */
static bool weights_are_at_hand(const ss_model *m, ss_op op)
{
    const ss_op_row *row = &m->op[op.i];
    for (uint32_t before = op.i; row->def->weights && before-- > 1;) {
        const ss_op_row *other = &m->op[before];
        if (other->def->weights)
            return other->weight[0].i == row->weight[0].i;
    }
    return false;
}

static ss_status add_key(ss_profiler *p, const ss_profiled *x, ss_text *key, ss_error *err)
{
    const ss_op_row *op = &x->model->op[x->op.i];
    const char *kind = op->def->kind->name, *dtype = ss_dtype_name(op->def->out[0].dtype);
    bool wanted[SS_PHASES];
    phases_of(p, op, wanted);
    for (int i = 0; i < SS_PHASES; i++) {
        if (!wanted[i])
            continue;
        spell(key, kind, x->attributes, x->shape, dtype, ss_phase_name((ss_phase)i));
        ss_status s = ss_text_status(key, err);
        if (s || ss_names_find(&p->known, ss_text_get(key))) {
            if (s)
                return s;
            continue;
        }
        uint32_t id;
        spell(key, kind, x->attributes, x->shape, dtype, "");
        s = ss_text_status(key, err);
        if (!s)
            s = row_of(p, x, ss_text_get(key), &id, err);
        if (s)
            return s;
        p->rows += !p->of[id].phase[i];
        if (i == SS_FORWARD && weights_are_at_hand(x->model, x->op))
            p->of[id].again++;
        else if (i == SS_FORWARD)
            p->of[id].fresh++;
        p->of[id].phase[i] = true;
    }
    return SS_OK;
}

ss_status ss_profiler_add(ss_profiler *p, const ss_model *m, ss_op op, const ss_box *main, ss_error *err)
{
    ss_text attributes = {0}, shape = {0}, key = {0};
    ss_cost_key(m->op[op.i].def, main, &attributes, &shape);
    ss_status s = ss_text_status(&attributes, err);
    p->largest_bytes = fmax(p->largest_bytes, ss_profiled_largest(m, op, main));
    if (!s)
        s = ss_text_status(&shape, err);
    ss_profiled x = {.model = m,
                     .op = op,
                     .main = *main,
                     .attributes = ss_text_get(&attributes),
                     .shape = ss_text_get(&shape)};
    if (!s)
        s = add_key(p, &x, &key, err);
    ss_text_free(&attributes);
    ss_text_free(&shape);
    ss_text_free(&key);
    return s;
}

ss_status ss_profiler_add_strategy(ss_profiler *p, const ss_strategy *s, ss_error *err)
{
    uint32_t devices = s->topology->devices;
    bool *used = ss_alloc_zeroed((size_t)devices + 1, sizeof *used);
    if (!used)
        return ss_fail_memory(err, "a profiler", devices * sizeof *used);
    ss_status status = SS_OK;
    p->strategies++;
    for (uint32_t i = 1; i <= s->ops && !status; i++)
        for (uint32_t k = 0; k < s->config[i].parts && !status; k++) {
            ss_box main;
            ss_strategy_part_box(s, (ss_op){i}, k, &main);
            status = ss_profiler_add(p, s->model, (ss_op){i}, &main, err);
            p->working_bytes += ss_profiled_bytes(s->model, (ss_op){i}, &main);
            p->devices += !used[s->config[i].device[k].i];
            used[s->config[i].device[k].i] = true;
        }
    ss_free(used);
    return status;
}

double ss_profiler_memory(const ss_profiler *p)
{
    return p->options.memory_bytes > 0 ? p->options.memory_bytes
                                       : (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 4;
}

/* Three arrays on each of two cores, each of all sizes up to the largest: twice that. */
int64_t ss_profiler_largest_stream(const ss_profiler *p)
{
    enum { LEAST = 1 << 12, MOST = 1 << 28, TIMES = 12 };
    int64_t most = LEAST;
    while ((double)most < p->largest_bytes && most < MOST && 2.0 * TIMES * (double)most <= ss_profiler_memory(p))
        most *= 2;
    return most;
}

bool ss_profiler_knows_streams(const ss_profiler *p)
{
    return p->known_stream >= (double)ss_profiler_largest_stream(p);
}

uint32_t ss_profiler_rows(const ss_profiler *p)
{
    return p->rows;
}

bool ss_profiler_is_idle(const ss_profiler *p)
{
    return !p->rows && (p->options.beside < 0 || ss_profiler_knows_streams(p));
}
