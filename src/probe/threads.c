#include "probe/threads.h"
#include "probe/procfs.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 8192, STATUS_BYTES = 16384 };

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

/* Whether `status`, of a thread, allows a CPU that is not among `cpus`. */
static bool is_astray(const char *status, const int *cpus, size_t count)
{
    static const char name[] = "\nCpus_allowed_list:";
    static int allowed[MOST_CPUS];
    const char *field = strstr(status, name);
    char line[STATUS_BYTES / 8];
    if (!field)
        return false;
    field += strlen(name);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(field, "\n"), field);
    int listed = ys_procfs_list(line, allowed, MOST_CPUS);
    for (int i = 0; i < listed && i < MOST_CPUS; i++) {
        bool is_given = false;
        for (size_t k = 0; !is_given && k < count; k++)
            is_given = allowed[i] == cpus[k];
        if (!is_given)
            return true;
    }
    return false;
}

size_t ys_threads_astray(const char *root, pid_t pid, const int *cpus, size_t count)
{
    char path[YS_PROCFS_PATH], text[STATUS_BYTES];
    size_t astray = 0;
    snprintf(path, sizeof path, "%s/proc/%d/task", root, pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, atoi(entry->d_name));
        if (entry->d_name[0] != '.' && ys_procfs_read(root, path, text, sizeof text) > 0)
            astray += is_astray(text, cpus, count);
    }
    if (folder)
        closedir(folder);
    return astray;
}

size_t ys_threads_running(const char *root, pid_t pid)
{
    char path[YS_PROCFS_PATH], text[1024];
    struct ys_proc_stat stat;
    size_t running = 0;
    snprintf(path, sizeof path, "%s/proc/%d/task", root, pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, atoi(entry->d_name));
        if (entry->d_name[0] != '.' && ys_procfs_read(root, path, text, sizeof text) > 0 && ys_procfs_stat(text, &stat))
            running += stat.state != 'T' && stat.state != 'Z';
    }
    if (folder)
        closedir(folder);
    return running;
}
