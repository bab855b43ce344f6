#include <math.h>

#include "base/mem.h"
#include "search/space.h"
#include "strategy_fixture.h"

enum { SEED = 7741 };

static ss_model *cnn;
static ss_topology *one, *five, *eight;
static ss_rng rng;

static ss_strategy *fresh(const ss_model *m, const ss_topology *t)
{
    ss_strategy *s;
    if (ss_strategy_new(m, t, &s, &err))
        fixture_failed();
    return s;
}

static ss_space_options only(ss_move m)
{
    ss_space_options o = {.group = 0};
    o.weight[m] = 1;
    return o;
}

static void set(ss_strategy *s, const char *op, uint32_t n, uint32_t c, const uint32_t *device)
{
    uint32_t degree[2] = {n, c};
    ss_device d[64];
    for (uint32_t k = 0; k < n * c; k++)
        d[k].i = device[k];
    if (ss_strategy_set(s, fixture_find(s->model, op), degree, 2, d, n * c, &err))
        fixture_failed();
}

static void pin(ss_strategy *s, const char *op, ss_pin what)
{
    if (ss_strategy_pin(s, fixture_find(s->model, op), what, &err))
        fixture_failed();
}

/* ---------------------------------------------------------------------------------- wrong input */

static int refused(const ss_strategy *s, const ss_space_options *o, const char *words)
{
    ss_space *space = NULL;
    ss_status st = ss_space_new(s, o, &space, &err);
    ss_space_free(space);
    if (st == SS_EINVAL && strstr(err.text, words))
        return 1;
    printf("  status %d: %s\n", st, st ? err.text : "accepted");
    return 0;
}

static void options_without_sense_are_refused(void)
{
    ss_strategy *s = fresh(cnn, five);
    ss_space_options o = ss_space_options_start();
    o.weight[SS_MOVE_BLOCK] = -0.5;
    CHECK(refused(s, &o, "the weight of move block is -0.5"), "negative");
    o.weight[SS_MOVE_BLOCK] = NAN;
    CHECK(refused(s, &o, "move block"), "not a number");
    o.weight[SS_MOVE_BLOCK] = INFINITY;
    CHECK(refused(s, &o, "move block is inf"), "infinite");
    memset(o.weight, 0, sizeof o.weight);
    CHECK(refused(s, &o, "give one above 0"), "all 0");
    o.weight[SS_MOVE_LIST] = 2;
    CHECK(refused(s, &o, "move list is 2, but no configurations are given"), "no list");
    o = ss_space_options_start();
    o.group = 0.25, o.neighbour = 0.75;
    CHECK(refused(s, &o, "together below 1"), "chances");
    o.group = -0.1;
    CHECK(refused(s, &o, "group (-0.1)"), "negative");
    o.group = NAN;
    CHECK(refused(s, &o, "together below 1"), "not a number");
    o.group = 0, o.hastings = true;
    CHECK(refused(s, &o, "no way back"), "neighbour with Hastings");
    o.neighbour = 0, o.max_parts = SS_MAX_PARTS + 1;
    CHECK(refused(s, &o, "max_parts is 65537: it must be at most 65536"), "parts");
    ss_strategy_free(s);
}

static void lists_that_break_a_rule_are_refused(void)
{
    ss_strategy *s = fresh(cnn, five);
    ss_device d[] = {{5}, {2}, {6}};
    ss_choice c[2] = {{fixture_find(cnn, "fc6"), {{3, 1, 1, 1, 1}, 3, d, 3}}};
    ss_space_options o = only(SS_MOVE_LIST);
    o.list = c, o.lists = 1;
    CHECK(refused(s, &o, "configuration 1 of the list: fc6: part 3 of 3 is on device 6"), "device");
    d[2].i = 1;
    c[1] = c[0];
    c[1].config.degree[1] = 6, c[1].config.degree[0] = 1;
    o.lists = 2;
    CHECK(refused(s, &o, "configuration 2 of the list: fc6: degree 6 on c: its extent is 5"), "6");
    c[1].config.degree[1] = 2;
    CHECK(refused(s, &o, "configuration 2 of the list: fc6: 3 devices for 2 parts"), "2 parts");
    c[1].config.parts = 1;
    CHECK(refused(s, &o, "1 device for the 2 parts that its degrees make"), "shorthand");
    c[1] = c[0];
    c[1].op.i = 99;
    ss_space *space = NULL;
    CHECK(ss_space_new(s, &o, &space, &err) == SS_ENOTFOUND, "operator 99");
    CHECK_TEXT(err.text, "configuration 2 of the list: there is no operator 99");
    o.lists = 1;
    pin(s, "fc6", SS_PIN_DEGREES);
    CHECK(refused(s, &o, "configuration 1 of the list: fc6: degree 3 on n: its degrees are pinned"),
          "pinned");
    o = ss_space_options_start(); /* also where the weight of list is 0 */
    o.list = c, o.lists = 1;
    CHECK(refused(s, &o, "its degrees are pinned"), "pinned");
    ss_strategy_free(s);
}

static void a_space_without_a_choice_is_refused(void)
{
    ss_strategy *s = fresh(cnn, one);
    ss_space_options o = only(SS_MOVE_PLACE);
    CHECK(refused(s, &o, "there is nothing to search: on 1 device of"), "one device");
    o = ss_space_options_start(); /* one part on one device is all there is */
    CHECK(refused(s, &o, "no operator of little has a choice"), "one device, any move");
    ss_strategy_free(s);
    s = fresh(cnn, five);
    for (uint32_t i = 1; i <= cnn->ops; i++)
        CHECK_OK(ss_strategy_pin(s, (ss_op){i}, SS_PIN_ALL, &err));
    CHECK(refused(s, &o, "nothing to search"), "all pinned");
    ss_strategy_unpin(s, fixture_find(cnn, "fc4"));
    ss_space *space;
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    for (uint32_t i = 1; i <= cnn->ops; i++)
        CHECK(ss_space_movable(space, (ss_op){i}) == (i == fixture_find(cnn, "fc4").i), "%u", i);
    ss_space_free(space);
    ss_strategy_free(s);
}

static void moves_have_names(void)
{
    static const char *const move[SS_MOVES] = {"free", "block", "pow2", "place", "list"};
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVES; m++)
        CHECK(!strcmp(ss_move_name(m), move[m]), "%s", ss_move_name(m));
    static const char *const reach[SS_REACHES] = {"one", "group", "neighbour", "all", "descent"};
    for (uint32_t k = 0; k < SS_REACHES; k++)
        CHECK(!strcmp(ss_reach_name((ss_reach)k), reach[k]), "%s", reach[k]);
}

/* --------------------------------------------------------------------------------------- counts */

/* fc6 has 37 samples and 5 channels.  Vectors with so many parts: 1:1 2:2 3:2 4:3 5:2 6:3 7:1 8:3
 * (8x1 4x2 2x4), of powers of two 1:1 2:2 4:3 8:3. */
static void counts_are_those_that_a_person_finds(void)
{
    ss_op fc6 = fixture_find(cnn, "fc6");
    ss_strategy *s = fresh(cnn, eight);
    ss_space_options o = ss_space_options_start();
    ss_space *space;
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    uint64_t free =
        8 + 2 * 64 + 2 * 512 + 3 * 4096 + 2 * 32768 + 3 * 262144 + 2097152 + 3 * 16777216;
    CHECK(ss_space_count(space, SS_MOVE_FREE, fc6) == free, "free");
    uint64_t block = 8 + 2 * 7 + 2 * 6 + 3 * 5 + 2 * 4 + 3 * 3 + 2 + 3;
    CHECK(ss_space_count(space, SS_MOVE_BLOCK, fc6) == block, "block");
    /* 2 parts: strides 1 2 4 leave 7 6 4 places; 4 parts: 1 2 leave 5 2; 8 parts: 1 */
    uint64_t pow2 = 8 + 2 * 17 + 3 * 7 + 3;
    CHECK(ss_space_count(space, SS_MOVE_POW2, fc6) == pow2, "pow2");
    CHECK(ss_space_count(space, SS_MOVE_PLACE, fc6) == 8, "place");
    CHECK(ss_space_count(space, SS_MOVE_LIST, fc6) == 0, "list");
    ss_config c = {.cap = 0};
    CHECK(ss_space_nth(space, SS_MOVE_POW2, fc6, pow2, &c, &err) == SS_EINVAL, "one too many");
    CHECK_TEXT(err.text, "fc6: pow2 has 66 configurations: number 66 is not there");
    ss_free(c.device);
    ss_space_free(space);
    ss_strategy_free(s);
}

/* ------------------------------------------------------------------------------------ proposals */

static uint32_t stride(const ss_config *c)
{
    uint32_t d = c->parts > 1 ? c->device[1].i - c->device[0].i : 1;
    for (uint32_t k = 1; k < c->parts; k++)
        if (c->device[k].i - c->device[k - 1].i != d)
            return 0;
    return d;
}

static int power_of_two(uint32_t x)
{
    while (x > 1 && x % 2 == 0)
        x /= 2;
    return x == 1;
}

static int belongs(ss_move m, const ss_config *c, uint32_t max_parts)
{
    if (m == SS_MOVE_FREE)
        return c->parts <= max_parts;
    if (m == SS_MOVE_BLOCK)
        return c->parts <= max_parts && stride(c) == 1;
    if (m == SS_MOVE_PLACE)
        return c->parts == 1;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        if (!power_of_two(c->degree[d]))
            return 0;
    return power_of_two(stride(c));
}

static void each_move_keeps_to_what_it_says(void)
{
    enum { PROPOSALS = 3000 };
    ss_strategy *s = fresh(cnn, eight);
    ss_proposal p = {0};
    for (ss_move m = SS_MOVE_FREE; m < SS_MOVE_LIST; m++) {
        ss_space_options o = only(m);
        o.max_parts = m == SS_MOVE_FREE ? 30 : m == SS_MOVE_BLOCK ? 6 : 0;
        ss_space *space;
        uint32_t most = 0, moved[16] = {0};
        CHECK_OK(ss_space_new(s, &o, &space, &err));
        for (uint32_t k = 0; k < PROPOSALS; k++) {
            ss_rng_seek(&rng, SEED, m, k);
            CHECK_OK(ss_space_propose(space, s, &rng, &p, &err));
            CHECK(p.n == 1 && p.reach == SS_REACH_ONE && p.move == m, "%u choices", p.n);
            const ss_config *c = &p.choice[0].config;
            CHECK_OK(ss_strategy_allows(s, p.choice[0].op, c->degree, SS_MAX_DIMS, c->device,
                                        c->parts, NULL, &err));
            CHECK(belongs(m, c, o.max_parts), "seed %d: %s drew %u parts, stride %u", SEED,
                  ss_move_name(m), c->parts, stride(c));
            CHECK(p.log_hastings == 0, "Hastings is off");
            most = c->parts > most ? c->parts : most;
            moved[p.choice[0].op.i]++;
        }
        static const uint32_t wanted[] = {30, 6, 8, 1};
        CHECK(most == wanted[m], "%s drew at most %u parts", ss_move_name(m), most);
        for (uint32_t i = 1; i <= cnn->ops; i++)
            CHECK(moved[i] > 340 && moved[i] < 520, "%s: operator %u %u times", ss_move_name(m), i,
                  moved[i]);
        ss_space_free(space);
    }
    ss_proposal_free(&p);
    ss_strategy_free(s);
}

static void equal_places_in_the_stream_give_equal_proposals(void)
{
    ss_strategy *s = fresh(cnn, eight);
    ss_space_options o = ss_space_options_start();
    ss_space *space;
    ss_proposal a = {0}, b = {0};
    uint32_t differ = 0;
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    for (uint32_t k = 0; k < 200; k++) {
        ss_rng_seek(&rng, SEED, 3, k);
        CHECK_OK(ss_space_propose(space, s, &rng, &a, &err));
        ss_rng_seek(&rng, SEED, 3, k);
        CHECK_OK(ss_space_propose(space, s, &rng, &b, &err));
        const ss_config *c = &a.choice[0].config, *d = &b.choice[0].config;
        CHECK(a.choice[0].op.i == b.choice[0].op.i && a.move == b.move && c->parts == d->parts,
              "proposal %u", k);
        CHECK(!memcmp(c->device, d->device, c->parts * sizeof *c->device), "proposal %u", k);
        ss_rng_seek(&rng, SEED, 4, k);
        CHECK_OK(ss_space_propose(space, s, &rng, &b, &err));
        differ += a.choice[0].op.i != b.choice[0].op.i || c->parts != b.choice[0].config.parts;
    }
    CHECK(differ > 150, "chains 3 and 4 differ in %u of 200", differ);
    ss_proposal_free(&a);
    ss_proposal_free(&b);
    ss_space_free(space);
    ss_strategy_free(s);
}

/* ----------------------------------------------------------------------------------------- pins */

/* fc4: c pinned to 3; fc6: degrees 2 x 2 pinned; relu5: six devices pinned; conv1: all. */
static void only_what_is_open_varies(void)
{
    ss_strategy *s = fresh(cnn, eight);
    ss_proposal p = {0};
    ss_op fc4 = fixture_find(cnn, "fc4"), fc6 = fixture_find(cnn, "fc6"),
          relu5 = fixture_find(cnn, "relu5"), conv1 = fixture_find(cnn, "conv1");
    const uint32_t six[] = {8, 1, 1, 5, 2, 3};
    set(s, "fc4", 1, 3, (uint32_t[]){7, 7, 2});
    set(s, "fc6", 2, 2, (uint32_t[]){1, 2, 3, 4});
    set(s, "relu5", 6, 1, six);
    CHECK_OK(ss_strategy_pin_degree(s, fc4, 1, &err));
    pin(s, "fc6", SS_PIN_DEGREES);
    pin(s, "relu5", SS_PIN_DEVICES);
    pin(s, "conv1", SS_PIN_ALL);
    ss_space_options o = ss_space_options_start();
    o.weight[SS_MOVE_PLACE] = 1;
    ss_space *space;
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    CHECK(!ss_space_movable(space, conv1), "conv1 is pinned");
    CHECK(ss_space_count(space, SS_MOVE_BLOCK, conv1) == 1, "the one there is");
    CHECK(ss_space_count(space, SS_MOVE_FREE, relu5) == 4, "6 = 6x1 3x2 2x3 1x6");
    CHECK(ss_space_count(space, SS_MOVE_PLACE, relu5) == 0, "six parts are not one");
    CHECK(ss_space_count(space, SS_MOVE_PLACE, fc6) == 0, "four parts are not one");
    CHECK(ss_space_count(space, SS_MOVE_POW2, relu5) == 0, "6 is no product of powers of two");
    CHECK(ss_space_count(space, SS_MOVE_BLOCK, fc6) == 5, "four parts on eight");
    CHECK(ss_space_count(space, SS_MOVE_POW2, fc4) == 6 + 4 + 3,
          "3 parts: strides 1, 2; 6 parts: 1");
    uint32_t seen[8] = {0};
    for (uint32_t k = 0; k < 4000; k++) {
        ss_rng_seek(&rng, SEED, 0, k);
        CHECK_OK(ss_space_propose(space, s, &rng, &p, &err));
        const ss_config *c = &p.choice[0].config;
        ss_op op = p.choice[0].op;
        CHECK_OK(
            ss_strategy_allows(s, op, c->degree, SS_MAX_DIMS, c->device, c->parts, NULL, &err));
        CHECK(op.i != conv1.i, "conv1 is pinned");
        seen[op.i]++;
    }
    CHECK(seen[fc4.i] && seen[fc6.i] && seen[relu5.i], "all three move");
    ss_proposal_free(&p);
    ss_space_free(space);
    ss_strategy_free(s);
}

/* -------------------------------------------------------------------------------------- density */

/* fc6 on five devices with at most 2 parts: n 2 on 2-3 is one of free's 3 vectors x 25 lists, of
 * block's 3 x 4 and of pow2's 6 vectors (1x1 2x1 1x2 4x1 2x2 1x4) x 4 + 3 pairs. */
static void a_mixture_adds_up_what_its_moves_share(void)
{
    ss_op fc6 = fixture_find(cnn, "fc6");
    ss_strategy *s = fresh(cnn, five);
    ss_space_options o = ss_space_options_start();
    o.max_parts = 2;
    o.weight[SS_MOVE_FREE] = 3, o.weight[SS_MOVE_BLOCK] = 1, o.weight[SS_MOVE_POW2] = 2;
    ss_device d[] = {{2}, {3}, {4}, {5}};
    ss_config c = {.degree = {2, 1, 1, 1, 1}, .parts = 2, .device = d};
    ss_space *space;
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    double all = 0.5 / (3 * 25) + 1.0 / 6 / (3 * 4) + 2.0 / 6 / (6 * (4 + 3 + 1));
    CHECK(fabs(ss_space_log_density(space, fc6, &c) - log(all)) < 1e-12, "%.15g, not %.15g",
          exp(ss_space_log_density(space, fc6, &c)), all);
    d[1].i = 4; /* stride 2: not block */
    all = 0.5 / (3 * 25) + 2.0 / 6 / (6 * (4 + 3 + 1));
    CHECK(fabs(ss_space_log_density(space, fc6, &c) - log(all)) < 1e-12, "stride 2");
    d[1].i = 5; /* stride 3: free alone */
    CHECK(fabs(ss_space_log_density(space, fc6, &c) - log(0.5 / 75)) < 1e-12, "stride 3");
    d[1].i = 3, c.degree[1] = 2, c.parts = 4; /* 4 parts: pow2 alone */
    CHECK(fabs(ss_space_log_density(space, fc6, &c) - log(2.0 / 6 / (6 * 2))) < 1e-12, "4 parts");
    c.parts = 3;
    CHECK(ss_space_log_density(space, fc6, &c) == -INFINITY, "3 parts of 2 x 2");
    c.degree[1] = 6, c.degree[0] = 1;
    CHECK(ss_space_log_density(space, fc6, &c) == -INFINITY, "6 of 5 channels");
    c.degree[1] = 1, c.degree[2] = 2, c.parts = 2;
    CHECK(ss_space_log_density(space, fc6, &c) == -INFINITY, "a dimension that is not there");
    ss_space_free(space);
    ss_strategy_free(s);
}

/* conv1 has 37 x 10 x 11 x 9: with at most 3 parts 1 + 4 + 4 vectors. */
static void four_dimensions_are_numbered_by_parts_degrees_devices(void)
{
    ss_op conv1 = fixture_find(cnn, "conv1");
    ss_strategy *s = fresh(cnn, five);
    ss_space_options o = only(SS_MOVE_BLOCK);
    o.max_parts = 3;
    ss_space *space;
    ss_config c = {.cap = 0};
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    CHECK(ss_space_count(space, SS_MOVE_BLOCK, conv1) == 5 + 4 * 4 + 4 * 3, "block");
    enum { N, C, H, W };
    static const struct {
        uint64_t nth;
        uint32_t dimension, parts, first;
    } known[] = {{0, N, 1, 1}, {4, N, 1, 5},  {5, W, 2, 1},  {8, W, 2, 4},
                 {9, H, 2, 1}, {20, N, 2, 4}, {21, W, 3, 1}, {32, N, 3, 3}};
    for (uint32_t k = 0; k < sizeof known / sizeof *known; k++) {
        CHECK_OK(ss_space_nth(space, SS_MOVE_BLOCK, conv1, known[k].nth, &c, &err));
        CHECK(c.parts == known[k].parts && c.degree[known[k].dimension] == c.parts &&
                  c.device[0].i == known[k].first &&
                  c.device[c.parts - 1].i == known[k].first + c.parts - 1,
              "number %d", (int)known[k].nth);
    }
    CHECK(ss_space_count(space, SS_MOVE_FREE, conv1) == 5 + 4 * 25 + 4 * 125, "free");
    ss_space_free(space);
    o.max_parts = 4000; /* 5^4000 and more */
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    CHECK(ss_space_count(space, SS_MOVE_FREE, conv1) == UINT64_MAX, "too many to count");
    CHECK_OK(ss_space_nth(space, SS_MOVE_FREE, conv1, UINT64_MAX - 1, &c, &err));
    CHECK_OK(ss_strategy_allows(s, conv1, c.degree, SS_MAX_DIMS, c.device, c.parts, NULL, &err));
    CHECK(c.parts == 27, "5^27 is the first power that is more than 2^62: %u parts", c.parts);
    ss_free(c.device);
    ss_space_free(space);
    ss_strategy_free(s);
}

/* ----------------------------------------------------------------------------- group, neighbour */

static ss_op embedding(ss_model *m, const char *name, const char *share, int64_t length)
{
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find("embedding"), name);
    ss_shape words = {.dtype = SS_I32, .rank = 2, .extent = {7, length}};
    char input[40];
    ss_tensor in;
    ss_op op;
    snprintf(input, sizeof input, "%s_words", name);
    if (ss_model_input(m, input, &words, &in, &err))
        fixture_failed();
    for (uint32_t i = 0; i < ss_op_kind_attrs(spec.kind); i++)
        if (!strcmp(spec.kind->attr[i].name, "vocab") || !strcmp(spec.kind->attr[i].name, "out"))
            spec.attr[i] = 5;
    spec.in = &in, spec.inputs = 1, spec.share = share;
    if (ss_model_add(m, &spec, &op, &err))
        fixture_failed();
    return op;
}

/* Six operators with one weight: 1 and 3 alike, 2 longer, 4 pinned in part, 5 pinned, 6 like 1. */
static void a_group_moves_together_where_it_fits(void)
{
    ss_model *m;
    CHECK_OK(ss_model_new("sharing", &m, &err));
    static const int64_t length[] = {3, 4, 3, 3, 3, 3};
    for (uint32_t k = 0; k < 6; k++)
        embedding(m, (const char *[]){"a", "b", "c", "d", "e", "f"}[k], "words", length[k]);
    embedding(m, "other", NULL, 3);
    ss_strategy *s = fresh(m, five);
    CHECK_OK(ss_strategy_pin_degree(s, (ss_op){4}, 0, &err));
    pin(s, "e", SS_PIN_ALL);
    ss_space_options o = ss_space_options_start();
    o.group = 0.9;
    ss_space *space;
    ss_proposal p = {0};
    uint32_t together = 0, by_one[8] = {0};
    for (uint32_t hastings = 0; hastings < 2; hastings++) {
        o.hastings = hastings;
        CHECK_OK(ss_space_new(s, &o, &space, &err));
        for (uint32_t k = 0; k < 2000; k++) {
            ss_rng_seek(&rng, SEED, 20 + hastings, k);
            CHECK_OK(ss_space_propose(space, s, &rng, &p, &err));
            if (p.reach != SS_REACH_GROUP || p.same)
                continue;
            if (p.n == 1)
                by_one[p.choice[0].op.i]++;
            else
                CHECK(p.n == 3 && p.choice[0].op.i == 1 && p.choice[1].op.i == 3 &&
                          p.choice[2].op.i == 6,
                      "%u operators", p.n);
            together += p.n == 3;
            for (uint32_t c = 1; c < p.n; c++)
                CHECK(ss_config_same(&p.choice[0].config, &p.choice[c].config), "differ");
        }
        ss_space_free(space);
    }
    CHECK(together > 1500, "%u", together);
    CHECK(by_one[2] && by_one[4] && by_one[7] && !by_one[1] && !by_one[3] && !by_one[5], "alone");

    /* c has another one: without Hastings those that change are told, with it there is no way. */
    ss_device at = {4};
    CHECK_OK(ss_strategy_set(s, (ss_op){3}, (uint32_t[]){1}, 1, &at, 1, &err));
    o.hastings = true;
    o.weight[SS_MOVE_FREE] = o.weight[SS_MOVE_BLOCK] = o.weight[SS_MOVE_POW2] = 0;
    o.weight[SS_MOVE_PLACE] = 1;
    uint32_t none = 0, two = 0;
    for (uint32_t hastings = 0; hastings < 2; hastings++) {
        o.hastings = hastings;
        CHECK_OK(ss_space_new(s, &o, &space, &err));
        for (uint32_t k = 0; k < 500; k++) {
            CHECK_OK(ss_space_propose(space, s, &rng, &p, &err));
            if (p.reach != SS_REACH_GROUP)
                continue;
            none += hastings && !p.n;
            CHECK(p.n || hastings, "none");
            CHECK(!hastings || p.n < 2, "no way back");
            if (p.n == 2) /* where a and f are, or where c is */
                two += p.choice[0].config.device[0].i == 4 || p.choice[1].op.i == 6;
        }
        ss_space_free(space);
    }
    CHECK(none > 100 && two > 10, "%u without a way, %u of two", none, two);
    ss_proposal_free(&p);
    ss_strategy_free(s);
    ss_model_free(m);
}

/* Each operator on a device of its own, so that a copy says where its walk began. */
static void a_walk_goes_by_bytes_and_goes_on_in_three_of_four(void)
{
    static const uint32_t seven[] = {7};
    ss_topology *t = fixture_cluster("seven", 1, seven);
    ss_strategy *s = fresh(cnn, t);
    ss_space_options o = ss_space_options_start();
    o.neighbour = 0.99;
    for (uint32_t i = 1; i <= 7; i++)
        CHECK_OK(ss_strategy_set(s, (ss_op){i}, (uint32_t[]){1}, 1, &(ss_device){i}, 1, &err));
    pin(s, "loss7", SS_PIN_ALL); /* walks end before it */
    ss_space *space;
    ss_proposal p = {0};
    uint32_t from_conv1 = 0, steps[8] = {0}, from_pool2 = 0, back = 0;
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    for (uint32_t k = 0; k < 60000; k++) {
        ss_rng_seek(&rng, SEED, 30, k);
        CHECK_OK(ss_space_propose(space, s, &rng, &p, &err));
        if (p.reach != SS_REACH_NEIGHBOUR)
            continue;
        CHECK(p.n > 0 && p.move == SS_MOVES && p.log_hastings == 0, "%u", p.n);
        uint32_t start = p.choice[0].config.device[0].i;
        for (uint32_t c = 0; c < p.n; c++) {
            CHECK(ss_config_same(&p.choice[c].config, &s->config[start]), "copies of %u", start);
            CHECK(p.choice[c].op.i != start && p.choice[c].op.i != 7, "%u", p.choice[c].op.i);
            CHECK(!c || p.choice[c].op.i > p.choice[c - 1].op.i, "ascending");
        }
        if (start == 1) {
            from_conv1++;
            steps[p.n]++;
            CHECK(p.choice[p.n - 1].op.i == p.n + 1, "a line");
        }
        if (start == 2) {
            from_pool2++;
            back += p.choice[0].op.i == 1;
            CHECK(p.choice[0].op.i != 1 || p.n == 1, "nothing lies behind conv1");
        }
    }
    /* conv1 to fc6 is a line of five steps */
    static const double chance[] = {0, 0.25, 0.1875, 0.140625, 0.10546875, 0.31640625};
    double chi2 = 0;
    for (uint32_t k = 1; k <= 5; k++)
        chi2 += pow(steps[k] - chance[k] * from_conv1, 2) / (chance[k] * from_conv1);
    CHECK(chi2 < 18.5, "seed %d: chi-square %g with 4 degrees of freedom", SEED, chi2);
    double conv1 = (double)ss_shape_bytes(&cnn->op[1].def->out[0]);
    double pool2 = (double)ss_shape_bytes(&cnn->op[2].def->out[0]);
    double share = conv1 / (conv1 + pool2), sigma = sqrt(share * (1 - share) / from_pool2);
    CHECK(fabs((double)back / from_pool2 - share) < 4 * sigma, "%u of %u went to conv1, share %g",
          back, from_pool2, share);
    ss_space_free(space);

    /* A configuration of images goes where there are images, and a pin is an end. */
    CHECK_OK(ss_strategy_set(s, (ss_op){1}, (uint32_t[]){1, 1, 2}, 3, &(ss_device){1}, 1, &err));
    CHECK_OK(ss_space_new(s, &o, &space, &err));
    for (uint32_t k = 0; k < 5000; k++) {
        ss_rng_seek(&rng, SEED, 31, k);
        CHECK_OK(ss_space_propose(space, s, &rng, &p, &err));
        if (p.reach != SS_REACH_NEIGHBOUR)
            continue;
        for (uint32_t c = 0; c < p.n; c++)
            CHECK(p.choice[c].config.parts == 1 || p.choice[c].op.i == 2, "h of a matrix");
    }
    ss_space_free(space);
    ss_proposal_free(&p);
    ss_strategy_free(s);
    ss_topology_free(t);
}

/* ------------------------------------------------------------------------------------ no memory */

static void every_failed_allocation_is_survived(void)
{
    ss_strategy *s = fresh(cnn, eight);
    pin(s, "fc4", SS_PIN_DEVICES);
    ss_device d[] = {{5}, {2}, {6}};
    ss_choice c[] = {{fixture_find(cnn, "fc6"), {{3, 1, 1, 1, 1}, 3, d, 3}},
                     {fixture_find(cnn, "fc6"), {{1, 3, 1, 1, 1}, 3, d, 3}},
                     {fixture_find(cnn, "fc6"), {{3, 1, 1, 1, 1}, 3, d, 3}}};
    ss_space_options o = {
        .weight = {1, 1, 1, 1, 1}, .neighbour = 0.3, .group = 0.3, .list = c, .lists = 3};
    size_t blocks = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_space *space = NULL;
        ss_proposal p = {0};
        ss_rng_seek(&rng, SEED, 40, 0);
        ss_mem_fail_after(n);
        ss_status st = ss_space_new(s, &o, &space, &err);
        for (uint32_t k = 0; k < 40 && !st; k++) {
            st = ss_space_propose(space, s, &rng, &p, &err);
            CHECK(!st || p.n == 0, "a proposal that failed is none");
        }
        ss_mem_fail_never();
        ss_proposal_free(&p);
        ss_space_free(space);
        CHECK(st == SS_OK || st == SS_ENOMEM, "%s", err.text);
        CHECK(ss_mem_blocks() == blocks, "request %d: %d blocks left", (int)n,
              (int)(ss_mem_blocks() - blocks));
        if (!st)
            break;
        CHECK(n < 2000, "it never succeeds");
    }
    ss_strategy_free(s);
}

int main(void)
{
    static const uint32_t single[] = {1}, two_three[] = {2, 3}, four_four[] = {4, 4};
    cnn = fixture_cnn(37);
    one = fixture_cluster("one", 1, single);
    five = fixture_cluster("five", 2, two_three);
    eight = fixture_cluster("eight", 2, four_four);
    if (ss_rng_open_counted(&rng, &err))
        fixture_failed();
    ss_rng_seek(&rng, SEED, 0, 0);

    RUN(options_without_sense_are_refused);
    RUN(lists_that_break_a_rule_are_refused);
    RUN(a_space_without_a_choice_is_refused);
    RUN(moves_have_names);
    RUN(counts_are_those_that_a_person_finds);
    RUN(each_move_keeps_to_what_it_says);
    RUN(equal_places_in_the_stream_give_equal_proposals);
    RUN(only_what_is_open_varies);
    RUN(a_mixture_adds_up_what_its_moves_share);
    RUN(four_dimensions_are_numbered_by_parts_degrees_devices);
    RUN(a_group_moves_together_where_it_fits);
    RUN(a_walk_goes_by_bytes_and_goes_on_in_three_of_four);
    RUN(every_failed_allocation_is_survived);

    ss_rng_close(&rng);
    ss_topology_free(one);
    ss_topology_free(five);
    ss_topology_free(eight);
    ss_model_free(cnn);
    return DONE();
}
