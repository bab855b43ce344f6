/* plot_strategy.c - the table of a strategy's picture: boxes in points on the page. */
#include "config.h"

#include "io/plot_strategy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/plot_alike.h"
#include "io/plot_blocks.h"
#include "io/plot_inside.h"

/* Points.  A box is as large as lets the drawing stay on a page of a paper, within these. */
#define LARGEST 24.0
#define LEAST 5.0
#define MARGIN 3.0
#define GAP 5.0         /* between blocks of a line */
#define OVER 8.0        /* the label of a block */
#define LETTER 3.9      /* of a label of 6 points, on average */
#define UNDER 7.0       /* the degrees of boxes */
#define SMALL 2.5       /* a letter of theirs, at the least */
#define TALLEST 1.5     /* the height in widths of the page beyond which boxes get smaller */
#define LABEL_SHARE 0.3 /* of the page, for labels at the left */

enum { COLOURS = 8 /* that are told apart, each of a device */ };
enum { MANY = 8 /* parts in one row or column; more are wrapped */ };

typedef struct spot {
    double left, top;
    uint32_t columns; /* in a row, before it is folded */
} spot;

typedef struct layout {
    const ss_picture *p;
    ss_plot_blocks blocks;
    uint32_t ops, thinned; /* thinned: operators of which not every part is drawn */
    double width, height;  /* of the page and of the drawing */
    double pitch, under;   /* from one box to the next; and more from one row to the next */
    bool crowded;          /* degrees of some operators have no room */
    double labels;         /* points at the left for labels; 0: they stand over their blocks */
    spot *at;              /* [blocks.n] */
    uint32_t machines;
    uint32_t *machine, *place,
        *size; /* [devices + 1]: machine from 1, place in it from 0, its devices */
    ss_text *out;
    ss_error *err;
} layout;

/* ------------------------------------------------------------------------------------- machines */

/* Machines are numbered anew, in the order of their first devices. */
static ss_status number_machines(layout *l)
{
    const ss_picture *p = l->p;
    size_t n = p->devices + (size_t)1;
    l->machine = ss_alloc_zeroed(3 * n, sizeof *l->machine);
    if (!l->machine)
        return ss_fail_memory(l->err, "a figure", 3 * n * sizeof *l->machine);
    l->place = l->machine + n;
    l->size = l->place + n;
    for (uint32_t d = 1; d <= p->devices; d++) {
        uint32_t same = d;
        if (p->device[d].machine && d > 1 && p->device[d - 1].machine == p->device[d].machine)
            same = d - 1; /* as nearly always; without it this would take long */
        else
            for (uint32_t k = 1; k < d && p->device[d].machine && same == d; k++)
                same = p->device[k].machine == p->device[d].machine ? k : d;
        l->machine[d] = same < d ? l->machine[same] : ++l->machines;
        l->place[d] = l->size[l->machine[d]]++;
    }
    return SS_OK;
}

/* --------------------------------------------------------------------------------------- layout */

static uint32_t rows_of(const layout *l, uint32_t block)
{
    const ss_plot_block *b = &l->blocks.block[block];
    uint32_t columns = l->at[block].columns;
    return b->rows * ((b->columns + columns - 1) / columns);
}

static double width_of(const char *text)
{
    uint32_t letters = 0;
    for (const char *c = text; *c; c++)
        letters += ((unsigned char)*c & 0xc0) != 0x80 ? 1 : 0;
    return LETTER * letters;
}

/* Blocks one after the other, line by line, their labels over them. */
static double flow(layout *l)
{
    double x = MARGIN, y = 0, line = 0;
    uint32_t most = (uint32_t)((l->width - 2 * MARGIN) / l->pitch);
    for (uint32_t i = 0; i < l->blocks.n; i++) {
        const ss_plot_block *b = &l->blocks.block[i];
        l->at[i].columns = b->columns < most ? b->columns : most ? most : 1;
        double wide = fmax(l->at[i].columns * l->pitch, width_of(b->label));
        double high = OVER + rows_of(l, i) * (l->pitch + l->under);
        if (x > MARGIN && x + wide > l->width - MARGIN) {
            x = MARGIN;
            y += line + GAP;
            line = 0;
        }
        l->at[i].left = x;
        l->at[i].top = y + OVER;
        x += wide + GAP;
        line = fmax(line, high);
    }
    return y + line;
}

/* Blocks one below the other, their labels to the left of them. */
static double stack(layout *l)
{
    double y = OVER; /* the numbers of the steps */
    uint32_t most = (uint32_t)((l->width - l->labels - 2 * MARGIN) / l->pitch);
    for (uint32_t i = 0; i < l->blocks.n; i++) {
        const ss_plot_block *b = &l->blocks.block[i];
        l->at[i].columns = b->columns < most ? b->columns : most ? most : 1;
        l->at[i].left = MARGIN + l->labels;
        l->at[i].top = y;
        y += rows_of(l, i) * (l->pitch + l->under) + (rows_of(l, i) > 1 ? GAP / 2 : 0);
    }
    return y;
}

static void fit(layout *l)
{
    double longest = 0;
    for (uint32_t i = 0; i < l->blocks.n; i++)
        longest = fmax(longest, width_of(l->blocks.block[i].label));
    if (l->blocks.unrolled)
        l->labels = fmin(longest + 4, LABEL_SHARE * l->width);
    for (l->pitch = LARGEST;; l->pitch -= 0.5) {
        uint32_t columns = 0;
        l->under = l->pitch > 10 ? UNDER : 0;
        l->height = l->labels > 0 ? stack(l) : flow(l);
        for (uint32_t i = 0; i < l->blocks.n; i++)
            columns = l->blocks.block[i].columns > columns ? l->blocks.block[i].columns : columns;
        bool wide = columns * l->pitch > l->width - l->labels - 2 * MARGIN;
        if (l->pitch <= LEAST || (!wide && l->height <= TALLEST * l->width))
            return;
    }
}

/* Equal neighbours are drawn once where not all have room at the largest. */
static ss_status fit_alike(layout *l)
{
    fit(l);
    if (l->pitch >= LARGEST)
        return SS_OK;
    ss_status s = ss_plot_alike(l->p, l->ops, &l->blocks, l->err);
    if (!s)
        fit(l);
    return s;
}

static bool is_drawn(const layout *l, uint32_t op)
{
    return !l->blocks.like || !l->blocks.like[op];
}

/* ---------------------------------------------------------------------------------------- table */

static void add_row(layout *l, const char *kind, const char *label, const char *style,
                    const double at[4], uint32_t device)
{
    ss_text_add(l->out, "%s\t", kind);
    ss_plot_add_field(l->out, label, SS_PLOT_LABEL);
    ss_text_add(l->out, "\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%u\t%u\t%.4g\n", style, at[0], at[1], at[2],
                at[3], device, device ? l->machine[device] : 0,
                device && l->size[l->machine[device]] > 1
                    ? l->place[device] / (l->size[l->machine[device]] - 1.0)
                    : 0.5);
}

static void box_of(const layout *l, uint32_t op, double at[4])
{
    const ss_plot_place *place = &l->blocks.place[op];
    const spot *s = &l->at[place->block];
    const ss_plot_block *b = &l->blocks.block[place->block];
    uint32_t fold = place->column / s->columns;
    double between = l->pitch > 8 ? 2 : l->pitch / 5;
    at[0] = s->left + (place->column % s->columns) * l->pitch;
    at[1] = s->top + (place->row + fold * b->rows) * (l->pitch + l->under);
    at[2] = at[0] + l->pitch - between;
    at[3] = at[1] + l->pitch - between;
}

/* A box's parts: rows of samples, columns of the rest; one long row or column is wrapped. */
typedef struct grid {
    uint32_t rows, columns; /* of parts */
    uint32_t row_weight[SS_MAX_DIMS], column_weight[SS_MAX_DIMS];
    uint32_t wrap; /* parts in a row where all are in one; 0: they are not */
} grid;

static grid grid_of(const ss_picture_op *op)
{
    grid g = {.rows = 1, .columns = 1};
    for (uint32_t d = SS_MAX_DIMS; d-- > 0;) {
        bool sample = ss_picture_class(op, d) == SS_DIM_SAMPLE;
        g.row_weight[d] = sample ? g.rows : 0;
        g.column_weight[d] = sample ? 0 : g.columns;
        *(sample ? &g.rows : &g.columns) *= op->degree[d];
    }
    if ((g.rows == 1 || g.columns == 1) && op->parts > MANY)
        g.wrap = (uint32_t)ceil(sqrt(op->parts));
    return g;
}

/* Where part k stands. */
static void cell_of(const ss_picture_op *op, const grid *g, uint32_t k, uint32_t *row,
                    uint32_t *column)
{
    *row = *column = 0;
    if (g->wrap) {
        *row = k / g->wrap;
        *column = k % g->wrap;
        return;
    }
    for (uint32_t d = SS_MAX_DIMS; d-- > 0; k /= op->degree[d]) {
        *row += k % op->degree[d] * g->row_weight[d];
        *column += k % op->degree[d] * g->column_weight[d];
    }
}

static void add_parts(layout *l, const ss_picture_op *op, const double box[4])
{
    grid g = grid_of(op);
    uint32_t rows = g.wrap ? (op->parts + g.wrap - 1) / g.wrap : g.rows;
    uint32_t columns = g.wrap ? g.wrap : g.columns;
    uint32_t every_row = (rows + SS_PLOT_MAX_GRID - 1) / SS_PLOT_MAX_GRID;
    uint32_t every_column = (columns + SS_PLOT_MAX_GRID - 1) / SS_PLOT_MAX_GRID;
    double wide = (box[2] - box[0]) / ((columns + every_column - 1) / every_column);
    double high = (box[3] - box[1]) / ((rows + every_row - 1) / every_row);
    l->thinned += every_row > 1 || every_column > 1 ? 1 : 0;
    for (uint32_t k = 0; k < op->parts; k++) {
        uint32_t row, column;
        cell_of(op, &g, k, &row, &column);
        if (row % every_row || column % every_column)
            continue;
        double left = box[0] + column / every_column * wide, top = box[1] + row / every_row * high;
        double at[4] = {left, top, left + wide, top + high};
        add_row(l, "part", "", fmin(wide, high) < 2.2 ? "fine" : "-", at,
                l->p->part[op->first + k]);
    }
}

static bool splits_parameters(const ss_picture_op *op)
{
    for (uint32_t d = 0; d < SS_MAX_DIMS; d++)
        if (op->degree[d] > 1 && ss_picture_class(op, d) == SS_DIM_PARAMETER)
            return true;
    return false;
}

static void add_ops(layout *l)
{
    double at[4];
    for (uint32_t i = 1; i <= l->ops; i++) {
        const ss_picture_op *op = &l->p->op[i];
        box_of(l, i, at);
        if (!is_drawn(l, i)) {
            add_row(l, "like", op->name, "-", at, 0);
            continue;
        }
        add_parts(l, op, at);
        add_row(l, "operator", op->name, splits_parameters(op) ? "parameter" : "-", at, 0);
    }
}

/* "n4 c16", and "1" of an operator in one part. */
static void write_degrees(const ss_picture_op *op, char *b, size_t n)
{
    const char *at = op->dimensions;
    size_t used = 0;
    b[0] = 0;
    for (uint32_t d = 0; d < SS_MAX_DIMS && at && used < n; d++) {
        int letters = (int)strcspn(at, ": ");
        if (op->degree[d] > 1)
            used += (size_t)snprintf(b + used, n - used, "%s%.*s%u", used ? " " : "", letters, at,
                                     op->degree[d]);
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    if (!used)
        snprintf(b, n, "1");
}

/* Under its box, and once under neighbours of a row that have the same. */
static void add_degrees(layout *l)
{
    enum { TEXT = 200 };
    char text[TEXT], before[TEXT] = "";
    double run[4] = {0}, at[4];
    uint32_t block = 0, boxes = 0;
    for (uint32_t i = 1; l->under > 0 && i <= l->ops + 1; i++) {
        if (i <= l->ops && !is_drawn(l, i))
            continue;
        if (i <= l->ops) {
            box_of(l, i, at);
            write_degrees(&l->p->op[i], text, sizeof text);
        }
        bool goes_on = i <= l->ops && boxes && l->blocks.place[i].block == block &&
                       fabs(at[1] - run[1]) < 0.01 && at[0] > run[2] &&
                       at[0] - run[2] < l->pitch / 2 && !strcmp(text, before);
        if (boxes && !goes_on) {
            double under[4] = {run[0], run[3], run[2], run[3] + l->under - 1};
            bool room = (double)strlen(before) * SMALL <= run[2] - run[0] + 1;
            l->crowded = l->crowded || !room;
            if (room)
                add_row(l, "degrees", before, boxes > 1 ? "several" : "-", under, 0);
            boxes = 0;
        }
        if (i > l->ops)
            break;
        if (!boxes)
            memcpy(run, at, sizeof run);
        run[2] = at[2];
        memcpy(before, text, sizeof before);
        block = l->blocks.place[i].block;
        boxes++;
    }
}

/* What reads what inside of a block, from box to box; unrolled blocks are in order anyway. */
static void add_edges(layout *l)
{
    for (uint32_t i = 0; i < l->p->edges; i++) {
        const ss_picture_edge *e = &l->p->edge[i];
        double from[4], to[4];
        if (!e->from || e->from > l->ops || e->to > l->ops ||
            l->blocks.place[e->from].block != l->blocks.place[e->to].block ||
            l->blocks.block[l->blocks.place[e->to].block].unrolled || !is_drawn(l, e->from) ||
            !is_drawn(l, e->to))
            continue;
        box_of(l, e->from, from);
        box_of(l, e->to, to);
        double at[4] = {from[2], (from[1] + from[3]) / 2, to[0], (to[1] + to[3]) / 2};
        if (at[2] > at[0] - 0.01) /* not where a block is folded */
            add_row(l, "edge", "", "-", at, 0);
    }
}

static void add_blocks(layout *l)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < l->blocks.n; i++) {
        const ss_plot_block *b = &l->blocks.block[i];
        const spot *s = &l->at[i];
        double high = rows_of(l, i) * (l->pitch + l->under);
        double at[4] = {s->left, s->top, s->left + s->columns * l->pitch, s->top + high};
        if (l->labels > 0)
            at[0] = MARGIN;
        add_row(l, "block", b->label, l->labels > 0 ? "left" : "over", at, 0);
        most = b->unrolled && s->columns > most ? s->columns : most;
    }
    uint32_t every = l->pitch > 12 ? 1 : l->pitch > 7 ? 2 : 5;
    for (uint32_t c = 0; l->labels > 0 && c < most; c++) {
        char number[32];
        const ss_plot_steps *step = l->blocks.step ? &l->blocks.step[c] : NULL;
        double left = MARGIN + l->labels + c * l->pitch;
        double at[4] = {left, 0, left + l->pitch - (l->pitch > 8 ? 2 : l->pitch / 5), OVER};
        if (step && step->last > step->first)
            snprintf(number, sizeof number, "%u–%u", step->first + 1, step->last + 1);
        else
            snprintf(number, sizeof number, "%u", (step ? step->first : c) + 1);
        bool fits = step ? width_of(number) <= l->pitch + 1 : (c + 1) % every == 0;
        if (c == 0 || fits)
            add_row(l, "step", number, "-", at, 0);
    }
}

static void add_note(layout *l, const char *text)
{
    static const double nowhere[4] = {0};
    add_row(l, "note", text, "-", nowhere, 0);
}

static void add_notes(layout *l)
{
    char note[240];
    bool parameters = false, wrapped = false;
    for (uint32_t i = 1; i <= l->ops; i++) {
        grid g = grid_of(&l->p->op[i]);
        parameters = parameters || splits_parameters(&l->p->op[i]);
        wrapped = wrapped || g.wrap;
    }
    snprintf(note, sizeof note,
             "A box is an operator; its rows are parts of the samples, its columns of %s.",
             parameters ? "other dimensions (black frame: of parameters too)" : "other dimensions");
    add_note(l, note);
    if (l->under > 0)
        add_note(l, "Below it the degrees: n4 c2 is 4 parts of dimension n times 2 of c.");
    if (wrapped) {
        snprintf(note, sizeof note, "More than %d parts along one dimension are wrapped like text.",
                 MANY);
        add_note(l, note);
    }
    uint32_t alike = 0;
    for (uint32_t i = 1; i <= l->ops; i++)
        alike += is_drawn(l, i) ? 0 : 1;
    if (alike) {
        snprintf(note, sizeof note,
                 "Neighbours that are alike, devices and all, are drawn once: %u boxes are %u "
                 "operators.",
                 l->ops - alike, l->ops);
        add_note(l, note);
    }
    if (l->machines > 1 && l->machines < l->p->devices && l->p->devices > COLOURS)
        add_note(l, "A hue is a machine, its devices from dark to light.");
    if (l->crowded || l->under <= 0)
        add_note(l, "Degrees that have no room are left out.");
    if (l->thinned) {
        snprintf(note, sizeof note,
                 "Of %u operator%s with over %d parts in a row not all are shown.", l->thinned,
                 l->thinned == 1 ? "" : "s", SS_PLOT_MAX_GRID);
        add_note(l, note);
    }
    if (l->ops < l->p->ops) {
        snprintf(note, sizeof note, "Not shown: the last %u operators of %u.", l->p->ops - l->ops,
                 l->p->ops);
        add_note(l, note);
    }
}

static ss_status add_table(layout *l)
{
    const ss_picture *p = l->p;
    ss_text title = {0};
    ss_text_add(l->out, "kind\tlabel\tstyle\tleft\ttop\tright\tbottom\tdevice\tmachine\tplace\n");
    ss_text_add(&title, "%s on %s, %s", p->model, p->topology, p->strategy);
    double page[4] = {0, 0, l->width, l->height};
    add_row(l, "title", ss_text_get(&title), "-", page, 0);
    ss_status s = ss_text_status(&title, l->err);
    ss_text_free(&title);
    for (uint32_t d = 1; d <= p->devices; d++)
        add_row(l, "device", p->device[d].name, "-", (const double[4]){0}, d);
    add_blocks(l);
    add_edges(l);
    add_ops(l);
    add_degrees(l);
    add_notes(l);
    return s ? s : ss_text_status(l->out, l->err);
}

ss_status ss_plot_strategy_data(const ss_picture *p, const ss_plot_options *o, ss_text *out,
                                ss_error *err)
{
    layout l = {.p = p, .out = out, .err = err};
    ss_status s = ss_plot_check_width(o, err);
    if (!s && !p->ops)
        s = ss_fail(err, SS_EINVAL, "%s has no operators to draw", p->model);
    if (s)
        return s;
    l.width = 72 * (o->width_in > 0 ? o->width_in : SS_PLOT_COLUMN_IN);
    l.ops = p->ops < SS_PLOT_MAX_OPS ? p->ops : SS_PLOT_MAX_OPS;
    s = number_machines(&l);
    if (!s)
        s = ss_plot_blocks_of(p, l.ops, &l.blocks, err);
    if (!s) {
        l.at = ss_alloc_zeroed(l.blocks.n, sizeof *l.at);
        s = l.at ? SS_OK : ss_fail_memory(err, "a figure", l.blocks.n * sizeof *l.at);
    }
    if (!s) {
        s = fit_alike(&l);
        if (!s)
            s = add_table(&l);
    }
    ss_free(l.at);
    ss_free(l.machine);
    ss_plot_blocks_free(&l.blocks);
    return s;
}

ss_status ss_plot_strategy(const ss_picture *p, const char *path, const ss_plot_options *o,
                           ss_error *err)
{
    ss_text table = {0};
    ss_status s = ss_plot_check("strategy", path, o, err);
    if (!s)
        s = ss_plot_strategy_data(p, o, &table, err);
    if (!s)
        s = ss_plot_draw("strategy", &table, path, o, err);
    ss_text_free(&table);
    return s;
}
