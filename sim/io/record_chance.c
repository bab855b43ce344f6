/* record_chance.c - the measured samples that a record's times are drawn from. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "io/record_inside.h"

typedef struct sample_row {
    const char *of;
    double value;
} sample_row;

static const ss_h5_field sample_field[] = {
    {"of", SS_H5_TEXT, offsetof(sample_row, of), NULL, "what is drawn, as options has it", NULL, 0,
     false},
    {"value", SS_H5_F64, offsetof(sample_row, value), "s or 1",
     "as it is drawn: seconds of launch, message and step, else a factor", NULL, 0, false},
};

/* All samples; row NULL: only counts them. */
static ss_status list_samples(const ss_chance *c, ss_arena *a, sample_row *row, uint32_t *n,
                              ss_error *err)
{
    ss_text of = {0};
    const ss_draw *d;
    ss_status s = SS_OK;
    *n = 0;
    for (uint32_t i = 0; !s && (d = ss_chance_draw(c, i, &of)); i++) {
        uint32_t samples = d->kind == SS_DRAW_SAMPLES ? d->samples : 0;
        const char *name = "";
        if (!row || !samples) {
            *n += samples;
            continue;
        }
        if ((s = ss_text_status(&of, err)))
            break;
        char *kept = ss_arena_take(a, of.n + (size_t)1);
        if (kept)
            name = strcpy(kept, ss_text_get(&of));
        else
            s = ss_fail_memory(err, "samples of a record", of.n);
        for (uint32_t k = 0; k < samples && !s; k++)
            row[(*n)++] = (sample_row){name, d->sample[k]};
    }
    ss_text_free(&of);
    return s;
}

ss_status ss_record_samples(ss_h5 *f, const char *group, const ss_chance *c, ss_error *err)
{
    char at[2 * SS_RECORD_PATH];
    uint32_t n = 0;
    ss_arena a = {0};
    ss_status s = c ? list_samples(c, &a, NULL, &n, err) : SS_OK;
    if (s || !n)
        return s;
    sample_row *row = ss_arena_take(&a, n * sizeof *row);
    s = row ? list_samples(c, &a, row, &n, err)
            : ss_fail_memory(err, "samples of a record", n * sizeof *row);
    snprintf(at, sizeof at, "%s/samples", group);
    if (!s)
        s = ss_h5_put_table(f, at, sample_field, 2, row, sizeof *row, n, err);
    if (!s)
        s = ss_h5_put_text(f, at, "long_name", "measured samples that are drawn from", err);
    ss_arena_free(&a);
    return s;
}
