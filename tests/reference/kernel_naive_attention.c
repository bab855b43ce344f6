#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "graph/op_kinds.h"
#include "reference/kernel_naive_inside.h"

static double *room(int64_t n)
{
    double *x = ss_alloc_zeroed((size_t)n, sizeof *x);
    if (!x)
        abort();
    return x;
}

/* Attention to source steps: one decoder step (s, l) at a time. */

typedef struct look {
    int64_t source, hidden;
    double *u, *weight, *context;    /* [hidden], [source], [hidden] */
    double *du, *dweight, *dcontext; /* gradients */
} look;

static look open_look(const naive *n)
{
    look k = {.hidden = n->op->in[0].extent[2]};
    for (uint32_t i = 1; i < n->op->inputs; i++)
        k.source += n->op->in[i].extent[1];
    k.u = room(k.hidden);
    k.du = room(k.hidden);
    k.context = room(k.hidden);
    k.dcontext = room(k.hidden);
    k.weight = room(k.source);
    k.dweight = room(k.source);
    return k;
}

static void close_look(look *k)
{
    ss_free(k->u);
    ss_free(k->du);
    ss_free(k->context);
    ss_free(k->dcontext);
    ss_free(k->weight);
    ss_free(k->dweight);
}

/* Source step j lies in one of the inputs: which, and where its vector begins. */
static int64_t source_at(const naive *n, int64_t s, int64_t j, uint32_t *input)
{
    *input = 1;
    while (j >= n->op->in[*input].extent[1])
        j -= n->op->in[(*input)++].extent[1];
    return AT(&n->in_box[*input], s, j, 0);
}

static void look_from(const naive *n, look *k, int64_t s, int64_t l)
{
    const double *q = n->in[0] + AT(&n->in_box[0], s, l, 0);
    uint32_t input;
    for (int64_t b = 0; b < k->hidden; b++) {
        k->u[b] = k->context[b] = 0;
        for (int64_t a = 0; a < k->hidden; a++)
            k->u[b] += q[a] * n->weight[0][AT(&n->weight_box[0], a, b)];
    }
    for (int64_t j = 0; j < k->source; j++) {
        int64_t h = source_at(n, s, j, &input);
        k->weight[j] = 0;
        for (int64_t b = 0; b < k->hidden; b++)
            k->weight[j] += k->u[b] * n->in[input][h + b];
    }
    naive_probabilities(k->source, 1, k->weight, k->weight);
    for (int64_t j = 0; j < k->source; j++) {
        int64_t h = source_at(n, s, j, &input);
        for (int64_t b = 0; b < k->hidden; b++)
            k->context[b] += k->weight[j] * n->in[input][h + b];
    }
}

static ss_status attention_forward(naive *n, ss_error *err)
{
    (void)err;
    look k = open_look(n);
    for (int64_t s = n->main.lo[0]; s < n->main.hi[0]; s++)
        for (int64_t l = n->main.lo[1]; l < n->main.hi[1]; l++) {
            look_from(n, &k, s, l);
            const double *q = n->in[0] + AT(&n->in_box[0], s, l, 0);
            for (int64_t c = n->main.lo[2]; c < n->main.hi[2]; c++) {
                double z = 0;
                for (int64_t b = 0; b < k.hidden; b++)
                    z += n->weight[1][AT(&n->weight_box[1], c, b)] * k.context[b] +
                         n->weight[1][AT(&n->weight_box[1], c, k.hidden + b)] * q[b];
                n->out[0][AT(&n->main, s, l, c)] = tanh(z);
            }
        }
    close_look(&k);
    return SS_OK;
}

/* From the gradient of the output to that of the context. */
static void combine_back(naive *n, look *k, int64_t s, int64_t l)
{
    int64_t q = AT(&n->in_box[0], s, l, 0);
    for (int64_t b = 0; b < k->hidden; b++)
        k->dcontext[b] = 0;
    for (int64_t c = n->main.lo[2]; c < n->main.hi[2]; c++) {
        int64_t at = AT(&n->main, s, l, c);
        double dz = n->dout[0][at] * (1 - n->out[0][at] * n->out[0][at]);
        for (int64_t b = 0; b < k->hidden; b++) {
            int64_t first = AT(&n->weight_box[1], c, b), second = first + k->hidden;
            n->dweight[1][first] += dz * k->context[b];
            n->dweight[1][second] += dz * n->in[0][q + b];
            k->dcontext[b] += dz * n->weight[1][first];
            n->din[0][q + b] += dz * n->weight[1][second];
        }
    }
}

static void look_back(naive *n, look *k, int64_t s, int64_t l)
{
    int64_t q = AT(&n->in_box[0], s, l, 0);
    uint32_t input;
    for (int64_t j = 0; j < k->source; j++) {
        int64_t h = source_at(n, s, j, &input);
        k->dweight[j] = 0;
        for (int64_t b = 0; b < k->hidden; b++) {
            k->dweight[j] += k->dcontext[b] * n->in[input][h + b];
            n->din[input][h + b] += k->weight[j] * k->dcontext[b];
        }
    }
    naive_probabilities_back(k->source, 1, k->weight, k->dweight, k->dweight);
    for (int64_t b = 0; b < k->hidden; b++) {
        k->du[b] = 0;
        for (int64_t j = 0; j < k->source; j++) {
            int64_t h = source_at(n, s, j, &input);
            k->du[b] += k->dweight[j] * n->in[input][h + b];
            n->din[input][h + b] += k->dweight[j] * k->u[b];
        }
        for (int64_t a = 0; a < k->hidden; a++) {
            int64_t w = AT(&n->weight_box[0], a, b);
            n->dweight[0][w] += k->du[b] * n->in[0][q + a];
            n->din[0][q + a] += k->du[b] * n->weight[0][w];
        }
    }
}

static void attention_backward(naive *n)
{
    look k = open_look(n);
    for (int64_t s = n->main.lo[0]; s < n->main.hi[0]; s++)
        for (int64_t l = n->main.lo[1]; l < n->main.hi[1]; l++) {
            look_from(n, &k, s, l);
            combine_back(n, &k, s, l);
            look_back(n, &k, s, l);
        }
    close_look(&k);
}

const naive_kind naive_attention = {"attention", attention_forward, attention_backward};

/* Attention by heads: one query of one head at a time. */

typedef struct query {
    int64_t size, keys; /* seen */
    double *weight, *dweight;
} query;

enum { Q, K, V };

/* Where a vector of a head begins, and in which input. */
static int64_t vector_at(const naive *n, int64_t size, int64_t s, int64_t l, int64_t head, int of,
                         uint32_t *input)
{
    if (n->op->inputs == 1) {
        *input = 0;
        return AT(&n->in_box[0], s, l, (head * 3 + of) * size);
    }
    *input = of == Q ? 0 : 1;
    return AT(&n->in_box[*input], s, l, of == Q ? head * size : (head * 2 + of - K) * size);
}

static double scale_of(const query *q)
{
    return 1 / sqrt((double)q->size);
}

static void weigh(const naive *n, query *q, int64_t s, int64_t l, int64_t head)
{
    int64_t all = n->op->in[n->op->inputs - 1].extent[1];
    bool causal = ss_kernel_attr(n->op, "causal");
    q->keys = causal ? l + 1 + all - n->op->in[0].extent[1] : all;
    uint32_t of, in;
    int64_t a = vector_at(n, q->size, s, l, head, Q, &of);
    for (int64_t j = 0; j < q->keys; j++) {
        int64_t b = vector_at(n, q->size, s, j, head, K, &in);
        q->weight[j] = 0;
        for (int64_t c = 0; c < q->size; c++)
            q->weight[j] += n->in[of][a + c] * n->in[in][b + c] * scale_of(q);
    }
    naive_probabilities(q->keys, 1, q->weight, q->weight);
}

static void query_forward(naive *n, query *q, int64_t s, int64_t l, int64_t head)
{
    weigh(n, q, s, l, head);
    uint32_t in;
    for (int64_t j = 0; j < q->keys; j++) {
        int64_t b = vector_at(n, q->size, s, j, head, V, &in);
        for (int64_t c = 0; c < q->size; c++)
            n->out[0][AT(&n->main, s, l, head * q->size + c)] += q->weight[j] * n->in[in][b + c];
    }
}

static void query_backward(naive *n, query *q, int64_t s, int64_t l, int64_t head)
{
    weigh(n, q, s, l, head);
    uint32_t in, of;
    const double *dy = n->dout[0] + AT(&n->main, s, l, head * q->size);
    for (int64_t j = 0; j < q->keys; j++) {
        int64_t b = vector_at(n, q->size, s, j, head, V, &in);
        q->dweight[j] = 0;
        for (int64_t c = 0; c < q->size; c++) {
            q->dweight[j] += dy[c] * n->in[in][b + c];
            n->din[in][b + c] += q->weight[j] * dy[c];
        }
    }
    naive_probabilities_back(q->keys, 1, q->weight, q->dweight, q->dweight);
    int64_t a = vector_at(n, q->size, s, l, head, Q, &of);
    for (int64_t j = 0; j < q->keys; j++) {
        int64_t b = vector_at(n, q->size, s, j, head, K, &in);
        for (int64_t c = 0; c < q->size; c++) {
            n->din[of][a + c] += q->dweight[j] * scale_of(q) * n->in[in][b + c];
            n->din[in][b + c] += q->dweight[j] * scale_of(q) * n->in[of][a + c];
        }
    }
}

static void all_queries(naive *n, void (*one)(naive *, query *, int64_t, int64_t, int64_t))
{
    int64_t keys = n->op->in[n->op->inputs - 1].extent[1];
    query q = {n->op->out[0].extent[2] / ss_kernel_attr(n->op, "heads"), 0, room(keys), room(keys)};
    for (int64_t s = n->main.lo[0]; s < n->main.hi[0]; s++)
        for (int64_t l = n->main.lo[1]; l < n->main.hi[1]; l++)
            for (int64_t head = n->main.lo[2] / q.size; head < n->main.hi[2] / q.size; head++)
                one(n, &q, s, l, head);
    ss_free(q.weight);
    ss_free(q.dweight);
}

static ss_status heads_forward(naive *n, ss_error *err)
{
    (void)err;
    all_queries(n, query_forward);
    return SS_OK;
}

static void heads_backward(naive *n)
{
    all_queries(n, query_backward);
}

const naive_kind naive_multihead_attention = {"multihead_attention", heads_forward, heads_backward};
