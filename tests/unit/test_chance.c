/* Chance against closed forms: what is drawn is distributed as it should be, depends on what it should
 * depend on, and reaches the tasks that it should reach. */
#include "graph/luck.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "check.h"
#include "networks.h"
#include "simulate/engine.h"
#include "simulate/result.h"

static ss_error err;

static const ss_draw lognormal = {.kind = SS_DRAW_LOGNORMAL, .mean = 1, .cv = 0.3};

static ss_chance *fresh(uint64_t seed)
{
    ss_chance *c;
    net_must(ss_chance_new(seed, &c, &err), &err);
    return c;
}

/* ---- wrong input ------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void)
{
    static const double none[] = {0, 0}, below[] = {1, -2};
    static const struct {
        ss_draw draw;
        bool seconds;
        const char *says;
    } wrong[] = {
        {{.kind = SS_DRAW_CONSTANT, .mean = 0}, false, "above 0"},
        {{.kind = SS_DRAW_CONSTANT, .mean = -1e-6}, true, "from 0"},
        {{.kind = SS_DRAW_CONSTANT, .mean = NAN}, true, "nan"},
        {{.kind = SS_DRAW_LOGNORMAL, .mean = 1, .cv = -0.1}, false, "a cv"},
        {{.kind = SS_DRAW_LOGNORMAL, .mean = 1, .cv = 11}, false, "10"},
        {{.kind = SS_DRAW_LOGNORMAL, .mean = 0, .cv = 1}, true, "a mean of 0 s"},
        {{.kind = SS_DRAW_GAMMA, .mean = 1, .cv = 0.01}, false, "lognormal any"},
        {{.kind = SS_DRAW_GAMMA, .mean = 1, .cv = 3}, false, "0.05 to 2"},
        {{.kind = SS_DRAW_SAMPLES, .mean = 1, .sample = none, .samples = 2}, false, "all samples"},
        {{.kind = SS_DRAW_SAMPLES, .mean = 1, .sample = below, .samples = 2}, false, "sample 2"},
        {{.kind = SS_DRAW_SAMPLES, .mean = 1}, false, "0 samples"},
        {{.kind = SS_DRAW_CONSTANT, .mean = 1, .tail_share = 1}, false, "a share of 1"},
        {{.kind = SS_DRAW_CONSTANT, .mean = 1, .tail_share = 0.1}, false, "a factor of 0"},
        {{.kind = SS_DRAW_NONE}, false, "no distribution"},
    };
    ss_chance *c = fresh(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ss_luck_of x = wrong[i].seconds ? SS_LUCK_LAUNCH : SS_LUCK_COMPUTE;
        CHECK(ss_chance_set(c, x, &wrong[i].draw, &err) == SS_EINVAL, "case %d", (int)i);
        CHECK_TEXT(err.text, wrong[i].says);
    }
    CHECK(ss_chance_set_kind(c, "lstn", &lognormal, &err) == SS_EINVAL, "no such kind");
    CHECK_TEXT(err.text, "did you mean \"lstm\"?");
    CHECK(ss_chance_set_slow(c, "gpu1.1", (ss_device){0}, 0, &err) == SS_EINVAL, "factor 0");
    ss_topology *t = net_cluster(1, 2, 1e9, 1e9, 0);
    CHECK_OK(ss_chance_set_slow(c, "gpu1.7", (ss_device){0}, 2, &err));
    CHECK(ss_chance_bind(c, t, &err) == SS_EINVAL, "no such device");
    CHECK_TEXT(err.text, "did you mean \"gpu1.");
    ss_chance_free(c);
    c = fresh(1);
    CHECK_OK(ss_chance_set_slow(c, NULL, (ss_device){3}, 2, &err));
    CHECK(ss_chance_bind(c, t, &err) == SS_EINVAL, "no such device");
    CHECK_TEXT(err.text, "there are 1 to 2");
    ss_chance_free(c);
    c = fresh(1);
    CHECK_OK(ss_chance_set_slow(c, NULL, (ss_device){2}, 2, &err));
    CHECK_OK(ss_chance_set_slow(c, "gpu1.2", (ss_device){0}, 3, &err));
    CHECK(ss_chance_bind(c, t, &err) == SS_EINVAL, "one device, said twice");
    CHECK_TEXT(err.text, "twice");
    ss_chance_free(c);
    ss_topology_free(t);
}

/* ---- distributions ----------------------------------------------------------------------- */

/* Places that follow each other in each of the numbers that name a draw. */
static void neighbours_draw_evenly_and_apart(void)
{
    enum { N = 200000, BINS = 500 };
    static int bin[BINS];
    for (int along = 0; along < 3; along++) {
        double sum = 0, cross = 0, last = 0.5, chi = 0;
        memset(bin, 0, sizeof bin);
        ss_chance *c = fresh(7);
        for (int i = 0; i < N; i++) {
            c->seed = along == 0 ? (uint64_t)i : 7;
            uint64_t key = ss_chance_bits(c, along == 1 ? (uint32_t)i + 1 : 1, SS_LUCK_COMPUTE);
            double u = ss_unit_of(ss_hash_u64(key, along == 2 ? (uint64_t)i : 3));
            CHECK(u > 0 && u < 1, "%g", u);
            bin[(int)(u * BINS)]++;
            sum += u - 0.5;
            cross += (u - 0.5) * (last - 0.5);
            last = u;
        }
        for (int b = 0; b < BINS; b++)
            chi += pow(bin[b] - (double)N / BINS, 2) / ((double)N / BINS);
        double p = gsl_cdf_chisq_P(chi, BINS - 1);
        CHECK(p > 1e-4 && p < 1 - 1e-4, "chi square %g (%g), along %d", chi, p, along);
        CHECK(fabs(sum) < 4.5 * sqrt(N / 12.0), "mean off by %g", sum / N);
        CHECK(fabs(cross) < 4.5 * sqrt(N) / 12, "correlation %g", cross / N * 12);
        ss_chance_free(c);
    }
    CHECK(ss_unit_of(0) > 0 && ss_unit_of(UINT64_MAX) < 1, "%.17g", ss_unit_of(UINT64_MAX));
}

static void quantiles_are_those_of_gsl(void)
{
    static const double cv[] = {0.05, 0.17, 1, 2};
    for (int i = 0; i < 4; i++)
        for (int k = 1; k < 40; k++) {
            double u = k < 20 ? pow(2, -k) : 1 - pow(2, 19 - k), m = 2.5;
            ss_draw l = {.kind = SS_DRAW_LOGNORMAL, .mean = m, .cv = cv[i]}, g = l;
            g.kind = SS_DRAW_GAMMA;
            double s2 = log(1 + cv[i] * cv[i]);
            double x = ss_draw_quantile(&l, u), y = ss_draw_quantile(&g, u);
            double back = gsl_cdf_lognormal_P(x, log(m) - s2 / 2, sqrt(s2));
            CHECK(fabs(back - u) < 1e-9, "lognormal cv %g: %g, not %g", cv[i], back, u);
            back = gsl_cdf_gamma_P(y, 1 / cv[i] / cv[i], m * cv[i] * cv[i]);
            CHECK(fabs(back - u) < 1e-9, "gamma cv %g: %g, not %g", cv[i], back, u);
        }
}

/* Mean and deviation of n draws lie within 5 standard errors of what they are meant to be. */
static void draws_have_mean_and_cv(void)
{
    enum { N = 200000 };
    static const ss_draw of[] = {{.kind = SS_DRAW_LOGNORMAL, .mean = 1, .cv = 0.05},
                                 {.kind = SS_DRAW_LOGNORMAL, .mean = 3e-6, .cv = 0.5},
                                 {.kind = SS_DRAW_GAMMA, .mean = 1, .cv = 0.4},
                                 {.kind = SS_DRAW_GAMMA, .mean = 2, .cv = 1}};
    for (int k = 0; k < 4; k++) {
        double sum = 0, squares = 0, fourth = 0, m = of[k].mean, sd = m * of[k].cv;
        for (uint64_t i = 0; i < N; i++) {
            double x = ss_draw_of(&of[k], ss_hash_u64(11, i)) - m;
            sum += x;
            squares += x * x;
            fourth += x * x * x * x;
        }
        double variance = squares / N, of_variance = sqrt((fourth / N - variance * variance) / N);
        CHECK(fabs(sum / N) < 5 * sd / sqrt(N), "%d: mean off by %g", k, sum / N / m);
        CHECK(fabs(variance - sd * sd) < 5 * of_variance, "%d: cv %g, not %g", k,
              sqrt(variance) / m, of[k].cv);
    }
}

static void samples_are_equally_likely_and_scaled(void)
{
    enum { N = 60000 };
    static const double sample[] = {8, 2, 5, 1};
    ss_draw d = {.kind = SS_DRAW_SAMPLES, .mean = 1, .sample = sample, .samples = 4};
    ss_chance *c = fresh(1), *copy;
    CHECK_OK(ss_chance_set(c, SS_LUCK_COMPUTE, &d, &err));
    d.mean = NAN;
    CHECK_OK(ss_chance_set(c, SS_LUCK_LAUNCH, &d, &err));
    CHECK_OK(ss_chance_copy(c, &copy, &err));
    const ss_draw *factor = &copy->draw[SS_LUCK_COMPUTE], *as_is = &copy->draw[SS_LUCK_LAUNCH];
    int n[4] = {0};
    for (uint64_t i = 0; i < N; i++) {
        double x = ss_draw_of(factor, ss_hash_u64(3, i));
        CHECK(ss_draw_of(as_is, ss_hash_u64(3, i)) == x * 4, "the same one, 4 times as large");
        n[x == 0.25 ? 0 : x == 0.5 ? 1 : x == 1.25 ? 2 : 3] += 1;
        CHECK(x == 0.25 || x == 0.5 || x == 1.25 || x == 2, "%g", x);
    }
    for (int k = 0; k < 4; k++)
        CHECK(abs(n[k] - N / 4) < 5 * sqrt(N * 3 / 16.0), "%d times", n[k]);
    CHECK(as_is->mean == 4 && fabs(factor->cv - sqrt(7.5) / 4) < 1e-14, "mean %g, cv %g",
          as_is->mean, factor->cv);
    CHECK(factor->sample != c->draw[SS_LUCK_COMPUTE].sample, "a copy has samples of its own");
    ss_chance_free(c);
    ss_chance_free(copy);
}

static void a_tail_comes_as_often_as_it_says(void)
{
    enum { N = 100000 };
    ss_draw d = {.kind = SS_DRAW_GAMMA, .mean = 1, .cv = 0.5}, tailed = d;
    tailed.tail_share = 0.02;
    tailed.tail_factor = 7;
    int tails = 0, long_ones = 0;
    for (uint64_t i = 0; i < N; i++) {
        double x = ss_draw_of(&d, ss_hash_u64(5, i)), y = ss_draw_of(&tailed, ss_hash_u64(5, i));
        CHECK(y == x || y == x * 7, "%g of %g", y, x);
        tails += y != x;
        long_ones += y != x && x > gsl_cdf_gamma_Pinv(0.5, 4, 0.25);
    }
    CHECK(fabs(tails - 0.02 * N) < 5 * sqrt(0.02 * N), "%d tails", tails);
    CHECK(fabs(long_ones - tails / 2.0) < 5 * sqrt(tails / 4.0), "%d of %d of long ones", long_ones,
          tails);
}

/* ---- steps ------------------------------------------------------------------------------- */

typedef struct world {
    ss_model *m;
    ss_topology *t;
    ss_routes *r;
    ss_strategy *s;
    ss_lower_options o;
    ss_lowered l;
    ss_engine *e;
    ss_timeline line;
} world;

static ss_status microsecond(void *context, const ss_model *m, ss_op op, ss_phase phase,
                             const ss_box *main, ss_device device, ss_time *out, ss_error *e)
{
    (void)context, (void)m, (void)op, (void)phase, (void)main, (void)device, (void)e;
    *out = 1000003;
    return SS_OK;
}

static ss_status memory_second(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                               ss_error *e)
{
    (void)what;
    (void)context, (void)device;
    return ss_time_from_seconds(bytes * 1e-9, "memory", out, e);
}

static const ss_timer timer = {.part = microsecond, .memory = memory_second};

/* A chain of layers on a cluster of `devices`; the strategy is whole on device 1. */
static world chain_of(uint32_t layers, uint32_t machines, uint32_t each)
{
    world w = {.m = net_new("chain"),
               .t = net_cluster(machines, each, 1e9, 1e9, 1e-6),
               .o = ss_lower_options_start()};
    ss_tensor x = net_input(w.m, "x", SS_F32, 2, (int64_t[]){96, 10});
    char name[20];
    for (uint32_t i = 1; i <= layers; i++) {
        snprintf(name, sizeof name, "fc%u", i);
        x = net_then(w.m, "linear", name, x, "out", 10);
    }
    net_must(ss_routes_new(w.t, &w.r, &err), &err);
    net_must(ss_strategy_new(w.m, w.t, &w.s, &err), &err);
    net_must(ss_engine_new(&w.e, &err), &err);
    return w;
}

static void end_world(world *w)
{
    ss_timeline_free(&w->line);
    ss_engine_free(w->e);
    ss_lowered_free(&w->l);
    ss_strategy_free(w->s);
    ss_routes_free(w->r);
    ss_topology_free(w->t);
    ss_model_free(w->m);
}

static ss_time run(world *w)
{
    net_must(ss_lower(w->m, w->t, w->r, w->s, &timer, &w->o, &w->l, &err), &err);
    net_must(ss_engine_run(w->e, &w->l.tasks, &w->line, &err), &err);
    return w->line.makespan;
}

static void put(world *w, uint32_t op, uint32_t parts, const uint32_t *device)
{
    ss_device list[64];
    for (uint32_t p = 0; p < parts; p++)
        list[p].i = device[p];
    net_must(ss_strategy_set(w->s, (ss_op){op}, (uint32_t[]){parts, 1}, 2, list, parts, &err),
             &err);
}

/* The task that is alike in all that its place does not decide; 0: there is none. */
static uint32_t find(const world *w, ss_task_kind kind, ss_cargo cargo, uint32_t op, uint32_t part)
{
    for (uint32_t i = 1; i <= w->l.tasks.n; i++) {
        const ss_task_label *l = &w->l.tasks.label[i];
        if (l->kind == kind && l->cargo == cargo && l->op == op && l->part == part)
            return i;
    }
    return 0;
}

static ss_chance *with(ss_luck_of x, ss_draw d)
{
    ss_chance *c = fresh(3);
    net_must(ss_chance_set(c, x, &d, &err), &err);
    return c;
}

static ss_draw constant(double x)
{
    return (ss_draw){.kind = SS_DRAW_CONSTANT, .mean = x};
}

static const uint32_t first_four[] = {1, 2, 3, 4};

static void a_chance_of_nothing_changes_nothing(void)
{
    for (int mode = 0; mode < SS_LINKS_MODES; mode++) {
        world w = chain_of(3, 2, 2);
        w.o.sync = SS_SYNC_RING;
        w.o.links = (ss_links_mode)mode;
        w.o.update_passes = 3;
        for (uint32_t i = 1; i <= 3; i++)
            put(&w, i, i + 1, first_four);
        run(&w);
        ss_tasks without;
        CHECK_OK(ss_tasks_copy(&w.l.tasks, &without, &err));
        ss_chance *c = fresh(3);
        for (uint32_t x = 0; x < SS_LUCKS; x++) {
            ss_draw d = constant(x < SS_LUCK_LAUNCH);
            CHECK_OK(ss_chance_set(c, (ss_luck_of)x, &d, &err));
        }
        w.o.chance = c;
        run(&w);
        const ss_tasks *t = &w.l.tasks;
        CHECK(t->n == without.n && !memcmp(t->hold + 1, without.hold + 1, t->n * sizeof *t->hold),
              "mode %d: other times", mode);
        CHECK(t->draws_flows == (mode == SS_LINKS_SHARED) && !without.draws_flows, "flows");
        for (uint32_t i = 1; i <= t->n; i++)
            CHECK(ss_tasks_flow(t, (ss_task){i}) == t->bytes[i], "task %u flows otherwise", i);
        ss_tasks_free(&without);
        end_world(&w);
        ss_chance_free(c);
    }
}

static void a_launch_is_added_to_each_task_of_a_chain(void)
{
    world w = chain_of(5, 1, 1);
    ss_time before = run(&w);
    ss_chance *c = with(SS_LUCK_LAUNCH, constant(5e-6));
    w.o.chance = c;
    ss_time after = run(&w); /* updates are free: nothing is launched */
    CHECK(before == 10 * 1000003 && after == before + 10 * 5000000, "%lld, then %lld",
          (long long)before, (long long)after);
    end_world(&w);
    ss_chance_free(c);
}

static void a_step_has_its_overhead_once(void)
{
    world w = chain_of(2, 1, 2);
    ss_chance *c = with(SS_LUCK_STEP, constant(3e-3));
    w.o.chance = c;
    ss_result *r;
    CHECK_OK(ss_result_new(w.m, w.t, w.r, w.s, &timer, &w.o, w.e, &r, &err));
    CHECK(r->step_time == 4 * 1000003 + 3000000000 && r->overhead == 3000000000 &&
              r->timeline.makespan == 4 * 1000003,
          "%lld", (long long)r->step_time);
    CHECK(r->device[1].busy + r->device[1].idle == r->step_time, "idle %lld",
          (long long)r->device[1].idle);
    ss_result_free(r);
    ss_draw d = lognormal;
    d.mean = 1e-3;
    CHECK_OK(ss_chance_set(c, SS_LUCK_STEP, &d, &err));
    ss_time one, two, again;
    CHECK_OK(ss_chance_step(c, 1, &one, &err));
    CHECK_OK(ss_chance_step(c, 2, &two, &err));
    CHECK_OK(ss_chance_step(c, 0, &again, &err));
    CHECK(one != two && one == again, "%lld and %lld", (long long)one, (long long)two);
    end_world(&w);
    ss_chance_free(c);
}

/* Two layers on two machines: a message of 96 * 10 * 4 bytes over four links of 1 GB/s and 1 us. */
static void a_message_has_its_overhead_and_factor_once(void)
{
    static const ss_time bytes_take = 3840000, latency = 1000000;
    for (int mode = 0; mode < SS_LINKS_MODES; mode++)
        for (uint32_t segments = 1; segments <= 3; segments += 2) {
            world w = chain_of(2, 2, 1);
            w.o.links = (ss_links_mode)mode;
            w.o.training = false;
            w.o.segment_bytes = 3840 / segments;
            put(&w, 2, 1, (uint32_t[]){2});
            ss_time before = run(&w);
            ss_chance *c = with(SS_LUCK_MESSAGE, constant(7e-6));
            w.o.chance = c;
            CHECK(run(&w) == before + 7000000, "mode %d: %lld, then %lld", mode, (long long)before,
                  (long long)w.line.makespan);
            bool once = mode == SS_LINKS_FIFO_PATH || mode == SS_LINKS_SHARED;
            uint32_t on_way = once ? 1 : segments == 1 ? 4 : segments + 3;
            ss_draw twice = constant(2);
            CHECK_OK(ss_chance_set(c, SS_LUCK_TRANSFER, &twice, &err));
            ss_time more = on_way * bytes_take / (once ? 1 : segments);
            CHECK(run(&w) == before + 7000000 + more, "mode %d, %u segments: %lld, not %lld", mode,
                  segments, (long long)(w.line.makespan - before - 7000000), (long long)more);
            ss_time latencies = (mode == SS_LINKS_FIFO_HOP ? on_way : 4) * latency;
            CHECK(before == 2 * 1000003 + latencies + more, "latencies are kept");
            CHECK(w.l.moved[SS_CARGO_ACTIVATION] == 3840, "bytes are what they were");
            end_world(&w);
            ss_chance_free(c);
        }
}

/* In legs from host to host a message is several tasks that know nothing of each other. */
static void legs_of_a_message_have_its_overhead_once(void)
{
    for (int mode = 0; mode < SS_LINKS_MODES; mode++)
        for (uint32_t segments = 1; segments <= 3; segments += 2) {
            world w = chain_of(2, 2, 1);
            w.o.links = (ss_links_mode)mode;
            w.o.training = false;
            w.o.segment_bytes = 3840 / segments;
            for (uint32_t n = 1; n <= w.t->nodes; n++)
                if (!strncmp(w.t->node[n].name, "hub", 3))
                    CHECK_OK(ss_topology_set_stages(w.t, (ss_node){n}, true, &err));
            ss_routes_free(w.r);
            CHECK_OK(ss_routes_new(w.t, &w.r, &err));
            put(&w, 2, 1, (uint32_t[]){2});
            ss_time before = run(&w);
            ss_chance *c = with(SS_LUCK_MESSAGE, constant(7e-6));
            w.o.chance = c;
            CHECK(run(&w) == before + 7000000, "mode %d, %u segments: %lld, then %lld", mode,
                  segments, (long long)before, (long long)w.line.makespan);
            end_world(&w);
            ss_chance_free(c);
        }
}

static void hops_and_segments_share_the_luck_of_their_message(void)
{
    world w = chain_of(2, 2, 1);
    w.o.training = false;
    w.o.segment_bytes = 480;
    for (uint32_t l = 1; l <= w.t->links; l++)
        w.t->link[l].def.latency_s = 0;
    put(&w, 2, 1, (uint32_t[]){2});
    ss_chance *c = with(SS_LUCK_TRANSFER, lognormal);
    w.o.chance = c;
    run(&w);
    uint32_t first = find(&w, SS_TASK_TRANSFER, SS_CARGO_ACTIVATION, 1, 0), n = 0;
    for (uint32_t i = 1; i <= w.l.tasks.n; i++)
        if (w.l.tasks.label[i].kind == SS_TASK_TRANSFER) {
            n++;
            CHECK(w.l.tasks.hold[i] == w.l.tasks.hold[first], "hop of %lld",
                  (long long)w.l.tasks.hold[i]);
        }
    CHECK(n == 4 * 8 && w.l.tasks.hold[first] != 480000, "%u tasks of %lld", n,
          (long long)w.l.tasks.hold[first]);
    end_world(&w);
    ss_chance_free(c);
}

/* Parts moved to other devices, other operators cut otherwise: the luck of a task stays. */
static void a_draw_depends_on_nothing_else(void)
{
    world w = chain_of(3, 2, 2);
    w.o.sync = SS_SYNC_RING;
    w.o.update_passes = 3;
    ss_chance *c = with(SS_LUCK_COMPUTE, lognormal);
    CHECK_OK(ss_chance_set(c, SS_LUCK_TRANSFER, &lognormal, &err));
    w.o.chance = c;
    put(&w, 2, 2, (uint32_t[]){1, 2});
    put(&w, 3, 2, (uint32_t[]){3, 4});
    run(&w);
    ss_time part = w.l.tasks.hold[find(&w, SS_TASK_BACKWARD, SS_CARGO_NONE, 2, 1)];
    ss_time sent = w.l.tasks.hold[find(&w, SS_TASK_TRANSFER, SS_CARGO_ACTIVATION, 2, 1)];
    ss_time update = w.l.tasks.hold[find(&w, SS_TASK_UPDATE, SS_CARGO_NONE, 5, 5)];
    put(&w, 2, 2, (uint32_t[]){4, 1});
    run(&w);
    CHECK(w.l.tasks.hold[find(&w, SS_TASK_BACKWARD, SS_CARGO_NONE, 2, 1)] == part,
          "a part that is moved takes its luck along");
    CHECK(w.l.tasks.hold[find(&w, SS_TASK_TRANSFER, SS_CARGO_ACTIVATION, 2, 1)] == sent,
          "a message takes it along");
    put(&w, 2, 2, (uint32_t[]){1, 2});
    put(&w, 1, 4, first_four); /* more tasks, and more copies of weights, before all of these */
    run(&w);
    CHECK(w.l.tasks.hold[find(&w, SS_TASK_BACKWARD, SS_CARGO_NONE, 2, 1)] == part &&
              w.l.tasks.hold[find(&w, SS_TASK_UPDATE, SS_CARGO_NONE, 5, 5)] == update,
          "what others do does not matter");
    w.o.repetition = 2;
    run(&w);
    CHECK(w.l.tasks.hold[find(&w, SS_TASK_BACKWARD, SS_CARGO_NONE, 2, 1)] != part,
          "another repetition, another draw");
    w.o.repetition = 0;
    c->seed = 4;
    run(&w);
    CHECK(w.l.tasks.hold[find(&w, SS_TASK_BACKWARD, SS_CARGO_NONE, 2, 1)] != part,
          "another seed, another draw");
    end_world(&w);
    ss_chance_free(c);
}

/* A meeting that is one task has the overheads of the messages that follow each other in it. */
static void a_meeting_as_one_task_has_those_of_its_rounds(void)
{
    static const ss_sync sync[] = {SS_SYNC_RING, SS_SYNC_TREE};
    static const uint32_t rounds[] = {2 * 3, 2 * 2}; /* of four members */
    for (int k = 0; k < 2; k++)
        for (int shared = 0; shared < 2; shared++) {
            ss_time took[2][2];
            for (int as_one = 0; as_one < 2; as_one++)
                for (int drawn = 0; drawn < 2; drawn++) {
                    world w = chain_of(0, 1, 4);
                    ss_tensor x = {1};
                    net_op(w.m, (net_place){0}, "linear", "fc", &x, 1, "out", 10, "bias", 0, NULL);
                    ss_strategy_free(w.s);
                    CHECK_OK(ss_strategy_new(w.m, w.t, &w.s, &err));
                    put(&w, 1, 4, first_four);
                    w.o.sync = sync[k];
                    w.o.links = shared ? SS_LINKS_SHARED : SS_LINKS_FIFO_PATH;
                    w.o.aggregate = as_one;
                    ss_chance *c = with(SS_LUCK_MESSAGE, constant(7e-6));
                    w.o.chance = drawn ? c : NULL;
                    took[as_one][drawn] = run(&w);
                    end_world(&w);
                    ss_chance_free(c);
                }
            ss_time one = took[1][1] - took[1][0], all = took[0][1] - took[0][0];
            CHECK(one == rounds[k] * 7000000, "%d: %lld as one task", k, (long long)one);
            CHECK(k || llabs(all - one) < 100, "%d: %lld by messages", k, (long long)all);
        }
}

static int by_time(const void *a, const void *b)
{
    ss_time x = *(const ss_time *)a, y = *(const ss_time *)b;
    return (x > y) - (x < y);
}

/* Rounds of a ring and copies of weights are alike but for who they are of. */
static void what_is_alike_is_drawn_apart(void)
{
    static ss_time hold[200];
    world w = chain_of(2, 2, 2);
    w.o.sync = SS_SYNC_RING;
    w.o.update_passes = 3;
    ss_chance *c = with(SS_LUCK_COMPUTE, lognormal);
    CHECK_OK(ss_chance_set(c, SS_LUCK_TRANSFER, &lognormal, &err));
    w.o.chance = c;
    put(&w, 1, 4, first_four);
    put(&w, 2, 4, first_four);
    run(&w);
    uint32_t n = 0;
    for (uint32_t i = 1; i <= w.l.tasks.n; i++)
        if (w.l.tasks.label[i].hop == 0 && w.l.tasks.bytes[i] != 10) /* of a bias: too few ps */
            hold[n++] = w.l.tasks.hold[i];
    qsort(hold, n, sizeof *hold, by_time);
    /* 2 x 4 forward, as many backward; of two matrices 2 * 4 * 3 messages; 4 x 4 updates */
    CHECK(n == 16 + 2 * 24 + 4 * 4, "%u tasks", n);
    for (uint32_t i = 1; i < n; i++)
        CHECK(hold[i] > hold[i - 1], "two of %lld", (long long)hold[i]);
    end_world(&w);
    ss_chance_free(c);
}

static void kinds_and_devices_have_their_own(void)
{
    world w = chain_of(3, 1, 3);
    ss_tensor x = net_out(w.m, (ss_op){3});
    net_then(w.m, "relu", "last", x, NULL, 0);
    ss_strategy_free(w.s);
    net_must(ss_strategy_new(w.m, w.t, &w.s, &err), &err);
    w.o.training = false;
    ss_chance *c = with(SS_LUCK_COMPUTE, constant(2));
    ss_draw three = constant(3), five = constant(5);
    CHECK_OK(ss_chance_set_kind(c, "relu", &three, &err));
    CHECK_OK(ss_chance_set_device(c, "gpu1.2", (ss_device){0}, &five, &err));
    CHECK_OK(ss_chance_set_slow(c, NULL, (ss_device){3}, 1.5, &err));
    put(&w, 2, 1, (uint32_t[]){2});
    put(&w, 3, 1, (uint32_t[]){3});
    w.o.chance = c;
    CHECK(ss_lower(w.m, w.t, w.r, w.s, &timer, &w.o, &w.l, &err) == SS_EINVAL, "not bound");
    CHECK_OK(ss_chance_bind(c, w.t, &err));
    run(&w);
    static const double factor[] = {0, 2, 5, 2 * 1.5, 3};
    for (uint32_t i = 1; i <= 4; i++) {
        ss_time hold = w.l.tasks.hold[w.l.forward[i].i];
        CHECK(hold == (ss_time)nearbyint(1000003 * factor[i]), "operator %u takes %lld", i,
              (long long)hold);
    }
    ss_text text = {0};
    ss_chance_say_times(c, &text);
    CHECK(!strcmp(ss_text_get(&text), "compute 2 times, relu 3 times, on gpu1.2 5 times, "
                                      "gpu1.3 1.5 times"),
          "\"%s\"", ss_text_get(&text));
    ss_text_free(&text);
    end_world(&w);
    ss_chance_free(c);
}

/* ---- the largest of n -------------------------------------------------------------------- */

typedef struct largest {
    double n, zeta, sigma;
} largest;

static double density(double x, void *p)
{
    const largest *l = p;
    return x * l->n * gsl_ran_lognormal_pdf(x, l->zeta, l->sigma) *
           pow(gsl_cdf_lognormal_P(x, l->zeta, l->sigma), l->n - 1);
}

/* A step is over when the slowest of n devices is: the mean of the largest of n draws. */
static void a_step_waits_for_the_largest_of_its_devices(void)
{
    enum { N = 12, REPETITIONS = 3000 };
    for (int of_device = 0; of_device < 2; of_device++) {
        world w = chain_of(1, 1, N);
        uint32_t all[N];
        for (uint32_t d = 0; d < N; d++)
            all[d] = d + 1;
        put(&w, 1, N, all);
        w.o.training = false;
        ss_chance *c = with(of_device ? SS_LUCK_DEVICE : SS_LUCK_COMPUTE, lognormal);
        w.o.chance = c;
        double sum = 0, squares = 0;
        for (w.o.repetition = 1; w.o.repetition <= REPETITIONS; w.o.repetition++) {
            double x = (double)run(&w) / 1000003;
            sum += x;
            squares += x * x;
        }
        double mean = sum / REPETITIONS,
               error = sqrt((squares / REPETITIONS - mean * mean) / REPETITIONS);
        double sigma = sqrt(log(1 + 0.09)), wanted, unsure;
        largest l = {N, -sigma * sigma / 2, sigma};
        gsl_function f = {density, &l};
        gsl_integration_workspace *space = gsl_integration_workspace_alloc(200);
        gsl_integration_qag(&f, 1e-6, 20, 0, 1e-9, 200, GSL_INTEG_GAUSS31, space, &wanted, &unsure);
        gsl_integration_workspace_free(space);
        CHECK(fabs(mean - wanted) < 4 * error && error < 0.01,
              "mean of the largest %.4f +- %.4f, not %.4f", mean, error, wanted);
        end_world(&w);
        ss_chance_free(c);
    }
}

int main(void)
{
    RUN(what_makes_no_sense_is_refused);
    RUN(neighbours_draw_evenly_and_apart);
    RUN(quantiles_are_those_of_gsl);
    RUN(draws_have_mean_and_cv);
    RUN(samples_are_equally_likely_and_scaled);
    RUN(a_tail_comes_as_often_as_it_says);
    RUN(a_chance_of_nothing_changes_nothing);
    RUN(a_launch_is_added_to_each_task_of_a_chain);
    RUN(a_step_has_its_overhead_once);
    RUN(a_message_has_its_overhead_and_factor_once);
    RUN(legs_of_a_message_have_its_overhead_once);
    RUN(a_meeting_as_one_task_has_those_of_its_rounds);
    RUN(hops_and_segments_share_the_luck_of_their_message);
    RUN(a_draw_depends_on_nothing_else);
    RUN(what_is_alike_is_drawn_apart);
    RUN(kinds_and_devices_have_their_own);
    RUN(a_step_waits_for_the_largest_of_its_devices);
    return DONE();
}
