/* dot.h - the task graph of a step for Graphviz.
 *
 * A cluster for each device, links beside them, the critical path in bold.  A drawing is readable
 * up to some two hundred nodes, so larger graphs are merged, in steps, until they fit: first layers
 * that repeat (names that differ in numbers only), then parts and messages of one kind, then whole
 * devices.  A node says how many tasks it stands for and a note says what was merged.  Node names
 * and order depend on the graph alone, so two drawings can be compared as text.
 */
#ifndef SS_DOT_H
#define SS_DOT_H

#include "base/status.h"
#include "base/text.h"
#include "io/view.h"

typedef enum ss_dot_merging {
    SS_DOT_TASKS,  /* a node a task */
    SS_DOT_LAYERS, /* operators whose names differ in numbers only, on one device (messages: between
                      the same two) */
    SS_DOT_KINDS,  /* all tasks of one kind on one device; all messages between two */
    SS_DOT_DEVICES, /* all tasks of one kind, wherever */
    SS_DOT_MERGINGS
} ss_dot_merging;

typedef struct ss_dot_options {
    uint32_t max_nodes; /* 0: 200.  The finest merging that fits is taken. */
    bool device_order;  /* dashed edges from each task to the next on its device */
} ss_dot_options;       /* {0} is the usual drawing */

ss_status ss_dot_text(const ss_view *v, const ss_dot_options *o, ss_text *out,
                      ss_dot_merging *merging_or_null, ss_error *err);
ss_status ss_dot_write(const ss_view *v, const char *path, const ss_dot_options *o,
                       ss_dot_merging *merging_or_null, ss_error *err);

#endif
