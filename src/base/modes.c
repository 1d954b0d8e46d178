#include "base/modes.h"

#include <string.h>

static const char *const words[] = {
    [YS_MODE_TRAIN] = "train", [YS_MODE_INFER] = "infer", [YS_MODE_ATTACK] = "attack", [YS_MODE_SIZE] = "size"};
const struct ys_names ys_modes = YS_NAMES("mode", words);

static const struct ys_mode_facts table[] = {
    [YS_MODE_TRAIN] =
        {
            .mode = YS_MODE_TRAIN,
            .unit = "step",
            .units = "steps",
            .lengths = {"epochs", "steps"},
            .trains = true,
            .passes = 3,       /* forward, for the gradients of the inputs, and for those of the weights */
            .least_passes = 2, /* the first layer needs no gradient of its input */
            .work_metric = "train_s",
            .unit_metric = "step_s",
            .speed_metric = "rate_per_s",
            .does = "this run trains, it answers no requests",
            .verb = "train",
            .speed_at = "trains at",
        },
    [YS_MODE_INFER] =
        {
            .mode = YS_MODE_INFER,
            .unit = "request",
            .units = "requests",
            .lengths = {"requests"},
            .answers = true,
            .times_each = true,
            .passes = 1,
            .least_passes = 1,
            .work_metric = "infer_s",
            .unit_metric = "latency_p50_s",
            .speed_metric = "latency_p50_s",
            .no_turns = "answers requests, which are asked at once (mode = infer)",
            .does = "this run answers requests, it does not train",
            .verb = "run",
            .speed_at = "answers",
        },
    [YS_MODE_ATTACK] =
        {
            .mode = YS_MODE_ATTACK,
            .unit = "gradient",
            .units = "gradients",
            .times_each = true,
            .passes = 2, /* forward, and for the gradients of the inputs; some questions are forward alone */
            .least_passes = 1,
            .work_metric = "gradients_s",
            .unit_metric = "latency_p50_s",
            .speed_metric = "rate_per_s",
            .no_turns = "gives gradients to an attack, whose questions follow from the answers (mode = attack)",
            .does = "this run gives gradients to an attack: it neither trains nor answers requests",
            .verb = "attack",
            .speed_at = "gives gradients to an attack at",
        },
    [YS_MODE_SIZE] =
        {
            .mode = YS_MODE_SIZE,
            .unit = "request",
            .units = "requests from a stored model",
            .answers = true,
            .times_each = true,
            .passes = 1,
            .least_passes = 1,
            .work_metric = "loaded_infer_s",
            .unit_metric = "latency_p50_s",
            .speed_metric = "latency_p50_s",
            .no_turns = "answers from a file that another process has saved before (mode = size)",
            .does = "this run answers from a stored model, it does not train",
            .verb = "store",
            .speed_at = "answers from its stored model",
        },
};
_Static_assert(sizeof table / sizeof table[0] == YS_MODE_COUNT && sizeof words / sizeof words[0] == YS_MODE_COUNT,
               "one row a mode");

const struct ys_mode_facts *ys_mode_of(int mode)
{
    return &table[mode == YS_NAME_NONE ? YS_MODE_TRAIN : mode];
}

int ys_mode_of_length(const char *key)
{
    for (int mode = 0; mode < YS_MODE_COUNT; mode++)
        for (int i = 0; i < 2 && table[mode].lengths[i]; i++)
            if (strcmp(table[mode].lengths[i], key) == 0)
                return mode;
    return YS_NAME_NONE;
}
