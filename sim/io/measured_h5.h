/* measured_h5.h - tables of measured operator times in HDF5: the columns of measured.h.
 *
 * The table is the group "measured", a dataset a column; a dataset "measured" of compound rows, as
 * h5py writes a pandas table, is read just as well.  Texts may have one length or each its own,
 * numbers any width that holds them; seconds are seconds.  phase is a text.
 */
#ifndef SS_MEASURED_H5_H
#define SS_MEASURED_H5_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "simulate/cost.h"

/* Whole or not at all; the rows are not checked here but by whoever reads them. */
ss_status ss_measured_write_h5(const char *path, const ss_measured *row, uint32_t rows,
                               ss_error *err);

/* Begins a table named after the file and adds its rows.  A refusal names the file and the row
 * (from 1); the costs may then hold a part of the table. */
ss_status ss_measured_read_h5(const char *path, ss_costs *c, ss_error *err);

/* For `inspect`: how many rows there are of which devices and operators, for a person or as JSON.
 */
struct ss_h5;
bool ss_measured_is_in_h5(struct ss_h5 *f);
ss_status ss_measured_describe_h5(struct ss_h5 *f, bool json, ss_text *out, ss_error *err);

#endif
