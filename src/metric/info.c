#include "metric/metric.h"

#include <string.h>

#define TREE            "process tree, exec to end"
#define PARENT_CLOCK    "monotonic clock, read by yardstick"
#define ADAPTER_CLOCK   "monotonic clock, read by the adapter around each block or request"
#define STEADY          "steady blocks"
#define STEADY_REQUESTS "steady requests"

#define GROUP "the run's control group"

#define LOWER   YS_BETTER_LOWER
#define HIGHER  YS_BETTER_HIGHER
#define NEITHER YS_BETTER_NEITHER

#define TRAIN "train"
#define INFER "infer"
#define BOTH  NULL

/* name, unit, better, method, scope, source, learning, whole, mode */
static const struct ys_metric_info infos[] = {
    {"wall_s", "s", LOWER, "counter", "exec to the last process gone, and the evaluation", PARENT_CLOCK, false, false,
     BOTH},
    {"start_s", "s", LOWER, "counter", "exec to hello", PARENT_CLOCK, false, false, BOTH},
    {"build_s", "s", LOWER, "counter", "open to opened", PARENT_CLOCK, false, false, BOTH},
    {"first_step_s", "s", LOWER, "counter", "the first step or request", ADAPTER_CLOCK, false, false, BOTH},
    {"warmup_s", "s", LOWER, "counter", "blocks or requests after the first, before the steady ones", ADAPTER_CLOCK,
     false, false, BOTH},
    {"train_s", "s", LOWER, "counter", STEADY, ADAPTER_CLOCK, false, false, TRAIN},
    {"infer_s", "s", LOWER, "counter", STEADY_REQUESTS, ADAPTER_CLOCK, false, false, INFER},
    {"eval_s", "s", LOWER, "counter", "saves between steps, and the evaluation by yardstick-builtin", PARENT_CLOCK,
     true, false, TRAIN},
    {"save_s", "s", LOWER, "counter", "save to saved", PARENT_CLOCK, false, false, TRAIN},
    {"stop_s", "s", LOWER, "counter", "bye to the last process gone", PARENT_CLOCK, false, false, BOTH},
    {"rest_s", "s", LOWER, "derived", "wall_s without its parts", PARENT_CLOCK, false, false, BOTH},
    {"input_s", "s", LOWER, "counter", STEADY, "the adapter's count of time waited for data", false, false, TRAIN},
    {"compute_s", "s", LOWER, "derived", STEADY, "train_s - input_s", false, false, TRAIN},
    {"step_s", "s", LOWER, "derived", STEADY ", median", ADAPTER_CLOCK, false, false, TRAIN},
    {"latency_p50_s", "s", LOWER, "derived", STEADY_REQUESTS ", median", ADAPTER_CLOCK, false, false, INFER},
    {"latency_p90_s", "s", LOWER, "derived", STEADY_REQUESTS ", 90th percentile", ADAPTER_CLOCK, false, false, INFER},
    {"latency_p99_s", "s", LOWER, "derived", STEADY_REQUESTS ", 99th percentile", ADAPTER_CLOCK, false, false, INFER},
    {"latency_max_s", "s", LOWER, "exact", STEADY_REQUESTS ", the longest", ADAPTER_CLOCK, false, false, INFER},
    {"rate_per_s", "1/s", HIGHER, "derived", "steady blocks or requests, sum of samples / sum of seconds",
     ADAPTER_CLOCK, false, false, BOTH},
    {"accuracy", "1", HIGHER, "exact", "all test rows", "yardstick-builtin on the saved weights", true, false, TRAIN},
    {"test_loss", "1", LOWER, "exact", "all test rows", "yardstick-builtin on the saved weights", true, false, TRAIN},
    {"final_loss", "1", LOWER, "exact", "the last batch trained on", "the adapter", true, false, TRAIN},
    {"cpu_s", "s", LOWER, "counter", TREE, GROUP ", else the kernel, at reaping", false, false, BOTH},
    {"cpu_user_s", "s", LOWER, "counter", TREE, GROUP ", else the kernel, at reaping", false, false, BOTH},
    {"cpu_system_s", "s", LOWER, "counter", TREE, GROUP ", else the kernel, at reaping", false, false, BOTH},
    {"cpu_per_wall", "1", NEITHER, "derived", TREE, "cpu_s over the seconds from exec to end", false, false, BOTH},
    {"threads_peak", "1", LOWER, "sampled", TREE, "/proc, sampled", false, true, BOTH},
    {"context_switches", "1", LOWER, "counter", TREE, "kernel, at reaping", false, true, BOTH},
    {"rss_peak_bytes", "B", LOWER, "sampled", TREE, "/proc, sampled", false, true, BOTH},
    {"memory_own_peak_bytes", "B", LOWER, "sampled", TREE ", without page cache", GROUP, false, true, BOTH},
    {"memory_peak_bytes", "B", LOWER, "counter", TREE ", page cache included", GROUP, false, true, BOTH},
    {"swap_peak_bytes", "B", LOWER, "sampled", TREE, GROUP ", else /proc", false, true, BOTH},
    {"page_faults_minor", "1", LOWER, "counter", TREE, "kernel, at reaping", false, true, BOTH},
    {"page_faults_major", "1", LOWER, "counter", TREE, "kernel, at reaping", false, true, BOTH},
    {"cpu_wait_s", "s", LOWER, "sampled", TREE ", all threads", "/proc, sampled", false, false, BOTH},
    {"read_bytes", "B", LOWER, "counter", TREE, "/proc/PID/io, at reaping", false, true, BOTH},
    {"written_bytes", "B", LOWER, "counter", TREE, "/proc/PID/io, at reaping", false, true, BOTH},
    {"disk_read_bytes", "B", LOWER, "counter", TREE, "/proc/PID/io, at reaping", false, true, BOTH},
    {"disk_written_bytes", "B", LOWER, "counter", TREE, "/proc/PID/io, at reaping", false, true, BOTH},
    {"parameters", "1", NEITHER, "exact", "the model", "the adapter, after opening", true, true, BOTH},
    {"multiply_adds", "1", NEITHER, "exact", "one row forward", "counted over the graph", true, true, BOTH},
    {"flops_per_s", "1/s", HIGHER, "derived", "steady blocks or requests", "multiply_adds and rate_per_s", true, false,
     BOTH},
    {"weights_bytes", "B", LOWER, "exact", "the saved weights, safetensors in float32", "file size", true, true, TRAIN},
    {"harness_cpu_share", "1", LOWER, "counter", "yardstick itself, exec to end", "kernel", false, false, BOTH},
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
