/* record_inside.h - what the files of the record share; nobody else includes it. */
#ifndef SS_RECORD_INSIDE_H
#define SS_RECORD_INSIDE_H

#include "io/h5.h"
#include "io/record.h"
#include "io/record_layout.h"

struct ss_record {
    ss_h5 *h5;
};

/* ABOVE/NAME into `group`; refuses names that cannot be a group's and those that are taken. */
ss_status ss_record_group(ss_record *r, const char *above, const char *what, const char *name,
                          char *group, size_t n, ss_error *err);

/* Table GROUP/samples: the measured samples that are drawn from, where there are any. */
ss_status ss_record_samples(ss_h5 *f, const char *group, const ss_chance *c, ss_error *err);

ss_status ss_record_put(ss_record *r, const char *group, const ss_record_table *t, const void *row,
                        uint32_t rows, ss_error *err);

#endif
