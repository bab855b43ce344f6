/* record_inputs.c - the model, topology and strategies of a record: what a figure can be traced to.
 *
 * They are written for people and their programs.  soapstone does not read models and topologies
 * back: the script in the manifest makes them again.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "io/record_inside.h"

#define FIELD(row, member, type, units, long_name)                                                 \
    {                                                                                              \
#member, type, offsetof(row, member), units, long_name, NULL, 0, false                     \
    }
#define NUMBER(name, long_name)                                                                    \
    {                                                                                              \
        name, SS_H5_ROW, SS_H5_NO_MEMBER, "1", long_name, NULL, 0, false                           \
    }
#define TABLE(name, group, long_name, field, row)                                                  \
    static const ss_record_table name = {group, long_name, field, sizeof field / sizeof field[0],  \
                                         sizeof(row)}

static ss_status take_rows(ss_arena *a, uint32_t n, size_t bytes_each, void *rows, ss_error *err)
{
    size_t bytes = (size_t)(n ? n : 1) * bytes_each;
    void *at = ss_arena_take(a, bytes);
    if (!at)
        return ss_fail_memory(err, "a table of a record", bytes);
    memset(at, 0, bytes);
    memcpy(rows, &at, sizeof at);
    return SS_OK;
}

/* "64x3x224x224" in the arena; NULL: no memory. */
static const char *keep(ss_arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *at = ss_arena_take(a, n);
    return at ? memcpy(at, text, n) : NULL;
}

static const char *keep_shape(ss_arena *a, const ss_shape *s)
{
    char text[160];
    return keep(a, ss_shape_text(s, text, sizeof text));
}

/* --------------------------------------------------------------------------------------- model */

typedef struct operator_row {
    const char *name, *kind, *attributes, *dtype, *shape, *dimensions, *share;
    uint32_t group, layer;
    double macs, forward_flops, backward_flops;
    uint8_t input_gradient;
} operator_row;

static const ss_h5_field operator_field[] = {
    NUMBER("operator", "number of the operator"),
    FIELD(operator_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(operator_row, kind, SS_H5_TEXT, NULL, "kind of operator"),
    FIELD(operator_row, attributes, SS_H5_TEXT, NULL, "\"name=value\" of each attribute"),
    FIELD(operator_row, dtype, SS_H5_TEXT, NULL, "element type of its main output"),
    FIELD(operator_row, shape, SS_H5_TEXT, NULL, "extents of its main output"),
    FIELD(operator_row, dimensions, SS_H5_TEXT, NULL, "name and class of each of its dimensions"),
    FIELD(operator_row, share, SS_H5_TEXT, NULL, "label of those that share its weights"),
    FIELD(operator_row, group, SS_H5_U32, "1", "group of weights, see weights/group; 0: none"),
    FIELD(operator_row, layer, SS_H5_U32, "1", "layer, as the user numbered it; 0: none"),
    FIELD(operator_row, macs, SS_H5_F64, "1", "multiply-accumulates, forward"),
    FIELD(operator_row, forward_flops, SS_H5_F64, "FLOP", "floating-point operations, forward"),
    FIELD(operator_row, backward_flops, SS_H5_F64, "FLOP", "floating-point operations, backward"),
    FIELD(operator_row, input_gradient, SS_H5_BOOL, NULL, "backward gives a gradient of its input"),
};
TABLE(operators, "operators", "operators of one training step, in their order", operator_field,
      operator_row);

typedef struct tensor_row {
    const char *name, *dtype, *shape;
    int64_t elements, bytes;
    uint32_t producer, slot;
} tensor_row;

static const ss_h5_field tensor_field[] = {
    NUMBER("tensor", "number of the tensor"),
    FIELD(tensor_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(tensor_row, dtype, SS_H5_TEXT, NULL, "element type"),
    FIELD(tensor_row, shape, SS_H5_TEXT, NULL, "extents"),
    FIELD(tensor_row, elements, SS_H5_I64, "1", "elements"),
    FIELD(tensor_row, bytes, SS_H5_I64, "B", "size"),
    FIELD(tensor_row, producer, SS_H5_U32, "1", "operator that makes it; 0: an input"),
    FIELD(tensor_row, slot, SS_H5_U32, "1", "which of the operator's outputs, from 0"),
};
TABLE(tensors, "tensors", "inputs of the model and outputs of its operators", tensor_field,
      tensor_row);

typedef struct weight_row {
    const char *name, *dtype, *shape;
    int64_t elements, bytes;
    uint32_t group;
} weight_row;

static const ss_h5_field weight_field[] = {
    NUMBER("weight", "number of the weight"),
    FIELD(weight_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(weight_row, dtype, SS_H5_TEXT, NULL, "element type"),
    FIELD(weight_row, shape, SS_H5_TEXT, NULL, "extents"),
    FIELD(weight_row, elements, SS_H5_I64, "1", "elements: parameters"),
    FIELD(weight_row, bytes, SS_H5_I64, "B", "size"),
    FIELD(weight_row, group, SS_H5_U32, "1", "group of operators that share it"),
};
TABLE(weights, "weights", "parameter tensors, shared ones once", weight_field, weight_row);

typedef struct use_row {
    uint32_t tensor, from, to, input;
} use_row;

static const ss_h5_field use_field[] = {
    FIELD(use_row, tensor, SS_H5_U32, "1", "tensor that is read"),
    FIELD(use_row, from, SS_H5_U32, "1", "operator that makes it; 0: an input of the model"),
    FIELD(use_row, to, SS_H5_U32, "1", "operator that reads it"),
    FIELD(use_row, input, SS_H5_U32, "1", "which of the reader's inputs, from 0"),
};
TABLE(edges, "edges", "which operator reads what", use_field, use_row);

static const ss_h5_field total_field[] = {
    FIELD(ss_model_totals, operators, SS_H5_U32, "1", "operators"),
    FIELD(ss_model_totals, parameters, SS_H5_I64, "1", "parameters, shared ones once"),
    FIELD(ss_model_totals, parameter_bytes, SS_H5_I64, "B", "their size"),
    FIELD(ss_model_totals, macs, SS_H5_F64, "1", "multiply-accumulates, forward"),
    FIELD(ss_model_totals, forward_flops, SS_H5_F64, "FLOP", "floating-point operations, forward"),
    FIELD(ss_model_totals, output_elements, SS_H5_I64, "1", "elements of all main outputs"),
};

static void add_attribute(const ss_attr_def *a, int64_t value, ss_text *out)
{
    char word[SS_ATTR_TEXT];
    ss_text_add(out, "%s%s=%s", out->n ? " " : "", a->name,
                ss_attr_text(a, value, word, sizeof word));
}

static ss_status describe_operator(const ss_op_row *op, operator_row *row, ss_arena *a,
                                   ss_text *text, ss_error *err)
{
    const ss_op_def *def = op->def;
    ss_text_clear(text);
    for (uint32_t i = 0; i < ss_op_kind_attrs(def->kind); i++)
        add_attribute(&def->kind->attr[i], def->attr[i], text);
    row->attributes = keep(a, ss_text_get(text));
    ss_status s = ss_text_status(text, err);
    ss_text_clear(text);
    for (uint32_t d = 0; d < def->out[0].rank; d++)
        ss_text_add(text, "%s%s:%c", d ? " " : "", def->dim[d].name, (char)def->dim[d].cls);
    row->dimensions = keep(a, ss_text_get(text));
    row->shape = keep_shape(a, &def->out[0]);
    if (!s)
        s = ss_text_status(text, err);
    if (!s && (!row->attributes || !row->dimensions || !row->shape))
        s = ss_fail_memory(err, "the operators of a record", text->n);
    row->name = op->name;
    row->kind = def->kind->name;
    row->dtype = ss_dtype_name(def->out[0].dtype);
    row->share = op->share;
    row->group = op->group;
    row->layer = op->layer;
    row->input_gradient = op->input_gradient;
    ss_box whole = ss_box_whole(&def->out[0]);
    ss_work forward, backward;
    ss_op_work(def, SS_FORWARD, op->input_gradient, &whole, &forward);
    ss_op_work(def, SS_BACKWARD, op->input_gradient, &whole, &backward);
    row->macs = forward.macs;
    row->forward_flops = forward.flops;
    row->backward_flops = backward.flops;
    return s;
}

static ss_status put_operators(ss_record *r, const ss_model *m, ss_arena *a, ss_error *err)
{
    operator_row *row = NULL;
    ss_text text = {0};
    ss_status s = take_rows(a, m->ops, sizeof *row, &row, err);
    for (uint32_t i = 0; !s && i < m->ops; i++)
        s = describe_operator(&m->op[i + 1], &row[i], a, &text, err);
    ss_text_free(&text);
    return s ? s : ss_record_put(r, "model", &operators, row, m->ops, err);
}

static ss_status put_tensors(ss_record *r, const ss_model *m, ss_arena *a, ss_error *err)
{
    tensor_row *row = NULL;
    ss_status s = take_rows(a, m->tensors, sizeof *row, &row, err);
    for (uint32_t i = 0; !s && i < m->tensors; i++) {
        const ss_tensor_row *t = &m->tensor[i + 1];
        row[i] = (tensor_row){t->name,
                              ss_dtype_name(t->shape.dtype),
                              keep_shape(a, &t->shape),
                              ss_shape_elements(&t->shape),
                              ss_shape_bytes(&t->shape),
                              t->producer.i,
                              t->slot};
        if (!row[i].shape)
            s = ss_fail_memory(err, "the tensors of a record", sizeof *row);
    }
    return s ? s : ss_record_put(r, "model", &tensors, row, m->tensors, err);
}

static ss_status put_weights(ss_record *r, const ss_model *m, ss_arena *a, ss_error *err)
{
    weight_row *row = NULL;
    ss_status s = take_rows(a, m->weights, sizeof *row, &row, err);
    for (uint32_t i = 0; !s && i < m->weights; i++) {
        const ss_weight_row *w = &m->weight[i + 1];
        row[i] = (weight_row){w->name,
                              ss_dtype_name(w->shape.dtype),
                              keep_shape(a, &w->shape),
                              ss_shape_elements(&w->shape),
                              ss_shape_bytes(&w->shape),
                              w->group};
        if (!row[i].shape)
            s = ss_fail_memory(err, "the weights of a record", sizeof *row);
    }
    return s ? s : ss_record_put(r, "model", &weights, row, m->weights, err);
}

static ss_status put_edges(ss_record *r, const ss_model *m, ss_arena *a, ss_error *err)
{
    use_row *row = NULL;
    uint32_t n = 0;
    ss_status s = take_rows(a, m->uses, sizeof *row, &row, err);
    for (uint32_t t = 1; !s && t <= m->tensors; t++)
        for (uint32_t u = m->tensor[t].first_use; u; u = m->use[u].next)
            row[n++] = (use_row){t, m->tensor[t].producer.i, m->use[u].op.i, m->use[u].input};
    return s ? s : ss_record_put(r, "model", &edges, row, n, err);
}

ss_status ss_record_model(ss_record *r, const ss_model *m, ss_error *err)
{
    ss_arena a = {0};
    ss_model_totals totals = ss_model_total(m);
    ss_status s = ss_h5_put_group(r->h5, "model", err);
    if (!s)
        s = ss_h5_put_text(r->h5, "model", "name", m->name, err);
    if (!s)
        s = ss_h5_put_f64(r->h5, "model", "optimizer_bytes_per_weight_byte",
                          m->optimizer_bytes_per_weight_byte, err);
    if (!s && m->no_halo) /* where it is not there, parts read their halo */
        s = ss_h5_put_text(r->h5, "model", "halo", "none", err);
    if (!s)
        s = ss_h5_put_values(r->h5, "model/totals", total_field,
                             sizeof total_field / sizeof total_field[0], &totals, err);
    if (!s)
        s = put_operators(r, m, &a, err);
    if (!s)
        s = put_tensors(r, m, &a, err);
    if (!s)
        s = put_weights(r, m, &a, err);
    if (!s)
        s = put_edges(r, m, &a, err);
    ss_arena_free(&a);
    return s;
}

/* ------------------------------------------------------------------------------------ topology */

typedef struct device_row {
    const char *name, *kind;
    ss_device_def def;
    uint32_t node;
} device_row;

#define DEVICE(name, type, member, units, long_name)                                               \
    {                                                                                              \
        name, type, offsetof(device_row, def.member), units, long_name, NULL, 0, false             \
    }
#define FLOPS(dtype, i)                                                                            \
    DEVICE("flops_" dtype, SS_H5_F64, flop_per_s[i], "FLOP/s",                                     \
           "peak rate in " dtype "; 0: not offered")

_Static_assert(SS_DTYPES == 9, "an element type has no column");

static const ss_h5_field device_field[] = {
    NUMBER("device", "number of the device"),
    FIELD(device_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(device_row, kind, SS_H5_TEXT, NULL, "its kind"),
    FIELD(device_row, node, SS_H5_U32, "1", "its row of nodes"),
    DEVICE("machine", SS_H5_U32, machine, "1", "machine it is in; 0: alone"),
    DEVICE("speed", SS_H5_F64, speed, "1", "1: as its kind; 0.5: takes twice as long"),
    DEVICE("forwards", SS_H5_BOOL, forwards, NULL, "routes of others may pass through it"),
    DEVICE("memory", SS_H5_F64, memory_bytes, "B", "memory; 0: not known"),
    DEVICE("memory_bandwidth", SS_H5_F64, memory_bytes_per_s, "B/s",
           "bandwidth of its memory; 0: not known"),
    FLOPS("f64", SS_F64),
    FLOPS("f32", SS_F32),
    FLOPS("tf32", SS_TF32),
    FLOPS("bf16", SS_BF16),
    FLOPS("f16", SS_F16),
    FLOPS("f8", SS_F8),
    FLOPS("i64", SS_I64),
    FLOPS("i32", SS_I32),
    FLOPS("i8", SS_I8),
};
TABLE(devices, "devices", "what computes", device_field, device_row);

typedef struct node_row {
    const char *name;
    uint32_t device;
    uint8_t forwards, failed, stages;
} node_row;

static const ss_h5_field node_field[] = {
    NUMBER("node", "number of the node"),
    FIELD(node_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(node_row, device, SS_H5_U32, "1", "device; 0: a switch"),
    FIELD(node_row, forwards, SS_H5_BOOL, NULL, "routes may pass through it"),
    FIELD(node_row, failed, SS_H5_BOOL, NULL, "a switch that failed: routes go round it"),
    FIELD(node_row, stages, SS_H5_BOOL, NULL, "stores what passes through it"),
};
TABLE(nodes, "nodes", "devices and switches: what links join", node_field, node_row);

typedef struct link_row {
    const char *name, *kind;
    uint32_t from, to, weight;
    double bandwidth, latency, half_size, load;
    uint8_t half_duplex, failed;
} link_row;

static const ss_h5_field link_field[] = {
    NUMBER("link", "number of the link"),
    FIELD(link_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(link_row, kind, SS_H5_TEXT, NULL, "its kind"),
    FIELD(link_row, from, SS_H5_U32, "1", "node it leaves"),
    FIELD(link_row, to, SS_H5_U32, "1", "node it leads to"),
    FIELD(link_row, bandwidth, SS_H5_F64, "B/s", "bandwidth"),
    FIELD(link_row, latency, SS_H5_F64, "s", "latency"),
    FIELD(link_row, half_duplex, SS_H5_BOOL, NULL, "crossed in either direction"),
    FIELD(link_row, weight, SS_H5_U32, "1", "weight in the search for shortest routes"),
    FIELD(link_row, failed, SS_H5_BOOL, NULL, "it, or a switch at an end, failed"),
    FIELD(link_row, half_size, SS_H5_F64, "B",
          "a message of s bytes gets s / (s + half_size) of the bandwidth; 0: all of it"),
    FIELD(link_row, load, SS_H5_F64, "1", "share of the bandwidth that others take"),
};
TABLE(links, "links", "links, directed unless half_duplex", link_field, link_row);

/* Points of a link's law. */
typedef struct point_row {
    uint32_t link;
    double bytes, efficiency, latency;
} point_row;

static const ss_h5_field efficiency_field[] = {
    FIELD(point_row, link, SS_H5_U32, "1", "link"),
    FIELD(point_row, bytes, SS_H5_F64, "B", "size of a message"),
    FIELD(point_row, efficiency, SS_H5_F64, "1", "share of the bandwidth that it gets"),
};
TABLE(efficiencies, "efficiency", "measured efficiency by size, of links that have such a curve",
      efficiency_field, point_row);

static const ss_h5_field step_field[] = {
    FIELD(point_row, link, SS_H5_U32, "1", "link"),
    FIELD(point_row, bytes, SS_H5_F64, "B", "of messages of at least this size"),
    FIELD(point_row, latency, SS_H5_F64, "s", "latency"),
};
TABLE(latency_steps, "latency_by_size", "latency by size, of links where it differs", step_field,
      point_row);

typedef struct route_row {
    uint32_t route, from, to, hop, link, weight;
    double limit;
} route_row;

static const ss_h5_field route_field[] = {
    FIELD(route_row, route, SS_H5_U32, "1", "number of the route"),
    FIELD(route_row, from, SS_H5_U32, "1", "device it leaves"),
    FIELD(route_row, to, SS_H5_U32, "1", "device it is for"),
    FIELD(route_row, hop, SS_H5_U32, "1", "position of the link, from 0"),
    FIELD(route_row, link, SS_H5_U32, "1", "link that is crossed"),
    FIELD(route_row, weight, SS_H5_U32, "1", "of its messages where links are shared"),
    FIELD(route_row, limit, SS_H5_F64, "B/s", "that one of its messages can have there; 0: none"),
};
TABLE(given_routes, "given_routes",
      "routes that the user gave, a row for each link; others follow the routing", route_field,
      route_row);

static ss_status put_devices(ss_record *r, const ss_topology *t, ss_arena *a, ss_error *err)
{
    device_row *row = NULL;
    ss_status s = take_rows(a, t->devices, sizeof *row, &row, err);
    for (uint32_t i = 0; !s && i < t->devices; i++) {
        const ss_device_row *d = &t->device[i + 1];
        row[i] = (device_row){t->node[d->node.i].name, d->def.kind, d->def, d->node.i};
    }
    return s ? s : ss_record_put(r, "topology", &devices, row, t->devices, err);
}

static ss_status put_nodes(ss_record *r, const ss_topology *t, ss_arena *a, ss_error *err)
{
    node_row *row = NULL;
    ss_status s = take_rows(a, t->nodes, sizeof *row, &row, err);
    for (uint32_t i = 0; !s && i < t->nodes; i++) {
        const ss_node_row *n = &t->node[i + 1];
        row[i] = (node_row){n->name, n->device.i, n->forwards, n->failed, n->stages};
    }
    return s ? s : ss_record_put(r, "topology", &nodes, row, t->nodes, err);
}

static ss_status put_links(ss_record *r, const ss_topology *t, ss_arena *a, ss_error *err)
{
    link_row *row = NULL;
    ss_status s = take_rows(a, t->links, sizeof *row, &row, err);
    for (uint32_t i = 0; !s && i < t->links; i++) {
        const ss_link_row *l = &t->link[i + 1];
        row[i] = (link_row){.name = l->name,
                            .kind = l->def.kind,
                            .from = l->from.i,
                            .to = l->to.i,
                            .weight = l->def.weight,
                            .bandwidth = l->def.bytes_per_s,
                            .latency = l->def.latency_s,
                            .half_size = l->def.law ? l->def.law->half_bytes : 0,
                            .load = l->def.law ? l->def.law->load : 0,
                            .half_duplex = l->def.half_duplex,
                            .failed = !ss_topology_works(t, (ss_link){i + 1})};
    }
    return s ? s : ss_record_put(r, "topology", &links, row, t->links, err);
}

static uint32_t points_of(const ss_link_law *l, bool steps)
{
    return !l ? 0 : steps ? l->steps : l->curve.n;
}

static ss_status put_points(ss_record *r, const ss_topology *t, bool steps, ss_arena *a,
                            ss_error *err)
{
    uint64_t n = 0;
    for (uint32_t l = 1; l <= t->links; l++)
        n += points_of(t->link[l].def.law, steps);
    if (n >= UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "a record holds up to 2^32 points of curves, not %llu",
                       (unsigned long long)n);
    point_row *row = NULL;
    ss_status s = take_rows(a, (uint32_t)n, sizeof *row, &row, err);
    n = 0;
    for (uint32_t l = 1; !s && l <= t->links; l++) {
        const ss_link_law *law = t->link[l].def.law;
        for (uint32_t i = 0; i < points_of(law, steps); i++)
            row[n++] = steps ? (point_row){l, law->step[i].bytes, 0, law->step[i].latency_s}
                             : (point_row){l, law->curve.bytes[i], law->curve.share[i], 0};
    }
    return s ? s
             : ss_record_put(r, "topology", steps ? &latency_steps : &efficiencies, row,
                             (uint32_t)n, err);
}

static ss_status put_routes(ss_record *r, const ss_topology *t, ss_arena *a, ss_error *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->givens; i++)
        n += t->given[i].links;
    route_row *row = NULL;
    ss_status s = take_rows(a, n, sizeof *row, &row, err);
    n = 0;
    for (uint32_t i = 0; !s && i < t->givens; i++)
        for (uint32_t k = 0; k < t->given[i].links; k++)
            row[n++] = (route_row){i + 1,
                                   t->given[i].from.i,
                                   t->given[i].to.i,
                                   k,
                                   t->given[i].link[k].i,
                                   t->given[i].weight,
                                   t->given[i].limit};
    return s ? s : ss_record_put(r, "topology", &given_routes, row, n, err);
}

ss_status ss_record_topology(ss_record *r, const ss_topology *t, ss_error *err)
{
    ss_arena a = {0};
    ss_status s = ss_h5_put_group(r->h5, "topology", err);
    if (!s)
        s = ss_h5_put_text(r->h5, "topology", "name", t->name, err);
    if (!s)
        s = ss_h5_put_text(r->h5, "topology", "routing", ss_routing_name(t->routing), err);
    if (!s)
        s = ss_h5_put_u64(r->h5, "topology", "routing_seed", t->routing_seed, err);
    if (!s)
        s = put_devices(r, t, &a, err);
    if (!s)
        s = put_nodes(r, t, &a, err);
    if (!s)
        s = put_links(r, t, &a, err);
    if (!s)
        s = put_points(r, t, false, &a, err);
    if (!s)
        s = put_points(r, t, true, &a, err);
    if (!s)
        s = put_routes(r, t, &a, err);
    ss_arena_free(&a);
    return s;
}

/* ---------------------------------------------------------------------------------- strategies */

typedef struct config_row {
    const char *name, *dimensions, *pinned_degrees;
    uint32_t degree[SS_MAX_DIMS], parts;
    uint8_t all_degrees_pinned, devices_pinned;
} config_row;

#define DEGREE(d)                                                                                  \
    {                                                                                              \
        "degree_" #d, SS_H5_U32, offsetof(config_row, degree[d]), "1",                             \
            "parts of dimension " #d " (from 0); 1 beyond the last", NULL, 0, false                \
    }

_Static_assert(SS_MAX_DIMS == 5, "a dimension has no column");

static const ss_h5_field config_field[] = {
    NUMBER("operator", "operator of the model"),
    FIELD(config_row, name, SS_H5_TEXT, NULL, "its name"),
    FIELD(config_row, dimensions, SS_H5_TEXT, NULL, "names of its dimensions, in order"),
    DEGREE(0),
    DEGREE(1),
    DEGREE(2),
    DEGREE(3),
    DEGREE(4),
    FIELD(config_row, parts, SS_H5_U32, "1", "product of the degrees"),
    FIELD(config_row, all_degrees_pinned, SS_H5_BOOL, NULL, "no degree may be changed"),
    FIELD(config_row, pinned_degrees, SS_H5_TEXT, NULL, "single dimensions that are pinned"),
    FIELD(config_row, devices_pinned, SS_H5_BOOL, NULL, "its devices may not be changed"),
};
TABLE(configurations, "operators", "how each operator is cut into parts", config_field, config_row);

typedef struct part_row {
    uint32_t operator, part, device;
} part_row;

static const ss_h5_field part_field[] = {
    FIELD(part_row, operator, SS_H5_U32, "1", "operator"),
    FIELD(part_row, part, SS_H5_U32, "1",
          "part, from 0: mixed radix over the degrees, dimension 0 slowest"),
    FIELD(part_row, device, SS_H5_U32, "1", "device that holds it"),
};
TABLE(parts, "parts", "which device holds which part", part_field, part_row);

static ss_status describe_config(const ss_strategy *s, uint32_t op, config_row *row, ss_arena *a,
                                 ss_error *err)
{
    const ss_op_def *def = s->model->op[op].def;
    ss_text dimensions = {0}, pinned = {0};
    for (uint32_t d = 0; d < def->out[0].rank; d++) {
        ss_text_add(&dimensions, "%s%s", d ? " " : "", def->dim[d].name);
        if (s->pin_degree[op][d])
            ss_text_add(&pinned, "%s%s", pinned.n ? " " : "", def->dim[d].name);
    }
    row->name = s->model->op[op].name;
    row->dimensions = keep(a, ss_text_get(&dimensions));
    row->pinned_degrees = keep(a, ss_text_get(&pinned));
    row->parts = s->config[op].parts;
    memcpy(row->degree, s->config[op].degree, sizeof row->degree);
    row->all_degrees_pinned = (s->pin[op] & SS_PIN_DEGREES) != 0;
    row->devices_pinned = (s->pin[op] & SS_PIN_DEVICES) != 0;
    bool short_of_memory =
        dimensions.failed || pinned.failed || !row->dimensions || !row->pinned_degrees;
    ss_text_free(&dimensions);
    ss_text_free(&pinned);
    return short_of_memory ? ss_fail_memory(err, "a strategy of a record", sizeof *row) : SS_OK;
}

static ss_status put_parts(ss_record *r, const char *group, const ss_strategy *s, ss_arena *a,
                           ss_error *err)
{
    uint64_t n = 0;
    for (uint32_t op = 1; op <= s->model->ops; op++)
        n += s->config[op].parts;
    if (n >= UINT32_MAX)
        return ss_fail(err, SS_ERANGE, "a record holds up to 2^32 parts, and there are %llu",
                       (unsigned long long)n);
    part_row *row = NULL;
    ss_status status = take_rows(a, (uint32_t)n, sizeof *row, &row, err);
    uint32_t at = 0;
    for (uint32_t op = 1; !status && op <= s->model->ops; op++)
        for (uint32_t k = 0; k < s->config[op].parts; k++)
            row[at++] = (part_row){op, k, s->config[op].device[k].i};
    return status ? status : ss_record_put(r, group, &parts, row, at, err);
}

/* The tables are for people; soapstone reads the strategy back from its file. */
static ss_status put_file(ss_record *r, const char *group, const ss_strategy *s, ss_error *err)
{
    ss_text text = {0};
    ss_status status = ss_strategy_write(s, &text, err);
    const char *file = ss_text_get(&text);
    if (!status)
        status = ss_h5_put_values(r->h5, group, &ss_record_strategy_file, 1, &file, err);
    ss_text_free(&text);
    return status;
}

ss_status ss_record_strategy(ss_record *r, const char *name, const ss_strategy *s, ss_error *err)
{
    char group[SS_RECORD_PATH];
    ss_arena a = {0};
    config_row *row = NULL;
    ss_status status = ss_record_group(r, "strategies", "strategy", name, group, sizeof group, err);
    if (!status)
        status = put_file(r, group, s, err);
    if (!status)
        status = take_rows(&a, s->model->ops, sizeof *row, &row, err);
    for (uint32_t i = 0; !status && i < s->model->ops; i++)
        status = describe_config(s, i + 1, &row[i], &a, err);
    if (!status)
        status = ss_record_put(r, group, &configurations, row, s->model->ops, err);
    if (!status)
        status = put_parts(r, group, s, &a, err);
    ss_arena_free(&a);
    return status;
}
