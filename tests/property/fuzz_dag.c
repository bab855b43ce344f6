/* fuzz_dag [COUNT [SEED]] - damaged task graphs thrown at the reader.
 *
 * A whole file is damaged in a few places (bytes changed, cut out, said twice, replaced by pieces
 * that mean something in JSON) and parsed.  It must be refused with a sentence that begins with the
 * file's name, or be a graph that the engine runs; nothing may be lost either way.
 */
#include "check.h"
#include "damage.h"

#include "base/mem.h"
#include "io/dag.h"
#include "simulate/engine.h"

static uint64_t count = 20000, seed = 1;
static ss_error err;

static const char whole[] =
    "{\"name\": \"whole\", \"devices\": [1.0, 0.5, 2],\n"
    "\"links\": [[1e9, 1e-6], [2e9, 0], [5e8, 5e-05]],\n"
    "\"routes\": [[0], [0, 1], [1], [2, 1, 0]],\n"
    "\"tasks\": [[\"c\", 0, 0.0003], [\"c\", 1, 4e-4], [\"x\", 1, 3000000], [\"c\", 2, 0.0],\n"
    " [\"x\", 3, 17], [\"c\", 0, 1e-3], [\"x\", 0, 0], [\"c\", 2, 2.5e-4]],\n"
    "\"deps\": [[0, 2], [1, 2], [2, 3], [3, 4], [0, 4], [4, 5], [5, 6], [6, 7]],\n"
    "\"expect\": {}}\n";

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
                                     "-0",
                                     "1e30",
                                     "1e309",
                                     "1e-400",
                                     "0.5",
                                     "99999999",
                                     "4294967296",
                                     "9223372036854775807",
                                     "18446744073709551616",
                                     "\"c\"",
                                     "\"x\"",
                                     "\"tasks\"",
                                     "\"deps\": [],",
                                     "[0, 0]",
                                     "\\u0000",
                                     "\xff\xfe",
                                     "[[[[",
                                     "\"links\": 3,"};

enum { ROOM = 4096 };

static damage harm = {.room = ROOM,
                   .piece = pieces,
                   .pieces = sizeof pieces / sizeof *pieces,
                   .seldom = 4};

static void a_damaged_file_is_refused_or_runs(void)
{
    static char text[ROOM];
    uint64_t read = 0;
    ss_engine *e;
    ss_timeline l = {0};
    CHECK_OK(ss_engine_new(&e, &err));
    for (uint64_t i = 0; i < count; i++) {
        harm.seed = seed + i;
        harm.drawn = 0;
        size_t n = sizeof whole - 1;
        memcpy(text, whole, n);
        for (size_t k = 1 + damage_draw(&harm, 3); k > 0; k--)
            n = damage_text(&harm, text, n);
        ss_dag_options o = {(ss_links_mode)damage_draw(&harm, SS_LINKS_MODES), damage_draw(&harm, 2) ? 0 : 1000000,
                            (uint32_t)damage_draw(&harm, 5)};
        ss_dag d;
        size_t before = ss_mem_blocks();
        err.text[0] = 0;
        ss_status s = ss_dag_parse(text, n, "x.json", &o, &d, &err);
        if (s)
            CHECK(strncmp(err.text, "x.json:", 7) == 0, "seed %llu: \"%s\"",
                  (unsigned long long)harm.seed, err.text);
        CHECK(s || d.tasks.finished, "seed %llu", (unsigned long long)harm.seed);
        CHECK(!s || ss_mem_blocks() == before, "seed %llu", (unsigned long long)harm.seed);
        if (s)
            continue;
        read++;
        s = ss_engine_run(e, &d.tasks, &l, &err);
        if (!s)
            s = ss_timeline_check(&d.tasks, &l, &err);
        ss_dag_free(&d);
        CHECK(!s || s == SS_ERANGE, "seed %llu: %s", (unsigned long long)harm.seed, err.text);
    }
    ss_timeline_free(&l);
    ss_engine_free(e);
    CHECK(ss_mem_blocks() == 0);
    printf("%llu files, %llu of them were graphs\n", (unsigned long long)count,
           (unsigned long long)read);
    CHECK(count < 100 || (read > count / 100 && read < count), "the damage is of the wrong size");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    RUN(a_damaged_file_is_refused_or_runs);
    return DONE();
}
