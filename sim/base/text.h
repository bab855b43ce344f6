/* text.h - building strings, and finding the name that somebody meant.
 *
 * A failed append leaves the text as it was and sets `failed`, so a long run of appends is checked
 * once, at the end, with ss_text_status.
 */
#ifndef SS_TEXT_H
#define SS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_text {
    char *at; /* always ends in a zero byte once anything was appended; NULL before */
    uint32_t n, cap;
    bool failed;
} ss_text; /* {0} is the empty text */

void ss_text_add(ss_text *t, const char *format, ...) SS_PRINTF(2, 3);
void ss_text_add_bytes(ss_text *t, const char *bytes, size_t n);
void ss_text_add_json_string(ss_text *t, const char *s); /* quoted, escaped, bad UTF-8 replaced */
const char *ss_text_get(const ss_text *t);               /* "" when empty */
void ss_text_clear(ss_text *t);                          /* empty, memory kept */
ss_status ss_text_status(const ss_text *t, ss_error *err);
void ss_text_free(ss_text *t);

/* The ending of a counted noun: "%u device%s", n, ss_plural(n). */
const char *ss_plural(uint64_t n);

/* The candidate that was meant: the nearest to `word` by edit distance with transpositions, unless
 * none is near (more than a third of its letters differ; 2 of a short word).  Where that is more
 * than one slip away, a word put together with _ says more: kernel_size means kernel, write_json
 * json, and step means step_time if no other candidate begins or ends so.  NULL: none. */
const char *ss_nearest(const char *word, const char *const *candidates, uint32_t n);

#endif
