/* fit.h - from measured times of messages to what a link is: latency, bandwidth, half size, and a
 * curve of efficiency.
 *
 * The line.  An operation on s bytes takes steps * (latency + half_bytes / b) + path(s) / b
 * (pattern.h), b the bandwidth: so long takes a link whose efficiency is s / (s + half_bytes) and whose
 * latency comes on top (Hockney, "The communication challenge for MPP", Parallel Computing 1994, with
 * n_1/2 for the half size).  Times of single messages tell only the sum of the two, the start-up time;
 * times of messages that follow each other closely (`streamed`: a bandwidth test with a window) have no
 * latency in them.  With both kinds of rows latency and half size are told apart; with one they are two
 * names of one thing, and `apart` is false: docs/decisions/0032-a-start-up-has-two-names.md.
 *
 * Errors of such times are factors, so logarithms are compared.  The estimate is Tukey's bisquare with
 * a scale from the median deviation, begun at the pair of sizes that leaves the least sum of absolute
 * deviations, so that a fifth of outliers moves it little.  Standard errors are those of an M-estimator
 * (Huber, "Robust statistics", 1981, 7.6; Street, Carroll, Ruppert, The American Statistician 1988),
 * in the parameters themselves: a start-up time that the data leave open comes with an error as large as
 * itself.  They suppose that a line is the shape of the data; `bent` says when it is not.
 *
 * The curve.  For each size the median rate, so that a link with this efficiency takes the measured
 * times; what it is worth between the sizes is measured by leaving each out in turn.
 */
#ifndef SS_FIT_H
#define SS_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/efficiency.h"
#include "simulate/pattern.h"

typedef struct ss_sample {
    double bytes;   /* of the operation, as pattern.h counts; 0 is fine */
    double seconds; /* above 0 */
    double weight;  /* how many rows like the others it counts for, above 0 */
    bool streamed;  /* p2p only: of one of many messages under way */
} ss_sample;

#define SS_SAMPLE_MOST_BYTES 1e18
#define SS_SAMPLE_LEAST_SECONDS 1e-15 /* errors are shares of times */
#define SS_SAMPLE_MOST_SECONDS 1e9
#define SS_SAMPLE_MOST_WEIGHT 1e12

typedef struct ss_fit_options {
    ss_pattern pattern;
    bool least_squares; /* no row is doubted: for data without outliers */
} ss_fit_options;

typedef struct ss_estimate {
    double value, error; /* standard error; value NAN: the rows say nothing of it */
    bool told;           /* the data tell it from nothing: it is at least two errors above 0 */
} ss_estimate;

typedef enum ss_fit_of {
    SS_FIT_LATENCY,
    SS_FIT_BANDWIDTH,
    SS_FIT_HALF,
    SS_FIT_ESTIMATES
} ss_fit_of;

/* Of relative errors (fitted - measured) / measured, all rows alike, outliers too. */
typedef struct ss_accuracy {
    uint32_t rows;
    double within_5, within_10, within_20; /* shares of the rows within so many percent */
    double median, p90, worst;             /* of the absolute error */
    double mean;                           /* signed: above 0 is too slow */
} ss_accuracy;

typedef struct ss_fit_row {
    ss_sample sample;
    double fitted_s; /* by the line */
    double error;    /* relative, as above */
    double left_out; /* the same of the curve without this size; NAN at the curve's ends */
    double trust;    /* of the robust estimate: 1 counts in full, 0 not at all */
    bool outlier;    /* not trusted at all */
} ss_fit_row;

typedef struct ss_fit {
    ss_pattern pattern;
    ss_estimate of[SS_FIT_ESTIMATES]; /* seconds a message, bytes a second, bytes */
    double covariance[SS_FIT_ESTIMATES][SS_FIT_ESTIMATES];
    bool apart;         /* latency and half size were told apart by streamed rows */
    bool only_streamed; /* nothing is known of the latency */
    double spread;      /* standard deviation of the logarithm of a time of weight 1 */
    uint32_t freedom;   /* rows less parameters: errors times Student's t of so many */
    double drift;       /* of neighbouring sizes' errors, how alike they are: correlation */
    bool bent;          /* more alike than by a chance of 1 %: no line is the shape of these data */
    ss_accuracy line, curve; /* curve: of sizes left out; 0 rows if there are too few sizes */
    ss_fit_row *row;         /* [rows], as they were given */
    uint32_t rows, outliers, sizes;
} ss_fit;

/* Refuses fewer than 3 rows or 2 sizes, more than SS_FIT_ROWS rows, times that do not grow with bytes, so
 * that there is no bandwidth, and values that make no sense, by the number of the row, from 1; then *bad
 * is that number (else 0; may be NULL). */
enum { SS_FIT_ROWS = 1000000 };
ss_status ss_fit_new(const ss_sample *sample, uint32_t n, const ss_fit_options *o, ss_fit **out,
                     uint32_t *bad, ss_error *err);
void ss_fit_free(ss_fit *f);

/* What a row's messages are: how many after the other, and their bytes, by the line. */
ss_path ss_fit_path(const ss_fit *f, double bytes);

/* By the line; streamed: of one of many messages under way. */
double ss_fit_seconds(const ss_fit *f, double bytes, bool streamed);

/* The efficiency by the size of a message (the mean one of an operation with several), 1 being the
 * highest rate among the sizes.  latency_s: what the link has besides, of each message; it must be less
 * than every time.  monotone: the shares that grow with size and are nearest to the measured ones (least
 * squares of logarithms); else dips stay.  Rows that are outliers of a line that is the shape of the data
 * are left out.  Streamed rows and others make no common curve: the streamed ones are taken if there are
 * some. */
ss_status ss_fit_curve(const ss_fit *f, double latency_s, bool monotone, ss_efficiency *out,
                       ss_error *err);

#endif
