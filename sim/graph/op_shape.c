/* op_shape.c - what rearranges numbers and computes nothing. */
#include <stddef.h>
#include <string.h>

#include "graph/op_kinds.h"

#define MOST_EXTENT (INT64_C(1) << 62)

static void no_flops(const ss_op_def *op, const ss_box *main, ss_work *work)
{
    (void)op, (void)main, (void)work;
}

static void no_flops_back(const ss_op_def *op, const ss_box *main, bool input_gradient,
                          ss_work *work)
{
    (void)op, (void)main, (void)input_gradient, (void)work;
}

/* Axes are named, since 2 means something else in every library. */
#define AXES "c|h|w|l"

/* Finds the dimension of the inputs that an axis attribute names; dimensions of output 0 have its
 * names.  Once, since parts are asked about in the millions. */
static ss_status find_axis(ss_op_def *op, int64_t choice, ss_error *err)
{
    static const char *const name[] = {"c", "h", "w", "l"};
    for (uint32_t d = 1; d < op->out[0].rank; d++)
        if (!strcmp(op->dim[d].name, name[choice])) {
            op->axis = d;
            return SS_OK;
        }
    char text[SS_SHAPE_TEXT];
    return ss_fail(err, SS_EINVAL,
                   "axis is \"%s\", which its input of %s has not (images are n x c x h x w, "
                   "sequences n x l x c)",
                   name[choice], ss_shape_text(&op->in[0], text, sizeof text));
}

/* Concatenation */

enum { CONCAT_AXIS };

static ss_status concat_check(const ss_op_def *op, uint32_t axis, ss_error *err)
{
    char mine[SS_SHAPE_TEXT], first[SS_SHAPE_TEXT];
    for (uint32_t i = 1; i < op->inputs; i++) {
        ss_shape s = op->in[i];
        if (s.rank == op->in[0].rank)
            s.extent[axis] = op->in[0].extent[axis];
        if (!ss_shape_same(&s, &op->in[0]))
            return ss_fail(err, SS_EINVAL,
                           "input %u is %s and input 1 is %s: they may differ along %s alone",
                           i + 1, ss_shape_text(&op->in[i], mine, sizeof mine),
                           ss_shape_text(&op->in[0], first, sizeof first), op->dim[axis].name);
    }
    return SS_OK;
}

static ss_status concat_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_floats(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    ss_op_dims(op);
    s = find_axis(op, op->attr[CONCAT_AXIS], err);
    if (!s)
        s = concat_check(op, op->axis, err);
    if (s)
        return s;
    uint32_t axis = op->axis;
    for (uint32_t i = 1; i < op->inputs; i++) {
        if (op->in[i].extent[axis] > INT64_MAX - op->out[0].extent[axis])
            return ss_fail(err, SS_ERANGE, "its output is too large");
        op->out[0].extent[axis] += op->in[i].extent[axis];
    }
    return SS_OK;
}

static void concat_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    uint32_t axis = op->axis;
    int64_t offset = 0;
    for (uint32_t j = 0; j < i; j++)
        offset += op->in[j].extent[axis];
    int64_t lo = main->lo[axis] - offset, hi = main->hi[axis] - offset,
            size = op->in[i].extent[axis];
    *in = *main;
    in->lo[axis] = lo < 0 ? 0 : lo > size ? size : lo;
    in->hi[axis] = hi < 0 ? 0 : hi > size ? size : hi;
}

const ss_op_kind ss_op_kind_concat = {
    .name = "concat",
    .summary = "tensors one behind the other along an axis",
    .min_inputs = 1,
    .max_inputs = SS_MAX_INPUTS,
    .attr = {{"axis", 0, 0, 0, AXES, "along which dimension"}},
    .infer = concat_infer,
    .input_box = concat_input,
    .forward = no_flops,
    .backward = no_flops_back,
};

/* Slice */

enum { SLICE_AXIS, SLICE_START, SLICE_SIZE };

static ss_status slice_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_floats(op, err);
    if (s)
        return s;
    ss_op_like_input(op);
    ss_op_dims(op);
    s = find_axis(op, op->attr[SLICE_AXIS], err);
    if (s)
        return s;
    uint32_t axis = op->axis;
    int64_t extent = op->in[0].extent[axis], start = op->attr[SLICE_START];
    if (start >= extent || op->attr[SLICE_SIZE] > extent - start)
        return ss_fail(err, SS_EINVAL, "%lld elements from %lld on are not within the %lld of %s",
                       (long long)op->attr[SLICE_SIZE], (long long)start, (long long)extent,
                       op->dim[axis].name);
    op->out[0].extent[axis] = op->attr[SLICE_SIZE];
    return SS_OK;
}

static void slice_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    *in = *main;
    in->lo[op->axis] += op->attr[SLICE_START];
    in->hi[op->axis] += op->attr[SLICE_START];
}

const ss_op_kind ss_op_kind_slice = {
    .name = "slice",
    .summary = "a range of an axis: a crop, the last steps, one of several packed tensors",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"axis", 0, 0, 0, AXES, "of which dimension"},
             {"start", 0, 0, MOST_EXTENT, NULL, "first element taken, from 0"},
             {"size", SS_ATTR_REQUIRED, 1, MOST_EXTENT, NULL, "how many elements are taken"}},
    .infer = slice_infer,
    .input_box = slice_input,
    .forward = no_flops,
    .view = true,
};

/* Selection */

enum { SELECT_INDEX };

static ss_status select_infer(ss_op_def *op, ss_error *err)
{
    char text[SS_SHAPE_TEXT];
    ss_status s = ss_op_want_floats(op, err);
    if (s)
        return s;
    const ss_shape *in = &op->in[0];
    if (in->rank != 3)
        return ss_fail(err, SS_EINVAL, "its input is %s: it reads sequences, n x l x c",
                       ss_shape_text(in, text, sizeof text));
    int64_t *index = &op->attr[SELECT_INDEX];
    if (*index < -in->extent[1] || *index >= in->extent[1])
        return ss_fail(err, SS_EINVAL, "index is %lld: the sequence has positions 0 to %lld",
                       (long long)*index, (long long)(in->extent[1] - 1));
    if (*index < 0)
        *index += in->extent[1];
    op->outputs = 1;
    op->out[0] =
        (ss_shape){.dtype = in->dtype, .rank = 2, .extent = {in->extent[0], in->extent[2]}};
    ss_op_dims(op);
    return SS_OK;
}

static void select_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    int64_t index = op->attr[SELECT_INDEX];
    *in = (ss_box){.rank = 3,
                   .lo = {main->lo[0], index, main->lo[1]},
                   .hi = {main->hi[0], index + 1, main->hi[1]}};
}

const ss_op_kind ss_op_kind_select = {
    .name = "select",
    .summary = "one position of a sequence: n x l x c becomes n x c",
    .min_inputs = 1,
    .max_inputs = 1,
    .attr = {{"index", -1, -MOST_EXTENT, MOST_EXTENT, NULL,
              "position, from 0; -1 is the last, -2 the one before"}},
    .infer = select_infer,
    .input_box = select_input,
    .forward = no_flops,
    .view = true,
};

/* Flattening.  A range of features is a box of the input only if it holds whole channels. */

static int64_t beyond_channel(const ss_shape *in)
{
    int64_t n = 1;
    for (uint32_t d = 2; d < in->rank; d++)
        n *= in->extent[d];
    return n;
}

static ss_status flatten_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_channels(op, err);
    if (s)
        return s;
    const ss_shape *in = &op->in[0];
    int64_t each = beyond_channel(in);
    op->outputs = 1;
    op->out[0] =
        (ss_shape){.dtype = in->dtype, .rank = 2, .extent = {in->extent[0], in->extent[1] * each}};
    ss_op_dims(op);
    op->dim[1].grain = each;
    return SS_OK;
}

static void flatten_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    int64_t each = beyond_channel(&op->in[0]);
    *in = ss_box_whole(&op->in[0]);
    in->lo[0] = main->lo[0];
    in->hi[0] = main->hi[0];
    in->lo[1] = main->lo[1] / each;
    in->hi[1] = (main->hi[1] + each - 1) / each;
}

const ss_op_kind ss_op_kind_flatten = {
    .name = "flatten",
    .summary = "all dimensions but the sample become one; it splits along whole channels",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = flatten_infer,
    .input_box = flatten_input,
    .forward = no_flops,
    .view = true,
};

/* Images to sequences: row by row, so whole rows are cut off. */

static ss_status sequence_infer(ss_op_def *op, ss_error *err)
{
    ss_status s = ss_op_want_images(op, err);
    if (s)
        return s;
    const int64_t *in = op->in[0].extent;
    op->outputs = 1;
    op->out[0] =
        (ss_shape){.dtype = op->in[0].dtype, .rank = 3, .extent = {in[0], in[2] * in[3], in[1]}};
    ss_op_dims(op);
    op->dim[1].grain = in[3];
    return SS_OK;
}

static void sequence_input(const ss_op_def *op, uint32_t i, const ss_box *main, ss_box *in)
{
    (void)i;
    int64_t width = op->in[0].extent[3];
    *in = (ss_box){.rank = 4,
                   .lo = {main->lo[0], main->lo[2], main->lo[1] / width, 0},
                   .hi = {main->hi[0], main->hi[2], (main->hi[1] + width - 1) / width, width}};
}

const ss_op_kind ss_op_kind_to_sequence = {
    .name = "to_sequence",
    .summary =
        "the pixels of an image, row by row, as a sequence: n x c x h x w becomes n x hw x c",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = sequence_infer,
    .input_box = sequence_input,
    .forward = no_flops,
    .backward = no_flops_back,
};
