#include "metric/metric.h"

#include <string.h>

#define TREE          "process tree, exec to end"
#define PARENT_CLOCK  "monotonic clock, read by yardstick"
#define ADAPTER_CLOCK "monotonic clock, read by the adapter around each block"
#define STEADY        "steady blocks"

#define LOWER   YS_BETTER_LOWER
#define HIGHER  YS_BETTER_HIGHER
#define NEITHER YS_BETTER_NEITHER

/* name, unit, better, method, scope, source, learning, whole */
static const struct ys_metric_info infos[] = {
    {"wall_s", "s", LOWER, "counter", "exec to the last process gone, and the evaluation", PARENT_CLOCK, false, false},
    {"start_s", "s", LOWER, "counter", "exec to hello", PARENT_CLOCK, false, false},
    {"build_s", "s", LOWER, "counter", "open to opened", PARENT_CLOCK, false, false},
    {"first_step_s", "s", LOWER, "counter", "the first step", ADAPTER_CLOCK, false, false},
    {"warmup_s", "s", LOWER, "counter", "blocks after the first step, before the steady ones", ADAPTER_CLOCK, false,
     false},
    {"train_s", "s", LOWER, "counter", STEADY, ADAPTER_CLOCK, false, false},
    {"eval_s", "s", LOWER, "counter", "saves between steps, and the evaluation by yardstick-builtin", PARENT_CLOCK,
     true, false},
    {"save_s", "s", LOWER, "counter", "save to saved", PARENT_CLOCK, false, false},
    {"stop_s", "s", LOWER, "counter", "bye to the last process gone", PARENT_CLOCK, false, false},
    {"rest_s", "s", LOWER, "derived", "wall_s without its parts", PARENT_CLOCK, false, false},
    {"input_s", "s", LOWER, "counter", STEADY, "the adapter's count of time waited for data", false, false},
    {"compute_s", "s", LOWER, "derived", STEADY, "train_s - input_s", false, false},
    {"step_s", "s", LOWER, "derived", STEADY ", median", ADAPTER_CLOCK, false, false},
    {"rate_per_s", "1/s", HIGHER, "derived", STEADY ", sum of samples / sum of seconds", ADAPTER_CLOCK, false, false},
    {"accuracy", "1", HIGHER, "exact", "all test rows", "yardstick-builtin on the saved weights", true, false},
    {"test_loss", "1", LOWER, "exact", "all test rows", "yardstick-builtin on the saved weights", true, false},
    {"final_loss", "1", LOWER, "exact", "the last batch trained on", "the adapter", true, false},
    {"cpu_s", "s", LOWER, "counter", TREE, "kernel, at reaping", false, false},
    {"cpu_user_s", "s", LOWER, "counter", TREE, "kernel, at reaping", false, false},
    {"cpu_system_s", "s", LOWER, "counter", TREE, "kernel, at reaping", false, false},
    {"cpu_per_wall", "1", NEITHER, "derived", TREE, "cpu_s over the seconds from exec to end", false, false},
    {"threads_peak", "1", LOWER, "sampled", TREE, "/proc, sampled", false, true},
    {"context_switches", "1", LOWER, "counter", TREE, "kernel, at reaping", false, true},
    {"rss_peak_bytes", "B", LOWER, "sampled", TREE, "/proc, sampled", false, true},
    {"parameters", "1", NEITHER, "exact", "the model", "the adapter, after opening", true, true},
    {"multiply_adds", "1", NEITHER, "exact", "one row forward", "counted over the graph", true, true},
    {"flops_per_s", "1/s", HIGHER, "derived", STEADY, "multiply_adds and rate_per_s", true, false},
    {"weights_bytes", "B", LOWER, "exact", "the saved weights, safetensors in float32", "file size", true, true},
    {"harness_cpu_share", "1", LOWER, "counter", "yardstick itself, exec to end", "kernel", false, false},
};

const struct ys_metric_info *ys_metric_infos(size_t *count)
{
    *count = sizeof infos / sizeof infos[0];
    return infos;
}

const struct ys_metric_info *ys_metric_find(const char *name)
{
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
        if (strcmp(infos[i].name, name) == 0)
            return &infos[i];
    }
    return NULL;
}
