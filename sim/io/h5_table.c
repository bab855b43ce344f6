#include "config.h"

/* h5_table.c - tables and values of h5.h: C structs to columns and back. */
#include <hdf5_hl.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/h5.h"
#include "io/h5_inside.h"

enum {
    CHUNK_BYTES = 256 << 10, /* compressed and read as one piece */
    BLOCK_BYTES = 4 << 20,   /* gathered, or scattered, at a time */
    COMPACT_BYTES =
        32 << 10, /* a value this small lies in its header; the format's limit is 64 kB */
    DEFLATE_LEVEL = 4,
    MOST_COMPRESSED = 1100, /* deflate reaches 1032 to 1 at most (zlib, technical details) */
    LONGEST_PATH = 1024,
    LARGEST_CHUNK = 256 << 20,
    KEPT_TEXTS = 512,
    MOST_LABELS = 64
};

/* One column on its way in or out. */
typedef struct column {
    ss_h5 *f;
    const ss_h5_field *field;
    char path[LONGEST_PATH];
    hid_t set, memory_type, transfer;
    size_t bytes; /* of one element in the buffer */
    uint64_t checksum;
    uint64_t label_hash[MOST_LABELS];
    bool misfit;      /* a value did not fit while the library converted it */
    bool is_pointers; /* texts of variable length: the buffer holds char * */
} column;

static ss_status start_column(column *c, ss_h5 *f, const char *group, const ss_h5_field *field,
                              ss_error *err)
{
    *c = (column){.f = f, .field = field, .checksum = SS_HASH_START};
    c->set = c->memory_type = c->transfer = H5I_INVALID_HID;
    const char *before = *group == '/' ? "" : "/", *between = !strcmp(group, "/") ? "" : "/";
    int n = snprintf(c->path, sizeof c->path, "%s%s%s%s", before, group, between, field->name);
    if (n < 0 || (size_t)n >= sizeof c->path)
        return ss_fail(err, SS_EINVAL, "%s: the name %s/%s is too long", ss_h5_path(f), group,
                       field->name);
    for (uint32_t k = 0; field->type == SS_H5_ENUM && k < field->labels; k++)
        c->label_hash[k] = ss_hash_text(SS_HASH_START, field->label(k));
    return SS_OK;
}

static void end_column(column *c)
{
    H5Pclose(c->transfer);
    H5Tclose(c->memory_type);
    H5Dclose(c->set);
}

/* An enumeration over a one-byte base; names of NULL end it. */
static hid_t enumeration(hid_t base, const ss_h5_field *field)
{
    static const char *const truth[] = {"FALSE", "TRUE"};
    bool is_bool = field->type == SS_H5_BOOL;
    hid_t type = H5Tenum_create(base);
    for (uint32_t k = 0; type >= 0 && k < (is_bool ? 2 : field->labels); k++) {
        unsigned char value = (unsigned char)k;
        if (H5Tenum_insert(type, is_bool ? truth[k] : field->label(k), &value) < 0) {
            H5Tclose(type);
            type = H5I_INVALID_HID;
        }
    }
    return type;
}

/* In memory, or in the file when `stored`. */
static hid_t type_of(const ss_h5_field *field, bool stored, size_t text_bytes)
{
    switch (field->type) {
    case SS_H5_U8:
        return H5Tcopy(stored ? H5T_STD_U8LE : H5T_NATIVE_UINT8);
    case SS_H5_U32:
        return H5Tcopy(stored ? H5T_STD_U32LE : H5T_NATIVE_UINT32);
    case SS_H5_U64:
        return H5Tcopy(stored ? H5T_STD_U64LE : H5T_NATIVE_UINT64);
    case SS_H5_I64:
        return H5Tcopy(stored ? H5T_STD_I64LE : H5T_NATIVE_INT64);
    case SS_H5_F64:
        return H5Tcopy(stored ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE);
    case SS_H5_BOOL:
        return enumeration(stored ? H5T_STD_I8LE : H5T_NATIVE_INT8, field);
    case SS_H5_ENUM:
        return enumeration(stored ? H5T_STD_U8LE : H5T_NATIVE_UINT8, field);
    default:
        return ss_h5_text_type(text_bytes);
    }
}

/* Of the value itself, whatever width or text length the file gives it. */
static uint64_t fold(uint64_t h, const column *c, const void *value)
{
    union {
        uint8_t u8;
        uint32_t u32;
        uint64_t u64;
        double f64;
    } as;
    switch (c->field->type) {
    case SS_H5_U32:
        memcpy(&as.u32, value, sizeof as.u32);
        return ss_hash_u64(h, as.u32);
    case SS_H5_U64:
    case SS_H5_I64:
        memcpy(&as.u64, value, sizeof as.u64);
        return ss_hash_u64(h, as.u64);
    case SS_H5_F64:
        memcpy(&as.f64, value, sizeof as.f64);
        return ss_hash_double(h, as.f64);
    case SS_H5_ENUM:
        memcpy(&as.u8, value, 1);
        return ss_hash_u64(h, c->label_hash[as.u8]);
    default:
        memcpy(&as.u8, value, 1);
        return ss_hash_u64(h, as.u8);
    }
}

/* ------------------------------------------------------------------------------------- writing */

static const char *text_at(const char *row, const ss_h5_field *field)
{
    const char *text;
    memcpy(&text, row + field->offset, sizeof text);
    return text;
}

static size_t longest_text(const ss_h5_field *field, const char *row, size_t stride, uint32_t rows)
{
    size_t most = 1; /* a type of no bytes does not exist */
    for (uint32_t i = 0; i < rows; i++) {
        size_t n = strlen(text_at(row + i * stride, field));
        if (n > most)
            most = n;
    }
    return most;
}

static ss_status gather(column *c, const char *row, size_t stride, uint32_t n, char *buffer,
                        ss_error *err)
{
    const ss_h5_field *field = c->field;
    if (field->type == SS_H5_TEXT) {
        memset(buffer, 0, n * c->bytes);
        for (uint32_t i = 0; i < n; i++) {
            const char *text = text_at(row + i * stride, field);
            memcpy(buffer + i * c->bytes, text, strlen(text));
            c->checksum = ss_hash_text(c->checksum, text);
        }
        return SS_OK;
    }
    uint32_t labels = field->type == SS_H5_ENUM ? field->labels : field->type == SS_H5_BOOL ? 2 : 0;
    for (uint32_t i = 0; i < n; i++) {
        char *to = buffer + i * c->bytes;
        memcpy(to, row + i * stride + field->offset, c->bytes);
        if (labels && (unsigned char)*to >= labels)
            return ss_fail(err, SS_EINVAL, "%s: %s cannot be %u", ss_h5_path(c->f), c->path,
                           (unsigned char)*to);
        c->checksum = fold(c->checksum, c, to);
    }
    return SS_OK;
}

static ss_status write_rows(column *c, const char *row, size_t stride, uint32_t rows,
                            uint32_t at_a_time, ss_error *err)
{
    char *buffer = ss_alloc((size_t)at_a_time * c->bytes);
    if (!buffer)
        return ss_fail_memory(err, "a column of an HDF5 file", (size_t)at_a_time * c->bytes);
    hsize_t extent = rows;
    hid_t file_space = H5Screate_simple(1, &extent, NULL);
    ss_status s = SS_OK;
    for (hsize_t first = 0; !s && first < rows; first += at_a_time) {
        hsize_t n = rows - first < at_a_time ? rows - first : at_a_time;
        hid_t memory_space = H5Screate_simple(1, &n, NULL);
        s = gather(c, row + first * stride, stride, (uint32_t)n, buffer, err);
        if (!s &&
            (H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, NULL, &n, NULL) < 0 ||
             H5Dwrite(c->set, c->memory_type, memory_space, file_space, H5P_DEFAULT, buffer) < 0))
            s = ss_h5_failed(c->f, "write", c->path, err);
        H5Sclose(memory_space);
    }
    H5Sclose(file_space);
    ss_free(buffer);
    return s;
}

static hid_t creation_list(uint32_t rows, hsize_t chunk)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool ok = list >= 0 && H5Pset_obj_track_times(list, 0) >= 0;
    if (ok && rows) /* nothing has no chunks */
        ok = H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
             H5Pset_deflate(list, DEFLATE_LEVEL) >= 0;
    if (!ok) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

static ss_status describe_column(column *c, ss_error *err)
{
    const ss_h5_field *field = c->field;
    ss_status s = ss_h5_u64_attribute(c->f, c->set, c->path, "checksum", c->checksum, err);
    if (!s && field->units)
        s = ss_h5_text_attribute(c->f, c->set, c->path, "units", field->units, err);
    if (!s && field->long_name)
        s = ss_h5_text_attribute(c->f, c->set, c->path, "long_name", field->long_name, err);
    return s;
}

static ss_status put_column(column *c, const char *row, size_t stride, uint32_t rows, ss_error *err)
{
    size_t text_bytes =
        c->field->type == SS_H5_TEXT ? longest_text(c->field, row, stride, rows) : 0;
    hid_t stored = type_of(c->field, true, text_bytes);
    c->memory_type = type_of(c->field, false, text_bytes);
    c->bytes = H5Tget_size(c->memory_type);
    if (!c->bytes)
        c->bytes = 1;
    hsize_t chunk = CHUNK_BYTES / c->bytes, extent = rows;
    chunk = !chunk ? 1 : chunk > rows ? rows : chunk;
    hid_t space = H5Screate_simple(1, &extent, NULL), list = creation_list(rows, chunk);
    if (stored >= 0 && space >= 0 && list >= 0)
        c->set = H5Dcreate2(c->f->file, c->path, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ss_status s = c->set < 0 ? ss_h5_failed(c->f, "make", c->path, err) : SS_OK;
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(stored);
    hsize_t chunks_at_a_time = BLOCK_BYTES / (chunk * c->bytes + 1) + 1;
    if (!s && rows)
        s = write_rows(c, row, stride, rows, (uint32_t)(chunk * chunks_at_a_time), err);
    return s ? s : describe_column(c, err);
}

static ss_status join_scale(column *first, column *c, ss_error *err)
{
    herr_t joined = c == first ? H5DSset_scale(c->set, c->field->name)
                               : H5DSattach_scale(c->set, first->set, 0);
    return joined < 0 ? ss_h5_failed(c->f, "attach the dimension scale of", c->path, err) : SS_OK;
}

ss_status ss_h5_put_table(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          const void *row, size_t stride, uint32_t rows, ss_error *err)
{
    ss_status s = ss_h5_put_group(f, group, err);
    if (s)
        return s;
    ss_h5_hush h = ss_h5_quiet();
    column scale, other;
    for (uint32_t k = 0; !s && k < fields; k++) {
        column *c = k ? &other : &scale;
        s = start_column(c, f, group, &field[k], err);
        if (!s)
            s = put_column(c, row, stride, rows, err);
        if (!s)
            s = join_scale(&scale, c, err);
        if (k)
            end_column(c);
    }
    if (fields)
        end_column(&scale);
    ss_h5_unquiet(&h);
    return s;
}

static ss_status put_value(column *c, const char *row, ss_error *err)
{
    size_t text_bytes = c->field->type == SS_H5_TEXT ? longest_text(c->field, row, 0, 1) : 0;
    hid_t stored = type_of(c->field, true, text_bytes), space = H5Screate(H5S_SCALAR);
    c->memory_type = type_of(c->field, false, text_bytes);
    c->bytes = H5Tget_size(c->memory_type);
    hid_t list = creation_list(0, 0);
    if (list >= 0 && c->bytes <= COMPACT_BYTES)
        H5Pset_layout(list, H5D_COMPACT);
    if (stored >= 0 && space >= 0 && list >= 0)
        c->set = H5Dcreate2(c->f->file, c->path, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ss_status s = c->set < 0 ? ss_h5_failed(c->f, "make", c->path, err) : SS_OK;
    char *buffer = ss_alloc(c->bytes);
    if (!s && !buffer)
        s = ss_fail_memory(err, "a value of an HDF5 file", c->bytes);
    if (!s)
        s = gather(c, row, 0, 1, buffer, err);
    if (!s && H5Dwrite(c->set, c->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) < 0)
        s = ss_h5_failed(c->f, "write", c->path, err);
    ss_free(buffer);
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(stored);
    return s ? s : describe_column(c, err);
}

ss_status ss_h5_put_values(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                           const void *row, ss_error *err)
{
    ss_status s = ss_h5_put_group(f, group, err);
    ss_h5_hush h = ss_h5_quiet();
    for (uint32_t k = 0; !s && k < fields; k++) {
        column c;
        s = start_column(&c, f, group, &field[k], err);
        if (!s)
            s = put_value(&c, row, err);
        end_column(&c);
    }
    ss_h5_unquiet(&h);
    return s;
}

/* ------------------------------------------------------------------------------------- reading */

static H5T_conv_ret_t refuse_misfits(H5T_conv_except_t kind, hid_t from, hid_t to, void *value,
                                     void *converted, void *data)
{
    (void)from;
    (void)to;
    (void)value;
    (void)converted;
    column *c = data;
    if (kind != H5T_CONV_EXCEPT_RANGE_HI && kind != H5T_CONV_EXCEPT_RANGE_LOW)
        return H5T_CONV_UNHANDLED;
    c->misfit = true;
    return H5T_CONV_ABORT;
}

static const char *wanted_text(ss_h5_type type)
{
    switch (type) {
    case SS_H5_F64:
        return "numbers";
    case SS_H5_BOOL:
        return "an enumeration of FALSE and TRUE";
    case SS_H5_ENUM:
        return "an enumeration";
    case SS_H5_TEXT:
        return "text";
    default:
        return "whole numbers";
    }
}

static bool class_fits(ss_h5_type type, H5T_class_t found)
{
    switch (type) {
    case SS_H5_F64:
        return found == H5T_INTEGER || found == H5T_FLOAT;
    case SS_H5_BOOL:
        return found == H5T_ENUM || found == H5T_INTEGER;
    case SS_H5_ENUM:
        return found == H5T_ENUM;
    case SS_H5_TEXT:
        return found == H5T_STRING;
    default:
        return found == H5T_INTEGER;
    }
}

/* A later version may know more kinds than this one: name the first that is new. */
static ss_status check_labels(column *c, hid_t stored, ss_error *err)
{
    int n = H5Tget_nmembers(stored);
    for (int k = 0; k < n; k++) {
        char *name = H5Tget_member_name(stored, (unsigned)k);
        bool known = false;
        for (uint32_t l = 0; name && !known && l < c->field->labels; l++)
            known = !strcmp(name, c->field->label(l));
        ss_status s = known ? SS_OK
                            : ss_fail(err, SS_EFORMAT,
                                      "%s: %s may be \"%s\", which this version does not know",
                                      ss_h5_path(c->f), c->path, name ? name : "?");
        H5free_memory(name);
        if (s)
            return s;
    }
    return SS_OK;
}

static ss_status choose_type(column *c, ss_error *err)
{
    hid_t stored = H5Dget_type(c->set);
    if (stored < 0)
        return ss_h5_failed(c->f, "read the type of", c->path, err);
    H5T_class_t found = H5Tget_class(stored);
    ss_status s = SS_OK;
    if (!class_fits(c->field->type, found)) {
        char text[80];
        s = ss_fail(err, SS_EFORMAT, "%s: %s holds %s, and %s are needed", ss_h5_path(c->f),
                    c->path, ss_h5_type_text(stored, text, sizeof text),
                    wanted_text(c->field->type));
    } else if (c->field->type == SS_H5_ENUM)
        s = check_labels(c, stored, err);
    if (!s && c->field->type == SS_H5_TEXT) {
        c->is_pointers = H5Tis_variable_str(stored) > 0;
        c->memory_type = H5Tcopy(stored); /* length and character set as they are */
        if (!c->is_pointers)
            H5Tset_strpad(c->memory_type, H5T_STR_NULLPAD);
    } else if (!s && c->field->type == SS_H5_BOOL && found == H5T_INTEGER)
        c->memory_type = H5Tcopy(H5T_NATIVE_UINT8);
    else if (!s)
        c->memory_type = type_of(c->field, false, 0);
    c->bytes = s || c->memory_type < 0 ? 0 : H5Tget_size(c->memory_type);
    if (!s && !c->bytes)
        s = ss_h5_failed(c->f, "read the type of", c->path, err);
    H5Tclose(stored);
    return s;
}

/* A damaged header may claim any size; what is stored bounds what there can be. */
static ss_status check_claim(column *c, hsize_t rows, ss_error *err)
{
    if (rows >= UINT32_MAX)
        return ss_fail(err, SS_EFORMAT, "%s: %s claims %llu rows; there can be %u",
                       ss_h5_path(c->f), c->path, (unsigned long long)rows, UINT32_MAX - 1);
    if (!rows || c->bytes <= BLOCK_BYTES / rows)
        return SS_OK;
    hsize_t stored = H5Dget_storage_size(c->set);
    if (stored > c->f->bytes)
        stored = c->f->bytes;
    if (rows > (stored + 1) * MOST_COMPRESSED / c->bytes)
        return ss_fail(err, SS_EFORMAT,
                       "%s is damaged: %s claims %llu rows of %zu bytes and stores %llu bytes",
                       ss_h5_path(c->f), c->path, (unsigned long long)rows, c->bytes,
                       (unsigned long long)stored);
    return SS_OK;
}

static ss_status check_chunk(column *c, ss_error *err)
{
    hid_t list = H5Dget_create_plist(c->set);
    hsize_t chunk = 0;
    if (list >= 0 && H5Pget_layout(list) == H5D_CHUNKED)
        H5Pget_chunk(list, 1, &chunk);
    H5Pclose(list);
    if (chunk > LARGEST_CHUNK / c->bytes && chunk > 1)
        return ss_fail(err, SS_EFORMAT,
                       "%s: %s has chunks of %llu rows of %zu bytes, too large to read",
                       ss_h5_path(c->f), c->path, (unsigned long long)chunk, c->bytes);
    return SS_OK;
}

/* rank 1: *rows is set; rank 0: a single value. */
static ss_status open_column(column *c, int rank, hsize_t *rows, ss_error *err)
{
    c->set = H5Dopen2(c->f->file, c->path, H5P_DEFAULT);
    if (c->set < 0)
        return ss_h5_not_opened(c->f, "dataset", c->path, err);
    hid_t space = H5Dget_space(c->set);
    int found = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    *rows = 1;
    if (found == 1 && rank == 1)
        H5Sget_simple_extent_dims(space, rows, NULL);
    H5Sclose(space);
    if (found != rank)
        return ss_fail(err, SS_EFORMAT, "%s: %s has %d dimensions, and %s is needed",
                       ss_h5_path(c->f), c->path, found, rank ? "a list" : "a single value");
    ss_status s = choose_type(c, err);
    if (!s)
        s = check_claim(c, *rows, err);
    if (!s && rank)
        s = check_chunk(c, err);
    if (s)
        return s;
    c->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (c->transfer < 0 || H5Pset_type_conv_cb(c->transfer, refuse_misfits, c) < 0)
        return ss_h5_failed(c->f, "read", c->path, err);
    return SS_OK;
}

/* Names repeat: those met lately are not copied again. */
typedef struct kept_texts {
    const char *text[KEPT_TEXTS];
    size_t length[KEPT_TEXTS];
} kept_texts;

static const char *keep_text(kept_texts *kept, const char *text, size_t n, ss_arena *arena)
{
    size_t slot = ss_hash_bytes(SS_HASH_START, text, n) % KEPT_TEXTS;
    if (kept->text[slot] && kept->length[slot] == n && !memcmp(kept->text[slot], text, n))
        return kept->text[slot];
    char *copy = ss_arena_take(arena, n + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = 0;
    kept->text[slot] = copy;
    kept->length[slot] = n;
    return copy;
}

static ss_status scatter_texts(column *c, const char *buffer, hsize_t n, char *row, size_t stride,
                               kept_texts *kept, ss_arena *arena, ss_error *err)
{
    for (hsize_t i = 0; i < n; i++) {
        const char *at = buffer + i * c->bytes;
        size_t length;
        if (c->is_pointers) {
            memcpy(&at, buffer + i * c->bytes, sizeof at);
            if (!at)
                at = "";
            length = strlen(at);
        } else
            length = strnlen(at, c->bytes);
        const char *text = keep_text(kept, at, length, arena);
        if (!text)
            return ss_fail_memory(err, "a text of an HDF5 file", length + 1);
        memcpy(row + i * stride + c->field->offset, &text, sizeof text);
        c->checksum = ss_hash_text(c->checksum, text);
    }
    return SS_OK;
}

static ss_status scatter(column *c, const char *buffer, hsize_t first, hsize_t n, char *row,
                         size_t stride, ss_error *err)
{
    const ss_h5_field *field = c->field;
    uint32_t labels = field->type == SS_H5_ENUM ? field->labels : field->type == SS_H5_BOOL ? 2 : 0;
    for (hsize_t i = 0; i < n; i++) {
        const char *at = buffer + i * c->bytes;
        if (labels && (unsigned char)*at >= labels)
            return ss_fail(err, SS_EFORMAT, "%s: row %llu of %s is %u, which stands for nothing",
                           ss_h5_path(c->f), (unsigned long long)first + i + 1, c->path,
                           (unsigned char)*at);
        memcpy(row + i * stride + field->offset, at, c->bytes);
        c->checksum = fold(c->checksum, c, at);
    }
    return SS_OK;
}

static ss_status read_block(column *c, hid_t memory_space, hid_t file_space, char *buffer,
                            ss_error *err)
{
    if (H5Dread(c->set, c->memory_type, memory_space, file_space, c->transfer, buffer) >= 0)
        return SS_OK;
    if (c->misfit)
        return ss_fail(err, SS_EFORMAT, "%s: a value of %s is outside what %s may hold",
                       ss_h5_path(c->f), c->path, c->field->name);
    return ss_h5_failed(c->f, "read", c->path, err);
}

static ss_status read_rows(column *c, hsize_t rows, char *row, size_t stride, ss_arena *arena,
                           ss_error *err)
{
    hsize_t at_a_time = c->bytes < BLOCK_BYTES ? BLOCK_BYTES / c->bytes : 1;
    if (at_a_time > rows)
        at_a_time = rows;
    char *buffer = ss_alloc((size_t)at_a_time * c->bytes);
    kept_texts *kept = ss_alloc_zeroed(1, sizeof *kept);
    ss_status s = buffer && kept ? SS_OK
                                 : ss_fail_memory(err, "a column of an HDF5 file",
                                                  (size_t)at_a_time * c->bytes + sizeof *kept);
    hid_t file_space = H5Dget_space(c->set);
    for (hsize_t first = 0; !s && first < rows; first += at_a_time) {
        hsize_t n = rows - first < at_a_time ? rows - first : at_a_time;
        hid_t memory_space = H5Screate_simple(1, &n, NULL);
        if (H5Sget_simple_extent_ndims(file_space) == 1 &&
            H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, NULL, &n, NULL) < 0)
            s = ss_h5_failed(c->f, "read", c->path, err);
        if (c->is_pointers)
            memset(buffer, 0, (size_t)n * c->bytes);
        if (!s)
            s = read_block(c, memory_space, file_space, buffer, err);
        char *to = row + first * stride;
        if (!s)
            s = c->field->type == SS_H5_TEXT
                    ? scatter_texts(c, buffer, n, to, stride, kept, arena, err)
                    : scatter(c, buffer, first, n, to, stride, err);
        if (c->is_pointers)
            H5Dvlen_reclaim(c->memory_type, memory_space, H5P_DEFAULT, buffer);
        H5Sclose(memory_space);
    }
    H5Sclose(file_space);
    ss_free(kept);
    ss_free(buffer);
    return s;
}

/* Datasets that other programs made have no checksum. */
static ss_status check_checksum(column *c, ss_error *err)
{
    htri_t there = H5Aexists(c->set, "checksum");
    if (there == 0)
        return SS_OK;
    uint64_t stored = 0;
    hid_t a = there < 0 ? H5I_INVALID_HID : H5Aopen(c->set, "checksum", H5P_DEFAULT);
    ss_status s = SS_OK;
    if (a < 0 || H5Aread(a, H5T_NATIVE_UINT64, &stored) < 0)
        s = ss_h5_failed(c->f, "read the checksum of", c->path, err);
    else if (stored != c->checksum)
        s = ss_fail(
            err, SS_EFORMAT,
            "%s: %s is not what was written (its checksum differs): the file is damaged or was "
            "changed by another program",
            ss_h5_path(c->f), c->path);
    H5Aclose(a);
    return s;
}

static ss_status blank_texts(const ss_h5_field *field, hsize_t rows, char *row, size_t stride)
{
    static const char *const nothing = "";
    for (hsize_t i = 0; field->type == SS_H5_TEXT && i < rows; i++)
        memcpy(row + i * stride + field->offset, &nothing, sizeof nothing);
    return SS_OK;
}

/* rows: what the column must have. */
static ss_status get_column(ss_h5 *f, const char *group, const ss_h5_field *field, int rank,
                            hsize_t rows, char *row, size_t stride, ss_arena *arena, ss_error *err)
{
    column c;
    hsize_t found = 0;
    ss_status s = start_column(&c, f, group, field, err);
    if (!s && field->optional && !ss_h5_has(f, c.path))
        return blank_texts(field, rows, row, stride);
    if (!s)
        s = open_column(&c, rank, &found, err);
    if (!s && found != rows)
        s = ss_fail(err, SS_EFORMAT, "%s: %s has %llu rows, and the first column of its table %llu",
                    ss_h5_path(f), c.path, (unsigned long long)found, (unsigned long long)rows);
    if (!s && rows)
        s = read_rows(&c, rows, row, stride, arena, err);
    if (!s)
        s = check_checksum(&c, err);
    end_column(&c);
    return s;
}

ss_status ss_h5_rows(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                     uint32_t *rows, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    column c;
    hsize_t found = 0;
    uint32_t k = 0;
    ss_status s = start_column(&c, f, group, &field[0], err);
    while (!s && k + 1 < fields && field[k].optional && !ss_h5_has(f, c.path))
        s = start_column(&c, f, group, &field[++k], err);
    if (!s)
        s = open_column(&c, 1, &found, err);
    end_column(&c);
    ss_h5_unquiet(&h);
    if (!s)
        *rows = (uint32_t)found;
    return s;
}

ss_status ss_h5_get_table(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          size_t stride, uint32_t before, ss_arena *arena, void **row,
                          uint32_t *rows, ss_error *err)
{
    uint32_t n;
    ss_status s = ss_h5_rows(f, group, field, fields, &n, err);
    if (s)
        return s;
    size_t bytes = ((size_t)n + before) * stride;
    char *at = ss_arena_take(arena, bytes);
    if (!at)
        return ss_fail_memory(err, "a table of an HDF5 file", bytes);
    memset(at, 0, bytes);
    ss_h5_hush h = ss_h5_quiet();
    for (uint32_t k = 0; !s && k < fields; k++)
        s = get_column(f, group, &field[k], 1, n, at + before * stride, stride, arena, err);
    ss_h5_unquiet(&h);
    if (s)
        return s;
    *row = at;
    *rows = n;
    return SS_OK;
}

ss_status ss_h5_get_values(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                           ss_arena *arena, void *row, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = SS_OK;
    for (uint32_t k = 0; !s && k < fields; k++)
        s = get_column(f, group, &field[k], 0, 1, row, 0, arena, err);
    ss_h5_unquiet(&h);
    return s;
}
