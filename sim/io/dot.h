/* dot.h - the task graph of a step for Graphviz.
 *
 * A cluster for each device, links beside them, the critical path in bold.  A drawing is readable
 * up to some two hundred nodes, so larger graphs are merged (dot_merge.h) until they fit: as little
 * as will do, what is active for the shortest time first, and never so that arrows run in a circle.
 * A node says how many tasks it stands for and a note says what was merged.  Node names and order
 * depend on the graph alone, so two drawings can be compared as text.
 */
#ifndef SS_DOT_H
#define SS_DOT_H

#include "base/status.h"
#include "base/text.h"
#include "io/view.h"

typedef enum ss_dot_merging {
    SS_DOT_TASKS,     /* a node a task */
    SS_DOT_MESSAGES,  /* the hops and segments of a message */
    SS_DOT_PARTS,     /* the tasks of an operator on a device, of one kind; its messages between two */
    SS_DOT_OPERATORS, /* the tasks of an operator of one kind, wherever */
    SS_DOT_LAYERS,    /* those of operators whose names differ in numbers only */
    SS_DOT_KINDS,     /* all of one kind */
    SS_DOT_PHASES,    /* forward with its messages, and so on */
    SS_DOT_STEP,      /* everything */
    SS_DOT_MERGINGS
} ss_dot_merging;

typedef struct ss_dot_options {
    uint32_t max_nodes; /* 0: 200.  Nothing is merged of a step of so few tasks. */
    bool device_order;  /* dashed edges from each task to the next on its device */
} ss_dot_options;       /* {0} is the usual drawing */

/* merging_or_null becomes the coarsest level that some tasks were merged by. */
ss_status ss_dot_text(const ss_view *v, const ss_dot_options *o, ss_text *out,
                      ss_dot_merging *merging_or_null, ss_error *err);
ss_status ss_dot_write(const ss_view *v, const char *path, const ss_dot_options *o,
                       ss_dot_merging *merging_or_null, ss_error *err);

#endif
