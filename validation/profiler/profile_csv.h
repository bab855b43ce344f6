/* profile_csv.h - profiles and what is to be measured for them as text, for programs that measure elsewhere.
 *
 * A list says what strategies need: a row for each time with the columns kind, attributes, shape, dtype, phase and
 * device of a measured table (io/measured.h), spelled as ss_cost_key does.  What comes back is a table of measured times
 * in CSV whose column samples_s holds every sample, under comment lines that say what was measured on:
 *
 *     # device_kind: a100
 *     # library: PyTorch 2.3.1, CUDA 12.1
 *
 * and so on for machine, processor, cores, inputs, element_type, rounds and wallclock (docs/file-format.md).
 */
#ifndef SS_PROFILE_CSV_H
#define SS_PROFILE_CSV_H

#include "validation/profiler/profile.h"

/* A profile from CSV.  Statistics are worked out of the samples anew, keys spelled as ss_cost_key does.  The device kind is
 * that of the rows, which agree in it.  Refused, with FILE:LINE:COLUMN: what a measured table may not have, a row without
 * samples, and one whose `seconds` or `samples` are not those of its samples. */
ss_status ss_profile_read_csv(const char *path, ss_profile *out, ss_error *err);

/* What a profiler is to measure, whole or not at all; refuses a file there that is no such list. */
ss_status ss_profiler_write_list(const ss_profiler *p, const char *path, ss_error *err);

#endif
