/* prop_sharing [COUNT [SEED]] - flows that come and go, through the sharing and its slow twin.
 *
 * Which flows end at which instant, every rate, what each link carries and the next end must be equal.
 * And laws that need no twin: no link carries more than it can, and every flow is held back by its cap
 * or by a link that is full but for less than a unit a flow and on which none gets more for its weight.
 * Bandwidths and sizes are few, so that many shares and ends tie.  Rates are found in one way, in the other, or
 * in the one that seems better.
 */
#include "check.h"

#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "reference/sharing_naive.h"

enum { MOST_PATHS = 40, MOST_LINKS = 14, MOST_PATH = 6, MOST_INSTANTS = 60, MOST_FLOWS = 4000 };
enum { WIDE_PATHS = 600, WIDE_LINKS = 150 }; /* more than the words of sharing_refill.c hold */

static uint64_t count = 2000, seed = 1;
static uint64_t this_seed, drawn;
static ss_error err;

static uint32_t draw(uint32_t below)
{
    return below ? (uint32_t)(ss_hash_u64(ss_hash_u64(SS_HASH_START, this_seed), drawn++) % below)
                 : 0;
}

typedef struct world {
    uint32_t links, paths, numbers;
    double bytes_per_s[WIDE_LINKS + 1];
    uint32_t first[WIDE_PATHS + 2], link[WIDE_PATHS * MOST_PATH], weight[WIDE_PATHS + 1];
    double cap[WIDE_PATHS + 1];
    int64_t most_bytes;
    bool odd_sizes, sets_links, wide;
    ss_paths of;
    ss_sharing *fast;
    naive_sharing slow;
} world;

static double draw_rate(bool odd)
{
    static const double some[] = {1e9, 1e9, 2e9, 3e9, 5e8};
    return odd ? 1e8 * (1 + draw(1000)) + draw(1000) : some[draw(5)];
}

static void draw_paths(world *w, bool odd)
{
    bool weighs = draw(4) == 0, caps = draw(4) == 0;
    uint32_t at = 0;
    for (uint32_t p = 1; p <= w->paths; p++) {
        uint32_t order[WIDE_LINKS + 1], n = 1 + draw(w->links < MOST_PATH ? w->links : MOST_PATH);
        for (uint32_t l = 0; l <= w->links; l++)
            order[l] = l;
        w->first[p] = at;
        for (uint32_t k = 1; k <= n; k++) {
            uint32_t other = k + draw(w->links - k + 1), link = order[other];
            order[other] = order[k];
            w->link[at++] = order[k] = link;
        }
        w->weight[p] = weighs ? 1 + draw(draw(3) ? 4 : 60000) : 1;
        w->cap[p] = caps && draw(2) ? draw_rate(odd) / (1 + draw(8)) : 0;
    }
    w->first[w->paths + 1] = at;
    w->of =
        (ss_paths){w->paths, w->first, w->link, 0, weighs ? w->weight : NULL, caps ? w->cap : NULL};
}

static void draw_world(world *w)
{
    static const int64_t sizes[] = {1, 3, 1000, 4000000, 1000000000};
    bool odd = draw(2);
    w->wide = draw(400) == 0;
    w->links = 1 + draw(draw(2) ? MOST_LINKS : 4);
    w->paths = 1 + draw(draw(2) ? MOST_PATHS : 6);
    if (w->wide) {
        w->links = 10 + draw(WIDE_LINKS - 9);
        w->paths = 100 + draw(WIDE_PATHS - 99);
    }
    w->odd_sizes = draw(2);
    w->sets_links = draw(4) == 0;
    w->most_bytes = sizes[draw(5)];
    w->numbers = 0;
    for (uint32_t l = 1; l <= w->links; l++)
        w->bytes_per_s[l] = draw_rate(odd);
    draw_paths(w, odd);
}

static void begin_some(world *w, ss_time now)
{
    uint32_t most = draw(3) ? 3 : 12;
    for (uint32_t k = draw(w->wide ? 50 : most); k > 0 && w->numbers < MOST_FLOWS; k--) {
        uint32_t path = 1 + draw(w->paths);
        int64_t bytes = w->odd_sizes ? 1 + draw((uint32_t)w->most_bytes) : w->most_bytes;
        CHECK_OK(ss_sharing_begin(w->fast, now, path, bytes, ++w->numbers, &err));
        naive_begin(&w->slow, now, path, bytes, w->numbers);
    }
    if (w->sets_links && draw(6) == 0) {
        uint32_t link = 1 + draw(w->links);
        double rate = w->bytes_per_s[link] * draw(9) / 4;
        CHECK_OK(ss_sharing_set_link(w->fast, link, rate, &err));
        naive_set_link(&w->slow, link, rate);
    }
    uint32_t capped = 1 + draw(w->paths);
    if (w->sets_links && draw(3) == 0 && w->of.cap && w->cap[capped] > 0) {
        w->cap[capped] = draw(6) ? draw_rate(w->odd_sizes) / (1 + draw(8)) : 1e-300; /* no units */
        ss_sharing_set_cap(w->fast, capped, w->cap[capped]);
    }
}

/* Flows end in one order here and another there. */
static void end_some(world *w, ss_time now)
{
    static bool over[MOST_FLOWS + 1];
    uint32_t n = 0, number;
    memset(over, 0, sizeof over);
    while (naive_end(&w->slow, now, &number))
        over[number] = true, n++;
    while ((number = ss_sharing_end(w->fast, now))) {
        CHECK(over[number]);
        over[number] = false;
        n--;
    }
    CHECK(n == 0);
}

static void check_rates(const world *w)
{
    for (uint32_t i = 0; i < w->slow.n; i++) {
        const naive_flow *f = &w->slow.flow[i];
        CHECK(ss_sharing_rate(w->fast, f->path) == f->rate);
    }
    for (uint32_t l = 1; l <= w->links; l++) {
        CHECK(ss_sharing_capacity(w->fast, l) == w->slow.capacity[l]);
        CHECK(ss_sharing_used(w->fast, l) == w->slow.used[l]);
        CHECK(w->slow.used[l] <= w->slow.capacity[l]);
    }
    CHECK(ss_sharing_flows(w->fast) == w->slow.n);
}

static bool on_link(const world *w, uint32_t path, uint32_t link)
{
    for (uint32_t k = w->first[path]; k < w->first[path + 1]; k++)
        if (w->link[k] == link)
            return true;
    return false;
}

/* What the filling says, seen from the link that holds the flow back. */
static void check_held_back(const world *w, const naive_flow *f)
{
    uint32_t link = ss_sharing_bottleneck(w->fast, f->path);
    uint64_t weight = w->weight[f->path], flows = 0;
    if (!link) {
        CHECK(w->of.cap && f->rate == ss_sharing_units(w->cap[f->path], w->slow.scale));
        return;
    }
    CHECK(on_link(w, f->path, link));
    int64_t used = 0;
    for (uint32_t i = 0; i < w->slow.n; i++) {
        const naive_flow *o = &w->slow.flow[i];
        if (!on_link(w, o->path, link))
            continue;
        flows++;
        used += o->rate;
        /* o->rate / its weight is at most (f->rate + 1) / weight */
        CHECK((ss_wide)(uint64_t)o->rate * weight <=
              ((ss_wide)(uint64_t)f->rate + 1) * w->weight[o->path]);
    }
    CHECK(w->slow.capacity[link] - used < (int64_t)flows);
}

static void run_world(world *w)
{
    ss_sharing_solve_by(w->fast, (ss_sharing_way)draw(3));
    CHECK_OK(ss_sharing_start(w->fast, w->links, w->bytes_per_s, &w->of, &err));
    naive_start(&w->slow, w->links, w->bytes_per_s, &w->of);
    ss_time now = 0;
    for (uint32_t k = 0; k < MOST_INSTANTS; k++) {
        end_some(w, now);
        if (check_this_failed)
            return;
        if (k < MOST_INSTANTS / 2 || draw(3) == 0)
            begin_some(w, now);
        ss_sharing_settle(w->fast, now);
        naive_settle(&w->slow, now);
        check_rates(w);
        uint32_t step = w->wide ? 50 : 1; /* each looks at all */
        for (uint32_t i = 0; i < w->slow.n && !check_this_failed; i += step)
            check_held_back(w, &w->slow.flow[i]);
        if (check_this_failed)
            return;
        ss_time next = naive_next(&w->slow);
        CHECK(ss_sharing_next(w->fast) == next);
        /* mostly to the next end, sometimes to an instant before it */
        if (next == SS_TIME_MAX)
            now += 1 + draw(1000000);
        else
            now = draw(3) ? next : now + 1 + (next - now - 1) / (1 + draw(3));
    }
    naive_free(&w->slow);
}

static void rates_and_ends_are_those_of_the_slow_twin(void)
{
    static world w;
    CHECK_OK(ss_sharing_new(&w.fast, &err));
    for (uint64_t i = 0; i < count && !check_this_failed; i++) {
        this_seed = seed + i;
        drawn = 0;
        draw_world(&w);
        run_world(&w);
        if (check_this_failed)
            printf("# seed %llu\n", (unsigned long long)this_seed);
    }
    ss_sharing_free(w.fast);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("# %llu sequences from seed %llu\n", (unsigned long long)count,
           (unsigned long long)seed);
    RUN(rates_and_ends_are_those_of_the_slow_twin);
    if (ss_mem_blocks()) {
        printf("%zu blocks of memory are lost\n", ss_mem_blocks());
        check_failed++;
    }
    return DONE();
}
