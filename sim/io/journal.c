#include "config.h"

#include "io/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "io/file.h"

enum {
    CHECK = 9,            /* a blank and 8 digits */
    MOST_BYTES = 1 << 30, /* a journal has some seconds of rows */
    LOOKS = 10            /* who only looks whether it is locked holds it for a moment */
};

static const char first_words[] = "soapstone journal 1 ";

/* --------------------------------------------------------------------------- opening and closing */

static char *name_of_journal(const char *name)
{
    size_t n = strlen(name);
    char *path = ss_alloc(n + sizeof ".journal");
    if (path) {
        memcpy(path, name, n);
        memcpy(path + n, ".journal", sizeof ".journal");
    }
    return path;
}

static ss_status is_being_written(const ss_journal *j, ss_error *err)
{
    return ss_fail(err, SS_EIO,
                   "%.*s is being written by another soapstone (it holds the lock on %s)",
                   (int)(strlen(j->path) - strlen(".journal")), j->path, j->path);
}

static ss_status open_locked(ss_journal *j, ss_error *err)
{
    j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return ss_file_fail(err, errno, "write", j->path);
    struct stat is;
    if (fstat(j->fd, &is))
        return ss_file_fail(err, errno, "write", j->path);
    if (!S_ISREG(is.st_mode))
        return ss_fail(err, SS_EINVAL, "cannot write %s: it is no regular file", j->path);
    for (int k = 0; flock(j->fd, LOCK_EX | LOCK_NB); k++) {
        if (errno != EWOULDBLOCK)
            return ss_file_fail(err, errno, "lock", j->path);
        if (k == LOOKS)
            return is_being_written(j, err);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return SS_OK;
}

/* The one before us may have removed it between our opening and our locking. */
static bool is_the_one_of_that_name(const ss_journal *j)
{
    struct stat ours, there;
    return !fstat(j->fd, &ours) && !stat(j->path, &there) && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

ss_status ss_journal_open(const char *name, ss_journal *out, ss_text *content, ss_error *err)
{
    ss_journal j = {.fd = -1};
    j.path = name_of_journal(name);
    if (!j.path)
        return ss_fail_memory(err, "the name of a journal", strlen(name) + sizeof ".journal");
    ss_status s = open_locked(&j, err);
    while (!s && !is_the_one_of_that_name(&j)) {
        close(j.fd);
        s = open_locked(&j, err);
    }
    if (!s)
        s = ss_file_read(j.path, MOST_BYTES, content, err);
    if (s)
        ss_journal_close(&j);
    else
        *out = j;
    return s;
}

void ss_journal_close(ss_journal *j)
{
    if (j->path && j->fd >= 0)
        close(j->fd);
    ss_free(j->path);
    ss_text_free(&j->out);
    *j = (ss_journal){.fd = -1};
}

void ss_journal_remove(ss_journal *j)
{
    if (j->path && j->fd >= 0)
        unlink(j->path);
    ss_journal_close(j);
}

ss_journal_state ss_journal_look(const char *name)
{
    char *path = name_of_journal(name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ss_free(path);
    if (fd < 0)
        return SS_JOURNAL_NONE;
    bool is_ours = !flock(fd, LOCK_SH | LOCK_NB);
    close(fd);
    return is_ours ? SS_JOURNAL_LEFT : SS_JOURNAL_HELD;
}

/* ------------------------------------------------------------------------------------- reading */

static uint64_t sum_line(uint64_t sum, const char *line, size_t n)
{
    return ss_hash_bytes(sum, line, n);
}

static bool check_digits(const char *at, uint64_t sum)
{
    char wanted[CHECK + 1];
    snprintf(wanted, sizeof wanted, " %08" PRIx32, (uint32_t)sum);
    return !memcmp(at, wanted, CHECK);
}

bool ss_journal_next(ss_journal_reader *r, const char **line, uint32_t *n)
{
    size_t left = (size_t)(r->end - r->at);
    const char *stop = left ? memchr(r->at, '\n', left) : NULL;
    if (!stop || stop - r->at < CHECK)
        return false;
    size_t length = (size_t)(stop - r->at) - CHECK;
    uint64_t sum = sum_line(r->sum, r->at, length);
    if (!check_digits(r->at + length, sum))
        return false;
    *line = r->at;
    *n = (uint32_t)length;
    r->sum = sum;
    r->bytes += length + CHECK + 1;
    r->at = stop + 1;
    return true;
}

bool ss_journal_read(ss_journal_reader *r, const ss_text *content)
{
    const char *line;
    uint32_t n;
    const char *at = ss_text_get(content);
    *r = (ss_journal_reader){.at = at, .end = at + content->n, .sum = SS_HASH_START};
    size_t words = strlen(first_words);
    if (!ss_journal_next(r, &line, &n) || n < words || memcmp(line, first_words, words) != 0)
        return false;
    r->id = strtoull(line + words, NULL, 16);
    return true;
}

/* -------------------------------------------------------------------------------------- writing */

void ss_journal_char(ss_journal *j, char c)
{
    ss_text_add_bytes(&j->out, &c, 1);
}

void ss_journal_u64(ss_journal *j, uint64_t x)
{
    char digits[24];
    char *end = digits + sizeof digits, *at = end;
    do
        *--at = (char)('0' + x % 10);
    while (x /= 10);
    *--at = ' ';
    ss_text_add_bytes(&j->out, at, (size_t)(end - at));
}

void ss_journal_i64(ss_journal *j, int64_t x)
{
    if (x >= 0) {
        ss_journal_u64(j, (uint64_t)x);
        return;
    }
    char digits[24];
    int n = snprintf(digits, sizeof digits, " %" PRId64, x);
    ss_text_add_bytes(&j->out, digits, (size_t)n);
}

void ss_journal_hex(ss_journal *j, const unsigned char *bytes, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    char text[512];
    while (n) {
        size_t part = n < sizeof text / 2 ? n : sizeof text / 2;
        for (size_t i = 0; i < part; i++) {
            text[2 * i] = digit[bytes[i] >> 4];
            text[2 * i + 1] = digit[bytes[i] & 15];
        }
        ss_text_add_bytes(&j->out, text, 2 * part);
        bytes += part;
        n -= part;
    }
}

void ss_journal_f64(ss_journal *j, double x)
{
    unsigned char bytes[8];
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> (56 - 8 * i));
    ss_journal_char(j, ' ');
    ss_journal_hex(j, bytes, sizeof bytes);
}

ss_status ss_journal_line(ss_journal *j, ss_error *err)
{
    char check[CHECK + 2];
    uint64_t sum = j->sum;
    if (!j->out.failed)
        sum = sum_line(sum, j->out.at + j->line_at, j->out.n - j->line_at);
    snprintf(check, sizeof check, " %08" PRIx32 "\n", (uint32_t)sum);
    ss_text_add_bytes(&j->out, check, CHECK + 1);
    if (j->out.failed) {
        ss_status s = ss_text_status(&j->out, err);
        j->out.n = j->line_at;
        j->out.failed = false;
        return s;
    }
    j->sum = sum;
    j->line_at = j->out.n;
    return SS_OK;
}

static ss_status cut_to(ss_journal *j, uint64_t bytes, ss_error *err)
{
    if (ftruncate(j->fd, (off_t)bytes) || lseek(j->fd, (off_t)bytes, SEEK_SET) < 0)
        return ss_file_fail(err, errno, "write", j->path);
    return SS_OK;
}

static void forget_lines(ss_journal *j)
{
    ss_text_clear(&j->out);
    j->line_at = 0;
}

ss_status ss_journal_cut(ss_journal *j, uint64_t written, uint64_t sum, ss_error *err)
{
    ss_status s = cut_to(j, written, err);
    if (s)
        return s;
    forget_lines(j);
    j->written = written;
    j->sum = j->written_sum = sum;
    return SS_OK;
}

ss_status ss_journal_write(ss_journal *j, ss_error *err)
{
    const char *at = j->out.at;
    size_t left = j->line_at;
    while (left) {
        ssize_t put = write(j->fd, at, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            int reason = errno;
            (void)ss_journal_cut(j, j->written, j->written_sum, NULL);
            return ss_file_fail(err, reason, "write", j->path);
        }
        at += put;
        left -= (size_t)put;
    }
    j->written += j->line_at;
    j->written_sum = j->sum;
    forget_lines(j);
    return SS_OK;
}

ss_status ss_journal_sync(ss_journal *j, ss_error *err)
{
    return fdatasync(j->fd) ? ss_file_fail(err, errno, "write", j->path) : SS_OK;
}

ss_status ss_journal_empty(ss_journal *j, ss_error *err)
{
    return ss_journal_cut(j, j->head_bytes, j->head_sum, err);
}

ss_status ss_journal_begin(ss_journal *j, uint64_t id, ss_error *err)
{
    ss_status s = ss_journal_cut(j, 0, SS_HASH_START, err);
    if (s)
        return s;
    ss_text_add(&j->out, "%s%016" PRIx64, first_words, id);
    s = ss_journal_line(j, err);
    if (!s)
        s = ss_journal_write(j, err);
    if (!s) {
        j->head_bytes = j->written;
        j->head_sum = j->written_sum;
    }
    return s;
}

ss_status ss_journal_go_on(ss_journal *j, const ss_journal_reader *first,
                           const ss_journal_reader *last, ss_error *err)
{
    j->head_bytes = first->bytes;
    j->head_sum = first->sum;
    return ss_journal_cut(j, last->bytes, last->sum, err);
}
