/* cycle.h - a circle in a dependency graph, for the sentence that refuses it.
 *
 * Nobody looks for one beforehand: whoever runs out of tasks before the end asks here for the
 * reason, so a graph without circles pays nothing.
 */
#ifndef SS_CYCLE_H
#define SS_CYCLE_H

#include <stdint.h>

#include "base/status.h"

/* Predecessors of i = 1 .. n are in[first_in[i]] .. in[first_in[i+1]-1], ids 1 .. n.  If there is a
 * cycle, fails with SS_EINVAL and a sentence that names it, or its beginning if it is long, with
 * ids counted from `base` (0 or 1).  SS_OK: there is none. */
ss_status ss_cycle_refuse(uint32_t n, const uint32_t *first_in, const uint32_t *in, uint32_t base,
                          ss_error *err);

#endif
