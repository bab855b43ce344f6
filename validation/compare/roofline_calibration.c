/* roofline_calibration.c - which parts a roofline is fitted to, which are held out, and how far off it is on both. */
#include "validation/compare/roofline_calibration.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

typedef struct job {
    const ss_costs *measured;
    const ss_roofline_calibration_options *o;
    const ss_device_def *device; /* the first of the kind */
    ss_names seen;               /* keys with phases */
    bool test;                   /* what is new is held out */
} job;

void ss_roofline_calibration_free(ss_roofline_calibration *c)
{
    ss_names_free(&c->keys);
    ss_free(c->part);
    *c = (ss_roofline_calibration){0};
}

/* -- parts ------------------------------------------------------------------------------------- */

static ss_status spell_key(const ss_op_def *op, const ss_box *main, ss_text *key, ss_error *err)
{
    ss_text attributes = {0}, shape = {0};
    ss_cost_key(op, main, &attributes, &shape);
    ss_status s = ss_text_status(&attributes, err);
    if (!s)
        s = ss_text_status(&shape, err);
    ss_text_clear(key);
    if (!s)
        ss_text_add(key, "%s%s%s | %s | %s", op->kind->name, attributes.n ? " " : "",
                    ss_text_get(&attributes), ss_text_get(&shape), ss_dtype_name(op->out[0].dtype));
    ss_text_free(&attributes);
    ss_text_free(&shape);
    return s ? s : ss_text_status(key, err);
}

/* Whether the key with this phase was not there before. */
static ss_status is_new(job *j, const char *key, ss_phase phase, bool input_gradient, bool *out,
                        ss_error *err)
{
    ss_text text = {0};
    uint32_t id, before = j->seen.n;
    ss_text_add(&text, "%s | %s%s", key, ss_phase_name(phase), input_gradient ? " and inputs" : "");
    ss_status s = ss_text_status(&text, err);
    if (!s)
        s = ss_names_add(&j->seen, ss_text_get(&text), &id, err);
    *out = !s && j->seen.n > before;
    ss_text_free(&text);
    return s;
}

static ss_status check_device(const ss_device_def *d, const ss_roofline_part *p, const char *key,
                              ss_error *err)
{
    if (p->row.work.flops > 0 && !(p->row.peak > 0))
        return ss_fail(err, SS_EINVAL, "devices of kind %s have no peak for what %s computes in",
                       d->kind, key);
    if (p->row.work.bytes > 0 && !(p->row.bandwidth > 0))
        return ss_fail(err, SS_EINVAL,
                       "devices of kind %s have no memory bandwidth, which a roofline is of",
                       d->kind);
    return SS_OK;
}

static ss_status add_phase(ss_roofline_calibration *c, job *j, const ss_op_row *op, const char *key,
                           ss_phase phase, const ss_box *main, ss_error *err)
{
    bool input_gradient = phase == SS_BACKWARD && op->input_gradient, fresh, known;
    ss_roofline_part p = {.kind = op->def->kind,
                          .phase = phase,
                          .input_gradient = input_gradient,
                          .held_out = j->test};
    p.row.work = ss_roofline_work_of(op->def, phase, input_gradient, main);
    if (!(p.row.work.flops > 0) && !(p.row.work.bytes > 0))
        return SS_OK;
    p.row.peak = ss_roofline_peak(j->device, op->def->out[0].dtype);
    p.row.bandwidth = j->device->memory_bytes_per_s;
    ss_status s = is_new(j, key, phase, input_gradient, &fresh, err);
    if (s || !fresh)
        return s;
    s = ss_costs_measured(j->measured, op->def, phase, input_gradient, main, j->device,
                          &p.row.seconds, &known, err);
    if (s)
        return s;
    if (!known) {
        c->unknown++;
        return SS_OK;
    }
    s = check_device(j->device, &p, key, err);
    if (!s)
        s = SS_RESERVE(c->part, c->cap, (size_t)c->parts + 1, "parts of operators", err);
    if (!s)
        s = ss_names_add(&c->keys, key, &p.key, err);
    if (!s)
        c->part[c->parts++] = p;
    return s;
}

/* Of strategies to test on, what is fitted already is no test in any phase. */
static ss_status add_part(ss_roofline_calibration *c, job *j, const ss_op_row *op,
                          const ss_box *main, uint32_t fitted, ss_text *key, ss_error *err)
{
    ss_status s = spell_key(op->def, main, key, err);
    if (s)
        return s;
    uint32_t id = ss_names_find(&c->keys, ss_text_get(key));
    if (id && id <= fitted)
        return SS_OK;
    s = add_phase(c, j, op, ss_text_get(key), SS_FORWARD, main, err);
    if (!s && (op->input_gradient || op->def->weights))
        s = add_phase(c, j, op, ss_text_get(key), SS_BACKWARD, main, err);
    return s;
}

static ss_status same_device(job *j, const ss_device_def *d, ss_error *err)
{
    bool same = !j->device || (j->device->memory_bytes_per_s == d->memory_bytes_per_s &&
                               !memcmp(j->device->flop_per_s, d->flop_per_s, sizeof d->flop_per_s));
    if (!j->device)
        j->device = d;
    return same ? SS_OK
                : ss_fail(err, SS_EINVAL,
                          "devices of kind %s differ in their peaks or their memory bandwidth: "
                          "efficiencies are of one of each",
                          d->kind);
}

static ss_status add_strategy(ss_roofline_calibration *c, job *j, const ss_strategy *st,
                              uint32_t fitted, ss_error *err)
{
    ss_text key = {0};
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= st->ops && !s; i++)
        for (uint32_t k = 0; k < st->config[i].parts && !s; k++) {
            const ss_device_def *d = &st->topology->device[st->config[i].device[k].i].def;
            ss_box main;
            if (!d->kind || strcmp(d->kind, j->o->kind) != 0)
                continue;
            ss_strategy_part_box(st, (ss_op){i}, k, &main);
            s = same_device(j, d, err);
            if (!s)
                s = add_part(c, j, &st->model->op[i], &main, fitted, &key, err);
        }
    ss_text_free(&key);
    return s;
}

/* -- who is held out --------------------------------------------------------------------------- */

/* Of the keys of each kind of operator a share, by chance; of a share that is no whole number the next by chance, too. */
static ss_status hold_out(ss_roofline_calibration *c, const ss_roofline_calibration_options *o,
                          ss_error *err)
{
    uint32_t keys = c->keys.n, n;
    const ss_op_kind *const *kind = ss_op_kinds(&n);
    if (!keys || !(o->hold_out > 0))
        return SS_OK;
    bool *out = ss_alloc_zeroed((size_t)keys + 1, sizeof *out);
    uint32_t *of = ss_alloc_zeroed((size_t)keys + 1, sizeof *of);
    ss_rng rng = {0};
    ss_status s = out && of ? ss_rng_open(&rng, o->seed, "roofline: parts held out", err)
                            : ss_fail_memory(err, "a calibration", keys * sizeof *of);
    for (uint32_t k = 0; k < n && !s; k++) {
        uint32_t found = 0;
        for (uint32_t i = 0, last = 0; i < c->parts; i++)
            if (c->part[i].kind == kind[k] && c->part[i].key > last)
                of[found++] = last = c->part[i].key;
        uint32_t wanted = found ? (uint32_t)(found * o->hold_out + ss_rng_uniform(&rng)) : 0;
        for (uint32_t i = 0; i < wanted && i < found; i++) {
            uint32_t other = i + (uint32_t)ss_rng_below(&rng, found - i), key = of[other];
            of[other] = of[i];
            out[key] = true;
        }
    }
    for (uint32_t i = 0; i < c->parts && !s; i++)
        c->part[i].held_out = out[c->part[i].key];
    ss_rng_close(&rng);
    ss_free(out);
    ss_free(of);
    return s;
}

/* -- the fit, and how far off it is ------------------------------------------------------------- */

static ss_status fit_parts(ss_roofline_calibration *c, ss_error *err)
{
    uint32_t n = 0;
    ss_roofline_row *row = ss_alloc((size_t)c->parts * sizeof *row);
    if (!row)
        return ss_fail_memory(err, "a calibration", c->parts * sizeof *row);
    for (uint32_t i = 0; i < c->parts; i++)
        if (!c->part[i].held_out)
            row[n++] = c->part[i].row;
    ss_status s = ss_roofline_fit_new(row, n, c->builtin, &c->fit, err);
    ss_free(row);
    for (uint32_t i = 0; i < c->parts && !s; i++) {
        ss_roofline_part *p = &c->part[i];
        p->builtin_s = ss_roofline_seconds(c->builtin, &p->row.work, p->row.peak, p->row.bandwidth);
        p->fitted_s =
            ss_roofline_seconds(&c->fit.constants, &p->row.work, p->row.peak, p->row.bandwidth);
    }
    return s;
}

static ss_status judge(const ss_roofline_calibration *c, bool held_out, ss_roofline_errors *out,
                       ss_error *err)
{
    uint32_t n = 0;
    double *time = ss_alloc(3 * (size_t)c->parts * sizeof *time);
    if (!time)
        return ss_fail_memory(err, "a calibration", 3 * (size_t)c->parts * sizeof *time);
    double *builtin = time + c->parts, *fitted = builtin + c->parts;
    for (uint32_t i = 0; i < c->parts; i++) {
        const ss_roofline_part *p = &c->part[i];
        if (p->held_out != held_out)
            continue;
        time[n] = p->row.seconds;
        builtin[n] = p->builtin_s;
        fitted[n++] = p->fitted_s;
    }
    *out = (ss_roofline_errors){0};
    ss_status s = n ? ss_compare(builtin, time, n, &out->builtin, err) : SS_OK;
    if (!s && n)
        s = ss_compare(fitted, time, n, &out->fitted, err);
    ss_free(time);
    return s;
}

static ss_status collect(ss_roofline_calibration *c, job *j, const ss_strategy *const *strategy,
                         uint32_t strategies, const ss_strategy *const *test, uint32_t tests,
                         ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < strategies && !s; i++)
        s = add_strategy(c, j, strategy[i], 0, err);
    if (!s && !c->parts)
        return ss_fail(
            err, SS_EINVAL,
            "no time of a part that these strategies have on devices of kind %s was measured",
            j->o->kind);
    uint32_t fitted = c->keys.n;
    if (!s)
        s = hold_out(c, j->o, err);
    j->test = true;
    for (uint32_t i = 0; i < tests && !s; i++)
        s = add_strategy(c, j, test[i], fitted, err);
    return s;
}

ss_status ss_roofline_calibrate(ss_roofline_calibration *c, const ss_strategy *const *strategy,
                                uint32_t strategies, const ss_strategy *const *test, uint32_t tests,
                                const ss_costs *measured, const ss_roofline_calibration_options *o,
                                ss_error *err)
{
    job j = {.measured = measured, .o = o};
    if (!(o->hold_out >= 0 && o->hold_out < 1))
        return ss_fail(err, SS_EINVAL,
                       "a share of %g of the parts cannot be held out: 0 to below 1 is wanted",
                       o->hold_out);
    c->builtin = ss_roofline_builtin(o->kind);
    ss_status s = collect(c, &j, strategy, strategies, test, tests, err);
    ss_names_free(&j.seen);
    if (!s)
        s = fit_parts(c, err);
    if (!s)
        s = judge(c, false, &c->on_fitted, err);
    return s ? s : judge(c, true, &c->on_held_out, err);
}
