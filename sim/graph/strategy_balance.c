/* Model parallelism: runs of whole operators, one a device, so that the busiest is least busy.
 *
 * Times are whole picoseconds, so sums are exact and the least bound is found by bisection: a bound
 * holds if every device in turn takes all that fits, and that fits better the higher the bound. */

#include <math.h>

#include "base/mem.h"
#include "base/units.h"
#include "graph/strategy_ready.h"

typedef struct balance {
    const ss_strategy *s;
    ss_op_seconds cost;
    void *context;
    uint32_t n, devices;
    ss_op *op;       /* [n]: those whose devices are not pinned */
    ss_time *pinned; /* [devices + 1]: load of those whose are */
    uint32_t
        *least;   /* [devices + 2]: devices d .. can take all from row least[d] on, and no more */
    double *pace; /* [devices + 2]: work a second of devices d .. together, all work being 1 */
    double *aim;  /* [devices + 2]: pinned load of devices d .. as work */
    ss_device *where; /* [ops + 1] */
    double *flop;     /* [ops + 1]: forward and backward, of the whole operator */
} balance;

/* FLOP over the device's peak for the operator's element type; where that is not known, over the
 * best peak it has, and without any over 1 TFLOP/s: enough to compare devices by their speed. */
static double seconds_by_flop(void *context, ss_op op, ss_device device)
{
    const balance *b = context;
    const ss_device_def *d = &b->s->topology->device[device.i].def;
    double peak = d->flop_per_s[b->s->model->op[op.i].def->out[0].dtype];
    for (uint32_t t = 0, known = peak > 0; t < SS_DTYPES && !known; t++)
        peak = d->flop_per_s[t] > peak ? d->flop_per_s[t] : peak;
    return b->flop[op.i] / ((peak > 0 ? peak : 1e12) * d->speed);
}

static void count_flop(balance *b)
{
    for (uint32_t i = 1; i <= b->s->ops; i++) {
        const ss_op_row *row = &b->s->model->op[i];
        ss_box all = ss_box_whole(&row->def->out[0]);
        ss_work forward = {0}, backward = {0};
        ss_op_work(row->def, SS_FORWARD, row->input_gradient, &all, &forward);
        ss_op_work(row->def, SS_BACKWARD, row->input_gradient, &all, &backward);
        b->flop[i] = forward.flops + backward.flops;
    }
}

static ss_time time_of(const balance *b, ss_op op, uint32_t device)
{
    ss_time t = 0;
    ss_time_from_seconds(b->cost(b->context, op, (ss_device){device}), "", &t, NULL);
    return t;
}

/* After this every time is a number, and the sum of all fits. */
static ss_status check_times(const balance *b, ss_error *err)
{
    for (uint32_t i = 1; i <= b->s->ops; i++)
        for (uint32_t d = 1; d <= b->devices; d++) {
            const char *name = b->s->model->op[i].name;
            ss_time t;
            ss_status st = ss_time_from_seconds(b->cost(b->context, (ss_op){i}, (ss_device){d}),
                                                "its time", &t, err);
            if (!st && t > SS_TIME_MAX / (b->s->ops + 1))
                st = ss_fail(err, SS_ERANGE, "its time is too long to be balanced");
            if (st)
                return ss_fail_in(err, "%s on %s", name,
                                  ss_topology_device_name(b->s->topology, (ss_device){d}));
        }
    return SS_OK;
}

static void split_pinned_and_free(balance *b)
{
    for (uint32_t i = 1; i <= b->s->ops; i++) {
        const ss_config *c = &b->s->config[i];
        if (!(b->s->pin[i] & SS_PIN_DEVICES)) {
            b->op[b->n++] = (ss_op){i};
            continue;
        }
        for (uint32_t part = 0; part < c->parts; part++) {
            uint32_t d = c->device[part].i;
            b->pinned[d] += time_of(b, (ss_op){i}, d) / c->parts;
        }
    }
}

static bool fits(const balance *b, ss_time bound)
{
    uint32_t row = 0;
    for (uint32_t d = 1; d <= b->devices && row < b->n; d++) {
        ss_time load = b->pinned[d], t;
        while (row < b->n && (t = time_of(b, b->op[row], d)) <= bound - load) {
            load += t;
            row++;
        }
    }
    return row == b->n;
}

static ss_time least_bound(const balance *b)
{
    ss_time low = 0, high = b->pinned[1];
    for (uint32_t row = 0; row < b->n; row++)
        high += time_of(b, b->op[row], 1);
    for (uint32_t d = 1; d <= b->devices; d++)
        low = b->pinned[d] > low ? b->pinned[d] : low;
    high = low > high ? low : high;
    while (low < high) {
        ss_time middle = low + (high - low) / 2;
        if (fits(b, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* From the last device backwards: what must be done by then, and what a fair share is. */
static void look_back(balance *b, ss_time bound)
{
    uint32_t row = b->n;
    b->least[b->devices + 1] = b->n;
    for (uint32_t d = b->devices; d >= 1; d--) {
        ss_time load = b->pinned[d], t;
        while (row > 0 && (t = time_of(b, b->op[row - 1], d)) <= bound - load) {
            load += t;
            row--;
        }
        b->least[d] = row;
        double all = 0;
        for (uint32_t k = 0; k < b->n; k++)
            all += (double)time_of(b, b->op[k], d);
        double pace = all > 0 ? 1 / all : 1;
        b->pace[d] = b->pace[d + 1] + pace;
        b->aim[d] = b->aim[d + 1] + (double)b->pinned[d] * pace;
    }
}

/* The load at which device d and those after it would end together with what is left from row on.
 */
static double fair_share(const balance *b, uint32_t d, uint32_t row)
{
    double all = 0, left = 0;
    for (uint32_t k = 0; k < b->n; k++) {
        double t = (double)time_of(b, b->op[k], d);
        all += t;
        left += k < row ? 0 : t;
    }
    return ((all > 0 ? left / all : 0) + b->aim[d]) / b->pace[d];
}

static void deal(balance *b, ss_time bound)
{
    uint32_t row = 0;
    for (uint32_t d = 1; d <= b->devices && row < b->n; d++) {
        double fair = fair_share(b, d, row);
        ss_time load = b->pinned[d];
        for (bool idle = load == 0; row < b->n; idle = false) {
            ss_time t = time_of(b, b->op[row], d);
            bool must = row < b->least[d + 1];
            if (t > bound - load || (!must && !idle && (double)load + (double)t / 2 > fair))
                break;
            load += t;
            b->where[b->op[row++].i] = (ss_device){d};
        }
    }
}

static ss_device where_it_was_dealt(const ss_recipe *r, ss_op op, const uint32_t *degree,
                                    uint32_t part)
{
    (void)degree, (void)part;
    return ((const balance *)r->context)->where[op.i];
}

static ss_status reserve(balance *b, ss_error *err)
{
    size_t d = (size_t)b->devices + 2, ops = (size_t)b->s->ops + 1;
    b->op = ss_alloc_zeroed(ops, sizeof *b->op);
    b->pinned = ss_alloc_zeroed(d, sizeof *b->pinned);
    b->least = ss_alloc_zeroed(d, sizeof *b->least);
    b->pace = ss_alloc_zeroed(d, sizeof *b->pace);
    b->aim = ss_alloc_zeroed(d, sizeof *b->aim);
    b->where = ss_alloc_zeroed(ops, sizeof *b->where);
    b->flop = ss_alloc_zeroed(ops, sizeof *b->flop);
    if (b->op && b->pinned && b->least && b->pace && b->aim && b->where && b->flop)
        return SS_OK;
    return ss_fail_memory(err, "balancing operators", d * sizeof *b->pace + ops * sizeof *b->op);
}

ss_status ss_strategy_model_parallel(ss_strategy *s, ss_op_seconds cost, void *context,
                                     ss_error *err)
{
    balance b = {.s = s,
                 .cost = cost ? cost : seconds_by_flop,
                 .context = context,
                 .devices = s->topology->devices};
    ss_status st = reserve(&b, err);
    if (!st && !cost) {
        count_flop(&b);
        b.context = &b;
    }
    if (!st)
        st = check_times(&b, err);
    if (!st) {
        split_pinned_and_free(&b);
        ss_time bound = least_bound(&b);
        look_back(&b, bound);
        deal(&b, bound);
        ss_recipe r = {.strategy = s, .context = &b, .device = where_it_was_dealt};
        st = ss_strategy_fill(s, &r, err);
    }
    ss_free(b.op);
    ss_free(b.pinned);
    ss_free(b.least);
    ss_free(b.pace);
    ss_free(b.aim);
    ss_free(b.where);
    ss_free(b.flop);
    return st;
}
