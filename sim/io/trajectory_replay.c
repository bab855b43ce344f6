/* trajectory_replay.c - what the journal of a killed search has comes into its log. */
#include <string.h>

#include "io/trajectory_inside.h"

/* Where the last line ends that is not a part of something unfinished: rows of a step that is not
 * there, pages of a commit that did not come about. */
static ss_journal_reader last_of_use(ss_journal_reader r)
{
    ss_journal_reader last = r;
    const char *line;
    uint32_t n;
    while (ss_journal_next(&r, &line, &n))
        if (n && strchr("sbek", *line))
            last = r;
    return last;
}

static ss_status replay_row(ss_trajectory *t, ss_log_line *l, uint64_t *rows, ss_error *err)
{
    union {
        ss_log_step step;
        ss_log_configuration configuration;
        ss_log_several several;
        uint32_t device;
    } row;
    ss_log_kind kind = ss_log_kind_of(l->letter);
    ss_log_chain *c = &t->chain[l->chain];
    ss_status s = kind == SS_LOG_STEPS ? ss_log_go_on_chain(t, l->chain, err) : SS_OK;
    do {
        if (!ss_log_parse_row(l, kind, &row))
            return ss_fail(err, SS_EFORMAT, "%s.journal has a line that says nothing", t->path);
        if (!s)
            s = ss_log_reserve(c, kind, 1, err);
        if (!s)
            ss_log_add(c, kind, &row, 1);
    } while (!s && kind == SS_LOG_DEVICES && l->at < l->end);
    *rows += kind == SS_LOG_STEPS;
    return s;
}

static ss_status replay_line(ss_trajectory *t, ss_log_line *l, uint64_t *rows, ss_error *err)
{
    int64_t cost;
    uint64_t why;
    double beta;
    bool begins = l->letter == 'b';
    if (l->letter == 'p' || l->letter == 'k')
        return SS_OK;
    if (l->chain < t->chains && t->chain[l->chain].begun != begins) {
        if (begins && ss_log_parse_i64(l, &cost) && ss_log_parse_f64(l, &beta))
            return ss_log_begin_chain(t, l->chain, cost, beta, err);
        if (l->letter == 'e' && ss_log_parse_u64(l, &why) && why < SS_ENDS)
            return ss_log_end_chain(t, l->chain, (uint32_t)why, err);
        if (ss_log_kind_of(l->letter) != SS_LOG_TABLES)
            return replay_row(t, l, rows, err);
    }
    return ss_fail(err, SS_EFORMAT, "%s.journal has a line that does not fit the file", t->path);
}

ss_status ss_log_replay(ss_trajectory *t, ss_journal_reader *r, uint64_t *rows, ss_error *err)
{
    ss_journal_reader last = last_of_use(*r);
    ss_status s = SS_OK;
    const char *line;
    uint32_t n;
    while (!s && r->bytes < last.bytes && ss_journal_next(r, &line, &n)) {
        ss_log_line l;
        if (!ss_log_parse(line, n, &l))
            s = ss_fail(err, SS_EFORMAT, "%s.journal has a line that says nothing", t->path);
        else
            s = replay_line(t, &l, rows, err);
    }
    return s;
}
