/* Locks, and what is known by them: folders and files that killed processes left. Processes of their own hold the other
 * side, for locks of one process do not keep it from itself. */
#include "base/files/atomic_file.h"
#include "base/files/working_folder.h"
#include "base/mem.h"
#include "scratch.h"
#include "tap.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A process that does `hold(path)`, says that it has, and waits to be killed. Its number; the path it told in `told`.
 */
static pid_t holder(void (*hold)(const char *path, char *tell, size_t size), const char *path, char *told, size_t size)
{
    int ends[2];
    char line[4096] = "";
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        hold(path, line, sizeof line);
        (void)!write(ends[1], line, sizeof line);
        for (;;)
            pause();
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n; got < sizeof line && (n = read(ends[0], line + got, sizeof line - got)) > 0; got += (size_t)n)
        ;
    close(ends[0]);
    snprintf(told, size, "%.*s", (int)size - 1, line);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void hold_alone(const char *path, char *tell, size_t size)
{
    static struct ys_lock lock;
    snprintf(tell, size, "%s", ys_lock_take(path, YS_LOCK_ALONE, 0, &lock) == YS_OK ? "held" : "not held");
}

static void hold_shared(const char *path, char *tell, size_t size)
{
    static struct ys_lock lock;
    snprintf(tell, size, "%s", ys_lock_take(path, YS_LOCK_SHARED, 0, &lock) == YS_OK ? "held" : "not held");
}

static void one_that_is_held_alone_keeps_everybody_out_until_its_process_ends(void)
{
    const char *path = scratch("alone.lock");
    char told[64];
    struct ys_lock lock;
    pid_t child = holder(hold_alone, path, told, sizeof told);
    CHECK_TEXT(told, "held");
    CHECK(ys_lock_is_taken(path));
    CHECK_INT(ys_lock_holder(path), child);
    CHECK_INT(ys_lock_take(path, YS_LOCK_ALONE, 0, &lock), YS_EBUSY);
    CHECK_INT(lock.fd, -1);
    CHECK_INT(ys_lock_take(path, YS_LOCK_SHARED, 0.05, &lock), YS_EBUSY);
    end(child);
    CHECK(!ys_lock_is_taken(path));
    REQUIRE(ys_lock_take(path, YS_LOCK_ALONE, 0, &lock) == YS_OK);
    CHECK_INT(ys_lock_holder(path), getpid());
    ys_lock_release(&lock);
    CHECK_INT(lock.fd, -1);
}

static void shared_ones_keep_out_who_wants_it_alone(void)
{
    char told[64];
    struct ys_lock lock;
    const char *folder = scratch("shared");
    REQUIRE(ys_fs_make_dirs(folder) == YS_OK);
    pid_t child = holder(hold_shared, folder, told, sizeof told);
    CHECK_TEXT(told, "held");
    CHECK(ys_lock_is_taken(folder));
    CHECK_INT(ys_lock_take(folder, YS_LOCK_ALONE, 0, &lock), YS_EBUSY);
    REQUIRE(ys_lock_take(folder, YS_LOCK_SHARED, 0, &lock) == YS_OK);
    ys_lock_release(&lock);
    end(child);
    REQUIRE(ys_lock_take(folder, YS_LOCK_ALONE, 0, &lock) == YS_OK);
    ys_lock_release(&lock);
    CHECK_INT(ys_lock_take(scratch("nowhere/lock"), YS_LOCK_ALONE, 0, &lock), YS_ENOTFOUND);
    CHECK(!ys_lock_is_taken(scratch("nowhere/lock")));
}

static void what_is_held_can_be_handed_on(void)
{
    int before[YS_LOCK_MOST_HELD], after[YS_LOCK_MOST_HELD];
    struct ys_lock lock;
    size_t count = ys_lock_held(before, YS_LOCK_MOST_HELD);
    REQUIRE(ys_lock_take(scratch("handed.lock"), YS_LOCK_ALONE, 0, &lock) == YS_OK);
    REQUIRE(ys_lock_held(after, YS_LOCK_MOST_HELD) == count + 1);
    CHECK_INT(after[count], lock.fd);
    int keeper = dup(lock.fd);
    ys_lock_release(&lock);
    CHECK_INT(ys_lock_held(after, YS_LOCK_MOST_HELD), count);
    CHECK(ys_lock_is_taken(scratch("handed.lock"))); /* the copy holds it */
    close(keeper);
    CHECK(!ys_lock_is_taken(scratch("handed.lock")));
}

static void a_folder_that_is_gone_is_not_locked_as_a_file(void)
{
    struct ys_lock lock;
    REQUIRE(ys_fs_make_dirs(scratch("folder")) == YS_OK);
    REQUIRE(ys_lock_take_folder(scratch("folder"), YS_LOCK_ALONE, 0, &lock) == YS_OK);
    CHECK(ys_lock_is_taken(scratch("folder")));
    ys_lock_release(&lock);
    CHECK(!ys_lock_is_taken(scratch("folder")));
    CHECK_INT(ys_lock_take_folder(scratch("gone"), YS_LOCK_SHARED, 0, &lock), YS_ENOTFOUND);
    CHECK(!ys_fs_exists(scratch("gone")));
    ys_lock_release(&lock);
}

static void work_in(const char *path, char *tell, size_t size)
{
    static struct ys_working working;
    if (ys_working_make(path, "working-", &working) == YS_OK)
        snprintf(tell, size, "%s", working.path);
}

static void count_leftover(void *context, const char *path, uint64_t size_bytes)
{
    (void)path;
    *(uint64_t *)context += size_bytes;
}

static void folders_of_killed_processes_are_swept_and_those_in_use_are_not(void)
{
    char told[4096], inside[4200];
    const char *parent = scratch("parent");
    uint64_t total = 0;
    const struct ys_sweep look = {.dry = true, .on_leftover = count_leftover, .context = &total};
    REQUIRE(ys_fs_make_dirs(scratch("parent/working-a")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("parent/kept-abcdef")) == YS_OK);
    pid_t child = holder(work_in, parent, told, sizeof told);
    REQUIRE(ys_fs_is_dir(told));
    snprintf(inside, sizeof inside, "%s/deep", told);
    REQUIRE(ys_fs_write(inside, "large", 5) == YS_OK);
    ys_working_sweep(parent, "working-", NULL);
    CHECK(ys_fs_exists(inside));
    end(child);
    ys_working_sweep(parent, "working-", &look);
    CHECK(ys_fs_exists(inside));
    CHECK_INT(total, 5);
    ys_working_sweep(parent, "working-", NULL);
    CHECK(!ys_fs_exists(told));
    CHECK(ys_fs_is_dir(scratch("parent/working-a")));
    CHECK(ys_fs_is_dir(scratch("parent/kept-abcdef")));
    ys_working_sweep(scratch("parent/nowhere"), "working-", NULL);
}

static void a_folder_goes_when_its_work_is_done_unless_it_was_renamed(void)
{
    struct ys_working working;
    char path[4096];
    setenv("YARDSTICK_CACHE", scratch("cache"), 1);
    REQUIRE(ys_working_in_cache("checks", &working) == YS_OK);
    snprintf(path, sizeof path, "%s", working.path);
    CHECK(ys_fs_is_dir(path));
    CHECK(ys_lock_is_taken(path));
    ys_working_remove(&working);
    CHECK(!ys_fs_exists(path));
    ys_working_remove(&working);
    REQUIRE(ys_working_in_cache("checks", &working) == YS_OK);
    REQUIRE(rename(working.path, scratch("cache/checks/made")) == 0);
    ys_working_keep(&working);
    CHECK(ys_fs_is_dir(scratch("cache/checks/made")));
    CHECK(!ys_lock_is_taken(scratch("cache/checks/made")));
    CHECK_INT(ys_working_make(scratch("nowhere"), "working-", &working), YS_EIO);
    CHECK(!working.path);
}

/* Longer than any path may be, so that it cannot be removed, whoever runs this. */
static void what_ended_the_work_is_still_said_when_its_folder_stays(void)
{
    enum { TOO_LONG = 8192 };
    struct ys_working working = {.path = ys_alloc(TOO_LONG + 1, 1), .lock = YS_LOCK_NONE};
    REQUIRE(working.path);
    memset(working.path, 'x', TOO_LONG);
    ys_fail(YS_EFORMAT, "the archive is damaged");
    ys_working_remove(&working);
    CHECK(!working.path);
    CHECK_TEXT(ys_error(), "the archive is damaged");
}

static void write_half(const char *path, char *tell, size_t size)
{
    static struct ys_atomic_file file;
    if (ys_atomic_file_open(&file, path) == YS_OK && ys_atomic_file_write(&file, "half", 4) == YS_OK)
        snprintf(tell, size, "%s", file.temporary);
}

static void half_written_files_of_killed_processes_are_swept(void)
{
    char told[4096];
    struct stat file;
    uint64_t total = 0;
    const struct ys_sweep look = {.dry = true, .on_leftover = count_leftover, .context = &total};
    REQUIRE(ys_fs_make_dirs(scratch("files")) == YS_OK);
    pid_t child = holder(write_half, scratch("files/report.html"), told, sizeof told);
    REQUIRE(stat(told, &file) == 0);
    CHECK_INT(file.st_size, 4);
    ys_atomic_file_sweep(scratch("files"), NULL);
    CHECK(ys_fs_exists(told));
    end(child);
    ys_atomic_file_sweep(scratch("files"), &look);
    CHECK_INT(total, 4);
    REQUIRE(stat(told, &file) == 0);
    CHECK_INT(file.st_size, 4);
    CHECK_TEXT(scratch_text("files/own.tmp", "x"), scratch("files/own.tmp"));
    ys_atomic_file_sweep(scratch("files"), NULL);
    CHECK(!ys_fs_exists(told));
    CHECK(ys_fs_exists(scratch("files/own.tmp")));
    CHECK(!ys_fs_exists(scratch("files/report.html")));
}

TAP_MAIN(TAP_CASE(one_that_is_held_alone_keeps_everybody_out_until_its_process_ends),
         TAP_CASE(shared_ones_keep_out_who_wants_it_alone), TAP_CASE(what_is_held_can_be_handed_on),
         TAP_CASE(a_folder_that_is_gone_is_not_locked_as_a_file),
         TAP_CASE(folders_of_killed_processes_are_swept_and_those_in_use_are_not),
         TAP_CASE(a_folder_goes_when_its_work_is_done_unless_it_was_renamed),
         TAP_CASE(what_ended_the_work_is_still_said_when_its_folder_stays),
         TAP_CASE(half_written_files_of_killed_processes_are_swept))
