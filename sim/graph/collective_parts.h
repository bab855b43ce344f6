/* collective_parts.h - for collective_*.c: building a list of messages. */
#ifndef SS_COLLECTIVE_PARTS_H
#define SS_COLLECTIVE_PARTS_H

#include "graph/collective.h"

/* Empties the list and makes room; the rest cannot fail. Refuses no members and bytes below 0. */
ss_status ss_messages_start(ss_messages *m, uint32_t members, int64_t bytes, uint64_t messages,
                            uint64_t afters, ss_error *err);
ss_message *ss_messages_add(ss_messages *m, uint32_t from, uint32_t to, int64_t offset,
                            int64_t bytes, bool adds);
void ss_messages_after(ss_messages *m, uint32_t row); /* of the message added last */

#endif
