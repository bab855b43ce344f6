/* dag.h - bare task graphs in JSON: devices, links, routes, tasks, dependencies.
 *
 * The format of tests/cases/contention-*.json; docs/file-format.md describes it.  SI units; ids are
 * positions from 0.  Read with jansson: an error names the line and column, or the path in the file
 * ("tasks[17][1]") and what was expected there.
 */
#ifndef SS_DAG_H
#define SS_DAG_H

#include "graph/tasks.h"

/* File task i (from 0) ends with the last of graph tasks first[i] .. first[i] + count[i] - 1. */
typedef struct ss_dag {
    ss_tasks tasks;
    uint32_t n;
    ss_task *first;
    uint32_t *count;
} ss_dag; /* {0} */

typedef struct ss_dag_options {
    ss_links_mode mode;
    int64_t segment_bytes;
    uint32_t max_segments;
} ss_dag_options;

ss_status ss_dag_read(const char *path, const ss_dag_options *o, ss_dag *out, ss_error *err);
ss_status ss_dag_parse(const char *text, size_t n, const char *name_for_errors,
                       const ss_dag_options *o, ss_dag *out, ss_error *err);
void ss_dag_free(ss_dag *d);

#endif
