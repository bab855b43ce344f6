#include <math.h>

#include "base/mem.h"
#include "check.h"
#include "simulate/fit.h"

static ss_error err;

static ss_fit_options options(const char *operation, uint32_t ranks)
{
    ss_fit_options o = {.least_squares = false};
    if (ss_pattern_find(operation, NULL, ranks, 0, &o.pattern, &err))
        exit(99);
    return o;
}

static bool near(double got, double wanted, double relative)
{
    return fabs(got - wanted) <= relative * fabs(wanted);
}

/* -- what is refused -------------------------------------------------------------------------- */

static void rows_that_make_no_sense_are_refused_by_their_number(void)
{
    const ss_fit_options p2p = options("p2p", 0), ring = options("all_reduce", 8);
    const struct {
        ss_sample row[4];
        uint32_t n, bad;
        const ss_fit_options *o;
        const char *says;
    } bad[] = {
        {{{8, 1, 1, 0}, {9, 1, 1, 0}}, 2, 0, &p2p, "2 rows: a line and its errors need 3"},
        {{{8, 1, 1, 0}, {8, 2, 1, 0}, {8, 3, 1, 0}}, 3, 0, &p2p, "all 3 rows have 8 bytes"},
        {{{8, 1, 1, 0}, {-9, 2, 1, 0}, {10, 3, 1, 0}}, 3, 2, &p2p, "row 2: a size of -9 bytes"},
        {{{8, 1, 1, 0}, {9, 2, 1, 0}, {10, 0, 1, 0}}, 3, 3, &p2p, "row 3: it took 0 seconds"},
        {{{8, 1, 1, 0}, {9, NAN, 1, 0}, {10, 1, 1, 0}}, 3, 2, &p2p, "row 2: it took nan seconds"},
        {{{8, 1, 0, 0}, {9, 1, 1, 0}, {10, 1, 1, 0}}, 3, 1, &p2p, "row 1: a weight of 0"},
        {{{8, 1, 1, 1}, {9, 1, 1, 0}, {10, 1, 1, 0}}, 3, 1, &ring, "row 1 is streamed"},
        {{{8, 1, 1, 1}, {9, 1, 1, 0}, {10, 1, 1, 0}}, 3, 0, &p2p, "to tell latency from half size"},
        {{{8, 1, 1, 1}, {9, 1, 1, 0}, {8, 1, 1, 1}, {9, 1, 1, 0}}, 4, 0, &p2p, "4 rows of 2 sizes"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ss_fit *f = NULL;
        uint32_t row = 99;
        ss_status s = ss_fit_new(bad[i].row, bad[i].n, bad[i].o, &f, &row, &err);
        CHECK(s == SS_EINVAL && !f, "case %u is accepted", i);
        CHECK(row == bad[i].bad, "case %u: row %u", i, row);
        CHECK_TEXT(err.text, bad[i].says);
    }
}

static void operations_and_their_ranks_are_known(void)
{
    ss_pattern p;
    CHECK(ss_pattern_find("all_reduse", NULL, 8, 0, &p, &err) == SS_EINVAL, "misspelt");
    CHECK_TEXT(err.text, "did you mean 'all_reduce'?");
    CHECK(ss_pattern_find("scan", NULL, 8, 0, &p, &err) == SS_EINVAL, "unknown");
    CHECK_TEXT(err.text, "there are p2p, all_reduce");
    CHECK(ss_pattern_find("all_reduce", NULL, 0, 0, &p, &err) == SS_EINVAL, "no ranks");
    CHECK_TEXT(err.text, "how many of them there were");
    CHECK(ss_pattern_find("p2p", NULL, 3, 0, &p, &err) == SS_EINVAL, "three");
    CHECK(ss_pattern_find("all_to_all", "ring", 4, 0, &p, &err) == SS_EINVAL, "algorithm");
    CHECK_TEXT(err.text, "all_to_all has no algorithm 'ring': there is pairwise");
    CHECK(ss_pattern_find("all_reduce", "hierarchical", 4, 0, &p, &err) == SS_EINVAL, "machines");
    CHECK_TEXT(err.text, "hierarchical of all_reduce goes by machines, switches or links");
    CHECK_TEXT(err.text, "there is ring, tree, double_tree, halving_doubling");
    CHECK(ss_pattern_find("all_reduce", "ring", 4, 2, &p, &err) == SS_EINVAL, "chunks");
    CHECK_TEXT(err.text, "ring of all_reduce is not passed on in chunks");
}

/* By hand, in messages one after the other and bytes of them: of 6 ranks in halving and doubling two fold in their
 * pair's tensor and get the result, and four halve and double; in a tree of 3 rank 0 hears two at once through its
 * port, and sends to two; in two trees of 2 each half goes up against the other, then down. */
static void patterns_are_the_closed_forms_of_collectives(void)
{
    static const struct {
        const char *operation, *algorithm;
        uint32_t ranks, chunks;
        double bytes, steps, path;
    } known[] = {
        {"p2p", NULL, 0, 0, 1000.5, 1, 1000.5},
        {"all_reduce", NULL, 6, 0, 6000, 10, 10000},
        {"all_reduce", "ring", 6, 0, 6001, 10, 10010},
        {"all_reduce", "halving_doubling", 4, 0, 4000, 4, 6000},
        {"all_reduce", "halving_doubling", 6, 0, 4000, 6, 14000},
        {"all_reduce", "tree", 3, 1, 4000, 2, 16000},
        {"all_reduce", "double_tree", 2, 1, 4000, 2, 4000},
        {"all_reduce", "double_tree", 2, 2, 4000, 3, 4000},
        {"all_gather", "halving_doubling", 4, 0, 4000, 2, 3000},
        {"reduce_scatter", NULL, 4, 0, 4000, 3, 3000},
        {"all_to_all", NULL, 5, 0, 5000, 4, 4000},
        {"broadcast", "tree", 5, 0, 4000, 3, 12000},
        {"broadcast", "ring", 5, 4, 4000, 7, 7000},
        {"broadcast", "ring", 5, 4, 2, 5, 5},
    };
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) {
        ss_pattern p;
        CHECK_OK(ss_pattern_find(known[i].operation, known[i].algorithm, known[i].ranks,
                                 known[i].chunks, &p, &err));
        CHECK_OK(ss_pattern_prepare(&p, &err));
        ss_path path = ss_pattern_path(&p, known[i].bytes, 1e-6, 1e9);
        CHECK(path.steps == known[i].steps && path.bytes == known[i].path, "case %u: %g %g", i,
              path.steps, path.bytes);
    }
}

/* -- a line, by hand -------------------------------------------------------------------------- */

/* 3 us and 8 GB/s: 1000 bytes take 3.125 us, 24000 take 6 us, 1.6e6 take 203 us; 24000 is the half
 * size. */
static void rows_on_a_line_give_the_line(void)
{
    const ss_sample row[] = {
        {1000, 3.125e-6, 1, 0}, {24000, 6e-6, 1, 0}, {1.6e6, 203e-6, 2, 0}, {0, 3e-6, 1, 0}};
    const ss_fit_options o = options("p2p", 0);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 4, &o, &f, NULL, &err));
    CHECK(near(f->of[SS_FIT_LATENCY].value, 3e-6, 1e-9), "%.17g", f->of[SS_FIT_LATENCY].value);
    CHECK(near(f->of[SS_FIT_BANDWIDTH].value, 8e9, 1e-9), "%.17g", f->of[SS_FIT_BANDWIDTH].value);
    CHECK(near(f->of[SS_FIT_HALF].value, 24000, 1e-9), "%.17g", f->of[SS_FIT_HALF].value);
    CHECK(f->of[0].told && f->of[1].told && f->of[2].told, "all are told");
    CHECK(!f->apart && !f->only_streamed && f->freedom == 2 && f->sizes == 4, "%u", f->freedom);
    CHECK(f->line.worst < 1e-9 && f->line.within_5 == 1 && !f->bent, "%g", f->line.worst);
    CHECK(near(ss_fit_seconds(f, 48000, false), 9e-6, 1e-9), "%g", ss_fit_seconds(f, 48000, false));
    ss_fit_free(f);
}

/* The same rows, a row that is five times too slow among them. */
static void one_row_far_off_moves_nothing_and_is_named(void)
{
    ss_sample row[8];
    for (uint32_t i = 0; i < 8; i++)
        row[i] = (ss_sample){300 << 2 * i, 3e-6 + (300 << 2 * i) / 8e9, 1, false};
    row[6].seconds *= 5;
    ss_fit_options o = options("p2p", 0);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 8, &o, &f, NULL, &err));
    CHECK(near(f->of[SS_FIT_BANDWIDTH].value, 8e9, 1e-8), "%.17g", f->of[SS_FIT_BANDWIDTH].value);
    CHECK(f->outliers == 1 && f->row[6].outlier && near(f->row[6].error, -0.8, 1e-6), "%g",
          f->row[6].error);
    CHECK(f->line.within_20 == 7 / 8.0 && near(f->line.worst, 0.8, 1e-6), "%g", f->line.worst);
    ss_efficiency e;
    CHECK_OK(ss_fit_curve(f, 0, false, &e, &err));
    CHECK(e.n == 7, "the outlier's size is in the curve: %u", e.n);
    ss_efficiency_free(&e);
    ss_fit_free(f);
    o.least_squares = true;
    CHECK_OK(ss_fit_new(row, 8, &o, &f, NULL, &err));
    CHECK(f->of[SS_FIT_BANDWIDTH].value < 6e9 && !f->outliers, "%g", f->of[1].value);
    ss_fit_free(f);
}

/* A ring over 8 of 4 MB: 14 messages of 0.5 MB, each 2 us and 5 us at 100 GB/s. */
static void a_ring_gives_the_link_and_not_the_ring(void)
{
    const ss_sample row[] = {{4e6, 98e-6, 1, 0}, {8e6, 168e-6, 1, 0}, {8e3, 14 * 2.01e-6, 1, 0}};
    const ss_fit_options o = options("all_reduce", 8);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 3, &o, &f, NULL, &err));
    CHECK(near(f->of[SS_FIT_LATENCY].value, 2e-6, 1e-8), "%.17g", f->of[SS_FIT_LATENCY].value);
    CHECK(near(f->of[SS_FIT_BANDWIDTH].value, 100e9, 1e-8), "%.17g", f->of[1].value);
    ss_efficiency e;
    CHECK_OK(ss_fit_curve(f, 0, false, &e, &err));
    CHECK(e.n == 3 && near(e.bytes[1], 5e5, 1e-12) && near(e.bytes_per_s, 1e6 / 12e-6, 1e-9), "%g",
          e.bytes_per_s);
    CHECK(near(ss_efficiency_seconds(&e, 5e5), 7e-6, 1e-9), "%g", ss_efficiency_seconds(&e, 5e5));
    ss_efficiency_free(&e);
    ss_fit_free(f);
}

/* 4 us of latency, 10 GB/s, a half size of 20 kB (2 us). */
static void streamed_rows_tell_latency_from_half_size(void)
{
    ss_sample row[10];
    for (uint32_t i = 0; i < 5; i++) {
        double bytes = 1000 << 3 * i, held = (bytes + 20e3) / 10e9;
        row[2 * i] = (ss_sample){bytes, 4e-6 + held, 1, false};
        row[2 * i + 1] = (ss_sample){bytes, held, 1, true};
    }
    const ss_fit_options o = options("p2p", 0);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 10, &o, &f, NULL, &err));
    CHECK(f->apart && f->freedom == 7, "%u", f->freedom);
    CHECK(near(f->of[SS_FIT_LATENCY].value, 4e-6, 1e-8), "%.17g", f->of[SS_FIT_LATENCY].value);
    CHECK(near(f->of[SS_FIT_HALF].value, 20e3, 1e-8), "%.17g", f->of[SS_FIT_HALF].value);
    CHECK(near(ss_fit_seconds(f, 8000, false), 6.8e-6, 1e-8), "%g", ss_fit_seconds(f, 8000, false));
    CHECK(near(ss_fit_seconds(f, 8000, true), 2.8e-6, 1e-8), "%g", ss_fit_seconds(f, 8000, true));
    ss_fit_free(f);
    for (uint32_t i = 0; i < 5; i++)
        row[i] = row[2 * i + 1];
    CHECK_OK(ss_fit_new(row, 5, &o, &f, NULL, &err));
    CHECK(f->only_streamed && isnan(f->of[SS_FIT_LATENCY].value), "a latency from nowhere");
    CHECK(near(f->of[SS_FIT_HALF].value, 20e3, 1e-8), "%.17g", f->of[SS_FIT_HALF].value);
    ss_fit_free(f);
}

/* -- what the data leave open ----------------------------------------------------------------- */

static void without_small_messages_the_latency_is_open(void)
{
    ss_sample row[12];
    for (uint32_t i = 0; i < 12; i++) /* 3 us beside 12 ms and more, 1 % up and down */
        row[i] = (ss_sample){1e8 * (1 + i), (3e-6 + 1e8 * (1 + i) / 8e9) * (i % 2 ? 1.01 : 0.99), 1,
                             false};
    const ss_fit_options o = options("p2p", 0);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 12, &o, &f, NULL, &err));
    CHECK(!f->of[SS_FIT_LATENCY].told && !f->of[SS_FIT_HALF].told, "%g told from %g",
          f->of[0].value, f->of[0].error);
    CHECK(f->of[SS_FIT_LATENCY].error > 3e-5 && f->of[SS_FIT_LATENCY].error < 1e-3, "%g",
          f->of[0].error);
    CHECK(f->of[SS_FIT_BANDWIDTH].told && near(f->of[SS_FIT_BANDWIDTH].value, 8e9, 0.03), "%g",
          f->of[1].value);
    ss_fit_free(f);
}

static void without_large_messages_the_bandwidth_is_open(void)
{
    ss_sample row[12];
    for (uint32_t i = 0; i < 12; i++)
        row[i] = (ss_sample){1 + i, (3e-6 + i / 8e9) * (i % 2 ? 1.01 : 0.99), 1, false};
    const ss_fit_options o = options("p2p", 0);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 12, &o, &f, NULL, &err));
    CHECK(!f->of[SS_FIT_BANDWIDTH].told, "%g told from %g", f->of[1].value, f->of[1].error);
    CHECK(near(f->of[SS_FIT_LATENCY].value, 3e-6, 0.02), "%g", f->of[0].value);
    ss_fit_free(f);
}

/* Two protocols: 2 us and 1 GB/s, 10 us and 10 GB/s. */
static void a_shape_that_is_no_line_is_called_bent(void)
{
    ss_sample row[24];
    for (uint32_t i = 0; i < 24; i++) {
        double bytes = 1 << i;
        row[i] = (ss_sample){bytes, fmin(2e-6 + bytes / 1e9, 10e-6 + bytes / 10e9), 1, false};
    }
    const ss_fit_options o = options("p2p", 0);
    ss_fit *f = NULL;
    CHECK_OK(ss_fit_new(row, 24, &o, &f, NULL, &err));
    CHECK(f->bent, "drift %g", f->drift);
    CHECK(f->curve.rows == 22 && f->curve.p90 < f->line.p90, "curve %g, line %g", f->curve.p90,
          f->line.p90);
    ss_efficiency e;
    CHECK_OK(ss_fit_curve(f, 0, false, &e, &err));
    CHECK(e.n == 24 && e.share[23] == 1, "%u", e.n);
    for (uint32_t i = 0; i < 24; i++)
        CHECK(near(ss_efficiency_seconds(&e, row[i].bytes), row[i].seconds, 1e-12), "point %u", i);
    ss_efficiency_free(&e);
    ss_fit_free(f);
}

/* -- the curve -------------------------------------------------------------------------------- */

static void a_curve_is_straight_in_logarithms_and_level_at_its_ends(void)
{
    const double bytes[] = {100, 400, 6400}, share[] = {0.1, 0.4, 0.5};
    ss_efficiency e;
    CHECK_OK(ss_efficiency_new(1e9, bytes, share, 3, &e, &err));
    CHECK(near(ss_efficiency_at(&e, 200), 0.2, 1e-12), "%g", ss_efficiency_at(&e, 200));
    CHECK(near(ss_efficiency_at(&e, 1600), sqrt(0.2), 1e-12), "%g", ss_efficiency_at(&e, 1600));
    CHECK(ss_efficiency_at(&e, 400) == 0.4 && ss_efficiency_at(&e, 1e12) == 0.5, "at points");
    CHECK(near(ss_efficiency_at(&e, 50), 0.05, 1e-12), "%g", ss_efficiency_at(&e, 50));
    CHECK(near(ss_efficiency_seconds(&e, 0), 1e-6, 1e-12), "%g", ss_efficiency_seconds(&e, 0));
    CHECK(near(ss_efficiency_seconds(&e, 50), 1e-6, 1e-12), "%g", ss_efficiency_seconds(&e, 50));
    ss_efficiency_free(&e);
    const double falls[] = {100, 90}, more[] = {0.5, 1.5};
    CHECK(ss_efficiency_new(1e9, falls, share, 2, &e, &err) == SS_EINVAL, "sizes that fall");
    CHECK(ss_efficiency_new(1e9, bytes, more, 2, &e, &err) == SS_EINVAL, "more than all");
    CHECK_TEXT(err.text, "point 2 of a curve of efficiency, 400 bytes, has an efficiency of 1.5");
    CHECK(ss_efficiency_new(1e9, bytes, share, 0, &e, &err) == SS_EINVAL, "no points");
    CHECK(ss_efficiency_new(0, bytes, share, 3, &e, &err) == SS_EINVAL, "no bandwidth");
}

/* Rates 1, 4, 2, 8 GB/s: of 4 and 2 the geometric mean. */
static void a_monotone_curve_pools_what_falls(void)
{
    const ss_sample row[] = {{1000, 1000 / 1e9, 1, 0},
                             {4000, 4000 / 4e9, 1, 0},
                             {8000, 8000 / 2e9, 1, 0},
                             {64000, 64000 / 8e9, 1, 0}};
    ss_fit_options o = options("p2p", 0);
    o.least_squares = true;
    ss_fit *f = NULL;
    ss_efficiency e;
    CHECK_OK(ss_fit_new(row, 4, &o, &f, NULL, &err));
    CHECK_OK(ss_fit_curve(f, 0, false, &e, &err));
    CHECK(near(e.share[1], 0.5, 1e-12) && near(e.share[2], 0.25, 1e-12), "%g", e.share[1]);
    ss_efficiency_free(&e);
    CHECK_OK(ss_fit_curve(f, 0, true, &e, &err));
    CHECK(near(e.share[1], sqrt(8) / 8, 1e-12) && e.share[1] == e.share[2], "%g", e.share[1]);
    CHECK(near(e.share[0], 0.125, 1e-12) && e.share[3] == 1, "%g", e.share[0]);
    ss_efficiency_free(&e);
    CHECK_OK(ss_fit_curve(f, 0.5e-6, false, &e, &err));
    CHECK(near(ss_efficiency_seconds(&e, 1000), 0.5e-6, 1e-9), "what is beside the latency");
    ss_efficiency_free(&e);
    CHECK(ss_fit_curve(f, 1e-6, false, &e, &err) == SS_EINVAL, "latency is all the time");
    CHECK_TEXT(err.text,
               "a message of 1000 bytes took 1.000 us, not more than the latency of 1.000 us");
    CHECK(ss_fit_curve(f, -1, false, &e, &err) == SS_EINVAL, "below 0");
    ss_fit_free(f);
}

static void failing_any_allocation_leaks_nothing(void)
{
    const ss_sample row[] = {{1000, 3.1e-6, 1, 0}, {24000, 6e-6, 1, 0}, {1.6e6, 203e-6, 2, 0}};
    const ss_fit_options o = options("p2p", 0);
    size_t before = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_fit *f = NULL;
        ss_efficiency e = {0};
        ss_mem_fail_after(n);
        ss_status s = ss_fit_new(row, 3, &o, &f, NULL, &err);
        if (!s)
            s = ss_fit_curve(f, 0, true, &e, &err);
        ss_mem_fail_never();
        ss_efficiency_free(&e);
        ss_fit_free(f);
        CHECK(ss_mem_blocks() == before, "request %d leaks", (int)n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM && n < 1000, "request %d: %s", (int)n, err.text);
    }
}

int main(void)
{
    RUN(rows_that_make_no_sense_are_refused_by_their_number);
    RUN(operations_and_their_ranks_are_known);
    RUN(patterns_are_the_closed_forms_of_collectives);
    RUN(rows_on_a_line_give_the_line);
    RUN(one_row_far_off_moves_nothing_and_is_named);
    RUN(a_ring_gives_the_link_and_not_the_ring);
    RUN(streamed_rows_tell_latency_from_half_size);
    RUN(without_small_messages_the_latency_is_open);
    RUN(without_large_messages_the_bandwidth_is_open);
    RUN(a_shape_that_is_no_line_is_called_bent);
    RUN(a_curve_is_straight_in_logarithms_and_level_at_its_ends);
    RUN(a_monotone_curve_pools_what_falls);
    RUN(failing_any_allocation_leaks_nothing);
    return DONE();
}
