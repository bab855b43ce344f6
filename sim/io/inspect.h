/* inspect.h - what is in a file: a record, a strategy, a bare task graph or measured times.
 *
 * Goes by what the file holds, not by its name: records begin with HDF5's signature, strategies and
 * graphs are JSON and tell themselves apart by their members, and measured times in CSV begin with
 * the names of their columns.
 */
#ifndef SS_INSPECT_H
#define SS_INSPECT_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

/* Appends a few lines for a person, or JSON. */
ss_status ss_inspect(const char *path, bool json, ss_text *out, ss_error *err);

#endif
