/* delta_published.h - delta simulation as printed: FlexFlow (MLSys 2019), algorithm 2, to the letter.
 *
 *     (T, L) = update the task graph; L holds the tasks with a new readyTime
 *     Q = priority queue by readyTime; enqueue L
 *     while Q not empty:
 *         t = dequeue(Q)
 *         t.start = max(t.ready, t.preTask.end); t.end = t.start + t.exe
 *         for n in O(t): if update(n), enqueue n
 *         if update(t.nextTask), enqueue t.nextTask
 *     return the largest end of all tasks
 *   update(t):
 *     t.ready = the largest end in I(t); swap t with others on its device to keep first come first served
 *     t.start = max(t.ready, t.preTask.end)
 *     return whether t.ready or t.start changed
 *
 * Where it says nothing it is read kindly: ties are broken by structure, nothing is dequeued by a key
 * that is no longer so, new tasks are placed by the ready time that they have when they are made.  Two
 * readings of L, since the text in words lets every modified task be in it:
 *   to the letter: tasks made, and tasks whose ready time is another
 *   kindest: also tasks that followed one taken away on its device
 * Both give wrong timelines: what moves in a device's list leaves behind a task that nobody enqueues.
 * Repaired, it is the kindest reading with these enqueued too; that shows what is wrong, and all of it.
 */
#ifndef SS_DELTA_PUBLISHED_H
#define SS_DELTA_PUBLISHED_H

#include "graph/live.h"

typedef enum published_reading {
    PUBLISHED_LETTER,
    PUBLISHED_KINDEST,
    PUBLISHED_REPAIRED,
    PUBLISHED_READINGS
} published_reading;

typedef struct published_times {
    ss_time ready, start, end;
} published_times;

/* A change under way, on graphs without sets and lags: times[slot] are those of the graph before, and
 * are then what the algorithm finds; returns its makespan.  At most pool->n^2 tasks are dequeued. */
ss_time delta_published(const ss_live *l, published_reading reading, published_times *times);

#endif
