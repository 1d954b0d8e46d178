/* The temporary folders that adapters are given (run/session.c), and who still uses one. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/clean.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char PREFIX[] = "yardstick-";
enum { RANDOM_LETTERS = 6, YOUNGEST_S = 60 };

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

static bool links_below(const char *link, const char *folder)
{
    char target[PATH_MAX];
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = 0;
    return is_below(target, folder);
}

static bool has_open_file_below(const char *process, const char *folder)
{
    char *fds = ys_path_join(process, "fd");
    DIR *entries = fds ? opendir(fds) : NULL;
    bool found = false;
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        char *link = ys_path_join(fds, entry->d_name);
        found = link && links_below(link, folder);
        ys_free(link);
    }
    if (entries)
        closedir(entries);
    ys_free(fds);
    return found;
}

/* The variable may name the folder through a link, so its name alone, which is drawn at random, is looked for. */
static bool has_tmpdir_below(const char *process, const char *folder)
{
    static const char NAME[] = "TMPDIR=";
    struct ys_buf text = {0};
    char *path = ys_path_join(process, "environ");
    bool found = false;
    if (path && ys_fs_read(path, (size_t)1 << 24, &text) == YS_OK)
        for (const char *at = text.data; !found && at < text.data + text.size; at += strlen(at) + 1)
            found = strncmp(at, NAME, strlen(NAME)) == 0 && strstr(at, ys_path_base(folder));
    ys_buf_free(&text);
    ys_free(path);
    return found;
}

/* Whether a process of this user works in `folder`, has a file of it open, or was told to put its temporary files
 * there. What cannot be read of a process is none of these. */
static bool is_used(const char *folder)
{
    DIR *processes = opendir("/proc");
    bool used = !processes; /* then nothing is known */
    for (struct dirent *entry; processes && !used && (entry = readdir(processes));) {
        struct stat owner;
        char process[64], cwd[80];
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || strlen(entry->d_name) > 20)
            continue;
        snprintf(process, sizeof process, "/proc/%.20s", entry->d_name);
        snprintf(cwd, sizeof cwd, "%s/cwd", process);
        if (stat(process, &owner) == 0 && owner.st_uid == getuid())
            used =
                links_below(cwd, folder) || has_tmpdir_below(process, folder) || has_open_file_below(process, folder);
    }
    if (processes)
        closedir(processes);
    return used;
}

static ys_status visit(const struct ys_clean *clean, const char *path, const char *name, bool is_folder, bool *taken)
{
    struct stat entry;
    *taken = true;
    const bool is_ours = is_folder && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
                         strlen(name) == strlen(PREFIX) + RANDOM_LETTERS && lstat(path, &entry) == 0 &&
                         entry.st_uid == getuid();
    if (!is_ours || time(NULL) - entry.st_mtime < YOUNGEST_S || is_used(path))
        return YS_OK;
    return ys_clean_away(clean, path, "a framework's temporary folder");
}

ys_status ys_sweep_temporary(const struct ys_clean *clean)
{
    const char *set = getenv("TMPDIR");
    char resolved[PATH_MAX]; /* as the links of /proc name it */
    if (!realpath(set && *set ? set : "/tmp", resolved))
        return YS_OK;
    return ys_clean_walk(clean, resolved, 1, visit);
}
