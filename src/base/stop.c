#include "base/stop.h"
#include "base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const uint64_t ONE_WISH_NS = 1000000000;

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t insisted;
static volatile uint64_t stopped_ns; /* when the first came; the handler's alone */
static volatile sig_atomic_t continued;
static int wake_pipe[2] = {-1, -1}; /* written once by the handler, never read: it stays readable */

static void on_signal(int number)
{
    int saved = errno;
    const uint64_t now_ns = ys_time_ns();
    if (!stop_signal) {
        stopped_ns = now_ns;
        stop_signal = number;
        ssize_t written = write(wake_pipe[1], "", 1);
        (void)written; /* the flag alone is enough for whoever does not poll */
    } else if (now_ns >= stopped_ns + ONE_WISH_NS) {
        insisted = 1;
    }
    errno = saved;
}

static void on_continue(int number)
{
    (void)number;
    continued = continued < SIG_ATOMIC_MAX ? continued + 1 : 1;
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

ys_status ys_stop_install(void)
{
    if (wake_pipe[0] < 0 && pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return ys_fail(YS_EIO, "cannot make a pipe for signals: %s", strerror(errno));
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) != 0 ||
            (before.sa_handler != SIG_IGN && sigaction(numbers[i], &action, NULL) != 0))
            return ys_fail(YS_EIO, "cannot handle signal %d: %s", numbers[i], strerror(errno));
    action.sa_handler = on_continue;
    if (sigaction(SIGCONT, &action, NULL) != 0)
        return ys_fail(YS_EIO, "cannot handle signal %d: %s", SIGCONT, strerror(errno));
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    /* Both would kill where a failed write can be told: a reader that left, a limit on file sizes. */
    static const int ignored[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (sigaction(ignored[i], &ignore, NULL) != 0)
            return ys_fail(YS_EIO, "cannot ignore signal %d: %s", ignored[i], strerror(errno));
    return YS_OK;
}

bool ys_stop_renew(void)
{
    if (wake_pipe[0] < 0)
        return true;
    close(wake_pipe[0]);
    close(wake_pipe[1]);
    return pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) == 0;
}

void ys_stop_release(int heeded)
{
    struct sigaction now, ends = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == on_signal)
            sigaction(numbers[i], &ends, NULL);
    if (stop_signal && stop_signal != heeded)
        raise(stop_signal);
}

int ys_stop_signal(void)
{
    return stop_signal;
}

bool ys_stop_insisted(void)
{
    return insisted;
}

int ys_stop_continued(void)
{
    return continued;
}

int ys_stop_fd(void)
{
    return wake_pipe[0];
}

ys_status ys_stopped(void)
{
    return ys_fail(YS_EINTR, "stopped by signal %d (%s)", (int)stop_signal, strsignal(stop_signal));
}
