/* Sessions that wait while others have their turn: their processes stand still, whatever they were about, and none of
 * them is left standing. */
#include "base/clock.h"
#include "probe/own_cgroup.h"
#include "session/session.h"
#include "unit/run/run_fixture.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* It and a child of it count in a file, as fast as they can, and put their numbers beside. */
static const char COUNTS[] = "import mmap, struct, threading\n"
                             "open('count', 'wb').write(bytes(16))\n"
                             "m = mmap.mmap(os.open('count', os.O_RDWR), 16)\n"
                             "def count(at):\n"
                             "    n = 0\n"
                             "    while True:\n"
                             "        n += 1\n"
                             "        m[at:at + 8] = struct.pack('<q', n)\n"
                             "child = os.fork()\n"
                             "if child == 0: count(8)\n"
                             "open('pids', 'w').write('%d %d' % (os.getpid(), child))\n"
                             "threading.Thread(target=count, args=(0,), daemon=True).start()\n"
                             "def on(k, m):\n"
                             "    if k == 'bye': os.kill(child, 9); os.waitpid(child, 0)\n"
                             "serve(on)\n";

static void read_counts(int64_t counts[2])
{
    struct ys_buf bytes = {0};
    char path[128];
    counts[0] = counts[1] = 0;
    snprintf(path, sizeof path, "%s/count", fixture_open());
    if (ys_fs_read(path, 64, &bytes) == YS_OK && bytes.size == 16)
        memcpy(counts, ys_buf_text(&bytes), 16);
    ys_buf_free(&bytes);
}

/* Both of them, at most half a minute. */
static bool do_count(void)
{
    int64_t before[2], after[2];
    read_counts(before);
    for (int tries = 0; tries < 3000; tries++) {
        read_counts(after);
        if (after[0] != before[0] && after[1] != before[1])
            return true;
        usleep(10000);
    }
    return false;
}

static bool stand_still(void)
{
    int64_t before[2], after[2];
    read_counts(before);
    usleep(50000);
    read_counts(after);
    return before[0] == after[0] && before[1] == after[1];
}

static ys_status open_counting(struct ys_session **session)
{
    static const char *argv[] = {NULL, NULL};
    char *text = ys_format("%s%s", FIXTURE_PYTHON, COUNTS);
    argv[0] = fixture_script("counting.py", text);
    ys_free(text);
    const struct ys_launch launch = {
        .argv = argv, .folder = fixture_open(), .stall_limit_s = 60, .run_time_limit_s = 60, .sample_hz = 50};
    return ys_session_open(&launch, session);
}

static bool can_freeze(void)
{
    struct ys_group *group = NULL;
    if (ys_group_open("", 0, &group) != YS_OK || !ys_group_can_kill(group)) {
        ys_group_close(group);
        tap_skip("no control group can be frozen here");
        return false;
    }
    ys_group_close(group);
    return true;
}

/* The kernel counts a thread's time until it has left its CPU, which is a moment after it counts as frozen, and adds
 * what was not added since the last tick: at most one tick of 10 ms (HZ 100) each, of the two that count. One that is
 * not held counts all of the 50 ms for which they stand still. */
static const uint64_t NOTHING_NS = 20000000;

static void hold_and_let_go(enum ys_hold expected)
{
    struct ys_session *session;
    struct ys_session_end end;
    uint64_t cpu_ns = 1;
    REQUIRE((open_counting(&session) == YS_OK));
    CHECK(do_count());
    for (int turn = 0; turn < 3; turn++) {
        ys_session_pause(session, true);
        ys_session_pause(session, true); /* it waits already */
        CHECK(stand_still());
        ys_session_turn(&session, 1, ys_time_ns() + 1000000);
        ys_session_resume(session, &cpu_ns);
        CHECK(cpu_ns < NOTHING_NS);
        CHECK(do_count());
    }
    ys_session_resume(session, &cpu_ns);
    CHECK_INT(cpu_ns, 0);
    ys_session_pause(session, true); /* and it must hear of its end all the same */
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    CHECK_INT(end.waited.hold, expected);
    CHECK(end.waited.waited_ns > 3 * 50000000);
    CHECK(!fixture_warning(end.warnings)); /* none of "a process was stopped" */
    ys_session_end_fini(&end);
    CHECK_INT(fixture_descendants(), 0);
}

static void processes_are_frozen_with_their_group(void)
{
    if (!fixture_has_python() || !can_freeze())
        return;
    hold_and_let_go(YS_HOLD_GROUP);
}

static void without_a_group_they_are_stopped_by_signals(void)
{
    if (!fixture_has_python())
        return;
    setenv("YARDSTICK_CGROUP", "off", 1);
    hold_and_let_go(YS_HOLD_SIGNALS);
    unsetenv("YARDSTICK_CGROUP");
}

static void what_is_not_held_and_works_is_found_out(void)
{
    struct ys_session *session;
    uint64_t cpu_ns = 0;
    if (!fixture_has_python())
        return;
    REQUIRE((open_counting(&session) == YS_OK));
    ys_session_pause(session, false);
    for (int tries = 0; cpu_ns < 20000000 && tries < 3000; tries++) {
        CHECK(do_count());
        ys_session_resume(session, &cpu_ns);
        ys_session_pause(session, false);
    }
    CHECK(cpu_ns > 0);
    ys_session_close(session, NULL);
}

static void a_time_limit_does_not_count_while_it_waits(void)
{
    struct ys_session *session;
    struct ys_session_end end;
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    const struct ys_launch launch = {.argv = argv, .folder = fixture_open(), .run_time_limit_s = 5};
    REQUIRE((ys_session_open(&launch, &session) == YS_OK));
    ys_session_pause(session, false);
    const uint64_t until_ns = ys_time_ns() + 5100000000;
    while (ys_time_ns() < until_ns)
        ys_session_turn(&session, 1, until_ns);
    CHECK(!ys_session_has_failed(session));
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    ys_session_end_fini(&end);
    ys_free(null);
}

/* A yardstick that holds a session, and is killed. */
static void kill_while_held(void)
{
    char path[128];
    struct ys_buf text = {0};
    int ready[2], pids[2] = {0, 0};
    char word = 0;
    REQUIRE((pipe(ready) == 0));
    const pid_t harness = fork();
    if (harness == 0) {
        struct ys_session *session;
        if (open_counting(&session) != YS_OK)
            _exit(1);
        ys_session_pause(session, true);
        (void)!write(ready[1], "1", 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    CHECK(read(ready[0], &word, 1) == 1);
    close(ready[0]);
    snprintf(path, sizeof path, "%s/pids", fixture_open());
    CHECK(ys_fs_read(path, 64, &text) == YS_OK && sscanf(ys_buf_text(&text), "%d %d", &pids[0], &pids[1]) == 2);
    CHECK(stand_still());
    kill(harness, SIGKILL);
    waitpid(harness, NULL, 0);
    for (int i = 0; i < 2; i++)
        CHECK(pids[i] > 1 && fixture_is_gone(pids[i]));
    ys_buf_free(&text);
}

static void nothing_stays_frozen_of_a_yardstick_that_is_killed(void)
{
    if (!fixture_has_python() || !can_freeze())
        return;
    kill_while_held();
    ys_group_sweep("");
}

static void nothing_stays_stopped_of_a_yardstick_that_is_killed(void)
{
    if (!fixture_has_python())
        return;
    setenv("YARDSTICK_CGROUP", "off", 1);
    kill_while_held();
    unsetenv("YARDSTICK_CGROUP");
}

/* Its keeper is killed with it, which would have thawed: the next yardstick does. */
static void what_nobody_was_left_to_thaw_is_swept_away(void)
{
    struct ys_group *group = NULL;
    int fds[YS_GROUP_MOST_JOINS];
    if (!can_freeze())
        return;
    const pid_t harness = fork();
    if (harness == 0) {
        if (ys_group_open("", 0, &group) != YS_OK)
            _exit(1);
        const pid_t frozen = fork();
        const size_t joins = ys_group_joins(group, fds);
        if (frozen == 0) {
            for (size_t i = 0; i < joins; i++)
                (void)!write(fds[i], "0", 1);
            for (int fd = 3; fd < 256; fd++) /* the lock of the group's folder too, as an adapter has none */
                close(fd);
            kill(getpid(), SIGSTOP);
            for (;;)
                continue;
        }
        char pid[32];
        char path[128];
        waitpid(frozen, NULL, WUNTRACED);
        kill(frozen, SIGCONT);
        snprintf(pid, sizeof pid, "%d", (int)frozen);
        snprintf(path, sizeof path, "%s/frozen", fixture_open());
        const bool is_written = ys_fs_write(path, pid, strlen(pid)) == YS_OK;
        _exit(is_written && ys_group_freeze(group, true) ? 0 : 2);
    }
    int state = 0;
    char path[128];
    struct ys_buf text = {0};
    waitpid(harness, &state, 0);
    CHECK_INT(WIFEXITED(state) ? WEXITSTATUS(state) : -1, 0);
    snprintf(path, sizeof path, "%s/frozen", fixture_open());
    CHECK(ys_fs_read(path, 64, &text) == YS_OK);
    const int frozen = atoi(ys_buf_text(&text));
    CHECK(frozen > 1 && kill(frozen, 0) == 0);
    ys_group_sweep("");
    CHECK(fixture_is_gone(frozen));
    ys_buf_free(&text);
}

TAP_MAIN(TAP_CASE(processes_are_frozen_with_their_group), TAP_CASE(without_a_group_they_are_stopped_by_signals),
         TAP_CASE(what_is_not_held_and_works_is_found_out), TAP_CASE(a_time_limit_does_not_count_while_it_waits),
         TAP_CASE(nothing_stays_frozen_of_a_yardstick_that_is_killed),
         TAP_CASE(nothing_stays_stopped_of_a_yardstick_that_is_killed),
         TAP_CASE(what_nobody_was_left_to_thaw_is_swept_away))
