/* plot_memory.c - the table of memory held over time. */
#include "config.h"

#include "io/plot_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/tasks.h"

static void add_row(const ss_view *v, ss_text *out, uint32_t row, uint32_t lane, const char *kind,
                    ss_time at, double from, double bytes)
{
    ss_text_add(out, "%u\t", row);
    ss_plot_add_field(out, v->lane[lane].name, SS_PLOT_LABEL);
    ss_text_add(out, "\t%s", kind);
    ss_plot_add_seconds(out, at);
    char digits[2][SS_DOUBLE_TEXT];
    ss_text_add(out, "\t%s\t%s\n", ss_format_double(from, digits[0], sizeof digits[0]),
                ss_format_double(bytes, digits[1], sizeof digits[1]));
}

/* The steps of one device.  Of those that share a cell, only the first, the least, the greatest and
 * the last are kept: what is left out lies between them. Gives how many were left out. */
static uint32_t add_held(const ss_view *v, ss_text *out, uint32_t row, uint32_t lane,
                         const char *kind, const ss_view_held *h, uint32_t n, ss_time cell)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t last = i, least = i, greatest = i;
        while (last + 1 < n && h[last + 1].at / cell == h[i].at / cell) {
            last++;
            least = h[last].bytes < h[least].bytes ? last : least;
            greatest = h[last].bytes > h[greatest].bytes ? last : greatest;
        }
        for (uint32_t k = i; k <= last; k++) {
            if (k == i || k == last || k == least || k == greatest)
                add_row(v, out, row, lane, kind, h[k].at, 0, (double)h[k].bytes);
            else
                left_out++;
        }
        i = last + 1;
    }
    if (!n)
        add_row(v, out, row, lane, kind, 0, 0, 0);
    add_row(v, out, row, lane, kind, v->step_time, 0, n ? (double)h[n - 1].bytes : 0);
    ss_text_add(out, "\n"); /* an empty line ends a curve */
    return left_out;
}

static void add_peak(const ss_view *v, ss_text *out, uint32_t row, uint32_t lane)
{
    const ss_view_lane *device = &v->lane[lane];
    int64_t before = 0;
    for (uint32_t k = 0; k < SS_HELD_KINDS; k++) {
        if (device->held_peak_by[k])
            add_row(v, out, row, lane, ss_held_name(k), device->held_peak_at, (double)before,
                    (double)(before + device->held_peak_by[k]));
        before += device->held_peak_by[k];
    }
    if (device->capacity_bytes > 0)
        add_row(v, out, row, lane, "capacity", device->held_peak_at, 0, device->capacity_bytes);
}

static uint32_t add_devices_memory(const ss_view *v, const ss_plot_ranked *list, uint32_t n,
                                   const bool *shown, ss_time cell, ss_text *out)
{
    uint32_t left_out = 0, row = 0;
    for (uint32_t d = 1, i = 0; d <= v->devices; d++) {
        uint32_t first = i;
        while (i < v->helds && v->held[i].lane == d)
            i++;
        if (!shown[d])
            continue;
        bool emptiest = d == list[n - 1].lane && list[n - 1].much < list[0].much;
        const char *kind = d == list[0].lane ? "held by the fullest"
                           : emptiest        ? "held by the emptiest"
                                             : "held";
        add_row(v, out, row, d, "device", 0, 0, 0);
        left_out += add_held(v, out, row, d, kind, v->held + first, i - first, cell);
        add_peak(v, out, row++, d);
    }
    return left_out;
}

static void add_head(const ss_view *v, ss_text *out)
{
    ss_text_add(out, "row\tlabel\tkind\tat_s\tfrom_bytes\tbytes\n");
    ss_plot_add_title(v, "", out);
    ss_plot_add_seconds(out, v->step_time);
    ss_text_add(out, "\t0\t0\n");
}

static void add_note(ss_text *out, const char *text)
{
    ss_text_add(out, "0\t%s\tnote", text);
    ss_plot_add_seconds(out, 0);
    ss_text_add(out, "\t0\t0\n");
}

static void add_notes(uint32_t left_out, ss_time cell, uint32_t not_shown, ss_text *out)
{
    char length[SS_QUANTITY_TEXT], note[200];
    if (left_out) {
        snprintf(note, sizeof note, "%u changes less than %s apart are drawn by their extremes.",
                 left_out, ss_plot_time(cell, length, sizeof length));
        add_note(out, note);
    }
    if (not_shown) {
        snprintf(note, sizeof note, "Not shown: %u device%s less.", not_shown,
                 not_shown == 1 ? " that holds" : "s that hold");
        add_note(out, note);
    }
}

ss_status ss_plot_memory_data(const ss_view *v, const ss_plot_options *o, ss_text *out,
                              ss_error *err)
{
    if (!v->helds || v->step_time <= 0) {
        add_head(v, out);
        add_note(out, v->helds ? "The step takes no time." : "No memory is held in this step.");
        return SS_OK;
    }
    uint32_t most = o->max_devices ? o->max_devices : SS_PLOT_DEVICES;
    uint32_t n = v->devices < most ? v->devices : most;
    bool *shown = ss_alloc_zeroed(v->devices + (size_t)1, sizeof *shown);
    ss_plot_ranked *list = shown ? ss_plot_rank(v, 1, v->devices, true, NULL, err) : NULL;
    if (!list) {
        ss_free(shown);
        return ss_fail_memory(err, "a figure", v->devices * sizeof *list);
    }
    for (uint32_t i = 0; i < n; i++)
        shown[list[i].lane] = true;
    add_head(v, out);
    ss_time cell = v->step_time / ss_plot_cells(o) + 1;
    uint32_t left_out = add_devices_memory(v, list, n, shown, cell, out);
    add_notes(left_out, cell, v->devices - n, out);
    ss_free(shown);
    ss_free(list);
    return SS_OK;
}
