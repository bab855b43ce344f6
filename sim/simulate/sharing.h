/* sharing.h - the rates of flows that cross links together, kept max-min fair as flows come and go.
 *
 * A flow crosses all links of its path at once.  Rates are those of progressive filling: all grow
 * together, each by its weight; where a link is full, the flows on it stay as they are and the others
 * grow on.  (Bertsekas and Gallager, "Data Networks", 6.5.2.)
 *
 * Everything is whole numbers: a rate counts units of 2^-scale bytes a second, rounded down, what a
 * flow was served counts units of one rate unit times a picosecond, in 128 bits.  So sums have no
 * order, no link ever carries more than it can, and when something is brought up to date decides
 * nothing: a result is a function of which flows came when.  That is what lets the fast way be equal
 * to the obvious one (tests/reference/sharing_naive.c) in every bit, and a replay to a full run.
 *
 * Fast, because
 *   flows of one path, weight and cap have one rate: they are one class, with a clock that says what
 *     each of its flows was served, and a heap of when they end by that clock;
 *   a change leaves alone every rate that is reached before the change is felt, and wakes others
 *     link by link, as far as something is another than it was (or, where few flows cross few full
 *     links, finds all others anew without asking);
 *   when the first flow of a class ends is known roughly at once and exactly when it comes to matter.
 *
 * The order of equal shares is by link (capped classes behind all links), so the filling has one
 * outcome to the last unit.
 */
#ifndef SS_SHARING_H
#define SS_SHARING_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/units.h"
#include "base/wide.h"

/* Of one path: [paths + 1] columns and rows of links.  A set of links, none twice. */
typedef struct ss_paths {
    uint32_t n;            /* paths 1 .. n */
    const uint32_t *first; /* links of path p: link[first[p]] .. link[first[p + 1] - 1], [n + 2] */
    const uint32_t *link;
    uint32_t link_before; /* links are numbered from this + 1 there: 0, or the number of devices */
    const uint32_t *weight; /* [n + 1], 1 .. SS_WEIGHT_MAX; NULL: all 1 */
    const double *cap; /* [n + 1], bytes a second that one flow can use; 0: no cap; NULL: none */
} ss_paths;

enum { SS_WEIGHT_MAX = 1 << 16 };

typedef struct ss_sharing ss_sharing;

ss_status ss_sharing_new(ss_sharing **out, ss_error *err);
void ss_sharing_free(ss_sharing *s);
size_t ss_sharing_memory(const ss_sharing *s);

/* No flows, nothing served, at time 0.  bytes_per_s: [links + 1].  The paths are copied.  Memory is kept
 * from an earlier use; it grows with the paths and their links. */
ss_status ss_sharing_start(ss_sharing *s, uint32_t links, const double *bytes_per_s,
                           const ss_paths *paths, ss_error *err);

/* Paths behind those there are, which `paths` has again; flows go on. */
ss_status ss_sharing_add_paths(ss_sharing *s, const ss_paths *paths, ss_error *err);

/* All that happens at one instant, in any order: flows end, flows begin, links change; then settle.
 * Instants follow each other in order of time. */

/* A flow of at least one byte; `flow` is the caller's number for it.  It lasts a picosecond or more. */
ss_status ss_sharing_begin(ss_sharing *s, ss_time now, uint32_t path, int64_t bytes, uint32_t flow,
                           ss_error *err);
/* The same with what is left of a flow, as ss_sharing_left told it with the same links and paths. */
ss_status ss_sharing_begin_left(ss_sharing *s, ss_time now, uint32_t path, ss_wide left,
                                uint32_t flow, ss_error *err);
/* A flow whose end is at `now`, or 0: no more of them.  Not asked between begin and settle. */
uint32_t ss_sharing_end(ss_sharing *s, ss_time now);
/* From `now` on the link carries this many bytes a second; 0: nothing.  At most 16 times what the
 * fastest link had at the start, else SS_ERANGE. */
ss_status ss_sharing_set_link(ss_sharing *s, uint32_t link, double bytes_per_s, ss_error *err);
/* The same of the cap of a path that was given one; 0: nothing. */
void ss_sharing_set_cap(ss_sharing *s, uint32_t path, double bytes_per_s);
/* The rates from `now` on. */
void ss_sharing_settle(ss_sharing *s, ss_time now);

/* When the next flow ends; SS_TIME_MAX: none ever does, or there is none.  After settle. */
ss_time ss_sharing_next(ss_sharing *s);

/* What is left of each flow at `now`, after settle: ss_sharing_flows(s) rows, in no order. */
typedef struct ss_flow_left {
    ss_wide left; /* in units times picoseconds */
    uint32_t number;
} ss_flow_left;
void ss_sharing_left(const ss_sharing *s, ss_time now, ss_flow_left *out);

/* For tests and reports, after settle. */
int64_t ss_sharing_rate(const ss_sharing *s, uint32_t path); /* of one flow, in units; 0: no flow */
int64_t ss_sharing_used(const ss_sharing *s, uint32_t link); /* of a link, in units */
int64_t ss_sharing_capacity(const ss_sharing *s, uint32_t link);
int ss_sharing_scale(const ss_sharing *s); /* a unit is 2^-scale bytes a second */
uint32_t ss_sharing_flows(const ss_sharing *s);
/* The link that holds the flows of a path back; 0: its cap does, or it has no flow. */
uint32_t ss_sharing_bottleneck(const ss_sharing *s, uint32_t path);

/* How rates are found again: what a change touches, or all that is reached after it is felt (where that is few).  By
 * itself it takes what was less work the last times; the rates are the same. */
typedef enum ss_sharing_way { SS_SHARING_BEST, SS_SHARING_TOUCHED, SS_SHARING_ALL } ss_sharing_way;
void ss_sharing_solve_by(ss_sharing *s, ss_sharing_way way);

/* The scale for links of which the fastest has so many bytes a second, and a rate in its units;
 * the twin uses them too, so that both mean the same numbers. */
int ss_sharing_scale_for(double fastest_bytes_per_s);
int64_t ss_sharing_units(double bytes_per_s, int scale);

#endif
