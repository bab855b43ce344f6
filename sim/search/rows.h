/* rows.h - steps that were done and not yet told.
 *
 * A chain appends to them in its thread; the thread that runs the search tells them to the sink, all
 * at once, and empties them.  A row's configurations are copied, since the chain goes on.
 */
#ifndef SS_ROWS_H
#define SS_ROWS_H

#include "base/arena.h"
#include "search/search.h"

typedef struct ss_rows {
    ss_step *row; /* [n]; their configurations are in the arena */
    uint32_t n, cap;
    ss_arena arena;
} ss_rows; /* {0} */

/* Copies the row, its choices and their devices. */
ss_status ss_rows_add(ss_rows *r, const ss_step *step, ss_error *err);
void ss_rows_drop_last(ss_rows *r);
void ss_rows_clear(ss_rows *r); /* memory is kept */
void ss_rows_free(ss_rows *r);

#endif
