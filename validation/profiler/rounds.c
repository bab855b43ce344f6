/* rounds.c - measuring: arrays and kernels of a batch of keys, then rounds over all of their phases. */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "validation/executor/values.h"
#include "validation/profiler/profile_inside.h"

enum { ALIGNED = 64, ARRAYS = 2 * SS_MAX_INPUTS + 2 * SS_MAX_OUTPUTS + 2 * SS_MAX_WEIGHTS + 1 };

/* A key under measurement. */
typedef struct bench {
    const ss_profiled *of;
    ss_kernel *kernel;
    ss_kernel_io io;
    double loss;
    void *block[ARRAYS];
    uint32_t blocks;
    int64_t in_words[SS_MAX_INPUTS], out_words[SS_MAX_OUTPUTS];
    double *sample[SS_PHASES];  /* [rounds] */
    double *crowded[SS_PHASES]; /* [crowded rounds] times as long as alone */
    uint32_t n, n_crowded;
} bench;

typedef struct job {
    ss_profiler *p;
    const ss_watch *watch;
    bench *bench;        /* [keys] */
    bench *twin;         /* [keys] of the other core, where both do the same at once */
    uint32_t first, end; /* of the batch */
    double began, bytes;
    char *between[2]; /* what goes through the caches before each measurement, of this core and of the other */
    size_t between_bytes;
    ss_crowd *crowd; /* NULL: nobody is beside */
    ss_meeting meeting;
    ss_arena *memory; /* of streams */
    ss_stream_row *stream;
    uint32_t streams;
    double interference;
    ss_status status;
    ss_error error;
} job;

/* ---- arrays -------------------------------------------------------------------------------- */

static int64_t words_in(const ss_op_def *def, uint32_t v, const ss_box *main)
{
    ss_box b;
    ss_op_input_box(def, v, main, &b);
    return ss_box_elements(&b);
}

static int64_t words_out(const ss_op_def *def, uint32_t o, const ss_box *main)
{
    ss_box b;
    ss_op_output_box(def, o, main, &b);
    return ss_box_elements(&b);
}

static int64_t words_weight(const ss_op_def *def, uint32_t w, const ss_box *main)
{
    ss_box b;
    ss_op_weight_box(def, w, main, &b);
    return ss_box_elements(&b);
}

double ss_profiled_bytes(const ss_model *m, ss_op op, const ss_box *main)
{
    const ss_op_def *def = m->op[op.i].def;
    double words = 0;
    for (uint32_t v = 0; v < def->inputs; v++)
        words += 2.0 * (double)words_in(def, v, main);
    for (uint32_t o = 0; o < def->outputs; o++)
        words += 2.0 * (double)words_out(def, o, main);
    for (uint32_t w = 0; w < def->weights; w++)
        words += 2.0 * (double)words_weight(def, w, main);
    return words * sizeof(float) + (double)ss_values_label_bytes(m, op, main);
}

double ss_profiled_largest(const ss_model *m, ss_op op, const ss_box *main)
{
    const ss_op_def *def = m->op[op.i].def;
    double words = 0;
    for (uint32_t v = 0; v < def->inputs; v++)
        words = fmax(words, (double)words_in(def, v, main));
    for (uint32_t o = 0; o < def->outputs; o++)
        words = fmax(words, (double)words_out(def, o, main));
    for (uint32_t w = 0; w < def->weights; w++)
        words = fmax(words, (double)words_weight(def, w, main));
    return words * sizeof(float);
}

static double bytes_of(const ss_profiled *x)
{
    return ss_profiled_bytes(x->model, x->op, &x->main);
}

static void *array(bench *b, int64_t words, ss_error *err)
{
    size_t bytes = ((size_t)words * sizeof(float) + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED;
    char *block = ss_alloc_zeroed(bytes, 1);
    if (!block) {
        ss_fail_memory(err, "what is measured", bytes);
        return NULL;
    }
    b->block[b->blocks++] = block;
    return block + (ALIGNED - (uintptr_t)block % ALIGNED) % ALIGNED;
}

static ss_status make_inputs(const job *j, bench *b, ss_error *err)
{
    const ss_op_row *op = &b->of->model->op[b->of->op.i];
    for (uint32_t v = 0; v < op->def->inputs; v++) {
        ss_box box;
        ss_op_input_box(op->def, v, &b->of->main, &box);
        int64_t n = b->in_words[v] = ss_box_elements(&box);
        void *at = array(b, n, err);
        if (!at)
            return SS_ENOMEM;
        if (n)
            ss_values_input(b->of->model, op->in[v], j->p->options.seed, &box, at);
        b->io.in[v] = at;
        if (!op->def->kind->no_input_gradient && !(b->io.in_gradient[v] = array(b, n, err)))
            return SS_ENOMEM;
    }
    return SS_OK;
}

/* Gradients that come in are drawn like inputs of the model: of the tensor that they belong to. */
static ss_status make_outputs(const job *j, bench *b, ss_error *err)
{
    const ss_op_row *op = &b->of->model->op[b->of->op.i];
    for (uint32_t o = 0; o < op->def->outputs; o++) {
        ss_box box;
        ss_op_output_box(op->def, o, &b->of->main, &box);
        int64_t n = b->out_words[o] = ss_box_elements(&box);
        float *gradient = array(b, n, err);
        if (!gradient || !(b->io.out[o] = array(b, n, err)))
            return SS_ENOMEM;
        if (n)
            ss_values_input(b->of->model, op->out[o], j->p->options.seed, &box, gradient);
        b->io.out_gradient[o] = gradient;
    }
    return SS_OK;
}

static ss_status make_weights(const job *j, bench *b, ss_error *err)
{
    const ss_op_row *op = &b->of->model->op[b->of->op.i];
    for (uint32_t w = 0; w < op->def->weights; w++) {
        ss_box box;
        ss_op_weight_box(op->def, w, &b->of->main, &box);
        int64_t n = ss_box_elements(&box);
        float *at = array(b, n, err);
        if (!at || !(b->io.weight_gradient[w] = array(b, n, err)))
            return SS_ENOMEM;
        if (n)
            ss_values_weight(b->of->model, op->weight[w], j->p->options.seed, &box, at);
        b->io.weight[w] = at;
    }
    return SS_OK;
}

static ss_status make_samples(const job *j, bench *b, ss_error *err)
{
    const ss_profiler_options *o = &j->p->options;
    for (int i = 0; i < SS_PHASES; i++)
        if (b->of->phase[i] &&
            (!(b->sample[i] = ss_alloc_zeroed(o->rounds, sizeof(double))) ||
             (j->crowd && !(b->crowded[i] = ss_alloc_zeroed(o->crowded, sizeof(double))))))
            return ss_fail_memory(err, "samples", o->rounds * sizeof(double));
    return SS_OK;
}

static ss_status make_bench(const job *j, bench *b, ss_error *err)
{
    const ss_model *m = b->of->model;
    b->io.loss = &b->loss;
    b->io.add_weight_gradient = true;
    ss_status s = make_inputs(j, b, err);
    if (!s)
        s = make_outputs(j, b, err);
    if (!s)
        s = make_weights(j, b, err);
    if (!s)
        s = make_samples(j, b, err);
    int64_t bytes = ss_values_label_bytes(m, b->of->op, &b->of->main);
    if (!s && bytes) {
        void *label = array(b, bytes / (int64_t)sizeof(float), err);
        if (!label)
            return SS_ENOMEM;
        ss_values_label(m, b->of->op, j->p->options.seed, &b->of->main, label);
        b->io.label = label;
    }
    if (!s)
        s = j->p->maker.make(j->p->maker.context, m->op[b->of->op.i].def, &b->of->main, &b->kernel, err);
    /* backward reads what forward kept, also where forward is not measured */
    if (!s)
        s = b->kernel->forward(b->kernel, &b->io, err);
    return s ? ss_fail_in(err, "operator %s, part %s", m->op[b->of->op.i].name, b->of->shape) : SS_OK;
}

/* All but the samples. */
static void unmake(bench *b)
{
    ss_kernel_free(b->kernel);
    b->kernel = NULL;
    while (b->blocks)
        ss_free(b->block[--b->blocks]);
}

/* ---- one measurement ----------------------------------------------------------------------- */

static void prepare(const job *j, const bench *b, ss_phase phase, int side)
{
    const ss_op_def *def = b->of->model->op[b->of->op.i].def;
    char *between = j->between[side];
    if (between && (j->p->options.cold || b->of->fresh >= b->of->again))
        memset(between, ++between[0], j->between_bytes);
    if (j->p->options.cold)
        return;
    if (phase == SS_FORWARD)
        for (uint32_t v = 0; v < def->inputs; v++)
            ss_rewrite(b->io.in[v], (size_t)b->in_words[v] * sizeof(float));
    else
        for (uint32_t o = 0; o < def->outputs; o++)
            ss_rewrite(b->io.out_gradient[o], (size_t)b->out_words[o] * sizeof(float));
}

static unsigned gradients_of(ss_phase phase)
{
    return phase == SS_INPUT_GRADIENT    ? SS_OF_INPUTS
           : phase == SS_WEIGHT_GRADIENT ? SS_OF_WEIGHTS
                                         : SS_OF_INPUTS | SS_OF_WEIGHTS;
}

static ss_status compute(const bench *b, ss_phase phase, ss_error *err)
{
    return phase == SS_FORWARD ? b->kernel->forward(b->kernel, &b->io, err)
                               : b->kernel->backward(b->kernel, &b->io, gradients_of(phase), err);
}

static ss_status compute_timed(const bench *b, ss_phase phase, double *seconds, ss_error *err)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    ss_status s = compute(b, phase, err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    *seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    *seconds = fmax(*seconds, 1e-9); /* what the clock does not see takes time all the same */
    return s;
}

static ss_status measure(job *j, const bench *b, ss_phase phase, double *seconds)
{
    prepare(j, b, phase, 0);
    return compute_timed(b, phase, seconds, &j->error);
}

/* A round of the batch; without `counted` its times are forgotten. */
static ss_status round_once(job *j, bool counted)
{
    for (uint32_t k = j->first; k < j->end; k++) {
        bench *b = &j->bench[k];
        for (int i = 0; i < SS_PHASES; i++) {
            double seconds;
            ss_status s = b->of->phase[i] ? measure(j, b, (ss_phase)i, &seconds) : SS_OK;
            if (s)
                return s;
            if (counted && b->of->phase[i])
                b->sample[i][b->n] = seconds;
        }
        b->n += counted;
    }
    return SS_OK;
}

/* ---- a batch ------------------------------------------------------------------------------- */

/* The share of all rounds of all keys that is done, for who watches. */
static ss_status look(job *j, uint32_t round)
{
    uint32_t each = j->p->options.warm_up + j->p->options.rounds;
    return ss_look_up(j->watch, "measuring", (double)j->first * each + (double)round * (j->end - j->first),
                      (double)j->p->keys.n * each, &j->error);
}

static bool time_is_up(const job *j)
{
    double share = (double)j->end / j->p->keys.n, budget = j->p->options.budget_s;
    return budget > 0 && ss_seconds_now() - j->began >= budget * share;
}

/* Whether all that a step touches fits in the largest cache: then it is there, whoever computes beside, and nobody waits
 * for memory. */
static bool fits_in_caches(const ss_profiler *p)
{
    return p->strategies && p->working_bytes / p->strategies < (double)ss_largest_cache();
}

/* The other core's side of a measurement. */
typedef struct companion {
    job *j;
    const bench *twin;
    ss_phase phase;
    ss_status status;
    ss_error error;
} companion;

static void accompany(void *context)
{
    companion *c = context;
    prepare(c->j, c->twin, c->phase, 1);
    ss_meet(&c->j->meeting);
    c->status = compute(c->twin, c->phase, &c->error);
}

/* Alone, and then while the other core does the same: so that a machine that drifts is the same in both. */
static ss_status measure_beside(job *j, const bench *b, const bench *twin, ss_phase phase, double *times_as_long)
{
    double alone, beside;
    ss_crowd_wake(j->crowd);
    ss_status s = measure(j, b, phase, &alone);
    if (s)
        return s;
    companion c = {.j = j, .twin = twin, .phase = phase};
    ss_crowd_begin(j->crowd, accompany, &c);
    prepare(j, b, phase, 0);
    ss_meet(&j->meeting);
    s = compute_timed(b, phase, &beside, &j->error);
    ss_crowd_finish(j->crowd);
    if (!s && c.status) {
        s = c.status;
        j->error = c.error;
    }
    *times_as_long = s ? 1 : beside / alone;
    return s;
}

static ss_status crowded_rounds(job *j)
{
    const ss_profiler_options *o = &j->p->options;
    ss_status s = SS_OK;
    for (uint32_t r = 0; r < o->crowded && !s && !(r && time_is_up(j)); r++) {
        s = look(j, o->warm_up + o->rounds);
        for (uint32_t k = j->first; k < j->end && !s; k++) {
            bench *b = &j->bench[k];
            for (int i = 0; i < SS_PHASES && !s; i++)
                if (b->of->phase[i])
                    s = measure_beside(j, b, &j->twin[k], (ss_phase)i, &b->crowded[i][r]);
            b->n_crowded = s ? b->n_crowded : r + 1;
        }
    }
    return s;
}

static ss_status measure_batch(job *j)
{
    ss_status s = SS_OK;
    const ss_profiler_options *o = &j->p->options;
    for (uint32_t k = j->first; k < j->end && !s; k++)
        if (!(s = make_bench(j, &j->bench[k], &j->error)) && j->twin)
            s = make_bench(j, &j->twin[k], &j->error);
    if (j->crowd) /* as a core that computes: beside one that sleeps, memory is slower */
        ss_crowd_wake(j->crowd);
    for (uint32_t r = 0; r < o->warm_up && !s; r++)
        if (!(s = look(j, r)))
            s = round_once(j, false);
    for (uint32_t r = 0; r < o->rounds && !s && !(r && time_is_up(j)); r++)
        if (!(s = look(j, o->warm_up + r)))
            s = round_once(j, true);
    if (!s && j->twin)
        s = crowded_rounds(j);
    if (j->crowd)
        ss_crowd_rest(j->crowd);
    for (uint32_t k = j->first; k < j->end; k++)
        unmake(&j->bench[k]);
    for (uint32_t k = j->first; k < j->end && j->twin; k++)
        unmake(&j->twin[k]);
    return s;
}

/* What another core is there for, first of all: how much longer a stream takes beside a stream. */
static ss_status measure_streams(job *j)
{
    const ss_profiler_options *o = &j->p->options;
    ss_streams_options s = {.rounds = o->rounds,
                            .warm_up = o->warm_up,
                            .crowded = o->crowded,
                            .least = 64,
                            .most = ss_profiler_largest_stream(j->p),
                            .between_bytes = j->between_bytes};
    if (o->beside < 0)
        return SS_OK;
    ss_status status = ss_crowd_new((uint32_t)o->beside, &j->crowd, &j->error);
    if (status || ss_profiler_knows_streams(j->p))
        return status;
    return ss_streams_measure(&s, j->crowd, j->watch, j->memory, &j->stream, &j->streams,
                              &j->interference, &j->error);
}

static void *work(void *context)
{
    job *j = context;
    int32_t core = j->p->options.core;
    double each = j->twin ? 2 : 1;
    j->status = core < 0 ? SS_OK : ss_pin_this_thread((uint32_t)core, &j->error);
    if (!j->status)
        j->status = measure_streams(j);
    while (!j->status && j->end < j->p->keys.n) {
        double bytes = 0;
        j->first = j->end;
        do
            bytes += each * bytes_of(j->bench[j->end++].of);
        while (j->end < j->p->keys.n && bytes + each * bytes_of(j->bench[j->end].of) <= j->bytes);
        j->status = measure_batch(j);
    }
    return NULL;
}

/* ---- the thread ---------------------------------------------------------------------------- */

static ss_status start(job *j, pthread_t *thread, ss_error *err)
{
    return pthread_create(thread, NULL, work, j)
               ? ss_fail(err, SS_EIO, "the system starts no thread to measure on")
               : SS_OK;
}

/* Of inputs that are cold more than caches hold.  Else as much as a device of the strategies has in its arrays: between
 * two tasks of one operator come those of all others, and what caches keep of it is what that leaves. */
static ss_status make_between(job *j, ss_error *err)
{
    const ss_profiler *p = j->p;
    size_t all = ss_beyond_caches();
    double working = p->devices ? p->working_bytes / p->devices : 0;
    j->between_bytes = p->options.cold || working >= (double)all ? all : (size_t)working;
    for (int side = 0; side < (p->options.beside < 0 ? 1 : 2) && j->between_bytes; side++)
        if (!(j->between[side] = ss_alloc_zeroed(j->between_bytes, 1)))
            return ss_fail_memory(err, "what fills caches", j->between_bytes);
    return SS_OK;
}

/* One for each key, and, where it matters what another core does at the same time, one more for that core. */
static ss_status make_benches(job *j, ss_error *err)
{
    const ss_profiler *p = j->p;
    size_t bytes = (p->keys.n + 1) * sizeof *j->bench;
    bool twins = p->options.beside >= 0 && !fits_in_caches(p);
    j->bench = ss_alloc_zeroed(p->keys.n + 1, sizeof *j->bench);
    j->twin = twins ? ss_alloc_zeroed(p->keys.n + 1, sizeof *j->twin) : NULL;
    if (!j->bench || (twins && !j->twin))
        return ss_fail_memory(err, "a profile", bytes);
    for (uint32_t k = 0; k < p->keys.n; k++) {
        j->bench[k].of = &p->of[k + 1];
        if (twins)
            j->twin[k].of = &p->of[k + 1];
    }
    return SS_OK;
}

/* ---- results ------------------------------------------------------------------------------- */

/* How much longer it takes while another core does the same, against how much longer a stream does. */
static ss_status find_bound(const job *j, const bench *b, int phase, ss_measured *m, ss_error *err)
{
    ss_statistics beside;
    ss_status s = ss_statistics_of(b->crowded[phase], b->n_crowded, &beside, err);
    m->has_bound = !s;
    m->bound = s ? 0 : ss_bound_of(beside.median, j->interference);
    return s;
}

static ss_status take_results(const job *j, ss_profile *out, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t k = 0; k < j->p->keys.n; k++)
        for (int i = 0; i < SS_PHASES && !s; i++) {
            const bench *b = &j->bench[k];
            const ss_op_def *def = b->of->model->op[b->of->op.i].def;
            ss_measured m = {.kind = def->kind->name,
                             .device_kind = j->p->device_kind,
                             .attributes = b->of->attributes,
                             .shape = b->of->shape,
                             .dtype = ss_dtype_name(def->out[0].dtype),
                             .phase = (ss_phase)i};
            if (b->of->phase[i] && b->n && b->n_crowded)
                s = find_bound(j, b, i, &m, err);
            else
                m.has_bound = j->crowd && fits_in_caches(j->p);
            if (b->of->phase[i] && b->n && !s)
                s = ss_profile_add(out, &m, b->sample[i], b->n, err);
        }
    out->stream = j->stream;
    out->streams = j->streams;
    out->interference = j->interference;
    return s;
}

static ss_status describe(const ss_profiler *p, ss_profile *out, ss_error *err)
{
    out->device_kind = ss_profile_keep(&out->memory, p->device_kind);
    out->version = ss_profile_keep(&out->memory, p->version);
    out->inputs = ss_profiler_inputs(p);
    out->element = ss_profiler_element();
    out->rounds = p->options.rounds;
    if (!out->device_kind || !out->version)
        return ss_fail_memory(err, "a profile", 0);
    return ss_profile_describe_machine(out, err);
}

/* Whether what was stopped goes on with what it has. */
static bool ends_well(const job *j)
{
    bool any = false;
    for (uint32_t k = 0; k < j->p->keys.n; k++)
        any = any || j->bench[k].n;
    return j->status == SS_ESTOPPED && j->p->options.keep_stopped && any;
}

ss_status ss_profiler_measure(ss_profiler *p, const ss_watch *w, ss_profile *out, ss_error *err)
{
    ss_profile made = {0};
    job j = {.p = p, .watch = w, .began = ss_seconds_now(), .memory = &made.memory};
    j.interference = p->interference;
    j.bytes = ss_profiler_memory(p);
    pthread_t thread;
    ss_status s = make_between(&j, err);
    if (!s)
        s = make_benches(&j, err);
    if (!s && !(s = start(&j, &thread, err))) {
        pthread_join(thread, NULL);
        s = j.status;
        if (s && err)
            *err = j.error;
        ss_look_away(w);
        if (ends_well(&j)) {
            ss_look_heeded(w);
            s = SS_OK;
        }
    }
    if (!s)
        s = describe(p, &made, err);
    if (!s)
        s = take_results(&j, &made, err);
    for (uint32_t k = 0; j.bench && k < p->keys.n; k++)
        for (int i = 0; i < SS_PHASES; i++) {
            ss_free(j.bench[k].sample[i]);
            ss_free(j.bench[k].crowded[i]);
        }
    for (uint32_t k = 0; j.twin && k < p->keys.n; k++)
        for (int i = 0; i < SS_PHASES; i++) {
            ss_free(j.twin[k].sample[i]);
            ss_free(j.twin[k].crowded[i]);
        }
    ss_crowd_free(j.crowd);
    ss_free(j.bench);
    ss_free(j.twin);
    ss_free(j.between[0]);
    ss_free(j.between[1]);
    if (s)
        ss_profile_free(&made);
    else
        *out = made;
    return s;
}
