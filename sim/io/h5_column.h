/* h5_column.h - a column on its way in or out of a file: what h5_put.c, h5_get.c and h5_grow.c share. */
#ifndef SS_H5_COLUMN_H
#define SS_H5_COLUMN_H

#include "io/h5_inside.h"

enum {
    SS_H5_BLOCK_BYTES = 4 << 20, /* gathered, or scattered, at a time */
    SS_H5_PATH = 1024,
    SS_H5_LABELS = 64
};

typedef struct ss_h5_column {
    ss_h5 *f;
    const ss_h5_field *field;
    const char *group;
    char path[SS_H5_PATH];
    hid_t set, memory_type, transfer;
    hid_t
        member_type; /* reading: the table is one dataset of compound rows; this picks the member */
    size_t bytes;    /* of one element in the buffer */
    uint64_t checksum;
    uint64_t label_hash[SS_H5_LABELS];
    bool is_member;
    bool misfit;      /* a value did not fit while the library converted it */
    bool is_pointers; /* texts of variable length: the buffer holds char * */
} ss_h5_column;

/* Path and hashes of labels; no handle is open yet. */
ss_status ss_h5_column_start(ss_h5_column *c, ss_h5 *f, const char *group, const ss_h5_field *field,
                             ss_error *err);
void ss_h5_column_end(ss_h5_column *c); /* closes what is open */

/* The type of a field in memory, or in the file when `stored`. */
hid_t ss_h5_column_type(const ss_h5_field *field, bool stored, size_t text_bytes);

/* The checksum goes on with a number: of its value, whatever width the file gives it. */
uint64_t ss_h5_column_fold(uint64_t h, const ss_h5_column *c, const void *value);

/* Puts n rows, of which the first has number first + 1, into the buffer and into the checksum. */
ss_status ss_h5_column_gather(ss_h5_column *c, const char *row, size_t stride, hsize_t first,
                              hsize_t n, char *buffer, ss_error *err);

/* units and long_name */
ss_status ss_h5_column_describe(ss_h5_column *c, ss_error *err);

/* How many values there are of what can only be one of a few; 0: of a number. */
uint32_t ss_h5_field_labels(const ss_h5_field *field);

#endif
