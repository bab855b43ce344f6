/* The log of a search: what is written comes back, a resumed one equals an uninterrupted one, and a
 * killed one is made whole. */
#include "config.h"

#include "io/trajectory.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_search.h"
#include "io/file.h"
#include "io/record_layout.h"
#include "no_sync.h"
#include "same_h5.h"

#define HERE "test_trajectory.dir/"

static fake_inputs fake;

static void start_all(fake_chain *c, uint64_t seed)
{
    for (uint32_t i = 0; i < FAKE_CHAINS; i++)
        fake_start(&c[i], &fake, seed, i);
}

/* A whole search in one go. */
static ss_status write_log(const char *path, uint64_t seed, uint64_t steps, ss_error *e)
{
    static fake_chain c[FAKE_CHAINS];
    ss_trajectory *t;
    start_all(c, seed);
    ss_status s = ss_trajectory_create(path, &fake.in, &t, e);
    if (s)
        return s;
    ss_search_sink sink = ss_trajectory_sink(t);
    s = fake_run(c, FAKE_CHAINS, &sink, &fake, steps, 10, e);
    ss_status closed = ss_trajectory_close(t, fake.s[0], s ? NULL : e);
    return s ? s : closed;
}

static const char *why_not_same(const char *a, const char *b)
{
    static same_h5 one, other;
    one = same_one_way(a, b);
    other = same_one_way(b, a);
    if (one.differ)
        return one.first;
    if (other.differ)
        return other.first;
    return one.objects > 100 && one.attributes > 200 ? NULL : "there is nothing to compare";
}

static bool is_there(const char *path)
{
    return !access(path, F_OK);
}

/* --------------------------------------------------------------------------------------- claims */

static void steps_come_back_as_they_were_told(void)
{
    enum { STEPS = 9000 }; /* more than two chunks */
    static fake_chain c;
    ss_trajectory_view v;
    CHECK_OK(write_log(HERE "a.h5", 1, STEPS, &err));
    CHECK(!is_there(HERE "a.h5.journal"), "the journal stayed");
    CHECK_OK(ss_trajectory_read(HERE "a.h5", &v, &err));
    CHECK(v.chains == FAKE_CHAINS, "%u chains", v.chains);
    CHECK(!strcmp(v.options, fake.in.options) && !strcmp(v.limits, fake.in.limits), "options");
    for (uint32_t i = 0; i < FAKE_CHAINS; i++) {
        const ss_trajectory_chain *chain = &v.chain[i];
        CHECK(chain->steps == STEPS, "%u steps", chain->steps);
        CHECK(chain->start_cost == fake_start_cost(i), "start");
        CHECK(fabs(chain->beta_per_s - fake_beta(i)) < 1e-300, "beta");
        CHECK(chain->seed == fake.in.seed, "seed");
        CHECK(!strcmp(chain->end, "proposals"), "%s", chain->end);
        fake_start(&c, &fake, 1, i);
        for (uint32_t k = 0; k < STEPS; k++) {
            const ss_trajectory_step *got = &chain->step[k];
            const ss_step *told = fake_next(&c);
            CHECK(got->step == told->step && got->op == told->op && got->ops == told->ops &&
                      got->proposed == told->proposed && got->current == told->current &&
                      got->best == told->best && got->accepted == told->accepted &&
                      got->stopped == told->stopped && got->infeasible == told->infeasible &&
                      got->fell_back == told->fell_back && got->tasks == told->tasks &&
                      got->visited == told->visited,
                  "chain %u step %u", i, k + 1);
        }
    }
    ss_arena_free(&v.arena);
}

static void chains_of_one_name_and_of_the_name_of_the_best_get_their_own(void)
{
    ss_trajectory_view v;
    CHECK_OK(write_log(HERE "a.h5", 1, 3, &err));
    CHECK_OK(ss_trajectory_read(HERE "a.h5", &v, &err));
    CHECK(!strcmp(v.chain[0].name, "data parallel"), "%s", v.chain[0].name);
    CHECK(!strcmp(v.chain[1].name, "best_2"), "%s", v.chain[1].name);
    CHECK(!strcmp(v.chain[1].start, "best"), "%s", v.chain[1].start);
    CHECK(!strcmp(v.chain[2].name, "data parallel_2"), "%s", v.chain[2].name);
    ss_arena_free(&v.arena);
}

static void the_best_strategy_is_loaded_from_it_as_from_a_record(void)
{
    ss_strategy *s = NULL;
    char found[SS_RECORD_NAME + 1];
    CHECK_OK(write_log(HERE "a.h5", 1, 30, &err));
    CHECK_OK(ss_record_read_strategy(HERE "a.h5", "best", fake.m, fake.t, NULL, found, &s, &err));
    CHECK(ss_strategy_same(s, fake.s[0]), "another one");
    ss_strategy_free(s);
}

static void equal_runs_write_equal_data(void)
{
    CHECK_OK(write_log(HERE "a.h5", 5, 500, &err));
    CHECK_OK(write_log(HERE "b.h5", 5, 500, &err));
    const char *why = why_not_same(HERE "a.h5", HERE "b.h5");
    CHECK(!why, "%s", why);
    CHECK_OK(write_log(HERE "b.h5", 6, 500, &err));
    CHECK(why_not_same(HERE "a.h5", HERE "b.h5"), "they should differ");
}

/* What the past tells is compared with the steps themselves. */
static const char *why_past_is_wrong(const ss_search_past *past, uint64_t seed, uint32_t chain,
                                     uint64_t steps)
{
    static fake_chain c;
    ss_search_left left;
    uint64_t after = 0, number;
    const ss_choice *to;
    uint32_t n;
    ss_time cost;
    double visited = 0;
    ss_search_left own = {.steps = steps};
    fake_start(&c, &fake, seed, chain);
    for (uint64_t k = 1; k <= steps; k++) {
        ss_time best = c.step.best;
        const ss_step *s = fake_next(&c);
        own.stopped += s->stopped;
        own.infeasible += s->infeasible;
        own.fell_back += s->fell_back;
        own.descended += s->reach == SS_REACH_DESCENT;
        own.descending = s->reach == SS_REACH_DESCENT ? own.descending + 1 : 0;
        own.best_step = s->best < best ? k : own.best_step;
        visited += (double)s->visited / s->tasks;
        if (!s->accepted)
            continue;
        if (past->accepted(past->context, chain, after, &number, &to, &n, &cost, &err))
            return err.text;
        if (number != k || n != s->ops || cost != s->current)
            return "an accepted step is another one";
        for (uint32_t i = 0; i < n; i++)
            if (to[i].op.i != s->to[i].op.i || to[i].config.parts != s->to[i].config.parts ||
                memcmp(to[i].config.degree, s->to[i].config.degree, sizeof to[i].config.degree) !=
                    0 ||
                memcmp(to[i].config.device, s->to[i].config.device,
                       to[i].config.parts * sizeof(ss_device)) != 0)
                return "a configuration is another one";
        after = number;
    }
    if (past->accepted(past->context, chain, after, &number, &to, &n, &cost, &err))
        return err.text;
    if (number)
        return "there is another accepted step";
    if (past->last(past->context, chain, &left, &err))
        return err.text;
    bool same = left.steps == own.steps && left.best_step == own.best_step &&
                left.stopped == own.stopped && left.infeasible == own.infeasible &&
                left.fell_back == own.fell_back && left.descended == own.descended &&
                left.descending == own.descending;
    if (!same || fabs(left.visited_share - (steps ? visited / (double)steps : 0)) > 0)
        return "it was left elsewhere";
    return NULL;
}

/* Steps on from where the log ends. */
static ss_status resume_to(const char *path, uint64_t seed, uint64_t from, uint64_t to, ss_error *e)
{
    static fake_chain c[FAKE_CHAINS];
    ss_trajectory *t;
    ss_status s = ss_trajectory_resume(path, &fake.in, &t, e);
    if (s)
        return s;
    start_all(c, seed);
    ss_search_past past = ss_trajectory_past(t);
    for (uint32_t i = 0; i < FAKE_CHAINS; i++) {
        const char *why = why_past_is_wrong(&past, seed, i, from);
        if (why && !s)
            s = ss_fail(e, SS_EFORMAT, "the past of chain %u: %s", i + 1, why);
        while (c[i].step.step < from)
            fake_next(&c[i]);
    }
    ss_search_sink sink = ss_trajectory_sink(t);
    if (!s)
        s = fake_run(c, FAKE_CHAINS, &sink, &fake, to, 7, e);
    ss_status closed = ss_trajectory_close(t, fake.s[0], s ? NULL : e);
    return s ? s : closed;
}

static void a_resumed_log_equals_an_uninterrupted_one(void)
{
    static const uint64_t cut[] = {0, 1, 37, 4096, 4999};
    CHECK_OK(write_log(HERE "a.h5", 3, 5000, &err));
    for (unsigned k = 0; k < sizeof cut / sizeof cut[0]; k++) {
        CHECK_OK(write_log(HERE "b.h5", 3, cut[k], &err));
        CHECK_OK(resume_to(HERE "b.h5", 3, cut[k], 5000, &err));
        const char *why = why_not_same(HERE "a.h5", HERE "b.h5");
        CHECK(!why, "after %d steps: %s", (int)cut[k], why);
    }
}

static void a_resume_may_raise_the_limits_and_tells_the_new_ones(void)
{
    CHECK_OK(write_log(HERE "b.h5", 3, 40, &err));
    fake.in.limits = "proposals = 2000\n";
    CHECK_OK(write_log(HERE "a.h5", 3, 60, &err));
    CHECK_OK(resume_to(HERE "b.h5", 3, 40, 60, &err));
    const char *why = why_not_same(HERE "a.h5", HERE "b.h5");
    CHECK(!why, "%s", why);
}

static void a_log_of_something_else_is_not_resumed(void)
{
    ss_trajectory_inputs own = fake.in;
    ss_trajectory *t;
    CHECK_OK(write_log(HERE "a.h5", 3, 40, &err));
    own.options = "searcher = mcmc\nspace = block\n";
    CHECK(ss_trajectory_resume(HERE "a.h5", &own, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "it has \"space = free\", and now it is \"space = block\"");
    own = fake.in;
    own.seed++;
    CHECK(ss_trajectory_resume(HERE "a.h5", &own, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "with seed 18364758544493064720, and now it is 18364758544493064721");
    own = fake.in;
    own.starts = 2;
    CHECK(ss_trajectory_resume(HERE "a.h5", &own, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "from 3 starts, and now there are 2");
    ss_search_start other[FAKE_CHAINS];
    memcpy(other, fake.start, sizeof other);
    other[2].strategy = fake.s[1];
    own = fake.in;
    own.start = other;
    CHECK(ss_trajectory_resume(HERE "a.h5", &own, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "\"data parallel\" is another strategy: compare it with");
    CHECK_TEXT(err.text, "/strategies/data parallel_2 of the log");
    own = fake.in;
    own.model = fixture_cnn(FAKE_PARTS + 1);
    CHECK(ss_trajectory_resume(HERE "a.h5", &own, &t, &err) == SS_EINVAL, "%s", err.text);
    ss_model_free((ss_model *)own.model);
    CHECK(!is_there(HERE "a.h5.journal"), "a journal was left");
    CHECK(ss_trajectory_resume(HERE "none.h5", &fake.in, &t, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK(!is_there(HERE "none.h5.journal"), "a journal was left");
}

static void a_chain_with_another_beginning_is_refused(void)
{
    ss_trajectory *t;
    CHECK_OK(write_log(HERE "a.h5", 3, 40, &err));
    CHECK_OK(ss_trajectory_resume(HERE "a.h5", &fake.in, &t, &err));
    ss_search_sink sink = ss_trajectory_sink(t);
    CHECK(sink.begin(t, 0, fake.s[0], fake_start_cost(1), fake_beta(0), &err) == SS_EINVAL, "cost");
    CHECK_TEXT(err.text, "a.h5 is of another search: chain data parallel started at 1.23456789012");
    CHECK_OK(ss_trajectory_close(t, NULL, &err));
}

static void steps_that_are_not_the_next_are_refused(void)
{
    static fake_chain c;
    ss_trajectory *t;
    fake_start(&c, &fake, 1, 0);
    CHECK_OK(ss_trajectory_create(HERE "a.h5", &fake.in, &t, &err));
    ss_search_sink sink = ss_trajectory_sink(t);
    CHECK(sink.step(t, 0, fake_next(&c), &err) == SS_EINVAL, "not begun");
    CHECK_TEXT(err.text, "chain 1, which has not begun");
    CHECK_OK(sink.begin(t, 0, fake.s[0], 5, 1, &err));
    CHECK(sink.step(t, 0, fake_next(&c), &err) == SS_EINVAL, "step 2");
    CHECK_TEXT(err.text, "step 2 of chain data parallel after 0 steps");
    CHECK(sink.begin(t, 3, fake.s[0], 5, 1, &err) == SS_EINVAL, "no such chain");
    CHECK_OK(ss_trajectory_close(t, NULL, &err));
}

/* In a process of its own, which ends without closing; all rows are in the journal alone. */
static void leave_behind(const char *path, uint64_t seed, uint64_t steps)
{
    static fake_chain c[FAKE_CHAINS];
    ss_trajectory *t;
    (void)remove(path); /* of another test, which may not have ended */
    pid_t child = fork();
    if (!child) {
        start_all(c, seed);
        fake.in.commit_every_s = 1e9;
        if (ss_trajectory_create(path, &fake.in, &t, &err))
            fixture_failed();
        ss_search_sink sink = ss_trajectory_sink(t);
        for (uint32_t i = 0; i < FAKE_CHAINS; i++)
            if (sink.begin(t, i, fake.s[i], fake_start_cost(i), fake_beta(i), &err))
                fixture_failed();
        for (uint64_t k = 0; k < steps; k++)
            for (uint32_t i = 0; i < FAKE_CHAINS; i++)
                if (sink.step(t, i, fake_next(&c[i]), &err))
                    fixture_failed();
        if (sink.flush(t, &err))
            fixture_failed();
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status))
        exit(98);
}

static void what_was_flushed_is_there_after_a_death(void)
{
    ss_text report = {0};
    leave_behind(HERE "a.h5", 9, 700);
    CHECK(is_there(HERE "a.h5.journal"), "there should be a journal");
    CHECK(ss_trajectory_look(HERE "a.h5") == SS_TRAJECTORY_KILLED, "not killed?");
    ss_trajectory_view v;
    CHECK_OK(ss_trajectory_read(HERE "a.h5", &v, &err)); /* whole, if short */
    ss_arena_free(&v.arena);
    CHECK_OK(ss_trajectory_repair(HERE "a.h5", &report, &err));
    CHECK_TEXT(ss_text_get(&report), "a.h5: 2100 rows came from the journal");
    CHECK(!is_there(HERE "a.h5.journal"), "the journal stayed");
    CHECK_OK(resume_to(HERE "a.h5", 9, 700, 900, &err));
    CHECK_OK(write_log(HERE "b.h5", 9, 900, &err));
    const char *why = why_not_same(HERE "a.h5", HERE "b.h5");
    CHECK(!why, "%s", why);
    ss_text_clear(&report);
    CHECK_OK(ss_trajectory_repair(HERE "a.h5", &report, &err));
    CHECK_TEXT(ss_text_get(&report), "a.h5 is whole: there is nothing to repair");
    ss_text_free(&report);
}

static void a_dead_log_is_resumed_without_a_repair(void)
{
    leave_behind(HERE "a.h5", 9, 700);
    CHECK_OK(resume_to(HERE "a.h5", 9, 700, 900, &err));
    CHECK_OK(write_log(HERE "b.h5", 9, 900, &err));
    const char *why = why_not_same(HERE "a.h5", HERE "b.h5");
    CHECK(!why, "%s", why);
}

static void a_dead_log_is_not_written_over(void)
{
    ss_trajectory *t;
    ss_text report = {0};
    leave_behind(HERE "a.h5", 9, 70);
    CHECK(ss_trajectory_create(HERE "a.h5", &fake.in, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "a.h5 is the log of a search that was killed: resume it, or make");
    CHECK_TEXT(err.text, "\"soapstone repair " HERE "a.h5\"");
    CHECK_OK(ss_trajectory_repair(HERE "a.h5", &report, &err));
    CHECK_TEXT(ss_text_get(&report), "210 rows");
    CHECK(ss_trajectory_create(HERE "a.h5", &fake.in, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "a.h5 is the log of a search that did not end: resume it, keep it under");
    CHECK(ss_trajectory_check_ended(HERE "a.h5", &err) == SS_EINVAL, "%s", err.text);
    CHECK(!is_there(HERE "a.h5.journal"), "a journal was left");
    CHECK_OK(resume_to(HERE "a.h5", 9, 70, 90, &err));
    CHECK_OK(ss_trajectory_check_ended(HERE "a.h5", &err));
    CHECK_OK(ss_trajectory_create(HERE "a.h5", &fake.in, &t, &err));
    CHECK_OK(ss_trajectory_close(t, NULL, &err));
    ss_text_free(&report);
}

/* Operator `op` in parts of samples, on every third device. */
static ss_choice cut(uint32_t op, uint32_t parts, ss_device *device)
{
    ss_choice c = {{op}, {.degree = {parts, 1, 1, 1, 1}, .parts = parts, .device = device}};
    for (uint32_t k = 0; k < parts; k++)
        device[k].i = 1 + (7 * op + 3 * k) % FAKE_PARTS;
    return c;
}

/* As a search would tell it that looks at `n` strategies, and is killed. */
static void leave_exhaustive(const ss_choice *from, const ss_choice *const *to,
                             const uint32_t *changed, const bool *better, uint32_t n)
{
    ss_trajectory *t;
    ss_trajectory_inputs in = fake.in;
    in.starts = 1;
    in.options = "searcher = exhaustive\n";
    CHECK_OK(ss_trajectory_create(HERE "e.h5", &in, &t, &err));
    ss_search_sink sink = ss_trajectory_sink(t);
    CHECK_OK(sink.begin(t, 0, fake.s[0], 900, 0, &err));
    for (uint32_t k = 0; k < n; k++) {
        ss_step step = {.step = k + 1, .reach = SS_REACH_ALL, .move = SS_MOVES, .from = from};
        step.to = to[k];
        step.ops = changed[k];
        step.op = step.ops ? to[k][0].op.i : 0;
        step.accepted = better[k];
        step.current = step.best = step.proposed = 800 - 10 * k;
        CHECK_OK(sink.step(t, 0, &step, &err));
    }
    CHECK_OK(ss_trajectory_close(t, NULL, &err));
}

static void the_best_of_an_exhaustive_search_that_did_not_end_is_in_its_rows(void)
{
    static ss_device room[5][FAKE_PARTS];
    ss_choice first[] = {cut(2, 13, room[0]), cut(5, 3, room[1])}, worse[] = {cut(1, 2, room[2])};
    ss_choice last[] = {cut(5, 7, room[3])}, from[] = {cut(2, 1, room[4]), cut(5, 1, room[4])};
    const ss_choice *const to[] = {first, worse, last, NULL};
    ss_strategy *got = NULL, *want = NULL;
    ss_strategy_loading how = {.by_name = true};
    ss_trajectory *t;
    char found[SS_RECORD_NAME + 1];
    leave_exhaustive(from, to, (uint32_t[]){2, 1, 1, 0}, (bool[]){true, false, true, false}, 4);
    CHECK_OK(ss_strategy_copy(fake.s[0], &want, &err));
    CHECK_OK(ss_strategy_set(want, (ss_op){2}, first[0].config.degree, 1, room[0], 13, &err));
    CHECK_OK(ss_strategy_set(want, (ss_op){5}, last[0].config.degree, 1, room[3], 7, &err));
    CHECK_OK(ss_record_read_strategy(HERE "e.h5", NULL, fake.m, fake.t, NULL, found, &got, &err));
    CHECK(ss_strategy_same(got, want) && !strcmp(found, "best"), "another one, called %s", found);
    ss_strategy_free(got);
    CHECK_OK(ss_record_read_strategy(HERE "e.h5", "data parallel", fake.m, fake.t, NULL, found,
                                     &got, &err));
    CHECK(ss_strategy_same(got, fake.s[0]), "another start");
    ss_strategy_free(got);
    CHECK(ss_record_read_strategy(HERE "e.h5", "best", fake.m, fake.t, &how, found, &got, &err) ==
              SS_EINVAL,
          "%s", err.text);
    CHECK_TEXT(err.text, "e.h5 is the log of a search that did not end: its best so far is loaded");
    CHECK(ss_trajectory_create(HERE "e.h5", &fake.in, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "e.h5 is the log of a search that did not end: keep it under another");
    ss_strategy_free(want);
}

static void a_search_that_can_go_on_is_to_have_a_best_first(void)
{
    ss_text report = {0};
    ss_strategy *got = NULL;
    char found[SS_RECORD_NAME + 1];
    leave_behind(HERE "c.h5", 9, 70);
    CHECK_OK(ss_trajectory_repair(HERE "c.h5", &report, &err));
    CHECK(ss_record_read_strategy(HERE "c.h5", NULL, fake.m, fake.t, NULL, found, &got, &err) ==
              SS_ENOTFOUND,
          "%s", err.text);
    CHECK_TEXT(err.text, "c.h5 is the log of a search that has not ended, and holds no best");
    CHECK_OK(resume_to(HERE "c.h5", 9, 70, 90, &err));
    CHECK_OK(ss_record_read_strategy(HERE "c.h5", NULL, fake.m, fake.t, NULL, found, &got, &err));
    CHECK(!strcmp(found, "best"), "%s", found);
    ss_strategy_free(got);
    ss_text_free(&report);
}

static void only_one_writes_and_anyone_reads(void)
{
    static fake_chain c[FAKE_CHAINS];
    ss_trajectory *t, *other;
    ss_text report = {0};
    ss_trajectory_view v;
    ss_trajectory_inputs often = fake.in;
    often.commit_every_s = 1e-9;
    start_all(c, 4);
    CHECK_OK(ss_trajectory_create(HERE "a.h5", &often, &t, &err));
    ss_search_sink sink = ss_trajectory_sink(t);
    CHECK_OK(fake_run(c, FAKE_CHAINS, &sink, &fake, 50, 10, &err));
    CHECK(ss_trajectory_look(HERE "a.h5") == SS_TRAJECTORY_BEING_WRITTEN, "not being written?");
    CHECK(ss_trajectory_resume(HERE "a.h5", &fake.in, &other, &err) == SS_EIO, "%s", err.text);
    CHECK_TEXT(err.text, "a.h5 is being written by another soapstone");
    CHECK(ss_trajectory_create(HERE "a.h5", &fake.in, &other, &err) == SS_EIO, "%s", err.text);
    CHECK(ss_trajectory_repair(HERE "a.h5", &report, &err) == SS_EIO, "%s", err.text);
    CHECK_OK(sink.step(t, 0, fake_next(&c[0]), &err));
    CHECK_OK(sink.flush(t, &err));
    CHECK_OK(ss_trajectory_read(HERE "a.h5", &v, &err));
    CHECK(v.chain[0].steps == 51 && v.chain[1].steps == 50, "%u steps", v.chain[0].steps);
    CHECK(!v.chain[0].end && !strcmp(v.chain[1].end, "proposals"), "ends");
    ss_arena_free(&v.arena);
    CHECK_OK(ss_trajectory_close(t, NULL, &err));
    ss_text_free(&report);
}

/* Half of a commit, which another one would follow: here none does. */
static void a_reader_who_meets_a_commit_on_its_way_is_told_to_try_again(void)
{
    char zero[4096] = {0};
    ss_trajectory_view v;
    CHECK_OK(write_log(HERE "torn.h5", 1, 3, &err));
    FILE *journal = fopen(HERE "torn.h5.journal", "w"), *f = fopen(HERE "torn.h5", "r+b");
    CHECK(journal && f && !flock(fileno(journal), LOCK_EX));
    CHECK(!fseek(f, 2048, SEEK_SET) && fwrite(zero, sizeof zero, 1, f) == 1 && !fclose(f));
    CHECK(ss_trajectory_read(HERE "torn.h5", &v, &err) == SS_EFORMAT, "read all the same");
    CHECK_TEXT(err.text, "a search is writing to it meanwhile: try again");
    fclose(journal);
    remove(HERE "torn.h5.journal");
    CHECK(ss_trajectory_read(HERE "torn.h5", &v, &err) == SS_EFORMAT &&
              !strstr(err.text, "try again"),
          "%s", err.text);
}

static void what_is_no_log_is_refused(void)
{
    ss_trajectory *t;
    ss_trajectory_view v;
    ss_text report = {0};
    ss_record *r;
    CHECK_OK(ss_record_create(HERE "r.h5", fake.in.manifest, &r, &err));
    CHECK_OK(ss_record_finish(r, &err));
    CHECK(ss_trajectory_read(HERE "r.h5", &v, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "r.h5 is a record, but no log of a search");
    CHECK(ss_trajectory_resume(HERE "r.h5", &fake.in, &t, &err) == SS_EFORMAT, "%s", err.text);
    CHECK(!is_there(HERE "r.h5.journal"), "a journal was left");
    CHECK_OK(ss_file_write(HERE "t.h5", "text", 4, &err));
    CHECK(ss_trajectory_repair(HERE "t.h5", &report, &err) == SS_EFORMAT, "%s", err.text);
    CHECK_TEXT(err.text, "there is no " HERE "t.h5.journal to repair it from");
    CHECK(ss_trajectory_repair(HERE "none.h5", &report, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK(ss_trajectory_create(HERE "no/a.h5", &fake.in, &t, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "a.h5: there is no folder " HERE "no");
    CHECK(ss_trajectory_create("/dev/null", &fake.in, &t, &err) != SS_OK, "/dev/null");
    CHECK(!is_there("/dev/null.journal"), "a journal was left");
    CHECK(ss_trajectory_create(HERE "t.h5", &fake.in, &t, &err) == SS_EINVAL, "%s", err.text);
    CHECK_TEXT(err.text, "which is no record or log of this soapstone");
    CHECK(!is_there(HERE "t.h5.journal"), "a journal was left");
    ss_text kept = {0};
    CHECK_OK(ss_file_read(HERE "t.h5", 100, &kept, &err));
    CHECK_TEXT(ss_text_get(&kept), "text");
    ss_text_free(&kept);
    ss_text_free(&report);
}

static void a_journal_of_another_file_is_refused(void)
{
    ss_text report = {0};
    leave_behind(HERE "a.h5", 9, 70);
    CHECK_OK(write_log(HERE "b.h5", 9, 900, &err));
    CHECK(!rename(HERE "b.h5", HERE "a.h5"), "rename");
    CHECK(ss_trajectory_repair(HERE "a.h5", &report, &err) == SS_EFORMAT, "%s", err.text);
    CHECK_TEXT(err.text, "a.h5.journal belongs to another file of that name: move it away");
    CHECK(is_there(HERE "a.h5.journal"), "it was removed");
    CHECK(!remove(HERE "a.h5.journal"), "remove");
    ss_text_free(&report);
}

/* With a path: writes a log there, for other programs to look at, and does no more. */
int main(int argc, char **argv)
{
    if (argc > 1) {
        fake_open(&fake);
        if (write_log(argv[1], 7, 200, &err))
            fixture_failed();
        fake_close(&fake);
        return 0;
    }
    if (system("rm -rf " HERE) || mkdir(HERE, 0755))
        return 1;
    fake_open(&fake);
    RUN(steps_come_back_as_they_were_told);
    RUN(chains_of_one_name_and_of_the_name_of_the_best_get_their_own);
    RUN(the_best_strategy_is_loaded_from_it_as_from_a_record);
    RUN(equal_runs_write_equal_data);
    RUN(a_resumed_log_equals_an_uninterrupted_one);
    RUN(a_resume_may_raise_the_limits_and_tells_the_new_ones);
    RUN(a_log_of_something_else_is_not_resumed);
    RUN(a_chain_with_another_beginning_is_refused);
    RUN(steps_that_are_not_the_next_are_refused);
    RUN(what_was_flushed_is_there_after_a_death);
    RUN(a_dead_log_is_resumed_without_a_repair);
    RUN(a_dead_log_is_not_written_over);
    RUN(the_best_of_an_exhaustive_search_that_did_not_end_is_in_its_rows);
    RUN(a_search_that_can_go_on_is_to_have_a_best_first);
    RUN(only_one_writes_and_anyone_reads);
    RUN(a_reader_who_meets_a_commit_on_its_way_is_told_to_try_again);
    RUN(what_is_no_log_is_refused);
    RUN(a_journal_of_another_file_is_refused);
    fake_close(&fake);
    if (!check_failed && system("rm -rf " HERE))
        return 1;
    return DONE();
}
