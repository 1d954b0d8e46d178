/* What a launched process finds: descriptors, signals, folder, CPUs, environment. */
#include "session/keeper.h"
#include "base/clock.h"
#include "base/files/working_folder.h"
#include "unit/run/run_fixture.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/** Launches and collects what it prints until it ends; its exit code, -1 when it was not started. */
static int launch(struct ys_launch *launch, struct ys_buf *output)
{
    struct ys_started started;
    char block[4096];
    launch->folder = launch->folder ? launch->folder : fixture_open();
    fixture_open();
    if (ys_launch_start(launch, &started) != YS_OK)
        return -1;
    for (;;) {
        struct pollfd source = {.fd = started.log_fd, .events = POLLIN};
        poll(&source, 1, -1);
        ssize_t got = read(started.log_fd, block, sizeof block);
        if (got <= 0)
            break;
        ys_buf_append(output, block, (size_t)got);
    }
    fixture_await(&started);
    CHECK(started.has_ended && !started.is_lost);
    ys_keeper_dismiss(&started, true);
    return started.ended_code == CLD_EXITED ? started.ended_value : 128 + started.ended_value;
}

static int launch_shell(const char *script, struct ys_launch *how, struct ys_buf *output)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    how->argv = argv;
    return launch(how, output);
}

static void output_and_errors_arrive_and_the_exit_code_is_its_own(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    CHECK_INT(launch_shell("echo to stdout; echo to stderr >&2; exit 7", &how, &output), 7);
    CHECK_TEXT(ys_buf_text(&output), "to stdout\nto stderr\n");
    ys_buf_free(&output);
}

static void its_time_begins_when_its_program_does(void)
{
    const char *there[] = {"true", NULL}, *nowhere[] = {"/no/such/program", NULL};
    struct ys_launch how = {.argv = there, .folder = fixture_open()};
    struct ys_started started;
    const uint64_t before_ns = ys_time_ns();
    CHECK_INT(ys_launch_start(&how, &started), YS_OK);
    const uint64_t after_ns = ys_time_ns();
    CHECK(before_ns < started.exec_ns && started.exec_ns < after_ns);
    fixture_await(&started);
    ys_keeper_dismiss(&started, true);
    how.argv = nowhere;
    CHECK_INT(ys_launch_start(&how, &started), YS_ENOTFOUND);
    CHECK(started.exec_ns > after_ns && started.exec_ns < ys_time_ns());
}

static void stdin_is_empty(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    CHECK_INT(launch_shell("readlink /proc/self/fd/0; if read line; then exit 1; fi", &how, &output), 0);
    CHECK_TEXT(ys_buf_text(&output), "/dev/null\n");
    ys_buf_free(&output);
}

static void only_four_descriptors_are_open_and_the_fourth_is_a_socket(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    int leaked[8]; /* without close-on-exec: what a careless library opens */
    for (int i = 0; i < 8; i++)
        leaked[i] = open("/dev/null", O_RDONLY); /* NOLINT */
    CHECK_INT(launch_shell("ls /proc/$$/fd; readlink /proc/$$/fd/3", &how, &output), 0);
    CHECK_HAS(ys_buf_text(&output), "0\n1\n2\n3\nsocket:");
    for (int i = 0; i < 8; i++)
        close(leaked[i]);
    ys_buf_free(&output);
}

static void it_leads_a_session_of_its_own_below_its_keeper(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    char script[512], expected[64];
    snprintf(script, sizeof script, /* the keeper is not waited for, nor who started it, which ends at some time */
             "for i in $(seq 100); do "
             "  read pid name state parent group session rest < /proc/$$/stat; "
             "  { read keeper name state above group of rest < /proc/$parent/stat; } 2>&- && "
             "  [ $keeper = $of ] && [ $above = %d ] && break; sleep 0.2; done; "
             "[ -n \"$keeper\" ] || echo hidden; "
             "[ $pid = $session ] && [ \"$keeper\" = \"$of\" ] && [ -n \"$keeper\" ] && echo $name $above; true",
             getpid());
    CHECK_INT(launch_shell(script, &how, &output), 0);
    snprintf(expected, sizeof expected, "(yardstick-launc) %d\n", getpid());
    if (geteuid() != 0 && strcmp(ys_buf_text(&output), "hidden\n") == 0)
        tap_skip("/proc hides its keeper from a guarded process (hidepid)");
    else
        CHECK_TEXT(ys_buf_text(&output), expected);
    ys_buf_free(&output);
}

static void the_environment_is_ours_with_the_launch_over_it_and_the_channel_named(void)
{
    const char *env[] = {"YS_TEST_A=over", "YS_TEST_C=c=d", NULL};
    struct ys_launch how = {.env = env};
    struct ys_buf output = {0};
    setenv("YS_TEST_A", "own", 1);
    setenv("YS_TEST_B", "kept", 1);
    CHECK_INT(
        launch_shell("echo $YS_TEST_A $YS_TEST_B $YS_TEST_C $YARDSTICK_FD; env | grep -c ^YS_TEST_A=", &how, &output),
        0);
    CHECK_TEXT(ys_buf_text(&output), "over kept c=d 3\n1\n");
    ys_buf_free(&output);
}

static void temporary_files_go_where_the_launch_says_unless_its_variables_say_otherwise(void)
{
    const char *env[] = {"TMPDIR=/theirs", NULL};
    struct ys_launch how = {.temporary = "/ours"};
    struct ys_buf output = {0};
    CHECK_INT(launch_shell("echo $TMPDIR", &how, &output), 0);
    how.env = env;
    CHECK_INT(launch_shell("echo $TMPDIR", &how, &output), 0);
    CHECK_TEXT(ys_buf_text(&output), "/ours\n/theirs\n");
    ys_buf_free(&output);
}

static void it_works_in_the_folder(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    CHECK_INT(launch_shell("pwd", &how, &output), 0);
    CHECK_HAS(ys_buf_text(&output), fixture_folder);
    ys_buf_free(&output);
}

static void it_is_bound_to_the_cpus_asked_for(void)
{
    int first = -1;
    FILE *file = popen("grep Cpus_allowed_list /proc/self/status | grep -o '[0-9]*' | head -1", "r");
    REQUIRE(file && fscanf(file, "%d", &first) == 1);
    pclose(file);
    struct ys_launch how = {.cpus = &first, .cpu_count = 1};
    struct ys_buf output = {0};
    char expected[64];
    CHECK_INT(launch_shell("grep Cpus_allowed_list /proc/self/status | tr -d '\\t'", &how, &output), 0);
    snprintf(expected, sizeof expected, "Cpus_allowed_list:%d\n", first);
    CHECK_TEXT(ys_buf_text(&output), expected);
    ys_buf_free(&output);
}

static void signals_that_we_ignore_and_block_are_as_usual(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    CHECK_INT(launch_shell("grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'", &how, &output), 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    CHECK_TEXT(ys_buf_text(&output), "SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
    ys_buf_free(&output);
}

static void no_core_file_is_written(void)
{
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    CHECK_INT(launch_shell("ulimit -c", &how, &output), 0);
    CHECK_TEXT(ys_buf_text(&output), "0\n");
    ys_buf_free(&output);
}

/* The kernel hands the peak memory of a parent on to its child; the launcher is there to prevent that. */
static void our_own_memory_does_not_count_as_its_peak(void)
{
    if (!fixture_has_python())
        return;
    size_t size = (size_t)256 << 20;
    char *large = malloc(size);
    REQUIRE(large);
    memset(large, 1, size);
    const char *argv[] = {"python3", "-c", "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)",
                          NULL};
    struct ys_launch how = {.argv = argv};
    struct ys_buf output = {0};
    CHECK_INT(launch(&how, &output), 0);
    CHECK(atol(ys_buf_text(&output)) > 1000);
    CHECK(atol(ys_buf_text(&output)) < 128 << 10); /* kilobytes: Python has some 10 MB, far from our 256 */
    free(large);
    ys_buf_free(&output);
}

static void a_program_that_does_not_exist_is_named(void)
{
    const char *argv[] = {"/nowhere/program", NULL};
    struct ys_launch how = {.argv = argv, .folder = fixture_open()};
    struct ys_started started;
    CHECK_INT(ys_launch_start(&how, &started), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "/nowhere/program");
    CHECK_INT(fixture_descendants(), 0);
}

static void a_file_that_is_no_program_is_refused(void)
{
    const char *argv[] = {"/etc/passwd", NULL};
    struct ys_launch how = {.argv = argv, .folder = fixture_open()};
    struct ys_started started;
    CHECK_INT(ys_launch_start(&how, &started), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "ermission");
}

static void a_cpu_that_does_not_exist_is_refused(void)
{
    const char *argv[] = {"true", NULL};
    int cpu = 8000;
    struct ys_launch how = {.argv = argv, .folder = fixture_open(), .cpus = &cpu, .cpu_count = 1};
    struct ys_started started;
    CHECK_INT(ys_launch_start(&how, &started), YS_EINVAL);
    CHECK_HAS(ys_error(), "CPU");
    CHECK_INT(fixture_descendants(), 0);
}

static void a_folder_that_does_not_exist_is_refused(void)
{
    const char *argv[] = {"true", NULL};
    struct ys_launch how = {.argv = argv, .folder = "/nowhere/folder"};
    struct ys_started started;
    fixture_open();
    CHECK_INT(ys_launch_start(&how, &started), YS_EINVAL);
    CHECK_HAS(ys_error(), "/nowhere/folder");
}

static void locks_are_the_keepers_and_not_the_adapters(void)
{
    setenv("YARDSTICK_LANDLOCK", "off", 1); /* its rules keep an adapter from looking at its keeper, too */
    struct ys_launch how = {0};
    struct ys_buf output = {0};
    struct ys_working working;
    REQUIRE((ys_working_make(fixture_open(), "held-", &working) == YS_OK));
    CHECK_INT(launch_shell("ls -l /proc/$$/fd | grep -c held-; ls -l /proc/$PPID/fd | grep -c held-", &how, &output),
              0);
    CHECK_TEXT(ys_buf_text(&output), "0\n1\n");
    ys_working_remove(&working);
    ys_buf_free(&output);
    unsetenv("YARDSTICK_LANDLOCK");
}

/* Reads `count` numbers of processes, which the adapter's script writes. */
static bool read_pids(const char *path, pid_t *pids, size_t count)
{
    for (int tries = 0; tries < 1000; tries++, usleep(10000)) {
        FILE *file = fopen(path, "r");
        size_t got = 0;
        while (file && got < count && fscanf(file, "%d", &pids[got]) == 1)
            got++;
        if (file)
            fclose(file);
        if (got == count)
            return true;
    }
    return false;
}

/* The adapter, a worker in a session of its own, and one whose parent has ended; the lock goes last. */
static void all_of_it_ends_when_we_are_killed(void)
{
    char lock[128], file[128];
    pid_t pids[3] = {0};
    snprintf(lock, sizeof lock, "%s/lock", fixture_open());
    snprintf(file, sizeof file, "%s/pids", fixture_folder);
    fflush(stdout);
    pid_t middle = fork();
    REQUIRE(middle >= 0);
    if (middle == 0) { /* stands for a yardstick that is killed */
        const char *argv[] = {"sh", "-c",
                              "setsid sh -c 'echo $$ >> pids; exec sleep 600' & "
                              "(setsid sh -c 'echo $$ >> pids; exec sleep 600' &); echo $$ >> pids; exec sleep 600",
                              NULL};
        struct ys_launch how = {.argv = argv, .folder = fixture_folder};
        struct ys_started started;
        struct ys_lock held;
        if (ys_lock_take(lock, YS_LOCK_ALONE, 0, &held) != YS_OK || ys_launch_start(&how, &started) != YS_OK)
            _exit(1);
        pause();
        _exit(0);
    }
    CHECK(read_pids(file, pids, 3));
    CHECK(ys_lock_is_taken(lock));
    kill(middle, SIGKILL);
    waitpid(middle, NULL, 0);
    struct ys_lock mine;
    CHECK_INT(ys_lock_take(lock, YS_LOCK_ALONE, 10, &mine), YS_OK);
    for (int i = 0; i < 3; i++)
        CHECK(pids[i] > 0 && (kill(pids[i], 0) != 0 || fixture_is_gone(pids[i]))); /* at once: the lock was the last */
    ys_lock_release(&mine);
}

TAP_MAIN(TAP_CASE(output_and_errors_arrive_and_the_exit_code_is_its_own), TAP_CASE(stdin_is_empty),
         TAP_CASE(its_time_begins_when_its_program_does),
         TAP_CASE(only_four_descriptors_are_open_and_the_fourth_is_a_socket),
         TAP_CASE(it_leads_a_session_of_its_own_below_its_keeper),
         TAP_CASE(the_environment_is_ours_with_the_launch_over_it_and_the_channel_named),
         TAP_CASE(temporary_files_go_where_the_launch_says_unless_its_variables_say_otherwise),
         TAP_CASE(it_works_in_the_folder), TAP_CASE(it_is_bound_to_the_cpus_asked_for),
         TAP_CASE(signals_that_we_ignore_and_block_are_as_usual), TAP_CASE(no_core_file_is_written),
         TAP_CASE(our_own_memory_does_not_count_as_its_peak), TAP_CASE(a_program_that_does_not_exist_is_named),
         TAP_CASE(a_file_that_is_no_program_is_refused), TAP_CASE(a_cpu_that_does_not_exist_is_refused),
         TAP_CASE(a_folder_that_does_not_exist_is_refused), TAP_CASE(locks_are_the_keepers_and_not_the_adapters),
         TAP_CASE(all_of_it_ends_when_we_are_killed))
