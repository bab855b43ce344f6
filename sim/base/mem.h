/* mem.h - the one door to memory.
 *
 * Everything soapstone allocates goes through here, so that a test can count what is live, read the
 * peak, and make the n-th request fail.  The counts are process-wide and atomic: they are about the
 * machine, not about any one simulation.
 */
#ifndef SS_MEM_H
#define SS_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Like malloc, calloc, realloc and free; a request of 0 bytes returns a block of at least 1.  To make a
 * block smaller never fails, and is no request that can be made to. */
void *ss_alloc(size_t bytes);
void *ss_alloc_zeroed(size_t count, size_t bytes_each);
void *ss_realloc(void *block, size_t bytes);
void ss_free(void *block);

/* A copy of a string; NULL when there is no memory. */
char *ss_strdup(const char *text);

size_t ss_mem_live(void);       /* bytes in blocks not yet freed */
size_t ss_mem_blocks(void);     /* number of those blocks */
size_t ss_mem_peak(void);       /* largest ss_mem_live since the last reset */
void ss_mem_peak_reset(void);   /* the peak becomes what is live now */
uint64_t ss_mem_requests(void); /* how often memory was asked for so far */

/* The n-th request from now fails (0: the next one), and so does every later one until
 * ss_mem_fail_never.  For tests; the program reads SOAPSTONE_FAIL_ALLOCATION for the same. */
void ss_mem_fail_after(int64_t n);
void ss_mem_fail_never(void);

#endif
