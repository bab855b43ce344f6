#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/measured.h"
#include "io/measured_h5.h"

static ss_error err;
static char path[64];

#define HEADER "kind,attributes,shape,dtype,phase,device,seconds\n"

static ss_status read_text(const char *text, ss_costs **c)
{
    if (ss_file_write(path, text, strlen(text), &err) || ss_costs_new(c, &err))
        exit(99);
    return ss_measured_read_csv(path, *c, &err);
}

static void wrong_files_are_refused_with_line_and_column(void)
{
    const struct {
        const char *text, *says;
    } bad[] = {
        {"", "empty: a header line is wanted"},
        {"# nothing else\n\n", "empty"},
        {"kind,shape\n", ":1:1: column attributes is missing"},
        {"kind,atributes\n", ":1:6: there is no column atributes; did you mean attributes?"},
        {"kind,kind\n", ":1:6: column kind is there twice"},
        {HEADER "linear,,8x4 < 8x2,f32,forward,p100\n", ":2:31: 6 fields, and the header has 7"},
        {HEADER "linear,,8x4 < 8x2,f32,forwrad,p100,1\n", ":2:23: phase forwrad"},
        {HEADER "linear,,8x4 < 8x2,f32,forward,p100,1 kg\n", ":2:36: "},
        {HEADER "\n# why\nlinear,,8x4 < 8x2,f32,forward,p100,\n", ":4:36: "},
        {HEADER "linaer,,8x4 < 8x2,f32,forward,p100,1\n", ":2:1: linaer is no kind of operator"},
        {HEADER "linear,,8x4 < 8x2,float,forward,p100,1\n", ":2:19: "},
        {HEADER "linear,,8y4 < 8x2,f32,forward,p100,1\n", ":2:9: shape 8y4 < 8x2"},
        {HEADER "linear,bais=1,8x4 < 8x2,f32,forward,p100,1\n", ":2:8: attribute bais"},
        {HEADER "\"linear,,8x4 < 8x2,f32,forward,p100,1\n", ":2:1: the quote that begins here"},
        {HEADER "\"lin\"ear,,8x4 < 8x2,f32,forward,p100,1\n", ":2:1: a comma is wanted"},
        {HEADER "\"linear\"\",,8x4 < 8x2,f32,forward,p100,1", ":2:1: the quote that begins here"},
        {HEADER "linear,,8x4 < 8x2,f32,forward,p100,1\nlinear,,8x4 < 8x2,f32,forward,p100,1\n",
         ":3:1: linear 8x4 < 8x2 (, f32, forward on p100) was measured before"},
        {HEADER "# none\n", ": a table of measured times has no rows"},
        {HEADER "relu,,8x4 < 8x4,f32,forward,p100,1\nlinear,,8x4 < 7x4,f32,forward,p100,1\n",
         ":3:9: shape 8x4 < 7x4: the output has 8 samples"},
        {HEADER "linear,,8x4 < 8x2,f32,forward,p100,0 ms\n",
         ":2:36: it took 0 seconds: a linear does something"},
        {HEADER "linear,,8x4 < 8x2,f32,forward,\xc3\xa9\xc3\xa9,-1\n", ":2:34: "},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ss_costs *c = NULL;
        ss_status s = read_text(bad[i].text, &c);
        ss_costs_free(c);
        CHECK(s == SS_EFORMAT || s == SS_EINVAL, "case %u: %s", i, s ? err.text : "accepted");
        CHECK(!strncmp(err.text, path, strlen(path)), "case %u: %s", i, err.text);
        CHECK_TEXT(err.text, bad[i].says);
    }
    ss_costs *c = NULL;
    CHECK(!ss_file_write(path, "kind\0", 5, &err) && !ss_costs_new(&c, &err), "write");
    CHECK(ss_measured_read_csv(path, c, &err) == SS_EFORMAT, "a zero byte");
    CHECK_TEXT(err.text, "zero byte");
    CHECK(ss_measured_read_csv("/no/such/file.csv", c, &err) == SS_ENOTFOUND, "no such file");
    CHECK_TEXT(err.text, "/no/such/file.csv");
    ss_costs_free(c);
}

static void columns_come_in_any_order_with_units_quotes_and_comments(void)
{
    ss_costs *c = NULL;
    CHECK_OK(read_text("\xef\xbb\xbf# measured on a Tuesday\r\n"
                       "seconds, device ,phase,dtype,shape,attributes,kind,samples,spread_s\r\n"
                       "\r\n"
                       "1.5 ms,p100,forward,f32,\"8x4 < 8x4, 8x4\",\"\",add,30,20 us\r\n"
                       "3e-3,p100,backward,f32,\"8x4 < 8x4, 8x4\",,add,,\r\n"
                       "2e-3,\"a \"\"b\"\"\",forward,f32,8x4 < 8x2,bias=false,linear,1,0",
                       &c));
    ss_text report = {0};
    CHECK_OK(ss_costs_report(c, &report, &err));
    CHECK_TEXT(report.at, "of 3 times: 0 answered");
    CHECK_TEXT(report.at, path);
    ss_text_free(&report);
    ss_costs_free(c);
}

static void the_format_is_told_by_the_bytes_or_else_by_the_name(void)
{
    ss_costs *c = NULL;
    ss_measured row = {.kind = "linear",
                       .device_kind = "p100",
                       .attributes = "",
                       .shape = "8x4 < 8x2",
                       .dtype = "f32",
                       .seconds = 1e-3};
    CHECK_OK(ss_measured_write_h5(path, &row, 1, &err)); /* called .csv */
    CHECK_OK(ss_costs_new(&c, &err));
    CHECK_OK(ss_measured_read(path, c, &err));
    const char *text = HEADER "linear,,9x4 < 9x2,f32,forward,p100,1\n";
    CHECK_OK(ss_file_write(path, text, strlen(text), &err));
    CHECK_OK(ss_measured_read(path, c, &err));
    CHECK(ss_measured_read("/no/such/file.h5", c, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "/no/such/file.h5");
    CHECK(ss_measured_read("/no/such/file", c, &err) == SS_ENOTFOUND, "%s", err.text);
    ss_text report = {0};
    CHECK_OK(ss_costs_report(c, &report, &err));
    const char *first = strstr(report.at, "of 1 time");
    CHECK(first && strstr(first + 1, "of 1 time"), "%s", report.at);
    ss_text_free(&report);
    ss_costs_free(c);
}

static void failing_any_allocation_leaks_nothing(void)
{
    size_t before = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_costs *c = NULL;
        const char *text = HEADER "linear,,8x4 < 8x2,f32,forward,p100,1\n";
        if (ss_file_write(path, text, strlen(text), &err))
            exit(99);
        ss_mem_fail_after(n);
        ss_status s = ss_costs_new(&c, &err);
        if (!s)
            s = ss_measured_read_csv(path, c, &err);
        ss_mem_fail_never();
        ss_costs_free(c);
        CHECK(ss_mem_blocks() == before, "request %d leaks", (int)n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM && n < 1000, "request %d: %s", (int)n, err.text);
    }
}

static void the_names_of_the_columns_are_those_of_the_header_file(void)
{
    uint32_t n;
    const char *const *name = ss_measured_columns(&n);
    CHECK(n == 10 && SS_MEASURED_REQUIRED == 7, "%u", n);
    CHECK(!strcmp(name[6], "seconds") && !strcmp(name[7], "spread_s"), "%s", name[6]);
}

int main(void)
{
    snprintf(path, sizeof path, "test_measured.%ld.csv", (long)getpid());
    RUN(wrong_files_are_refused_with_line_and_column);
    RUN(columns_come_in_any_order_with_units_quotes_and_comments);
    RUN(the_format_is_told_by_the_bytes_or_else_by_the_name);
    RUN(failing_any_allocation_leaks_nothing);
    RUN(the_names_of_the_columns_are_those_of_the_header_file);
    unlink(path);
    return DONE();
}
