/* Each case runs in a process of its own: handlers and the wish to stop cannot be taken back. */
#include "base/clock.h"
#include "base/stop.h"
#include "tap.h"
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int exit_code_of(int (*body)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            signal(numbers[i], SIG_DFL); /* whatever the tests were started with */
        _exit(body());
    }
    int state = 0;
    if (pid < 0 || waitpid(pid, &state, 0) != pid)
        return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

static int readable(void)
{
    struct pollfd source = {.fd = ys_stop_fd(), .events = POLLIN};
    return poll(&source, 1, 0) == 1 && (source.revents & POLLIN);
}

static int fresh(void)
{
    return ys_stop_fd() == -1 && ys_stop_signal() == 0 ? 10 : 1;
}

static void nothing_is_set_before_install(void)
{
    CHECK_INT(exit_code_of(fresh), 10);
}

static int each_signal(void)
{
    if (ys_stop_install() != YS_OK || readable() || ys_stop_signal() != 0)
        return 1;
    raise(SIGHUP);
    if (ys_stop_signal() != SIGHUP || !readable())
        return 2;
    raise(SIGINT);
    raise(SIGTERM);
    return ys_stop_signal() == SIGHUP && readable() ? 10 : 3;
}

static void the_first_signal_is_kept_and_later_ones_do_not_kill(void)
{
    CHECK_INT(exit_code_of(each_signal), 10);
}

enum { TOO_LATE = 20 };

static int insists(void)
{
    const struct timespec wish = {.tv_sec = 1, .tv_nsec = 10000000};
    const uint64_t begun_ns = ys_time_ns();
    if (ys_stop_install() != YS_OK)
        return 1;
    raise(SIGTERM);
    raise(SIGTERM); /* as timeout sends it */
    if (ys_time_ns() - begun_ns > 500000000)
        return TOO_LATE; /* it may be a second time by now */
    if (ys_stop_insisted())
        return 2;
    nanosleep(&wish, NULL);
    if (ys_stop_insisted())
        return 3;
    raise(SIGINT);
    return ys_stop_insisted() && ys_stop_signal() == SIGTERM ? 10 : 4;
}

static void a_later_signal_insists(void)
{
    int code;
    while ((code = exit_code_of(insists)) == TOO_LATE)
        ;
    CHECK_INT(code, 10);
}

static int ignored_before(void)
{
    signal(SIGHUP, SIG_IGN);
    if (ys_stop_install() != YS_OK)
        return 1;
    raise(SIGHUP);
    if (ys_stop_signal() != 0 || readable())
        return 2;
    ys_stop_release(0);
    raise(SIGHUP); /* and stays so */
    return 10;
}

static void what_was_ignored_before_stays_ignored(void)
{
    CHECK_INT(exit_code_of(ignored_before), 10);
}

static int released(void)
{
    if (ys_stop_install() != YS_OK)
        return 1;
    ys_stop_release(0);
    raise(SIGTERM);
    return 2;
}

static int released_late(void)
{
    if (ys_stop_install() != YS_OK)
        return 1;
    raise(SIGINT);
    ys_stop_release(0);
    return 2;
}

static int released_after_it_was_heeded(void)
{
    if (ys_stop_install() != YS_OK)
        return 1;
    raise(SIGINT);
    ys_stop_release(SIGINT);
    return ys_stop_signal() == SIGINT ? 10 : 2;
}

static void once_released_signals_end_the_program(void)
{
    CHECK_INT(exit_code_of(released), 128 + SIGTERM);
    CHECK_INT(exit_code_of(released_late), 128 + SIGINT);
    CHECK_INT(exit_code_of(released_after_it_was_heeded), 10);
}

static int broken_pipe(void)
{
    int ends[2];
    if (ys_stop_install() != YS_OK || pipe(ends) != 0 || close(ends[0]) != 0)
        return 1;
    return write(ends[1], "x", 1) == -1 && ys_stop_signal() == 0 ? 10 : 2;
}

static void a_broken_pipe_does_not_kill(void)
{
    CHECK_INT(exit_code_of(broken_pipe), 10);
}

static int told(void)
{
    if (ys_stop_install() != YS_OK || ys_stop_install() != YS_OK)
        return 1;
    raise(SIGTERM);
    return ys_stopped() == YS_EINTR && strstr(ys_error(), "signal 15") ? 10 : 2;
}

static void stopping_is_a_failure_that_names_the_signal(void)
{
    CHECK_INT(exit_code_of(told), 10);
}

TAP_MAIN(TAP_CASE(what_was_ignored_before_stays_ignored), TAP_CASE(once_released_signals_end_the_program),
         TAP_CASE(nothing_is_set_before_install), TAP_CASE(the_first_signal_is_kept_and_later_ones_do_not_kill),
         TAP_CASE(a_broken_pipe_does_not_kill), TAP_CASE(a_later_signal_insists),
         TAP_CASE(stopping_is_a_failure_that_names_the_signal))
