#include "graph/order.h"

static const char *const order_names[SS_ORDERS] = {"fifo", "program", "priority", "shortest"};

const char *ss_order_name(ss_order o)
{
    return (unsigned)o < SS_ORDERS ? order_names[o] : "none";
}

static const char *const end_names[SS_BLOCKED_ENDS] = {"both", "sender", "receiver"};

const char *ss_blocked_end_name(ss_blocked_end e)
{
    return (unsigned)e < SS_BLOCKED_ENDS ? end_names[e] : "none";
}

static bool slows(const ss_run_options *o)
{
    return o->slowed_by_copies > 0 && o->slowed_by_copies < 1;
}

static bool is_fifo(const ss_run_options *o)
{
    return o->order == SS_ORDER_FIFO && o->streams <= 1 && !o->copies_block && !slows(o);
}

bool ss_run_options_published(const ss_run_options *o)
{
    return is_fifo(o) && !o->changes && o->interference == 0;
}

void ss_run_options_say(const ss_run_options *o, ss_text *out)
{
    static const char *const says[SS_ORDERS] = {"", "program order", "by priority",
                                                "shortest first"};
    const char *comma = " ";
    if (is_fifo(o)) {
        ss_text_add(out, "A3 FIFO");
        return;
    }
    ss_text_add(out, "A3 broken:");
    if (o->order != SS_ORDER_FIFO && (unsigned)o->order < SS_ORDERS) {
        ss_text_add(out, " %s", says[o->order]);
        comma = ", ";
    }
    if (o->streams > 1) {
        ss_text_add(out, "%s%u streams", comma, o->streams);
        comma = ", ";
    }
    if (o->copies_block) {
        ss_text_add(out, "%scopies block the %s", comma,
                    o->blocked_end == SS_BLOCKED_BOTH ? "device"
                                                      : ss_blocked_end_name(o->blocked_end));
        comma = ", ";
    }
    if (slows(o))
        ss_text_add(out, "%sdevices at %g of their speed while copying", comma,
                    o->slowed_by_copies);
}

/* ---- changes ------------------------------------------------------------------------------- */

static void say_link(const ss_change *c, ss_text *out)
{
    char rate[SS_QUANTITY_TEXT];
    if (c->bytes_per_s >= 0)
        ss_text_add(out, " %s",
                    ss_format_quantity(c->bytes_per_s * c->share, SS_UNIT_BYTES_PER_SECOND, rate,
                                       sizeof rate));
    if (c->bytes_per_s > 0 && c->load > 0)
        ss_text_add(out, ", of which others take %g %%", 100 * c->load);
    if (c->bytes_per_s < 0 && c->share != 1)
        ss_text_add(out, " %g of its bandwidth", c->share);
    if (c->latency_s >= 0)
        ss_text_add(out, ", latency %s",
                    ss_format_quantity(c->latency_s, SS_UNIT_SECONDS, rate, sizeof rate));
}

void ss_change_say(const ss_change *c, const ss_topology *t, ss_text *out)
{
    static const char *const does[SS_CHANGES] = {"",           " fails", " works again", "",
                                                 " is paused", " fails", " goes on"};
    bool link = c->kind <= SS_CHANGE_LINK_WORKS;
    char time[SS_QUANTITY_TEXT];
    ss_text_add(out, link ? "link " : "device ");
    if (!t)
        ss_text_add(out, "%u", c->who);
    else
        ss_text_add(out, "%s",
                    link ? t->link[c->who].name : ss_topology_device_name(t, (ss_device){c->who}));
    ss_text_add(out, "%s", does[c->kind]);
    if (c->kind == SS_CHANGE_LINK)
        say_link(c, out);
    if (c->kind == SS_CHANGE_SPEED)
        ss_text_add(out, " at %g of its speed", c->speed);
    ss_text_add(out, " at %s", ss_format_time(c->at, time, sizeof time));
}
