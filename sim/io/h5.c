#include "config.h"

#include "io/h5.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/h5_inside.h"

enum { GROWS_BY = 4 << 20, SIGNATURE = 8, LONGEST_PATH = 1024 };

/* -------------------------------------------------------------------------------------- errors */

static atomic_bool never_prints;

void ss_h5_never_print(void)
{
    never_prints = true;
}

ss_h5_hush ss_h5_quiet(void)
{
    ss_h5_hush h = {NULL, NULL};
    H5Eget_auto2(H5E_DEFAULT, &h.print, &h.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return h;
}

void ss_h5_unquiet(const ss_h5_hush *h)
{
    if (!never_prints)
        H5Eset_auto2(H5E_DEFAULT, h->print, h->data);
}

typedef struct cause {
    char text[200]; /* of the innermost function: nearest to what went wrong */
    int error_number;
    bool no_memory, locked, truncated;
    unsigned long long bytes, wanted;
} cause;

static herr_t note(unsigned n, const H5E_error2_t *e, void *into)
{
    cause *c = into;
    const char *text = e->desc ? e->desc : "";
    if (n == 0)
        snprintf(c->text, sizeof c->text, "%s", text);
    const char *number = strstr(text, "errno = ");
    if (number && !c->error_number)
        c->error_number = (int)strtol(number + strlen("errno = "), NULL, 10);
    if (strstr(text, "unable to lock the file") || strstr(text, "unable to lock file"))
        c->locked = true;
    if (strstr(text, "memory allocation failed"))
        c->no_memory = true;
    const char *end = strstr(text, "truncated file");
    if (end && sscanf(end, "truncated file: eof = %llu, sblock->base_addr = %*u, stored_eof = %llu",
                      &c->bytes, &c->wanted) == 2)
        c->truncated = true;
    return 0;
}

static cause why(void)
{
    cause c = {.text = ""};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note, &c);
    return c;
}

const char *ss_h5_slash(const char *object)
{
    return *object == '/' || !*object ? "" : "/";
}

ss_status ss_h5_failed(ss_h5 *f, const char *what, const char *object, ss_error *err)
{
    cause c = why();
    if (c.locked)
        return ss_fail(
            err, SS_EIO,
            "cannot read %s: another program is writing to it (it holds the lock on the "
            "file; HDF5_USE_FILE_LOCKING=FALSE in the environment reads it all the same)",
            f->path);
    if (c.error_number)
        return ss_file_fail(err, c.error_number, f->writing ? "write" : "read", f->path);
    if (c.truncated)
        return ss_fail(err, SS_EFORMAT, "%s is truncated: %llu of its %llu bytes are there",
                       f->path, c.bytes, c.wanted);
    if (c.no_memory)
        return ss_fail(err, SS_ENOMEM, "%s: no memory to %s %s%s", f->path, what,
                       ss_h5_slash(object), object);
    if (f->writing)
        return ss_fail(err, SS_EINVAL, "%s: cannot %s %s%s: %s", f->path, what, ss_h5_slash(object),
                       object, c.text);
    f->damaged = true;
    return ss_fail(err, SS_EFORMAT, "%s is damaged: cannot %s %s%s: %s", f->path, what,
                   ss_h5_slash(object), object, *c.text ? c.text : "the library does not say why");
}

/* Whether a link of this name exists; -1 when a group on the way cannot be read. */
static int look(ss_h5 *f, const char *object)
{
    char part[LONGEST_PATH];
    size_t n = strlen(object);
    if (n >= sizeof part)
        return 0;
    memcpy(part, object, n + 1);
    for (char *at = part; (at = strchr(at + (at == part && *at == '/'), '/')); at++) {
        *at = 0;
        htri_t there = *part ? H5Lexists(f->file, part, H5P_DEFAULT) : 1;
        *at = '/';
        if (there <= 0)
            return there;
    }
    return !strcmp(object, "/") || !*object ? 1 : H5Lexists(f->file, object, H5P_DEFAULT);
}

ss_status ss_h5_not_opened(ss_h5 *f, const char *what, const char *object, ss_error *err)
{
    cause c = why();
    int there = c.error_number ? 1 : look(f, object);
    if (there == 0)
        return ss_fail(err, SS_EFORMAT, "%s has no %s %s%s", f->path, what, ss_h5_slash(object),
                       object);
    if (c.error_number)
        return ss_file_fail(err, c.error_number, "read", f->path);
    f->damaged = true;
    if (there < 0 || !strcmp(object, "/"))
        return ss_fail(err, SS_EFORMAT, "%s is damaged: cannot open %s%s: %s", f->path,
                       ss_h5_slash(object), object, c.text);
    return ss_fail(err, SS_EFORMAT, "%s: %s%s is no %s, or is damaged: %s", f->path,
                   ss_h5_slash(object), object, what, c.text);
}

/* -------------------------------------------------------------------------- opening and closing */

static void forget(ss_h5 *f)
{
    if (f->file >= 0) {
        ss_h5_hush h = ss_h5_quiet();
        H5Fclose(f->file);
        ss_h5_unquiet(&h);
    }
    ss_file_abandon(&f->out);
    ss_free(f->path);
    ss_free(f);
}

void ss_h5_close(ss_h5 *f)
{
    if (f)
        forget(f);
}

const char *ss_h5_path(const ss_h5 *f)
{
    return f->path;
}

ss_h5 *ss_h5_blank(const char *path, ss_error *err)
{
    ss_h5 *f = ss_alloc_zeroed(1, sizeof *f);
    char *copy = ss_strdup(path);
    if (!f || !copy) {
        ss_free(f);
        ss_free(copy);
        ss_fail_memory(err, "an HDF5 file", sizeof *f);
        return NULL;
    }
    f->file = H5I_INVALID_HID;
    f->out.fd = -1;
    f->path = copy;
    return f;
}

/* A handle left open would keep the file's memory: closing it takes them all along. */
static hid_t access_list(bool in_memory)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0 || H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) < 0 ||
        H5Pset_libver_bounds(list, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        (in_memory && H5Pset_fapl_core(list, GROWS_BY, 0) < 0)) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

/* Without it an object notes when it was made, and equal runs differ. The root group asks the
 * file's creation list. */
static hid_t untimed_list(hid_t of_class)
{
    hid_t list = H5Pcreate(of_class);
    if (list >= 0 && H5Pset_obj_track_times(list, 0) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

static ss_status create_in_memory(ss_h5 *f, ss_error *err)
{
    /* The library takes two files of one name for the same one, so the name is one that no file can
     * have and no other ss_h5 has. */
    char name[64];
    snprintf(name, sizeof name, "/dev/null/%p", (void *)f);
    hid_t how = access_list(true), what = untimed_list(H5P_FILE_CREATE);
    if (how >= 0 && what >= 0)
        f->file = H5Fcreate(name, H5F_ACC_TRUNC, what, how);
    ss_status s = f->file < 0 ? ss_h5_failed(f, "create", "", err) : SS_OK;
    H5Pclose(how);
    H5Pclose(what);
    return s;
}

ss_status ss_h5_create(const char *path, ss_h5 **out, ss_error *err)
{
    ss_h5 *f = ss_h5_blank(path, err);
    if (!f)
        return SS_ENOMEM;
    f->writing = true;
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = ss_file_begin(path, &f->out, err);
    if (!s)
        s = create_in_memory(f, err);
    ss_h5_unquiet(&h);
    if (s)
        forget(f);
    else
        *out = f;
    return s;
}

static uint32_t turn(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

/* Bob Jenkins' lookup3 (2006, public domain) with initial value 0: HDF5's checksum of metadata. */
static uint32_t lookup3(const unsigned char *p, size_t n)
{
    uint32_t x[3];
    x[0] = x[1] = x[2] = 0xdeadbeef + (uint32_t)n;
    for (bool last = false; !last; p += 12, n -= 12) {
        last = n <= 12;
        for (size_t i = 0; i < 12 && i < n; i++)
            x[i / 4] += (uint32_t)p[i] << (i % 4 * 8);
        if (last)
            break;
        static const unsigned mix[6] = {4, 6, 8, 16, 19, 4};
        for (unsigned k = 0; k < 6; k++) {
            uint32_t *a = &x[k % 3], *b = &x[(k + 1) % 3], *c = &x[(k + 2) % 3];
            *a -= *c;
            *a ^= turn(*c, mix[k]);
            *c += *b;
        }
    }
    static const unsigned final[7] = {14, 11, 25, 16, 4, 14, 24};
    for (unsigned k = 0; k < 7; k++) {
        uint32_t *to = &x[(k + 2) % 3], from = x[(k + 1) % 3];
        *to = (*to ^ from) - turn(from, final[k]);
    }
    return x[2];
}

/* HDF5 1.10 takes the mark out of the superblock of an image and leaves the checksum that counted
 * it; no library would then open the file. */
void ss_h5_unmark(unsigned char *bytes, size_t n)
{
    enum { VERSION_AT = 8, MARKS_AT = 11, CHECKSUM_AT = 44, SUPERBLOCK = 48 };
    if (n < SUPERBLOCK || bytes[VERSION_AT] != 3)
        return;
    bytes[MARKS_AT] = 0;
    uint32_t sum = lookup3(bytes, CHECKSUM_AT);
    for (unsigned i = 0; i < 4; i++)
        bytes[CHECKSUM_AT + i] = (unsigned char)(sum >> (8 * i));
}

static ss_status image_of(ss_h5 *f, char **bytes, size_t *n, ss_error *err)
{
    ssize_t size =
        H5Fflush(f->file, H5F_SCOPE_LOCAL) < 0 ? -1 : H5Fget_file_image(f->file, NULL, 0);
    if (size < 0)
        return ss_h5_failed(f, "finish", "", err);
    *n = (size_t)size;
    *bytes = ss_alloc(*n);
    if (!*bytes)
        return ss_fail_memory(err, "the bytes of an HDF5 file", *n);
    if (H5Fget_file_image(f->file, *bytes, *n) < 0)
        return ss_h5_failed(f, "finish", "", err);
    ss_h5_unmark((unsigned char *)*bytes, *n);
    return SS_OK;
}

ss_status ss_h5_finish(ss_h5 *f, ss_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = image_of(f, &bytes, &n, err);
    ss_h5_unquiet(&h);
    if (!s)
        s = ss_file_put(&f->out, bytes, n, err);
    if (!s)
        s = ss_file_commit(&f->out, err);
    ss_free(bytes);
    forget(f);
    return s;
}

static ss_status no_signature(const char *path, const unsigned char *head, size_t n, ss_error *err)
{
    if (!n)
        return ss_fail(err, SS_EFORMAT, "%s is empty, and an HDF5 file was expected", path);
    if (n >= 7 && !memcmp(head, "version", 7))
        return ss_fail(err, SS_EFORMAT,
                       "%s is text that begins with \"version\": if it is a Git LFS pointer, fetch "
                       "the file with \"git lfs pull\"",
                       path);
    char shown[SIGNATURE + 1];
    for (size_t i = 0; i < n; i++)
        shown[i] = isprint(head[i]) ? (char)head[i] : '?';
    shown[n] = 0;
    return ss_fail(err, SS_EFORMAT, "%s is not an HDF5 file: it begins with \"%s\"", path, shown);
}

/* The common mistakes have better words than the library's. */
ss_status ss_h5_check_signature(const char *path, uint64_t *bytes, ss_error *err)
{
    static const unsigned char signature[SIGNATURE] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make us wait */
    if (fd < 0 && errno == ENOENT)
        return ss_fail(err, SS_ENOTFOUND, "cannot read %s: there is no such file", path);
    if (fd < 0)
        return ss_file_fail(err, errno, "read", path);
    struct stat is;
    unsigned char head[SIGNATURE];
    ssize_t n = fstat(fd, &is) ? -1 : S_ISREG(is.st_mode) ? pread(fd, head, sizeof head, 0) : 0;
    int reason = errno;
    close(fd);
    if (n < 0)
        return ss_file_fail(err, reason, "read", path);
    if (!S_ISREG(is.st_mode))
        return ss_fail(err, SS_EINVAL, "cannot read %s: it is %s, and an HDF5 file was expected",
                       path, S_ISDIR(is.st_mode) ? "a folder" : "no regular file");
    if (n < SIGNATURE || memcmp(head, signature, SIGNATURE) != 0)
        return no_signature(path, head, (size_t)n, err);
    *bytes = (uint64_t)is.st_size;
    return SS_OK;
}

bool ss_h5_begins(const char *path)
{
    static const char mark[8] = "\x89HDF\r\n\x1a\n";
    char begin[sizeof mark] = {0};
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(begin, 1, sizeof begin, f) : 0;
    if (f)
        fclose(f);
    return n == sizeof mark && !memcmp(begin, mark, sizeof mark);
}

ss_status ss_h5_open(const char *path, ss_h5 **out, ss_error *err)
{
    uint64_t bytes = 0;
    ss_status s = ss_h5_check_signature(path, &bytes, err);
    if (s)
        return s;
    ss_h5 *f = ss_h5_blank(path, err);
    if (!f)
        return SS_ENOMEM;
    f->bytes = bytes;
    ss_h5_hush h = ss_h5_quiet();
    hid_t how = access_list(false);
    f->file = how < 0 ? H5I_INVALID_HID : H5Fopen(path, H5F_ACC_RDONLY, how);
    if (f->file < 0)
        s = ss_h5_failed(f, "open", "", err);
    H5Pclose(how);
    ss_h5_unquiet(&h);
    if (s)
        forget(f);
    else
        *out = f;
    return s;
}

/* -------------------------------------------------------------------------------------- groups */

/* Not by the library's own property for it: groups that it makes on the way keep their times. */
static ss_status make_groups(ss_h5 *f, const char *group, hid_t list, ss_error *err)
{
    char part[LONGEST_PATH];
    size_t n = strlen(group);
    if (n >= sizeof part)
        return ss_fail(err, SS_EINVAL, "%s: the name of a group has %zu bytes, too many", f->path,
                       n);
    for (size_t i = 1; i <= n; i++) {
        if (i < n && group[i] != '/')
            continue;
        memcpy(part, group, i);
        part[i] = 0;
        if (i < n && look(f, part) > 0)
            continue;
        hid_t made = H5Gcreate2(f->file, part, H5P_DEFAULT, list, H5P_DEFAULT);
        if (made < 0)
            return ss_h5_failed(f, "make the group", part, err);
        H5Gclose(made);
    }
    return SS_OK;
}

ss_status ss_h5_put_group(ss_h5 *f, const char *group, ss_error *err)
{
    ss_h5_hush h = ss_h5_quiet();
    hid_t list = untimed_list(H5P_GROUP_CREATE);
    ss_status s;
    if (look(f, group) != 0)
        s = ss_fail(err, SS_EINVAL, "%s has %s%s already", f->path, ss_h5_slash(group), group);
    else
        s = make_groups(f, group, list, err);
    H5Pclose(list);
    ss_h5_unquiet(&h);
    return s;
}

bool ss_h5_has(ss_h5 *f, const char *object)
{
    ss_h5_hush h = ss_h5_quiet();
    bool there = look(f, object) > 0;
    ss_h5_unquiet(&h);
    return there;
}

bool ss_h5_is_damaged(const ss_h5 *f)
{
    return f->damaged;
}

bool ss_h5_has_attribute(ss_h5 *f, const char *object, const char *name)
{
    ss_h5_hush h = ss_h5_quiet();
    bool there = H5Aexists_by_name(f->file, *object ? object : "/", name, H5P_DEFAULT) > 0;
    ss_h5_unquiet(&h);
    return there;
}

typedef struct listing {
    ss_names *names;
    ss_error *err;
    ss_status status;
} listing;

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *into)
{
    (void)group;
    (void)info;
    listing *l = into;
    uint32_t id;
    l->status = ss_names_add(l->names, name, &id, l->err);
    return l->status ? -1 : 0;
}

ss_status ss_h5_list(ss_h5 *f, const char *group, ss_names *out, ss_error *err)
{
    listing l = {out, err, SS_OK};
    ss_h5_hush h = ss_h5_quiet();
    ss_status s = SS_OK;
    hid_t at = H5Gopen2(f->file, *group ? group : "/", H5P_DEFAULT);
    if (at < 0)
        s = ss_h5_not_opened(f, "group", group, err);
    else if (H5Literate(at, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &l) < 0)
        s = l.status ? l.status : ss_h5_failed(f, "list", group, err);
    H5Gclose(at);
    ss_h5_unquiet(&h);
    return s;
}
