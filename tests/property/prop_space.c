/* The space against its naive twin: counts, numbers, densities and what is drawn, over random small
 * models, devices, pins, lists and mixtures. */

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "reference/space_naive.h"
#include "base/mem.h"
#include "search/space.h"
#include "strategy_fixture.h"

enum { SEED = 52107, CASES = 60, LISTS = 24 };

static ss_rng rng;

static uint32_t below(uint32_t n)
{
    return (uint32_t)ss_rng_below(&rng, n);
}

/* ---------------------------------------------------------------------------------------- cases */

typedef struct problem {
    ss_model *model;
    ss_topology *topology;
    ss_strategy *pinned, *other;
    ss_choice list[LISTS];
    ss_device device[LISTS][NAIVE_PARTS];
    uint32_t lists, max_parts;
    double weight[SS_MOVES];
    ss_space *mixture;
    ss_space *alone[SS_MOVES]; /* NULL: refused, nothing has a choice */
} problem;

static void pin_at_random(ss_strategy *s)
{
    ss_status st = SS_OK;
    for (uint32_t i = 1; i <= s->ops && !st; i++) {
        uint32_t what = below(12);
        if (what < 4)
            st = ss_strategy_pin(s, (ss_op){i}, (ss_pin)what, &err);
        else if (what < 6)
            st = ss_strategy_pin_degree(s, (ss_op){i}, below(s->model->op[i].def->out[0].rank),
                                        &err);
    }
    if (st)
        fixture_failed();
}

/* Some of another random strategy's configurations, one of them twice. */
static void make_list(problem *p)
{
    while (p->lists < LISTS) {
        if (ss_strategy_random(p->other, &rng, 4, &err))
            fixture_failed();
        ss_op op = {1 + below(p->model->ops / 2)};
        const ss_config *c = &p->other->config[op.i];
        ss_choice *at = &p->list[p->lists];
        *at = (ss_choice){.op = op, .config = *c};
        at->config.device = p->device[p->lists++];
        memcpy(at->config.device, c->device, c->parts * sizeof *c->device);
    }
    p->list[LISTS - 1] = p->list[0];
}

static void make_spaces(problem *p)
{
    ss_space_options o = {.max_parts = p->max_parts, .list = p->list, .lists = p->lists};
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        memset(o.weight, 0, sizeof o.weight);
        o.weight[m] = 0.7;
        if (ss_space_new(p->pinned, &o, &p->alone[m], &err)) {
            p->alone[m] = NULL;
            if (!strstr(err.text, "nothing to search"))
                fixture_failed();
        }
        p->weight[m] = below(4);
    }
    p->weight[below(SS_MOVE_LIST)] += 0.37;
    memcpy(o.weight, p->weight, sizeof o.weight);
    if (ss_space_new(p->pinned, &o, &p->mixture, &err))
        fixture_failed();
}

/* Few enough that everything can be tried: devices ^ parts is at most 4096. */
static void make(problem *p, uint32_t number)
{
    static const uint32_t most_parts[] = {0, 6, 10, 7, 6, 5};
    *p = (problem){.lists = 0};
    ss_rng_seek(&rng, SEED, 0, number);
    p->model = below(3) ? fixture_cnn(1 + below(9)) : fixture_rnn(1 + below(9));
    uint32_t devices[2] = {1 + below(3), 1 + below(2)};
    p->topology = fixture_cluster("few", 2, devices);
    p->max_parts = below(most_parts[p->topology->devices] + 1);
    if (ss_strategy_new(p->model, p->topology, &p->pinned, &err) ||
        ss_strategy_random(p->pinned, &rng, 5, &err))
        fixture_failed();
    pin_at_random(p->pinned);
    if (ss_strategy_copy(p->pinned, &p->other, &err))
        fixture_failed();
    make_list(p);
    make_spaces(p);
}

static void drop(problem *p)
{
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++)
        ss_space_free(p->alone[m]);
    ss_space_free(p->mixture);
    ss_strategy_free(p->pinned);
    ss_strategy_free(p->other);
    ss_topology_free(p->topology);
    ss_model_free(p->model);
}

/* What the mixture draws: the weighted sum over the moves that offer something. */
static double mixture_of(const problem *p, const naive_space *naive, uint32_t row)
{
    double sum = 0, offered = 0;
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
        offered += naive->offers[m] ? p->weight[m] : 0;
        sum += p->weight[m] * naive->at[row].q[m];
    }
    return offered > 0 ? sum / offered : 0;
}

static ss_config config_of(naive_config *n, ss_device *device)
{
    ss_config c = {.parts = n->parts, .device = device};
    memcpy(c.degree, n->degree, sizeof c.degree);
    for (uint32_t k = 0; k < n->parts; k++)
        device[k].i = n->device[k];
    return c;
}

/* ------------------------------------------------------------------------------ what is counted */

/* One move: as many as the twin found, all of them different, all of them its. */
static void check_numbers(const problem *p, ss_op op, ss_move m, const naive_space *naive)
{
    ss_config c = {.cap = 0};
    uint64_t count = ss_space_count(p->mixture, m, op), expected = 0;
    static bool seen[1 << 20];
    CHECK(naive->n < sizeof seen, "%u", naive->n);
    memset(seen, 0, naive->n);
    for (uint32_t k = 0; k < naive->n; k++)
        expected += naive->at[k].q[m] > 0;
    CHECK(count == expected, "seed %d: %s of operator %u: %llu, twin %llu", SEED, ss_move_name(m),
          op.i, (unsigned long long)count, (unsigned long long)expected);
    for (uint64_t n = 0; n < count; n++) {
        CHECK_OK(ss_space_nth(p->mixture, m, op, n, &c, &err));
        uint32_t row = naive_space_find(naive, &c);
        CHECK(row < naive->n && naive->at[row].q[m] > 0, "%s %llu of operator %u", ss_move_name(m),
              (unsigned long long)n, op.i);
        CHECK(!seen[row], "%s %llu of operator %u was there before", ss_move_name(m),
              (unsigned long long)n, op.i);
        seen[row] = true;
    }
    CHECK(ss_space_nth(p->mixture, m, op, count, &c, &err) == SS_EINVAL, "one more");
    ss_free(c.device);
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(a, b);
}

static void check_densities(const problem *p, ss_op op, naive_space *naive)
{
    double sum = 0;
    for (uint32_t k = 0; k < naive->n; k++) {
        ss_device device[NAIVE_PARTS];
        ss_config c = config_of(&naive->at[k], device);
        for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++) {
            double q = naive->at[k].q[m];
            if (!p->alone[m])
                continue;
            double got = exp(ss_space_log_density(p->alone[m], op, &c));
            CHECK(close_to(got, q), "seed %d: %s, operator %u: %g, twin %g", SEED, ss_move_name(m),
                  op.i, got, q);
        }
        double got = exp(ss_space_log_density(p->mixture, op, &c));
        CHECK(close_to(got, mixture_of(p, naive, k)), "seed %d: mixture, operator %u: %g", SEED,
              op.i, got);
        sum += got;
    }
    CHECK(fabs(sum - 1) < 1e-9 || (sum == 0 && !ss_space_movable(p->mixture, op)),
          "operator %u: densities add up to %.15g", op.i, sum);
    /* outside: too many parts, and a device that is not there */
    ss_device none[NAIVE_PARTS] = {{0}}, *first = none;
    ss_config c = {.degree = {1, 1, 1, 1, 1}, .parts = 1, .device = first};
    CHECK(ss_space_log_density(p->mixture, op, &c) == -INFINITY, "device 0");
    first[0].i = p->topology->devices + 1;
    CHECK(ss_space_log_density(p->mixture, op, &c) == -INFINITY, "one device too far");
}

/* Something besides what it has, which need not be in the space. */
static bool has_choice(const problem *p, naive_space *naive, ss_op op)
{
    for (uint32_t k = 0; k < naive->n; k++) {
        ss_device device[NAIVE_PARTS];
        ss_config c = config_of(&naive->at[k], device);
        if (mixture_of(p, naive, k) > 0 && !ss_config_same(&c, &p->pinned->config[op.i]))
            return true;
    }
    return false;
}

static void all_is_as_the_twin_finds_it(void)
{
    uint64_t configurations = 0;
    for (uint32_t n = 0; n < CASES && !check_this_failed; n++) {
        problem p;
        make(&p, n);
        for (uint32_t i = 1; i <= p.model->ops && !check_this_failed; i++) {
            naive_space naive = {0};
            ss_op op = {i};
            naive_space_of(p.pinned, op, p.max_parts, p.list, p.lists, &naive);
            configurations += naive.n;
            for (ss_move m = SS_MOVE_FREE; m < SS_MOVES && !check_this_failed; m++)
                check_numbers(&p, op, m, &naive);
            if (!check_this_failed && naive.n < 3000)
                check_densities(&p, op, &naive);
            CHECK(ss_space_movable(p.mixture, op) == has_choice(&p, &naive, op), "operator %u", i);
            naive_space_free(&naive);
        }
        if (check_this_failed)
            printf("  case %u of seed %d\n", n, SEED);
        drop(&p);
    }
    printf("  %llu configurations of %d cases\n", (unsigned long long)configurations, CASES);
}

/* -------------------------------------------------------------------------------- what is drawn */

enum { MOST_TESTS = 2000 };
static double p_value[MOST_TESTS];
static uint32_t tests;

/* Chi-square of counts against chances; rows that are expected less than 5 times are one. */
static double chi_square(const uint32_t *count, const double *chance, uint32_t n, double draws,
                         uint32_t *freedom)
{
    double chi2 = 0, rare = 0, rare_seen = 0;
    uint32_t bins = 0;
    for (uint32_t k = 0; k < n; k++) {
        double expected = chance[k] * draws;
        if (expected < 5) {
            rare += expected, rare_seen += count[k];
            continue;
        }
        chi2 += (count[k] - expected) * (count[k] - expected) / expected;
        bins++;
    }
    if (rare >= 5) {
        chi2 += (rare_seen - rare) * (rare_seen - rare) / rare;
        bins++;
    }
    *freedom = bins ? bins - 1 : 0;
    return chi2;
}

static void check_draws(const ss_space *s, ss_op op, const naive_space *naive, const char *what)
{
    static uint32_t count[3000];
    static double chance[3000];
    ss_config c = {.cap = 0};
    uint32_t draws = 2000 + 25 * naive->n;
    memset(count, 0, sizeof count);
    for (uint32_t k = 0; k < naive->n; k++) {
        ss_device device[NAIVE_PARTS];
        c = config_of(&naive->at[k], device);
        chance[k] = exp(ss_space_log_density(s, op, &c));
    }
    c = (ss_config){.cap = 0};
    for (uint32_t k = 0; k < draws; k++) {
        ss_move m = SS_MOVES;
        CHECK_OK(ss_space_draw(s, op, &rng, &m, &c, &err));
        uint32_t row = naive_space_find(naive, &c);
        CHECK(row < naive->n && naive->at[row].q[m] > 0 && chance[row] > 0,
              "%s, operator %u: not of the move", what, op.i);
        count[row]++;
    }
    uint32_t freedom;
    double chi2 = chi_square(count, chance, naive->n, draws, &freedom);
    double p = freedom ? gsl_cdf_chisq_Q(chi2, freedom) : 1;
    CHECK(p > 1e-6, "seed %d: %s, operator %u: chi-square %g with %u degrees of freedom", SEED,
          what, op.i, chi2, freedom);
    if (freedom && tests < MOST_TESTS)
        p_value[tests++] = p;
    ss_free(c.device);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* And the p-values themselves are uniform, by the test of Kolmogorov and Smirnov: 1.95 / sqrt(n)
 * has p = 0.001. */
static void what_is_drawn_has_the_density(void)
{
    for (uint32_t n = 0; n < CASES && !check_this_failed; n++) {
        problem p;
        make(&p, n);
        ss_rng_seek(&rng, SEED, 2, n);
        for (uint32_t i = 1 + n % 2; i <= p.model->ops && !check_this_failed; i += 2) {
            naive_space naive = {0};
            ss_op op = {i};
            naive_space_of(p.pinned, op, p.max_parts, p.list, p.lists, &naive);
            for (ss_move m = SS_MOVE_FREE; m < SS_MOVES && !check_this_failed; m++)
                if (naive.n < 3000 && p.alone[m] && ss_space_movable(p.alone[m], op))
                    check_draws(p.alone[m], op, &naive, ss_move_name(m));
            if (naive.n < 3000 && !check_this_failed && ss_space_movable(p.mixture, op))
                check_draws(p.mixture, op, &naive, "mixture");
            naive_space_free(&naive);
        }
        if (check_this_failed)
            printf("  case %u of seed %d\n", n, SEED);
        drop(&p);
    }
    qsort(p_value, tests, sizeof *p_value, ascending);
    double most = 0;
    for (uint32_t k = 0; k < tests; k++)
        most = fmax(most, fmax((k + 1.0) / tests - p_value[k], p_value[k] - (double)k / tests));
    printf("  seed %d: %u chi-square tests, least p %g, largest distance from uniform %g\n", SEED,
           tests, tests ? p_value[0] : 1, most);
    CHECK(tests > 300, "%u tests", tests);
    CHECK(most < 1.95 / sqrt(tests), "p-values are not uniform: %g", most);
}

/* ------------------------------------------------------------------------------------- hastings */

static ss_op embedding(ss_model *m, const char *name, int64_t length)
{
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find("embedding"), name);
    ss_shape words = {.dtype = SS_I32, .rank = 2, .extent = {2, length}};
    char input[40];
    ss_tensor in;
    ss_op op;
    snprintf(input, sizeof input, "%s_words", name);
    if (ss_model_input(m, input, &words, &in, &err))
        fixture_failed();
    for (uint32_t i = 0; i < ss_op_kind_attrs(spec.kind); i++)
        if (!strcmp(spec.kind->attr[i].name, "vocab") || !strcmp(spec.kind->attr[i].name, "out"))
            spec.attr[i] = 2;
    spec.in = &in, spec.inputs = 1, spec.share = "words";
    if (ss_model_add(m, &spec, &op, &err))
        fixture_failed();
    return op;
}

/* Operators 1 and 3 are alike; 2 has the same weights and another length; 4 has weights of its
 * own. */
static ss_model *sharing(void)
{
    ss_model *m;
    if (ss_model_new("sharing", &m, &err))
        fixture_failed();
    embedding(m, "first", 1);
    embedding(m, "longer", 2);
    ss_op third = embedding(m, "third", 1);
    fixture_op(m, "linear", "own", 0, &m->op[third.i].out[0], 1, "out", 2, NULL, 0);
    return m;
}

/* Two devices, a list for operators 1 and 4 alone, so that those that are alike differ in what they
 * draw. */
static ss_space *sharing_space(const ss_strategy *pinned, bool hastings)
{
    static ss_device at[] = {{2}, {1}, {1}, {2}, {2}};
    const ss_choice list[] = {{{1}, {{2, 1, 1, 1, 1}, 2, at, 2}},
                              {{1}, {{1, 1, 2, 1, 1}, 2, at, 2}},
                              {{1}, {{1, 1, 2, 1, 1}, 2, at + 1, 2}},
                              {{1}, {{2, 1, 1, 1, 1}, 2, at + 3, 2}},
                              {{4}, {{1, 1, 1, 1, 1}, 1, at, 1}}};
    ss_space_options o = {
        .weight = {1, 2, 0.5, 1, 3}, .group = 0.5, .hastings = hastings, .list = list, .lists = 5};
    if (pinned->pin[4])
        o.lists = 4;
    ss_space *s;
    if (ss_space_new(pinned, &o, &s, &err))
        fixture_failed();
    return s;
}

/* Each of those that are alike could have been chosen, and would have moved them both. */
static double group_factor(const ss_space *s, const ss_config *from, const ss_config *to)
{
    double q[2];
    for (int k = 0; k < 2; k++)
        q[k] = exp(ss_space_log_density(s, (ss_op){1}, k ? to : from)) +
               exp(ss_space_log_density(s, (ss_op){3}, k ? to : from));
    return log(q[0] / q[1]);
}

static void put(ss_strategy *s, ss_op op, const ss_config *c)
{
    if (ss_strategy_set(s, op, c->degree, SS_MAX_DIMS, c->device, c->parts, &err))
        fixture_failed();
}

static bool leads_to(const ss_proposal *p, const ss_strategy *from, const ss_strategy *to)
{
    uint32_t differ = 0;
    for (uint32_t i = 1; i <= from->ops; i++)
        differ += !ss_config_same(&from->config[i], &to->config[i]);
    if (p->same || p->n != differ)
        return false;
    for (uint32_t k = 0; k < p->n; k++)
        if (!ss_config_same(&p->choice[k].config, &to->config[p->choice[k].op.i]))
            return false;
    return true;
}

/* The factor of a step and that of a step back, found by proposing until one comes. */
static void the_way_back_has_the_opposite_factor(void)
{
    ss_model *m = sharing();
    uint32_t two[] = {2}, found[SS_REACHES] = {0};
    ss_topology *t = fixture_cluster("two", 1, two);
    ss_strategy *a, *b;
    ss_proposal p = {0}, back = {0};
    if (ss_strategy_new(m, t, &a, &err))
        fixture_failed();
    ss_space *s = sharing_space(a, true);
    ss_rng_seek(&rng, SEED, 3, 0);
    for (uint32_t n = 0; n < 600; n++) {
        CHECK_OK(ss_strategy_random(a, &rng, 2, &err));
        if (n % 2)
            put(a, (ss_op){3}, &a->config[1]);
        CHECK_OK(ss_space_propose(s, a, &rng, &p, &err));
        if (!p.n || p.same)
            continue;
        CHECK_OK(ss_strategy_copy(a, &b, &err));
        for (uint32_t k = 0; k < p.n; k++)
            put(b, p.choice[k].op, &p.choice[k].config);
        bool came = false;
        for (uint32_t tries = 0; tries < 20000 && !came; tries++) {
            CHECK_OK(ss_space_propose(s, b, &rng, &back, &err));
            came = back.reach == p.reach && leads_to(&back, b, a);
        }
        CHECK(came, "seed %d, step %u: no way back", SEED, n);
        CHECK(p.log_hastings + back.log_hastings == 0, "seed %d, step %u: %g and %g", SEED, n,
              p.log_hastings, back.log_hastings);
        double factor = p.n == 2 ? group_factor(s, &a->config[1], &b->config[1]) : 0;
        CHECK(p.n == 1 || fabs(p.log_hastings - factor) < 1e-12, "%g, not %g", p.log_hastings,
              factor);
        found[p.reach] += p.log_hastings != 0 && (p.reach == SS_REACH_ONE || p.n == 2);
        ss_strategy_free(b);
    }
    printf("  factors other than 1: %u of one operator, %u of two together\n", found[SS_REACH_ONE],
           found[SS_REACH_GROUP]);
    CHECK(found[SS_REACH_ONE] > 80 && found[SS_REACH_GROUP] > 25, "too few");
    ss_proposal_free(&p);
    ss_proposal_free(&back);
    ss_space_free(s);
    ss_strategy_free(a);
    ss_topology_free(t);
    ss_model_free(m);
}

/* A walk that accepts by the factor alone: with it every state of operators 1 and 3 is as frequent
 * as every other, without it they are not.  An operator stays some 36 proposals where its move rarely
 * goes, so samples are 200 apart. */
static double flatness(bool hastings, uint32_t *freedom)
{
    enum { SAMPLES = 20000, THIN = 200 };
    static uint32_t count[400];
    static double chance[400];
    ss_model *m = sharing();
    uint32_t two[] = {2};
    ss_topology *t = fixture_cluster("two", 1, two);
    ss_strategy *now;
    ss_proposal p = {0};
    naive_space naive = {0};
    if (ss_strategy_new(m, t, &now, &err) || ss_strategy_pin(now, (ss_op){2}, SS_PIN_ALL, &err) ||
        ss_strategy_pin(now, (ss_op){4}, SS_PIN_ALL, &err))
        fixture_failed();
    ss_space *s = sharing_space(now, hastings);
    naive_space_of(now, (ss_op){1}, 0, NULL, 0, &naive);
    memset(count, 0, sizeof count);
    ss_rng_seek(&rng, SEED, 4, hastings);
    for (uint32_t k = 0; k < SAMPLES * THIN; k++) {
        if (ss_space_propose(s, now, &rng, &p, &err))
            fixture_failed();
        if (ss_rng_uniform(&rng) < exp(p.log_hastings))
            for (uint32_t c = 0; c < p.n; c++)
                put(now, p.choice[c].op, &p.choice[c].config);
        if (k % THIN == 0)
            count[naive_space_find(&naive, &now->config[1]) * naive.n +
                  naive_space_find(&naive, &now->config[3])]++;
    }
    uint32_t states = naive.n * naive.n;
    for (uint32_t k = 0; k < states; k++)
        chance[k] = 1.0 / states;
    double chi2 = chi_square(count, chance, states, SAMPLES, freedom);
    naive_space_free(&naive);
    ss_proposal_free(&p);
    ss_space_free(s);
    ss_strategy_free(now);
    ss_topology_free(t);
    ss_model_free(m);
    return chi2;
}

static void the_factor_makes_a_walk_flat(void)
{
    uint32_t freedom;
    double with = flatness(true, &freedom), without = flatness(false, &freedom);
    printf("  seed %d: chi-square with %g, without %g, %u degrees of freedom\n", SEED, with,
           without, freedom);
    CHECK(freedom >= 99, "%u", freedom);
    CHECK(gsl_cdf_chisq_Q(with, freedom) > 1e-3, "not flat");
    CHECK(gsl_cdf_chisq_Q(without, freedom) < 1e-12, "flat without it");
}

int main(void)
{
    if (ss_rng_open_counted(&rng, &err))
        fixture_failed();
    RUN(all_is_as_the_twin_finds_it);
    RUN(what_is_drawn_has_the_density);
    RUN(the_way_back_has_the_opposite_factor);
    RUN(the_factor_makes_a_walk_flat);
    ss_rng_close(&rng);
    return DONE();
}
