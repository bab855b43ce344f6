/* Whether standard errors mean what they say: over tables made from known links, with noise that is a
 * factor and with rows that are far off, the known values lie within an error, and within the two that
 * Student's t allows, as often as they should; and robust and plain least squares agree where nothing
 * is far off.
 *
 *     prop_fit [TABLES [SEED]]
 */
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>

#include "base/rng.h"
#include "check.h"
#include "simulate/fit.h"

enum { SIZES = 25, MOST_ROWS = 2 * SIZES };
static const double CHANCE = 1e-7; /* of a count that makes a claim fail though it holds */

static ss_error err;
static ss_rng rng;
static uint32_t tables = 300;
static uint64_t seed = 9201;

static const double noises[] = {0.02, 0.05, 0.15};

typedef struct known {
    double value[SS_FIT_ESTIMATES];
    ss_sample row[MOST_ROWS];
    uint32_t n;
} known;

static double log_uniform(double least, double most)
{
    return exp(gsl_ran_flat(rng.gsl, log(least), log(most)));
}

/* Sizes from a hundredth of the one that half of the bandwidth comes at to a hundred times that. */
static void make_table(known *k, bool both, double noise, double far_off)
{
    double latency = log_uniform(1e-6, 5e-5), rate = log_uniform(1e9, 4e11);
    double half = both ? latency * rate * log_uniform(0.3, 3) : 0;
    k->value[SS_FIT_LATENCY] = latency;
    k->value[SS_FIT_BANDWIDTH] = rate;
    k->value[SS_FIT_HALF] = both ? half : latency * rate;
    k->n = both ? 2 * SIZES : SIZES;
    for (uint32_t i = 0; i < k->n; i++) {
        double place = (both ? i / 2 : i) / (SIZES - 1.0);
        bool streamed = both && i % 2;
        double bytes = ceil(latency * rate * pow(10, 4 * place - 2));
        double seconds = (streamed ? 0 : latency) + (bytes + half) / rate;
        seconds *= exp(gsl_ran_gaussian(rng.gsl, noise));
        if (ss_rng_uniform(&rng) < far_off)
            seconds *= log_uniform(3, 10);
        k->row[i] = (ss_sample){bytes, seconds, 1, streamed};
    }
}

/* The count lies where a chance between least and most puts it. */
static bool as_often(uint32_t count, uint32_t of, double least, double most)
{
    return gsl_cdf_binomial_P(count, least, of) > CHANCE &&
           gsl_cdf_binomial_Q(count ? count - 1 : 0, most, of) > CHANCE;
}

/* With no rows far off, and with a fifth: an M-estimator's errors are exact for many rows, and with 25
 * a little short. */
static void known_values_lie_within_their_errors_as_often_as_they_should(void)
{
    static const char *const names[] = {"latency", "bandwidth", "half size"};
    static const double shares[] = {0, 0.1, 0.2};
    for (int both = 0; both < 2; both++)
        for (int share = 0; share < 3; share++) {
            uint32_t all = 0, one[SS_FIT_ESTIMATES] = {0}, two[SS_FIT_ESTIMATES] = {0}, bent = 0;
            for (uint32_t t = 0; t < 3 * tables; t++) {
                known k;
                ss_fit_options o = {.least_squares = false};
                ss_fit *f;
                make_table(&k, both, noises[t % 3], shares[share]);
                CHECK_OK(ss_pattern_find("p2p", NULL, 0, 0, &o.pattern, &err));
                CHECK_OK(ss_fit_new(k.row, k.n, &o, &f, NULL, &err));
                double within_one = gsl_cdf_tdist_Pinv(0.84, f->freedom);
                double within_two = gsl_cdf_tdist_Pinv(0.975, f->freedom);
                for (int e = 0; e < SS_FIT_ESTIMATES; e++) {
                    double off = fabs(f->of[e].value - k.value[e]) / f->of[e].error;
                    one[e] += off < within_one;
                    two[e] += off < within_two;
                }
                bent += f->bent;
                all++;
                ss_fit_free(f);
            }
            printf("  %s rows, %.0f %% far off, seed %llu:", both ? "both kinds of" : "one kind of",
                   100 * shares[share], (unsigned long long)seed);
            for (int e = 0; e < SS_FIT_ESTIMATES; e++)
                printf(" %s %.3f of 0.68, %.3f of 0.95;", names[e], one[e] / (double)all,
                       two[e] / (double)all);
            printf(" bent %.4f\n", bent / (double)all);
            for (int e = 0; e < SS_FIT_ESTIMATES; e++) {
                CHECK(as_often(one[e], all, 0.65, 0.72), "%s: %u of %u within one", names[e],
                      one[e], all);
                CHECK(as_often(two[e], all, 0.93, 0.96), "%s: %u of %u within two", names[e],
                      two[e], all);
            }
            CHECK(as_often(bent, all, 0, 0.01), "%u of %u are called bent", bent, all);
        }
}

/* Least squares are efficient: on clean rows the robust estimate is within a part of an error of it,
 * and its errors are hardly larger. */
static void where_nothing_is_far_off_robust_and_plain_agree(void)
{
    double wider = 0, apart = 0;
    for (uint32_t t = 0; t < tables; t++) {
        known k;
        ss_fit_options o = {.least_squares = false};
        ss_fit *robust, *plain;
        make_table(&k, t % 2, noises[t % 3], 0);
        CHECK_OK(ss_pattern_find("p2p", NULL, 0, 0, &o.pattern, &err));
        CHECK_OK(ss_fit_new(k.row, k.n, &o, &robust, NULL, &err));
        o.least_squares = true;
        CHECK_OK(ss_fit_new(k.row, k.n, &o, &plain, NULL, &err));
        for (int e = 0; e < SS_FIT_ESTIMATES; e++) {
            wider += robust->of[e].error / plain->of[e].error / (3 * tables);
            apart += pow((robust->of[e].value - plain->of[e].value) / plain->of[e].error, 2) /
                     (3 * tables);
        }
        ss_fit_free(robust);
        ss_fit_free(plain);
    }
    printf("  errors %.3f times as wide, %.3f errors apart (root mean square)\n", wider,
           sqrt(apart));
    CHECK(wider > 0.95 && wider < 1.15, "%g", wider);
    CHECK(sqrt(apart) < 0.5, "%g", sqrt(apart));
}

/* A table in another order, or in other units, gives the same. */
static void order_and_units_do_not_matter(void)
{
    for (uint32_t t = 0; t < tables / 10 + 1; t++) {
        known k;
        ss_fit_options o = {.least_squares = false};
        ss_fit *first, *second;
        make_table(&k, t % 2, 0.05, 0.1);
        CHECK_OK(ss_pattern_find("p2p", NULL, 0, 0, &o.pattern, &err));
        CHECK_OK(ss_fit_new(k.row, k.n, &o, &first, NULL, &err));
        for (uint32_t i = k.n - 1; i; i--) {
            uint32_t j = (uint32_t)ss_rng_below(&rng, i + 1);
            ss_sample s = k.row[i];
            k.row[i] = k.row[j];
            k.row[j] = s;
        }
        for (uint32_t i = 0; i < k.n; i++)
            k.row[i].seconds *= 1000;
        CHECK_OK(ss_fit_new(k.row, k.n, &o, &second, NULL, &err));
        for (int e = 0; e < SS_FIT_ESTIMATES; e++) {
            double factor = e == SS_FIT_LATENCY ? 1000 : e == SS_FIT_BANDWIDTH ? 1e-3 : 1;
            CHECK(fabs(second->of[e].value / first->of[e].value / factor - 1) < 1e-6, "%g, %g",
                  first->of[e].value, second->of[e].value);
            CHECK(fabs(second->of[e].error / first->of[e].error / factor - 1) < 1e-5, "%g, %g",
                  first->of[e].error, second->of[e].error);
        }
        CHECK(first->outliers == second->outliers, "%u, %u", first->outliers, second->outliers);
        ss_fit_free(first);
        ss_fit_free(second);
    }
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    if (argc > 1)
        tables = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    if (ss_rng_open(&rng, seed, "prop_fit", &err))
        return 99;
    RUN(known_values_lie_within_their_errors_as_often_as_they_should);
    RUN(where_nothing_is_far_off_robust_and_plain_agree);
    RUN(order_and_units_do_not_matter);
    ss_rng_close(&rng);
    return DONE();
}
