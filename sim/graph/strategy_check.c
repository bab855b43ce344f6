/* The rules of a strategy, each with its own sentence. */

#include <stdio.h>

#include "base/text.h"
#include "graph/strategy.h"

static const ss_op_row *row_of(const ss_strategy *s, ss_op op)
{
    return &s->model->op[op.i];
}

/* How many parts an extent can have: grains, of which the last may be short (shape.h). */
static int64_t grains_of(const ss_op_def *def, uint32_t dim)
{
    int64_t grain = def->dim[dim].grain > 1 ? def->dim[dim].grain : 1;
    return (def->out[0].extent[dim] - 1) / grain + 1;
}

uint32_t ss_strategy_limit(const ss_strategy *s, ss_op op, uint32_t dim)
{
    const ss_op_def *def = row_of(s, op)->def;
    if (dim >= def->out[0].rank || def->dim[dim].cls == SS_DIM_WHOLE)
        return 1;
    int64_t grains = grains_of(def, dim);
    return grains > SS_MAX_PARTS ? SS_MAX_PARTS : (uint32_t)grains;
}

enum { DEGREES_TEXT = 160 };

/* "n 4, c 2": the degrees above 1, or "none". */
static const char *degrees_text(const ss_op_def *def, const uint32_t *degree, uint32_t degrees,
                                char *buffer)
{
    int n = 0;
    buffer[0] = 0;
    for (uint32_t d = 0; d < degrees && d < def->out[0].rank && n < DEGREES_TEXT - 48; d++)
        if (degree[d] > 1)
            n += snprintf(buffer + n, DEGREES_TEXT - (size_t)n, "%s%.24s %u", n ? ", " : "",
                          def->dim[d].name, degree[d]);
    if (!n)
        snprintf(buffer, DEGREES_TEXT, "nothing is cut");
    return buffer;
}

static ss_status check_op(const ss_strategy *s, ss_op op, ss_error *err)
{
    if (op.i >= 1 && op.i <= s->ops)
        return SS_OK;
    if (op.i >= 1 && op.i <= s->model->ops)
        return ss_fail(err, SS_EINVAL,
                       "%s: it was added to model %s after the strategy was made; make a new one",
                       row_of(s, op)->name, s->model->name);
    return ss_fail(err, SS_ENOTFOUND, "there is no operator %u: model %s has operators 1 to %u",
                   op.i, s->model->name, s->ops);
}

static ss_status check_degree(const ss_strategy *s, ss_op op, uint32_t d, uint32_t degree,
                              ss_error *err)
{
    const ss_op_row *row = row_of(s, op);
    const ss_dim *dim = &row->def->dim[d];
    if (degree == 0)
        return ss_fail(err, SS_EINVAL,
                       "%s: degree 0 on %s: a dimension that is not cut has degree 1", row->name,
                       dim->name);
    if (degree == 1)
        return SS_OK;
    if (dim->cls == SS_DIM_WHOLE)
        return ss_fail(err, SS_EINVAL, "%s: degree %u on %s: this dimension of a %s may not be cut",
                       row->name, degree, dim->name, row->def->kind->name);
    int64_t extent = row->def->out[0].extent[d], grains = grains_of(row->def, d);
    if (degree <= grains)
        return SS_OK;
    if (grains == extent)
        return ss_fail(err, SS_EINVAL, "%s: degree %u on %s: its extent is %lld", row->name, degree,
                       dim->name, (long long)extent);
    return ss_fail(
        err, SS_EINVAL,
        "%s: degree %u on %s: its extent %lld has %lld grains of %lld, which are not cut",
        row->name, degree, dim->name, (long long)extent, (long long)grains, (long long)dim->grain);
}

static ss_status check_degrees(const ss_strategy *s, ss_op op, const uint32_t *degree,
                               uint32_t degrees, uint32_t *parts, ss_error *err)
{
    const ss_op_row *row = row_of(s, op);
    uint32_t rank = row->def->out[0].rank;
    uint64_t product = 1;
    for (uint32_t d = 0; d < degrees; d++) {
        if (d >= rank) {
            if (degree[d] == 1)
                continue;
            return ss_fail(err, SS_EINVAL,
                           "%s: degree %u on dimension %u: its output has %u dimension%s",
                           row->name, degree[d], d + 1, rank, ss_plural(rank));
        }
        ss_status st = check_degree(s, op, d, degree[d], err);
        if (st)
            return st;
        product = product > SS_MAX_PARTS ? product : product * degree[d];
    }
    char text[DEGREES_TEXT];
    if (product > SS_MAX_PARTS)
        return ss_fail(err, SS_EINVAL, "%s: too many parts (%s): an operator may have at most %d",
                       row->name, degrees_text(row->def, degree, degrees, text), SS_MAX_PARTS);
    *parts = (uint32_t)product;
    return SS_OK;
}

static ss_status check_devices(const ss_strategy *s, ss_op op, const uint32_t *degree,
                               uint32_t degrees, uint32_t parts, const ss_device *device,
                               uint32_t n, ss_error *err)
{
    const ss_op_row *row = row_of(s, op);
    char text[DEGREES_TEXT];
    if (n != parts && n != 1)
        return ss_fail(err, SS_EINVAL, "%s: %u device%s for %u part%s (%s)", row->name, n,
                       ss_plural(n), parts, ss_plural(parts),
                       degrees_text(row->def, degree, degrees, text));
    for (uint32_t k = 0; k < n; k++)
        if (device[k].i < 1 || device[k].i > s->topology->devices)
            return ss_fail(err, SS_EINVAL,
                           "%s: part %u of %u is on device %u: topology %s has devices 1 to %u",
                           row->name, k + 1, parts, device[k].i, s->topology->name,
                           s->topology->devices);
    return SS_OK;
}

static ss_status check_pins(const ss_strategy *s, ss_op op, const uint32_t *degree,
                            uint32_t degrees, uint32_t parts, const ss_device *device, uint32_t n,
                            ss_error *err)
{
    const ss_op_row *row = row_of(s, op);
    const ss_config *now = &s->config[op.i];
    char text[DEGREES_TEXT];
    for (uint32_t d = 0; d < row->def->out[0].rank; d++) {
        uint32_t wanted = d < degrees ? degree[d] : 1;
        if (wanted == now->degree[d] || !ss_strategy_pinned_degree(s, op, d))
            continue;
        if (s->pin[op.i] & SS_PIN_DEGREES)
            return ss_fail(err, SS_EINVAL, "%s: degree %u on %s: its degrees are pinned (%s)",
                           row->name, wanted, row->def->dim[d].name,
                           degrees_text(row->def, now->degree, SS_MAX_DIMS, text));
        return ss_fail(err, SS_EINVAL, "%s: degree %u on %s: it is pinned to %u", row->name, wanted,
                       row->def->dim[d].name, now->degree[d]);
    }
    if (!(s->pin[op.i] & SS_PIN_DEVICES))
        return SS_OK;
    if (parts != now->parts)
        return ss_fail(err, SS_EINVAL, "%s: %u parts: its %u device%s pinned", row->name, parts,
                       now->parts, now->parts == 1 ? " is" : "s are");
    for (uint32_t k = 0; k < parts; k++) {
        ss_device wanted = device[n == 1 ? 0 : k];
        if (wanted.i != now->device[k].i)
            return ss_fail(err, SS_EINVAL,
                           "%s: device %u for part %u of %u: it is pinned to device %u", row->name,
                           wanted.i, k + 1, parts, now->device[k].i);
    }
    return SS_OK;
}

ss_status ss_strategy_allows(const ss_strategy *s, ss_op op, const uint32_t *degree,
                             uint32_t degrees, const ss_device *device, uint32_t n, uint32_t *parts,
                             ss_error *err)
{
    uint32_t product = 0;
    ss_status st = check_op(s, op, err);
    if (!st)
        st = check_degrees(s, op, degree, degrees, &product, err);
    if (!st)
        st = check_devices(s, op, degree, degrees, product, device, n, err);
    if (!st)
        st = check_pins(s, op, degree, degrees, product, device, n, err);
    if (!st && parts)
        *parts = product;
    return st;
}

ss_status ss_strategy_check(const ss_strategy *s, ss_error *err)
{
    for (uint32_t i = 1; i <= s->ops; i++) {
        const ss_config *c = &s->config[i];
        uint32_t parts;
        ss_status st = ss_strategy_allows(s, (ss_op){i}, c->degree, SS_MAX_DIMS, c->device,
                                          c->parts, &parts, err);
        if (st)
            return st;
        if (parts != c->parts)
            return ss_fail(err, SS_EINVAL, "%s: %u parts, and its degrees make %u",
                           s->model->op[i].name, c->parts, parts);
    }
    return s->ops == s->model->ops ? SS_OK : check_op(s, (ss_op){s->ops + 1}, err);
}
