#include "graph/model.h"

#include "check.h"

static ss_error err;

static ss_shape images(int64_t n)
{
    return (ss_shape){.dtype = SS_F32, .rank = 4, .extent = {n, 3, 31, 29}};
}

static ss_status add(ss_model *m, const char *kind, const char *name, const char *share,
                     ss_tensor in, int64_t out, ss_op *op)
{
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find(kind), name);
    spec.in = &in;
    spec.inputs = 1;
    spec.share = share;
    if (out)
        spec.attr[0] = out;
    return ss_model_add(m, &spec, op, &err);
}

static void a_small_model_adds_up(void)
{
    ss_model *m;
    ss_tensor x;
    ss_op a, b, c;
    CHECK_OK(ss_model_new("small", &m, &err));
    ss_shape s = {.dtype = SS_F32, .rank = 2, .extent = {7, 11}};
    CHECK_OK(ss_model_input(m, "x", &s, &x, &err));
    CHECK_OK(add(m, "linear", "a", NULL, x, 13, &a));
    CHECK_OK(add(m, "relu", "b", NULL, m->op[a.i].out[0], 0, &b));
    CHECK_OK(add(m, "linear", "c", NULL, m->op[b.i].out[0], 5, &c));
    CHECK_OK(ss_model_check(m, &err));
    ss_model_totals t = ss_model_total(m);
    CHECK(t.parameters == 11 * 13 + 13 + 13 * 5 + 5 && t.parameter_bytes == 4 * t.parameters);
    CHECK(t.macs == 7 * (11 * 13 + 13 * 5) && t.operators == 3);
    CHECK(t.forward_flops == 2 * t.macs + 7 * (13 + 13 + 5));
    CHECK(t.output_elements == 7 * (13 + 13 + 5) && ss_model_batch(m) == 7);
    CHECK(!m->op[a.i].input_gradient && m->op[b.i].input_gradient);
    ss_model_free(m);
}

int main(void)
{
    (void)images;
    RUN(a_small_model_adds_up);
    return DONE();
}
