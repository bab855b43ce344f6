/* kernel_fixture.h - an operator with random numbers, computed whole and in parts by two makers.
 *
 *     const char *why = kernel_trial(&op, seed, fast);    NULL: all agrees
 *
 * Numbers are drawn for the whole tensors, and parts are cut from those.  Arrays that a kernel is to write
 * start as NaN.  Compared, within 1e-4 of the largest absolute value of each tensor:
 * - the fast kernel of the whole, and of one random part, with the slow twin's of the same;
 * - parts (of the fast maker and of the twin) with the whole: outputs tile, gradients and losses add up (not
 *   of parts with statistics of their own);
 * - a kernel's second run with its first; and that gradients are given just where they are asked for;
 * - gradients of the twin with central differences of what it computes.
 */
#ifndef SS_TEST_KERNEL_FIXTURE_H
#define SS_TEST_KERNEL_FIXTURE_H

#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "reference/kernel_naive.h"

#include "check.h"
#include "op_make.h"

static uint64_t kernel_seed, kernel_drawn;

static uint64_t kernel_bits(void)
{
    return ss_hash_u64(ss_hash_u64(SS_HASH_START, kernel_seed), kernel_drawn++);
}

static int64_t kernel_draw(int64_t lo, int64_t hi) /* lo .. hi */
{
    return lo + (int64_t)(kernel_bits() % (uint64_t)(hi - lo + 1));
}

static float kernel_number(void) /* -1 .. 1 */
{
    return (float)((double)(kernel_bits() >> 40) / (1 << 23) - 1);
}

/* Fails a trial with a sentence. */
#define KERNEL_WHY(...) (ss_fail(&err, SS_EINVAL, __VA_ARGS__), err.text)

/* Arrays of a part (or of the whole) */

typedef struct kernel_arrays {
    const ss_op_def *op;
    ss_box main, in_box[SS_MAX_INPUTS], weight_box[SS_MAX_WEIGHTS], out_box[SS_MAX_OUTPUTS],
        label_box;
    float *in[SS_MAX_INPUTS], *weight[SS_MAX_WEIGHTS], *out[SS_MAX_OUTPUTS];
    float *dout[SS_MAX_OUTPUTS]; /* NULL: nobody reads the output */
    float *din[SS_MAX_INPUTS], *dweight[SS_MAX_WEIGHTS];
    float *label; /* or the bits of int32_t, as those of input 0 of an embedding */
    double loss;
} kernel_arrays;

static float *kernel_array(const ss_box *b, float fill)
{
    int64_t n = ss_box_elements(b);
    float *a = ss_alloc((size_t)n * sizeof *a);
    if (!a)
        exit(1);
    for (int64_t i = 0; i < n; i++)
        a[i] = fill;
    return a;
}

/* For classes the channel is left out: a position each. */
static ss_box kernel_label_box(const ss_op_def *op, const ss_box *main)
{
    ss_box b = *main;
    if (strcmp(op->kind->name, "squared_error") == 0)
        return b;
    uint32_t c = main->rank == 3 ? 2 : 1;
    b.lo[c] = 0;
    b.hi[c] = 1;
    return b;
}

static kernel_arrays *kernel_arrays_new(const ss_op_def *op, const ss_box *main)
{
    kernel_arrays *a = ss_alloc_zeroed(1, sizeof *a);
    if (!a)
        exit(1);
    a->op = op;
    a->main = *main;
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_op_input_box(op, i, main, &a->in_box[i]);
        a->in[i] = kernel_array(&a->in_box[i], 0);
        a->din[i] = kernel_array(&a->in_box[i], NAN);
    }
    for (uint32_t w = 0; w < op->weights; w++) {
        ss_op_weight_box(op, w, main, &a->weight_box[w]);
        a->weight[w] = kernel_array(&a->weight_box[w], 0);
        a->dweight[w] = kernel_array(&a->weight_box[w], NAN);
    }
    for (uint32_t o = 0; o < op->outputs; o++) {
        ss_op_output_box(op, o, main, &a->out_box[o]);
        a->out[o] = kernel_array(&a->out_box[o], NAN);
        a->dout[o] = kernel_array(&a->out_box[o], 0);
    }
    a->label_box = kernel_label_box(op, main);
    a->label = kernel_array(&a->label_box, 0);
    return a;
}

static void kernel_arrays_free(kernel_arrays *a)
{
    for (uint32_t i = 0; i < a->op->inputs; i++) {
        ss_free(a->in[i]);
        ss_free(a->din[i]);
    }
    for (uint32_t w = 0; w < a->op->weights; w++) {
        ss_free(a->weight[w]);
        ss_free(a->dweight[w]);
    }
    for (uint32_t o = 0; o < a->op->outputs; o++) {
        ss_free(a->out[o]);
        ss_free(a->dout[o]);
    }
    ss_free(a->label);
    ss_free(a);
}

static void kernel_fill(float *a, const ss_box *b)
{
    for (int64_t i = 0, n = ss_box_elements(b); i < n; i++)
        a[i] = kernel_number();
}

static void kernel_fill_below(float *a, const ss_box *b, int64_t below)
{
    for (int64_t i = 0, n = ss_box_elements(b); i < n; i++) {
        int32_t x = (int32_t)kernel_draw(0, below - 1);
        memcpy(&a[i], &x, sizeof x);
    }
}

/* The whole operator with numbers drawn.  Of several outputs some are read by nobody. */
static kernel_arrays *kernel_whole(const ss_op_def *op)
{
    ss_box main = ss_box_whole(&op->out[0]);
    kernel_arrays *a = kernel_arrays_new(op, &main);
    for (uint32_t i = 0; i < op->inputs; i++)
        if (op->kind->no_input_gradient)
            kernel_fill_below(a->in[i], &a->in_box[i], op->weight[0].shape.extent[0]);
        else
            kernel_fill(a->in[i], &a->in_box[i]);
    for (uint32_t w = 0; w < op->weights; w++)
        kernel_fill(a->weight[w], &a->weight_box[w]);
    for (uint32_t o = 0; o < op->outputs; o++) {
        kernel_fill(a->dout[o], &a->out_box[o]);
        if (op->kind->is_loss || (op->outputs > 1 && kernel_draw(0, 3) == 0)) {
            ss_free(a->dout[o]);
            a->dout[o] = NULL;
        }
    }
    uint32_t c = main.rank == 3 ? 2 : 1;
    if (strcmp(op->kind->name, "squared_error") == 0)
        kernel_fill(a->label, &a->label_box);
    else
        kernel_fill_below(a->label, &a->label_box, main.rank > c ? op->out[0].extent[c] : 1);
    return a;
}

static int64_t kernel_place(const ss_box *b, const int64_t *i)
{
    int64_t place = 0;
    for (uint32_t d = 0; d < b->rank; d++)
        place = place * (b->hi[d] - b->lo[d]) + i[d] - b->lo[d];
    return place;
}

/* For each element of a box that lies in another: from the small array to the large one or back. */
typedef enum kernel_way { KERNEL_CUT, KERNEL_PUT, KERNEL_ADD } kernel_way;

static void kernel_copy(float *large, const ss_box *of, float *small, const ss_box *b,
                        kernel_way way)
{
    int64_t i[SS_MAX_DIMS];
    memcpy(i, b->lo, sizeof i);
    for (int64_t n = 0, all = ss_box_elements(b); n < all; n++) {
        int64_t at = kernel_place(of, i);
        if (way == KERNEL_CUT)
            memcpy(&small[n], &large[at], sizeof *small); /* bits: it may be an index */
        else
            large[at] = small[n] + (way == KERNEL_ADD ? large[at] : 0);
        for (uint32_t d = b->rank; d-- > 0 && ++i[d] == b->hi[d];)
            i[d] = b->lo[d];
    }
}

static kernel_arrays *kernel_part(const kernel_arrays *whole, const ss_box *main)
{
    const ss_op_def *op = whole->op;
    kernel_arrays *a = kernel_arrays_new(op, main);
    for (uint32_t i = 0; i < op->inputs; i++)
        kernel_copy(whole->in[i], &whole->in_box[i], a->in[i], &a->in_box[i], KERNEL_CUT);
    for (uint32_t w = 0; w < op->weights; w++)
        kernel_copy(whole->weight[w], &whole->weight_box[w], a->weight[w], &a->weight_box[w],
                    KERNEL_CUT);
    for (uint32_t o = 0; o < op->outputs; o++)
        if (whole->dout[o]) {
            kernel_copy(whole->dout[o], &whole->out_box[o], a->dout[o], &a->out_box[o], KERNEL_CUT);
        } else {
            ss_free(a->dout[o]);
            a->dout[o] = NULL;
        }
    kernel_copy(whole->label, &whole->label_box, a->label, &a->label_box, KERNEL_CUT);
    return a;
}

/* Running */

static ss_kernel_io kernel_io(kernel_arrays *a)
{
    ss_kernel_io io = {.label = a->label, .loss = &a->loss};
    for (uint32_t i = 0; i < a->op->inputs; i++) {
        io.in[i] = a->in[i];
        io.in_gradient[i] = a->op->kind->no_input_gradient ? NULL : a->din[i];
    }
    for (uint32_t w = 0; w < a->op->weights; w++) {
        io.weight[w] = a->weight[w];
        io.weight_gradient[w] = a->dweight[w];
    }
    for (uint32_t o = 0; o < a->op->outputs; o++) {
        io.out[o] = a->out[o];
        io.out_gradient[o] = a->dout[o];
    }
    return io;
}

static void kernel_halve(float *a, const ss_box *b)
{
    for (int64_t i = 0, n = ss_box_elements(b); i < n; i++)
        a[i] /= 2;
}

/* Forward and backward twice: a kernel is used again in every step.  The second time gradients of weights are
 * added to the first's, and halved, so that all should be as it was. */
static const char *kernel_run(kernel_arrays *a, ss_kernel_maker m)
{
    ss_kernel *k;
    if (m.make(m.context, a->op, &a->main, &k, &err))
        return err.text;
    ss_kernel_io io = kernel_io(a);
    ss_status s = SS_OK;
    for (int round = 0; round < 2 && !s; round++) {
        io.add_weight_gradient = round == 1;
        s = k->forward(k, &io, &err);
        if (!s)
            s = k->backward(k, &io, SS_OF_INPUTS | SS_OF_WEIGHTS, &err);
    }
    ss_kernel_free(k);
    for (uint32_t w = 0; w < a->op->weights; w++)
        kernel_halve(a->dweight[w], &a->weight_box[w]);
    return s ? err.text : NULL;
}

/* Comparing */

/* Gradients of a loss are small: a mean has few of each position. */
static double kernel_unit(const ss_op_def *op)
{
    return op->kind->is_loss ? 1 / ss_kernel_loss_count(op) : 1;
}

/* Numbers that cancel to nothing leave what rounding leaves: hence the small number beside 1e-4. */
static const char *kernel_same(const char *what, uint32_t i, const float *got, const float *wanted,
                               const ss_box *b, double unit)
{
    double largest = 0;
    int64_t n = ss_box_elements(b);
    for (int64_t j = 0; j < n; j++)
        largest = fmax(largest, fabs((double)wanted[j]));
    for (int64_t j = 0; j < n; j++)
        if (!(fabs((double)got[j] - (double)wanted[j]) <= 1e-4 * largest + 2e-6 * unit))
            return KERNEL_WHY("%s %u, element %lld of %lld: %.9g and not %.9g (largest %g)", what,
                              i + 1, (long long)j, (long long)n, (double)got[j], (double)wanted[j],
                              largest);
    return NULL;
}

static const char *kernel_agree(const char *who, const kernel_arrays *got,
                                const kernel_arrays *wanted)
{
    const ss_op_def *op = got->op;
    double unit = kernel_unit(op);
    const char *why = NULL;
    for (uint32_t o = 0; o < op->outputs && !why; o++)
        why = kernel_same("output", o, got->out[o], wanted->out[o], &got->out_box[o], 1);
    for (uint32_t i = 0; i < op->inputs && !why && !op->kind->no_input_gradient; i++)
        why =
            kernel_same("gradient of input", i, got->din[i], wanted->din[i], &got->in_box[i], unit);
    for (uint32_t w = 0; w < op->weights && !why; w++)
        why = kernel_same("gradient of weight", w, got->dweight[w], wanted->dweight[w],
                          &got->weight_box[w], unit);
    if (!why && op->kind->is_loss && !(fabs(got->loss - wanted->loss) <= 1e-4 * fabs(wanted->loss)))
        why = KERNEL_WHY("loss %.9g and not %.9g", got->loss, wanted->loss);
    if (why)
        ss_fail_in(&err, "%s", who);
    return why;
}

/* Parts */

typedef struct kernel_cut {
    uint32_t degree[SS_MAX_DIMS], parts;
} kernel_cut;

/* What convolves and then normalises over the batch is cut by channels alone.  Cut otherwise, parts have statistics
 * of their own; and of the few windows of a small part, results may be so near each other that what normalisation
 * makes of them is rounding. */
static bool kernel_changes(const ss_op_def *op, uint32_t d)
{
    for (uint32_t a = 0; a < ss_op_kind_attrs(op->kind); a++)
        if (strcmp(op->kind->attr[a].name, "norm") == 0 && op->attr[a])
            return d != 1;
    return false;
}

/* A random number of parts in each dimension that may be split. */
static kernel_cut kernel_draw_cut(const ss_op_def *op)
{
    kernel_cut c = {.parts = 1};
    for (uint32_t d = 0; d < op->out[0].rank; d++) {
        ss_box one = ss_box_whole(&op->out[0]);
        int64_t grains = op->out[0].extent[d] / op->dim[d].grain;
        c.degree[d] = (uint32_t)kernel_draw(1, grains < 3 ? grains : 3);
        int64_t lo, hi;
        ss_part_range(op->out[0].extent[d], op->dim[d].grain, c.degree[d], 0, &lo, &hi);
        one.lo[d] = lo;
        one.hi[d] = hi;
        ss_error ignored;
        if (ss_kernel_check(op, &one, &ignored) || kernel_changes(op, d))
            c.degree[d] = 1;
        c.parts *= c.degree[d];
    }
    return c;
}

/* The same cut, but for what has statistics of each part: such parts are not those of the whole.  Of batch_norm
 * channels alone are cut. */
static kernel_cut kernel_cut_that_tiles(const ss_op_def *op, kernel_cut c)
{
    uint32_t channel = op->out[0].rank == 3 ? 2 : 1;
    if (strcmp(op->kind->name, "batch_norm") != 0)
        return c;
    c.parts = c.degree[channel];
    for (uint32_t d = 0; d < op->out[0].rank; d++)
        c.degree[d] = d == channel ? c.degree[d] : 1;
    return c;
}

static ss_box kernel_cut_box(const ss_op_def *op, const kernel_cut *c, uint32_t part)
{
    ss_box b = ss_box_whole(&op->out[0]);
    for (uint32_t d = 0; d < b.rank; d++) {
        ss_part_range(op->out[0].extent[d], op->dim[d].grain, c->degree[d], part % c->degree[d],
                      &b.lo[d], &b.hi[d]);
        part /= c->degree[d];
    }
    return b;
}

static void kernel_gather(kernel_arrays *sum, kernel_arrays *part)
{
    for (uint32_t o = 0; o < sum->op->outputs; o++)
        kernel_copy(sum->out[o], &sum->out_box[o], part->out[o], &part->out_box[o], KERNEL_PUT);
    for (uint32_t i = 0; i < sum->op->inputs; i++)
        kernel_copy(sum->din[i], &sum->in_box[i], part->din[i], &part->in_box[i], KERNEL_ADD);
    for (uint32_t w = 0; w < sum->op->weights; w++)
        kernel_copy(sum->dweight[w], &sum->weight_box[w], part->dweight[w], &part->weight_box[w],
                    KERNEL_ADD);
    sum->loss += part->loss;
}

/* All parts, put together in arrays of the whole. */
static const char *kernel_run_parts(const kernel_arrays *whole, const kernel_cut *c,
                                    ss_kernel_maker m, kernel_arrays *sum)
{
    for (uint32_t i = 0; i < sum->op->inputs; i++) {
        ss_free(sum->din[i]);
        sum->din[i] = kernel_array(&sum->in_box[i], 0);
    }
    for (uint32_t w = 0; w < sum->op->weights; w++) {
        ss_free(sum->dweight[w]);
        sum->dweight[w] = kernel_array(&sum->weight_box[w], 0);
    }
    const char *why = NULL;
    for (uint32_t p = 0; p < c->parts && !why; p++) {
        ss_box box = kernel_cut_box(whole->op, c, p);
        kernel_arrays *part = kernel_part(whole, &box);
        why = kernel_run(part, m);
        if (!why)
            kernel_gather(sum, part);
        kernel_arrays_free(part);
    }
    return why;
}

static const char *kernel_parts_agree(const char *who, const kernel_arrays *whole,
                                      const kernel_cut *c, ss_kernel_maker m)
{
    kernel_arrays *sum = kernel_arrays_new(whole->op, &whole->main);
    const char *why = kernel_run_parts(whole, c, m, sum);
    if (!why)
        why = kernel_agree(who, sum, whole);
    kernel_arrays_free(sum);
    return why;
}

static const char *kernel_twins_agree(const char *who, const kernel_arrays *whole,
                                      const ss_box *main, ss_kernel_maker fast)
{
    kernel_arrays *a = kernel_part(whole, main), *b = kernel_part(whole, main);
    const char *why = kernel_run(a, fast);
    if (!why)
        why = kernel_run(b, kernel_naive());
    if (!why)
        why = kernel_agree(who, a, b);
    kernel_arrays_free(a);
    kernel_arrays_free(b);
    return why;
}

/* Gradients that are asked for are the whole's; others are left alone. */
static const char *kernel_asked(const char *what, uint32_t i, bool asked, const float *got,
                                const float *wanted, const ss_box *b, double unit)
{
    if (asked)
        return kernel_same(what, i, got, wanted, b, unit);
    if (!ss_box_empty(b) && !isnan(got[0]))
        return KERNEL_WHY("%s %u is written, and was not asked for", what, i + 1);
    return NULL;
}

/* What is asked for by bits of `what`, and of that what has a bit in `place`. */
static const char *kernel_asks(const kernel_arrays *whole, ss_kernel_maker m, unsigned what,
                               uint64_t place)
{
    kernel_arrays *a = kernel_part(whole, &whole->main);
    const ss_op_def *op = a->op;
    ss_kernel *k;
    const char *why = NULL;
    if (m.make(m.context, op, &a->main, &k, &err)) {
        kernel_arrays_free(a);
        return err.text;
    }
    ss_kernel_io io = kernel_io(a);
    for (uint32_t i = 0; i < op->inputs; i++)
        io.in_gradient[i] = place >> i & 1 ? io.in_gradient[i] : NULL;
    for (uint32_t w = 0; w < op->weights; w++)
        io.weight_gradient[w] = place >> (32 + w) & 1 ? io.weight_gradient[w] : NULL;
    if (k->forward(k, &io, &err) || k->backward(k, &io, what, &err))
        why = err.text;
    double unit = kernel_unit(op);
    for (uint32_t i = 0; i < op->inputs && !why; i++)
        why = kernel_asked("gradient of input", i, (what & SS_OF_INPUTS) && io.in_gradient[i],
                           a->din[i], whole->din[i], &a->in_box[i], unit);
    for (uint32_t w = 0; w < op->weights && !why; w++)
        why = kernel_asked("gradient of weight", w, (what & SS_OF_WEIGHTS) && io.weight_gradient[w],
                           a->dweight[w], whole->dweight[w], &a->weight_box[w], unit);
    ss_kernel_free(k);
    kernel_arrays_free(a);
    return why;
}

static const char *kernel_gives_what_is_asked(const kernel_arrays *whole, ss_kernel_maker m)
{
    const char *why = NULL;
    for (unsigned what = 0; what <= (SS_OF_INPUTS | SS_OF_WEIGHTS) && !why; what++)
        why = kernel_asks(whole, m, what, what == 3 ? kernel_bits() : UINT64_MAX);
    return why;
}

/* Differences */

/* What gradients are of: the loss, or outputs times the gradients that come in. */
static double kernel_value(kernel_arrays *a, ss_kernel *k)
{
    ss_kernel_io io = kernel_io(a);
    if (k->forward(k, &io, &err))
        return NAN;
    double sum = a->op->kind->is_loss ? a->loss : 0;
    for (uint32_t o = 0; o < a->op->outputs; o++)
        for (int64_t i = 0, n = ss_box_elements(&a->out_box[o]); a->dout[o] && i < n; i++)
            sum += (double)a->out[o][i] * (double)a->dout[o][i];
    return sum;
}

/* Slope, and by how much it changes, from `step` before an element to as much behind it. */
typedef struct kernel_tangent {
    double slope, bend;
} kernel_tangent;

static kernel_tangent kernel_measure(kernel_arrays *a, ss_kernel *k, float *x, float step)
{
    float at = *x;
    float lo = at - step, hi = at + step;
    double here = kernel_value(a, k);
    *x = hi;
    double above = kernel_value(a, k);
    *x = lo;
    double below = kernel_value(a, k);
    *x = at;
    return (kernel_tangent){(above - below) / ((double)hi - (double)lo),
                            (above - here) / ((double)hi - at) -
                                (here - below) / (at - (double)lo)};
}

enum { KERNEL_SLOPES = 4 };
static uint64_t kernel_slopes, kernel_kinks;

/* At half the distance a smooth function has nearly the same slope and bends half as much.  Elsewhere a corner
 * lies between the points (relu, a maximum); such elements are counted, and left out. */
static const char *kernel_slopes_agree(const char *what, uint32_t i, kernel_arrays *a, ss_kernel *k,
                                       float *x, const float *gradient, const ss_box *b,
                                       double unit)
{
    int64_t n = ss_box_elements(b);
    double largest = 0;
    for (int64_t j = 0; j < n; j++)
        largest = fmax(largest, fabs((double)gradient[j]));
    for (int t = 0; t < KERNEL_SLOPES && n; t++) {
        int64_t j = kernel_draw(0, n - 1);
        kernel_tangent wide = kernel_measure(a, k, &x[j], 1.0f / 64),
                       near = kernel_measure(a, k, &x[j], 1.0f / 128);
        kernel_slopes++;
        if (fabs(wide.slope - near.slope) + fabs(wide.bend - 2 * near.bend) >
            5e-4 * (largest + unit)) {
            kernel_kinks++;
            continue;
        }
        double slope = (4 * near.slope - wide.slope) / 3;
        if (!(fabs(slope - (double)gradient[j]) <= 2e-3 * (largest + 0.05 * unit)))
            return KERNEL_WHY("%s %u, element %lld: slope %g, gradient %g (largest %g)", what,
                              i + 1, (long long)j, slope, (double)gradient[j], largest);
    }
    return NULL;
}

static const char *kernel_gradients_are_slopes(const kernel_arrays *whole)
{
    kernel_arrays *a = kernel_part(whole, &whole->main);
    const ss_op_def *op = a->op;
    ss_kernel_maker m = kernel_naive();
    ss_kernel *k;
    const char *why = NULL;
    if (m.make(m.context, op, &a->main, &k, &err))
        why = err.text;
    double unit = kernel_unit(op);
    for (uint32_t i = 0; i < op->inputs && !why && !op->kind->no_input_gradient; i++)
        why = kernel_slopes_agree("input", i, a, k, a->in[i], whole->din[i], &a->in_box[i], unit);
    for (uint32_t w = 0; w < op->weights && !why; w++)
        why = kernel_slopes_agree("weight", w, a, k, a->weight[w], whole->dweight[w],
                                  &a->weight_box[w], unit);
    ss_kernel_free(k);
    kernel_arrays_free(a);
    return why;
}

/* All of it */

static const char *kernel_checks(kernel_arrays *whole, ss_kernel_maker fast)
{
    const ss_op_def *op = whole->op;
    kernel_cut cut = kernel_draw_cut(op), tiles = kernel_cut_that_tiles(op, cut);
    ss_box one = kernel_cut_box(op, &cut, (uint32_t)kernel_draw(0, cut.parts - 1));
    const char *why = kernel_run(whole, kernel_naive());
    if (!why)
        why = kernel_gradients_are_slopes(whole);
    if (!why)
        why = kernel_parts_agree("parts of the twin", whole, &tiles, kernel_naive());
    if (!why && fast.make)
        why = kernel_twins_agree("the whole", whole, &whole->main, fast);
    if (!why && fast.make)
        why = kernel_twins_agree("a part", whole, &one, fast);
    if (!why && fast.make)
        why = kernel_parts_agree("parts", whole, &tiles, fast);
    if (!why && fast.make)
        why = kernel_gives_what_is_asked(whole, fast);
    return why;
}

/* fast.make NULL: the twin alone. */
static const char *kernel_trial(const ss_op_def *op, ss_kernel_maker fast)
{
    kernel_arrays *whole = kernel_whole(op);
    const char *why = kernel_checks(whole, fast);
    kernel_arrays_free(whole);
    return why;
}

/* A kind drawn `count` times: `draw` makes an operator of it from kernel_draw. */
static void kernel_trials(uint64_t count, uint64_t seed, void (*draw)(ss_op_def *op),
                          ss_kernel_maker fast)
{
    for (uint64_t t = 0; t < count; t++) {
        kernel_seed = seed + t;
        kernel_drawn = 0;
        ss_op_def op;
        draw(&op);
        char text[SS_SHAPE_TEXT];
        const char *why = kernel_trial(&op, fast);
        CHECK(!why, "seed %llu, %s to %s: %s", (unsigned long long)kernel_seed, op.kind->name,
              ss_shape_text(&op.out[0], text, sizeof text), why);
    }
}

#endif
