/* collective_result.h - a collective between devices of a topology, simulated, and its closed form. */
#ifndef SS_COLLECTIVE_RESULT_H
#define SS_COLLECTIVE_RESULT_H

#include "graph/collective_route.h"
#include "simulate/engine.h"
#include "simulate/result.h"

typedef struct ss_collective_ask {
    ss_operation operation;
    ss_algorithm
        algorithm; /* SS_ALGORITHMS: the one whose form takes least (ss_choose_collective) */
    uint32_t members;
    int64_t bytes;            /* as collective.h counts them */
    uint32_t chunks;          /* 0: as many as the form finds best */
    ss_lower_options options; /* links, segments, ideal_links, flow_limit */
} ss_collective_ask;

typedef struct ss_collective_answer {
    ss_algorithm algorithm;
    uint32_t chunks; /* 1 where the algorithm does not look at them */
    uint32_t messages;
    double closed_form_s; /* ss_price_collective, by the options */
    ss_result *result;    /* the caller's */
} ss_collective_answer;

/* Refuses fewer than two devices, one that is named twice, and what the algorithm cannot do there. */
ss_status ss_collective_simulate(const ss_collective_ask *ask, const ss_party *p, ss_engine *e,
                                 ss_collective_answer *out, ss_error *err);

#endif
