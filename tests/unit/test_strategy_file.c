#include "config.h"

#include "strategy_fixture.h"

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/file.h"
#include "io/strategy_file.h"

enum { SEED = 410 };

static ss_rng rng;
static ss_model *cnn, *rnn;
static ss_topology *four, *uneven;

static uint32_t below(uint32_t n)
{
    return (uint32_t)ss_rng_below(&rng, n);
}

static ss_strategy *fresh(const ss_model *m, const ss_topology *t)
{
    ss_strategy *s;
    if (ss_strategy_new(m, t, &s, &err))
        fixture_failed();
    return s;
}

static void set(ss_strategy *s, const char *op, uint32_t n, uint32_t c, const ss_device *device,
                uint32_t devices)
{
    uint32_t degree[2] = {n, c};
    if (ss_strategy_set(s, fixture_find(s->model, op), degree, 2, device, devices, &err))
        fixture_failed();
}

/* conv1 n 4, fc4 c 2 on 3 and 1, fc6 n 2 c 2 pinned, the rest whole on device 1. */
static ss_strategy *example(void)
{
    ss_strategy *s = fresh(cnn, four);
    set(s, "conv1", 4, 1, (ss_device[]){{1}, {2}, {3}, {4}}, 4);
    set(s, "fc4", 1, 2, (ss_device[]){{3}, {1}}, 2);
    set(s, "fc6", 2, 2, (ss_device[]){{2}}, 1);
    ss_strategy_pin(s, fixture_find(cnn, "fc6"), SS_PIN_DEVICES, &err);
    ss_strategy_pin_degree(s, fixture_find(cnn, "fc6"), 1, &err);
    ss_strategy_pin(s, fixture_find(cnn, "loss7"), SS_PIN_ALL, &err);
    return s;
}

static void a_file_has_a_line_for_each_operator(void)
{
    static const char head[] = "{\n"
                               "  \"format\": \"soapstone strategy\",\n"
                               "  \"version\": 1,\n"
                               "  \"model\": {\"name\": \"little\", \"hash\": \"%016llx\"},\n"
                               "  \"topology\": {\"name\": \"four\", \"hash\": \"%016llx\"},\n";
    static const char rest[] =
        "  \"operators\": {\n"
        "    \"conv1\": {\"degrees\": {\"n\": 4}, \"devices\": [1, 2, 3, 4]},\n"
        "    \"pool2\": {\"degrees\": {}, \"devices\": [1]},\n"
        "    \"flat3\": {\"degrees\": {}, \"devices\": [1]},\n"
        "    \"fc4\": {\"degrees\": {\"c\": 2}, \"devices\": [3, 1]},\n"
        "    \"relu5\": {\"degrees\": {}, \"devices\": [1]},\n"
        "    \"fc6\": {\"degrees\": {\"n\": 2, \"c\": 2}, \"devices\": [2], \"pinned\": "
        "[\"devices\", "
        "\"c\"]},\n"
        "    \"loss7\": {\"degrees\": {}, \"devices\": [1], \"pinned\": [\"degrees\", "
        "\"devices\"]}\n"
        "  }\n"
        "}\n";
    ss_strategy *s = example();
    ss_text got = {0}, wanted = {0};
    ss_text_add(&wanted, head, (unsigned long long)ss_model_hash(cnn),
                (unsigned long long)ss_topology_hash(four));
    ss_text_add(&wanted, "%s", rest);
    CHECK_OK(ss_strategy_write(s, &got, &err));
    CHECK(!strcmp(ss_text_get(&got), ss_text_get(&wanted)), "got\n%s", ss_text_get(&got));
    ss_text_free(&got);
    ss_text_free(&wanted);
    ss_strategy_free(s);
}

static bool same_pins(const ss_strategy *a, const ss_strategy *b)
{
    return !memcmp(a->pin + 1, b->pin + 1, a->ops) &&
           !memcmp(a->pin_degree + 1, b->pin_degree + 1, a->ops * sizeof *a->pin_degree);
}

static void what_is_written_is_read_back_with_its_pins(void)
{
    for (int turn = 0; turn < 60; turn++) {
        ss_strategy *s = fresh(turn % 2 ? cnn : rnn, turn % 3 ? uneven : four), *back = NULL;
        CHECK_OK(ss_strategy_random(s, &rng, 1 + below(100), &err));
        for (uint32_t i = 1; i <= s->ops; i++) {
            ss_strategy_pin(s, (ss_op){i}, (ss_pin)below(4), &err);
            if (below(2))
                ss_strategy_pin_degree(s, (ss_op){i}, 0, &err);
        }
        ss_text text = {0}, again = {0};
        CHECK_OK(ss_strategy_write(s, &text, &err));
        ss_strategy_loading l = {0};
        CHECK_OK(ss_strategy_parse(ss_text_get(&text), text.n, "turn", s->model, s->topology, &l,
                                   &back, &err));
        CHECK(l.matched == s->ops && !l.missing && !l.unknown, "%u matched", l.matched);
        CHECK(ss_strategy_same(s, back) && same_pins(s, back), "seed %d turn %d", SEED, turn);
        CHECK_OK(ss_strategy_write(back, &again, &err));
        CHECK(!strcmp(ss_text_get(&text), ss_text_get(&again)), "seed %d turn %d", SEED, turn);
        ss_text_free(&text);
        ss_text_free(&again);
        ss_strategy_free(s);
        ss_strategy_free(back);
    }
}

static void a_saved_strategy_is_loaded(void)
{
    char folder[] = "/tmp/soapstone-test-strategy-XXXXXX", path[80];
    CHECK(mkdtemp(folder), "mkdtemp");
    snprintf(path, sizeof path, "%s/best.strategy", folder);
    ss_strategy *s = example(), *back = NULL;
    CHECK(ss_strategy_load(path, cnn, four, NULL, &back, &err) == SS_ENOTFOUND, "%s", err.text);
    CHECK_TEXT(err.text, "best.strategy: there is no such file");
    CHECK_OK(ss_strategy_save(s, path, &err));
    CHECK_OK(ss_strategy_load(path, cnn, four, NULL, &back, &err));
    CHECK(ss_strategy_same(s, back) && same_pins(s, back), "not the same");
    unlink(path);
    rmdir(folder);
    CHECK(ss_strategy_save(s, path, &err) == SS_ENOTFOUND, "%s", err.text);
    ss_strategy_free(s);
    ss_strategy_free(back);
}

/* What a slip of the pen would lose. */
static void other_files_are_no_place_for_a_strategy(void)
{
    static const char *const other[] = {"return 1\n", "{\"format\": \"soapstone\"}\n",
                                        "[\"soapstone strategy\"]",
                                        "{\"format\": \"soapstone strategy\"", "\x89HDF\r\n\x1a\n"};
    char path[] = "/tmp/soapstone-test-strategy-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0, "mkstemp");
    CHECK_OK(ss_strategy_check_place(path, &err)); /* it is empty */
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        CHECK_OK(ss_file_write(path, other[i], strlen(other[i]), &err));
        CHECK(ss_strategy_check_place(path, &err) == SS_EINVAL, "%s", other[i]);
        CHECK_TEXT(err.text, "no strategy file of soapstone");
        CHECK_TEXT(err.text, path);
    }
    ss_strategy *s = example();
    CHECK_OK(ss_strategy_save(s, path, &err));
    CHECK_OK(ss_strategy_check_place(path, &err));
    ss_strategy_free(s);
    close(fd);
    unlink(path);
    CHECK_OK(ss_strategy_check_place(path, &err));
}

/* The example with its first `old` replaced. */
static void edited(const char *old, const char *new, ss_text *out)
{
    ss_strategy *s = example();
    ss_text all = {0};
    if (ss_strategy_write(s, &all, &err))
        fixture_failed();
    const char *text = ss_text_get(&all), *at = strstr(text, old);
    if (!at) {
        printf("no \"%s\" in\n%s", old, text);
        exit(99);
    }
    ss_text_clear(out);
    ss_text_add_bytes(out, text, (size_t)(at - text));
    ss_text_add(out, "%s%s", new, at + strlen(old));
    ss_text_free(&all);
    ss_strategy_free(s);
}

static void wrong_files_are_refused_with_the_place(void)
{
    static const struct {
        const char *old, *new;
        ss_status status;
        const char *sentence;
    } wrong[] = {
        {"\"version\": 1,", "\"version\": 1", SS_EFORMAT, "f:4:"},
        {"\"relu5\"", "\"fc4\"", SS_EFORMAT, "f:11:"},
        {"\"soapstone strategy\"", "\"soapstone record\"", SS_EFORMAT,
         "f: format: it is \"soapstone record\", not \"soapstone strategy\""},
        {"\"format\"", "\"fromat\"", SS_EFORMAT, "f: there is no \"format\""},
        {"\"version\": 1", "\"version\": 2", SS_EFORMAT,
         "f: version: it is 2, and this program reads version 1"},
        {"\"version\": 1", "\"version\": \"1\"", SS_EFORMAT,
         "f: version: it is a string; a whole number is wanted"},
        {"\"version\": 1,", "\"version\": 1, \"operator\": 3,", SS_EFORMAT,
         "f: operator: no such thing is known here; is \"operators\" meant?"},
        {"\"name\": \"little\"", "\"name\": \"large\"", SS_EINVAL,
         "f: the strategy is for model \"large\", and this one is \"little\""},
        {"\"name\": \"four\"", "\"name\": \"five\"", SS_EINVAL,
         "f: the strategy is for topology \"five\", and this one is \"four\""},
        {"\"name\": \"little\"", "\"name\": 7", SS_EFORMAT,
         "f: model: name: it is a whole number; a string is wanted"},
        {"\"little\", \"hash\": \"", "\"little\", \"hash\": \"x", SS_EINVAL,
         "f: the strategy is for another model \"little\" (hash x"},
        {"\"four\", \"hash\": \"", "\"four\", \"hash\": \"y", SS_EINVAL,
         "f: the strategy is for another topology \"four\" (hash y"},
        {"\"four\", \"hash\"", "\"four\", \"has\"", SS_EFORMAT,
         "f: topology: there is no \"hash\""},
        {"\"operators\": {", "\"operators\": [], \"x\": {", SS_EFORMAT, "f: x: no such thing"},
        {"\"fc4\": {", "\"fc5\": {", SS_EINVAL,
         "f: operators.fc5: model little has no such operator; the nearest is fc4"},
        {"    \"pool2\": {\"degrees\": {}, \"devices\": [1]},\n", "", SS_EFORMAT,
         "f: operators: pool2 is missing"},
        {"\"pool2\": {\"degrees\": {}, \"devices\": [1]}", "\"pool2\": 3", SS_EFORMAT,
         "f: operators.pool2: it is a whole number; an object is wanted"},
        {"{\"n\": 4}", "{\"n\": 400}", SS_EINVAL,
         "f: operators.conv1: conv1: degree 400 on n: its extent is 37"},
        {"{\"n\": 4}", "{\"m\": 4}", SS_EINVAL,
         "f: operators.conv1: degrees.m: a conv2d has no dimension \"m\", its dimensions are n, c, "
         "h, w"},
        {"{\"n\": 4}", "{\"n\": 4.5}", SS_EFORMAT,
         "f: operators.conv1: degrees.n: it is a number with a fraction or exponent"},
        {"{\"n\": 4}", "{\"n\": -4}", SS_EINVAL,
         "f: operators.conv1: degrees.n: -4 is out of range"},
        {"{\"n\": 4}", "{\"n\": 4294967296}", SS_EINVAL, "degrees.n: 4294967296 is out of range"},
        {"{\"n\": 4}", "{\"n\": 99999999999999999999}", SS_EFORMAT, "f:7:"},
        {"{\"n\": 4}", "{\"n\": true}", SS_EFORMAT, "degrees.n: it is true or false"},
        {"{\"n\": 4}", "{\"n\": 0}", SS_EINVAL, "f: operators.conv1: conv1: degree 0 on n"},
        {"{\"n\": 4}", "null", SS_EFORMAT,
         "f: operators.conv1: degrees: it is null; an object is wanted"},
        {"[1, 2, 3, 4]", "[1, 2, 3]", SS_EINVAL, "conv1: 3 devices for 4 parts (n 4)"},
        {"[1, 2, 3, 4]", "[1, 2, 5, 3]", SS_EINVAL, "conv1: part 3 of 4 is on device 5"},
        {"[1, 2, 3, 4]", "[1, 2, \"3\", 4]", SS_EFORMAT,
         "f: operators.conv1: devices[3]: it is a string; a whole number is wanted"},
        {"[1, 2, 3, 4]", "[]", SS_EINVAL, "f: operators.conv1: devices: the list is empty"},
        {"[1, 2, 3, 4]", "{}", SS_EFORMAT,
         "f: operators.conv1: devices: it is an object; a list is wanted"},
        {"\"degrees\": {}, \"devices\"", "\"degrees\": {}, \"device\"", SS_EFORMAT,
         "f: operators.pool2: device: no such thing is known here; is \"devices\" meant?"},
        {"[\"devices\", \"c\"]", "[\"devices\", \"cc\"]", SS_EINVAL,
         "f: operators.fc6: pinned[2]: a linear has no dimension \"cc\""},
        {"[\"devices\", \"c\"]", "[\"devices\", 3]", SS_EFORMAT,
         "f: operators.fc6: pinned[2]: it is a whole number; a string is wanted"},
        {"[\"devices\", \"c\"]", "\"all\"", SS_EFORMAT,
         "f: operators.fc6: pinned: it is a string; a list is wanted"},
    };
    ss_text text = {0};
    for (uint32_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        ss_strategy *s = NULL;
        edited(wrong[k].old, wrong[k].new, &text);
        ss_status st =
            ss_strategy_parse(ss_text_get(&text), text.n, "f", cnn, four, NULL, &s, &err);
        CHECK(st == wrong[k].status && !s, "case %u: status %d, %s", k, st, st ? err.text : "ok");
        CHECK_TEXT(err.text, wrong[k].sentence);
        CHECK(!strncmp(err.text, "f:", 2), "case %u: %s", k, err.text);
    }
    static const char *const no_strategy[] = {"",
                                              " ",
                                              "[1, 2]",
                                              "3",
                                              "\"x\"",
                                              "{}",
                                              "null",
                                              "\xff",
                                              "{\"format\": \"soapstone strategy\"}",
                                              "{\"a\": \"\\u0000\"}"};
    for (uint32_t k = 0; k < sizeof no_strategy / sizeof no_strategy[0]; k++) {
        ss_strategy *s = NULL;
        ss_status st = ss_strategy_parse(no_strategy[k], strlen(no_strategy[k]), "f", cnn, four,
                                         NULL, &s, &err);
        CHECK(st == SS_EFORMAT && !s && !strncmp(err.text, "f:", 2), "%s: %s", no_strategy[k],
              err.text);
    }
    ss_text_free(&text);
}

static void every_truncation_is_refused(void)
{
    ss_strategy *s = example(), *back = NULL;
    ss_text text = {0};
    CHECK_OK(ss_strategy_write(s, &text, &err));
    for (uint32_t n = 0; n + 2 < text.n; n++) { /* the last byte is a newline */
        ss_status st = ss_strategy_parse(ss_text_get(&text), n, "f", cnn, four, NULL, &back, &err);
        CHECK(st == SS_EFORMAT && !back, "%u of %u bytes", n, text.n);
    }
    ss_text_free(&text);
    ss_strategy_free(s);
}

static void by_name_a_strategy_fits_another_size_of_the_model(void)
{
    ss_model *large = fixture_cnn(74), *small = fixture_cnn(3);
    ss_strategy *s = example(), *back = NULL;
    ss_text text = {0};
    ss_strategy_loading l = {.by_name = true};
    CHECK_OK(ss_strategy_write(s, &text, &err));
    CHECK(ss_strategy_parse(ss_text_get(&text), text.n, "f", large, four, NULL, &back, &err) ==
              SS_EINVAL,
          "another batch");
    CHECK_TEXT(err.text, "takes what fits");
    CHECK_OK(ss_strategy_parse(ss_text_get(&text), text.n, "f", large, four, &l, &back, &err));
    CHECK(l.matched == 7 && !l.missing && !l.unknown, "%u matched", l.matched);
    CHECK(ss_strategy_same(s, back), "not the same");
    ss_strategy_free(back);
    back = NULL;
    CHECK(ss_strategy_parse(ss_text_get(&text), text.n, "f", small, four, &l, &back, &err) ==
              SS_EINVAL,
          "4 parts of 3 samples");
    CHECK_TEXT(err.text, "f: operators.conv1: conv1: degree 4 on n: its extent is 3");
    CHECK_OK(ss_strategy_parse(ss_text_get(&text), text.n, "f", rnn, uneven, &l, &back, &err));
    CHECK(!l.matched && l.missing == rnn->ops && l.unknown == 7, "%u, %u, %u", l.matched, l.missing,
          l.unknown);
    CHECK_OK(ss_strategy_check(back, &err));
    ss_strategy_free(back);
    ss_strategy_free(s);
    ss_text_free(&text);
    ss_model_free(large);
    ss_model_free(small);
}

static void a_printed_strategy_joins_what_is_alike(void)
{
    static const char wanted[] =
        "strategy of little on four: 7 operators in 14 parts on 4 devices\n"
        "  conv1                           n 4                 1-4\n"
        "  pool2 .. flat3 (2)              whole               1\n"
        "  fc4                             c 2                 3, 1\n"
        "  relu5                           whole               1\n"
        "  fc6                             n 2, c 2            2 x4  pinned: devices, c\n"
        "  loss7                           whole               1  pinned: all\n";
    ss_strategy *s = example();
    ss_text text = {0};
    CHECK_OK(ss_strategy_print(s, &text, &err));
    CHECK(!strcmp(ss_text_get(&text), wanted), "got\n%s", ss_text_get(&text));
    ss_text_free(&text);
    ss_strategy_free(s);
}

static void devices_are_shortened_without_loss_of_order(void)
{
    ss_strategy *s = fresh(cnn, uneven);
    ss_text text = {0};
    set(s, "fc4", 1, 10, (ss_device[]){{1}, {2}, {3}, {1}, {2}, {6}, {6}, {6}, {5}, {4}}, 10);
    ss_config_text(s, fixture_find(cnn, "fc4"), &text);
    CHECK(!strcmp(ss_text_get(&text), "c 10 on 1-3, 1-2, 6 x3, 5, 4"), "%s", ss_text_get(&text));
    ss_device zigzag[30];
    for (uint32_t k = 0; k < 30; k++)
        zigzag[k].i = k % 2 ? 1 : 6;
    set(s, "fc4", 1, 30, zigzag, 30);
    ss_text_clear(&text);
    ss_config_text(s, fixture_find(cnn, "fc4"), &text);
    CHECK(!strcmp(ss_text_get(&text), "c 30 on 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, ... (30 parts)"),
          "%s", ss_text_get(&text));
    ss_text_free(&text);
    ss_strategy_free(s);
}

static void a_difference_names_operators_old_and_new(void)
{
    ss_strategy *a = example(), *b = example(), *c = fresh(rnn, four);
    ss_text text = {0};
    uint32_t differ = 9;
    CHECK_OK(ss_strategy_diff(a, b, &text, &differ, &err));
    CHECK(!differ && !strcmp(ss_text_get(&text), "0 of 7 operators differ\n"), "%s",
          ss_text_get(&text));
    set(b, "fc4", 3, 1, (ss_device[]){{2}, {3}, {4}}, 3);
    set(b, "pool2", 1, 1, (ss_device[]){{4}}, 1);
    ss_text_clear(&text);
    CHECK_OK(ss_strategy_diff(a, b, &text, &differ, &err));
    CHECK(differ == 2 && !strcmp(ss_text_get(&text), "2 of 7 operators differ\n"
                                                     "  pool2: whole on 1 -> whole on 4\n"
                                                     "  fc4: c 2 on 3, 1 -> n 3 on 2-4\n"),
          "%s", ss_text_get(&text));
    ss_text_clear(&text);
    CHECK_OK(ss_strategy_diff(a, c, &text, &differ, &err));
    CHECK(differ == 7 + rnn->ops, "%u", differ);
    CHECK_TEXT(ss_text_get(&text), "conv1: only in the first, n 4 on 1-4");
    CHECK_TEXT(ss_text_get(&text), "out.1: only in the second, whole on 1");
    ss_text_free(&text);
    ss_strategy_free(a);
    ss_strategy_free(b);
    ss_strategy_free(c);
}

static void without_memory_nothing_is_lost(void)
{
    ss_strategy *s = example();
    ss_text text = {0};
    CHECK_OK(ss_strategy_write(s, &text, &err));
    size_t blocks = ss_mem_blocks();
    int n = 0;
    for (ss_status st = SS_ENOMEM; st && n < 200; n++) {
        ss_strategy *back = NULL;
        ss_text more = {0};
        ss_mem_fail_after(n);
        st = ss_strategy_parse(ss_text_get(&text), text.n, "f", cnn, four, NULL, &back, &err);
        if (!st)
            st = ss_strategy_write(back, &more, &err);
        if (!st)
            st = ss_strategy_print(back, &more, &err);
        if (!st)
            st = ss_strategy_diff(s, back, &more, NULL, &err);
        ss_mem_fail_never();
        ss_strategy_free(back);
        ss_text_free(&more);
        CHECK(!st || st == SS_ENOMEM, "%d: %s", n, err.text);
        CHECK(ss_mem_blocks() == blocks, "%d: leak", n);
    }
    CHECK(n > 10 && n < 200, "%d allocations", n);
    ss_text_free(&text);
    ss_strategy_free(s);
}

int main(void)
{
    uint32_t each[3] = {4}, sizes[3] = {2, 3, 1};
    if (ss_rng_open(&rng, SEED, "strategy files", &err))
        return 99;
    cnn = fixture_cnn(37);
    rnn = fixture_rnn(29);
    four = fixture_cluster("four", 1, each);
    uneven = fixture_cluster("uneven", 3, sizes);
    RUN(a_file_has_a_line_for_each_operator);
    RUN(what_is_written_is_read_back_with_its_pins);
    RUN(a_saved_strategy_is_loaded);
    RUN(other_files_are_no_place_for_a_strategy);
    RUN(wrong_files_are_refused_with_the_place);
    RUN(every_truncation_is_refused);
    RUN(by_name_a_strategy_fits_another_size_of_the_model);
    RUN(a_printed_strategy_joins_what_is_alike);
    RUN(devices_are_shortened_without_loss_of_order);
    RUN(a_difference_names_operators_old_and_new);
    RUN(without_memory_nothing_is_lost);
    ss_model_free(cnn);
    ss_model_free(rnn);
    ss_topology_free(four);
    ss_topology_free(uneven);
    ss_rng_close(&rng);
    return DONE();
}
