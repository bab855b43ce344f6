/* status.h - how a call says that it failed, and in which words.
 *
 * Every function that can fail returns an ss_status, which tells the program what to do, and writes
 * a sentence into the caller's ss_error, which tells the person what to mend.  Nothing is global,
 * so two simulations can run side by side, and nothing jumps, so every caller can free what it
 * holds.
 */
#ifndef SS_STATUS_H
#define SS_STATUS_H

#include <stddef.h>

typedef enum ss_status {
    SS_OK = 0,
    SS_EINVAL,       /* the input makes no sense: a value, a name, a combination */
    SS_EFORMAT,      /* a file is not what it should be: syntax, truncation, corruption */
    SS_ENOTFOUND,    /* a file or a name that was asked for does not exist */
    SS_ERANGE,       /* a number does not fit: a time beyond 106 days, a size beyond 2^63 */
    SS_EUNSUPPORTED, /* understood, and not offered by this build or in this combination */
    SS_ENOMEM,       /* the machine has no memory left */
    SS_EIO,          /* the machine could not read or write: disk full, no permission to write */
    SS_ESTOPPED      /* a person stopped it (base/watch.h) */
} ss_status;

enum { SS_ERROR_TEXT = 1024 };

typedef struct ss_error {
    ss_status status;
    char text[SS_ERROR_TEXT]; /* one sentence, no full stop, no newline; cut with "..." if longer */
} ss_error;

#if defined(__GNUC__)
#define SS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SS_PRINTF(text, first)
#endif

/* Writes the sentence and returns `status`; err may be NULL when nobody will read it. */
ss_status ss_fail(ss_error *err, ss_status status, const char *format, ...) SS_PRINTF(3, 4);

/* Puts "context: " before the sentence that is there: a file, a line, the name of an operator. */
ss_status ss_fail_in(ss_error *err, const char *format, ...) SS_PRINTF(2, 3);

/* The sentence for a failed allocation: "no memory for WHAT (N bytes)". */
ss_status ss_fail_memory(ss_error *err, const char *what, size_t bytes);

/* The program's exit status for it: 0 done, 2 the input is wrong, 3 the machine failed, 130
 * stopped. */
int ss_status_exit(ss_status status);

#endif
