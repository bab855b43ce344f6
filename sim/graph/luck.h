/* luck.h - what one step draws: chance, ready for a model and a topology.
 *
 * Lowering fills one and hands it to the tasks, which ask it as they are added: so the task graph that
 * is made anew and the one that changes in place (live.h) draw alike.
 *
 * What names a draw is the task's label, but for what the strategy may change without making another
 * task of it: the device of a part and the route of an activation do not count, so that a part that is
 * moved takes its luck along.  An update of one of several copies is told by its device.  Hops and
 * segments of a message share its luck.
 */
#ifndef SS_LUCK_H
#define SS_LUCK_H

#include "graph/chance.h"
#include "graph/model.h"
#include "graph/tasks.h"

typedef struct ss_luck {
    const ss_chance *chance; /* NULL: no chance */
    uint32_t repetition;
    uint64_t key[SS_LUCKS];
    const ss_draw **of_op; /* [ops + 1]: of its forward and backward parts */
    uint32_t op_cap;
    const ss_draw **on_device; /* [devices + 1]; NULL: as others */
    double *slow;              /* [devices + 1]: fixed and drawn together */
    uint32_t device_cap;
} ss_luck; /* {0} */

/* repetition 0: that of the chance.  Refuses a chance whose devices the topology does not have; it must
 * have been bound. */
ss_status ss_luck_start(ss_luck *l, const ss_chance *c, uint32_t repetition, const ss_model *m,
                        const ss_topology *t, ss_error *err);
void ss_luck_free(ss_luck *l);

/* The time of a task that is no transfer, from what it takes without chance.  What takes no time goes on
 * taking none; a collective that is one task is drawn as one message, whose overhead counts for each of its
 * rounds (turn). */
ss_status ss_luck_hold(const ss_luck *l, const ss_task_label *label, uint32_t where, ss_time hold,
                       ss_time *out, ss_error *err);

typedef struct ss_luck_message {
    double factor; /* of its bytes */
    ss_time more;  /* added once */
} ss_luck_message;

ss_status ss_luck_of_message(const ss_luck *l, const ss_task_label *label, ss_luck_message *out,
                             ss_error *err);
static inline bool ss_luck_scales_messages(const ss_luck *l)
{
    return l && l->chance && l->chance->draw[SS_LUCK_TRANSFER].kind != SS_DRAW_NONE;
}

#endif
