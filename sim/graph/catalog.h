/* catalog.h - kinds of devices that need no data sheet at hand.
 *
 * Peaks are those of the vendor's data sheet at boost clock, dense (without structured sparsity),
 * by the fastest unit that takes the element type and accumulates at least as wide as the data
 * sheet's figure says (tensor cores where there are any).  How much of a peak is reached is the
 * cost model's business (simulate/cost.h).  Memory is called "16 GB" by its vendors and is 16 GiB.
 */
#ifndef SS_CATALOG_H
#define SS_CATALOG_H

#include <stdint.h>

#include "graph/topology.h"

typedef struct ss_device_kind {
    ss_device_def def;   /* def.kind is the name; speed 1, alone, does not forward */
    const char *summary; /* one line: what it is */
    const char *source;  /* where the figures were published */
} ss_device_kind;

const ss_device_def *ss_device_kind_find(const char *kind); /* NULL: not in the catalogue */
const char *ss_device_kind_nearest(const char *kind);       /* what may have been meant; or NULL */
const ss_device_kind *ss_device_kinds(uint32_t *n);         /* all of them, oldest first */

#endif
