/* How often a chain is where: on a space small enough to list, three operators on two devices, the
 * visits follow the law that theory has for them.
 *
 * A proposal draws a configuration c with chance q(c), whatever is there.  Detailed balance then
 * gives, with the Hastings factor, exp(-beta cost), and without it q exp(-beta cost), q being the
 * product over operators: what is drawn more often is visited more often.  Both are tested by
 * chi-square with fixed seeds, on samples further apart than the chain remembers, which is measured;
 * and each chain must fail the test for the other's law.
 *
 * Costs are those of real simulations, of all states, looked up. */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "base/mem.h"
#include "check.h"
#include "networks.h"
#include "search/chain.h"
#include "search/score_inside.h"

enum { OPS = 3, CONFIGS = 10, STATES = CONFIGS * CONFIGS * CONFIGS, STEPS = 1500000, LAGS = 400 };

static ss_error err;

/* ---- the states ---------------------------------------------------------------------------- */

/* Whole on either device; samples or channels in two, on four pairs of devices. */
static uint32_t config_index(const ss_config *c)
{
    if (c->parts == 1)
        return c->device[0].i - 1;
    return (c->degree[0] == 2 ? 2 : 6) + 2 * (c->device[0].i - 1) + (c->device[1].i - 1);
}

static void config_of(uint32_t index, ss_config *c, ss_device *device)
{
    *c = (ss_config){.degree = {1, 1, 1, 1, 1}, .parts = index < 2 ? 1 : 2, .device = device};
    if (index < 2) {
        device[0].i = index + 1;
        return;
    }
    c->degree[index < 6 ? 0 : 1] = 2;
    device[0].i = (index - 2) % 4 / 2 + 1;
    device[1].i = (index - 2) % 2 + 1;
}

static uint32_t state_of(const ss_strategy *s)
{
    uint32_t state = 0;
    for (uint32_t op = OPS; op >= 1; op--)
        state = state * CONFIGS + config_index(&s->config[op]);
    return state;
}

static ss_time cost[STATES];
static double log_q[STATES];
static uint32_t parts[STATES];

/* ---- a way of scoring that looks up -------------------------------------------------------- */

static ss_status look_open(ss_scorer *s, ss_error *e)
{
    (void)s, (void)e;
    return SS_OK;
}

static void look_close(ss_scorer *s)
{
    (void)s;
}

static ss_status look_start(ss_scorer *s, ss_score *out, ss_error *e)
{
    (void)e;
    *out = (ss_score){.cost = cost[state_of(s->next)]};
    return SS_OK;
}

static ss_status look_attempt(ss_scorer *s, ss_time bound, ss_score *out, ss_error *e)
{
    (void)bound;
    return look_start(s, out, e);
}

static ss_status look_accept(ss_scorer *s, ss_error *e)
{
    (void)s, (void)e;
    return SS_OK;
}

static void look_reject(ss_scorer *s)
{
    (void)s;
}

static const ss_score_kind look_up = {"look up",    look_open,   look_close, look_start,
                                      look_attempt, look_accept, look_reject};

/* ---- the problem --------------------------------------------------------------------------- */

static ss_model *model;
static ss_topology *topology;
static ss_costs *costs;
static ss_strategy *start;
static ss_space_options moves;

/* Two dense layers with one weight, and an activation between them. */
static void make_problem(void)
{
    model = net_new("three");
    ss_tensor x = net_input(model, "x", SS_F32, 2, (int64_t[]){64, 512});
    x = net_out(model,
                net_op(model, (net_place){"w", 1}, "linear", "fc1", &x, 1, "out", 512, NULL));
    x = net_out(model, net_op(model, (net_place){0}, "relu", "act", &x, 1, NULL));
    net_op(model, (net_place){"w", 2}, "linear", "fc2", &x, 1, "out", 512, NULL);
    topology = net_cluster(1, 2, 4e9, 1e9, 1e-6);
    net_must(ss_costs_new(&costs, &err), &err);
    net_must(ss_costs_add_roofline(costs, NULL, &err), &err);
    net_must(ss_strategy_new(model, topology, &start, &err), &err);
    moves = ss_space_options_start();
    memset(moves.weight, 0, sizeof moves.weight);
    moves.weight[SS_MOVE_FREE] = 3; /* q is from 1/16 to 3/16 */
    moves.weight[SS_MOVE_PLACE] = 1;
}

static void free_problem(void)
{
    ss_strategy_free(start);
    ss_costs_free(costs);
    ss_topology_free(topology);
    ss_model_free(model);
}

static void cost_all_states(void)
{
    ss_score_options o = ss_score_options_start();
    o.way = SS_SCORE_FULL;
    ss_scorer *s;
    ss_space *space;
    ss_score score;
    CHECK_OK(ss_scorer_new(model, topology, costs, &o, &s, &err));
    CHECK_OK(ss_space_new(start, &moves, &space, &err));
    CHECK_OK(ss_scorer_start(s, start, &score, &err));
    for (uint32_t state = 0; state < STATES; state++) {
        ss_choice c[OPS];
        ss_device device[OPS][2];
        log_q[state] = parts[state] = 0;
        for (uint32_t k = 0, rest = state; k < OPS; k++, rest /= CONFIGS) {
            c[k].op.i = k + 1;
            config_of(rest % CONFIGS, &c[k].config, device[k]);
            log_q[state] += ss_space_log_density(space, c[k].op, &c[k].config);
            parts[state] += c[k].config.parts;
        }
        CHECK_OK(ss_scorer_try(s, c, OPS, SS_TIME_MAX, &score, &err));
        CHECK_OK(ss_scorer_accept(s, &err));
        CHECK(state_of(ss_scorer_strategy(s)) == state);
        cost[state] = score.cost;
    }
    ss_space_free(space);
    ss_scorer_free(s);
}

/* ---- walking and counting ------------------------------------------------------------------ */

static double no_time(void *context)
{
    (void)context;
    return 0;
}

static uint16_t visited[STEPS]; /* state after each step */

static void walk(bool hastings, double group, double beta)
{
    ss_search_options o = ss_search_options_start();
    o.space = moves;
    o.space.hastings = hastings;
    o.space.group = group;
    o.beta_per_s = beta;
    o.proposals = STEPS;
    ss_scorer *s;
    ss_space *space;
    ss_chain *c;
    ss_chain_clock clock = {no_time, NULL};
    CHECK_OK(ss_scorer_new_kind(model, topology, costs, &o.score, &look_up, &s, &err));
    CHECK_OK(ss_space_new(start, &o.space, &space, &err));
    CHECK_OK(ss_chain_new(0, &o, s, space, start, &c, &err));
    for (uint32_t i = 0; i < STEPS; i++) {
        CHECK_OK(ss_chain_step(c, &clock, NULL, &err));
        visited[i] = (uint16_t)state_of(ss_scorer_strategy(s));
    }
    ss_chain_free(c);
}

/* Of a number that each state has: 1/2 + the sum of its correlations, until they are lost in the
 * noise (Sokal's window: 5 times the sum). */
static double autocorrelation_time(const double *of_state)
{
    double mean = 0, variance = 0, tau = 0.5;
    for (uint32_t i = 0; i < STEPS; i++)
        mean += of_state[visited[i]] / STEPS;
    for (uint32_t i = 0; i < STEPS; i++)
        variance += (of_state[visited[i]] - mean) * (of_state[visited[i]] - mean) / STEPS;
    for (uint32_t lag = 1; lag < LAGS && lag < 5 * tau; lag++) {
        double sum = 0;
        for (uint32_t i = lag; i < STEPS; i++)
            sum += (of_state[visited[i]] - mean) * (of_state[visited[i - lag]] - mean);
        tau += sum / (STEPS - lag) / variance;
    }
    return tau;
}

/* Of cost, and of how long it stays in each of an operator's two commonest forms. */
static uint32_t thinning(void)
{
    static double number[STATES];
    double most = 0;
    for (uint32_t what = 0; what <= 2 * OPS; what++) {
        for (uint32_t s = 0; s < STATES; s++) {
            uint32_t config = s;
            for (uint32_t k = 1; k < (what + 1) / 2; k++)
                config /= CONFIGS;
            config %= CONFIGS;
            number[s] = what == 0 ? (double)cost[s] : what % 2 ? config < 2 : config % 2;
        }
        double tau = autocorrelation_time(number);
        most = tau > most ? tau : most;
    }
    return (uint32_t)ceil(5 * most);
}

/* Expected shares: exp(-beta cost), times q where `with_q`. */
static void law(double beta, bool with_q, double *share)
{
    double sum = 0;
    for (uint32_t s = 0; s < STATES; s++) {
        share[s] = exp(-beta * ss_time_seconds(cost[s] - cost[0]) + (with_q ? log_q[s] : 0));
        sum += share[s];
    }
    for (uint32_t s = 0; s < STATES; s++)
        share[s] /= sum;
}

/* The chance of visits at least as far from the law; cells with few expected are put together. */
static double chance_of(const double *share, uint32_t apart)
{
    static double count[STATES];
    double n = 0, chi = 0, rest = 0, rest_count = 0, cells = 0;
    memset(count, 0, sizeof count);
    for (uint32_t i = apart - 1; i < STEPS; i += apart, n++)
        count[visited[i]]++;
    for (uint32_t s = 0; s < STATES; s++) {
        rest += n * share[s];
        rest_count += count[s];
        if (rest < 10)
            continue;
        chi += (rest_count - rest) * (rest_count - rest) / rest;
        rest = rest_count = 0;
        cells++;
    }
    if (rest > 0)
        chi += (rest_count - rest) * (rest_count - rest) / rest;
    return gsl_cdf_chisq_Q(chi, cells - 1 + (rest > 0));
}

static double mean_parts(const double *share)
{
    double sum = 0;
    for (uint32_t s = 0; s < STATES; s++)
        sum += share[s] * parts[s];
    return sum;
}

static double visited_parts(void)
{
    double sum = 0;
    for (uint32_t i = 0; i < STEPS; i++)
        sum += parts[visited[i]];
    return sum / STEPS;
}

/* Cost apart enough that the law is no flat one. */
static double steep_beta(void)
{
    ss_time least = SS_TIME_MAX, most = 0;
    for (uint32_t s = 0; s < STATES; s++) {
        least = cost[s] < least ? cost[s] : least;
        most = cost[s] > most ? cost[s] : most;
    }
    return 5 / ss_time_seconds(most - least);
}

/* `own` is its law, `other` that of the other rule. */
static void follows(bool hastings, double group)
{
    static double own[STATES], other[STATES];
    double beta = steep_beta();
    walk(hastings, group, beta);
    if (check_this_failed)
        return;
    uint32_t apart = thinning();
    law(beta, !hastings, own);
    law(beta, hastings, other);
    double yes = chance_of(own, apart), no = chance_of(other, apart);
    printf(
        "  hastings %s, groups %g: every %uth of %d steps; p %.3f of its law, %.3g of the other; "
        "parts %.4f, wanted %.4f, other %.4f\n",
        hastings ? "on" : "off", group, apart, STEPS, yes, no, visited_parts(), mean_parts(own),
        mean_parts(other));
    CHECK(apart >= 10 && apart < LAGS, "every %u", apart);
    CHECK(yes > 0.001, "chi-square says %g", yes);
    CHECK(no < 1e-9, "the laws are told apart: %g", no);
    CHECK(fabs(visited_parts() - mean_parts(own)) < 0.02, "as many parts as the law has");
    CHECK(hastings ? mean_parts(own) > mean_parts(other) + 0.05
                   : mean_parts(own) < mean_parts(other) - 0.05,
          "without the factor, configurations of many parts are too rare, as each is drawn rarely");
}

static void visits_follow_exp_of_cost_with_the_factor(void)
{
    follows(true, 0);
}

static void groups_have_their_way_back(void)
{
    follows(true, 0.4);
}

static void without_the_factor_visits_are_weighted_by_how_often_a_state_is_drawn(void)
{
    follows(false, 0);
}

int main(void)
{
    make_problem();
    RUN(cost_all_states);
    RUN(visits_follow_exp_of_cost_with_the_factor);
    RUN(groups_have_their_way_back);
    RUN(without_the_factor_visits_are_weighted_by_how_often_a_state_is_drawn);
    free_problem();
    return DONE();
}
