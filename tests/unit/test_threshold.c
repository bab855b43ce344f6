/* The largest cost that is accepted, against the rule that it stands for. */
#include "search/threshold.h"

#include <math.h>

#include "base/rng.h"
#include "check.h"

static ss_error err;

/* Exactly where the rule turns. */
static bool turns_at(double u, double lh, double beta, ss_time current, ss_time at)
{
    double log_u = log(u);
    bool here = at < 0 || ss_threshold_accepts(log_u, lh, beta, current, at);
    bool next =
        at < SS_TIME_MAX && ss_threshold_accepts(log_u, lh, beta, current, at < 0 ? 0 : at + 1);
    return here && !next;
}

static void chance_is_what_metropolis_says(void)
{
    /* 2 s against 1 s at beta 1/s is accepted with chance 1/e */
    ss_time one = SS_PICOSECONDS;
    const double e = exp(1);
    CHECK(ss_threshold(0.999 / e, 0, 1, one) >= 2 * one);
    CHECK(ss_threshold(1.001 / e, 0, 1, one) < 2 * one);
    /* and twice as often with q(old) = 2 q(new) */
    CHECK(ss_threshold(1.999 / e, log(2), 1, one) >= 2 * one);
    CHECK(ss_threshold(2.001 / e, log(2), 1, one) < 2 * one);
}

static void what_costs_the_same_is_accepted_and_no_uniform_number_keeps_it_out(void)
{
    double last = 1 - 0x1p-53; /* the largest that is drawn */
    static const double beta[] = {0, 1e-300, 0.05, 7, 1e6, 1e300};
    for (int b = 0; b < 6; b++)
        for (ss_time current = 0; current < 4; current++) {
            ss_time at = ss_threshold(last, 0, beta[b], current * 123456789);
            CHECK(at >= current * 123456789, "beta %g", beta[b]);
        }
}

static void a_steep_beta_accepts_nothing_worse_and_a_flat_one_everything(void)
{
    CHECK(ss_threshold(0.5, 0, 1e300, 77) == 77);
    CHECK(ss_threshold(0.5, 0, 0, 77) == SS_TIME_MAX);
    CHECK(ss_threshold(0.5, -1, 0, 77) == -1, "e^-1 is below a half");
    CHECK(ss_threshold(0.5, -1, 1e-9, 77) == -1, "77 ps are too short a way");
}

static void a_uniform_number_of_nought_accepts_everything(void)
{
    CHECK(ss_threshold(0, 0, 5, 1000) == SS_TIME_MAX);
    CHECK(ss_threshold(0, -700, 5, 1000) == SS_TIME_MAX);
    CHECK(ss_threshold(0, 0, 1e308, SS_TIME_MAX) == SS_TIME_MAX);
}

static void borders_of_time_are_met(void)
{
    double u = exp(-3);
    CHECK(ss_threshold(u, 0, 1e-20, 5) == SS_TIME_MAX, "there is no time so long");
    CHECK(turns_at(u, 0, 1e-6, SS_TIME_MAX - 5, ss_threshold(u, 0, 1e-6, SS_TIME_MAX - 5)));
    CHECK(turns_at(0.5, 0, 1e-7, 0, ss_threshold(0.5, 0, 1e-7, 0)));
    CHECK(turns_at(0.5, -800, 1e12, 0, ss_threshold(0.5, -800, 1e12, 0)));
    CHECK(ss_threshold(0.5, -800, 1e12, 0) == -1);
    CHECK(ss_threshold(0.5, -800, 1e12, 900) >= 99, "900 ps less is worth e^900");
    CHECK(ss_threshold(0.5, -INFINITY, 1e12, 900) == -1);
    CHECK(ss_threshold(0.5, 800, 1e-5, 900) == SS_TIME_MAX);
}

static void it_is_where_the_rule_turns_to_the_picosecond(void)
{
    enum { CASES = 200000 };
    ss_rng rng;
    CHECK_OK(ss_rng_open(&rng, 1, "threshold", &err));
    for (int i = 0; i < CASES; i++) {
        double u = ss_rng_uniform(&rng);
        if (ss_rng_below(&rng, 4) == 0)
            u = pow(u, 40); /* very small ones too */
        double lh = ss_rng_below(&rng, 2) ? 0 : (ss_rng_uniform(&rng) - 0.5) * 500;
        double beta = exp((ss_rng_uniform(&rng) - 0.5) * 80);
        ss_time current = (ss_time)(ss_rng_bits(&rng) >> (1 + ss_rng_below(&rng, 62)));
        ss_time at = ss_threshold(u, lh, beta, current);
        CHECK(turns_at(u, lh, beta, current, at), "u %a, hastings %a, beta %a, current %lld: %lld",
              u, lh, beta, (long long)current, (long long)at);
    }
    ss_rng_close(&rng);
}

/* Costs right at the border, where u is made so that exact numbers are equal: whatever rounding says
 * of a cost, the threshold says the same. */
static void rounding_at_the_border_is_that_of_the_rule(void)
{
    int odd = 0;
    for (int i = 1; i <= 20000; i++) {
        ss_time current = 1000003 * (ss_time)i, more = 17 * (ss_time)i * i + 3;
        double beta = 1e5 / i, u = exp(-beta * ss_time_seconds(more));
        ss_time at = ss_threshold(u, 0, beta, current);
        for (ss_time p = current + more - 2; p <= current + more + 2; p++)
            CHECK((p <= at) == ss_threshold_accepts(log(u), 0, beta, current, p), "case %d", i);
        odd += at != current + more;
    }
    CHECK(odd > 0 && odd < 20000, "both sides of the border are seen: %d", odd);
}

int main(void)
{
    RUN(chance_is_what_metropolis_says);
    RUN(what_costs_the_same_is_accepted_and_no_uniform_number_keeps_it_out);
    RUN(a_steep_beta_accepts_nothing_worse_and_a_flat_one_everything);
    RUN(a_uniform_number_of_nought_accepts_everything);
    RUN(borders_of_time_are_met);
    RUN(it_is_where_the_rule_turns_to_the_picosecond);
    RUN(rounding_at_the_border_is_that_of_the_rule);
    return DONE();
}
