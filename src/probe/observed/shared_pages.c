/* How much of their memory several processes share: resident pages summed over them, and each page divided by its
 * users (Rss and Pss of /proc/PID/smaps_rollup), at the end of the phase at which the two differed most. */
#include "probe/observed/observation.h"
#include "probe/procfs.h"
#include <stdio.h>

struct shared_pages {
    int64_t rss_bytes, pss_bytes, pss_peak_bytes; /* 0: at no end of a phase were there two processes */
};

static void look_at_pages(void *state, const struct ys_probed *session)
{
    struct shared_pages *most = state;
    int64_t rss_bytes = 0, pss_bytes = 0;
    size_t living = 0;
    for (size_t i = 0; i < session->process_count; i++)
        living += session->processes[i].state != 'Z';
    if (living < 2) /* reading it holds a lock of the process: of one alone it would say nothing */
        return;
    for (size_t i = 0; i < session->process_count; i++) {
        char path[64], text[4096];
        int64_t rss_kb, pss_kb;
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", session->processes[i].pid);
        if (session->processes[i].state == 'Z' || ys_procfs_read("", path, text, sizeof text) <= 0 ||
            !ys_procfs_field(text, "Rss", &rss_kb) || !ys_procfs_field(text, "Pss", &pss_kb))
            continue;
        rss_bytes += rss_kb * 1024;
        pss_bytes += pss_kb * 1024;
    }
    if (pss_bytes > most->pss_peak_bytes)
        most->pss_peak_bytes = pss_bytes;
    if (rss_bytes - pss_bytes > most->rss_bytes - most->pss_bytes) {
        most->rss_bytes = rss_bytes;
        most->pss_bytes = pss_bytes;
    }
}

static void end_pages(void *state, const struct ys_probed *session, struct ys_observation *found)
{
    const struct shared_pages *most = state;
    (void)session;
    if (most->pss_peak_bytes == 0)
        return;
    found->shared_rss_bytes = most->rss_bytes;
    found->shared_pss_bytes = most->pss_bytes;
    found->pss_peak_bytes = most->pss_peak_bytes;
}

const struct ys_probe ys_shared_pages_probe = {
    .size_bytes = sizeof(struct shared_pages), .phase = look_at_pages, .end = end_pages};
