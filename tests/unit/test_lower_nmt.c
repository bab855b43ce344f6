/* The bytes that FlexFlow's figure 7b plots (MLSys 2019), decoded to the last digit from the
 * printed version, counted in the lowered graph: NMT on 16 machines of 4 GPUs, 64 samples for each.
 */
#include "graph/lower.h"

#include "check.h"
#include "networks.h"

static ss_error err;

static const double GIB = 1024.0 * 1024 * 1024;

static ss_status one_microsecond(void *context, const ss_model *m, ss_op op, ss_phase phase,
                                 const ss_box *main, ss_device device, ss_time *out, ss_error *e)
{
    (void)context, (void)m, (void)op, (void)phase, (void)main, (void)device, (void)e;
    *out = 1000000;
    return SS_OK;
}

static ss_status no_time(void *context, ss_stream what, double bytes, ss_device device, ss_time *out, ss_error *e)
{
    (void)what;
    (void)context, (void)bytes, (void)device, (void)e;
    *out = 0;
    return SS_OK;
}

static const ss_timer timer = {.part = one_microsecond, .memory = no_time};

static ss_lowered lowered;

static double moved(int state_steps, bool expert, ss_sync sync, bool lumped)
{
    ss_model *m = net_nmt(4096, state_steps);
    ss_topology *t = net_cluster(16, 4, 10e9, 7e9, 1e-6);
    ss_routes *r;
    ss_strategy *s;
    ss_lower_options o = ss_lower_options_start();
    o.sync = sync;
    o.lumped = lumped;
    net_must(ss_routes_new(t, &r, &err), &err);
    net_must(ss_strategy_new(m, t, &s, &err), &err);
    net_must(expert ? ss_strategy_expert_rnn(s, false, &err) : ss_strategy_data_parallel(s, &err),
             &err);
    net_must(ss_lower(m, t, r, s, &timer, &o, &lowered, &err), &err);
    ss_strategy_free(s);
    ss_routes_free(r);
    ss_topology_free(t);
    ss_model_free(m);
    return ss_lowered_bytes_moved(&lowered);
}

static void the_network_has_the_published_number_of_weights(void)
{
    ss_model *m = net_nmt(4096, 1);
    ss_model_totals t = ss_model_total(m);
    CHECK(t.parameters == 140247040 && m->ops == 40, "%lld", (long long)t.parameters);
    ss_model_free(m);
}

static void data_parallel_moves_what_was_plotted(void)
{
    double bytes = moved(1, false, SS_SYNC_PARAMETER_SERVER, false);
    CHECK(bytes == 70684508160.0 && bytes / GIB == 65.830078125, "%.0f", bytes);
    CHECK((double)ss_tasks_bytes_moved(&lowered.tasks) == bytes);
    CHECK(lowered.moved[SS_CARGO_WEIGHT] == lowered.moved[SS_CARGO_WEIGHT_GRADIENT]);
    CHECK(lowered.moved[SS_CARGO_ACTIVATION] == 0 && lowered.moved[SS_CARGO_GRADIENT] == 0);
}

static void expert_placement_moves_what_was_plotted(void)
{
    double bytes = moved(8, true, SS_SYNC_PARAMETER_SERVER, false);
    CHECK(bytes / GIB == 24.173828125, "%.12f", bytes / GIB);
    CHECK((double)lowered.moved[SS_CARGO_ACTIVATION] / GIB == 4.25);
    CHECK(lowered.moved[SS_CARGO_ACTIVATION] == lowered.moved[SS_CARGO_GRADIENT]);
}

static void counting_states_once_it_moves_less(void)
{
    double bytes = moved(1, true, SS_SYNC_PARAMETER_SERVER, false);
    CHECK(bytes / GIB == 23.298828125, "%.12f", bytes / GIB);
}

static void every_meeting_moves_as_much_as_the_server(void)
{
    for (int sync = SS_SYNC_CLOSED_FORM; sync < SS_SYNCS; sync++) {
        double bytes = moved(1, true, (ss_sync)sync, false);
        if (sync == SS_SYNC_IN_NETWORK) { /* messages end at every switch: each has all once */
            CHECK(bytes / GIB > 23.298828125, "%.12f", bytes / GIB);
            continue;
        }
        CHECK(bytes / GIB == 23.298828125, "%s: %.12f", ss_sync_name((ss_sync)sync), bytes / GIB);
    }
    CHECK(lowered.charged_bytes == 0);
    moved(1, true, SS_SYNC_CLOSED_FORM, false);
    CHECK(lowered.charged_bytes == 2 * 15 * 4 * 140247040.0, "%.0f", lowered.charged_bytes);
}

static void lumped_it_moves_activations_once(void)
{
    double bytes = moved(8, true, SS_SYNC_PARAMETER_SERVER, true);
    CHECK(bytes / GIB == 15.673828125 + 4.25, "%.12f", bytes / GIB);
}

int main(void)
{
    RUN(the_network_has_the_published_number_of_weights);
    RUN(data_parallel_moves_what_was_plotted);
    RUN(expert_placement_moves_what_was_plotted);
    RUN(counting_states_once_it_moves_less);
    RUN(every_meeting_moves_as_much_as_the_server);
    RUN(lumped_it_moves_activations_once);
    ss_lowered_free(&lowered);
    return DONE();
}
