/* map.h - which operator of ours a call of PyTorch is: its key in a measured table.
 *
 * A call is what a trace says of it: its name, the shapes of its arguments, their types, and the values of those that are no
 * tensors (events.h).  What PyTorch calls one operator is one here: a linear and the relu after it are two.  Sequences and images have
 * their channels where op.h has them, so n x c x l of PyTorch is n x l x c.
 */
#ifndef SS_TORCH_MAP_H
#define SS_TORCH_MAP_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "graph/op.h"

typedef struct ss_torch_key {
    const ss_op_kind *kind; /* NULL: it is none of ours */
    ss_text attributes, shape;
    ss_dtype dtype;
    bool weights;    /* it has some: backward may be of inputs, of weights, or of both */
    const char *why; /* it is none: "no kind of operator", ... */
} ss_torch_key;      /* {0} is empty */

/* Fails for want of memory alone. */
ss_status ss_torch_map(const char *name, const char *dims, const char *types, const char *concrete,
                       ss_torch_key *out, ss_error *err);
void ss_torch_key_free(ss_torch_key *k);

/* Item i of types or concrete, copied; "" where there is none. */
enum { SS_TORCH_ITEM = 256 };
const char *ss_torch_item(const char *list, uint32_t i, char *buffer);
uint32_t ss_torch_items(const char *list);
/* Extent d of argument i of dims, 0 where there is none. */
int64_t ss_torch_extent(const char *dims, uint32_t i, uint32_t d);

#endif
