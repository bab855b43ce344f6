/* measured.h - tables of measured operator times, from files.
 *
 * One row is one point: how long one part of an operator took in one phase on one kind of device.
 * The columns have the same names in CSV (any order, told by the header line) and in HDF5 (a table
 * "measured" at the root, one field or data set a column):
 *
 *   kind        operator kind: "conv2d"
 *   attributes  "kernel_h=3 kernel_w=3 padding_h=1 padding_w=1": name=value, in any order; those at
 *               their preset may be left out, and so may those that the output's shape says (out,
 *               hidden, size)
 *   shape       extents of the output, then of each input: "64x64x55x55 < 64x3x224x224"
 *   dtype       element type of the output: "f32"
 *   phase       "forward" or "backward" (of all inputs and weights together), or a part of it,
 *               "input_gradient" (of all inputs) or "weight_gradient" (of all weights)
 *   device      device kind: "p100"
 *   seconds     seconds; in CSV a unit may follow ("1.25 ms"), or stand behind the column's name, "seconds [ms]"
 *   spread_s    optional: standard deviation, likewise
 *   samples     optional: how many runs the seconds are the middle of
 *
 * A profile in CSV has more, which readers of tables leave alone: samples_s, each sample in seconds
 * with blanks between, and mean_s, q05_s, q25_s, q75_s, q95_s, least_s, most_s, outliers.
 *
 * A device and a size that were not measured are no error here: costs.h says what becomes of them.
 */
#ifndef SS_MEASURED_H
#define SS_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "simulate/cost.h"

enum { SS_MEASURED_REQUIRED = 7 }; /* of the columns, the first so many must be there */

/* In the order above; tests hold both formats to it. */
const char *const *ss_measured_columns(uint32_t *n);
ss_status ss_measured_phase_parse(const char *text, ss_phase *out, ss_error *err);

/* Reads a table from a file of either format: HDF5 if it begins like one or is called .h5 or .hdf5
 * (measured_h5.h), else CSV. */
ss_status ss_measured_read(const char *path, ss_costs *c, ss_error *err);

/* Begins a table named after the file and adds its rows.  A refusal begins with FILE:LINE:COLUMN
 * (the column counted in characters, from 1); the costs may then hold a part of the table. Fields
 * are separated by commas, may be quoted ("..." with "" for a quote) and must be where they hold a
 * comma; blank lines and lines that begin with # are skipped. */
ss_status ss_measured_read_csv(const char *path, ss_costs *c, ss_error *err);

/* The same of a table of somebody's own: theirs is what it calls the columns, in the order of ss_measured_columns,
 * "time [ms]"; NULL where it calls one as we do.  Other columns are left alone. */
ss_status ss_measured_read_as(const char *path, const char *const *theirs, ss_costs *c, ss_error *err);

/* Reads one as ss_measured_read_csv does, and shows what costs do not keep.  Both give a status, and a
 * refusal of a row gets its place in front; texts are valid during the call alone. */
typedef struct ss_measured_visitor {
    void *context;
    ss_status (*head)(void *context, const char *text, ss_error *err); /* all of the file, once */
    /* A row, checked, and its field samples_s ("" where there is none). */
    ss_status (*take)(void *context, const ss_measured *row, const char *samples_s, ss_error *err);
} ss_measured_visitor;
ss_status ss_measured_visit_csv(const char *path, const ss_measured_visitor *v, ss_error *err);

/* For `inspect`: whether a file's text looks like such a table (its first line that is no comment
 * names a column), and how many rows there are of which devices and operators; it is read as above.
 */
bool ss_measured_is_csv(const char *text);
ss_status ss_measured_describe_csv(const char *path, bool json, ss_text *out, ss_error *err);

ss_status ss_stream_parse(const char *text, ss_stream *out, ss_error *err);
/* What it reads and writes, for a result of so many bytes: 2 or 3 times that. */
double ss_stream_traffic(ss_stream s, double bytes);

#endif
