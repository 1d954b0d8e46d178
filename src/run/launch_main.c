/* yardstick-launch: the tiny static program that becomes the adapter.
 *
 * The kernel hands a process's peak memory on to whatever it executes, and a process started from a large parent begins
 * with the parent's peak, with posix_spawn and vfork as with fork. So the adapter is a fresh copy of this program, of
 * some hundred kilobytes, made as a sibling (CLONE_PARENT): a direct child of yardstick, whose account with the kernel
 * starts at nothing.
 *
 *     yardstick-launch PARENT FOLDER CPUS PROGRAM ARGUMENT...
 *
 * PARENT is yardstick's process number, CPUS a list of numbers or "-". Descriptors: 0 to 2 as the adapter shall have
 * them, 3 the channel, 4 the notes (run/launch_note.h). Every other one is closed. */
#include "run/launch_note.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_CPUS = 8192, EXIT_NOT_EXECUTED = 127 };

static void say(enum ys_launch_note_kind kind, int value)
{
    struct ys_launch_note note = {.kind = (int32_t)kind, .value = value};
    ssize_t written = write(YS_LAUNCH_NOTE_FD, &note, sizeof note);
    (void)written; /* when nobody listens any more there is nobody to tell */
}

static _Noreturn void give_up(enum ys_launch_note_kind kind, int value)
{
    say(kind, value);
    _exit(EXIT_NOT_EXECUTED);
}

static void close_others(void)
{
    if (syscall(SYS_close_range, YS_LAUNCH_NOTE_FD + 1, ~0U, 0) == 0)
        return;
    struct rlimit limit; /* kernels before 5.9 */
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = YS_LAUNCH_NOTE_FD + 1; fd < end; fd++)
        close(fd);
}

static void reset_signals(void)
{
    /* The kernel's own form of the structure, all zero: SIG_DFL, no flags. The C library would refuse the two numbers
     * that it keeps for itself, and those are inherited as ignored like any other. */
    static const unsigned long standard[8];
    for (int number = 1; number <= 64; number++)
        syscall(SYS_rt_sigaction, number, standard, NULL, sizeof(uint64_t));
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void bind_to(const char *list)
{
    static unsigned long mask[MOST_CPUS / (8 * sizeof(unsigned long))];
    if (strcmp(list, "-") == 0)
        return;
    while (*list) {
        char *end;
        long cpu = strtol(list, &end, 10);
        if (end == list || cpu < 0 || cpu >= MOST_CPUS)
            give_up(YS_LAUNCH_NO_CPUS, EINVAL);
        mask[(size_t)cpu / (8 * sizeof *mask)] |= 1UL << ((size_t)cpu % (8 * sizeof *mask));
        list = end + (*end == ',');
    }
    if (syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) != 0)
        give_up(YS_LAUNCH_NO_CPUS, errno);
}

static _Noreturn void become(pid_t parent, const char *folder, const char *cpus, char **program)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before that took effect */
        give_up(YS_LAUNCH_ORPHANED, 0);
    setsid();
    static const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    bind_to(cpus);
    if (chdir(folder) != 0)
        give_up(YS_LAUNCH_NO_FOLDER, errno);
    fcntl(YS_LAUNCH_NOTE_FD, F_SETFD, FD_CLOEXEC);
    execvp(program[0], program);
    give_up(YS_LAUNCH_NO_EXEC, errno);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long parent = argc >= 5 ? strtol(argv[1], &end, 10) : 0;
    if (parent <= 0 || *end)
        give_up(YS_LAUNCH_BAD_USE, 0);
    close_others();
    reset_signals();
    long process = syscall(SYS_clone, (unsigned long)(CLONE_PARENT | SIGCHLD), 0, 0, 0, 0);
    if (process < 0)
        give_up(YS_LAUNCH_NO_PROCESS, errno);
    if (process == 0)
        become((pid_t)parent, argv[2], argv[3], argv + 4);
    say(YS_LAUNCH_STARTED, (int)process);
    return 0;
}
