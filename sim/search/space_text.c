/* Names of moves and reaches. */
#include "search/space.h"

static const char *const move_names[SS_MOVES] = {"free", "block", "pow2", "place", "list"};
static const char *const reach_names[SS_REACHES] = {"one", "group", "neighbour", "all", "descent"};

const char *ss_move_name(ss_move m)
{
    return m < SS_MOVES ? move_names[m] : "none";
}

const char *ss_reach_name(ss_reach r)
{
    return reach_names[r];
}
