/* unzip.h - the bytes of a file from front to end, unpacked where it is gzip; for files too large for memory. */
#ifndef SS_UNZIP_H
#define SS_UNZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ss_unzip ss_unzip;

ss_status ss_unzip_open(const char *path, ss_unzip **out, ss_error *err);
/* Up to n bytes; *got is 0 at the end alone.  A file that was cut or changed is SS_EFORMAT: gzip has sums. */
ss_status ss_unzip_read(ss_unzip *u, char *buffer, size_t n, size_t *got, ss_error *err);
/* Where reading is in the file, and how large that is, in bytes as they lie on the disk; 0: not known. */
void ss_unzip_place(const ss_unzip *u, double *at, double *size);
void ss_unzip_close(ss_unzip *u);

#endif
