/* plot_links.c - the table of the links that are busiest, and what they carried. */
#include "config.h"

#include "io/plot_inside.h"

#include <inttypes.h>

#include "base/mem.h"

enum { LINKS = 24 /* that are shown unless the options say how many */ };

typedef struct load {
    ss_time by[SS_PLOT_COLOURS];
} load;

static load *add_up_loads(const ss_view *v, ss_error *err)
{
    load *list = ss_alloc_zeroed(v->lanes + (size_t)1, sizeof *list);
    if (!list) {
        ss_fail_memory(err, "a figure", v->lanes * sizeof *list);
        return NULL;
    }
    for (uint32_t i = 1; i <= v->tasks; i++) {
        const ss_view_task *t = &v->task[i];
        uint32_t colour = ss_plot_colour(t);
        list[t->lane].by[colour] += t->end - t->start;
        for (uint32_t k = 1; k < t->lanes; k++)
            list[v->more[t->first_more + k - 1]].by[colour] += t->end - t->start;
    }
    return list;
}

static void add_link(const ss_view *v, uint32_t row, uint32_t lane, const load *taken, ss_text *out)
{
    double whole = (double)v->step_time;
    ss_time before = 0;
    char b[SS_QUANTITY_TEXT];
    for (uint32_t c = 0; c < SS_PLOT_COLOURS; c++) {
        if (!taken->by[c])
            continue;
        ss_time after = before + taken->by[c];
        ss_text_add(out, "%u\t", row);
        ss_plot_add_field(out, v->lane[lane].name, SS_PLOT_LABEL);
        ss_text_add(out, "\t%s\t%.6f\t%.6f\t%" PRId64 "\n", ss_plot_colour_name(c),
                    100 * (double)before / whole, 100 * (double)after / whole, v->lane[lane].sent);
        before = after;
    }
    ss_text_add(out, "%u\t%s\tcarried\t%.6f\t%.6f\t%" PRId64 "\n", row,
                ss_format_quantity((double)v->lane[lane].sent, SS_UNIT_BYTES, b, sizeof b),
                100 * (double)before / whole, 100 * (double)before / whole, v->lane[lane].sent);
}

static void add_links_note(const ss_view *v, uint32_t used, uint32_t not_shown, ss_text *out)
{
    uint32_t links = v->lanes - v->devices;
    bool charged = v->charged_bytes > 0;
    char b[SS_QUANTITY_TEXT];
    if (links && used == links && !not_shown && !charged)
        return;
    ss_text_add(out, "0\t");
    if (!links)
        ss_text_add(out, "There are no links. ");
    else if (!used)
        ss_text_add(out, "No link carries anything: %u of %u are idle. ", links, links);
    else if (links > used)
        ss_text_add(out, "%u of %u links carry nothing. ", links - used, links);
    if (not_shown)
        ss_text_add(out, "Not shown: %u less busy link%s. ", not_shown, ss_plural(not_shown));
    if (charged)
        ss_text_add(out, "%s are charged in closed form, on no link. ",
                    ss_format_quantity(v->charged_bytes, SS_UNIT_BYTES, b, sizeof b));
    out->n--; /* the last blank */
    ss_text_add(out, "\tnote\t0\t0\t0\n");
}

ss_status ss_plot_links_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                             ss_error *err)
{
    uint32_t used = 0, most = o->max_links ? o->max_links : LINKS;
    for (uint32_t l = v->devices + 1; l <= v->lanes; l++)
        used += v->lane[l].busy > 0;
    ss_plot_ranked *list = ss_plot_rank(v, v->devices + 1, v->lanes, false, NULL, err);
    load *loads = list ? add_up_loads(v, err) : NULL;
    if (!loads) {
        ss_free(list);
        return SS_ENOMEM;
    }
    ss_text_add(out, "row\tlabel\tkind\tbegin_percent\tend_percent\tcarried_bytes\n");
    ss_plot_add_title(v, "", out);
    ss_text_add(out, "\t0\t0\t%.0f\n", v->bytes_moved);
    for (uint32_t i = 0; i < used && i < most; i++)
        add_link(v, i, list[i].lane, &loads[list[i].lane], out);
    add_links_note(v, used, used > most ? used - most : 0, out);
    ss_free(list);
    ss_free(loads);
    return SS_OK;
}
