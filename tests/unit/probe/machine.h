/* Other machines, made by hand: a folder that holds the files of /proc and /sys that a test needs. */
#ifndef YS_TESTS_PROBE_MACHINE_H
#define YS_TESTS_PROBE_MACHINE_H

#include "base/files/fs.h"
#include "base/mem.h"
#include "tap.h"
#include <stdlib.h>
#include <unistd.h>

static char machine_root[64];

__attribute__((unused)) static void machine_remove(void)
{
    if (machine_root[0] && ys_fs_remove_tree(machine_root) != YS_OK)
        printf("# cannot remove %s\n", machine_root);
    machine_root[0] = 0;
}

/** A machine without any file; the one before it is removed. Returns its root. */
__attribute__((unused)) static const char *machine_new(void)
{
    static bool is_registered;
    if (!is_registered)
        atexit(machine_remove);
    is_registered = true;
    machine_remove();
    strcpy(machine_root, "/tmp/ys-test-probe-XXXXXX");
    if (!mkdtemp(machine_root))
        abort();
    return machine_root;
}

/** Gives the machine a file, with the folders above it. */
__attribute__((unused)) static void machine_file(const char *path, const char *text)
{
    char *whole = ys_format("%s%s", machine_root, path), *folder = ys_path_dir(whole);
    FILE *file = ys_fs_make_dirs(folder) == YS_OK ? fopen(whole, "w") : NULL;
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    ys_free(folder);
    ys_free(whole);
}

__attribute__((unused, format(printf, 2, 3))) static void machine_file_f(const char *path, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    machine_file(path, text);
}

/** A process: its stat line (times in clock ticks), one status file a thread, no children files. Threads are numbered
 * from `pid`. */
__attribute__((unused)) static void machine_process(int pid, int parent, char state, const char *name, int user,
                                                    int system, int waited, int threads, int pages, int peak_kb)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    machine_file_f(
        path,
        "%d (%s) %c %d %d %d 0 -1 4194560 100 200 0 0 %d %d %d 0 20 0 %d 0 5000 1000000 %d 18446744073709551615\n", pid,
        name, state, parent, pid, pid, user, system, waited, threads, pages);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    machine_file_f(path, "Name:\t%s\nVmHWM:\t%8d kB\nThreads:\t%d\n", name, peak_kb, threads);
    for (int thread = pid; thread < pid + threads; thread++) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, thread);
        machine_file_f(
            path, "Name:\t%s\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t3\n",
            name);
    }
}

#endif
