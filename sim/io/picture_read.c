/* picture_read.c - a strategy's picture from a record. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "io/h5.h"
#include "io/picture.h"
#include "io/record_layout.h"

#define FIELD(name, type, row, member)                                                             \
    {                                                                                              \
        name, type, offsetof(row, member), NULL, NULL, NULL, 0, false                              \
    }
#define COUNT(field) ((uint32_t)(sizeof field / sizeof field[0]))

static const ss_h5_field op_field[] = {
    FIELD("name", SS_H5_TEXT, ss_picture_op, name),
    FIELD("share", SS_H5_TEXT, ss_picture_op, share),
    FIELD("dimensions", SS_H5_TEXT, ss_picture_op, dimensions),
    FIELD("layer", SS_H5_U32, ss_picture_op, layer),
};
static const ss_h5_field edge_field[] = {
    FIELD("from", SS_H5_U32, ss_picture_edge, from),
    FIELD("to", SS_H5_U32, ss_picture_edge, to),
};
static const ss_h5_field device_field[] = {
    FIELD("name", SS_H5_TEXT, ss_picture_device, name),
    FIELD("machine", SS_H5_U32, ss_picture_device, machine),
};

_Static_assert(SS_MAX_DIMS == 5, "a dimension has no column");
static const ss_h5_field degree_field[] = {
    FIELD("degree_0", SS_H5_U32, ss_picture_op, degree[0]),
    FIELD("degree_1", SS_H5_U32, ss_picture_op, degree[1]),
    FIELD("degree_2", SS_H5_U32, ss_picture_op, degree[2]),
    FIELD("degree_3", SS_H5_U32, ss_picture_op, degree[3]),
    FIELD("degree_4", SS_H5_U32, ss_picture_op, degree[4]),
    FIELD("parts", SS_H5_U32, ss_picture_op, parts),
};

typedef struct part_row {
    uint32_t op, part, device;
} part_row;

static const ss_h5_field part_field[] = {
    FIELD("operator", SS_H5_U32, part_row, op),
    FIELD("part", SS_H5_U32, part_row, part),
    FIELD("device", SS_H5_U32, part_row, device),
};

/* ------------------------------------------------------------------------------ which strategy */

static void list_names(const ss_names *names, ss_text *out)
{
    enum { SHOWN = 8 };
    for (uint32_t i = 1; i <= names->n && i <= SHOWN; i++)
        ss_text_add(out, "%s\"%s\"", i > 1 ? ", " : "", ss_names_text(names, i));
    if (names->n > SHOWN)
        ss_text_add(out, " and %u more", names->n - SHOWN);
}

static ss_status no_such(const ss_h5 *f, const ss_names *names, const char *name, ss_error *err)
{
    const char *path = ss_h5_path(f), *near = name ? ss_names_nearest(names, name) : NULL;
    ss_text all = {0};
    ss_status s;
    list_names(names, &all);
    if (!names->n)
        s = ss_fail(err, SS_ENOTFOUND, "%s holds no strategy", path);
    else if (!name)
        s = ss_fail(err, SS_EINVAL, "%s holds %u strategies, so say which: %s", path, names->n,
                    ss_text_get(&all));
    else if (near)
        s = ss_fail(err, SS_ENOTFOUND, "%s holds no strategy \"%s\"; did you mean \"%s\"?", path,
                    name, near);
    else
        s = ss_fail(err, SS_ENOTFOUND, "%s holds no strategy \"%s\"; it holds %s", path, name,
                    ss_text_get(&all));
    ss_text_free(&all);
    return s;
}

/* The name that is asked for, or "best", or the only one; in the arena. */
static ss_status choose(ss_h5 *f, const char *asked, ss_picture *p, ss_error *err)
{
    ss_names names = {0};
    ss_status s = SS_OK;
    if (ss_h5_has(f, "strategies"))
        s = ss_h5_list(f, "strategies", &names, err);
    const char *name = asked                           ? asked
                       : ss_names_find(&names, "best") ? "best"
                       : names.n == 1                  ? ss_names_text(&names, 1)
                                                       : NULL;
    if (!s && (!name || !ss_names_find(&names, name)))
        s = no_such(f, &names, asked, err);
    size_t n = name ? strlen(name) + 1 : 0;
    char *kept = s ? NULL : ss_arena_take(&p->arena, n);
    if (!s && !kept)
        s = ss_fail_memory(err, "the name of a strategy", n);
    if (kept)
        p->strategy = memcpy(kept, name, n);
    ss_names_free(&names);
    return s;
}

/* ------------------------------------------------------------------------------------ its parts */

static ss_status place_parts(ss_picture *p, const part_row *row, uint32_t rows, const char *path,
                             ss_error *err)
{
    uint32_t r = 0;
    for (uint32_t i = 1; i <= p->ops; i++) {
        ss_picture_op *op = &p->op[i];
        uint64_t product = 1;
        for (uint32_t d = 0; d < SS_MAX_DIMS && product <= SS_MAX_PARTS; d++)
            product *= op->degree[d];
        if (!op->parts || op->parts > SS_MAX_PARTS || product != op->parts)
            return ss_fail(err, SS_EFORMAT, "%s: operator %u of strategy \"%s\" has %u parts", path,
                           i, p->strategy, op->parts);
        op->first = r;
        for (uint32_t k = 0; k < op->parts; k++, r++) {
            if (r >= rows || row[r].op != i || row[r].part != k)
                return ss_fail(err, SS_EFORMAT,
                               "%s: of operator %u of strategy \"%s\" part %u is missing", path, i,
                               p->strategy, k);
            if (!row[r].device || row[r].device > p->devices)
                return ss_fail(err, SS_EFORMAT,
                               "%s: part %u of operator %u is on device %u, and there are %u", path,
                               k, i, row[r].device, p->devices);
            p->part[r] = row[r].device;
        }
    }
    p->parts = r;
    return SS_OK;
}

static ss_status get_configurations(ss_h5 *f, ss_picture *p, ss_error *err)
{
    char group[SS_RECORD_PATH], below[SS_RECORD_PATH + 16];
    void *degrees = NULL, *parts = NULL;
    uint32_t ops = 0, rows = 0;
    snprintf(group, sizeof group, "strategies/%s", p->strategy);
    snprintf(below, sizeof below, "%s/operators", group);
    ss_status s = ss_h5_get_table(f, below, degree_field, COUNT(degree_field), sizeof *p->op, 1,
                                  &p->arena, &degrees, &ops, err);
    snprintf(below, sizeof below, "%s/parts", group);
    if (!s)
        s = ss_h5_get_table(f, below, part_field, COUNT(part_field), sizeof(part_row), 0, &p->arena,
                            &parts, &rows, err);
    if (!s && ops != p->ops)
        s = ss_fail(err, SS_EFORMAT, "%s: strategy \"%s\" is of %u operators, the model has %u",
                    ss_h5_path(f), p->strategy, ops, p->ops);
    if (s)
        return s;
    size_t bytes = (rows + (size_t)1) * sizeof *p->part;
    p->part = ss_arena_take(&p->arena, bytes);
    if (!p->part)
        return ss_fail_memory(err, "the picture of a strategy", bytes);
    for (uint32_t i = 1; i <= ops; i++) {
        const ss_picture_op *from = (const ss_picture_op *)degrees + i;
        memcpy(p->op[i].degree, from->degree, sizeof from->degree);
        p->op[i].parts = from->parts;
    }
    return place_parts(p, parts, rows, ss_h5_path(f), err);
}

static ss_status get_all(ss_h5 *f, const char *name, ss_picture *p, ss_error *err)
{
    void *op = NULL, *device = NULL, *edge = NULL;
    ss_status s = ss_h5_check_format(f, SS_RECORD_KIND, SS_RECORD_FORMAT, err);
    if (!s)
        s = choose(f, name, p, err);
    if (!s)
        s = ss_h5_get_text(f, "model", "name", &p->arena, &p->model, err);
    if (!s)
        s = ss_h5_get_text(f, "topology", "name", &p->arena, &p->topology, err);
    if (!s)
        s = ss_h5_get_table(f, "model/operators", op_field, COUNT(op_field), sizeof *p->op, 1,
                            &p->arena, &op, &p->ops, err);
    if (!s)
        s = ss_h5_get_table(f, "model/edges", edge_field, COUNT(edge_field), sizeof *p->edge, 0,
                            &p->arena, &edge, &p->edges, err);
    if (!s)
        s = ss_h5_get_table(f, "topology/devices", device_field, COUNT(device_field),
                            sizeof *p->device, 1, &p->arena, &device, &p->devices, err);
    p->op = op;
    p->edge = edge;
    p->device = device;
    for (uint32_t i = 0; !s && i < p->edges; i++)
        if (p->edge[i].from > p->ops || !p->edge[i].to || p->edge[i].to > p->ops)
            s = ss_fail(err, SS_EFORMAT, "%s: model/edges: row %u joins operators %u and %u of %u",
                        ss_h5_path(f), i + 1, p->edge[i].from, p->edge[i].to, p->ops);
    return s ? s : get_configurations(f, p, err);
}

ss_status ss_picture_read(const char *path, const char *name_or_null, ss_picture *out,
                          ss_error *err)
{
    ss_picture p = {0};
    ss_h5 *f;
    ss_status s = ss_h5_open(path, &f, err);
    if (s)
        return s;
    s = get_all(f, name_or_null, &p, err);
    ss_h5_close(f);
    if (s)
        ss_picture_free(&p);
    else
        *out = p;
    return s;
}
