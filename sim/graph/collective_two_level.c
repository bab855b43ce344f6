#include "base/mem.h"
#include "graph/collective_parts.h"

/* Members of a machine usually follow each other, so this rarely looks far. */
uint32_t ss_mate_before(const uint32_t *machine, uint32_t i)
{
    if (machine[i])
        for (uint32_t k = i; k-- > 0;)
            if (machine[k] == machine[i])
                return k;
    return i;
}

/* Row of the message that carries member i's sum up, and of the one that brings the result down;
 * member 0 has neither.  Members of a machine go up first, then masters; down the other way round.
 */
typedef struct plan {
    uint32_t *master, *up, *down;
    uint32_t n;
} plan;

static void add_up(ss_messages *out, const plan *p, int64_t bytes)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->master[i] != i) {
            ss_message *m = ss_messages_add(out, i, p->master[i], 0, bytes, true);
            m->own = true;
            m->last = p->master[i] == 0;
            p->up[i] = out->n;
        }
    for (uint32_t i = 1; i < p->n; i++) {
        if (p->master[i] != i)
            continue;
        ss_message *m = ss_messages_add(out, i, 0, 0, bytes, true);
        m->own = m->last = true;
        p->up[i] = out->n;
        for (uint32_t k = i + 1; k < p->n; k++)
            if (p->master[k] == i)
                ss_messages_after(out, p->up[k]);
    }
}

/* All that member 0 sends waits for all that it hears: the rows are written once and shared. */
static void add_down(ss_messages *out, const plan *p, int64_t bytes)
{
    uint32_t heard_first = out->afters, heard = 0;
    for (uint32_t i = 1; i < p->n; i++)
        if (p->master[i] == i || p->master[i] == 0) {
            out->after[out->afters++] = p->up[i];
            heard++;
        }
    for (uint32_t i = 1; i < p->n; i++)
        if (p->master[i] == i) {
            ss_message *m = ss_messages_add(out, 0, i, 0, bytes, false);
            m->own = m->last = true;
            m->first_after = heard_first;
            m->afters = heard;
            p->down[i] = out->n;
        }
    for (uint32_t i = 1; i < p->n; i++) {
        uint32_t master = p->master[i];
        if (master == i)
            continue;
        ss_message *m = ss_messages_add(out, master, i, 0, bytes, false);
        m->own = !master;
        m->last = true;
        if (master) {
            ss_messages_after(out, p->down[master]);
        } else {
            m->first_after = heard_first;
            m->afters = heard;
        }
    }
}

ss_status ss_collective_two_level(uint32_t members, const uint32_t *machine, int64_t bytes,
                                  ss_messages *out, ss_error *err)
{
    bool empty = members < 2 || bytes == 0;
    uint64_t messages = empty ? 0 : (uint64_t)2 * (members - 1);
    ss_status s = ss_messages_start(out, members, bytes, messages, 2 * messages, err);
    if (s || empty)
        return s;
    uint32_t *rows = ss_alloc_zeroed((size_t)members, 3 * sizeof *rows);
    if (!rows)
        return ss_fail_memory(err, "a two-level collective", members * 3 * sizeof *rows);
    plan p = {
        .master = rows, .up = rows + members, .down = rows + 2 * (size_t)members, .n = members};
    for (uint32_t i = 0; i < members; i++) {
        uint32_t mate = ss_mate_before(machine, i);
        p.master[i] = mate == i ? i : p.master[mate];
    }
    add_up(out, &p, bytes);
    add_down(out, &p, bytes);
    ss_free(rows);
    return SS_OK;
}

double ss_collective_two_level_seconds(uint32_t members, const uint32_t *machine, double bytes,
                                       double a_inside, double b_inside, double a_across,
                                       double b_across)
{
    uint32_t machines = 0, fullest = 1;
    for (uint32_t i = 0; i < members; i++) {
        if (ss_mate_before(machine, i) != i)
            continue;
        uint32_t here = 1;
        for (uint32_t k = i + 1; k < members; k++)
            here += machine[i] && machine[k] == machine[i];
        machines++;
        fullest = here > fullest ? here : fullest;
    }
    double inside = fullest > 1 ? (fullest - 1) * (a_inside + bytes / b_inside) : 0;
    double across = machines > 1 ? (machines - 1) * (a_across + bytes / b_across) : 0;
    return 2 * (inside + across);
}

ss_status ss_make_two_level(const ss_collective *c, ss_messages *out, ss_error *err)
{
    if (!c->machine)
        return ss_fail(err, SS_EINVAL, "two_level needs the machine of each member");
    return ss_collective_two_level(c->members, c->machine, c->bytes, out, err);
}

double ss_form_two_level(const ss_collective *c, ss_wire inside, ss_wire across)
{
    return c->machine ? ss_collective_two_level_seconds(c->members, c->machine, (double)c->bytes,
                                                        inside.latency_s, inside.bytes_per_s,
                                                        across.latency_s, across.bytes_per_s)
                      : 0;
}
