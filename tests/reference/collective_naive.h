/* collective_naive.h - a collective is right if whoever plays its messages ends with what was promised.
 *
 * Every member has a tensor of bytes; bytes between the same borders of messages are one piece.  A piece
 * somewhere is a count for each (member, piece) of where it began: how often that is summed up in it.
 * Messages are sent and delivered one at a time, in an order drawn among those that the list allows.
 */
#ifndef SS_COLLECTIVE_NAIVE_H
#define SS_COLLECTIVE_NAIVE_H

#include <stdbool.h>

#include "base/rng.h"
#include "graph/collective.h"

/* Whether everyone ends with it, and not before the messages that are marked as last and those by which
 * a member first sends its own data on; else `why` says what is wrong, in 200 bytes. */
bool collective_naive_check(const ss_collective *c, const ss_messages *m, ss_rng *rng, char *why);

#endif
