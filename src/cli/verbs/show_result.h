/* Stored results, as people and programs want them. */
#ifndef YS_CLI_VERBS_SHOW_RESULT_H
#define YS_CLI_VERBS_SHOW_RESULT_H

#include "base/buf.h"
#include "cli/args.h"
#include "store/store.h"

struct ys_result;
/** A study's result as text: on one screen, or with --details at length. */
void ys_result_text(const struct ys_args *args, const struct ys_store *store, int64_t study_id,
                    const struct ys_result *result, struct ys_buf *out);
/** Prints a study's result in the format asked for; the exit code, 0 when all went well. */
int ys_result_print(const struct ys_args *args, struct ys_store *store, int64_t study_id);

/** Shows the study anew whenever it has more runs, until it has ended or nobody writes here; then prints it as above.
 */
int ys_result_follow(const struct ys_args *args, struct ys_store *store, int64_t study_id);

/** Writes report.html into the study's folder, which it makes where only the database was kept; *path (ys_free) is
 * where. With --history it has that of the trial, or of its first where `trial_id` is 0. */
ys_status ys_result_write_report(const struct ys_args *args, struct ys_store *store, int64_t study_id, int64_t trial_id,
                                 char **path) YS_MUST_CHECK;

/** Runs that succeeded, a line each: trial, round, metrics. Of one trial alone where `trial_id` is not 0. */
ys_status ys_export_csv(struct ys_store *store, int64_t study_id, int64_t trial_id, struct ys_buf *out) YS_MUST_CHECK;
/** Runs as trace events (report/trace_events.h), written run by run; what is left in `out` at the end is to be written.
 */
ys_status ys_export_trace(struct ys_store *store, int64_t study_id, int64_t trial_id, struct ys_buf *out) YS_MUST_CHECK;

#endif
