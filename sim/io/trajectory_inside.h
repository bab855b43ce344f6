/* trajectory_inside.h - what the files of the trajectory share; nobody else includes it. */
#ifndef SS_TRAJECTORY_INSIDE_H
#define SS_TRAJECTORY_INSIDE_H

#include "io/h5_grow.h"
#include "io/journal.h"
#include "io/pages.h"
#include "io/record_inside.h"
#include "io/trajectory.h"

/* -------------------------------------------------------------- layout (trajectory_layout.c) */

/* A row of /search/CHAIN. */
typedef struct ss_log_step {
    uint32_t op, ops;
    uint8_t reach, move; /* ss_reach; ss_move, or SS_MOVES */
    uint32_t old, new;   /* rows of the configurations, from 1; 0: none */
    ss_time proposed, current, best;
    uint8_t accepted, stopped, infeasible, fell_back;
    double log_hastings, uniform;
    uint32_t tasks, touched, visited, changed;
    double wallclock_s;
} ss_log_step;

typedef struct ss_log_configuration {
    uint32_t op, degree[SS_MAX_DIMS], parts;
    uint64_t first_device; /* row, from 0 */
} ss_log_configuration;

/* Of a step that gives several operators a configuration. */
typedef struct ss_log_several {
    uint32_t step, op, old, new;
} ss_log_several;

typedef enum ss_log_kind {
    SS_LOG_STEPS,
    SS_LOG_CONFIGURATIONS,
    SS_LOG_DEVICES, /* uint32_t */
    SS_LOG_SEVERAL,
    SS_LOG_TABLES
} ss_log_kind;

/* group: below /search/CHAIN, "" for the steps. */
extern const ss_record_table ss_log_table[SS_LOG_TABLES];

/* SEARCH/CHAIN or SEARCH/CHAIN/TABLE */
enum { SS_LOG_PATH = 2 * SS_RECORD_PATH };
void ss_log_group(const char *chain, ss_log_kind kind, char *group, size_t n);

/* ----------------------------------------------------------------- chains (trajectory_chain.c) */

typedef struct ss_log_rows {
    ss_h5_grown table;
    char *row; /* those that the table has not got yet */
    uint32_t n, cap;
} ss_log_rows;

/* Configurations that have a row, by hash. */
typedef struct ss_log_seen {
    struct ss_log_seen_slot *slot; /* open addressing */
    uint32_t slots, n;
} ss_log_seen;

typedef struct ss_log_chain {
    const char *name, *start; /* of its group; as the script called it */
    bool begun, ended;        /* it has a group; that has an end */
    ss_time start_cost;
    double beta_per_s;
    ss_log_rows rows[SS_LOG_TABLES];
    ss_log_seen seen;
} ss_log_chain;

void ss_log_chain_free(ss_log_chain *c);

/* Rows of the table and those that wait. */
uint32_t ss_log_count(const ss_log_chain *c, ss_log_kind kind);
ss_status ss_log_reserve(ss_log_chain *c, ss_log_kind kind, uint32_t more, ss_error *err);
void ss_log_add(ss_log_chain *c, ss_log_kind kind, const void *row, uint32_t n); /* reserved */
/* Waiting rows go into the tables, and the checksums follow. */
ss_status ss_log_settle(ss_log_chain *c, ss_error *err);

ss_status ss_log_seen_reserve(ss_log_seen *s, uint32_t more, ss_error *err);
/* The row of a configuration, or 0; then it gets `row`. */
uint32_t ss_log_seen_find(ss_log_seen *s, uint32_t op, const uint32_t *degree,
                          const uint32_t *device, uint32_t parts, uint32_t row);
/* From the tables of a file: what ss_log_seen_find would have made of their rows. */
ss_status ss_log_seen_read(ss_h5 *f, ss_log_chain *c, ss_error *err);

/* ------------------------------------------------------------------ lines (trajectory_line.c) */

/* "b CHAIN COST BETA" of a chain that begins, "e CHAIN WHY" of one that ends; rows are
 * "s CHAIN ...", "c CHAIN ...", "d CHAIN ..." and "m CHAIN ...", the values as the table has them.
 * What belongs to a step comes before it. */
ss_status ss_log_line_rows(ss_journal *j, ss_log_kind kind, uint32_t chain, const void *row,
                           uint32_t n, ss_error *err);
ss_status ss_log_line_begin(ss_journal *j, uint32_t chain, ss_time cost, double beta_per_s,
                            ss_error *err);
ss_status ss_log_line_end(ss_journal *j, uint32_t chain, uint32_t why, ss_error *err);

typedef struct ss_log_line {
    char letter;
    uint32_t chain;       /* from 0 */
    const char *at, *end; /* what follows */
} ss_log_line;

bool ss_log_parse(const char *line, uint32_t n, ss_log_line *out);
bool ss_log_parse_u64(ss_log_line *l, uint64_t *out);
bool ss_log_parse_i64(ss_log_line *l, int64_t *out);
bool ss_log_parse_f64(ss_log_line *l, double *out);
bool ss_log_parse_row(ss_log_line *l, ss_log_kind kind, void *row);
/* The table of a letter; SS_LOG_TABLES: of none. */
ss_log_kind ss_log_kind_of(char letter);

/* ------------------------------------------------------------------------------------ the log */

typedef struct ss_log_past ss_log_past;

struct ss_trajectory {
    char *path;
    ss_trajectory_inputs in; /* zeroed: of a repair */
    ss_pages *pages;
    ss_h5 *f;
    ss_journal journal;
    ss_log_chain *chain;
    uint32_t chains;
    ss_arena arena; /* names of chains */
    uint64_t seed;
    double committed_at, commit_took; /* s, of a clock that only goes on */
    bool uncommitted;
    ss_error broken; /* status SS_OK: it is not */
    ss_log_past *past;
};

/* A log that is nobody's yet, in *out; all that it has is freed with it. */
ss_status ss_log_blank(const char *path, ss_trajectory **out, ss_error *err);
void ss_log_free(ss_trajectory *t);

/* The rows of /starts: the chains, none of which has begun. */
ss_status ss_log_read_starts(ss_trajectory *t, ss_error *err);

/* Opens a file that is whole, and its chains; its own number goes to *id. */
ss_status ss_log_open_file(ss_trajectory *t, uint64_t *id, ss_error *err);

/* What opening an old log did. */
typedef struct ss_log_recovery {
    uint64_t rows;      /* of steps, from the journal */
    uint32_t pages;     /* of a commit that was put in place */
    uint64_t cut_bytes; /* of the journal, that were no whole line or of no use */
} ss_log_recovery;

/* Refuse a log that is to be replaced: one that was killed, and one that did not end (if the file says
 * so; a file that cannot be read says nothing). */
ss_status ss_log_refuse_killed(const char *path, ss_error *err);
ss_status ss_log_refuse_unended(const char *path, ss_error *err);

/* Brings in what the journal has, and commits. */
ss_status ss_log_open(const char *path, ss_trajectory **out, ss_log_recovery *found, ss_error *err);

/* Rows that wait go into the tables, and the tables to the disk; a failure breaks the log. */
ss_status ss_log_commit(ss_trajectory *t, ss_error *err);
bool ss_log_is_broken(const ss_trajectory *t);

/* The rows, beginnings and ends in the journal behind `r` come into the tables; `r` ends behind the
 * last line that was of use.  `rows`: of steps. */
ss_status ss_log_replay(ss_trajectory *t, ss_journal_reader *r, uint64_t *rows, ss_error *err);

/* What a line of the journal is about, in the file; nothing in the journal. */
ss_status ss_log_begin_chain(ss_trajectory *t, uint32_t chain, ss_time cost, double beta_per_s,
                             ss_error *err);
ss_status ss_log_go_on_chain(ss_trajectory *t, uint32_t chain, ss_error *err);
ss_status ss_log_end_chain(ss_trajectory *t, uint32_t chain, uint32_t why, ss_error *err);
ss_status ss_log_open_chain(ss_trajectory *t, uint32_t chain, ss_error *err); /* its tables */

void ss_log_past_free(ss_log_past *p);

/* A row of /starts. */
typedef struct ss_log_start {
    const char *name, *start;
} ss_log_start;

extern const ss_record_table ss_log_starts;

/* A log among records: whether it has /search. */
bool ss_log_is_in(ss_h5 *f);

#endif
