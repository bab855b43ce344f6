/* kernel_naive.h - the slow, obvious twin of validation/operators/onednn.h: kernels in plain loops.
 *
 * All numbers are doubles on the way, elements are named by where they lie in the whole tensors, and nothing
 * is kept from forward to backward: what that needs is worked out once more.
 */
#ifndef SS_KERNEL_NAIVE_H
#define SS_KERNEL_NAIVE_H

#include "validation/operators/kernel.h"

ss_kernel_maker kernel_naive(void);

#endif
