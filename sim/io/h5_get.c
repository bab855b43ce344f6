/* h5_get.c - tables and values of h5.h: columns to C structs. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/h5_column.h"

enum {
    MOST_COMPRESSED = 1100, /* deflate reaches 1032 to 1 at most (zlib, technical details) */
    LARGEST_CHUNK = 256 << 20,
    KEPT_TEXTS = 512
};

static H5T_conv_ret_t refuse_misfits(H5T_conv_except_t kind, hid_t from, hid_t to, void *value,
                                     void *converted, void *data)
{
    (void)from;
    (void)to;
    (void)value;
    (void)converted;
    ss_h5_column *c = data;
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
static ss_status check_labels(ss_h5_column *c, hid_t stored, ss_error *err)
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

/* The compound dataset that a table is when it is no group; negative if it is none. */
static hid_t open_compound(const ss_h5_column *c)
{
    hid_t set = H5Dopen2(c->f->file, *c->group ? c->group : "/", H5P_DEFAULT);
    hid_t type = set < 0 ? H5I_INVALID_HID : H5Dget_type(set);
    bool is_compound = type >= 0 && H5Tget_class(type) == H5T_COMPOUND;
    H5Tclose(type);
    if (is_compound)
        return set;
    H5Dclose(set);
    return H5I_INVALID_HID;
}

static bool is_there(const ss_h5_column *c)
{
    hid_t set = open_compound(c);
    if (set < 0)
        return ss_h5_has(c->f, c->path);
    hid_t type = H5Dget_type(set);
    bool found = H5Tget_member_index(type, c->field->name) >= 0;
    H5Tclose(type);
    H5Dclose(set);
    return found;
}

/* The type of the column in the file, also where it is a member of compound rows. */
static hid_t stored_type(ss_h5_column *c, ss_error *err)
{
    hid_t type = H5Dget_type(c->set);
    if (type < 0)
        ss_h5_failed(c->f, "read the type of", c->path, err);
    if (type < 0 || !c->is_member)
        return type;
    int k = H5Tget_member_index(type, c->field->name);
    hid_t member = k < 0 ? H5I_INVALID_HID : H5Tget_member_type(type, (unsigned)k);
    if (member < 0 && k < 0)
        ss_fail(err, SS_EFORMAT, "%s: /%s has no column \"%s\"", ss_h5_path(c->f), c->group,
                c->field->name);
    else if (member < 0)
        ss_h5_failed(c->f, "read the type of", c->path, err);
    H5Tclose(type);
    return member;
}

static ss_status choose_memory_type(ss_h5_column *c, hid_t stored, ss_error *err)
{
    H5T_class_t found = H5Tget_class(stored);
    if (!class_fits(c->field->type, found)) {
        char text[80];
        return ss_fail(err, SS_EFORMAT, "%s: %s holds %s, and %s are needed", ss_h5_path(c->f),
                       c->path, ss_h5_type_text(stored, text, sizeof text),
                       wanted_text(c->field->type));
    }
    ss_status s = c->field->type == SS_H5_ENUM ? check_labels(c, stored, err) : SS_OK;
    if (s)
        return s;
    if (c->field->type == SS_H5_TEXT) {
        c->is_pointers = H5Tis_variable_str(stored) > 0;
        c->memory_type = H5Tcopy(stored); /* length and character set as they are */
        if (H5Tget_strpad(stored) == H5T_STR_SPACEPAD)
            H5Tset_strpad(c->memory_type, H5T_STR_NULLPAD);
    } else if (c->field->type == SS_H5_BOOL && found == H5T_INTEGER)
        c->memory_type = H5Tcopy(H5T_NATIVE_UINT8);
    else
        c->memory_type = ss_h5_column_type(c->field, false, 0);
    c->bytes = c->memory_type < 0 ? 0 : H5Tget_size(c->memory_type);
    return c->bytes ? SS_OK : ss_h5_failed(c->f, "read the type of", c->path, err);
}

static ss_status choose_type(ss_h5_column *c, ss_error *err)
{
    hid_t stored = stored_type(c, err);
    if (stored < 0)
        return err ? err->status : SS_EFORMAT;
    ss_status s = choose_memory_type(c, stored, err);
    H5Tclose(stored);
    if (s || !c->is_member)
        return s;
    c->member_type = H5Tcreate(H5T_COMPOUND, c->bytes);
    if (c->member_type < 0 || H5Tinsert(c->member_type, c->field->name, 0, c->memory_type) < 0)
        return ss_h5_failed(c->f, "read the type of", c->path, err);
    return SS_OK;
}

/* A damaged header may claim any size; what is stored bounds what there can be. */
static ss_status check_claim(ss_h5_column *c, hsize_t rows, ss_error *err)
{
    if (rows >= UINT32_MAX)
        return ss_fail(err, SS_EFORMAT, "%s: %s claims %llu rows; there can be %u",
                       ss_h5_path(c->f), c->path, (unsigned long long)rows, UINT32_MAX - 1);
    if (!rows || c->bytes <= SS_H5_BLOCK_BYTES / rows)
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

static ss_status check_chunk(ss_h5_column *c, ss_error *err)
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
static ss_status open_column(ss_h5_column *c, int rank, hsize_t *rows, ss_error *err)
{
    c->set = rank ? open_compound(c) : H5I_INVALID_HID;
    c->is_member = c->set >= 0;
    if (!c->is_member)
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

static ss_status scatter_texts(ss_h5_column *c, const char *buffer, hsize_t n, char *row,
                               size_t stride, kept_texts *kept, ss_arena *arena, ss_error *err)
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

static ss_status scatter(ss_h5_column *c, const char *buffer, hsize_t first, hsize_t n, char *row,
                         size_t stride, ss_error *err)
{
    const ss_h5_field *field = c->field;
    uint32_t labels = ss_h5_field_labels(field);
    for (hsize_t i = 0; i < n; i++) {
        const char *at = buffer + i * c->bytes;
        uint32_t number = (uint32_t)(first + i + 1);
        if (labels && (unsigned char)*at >= labels)
            return ss_fail(err, SS_EFORMAT, "%s: row %u of %s is %u, which stands for nothing",
                           ss_h5_path(c->f), number, c->path, (unsigned char)*at);
        if (field->type == SS_H5_ROW && memcmp(at, &number, sizeof number) != 0)
            return ss_fail(err, SS_EFORMAT, "%s: row %u of %s has another number", ss_h5_path(c->f),
                           number, c->path);
        if (field->offset != SS_H5_NO_MEMBER)
            memcpy(row + i * stride + field->offset, at, c->bytes);
        c->checksum = ss_h5_column_fold(c->checksum, c, at);
    }
    return SS_OK;
}

static ss_status read_block(ss_h5_column *c, hid_t memory_space, hid_t file_space, char *buffer,
                            ss_error *err)
{
    hid_t type = c->is_member ? c->member_type : c->memory_type;
    if (H5Dread(c->set, type, memory_space, file_space, c->transfer, buffer) >= 0)
        return SS_OK;
    if (c->misfit)
        return ss_fail(err, SS_EFORMAT, "%s: a value of %s is outside what %s may hold",
                       ss_h5_path(c->f), c->path, c->field->name);
    return ss_h5_failed(c->f, "read", c->path, err);
}

static ss_status read_rows(ss_h5_column *c, hsize_t rows, char *row, size_t stride, ss_arena *arena,
                           ss_error *err)
{
    hsize_t at_a_time = c->bytes < SS_H5_BLOCK_BYTES ? SS_H5_BLOCK_BYTES / c->bytes : 1;
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
static ss_status check_checksum(ss_h5_column *c, ss_error *err)
{
    htri_t there = c->is_member ? 0 : H5Aexists(c->set, "checksum");
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
    ss_h5_column c;
    hsize_t found = 0;
    ss_status s = ss_h5_column_start(&c, f, group, field, err);
    if (!s && field->optional && !is_there(&c))
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
    ss_h5_column_end(&c);
    return s;
}

ss_status ss_h5_rows(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                     uint32_t *rows, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    ss_h5_column c;
    hsize_t found = 0;
    uint32_t k = 0;
    ss_status s = ss_h5_column_start(&c, f, group, &field[0], err);
    while (!s && k + 1 < fields && field[k].optional && !is_there(&c))
        s = ss_h5_column_start(&c, f, group, &field[++k], err);
    if (!s)
        s = open_column(&c, 1, &found, err);
    ss_h5_column_end(&c);
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
