/* test_profile.c - profiles: what is measured, statistics, files; with the slow kernels. */
#include "config.h"

#include <math.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "io/measured.h"
#include "io/measured_h5.h"
#include "validation/profiler/profile.h"

#include "../reference/kernel_naive.h"
#include "check.h"

#define HERE "test_profile.dir/"
static ss_error err;

/* ---- statistics ---------------------------------------------------------------------------- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void statistics_are_those_worked_out_by_hand(void)
{
    static const double x[] = {7, 1, 3, 5, 9};
    ss_statistics s;
    CHECK_OK(ss_statistics_of(x, 5, &s, &err));
    CHECK(s.median == 5 && s.mean == 5 && near(s.deviation, sqrt(10)), "%g %g %g", s.median, s.mean,
          s.deviation);
    CHECK(near(s.q05, 1.4) && s.q25 == 3 && s.q75 == 7 && near(s.q95, 8.6), "%g %g %g %g", s.q05, s.q25, s.q75,
          s.q95);
    CHECK(s.least == 1 && s.most == 9 && s.n == 5 && !s.outliers, "%g %g", s.least, s.most);
}

static void outliers_are_counted_and_left_out_of_mean_and_deviation(void)
{
    /* quartiles 2 and 4: beyond -4 and 10 */
    static const double x[] = {-4.5, 2, 3, 4, 10.5}, within[] = {-4, 2, 3, 4, 10};
    ss_statistics s;
    CHECK_OK(ss_statistics_of(x, 5, &s, &err));
    CHECK(s.outliers == 2 && s.mean == 3 && s.deviation == 1, "%u %g %g", s.outliers, s.mean, s.deviation);
    CHECK(s.n == 5 && s.least == -4.5 && s.most == 10.5, "%u %g %g", s.n, s.least, s.most);
    CHECK_OK(ss_statistics_of(within, 5, &s, &err));
    CHECK(s.outliers == 0 && s.mean == 3, "%u %g", s.outliers, s.mean);
}

static void one_sample_has_no_deviation_and_none_is_refused(void)
{
    ss_statistics s;
    CHECK_OK(ss_statistics_of((double[]){2.5}, 1, &s, &err));
    CHECK(s.median == 2.5 && s.mean == 2.5 && s.deviation == 0 && s.q95 == 2.5, "%g", s.deviation);
    CHECK(ss_statistics_of(NULL, 0, &s, &err) == SS_EINVAL, "taken");
}

/* ---- what is measured ---------------------------------------------------------------------- */

/* x -> first -> second -> third: first reads only the data; second and third have one key. */
static ss_status make_model(ss_model **m)
{
    ss_tensor t;
    ss_status s = ss_model_new("three", m, &err);
    if (!s)
        s = ss_model_input(*m, "x", &(ss_shape){SS_F32, 2, {6, 5}}, &t, &err);
    static const char *const name[] = {"first", "second", "third"};
    for (int i = 0; i < 3 && !s; i++) {
        ss_op_spec spec = ss_op_spec_start(ss_op_kind_find("linear"), name[i]);
        ss_op op;
        spec.in = &t;
        spec.inputs = 1;
        spec.attr[0] = 4;
        s = ss_model_add(*m, &spec, &op, &err);
        if (!s)
            t = (*m)->op[op.i].out[0];
    }
    return s;
}

static ss_status add_all(ss_profiler *p, const ss_model *m)
{
    ss_status s = SS_OK;
    for (uint32_t i = 1; i <= m->ops && !s; i++) {
        ss_box whole = ss_box_whole(&m->op[i].def->out[0]);
        s = ss_profiler_add(p, m, (ss_op){i}, &whole, &err);
    }
    return s;
}

static ss_status make_profiler(ss_profiler_options o, const char *version, ss_profiler **p)
{
    ss_kernel_maker maker = kernel_naive();
    return ss_profiler_new(&maker, "cpu core", version, &o, p, &err);
}

static ss_profiler_options few(void)
{
    ss_profiler_options o = ss_profiler_options_start();
    o.rounds = 3;
    o.warm_up = 1;
    return o;
}

static const ss_profile_row *row_of(const ss_profile *p, const char *shape, ss_phase phase)
{
    for (uint32_t i = 0; i < p->rows; i++)
        if (p->row[i].m.phase == phase && strcmp(p->row[i].m.shape, shape) == 0)
            return &p->row[i];
    return NULL;
}

static ss_status profile_with(ss_profiler_options o, const char *version, ss_profile *out)
{
    ss_model *m = NULL;
    ss_profiler *p = NULL;
    ss_status s = make_model(&m);
    if (!s)
        s = make_profiler(o, version, &p);
    if (!s)
        s = add_all(p, m);
    if (!s)
        s = ss_profiler_measure(p, NULL, out, &err);
    ss_profiler_free(p);
    ss_model_free(m);
    return s;
}

/* Of two numbers that are a rounding apart the lower quartile may be above the upper one: statistics stay within the samples. */
static void samples_that_are_a_rounding_apart_have_statistics(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        double x[9];
        uint32_t n = 1 + (uint32_t)i % 9;
        ss_statistics s;
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        for (uint32_t k = 0; k < n; k++) {
            x[k] = 1e-8 + (double)(state >> 11) * 0x1p-53 * 1e-3;
            for (uint32_t steps = (uint32_t)(state >> (2 * k)) % 4; steps; steps--)
                x[k] = nextafter(x[k], 1);
        }
        CHECK_OK(ss_statistics_of(x, n, &s, &err));
        CHECK(s.outliers < n && s.least <= s.median && s.median <= s.most && fabs(s.mean - x[0]) <= 1e-12 * x[0] &&
                  s.deviation <= 1e-12 * x[0],
              "%u of %u, %.17g", s.outliers, n, x[0]);
    }
}

static void a_key_is_measured_once_in_the_phases_it_needs(void)
{
    ss_profile p = {0};
    CHECK_OK(profile_with(few(), "slow 1", &p));
    CHECK(p.rows == 4, "%u rows", p.rows);
    CHECK(row_of(&p, "6x4 < 6x5", SS_FORWARD) && row_of(&p, "6x4 < 6x5", SS_WEIGHT_GRADIENT), "first");
    CHECK(row_of(&p, "6x4 < 6x4", SS_FORWARD) && row_of(&p, "6x4 < 6x4", SS_BACKWARD), "second");
    for (uint32_t i = 0; i < p.rows; i++) {
        const ss_profile_row *r = &p.row[i];
        CHECK(r->m.seconds > 0 && r->m.samples == 3 && r->s.n == 3, "row %u: %g", i, r->m.seconds);
        CHECK(r->m.seconds == r->s.median && r->m.spread_s == r->s.deviation, "row %u", i);
        for (int k = 0; k < 3; k++)
            CHECK(r->sample[k] > 0, "row %u, sample %d", i, k);
    }
    ss_profile_free(&p);
}

static void parts_of_backward_are_measured_on_request(void)
{
    ss_profiler_options o = few();
    ss_profile p = {0};
    o.parts_of_backward = true;
    o.cold = true;
    CHECK_OK(profile_with(o, "slow 1", &p));
    CHECK(p.rows == 6 && row_of(&p, "6x4 < 6x4", SS_INPUT_GRADIENT), "%u rows", p.rows);
    CHECK(row_of(&p, "6x4 < 6x4", SS_WEIGHT_GRADIENT) && !row_of(&p, "6x4 < 6x5", SS_INPUT_GRADIENT), "phases");
    CHECK(!strcmp(p.inputs, "cold"), "%s", p.inputs);
    ss_profile_free(&p);
}

static void only_what_is_missing_is_measured(void)
{
    ss_model *m;
    ss_profiler *p;
    ss_profile got = {0};
    ss_measured known = {.kind = "linear",
                         .device_kind = "cpu core",
                         .attributes = "",
                         .shape = "6x4 < 6x4",
                         .dtype = "f32",
                         .phase = SS_FORWARD};
    CHECK_OK(make_model(&m));
    ss_text attributes = {0}, shape = {0};
    ss_box whole = ss_box_whole(&m->op[2].def->out[0]);
    ss_cost_key(m->op[2].def, &whole, &attributes, &shape);
    known.attributes = ss_text_get(&attributes);
    CHECK_OK(make_profiler(few(), "slow 1", &p));
    CHECK_OK(ss_profiler_known(p, &known, &err));
    known.device_kind = "p100";
    known.phase = SS_BACKWARD; /* of another device: not known */
    CHECK_OK(ss_profiler_known(p, &known, &err));
    CHECK_OK(add_all(p, m));
    CHECK(ss_profiler_rows(p) == 3, "%u rows", ss_profiler_rows(p));
    CHECK_OK(ss_profiler_measure(p, NULL, &got, &err));
    CHECK(got.rows == 3 && !row_of(&got, "6x4 < 6x4", SS_FORWARD), "%u rows", got.rows);
    CHECK(row_of(&got, "6x4 < 6x4", SS_BACKWARD) != NULL, "backward");
    ss_profiler_free(p);
    CHECK_OK(make_profiler(few(), "slow 1", &p));
    CHECK_OK(ss_profiler_know_profile(p, &got, &err));
    CHECK_OK(add_all(p, m));
    CHECK(ss_profiler_rows(p) == 1, "%u rows", ss_profiler_rows(p));
    ss_profiler_free(p);
    ss_profile_free(&got);
    ss_text_free(&attributes);
    ss_text_free(&shape);
    ss_model_free(m);
}

static void a_spent_budget_leaves_one_round_of_each_batch(void)
{
    ss_profiler_options o = few();
    ss_profile p = {0};
    o.budget_s = 1e-12;
    o.memory_bytes = 1; /* a batch a key */
    CHECK_OK(profile_with(o, "slow 1", &p));
    CHECK(p.rows == 4, "%u rows", p.rows);
    for (uint32_t i = 0; i < p.rows; i++)
        CHECK(p.row[i].m.samples == 1, "row %u: %u samples", i, p.row[i].m.samples);
    ss_profile_free(&p);
    o.budget_s = 0;
    CHECK_OK(profile_with(o, "slow 1", &p));
    for (uint32_t i = 0; i < p.rows; i++)
        CHECK(p.row[i].m.samples == 3, "row %u: %u samples", i, p.row[i].m.samples);
    ss_profile_free(&p);
}

static void what_makes_no_sense_is_refused(void)
{
    ss_profiler_options o = few();
    ss_profile got = {0};
    ss_profiler *p;
    o.rounds = 0;
    CHECK(make_profiler(o, "slow 1", &p) == SS_EINVAL, "made");
    CHECK_TEXT(err.text, "at least 1 round");
    o = few();
    o.core = 1 << 20;
    CHECK(profile_with(o, "slow 1", &got) == SS_EINVAL && !got.rows, "measured");
    CHECK_TEXT(err.text, "no core 1048576");
}

static ss_status stop(void *context, const char *what, double done, double whole, ss_error *e)
{
    (void)what;
    (void)whole;
    ++*(int *)context;
    return done > 0 ? ss_fail(e, SS_ESTOPPED, "enough") : SS_OK;
}

static void over(void *context)
{
    *(int *)context += 100;
}

static void who_watches_may_stop_it(void)
{
    int looks = 0;
    ss_watch w = {.context = &looks, .look = stop, .over = over};
    ss_model *m;
    ss_profiler *p;
    ss_profile got = {0};
    CHECK_OK(make_model(&m));
    CHECK_OK(make_profiler(few(), "slow 1", &p));
    CHECK_OK(add_all(p, m));
    CHECK(ss_profiler_measure(p, &w, &got, &err) == SS_ESTOPPED && !got.rows, "went on");
    CHECK_TEXT(err.text, "enough");
    CHECK(looks == 102, "%d looks", looks);
    ss_profiler_free(p);
    ss_model_free(m);
}

static ss_status stop_halfway(void *context, const char *what, double done, double whole, ss_error *e)
{
    (void)context;
    (void)what;
    return done >= whole / 2 ? ss_fail(e, SS_ESTOPPED, "enough") : SS_OK;
}

static void nothing_to_do(void *context)
{
    (void)context;
}

static void heed(void *context)
{
    *(int *)context += 1;
}

static void what_was_measured_before_a_stop_is_kept_where_that_is_wanted(void)
{
    int heeded = 0;
    ss_watch w = {.context = &heeded, .look = stop_halfway, .over = nothing_to_do, .heeded = heed};
    ss_profiler_options o = few();
    ss_model *m;
    ss_profiler *p;
    ss_profile got = {0};
    o.memory_bytes = 1; /* a batch a key: the first is done by then, and the second has not begun */
    CHECK_OK(make_model(&m));
    for (int keep = 0; keep < 2; keep++) {
        o.keep_stopped = keep;
        CHECK_OK(make_profiler(o, "slow 1", &p));
        CHECK_OK(add_all(p, m));
        CHECK(ss_profiler_measure(p, &w, &got, &err) == (keep ? SS_OK : SS_ESTOPPED), "%d", keep);
        CHECK(got.rows == (keep ? 2 : 0) && heeded == keep, "%u rows, heeded %d", got.rows, heeded);
        ss_profiler_free(p);
    }
    for (uint32_t i = 0; i < got.rows; i++)
        CHECK(got.row[i].s.n == 3 && !strcmp(got.row[i].m.shape, "6x4 < 6x5"), "row %u", i);
    ss_profile_free(&got);
    w.look = stop; /* before there is any */
    CHECK_OK(make_profiler(o, "slow 1", &p));
    CHECK_OK(add_all(p, m));
    CHECK(ss_profiler_measure(p, &w, &got, &err) == SS_ESTOPPED && !got.rows, "went on");
    ss_profiler_free(p);
    ss_model_free(m);
}

/* ---- files --------------------------------------------------------------------------------- */

static void what_is_written_is_read(void)
{
    ss_profile p = {0}, q = {0};
    CHECK_OK(profile_with(few(), "slow 1", &p));
    CHECK_OK(ss_profile_write(HERE "profile.h5", &p, &err));
    CHECK_OK(ss_profile_read(HERE "profile.h5", &q, &err));
    CHECK(q.rows == p.rows && q.rounds == 3 && q.cores == p.cores && q.cores > 0, "%u rows", q.rows);
    CHECK(!strcmp(q.version, "slow 1") && !strcmp(q.device_kind, "cpu core") && !strcmp(q.inputs, "warm") &&
              !strcmp(q.element, "f32") && !strcmp(q.machine, p.machine) && q.machine[0] &&
              !strcmp(q.processor, p.processor) && !strcmp(q.wallclock, p.wallclock) && strlen(q.wallclock) == 20,
          "%s", q.wallclock);
    for (uint32_t i = 0; i < p.rows; i++) {
        const ss_profile_row *a = &p.row[i], *b = &q.row[i];
        CHECK(a->m.phase == b->m.phase && !strcmp(a->m.shape, b->m.shape) && !strcmp(a->m.kind, b->m.kind) &&
                  !strcmp(a->m.attributes, b->m.attributes) && !strcmp(a->m.dtype, b->m.dtype),
              "row %u", i);
        CHECK(a->m.seconds == b->m.seconds && a->s.q95 == b->s.q95 && a->s.n == b->s.n, "row %u", i);
        CHECK(!memcmp(a->sample, b->sample, a->s.n * sizeof(double)), "samples of row %u", i);
    }
    ss_profile_free(&p);
    ss_profile_free(&q);
}

static void a_profile_is_a_table_of_measured_times(void)
{
    ss_profile p = {0};
    ss_costs *read, *wanted;
    CHECK_OK(profile_with(few(), "slow 1", &p));
    CHECK_OK(ss_profile_write(HERE "profile.h5", &p, &err));
    CHECK_OK(ss_costs_new(&read, &err));
    CHECK_OK(ss_measured_read(HERE "profile.h5", read, &err));
    CHECK_OK(ss_costs_new(&wanted, &err));
    CHECK_OK(ss_costs_begin_table(wanted, HERE "profile.h5", &err));
    for (uint32_t i = 0; i < p.rows; i++)
        CHECK_OK(ss_costs_add_measured(wanted, &p.row[i].m, &err));
    CHECK(ss_costs_hash(read) == ss_costs_hash(wanted), "other rows");
    /* and one without samples is no profile */
    ss_profile q = {0};
    CHECK_OK(ss_measured_write_h5(HERE "table.h5", &p.row[0].m, 1, &err));
    CHECK(ss_profile_read(HERE "table.h5", &q, &err) == SS_EFORMAT, "read");
    CHECK_TEXT(err.text, "no /samples");
    ss_costs_free(read);
    ss_costs_free(wanted);
    ss_profile_free(&p);
}

static void new_rows_are_added_to_those_of_a_profile(void)
{
    ss_profile p = {0}, q = {0}, all = {0};
    ss_profiler_options o = few();
    CHECK_OK(profile_with(o, "slow 1", &p));
    o.parts_of_backward = true;
    o.rounds = 2;
    CHECK_OK(profile_with(o, "slow 1", &q));
    CHECK_OK(ss_profile_merge(&all, &p, &err));
    CHECK_OK(ss_profile_merge(&all, &q, &err));
    CHECK(all.rows == 6, "%u rows", all.rows);
    for (uint32_t i = 0; i < all.rows; i++)
        CHECK(all.row[i].m.samples == 2, "row %u: not the newer", i);
    ss_profile_free(&p);
    ss_profile_free(&q);
    ss_profile_free(&all);
}

static void a_profile_of_another_version_is_refused(void)
{
    ss_profile p = {0}, q = {0};
    ss_profiler_options o = few();
    CHECK_OK(profile_with(o, "slow 1", &p));
    CHECK_OK(profile_with(o, "slow 2", &q));
    CHECK(ss_profile_merge(&p, &q, &err) == SS_EINVAL && p.rows == 4, "merged");
    CHECK_TEXT(err.text, "version \"slow 1\" and \"slow 2\"");
    ss_profile_free(&q);
    o.cold = true;
    CHECK_OK(profile_with(o, "slow 1", &q));
    CHECK(ss_profile_merge(&p, &q, &err) == SS_EINVAL, "merged");
    CHECK_TEXT(err.text, "inputs \"warm\" and \"cold\"");
    /* and before anything is measured that it could not be put together with */
    ss_profiler *profiler;
    CHECK_OK(make_profiler(few(), "slow 1", &profiler));
    CHECK_OK(ss_profiler_know_profile(profiler, &p, &err));
    CHECK(ss_profiler_know_profile(profiler, &q, &err) == SS_EINVAL, "known");
    CHECK_TEXT(err.text, "inputs \"cold\" and \"warm\"");
    ss_profiler_free(profiler);
    ss_profile_free(&q);
    ss_profile_free(&p);
}

static void nothing_is_left_behind(void)
{
    CHECK(ss_mem_blocks() == 0, "%zu blocks", ss_mem_blocks());
}

int main(void)
{
    mkdir(HERE, 0777);
    RUN(statistics_are_those_worked_out_by_hand);
    RUN(outliers_are_counted_and_left_out_of_mean_and_deviation);
    RUN(one_sample_has_no_deviation_and_none_is_refused);
    RUN(samples_that_are_a_rounding_apart_have_statistics);
    RUN(a_key_is_measured_once_in_the_phases_it_needs);
    RUN(parts_of_backward_are_measured_on_request);
    RUN(only_what_is_missing_is_measured);
    RUN(a_spent_budget_leaves_one_round_of_each_batch);
    RUN(what_makes_no_sense_is_refused);
    RUN(who_watches_may_stop_it);
    RUN(what_was_measured_before_a_stop_is_kept_where_that_is_wanted);
    RUN(what_is_written_is_read);
    RUN(a_profile_is_a_table_of_measured_times);
    RUN(new_rows_are_added_to_those_of_a_profile);
    RUN(a_profile_of_another_version_is_refused);
    RUN(nothing_is_left_behind);
    if (!check_failed && system("rm -rf " HERE))
        check_failed++;
    return DONE();
}
