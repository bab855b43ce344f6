/* A search that writes its log as fast as it can is killed with SIGKILL at random moments: how often
 * do h5ls and h5dump read the file as it is, and is all there that is to be there after a repair?
 *
 *   kill_trajectory [KILLS [SEED]]
 *   kill_trajectory --measure STEPS     bytes and seconds of a step
 *   kill_trajectory --write FILE STEPS  writes a log, as a program would
 *
 * To be there: every step that was flushed, and every step that was told a second before the end. */
#include "config.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "fake_search.h"

#define HERE "kill_trajectory.dir/"
#define LOG HERE "log.h5"

enum { MOMENTS = 1000, SHORT_MS = 1500, LONG_MS = 2500 };

/* Written by the one that is killed. */
typedef struct shared {
    volatile uint32_t opened, flushed, told; /* the last two: of the one chain */
    volatile uint32_t moments;
    volatile double at[MOMENTS];        /* s */
    volatile uint32_t told_at[MOMENTS]; /* every hundredth of a second or so */
} shared;

static fake_inputs fake;
static shared *reached;
static uint64_t seed;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note_moment(double now)
{
    uint32_t k = reached->moments;
    if (k == MOMENTS || (k && now - reached->at[k - 1] < 0.01))
        return;
    reached->at[k] = now;
    reached->told_at[k] = reached->told;
    reached->moments = k + 1;
}

/* A real search flushes every tenth of a second. */
static ss_status write_log(const char *path, uint64_t most)
{
    static fake_chain c;
    ss_trajectory *t;
    fake_start(&c, &fake, seed, 0);
    ss_status s = ss_trajectory_create(path, &fake.in, &t, &err);
    if (s)
        return s;
    reached->opened = 1;
    ss_search_sink sink = ss_trajectory_sink(t);
    s = sink.begin(t, 0, fake.s[0], fake_start_cost(0), fake_beta(0), &err);
    double flushed = now_s();
    for (uint64_t k = 0; !s && k < most; k++) {
        s = sink.step(t, 0, fake_next(&c), &err);
        reached->told = (uint32_t)k + 1;
        if (k % 64)
            continue;
        double now = now_s();
        note_moment(now);
        if (s || now - flushed < 0.1)
            continue;
        s = sink.flush(t, &err);
        reached->flushed = (uint32_t)k + 1;
        flushed = now_s();
    }
    if (!s)
        s = sink.end(t, 0, SS_END_PROPOSALS, &err);
    ss_status closed = ss_trajectory_close(t, fake.s[0], s ? NULL : &err);
    return s ? s : closed;
}

/* Steps told a second before the end. */
static uint32_t told_a_second_ago(double now)
{
    uint32_t told = 0;
    for (uint32_t k = 0; k < reached->moments; k++)
        if (reached->at[k] <= now - 1)
            told = reached->told_at[k];
    return told;
}

/* Steps in the file, if they are the first ones of the search; else -1. */
static long steps_in_file(void)
{
    static fake_chain c;
    ss_trajectory_view v;
    if (ss_trajectory_read(LOG, &v, &err))
        return -1;
    long n = v.chain[0].steps;
    fake_start(&c, &fake, seed, 0);
    for (uint32_t k = 0; k < v.chain[0].steps && n >= 0; k++)
        if (fake_next(&c)->proposed != v.chain[0].step[k].proposed) {
            ss_fail(&err, SS_EFORMAT, "step %u is another one", k + 1);
            n = -1;
        }
    ss_arena_free(&v.arena);
    return n;
}

static bool plain_tools_read_it(void)
{
    return !system("h5ls -r " LOG " >" HERE "h5ls.out 2>&1 && grep -q Group " HERE "h5ls.out && "
                   "h5dump -d starts/name -A 0 " LOG " >/dev/null 2>&1 && "
                   "! grep -qi error " HERE "h5ls.out");
}

/* One in ten may die before there is a log; the time of the others begins with it. */
static double kill_one(ss_rng *rng, uint32_t longest_ms)
{
    memset(reached, 0, sizeof *reached);
    (void)system("rm -f " HERE "* " HERE ".l*");
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        (void)write_log(LOG, UINT64_MAX);
        _exit(1);
    }
    bool waits = ss_rng_below(rng, 10) > 0;
    for (int k = 0; waits && !reached->opened && k < 30000; k++)
        usleep(1000);
    usleep(1000 * (useconds_t)ss_rng_below(rng, longest_ms));
    double now = now_s();
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    return now;
}

static long kills = 20;

static void killed_at_random_moments_a_log_lacks_at_most_the_last_second(void)
{
    ss_rng rng = {NULL};
    ss_text report = {0};
    long opened = 0, sufficed = 0, before = 0, most = 0;
    CHECK_OK(ss_rng_open(&rng, seed, "moments", &err));
    for (long k = 0; k < kills; k++) {
        double now = kill_one(&rng, kills > 20 ? LONG_MS : SHORT_MS);
        if (access(LOG, F_OK)) {
            CHECK(!reached->told, "the file is gone");
            before++;
            continue;
        }
        uint32_t wanted = told_a_second_ago(now);
        bool plain = plain_tools_read_it();
        long steps = plain ? steps_in_file() : -1;
        opened += plain && (steps >= 0 || !reached->told);
        sufficed += plain && steps >= (long)wanted;
        ss_text_clear(&report);
        CHECK(!ss_trajectory_repair(LOG, &report, &err), "kill %ld: %s", k, err.text);
        CHECK(plain_tools_read_it(), "kill %ld: not even after the repair", k);
        steps = steps_in_file();
        CHECK(steps >= 0, "kill %ld: %s", k, err.text);
        CHECK(steps >= (long)wanted && steps >= (long)reached->flushed &&
                  steps <= (long)reached->told + 1,
              "kill %ld: %ld steps; %u were flushed, %u told a second before, %u in all", k, steps,
              reached->flushed, wanted, reached->told);
        most = steps > most ? steps : most;
    }
    ss_text_free(&report);
    ss_rng_close(&rng);
    printf("  %ld kills, %ld of them before there was a file: h5ls and h5dump opened %ld of the "
           "other %ld as they were, and %ld of these had all but the last second; all had it after "
           "soapstone repair; up to %ld steps\n",
           kills, before, opened, kills - before, sufficed, most);
}

static int measure(uint64_t steps)
{
    struct stat is;
    double began = now_s();
    static fake_chain c;
    fake_start(&c, &fake, seed, 0);
    for (uint64_t k = 0; k < steps; k++)
        fake_next(&c);
    double alone = now_s() - began;
    began = now_s();
    if (write_log(LOG, steps))
        fixture_failed();
    double with = now_s() - began;
    if (stat(LOG, &is))
        return 1;
    printf("%.3g us a step (and %.3g us to make it up), %.4g bytes a step\n",
           (with - alone) / (double)steps * 1e6, alone / (double)steps * 1e6,
           (double)is.st_size / (double)steps);
    return 0;
}

static int only_write(const char *path, uint64_t steps)
{
    ss_status s = write_log(path, steps);
    if (s)
        fprintf(stderr, "%s\n", err.text);
    fake_close(&fake);
    return ss_status_exit(s);
}

int main(int argc, char **argv)
{
    bool measures = argc > 2 && !strcmp(argv[1], "--measure");
    if (!measures && argc > 1 && *argv[1] != '-')
        kills = atol(argv[1]);
    seed = !measures && argc == 3 ? strtoull(argv[2], NULL, 10) : 20;
    if (argc < 3 && system("command -v h5ls >/dev/null && command -v h5dump >/dev/null")) {
        printf("skipped: no h5ls and h5dump\n");
        return 77;
    }
    reached =
        mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fake_open(&fake);
    fake.in.starts = 1;
    if (reached != MAP_FAILED && argc > 3 && !strcmp(argv[1], "--write"))
        return only_write(argv[2], strtoull(argv[3], NULL, 10));
    if (reached == MAP_FAILED || system("rm -rf " HERE) || mkdir(HERE, 0755))
        return 1;
    if (measures)
        return measure(strtoull(argv[2], NULL, 10));
    printf("seed %llu\n", (unsigned long long)seed);
    RUN(killed_at_random_moments_a_log_lacks_at_most_the_last_second);
    fake_close(&fake);
    if (!check_failed && system("rm -rf " HERE))
        return 1;
    return DONE();
}
