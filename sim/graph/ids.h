/* ids.h - what a number stands for.
 *
 * An id is a struct with one field, so that the compiler refuses a link where a task is meant.  Ids
 * start at 1 and row 0 of every array means none: a zeroed struct names nothing, and an id is the
 * index of the same thing in a Lua list.
 */
#ifndef SS_IDS_H
#define SS_IDS_H

#include <stdint.h>

typedef struct ss_op { uint32_t i; } ss_op;         /* operator of a model */
typedef struct ss_tensor { uint32_t i; } ss_tensor; /* tensor of a model */
typedef struct ss_weight { uint32_t i; } ss_weight; /* parameter tensor; shared by a group of operators */
typedef struct ss_device { uint32_t i; } ss_device; /* what computes */
typedef struct ss_node { uint32_t i; } ss_node;     /* device or switch: what links join */
typedef struct ss_link { uint32_t i; } ss_link;     /* one direction, or both of a half-duplex bus */
typedef struct ss_route { uint32_t i; } ss_route;   /* links in order; 0: source and target are one */
typedef struct ss_task { uint32_t i; } ss_task;     /* unit of simulated work */

#endif
