/* names.h - text <-> id: ids count from 1 in the order of adding, 0 is "no such name". */
#ifndef SS_NAMES_H
#define SS_NAMES_H

#include <stdint.h>

#include "base/status.h"

typedef struct ss_names {
    char **text;    /* [n + 1]; rows from 1 */
    uint32_t *slot; /* open addressing, 0 is free */
    uint32_t n, cap, slots;
} ss_names; /* {0} is empty */

/* Gives the id of `text`, adding it if it is new. The text is copied. */
ss_status ss_names_add(ss_names *t, const char *text, uint32_t *id, ss_error *err);
uint32_t ss_names_find(const ss_names *t, const char *text); /* 0: not there */
const char *ss_names_text(const ss_names *t, uint32_t id);
void ss_names_drop_last(ss_names *t); /* undoes an add of something new; ids before it stay */
const char *ss_names_nearest(const ss_names *t, const char *word); /* for messages; or NULL */
void ss_names_free(ss_names *t);

#endif
