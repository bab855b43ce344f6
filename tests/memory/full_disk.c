/* full_disk.c - a disk that is full after FULL_DISK_AFTER bytes, to be loaded before a program.
 *
 * Writing to a regular file takes what still fits and then fails with ENOSPC; terminals and pipes
 * are left alone.  Covers the calls that go through the program's own symbols; what the C library
 * does inside itself (stdio) is for the test on a small tmpfs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long long left = -1; /* -1: the environment was not asked yet */

static int is_on_disk(int fd)
{
    struct stat is;
    return fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

/* How much of n still fits; 0 with errno set when nothing does. */
static size_t take(size_t n)
{
    if (left < 0) {
        const char *after = getenv("FULL_DISK_AFTER");
        left = after ? atoll(after) : 1LL << 62;
    }
    if (n > 0 && left == 0) {
        errno = ENOSPC;
        return 0;
    }
    if ((long long)n > left)
        n = (size_t)left;
    left -= (long long)n;
    return n;
}

/* A function pointer from dlsym: ISO C has no cast for it, POSIX says it is one. */
#define NEXT(name, type)                                                                           \
    static type next;                                                                              \
    if (!next) {                                                                                   \
        void *found = dlsym(RTLD_NEXT, name);                                                      \
        memcpy(&next, &found, sizeof next);                                                        \
    }

typedef ssize_t (*writer)(int, const void *, size_t);
typedef ssize_t (*placed_writer)(int, const void *, size_t, off_t);

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t n)
{
    NEXT("write", writer)
    if (is_on_disk(fd) && n > 0) {
        n = take(n);
        if (!n)
            return -1;
    }
    return next(fd, bytes, n);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    NEXT("pwrite", placed_writer)
    if (is_on_disk(fd) && n > 0) {
        n = take(n);
        if (!n)
            return -1;
    }
    return next(fd, bytes, n, at);
}
