/* h5_format.c - what kind of file an HDF5 file of ours is. */
#include <string.h>

#include "config.h"
#include "io/h5.h"

static const char kind_name[] = "format_name", version_name[] = "format";

ss_status ss_h5_put_format(ss_h5 *f, const char *kind, uint64_t version, ss_error *err)
{
    ss_status s = ss_h5_put_text(f, "/", kind_name, kind, err);
    if (!s)
        s = ss_h5_put_u64(f, "/", version_name, version, err);
    if (!s)
        s = ss_h5_put_text(f, "/", "creator", PACKAGE_STRING, err);
    return s;
}

ss_status ss_h5_check_format(ss_h5 *f, const char *kind, uint64_t newest, ss_error *err)
{
    ss_arena arena = {0};
    const char *found = "", *creator = "a later soapstone";
    uint64_t version = 0;
    ss_status s = ss_h5_get_text(f, "/", kind_name, &arena, &found, err);
    bool other = s == SS_EFORMAT && !ss_h5_is_damaged(f) && !ss_h5_has_attribute(f, "/", kind_name);
    if (other)
        ss_fail_in(err, "no %s", kind);
    else if (!s && strcmp(found, kind) != 0)
        s = ss_fail(err, SS_EFORMAT, "%s is a %s, and a %s is needed", ss_h5_path(f), found, kind);
    if (!s)
        s = ss_h5_get_u64(f, "/", version_name, &version, err);
    if (!s && version > newest) {
        (void)ss_h5_get_text(f, "/", "creator", &arena, &creator, NULL);
        s = ss_fail(
            err, SS_EUNSUPPORTED,
            "%s was written by %s in format %llu, and this version reads formats up to %llu",
            ss_h5_path(f), creator, (unsigned long long)version, (unsigned long long)newest);
    }
    if (!s && !version)
        s = ss_fail(err, SS_EFORMAT, "%s: there is no format 0", ss_h5_path(f));
    ss_arena_free(&arena);
    return s;
}
