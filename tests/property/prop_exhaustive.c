/* The exhaustive search against trying everything, on random small problems; its bounds against
 * random completions of random partial strategies; and its answers with and without symmetry.
 *
 * prop_exhaustive [CASES [SEED]] */
#include "check.h"
#include "reference/exhaustive_naive.h"

static ss_error err;
static uint64_t seed;
static int cases = 300;

static void say_case(const tiny *x, int n)
{
    printf("  case %d of seed %llu: %u operators, %u devices, sync %s, links %s%s%s%s\n", n,
           (unsigned long long)seed, x->model->ops, x->topology->devices,
           ss_sync_name(x->options.sync), ss_links_mode_name(x->options.links),
           x->options.training ? "" : ", inference", x->options.lumped ? ", lumped" : "",
           x->options.overlap ? "" : ", no overlap");
}

/* ---- bounds ------------------------------------------------------------------------------ */

static uint32_t any_row(const tiny *x, uint32_t op)
{
    return (uint32_t)tiny_draw(x->space.first[op], x->space.first[op + 1] - 1);
}

/* Decides operators one by one at random; after each, completes at random and compares. */
static bool walk_down(tiny *x, ss_exhaustive_tables *t, ss_partial *p, ss_bound *which,
                      ss_time *bound, ss_time *took)
{
    for (uint32_t k = 0; k < t->ops; k++) {
        uint32_t row = any_row(x, t->order[k]);
        net_must(ss_partial_push(p, row, &err), &err);
        tiny_put(x, t->order[k], row);
        ss_bounds_found b;
        net_must(ss_partial_bounds(p, ~0u, SS_TIME_MAX, &b, &err), &err);
        for (int tries = 0; tries < 6; tries++) {
            for (uint32_t i = k + 1; i < t->ops; i++)
                tiny_put(x, t->order[i], any_row(x, t->order[i]));
            *took = tiny_simulate(x);
            for (unsigned w = 0; w < SS_BOUND_SYMMETRY; w++)
                if (b.bound[w] > *took) {
                    *which = (ss_bound)w;
                    *bound = b.bound[w];
                    return false;
                }
        }
    }
    while (p->decided)
        ss_partial_pop(p);
    return true;
}

static void no_completion_takes_less_than_a_bound(void)
{
    for (int n = 0; n < cases; n++) {
        tiny x;
        ss_exhaustive_tables t = {0};
        ss_partial p;
        ss_bound which = SS_BOUND_PATH;
        ss_time bound = 0, took = 0;
        tiny_new(&x, 6, 1e9, tiny_chance(30));
        tiny_draws_times(&x);
        net_must(ss_exhaustive_tables_fill(&t, x.model, x.topology, &x.timer, &x.space, x.strategy,
                                           &x.options, NULL, &err),
                 &err);
        net_must(ss_partial_new(&t, &p, &err), &err);
        bool fine = true;
        for (int walks = 0; walks < 5 && fine; walks++)
            fine = walk_down(&x, &t, &p, &which, &bound, &took);
        for (uint32_t i = 1; i <= x.model->ops && fine; i++) {
            uint32_t row = any_row(&x, i);
            for (uint32_t k = 1; k <= x.model->ops; k++)
                tiny_put(&x, k, any_row(&x, k));
            tiny_put(&x, i, row);
            took = tiny_simulate(&x);
            bound = t.least[row];
            fine = bound <= took;
        }
        if (!fine)
            say_case(&x, n);
        ss_partial_free(&p);
        ss_exhaustive_tables_free(&t);
        tiny_free(&x);
        CHECK(fine, "%s bound %lld ps, a completion takes %lld ps", ss_bound_name(which),
              (long long)bound, (long long)took);
    }
}

/* With everything decided, on one device and without sums, the bounds leave nothing open. */
static void nothing_is_open_on_one_device(void)
{
    for (int n = 0; n < cases / 4; n++) {
        tiny x;
        ss_exhaustive_tables t = {0};
        ss_partial p;
        ss_bounds_found b;
        tiny_new(&x, 6, 1, true);
        x.options.update_passes = 0;
        ss_alternatives_free(&x.space);
        net_must(ss_alternatives_start(&x.space, x.model->ops, &err), &err);
        for (uint32_t i = 1; i <= x.model->ops; i++)
            net_must(ss_alternatives_add(&x.space, (ss_op){i}, &x.strategy->config[i], &err), &err);
        net_must(ss_exhaustive_tables_fill(&t, x.model, x.topology, &x.timer, &x.space, x.strategy,
                                           &x.options, NULL, &err),
                 &err);
        net_must(ss_partial_new(&t, &p, &err), &err);
        for (uint32_t k = 0; k < t.ops; k++)
            net_must(ss_partial_push(&p, t.first[t.order[k]], &err), &err);
        net_must(ss_partial_bounds(&p, ~0u, SS_TIME_MAX, &b, &err), &err);
        ss_time took = tiny_simulate(&x), sums = 0;
        for (uint32_t i = 1; i <= x.lowered.tasks.n; i++)
            if (x.lowered.tasks.label[i].kind == SS_TASK_ACCUMULATE)
                sums += x.lowered.tasks.hold[i];
        if (b.bound[SS_BOUND_WORK] != took - sums)
            say_case(&x, n);
        ss_partial_free(&p);
        ss_exhaustive_tables_free(&t);
        tiny_free(&x);
        CHECK(b.bound[SS_BOUND_WORK] == took - sums, "bound %lld, took %lld, sums %lld",
              (long long)b.bound[SS_BOUND_WORK], (long long)took, (long long)sums);
    }
}

/* ---- symmetry ---------------------------------------------------------------------------- */

/* The time of a random strategy of the space, and of its image under a permutation. */
static bool same_time(tiny *x, const uint32_t *to)
{
    for (uint32_t i = 1; i <= x->model->ops; i++)
        tiny_put(x, i, any_row(x, i));
    ss_time one = tiny_simulate(x);
    for (uint32_t i = 1; i <= x->model->ops; i++)
        for (uint32_t p = 0; p < x->strategy->config[i].parts; p++)
            x->strategy->config[i].device[p].i = to[x->strategy->config[i].device[p].i];
    return one == tiny_simulate(x);
}

/* Devices of one switch, all alike: how often swapping two changes the time of a strategy. */
static int changed_by_swaps(tiny *x, int tries)
{
    uint32_t to[TINY_DEVICES + 1], devices = x->topology->devices;
    int changed = 0;
    for (int n = 0; n < tries; n++) {
        for (uint32_t d = 0; d <= devices; d++)
            to[d] = d;
        uint32_t a = (uint32_t)tiny_draw(1, devices), b = a % devices + 1;
        to[a] = b;
        to[b] = a;
        changed += !same_time(x, to);
    }
    return changed;
}

/* Each that is found, tried on random strategies.  Others of equal devices do change times now and
 * then, or there would be no need to tell them apart. */
static void symmetries_change_no_time(void)
{
    int tried = 0, swapped = 0, changed = 0;
    for (int n = 0; n < cases; n++) {
        tiny x;
        ss_exhaustive_tables t = {0};
        ss_symmetries y = {0};
        bool fine = true;
        tiny_new(&x, 5, 1e4, tiny_chance(90));
        net_must(ss_exhaustive_tables_fill(&t, x.model, x.topology, &x.timer, &x.space, x.strategy,
                                           &x.options, NULL, &err),
                 &err);
        net_must(ss_symmetries_find(&t, &y, &err), &err);
        for (uint32_t k = 0; k < y.n && fine; k++)
            for (int tries = 0; tries < 4 && fine; tries++, tried++)
                fine = same_time(&x, y.device + (size_t)k * (t.devices + 1));
        if (y.n + 1 == t.devices && t.devices > 2 && x.topology->machines == 1 && fine) {
            swapped += 20; /* rotations alone were found */
            changed += changed_by_swaps(&x, 20);
        }
        if (!fine)
            say_case(&x, n);
        ss_symmetries_free(&y);
        ss_exhaustive_tables_free(&t);
        tiny_free(&x);
        CHECK(fine, "case %d", n);
    }
    printf("  %d images took the same time; of %d that are not used, %d did not\n", tried, swapped,
           changed);
    CHECK(cases < 100 || (tried > cases && changed > 0), "symmetries");
}

/* ---- the search -------------------------------------------------------------------------- */

static double strategies_in(const ss_exhaustive_result *r)
{
    double sum = (double)r->simulated;
    for (unsigned b = 0; b < SS_BOUNDS; b++)
        sum += r->inside[b];
    return sum;
}

static void search(tiny *x, unsigned bounds, ss_exhaustive_result *out)
{
    ss_exhaustive_options o = ss_exhaustive_options_start();
    o.lower = x->options;
    o.bounds = bounds;
    net_must(ss_exhaustive(x->model, x->topology, &x->timer, &x->space, x->strategy, &o, NULL, NULL,
                           out, &err),
             &err);
}

static void all_bounds_find_what_trying_everything_finds(void)
{
    double simulated = 0, all = 0, images = 0;
    for (int n = 0; n < cases; n++) {
        tiny x;
        uint64_t strategies;
        ss_exhaustive_result r[4];
        tiny_new(&x, 5, 2000, tiny_chance(50));
        tiny_draws_times(&x);
        for (uint32_t i = 1; i <= x.model->ops; i++)
            tiny_put(&x, i, any_row(&x, i));
        ss_strategy *start;
        net_must(ss_strategy_copy(x.strategy, &start, &err), &err);
        ss_time least = exhaustive_naive(&x, SS_MEMORY_IGNORED, 0, &strategies);
        ss_strategy_free(x.strategy);
        x.strategy = start;
        search(&x, ~0u, &r[0]);
        search(&x, ~(1u << SS_BOUND_SYMMETRY), &r[1]);
        search(&x, 1u << tiny_draw(0, SS_BOUNDS - 1), &r[2]);
        search(&x, 0, &r[3]);
        bool fine = true;
        for (int k = 0; k < 4 && fine; k++) {
            fine = r[k].proven && r[k].cost == least && r[k].least == least &&
                   r[k].size == strategies && strategies_in(&r[k]) == (double)strategies;
            ss_strategy *s = x.strategy;
            x.strategy = r[k].best;
            fine = fine && tiny_simulate(&x) == least;
            x.strategy = s;
            /* without bounds the same strategies are visited in the same order */
            fine = fine && ss_strategy_same(r[k].best, r[0].best);
            if (!fine)
                printf("  search %d of 4: cost %lld, least %lld, %g of %llu strategies\n", k,
                       (long long)r[k].cost, (long long)least, strategies_in(&r[k]),
                       (unsigned long long)strategies);
        }
        simulated += (double)r[0].simulated;
        all += (double)strategies;
        images += r[0].inside[SS_BOUND_SYMMETRY];
        if (!fine)
            say_case(&x, n);
        for (int k = 0; k < 4; k++)
            ss_exhaustive_result_free(&r[k]);
        tiny_free(&x);
        CHECK(fine, "case %d", n);
    }
    printf("  %.3g of %.3g strategies were simulated, %.3g were images of others\n", simulated, all,
           images);
    CHECK(cases < 100 || images > 0, "no symmetry was ever used");
}

/* ---- memory, and what is told ------------------------------------------------------------ */

/* Of the steps of one search. */
typedef struct heard {
    uint64_t begun, steps, accepted, ended;
    ss_time start, current;
    ss_strategy *at; /* where the accepted steps lead */
    ss_search_end why;
    const char *wrong; /* the first thing that was */
} heard;

static void expect(heard *h, bool fine, const char *what)
{
    if (!fine && !h->wrong)
        h->wrong = what;
}

static ss_status hear_begin(void *context, uint32_t chain, const ss_strategy *start, ss_time cost,
                            double beta, ss_error *e)
{
    heard *h = context;
    (void)e;
    expect(h, chain == 0 && beta == 0 && !h->begun++, "the beginning");
    h->start = h->current = cost;
    net_must(ss_strategy_copy(start, &h->at, &err), &err);
    return SS_OK;
}

static ss_status hear_step(void *context, uint32_t chain, const ss_step *s, ss_error *e)
{
    heard *h = context;
    (void)e;
    expect(h, chain == 0 && s->step == ++h->steps && s->reach == SS_REACH_ALL, "numbers of steps");
    for (uint32_t i = 0; i < s->ops; i++) {
        ss_config *now = &h->at->config[s->from[i].op.i];
        expect(h, s->from[i].op.i == s->to[i].op.i && ss_config_same(&s->from[i].config, now),
               "what an operator had");
        expect(h, !ss_config_same(&s->to[i].config, now), "a change that is none");
        if (s->accepted)
            net_must(ss_config_copy(&s->to[i].config, now, &err), &err);
    }
    h->accepted += s->accepted;
    if (s->accepted)
        h->current = s->proposed;
    expect(h, s->current == h->current && s->best == h->current, "the best so far");
    return SS_OK;
}

static ss_status hear_end(void *context, uint32_t chain, ss_search_end why, ss_error *e)
{
    heard *h = context;
    (void)chain;
    (void)e;
    h->ended++;
    h->why = why;
    return SS_OK;
}

/* Memories about as large as what is needed, or none. */
static void draw_memories(tiny *x)
{
    double bytes = (double)tiny_draw(100, 1500);
    for (uint32_t d = 1; d <= x->topology->devices; d++) {
        double *has = &x->topology->device[d].def.memory_bytes;
        *has = tiny_chance(10) ? 0 : tiny_chance(20) ? (double)tiny_draw(100, 1500) : bytes;
    }
}

static bool told_right(tiny *x, const heard *h, const ss_exhaustive_result *r,
                       const ss_exhaustive_options *o)
{
    ss_strategy *s = x->strategy;
    x->strategy = h->at;
    ss_time cost = exhaustive_naive_cost(x, o->memory, o->penalty_s_per_byte);
    x->strategy = s;
    return !h->wrong && h->begun == 1 && h->ended == 1 && h->why == SS_END_PROVEN &&
           h->steps == r->simulated && (h->accepted > 0) == r->better &&
           ss_strategy_same(h->at, r->best) && (r->walled ? cost == SS_TIME_MAX : cost == r->cost);
}

static bool fits_as_said(tiny *x, const ss_exhaustive_result *r)
{
    ss_strategy *s = x->strategy;
    x->strategy = r->best;
    bool fits = exhaustive_naive_cost(x, SS_MEMORY_WALL, 0) < SS_TIME_MAX;
    x->strategy = s;
    return r->fits == fits;
}

static void memory_counts_as_it_does_for_every_strategy(void)
{
    int walled = 0, nowhere = 0, told = 0;
    for (int n = 0; n < cases; n++) {
        tiny x;
        uint64_t strategies;
        heard h = {0};
        ss_exhaustive_result r;
        ss_exhaustive_options o = ss_exhaustive_options_start();
        ss_search_sink sink = {&h, hear_begin, hear_step, NULL, hear_end};
        tiny_new(&x, 5, 1000, tiny_chance(50));
        tiny_draws_times(&x);
        draw_memories(&x);
        o.lower = x.options;
        o.memory = tiny_chance(60) ? SS_MEMORY_WALL : SS_MEMORY_PENALTY;
        o.penalty_s_per_byte = 1e-9 * (double)tiny_draw(0, 20);
        for (uint32_t i = 1; i <= x.model->ops; i++)
            tiny_put(&x, i, any_row(&x, i));
        net_must(ss_exhaustive(x.model, x.topology, &x.timer, &x.space, x.strategy, &o, &sink, NULL,
                               &r, &err),
                 &err);
        ss_time least = exhaustive_naive(&x, o.memory, o.penalty_s_per_byte, &strategies);
        bool fine = r.proven && r.walled == (least == SS_TIME_MAX) && fits_as_said(&x, &r) &&
                    told_right(&x, &h, &r, &o) &&
                    (r.walled ? r.cost == h.start : r.cost == least && r.least == least);
        if (!fine) {
            say_case(&x, n);
            printf("  %s; cost %lld, least %lld, walled %d; told: %s\n",
                   o.memory == SS_MEMORY_WALL ? "wall" : "penalty", (long long)r.cost,
                   (long long)least, r.walled, h.wrong ? h.wrong : "well");
        }
        walled += o.memory == SS_MEMORY_WALL && !r.walled && r.better;
        nowhere += r.walled;
        told += (int)h.steps;
        ss_exhaustive_result_free(&r);
        ss_strategy_free(h.at);
        tiny_free(&x);
        CHECK(fine, "case %d", n);
    }
    printf("  %d found something within a wall, %d nothing; %d steps were told\n", walled, nowhere,
           told);
    CHECK(cases < 100 || (walled > 0 && nowhere > 0), "walls");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cases = atoi(argv[1]);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("seed %llu\n", (unsigned long long)seed);
    net_must(ss_rng_open(&tiny_rng, seed, "exhaustive", &err), &err);
    RUN(no_completion_takes_less_than_a_bound);
    RUN(nothing_is_open_on_one_device);
    RUN(symmetries_change_no_time);
    RUN(all_bounds_find_what_trying_everything_finds);
    RUN(memory_counts_as_it_does_for_every_strategy);
    ss_rng_close(&tiny_rng);
    return DONE();
}
