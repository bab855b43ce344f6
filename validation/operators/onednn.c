/* onednn.c - the maker, what all parts have, and products. */
#include "validation/operators/onednn_inside.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph/op_kinds.h"

#define KIND(name) &ss_onednn_##name,
static const ss_onednn_kind *const kinds[] = {SS_ONEDNN_KINDS(KIND)};
#undef KIND

enum { KINDS = sizeof kinds / sizeof kinds[0], VERSION_TEXT = 96, ALIGNED = 64 };

struct ss_kernels {
    dnnl_engine_t engine;
    char version[VERSION_TEXT];
};

ss_status ss_onednn_status(dnnl_status_t s, const char *what, ss_error *err)
{
    switch (s) {
    case dnnl_success:
        return SS_OK;
    case dnnl_out_of_memory:
        return ss_fail(err, SS_ENOMEM, "oneDNN: %s: no memory", what);
    case dnnl_unimplemented:
        return ss_fail(err, SS_EUNSUPPORTED, "oneDNN: %s: not implemented", what);
    default:
        return ss_fail(err, SS_EINVAL, "oneDNN: %s: refused with status %d", what, (int)s);
    }
}

static const char *isa_name(void)
{
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
        return "sse41";
    case dnnl_cpu_isa_avx:
        return "avx";
    case dnnl_cpu_isa_avx2:
        return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
        return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
        return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
        return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
        return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
        return "avx512_core_amx";
    default:
        return "another instruction set";
    }
}

ss_status ss_kernels_new(ss_kernels **out, ss_error *err)
{
    *out = NULL;
    ss_kernels *k = ss_alloc_zeroed(1, sizeof *k);
    if (!k)
        return ss_fail_memory(err, "kernels", sizeof *k);
    ss_status s = ss_onednn_status(dnnl_engine_create(&k->engine, dnnl_cpu, 0), "an engine", err);
    if (s) {
        ss_free(k);
        return s;
    }
    const dnnl_version_t *v = dnnl_version();
    snprintf(k->version, sizeof k->version, "oneDNN %d.%d.%d (%s)", v->major, v->minor, v->patch,
             isa_name());
    *out = k;
    return SS_OK;
}

void ss_kernels_free(ss_kernels *k)
{
    if (!k)
        return;
    dnnl_engine_destroy(k->engine);
    ss_free(k);
}

const char *ss_kernels_version(const ss_kernels *k)
{
    return k->version;
}

/* Parts */

typedef struct ss_onednn_block {
    struct ss_onednn_block *next;
} ss_onednn_block;

ss_status ss_onednn_memory(ss_onednn_part *p, size_t bytes, void **out, ss_error *err)
{
    size_t room = bytes + sizeof(ss_onednn_block) + ALIGNED;
    ss_onednn_block *b = ss_alloc(room);
    if (!b)
        return ss_fail_memory(err, "a kernel", room);
    b->next = p->blocks;
    p->blocks = b;
    char *at = (char *)(b + 1);
    at += ALIGNED - (uintptr_t)at % ALIGNED;
    *out = memset(at, 0, bytes);
    return SS_OK;
}

ss_status ss_onednn_floats(ss_onednn_part *p, int64_t n, float **out, ss_error *err)
{
    void *at = NULL;
    ss_status s = ss_onednn_memory(p, (size_t)n * sizeof(float), &at, err);
    *out = at;
    return s;
}

ss_onednn_channels ss_onednn_by_channel(const ss_onednn_part *p)
{
    const ss_box *main = &p->kernel.main;
    uint32_t channel = ss_op_channel(&p->kernel.op->out[0]);
    ss_onednn_channels by = {1, ss_onednn_extent(main, channel), 1};
    for (uint32_t d = 0; d < main->rank; d++)
        if (d != channel)
            *(d < channel ? &by.outer : &by.inner) *= ss_onednn_extent(main, d);
    return by;
}

static void part_free(ss_kernel *k)
{
    ss_onednn_part *p = (ss_onednn_part *)k;
    ss_onednn_calls_free(p);
    if (p->stream)
        dnnl_stream_destroy(p->stream);
    while (p->blocks) {
        ss_onednn_block *b = p->blocks;
        p->blocks = b->next;
        ss_free(b);
    }
    ss_free(p);
}

/* oneDNN shares a call out among OpenMP's threads; how many is a setting of the thread that calls, and is
 * built into primitives when they are made. */
static void on_this_thread_alone(void)
{
    omp_set_num_threads(1);
}

static ss_status part_forward(ss_kernel *k, const ss_kernel_io *io, ss_error *err)
{
    ss_onednn_part *p = (ss_onednn_part *)k;
    on_this_thread_alone();
    return p->kind->forward(p, io, err);
}

static bool no_gradient_comes(const ss_op_def *op, const ss_kernel_io *io)
{
    for (uint32_t o = 0; o < op->outputs; o++)
        if (io->out_gradient[o])
            return false;
    return !op->kind->is_loss;
}

static void zeros(float *at, const ss_box *b)
{
    memset(at, 0, (size_t)ss_box_elements(b) * sizeof *at);
}

static void no_gradient_goes(const ss_onednn_part *p, const ss_kernel_io *io, unsigned what)
{
    const ss_op_def *op = p->kernel.op;
    for (uint32_t i = 0; i < op->inputs; i++)
        if (ss_onednn_wants_input(io, what, i)) {
            ss_box b = ss_onednn_in(p, i);
            zeros(io->in_gradient[i], &b);
        }
    for (uint32_t w = 0; w < op->weights && !io->add_weight_gradient; w++)
        if (ss_onednn_wants_weight(io, what, w)) {
            ss_box b = ss_onednn_weight(p, w);
            zeros(io->weight_gradient[w], &b);
        }
}

static ss_status part_backward(ss_kernel *k, const ss_kernel_io *io, unsigned what, ss_error *err)
{
    ss_onednn_part *p = (ss_onednn_part *)k;
    if (no_gradient_comes(k->op, io)) {
        no_gradient_goes(p, io, what);
        return SS_OK;
    }
    on_this_thread_alone();
    return p->kind->backward(p, io, what, err);
}

static const ss_onednn_kind *find(const char *name)
{
    for (uint32_t i = 0; i < KINDS; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

static ss_status make(void *context, const ss_op_def *op, const ss_box *main, ss_kernel **out,
                      ss_error *err)
{
    *out = NULL;
    ss_kernels *kernels = context;
    const ss_onednn_kind *kind = find(op->kind->name);
    if (!kind)
        return ss_fail(err, SS_EUNSUPPORTED, "%s has no kernel", op->kind->name);
    ss_status s = ss_kernel_check(op, main, err);
    if (s)
        return s;
    ss_onednn_part *p = ss_alloc_zeroed(1, kind->bytes);
    if (!p)
        return ss_fail_memory(err, "a kernel", kind->bytes);
    p->kernel = (ss_kernel){.op = op,
                            .main = *main,
                            .forward = part_forward,
                            .backward = part_backward,
                            .free = part_free};
    p->kind = kind;
    p->engine = kernels->engine;
    on_this_thread_alone();
    s = ss_onednn_status(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags),
                         "a stream", err);
    if (!s)
        s = kind->make(p, err);
    if (s) {
        part_free(&p->kernel);
        return s;
    }
    *out = &p->kernel;
    return SS_OK;
}

ss_kernel_maker ss_kernels_maker(ss_kernels *k)
{
    return (ss_kernel_maker){k, make};
}

/* Products */

ss_status ss_onednn_product(int64_t m, int64_t n, int64_t k, ss_matrix a, ss_matrix b, bool add,
                            float *c, int64_t c_row, ss_error *err)
{
    return ss_onednn_status(dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k,
                                       1, a.at, a.row, b.at, b.row, add ? 1 : 0, c, c_row),
                            "a product", err);
}

void ss_onednn_sum_rows(int64_t rows, int64_t columns, const float *x, bool add, float *total)
{
    if (!add)
        memset(total, 0, (size_t)columns * sizeof *total);
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * columns;
#pragma omp simd
        for (int64_t c = 0; c < columns; c++)
            total[c] += row[c];
    }
}
