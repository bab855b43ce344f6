/* kernel.c - what the makers of kernels share. */
#include "validation/operators/kernel.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "graph/op_kinds.h"

void ss_kernel_free(ss_kernel *k)
{
    if (k)
        k->free(k);
}

int64_t ss_kernel_attr(const ss_op_def *op, const char *name)
{
    uint32_t i = 0;
    while (i < ss_op_kind_attrs(op->kind) && strcmp(op->kind->attr[i].name, name) != 0)
        i++;
    assert(i < ss_op_kind_attrs(op->kind));
    return op->attr[i];
}

double ss_kernel_loss_count(const ss_op_def *op)
{
    double all = (double)ss_shape_elements(&op->out[0]);
    if (op->kind == &ss_op_kind_squared_error)
        return all;
    return all / (double)op->out[0].extent[ss_op_channel(&op->out[0])];
}

static bool cuts(const ss_op_def *op, const ss_box *main, uint32_t d)
{
    return main->lo[d] != 0 || main->hi[d] != op->out[0].extent[d];
}

static ss_status check_range(const ss_op_def *op, const ss_box *main, uint32_t d, ss_error *err)
{
    int64_t lo = main->lo[d], hi = main->hi[d], all = op->out[0].extent[d],
            grain = op->dim[d].grain;
    if (lo < 0 || lo >= hi || hi > all)
        return ss_fail(
            err, SS_EINVAL, "a part of %s is %lld to %lld in dimension %s, which has %lld",
            op->kind->name, (long long)lo, (long long)hi, op->dim[d].name, (long long)all);
    if (lo % grain || (hi % grain && hi != all))
        return ss_fail(
            err, SS_EINVAL, "a part of %s is %lld to %lld in dimension %s, in grains of %lld",
            op->kind->name, (long long)lo, (long long)hi, op->dim[d].name, (long long)grain);
    if (op->dim[d].cls == SS_DIM_WHOLE && cuts(op, main, d))
        return ss_fail(err, SS_EINVAL, "a part of %s splits dimension %s, which stays whole",
                       op->kind->name, op->dim[d].name);
    return SS_OK;
}

ss_status ss_kernel_check(const ss_op_def *op, const ss_box *main, ss_error *err)
{
    if (main->rank != op->out[0].rank)
        return ss_fail(err, SS_EINVAL, "a part of %s has %u dimensions and its output %u",
                       op->kind->name, main->rank, op->out[0].rank);
    for (uint32_t d = 0; d < main->rank; d++) {
        ss_status s = check_range(op, main, d, err);
        if (s)
            return s;
    }
    if (op->kind == &ss_op_kind_linear_softmax && cuts(op, main, ss_op_channel(&op->out[0])))
        return ss_fail(err, SS_EUNSUPPORTED,
                       "classes of linear_softmax are split: its parts would have to exchange a "
                       "maximum and a sum for each row, which the task graph leaves out");
    return SS_OK;
}

bool ss_kernel_keeps(int64_t place)
{
    return ss_hash_u64(SS_HASH_START, (uint64_t)place) % 10 != 0;
}
