/* Stored results, as people and programs want them. */
#ifndef YS_CLI_RESULT_H
#define YS_CLI_RESULT_H

#include "cli/args.h"
#include "store/store.h"

/** Prints a study's result in the format asked for; the exit code, 0 when all went well. */
int ys_result_print(const struct ys_args *args, struct ys_store *store, int64_t study_id);

/** Writes report.html into the study's folder, which it makes where only the database was kept; *path (ys_free) is
 * where.
 */
ys_status ys_result_write_report(const struct ys_args *args, struct ys_store *store, int64_t study_id,
                                 char **path) YS_MUST_CHECK;

#endif
