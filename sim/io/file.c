#include "config.h"

#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

enum {
    CHUNK = 65536,
    KEPT_OF_NAME = 180, /* a name may have 255 bytes; ours needs some 40 more */
    TRIES = 100
};

static ss_status status_of(int error_number)
{
    switch (error_number) {
    case ENOENT:
    case ENOTDIR:
        return SS_ENOTFOUND;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
        return SS_EINVAL;
    case ENOMEM:
        return SS_ENOMEM;
    default:
        return SS_EIO;
    }
}

ss_status ss_file_fail(ss_error *err, int error_number, const char *what, const char *path)
{
    /* what the user asks to be read is the input, where that what cannot be kept is lost */
    bool unreadable = error_number == EACCES && !strcmp(what, "read");
    return ss_fail(err, unreadable ? SS_EINVAL : status_of(error_number), "cannot %s %s: %s", what, path,
                   strerror(error_number));
}

static ss_status read_all(int fd, const char *path, size_t most, ss_text *out, ss_error *err)
{
    char *chunk = ss_alloc(CHUNK);
    if (!chunk)
        return ss_fail_memory(err, "reading a file", CHUNK);
    ss_status s = SS_OK;
    for (size_t n = 0; !s;) {
        ssize_t got = read(fd, chunk, CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            s = ss_file_fail(err, errno, "read", path);
        else if ((size_t)got > most - n)
            s = ss_fail(err, SS_ERANGE, "cannot read %s: it has more than %zu bytes", path, most);
        else {
            ss_text_add_bytes(out, chunk, (size_t)got);
            s = ss_text_status(out, err);
            n += (size_t)got;
        }
        if (got == 0)
            break;
    }
    ss_free(chunk);
    return s;
}

ss_status ss_file_read(const char *path, size_t most, ss_text *out, ss_error *err)
{
    ss_status bad = ss_text_status(out, err);
    if (bad)
        return bad;
    if (!*path)
        return ss_fail(err, SS_EINVAL, "cannot read a file whose name is empty");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return ss_fail(err, SS_ENOTFOUND, "cannot read %s: there is no such file", path);
    if (fd < 0)
        return ss_file_fail(err, errno, "read", path);
    uint32_t before = out->n;
    ss_status s = read_all(fd, path, most, out, err);
    close(fd);
    if (s && out->at) {
        out->n = before;
        out->at[before] = 0;
        out->failed = false;
    }
    return s;
}

/* ------------------------------------------------------------------------------------- writing */

static void forget(ss_file *f)
{
    ss_free(f->path);
    ss_free(f->temporary);
    ss_free(f->target);
    ss_free(f->buffer);
    *f = (ss_file){.fd = -1};
}

void ss_file_abandon(ss_file *f)
{
    if (f->path) {
        if (f->fd >= 0)
            close(f->fd);
        if (f->temporary)
            unlink(f->temporary);
    }
    forget(f);
}

/* Where links lead, so that a rename replaces the file and not the link to it.  A name that is not
 * there yet is its own target. */
static ss_status find_target(ss_file *f, ss_error *err)
{
    char *real = realpath(f->path, NULL);
    if (!real && errno != ENOENT)
        return ss_file_fail(err, errno, "write", f->path);
    f->target = ss_strdup(real ? real : f->path);
    free(real);
    return f->target ? SS_OK : ss_fail_memory(err, "a file's name", strlen(f->path) + 1);
}

static ss_status missing_folder(const char *path, ss_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ss_fail(err, SS_ENOTFOUND, "cannot write %s: the current folder is gone", path);
    char *folder = ss_alloc((size_t)(slash - path) + 2);
    if (!folder)
        return ss_fail_memory(err, "a file's name", strlen(path));
    memcpy(folder, path, (size_t)(slash - path) + 1);
    folder[slash - path + 1] = '\0';
    bool there = !access(folder, F_OK);
    ss_free(folder);
    if (there) /* the kernel's own folders, which take no files of ours */
        return ss_fail(err, SS_EIO, "cannot write %s: no file can be made in %.*s", path,
                       (int)(slash - path), path);
    return ss_fail(err, SS_ENOTFOUND, "cannot write %s: there is no folder %.*s", path,
                   (int)(slash - path), path);
}

/* Where this process's number means this process: machines can share a folder, and so can
 * containers, which count their processes each for itself. */
static uint64_t this_place(void)
{
    struct utsname machine;
    char count[64] = "";
    if (uname(&machine))
        machine.nodename[0] = 0;
    ssize_t n = readlink("/proc/self/ns/pid", count, sizeof count - 1);
    count[n > 0 ? n : 0] = 0;
    return ss_hash_text(ss_hash_text(SS_HASH_START, machine.nodename), count);
}

/* Whether `entry` is `stem` followed by "PID-K.part", and there is no process PID any more. */
static bool is_dead(const char *entry, const char *stem)
{
    size_t n = strlen(stem);
    if (strncmp(entry, stem, n))
        return false;
    size_t digits = strspn(entry + n, "0123456789");
    const char *rest = entry + n + digits;
    if (!digits || digits > 18 || *rest != '-')
        return false;
    size_t more = strspn(rest + 1, "0123456789");
    if (!more || strcmp(rest + 1 + more, ".part"))
        return false;
    long long pid = strtoll(entry + n, NULL, 10);
    return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Who is killed while writing leaves a hidden file.  The next to write the same name removes it, if
 * it is certain that its writer is gone; what cannot be read or removed stays. */
static void remove_dead(const char *folder, const char *stem)
{
    DIR *d = opendir(*folder ? folder : ".");
    if (!d)
        return;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (is_dead(e->d_name, stem))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

/* Creates ".NAME.PLACE-PID-K.part" beside the target: not "NAME.part", which may be somebody's. */
static ss_status open_temporary(ss_file *f, mode_t mode, ss_error *err)
{
    const char *slash = strrchr(f->target, '/');
    size_t folder = slash ? (size_t)(slash - f->target) + 1 : 0;
    size_t room = folder + KEPT_OF_NAME + 64;
    f->temporary = ss_alloc(room);
    if (!f->temporary)
        return ss_fail_memory(err, "a file's name", room);
    char stem[KEPT_OF_NAME + 64];
    snprintf(stem, sizeof stem, ".%.*s.%016" PRIx64 "-", KEPT_OF_NAME, f->target + folder,
             this_place());
    snprintf(f->temporary, room, "%.*s", (int)folder, f->target);
    remove_dead(f->temporary, stem);
    for (uint32_t k = 0; k < TRIES; k++) {
        snprintf(f->temporary + folder, room - folder, "%s%ld-%u.part", stem, (long)getpid(), k);
        f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (f->fd >= 0)
            return SS_OK;
        if (errno != EEXIST)
            break;
    }
    int reason = errno;
    ss_free(f->temporary); /* not ours to remove */
    f->temporary = NULL;
    return reason == ENOENT ? missing_folder(f->path, err)
                            : ss_file_fail(err, reason, "write", f->path);
}

/* A pipe that nobody reads would be waited for without an end. */
static ss_status open_straight(ss_file *f, mode_t mode, ss_error *err)
{
    if (S_ISBLK(mode))
        return ss_fail(err, SS_EINVAL, "cannot write %s: it is a disk, no file", f->path);
    f->fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 && errno == ENXIO && S_ISFIFO(mode))
        return ss_fail(err, SS_EINVAL, "cannot write %s: it is a pipe that nobody reads", f->path);
    int flags = f->fd < 0 ? -1 : fcntl(f->fd, F_GETFL);
    if (flags < 0 || fcntl(f->fd, F_SETFL, flags & ~O_NONBLOCK))
        return ss_file_fail(err, errno, "write", f->path);
    return SS_OK;
}

static ss_status open_either(ss_file *f, ss_error *err)
{
    struct stat is;
    if (stat(f->path, &is)) {
        if (errno != ENOENT)
            return ss_file_fail(err, errno, "write", f->path);
        return open_temporary(f, 0666, err);
    }
    if (S_ISDIR(is.st_mode))
        return ss_file_fail(err, EISDIR, "write", f->path);
    if (!S_ISREG(is.st_mode))
        return open_straight(f, is.st_mode, err);
    if (access(f->path, W_OK)) /* a rename would get past the protection of the file */
        return ss_file_fail(err, errno, "write", f->path);
    ss_status s = open_temporary(f, 0666, err);
    if (!s && fchmod(f->fd, is.st_mode & 0777) && errno != EPERM) /* a file keeps its permissions */
        s = ss_file_fail(err, errno, "write", f->path);
    return s;
}

ss_status ss_file_begin(const char *path, ss_file *out, ss_error *err)
{
    size_t n = strlen(path);
    if (!n)
        return ss_fail(err, SS_EINVAL, "cannot write a file whose name is empty");
    if (path[n - 1] == '/')
        return ss_file_fail(err, EISDIR, "write", path);
    const char *slash = strrchr(path, '/');
    if (strlen(slash ? slash + 1 : path) > 255)
        return ss_file_fail(err, ENAMETOOLONG, "write", path);
    ss_file f = {.fd = -1};
    f.path = ss_strdup(path);
    f.buffer = ss_alloc(CHUNK);
    ss_status s = f.path && f.buffer ? SS_OK : ss_fail_memory(err, "writing a file", CHUNK);
    if (!s)
        s = find_target(&f, err);
    if (!s)
        s = open_either(&f, err);
    if (s)
        ss_file_abandon(&f);
    else
        *out = f;
    return s;
}

static ss_status write_all(ss_file *f, const char *bytes, size_t n, ss_error *err)
{
    while (n) {
        ssize_t put = write(f->fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return ss_file_fail(err, errno, "write", f->path);
        bytes += put;
        n -= (size_t)put;
    }
    return SS_OK;
}

ss_status ss_file_flush(ss_file *f, ss_error *err)
{
    size_t n = f->n;
    f->n = 0;
    return write_all(f, f->buffer, n, err);
}

ss_status ss_file_put(ss_file *f, const char *bytes, size_t n, ss_error *err)
{
    if (n > CHUNK - f->n) {
        ss_status s = ss_file_flush(f, err);
        if (s)
            return s;
        if (n > CHUNK)
            return write_all(f, bytes, n, err);
    }
    memcpy(f->buffer + f->n, bytes, n);
    f->n += n;
    return SS_OK;
}

/* The new name itself reaches the disk with the folder.  Not every file system lets one sync a
 * folder; the file is whole in any case. */
static void sync_folder(const char *target)
{
    char folder[4096];
    const char *slash = strrchr(target, '/');
    size_t n = slash ? (size_t)(slash - target) + 1 : 0;
    if (n >= sizeof folder)
        return;
    memcpy(folder, target, n);
    folder[n] = 0;
    int fd = open(n ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

ss_status ss_file_commit(ss_file *f, ss_error *err)
{
    ss_status s = ss_file_flush(f, err);
    if (!s && f->temporary && fsync(f->fd))
        s = ss_file_fail(err, errno, "write", f->path);
    int fd = f->fd;
    f->fd = -1;
    if (close(fd) && !s) /* some network file systems report a full disk only now */
        s = ss_file_fail(err, errno, "write", f->path);
    if (!s && f->temporary && rename(f->temporary, f->target))
        s = ss_file_fail(err, errno, "write", f->path);
    if (!s && f->temporary) {
        ss_free(f->temporary);
        f->temporary = NULL;
        sync_folder(f->target);
    }
    ss_file_abandon(f);
    return s;
}

ss_status ss_file_write(const char *path, const char *bytes, size_t n, ss_error *err)
{
    ss_file f;
    ss_status s = ss_file_begin(path, &f, err);
    if (s)
        return s;
    s = ss_file_put(&f, bytes, n, err);
    if (s) {
        ss_file_abandon(&f);
        return s;
    }
    return ss_file_commit(&f, err);
}

/* -------------------------------------------------------------------------------- asked before */

ss_status ss_file_check_regular(const char *path, ss_error *err)
{
    static const char *const meant[] = {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/",
                                        "/proc/self/fd/"};
    struct stat is;
    if (stat(path, &is) || S_ISREG(is.st_mode) || S_ISDIR(is.st_mode))
        return SS_OK; /* whoever writes it says what is wrong with a folder */
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
        if (!strncmp(path, meant[i], strlen(meant[i])))
            return SS_OK;
    return ss_fail(err, SS_EINVAL, "cannot write %s: it is a %s, no regular file", path,
                   S_ISFIFO(is.st_mode)   ? "pipe"
                   : S_ISSOCK(is.st_mode) ? "socket"
                                          : "device");
}

bool ss_file_holds(const char *path)
{
    struct stat is;
    return !stat(path, &is) && S_ISREG(is.st_mode) && is.st_size;
}

ss_status ss_file_fail_kind(ss_error *err, const char *path, const char *kind)
{
    return ss_fail(err, SS_EINVAL,
                   "cannot write %s: there is a file of that name which is no %s, and it would be "
                   "lost: give another name, or remove it",
                   path, kind);
}

/* Of the folder in which the path lies. */
static bool stat_folder(const char *path, const char **name, struct stat *is)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    char *folder = ss_strdup(slash ? path : ".");
    if (folder && slash)
        folder[slash - path + 1] = '\0';
    bool there = folder && !stat(folder, is);
    ss_free(folder);
    return there;
}

bool ss_file_same(const char *a, const char *b)
{
    struct stat of_a, of_b;
    const char *name_a, *name_b;
    bool a_there = !stat(a, &of_a), b_there = !stat(b, &of_b);
    if (!strcmp(a, b))
        return true;
    if (a_there != b_there)
        return false;
    if (!a_there && (!stat_folder(a, &name_a, &of_a) || !stat_folder(b, &name_b, &of_b) ||
                     strcmp(name_a, name_b) != 0))
        return false;
    return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}
