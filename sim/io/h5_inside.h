/* h5_inside.h - what the files of h5.h and h5_grow.h share; nobody else includes it. */
#ifndef SS_H5_INSIDE_H
#define SS_H5_INSIDE_H

#include <hdf5.h>

#include "io/file.h"
#include "io/h5.h"

struct ss_h5 {
    hid_t file;
    char *path;
    ss_file out; /* writing: the temporary file, still empty */
    bool writing, damaged;
    uint64_t bytes; /* reading: size of the file */
};

/* The library prints its error stack unless told not to, and telling is process-wide: it is put
 * back as it was before a call of ours returns, for a host that uses HDF5 too. */
typedef struct ss_h5_hush {
    H5E_auto2_t print;
    void *data;
} ss_h5_hush;

ss_h5_hush ss_h5_quiet(void);
void ss_h5_unquiet(const ss_h5_hush *h);

/* "FILE: cannot WHAT OBJECT: REASON" from the library's error stack, which the next call into the
 * library empties: call this first, close handles after. */
ss_status ss_h5_failed(ss_h5 *f, const char *what, const char *object, ss_error *err);

/* The same for something that is asked for and is not there, or is there and cannot be opened. */
ss_status ss_h5_not_opened(ss_h5 *f, const char *what, const char *object, ss_error *err);

ss_status ss_h5_text_attribute(ss_h5 *f, hid_t on, const char *object, const char *name,
                               const char *value, ss_error *err);
ss_status ss_h5_u64_attribute(ss_h5 *f, hid_t on, const char *object, const char *name,
                              uint64_t value, ss_error *err);

/* With no file open yet; NULL: no memory. */
/* Whether there is a regular file that begins as HDF5 files do, in better words than the library's. */
ss_status ss_h5_check_signature(const char *path, uint64_t *bytes, ss_error *err);
ss_h5 *ss_h5_blank(const char *path, ss_error *err);

/* Takes the mark "open for writing" out of the first bytes of a file. */
void ss_h5_unmark(unsigned char *bytes, size_t n);

/* What stands before the name of an object in a sentence: a slash, unless it has one. */
const char *ss_h5_slash(const char *object);

/* The type of a text of `bytes` bytes; negative on failure, as the library has it. */
hid_t ss_h5_text_type(size_t bytes);

/* "64-bit floating-point numbers" */
char *ss_h5_type_text(hid_t type, char *buffer, size_t n);

#endif
