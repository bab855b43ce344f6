/* journal.h - lines of text beside a file, each with a check value: what the file may not have yet.
 *
 * NAME.journal begins with a line that names it and the file it belongs to; then follow lines of
 * whoever writes it.  Each ends in a blank and 8 hexadecimal digits: a hash of all lines up to it,
 * so that a line which is cut, changed or left out is found, and with it all that follow.  Lines
 * are gathered in memory and go out with write(2): what is written survives the process, not the
 * power; ss_journal_sync is for that.
 *
 * Who has a journal open for writing holds a lock on it (flock), which ends with the process.
 */
#ifndef SS_JOURNAL_H
#define SS_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

typedef struct ss_journal {
    int fd;
    char *path;                   /* of the journal */
    ss_text out;                  /* lines not yet written, and what there is of the next one */
    uint32_t line_at;             /* where that begins */
    uint64_t sum, head_sum;       /* of all whole lines; of the first */
    uint64_t written, head_bytes; /* bytes of lines on the disk; of the first */
    uint64_t written_sum;         /* of the lines on the disk */
} ss_journal;                     /* closed: fd < 0 */

/* Opens NAME.journal and locks it, making it if it is not there; SS_EIO if somebody writes to it.
 * `content` gets what is in it, appended: nothing of a new one. */
ss_status ss_journal_open(const char *name, ss_journal *out, ss_text *content, ss_error *err);

/* Empties it and writes the first line, which names what it belongs to. */
ss_status ss_journal_begin(ss_journal *j, uint64_t id, ss_error *err);

/* What was found in a journal, line by line. */
typedef struct ss_journal_reader {
    const char *at, *end;
    uint64_t sum, id;
    uint64_t bytes; /* whole lines so far */
} ss_journal_reader;

/* False: the first line is not whole, so the journal says nothing. */
bool ss_journal_read(ss_journal_reader *r, const ss_text *content);
/* The next whole line, without its check value; false: what follows (if anything) is none. */
bool ss_journal_next(ss_journal_reader *r, const char **line, uint32_t *n);
/* Goes on writing behind the lines that the reader has read; the rest is cut off. */
ss_status ss_journal_go_on(ss_journal *j, const ss_journal_reader *first,
                           const ss_journal_reader *last, ss_error *err);

/* A line is added in pieces, and ended.  What cannot be added for want of memory is told by the
 * ending. */
void ss_journal_char(ss_journal *j, char c);
void ss_journal_u64(ss_journal *j, uint64_t x);
void ss_journal_i64(ss_journal *j, int64_t x);
void ss_journal_f64(ss_journal *j, double x); /* its 64 bits, hexadecimal */
void ss_journal_hex(ss_journal *j, const unsigned char *bytes, size_t n);
ss_status ss_journal_line(ss_journal *j, ss_error *err);

ss_status ss_journal_write(ss_journal *j, ss_error *err); /* on failure the disk has whole lines */
ss_status ss_journal_sync(ss_journal *j, ss_error *err);
ss_status ss_journal_empty(ss_journal *j, ss_error *err); /* down to the first line */
/* Forgets what is not on the disk, and cuts that off behind `written` bytes, which end a line, and
 * had `sum` as their written_sum. */
ss_status ss_journal_cut(ss_journal *j, uint64_t written, uint64_t sum, ss_error *err);

void ss_journal_remove(ss_journal *j); /* and closes */
void ss_journal_close(ss_journal *j);

/* Left: there is one, and nobody writes to it; held: somebody does. */
typedef enum ss_journal_state {
    SS_JOURNAL_NONE,
    SS_JOURNAL_LEFT,
    SS_JOURNAL_HELD
} ss_journal_state;
ss_journal_state ss_journal_look(const char *name);

#endif
