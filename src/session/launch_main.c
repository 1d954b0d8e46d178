/* yardstick-launch: the tiny static program that keeps a session: it starts the adapter and stays its parent.
 *
 *     yardstick-launch FOLDER CPUS LOCKS GROUPS GUARD PASSED PROGRAM ARGUMENT...
 *
 * CPUS is a list of numbers or "-"; LOCKS a list of descriptors that it is to hold open for as long as it lives, or
 * "-". GROUPS is one likewise after WORD and a colon: descriptors through which the adapter joins its control groups;
 * where there is a WORD the last of them is one that it is written into at this program's end, which kills the whole
 * group, or thaws it so that it can be killed. GUARD is the descriptor of
 * the Landlock rules (session/guard.h) that the adapter is to be held to, or "-". PASSED is how many descriptors from 6
 * on are the adapter's too. Other descriptors: 0 to 2 as the adapter shall have them, 3 the channel, 4 the notes and 5
 * the pipe that says that the adapter's program has taken over (session/launch_note.h). Every other one is closed.
 *
 * The kernel hands a process's peak memory on to whatever it executes, and a process started from a large parent begins
 * with the parent's peak, with posix_spawn and vfork as with fork. The adapter is a child of this program, of some
 * hundred kilobytes, so that its account with the kernel starts at nothing.
 *
 * Whatever the adapter starts stays below this process, which lives until the last of it is gone: when yardstick says
 * so by closing the notes, or is killed. Nobody is waited for but on yardstick's order: until then what has ended stays
 * in /proc, where yardstick counts it. */
#include "base/process/keeper_duties.h"
#include "session/launch_note.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CPUS = 8192, MOST_LOCKS = 4096, EXIT_NOT_EXECUTED = 127, LANDLOCK_RESTRICT_SELF = 446 };
enum { MOST_GROUPS = 16, REMOVE_TRIES = 200 /* of a millisecond, for what was killed to end */ };

static pid_t adapter; /* 0 once it was waited for */
static bool has_told; /* how the adapter ended */

static int joins[MOST_GROUPS]; /* through which the adapter joins its control groups */
static size_t join_count;
static char groups[MOST_GROUPS][4096]; /* their folders; "": not known */
static int end_fd = -1;                /* into which `end_word` is written at the end; -1: none */
static char end_word[16];
static int passed_count;  /* of the adapter's descriptors from YS_LAUNCH_PASSED_FD on */
static int guard_fd = -1; /* rules of what the adapter may write; -1: none */

static void say(const struct ys_launch_note *note)
{
    ssize_t sent = send(YS_LAUNCH_NOTE_FD, note, sizeof *note, MSG_NOSIGNAL);
    (void)sent; /* when nobody listens any more there is nobody to tell */
}

static _Noreturn void give_up(enum ys_launch_note_kind kind, int value)
{
    say(&(struct ys_launch_note){.kind = (int32_t)kind, .value = value});
    _exit(EXIT_NOT_EXECUTED);
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

/* The folder in which the file of a descriptor lies. */
static void find_folder(int fd, char *folder, size_t size)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

/* Yardstick does it else; it was killed. What is in use a moment longer the next yardstick removes. */
static void remove_groups(void)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    for (size_t i = 0; i < MOST_GROUPS; i++)
        for (int k = 0; groups[i][0] && rmdir(groups[i]) != 0 && errno == EBUSY && k < REMOVE_TRIES; k++)
            nanosleep(&pause, NULL);
}

static bool read_groups(const char *text)
{
    const size_t size = strcspn(text, ":");
    if (text[size] != ':' || size >= sizeof end_word)
        return false;
    memcpy(end_word, text, size);
    for (const char *list = text + size + 1; *list && strcmp(list, "-") != 0;) {
        char *end;
        long fd = strtol(list, &end, 10);
        if (end == list || fd <= YS_LAUNCH_TAKEN_FD || fd > INT32_MAX || join_count == sizeof joins / sizeof *joins)
            return false;
        find_folder((int)fd, groups[join_count], sizeof groups[join_count]);
        joins[join_count++] = (int)fd;
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
        list = end + (*end == ',');
    }
    if (size > 0 && join_count > 0)
        end_fd = joins[--join_count];
    return true;
}

static bool read_guard(const char *text)
{
    char *end;
    long fd = strtol(text, &end, 10);
    if (strcmp(text, "-") == 0)
        return true;
    if (end == text || *end || fd <= YS_LAUNCH_TAKEN_FD || fd > INT32_MAX)
        return false;
    guard_fd = (int)fd;
    fcntl(guard_fd, F_SETFD, FD_CLOEXEC);
    return true;
}

static bool read_passed(const char *text)
{
    char *end;
    long count = strtol(text, &end, 10);
    passed_count = (int)count;
    return end != text && !*end && count >= 0 && count <= YS_LAUNCH_MOST_PASSED;
}

/* Keeps the descriptors of `list`, for this process alone, `ends`, those of the groups and of the guard, and what is
 * passed on; closes the others. */
static bool hold(const char *list, int ends)
{
    static int kept[MOST_LOCKS];
    size_t count = 0;
    kept[count++] = ends;
    for (size_t i = 0; i < join_count; i++)
        kept[count++] = joins[i];
    if (end_fd >= 0)
        kept[count++] = end_fd;
    if (guard_fd >= 0)
        kept[count++] = guard_fd;
    for (int i = 0; i < passed_count; i++)
        kept[count++] = YS_LAUNCH_PASSED_FD + i;
    while (*list && strcmp(list, "-") != 0) {
        char *end;
        long fd = strtol(list, &end, 10);
        if (end == list || fd <= YS_LAUNCH_TAKEN_FD || fd > INT32_MAX || count == MOST_LOCKS)
            return false;
        kept[count++] = (int)fd;
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
        list = end + (*end == ',');
    }
    ys_keep_only(YS_LAUNCH_TAKEN_FD + 1, kept, count);
    fcntl(YS_LAUNCH_NOTE_FD, F_SETFD, FD_CLOEXEC);
    fcntl(YS_LAUNCH_TAKEN_FD, F_SETFD, FD_CLOEXEC);
    return true;
}

static void tell_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    ssize_t written = write(YS_LAUNCH_TAKEN_FD, &now_ns, sizeof now_ns);
    (void)written; /* as for say() */
}

static _Noreturn void become(pid_t keeper, const char *folder, const char *cpus, char **program)
{
    static const struct rlimit no_core = {0, 0};
    if (!ys_keep_child(keeper))
        _exit(EXIT_NOT_EXECUTED);
    setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < join_count; i++)
        if (write(joins[i], "0", 1) != 1)
            say(&(struct ys_launch_note){.kind = YS_LAUNCH_NO_GROUP, .value = errno});
    bind_to(cpus);
    if (chdir(folder) != 0)
        give_up(YS_LAUNCH_NO_FOLDER, errno);
    if (guard_fd >= 0 &&
        (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(LANDLOCK_RESTRICT_SELF, guard_fd, 0) != 0))
        say(&(struct ys_launch_note){.kind = YS_LAUNCH_NO_GUARD, .value = errno});
    tell_time();
    execvp(program[0], program);
    give_up(YS_LAUNCH_NO_EXEC, errno);
}

static void start(char **argv)
{
    pid_t keeper = getpid(), made = fork();
    if (made == 0)
        become(keeper, argv[1], argv[2], argv + 7);
    if (made < 0)
        give_up(YS_LAUNCH_NO_PROCESS, errno);
    close(YS_LAUNCH_TAKEN_FD);
    while (join_count > 0)
        close(joins[--join_count]);
    for (int fd = 0; fd < YS_LAUNCH_NOTE_FD; fd++) /* the adapter's: yardstick waits for their end */
        close(fd);
    if (guard_fd >= 0)
        close(guard_fd);
    for (int i = 0; i < passed_count; i++)
        close(YS_LAUNCH_PASSED_FD + i);
    adapter = made;
    say(&(struct ys_launch_note){.kind = YS_LAUNCH_STARTED, .value = made});
}

static void tell_end(int code, int value)
{
    if (!has_told)
        say(&(struct ys_launch_note){.kind = YS_LAUNCH_ENDED, .code = code, .value = value});
    has_told = true;
}

static void look_for_end(void)
{
    siginfo_t info = {0};
    if (adapter && waitid(P_PID, (id_t)adapter, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
        tell_end(info.si_code, info.si_status);
}

static uint64_t span_ns(struct timeval span)
{
    return (uint64_t)span.tv_sec * 1000000000U + (uint64_t)span.tv_usec * 1000U;
}

static void book(struct ys_launch_account *account, const struct rusage *usage)
{
    uint64_t peak_bytes = (uint64_t)usage->ru_maxrss * 1024;
    account->user_ns += span_ns(usage->ru_utime);
    account->system_ns += span_ns(usage->ru_stime);
    account->voluntary_switches += (uint64_t)usage->ru_nvcsw;
    account->involuntary_switches += (uint64_t)usage->ru_nivcsw;
    account->minor_faults += (uint64_t)usage->ru_minflt;
    account->major_faults += (uint64_t)usage->ru_majflt;
    if (peak_bytes > account->peak_bytes)
        account->peak_bytes = peak_bytes;
}

static void reap(void)
{
    struct ys_launch_note note = {.kind = YS_LAUNCH_REAPED};
    struct rusage usage;
    pid_t ended;
    int state;
    while ((ended = wait4(-1, &state, WNOHANG, &usage)) > 0) {
        book(&note.account, &usage);
        if (ended != adapter)
            continue;
        adapter = 0;
        if (WIFEXITED(state))
            tell_end(CLD_EXITED, WEXITSTATUS(state));
        else
            tell_end(CLD_KILLED, WTERMSIG(state));
    }
    note.value = ended == 0; /* else there is no child, so no descendant either */
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        note.account.keeper_ns = span_ns(usage.ru_utime) + span_ns(usage.ru_stime);
    say(&note);
}

/* Does what yardstick orders, until it is there no more. */
static void serve(int ends)
{
    struct ys_launch_order order;
    for (;;) {
        struct pollfd sources[] = {{.fd = YS_LAUNCH_NOTE_FD, .events = POLLIN}, {.fd = ends, .events = POLLIN}};
        poll(sources, 2, -1);
        if (sources[1].revents) {
            ys_keep_hear(ends);
            look_for_end();
        }
        if (!sources[0].revents)
            continue;
        if (recv(YS_LAUNCH_NOTE_FD, &order, sizeof order, MSG_DONTWAIT) != sizeof order)
            return;
        if (order.kind == YS_LAUNCH_KILL)
            ys_keep_kill(adapter);
        reap();
    }
}

int main(int argc, char **argv)
{
    const pid_t yardstick = getppid();
    int ends = ys_keep_begin();
    if (ends < 0)
        give_up(YS_LAUNCH_NO_PROCESS, errno);
    if (argc < 8 || !read_groups(argv[4]) || !read_guard(argv[5]) || !read_passed(argv[6]) || !hold(argv[3], ends))
        give_up(YS_LAUNCH_BAD_USE, 0);
    start(argv);
    setsid();
    serve(ends);
    if (end_fd >= 0 && write(end_fd, end_word, strlen(end_word)) < 0)
        end_fd = -1; /* the group has gone: yardstick removed it after the last of its processes */
    ys_keep_end_all(adapter);
    if (getppid() != yardstick)
        remove_groups();
    return 0;
}
