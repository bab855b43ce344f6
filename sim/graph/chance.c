#include "graph/chance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "graph/op.h"

/* GSL's inverse of the gamma distribution fails for some u outside of these (2.7.1, 600,000 draws
 * each: cv 0.02 fails 69 times, 0.03 to 2 never, 3 every tenth time). */
#define GAMMA_LEAST 0.05
#define GAMMA_MOST 2.0
#define LOGNORMAL_MOST 10.0
#define FACTOR_MOST 1e6
#define SECONDS_MOST 1e6
enum { MOST_SAMPLES = 1 << 20 };

static const char *const kind_names[SS_DRAW_KINDS] = {"none", "constant", "lognormal", "gamma",
                                                      "samples"};
static const char *const luck_names[SS_LUCKS] = {"compute", "transfer", "devices",
                                                 "launch",  "message",  "step"};

const char *ss_draw_kind_name(ss_draw_kind k)
{
    return (unsigned)k < SS_DRAW_KINDS ? kind_names[k] : "unknown";
}

const char *ss_luck_name(ss_luck_of x)
{
    return (unsigned)x < SS_LUCKS ? luck_names[x] : "unknown";
}

/* ---- one distribution --------------------------------------------------------------------- */

double ss_draw_quantile(const ss_draw *d, double u)
{
    switch (d->kind) {
    case SS_DRAW_LOGNORMAL: {
        double sigma = sqrt(log1p(d->cv * d->cv));
        return gsl_cdf_lognormal_Pinv(u, log(d->mean) - sigma * sigma / 2, sigma);
    }
    case SS_DRAW_GAMMA:
        return gsl_cdf_gamma_Pinv(u, 1 / (d->cv * d->cv), d->mean * d->cv * d->cv);
    case SS_DRAW_SAMPLES:
        return d->sample[(uint32_t)(u * d->samples)];
    case SS_DRAW_CONSTANT:
    case SS_DRAW_NONE:
    case SS_DRAW_KINDS:
        break;
    }
    return d->mean;
}

double ss_draw_of(const ss_draw *d, uint64_t bits)
{
    double value = ss_draw_quantile(d, ss_unit_of(bits));
    if (d->tail_share > 0 && ss_unit_of(ss_hash_u64(bits, 1)) < d->tail_share)
        value *= d->tail_factor;
    return value;
}

static ss_status refuse_number(const ss_draw *d, bool seconds, const char *what, ss_error *err)
{
    bool random = d->kind == SS_DRAW_LOGNORMAL || d->kind == SS_DRAW_GAMMA;
    double most = seconds ? SECONDS_MOST : FACTOR_MOST;
    bool lacks = d->kind == SS_DRAW_SAMPLES && isnan(d->mean); /* as they are */
    if (!lacks && seconds && d->kind == SS_DRAW_CONSTANT && !(d->mean >= 0 && d->mean <= most))
        return ss_fail(err, SS_EINVAL, "%s: %g s; it must be from 0 to %g s", what, d->mean, most);
    if (!lacks && !(seconds && d->kind == SS_DRAW_CONSTANT) && !(d->mean > 0 && d->mean <= most))
        return ss_fail(err, SS_EINVAL, "%s: %s %g%s; it must be above 0 and at most %g%s", what,
                       d->kind == SS_DRAW_CONSTANT ? "a factor of" : "a mean of", d->mean,
                       seconds ? " s" : "", most, seconds ? " s" : "");
    double least_cv = d->kind == SS_DRAW_GAMMA ? GAMMA_LEAST : 0,
           most_cv = d->kind == SS_DRAW_GAMMA ? GAMMA_MOST : LOGNORMAL_MOST;
    if (random && !(d->cv > 0 && d->cv >= least_cv && d->cv <= most_cv))
        return ss_fail(err, SS_EINVAL,
                       "%s: a cv (standard deviation over mean) of %g; %s can have %s %g to %g%s",
                       what, d->cv, ss_draw_kind_name(d->kind),
                       least_cv > 0 ? "from" : "from above", least_cv, most_cv,
                       d->kind == SS_DRAW_GAMMA && d->cv > 0 ? ", and lognormal any up to 10" : "");
    return SS_OK;
}

static ss_status refuse_draw(const ss_draw *d, bool seconds, const char *what, ss_error *err)
{
    if (d->kind == SS_DRAW_NONE || (unsigned)d->kind >= SS_DRAW_KINDS)
        return ss_fail(err, SS_EINVAL, "%s: there is no distribution number %d", what,
                       (int)d->kind);
    ss_status s = refuse_number(d, seconds, what, err);
    if (s)
        return s;
    if (!(d->tail_share >= 0 && d->tail_share < 1))
        return ss_fail(err, SS_EINVAL, "%s: a tail has a share of %g; it must be from 0 to below 1",
                       what, d->tail_share);
    if (d->tail_share > 0 && !(d->tail_factor > 0 && d->tail_factor <= FACTOR_MOST))
        return ss_fail(err, SS_EINVAL,
                       "%s: a tail has a factor of %g; it must be above 0 and at most %g", what,
                       d->tail_factor, FACTOR_MOST);
    if (d->kind != SS_DRAW_SAMPLES)
        return SS_OK;
    if (!d->samples || d->samples > MOST_SAMPLES)
        return ss_fail(err, SS_EINVAL, "%s: %u samples; 1 to %d are possible", what, d->samples,
                       MOST_SAMPLES);
    double sum = 0;
    for (uint32_t i = 0; i < d->samples; i++) {
        if (!(d->sample[i] >= 0 && d->sample[i] <= SECONDS_MOST))
            return ss_fail(err, SS_EINVAL, "%s: sample %u is %g; it must be from 0 to %g", what,
                           i + 1, d->sample[i], SECONDS_MOST);
        sum += d->sample[i];
    }
    return sum > 0 ? SS_OK : ss_fail(err, SS_EINVAL, "%s: all samples are 0", what);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A copy whose samples are the chance's own. */
static ss_status keep_draw(ss_chance *c, const ss_draw *d, ss_draw *out, double **own,
                           ss_error *err)
{
    *out = *d;
    *own = NULL;
    if (d->kind != SS_DRAW_SAMPLES)
        return SS_OK;
    uint32_t n = d->samples;
    ss_status s = SS_RESERVE(c->own, c->own_cap, (size_t)c->owns + 1, "samples", err);
    if (!s && !(*own = ss_alloc(n * sizeof **own)))
        s = ss_fail_memory(err, "samples", n * sizeof **own);
    if (s)
        return s;
    c->own[c->owns++] = *own;
    memcpy(*own, d->sample, n * sizeof **own);
    out->sample = *own;
    return SS_OK;
}

/* As somebody gave it: samples are sorted, and scaled to the mean. */
static ss_status take_draw(ss_chance *c, const ss_draw *d, ss_draw *out, ss_error *err)
{
    double *own;
    uint32_t n = d->samples;
    ss_status s = keep_draw(c, d, out, &own, err);
    if (s)
        return s;
    if (d->kind == SS_DRAW_CONSTANT)
        out->cv = 0;
    if (!own)
        return SS_OK;
    qsort(own, n, sizeof *own, ascending);
    double mean = gsl_stats_mean(own, 1, n);
    if (isnan(d->mean))
        out->mean = mean;
    else
        for (uint32_t i = 0; i < n; i++)
            own[i] *= d->mean / mean;
    out->cv = sqrt(gsl_stats_variance_with_fixed_mean(own, 1, n, out->mean)) / out->mean;
    return SS_OK;
}

/* ---- making one --------------------------------------------------------------------------- */

ss_status ss_chance_new(uint64_t seed, ss_chance **out, ss_error *err)
{
    ss_chance *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c)
        return ss_fail_memory(err, "chance", sizeof *c);
    c->seed = seed;
    c->repetition = 1;
    *out = c;
    return SS_OK;
}

void ss_chance_free(ss_chance *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->kinds; i++)
        ss_free(c->kind[i].kind);
    for (uint32_t i = 0; i < c->devices; i++)
        ss_free(c->device[i].name);
    for (uint32_t i = 0; i < c->owns; i++)
        ss_free(c->own[i]);
    ss_free(c->kind);
    ss_free(c->device);
    ss_free(c->own);
    ss_free(c);
}

ss_status ss_chance_set(ss_chance *c, ss_luck_of x, const ss_draw *d, ss_error *err)
{
    ss_draw own;
    ss_status s = refuse_draw(d, x >= SS_LUCK_LAUNCH, ss_luck_name(x), err);
    if (!s)
        s = take_draw(c, d, &own, err);
    if (!s)
        c->draw[x] = own;
    return s;
}

static ss_status refuse_kind(const char *kind, ss_error *err)
{
    enum { MOST = 128 };
    const char *name[MOST];
    uint32_t kinds;
    const ss_op_kind *const *k = ss_op_kinds(&kinds);
    for (uint32_t i = 0; i < kinds && i < MOST; i++) {
        name[i] = k[i]->name;
        if (!strcmp(k[i]->name, kind))
            return SS_OK;
    }
    const char *near = ss_nearest(kind, name, kinds < MOST ? kinds : MOST);
    return ss_fail(err, SS_EINVAL, "kinds: there is no kind of operator \"%s\"%s%s%s", kind,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

ss_status ss_chance_set_kind(ss_chance *c, const char *kind, const ss_draw *d, ss_error *err)
{
    ss_draw own;
    ss_status s = refuse_kind(kind, err);
    if (!s)
        s = refuse_draw(d, false, kind, err);
    if (!s)
        s = take_draw(c, d, &own, err);
    for (uint32_t i = 0; i < c->kinds && !s; i++)
        if (!strcmp(c->kind[i].kind, kind)) {
            c->kind[i].draw = own;
            return SS_OK;
        }
    if (!s)
        s = SS_RESERVE(c->kind, c->kind_cap, (size_t)c->kinds + 1, "kinds of operators", err);
    char *copy = s ? NULL : ss_strdup(kind);
    if (!s && !copy)
        s = ss_fail_memory(err, "a kind of operator", strlen(kind));
    if (!s)
        c->kind[c->kinds++] = (ss_chance_kind){copy, own};
    return s;
}

/* The entry of a device, a new one if nothing was said of it. */
static ss_status entry_of(ss_chance *c, const char *name, ss_device device, ss_chance_device **out,
                          ss_error *err)
{
    for (uint32_t i = 0; i < c->devices; i++) {
        ss_chance_device *x = &c->device[i];
        if (device.i ? x->device.i == device.i : x->name && !strcmp(x->name, name)) {
            *out = x;
            return SS_OK;
        }
    }
    ss_status s = SS_RESERVE(c->device, c->device_cap, (size_t)c->devices + 1, "devices", err);
    char *copy = !s && !device.i ? ss_strdup(name) : NULL;
    if (!s && !device.i && !copy)
        s = ss_fail_memory(err, "the name of a device", strlen(name));
    if (s)
        return s;
    *out = &c->device[c->devices++];
    **out = (ss_chance_device){.name = copy, .device = device, .slow = 1};
    return SS_OK;
}

ss_status ss_chance_set_device(ss_chance *c, const char *name, ss_device device, const ss_draw *d,
                               ss_error *err)
{
    ss_draw own;
    ss_chance_device *x;
    ss_status s = refuse_draw(d, false, device.i ? "on a device" : name, err);
    if (!s)
        s = take_draw(c, d, &own, err);
    if (!s)
        s = entry_of(c, name, device, &x, err);
    if (!s)
        x->draw = own;
    return s;
}

ss_status ss_chance_set_slow(ss_chance *c, const char *name, ss_device device, double factor,
                             ss_error *err)
{
    ss_chance_device *x;
    if (!(factor > 0 && factor <= FACTOR_MOST))
        return ss_fail(err, SS_EINVAL, "slow: a factor of %g; it must be above 0 and at most %g",
                       factor, FACTOR_MOST);
    ss_status s = entry_of(c, name, device, &x, err);
    if (!s)
        x->slow = factor;
    return s;
}

static ss_status copy_kind(ss_chance *c, const ss_chance_kind *from, ss_error *err)
{
    double *unused;
    ss_chance_kind made = {ss_strdup(from->kind), from->draw};
    ss_status s = made.kind ? SS_RESERVE(c->kind, c->kind_cap, (size_t)c->kinds + 1,
                                         "kinds of operators", err)
                            : ss_fail_memory(err, "a kind of operator", strlen(from->kind));
    if (!s)
        s = keep_draw(c, &from->draw, &made.draw, &unused, err);
    if (s)
        ss_free(made.kind);
    else
        c->kind[c->kinds++] = made;
    return s;
}

static ss_status copy_device(ss_chance *c, const ss_chance_device *from, ss_error *err)
{
    double *unused;
    ss_chance_device *x;
    ss_draw own;
    ss_status s = keep_draw(c, &from->draw, &own, &unused, err);
    if (!s)
        s = entry_of(c, from->name, from->name ? (ss_device){0} : from->device, &x, err);
    if (s)
        return s;
    x->device = from->device;
    x->draw = own;
    x->slow = from->slow;
    return SS_OK;
}

static ss_status copy_parts(const ss_chance *from, ss_chance *c, ss_error *err)
{
    double *unused;
    ss_status s = SS_OK;
    for (uint32_t x = 0; x < SS_LUCKS && !s; x++)
        s = keep_draw(c, &from->draw[x], &c->draw[x], &unused, err);
    for (uint32_t i = 0; i < from->kinds && !s; i++)
        s = copy_kind(c, &from->kind[i], err);
    for (uint32_t i = 0; i < from->devices && !s; i++)
        s = copy_device(c, &from->device[i], err);
    return s;
}

ss_status ss_chance_copy(const ss_chance *from, ss_chance **out, ss_error *err)
{
    ss_chance *c = NULL;
    ss_status s = ss_chance_new(from->seed, &c, err);
    if (s)
        return s;
    c->repetition = from->repetition;
    s = copy_parts(from, c, err);
    if (s)
        ss_chance_free(c);
    else
        *out = c;
    return s;
}

/* ---- devices ------------------------------------------------------------------------------ */

static ss_status refuse_name(const ss_topology *t, const char *name, ss_error *err)
{
    const char **names = ss_alloc(((size_t)t->devices + 1) * sizeof *names);
    if (!names)
        return ss_fail_memory(err, "names of devices", t->devices * sizeof *names);
    for (uint32_t d = 1; d <= t->devices; d++)
        names[d - 1] = ss_topology_device_name(t, (ss_device){d});
    const char *near = ss_nearest(name, names, t->devices);
    ss_fail(err, SS_EINVAL, "chance: topology %s has no device \"%s\"%s%s%s", t->name, name,
            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    ss_free(names);
    return SS_EINVAL;
}

static ss_status bind_device(ss_chance_device *x, const ss_topology *t, ss_error *err)
{
    for (uint32_t d = 1; d <= t->devices && x->name; d++)
        if (!strcmp(ss_topology_device_name(t, (ss_device){d}), x->name)) {
            x->device.i = d;
            return SS_OK;
        }
    if (x->name)
        return refuse_name(t, x->name, err);
    if (x->device.i > t->devices)
        return ss_fail(err, SS_EINVAL, "chance: topology %s has no device %u; there %s 1 to %u",
                       t->name, x->device.i, t->devices == 1 ? "is" : "are", t->devices);
    x->name = ss_strdup(ss_topology_device_name(t, x->device));
    return x->name ? SS_OK : ss_fail_memory(err, "the name of a device", 0);
}

ss_status ss_chance_bind(ss_chance *c, const ss_topology *t, ss_error *err)
{
    for (uint32_t i = 0; i < c->devices; i++) {
        ss_status s = bind_device(&c->device[i], t, err);
        for (uint32_t k = 0; k < i && !s; k++)
            if (c->device[k].device.i == c->device[i].device.i)
                s = ss_fail(err, SS_EINVAL,
                            "chance: device %u is named twice, by its number and as \"%s\"",
                            c->device[i].device.i, c->device[i].name);
        if (s)
            return s;
    }
    return SS_OK;
}

/* ---- asking ------------------------------------------------------------------------------- */

static bool draws(const ss_draw *d)
{
    return d->kind > SS_DRAW_CONSTANT || d->tail_share > 0;
}

bool ss_chance_is_random(const ss_chance *c)
{
    for (uint32_t x = 0; x < SS_LUCKS; x++)
        if (draws(&c->draw[x]))
            return true;
    for (uint32_t i = 0; i < c->kinds; i++)
        if (draws(&c->kind[i].draw))
            return true;
    for (uint32_t i = 0; i < c->devices; i++)
        if (draws(&c->device[i].draw))
            return true;
    return false;
}

bool ss_chance_breaks_times(const ss_chance *c)
{
    for (uint32_t x = 0; x < SS_LUCK_LAUNCH; x++)
        if (c->draw[x].kind != SS_DRAW_NONE)
            return true;
    return c->kinds || c->devices;
}

bool ss_chance_breaks_overheads(const ss_chance *c)
{
    for (uint32_t x = SS_LUCK_LAUNCH; x < SS_LUCKS; x++)
        if (c->draw[x].kind != SS_DRAW_NONE)
            return true;
    return false;
}

bool ss_chance_is_even(const ss_chance *c)
{
    return !c->devices && !ss_chance_is_random(c);
}

uint64_t ss_chance_bits(const ss_chance *c, uint32_t repetition, ss_luck_of x)
{
    uint64_t h = ss_hash_u64(ss_hash_text(SS_HASH_START, "chance"), c->seed);
    return ss_hash_u64(ss_hash_u64(h, repetition ? repetition : c->repetition), x);
}

ss_status ss_chance_step(const ss_chance *c, uint32_t repetition, ss_time *out, ss_error *err)
{
    *out = 0;
    if (!c || c->draw[SS_LUCK_STEP].kind == SS_DRAW_NONE)
        return SS_OK;
    uint64_t bits = ss_hash_u64(ss_chance_bits(c, repetition, SS_LUCK_STEP), 0);
    return ss_time_from_seconds(ss_draw_of(&c->draw[SS_LUCK_STEP], bits), "overhead of the step",
                                out, err);
}

/* ---- saying it ---------------------------------------------------------------------------- */

void ss_draw_say(const ss_draw *d, bool seconds, ss_text *out)
{
    char b[SS_QUANTITY_TEXT];
    const char *mean = ss_format_quantity(d->mean, SS_UNIT_SECONDS, b, sizeof b);
    if (d->kind == SS_DRAW_CONSTANT) {
        if (seconds)
            ss_text_add(out, "%s", mean);
        else
            ss_text_add(out, "%g times", d->mean);
    } else {
        if (d->kind == SS_DRAW_SAMPLES)
            ss_text_add(out, "%u sample%s", d->samples, ss_plural(d->samples));
        else
            ss_text_add(out, "%s", ss_draw_kind_name(d->kind));
        if (seconds)
            ss_text_add(out, " mean %s", mean);
        else if (fabs(d->mean - 1) > 1e-12)
            ss_text_add(out, " mean %g", d->mean);
        ss_text_add(out, " cv %.4g", d->cv);
    }
    if (d->tail_share > 0)
        ss_text_add(out, " (%g%% of them %g times that)", 100 * d->tail_share, d->tail_factor);
}

static void say_one(const ss_chance *c, ss_luck_of x, const char *word, const char **comma,
                    ss_text *out)
{
    if (c->draw[x].kind == SS_DRAW_NONE)
        return;
    ss_text_add(out, "%s%s ", *comma, word);
    ss_draw_say(&c->draw[x], x >= SS_LUCK_LAUNCH, out);
    *comma = ", ";
}

static void say_name(const ss_chance_device *d, ss_text *out)
{
    if (d->name)
        ss_text_add(out, "%s", d->name);
    else
        ss_text_add(out, "device %u", d->device.i);
}

void ss_chance_say_times(const ss_chance *c, ss_text *out)
{
    const char *comma = "";
    say_one(c, SS_LUCK_COMPUTE, "compute", &comma, out);
    for (uint32_t i = 0; i < c->kinds; i++) {
        ss_text_add(out, "%s%s ", comma, c->kind[i].kind);
        ss_draw_say(&c->kind[i].draw, false, out);
        comma = ", ";
    }
    for (uint32_t i = 0; i < c->devices; i++)
        if (c->device[i].draw.kind != SS_DRAW_NONE) {
            ss_text_add(out, "%son ", comma);
            say_name(&c->device[i], out);
            ss_text_add(out, " ");
            ss_draw_say(&c->device[i].draw, false, out);
            comma = ", ";
        }
    say_one(c, SS_LUCK_DEVICE, "each device", &comma, out);
    for (uint32_t i = 0; i < c->devices; i++)
        if (c->device[i].slow != 1) {
            ss_text_add(out, "%s", comma);
            say_name(&c->device[i], out);
            ss_text_add(out, " %g times", c->device[i].slow);
            comma = ", ";
        }
    say_one(c, SS_LUCK_TRANSFER, "transfers", &comma, out);
}

void ss_chance_say_overheads(const ss_chance *c, ss_text *out)
{
    const char *comma = "";
    say_one(c, SS_LUCK_LAUNCH, "each launch", &comma, out);
    say_one(c, SS_LUCK_MESSAGE, "each message", &comma, out);
    say_one(c, SS_LUCK_STEP, "the step", &comma, out);
}

const ss_draw *ss_chance_draw(const ss_chance *c, uint32_t i, ss_text *of)
{
    ss_text_clear(of);
    for (uint32_t x = 0; x < SS_LUCKS; x++)
        if (c->draw[x].kind != SS_DRAW_NONE && !i--) {
            ss_text_add(of, "%s", ss_luck_name(x));
            return &c->draw[x];
        }
    if (i < c->kinds) {
        ss_text_add(of, "kind %s", c->kind[i].kind);
        return &c->kind[i].draw;
    }
    i -= c->kinds;
    for (uint32_t d = 0; d < c->devices; d++)
        if (c->device[d].draw.kind != SS_DRAW_NONE && !i--) {
            ss_text_add(of, "on ");
            say_name(&c->device[d], of);
            return &c->device[d].draw;
        }
    return NULL;
}

static void write_draw(const ss_draw *d, ss_text *out)
{
    char b[SS_DOUBLE_TEXT];
    ss_text_add(out, "%s %s", ss_draw_kind_name(d->kind), ss_format_double(d->mean, b, sizeof b));
    if (d->kind == SS_DRAW_SAMPLES) {
        uint64_t h = SS_HASH_START;
        for (uint32_t i = 0; i < d->samples; i++)
            h = ss_hash_double(h, d->sample[i]);
        ss_text_add(out, " of %u with hash %016llx", d->samples, (unsigned long long)h);
    } else if (d->kind != SS_DRAW_CONSTANT) {
        ss_text_add(out, " cv %s", ss_format_double(d->cv, b, sizeof b));
    }
    if (d->tail_share > 0) {
        ss_text_add(out, " tail %s", ss_format_double(d->tail_share, b, sizeof b));
        ss_text_add(out, " times %s", ss_format_double(d->tail_factor, b, sizeof b));
    }
}

void ss_chance_write(const ss_chance *c, ss_text *out)
{
    char b[SS_DOUBLE_TEXT];
    ss_text_add(out, "seed %llu, repetition %u", (unsigned long long)c->seed, c->repetition);
    for (uint32_t x = 0; x < SS_LUCKS; x++)
        if (c->draw[x].kind != SS_DRAW_NONE) {
            ss_text_add(out, "; %s ", ss_luck_name(x));
            write_draw(&c->draw[x], out);
        }
    for (uint32_t i = 0; i < c->kinds; i++) {
        ss_text_add(out, "; kind %s ", c->kind[i].kind);
        write_draw(&c->kind[i].draw, out);
    }
    for (uint32_t i = 0; i < c->devices; i++) {
        const ss_chance_device *d = &c->device[i];
        if (d->draw.kind != SS_DRAW_NONE) {
            ss_text_add(out, "; on ");
            say_name(d, out);
            ss_text_add(out, " ");
            write_draw(&d->draw, out);
        }
        if (d->slow != 1) {
            ss_text_add(out, "; slow ");
            say_name(d, out);
            ss_text_add(out, " %s", ss_format_double(d->slow, b, sizeof b));
        }
    }
}
