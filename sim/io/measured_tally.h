/* measured_tally.h - what is in a table of measured times, for `inspect`: how many rows there are
 * of which devices and operators.  The same of CSV and HDF5. */
#ifndef SS_MEASURED_TALLY_H
#define SS_MEASURED_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "base/text.h"

typedef struct ss_tally {
    ss_names words;
    uint32_t *times; /* [words + 1] */
    uint32_t cap;
} ss_tally;

typedef struct ss_measured_tally {
    ss_tally devices, kinds;
    uint32_t rows;
} ss_measured_tally; /* {0} has counted nothing */

ss_status ss_measured_count(ss_measured_tally *t, const char *device, const char *kind,
                            ss_error *err);
/* Appends it for a person, or as JSON. */
void ss_measured_tell(const ss_measured_tally *t, const char *path, bool json, ss_text *out);
void ss_measured_tally_free(ss_measured_tally *t);

#endif
