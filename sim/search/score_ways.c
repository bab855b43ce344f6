/* The ways of scoring, by name. */
#include "search/score_inside.h"

static const char *const names[SS_SCORE_WAYS] = {"full", "replay", "delta"};

static const ss_score_kind *const kinds[SS_SCORE_WAYS] = {[SS_SCORE_FULL] = &ss_score_full,
                                                          [SS_SCORE_REPLAY] = &ss_score_replay,
                                                          [SS_SCORE_DELTA] = &ss_score_delta};

const char *ss_score_way_name(ss_score_way w)
{
    return (unsigned)w < SS_SCORE_WAYS ? names[w] : "unknown";
}

const ss_score_kind *ss_score_kind_of(ss_score_way w)
{
    return (unsigned)w < SS_SCORE_WAYS ? kinds[w] : NULL;
}
