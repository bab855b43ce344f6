/* test_kernels.c - kernels with oneDNN: making, refusing, memory; numbers small enough to follow. */
#include "config.h"

#include <dirent.h>
#include <math.h>

#include "base/mem.h"
#include "validation/operators/onednn.h"

#include "check.h"
#include "op_make.h"

static ss_kernels *kernels;

static ss_status make_whole(const ss_op_def *op, ss_kernel **k)
{
    ss_box whole = ss_box_whole(&op->out[0]);
    ss_kernel_maker m = ss_kernels_maker(kernels);
    return m.make(m.context, op, &whole, k, &err);
}

static bool near(float got, float wanted)
{
    return fabsf(got - wanted) < 1e-5f;
}

/* As SHAPE, for a constant. */
#define IN(...)                                                                                    \
    {                                                                                              \
        .dtype = SS_F32, .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .extent = {   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* y = relu(x w' + b) of 2 rows, by hand. */
static void linear_is_what_it_says(void)
{
    const float x[2][3] = {{1, 2, 3}, {-1, 0.5f, 2}}, w[2][3] = {{2, -1, 0.5f}, {-3, 1, 0.25f}},
                b[2] = {0.5f, -0.25f};
    const float dy[2][2] = {{3, 7}, {-2, 11}};
    float y[2][2], dx[2][3], dw[2][3] = {{100}}, db[2] = {10, 20};
    ss_op_def op;
    CHECK_OK(make(&op, "linear", "out=2 activation=relu", 1, (ss_shape[]){SHAPE(2, 3)}));
    ss_kernel *k;
    CHECK_OK(make_whole(&op, &k));
    ss_kernel_io io = {.in = {x}, .weight = {&w[0][0], b}, .out = {&y[0][0]}};
    CHECK_OK(k->forward(k, &io, &err));
    CHECK(y[0][0] == 2 && y[0][1] == 0, "%g %g", y[0][0], y[0][1]);
    CHECK(y[1][0] == 0 && y[1][1] == 3.75f, "%g %g", y[1][0], y[1][1]);
    io.out_gradient[0] = &dy[0][0];
    io.in_gradient[0] = &dx[0][0];
    io.weight_gradient[0] = &dw[0][0];
    io.weight_gradient[1] = db;
    io.add_weight_gradient = true;
    CHECK_OK(k->backward(k, &io, SS_OF_INPUTS | SS_OF_WEIGHTS, &err));
    CHECK(dx[0][0] == 6 && dx[0][1] == -3 && dx[1][0] == -33 && dx[1][2] == 2.75f, "%g", dx[0][0]);
    CHECK(dw[0][0] == 103 && dw[0][2] == 9 && dw[1][1] == 5.5f, "%g", dw[0][0]);
    CHECK(db[0] == 13 && db[1] == 31, "%g %g", db[0], db[1]);
    ss_kernel_free(k);
}

static void without_a_gradient_there_is_none(void)
{
    float x[6] = {1, 2, 3, 4, 5, 6}, w[6] = {1, 2, 3, 4, 5, 6}, b[2] = {0}, y[4], dx[6] = {7},
          dw[6] = {7}, db[2] = {7, 7};
    ss_op_def op;
    CHECK_OK(make(&op, "linear", "out=2", 1, (ss_shape[]){SHAPE(2, 3)}));
    ss_kernel *k;
    CHECK_OK(make_whole(&op, &k));
    ss_kernel_io io = {.in = {x},
                       .weight = {w, b},
                       .out = {y},
                       .in_gradient = {dx},
                       .weight_gradient = {dw, NULL}};
    CHECK_OK(k->forward(k, &io, &err));
    CHECK_OK(k->backward(k, &io, SS_OF_INPUTS | SS_OF_WEIGHTS, &err));
    CHECK(dx[0] == 0 && dw[0] == 0 && db[0] == 7, "%g %g %g", dx[0], dw[0], db[0]);
    ss_kernel_free(k);
}

static void parts_that_make_no_sense_are_refused(void)
{
    ss_op_def op;
    CHECK_OK(make(&op, "linear", "out=4", 1, (ss_shape[]){SHAPE(2, 3)}));
    ss_kernel_maker m = ss_kernels_maker(kernels);
    ss_kernel *k;
    ss_box outside = ss_box_whole(&op.out[0]);
    outside.hi[1] = 5;
    CHECK(m.make(m.context, &op, &outside, &k, &err) == SS_EINVAL, "made");
    CHECK_TEXT(err.text, "0 to 5 in dimension c, which has 4");
    outside.hi[1] = outside.lo[1];
    CHECK(m.make(m.context, &op, &outside, &k, &err) == SS_EINVAL, "made of nothing");
}

static void split_classes_are_refused(void)
{
    ss_op_def op;
    CHECK_OK(make(&op, "linear_softmax", "out=4", 1, (ss_shape[]){SHAPE(2, 3)}));
    ss_kernel_maker m = ss_kernels_maker(kernels);
    ss_kernel *k;
    ss_box half = ss_box_whole(&op.out[0]);
    half.hi[1] = 2;
    CHECK(m.make(m.context, &op, &half, &k, &err) == SS_EUNSUPPORTED, "made");
    CHECK_TEXT(err.text, "exchange a maximum and a sum");
    CHECK_OK(make(&op, "softmax_cross_entropy", "", 1, (ss_shape[]){SHAPE(2, 4)}));
    CHECK(m.make(m.context, &op, &half, &k, &err) == SS_EINVAL, "made");
    CHECK_TEXT(err.text, "which stays whole");
}

static void heads_are_not_cut(void)
{
    ss_op_def op;
    CHECK_OK(make(&op, "multihead_attention", "heads=2", 1, (ss_shape[]){SHAPE(1, 2, 12)}));
    ss_kernel_maker m = ss_kernels_maker(kernels);
    ss_kernel *k;
    ss_box b = ss_box_whole(&op.out[0]);
    b.hi[2] = 3;
    CHECK(m.make(m.context, &op, &b, &k, &err) == SS_EINVAL, "made");
    CHECK_TEXT(err.text, "0 to 3 in dimension c, in grains of 2");
}

static void what_is_no_class_or_row_is_refused(void)
{
    ss_op_def op;
    ss_kernel *k;
    float x[6] = {0}, y[6];
    double loss;
    CHECK_OK(make(&op, "softmax_cross_entropy", "", 1, (ss_shape[]){SHAPE(2, 3)}));
    CHECK_OK(make_whole(&op, &k));
    ss_kernel_io io = {.in = {x}, .out = {y}, .label = (int32_t[]){2, 3}, .loss = &loss};
    CHECK(k->forward(k, &io, &err) == SS_EINVAL, "computed");
    CHECK_TEXT(err.text, "a label is 3: classes are 0 to 2");
    io.label = (int32_t[]){0, -1};
    CHECK(k->forward(k, &io, &err) == SS_EINVAL, "computed");
    ss_kernel_free(k);

    ss_shape indices = SHAPE(2);
    indices.dtype = SS_I32;
    CHECK_OK(make(&op, "embedding", "vocab=3 out=2", 1, &indices));
    CHECK_OK(make_whole(&op, &k));
    io = (ss_kernel_io){.in = {(int32_t[]){1, 3}}, .weight = {x}, .out = {y}};
    CHECK(k->forward(k, &io, &err) == SS_EINVAL, "computed");
    CHECK_TEXT(err.text, "an index is 3: the table has rows 0 to 2");
    ss_kernel_free(k);
}

/* softmax(0, ln 2, 0) = 1/4, 1/2, 1/4 and softmax(ln 2, ln 2, 0) = 2/5, 2/5, 1/5. */
static void a_loss_is_a_mean_over_positions_of_the_whole(void)
{
    const float ln2 = 0.693147181f, x[2][3] = {{0, ln2, 0}, {ln2, ln2, 0}};
    float y[2][3], dx[2][3];
    double loss;
    ss_op_def op;
    CHECK_OK(make(&op, "softmax_cross_entropy", "", 1, (ss_shape[]){SHAPE(8, 3)}));
    ss_box part = ss_box_whole(&op.out[0]);
    part.lo[0] = 4;
    part.hi[0] = 6;
    ss_kernel_maker m = ss_kernels_maker(kernels);
    ss_kernel *k;
    CHECK_OK(m.make(m.context, &op, &part, &k, &err));
    ss_kernel_io io = {.in = {x},
                       .out = {&y[0][0]},
                       .label = (int32_t[]){1, 2},
                       .loss = &loss,
                       .in_gradient = {&dx[0][0]}};
    CHECK_OK(k->forward(k, &io, &err));
    CHECK_OK(k->backward(k, &io, SS_OF_INPUTS, &err));
    double wanted = (log(2) + log(5)) / 8;
    CHECK(fabs(loss - wanted) < 1e-6, "%.9g and not %.9g", loss, wanted);
    CHECK(near(y[1][0], 0.4f), "%g", y[1][0]);
    CHECK(near(dx[0][1], -0.5f / 8) && near(dx[1][1], 0.4f / 8), "%g %g", dx[0][1], dx[1][1]);
    ss_kernel_free(k);
}

/* Gates in the order i, f, g, o; w has the input's columns before the state's; all biases but those of one gate
 * of the state are 0. */
static void an_lstm_step_is_what_it_says(void)
{
    const float x = 0.5f, hx = -0.25f, cx = 2, w[4][2] = {{1, 2}, {-1, 3}, {0.5f, -2}, {4, 1}},
                b[8] = {0, 0, 0, 0, 0, 0.125f, 0, 0};
    float y, hy[3], cy[3];
    ss_op_def op;
    CHECK_OK(make(&op, "lstm", "hidden=1 bias=true state_steps=3", 3,
                  (ss_shape[]){SHAPE(1, 1, 1), SHAPE(1, 1, 1), SHAPE(1, 1, 1)}));
    ss_kernel *k;
    CHECK_OK(make_whole(&op, &k));
    ss_kernel_io io = {.in = {&x, &hx, &cx}, .weight = {&w[0][0], b}, .out = {&y, hy, cy}};
    CHECK_OK(k->forward(k, &io, &err));
    double i = 1 / (1 + exp(0)), f = 1 / (1 + exp(1.125)), g = tanh(0.75), o = 1 / (1 + exp(-1.75));
    double c = f * 2 + i * g, h = o * tanh(c);
    CHECK(near(y, (float)h), "%g and not %g", y, h);
    for (int r = 0; r < 3; r++)
        CHECK(near(hy[r], (float)h) && near(cy[r], (float)c), "row %d: %g %g", r, hy[r], cy[r]);
    ss_kernel_free(k);
}

/* Queries and keys of 0 see all that they may see alike. */
static void values_are_packed_head_by_head(void)
{
    const float qkv[3][6] = {{0, 0, 1, 0, 0, 10}, {0, 0, 2, 0, 0, 20}, {0, 0, 6, 0, 0, 60}};
    float y[3][2];
    ss_op_def op;
    ss_kernel *k;
    ss_kernel_io io = {.in = {qkv}, .out = {&y[0][0]}};
    CHECK_OK(make(&op, "multihead_attention", "heads=2", 1, (ss_shape[]){SHAPE(1, 3, 6)}));
    CHECK_OK(make_whole(&op, &k));
    CHECK_OK(k->forward(k, &io, &err));
    for (int l = 0; l < 3; l++)
        CHECK(near(y[l][0], 3) && near(y[l][1], 30), "%g %g", y[l][0], y[l][1]);
    ss_kernel_free(k);

    static const char *const ways[] = {"heads=2 causal=true", "heads=2 causal=true fused=false"};
    for (int way = 0; way < 2; way++) {
        CHECK_OK(make(&op, "multihead_attention", ways[way], 1, (ss_shape[]){SHAPE(1, 3, 6)}));
        CHECK_OK(make_whole(&op, &k));
        CHECK_OK(k->forward(k, &io, &err));
        CHECK(near(y[0][0], 1) && near(y[1][1], 15) && near(y[2][0], 3), "%g %g %g", y[0][0],
              y[1][1], y[2][0]);
        ss_kernel_free(k);
    }

    const float kv[3][4] = {{0, 1, 0, 10}, {0, 2, 0, 20}, {0, 6, 0, 60}}, q[2][2] = {{0}};
    io = (ss_kernel_io){.in = {q, kv}, .out = {&y[0][0]}};
    CHECK_OK(make(&op, "multihead_attention", "heads=2 causal=true", 2,
                  (ss_shape[]){SHAPE(1, 2, 2), SHAPE(1, 3, 4)}));
    CHECK_OK(make_whole(&op, &k));
    CHECK_OK(k->forward(k, &io, &err));
    CHECK(near(y[0][0], 1.5f) && near(y[1][1], 30), "%g %g", y[0][0], y[1][1]);
    ss_kernel_free(k);
}

/* Of a whole operator with one input: forward, and the gradient of its input where `dx` is there. */
static void run_one(const char *kind, const char *attrs, const ss_shape *in, const float *x,
                    const float *const *weight, float *y, const float *dy, float *dx)
{
    ss_op_def op;
    ss_kernel *k;
    CHECK_OK(make(&op, kind, attrs, 1, in));
    CHECK_OK(make_whole(&op, &k));
    ss_kernel_io io = {.in = {x}, .out = {y}, .out_gradient = {dy}, .in_gradient = {dx}};
    for (uint32_t w = 0; w < op.weights; w++)
        io.weight[w] = weight[w];
    CHECK_OK(k->forward(k, &io, &err));
    if (dx)
        CHECK_OK(k->backward(k, &io, SS_OF_INPUTS, &err));
    ss_kernel_free(k);
}

/* Of -1, 1, 3 and 5: mean 2, variance 5, mean of squares 9. */
static void normalising_is_what_it_says(void)
{
    const float x[4] = {-1, 1, 3, 5}, scale[4] = {1, 2, 1, -1}, shift[4] = {0, 10, 0, 1};
    const float *const weight[2] = {scale, shift};
    float y[4];
    double root = 1 / sqrt(5 + 1e-5);
    run_one("layer_norm", "", (ss_shape[]){SHAPE(1, 4)}, x, weight, y, NULL, NULL);
    CHECK(near(y[0], (float)(-3 * root)) && near(y[1], (float)(10 - 2 * root)) &&
              near(y[3], (float)(1 - 3 * root)),
          "%g %g %g", y[0], y[1], y[3]);
    run_one("batch_norm", "", (ss_shape[]){SHAPE(4, 1)}, x, (const float *[]){&scale[1], &shift[1]},
            y, NULL, NULL);
    CHECK(near(y[0], (float)(10 - 6 * root)) && near(y[2], (float)(10 + 2 * root)), "%g %g", y[0],
          y[2]);
    run_one("rms_norm", "", (ss_shape[]){SHAPE(1, 4)}, x, weight, y, NULL, NULL);
    CHECK(near(y[0], -1.0f / 3) && near(y[1], 2.0f / 3) && near(y[3], -5.0f / 3), "%g %g %g", y[0],
          y[1], y[3]);
}

/* What is dropped is 0, what is kept is made larger; the constant of scale is a half. */
static void numbers_by_themselves_are_what_they_say(void)
{
    const float x[3] = {-2, 0.5f, 3}, dy[3] = {5, 7, 11};
    float y[3], dx[3];
    run_one("relu", "", (ss_shape[]){SHAPE(1, 3)}, x, NULL, y, dy, dx);
    CHECK(y[0] == 0 && y[1] == 0.5f && y[2] == 3, "%g %g %g", y[0], y[1], y[2]);
    CHECK(dx[0] == 0 && dx[1] == 7 && dx[2] == 11, "%g %g %g", dx[0], dx[1], dx[2]);
    run_one("scale", "", (ss_shape[]){SHAPE(1, 3)}, x, NULL, y, dy, dx);
    CHECK(y[2] == 1.5f && dx[2] == 5.5f, "%g %g", y[2], dx[2]);
    run_one("dropout", "", (ss_shape[]){SHAPE(1, 3)}, x, NULL, y, dy, dx);
    for (int i = 0; i < 3; i++)
        CHECK(ss_kernel_keeps(i) ? near(y[i], x[i] / 0.9f) && near(dx[i], dy[i] / 0.9f)
                                 : y[i] == 0 && dx[i] == 0,
              "%g %g", y[i], dx[i]);
}

/* Two channels of 1 x 3 pixels. */
static void copies_are_what_they_say(void)
{
    const float x[6] = {1, 2, 3, 4, 5, 6}, dy[6] = {1, 2, 3, 4, 5, 6};
    const float pixels[6] = {1, 4, 2, 5, 3, 6}, channels[6] = {1, 3, 5, 2, 4, 6};
    float y[6], dx[6];
    run_one("to_sequence", "", (ss_shape[]){SHAPE(1, 2, 1, 3)}, x, NULL, y, dy, dx);
    CHECK(!memcmp(y, pixels, sizeof y) && !memcmp(dx, channels, sizeof dx), "%g %g", y[1], dx[1]);
    run_one("flatten", "", (ss_shape[]){SHAPE(1, 2, 1, 3)}, x, NULL, y, dy, dx);
    CHECK(!memcmp(y, x, sizeof y) && !memcmp(dx, dy, sizeof dx), "%g %g", y[1], dx[1]);
}

/* Every kind: awkward enough that each asks for all that it may ask for. */
static const struct {
    const char *kind, *attrs;
    uint32_t inputs;
    ss_shape in[3];
} every[] = {
    {"linear", "out=5 activation=gelu", 1, {IN(4, 3)}},
    {"linear_softmax", "out=5", 1, {IN(4, 3)}},
    {"softmax_cross_entropy", "", 1, {IN(2, 3, 4, 5)}},
    {"squared_error", "", 1, {IN(2, 3)}},
    {"position", "", 1, {IN(2, 3, 4)}},
    {"lstm", "hidden=3 bias=true", 1, {IN(2, 3, 4)}},
    {"attention", "", 3, {IN(2, 3, 4), IN(2, 2, 4), IN(2, 1, 4)}},
    {"multihead_attention", "heads=2", 1, {IN(2, 130, 12)}},
    {"tanh", "", 1, {IN(2, 3)}},
    {"dropout", "", 1, {IN(2, 3)}},
    {"add", "activation=gelu", 2, {IN(2, 3), IN(2, 3)}},
    {"softmax", "", 1, {IN(2, 3, 4, 5)}},
    {"concat", "axis=c", 2, {IN(2, 3), IN(2, 1)}},
    {"batch_norm", "", 1, {IN(4, 3)}},
    {"batch_norm", "", 1, {IN(2, 3, 4, 5)}},
    {"layer_norm", "", 1, {IN(2, 3)}},
    {"layer_norm", "", 1, {IN(2, 3, 4, 5)}},
    {"rms_norm", "", 1, {IN(2, 3, 4, 5)}},
};

enum { EVERY = sizeof every / sizeof every[0] };

/* Its n-th request fails; returns how many there were before it was made. */
static int fail_in_making(const ss_op_def *op)
{
    for (int fails = 0;; fails++) {
        ss_kernel *k;
        ss_mem_fail_after(fails);
        ss_status s = make_whole(op, &k);
        ss_mem_fail_never();
        ss_kernel_free(k);
        if (!s)
            return fails;
        if (s != SS_ENOMEM || k)
            return -1;
    }
}

static void a_failed_making_leaves_nothing(void)
{
    for (size_t e = 0; e < EVERY; e++) {
        ss_op_def op;
        CHECK_OK(make(&op, every[e].kind, every[e].attrs, every[e].inputs, every[e].in));
        size_t before = ss_mem_blocks();
        int fails = fail_in_making(&op);
        CHECK(fails > 0 && ss_mem_blocks() == before, "%s: %d", every[e].kind, fails);
    }
}

static int threads_of_this_process(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *entry; d && (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

/* Large enough that oneDNN would share it out. */
static void it_runs_on_the_thread_that_calls_and_asks_for_no_memory(void)
{
    enum { N = 512 };
    static float x[N * N], w[N * N], y[N * N], dx[N * N], dw[N * N];
    ss_op_def op;
    ss_kernel *k;
    CHECK_OK(
        make(&op, "linear", "out=512 bias=false activation=tanh", 1, (ss_shape[]){SHAPE(N, N)}));
    CHECK_OK(make_whole(&op, &k));
    ss_kernel_io io = {.in = {x},
                       .weight = {w},
                       .out = {y},
                       .out_gradient = {y},
                       .in_gradient = {dx},
                       .weight_gradient = {dw}};
    uint64_t before = ss_mem_requests();
    CHECK_OK(k->forward(k, &io, &err));
    CHECK_OK(k->backward(k, &io, SS_OF_INPUTS | SS_OF_WEIGHTS, &err));
    CHECK(ss_mem_requests() == before, "%d requests", (int)(ss_mem_requests() - before));
    CHECK(threads_of_this_process() <= 1, "%d threads", threads_of_this_process());
    ss_kernel_free(k);
}

static void one_in_ten_is_dropped(void)
{
    int dropped = 0;
    for (int64_t i = 0; i < 100000; i++)
        dropped += !ss_kernel_keeps(i);
    CHECK(dropped > 9700 && dropped < 10300, "%d", dropped);
}

int main(void)
{
    RUN(one_in_ten_is_dropped);
    if (ss_kernels_new(&kernels, &err)) {
        printf("skipped kernels: %s\n", err.text);
        return check_failed || err.status != SS_EUNSUPPORTED ? 1 : 77;
    }
    printf("%s\n", ss_kernels_version(kernels));
    RUN(linear_is_what_it_says);
    RUN(without_a_gradient_there_is_none);
    RUN(parts_that_make_no_sense_are_refused);
    RUN(split_classes_are_refused);
    RUN(heads_are_not_cut);
    RUN(what_is_no_class_or_row_is_refused);
    RUN(a_loss_is_a_mean_over_positions_of_the_whole);
    RUN(an_lstm_step_is_what_it_says);
    RUN(values_are_packed_head_by_head);
    RUN(normalising_is_what_it_says);
    RUN(numbers_by_themselves_are_what_they_say);
    RUN(copies_are_what_they_say);
    RUN(a_failed_making_leaves_nothing);
    RUN(it_runs_on_the_thread_that_calls_and_asks_for_no_memory);
    ss_kernels_free(kernels);
    return DONE();
}
