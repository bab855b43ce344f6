#include "graph/topology_inside.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

/* What no machine has: beyond these a number is a slip of the unit. */
static const double most_flop_per_s = 1e21, most_bytes_per_s = 1e18, most_bytes = 1e18,
                    longest_latency_s = 1e6, least_speed = 1e-6, most_speed = 1e6;

ss_status ss_topology_new(const char *name, ss_topology **out, ss_error *err)
{
    if (!name || !*name)
        return ss_fail(err, SS_EINVAL, "a topology needs a name");
    if (strlen(name) > SS_MAX_NAME)
        return ss_fail(err, SS_EINVAL,
                       "topology %.40s...: a name has at most %d bytes, this one has %zu", name,
                       SS_MAX_NAME, strlen(name));
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return ss_fail(err, SS_EINVAL, "a topology: its name has the control character %d", *c);
    ss_topology *t = ss_alloc_zeroed(1, sizeof *t);
    char *copy = ss_strdup(name);
    if (!t || !copy) {
        ss_free(t);
        ss_free(copy);
        return ss_fail_memory(err, "a topology", sizeof *t + strlen(name));
    }
    t->name = copy;
    *out = t;
    return SS_OK;
}

void ss_topology_free(ss_topology *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->givens; i++)
        ss_free(t->given[i].link);
    ss_free(t->given);
    for (uint32_t i = 0; i < t->laws; i++)
        ss_link_law_free(t->law[i]);
    ss_free(t->law);
    ss_free(t->node);
    ss_free(t->device);
    ss_free(t->link);
    ss_names_free(&t->names);
    ss_names_free(&t->link_names);
    ss_names_free(&t->kinds);
    ss_pairs_free(&t->given_of);
    ss_free(t->name);
    ss_free(t);
}

static bool has_node(const ss_topology *t, ss_node n)
{
    return n.i >= 1 && n.i <= t->nodes;
}

static bool has_device(const ss_topology *t, ss_device d)
{
    return d.i >= 1 && d.i <= t->devices;
}

static const char *node_name(const ss_topology *t, ss_node n)
{
    return t->node[n.i].name;
}

static ss_status refuse_node_name(const ss_topology *t, const char *what, const char *name,
                                  ss_error *err)
{
    if (!name || !*name)
        return ss_fail(err, SS_EINVAL, "a %s of topology %s needs a name", what, t->name);
    if (strlen(name) > SS_MAX_NAME)
        return ss_fail(err, SS_EINVAL, "%s %.40s...: a name has at most %d bytes, this one has %zu",
                       what, name, SS_MAX_NAME, strlen(name));
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return ss_fail(err, SS_EINVAL,
                           "a %s of topology %s: its name has the control character %d", what,
                           t->name, *c);
    uint32_t old = ss_names_find(&t->names, name);
    if (old)
        return ss_fail(err, SS_EINVAL, "%s %s: topology %s has a %s of that name already", what,
                       name, t->name, t->node[old].device.i ? "device" : "switch");
    return SS_OK;
}

/* A quantity of a device: 0 (not known, not offered) up to `most`. */
static ss_status refuse_figure(const char *device, const char *what, double value, double most,
                               ss_unit unit, ss_error *err)
{
    char limit[SS_QUANTITY_TEXT], given[SS_QUANTITY_TEXT];
    if (value >= 0 && value <= most)
        return SS_OK;
    return ss_fail(err, SS_EINVAL, "device %s: %s is %s; it must be between 0 and %s", device, what,
                   ss_format_quantity(value, unit, given, sizeof given),
                   ss_format_quantity(most, unit, limit, sizeof limit));
}

static ss_status refuse_device(const char *name, const ss_device_def *def, ss_error *err)
{
    for (uint32_t k = 0; k < SS_DTYPES; k++) {
        char what[40];
        snprintf(what, sizeof what, "peak for %s", ss_dtype_name((ss_dtype)k));
        ss_status s = refuse_figure(name, what, def->flop_per_s[k], most_flop_per_s,
                                    SS_UNIT_FLOP_PER_SECOND, err);
        if (s)
            return s;
    }
    ss_status s = refuse_figure(name, "memory bandwidth", def->memory_bytes_per_s, most_bytes_per_s,
                                SS_UNIT_BYTES_PER_SECOND, err);
    if (!s)
        s = refuse_figure(name, "memory", def->memory_bytes, most_bytes, SS_UNIT_BYTES, err);
    if (s)
        return s;
    if (!(def->speed >= least_speed && def->speed <= most_speed))
        return ss_fail(err, SS_EINVAL,
                       "device %s: speed is %g; 1 is as its kind, 0.5 takes twice as long, and it "
                       "must be between %g and %g",
                       name, def->speed, least_speed, most_speed);
    if (def->machine > SS_MAX_MACHINE)
        return ss_fail(err, SS_EINVAL, "device %s: machine number %u is above %d", name,
                       def->machine, SS_MAX_MACHINE);
    return SS_OK;
}

/* Row 0 names nothing and reads as zeros. */
static ss_status reserve_nodes(ss_topology *t, ss_error *err)
{
    bool first = !t->node_cap;
    ss_status s = SS_RESERVE(t->node, t->node_cap, (size_t)t->nodes + 2, "nodes", err);
    if (!s && first)
        t->node[0] = (ss_node_row){.name = ""};
    return s;
}

static ss_status reserve_devices(ss_topology *t, ss_error *err)
{
    bool first = !t->device_cap;
    if (t->devices >= SS_MAX_DEVICES)
        return ss_fail(err, SS_ERANGE, "topology %s would have more than %d devices", t->name,
                       SS_MAX_DEVICES);
    ss_status s = SS_RESERVE(t->device, t->device_cap, (size_t)t->devices + 2, "devices", err);
    if (!s && first)
        t->device[0] = (ss_device_row){.def = {.kind = ""}};
    return s;
}

static ss_status reserve_links(ss_topology *t, ss_error *err)
{
    bool first = !t->link_cap;
    if (t->links >= SS_MAX_LINKS)
        return ss_fail(err, SS_ERANGE, "topology %s would have more than %d links", t->name,
                       SS_MAX_LINKS);
    ss_status s = SS_RESERVE(t->link, t->link_cap, (size_t)t->links + 2, "links", err);
    if (!s && first)
        t->link[0] = (ss_link_row){.name = "", .def = {.kind = ""}};
    return s;
}

/* The topology's own copy of a kind's name. */
static ss_status keep_kind(ss_topology *t, const char *kind, const char *otherwise,
                           const char **out, ss_error *err)
{
    uint32_t id;
    ss_status s = ss_names_add(&t->kinds, kind && *kind ? kind : otherwise, &id, err);
    if (!s)
        *out = ss_names_text(&t->kinds, id);
    return s;
}

ss_status ss_topology_add_device(ss_topology *t, const char *name, const ss_device_def *def,
                                 ss_device *out, ss_error *err)
{
    const char *kind = NULL;
    uint32_t node;
    ss_status s = refuse_node_name(t, "device", name, err);
    if (!s)
        s = refuse_device(name, def, err);
    if (!s)
        s = reserve_nodes(t, err);
    if (!s)
        s = reserve_devices(t, err);
    if (!s)
        s = keep_kind(t, def->kind, "device", &kind, err);
    if (!s)
        s = ss_names_add(&t->names, name, &node, err);
    if (s)
        return s;

    t->nodes++; /* nothing below can fail */
    ss_device d = {++t->devices};
    t->changes++;
    t->node[node] = (ss_node_row){
        .name = ss_names_text(&t->names, node), .device = d, .forwards = def->forwards};
    t->device[d.i] = (ss_device_row){{node}, *def};
    t->device[d.i].def.kind = kind;
    if (def->machine > t->machines)
        t->machines = def->machine;
    *out = d;
    return SS_OK;
}

ss_status ss_topology_add_switch(ss_topology *t, const char *name, ss_node *out, ss_error *err)
{
    uint32_t node;
    ss_status s = refuse_node_name(t, "switch", name, err);
    if (!s && t->nodes - t->devices >= SS_MAX_SWITCHES)
        s = ss_fail(err, SS_ERANGE, "topology %s would have more than %d switches", t->name,
                    SS_MAX_SWITCHES);
    if (!s)
        s = reserve_nodes(t, err);
    if (!s)
        s = ss_names_add(&t->names, name, &node, err);
    if (s)
        return s;

    t->nodes++;
    t->changes++;
    t->node[node] = (ss_node_row){.name = ss_names_text(&t->names, node), .forwards = true};
    out->i = node;
    return SS_OK;
}

static ss_status refuse_ends_of_link(const ss_topology *t, ss_node from, ss_node to, ss_error *err)
{
    if (!has_node(t, from) || !has_node(t, to)) {
        uint32_t missing = has_node(t, from) ? to.i : from.i;
        if (!t->nodes)
            return ss_fail(err, SS_EINVAL, "a link with node %u: topology %s has no nodes yet",
                           missing, t->name);
        return ss_fail(err, SS_EINVAL, "a link with node %u: topology %s has %u node%s", missing,
                       t->name, t->nodes, ss_plural(t->nodes));
    }
    if (from.i == to.i)
        return ss_fail(err, SS_EINVAL, "link %s -> %s: it leads back to where it begins",
                       node_name(t, from), node_name(t, to));
    return SS_OK;
}

ss_status ss_topology_refuse_figures(const ss_topology *t, ss_node from, ss_node to,
                                     const ss_link_def *def, ss_error *err)
{
    const char *a = node_name(t, from), *b = node_name(t, to);
    if (!(def->bytes_per_s > 0 && def->bytes_per_s <= most_bytes_per_s)) {
        char limit[SS_QUANTITY_TEXT], given[SS_QUANTITY_TEXT];
        return ss_fail(
            err, SS_EINVAL, "link %s -> %s: bandwidth is %s; it must be above 0 and at most %s", a,
            b, ss_format_quantity(def->bytes_per_s, SS_UNIT_BYTES_PER_SECOND, given, sizeof given),
            ss_format_quantity(most_bytes_per_s, SS_UNIT_BYTES_PER_SECOND, limit, sizeof limit));
    }
    if (!(def->latency_s >= 0 && def->latency_s <= longest_latency_s))
        return ss_fail(err, SS_EINVAL,
                       "link %s -> %s: latency is %g seconds; it must be between 0 and %g", a, b,
                       def->latency_s, longest_latency_s);
    if (def->law && ss_link_law_check(def->law, err))
        return ss_fail_in(err, "link %s -> %s", a, b);
    return SS_OK;
}

static ss_status refuse_link(const ss_topology *t, ss_node from, ss_node to, const ss_link_def *def,
                             ss_error *err)
{
    ss_status s = refuse_ends_of_link(t, from, to, err);
    return s ? s : ss_topology_refuse_figures(t, from, to, def, err);
}

/* "a->b", and "a->b#2" for the second link that joins the same two in the same way. */
static ss_status keep_link_name(ss_topology *t, ss_node from, ss_node to, bool half_duplex,
                                const char **out, ss_error *err)
{
    ss_text name = {0};
    uint32_t id = 0;
    const char *arrow = half_duplex ? "--" : "->";
    ss_text_add(&name, "%s%s%s", node_name(t, from), arrow, node_name(t, to));
    for (unsigned n = 2; !name.failed && ss_names_find(&t->link_names, ss_text_get(&name)); n++) {
        ss_text_clear(&name);
        ss_text_add(&name, "%s%s%s#%u", node_name(t, from), arrow, node_name(t, to), n);
    }
    ss_status s = ss_text_status(&name, err);
    if (!s)
        s = ss_names_add(&t->link_names, ss_text_get(&name), &id, err);
    if (!s)
        *out = ss_names_text(&t->link_names, id);
    ss_text_free(&name);
    return s;
}

enum { LOOKED_AT = 16 }; /* links that are made one after the other often have the same law */

ss_status ss_topology_keep_law(ss_topology *t, const ss_link_law *law, const ss_link_law **out,
                               ss_error *err)
{
    *out = NULL;
    if (ss_link_law_is_none(law))
        return SS_OK;
    for (uint32_t i = t->laws; i-- > 0 && t->laws - i <= LOOKED_AT && !*out;)
        if (t->law[i] == law || ss_link_law_same(t->law[i], law))
            *out = t->law[i];
    if (*out)
        return SS_OK;
    ss_link_law *copy = NULL;
    ss_status s = SS_RESERVE(t->law, t->law_cap, (size_t)t->laws + 1, "laws of links", err);
    if (!s)
        s = ss_link_law_copy(law, &copy, err);
    if (!s)
        *out = t->law[t->laws++] = copy;
    return s;
}

ss_status ss_topology_add_link(ss_topology *t, ss_node from, ss_node to, const ss_link_def *def,
                               ss_link *out, ss_error *err)
{
    const char *kind = NULL, *name = NULL;
    const ss_link_law *law = NULL;
    ss_status s = refuse_link(t, from, to, def, err);
    if (!s)
        s = reserve_links(t, err);
    if (!s)
        s = ss_topology_keep_law(t, def->law, &law, err);
    if (!s)
        s = keep_kind(t, def->kind, "link", &kind, err);
    if (!s)
        s = keep_link_name(t, from, to, def->half_duplex, &name, err);
    if (s)
        return s;

    ss_link_row *row = &t->link[++t->links];
    t->changes++;
    *row = (ss_link_row){.name = name, .from = from, .to = to, .def = *def};
    row->def.kind = kind;
    row->def.law = law;
    row->def.latency_s += 0.0; /* -0 becomes 0, so that equal topologies have equal bytes */
    if (!row->def.weight)
        row->def.weight = 1;
    out->i = t->links;
    return SS_OK;
}

ss_node ss_topology_across(const ss_topology *t, ss_link link, ss_node at)
{
    const ss_link_row *l = &t->link[link.i];
    if (l->from.i == at.i)
        return l->to;
    if (l->def.half_duplex && l->to.i == at.i)
        return l->from;
    return (ss_node){0};
}

uint32_t ss_topology_legs(const ss_topology *t, ss_node from, const ss_link *link, uint32_t links,
                          uint32_t *leg)
{
    ss_node at = from;
    uint32_t legs = 0;
    for (uint32_t i = 0; i < links; i++) {
        at = ss_topology_across(t, link[i], at);
        if (i + 1 == links || t->node[at.i].stages)
            leg[legs++] = i + 1;
    }
    return legs;
}

const ss_given_route *ss_topology_given_route(const ss_topology *t, ss_device from, ss_device to)
{
    uint32_t row = ss_pairs_find(&t->given_of, from.i, to.i);
    return row ? &t->given[row - 1] : NULL;
}

static ss_status refuse_ends(const ss_topology *t, ss_device from, ss_device to, uint32_t links,
                             ss_error *err)
{
    if (!has_device(t, from) || !has_device(t, to))
        return ss_fail(err, SS_EINVAL, "a route with device %u: topology %s has %u device%s",
                       has_device(t, from) ? to.i : from.i, t->name, t->devices,
                       ss_plural(t->devices));
    const char *a = ss_topology_device_name(t, from), *b = ss_topology_device_name(t, to);
    if (from.i == to.i)
        return ss_fail(err, SS_EINVAL, "route %s -> %s: a device reaches itself without a route", a,
                       b);
    if (!links)
        return ss_fail(err, SS_EINVAL, "route %s -> %s: it has no links", a, b);
    if (ss_topology_given_route(t, from, to))
        return ss_fail(err, SS_EINVAL, "route %s -> %s: it was given before", a, b);
    return SS_OK;
}

static ss_status refuse_links_of_route(const ss_topology *t, ss_device from, ss_device to,
                                       const ss_link *link, uint32_t links, ss_error *err)
{
    const char *a = ss_topology_device_name(t, from), *b = ss_topology_device_name(t, to);
    ss_node at = t->device[from.i].node, end = t->device[to.i].node;
    for (uint32_t i = 0; i < links; i++) {
        if (link[i].i < 1 || link[i].i > t->links)
            return ss_fail(err, SS_EINVAL, "route %s -> %s: link %u: topology %s has %u link%s", a,
                           b, link[i].i, t->name, t->links, ss_plural(t->links));
        const char *name = t->link[link[i].i].name;
        for (uint32_t j = 0; j < i; j++)
            if (link[j].i == link[i].i)
                return ss_fail(err, SS_EINVAL, "route %s -> %s: it crosses link %s twice", a, b,
                               name);
        ss_node next = ss_topology_across(t, link[i], at);
        if (!next.i)
            return ss_fail(err, SS_EINVAL,
                           "route %s -> %s: it has a gap: its link %u is %s, which does not begin "
                           "at %s",
                           a, b, i + 1, name, node_name(t, at));
        at = next;
    }
    if (at.i != end.i)
        return ss_fail(err, SS_EINVAL, "route %s -> %s: it ends at %s", a, b, node_name(t, at));
    return SS_OK;
}

static ss_status refuse_failed_links(const ss_topology *t, ss_device from, ss_device to,
                                     const ss_link *link, uint32_t links, ss_error *err)
{
    for (uint32_t i = 0; i < links; i++)
        if (!ss_topology_works(t, link[i]))
            return ss_fail(err, SS_EINVAL, "route %s -> %s: its link %u, %s, failed",
                           ss_topology_device_name(t, from), ss_topology_device_name(t, to), i + 1,
                           t->link[link[i].i].name);
    return SS_OK;
}

ss_status ss_topology_add_route(ss_topology *t, ss_device from, ss_device to, const ss_link *link,
                                uint32_t links, ss_error *err)
{
    ss_status s = refuse_ends(t, from, to, links, err);
    if (!s)
        s = refuse_links_of_route(t, from, to, link, links, err);
    if (!s)
        s = refuse_failed_links(t, from, to, link, links, err);
    if (!s)
        s = SS_RESERVE(t->given, t->given_cap, (size_t)t->givens + 1, "given routes", err);
    if (!s)
        s = ss_pairs_reserve(&t->given_of, "given routes", err);
    if (s)
        return s;
    ss_link *copy = ss_alloc(links * sizeof *copy);
    if (!copy)
        return ss_fail_memory(err, "a given route", links * sizeof *copy);

    memcpy(copy, link, links * sizeof *copy);
    t->changes++;
    t->given[t->givens++] = (ss_given_route){from, to, copy, links, 1, 0};
    ss_pairs_put(&t->given_of, from.i, to.i, t->givens);
    return SS_OK;
}

ss_node ss_topology_find(const ss_topology *t, const char *name)
{
    return (ss_node){ss_names_find(&t->names, name)};
}

const char *ss_topology_device_name(const ss_topology *t, ss_device d)
{
    return has_device(t, d) ? node_name(t, t->device[d.i].node) : "";
}

static uint64_t hash_device(uint64_t h, const ss_device_row *d)
{
    h = ss_hash_u64(h, d->node.i);
    h = ss_hash_text(h, d->def.kind);
    for (uint32_t k = 0; k < SS_DTYPES; k++)
        h = ss_hash_double(h, d->def.flop_per_s[k]);
    h = ss_hash_double(h, d->def.memory_bytes_per_s);
    h = ss_hash_double(h, d->def.memory_bytes);
    h = ss_hash_double(h, d->def.speed);
    return ss_hash_u64(h, (uint64_t)d->def.machine << 1 | d->def.forwards);
}

static uint64_t hash_link(uint64_t h, const ss_link_row *l)
{
    h = ss_hash_u64(h, (uint64_t)l->from.i << 32 | l->to.i);
    h = ss_hash_text(h, l->def.kind);
    h = ss_hash_double(h, l->def.bytes_per_s);
    h = ss_hash_double(h, l->def.latency_s);
    return ss_hash_u64(h, (uint64_t)l->def.weight << 1 | l->def.half_duplex);
}

/* What is not as it is unless something is said adds to the hash: the others keep theirs. */
static uint64_t hash_routing(uint64_t h, const ss_topology *t)
{
    if (t->routing != SS_ROUTING_SHORTEST) {
        h = ss_hash_text(h, ss_routing_name(t->routing));
        h = ss_hash_u64(h, t->routing_seed);
    }
    for (uint32_t i = 1; t->failures && i <= t->nodes; i++)
        if (t->node[i].failed)
            h = ss_hash_u64(ss_hash_text(h, "failed node"), i);
    for (uint32_t i = 1; t->failures && i <= t->links; i++)
        if (t->link[i].failed)
            h = ss_hash_u64(ss_hash_text(h, "failed link"), i);
    for (uint32_t i = 1; t->stagings && i <= t->nodes; i++)
        if (t->node[i].stages)
            h = ss_hash_u64(ss_hash_text(h, "staging node"), i);
    for (uint32_t i = 0; i < t->givens; i++)
        if (t->given[i].weight != 1)
            h = ss_hash_u64(ss_hash_u64(ss_hash_text(h, "weight"), i), t->given[i].weight);
    for (uint32_t i = 0; i < t->givens; i++)
        if (t->given[i].limit > 0)
            h = ss_hash_double(ss_hash_u64(ss_hash_text(h, "limit"), i), t->given[i].limit);
    for (uint32_t i = 1; t->laws && i <= t->links; i++)
        if (t->link[i].def.law)
            h = ss_link_law_hash(ss_hash_u64(ss_hash_text(h, "law"), i), t->link[i].def.law);
    return h;
}

uint64_t ss_topology_hash(const ss_topology *t)
{
    uint64_t h = ss_hash_text(SS_HASH_START, t->name);
    h = ss_hash_u64(h, t->nodes);
    for (uint32_t i = 1; i <= t->nodes; i++) {
        h = ss_hash_text(h, t->node[i].name);
        h = ss_hash_u64(h, t->node[i].device.i);
    }
    for (uint32_t i = 1; i <= t->devices; i++)
        h = hash_device(h, &t->device[i]);
    h = ss_hash_u64(h, t->links);
    for (uint32_t i = 1; i <= t->links; i++)
        h = hash_link(h, &t->link[i]);
    h = ss_hash_u64(h, t->givens);
    for (uint32_t i = 0; i < t->givens; i++) {
        const ss_given_route *g = &t->given[i];
        h = ss_hash_u64(h, (uint64_t)g->from.i << 32 | g->to.i);
        h = ss_hash_bytes(h, g->link, g->links * sizeof *g->link);
    }
    return hash_routing(h, t);
}

static ss_status check_nodes(const ss_topology *t, ss_error *err)
{
    uint32_t devices = 0, machines = 0;
    if (t->names.n != t->nodes)
        return ss_fail(err, SS_EINVAL, "%u node%s and %u name%s", t->nodes, ss_plural(t->nodes),
                       t->names.n, ss_plural(t->names.n));
    for (uint32_t i = 1; i <= t->nodes; i++) {
        const ss_node_row *n = &t->node[i];
        if (ss_names_find(&t->names, n->name) != i)
            return ss_fail(err, SS_EINVAL, "node %u: its name %s leads elsewhere", i, n->name);
        if (!n->device.i) {
            if (!n->forwards)
                return ss_fail(err, SS_EINVAL, "switch %s does not forward", n->name);
            continue;
        }
        if (n->device.i != ++devices || t->device[devices].node.i != i)
            return ss_fail(err, SS_EINVAL, "device %s is out of order", n->name);
        const ss_device_def *def = &t->device[devices].def;
        if (def->forwards != n->forwards)
            return ss_fail(err, SS_EINVAL, "device %s forwards in one row only", n->name);
        ss_status s = refuse_device(n->name, def, err);
        if (s)
            return s;
        if (n->failed)
            return ss_fail(err, SS_EINVAL, "device %s failed, and only links and switches can",
                           n->name);
        machines = def->machine > machines ? def->machine : machines;
    }
    if (devices != t->devices || machines != t->machines)
        return ss_fail(err, SS_EINVAL, "%u devices and %u machines counted, %u and %u kept",
                       devices, machines, t->devices, t->machines);
    return SS_OK;
}

ss_status ss_topology_check(const ss_topology *t, ss_error *err)
{
    uint32_t failures = 0;
    ss_status s = check_nodes(t, err);
    if (s)
        return s;
    for (uint32_t i = 1; i <= t->links; i++) {
        const ss_link_row *l = &t->link[i];
        s = refuse_link(t, l->from, l->to, &l->def, err);
        if (s)
            return s;
        if (!l->def.weight || !l->def.kind || ss_names_find(&t->link_names, l->name) != i)
            return ss_fail(err, SS_EINVAL, "link %u: no weight, kind or name of its own", i);
        failures += l->failed;
    }
    for (uint32_t i = 1; i <= t->nodes; i++)
        failures += t->node[i].failed;
    if (failures != t->failures)
        return ss_fail(err, SS_EINVAL, "%u failures counted, %u kept", failures, t->failures);
    for (uint32_t i = 0; i < t->givens; i++) {
        const ss_given_route *g = &t->given[i];
        if (ss_topology_given_route(t, g->from, g->to) != g)
            return ss_fail(err, SS_EINVAL, "given route %u is there twice", i);
        s = refuse_links_of_route(t, g->from, g->to, g->link, g->links, err);
        if (s)
            return s;
    }
    return SS_OK;
}
