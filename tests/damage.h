/* damage.h - a text with numbers in it, damaged somewhere: for tests of readers.  A seed gives the same damage again. */
#ifndef SS_DAMAGE_H
#define SS_DAMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

typedef struct damage {
    uint64_t seed, drawn; /* how often */
    size_t room;          /* that the text has */
    const char *const *piece; /* words of the format, and numbers that readers stumble over */
    size_t pieces;
    size_t seldom; /* one in so many of these is cut short, or leaves its place */
} damage;

static size_t damage_draw(damage *d, size_t below)
{
    return (size_t)(ss_hash_u64(ss_hash_u64(SS_HASH_START, d->seed), d->drawn++) % below);
}

static size_t damage_replace(const damage *d, char *text, size_t n, size_t at, size_t cut, const char *by,
                             size_t by_n)
{
    if (cut > n - at)
        cut = n - at;
    if (n - cut + by_n > d->room)
        return n;
    memmove(text + at + by_n, text + at + cut, n - at - cut);
    memmove(text + at, by, by_n);
    return n - cut + by_n;
}

/* How long it is then. */
static size_t damage_text(damage *d, char *text, size_t n)
{
    size_t at = damage_draw(d, n + 1);
    char copy[256];
    switch (damage_draw(d, 8)) {
    case 0:
        copy[0] = (char)damage_draw(d, 256);
        return damage_replace(d, text, n, at, 1, copy, 1);
    case 1:
        return damage_replace(d, text, n, at, 1 + damage_draw(d, 12), "", 0);
    case 2: {
        size_t from = damage_draw(d, n + 1), k = damage_draw(d, sizeof copy);
        if (k > n - from)
            k = n - from;
        memcpy(copy, text + from, k);
        return damage_replace(d, text, n, at, damage_draw(d, 2) ? k : 0, copy, k);
    }
    case 3:
        return damage_draw(d, d->seldom) ? n : at; /* cut short */
    default: {
        const char *p = d->piece[damage_draw(d, d->pieces)];
        /* most damage goes where a number stands: elsewhere nearly everything is a syntax error */
        while (at < n && damage_draw(d, d->seldom) && (text[at] < '0' || text[at] > '9'))
            at++;
        return damage_replace(d, text, n, at, damage_draw(d, 3), p, strlen(p));
    }
    }
}

#endif
