/* units.c - see units.h.  Parsing walks three small tables: prefixes, units, and what each quantity
 * accepts; so "Gb/s" against "GB/s" is a matter of rows, not of code. */
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ss_status ss_time_from_seconds(double seconds, const char *what, ss_time *out, ss_error *err)
{
    if (isnan(seconds))
        return ss_fail(err, SS_EINVAL, "%s is not a number of seconds", what);
    if (seconds < 0)
        return ss_fail(err, SS_EINVAL, "%s is %g s; a time cannot be negative", what, seconds);
    double ps = nearbyint(seconds * (double)SS_PICOSECONDS);
    if (!(ps < 9.2233720368547e18))
        return ss_fail(err, SS_ERANGE, "%s is %g s; the longest time is 106 days (9.22e6 s)", what,
                       seconds);
    *out = (ss_time)ps;
    return SS_OK;
}

double ss_time_seconds(ss_time t)
{
    return (double)t / (double)SS_PICOSECONDS;
}

static ss_status too_long(ss_error *err)
{
    return ss_fail(err, SS_ERANGE, "times add up to more than 106 days (9.22e6 s)");
}

ss_status ss_time_add(ss_time a, ss_time b, ss_time *out, ss_error *err)
{
    return __builtin_add_overflow(a, b, out) ? too_long(err) : SS_OK;
}

typedef struct suffix {
    const char *text;
    double factor;
} suffix;

static const suffix prefixes[] = {{"", 1},        {"k", 1e3},     {"M", 1e6},     {"G", 1e9},
                                  {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10},
                                  {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50},
                                  {"Ei", 0x1p60}};
static const suffix seconds[] = {{"s", 1},
                                 {"ms", 1e-3},
                                 {"us", 1e-6},
                                 {"\xc2\xb5s", 1e-6}, /* micro sign */
                                 {"\xce\xbcs", 1e-6}, /* Greek mu */
                                 {"ns", 1e-9},
                                 {"ps", 1e-12},
                                 {"min", 60},
                                 {"h", 3600},
                                 {"d", 86400}};
static const suffix byte_units[] = {{"B", 1}, {"b", 0.125}};
static const suffix rate_units[] = {
    {"B/s", 1}, {"b/s", 0.125}, {"Bps", 1}, {"bps", 0.125}, {"bit/s", 0.125}};
static const suffix flop_units[] = {{"FLOP", 1}};
static const suffix flops_units[] = {{"FLOP/s", 1}, {"FLOPS", 1}, {"FLOPs", 1}};
static const suffix no_unit[] = {{"", 1}};

#define ROWS(table) table, sizeof table / sizeof table[0]

static const struct {
    const char *name, *symbol, *example;
    const suffix *unit;
    size_t units;
    bool prefixed;
} kinds[] = {
    [SS_UNIT_NONE] = {"a number", "1", "\"4k\"", ROWS(no_unit), true},
    [SS_UNIT_SECONDS] = {"seconds", "s", "\"700 ns\"", ROWS(seconds), false},
    [SS_UNIT_BYTES] = {"bytes", "B", "\"16 GiB\"", ROWS(byte_units), true},
    [SS_UNIT_BYTES_PER_SECOND] = {"bytes per second", "B/s", "\"25 GB/s\" or \"100 Gb/s\"",
                                  ROWS(rate_units), true},
    [SS_UNIT_FLOP] = {"FLOP", "FLOP", "\"3 GFLOP\"", ROWS(flop_units), true},
    [SS_UNIT_FLOP_PER_SECOND] = {"FLOP per second", "FLOP/s", "\"10.6 TFLOP/s\"", ROWS(flops_units),
                                 true},
};

const char *ss_unit_name(ss_unit unit)
{
    return kinds[unit].name;
}

const char *ss_unit_example(ss_unit unit)
{
    return kinds[unit].example;
}

const char *ss_unit_symbol(ss_unit unit)
{
    return kinds[unit].symbol;
}

typedef int compare(const char *, const char *);

/* The factor of a unit with its prefix; 0 if there is no such unit. */
static double factor_of(ss_unit unit, const char *text, compare *same)
{
    size_t n_prefixes = kinds[unit].prefixed ? sizeof prefixes / sizeof prefixes[0] : 1;
    for (size_t p = 0; p < n_prefixes; p++)
        for (size_t u = 0; u < kinds[unit].units; u++) {
            char spelled[32];
            snprintf(spelled, sizeof spelled, "%s%s", prefixes[p].text, kinds[unit].unit[u].text);
            if (same(spelled, text) == 0)
                return prefixes[p].factor * kinds[unit].unit[u].factor;
        }
    return 0;
}

static int same_but_for_case(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b))
        a++, b++;
    return *a || *b;
}

/* Bits are understood where bytes are wanted, yet are not called so. */
static const char *name_of(ss_unit unit, const char *text)
{
    if (!strchr(text, 'b'))
        return kinds[unit].name;
    return unit == SS_UNIT_BYTES ? "bits" : "bits per second";
}

static ss_status unknown_unit(const char *text, const char *unit_text, ss_unit unit, ss_error *err)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (k != unit && k != SS_UNIT_NONE && factor_of((ss_unit)k, unit_text, strcmp) > 0)
            return ss_fail(err, SS_EINVAL, "\"%.60s\" is in %s; expected %s, for example %s", text,
                           name_of((ss_unit)k, unit_text), kinds[unit].name, kinds[unit].example);
    const char *hint = "";
    if (factor_of(unit, unit_text, same_but_for_case) > 0)
        hint = unit_text[0] == 'K'
                   ? " (a thousand is k, 1024 is Ki)"
                   : " (upper and lower case matter: B is bytes, b is bits; M is mega, m milli)";
    return ss_fail(err, SS_EINVAL,
                   "\"%.60s\": unknown unit \"%.30s\"%s; expected %s, for example %s", text,
                   unit_text, hint, kinds[unit].name, kinds[unit].example);
}

static ss_status not_a_number(const char *text, ss_unit unit, ss_error *err)
{
    return ss_fail(err, SS_EINVAL,
                   "\"%.60s\" does not begin with a number; expected %s, for example %s", text,
                   kinds[unit].name, kinds[unit].example);
}

/* Decimal numbers only: strtod would also take hexadecimal, "inf" and "nan". */
static const char *end_of_number(const char *s)
{
    const char *p = s + (*s == '-' || *s == '+');
    size_t whole = strspn(p, "0123456789"), part = 0;
    p += whole;
    if (*p == '.') {
        part = strspn(p + 1, "0123456789");
        p += 1 + part;
    }
    if (whole + part == 0)
        return s;
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1 + (p[1] == '-' || p[1] == '+');
        size_t digits = strspn(e, "0123456789");
        if (digits)
            p = e + digits;
    }
    return p;
}

ss_status ss_parse_quantity(const char *text, ss_unit unit, double *out, ss_error *err)
{
    const char *s = text + strspn(text, " \t");
    const char *end = end_of_number(s);
    char number[64];
    if (end == s || (size_t)(end - s) >= sizeof number)
        return not_a_number(text, unit, err);
    memcpy(number, s, (size_t)(end - s));
    number[end - s] = 0;
    double value = strtod(number, NULL);
    if (!isfinite(value))
        return ss_fail(err, SS_ERANGE, "\"%.60s\" is too large a number", text);

    const char *unit_text = end + strspn(end, " \t");
    size_t n = strlen(unit_text);
    while (n && (unit_text[n - 1] == ' ' || unit_text[n - 1] == '\t'))
        n--;
    char trimmed[32];
    if (n >= sizeof trimmed)
        return unknown_unit(text, unit_text, unit, err);
    memcpy(trimmed, unit_text, n);
    trimmed[n] = 0;
    double factor = n ? factor_of(unit, trimmed, strcmp) : 1;
    if (factor <= 0)
        return unknown_unit(text, trimmed, unit, err);
    *out = value * factor;
    if (!isfinite(*out))
        return ss_fail(err, SS_ERANGE, "\"%.60s\" is too large a number", text);
    return SS_OK;
}

/* Four significant digits: 1.850, 24.17, 132.0. */
static void print_scaled(char *buffer, size_t n, double x, const char *prefix, const char *symbol)
{
    double size = fabs(x);
    int decimals = size >= 999.5 ? 0 : size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3;
    snprintf(buffer, n, "%.*f%s%s%s", decimals, x, *prefix || *symbol ? " " : "", prefix, symbol);
}

/* What no prefix brings within four digits: 1e+300 s, 2.5e-09 B. */
static void print_unscaled(char *buffer, size_t n, double x, const char *symbol)
{
    snprintf(buffer, n, "%.4g%s%s", x, *symbol ? " " : "", symbol);
}

static const double SMALLEST = 0.1, LONGEST_S = 1e7; /* some 116 days; an ss_time ends there */

char *ss_format_quantity(double value, ss_unit unit, char *buffer, size_t n)
{
    static const char *const small[] = {"", "m", "u", "n", "p"};
    static const char *const decimal[] = {"", "k", "M", "G", "T", "P", "E"};
    static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const char *symbol = unit == SS_UNIT_NONE ? "" : kinds[unit].symbol;
    double size = fabs(value);
    if (!isfinite(value) || size == 0) {
        snprintf(buffer, n, "%g%s%s", value, *symbol ? " " : "", symbol);
        return buffer;
    }
    if (unit == SS_UNIT_SECONDS) {
        uint32_t p = 0;
        while (p < 4 && size < 0.9995)
            size *= 1000, p++;
        if (size < SMALLEST || size >= LONGEST_S)
            print_unscaled(buffer, n, value, symbol);
        else
            print_scaled(buffer, n, copysign(size, value), small[p], symbol);
        return buffer;
    }
    double step = unit == SS_UNIT_BYTES ? 1024 : 1000;
    uint32_t p = 0;
    while (p < 6 && size >= step * 0.9995)
        size /= step, p++;
    if (size < SMALLEST || size >= step * 0.9995)
        print_unscaled(buffer, n, value, symbol);
    else if (p == 0 && size == floor(size))
        snprintf(buffer, n, "%.0f%s%s", value, *symbol ? " " : "", symbol);
    else
        print_scaled(buffer, n, copysign(size, value),
                     unit == SS_UNIT_BYTES ? binary[p] : decimal[p], symbol);
    return buffer;
}

char *ss_format_time(ss_time t, char *buffer, size_t n)
{
    return ss_format_quantity(ss_time_seconds(t), SS_UNIT_SECONDS, buffer, n);
}

char *ss_format_double(double x, char *buffer, size_t n)
{
    /* 15 digits survive the way to a double and back, 17 bring any double back */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, n, "%.*g", digits, x);
        if (strtod(buffer, NULL) == x)
            break;
    }
    return buffer;
}
