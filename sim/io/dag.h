/* dag.h - bare task graphs in JSON: devices, links, routes, tasks, dependencies.
 *
 * The format of tests/cases/contention-*.json; docs/file-format.md describes it.  SI units; ids are
 * positions from 0.  Read with jansson: a file that is no JSON is refused with line and column, one
 * that says something impossible with the path of it ("tasks[17][1]") and what was expected there.
 *
 *     {"devices": [1, 0.5],                     relative speed of each
 *      "links": [[25e9, 1e-6]],                 bytes/s, latency in s; directed
 *      "routes": [[0]],                         links in order, none twice
 *      "tasks": [["c", 0, 2e-3],                compute: device, seconds at speed 1
 *                ["x", 0, 1048576]],            transfer: route, bytes
 *      "deps": [[0, 1]]}                        before, after
 *
 * Only "tasks" must be there.  "name", "about", "made" and "expect" are for people and tests, and
 * passed over; any other key is refused, since a misspelt "deps" would be a graph without them.
 * A dependency may be said twice.
 */
#ifndef SS_DAG_H
#define SS_DAG_H

#include "graph/tasks.h"

/* File task i (from 0) ends with the last of graph tasks first[i] .. first[i] + count[i] - 1. The
 * label of its graph tasks has part = i. */
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

enum { SS_DAG_MOST_BYTES = 1 << 30 }; /* of a file */

/* A cycle is refused here already, with the ids of the file. On failure *out is empty. */
ss_status ss_dag_read(const char *path, const ss_dag_options *o, ss_dag *out, ss_error *err);
ss_status ss_dag_parse(const char *text, size_t n, const char *name_for_errors,
                       const ss_dag_options *o, ss_dag *out, ss_error *err);
void ss_dag_free(ss_dag *d);

#endif
