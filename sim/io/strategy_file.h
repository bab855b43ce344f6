/* strategy_file.h - strategies as files and as text: save, load, print, compare.
 *
 * A file is JSON with a line for each operator, so that two of them can be read side by side and
 * diffed.  It names the model and the topology and carries a hash of each: a strategy is loaded
 * onto what it was made for, unless one asks for it by name.  docs/strategy-files.md describes it.
 *
 *   {
 *     "format": "soapstone strategy",
 *     "version": 1,
 *     "model": {"name": "nmt", "hash": "9c0e4d0a41b2f1e7"},
 *     "topology": {"name": "p100x4", "hash": "04d8f2c6a7731b59"},
 *     "operators": {
 *       "embed1": {"degrees": {}, "devices": [2], "pinned": ["devices"]},
 *       "conv1": {"degrees": {"n": 2, "h": 2}, "devices": [1, 2, 3, 4]}
 *     }
 *   }
 *
 * Degrees of 1 are left out, one device stands for all parts, parts follow as strategy.h numbers
 * them, devices count from 1.  "pinned" is a list of "degrees", "devices" and names of dimensions.
 */
#ifndef SS_STRATEGY_FILE_H
#define SS_STRATEGY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "graph/strategy.h"

enum { SS_STRATEGY_FILE_VERSION = 1 };

ss_status ss_strategy_write(const ss_strategy *s, ss_text *out, ss_error *err); /* appends */
/* Refuses a path where there is a file that is no strategy (a script, a record, a log whether it ended
 * or not), so that a slip of the pen replaces none; an empty one is nobody's. */
ss_status ss_strategy_check_place(const char *path, ss_error *err);
/* Replaces whatever is there. */
ss_status ss_strategy_save(const ss_strategy *s, const char *path, ss_error *err);

typedef struct ss_strategy_loading {
    /* For another size of the same model, or another topology: names and hashes are not compared.
     * Operators that the file does not have stay whole on device 1; those that the model does not
     * have are passed over.  What is there must still obey every rule. */
    bool by_name;
    /* Written by the loading: operators set, operators of the model that the file has not, and of
     * the file that the model has not (both 0 without by_name). */
    uint32_t matched, missing, unknown;
} ss_strategy_loading;

/* Errors begin with `name`, then line and column where the text is no JSON, or the place in the
 * file
 * ("operators.conv1.degrees.h") where it says what makes no sense.  Refuses a later version,
 * another model or topology (SS_EINVAL) and what is no strategy (SS_EFORMAT).  `l` may be NULL. */
ss_status ss_strategy_parse(const char *text, size_t n, const char *name, const ss_model *m,
                            const ss_topology *t, ss_strategy_loading *l, ss_strategy **out,
                            ss_error *err);
ss_status ss_strategy_load(const char *path, const ss_model *m, const ss_topology *t,
                           ss_strategy_loading *l, ss_strategy **out, ss_error *err);

/* For a person: "n 4, c 2 on 1-8", devices of neighbouring parts joined. */
void ss_config_text(const ss_strategy *s, ss_op op, ss_text *out);

/* A table: operators, degrees, devices, pins; runs of operators that are alike are one line. */
ss_status ss_strategy_print(const ss_strategy *s, ss_text *out, ss_error *err);

/* A line for each operator whose configuration differs, old -> new, and a count.  Operators are
 * matched by name; those of one model only are listed.  *differ (or NULL) counts the lines. */
ss_status ss_strategy_diff(const ss_strategy *a, const ss_strategy *b, ss_text *out,
                           uint32_t *differ, ss_error *err);

#endif
