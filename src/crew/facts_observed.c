/* What was observed of a session, as a fact of its run. */
#include "base/mem.h"
#include "crew/facts.h"

static int64_t known(uint64_t value, bool is_known)
{
    return is_known ? (int64_t)value : YS_FIELD_NONE;
}

/** The peak without page cache: the largest sample, and at least what the kernel's peak leaves when all of the cache
 * that was ever there is taken off, which no spike between two samples escapes. */
static uint64_t own_peak(const struct ys_observed *seen)
{
    uint64_t peak = seen->usage.peak_bytes, cache = seen->cache_peak_bytes, least = peak > cache ? peak - cache : 0;
    return least > seen->held_peak_bytes ? least : seen->held_peak_bytes;
}

void ys_observe_fill(const struct ys_observed *seen, const struct ys_tree_peak *peak,
                     struct ys_facts_observation *facts)
{
    const struct ys_group_usage *usage = &seen->usage;
    const uint64_t own = own_peak(seen);
    const bool has_peak = usage->has_memory && usage->peak_bytes > 0, has_pss = seen->pss_peak_bytes > 0;
    *facts = (struct ys_facts_observation){
        .guarded = seen->is_guarded,
        .guard = ys_strdup(seen->guard),
        .grouped = seen->is_grouped,
        .killed_as_a_whole = seen->can_kill,
        .group = ys_strdup(seen->group),
        .cpu_ns = known(usage->cpu_ns, usage->has_cpu),
        .memory_peak_bytes = known(usage->peak_bytes, has_peak),
        .memory_own_peak_bytes = known(own, has_peak),
        .memory_own_least_bytes = known(seen->held_peak_bytes, has_peak),
        .memory_own_most_bytes = known(seen->held_most_bytes > own ? seen->held_most_bytes : own, has_peak),
        .cache_peak_bytes = known(seen->cache_peak_bytes, usage->has_memory),
        .swap_peak_bytes =
            usage->has_memory ? (int64_t)seen->swap_peak_bytes : known(peak->swap_bytes, peak->samples > 0),
        .tasks_peak = known(usage->tasks_peak, usage->has_tasks && usage->tasks_peak),
        .cpu_wait_ns = known(peak->wait_ns, peak->samples > 0 && peak->has_wait),
        .read_bytes = known(seen->io.asked_read, seen->has_io),
        .written_bytes = known(seen->io.asked_written, seen->has_io),
        .disk_read_bytes = known(seen->io.disk_read, seen->has_io),
        .disk_written_bytes = known(seen->io.disk_written, seen->has_io),
        .sampled_shared_bytes = known(peak->shared_bytes, peak->samples > 0),
        .shared_rss_bytes = known(seen->shared_rss_bytes, has_pss),
        .shared_pss_bytes = known(seen->shared_pss_bytes, has_pss),
        .pss_peak_bytes = known(seen->pss_peak_bytes, has_pss),
    };
}
