/* plot_calibration.h - a fit drawn: times by size with the line through them, and below how far each lies
 * off it.  Both axes are logarithmic, as errors are factors.  Rows that the estimate does not trust are
 * crosses. */
#ifndef SS_PLOT_CALIBRATION_H
#define SS_PLOT_CALIBRATION_H

#include "base/status.h"
#include "base/text.h"
#include "io/plot.h"
#include "simulate/fit.h"

enum { SS_PLOT_MAX_SAMPLES = 20000 };

/* name: of the curve, or "".  Refuses more than SS_PLOT_MAX_SAMPLES rows. */
ss_status ss_plot_calibration_data(const ss_fit *f, const char *name, ss_text *out, ss_error *err);
ss_status ss_plot_calibration(const ss_fit *f, const char *name, const char *path,
                              const ss_plot_options *o, ss_error *err);

#endif
