/* pages.h - an HDF5 file that is changed in place, all or nothing.
 *
 * HDF5 writes what it flushes in many pieces, and a process killed between two of them leaves a
 * file that no reader takes.  So the library is given a file driver (H5FD) that keeps every page
 * which it writes in memory, until ss_pages_commit:
 *   1. pages behind the end of what is committed go to the disk: nothing refers to them yet
 *   2. those that overwrite go into the journal ("p OFFSET HEX"), and behind them "k BYTES"
 *   3. they go to their places
 *   4. the journal is emptied
 * Killed before 2 is complete, the file is what it was; after it, ss_pages_redo does 3 again.  All of
 * 3 is a few writes one after the other, so even then plain tools nearly always find a whole file.
 * Each step is synced before the next one begins, so that the same holds when the power fails.
 *
 * The file on the disk never bears the mark "open for writing", which would make plain readers
 * refuse it, and no lock.
 *
 * A write never fails where HDF5 could see it, because the library cannot close a file after that:
 * a page for which there is no memory is remembered, and every commit from then on refuses.
 */
#ifndef SS_PAGES_H
#define SS_PAGES_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/journal.h"

typedef struct ss_pages ss_pages;

ss_status ss_pages_open(const char *path, ss_pages **out, ss_error *err);
/* Closes; what was not committed is lost.  Files of ss_pages_driver must be closed before. */
void ss_pages_free(ss_pages *p);

/* A file access list for H5Fopen with this driver, whatever name is given.  Negative on failure. */
hid_t ss_pages_access(ss_pages *p);

/* Whether a page, or the driver, found no memory. */
bool ss_pages_lack_memory(const ss_pages *p);

size_t ss_pages_waiting(const ss_pages *p); /* bytes that the next commit has to write */

/* After H5Fflush.  When it fails before the end of step 2, the file is as it was committed last, and
 * the journal as well. */
ss_status ss_pages_commit(ss_pages *p, ss_journal *j, ss_error *err);

/* After the last commit: what lies behind the end of the HDF5 file goes. */
void ss_pages_trim(ss_pages *p);

/* Step 3 once more, of every commit of the journal that reached the end of step 2.  The reader
 * stands behind the first line, and afterwards behind the last "k" if there is one; `pages` counts
 * what was put in place. */
ss_status ss_pages_redo(const char *path, ss_journal_reader *r, uint32_t *pages, ss_error *err);

#endif
