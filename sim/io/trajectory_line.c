/* trajectory_line.c - rows of a search's log as lines of its journal, and back. */
#include <stdlib.h>
#include <string.h>

#include "io/trajectory_inside.h"

static const char letters[SS_LOG_TABLES + 1] = "scdm";

ss_log_kind ss_log_kind_of(char letter)
{
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (ss_log_kind)(at - letters) : SS_LOG_TABLES;
}

static void add_value(ss_journal *j, const ss_h5_field *field, const char *row)
{
    union {
        uint8_t u8;
        uint32_t u32;
        uint64_t u64;
        int64_t i64;
        double f64;
    } as;
    const char *at = row + field->offset;
    switch (field->type) {
    case SS_H5_U32:
        memcpy(&as.u32, at, sizeof as.u32);
        ss_journal_u64(j, as.u32);
        return;
    case SS_H5_U64:
        memcpy(&as.u64, at, sizeof as.u64);
        ss_journal_u64(j, as.u64);
        return;
    case SS_H5_I64:
        memcpy(&as.i64, at, sizeof as.i64);
        ss_journal_i64(j, as.i64);
        return;
    case SS_H5_F64:
        memcpy(&as.f64, at, sizeof as.f64);
        ss_journal_f64(j, as.f64);
        return;
    default:
        memcpy(&as.u8, at, 1);
        ss_journal_u64(j, as.u8);
    }
}

static bool is_told(const ss_h5_field *field)
{
    return field->offset != SS_H5_NO_MEMBER;
}

ss_status ss_log_line_rows(ss_journal *j, ss_log_kind kind, uint32_t chain, const void *row,
                           uint32_t n, ss_error *err)
{
    const ss_record_table *t = &ss_log_table[kind];
    ss_journal_char(j, letters[kind]);
    ss_journal_u64(j, chain);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < t->fields; k++)
            if (is_told(&t->field[k]))
                add_value(j, &t->field[k], (const char *)row + i * t->stride);
    return ss_journal_line(j, err);
}

ss_status ss_log_line_begin(ss_journal *j, uint32_t chain, ss_time cost, double beta_per_s,
                            ss_error *err)
{
    ss_journal_char(j, 'b');
    ss_journal_u64(j, chain);
    ss_journal_i64(j, cost);
    ss_journal_f64(j, beta_per_s);
    return ss_journal_line(j, err);
}

ss_status ss_log_line_end(ss_journal *j, uint32_t chain, uint32_t why, ss_error *err)
{
    ss_journal_char(j, 'e');
    ss_journal_u64(j, chain);
    ss_journal_u64(j, why);
    return ss_journal_line(j, err);
}

/* ------------------------------------------------------------------------------------- and back */

bool ss_log_parse_u64(ss_log_line *l, uint64_t *out)
{
    if (l->end - l->at < 2 || *l->at != ' ' || l->at[1] < '0' || l->at[1] > '9')
        return false;
    char *end;
    *out = strtoull(l->at + 1, &end, 10);
    l->at = end;
    return true;
}

bool ss_log_parse_i64(ss_log_line *l, int64_t *out)
{
    if (l->end - l->at < 2 || *l->at != ' ')
        return false;
    char *end;
    *out = strtoll(l->at + 1, &end, 10);
    bool is_number = end > l->at + 1;
    l->at = end;
    return is_number;
}

bool ss_log_parse_f64(ss_log_line *l, double *out)
{
    enum { DIGITS = 16 };
    if (l->end - l->at < DIGITS + 1 || *l->at != ' ')
        return false;
    char digits[DIGITS + 1] = "", *end;
    memcpy(digits, l->at + 1, DIGITS);
    uint64_t bits = strtoull(digits, &end, 16);
    memcpy(out, &bits, sizeof bits);
    l->at += DIGITS + 1;
    return end == digits + DIGITS;
}

static bool parse_value(ss_log_line *l, const ss_h5_field *field, char *row)
{
    char *at = row + field->offset;
    int64_t i64;
    double f64;
    if (field->type == SS_H5_I64) {
        bool fine = ss_log_parse_i64(l, &i64);
        if (fine)
            memcpy(at, &i64, sizeof i64);
        return fine;
    }
    if (field->type == SS_H5_F64) {
        bool fine = ss_log_parse_f64(l, &f64);
        if (fine)
            memcpy(at, &f64, sizeof f64);
        return fine;
    }
    uint64_t u64;
    if (!ss_log_parse_u64(l, &u64))
        return false;
    uint32_t u32 = (uint32_t)u64;
    uint8_t u8 = (uint8_t)u64;
    if (field->type == SS_H5_U64)
        memcpy(at, &u64, sizeof u64);
    else if (field->type == SS_H5_U32)
        memcpy(at, &u32, sizeof u32);
    else
        memcpy(at, &u8, sizeof u8);
    uint64_t most = field->type == SS_H5_U64   ? UINT64_MAX
                    : field->type == SS_H5_U32 ? UINT32_MAX
                                               : UINT8_MAX;
    return u64 <= most;
}

bool ss_log_parse_row(ss_log_line *l, ss_log_kind kind, void *row)
{
    const ss_record_table *t = &ss_log_table[kind];
    memset(row, 0, t->stride);
    for (uint32_t k = 0; k < t->fields; k++)
        if (is_told(&t->field[k]) && !parse_value(l, &t->field[k], row))
            return false;
    return true;
}

bool ss_log_parse(const char *line, uint32_t n, ss_log_line *out)
{
    *out = (ss_log_line){.at = line, .end = line + n};
    if (!n)
        return false;
    out->letter = *out->at++;
    uint64_t chain = 0;
    if (!strchr("scdmbe", out->letter))
        return true; /* a page, a commit: no chain */
    bool fine = ss_log_parse_u64(out, &chain) && chain < UINT32_MAX;
    out->chain = (uint32_t)chain;
    return fine;
}
