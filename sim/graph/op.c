#include "graph/op.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "graph/op_kinds.h"

#define KIND(name) &ss_op_kind_##name,
static const ss_op_kind *const kinds[] = {SS_OP_KINDS(KIND)};
#undef KIND

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const ss_op_kind *const *ss_op_kinds(uint32_t *n)
{
    *n = KINDS;
    return kinds;
}

const ss_op_kind *ss_op_kind_find(const char *name)
{
    for (uint32_t i = 0; i < KINDS; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

uint32_t ss_op_kind_attrs(const ss_op_kind *kind)
{
    uint32_t n = 0;
    while (n < SS_MAX_ATTRS && kind->attr[n].name)
        n++;
    return n;
}

bool ss_op_kind_pair(const ss_op_kind *kind, uint32_t i, char *stem)
{
    if (i + 1 >= ss_op_kind_attrs(kind))
        return false;
    const char *h = kind->attr[i].name, *w = kind->attr[i + 1].name;
    size_t n = strlen(h);
    if (n < 3 || n > SS_ATTR_STEM || strlen(w) != n || strncmp(h, w, n - 1) != 0 ||
        strcmp(h + n - 2, "_h") != 0 || w[n - 1] != 'w')
        return false;
    memcpy(stem, h, n - 2);
    stem[n - 2] = '\0';
    return true;
}

/* Attributes */

enum { MAX_CHOICES = 16, CHOICE_TEXT = 160 };

/* Cuts "none|relu" into words; `copy` has room for CHOICE_TEXT bytes. */
static uint32_t cut_choices(const char *choices, char *copy, const char **word)
{
    assert(strlen(choices) < CHOICE_TEXT);
    strcpy(copy, choices);
    uint32_t n = 0;
    for (char *at = copy; at; n++) {
        assert(n < MAX_CHOICES);
        word[n] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = 0;
    }
    return n;
}

static ss_status parse_number(const ss_attr_def *a, const char *text, int64_t *out, ss_error *err)
{
    char *end;
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return ss_fail(err, SS_EINVAL, "%s is \"%s\": a whole number is wanted (%s)", a->name, text,
                       a->help);
    *out = x;
    return SS_OK;
}

ss_status ss_attr_parse(const ss_attr_def *a, const char *text, int64_t *out, ss_error *err)
{
    if (!a->choices)
        return parse_number(a, text, out, err);
    bool truth = !strcmp(a->choices, "bool");
    char copy[CHOICE_TEXT];
    const char *word[MAX_CHOICES];
    uint32_t n = cut_choices(truth ? "false|true" : a->choices, copy, word);
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(word[i], text)) {
            *out = i;
            return SS_OK;
        }
    const char *near = ss_nearest(text, word, n);
    if (near)
        return ss_fail(err, SS_EINVAL, "%s is \"%s\": did you mean \"%s\"?", a->name, text, near);
    return ss_fail(err, SS_EINVAL, "%s is \"%s\": one of %s is wanted (%s)", a->name, text,
                   truth ? "true|false" : a->choices, a->help);
}

char *ss_attr_text(const ss_attr_def *a, int64_t value, char *buffer, size_t n)
{
    const char *word = a->choices;
    if (!word) {
        snprintf(buffer, n, "%lld", (long long)value);
        return buffer;
    }
    if (!strcmp(word, "bool"))
        word = "false|true";
    for (; value > 0 && strchr(word, '|'); value--)
        word = strchr(word, '|') + 1;
    snprintf(buffer, n, "%.*s", (int)strcspn(word, "|"), word);
    return buffer;
}

static int64_t most(const ss_attr_def *a)
{
    if (!a->choices)
        return a->max;
    if (!strcmp(a->choices, "bool"))
        return 1;
    int64_t n = 0;
    for (const char *c = a->choices; *c; c++)
        n += *c == '|';
    return n;
}

static ss_status check_attrs(const ss_op_def *op, ss_error *err)
{
    for (uint32_t i = 0; i < ss_op_kind_attrs(op->kind); i++) {
        const ss_attr_def *a = &op->kind->attr[i];
        int64_t x = op->attr[i], lo = a->choices ? 0 : a->min;
        if (x == SS_ATTR_REQUIRED)
            return ss_fail(err, SS_EINVAL, "%s is missing: %s", a->name, a->help);
        if (x < lo || x > most(a))
            return ss_fail(err, SS_EINVAL, "%s is %lld: it goes from %lld to %lld (%s)", a->name,
                           (long long)x, (long long)lo, (long long)most(a), a->help);
    }
    return SS_OK;
}

/* Finishing */

static ss_status check_inputs(const ss_op_def *op, ss_error *err)
{
    const ss_op_kind *k = op->kind;
    if (op->inputs < k->min_inputs || op->inputs > k->max_inputs) {
        if (k->min_inputs == k->max_inputs)
            return ss_fail(err, SS_EINVAL, "%u inputs were given: it takes %u", op->inputs,
                           k->min_inputs);
        return ss_fail(err, SS_EINVAL, "%u inputs were given: it takes %u to %u", op->inputs,
                       k->min_inputs, k->max_inputs);
    }
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_status s = ss_shape_check(&op->in[i], "an input", err);
        if (s)
            return s;
    }
    return SS_OK;
}

/* A weight must not be split by a dimension of another extent: ss_op_weight_box could not say how.
 */
static void assert_weights_follow(const ss_op_def *op)
{
    for (uint32_t w = 0; w < op->weights; w++)
        for (uint32_t d = 0; d < op->weight[w].shape.rank; d++) {
            int8_t follows = op->weight[w].follows[d];
            assert(follows < 0 || op->dim[follows].cls == SS_DIM_PARAMETER);
            assert(follows < 0 || op->weight[w].shape.extent[d] == op->out[0].extent[follows]);
            (void)follows;
        }
}

ss_status ss_op_def_finish(ss_op_def *op, ss_error *err)
{
    ss_status s = check_attrs(op, err);
    if (!s)
        s = check_inputs(op, err);
    if (s)
        return s;
    op->outputs = op->weights = 0;
    op->keeps_input = op->keeps_output = false;
    s = op->kind->infer(op, err);
    for (uint32_t o = 0; o < op->outputs && !s; o++)
        s = ss_shape_check(&op->out[o], "its output", err);
    for (uint32_t w = 0; w < op->weights && !s; w++)
        s = ss_shape_check(&op->weight[w].shape, "its weight", err);
    if (!s)
        assert_weights_follow(op);
    return s;
}

/* What the families share */

double ss_activation_flops(int64_t activation)
{
    static const double flops[] = {[SS_ACT_NONE] = 0,
                                   [SS_ACT_RELU] = 1,
                                   [SS_ACT_GELU] = 9, /* x/2 (1 + tanh(c (x + k x^3))) */
                                   [SS_ACT_TANH] = 1,
                                   [SS_ACT_SIGMOID] = 3};
    return flops[activation];
}

void ss_op_dims(ss_op_def *op)
{
    static const char *const names[SS_MAX_DIMS + 1][SS_MAX_DIMS] = {
        [1] = {"n"},
        [2] = {"n", "c"},
        [3] = {"n", "l", "c"},
        [4] = {"n", "c", "h", "w"},
        [5] = {"n", "c", "d", "h", "w"}};
    uint32_t rank = op->out[0].rank;
    for (uint32_t d = 0; d < rank; d++)
        op->dim[d] = (ss_dim){names[rank][d], d ? SS_DIM_ATTRIBUTE : SS_DIM_SAMPLE, 1};
}

uint32_t ss_op_channel(const ss_shape *s)
{
    return s->rank == 3 ? 2 : 1;
}

void ss_op_like_input(ss_op_def *op)
{
    op->outputs = 1;
    op->out[0] = op->in[0];
}

void ss_op_weight(ss_op_def *op, const char *name, uint32_t rank, const int64_t *extent,
                  const int8_t *follows)
{
    assert(op->weights < SS_MAX_WEIGHTS);
    ss_weight_def *w = &op->weight[op->weights++];
    *w = (ss_weight_def){.name = name, .shape = {.dtype = op->out[0].dtype, .rank = rank}};
    for (uint32_t d = 0; d < rank; d++) {
        w->shape.extent[d] = extent[d];
        w->follows[d] = follows[d];
    }
}

ss_status ss_op_want_floats(const ss_op_def *op, ss_error *err)
{
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_dtype t = op->in[i].dtype;
        if (t == SS_I64 || t == SS_I32 || t == SS_I8)
            return ss_fail(err, SS_EINVAL,
                           "input %u holds integers (%s): only embedding reads indices", i + 1,
                           ss_dtype_name(t));
        if (t != op->in[0].dtype)
            return ss_fail(err, SS_EINVAL, "input %u is %s and input 1 is %s: they must agree",
                           i + 1, ss_dtype_name(t), ss_dtype_name(op->in[0].dtype));
    }
    return SS_OK;
}

ss_status ss_op_want_images(const ss_op_def *op, ss_error *err)
{
    char text[SS_SHAPE_TEXT];
    if (op->in[0].rank != 4)
        return ss_fail(err, SS_EINVAL, "its input is %s: it reads images, n x c x h x w",
                       ss_shape_text(&op->in[0], text, sizeof text));
    return ss_op_want_floats(op, err);
}

ss_status ss_op_want_channels(const ss_op_def *op, ss_error *err)
{
    char text[SS_SHAPE_TEXT];
    if (op->in[0].rank < 2)
        return ss_fail(err, SS_EINVAL, "its input is %s, which has samples and nothing else",
                       ss_shape_text(&op->in[0], text, sizeof text));
    return ss_op_want_floats(op, err);
}

ss_status ss_op_want_features(const ss_op_def *op, ss_error *err)
{
    char text[SS_SHAPE_TEXT];
    if (op->in[0].rank < 2 || op->in[0].rank > 3)
        return ss_fail(err, SS_EINVAL, "its input is %s: it reads features, n x c or n x l x c%s",
                       ss_shape_text(&op->in[0], text, sizeof text),
                       op->in[0].rank == 4 ? " (flatten images first, or use conv2d)" : "");
    return ss_op_want_floats(op, err);
}

ss_status ss_op_want_sequences(const ss_op_def *op, ss_error *err)
{
    char text[SS_SHAPE_TEXT];
    for (uint32_t i = 0; i < op->inputs; i++)
        if (op->in[i].rank != 3)
            return ss_fail(err, SS_EINVAL, "input %u is %s: it reads sequences, n x l x c", i + 1,
                           ss_shape_text(&op->in[i], text, sizeof text));
    return ss_op_want_floats(op, err);
}

ss_status ss_op_want_same(const ss_op_def *op, ss_error *err)
{
    char mine[SS_SHAPE_TEXT], first[SS_SHAPE_TEXT];
    for (uint32_t i = 1; i < op->inputs; i++)
        if (!ss_shape_same(&op->in[i], &op->in[0]))
            return ss_fail(
                err, SS_EINVAL, "input %u is %s %s and input 1 is %s %s: they must agree", i + 1,
                ss_dtype_name(op->in[i].dtype), ss_shape_text(&op->in[i], mine, sizeof mine),
                ss_dtype_name(op->in[0].dtype), ss_shape_text(&op->in[0], first, sizeof first));
    return SS_OK;
}

void ss_op_same_box(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)op, (void)i;
    *in = *main;
}

/* Regions */

void ss_op_input_box(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    op->kind->input_box(op, i, main, in);
    for (uint32_t d = 2; op->no_halo && op->kind->slides && d < 4; d++) {
        int64_t all = op->in[i].extent[d], of = op->out[0].extent[d];
        int64_t lo = main->lo[d] * all / of, hi = main->hi[d] * all / of;
        lo = lo > in->lo[d] ? lo : in->lo[d];
        hi = hi < in->hi[d] ? hi : in->hi[d];
        if (lo >= hi) /* it would see nothing at all */
            continue;
        in->lo[d] = lo;
        in->hi[d] = hi;
    }
}

void ss_op_output_box(const ss_op_def *op, uint32_t o, const ss_box *main, ss_box *out)
{
    if (o == 0)
        *out = *main;
    else
        op->kind->output_box(op, o, main, out);
}

void ss_op_weight_box(const ss_op_def *op, uint32_t w, const ss_box *main, ss_box *out)
{
    const ss_weight_def *def = &op->weight[w];
    *out = ss_box_whole(&def->shape);
    for (uint32_t d = 0; d < def->shape.rank; d++)
        if (def->follows[d] >= 0) {
            out->lo[d] = main->lo[def->follows[d]];
            out->hi[d] = main->hi[def->follows[d]];
        }
}

/* Work */

static double box_bytes(const ss_box *b, const ss_shape *s)
{
    return (double)ss_box_elements(b) * (double)ss_dtype_bytes(s->dtype);
}

static double inputs_bytes(const ss_op_def *op, const ss_box *main)
{
    double bytes = 0;
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_box b;
        ss_op_input_box(op, i, main, &b);
        bytes += box_bytes(&b, &op->in[i]);
    }
    return bytes;
}

static double outputs_bytes(const ss_op_def *op, const ss_box *main)
{
    double bytes = 0;
    for (uint32_t o = 0; o < op->outputs; o++) {
        ss_box b;
        ss_op_output_box(op, o, main, &b);
        bytes += box_bytes(&b, &op->out[o]);
    }
    return bytes;
}

/* A sparse reader touches one row of its weights for each row of its output. */
static double weights_bytes(const ss_op_def *op, const ss_box *main)
{
    if (op->kind->sparse_input)
        return outputs_bytes(op, main);
    double bytes = 0;
    for (uint32_t w = 0; w < op->weights; w++) {
        ss_box b;
        ss_op_weight_box(op, w, main, &b);
        bytes += box_bytes(&b, &op->weight[w].shape);
    }
    return bytes;
}

double ss_op_saved_bytes(const ss_op_def *op, const ss_box *main)
{
    return op->kind->saved && !ss_box_empty(main) ? op->kind->saved(op, main) : 0;
}

static void forward_work(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    op->kind->forward(op, main, work);
    work->bytes += inputs_bytes(op, main) + outputs_bytes(op, main) + weights_bytes(op, main) +
                   ss_op_saved_bytes(op, main);
}

static void backward_work(const ss_op_def *op, bool input_gradient, const ss_box *main,
                          ss_work *work)
{
    double inputs = inputs_bytes(op, main), outputs = outputs_bytes(op, main);
    double weights = weights_bytes(op, main);
    if (op->kind->backward) {
        op->kind->backward(op, main, input_gradient, work);
    } else {
        op->kind->forward(op, main, work);
        double gradients = (op->weights > 0) + (input_gradient ? 1 : 0);
        work->macs *= gradients;
        work->flops *= gradients;
        work->bytes *= gradients;
    }
    work->bytes += weights; /* their gradient */
    if (input_gradient)
        work->bytes += inputs + weights; /* the inputs' gradient, from the weights */
    if (!op->kind->is_loss)
        work->bytes += outputs; /* the gradient that comes in */
    work->bytes += (op->keeps_input ? inputs : 0) + (op->keeps_output ? outputs : 0) +
                   ss_op_saved_bytes(op, main);
}

const char *ss_phase_name(ss_phase p)
{
    static const char *const name[SS_PHASES] = {"forward", "backward", "input_gradient",
                                                "weight_gradient"};
    return (unsigned)p < SS_PHASES ? name[p] : "none";
}

void ss_op_work(const ss_op_def *op, ss_phase phase, bool input_gradient, const ss_box *main,
                ss_work *work)
{
    *work = (ss_work){0};
    if (op->kind->view || ss_box_empty(main))
        return;
    input_gradient = input_gradient && !op->kind->no_input_gradient;
    if (phase == SS_FORWARD)
        forward_work(op, main, work);
    else if (input_gradient || op->weights)
        backward_work(op, input_gradient, main, work);
}
