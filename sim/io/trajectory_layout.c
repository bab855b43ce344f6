/* trajectory_layout.c - the tables of a search's log. */
#include <stddef.h>
#include <stdio.h>

#include "io/trajectory_inside.h"

static const char *reach_label(uint32_t reach)
{
    return ss_reach_name((ss_reach)reach);
}

static const char *move_label(uint32_t move)
{
    return move == SS_MOVES ? "none" : ss_move_name((ss_move)move);
}

#define FIELD(name, type, row, member, units, long_name)                                           \
    {                                                                                              \
        name, type, offsetof(row, member), units, long_name, NULL, 0, false                        \
    }
#define NUMBER(name, long_name)                                                                    \
    {                                                                                              \
        name, SS_H5_ROW, SS_H5_NO_MEMBER, "1", long_name, NULL, 0, false                           \
    }
#define STEP(name, type, member, units, long_name)                                                 \
    FIELD(name, type, ss_log_step, member, units, long_name)

static const ss_h5_field step_field[] = {
    NUMBER("step", "number of the proposal"),
    STEP("operator", SS_H5_U32, op, "1", "operator, the first where several change; 0: none"),
    STEP("operators", SS_H5_U32, ops, "1", "how many operators are given a configuration"),
    {"reach", SS_H5_ENUM, offsetof(ss_log_step, reach), NULL, "which operators change", reach_label,
     SS_REACHES, false},
    {"move", SS_H5_ENUM, offsetof(ss_log_step, move), NULL, "what drew the configuration",
     move_label, SS_MOVES + 1, false},
    STEP("old", SS_H5_U32, old, "1", "row of configurations that the operator had; 0: none"),
    STEP("new", SS_H5_U32, new, "1", "row of configurations that was proposed; 0: none"),
    STEP("proposed", SS_H5_I64, proposed, "ps",
         "cost of the proposal; where stopped, less than it"),
    STEP("current", SS_H5_I64, current, "ps", "cost of the strategy after the decision"),
    STEP("best", SS_H5_I64, best, "ps", "least cost so far"),
    STEP("accepted", SS_H5_BOOL, accepted, NULL, "the proposal was accepted"),
    STEP("stopped", SS_H5_BOOL, stopped, NULL,
         "simulation ended as soon as it was certain that the proposal would not be accepted"),
    STEP("infeasible", SS_H5_BOOL, infeasible, NULL, "a device has too little memory for it"),
    STEP("fell_back", SS_H5_BOOL, fell_back, NULL, "delta simulation went over to replaying"),
    STEP("log_hastings", SS_H5_F64, log_hastings, "1", "log of q(old) / q(new)"),
    STEP("uniform", SS_H5_F64, uniform, "1", "number in [0, 1) that decided"),
    STEP("tasks", SS_H5_U32, tasks, "1", "tasks of the proposal's graph"),
    STEP("touched", SS_H5_U32, touched, "1", "tasks made, taken away or connected otherwise"),
    STEP("visited", SS_H5_U32, visited, "1", "tasks simulated"),
    STEP("changed", SS_H5_U32, changed, "1", "tasks with other times; 0 where nobody counted"),
    STEP("wallclock", SS_H5_F64, wallclock_s, "s",
         "since the chain began, parts of a resumed one added up"),
};

#define CONFIGURATION(name, type, member, units, long_name)                                        \
    FIELD(name, type, ss_log_configuration, member, units, long_name)

static const ss_h5_field configuration_field[] = {
    NUMBER("configuration", "number of the configuration"),
    CONFIGURATION("operator", SS_H5_U32, op, "1", "operator"),
    CONFIGURATION("degree_0", SS_H5_U32, degree[0], "1", "parts along dimension 0"),
    CONFIGURATION("degree_1", SS_H5_U32, degree[1], "1", "parts along dimension 1"),
    CONFIGURATION("degree_2", SS_H5_U32, degree[2], "1", "parts along dimension 2"),
    CONFIGURATION("degree_3", SS_H5_U32, degree[3], "1", "parts along dimension 3"),
    CONFIGURATION("degree_4", SS_H5_U32, degree[4], "1", "parts along dimension 4"),
    CONFIGURATION("parts", SS_H5_U32, parts, "1", "parts in all"),
    CONFIGURATION("first_device", SS_H5_U64, first_device, "1",
                  "row of devices, from 0, of part 0; those of the other parts follow"),
};
_Static_assert(SS_MAX_DIMS == 5, "a degree has no column");

static const ss_h5_field device_field[] = {
    {"device", SS_H5_U32, 0, "1", "device that holds the part", NULL, 0, false},
};

static const ss_h5_field several_field[] = {
    FIELD("step", SS_H5_U32, ss_log_several, step, "1", "number of the proposal"),
    FIELD("operator", SS_H5_U32, ss_log_several, op, "1", "operator that changes"),
    FIELD("old", SS_H5_U32, ss_log_several, old, "1", "row of configurations that it had"),
    FIELD("new", SS_H5_U32, ss_log_several, new, "1", "row of configurations that was proposed"),
};

#define COUNT(field) (sizeof(field) / sizeof((field)[0]))

const ss_record_table ss_log_table[SS_LOG_TABLES] = {
    [SS_LOG_STEPS] = {"", "proposals of a chain, in their order", step_field, COUNT(step_field),
                      sizeof(ss_log_step)},
    [SS_LOG_CONFIGURATIONS] = {"configurations",
                               "configurations that were proposed or changed, each once",
                               configuration_field, COUNT(configuration_field),
                               sizeof(ss_log_configuration)},
    [SS_LOG_DEVICES] = {"devices", "devices of the parts of configurations", device_field, 1,
                        sizeof(uint32_t)},
    [SS_LOG_SEVERAL] = {"several", "proposals that give several operators a configuration",
                        several_field, COUNT(several_field), sizeof(ss_log_several)},
};

static const ss_h5_field start_field[] = {
    NUMBER("chain", "number of the chain"),
    FIELD("name", SS_H5_TEXT, ss_log_start, name, NULL,
          "name of its group in /search, and of the strategy that it starts from in /strategies"),
    FIELD("start", SS_H5_TEXT, ss_log_start, start, NULL, "what the start was called"),
};

const ss_record_table ss_log_starts = {"starts", "chains of the search", start_field,
                                       COUNT(start_field), sizeof(ss_log_start)};

void ss_log_group(const char *chain, ss_log_kind kind, char *group, size_t n)
{
    const char *table = ss_log_table[kind].group;
    snprintf(group, n, "search/%s%s%s", chain, *table ? "/" : "", table);
}

bool ss_log_is_in(ss_h5 *f)
{
    return ss_h5_has(f, "search");
}
