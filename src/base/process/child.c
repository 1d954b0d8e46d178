#include "base/process/child.h"
#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/lock.h"
#include "base/mem.h"
#include "base/process/keeper_duties.h"
#include "base/process/steering.h"
#include "base/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_OUTPUT_BYTES ((size_t)16 << 20)

/* Where an own program answers, and how it is told. */
#define ANSWERS         "YARDSTICK_ANSWERS_FD"
#define ANSWERS_FD      3
#define ANSWERS_FD_TEXT "3"

/* What the keeper says, once. */
struct report {
    enum { NOT_STARTED = 1, ENDED } kind;
    int value; /* an errno; the state that waitpid() gives */
};

struct child {
    const char *name;
    pid_t keeper;    /* our child, the program's parent */
    int note_fd;     /* our end of a socket to it: it reports there, and takes its end for ours */
    int out_fd;      /* our end of its stdout; -1 after end of file */
    uint64_t end_ns; /* 0 without a limit */
    const struct ys_child_options *options;
    struct ys_buf *output; /* may be NULL */
    struct ys_buf line;    /* what came after the last newline */
};

/** What the program gets of the parent's variables, with those of the options over them; pointers borrowed, array to be
 * freed. */
static const char **surroundings(const struct ys_child_options *options)
{
    static const char *const none[] = {NULL}, *const answers[] = {ANSWERS "=" ANSWERS_FD_TEXT, NULL};
    return ys_surroundings(
        options->is_own ? YS_PROGRAM_OWN : YS_PROGRAM_OTHER,
        (const char *const *const[]){options->env ? options->env : none, options->is_own ? answers : none, NULL});
}

static _Noreturn void report(int note_fd, int kind, int value)
{
    struct report said = {.kind = kind, .value = value};
    ssize_t sent = send(note_fd, &said, sizeof said, MSG_NOSIGNAL);
    _exit(sent == sizeof said ? 127 : 126);
}

/** `*fd` becomes `to`, which stays open in the program; `*other`, which is still needed, makes room there. */
static bool put_at(int *fd, int *other, int to)
{
    if (*fd == to)
        return fcntl(to, F_SETFD, 0) == 0;
    if (*other == to && (*other = fcntl(to, F_DUPFD_CLOEXEC, to + 1)) < 0)
        return false;
    if (dup2(*fd, to) < 0)
        return false;
    *fd = to;
    return true;
}

/** In the new process: becomes the program. Only what is safe after fork(). */
static _Noreturn void become(const char *const *argv, const struct ys_child_options *options, int write_fd, int note_fd,
                             pid_t keeper, const char **env)
{
    if (!ys_keep_child(keeper))
        _exit(127);
    int in = open("/dev/null", O_RDONLY);
    bool ready =
        (in == STDIN_FILENO || (in > 0 && dup2(in, STDIN_FILENO) >= 0 && close(in) == 0)) &&
        dup2(options->is_own && fcntl(STDERR_FILENO, F_GETFD) >= 0 ? STDERR_FILENO : write_fd, STDOUT_FILENO) >= 0 &&
        (!options->is_own || put_at(&write_fd, &note_fd, ANSWERS_FD)) &&
        (!options->merge_stderr || dup2(write_fd, STDERR_FILENO) >= 0) &&
        (!options->folder || chdir(options->folder) == 0);
    if (ready) /* the C interface lacks the const that the function keeps */
        execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    report(note_fd, NOT_STARTED, errno);
}

/** The keeper's life, once it has started `program`: until that ends or yardstick does. Of yardstick's descriptors it
 * goes on holding the locks: what it keeps works under them. */
static _Noreturn void keep(pid_t program, int ends, int note_fd)
{
    int kept[YS_LOCK_MOST_HELD + 2] = {note_fd, ends}, state = 0;
    ys_keep_only(0, kept, 2 + ys_lock_held(kept + 2, YS_LOCK_MOST_HELD));
    for (;;) {
        struct pollfd sources[] = {{.fd = note_fd, .events = POLLIN}, {.fd = ends, .events = POLLIN}};
        poll(sources, 2, -1);
        if (sources[0].revents) { /* yardstick never says anything but its end */
            ys_keep_end_all(program);
            _exit(0);
        }
        ys_keep_hear(ends);
        pid_t ended;
        while ((ended = waitpid(-1, &state, WNOHANG)) > 0) {
            if (ended != program)
                continue;
            ys_keep_end_all(0);
            report(note_fd, ENDED, state);
        }
    }
}

/** 0 or an errno. */
static int spawn(const char *const *argv, const struct ys_child_options *options, int write_fd, const char **env,
                 struct child *child)
{
    int note[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, note) != 0)
        return errno;
    child->keeper = fork();
    if (child->keeper == 0) {
        int ends = ys_keep_begin();
        pid_t keeper = getpid(), program = ends >= 0 ? fork() : -1;
        if (program == 0)
            become(argv, options, write_fd, note[1], keeper, env);
        if (program < 0)
            report(note[1], NOT_STARTED, errno);
        setsid();
        prctl(PR_SET_NAME, "yardstick-keep");
        keep(program, ends, note[1]);
    }
    int error = child->keeper < 0 ? errno : 0;
    close(note[1]);
    child->note_fd = note[0];
    if (error)
        close(note[0]);
    return error;
}

static ys_status fail_start(const char *name, int error)
{
    return ys_fail(error == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot start %s: %s", name, strerror(error));
}

static ys_status start(const char *const *argv, struct child *child)
{
    const struct ys_child_options *options = child->options;
    if (options->folder && !ys_fs_is_dir(options->folder))
        return ys_fail(YS_ENOTFOUND, "cannot start %s in %s: there is no such folder", argv[0], options->folder);
    const char **env = surroundings(options);
    if (!env)
        return ys_out_of_memory();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ys_free(env);
        return ys_fail(YS_EIO, "cannot start %s: no pipe: %s", argv[0], strerror(errno));
    }
    int error = spawn(argv, options, ends[1], env, child);
    ys_free(env);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return fail_start(argv[0], error);
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child->out_fd = ends[0];
    if (options->timeout_s > 0)
        child->end_ns = ys_time_ns() + (uint64_t)(fmin(options->timeout_s, 1e9) * 1e9);
    return YS_OK;
}

static void hand_over_line(struct child *child)
{
    child->options->on_line(child->options->context, ys_buf_text(&child->line));
    ys_buf_clear(&child->line);
}

static ys_status take_output(struct child *child, const char *data, size_t size)
{
    if (child->output && child->output->size < MAX_OUTPUT_BYTES) {
        size_t room = MAX_OUTPUT_BYTES - child->output->size;
        YS_TRY(ys_buf_append(child->output, data, size < room ? size : room));
    }
    if (!child->options->on_line)
        return YS_OK;
    while (size > 0) {
        const char *newline = memchr(data, '\n', size);
        size_t part = newline ? (size_t)(newline - data) : size;
        YS_TRY(ys_buf_append(&child->line, data, part));
        if (newline || child->line.size >= MAX_OUTPUT_BYTES)
            hand_over_line(child);
        part += newline != NULL;
        data += part;
        size -= part;
    }
    return YS_OK;
}

/** Takes what is there to be read without waiting; out_fd becomes -1 at the end of file. */
static ys_status read_available(struct child *child)
{
    char block[65536];
    while (child->out_fd >= 0) {
        ssize_t got = read(child->out_fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return YS_OK;
        if (got <= 0) {
            close(child->out_fd);
            child->out_fd = -1;
            return YS_OK;
        }
        YS_TRY(take_output(child, block, (size_t)got));
    }
    return YS_OK;
}

/** Milliseconds that poll may sleep; 0 when the limit has passed. */
static int sleep_ms(const struct child *child)
{
    const uint64_t most_ms = child->options->on_wait ? 1000 : 1000000;
    if (child->end_ns == 0)
        return child->options->on_wait ? (int)most_ms : -1;
    uint64_t now_ns = ys_time_ns();
    if (now_ns >= child->end_ns)
        return 0;
    uint64_t left_ms = (child->end_ns - now_ns) / 1000000 + 1;
    return (int)(left_ms > most_ms ? most_ms : left_ms);
}

/** Takes the keeper's report: YS_OK with the program's state when it has ended. */
static ys_status take_report(const struct child *child, int *state)
{
    struct report said;
    ssize_t got;
    while ((got = recv(child->note_fd, &said, sizeof said, 0)) < 0 && errno == EINTR)
        continue;
    if (got != sizeof said)
        return ys_fail(YS_EIO, "the keeper of %s was ended by something else than yardstick, and %s with it",
                       child->name, child->name);
    if (said.kind == NOT_STARTED)
        return fail_start(child->name, said.value);
    *state = said.value;
    return YS_OK;
}

/** Reads until the program has ended, its limit passed or the user asked to stop. */
static ys_status follow(struct child *child, int *state)
{
    for (;;) {
        struct pollfd sources[] = {
            {.fd = child->out_fd, .events = POLLIN},
            {.fd = child->note_fd, .events = POLLIN},
            {.fd = ys_stop_fd(), .events = POLLIN},
        };
        const int ready = poll(sources, 3, sleep_ms(child));
        if (ready < 0 && errno != EINTR)
            return ys_fail(YS_EIO, "cannot wait for a child process: %s", strerror(errno));
        if (ys_stop_signal())
            return ys_stopped();
        if (ready == 0 && child->options->on_wait)
            child->options->on_wait(child->options->context);
        if (sources[1].revents) { /* whoever could write has ended: all of it is in the pipe */
            YS_TRY(take_report(child, state));
            return read_available(child);
        }
        YS_TRY(read_available(child));
        if (child->end_ns && ys_time_ns() >= child->end_ns)
            return ys_fail(YS_ETIMEOUT, "%s had not finished after %g s and was killed", child->name,
                           child->options->timeout_s);
    }
}

/** Closes everything, which makes the keeper kill what is left, and waits for it. */
static void finish(struct child *child)
{
    close(child->note_fd);
    if (child->out_fd >= 0)
        close(child->out_fd);
    while (waitpid(child->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
}

ys_status ys_child_run(const char *const *argv, const struct ys_child_options *options, struct ys_buf *output,
                       int *exit_code)
{
    static const struct ys_child_options defaults;
    struct child child = {.name = argv[0], .note_fd = -1, .out_fd = -1, .output = output};
    int state = 0;
    child.options = options ? options : &defaults;
    if (ys_stop_signal())
        return ys_stopped();
    YS_TRY(start(argv, &child));
    ys_status status = follow(&child, &state);
    if (status == YS_OK && child.line.size > 0)
        hand_over_line(&child);
    ys_buf_free(&child.line);
    finish(&child);
    if (status == YS_OK && exit_code)
        *exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return status;
}

const char *ys_child_last_line(char *text)
{
    for (size_t length = strlen(text); length > 0 && text[length - 1] == '\n'; length--)
        text[length - 1] = 0;
    const char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : text;
}

FILE *ys_child_answers(void)
{
    static FILE *stream;
    const char *text = getenv(ANSWERS);
    if (!stream && text && strcmp(text, ANSWERS_FD_TEXT) == 0)
        stream = fdopen(ANSWERS_FD, "w");
    return stream ? stream : stdout;
}
