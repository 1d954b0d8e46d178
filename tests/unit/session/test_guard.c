/* What an adapter may write and what not, as a shell in its place finds it. */
#include "session/guard.h"
#include "session/keeper.h"
#include "unit/run/run_fixture.h"
#include <poll.h>
#include <string.h>

static char top[64], script[8192];

/* A path below `top`, until the next one. */
static const char *in_top(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

/* Folders of a run and of what it must leave alone: `kept` below the guarded `cache`, `run` below the guarded
 * `results`. False, with the reason printed, where the kernel has no Landlock. */
static bool begin(void)
{
    static const char *const folders[] = {"cache/kept", "results/run", "results/other", "beside", "tmp"};
    const char *reason = NULL;
    snprintf(top, sizeof top, "%s", fixture_open());
    setenv("YARDSTICK_CACHE", in_top("cache"), 1);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        CHECK(ys_fs_make_dirs(in_top(folders[i])) == YS_OK);
    CHECK(ys_fs_write(in_top("cache/file"), "right", 5) == YS_OK);
    CHECK(ys_fs_write(in_top("results/results.db"), "right", 5) == YS_OK);
    CHECK(ys_guard_protect(in_top("results")) == YS_OK);
    if (ys_guard_version(&reason) > 0)
        return true;
    tap_skip("%s", reason);
    return false;
}

/* Runs `text` as the adapter; what it prints, borrowed until the next one. */
static const char *run(const char *text, struct ys_started *started)
{
    static char printed[4096];
    size_t size = 0;
    snprintf(script, sizeof script, "cd %s; %s", top, text);
    const char *argv[] = {"sh", "-c", script, NULL};
    char *folder = ys_path_join(top, "results/run"), *kept = ys_path_join(top, "cache/kept");
    char *temporary = ys_path_join(top, "tmp");
    struct ys_launch launch = {.argv = argv, .folder = folder, .kept = kept, .temporary = temporary};
    if (ys_launch_start(&launch, started) != YS_OK)
        return ys_error();
    for (ssize_t got = 1; got > 0;) {
        struct pollfd source = {.fd = started->log_fd, .events = POLLIN};
        poll(&source, 1, -1);
        got = read(started->log_fd, printed + size, sizeof printed - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    printed[size] = 0;
    fixture_await(started);
    ys_keeper_dismiss(started, true);
    ys_free(folder);
    ys_free(kept);
    ys_free(temporary);
    return printed;
}

/* Tries each of `ways`, ended by NULL, and prints the number of those that worked. */
static const char *try_all(const char *const *ways)
{
    static char text[4096];
    struct ys_started started;
    size_t length = 0;
    for (size_t i = 0; ways[i]; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "(%s) 2>/dev/null && echo %zu; ", ways[i], i);
    return run(text, &started);
}

static void its_own_folders_can_be_written(void)
{
    static const char *const ways[] = {"echo x >results/run/a",
                                       "mkdir results/run/b && echo x >results/run/b/c",
                                       "mv results/run/a results/run/b/a",
                                       "echo x >cache/kept/a",
                                       "echo x >tmp/a",
                                       "echo x >/dev/null",
                                       "echo x >beside/a",
                                       "rm beside/a",
                                       NULL};
    if (begin())
        CHECK_TEXT(try_all(ways), "0\n1\n2\n3\n4\n5\n6\n7\n");
}

static void shared_memory_can_be_made(void)
{
    static const char *const ways[] = {"f=$(mktemp /dev/shm/ys-test-XXXXXX) && echo x >$f && rm $f", NULL};
    if (access("/dev/shm", W_OK) != 0)
        tap_skip("there is no /dev/shm that can be written");
    else if (begin())
        CHECK_TEXT(try_all(ways), "0\n");
}

static void cache_results_and_other_runs_cannot_be_written(void)
{
    static const char *const ways[] = {"echo x >>cache/file",
                                       "echo x >results/results.db",
                                       "rm cache/file",
                                       "mv cache/file beside/file",
                                       "ln cache/file results/run/file && echo x >results/run/file",
                                       "truncate -s 0 cache/file",
                                       "echo x >cache/new",
                                       "echo x >results/other/new",
                                       "mv cache cache2",
                                       "ln -s ../cache/file results/run/link && echo x >results/run/link",
                                       "mv results/run/nothing results/other",
                                       "rmdir results/other",
                                       "mkfifo results/pipe",
                                       "sh -c 'setsid sh -c \"echo x >cache/file\"'",
                                       NULL};
    if (!begin())
        return;
    CHECK_TEXT(try_all(ways), "");
    struct ys_buf text = {0};
    CHECK(ys_fs_read(in_top("cache/file"), 100, &text) == YS_OK);
    CHECK_TEXT(ys_buf_text(&text), "right");
    ys_buf_free(&text);
}

static void an_empty_folder_can_be_made_anywhere(void)
{
    static const char *const ways[] = {"mkdir cache/empty", "rmdir cache/empty", NULL};
    if (begin())
        CHECK_TEXT(try_all(ways), "0\n");
}

static void control_groups_cannot_be_left(void)
{
    static const char *const ways[] = {"for f in $(find /sys/fs/cgroup -name cgroup.procs 2>/dev/null | head -n 5); do "
                                       "echo $$ >$f && exit 0; done; exit 1",
                                       NULL};
    if (begin())
        CHECK_TEXT(try_all(ways), "");
}

static void without_landlock_it_is_said_that_nothing_keeps_it(void)
{
    struct ys_started started;
    const char *reason = NULL;
    if (!begin())
        return;
    CHECK_TEXT(run("true", &started), "");
    CHECK(started.guard_version >= 3 && started.guard_errno == 0);
    setenv("YARDSTICK_LANDLOCK", "off", 1);
    CHECK_TEXT(run("echo x >cache/file && echo written", &started), "written\n");
    CHECK_INT(started.guard_version, 0);
    CHECK_INT(ys_guard_version(&reason), 0);
    CHECK_TEXT(reason, "YARDSTICK_LANDLOCK is off");
    unsetenv("YARDSTICK_LANDLOCK");
}

TAP_MAIN(TAP_CASE(its_own_folders_can_be_written), TAP_CASE(shared_memory_can_be_made),
         TAP_CASE(cache_results_and_other_runs_cannot_be_written), TAP_CASE(an_empty_folder_can_be_made_anywhere),
         TAP_CASE(control_groups_cannot_be_left), TAP_CASE(without_landlock_it_is_said_that_nothing_keeps_it))
