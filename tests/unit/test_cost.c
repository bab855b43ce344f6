#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "networks.h"
#include "simulate/cost.h"

static ss_error err;

/* Two layers: the first reads only the data, so its backward has no gradient of its input. */
static ss_model *two_layers(int64_t batch, int width)
{
    ss_model *m = net_new("two");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){batch, 300});
    ss_tensor y = net_out(
        m, net_op(m, (net_place){0}, "linear", "fc1", &x, 1, "out", width, "bias", 0, NULL));
    net_op(m, (net_place){0}, "linear", "fc2", &y, 1, "out", 70, "bias", 0, NULL);
    return m;
}

static ss_box rows(const ss_model *m, uint32_t op, int64_t lo, int64_t hi)
{
    ss_box b = ss_box_whole(&m->op[op].def->out[0]);
    b.lo[0] = lo;
    b.hi[0] = hi;
    return b;
}

static ss_topology *devices(uint32_t n, const ss_device_def *def)
{
    ss_topology *t;
    ss_device d;
    net_must(ss_topology_new("bench", &t, &err), &err);
    for (uint32_t i = 0; i < n; i++) {
        char name[20];
        snprintf(name, sizeof name, "d%u", i + 1);
        net_must(ss_topology_add_device(t, name, &def[i], &d, &err), &err);
    }
    return t;
}

static const ss_device_def p100 = {
    .kind = "p100", .flop_per_s = {[SS_F32] = 10.6e12}, .memory_bytes_per_s = 732e9, .speed = 1};

static ss_costs *costs(void)
{
    ss_costs *c;
    net_must(ss_costs_new(&c, &err), &err);
    return c;
}

/* Picoseconds of a part; -1 if it was refused. */
static ss_time ask(const ss_timer *timer, const ss_model *m, uint32_t op, ss_phase phase,
                   ss_box box, uint32_t device)
{
    ss_time t;
    return timer->part(timer->context, m, (ss_op){op}, phase, &box, (ss_device){device}, &t, &err)
               ? -1
               : t;
}

static ss_measured row(const char *shape, ss_phase phase, double seconds)
{
    return (ss_measured){.kind = "linear",
                         .device_kind = "p100",
                         .attributes = "bias=false",
                         .shape = shape,
                         .dtype = "f32",
                         .phase = phase,
                         .seconds = seconds};
}

/* --- wrong input ------------------------------------------------------------------------------ */

static void given_times_must_make_sense(void)
{
    ss_costs *c = costs();
    CHECK(ss_costs_add_given(c, "", 1, 1, false, &err) == SS_EINVAL, "no name");
    CHECK(ss_costs_add_given(c, "fc1", -1e-3, 1, false, &err) == SS_EINVAL, "negative");
    CHECK_TEXT(err.text, "given time of fc1: forward takes -0.001 seconds");
    CHECK(ss_costs_add_given(c, "fc1", 1, INFINITY, false, &err) == SS_EINVAL, "infinite");
    CHECK(ss_costs_add_given(c, "fc1", NAN, NAN, false, &err) == SS_EINVAL, "nothing");
    CHECK_TEXT(err.text, "neither forward nor backward");
    CHECK_OK(ss_costs_add_given(c, "fc1", 1e-3, NAN, false, &err));
    CHECK(ss_costs_add_given(c, "fc1", 1e-3, 1, false, &err) == SS_EINVAL, "twice");
    CHECK_TEXT(err.text, "it was given before");
    CHECK(ss_costs_set_scale(c, NAN, &err) == SS_EINVAL, "not a number");
    CHECK(ss_costs_set_scale(c, -1, &err) == SS_EINVAL, "negative");
    CHECK(ss_costs_set_scale(c, 0, &err) == SS_EINVAL, "nothing takes no time");
    ss_costs_free(c);
}

static void a_given_time_for_no_operator_is_refused_with_the_nearest_name(void)
{
    ss_model *m = two_layers(64, 128);
    ss_costs *c = costs();
    CHECK_OK(ss_costs_add_given(c, "fc2", 1e-3, 1e-3, false, &err));
    CHECK_OK(ss_costs_check_given(c, m, &err));
    CHECK_OK(ss_costs_add_given(c, "fc22", 1e-3, 1e-3, false, &err));
    CHECK(ss_costs_check_given(c, m, &err) == SS_EINVAL, "no fc22");
    CHECK_TEXT(err.text, "given time of fc22: model two has no such operator; did you mean fc2?");
    ss_costs_free(c);
    ss_model_free(m);
}

static void measured_rows_must_make_sense(void)
{
    ss_costs *c = costs();
    const struct {
        ss_measured row;
        const char *says;
    } bad[] = {
        {{"linaer", "p100", "", "8x4 < 8x2", "f32", 0, 1, 0, 0, false, 0}, "did you mean linear?"},
        {{"linear", "p100", "", "8x4 < 8x2", "f33", 0, 1, 0, 0, false, 0}, "f3"},
        {{"linear", "", "", "8x4 < 8x2", "f32", 0, 1, 0, 0, false, 0},
         "the device kind is missing"},
        {{"linear", "p100", "", "8x4 < 8x2", "f32", 0, -1, 0, 0, false, 0}, "it took -1 seconds"},
        {{"linear", "p100", "", "8x4 < 8x2", "f32", 0, NAN, 0, 0, false, 0}, "it took"},
        {{"linear", "p100", "", "8x4 < 8x2", "f32", 0, 1, -1, 0, false, 0}, "its spread is -1"},
        {{"linear", "p100", "", "", "f32", 0, 1, 0, 0, false, 0}, "shape"},
        {{"linear", "p100", "", "8x", "f32", 0, 1, 0, 0, false, 0}, "extents of the output"},
        {{"linear", "p100", "", "8x4 8x2", "f32", 0, 1, 0, 0, false, 0}, "at \"8x2\""},
        {{"linear", "p100", "", "8x4 < 8x2 < 3", "f32", 0, 1, 0, 0, false, 0}, "at \"< 3\""},
        {{"linear", "p100", "", "0x4 < 8x2", "f32", 0, 1, 0, 0, false, 0}, "at least 1"},
        {{"linear", "p100", "", "-8x4 < 8x2", "f32", 0, 1, 0, 0, false, 0}, "at \"-8x4"},
        {{"linear", "p100", "", "8x4 < 8x99999999999999999999", "f32", 0, 1, 0, 0, false, 0},
         "an extent"},
        {{"linear", "p100", "", "8x1x1x1x1x1 < 8", "f32", 0, 1, 0, 0, false, 0}, "at most 5"},
        {{"linear", "p100", "bais=true", "8x4 < 8x2", "f32", 0, 1, 0, 0, false, 0},
         "did you mean bias?"},
        {{"linear", "p100", "bias", "8x4 < 8x2", "f32", 0, 1, 0, 0, false, 0},
         "name=value is wanted"},
        {{"linear", "p100", "bias=7", "8x4 < 8x2", "f32", 0, 1, 0, 0, false, 0}, "bias is \"7\""},
        {{"linear", "p100", "bias=true bias=true", "8 < 8", "f32", 0, 1, 0, 0, false, 0},
         "there twice"},
        {{"linear", "p100", "", "8x4096 < 7x4096", "f32", 0, 1, 0, 0, false, 0},
         "shape 8x4096 < 7x4096: the output has 8 samples and input 1 has 7"},
        {{"add", "p100", "", "8x4 < 8x4, 9x4", "f32", 0, 1, 0, 0, false, 0}, "input 2 has 9"},
        {{"linear", "p100", "", "8x4", "f32", 0, 1, 0, 0, false, 0},
         "shape 8x4: linear reads 1 input, and there are 0"},
        {{"linear", "p100", "", "8x4 < 8x2, 8x2", "f32", 0, 1, 0, 0, false, 0}, "and there are 2"},
        {{"linear", "p100", "", "8x4 < 8x2", "f32", 0, 0, 0, 0, false, 0}, "it took 0 seconds"},
        {{"conv2d", "p100", "kernel_w=3", "1x1x1x1 < 1x1x3x3", "f32", 0, 1, 0, 0, false, 0},
         "attribute kernel_h is missing"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(ss_costs_add_measured(c, &bad[i].row, &err) == SS_EINVAL, "case %u", i);
        CHECK_TEXT(err.text, bad[i].says);
    }
    ss_measured good = row("8x4 < 8x2", SS_FORWARD, 1e-3), same = good;
    same.attributes = " activation=none  bias=false out=4 ";
    CHECK_OK(ss_costs_add_measured(c, &good, &err));
    CHECK(ss_costs_add_measured(c, &same, &err) == SS_EINVAL, "the same in other words");
    CHECK_TEXT(err.text, "was measured before");
    ss_costs_free(c);
}

static void what_serves_no_device_of_the_topology_is_refused(void)
{
    ss_topology *t = devices(1, &p100);
    ss_costs *c = costs();
    ss_roofline slip = {.kind = "p10",
                        .launch_s = NAN,
                        .flop_efficiency = NAN,
                        .conv_efficiency = NAN,
                        .conv_backward_efficiency = NAN,
                        .operand_efficiency = NAN,
                        .memory_efficiency = NAN,
                        .half_flop = 1};
    ss_measured other = row("8x4 < 8x2", SS_FORWARD, 1e-3);
    other.device_kind = "P100";
    CHECK_OK(ss_costs_begin_table(c, "times.csv", &err));
    CHECK_OK(ss_costs_add_measured(c, &other, &err));
    CHECK(ss_costs_check_devices(c, t, &err) == SS_EINVAL, "another case");
    CHECK_TEXT(err.text,
               "table times.csv can time nothing here: it is of devices of kind P100, and");
    CHECK_TEXT(err.text, " are p100; was p100 meant?");
    other.device_kind = "p100";
    CHECK_OK(ss_costs_add_measured(c, &other, &err)); /* one of them is enough */
    CHECK_OK(ss_costs_check_devices(c, t, &err));
    CHECK_OK(ss_costs_add_roofline(c, &slip, &err));
    CHECK(ss_costs_check_devices(c, t, &err) == SS_EINVAL, "a slip of the pen");
    CHECK_TEXT(err.text, "roofline of p10: neither topology ");
    CHECK_TEXT(err.text, "did you mean p100?");
    ss_costs_free(c);
    c = costs();
    slip.kind = "v100"; /* is not there, but serves elsewhere */
    CHECK_OK(ss_costs_add_roofline(c, &slip, &err));
    CHECK_OK(ss_costs_check_devices(c, t, &err));
    ss_costs_free(c);
    ss_topology_free(t);
}

static void rooflines_must_make_sense(void)
{
    ss_costs *c = costs();
    ss_roofline r = {.kind = "p100", .launch_s = -1, .half_flop = 1};
    CHECK(ss_costs_add_roofline(c, &r, &err) == SS_EINVAL, "negative");
    CHECK_TEXT(err.text, "roofline of p100: launch (seconds) is -1");
    r = *ss_roofline_builtin("v100");
    r.memory_efficiency = 0;
    CHECK(ss_costs_add_roofline(c, &r, &err) == SS_EINVAL, "nothing");
    CHECK_TEXT(err.text, "memory efficiency is 0");
    r.memory_efficiency = NAN;
    r.kind = "";
    CHECK(ss_costs_add_roofline(c, &r, &err) == SS_EINVAL, "for no kind");
    r.kind = "mine";
    CHECK_OK(ss_costs_add_roofline(c, &r, &err));
    CHECK(ss_costs_add_roofline(c, &r, &err) == SS_EINVAL, "twice");
    ss_costs_free(c);
}

/* --- what is not known ------------------------------------------------------------------------ */

static void everything_that_no_source_knows_is_collected(void)
{
    ss_device_def other = {.kind = "mine", .speed = 1};
    ss_topology *t = devices(2, (ss_device_def[]){p100, other});
    ss_model *m = two_layers(64, 128);
    ss_costs *c = costs();
    ss_timer timer;
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == 0, "no sources");
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND, "no sources");
    CHECK_TEXT(err.text, "no costs: add given times, a table, or a roofline");

    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) > 0, "p100 is known");
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    for (int twice = 0; twice < 2; twice++) {
        CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 2) == 0, "mine has no peak");
        CHECK(ask(&timer, m, 2, SS_BACKWARD, rows(m, 2, 3, 8), 2) == 0, "mine has no peak");
    }
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND, "two");
    CHECK_TEXT(err.text,
               "no time is known for 2 parts of operators; the first is fc1: linear 64x128 < "
               "64x300, f32, forward, on mine (bias=false activation=none); mine has no "
               "peak for f32");
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    ss_text report = {0};
    CHECK_OK(ss_costs_report(c, &report, &err));
    CHECK_TEXT(report.at, "not known: 2");
    CHECK_TEXT(report.at, "linear 5x70 < 5x128, f32, backward, on mine");
    CHECK_TEXT(report.at, "fitted to DeepBench training results of P100");
    ss_text_free(&report);

    CHECK_OK(ss_costs_add_given(c, "fc1", 2e-3, 0, false, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 2) == 2000000000, "now it is known");
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void a_kind_that_is_nearly_known_is_pointed_out(void)
{
    ss_topology *t = devices(1, &(ss_device_def){.kind = "v10", .speed = 1});
    ss_model *m = two_layers(64, 128);
    ss_costs *c = costs();
    ss_timer timer;
    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == 0, "not known");
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND, "not known");
    CHECK_TEXT(err.text, "v10 has no peak for f32; was v100 meant?");
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void a_time_beyond_all_times_is_refused_by_name(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(64, 128);
    ss_costs *c = costs();
    ss_timer timer;
    CHECK_OK(ss_costs_add_given(c, "fc1", 1e8, 1, false, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == -1, "three years");
    CHECK_TEXT(err.text, "forward of fc1 on p100: the time is 1e+08 s; the longest time");
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void memory_without_a_bandwidth_takes_no_guess(void)
{
    ss_topology *t = devices(1, &(ss_device_def){.kind = "mine", .speed = 1});
    ss_costs *c = costs();
    ss_timer timer;
    ss_time time;
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(timer.memory(timer.context, SS_STREAM_UPDATE, 1e6, (ss_device){1}, &time, &err) ==
              SS_EINVAL,
          "no guess");
    CHECK_TEXT(err.text, "device d1 has no memory bandwidth");
    ss_costs_free(c);
    ss_topology_free(t);
}

static double stream_seconds(const ss_timer *timer, ss_stream what, double bytes)
{
    ss_time time;
    if (timer->memory(timer->context, what, bytes, (ss_device){1}, &time, &err))
        return -1;
    return ss_time_seconds(time);
}

/* Straight in logarithms between sizes (twice the bytes, four times as long: sqrt(2) the bytes take twice as long),
 * as long as the least below it, in proportion beyond the largest; of another stream the roofline. */
static void a_table_knows_of_memory_by_size(void)
{
    ss_topology *t =
        devices(1, &(ss_device_def){.kind = "mine", .speed = 0.5, .memory_bytes_per_s = 1e9});
    ss_costs *c = costs();
    ss_timer timer;
    ss_measured_stream row = {
        .device_kind = "mine", .what = SS_STREAM_COPY, .bytes = 2000, .seconds = 4e-6};
    CHECK_OK(ss_costs_begin_table(c, "here", &err));
    CHECK_OK(ss_costs_add_stream(c, &row, &err));
    row = (ss_measured_stream){.device_kind = "mine",
                               .what = SS_STREAM_COPY,
                               .bytes = 1000,
                               .seconds = 1e-6,
                               .has_bound = true,
                               .bound = 0.5};
    CHECK_OK(ss_costs_add_stream(c, &row, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(fabs(stream_seconds(&timer, SS_STREAM_COPY, 1000 * sqrt(2)) / (2 * 2e-6) - 1) < 1e-6,
          "%g s", stream_seconds(&timer, SS_STREAM_COPY, 1000 * sqrt(2)));
    CHECK(fabs(stream_seconds(&timer, SS_STREAM_COPY, 10) / (2 * 1e-6) - 1) < 1e-6, "%g s",
          stream_seconds(&timer, SS_STREAM_COPY, 10));
    CHECK(fabs(stream_seconds(&timer, SS_STREAM_COPY, 6000) / (2 * 12e-6) - 1) < 1e-6, "%g s",
          stream_seconds(&timer, SS_STREAM_COPY, 6000));
    CHECK(stream_seconds(&timer, SS_STREAM_SUM, 1e6) > 1e-3, "at 1 GB/s");
    double least = timer.memory_bound(timer.context, SS_STREAM_COPY, 10, (ss_device){1});
    double amid = timer.memory_bound(timer.context, SS_STREAM_COPY, 1500, (ss_device){1});
    double unknown = timer.memory_bound(timer.context, SS_STREAM_SUM, 10, (ss_device){1});
    CHECK(least == 0.5 && amid == 0.75 && unknown == 1, "%g, %g, %g", least, amid, unknown);
    row.bytes = 0;
    CHECK(ss_costs_add_stream(c, &row, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "copy of 0 bytes took 1e-06 seconds");
    row.bytes = 1;
    row.bound = 2;
    CHECK(ss_costs_add_stream(c, &row, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "waits for memory 2 of its time");
    ss_costs_free(c);
    ss_topology_free(t);
}

/* --- the sources ------------------------------------------------------------------------------ */

static void given_times_are_of_a_part_or_shared_by_flop(void)
{
    ss_device_def slow = p100;
    slow.speed = 0.25;
    ss_topology *t = devices(2, (ss_device_def[]){p100, slow});
    ss_model *m = two_layers(60, 128);
    ss_costs *c = costs();
    ss_timer timer;
    CHECK_OK(ss_costs_add_given(c, "fc1", 3e-3, NAN, false, &err));
    CHECK_OK(ss_costs_add_given(c, "fc2", 3e-3, 9e-3, true, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 7, 9), 1) == 3000000000, "a part");
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 7, 9), 2) == 12000000000, "a slow device");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 40, 60), 1) == 1000000000, "a third");
    CHECK(ask(&timer, m, 2, SS_BACKWARD, rows(m, 2, 0, 20), 1) == 3000000000, "a third");
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    CHECK(ask(&timer, m, 1, SS_BACKWARD, rows(m, 1, 7, 9), 1) == 0, "not given");
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND, "not given");
    CHECK_OK(ss_costs_set_scale(c, 0.5, &err));
    CHECK(ask(&timer, m, 2, SS_BACKWARD, rows(m, 2, 0, 20), 1) == 1500000000, "scaled");
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void operators_that_are_alike_have_given_times_of_their_own(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("alike");
    ss_costs *c = costs();
    ss_timer timer;
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){16, 5});
    for (int i = 1; i <= 3; i++)
        x = net_then(m, "linear", (const char *[]){"", "a", "b", "c"}[i], x, "out", 5);
    CHECK_OK(ss_costs_add_given(c, "a", 1e-3, 0, false, &err));
    CHECK_OK(ss_costs_add_given(c, "c", 3e-3, 0, false, &err));
    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    for (int twice = 0; twice < 2; twice++) {
        CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 16), 1) == 1000000000, "a");
        CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 16), 1) < 100000000, "b: roofline");
        CHECK(ask(&timer, m, 3, SS_FORWARD, rows(m, 3, 0, 16), 1) == 3000000000, "c");
    }
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void backward_without_a_gradient_of_the_input_takes_less(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("alike");
    ss_costs *c = costs();
    ss_timer timer;
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){4096, 2048});
    for (int i = 0; i < 2; i++)
        x = net_then(m, "linear", i ? "inner" : "first", x, "out", 2048);
    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    ss_time inner = ask(&timer, m, 2, SS_BACKWARD, rows(m, 2, 0, 4096), 1);
    ss_time first = ask(&timer, m, 1, SS_BACKWARD, rows(m, 1, 0, 4096), 1);
    CHECK(100 * first > 45 * inner && 100 * first < 55 * inner, "%lld and %lld", (long long)first,
          (long long)inner);
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

/* What both take together counts before what each takes, and what was measured before a share by FLOP. */
static void backward_is_measured_whole_or_in_parts(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(256, 128); /* fc1 reads only the data */
    for (int whole = 0; whole < 2; whole++) {
        ss_costs *c = costs();
        ss_timer timer;
        ss_measured table[] = {row("16x70 < 16x128", SS_INPUT_GRADIENT, 2e-3),
                               row("16x70 < 16x128", SS_WEIGHT_GRADIENT, 3e-3),
                               row("16x128 < 16x300", SS_INPUT_GRADIENT, 7e-3),
                               row("16x128 < 16x300", SS_WEIGHT_GRADIENT, 9e-3),
                               row("16x70 < 16x128", SS_BACKWARD, 4e-3),
                               row("16x128 < 16x300", SS_BACKWARD, 6e-3)};
        CHECK_OK(ss_costs_begin_table(c, "lab.csv", &err));
        for (int i = 0; i < (whole ? 6 : 4); i++)
            CHECK_OK(ss_costs_add_measured(c, &table[i], &err));
        CHECK_OK(ss_costs_timer(c, t, &timer, &err));
        ss_time both = ask(&timer, m, 2, SS_BACKWARD, rows(m, 2, 0, 16), 1);
        CHECK(both == (whole ? 4000000000 : 5000000000), "%lld", (long long)both);
        CHECK(ask(&timer, m, 1, SS_BACKWARD, rows(m, 1, 0, 16), 1) == 9000000000, "of weights");
        CHECK_OK(ss_costs_refuse_missing(c, &err));
        ss_costs_free(c);
    }
    ss_model_free(m);
    ss_topology_free(t);
}

static void tables_answer_exactly_between_and_never_beyond(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(256, 128);
    ss_costs *c = costs();
    ss_timer timer;
    /* 1 ms at 16, 4 ms at 64: time goes with the size, so 32 takes 2 ms.  The row between with
     * other features, and the one with a bias, are of other operators. */
    ss_measured table[] = {
        row("16x70 < 16x128", SS_FORWARD, 1e-3), row("64x70 < 64x128", SS_FORWARD, 4e-3),
        row("30x70 < 30x999", SS_FORWARD, 7), row("16x128 < 16x300", SS_BACKWARD, 6e-3)};
    ss_measured biased = row("32x70 < 32x128", SS_FORWARD, 9);
    biased.attributes = "bias=true";
    CHECK_OK(ss_costs_begin_table(c, "lab.csv", &err));
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_OK(ss_costs_add_measured(c, &table[i], &err));
    CHECK_OK(ss_costs_add_measured(c, &biased, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 100, 116), 1) == 1000000000, "exact");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 32), 1) == 2000000000, "between: %lld",
          (long long)ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 32), 1));
    /* fc1 reads only the data: half of the measured backward. */
    CHECK(ask(&timer, m, 1, SS_BACKWARD, rows(m, 1, 0, 16), 1) == 3000000000, "one gradient");
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 65), 1) == 0, "beyond");
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND, "beyond");
    CHECK_TEXT(err.text, "dimension n is 65, and was measured only up to 64");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 15), 1) == 0, "below");
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND, "below");
    CHECK_TEXT(err.text, "dimension n is 15, and was measured only from 16");
    ss_text report = {0};
    CHECK_OK(ss_costs_report(c, &report, &err));
    CHECK_TEXT(report.at, "table lab.csv of 5 times: 3 answered, of them 2 interpolated");
    ss_text_free(&report);
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

/* A measured grid of samples and channels, each time a power of both: the corners of the box around
 * a part give it exactly.  Beyond the grid nothing is said, and a corner that is missing is looked
 * past. */
static void between_measured_sizes_in_two_dimensions(void)
{
    static const int64_t n[] = {8, 32, 128}, channels[] = {16, 64, 256};
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("grid");
    ss_tensor x = net_input(m, "x", SS_F32, 2, (int64_t[]){512, 100});
    ss_op fc = net_op(m, (net_place){0}, "linear", "fc", &x, 1, "out", 512, "bias", 0, NULL);
    ss_costs *c = costs();
    ss_timer timer;
    CHECK_OK(ss_costs_begin_table(c, "grid.csv", &err));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            char shape[64];
            if (i == 1 && k == 1)
                continue; /* the middle was not measured */
            snprintf(shape, sizeof shape, "%lldx%lld < %lldx100", (long long)n[i],
                     (long long)channels[k], (long long)n[i]);
            ss_measured r = row(shape, SS_FORWARD, 1e-6 * (double)n[i] * sqrt((double)channels[k]));
            CHECK_OK(ss_costs_add_measured(c, &r, &err));
        }
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    static const struct {
        int64_t n, channels, ps;
    } part[] = {{8, 16, 32000000},   {8, 36, 48000000},   {50, 16, 200000000},
                {50, 36, 300000000}, {32, 64, 256000000}, {10, 100, 100000000}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        ss_box box = ss_box_whole(&m->op[fc.i].def->out[0]);
        box.hi[0] = part[i].n;
        box.hi[1] = part[i].channels;
        long long got = ask(&timer, m, fc.i, SS_FORWARD, box, 1);
        CHECK(llabs(got - part[i].ps) <= 1, "%lldx%lld: %lld ps", (long long)part[i].n,
              (long long)part[i].channels, got);
    }
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    ss_box box = ss_box_whole(&m->op[fc.i].def->out[0]);
    box.hi[0] = 50;
    box.hi[1] = 300;
    CHECK(ask(&timer, m, fc.i, SS_FORWARD, box, 1) == 0, "beyond");
    CHECK(ss_costs_refuse_missing(c, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "sizes on both sides were not measured");
    ss_text report = {0};
    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    box.hi[1] = 400;
    CHECK(ask(&timer, m, fc.i, SS_FORWARD, box, 1) > 0, "by the roofline");
    CHECK_OK(ss_costs_report(c, &report, &err));
    CHECK_TEXT(report.at, "did not know 2 parts:\n      fc: linear 50x300 < 50x100");
    CHECK_TEXT(report.at, "      fc: linear 50x400 < 50x100");
    ss_text_free(&report);
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void a_measured_time_of_zero_is_interpolated_in_a_straight_line(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("view");
    ss_tensor x = net_input(m, "x", SS_F32, 4, (int64_t[]){256, 7, 5, 2});
    ss_op view = net_op(m, (net_place){0}, "flatten", "f", &x, 1, NULL);
    ss_costs *c = costs();
    ss_timer timer;
    ss_measured none = row("10x70 < 10x7x5x2", SS_FORWARD, 0);
    ss_measured some = row("50x70 < 50x7x5x2", SS_FORWARD, 8e-3);
    CHECK(ss_costs_add_measured(c, &none, &err) == SS_EINVAL, "a linear");
    none.kind = some.kind = "flatten";
    none.attributes = some.attributes = "";
    CHECK_OK(ss_costs_add_measured(c, &some, &err));
    CHECK_OK(ss_costs_add_measured(c, &none, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, view.i, SS_FORWARD, rows(m, view.i, 0, 20), 1) == 2000000000, "a quarter");
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void the_key_of_a_part_is_that_of_an_operator_of_its_size(void)
{
    ss_model *m = net_new("heads");
    ss_tensor x = net_input(m, "x", SS_F16, 3, (int64_t[]){6, 20, 3 * 96});
    ss_op whole = net_op(m, (net_place){0}, "multihead_attention", "a", &x, 1, "heads", 12, NULL);
    const ss_op_def *def = m->op[whole.i].def;
    ss_box part = ss_box_whole(&def->out[0]);
    ss_text attributes = {0}, shape = {0};
    part.lo[2] = 8;
    part.hi[2] = 32; /* three heads of eight */
    ss_cost_key(def, &part, &attributes, &shape);
    CHECK_TEXT(attributes.at, "heads=3 causal=false");
    CHECK_TEXT(shape.at, "6x20x24 < 6x20x");
    ss_text_free(&attributes);
    ss_text_free(&shape);
    ss_model_free(m);
}

static void halos_are_in_the_key_and_follow_when_interpolating(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("image");
    ss_costs *c = costs();
    ss_timer timer;
    ss_tensor x = net_input(m, "x", SS_F32, 4, (int64_t[]){8, 3, 60, 50});
    net_op(m, (net_place){0}, "conv2d", "conv", &x, 1, "out", 7, "kernel_h", 3, "kernel_w", 3,
           "padding_h", 1, "padding_w", 1, NULL);
    ss_measured r = {.kind = "conv2d",
                     .device_kind = "p100",
                     .attributes = "padding_w=1 padding_h=1 kernel_h=3 kernel_w=3",
                     .dtype = "f32"};
    /* Inner parts of 10 and 40 rows read two rows more. */
    r.shape = "8x7x10x50 < 8x3x12x50";
    r.seconds = 1e-3;
    CHECK_OK(ss_costs_add_measured(c, &r, &err));
    r.shape = "8x7x40x50 < 8x3x42x50";
    r.seconds = 4e-3;
    CHECK_OK(ss_costs_add_measured(c, &r, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    ss_box box = ss_box_whole(&m->op[1].def->out[0]);
    box.lo[2] = 5;
    box.hi[2] = 25;
    CHECK(ask(&timer, m, 1, SS_FORWARD, box, 1) == 2000000000, "20 inner rows: %s", err.text);
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void parts_at_the_border_are_told_from_inner_ones_of_their_size(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("image");
    ss_costs *c = costs();
    ss_timer timer;
    ss_tensor x = net_input(m, "x", SS_F32, 4, (int64_t[]){8, 3, 60, 50});
    net_op(m, (net_place){0}, "conv2d", "conv", &x, 1, "out", 7, "kernel_h", 3, "kernel_w", 3,
           "padding_h", 1, "padding_w", 1, NULL);
    const char *shape[] = {"8x7x10x50 < 8x3x11x50", "8x7x10x50 < 8x3x12x50"};
    for (int i = 0; i < 2; i++) {
        ss_measured r = {.kind = "conv2d",
                         .device_kind = "p100",
                         .attributes = "padding_w=1 padding_h=1 kernel_h=3 kernel_w=3",
                         .shape = shape[i],
                         .dtype = "f32",
                         .seconds = 1e-3 * (i + 1)};
        CHECK_OK(ss_costs_add_measured(c, &r, &err));
    }
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    ss_box box = ss_box_whole(&m->op[1].def->out[0]);
    for (int64_t lo = 0; lo < 60; lo += 10) {
        box.lo[2] = lo;
        box.hi[2] = lo + 10;
        ss_time wanted = lo == 0 || lo == 50 ? 1000000000 : 2000000000;
        CHECK(ask(&timer, m, 1, SS_FORWARD, box, 1) == wanted, "from row %d", (int)lo);
    }
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void the_roofline_is_what_its_header_says(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(64, 128);
    ss_costs *c = costs();
    ss_timer timer;
    ss_roofline r = {.kind = "p100",
                     .launch_s = 3e-6,
                     .flop_efficiency = 0.5,
                     .conv_efficiency = NAN,
                     .conv_backward_efficiency = NAN,
                     .operand_efficiency = 0.25,
                     .memory_efficiency = 0.75,
                     .half_flop = 1e9};
    CHECK_OK(ss_costs_add_roofline(c, &r, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    double flop = 2.0 * 64 * 128 * 300;
    double bytes = 4.0 * (64 * 300 + 64 * 128 + 128 * 300);
    double computing = (flop + 1e9) / (10.6e12 * 0.5), moving = bytes / (732e9 * 0.25);
    ss_time wanted = llround(1e12 * (3e-6 + fmax(computing, moving)));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == wanted, "%lld, not %lld",
          (long long)ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1), (long long)wanted);
    ss_time memory;
    CHECK_OK(timer.memory(timer.context, SS_STREAM_UPDATE, 1e8, (ss_device){1}, &memory, &err));
    CHECK(memory == llround(1e12 * (3e-6 + 1e8 / (732e9 * 0.75))), "%lld", (long long)memory);
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void small_parts_are_less_efficient_than_large_ones(void)
{
    uint32_t n;
    const ss_roofline *all = ss_rooflines(&n);
    CHECK(n >= 7 && !strcmp(all[n - 1].kind, "*"), "%u", n);
    CHECK(ss_roofline_builtin("no such device") == &all[n - 1], "any other");
    for (uint32_t i = 0; i < n; i++) {
        ss_device_def def = p100;
        def.kind = all[i].kind;
        ss_topology *t = devices(1, &def);
        ss_model *m = two_layers(1024, 512);
        ss_costs *c = costs();
        ss_timer timer;
        CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
        CHECK_OK(ss_costs_timer(c, t, &timer, &err));
        ss_time last = 0;
        for (int64_t part = 1; part <= 1024; part *= 2) {
            ss_time now = ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, part), 1);
            CHECK(now > last && now < 2 * last + (last ? 0 : INT64_MAX), "%s: %lld after %lld",
                  def.kind, (long long)now, (long long)last);
            last = now;
        }
        CHECK(all[i].source[0], "%s has no source", all[i].kind);
        ss_costs_free(c);
        ss_model_free(m);
        ss_topology_free(t);
    }
}

static void tf32_is_f32_where_there_is_none_and_a_view_takes_no_time(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = net_new("view");
    ss_costs *c = costs();
    ss_timer timer;
    ss_tensor x = net_input(m, "x", SS_TF32, 4, (int64_t[]){8, 3, 6, 5});
    ss_tensor flat = net_out(m, net_op(m, (net_place){0}, "flatten", "flat", &x, 1, NULL));
    net_op(m, (net_place){0}, "linear", "fc", &flat, 1, "out", 7, NULL);
    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    CHECK_OK(ss_costs_timer(c, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 8), 1) == 0, "a view");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 8), 1) > 0, "tf32");
    CHECK_OK(ss_costs_refuse_missing(c, &err));
    ss_costs_free(c);
    ss_model_free(m);
    ss_topology_free(t);
}

static void the_first_source_that_knows_wins_and_stacks_share(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(64, 128);
    ss_costs *given = costs(), *table = costs(), *stack = costs();
    ss_timer timer;
    ss_measured r = row("64x70 < 64x128", SS_FORWARD, 5e-3);
    CHECK_OK(ss_costs_add_given(given, "fc1", 1e-3, 1e-3, false, &err));
    CHECK_OK(ss_costs_add_measured(table, &r, &err));
    CHECK_OK(ss_costs_add_all(stack, given, &err));
    CHECK_OK(ss_costs_add_all(stack, table, &err));
    CHECK_OK(ss_costs_add_given(stack, "fc2", 7e-3, 7e-3, false, &err)); /* after the table */
    uint64_t before = ss_costs_hash(given);
    CHECK(ss_costs_hash(stack) != before && before == ss_costs_hash(given), "hashes");
    ss_costs_free(given);
    ss_costs_free(table);
    CHECK_OK(ss_costs_timer(stack, t, &timer, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == 1000000000, "given");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 64), 1) == 5000000000, "the table is first");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 63), 1) == 7000000000, "then the given");
    ss_costs_free(stack);
    ss_model_free(m);
    ss_topology_free(t);
}

static void appended_sources_keep_their_scale(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(64, 128);
    ss_costs *given = costs(), *roofline = costs(), *plain = costs(), *stack = costs();
    ss_timer timer, by_roofline;
    ss_time once, now;
    CHECK_OK(ss_costs_add_given(given, "fc1", 3e-3, 1e-3, false, &err));
    CHECK_OK(ss_costs_set_scale(given, 0.25, &err));
    CHECK_OK(ss_costs_add_roofline(roofline, NULL, &err));
    CHECK_OK(ss_costs_set_scale(roofline, 7, &err));
    CHECK_OK(ss_costs_add_all(plain, given, &err));
    uint64_t unscaled = ss_costs_hash(stack);
    CHECK_OK(ss_costs_add_all(stack, plain, &err)); /* through two */
    CHECK_OK(ss_costs_add_given(stack, "fc2", 5e-3, 5e-3, false, &err));
    CHECK_OK(ss_costs_add_all(stack, roofline, &err));
    CHECK(ss_costs_hash(stack) != unscaled, "hashes");
    CHECK_OK(ss_costs_set_scale(stack, 2, &err));
    ss_costs_free(given);
    CHECK_OK(ss_costs_timer(stack, t, &timer, &err));
    CHECK_OK(ss_costs_timer(roofline, t, &by_roofline, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == 1500000000, "3 ms / 4 * 2");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 64), 1) == 10000000000, "its own: 5 ms * 2");
    CHECK_OK(by_roofline.memory(by_roofline.context, SS_STREAM_UPDATE, 1e9, (ss_device){1}, &once,
                                &err));
    CHECK_OK(timer.memory(timer.context, SS_STREAM_UPDATE, 1e9, (ss_device){1}, &now, &err));
    CHECK(now >= 2 * once - 2 && now <= 2 * once + 2, "sums follow their roofline: %lld, %lld",
          (long long)now, (long long)once);
    ss_costs_free(plain);
    ss_costs_free(roofline);
    ss_costs_free(stack);
    ss_model_free(m);
    ss_topology_free(t);
}

/* --- the memo --------------------------------------------------------------------------------- */

/* Models come and go where others lay; two topologies are timed side by side. */
static void remembered_answers_are_those_of_fresh_costs(void)
{
    ss_device_def slow = p100, lean = p100;
    slow.speed = 0.7;
    lean.flop_per_s[SS_F32] = 1e12;
    ss_topology *a = devices(3, (ss_device_def[]){p100, slow, lean});
    ss_topology *b = devices(2, (ss_device_def[]){lean, slow});
    ss_costs *c = costs();
    ss_timer on_a, on_b, fresh_timer;
    ss_rng rng;
    CHECK_OK(ss_rng_open(&rng, 41, "costs", &err));
    CHECK_OK(ss_costs_add_given(c, "fc2", 1e-3, 2e-3, true, &err));
    CHECK_OK(ss_costs_add_roofline(c, NULL, &err));
    CHECK_OK(ss_costs_timer(c, a, &on_a, &err));
    CHECK_OK(ss_costs_timer(c, b, &on_b, &err));
    for (int round = 0; round < 400; round++) {
        ss_model *m = two_layers(64, (int)(100 + ss_rng_below(&rng, 3)));
        ss_costs *fresh = costs();
        bool which = ss_rng_below(&rng, 2);
        CHECK_OK(ss_costs_add_all(fresh, c, &err));
        CHECK_OK(ss_costs_timer(fresh, which ? a : b, &fresh_timer, &err));
        for (int k = 0; k < 12; k++) {
            uint32_t op = (uint32_t)(1 + ss_rng_below(&rng, 2));
            uint32_t device = (uint32_t)(1 + ss_rng_below(&rng, which ? 3 : 2));
            int64_t lo = (int64_t)ss_rng_below(&rng, 4);
            ss_box box = rows(m, op, lo, lo + 1 + (int64_t)ss_rng_below(&rng, 3));
            if (ss_rng_below(&rng, 2))
                box.lo[1] = 3;
            ss_phase phase = ss_rng_below(&rng, 2) ? SS_BACKWARD : SS_FORWARD;
            ss_time got = ask(which ? &on_a : &on_b, m, op, phase, box, device);
            ss_time wanted = ask(&fresh_timer, m, op, phase, box, device);
            CHECK(got == wanted && got > 0, "round %d: %lld, not %lld", round, (long long)got,
                  (long long)wanted);
        }
        ss_costs_free(fresh);
        ss_model_free(m);
    }
    ss_rng_close(&rng);
    ss_costs_free(c);
    ss_topology_free(a);
    ss_topology_free(b);
}

static ss_status use(const ss_topology *t, const ss_model *m, ss_costs **c)
{
    ss_timer timer;
    ss_time time;
    ss_measured r = row("64x70 < 64x128", SS_FORWARD, 5e-3);
    ss_measured q = row("16x70 < 16x128", SS_FORWARD, 5e-3);
    ss_box box = rows(m, 2, 0, 32), whole = rows(m, 1, 0, 64);
    ss_status s = ss_costs_new(c, &err);
    if (!s)
        s = ss_costs_add_given(*c, "fc1", 1e-3, NAN, false, &err);
    if (!s)
        s = ss_costs_add_measured(*c, &r, &err);
    if (!s)
        s = ss_costs_add_measured(*c, &q, &err);
    if (!s)
        s = ss_costs_add_roofline(*c, NULL, &err);
    if (!s)
        s = ss_costs_timer(*c, t, &timer, &err);
    if (!s)
        s = timer.part(timer.context, m, (ss_op){2}, SS_FORWARD, &box, (ss_device){1}, &time, &err);
    if (!s)
        s = timer.part(timer.context, m, (ss_op){1}, SS_BACKWARD, &whole, (ss_device){2}, &time,
                       &err);
    if (s)
        return s;
    ss_text report = {0};
    s = ss_costs_report(*c, &report, &err);
    ss_text_free(&report);
    return s;
}

/* overhead + factor x time, each source as it was corrected and the scale that came after on top of it. */
static void corrected_times_are_what_the_header_says(void)
{
    ss_topology *t = devices(1, &p100);
    ss_model *m = two_layers(64, 128);
    ss_costs *given = costs(), *in_steps = costs(), *stack = costs(), *copy = NULL;
    ss_correction *x;
    ss_timer timer, of_copy;
    ss_time once, now;
    CHECK_OK(ss_costs_add_given(given, "fc1", 4e-3, 2e-3, false, &err));
    CHECK_OK(ss_costs_add_given(given, "fc2", 0, 6e-3, false, &err));
    CHECK_OK(ss_costs_add_roofline(given, NULL, &err));
    CHECK_OK(ss_costs_set_scale(given, 0.5, &err)); /* before the correction */
    CHECK_OK(ss_correction_new(&x, &err));
    CHECK_OK(ss_correction_set_overhead(x, 1e-3, &err));
    CHECK_OK(ss_correction_set(x, "linear forward", 1.5, &err));
    CHECK_OK(ss_correction_set(x, "backward", 3, &err)); /* of all kinds that have none */
    CHECK_OK(ss_correction_set(x, "update", 2, &err));
    CHECK(ss_correction_set(x, "linear", 2, &err) == SS_EINVAL, "no phase");
    CHECK_TEXT(err.text, "'linear' is neither a kind of operator with a phase");
    CHECK(ss_correction_set(x, "sum", 0, &err) == SS_EINVAL, "no factor");
    CHECK(ss_correction_set_overhead(x, -1, &err) == SS_EINVAL, "no overhead");
    CHECK_OK(ss_costs_add_all(in_steps, given, &err));
    uint64_t uncorrected = ss_costs_hash(in_steps);
    CHECK_OK(ss_costs_correct(in_steps, x, &err));
    CHECK(ss_costs_hash(in_steps) != uncorrected, "hashes");
    CHECK(ss_costs_correct(in_steps, x, &err) == SS_EINVAL, "twice");
    CHECK_TEXT(err.text, "corrected already");
    CHECK(ss_costs_correct(stack, x, &err) == SS_EINVAL, "nothing to correct");
    ss_correction_free(x);
    CHECK_OK(ss_costs_set_scale(in_steps, 10, &err)); /* after it */
    CHECK_OK(ss_costs_add_all(stack, in_steps, &err));
    CHECK_OK(ss_costs_copy(stack, &copy, &err));
    CHECK(ss_costs_hash(copy) == ss_costs_hash(stack), "a copy is the same");
    CHECK_OK(ss_costs_timer(stack, t, &timer, &err));
    CHECK_OK(ss_costs_timer(copy, t, &of_copy, &err));
    CHECK(ask(&timer, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == 40000000000, "10 x (1 + 1.5 x 2) ms");
    CHECK(ask(&of_copy, m, 1, SS_FORWARD, rows(m, 1, 0, 64), 1) == 40000000000, "of the copy, too");
    CHECK(ask(&timer, m, 1, SS_BACKWARD, rows(m, 1, 0, 64), 1) == 40000000000, "10 x (1 + 3 x 1) ms");
    CHECK(ask(&timer, m, 2, SS_FORWARD, rows(m, 2, 0, 64), 1) == 0, "what takes no time takes none");
    CHECK_OK(ss_costs_set_scale(given, 1, &err));
    CHECK_OK(ss_costs_timer(given, t, &timer, &err));
    CHECK_OK(of_copy.memory(of_copy.context, SS_STREAM_UPDATE, 1e9, (ss_device){1}, &now, &err));
    CHECK_OK(timer.memory(timer.context, SS_STREAM_UPDATE, 1e9, (ss_device){1}, &once, &err));
    double wanted = 10 * (1e9 + 2 * 0.5 * (double)once); /* ps */
    CHECK(fabs((double)now - wanted) <= 10, "streams follow their roofline: %lld, %g", (long long)now, wanted);
    ss_costs_free(given);
    ss_costs_free(in_steps);
    ss_costs_free(stack);
    ss_costs_free(copy);
    ss_model_free(m);
    ss_topology_free(t);
}

static void failing_any_allocation_leaks_nothing(void)
{
    ss_device_def other = {.kind = "mine", .speed = 1};
    ss_topology *t = devices(2, (ss_device_def[]){p100, other});
    ss_model *m = two_layers(64, 128);
    size_t before = ss_mem_blocks();
    for (int64_t n = 0;; n++) {
        ss_costs *c = NULL;
        ss_mem_fail_after(n);
        ss_status s = use(t, m, &c);
        ss_mem_fail_never();
        ss_costs_free(c);
        CHECK(ss_mem_blocks() == before, "request %d leaks", (int)n);
        if (!s)
            break;
        CHECK(s == SS_ENOMEM && n < 1000, "request %d: %s", (int)n, err.text);
    }
    ss_model_free(m);
    ss_topology_free(t);
}

int main(void)
{
    RUN(given_times_must_make_sense);
    RUN(a_given_time_for_no_operator_is_refused_with_the_nearest_name);
    RUN(measured_rows_must_make_sense);
    RUN(what_serves_no_device_of_the_topology_is_refused);
    RUN(rooflines_must_make_sense);
    RUN(everything_that_no_source_knows_is_collected);
    RUN(a_kind_that_is_nearly_known_is_pointed_out);
    RUN(a_time_beyond_all_times_is_refused_by_name);
    RUN(a_table_knows_of_memory_by_size);
    RUN(memory_without_a_bandwidth_takes_no_guess);
    RUN(given_times_are_of_a_part_or_shared_by_flop);
    RUN(operators_that_are_alike_have_given_times_of_their_own);
    RUN(backward_without_a_gradient_of_the_input_takes_less);
    RUN(backward_is_measured_whole_or_in_parts);
    RUN(tables_answer_exactly_between_and_never_beyond);
    RUN(between_measured_sizes_in_two_dimensions);
    RUN(a_measured_time_of_zero_is_interpolated_in_a_straight_line);
    RUN(the_key_of_a_part_is_that_of_an_operator_of_its_size);
    RUN(halos_are_in_the_key_and_follow_when_interpolating);
    RUN(parts_at_the_border_are_told_from_inner_ones_of_their_size);
    RUN(the_roofline_is_what_its_header_says);
    RUN(small_parts_are_less_efficient_than_large_ones);
    RUN(tf32_is_f32_where_there_is_none_and_a_view_takes_no_time);
    RUN(the_first_source_that_knows_wins_and_stacks_share);
    RUN(appended_sources_keep_their_scale);
    RUN(remembered_answers_are_those_of_fresh_costs);
    RUN(corrected_times_are_what_the_header_says);
    RUN(failing_any_allocation_leaks_nothing);
    return DONE();
}
