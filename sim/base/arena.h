/* arena.h - memory of one job, dropped at once.
 *
 * For many small things that live equally long.  Blocks double in size; a dropped arena keeps its
 * largest block, so a job that is repeated asks the machine for memory only the first time.
 */
#ifndef SS_ARENA_H
#define SS_ARENA_H

#include <stddef.h>

typedef struct ss_arena_block ss_arena_block;

typedef struct ss_arena {
    ss_arena_block *block; /* the newest, which is also the largest */
} ss_arena;                /* {0} is empty */

void *ss_arena_take(ss_arena *a, size_t bytes); /* aligned for every type; NULL: no memory */
void ss_arena_drop(ss_arena *a);                /* forget everything, keep one block */
void ss_arena_free(ss_arena *a);

#endif
