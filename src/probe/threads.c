#include "probe/threads.h"
#include "probe/procfs.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

void ys_threads_add(const char *root, pid_t pid, struct ys_thread_share *share)
{
    char path[YS_PROCFS_PATH], text[128];
    snprintf(path, sizeof path, "%s/proc/%d/task", root, pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, atoi(entry->d_name));
        if (entry->d_name[0] == '.' || ys_procfs_read(root, path, text, sizeof text) <= 0)
            continue;
        double used_s = strtod(text, NULL) * 1e-9;
        share->used_s += used_s;
        share->used_squared += used_s * used_s;
    }
    if (folder)
        closedir(folder);
}

double ys_threads_count(const struct ys_thread_share *share)
{
    return share->used_squared > 0 ? share->used_s * share->used_s / share->used_squared : 0;
}
