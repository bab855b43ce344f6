#include "simulate/ends.h"

#include "base/mem.h"

static uint32_t node_up(uint32_t n)
{
    return (n + SS_ENDS_WIDTH - 1) / SS_ENDS_WIDTH * SS_ENDS_WIDTH;
}

ss_status ss_ends_reserve(ss_ends *e, uint32_t slots, ss_error *err)
{
    if (slots <= e->slots)
        return SS_OK;
    uint32_t cap = node_up(slots), levels = 0;
    size_t length[SS_ENDS_LEVELS], all = 0;
    for (uint32_t n = cap;; n = node_up(n / SS_ENDS_WIDTH)) {
        length[levels++] = n;
        all += n;
        if (n == SS_ENDS_WIDTH)
            break;
    }
    ss_time *block = ss_alloc(all * sizeof *block);
    if (!block)
        return ss_fail_memory(err, "ends of flows", all * sizeof *block);
    ss_free(e->block);
    *e = (ss_ends){.levels = levels, .slots = cap, .block = block};
    for (uint32_t k = 0; k < levels; k++) {
        e->level[k] = block;
        block += length[k];
    }
    ss_ends_clear(e);
    return SS_OK;
}

void ss_ends_clear(ss_ends *e)
{
    uint32_t n = e->slots;
    for (uint32_t k = 0; k < e->levels; k++) {
        for (uint32_t i = 0; i < n; i++)
            e->level[k][i] = SS_TIME_MAX;
        n = node_up(n / SS_ENDS_WIDTH);
    }
}

void ss_ends_free(ss_ends *e)
{
    ss_free(e->block);
    *e = (ss_ends){0};
}

size_t ss_ends_memory(const ss_ends *e)
{
    size_t all = 0;
    uint32_t n = e->slots;
    for (uint32_t k = 0; k < e->levels; k++) {
        all += n;
        n = node_up(n / SS_ENDS_WIDTH);
    }
    return all * sizeof(ss_time);
}

uint32_t ss_ends_first(const ss_ends *e)
{
    uint32_t at = 0;
    ss_time least = ss_ends_least(e);
    for (uint32_t k = e->levels; k-- > 0;) {
        uint32_t i = at * SS_ENDS_WIDTH;
        while (e->level[k][i] != least)
            i++;
        at = i;
    }
    return at;
}
