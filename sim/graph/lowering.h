/* lowering.h - what the files of the lowering share; for lower*.c and live*.c alone.
 *
 *   lower.c         the order of work: operators forward, then backward; options
 *   lower_pieces.c  what each part of an operator needs of the parts before it: boxes that intersect
 *   lower_cover.c   how much boxes that overlap cover
 *   lower_comm.c    pieces become edges or messages, in both directions; partial sums
 *   lower_shards.c  which device holds which box of which weight
 *   lower_sync.c    how the gradients of a weight meet, and its update
 *   lower_meet.c    the all-reduces among these ways
 *   lower_memory.c  what is held in memory, from when until when
 *
 * A feed is one input of one operator that another operator makes.  A piece is what one part of the
 * first gives to one part of the second through a feed: the intersection of the box that the one
 * makes and the box that the other needs.  The gradient goes the same way back.
 */
#ifndef SS_LOWERING_H
#define SS_LOWERING_H

#include "graph/collective_choose.h"
#include "graph/lower.h"
#include "graph/luck.h"

typedef struct ss_feed {
    ss_op from, to;
    uint32_t slot, input;   /* output of `from`, input of `to`; from 0 */
    uint32_t first, pieces; /* rows of piece, by part of `to`, then part of `from` */
    int64_t element_bytes;
} ss_feed;

typedef struct ss_piece {
    uint32_t from, to; /* parts, from 0 */
    int64_t bytes;
    uint32_t forward, backward; /* rows of sent; 0: same device, or no such message; forward on one device: the
                                 * gather that puts it where it is read */
    uint32_t lead, next;        /* pieces that travel together: the first of them; the next, or 0 */
} ss_piece;

typedef struct ss_sent {        /* one message */
    uint32_t first;             /* its first task; as many for its first hop as are in arrivals */
    uint32_t arrival, arrivals; /* its last tasks */
    int64_t bytes;
} ss_sent;

/* What is known of the devices of the shard that met last. */
typedef struct ss_lower_meeting {
    uint32_t first_device, devices; /* whose it is: rows of shard_device; devices 0: nobody's */
    bool has_tree, has_links;
    ss_algorithm algorithm; /* whose links these are */
    uint32_t where;         /* the set of them */
    double slowest;         /* the least bandwidth of one */
    ss_price price;         /* of 2^40 bytes in so many chunks */
    uint32_t chunks;        /* 0: not known */
    ss_wire wire[2]; /* of its messages; [1]: across machines, of those that tell them apart */
} ss_lower_meeting;

/* Working memory, kept from one lowering to the next. */
struct ss_lower_scratch {
    ss_luck luck;
    double *bytes_per_s, *latency_s; /* by link */
    const ss_link_law **law;         /* by link */
    uint32_t *leg;                   /* of the route at hand */
    uint32_t leg_cap;
    uint32_t link_cap;

    /* by operator, [ops + 2] */
    bool *needs;               /* a gradient has to reach it: it or one before it has weights */
    uint32_t *first_feed;      /* rows of feed, by operator that reads */
    uint32_t *first_use, *use; /* the same feeds by operator that is read: rows of use hold feeds */
    uint32_t op_cap, use_cap;

    ss_feed *feed; /* rows from 1 */
    uint32_t feeds, feed_cap;
    ss_piece *piece; /* rows from 1 */
    uint32_t pieces, piece_cap;
    uint32_t *by_from; /* the pieces of a feed by part of `from`, then part of `to`; same rows */
    uint32_t by_from_cap;
    ss_sent *sent; /* rows from 1 */
    uint32_t sents, sent_cap;

    ss_box *box; /* of output 0, by part of the operator boxes_of */
    uint32_t box_cap, boxes_of;
    ss_box *made; /* by part, of an output that is no regular grid */
    uint32_t made_cap;
    uint32_t *first_range; /* by operator, into range; see ss_lower_range */
    uint32_t first_range_cap;
    int64_t *range;
    uint32_t ranges, range_cap;
    int64_t *made_range; /* the same of one other output */
    uint32_t made_range_cap;
    uint32_t *count; /* of a counting sort */
    uint32_t count_cap;
    uint32_t *cursor; /* one for each use of an operator */
    uint32_t cursor_cap;
    ss_task *before; /* of one message */
    uint32_t before_cap;

    /* by device, [devices + 1]: a stamp says for which group the other rows were written */
    uint32_t *stamp, *at_device;
    uint32_t device_cap, stamps;

    /* boxes that may overlap, and the cells between all their borders */
    ss_box *cover;
    uint32_t *cover_group;
    bool *cover_copied; /* whether an element of no other group is copied nonetheless */
    uint32_t covers, cover_cap;
    int64_t *border;
    uint32_t border_cap;
    uint32_t *cell_group, *cell_count;
    bool *cell_copied;
    uint32_t cell_cap;
    uint32_t *sum; /* by part: the task that adds up its gradients, or 0 */
    uint32_t sum_cap;
    double *to_add; /* by part: bytes read and written for that */
    uint32_t to_add_cap;

    /* weights: who uses each, [weights + 2] and rows; a shard's contributions by row of
     * shard_device */
    uint32_t *first_user;
    uint32_t user_first_cap;
    uint32_t *first_shard, *shards_of; /* by weight: rows of out->shard, and how many */
    uint32_t weight_cap;
    struct ss_user *user;
    uint32_t user_cap;
    struct ss_give *give; /* of one weight, before they are sorted */
    uint32_t gives, give_cap;
    uint32_t *give_order;
    uint32_t give_order_cap;
    uint64_t *mark; /* a bit for each device */
    uint32_t mark_cap;
    uint32_t *first_from, *from; /* rows of shard_device + 1 -> tasks whose gradients it sums */
    uint32_t first_from_cap, froms, from_cap;

    /* meeting: by row of shard_device */
    uint32_t *first_wait, *wait; /* tasks that an update waits for besides its own gradients */
    uint32_t first_wait_cap, waits, wait_cap;
    bool *own; /* whether an update waits for its own gradients */
    uint32_t own_cap;
    uint32_t *update; /* task, or 0 */
    uint32_t update_cap;
    ss_task *barrier; /* by device, [devices + 1]; 0: the one of all */
    uint32_t barrier_cap;
    uint32_t *arrived; /* by message of a collective: rows of sent */
    uint32_t arrived_cap;
    bool *member_added; /* by member of a collective: whether it has sent its gradient on */
    uint32_t *member_told, *machine;
    uint32_t member_cap;
    uint32_t *told_next; /* by message: the next one that a member's result is made of */
    uint32_t told_next_cap;
    ss_reduction_tree tree; /* of the switches between the members */
    double *no_limit;
    uint32_t no_limit_cap;
    uint32_t *of_machine; /* its first member in the shard at hand, if that lies in it */
    uint32_t of_machine_cap;
    ss_lower_meeting meeting;
    ss_pricer *pricer;  /* NULL until one is asked */
    uint32_t *resource; /* of a set */
    uint32_t resource_cap;
    ss_messages messages;
};

/* One lowering under way. */
typedef struct ss_lowering {
    const ss_model *model;
    const ss_topology *topology;
    ss_routes *routes;
    const ss_strategy *strategy;
    const ss_timer *timer;
    ss_lower_options options;
    ss_lowered *out;
    ss_tasks *tasks; /* &out->tasks */
    struct ss_lower_scratch *s;
    bool every_barrier; /* also for devices without tasks, so that barriers stay (live.h) */
} ss_lowering;

static inline const ss_config *ss_lowering_config(const ss_lowering *w, ss_op op)
{
    return &w->strategy->config[op.i];
}

/* Looks up (base/watch.h), before operator or shard `done` of `whole`. */
static inline ss_status ss_lowering_look_up(const ss_lowering *w, const char *what, uint32_t done,
                                            uint32_t whole, ss_error *err)
{
    return ss_look_up(w->out->watch, what, done, whole, err);
}

/* lower_pieces.c */

/* Where the parts begin and end along each dimension of output 0: of all operators, in order; of
 * one, written behind those of the others. */
ss_status ss_lower_ranges(ss_lowering *w, ss_error *err);
ss_status ss_lower_range_of(ss_lowering *w, ss_op op, ss_error *err);
/* Of one dimension: the beginnings of its `degree` parts, then their ends. */
const int64_t *ss_lower_range(const ss_lowering *w, ss_op op, uint32_t d);
/* The boxes of output 0 of all parts of an operator, in w->s->box. */
ss_status ss_lower_boxes(ss_lowering *w, ss_op op, ss_error *err);
/* Lists the feeds of the model, by reader and by who is read. */
ss_status ss_lower_feeds(ss_lowering *w, ss_error *err);
/* The pieces of a feed, written behind those of the others. */
ss_status ss_lower_pieces(ss_lowering *w, uint32_t feed, ss_error *err);
/* The box of one piece, in the tensor that it is a piece of. */
void ss_lower_piece_box(const ss_model *m, const ss_strategy *s, const ss_feed *f,
                        const ss_piece *p, ss_box *out);

/* lower_cover.c */

/* Of s->cover, 0 .. covers-1, boxes of one tensor, groups one after the other: how many elements
 * lie in any of them; how many are read and written to add up those that lie in several groups,
 * n + 1 for an element in n > 1; and how many to copy those that lie in one that is copied, 2 each. */
ss_status ss_lower_cover(struct ss_lower_scratch *s, int64_t *covered, double *added,
                         double *copied, ss_error *err);

/* lower_comm.c */

/* A task that reads and writes so many bytes in a device's memory. */
ss_status ss_lower_add_stream(ss_lowering *w, ss_stream what, double bytes, ss_device device,
                              const ss_task_label *label, ss_task *out, ss_error *err);

/* A message between two devices.  *sent is its row. */
ss_status ss_lower_send(ss_lowering *w, ss_device from, ss_device to, int64_t bytes,
                        const ss_task_label *label, const ss_task *before, uint32_t befores,
                        uint32_t *sent, ss_error *err);
/* The same over one link, between nodes of which one is a switch; from and to are those of the label. */
ss_status ss_lower_send_over_link(ss_lowering *w, ss_link link, int64_t bytes,
                                  const ss_task_label *label, const ss_task *before,
                                  uint32_t befores, uint32_t *sent, ss_error *err);
/* The task added last waits for all of a message. */
ss_status ss_lower_after_sent(ss_lowering *w, uint32_t sent, ss_error *err);

/* The pieces of a feed and the messages that carry them; the messages that bring their gradients
 * back, for a feed that carries one to an operator that needs it. */
ss_status ss_lower_feed_forward(ss_lowering *w, uint32_t feed, ss_error *err);
ss_status ss_lower_feed_backward(ss_lowering *w, uint32_t feed, ss_error *err);
/* Whether a gradient goes back through a feed, seen from an operator that it has to reach. */
bool ss_lower_carries_gradient(const ss_lowering *w, const ss_feed *f);

/* One by one, what a part waits for.  Parts must be asked for in ascending order, after
 * ss_lower_rewind. */
void ss_lower_rewind(ss_lowering *w, ss_op op, bool backward);
ss_status ss_lower_after_inputs(ss_lowering *w, ss_op op, uint32_t part, ss_error *err);
ss_status ss_lower_after_gradients(ss_lowering *w, ss_op op, uint32_t part, ss_error *err);
/* Tasks that add up the gradients that parts of an operator get from several sides, and put them together. */
ss_status ss_lower_partial_sums(ss_lowering *w, ss_op op, ss_error *err);

/* lower_shards.c: who uses which weight; then, weight by weight, its rows of out->shard and
 * out->shard_device and, when training, of s->from. */
ss_status ss_lower_weights(ss_lowering *w, ss_error *err);
ss_status ss_lower_shards_of(ss_lowering *w, ss_weight weight, ss_error *err);

/* lower_sync.c: barriers; then, weight by weight, the meeting of its gradients, its update, and the
 * new weights on their way back.  s->waits is 0 before the first weight. */
bool ss_lower_has_barriers(const ss_lowering *w);
/* For lower_meet.c.  Rows are of shard_device.  What a device's own gradient waits for, into s->before; the task
 * added last waits for it; the update of the row at hand waits for a task, or for a message. */
ss_status ss_lower_own_sources(ss_lowering *w, uint32_t row, uint32_t *n, ss_error *err);
ss_status ss_lower_after_own(ss_lowering *w, uint32_t row, ss_error *err);
ss_status ss_lower_wait_for(struct ss_lower_scratch *s, uint32_t task, ss_error *err);
ss_status ss_lower_wait_for_sent(struct ss_lower_scratch *s, uint32_t sent, ss_error *err);
ss_task_label ss_lower_weight_label(const ss_lowering *w, uint32_t shard, ss_task_kind kind,
                                    ss_cargo cargo);

/* lower_meet.c: the meeting of one shard, as messages, as one task, or as the 2018 simulator charges it. */
ss_status ss_lower_meet_by_messages(ss_lowering *w, uint32_t shard, ss_error *err);
ss_status ss_lower_meet_as_one_task(ss_lowering *w, uint32_t shard, ss_error *err);
ss_status ss_lower_charge_in_closed_form(ss_lowering *w, uint32_t shard, ss_error *err);

ss_status ss_lower_barriers(ss_lowering *w, ss_error *err);
ss_status ss_lower_meet(ss_lowering *w, ss_weight weight, ss_error *err);
ss_status ss_lower_update(ss_lowering *w, ss_weight weight, ss_error *err);
ss_status ss_lower_send_back(ss_lowering *w, ss_weight weight, ss_error *err);

/* lower.c: checks what is given, empties `out`, sets up *w; then the parts of an operator, after
 * the messages to them (and, backward, the sums). */
ss_status ss_lower_start(const ss_model *m, const ss_topology *t, ss_routes *r,
                         const ss_strategy *s, const ss_timer *timer,
                         const ss_lower_options *options, ss_lowered *out, ss_lowering *w,
                         ss_error *err);
/* Without a model; and gives working memory back, so that no more can be added. */
ss_status ss_lower_start_bare(const ss_topology *t, ss_routes *r, const ss_lower_options *options,
                              ss_lowered *out, ss_lowering *w, ss_error *err);
void ss_lower_forget(ss_lowered *l);
ss_status ss_lower_forward_parts(ss_lowering *w, ss_op op, ss_error *err);
ss_status ss_lower_backward_parts(ss_lowering *w, ss_op op, ss_error *err);
/* Adds the holds of the same parts, in all phases, to those of their devices. */
ss_status ss_lower_add_times(ss_lowering *w, ss_op op, uint64_t *by_device, ss_error *err);

static inline bool ss_lower_has_backward(const ss_lowering *w, ss_op op)
{
    return w->options.training && !w->options.lumped && w->s->needs[op.i];
}

#endif
