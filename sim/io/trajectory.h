/* trajectory.h - the log of a search: a record (record.h) that grows by a row a proposal.
 *
 * NAME.h5 is an HDF5 file that plain tools can open at any moment, also while the search runs and
 * after it was killed; NAME.h5.journal beside it is text, a line for each row that NAME.h5 may not
 * have yet, and is there only while a log is open or after it was killed.  A row reaches the
 * journal when the sink is flushed, and NAME.h5 with the next commit: every half a second, or more
 * seldom where a commit takes longer than a twentieth of that.  A commit is all or nothing: what it
 * overwrites stands in the journal first (pages.h).
 *
 *   killed at any moment        nothing that was flushed is lost
 *   power cut                   nothing that was committed is lost: commits are synced, the lines of
 *                               the journal between them are not
 *   disk full                   the call that finds out says so; all that was flushed stays, and
 *                               the log takes nothing more
 *
 * Whoever opens a log to go on, and ss_trajectory_repair, first brings in what the journal has.
 * docs/file-format.md describes both files.  All calls come from one thread, as all of h5.h.
 */
#ifndef SS_TRAJECTORY_H
#define SS_TRAJECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "io/record.h"
#include "search/search.h"

typedef struct ss_trajectory ss_trajectory;

/* What a search is made of; all of it outlives the log. */
typedef struct ss_trajectory_inputs {
    const ss_manifest *manifest;
    const ss_model *model;
    const ss_topology *topology;
    const ss_search_start *start; /* [starts]: a chain each, named after it */
    uint32_t starts;
    /* What decides the rows, one "name = value" a line: a log is resumed with the same. */
    const char *options;
    /* What decides how many rows there are (budgets, ways of scoring, threads), likewise: a log may
     * be resumed with others, and then tells those. */
    const char *limits;
    uint64_t seed;
    double commit_every_s; /* 0: half a second, or more seldom where a commit takes long */
} ss_trajectory_inputs;

/* Another log or record there is replaced.  Refuses a path that is the log of a search which did not
 * end (ss_trajectory_check_ended), and files of any other kind (ss_record_check_place). */
ss_status ss_trajectory_create(const char *path, const ss_trajectory_inputs *in,
                               ss_trajectory **out, ss_error *err);

/* Opens a log to go on where it ends.  Refuses one of another model, topology, start, seed or of
 * other options, one that is being written, and one that is damaged (naming the repair). */
ss_status ss_trajectory_resume(const char *path, const ss_trajectory_inputs *in,
                               ss_trajectory **out, ss_error *err);

/* For ss_search_run, and for ss_search_resume before it: as long as the log is open.  The past is
 * that of the moment when the log was resumed (of a new one: nothing). */
ss_search_sink ss_trajectory_sink(ss_trajectory *t);
ss_search_past ss_trajectory_past(ss_trajectory *t);

/* Writes the best strategy to /strategies/best (NULL: leaves it as it is), commits, removes the
 * journal and frees t in any case.  After a failure the journal stays, and the sentence of the first
 * failure comes again. */
ss_status ss_trajectory_close(ss_trajectory *t, const ss_strategy *best_or_null, ss_error *err);

/* Makes a log that was killed a file like any other: what its journal has comes into NAME.h5, and
 * the journal goes.  `report` gets lines for a person: what was done.  A log that is whole is left
 * alone, and one that is being written is refused.  May itself be killed and called again. */
ss_status ss_trajectory_repair(const char *path, ss_text *report, ss_error *err);

/* ------------------------------------------------------------------------------------- reading */

typedef struct ss_trajectory_step {
    uint32_t step, op, ops, tasks, visited;
    uint8_t accepted, stopped, infeasible, fell_back; /* bool */
    ss_time proposed, current, best;
    double wallclock_s;
} ss_trajectory_step;

typedef struct ss_trajectory_chain {
    const char *name, *start;
    const char *end; /* ss_search_end_name; NULL: it did not end yet, or was killed */
    ss_time start_cost;
    double beta_per_s;
    uint64_t seed;
    uint32_t steps;
    const ss_trajectory_step *step; /* [steps] */
} ss_trajectory_chain;

typedef struct ss_trajectory_view {
    const char *model, *topology, *options, *limits;
    uint32_t chains;
    const ss_trajectory_chain *chain; /* [chains], in the order of starts */
    ss_arena arena;                   /* holds all of it: ss_arena_free */
} ss_trajectory_view;

/* The best strategy so far of an exhaustive search that did not end, which only the rows of its log
 * tell.  Refuses logs of other searches: those are gone on with, and have a best then. */
ss_status ss_trajectory_read_best(const char *path, const ss_model *m, const ss_topology *t,
                                  ss_strategy_loading *l, ss_strategy **out, ss_error *err);

/* As it was last committed, also while it is being written. */
ss_status ss_trajectory_read(const char *path, ss_trajectory_view *out, ss_error *err);
/* For a reader that itself reads again. */
ss_status ss_trajectory_read_once(const char *path, ss_trajectory_view *out, ss_error *err);

/* Whether a journal lies beside the file, and whether somebody is writing to it. */
typedef enum ss_trajectory_state {
    SS_TRAJECTORY_CLOSED,
    SS_TRAJECTORY_KILLED,
    SS_TRAJECTORY_BEING_WRITTEN
} ss_trajectory_state;

ss_trajectory_state ss_trajectory_look(const char *path);

/* For whoever is about to put another file there: refuses the log of a search that is being written,
 * was killed, or was made whole since and did not end: it is to be resumed, kept or removed. */
ss_status ss_trajectory_check_ended(const char *path, ss_error *err);

/* Whether the options that a log tells have this line, such as "memory = wall". */
bool ss_trajectory_has_option(const char *options, const char *line);
/* By its options: an exhaustive search that did not end is begun anew. */
bool ss_trajectory_can_go_on(const char *options);

/* A reader of a log that is being written may meet a commit on its way: some of what it finds is older than
 * the rest, and makes no sense together.  Whether it should read again, after a moment: its status was
 * SS_EFORMAT, somebody writes to the file or did when it began, and it has not tried often enough. */
typedef struct ss_trajectory_tries {
    bool written; /* when reading began */
    uint32_t n;
} ss_trajectory_tries;
ss_trajectory_tries ss_trajectory_begin_reading(const char *path);
bool ss_trajectory_read_again(const char *path, ss_status s, ss_trajectory_tries *t);

/* To a reader's sentence about a damaged file is added the command that repairs it, where a journal
 * lies beside it that nobody writes to; or, where somebody does, that one may try again.  Returns `s`. */
ss_status ss_trajectory_name_repair(const char *path, ss_status s, ss_error *err);

#endif
