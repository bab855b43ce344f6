/* cost_sources.h - the sources of costs, each in a file of its own, and what is asked of them.
 *
 * Private to cost*.c.  A source answers for a device of speed 1 and knows nothing of memory of
 * earlier answers; cost_timer.c keeps that.
 */
#ifndef SS_COST_SOURCES_H
#define SS_COST_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/op.h"
#include "graph/topology.h"
#include "simulate/cost.h"

/* The question: one part of an operator in one phase on a device. */
typedef struct ss_cost_part {
    const ss_op_def *op;
    const char *op_name;
    ss_phase phase;
    bool input_gradient;
    const ss_box *main;
    const ss_device_def *device;
} ss_cost_part;

typedef enum ss_cost_found { SS_COST_UNKNOWN, SS_COST_EXACT, SS_COST_INTERPOLATED } ss_cost_found;

/* An answer: seconds if found; else why not, in a few words, if there is more to say than nothing.
 */
typedef struct ss_cost_answer {
    ss_cost_found found;
    double seconds;
    bool has_bound; /* a measured one */
    double bound;
    char why_not[200];
} ss_cost_answer;

typedef struct ss_cost_given ss_cost_given;
ss_status ss_cost_given_new(ss_cost_given **out, ss_error *err);
void ss_cost_given_free(ss_cost_given *g);
ss_status ss_cost_given_add(ss_cost_given *g, const char *op_name, double forward_s,
                            double backward_s, bool whole, ss_error *err);
void ss_cost_given_ask(ss_cost_given *g, const ss_cost_part *part, ss_cost_answer *answer);
const ss_names *ss_cost_given_names(const ss_cost_given *g);
bool ss_cost_given_asked(const ss_cost_given *g, uint32_t name);
uint64_t ss_cost_given_hash(const ss_cost_given *g, uint64_t h);

/* Of a table (cost_stream.c). */
typedef struct ss_cost_streams ss_cost_streams;
ss_status ss_cost_streams_new(ss_cost_streams **out, ss_error *err);
void ss_cost_streams_free(ss_cost_streams *t);
ss_status ss_cost_streams_add(ss_cost_streams *t, const ss_measured_stream *row, ss_error *err);
bool ss_cost_streams_ask(const ss_cost_streams *t, const char *device_kind, ss_stream what,
                         double bytes, double *seconds, double *bound);
uint64_t ss_cost_streams_hash(const ss_cost_streams *t, uint64_t h); /* t may be NULL */

/* At size `at` between x[0] and x[1], where it takes y[0] and y[1] seconds: a straight line in logarithms (cost_table.c).
 * Writes over x and y. */
double ss_cost_between(double x[2], double y[2], double at);

typedef struct ss_cost_table ss_cost_table;
ss_status ss_cost_table_new(const char *name, ss_cost_table **out, ss_error *err);
void ss_cost_table_free(ss_cost_table *t);
ss_status ss_cost_table_add(ss_cost_table *t, const ss_measured *row, ss_error *err);
ss_status ss_cost_table_ask(const ss_cost_table *t, const ss_cost_part *part,
                            ss_cost_answer *answer, ss_error *err);
ss_status ss_cost_table_add_stream(ss_cost_table *t, const ss_measured_stream *row, ss_error *err);
/* Of a stream of so many bytes on a device kind; false: the table has none. */
bool ss_cost_table_ask_stream(const ss_cost_table *t, const char *device_kind, ss_stream what,
                              double bytes, double *seconds, double *bound);
const char *ss_cost_table_name(const ss_cost_table *t);
uint32_t ss_cost_table_rows(const ss_cost_table *t);
const ss_names *ss_cost_table_devices(const ss_cost_table *t); /* kinds that it has rows of */
uint64_t ss_cost_table_hash(const ss_cost_table *t, uint64_t h);

typedef struct ss_cost_roofline ss_cost_roofline;
ss_status ss_cost_roofline_new(ss_cost_roofline **out, ss_error *err);
void ss_cost_roofline_free(ss_cost_roofline *r);
ss_status ss_cost_roofline_add(ss_cost_roofline *r, const ss_roofline *override, ss_error *err);
/* The constants for a device kind, overrides applied; r may be NULL: the built-in ones. */
ss_roofline ss_cost_roofline_for(const ss_cost_roofline *r, const char *kind);
void ss_cost_roofline_ask(const ss_cost_roofline *r, const ss_cost_part *part,
                          ss_cost_answer *answer);
/* How far a part that takes so long waits for memory: the share of its time that moving its bytes takes.  0 where the
 * device's bandwidth is not known. */
double ss_cost_roofline_bound(const ss_cost_roofline *r, const ss_cost_part *part, double seconds);
/* The kind that override i is for, from 0; NULL: there are no more. */
const char *ss_cost_roofline_kind(const ss_cost_roofline *r, uint32_t i);
/* Appends "roofline", and the constants that replace the built-in ones. */
void ss_cost_roofline_say(const ss_cost_roofline *r, ss_text *out);
uint64_t ss_cost_roofline_hash(const ss_cost_roofline *r, uint64_t h);

/* Rewrites attributes that a person wrote, in any order and with presets left out, as ss_cost_key
 * has them.  Refuses what the kind does not have, and what must be given and is not. */
ss_status ss_cost_attributes(const ss_op_kind *kind, const char *text, ss_text *canonical,
                             ss_error *err);

#endif
