#include "search/search_inside.h"

#include <string.h>

#include "base/mem.h"

/* ----------------------------------------------------------------------------------- making one */

static ss_status new_chain(ss_search *s, const ss_topology *t, const ss_costs *costs, ss_lane *lane,
                           ss_error *err)
{
    ss_scorer *scorer = NULL;
    ss_space *space = NULL;
    ss_status status = ss_scorer_new(s->model, t, costs, &s->options.score, &scorer, err);
    if (!status)
        status = ss_space_new(lane->start, &s->options.space, &space, err);
    if (status) {
        ss_scorer_free(scorer);
        return status;
    }
    return ss_chain_new(lane->number, &s->options, scorer, space, lane->start, &lane->chain, err);
}

static ss_status new_lane(ss_search *s, const ss_topology *t, const ss_costs *costs,
                          const ss_search_start *start, ss_lane *lane, ss_error *err)
{
    const char *name = start->name ? start->name : "start";
    if (start->strategy->model != s->model || start->strategy->topology != t)
        return ss_fail(err, SS_EINVAL,
                       "start %s is a strategy for model %s on topology %s; the search is for %s "
                       "on %s",
                       name, start->strategy->model->name, start->strategy->topology->name,
                       s->model->name, t->name);
    lane->name = ss_strdup(name);
    if (!lane->name)
        return ss_fail_memory(err, "a name", strlen(name) + 1);
    ss_status status = ss_strategy_copy(start->strategy, &lane->start, err);
    if (!status)
        status = new_chain(s, t, costs, lane, err);
    if (status)
        return ss_fail_in(err, "start %s", name);
    ss_chain_standing(lane->chain, &lane->told);
    lane->told.end = SS_END_NOT;
    for (uint32_t k = 0; k < SS_LANE_BATCHES; k++) {
        lane->batch[k].lane = lane;
        lane->spare[lane->spares++] = &lane->batch[k];
    }
    return SS_OK;
}

ss_status ss_search_new(const ss_model *m, const ss_topology *t, const ss_costs *costs,
                        const ss_search_start *start, uint32_t starts, const ss_search_options *o,
                        ss_search **out, ss_error *err)
{
    ss_status status = ss_search_check_options(o, err);
    if (status)
        return status;
    if (!starts)
        return ss_fail(err, SS_EINVAL, "a search needs a strategy to start from");
    ss_search *s = ss_alloc_zeroed(1, sizeof *s);
    ss_lane *lane = ss_alloc_zeroed(starts, sizeof *lane);
    if (!s || !lane) {
        ss_free(s);
        ss_free(lane);
        return ss_fail_memory(err, "a search", starts * sizeof *lane);
    }
    *s = (ss_search){.model = m, .options = *o, .lane = lane, .lanes = starts};
    for (uint32_t i = 0; i < starts && !status; i++) {
        lane[i].number = i;
        status = new_lane(s, t, costs, &start[i], &lane[i], err);
    }
    if (status) {
        ss_search_free(s);
        return status;
    }
    *out = s;
    return SS_OK;
}

static void free_lane(ss_lane *lane)
{
    ss_chain_free(lane->chain);
    ss_strategy_free(lane->start);
    ss_free(lane->name);
    for (uint32_t k = 0; k < SS_LANE_BATCHES; k++)
        ss_rows_free(&lane->batch[k].rows);
}

void ss_search_free(ss_search *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->lanes; i++)
        free_lane(&s->lane[i]);
    ss_free(s->lane);
    ss_free(s);
}

/* -------------------------------------------------------------------------------------- going on */

ss_status ss_search_resume(ss_search *s, const ss_search_past *past, ss_error *err)
{
    for (uint32_t i = 0; i < s->lanes; i++) {
        ss_lane *lane = &s->lane[i];
        ss_status status = ss_chain_resume(lane->chain, past, err);
        if (status)
            return ss_fail_in(err, "start %s", lane->name);
        ss_chain_standing(lane->chain, &lane->told);
        lane->share_done = ss_chain_share_done(lane->chain);
    }
    return SS_OK;
}

void ss_search_more(ss_search *s, uint64_t proposals, double seconds)
{
    for (uint32_t i = 0; i < s->lanes; i++) {
        ss_lane *lane = &s->lane[i];
        ss_chain_more(lane->chain, proposals, seconds);
        lane->told.end = ss_chain_end(lane->chain);
        lane->share_done = ss_chain_share_done(lane->chain);
    }
}

/* ---------------------------------------------------------------------------------- what it found */

void ss_search_chain(const ss_search *s, uint32_t chain, ss_search_standing *out)
{
    *out = s->lane[chain].told;
}

const ss_strategy *ss_search_best_of(const ss_search *s, uint32_t chain)
{
    return ss_chain_best(s->lane[chain].chain);
}

const ss_strategy *ss_search_best(const ss_search *s, uint32_t *chain)
{
    ss_search_standing best, at;
    uint32_t found = 0;
    ss_chain_standing(s->lane[0].chain, &best);
    for (uint32_t i = 1; i < s->lanes; i++) {
        ss_chain_standing(s->lane[i].chain, &at);
        if (at.fits == best.fits ? at.best >= best.best : best.fits)
            continue;
        best = at;
        found = i;
    }
    if (chain)
        *chain = found;
    return ss_search_best_of(s, found);
}
