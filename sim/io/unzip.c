#include "config.h"

#include "io/unzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "io/file.h"

enum { MOST_AT_ONCE = 1 << 30 };

struct ss_unzip {
    gzFile file;
    const char *path;
    double size;
    uint64_t at; /* bytes that were given */
};

ss_status ss_unzip_open(const char *path, ss_unzip **out, ss_error *err)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ss_file_fail(err, errno, "read", path);
    if (!fstat(fd, &about) && S_ISDIR(about.st_mode)) {
        close(fd);
        return ss_file_fail(err, EISDIR, "read", path);
    }
    ss_unzip *u = ss_alloc_zeroed(1, sizeof *u);
    char *copy = ss_strdup(path);
    gzFile file = u && copy ? gzdopen(fd, "rb") : NULL;
    if (!file) {
        close(fd);
        ss_free(copy);
        ss_free(u);
        return ss_fail_memory(err, "a file that is read", sizeof *u);
    }
    *u = (ss_unzip){.file = file, .path = copy, .size = (double)about.st_size};
    *out = u;
    return SS_OK;
}

/* zlib notes a file that ends within its packed data only once nothing more comes of it. */
static ss_status fail(const ss_unzip *u, ss_error *err)
{
    int code;
    const char *why = gzerror(u->file, &code);
    if (code == Z_ERRNO)
        return ss_file_fail(err, errno, "read", u->path);
    if (code == Z_MEM_ERROR)
        return ss_fail_memory(err, "a file that is read", 0);
    if (code == Z_BUF_ERROR)
        return ss_fail(err, SS_EFORMAT,
                       "%s: byte %llu unpacked: the gzip file ends in the middle: it was cut",
                       u->path, (unsigned long long)u->at);
    return ss_fail(err, SS_EFORMAT, "%s: byte %llu unpacked: the gzip file is damaged (%s)",
                   u->path, (unsigned long long)u->at, why);
}

ss_status ss_unzip_read(ss_unzip *u, char *buffer, size_t n, size_t *got, ss_error *err)
{
    int code, read = gzread(u->file, buffer, (unsigned)(n < MOST_AT_ONCE ? n : MOST_AT_ONCE));
    *got = read < 0 ? 0 : (size_t)read;
    u->at += *got;
    if (read < 0)
        return fail(u, err);
    gzerror(u->file, &code);
    return *got || code == Z_OK || code == Z_STREAM_END ? SS_OK : fail(u, err);
}

void ss_unzip_place(const ss_unzip *u, double *at, double *size)
{
    z_off_t offset = gzoffset(u->file);
    *at = offset > 0 ? (double)offset : 0;
    *size = u->size;
}

void ss_unzip_close(ss_unzip *u)
{
    if (!u)
        return;
    gzclose(u->file);
    ss_free((char *)u->path);
    ss_free(u);
}
