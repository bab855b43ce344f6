/* h5.h - HDF5 with our statuses and one owner for each handle.
 *
 * A file is written in memory and goes to the disk in one piece when it is finished, through
 * io/file.h: HDF5 hides the reason of a failed write and cannot close a file whose disk is full, so
 * it is never given a disk to fail on.  Files are read where they lie.
 *
 * Everything inside a file is named by its path ("timeline/data/tasks"), so the only handle that
 * outlives a call is the file's, and ss_h5 owns it.  The library's own messages are silenced during
 * each call and become our sentence, which names the file and the group, dataset or attribute.
 *
 * A table is a group with one dataset a column, all of the same length: units and a description
 * hang on each column, a reader may take the columns it wants, and xarray, pandas and h5dump
 * understand it without help.  The first column is the dimension scale of the others.  One list of
 * ss_h5_field writes a table and reads it back.
 *
 * Equal calls give equal bytes: no object times, fixed chunk sizes.  The format is the one of HDF5
 * 1.10, whose structures carry checksums; what they do not cover, the numbers and texts themselves,
 * has an attribute `checksum` on each dataset, which is verified when read.
 *
 * The serial HDF5 library is not for several threads at once, and so neither is this.
 */
#ifndef SS_H5_H
#define SS_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "base/status.h"

typedef struct ss_h5 ss_h5;

typedef enum ss_h5_type {
    SS_H5_U8,   /* uint8_t */
    SS_H5_U32,  /* uint32_t */
    SS_H5_U64,  /* uint64_t */
    SS_H5_I64,  /* int64_t, ss_time */
    SS_H5_F64,  /* double */
    SS_H5_BOOL, /* bool or uint8_t; in the file an enumeration FALSE, TRUE, as h5py writes bool */
    SS_H5_ENUM, /* uint8_t; in the file an enumeration with the names of ss_h5_field */
    SS_H5_TEXT, /* const char *, NULL is written as ""; in the file UTF-8 of one length, ended by a
                   zero */
    SS_H5_ROW   /* uint32_t: the number of the row, from 1; refused when it is another */
} ss_h5_type;

#define SS_H5_NO_MEMBER SIZE_MAX /* offset of an SS_H5_ROW that is in the file alone */

/* One column of a table, or one value of a group of values, and where it lies in a C struct. */
typedef struct ss_h5_field {
    const char *name;
    ss_h5_type type;
    size_t offset;
    const char *units;     /* as UDUNITS spells them: "s", "B", "B/s", "1"; NULL: no attribute */
    const char *long_name; /* one line; NULL: no attribute */
    const char *(*label)(uint32_t value); /* SS_H5_ENUM: the names of 0 .. labels - 1 */
    uint32_t labels;
    bool optional; /* reading: a column that is not there leaves zeros ("" for a text) */
} ss_h5_field;

/* Refuses at once what could not be renamed into place at the end (no folder, no permission). */
ss_status ss_h5_create(const char *path, ss_h5 **out, ss_error *err);
/* Writes the file under a temporary name, syncs and renames it; frees f in any case. */
ss_status ss_h5_finish(ss_h5 *f, ss_error *err);

/* Whether the file begins as HDF5 files do, also one that was cut.  False of a file that cannot be
 * read: that is for its reader to refuse. */
bool ss_h5_begins(const char *path);

/* SS_EFORMAT: it is no HDF5 file, is truncated, or is damaged. */
ss_status ss_h5_open(const char *path, ss_h5 **out, ss_error *err);

/* Closes; a file being written leaves no trace. NULL is fine. */
void ss_h5_close(ss_h5 *f);

const char *ss_h5_path(const ss_h5 *f); /* as it was given */

/* What kind of file it is, and in which version of that kind's format: attributes of "/". */
ss_status ss_h5_put_format(ss_h5 *f, const char *kind, uint64_t version, ss_error *err);
/* Refuses another kind, a later version than `newest`, and files that say neither. */
ss_status ss_h5_check_format(ss_h5 *f, const char *kind, uint64_t newest, ss_error *err);

/* Groups above it are made as needed; one that is there already is SS_EINVAL. */
ss_status ss_h5_put_group(ss_h5 *f, const char *group, ss_error *err);

/* Attributes of a group or dataset; "/" is the file's. */
ss_status ss_h5_put_text(ss_h5 *f, const char *object, const char *name, const char *value,
                         ss_error *err);
ss_status ss_h5_put_u64(ss_h5 *f, const char *object, const char *name, uint64_t value,
                        ss_error *err);
ss_status ss_h5_put_f64(ss_h5 *f, const char *object, const char *name, double value,
                        ss_error *err);

/* A new group with a column for each field from `rows` structs of `stride` bytes. */
ss_status ss_h5_put_table(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          const void *row, size_t stride, uint32_t rows, ss_error *err);
/* A new group with a single value for each field of one struct. */
ss_status ss_h5_put_values(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                           const void *row, ss_error *err);

/* For a process of our own, not a host's: HDF5 stays told to print nothing.  Of a damaged file it
 * loses pieces, and at the end of the process it would say so, after we have. */
void ss_h5_never_print(void);

bool ss_h5_has(ss_h5 *f, const char *object);
/* Whether a call has refused the file as damaged: then what it does not have may have been there.
 */
bool ss_h5_is_damaged(const ss_h5 *f);
bool ss_h5_has_attribute(ss_h5 *f, const char *object, const char *name);
/* Names of what is in a group, in the order of their bytes, added to `out`. */
ss_status ss_h5_list(ss_h5 *f, const char *group, ss_names *out, ss_error *err);

/* An attribute that is missing or of another type is SS_EFORMAT. Text is copied into the arena. */
ss_status ss_h5_get_text(ss_h5 *f, const char *object, const char *name, ss_arena *arena,
                         const char **out, ss_error *err);
ss_status ss_h5_get_u64(ss_h5 *f, const char *object, const char *name, uint64_t *out,
                        ss_error *err);
ss_status ss_h5_get_f64(ss_h5 *f, const char *object, const char *name, double *out, ss_error *err);

/* Length of a table: of the first of its fields that is there. */
ss_status ss_h5_rows(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                     uint32_t *rows, ss_error *err);
/* Reads all rows into structs of `stride` bytes from the arena, behind `before` zeroed ones (1
 * where row 0 means none).  Numbers may have another width or byte order in the file as long as
 * each value fits, and texts another length, so tables made by other programs can be read.  Refuses
 * columns of unequal length, values that do not fit, names of an enumeration that are not known
 * here. */
ss_status ss_h5_get_table(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          size_t stride, uint32_t before, ss_arena *arena, void **row,
                          uint32_t *rows, ss_error *err);
ss_status ss_h5_get_values(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                           ss_arena *arena, void *row, ss_error *err);

#endif
