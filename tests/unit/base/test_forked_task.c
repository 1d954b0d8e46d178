/* What goes on in a copy of the process. */
#include "base/process/forked_task.h"

#include "base/stop.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int number = 1;

static ys_status tell_much(void *context, struct ys_buf *told)
{
    number = 2; /* in the copy alone */
    for (int i = 0; i < *(const int *)context; i++)
        ys_buf_printf(told, "%06d\n", i);
    return YS_OK;
}

static void what_it_told_comes_whole_and_nothing_else_changes(void)
{
    int lines = 100000; /* 700 kB: more than a pipe holds */
    struct ys_aside aside;
    struct ys_buf told = {0};
    REQUIRE(ys_aside_begin(tell_much, &lines, &aside) == YS_OK);
    ys_buf_puts(&told, "before\n");
    CHECK_INT(ys_aside_end(&aside, &told), YS_OK);
    CHECK_INT(told.size, 7 + 7 * lines);
    CHECK(strncmp(ys_buf_text(&told), "before\n000000\n", 14) == 0);
    CHECK(strcmp(ys_buf_text(&told) + told.size - 7, "099999\n") == 0);
    CHECK_INT(number, 1);
    CHECK(aside.pid == 0 && aside.fd == -1);
    CHECK_INT(ys_aside_end(&aside, &told), YS_OK); /* none */
    ys_buf_free(&told);
}

static ys_status fail(void *context, struct ys_buf *told)
{
    (void)context;
    ys_buf_puts(told, "half of it");
    return ys_fail(YS_EPROTOCOL, "the engine said %d", 7);
}

static void a_failure_comes_with_its_message_and_tells_nothing(void)
{
    struct ys_aside aside;
    struct ys_buf told = {0};
    REQUIRE(ys_aside_begin(fail, NULL, &aside) == YS_OK);
    CHECK_INT(ys_aside_end(&aside, &told), YS_EPROTOCOL);
    CHECK_TEXT(ys_error(), "the engine said 7");
    CHECK_INT(told.size, 0);
    ys_buf_free(&told);
}

static ys_status wait_for_ever(void *context, struct ys_buf *told)
{
    (void)told;
    if (context && write(*(const int *)context, "x", 1) != 1)
        _exit(9);
    for (;;) {
        struct pollfd stop = {.fd = ys_stop_fd(), .events = POLLIN};
        poll(&stop, 1, -1);
        if (ys_stop_signal())
            return ys_stopped();
    }
}

static void one_that_is_killed_is_a_failure(void)
{
    struct ys_aside aside;
    struct ys_buf told = {0};
    REQUIRE(ys_aside_begin(wait_for_ever, NULL, &aside) == YS_OK);
    kill(aside.pid, SIGKILL);
    CHECK_INT(ys_aside_end(&aside, &told), YS_EINTERNAL);
    ys_buf_free(&told);
}

/* In a process of its own: 10 when all was as it should be. */
static int stopped_alone(void)
{
    int ready[2];
    char byte;
    struct ys_aside aside;
    struct ys_buf told = {0};
    signal(SIGTERM, SIG_DFL); /* whatever the tests were started with */
    if (ys_stop_install() != YS_OK || pipe(ready) != 0 || ys_aside_begin(wait_for_ever, &ready[1], &aside) != YS_OK ||
        read(ready[0], &byte, 1) != 1)
        return 1;
    raise(SIGTERM); /* the copy has not heard of it, and its descriptor is its own: it goes on */
    struct pollfd end = {.fd = aside.fd, .events = POLLIN};
    if (poll(&end, 1, 50) != 0)
        return 2;
    return ys_aside_end(&aside, &told) == YS_EINTR ? 10 : 3;
}

static int state_of(int (*body)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(body());
    int state = -1;
    return pid > 0 && waitpid(pid, &state, 0) == pid ? state : -1;
}

static void a_wish_to_stop_is_passed_on_when_it_is_waited_for(void)
{
    int state = state_of(stopped_alone);
    CHECK(WIFEXITED(state));
    CHECK_INT(WEXITSTATUS(state), 10);
}

static int pipe_of_copy[2];

static int die(void)
{
    struct ys_aside aside;
    if (ys_aside_begin(wait_for_ever, &pipe_of_copy[1], &aside) != YS_OK)
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

static void it_ends_when_its_origin_is_killed(void)
{
    char byte;
    REQUIRE(pipe(pipe_of_copy) == 0);
    int state = state_of(die);
    CHECK(WIFSIGNALED(state));
    close(pipe_of_copy[1]);
    while (read(pipe_of_copy[0], &byte, 1) == 1) /* its end of the pipe closes with it, or this never returns */
        ;
    close(pipe_of_copy[0]);
}

TAP_MAIN(TAP_CASE(what_it_told_comes_whole_and_nothing_else_changes),
         TAP_CASE(a_failure_comes_with_its_message_and_tells_nothing), TAP_CASE(one_that_is_killed_is_a_failure),
         TAP_CASE(a_wish_to_stop_is_passed_on_when_it_is_waited_for), TAP_CASE(it_ends_when_its_origin_is_killed))
