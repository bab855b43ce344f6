/* Damaged records: whatever happens to the bytes of a file, reading it ends soon, in the view that
 * was written or in a sentence that names the file, and leaves nothing behind.
 *
 *     fuzz_record [cases [seed [first case]]]
 *
 * Cases run in a child, so that a crash or a hang of a library is a failure with a number, not the
 * end of the test.  A failing case leaves its file.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/record.h"
#include "small_view.h"

#define HERE "fuzz_record.dir/"
enum { CASES = 1500, SECONDS_FOR_A_CASE = 20 };

static ss_text whole;
static uint64_t seed = 20240229, first_case, end_case, failures;

/* ------------------------------------------------------------------------------------- damage */

typedef struct draw {
    uint64_t state;
} draw;

static uint64_t below(draw *d, uint64_t n)
{
    d->state = ss_hash_u64(d->state, 1);
    return d->state % n;
}

static void flip_bits(draw *d, char *at, size_t n)
{
    for (uint64_t k = 1 + below(d, 3); k; k--)
        at[below(d, n)] ^= (char)(1 << below(d, 8));
}

static void set_bytes(draw *d, char *at, size_t n)
{
    static const unsigned char telling[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
    for (uint64_t k = 1 + below(d, 8), i = below(d, n); k && i < n; k--, i++)
        at[i] = (char)telling[below(d, sizeof telling)];
}

/* A disk that lost a block, or wrote another one there. */
static void lose_block(draw *d, char *at, size_t n)
{
    size_t block = (size_t)16 << below(d, 6), from = below(d, n), to = below(d, n);
    bool zero = below(d, 2);
    for (size_t i = 0; i < block && from + i < n && to + i < n; i++)
        at[to + i] = zero ? 0 : whole.at[from + i];
}

/* Bytes that a text-mode transfer took out or put in. */
static size_t shift(draw *d, char *at, size_t n)
{
    size_t i = below(d, n);
    memmove(at + i, at + i + 1, n - i - 1);
    return n - 1;
}

/* `bytes` has room for as many as the whole file; returns how many are left. */
static size_t damage(uint64_t number, char *bytes)
{
    draw d = {ss_hash_u64(ss_hash_u64(SS_HASH_START, seed), number)};
    size_t n = whole.n;
    memcpy(bytes, whole.at, n);
    switch (below(&d, 6)) {
    case 0:
        return below(&d, n);
    case 1:
        lose_block(&d, bytes, n);
        return n;
    case 2:
        set_bytes(&d, bytes, n);
        return n;
    case 3:
        return shift(&d, bytes, n);
    default:
        flip_bits(&d, bytes, n);
        return n;
    }
}

/* --------------------------------------------------------------------------------- in the child */

static bool is_refusal(ss_status s)
{
    return s == SS_EFORMAT || s == SS_EUNSUPPORTED || s == SS_ENOTFOUND || s == SS_EINVAL;
}

static bool fine(const char *path, ss_status s, const ss_error *err, uint64_t number)
{
    if (!s || (is_refusal(s) && strstr(err->text, path) && !strchr(err->text, '\n')))
        return true;
    printf("  case %llu: status %d: %s\n", (unsigned long long)number, (int)s, err->text);
    return false;
}

/* Not by ss_file_write, which waits for the disk. */
static bool put_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(bytes, 1, n, f) == n;
    return f ? fclose(f) == 0 && ok : false;
}

static bool try_case(uint64_t number, const char *path)
{
    char *bytes = malloc(whole.n);
    size_t n = damage(number, bytes);
    bool ok = put_file(path, bytes, n);
    free(bytes);
    ss_error err = {0};
    size_t blocks = ss_mem_blocks();
    ss_view written = small_view(), got = {0};
    ss_text text = {0};
    ss_status s = ss_record_read_timeline(path, "data", &got, &err);
    ok = ok && fine(path, s, &err, number);
    const char *difference = s ? NULL : small_difference(&written, &got);
    if (difference) {
        printf("  case %llu: %s changed and nobody noticed\n", (unsigned long long)number,
               difference);
        ok = false;
    }
    if (!s)
        ss_arena_free(&got.arena);
    s = ss_record_describe(path, number % 2, &text, &err);
    ok = fine(path, s, &err, number) && ok;
    ss_text_free(&text);
    if (ss_mem_blocks() != blocks) {
        printf("  case %llu: %zu blocks left\n", (unsigned long long)number,
               ss_mem_blocks() - blocks);
        ok = false;
    }
    fflush(stdout);
    return ok;
}

/* One byte to the parent after each case: whether it was fine. */
static void work(uint64_t first, uint64_t end, const char *path, int to_parent)
{
    for (uint64_t number = first; number < end; number++) {
        char ok = try_case(number, path);
        if (write(to_parent, &ok, 1) != 1)
            _exit(1);
        if (!ok)
            _exit(0); /* the file stays; another child goes on */
    }
    _exit(0);
}

/* ---------------------------------------------------------------------------------- the parent */

/* 1 fine, 0 not fine, -1 the child is gone, -2 it hangs */
static int next_answer(int from_child)
{
    struct pollfd p = {from_child, POLLIN, 0};
    int ready;
    do
        ready = poll(&p, 1, SECONDS_FOR_A_CASE * 1000);
    while (ready < 0 && errno == EINTR);
    char ok;
    if (ready == 0)
        return -2;
    return read(from_child, &ok, 1) == 1 ? ok : -1;
}

static void keep_file(const char *path, uint64_t number)
{
    char kept[64];
    snprintf(kept, sizeof kept, HERE "case-%llu.h5", (unsigned long long)number);
    if (rename(path, kept) == 0)
        printf("  case %llu: its file is %s\n", (unsigned long long)number, kept);
}

/* Runs cases from `first` until one is not fine; returns the first that was not run. */
static uint64_t run_some(uint64_t first, uint64_t end, const char *path)
{
    int channel[2];
    if (pipe(channel))
        return end;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(channel[0]);
        work(first, end, path, channel[1]);
    }
    close(channel[1]);
    int answer = 1, status = 0;
    uint64_t number = first;
    while (number < end && (answer = next_answer(channel[0])) == 1)
        number++;
    if (answer == -2)
        kill(child, SIGKILL);
    close(channel[0]);
    waitpid(child, &status, 0);
    if (number == end)
        return end;
    if (answer == -2)
        printf("  case %llu: no end after %d s\n", (unsigned long long)number, SECONDS_FOR_A_CASE);
    else if (answer == -1)
        printf("  case %llu: killed by signal %d\n", (unsigned long long)number,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    keep_file(path, number);
    failures++;
    return number + 1;
}

static ss_status write_whole(ss_error *err)
{
    ss_manifest manifest = {.version = "0", .command = "c", .script_name = "s", .script_text = "t"};
    ss_view v = small_view();
    ss_record *r;
    setenv("SOURCE_DATE_EPOCH", "0", 1); /* the same bytes, so that a number means the same case */
    ss_status s = ss_record_create(HERE "whole.h5", &manifest, &r, err);
    if (s)
        return s;
    s = ss_record_timeline(r, "data", &v, NULL, err);
    if (s) {
        ss_record_abandon(r);
        return s;
    }
    s = ss_record_finish(r, err);
    return s ? s : ss_file_read(HERE "whole.h5", 1 << 24, &whole, err);
}

static void a_damaged_record_is_refused_or_read_right(void)
{
    ss_error err = {0};
    CHECK_OK(write_whole(&err));
    printf("  seed %llu, cases %llu to %llu of a file of %u bytes\n", (unsigned long long)seed,
           (unsigned long long)first_case, (unsigned long long)end_case - 1, whole.n);
    for (uint64_t number = first_case; number < end_case;)
        number = run_some(number, end_case, HERE "fuzz.h5");
    CHECK(!failures, "%llu cases", (unsigned long long)failures);
}

int main(int n, char **arg)
{
    first_case = n > 3 ? strtoull(arg[3], NULL, 10) : 0;
    end_case = first_case + (n > 1 ? strtoull(arg[1], NULL, 10) : CASES);
    if (n > 2)
        seed = strtoull(arg[2], NULL, 10);
    if (system("rm -rf " HERE) || mkdir("fuzz_record.dir", 0777))
        return 1;
    RUN(a_damaged_record_is_refused_or_read_right);
    ss_text_free(&whole);
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}
