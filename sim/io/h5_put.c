/* h5_put.c - tables and values of h5.h: C structs to columns. */
#include <hdf5_hl.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/h5_column.h"

enum {
    CHUNK_BYTES = 256 << 10,  /* compressed and read as one piece */
    COMPACT_BYTES = 32 << 10, /* a value this small lies in its header; the limit is 64 kB */
    DEFLATE_LEVEL = 4
};

static const char *text_at(const char *row, const ss_h5_field *field)
{
    const char *text;
    memcpy(&text, row + field->offset, sizeof text);
    return text ? text : "";
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

static void gather_texts(ss_h5_column *c, const char *row, size_t stride, hsize_t n, char *buffer)
{
    memset(buffer, 0, n * c->bytes);
    for (hsize_t i = 0; i < n; i++) {
        const char *text = text_at(row + i * stride, c->field);
        memcpy(buffer + i * c->bytes, text, strlen(text));
        c->checksum = ss_hash_text(c->checksum, text);
    }
}

ss_status ss_h5_column_gather(ss_h5_column *c, const char *row, size_t stride, hsize_t first,
                              hsize_t n, char *buffer, ss_error *err)
{
    const ss_h5_field *field = c->field;
    uint32_t labels = ss_h5_field_labels(field);
    if (field->type == SS_H5_TEXT)
        gather_texts(c, row, stride, n, buffer);
    for (hsize_t i = 0; field->type != SS_H5_TEXT && i < n; i++) {
        char *to = buffer + i * c->bytes;
        uint32_t number = (uint32_t)(first + i + 1);
        if (field->offset == SS_H5_NO_MEMBER)
            memcpy(to, &number, sizeof number);
        else
            memcpy(to, row + i * stride + field->offset, c->bytes);
        if (labels && (unsigned char)*to >= labels)
            return ss_fail(err, SS_EINVAL, "%s: %s cannot be %u", ss_h5_path(c->f), c->path,
                           (unsigned char)*to);
        if (field->type == SS_H5_ROW && memcmp(to, &number, sizeof number) != 0)
            return ss_fail(err, SS_EINVAL, "%s: row %u of %s has another number", ss_h5_path(c->f),
                           number, c->path);
        c->checksum = ss_h5_column_fold(c->checksum, c, to);
    }
    return SS_OK;
}

static ss_status write_rows(ss_h5_column *c, const char *row, size_t stride, uint32_t rows,
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
        s = ss_h5_column_gather(c, row + first * stride, stride, first, n, buffer, err);
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

ss_status ss_h5_column_describe(ss_h5_column *c, ss_error *err)
{
    const ss_h5_field *field = c->field;
    ss_status s = SS_OK;
    if (field->units)
        s = ss_h5_text_attribute(c->f, c->set, c->path, "units", field->units, err);
    if (!s && field->long_name)
        s = ss_h5_text_attribute(c->f, c->set, c->path, "long_name", field->long_name, err);
    return s;
}

static ss_status describe(ss_h5_column *c, ss_error *err)
{
    ss_status s = ss_h5_u64_attribute(c->f, c->set, c->path, "checksum", c->checksum, err);
    return s ? s : ss_h5_column_describe(c, err);
}

static ss_status put_column(ss_h5_column *c, const char *row, size_t stride, uint32_t rows,
                            ss_error *err)
{
    size_t text_bytes =
        c->field->type == SS_H5_TEXT ? longest_text(c->field, row, stride, rows) : 0;
    hid_t stored = ss_h5_column_type(c->field, true, text_bytes);
    c->memory_type = ss_h5_column_type(c->field, false, text_bytes);
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
    hsize_t chunks_at_a_time = SS_H5_BLOCK_BYTES / (chunk * c->bytes + 1) + 1;
    if (!s && rows)
        s = write_rows(c, row, stride, rows, (uint32_t)(chunk * chunks_at_a_time), err);
    return s ? s : describe(c, err);
}

static ss_status join_scale(ss_h5_column *first, ss_h5_column *c, ss_error *err)
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
    ss_h5_column scale, other;
    bool scaled = fields && field[0].type == SS_H5_ROW;
    bool begun = false;
    for (uint32_t k = 0; !s && k < fields; k++) {
        ss_h5_column *c = k ? &other : &scale;
        begun = true;
        s = ss_h5_column_start(c, f, group, &field[k], err);
        if (!s)
            s = put_column(c, row, stride, rows, err);
        if (!s && scaled)
            s = join_scale(&scale, c, err);
        if (k)
            ss_h5_column_end(c);
    }
    if (begun)
        ss_h5_column_end(&scale);
    ss_h5_unquiet(&h);
    return s;
}

static ss_status put_value(ss_h5_column *c, const char *row, ss_error *err)
{
    size_t text_bytes = c->field->type == SS_H5_TEXT ? longest_text(c->field, row, 0, 1) : 0;
    hid_t stored = ss_h5_column_type(c->field, true, text_bytes), space = H5Screate(H5S_SCALAR);
    c->memory_type = ss_h5_column_type(c->field, false, text_bytes);
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
        s = ss_h5_column_gather(c, row, 0, 0, 1, buffer, err);
    if (!s && H5Dwrite(c->set, c->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) < 0)
        s = ss_h5_failed(c->f, "write", c->path, err);
    ss_free(buffer);
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(stored);
    return s ? s : describe(c, err);
}

ss_status ss_h5_put_values(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                           const void *row, ss_error *err)
{
    ss_status s = ss_h5_put_group(f, group, err);
    ss_h5_hush h = ss_h5_quiet();
    for (uint32_t k = 0; !s && k < fields; k++) {
        ss_h5_column c;
        s = ss_h5_column_start(&c, f, group, &field[k], err);
        if (!s)
            s = put_value(&c, row, err);
        ss_h5_column_end(&c);
    }
    ss_h5_unquiet(&h);
    return s;
}
