/* fuzz_torch [COUNT [SEED]] - damaged traces of PyTorch's profiler thrown at the reader.
 *
 * A whole trace is damaged in a few places and read.  It must be refused with a sentence that begins with the file's name,
 * or be a trace whose rows add up to its total and whose page, JSON and profile can be made; nothing may be lost either way.
 */
#include <math.h>

#include "check.h"
#include "damage.h"

#include "base/mem.h"
#include "validation/torch/trace.h"

static uint64_t count = 20000, seed = 1;
static ss_error err;

#define OP(name, at, took, more)                                                                   \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name                                       \
    "\", \"pid\": 7, \"tid\": 7, \"ts\": " at ", \"dur\": " took                                   \
    ", \"args\": {\"External id\": 4" more "}},\n"
#define WORK(number, at, took)                                                                     \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", \"pid\": 7, \"tid\": 7, "    \
    "\"ts\": " at ", \"dur\": 1, \"args\": {\"correlation\": " number "}},\n"                      \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k<int>\", \"pid\": 0, \"tid\": 7, \"ts\": "  \
    "1, \"dur\": " took ", \"args\": {\"correlation\": " number ", \"External id\": 4}},\n"

static const char whole[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}], "
    "\"traceEvents\": [\n" OP("aten::conv2d", "100.250", "50",
                              ", \"Sequence number\": 3, \"Input Dims\": [[2, 3, 9, 9], [4, 3, 3, "
                              "3], [4], [], [], [], []], \"Input type\": "
                              "[\"float\", \"float\", \"float\"], \"Concrete Inputs\": [\"\", "
                              "\"\", \"\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"1\"]")
        WORK("1", "110", "12.5") OP("aten::linear", "200", "50",
                                    ", \"Sequence number\": 4, \"Input Dims\": [[5, 3], [4, 3], "
                                    "[4]], \"Input type\": [\"float\"]")
            OP("aten::addmm", "210", "20",
               ", \"Sequence number\": 5, \"Input Dims\": [[4], [5, 3], [3, 4]]") WORK("2", "215",
                                                                                       "7")
                OP("aten::cat", "250", "9",
                   ", \"Input Dims\": [[[2, 3], [2, 4]], []]") WORK("3", "252", "3.125")
                    OP("AddmmBackward0", "300", "60", ", \"Sequence number\": 5") OP(
                        "aten::mm", "310", "9",
                        ", \"Input Dims\": [[4, 5], [5, 3]], \"Input type\": [\"float\"]")
                        WORK("4", "312", "4") WORK(
                            "9", "900",
                            "1") "{\"ph\": \"M\", \"name\": \"process_name\", \"args\": {\"name\": "
                                 "\"python\", \"deep\": [[[1, {\"a\": null}]]]}}\n]}\n";

static const char *const pieces[] = {"[",
                                     "]",
                                     "{",
                                     "}",
                                     ",",
                                     ":",
                                     "\"",
                                     "null",
                                     "true",
                                     "-1",
                                     "1e30",
                                     "1e309",
                                     "0.0000001",
                                     "99999999",
                                     "4294967296",
                                     "9223372036854775807",
                                     "1e-400",
                                     "18446744073709551616",
                                     "[[[[[[",
                                     "[[],[]]",
                                     "\\u0000",
                                     "\\ud800",
                                     "\xff\xfe",
                                     "\x1f",
                                     "NaN",
                                     "\"dur\": 3,",
                                     "\"args\": 3,",
                                     "\"Input Dims\": [],",
                                     "\"traceEvents\": [{}],"};

enum { ROOM = 8192 };

static damage harm = {.room = ROOM,
                   .piece = pieces,
                   .pieces = sizeof pieces / sizeof *pieces,
                   .seldom = 16};

static void look(const ss_torch_trace *t)
{
    ss_text text = {0};
    ss_profile p = {0};
    double sum = t->untied_s, mapped = 0;
    for (uint32_t i = 0; i < t->rows; i++) {
        sum += t->row[i].total_s;
        mapped += t->row[i].kind ? t->row[i].total_s : 0;
        CHECK((t->row[i].kind == NULL) == (t->row[i].why != NULL), "seed %llu",
              (unsigned long long)harm.seed);
    }
    CHECK(fabs(sum - t->total_s) <= 1e-9 * t->total_s + 1e-15, "seed %llu: rows %.17g, total %.17g",
          (unsigned long long)harm.seed, sum, t->total_s);
    CHECK(fabs(mapped - t->mapped_s) <= 1e-9 * t->total_s, "seed %llu",
          (unsigned long long)harm.seed);
    CHECK_OK(ss_torch_trace_text(t, (uint32_t)damage_draw(&harm, 4), &text, &err));
    CHECK_OK(ss_torch_trace_json(t, &text, &err));
    if (t->parts)
        CHECK(!ss_torch_trace_profile(t, "gpu", &p, &err), "seed %llu: %s",
              (unsigned long long)harm.seed, err.text);
    ss_profile_free(&p);
    ss_text_free(&text);
}

static void a_damaged_trace_is_refused_or_adds_up(void)
{
    static char text[ROOM];
    uint64_t good = 0, parts = 0;
    for (uint64_t i = 0; i < count; i++) {
        harm.seed = seed + i;
        harm.drawn = 0;
        size_t n = sizeof whole - 1, before = ss_mem_blocks();
        memcpy(text, whole, n);
        for (size_t k = damage_draw(&harm, 4); k > 0; k--)
            n = damage_text(&harm, text, n);
        ss_torch_trace t;
        err.text[0] = 0;
        ss_status s = ss_torch_trace_parse(text, n, "x.json", &t, &err);
        if (s) {
            CHECK(s == SS_EFORMAT && strncmp(err.text, "x.json:", 7) == 0, "seed %llu: \"%s\"",
                  (unsigned long long)harm.seed, err.text);
        } else {
            good++;
            parts += t.parts;
            look(&t);
            ss_torch_trace_free(&t);
        }
        CHECK(ss_mem_blocks() == before, "seed %llu", (unsigned long long)harm.seed);
    }
    printf("%llu traces, %llu of them were read, with %llu operators of ours\n",
           (unsigned long long)count, (unsigned long long)good, (unsigned long long)parts);
    CHECK(count < 100 || (good > count / 10 && good < count && parts > good),
          "the damage is of the wrong size");
}

static void each_request_for_memory_may_fail(void)
{
    size_t before = ss_mem_blocks();
    ss_torch_trace t;
    ss_profile p = {0};
    ss_text text = {0};
    int64_t n = 0;
    for (ss_status s = SS_ENOMEM; s; n++) {
        ss_mem_fail_after(n);
        s = ss_torch_trace_parse(whole, sizeof whole - 1, "x.json", &t, &err);
        if (!s) {
            s = ss_torch_trace_json(&t, &text, &err);
            if (!s)
                s = ss_torch_trace_profile(&t, "gpu", &p, &err);
            ss_torch_trace_free(&t);
        }
        ss_mem_fail_never();
        ss_profile_free(&p);
        ss_text_free(&text);
        CHECK((!s || s == SS_ENOMEM) && ss_mem_blocks() == before, "request %lld: status %d: %s",
              (long long)n, (int)s, err.text);
        if (s && s != SS_ENOMEM)
            return;
    }
    CHECK(n > 50, "%lld requests", (long long)n);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    RUN(each_request_for_memory_may_fail);
    RUN(a_damaged_trace_is_refused_or_adds_up);
    return DONE();
}
