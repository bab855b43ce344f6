#include "simulate/correction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/units.h"

enum { NAME = 80 };

struct ss_correction {
    uint32_t holders;
    double overhead_s;
    ss_names known;  /* all that can be set; ids are places in `factor` */
    double *factor;  /* [known.n + 1]; 0: not set */
    uint32_t set;    /* how many are */
};

static void name_of(const char *kind, ss_phase phase, char out[NAME])
{
    snprintf(out, NAME, "%s%s%s", kind, *kind ? " " : "", ss_phase_name(phase));
}

static ss_status name_all(ss_correction *c, ss_error *err)
{
    static const ss_phase phase[] = {SS_FORWARD, SS_BACKWARD};
    uint32_t kinds, id;
    const ss_op_kind *const *kind = ss_op_kinds(&kinds);
    ss_status s = SS_OK;
    for (uint32_t i = 0; i <= kinds && !s; i++)
        for (uint32_t p = 0; p < 2 && !s; p++) {
            char name[NAME];
            name_of(i < kinds ? kind[i]->name : "", phase[p], name);
            s = ss_names_add(&c->known, name, &id, err);
        }
    for (int i = 0; i < SS_STREAMS && !s; i++)
        s = ss_names_add(&c->known, ss_stream_name((ss_stream)i), &id, err);
    return s;
}

ss_status ss_correction_new(ss_correction **out, ss_error *err)
{
    ss_correction *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "a correction", sizeof *c);
    c->holders = 1;
    ss_status s = name_all(c, err);
    if (!s && !(c->factor = ss_alloc_zeroed(c->known.n + 1, sizeof *c->factor)))
        s = ss_fail_memory(err, "a correction", c->known.n * sizeof *c->factor);
    if (s)
        ss_correction_free(c);
    else
        *out = c;
    return s;
}

void ss_correction_free(ss_correction *c)
{
    if (!c || --c->holders)
        return;
    ss_names_free(&c->known);
    ss_free(c->factor);
    ss_free(c);
}

ss_correction *ss_correction_hold(ss_correction *c)
{
    c->holders++;
    return c;
}

ss_status ss_correction_set_overhead(ss_correction *c, double seconds, ss_error *err)
{
    if (!(seconds >= 0 && seconds <= 1))
        return ss_fail(err, SS_EINVAL, "the overhead of a task is %g s; it must be from 0 to 1 s", seconds);
    c->overhead_s = seconds;
    return SS_OK;
}

ss_status ss_correction_set(ss_correction *c, const char *what, double factor, ss_error *err)
{
    uint32_t id = ss_names_find(&c->known, what);
    const char *nearest = id ? NULL : ss_names_nearest(&c->known, what);
    if (!id)
        return ss_fail(err, SS_EINVAL,
                       "'%s' is neither a kind of operator with a phase (\"linear forward\"), nor a phase, "
                       "nor a stream (\"copy\", \"sum\", \"update\", \"message\")%s%s%s",
                       what, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                       nearest ? "'?" : "");
    if (!(factor > 0 && isfinite(factor)))
        return ss_fail(err, SS_EINVAL, "the factor of '%s' is %g; a number above 0 is wanted", what, factor);
    c->set += !(c->factor[id] > 0);
    c->factor[id] = factor;
    return SS_OK;
}

static double factor_of(const ss_correction *c, const char *name)
{
    return c->factor[ss_names_find(&c->known, name)];
}

static double corrected(const ss_correction *c, double factor, double seconds)
{
    return seconds > 0 ? c->overhead_s + (factor > 0 ? factor : 1) * seconds : seconds;
}

double ss_correction_of_part(const ss_correction *c, const ss_op_kind *kind, ss_phase phase, double seconds)
{
    char name[NAME];
    name_of(kind->name, phase, name);
    double factor = factor_of(c, name);
    return corrected(c, factor > 0 ? factor : factor_of(c, ss_phase_name(phase)), seconds);
}

double ss_correction_of_stream(const ss_correction *c, ss_stream what, double seconds)
{
    return corrected(c, factor_of(c, ss_stream_name(what)), seconds);
}

void ss_correction_say(const ss_correction *c, ss_text *out)
{
    ss_text_add(out, " corrected by %u factor%s and %g us a task", c->set, c->set == 1 ? "" : "s",
                c->overhead_s * 1e6);
}

uint64_t ss_correction_hash(const ss_correction *c, uint64_t h)
{
    h = ss_hash_double(h, c->overhead_s);
    for (uint32_t i = 1; i <= c->known.n; i++)
        if (c->factor[i] > 0) {
            h = ss_hash_text(h, ss_names_text(&c->known, i));
            h = ss_hash_double(h, c->factor[i]);
        }
    return h;
}
