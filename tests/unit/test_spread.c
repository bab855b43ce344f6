/* Means, quantiles and intervals of repetitions against what is known of them. */
#include "search/spread.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/hash.h"
#include "check.h"
#include "graph/chance.h"

static ss_error err;

static double normal(uint64_t i)
{
    return gsl_cdf_ugaussian_Pinv(ss_unit_of(ss_hash_u64(21, i)));
}

static void what_makes_no_sense_is_refused(void)
{
    ss_spread s;
    ss_paired p;
    double x[2] = {1, 2};
    CHECK(ss_spread_of(x, 0, 0.9, &s, &err) == SS_EINVAL, "no values");
    CHECK(ss_spread_of(x, 2, 1, &s, &err) == SS_EINVAL, "certainty");
    CHECK_TEXT(err.text, "a confidence of 1");
    CHECK(ss_paired_of(x, x, 2, 0, &p, &err) == SS_EINVAL, "none");
}

static void few_values_say_what_they_can(void)
{
    ss_spread s;
    CHECK_OK(ss_spread_of((double[]){3.5}, 1, 0.95, &s, &err));
    CHECK(s.mean == 3.5 && isnan(s.deviation) && isnan(s.mean_low) && isnan(s.median_high) &&
              ss_spread_quantile(&s, 0.9) == 3.5,
          "mean %g", s.mean);
    ss_spread_free(&s);
    CHECK_OK(ss_spread_of((double[]){4, 1, 2, 3, 5}, 5, 0.95, &s, &err));
    CHECK(s.mean == 3 && s.least == 1 && s.most == 5 && isnan(s.median_low), "five are too few");
    CHECK(ss_spread_quantile(&s, 0.25) == 2 && ss_spread_quantile(&s, 0.375) == 2.5, "quantiles");
    CHECK(fabs(s.mean_high - 3 - 2.7764451051977987 * sqrt(2.5 / 5)) < 1e-12, "%.17g", s.mean_high);
    ss_spread_free(&s);
    CHECK_OK(ss_spread_of((double[]){6, 4, 1, 2, 3, 5}, 6, 0.95, &s, &err));
    CHECK(s.median_low == 1 && s.median_high == 6, "six are enough: 2 / 64 lie outside");
    ss_spread_free(&s);
    ss_paired p;
    CHECK_OK(ss_paired_of((double[]){1, 2, 3}, (double[]){7, 7, 7}, 3, 0.95, &p, &err));
    CHECK(isnan(p.correlation) && p.mean == -5 && p.first_less == 3, "one is always the same");
}

/* Of many samples the share whose interval holds the true value is the confidence, or more. */
static void intervals_hold_the_true_value_as_often_as_they_say(void)
{
    enum { SAMPLES = 4000, N = 15 };
    double x[N];
    int mean = 0, median = 0;
    for (int k = 0; k < SAMPLES; k++) {
        ss_spread s;
        for (int i = 0; i < N; i++)
            x[i] = 2 + 0.3 * normal((uint64_t)(k * N + i));
        CHECK_OK(ss_spread_of(x, N, 0.9, &s, &err));
        mean += s.mean_low <= 2 && 2 <= s.mean_high;
        median += s.median_low <= 2 && 2 <= s.median_high;
        ss_spread_free(&s);
    }
    double off = 4 * sqrt(0.9 * 0.1 * SAMPLES);
    CHECK(fabs(mean - 0.9 * SAMPLES) < off, "of the mean: %d of %d", mean, SAMPLES);
    /* from the 4th to the 12th of 15: 1 - 2 P(Bin(15, 1/2) <= 3) */
    double exact = 1 - 2 * gsl_cdf_binomial_P(3, 0.5, N);
    CHECK(exact >= 0.9 && fabs(median - exact * SAMPLES) < off, "of the median: %d, not %g", median,
          exact * SAMPLES);
}

/* Luck that two share is in neither their difference nor its interval. */
static void what_two_share_drops_out(void)
{
    enum { N = 200 };
    double a[N], b[N];
    for (uint64_t i = 0; i < N; i++) {
        a[i] = 10 + normal(i) + 0.1 * normal(1000 + i);
        b[i] = 10.05 + normal(i) + 0.1 * normal(2000 + i);
    }
    ss_paired p;
    ss_spread s;
    CHECK_OK(ss_paired_of(a, b, N, 0.95, &p, &err));
    CHECK_OK(ss_spread_of(a, N, 0.95, &s, &err));
    CHECK(p.correlation > 0.97 && p.high - p.low < (s.mean_high - s.mean_low) / 4,
          "correlation %g, half %g", p.correlation, (p.high - p.low) / 2);
    CHECK(p.low < -0.05 && -0.05 < p.high && p.high < 0 && p.first_less + p.second_less == N,
          "from %g to %g", p.low, p.high);
    ss_spread_free(&s);
}

int main(void)
{
    RUN(what_makes_no_sense_is_refused);
    RUN(few_values_say_what_they_can);
    RUN(intervals_hold_the_true_value_as_often_as_they_say);
    RUN(what_two_share_drops_out);
    return DONE();
}
