/* steps.h - steps that follow each other, each task as soon as it may.
 *
 * A step is simulated alone, and training is taken to be as many of them: the published model lets no
 * step begin before the last has ended.  Nothing demands that.  What the next step needs of the last are its
 * weights, so a forward task can run when the weights of its operator on its device are new, while
 * gradients of others are still under way.
 *
 * So the step's task graph is put behind itself again and again.  A forward task waits, in the step before, for all
 * that makes the weights of its operator on its device: its own gradients (and the barrier, where gradients
 * meet after all backward work), the messages of their meeting that reach the device, and the update.  That is
 * told weight by weight: of two shards of one weight on a device it waits for both.  What begins a step, since
 * it waits for nothing there, waits until its device has done its operators of the step before: devices
 * do not run ahead.  Every step has the times, and the luck, of the first.
 */
#ifndef SS_STEPS_H
#define SS_STEPS_H

#include "graph/model.h"
#include "simulate/result.h"

/* Tasks of all steps.  One takes 165 bytes with exclusive links and 167 with shared ones (measured: data-parallel nmt
 * on p100_cluster by rings, 98 steps more of 8,000 and 5,120 tasks), and about a microsecond. */
enum { SS_STEPS_MOST = 1000, SS_STEPS_MOST_TASKS = 1 << 24, SS_STEPS_BYTES_A_TASK = 166 };

/* end: [steps], when the last task of each step ended, with what a step has beside its tasks.  Refuses one step,
 * more tasks than fit, meetings in closed form (they hold no link that others could use meanwhile), runs to which a script
 * added tasks, and priorities, which are not kept. */
ss_status ss_steps_of_result(const ss_result *r, const ss_model *m, ss_engine *e, uint32_t steps,
                             ss_time *end, ss_error *err);

/* What a step more takes: until the last of them ended, less the one that is alone, by step.  (Not from end to
 * end: where nothing holds the next step up, the first may end late because of it.) */
double ss_steps_period(const ss_time *end, uint32_t steps, ss_time alone);

#endif
