/* test_base.c - status, memory, arrays, arenas, names, text, units, hashes, random streams. */
#include <math.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"
#include "check.h"

static void a_long_sentence_is_cut_visibly(void)
{
    char word[2000];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    ss_error err = {0};
    CHECK(ss_fail(&err, SS_EFORMAT, "%s", word) == SS_EFORMAT);
    CHECK(strlen(err.text) == SS_ERROR_TEXT - 1);
    CHECK(strcmp(err.text + SS_ERROR_TEXT - 4, "...") == 0);
}

static void context_goes_in_front_and_the_status_stays(void)
{
    ss_error err = {0};
    ss_fail(&err, SS_EIO, "disk full");
    CHECK(ss_fail_in(&err, "%s:%d", "a.lua", 7) == SS_EIO);
    CHECK(strcmp(err.text, "a.lua:7: disk full") == 0, "%s", err.text);
}

static void exit_statuses_tell_input_from_machine(void)
{
    CHECK(ss_status_exit(SS_OK) == 0);
    CHECK(ss_status_exit(SS_EINVAL) == 2 && ss_status_exit(SS_EFORMAT) == 2);
    CHECK(ss_status_exit(SS_ENOTFOUND) == 2 && ss_status_exit(SS_ERANGE) == 2);
    CHECK(ss_status_exit(SS_ENOMEM) == 3 && ss_status_exit(SS_EIO) == 3);
}

static void memory_is_counted(void)
{
    size_t live = ss_mem_live(), blocks = ss_mem_blocks();
    ss_mem_peak_reset();
    char *a = ss_alloc(1001), *b = ss_alloc_zeroed(7, 11);
    CHECK(a && b && b[76] == 0);
    CHECK(ss_mem_live() == live + 1078 && ss_mem_blocks() == blocks + 2);
    a = ss_realloc(a, 13);
    CHECK(ss_mem_live() == live + 90);
    CHECK(ss_mem_peak() == live + 1078);
    ss_free(a);
    ss_free(b);
    ss_free(NULL);
    CHECK(ss_mem_live() == live && ss_mem_blocks() == blocks);
}

static void the_nth_request_fails_and_so_do_later_ones(void)
{
    ss_mem_fail_after(2);
    void *a = ss_alloc(3), *b = ss_alloc(3), *c = ss_alloc(3), *d = ss_realloc(a, 9);
    ss_mem_fail_never();
    CHECK(a && b && !c && !d);
    ss_free(a);
    ss_free(b);
    CHECK(!ss_alloc(SIZE_MAX) && !ss_alloc_zeroed(SIZE_MAX / 2, 3));
}

static void a_failed_reserve_leaves_the_array(void)
{
    ss_error err = {0};
    int *array = NULL;
    uint32_t cap = 0;
    CHECK_OK(SS_RESERVE(array, cap, 9, "numbers", &err));
    CHECK(cap >= 9);
    array[8] = 41;
    uint32_t before = cap;
    ss_mem_fail_after(0);
    ss_status s = SS_RESERVE(array, cap, 1000, "numbers", &err);
    ss_mem_fail_never();
    CHECK(s == SS_ENOMEM && cap == before && array[8] == 41);
    CHECK_TEXT(err.text, "no memory for numbers");
    CHECK(SS_RESERVE(array, cap, (size_t)UINT32_MAX + 1, "numbers", &err) == SS_ERANGE);
    ss_free(array);
}

static void an_arena_gives_aligned_memory_and_drops_it(void)
{
    size_t blocks = ss_mem_blocks();
    ss_arena a = {0};
    for (size_t n = 0; n < 3000; n++) {
        char *p = ss_arena_take(&a, n);
        CHECK(p && (uintptr_t)p % _Alignof(max_align_t) == 0, "%zu", n);
        memset(p, 0x5a, n);
    }
    ss_arena_drop(&a);
    CHECK(ss_mem_blocks() == blocks + 1);
    CHECK(!ss_arena_take(&a, SIZE_MAX));
    ss_arena_free(&a);
    CHECK(ss_mem_blocks() == blocks);
}

static void names_keep_their_ids(void)
{
    ss_error err = {0};
    ss_names t = {0};
    uint32_t id = 9;
    CHECK(ss_names_find(&t, "x") == 0);
    for (uint32_t i = 1; i <= 500; i++) {
        char name[20];
        snprintf(name, sizeof name, "op%u", i * 37 % 501);
        CHECK_OK(ss_names_add(&t, name, &id, &err));
        CHECK(id == i);
    }
    CHECK_OK(ss_names_add(&t, "op37", &id, &err));
    CHECK(id == 1 && t.n == 500);
    CHECK(strcmp(ss_names_text(&t, 2), "op74") == 0);
    CHECK(strcmp(ss_names_text(&t, 0), "") == 0 && strcmp(ss_names_text(&t, 501), "") == 0);
    CHECK(strcmp(ss_names_nearest(&t, "po37"), "op37") == 0);
    ss_names_free(&t);
}

static void the_last_name_can_be_taken_back(void)
{
    ss_error err = {0};
    uint32_t id;
    ss_names t = {0};
    ss_names_drop_last(&t);
    for (int round = 0; round < 100; round++) {
        char keep[16], drop[16];
        snprintf(keep, sizeof keep, "op%d", round);
        snprintf(drop, sizeof drop, "no%d", round);
        CHECK_OK(ss_names_add(&t, drop, &id, &err));
        ss_names_drop_last(&t);
        CHECK(t.n == (uint32_t)round && !ss_names_find(&t, drop), "round %d", round);
        CHECK_OK(ss_names_add(&t, keep, &id, &err));
        CHECK(id == (uint32_t)round + 1 && ss_names_find(&t, "op0") == 1, "round %d", round);
    }
    ss_names_free(&t);
}

static void names_survive_every_failed_allocation(void)
{
    size_t blocks = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_names t = {0};
        uint32_t id, added = 0;
        ss_mem_fail_after(n);
        for (char name[] = "a"; added < 26 && !ss_names_add(&t, name, &id, NULL); name[0]++)
            added++;
        ss_mem_fail_never();
        CHECK(t.n == added, "after %d", (int)n);
        for (uint32_t i = 1; i <= added; i++)
            CHECK(ss_names_find(&t, ss_names_text(&t, i)) == i);
        ss_names_free(&t);
        CHECK(ss_mem_blocks() == blocks);
        if (added == 26)
            return;
    }
}

static void text_grows_and_escapes(void)
{
    ss_text t = {0};
    CHECK(strcmp(ss_text_get(&t), "") == 0);
    for (int i = 0; i < 100; i++)
        ss_text_add(&t, "%d,", i);
    CHECK(t.n == 290);
    ss_text_clear(&t);
    ss_text_add_json_string(
        &t, "a\"\\\n\x01\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xff \xc0\x80 \xed\xa0\x80");
    CHECK(strcmp(ss_text_get(&t),
                 "\"a\\\"\\\\\\u000a\\u0001\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \\ufffd "
                 "\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\"") == 0,
          "%s", ss_text_get(&t));
    ss_text_free(&t);
}

/* Appends that just fit, that just do not, and that need several times what there is. */
static void pieces_of_all_lengths_are_appended_whole(void)
{
    ss_text t = {0};
    static char all[200000];
    size_t n = 0;
    for (int i = 0; i < 600; i++) {
        int width = i % 150 + (i % 97 ? 0 : 3000);
        ss_text_add(&t, "%0*d,", width, i);
        n += (size_t)sprintf(all + n, "%0*d,", width, i);
        CHECK(t.n == n && strlen(t.at) == n, "%u bytes, not %u", t.n, (unsigned)n);
    }
    CHECK(!strcmp(t.at, all));
    ss_text_free(&t);
}

static void a_failed_append_is_seen_at_the_end(void)
{
    ss_error err = {0};
    ss_text t = {0};
    ss_text_add(&t, "kept");
    ss_mem_fail_after(0);
    for (int i = 0; i < 50; i++)
        ss_text_add(&t, "lost %d", i);
    ss_mem_fail_never();
    CHECK(ss_text_status(&t, &err) == SS_ENOMEM);
    CHECK(strncmp(ss_text_get(&t), "kept", 4) == 0);
    CHECK(strlen(ss_text_get(&t)) == t.n, "nothing stands behind its end: %s", ss_text_get(&t));
    ss_text_free(&t);
}

static void the_nearest_name_is_one_that_may_have_been_meant(void)
{
    static const char *const names[] = {"bandwidth", "latency", "duplex", "kind", "h"};
    CHECK(strcmp(ss_nearest("bandwith", names, 5), "bandwidth") == 0);
    CHECK(strcmp(ss_nearest("Latnecy", names, 5), "latency") == 0);
    CHECK(strcmp(ss_nearest("knid", names, 5), "kind") == 0);
    CHECK(!ss_nearest("memory", names, 5));
    CHECK(!ss_nearest("", names, 0));

    static const char *const parts[] = {"kernel",    "json",         "step_time",
                                        "write_dot", "compute_time", "h"};
    CHECK(strcmp(ss_nearest("kernel_size", parts, 6), "kernel") == 0);
    CHECK(strcmp(ss_nearest("write_json", parts, 6), "json") == 0);
    CHECK(strcmp(ss_nearest("write_dt", parts, 6), "write_dot") == 0);
    CHECK(strcmp(ss_nearest("step", parts, 6), "step_time") == 0);
    CHECK(!ss_nearest("time", parts, 6), "two end so");
    CHECK(!ss_nearest("size_h", parts, 6), "too short a part");
    CHECK(!ss_nearest("kernels_of", parts, 6), "a part is whole");
}

static void a_noun_has_its_plural(void)
{
    CHECK(strcmp(ss_plural(1), "") == 0);
    CHECK(strcmp(ss_plural(0), "s") == 0 && strcmp(ss_plural(37), "s") == 0);
}

static void times_are_rounded_once_to_the_nearest(void)
{
    ss_error err = {0};
    ss_time t = -1;
    CHECK_OK(ss_time_from_seconds(2.385e-12, "x", &t, &err));
    CHECK(t == 2);
    CHECK_OK(ss_time_from_seconds(0.1, "x", &t, &err));
    CHECK(t == 100000000000);
    CHECK_OK(ss_time_from_seconds(9.2e6, "x", &t, &err));
    CHECK(ss_time_from_seconds(9.3e6, "conv1", &t, &err) == SS_ERANGE);
    CHECK_TEXT(err.text, "conv1 is 9.3e+06 s");
    CHECK(ss_time_from_seconds(-1e-30, "conv1", &t, &err) == SS_EINVAL);
    CHECK(ss_time_from_seconds(NAN, "conv1", &t, &err) == SS_EINVAL);
    CHECK(ss_time_from_seconds(INFINITY, "conv1", &t, &err) == SS_ERANGE);
}

static void times_never_wrap(void)
{
    ss_error err = {0};
    ss_time t = 0;
    CHECK_OK(ss_time_add(SS_TIME_MAX - 5, 5, &t, &err));
    CHECK(t == SS_TIME_MAX);
    CHECK(ss_time_add(SS_TIME_MAX - 5, 6, &t, &err) == SS_ERANGE);
}

static void quantities_are_read_with_their_units(void)
{
    static const struct {
        const char *text;
        ss_unit unit;
        double value;
    } good[] = {
        {"25 GB/s", SS_UNIT_BYTES_PER_SECOND, 25e9},
        {"100 Gb/s", SS_UNIT_BYTES_PER_SECOND, 12.5e9},
        {"3GiB/s", SS_UNIT_BYTES_PER_SECOND, 3 * 0x1p30},
        {"56Gbps", SS_UNIT_BYTES_PER_SECOND, 7e9},
        {"700 ns", SS_UNIT_SECONDS, 700e-9},
        {"2.385 \xc2\xb5s", SS_UNIT_SECONDS, 2.385e-6},
        {"2.385 \xce\xbcs", SS_UNIT_SECONDS, 2.385e-6}, /* Greek mu */
        {".5ms", SS_UNIT_SECONDS, 5e-4},
        {"1e-3", SS_UNIT_SECONDS, 1e-3},
        {"2 min", SS_UNIT_SECONDS, 120},
        {"16 GiB", SS_UNIT_BYTES, 0x1p34},
        {"1.000 EB/s", SS_UNIT_BYTES_PER_SECOND, 1e18},
        {"3EiB", SS_UNIT_BYTES, 3 * 0x1p60},
        {"8 Kib", SS_UNIT_BYTES, 1024},
        {" 16 GB ", SS_UNIT_BYTES, 16e9},
        {"10.6 TFLOP/s", SS_UNIT_FLOP_PER_SECOND, 10.6e12},
        {"312 TFLOPS", SS_UNIT_FLOP_PER_SECOND, 312e12},
        {"3 GFLOP", SS_UNIT_FLOP, 3e9},
        {"4k", SS_UNIT_NONE, 4000},
        {"-7", SS_UNIT_NONE, -7},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ss_error err = {0};
        double x = -1;
        CHECK_OK(ss_parse_quantity(good[i].text, good[i].unit, &x, &err));
        CHECK(fabs(x - good[i].value) <= 1e-12 * fabs(good[i].value), "%s: %g", good[i].text, x);
    }
}

static void a_wrong_unit_is_named_with_an_example(void)
{
    static const struct {
        const char *text;
        ss_unit unit;
        const char *says;
    } bad[] = {
        {"fast", SS_UNIT_BYTES_PER_SECOND,
         "does not begin with a number; expected bytes per second"},
        {"", SS_UNIT_SECONDS, "does not begin with a number"},
        {"0x10", SS_UNIT_BYTES, "unknown unit \"x10\""},
        {"inf", SS_UNIT_BYTES, "does not begin with a number"},
        {"25 GB", SS_UNIT_BYTES_PER_SECOND, "is in bytes; expected bytes per second"},
        {"25 gb/s", SS_UNIT_BYTES_PER_SECOND, "upper and lower case matter"},
        {"20 Gb", SS_UNIT_BYTES_PER_SECOND, "is in bits; expected bytes per second"},
        {"20 Gb/s", SS_UNIT_BYTES, "is in bits per second"},
        {"64 KB", SS_UNIT_BYTES, "a thousand is k, 1024 is Ki"},
        {"3 Ms", SS_UNIT_SECONDS, "upper and lower case matter"},
        {"3 parsec", SS_UNIT_SECONDS, "unknown unit \"parsec\""},
        {"1e999", SS_UNIT_NONE, "too large"},
        {"1e300 EB", SS_UNIT_BYTES, "too large"},
        {"1 GB/s per lane and direction of travel, please", SS_UNIT_BYTES_PER_SECOND,
         "unknown unit"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ss_error err = {0};
        double x = -1;
        ss_status s = ss_parse_quantity(bad[i].text, bad[i].unit, &x, &err);
        CHECK((s == SS_EINVAL || s == SS_ERANGE) && (x == -1 || s == SS_ERANGE));
        CHECK_TEXT(err.text, bad[i].says);
    }
}

static void quantities_are_written_short(void)
{
    char b[SS_QUANTITY_TEXT];
    CHECK_TEXT(ss_format_quantity(1.85, SS_UNIT_SECONDS, b, sizeof b), "1.850 s");
    CHECK_TEXT(ss_format_quantity(24.173828125 * 0x1p30, SS_UNIT_BYTES, b, sizeof b), "24.17 GiB");
    CHECK_TEXT(ss_format_quantity(12.5e9, SS_UNIT_BYTES_PER_SECOND, b, sizeof b), "12.50 GB/s");
    CHECK_TEXT(ss_format_quantity(999.96e-3, SS_UNIT_SECONDS, b, sizeof b), "1.000 s");
    CHECK_TEXT(ss_format_quantity(0, SS_UNIT_BYTES, b, sizeof b), "0 B");
    CHECK_TEXT(ss_format_quantity(7, SS_UNIT_BYTES, b, sizeof b), "7 B");
    CHECK_TEXT(ss_format_time(14 * (ss_time)1000000, b, sizeof b), "14.00 us");
    CHECK_TEXT(ss_format_time(385, b, sizeof b), "385.0 ps");
    CHECK_TEXT(ss_format_quantity(-2048, SS_UNIT_BYTES, b, sizeof b), "-2.000 KiB");
    CHECK_TEXT(ss_format_quantity(0.25, SS_UNIT_NONE, b, sizeof b), "0.250");
}

static void doubles_are_written_short_and_read_back(void)
{
    static const struct {
        double x;
        const char *text;
    } want[] = {{0.1, "0.1"},
                {1e-12, "1e-12"},
                {123456789.25, "123456789.25"},
                {1.0 / 3, "0.3333333333333333"},
                {0.1 + 0.2, "0.30000000000000004"},
                {-2.385e-12, "-2.385e-12"},
                {9007199254740992, "9007199254740992"},
                {5e-324, "4.94065645841247e-324"},
                {0, "0"}};
    char text[SS_DOUBLE_TEXT];
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        CHECK(!strcmp(ss_format_double(want[i].x, text, sizeof text), want[i].text), "%s, not %s",
              text, want[i].text);
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        double x;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(&x, &state, sizeof x);
        CHECK(!isfinite(x) || strtod(ss_format_double(x, text, sizeof text), NULL) == x, "%s",
              text);
    }
}

static void hashes_tell_boundaries_apart(void)
{
    uint64_t a = ss_hash_text(ss_hash_text(SS_HASH_START, "ab"), "c");
    uint64_t b = ss_hash_text(ss_hash_text(SS_HASH_START, "a"), "bc");
    CHECK(a != b);
    CHECK(ss_hash_double(1, 0.0) == ss_hash_double(1, -0.0));
    CHECK(ss_hash_double(1, NAN) == ss_hash_double(1, -NAN));
    CHECK(ss_hash_u64(1, 2) != ss_hash_u64(2, 1));
    /* Written down, so that a change of the function, or another machine, is noticed. */
    CHECK(ss_hash_text(SS_HASH_START, "soapstone") == 0x46a25ed25fb2917dULL);
}

static void streams_have_names_and_seeds(void)
{
    ss_error err = {0};
    ss_rng a = {0}, b = {0}, c = {0}, d = {0};
    CHECK_OK(ss_rng_open(&a, 7, "strategy", &err));
    CHECK_OK(ss_rng_open(&b, 7, "strategy", &err));
    CHECK_OK(ss_rng_open(&c, 7, "noise", &err));
    CHECK_OK(ss_rng_open(&d, 8, "strategy", &err));
    uint32_t same_c = 0, same_d = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = ss_rng_bits(&a);
        CHECK(x == ss_rng_bits(&b));
        same_c += x == ss_rng_bits(&c);
        same_d += x == ss_rng_bits(&d);
    }
    CHECK(same_c == 0 && same_d == 0);
    ss_rng_close(&a), ss_rng_close(&b), ss_rng_close(&c), ss_rng_close(&d);
}

static void draws_are_uniform(void)
{
    ss_error err = {0};
    ss_rng r = {0};
    enum { FACES = 7, THROWS = 70000 };
    uint32_t count[FACES] = {0};
    CHECK_OK(ss_rng_open(&r, 2385, "dice", &err));
    double chi2 = 0, sum = 0;
    for (uint32_t i = 0; i < THROWS; i++) {
        count[ss_rng_below(&r, FACES)]++;
        double u = ss_rng_uniform(&r);
        CHECK(u >= 0 && u < 1);
        sum += u;
    }
    for (uint32_t f = 0; f < FACES; f++)
        chi2 += pow((double)count[f] - THROWS / FACES, 2) / (THROWS / FACES);
    CHECK(chi2 < 22.5, "chi-square with 6 degrees of freedom: %g", chi2); /* p = 0.001 */
    CHECK(fabs(sum / THROWS - 0.5) < 0.005, "%g", sum / THROWS);
    ss_rng_close(&r);
}

/* Written down, so that the stream never changes by accident, nor on another machine. */
static void a_counted_stream_is_where_it_was_moved(void)
{
    ss_error err = {0};
    ss_rng r = {0};
    CHECK_OK(ss_rng_open_counted(&r, &err));
    uint64_t at_zero = ss_rng_bits(&r);
    ss_rng_seek(&r, 20190331, 3, 500);
    uint64_t first = ss_rng_bits(&r), second = ss_rng_bits(&r);
    ss_rng_seek(&r, 0, 0, 0);
    CHECK(ss_rng_bits(&r) == at_zero && at_zero == 0x9a63efbe57234557ULL, "%016llx",
          (unsigned long long)at_zero);
    ss_rng_seek(&r, 20190331, 3, 500);
    CHECK(ss_rng_bits(&r) == first && first == 0x602f60f3b562f0ddULL, "%016llx",
          (unsigned long long)first);
    CHECK(ss_rng_bits(&r) == second && second == 0xba6725c15a1afa2dULL, "%016llx",
          (unsigned long long)second);
    ss_rng_close(&r);
}

/* Chi-square of 256 bins, 255 degrees of freedom: 331 has p = 0.001. */
static double chi_square_256(const uint32_t *count, double draws)
{
    double chi2 = 0;
    for (uint32_t k = 0; k < 256; k++)
        chi2 += pow(count[k] - draws / 256, 2) / (draws / 256);
    return chi2;
}

/* Along one stream, and across the first numbers of neighbouring places: each byte, and how a
 * number differs from the one before. */
static void counted_draws_are_uniform_along_and_across(void)
{
    enum { DRAWS = 60000, WAYS = 5 };
    ss_error err = {0};
    ss_rng r = {0};
    CHECK_OK(ss_rng_open_counted(&r, &err));
    for (uint32_t way = 0; way < WAYS; way++) {
        uint32_t byte[8][256] = {{0}}, change[256] = {0};
        uint64_t before = 0;
        ss_rng_seek(&r, 11, 5, 9);
        for (uint32_t i = 0; i < DRAWS; i++) {
            if (way == 1)
                ss_rng_seek(&r, 11, 5, i);
            else if (way == 2)
                ss_rng_seek(&r, 11, i, 9);
            else if (way == 3)
                ss_rng_seek(&r, i, 5, 9);
            else if (way == 4)
                ss_rng_seek(&r, i / 250, i % 250, i % 250); /* equal numbers must not cancel */
            uint64_t x = ss_rng_bits(&r);
            for (uint32_t b = 0; b < 8; b++)
                byte[b][x >> 8 * b & 255]++;
            change[(x ^ before) >> 56]++;
            before = x;
        }
        for (uint32_t b = 0; b < 8; b++) {
            double chi2 = chi_square_256(byte[b], DRAWS);
            CHECK(chi2 < 331, "way %u, byte %u: chi-square %g", way, b, chi2);
        }
        double chi2 = chi_square_256(change, DRAWS);
        CHECK(chi2 < 331, "way %u, changes: chi-square %g", way, chi2);
    }
    ss_rng_close(&r);
}

/* Pearson's correlation of 500 numbers of each of two places, over all pairs of 40 places: no pair
 * beyond 4.5 / sqrt(500), which chance does in one of 190 runs of all 780 pairs. */
static void counted_streams_are_not_correlated(void)
{
    enum { PLACES = 40, N = 500 };
    static double u[PLACES][N];
    ss_error err = {0};
    ss_rng r = {0};
    CHECK_OK(ss_rng_open_counted(&r, &err));
    for (uint32_t p = 0; p < PLACES; p++) {
        ss_rng_seek(&r, p % 2, p / 2 % 4, p / 8);
        for (uint32_t i = 0; i < N; i++)
            u[p][i] = ss_rng_uniform(&r) - 0.5;
    }
    for (uint32_t p = 0; p < PLACES; p++)
        for (uint32_t q = 0; q < p; q++) {
            double sum = 0;
            for (uint32_t i = 0; i < N; i++)
                sum += u[p][i] * u[q][i];
            double c = sum / N * 12; /* the variance of each is 1/12 */
            CHECK(fabs(c) < 4.5 / sqrt(N), "places %u and %u: %g", p, q, c);
        }
    ss_rng_close(&r);
}

int main(void)
{
    RUN(a_long_sentence_is_cut_visibly);
    RUN(context_goes_in_front_and_the_status_stays);
    RUN(exit_statuses_tell_input_from_machine);
    RUN(memory_is_counted);
    RUN(the_nth_request_fails_and_so_do_later_ones);
    RUN(a_failed_reserve_leaves_the_array);
    RUN(an_arena_gives_aligned_memory_and_drops_it);
    RUN(names_keep_their_ids);
    RUN(the_last_name_can_be_taken_back);
    RUN(names_survive_every_failed_allocation);
    RUN(text_grows_and_escapes);
    RUN(pieces_of_all_lengths_are_appended_whole);
    RUN(a_failed_append_is_seen_at_the_end);
    RUN(the_nearest_name_is_one_that_may_have_been_meant);
    RUN(a_noun_has_its_plural);
    RUN(times_are_rounded_once_to_the_nearest);
    RUN(times_never_wrap);
    RUN(quantities_are_read_with_their_units);
    RUN(a_wrong_unit_is_named_with_an_example);
    RUN(quantities_are_written_short);
    RUN(doubles_are_written_short_and_read_back);
    RUN(hashes_tell_boundaries_apart);
    RUN(streams_have_names_and_seeds);
    RUN(draws_are_uniform);
    RUN(a_counted_stream_is_where_it_was_moved);
    RUN(counted_draws_are_uniform_along_and_across);
    RUN(counted_streams_are_not_correlated);
    return DONE();
}
