/* onednn_absent.c - what onednn.h says in a build without oneDNN. */
#include "validation/operators/onednn.h"

#include <stddef.h>

ss_status ss_kernels_new(ss_kernels **out, ss_error *err)
{
    *out = NULL;
    return ss_fail(err, SS_EUNSUPPORTED,
                   "this build has no oneDNN: install libdnnl-dev (Debian) and configure again");
}

void ss_kernels_free(ss_kernels *k)
{
    (void)k;
}

/* Nobody has an ss_kernels to ask for one. */
ss_kernel_maker ss_kernels_maker(ss_kernels *k)
{
    (void)k;
    return (ss_kernel_maker){NULL, NULL};
}

const char *ss_kernels_version(const ss_kernels *k)
{
    (void)k;
    return "none";
}
