/* What the kernel counts for a session's control group; where there is none, what samples of its tree say. */
#include "probe/observed/observation.h"

struct group_peaks {
    uint64_t held_bytes, cache_bytes, swap_bytes; /* largest of the usage's as sampled */
    uint64_t held_most_bytes;                     /* what can have been held between two samples at most */
    uint64_t other_bytes;                         /* usage.other_bytes of the last sample */
};

static void raise_to(uint64_t *peak, uint64_t value)
{
    *peak = value > *peak ? value : *peak;
}

/* Between two samples no more can have been held than the kernel's peak leaves when what both samples saw of page cache
 * and the kernel's own memory is taken off: these shrink where memory is short, or files are removed, and hardly else.
 */
static void sample_group(void *state, const struct ys_probed *session)
{
    struct group_peaks *peaks = state;
    const struct ys_group_usage *usage = session->usage;
    const uint64_t now = usage->other_bytes, other = now < peaks->other_bytes ? now : peaks->other_bytes;
    raise_to(&peaks->held_most_bytes, usage->peak_bytes > other ? usage->peak_bytes - other : 0);
    peaks->other_bytes = now;
    raise_to(&peaks->held_bytes, usage->held_bytes);
    raise_to(&peaks->cache_bytes, usage->cache_bytes);
    raise_to(&peaks->swap_bytes, usage->swap_bytes);
}

static int64_t known(uint64_t value, bool is_known)
{
    return is_known ? (int64_t)value : YS_FIELD_NONE;
}

/** The peak without page cache: the largest sample, and at least what the kernel's peak leaves when all of the cache
 * that was ever there is taken off, which no spike between two samples escapes. */
static uint64_t own_peak(const struct group_peaks *peaks, uint64_t peak)
{
    const uint64_t least = peak > peaks->cache_bytes ? peak - peaks->cache_bytes : 0;
    return least > peaks->held_bytes ? least : peaks->held_bytes;
}

static void end_group(void *state, const struct ys_probed *session, struct ys_observation *found)
{
    const struct group_peaks *peaks = state;
    const struct ys_group_usage *usage = session->usage;
    const struct ys_tree_peak *tree = session->peak;
    const uint64_t own = own_peak(peaks, usage->peak_bytes);
    const uint64_t most = peaks->held_most_bytes > own ? peaks->held_most_bytes : own;
    const bool has_peak = usage->has_memory && usage->peak_bytes > 0, is_sampled = tree->samples > 0;
    found->cpu_ns = known(usage->cpu_ns, usage->has_cpu);
    found->memory_peak_bytes = known(usage->peak_bytes, has_peak);
    found->memory_own_peak_bytes = known(own, has_peak);
    found->memory_own_least_bytes = known(peaks->held_bytes, has_peak);
    found->memory_own_most_bytes = known(most, has_peak);
    found->cache_peak_bytes = known(peaks->cache_bytes, usage->has_memory);
    found->swap_peak_bytes = usage->has_memory ? (int64_t)peaks->swap_bytes : known(tree->swap_bytes, is_sampled);
    found->tasks_peak = known(usage->tasks_peak, usage->has_tasks && usage->tasks_peak);
    found->cpu_wait_ns = known(tree->wait_ns, is_sampled && tree->has_wait);
    found->sampled_shared_bytes = known(tree->shared_bytes, is_sampled);
}

const struct ys_probe ys_group_figures_probe = {
    .size_bytes = sizeof(struct group_peaks), .sample = sample_group, .end = end_group};
