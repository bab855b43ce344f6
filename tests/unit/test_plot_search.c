/* Figures of searches, and of curves in general. */
#include "config.h"

#include "io/plot_search.h"

#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "figure_fixture.h"
#include "io/file.h"
#include "io/plot_curves.h"
#include "search_view.h"

static ss_error err;

enum { STEPS = 40000 };
static ss_trajectory_step steps[3][STEPS];

/* The fields of the next row that is not empty; false at the end.  The text is written to. */
static bool next_row(char **at, char *field[7])
{
    char *line = *at;
    while (*line == '\n')
        line++;
    char *end = strchr(line, '\n');
    if (!end)
        return false;
    *end = 0;
    *at = end + 1;
    for (int i = 0; i < 7; i++) {
        field[i] = line;
        char *tab = line ? strchr(line, '\t') : NULL;
        if (tab)
            *tab++ = 0;
        line = tab;
    }
    return field[6] && !line;
}

static ss_status table(const ss_trajectory_view *v, uint32_t logs, ss_plot_search_kind kind,
                       ss_plot_search_options so, ss_text *out)
{
    static const char *const label[] = {"one", "two", "three"};
    ss_plot_log log[3];
    for (uint32_t i = 0; i < logs; i++)
        log[i] = (ss_plot_log){label[i], &v[i]};
    return ss_plot_search_data(log, logs, kind, &so, &(ss_plot_options){.width_in = 3.5}, out,
                               &err);
}

/* ---- wrong input ----------------------------------------------------------------------------- */

static void what_makes_no_figure_of_a_search_is_refused(void)
{
    ss_trajectory_chain c = walk_of("start", steps[0], 700, 1), none = {.name = "none"};
    ss_trajectory_view v = view_of(&c, 1), empty = view_of(&none, 1);
    ss_text t = {0};
    static const struct {
        ss_plot_search_kind kind;
        ss_plot_search_options so;
        const char *said;
    } wrong[] = {
        {SS_PLOT_COST, {.window = 90}, "a window of 90 proposals: costs are drawn as they are"},
        {SS_PLOT_ACCEPTANCE,
         {.window = 701},
         "a window of 701 proposals: the longest chain has 700"},
        {SS_PLOT_ACCEPTANCE, {.log_y = true}, "shares may be 0, so their axis cannot be log"},
        {SS_PLOT_COST, {.max_chains = 21}, "21 chains in one figure: at most 20"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(table(&v, 1, wrong[i].kind, wrong[i].so, &t) == SS_EINVAL);
        CHECK_TEXT(err.text, wrong[i].said);
    }
    ss_plot_search_options so = {0};
    CHECK(table(&v, 0, SS_PLOT_COST, so, &t) == SS_EINVAL);
    CHECK_TEXT(err.text, "needs a log");
    CHECK(table(&empty, 1, SS_PLOT_COST, so, &t) == SS_EINVAL);
    CHECK_TEXT(err.text, "no chain of this log has made a proposal yet");
    ss_plot_log log = {"one", &v};
    ss_plot_options o = {.scripts = scripts, .width_in = 0.5};
    CHECK(ss_plot_search(&log, 1, SS_PLOT_COST, "figure.svg", &so, &o, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "0.5 inches wide");
    o.width_in = 0;
    CHECK(ss_plot_search(&log, 1, SS_PLOT_COST, "figure.jpg", &so, &o, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "cannot tell the format of figure.jpg");
    CHECK(!t.n && !there("figure.svg") && !there("figure.svg.tsv"));
    ss_text_free(&t);
}

static ss_plot_curves one_line(ss_plot_series *s)
{
    static const char *const panel[] = {""};
    return (ss_plot_curves){.figure = "lines",
                            .title = "",
                            .x = {"devices", NULL, 0, NAN, NAN},
                            .y = {"speed", NULL, 0, NAN, NAN},
                            .panel = panel,
                            .panels = 1,
                            .series = s,
                            .n = 1};
}

static void what_makes_no_curves_is_refused(void)
{
    static const double x[] = {1, 2, 3}, y[] = {0.5, 7, 0}, far[] = {1, INFINITY, NAN};
    ss_plot_series s = {.label = "seven", .x = x, .y = y, .n = 3};
    ss_plot_curves c = one_line(&s);
    const ss_plot_curves right = c;
    ss_text t = {0};
    c.y.log = 10;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "series \"seven\", point 3: y is 0, and that axis is logarithmic");
    c = right;
    c.y.log = 3;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "axis y is logarithmic to the base of 3");
    c = right;
    c.x = (ss_plot_axis){"devices", NULL, 0, 8, 3};
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "axis x goes from 8 to 3");
    c.x = (ss_plot_axis){"devices", NULL, 2, -1, 3};
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "from_x is -1: an axis that is logarithmic begins above 0");
    c.x = (ss_plot_axis){"devices", NULL, 2, NAN, 0};
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "to_x is 0: an axis that is logarithmic ends above 0");
    c = right;
    c.n = 0;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "there is nothing to draw");
    c = right;
    c.panels = 25;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "a figure of 25 panels: there is room for 1 to 24");
    c = right;
    s.y = far;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text, "series \"seven\", point 2: (2, inf) is nowhere");
    s.y = y;
    s.x = far;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL && !t.n);
    CHECK_TEXT(err.text, "point 2: (inf, 7) is nowhere");
    ss_text_free(&t);
}

static void curves_of_which_nothing_is_seen_are_refused(void)
{
    static const double x[] = {0, 2, 3}, y[] = {0.5, 7, 9};
    ss_plot_series s = {.label = "seven", .x = x, .y = y, .n = 3};
    ss_plot_curves c = one_line(&s);
    ss_text t = {0};
    c.x.log = 10;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL && !t.n);
    CHECK_TEXT(err.text, "series \"seven\", point 1: x is 0, and that axis is logarithmic");
    c.zero_at_left = true;
    CHECK_OK(ss_plot_curves_data(&c, &t, &err));
    c.x.log = 0;
    c.y.from = 9.5;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    CHECK_TEXT(err.text,
               "nothing to see between the ends of the axes that are given: x goes from 0 "
               "to 3, y from 0.5 to 9");
    c.y.from = 9;
    CHECK_OK(ss_plot_curves_data(&c, &t, &err));
    c.y.from = 3; /* a line goes through where no point is */
    c.y.to = 4;
    CHECK_OK(ss_plot_curves_data(&c, &t, &err));
    s.look = SS_PLOT_POINTS;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    s.look = SS_PLOT_BOTH;
    c.x.to = -1;
    CHECK(ss_plot_curves_data(&c, &t, &err) == SS_EINVAL);
    ss_text_free(&t);
}

/* ---- thinning -------------------------------------------------------------------------------- */

/* Of a long log: the curve of the best has a point for every change, and the current cost of
 * each stretch of the axis is between what is drawn of it. */
static void thinning_loses_nothing_of_the_best_curve(void)
{
    ss_trajectory_chain c = walk_of("start", steps[0], STEPS, 5);
    ss_trajectory_view v = view_of(&c, 1);
    for (int log_x = 0; log_x < 2; log_x++) {
        ss_text t = {0};
        CHECK_OK(table(&v, 1, SS_PLOT_COST, (ss_plot_search_options){.log_x = log_x}, &t));
        char *at = t.at, *field[7];
        uint32_t next = 0, changes = 0, drawn = 0;
        double best = 3e-3, least = 1, greatest = 0;
        while (next_row(&at, field)) {
            if (strcmp(field[2], "point"))
                continue;
            double x = atof(field[5]), y = atof(field[6]);
            if (field[1][0] == '1') { /* the current cost */
                drawn++;
                least = fmin(least, y);
                greatest = fmax(greatest, y);
                continue;
            }
            for (; next < STEPS && steps[0][next].step < x; next++)
                CHECK(fabs(ss_time_seconds(steps[0][next].best) - best) < 1e-15, "step %u",
                      next + 1);
            changes += y != best;
            best = y;
        }
        CHECK(next == STEPS - 1 && changes > 5, "%u changes, %u steps", changes, next);
        CHECK(best == ss_time_seconds(steps[0][STEPS - 1].best));
        CHECK(drawn > 500 && drawn < 4 * 600, "%u points of %d", drawn, STEPS);
        double low = 1, high = 0.003;
        for (uint32_t i = 0; i < STEPS; i++) {
            low = fmin(low, ss_time_seconds(steps[0][i].current));
            high = fmax(high, ss_time_seconds(steps[0][i].current));
        }
        CHECK(least == low && greatest == high, "%g to %g, not %g to %g", least, greatest, low,
              high);
        ss_text_free(&t);
    }
}

/* A slow twin: the mean over a window, added up anew at each point. */
static void shares_are_means_of_the_window(void)
{
    enum { WINDOW = 137 };
    ss_trajectory_chain c = walk_of("start", steps[0], 5000, 3);
    ss_trajectory_view v = view_of(&c, 1);
    ss_text t = {0};
    CHECK_OK(table(&v, 1, SS_PLOT_ACCEPTANCE, (ss_plot_search_options){.window = WINDOW}, &t));
    CHECK_TEXT(t.at, "y_axis\tmean of 137 proposals");
    char *at = t.at, *field[7];
    uint32_t points = 0;
    while (next_row(&at, field)) {
        if (strcmp(field[2], "point"))
            continue;
        uint32_t step = (uint32_t)atoi(field[5]), panel = (uint32_t)atoi(field[0]);
        double sum = 0;
        CHECK(step >= WINDOW && step <= 5000, "step %u", step);
        for (uint32_t i = step - WINDOW; i < step; i++)
            sum += panel == 0   ? steps[0][i].accepted
                   : panel == 1 ? steps[0][i].stopped
                                : (double)steps[0][i].visited / steps[0][i].tasks;
        CHECK(fabs(atof(field[6]) - 100 * sum / WINDOW) < 1e-5, "step %u, panel %u: %s", step,
              panel, field[6]);
        points++;
    }
    CHECK(points > 3 * 500 && points < 3 * 600, "%u points", points);
    ss_text_free(&t);
}

/* A slow twin: what a step at any place of the window shows is what the chain had there. */
static void a_window_shows_what_the_chain_had_there(void)
{
    enum { FROM = 4321, TO = 4599 };
    ss_trajectory_chain c = walk_of("start", steps[0], STEPS, 5);
    ss_trajectory_view v = view_of(&c, 1);
    for (int log_x = 0; log_x < 2; log_x++) {
        ss_text t = {0};
        ss_plot_search_options so = {.log_x = log_x,
                                     .from_x = {true, FROM + 0.5},
                                     .to_x = {true, TO + 0.25},
                                     .to_y = {true, 0.004}};
        CHECK_OK(table(&v, 1, SS_PLOT_COST, so, &t));
        CHECK_TEXT(t.at, "x_from\t\t-\t4321.5\t0\n");
        CHECK_TEXT(t.at, "x_to\t\t-\t4599.25\t0\n");
        CHECK_TEXT(t.at, "y_to\t\t-\t0.004\t0\n");
        CHECK(!strstr(t.at, "y_from"));
        char *at = t.at, *field[7];
        double x[2] = {0}, y[2] = {0};
        uint32_t current = 0;
        while (next_row(&at, field)) {
            if (strcmp(field[2], "point"))
                continue;
            int k = field[1][0] == '1'; /* the current cost; a window this narrow is not thinned */
            double from = x[k] > 0 ? x[k] : FROM + 0.5;
            x[k] = atof(field[5]);
            CHECK(x[k] >= FROM + 0.5 && x[k] <= TO + 0.25, "x is %g", x[k]);
            for (uint32_t i = 0; y[k] > 0 && i < STEPS; i++)
                if (steps[0][i].step >= from && steps[0][i].step < x[k])
                    CHECK(y[k] == ss_time_seconds(k ? steps[0][i].current : steps[0][i].best),
                          "proposal %u", i + 1);
            if (!(y[k] > 0))
                CHECK(x[k] == FROM + 0.5 && steps[0][FROM - 1].step == FROM &&
                          atof(field[6]) == ss_time_seconds(k ? steps[0][FROM - 1].current
                                                              : steps[0][FROM - 1].best),
                      "the first stands at %g", x[k]);
            y[k] = atof(field[6]);
            current += k ? 1 : 0;
        }
        CHECK(x[0] == TO + 0.25 && x[1] == TO + 0.25 && current == TO - FROM + 2, "%u points",
              current);
        CHECK(!strstr(t.at, "are drawn"));
        ss_text_free(&t);
    }
    ss_text t = {0};
    ss_plot_search_options so = {.from_x = {true, 4321}, .to_x = {true, 4599}, .window = 50};
    CHECK_OK(table(&v, 1, SS_PLOT_ACCEPTANCE, so, &t));
    CHECK_TEXT(t.at, "\tpoint\t\t-\t4321\t");
    CHECK_TEXT(t.at, "\tpoint\t\t-\t4599\t");
    CHECK(!strstr(t.at, "\tpoint\t\t-\t4320\t") && !strstr(t.at, "\tpoint\t\t-\t4600\t"));
    ss_text_free(&t);
}

static void a_window_that_shows_nothing_is_refused(void)
{
    ss_trajectory_chain c = walk_of("start", steps[0], 300, 5);
    ss_trajectory_view v = view_of(&c, 1);
    ss_text t = {0};
    CHECK(table(&v, 1, SS_PLOT_COST,
                (ss_plot_search_options){.from_x = {true, 20}, .to_x = {true, 7}},
                &t) == SS_EINVAL);
    CHECK_TEXT(err.text, "from_x is 20 and to_x 7: a window ends after it begins");
    CHECK(table(&v, 1, SS_PLOT_COST, (ss_plot_search_options){.from_x = {true, 300}}, &t) ==
          SS_EINVAL);
    CHECK_TEXT(err.text, "from_x is 300: the longest chain goes from 0 to 300 proposals");
    CHECK(table(&v, 1, SS_PLOT_ACCEPTANCE, (ss_plot_search_options){.to_x = {true, 0}}, &t) ==
          SS_EINVAL);
    CHECK_TEXT(err.text, "to_x is 0: a search begins at 0");
    CHECK(table(&v, 1, SS_PLOT_COST, (ss_plot_search_options){.log_y = true, .from_y = {true, 0}},
                &t) == SS_EINVAL);
    CHECK_TEXT(err.text, "from_y is 0: an axis that is logarithmic begins above 0");
    CHECK(table(&v, 1, SS_PLOT_COST, (ss_plot_search_options){.from_y = {true, 0.0031}}, &t) ==
          SS_EINVAL);
    CHECK_TEXT(err.text,
               "nothing to see between the ends of the axes that are given: x goes from 0 "
               "to 300, y from 0.00");
    CHECK(table(&v, 1, SS_PLOT_ACCEPTANCE,
                (ss_plot_search_options){.from_y = {true, 100.5}, .to_y = {true, 120}},
                &t) == SS_EINVAL);
    ss_text_free(&t);
}

/* ---- several chains -------------------------------------------------------------------------- */

static void chains_go_by_the_names_that_tell_them_apart(void)
{
    ss_trajectory_chain two[2] = {walk_of("data_parallel", steps[0], 300, 1),
                                  walk_of("expert_rnn", steps[1], 200, 2)},
                        one = walk_of("whole", steps[2], 100, 3);
    ss_trajectory_view v[2] = {view_of(two, 2), view_of(&one, 1)};
    ss_plot_search_options so = {.seconds = true};
    ss_text t = {0};
    CHECK_OK(table(v, 1, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "entry\tdata_parallel\tsteps plain\t0\t0\n");
    CHECK_TEXT(t.at, "entry\texpert_rnn\tsteps plain\t1\t0\n");
    CHECK_TEXT(t.at, "entry\tthin: current cost\tsteps pale\t-1\t0\n");
    CHECK_TEXT(t.at, "x_axis\twall-clock time\tlinear");
    CHECK_TEXT(t.at, "title\tone: nmt on p100x4: a step of ");
    ss_text_clear(&t);
    CHECK_OK(table(v, 2, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "entry\tone, data_parallel\tsteps plain\t0\t0\n");
    CHECK_TEXT(t.at, "entry\ttwo\tsteps plain\t2\t0\n");
    CHECK_TEXT(t.at, "nmt on p100x4: a step of ");
    v[1].topology = "k80x4";
    ss_text_clear(&t);
    CHECK_OK(table(v, 2, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "2 searches of several problems: a step of ");
    ss_text_free(&t);
}

static void the_rule_of_memory_says_what_was_found(void)
{
    ss_trajectory_chain two[2] = {walk_of("data_parallel", steps[0], 300, 1),
                                  walk_of("expert_rnn", steps[1], 200, 2)};
    ss_trajectory_view v = view_of(two, 2);
    ss_plot_search_options so = {0};
    ss_text t = {0};
    v.options = "seed = 0\nmemory = penalty\npenalty = 1e-09\n";
    CHECK_OK(table(&v, 1, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "y_axis\tcost: step time and penalty\tlinear");
    CHECK_TEXT(t.at, "nmt on p100x4: a cost of ");
    v.options = "my memory = penalty\nmemory = penalty 3\nmemory = wall"; /* the last is a line */
    ss_text_clear(&t);
    CHECK_OK(table(&v, 1, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "y_axis\tstep time\tlinear");
    CHECK_TEXT(t.at, "nmt on p100x4: a step of ");
    for (uint32_t i = 0; i < 300; i++)
        steps[0][i].accepted = 0;
    steps[0][299].best = 7; /* of the start that nothing is known of */
    ss_text_clear(&t);
    CHECK_OK(table(&v, 1, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "nmt on p100x4: a step of ");
    CHECK(!strstr(t.at, "a step of 7 "), "%.200s", t.at);
    for (uint32_t i = 0; i < 200; i++)
        steps[1][i].accepted = 0;
    ss_text_clear(&t);
    CHECK_OK(table(&v, 1, SS_PLOT_COST, so, &t));
    CHECK_TEXT(t.at, "nmt on p100x4: nothing accepted; a start's step is ");
    ss_text_free(&t);
}

static void of_many_chains_those_that_found_the_least_are_shown(void)
{
    enum { CHAINS = 13 };
    ss_trajectory_chain c[CHAINS];
    char name[CHAINS][8];
    for (uint32_t i = 0; i < CHAINS; i++) {
        snprintf(name[i], sizeof name[i], "c%u", i);
        ss_trajectory_step *step = &steps[0][i * 50];
        c[i] = walk_of(name[i], step, 50, i);
        step[49].best = 1900000000 + (ss_time)(i * 7 % CHAINS) * 1000000;
    }
    c[4].steps = 0;
    ss_trajectory_view v = view_of(c, CHAINS);
    ss_text t = {0};
    CHECK_OK(table(&v, 1, SS_PLOT_COST, (ss_plot_search_options){.max_chains = 3}, &t));
    CHECK_TEXT(t.at, "entry\tc0\tsteps plain\t0\t0\n"); /* 0 of 13 */
    CHECK_TEXT(t.at, "entry\tc2\tsteps plain\t1\t0\n"); /* 1 of 13 */
    CHECK_TEXT(t.at, "entry\tc6\tsteps plain\t2\t0\n"); /* 3 of 13; chain 4 has 2 of 13 */
    CHECK(!strstr(t.at, "entry\tc1\t") && !strstr(t.at, "entry\tc4\t"));
    CHECK_TEXT(t.at, "Not shown: 9 chains that found no less.\t-");
    CHECK_TEXT(t.at, "1 chain made no proposal.\t-");
    ss_text_free(&t);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void each_figure_is_drawn_in_each_format(void)
{
    if (!have_gnuplot()) {
        printf("  skipped: no gnuplot\n");
        return;
    }
    static const char *const path[] = {"figure.svg", "figure.png", "figure.pdf"};
    static const char *const begins[] = {"<?xml", "\x89PNG", "%PDF"};
    ss_trajectory_chain two[2] = {walk_of("data_parallel", steps[0], 300, 1),
                                  walk_of("expert_rnn", steps[1], 1, 2)};
    ss_trajectory_view v = view_of(two, 2);
    ss_plot_log log = {"one", &v};
    for (int kind = 0; kind < SS_PLOT_SEARCH_KINDS; kind++)
        for (int i = 0; i < 12; i++) {
            ss_plot_search_options so = {
                .seconds = i & 1, .log_x = i & 2, .log_y = i & 4 && kind == SS_PLOT_COST};
            ss_plot_options o = {.scripts = scripts, .width_in = i % 3 ? 3.5 : 1.2};
            const char *to = path[i % 3];
            ss_text drawn = {0};
            CHECK_OK(ss_plot_search(&log, 1, (ss_plot_search_kind)kind, to, &so, &o, &err));
            CHECK_OK(ss_file_read(to, 10000000, &drawn, &err));
            CHECK(!strncmp(drawn.at, begins[i % 3], strlen(begins[i % 3])), "%s", to);
            if (i % 3 == 0) {
                CHECK_TEXT(drawn.at, ">data_parallel<");
                CHECK_TEXT(drawn.at, so.seconds ? "wall-clock time (" : ">proposals<");
            }
            ss_text_free(&drawn);
            CHECK(!remove(to));
        }
    for (int i = 0; i < 3; i++) {
        char beside[40];
        snprintf(beside, sizeof beside, "%s.tsv", path[i]);
        CHECK(!remove(beside), "%s", beside);
    }
}

static void no_memory_is_said_and_nothing_is_left(void)
{
    ss_trajectory_chain two[2] = {walk_of("data_parallel", steps[0], 30, 1),
                                  walk_of("expert_rnn", steps[1], 20, 2)};
    ss_trajectory_view v[2] = {view_of(two, 2), view_of(two, 1)};
    size_t blocks = ss_mem_blocks();
    for (int kind = 0; kind < SS_PLOT_SEARCH_KINDS; kind++) {
        ss_status status = SS_ENOMEM;
        for (int64_t n = 0; status == SS_ENOMEM; n++) {
            ss_plot_log log[2] = {{"one", &v[0]}, {"two", &v[1]}};
            ss_plot_search_options so = {0};
            ss_plot_options o = {.scripts = scripts, .gnuplot = "no-such-gnuplot"};
            ss_mem_fail_after(n);
            status = ss_plot_search(log, 2, (ss_plot_search_kind)kind, "figure.svg", &so, &o, &err);
            ss_mem_fail_never();
            CHECK(ss_mem_blocks() == blocks && n < 1000, "request %d", (int)n);
        }
        CHECK(status == SS_EUNSUPPORTED && !there("figure.svg"), "%s", err.text);
    }
}

int main(void)
{
    if (!draw_in("test_plot_search.dir"))
        return 99;
    RUN(what_makes_no_figure_of_a_search_is_refused);
    RUN(what_makes_no_curves_is_refused);
    RUN(curves_of_which_nothing_is_seen_are_refused);
    RUN(thinning_loses_nothing_of_the_best_curve);
    RUN(shares_are_means_of_the_window);
    RUN(a_window_shows_what_the_chain_had_there);
    RUN(a_window_that_shows_nothing_is_refused);
    RUN(chains_go_by_the_names_that_tell_them_apart);
    RUN(the_rule_of_memory_says_what_was_found);
    RUN(of_many_chains_those_that_found_the_least_are_shown);
    RUN(each_figure_is_drawn_in_each_format);
    RUN(no_memory_is_said_and_nothing_is_left);
    if (chdir("..") || rmdir("test_plot_search.dir"))
        printf("test_plot_search.dir is not empty\n"), check_failed++;
    return DONE();
}
