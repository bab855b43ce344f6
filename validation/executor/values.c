#include "validation/executor/values.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "graph/op_kinds.h"
#include "validation/operators/kernel.h"

enum { OF_WEIGHTS = 1, OF_INPUTS, OF_LABELS };

static uint64_t start(uint64_t seed, uint64_t of, uint32_t which)
{
    return ss_hash_u64(ss_hash_u64(ss_hash_u64(SS_HASH_START, seed), of), which);
}

/* From -1 to 1. */
static float uniform(uint64_t h, int64_t place)
{
    return (float)((double)(ss_hash_u64(h, (uint64_t)place) >> 11) * 0x1p-52 - 1);
}

/* The next element of a box, row by row; false after the last. */
static bool step(const ss_box *b, int64_t *at)
{
    for (uint32_t d = b->rank; d-- > 0;) {
        if (++at[d] < b->hi[d])
            return true;
        at[d] = b->lo[d];
    }
    return false;
}

static int64_t place_of(const ss_shape *s, const int64_t *at)
{
    int64_t i = 0;
    for (uint32_t d = 0; d < s->rank; d++)
        i = i * s->extent[d] + at[d];
    return i;
}

void ss_values_weight(const ss_model *m, ss_weight w, uint64_t seed, const ss_box *box, float *out)
{
    const ss_weight_row *row = &m->weight[w.i];
    uint64_t h = start(seed, OF_WEIGHTS, w.i);
    const char *dot = strrchr(row->name, '.'), *name = dot ? dot + 1 : row->name;
    double inputs = (double)ss_shape_elements(&row->shape) / (double)row->shape.extent[0];
    float around = strcmp(name, "scale") ? 0 : 1;
    float wide = row->shape.rank > 1 ? (float)sqrt(3 / inputs) : 0.1F;
    int64_t at[SS_MAX_DIMS];
    memcpy(at, box->lo, sizeof at);
    do
        *out++ = around + wide * uniform(h, place_of(&row->shape, at));
    while (step(box, at));
}

/* How many rows every reader of the tensor has. */
static int64_t rows_of_readers(const ss_model *m, ss_tensor t)
{
    int64_t rows = INT32_MAX;
    for (uint32_t u = m->tensor[t.i].first_use; u; u = m->use[u].next) {
        const ss_op_def *def = m->op[m->use[u].op.i].def;
        if (def->kind != &ss_op_kind_embedding)
            continue;
        int64_t vocab = ss_kernel_attr(def, "vocab");
        rows = vocab < rows ? vocab : rows;
    }
    return rows;
}

static bool is_index(ss_dtype t)
{
    return t == SS_I64 || t == SS_I32 || t == SS_I8;
}

void ss_values_input(const ss_model *m, ss_tensor t, uint64_t seed, const ss_box *box, void *out)
{
    const ss_shape *shape = &m->tensor[t.i].shape;
    uint64_t h = start(seed, OF_INPUTS, t.i), rows = (uint64_t)rows_of_readers(m, t);
    float *number = out;
    int32_t *index = out;
    int64_t at[SS_MAX_DIMS];
    memcpy(at, box->lo, sizeof at);
    do {
        int64_t place = place_of(shape, at);
        if (is_index(shape->dtype))
            *index++ = (int32_t)(ss_hash_u64(h, (uint64_t)place) % rows);
        else
            *number++ = uniform(h, place);
    } while (step(box, at));
}

static bool has_classes(const ss_op_def *def)
{
    return def->kind == &ss_op_kind_softmax_cross_entropy ||
           def->kind == &ss_op_kind_linear_softmax;
}

/* Positions of the part's output: its box with one class. */
static ss_box positions(const ss_op_def *def, const ss_box *main)
{
    ss_box b = *main;
    uint32_t c = ss_op_channel(&def->out[0]);
    b.lo[c] = 0;
    b.hi[c] = 1;
    return b;
}

int64_t ss_values_label_bytes(const ss_model *m, ss_op op, const ss_box *main)
{
    const ss_op_def *def = m->op[op.i].def;
    if (has_classes(def)) {
        ss_box b = positions(def, main);
        return ss_box_elements(&b) * (int64_t)sizeof(int32_t);
    }
    bool labelled = def->kind == &ss_op_kind_squared_error && def->inputs == 1;
    return labelled ? ss_box_elements(main) * (int64_t)sizeof(float) : 0;
}

void ss_values_label(const ss_model *m, ss_op op, uint64_t seed, const ss_box *main, void *out)
{
    const ss_op_def *def = m->op[op.i].def;
    bool classes = has_classes(def);
    ss_box b = classes ? positions(def, main) : *main;
    uint64_t h = start(seed, OF_LABELS, op.i);
    uint64_t n = (uint64_t)def->out[0].extent[ss_op_channel(&def->out[0])];
    int32_t *index = out;
    float *number = out;
    int64_t at[SS_MAX_DIMS];
    memcpy(at, b.lo, sizeof at);
    do {
        int64_t place = place_of(&def->out[0], at);
        if (classes)
            *index++ = (int32_t)(ss_hash_u64(h, (uint64_t)place) % n);
        else
            *number++ = uniform(h, place);
    } while (step(&b, at));
}
