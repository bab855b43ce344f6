/* From executed tasks to what a step does to them: what was put in comes out. */
#include "validation/compare/task_fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { ROWS = 400, GROUPS = 3 };

static const double factor[GROUPS] = {1.25, 0.9, 2.0};

static double drawn(uint64_t *state) /* 0 to 1 */
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* Tasks of 1 us to 1 ms that take what the model says, but for noise. */
static void make(ss_task_time *row, double overhead, double interference, double noise, uint64_t seed)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        ss_task_time *x = &row[i];
        *x = (ss_task_time){.group = i % GROUPS, .alone_s = 1e-6 * pow(1000, drawn(&seed))};
        x->bound = i % 2 ? drawn(&seed) : 0;
        x->beside = drawn(&seed);
        x->executed_s = overhead + factor[x->group] * x->alone_s * (1 + interference * x->bound * x->beside);
        x->executed_s *= 1 + noise * (2 * drawn(&seed) - 1);
    }
}

static bool near(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

static void finds_what_was_put_in(void)
{
    ss_task_time row[ROWS];
    ss_task_fit fit;
    ss_task_group group[GROUPS];
    ss_error err;
    make(row, 2e-6, 0.5, 0, 1);
    CHECK_OK(ss_task_fit_new(row, ROWS, GROUPS, 0.5, &fit, group, &err));
    CHECK(near(fit.overhead_s, 2e-6, 0.02), "%g", fit.overhead_s);
    CHECK(near(fit.interference, 0.5, 0.15), "%g", fit.interference);
    for (int g = 0; g < GROUPS; g++) {
        CHECK(near(group[g].factor, factor[g], 0.03), "%g for %g", group[g].factor, factor[g]);
        CHECK(group[g].tasks == ROWS / GROUPS + (g < ROWS % GROUPS), "%u", group[g].tasks);
    }
}

static void interrupted_tasks_count_little(void)
{
    ss_task_time row[ROWS];
    ss_task_fit fit;
    ss_task_group group[GROUPS];
    ss_error err;
    make(row, 1e-6, 0, 0.05, 2);
    for (uint32_t i = 0; i < ROWS; i += 20)
        row[i].executed_s += 5e-3; /* as long as a scheduler takes one's core away */
    CHECK_OK(ss_task_fit_new(row, ROWS, GROUPS, 0, &fit, group, &err));
    for (int g = 0; g < GROUPS; g++)
        CHECK(near(group[g].factor, factor[g], 0.1), "%g for %g", group[g].factor, factor[g]);
}

static void what_cannot_be_is_not(void)
{
    ss_task_time row[ROWS];
    ss_task_fit fit;
    ss_task_group group[GROUPS];
    ss_error err;
    make(row, 0, 0, 0, 3);
    for (uint32_t i = 0; i < ROWS; i++)
        row[i].executed_s = fmax(1e-9, row[i].executed_s - 0.5e-6); /* tasks that begin before they begin */
    CHECK_OK(ss_task_fit_new(row, ROWS, GROUPS, 0, &fit, group, &err));
    CHECK(fit.overhead_s == 0, "%g", fit.overhead_s);
    make(row, 0, 0, 0, 4);
    for (uint32_t i = 0; i < ROWS; i++)
        if (row[i].group == 2)
            row[i].executed_s = 1e-6; /* however large */
    CHECK_OK(ss_task_fit_new(row, ROWS, GROUPS, 0, &fit, group, &err));
    CHECK(group[2].factor == SS_TASK_LEAST_FACTOR, "%g", group[2].factor);
    CHECK(near(group[0].factor, factor[0], 0.05), "%g", group[0].factor);
}

static void a_group_of_one_task_stays_near(void)
{
    ss_task_time row[ROWS + 1];
    ss_task_fit fit;
    ss_task_group group[GROUPS + 1];
    ss_error err;
    make(row, 0, 0, 0.01, 5);
    row[ROWS] = (ss_task_time){.group = GROUPS, .alone_s = 30e-6, .executed_s = 90e-6};
    CHECK_OK(ss_task_fit_new(row, ROWS + 1, GROUPS + 1, 0, &fit, group, &err));
    CHECK(group[GROUPS].factor > 1.2 && group[GROUPS].factor < 2.8, "%g", group[GROUPS].factor);
    CHECK(group[GROUPS].error > 2 * group[0].error, "%g beside %g", group[GROUPS].error, group[0].error);
}

static void refuses(void)
{
    ss_task_time row = {.group = 0, .alone_s = 1e-6, .executed_s = 1e-6};
    ss_task_fit fit;
    ss_task_group group[1];
    ss_error err;
    CHECK(ss_task_fit_new(&row, 0, 1, 0, &fit, group, &err) == SS_EINVAL, "no tasks");
    row.group = 1;
    CHECK(ss_task_fit_new(&row, 1, 1, 0, &fit, group, &err) == SS_EINVAL && strstr(err.text, "group 2 of 1"), "%s",
          err.text);
    row.group = 0;
    row.alone_s = 0;
    CHECK(ss_task_fit_new(&row, 1, 1, 0, &fit, group, &err) == SS_EINVAL && strstr(err.text, "task 1 takes 0 s"),
          "%s", err.text);
    row.alone_s = 1e-6;
    row.bound = 1.5;
    CHECK(ss_task_fit_new(&row, 1, 1, 0, &fit, group, &err) == SS_EINVAL && strstr(err.text, "bound of 1.5"), "%s",
          err.text);
}

int main(void)
{
    RUN(finds_what_was_put_in);
    RUN(interrupted_tasks_count_little);
    RUN(what_cannot_be_is_not);
    RUN(a_group_of_one_task_stays_near);
    RUN(refuses);
    return DONE();
}
