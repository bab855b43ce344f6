/* cost.h - how long a part of an operator takes on a device.
 *
 * Three sources, asked in the order that the user stacked them, the first that knows wins:
 *   given     seconds by operator name, for one part (or for the whole, shared by FLOP)
 *   table     measured seconds by (kind, attributes, part shape, phase, device kind), interpolated in
 *             size with GSL where a neighbourhood of measured sizes exists
 *   roofline  launch + max(flop / (peak * efficiency), bytes / (bandwidth * efficiency)), efficiency
 *             falling with small work; constants by device kind, each with its source
 * Every answer is remembered by what it depends on, so a search asks the slow sources once.  What no
 * source knew is collected, all of it, for one clear report.
 */
#ifndef SS_COST_H
#define SS_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/lower.h"

typedef struct ss_costs ss_costs;

ss_status ss_costs_new(ss_costs **out, ss_error *err);
void ss_costs_free(ss_costs *c);

/* Efficiency model of a device kind. */
typedef struct ss_roofline {
    const char *kind;       /* of ss_device_def; "*": any */
    double launch_s;        /* each task, even an empty one */
    double flop_efficiency; /* of peak, reached by large matrix products */
    double memory_efficiency;
    double half_flop;       /* FLOP of a task that reaches half of that efficiency */
    const char *source;     /* where the constants come from */
} ss_roofline;

const ss_roofline *ss_roofline_builtin(const char *kind); /* falls back to "*" */
ss_status ss_costs_add_roofline(ss_costs *c, const ss_roofline *override_or_null, ss_error *err);

/* Seconds for forward and backward of one part of the operator, or, with whole, of all of it. */
ss_status ss_costs_add_given(ss_costs *c, const char *op_name, double forward_s, double backward_s,
                             bool whole, ss_error *err);

/* One measured point.  key_shape is the part's output box extents, then each input's. */
typedef struct ss_measured {
    const char *kind, *device_kind;
    const char *attributes;  /* canonical text: "kernel_h=3 kernel_w=3 ..." in table order */
    const char *shape;       /* canonical text: "64x64x55x55 < 64x3x224x224" */
    const char *dtype;
    ss_phase phase;
    double seconds, spread_s;
    uint32_t samples;
} ss_measured;

ss_status ss_costs_add_measured(ss_costs *c, const ss_measured *row, ss_error *err);

/* The measured key of a part, as ss_measured spells it. */
void ss_cost_key(const ss_op_def *op, const ss_box *main, ss_text *attributes, ss_text *shape);

/* Optimistic multiplier for studies: every compute time times this; 1 unless set. */
void ss_costs_set_scale(ss_costs *c, double scale);

ss_timer ss_costs_timer(ss_costs *c, const ss_topology *t);

/* How the answers came about so far: rows asked, by source, exact or interpolated; and every key that
 * no source knew.  Written for a person. */
ss_status ss_costs_report(const ss_costs *c, ss_text *out, ss_error *err);
uint32_t ss_costs_missing(const ss_costs *c);
uint64_t ss_costs_hash(const ss_costs *c);

#endif
