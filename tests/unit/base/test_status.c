#include "base/status.h"
#include "tap.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_failure_returns_its_code_and_keeps_its_message(void)
{
    CHECK_INT(ys_fail(YS_EIO, "cannot read %s: %d", "a.json", 5), YS_EIO);
    CHECK_TEXT(ys_error(), "cannot read a.json: 5");
}

static void context_is_put_in_front(void)
{
    ys_fail(YS_EFORMAT, "line 3");
    CHECK_INT(ys_fail_in(YS_EINVAL, "job %s", "x.ini"), YS_EINVAL);
    CHECK_TEXT(ys_error(), "job x.ini: line 3");
    ys_fail_in(YS_EINVAL, "gate");
    CHECK_TEXT(ys_error(), "gate: job x.ini: line 3");
}

static void a_message_may_quote_the_one_before(void)
{
    ys_fail(YS_EIO, "first");
    ys_fail(YS_EIO, "%s, then second", ys_error());
    CHECK_TEXT(ys_error(), "first, then second");
    ys_fail_in(YS_EIO, "[%s]", ys_error());
    CHECK_TEXT(ys_error(), "[first, then second]: first, then second");
}

static void overlong_messages_are_cut(void)
{
    char text[6000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ys_fail(YS_EIO, "%s", text);
    size_t length = strlen(ys_error());
    CHECK(length >= 1000 && length < sizeof text);
    ys_fail_in(YS_EIO, "context");
    CHECK(strncmp(ys_error(), "context: xxxx", 13) == 0);
    CHECK_INT(strlen(ys_error()), length);
    ys_fail_in(YS_EIO, "%s", text);
    CHECK_INT(strspn(ys_error(), "x"), length - 2);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    CHECK_TEXT(ys_error(), "");
    ys_fail(YS_EIO, "theirs");
    return NULL;
}

static void each_thread_has_its_own_message(void)
{
    ys_fail(YS_EIO, "mine");
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_TEXT(ys_error(), "mine");
}

static ys_status try_it(ys_status status, bool *went_on)
{
    YS_TRY(status);
    *went_on = true;
    return YS_OK;
}

static void try_passes_a_failure_on(void)
{
    bool went_on = false;
    CHECK_INT(try_it(YS_EBUSY, &went_on), YS_EBUSY);
    CHECK(!went_on);
    CHECK_INT(try_it(YS_OK, &went_on), YS_OK);
    CHECK(went_on);
}

static void a_broken_assertion_names_its_place_and_aborts(void)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        YS_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    char text[512] = "";
    CHECK(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    int state = 0;
    waitpid(pid, &state, 0);
    CHECK(WIFSIGNALED(state) && WTERMSIG(state) == 6);
    CHECK_HAS(text, "test_status.c:");
    CHECK_HAS(text, "1 + 1 == 3");
}

TAP_MAIN(TAP_CASE(a_failure_returns_its_code_and_keeps_its_message), TAP_CASE(context_is_put_in_front),
         TAP_CASE(a_message_may_quote_the_one_before), TAP_CASE(overlong_messages_are_cut),
         TAP_CASE(each_thread_has_its_own_message), TAP_CASE(try_passes_a_failure_on),
         TAP_CASE(a_broken_assertion_names_its_place_and_aborts))
