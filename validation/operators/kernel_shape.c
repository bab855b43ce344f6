/* kernel_shape.c - what rearranges numbers and computes nothing: copies there and back. */
#include "validation/operators/onednn_inside.h"

#include <string.h>

static ss_status nothing_to_make(ss_onednn_part *part, ss_error *err)
{
    (void)part, (void)err;
    return SS_OK;
}

/* concat: for every index before the axis, a run of each input that has something in the part */

typedef struct concat {
    ss_onednn_part part;
    int64_t runs, row;          /* how many of each input; floats of the output for each */
    int64_t run[SS_MAX_INPUTS]; /* floats of each input; 0: it has nothing here */
} concat;

static ss_status concat_make(ss_onednn_part *part, ss_error *err)
{
    (void)err;
    concat *c = (concat *)part;
    const ss_op_def *op = part->kernel.op;
    c->runs = 1;
    for (uint32_t d = 0; d < op->axis; d++)
        c->runs *= ss_onednn_extent(&part->kernel.main, d);
    for (uint32_t i = 0; i < op->inputs; i++) {
        ss_box in = ss_onednn_in(part, i);
        c->run[i] = ss_box_elements(&in) / c->runs;
        c->row += c->run[i];
    }
    return SS_OK;
}

static ss_status concat_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    const concat *c = (const concat *)part;
    float *to = io->out[0];
    for (int64_t r = 0; r < c->runs; r++)
        for (uint32_t i = 0; i < part->kernel.op->inputs; i++) {
            if (c->run[i])
                memcpy(to, (const float *)io->in[i] + r * c->run[i],
                       (size_t)c->run[i] * sizeof *to);
            to += c->run[i];
        }
    return SS_OK;
}

static ss_status concat_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                 ss_error *err)
{
    (void)err;
    const concat *c = (const concat *)part;
    const float *from = io->out_gradient[0];
    for (uint32_t i = 0; i < part->kernel.op->inputs; i++) {
        for (int64_t r = 0; c->run[i] && ss_onednn_wants_input(io, what, i) && r < c->runs; r++)
            memcpy(io->in_gradient[i] + r * c->run[i], from + r * c->row,
                   (size_t)c->run[i] * sizeof *from);
        from += c->run[i];
    }
    return SS_OK;
}

const ss_onednn_kind ss_onednn_concat = {
    "concat", sizeof(concat), concat_make, concat_forward, concat_backward,
};

/* slice, select, flatten: the numbers of the input's box, in the order in which they lie */

static ss_status same_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    memcpy(io->out[0], io->in[0], (size_t)ss_box_elements(&part->kernel.main) * sizeof(float));
    return SS_OK;
}

static ss_status same_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                               ss_error *err)
{
    (void)err;
    if (ss_onednn_wants_input(io, what, 0))
        memcpy(io->in_gradient[0], io->out_gradient[0],
               (size_t)ss_box_elements(&part->kernel.main) * sizeof(float));
    return SS_OK;
}

#define SAME(kind)                                                                                 \
    const ss_onednn_kind ss_onednn_##kind = {                                                      \
        #kind, sizeof(ss_onednn_part), nothing_to_make, same_forward, same_backward,               \
    }

SAME(slice);
SAME(select);
SAME(flatten);

/* to_sequence: of each image the matrix channels x pixels is transposed, square by square, so that the lines of
 * memory that a square touches are used whole while they are near. */

enum { SQUARE = 16 };

static void transpose_square(int64_t rows, int64_t columns, const float *from, int64_t from_row,
                             float *to, int64_t to_row)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            to[c * to_row + r] = from[r * from_row + c];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* `from` is rows x columns. */
static void transpose(int64_t rows, int64_t columns, const float *from, float *to)
{
    for (int64_t r = 0; r < rows; r += SQUARE)
        for (int64_t c = 0; c < columns; c += SQUARE)
            transpose_square(least(rows - r, SQUARE), least(columns - c, SQUARE),
                             from + r * columns + c, columns, to + c * rows + r, rows);
}

static ss_status sequence_forward(ss_onednn_part *part, const ss_kernel_io *io, ss_error *err)
{
    (void)err;
    const ss_box *main = &part->kernel.main;
    int64_t pixels = ss_onednn_extent(main, 1), channels = ss_onednn_extent(main, 2),
            image = pixels * channels;
    for (int64_t n = 0; n < ss_onednn_extent(main, 0); n++)
        transpose(channels, pixels, (const float *)io->in[0] + n * image, io->out[0] + n * image);
    return SS_OK;
}

static ss_status sequence_backward(ss_onednn_part *part, const ss_kernel_io *io, unsigned what,
                                   ss_error *err)
{
    (void)err;
    const ss_box *main = &part->kernel.main;
    int64_t pixels = ss_onednn_extent(main, 1), channels = ss_onednn_extent(main, 2),
            image = pixels * channels;
    for (int64_t n = 0; ss_onednn_wants_input(io, what, 0) && n < ss_onednn_extent(main, 0); n++)
        transpose(pixels, channels, io->out_gradient[0] + n * image,
                  io->in_gradient[0] + n * image);
    return SS_OK;
}

const ss_onednn_kind ss_onednn_to_sequence = {
    "to_sequence", sizeof(ss_onednn_part), nothing_to_make, sequence_forward, sequence_backward,
};
