/* roofline.h - what a part of an operator does, and how long the constants of a device kind say that this takes.
 *
 * Products (whatever has macs) take
 *     launch + max((flop + half_flop) / (peak * efficiency), bytes / (bandwidth * operand_efficiency))
 * so that products of half_flop FLOP run at half of the efficiency of large ones (Hockney's n 1/2),
 * and all other work
 *     launch + max(flop / (peak * flop_efficiency), bytes / (bandwidth * memory_efficiency))
 * Peak and bandwidth are the device's; where it has no peak for tf32 that for f32 is taken, as
 * libraries do.  What computes and moves nothing (a view) takes no time at all.
 *
 * docs/decisions/0009 says why there are seven constants; roofline_fit.h finds them from measured times.
 */
#ifndef SS_ROOFLINE_H
#define SS_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "graph/op.h"
#include "graph/topology.h"

typedef struct ss_roofline {
    const char *kind;                /* of ss_device_def; "*": any */
    double launch_s;                 /* each task that does anything */
    double flop_efficiency;          /* of peak, reached by large matrix products */
    double conv_efficiency;          /* the same of convolutions, forward */
    double conv_backward_efficiency; /* and backward */
    double operand_efficiency;       /* of memory bandwidth, by products short of arithmetic */
    double memory_efficiency;        /* the same of streams: element-wise work, norms, updates */
    double half_flop;
    const char *source; /* where the constants come from */
} ss_roofline;

const ss_roofline *ss_roofline_builtin(const char *kind); /* falls back to "*" */
const ss_roofline *ss_rooflines(uint32_t *n);             /* all of them, "*" last */

/* The seven by number, in the order of the struct. */
typedef enum ss_roofline_of {
    SS_ROOFLINE_LAUNCH,
    SS_ROOFLINE_FLOP,
    SS_ROOFLINE_CONV,
    SS_ROOFLINE_CONV_BACKWARD,
    SS_ROOFLINE_OPERAND,
    SS_ROOFLINE_MEMORY,
    SS_ROOFLINE_HALF,
    SS_ROOFLINE_CONSTANTS
} ss_roofline_of;

typedef struct ss_roofline_constant {
    const char *name;   /* "flop_efficiency", as options are called */
    const char *noun;   /* "efficiency of products", for messages */
    double least, most; /* what makes sense; efficiencies may pass 1: fast convolutions do less arithmetic than is
                           counted, caches save bytes */
    ss_unit unit;
} ss_roofline_constant;

const ss_roofline_constant *ss_roofline_describe(ss_roofline_of which);
double ss_roofline_get(const ss_roofline *r, ss_roofline_of which);
void ss_roofline_set(ss_roofline *r, ss_roofline_of which, double value);

/* Which efficiency of arithmetic is asked for. */
typedef enum ss_roofline_sort {
    SS_WORK_STREAM, /* nothing but products has macs */
    SS_WORK_PRODUCT,
    SS_WORK_CONV,
    SS_WORK_CONV_BACKWARD,
    SS_WORK_SORTS
} ss_roofline_sort;
const char *ss_roofline_sort_name(ss_roofline_sort sort); /* "streams", "products", ... */

typedef struct ss_roofline_work {
    ss_roofline_sort sort;
    double flops, bytes; /* both 0: nothing is done */
} ss_roofline_work;

ss_roofline_work ss_roofline_work_of(const ss_op_def *op, ss_phase phase, bool input_gradient, const ss_box *main);

/* FLOP/s of the device for such elements; 0: it has none. */
double ss_roofline_peak(const ss_device_def *device, ss_dtype dtype);

/* Seconds of a task are launch and the longer of the two others; of no work all are 0. */
typedef struct ss_roofline_time {
    double launch_s, computing_s, moving_s;
} ss_roofline_time;

/* Peak in FLOP/s and bandwidth in B/s, above 0 where the work has FLOP and bytes. */
ss_roofline_time ss_roofline_time_of(const ss_roofline *r, const ss_roofline_work *work, double peak,
                                     double bandwidth);
double ss_roofline_seconds(const ss_roofline *r, const ss_roofline_work *work, double peak, double bandwidth);

/* The constant that sets how fast such work computes, and the one that sets how fast it moves. */
ss_roofline_of ss_roofline_computes_by(ss_roofline_sort sort);
ss_roofline_of ss_roofline_moves_by(ss_roofline_sort sort);

#endif
