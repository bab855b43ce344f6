#include "simulate/pattern.h"

#include <math.h>
#include <string.h>

const char ss_pattern_operations[] =
    "p2p|all_reduce|all_gather|reduce_scatter|all_to_all|broadcast|reduce";
const char ss_pattern_algorithms[] = "direct|ring|tree|halving_doubling|pairwise";

/* What a step count or a factor is made of, of n ranks. */
typedef enum measure {
    ONE,
    SHARES,     /* (n-1)/n */
    TWO_SHARES, /* 2 (n-1)/n */
    OTHERS,     /* n-1 */
    TWO_OTHERS, /* 2 (n-1) */
    LEVELS,     /* log2 n, rounded up */
    TWO_LEVELS  /* twice that */
} measure;

static double measure_of(measure m, uint32_t ranks)
{
    double n = ranks, levels = ceil(log2(n));
    switch (m) {
    case SHARES:
        return (n - 1) / n;
    case TWO_SHARES:
        return 2 * (n - 1) / n;
    case OTHERS:
        return n - 1;
    case TWO_OTHERS:
        return 2 * (n - 1);
    case LEVELS:
        return levels;
    case TWO_LEVELS:
        return 2 * levels;
    default:
        return 1;
    }
}

/* The first of an operation is what it does unless told otherwise.  Chains of broadcast and reduce are
 * cut into many chunks, so that their bytes cross once; trees of those send the whole each time, and the
 * tree of all_reduce is the double binary one, each half of whose trees carries half of the tensor
 * (Sanders, Speck, Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
 * Parallel Computing 2009). */
static const struct row {
    const char *operation, *algorithm;
    measure steps, factor;
} rows[] = {
    {"p2p", "direct", ONE, ONE},
    {"all_reduce", "ring", TWO_OTHERS, TWO_SHARES},
    {"all_reduce", "tree", TWO_LEVELS, TWO_SHARES},
    {"all_reduce", "halving_doubling", TWO_LEVELS, TWO_SHARES},
    {"all_gather", "ring", OTHERS, SHARES},
    {"all_gather", "halving_doubling", LEVELS, SHARES},
    {"reduce_scatter", "ring", OTHERS, SHARES},
    {"reduce_scatter", "halving_doubling", LEVELS, SHARES},
    {"all_to_all", "pairwise", OTHERS, SHARES},
    {"broadcast", "ring", OTHERS, ONE},
    {"broadcast", "tree", LEVELS, LEVELS},
    {"reduce", "ring", OTHERS, ONE},
    {"reduce", "tree", LEVELS, LEVELS},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* What there is, each once, for a refusal. */
static ss_status refuse_operation(const char *operation, ss_error *err)
{
    const char *names[ROWS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        if (!n || strcmp(names[n - 1], rows[i].operation))
            names[n++] = rows[i].operation;
    const char *near = ss_nearest(operation, names, n);
    if (near)
        return ss_fail(err, SS_EINVAL, "there is no operation '%s'; did you mean '%s'?", operation,
                       near);
    return ss_fail(err, SS_EINVAL,
                   "there is no operation '%s'; there are p2p, all_reduce, all_gather, "
                   "reduce_scatter, all_to_all, broadcast and reduce",
                   operation);
}

static ss_status refuse_algorithm(const char *operation, const char *algorithm, ss_error *err)
{
    char known[120] = "";
    for (uint32_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].operation, operation))
            continue;
        size_t n = strlen(known);
        strncat(known, n ? ", " : "", sizeof known - n - 1);
        strncat(known, rows[i].algorithm, sizeof known - strlen(known) - 1);
    }
    return ss_fail(err, SS_EINVAL, "%s has no algorithm '%s': there is %s", operation, algorithm,
                   known);
}

static const struct row *find_row(const char *operation, const char *algorithm)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].operation, operation) &&
            (!algorithm || !strcmp(rows[i].algorithm, algorithm)))
            return &rows[i];
    return NULL;
}

ss_status ss_pattern_find(const char *operation, const char *algorithm, uint32_t ranks,
                          ss_pattern *out, ss_error *err)
{
    const struct row *row = find_row(operation, NULL);
    if (!row)
        return refuse_operation(operation, err);
    bool p2p = row == rows;
    row = find_row(operation, algorithm);
    if (!row)
        return refuse_algorithm(operation, algorithm, err);
    if (p2p && ranks && ranks != 2)
        return ss_fail(err, SS_EINVAL, "p2p is between 2 ranks, not %u", ranks);
    if (!p2p && ranks < 2)
        return ss_fail(err, SS_EINVAL,
                       "%s is between %u ranks: how many of them there were, 2 or more, must be "
                       "given",
                       operation, ranks);
    ranks = p2p ? 2 : ranks;
    *out = (ss_pattern){row->operation, row->algorithm, ranks, measure_of(row->steps, ranks),
                        measure_of(row->factor, ranks)};
    return SS_OK;
}
