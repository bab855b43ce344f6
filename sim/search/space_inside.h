/* space_inside.h - what a space knows of each operator.  For space*.c alone.
 *
 * Every move but list is two things: degrees, uniform among some vectors, and then one of the
 * placements that a number of parts has, uniform.  Operators with the same limits share the counts
 * of vectors; pinned degrees are a factor, and pinned devices leave one placement.
 */
#ifndef SS_SPACE_INSIDE_H
#define SS_SPACE_INSIDE_H

#include "graph/degrees.h"
#include "search/space.h"

/* Operators whose counts are the same.  Everything is by the product of the open degrees. */
typedef struct space_class {
    uint32_t n, limit[SS_MAX_DIMS], fixed, exact; /* as in ss_degrees_open, limits cut to `most` */
    uint32_t most;
    ss_degrees counts[2];         /* any degrees, and powers of two */
    uint32_t budget[SS_MOVES];    /* the largest open product; 0: the move offers nothing */
    uint64_t vectors[SS_MOVES];   /* of degrees */
    double log_vectors[SS_MOVES]; /* of that */
    uint64_t *within[SS_MOVES];   /* [most + 1]: configurations with a product of at most p */
} space_class;

typedef struct space_op {
    ss_degrees_open open;
    uint32_t class;
    ss_config pinned;           /* its devices where they are pinned (open.exact) */
    uint32_t first_list, lists; /* different ones, in ss_space.list */
    uint32_t first_edge, edges; /* in ss_space.edge */
    double weight[SS_MOVES];    /* adding up to 1; 0 where a move offers nothing */
    double log_weight[SS_MOVES];
    bool movable;
} space_op;

typedef struct space_edge {
    ss_op to;
    double bytes; /* of the tensor */
} space_edge;

struct ss_space {
    const ss_model *model;
    const ss_topology *topology;
    ss_space_options options; /* its list is NULL */
    uint32_t ops, devices;
    space_op *op;   /* [ops + 1] */
    ss_op *movable; /* [movables], ascending */
    uint32_t movables;
    space_class *class;
    uint32_t classes, class_cap;
    ss_divisors divisors;
    ss_choice *list; /* [lists] ascending, all different */
    uint32_t lists;
    space_edge *edge;
    uint32_t *group_first; /* [groups + 2] where the operators of a group begin in group_op */
    ss_op *group_op;
};

static inline const space_class *space_class_of(const ss_space *s, const space_op *o)
{
    return &s->class[o->class];
}

static inline const ss_degrees *space_counts(const space_class *c, ss_move m)
{
    return &c->counts[m == SS_MOVE_POW2];
}

/* Placements of so many parts by a move on so many devices; UINT64_MAX: 2^64 or more. */
uint64_t space_places(ss_move m, uint32_t devices, uint32_t parts);
/* The nth of them; of free the last part's device changes fastest. */
void space_place_nth(ss_move m, uint32_t devices, uint64_t nth, ss_config *c);

/* a + b and a * b, at most UINT64_MAX. */
static inline uint64_t space_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static inline uint64_t space_times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Counts what each move offers; budgets and `most` are there. */
ss_status space_count_class(const ss_space *s, space_class *c, ss_error *err);

/* By operator, degrees, devices: the order of lists. */
int space_compare_choices(const void *a, const void *b);

/* Whether the rules and pins allow it (devices may be ones that are not there); the product of its
 * open degrees. */
bool space_fits(const space_op *o, const ss_config *c, uint32_t *product);
/* Degrees from the open ones, room for its devices, and those that are pinned. */
ss_status space_set_degrees(const space_op *o, const uint32_t *open, ss_config *c, ss_error *err);

#endif
