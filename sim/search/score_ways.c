/* The ways of scoring, by name. */
#include "base/text.h"
#include "search/score_inside.h"

#include <string.h>

static const char *const names[SS_SCORE_WAYS] = {"full", "replay", "delta"};

static const ss_score_kind *const kinds[SS_SCORE_WAYS] = {[SS_SCORE_FULL] = &ss_score_full,
                                                          [SS_SCORE_REPLAY] = &ss_score_replay,
                                                          [SS_SCORE_DELTA] = &ss_score_delta};

const char *ss_score_way_name(ss_score_way w)
{
    return (unsigned)w < SS_SCORE_WAYS ? names[w] : "unknown";
}

ss_status ss_score_way_parse(const char *text, ss_score_way *out, ss_error *err)
{
    for (uint32_t i = 0; i < SS_SCORE_WAYS; i++)
        if (!strcmp(text, names[i])) {
            *out = (ss_score_way)i;
            return SS_OK;
        }
    const char *nearest = ss_nearest(text, names, SS_SCORE_WAYS);
    return ss_fail(err, SS_EINVAL,
                   "\"%.60s\" is no way of scoring: there are full, replay and delta%s%s%s", text,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

const ss_score_kind *ss_score_kind_of(ss_score_way w)
{
    return (unsigned)w < SS_SCORE_WAYS ? kinds[w] : NULL;
}
