/* cost_memo.h - answers that were given before, by all that they depend on.
 *
 * Private to cost*.c.  Operators are told apart by what they are (kind, attributes, input shapes),
 * never by where they lie in memory: a script may drop one model and build another in its place.
 * Keys are compared whole; a hash only finds them.
 */
#ifndef SS_COST_MEMO_H
#define SS_COST_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "graph/op.h"
#include "graph/topology.h"

typedef struct ss_memo_def ss_memo_def;

typedef struct ss_memo_key {
    uint32_t def, device; /* numbers of the memo's own, from 1 */
    uint32_t name;        /* of a given time; 0: none is given for this operator */
    uint32_t phase;       /* with bit 8: without input gradient */
    ss_box box;           /* the sample begins at 0; rows beyond the rank say nothing */
} ss_memo_key;

typedef struct ss_memo_entry {
    ss_memo_key key;
    ss_time time;    /* below 0: no source knew; the number of the missing key, negated */
    uint32_t source; /* which one knew, from 1; 0: none */
    float bound;     /* how far it waits for memory, 0 to 1 */
} ss_memo_entry;

typedef struct ss_memo {
    ss_memo_def **def; /* from 1 */
    uint32_t defs, def_cap, *def_slot, def_slots;
    ss_device_def *device; /* from 1; machine and forwarding left out */
    uint32_t devices, device_cap;
    ss_memo_entry *entry; /* from 0 */
    uint32_t entries, entry_cap, *slot, slots;
} ss_memo; /* {0} is empty */

void ss_memo_free(ss_memo *m);
void ss_memo_forget(ss_memo *m); /* the answers; numbers of definitions and devices stay */

bool ss_memo_is_def(const ss_memo *m, uint32_t number, const ss_op_def *op);
ss_status ss_memo_def_number(ss_memo *m, const ss_op_def *op, uint32_t *out, ss_error *err);
/* The kind must stay where it is as long as the memo. */
ss_status ss_memo_device_number(ss_memo *m, const ss_device_def *device, uint32_t *out,
                                ss_error *err);

void ss_memo_place(ss_memo_key *key, const ss_op_def *op, const ss_box *main); /* sets the box */

static inline bool ss_memo_same(const ss_memo_key *a, const ss_memo_key *b)
{
    if (a->def != b->def || a->device != b->device || a->name != b->name || a->phase != b->phase ||
        a->box.rank != b->box.rank)
        return false;
    for (uint32_t d = 0; d < a->box.rank; d++)
        if (a->box.lo[d] != b->box.lo[d] || a->box.hi[d] != b->box.hi[d])
            return false;
    return true;
}

const ss_memo_entry *ss_memo_find(const ss_memo *m, const ss_memo_key *key);
ss_status ss_memo_put(ss_memo *m, const ss_memo_entry *entry, ss_error *err);

#endif
