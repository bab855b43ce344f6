/* What a strategy costs with some operators changed: against a result that is worked out anew. */
#include "search/score_inside.h"

#include "check.h"
#include "steps.h"

#include "base/mem.h"
#include "base/rng.h"
#include "simulate/result.h"

enum { MOST = 8, BIG = 1 << 20 };

static ss_error err;

/* Two machines of two; the samples over all four. */
typedef struct bench {
    step s;
    ss_costs *costs;
    ss_timer timer;
} bench;

static void begin(bench *b, ss_model *m)
{
    step_begin(&b->s, m, net_cluster(2, 2, 10e9, 1.25e9, 2e-6));
    net_must(ss_strategy_data_parallel(b->s.strategy, &err), &err);
    net_must(ss_costs_new(&b->costs, &err), &err);
    net_must(ss_costs_add_roofline(b->costs, NULL, &err), &err);
    net_must(ss_costs_timer(b->costs, b->s.topology, &b->timer, &err), &err);
}

static void end(bench *b)
{
    ss_costs_free(b->costs);
    step_free(&b->s);
}

static ss_score_options full(void)
{
    ss_score_options o = ss_score_options_start();
    o.way = SS_SCORE_FULL;
    return o;
}

static ss_scorer *scorer(const bench *b, const ss_score_options *o)
{
    ss_scorer *s;
    net_must(ss_scorer_new(b->s.model, b->s.topology, b->costs, o, &s, &err), &err);
    return s;
}

/* The change of one operator: `parts` along a dimension, on devices from `first` on. */
static ss_choice change(uint32_t op, uint32_t dim, uint32_t parts, uint32_t first,
                        ss_device *device)
{
    ss_choice c = {.op = {op}, .config = {.parts = parts, .device = device}};
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        c.config.degree[d] = d == dim ? parts : 1;
    for (uint32_t p = 0; p < parts; p++)
        device[p].i = (first + p - 1) % 4 + 1;
    return c;
}

static ss_result *result_of(const bench *b, const ss_strategy *s, const ss_lower_options *o)
{
    ss_result *r;
    net_must(ss_result_new(b->s.model, b->s.topology, b->s.routes, s, &b->timer, o, b->s.engine, &r,
                           &err),
             &err);
    return r;
}

/* ---- wrong input ------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void)
{
    bench b;
    begin(&b, step_mlp(96, 100, 3));
    ss_score_options o = full();
    ss_scorer *s = NULL;
    ss_score score;
    ss_device device[MOST];

    o.memory = (ss_memory_rule)7;
    CHECK(ss_scorer_new(b.s.model, b.s.topology, b.costs, &o, &s, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "no rule of memory has the number 7");
    o.memory = SS_MEMORY_PENALTY;
    o.penalty_s_per_byte = -1e-9;
    CHECK(ss_scorer_new(b.s.model, b.s.topology, b.costs, &o, &s, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "-1e-09 seconds for each byte");
    o = full();
    o.way = (ss_score_way)9;
    CHECK(ss_scorer_new(b.s.model, b.s.topology, b.costs, &o, &s, &err) == SS_EUNSUPPORTED);

    s = scorer(&b, &(ss_score_options){.way = SS_SCORE_FULL, .lower = ss_lower_options_start()});
    ss_choice c = change(2, 1, 2, 1, device);
    CHECK(ss_scorer_try(s, &c, 1, SS_TIME_MAX, &score, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "a scorer needs a strategy");
    CHECK_OK(ss_scorer_start(s, b.s.strategy, &score, &err));
    CHECK(ss_scorer_accept(s, &err) == SS_EINVAL);

    ss_choice two[2] = {c, c};
    CHECK(ss_scorer_try(s, two, 2, SS_TIME_MAX, &score, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "operator 2 after operator 2");
    two[1].op.i = 77;
    CHECK(ss_scorer_try(s, two, 2, SS_TIME_MAX, &score, &err) == SS_ENOTFOUND);
    CHECK(ss_strategy_same(ss_scorer_strategy(s), b.s.strategy));
    two[1] = change(3, 0, 97, 1, (ss_device[97]){{0}});
    CHECK(ss_scorer_try(s, two, 2, SS_TIME_MAX, &score, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "its extent is 96");
    CHECK(ss_strategy_same(s->next, b.s.strategy), "the first of the two is taken back");

    CHECK_OK(ss_scorer_try(s, &c, 1, SS_TIME_MAX, &score, &err));
    CHECK(ss_scorer_try(s, &c, 1, SS_TIME_MAX, &score, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "neither accepted nor rejected");
    ss_scorer_free(s); /* with a try not answered */
    end(&b);
}

static void a_strategy_of_another_model_is_refused(void)
{
    bench a, b;
    begin(&a, step_mlp(96, 100, 3));
    begin(&b, step_mlp(96, 100, 2));
    ss_score_options o = full();
    ss_scorer *s = scorer(&a, &o);
    ss_score score;
    CHECK(ss_scorer_start(s, b.s.strategy, &score, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "for model mlp");
    ss_scorer_free(s);
    end(&a);
    end(&b);
}

static void times_that_no_source_knows_are_refused(void)
{
    bench b;
    begin(&b, step_mlp(96, 100, 3));
    ss_costs *given;
    CHECK_OK(ss_costs_new(&given, &err));
    CHECK_OK(ss_costs_add_given(given, "fc1", 1e-3, 2e-3, true, &err));
    ss_score_options o = full();
    o.lower.update_passes = 0;
    ss_scorer *s;
    CHECK_OK(ss_scorer_new(b.s.model, b.s.topology, given, &o, &s, &err));
    ss_score score;
    CHECK(ss_scorer_start(s, b.s.strategy, &score, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "fc2");
    ss_device device[MOST];
    ss_choice c = change(2, 1, 2, 1, device);
    CHECK(ss_scorer_try(s, &c, 1, SS_TIME_MAX, &score, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "needs a strategy");
    ss_scorer_free(s);
    ss_costs_free(given);
    end(&b);
}

static void ways_have_names(void)
{
    static const char *const way[SS_SCORE_WAYS] = {"full", "replay", "delta"};
    for (uint32_t i = 0; i < SS_SCORE_WAYS; i++)
        CHECK(!strcmp(ss_score_way_name((ss_score_way)i), way[i]), "%s", way[i]);
    CHECK(!strcmp(ss_score_way_name(SS_SCORE_WAYS), "unknown"));
}

/* ---- what it says ------------------------------------------------------------------------ */

/* A walk of random changes, of one to three operators, some accepted and some rejected. */
static void full_is_what_a_result_says(void)
{
    enum { STEPS = 200, OPS = 5 };
    bench b;
    ss_rng rng;
    begin(&b, step_mlp(96, 100, OPS));
    CHECK_OK(ss_rng_open(&rng, 20, "test_score", &err));
    ss_score_options o = full();
    o.lower.sync = SS_SYNC_RING;
    ss_scorer *s = scorer(&b, &o);
    ss_score score, now;
    CHECK_OK(ss_scorer_start(s, b.s.strategy, &now, &err));
    for (int k = 0; k < STEPS; k++) {
        ss_device device[3][MOST];
        ss_choice c[3];
        uint32_t n = (uint32_t)ss_rng_below(&rng, 3) + 1, op = 0;
        for (uint32_t i = 0; i < n; i++) {
            op += 1 + (uint32_t)ss_rng_below(&rng, (uint64_t)(OPS - op - (n - i) + 1));
            c[i] = change(op, (uint32_t)ss_rng_below(&rng, 2), (uint32_t)ss_rng_below(&rng, 7) + 1,
                          (uint32_t)ss_rng_below(&rng, 4) + 1, device[i]);
        }
        CHECK_OK(ss_scorer_try(s, c, n, k, &score, &err)); /* full knows no early stop */
        CHECK(ss_scorer_now(s)->cost == now.cost && !score.stopped, "step %d", k);
        ss_strategy *copy;
        net_must(ss_strategy_copy(ss_scorer_strategy(s), &copy, &err), &err);
        for (uint32_t i = 0; i < n; i++)
            CHECK_OK(ss_strategy_set(copy, c[i].op, c[i].config.degree, 2, c[i].config.device,
                                     c[i].config.parts, &err));
        ss_result *r = result_of(&b, copy, &o.lower);
        CHECK(score.cost == r->step_time && score.tasks == r->lowered->tasks.n &&
                  score.visited == score.tasks && score.touched == score.tasks && !score.changed,
              "step %d", k);
        if (ss_rng_below(&rng, 2)) {
            CHECK_OK(ss_scorer_accept(s, &err));
            CHECK(ss_strategy_same(ss_scorer_strategy(s), copy), "step %d", k);
            now = score;
        } else {
            ss_scorer_reject(s);
        }
        CHECK(ss_strategy_same(ss_scorer_strategy(s), s->next), "step %d", k);
        CHECK(ss_scorer_now(s)->cost == now.cost, "step %d", k);
        ss_result_free(r);
        ss_strategy_free(copy);
    }
    ss_rng_close(&rng);
    ss_scorer_free(s);
    end(&b);
}

static void set_memory(ss_topology *t, double bytes)
{
    for (uint32_t d = 1; d <= t->devices; d++)
        t->device[d].def.memory_bytes = bytes;
}

static void memory_is_a_wall_or_a_penalty_or_nothing(void)
{
    bench b;
    begin(&b, step_mlp(96, 1000, 3));
    ss_score_options o = full();
    ss_result *r = result_of(&b, b.s.strategy, &o.lower);
    int64_t sum = 0, most = 0;
    for (uint32_t d = 1; d <= 4; d++) {
        sum += r->device[d].held_peak;
        most = r->device[d].held_peak > most ? r->device[d].held_peak : most;
    }
    ss_time bare = r->step_time;
    ss_result_free(r);
    CHECK(most > BIG);

    static const ss_memory_rule rule[] = {SS_MEMORY_IGNORED, SS_MEMORY_WALL, SS_MEMORY_PENALTY};
    for (int k = 0; k < 3; k++)
        for (int room = 0; room < 3; room++) { /* too little, not known, just enough */
            set_memory(b.s.topology, room == 0 ? BIG : room == 1 ? 0 : (double)most);
            o.memory = rule[k];
            o.penalty_s_per_byte = 3e-9;
            ss_scorer *s = scorer(&b, &o);
            ss_score score;
            CHECK_OK(ss_scorer_start(s, b.s.strategy, &score, &err));
            bool over = room == 0 && rule[k] != SS_MEMORY_IGNORED;
            ss_time penalty = (sum - 4 * (int64_t)BIG) * 3000; /* 3 ns a byte, in ps */
            CHECK(score.infeasible == over, "rule %d, room %d", k, room);
            CHECK(score.cost == bare + (over && rule[k] == SS_MEMORY_PENALTY ? penalty : 0),
                  "rule %d, room %d: %lld", k, room, (long long)score.cost);
            ss_scorer_free(s);
        }
    end(&b);
}

static void a_copy_of_costs_says_the_same(void)
{
    bench b;
    begin(&b, step_mlp(96, 1000, 3));
    for (int with_roofline = 0; with_roofline < 2; with_roofline++) {
        ss_costs *one, *two;
        ss_timer t1, t2;
        CHECK_OK(ss_costs_new(&one, &err));
        if (with_roofline)
            CHECK_OK(ss_costs_add_roofline(one, NULL, &err));
        else
            CHECK_OK(ss_costs_add_given(one, "fc1", 1e-3, 2e-3, true, &err));
        CHECK_OK(ss_costs_set_scale(one, 2.5, &err));
        CHECK_OK(ss_costs_copy(one, &two, &err));
        CHECK(ss_costs_hash(one) == ss_costs_hash(two));
        CHECK_OK(ss_costs_timer(one, b.s.topology, &t1, &err));
        CHECK_OK(ss_costs_timer(two, b.s.topology, &t2, &err));
        ss_time x, y;
        ss_box box;
        ss_strategy_part_box(b.s.strategy, (ss_op){1}, 2, &box);
        CHECK_OK(t1.part(t1.context, b.s.model, (ss_op){1}, SS_BACKWARD, &box, (ss_device){3}, &x,
                         &err));
        ss_costs_free(one); /* its sources stay */
        CHECK_OK(t2.part(t2.context, b.s.model, (ss_op){1}, SS_BACKWARD, &box, (ss_device){3}, &y,
                         &err));
        CHECK(x == y && x > 0);
        CHECK_OK(b.timer.memory(b.timer.context, SS_STREAM_UPDATE, 1e9, (ss_device){3}, &x, &err));
        CHECK_OK(t2.memory(t2.context, SS_STREAM_UPDATE, 1e9, (ss_device){3}, &y, &err));
        CHECK(y > 2 * x && y < 3 * x, "%lld against %lld", (long long)y, (long long)x);
        ss_costs_free(two);
    }
    end(&b);
}

/* A failure at any allocation leaves the scorer holding what it held. */
static void without_memory_it_holds_what_it_held(void)
{
    bench b;
    begin(&b, step_mlp(96, 100, 3));
    ss_score_options o = full();
    o.memory = SS_MEMORY_WALL;
    for (int64_t n = 0, failed = 1; failed; n++) {
        ss_scorer *s = NULL;
        ss_score score;
        ss_device device[64];
        ss_choice c = change(2, 0, 60, 2, device);
        size_t before = ss_mem_blocks();
        ss_mem_fail_after(n);
        ss_status status = ss_scorer_new(b.s.model, b.s.topology, b.costs, &o, &s, &err);
        if (!status)
            status = ss_scorer_start(s, b.s.strategy, &score, &err);
        bool started = !status;
        if (!status)
            status = ss_scorer_try(s, &c, 1, SS_TIME_MAX, &score, &err);
        if (!status)
            status = ss_scorer_accept(s, &err);
        ss_mem_fail_never();
        failed = status != SS_OK;
        CHECK(!failed || status == SS_ENOMEM, "%s", err.text);
        if (failed && started) {
            CHECK(ss_strategy_same(ss_scorer_strategy(s), b.s.strategy));
            CHECK_OK(ss_scorer_try(s, &c, 1, SS_TIME_MAX, &score, &err));
        }
        ss_scorer_free(s);
        CHECK(ss_mem_blocks() == before, "allocation %lld", (long long)n);
    }
    end(&b);
}

int main(void)
{
    RUN(what_makes_no_sense_is_refused);
    RUN(a_strategy_of_another_model_is_refused);
    RUN(times_that_no_source_knows_are_refused);
    RUN(ways_have_names);
    RUN(full_is_what_a_result_says);
    RUN(memory_is_a_wall_or_a_penalty_or_nothing);
    RUN(a_copy_of_costs_says_the_same);
    RUN(without_memory_it_holds_what_it_held);
    return DONE();
}
