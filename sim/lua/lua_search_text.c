/* lua_search_text.c - a search as a page for a terminal, as JSON, and as a progress line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lua/lua_search.h"

enum { CELL = 48, COLUMNS = 11, NAME_COLUMNS = 40 };

/* -- columns ---------------------------------------------------------------------------------- */

static int width_of(const char *text) /* in characters, not bytes */
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void add_row(ss_text *out, char cell[COLUMNS][CELL], const int *width)
{
    for (int c = 0; c < COLUMNS; c++) {
        int pad = width[c] - width_of(cell[c]);
        bool left = c == 0 || c == COLUMNS - 1;
        ss_text_add(out, "%s%*s%s%*s", c ? "  " : "", left ? 0 : pad, "", cell[c],
                    left && c < COLUMNS - 1 ? pad : 0, "");
    }
    while (out->n && out->at[out->n - 1] == ' ')
        out->at[--out->n] = '\0';
    ss_text_add(out, "\n");
}

static void share_of(char *cell, uint64_t part, uint64_t whole)
{
    if (whole)
        snprintf(cell, CELL, "%.1f %%", 100 * (double)part / (double)whole);
    else
        snprintf(cell, CELL, "-");
}

static void write_row(const ss_lua_search *s, uint32_t i, char cell[COLUMNS][CELL])
{
    ss_search_standing at;
    ss_search_chain(s->search, i, &at);
    snprintf(cell[0], CELL, "%.*s", NAME_COLUMNS, s->start[i].name);
    ss_format_time(at.start, cell[1], CELL);
    ss_format_time(at.current, cell[2], CELL);
    ss_format_time(at.best, cell[3], CELL);
    snprintf(cell[4], CELL, "%llu", (unsigned long long)at.best_step);
    snprintf(cell[5], CELL, "%llu", (unsigned long long)at.steps);
    snprintf(cell[6], CELL, "%llu", (unsigned long long)at.descended);
    share_of(cell[7], at.accepted, at.steps);
    share_of(cell[8], at.stopped, at.steps);
    ss_format_quantity(at.seconds, SS_UNIT_SECONDS, cell[9], CELL);
    snprintf(cell[10], CELL, "%s", at.end ? ss_search_end_name(at.end) : "not yet");
}

static const char *const titles[COLUMNS] = {"chain",       "start",     "current", "best",
                                            "at proposal", "proposals", "descent", "accepted",
                                            "stopped",     "at work",   "ended"};

static void add_chains(const ss_lua_search *s, ss_text *out)
{
    int width[COLUMNS] = {0};
    char cell[COLUMNS][CELL];
    for (uint32_t i = 0; i <= s->starts; i++) {
        if (i)
            write_row(s, i - 1, cell);
        for (int c = 0; c < COLUMNS; c++) {
            int w = width_of(i ? cell[c] : titles[c]);
            width[c] = w > width[c] ? w : width[c];
        }
    }
    for (int c = 0; c < COLUMNS; c++)
        snprintf(cell[c], CELL, "%s", titles[c]);
    add_row(out, cell, width);
    for (uint32_t i = 0; i < s->starts; i++) {
        write_row(s, i, cell);
        add_row(out, cell, width);
    }
}

/* -- the page --------------------------------------------------------------------------------- */

static uint64_t proposals_of(const ss_lua_search *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->starts; i++) {
        ss_search_standing at;
        ss_search_chain(s->search, i, &at);
        n += at.steps;
    }
    return n;
}

/* What the name of an option does not say. */
static const char *unit_of(const char *name, int n)
{
    static const struct {
        const char *name, *unit;
    } units[] = {{"beta", " /s"}, {"penalty", " s/B"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if ((int)strlen(units[i].name) == n && !strncmp(units[i].name, name, (size_t)n))
            return units[i].unit;
    return "";
}

/* "a = 1\nb = 2\n" as "a 1, b 2", in lines of a terminal's width. */
static void add_options(const char *title, const char *lines, ss_text *out)
{
    enum { WIDTH = 100 };
    int column = (int)strlen(title);
    ss_text_add(out, "%s", title);
    while (*lines) {
        int n = (int)strcspn(lines, "\n"), name = (int)strcspn(lines, " ");
        const char *value = lines + name + 3, *unit = unit_of(lines, name);
        int length = n - 2 + (int)strlen(unit), last = !lines[n] || !lines[n + 1];
        if (column + length + 2 > WIDTH) {
            ss_text_add(out, "\n ");
            column = 1;
        }
        ss_text_add(out, " %.*s %.*s%s%s", name, lines, n - name - 3, value, unit, last ? "" : ",");
        column += length + 2;
        lines += n + (lines[n] == '\n');
    }
    ss_text_add(out, "\n");
}

static bool is_penal(const ss_lua_search *s)
{
    return s->options.score.memory == SS_MEMORY_PENALTY;
}

/* ", 12.3 % less than data_parallel" */
static void add_comparison(const ss_lua_search *s, ss_time best, ss_text *out)
{
    ss_search_standing first;
    ss_search_chain(s->search, 0, &first);
    double percent = 100 * (1 - (double)best / (double)first.start);
    if (first.start <= 0 || best > first.start)
        return;
    if (best == first.start)
        ss_text_add(out, ", %s %s", is_penal(s) ? "at the cost of" : "as long as",
                    s->start[0].name);
    else if (percent < 0.05)
        ss_text_add(out, ", hardly less than %s", s->start[0].name);
    else
        ss_text_add(out, ", %.1f %% less than %s%s", percent, s->start[0].name,
                    is_penal(s) ? ", penalties included" : "");
}

static void add_headline(const ss_lua_search *s, ss_text *out)
{
    char best[SS_QUANTITY_TEXT], penalty[SS_QUANTITY_TEXT], took[SS_QUANTITY_TEXT];
    uint32_t chain;
    ss_search_standing at;
    ss_search_best(s->search, &chain);
    ss_search_chain(s->search, chain, &at);
    const ss_lua_search_best *b = &s->best[chain];
    ss_text_add(out, "%s: best %s", ss_searcher_name(s->options.searcher),
                ss_format_time(b->step_time, best, sizeof best));
    if (b->penalty)
        ss_text_add(out, " and a penalty for memory of %s",
                    ss_format_time(b->penalty, penalty, sizeof penalty));
    add_comparison(s, at.best, out);
    uint64_t proposals = proposals_of(s);
    ss_text_add(out, " (from %s); %llu proposal%s", s->start[chain].name,
                (unsigned long long)proposals, proposals == 1 ? "" : "s");
    if (s->seconds > 0)
        ss_text_add(out, " in %s",
                    ss_format_quantity(s->seconds, SS_UNIT_SECONDS, took, sizeof took));
    ss_text_add(out, "%s\n", s->interrupted ? ", interrupted" : "");
    if (!at.fits)
        ss_text_add(out, "nothing that was tried fits into memory\n");
    else if (!b->fits)
        ss_text_add(out, "the best needs more memory than there is\n");
    ss_lua_noise_say(s->noise.spread, &s->options.score.lower, out);
    if (is_penal(s))
        ss_text_add(out, "start, current and best below are costs: step times with penalties\n");
}

void ss_lua_search_write_page(const ss_lua_search *s, ss_text *out)
{
    ss_text limits = {0}, own = {0};
    add_headline(s, out);
    ss_text_add(out, "\n");
    add_chains(s, out);
    ss_text_add(out, "\n");
    const char *of_problem = strstr(ss_text_get(&s->options_text), "costs_hash = ");
    ss_text_add_bytes(&own, ss_text_get(&s->options_text),
                      of_problem ? (size_t)(of_problem - ss_text_get(&s->options_text)) : 0);
    ss_lua_search_write_limits(&s->options, &limits);
    add_options("options:", ss_text_get(&own), out);
    add_options("limits: ", ss_text_get(&limits), out);
    out->failed |= own.failed | limits.failed;
    ss_text_free(&own);
    ss_text_free(&limits);
}

/* -- JSON ------------------------------------------------------------------------------------- */

static void add_number(ss_text *out, const char *name, double value)
{
    char digits[SS_DOUBLE_TEXT];
    if (isfinite(value))
        ss_text_add(out, ", \"%s\": %s", name, ss_format_double(value, digits, sizeof digits));
    else
        ss_text_add(out, ", \"%s\": null", name);
}

static void add_count(ss_text *out, const char *name, uint64_t value)
{
    ss_text_add(out, ", \"%s\": %llu", name, (unsigned long long)value);
}

static void add_chain(const ss_lua_search *s, uint32_t i, ss_text *out)
{
    ss_search_standing at;
    ss_search_chain(s->search, i, &at);
    ss_text_add(out, "%s\n  {\"name\": ", i ? "," : "");
    ss_text_add_json_string(out, s->start[i].name);
    add_number(out, "start_s", ss_time_seconds(at.start));
    add_number(out, "current_s", ss_time_seconds(at.current));
    add_number(out, "best_s", ss_time_seconds(at.best));
    add_number(out, "penalty_s", ss_time_seconds(s->best[i].penalty));
    add_count(out, "best_at", at.best_step);
    add_number(out, "best_wallclock_s", at.best_seconds);
    add_count(out, "proposals", at.steps);
    add_count(out, "descended", at.descended);
    add_count(out, "accepted", at.accepted);
    add_count(out, "stopped", at.stopped);
    add_count(out, "infeasible", at.infeasible);
    add_count(out, "fell_back", at.fell_back);
    add_number(out, "wallclock_s", at.seconds);
    add_number(out, "visited_share", at.visited_share);
    add_number(out, "changed_share", at.changed_share);
    add_number(out, "beta_per_s", at.beta_per_s);
    ss_text_add(out, ", \"fits\": %s, \"ended\": ", s->best[i].fits ? "true" : "false");
    if (at.end)
        ss_text_add_json_string(out, ss_search_end_name(at.end));
    else
        ss_text_add(out, "null");
    ss_text_add(out, "}");
}

void ss_lua_search_write_json(const ss_lua_search *s, ss_text *out)
{
    uint32_t chain;
    ss_search_standing at;
    ss_search_best(s->search, &chain);
    ss_search_chain(s->search, chain, &at);
    ss_text_add(out, "{\"searcher\": \"%s\"", ss_searcher_name(s->options.searcher));
    add_number(out, "best_s", ss_time_seconds(at.best));
    add_number(out, "step_time_s", ss_time_seconds(s->best[chain].step_time));
    add_number(out, "penalty_s", ss_time_seconds(s->best[chain].penalty));
    add_number(out, "noise", s->noise.spread);
    ss_text_add(out, ", \"from\": ");
    ss_text_add_json_string(out, s->start[chain].name);
    add_count(out, "proposals", proposals_of(s));
    add_number(out, "wallclock_s", s->seconds);
    ss_text_add(out, ", \"fits\": %s, \"interrupted\": %s, \"options\": ",
                s->best[chain].fits ? "true" : "false", s->interrupted ? "true" : "false");
    ss_text_add_json_string(out, ss_text_get(&s->options_text));
    ss_text_add(out, ", \"chains\": [");
    for (uint32_t i = 0; i < s->starts; i++)
        add_chain(s, i, out);
    ss_text_add(out, "]}\n");
}

/* -- the line --------------------------------------------------------------------------------- */

/* "34 s", "2:05 min", "1:02 h" */
static void write_left(double seconds, char *text, size_t n)
{
    if (seconds < 100)
        snprintf(text, n, "%.0f s", seconds);
    else if (seconds < 3600)
        snprintf(text, n, "%d:%02d min", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(text, n, "%.0f:%02d h", floor(seconds / 3600), (int)fmod(seconds, 3600) / 60);
}

void ss_lua_search_line(const ss_lua_search *s, double share, double rate, double left_s,
                        char *line, size_t n)
{
    char best[SS_QUANTITY_TEXT], percent[32] = "", left[64] = "";
    uint64_t steps = 0, accepted = 0;
    ss_search_standing at, least;
    ss_search_chain(s->search, 0, &least);
    ss_time start = least.start;
    for (uint32_t i = 0; i < s->starts; i++) {
        ss_search_chain(s->search, i, &at);
        steps += at.steps;
        accepted += at.accepted;
        if (at.fits == least.fits ? at.best < least.best : at.fits)
            least = at;
    }
    if (!isnan(share))
        snprintf(percent, sizeof percent, "%.0f %%, ", 100 * share);
    if (!isnan(left_s) && left_s < 1e7) {
        char time[40];
        write_left(left_s, time, sizeof time);
        snprintf(left, sizeof left, "%s left, ", time);
    }
    snprintf(line, n, "%s%sbest %s%s (%+.1f %%), %.0f proposals/s, %.0f %% accepted", percent, left,
             is_penal(s) ? "cost " : "", ss_format_time(least.best, best, sizeof best),
             start > 0 ? 100 * ((double)least.best / (double)start - 1) : 0, rate,
             steps ? 100 * (double)accepted / (double)steps : 0);
}
