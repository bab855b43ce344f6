/* Times from arithmetic and bytes, by device kind.
 *
 * How the constants were found.  For P100, V100 and KNL: the six of them that products need, by
 * minimizing the mean |log(predicted / measured)| over the matrix products and convolutions
 * (forward, and both backward passes together) of DeepBench's training results for that device,
 * FLOP counted as 2 * m * n * k and bytes once for each operand; f32 and f16 together where both
 * were measured. Median error, 90th percentile:      products    conv forward   conv backward P100
 * f32                      6 %, 65 %   21 %, 65 %     33 %, 104 % V100   f32                      5
 * %, 16 %   20 %, 95 %     39 %, 254 % V100   f16                      8 %, 37 %   22 %, 58 % 29 %,
 * 61 % KNL    f32                      5 %, 29 %   23 %, 65 %     34 %, 74 % Convolutions go by
 * several algorithms (direct, Winograd, FFT), hence the spread; what is long comes out too long
 * (Winograd does less arithmetic than is counted).  Streams: measured bandwidths as named.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "graph/catalog.h"
#include "simulate/cost_sources.h"

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

struct ss_cost_roofline {
    ss_roofline *override; /* in the order given; texts are the source's own */
    uint32_t n, cap;
    ss_names texts;
};

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

ss_status ss_cost_roofline_new(ss_cost_roofline **out, ss_error *err)
{
    *out = ss_alloc_zeroed(1, sizeof **out);
    return *out ? SS_OK : ss_fail_memory(err, "a roofline", sizeof **out);
}

void ss_cost_roofline_free(ss_cost_roofline *r)
{
    if (!r)
        return;
    ss_free(r->override);
    ss_names_free(&r->texts);
    ss_free(r);
}

/* Efficiencies may pass 1: fast convolutions do less arithmetic than is counted, caches save bytes.
 */
static const char *whose(const char *kind)
{
    return !strcmp(kind, "*") ? "every kind of device" : kind;
}

static ss_status refuse_constants(const ss_roofline *r, ss_error *err)
{
    const struct {
        const char *name;
        double value, least, most;
    } field[] = {
        {"launch (seconds)", r->launch_s, 0, 1},
        {"efficiency of products", r->flop_efficiency, 1e-6, 10},
        {"efficiency of convolutions", r->conv_efficiency, 1e-6, 10},
        {"efficiency of convolutions backward", r->conv_backward_efficiency, 1e-6, 10},
        {"memory efficiency of operands", r->operand_efficiency, 1e-6, 10},
        {"memory efficiency", r->memory_efficiency, 1e-6, 10},
        {"FLOP at half efficiency", r->half_flop, 0, 1e18},
    };
    if (!r->kind || !*r->kind)
        return ss_fail(err, SS_EINVAL, "a roofline needs the device kind it is for, or \"*\"");
    for (uint32_t i = 0; i < sizeof field / sizeof *field; i++)
        if (!isnan(field[i].value) &&
            !(field[i].value >= field[i].least && field[i].value <= field[i].most))
            return ss_fail(err, SS_EINVAL, "roofline of %s: %s is %g; it must be %g to %g",
                           whose(r->kind), field[i].name, field[i].value, field[i].least,
                           field[i].most);
    return SS_OK;
}

ss_status ss_cost_roofline_add(ss_cost_roofline *r, const ss_roofline *override, ss_error *err)
{
    ss_status s = refuse_constants(override, err);
    for (uint32_t i = 0; !s && i < r->n; i++)
        if (!strcmp(r->override[i].kind, override->kind))
            return ss_fail(err, SS_EINVAL, "roofline of %s: it was given before",
                           whose(override->kind));
    uint32_t kind, source;
    if (!s)
        s = SS_RESERVE(r->override, r->cap, (size_t)r->n + 1, "rooflines", err);
    if (!s)
        s = ss_names_add(&r->texts, override->kind, &kind, err);
    if (!s)
        s = ss_names_add(&r->texts, override->source ? override->source : "given by the script",
                         &source, err);
    if (s)
        return s;
    ss_roofline *row = &r->override[r->n++];
    *row = *override;
    row->kind = ss_names_text(&r->texts, kind);
    row->source = ss_names_text(&r->texts, source);
    return SS_OK;
}

static void lay_over(ss_roofline *below, const ss_roofline *above)
{
    if (!isnan(above->launch_s))
        below->launch_s = above->launch_s;
    if (!isnan(above->flop_efficiency))
        below->flop_efficiency = above->flop_efficiency;
    if (!isnan(above->conv_efficiency))
        below->conv_efficiency = above->conv_efficiency;
    if (!isnan(above->conv_backward_efficiency))
        below->conv_backward_efficiency = above->conv_backward_efficiency;
    if (!isnan(above->operand_efficiency))
        below->operand_efficiency = above->operand_efficiency;
    if (!isnan(above->memory_efficiency))
        below->memory_efficiency = above->memory_efficiency;
    if (!isnan(above->half_flop))
        below->half_flop = above->half_flop;
    below->source = above->source;
}

ss_roofline ss_cost_roofline_for(const ss_cost_roofline *r, const char *kind)
{
    ss_roofline constants = *ss_roofline_builtin(kind);
    for (uint32_t i = 0; r && i < r->n; i++)
        if (!strcmp(r->override[i].kind, "*"))
            lay_over(&constants, &r->override[i]);
    for (uint32_t i = 0; r && i < r->n; i++)
        if (strcmp(kind, "*") != 0 && !strcmp(r->override[i].kind, kind))
            lay_over(&constants, &r->override[i]);
    return constants;
}

static double peak_of(const ss_device_def *device, ss_dtype dtype)
{
    double peak = device->flop_per_s[dtype];
    return peak > 0 || dtype != SS_TF32 ? peak : device->flop_per_s[SS_F32];
}

static double product_efficiency(const ss_roofline *r, const ss_cost_part *part)
{
    if (strncmp(part->op->kind->name, "conv", 4) != 0)
        return r->flop_efficiency;
    return part->phase == SS_FORWARD ? r->conv_efficiency : r->conv_backward_efficiency;
}

/* A kind that is nobody's may be a slip of the pen. */
static void say_what_lacks(const ss_device_def *device, const char *what, ss_cost_answer *answer)
{
    const char *known[64], *near = NULL;
    uint32_t n;
    const ss_device_kind *kinds = ss_device_kinds(&n);
    for (uint32_t i = 0; i < n && i < 64; i++)
        known[i] = kinds[i].def.kind;
    if (!ss_device_kind_find(device->kind))
        near = ss_nearest(device->kind, known, n < 64 ? n : 64);
    snprintf(answer->why_not, sizeof answer->why_not, "%s has no %s%s%s%s", device->kind, what,
             near ? "; was " : "", near ? near : "", near ? " meant?" : "");
}

/* "peak for bf16, only for f32, f16: ..." */
static void name_peak(const ss_device_def *device, ss_dtype dtype, char *what, size_t n)
{
    int used = snprintf(what, n, "peak for %s", ss_dtype_name(dtype)), found = 0;
    for (int d = 0; d < SS_DTYPES && used > 0 && (size_t)used < n; d++)
        if (device->flop_per_s[d] > 0)
            used += snprintf(what + used, n - (size_t)used, "%s%s", found++ ? ", " : ", only for ",
                             ss_dtype_name((ss_dtype)d));
    if (found && used > 0 && (size_t)used < n)
        snprintf(what + used, n - (size_t)used, ": choose the model's dtype or another device");
}

void ss_cost_roofline_ask(const ss_cost_roofline *r, const ss_cost_part *part,
                          ss_cost_answer *answer)
{
    ss_work work;
    *answer = (ss_cost_answer){0};
    ss_op_work(part->op, part->phase, part->input_gradient, part->main, &work);
    if (!(work.flops > 0) && !(work.bytes > 0)) {
        answer->found = SS_COST_EXACT;
        return;
    }
    ss_dtype dtype = part->op->out[0].dtype;
    double peak = peak_of(part->device, dtype), bandwidth = part->device->memory_bytes_per_s;
    if (work.flops > 0 && !(peak > 0)) {
        char what[120];
        name_peak(part->device, dtype, what, sizeof what);
        say_what_lacks(part->device, what, answer);
        return;
    }
    if (work.bytes > 0 && !(bandwidth > 0)) {
        say_what_lacks(part->device, "memory bandwidth", answer);
        return;
    }
    ss_roofline c = ss_cost_roofline_for(r, part->device->kind);
    bool product = work.macs > 0;
    double flops = product ? work.flops + c.half_flop : work.flops;
    double efficiency = product ? product_efficiency(&c, part) : c.flop_efficiency;
    double computing = flops > 0 ? flops / (peak * efficiency) : 0;
    double reached = product ? c.operand_efficiency : c.memory_efficiency;
    double moving = work.bytes > 0 ? work.bytes / (bandwidth * reached) : 0;
    answer->found = SS_COST_EXACT;
    answer->seconds = c.launch_s + (computing > moving ? computing : moving);
}

double ss_cost_roofline_bound(const ss_cost_roofline *r, const ss_cost_part *part, double seconds)
{
    ss_work work;
    ss_roofline c = ss_cost_roofline_for(r, part->device->kind);
    ss_op_work(part->op, part->phase, part->input_gradient, part->main, &work);
    double reached = work.macs > 0 ? c.operand_efficiency : c.memory_efficiency;
    if (!(part->device->memory_bytes_per_s > 0) || !(seconds > 0))
        return 0;
    return fmin(1, work.bytes / (part->device->memory_bytes_per_s * reached) / seconds);
}

static void say_constants(const ss_roofline *o, ss_text *out)
{
    const struct {
        const char *name;
        double value;
        ss_unit unit;
    } constant[] = {
        {"launch", o->launch_s, SS_UNIT_SECONDS},
        {"flop_efficiency", o->flop_efficiency, SS_UNIT_NONE},
        {"conv_efficiency", o->conv_efficiency, SS_UNIT_NONE},
        {"conv_backward_efficiency", o->conv_backward_efficiency, SS_UNIT_NONE},
        {"operand_efficiency", o->operand_efficiency, SS_UNIT_NONE},
        {"memory_efficiency", o->memory_efficiency, SS_UNIT_NONE},
        {"half_flop", o->half_flop, SS_UNIT_FLOP},
    };
    char text[SS_QUANTITY_TEXT];
    const char *before = "";
    for (uint32_t i = 0; i < sizeof constant / sizeof *constant; i++) {
        if (isnan(constant[i].value))
            continue;
        ss_text_add(out, "%s %s ", before, constant[i].name);
        before = ",";
        if (constant[i].unit == SS_UNIT_NONE)
            ss_text_add(out, "%g", constant[i].value);
        else
            ss_text_add(out, "%s",
                        ss_format_quantity(constant[i].value, constant[i].unit, text, sizeof text));
    }
    if (strcmp(o->kind, "*") != 0)
        ss_text_add(out, " of %s", o->kind);
}

const char *ss_cost_roofline_kind(const ss_cost_roofline *r, uint32_t i)
{
    return i < r->n ? r->override[i].kind : NULL;
}

void ss_cost_roofline_say(const ss_cost_roofline *r, ss_text *out)
{
    ss_text_add(out, "roofline");
    for (uint32_t i = 0; i < r->n; i++) {
        ss_text_add(out, i ? " and" : " with");
        say_constants(&r->override[i], out);
    }
}

uint64_t ss_cost_roofline_hash(const ss_cost_roofline *r, uint64_t h)
{
    h = ss_hash_u64(h, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        const ss_roofline *o = &r->override[i];
        const double field[] = {o->launch_s,           o->flop_efficiency,
                                o->conv_efficiency,    o->conv_backward_efficiency,
                                o->operand_efficiency, o->memory_efficiency,
                                o->half_flop};
        h = ss_hash_text(h, o->kind);
        for (uint32_t k = 0; k < sizeof field / sizeof *field; k++)
            h = ss_hash_double(h, field[k]);
    }
    return h;
}
