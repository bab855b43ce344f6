/* lua_search_told.c - the options of a search as its log tells them, a line each. */
#include "lua/lua_search.h"

static void write_number(ss_text *out, const char *name, double value)
{
    char digits[SS_DOUBLE_TEXT];
    ss_text_add(out, "%s = %s\n", name, ss_format_double(value, digits, sizeof digits));
}

static void write_flag(ss_text *out, const char *name, bool value)
{
    ss_text_add(out, "%s = %s\n", name, value ? "true" : "false");
}

static void write_moves(const ss_space_options *o, ss_text *out)
{
    char digits[SS_DOUBLE_TEXT];
    const char *comma = "";
    ss_text_add(out, "moves =");
    for (int m = 0; m < SS_MOVES; m++) {
        if (!(o->weight[m] > 0))
            continue;
        ss_text_add(out, "%s %s %s", comma, ss_move_name((ss_move)m),
                    ss_format_double(o->weight[m], digits, sizeof digits));
        comma = ",";
    }
    ss_text_add(out, "\n");
}

static void write_rest_of_space(const ss_lua_search_request *r, ss_text *out)
{
    static const char *const rules[] = {"ignore", "wall", "penalty"};
    const ss_search_options *o = &r->options;
    ss_text_add(out, "max_parts = %u\n", (unsigned)o->space.max_parts);
    if (o->space.lists)
        ss_text_add(out, "configurations = %u of hash %016llx\n", (unsigned)o->space.lists,
                    (unsigned long long)r->configurations_hash);
    ss_text_add(out, "memory = %s\n", rules[o->score.memory]);
    if (o->score.memory == SS_MEMORY_PENALTY)
        write_number(out, "penalty", o->score.penalty_s_per_byte);
}

void ss_lua_search_write_exhaustive(const ss_lua_search_request *r, ss_text *out)
{
    ss_text_add(out, "searcher = exhaustive\n");
    write_moves(&r->options.space, out);
    write_rest_of_space(r, out);
}

void ss_lua_search_write_options(const ss_lua_search_request *r, ss_text *out)
{
    const ss_search_options *o = &r->options;
    unsigned bit = 1u << o->searcher;
    ss_text_add(out, "searcher = %s\n", ss_searcher_name(o->searcher));
    ss_text_add(out, "seed = %lld\n", (long long)o->seed);
    if (bit & SS_LUA_WITH_BETA && o->beta_per_s > 0)
        write_number(out, "beta", o->beta_per_s);
    else if (bit & SS_LUA_WITH_BETA)
        write_number(out, "beta_relative", o->beta_relative);
    if (o->searcher == SS_SEARCH_ANNEALING) {
        write_number(out, "beta_growth", o->last_beta_factor);
        ss_text_add(out, "beta_grows_over = %llu\n", (unsigned long long)o->proposals);
    }
    if (bit & SS_LUA_WITH_BETA)
        write_flag(out, "hastings", o->space.hastings);
    write_moves(&o->space, out);
    if (bit & SS_LUA_WITH_REACHES) {
        write_number(out, "group", o->space.group);
        write_number(out, "neighbour", o->space.neighbour);
    }
    write_rest_of_space(r, out);
}

void ss_lua_search_write_limits(const ss_search_options *o, ss_text *out)
{
    ss_text_add(out, "proposals = %llu\n", (unsigned long long)o->proposals);
    write_number(out, "seconds", o->seconds);
    write_flag(out, "stop_half", o->stop_half);
    if (o->stop_half)
        ss_text_add(out, "warm_up = %llu\n", (unsigned long long)o->warm_up);
    write_flag(out, "descent", o->descent);
    ss_text_add(out, "way = %s\n", ss_score_way_name(o->score.way));
    write_flag(out, "early_stop", o->score.early_stop);
    ss_text_add(out, "threads = %u\n", (unsigned)o->threads);
}
