/* fuzz_strategy [SEED [FILES]] - strategy files with random damage.
 *
 * Whatever the damage: the reader answers with a strategy that keeps every rule, or with a sentence
 * that begins with the file's name; and no memory is left behind. */

#include "strategy_fixture.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/strategy_file.h"

enum { SEED = 90210, FILES = 20000, MOST_WOUNDS = 4 };

static ss_rng rng;
static uint32_t fuzz_files = FILES;

static uint32_t below(size_t n)
{
    return n ? (uint32_t)ss_rng_below(&rng, n) : 0;
}

/* Bytes `at` .. `at + cut - 1` of a text replaced by others. */
static void splice(ss_text *t, uint32_t at, uint32_t cut, const char *by, size_t n)
{
    ss_text out = {0};
    ss_text_add_bytes(&out, ss_text_get(t), at);
    ss_text_add_bytes(&out, by, n);
    ss_text_add_bytes(&out, ss_text_get(t) + at + cut, t->n - at - cut);
    ss_text_free(t);
    *t = out;
}

static void wound(ss_text *t)
{
    static const char *const word[] = {"0",
                                       "-1",
                                       "65537",
                                       "4294967296",
                                       "9223372036854775808",
                                       "1e999",
                                       "1.0",
                                       "null",
                                       "true",
                                       "{}",
                                       "[]",
                                       "\"\"",
                                       ",",
                                       ":",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       "\"",
                                       "\\u0000",
                                       "\\ud800",
                                       "\xff",
                                       "\xc3",
                                       "\"degrees\"",
                                       "\"devices\"",
                                       "\"pinned\"",
                                       "\"n\"",
                                       "\"fc4\"",
                                       "\"operators\"",
                                       "[[[[[[[[[[[[[[[[[[[[",
                                       "\"conv1\": {\"degrees\": {\"h\": 3}, \"devices\": [1]},"};
    uint32_t at = below(t->n + 1), left = t->n - at, some = below(left < 40 ? left + 1 : 40);
    char byte = (char)below(256);
    switch (below(10)) {
    case 0: /* a byte becomes another */
        splice(t, at, left ? 1 : 0, &byte, 1);
        break;
    case 1: /* some are lost */
        splice(t, at, some, "", 0);
        break;
    case 2: { /* some come twice */
        char again[40];
        memcpy(again, ss_text_get(t) + at, some);
        splice(t, at, 0, again, some);
        break;
    }
    case 3: /* the rest is lost */
        splice(t, at, left, "", 0);
        break;
    case 4: { /* a word that a reader may stumble over, in place of some */
        const char *w = word[below(sizeof word / sizeof word[0])];
        splice(t, at, some / 8, w, strlen(w));
        break;
    }
    default: /* the next digit becomes another: still JSON, and another meaning */
        while (at < t->n && (t->at[at] < '0' || t->at[at] > '9'))
            at++;
        if (at < t->n)
            t->at[at] = (char)('0' + below(10));
    }
}

static void damaged_files_are_read_or_refused(void)
{
    uint32_t each[3] = {2, 3, 1}, read = 0, refused = 0;
    ss_model *m = fixture_cnn(37);
    ss_topology *t = fixture_cluster("uneven", 3, each);
    ss_strategy *s;
    ss_text whole = {0};
    CHECK_OK(ss_strategy_new(m, t, &s, &err));
    for (uint32_t k = 0; k < fuzz_files; k++) {
        if (k % 100 == 0) { /* another strategy to damage */
            for (uint32_t i = 1; i <= m->ops; i++)
                ss_strategy_unpin(s, (ss_op){i});
            CHECK_OK(ss_strategy_random(s, &rng, 1 + below(60), &err));
            for (uint32_t i = 1; i <= m->ops; i++)
                CHECK_OK(ss_strategy_pin(s, (ss_op){i}, (ss_pin)below(4), &err));
            ss_text_clear(&whole);
            CHECK_OK(ss_strategy_write(s, &whole, &err));
        }
        size_t blocks = ss_mem_blocks();
        ss_text damaged = {0};
        ss_text_add_bytes(&damaged, ss_text_get(&whole), whole.n);
        for (uint32_t wounds = 1 + below(MOST_WOUNDS); wounds > 0; wounds--)
            wound(&damaged);
        ss_strategy_loading l = {.by_name = below(2)};
        ss_strategy *back = NULL;
        err.text[0] = 0;
        if (!ss_strategy_parse(ss_text_get(&damaged), damaged.n, "damaged", m, t, &l, &back,
                               &err)) {
            read++;
            CHECK(ss_strategy_check(back, &err) == SS_OK, "file %u: %s in\n%s", k, err.text,
                  ss_text_get(&damaged));
        } else {
            refused++;
            CHECK(!back && !strncmp(err.text, "damaged:", 8), "file %u: \"%s\" for\n%s", k,
                  err.text, ss_text_get(&damaged));
        }
        ss_strategy_free(back);
        ss_text_free(&damaged);
        CHECK(ss_mem_blocks() == blocks, "file %u: leak", k);
    }
    printf("  %u read, %u refused\n", read, refused);
    CHECK(read > 0 || fuzz_files < 1000, "nothing was read: the damage is too great to test much");
    ss_text_free(&whole);
    ss_strategy_free(s);
    ss_topology_free(t);
    ss_model_free(m);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        fuzz_files = (uint32_t)strtoul(argv[1], NULL, 10);
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : SEED;
    printf("seed %llu\n", (unsigned long long)seed);
    if (ss_rng_open(&rng, seed, "fuzz strategy files", &err))
        return 99;
    RUN(damaged_files_are_read_or_refused);
    ss_rng_close(&rng);
    return DONE();
}
