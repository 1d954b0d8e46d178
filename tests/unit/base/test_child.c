#include "base/files/lock.h"
#include "base/process/child.h"
#include "base/stop.h"
#include "scratch.h"
#include "tap.h"
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const char *const *shell(const char *script)
{
    static const char *argv[] = {"sh", "-c", NULL, NULL};
    argv[2] = script;
    return argv;
}

static void output_and_exit_code_come_back(void)
{
    struct ys_buf output = {0};
    int exit_code = -1;
    CHECK_INT(ys_child_run(shell("echo one; printf two; exit 3"), NULL, &output, &exit_code), YS_OK);
    CHECK_INT(exit_code, 3);
    CHECK_TEXT(ys_buf_text(&output), "one\ntwo");
    ys_buf_free(&output);
    CHECK_INT(ys_child_run(shell("kill -9 $$"), NULL, NULL, &exit_code), YS_OK);
    CHECK_INT(exit_code, 128 + 9);
}

static void stdin_is_empty(void)
{
    int exit_code = -1;
    struct ys_buf output = {0};
    CHECK_INT(ys_child_run(shell("cat; echo end"), NULL, &output, &exit_code), YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "end\n");
    ys_buf_free(&output);
}

static void a_missing_program_is_named(void)
{
    const char *const argv[] = {"no-such-program-anywhere", NULL};
    int exit_code = -1;
    CHECK_INT(ys_child_run(argv, NULL, NULL, &exit_code), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "no-such-program-anywhere");
    struct ys_child_options options = {.folder = "/no/such/folder"};
    CHECK_INT(ys_child_run(shell("true"), &options, NULL, &exit_code), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "/no/such/folder");
    CHECK_INT(exit_code, -1);
}

static void variables_and_folder_are_set(void)
{
    setenv("YS_TEST_KEPT", "kept", 1);
    setenv("YS_TEST_CHANGED", "old", 1);
    static const char *const env[] = {"YS_TEST_CHANGED=new", "YS_TEST_ADDED=a=b", NULL};
    struct ys_child_options options = {.env = env, .folder = "/usr"};
    struct ys_buf output = {0};
    CHECK_INT(ys_child_run(shell("echo $YS_TEST_KEPT $YS_TEST_CHANGED $YS_TEST_ADDED; pwd"), &options, &output, NULL),
              YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "kept new a=b\n/usr\n");
    CHECK_TEXT(getenv("YS_TEST_CHANGED"), "old");
    ys_buf_free(&output);
}

/* Whatever it prints beside them. */
static void an_own_program_answers_on_a_descriptor_of_its_own(void)
{
    struct ys_child_options options = {.is_own = true};
    struct ys_buf output = {0};
    setenv("OMP_THREAD_LIMIT", "1", 1);
    CHECK_INT(ys_child_run(shell("echo onednn_verbose,info; echo \"limit $OMP_THREAD_LIMIT\" >&$YARDSTICK_ANSWERS_FD"),
                           &options, &output, NULL),
              YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "limit \n");
    ys_buf_clear(&output);
    options.merge_stderr = true;
    CHECK_INT(ys_child_run(shell("echo onednn_verbose,info; echo no >&2; echo yes >&$YARDSTICK_ANSWERS_FD"), &options,
                           &output, NULL),
              YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "no\nyes\n");
    ys_buf_clear(&output);
    CHECK_INT(ys_child_run(shell("echo limit $OMP_THREAD_LIMIT"), NULL, &output, NULL), YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "limit 1\n");
    ys_buf_free(&output);
    unsetenv("OMP_THREAD_LIMIT");
    CHECK(ys_child_answers() == stdout);
}

static void errors_join_the_output_when_asked(void)
{
    struct ys_child_options options = {.merge_stderr = true};
    struct ys_buf output = {0};
    CHECK_INT(ys_child_run(shell("echo out; echo err >&2"), &options, &output, NULL), YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "out\nerr\n");
    ys_buf_free(&output);
}

static void collect(void *context, const char *line)
{
    ys_buf_printf(context, "<%s>", line);
}

static void lines_arrive_one_by_one(void)
{
    struct ys_buf lines = {0};
    struct ys_child_options options = {.on_line = collect, .context = &lines};
    CHECK_INT(ys_child_run(shell("printf 'a\\n\\nb'; sleep 0.05; printf 'c\\nlast'"), &options, NULL, NULL), YS_OK);
    CHECK_TEXT(ys_buf_text(&lines), "<a><><bc><last>");
    ys_buf_free(&lines);
}

static void mark(void *context)
{
    ys_buf_puts(context, ".");
}

static void while_a_program_says_nothing_its_caller_may_speak(void)
{
    struct ys_buf said = {0};
    struct ys_child_options options = {.on_line = collect, .on_wait = mark, .context = &said};
    CHECK_INT(ys_child_run(shell("echo a; sleep 1.5; echo b"), &options, NULL, NULL), YS_OK);
    CHECK(strncmp(ys_buf_text(&said), "<a>.", 4) == 0);
    CHECK_HAS(ys_buf_text(&said), ".<b>");
    ys_buf_free(&said);
}

static void output_is_bounded_and_the_program_goes_on(void)
{
    struct ys_buf output = {0};
    int exit_code = -1;
    CHECK_INT(ys_child_run(shell("head -c 20000000 /dev/zero; exit 5"), NULL, &output, &exit_code), YS_OK);
    CHECK_INT(output.size, 16 << 20);
    CHECK_INT(exit_code, 5);
    ys_buf_free(&output);
}

/** Whether the process is gone, or a zombie that its new parent has not looked at; waits for a while. */
static bool is_gone(pid_t pid)
{
    for (int i = 0; i < 3000; i++) {
        char path[64];
        struct ys_buf state = {0};
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        bool gone = ys_fs_read(path, 4096, &state) != YS_OK || strstr(ys_buf_text(&state), ") Z ");
        ys_buf_free(&state);
        if (gone)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

static void a_limit_kills_the_whole_group(void)
{
    struct ys_child_options options = {.timeout_s = 0.3};
    struct ys_buf output = {0};
    int exit_code = -1;
    CHECK_INT(ys_child_run(shell("sleep 1000 & echo $!; wait"), &options, &output, &exit_code), YS_ETIMEOUT);
    CHECK_HAS(ys_error(), "sh had not finished after 0.3 s");
    CHECK_INT(exit_code, -1);
    int pid = atoi(ys_buf_text(&output));
    CHECK(pid > 0 && is_gone(pid));
    ys_buf_free(&output);
}

static void a_limit_holds_when_the_output_is_closed(void)
{
    struct ys_child_options options = {.timeout_s = 0.2};
    CHECK_INT(ys_child_run(shell("exec >&-; sleep 1000"), &options, NULL, NULL), YS_ETIMEOUT);
}

static void what_a_program_leaves_running_is_not_waited_for(void)
{
    struct ys_buf output = {0};
    int exit_code = -1;
    CHECK_INT(ys_child_run(shell("sleep 1000 & echo $!; exit 4"), NULL, &output, &exit_code), YS_OK);
    CHECK_INT(exit_code, 4);
    int pid = atoi(ys_buf_text(&output));
    CHECK(pid > 0 && is_gone(pid));
    ys_buf_free(&output);
}

static void what_a_program_leaves_in_other_sessions_ends_too(void)
{
    struct ys_buf output = {0};
    setenv("PIDS", scratch("sessions"), 1);
    CHECK_INT(ys_child_run(shell("setsid sh -c 'echo $$ >> \"$PIDS\"; exec sleep 1000' & "
                                 "(setsid sh -c 'echo $$ >> \"$PIDS\"; exec sleep 1000' &); "
                                 "until [ \"$(grep -c . \"$PIDS\")\" = 2 ]; do sleep 0.01; done; cat \"$PIDS\""),
                           NULL, &output, NULL),
              YS_OK);
    int pids[2] = {0, 0};
    CHECK_INT(sscanf(ys_buf_text(&output), "%d %d", &pids[0], &pids[1]), 2);
    for (int i = 0; i < 2; i++)
        CHECK(pids[i] > 0 && is_gone(pids[i]));
    ys_buf_free(&output);
}

/** Waits until `script` has written `count` numbers of processes. */
static bool read_pids(const char *path, int *pids, size_t count)
{
    for (int tries = 0; tries < 6000; tries++) {
        FILE *file = fopen(path, "r");
        size_t got = 0;
        while (file && got < count && fscanf(file, "%d", &pids[got]) == 1)
            got++;
        if (file)
            fclose(file);
        if (got == count)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

/* As pip under a yardstick that is killed: it and its workers write on, and the environment stays locked. */
static void nothing_outlives_us_and_the_lock_is_then_free(void)
{
    char *lock = ys_strdup(scratch("lock")), *pids_path = ys_strdup(scratch("pids"));
    static const char script[] = "setsid sh -c 'echo $$ >> \"$PIDS\"; while :; do echo x; sleep 0.01; done' & "
                                 "(setsid sh -c 'echo $$ >> \"$PIDS\"; exec sleep 1000' &); "
                                 "echo $$ >> \"$PIDS\"; exec sleep 1000";
    int pids[3] = {0};
    setenv("PIDS", pids_path, 1);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct ys_lock held;
        if (ys_lock_take(lock, YS_LOCK_ALONE, 0, &held) != YS_OK)
            _exit(1);
        ys_status status = ys_child_run(shell(script), NULL, NULL, NULL);
        _exit(status == YS_OK ? 2 : 3);
    }
    CHECK(read_pids(pids_path, pids, 3));
    CHECK(ys_lock_is_taken(lock));
    REQUIRE(pid > 0);
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    struct ys_lock mine;
    CHECK_INT(ys_lock_take(lock, YS_LOCK_ALONE, 10, &mine), YS_OK);
    for (int i = 0; i < 3; i++)
        CHECK(pids[i] > 0 && is_gone(pids[i]));
    ys_lock_release(&mine);
    ys_free(lock);
    ys_free(pids_path);
}

/* No other way is open to it: SIGKILL comes to the program by the kernel. */
static void a_keeper_that_is_killed_is_told(void)
{
    struct ys_buf output = {0};
    int exit_code = -1;
    CHECK_INT(ys_child_run(shell("echo $$; kill -9 $PPID; exec sleep 1000"), NULL, &output, &exit_code), YS_EIO);
    CHECK_HAS(ys_error(), "keeper of sh");
    CHECK_INT(exit_code, -1);
    ys_buf_free(&output);
}

static void descriptors_are_not_leaked(void)
{
    int before = dup(STDERR_FILENO);
    close(before);
    for (int i = 0; i < 3; i++)
        CHECK_INT(ys_child_run(shell("true"), NULL, NULL, NULL), YS_OK);
    const char *const missing[] = {"no-such-program-anywhere", NULL};
    CHECK_INT(ys_child_run(missing, NULL, NULL, NULL), YS_ENOTFOUND);
    int after = dup(STDERR_FILENO);
    close(after);
    CHECK_INT(after, before);
}

static void lack_of_memory_stops_the_program(void)
{
    for (long n = 1; n <= 2; n++) { /* the variables, then the first output */
        struct ys_buf output = {0};
        ys_mem_fail_at(n);
        CHECK_INT(ys_child_run(shell("echo x; sleep 1000"), NULL, &output, NULL), YS_ENOMEM);
        ys_mem_fail_at(0);
        ys_buf_free(&output);
    }
}

/* In a process of its own, because the wish to stop cannot be taken back. */
static void the_wish_to_stop_kills_the_program(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct ys_buf output = {0};
        if (ys_stop_install() != YS_OK)
            _exit(1);
        char script[64];
        snprintf(script, sizeof script, "kill -TERM %d; sleep 1000", (int)getpid());
        ys_status status = ys_child_run(shell(script), NULL, &output, NULL);
        bool second = ys_child_run(shell("true"), NULL, NULL, NULL) == YS_EINTR;
        _exit(status == YS_EINTR && second && strstr(ys_error(), "signal 15") ? 42 : 2);
    }
    int state = 0;
    CHECK(waitpid(pid, &state, 0) == pid);
    CHECK(WIFEXITED(state));
    CHECK_INT(WEXITSTATUS(state), 42);
}

TAP_MAIN(TAP_CASE(output_and_exit_code_come_back), TAP_CASE(stdin_is_empty), TAP_CASE(a_missing_program_is_named),
         TAP_CASE(variables_and_folder_are_set), TAP_CASE(an_own_program_answers_on_a_descriptor_of_its_own),
         TAP_CASE(errors_join_the_output_when_asked), TAP_CASE(lines_arrive_one_by_one),
         TAP_CASE(while_a_program_says_nothing_its_caller_may_speak),
         TAP_CASE(output_is_bounded_and_the_program_goes_on), TAP_CASE(a_limit_kills_the_whole_group),
         TAP_CASE(a_limit_holds_when_the_output_is_closed), TAP_CASE(what_a_program_leaves_running_is_not_waited_for),
         TAP_CASE(what_a_program_leaves_in_other_sessions_ends_too),
         TAP_CASE(nothing_outlives_us_and_the_lock_is_then_free), TAP_CASE(a_keeper_that_is_killed_is_told),
         TAP_CASE(descriptors_are_not_leaked), TAP_CASE(lack_of_memory_stops_the_program),
         TAP_CASE(the_wish_to_stop_kills_the_program))
