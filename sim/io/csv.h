/* csv.h - tables of text: lines of fields between commas.
 *
 * A field may be quoted ("..." with "" for a quote) and must be where it holds a comma; it does not go
 * on in the next line.  Blanks around fields, blank lines and lines that begin with # are skipped.
 * What a reader refuses begins with FILE:LINE:COLUMN, the column counted in characters from 1.
 */
#ifndef SS_CSV_H
#define SS_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

enum { SS_CSV_FIELDS = 64, SS_CSV_NAME = 200, SS_CSV_UNIT = 24 };

typedef struct ss_csv {
    const char *path; /* as given, not copied */
    ss_text bytes;    /* of the file; fields are cut out of it in place */
    char *at;         /* what is still to be read */
    uint32_t number;  /* of the line that begins at `at`, from 1 */
    uint32_t of;      /* number of the line whose fields are here */
    uint32_t fields;
    char *field[SS_CSV_FIELDS];
    uint32_t column[SS_CSV_FIELDS]; /* where each begins */
} ss_csv;                           /* {0} is closed */

/* Reads the whole file; one with a zero byte is no text and refused. */
ss_status ss_csv_open(const char *path, ss_csv *c, ss_error *err);
/* The fields of the next line that has some; *found is false at the end of the file. */
ss_status ss_csv_next(ss_csv *c, bool *found, ss_error *err);
/* Puts the place before the sentence that is there. */
ss_status ss_csv_fail(const ss_csv *c, uint32_t column, ss_error *err);
void ss_csv_close(ss_csv *c);

/* The name of a column and the unit behind it: "time [ms]" is "time" and "ms".  The unit is left as it was where there is none.
 * Refuses one that is too long. */
ss_status ss_csv_heading(const char *text, char name[SS_CSV_NAME], char unit[SS_CSV_UNIT], ss_error *err);
/* The same of a field, with the place in front of what is refused. */
ss_status ss_csv_column(const ss_csv *c, uint32_t field, char name[SS_CSV_NAME], char unit[SS_CSV_UNIT],
                        ss_error *err);

#endif
