/* What the algorithms share: room for messages. */

#include "graph/collective.h"

#include "base/array.h"
#include "base/mem.h"
#include "graph/collective_parts.h"

ss_status ss_messages_start(ss_messages *m, uint32_t members, int64_t bytes, uint64_t messages,
                            uint64_t afters, ss_error *err)
{
    if (members < 1)
        return ss_fail(err, SS_EINVAL, "a collective needs members");
    if (bytes < 0)
        return ss_fail(err, SS_EINVAL, "a collective of %lld bytes", (long long)bytes);
    ss_status s = SS_RESERVE(m->row, m->cap, messages + 1, "messages of a collective", err);
    if (!s)
        s = SS_RESERVE(m->after, m->after_cap, afters, "order of messages", err);
    if (s)
        return s;
    m->n = m->afters = m->ring_of = 0;
    return SS_OK;
}

ss_message *ss_messages_add(ss_messages *m, uint32_t from, uint32_t to, int64_t offset,
                            int64_t bytes, bool adds)
{
    m->row[++m->n] = (ss_message){.from = from,
                                  .to = to,
                                  .offset = offset,
                                  .bytes = bytes,
                                  .first_after = m->afters,
                                  .adds = adds};
    return &m->row[m->n];
}

void ss_messages_after(ss_messages *m, uint32_t row)
{
    m->after[m->afters++] = row;
    m->row[m->n].afters++;
}

void ss_messages_free(ss_messages *m)
{
    if (!m)
        return;
    ss_free(m->row);
    ss_free(m->after);
    *m = (ss_messages){0};
}
