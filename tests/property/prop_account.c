/* A result's account against its slow twin, and sums that must come out whatever the strategy. */
#include "simulate/result.h"

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "reference/account_naive.h"
#include "steps.h"

static ss_error err;
static ss_rng rng;
static uint64_t seed = 20191;
static int times = 1; /* how often the default number of rounds */

static int64_t draw(uint64_t below)
{
    return (int64_t)ss_rng_below(&rng, below);
}

/* Compute and messages with random ends; few distinct times, so that intervals touch and coincide.
 */
static ss_result *random_result(ss_engine *e, uint32_t devices, uint32_t links, uint32_t n)
{
    double bandwidth[9], latency[9];
    ss_tasks t = {0};
    for (uint32_t l = 1; l <= links; l++) {
        bandwidth[l] = 1e9 * (double)(1 + draw(3));
        latency[l] = 1e-6 * (double)draw(4);
    }
    net_must(ss_tasks_start(&t, devices, links, bandwidth, latency, (ss_links_mode)draw(3), &err),
             &err);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t last = t.n, route[2] = {1 + (uint32_t)draw(links - 1), links}, count;
        ss_task before = {last ? 1 + (uint32_t)draw(last) : 0}, made;
        uint32_t from = (uint32_t)draw(devices + 1), to = (uint32_t)draw(devices + 1);
        ss_task_label label = {.kind = SS_TASK_TRANSFER, .from = {from}, .to = {to}};
        if (draw(2)) {
            net_must(ss_tasks_transfer(&t, route, 1 + (uint32_t)draw(2), 1000 * draw(5), 2000, 2,
                                       &label, &before, before.i != 0, &made, &count, &err),
                     &err);
            continue;
        }
        label = (ss_task_label){.kind = SS_TASK_COMPUTE};
        net_must(ss_tasks_add(&t, 1 + (uint32_t)draw(devices), 1000000 * draw(4), 0, &label, &made,
                              &err),
                 &err);
        if (before.i)
            net_must(ss_tasks_after(&t, before, &err), &err);
    }
    net_must(ss_tasks_finish(&t, &err), &err);
    ss_result *r;
    net_must(ss_result_of_tasks(&t, e, &r, &err), &err);
    return r;
}

static void communication_is_that_of_the_twin(void)
{
    ss_engine *e;
    net_must(ss_engine_new(&e, &err), &err);
    for (int round = 0; round < 300 * times; round++) {
        uint32_t devices = 1 + (uint32_t)draw(5);
        ss_result *r = random_result(e, devices, 2 + (uint32_t)draw(6), (uint32_t)draw(40));
        for (uint32_t d = 1; d <= devices; d++) {
            ss_time wanted = naive_communicating(&r->lowered->tasks, &r->timeline, (ss_device){d});
            CHECK(r->device[d].communicating == wanted,
                  "seed %d round %d device %u: %lld, not %lld", (int)seed, round, d,
                  (long long)r->device[d].communicating, (long long)wanted);
        }
        ss_result_free(r);
    }
    ss_engine_free(e);
}

static void busy_and_idle_make_the_step_and_links_carry_what_tasks_say(void)
{
    ss_engine *e;
    net_must(ss_engine_new(&e, &err), &err);
    for (int round = 0; round < 300 * times; round++) {
        uint32_t devices = 1 + (uint32_t)draw(5), links = 2 + (uint32_t)draw(6);
        ss_result *r = random_result(e, devices, links, (uint32_t)draw(40));
        const ss_tasks *t = &r->lowered->tasks;
        for (uint32_t place = 1; place <= devices + links; place++) {
            ss_time busy = 0, longest = 0;
            int64_t bytes = 0;
            for (uint32_t i = 1; i <= t->n; i++) {
                uint32_t n;
                const uint32_t *on = ss_tasks_resources(t, (ss_task){i}, &n);
                for (uint32_t k = 0; k < n; k++) {
                    if (on[k] != place)
                        continue;
                    ss_time wait = r->timeline.start[i] - r->timeline.ready[i];
                    busy += t->hold[i];
                    bytes += t->bytes[i];
                    longest = wait > longest ? wait : longest;
                }
            }
            if (place <= devices)
                CHECK(r->device[place].busy == busy && r->device[place].idle == r->step_time - busy,
                      "seed %d round %d device %u", (int)seed, round, place);
            else
                CHECK(r->link[place - devices].busy == busy &&
                          r->link[place - devices].bytes == bytes &&
                          r->link[place - devices].longest_wait == longest,
                      "seed %d round %d link %u", (int)seed, round, place - devices);
        }
        const ss_critical *c = &r->critical;
        CHECK(c->compute + c->transfer + c->queueing == r->step_time, "round %d", round);
        ss_result_free(r);
    }
    ss_engine_free(e);
}

/* Random strategies of a small network on two machines of three. */
static void random_step(step *s, ss_lower_options *o)
{
    *o = ss_lower_options_start();
    o->sync = (ss_sync)draw(SS_SYNCS);
    o->overlap = draw(2);
    o->aggregate = o->sync >= SS_SYNC_RING && draw(2);
    o->training = o->aggregate || draw(5);
    o->coalesce = (ss_coalesce)draw(2);
    o->links = (ss_links_mode)draw(o->sync == SS_SYNC_CLOSED_FORM ? 3 : 4);
    o->segment_bytes = draw(2) * 50000;
    o->max_segments = 4;
    step_begin(s, step_mlp(10 + draw(20), 50 + (int)draw(200), 3),
               net_cluster(2, 3, 3e9, 1e9, 1e-6));
    net_must(ss_strategy_random(s->strategy, &rng, 6, &err), &err);
    step_run(s, o, "random");
}

static void memory_is_that_of_the_twin(void)
{
    for (int round = 0; round < 60 * times; round++) {
        step s;
        ss_lower_options o;
        ss_holds holds = {0};
        random_step(&s, &o);
        const ss_result *r = s.result;
        net_must(ss_lower_holds(s.model, s.strategy, r->lowered, &holds, &err), &err);
        for (uint32_t d = 1; d <= r->devices; d++) {
            int64_t by[SS_HELD_KINDS], peak = 0;
            ss_time at = -1;
            CHECK(r->held[r->held_first[d]].at == 0, "device %u", d);
            for (uint32_t i = r->held_first[d]; i < r->held_first[d + 1]; i++) {
                const ss_held_change *h = &r->held[i];
                CHECK(h->at > at, "seed %d round %d device %u", (int)seed, round, d);
                at = h->at;
                CHECK(h->bytes == naive_held(&holds, &r->timeline, (ss_device){d}, at, by),
                      "seed %d round %d device %u", (int)seed, round, d);
            }
            for (uint32_t i = 1; i <= r->lowered->tasks.n; i++) { /* no instant was left out */
                int64_t now =
                    naive_held(&holds, &r->timeline, (ss_device){d}, r->timeline.start[i], by);
                peak = now > peak ? now : peak;
            }
            const ss_device_use *use = &r->device[d];
            for (uint32_t i = r->held_first[d]; r->held[i].at < use->held_peak_at; i++)
                CHECK(r->held[i].bytes < peak, "the first of equal peaks: device %u", d);
            naive_held(&holds, &r->timeline, (ss_device){d}, use->held_peak_at, by);
            CHECK(use->held_peak == peak && !memcmp(by, use->held_peak_by, sizeof by),
                  "seed %d round %d device %u: %lld, not %lld", (int)seed, round, d,
                  (long long)use->held_peak, (long long)peak);
        }
        ss_holds_free(&holds);
        step_free(&s);
    }
}

static void every_message_is_charged_once_at_each_end(void)
{
    for (int round = 0; round < 200 * times; round++) {
        step s;
        ss_lower_options o;
        random_step(&s, &o);
        const ss_result *r = s.result;
        double sent = 0, received = 0, carried = r->lowered->charged_bytes;
        for (uint32_t c = 0; c < SS_CARGOS; c++)
            carried += (double)r->lowered->moved[c];
        for (uint32_t d = 1; d <= r->devices; d++) {
            sent += (double)r->device[d].sent;
            received += (double)r->device[d].received;
        }
        bool switches = o.training && o.sync == SS_SYNC_IN_NETWORK; /* they send, too */
        CHECK(r->bytes_moved == carried && sent == received &&
                  (switches ? sent <= r->bytes_moved
                            : sent == r->bytes_moved - r->lowered->charged_bytes),
              "seed %d round %d sync %s%s: moved %.0f, sent %.0f, received %.0f", (int)seed, round,
              ss_sync_name(o.sync), o.aggregate ? " aggregated" : "", r->bytes_moved, sent,
              received);
        step_free(&s);
    }
}

/* A layer of 7 x 7 weights by samples over `members` devices: shares that differ by a byte. */
static void meeting_step(step *s, uint32_t members, const ss_lower_options *o)
{
    step_begin(s, step_mlp(16, 7, 1), net_cluster(2, 4, 3e9, 1e9, 1e-10));
    step_split(s, 1, 0, members, 3);
    step_run(s, o, NULL);
}

/* While gradients meet no link moves more than its bandwidth does. */
static void links_carry_what_they_can(const step *s, double rounding)
{
    const ss_tasks *t = &s->result->lowered->tasks;
    ss_time first = SS_TIME_MAX, last = 0;
    for (uint32_t i = 1; i <= t->n; i++) {
        if (t->label[i].kind != SS_TASK_COLLECTIVE)
            continue;
        ss_time start = s->result->timeline.start[i], end = s->result->timeline.end[i];
        first = start < first ? start : first;
        last = end > last ? end : last;
    }
    double seconds = ss_time_seconds(last - first);
    for (uint32_t l = 1; l <= s->result->links; l++) {
        double can = seconds * s->topology->link[l].def.bytes_per_s;
        CHECK((double)s->result->link[l].bytes <= can * (1 + rounding),
              "%s link %u: %lld bytes of %g", ss_sync_name(s->result->lowered->options.sync), l,
              (long long)s->result->link[l].bytes, can);
    }
}

/* Which messages a meeting has does not depend on whether they are tasks of their own; but link after link
 * messages take another time than their one task, so that another algorithm may take least of it. */
static void an_aggregated_meeting_charges_what_its_messages_would(void)
{
    for (uint32_t round = 0; round < 2 * 7 * (SS_SYNCS - SS_SYNC_RING); round++) {
        uint32_t sync = SS_SYNC_RING + round / 14;
        step one, many;
        ss_lower_options o = ss_lower_options_start();
        o.sync = (ss_sync)sync;
        o.links = round / 7 % 2 ? SS_LINKS_SHARED : SS_LINKS_FIFO_HOP;
        o.chunk_bytes = sync == SS_SYNC_IN_NETWORK || sync == SS_SYNC_DOUBLE_TREE ? 30 : 0;
        meeting_step(&many, 2 + round % 7, &o);
        o.aggregate = true;
        meeting_step(&one, 2 + round % 7, &o);
        bool alike = sync != SS_SYNC_AUTO || o.links == SS_LINKS_SHARED;
        for (uint32_t d = 1; alike && d <= one.result->devices; d++)
            CHECK(one.result->device[d].sent == many.result->device[d].sent &&
                      one.result->device[d].received == many.result->device[d].received,
                  "%s device %u: %lld, not %lld", ss_sync_name(o.sync), d,
                  (long long)one.result->device[d].sent, (long long)many.result->device[d].sent);
        for (uint32_t l = 1; alike && l <= one.result->links; l++)
            CHECK(one.result->link[l].bytes == many.result->link[l].bytes &&
                      one.result->link[l].messages == many.result->link[l].messages,
                  "%s link %u: %lld bytes in %u messages, not %lld in %u", ss_sync_name(o.sync), l,
                  (long long)one.result->link[l].bytes, one.result->link[l].messages,
                  (long long)many.result->link[l].bytes, many.result->link[l].messages);
        if (o.chunk_bytes == 0) /* of some bytes shares are not even */
            links_carry_what_they_can(&one, 1e-3);
        step_free(&one);
        step_free(&many);
    }
}

/* prop_account [TIMES [SEED]] */
int main(int argc, char **argv)
{
    if (argc > 1)
        times = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    printf("seed %d\n", (int)seed);
    net_must(ss_rng_open(&rng, seed, "account", &err), &err);
    RUN(communication_is_that_of_the_twin);
    RUN(busy_and_idle_make_the_step_and_links_carry_what_tasks_say);
    RUN(memory_is_that_of_the_twin);
    RUN(every_message_is_charged_once_at_each_end);
    RUN(an_aggregated_meeting_charges_what_its_messages_would);
    ss_rng_close(&rng);
    return DONE();
}
