#include "probe/thread_count.h"

#include "base/mem.h"
#include "probe/procfs.h"
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 8192, STATUS_BYTES = 16384 };

/* Whoever does less than this part of the work is none of those who do it. */
static const double HELPER = 0.05;

void ys_threads_note(const char *root, pid_t pid, struct ys_thread_uses *uses)
{
    char path[YS_PROCFS_PATH], text[128];
    snprintf(path, sizeof path, "%s/proc/%d/task", root, pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, atoi(entry->d_name));
        if (entry->d_name[0] == '.' || ys_procfs_read(root, path, text, sizeof text) <= 0)
            continue;
        uses->items = ys_grown(uses->items, uses->count, &uses->capacity, sizeof *uses->items);
        uses->items[uses->count++] = (struct ys_thread_use){pid, atoi(entry->d_name), strtod(text, NULL) * 1e-9};
    }
    if (folder)
        closedir(folder);
}

void ys_threads_fini(struct ys_thread_uses *uses)
{
    ys_free(uses->items);
    *uses = (struct ys_thread_uses){0};
}

static double used_since(const struct ys_thread_uses *before, const struct ys_thread_use *now)
{
    for (size_t i = 0; i < before->count; i++)
        if (before->items[i].tid == now->tid)
            return now->used_s - before->items[i].used_s;
    return now->used_s;
}

/* The CPUs that `status`, of a thread, allows, as a list of at most MOST_CPUS; how many. */
static int allowed_cpus(const char *status, int *cpus)
{
    static const char name[] = "\nCpus_allowed_list:";
    const char *field = strstr(status, name);
    char line[STATUS_BYTES / 8];
    if (!field)
        return 0;
    field += strlen(name);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(field, "\n"), field);
    const int listed = ys_procfs_list(line, cpus, MOST_CPUS);
    return listed < MOST_CPUS ? listed : MOST_CPUS;
}

/* How many CPUs of those of a thread are new among `all`. */
static int add_cpus(const char *root, const struct ys_thread_use *use, bool *all)
{
    static int allowed[MOST_CPUS];
    char path[YS_PROCFS_PATH], text[STATUS_BYTES];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", use->pid, use->tid);
    const int count = ys_procfs_read(root, path, text, sizeof text) > 0 ? allowed_cpus(text, allowed) : 0;
    for (int i = 0; i < count; i++) {
        if (allowed[i] < 0 || allowed[i] >= MOST_CPUS || all[allowed[i]])
            continue;
        all[allowed[i]] = true;
        found++;
    }
    return found;
}

struct ys_threads_worked ys_threads_worked(const char *root, const struct ys_thread_uses *before,
                                           const struct ys_thread_uses *after)
{
    bool all[MOST_CPUS] = {false};
    double used_s = 0, squared = 0;
    struct ys_threads_worked found = {0};
    for (size_t i = 0; i < after->count; i++) {
        const double own_s = used_since(before, &after->items[i]);
        used_s += own_s;
        squared += own_s * own_s;
    }
    for (size_t i = 0; used_s > 0 && i < after->count; i++)
        if (used_since(before, &after->items[i]) >= HELPER * used_s)
            found.cpus += add_cpus(root, &after->items[i], all);
    found.shared = squared > 0 ? used_s * used_s / squared : 0;
    return found;
}

/* Whether `status`, of a thread, allows a CPU that is not among `cpus`. */
static bool is_astray(const char *status, const int *cpus, size_t count)
{
    static int allowed[MOST_CPUS];
    const int listed = allowed_cpus(status, allowed);
    for (int i = 0; i < listed; i++) {
        bool is_given = false;
        for (size_t k = 0; !is_given && k < count; k++)
            is_given = allowed[i] == cpus[k];
        if (!is_given)
            return true;
    }
    return false;
}

bool ys_threads_alone(double shared, int64_t cpus, int64_t processes)
{
    static const double one = 1.22; /* of nine tenths and a tenth: 1 / (0.81 + 0.01) */
    return (shared > 0 && shared < one * (double)processes) || (cpus > 0 && cpus <= processes);
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
