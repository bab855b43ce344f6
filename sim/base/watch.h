/* watch.h - long work looks up now and then: it says how far it is, and may be told to stop.
 *
 * The core knows neither terminals nor signals; whoever starts the work may hand it a watch.  Work
 * looks up at least every tenth of a second or so, and the watch itself decides how much of that it
 * shows.
 */
#ifndef SS_WATCH_H
#define SS_WATCH_H

#include "base/status.h"

enum { SS_LOOK_EVERY = 1 << 18 }; /* steps of some 100 ns between two looks */

typedef struct ss_watch {
    void *context;
    /* `done` of `whole` of the work called `what` ("lowering", in no unit that a person needs).
     * NULL: nothing is to be shown, and with a `whole` of 0 nobody knows how much there is.
     * A status other than SS_OK ends the work with it: SS_ESTOPPED, and the sentence why. */
    ss_status (*look)(void *context, const char *what, double done, double whole, ss_error *err);
    void (*over)(void *context); /* the work is done, or has failed */
    /* Work that ends well when it is stopped has done so: the stop is no error any more.  NULL: it
     * stays one. */
    void (*heeded)(void *context);
} ss_watch;

/* w: NULL where nobody watches. */
static inline ss_status ss_look_up(const ss_watch *w, const char *what, double done, double whole,
                                   ss_error *err)
{
    return w ? w->look(w->context, what, done, whole, err) : SS_OK;
}

/* For whoever started the work, when it has come back. */
static inline void ss_look_away(const ss_watch *w)
{
    if (w)
        w->over(w->context);
}

/* For work that heeded a stop, and goes on with what it has. */
static inline void ss_look_heeded(const ss_watch *w)
{
    if (w && w->heeded)
        w->heeded(w->context);
}

#endif
