/* record_layout.h - the groups and tables of a record that are both written and read back.
 *
 * docs/file-format.md says the same for people.  A change that an older reader would misunderstand
 * raises SS_RECORD_FORMAT; a new column that readers may miss does not, and is `optional` here.
 */
#ifndef SS_RECORD_LAYOUT_H
#define SS_RECORD_LAYOUT_H

#include "io/h5.h"
#include "io/view.h"

#define SS_RECORD_KIND "soapstone record"
enum { SS_RECORD_FORMAT = 1 };

/* Bytes of the name of a strategy or timeline, and of the path of its group. */
enum { SS_RECORD_NAME = 200, SS_RECORD_PATH = 256 };

typedef struct ss_record_table {
    const char *group; /* below timeline/NAME */
    const char *long_name;
    const ss_h5_field *field;
    uint32_t fields;
    size_t stride;
} ss_record_table;

extern const ss_record_table ss_record_lanes, ss_record_tasks, ss_record_more, ss_record_memory,
    ss_record_edges, ss_record_moved, ss_record_summary;
/* Not in every record: only where something changed on the way. */
extern const ss_record_table ss_record_changed;
extern const ss_record_table ss_record_events;

/* The one value of a strategy's group, a text that ss_strategy_parse reads: offset 0. */
extern const ss_h5_field ss_record_strategy_file;

/* What ss_record_moved has rows of. */
typedef struct ss_record_moved_row {
    uint8_t cargo;
    double bytes;
} ss_record_moved_row;

/* Row numbers, orders of times and signs of a view: what its users rely on.  The sentence names the
 * table, the row and the column. */
ss_status ss_record_check_view(const ss_view *v, ss_status status, ss_error *err);

#endif
