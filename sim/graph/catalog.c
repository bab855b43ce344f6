#include "graph/catalog.h"

#include <string.h>

#include "base/text.h"

#define TERA 1e12
#define GIGA 1e9
#define GIB 1073741824.0

static const ss_device_kind kinds[] = {
    {.def = {.kind = "k80",
             .flop_per_s = {[SS_F64] = 1.456 * TERA, [SS_F32] = 4.37 * TERA},
             .memory_bytes_per_s = 240 * GIGA,
             .memory_bytes = 12 * GIB,
             .speed = 1},
     .summary = "NVIDIA Tesla K80, one of the two GK210 of a board",
     .source = "NVIDIA, Tesla K80 GPU accelerator, board specification BD-07317-001: 8.74 and 2.91 "
               "TFLOP/s with boost, 480 GB/s, 24 GB for the board; halved"},
    {.def = {.kind = "p100",
             .flop_per_s = {[SS_F64] = 5.3 * TERA, [SS_F32] = 10.6 * TERA, [SS_F16] = 21.2 * TERA},
             .memory_bytes_per_s = 732 * GIGA,
             .memory_bytes = 16 * GIB,
             .speed = 1},
     .summary = "NVIDIA Tesla P100 SXM2 16 GB, with NVLink",
     .source = "NVIDIA, Tesla P100 data sheet (2016), NVLink-optimized servers"},
    {.def = {.kind = "p100_pcie",
             .flop_per_s = {[SS_F64] = 4.7 * TERA, [SS_F32] = 9.3 * TERA, [SS_F16] = 18.7 * TERA},
             .memory_bytes_per_s = 732 * GIGA,
             .memory_bytes = 16 * GIB,
             .speed = 1},
     .summary = "NVIDIA Tesla P100 PCIe 16 GB",
     .source = "NVIDIA, Tesla P100 data sheet (2016), PCIe-based servers"},
    {.def = {.kind = "v100",
             .flop_per_s = {[SS_F64] = 7.8 * TERA, [SS_F32] = 15.7 * TERA, [SS_F16] = 125 * TERA},
             .memory_bytes_per_s = 900 * GIGA,
             .memory_bytes = 16 * GIB,
             .speed = 1},
     .summary = "NVIDIA V100 SXM2 16 GB",
     .source = "NVIDIA, V100 data sheet (2018), SXM2; f16 on tensor cores"},
    {.def = {.kind = "v100_32gb",
             .flop_per_s = {[SS_F64] = 7.8 * TERA, [SS_F32] = 15.7 * TERA, [SS_F16] = 125 * TERA},
             .memory_bytes_per_s = 900 * GIGA,
             .memory_bytes = 32 * GIB,
             .speed = 1},
     .summary = "NVIDIA V100 SXM2 32 GB",
     .source = "NVIDIA, V100 data sheet (2018), SXM2; f16 on tensor cores"},
    {.def = {.kind = "tpu_v3",
             .flop_per_s = {[SS_BF16] = 123 * TERA},
             .memory_bytes_per_s = 900 * GIGA,
             .memory_bytes = 32 * GIB,
             .speed = 1},
     .summary = "Google TPU v3, one chip (two cores)",
     .source = "Jouppi et al., A domain-specific supercomputer for training deep neural networks, "
               "Communications of the ACM 63(7), 2020, table 3"},
    {.def = {.kind = "a100",
             .flop_per_s = {[SS_F64] = 19.5 * TERA,
                            [SS_F32] = 19.5 * TERA,
                            [SS_TF32] = 156 * TERA,
                            [SS_BF16] = 312 * TERA,
                            [SS_F16] = 312 * TERA,
                            [SS_I8] = 624 * TERA},
             .memory_bytes_per_s = 1555 * GIGA,
             .memory_bytes = 40 * GIB,
             .speed = 1},
     .summary = "NVIDIA A100 SXM4 40 GB",
     .source = "NVIDIA, A100 data sheet (2021), dense; f64 on tensor cores"},
    {.def = {.kind = "a100_80gb",
             .flop_per_s = {[SS_F64] = 19.5 * TERA,
                            [SS_F32] = 19.5 * TERA,
                            [SS_TF32] = 156 * TERA,
                            [SS_BF16] = 312 * TERA,
                            [SS_F16] = 312 * TERA,
                            [SS_I8] = 624 * TERA},
             .memory_bytes_per_s = 2039 * GIGA,
             .memory_bytes = 80 * GIB,
             .speed = 1},
     .summary = "NVIDIA A100 SXM4 80 GB",
     .source = "NVIDIA, A100 data sheet (2021), dense; f64 on tensor cores"},
    {.def = {.kind = "h100",
             .flop_per_s = {[SS_F64] = 66.9 * TERA,
                            [SS_F32] = 66.9 * TERA,
                            [SS_TF32] = 494.7 * TERA,
                            [SS_BF16] = 989.4 * TERA,
                            [SS_F16] = 989.4 * TERA,
                            [SS_F8] = 1978.9 * TERA,
                            [SS_I8] = 1978.9 * TERA},
             .memory_bytes_per_s = 3350 * GIGA,
             .memory_bytes = 80 * GIB,
             .speed = 1},
     .summary = "NVIDIA H100 SXM5 80 GB",
     .source = "NVIDIA, H100 tensor core GPU architecture, V1.04 (2023), table 2, dense; f64 on "
               "tensor cores; memory bandwidth of the H100 data sheet"},
    {.def = {.kind = "cpu",
             .flop_per_s = {[SS_F64] = 1.024 * TERA, [SS_F32] = 2.048 * TERA},
             .memory_bytes_per_s = 128 * GIGA,
             .memory_bytes = 192 * GIB,
             .speed = 1},
     .summary = "a server processor, one socket of 20 cores (Intel Xeon Gold 6148)",
     .source = "Intel, Xeon Gold 6148 specification: 20 cores with two AVX-512 units, six channels "
               "of DDR4-2666; Intel, Xeon Scalable specification update: 1.6 GHz AVX-512 base; "
               "20 x 1.6e9 x 64 FLOP/s in f32"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

const ss_device_def *ss_device_kind_find(const char *kind)
{
    for (uint32_t i = 0; kind && i < KINDS; i++)
        if (!strcmp(kinds[i].def.kind, kind))
            return &kinds[i].def;
    return NULL;
}

const char *ss_device_kind_nearest(const char *kind)
{
    const char *names[KINDS];
    for (uint32_t i = 0; i < KINDS; i++)
        names[i] = kinds[i].def.kind;
    return ss_nearest(kind, names, KINDS);
}

const ss_device_kind *ss_device_kinds(uint32_t *n)
{
    *n = KINDS;
    return kinds;
}
