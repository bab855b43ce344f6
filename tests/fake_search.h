/* fake_search.h - steps as a search makes them, from nothing but a seed: for logs. */
#ifndef SS_FAKE_SEARCH_H
#define SS_FAKE_SEARCH_H

#include "base/hash.h"
#include "base/mem.h"
#include "io/trajectory.h"
#include "strategy_fixture.h"

enum { FAKE_CHAINS = 3, FAKE_OPS = 7, FAKE_PARTS = 64 };

typedef struct fake_inputs {
    ss_model *m;
    ss_topology *t;
    ss_strategy *s[FAKE_CHAINS];
    ss_search_start start[FAKE_CHAINS];
    ss_trajectory_inputs in;
} fake_inputs;

static inline ss_topology *fake_topology(void)
{
    ss_topology *t;
    ss_device d;
    ss_device_def gpu = {.kind = "p100", .memory_bytes = 1e9, .speed = 1};
    gpu.flop_per_s[SS_F32] = 9.3e12;
    char name[16];
    if (ss_topology_new("many", &t, &err))
        fixture_failed();
    for (unsigned i = 0; i < FAKE_PARTS; i++) {
        snprintf(name, sizeof name, "g%u", i);
        if (ss_topology_add_device(t, name, &gpu, &d, &err))
            fixture_failed();
    }
    return t;
}

static inline void fake_open(fake_inputs *f)
{
    static const char *const name[FAKE_CHAINS] = {"data parallel", "best", "data parallel"};
    static const ss_manifest manifest = {.version = "0.2.0",
                                         .command = "soapstone run search.lua",
                                         .script_name = "search.lua",
                                         .script_text = "-- a search\n",
                                         .options = "sync = ring\n",
                                         .seed = 11};
    f->m = fixture_cnn(FAKE_PARTS);
    f->t = fake_topology();
    for (uint32_t i = 0; i < FAKE_CHAINS; i++) {
        if (ss_strategy_new(f->m, f->t, &f->s[i], &err) ||
            (i != 1 && ss_strategy_data_parallel(f->s[i], &err)))
            fixture_failed();
        f->start[i] = (ss_search_start){name[i], f->s[i]};
    }
    f->in = (ss_trajectory_inputs){.manifest = &manifest,
                                   .model = f->m,
                                   .topology = f->t,
                                   .start = f->start,
                                   .starts = FAKE_CHAINS,
                                   .options = "searcher = mcmc\nspace = free\n",
                                   .limits = "proposals = 1000\n",
                                   .seed = 0xfedcba9876543210};
}

static inline void fake_close(fake_inputs *f)
{
    for (uint32_t i = 0; i < FAKE_CHAINS; i++)
        ss_strategy_free(f->s[i]);
    ss_topology_free(f->t);
    ss_model_free(f->m);
}

/* A chain: what it holds, and room for a proposal. */
typedef struct fake_chain {
    uint64_t seed;
    uint32_t chain;
    ss_step step;
    ss_choice now[FAKE_OPS], from[FAKE_OPS], to[FAKE_OPS];
    ss_device now_device[FAKE_OPS][FAKE_PARTS], to_device[FAKE_OPS][FAKE_PARTS];
} fake_chain;

static inline uint64_t fake_draw(const fake_chain *c, uint32_t what, uint64_t below)
{
    uint64_t h = ss_hash_u64(ss_hash_u64(SS_HASH_START, c->seed), c->chain);
    return ss_hash_u64(ss_hash_u64(h, c->step.step), what) % below;
}

static inline ss_time fake_start_cost(uint32_t chain)
{
    return 1234567890123 + 17 * (ss_time)chain;
}

static inline double fake_beta(uint32_t chain)
{
    return 0.1 + chain;
}

static inline void fake_start(fake_chain *c, const fake_inputs *f, uint64_t seed, uint32_t chain)
{
    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->chain = chain;
    c->step.current = c->step.best = fake_start_cost(chain);
    for (uint32_t i = 0; i < FAKE_OPS; i++) {
        const ss_config *config = &f->s[chain]->config[i + 1];
        c->now[i] = (ss_choice){{i + 1}, *config};
        c->now[i].config.device = c->now_device[i];
        memcpy(c->now_device[i], config->device, config->parts * sizeof *config->device);
    }
}

/* Now and then a configuration that was there before. */
static inline void fake_configuration(fake_chain *c, uint32_t op)
{
    ss_choice *to = &c->to[op];
    *to = (ss_choice){{op + 1}, {.device = c->to_device[op], .parts = 1}};
    uint32_t what = 100 * (op + 1);
    bool plain = fake_draw(c, what, 4) == 0;
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++) {
        to->config.degree[d] = d < 2 ? 1 + (uint32_t)fake_draw(c, what + 1 + d, plain ? 2 : 8) : 1;
        to->config.parts *= to->config.degree[d];
    }
    for (uint32_t k = 0; k < to->config.parts; k++)
        to->config.device[k].i =
            plain ? k + 1 : 1 + (uint32_t)fake_draw(c, what + 10 + k, FAKE_PARTS);
}

static inline void fake_accept(fake_chain *c)
{
    for (uint32_t k = 0; k < c->step.ops; k++) {
        uint32_t op = c->step.to[k].op.i - 1;
        ss_device *device = c->now[op].config.device;
        c->now[op].config = c->step.to[k].config;
        c->now[op].config.device = device;
        memcpy(device, c->step.to[k].config.device, c->step.to[k].config.parts * sizeof *device);
    }
}

/* The next step; `from` and `to` hold until the one after. */
static inline const ss_step *fake_next(fake_chain *c)
{
    ss_step *s = &c->step;
    if (s->accepted)
        fake_accept(c);
    s->step++;
    uint32_t kind = (uint32_t)fake_draw(c, 1, 100);
    uint32_t first = (uint32_t)fake_draw(c, 2, FAKE_OPS);
    s->ops = kind < 3 ? 0 : kind < 15 ? 1 + (uint32_t)fake_draw(c, 3, FAKE_OPS - first) : 1;
    s->op = s->ops ? first + 1 : 0;
    s->reach = kind < 15 ? SS_REACH_GROUP : kind > 97 ? SS_REACH_DESCENT : SS_REACH_ONE;
    s->move = (ss_move)(s->ops ? fake_draw(c, 4, SS_MOVES) : SS_MOVES);
    for (uint32_t k = 0; k < s->ops; k++) {
        c->from[first + k] = c->now[first + k];
        fake_configuration(c, first + k);
    }
    s->from = c->from + first;
    s->to = c->to + first;
    s->stopped = fake_draw(c, 5, 3) == 0;
    s->accepted = s->ops && !s->stopped && fake_draw(c, 6, 3) == 0;
    s->infeasible = fake_draw(c, 7, 20) == 0;
    s->fell_back = fake_draw(c, 8, 20) == 0;
    s->proposed = s->current + (ss_time)fake_draw(c, 9, 1000000) - 500000;
    if (s->accepted)
        s->current = s->proposed;
    if (s->current < s->best)
        s->best = s->current;
    s->log_hastings = (double)fake_draw(c, 10, 1000) / 7 - 70;
    s->uniform = (double)fake_draw(c, 11, 1 << 30) / (1 << 30);
    s->tasks = 1000 + (uint32_t)fake_draw(c, 12, 100);
    s->touched = (uint32_t)fake_draw(c, 13, 100);
    s->visited = (uint32_t)fake_draw(c, 14, 1000);
    s->changed = (uint32_t)fake_draw(c, 15, 1000);
    s->wall_s += 1e-4;
    return s;
}

/* Lets each chain in turn make `burst` steps, until all have made `steps`, and flushes after each. */
static inline ss_status fake_run(fake_chain *c, uint32_t chains, const ss_search_sink *sink,
                                 const fake_inputs *f, uint64_t steps, uint32_t burst, ss_error *e)
{
    ss_status s = SS_OK;
    for (uint32_t i = 0; !s && i < chains; i++)
        s = sink->begin(sink->context, i, f->s[i], fake_start_cost(i), fake_beta(i), e);
    for (bool more = true; !s && more;) {
        more = false;
        for (uint32_t i = 0; !s && i < chains; i++)
            for (uint32_t k = 0; !s && k < burst && c[i].step.step < steps; k++, more = true)
                s = sink->step(sink->context, i, fake_next(&c[i]), e);
        if (!s)
            s = sink->flush(sink->context, e);
    }
    for (uint32_t i = 0; !s && i < chains; i++)
        s = sink->end(sink->context, i, SS_END_PROPOSALS, e);
    return s;
}

#endif
