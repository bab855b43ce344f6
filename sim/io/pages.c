#include "config.h"

#include "io/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "io/file.h"
#include "io/h5_inside.h"

enum {
    PAGE = 4096,
    AT_ONCE = 64 * PAGE,  /* pages that follow each other go out together */
    LINES_BYTES = 1 << 20 /* of the journal, gathered */
};

typedef struct page {
    uint64_t number;
    unsigned char *bytes; /* [PAGE] */
    uint32_t first, last; /* of an overwriting page: the bytes that differ, last excluded */
} page;

struct ss_pages {
    char *path;
    int fd;
    hid_t driver;
    uint64_t size; /* of the file on the disk: nothing committed lies behind it */
    uint64_t end;  /* of the file as the library has it */
    page *page;    /* waiting, in no order */
    uint32_t pages, cap;
    uint32_t *slot; /* open addressing: index into page, plus 1; 0: free */
    uint32_t slots;
    unsigned char **spare; /* [cap]: blocks that commits have left */
    uint32_t spares;
    bool no_memory;
};

/* -------------------------------------------------------------------------------------- pages */

static uint32_t *find_slot(const ss_pages *p, uint64_t number)
{
    uint32_t k = (uint32_t)(number * 0x9e3779b97f4a7c15ULL >> 40) & (p->slots - 1);
    while (p->slot[k] && p->page[p->slot[k] - 1].number != number)
        k = (k + 1) & (p->slots - 1);
    return &p->slot[k];
}

static page *find(const ss_pages *p, uint64_t number)
{
    uint32_t i = p->slots ? *find_slot(p, number) : 0;
    return i ? &p->page[i - 1] : NULL;
}

static bool grow(ss_pages *p)
{
    uint32_t cap = p->cap ? 2 * p->cap : 256;
    page *more = ss_realloc(p->page, cap * sizeof *more);
    if (!more)
        return false;
    p->page = more;
    unsigned char **spare = ss_realloc(p->spare, cap * sizeof *spare);
    if (!spare)
        return false;
    p->spare = spare;
    uint32_t *slot = ss_alloc_zeroed(2 * (size_t)cap, sizeof *slot);
    if (!slot)
        return false;
    ss_free(p->slot);
    p->slot = slot;
    p->slots = 2 * cap;
    p->cap = cap;
    for (uint32_t i = 0; i < p->pages; i++)
        *find_slot(p, p->page[i].number) = i + 1;
    return true;
}

/* What is on the disk from `at` on, and zeros behind the end of the file. */
static bool get_bytes(const ss_pages *p, uint64_t at, unsigned char *bytes, size_t n)
{
    while (n) {
        ssize_t got = pread(p->fd, bytes, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (!got) {
            memset(bytes, 0, n);
            return true;
        }
        bytes += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* `whole`: all of it will be written. */
static page *make(ss_pages *p, uint64_t number, bool whole)
{
    if (p->pages == p->cap && !grow(p))
        return NULL;
    unsigned char *bytes = p->spares ? p->spare[--p->spares] : ss_alloc(PAGE);
    if (!bytes)
        return NULL;
    if (!whole && !get_bytes(p, number * PAGE, bytes, PAGE)) {
        p->spare[p->spares++] = bytes;
        return NULL;
    }
    page *made = &p->page[p->pages++];
    *made = (page){number, bytes, 0, 0};
    *find_slot(p, number) = p->pages;
    return made;
}

static bool put(ss_pages *p, uint64_t at, const unsigned char *bytes, size_t n)
{
    if (at + n > p->end)
        p->end = at + n;
    while (n) {
        uint64_t number = at / PAGE;
        size_t from = (size_t)(at % PAGE), part = PAGE - from < n ? PAGE - from : n;
        page *to = find(p, number);
        if (!to)
            to = make(p, number, part == PAGE);
        if (!to)
            return false;
        memcpy(to->bytes + from, bytes, part);
        at += part;
        bytes += part;
        n -= part;
    }
    return true;
}

static bool get(const ss_pages *p, uint64_t at, unsigned char *bytes, size_t n)
{
    if (!get_bytes(p, at, bytes, n))
        return false;
    while (n) {
        size_t from = (size_t)(at % PAGE), part = PAGE - from < n ? PAGE - from : n;
        const page *there = find(p, at / PAGE);
        if (there)
            memcpy(bytes, there->bytes + from, part);
        at += part;
        bytes += part;
        n -= part;
    }
    return true;
}

/* ------------------------------------------------------------------------------ the file driver */

typedef struct driver_file {
    H5FD_t base;
    ss_pages *p;
    haddr_t allocated;
} driver_file;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name;
    (void)flags;
    (void)most;
    ss_pages *const *info = H5Pget_driver_info(access);
    driver_file *f = info ? ss_alloc_zeroed(1, sizeof *f) : NULL;
    if (f)
        f->p = *info;
    else if (info)
        (*info)->no_memory = true;
    return f ? &f->base : NULL;
}

static herr_t driver_close(H5FD_t *file)
{
    ss_free(file);
    return 0;
}

static ss_pages *pages_of(const H5FD_t *file)
{
    return ((const driver_file *)(const void *)file)->p;
}

static int driver_compare(const H5FD_t *a, const H5FD_t *b)
{
    return (pages_of(a) > pages_of(b)) - (pages_of(a) < pages_of(b));
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)(const void *)file)->allocated;
}

static herr_t driver_allocate(H5FD_t *file, H5FD_mem_t type, haddr_t to)
{
    (void)type;
    ((driver_file *)(void *)file)->allocated = to;
    return 0;
}

static haddr_t driver_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return pages_of(file)->end;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                          void *bytes)
{
    (void)type;
    (void)list;
    return get(pages_of(file), at, bytes, n) ? 0 : -1;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at, size_t n,
                           const void *bytes)
{
    (void)type;
    (void)list;
    ss_pages *p = pages_of(file);
    if (!put(p, at, bytes, n))
        p->no_memory = true;
    return 0;
}

/* What was allocated and never written counts as well. */
static herr_t driver_truncate(H5FD_t *file, hid_t list, hbool_t closing)
{
    (void)list;
    (void)closing;
    driver_file *f = (driver_file *)(void *)file;
    f->p->end = f->allocated;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = H5_VFD_RESERVED, /* not the number of any driver of the library */
#endif
    .name = "soapstone pages",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(ss_pages *),
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .get_eoa = driver_allocated,
    .set_eoa = driver_allocate,
    .get_eof = driver_end,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t ss_pages_access(ss_pages *p)
{
    if (p->driver < 0)
        p->driver = H5FDregister(&driver);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (p->driver < 0 || list < 0 || H5Pset_driver(list, p->driver, &p) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

/* --------------------------------------------------------------------------- opening and closing */

ss_status ss_pages_open(const char *path, ss_pages **out, ss_error *err)
{
    ss_pages *p = ss_alloc_zeroed(1, sizeof *p);
    if (p)
        p->path = ss_strdup(path);
    if (!p || !p->path) {
        ss_free(p);
        return ss_fail_memory(err, "the pages of a file", sizeof *p);
    }
    p->driver = H5I_INVALID_HID;
    p->fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat is;
    ss_status s = SS_OK;
    if (p->fd < 0 || fstat(p->fd, &is))
        s = ss_file_fail(err, errno, "write", path);
    else if (!S_ISREG(is.st_mode))
        s = ss_fail(err, SS_EINVAL, "cannot write %s: it is no regular file", path);
    else
        p->size = p->end = (uint64_t)is.st_size;
    if (s)
        ss_pages_free(p);
    else
        *out = p;
    return s;
}

void ss_pages_free(ss_pages *p)
{
    if (!p)
        return;
    if (p->fd >= 0)
        close(p->fd);
    if (p->driver >= 0)
        H5FDunregister(p->driver);
    for (uint32_t i = 0; i < p->pages; i++)
        ss_free(p->page[i].bytes);
    for (uint32_t i = 0; i < p->spares; i++)
        ss_free(p->spare[i]);
    ss_free(p->page);
    ss_free(p->spare);
    ss_free(p->slot);
    ss_free(p->path);
    ss_free(p);
}

bool ss_pages_lack_memory(const ss_pages *p)
{
    return p->no_memory;
}

size_t ss_pages_waiting(const ss_pages *p)
{
    return (size_t)p->pages * PAGE;
}

/* -------------------------------------------------------------------------------------- commit */

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const page *)a)->number, y = ((const page *)b)->number;
    return (x > y) - (x < y);
}

static ss_status put_bytes(int fd, const char *path, uint64_t at, const unsigned char *bytes,
                           size_t n, ss_error *err)
{
    while (n) {
        ssize_t put = pwrite(fd, bytes, n, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return ss_file_fail(err, errno, "write", path);
        bytes += put;
        at += (uint64_t)put;
        n -= (size_t)put;
    }
    return SS_OK;
}

static ss_status sync_file(const ss_pages *p, ss_error *err)
{
    return fdatasync(p->fd) ? ss_file_fail(err, errno, "write", p->path) : SS_OK;
}

/* How much of a page the file has. */
static size_t length_of(const ss_pages *p, const page *at)
{
    uint64_t from = at->number * PAGE;
    return from >= p->end ? 0 : p->end - from < PAGE ? (size_t)(p->end - from) : PAGE;
}

/* Step 1, of the pages from `first` on in the order of numbers. */
static ss_status put_behind(ss_pages *p, uint32_t first, ss_error *err)
{
    unsigned char *run = ss_alloc(AT_ONCE);
    ss_status s = run ? SS_OK : ss_fail_memory(err, "pages on their way to a file", AT_ONCE);
    for (uint32_t i = first; !s && i < p->pages;) {
        uint64_t at = p->page[i].number * PAGE;
        size_t n = 0;
        do {
            size_t part = length_of(p, &p->page[i]);
            memcpy(run + n, p->page[i++].bytes, part);
            n += part;
        } while (i < p->pages && n % PAGE == 0 && n < AT_ONCE &&
                 p->page[i].number * PAGE == at + n);
        s = put_bytes(p->fd, p->path, at, run, n, err);
    }
    ss_free(run);
    struct stat is; /* space that was allocated and not written, or is not there any more */
    if (!s &&
        (fstat(p->fd, &is) || ((uint64_t)is.st_size < p->end && ftruncate(p->fd, (off_t)p->end))))
        s = ss_file_fail(err, errno, "write", p->path);
    return s;
}

/* The bytes of an overwriting page that are not on the disk already; none: first = last. */
static ss_status find_difference(const ss_pages *p, page *at, ss_error *err)
{
    unsigned char old[PAGE];
    size_t n = length_of(p, at);
    if (!get_bytes(p, at->number * PAGE, old, n))
        return ss_file_fail(err, errno, "read", p->path);
    at->first = 0;
    at->last = (uint32_t)n;
    while (at->first < at->last && old[at->first] == at->bytes[at->first])
        at->first++;
    while (at->last > at->first && old[at->last - 1] == at->bytes[at->last - 1])
        at->last--;
    return SS_OK;
}

/* Step 2. */
static ss_status tell_journal(ss_pages *p, uint32_t n, ss_journal *j, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < n; i++) {
        page *at = &p->page[i];
        s = find_difference(p, at, err);
        if (s || at->first == at->last)
            continue;
        ss_journal_char(j, 'p');
        ss_journal_u64(j, at->number * PAGE + at->first);
        ss_journal_char(j, ' ');
        ss_journal_hex(j, at->bytes + at->first, at->last - at->first);
        s = ss_journal_line(j, err);
        if (!s && j->line_at > LINES_BYTES)
            s = ss_journal_write(j, err);
    }
    if (!s) {
        ss_journal_char(j, 'k');
        ss_journal_u64(j, p->end);
        s = ss_journal_line(j, err);
    }
    if (!s)
        s = ss_journal_write(j, err);
    return s ? s : ss_journal_sync(j, err);
}

/* Step 3. */
static ss_status put_over(ss_pages *p, uint32_t n, ss_error *err)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < n; i++) {
        const page *at = &p->page[i];
        s = put_bytes(p->fd, p->path, at->number * PAGE + at->first, at->bytes + at->first,
                      at->last - at->first, err);
    }
    return s ? s : sync_file(p, err);
}

static void forget(ss_pages *p)
{
    for (uint32_t i = 0; i < p->pages; i++)
        p->spare[p->spares++] = p->page[i].bytes;
    p->pages = 0;
    memset(p->slot, 0, p->slots * sizeof *p->slot);
}

static void rebuild_slots(ss_pages *p)
{
    memset(p->slot, 0, p->slots * sizeof *p->slot);
    for (uint32_t i = 0; i < p->pages; i++)
        *find_slot(p, p->page[i].number) = i + 1;
}

ss_status ss_pages_commit(ss_pages *p, ss_journal *j, ss_error *err)
{
    if (p->no_memory)
        return ss_fail_memory(err, "the pages of a file", PAGE);
    ss_status s = ss_journal_write(j, err);
    if (s || !p->pages)
        return s ? s : ss_journal_empty(j, err);
    uint64_t written = j->written, sum = j->written_sum;
    qsort(p->page, p->pages, sizeof *p->page, by_number);
    rebuild_slots(p);
    if (p->page[0].number == 0)
        ss_h5_unmark(p->page[0].bytes, PAGE);
    uint32_t over = 0;
    while (over < p->pages && p->page[over].number * PAGE < p->size)
        over++;
    s = put_behind(p, over, err);
    if (!s)
        s = sync_file(p, err);
    if (!s)
        s = tell_journal(p, over, j, err);
    if (s) {
        /* Where the journal cannot be cut it may hold the "k", and then needs all of step 1. */
        if (!ss_journal_cut(j, written, sum, NULL))
            (void)!ftruncate(p->fd, (off_t)p->size);
        return s;
    }
    if (p->end > p->size)
        p->size = p->end;
    s = put_over(p, over, err);
    if (!s)
        s = ss_journal_empty(j, err);
    if (!s)
        forget(p);
    return s;
}

void ss_pages_trim(ss_pages *p)
{
    if (p->end < p->size && !ftruncate(p->fd, (off_t)p->end))
        p->size = p->end;
}

/* ---------------------------------------------------------------------------------------- redo */

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static ss_status redo_page(int fd, const char *path, const char *line, uint32_t n, ss_error *err)
{
    char *hex;
    unsigned char bytes[PAGE];
    uint64_t at = strtoull(line + 1, &hex, 10);
    size_t digits = (size_t)(line + n - ++hex);
    if (digits > 2 * (size_t)PAGE)
        return ss_fail(err, SS_EFORMAT, "%s.journal has a page of %zu bytes", path, digits / 2);
    for (size_t i = 0; i < digits / 2; i++)
        bytes[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    return put_bytes(fd, path, at, bytes, digits / 2, err);
}

/* The pages before a "k", from where `r` stands. */
static ss_status redo_commit(int fd, const char *path, ss_journal_reader r, uint32_t *pages,
                             ss_error *err)
{
    const char *line;
    uint32_t n;
    ss_status s = SS_OK;
    while (!s && ss_journal_next(&r, &line, &n) && *line != 'k')
        if (*line == 'p') {
            s = redo_page(fd, path, line, n, err);
            ++*pages;
        }
    return s;
}

ss_status ss_pages_redo(const char *path, ss_journal_reader *r, uint32_t *pages, ss_error *err)
{
    ss_journal_reader begin = *r, at = *r;
    const char *line;
    uint32_t n;
    int fd = -1;
    ss_status s = SS_OK;
    while (!s && ss_journal_next(&at, &line, &n)) {
        if (*line != 'k')
            continue;
        if (fd < 0 && (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
            s = ss_file_fail(err, errno, "write", path);
        if (!s)
            s = redo_commit(fd, path, begin, pages, err);
        begin = at;
    }
    if (!s && fd >= 0 && fdatasync(fd))
        s = ss_file_fail(err, errno, "write", path);
    if (fd >= 0)
        close(fd);
    if (!s)
        *r = begin;
    return s;
}
