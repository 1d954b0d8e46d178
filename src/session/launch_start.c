#include "session/launch.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/lock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "session/guard.h"
#include "session/keeper.h"
#include "session/launch_note.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLEAR_OF_TARGETS = 16 }; /* our descriptors are moved above those that the child's copies take */

struct ends {
    int channel[2], log[2], note[2], taken[2]; /* [0] is ours */
    int locks[YS_LOCK_MOST_HELD];              /* copies, for the keeper */
    size_t lock_count;
    int groups[YS_GROUP_MOST_JOINS + 1]; /* copies likewise; with `end_word` the last one sees to the group's end */
    size_t group_count;
    const char *end_word;              /* NULL: none does */
    int passed[YS_LAUNCH_MOST_PASSED]; /* copies of the launch's */
    size_t passed_count;
    int guard; /* the rules of what the adapter may write; -1: none */
};

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ends(struct ends *ends, int from)
{
    for (int i = from; i < 2; i++) {
        close_if_open(&ends->channel[i]);
        close_if_open(&ends->log[i]);
        close_if_open(&ends->note[i]);
        close_if_open(&ends->taken[i]);
    }
    while (ends->lock_count > 0)
        close_if_open(&ends->locks[--ends->lock_count]);
    while (ends->group_count > 0)
        close_if_open(&ends->groups[--ends->group_count]);
    while (ends->passed_count > 0)
        close_if_open(&ends->passed[--ends->passed_count]);
    close_if_open(&ends->guard);
}

/** Moves a descriptor up so that dup2 onto 0 to 13 in the child cannot hit one that is still needed. */
static bool move_up(int *fd)
{
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS);
    if (moved < 0)
        return false;
    close(*fd);
    *fd = moved;
    return true;
}

static bool copy_locks(struct ends *ends)
{
    int held[YS_LOCK_MOST_HELD];
    size_t count = ys_lock_held(held, YS_LOCK_MOST_HELD);
    for (size_t i = 0; i < count; i++) {
        int copy = fcntl(held[i], F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS);
        if (copy < 0)
            return false;
        ends->locks[ends->lock_count++] = copy;
    }
    return true;
}

static bool copy_groups(const struct ys_group *group, struct ends *ends)
{
    int fds[YS_GROUP_MOST_JOINS + 1];
    size_t count = group ? ys_group_joins(group, fds) : 0;
    const int end_fd = group ? ys_group_end_fd(group, &ends->end_word) : -1;
    if (end_fd >= 0)
        fds[count++] = end_fd;
    else
        ends->end_word = NULL;
    for (size_t i = 0; i < count; i++) {
        int copy = fcntl(fds[i], F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS);
        if (copy < 0)
            return false;
        ends->groups[ends->group_count++] = copy;
    }
    return true;
}

static bool copy_passed(const struct ys_launch *launch, struct ends *ends)
{
    for (size_t i = 0; i < launch->passed_count; i++) {
        int copy = fcntl(launch->passed[i], F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS);
        if (copy < 0)
            return false;
        ends->passed[ends->passed_count++] = copy;
    }
    return true;
}

static ys_status open_guard(const struct ys_launch *launch, struct ends *ends)
{
    const char *const writable[] = {launch->folder, launch->temporary, launch->kept};
    int fd;
    if (launch->program == YS_PROGRAM_OTHER)
        return YS_OK;
    if (launch->kept)
        (void)!mkdir(launch->kept, 0777); /* what is not there cannot be allowed; that it is, or cannot be, is fine */
    YS_TRY(ys_guard_open(writable, sizeof writable / sizeof writable[0], &fd));
    ends->guard = fd;
    return fd < 0 || move_up(&ends->guard) ? YS_OK
                                           : ys_fail(YS_EIO, "cannot pass on a descriptor: %s", strerror(errno));
}

static ys_status open_ends(const struct ys_launch *launch, struct ends *ends)
{
    *ends = (struct ends){.channel = {-1, -1}, .log = {-1, -1}, .note = {-1, -1}, .taken = {-1, -1}, .guard = -1};
    bool is_open = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->channel) == 0 &&
                   pipe2(ends->log, O_CLOEXEC) == 0 && pipe2(ends->taken, O_CLOEXEC) == 0 &&
                   socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->note) == 0;
    if (is_open)
        is_open = move_up(&ends->channel[1]) && move_up(&ends->log[1]) && move_up(&ends->note[1]) &&
                  move_up(&ends->taken[1]) && copy_locks(ends) && copy_groups(launch->group, ends) &&
                  copy_passed(launch, ends);
    if (is_open && fcntl(ends->log[0], F_SETFL, O_NONBLOCK) == 0) {
        ys_status status = open_guard(launch, ends);
        if (status != YS_OK)
            close_ends(ends, 0);
        return status;
    }
    int error = errno;
    close_ends(ends, 0);
    return ys_fail(YS_EIO, "cannot make the channel to an adapter: %s", strerror(error));
}

/** What it gets of yardstick's own variables, those of the launch over them, and the name of the channel. Pointers
 * borrowed, array owned. `temporary`: "TMPDIR=folder", or NULL. */
static const char **surroundings(const struct ys_launch *launch, const char *temporary)
{
    static const char *const none[] = {NULL}, *const channel[] = {"YARDSTICK_FD=3", NULL};
    const char *const folder[] = {temporary, NULL};
    return ys_surroundings(launch->program,
                           (const char *const *const[]){folder, launch->env ? launch->env : none, channel, NULL});
}

/** "0,2,3", or "-" for none. New string. */
static char *list_of(const int *numbers, size_t count)
{
    struct ys_buf text = {0};
    if (count == 0)
        return ys_strdup("-");
    for (size_t i = 0; i < count; i++)
        ys_buf_printf(&text, "%s%d", i ? "," : "", numbers[i]);
    return ys_buf_take(&text);
}

/** The launcher's command line: pointers borrowed from the arguments, array owned. */
static const char **launcher_argv(const struct ys_launch *launch, const char *program, const char *cpus,
                                  const char *locks, const char *groups, const char *guard, const char *passed)
{
    size_t count = 0;
    while (launch->argv[count])
        count++;
    const char **argv = ys_alloc(count + 8, sizeof *argv);
    argv[0] = program;
    argv[1] = launch->folder;
    argv[2] = cpus;
    argv[3] = locks;
    argv[4] = groups;
    argv[5] = guard;
    argv[6] = passed;
    memcpy(argv + 7, launch->argv, count * sizeof *argv);
    return argv;
}

static int spawn(const char *const *argv, const char *const *env, const struct ends *ends, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const int moves[][2] = {{ends->log[1], STDOUT_FILENO},
                            {ends->log[1], STDERR_FILENO},
                            {ends->channel[1], YS_LAUNCH_CHANNEL_FD},
                            {ends->note[1], YS_LAUNCH_NOTE_FD},
                            {ends->taken[1], YS_LAUNCH_TAKEN_FD}};
    for (size_t i = 0; !error && i < sizeof moves / sizeof moves[0]; i++)
        error = posix_spawn_file_actions_adddup2(&actions, moves[i][0], moves[i][1]);
    for (size_t i = 0; !error && i < ends->lock_count; i++) /* onto itself: it is not closed on exec */
        error = posix_spawn_file_actions_adddup2(&actions, ends->locks[i], ends->locks[i]);
    for (size_t i = 0; !error && i < ends->group_count; i++)
        error = posix_spawn_file_actions_adddup2(&actions, ends->groups[i], ends->groups[i]);
    for (size_t i = 0; !error && i < ends->passed_count; i++)
        error = posix_spawn_file_actions_adddup2(&actions, ends->passed[i], YS_LAUNCH_PASSED_FD + (int)i);
    if (!error && ends->guard >= 0)
        error = posix_spawn_file_actions_adddup2(&actions, ends->guard, ends->guard);
    if (!error) /* the C interface lacks the const that the function keeps */
        error =
            posix_spawn(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int *ys_launch_cpus(const struct ys_list *listed)
{
    const int64_t *items = listed->items;
    int *cpus = ys_alloc(listed->count + 1, sizeof *cpus);
    for (size_t i = 0; i < listed->count; i++)
        cpus[i] = (int)items[i];
    return cpus;
}

static ys_status spawn_launcher(const struct ys_launch *launch, const struct ends *ends, pid_t *pid)
{
    char *program = ys_find_support("yardstick-launch"), *cpus = list_of(launch->cpus, launch->cpu_count);
    char *temporary = launch->temporary ? ys_format("TMPDIR=%s", launch->temporary) : NULL;
    char *locks = list_of(ends->locks, ends->lock_count);
    char *joins = list_of(ends->groups, ends->group_count);
    char *groups = ys_format("%s:%s", ends->end_word ? ends->end_word : "", joins);
    char *guard = ends->guard >= 0 ? ys_format("%d", ends->guard) : ys_strdup("-");
    char *passed = ys_format("%zu", ends->passed_count);
    const char **argv = program ? launcher_argv(launch, program, cpus, locks, groups, guard, passed) : NULL;
    const char **env = program ? surroundings(launch, temporary) : NULL;
    ys_status status = YS_OK;
    int error = program ? spawn(argv, env, ends, pid) : 0;
    if (!program)
        status =
            ys_fail(YS_EIO, "the program yardstick-launch is not found beside yardstick; build or install it again, or "
                            "name its folder in YARDSTICK_BIN");
    else if (error)
        status = ys_fail(YS_EIO, "cannot start %s: %s", program, strerror(error));
    ys_free(env);
    ys_free(argv);
    ys_free(passed);
    ys_free(guard);
    ys_free(groups);
    ys_free(joins);
    ys_free(locks);
    ys_free(cpus);
    ys_free(temporary);
    ys_free(program);
    return status;
}

static ys_status explain(const struct ys_launch *launch, struct ys_launch_note note)
{
    const char *reason = strerror(note.value), *program = launch->argv[0];
    switch ((enum ys_launch_note_kind)note.kind) {
    case YS_LAUNCH_NO_EXEC:
        return ys_fail(YS_ENOTFOUND, "cannot execute %s: %s%s", program, reason,
                       note.value == ENOENT ? " (the program, or the interpreter that its first line names)" : "");
    case YS_LAUNCH_NO_CPUS:
        return ys_fail(YS_EINVAL, "cannot bind %s to the CPUs asked for: %s; this process may not use them", program,
                       reason);
    case YS_LAUNCH_NO_FOLDER:
        return ys_fail(YS_EINVAL, "cannot start %s in %s: %s", program, launch->folder, reason);
    case YS_LAUNCH_NO_PROCESS:
        return ys_fail(YS_EIO, "cannot make a process for %s: %s", program, reason);
    default:
        return ys_fail(YS_EIO, "yardstick-launch did not start %s (note %d); is it of the same version as yardstick?",
                       program, note.kind);
    }
}

/** Sleeps until there is something at `fd` or the user asks to stop. */
static ys_status wait_for(int fd)
{
    for (;;) {
        struct pollfd sources[] = {{.fd = fd, .events = POLLIN}, {.fd = ys_stop_fd(), .events = POLLIN}};
        if (poll(sources, 2, -1) < 0)
            continue;
        return sources[1].revents ? ys_stopped() : YS_OK;
    }
}

/** Waits until the adapter's program has taken over, and takes the time at which it did. */
static ys_status wait_until_taken(int taken, uint64_t *exec_ns)
{
    uint64_t stamp_ns;
    ssize_t got;
    do {
        YS_TRY(wait_for(taken));
        got = read(taken, &stamp_ns, sizeof stamp_ns);
        if (got == sizeof stamp_ns)
            *exec_ns = stamp_ns;
    } while (got > 0 || (got < 0 && errno == EINTR));
    return YS_OK;
}

/** Waits until the adapter's program has taken over. `taken` tells us directly, so that the keeper's wakening is not
 * waited for. */
static ys_status follow(const struct ys_launch *launch, int taken, struct ys_started *started)
{
    struct ys_launch_note note;
    YS_TRY(wait_until_taken(taken, &started->exec_ns));
    for (;;) { /* what went wrong was said before `taken` ended */
        while (ys_keeper_take(started, &note)) {
            if (note.kind == YS_LAUNCH_STARTED)
                started->pid = note.value;
            else if (note.kind == YS_LAUNCH_NO_GROUP)
                started->group_errno = note.value;
            else if (note.kind == YS_LAUNCH_NO_GUARD)
                started->guard_errno = note.value;
            else if (note.kind != YS_LAUNCH_ENDED)
                return explain(launch, note);
        }
        if (started->is_lost)
            return ys_fail(YS_EIO, "yardstick-launch ended without starting %s", launch->argv[0]);
        if (started->pid > 0)
            return YS_OK;
        YS_TRY(wait_for(started->note_fd));
    }
}

ys_status ys_launch_start(const struct ys_launch *launch, struct ys_started *started)
{
    struct ends ends;
    *started = YS_NOT_STARTED;
    YS_TRY(open_ends(launch, &ends));
    started->guard_version = ends.guard >= 0 ? ys_guard_version(NULL) : 0;
    started->exec_ns = ys_time_ns();
    ys_status status = spawn_launcher(launch, &ends, &started->keeper);
    close_ends(&ends, 1);
    started->note_fd = ends.note[0];
    started->channel_fd = ends.channel[0];
    started->log_fd = ends.log[0];
    if (status == YS_OK)
        status = follow(launch, ends.taken[0], started);
    if (started->guard_errno)
        started->guard_version = 0;
    close_if_open(&ends.taken[0]);
    if (status != YS_OK) {
        ys_keeper_dismiss(started, true); /* it ends what it has started when the notes are closed */
        started->pid = -1;
    }
    return status;
}
