/* h5_grow.h - tables that get rows while the file is there to be read.
 *
 * The file was written whole by h5.h and is opened again through pages.h.  All that h5.h can put into
 * a file can be put into this one too.  A growing table looks to a reader like any other: its columns
 * are extensible datasets, and their attribute `checksum` is one that can be carried on from row to
 * row, so that with every commit it fits the rows that there are.
 *
 * After a failure of any of these calls the file is not to be committed any more.
 */
#ifndef SS_H5_GROW_H
#define SS_H5_GROW_H

#include "io/h5.h"
#include "io/pages.h"

/* For writing.  Closed with ss_h5_close, before the pages are freed. */
ss_status ss_h5_reopen(const char *path, ss_pages *p, ss_h5 **out, ss_error *err);

/* What the library still holds back goes to the pages. */
ss_status ss_h5_flush(ss_h5 *f, ss_error *err);

/* A group or dataset, and all in it; an attribute.  What is not there is no error. */
ss_status ss_h5_drop(ss_h5 *f, const char *object, ss_error *err);
ss_status ss_h5_drop_attribute(ss_h5 *f, const char *object, const char *name, ss_error *err);

typedef struct ss_h5_columns ss_h5_columns;

typedef struct ss_h5_grown {
    ss_h5 *f;
    const ss_h5_field *field; /* no texts */
    uint32_t fields, rows;
    size_t stride;
    ss_h5_columns *column;
} ss_h5_grown; /* {0} is closed */

/* An empty table in a new group. */
ss_status ss_h5_grow_make(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          ss_error *err);
ss_status ss_h5_grow_open(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          size_t stride, ss_h5_grown *out, ss_error *err);
ss_status ss_h5_grow_rows(ss_h5_grown *g, const void *row, uint32_t rows, ss_error *err);
ss_status ss_h5_grow_checksums(ss_h5_grown *g, ss_error *err); /* before a flush */
void ss_h5_grow_close(ss_h5_grown *g);

#endif
