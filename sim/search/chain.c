#include "search/chain_inside.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "search/threshold.h"

/* Of a budget in seconds, where a descent is to follow: the walk's part. */
static const double WALK_SHARE = 0.75;

/* ---------------------------------------------------------------------------------- making one */

static bool is_walled(const ss_chain *c, const ss_score *score)
{
    return score->infeasible && c->options.score.memory == SS_MEMORY_WALL;
}

static ss_status find_beta(ss_chain *c, ss_error *err)
{
    const ss_search_options *o = &c->options;
    c->first_beta_per_s = o->searcher == SS_SEARCH_GREEDY ? INFINITY : 0;
    if (o->searcher == SS_SEARCH_GREEDY || o->searcher == SS_SEARCH_RANDOM)
        return SS_OK;
    c->first_beta_per_s = o->beta_per_s;
    if (o->beta_per_s > 0 || !(o->beta_relative > 0))
        return SS_OK;
    if (c->at.start <= 0)
        return ss_fail(
            err, SS_EINVAL,
            "the start takes no time, so beta cannot be relative to it: give beta itself");
    c->first_beta_per_s = o->beta_relative / ss_time_seconds(c->at.start);
    return SS_OK;
}

static ss_status start_at(ss_chain *c, const ss_strategy *start, ss_error *err)
{
    ss_score score;
    ss_status s = ss_scorer_start(c->scorer, start, &score, err);
    if (!s)
        s = ss_strategy_copy(start, &c->best, err);
    if (s)
        return s;
    c->at.start = c->at.current = c->at.best = score.cost;
    c->walled = c->best_walled = is_walled(c, &score);
    s = find_beta(c, err);
    c->at.beta_per_s = c->first_beta_per_s;
    return s;
}

static ss_status open_chain(ss_chain *c, const ss_strategy *start, ss_error *err)
{
    size_t ops = (size_t)start->ops + 1;
    c->stale = ss_alloc(ops * sizeof *c->stale);
    c->is_stale = ss_alloc_zeroed(ops, sizeof *c->is_stale);
    if (!c->stale || !c->is_stale)
        return ss_fail_memory(err, "a chain of a search", ops * sizeof *c->stale);
    ss_status s = ss_rng_open_counted(&c->rng, err);
    if (!s && c->options.descent)
        s = ss_descent_list(c->space, start, &c->options.space, &c->descent, err);
    return s ? s : start_at(c, start, err);
}

ss_status ss_chain_new(uint32_t number, const ss_search_options *o, ss_scorer *scorer,
                       ss_space *space, const ss_strategy *start, ss_chain **out, ss_error *err)
{
    ss_chain *c = ss_alloc_zeroed(1, sizeof *c);
    if (!c) {
        ss_scorer_free(scorer);
        ss_space_free(space);
        return ss_fail_memory(err, "a chain of a search", sizeof *c);
    }
    c->number = number;
    c->options = *o;
    c->annealing_steps = o->proposals;
    c->scorer = scorer;
    c->space = space;
    ss_status s = open_chain(c, start, err);
    if (s) {
        ss_chain_free(c);
        return s;
    }
    *out = c;
    return SS_OK;
}

void ss_chain_free(ss_chain *c)
{
    if (!c)
        return;
    ss_descent_free(&c->descent);
    ss_proposal_free(&c->proposal);
    ss_free(c->from);
    ss_free(c->stale);
    ss_free(c->is_stale);
    ss_strategy_free(c->best);
    ss_rng_close(&c->rng);
    ss_scorer_free(c->scorer);
    ss_space_free(c->space);
    ss_free(c);
}

/* ------------------------------------------------------------------------------- what comes next */

static uint64_t walked(const ss_chain *c)
{
    return c->at.steps - c->descended;
}

/* FlexFlow (MLSys 2019), section 6.2 and figure 11: it ends at twice the time at which the best was
 * found. */
static bool no_better_for_half(const ss_chain *c)
{
    const ss_search_options *o = &c->options;
    if (!o->stop_half || walked(c) < o->warm_up)
        return false;
    if (o->proposals && !(o->seconds > 0))
        return walked(c) - c->walk_best > walked(c) / 2;
    return c->at.seconds - c->at.best_seconds > c->at.seconds / 2;
}

static ss_search_end end_of_walk(const ss_chain *c)
{
    const ss_search_options *o = &c->options;
    if (o->proposals && walked(c) >= o->proposals)
        return SS_END_PROPOSALS;
    /* what a clock ended stays ended, whatever the descent finds */
    if (o->seconds > 0 &&
        (c->descending || c->at.seconds >= o->seconds * (o->descent ? WALK_SHARE : 1)))
        return SS_END_SECONDS;
    return no_better_for_half(c) ? SS_END_NO_BETTER : SS_END_NOT;
}

ss_search_end ss_chain_end(const ss_chain *c)
{
    ss_search_end walk = end_of_walk(c);
    if (!walk || !c->options.descent)
        return walk;
    if (c->descending && c->barren >= c->descent.candidates)
        return SS_END_DESCENT;
    if (c->options.seconds > 0 && c->at.seconds >= c->options.seconds)
        return SS_END_SECONDS;
    return SS_END_NOT;
}

/* ---------------------------------------------------------------------------- one step of a walk */

static double beta_at(const ss_chain *c, uint64_t step)
{
    double factor = c->options.last_beta_factor;
    if (c->options.searcher != SS_SEARCH_ANNEALING || c->annealing_steps < 2)
        return c->first_beta_per_s;
    double done = (double)(step - 1) / (double)(c->annealing_steps - 1);
    return c->first_beta_per_s * pow(factor, done < 1 ? done : 1);
}

/* The largest cost that is accepted. */
static ss_time bound_of(const ss_chain *c, double uniform, double log_hastings)
{
    if (c->walled)
        return SS_TIME_MAX;
    switch (c->options.searcher) {
    case SS_SEARCH_GREEDY:
        return c->at.current;
    case SS_SEARCH_RANDOM:
        return c->at.current - 1;
    default:
        return ss_threshold(uniform, log_hastings, c->at.beta_per_s, c->at.current);
    }
}

/* A new configuration for every operator that may have one. */
static ss_status propose_all(ss_chain *c, ss_error *err)
{
    const ss_strategy *now = ss_scorer_strategy(c->scorer);
    ss_proposal *p = &c->proposal;
    p->reach = SS_REACH_ALL;
    p->log_hastings = 0;
    p->n = 0;
    p->same = true;
    ss_status s = SS_OK;
    for (uint32_t op = 1; op <= now->ops && !s; op++) {
        if (!ss_space_movable(c->space, (ss_op){op}))
            continue;
        s = ss_proposal_reserve(p, p->n + 1, err);
        if (s)
            break;
        ss_choice *choice = &p->choice[p->n];
        choice->op.i = op;
        s = ss_space_draw(c->space, choice->op, &c->rng, &p->move, &choice->config, err);
        if (!s && !ss_config_same(&choice->config, &now->config[op]))
            p->same = false;
        p->n += !s;
    }
    p->move = SS_MOVES;
    return s;
}

static ss_status walk(ss_chain *c, const ss_chain_clock *clock, ss_rows *rows, ss_error *err)
{
    ss_step step = {0};
    ss_rng_seek(&c->rng, c->options.seed, c->number, c->at.steps + 1);
    step.uniform = ss_rng_uniform(&c->rng);
    ss_status s =
        c->options.searcher == SS_SEARCH_RANDOM
            ? propose_all(c, err)
            : ss_space_propose(c->space, ss_scorer_strategy(c->scorer), &c->rng, &c->proposal, err);
    if (s)
        return s;
    c->at.beta_per_s = beta_at(c, walked(c) + 1);
    ss_time bound = bound_of(c, step.uniform, c->proposal.log_hastings);
    s = ss_chain_consider(c, &step, bound, clock, rows, err);
    if (s)
        return s;
    c->descending = c->barren = 0;
    if (c->at.best_step == c->at.steps)
        c->walk_best = walked(c);
    return SS_OK;
}

/* ------------------------------------------------------------------------- one step of a descent */

/* From where the chain is to its best, in one step. */
static ss_status propose_best(ss_chain *c, ss_error *err)
{
    const ss_strategy *now = ss_scorer_strategy(c->scorer);
    ss_proposal *p = &c->proposal;
    p->reach = SS_REACH_DESCENT;
    p->move = SS_MOVES;
    p->log_hastings = 0;
    p->n = 0;
    p->same = false;
    ss_status s = ss_proposal_reserve(p, c->stales, err);
    for (uint32_t op = 1; op <= now->ops && !s; op++) {
        const ss_config *best = &c->best->config[op];
        if (!c->is_stale[op] || ss_config_same(best, &now->config[op]))
            continue;
        s = ss_config_copy(best, &p->choice[p->n].config, err);
        p->choice[p->n++].op.i = op;
    }
    return s;
}

static ss_status descend(ss_chain *c, const ss_chain_clock *clock, ss_rows *rows, ss_error *err)
{
    ss_step step = {0};
    bool first = c->descending == 0;
    ss_status s;
    if (first) {
        s = propose_best(c, err);
    } else {
        ss_proposal *p = &c->proposal;
        s = ss_descent_candidate(&c->descent, (c->descending - 1) % c->descent.candidates, p, err);
        const ss_choice *choice = p->choice;
        if (!s && p->n)
            p->same = ss_config_same(&choice->config,
                                     &ss_scorer_strategy(c->scorer)->config[choice->op.i]);
    }
    if (s)
        return s;
    uint64_t accepted = c->at.accepted;
    ss_time bound = first || c->walled ? SS_TIME_MAX : c->at.current - 1;
    s = ss_chain_consider(c, &step, bound, clock, rows, err);
    if (s)
        return s;
    c->descended++;
    c->descending++;
    c->barren = first || c->at.accepted > accepted ? 0 : c->barren + 1;
    return SS_OK;
}

ss_status ss_chain_step(ss_chain *c, const ss_chain_clock *clock, ss_rows *rows, ss_error *err)
{
    assert(ss_chain_end(c) == SS_END_NOT);
    return end_of_walk(c) ? descend(c, clock, rows, err) : walk(c, clock, rows, err);
}

/* ------------------------------------------------------------------------- a proposal is decided */

/* What the operators have; after the try, which may give their configurations more room elsewhere.
 * Room for the list itself was made. */
static void look_at_old(ss_chain *c)
{
    const ss_proposal *p = &c->proposal;
    const ss_strategy *now = ss_scorer_strategy(c->scorer);
    for (uint32_t i = 0; i < p->n; i++)
        c->from[i] = (ss_choice){p->choice[i].op, now->config[p->choice[i].op.i]};
}

/* So that a new best can be kept when it is too late to fail. */
static ss_status make_room_in_best(ss_chain *c, ss_error *err)
{
    const ss_strategy *now = ss_scorer_strategy(c->scorer);
    const char *what = "the best strategy";
    ss_status s = SS_OK;
    for (uint32_t i = 0; i < c->stales && !s; i++) {
        ss_config *best = &c->best->config[c->stale[i]];
        s = SS_RESERVE(best->device, best->cap, now->config[c->stale[i]].parts, what, err);
    }
    for (uint32_t i = 0; i < c->proposal.n && !s; i++) {
        const ss_choice *choice = &c->proposal.choice[i];
        ss_config *best = &c->best->config[choice->op.i];
        s = SS_RESERVE(best->device, best->cap, choice->config.parts, what, err);
    }
    return s;
}

static void note_changes(ss_chain *c)
{
    for (uint32_t i = 0; i < c->proposal.n; i++) {
        uint32_t op = c->proposal.choice[i].op.i;
        if (!c->is_stale[op])
            c->stale[c->stales++] = op;
        c->is_stale[op] = true;
    }
}

/* Where the chain is now is the best; room was made. */
static void keep_best(ss_chain *c)
{
    const ss_strategy *now = ss_scorer_strategy(c->scorer);
    for (uint32_t i = 0; i < c->stales; i++) {
        uint32_t op = c->stale[i];
        (void)ss_config_copy(&now->config[op], &c->best->config[op], NULL);
        c->is_stale[op] = false;
    }
    c->stales = 0;
}

static void count(ss_chain *c, const ss_step *step, bool better)
{
    ss_search_standing *at = &c->at;
    at->steps = step->step;
    at->seconds = step->wall_s;
    at->accepted += step->accepted;
    at->stopped += step->stopped;
    at->infeasible += step->infeasible;
    at->fell_back += step->fell_back;
    at->current = step->current;
    if (step->tasks)
        c->visited_shares += (double)step->visited / step->tasks;
    const ss_score_options *score = &c->options.score;
    if (score->count_changed && score->way != SS_SCORE_FULL && step->tasks && !step->stopped) {
        c->changed_shares += (double)step->changed / step->tasks;
        c->counted++;
    }
    if (!better)
        return;
    at->best = step->best;
    at->best_step = step->step;
    at->best_seconds = step->wall_s;
}

/* What was proposed is where the chain is, or nothing: not asked for again. */
static ss_score score_now(const ss_chain *c)
{
    const ss_score *now = ss_scorer_now(c->scorer);
    return (ss_score){.cost = now->cost, .infeasible = now->infeasible, .tasks = now->tasks};
}

ss_status ss_chain_consider(ss_chain *c, ss_step *step, ss_time bound, const ss_chain_clock *clock,
                            ss_rows *rows, ss_error *err)
{
    const ss_proposal *p = &c->proposal;
    bool moves = p->n && !p->same;
    ss_score score = score_now(c);
    ss_status s = SS_RESERVE(c->from, c->from_cap, p->n, "a proposal", err);
    if (!s && moves)
        s = ss_scorer_try(c->scorer, p->choice, p->n, bound, &score, err);
    if (s)
        return s;
    look_at_old(c);
    bool accepted = p->n && !score.stopped && score.cost <= bound && !is_walled(c, &score);
    bool better = accepted && moves && (c->best_walled || score.cost < c->at.best);
    *step = (ss_step){.step = c->at.steps + 1,
                      .reach = p->reach,
                      .move = p->n ? p->move : SS_MOVES,
                      .op = p->n ? p->choice[0].op.i : 0,
                      .ops = p->n,
                      .from = c->from,
                      .to = p->choice,
                      .proposed = score.cost,
                      .current = accepted ? score.cost : c->at.current,
                      .best = better ? score.cost : c->at.best,
                      .log_hastings = p->log_hastings,
                      .uniform = step->uniform,
                      .accepted = accepted,
                      .stopped = score.stopped,
                      /* of what the bound let through: of what is stopped early nobody knows */
                      .infeasible = score.infeasible && score.cost <= bound,
                      .fell_back = score.fell_back,
                      .tasks = score.tasks,
                      .touched = score.touched,
                      .visited = score.visited,
                      .changed = score.changed,
                      .wall_s = clock->seconds(clock->context)};
    if (better)
        s = make_room_in_best(c, err);
    if (!s && rows)
        s = ss_rows_add(rows, step, err);
    if (!s && moves && accepted) {
        s = ss_scorer_accept(c->scorer, err);
        if (s && rows)
            ss_rows_drop_last(rows);
    }
    if (moves && (s || !accepted))
        ss_scorer_reject(c->scorer);
    if (s)
        return s;

    if (accepted && moves) {
        note_changes(c);
        c->walled = false;
    }
    count(c, step, better);
    if (better) {
        c->best_walled = false;
        keep_best(c);
    }
    return SS_OK;
}

/* ----------------------------------------------------------------------------------- what is told */

double ss_chain_seconds(const ss_chain *c)
{
    return c->at.seconds;
}

void ss_chain_more(ss_chain *c, uint64_t proposals, double seconds)
{
    if (c->options.proposals)
        c->options.proposals += proposals;
    if (c->options.seconds > 0)
        c->options.seconds += seconds;
    c->descending = c->barren = 0;
    c->walk_best = walked(c);
}

void ss_chain_standing(const ss_chain *c, ss_search_standing *out)
{
    *out = c->at;
    out->descended = c->descended;
    out->visited_share = c->at.steps ? c->visited_shares / (double)c->at.steps : 0;
    out->changed_share = c->counted ? c->changed_shares / (double)c->counted : 0;
    out->end = ss_chain_end(c);
    out->fits = !c->best_walled;
}

double ss_chain_share_done(const ss_chain *c)
{
    const ss_search_options *o = &c->options;
    double share = 0;
    if (o->proposals)
        share = (double)walked(c) / (double)o->proposals;
    if (o->seconds > 0 && c->at.seconds / o->seconds > share)
        share = c->at.seconds / o->seconds;
    return share < 1 ? share : 1;
}

const ss_strategy *ss_chain_best(const ss_chain *c)
{
    return c->best;
}
