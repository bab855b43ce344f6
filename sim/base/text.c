#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

static bool room_for(ss_text *t, size_t more)
{
    if (!t->failed && t->n + more < t->cap)
        return true;
    if (!t->failed && ss_reserve(&t->at, &t->cap, (size_t)t->n + more + 1, 1, "text", NULL))
        t->failed = true;
    return !t->failed;
}

void ss_text_add_bytes(ss_text *t, const char *bytes, size_t n)
{
    if (!room_for(t, n))
        return;
    memcpy(t->at + t->n, bytes, n);
    t->n += (uint32_t)n;
    t->at[t->n] = 0;
}

void ss_text_add(ss_text *t, const char *format, ...)
{
    va_list args;
    size_t room = t->failed ? 0 : t->cap - t->n;
    va_start(args, format);
    int n = vsnprintf(room ? t->at + t->n : NULL, room, format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    if ((size_t)n >= room) { /* it did not fit, and may have written over the zero at the end */
        if (room)
            t->at[t->n] = 0;
        if (!room_for(t, (size_t)n))
            return;
        va_start(args, format);
        vsnprintf(t->at + t->n, (size_t)n + 1, format, args);
        va_end(args);
    }
    t->n += (uint32_t)n;
}

/* Length of the well-formed UTF-8 character at s, or 0. */
static uint32_t utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char mask, lead, lo, hi; /* lo, hi: bounds of the second byte */
        uint32_t n;
    } form[] = {{0x80, 0x00, 0, 0, 1},       {0xff, 0xe0, 0xa0, 0xbf, 3},
                {0xff, 0xed, 0x80, 0x9f, 3}, {0xf0, 0xe0, 0x80, 0xbf, 3},
                {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4},
                {0xf8, 0xf0, 0x80, 0xbf, 4}, {0xe0, 0xc0, 0x80, 0xbf, 2}};
    if (s[0] == 0xc0 || s[0] == 0xc1 || s[0] > 0xf4)
        return 0;
    for (uint32_t f = 0; f < sizeof form / sizeof form[0]; f++) {
        if ((s[0] & form[f].mask) != form[f].lead)
            continue;
        if (form[f].n > 1 && (s[1] < form[f].lo || s[1] > form[f].hi))
            return 0;
        for (uint32_t i = 2; i < form[f].n; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        return form[f].n;
    }
    return 0;
}

/* How many bytes from s on stand for themselves in JSON and are ASCII. */
static size_t plain_bytes(const char *s)
{
    size_t n = 0;
    while ((unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
        n++;
    return n;
}

void ss_text_add_json_string(ss_text *t, const char *s)
{
    ss_text_add_bytes(t, "\"", 1);
    while (*s) {
        size_t plain = plain_bytes(s);
        ss_text_add_bytes(t, s, plain);
        s += plain;
        if (!*s)
            break;
        unsigned char c = (unsigned char)*s;
        uint32_t n = utf8_length((const unsigned char *)s);
        if (c == '"' || c == '\\')
            ss_text_add(t, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            ss_text_add(t, "\\u%04x", c);
        else if (n)
            ss_text_add_bytes(t, s, n);
        else
            ss_text_add(t, "\\ufffd");
        s += n ? n : 1;
    }
    ss_text_add_bytes(t, "\"", 1);
}

const char *ss_text_get(const ss_text *t)
{
    return t->at ? t->at : "";
}

void ss_text_clear(ss_text *t)
{
    t->n = 0;
    t->failed = false;
    if (t->at)
        t->at[0] = 0;
}

ss_status ss_text_status(const ss_text *t, ss_error *err)
{
    return t->failed ? ss_fail_memory(err, "text", (size_t)t->n) : SS_OK;
}

void ss_text_free(ss_text *t)
{
    ss_free(t->at);
    *t = (ss_text){0};
}

enum { LONGEST_WORD = 63 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t edits(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    uint32_t row[3][LONGEST_WORD + 1];
    for (uint32_t j = 0; j <= nb; j++)
        row[0][j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        uint32_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            now[j] = least(last[j - 1] + (ca != cb), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

enum { SHORTEST_PART = 3 }; /* shorter ones (h, w, id) are in too many names */

/* Whether `part` is between the underscores of `word`, but not all of it. */
static bool is_part(const char *part, const char *word)
{
    size_t n = strlen(part);
    if (n < SHORTEST_PART || strlen(word) <= n)
        return false;
    for (const char *at = word; at; at = strchr(at, '_')) {
        at += *at == '_';
        if (!strncmp(at, part, n) && (at[n] == '_' || !at[n]))
            return true;
    }
    return false;
}

/* The candidate that is a part of the word; else the only one that the word is a part of. */
static const char *sharing_a_part(const char *word, const char *const *candidates, uint32_t n)
{
    const char *holder = NULL;
    uint32_t holders = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (is_part(candidates[i], word))
            return candidates[i];
        if (is_part(word, candidates[i])) {
            holder = candidates[i];
            holders++;
        }
    }
    return holders == 1 ? holder : NULL;
}

const char *ss_nearest(const char *word, const char *const *candidates, uint32_t n)
{
    size_t nw = strlen(word);
    if (nw > LONGEST_WORD)
        return NULL;
    uint32_t bound = nw < 3 ? 1 : nw < 6 ? 2 : (uint32_t)nw / 3;
    uint32_t best_edits = bound + 1;
    const char *best = NULL;
    for (uint32_t i = 0; i < n; i++) {
        size_t nc = strlen(candidates[i]);
        if (nc > LONGEST_WORD)
            continue;
        uint32_t e = edits(word, (uint32_t)nw, candidates[i], (uint32_t)nc);
        if (e < best_edits) {
            best_edits = e;
            best = candidates[i];
        }
    }
    const char *part = best_edits > 1 ? sharing_a_part(word, candidates, n) : NULL;
    return part ? part : best;
}

const char *ss_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}
