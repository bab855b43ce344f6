/* chance.h - durations that are not known beforehand: what is drawn, from which distribution.
 *
 * Assumption A1 of the published simulator (a task takes one time, known beforehand) is broken by
 * factors, A4 (no overhead) by seconds that are added; each is a number or a distribution, and what
 * is not set is kept.  What is set:
 *   compute   a factor of each task that computes, or one of its operator's kind, or of its device
 *   device    a factor of each device, drawn once for a step: devices that are not identical
 *   slow      a fixed factor of one device
 *   transfer  a factor of each message: its bytes take so many times as long on its links, whatever
 *             these fall short of; latencies are kept
 *   launch    seconds of each task that computes and takes time
 *   message   seconds of each message, once, however many hops and segments it has
 *   step      seconds of the step, when all else is over
 *
 * A draw is a function of (seed, repetition, what is drawn): a hash gives a number between 0 and 1,
 * and the inverse of the distribution what belongs to it.  There is no state, so neither order nor
 * threads matter, and what a task is given does not depend on the others: two strategies meet the
 * same luck (common random numbers), and a graph that is changed in place has the times of one that
 * is made anew.  docs/decisions/0036-chance-is-a-function.md has the reasons.
 */
#ifndef SS_CHANCE_H
#define SS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "graph/ids.h"
#include "graph/topology.h"

/* ---- one distribution --------------------------------------------------------------------- */

typedef enum ss_draw_kind {
    SS_DRAW_NONE, /* nothing: a factor of 1, 0 seconds */
    SS_DRAW_CONSTANT,
    SS_DRAW_LOGNORMAL,
    SS_DRAW_GAMMA, /* with cv 1 the exponential one */
    SS_DRAW_SAMPLES,
    SS_DRAW_KINDS
} ss_draw_kind;

const char *ss_draw_kind_name(ss_draw_kind k); /* "lognormal" */

typedef struct ss_draw {
    ss_draw_kind kind;
    double mean; /* without the tail */
    double cv;   /* standard deviation over mean; of samples as they are, of a constant 0 */
    /* With this share of the draws (0: never) the value is this many times as large: what interrupts
     * is rare and long.  The mean then is not `mean` any more. */
    double tail_share, tail_factor;
    const double
        *sample; /* [samples], ascending: each as likely as the others; scaled to the mean */
    uint32_t samples;
} ss_draw; /* {0}: none */

/* Between 0 and 1, neither of the two, from 64 bits: 52 of them. */
static inline double ss_unit_of(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* What of the distribution lies at u, between 0 and 1; without the tail. */
double ss_draw_quantile(const ss_draw *d, double u);
/* What belongs to 64 random bits, with the tail. */
double ss_draw_of(const ss_draw *d, uint64_t bits);
/* "lognormal cv 0.05", "5 us", "gamma mean 2 us cv 0.5, 1 % 4 times"; seconds: in that unit, else a factor. */
void ss_draw_say(const ss_draw *d, bool seconds, ss_text *out);

/* ---- what is drawn ------------------------------------------------------------------------ */

typedef enum ss_luck_of {
    SS_LUCK_COMPUTE,
    SS_LUCK_TRANSFER,
    SS_LUCK_DEVICE,
    SS_LUCK_LAUNCH,
    SS_LUCK_MESSAGE,
    SS_LUCK_STEP,
    SS_LUCKS
} ss_luck_of;

/* "compute"; those from SS_LUCK_LAUNCH on are seconds. */
const char *ss_luck_name(ss_luck_of x);

typedef struct ss_chance_kind {
    char *kind; /* of operators: "lstm" */
    ss_draw draw;
} ss_chance_kind;

typedef struct ss_chance_device {
    char *name;       /* as it was given, or NULL: by number */
    ss_device device; /* 0: not bound to a topology yet */
    ss_draw draw;     /* of its tasks; none: as others */
    double slow;      /* 1: as others */
} ss_chance_device;

typedef struct ss_chance {
    uint64_t seed;
    uint32_t repetition; /* from 1: what is drawn unless a run says another */
    ss_draw draw[SS_LUCKS];
    ss_chance_kind *kind; /* [kinds] */
    uint32_t kinds, kind_cap;
    ss_chance_device *device; /* [devices]: those that something is said of */
    uint32_t devices, device_cap;
    double **own; /* [owns]: samples */
    uint32_t owns, own_cap;
} ss_chance;

ss_status ss_chance_new(uint64_t seed, ss_chance **out, ss_error *err);
void ss_chance_free(ss_chance *c);
ss_status ss_chance_copy(const ss_chance *from, ss_chance **out, ss_error *err);

/* Each copies the draw and its samples, which may be in any order, and refuses what makes no sense: a
 * factor that is not above 0, seconds below 0, a cv beyond what can be drawn (gamma: 0.05 to 2, where
 * GSL's inverse is exact; lognormal: to 10).  `what` names the draw in messages. */
ss_status ss_chance_set(ss_chance *c, ss_luck_of x, const ss_draw *d, ss_error *err);
/* Of an operator kind, which there must be; twice: the later one. */
ss_status ss_chance_set_kind(ss_chance *c, const char *kind, const ss_draw *d, ss_error *err);
/* Of a device: by number, or by name where the number is 0. */
ss_status ss_chance_set_device(ss_chance *c, const char *name, ss_device device, const ss_draw *d,
                               ss_error *err);
ss_status ss_chance_set_slow(ss_chance *c, const char *name, ss_device device, double factor,
                             ss_error *err);

/* Finds the devices that were named, and refuses those that the topology does not have. */
ss_status ss_chance_bind(ss_chance *c, const ss_topology *t, ss_error *err);

/* Whether every device is like every other, whatever is drawn: nothing but constants. */
bool ss_chance_is_even(const ss_chance *c);
/* Whether some factor, some seconds are set. */
bool ss_chance_breaks_times(const ss_chance *c);
bool ss_chance_breaks_overheads(const ss_chance *c);
/* Whether repetitions differ. */
bool ss_chance_is_random(const ss_chance *c);

/* Seconds of the step.  c: NULL where there is no chance. */
ss_status ss_chance_step(const ss_chance *c, uint32_t repetition, ss_time *out, ss_error *err);

/* For a line of assumptions: "compute lognormal cv 0.05, of lstm gamma cv 0.2" of A1, "launch 5 us"
 * of A4; nothing where it is kept. */
void ss_chance_say_times(const ss_chance *c, ss_text *out);
void ss_chance_say_overheads(const ss_chance *c, ss_text *out);
/* All of it to the last digit, on one line, for records. */
void ss_chance_write(const ss_chance *c, ss_text *out);

/* The i-th draw that is set (i from 0), NULL beyond the last, and what of it is drawn, as ss_chance_write
 * says it: "compute", "kind lstm", "on gpu1". */
const ss_draw *ss_chance_draw(const ss_chance *c, uint32_t i, ss_text *of);

/* The random bits of one thing that is drawn. */
uint64_t ss_chance_bits(const ss_chance *c, uint32_t repetition, ss_luck_of x);

#endif
