/* roofline.c - the built-in constants by device kind, and times from arithmetic and bytes.
 *
 * How the constants were found.  For P100, V100 and KNL: the six of them that products need, by
 * minimizing the mean |log(predicted / measured)| over the matrix products and convolutions
 * (forward, and both backward passes together) of DeepBench's training results for that device,
 * FLOP counted as 2 * m * n * k and bytes once for each operand; f32 and f16 together where both
 * were measured.  Median error, 90th percentile:
 *
 *                products       conv forward    conv backward
 *     P100 f32   6 %, 65 %      21 %, 65 %      33 %, 104 %
 *     V100 f32   5 %, 16 %      20 %, 95 %      39 %, 254 %
 *     V100 f16   8 %, 37 %      22 %, 58 %      29 %, 61 %
 *     KNL f32    5 %, 29 %      23 %, 65 %      34 %, 74 %
 *
 * Convolutions go by several algorithms (direct, Winograd, FFT), hence the spread; what is long
 * comes out too long (Winograd does less arithmetic than is counted).  Streams: measured bandwidths
 * as named.
 */
#include "simulate/roofline.h"

#include <stddef.h>
#include <string.h>

static const ss_roofline builtin[] = {
    {"k80", 5e-6, 0.51, 0.42, 0.27, 0.24, 0.73, 2.6e7,
     "products: those of P100 slowed down by 3.87, the median ratio of the two devices' "
     "throughputs "
     "on one GPU over the six networks of FlexFlow (MLSys 2019) figure 6; half_flop in proportion "
     "to the rate; streams: STREAM triad 175.6 of 240 GB/s with ECC (mohamso/stream-cuda)"},
    {"p100", 5e-6, 0.82, 0.67, 0.43, 0.30, 0.76, 1.0e8,
     "products: fitted to DeepBench training results of P100; streams: STREAM triad 557.2 of 732 "
     "GB/s with ECC (mohamso/stream-cuda)"},
    {"p100_pcie", 5e-6, 0.82, 0.67, 0.43, 0.30, 0.76, 1.0e8, "as p100"},
    {"v100", 1.0e-5, 0.84, 0.74, 0.46, 0.70, 0.86, 1.4e8,
     "products: fitted to DeepBench training results of V100, f32 and f16; streams: copies inside "
     "the devices of a DGX-1 at 769.5 to 771.6 of 900 GB/s"},
    {"v100_32gb", 1.0e-5, 0.84, 0.74, 0.46, 0.70, 0.86, 1.4e8, "as v100"},
    {"a100", 1.0e-5, 0.81, 0.71, 0.45, 0.70, 0.78, 3.5e8,
     "products: best matrix product found 271.2 of 312 TFLOP/s in bf16 (ml-engineering, compute/"
     "accelerator), times 0.93, what P100's and V100's large products have of their best; "
     "convolutions, operands and launch in proportion to V100, half_flop by peak; streams: copies "
     "inside eight A100 SXM 80 GB at 1581 to 1594 of 2039 GB/s"},
    {"a100_80gb", 1.0e-5, 0.81, 0.71, 0.45, 0.70, 0.78, 3.5e8, "as a100"},
    {"h100", 1.0e-5, 0.75, 0.66, 0.41, 0.70, 0.75, 1.1e9,
     "products: best matrix product found 794.5 of 989 TFLOP/s in bf16 (ml-engineering, compute/"
     "accelerator), times 0.93, what P100's and V100's large products have of their best; "
     "convolutions, operands and launch in proportion to V100, half_flop by peak; streams: copies "
     "inside eight H100 SXM at 2494 to 2534 of 3350 GB/s"},
    {"cpu", 1.0e-5, 0.70, 0.67, 0.50, 0.44, 0.80, 1.3e7,
     "products: fitted to DeepBench training results of a Xeon Phi 7250 (KNL), the one processor "
     "with AVX-512 there, half_flop by peak; streams: 0.80, assumed"},
    {"*", 7e-6, 0.83, 0.70, 0.45, 0.50, 0.76, 1.2e8,
     "any device: middle of the constants fitted to DeepBench training results of P100, V100, "
     "TITAN Xp and T4; streams: middle of the devices above"},
};

enum { BUILTINS = sizeof builtin / sizeof *builtin };

const ss_roofline *ss_rooflines(uint32_t *n)
{
    *n = BUILTINS;
    return builtin;
}

const ss_roofline *ss_roofline_builtin(const char *kind)
{
    for (uint32_t i = 0; kind && i < BUILTINS; i++)
        if (!strcmp(builtin[i].kind, kind))
            return &builtin[i];
    return &builtin[BUILTINS - 1];
}

/* ---- the constants by number ----------------------------------------------------------------- */

static const ss_roofline_constant constant[SS_ROOFLINE_CONSTANTS] = {
    [SS_ROOFLINE_LAUNCH] = {"launch", "launch (seconds)", 0, 1, SS_UNIT_SECONDS},
    [SS_ROOFLINE_FLOP] = {"flop_efficiency", "efficiency of products", 1e-6, 10, SS_UNIT_NONE},
    [SS_ROOFLINE_CONV] = {"conv_efficiency", "efficiency of convolutions", 1e-6, 10, SS_UNIT_NONE},
    [SS_ROOFLINE_CONV_BACKWARD] = {"conv_backward_efficiency",
                                   "efficiency of convolutions backward", 1e-6, 10, SS_UNIT_NONE},
    [SS_ROOFLINE_OPERAND] = {"operand_efficiency", "memory efficiency of operands", 1e-6, 10,
                             SS_UNIT_NONE},
    [SS_ROOFLINE_MEMORY] = {"memory_efficiency", "memory efficiency", 1e-6, 10, SS_UNIT_NONE},
    [SS_ROOFLINE_HALF] = {"half_flop", "FLOP at half efficiency", 0, 1e18, SS_UNIT_FLOP},
};

const ss_roofline_constant *ss_roofline_describe(ss_roofline_of which)
{
    return &constant[which];
}

static const size_t at[SS_ROOFLINE_CONSTANTS] = {
    [SS_ROOFLINE_LAUNCH] = offsetof(ss_roofline, launch_s),
    [SS_ROOFLINE_FLOP] = offsetof(ss_roofline, flop_efficiency),
    [SS_ROOFLINE_CONV] = offsetof(ss_roofline, conv_efficiency),
    [SS_ROOFLINE_CONV_BACKWARD] = offsetof(ss_roofline, conv_backward_efficiency),
    [SS_ROOFLINE_OPERAND] = offsetof(ss_roofline, operand_efficiency),
    [SS_ROOFLINE_MEMORY] = offsetof(ss_roofline, memory_efficiency),
    [SS_ROOFLINE_HALF] = offsetof(ss_roofline, half_flop),
};

double ss_roofline_get(const ss_roofline *r, ss_roofline_of which)
{
    return *(const double *)((const char *)r + at[which]);
}

void ss_roofline_set(ss_roofline *r, ss_roofline_of which, double value)
{
    *(double *)((char *)r + at[which]) = value;
}

/* ---- work, and its time ---------------------------------------------------------------------- */

const char *ss_roofline_sort_name(ss_roofline_sort sort)
{
    static const char *const name[SS_WORK_SORTS] = {"streams", "products", "convolutions",
                                                    "convolutions backward"};
    return name[sort];
}

ss_roofline_work ss_roofline_work_of(const ss_op_def *op, ss_phase phase, bool input_gradient,
                                     const ss_box *main)
{
    ss_work work;
    ss_op_work(op, phase, input_gradient, main, &work);
    ss_roofline_sort sort = SS_WORK_STREAM;
    if (work.macs > 0)
        sort = strncmp(op->kind->name, "conv", 4) != 0 ? SS_WORK_PRODUCT
               : phase == SS_FORWARD                   ? SS_WORK_CONV
                                                       : SS_WORK_CONV_BACKWARD;
    return (ss_roofline_work){sort, work.flops, work.bytes};
}

double ss_roofline_peak(const ss_device_def *device, ss_dtype dtype)
{
    double peak = device->flop_per_s[dtype];
    return peak > 0 || dtype != SS_TF32 ? peak : device->flop_per_s[SS_F32];
}

ss_roofline_of ss_roofline_computes_by(ss_roofline_sort sort)
{
    return sort == SS_WORK_CONV            ? SS_ROOFLINE_CONV
           : sort == SS_WORK_CONV_BACKWARD ? SS_ROOFLINE_CONV_BACKWARD
                                           : SS_ROOFLINE_FLOP;
}

ss_roofline_of ss_roofline_moves_by(ss_roofline_sort sort)
{
    return sort == SS_WORK_STREAM ? SS_ROOFLINE_MEMORY : SS_ROOFLINE_OPERAND;
}

ss_roofline_time ss_roofline_time_of(const ss_roofline *r, const ss_roofline_work *work,
                                     double peak, double bandwidth)
{
    if (!(work->flops > 0) && !(work->bytes > 0))
        return (ss_roofline_time){0};
    double flops = work->sort == SS_WORK_STREAM ? work->flops : work->flops + r->half_flop;
    double efficiency = ss_roofline_get(r, ss_roofline_computes_by(work->sort));
    double reached = ss_roofline_get(r, ss_roofline_moves_by(work->sort));
    return (ss_roofline_time){
        .launch_s = r->launch_s,
        .computing_s = flops > 0 ? flops / (peak * efficiency) : 0,
        .moving_s = work->bytes > 0 ? work->bytes / (bandwidth * reached) : 0,
    };
}

double ss_roofline_seconds(const ss_roofline *r, const ss_roofline_work *work, double peak,
                           double bandwidth)
{
    ss_roofline_time t = ss_roofline_time_of(r, work, peak, bandwidth);
    return t.launch_s + (t.computing_s > t.moving_s ? t.computing_s : t.moving_s);
}
