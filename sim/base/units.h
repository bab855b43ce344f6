/* units.h - time in whole picoseconds, and quantities with their units, in and out.
 *
 * Time is an integer so that equal means equal: full and delta simulation then agree to the bit, on
 * every machine.  63 bits hold 106 days.  A duration is rounded once, to the nearest picosecond (a
 * half goes to the even one), when it enters; after that there is only checked addition.
 *
 * In text, decimal and binary prefixes are told apart (GB is 1e9, GiB is 2^30), and so are bits and
 * bytes ("100 Gb/s" is 12.5e9 bytes per second).  Upper and lower case matter, as they do in SI.
 */
#ifndef SS_UNITS_H
#define SS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef int64_t ss_time; /* picoseconds */

#define SS_TIME_MAX INT64_MAX
#define SS_PICOSECONDS 1000000000000 /* in a second */

/* Fails with SS_ERANGE (too long, not a number) or SS_EINVAL (negative). `what` names the thing. */
ss_status ss_time_from_seconds(double seconds, const char *what, ss_time *out, ss_error *err);
double ss_time_seconds(ss_time t);

/* a + b; SS_ERANGE beyond SS_TIME_MAX. */
ss_status ss_time_add(ss_time a, ss_time b, ss_time *out, ss_error *err);

typedef enum ss_unit {
    SS_UNIT_NONE,    /* a plain number; k, M, G, T and Ki, Mi, Gi, Ti may follow */
    SS_UNIT_SECONDS, /* s ms us ns ps min h d */
    SS_UNIT_BYTES,   /* B kB MB GB TB, KiB MiB GiB TiB, and b kb Mb Gb, Kib ... for bits */
    SS_UNIT_BYTES_PER_SECOND,
    SS_UNIT_FLOP,           /* FLOP kFLOP MFLOP GFLOP TFLOP PFLOP */
    SS_UNIT_FLOP_PER_SECOND /* the same and "/s"; FLOPS is accepted for FLOP/s */
} ss_unit;

const char *ss_unit_name(ss_unit unit);    /* in a sentence: "bytes per second" */
const char *ss_unit_example(ss_unit unit); /* as a script writes it: "\"700 ns\"" */
const char *ss_unit_symbol(ss_unit unit);  /* as in a file's attribute: "B/s"; "1" for none */

/* "25 GB/s" -> 25e9. A bare number is in the base unit.  The message of a refusal names what was
 * read, what was expected and an example; a bit/byte or case slip is pointed out as such. */
ss_status ss_parse_quantity(const char *text, ss_unit unit, double *out, ss_error *err);

/* Short and readable: "1.85 s", "24.17 GiB", "12.5 GB/s".  Bytes come with binary prefixes, rates
 * with decimal ones; what no prefix fits is told with an exponent ("1e+300 s").  At most `n` bytes are written; returns buffer. */
enum { SS_QUANTITY_TEXT = 40 };
char *ss_format_quantity(double value, ss_unit unit, char *buffer, size_t n);
char *ss_format_time(ss_time t, char *buffer, size_t n);

/* As few digits as read back as the same number, for files and other programs: "0.1", where 17
 * digits would be 0.10000000000000001. */
enum { SS_DOUBLE_TEXT = 32 };
char *ss_format_double(double x, char *buffer, size_t n);

#endif
