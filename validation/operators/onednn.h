/* onednn.h - kernels computed with oneDNN on this machine's processor.
 *
 * What oneDNN has no primitive for (gates of an LSTM, rows of a table) are plain loops beside its products and
 * functions.  Its version must be 2, of which the C interface was written for; a build without it refuses to
 * make an ss_kernels and is otherwise whole.
 */
#ifndef SS_ONEDNN_H
#define SS_ONEDNN_H

#include "validation/operators/kernel.h"

typedef struct ss_kernels ss_kernels;

/* SS_EUNSUPPORTED: this build has no oneDNN. */
ss_status ss_kernels_new(ss_kernels **out, ss_error *err);
void ss_kernels_free(ss_kernels *k); /* NULL: nothing; its kernels are freed first */

/* Several threads may make kernels at a time. */
ss_kernel_maker ss_kernels_maker(ss_kernels *k);

/* "oneDNN 2.6.3 (avx512_core)": what a profile must be told apart by. */
const char *ss_kernels_version(const ss_kernels *k);

#endif
