/* cost.h - how long a part of an operator takes on a device.
 *
 * Three kinds of sources, asked in the order in which they were added; the first that knows wins:
 *   given     seconds by operator name, for one part (or for the whole, shared by FLOP)
 *   table     measured seconds by (kind, attributes, part shape, element type, phase, device kind),
 *             interpolated in size with GSL between measured sizes, never beyond them; backward is the
 *             measured one, or the sum of what was measured of gradients of inputs and of weights; of an
 *             operator that reads only the data that of weights, or its share, by FLOP, of the measured
 *             backward
 *   roofline  launch + the longer of computing and moving, efficiency falling with small work;
 *             constants by device kind, each with its source (roofline.h)
 * Every answer is remembered by all that it depends on (the operator's definition, not its address),
 * so a search asks the slow sources once.  What no source knew is collected, all of it, for one clear
 * report: until then such a part counts as 0, so whoever lowers asks ss_costs_refuse_missing next.
 *
 * One ss_costs is for one thread at a time.
 */
#ifndef SS_COST_H
#define SS_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/lower.h"
#include "simulate/correction.h"
#include "simulate/roofline.h"

typedef struct ss_costs ss_costs;

ss_status ss_costs_new(ss_costs **out, ss_error *err);
void ss_costs_free(ss_costs *c);

/* With NULL the built-in constants serve every kind.  An override replaces those of one kind, or of
 * every kind ("*"); NAN in a field keeps the built-in one. */
ss_status ss_costs_add_roofline(ss_costs *c, const ss_roofline *override_or_null, ss_error *err);

/* Seconds for forward and backward of one part of the operator, or, with whole, of all of it; NAN:
 * not given for that phase.  A device of speed 0.5 takes twice as long. */
ss_status ss_costs_add_given(ss_costs *c, const char *op_name, double forward_s, double backward_s,
                             bool whole, ss_error *err);
/* Refuses a given time for an operator that the model does not have, naming the nearest. */
ss_status ss_costs_check_given(const ss_costs *c, const ss_model *m, ss_error *err);

/* Refuses what can serve no device of the topology by a slip of the pen: a table none of whose
 * devices is of a kind there, and constants of a roofline for a kind that is neither there nor
 * built in; each with the nearest kind. */
ss_status ss_costs_check_devices(const ss_costs *c, const ss_topology *t, ss_error *err);

/* One measured point. */
typedef struct ss_measured {
    const char *kind, *device_kind;
    const char *attributes; /* canonical text: "kernel_h=3 kernel_w=3 ...", as ss_cost_key has it */
    const char *
        shape; /* the part's output extents, then each input's: "64x64x55x55 < 64x3x224x224, ..." */
    const char *dtype; /* of output 0 */
    ss_phase phase;
    double seconds, spread_s; /* spread: standard deviation, 0 if not known */
    uint32_t samples;         /* how many runs the seconds are the middle of; 0 if not known */
    /* How far it waits for memory that other devices of its machine use too, 0 to 1 (tasks.h). */
    bool has_bound;
    double bound;
} ss_measured;

/* Rows that follow belong to this table; the name ("profile.csv") is for messages. */
ss_status ss_costs_begin_table(ss_costs *c, const char *name, ss_error *err);
/* Refuses a row whose kind, attributes, shape or element type cannot be, and one measured before.
 */
ss_status ss_costs_add_measured(ss_costs *c, const ss_measured *row, ss_error *err);

/* How long a device kind takes to read and write `bytes` in all of one stream; belongs to the table that was begun last.
 * Between two sizes time is a straight line in logarithms, below the least it is that one's, above the largest
 * it grows in proportion.  What no table has, the roofline says. */
typedef struct ss_measured_stream {
    const char *device_kind;
    ss_stream what;
    double bytes, seconds;
    bool has_bound; /* as of ss_measured */
    double bound;
} ss_measured_stream;
ss_status ss_costs_add_stream(ss_costs *c, const ss_measured_stream *row, ss_error *err);

/* The measured key of a part, as ss_measured spells it.  Attributes in the order of the kind's
 * table; those that say how wide the output is (out, hidden, size) are left out, since the shape
 * says it, and counts that are split with it (heads, groups) are those of the part: a part has the
 * key of an operator of its size. */
void ss_cost_key(const ss_op_def *op, const ss_box *main, ss_text *attributes, ss_text *shape);

/* Appends the sources of another, whose times keep their scale; it may be freed or added to
 * afterwards. */
ss_status ss_costs_add_all(ss_costs *c, const ss_costs *from, ss_error *err);

/* What the tables say of a part exactly, on a device of that kind and of speed 1, neither scaled nor corrected; *known is false where
 * none has it, or only what is near it. */
ss_status ss_costs_measured(const ss_costs *c, const ss_op_def *op, ss_phase phase, bool input_gradient,
                            const ss_box *main, const ss_device_def *device, double *seconds, bool *known,
                            ss_error *err);

/* The same sources and scale, and nothing remembered yet: for another thread, say.  Sources are
 * shared, so copying and freeing are for one thread at a time; asking is not. */
ss_status ss_costs_copy(const ss_costs *from, ss_costs **out, ss_error *err);

/* Multiplier for studies: every time times this, also those of sums and updates; 1 unless set.  It
 * replaces the one that was set before. */
ss_status ss_costs_set_scale(ss_costs *c, double scale, ss_error *err);

/* Every time of the sources that are there is as the correction has it, which is held and then not to be changed; of what
 * no source knows (sums and updates without a table) that of the roofline.  Refuses costs without sources, and some that
 * are corrected already. */
ss_status ss_costs_correct(ss_costs *c, ss_correction *x, ss_error *err);

/* What lowering asks.  The timer lives as long as c and is for this topology, which must outlive
 * its use; topologies may have timers side by side. */
ss_status ss_costs_timer(ss_costs *c, const ss_topology *t, ss_timer *out, ss_error *err);

/* Where there were keys that no source knew since this was asked last: names the first and counts the
 * others. */
ss_status ss_costs_refuse_missing(ss_costs *c, ss_error *err);

/* How the answers came about so far: parts asked for, by source, exact or interpolated; every key
 * that no source knew; given times that nobody asked for.  Written for a person. */
ss_status ss_costs_report(const ss_costs *c, ss_text *out, ss_error *err);
/* The same of one simulation, as a line among its assumptions: "table times.csv (12 of 40 parts),
 * roofline scaled by 100 for the rest", counted since ss_costs_count; and in `notes` a sentence a
 * line for each table that answered for none.  Both are appended to. */
void ss_costs_count(ss_costs *c);
ss_status ss_costs_say(const ss_costs *c, ss_text *out, ss_text *notes, ss_error *err);
uint64_t ss_costs_hash(const ss_costs *c); /* of the sources, in their order, and the scale */

#endif
