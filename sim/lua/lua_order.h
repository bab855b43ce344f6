/* lua_order.h - in which order tasks are taken and what happens on the way, as options: of problems, which
 * keep them for every simulation, and of single runs. */
#ifndef SS_LUA_ORDER_H
#define SS_LUA_ORDER_H

#include <lua.h>

#include "graph/order.h"
#include "graph/topology.h"
#include "lua/opts.h"

/* The rows of an option list; `member` is the ss_run_options in `type`, which has the presets. */
#define SS_LUA_ORDER_OPTIONS(type, member)                                                         \
    {.name = "order",                                                                              \
     .kind = SS_OPT_CHOICE,                                                                        \
     .at = offsetof(type, member.order),                                                           \
     .preset = SS_OPT_KEEP,                                                                        \
     .choices = "fifo|program|priority|shortest",                                                  \
     .help = "which of the waiting tasks a device or link takes next"},                            \
        {.name = "streams",                                                                        \
         .kind = SS_OPT_COUNT,                                                                     \
         .at = offsetof(type, member.streams),                                                     \
         .preset = SS_OPT_KEEP,                                                                    \
         .min = 1,                                                                                 \
         .max = 1 << 20,                                                                           \
         .help = "tasks that a device runs at once, each at full speed"},                          \
        {.name = "copies_block",                                                                   \
         .kind = SS_OPT_FLAG,                                                                      \
         .at = offsetof(type, member.copies_block),                                                \
         .preset = SS_OPT_KEEP,                                                                    \
         .help = "a transfer takes a stream of the devices at its ends"},                          \
        {.name = "blocked_end",                                                                    \
         .kind = SS_OPT_CHOICE,                                                                    \
         .at = offsetof(type, member.blocked_end),                                                 \
         .preset = SS_OPT_KEEP,                                                                    \
         .choices = "both|sender|receiver",                                                        \
         .help = "which of them, where copies block: who does the copying"},                       \
    {                                                                                              \
        .name = "slowed_by_copies", .kind = SS_OPT_QUANTITY,                                       \
        .at = offsetof(type, member.slowed_by_copies), .preset = SS_OPT_KEEP, .min = 0.001,        \
        .max = 1, .help = "speed of what a device computes while a transfer leaves or reaches it"  \
    }

#define SS_LUA_EVENTS_OPTION                                                                       \
    {                                                                                              \
        .name = "events", .kind = SS_OPT_VALUE,                                                    \
        .help = "{ { at =, link = or device =, ... }, ... }: what happens on the way"              \
    }

ss_run_options ss_lua_order_start(void); /* the published rule */

/* The option `events` of the table at `index`, in Lua's memory, on the stack; sets change and changes.
 * `topology`: its box's index; ideal: what its links fall short of is left aside.  Not given: leaves what
 * is there. */
void ss_lua_read_events(lua_State *L, int index, int topology, bool ideal, const char *what,
                        ss_run_options *o);

/* A change of link c->who as one of the topology's, whose load stays; raises where a latency is given and the
 * link has one by size. */
void ss_lua_change_as_topology(lua_State *L, const ss_topology *t, bool ideal, const char *path,
                               ss_change *c);

/* "none", or what happens, one after the other. */
void ss_lua_write_events(const ss_run_options *o, const ss_topology *t, ss_text *out);

#endif
