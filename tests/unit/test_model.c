#include "graph/model.h"

#include "base/mem.h"
#include "check.h"

static ss_error err;

static ss_model *new_model(void)
{
    ss_model *m;
    if (ss_model_new("test", &m, &err)) {
        printf("%s\n", err.text);
        exit(1);
    }
    return m;
}

static ss_tensor input(ss_model *m, const char *name, ss_dtype t, int64_t a, int64_t b, int64_t c)
{
    ss_shape s = {.dtype = t, .rank = c ? 3 : 2, .extent = {a, b, c}};
    ss_tensor x = {0};
    if (ss_model_input(m, name, &s, &x, &err))
        printf("  input %s: %s\n", name, err.text);
    return x;
}

/* An operator whose first attribute (if not 0) and second are given; the others are preset. */
static ss_status add(ss_model *m, const char *kind, const char *name, const char *share,
                     uint32_t inputs, const ss_tensor *in, int64_t first, ss_op *op)
{
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find(kind), name);
    spec.in = in;
    spec.inputs = inputs;
    spec.share = share;
    if (first)
        spec.attr[0] = first;
    if (!strcmp(kind, "embedding"))
        spec.attr[1] = 12;
    ss_op ignored;
    return ss_model_add(m, &spec, op ? op : &ignored, &err);
}

static ss_status add1(ss_model *m, const char *kind, const char *name, const char *share,
                      ss_tensor in, int64_t first, ss_op *op)
{
    return add(m, kind, name, share, 1, &in, first, op);
}

static void names_are_refused_where_they_cannot_be_told_apart(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5), y;
    ss_shape s = {.dtype = SS_F32, .rank = 1, .extent = {3}};
    char longest[300];
    memset(longest, 'a', sizeof longest);
    longest[299] = 0;
    CHECK(ss_model_input(m, "x", &s, &y, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "input x: the model has a tensor of that name");
    CHECK(ss_model_input(m, "", &s, &y, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "an input needs a name");
    CHECK(add1(m, "relu", longest, NULL, x, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "at most 200 bytes");
    CHECK(add1(m, "relu", "a\nb", NULL, x, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "no control characters");
    CHECK(add1(m, "relu", "x", NULL, x, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "x (relu): the model has a tensor \"x\" already");
    CHECK_OK(add1(m, "relu", "r", NULL, x, 0, NULL));
    CHECK(add1(m, "gelu", "r", NULL, x, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "r (gelu): the model has an operator of that name");
    y = input(m, "cell.hy", SS_F32, 3, 7, 5);
    CHECK(add1(m, "lstm", "cell", NULL, x, 4, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "tensor \"cell.hy\" already");
    CHECK(m->ops == 1 && m->tensors == 3);
    CHECK_OK(ss_model_check(m, &err));
    ss_model_free(m);
}

static void inputs_are_refused_where_they_make_no_sense(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5), none = {0}, later = {9}, out;
    ss_tensor many[SS_MAX_INPUTS + 1];
    for (int i = 0; i <= SS_MAX_INPUTS; i++)
        many[i] = x;
    CHECK(add1(m, "relu", "r", NULL, none, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "r (relu): input 1 is tensor 0: the model has 1 to 1");
    CHECK(add1(m, "relu", "r", NULL, later, 0, NULL) == SS_EINVAL);
    CHECK(add(m, "add", "a", NULL, SS_MAX_INPUTS + 1, many, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "65 inputs were given: at most 64");
    CHECK_OK(add(m, "add", "a", NULL, SS_MAX_INPUTS, many, 0, NULL));
    CHECK(add(m, "add", "b", NULL, 0, NULL, 0, NULL) == SS_EINVAL);
    CHECK(add1(m, "linear", "l", NULL, x, 0, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "l (linear): out is missing: output features");
    ss_shape zero = {.dtype = SS_F32, .rank = 2, .extent = {3, 0}};
    CHECK(ss_model_input(m, "z", &zero, &out, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "input z: it would be 3x0");
    CHECK_OK(ss_model_check(m, &err));
    ss_model_free(m);
}

static void a_model_larger_than_2_to_the_62_bytes_is_refused(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 1, INT64_C(1) << 58, 0), y;
    CHECK_OK(add1(m, "relu", "a", NULL, x, 0, NULL));
    CHECK_OK(add1(m, "relu", "b", NULL, x, 0, NULL));
    CHECK_OK(add1(m, "relu", "c", NULL, x, 0, NULL));
    CHECK(add1(m, "relu", "d", NULL, x, 0, NULL) == SS_ERANGE);
    CHECK_TEXT(err.text, "d (relu): the model would be larger than 2^62 bytes");
    ss_shape s = {.dtype = SS_F32, .rank = 1, .extent = {1}};
    CHECK(ss_model_input(m, "y", &s, &y, &err) == SS_ERANGE);
    ss_model_free(m);
}

static void a_small_model_adds_up(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 7, 11, 0);
    ss_op a, b, c;
    CHECK_OK(add1(m, "linear", "a", NULL, x, 13, &a));
    CHECK_OK(add1(m, "relu", "b", NULL, m->op[a.i].out[0], 0, &b));
    CHECK_OK(add1(m, "linear", "c", NULL, m->op[b.i].out[0], 5, &c));
    CHECK_OK(ss_model_check(m, &err));
    ss_model_totals t = ss_model_total(m);
    CHECK(t.parameters == 11 * 13 + 13 + 13 * 5 + 5 && t.parameter_bytes == 4 * t.parameters);
    CHECK(t.macs == 7 * (11 * 13 + 13 * 5) && t.operators == 3);
    CHECK(t.forward_flops == 2 * t.macs + 7 * (13 + 13 + 5));
    CHECK(t.output_elements == 7 * (13 + 13 + 5) && ss_model_batch(m) == 7);
    CHECK(!m->op[a.i].input_gradient && m->op[b.i].input_gradient, "x needs no gradient");
    CHECK(!strcmp(m->weight[3].name, "c.w") && !strcmp(m->tensor[2].name, "a"));
    ss_model_free(m);
}

static void an_empty_model_is_a_model(void)
{
    ss_model *m = new_model();
    CHECK_OK(ss_model_check(m, &err));
    ss_model_totals t = ss_model_total(m);
    CHECK(!t.operators && !t.parameters && !ss_model_batch(m));
    ss_model_free(m);
    ss_model_free(NULL);
}

static void operators_with_a_label_share_their_weights(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5);
    ss_op a, b, c, d;
    CHECK_OK(add1(m, "linear", "a", "pair", x, 5, &a));
    CHECK_OK(add1(m, "linear", "b", NULL, m->op[a.i].out[0], 5, &b));
    CHECK_OK(add1(m, "linear", "c", "pair", m->op[b.i].out[0], 5, &c));
    CHECK_OK(add1(m, "relu", "d", "pair", m->op[c.i].out[0], 0, &d));
    CHECK(m->op[a.i].group == m->op[c.i].group && m->op[b.i].group != m->op[a.i].group);
    CHECK(m->op[c.i].weight[1].i == m->op[a.i].weight[1].i && m->weights == 4 && m->groups == 2);
    CHECK(!m->op[d.i].group && !m->op[d.i].share, "it has no weights");
    CHECK(!strcmp(m->weight[m->op[c.i].weight[0].i].name, "pair.w"));
    CHECK(ss_model_total(m).parameters == 2 * 30);
    CHECK_OK(ss_model_check(m, &err));
    ss_model_free(m);
}

static void unlike_weights_are_not_shared(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5);
    CHECK_OK(add1(m, "linear", "a", "one", x, 5, NULL));
    CHECK(add1(m, "linear", "b", "one", x, 6, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text,
               "b (linear): it would share \"one\" with a, whose w is f32 5x5, and its own "
               "is f32 6x5");
    CHECK(add1(m, "lstm", "c", "one", x, 6, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "with a, which has 2 weights, and it has 1");
    CHECK(add1(m, "linear", "d", "", x, 5, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "d (linear): share needs a name");
    CHECK_OK(ss_model_check(m, &err));
    ss_model_free(m);
}

static void a_label_that_is_another_operators_name_is_refused(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5);
    CHECK_OK(add1(m, "linear", "enc1", NULL, x, 5, NULL));
    CHECK(add1(m, "linear", "enc2", "enc1", x, 5, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "give that one share = \"enc1\" too");
    CHECK_OK(add1(m, "linear", "dec1", "dec1", x, 5, NULL));
    CHECK_OK(add1(m, "linear", "dec2", "dec1", x, 5, NULL));
    CHECK_OK(add1(m, "linear", "all1", "all", x, 5, NULL));
    CHECK(add1(m, "linear", "all", NULL, x, 5, NULL) == SS_EINVAL);
    CHECK_TEXT(err.text, "its name is the share label of all1");
    CHECK_OK(add1(m, "relu", "all", NULL, x, 0, NULL));
    CHECK_OK(ss_model_check(m, &err));
    ss_model_free(m);
}

static void an_embedding_ties_with_the_classes_it_feeds(void)
{
    ss_model *m = new_model();
    ss_tensor words = input(m, "words", SS_I32, 3, 7, 0);
    ss_op embed;
    CHECK_OK(add1(m, "embedding", "embed", "vocabulary", words, 100, &embed));
    CHECK(!m->op[embed.i].input_gradient);
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find("linear_softmax"), "classes");
    spec.in = &m->op[embed.i].out[0];
    spec.inputs = 1;
    spec.share = "vocabulary";
    spec.attr[0] = 100;
    spec.attr[1] = 0; /* no bias */
    ss_op classes;
    CHECK_OK(ss_model_add(m, &spec, &classes, &err));
    CHECK(ss_model_total(m).parameters == 1200 && m->op[classes.i].group == m->op[embed.i].group);
    ss_model_free(m);
}

static void readers_are_listed_in_the_order_of_operators(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5), in[3];
    ss_op a, b;
    in[0] = in[2] = x;
    CHECK_OK(add1(m, "relu", "r", NULL, x, 0, &a));
    in[1] = m->op[a.i].out[0];
    CHECK_OK(add(m, "add", "s", NULL, 3, in, 0, &b));
    static const uint32_t op[] = {1, 2, 2}, slot[] = {0, 0, 2};
    uint32_t n = 0;
    for (uint32_t u = m->tensor[x.i].first_use; u; u = m->use[u].next, n++)
        CHECK(n < 3 && m->use[u].op.i == op[n] && m->use[u].input == slot[n], "reader %u", n);
    CHECK(n == 3 && !m->tensor[m->op[b.i].out[0].i].first_use);
    ss_model_free(m);
}

static void states_of_an_lstm_are_tensors_of_their_own(void)
{
    ss_model *m = new_model();
    ss_tensor x = input(m, "x", SS_F32, 3, 7, 5), in[3] = {x};
    ss_op a, b;
    CHECK_OK(add1(m, "lstm", "a", "lstm", x, 6, &a));
    in[1] = m->op[a.i].out[1];
    in[2] = m->op[a.i].out[2];
    CHECK_OK(add(m, "lstm", "b", "lstm", 3, in, 6, &b));
    CHECK(!strcmp(m->tensor[in[1].i].name, "a.hy") && !strcmp(m->tensor[in[2].i].name, "a.cy"));
    CHECK(m->tensor[in[2].i].producer.i == a.i && m->tensor[in[2].i].slot == 2);
    CHECK(m->weights == 1 && m->op[b.i].input_gradient && !m->op[a.i].input_gradient);
    CHECK(ss_model_total(m).output_elements == 2 * 3 * 7 * 6, "of output 0 alone");
    ss_model_free(m);
}

/* Builds the same model but for one thing, by number. */
static uint64_t hash_of_variant(int change)
{
    ss_model *m;
    ss_op a, b;
    if (ss_model_new(change == 1 ? "other" : "model", &m, &err))
        exit(1);
    ss_tensor x = input(m, change == 2 ? "y" : "x", SS_F32, change == 3 ? 4 : 3, 7, 5);
    ss_tensor z = input(m, "z", change == 4 ? SS_TF32 : SS_F32, 3, 7, 5);
    add1(m, change == 5 ? "tanh" : "relu", change == 6 ? "q" : "r", NULL, change == 7 ? z : x, 0,
         &a);
    ss_op_spec spec = ss_op_spec_start(ss_op_kind_find("linear"), "l");
    spec.in = &m->op[a.i].out[0];
    spec.inputs = 1;
    spec.attr[0] = change == 8 ? 6 : 5;
    spec.attr[1] = change != 9;
    spec.layer = change == 10 ? 1 : 0;
    spec.share = "w";
    if (ss_model_add(m, &spec, &b, &err))
        exit(1);
    spec.name = "k";
    spec.share = change == 11 ? NULL : "w";
    if (ss_model_add(m, &spec, &b, &err))
        exit(1);
    m->optimizer_bytes_per_weight_byte = change == 12 ? 2 : 0;
    uint64_t h = ss_model_hash(m);
    ss_model_free(m);
    return h;
}

static void the_hash_covers_all_that_is_read(void)
{
    uint64_t h[13];
    for (int i = 0; i < 13; i++) {
        h[i] = hash_of_variant(i);
        CHECK(h[i] == hash_of_variant(i), "variant %d twice", i);
        for (int k = 0; k < i; k++)
            CHECK(h[i] != h[k], "variants %d and %d", k, i);
    }
}

static ss_status build(ss_model **out)
{
    ss_status s = ss_model_new("short", out, &err);
    if (s)
        return s;
    ss_model *m = *out;
    ss_shape shape = {.dtype = SS_F32, .rank = 3, .extent = {3, 7, 5}};
    ss_tensor x, in[3];
    ss_op a = {0};
    s = ss_model_input(m, "x", &shape, &x, &err);
    for (int i = 0; i < 12 && !s; i++) {
        char name[16];
        snprintf(name, sizeof name, "step%d", i);
        in[0] = x;
        if (i) {
            in[1] = m->op[a.i].out[1];
            in[2] = m->op[a.i].out[2];
        }
        s = add(m, "lstm", name, i % 2 ? "odd" : "even", i ? 3 : 1, in, 6, &a);
    }
    return s;
}

/* Whichever request fails: one message, a model as it was before the call, nothing left behind. */
static void a_failed_allocation_changes_nothing(void)
{
    size_t blocks = ss_mem_blocks();
    int failures = 0;
    for (int64_t n = 0;; n++, failures++) {
        ss_model *m = NULL;
        ss_mem_fail_after(n);
        ss_status s = build(&m);
        ss_mem_fail_never();
        if (m)
            CHECK(ss_model_check(m, &err) == SS_OK, "request %d: %s", (int)n, err.text);
        if (m && s) { /* it can go on from there */
            ss_tensor x = {1};
            if (m->tensors)
                CHECK_OK(add1(m, "relu", "after", NULL, x, 0, NULL));
            CHECK(ss_model_check(m, &err) == SS_OK, "request %d, after: %s", (int)n, err.text);
        }
        ss_model_free(m);
        CHECK(ss_mem_blocks() == blocks, "request %d left %d blocks", (int)n,
              (int)(ss_mem_blocks() - blocks));
        if (!s)
            break;
        CHECK(s == SS_ENOMEM, "request %d: %s", (int)n, err.text);
    }
    CHECK(failures > 40, "%d requests", failures);
}

int main(void)
{
    RUN(names_are_refused_where_they_cannot_be_told_apart);
    RUN(inputs_are_refused_where_they_make_no_sense);
    RUN(a_model_larger_than_2_to_the_62_bytes_is_refused);
    RUN(a_small_model_adds_up);
    RUN(an_empty_model_is_a_model);
    RUN(operators_with_a_label_share_their_weights);
    RUN(unlike_weights_are_not_shared);
    RUN(a_label_that_is_another_operators_name_is_refused);
    RUN(an_embedding_ties_with_the_classes_it_feeds);
    RUN(readers_are_listed_in_the_order_of_operators);
    RUN(states_of_an_lstm_are_tensors_of_their_own);
    RUN(the_hash_covers_all_that_is_read);
    RUN(a_failed_allocation_changes_nothing);
    return DONE();
}
