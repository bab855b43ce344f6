/* A search is the same row by row whichever way it scores, with early stop or without, with one
 * thread or two: on random models, clusters, options and searchers.  Only a proposal that was
 * stopped has a bound in place of its cost.
 *
 * prop_ways [SEARCHES [PROPOSALS [SEED]]] */
#include "search/search.h"

#include "base/hash.h"
#include "check.h"
#include "random_problem.h"

typedef struct row {
    ss_step step;     /* without its choices */
    uint64_t changes; /* a hash of them */
} row;

enum { CHAINS = 2, WAYS = 6 };

typedef struct chain_rows {
    row *row;
    size_t n, cap;
    ss_time start;
} chain_rows;

typedef struct all_rows {
    chain_rows chain[CHAINS];
} all_rows;

static uint64_t seed, searches = 24, proposals = 150, stops, compared;

static uint64_t hash_choices(const ss_choice *c, uint32_t n)
{
    uint64_t h = SS_HASH_START;
    for (uint32_t i = 0; i < n; i++) {
        h = ss_hash_u64(h, c[i].op.i);
        for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
            h = ss_hash_u64(h, c[i].config.degree[d]);
        for (uint32_t p = 0; p < c[i].config.parts; p++)
            h = ss_hash_u64(h, c[i].config.device[p].i);
    }
    return h;
}

static ss_status begin(void *context, uint32_t chain, const ss_strategy *s, ss_time cost,
                       double beta, ss_error *e)
{
    (void)s, (void)beta, (void)e;
    ((all_rows *)context)->chain[chain].start = cost;
    return SS_OK;
}

static ss_status step(void *context, uint32_t chain, const ss_step *s, ss_error *e)
{
    (void)e;
    chain_rows *c = &((all_rows *)context)->chain[chain];
    if (c->n == c->cap) {
        c->cap = 2 * c->cap + 64;
        c->row = realloc(c->row, c->cap * sizeof *c->row);
        if (!c->row)
            exit(99);
    }
    row *r = &c->row[c->n++];
    r->step = *s;
    r->changes = ss_hash_u64(hash_choices(s->from, s->ops), hash_choices(s->to, s->ops));
    stops += s->stopped;
    return SS_OK;
}

static ss_status flush(void *context, ss_error *e)
{
    (void)context, (void)e;
    return SS_OK;
}

static ss_status ended(void *context, uint32_t chain, ss_search_end why, ss_error *e)
{
    (void)context, (void)chain, (void)why, (void)e;
    return SS_OK;
}

static const char *difference(const ss_step *a, const ss_step *b)
{
    if (a->step != b->step || a->op != b->op || a->ops != b->ops || a->reach != b->reach ||
        a->move != b->move)
        return "what was proposed";
    if (a->uniform != b->uniform || a->log_hastings != b->log_hastings)
        return "the numbers drawn";
    if (a->accepted != b->accepted || a->infeasible != b->infeasible)
        return "accepted or infeasible";
    if (!a->stopped && !b->stopped && a->proposed != b->proposed)
        return "cost proposed";
    if (a->stopped && !b->stopped && a->proposed > b->proposed)
        return "the bound, which passes the cost";
    if (a->current != b->current || a->best != b->best)
        return "current or best cost";
    bool known = a->tasks && b->tasks; /* 0 where it was stopped before there was a graph */
    if (a->ops && (known ? a->tasks != b->tasks : !a->stopped && !b->stopped))
        return "number of tasks";
    return NULL;
}

static bool same_rows(const all_rows *a, const all_rows *b, const char *what)
{
    for (int c = 0; c < CHAINS; c++) {
        const chain_rows *x = &a->chain[c], *y = &b->chain[c];
        for (size_t i = 0; i < x->n && i < y->n; i++, compared++) {
            const char *d = difference(&x->row[i].step, &y->row[i].step);
            if (!d && x->row[i].changes != y->row[i].changes)
                d = "the changes";
            if (!d)
                continue;
            printf("  seed %llu, %s, chain %d, row %zu: %s\n", (unsigned long long)seed, what, c,
                   i + 1, d);
            return false;
        }
        if (x->n != y->n || x->start != y->start) {
            printf("  seed %llu, %s, chain %d: %zu and %zu rows, started at %lld and %lld\n",
                   (unsigned long long)seed, what, c, x->n, y->n, (long long)x->start,
                   (long long)y->start);
            return false;
        }
    }
    return true;
}

static ss_search_options random_search(void)
{
    ss_search_options o = ss_search_options_start();
    o.searcher = (ss_searcher)draw(0, SS_SEARCHERS - 1);
    o.seed = (uint64_t)draw(1, 1000000);
    o.proposals = proposals;
    o.descent = chance(20);
    o.beta_relative = (double)draw(1, 200);
    o.space.hastings = chance(50);
    o.space.group = chance(40) ? 0.2 : 0;
    o.space.neighbour = !o.space.hastings && chance(40) ? 0.2 : 0;
    o.space.max_parts = MOST_PARTS;
    o.score.lower = chance(30) ? random_shared_options() : random_options();
    o.score.memory = chance(80)   ? SS_MEMORY_IGNORED
                     : chance(50) ? SS_MEMORY_WALL
                                  : SS_MEMORY_PENALTY;
    return o;
}

static void search(const ss_strategy *data, const ss_strategy *other, const ss_costs *costs,
                   const ss_search_options *o, all_rows *out)
{
    const ss_search_start start[CHAINS] = {{"data_parallel", data}, {"random", other}};
    ss_search_sink sink = {out, begin, step, flush, ended};
    ss_search *s;
    net_must(ss_search_new(data->model, data->topology, costs, start, CHAINS, o, &s, &err), &err);
    net_must(ss_search_run(s, &sink, NULL, &err), &err);
    ss_search_free(s);
}

static bool one_search(void)
{
    static const struct {
        const char *name;
        ss_score_way way;
        bool early_stop;
        uint32_t threads;
    } as[WAYS] = {{"full", SS_SCORE_FULL, false, 1},
                  {"replay", SS_SCORE_REPLAY, false, 2},
                  {"replay with early stop", SS_SCORE_REPLAY, true, 1},
                  {"delta", SS_SCORE_DELTA, false, 1},
                  {"delta with early stop", SS_SCORE_DELTA, true, 1},
                  {"delta with early stop, two threads", SS_SCORE_DELTA, true, 2}};
    ss_model *m = random_model();
    ss_topology *t = random_topology();
    while (t->devices < 2) { /* on one device nothing has a choice */
        ss_topology_free(t);
        t = random_topology();
    }
    ss_costs *costs;
    ss_strategy *data, *other;
    for (uint32_t d = 1; d <= t->devices; d++)
        for (int k = 0; k < SS_DTYPES; k++)
            t->device[d].def.flop_per_s[k] = 1e12; /* whatever an operator is made of */
    for (uint32_t d = 1; d <= t->devices; d++)
        t->device[d].def.memory_bytes = chance(50) ? 0 : (double)draw(100, 40000);
    net_must(ss_costs_new(&costs, &err), &err);
    net_must(ss_costs_add_roofline(costs, NULL, &err), &err);
    net_must(ss_strategy_new(m, t, &data, &err), &err);
    net_must(ss_strategy_new(m, t, &other, &err), &err);
    net_must(ss_strategy_data_parallel(data, &err), &err);
    for (uint32_t i = 1; i <= m->ops; i++)
        random_config(other, i);
    ss_search_options o = random_search();
    ss_chance *luck = random_chance(t, 40);
    o.score.lower.chance = luck;
    all_rows all[WAYS] = {0};
    bool right = true;
    for (int w = 0; w < WAYS && right; w++) {
        o.score.way = as[w].way;
        o.score.early_stop = as[w].early_stop;
        o.threads = as[w].threads;
        search(data, other, costs, &o, &all[w]);
        right = !w || same_rows(&all[w], &all[0], as[w].name);
    }
    for (int w = 0; w < WAYS; w++)
        for (int c = 0; c < CHAINS; c++)
            free(all[w].chain[c].row);
    ss_strategy_free(data);
    ss_strategy_free(other);
    ss_costs_free(costs);
    ss_chance_free(luck);
    ss_topology_free(t);
    ss_model_free(m);
    return right;
}

static void every_way_gives_the_same_rows(void)
{
    uint64_t first = seed;
    for (uint64_t k = 0; k < searches; k++, seed++) {
        ss_rng_close(&rng);
        CHECK_OK(ss_rng_open(&rng, seed, "ways", &err));
        CHECK(one_search(), "seed %llu", (unsigned long long)seed);
    }
    printf("  seeds %llu to %llu: %llu rows compared, %llu proposals stopped early\n",
           (unsigned long long)first, (unsigned long long)seed - 1, (unsigned long long)compared,
           (unsigned long long)stops);
    CHECK(stops > compared / 100, "early stop was not tried");
}

int main(int argc, char **argv)
{
    searches = argc > 1 ? strtoull(argv[1], NULL, 10) : searches;
    proposals = argc > 2 ? strtoull(argv[2], NULL, 10) : proposals;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    printf("  seed %llu\n", (unsigned long long)seed);
    RUN(every_way_gives_the_same_rows);
    ss_rng_close(&rng);
    return DONE();
}
