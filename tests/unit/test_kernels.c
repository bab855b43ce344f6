/* test_kernels.c - kernels with oneDNN: making, refusing, memory; numbers small enough to follow. */
#include "validation/operators/onednn.h"

#include "base/mem.h"

#include "check.h"
#include "op_make.h"

static ss_kernels *kernels;

static ss_status make_whole(const ss_op_def *op, ss_kernel **k)
{
    ss_box whole = ss_box_whole(&op->out[0]);
    ss_kernel_maker m = ss_kernels_maker(kernels);
    return m.make(m.context, op, &whole, k, &err);
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

static void a_failed_making_leaves_nothing(void)
{
    ss_op_def op;
    CHECK_OK(make(&op, "linear", "out=2 activation=gelu", 1, (ss_shape[]){SHAPE(2, 3)}));
    size_t before = ss_mem_blocks();
    int fails = 0;
    for (;; fails++) {
        ss_kernel *k;
        ss_mem_fail_after(fails);
        ss_status s = make_whole(&op, &k);
        ss_mem_fail_never();
        if (!s) {
            ss_kernel_free(k);
            break;
        }
        CHECK(s == SS_ENOMEM && !k, "%s", err.text);
        CHECK(ss_mem_blocks() == before, "after failure %d", fails);
    }
    CHECK(fails > 2 && ss_mem_blocks() == before, "%d", fails);
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
    RUN(a_failed_making_leaves_nothing);
    ss_kernels_free(kernels);
    return DONE();
}
