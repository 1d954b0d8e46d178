#include "study/disk_full.h"

#include <string.h>
#include <sys/statvfs.h>

#define LEAST_FREE_BYTES (1 << 20) /* less than this a log and a page of the database can need */

/* The adapter's own words, which are the system's. */
static bool says_so(const char *text)
{
    return text && (strstr(text, "No space left on device") || strstr(text, "Disk quota exceeded"));
}

static bool lacks_something(const struct ys_trial *trial, const struct ys_facts *facts)
{
    if (facts->status != YS_RUN_OK)
        return ys_run_status_is_failure(facts->status);
    if (facts->agreement)
        return facts->agreement->reason != NULL;
    return !trial->framework->no_work && facts->weights && !facts->evaluation;
}

/* What a run writes: its weights, where it trains. */
static double needed_bytes(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const bool saves = ys_mode_of(keys->mode)->trains && !trial->framework->no_work;
    const double each = (double)ys_dtype_size(ys_format_of(keys->precision)->dtype);
    double weights = saves ? (double)trial->parameters * each : 0;
    return weights + LEAST_FREE_BYTES;
}

bool ys_disk_stopped(const struct ys_trial *trial, const struct ys_facts *facts, const char *folder)
{
    struct statvfs disk;
    if (!lacks_something(trial, facts))
        return false;
    if (says_so(facts->message) || says_so(facts->log_tail))
        return true;
    if (statvfs(folder, &disk) != 0 || disk.f_blocks == 0)
        return false;
    return (double)disk.f_bavail * (double)disk.f_frsize < needed_bytes(trial) || (disk.f_files && !disk.f_favail);
}
