#include "validation/torch/map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/cost_sources.h"
#include "validation/torch/events.h"

enum { ARGUMENTS = 24, ELEMENTS = 96, RANK = 6 };

typedef struct extents {
    int64_t at[RANK];
    uint32_t rank; /* 0: no tensor, or a number */
} extents;

typedef struct argument {
    extents is;
    bool list; /* of tensors */
    uint32_t first, n;
} argument;

typedef struct call {
    const char *name, *types, *concrete;
    argument arg[ARGUMENTS];
    uint32_t args;
    extents element[ELEMENTS]; /* of lists */
    uint32_t elements;
    char value[SS_TORCH_ITEM];
    ss_torch_key *key;
} call;

/* ---- reading ------------------------------------------------------------------------------------------------- */

uint32_t ss_torch_items(const char *list)
{
    uint32_t n = *list != 0;
    for (; *list; list++)
        n += *list == SS_TORCH_NEXT;
    return n;
}

const char *ss_torch_item(const char *list, uint32_t i, char *buffer)
{
    while (i && (list = strchr(list, SS_TORCH_NEXT)))
        list++, i--;
    size_t n = 0;
    for (; list && list[n] && list[n] != SS_TORCH_NEXT && n < SS_TORCH_ITEM - 1; n++)
        buffer[n] = list[n];
    buffer[n] = 0;
    return buffer;
}

/* "[64,1024]"; false: it is no list of numbers, or too long. */
static bool read_extents(const char **at, extents *out)
{
    out->rank = 0;
    if (*(*at)++ != '[')
        return false;
    while (**at != ']') {
        char *end;
        long long n = isdigit((unsigned char)**at) ? strtoll(*at, &end, 10) : -1;
        if (n < 0 || n > INT64_C(1) << 40 || out->rank == RANK || (*end != ',' && *end != ']'))
            return false;
        out->at[out->rank++] = n;
        *at = end + (*end == ',');
    }
    (*at)++;
    return true;
}

static bool read_argument(call *c, const char **at, argument *a)
{
    *a = (argument){.first = c->elements, .list = (*at)[0] == '[' && (*at)[1] == '['};
    if (!a->list)
        return read_extents(at, &a->is);
    for ((*at)++; **at != ']'; *at += **at == ',') {
        if (c->elements == ELEMENTS || !read_extents(at, &c->element[c->elements]))
            return false;
        c->elements++;
        a->n++;
    }
    (*at)++;
    return true;
}

static bool read_dims(call *c, const char *dims)
{
    if (*dims++ != '[')
        return false;
    while (*dims && *dims != ']') {
        if (c->args == ARGUMENTS || !read_argument(c, &dims, &c->arg[c->args]))
            return false;
        c->args++;
        if (*dims != ',' && *dims != ']')
            return false;
        dims += *dims == ',';
    }
    return *dims == ']';
}

int64_t ss_torch_extent(const char *dims, uint32_t i, uint32_t d)
{
    call c = {0};
    return read_dims(&c, dims) && i < c.args && d < c.arg[i].is.rank ? c.arg[i].is.at[d] : 0;
}

static const char *value(call *c, uint32_t i)
{
    return ss_torch_item(c->concrete, i, c->value);
}

/* "[2, 1]" or "2" of argument i as n numbers, one for all; false: it is not there. */
static bool numbers(call *c, uint32_t i, int64_t *out, uint32_t n)
{
    const char *at = value(c, i);
    uint32_t found = 0;
    at += *at == '[';
    while (found < n) {
        char *end;
        long long x = strtoll(at, &end, 10);
        if (end == at || x > INT32_MAX || x < INT32_MIN)
            break;
        out[found++] = x;
        at = end + strspn(end, ", ");
    }
    for (uint32_t k = found; found == 1 && k < n; k++)
        out[k] = out[0];
    return found == n || found == 1;
}

static int64_t number(call *c, uint32_t i, int64_t preset)
{
    int64_t x;
    return numbers(c, i, &x, 1) ? x : preset;
}

static bool is_true(call *c, uint32_t i)
{
    return !strcmp(value(c, i), "True");
}

static const extents *tensor(const call *c, uint32_t i)
{
    static const extents none;
    return i < c->args ? &c->arg[i].is : &none;
}

static bool there(const call *c, uint32_t i)
{
    return tensor(c, i)->rank > 0;
}

static bool same(const extents *a, const extents *b)
{
    return a->rank == b->rank && !memcmp(a->at, b->at, a->rank * sizeof a->at[0]);
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static bool none(call *c, const char *why)
{
    c->key->why = why;
    return false;
}

static const char not_recorded[] =
    "the values of its arguments are not in the trace (Concrete Inputs)";

static void add_extents(ss_text *t, const char *before, const extents *e)
{
    ss_text_add(t, "%s", before);
    for (uint32_t d = 0; d < e->rank; d++)
        ss_text_add(t, d ? "x%lld" : "%lld", (long long)e->at[d]);
}

/* Channels last, where PyTorch has those of a sequence second. */
static extents channels_last(const extents *e)
{
    extents x = *e;
    if (e->rank == 3) {
        x.at[1] = e->at[2];
        x.at[2] = e->at[1];
    }
    return x;
}

static bool is(call *c, const char *kind, const extents *out, const extents *in)
{
    c->key->kind = ss_op_kind_find(kind);
    add_extents(&c->key->shape, "", out);
    add_extents(&c->key->shape, " < ", in);
    return true;
}

/* The element type of argument i, or the first of a list's. */
static bool type_of(call *c, uint32_t i)
{
    static const struct {
        const char *torch;
        ss_dtype ours;
    } known[] = {
        {"float", SS_F32}, {"double", SS_F64}, {"c10::Half", SS_F16}, {"c10::BFloat16", SS_BF16}};
    char text[SS_TORCH_ITEM];
    ss_torch_item(c->types, i, text);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (!strcmp(text, known[k].torch)) {
            c->key->dtype = known[k].ours;
            return true;
        }
    return none(c, "it computes in no type of ours");
}

static const char *yes(bool is)
{
    return is ? "true" : "false";
}

/* ---- products ------------------------------------------------------------------------------------------------ */

static bool product(call *c, const extents *x, int64_t inner, int64_t out, bool bias)
{
    extents y = *x;
    if (x->rank < 2 || x->rank > SS_MAX_DIMS || x->at[x->rank - 1] != inner)
        return none(c, "a product of other shapes than rows with a matrix");
    y.at[x->rank - 1] = out;
    ss_text_add(&c->key->attributes, "bias=%s", yes(bias));
    return is(c, "linear", &y, x);
}

static bool linear(call *c)
{
    const extents *w = tensor(c, 1);
    return type_of(c, 0) && w->rank == 2
               ? product(c, tensor(c, 0), w->at[1], w->at[0], there(c, 2))
               : none(c, c->key->why ? c->key->why : "its weights are no matrix");
}

static bool addmm(call *c)
{
    const extents *w = tensor(c, 2);
    if (w->rank != 2 || tensor(c, 0)->rank != 1)
        return none(c, "a product that something else than a bias is added to");
    return type_of(c, 1) && product(c, tensor(c, 1), w->at[0], w->at[1], true);
}

static bool matmul(call *c)
{
    const extents *w = tensor(c, 1);
    if (w->rank != 2)
        return none(c, "a product of two that both have samples");
    return type_of(c, 0) && product(c, tensor(c, 0), w->at[0], w->at[1], false);
}

static bool embedding(call *c)
{
    const extents *w = tensor(c, 0), *index = tensor(c, 1);
    if (!type_of(c, 0))
        return false;
    if (w->rank != 2 || index->rank < 1 || index->rank > 2)
        return none(c, "an embedding of other indices than n or n x l");
    extents y = *index;
    y.at[y.rank++] = w->at[1];
    ss_text_add(&c->key->attributes, "vocab=%lld dtype=%s", (long long)w->at[0],
                ss_dtype_name(c->key->dtype));
    return is(c, "embedding", &y, index);
}

static bool lstm(call *c)
{
    const extents *x = tensor(c, 0);
    const argument *weights = c->args > 2 ? &c->arg[2] : NULL,
                   *states = c->args > 1 ? &c->arg[1] : NULL;
    if (!*value(c, 8))
        return none(c, not_recorded);
    if (!type_of(c, 0))
        return false;
    if (!weights || x->rank != 3 || weights->n < 2 || !states->n || number(c, 4, 0) != 1 ||
        is_true(c, 7))
        return none(c, "an lstm of several layers, in both directions or projected");
    extents in = *x, y, state;
    if (!is_true(c, 8)) { /* l x n x c */
        in.at[0] = x->at[1];
        in.at[1] = x->at[0];
    }
    int64_t hidden = c->element[weights->first].at[0] / 4;
    y = state = in;
    y.at[2] = state.at[2] = hidden;
    state.at[1] = 1;
    ss_text_add(&c->key->attributes, "bias=%s state_steps=1", yes(is_true(c, 3)));
    is(c, "lstm", &y, &in);
    add_extents(&c->key->shape, ", ", &state);
    add_extents(&c->key->shape, ", ", &state);
    return true;
}

static bool attention(call *c)
{
    const extents *q = tensor(c, 0), *k = tensor(c, 1);
    if (!*value(c, 5))
        return none(c, not_recorded);
    if (!type_of(c, 0))
        return false;
    if (there(c, 3))
        return none(c, "attention under a mask of its own");
    if (q->rank != 4 || k->rank != 4 || !same(k, tensor(c, 2)) || k->at[0] != q->at[0] ||
        k->at[1] != q->at[1] || k->at[3] != q->at[3])
        return none(c, "attention whose queries, keys and values differ in heads or sizes");
    extents y = {.rank = 3, .at = {q->at[0], q->at[2], q->at[1] * q->at[3]}}, in = y;
    bool packed = q->at[2] == k->at[2];
    in.at[2] *= packed ? 3 : 1;
    ss_text_add(&c->key->attributes, "heads=%lld causal=%s fused=true", (long long)q->at[1],
                yes(is_true(c, 5)));
    is(c, "multihead_attention", &y, &in);
    if (packed)
        return true;
    in.at[1] = k->at[2];
    in.at[2] = 2 * y.at[2];
    add_extents(&c->key->shape, ", ", &in);
    return true;
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

typedef struct window {
    int64_t kernel[2], stride[2], padding[2];
} window;

static void add_window(call *c, const window *w)
{
    ss_text_add(
        &c->key->attributes,
        "kernel_h=%lld kernel_w=%lld stride_h=%lld stride_w=%lld padding_h=%lld padding_w=%lld",
        (long long)w->kernel[0], (long long)w->kernel[1], (long long)w->stride[0],
        (long long)w->stride[1], (long long)w->padding[0], (long long)w->padding[1]);
}

/* Rows and columns that a window makes of x; false: none. */
static bool slide(const window *w, const extents *x, bool up, extents *y)
{
    *y = *x;
    for (int i = 0; i < 2; i++) {
        int64_t room = x->at[2 + i] + 2 * w->padding[i] - w->kernel[i];
        if (w->stride[i] < 1 || w->kernel[i] < 1 || w->padding[i] < 0 || room < 0 ||
            (up && room % w->stride[i]))
            return false;
        y->at[2 + i] = room / w->stride[i] + 1;
    }
    return true;
}

/* A stride of [] is the kernel. */
static bool pool(call *c, const char *type, uint32_t ceiling)
{
    const extents *x = tensor(c, 0);
    extents y;
    window w = {.padding = {0, 0}};
    int64_t dilation[2] = {1, 1};
    if (x->rank != 4 || !numbers(c, 1, w.kernel, 2))
        return none(c,
                    x->rank == 4 ? not_recorded : "pooling of something else than n x c x h x w");
    if (!numbers(c, 2, w.stride, 2))
        memcpy(w.stride, w.kernel, sizeof w.stride);
    numbers(c, 3, w.padding, 2);
    if (ceiling == 5)
        numbers(c, 4, dilation, 2);
    if (!type_of(c, 0))
        return false;
    if (dilation[0] != 1 || dilation[1] != 1 || !slide(&w, x, is_true(c, ceiling), &y))
        return none(c, "pooling with dilation, or of windows that go over the edge (ceil_mode)");
    ss_text_add(&c->key->attributes, "type=%s ", type);
    add_window(c, &w);
    return is(c, "pool2d", &y, x);
}

static bool max_pool2d(call *c)
{
    return pool(c, "max", 5);
}

static bool avg_pool2d(call *c)
{
    return pool(c, "avg", 4);
}

static bool adaptive_pool(call *c)
{
    const extents *x = tensor(c, 0);
    int64_t out[2];
    window w = {.padding = {0, 0}};
    extents y;
    if (x->rank != 4 || !numbers(c, 1, out, 2))
        return none(c,
                    x->rank == 4 ? not_recorded : "pooling of something else than n x c x h x w");
    for (int i = 0; i < 2; i++) {
        if (out[i] < 1 || x->at[2 + i] % out[i])
            return none(c, "pooling into windows of several sizes");
        w.kernel[i] = w.stride[i] = x->at[2 + i] / out[i];
    }
    if (!type_of(c, 0) || !slide(&w, x, false, &y))
        return false;
    ss_text_add(&c->key->attributes, "type=avg ");
    add_window(c, &w);
    return is(c, "pool2d", &y, x);
}

static bool transposed(call *c, window *w, uint32_t output_padding, uint32_t dilation,
                       uint32_t groups)
{
    const extents *x = tensor(c, 0), *k = tensor(c, 1);
    int64_t more[2] = {0, 0}, apart[2] = {1, 1};
    extents y = *x;
    numbers(c, output_padding, more, 2);
    numbers(c, dilation, apart, 2);
    if (more[0] || more[1] || apart[0] != 1 || apart[1] != 1 || number(c, groups, 1) != 1)
        return none(c, "a transposed convolution with dilation, groups or padding of its output");
    y.at[1] = k->at[1];
    for (int i = 0; i < 2; i++)
        y.at[2 + i] = (x->at[2 + i] - 1) * w->stride[i] - 2 * w->padding[i] + w->kernel[i];
    add_window(c, w);
    ss_text_add(&c->key->attributes, " bias=%s", yes(there(c, 2)));
    return is(c, "conv_transpose2d", &y, x);
}

/* x, weights and bias; stride, padding and dilation of a window. */
static bool convolution(call *c, uint32_t dilation, uint32_t is_transposed, uint32_t output_padding,
                        uint32_t groups, bool up)
{
    const extents *x = tensor(c, 0), *k = tensor(c, 1);
    extents y;
    int64_t apart[2] = {1, 1};
    if (x->rank != 4 || k->rank != 4)
        return none(c, "a convolution of something else than n x c x h x w");
    window w = {.kernel = {k->at[2], k->at[3]}};
    if (!numbers(c, 3, w.stride, 2) || !numbers(c, 4, w.padding, 2))
        return none(c, not_recorded);
    if (!type_of(c, 0))
        return false;
    if (up || (is_transposed && is_true(c, is_transposed)))
        return transposed(c, &w, output_padding, dilation, groups);
    numbers(c, dilation, apart, 2);
    if (apart[0] != 1 || apart[1] != 1 || !slide(&w, x, false, &y))
        return none(c, "a convolution with dilation, or of no output");
    y.at[1] = k->at[0];
    add_window(c, &w);
    ss_text_add(&c->key->attributes, " groups=%lld bias=%s", (long long)number(c, groups, 1),
                yes(there(c, 2)));
    return is(c, "conv2d", &y, x);
}

static bool conv2d(call *c)
{
    return convolution(c, 5, 0, 0, 6, false);
}

static bool convolution_of_any(call *c)
{
    return convolution(c, 5, 6, 7, 8, false);
}

static bool conv_transpose2d(call *c)
{
    return convolution(c, 7, 0, 5, 6, true);
}

static bool upsample(call *c)
{
    const extents *x = tensor(c, 0);
    int64_t out[2];
    extents y = *x;
    if (x->rank != 4 || !numbers(c, 1, out, 2))
        return none(c, x->rank == 4 ? not_recorded
                                    : "upsampling of something else than n x c x h x w");
    for (int i = 0; i < 2; i++) {
        if (out[i] < x->at[2 + i] || out[i] % x->at[2 + i])
            return none(c, "upsampling by no whole number");
        y.at[2 + i] = out[i];
    }
    if (!type_of(c, 0))
        return false;
    ss_text_add(&c->key->attributes, "factor_h=%lld factor_w=%lld", (long long)(out[0] / x->at[2]),
                (long long)(out[1] / x->at[3]));
    return is(c, "upsample2d", &y, x);
}

/* ---- as large as they were ----------------------------------------------------------------------------------- */

static bool like(call *c, const char *kind)
{
    const extents *x = tensor(c, 0);
    if (x->rank < 2 || x->rank > 4)
        return none(c, "of other ranks than 2 to 4");
    return type_of(c, 0) && is(c, kind, x, x);
}

static bool batch_norm(call *c)
{
    extents x = channels_last(tensor(c, 0));
    if (x.rank < 2 || x.rank > 4 || !there(c, 1) || !there(c, 2))
        return none(c,
                    "batch normalisation without scale and shift, or of other ranks than 2 to 4");
    return type_of(c, 0) && is(c, "batch_norm", &x, &x);
}

static bool of_last(call *c, const char *kind, uint32_t weight)
{
    const extents *x = tensor(c, 0), *w = tensor(c, weight);
    if ((x->rank != 2 && x->rank != 3) || w->rank != 1 || w->at[0] != x->at[x->rank - 1])
        return none(c,
                    "normalisation over something else than the last extent, or without a scale");
    return type_of(c, 0) && is(c, kind, x, x);
}

static bool layer_norm(call *c)
{
    ss_text_add(&c->key->attributes, "bias=%s", yes(there(c, 3)));
    return of_last(c, "layer_norm", 2);
}

static bool rms_norm(call *c)
{
    return of_last(c, "rms_norm", 2);
}

static bool relu(call *c)
{
    return like(c, "relu");
}

static bool gelu(call *c)
{
    return like(c, "gelu");
}

static bool tanh_of(call *c)
{
    return like(c, "tanh");
}

static bool sigmoid(call *c)
{
    return like(c, "sigmoid");
}

static bool dropout(call *c)
{
    return like(c, "dropout");
}

static bool of_two(call *c, const char *kind)
{
    const extents *x = tensor(c, 0);
    if (!same(x, tensor(c, 1)))
        return none(c, "of tensors of two shapes");
    if (!like(c, kind))
        return false;
    add_extents(&c->key->shape, ", ", x);
    return true;
}

static bool add(call *c)
{
    return of_two(c, "add");
}

static bool mul(call *c)
{
    return there(c, 1) ? of_two(c, "mul") : like(c, "scale");
}

static bool divide(call *c)
{
    return there(c, 1) ? none(c, "no kind of operator") : like(c, "scale");
}

static bool squared_error(call *c)
{
    return same(tensor(c, 0), tensor(c, 1)) ? like(c, "squared_error")
                                            : none(c, "of tensors of two shapes");
}

static bool softmax(call *c)
{
    const extents *x = tensor(c, 0);
    int64_t rank = x->rank, dim, channel = rank == 4 ? 1 : rank - 1;
    if (!numbers(c, 1, &dim, 1))
        return none(c, not_recorded);
    return (dim < 0 ? dim + rank : dim) == channel
               ? like(c, "softmax")
               : none(c, "softmax over something else than channels");
}

static bool cross_entropy(call *c)
{
    extents x = channels_last(tensor(c, 0));
    if (x.rank < 2 || x.rank > 4)
        return none(c, "of other ranks than 2 to 4");
    return type_of(c, 0) && is(c, "softmax_cross_entropy", &x, &x);
}

/* ---- rearranged ---------------------------------------------------------------------------------------------- */

static bool flatten(call *c)
{
    const extents *x = tensor(c, 0);
    extents y = {.rank = 2, .at = {x->at[0], 1}};
    int64_t end = number(c, 2, 0);
    if (!*value(c, 1))
        return none(c, not_recorded);
    if (x->rank < 3 || x->rank > 4 || number(c, 1, 0) != 1 || (end != -1 && end != x->rank - 1))
        return none(c, "flattening of something else than all but the samples");
    for (uint32_t d = 1; d < x->rank; d++)
        y.at[1] *= x->at[d];
    return type_of(c, 0) && is(c, "flatten", &y, x);
}

/* The type of a list is not in the trace; what is computed in is told by nothing else, so f32 is taken where all is. */
static bool cat(call *c)
{
    (void)c;
    return none(c, "the element type of a list of tensors is not in the trace");
}

/* ---- the list ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    bool (*map)(call *c);
} rules[] = {
    {"aten::linear", linear},
    {"aten::addmm", addmm},
    {"aten::mm", matmul},
    {"aten::matmul", matmul},
    {"aten::conv2d", conv2d},
    {"aten::conv_transpose2d", conv_transpose2d},
    {"aten::convolution", convolution_of_any},
    {"aten::_convolution", convolution_of_any},
    {"aten::max_pool2d", max_pool2d},
    {"aten::max_pool2d_with_indices", max_pool2d},
    {"aten::avg_pool2d", avg_pool2d},
    {"aten::adaptive_avg_pool2d", adaptive_pool},
    {"aten::upsample_nearest2d", upsample},
    {"aten::batch_norm", batch_norm},
    {"aten::layer_norm", layer_norm},
    {"aten::rms_norm", rms_norm},
    {"aten::relu", relu},
    {"aten::relu_", relu},
    {"aten::gelu", gelu},
    {"aten::tanh", tanh_of},
    {"aten::tanh_", tanh_of},
    {"aten::sigmoid", sigmoid},
    {"aten::sigmoid_", sigmoid},
    {"aten::dropout", dropout},
    {"aten::dropout_", dropout},
    {"aten::native_dropout", dropout},
    {"aten::add", add},
    {"aten::add_", add},
    {"aten::mul", mul},
    {"aten::mul_", mul},
    {"aten::div", divide},
    {"aten::div_", divide},
    {"aten::cat", cat},
    {"aten::softmax", softmax},
    {"aten::cross_entropy_loss", cross_entropy},
    {"aten::mse_loss", squared_error},
    {"aten::embedding", embedding},
    {"aten::lstm", lstm},
    {"aten::scaled_dot_product_attention", attention},
    {"aten::flatten", flatten},
};

void ss_torch_key_free(ss_torch_key *k)
{
    ss_text_free(&k->attributes);
    ss_text_free(&k->shape);
    *k = (ss_torch_key){0};
}

/* Attributes as ss_cost_key spells them.  What our operators refuse maps onto none of them. */
static ss_status spell(ss_torch_key *k, ss_error *err)
{
    ss_text whole = {0};
    ss_status s = ss_text_status(&k->attributes, err);
    if (!s)
        s = ss_text_status(&k->shape, err);
    if (!s)
        s = ss_cost_attributes(k->kind, ss_text_get(&k->attributes), &whole, err);
    if (s && s != SS_ENOMEM) {
        k->kind = NULL;
        k->why = "its attributes are none of ours";
        s = SS_OK;
    }
    ss_text_free(&k->attributes);
    k->attributes = whole;
    return s;
}

/* Those whose gradient is one of inputs, of weights or of both. */
static bool has_weights(const char *kind)
{
    static const char *const with[] = {"linear",     "conv2d",   "conv_transpose2d", "batch_norm",
                                       "layer_norm", "rms_norm", "embedding",        "lstm"};
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++)
        if (!strcmp(kind, with[i]))
            return true;
    return false;
}

static bool apply(call *c, const char *dims)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!strcmp(c->name, rules[i].name))
            return read_dims(c, dims) ? rules[i].map(c)
                                      : none(c, "its shapes are not in the trace, or too many");
    return none(c, "no kind of operator");
}

ss_status ss_torch_map(const char *name, const char *dims, const char *types, const char *concrete,
                       ss_torch_key *out, ss_error *err)
{
    call c = {.name = name, .types = types, .concrete = concrete, .key = out};
    *out = (ss_torch_key){0};
    if (!apply(&c, dims)) {
        out->kind = NULL;
        return SS_OK;
    }
    out->weights = has_weights(out->kind->name);
    return spell(out, err);
}
