/* What is particular to each kind: refusals, shapes, regions, weights and work.
 *
 * Numbers come from the shapes by hand or from published tables: AlexNet's first layer (Krizhevsky
 * 2014), the general attention of Luong et al. 2015 over 40 steps with 1024 units, one layer of
 * GPT-3.  Windows are compared with a search pixel by pixel.
 */
#include "graph/op.h"

#include <math.h>

#include "base/hash.h"
#include "check.h"
#include "op_make.h"

#define ONE(op, kind, attrs, ...) make(&(op), kind, attrs, 1, (ss_shape[]){SHAPE(__VA_ARGS__)})

static void refuse(const char *kind, const char *attrs, uint32_t inputs, const ss_shape *in,
                   const char *words, int line)
{
    ss_op_def op;
    ss_status s = make(&op, kind, attrs, inputs, in);
    if (!s || !strstr(err.text, words)) {
        printf("  line %d: %s was %s: %s\n", line, kind, s ? "refused" : "accepted", err.text);
        check_this_failed = 1;
    }
}

#define REFUSED(kind, attrs, words, ...)                                                           \
    refuse(kind, attrs, 1, (ss_shape[]){SHAPE(__VA_ARGS__)}, words, __LINE__)
#define REFUSED2(kind, attrs, words, ...)                                                          \
    refuse(kind, attrs, 2, (ss_shape[]){__VA_ARGS__}, words, __LINE__)

static void what_makes_no_sense_is_refused(void)
{
    REFUSED("conv2d", "", "out is missing: output channels", 5, 3, 9, 9);
    REFUSED("conv2d", "out=0 kernel_h=3 kernel_w=3", "out is 0: it goes from 1", 5, 3, 9, 9);
    REFUSED("conv2d", "out=4 kernel_h=3 kernel_w=3 stride_h=0", "stride_h is 0", 5, 3, 9, 9);
    REFUSED("conv2d", "out=4 kernel_h=3 kernel_w=3 stride_h=-2", "stride_h is -2", 5, 3, 9, 9);
    REFUSED("conv2d", "out=4 kernel_h=3 kernel_w=11 padding_w=0",
            "kernel of 11 does not fit in a width of 9", 5, 3, 9, 9);
    REFUSED("conv2d", "out=4 kernel_h=3 kernel_w=3 groups=2", "2 groups do not divide 3 input", 5,
            3, 9, 9);
    REFUSED("conv2d", "out=4 kernel_h=3 kernel_w=3", "its input is 5x27: it reads images", 5, 27);
    REFUSED("pool2d", "kernel_h=3 kernel_w=3 padding_h=2", "more than half", 5, 3, 9, 9);
    REFUSED("linear", "out=4", "its input is 5: it reads features", 5);
    REFUSED("linear", "out=4", "flatten images first, or use conv2d", 5, 3, 9, 9);
    REFUSED("embedding", "vocab=9 out=4", "indices are integers", 5, 3, 9);
    REFUSED("embedding", "vocab=9 out=4", "indices are integers", 5, 7);
    REFUSED("concat", "axis=l", "axis is \"l\"", 5, 3, 9, 9);
    REFUSED("slice", "axis=w start=5 size=5", "5 elements from 5 on are not within the 9 of w", 5,
            3, 9, 9);
    REFUSED("select", "index=9", "positions 0 to 8", 5, 9, 3);
    REFUSED("position", "positions=8", "9 positions and the table 8", 5, 9, 3);
    REFUSED("multihead_attention", "heads=5", "36 channels are not", 5, 9, 36);
    REFUSED("conv_transpose2d", "out=4 kernel_h=1 kernel_w=1 padding_h=5",
            "leaves nothing of the height", 5, 3, 9, 9);
    REFUSED("layer_norm", "", "its input is 5, which has samples and nothing else", 5);
    REFUSED("lstm", "hidden=4", "it reads sequences", 5, 9);
    REFUSED("flatten", "", "its input is 5", 5);
    REFUSED("relu", "", "dimension 2 has no elements", 5, 0);
}

static void inputs_that_do_not_fit_together_are_refused(void)
{
    ss_shape half = SHAPE(5, 9, 12), words = SHAPE(5, 9);
    half.dtype = SS_F16;
    words.dtype = SS_I32;
    REFUSED2("add", "", "input 2 is f32 5x8 and input 1 is f32 5x7", SHAPE(5, 7), SHAPE(5, 8));
    REFUSED2("add", "", "input 2 is f16 and input 1 is f32", SHAPE(5, 9, 12), half);
    REFUSED2("add", "", "input 1 holds integers (i32)", words, words);
    REFUSED2("relu", "", "2 inputs were given: it takes 1", SHAPE(5, 7), SHAPE(5, 7));
    REFUSED("mul", "", "1 inputs were given: it takes 2 to 64", 5, 7);
    REFUSED2("concat", "axis=c", "they may differ along c alone", SHAPE(5, 3, 9, 9),
             SHAPE(5, 3, 9, 8));
    REFUSED2("lstm", "hidden=4", "x, or x and both states", SHAPE(5, 7, 3), SHAPE(5, 1, 4));
    REFUSED2("attention", "", "the number of steps alone", SHAPE(5, 7, 3), SHAPE(5, 7, 4));
    REFUSED2("multihead_attention", "heads=2", "twice the channels", SHAPE(5, 7, 4),
             SHAPE(5, 7, 12));
    REFUSED2("multihead_attention", "heads=2 causal=true", "q has 7 positions and kv only 6",
             SHAPE(5, 7, 4), SHAPE(5, 6, 8));
    ss_shape three[] = {SHAPE(5, 7, 3), SHAPE(5, 1, 4), SHAPE(4, 1, 4)};
    refuse("lstm", "hidden=4", 3, three, "input 3 (cx) is 4x1x4: a state is 5 x steps x 4",
           __LINE__);
}

static void sizes_beyond_reason_are_refused(void)
{
    REFUSED("linear", "out=1099511627776", "its output would be", 2097152, 1048576);
    REFUSED("linear", "out=1099511627777", "out is 1099511627777: it goes from 1 to", 8, 8);
    REFUSED("upsample2d", "factor_h=1048576 factor_w=1048576", "more than 2^62 bytes", 1, 1,
            1048576, 1048576);
    REFUSED2("concat", "axis=c", "more than 2^62 bytes", SHAPE(1, INT64_C(1) << 59),
             SHAPE(1, INT64_C(1) << 60));
}

static void attributes_are_read_from_text(void)
{
    const ss_op_kind *k = ss_op_kind_find("conv2d");
    int64_t x;
    CHECK(ss_op_kind_attrs(k) == 11);
    CHECK_OK(ss_attr_parse(&k->attr[10], "tanh", &x, &err));
    CHECK(x == 3);
    CHECK(ss_attr_parse(&k->attr[10], "rleu", &x, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "activation is \"rleu\": did you mean \"relu\"?");
    CHECK(ss_attr_parse(&k->attr[10], "softmax", &x, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "none|relu|gelu|tanh|sigmoid");
    CHECK_OK(ss_attr_parse(&k->attr[8], "false", &x, &err));
    CHECK(x == 0);
    CHECK(ss_attr_parse(&k->attr[8], "maybe", &x, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "one of true|false is wanted");
    CHECK(ss_attr_parse(&k->attr[0], "12 channels", &x, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "a whole number is wanted");
    CHECK(ss_attr_parse(&k->attr[0], "99999999999999999999", &x, &err) == SS_EINVAL);
    CHECK(ss_attr_parse(&k->attr[0], "", &x, &err) == SS_EINVAL);
    char text[SS_ATTR_TEXT];
    CHECK(!strcmp(ss_attr_text(&k->attr[10], 4, text, sizeof text), "sigmoid"));
    CHECK(!strcmp(ss_attr_text(&k->attr[8], 0, text, sizeof text), "false"));
    CHECK(!strcmp(ss_attr_text(&k->attr[0], INT64_MIN, text, sizeof text), "-9223372036854775808"));
}

/* Windows */

static bool is_shape(const ss_shape *s, ss_shape wanted)
{
    return ss_shape_same(s, &wanted);
}

static ss_work work_of(const ss_op_def *op, ss_phase phase, bool input_gradient)
{
    ss_box whole = ss_box_whole(&op->out[0]);
    ss_work w;
    ss_op_work(op, phase, input_gradient, &whole, &w);
    return w;
}

static int64_t parameters(const ss_op_def *op)
{
    int64_t n = 0;
    for (uint32_t w = 0; w < op->weights; w++)
        n += ss_shape_elements(&op->weight[w].shape);
    return n;
}

static void the_first_layer_of_alexnet_is_right(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "conv2d",
                 "out=64 kernel_h=11 kernel_w=11 stride_h=4 stride_w=4 padding_h=2 padding_w=2", 7,
                 3, 224, 224));
    CHECK(is_shape(&op.out[0], SHAPE(7, 64, 55, 55)));
    CHECK(parameters(&op) == 23296);
    CHECK(work_of(&op, SS_FORWARD, true).macs == 7 * 70276800.0);
    CHECK(work_of(&op, SS_FORWARD, true).flops == 7 * (2 * 70276800.0 + 64 * 55 * 55));
    CHECK(work_of(&op, SS_BACKWARD, false).macs == 7 * 70276800.0);
    CHECK(work_of(&op, SS_BACKWARD, true).macs == 2 * 7 * 70276800.0);
    CHECK(op.keeps_input && !op.keeps_output);
    double in = 7 * 3 * 224 * 224 * 4.0, out = 7 * 64 * 55 * 55 * 4.0, w = 23296 * 4.0;
    CHECK(work_of(&op, SS_FORWARD, true).bytes == in + w + out);
    CHECK(work_of(&op, SS_BACKWARD, false).bytes == in + out + w);
    CHECK(work_of(&op, SS_BACKWARD, true).bytes == 2 * in + out + 2 * w);
}

/* The rows of an input that a range of output rows needs, by trying each: `transposed`: input row i
 * reaches output rows i*s - p + 0 .. k-1; otherwise output row y sees rows y*s - p + 0 .. k-1. */
static bool rows_needed(bool transposed, int64_t k, int64_t s, int64_t p, int64_t extent,
                        const ss_box *main, int64_t *lo, int64_t *hi)
{
    *lo = *hi = -1;
    for (int64_t i = 0; i < extent; i++)
        for (int64_t y = main->lo[2]; y < main->hi[2]; y++) {
            int64_t at = transposed ? y - (i * s - p) : i - (y * s - p);
            if (at < 0 || at >= k)
                continue;
            if (*lo < 0)
                *lo = i;
            *hi = i + 1;
        }
    return *lo >= 0;
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = ss_hash_mix(*seed + 1);
    return (uint32_t)(*seed % below);
}

static void window_regions_equal_a_search_pixel_by_pixel(void)
{
    uint64_t seed = 20180414;
    printf("  seed %llu\n", (unsigned long long)seed);
    uint32_t tried = 0, empty = 0, clipped = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        static const char *const kinds[] = {"conv2d", "pool2d", "conv_transpose2d"};
        uint32_t which = draw(&seed, 3);
        int k = 1 + (int)draw(&seed, 6), s = 1 + (int)draw(&seed, 4);
        int p = (int)draw(&seed, which == 1 ? (uint32_t)k / 2 + 1 : 7);
        int64_t extent = 1 + draw(&seed, 14), lo, hi;
        char attrs[128];
        snprintf(attrs, sizeof attrs, "%skernel_h=%d kernel_w=1 stride_h=%d padding_h=%d",
                 which == 1 ? "" : "out=2 ", k, s, p);
        ss_op_def op;
        if (ONE(op, kinds[which], attrs, 2, 2, extent, 3))
            continue; /* the window does not fit */
        ss_box main = ss_box_whole(&op.out[0]), in;
        main.lo[2] = draw(&seed, (uint32_t)main.hi[2]);
        main.hi[2] = main.lo[2] + 1 + draw(&seed, (uint32_t)(main.hi[2] - main.lo[2]));
        ss_op_input_box(&op, 0, &main, &in);
        bool any = rows_needed(which == 2, k, s, p, extent, &main, &lo, &hi);
        CHECK(any != ss_box_empty(&in), "round %u: %s %s of %d, rows %d to %d", round, kinds[which],
              attrs, (int)extent, (int)main.lo[2], (int)main.hi[2]);
        CHECK(!any || (in.lo[2] == lo && in.hi[2] == hi),
              "round %u: %s %s of %d, rows %d to %d need %d to %d, not %d to %d", round,
              kinds[which], attrs, (int)extent, (int)main.lo[2], (int)main.hi[2], (int)lo, (int)hi,
              (int)in.lo[2], (int)in.hi[2]);
        tried++;
        empty += !any;
        clipped += any && lo == 0 && hi < extent;
    }
    CHECK(tried > 10000 && empty > 100 && clipped > 1000, "%u tried, %u empty, %u clipped", tried,
          empty, clipped);
}

static void neighbouring_parts_of_a_3x3_convolution_share_two_rows(void)
{
    ss_op_def op;
    CHECK_OK(
        ONE(op, "conv2d", "out=5 kernel_h=3 kernel_w=3 padding_h=1 padding_w=1", 2, 4, 12, 10));
    ss_box top = ss_box_whole(&op.out[0]), bottom = top, a, b, both;
    top.hi[2] = bottom.lo[2] = 6;
    ss_op_input_box(&op, 0, &top, &a);
    ss_op_input_box(&op, 0, &bottom, &b);
    CHECK(a.lo[2] == 0 && a.hi[2] == 7 && b.lo[2] == 5 && b.hi[2] == 12);
    CHECK(ss_box_intersect(&a, &b, &both) && both.hi[2] - both.lo[2] == 2);
    CHECK(a.hi[1] == 4 && a.lo[3] == 0 && a.hi[3] == 10);
}

static void grouped_convolutions_read_the_groups_they_touch(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "conv2d", "out=12 kernel_h=1 kernel_w=1 groups=4", 2, 20, 3, 3));
    CHECK(is_shape(&op.weight[0].shape, SHAPE(12, 5, 1, 1)));
    ss_box main = ss_box_whole(&op.out[0]), in;
    main.lo[1] = 4;
    main.hi[1] = 7; /* groups 1 and 2 */
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.lo[1] == 5 && in.hi[1] == 15);
    CHECK(work_of(&op, SS_FORWARD, true).macs == 2 * 12 * 9 * 5);
    CHECK_OK(ONE(op, "conv2d", "out=20 kernel_h=3 kernel_w=3 groups=20", 2, 20, 3, 3));
    main = ss_box_whole(&op.out[0]);
    main.lo[1] = 19;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.lo[1] == 19 && in.hi[1] == 20, "depthwise");
}

static void the_weights_of_a_part_are_those_of_its_channels(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "conv2d", "out=10 kernel_h=1 kernel_w=7 norm=batch", 4, 6, 9, 9));
    CHECK(op.weights == 4 && parameters(&op) == 10 * 6 * 7 + 3 * 10);
    ss_box part = ss_box_whole(&op.out[0]), w;
    part.lo[1] = 3;
    part.hi[1] = 7;
    part.lo[0] = 2;
    ss_op_weight_box(&op, 0, &part, &w);
    CHECK(w.rank == 4 && w.lo[0] == 3 && w.hi[0] == 7 && ss_box_elements(&w) == 4 * 42);
    ss_op_weight_box(&op, 2, &part, &w);
    CHECK(w.rank == 1 && w.lo[0] == 3 && w.hi[0] == 7);
}

static void what_fused_functions_need_is_kept(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "conv2d", "out=4 kernel_h=1 kernel_w=1 activation=relu", 2, 3, 5, 5));
    ss_box whole = ss_box_whole(&op.out[0]);
    CHECK(op.keeps_output && ss_op_saved_bytes(&op, &whole) == 0);
    CHECK_OK(
        ONE(op, "conv2d", "out=4 kernel_h=1 kernel_w=1 norm=batch activation=gelu", 2, 3, 5, 5));
    CHECK(op.keeps_output && ss_op_saved_bytes(&op, &whole) == 2 * 4 * 200);
    CHECK_OK(ONE(op, "pool2d", "type=max kernel_h=2 kernel_w=2", 2, 3, 4, 4));
    CHECK(op.keeps_input && op.keeps_output);
    CHECK_OK(ONE(op, "pool2d", "type=avg kernel_h=2 kernel_w=2", 2, 3, 4, 4));
    CHECK(!op.keeps_input && !op.keeps_output);
    CHECK(op.attr[3] == 2 && op.attr[4] == 2, "strides are the window's");
}

static void a_transposed_convolution_undoes_the_shape_of_its_convolution(void)
{
    ss_op_def down, up;
    CHECK_OK(ONE(down, "conv2d", "out=8 kernel_h=4 kernel_w=2 stride_h=2 stride_w=2 padding_h=1", 3,
                 5, 12, 18));
    CHECK_OK(make(&up, "conv_transpose2d",
                  "out=5 kernel_h=4 kernel_w=2 stride_h=2 stride_w=2 padding_h=1", 1, down.out));
    CHECK(ss_shape_same(&up.out[0], &down.in[0]));
    CHECK_OK(ONE(up, "conv_transpose2d", "out=64 kernel_h=2 kernel_w=2 stride_h=2 stride_w=2", 1,
                 128, 28, 30));
    CHECK(work_of(&up, SS_FORWARD, true).macs == 128.0 * 28 * 30 * 64 * 4);
    CHECK(is_shape(&up.out[0], SHAPE(1, 64, 56, 60)) && parameters(&up) == 128 * 64 * 4 + 64);
}

static void upsampling_reads_the_pixels_under_a_box(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "upsample2d", "factor_h=3 factor_w=2", 1, 2, 5, 5));
    ss_box main = {.rank = 4, .lo = {0, 1, 4, 3}, .hi = {1, 2, 7, 8}}, in;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.lo[1] == 1 && in.hi[1] == 2);
    CHECK(in.lo[2] == 1 && in.hi[2] == 3 && in.lo[3] == 1 && in.hi[3] == 4);
}

static void rms_norm_has_a_scale_and_keeps_channels_whole(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "rms_norm", "", 2, 7, 48));
    CHECK(parameters(&op) == 48 && op.dim[2].cls == SS_DIM_WHOLE && op.keeps_input);
    CHECK(work_of(&op, SS_FORWARD, true).flops == 5 * 2 * 7 * 48);
}

/* Shapes */

static void concatenation_shifts_each_input(void)
{
    ss_op_def op;
    ss_shape in[] = {SHAPE(2, 3, 5, 5), SHAPE(2, 4, 5, 5), SHAPE(2, 1, 5, 5)};
    CHECK_OK(make(&op, "concat", "axis=c", 3, in));
    CHECK(is_shape(&op.out[0], SHAPE(2, 8, 5, 5)));
    ss_box main = ss_box_whole(&op.out[0]), x;
    main.lo[1] = 2;
    main.hi[1] = 6;
    ss_op_input_box(&op, 0, &main, &x);
    CHECK(x.lo[1] == 2 && x.hi[1] == 3);
    ss_op_input_box(&op, 1, &main, &x);
    CHECK(x.lo[1] == 0 && x.hi[1] == 3);
    ss_op_input_box(&op, 2, &main, &x);
    CHECK(ss_box_empty(&x));
    CHECK(work_of(&op, SS_FORWARD, true).flops == 0 &&
          work_of(&op, SS_FORWARD, true).bytes == 2 * 4 * 400);
    CHECK(work_of(&op, SS_BACKWARD, true).flops == 0 &&
          work_of(&op, SS_BACKWARD, true).bytes == 2 * 4 * 400);
    CHECK_OK(make(&op, "concat", "axis=l", 2, (ss_shape[]){SHAPE(2, 8, 5), SHAPE(2, 8, 5)}));
    CHECK(op.out[0].extent[1] == 16 && op.dim[1].cls == SS_DIM_ATTRIBUTE);
}

static void flattening_splits_along_whole_channels(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "flatten", "", 2, 256, 6, 6));
    CHECK(is_shape(&op.out[0], SHAPE(2, 9216)) && op.dim[1].grain == 36);
    ss_box main = ss_box_whole(&op.out[0]), in;
    main.lo[1] = 36 * 85;
    main.hi[1] = 36 * 171;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.rank == 4 && in.lo[1] == 85 && in.hi[1] == 171 && in.lo[2] == 0 && in.hi[3] == 6);
    ss_work w = work_of(&op, SS_FORWARD, true);
    CHECK(w.macs == 0 && w.flops == 0 && w.bytes == 0, "a view");
}

static void slices_and_selections_are_offset(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "slice", "axis=w start=3 size=4", 2, 3, 5, 9));
    CHECK(is_shape(&op.out[0], SHAPE(2, 3, 5, 4)));
    ss_box main = ss_box_whole(&op.out[0]), in;
    main.lo[3] = 1;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.lo[3] == 4 && in.hi[3] == 7 && in.lo[2] == 0 && in.hi[2] == 5);
    CHECK_OK(ONE(op, "select", "", 2, 40, 7));
    CHECK(is_shape(&op.out[0], SHAPE(2, 7)) && op.attr[0] == 39);
    main = ss_box_whole(&op.out[0]);
    main.lo[1] = 2;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.rank == 3 && in.lo[1] == 39 && in.hi[1] == 40 && in.lo[2] == 2 && in.hi[2] == 7);
    CHECK_OK(ONE(op, "to_sequence", "", 2, 7, 5, 3));
    CHECK(is_shape(&op.out[0], SHAPE(2, 15, 7)) && op.dim[1].grain == 3);
    main = (ss_box){.rank = 3, .lo = {0, 6, 1}, .hi = {2, 12, 4}};
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.lo[1] == 1 && in.hi[1] == 4 && in.lo[2] == 2 && in.hi[2] == 4 && in.hi[3] == 3);
}

/* Weights times features */

static void a_linear_layer_reads_all_features(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "linear", "out=11 activation=gelu", 3, 5, 7));
    CHECK(is_shape(&op.out[0], SHAPE(3, 5, 11)) && is_shape(&op.weight[0].shape, SHAPE(11, 7)));
    CHECK(op.dim[1].cls == SS_DIM_ATTRIBUTE && op.dim[2].cls == SS_DIM_PARAMETER);
    ss_box main = {.rank = 3, .lo = {1, 2, 4}, .hi = {3, 4, 9}}, in, w;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.lo[0] == 1 && in.hi[0] == 3 && in.lo[1] == 2 && in.hi[1] == 4);
    CHECK(in.lo[2] == 0 && in.hi[2] == 7);
    ss_op_weight_box(&op, 0, &main, &w);
    CHECK(w.lo[0] == 4 && w.hi[0] == 9 && w.lo[1] == 0 && w.hi[1] == 7);
    CHECK(ss_op_saved_bytes(&op, &main) == 4 * 2 * 2 * 5);
    ss_work f = work_of(&op, SS_FORWARD, true);
    CHECK(f.macs == 3 * 5 * 11 * 7 && f.flops == 2 * f.macs + 165 * (1 + 9));
    ss_box nothing = main;
    nothing.hi[1] = nothing.lo[1];
    ss_op_work(&op, SS_FORWARD, true, &nothing, &f);
    CHECK(f.flops == 0 && f.bytes == 0);
}

static void losses_start_the_gradient(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "linear_softmax", "out=32000 bias=false", 2, 8, 1024));
    CHECK(op.kind->is_loss && op.dim[2].cls == SS_DIM_PARAMETER && parameters(&op) == 32768000);
    ss_work f = work_of(&op, SS_FORWARD, true), b = work_of(&op, SS_BACKWARD, true);
    CHECK(f.macs == 16.0 * 32768000 && b.macs == 2 * f.macs);
    double in = 16 * 1024 * 4.0, out = 16 * 32000 * 4.0, w = 4 * 32768000.0;
    CHECK(f.bytes == in + w + out && b.bytes == w + (in + w) + in + out, "no gradient comes in");
    CHECK_OK(ONE(op, "softmax_cross_entropy", "", 2, 8, 1000));
    CHECK(op.kind->is_loss && op.dim[2].cls == SS_DIM_WHOLE && op.dim[1].cls == SS_DIM_ATTRIBUTE);
    CHECK(work_of(&op, SS_BACKWARD, true).flops == 16000 &&
          work_of(&op, SS_FORWARD, true).flops == 5 * 16000);
    CHECK_OK(ONE(op, "softmax_cross_entropy", "", 2, 21, 8, 9));
    CHECK(op.dim[1].cls == SS_DIM_WHOLE && op.dim[2].cls == SS_DIM_ATTRIBUTE, "pixels of an image");
    CHECK_OK(ONE(op, "softmax", "", 2, 8, 1000));
    CHECK(!op.kind->is_loss);
}

static void an_embedding_reads_only_its_rows(void)
{
    ss_op_def op;
    ss_shape words = SHAPE(4, 8);
    words.dtype = SS_I32;
    CHECK_OK(make(&op, "embedding", "vocab=32000 out=1024 dtype=bf16", 1, &words));
    CHECK(op.out[0].dtype == SS_BF16 && op.weight[0].shape.dtype == SS_BF16);
    CHECK(parameters(&op) == 32768000 && op.dim[2].cls == SS_DIM_PARAMETER);
    ss_work f = work_of(&op, SS_FORWARD, true), b = work_of(&op, SS_BACKWARD, true);
    CHECK(f.macs == 0 && f.bytes == 4 * 8 * 4 + 2 * (32 * 1024 * 2.0));
    CHECK(b.flops == 32 * 1024 && b.bytes == 4 * 8 * 4 + 2 * (32 * 1024 * 2.0));
    ss_box main = {.rank = 3, .lo = {1, 2, 512}, .hi = {3, 7, 700}}, in, w;
    ss_op_input_box(&op, 0, &main, &in);
    CHECK(in.rank == 2 && in.lo[0] == 1 && in.hi[1] == 7);
    ss_op_weight_box(&op, 0, &main, &w);
    CHECK(w.lo[0] == 0 && w.hi[0] == 32000 && w.lo[1] == 512 && w.hi[1] == 700);
}

static void positions_are_split_with_the_sequence_if_the_table_fits(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "position", "", 3, 128, 64));
    CHECK(op.dim[1].cls == SS_DIM_PARAMETER && parameters(&op) == 128 * 64);
    CHECK_OK(ONE(op, "position", "positions=512", 3, 128, 64));
    CHECK(op.dim[1].cls == SS_DIM_ATTRIBUTE && parameters(&op) == 512 * 64);
}

/* Recurrence and attention */

static void an_lstm_block_has_three_outputs(void)
{
    ss_op_def op;
    ss_shape in[] = {SHAPE(64, 8, 1024), SHAPE(64, 1, 1024), SHAPE(64, 1, 1024)};
    CHECK_OK(make(&op, "lstm", "hidden=1024", 3, in));
    CHECK(op.outputs == 3 && is_shape(&op.out[0], in[0]) && is_shape(&op.out[2], in[1]));
    CHECK(parameters(&op) == 8388608, "8 H^2");
    CHECK(work_of(&op, SS_FORWARD, true).macs == 64 * 8 * 8388608.0);
    CHECK(op.dim[1].cls == SS_DIM_WHOLE && op.dim[2].cls == SS_DIM_WHOLE);
    ss_box main = ss_box_whole(&op.out[0]), x;
    main.lo[0] = 16;
    main.hi[0] = 33;
    ss_op_output_box(&op, 2, &main, &x);
    CHECK(x.lo[0] == 16 && x.hi[0] == 33 && x.hi[1] == 1 && x.hi[2] == 1024);
    ss_op_output_box(&op, 0, &main, &x);
    CHECK(ss_box_same(&x, &main));
    ss_op_input_box(&op, 1, &main, &x);
    CHECK(x.lo[0] == 16 && x.hi[0] == 33 && ss_box_elements(&x) == 17 * 1024);
    CHECK_OK(make(&op, "lstm", "hidden=1024 bias=true state_steps=8", 3, in));
    CHECK(parameters(&op) == 8388608 + 8192 && op.out[1].extent[1] == 8);
    CHECK(ss_op_saved_bytes(&op, &main) == 5.0 * 4 * 17 * 8 * 1024);
}

static void luong_attention_has_the_published_work(void)
{
    ss_op_def op;
    ss_shape in[] = {SHAPE(1, 40, 1024), SHAPE(1, 40, 1024)};
    CHECK_OK(make(&op, "attention", "", 2, in));
    CHECK(parameters(&op) == 3145728 && work_of(&op, SS_FORWARD, true).macs == 129105920);
    CHECK(work_of(&op, SS_BACKWARD, true).macs == 2 * 129105920);
    ss_shape blocks[] = {SHAPE(1, 8, 1024), SHAPE(1, 8, 1024), SHAPE(1, 8, 1024),
                         SHAPE(1, 8, 1024), SHAPE(1, 8, 1024), SHAPE(1, 8, 1024)};
    CHECK_OK(make(&op, "attention", "", 6, blocks));
    CHECK(work_of(&op, SS_FORWARD, true).macs == 129105920 / 5, "8 of the 40 steps");
    ss_box main = ss_box_whole(&op.out[0]), x;
    main.lo[1] = 3;
    main.hi[1] = 5;
    ss_op_input_box(&op, 0, &main, &x);
    CHECK(x.lo[1] == 3 && x.hi[1] == 5);
    ss_op_input_box(&op, 4, &main, &x);
    CHECK(x.lo[1] == 0 && x.hi[1] == 8);
}

static void a_range_of_heads_is_a_range_of_packed_channels(void)
{
    ss_op_def op;
    CHECK_OK(ONE(op, "multihead_attention", "heads=6", 2, 10, 6 * 3 * 4));
    CHECK(is_shape(&op.out[0], SHAPE(2, 10, 24)) && op.dim[2].grain == 4);
    ss_box main = {.rank = 3, .lo = {0, 0, 8}, .hi = {2, 10, 16}}, x;
    ss_op_input_box(&op, 0, &main, &x);
    CHECK(x.lo[2] == 24 && x.hi[2] == 48 && x.lo[1] == 0 && x.hi[1] == 10);
    CHECK_OK(make(&op, "multihead_attention", "heads=6 causal=true", 2,
                  (ss_shape[]){SHAPE(2, 10, 24), SHAPE(2, 14, 48)}));
    main.lo[1] = 3;
    main.hi[1] = 6;
    ss_op_input_box(&op, 0, &main, &x);
    CHECK(x.lo[1] == 3 && x.hi[1] == 6 && x.lo[2] == 8 && x.hi[2] == 16);
    ss_op_input_box(&op, 1, &main, &x);
    CHECK(x.lo[1] == 0 && x.hi[1] == 10 && x.lo[2] == 16 && x.hi[2] == 32, "4 older keys, and 6");
}

/* Two products of l x l x h, of which a causal fused kernel works out the half with the diagonal.
 */
static void attention_between_all_positions_is_counted_pair_by_pair(void)
{
    ss_op_def op;
    enum { L = 2048, H = 12288 };
    double square = (double)L * L * H;
    CHECK_OK(ONE(op, "multihead_attention", "heads=96", 1, L, 3 * H));
    CHECK(work_of(&op, SS_FORWARD, true).macs == 2 * square);
    CHECK(work_of(&op, SS_BACKWARD, true).macs == 5 * square, "4 products and the scores again");
    CHECK(work_of(&op, SS_BACKWARD, false).flops == 0);
    CHECK_OK(ONE(op, "multihead_attention", "heads=96 causal=true", 1, L, 3 * H));
    CHECK(work_of(&op, SS_FORWARD, true).macs == (double)L * (L + 1) * H);
    ss_box whole = ss_box_whole(&op.out[0]);
    CHECK(ss_op_saved_bytes(&op, &whole) == 4.0 * L * 96);
    CHECK_OK(ONE(op, "multihead_attention", "heads=96 causal=true fused=false", 1, L, 3 * H));
    CHECK(work_of(&op, SS_FORWARD, true).macs == 2 * square);
    CHECK(work_of(&op, SS_BACKWARD, true).macs == 4 * square);
    CHECK(ss_op_saved_bytes(&op, &whole) == 4.0 * L * L * 96);
    double plain = 4.0 * L * 3 * H + 4.0 * L * H + 4.0 * L * L * 96;
    CHECK(work_of(&op, SS_FORWARD, true).bytes == plain + 4 * 4.0 * L * L * 96);
}

static void sums_pass_their_gradient_on(void)
{
    ss_op_def op;
    ss_shape in[] = {SHAPE(5, 7), SHAPE(5, 7), SHAPE(5, 7)};
    CHECK_OK(make(&op, "add", "", 3, in));
    CHECK(work_of(&op, SS_FORWARD, true).flops == 70 && work_of(&op, SS_BACKWARD, true).flops == 0);
    CHECK(!op.keeps_input && !op.keeps_output);
    CHECK_OK(make(&op, "add", "activation=relu", 3, in));
    CHECK(work_of(&op, SS_FORWARD, true).flops == 105 &&
          work_of(&op, SS_BACKWARD, true).flops == 35);
    CHECK(!op.keeps_input && op.keeps_output);
    CHECK_OK(make(&op, "mul", "", 3, in));
    CHECK(work_of(&op, SS_BACKWARD, true).flops == 6 * 35 && op.keeps_input);
    CHECK_OK(ONE(op, "dropout", "", 5, 7));
    ss_box whole = ss_box_whole(&op.out[0]);
    CHECK(ss_op_saved_bytes(&op, &whole) == 35);
}

int main(void)
{
    RUN(what_makes_no_sense_is_refused);
    RUN(inputs_that_do_not_fit_together_are_refused);
    RUN(sizes_beyond_reason_are_refused);
    RUN(attributes_are_read_from_text);
    RUN(the_first_layer_of_alexnet_is_right);
    RUN(window_regions_equal_a_search_pixel_by_pixel);
    RUN(neighbouring_parts_of_a_3x3_convolution_share_two_rows);
    RUN(grouped_convolutions_read_the_groups_they_touch);
    RUN(the_weights_of_a_part_are_those_of_its_channels);
    RUN(what_fused_functions_need_is_kept);
    RUN(a_transposed_convolution_undoes_the_shape_of_its_convolution);
    RUN(upsampling_reads_the_pixels_under_a_box);
    RUN(rms_norm_has_a_scale_and_keeps_channels_whole);
    RUN(concatenation_shifts_each_input);
    RUN(flattening_splits_along_whole_channels);
    RUN(slices_and_selections_are_offset);
    RUN(a_linear_layer_reads_all_features);
    RUN(losses_start_the_gradient);
    RUN(an_embedding_reads_only_its_rows);
    RUN(positions_are_split_with_the_sequence_if_the_table_fits);
    RUN(an_lstm_block_has_three_outputs);
    RUN(luong_attention_has_the_published_work);
    RUN(a_range_of_heads_is_a_range_of_packed_channels);
    RUN(attention_between_all_positions_is_counted_pair_by_pair);
    RUN(sums_pass_their_gradient_on);
    return DONE();
}
