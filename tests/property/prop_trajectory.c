/* The log of a search, killed at every write there is, on a disk that is full from any write on, and
 * with a journal that is cut anywhere: what was flushed is there after a repair, and nothing that
 * was not told.
 *
 *   prop_trajectory [SEARCHES [SEED]]
 *
 * One search is killed at every fourth of its writes, several at each.
 *
 * All calls of ours that change a file go through the functions __wrap_... below (the linker's
 * --wrap), which count them and may die before, or half-way through, the one they are told. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "fake_search.h"
#include "io/file.h"
#include "io/h5.h"
#include "no_sync.h"
#include "same_h5.h"

#define HERE "prop_trajectory.dir/"
#define LOG HERE "log.h5"
#define JOURNAL LOG ".journal"

/* ------------------------------------------------------------------------------- calls counted */

ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __real_ftruncate(int fd, off_t n);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __wrap_ftruncate(int fd, off_t n);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);

static long calls, die_at = -1, full_at = -1;
static bool half; /* of the bytes are written before */

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    struct stat is;
    if (fstat(fd, &is) || !S_ISREG(is.st_mode))
        return __real_write(fd, bytes, n);
    bool dies = calls == die_at;
    calls++;
    if (dies && half)
        (void)!__real_write(fd, bytes, n / 2);
    if (dies)
        die();
    if (full_at >= 0 && calls > full_at) {
        errno = ENOSPC;
        return calls == full_at + 1 && n > 1 ? __real_write(fd, bytes, n / 2) : -1;
    }
    return __real_write(fd, bytes, n);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    bool dies = calls == die_at;
    calls++;
    if (dies && half)
        (void)!__real_pwrite(fd, bytes, n / 2, at);
    if (dies)
        die();
    if (full_at >= 0 && calls > full_at) {
        errno = ENOSPC;
        return calls == full_at + 1 && n > 1 ? __real_pwrite(fd, bytes, n / 2, at) : -1;
    }
    return __real_pwrite(fd, bytes, n, at);
}

static void count_other(void)
{
    if (calls == die_at)
        die();
    calls++;
}

int __wrap_ftruncate(int fd, off_t n)
{
    count_other();
    return __real_ftruncate(fd, n);
}

int __wrap_rename(const char *from, const char *to)
{
    count_other();
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    count_other();
    return __real_unlink(path);
}

/* ------------------------------------------------------------------------------------ searches */

static fake_inputs fake;
static uint64_t seed;

/* What a process that may die has reached. */
typedef struct reached {
    uint32_t opened, flushed, told, closed; /* flushed, told: steps of each chain */
    bool ended;                             /* it did not die: with this status */
    ss_status status;
} reached;

enum { STEPS = 18, BURST = 6, CHAINS = 2 };
static long stride = 4;

static void report(int to, const reached *r)
{
    if (__real_write(to, r, sizeof *r) != sizeof *r)
        _exit(97);
}

static bool leave_open;

/* Creates or resumes, runs, closes; a line to the pipe for everything that it is sure of. */
static ss_status run_search(bool resume, uint32_t from, uint32_t steps, int to, ss_error *e)
{
    static fake_chain c[CHAINS];
    ss_trajectory *t;
    reached r = {.flushed = from, .told = from};
    ss_status s = resume ? ss_trajectory_resume(LOG, &fake.in, &t, e)
                         : ss_trajectory_create(LOG, &fake.in, &t, e);
    if (s)
        return s;
    r.opened = 1;
    report(to, &r);
    for (uint32_t i = 0; i < CHAINS; i++) {
        fake_start(&c[i], &fake, seed, i);
        while (c[i].step.step < from)
            fake_next(&c[i]);
    }
    ss_search_sink sink = ss_trajectory_sink(t);
    for (uint32_t i = 0; !s && i < CHAINS; i++)
        s = sink.begin(t, i, fake.s[i], fake_start_cost(i), fake_beta(i), e);
    for (uint32_t k = from; !s && k < steps; k++) {
        for (uint32_t i = 0; !s && i < CHAINS; i++)
            s = sink.step(t, i, fake_next(&c[i]), e);
        r.told = k + 1;
        report(to, &r);
        if (!s && (k + 1) % BURST == 0)
            s = sink.flush(t, e);
        if (!s && (k + 1) % BURST == 0)
            r.flushed = k + 1;
        report(to, &r);
    }
    if (leave_open)
        die();
    for (uint32_t i = 0; !s && i < CHAINS; i++)
        s = sink.end(t, i, SS_END_PROPOSALS, e);
    ss_status closed = ss_trajectory_close(t, fake.s[0], s ? NULL : e);
    s = s ? s : closed;
    r.closed = !s;
    report(to, &r);
    return s;
}

/* Runs something in a process of its own that dies at a call; what it had reached; false: it ended
 * by itself. */
typedef ss_status child_work(int to, ss_error *e);

static bool run_child(child_work *work, long at, bool after_half, reached *r, ss_status *status)
{
    int ends[2];
    *r = (reached){0};
    if (pipe(ends))
        exit(96);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        calls = 0;
        die_at = at;
        half = after_half;
        ss_error e;
        reached last = {.status = work(ends[1], &e), .ended = true};
        report(ends[1], &last);
        die(); /* nothing of ours is freed: a leak checker need not be told */
    }
    close(ends[1]);
    reached next = {0};
    while (read(ends[0], &next, sizeof next) == sizeof next && !next.ended)
        *r = next;
    close(ends[0]);
    int ended;
    waitpid(child, &ended, 0);
    *status = next.ended ? next.status : SS_OK;
    return !next.ended;
}

static ss_status whole_search(int to, ss_error *e)
{
    return run_search(false, 0, STEPS, to, e);
}

/* Rows in the journal alone, and no close. */
static ss_status unclosed_search(int to, ss_error *e)
{
    fake.in.commit_every_s = 1e9;
    leave_open = true;
    return run_search(false, 0, STEPS, to, e);
}

static ss_status repair(int to, ss_error *e)
{
    (void)to;
    ss_text text = {0};
    ss_status s = ss_trajectory_repair(LOG, &text, e);
    ss_text_free(&text);
    return s;
}

/* --------------------------------------------------------------------------------------- checks */

static void clear(void)
{
    if (system("rm -f " HERE "* " HERE ".l*"))
        exit(95);
}

/* The log has the first steps of the search, at least `least` and at most `most` of each chain. */
static const char *why_no_prefix(uint32_t least, uint32_t most, bool chains_may_lack)
{
    static fake_chain c;
    static char why[200];
    ss_trajectory_view v;
    if (ss_trajectory_read(LOG, &v, &err))
        return err.text;
    *why = 0;
    for (uint32_t i = 0; i < CHAINS && !*why; i++) {
        const ss_trajectory_chain *chain = &v.chain[i];
        if (!chain->seed && chains_may_lack)
            continue;
        if (chain->steps < least || chain->steps > most)
            snprintf(why, sizeof why, "chain %u has %u steps of %u to %u", i, chain->steps, least,
                     most);
        fake_start(&c, &fake, seed, i);
        for (uint32_t k = 0; k < chain->steps && !*why; k++) {
            const ss_step *s = fake_next(&c);
            if (chain->step[k].proposed != s->proposed || chain->step[k].best != s->best)
                snprintf(why, sizeof why, "step %u of chain %u is another one", k + 1, i);
        }
    }
    ss_arena_free(&v.arena);
    return *why ? why : NULL;
}

static uint32_t steps_of_chain(uint32_t chain)
{
    ss_trajectory_view v;
    if (ss_trajectory_read(LOG, &v, &err))
        return 0;
    uint32_t n = v.chain[chain].steps;
    ss_arena_free(&v.arena);
    return n;
}

/* Plain HDF5, with no word of ours, reads every dataset. */
static bool plain_tools_read_it(void)
{
    return same_one_way(LOG, LOG).differ == 0;
}

static bool is_there(const char *path)
{
    return !access(path, F_OK);
}

/* Resumed to the end, it is the log of the search that nobody disturbed. */
static const char *why_resumed_differs(void)
{
    static char why[300];
    ss_trajectory *t;
    if (ss_trajectory_resume(LOG, &fake.in, &t, &err))
        return err.text;
    /* the two chains may be at different steps: the shorter one goes first */
    static fake_chain c[CHAINS];
    ss_search_sink sink = ss_trajectory_sink(t);
    ss_search_past past = ss_trajectory_past(t);
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < CHAINS; i++) {
        ss_search_left left;
        s = past.last(t, i, &left, &err);
        fake_start(&c[i], &fake, seed, i);
        while (!s && c[i].step.step < left.steps)
            fake_next(&c[i]);
        if (!s)
            s = sink.begin(t, i, fake.s[i], fake_start_cost(i), fake_beta(i), &err);
    }
    for (uint32_t i = 0; !s && i < CHAINS; i++)
        while (!s && c[i].step.step < STEPS)
            s = sink.step(t, i, fake_next(&c[i]), &err);
    for (uint32_t i = 0; !s && i < CHAINS; i++)
        s = sink.end(t, i, SS_END_PROPOSALS, &err);
    ss_status closed = ss_trajectory_close(t, fake.s[0], s ? NULL : &err);
    if (s || closed)
        return err.text;
    same_h5 one = same_one_way(LOG, HERE "whole.h5"), other = same_one_way(HERE "whole.h5", LOG);
    snprintf(why, sizeof why, "%s", one.differ ? one.first : other.first);
    return one.differ || other.differ ? why : NULL;
}

static void write_whole(void)
{
    clear();
    int nowhere = open("/dev/null", O_WRONLY);
    if (run_search(false, 0, STEPS, nowhere, &err) || rename(LOG, HERE "whole.h5"))
        fixture_failed();
    close(nowhere);
}

static void remove_log(void)
{
    (void)remove(LOG);
    (void)remove(JOURNAL);
}

/* --------------------------------------------------------------------------------------- claims */

static void killed_at_any_write_it_is_whole_after_a_repair(void)
{
    reached r;
    ss_status status;
    long moments = 0, plain = 0, without = 0;
    write_whole();
    for (long at = (long)seed % stride;; at += stride) {
        remove_log();
        if (!run_child(whole_search, at, (at / stride + (long)seed) % 2, &r, &status))
            break;
        if (!is_there(LOG)) {
            CHECK(!r.opened, "call %ld: the file is gone", at);
            continue;
        }
        moments++;
        bool is_plain = plain_tools_read_it();
        plain += is_plain;
        without += is_plain && !why_no_prefix(r.flushed, r.told + 1, !r.flushed);
        CHECK(!repair(0, &err), "call %ld: %s", at, err.text);
        CHECK(plain_tools_read_it(), "call %ld: not after the repair", at);
        CHECK(!is_there(JOURNAL), "call %ld: the journal stayed", at);
        const char *why = why_no_prefix(r.flushed, r.told + 1, !r.flushed);
        CHECK(!why, "call %ld: %s", at, why);
        why = moments % 3 ? NULL : why_resumed_differs();
        CHECK(!why, "call %ld, resumed: %s", at, why);
    }
    CHECK(status == SS_OK && r.closed, "status %d", (int)status);
    CHECK(moments > 10, "%ld moments", moments);
    printf("  %ld moments; plain tools read the file at %ld of them, and at %ld it had all that "
           "was flushed\n",
           moments, plain, without);
}

static void a_repair_may_be_killed_at_any_write(void)
{
    reached before, r;
    ss_status status;
    long moments = 0;
    ss_rng rng = {NULL};
    CHECK_OK(ss_rng_open(&rng, seed, "kills", &err));
    for (int k = 0; k < (stride > 1 ? 2 : 12); k++) {
        remove_log();
        long at = 12 + (long)ss_rng_below(&rng, 120);
        if (!run_child(whole_search, at, k % 2, &before, &status) || !before.opened)
            continue;
        for (long second = k % stride;; second += stride, moments++) {
            if (system("cp " LOG " " HERE "copy.h5; cp " JOURNAL " " HERE "copy.journal"))
                exit(95);
            bool dead = run_child(repair, second, second % 2, &r, &status);
            CHECK(dead || !status, "call %ld, then %ld: status %d", at, second, (int)status);
            CHECK(!repair(0, &err), "call %ld, then %ld: %s", at, second, err.text);
            const char *why = why_no_prefix(before.flushed, before.told + 1, !before.flushed);
            CHECK(!why, "call %ld, then %ld: %s", at, second, why);
            CHECK(!is_there(JOURNAL), "the journal stayed");
            if (!dead)
                break;
            if (system("cp " HERE "copy.h5 " LOG "; cp " HERE "copy.journal " JOURNAL))
                exit(95);
        }
    }
    ss_rng_close(&rng);
    printf("  %ld moments\n", moments);
    CHECK(moments > 2, "%ld moments", moments);
}

static void a_journal_cut_anywhere_gives_a_prefix(void)
{
    reached before;
    ss_status status;
    ss_rng rng = {NULL};
    unsigned lost = 0, kept = 0;
    struct stat is;
    CHECK_OK(ss_rng_open(&rng, seed, "cuts", &err));
    for (int k = 0; k < (stride > 1 ? 8 : 40); k++) {
        remove_log();
        (void)run_child(unclosed_search, -1, false, &before, &status);
        CHECK(before.flushed == STEPS && !stat(JOURNAL, &is), "%u flushed", before.flushed);
        off_t cut = (off_t)ss_rng_below(&rng, (uint64_t)is.st_size + 1);
        CHECK(!truncate(JOURNAL, cut), "cut");
        CHECK(!repair(0, &err), "%s", err.text);
        const char *why = why_no_prefix(0, STEPS, true);
        CHECK(!why, "cut at %ld of %ld bytes: %s", (long)cut, (long)is.st_size, why);
        kept += steps_of_chain(0) > 0;
        lost += steps_of_chain(0) < STEPS;
        why = k % 4 ? NULL : why_resumed_differs();
        CHECK(!why, "cut at %ld of %ld bytes: %s", (long)cut, (long)is.st_size, why);
    }
    ss_rng_close(&rng);
    CHECK(lost && kept, "%u cuts lost something, %u kept something", lost, kept);
}

/* One byte is another: what follows is not believed, what came before is there. */
static void a_changed_journal_gives_a_prefix(void)
{
    reached before;
    ss_status status;
    ss_rng rng = {NULL};
    unsigned lost = 0, kept = 0;
    CHECK_OK(ss_rng_open(&rng, seed, "changes", &err));
    for (int k = 0; k < (stride > 1 ? 8 : 40); k++) {
        remove_log();
        ss_text text = {0};
        (void)run_child(unclosed_search, -1, false, &before, &status);
        CHECK_OK(ss_file_read(JOURNAL, 1 << 20, &text, &err));
        text.at[ss_rng_below(&rng, text.n)] ^= (char)(1 + ss_rng_below(&rng, 255));
        CHECK_OK(ss_file_write(JOURNAL, text.at, text.n, &err));
        ss_text_free(&text);
        CHECK(!repair(0, &err), "%s", err.text);
        const char *why = why_no_prefix(0, STEPS, true);
        CHECK(!why, "%s", why);
        CHECK(steps_of_chain(0) + steps_of_chain(1) < CHAINS * STEPS, "nothing is lost");
        kept += steps_of_chain(0) > 0;
        lost += steps_of_chain(0) < STEPS;
    }
    ss_rng_close(&rng);
    CHECK(lost && kept, "%u changes lost something, %u kept something", lost, kept);
}

static void a_disk_that_is_full_keeps_what_was_flushed(void)
{
    int ends[2];
    long moments = 0, refused = 0;
    CHECK(!pipe(ends) && !fcntl(ends[0], F_SETFL, O_NONBLOCK), "pipe");
    for (long at = (long)seed % stride;; at += stride) {
        remove_log();
        reached r = {0}, next;
        calls = 0;
        full_at = at;
        ss_status s = run_search(false, 0, STEPS, ends[1], &err);
        full_at = -1;
        while (read(ends[0], &next, sizeof next) == sizeof next)
            r = next;
        if (!s)
            break;
        moments++;
        CHECK(s == SS_EIO, "call %ld: status %d: %s", at, (int)s, err.text);
        CHECK(strstr(err.text, LOG) && strstr(err.text, "No space left on device"), "call %ld: %s",
              at, err.text);
        if (!r.opened) {
            refused += !is_there(LOG);
            CHECK(!is_there(JOURNAL), "call %ld: a journal was left", at);
            continue;
        }
        CHECK_TEXT(err.text, "\"soapstone repair " LOG "\"");
        CHECK(!repair(0, &err), "call %ld: %s", at, err.text);
        const char *why = why_no_prefix(r.flushed, r.told + 1, !r.flushed);
        CHECK(!why, "call %ld: %s", at, why);
    }
    close(ends[0]);
    close(ends[1]);
    printf("  %ld moments, at %ld there was no file yet\n", moments, refused);
    CHECK(moments > 10, "%ld moments", moments);
}

int main(int argc, char **argv)
{
    long searches = argc > 1 ? atol(argv[1]) : 1;
    stride = searches > 1 ? 1 : 4;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
    if (system("rm -rf " HERE) || mkdir(HERE, 0755))
        return 1;
    fake_open(&fake);
    fake.in.starts = CHAINS;
    fake.in.commit_every_s = 1e-9; /* with every flush */
    for (; searches > 0; searches--, seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        RUN(killed_at_any_write_it_is_whole_after_a_repair);
        RUN(a_repair_may_be_killed_at_any_write);
        RUN(a_journal_cut_anywhere_gives_a_prefix);
        RUN(a_changed_journal_gives_a_prefix);
        RUN(a_disk_that_is_full_keeps_what_was_flushed);
    }
    fake_close(&fake);
    if (!check_failed && system("rm -rf " HERE))
        return 1;
    return DONE();
}
