#include "config.h"

#include "io/h5_grow.h"

#include <assert.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/h5_column.h"

/* Measured on the log of a search: 43 bytes a step in place of 200, for a tenth more time; level 4
 * saves 1 byte more.  A commit compresses the last chunk of each column again (2 ms of 22 columns),
 * and what that one had is used again: 300 commits of 64 steps leave the file no larger than one. */
enum {
    CHUNK_ROWS = 4096,
    DEFLATE_LEVEL = 1,
    BLOCK_ROWS = 4 * CHUNK_ROWS /* gathered at a time */
};

/* ---------------------------------------------------------------------------------------- files */

ss_status ss_h5_reopen(const char *path, ss_pages *p, ss_h5 **out, ss_error *err)
{
    uint64_t bytes = 0;
    ss_status s = ss_h5_check_signature(path, &bytes, err);
    if (s)
        return s;
    ss_h5 *f = ss_h5_blank(path, err);
    if (!f)
        return SS_ENOMEM;
    ss_h5_hush h = ss_h5_quiet();
    hid_t how = ss_pages_access(p);
    if (how >= 0 && H5Pset_fclose_degree(how, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_libver_bounds(how, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0)
        f->file = H5Fopen(path, H5F_ACC_RDWR, how);
    if (f->file < 0)
        s = ss_pages_lack_memory(p) ? ss_fail_memory(err, "an HDF5 file", sizeof *f)
                                    : ss_h5_failed(f, "open", "", err);
    H5Pclose(how);
    ss_h5_unquiet(&h);
    f->writing = true;
    f->bytes = UINT64_MAX;
    if (s)
        ss_h5_close(f);
    else
        *out = f;
    return s;
}

ss_status ss_h5_flush(ss_h5 *f, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    ss_status s =
        H5Fflush(f->file, H5F_SCOPE_LOCAL) < 0 ? ss_h5_failed(f, "flush", "", err) : SS_OK;
    ss_h5_unquiet(&h);
    return s;
}

ss_status ss_h5_drop(ss_h5 *f, const char *object, ss_error *err)
{
    if (!ss_h5_has(f, object))
        return SS_OK;
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = H5Ldelete(f->file, object, H5P_DEFAULT) < 0
                      ? ss_h5_failed(f, "take away", object, err)
                      : SS_OK;
    ss_h5_unquiet(&h);
    return s;
}

ss_status ss_h5_drop_attribute(ss_h5 *f, const char *object, const char *name, ss_error *err)
{
    if (!ss_h5_has_attribute(f, object, name))
        return SS_OK;
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = H5Adelete_by_name(f->file, object, name, H5P_DEFAULT) < 0
                      ? ss_h5_failed(f, "take an attribute from", object, err)
                      : SS_OK;
    ss_h5_unquiet(&h);
    return s;
}

/* --------------------------------------------------------------------------------------- tables */

struct ss_h5_columns {
    ss_h5_column c;
    hid_t sum; /* the attribute */
};

static hid_t growing_list(void)
{
    hsize_t chunk = CHUNK_ROWS;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list < 0 || H5Pset_obj_track_times(list, 0) < 0 || H5Pset_chunk(list, 1, &chunk) < 0 ||
        H5Pset_shuffle(list) < 0 || H5Pset_deflate(list, DEFLATE_LEVEL) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

static ss_status make_column(ss_h5_column *c, ss_error *err)
{
    assert(c->field->type != SS_H5_TEXT);
    hsize_t none = 0, most = H5S_UNLIMITED;
    hid_t stored = ss_h5_column_type(c->field, true, 0), list = growing_list();
    hid_t space = H5Screate_simple(1, &none, &most);
    if (stored >= 0 && space >= 0 && list >= 0)
        c->set = H5Dcreate2(c->f->file, c->path, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ss_status s = c->set < 0 ? ss_h5_failed(c->f, "make", c->path, err) : SS_OK;
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(stored);
    if (!s)
        s = ss_h5_u64_attribute(c->f, c->set, c->path, "checksum", c->checksum, err);
    return s ? s : ss_h5_column_describe(c, err);
}

ss_status ss_h5_grow_make(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          ss_error *err)
{
    ss_h5_column first, other;
    ss_status s = ss_h5_put_group(f, group, err);
    ss_h5_hush h = ss_h5_quiet();
    bool begun = false, scaled = field[0].type == SS_H5_ROW;
    for (uint32_t k = 0; !s && k < fields; k++) {
        ss_h5_column *c = k ? &other : &first;
        s = ss_h5_column_start(c, f, group, &field[k], err);
        begun = true;
        if (!s)
            s = make_column(c, err);
        if (!s && scaled &&
            (k ? H5DSattach_scale(c->set, first.set, 0) : H5DSset_scale(c->set, field->name)) < 0)
            s = ss_h5_failed(f, "attach the dimension scale of", c->path, err);
        if (k)
            ss_h5_column_end(c);
    }
    if (begun)
        ss_h5_column_end(&first);
    ss_h5_unquiet(&h);
    return s;
}

static ss_status open_column(ss_h5_columns *o, uint32_t *rows, ss_error *err)
{
    ss_h5_column *c = &o->c;
    c->set = H5Dopen2(c->f->file, c->path, H5P_DEFAULT);
    if (c->set < 0)
        return ss_h5_not_opened(c->f, "dataset", c->path, err);
    c->memory_type = ss_h5_column_type(c->field, false, 0);
    c->bytes = H5Tget_size(c->memory_type);
    hid_t space = H5Dget_space(c->set);
    hsize_t found = 0, most = 0;
    bool fits = space >= 0 && c->bytes && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &found, &most) == 1 && most == H5S_UNLIMITED &&
                found < UINT32_MAX;
    H5Sclose(space);
    *rows = (uint32_t)found;
    if (!fits)
        return ss_fail(err, SS_EFORMAT, "%s: %s is no column that can grow", ss_h5_path(c->f),
                       c->path);
    o->sum = H5Aopen(c->set, "checksum", H5P_DEFAULT);
    if (o->sum < 0 || H5Aread(o->sum, H5T_NATIVE_UINT64, &c->checksum) < 0)
        return ss_h5_failed(c->f, "read the checksum of", c->path, err);
    return SS_OK;
}

ss_status ss_h5_grow_open(ss_h5 *f, const char *group, const ss_h5_field *field, uint32_t fields,
                          size_t stride, ss_h5_grown *out, ss_error *err)
{
    ss_h5_grown g = {f, field, fields, 0, stride, NULL};
    g.column = ss_alloc(fields * sizeof *g.column);
    if (!g.column)
        return ss_fail_memory(err, "the columns of a table", fields * sizeof *g.column);
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = SS_OK;
    uint32_t k = 0;
    while (!s && k < fields) {
        ss_h5_columns *o = &g.column[k];
        o->sum = H5I_INVALID_HID;
        s = ss_h5_column_start(&o->c, f, group, &field[k++], err);
        uint32_t rows = 0;
        if (!s)
            s = open_column(o, &rows, err);
        if (!s && k > 1 && rows != g.rows)
            s = ss_fail(err, SS_EFORMAT, "%s: %s has %u rows, and the first column of its table %u",
                        ss_h5_path(f), o->c.path, rows, g.rows);
        g.rows = rows;
    }
    ss_h5_unquiet(&h);
    g.fields = k;
    if (s)
        ss_h5_grow_close(&g);
    else
        *out = g;
    return s;
}

void ss_h5_grow_close(ss_h5_grown *g)
{
    ss_h5_hush h = ss_h5_quiet();
    for (uint32_t k = 0; g->column && k < g->fields; k++) {
        H5Aclose(g->column[k].sum);
        ss_h5_column_end(&g->column[k].c);
    }
    ss_h5_unquiet(&h);
    ss_free(g->column);
    *g = (ss_h5_grown){0};
}

static ss_status add_to_column(ss_h5_column *c, hid_t memory, hsize_t first, hsize_t n,
                               const char *row, size_t stride, char *buffer, ss_error *err)
{
    ss_status s = ss_h5_column_gather(c, row, stride, first, n, buffer, err);
    if (s)
        return s;
    hsize_t all = first + n;
    hid_t space = H5Dset_extent(c->set, &all) < 0 ? H5I_INVALID_HID : H5Dget_space(c->set);
    if (space < 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL) < 0 ||
        H5Dwrite(c->set, c->memory_type, memory, space, H5P_DEFAULT, buffer) < 0)
        s = ss_h5_failed(c->f, "write", c->path, err);
    H5Sclose(space);
    return s;
}

ss_status ss_h5_grow_rows(ss_h5_grown *g, const void *row, uint32_t rows, ss_error *err)
{
    if (rows >= UINT32_MAX - g->rows)
        return ss_fail(err, SS_ERANGE, "%s: a table has up to 2^32 - 2 rows", ss_h5_path(g->f));
    uint32_t at_once = rows < BLOCK_ROWS ? rows : BLOCK_ROWS;
    char *buffer = ss_alloc(at_once * sizeof(uint64_t));
    if (!buffer)
        return ss_fail_memory(err, "rows of an HDF5 file", at_once * sizeof(uint64_t));
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = SS_OK;
    const char *at = row;
    while (!s && rows) {
        hsize_t n = rows < at_once ? rows : at_once;
        hid_t memory = H5Screate_simple(1, &n, NULL);
        for (uint32_t k = 0; !s && k < g->fields; k++)
            s = add_to_column(&g->column[k].c, memory, g->rows, n, at, g->stride, buffer, err);
        H5Sclose(memory);
        at += n * g->stride;
        rows -= (uint32_t)n;
        g->rows += (uint32_t)n;
    }
    ss_h5_unquiet(&h);
    ss_free(buffer);
    return s;
}

ss_status ss_h5_grow_checksums(ss_h5_grown *g, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = SS_OK;
    for (uint32_t k = 0; !s && k < g->fields; k++)
        if (H5Awrite(g->column[k].sum, H5T_NATIVE_UINT64, &g->column[k].c.checksum) < 0)
            s = ss_h5_failed(g->f, "write the checksum of", g->column[k].c.path, err);
    ss_h5_unquiet(&h);
    return s;
}
