#include "session/observe.h"
#include "base/mem.h"
#include "probe/procfs.h"
#include "session/guard.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ys_observe_open(struct ys_observe *observe, uint64_t memory_limit_bytes)
{
    static bool has_swept;
    const char *wish = getenv("YARDSTICK_CGROUP");
    *observe = (struct ys_observe){.seen.usage.oom_kills = -1};
    ys_leftover_begin(&observe->leftover, NULL);
    if (wish && strcmp(wish, "off") == 0) {
        snprintf(observe->seen.group, sizeof observe->seen.group, "YARDSTICK_CGROUP is off");
        return;
    }
    if (!has_swept)
        ys_group_sweep("");
    has_swept = true;
    if (ys_group_open("", memory_limit_bytes, &observe->group) != YS_OK) {
        snprintf(observe->seen.group, sizeof observe->seen.group, "%s", ys_error());
        return;
    }
    observe->seen.is_grouped = true;
    observe->seen.can_kill = ys_group_can_kill(observe->group);
    snprintf(observe->seen.group, sizeof observe->seen.group, "%s", ys_group_text(observe->group));
}

static bool read_io(pid_t pid, struct ys_observe_io *io)
{
    char path[64], text[512];
    int64_t asked_read, asked_written, disk_read, disk_written;
    snprintf(path, sizeof path, "/proc/%d/io", pid);
    if (pid <= 0 || ys_procfs_read("", path, text, sizeof text) <= 0 || !ys_procfs_field(text, "rchar", &asked_read) ||
        !ys_procfs_field(text, "wchar", &asked_written) || !ys_procfs_field(text, "read_bytes", &disk_read) ||
        !ys_procfs_field(text, "write_bytes", &disk_written))
        return false;
    *io = (struct ys_observe_io){(uint64_t)asked_read, (uint64_t)asked_written, (uint64_t)disk_read,
                                 (uint64_t)disk_written};
    return true;
}

static void note_guard(struct ys_observed *seen, const struct ys_started *process)
{
    const char *reason = "";
    seen->is_guarded = process->guard_version > 0;
    if (seen->is_guarded)
        snprintf(seen->guard, sizeof seen->guard, "Landlock, version %d", process->guard_version);
    else if (process->guard_errno)
        snprintf(seen->guard, sizeof seen->guard, "Landlock refused: %s", strerror(process->guard_errno));
    else if (ys_guard_version(&reason) == 0)
        snprintf(seen->guard, sizeof seen->guard, "%s", reason);
}

void ys_observe_begun(struct ys_observe *observe, const struct ys_started *process)
{
    observe->seen.has_io = read_io(process->keeper, &observe->before);
    note_guard(&observe->seen, process);
    const struct ys_tree_member adapter = {.pid = process->pid};
    ys_leftover_look(&observe->leftover, &adapter, 1);
    if (!observe->group)
        return;
    ys_group_joined(observe->group);
    if (!process->group_errno)
        return;
    ys_group_close(observe->group);
    observe->group = NULL;
    observe->seen.is_grouped = observe->seen.can_kill = false;
    snprintf(observe->seen.group, sizeof observe->seen.group, "one was made, but could not be joined: %s",
             strerror(process->group_errno));
}

static void raise_to(uint64_t *peak, uint64_t value)
{
    *peak = value > *peak ? value : *peak;
}

/* Between two samples no more can have been held than the kernel's peak leaves when what both samples saw of page cache
 * and the kernel's own memory is taken off: these shrink where memory is short, or files are removed, and hardly else.
 */
static void raise_peaks(struct ys_observed *seen)
{
    const uint64_t peak = seen->usage.peak_bytes, now = seen->usage.other_bytes;
    const uint64_t other = now < seen->other_bytes ? now : seen->other_bytes;
    raise_to(&seen->held_most_bytes, peak > other ? peak - other : 0);
    seen->other_bytes = now;
    raise_to(&seen->held_peak_bytes, seen->usage.held_bytes);
    raise_to(&seen->cache_peak_bytes, seen->usage.cache_bytes);
    raise_to(&seen->swap_peak_bytes, seen->usage.swap_bytes);
}

void ys_observe_sample(struct ys_observe *observe)
{
    if (!observe->group)
        return;
    ys_group_sample(observe->group, &observe->seen.usage);
    raise_peaks(&observe->seen);
}

void ys_observe_look(struct ys_observe *observe)
{
    if (!observe->group)
        return;
    ys_group_read(observe->group, &observe->seen.usage);
    raise_peaks(&observe->seen);
}

void ys_observe_phase(struct ys_observe *observe, const struct ys_tree_member *members, size_t count)
{
    uint64_t rss_bytes = 0, pss_bytes = 0;
    size_t living = 0;
    ys_observe_sample(observe);
    ys_leftover_look(&observe->leftover, members, count);
    for (size_t i = 0; i < count; i++)
        living += members[i].state != 'Z';
    if (living < 2) /* reading it holds a lock of the process: of one alone it would say nothing */
        return;
    for (size_t i = 0; i < count; i++) {
        char path[64], text[4096];
        int64_t rss_kb, pss_kb;
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", members[i].pid);
        if (members[i].state == 'Z' || ys_procfs_read("", path, text, sizeof text) <= 0 ||
            !ys_procfs_field(text, "Rss", &rss_kb) || !ys_procfs_field(text, "Pss", &pss_kb))
            continue;
        rss_bytes += (uint64_t)rss_kb * 1024;
        pss_bytes += (uint64_t)pss_kb * 1024;
    }
    struct ys_observed *seen = &observe->seen;
    raise_to(&seen->pss_peak_bytes, pss_bytes);
    if (rss_bytes - pss_bytes > seen->shared_rss_bytes - seen->shared_pss_bytes) {
        seen->shared_rss_bytes = rss_bytes;
        seen->shared_pss_bytes = pss_bytes;
    }
}

void ys_observe_ended(struct ys_observe *observe, const struct ys_started *process, ys_json *warnings)
{
    struct ys_observe_io after;
    struct ys_observed *seen = &observe->seen;
    ys_observe_look(observe);
    if (warnings)
        ys_leftover_end(&observe->leftover, warnings);
    seen->has_io = seen->has_io && !process->is_lost && read_io(process->keeper, &after);
    if (!seen->has_io)
        return;
    seen->io = (struct ys_observe_io){
        after.asked_read - observe->before.asked_read, after.asked_written - observe->before.asked_written,
        after.disk_read - observe->before.disk_read, after.disk_written - observe->before.disk_written};
}

void ys_observe_close(struct ys_observe *observe)
{
    ys_group_close(observe->group);
    observe->group = NULL;
    ys_leftover_fini(&observe->leftover);
}
