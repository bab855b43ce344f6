/* pattern.h - what an operation between ranks asks of a link: how many messages one after the other, and
 * how many bytes of them.
 *
 * With a start-up time a of each message and a bandwidth b an operation takes steps * a + path / b.  Both
 * are those of the closed forms of collective.h, for as many bytes: a name of an operation or algorithm
 * means there what it means here, and times by the form give a and b back.  Sizes are counted as there.
 * Of trees, whose messages meet at the ports of their members, it is the price (collective_price.h) on a
 * switch that each rank is joined to by one shared link: straight lines in bytes, of even chunks.
 *
 * Known are the algorithms whose form needs ranks alone; those that go by machines, switches or links each
 * way round are refused, since a table of times does not say which rank was where.
 */
#ifndef SS_PATTERN_H
#define SS_PATTERN_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "graph/collective.h"

enum { SS_PATTERN_LINES = 24, SS_PATTERN_RANKS = 65536 };

typedef struct ss_pattern {
    const char *operation, *algorithm; /* not copied: words of our own list */
    ss_operation of;
    ss_algorithm by;
    uint32_t ranks;
    uint32_t chunks; /* into which it is cut; 0: as many as the form finds best */
    uint32_t lines;  /* of trees, when it is prepared */
    struct {
        uint32_t chunks;
        double steps, bytes; /* bytes: over those of the operation */
    } line[SS_PATTERN_LINES];
} ss_pattern;

/* algorithm NULL: ring, of all_to_all pairwise, of p2p direct.  p2p is between 2 ranks; 0 ranks: 2 of p2p,
 * else refused.  One rank needs no message and is refused.  Chunks are 1 of what does not look at them, and
 * others are refused of it. */
ss_status ss_pattern_find(const char *operation, const char *algorithm, uint32_t ranks,
                          uint32_t chunks, ss_pattern *out, ss_error *err);

/* Finds the lines of a tree; nothing of others.  Refuses one of more than SS_PATTERN_RANKS. */
ss_status ss_pattern_prepare(ss_pattern *p, ss_error *err);

/* Whether it depends on the link how many messages there are: chunks are those that are best. */
bool ss_pattern_chooses(const ss_pattern *p);

/* "p2p", "all_reduce of 8 ranks (double_tree, 4 chunks)" */
void ss_pattern_say(const ss_pattern *p, ss_text *out);

typedef struct ss_path {
    double steps; /* messages one after the other */
    double bytes; /* of all of these */
} ss_path;

/* Of one that was prepared: for so many bytes of the operation, on a link with that start-up and bandwidth, which decide where it
 * chooses. */
ss_path ss_pattern_path(const ss_pattern *p, double bytes, double start_s, double bytes_per_s);

#endif
