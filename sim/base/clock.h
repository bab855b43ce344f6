/* clock.h - seconds on a clock that only goes forward: how long something takes, never part of a result.
 */
#ifndef SS_CLOCK_H
#define SS_CLOCK_H

double ss_seconds_now(void);

#endif
