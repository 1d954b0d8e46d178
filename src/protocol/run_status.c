#include "protocol/run_status.h"

static const char *const status_words[] = {
    [YS_RUN_OK] = "ok",
    [YS_RUN_SKIPPED] = "skipped",
    [YS_RUN_UNSUPPORTED] = "unsupported",
    [YS_RUN_MISSING] = "missing",
    [YS_RUN_BUILD_FAILED] = "build_failed",
    [YS_RUN_LOAD_FAILED] = "load_failed",
    [YS_RUN_CRASHED] = "crashed",
    [YS_RUN_KILLED] = "killed",
    [YS_RUN_OOM_HOST] = "oom_host",
    [YS_RUN_OOM_DEVICE] = "oom_device",
    [YS_RUN_TIMEOUT_WALL] = "timeout_wall",
    [YS_RUN_TIMEOUT_CPU] = "timeout_cpu",
    [YS_RUN_STALLED] = "stalled",
    [YS_RUN_DIVERGED] = "diverged",
    [YS_RUN_WRONG_OUTPUT] = "wrong_output",
    [YS_RUN_NOT_CONVERGED] = "not_converged",
    [YS_RUN_PROTOCOL_ERROR] = "protocol_error",
    [YS_RUN_CANCELLED] = "cancelled",
};
const struct ys_names ys_run_statuses = YS_NAMES("status of a run", status_words);

static const char *const stage_words[] = {[YS_STAGE_START] = "start",
                                          [YS_STAGE_STOP] = "stop",
                                          [YS_STAGE_PROTOCOL] = "protocol",
#define STAGE(upper, name, reply, part, mode) [YS_STAGE_##upper] = #name,
                                          YS_QUESTIONS(STAGE)
#undef STAGE
};
const struct ys_names ys_stages = YS_NAMES("stage", stage_words);

const char *ys_run_status_name(enum ys_run_status status)
{
    return ys_name_of(&ys_run_statuses, (int)status);
}

bool ys_run_status_is_failure(enum ys_run_status status)
{
    return status != YS_RUN_OK && status != YS_RUN_CANCELLED && status != YS_RUN_UNSUPPORTED;
}

const char *ys_stage_name(int stage)
{
    return ys_name_of(&ys_stages, stage);
}
