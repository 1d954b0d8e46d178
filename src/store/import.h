/* A study that `export` wrote as JSON Lines, brought into a store. */
#ifndef YS_STORE_IMPORT_H
#define YS_STORE_IMPORT_H

#include "store/store.h"

/** Adds the study in the file `path`, with its machine, trials, proofs, runs and series, under a number and folder of
 * its own in this store; when it was begun, and how it ended, stay as they were. One transaction: all or nothing.
 *   YS_EFORMAT  the file is no export (the line is named), or holds no whole study */
ys_status ys_store_import(struct ys_store *store, const char *path, int64_t *study_id) YS_MUST_CHECK;

#endif
