/* lua_order.c - the option `events`: links and devices that change at given times. */
#include "lua/lua_order.h"

#include <string.h>

#include <lauxlib.h>

#include "base/hash.h"
#include "lua/box.h"
#include "lua/lua_topology.h"
#include "lua/types.h"

enum { PATH = 200, MOST_LINKS = 1 << 20 };

ss_run_options ss_lua_order_start(void)
{
    return ss_lower_options_start().run;
}

/* -- one event -------------------------------------------------------------------------------- */

typedef struct event {
    double at, bandwidth, share, latency, speed;
    int does;
} event;

enum { DOES_CHANGE, DOES_FAIL, DOES_WORK, DOES_PAUSE, DOES_RESUME };

static const ss_opt event_list[] = {
    {.name = "at",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(event, at),
     .preset = SS_OPT_REQUIRED,
     .max = 9e6,
     .unit = SS_UNIT_SECONDS,
     .help = "when, from the start of the step"},
    {.name = "link", .kind = SS_OPT_VALUE, .help = "its number or name, or a node: its links"},
    {.name = "device", .kind = SS_OPT_VALUE, .help = "its number, its name or its node"},
    {.name = "does",
     .kind = SS_OPT_CHOICE,
     .at = offsetof(event, does),
     .choices = "change|fail|work|pause|resume",
     .help = "what"},
    {.name = "bandwidth",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(event, bandwidth),
     .preset = -1,
     .max = 1e18,
     .unit = SS_UNIT_BYTES_PER_SECOND,
     .help = "of a link; as it is unless given"},
    {.name = "share",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(event, share),
     .preset = 1,
     .max = 1000,
     .help = "of the bandwidth it has"},
    {.name = "latency",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(event, latency),
     .preset = -1,
     .max = 1e6,
     .unit = SS_UNIT_SECONDS,
     .help = "of a link; as it is unless given"},
    {.name = "speed",
     .kind = SS_OPT_QUANTITY,
     .at = offsetof(event, speed),
     .preset = -1,
     .max = 1000,
     .help = "of a device, against what its tasks say; as it is unless given"},
    {0},
};

/* Whether the event says what a link has from now on. */
static bool has_figures(lua_State *L, int index)
{
    return ss_lua_is_given(L, index, "bandwidth") || ss_lua_is_given(L, index, "share") ||
           ss_lua_is_given(L, index, "latency");
}

void ss_lua_events_help(ss_text *out)
{
    ss_opts_help(event_list, NULL, out);
}

static ss_change change_of(lua_State *L, int index, const event *e, bool device, const char *path)
{
    static const ss_change_kind links[] = {SS_CHANGE_LINK, SS_CHANGE_LINK_FAILS,
                                           SS_CHANGE_LINK_WORKS};
    static const ss_change_kind devices[] = {SS_CHANGE_SPEED, SS_CHANGE_DEVICE_FAILS, SS_CHANGES,
                                             SS_CHANGE_PAUSE, SS_CHANGE_RESUME};
    ss_change c = {
        .bytes_per_s = e->bandwidth, .share = e->share, .latency_s = e->latency, .speed = e->speed};
    bool of_link = has_figures(L, index);
    if (!device && e->does > DOES_WORK)
        ss_lua_refuse(L,
                      "%s: a link does not pause: does = \"fail\" stops it, and \"work\" ends "
                      "that",
                      path);
    if (device && e->does == DOES_WORK)
        ss_lua_refuse(L, "%s: a device goes on with does = \"resume\"; \"work\" is of links", path);
    c.kind = device ? devices[e->does] : links[e->does];
    if (device ? of_link : e->speed != -1)
        ss_lua_refuse(L, "%s: %s", path,
                      device ? "bandwidth, share and latency are of links" : "speed is of devices");
    if (e->does != DOES_CHANGE && (of_link || e->speed != -1))
        ss_lua_refuse(L, "%s: what fails, pauses or works again has no figures: give two events",
                      path);
    if (e->does == DOES_CHANGE && !of_link && e->speed == -1)
        ss_lua_refuse(L, "%s: %s", path,
                      device ? "say its speed, or that it does \"fail\", \"pause\" or \"resume\""
                             : "say its bandwidth, share or latency, or that it does \"fail\"");
    ss_error err;
    if (ss_time_from_seconds(e->at, path, &c.at, &err))
        ss_lua_raise(L, &err);
    return c;
}

/* The presets say "as it is": what is given must not be below 0. */
static void refuse_below_zero(lua_State *L, int index, const char *path)
{
    static const char *const names[] = {"bandwidth", "latency", "speed"};
    for (int i = 0; i < 3; i++) {
        if (ss_lua_push_option(L, index, names[i]) == LUA_TNUMBER && lua_tonumber(L, -1) < 0)
            ss_lua_refuse(L, "%s: option '%s' is %g; it must be at least 0", path, names[i],
                          lua_tonumber(L, -1));
        lua_pop(L, 1);
    }
}

/* -- a list of them --------------------------------------------------------------------------- */

void ss_lua_change_as_topology(lua_State *L, const ss_topology *t, bool ideal, const char *path,
                               ss_change *c)
{
    const ss_link_law *law = ideal ? NULL : t->link[c->who].def.law;
    c->load = law ? law->load : 0;
    if (c->kind == SS_CHANGE_LINK && c->latency_s >= 0 && law && law->steps)
        ss_lua_refuse(L,
                      "%s: link %s has a latency by size (latency_by_size), which does not change "
                      "while a step is "
                      "under way",
                      path, t->link[c->who].name);
}

/* The changes of one event: of a link, of all links of a node, of a device; n counts on. */
static void read_event(lua_State *L, int index, int topology, bool ideal, const char *path,
                       ss_change *out, uint32_t *n)
{
    const ss_topology *t = ((ss_lua_box *)lua_touserdata(L, topology))->object;
    event e;
    refuse_below_zero(L, index, path);
    ss_lua_opts(L, index, event_list, path, &e);
    ss_lua_refuse_plain_bandwidth(L, index, "bandwidth", path);
    bool device = ss_lua_is_given(L, index, "device");
    if (device == ss_lua_is_given(L, index, "link"))
        ss_lua_refuse(L, "%s: %s", path,
                      device ? "give a link or a device, and another event for the other"
                             : "nothing says which link or device");
    char who[PATH];
    ss_lua_name(who, sizeof who, "%s: option '%s'", path, device ? "device" : "link");
    ss_lua_push_option(L, index, device ? "device" : "link");
    if (device) {
        uint32_t meant = ss_lua_device(L, lua_gettop(L), topology, who).i;
        lua_pop(L, 1);
        ss_change c = change_of(L, index, &e, true, path);
        c.who = meant;
        if (out)
            out[*n] = c;
        ++*n;
        return;
    }
    ss_lua_part p = ss_lua_part_read(L, lua_gettop(L), topology, who);
    lua_pop(L, 1);
    ss_change c = change_of(L, index, &e, false, path);
    for (c.who = 1; c.who <= t->links; c.who++) {
        if (!ss_lua_part_has(t, p, c.who))
            continue;
        ss_lua_change_as_topology(L, t, ideal, path, &c);
        if (out)
            out[*n] = c;
        ++*n;
    }
}

static uint32_t read_all(lua_State *L, int list, int topology, bool ideal, const char *what,
                         ss_change *out)
{
    uint32_t n = 0;
    for (lua_Unsigned i = 1; i <= lua_rawlen(L, list); i++) {
        char path[PATH];
        ss_lua_name(path, sizeof path, "%s: event %d", what, (int)i);
        lua_rawgeti(L, list, (lua_Integer)i);
        if (!lua_istable(L, -1))
            ss_lua_refuse(L,
                          "%s should be a table such as { at = \"1 ms\", link = \"a->b\", does = "
                          "\"fail\" }, not %s",
                          path, ss_lua_kind_of(L, -1));
        read_event(L, lua_gettop(L), topology, ideal, path, out, &n);
        lua_pop(L, 1);
    }
    return n;
}

void ss_lua_read_events(lua_State *L, int index, int topology, bool ideal, const char *what,
                        ss_run_options *o)
{
    if (ss_lua_push_option(L, index, "events") == LUA_TNIL)
        return;
    int list = lua_gettop(L);
    if (!lua_istable(L, list))
        ss_lua_refuse(L, "%s: option 'events' should be a list of tables, not %s", what,
                      ss_lua_kind_of(L, list));
    char path[PATH];
    ss_lua_name(path, sizeof path, "%s: option 'events', { { at = ..., link = ... } },", what);
    ss_lua_list(L, list, path);
    uint32_t n = read_all(L, list, topology, ideal, what, NULL);
    ss_change *change = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *change, 0);
    o->changes = read_all(L, list, topology, ideal, what, change);
    o->change = change;
}

/* -- as a text -------------------------------------------------------------------------------- */

static uint64_t hash_of(const ss_run_options *o)
{
    uint64_t h = SS_HASH_START;
    for (uint32_t i = 0; i < o->changes; i++) {
        const ss_change *c = &o->change[i];
        const double figure[] = {c->bytes_per_s, c->share, c->latency_s, c->speed, c->load};
        h = ss_hash_u64(ss_hash_u64(ss_hash_u64(h, (uint64_t)c->at), c->kind), c->who);
        for (int k = 0; k < 5; k++) {
            uint64_t bits;
            memcpy(&bits, &figure[k], sizeof bits);
            h = ss_hash_u64(h, bits);
        }
    }
    return h;
}

void ss_lua_write_events(const ss_run_options *o, const ss_topology *t, ss_text *out)
{
    enum { SOME = 20 };
    if (!o->changes) {
        ss_text_add(out, "none");
        return;
    }
    for (uint32_t i = 0; i < o->changes && i < SOME; i++) {
        ss_text_add(out, i ? ", " : "");
        ss_change_say(&o->change[i], t, out);
    }
    if (o->changes > SOME)
        ss_text_add(out, " and %u more", o->changes - SOME);
    ss_text_add(out, " (hash %016llx)", (unsigned long long)hash_of(o));
}
