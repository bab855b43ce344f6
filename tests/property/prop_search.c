/* A chain is a function of options, start and number: the same rows with one thread or two, and
 * after it was interrupted at any step and resumed; on random models, clusters and options.
 *
 * prop_search [CASES [SEED]] */
#include "search/search.h"

#include "base/rng.h"
#include "search_log.h"
#include "steps.h"

static ss_error err;
static ss_rng rng;
static uint64_t seed;
static long cases = 60;

static uint32_t draw(uint32_t from, uint32_t to)
{
    return from + (uint32_t)ss_rng_below(&rng, to - from + 1);
}

static bool chance(uint32_t percent)
{
    return draw(1, 100) <= percent;
}

/* Dense layers and what is between them, with a way around some; layers of equal width may share
 * their weights. */
static ss_model *random_model(void)
{
    ss_model *m = net_new("random");
    int64_t batch = draw(1, 9);
    int width = (int)draw(1, 40);
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){batch, width}), around = x;
    uint32_t layers = draw(2, 6);
    for (uint32_t i = 1; i <= layers; i++) {
        char name[20];
        snprintf(name, sizeof name, "op%u", i);
        if (chance(60)) {
            net_place place = {chance(50) ? "shared" : NULL, i};
            x = net_out(m, net_op(m, place, "linear", name, &x, 1, "out", width, NULL));
        } else if (chance(50)) {
            ss_tensor both[2] = {x, around};
            x = net_out(m, net_op(m, (net_place){0}, "add", name, both, 2, NULL));
        } else {
            around = x;
            x = net_out(m, net_op(m, (net_place){0}, "relu", name, &x, 1, NULL));
        }
    }
    return m;
}

typedef struct problem {
    ss_model *model;
    ss_topology *topology;
    ss_costs *costs;
    ss_strategy *start[3];
    uint32_t chains;
    ss_search_options options;
} problem;

static void random_options(problem *p)
{
    ss_search_options *o = &p->options;
    *o = ss_search_options_start();
    o->searcher = (ss_searcher)draw(0, SS_SEARCHERS - 1);
    o->seed = draw(0, 1000000);
    o->proposals = draw(1, 150);
    o->stop_half = chance(30);
    o->warm_up = draw(0, 60);
    o->descent = chance(50);
    o->beta_relative = chance(10) ? 0 : exp(draw(0, 8));
    o->score.way = SS_SCORE_FULL;
    o->score.memory = (ss_memory_rule)draw(0, 2);
    o->score.lower.sync = chance(50) ? SS_SYNC_RING : SS_SYNC_PARAMETER_SERVER;
    for (ss_move m = 0; m < SS_MOVES; m++)
        o->space.weight[m] = m == SS_MOVE_LIST || chance(40) ? 0 : draw(1, 3);
    o->space.weight[draw(0, SS_MOVE_PLACE)] = 1;
    o->space.hastings = chance(50);
    o->space.group = chance(50) ? 0.3 : 0;
    o->space.neighbour = !o->space.hastings && chance(50) ? 0.2 : 0;
}

static void random_problem(problem *p)
{
    *p = (problem){.model = random_model(), .chains = draw(1, 3)};
    p->topology =
        net_cluster(draw(1, 2), draw(2, 3), draw(1, 9) * 1e8, draw(1, 9) * 1e7, draw(0, 3) * 1e-6);
    for (uint32_t d = 1; d <= p->topology->devices; d++)
        p->topology->device[d].def.memory_bytes = chance(30) ? 0 : draw(500, 60000);
    net_must(ss_costs_new(&p->costs, &err), &err);
    net_must(ss_costs_add_roofline(p->costs, NULL, &err), &err);
    for (int i = 0; i < 3; i++) {
        net_must(ss_strategy_new(p->model, p->topology, &p->start[i], &err), &err);
        net_must(ss_strategy_random(p->start[i], &rng, draw(1, 5), &err), &err);
    }
    random_options(p);
}

static void free_problem(problem *p)
{
    for (int i = 0; i < 3; i++)
        ss_strategy_free(p->start[i]);
    ss_costs_free(p->costs);
    ss_topology_free(p->topology);
    ss_model_free(p->model);
}

static void run(const problem *p, uint32_t threads, search_log *past, search_log *log)
{
    ss_search_start start[3] = {{"one", p->start[0]}, {"two", p->start[1]}, {"three", p->start[2]}};
    ss_search_options o = p->options;
    ss_search *s;
    o.threads = threads;
    net_must(ss_search_new(p->model, p->topology, p->costs, start, p->chains, &o, &s, &err), &err);
    if (past) {
        ss_search_past known = log_past(past);
        net_must(ss_search_resume(s, &known, &err), &err);
    }
    ss_search_sink sink = log_sink(log);
    net_must(ss_search_run(s, &sink, NULL, &err), &err);
    for (uint32_t i = 0; i < p->chains; i++) {
        ss_search_standing at;
        ss_search_chain(s, i, &at);
        if (log->chain[i].rows.n &&
            at.best != log->chain[i].rows.row[log->chain[i].rows.n - 1].best)
            exit(98);
    }
    ss_search_free(s);
}

static void one_case(long number)
{
    problem p;
    search_log one = {0}, two = {0}, rest = {0};
    random_problem(&p);
    run(&p, 1, NULL, &one);
    run(&p, 2, NULL, &two);
    uint32_t longest = 0;
    for (uint32_t i = 0; i < p.chains; i++) {
        uint64_t differs = log_differs(&one.chain[i].rows, 0, &two.chain[i].rows, false);
        CHECK(!differs, "seed %llu, case %ld: threads, chain %u, step %d", (unsigned long long)seed,
              number, i, (int)differs);
        CHECK(one.chain[i].why == two.chain[i].why && one.chain[i].start == two.chain[i].start);
        longest = one.chain[i].rows.n > longest ? one.chain[i].rows.n : longest;
    }
    one.keep = draw(1, longest);
    run(&p, draw(1, 2), &one, &rest);
    for (uint32_t i = 0; i < p.chains; i++) {
        uint32_t known = log_known(&one, i);
        uint64_t differs = log_differs(&one.chain[i].rows, known, &rest.chain[i].rows, false);
        CHECK(!differs, "seed %llu, case %ld: resumed after step %u, chain %u, step %d",
              (unsigned long long)seed, number, known, i, (int)(known + differs));
        CHECK(one.chain[i].why == rest.chain[i].why, "seed %llu, case %ld: chain %u ended %d, %d",
              (unsigned long long)seed, number, i, one.chain[i].why, rest.chain[i].why);
    }
    log_free(&one);
    log_free(&two);
    log_free(&rest);
    free_problem(&p);
}

static void threads_and_interruptions_change_nothing(void)
{
    for (long i = 1; i <= cases && !check_this_failed; i++)
        one_case(i);
}

/* Of another cost, another strategy, another order: all of it is found out. */
static void a_record_of_something_else_is_refused(void)
{
    problem p;
    search_log log = {0};
    ss_search *s;
    do {
        log_free(&log);
        random_problem(&p);
        p.options.searcher = SS_SEARCH_MCMC;
        p.options.beta_relative = 1;
        p.options.proposals = 100;
        p.options.score.memory = SS_MEMORY_IGNORED;
        p.options.stop_half = false;
        p.chains = 1;
        run(&p, 1, NULL, &log);
        if (!log.chain[0].rows.row[99].accepted)
            free_problem(&p);
    } while (!log.chain[0].rows.row[99].accepted);
    ss_search_start start = {"one", p.start[0]};
    ss_search_past past = log_past(&log);
    ss_step *last = &log.chain[0].rows.row[99], was = *last;
    log.keep = 100;
    for (int way = 0; way < 3; way++) {
        *last = was;
        if (way == 0)
            last->proposed++;
        if (way == 1)
            last->step = 3;
        if (way == 2)
            p.options.score.lower.sync = SS_SYNC_NONE;
        CHECK_OK(ss_search_new(p.model, p.topology, p.costs, &start, 1, &p.options, &s, &err));
        ss_status status = ss_search_resume(s, &past, &err);
        /* without meetings a step may cost the same: one on one device does */
        CHECK(status == SS_EFORMAT || (way == 2 && !status), "way %d: %s", way, err.text);
        if (way == 0)
            CHECK_TEXT(err.text, "chain 1, step 100 of the record costs");
        ss_search_free(s);
    }
    *last = was;
    free_problem(&p);
    log_free(&log);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cases = atol(argv[1]);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261130;
    net_must(ss_rng_open(&rng, seed, "prop_search", &err), &err);
    printf("seed %llu, %ld cases\n", (unsigned long long)seed, cases);
    RUN(threads_and_interruptions_change_nothing);
    RUN(a_record_of_something_else_is_refused);
    ss_rng_close(&rng);
    return DONE();
}
