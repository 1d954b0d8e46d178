/* A study that `export` wrote as JSON Lines, brought into a store. */
#ifndef YS_STORE_IMPORT_STUDY_H
#define YS_STORE_IMPORT_STUDY_H

#include "base/hash.h"
#include "store/store.h"

/** Of an export: `schema` of its first line. A file of an earlier yardstick has none. */
#define YS_EXPORT_SCHEMA "yardstick/export/1"

/** The chain of hashes of an export's lines: each link is the SHA-256 of the one before, 32 bytes, and of the line with
 * its line end; before the first there are 32 zeros. Its last line, {"type": "end", "lines", "chain"}, says how many
 * lines there are before it, and their last link. */
struct ys_export_sum {
    uint8_t link[32];
    size_t lines;
};
void ys_export_sum_add(struct ys_export_sum *sum, const void *line, size_t size);
void ys_export_sum_text(const struct ys_export_sum *sum, char text[YS_SHA256_TEXT]);

/** Adds the study in the file `path`, with its machine, trials, proofs, runs and series, under a number and folder of
 * its own in this store, marked by a member `imported` of the study, the path; when it was begun, and how it ended,
 * stay as they were. A file whose lines came in before adds nothing (*was_there, with the number of that study). One
 * transaction: all or nothing. YS_EFORMAT  the file is no export (the line is named), one of
 * another form, is cut short, or is not as it was written */
ys_status ys_store_import(struct ys_store *store, const char *path, int64_t *study_id, bool *was_there) YS_MUST_CHECK;

#endif
