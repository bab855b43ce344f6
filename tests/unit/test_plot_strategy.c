/* A strategy drawn: its rows from memory and from a record, its blocks, its boxes. */
#include "config.h"

#include "io/plot_strategy.h"

#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "figure_fixture.h"
#include "io/file.h"
#include "io/plot_blocks.h"
#include "io/record.h"
#include "steps.h"

static ss_error err;

static ss_status table(const ss_picture *p, double width, ss_text *out)
{
    return ss_plot_strategy_data(p, &(ss_plot_options){.width_in = width}, out, &err);
}

static const ss_manifest manifest = {
    .version = "0.1.0", .command = "", .script_name = "", .script_text = "", .options = ""};

/* The strategies of the step under these names. */
static void write_record(const step *s, const char *path, const char *const *name, uint32_t n)
{
    ss_record *r;
    net_must(ss_record_create(path, &manifest, &r, &err), &err);
    net_must(ss_record_model(r, s->model, &err), &err);
    net_must(ss_record_topology(r, s->topology, &err), &err);
    for (uint32_t i = 0; i < n; i++)
        net_must(ss_record_strategy(r, name[i], s->strategy, &err), &err);
    net_must(ss_record_finish(r, &err), &err);
}

/* ---- wrong input ----------------------------------------------------------------------------- */

static void which_strategy_of_a_record_has_to_be_clear(void)
{
    static const char *const names[] = {"first", "second", "best"};
    step s;
    ss_picture p = {0};
    ss_lower_options lower = ss_lower_options_start();
    step_small(&s, &lower);
    write_record(&s, "none.h5", names, 0);
    write_record(&s, "two.h5", names, 2);
    write_record(&s, "three.h5", names, 3);
    CHECK(ss_picture_read("nowhere.h5", NULL, &p, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "nowhere.h5");
    CHECK(ss_picture_read("none.h5", NULL, &p, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "none.h5 holds no strategy");
    CHECK(ss_picture_read("two.h5", NULL, &p, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "two.h5 holds 2 strategies, so say which: \"first\", \"second\"");
    CHECK(ss_picture_read("two.h5", "secnd", &p, &err) == SS_ENOTFOUND);
    CHECK_TEXT(err.text, "holds no strategy \"secnd\"; did you mean \"second\"?");
    CHECK(ss_picture_read("two.h5", "elephant", &p, &err) == SS_ENOTFOUND && !p.op);
    CHECK_TEXT(err.text, "it holds \"first\", \"second\"");
    CHECK_OK(ss_picture_read("three.h5", NULL, &p, &err)); /* what a search has found */
    CHECK(!strcmp(p.strategy, "best"), "%s", p.strategy);
    ss_picture_free(&p);
    remove("none.h5");
    remove("two.h5");
    remove("three.h5");
    step_free(&s);
}

static void what_makes_no_picture_is_refused(void)
{
    ss_picture p = {.model = "empty", .topology = "", .strategy = ""};
    ss_text t = {0};
    CHECK(table(&p, 3.5, &t) == SS_EINVAL);
    CHECK_TEXT(err.text, "empty has no operators to draw");
    CHECK(table(&p, 41, &t) == SS_EINVAL && !t.n);
    CHECK_TEXT(err.text, "41 inches wide");
    ss_plot_options o = {.scripts = scripts};
    CHECK(ss_plot_strategy(&p, "figure.bmp", &o, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "cannot tell the format of figure.bmp");
}

/* ---- two ways to the same picture ------------------------------------------------------------ */

static void a_record_gives_the_same_picture_as_the_strategy(void)
{
    static const char *const names[] = {"mixed"};
    step s;
    ss_picture a, b;
    ss_text of = {0}, read = {0};
    ss_lower_options lower = ss_lower_options_start();
    step_nmt(&s, 2, 3, true, &lower);
    step_split(&s, 3, 0, 5, 2);
    write_record(&s, "one.h5", names, 1);
    CHECK_OK(ss_picture_of(s.strategy, "mixed", &a, &err));
    CHECK_OK(ss_picture_read("one.h5", NULL, &b, &err));
    CHECK(a.ops == b.ops && a.edges == b.edges && a.parts == b.parts && a.devices == 6);
    CHECK_OK(table(&a, 7, &of));
    CHECK_OK(table(&b, 7, &read));
    CHECK(of.n == read.n && !memcmp(of.at, read.at, of.n));
    ss_text_free(&of);
    ss_text_free(&read);
    ss_picture_free(&a);
    ss_picture_free(&b);
    remove("one.h5");
    step_free(&s);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct named {
    const char *name, *share;
    uint32_t layer, from, from2; /* what it reads; 0: nothing */
    const char *block;
    uint32_t column, row;
} named;

static void check_blocks(const named *list, uint32_t n)
{
    static ss_picture_op op[64];
    static ss_picture_edge edge[128];
    ss_picture p = {.ops = n, .op = op, .edge = edge};
    for (uint32_t i = 1; i <= n; i++) {
        op[i] = (ss_picture_op){
            .name = list[i - 1].name, .share = list[i - 1].share, .layer = list[i - 1].layer};
        if (list[i - 1].from)
            edge[p.edges++] = (ss_picture_edge){list[i - 1].from, i};
        if (list[i - 1].from2)
            edge[p.edges++] = (ss_picture_edge){list[i - 1].from2, i};
    }
    ss_plot_blocks b;
    CHECK_OK(ss_plot_blocks_of(&p, n, &b, &err));
    for (uint32_t i = 1; i <= n; i++) {
        const ss_plot_place *at = &b.place[i];
        const named *want = &list[i - 1];
        CHECK(!strcmp(b.block[at->block].label, want->block) && at->column == want->column &&
                  at->row == want->row,
              "%s is in %s, column %u, row %u", want->name, b.block[at->block].label, at->column,
              at->row);
    }
    ss_plot_blocks_free(&b);
}

static void branches_of_a_module_lie_below_each_other(void)
{
    static const named inception[] = {
        {"stem1", "", 0, 0, 0, "stem", 0, 0},        {"stem2", "", 0, 1, 0, "stem", 1, 0},
        {"A1.1_1", "", 0, 2, 0, "A1", 0, 0},         {"A1.2_1", "", 0, 2, 0, "A1", 0, 1},
        {"A1.2_2", "", 0, 4, 0, "A1", 1, 1},         {"A1.3_1", "", 0, 2, 0, "A1", 0, 2},
        {"A1.join", "", 0, 5, 3, "A1", 2, 0},        {"E1.2_1", "", 0, 7, 0, "E1", 0, 0},
        {"E1.2_2.1_1", "", 0, 8, 0, "E1", 1, 0},     {"E1.2_2.2_1", "", 0, 8, 0, "E1", 1, 1},
        {"pool", "", 0, 10, 0, "pool … flat", 0, 0}, {"flat", "", 0, 11, 0, "pool … flat", 1, 0}};
    check_blocks(inception, sizeof inception / sizeof inception[0]);
}

static void steps_of_a_layer_are_in_one_row(void)
{
    static const named unrolled[] = {
        {"e.1", "e", 1, 0, 0, "e", 0, 0},       {"e.2", "e", 1, 0, 0, "e", 1, 0},
        {"e.3", "e", 1, 0, 0, "e", 2, 0},       {"l.1", "lstm", 0, 1, 0, "lstm", 0, 0},
        {"l.2", "lstm", 0, 2, 4, "lstm", 1, 0}, {"l.3", "lstm", 0, 3, 5, "lstm", 2, 0},
        {"b.x", "", 7, 6, 0, "b", 0, 0},        {"b.y", "", 7, 7, 0, "b", 1, 0},
        {"c.x", "", 8, 8, 0, "layer 8", 0, 0},  {"d.y", "", 8, 0, 0, "layer 8", 0, 1}};
    check_blocks(unrolled, sizeof unrolled / sizeof unrolled[0]);
}

static void a_large_block_goes_by_longer_names(void)
{
    static named list[30];
    static char name[30][16], block[30][16];
    for (uint32_t i = 0; i < 30; i++) {
        snprintf(name[i], sizeof name[i], "s.%u.%u", i / 3, i % 3);
        snprintf(block[i], sizeof block[i], "s.%u", i / 3);
        list[i] = (named){name[i], "", 0, i, 0, block[i], i % 3, 0};
    }
    check_blocks(list, 30);
    for (uint32_t i = 0; i < 24; i++) {
        snprintf(block[i], sizeof block[i], "s");
        list[i].column = i;
    }
    check_blocks(list, 24);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Every part stands in the row of its samples and the column of its channels: told by the part's
 * box, which strategy.c works out in another way.  The parts of an operator fill its box. */
static void parts_stand_where_their_elements_are(void)
{
    enum { ROWS = 3, COLUMNS = 4 };
    step s;
    ss_picture p;
    ss_text t = {0};
    step_begin(&s, step_mlp(96, 1000, 2), net_cluster(4, 3, 10e9, 1.25e9, 2e-6));
    const uint32_t degree[] = {ROWS, COLUMNS};
    ss_device device[ROWS * COLUMNS];
    for (uint32_t k = 0; k < ROWS * COLUMNS; k++)
        device[k].i = k * 5 % (ROWS * COLUMNS) + 1; /* each on one of its own */
    CHECK_OK(ss_strategy_set(s.strategy, (ss_op){1}, degree, 2, device, ROWS * COLUMNS, &err));
    CHECK_OK(ss_picture_of(s.strategy, "cut", &p, &err));
    CHECK_OK(table(&p, 3.5, &t));
    double area = 0, box[4] = {0};
    uint32_t parts = 0;
    const char *first = strstr(t.at, "\noperator\t");
    CHECK(first && sscanf(first, "\noperator\t%*s\tparameter\t%lf\t%lf\t%lf\t%lf", &box[0], &box[1],
                          &box[2], &box[3]) == 4);
    for (const char *at = t.at; (at = strstr(at, "\npart\t")) && at < first; at++, parts++) {
        double x0, y0, x1, y1;
        uint32_t on;
        ss_box elements;
        CHECK(sscanf(at, "\npart\t\t%*s\t%lf\t%lf\t%lf\t%lf\t%u", &x0, &y0, &x1, &y1, &on) == 5);
        area += (x1 - x0) * (y1 - y0);
        uint32_t k = 0;
        while (k < ROWS * COLUMNS && device[k].i != on)
            k++;
        ss_strategy_part_box(s.strategy, (ss_op){1}, k, &elements);
        double row = (double)elements.lo[0] / 96, column = (double)elements.lo[1] / 1000;
        CHECK(fabs((y0 - box[1]) / (box[3] - box[1]) - row) < 0.01 &&
                  fabs((x0 - box[0]) / (box[2] - box[0]) - column) < 0.01,
              "part %u at %g, %g", k, x0, y0);
    }
    CHECK(parts == ROWS * COLUMNS &&
              fabs(area / ((box[2] - box[0]) * (box[3] - box[1])) - 1) < 0.02,
          "%u parts, %g", parts, area);
    CHECK_TEXT(t.at, "black frame: of parameters too");
    ss_text_free(&t);
    ss_picture_free(&p);
    step_free(&s);
}

static void boxes_do_not_overlap_and_stay_on_the_page(void)
{
    enum { MOST = 400 };
    static const double width[] = {1.5, 3.5, 7};
    static double box[MOST][4];
    step s;
    ss_picture p;
    ss_lower_options lower = ss_lower_options_start();
    for (int which = 0; which < 2; which++) {
        if (which)
            step_nmt(&s, 2, 2, false, &lower);
        else
            step_small(&s, &lower);
        CHECK_OK(ss_picture_of(s.strategy, "x", &p, &err));
        for (int w = 0; w < 3; w++) {
            ss_text t = {0};
            uint32_t n = 0, others = 0;
            CHECK_OK(table(&p, width[w], &t));
            for (const char *at = t.at; (at = strstr(at, "\nlike\t")); at++)
                others++;
            for (const char *at = t.at; (at = strstr(at, "\noperator\t")) && n < MOST; at++, n++) {
                double *b = box[n];
                CHECK(sscanf(at, "\noperator\t%*s\t%*s\t%lf\t%lf\t%lf\t%lf", &b[0], &b[1], &b[2],
                             &b[3]) == 4);
                CHECK(b[0] >= 0 && b[2] <= 72 * width[w] && b[1] >= 0 && b[3] > b[1], "%u", n);
                for (uint32_t i = 0; i < n; i++)
                    CHECK(b[0] >= box[i][2] || b[2] <= box[i][0] || b[1] >= box[i][3] ||
                              b[3] <= box[i][1],
                          "boxes %u and %u at %g inches", i, n, width[w]);
            }
            CHECK(n + others == p.ops, "%u boxes of %u", n, p.ops);
            ss_text_free(&t);
        }
        ss_picture_free(&p);
        step_free(&s);
    }
}

/* ---- degrees, and equal neighbours ------------------------------------------------------------ */

static void degrees_are_written_once_under_neighbours_that_have_the_same(void)
{
    step s;
    ss_picture p;
    ss_text t = {0};
    step_begin(&s, step_mlp(96, 1000, 4), net_cluster(2, 3, 10e9, 1.25e9, 2e-6));
    step_split(&s, 1, 0, 6, 1);
    step_split(&s, 2, 0, 6, 2);
    step_split(&s, 3, 1, 3, 1);
    CHECK_OK(ss_picture_of(s.strategy, "x", &p, &err));
    for (uint32_t i = 1; i <= p.ops; i++)
        p.op[i].layer = 0; /* else each is a block */
    CHECK_OK(table(&p, 3.5, &t));
    const char *at = t.at;
    uint32_t rows = 0;
    for (; (at = strstr(at, "\ndegrees\t")); at++)
        rows++;
    CHECK(rows == 3, "%u rows", rows); /* two of 6 parts, one of 3, one whole */
    CHECK_TEXT(t.at, "\ndegrees\tn6\tseveral\t");
    CHECK_TEXT(t.at, "\ndegrees\tc3\t-\t");
    CHECK_TEXT(t.at, "\ndegrees\t1\t-\t");
    CHECK(!strstr(t.at, "left out") && !strstr(t.at, "\nlike\t"));
    const uint32_t degree[] = {20, 50};
    ss_device device[1000];
    for (int k = 0; k < 1000; k++)
        device[k].i = 1;
    CHECK_OK(ss_strategy_set(s.strategy, (ss_op){3}, degree, 2, device, 1000, &err));
    ss_picture_free(&p);
    ss_text_clear(&t);
    CHECK_OK(ss_picture_of(s.strategy, "x", &p, &err));
    for (uint32_t i = 1; i <= p.ops; i++)
        p.op[i].layer = 0;
    CHECK_OK(table(&p, 1, &t)); /* a page on which "n20 c50" has no room under a box */
    CHECK_TEXT(t.at, "Degrees that have no room are left out.");
    ss_text_free(&t);
    ss_picture_free(&p);
    step_free(&s);
}

static bool same(const ss_picture *p, uint32_t a, uint32_t b)
{
    const ss_picture_op *x = &p->op[a], *y = &p->op[b];
    bool equal = x->parts == y->parts && !strcmp(x->dimensions, y->dimensions);
    for (int d = 0; d < SS_MAX_DIMS; d++)
        equal = equal && x->degree[d] == y->degree[d];
    for (uint32_t k = 0; equal && k < x->parts; k++)
        equal = p->part[x->first + k] == p->part[y->first + k];
    return equal;
}

static uint32_t op_of(const ss_picture *p, const char *name, size_t n)
{
    uint32_t i = p->ops;
    while (i && (strlen(p->op[i].name) != n || memcmp(p->op[i].name, name, n) != 0))
        i--;
    return i;
}

/* How many operators have no box of their own: each lies on the box of one that is the same. */
static uint32_t check_alike(const ss_picture *p, const ss_text *t)
{
    uint32_t others = 0;
    for (const char *at = t->at; (at = strstr(at, "\nlike\t")); others++) {
        at += strlen("\nlike\t");
        uint32_t op = op_of(p, at, strcspn(at, "\t"));
        const char *box = strchr(strchr(at, '\t') + 1, '\t'), *end = strchr(box, '\n');
        bool found = false;
        for (const char *of = t->at; (of = strstr(of, "\noperator\t"));) {
            of += strlen("\noperator\t");
            const char *there = strchr(strchr(of, '\t') + 1, '\t');
            found = found || (!strncmp(there, box, (size_t)(end - box)) &&
                              same(p, op, op_of(p, of, strcspn(of, "\t"))));
        }
        if (!op || !found) {
            printf("  %.20s has no box that is the same\n", at);
            return UINT32_MAX;
        }
    }
    return others;
}

static void steps_that_are_alike_in_every_layer_are_one_column(void)
{
    step s;
    ss_picture p;
    ss_text t = {0};
    ss_lower_options lower = ss_lower_options_start();
    step_nmt(&s, 2, 2, false, &lower);
    CHECK_OK(ss_picture_of(s.strategy, "x", &p, &err));
    CHECK_OK(table(&p, 7, &t)); /* all have room */
    CHECK_TEXT(t.at, "\nstep\t5\t");
    CHECK(!check_alike(&p, &t));
    ss_text_clear(&t);
    CHECK_OK(table(&p, 1.5, &t));
    CHECK_TEXT(t.at, "\nstep\t1–5\t");
    CHECK(check_alike(&p, &t) == p.ops - p.ops / 5, "%u", p.ops);
    CHECK_TEXT(t.at, "are drawn once: 8 boxes are 40 operators.");
    uint32_t odd = op_of(&p, "softmax_2", 9);
    CHECK(odd > 0);
    p.part[p.op[odd].first + 2] = p.part[p.op[odd].first]; /* one part elsewhere */
    ss_text_clear(&t);
    CHECK_OK(table(&p, 1.5, &t));
    CHECK_TEXT(t.at, "\nstep\t1–2\t");
    CHECK_TEXT(t.at, "\nstep\t3\t");
    CHECK_TEXT(t.at, "\nstep\t4–5\t");
    CHECK(check_alike(&p, &t) == p.ops - 3 * p.ops / 5);
    ss_text_free(&t);
    ss_picture_free(&p);
    step_free(&s);
}

static void blocks_that_are_alike_are_one_with_a_count(void)
{
    enum { BLOCKS = 40, EACH = 3, OPS = BLOCKS * EACH };
    static ss_picture_op op[OPS + 1];
    static ss_picture_edge edge[OPS];
    static uint32_t part[OPS * 2];
    static char name[OPS + 1][16];
    ss_picture_device device[] = {{NULL, 0}, {"a", 0}, {"b", 0}};
    ss_picture p = {.model = "m",
                    .topology = "t",
                    .strategy = "s",
                    .ops = OPS,
                    .op = op,
                    .edges = OPS - 1,
                    .edge = edge,
                    .devices = 2,
                    .device = device,
                    .part = part};
    for (uint32_t i = 1; i <= OPS; i++) {
        snprintf(name[i], sizeof name[i], "s.%u.%u", (i - 1) / EACH + 1, (i - 1) % EACH);
        op[i] = (ss_picture_op){.name = name[i],
                                .share = "",
                                .dimensions = "n:s c:p",
                                .degree = {1, 2, 1, 1, 1},
                                .parts = 2,
                                .first = 2 * (i - 1)};
        part[2 * i - 2] = 1;
        part[2 * i - 1] = 2;
        edge[i - 1] = (ss_picture_edge){i, i + 1};
    }
    op[EACH * 11 + 2].degree[0] = 2; /* of block 12 */
    op[EACH * 11 + 2].degree[1] = 1;
    ss_text t = {0};
    CHECK_OK(table(&p, 2, &t));
    CHECK_TEXT(t.at, "\nblock\ts.1 … s.11 ×11\t");
    CHECK_TEXT(t.at, "\nblock\ts.12\t");
    CHECK_TEXT(t.at, "\nblock\ts.13 … s.40 ×28\t");
    CHECK_TEXT(t.at, "are drawn once: 9 boxes are 120 operators.");
    CHECK(check_alike(&p, &t) == OPS - 3 * EACH);
    ss_text_free(&t);
}

static void machines_are_numbered_in_the_order_of_their_devices(void)
{
    step s;
    ss_picture p;
    ss_text t = {0};
    ss_lower_options lower = ss_lower_options_start();
    step_small(&s, &lower);
    CHECK_OK(ss_picture_of(s.strategy, "x", &p, &err));
    p.device[1].machine = p.device[3].machine = 9;
    p.device[2].machine = 0; /* alone */
    p.device[4].machine = 2;
    CHECK_OK(table(&p, 3.5, &t));
    CHECK_TEXT(t.at, "\t1\t1\t0\n");
    CHECK_TEXT(t.at, "\t2\t2\t0.5\n");
    CHECK_TEXT(t.at, "\t3\t1\t1\n");
    CHECK_TEXT(t.at, "\t4\t3\t0.5\n");
    ss_text_free(&t);
    ss_picture_free(&p);
    step_free(&s);
}

static void of_what_is_too_much_a_note_says_so(void)
{
    enum { OPS = SS_PLOT_MAX_OPS + 7 };
    static ss_picture_op op[OPS + 1];
    static uint32_t part[OPS * 3 + 2000];
    ss_picture_device device[] = {{NULL, 0}, {"a", 0}};
    ss_picture p = {.model = "m",
                    .topology = "t",
                    .strategy = "s",
                    .ops = OPS,
                    .op = op,
                    .devices = 1,
                    .device = device,
                    .part = part};
    for (uint32_t i = 1; i <= OPS; i++)
        op[i] = (ss_picture_op){.name = "x",
                                .share = "",
                                .dimensions = "n:s",
                                .degree = {i == 2 ? 1500 : 3, 1, 1, 1, 1},
                                .parts = i == 2 ? 1500 : 3};
    for (uint32_t i = 0; i < sizeof part / sizeof part[0]; i++)
        part[i] = 1;
    ss_text t = {0};
    CHECK_OK(table(&p, 3.5, &t));
    CHECK_TEXT(t.at, "Not shown: the last 7 operators of 3007.");
    CHECK_TEXT(t.at, "Of 1 operator with over 32 parts in a row not all are shown.");
    CHECK_TEXT(t.at, "More than 8 parts along one dimension are wrapped like text.");
    ss_text_free(&t);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void it_is_drawn_in_each_format(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    static const char *const path[] = {"figure.svg", "figure.png", "figure.pdf"};
    static const char *const begins[] = {"<?xml", "\x89PNG", "%PDF"};
    ss_lower_options lower = ss_lower_options_start();
    for (uint32_t i = 0; i < 6; i++) {
        step s;
        ss_picture p;
        ss_text drawn = {0};
        char beside[40];
        step_nmt(&s, i < 3 ? 2 : 8, 4, i % 2, &lower);
        ss_plot_options o = {.scripts = scripts, .width_in = i < 3 ? 3.5 : 1.3};
        CHECK_OK(ss_picture_of(s.strategy, "found", &p, &err));
        CHECK_OK(ss_plot_strategy(&p, path[i % 3], &o, &err));
        CHECK_OK(ss_file_read(path[i % 3], 10000000, &drawn, &err));
        CHECK(!strncmp(drawn.at, begins[i % 3], strlen(begins[i % 3])), "%s", path[i % 3]);
        if (i == 0)
            CHECK_TEXT(drawn.at, ">softmax<");
        snprintf(beside, sizeof beside, "%s.tsv", path[i % 3]);
        CHECK(!remove(path[i % 3]) && !remove(beside));
        ss_text_free(&drawn);
        ss_picture_free(&p);
        step_free(&s);
    }
}

static void no_memory_is_said_and_nothing_is_left(void)
{
    static const char *const names[] = {"mixed"};
    step s;
    ss_lower_options lower = ss_lower_options_start();
    step_small(&s, &lower);
    write_record(&s, "one.h5", names, 1);
    size_t blocks = ss_mem_blocks();
    for (int way = 0; way < 2; way++) {
        ss_status status = SS_ENOMEM;
        for (int64_t n = 0; status == SS_ENOMEM; n++) {
            ss_picture p = {0};
            ss_plot_options o = {.scripts = scripts, .gnuplot = "no-such-gnuplot"};
            ss_mem_fail_after(n);
            status = way ? ss_picture_read("one.h5", NULL, &p, &err)
                         : ss_picture_of(s.strategy, "x", &p, &err);
            if (!status)
                status = ss_plot_strategy(&p, "figure.svg", &o, &err);
            ss_mem_fail_never();
            ss_picture_free(&p);
            CHECK(ss_mem_blocks() == blocks && n < 10000, "request %d", (int)n);
        }
        CHECK(status == SS_EUNSUPPORTED && !there("figure.svg"), "%s", err.text);
    }
    remove("one.h5");
    step_free(&s);
}

int main(void)
{
    if (!draw_in("test_plot_strategy.dir"))
        return 99;
    RUN(which_strategy_of_a_record_has_to_be_clear);
    RUN(what_makes_no_picture_is_refused);
    RUN(a_record_gives_the_same_picture_as_the_strategy);
    RUN(branches_of_a_module_lie_below_each_other);
    RUN(steps_of_a_layer_are_in_one_row);
    RUN(a_large_block_goes_by_longer_names);
    RUN(parts_stand_where_their_elements_are);
    RUN(boxes_do_not_overlap_and_stay_on_the_page);
    RUN(degrees_are_written_once_under_neighbours_that_have_the_same);
    RUN(steps_that_are_alike_in_every_layer_are_one_column);
    RUN(blocks_that_are_alike_are_one_with_a_count);
    RUN(machines_are_numbered_in_the_order_of_their_devices);
    RUN(of_what_is_too_much_a_note_says_so);
    RUN(it_is_drawn_in_each_format);
    RUN(no_memory_is_said_and_nothing_is_left);
    if (chdir("..") || rmdir("test_plot_strategy.dir"))
        printf("test_plot_strategy.dir is not empty\n"), check_failed++;
    return DONE();
}
