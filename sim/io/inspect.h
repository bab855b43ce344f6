/* inspect.h - what is in a file: a record, a strategy or a bare task graph.
 *
 * Goes by what the file holds, not by its name: records begin with HDF5's signature, the others are
 * JSON and tell themselves apart by their members.
 */
#ifndef SS_INSPECT_H
#define SS_INSPECT_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

/* Appends a few lines for a person, or JSON. */
ss_status ss_inspect(const char *path, bool json, ss_text *out, ss_error *err);

#endif
