/* ss_lower against its slow twin on random models, strategies, clusters and options: every field of
 * every task, every edge, every byte.  And what must be true whoever is right: all that a part
 * needs arrives exactly once, the same bytes go back, every gradient reaches every update.
 *
 * prop_lower [CASES [SEED]] */
#include "graph/lowering.h"

#include "base/rng.h"
#include "check.h"
#include "random_problem.h"
#include "reference/lower_naive.h"

static uint64_t seed;

/* ---- the comparison ---------------------------------------------------------------------- */

static bool same_label(const ss_task_label *a, const ss_task_label *b)
{
    return a->kind == b->kind && a->cargo == b->cargo && a->hop == b->hop && a->op == b->op &&
           a->part == b->part && a->to_op == b->to_op && a->to_part == b->to_part &&
           a->from.i == b->from.i && a->to.i == b->to.i && a->turn == b->turn;
}

static bool same_resources(const ss_tasks *a, const ss_tasks *b, ss_task t)
{
    uint32_t na, nb;
    const uint32_t *ra = ss_tasks_resources(a, t, &na), *rb = ss_tasks_resources(b, t, &nb);
    return na == nb && !memcmp(ra, rb, na * sizeof *ra);
}

/* The first task in which they differ; 0: none. */
static uint32_t first_difference(const ss_tasks *a, const ss_tasks *b)
{
    for (uint32_t t = 1; t <= a->n && t <= b->n; t++) {
        uint32_t n = a->first_in[t + 1] - a->first_in[t];
        if (a->hold[t] != b->hold[t] || a->bytes[t] != b->bytes[t] || a->where[t] != b->where[t] ||
            !same_label(&a->label[t], &b->label[t]) || !same_resources(a, b, (ss_task){t}) ||
            n != b->first_in[t + 1] - b->first_in[t] ||
            (n && memcmp(a->in + a->first_in[t], b->in + b->first_in[t], n * sizeof *a->in) != 0))
            return t;
    }
    return a->n < b->n ? a->n + 1 : b->n < a->n ? b->n + 1 : 0;
}

static void show(const char *who, const ss_tasks *t, uint32_t i)
{
    if (i > t->n) {
        printf("  %s: no task %u\n", who, i);
        return;
    }
    const ss_task_label *l = &t->label[i];
    printf("  %s: %u %s %s op %u[%u] -> %u[%u] turn %u on %u hold %lld bytes %lld after", who, i,
           ss_task_kind_name((ss_task_kind)l->kind), ss_cargo_name((ss_cargo)l->cargo), l->op,
           l->part, l->to_op, l->to_part, l->turn, t->where[i], (long long)t->hold[i],
           (long long)t->bytes[i]);
    for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++)
        printf(" %u", t->in[e]);
    printf("\n");
}

static bool same_shards(const ss_lowered *l, const naive_lowered *n)
{
    if (l->shards != n->shards)
        return false;
    for (uint32_t k = 0; k < n->shards; k++) {
        const ss_shard *a = &l->shard[k + 1];
        const naive_shard *b = &n->shard[k];
        if (a->weight.i != b->weight || !ss_box_same(&a->box, &b->box) || a->devices != b->devices)
            return false;
        for (uint32_t r = 0; r < a->devices; r++)
            if (l->shard_device[a->first_device + r].i != b->device[r])
                return false;
    }
    return true;
}

/* ---- what must be true whoever is right -------------------------------------------------- */

static bool edges_ascend(const ss_tasks *t)
{
    for (uint32_t i = 1; i <= t->n; i++)
        for (uint32_t e = t->first_in[i]; e < t->first_in[i + 1]; e++)
            if (t->in[e] >= i)
                return false;
    return true;
}

/* Each element that a part needs comes from exactly one part: pieces add up and do not overlap. */
static bool needs_are_met(const ss_model *m, const ss_strategy *s, const ss_lowered *l)
{
    const struct ss_lower_scratch *w = l->scratch;
    for (uint32_t f = 1; f <= w->feeds; f++) {
        const ss_feed *feed = &w->feed[f];
        const ss_op_def *def = m->op[feed->to.i].def;
        for (uint32_t q = 0; q < s->config[feed->to.i].parts; q++) {
            ss_box main, need, one, other, both;
            int64_t bytes = 0;
            ss_strategy_part_box(s, feed->to, q, &main);
            ss_op_input_box(def, feed->input, &main, &need);
            for (uint32_t i = feed->first; i < feed->first + feed->pieces; i++) {
                if (w->piece[i].to != q)
                    continue;
                bytes += w->piece[i].bytes;
                ss_lower_piece_box(m, s, feed, &w->piece[i], &one);
                for (uint32_t k = feed->first; k < i; k++) {
                    ss_lower_piece_box(m, s, feed, &w->piece[k], &other);
                    if (w->piece[k].to == q && ss_box_intersect(&one, &other, &both))
                        return false;
                }
            }
            if (bytes != ss_box_elements(&need) * feed->element_bytes)
                return false;
        }
    }
    return true;
}

/* What crosses devices forward crosses them backward where a gradient is wanted, and nowhere else.
 */
static bool as_much_goes_back(const ss_model *m, const ss_lowered *l)
{
    const struct ss_lower_scratch *w = l->scratch;
    int64_t forward = 0, back = 0;
    for (uint32_t f = 1; f <= w->feeds; f++)
        for (uint32_t i = w->feed[f].first; i < w->feed[f].first + w->feed[f].pieces; i++) {
            const ss_piece *p = &w->piece[i];
            if (!p->forward || p->lead != i ||
                l->tasks.label[w->sent[p->forward].first].kind == SS_TASK_GATHER)
                continue;
            forward += w->sent[p->forward].bytes;
            if (w->needs[w->feed[f].from.i] && !m->op[w->feed[f].to.i].def->kind->no_input_gradient)
                back += w->sent[p->forward].bytes;
        }
    if (!l->options.training || l->options.lumped)
        back = 0;
    return forward == l->moved[SS_CARGO_ACTIVATION] && back == l->moved[SS_CARGO_GRADIENT];
}

static void mark_before(const ss_tasks *t, uint32_t task, bool *seen)
{
    memset(seen, 0, t->n + (size_t)1);
    seen[task] = true;
    for (uint32_t i = task; i > 0; i--)
        for (uint32_t e = t->first_in[i]; seen[i] && e < t->first_in[i + 1]; e++)
            seen[t->in[e]] = true;
}

/* Every gradient of a shard is in every update of it, and weights that are sent back are new. */
static bool updates_have_all(const ss_lowered *l)
{
    const ss_tasks *t = &l->tasks;
    const struct ss_lower_scratch *w = l->scratch;
    bool *seen = malloc(t->n + (size_t)1), right = seen != NULL;
    for (uint32_t i = 1; i <= t->n && right; i++) {
        const ss_task_label *label = &t->label[i];
        bool update = label->kind == SS_TASK_UPDATE;
        if (!update && label->cargo != SS_CARGO_WEIGHT)
            continue;
        const ss_shard *x = &l->shard[label->part];
        mark_before(t, i, seen);
        for (uint32_t r = x->first_device; r < x->first_device + x->devices; r++)
            for (uint32_t g = w->first_from[r]; g < w->first_from[r + 1]; g++)
                if (l->options.sync != SS_SYNC_NONE || l->shard_device[r].i == t->where[i])
                    right &= seen[w->from[g]];
    }
    free(seen);
    return right;
}

/* Each device that needs an update gets one. */
static bool updates_are_there(const ss_lowered *l)
{
    uint32_t wanted = 0, found = 0;
    for (uint32_t k = 1; k <= l->shards; k++) {
        bool server = l->options.sync == SS_SYNC_PARAMETER_SERVER && l->shard[k].devices > 1;
        if (server || l->options.update_passes > 0)
            wanted += server ? 1 : l->shard[k].devices;
    }
    for (uint32_t i = 1; i <= l->tasks.n; i++)
        found += l->tasks.label[i].kind == SS_TASK_UPDATE;
    return found == (l->options.training ? wanted : 0);
}

/* Parts do the work of the whole: more where a position's keys and values are made by all that see
 * them, never less; exactly as much where only samples are split. */
static bool work_adds_up(const ss_model *m, const ss_strategy *s)
{
    for (uint32_t i = 1; i <= m->ops; i++) {
        ss_box box = ss_box_whole(&m->op[i].def->out[0]);
        ss_work whole, part;
        double macs = 0;
        ss_op_work(m->op[i].def, SS_FORWARD, true, &box, &whole);
        for (uint32_t p = 0; p < s->config[i].parts; p++) {
            ss_strategy_part_box(s, (ss_op){i}, p, &box);
            ss_op_work(m->op[i].def, SS_FORWARD, true, &box, &part);
            macs += part.macs;
        }
        bool samples_alone = s->config[i].parts == s->config[i].degree[0];
        if (macs < whole.macs * (1 - 1e-9) || (samples_alone && macs > whole.macs * (1 + 1e-9)))
            return false;
    }
    return true;
}

/* Holds begin with tasks that are there and end with later ones, on devices that are there. */
static bool holds_are_sound(const ss_model *m, const ss_strategy *s, const ss_lowered *l,
                            ss_holds *h)
{
    if (ss_lower_holds(m, s, l, h, &err))
        return false;
    for (uint32_t i = 0; i < h->n; i++) {
        const ss_hold *x = &h->hold[i];
        if (x->bytes <= 0 || x->device.i < 1 || x->device.i > l->tasks.devices ||
            x->from.i > l->tasks.n) {
            printf("  hold %u of %s: %lld bytes on %u from %u\n", i, ss_held_name(x->what),
                   (long long)x->bytes, x->device.i, x->from.i);
            return false;
        }
        for (uint32_t u = 0; u < x->untils; u++) {
            ss_task end = h->until[x->first_until + u];
            if (end.i < 1 || end.i > l->tasks.n || end.i < x->from.i) {
                printf("  hold %u of %s on %u from %u until %u\n", i, ss_held_name(x->what),
                       x->device.i, x->from.i, end.i);
                return false;
            }
        }
    }
    return true;
}

/* What is held is what the slow twin says, in whatever order. */
static bool same_holds(const ss_holds *fast, const ss_model *m, const ss_strategy *s,
                       const ss_lower_options *o, const naive_lowered *n)
{
    naive_holds a, b;
    naive_holds_of(fast, &a);
    naive_hold(m, s, o, n, &b);
    uint32_t i = 0;
    while (i < a.n && i < b.n && !strcmp(a.line[i], b.line[i]))
        i++;
    bool same = i == a.n && i == b.n;
    if (!same)
        printf("  fast : %s\n  naive: %s\n", i < a.n ? a.line[i] : "no more",
               i < b.n ? b.line[i] : "no more");
    naive_holds_free(&a);
    naive_holds_free(&b);
    return same;
}

/* ---- one case ---------------------------------------------------------------------------- */

typedef struct world {
    ss_model *m;
    ss_topology *t;
    ss_routes *r;
    ss_strategy *s;
    ss_lower_options o;
} world;

static ss_lowered lowered; /* into which all cases are lowered, one after the other */
static ss_holds holds;

static const char *judge(const world *w, naive_lowered *n)
{
    uint32_t differs = first_difference(&lowered.tasks, &n->tasks);
    if (differs) {
        show("fast ", &lowered.tasks, differs);
        show("naive", &n->tasks, differs);
        return "a task differs";
    }
    if (!same_shards(&lowered, n))
        return "shards differ";
    if (memcmp(lowered.moved, n->moved, sizeof n->moved) != 0 ||
        lowered.charged_bytes != n->charged_bytes)
        return "bytes differ";
    bool flows = w->o.aggregate && w->o.links == SS_LINKS_SHARED; /* of what one link carries */
    if (!flows && (double)ss_tasks_bytes_moved(&lowered.tasks) + lowered.charged_bytes !=
                      ss_lowered_bytes_moved(&lowered))
        return "tasks carry other bytes than were counted";
    if (!edges_ascend(&lowered.tasks))
        return "an edge goes to a smaller id";
    if (!needs_are_met(w->m, w->s, &lowered))
        return "an element arrives not once";
    if (!as_much_goes_back(w->m, &lowered))
        return "forward and backward bytes do not match";
    if (!updates_have_all(&lowered))
        return "an update lacks a gradient";
    if (!updates_are_there(&lowered))
        return "an update is missing, or one too many";
    if (!work_adds_up(w->m, w->s))
        return "parts do not do the work of the whole";
    if (!holds_are_sound(w->m, w->s, &lowered, &holds))
        return "memory is held by what is not there";
    if (!same_holds(&holds, w->m, w->s, &w->o, n))
        return "other memory is held";
    return NULL;
}

static const char *one_case(void)
{
    world w = {.m = random_model(), .t = random_topology(), .o = random_options()};
    if (chance(20))
        w.o = random_shared_options();
    naive_lowered n;
    net_must(ss_routes_new(w.t, &w.r, &err), &err);
    net_must(ss_strategy_new(w.m, w.t, &w.s, &err), &err);
    for (uint32_t i = 1; i <= w.m->ops; i++)
        random_config(w.s, i);
    naive_lower(w.m, w.t, w.r, w.s, &timer, &w.o, &n);
    const char *wrong = NULL;
    if (ss_lower(w.m, w.t, w.r, w.s, &timer, &w.o, &lowered, &err))
        wrong = err.text;
    if (!wrong)
        wrong = judge(&w, &n);
    naive_lowered_free(&n);
    ss_strategy_free(w.s);
    ss_routes_free(w.r);
    ss_topology_free(w.t);
    ss_model_free(w.m);
    return wrong;
}

static uint64_t cases = 5000;

static void lowering_equals_its_slow_twin(void)
{
    for (uint64_t c = 0; c < cases; c++) {
        net_must(ss_rng_open(&rng, seed + c, "prop_lower", &err), &err);
        const char *wrong = one_case();
        ss_rng_close(&rng);
        CHECK(!wrong, "%s (prop_lower 1 %llu)", wrong, (unsigned long long)(seed + c));
    }
}

int main(int argc, char **argv)
{
    cases = argc > 1 ? strtoull(argv[1], NULL, 10) : cases;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    printf("seed %llu, %llu cases\n", (unsigned long long)seed, (unsigned long long)cases);
    RUN(lowering_equals_its_slow_twin);
    ss_lowered_free(&lowered);
    ss_holds_free(&holds);
    return DONE();
}
