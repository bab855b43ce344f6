/* strategy.h - how each operator is cut into parts, and which device holds which part.
 *
 * A configuration is a degree for each dimension of the operator's main output and a device for
 * each part.  Parts are numbered by mixed radix over the degrees, dimension 0 (the sample) slowest:
 * FlexFlow, figure 3.  Degrees need not divide evenly (shape.h says how extents are cut) and
 * devices may repeat.  A strategy has a configuration for every operator from the moment it exists:
 * whole, on device 1.
 *
 * Pins are a person's knowledge: a pinned operator, degree or device is changed by nobody but the
 * person, not by the ready-made strategies either and not by a search.
 */
#ifndef SS_STRATEGY_H
#define SS_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "graph/ids.h"
#include "graph/model.h"
#include "graph/topology.h"

enum { SS_MAX_PARTS = 65536 };

typedef struct ss_config {
    uint32_t degree[SS_MAX_DIMS]; /* 1 beyond the operator's rank */
    uint32_t parts;               /* product of the degrees */
    ss_device *device;            /* [parts] */
    uint32_t cap;                 /* room in device: a part more or less asks for no memory */
} ss_config;

typedef enum ss_pin {
    SS_PIN_NONE = 0,
    SS_PIN_DEGREES = 1, /* bit 0: all degrees */
    SS_PIN_DEVICES = 2, /* bit 1: the devices of all parts (implies that their number is fixed) */
    SS_PIN_ALL = 3
} ss_pin;

typedef struct ss_strategy {
    const ss_model *model; /* both outlive the strategy */
    const ss_topology *topology;
    uint32_t ops;                       /* of the model when the strategy was made */
    ss_config *config;                  /* [ops + 1] */
    uint8_t *pin;                       /* [ops + 1], ss_pin bits */
    uint8_t (*pin_degree)[SS_MAX_DIMS]; /* [ops + 1]: single dimensions pinned */
} ss_strategy;

/* Refuses a topology without devices.  An operator added to the model later has no configuration;
 * ss_strategy_check says so. */
ss_status ss_strategy_new(const ss_model *m, const ss_topology *t, ss_strategy **out,
                          ss_error *err);
ss_status ss_strategy_copy(const ss_strategy *from, ss_strategy **out, ss_error *err);
void ss_strategy_free(ss_strategy *s);

/* Refuses, each with its own sentence: a degree of 0; a degree above the extent (or its number of
 * grains); a degree above 1 on a dimension that may not be split or is not there; a product above
 * SS_MAX_PARTS; a device that is not there; a number of devices that is not the product; a change
 * to what is pinned.  Dimensions beyond `degrees` are not cut.  One device for all parts may be
 * given as n = 1.  `degree` and `device` may point into the strategy. */
ss_status ss_strategy_set(ss_strategy *s, ss_op op, const uint32_t *degree, uint32_t degrees,
                          const ss_device *device, uint32_t n, ss_error *err);

/* What ss_strategy_set would say, without setting; `parts` (or NULL) gets the product. */
ss_status ss_strategy_allows(const ss_strategy *s, ss_op op, const uint32_t *degree,
                             uint32_t degrees, const ss_device *device, uint32_t n, uint32_t *parts,
                             ss_error *err);

/* The largest degree that the rules allow: 1 where a dimension may not be split or is not there. */
uint32_t ss_strategy_limit(const ss_strategy *s, ss_op op, uint32_t dim);

/* Pins what is there now; bits are added.  Unpinning takes them all away. */
ss_status ss_strategy_pin(ss_strategy *s, ss_op op, ss_pin what, ss_error *err);
ss_status ss_strategy_pin_degree(ss_strategy *s, ss_op op, uint32_t dim, ss_error *err);
void ss_strategy_unpin(ss_strategy *s, ss_op op);
bool ss_strategy_pinned_degree(const ss_strategy *s, ss_op op,
                               uint32_t dim); /* alone or with all */

/* The box of output 0 that a part makes; parts count from 0. */
void ss_strategy_part_box(const ss_strategy *s, ss_op op, uint32_t part, ss_box *out);

ss_status ss_strategy_check(const ss_strategy *s, ss_error *err); /* every rule, every operator */
bool ss_config_same(const ss_config *a, const ss_config *b);
ss_status ss_config_copy(const ss_config *from, ss_config *to,
                         ss_error *err); /* to: {0} or in use */
bool ss_strategy_same(const ss_strategy *a,
                      const ss_strategy *b); /* configurations; not the pins */

/* Ready-made.  Each fills every operator that is not pinned, and either all of them or none (no
 * memory).  What is pinned stays: a pinned degree is taken as it is and the others are chosen
 * around it; where devices are pinned, degrees change only if their product does not. */

/* Every operator in one part, on device 1: what a new strategy is. */
ss_status ss_strategy_whole(ss_strategy *s, ss_error *err);
/* The sample cut into as many parts as there are devices (as many as it has elements if fewer),
 * part k on device k. */
ss_status ss_strategy_data_parallel(ss_strategy *s, ss_error *err);

/* Forward and backward seconds of a whole operator on a device.  It is asked again and again for
 * the same, so it should remember; and it answers the same each time. */
typedef double (*ss_op_seconds)(void *context, ss_op op, ss_device device);

/* Whole operators in their order, cut into runs, one run a device in the order of devices, so that
 * the busiest device has the least possible time; of the cuts that reach it, one whose runs are
 * near their fair share.  Operators with pinned devices count as load on those devices.  NULL: time
 * is FLOP over the device's peak. */
ss_status ss_strategy_model_parallel(ss_strategy *s, ss_op_seconds cost, void *context,
                                     ss_error *err);
/* "One weird trick" (Krizhevsky 2014): fully connected operators (linear, linear_softmax) split by
 * channel, all others by sample. */
ss_status ss_strategy_expert_cnn(ss_strategy *s, ss_error *err);
/* Recurrent networks (the recipe of GNMT): data parallel across machines, part j of every operator
 * in machine j.  Inside a machine with g devices an operator of layer l (the `layer` of the model,
 * from 1) is on the machine's device (l - 1) mod g: the placement of FlexFlow's 2018 simulator.  An
 * operator without a layer goes with the one whose output it reads first.  With by_depth, operators
 * of equal depth are together instead, device depth mod g: depth counts the changes of layer along
 * first inputs, from 0.  Machines may differ in their number of devices. */
ss_status ss_strategy_expert_rnn(ss_strategy *s, bool by_depth, ss_error *err);
/* For each operator degrees uniform among all that the rules allow with at most max_parts parts,
 * then a device for each part, uniform. */
ss_status ss_strategy_random(ss_strategy *s, ss_rng *rng, uint32_t max_parts, ss_error *err);

#endif
