/* samples.h - tables of measured messages and collectives, from CSV (csv.h): what a fit is made of.
 *
 *   bytes      size, as pattern.h counts; a unit may follow ("64 KiB")
 *   seconds    time of one operation, likewise ("35.2 us"); or
 *   bandwidth  bytes over time ("24.8 GB/s"), instead of the seconds, which count where both are there
 *   weight     how many rows like the others it counts for; 1 unless there
 *   curve      rows with one text are one curve; all are one unless there
 *   operation, algorithm, ranks     pattern.h; what a curve is of; p2p unless there
 *   method     of p2p: one_way (unless there), or streamed: one of many messages under way
 *
 * The header line names the columns, in any order.  A unit behind a name in brackets, "seconds [us]", is
 * that of plain numbers in the column.  A table with names of its own is read by saying which of them is
 * what.  Columns that are not wanted are left alone, but a name that looks like a slip is refused.  Rows
 * without a size, or without time and bandwidth, are counted and left out.
 */
#ifndef SS_SAMPLES_H
#define SS_SAMPLES_H

#include <stdint.h>

#include "base/status.h"
#include "simulate/fit.h"

typedef enum ss_samples_column {
    SS_SAMPLES_BYTES,
    SS_SAMPLES_SECONDS,
    SS_SAMPLES_BANDWIDTH,
    SS_SAMPLES_WEIGHT,
    SS_SAMPLES_CURVE,
    SS_SAMPLES_OPERATION,
    SS_SAMPLES_ALGORITHM,
    SS_SAMPLES_RANKS,
    SS_SAMPLES_METHOD,
    SS_SAMPLES_COLUMNS
} ss_samples_column;

const char *ss_samples_column_name(ss_samples_column c); /* "bytes" */

typedef struct ss_samples_curve {
    char *name, *operation, *algorithm; /* "" where the table does not say */
    uint32_t ranks;                     /* 0: it does not say */
    ss_sample *sample;                  /* [n] */
    uint32_t n, cap;
} ss_samples_curve;

typedef struct ss_samples {
    ss_samples_curve *curve; /* [n], in the order of their first rows */
    uint32_t n, cap, skipped;
    uint32_t
        other_rates; /* rows whose bandwidth is not, to 5 %, what their seconds come to: those count */
} ss_samples;        /* {0} is empty */

/* column[c]: what the file calls the column, "time_us [us]", or NULL: by our name. */
ss_status ss_samples_read(const char *path, const char *const column[SS_SAMPLES_COLUMNS],
                          ss_samples *out, ss_error *err);
void ss_samples_free(ss_samples *s);

#endif
