/* What every kind must be true to, tried on examples of all of them.  What is particular to a kind
 * is in test_op_kinds.c. */
#include "graph/op.h"

#include <math.h>

#include "check.h"
#include "op_make.h"

/* One or more examples of each kind, small and uneven. */

typedef struct example {
    const char *kind, *attrs;
    uint32_t inputs;
    ss_shape in[3];
} example;

enum { MAX_EXAMPLES = 80 };
static example examples[MAX_EXAMPLES];
static uint32_t n_examples;

static void example_of(const char *kind, const char *attrs, uint32_t inputs, ss_shape a, ss_shape b,
                       ss_shape c)
{
    examples[n_examples++] = (example){kind, attrs, inputs, {a, b, c}};
}

static void collect_examples(void)
{
    ss_shape none = {0}, image = SHAPE(3, 6, 13, 11), words = SHAPE(3, 7);
    ss_shape sequence = SHAPE(3, 10, 12), vector = SHAPE(5, 7), state = SHAPE(3, 2, 9);
    words.dtype = SS_I32;
    example_of("conv2d", "out=8 kernel_h=3 kernel_w=3 padding_h=1 padding_w=1", 1, image, none,
               none);
    example_of("conv2d", "out=9 kernel_h=5 kernel_w=1 stride_h=2 stride_w=3 groups=3 norm=batch", 1,
               image, none, none);
    example_of("conv2d", "out=4 kernel_h=2 kernel_w=7 padding_w=6 bias=false activation=gelu", 1,
               image, none, none);
    example_of("conv_transpose2d", "out=5 kernel_h=2 kernel_w=2 stride_h=2 stride_w=2", 1, image,
               none, none);
    example_of("conv_transpose2d",
               "out=5 kernel_h=5 kernel_w=3 stride_h=3 stride_w=1 padding_h=2 padding_w=1 "
               "activation=gelu",
               1, image, none, none);
    example_of("conv_transpose2d", "out=2 kernel_h=2 kernel_w=1 stride_h=4 stride_w=2", 1, image,
               none, none);
    example_of("pool2d", "kernel_h=3 kernel_w=3 stride_h=2 stride_w=2", 1, image, none, none);
    example_of("pool2d", "type=avg kernel_h=4 kernel_w=3 padding_h=2 padding_w=1", 1, image, none,
               none);
    example_of("upsample2d", "factor_h=3 factor_w=2", 1, image, none, none);
    example_of("batch_norm", "", 1, image, none, none);
    example_of("batch_norm", "", 1, sequence, none, none);
    example_of("layer_norm", "", 1, sequence, none, none);
    example_of("layer_norm", "bias=false", 1, vector, none, none);
    example_of("layer_norm", "", 1, image, none, none);
    example_of("rms_norm", "", 1, sequence, none, none);
    example_of("relu", "", 1, image, none, none);
    example_of("gelu", "", 1, sequence, none, none);
    example_of("tanh", "", 1, vector, none, none);
    example_of("sigmoid", "", 1, vector, none, none);
    example_of("dropout", "", 1, sequence, none, none);
    example_of("scale", "", 1, SHAPE(17), none, none);
    example_of("add", "", 3, image, image, image);
    example_of("add", "activation=gelu", 2, vector, vector, none);
    example_of("mul", "", 2, vector, vector, none);
    example_of("concat", "", 3, image, SHAPE(3, 1, 13, 11), SHAPE(3, 8, 13, 11));
    example_of("concat", "axis=l", 2, sequence, SHAPE(3, 4, 12), none);
    example_of("slice", "axis=h start=2 size=9", 1, image, none, none);
    example_of("select", "index=-3", 1, sequence, none, none);
    example_of("flatten", "", 1, image, none, none);
    example_of("to_sequence", "", 1, image, none, none);
    example_of("linear", "out=13", 1, vector, none, none);
    example_of("linear", "out=13 bias=false activation=gelu", 1, sequence, none, none);
    example_of("embedding", "vocab=100 out=9", 1, words, none, none);
    example_of("embedding", "vocab=100 out=9 dtype=bf16", 1, shape(SS_I64, 1, (int64_t[]){11}),
               none, none);
    example_of("position", "", 1, sequence, none, none);
    example_of("position", "positions=32", 1, sequence, none, none);
    example_of("lstm", "hidden=9", 1, sequence, none, none);
    example_of("lstm", "hidden=9 bias=true state_steps=8", 3, sequence, state, state);
    example_of("attention", "", 3, sequence, SHAPE(3, 5, 12), SHAPE(3, 6, 12));
    example_of("multihead_attention", "heads=4", 1, SHAPE(3, 10, 36), none, none);
    example_of("multihead_attention", "heads=4 causal=true", 1, SHAPE(3, 10, 36), none, none);
    example_of("multihead_attention", "heads=3 causal=true", 2, sequence, SHAPE(3, 15, 24), none);
    example_of("multihead_attention", "heads=6 fused=false", 2, sequence, SHAPE(3, 4, 24), none);
    example_of("softmax", "", 1, sequence, none, none);
    example_of("softmax_cross_entropy", "", 1, image, none, none);
    example_of("softmax_cross_entropy", "", 1, vector, none, none);
    example_of("linear_softmax", "out=15", 1, sequence, none, none);
    example_of("squared_error", "", 1, vector, none, none);
    example_of("squared_error", "", 2, image, image, none);
}

static ss_status make_example(uint32_t i, ss_op_def *op)
{
    return make(op, examples[i].kind, examples[i].attrs, examples[i].inputs, examples[i].in);
}

/* The next part of an operator cut by `degree`; true: it was the last. */
static bool next_part(const ss_op_def *op, const uint32_t *degree, uint32_t *k, ss_box *part)
{
    uint32_t rank = op->out[0].rank, rest = (*k)++, parts = 1;
    part->rank = rank;
    for (uint32_t d = rank; d-- > 0;) {
        ss_part_range(op->out[0].extent[d], op->dim[d].grain, degree[d], rest % degree[d],
                      &part->lo[d], &part->hi[d]);
        rest /= degree[d];
        parts *= degree[d];
    }
    return *k == parts;
}

static uint32_t most_parts(const ss_op_def *op, uint32_t d, uint32_t wanted)
{
    int64_t units = (op->out[0].extent[d] + op->dim[d].grain - 1) / op->dim[d].grain;
    if (op->dim[d].cls == SS_DIM_WHOLE)
        return 1;
    return units < wanted ? (uint32_t)units : wanted;
}

static void every_kind_has_an_example_and_help(void)
{
    uint32_t n;
    const ss_op_kind *const *kinds = ss_op_kinds(&n);
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;
        for (uint32_t e = 0; e < n_examples; e++)
            found = found || !strcmp(examples[e].kind, kinds[i]->name);
        CHECK(found, "no example of %s", kinds[i]->name);
        CHECK(kinds[i]->summary && strlen(kinds[i]->summary) > 10, "%s", kinds[i]->name);
        CHECK(ss_op_kind_find(kinds[i]->name) == kinds[i], "%s", kinds[i]->name);
        for (uint32_t a = 0; a < ss_op_kind_attrs(kinds[i]); a++)
            CHECK(kinds[i]->attr[a].help, "%s %s", kinds[i]->name, kinds[i]->attr[a].name);
    }
    CHECK(!ss_op_kind_find("conv3d"));
}

static void every_example_is_well_formed(void)
{
    for (uint32_t e = 0; e < n_examples; e++) {
        ss_op_def op;
        CHECK_OK(make_example(e, &op));
        CHECK(op.outputs >= 1 && op.dim[0].cls == SS_DIM_SAMPLE, "%s", examples[e].kind);
        for (uint32_t d = 0; d < op.out[0].rank; d++) {
            CHECK(op.dim[d].name && op.dim[d].grain >= 1, "%s dimension %u", examples[e].kind, d);
            for (uint32_t o = 0; o < d; o++)
                CHECK(strcmp(op.dim[d].name, op.dim[o].name), "%s has two of %s", examples[e].kind,
                      op.dim[d].name);
        }
        for (uint32_t o = 1; o < op.outputs; o++)
            CHECK(op.kind->output_name[o] && op.kind->output_box, "%s output %u", examples[e].kind,
                  o);
    }
}

/* A dimension that splits weights is of class p, and of class p alone. */
static void classes_say_whether_weights_are_split(void)
{
    for (uint32_t e = 0; e < n_examples; e++) {
        ss_op_def op;
        CHECK_OK(make_example(e, &op));
        for (uint32_t d = 0; d < op.out[0].rank; d++) {
            bool splits = false;
            for (uint32_t w = 0; w < op.weights; w++)
                for (uint32_t k = 0; k < op.weight[w].shape.rank; k++)
                    splits = splits || op.weight[w].follows[k] == (int8_t)d;
            CHECK(splits == (op.dim[d].cls == SS_DIM_PARAMETER), "%s (%s) dimension %s",
                  examples[e].kind, examples[e].attrs, op.dim[d].name);
        }
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Each dimension cut into `wanted` parts, as far as it can be. */
static uint32_t cut(const ss_op_def *op, uint32_t wanted, uint32_t *degree)
{
    uint32_t parts = 1;
    bool repeats = !strcmp(op->kind->name, "attention"); /* its channel parts, on purpose */
    for (uint32_t d = 0; d < op->out[0].rank; d++) {
        degree[d] = most_parts(op, d, repeats && op->dim[d].cls == SS_DIM_PARAMETER ? 1 : wanted);
        parts *= degree[d];
    }
    return parts;
}

static void every_split_adds_up_to_the_whole(void)
{
    for (uint32_t e = 0; e < n_examples; e++)
        for (uint32_t wanted = 1; wanted <= 4; wanted++)
            for (int phase = SS_FORWARD; phase <= SS_BACKWARD; phase++) {
                ss_op_def op;
                CHECK_OK(make_example(e, &op));
                ss_box whole = ss_box_whole(&op.out[0]), part;
                ss_work all, sum = {0}, one;
                ss_op_work(&op, (ss_phase)phase, true, &whole, &all);
                uint32_t degree[SS_MAX_DIMS], k = 0;
                int64_t outputs = 0;
                double saved = 0;
                cut(&op, wanted, degree);
                for (bool last = false; !last;) {
                    last = next_part(&op, degree, &k, &part);
                    outputs += ss_box_elements(&part);
                    saved += ss_op_saved_bytes(&op, &part);
                    ss_op_work(&op, (ss_phase)phase, true, &part, &one);
                    sum.macs += one.macs;
                    sum.flops += one.flops;
                    sum.bytes += one.bytes;
                }
                CHECK(outputs == ss_shape_elements(&op.out[0]), "%s", op.kind->name);
                CHECK(near(sum.macs, all.macs), "%s: %g of %g macs", op.kind->name, sum.macs,
                      all.macs);
                CHECK(near(sum.flops, all.flops), "%s: %g of %g flops", op.kind->name, sum.flops,
                      all.flops);
                CHECK(sum.bytes >= all.bytes * (1 - 1e-9), "%s: fewer bytes", op.kind->name);
                CHECK(near(saved, ss_op_saved_bytes(&op, &whole)), "%s: saved", op.kind->name);
            }
}

/* Every shard of a weight is held by as many parts as there are ways to cut what does not split it.
 */
static void every_split_covers_the_weights(void)
{
    for (uint32_t e = 0; e < n_examples; e++) {
        ss_op_def op;
        CHECK_OK(make_example(e, &op));
        uint32_t degree[SS_MAX_DIMS], parts = cut(&op, 3, degree);
        for (uint32_t w = 0; w < op.weights; w++) {
            const ss_weight_def *weight = &op.weight[w];
            int64_t held = 0, shards = 1;
            uint32_t k = 0;
            for (uint32_t d = 0; d < weight->shape.rank; d++)
                shards *= weight->follows[d] < 0 ? 1 : degree[weight->follows[d]];
            for (bool last = false; !last;) {
                ss_box part, box;
                last = next_part(&op, degree, &k, &part);
                ss_op_weight_box(&op, w, &part, &box);
                held += ss_box_elements(&box);
            }
            CHECK(held == ss_shape_elements(&weight->shape) * (parts / shards), "%s: weight %s",
                  op.kind->name, weight->name);
        }
    }
}

static void regions_lie_inside_the_inputs(void)
{
    for (uint32_t e = 0; e < n_examples; e++) {
        ss_op_def op;
        CHECK_OK(make_example(e, &op));
        uint32_t degree[SS_MAX_DIMS], k = 0;
        cut(&op, 4, degree);
        for (bool last = false; !last;) {
            ss_box part, in, both;
            last = next_part(&op, degree, &k, &part);
            for (uint32_t i = 0; i < op.inputs; i++) {
                ss_box all = ss_box_whole(&op.in[i]);
                ss_op_input_box(&op, i, &part, &in);
                CHECK(in.rank == op.in[i].rank, "%s input %u", op.kind->name, i);
                CHECK(ss_box_empty(&in) ||
                          (ss_box_intersect(&in, &all, &both) && ss_box_same(&in, &both)),
                      "%s input %u: outside", op.kind->name, i);
            }
        }
    }
}

/* A smaller output never needs more input. */
static void regions_grow_with_what_is_asked_for(void)
{
    for (uint32_t e = 0; e < n_examples; e++) {
        ss_op_def op;
        CHECK_OK(make_example(e, &op));
        ss_box whole = ss_box_whole(&op.out[0]), part, in_part, in_whole, both;
        uint32_t degree[SS_MAX_DIMS], k = 0;
        for (uint32_t d = 0; d < op.out[0].rank; d++)
            degree[d] = most_parts(&op, d, 3);
        for (bool last = false; !last;) {
            last = next_part(&op, degree, &k, &part);
            for (uint32_t i = 0; i < op.inputs; i++) {
                ss_op_input_box(&op, i, &part, &in_part);
                ss_op_input_box(&op, i, &whole, &in_whole);
                CHECK(ss_box_empty(&in_part) || (ss_box_intersect(&in_part, &in_whole, &both) &&
                                                 ss_box_same(&both, &in_part)),
                      "%s input %u part %u", examples[e].kind, i, k);
                /* tables of measured times are refused where this does not hold */
                CHECK(ss_box_empty(&in_part) ||
                          (in_part.lo[0] == part.lo[0] && in_part.hi[0] == part.hi[0]),
                      "%s input %u part %u: samples", examples[e].kind, i, k);
            }
        }
    }
}

int main(void)
{
    collect_examples();
    RUN(every_kind_has_an_example_and_help);
    RUN(every_example_is_well_formed);
    RUN(classes_say_whether_weights_are_split);
    RUN(every_split_adds_up_to_the_whole);
    RUN(every_split_covers_the_weights);
    RUN(regions_lie_inside_the_inputs);
    RUN(regions_grow_with_what_is_asked_for);
    return DONE();
}
