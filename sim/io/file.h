/* file.h - whole files in and out.
 *
 * A file that soapstone writes has its final name only when it is complete and on the disk: it is
 * written under a temporary name in the same folder, synced, and renamed.  Whoever is killed or
 * runs out of disk leaves the old file, if there was one, as it was.  What the killed one had
 * written, ".NAME.PLACE-PID-K.part", is removed when the same name is next written where PID is
 * known to be dead: on the same machine, and in the same container.  Things that are no regular
 * files
 * (/dev/stdout, a pipe that somebody reads) cannot be renamed over and are written straight, but
 * for disks.
 *
 * The sentence of every failure names the path and the system's reason.  What is missing (a file,
 * the folder to write into) is SS_ENOTFOUND; no permission, a read-only or a full disk is SS_EIO; a
 * path that can never work (a folder where a file is wanted, a name too long) is SS_EINVAL.
 */
#ifndef SS_FILE_H
#define SS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

/* Appends the file's bytes to `out` (left as it was on failure).  More than `most` bytes is
 * SS_ERANGE: give what the format could ever need, so that a wrong path does not fill the memory.
 */
ss_status ss_file_read(const char *path, size_t most, ss_text *out, ss_error *err);

ss_status ss_file_write(const char *path, const char *bytes, size_t n, ss_error *err);

/* The same in steps, for what is too big for one string or is written by a library that wants a
 * name: begin, put as often as wanted (or let the library write `temporary`), then commit or
 * abandon. */
typedef struct ss_file {
    char *path;      /* as given: what messages name */
    char *temporary; /* where it is being written; NULL: straight into `path`, which is no regular
                        file */
    char *target;    /* the final name, symbolic links followed */
    int fd;
    char *buffer; /* puts are gathered */
    size_t n;
} ss_file; /* {0} is closed */

ss_status ss_file_begin(const char *path, ss_file *out, ss_error *err);
ss_status ss_file_put(ss_file *f, const char *bytes, size_t n, ss_error *err);
/* What was put so far can be read under the temporary name. */
ss_status ss_file_flush(ss_file *f, ss_error *err);
ss_status ss_file_commit(ss_file *f,
                         ss_error *err); /* closes f in any case; on failure nothing is left */
void ss_file_abandon(ss_file *f);        /* removes the temporary file; {0} is fine */

/* Refuses what is there and is no regular file: a pipe, a device.  Not /dev/null and what this process
 * has open (/dev/stdout, /dev/fd/N), which whoever names them means. */
ss_status ss_file_check_regular(const char *path, ss_error *err);
/* Whether there is a regular file with something in it, which writing would replace: for whoever then
 * looks whether it is of his own kind. */
bool ss_file_holds(const char *path);
/* The sentence about one that is of another kind: "record or log of this soapstone". */
ss_status ss_file_fail_kind(ss_error *err, const char *path, const char *kind);
/* Whether both are names of one file, by another spelling or by a link, also where it is not there
 * yet. */
bool ss_file_same(const char *a, const char *b);

/* "cannot WHAT PATH: REASON" with the status that belongs to an errno. */
ss_status ss_file_fail(ss_error *err, int error_number, const char *what, const char *path);

#endif
