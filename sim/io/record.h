/* record.h - the HDF5 file of an experiment.
 *
 * Written under a temporary name and renamed at the end, so no half-written file ever has the final
 * name.  Equal runs give equal data (object times off, fixed layout; the wall-clock attributes are
 * named so).  docs/file-format.md describes groups, tables, units; h5dump, h5py and pandas read it.
 */
#ifndef SS_RECORD_H
#define SS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "graph/chance.h"
#include "graph/model.h"
#include "graph/strategy.h"
#include "graph/topology.h"
#include "io/strategy_file.h"
#include "io/view.h"

typedef struct ss_record ss_record;

/* A file that the script or command read, and its text. */
typedef struct ss_manifest_file {
    const char *name, *text;
} ss_manifest_file;

typedef struct ss_manifest {
    const char *version, *command, *script_name, *script_text;
    const char *options; /* of the record's problem, one "name = value" a line */
    uint64_t seed;
    const ss_manifest_file *file; /* [files] */
    uint32_t files;
    const ss_chance *chance; /* of the record's problem, whose samples are written; NULL: none */
} ss_manifest;

/* How a timeline came about; what is NULL is not known. */
typedef struct ss_record_origin {
    const char *strategy;    /* name of its group among the strategies; NULL: what the view says */
    const char *options;     /* that were in force, one "name = value" a line */
    const char *costs;       /* what ss_costs_report says */
    const ss_chance *chance; /* that was drawn; NULL: none */
} ss_record_origin;

/* Refuses a path where there is a file that is no record (a script, a strategy, measured times), so
 * that a slip of the pen replaces none; an empty one is nobody's.  ss_record_create itself replaces
 * whatever is there. */
ss_status ss_record_check_place(const char *path, ss_error *err);

ss_status ss_record_create(const char *path, const ss_manifest *manifest, ss_record **out,
                           ss_error *err);
ss_status ss_record_model(ss_record *r, const ss_model *m, ss_error *err);
ss_status ss_record_topology(ss_record *r, const ss_topology *t, ss_error *err);
ss_status ss_record_strategy(ss_record *r, const char *name, const ss_strategy *s, ss_error *err);
ss_status ss_record_timeline(ss_record *r, const char *name, const ss_view *v,
                             const ss_record_origin *origin_or_null, ss_error *err);
ss_status ss_record_finish(ss_record *r, ss_error *err); /* closes, renames; frees r in any case */
void ss_record_abandon(ss_record *r);                    /* closes, removes the temporary file */

/* Reading back. Refuses truncated and corrupted files and those of a later format, by name. */
ss_status ss_record_read_timeline(const char *path, const char *name_or_null, ss_view *out,
                                  ss_error *err);
/* The strategy that is asked for, or the best that a search found, or the only one, as
 * ss_strategy_parse reads it; its name in the record goes into `found`, which has room for
 * SS_RECORD_NAME + 1 bytes (record_layout.h).  Of a log without a best: ss_trajectory_read_best. */
ss_status ss_record_read_strategy(const char *path, const char *name_or_null, const ss_model *m,
                                  const ss_topology *t, ss_strategy_loading *l, char *found,
                                  ss_strategy **out, ss_error *err);
/* For `inspect`: what is in the file, for a person or as JSON; of a measured table as well. */
ss_status ss_record_describe(const char *path, bool json, ss_text *out, ss_error *err);

#endif
