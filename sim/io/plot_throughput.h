/* plot_throughput.h - throughput per device against the number of devices.
 *
 * A curve for each series in each panel (a network on a cluster); what is published is drawn in the
 * colour of the series of that name, dashed and with open points, so that ours and theirs lie over each
 * other.
 */
#ifndef SS_PLOT_THROUGHPUT_H
#define SS_PLOT_THROUGHPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "io/plot.h"

typedef struct ss_plot_rate {
    const char *panel;  /* NULL: the figure has one, without a name */
    const char *series; /* "data parallel" */
    uint32_t devices;
    double value; /* samples a second and device */
    bool published;
} ss_plot_rate;

typedef struct ss_plot_rate_options {
    const char *title, *y; /* NULL: none; "samples/s per device" */
    const char *note;      /* NULL: none */
    bool log_y;
    bool ideal;       /* a flat line at the first series' value of one device, where it has one */
    uint32_t columns; /* of panels; 0: as many as fit */
} ss_plot_rate_options;

/* Refuses: no rows; no devices; a value that is below 0, or no number; two rows of one panel, series,
 * number of devices and standing. */
ss_status ss_plot_throughput_data(const ss_plot_rate *row, uint32_t rows,
                                  const ss_plot_rate_options *ro, ss_text *out, ss_error *err);
ss_status ss_plot_throughput(const ss_plot_rate *row, uint32_t rows, const char *path,
                             const ss_plot_rate_options *ro, const ss_plot_options *o,
                             ss_error *err);

#endif
