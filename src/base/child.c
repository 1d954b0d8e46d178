#include "base/child.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_OUTPUT_BYTES ((size_t)16 << 20)
#define TICK_MS          20 /* between looks at a child that no descriptor announces (kernels before 5.3) */

extern char **environ;

struct child {
    const char *name;
    pid_t pid;
    int pid_fd;      /* readable once the child has ended; -1 without kernel support */
    int out_fd;      /* our end of its stdout; -1 after end of file */
    uint64_t end_ns; /* 0 without a limit */
    const struct ys_child_options *options;
    struct ys_buf *output; /* may be NULL */
    struct ys_buf line;    /* what came after the last newline */
};

static bool same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return length == strcspn(b, "=") && memcmp(a, b, length) == 0;
}

/** The parent's variables with `over` put over them; pointers borrowed, array to be freed. */
static const char **merged_env(const char *const *over)
{
    size_t own_count = 0, over_count = 0, used = 0;
    while (environ && environ[own_count])
        own_count++;
    while (over && over[over_count])
        over_count++;
    const char **merged = ys_alloc(own_count + over_count + 1, sizeof *merged);
    if (!merged)
        return NULL;
    for (size_t i = 0; i < own_count; i++) {
        bool replaced = false;
        for (size_t j = 0; j < over_count; j++)
            replaced |= same_name(environ[i], over[j]);
        if (!replaced)
            merged[used++] = environ[i];
    }
    for (size_t j = 0; j < over_count; j++)
        merged[used++] = over[j];
    return merged;
}

/** In the new process: becomes the program, or tells `failed_fd` the errno. Only what is safe after fork(). */
static _Noreturn void become(const char *const *argv, const struct ys_child_options *options, int write_fd,
                             int failed_fd, pid_t parent, const char **env)
{
    static const int reset[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP}; /* ignored ones would stay so across exec */
    sigset_t none;
    setpgid(0, 0);
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        signal(reset[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* pip must not go on writing where the next yardstick will begin anew. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    int in = open("/dev/null", O_RDONLY);
    bool ready = (in == STDIN_FILENO || (in > 0 && dup2(in, STDIN_FILENO) >= 0 && close(in) == 0)) &&
                 dup2(write_fd, STDOUT_FILENO) >= 0 && (!options->merge_stderr || dup2(write_fd, STDERR_FILENO) >= 0) &&
                 (!options->folder || chdir(options->folder) == 0);
    if (ready) /* the C interface lacks the const that the function keeps */
        execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    int error = errno;
    ssize_t told = write(failed_fd, &error, sizeof error);
    _exit(told == sizeof error ? 127 : 126);
}

/** 0 or an errno; what goes wrong up to and with exec is known when it returns. */
static int spawn(const char *const *argv, const struct ys_child_options *options, int write_fd, const char **env,
                 pid_t *pid)
{
    int failed[2], error = 0;
    pid_t parent = getpid();
    if (pipe2(failed, O_CLOEXEC) != 0)
        return errno;
    *pid = fork();
    if (*pid == 0)
        become(argv, options, write_fd, failed[1], parent, env);
    if (*pid < 0)
        error = errno;
    close(failed[1]);
    ssize_t got = 0;
    while (*pid > 0 && (got = read(failed[0], &error, sizeof error)) < 0 && errno == EINTR)
        ;
    close(failed[0]);
    if (got == sizeof error)
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
            ;
    return error;
}

static ys_status start(const char *const *argv, struct child *child)
{
    const struct ys_child_options *options = child->options;
    if (options->folder && !ys_fs_is_dir(options->folder))
        return ys_fail(YS_ENOTFOUND, "cannot start %s in %s: there is no such folder", argv[0], options->folder);
    const char **env = merged_env(options->env);
    if (!env)
        return ys_out_of_memory();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ys_free(env);
        return ys_fail(YS_EIO, "cannot start %s: no pipe: %s", argv[0], strerror(errno));
    }
    int error = spawn(argv, options, ends[1], env, &child->pid);
    ys_free(env);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return ys_fail(error == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot start %s: %s", argv[0], strerror(error));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child->out_fd = ends[0];
    child->pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
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
    int longest_ms = child->pid_fd >= 0 ? -1 : TICK_MS;
    if (child->end_ns == 0)
        return longest_ms;
    uint64_t now_ns = ys_time_ns();
    if (now_ns >= child->end_ns)
        return 0;
    uint64_t left_ms = (child->end_ns - now_ns) / 1000000 + 1;
    if (left_ms > 1000000)
        left_ms = 1000000;
    return longest_ms >= 0 && (uint64_t)longest_ms < left_ms ? longest_ms : (int)left_ms;
}

/** Whether the child has ended; it stays a zombie, so that its number still names its process group. */
static bool has_ended(const struct child *child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

/** Reads until the child has ended, its limit passed or the user asked to stop. */
static ys_status follow(struct child *child)
{
    for (;;) {
        struct pollfd sources[] = {
            {.fd = child->out_fd, .events = POLLIN},
            {.fd = child->pid_fd, .events = POLLIN},
            {.fd = ys_stop_fd(), .events = POLLIN},
        };
        if (poll(sources, 3, sleep_ms(child)) < 0 && errno != EINTR)
            return ys_fail(YS_EIO, "cannot wait for a child process: %s", strerror(errno));
        if (ys_stop_signal())
            return ys_stopped();
        bool ended = has_ended(child); /* asked first: what it wrote before its end is then in the pipe */
        YS_TRY(read_available(child));
        if (ended)
            return YS_OK;
        if (child->end_ns && ys_time_ns() >= child->end_ns)
            return ys_fail(YS_ETIMEOUT, "%s had not finished after %g s and was killed", child->name,
                           child->options->timeout_s);
    }
}

/** Kills what is left of the group, reaps the child and closes everything. */
static ys_status finish(struct child *child, int *exit_code)
{
    kill(-child->pid, SIGKILL);
    int state;
    pid_t reaped;
    do
        reaped = waitpid(child->pid, &state, 0);
    while (reaped < 0 && errno == EINTR);
    ys_status status = YS_OK;
    if (reaped < 0)
        status = ys_fail(YS_EIO, "cannot learn how a child process ended: %s", strerror(errno));
    else if (exit_code)
        *exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    if (child->out_fd >= 0)
        close(child->out_fd);
    if (child->pid_fd >= 0)
        close(child->pid_fd);
    return status;
}

ys_status ys_child_run(const char *const *argv, const struct ys_child_options *options, struct ys_buf *output,
                       int *exit_code)
{
    static const struct ys_child_options defaults;
    struct child child = {.name = argv[0], .pid_fd = -1, .out_fd = -1, .output = output};
    child.options = options ? options : &defaults;
    if (ys_stop_signal())
        return ys_stopped();
    YS_TRY(start(argv, &child));
    ys_status status = follow(&child);
    if (status == YS_OK && child.line.size > 0)
        hand_over_line(&child);
    ys_buf_free(&child.line);
    if (status == YS_OK)
        return finish(&child, exit_code);
    (void)!finish(&child, NULL);
    return status;
}
