/* csv.c - lines cut into fields, in place. */
#include "io/csv.h"

#include <stdio.h>
#include <string.h>

#include "io/file.h"

enum { MOST_BYTES = 1 << 30 };

ss_status ss_csv_fail(const ss_csv *c, uint32_t column, ss_error *err)
{
    return ss_fail_in(err, "%s:%u:%u", c->path, c->of, column);
}

/* Characters, not bytes, from `start` to `end`; the first is 1. */
static uint32_t column_of(const char *start, const char *end)
{
    uint32_t n = 1;
    for (; start < end; start++)
        n += ((unsigned char)*start & 0xc0) != 0x80;
    return n;
}

/* "a ""quoted"" field": shortened in place; *end is behind the closing quote.  NULL: there is none.
 */
static char *unquote(char *field, char **end)
{
    char *to = field;
    for (char *from = field + 1; *from && *from != '\n'; from++) {
        if (*from == '"' && *++from != '"') {
            *to = 0; /* at or before the closing quote */
            *end = from;
            return field;
        }
        *to++ = *from;
    }
    return NULL;
}

static void trim(char *field)
{
    size_t n = strlen(field);
    while (n && (field[n - 1] == ' ' || field[n - 1] == '\t' || field[n - 1] == '\r'))
        field[--n] = 0;
}

/* One field from c->at on; *more: a comma followed. */
static ss_status read_field(ss_csv *c, const char *start, bool *more, ss_error *err)
{
    c->at += strspn(c->at, " \t");
    uint32_t column = column_of(start, c->at);
    if (c->fields == SS_CSV_FIELDS) {
        ss_fail(err, SS_EFORMAT, "more than %d fields", SS_CSV_FIELDS);
        return ss_csv_fail(c, column, err);
    }
    c->column[c->fields] = column;
    char *field = c->at, *end = c->at;
    if (*field == '"') {
        field = unquote(field, &end);
        if (!field) {
            ss_fail(err, SS_EFORMAT, "the quote that begins here does not end on this line");
            return ss_csv_fail(c, column, err);
        }
        end += strspn(end, " \t\r");
        if (*end && *end != ',' && *end != '\n') {
            ss_fail(err, SS_EFORMAT, "a comma is wanted behind the quoted field");
            return ss_csv_fail(c, column, err);
        }
    } else {
        end += strcspn(end, ",\n");
    }
    char stop = *end;
    *end = 0;
    trim(field);
    *more = stop == ',';
    c->field[c->fields++] = field;
    c->at = end + (stop != 0);
    return SS_OK;
}

ss_status ss_csv_next(ss_csv *c, bool *found, ss_error *err)
{
    for (*found = false; *c->at && !*found;) {
        char *start = c->at;
        c->of = c->number++;
        c->fields = 0;
        if (start[strspn(start, " \t\r")] == '#' || start[strspn(start, " \t\r")] == '\n' ||
            !start[strspn(start, " \t\r")]) {
            c->at += strcspn(start, "\n");
            c->at += *c->at == '\n';
            continue;
        }
        bool more = true;
        while (more) {
            ss_status s = read_field(c, start, &more, err);
            if (s)
                return s;
        }
        *found = true;
    }
    return SS_OK;
}

ss_status ss_csv_open(const char *path, ss_csv *c, ss_error *err)
{
    *c = (ss_csv){.path = path, .number = 1};
    ss_status s = ss_file_read(path, MOST_BYTES, &c->bytes, err);
    if (!s && memchr(ss_text_get(&c->bytes), 0, c->bytes.n))
        s = ss_fail(err, SS_EFORMAT, "%s: not a text file: it has a zero byte", path);
    if (!s)
        ss_text_add_bytes(&c->bytes, "", 0); /* an empty file has its ending zero too */
    if (!s)
        s = ss_text_status(&c->bytes, err);
    if (s) {
        ss_csv_close(c);
        return s;
    }
    c->at = c->bytes.at;
    if (!strncmp(c->at, "\xef\xbb\xbf", 3)) /* the mark that some programs put in front */
        c->at += 3;
    return SS_OK;
}

void ss_csv_close(ss_csv *c)
{
    ss_text_free(&c->bytes);
    *c = (ss_csv){0};
}

/* ---- headings ------------------------------------------------------------------------------ */

ss_status ss_csv_heading(const char *text, char name[SS_CSV_NAME], char unit[SS_CSV_UNIT], ss_error *err)
{
    size_t n = strlen(text);
    const char *bracket = n && text[n - 1] == ']' ? strrchr(text, '[') : NULL;
    size_t names = bracket ? (size_t)(bracket - text) : n;
    while (names && text[names - 1] == ' ')
        names--;
    if (names >= SS_CSV_NAME || (bracket && n - 2 - (size_t)(bracket - text) >= SS_CSV_UNIT))
        return ss_fail(err, SS_EFORMAT, "the name of a column is too long: \"%.40s...\"", text);
    snprintf(name, SS_CSV_NAME, "%.*s", (int)names, text);
    if (bracket)
        snprintf(unit, SS_CSV_UNIT, "%.*s", (int)(text + n - 2 - bracket), bracket + 1);
    return SS_OK;
}

ss_status ss_csv_column(const ss_csv *c, uint32_t field, char name[SS_CSV_NAME], char unit[SS_CSV_UNIT],
                        ss_error *err)
{
    return ss_csv_heading(c->field[field], name, unit, err) ? ss_csv_fail(c, c->column[field], err) : SS_OK;
}
