#include "graph/cycle.h"

#include <stdio.h>

#include "base/mem.h"

enum { NAMED = 8 };

/* Depth first, back along "waits for".  path[0 .. depth-1] is the way to where we are; a task that
 * is met again while on the path closes a circle. */
typedef struct walk {
    uint32_t
        *next; /* by task: 0 not seen, else 1 + the next edge to try; DONE: leads to no circle */
    uint32_t *path, depth;
} walk;

#define DONE UINT32_MAX

static void step_to(walk *w, uint32_t i, const uint32_t *first_in)
{
    w->next[i] = first_in[i] + 1;
    w->path[w->depth++] = i;
}

/* The place in the path where a circle begins, or DONE if none is reached from i. */
static uint32_t walk_from(walk *w, uint32_t i, const uint32_t *first_in, const uint32_t *in)
{
    step_to(w, i, first_in);
    while (w->depth) {
        uint32_t at = w->path[w->depth - 1];
        if (w->next[at] > first_in[at + 1]) {
            w->next[at] = DONE;
            w->depth--;
            continue;
        }
        uint32_t before = in[w->next[at]++ - 1];
        if (w->next[before] == 0) {
            step_to(w, before, first_in);
        } else if (w->next[before] != DONE) {
            uint32_t k = w->depth - 1;
            while (w->path[k] != before)
                k--;
            return k;
        }
    }
    return DONE;
}

static ss_status name_circle(const uint32_t *circle, uint32_t length, uint32_t base, ss_error *err)
{
    char text[64 * NAMED];
    size_t n = 0;
    for (uint32_t k = 0; k < length && k < NAMED; k++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              k ? ", which waits for task %u" : "task %u", circle[k] - 1 + base);
    if (length > NAMED)
        snprintf(text + n, sizeof text - n, ", and so on through %u tasks back to task %u", length,
                 circle[0] - 1 + base);
    else
        snprintf(text + n, sizeof text - n, ", which waits for task %u", circle[0] - 1 + base);
    return ss_fail(err, SS_EINVAL, "tasks wait for each other in a circle: %s", text);
}

ss_status ss_cycle_refuse(uint32_t n, const uint32_t *first_in, const uint32_t *in, uint32_t base,
                          ss_error *err)
{
    walk w = {ss_alloc_zeroed((size_t)n + 1, sizeof *w.next),
              ss_alloc(((size_t)n + 1) * sizeof *w.path), 0};
    ss_status s = SS_OK;
    if (!w.next || !w.path)
        s = ss_fail_memory(err, "finding a circle", ((size_t)n + 1) * 2 * sizeof *w.next);
    for (uint32_t i = 1; i <= n && !s; i++) {
        if (w.next[i])
            continue;
        uint32_t k = walk_from(&w, i, first_in, in);
        if (k != DONE)
            s = name_circle(w.path + k, w.depth - k, base, err);
    }
    ss_free(w.next);
    ss_free(w.path);
    return s;
}
