/* array.h - growing arrays: reserving may fail, storing may not.
 *
 * An array is a pointer and a capacity that live in somebody's struct, {NULL, 0} at first. Capacity
 * doubles, and grows by a quarter where it is large, so that n pushes cost O(n).  Where several arrays
 * grow together (one column per field), reserve them all before storing into any: a failure then
 * leaves the object as it was.
 */
#ifndef SS_ARRAY_H
#define SS_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Makes room for `need` elements in all.  `what` names the thing for the error's sentence. */
ss_status ss_reserve(void *array_of_any_type, uint32_t *cap, size_t need, size_t bytes_each,
                     const char *what, ss_error *err);

#define SS_RESERVE(array, cap, need, what, err)                                                    \
    ss_reserve(&(array), &(cap), (need), sizeof *(array), (what), (err))

/* Columns that share one capacity: pass the old capacity to each, then set it once. */
ss_status ss_regrow(void *array_of_any_type, size_t count, size_t bytes_each, const char *what,
                    ss_error *err);

#define SS_REGROW(array, count, what, err)                                                         \
    ss_regrow(&(array), (count), sizeof *(array), (what), (err))

/* The capacity to grow to from `cap` so that `need` fits, or 0 if that passes 2^32 - 1. */
uint32_t ss_grown(uint32_t cap, size_t need);

/* For qsort: uint32_t, ascending. */
int ss_by_number(const void *a, const void *b);

#endif
