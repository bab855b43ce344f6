/* The task graph that changes in place, and its timeline by replay and by delta, against lowering anew
 * and simulating all: every field of every task after every change, on random models, clusters and
 * options; rejected changes leave no trace; bounds are true.
 *
 * prop_live [CHANGES [SEED [STEPS OF A WALK]]] */
#include "graph/live_inside.h"

#include "base/hash.h"
#include "changed_graph.h"
#include "check.h"
#include "simulate/delta_inside.h"

static uint64_t seed;

static uint64_t changes, stops, skipped; /* of all cases */
static uint64_t swept, fallen, settled, moved, given_up;
static bool tied; /* times of 0 to 2 ps, so that tasks are ready together */

static ss_status tied_part_time(void *context, const ss_model *m, ss_op op, ss_phase phase,
                                const ss_box *main, ss_device device, ss_time *out, ss_error *e)
{
    ss_status status = part_time(context, m, op, phase, main, device, out, e);
    *out = tied ? *out % 3 : *out;
    return status;
}

static ss_status tied_memory_time(void *context, ss_stream what, double bytes, ss_device device, ss_time *out,
                                  ss_error *e)
{
    ss_status status = memory_time(context, what, bytes, device, out, e);
    *out = tied ? *out % 3 : *out;
    return status;
}

static const ss_timer maybe_tied = {.part = tied_part_time, .memory = tied_memory_time};

/* ---- comparison -------------------------------------------------------------------------- */

/* A barrier of a device without tasks is in the live graph alone. */
static bool is_absent(const ss_live *l, uint32_t slot, const ss_strategy *s)
{
    const ss_block *b = &l->block[l->row[slot].block];
    uint32_t device = slot - b->first + 1;
    if (b->kind != SS_BLOCK_BARRIERS || device > s->topology->devices)
        return false;
    for (uint32_t i = 1; i <= s->ops; i++)
        for (uint32_t p = 0; p < s->config[i].parts; p++)
            if (s->config[i].device[p].i == device)
                return false;
    return true;
}

/* Number in the full graph of each slot; 0: absent. */
static uint32_t *number_slots(const work *w)
{
    const ss_live *l = w->live;
    uint32_t *id = calloc(l->pool->n + (size_t)1, sizeof *id), n = 0;
    if (!id)
        exit(99);
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            id[i] = is_absent(l, i, w->s) ? 0 : ++n;
    return id;
}

static bool same_resources(const ss_tasks *a, uint32_t ta, const ss_tasks *b, uint32_t tb)
{
    uint32_t na, nb;
    const uint32_t *ra = ss_tasks_resources(a, (ss_task){ta}, &na);
    const uint32_t *rb = ss_tasks_resources(b, (ss_task){tb}, &nb);
    return na == nb && !memcmp(ra, rb, na * sizeof *ra);
}

static bool same_before(const work *w, uint32_t slot, uint32_t t, const uint32_t *id)
{
    const ss_tasks *f = &w->full.tasks;
    uint32_t k = f->first_in[t];
    for (uint32_t e = w->live->in[slot].first; e < w->live->in[slot].last; e++) {
        uint32_t p = id[w->live->pool->in[e]];
        if (p && (k == f->first_in[t + 1] || f->in[k++] != p))
            return false;
    }
    return k == f->first_in[t + 1];
}

/* Successor rows say what predecessor rows say. */
static bool rows_agree(const work *w)
{
    const ss_live *l = w->live;
    uint64_t forth = 0, back = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            if (l->row[i].block != b || l->row[i].before != l->in[i].last - l->in[i].first)
                return false;
            for (uint32_t e = l->in[i].first; e < l->in[i].last; e++)
                forth += ss_hash_u64(ss_hash_u64(SS_HASH_START, l->pool->in[e]), i);
            for (uint32_t e = l->row[i].first; e < l->row[i].last; e++)
                back += ss_hash_u64(ss_hash_u64(SS_HASH_START, i), l->out[e]);
        }
    return forth == back;
}

static bool work_adds_up(const ss_live *l)
{
    uint32_t resources = l->pool->devices + l->pool->links, n;
    uint64_t *sum = calloc(resources + (size_t)1, sizeof *sum);
    bool right = sum != NULL;
    for (uint32_t b = 1; b <= l->blocks && sum; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            const uint32_t *r = ss_tasks_resources(l->pool, (ss_task){i}, &n);
            for (uint32_t k = 0; k < n; k++)
                sum[r[k]] += (uint64_t)l->row[i].hold;
        }
    for (uint32_t r = 1; r <= resources && right; r++)
        right = sum[r] == l->work[r];
    free(sum);
    return right;
}

/* The live graph is the full one, task by task; 0, or the first slot that differs. */
static uint32_t graph_differs(const work *w, const uint32_t *id)
{
    const ss_live *l = w->live;
    const ss_tasks *f = &w->full.tasks;
    uint32_t n = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            uint32_t t = id[i];
            if (!t)
                continue;
            if (++n > f->n || l->row[i].hold != f->hold[t] || l->row[i].hold != l->pool->hold[i] ||
                !same_resources(l->pool, i, f, t) || !same_before(w, i, t, id))
                return i;
        }
    return n == f->n ? 0 : UINT32_MAX;
}

static uint32_t timeline_differs(const work *w, const uint32_t *id)
{
    const ss_live *l = w->live;
    uint32_t row = 0;
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            uint32_t t = id[i];
            row += t != 0;
            if (t && (w->found.ready[row] != w->timeline.ready[t] ||
                      w->found.start[row] != w->timeline.start[t] ||
                      w->found.end[row] != w->timeline.end[t]))
                return i;
        }
    return 0;
}

static uint64_t hash_timeline(uint64_t h, const ss_timeline *held)
{
    h = ss_hash_u64(h, (uint64_t)held->makespan);
    for (uint32_t i = 1; i <= held->n; i++)
        h = ss_hash_u64(h, (uint64_t)held->ready[i] * 31 + (uint64_t)held->start[i]);
    return h;
}

static uint64_t hash_strategy(uint64_t h, const ss_strategy *s)
{
    for (uint32_t i = 1; i <= s->ops; i++) {
        const ss_config *c = &s->config[i];
        h = ss_hash_bytes(h, c->degree, sizeof c->degree);
        h = ss_hash_bytes(h, c->device, c->parts * sizeof *c->device);
    }
    return h;
}

/* Everything that a simulation or a later change may read. */
static uint64_t state(const work *w)
{
    const ss_live *l = w->live;
    const struct ss_live_inside *x = l->inside;
    const struct ss_lower_scratch *s = x->w.s;
    uint64_t h = SS_HASH_START;
    h = ss_hash_u64(h, l->pool->n);
    h = ss_hash_u64(h, l->pool->edges);
    h = ss_hash_u64(h, l->n);
    h = hash_strategy(h, x->strategy);
    for (uint32_t b = 1; b <= l->blocks; b++) {
        h = ss_hash_u64(h, (uint64_t)l->block[b].first << 32 | l->block[b].n);
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++) {
            const ss_live_row *r = &l->row[i];
            h = ss_hash_u64(h, (uint64_t)r->hold);
            h = ss_hash_u64(h, (uint64_t)r->where << 32 | r->block);
            h = ss_hash_u64(h, (uint64_t)r->first << 32 | r->last);
            h = ss_hash_u64(h, (uint64_t)l->in[i].first << 32 | l->in[i].last);
            for (uint32_t e = r->first; e < r->last; e++)
                h = ss_hash_u64(h, l->out[e]);
            for (uint32_t e = l->in[i].first; e < l->in[i].last; e++)
                h = ss_hash_u64(h, l->pool->in[e]);
        }
    }
    for (uint32_t r = 0; r <= l->pool->devices + l->pool->links; r++)
        h = ss_hash_u64(h, l->work[r]);
    for (uint32_t f = 1; f <= s->feeds; f++)
        h = ss_hash_u64(h, (uint64_t)s->feed[f].first << 32 | s->feed[f].pieces);
    for (uint32_t i = 1; i <= w->m->ops; i++) {
        h = ss_hash_u64(h, (uint64_t)x->lowered.forward[i].i << 32 | x->lowered.backward[i].i);
        h = ss_hash_u64(h, s->first_range[i]);
    }
    for (uint32_t d = 1; d <= w->t->devices; d++)
        h = ss_hash_u64(h, x->compute[d]);
    h = ss_hash_u64(h, (uint64_t)s->sents << 32 | s->pieces);
    h = ss_hash_u64(h, (uint64_t)s->ranges << 32 | s->froms);
    h = ss_hash_u64(h, (uint64_t)s->waits << 32 | x->outs);
    for (uint32_t k = 1; k <= w->m->weights; k++)
        h = ss_hash_u64(h, (uint64_t)s->first_shard[k] << 32 | s->shards_of[k]);
    ss_timeline held = {0};
    net_must(ss_replay_timeline(w->replay, l, false, &held, &err), &err);
    h = hash_timeline(h, &held);
    net_must(ss_delta_timeline(w->delta, l, false, &held, &err), &err);
    h = hash_timeline(h, &held);
    ss_timeline_free(&held);
    return h;
}

/* ---- one change -------------------------------------------------------------------------- */

static bool all_equal(work *w, const ss_replayed *found, bool of_last_run, int number)
{
    uint32_t *id = number_slots(w);
    uint32_t graph = graph_differs(w, id);
    net_must(ss_replay_timeline(w->replay, w->live, of_last_run, &w->found, &err), &err);
    uint32_t line = graph ? 0 : timeline_differs(w, id);
    bool right = !graph && !line && rows_agree(w) && work_adds_up(w->live) &&
                 found->makespan == w->timeline.makespan;
    if (!right)
        printf("  seed %llu, change %d: slot %u of the graph, %u of the timeline; %lld, not %lld\n",
               (unsigned long long)seed, number, graph, line, (long long)found->makespan,
               (long long)w->timeline.makespan);
    free(id);
    return right;
}

/* A bound is kept: a run that stops is right to, one that does not has the answer. */
static bool bound_is_true(work *w, int number)
{
    ss_time true_one = w->timeline.makespan;
    ss_time bound = chance(50) ? true_one - draw(0, 3) : draw(0, true_one + true_one / 4);
    ss_replayed r;
    net_must((chance(50) ? ss_replay_change : ss_replay_whole)(w->replay, w->live, bound, &r, &err),
             &err);
    bool right = r.stopped ? r.makespan > bound && r.makespan <= true_one
                           : r.makespan == true_one && true_one <= bound;
    stops += r.stopped;
    if (!right)
        printf("  seed %llu, change %d: %s at %lld with bound %lld; the makespan is %lld\n",
               (unsigned long long)seed, number, r.stopped ? "stopped" : "ended",
               (long long)r.makespan, (long long)bound, (long long)true_one);
    return right;
}

static uint32_t random_limit(void)
{
    int64_t kind = draw(1, 6);
    return kind == 1   ? 0
           : kind == 2 ? (uint32_t)draw(1, 30)
           : kind == 3 ? SS_DELTA_AS_EXPECTED
                       : SS_DELTA_NO_LIMIT;
}

static bool delta_bound_is_true(work *w, int number)
{
    ss_time true_one = w->timeline.makespan;
    ss_time bound = chance(50) ? true_one - draw(0, 3) : draw(0, true_one + true_one / 4);
    ss_deltaed r;
    net_must(ss_delta_change(w->delta, w->live, bound, random_limit(), &r, &err), &err);
    bool right = r.stopped ? r.makespan > bound && r.makespan <= true_one
                           : r.makespan == true_one && true_one <= bound;
    if (!right)
        printf("  seed %llu, change %d: delta %s at %lld with bound %lld; the makespan is %lld\n",
               (unsigned long long)seed, number, r.stopped ? "stopped" : "ended",
               (long long)r.makespan, (long long)bound, (long long)true_one);
    return right;
}

/* What delta finds, and holds if `of_last_run` is false, is what the engine did. */
static bool delta_equals_full(work *w, bool of_last_run, int number)
{
    uint32_t *id = number_slots(w);
    net_must(ss_delta_timeline(w->delta, w->live, of_last_run, &w->found, &err), &err);
    uint32_t line = timeline_differs(w, id);
    bool right = !line && w->found.makespan == w->timeline.makespan &&
                 !ss_delta_check(w->delta, w->live, of_last_run, &err);
    if (!right)
        printf("  seed %llu, change %d, delta: slot %u; %lld, not %lld; %s\n",
               (unsigned long long)seed, number, line, (long long)w->found.makespan,
               (long long)w->timeline.makespan, err.text);
    free(id);
    return right;
}

/* Before: a run that stopped or was of another change must not matter. */
static bool delta_is_right(work *w, int number)
{
    bool right = delta_bound_is_true(w, number);
    ss_deltaed r;
    uint32_t limit = random_limit();
    net_must(ss_delta_change(w->delta, w->live, SS_TIME_MAX, limit, &r, &err), &err);
    right = right && delta_equals_full(w, true, number);
    if (r.stopped || r.makespan != w->timeline.makespan) {
        printf("  seed %llu, change %d: delta %s with %lld, not %lld\n", (unsigned long long)seed,
               number, r.stopped ? "stopped" : "ended", (long long)r.makespan,
               (long long)w->timeline.makespan);
        right = false;
    }
    if (ss_delta_changed(w->delta, w->live) != ss_replay_changed(w->replay, w->live)) {
        printf("  seed %llu, change %d: other times for %u tasks, not %u\n",
               (unsigned long long)seed, number, ss_delta_changed(w->delta, w->live),
               ss_replay_changed(w->replay, w->live));
        right = false;
    }
    fallen += r.fell_back;
    swept += !r.fell_back;
    settled += r.fell_back ? 0 : r.visited;
    moved += r.fell_back ? 0 : ss_delta_changed(w->delta, w->live);
    return right;
}

/* Both timelines belong to one graph, which is numbered anew once. */
static void tidy(work *w)
{
    const ss_live *l = w->live;
    ss_replay *r = w->replay;
    uint32_t n = 0;
    ss_times *now = calloc(l->n + (size_t)1, sizeof *now);
    if (!now)
        exit(99);
    for (uint32_t b = 1; b <= l->blocks; b++)
        for (uint32_t i = l->block[b].first; i < l->block[b].first + l->block[b].n; i++)
            now[++n] = r->now[i];
    net_must(ss_delta_tidy(w->delta, w->live, &err), &err);
    memcpy(r->now, now, (n + (size_t)1) * sizeof *now);
    r->tails_of = SS_TAILS_NONE;
    net_must(ss_replay_find_tails(r, l, &err), &err);
    free(now);
}

/* The most work of a resource, and of a device by forward and backward parts, in the full graph. */
static void most_of_full(const work *w, uint64_t *all, uint64_t *parts)
{
    const ss_tasks *t = &w->full.tasks;
    uint32_t resources = t->devices + t->links, n;
    uint64_t *sum = calloc(2 * (resources + (size_t)1), sizeof *sum), *part = sum + resources + 1;
    if (!sum)
        exit(99);
    *all = *parts = 0;
    for (uint32_t i = 1; i <= t->n; i++) {
        ss_task_kind kind = (ss_task_kind)t->label[i].kind;
        const uint32_t *r = ss_tasks_resources(t, (ss_task){i}, &n);
        for (uint32_t k = 0; k < n; k++)
            sum[r[k]] += (uint64_t)t->hold[i];
        if (kind == SS_TASK_FORWARD || kind == SS_TASK_BACKWARD || kind == SS_TASK_LUMPED)
            part[r[0]] += (uint64_t)t->hold[i];
    }
    for (uint32_t r = 1; r <= resources; r++) {
        *all = sum[r] > *all ? sum[r] : *all;
        *parts = part[r] > *parts ? part[r] : *parts;
    }
    free(sum);
}

/* Changes the graph, first within a bound of work: given up it is as it was, and rightly so. */
static bool change_graph(work *w, const ss_op *op, const ss_config *config, uint32_t n, int number)
{
    uint64_t held = state(w), all, parts, said;
    most_of_full(w, &all, &parts);
    net_must(ss_live_most_compute(w->live, op, config, n, &said, &err), &err);
    bool right = said == parts && state(w) == held;
    ss_time most = (ss_time)all, over;
    ss_time bound = chance(50) ? most - draw(0, most < 3 ? most : 3) : draw(0, most + most / 4);
    net_must(ss_live_change(w->live, op, config, n, bound, &over, &err), &err);
    right = right && (over ? over > bound && over <= most && state(w) == held : most <= bound);
    given_up += over > 0;
    if (over)
        net_must(ss_live_change(w->live, op, config, n, SS_TIME_MAX, &over, &err), &err);
    if (!right)
        printf("  seed %llu, change %d: work %lld over %lld, is %lld; compute %llu, is %llu\n",
               (unsigned long long)seed, number, (long long)over, (long long)bound, (long long)most,
               (unsigned long long)said, (unsigned long long)parts);
    return right;
}

static bool one_change(work *w, int number, int accepted)
{
    ss_op op[3];
    ss_config config[3];
    uint32_t n = chance(70) ? 1 : (uint32_t)draw(1, 3);
    ss_strategy *before;
    net_must(ss_strategy_copy(w->s, &before, &err), &err);
    uint64_t held = state(w);
    n = n < w->m->ops ? n : w->m->ops;
    for (uint32_t k = 0; k < n; k++) {
        bool twice;
        do {
            op[k].i = (uint32_t)draw(1, w->m->ops);
            twice = false;
            for (uint32_t j = 0; j < k; j++)
                twice |= op[j].i == op[k].i;
        } while (twice);
        if (chance(95))
            random_config(w->s, op[k].i);
        config[k] = w->s->config[op[k].i];
    }
    simulate_full(w);
    bool right = change_graph(w, op, config, n, number);
    ss_replayed r;
    right = right && ss_strategy_same(w->s, w->live->inside->strategy) && bound_is_true(w, number);
    net_must(ss_replay_change(w->replay, w->live, SS_TIME_MAX, &r, &err), &err);
    right = right && !r.stopped && all_equal(w, &r, true, number);
    skipped += w->live->n - r.visited;
    right = right && delta_is_right(w, number);
    if (chance(accepted)) {
        ss_replay_keep(w->replay, w->live);
        ss_delta_keep(w->delta, w->live);
        ss_live_keep(w->live);
        right = right && delta_equals_full(w, false, number);
        if (ss_live_is_untidy(w->live) || chance(5)) {
            tidy(w);
            right = right && all_equal(w, &r, false, number) && w->live->n == w->live->pool->n &&
                    delta_equals_full(w, false, number);
        }
        ss_strategy_free(before);
        return right;
    }
    ss_replay_undo(w->replay);
    ss_delta_undo(w->delta);
    ss_live_undo(w->live);
    ss_strategy_free(w->s);
    w->s = before;
    if (right && (state(w) != held || ss_delta_check(w->delta, w->live, false, &err))) {
        printf("  seed %llu, change %d: undoing left a trace\n", (unsigned long long)seed, number);
        right = false;
    }
    return right;
}

static bool one_case(int most, int accepted)
{
    work w = draw_work(random_options, &maybe_tied);
    tied = chance(40);
    for (uint32_t i = 1; i <= w.t->links && tied; i++) {
        w.t->link[i].def.bytes_per_s = 1e12 * (double)draw(4, 40); /* 4 to 40 bytes a picosecond */
        w.t->link[i].def.latency_s = (double)draw(0, 2) * 1e-12;
    }
    open_work(&w);
    net_must(ss_replay_new(chance(80), &w.replay, &err), &err);
    net_must(ss_delta_new(chance(80), &w.delta, &err), &err);
    net_must(ss_live_new(w.s, w.routes, &maybe_tied, &w.o, &w.live, &err), &err);
    ss_replayed r;
    net_must(ss_replay_whole(w.replay, w.live, SS_TIME_MAX, &r, &err), &err);
    ss_replay_keep(w.replay, w.live);
    ss_deltaed x;
    net_must(ss_delta_whole(w.delta, w.live, SS_TIME_MAX, &x, &err), &err);
    ss_delta_keep(w.delta, w.live);
    simulate_full(&w);
    bool right = all_equal(&w, &r, false, 0) && delta_equals_full(&w, false, 0);
    for (int i = 1; i <= most && right; i++, changes++)
        right = one_change(&w, i, accepted);
    close_work(&w);
    return right;
}

static uint64_t wanted;

static void a_changed_graph_is_the_one_lowered_anew(void)
{
    for (uint64_t first = seed; changes < wanted; seed++) {
        ss_rng_close(&rng);
        CHECK_OK(ss_rng_open(&rng, seed, "live", &err));
        CHECK(one_case((int)draw(1, 40), 50), "case %llu", (unsigned long long)(seed - first));
    }
    printf("  %llu changes, seeds up to %llu; %llu runs stopped at a bound\n",
           (unsigned long long)changes, (unsigned long long)seed - 1, (unsigned long long)stops);
    printf("  %llu changes given up for too much work\n", (unsigned long long)given_up);
    printf("  delta: %llu, of %llu tasks, %.2f visited for each that moved; %llu fell back\n",
           (unsigned long long)swept, (unsigned long long)settled, (double)settled / (double)moved,
           (unsigned long long)fallen);
    CHECK(stops > changes / 8 && skipped > changes, "%llu stopped, %llu tasks skipped",
          (unsigned long long)stops, (unsigned long long)skipped);
    CHECK(given_up > changes / 8, "%llu given up", (unsigned long long)given_up);
    CHECK(swept > changes / 4 && fallen > changes / 8 && settled > changes, "%llu swept",
          (unsigned long long)swept);
}

static int steps;

/* Each change builds on the one before. */
static void a_walk_of_accepted_changes_stays_right(void)
{
    ss_rng_close(&rng);
    CHECK_OK(ss_rng_open(&rng, seed, "walk", &err));
    CHECK(one_case(steps, 100), "a walk of %d", steps);
}

int main(int argc, char **argv)
{
    wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("  seed %llu\n", (unsigned long long)seed);
    steps = argc > 3 ? atoi(argv[3]) : 300;
    RUN(a_changed_graph_is_the_one_lowered_anew);
    RUN(a_walk_of_accepted_changes_stays_right);
    ss_rng_close(&rng);
    return DONE();
}
