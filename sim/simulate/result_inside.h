/* result_inside.h - what result_make.c needs of result.c. */
#ifndef SS_RESULT_INSIDE_H
#define SS_RESULT_INSIDE_H

#include "simulate/result.h"

/* Everything but memory held, of a result with its task graph and timeline. */
ss_status ss_result_account(ss_result *r, const ss_topology *topology, ss_routes *routes,
                            const ss_watch *watch, ss_error *err);
ss_status ss_result_hold(ss_result *r, const ss_topology *t, const ss_holds *holds, ss_error *err);

#endif
