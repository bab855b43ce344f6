/* prompt.h - reading lines from a person: editing, history and completion where there is a terminal
 * and libedit, plain lines elsewhere.
 */
#ifndef SS_CLI_PROMPT_H
#define SS_CLI_PROMPT_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

typedef struct ss_prompt ss_prompt;

/* Completes the word that ends at `line + n`: appends candidates to `out`, one a line, each in
 * full, and gives the number of bytes of the word. */
typedef size_t (*ss_complete)(void *context, const char *line, size_t n, ss_text *out);

ss_status ss_prompt_new(ss_complete complete, void *context, ss_prompt **out, ss_error *err);
void ss_prompt_free(ss_prompt *p); /* takes NULL */

bool ss_prompt_interactive(const ss_prompt *p);

/* Where lines are edited Ctrl-C is held back, except while a key is waited for: none is lost, and
 * none ends the program, whenever it comes.  What runs between two lines lets it through. */
void ss_prompt_let_interrupt(const ss_prompt *p);
void ss_prompt_hold_interrupt(const ss_prompt *p);

typedef enum ss_read { SS_READ_LINE, SS_READ_CANCELLED, SS_READ_END } ss_read;

/* Reads one line, without its end, into `line` (emptied first). Cancelled: Ctrl-C. */
ss_read ss_prompt_read(ss_prompt *p, const char *prompt, ss_text *line);

/* Into the history, and at once into its file: a kill loses none of it. */
void ss_prompt_remember(ss_prompt *p, const char *chunk);

#endif
