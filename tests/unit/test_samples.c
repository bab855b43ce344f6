#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/samples.h"

static ss_error err;
static char path[64];

static ss_status read_text(const char *text, const char *const *column, ss_samples *s)
{
    if (ss_file_write(path, text, strlen(text), &err))
        exit(99);
    return ss_samples_read(path, column, s, &err);
}

static void wrong_tables_are_refused_with_line_and_column(void)
{
    const struct {
        const char *text, *says;
    } bad[] = {
        {"", "empty: a header line is wanted"},
        {"bytes,secs\n1,2\n", ":1:1: column seconds (or bandwidth) is missing"},
        {"seconds\n1\n", ":1:1: column bytes is missing"},
        {"bytes,seconds,wieght\n1,2,3\n", ":1:15: there is no column wieght; did you mean weight?"},
        {"bytes,seconds,seconds\n1,2,3\n", ":1:15: column seconds is there twice"},
        {"bytes,seconds [kg]\n1,2\n", ":1:7: column seconds [kg]"},
        {"bytes,seconds,curve [s]\n1,2,3\n", ":1:15: column curve has no unit"},
        {"bytes,seconds\n1\n", ":2:1: 1 fields, and the header has 2"},
        {"bytes,seconds\n8,1e-6\n# why\n9 s,1e-6\n", ":4:1: "},
        {"bytes,seconds\n8,1e-6\n-9,1e-6\n", ":3:1: bytes is -9: it cannot be below 0"},
        {"bytes,seconds\n8,slow\n", ":2:3: "},
        {"bytes,seconds\n8,0\n", ":2:3: seconds is 0: above 0 is wanted"},
        {"bytes,seconds\n8,nan\n", ":2:3: "},
        {"bytes,bandwidth\n0,1 GB/s\n", ":2:1: 0 bytes have no bandwidth"},
        {"bytes,bandwidth\n8,1 GB\n", ":2:3: "},
        {"bytes,seconds,weight\n8,1,-1\n", ":2:5: weight is -1"},
        {"bytes,seconds,method\n8,1,oneway\n", ":2:5: method oneway: one_way or streamed"},
        {"bytes,seconds,ranks\n8,1,1\n", ":2:5: ranks is 1: a whole number from 2"},
        {"bytes,seconds,ranks\n8,1,2.5\n", ":2:5: ranks is 2.5"},
        {"bytes,seconds,operation\n8,1,all_reduse\n",
         ":2:5: there is no operation 'all_reduse'; did"},
        {"bytes,seconds,operation,algorithm\n8,1,reduce,fast\n",
         ":2:12: reduce has no algorithm 'fast': there is ring, tree"},
        {"bytes,seconds\n", ":1: the table has no row with a time"},
        {"bytes,seconds\n8,\n", ":2: the table has no row with a time"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ss_samples samples;
        ss_status s = read_text(bad[i].text, NULL, &samples);
        CHECK(s == SS_EFORMAT || s == SS_EINVAL, "case %u: %s", i, s ? err.text : "accepted");
        CHECK(!strncmp(err.text, path, strlen(path)), "case %u: %s", i, err.text);
        CHECK_TEXT(err.text, bad[i].says);
        CHECK(!samples.curve && !samples.n, "case %u leaves something", i);
    }
}

static void columns_come_in_any_order_with_units_and_others_between(void)
{
    ss_samples s;
    CHECK_OK(read_text("notes,seconds [us],bytes,method,weight\n"
                       "\"a, b\",3.5,64 KiB,streamed,4\n"
                       ",2 ms,1e6,,\n"
                       "no time,,8,backwards,\n",
                       NULL, &s));
    CHECK(s.n == 1 && s.curve[0].n == 2 && s.skipped == 1, "%u curves, %u skipped", s.n, s.skipped);
    const ss_sample *row = s.curve[0].sample;
    CHECK(row[0].bytes == 65536 && fabs(row[0].seconds - 3.5e-6) < 1e-18, "%g", row[0].seconds);
    CHECK(row[0].streamed && row[0].weight == 4, "%g", row[0].weight);
    CHECK(row[1].bytes == 1e6 && row[1].seconds == 2e-3 && !row[1].streamed && row[1].weight == 1,
          "%g", row[1].seconds);
    ss_samples_free(&s);
}

static void a_table_with_names_of_its_own_is_read_by_them(void)
{
    const char *column[SS_SAMPLES_COLUMNS] = {0};
    const char *text = "size_bytes,bw,time_us\n100,2,7\n200,4,8\n";
    ss_samples s;
    column[SS_SAMPLES_BYTES] = "size_bytes";
    column[SS_SAMPLES_BANDWIDTH] = "bw [MB/s]";
    CHECK_OK(read_text(text, column, &s));
    CHECK(s.curve[0].n == 2 && s.curve[0].sample[1].seconds == 200 / 4e6, "%g",
          s.curve[0].sample[1].seconds);
    ss_samples_free(&s);
    column[SS_SAMPLES_SECONDS] = "time_us [us]"; /* comes before a bandwidth */
    CHECK_OK(read_text(text, column, &s));
    CHECK(fabs(s.curve[0].sample[1].seconds - 8e-6) < 1e-18, "%g", s.curve[0].sample[1].seconds);
    ss_samples_free(&s);
    column[SS_SAMPLES_CURVE] = "id";
    CHECK(read_text(text, column, &s) == SS_EFORMAT, "a column that is not there");
    CHECK_TEXT(err.text, ":1:1: there is no column id, which is to be the curve");
}

static void rows_are_of_one_curve_where_all_that_is_said_of_it_agrees(void)
{
    ss_samples s;
    CHECK_OK(read_text("curve,operation,ranks,bytes,seconds\n"
                       "b,all_reduce,8,8,1\na,all_reduce,8,9,2\nb,all_reduce,8,10,3\n"
                       "b,all_reduce,4,11,4\nb,reduce,8,12,5\na,all_reduce,8,13,6\n",
                       NULL, &s));
    CHECK(s.n == 4, "%u", s.n);
    CHECK(!strcmp(s.curve[0].name, "b") && s.curve[0].n == 2 && s.curve[0].ranks == 8, "first");
    CHECK(!strcmp(s.curve[1].name, "a") && s.curve[1].sample[1].bytes == 13, "second");
    CHECK(s.curve[2].ranks == 4 && !strcmp(s.curve[3].operation, "reduce"), "others");
    ss_samples_free(&s);
}

static void failing_any_allocation_leaks_nothing(void)
{
    const char *text = "curve,bytes,seconds\na,1,2\nb,2,3\na,3,4\n";
    size_t before = ss_mem_blocks();
    if (ss_file_write(path, text, strlen(text), &err))
        exit(99);
    for (int64_t n = 0;; n++) {
        ss_samples samples;
        ss_mem_fail_after(n);
        ss_status s = ss_samples_read(path, NULL, &samples, &err);
        ss_mem_fail_never();
        ss_samples_free(&samples);
        CHECK(ss_mem_blocks() == before, "request %d leaks", (int)n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM && n < 1000, "request %d: %s", (int)n, err.text);
    }
}

int main(void)
{
    snprintf(path, sizeof path, "test_samples.%ld.csv", (long)getpid());
    RUN(wrong_tables_are_refused_with_line_and_column);
    RUN(columns_come_in_any_order_with_units_and_others_between);
    RUN(a_table_with_names_of_its_own_is_read_by_them);
    RUN(rows_are_of_one_curve_where_all_that_is_said_of_it_agrees);
    RUN(failing_any_allocation_leaks_nothing);
    unlink(path);
    return DONE();
}
