/* A database that cannot be read where it lies. Of this room alone. */
#ifndef YS_STORE_READABLE_COPY_H
#define YS_STORE_READABLE_COPY_H

#include "base/files/working_folder.h"

/** Copies the database `path` and the journal beside it into a folder of their own below TMPDIR (or /tmp), made here;
 * *copy (ys_free) is the database there. YS_EBUSY: it changed meanwhile. YS_EIO names the file and the remedy. */
ys_status ys_store_copy(const char *path, struct ys_working *working, char **copy) YS_MUST_CHECK;

#endif
