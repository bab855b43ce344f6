/* From measured times of parts to the constants of a roofline: what was put in comes out, and nothing that is not in the times. */
#include "simulate/roofline_fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"

enum { MOST = 1200 };

static const double PEAK = 5e10, BANDWIDTH = 1e10;

static double between(ss_rng *r, double least, double most) /* evenly in logarithms */
{
    return least * pow(most / least, ss_rng_uniform(r));
}

static double normal(ss_rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += ss_rng_uniform(r);
    return sum;
}

/* Constants of some device. */
static ss_roofline draw(ss_rng *r)
{
    ss_roofline c = {.kind = "some", .source = "the test"};
    c.launch_s = between(r, 1e-6, 1e-5);
    c.flop_efficiency = between(r, 0.2, 2);
    c.conv_efficiency = between(r, 0.2, 2);
    c.conv_backward_efficiency = between(r, 0.2, 2);
    c.operand_efficiency = between(r, 0.3, 3);
    c.memory_efficiency = between(r, 0.3, 3);
    c.half_flop = between(r, 1e5, 1e7);
    return c;
}

/* Parts of the sorts from `first` to `last`, small and large, short of arithmetic and not. */
static void make(ss_roofline_row *row, uint32_t n, const ss_roofline *c, int first, int last,
                 double noise, double outliers, ss_rng *r)
{
    for (uint32_t i = 0; i < n; i++) {
        ss_roofline_row *x = &row[i];
        *x = (ss_roofline_row){.peak = PEAK, .bandwidth = BANDWIDTH};
        x->work.sort = first + (int)(i % (uint32_t)(last - first + 1));
        x->work.bytes = between(r, 1e3, 1e8);
        x->work.flops = x->work.bytes * (x->work.sort == SS_WORK_STREAM ? between(r, 0.1, 2)
                                                                        : between(r, 0.2, 300));
        x->seconds = ss_roofline_seconds(c, &x->work, PEAK, BANDWIDTH) * exp(noise * normal(r));
        if (ss_rng_uniform(r) < outliers)
            x->seconds *= between(r, 3, 100);
    }
}

static const ss_roofline *builtin(void)
{
    return ss_roofline_builtin("*");
}

static void constants_that_times_were_made_with_are_found(void)
{
    static ss_roofline_row row[MOST];
    ss_rng r;
    ss_error err;
    uint32_t within = 0, all = 0;
    CHECK_OK(ss_rng_open(&r, 20, "constants", &err));
    for (int turn = 0; turn < 20; turn++) {
        ss_roofline c = draw(&r);
        ss_roofline_fit fit;
        make(row, MOST, &c, SS_WORK_STREAM, SS_WORK_CONV_BACKWARD, 0.1, 0.05, &r);
        CHECK_OK(ss_roofline_fit_new(row, MOST, builtin(), &fit, &err));
        CHECK(fit.rows == MOST && fit.spread > 0.08 && fit.spread < 0.13, "turn %d: %g", turn,
              fit.spread);
        CHECK(fit.outliers > MOST / 40 && fit.outliers < MOST / 14, "turn %d: %u", turn,
              fit.outliers);
        for (int k = 0; k < SS_ROOFLINE_CONSTANTS; k++) {
            double found = ss_roofline_get(&fit.constants, k), wanted = ss_roofline_get(&c, k);
            CHECK(fit.told[k] == SS_ROOFLINE_FITTED, "turn %d: %s is %s", turn,
                  ss_roofline_describe(k)->name, ss_roofline_told_name(fit.told[k]));
            CHECK(fabs(log(found / wanted)) < 0.15, "turn %d: %s is %g, not %g", turn,
                  ss_roofline_describe(k)->name, found, wanted);
            CHECK(fit.error[k] > 0 && fit.error[k] < 0.1 * found, "turn %d: %s has an error of %g",
                  turn, ss_roofline_describe(k)->name, fit.error[k]);
            within += fabs(found - wanted) <= 2 * fit.error[k];
            all++;
        }
    }
    ss_rng_close(&r);
    /* of normal errors 95 of 100 */
    CHECK(within >= 0.88 * all && within < all, "%u of %u within two errors", within, all);
}

static void exact_times_give_the_constants_exactly(void)
{
    static ss_roofline_row row[MOST];
    ss_rng r;
    ss_error err;
    CHECK_OK(ss_rng_open(&r, 21, "exact", &err));
    for (int turn = 0; turn < 8; turn++) {
        ss_roofline c = draw(&r);
        ss_roofline_fit fit;
        make(row, 400, &c, SS_WORK_STREAM, SS_WORK_CONV_BACKWARD, 0, 0, &r);
        CHECK_OK(ss_roofline_fit_new(row, 400, builtin(), &fit, &err));
        for (int k = 0; k < SS_ROOFLINE_CONSTANTS; k++)
            CHECK(fabs(ss_roofline_get(&fit.constants, k) / ss_roofline_get(&c, k) - 1) < 1e-5,
                  "turn %d: %s is %g, not %g", turn, ss_roofline_describe(k)->name,
                  ss_roofline_get(&fit.constants, k), ss_roofline_get(&c, k));
    }
    ss_rng_close(&r);
}

static void what_is_not_in_the_times_keeps_the_builtin_value(void)
{
    static ss_roofline_row row[MOST];
    ss_rng r;
    ss_error err;
    CHECK_OK(ss_rng_open(&r, 22, "nothing", &err));
    ss_roofline c = draw(&r);
    ss_roofline_fit fit;
    make(row, 600, &c, SS_WORK_STREAM, SS_WORK_PRODUCT, 0.1, 0, &r);
    CHECK_OK(ss_roofline_fit_new(row, 600, builtin(), &fit, &err));
    for (int k = SS_ROOFLINE_CONV; k <= SS_ROOFLINE_CONV_BACKWARD; k++)
        CHECK(fit.told[k] == SS_ROOFLINE_KEPT && isnan(fit.error[k]) &&
                  ss_roofline_get(&fit.constants, k) == ss_roofline_get(builtin(), k),
              "no convolutions");
    CHECK(fit.told[SS_ROOFLINE_FLOP] == SS_ROOFLINE_FITTED, "products");

    make(row, 600, &c, SS_WORK_STREAM, SS_WORK_STREAM, 0.1, 0, &r);
    for (int i = 0; i < 600; i++)
        row[i].work.flops = 0;
    CHECK_OK(ss_roofline_fit_new(row, 600, builtin(), &fit, &err));
    for (int k = 0; k < SS_ROOFLINE_CONSTANTS; k++)
        CHECK(fit.told[k] == (k == SS_ROOFLINE_LAUNCH || k == SS_ROOFLINE_MEMORY
                                  ? SS_ROOFLINE_FITTED
                                  : SS_ROOFLINE_KEPT),
              "streams alone: %s", ss_roofline_describe(k)->name);

    /* products that all compute for long: their operands are never waited for, and the built-in efficiency is as good as any */
    make(row, 600, &c, SS_WORK_PRODUCT, SS_WORK_PRODUCT, 0.1, 0, &r);
    for (int i = 0; i < 600; i++) {
        row[i].work = (ss_roofline_work){SS_WORK_PRODUCT, between(&r, 1e8, 1e11), 1e4};
        row[i].seconds =
            ss_roofline_seconds(&c, &row[i].work, PEAK, BANDWIDTH) * exp(0.1 * normal(&r));
    }
    CHECK_OK(ss_roofline_fit_new(row, 600, builtin(), &fit, &err));
    CHECK(fit.told[SS_ROOFLINE_OPERAND] == SS_ROOFLINE_KEPT &&
              fit.constants.operand_efficiency == builtin()->operand_efficiency,
          "%s, %g", ss_roofline_told_name(fit.told[SS_ROOFLINE_OPERAND]),
          fit.constants.operand_efficiency);
    CHECK(fit.told[SS_ROOFLINE_FLOP] == SS_ROOFLINE_FITTED &&
              fabs(fit.constants.flop_efficiency / c.flop_efficiency - 1) < 0.05,
          "%g, not %g", fit.constants.flop_efficiency, c.flop_efficiency);
    ss_rng_close(&r);
}

/* No launch: the built-in one would be longer than most of these times. */
static void nothing_is_nothing_and_not_the_builtin_value(void)
{
    static ss_roofline_row row[MOST];
    ss_rng r;
    ss_error err;
    CHECK_OK(ss_rng_open(&r, 23, "none", &err));
    ss_roofline c = draw(&r);
    ss_roofline_fit fit;
    c.launch_s = c.half_flop = 0;
    make(row, MOST, &c, SS_WORK_STREAM, SS_WORK_CONV_BACKWARD, 0.05, 0, &r);
    CHECK_OK(ss_roofline_fit_new(row, MOST, builtin(), &fit, &err));
    ss_rng_close(&r);
    CHECK(fit.told[SS_ROOFLINE_LAUNCH] != SS_ROOFLINE_KEPT && fit.constants.launch_s < 5e-9,
          "%s, %g", ss_roofline_told_name(fit.told[SS_ROOFLINE_LAUNCH]), fit.constants.launch_s);
    CHECK(fit.told[SS_ROOFLINE_HALF] != SS_ROOFLINE_KEPT && fit.constants.half_flop < 200, "%s, %g",
          ss_roofline_told_name(fit.told[SS_ROOFLINE_HALF]), fit.constants.half_flop);
}

static void constants_stay_in_their_range(void)
{
    static ss_roofline_row row[MOST];
    ss_rng r;
    ss_error err;
    CHECK_OK(ss_rng_open(&r, 24, "range", &err));
    ss_roofline c = draw(&r);
    ss_roofline_fit fit;
    c.memory_efficiency = 40; /* caches, in which all of it was */
    make(row, MOST, &c, SS_WORK_STREAM, SS_WORK_CONV_BACKWARD, 0.05, 0, &r);
    CHECK_OK(ss_roofline_fit_new(row, MOST, builtin(), &fit, &err));
    ss_rng_close(&r);
    CHECK(fit.constants.memory_efficiency <= 10 && fit.constants.memory_efficiency > 9.9, "%g",
          fit.constants.memory_efficiency);
    CHECK(fit.told[SS_ROOFLINE_MEMORY] == SS_ROOFLINE_EDGE, "%s",
          ss_roofline_told_name(fit.told[SS_ROOFLINE_MEMORY]));
}

static ss_status refused(const ss_roofline_row *row, uint32_t n, ss_error *err)
{
    ss_roofline_fit fit;
    return ss_roofline_fit_new(row, n, builtin(), &fit, err);
}

static void what_makes_no_sense_is_refused(void)
{
    ss_roofline_row good[10], row[10];
    ss_error err;
    for (int i = 0; i < 10; i++)
        good[i] = (ss_roofline_row){
            {SS_WORK_PRODUCT, 1e6 * (i + 1), 1e4}, PEAK, BANDWIDTH, 1e-5 * (i + 1)};
    CHECK(refused(good, 0, &err) == SS_EINVAL, "no rows");
    CHECK_TEXT(err.text, "0 times: 1 to 1000000 can be fitted");
    CHECK(refused(good, 4, &err) == SS_EINVAL, "as many rows as constants");
    CHECK_TEXT(err.text, "4 times of parts of operators: more than the 4 constants");
    CHECK(refused(good, 5, &err) == SS_OK, "%s", err.text);
    const struct {
        ss_roofline_row row;
        const char *says;
    } bad[] = {
        {{{SS_WORK_PRODUCT, 0, 0}, PEAK, BANDWIDTH, 1e-5}, "time 3 is of 0 FLOP and 0 bytes"},
        {{{SS_WORK_PRODUCT, NAN, 1}, PEAK, BANDWIDTH, 1e-5}, "time 3 is of nan FLOP and 1 bytes"},
        {{{SS_WORK_PRODUCT, 1, -1}, PEAK, BANDWIDTH, 1e-5}, "time 3 is of 1 FLOP and -1 bytes"},
        {{{SS_WORK_SORTS, 1, 1}, PEAK, BANDWIDTH, 1e-5}, "work is wanted"},
        {{{SS_WORK_PRODUCT, 1, 1}, PEAK, BANDWIDTH, 0}, "time 3 is 0 seconds"},
        {{{SS_WORK_PRODUCT, 1, 1}, PEAK, BANDWIDTH, INFINITY}, "time 3 is inf seconds"},
        {{{SS_WORK_PRODUCT, 1, 1}, 0, BANDWIDTH, 1e-5},
         "time 3 is of a device with a peak of 0 FLOP/s"},
        {{{SS_WORK_PRODUCT, 1, 1}, PEAK, 0, 1e-5},
         "time 3 is of a device with a memory bandwidth of 0 B/s"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(row, good, sizeof row);
        row[2] = bad[i].row;
        CHECK(refused(row, 10, &err) == SS_EINVAL, "%s", bad[i].says);
        CHECK_TEXT(err.text, bad[i].says);
    }
}

static void without_memory_it_says_so_and_keeps_nothing(void)
{
    static ss_roofline_row row[200];
    ss_rng r;
    ss_error err;
    CHECK_OK(ss_rng_open(&r, 25, "memory", &err));
    ss_roofline c = draw(&r);
    make(row, 200, &c, SS_WORK_STREAM, SS_WORK_CONV_BACKWARD, 0.1, 0, &r);
    ss_rng_close(&r);
    size_t live = ss_mem_live();
    int refusals = 0;
    for (int n = 0;; n++) {
        ss_mem_fail_after(n);
        ss_status s = refused(row, 200, &err);
        ss_mem_fail_never();
        CHECK(ss_mem_live() == live, "after %d", n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM, "%d: %s", n, err.text);
        refusals++;
    }
    CHECK(refusals >= 3, "%d", refusals);
}

int main(void)
{
    RUN(constants_that_times_were_made_with_are_found);
    RUN(exact_times_give_the_constants_exactly);
    RUN(what_is_not_in_the_times_keeps_the_builtin_value);
    RUN(nothing_is_nothing_and_not_the_builtin_value);
    RUN(constants_stay_in_their_range);
    RUN(what_makes_no_sense_is_refused);
    RUN(without_memory_it_says_so_and_keeps_nothing);
    return DONE();
}
