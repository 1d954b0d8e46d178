#include "base/process/keeper_duties.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 64, LONGEST_PAUSE_NS = 50000000 };

int ys_keep_begin(void)
{
    sigset_t all, ends;
    sigfillset(&all);
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, children would vanish unseen */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return -1;
    return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool ys_keep_child(pid_t keeper)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) /* it ended before that took effect */
        return false;
    setsid();
    /* The kernel's own form of the structure, all zero: SIG_DFL, no flags. The C library would refuse the two numbers
     * that it keeps for itself, and those are inherited as ignored like any other. */
    static const unsigned long standard[8];
    for (int number = 1; number <= SIGNALS; number++)
        syscall(SYS_rt_sigaction, number, standard, NULL, sizeof(uint64_t));
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return true;
}

static void close_between(int first, int end)
{
    struct rlimit limit;
    if (first >= end || syscall(SYS_close_range, first, end - 1, 0) == 0)
        return;
    int last = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = first; fd < end && fd < last; fd++) /* kernels before 5.9 */
        close(fd);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void ys_keep_only(int first, int *kept, size_t count)
{
    if (count > 1)
        qsort(kept, count, sizeof *kept, by_number);
    for (size_t i = 0; i < count; i++) {
        if (kept[i] < first)
            continue;
        close_between(first, kept[i]);
        first = kept[i] + 1;
    }
    close_between(first, INT32_MAX);
}

/* Whether /proc numbers processes as kill() does. */
static bool sees_itself(void)
{
    char text[32] = "";
    return readlink("/proc/self", text, sizeof text - 1) > 0 && atoi(text) == getpid();
}

static void kill_number(long number)
{
    if (number > 1)
        kill((pid_t)number, SIGKILL);
}

/* False where the kernel has no such file (CONFIG_PROC_CHILDREN). */
static bool kill_listed(void)
{
    char block[4096];
    long number = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (ssize_t got; (got = read(fd, block, sizeof block)) > 0;) {
        for (ssize_t i = 0; i < got; i++) {
            bool is_digit = block[i] >= '0' && block[i] <= '9';
            if (!is_digit)
                kill_number(number);
            number = is_digit ? 10 * number + (block[i] - '0') : 0;
        }
    }
    kill_number(number);
    close(fd);
    return true;
}

static long parent_of(const char *name)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *after_name = strrchr(text, ')'); /* then a blank, the state, a blank and the parent */
    return after_name && strlen(after_name) > 4 ? atol(after_name + 4) : 0;
}

static void kill_found(void)
{
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        long number = atol(entry->d_name);
        if (number > 1 && parent_of(entry->d_name) == getpid())
            kill_number(number);
    }
    if (folder)
        closedir(folder);
}

void ys_keep_kill(pid_t known)
{
    kill_number(known);
    if (sees_itself() && !kill_listed())
        kill_found();
}

void ys_keep_hear(int signals_fd)
{
    struct signalfd_siginfo heard;
    while (read(signals_fd, &heard, sizeof heard) > 0)
        continue;
}

void ys_keep_end_all(pid_t known)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    for (long pause_ns = 200000;; pause_ns = pause_ns < LONGEST_PAUSE_NS ? 2 * pause_ns : pause_ns) {
        pid_t ended;
        ys_keep_kill(known);
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            known = ended == known ? 0 : known;
        if (ended < 0) /* no child is left, so no descendant: its ancestor would be one */
            return;
        struct timespec pause = {.tv_nsec = pause_ns};
        sigtimedwait(&ends, NULL, &pause);
    }
}
