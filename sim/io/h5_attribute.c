/* h5_attribute.c - attributes of groups and datasets. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/h5_inside.h"

enum { LONGEST_TEXT = 1 << 20 };

/* Ended by a zero, as every tool shows it plain: padded with zeros h5dump prints each of them. */
hid_t ss_h5_text_type(size_t bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, bytes + 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
                      H5Tset_strpad(type, H5T_STR_NULLTERM) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

char *ss_h5_type_text(hid_t type, char *buffer, size_t n)
{
    size_t bits = H5Tget_size(type) * 8;
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        snprintf(buffer, n, "%zu-bit %s integers", bits,
                 H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned" : "signed");
        break;
    case H5T_FLOAT:
        snprintf(buffer, n, "%zu-bit floating-point numbers", bits);
        break;
    case H5T_STRING:
        snprintf(buffer, n, "text");
        break;
    case H5T_ENUM:
        snprintf(buffer, n, "an enumeration");
        break;
    case H5T_COMPOUND:
        snprintf(buffer, n, "compound rows");
        break;
    default:
        snprintf(buffer, n, "something that is neither a number nor a text");
    }
    return buffer;
}

static ss_status put_attribute(ss_h5 *f, hid_t on, const char *object, const char *name,
                               hid_t file_type, hid_t memory_type, const void *value, ss_error *err)
{
    ss_status s = SS_OK;
    hid_t space = H5Screate(H5S_SCALAR), a = H5I_INVALID_HID;
    if (file_type >= 0 && space >= 0)
        a = H5Acreate2(on, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a < 0 || H5Awrite(a, memory_type, value) < 0) {
        s = ss_h5_failed(f, "put an attribute on", object, err);
        ss_fail_in(err, "attribute %s", name);
    }
    H5Aclose(a);
    H5Sclose(space);
    return s;
}

ss_status ss_h5_text_attribute(ss_h5 *f, hid_t on, const char *object, const char *name,
                               const char *value, ss_error *err)
{
    hid_t type = ss_h5_text_type(strlen(value));
    ss_status s = put_attribute(f, on, object, name, type, type, value, err);
    H5Tclose(type);
    return s;
}

ss_status ss_h5_u64_attribute(ss_h5 *f, hid_t on, const char *object, const char *name,
                              uint64_t value, ss_error *err)
{
    return put_attribute(f, on, object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value, err);
}

static ss_status f64_attribute(ss_h5 *f, hid_t on, const char *object, const char *name,
                               double value, ss_error *err)
{
    return put_attribute(f, on, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, err);
}

static hid_t open_object(ss_h5 *f, const char *object)
{
    return H5Oopen(f->file, *object ? object : "/", H5P_DEFAULT);
}

ss_status ss_h5_put_text(ss_h5 *f, const char *object, const char *name, const char *value,
                         ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    hid_t on = open_object(f, object);
    ss_status s = on < 0 ? ss_h5_failed(f, "open", object, err)
                         : ss_h5_text_attribute(f, on, object, name, value, err);
    H5Oclose(on);
    ss_h5_unquiet(&h);
    return s;
}

ss_status ss_h5_put_u64(ss_h5 *f, const char *object, const char *name, uint64_t value,
                        ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    hid_t on = open_object(f, object);
    ss_status s = on < 0 ? ss_h5_failed(f, "open", object, err)
                         : ss_h5_u64_attribute(f, on, object, name, value, err);
    H5Oclose(on);
    ss_h5_unquiet(&h);
    return s;
}

ss_status ss_h5_put_f64(ss_h5 *f, const char *object, const char *name, double value, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    hid_t on = open_object(f, object);
    ss_status s = on < 0 ? ss_h5_failed(f, "open", object, err)
                         : f64_attribute(f, on, object, name, value, err);
    H5Oclose(on);
    ss_h5_unquiet(&h);
    return s;
}

/* An attribute opened for reading, and its type. */
typedef struct opened {
    hid_t on, attribute, type;
} opened;

static void shut(opened *o)
{
    H5Tclose(o->type);
    H5Aclose(o->attribute);
    H5Oclose(o->on);
}

static ss_status open_attribute(ss_h5 *f, const char *object, const char *name, opened *o,
                                ss_error *err)
{
    *o = (opened){H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    o->on = open_object(f, object);
    if (o->on < 0)
        return ss_h5_not_opened(f, "group or dataset", object, err);
    htri_t there = H5Aexists(o->on, name);
    if (there < 0)
        return ss_h5_failed(f, "read the attributes of", object, err);
    if (!there)
        return ss_fail(err, SS_EFORMAT, "%s: %s%s has no attribute \"%s\"", f->path,
                       ss_h5_slash(object), object, name);
    o->attribute = H5Aopen(o->on, name, H5P_DEFAULT);
    o->type = o->attribute < 0 ? H5I_INVALID_HID : H5Aget_type(o->attribute);
    if (o->type < 0)
        return ss_h5_failed(f, "read the attributes of", object, err);
    hid_t space = H5Aget_space(o->attribute);
    hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    if (n != 1)
        return ss_fail(err, SS_EFORMAT,
                       "%s: the attribute \"%s\" of %s%s should be one value, and is not", f->path,
                       name, ss_h5_slash(object), object);
    return SS_OK;
}

static ss_status wrong_type(ss_h5 *f, const char *object, const char *name, hid_t type,
                            const char *wanted, ss_error *err)
{
    char text[80];
    return ss_fail(err, SS_EFORMAT, "%s: the attribute \"%s\" of %s%s is of type %s, not %s",
                   f->path, name, ss_h5_slash(object), object,
                   ss_h5_type_text(type, text, sizeof text), wanted);
}

/* h5py writes texts of variable length unless told otherwise. */
static ss_status copy_text(ss_h5 *f, const opened *o, const char *object, ss_arena *arena,
                           const char **out, ss_error *err)
{
    char *own = NULL, *at = NULL;
    ss_status s = SS_OK;
    size_t n = H5Tget_size(o->type);
    hid_t space = H5Aget_space(o->attribute);
    if (H5Tis_variable_str(o->type) > 0) {
        if (H5Aread(o->attribute, o->type, &own) < 0)
            s = ss_h5_failed(f, "read the attributes of", object, err);
        n = own ? strlen(own) : 0;
    } else if (n > LONGEST_TEXT)
        s = ss_fail(err, SS_EFORMAT, "%s: an attribute of %s%s claims %zu bytes", f->path,
                    ss_h5_slash(object), object, n);
    if (!s && !(at = ss_arena_take(arena, n + 1)))
        s = ss_fail_memory(err, "the attribute of an HDF5 file", n + 1);
    if (!s && own)
        memcpy(at, own, n);
    else if (!s && n && H5Aread(o->attribute, o->type, at) < 0)
        s = ss_h5_failed(f, "read the attributes of", object, err);
    if (own)
        H5Dvlen_reclaim(o->type, space, H5P_DEFAULT, &own);
    H5Sclose(space);
    if (!s) {
        at[n] = 0;
        *out = at;
    }
    return s;
}

ss_status ss_h5_get_text(ss_h5 *f, const char *object, const char *name, ss_arena *arena,
                         const char **out, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    opened o;
    ss_status s = open_attribute(f, object, name, &o, err);
    if (!s && H5Tget_class(o.type) != H5T_STRING)
        s = wrong_type(f, object, name, o.type, "text", err);
    if (!s)
        s = copy_text(f, &o, object, arena, out, err);
    shut(&o);
    ss_h5_unquiet(&h);
    return s;
}

ss_status ss_h5_get_u64(ss_h5 *f, const char *object, const char *name, uint64_t *out,
                        ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    opened o;
    uint64_t value = 0;
    int64_t as_signed = 0;
    ss_status s = open_attribute(f, object, name, &o, err);
    if (!s && H5Tget_class(o.type) != H5T_INTEGER)
        s = wrong_type(f, object, name, o.type, "a whole number", err);
    bool is_signed = !s && H5Tget_sign(o.type) != H5T_SGN_NONE;
    if (!s && (is_signed ? H5Aread(o.attribute, H5T_NATIVE_INT64, &as_signed)
                         : H5Aread(o.attribute, H5T_NATIVE_UINT64, &value)) < 0)
        s = ss_h5_failed(f, "read the attributes of", object, err);
    if (!s && as_signed < 0)
        s = ss_fail(err, SS_EFORMAT, "%s: the attribute \"%s\" of %s%s is %" PRId64 ", below 0",
                    f->path, name, ss_h5_slash(object), object, as_signed);
    shut(&o);
    ss_h5_unquiet(&h);
    if (!s)
        *out = is_signed ? (uint64_t)as_signed : value;
    return s;
}

ss_status ss_h5_get_f64(ss_h5 *f, const char *object, const char *name, double *out, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    opened o;
    double value = 0;
    ss_status s = open_attribute(f, object, name, &o, err);
    if (!s && H5Tget_class(o.type) != H5T_INTEGER && H5Tget_class(o.type) != H5T_FLOAT)
        s = wrong_type(f, object, name, o.type, "a number", err);
    if (!s && H5Aread(o.attribute, H5T_NATIVE_DOUBLE, &value) < 0)
        s = ss_h5_failed(f, "read the attributes of", object, err);
    shut(&o);
    ss_h5_unquiet(&h);
    if (!s)
        *out = value;
    return s;
}
