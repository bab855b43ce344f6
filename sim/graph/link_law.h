/* link_law.h - how a link falls short of its bandwidth and latency.
 *
 * Small messages do not get the bandwidth of large ones; libraries change their protocol, and with it the
 * latency, from one size on; and others use the link too.  A link without a law is the published one:
 * its bandwidth and latency for every message.
 *
 *   half_bytes  a message of s bytes gets s / (s + half_bytes) of the bandwidth: that size gets half.  It is
 *               what a fit of latency and bandwidth calls the half size (Hockney, "The science of computer
 *               benchmarking", 1996: n-half)
 *   curve       a measured share of the bandwidth by size (efficiency.h), instead
 *   step        from so many bytes on the latency is another
 *   load        the part of the bandwidth that others take, at all times
 */
#ifndef SS_LINK_LAW_H
#define SS_LINK_LAW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/efficiency.h"

typedef struct ss_link_step {
    double bytes, latency_s; /* of messages of at least so many bytes */
} ss_link_step;

typedef struct ss_link_law {
    double half_bytes;   /* 0: none */
    ss_efficiency curve; /* n = 0: none */
    ss_link_step *step;  /* [steps], bytes growing */
    uint32_t steps;
    double load; /* 0 .. below 1 */
} ss_link_law;   /* {0}: the link is as it says */

/* Refuses figures out of bounds, and a half size beside a curve; the sentence does not name the link. */
ss_status ss_link_law_check(const ss_link_law *l, ss_error *err);
ss_status ss_link_law_copy(const ss_link_law *l, ss_link_law **out, ss_error *err);
void ss_link_law_free(ss_link_law *l);
bool ss_link_law_same(const ss_link_law *a, const ss_link_law *b); /* NULL is {0} */
bool ss_link_law_is_none(const ss_link_law *l);                    /* NULL or {0} */
uint64_t ss_link_law_hash(uint64_t h, const ss_link_law *l);

/* How long the bytes of a message take, alone and without latency, on a link of that bandwidth (its load
 * taken off already); 0 of 0 bytes.  l may be NULL, here and below. */
double ss_link_law_seconds(const ss_link_law *l, double bytes_per_s, double bytes);
/* The share of the bandwidth that a message has, 1 of one of 0 bytes. */
double ss_link_law_share(const ss_link_law *l, double bytes);
double ss_link_law_latency(const ss_link_law *l, double latency_s, double bytes);

#endif
