#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "io/h5_column.h"

ss_status ss_h5_column_start(ss_h5_column *c, ss_h5 *f, const char *group, const ss_h5_field *field,
                             ss_error *err)
{
    *c = (ss_h5_column){.f = f, .field = field, .group = group, .checksum = SS_HASH_START};
    c->set = c->memory_type = c->transfer = c->member_type = H5I_INVALID_HID;
    const char *before = *group == '/' ? "" : "/", *between = !strcmp(group, "/") ? "" : "/";
    int n = snprintf(c->path, sizeof c->path, "%s%s%s%s", before, group, between, field->name);
    if (n < 0 || (size_t)n >= sizeof c->path)
        return ss_fail(err, SS_EINVAL, "%s: the name %s/%s is too long", ss_h5_path(f), group,
                       field->name);
    assert(field->labels <= SS_H5_LABELS);
    for (uint32_t k = 0; field->type == SS_H5_ENUM && k < field->labels; k++)
        c->label_hash[k] = ss_hash_text(SS_HASH_START, field->label(k));
    return SS_OK;
}

void ss_h5_column_end(ss_h5_column *c)
{
    H5Pclose(c->transfer);
    H5Tclose(c->member_type);
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

hid_t ss_h5_column_type(const ss_h5_field *field, bool stored, size_t text_bytes)
{
    switch (field->type) {
    case SS_H5_U8:
        return H5Tcopy(stored ? H5T_STD_U8LE : H5T_NATIVE_UINT8);
    case SS_H5_U32:
    case SS_H5_ROW:
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

uint64_t ss_h5_column_fold(uint64_t h, const ss_h5_column *c, const void *value)
{
    union {
        uint8_t u8;
        uint32_t u32;
        uint64_t u64;
        double f64;
    } as;
    switch (c->field->type) {
    case SS_H5_U32:
    case SS_H5_ROW:
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

uint32_t ss_h5_field_labels(const ss_h5_field *field)
{
    return field->type == SS_H5_ENUM ? field->labels : field->type == SS_H5_BOOL ? 2 : 0;
}
