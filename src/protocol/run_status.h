/* How a run ended: the words that the protocol's errors, the store, the result document and its readers share. */
#ifndef YS_PROTOCOL_RUN_STATUS_H
#define YS_PROTOCOL_RUN_STATUS_H

#include "base/json/record.h"
#include "protocol/messages.h"

/** docs/results.md says what each means. */
enum ys_run_status {
    YS_RUN_OK,
    YS_RUN_SKIPPED, /* of trials alone */
    YS_RUN_UNSUPPORTED,
    YS_RUN_MISSING,
    YS_RUN_BUILD_FAILED,
    YS_RUN_LOAD_FAILED,
    YS_RUN_CRASHED,
    YS_RUN_KILLED,
    YS_RUN_OOM_HOST,
    YS_RUN_OOM_DEVICE,
    YS_RUN_TIMEOUT_WALL,
    YS_RUN_TIMEOUT_CPU,
    YS_RUN_STALLED,
    YS_RUN_DIVERGED,
    YS_RUN_WRONG_OUTPUT,
    YS_RUN_NOT_CONVERGED,
    YS_RUN_PROTOCOL_ERROR,
    YS_RUN_CANCELLED,
};
/** Their words, the only list of them: "ok", "skipped", ... */
extern const struct ys_names ys_run_statuses;

const char *ys_run_status_name(enum ys_run_status status);
/** Whether it is the adapter's doing, or the machine's: neither well, nor cut short by the user, nor declined. */
bool ys_run_status_is_failure(enum ys_run_status status);

/** Where a run was when it ended: questions of the protocol are stages of that name. */
enum ys_stage {
    YS_STAGE_START, /* exec to the answer of hello */
#define STAGE(upper, name, reply, part, mode) YS_STAGE_##upper,
    YS_QUESTIONS(STAGE) /* that of hello is an adapter's own word of the start */
#undef STAGE
    YS_STAGE_STOP,     /* after bye */
    YS_STAGE_PROTOCOL, /* an adapter's own word: it read a line that was no message */
};
/** Their words, the only list of them. */
extern const struct ys_names ys_stages;

/** NULL for YS_NAME_NONE. */
const char *ys_stage_name(int stage);

#endif
