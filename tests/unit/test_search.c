/* Chains, what ends them, and who is told. */
#include "search/search.h"

#include "base/hash.h"
#include "base/mem.h"
#include "search/chain.h"
#include "search/score_inside.h"
#include "search_log.h"
#include "steps.h"

static ss_error err;

/* ---- a problem ----------------------------------------------------------------------------- */

typedef struct bench {
    ss_model *model;
    ss_topology *topology;
    ss_costs *costs;
    ss_strategy *start[3]; /* data parallel, whole, model parallel */
} bench;

static void begin(bench *b, uint32_t layers)
{
    b->model = step_mlp(24, 60, (int)layers);
    b->topology = net_cluster(2, 2, 10e9, 1.25e9, 2e-6);
    net_must(ss_costs_new(&b->costs, &err), &err);
    net_must(ss_costs_add_roofline(b->costs, NULL, &err), &err);
    for (int i = 0; i < 3; i++)
        net_must(ss_strategy_new(b->model, b->topology, &b->start[i], &err), &err);
    net_must(ss_strategy_data_parallel(b->start[0], &err), &err);
    net_must(ss_strategy_model_parallel(b->start[2], NULL, NULL, &err), &err);
}

static void end(bench *b)
{
    for (int i = 0; i < 3; i++)
        ss_strategy_free(b->start[i]);
    ss_costs_free(b->costs);
    ss_topology_free(b->topology);
    ss_model_free(b->model);
}

static ss_search_options options(uint64_t proposals)
{
    ss_search_options o = ss_search_options_start();
    o.proposals = proposals;
    o.score.way = SS_SCORE_FULL;
    o.seed = 77;
    o.threads = 1;
    return o;
}

static ss_status make(const bench *b, uint32_t chains, const ss_search_options *o, ss_search **out)
{
    ss_search_start start[3] = {
        {"data_parallel", b->start[0]}, {"whole", b->start[1]}, {"model_parallel", b->start[2]}};
    *out = NULL;
    return ss_search_new(b->model, b->topology, b->costs, start, chains, o, out, &err);
}

static ss_search *search_of(const bench *b, uint32_t chains, const ss_search_options *o)
{
    ss_search *s;
    net_must(make(b, chains, o, &s), &err);
    return s;
}

static void run_logged(const bench *b, uint32_t chains, const ss_search_options *o, search_log *log)
{
    ss_search *s = search_of(b, chains, o);
    ss_search_sink sink = log_sink(log);
    net_must(ss_search_run(s, &sink, NULL, &err), &err);
    ss_search_free(s);
}

/* ---- a way of scoring that needs no task graph --------------------------------------------- */

/* The cost is a function of the configurations, between 1 and 2 ms.  It may stop early as a real way
 * would: when it knows a part of the cost, which is above the bound. */
typedef struct fake {
    bool stops;
    uint64_t tries, fail_at, stopped;
} fake;

static fake the_fake; /* of the scorer that is made next */

static ss_status fake_open(ss_scorer *s, ss_error *e)
{
    fake *f = ss_alloc(sizeof *f);
    if (!f)
        return ss_fail_memory(e, "a fake", sizeof *f);
    *f = the_fake;
    s->state = f;
    return SS_OK;
}

static void fake_close(ss_scorer *s)
{
    ss_free(s->state);
}

static ss_time fake_cost(const ss_strategy *s)
{
    ss_time cost = SS_PICOSECONDS / 1000;
    for (uint32_t i = 1; i <= s->ops; i++) {
        uint64_t h = ss_hash_u64(SS_HASH_START, i);
        for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
            h = ss_hash_u64(h, s->config[i].degree[d]);
        for (uint32_t k = 0; k < s->config[i].parts; k++)
            h = ss_hash_u64(h, s->config[i].device[k].i);
        cost += (ss_time)(h % (SS_PICOSECONDS / 1000)) / s->ops;
    }
    return cost;
}

static ss_status fake_start(ss_scorer *s, ss_score *out, ss_error *e)
{
    (void)e;
    *out = (ss_score){.cost = fake_cost(s->next), .tasks = 100, .visited = 100, .touched = 100};
    return SS_OK;
}

static ss_status fake_attempt(ss_scorer *s, ss_time bound, ss_score *out, ss_error *e)
{
    fake *f = s->state;
    if (++f->tries == f->fail_at)
        return ss_fail(e, SS_ERANGE, "the fake has had enough");
    *out = (ss_score){.cost = fake_cost(s->next), .tasks = 100, .visited = 30, .touched = 10};
    ss_time known = out->cost - out->cost / 100;
    if (known <= bound || !f->stops)
        return SS_OK;
    out->cost = known;
    out->stopped = true;
    f->stopped++;
    return SS_OK;
}

static ss_status fake_accept(ss_scorer *s, ss_error *e)
{
    (void)s, (void)e;
    return SS_OK;
}

static void fake_reject(ss_scorer *s)
{
    (void)s;
}

static const ss_score_kind fake_kind = {"fake",       fake_open,   fake_close, fake_start,
                                        fake_attempt, fake_accept, fake_reject};

static ss_chain *fake_chain(const bench *b, const ss_search_options *o)
{
    ss_scorer *scorer;
    ss_space *space;
    ss_chain *c;
    net_must(
        ss_scorer_new_kind(b->model, b->topology, b->costs, &o->score, &fake_kind, &scorer, &err),
        &err);
    net_must(ss_space_new(b->start[0], &o->space, &space, &err), &err);
    net_must(ss_chain_new(3, o, scorer, space, b->start[0], &c, &err), &err);
    return c;
}

/* A second passes with every look at the clock. */
static double ticks(void *context)
{
    double *now = context;
    return *now += 1;
}

static ss_search_end walk_until_end(ss_chain *c, ss_rows *rows)
{
    double now = ss_chain_seconds(c);
    ss_chain_clock clock = {ticks, &now};
    while (!ss_chain_end(c))
        net_must(ss_chain_step(c, &clock, rows, &err), &err);
    return ss_chain_end(c);
}

/* ---- wrong input --------------------------------------------------------------------------- */

static void refuses(const bench *b, const ss_search_options *o, uint32_t chains, const char *why)
{
    ss_search *s;
    ss_status status = make(b, chains, o, &s);
    CHECK(status == SS_EINVAL, "%s", why);
    CHECK_TEXT(err.text, why);
}

static void what_makes_no_sense_is_refused(void)
{
    bench b;
    begin(&b, 3);
    ss_search_options o = options(10);
    refuses(&b, &o, 0, "a strategy to start from");
    o.searcher = (ss_searcher)9;
    refuses(&b, &o, 1, "no searcher has the number 9");
    o = options(10);
    o.seconds = -1;
    refuses(&b, &o, 1, "seconds of a search is -1");
    o = options(10);
    o.beta_per_s = NAN;
    refuses(&b, &o, 1, "beta of a search is nan");
    o = options(10);
    o.beta_relative = INFINITY;
    refuses(&b, &o, 1, "beta_relative of a search is inf");
    o = options(0);
    o.searcher = SS_SEARCH_ANNEALING;
    o.seconds = 1;
    refuses(&b, &o, 1, "annealing needs a number of proposals");
    o.seconds = 0;
    refuses(&b, &o, 1, "a search without limit would never end");
    o = options(10);
    o.searcher = SS_SEARCH_ANNEALING;
    o.last_beta_factor = 0;
    refuses(&b, &o, 1, "0 times its first beta");
    o = options(10);
    memset(o.space.weight, 0, sizeof o.space.weight);
    refuses(&b, &o, 2, "start data_parallel: ");

    bench other;
    begin(&other, 2);
    ss_strategy *mine = b.start[1];
    b.start[1] = other.start[1];
    o = options(10);
    refuses(&b, &o, 2, "start whole is a strategy for model mlp");
    b.start[1] = mine;
    end(&other);

    end(&b);
}

static void searchers_and_ends_have_names(void)
{
    static const char *const searcher[SS_SEARCHERS] = {"mcmc", "greedy", "annealing", "random"};
    for (uint32_t i = 0; i < SS_SEARCHERS; i++)
        CHECK(!strcmp(ss_searcher_name((ss_searcher)i), searcher[i]), "%s", searcher[i]);
    CHECK(!strcmp(ss_searcher_name(SS_SEARCHERS), "unknown"));
    for (uint32_t i = 0; i < SS_ENDS; i++)
        CHECK(strcmp(ss_search_end_name((ss_search_end)i), "unknown") != 0);
}

/* ---- what is told -------------------------------------------------------------------------- */

static void every_row_follows_from_those_before(void)
{
    bench b;
    begin(&b, 4);
    for (int hastings = 0; hastings < 2; hastings++) {
        search_log log = {0};
        ss_search_options o = options(500);
        o.space.hastings = hastings;
        o.descent = true;
        o.beta_relative = 10;
        run_logged(&b, 3, &o, &log);
        for (int i = 0; i < 3; i++) {
            const log_chain *c = &log.chain[i];
            CHECK(c->begun == 1 && c->ended == 1 && c->why == SS_END_DESCENT, "chain %d", i);
            CHECK(c->rows.n > 500, "chain %d", i);
            CHECK(!log_breaks_rule(c), "chain %d, row %d", i, (int)log_breaks_rule(c));
        }
        CHECK(log.flushes > 0);
        CHECK(log_differs(&log.chain[0].rows, 0, &log.chain[1].rows, false) == 1,
              "chains have numbers of their own");
        log_free(&log);
    }
    end(&b);
}

static void standings_add_up_what_was_told(void)
{
    bench b;
    begin(&b, 4);
    search_log log = {0};
    ss_search_options o = options(300);
    ss_search_sink sink = log_sink(&log);
    ss_search *s = search_of(&b, 3, &o);
    CHECK_OK(ss_search_run(s, &sink, NULL, &err));
    ss_time least = SS_TIME_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        const ss_rows *rows = &log.chain[i].rows;
        ss_search_standing at;
        ss_search_left left;
        uint64_t accepted = 0;
        for (uint32_t k = 0; k < rows->n; k++)
            accepted += rows->row[k].accepted;
        CHECK_OK(log_last(&log, i, &left, &err));
        ss_search_chain(s, i, &at);
        CHECK(at.steps == 300 && at.accepted == accepted && at.best_step == left.best_step);
        CHECK(at.start == log.chain[i].start && at.current == rows->row[299].current &&
              at.best == rows->row[299].best && at.end == SS_END_PROPOSALS && at.fits);
        CHECK(at.seconds == left.seconds && at.best_seconds == left.best_seconds);
        CHECK(fabs(at.visited_share - left.visited_share) < 1e-12);
        CHECK(at.beta_per_s == log.chain[i].beta &&
              fabs(at.beta_per_s * ss_time_seconds(at.start) - o.beta_relative) < 1e-9);
        least = at.best < least ? at.best : least;
    }
    uint32_t found;
    ss_search_standing at;
    const ss_strategy *best = ss_search_best(s, &found);
    ss_search_chain(s, found, &at);
    CHECK(at.best == least && best == ss_search_best_of(s, found));
    ss_scorer *scorer;
    ss_score score;
    CHECK_OK(ss_scorer_new(b.model, b.topology, b.costs, &o.score, &scorer, &err));
    CHECK_OK(ss_scorer_start(scorer, best, &score, &err));
    CHECK(score.cost == least, "the best strategy costs what is said of it");
    ss_scorer_free(scorer);
    ss_search_free(s);
    log_free(&log);
    end(&b);
}

/* Moves of one operator, of a group, along neighbours; whole strategies. */
static void proposals_that_are_nothing_new_are_told_and_not_simulated(void)
{
    bench b;
    begin(&b, 2);
    search_log log = {0};
    ss_search_options o = options(2000);
    memset(o.space.weight, 0, sizeof o.space.weight);
    o.space.weight[SS_MOVE_PLACE] = 1; /* one of four devices: often the present one */
    o.beta_relative = 0;               /* everything is accepted */
    run_logged(&b, 1, &o, &log);
    uint32_t same = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        const ss_step *row = &log.chain[0].rows.row[i];
        CHECK(row->accepted && row->ops == 1, "row %u", i);
        if (!ss_config_same(&row->from->config, &row->to->config))
            continue;
        same++;
        CHECK(!row->visited && !row->touched && row->tasks && row->proposed == row->current,
              "row %u", i);
    }
    CHECK(same > 400 && same < 600, "a quarter: %u", same);
    log_free(&log);
    end(&b);
}

static void early_stop_changes_no_decision(void)
{
    bench b;
    begin(&b, 6);
    for (int way = 0; way < 3; way++) {
        ss_rows rows[2] = {{0}};
        for (int stops = 0; stops < 2; stops++) {
            ss_search_options o = options(5000);
            o.searcher = way == 0   ? SS_SEARCH_MCMC
                         : way == 1 ? SS_SEARCH_GREEDY
                                    : SS_SEARCH_ANNEALING;
            o.space.hastings = way == 0;
            o.space.group = way == 1 ? 0.3 : 0;
            o.descent = true;
            the_fake = (fake){.stops = stops};
            ss_chain *c = fake_chain(&b, &o);
            CHECK(walk_until_end(c, &rows[stops]) == SS_END_DESCENT);
            ss_search_standing at;
            ss_chain_standing(c, &at);
            CHECK(stops ? at.stopped > 1000 : !at.stopped, "%d", (int)at.stopped);
            ss_chain_free(c);
        }
        CHECK(!log_differs(&rows[0], 0, &rows[1], true), "row %d",
              (int)log_differs(&rows[0], 0, &rows[1], true));
        CHECK(log_differs(&rows[0], 0, &rows[1], false), "some did stop");
        ss_rows_free(&rows[0]);
        ss_rows_free(&rows[1]);
    }
    end(&b);
}

/* ---- searchers ----------------------------------------------------------------------------- */

static void greedy_accepts_what_is_no_worse_and_random_what_is_better(void)
{
    bench b;
    begin(&b, 4);
    for (int way = 0; way < 2; way++) {
        search_log log = {0};
        ss_search_options o = options(400);
        o.searcher = way ? SS_SEARCH_RANDOM : SS_SEARCH_GREEDY;
        run_logged(&b, 1, &o, &log);
        ss_time current = log.chain[0].start;
        for (uint32_t i = 0; i < 400; i++) {
            const ss_step *row = &log.chain[0].rows.row[i];
            CHECK(row->accepted == (way ? row->proposed < current : row->proposed <= current),
                  "row %u", i);
            CHECK(row->reach == (way ? SS_REACH_ALL : SS_REACH_ONE) && row->ops == (way ? 4 : 1));
            current = row->current;
        }
        CHECK(current < log.chain[0].start && log.chain[0].beta == (way ? 0 : INFINITY));
        log_free(&log);
    }
    end(&b);
}

static void annealing_grows_its_beta_over_the_proposals(void)
{
    bench b;
    begin(&b, 3);
    ss_search_options o = options(201);
    o.searcher = SS_SEARCH_ANNEALING;
    o.beta_per_s = 10;
    o.last_beta_factor = 10000;
    the_fake = (fake){0};
    ss_chain *c = fake_chain(&b, &o);
    double now = 0;
    ss_chain_clock clock = {ticks, &now};
    for (int i = 1; i <= 201; i++) {
        ss_search_standing at;
        CHECK_OK(ss_chain_step(c, &clock, NULL, &err));
        ss_chain_standing(c, &at);
        CHECK(fabs(log10(at.beta_per_s) - (1 + 4.0 * (i - 1) / 200)) < 1e-9, "step %d: %g", i,
              at.beta_per_s);
    }
    CHECK(ss_chain_end(c) == SS_END_PROPOSALS);
    ss_chain_free(c);
    end(&b);
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* Best of the walk from the rows: step and second, which are the same with this clock. */
static uint64_t best_step_of(const ss_rows *rows)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < rows->n; i++)
        if (i && rows->row[i].best < rows->row[i - 1].best)
            at = rows->row[i].step;
    return at;
}

static void half_without_a_better_one_ends_a_chain_by_steps_or_by_the_clock(void)
{
    bench b;
    begin(&b, 3);
    for (int by_clock = 0; by_clock < 2; by_clock++) {
        ss_rows rows = {0};
        ss_search_options o = options(100000);
        o.searcher = SS_SEARCH_GREEDY;
        o.stop_half = true;
        o.warm_up = 37;
        o.seconds = by_clock ? 1e6 : 0;
        the_fake = (fake){0};
        ss_chain *c = fake_chain(&b, &o);
        CHECK(walk_until_end(c, &rows) == SS_END_NO_BETTER);
        uint64_t best = best_step_of(&rows);
        uint64_t twice = 2 * best + 1;
        CHECK(best > 5 && rows.n == (twice > 37 ? twice : 37), "best %d, end %d", (int)best,
              (int)rows.n);
        ss_chain_free(c);

        o.warm_up = rows.n + 50;
        ss_rows_clear(&rows);
        c = fake_chain(&b, &o);
        CHECK(walk_until_end(c, &rows) == SS_END_NO_BETTER);
        CHECK(rows.n == o.warm_up || best_step_of(&rows) > best, "%d rows", (int)rows.n);
        ss_chain_free(c);
        ss_rows_free(&rows);
    }
    end(&b);
}

static void seconds_end_a_chain_and_leave_a_quarter_for_the_descent(void)
{
    bench b;
    begin(&b, 3);
    for (int descent = 0; descent < 2; descent++) {
        ss_rows rows = {0};
        ss_search_options o = options(0);
        o.seconds = 200;
        o.descent = descent;
        the_fake = (fake){0};
        ss_chain *c = fake_chain(&b, &o);
        ss_search_end why = walk_until_end(c, &rows);
        uint32_t walked = 0;
        while (walked < rows.n && rows.row[walked].reach != SS_REACH_DESCENT)
            walked++;
        CHECK(walked == (descent ? 150 : 200), "%u of %u", walked, rows.n);
        CHECK(why == SS_END_SECONDS && rows.n == 200, "the descent was not through");
        ss_chain_free(c);
        ss_rows_free(&rows);
    }
    end(&b);
}

typedef struct stopper {
    int looks, at;
    ss_status with;
} stopper;

static ss_status stop_look(void *context, const char *what, double done, double whole, ss_error *e)
{
    stopper *s = context;
    (void)what;
    if (done < 0 || done > whole)
        return ss_fail(e, SS_EINVAL, "%g of %g", done, whole);
    return ++s->looks == s->at ? ss_fail(e, s->with, "enough") : SS_OK;
}

static void stop_over(void *context)
{
    (void)context;
}

static void a_person_stops_a_search_and_it_goes_on_where_it_was(void)
{
    bench b;
    begin(&b, 4);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        search_log whole = {0}, parts = {0};
        ss_search_options o = options(UINT64_MAX);
        o.threads = threads;
        stopper who = {.at = 2, .with = SS_ESTOPPED};
        ss_watch watch = {.context = &who, .look = stop_look, .over = stop_over};
        ss_search_sink sink = log_sink(&parts);
        ss_search *s = search_of(&b, 3, &o);
        CHECK_OK(ss_search_run(s, &sink, &watch, &err));
        CHECK(parts.steps > 0 && who.looks == 2);
        uint64_t longest = 0;
        for (uint32_t i = 0; i < 3; i++) {
            ss_search_standing at;
            ss_search_chain(s, i, &at);
            CHECK(at.end == SS_END_STOPPED && parts.chain[i].why == SS_END_STOPPED);
            CHECK(at.steps == parts.chain[i].rows.n && at.steps > 0, "nothing is lost");
            longest = at.steps > longest ? at.steps : longest;
        }
        who = (stopper){.at = 2, .with = SS_ESTOPPED};
        CHECK_OK(ss_search_run(s, &sink, &watch, &err));
        for (uint32_t i = 0; i < 3; i++) {
            CHECK(parts.chain[i].begun == 1 && parts.chain[i].ended == 2);
            longest = parts.chain[i].rows.n > longest ? parts.chain[i].rows.n : longest;
        }
        ss_search_free(s);

        o.proposals = longest;
        run_logged(&b, 3, &o, &whole);
        for (uint32_t i = 0; i < 3; i++) {
            whole.chain[i].rows.n = parts.chain[i].rows.n;
            CHECK(!log_differs(&whole.chain[i].rows, 0, &parts.chain[i].rows, false), "chain %u",
                  i);
        }
        log_free(&whole);
        log_free(&parts);
    }
    end(&b);
}

static void another_refusal_of_the_watch_is_an_error(void)
{
    bench b;
    begin(&b, 4);
    stopper who = {.at = 1, .with = SS_EIO};
    ss_watch watch = {.context = &who, .look = stop_look, .over = stop_over};
    ss_search_options o = options(UINT64_MAX);
    ss_search *s = search_of(&b, 1, &o);
    CHECK(ss_search_run(s, NULL, &watch, &err) == SS_EIO);
    CHECK_TEXT(err.text, "enough");
    ss_search_free(s);
    end(&b);
}

static void more_is_more_of_the_same(void)
{
    bench b;
    begin(&b, 4);
    search_log whole = {0}, parts = {0};
    ss_search_options o = options(700);
    run_logged(&b, 2, &o, &whole);
    o.proposals = 123;
    ss_search_sink sink = log_sink(&parts);
    ss_search *s = search_of(&b, 2, &o);
    CHECK_OK(ss_search_run(s, &sink, NULL, &err));
    CHECK_OK(ss_search_run(s, &sink, NULL, &err));
    CHECK(parts.steps == 246 && parts.chain[1].ended == 1, "nothing was left to do");
    ss_search_more(s, 577, 0);
    CHECK_OK(ss_search_run(s, &sink, NULL, &err));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(!log_differs(&whole.chain[i].rows, 0, &parts.chain[i].rows, false), "chain %u", i);
        CHECK(parts.chain[i].begun == 1 && parts.chain[i].ended == 2);
    }
    ss_search_free(s);
    log_free(&whole);
    log_free(&parts);
    end(&b);
}

/* ---- errors -------------------------------------------------------------------------------- */

static void a_sink_that_fails_ends_all_and_is_told_nothing_more(void)
{
    bench b;
    begin(&b, 4);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        search_log log = {.fail_at = 333};
        ss_search_options o = options(100000);
        o.threads = threads;
        ss_search_sink sink = log_sink(&log);
        ss_search *s = search_of(&b, 3, &o);
        CHECK(ss_search_run(s, &sink, NULL, &err) == SS_EIO);
        CHECK_TEXT(err.text, "the disk is full at step");
        CHECK(log.steps == 333 && !log.chain[0].ended);
        CHECK(ss_search_best(s, NULL) != NULL, "what was found stands");
        ss_search_free(s);
        log_free(&log);
    }
    end(&b);
}

/* An operator without a known time as soon as it is cut in three. */
static void an_error_of_a_chain_ends_all_after_what_was_done_is_told(void)
{
    bench b;
    begin(&b, 4);
    ss_costs *table;
    CHECK_OK(ss_costs_new(&table, &err));
    for (int i = 1; i <= 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "fc%d", i);
        CHECK_OK(ss_costs_add_given(table, name, 1e-3, 2e-3, true, &err));
    }
    CHECK_OK(ss_costs_begin_table(table, "few", &err));
    for (int phase = 0; phase < 2; phase++) {
        static const char *const shape[] = {"24x60 < 24x60", "6x60 < 6x60", "6x60 < 6x60"};
        for (int k = 0; k < 2; k++)
            CHECK_OK(ss_costs_add_measured(table,
                                           &(ss_measured){.kind = "linear",
                                                          .device_kind = "p100",
                                                          .attributes = "",
                                                          .shape = shape[k],
                                                          .dtype = "f32",
                                                          .phase = phase ? SS_BACKWARD : SS_FORWARD,
                                                          .seconds = 1e-3},
                                           &err));
    }
    ss_costs *known = b.costs;
    b.costs = table;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        search_log log = {0};
        ss_search_options o = options(100000);
        o.threads = threads;
        o.score.lower.update_passes = 0;
        ss_search_sink sink = log_sink(&log);
        ss_search *s = search_of(&b, 3, &o);
        ss_status status = ss_search_run(s, &sink, NULL, &err);
        CHECK(status == SS_ENOTFOUND, "%d: %s", (int)status, err.text);
        CHECK_TEXT(err.text, "search from ");
        CHECK_TEXT(err.text, "fc4");
        for (uint32_t i = 0; i < 3; i++) {
            ss_search_standing at;
            ss_search_chain(s, i, &at);
            CHECK(at.steps == log.chain[i].rows.n && !log.chain[i].ended);
            CHECK(!log_breaks_rule(&log.chain[i]));
        }
        ss_search_free(s);
        log_free(&log);
    }
    b.costs = known;
    ss_costs_free(table);
    end(&b);
}

static void after_an_error_a_chain_stands_where_it_stood(void)
{
    bench b;
    begin(&b, 4);
    ss_rows whole = {0}, parts = {0};
    ss_search_options o = options(50);
    the_fake = (fake){0};
    ss_chain *c = fake_chain(&b, &o);
    walk_until_end(c, &whole);
    ss_chain_free(c);
    the_fake.fail_at = 20;
    c = fake_chain(&b, &o);
    double now = 0;
    ss_chain_clock clock = {ticks, &now};
    int failed = 0;
    while (!ss_chain_end(c))
        failed += ss_chain_step(c, &clock, &parts, &err) != SS_OK;
    CHECK(failed == 1);
    CHECK_TEXT(err.text, "had enough");
    CHECK(!log_differs(&whole, 0, &parts, false));
    ss_chain_free(c);
    ss_rows_free(&whole);
    ss_rows_free(&parts);
    end(&b);
}

/* Each allocation fails in turn: an error, nothing left behind, and no row that is not true. */
static void without_memory_it_fails_cleanly(void)
{
    bench b;
    begin(&b, 2);
    ss_search_options o = options(6);
    memset(o.space.weight, 0, sizeof o.space.weight);
    o.space.weight[SS_MOVE_PLACE] = 1;
    o.descent = true;
    for (int64_t n = 0, failed = 1; failed; n++) {
        search_log log = {0};
        ss_search *s;
        size_t before = ss_mem_blocks();
        ss_mem_fail_after(n);
        ss_status status = make(&b, 2, &o, &s);
        ss_search_sink sink = log_sink(&log);
        if (!status)
            status = ss_search_run(s, &sink, NULL, &err);
        ss_mem_fail_never();
        failed = status != SS_OK;
        CHECK(!failed || status == SS_ENOMEM, "%s", err.text);
        for (int i = 0; i < 2; i++)
            CHECK(!log_breaks_rule(&log.chain[i]));
        ss_search_free(s);
        log_free(&log);
        CHECK(ss_mem_blocks() == before, "allocation %lld", (long long)n);
    }
    end(&b);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void a_wall_lets_nothing_in_and_a_start_beyond_it_is_left(void)
{
    bench b;
    begin(&b, 4);
    search_log log = {0};
    ss_search_options o = options(1500);
    o.score.memory = SS_MEMORY_WALL;
    for (uint32_t d = 1; d <= 4; d++) /* everything on one device is too much, spread it is not */
        b.topology->device[d].def.memory_bytes = 130e3;
    ss_search_sink sink = log_sink(&log);
    ss_search *s = search_of(&b, 3, &o);
    ss_search_standing at;
    ss_search_chain(s, 1, &at);
    CHECK(!at.fits, "the whole model on device 1");
    CHECK_OK(ss_search_run(s, &sink, NULL, &err));
    for (uint32_t i = 0; i < 3; i++) {
        bool within = false;
        uint32_t beyond = 0;
        for (uint32_t k = 0; k < log.chain[i].rows.n; k++) {
            const ss_step *row = &log.chain[i].rows.row[k];
            CHECK(!(row->accepted && row->infeasible), "chain %u, row %u", i, k);
            beyond += row->infeasible;
            if (row->accepted && !within)
                CHECK(row->best == row->proposed || i != 1,
                      "the first within is the best, whatever it costs");
            within = within || row->accepted;
        }
        CHECK(within && beyond > 4 && beyond < 1480, "chain %u: %u beyond", i, beyond);
        ss_search_chain(s, i, &at);
        CHECK(at.fits && at.infeasible == beyond, "chain %u", i);
    }
    ss_scorer *scorer;
    ss_score score;
    CHECK_OK(ss_scorer_new(b.model, b.topology, b.costs, &o.score, &scorer, &err));
    CHECK_OK(ss_scorer_start(scorer, ss_search_best(s, NULL), &score, &err));
    CHECK(!score.infeasible);
    ss_scorer_free(scorer);
    ss_search_free(s);
    log_free(&log);
    end(&b);
}

/* ---- the descent --------------------------------------------------------------------------- */

static void a_descent_ends_where_no_change_of_an_operator_is_better(void)
{
    bench b;
    begin(&b, 3);
    for (int kind = 0; kind < 2; kind++) {
        ss_search_options o = options(20);
        o.descent = true;
        if (kind) { /* one part each: the descent must stay in that space */
            memset(o.space.weight, 0, sizeof o.space.weight);
            o.space.weight[SS_MOVE_PLACE] = 1;
        }
        ss_search *s = search_of(&b, 2, &o);
        CHECK_OK(ss_search_run(s, NULL, NULL, &err));
        ss_scorer *scorer;
        ss_space *space;
        ss_score score, other;
        uint32_t chain;
        const ss_strategy *best = ss_search_best(s, &chain);
        ss_search_standing at;
        ss_search_chain(s, chain, &at);
        CHECK(at.end == SS_END_DESCENT && at.steps > 20);
        CHECK_OK(ss_scorer_new(b.model, b.topology, b.costs, &o.score, &scorer, &err));
        CHECK_OK(ss_space_new(best, &o.space, &space, &err));
        CHECK_OK(ss_scorer_start(scorer, best, &score, &err));
        CHECK(score.cost == at.best && at.current == at.best);
        uint64_t tried = 0;
        static const ss_move moves[2][2] = {{SS_MOVE_BLOCK, SS_MOVE_POW2},
                                            {SS_MOVE_PLACE, SS_MOVE_PLACE}};
        for (uint32_t op = 1; op <= 3; op++)
            for (int m = 0; m < 2; m++)
                for (uint64_t k = 0; k < ss_space_count(space, moves[kind][m], (ss_op){op}); k++) {
                    ss_choice c = {.op = {op}};
                    CHECK_OK(ss_space_nth(space, moves[kind][m], c.op, k, &c.config, &err));
                    CHECK_OK(ss_scorer_try(scorer, &c, 1, SS_TIME_MAX, &other, &err));
                    ss_scorer_reject(scorer);
                    CHECK(other.cost >= score.cost, "operator %u, %d, %d", op, m, (int)k);
                    tried++;
                    ss_free(c.config.device);
                    if (kind)
                        CHECK(best->config[op].parts == 1 || b.start[0], "in its space");
                }
        CHECK(tried > (kind ? 20 : 100), "%d", (int)tried);
        ss_space_free(space);
        ss_scorer_free(scorer);
        ss_search_free(s);
    }
    end(&b);
}

int main(void)
{
    RUN(what_makes_no_sense_is_refused);
    RUN(searchers_and_ends_have_names);
    RUN(every_row_follows_from_those_before);
    RUN(standings_add_up_what_was_told);
    RUN(proposals_that_are_nothing_new_are_told_and_not_simulated);
    RUN(early_stop_changes_no_decision);
    RUN(greedy_accepts_what_is_no_worse_and_random_what_is_better);
    RUN(annealing_grows_its_beta_over_the_proposals);
    RUN(half_without_a_better_one_ends_a_chain_by_steps_or_by_the_clock);
    RUN(seconds_end_a_chain_and_leave_a_quarter_for_the_descent);
    RUN(a_person_stops_a_search_and_it_goes_on_where_it_was);
    RUN(another_refusal_of_the_watch_is_an_error);
    RUN(more_is_more_of_the_same);
    RUN(a_sink_that_fails_ends_all_and_is_told_nothing_more);
    RUN(an_error_of_a_chain_ends_all_after_what_was_done_is_told);
    RUN(after_an_error_a_chain_stands_where_it_stood);
    RUN(without_memory_it_fails_cleanly);
    RUN(a_wall_lets_nothing_in_and_a_start_beyond_it_is_left);
    RUN(a_descent_ends_where_no_change_of_an_operator_is_better);
    return DONE();
}
