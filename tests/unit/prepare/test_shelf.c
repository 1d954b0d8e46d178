/* The shelf of works in the cache: made once, held, trimmed. */
#include "base/stored/shelf.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stored/sealed.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char cache[] = "/tmp/ys-shelf-XXXXXX";

static void begin(void)
{
    strcpy(cache, "/tmp/ys-shelf-XXXXXX");
    REQUIRE(mkdtemp(cache) != NULL);
    setenv("YARDSTICK_CACHE", cache, 1);
}

static void end(void)
{
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
}

struct filling {
    int calls;
    size_t bytes;
    ys_status status;
};

static ys_status fill(void *context, const char *folder)
{
    struct filling *filling = context;
    filling->calls++;
    if (filling->status != YS_OK)
        return ys_fail(filling->status, "cannot be filled");
    char *path = ys_path_join(folder, "file"), *bytes = ys_alloc(filling->bytes, 1);
    ys_status status = path && bytes ? ys_fs_write(path, bytes, filling->bytes) : ys_out_of_memory();
    ys_free(path);
    ys_free(bytes);
    return status;
}

static bool is_there(const char *key)
{
    char *path = ys_format("%s/work/%s", cache, key);
    bool there = ys_fs_is_dir(path);
    ys_free(path);
    return there;
}

/* Of each folder, beside which its manifest is small. */
enum { BYTES = 100000, ROOM = BYTES + 1000 };

/* Puts a folder of BYTES there that was last used `age_s` seconds ago. */
static void put(const char *key, int age_s)
{
    struct filling filling = {.bytes = BYTES};
    struct ys_shelf_item item;
    if (!CHECK(ys_shelf_take("work", key, fill, &filling, &item) == YS_OK))
        return;
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= age_s;
    times[0] = times[1] = now;
    CHECK(utimensat(AT_FDCWD, item.folder, times, 0) == 0);
    ys_shelf_release(&item);
}

static void a_folder_is_filled_once(void)
{
    begin();
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item first, again;
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &first) == YS_OK);
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &again) == YS_OK);
    CHECK_INT(filling.calls, 1);
    CHECK(first.filled && !again.filled);
    CHECK_TEXT(first.folder, again.folder);
    char *file = ys_path_join(first.folder, "file");
    CHECK(ys_fs_exists(file));
    ys_free(file);
    ys_shelf_release(&first);
    ys_shelf_release(&again);
    ys_shelf_release(&again); /* nothing is held any more */
    end();
}

static ino_t inode_in(const struct ys_shelf_item *item)
{
    struct stat file = {.st_ino = 0};
    char *path = ys_path_join(item->folder, "file");
    CHECK(stat(path, &file) == 0);
    ys_free(path);
    return file.st_ino;
}

/* One byte of "aa" is another one. */
static void damage(const struct ys_shelf_item *item)
{
    char *path = ys_path_join(item->folder, "file");
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(pwrite(fd, "x", 1, 3) == 1);
    close(fd);
    ys_free(path);
}

static void remove_in(const struct ys_shelf_item *item, const char *name)
{
    char *path = ys_path_join(item->folder, name);
    CHECK(remove(path) == 0);
    ys_free(path);
}

static void a_damaged_folder_is_made_again(void)
{
    begin();
    ys_log_set_level(YS_LOG_ERROR);
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item item;
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK);
    ino_t before = inode_in(&item);
    damage(&item);
    ys_shelf_release(&item);
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK);
    CHECK(item.filled && inode_in(&item) != before);
    CHECK_INT(filling.calls, 2);
    remove_in(&item, "file");
    ys_shelf_release(&item);
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK);
    CHECK_INT(filling.calls, 3);
    CHECK(inode_in(&item) != 0);
    ys_shelf_release(&item);
    ys_log_set_level(YS_LOG_INFO);
    end();
}

static void a_folder_without_a_manifest_is_made_again(void)
{
    begin();
    ys_log_set_level(YS_LOG_ERROR);
    char *old = ys_format("%s/work/aa", cache), *file = ys_format("%s/file", old);
    CHECK(ys_fs_make_dirs(old) == YS_OK && ys_fs_write(file, "of an earlier version", 21) == YS_OK);
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item item;
    struct stat made;
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK);
    CHECK_INT(filling.calls, 1);
    CHECK(stat(file, &made) == 0);
    CHECK_INT(made.st_size, 10);
    ys_shelf_release(&item);
    ys_free(old);
    ys_free(file);
    ys_log_set_level(YS_LOG_INFO);
    end();
}

static void what_was_measured_with_is_not_made_again(void)
{
    begin();
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item item;
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK);
    ys_sealed_use(item.folder);
    damage(&item);
    ys_shelf_release(&item);
    CHECK_INT(ys_shelf_take("work", "aa", fill, &filling, &item), YS_EIO);
    CHECK_HAS(ys_error(), "the prepared file in ");
    CHECK_HAS(ys_error(), "SHA-256 differs");
    CHECK_HAS(ys_error(), "yardstick resume");
    CHECK_INT(filling.calls, 1);
    CHECK(!item.folder);
    end();
}

static void a_folder_has_the_mode_of_any_other(void)
{
    begin();
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item item;
    struct stat folder;
    mode_t mask = umask(027);
    REQUIRE(ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK);
    umask(mask);
    CHECK(stat(item.folder, &folder) == 0);
    CHECK_INT(folder.st_mode & 0777, 0750);
    ys_shelf_release(&item);
    end();
}

static void a_folder_that_cannot_be_filled_is_not_there(void)
{
    begin();
    struct filling filling = {.bytes = 10, .status = YS_EFORMAT};
    struct ys_shelf_item item;
    CHECK_INT(ys_shelf_take("work", "aa", fill, &filling, &item), YS_EFORMAT);
    CHECK_TEXT(ys_error(), "cannot be filled");
    CHECK(!item.folder && !is_there("aa"));
    filling.status = YS_OK;
    CHECK_INT(ys_shelf_take("work", "aa", fill, &filling, &item), YS_OK);
    ys_shelf_release(&item);
    end();
}

static void the_longest_unused_go_first(void)
{
    begin();
    put("aa", 10);
    put("bb", 40);
    put("cc", 30);
    put("dd", 20);
    CHECK_INT(ys_shelf_trim("work", 4 * ROOM), YS_OK);
    CHECK(is_there("aa") && is_there("bb") && is_there("cc") && is_there("dd"));
    CHECK_INT(ys_shelf_trim("work", 3 * BYTES - 1), YS_OK);
    CHECK(is_there("aa") && !is_there("bb") && !is_there("cc") && is_there("dd"));
    struct filling filling = {.bytes = BYTES};
    struct ys_shelf_item item;
    REQUIRE(ys_shelf_take("work", "dd", fill, &filling, &item) == YS_OK); /* is now the latest used */
    ys_shelf_release(&item);
    CHECK_INT(ys_shelf_trim("work", ROOM), YS_OK);
    CHECK(!is_there("aa") && is_there("dd"));
    end();
}

static void what_is_held_stays(void)
{
    begin();
    struct filling filling = {.bytes = BYTES};
    struct ys_shelf_item item;
    put("old", 100);
    REQUIRE(ys_shelf_take("work", "old", fill, &filling, &item) == YS_OK);
    put("new", 0);
    CHECK_INT(ys_shelf_trim("work", 0), YS_OK);
    CHECK(is_there("old") && !is_there("new"));
    ys_shelf_release(&item);
    CHECK_INT(ys_shelf_trim("work", 0), YS_OK);
    CHECK(!is_there("old"));
    end();
}

/* Holds "aa" in a process of its own until its standard input ends; `ready` [out] becomes readable then. */
static pid_t hold_elsewhere(int *stop)
{
    int ready[2], until[2];
    char byte;
    if (!CHECK(pipe(ready) == 0 && pipe(until) == 0))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        struct filling filling = {.bytes = BYTES};
        struct ys_shelf_item item;
        close(until[1]);
        bool held = ys_shelf_take("work", "aa", fill, &filling, &item) == YS_OK;
        if (write(ready[1], held ? "y" : "n", 1) != 1 || read(until[0], &byte, 1) != 0)
            _exit(1);
        _exit(held ? 0 : 1); /* without a release, as a process that is killed */
    }
    close(until[0]);
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1 && byte == 'y');
    close(ready[0]);
    *stop = until[1];
    return pid;
}

static void what_another_process_holds_stays_until_it_ends(void)
{
    begin();
    int stop = -1, code = 1;
    put("aa", 100);
    pid_t pid = hold_elsewhere(&stop);
    REQUIRE(pid > 0);
    CHECK_INT(ys_shelf_trim("work", 0), YS_OK);
    CHECK(is_there("aa"));
    close(stop);
    CHECK(waitpid(pid, &code, 0) == pid && code == 0);
    CHECK_INT(ys_shelf_trim("work", 0), YS_OK);
    CHECK(!is_there("aa"));
    end();
}

/* Those without a lock are of earlier versions of yardstick. */
static void what_was_left_half_made_goes(void)
{
    begin();
    put("aa", 0);
    char *left = ys_format("%s/work/bb.12345", cache), *gone = ys_format("%s/work/cc.gone", cache);
    char *working = ys_format("%s/work/working-abcdef", cache);
    CHECK(ys_fs_make_dirs(left) == YS_OK && ys_fs_make_dirs(gone) == YS_OK && ys_fs_make_dirs(working) == YS_OK);
    CHECK_INT(ys_shelf_trim("work", ROOM), YS_OK);
    CHECK(!ys_fs_exists(left) && !ys_fs_exists(gone) && !ys_fs_exists(working) && is_there("aa"));
    ys_free(left);
    ys_free(gone);
    ys_free(working);
    end();
}

static ys_status fill_and_trim(void *context, const char *folder)
{
    struct filling *filling = context;
    CHECK_INT(ys_shelf_trim("work", 0), YS_OK); /* as another process would, now */
    CHECK(ys_fs_is_dir(folder));
    return fill(filling, folder);
}

static void nothing_is_removed_while_a_folder_is_made(void)
{
    begin();
    put("aa", 100);
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item item;
    CHECK_INT(ys_shelf_take("work", "bb", fill_and_trim, &filling, &item), YS_OK);
    CHECK(is_there("aa") && is_there("bb"));
    ys_shelf_release(&item);
    end();
}

static void a_cache_that_cannot_be_written_is_an_error(void)
{
    begin();
    char *file = ys_path_join(cache, "work");
    struct filling filling = {.bytes = 10};
    struct ys_shelf_item item;
    CHECK(ys_fs_write(file, "x", 1) == YS_OK); /* where the folder should be */
    CHECK_INT(ys_shelf_take("work", "aa", fill, &filling, &item), YS_EIO);
    CHECK_HAS(ys_error(), file);
    CHECK(!item.folder && filling.calls == 0);
    CHECK_INT(ys_shelf_trim("work", 0), YS_EIO);
    ys_free(file);
    end();
}

TAP_MAIN(TAP_CASE(a_folder_is_filled_once), TAP_CASE(a_damaged_folder_is_made_again),
         TAP_CASE(a_folder_without_a_manifest_is_made_again), TAP_CASE(what_was_measured_with_is_not_made_again),
         TAP_CASE(a_folder_has_the_mode_of_any_other), TAP_CASE(a_folder_that_cannot_be_filled_is_not_there),
         TAP_CASE(the_longest_unused_go_first), TAP_CASE(what_is_held_stays),
         TAP_CASE(what_another_process_holds_stays_until_it_ends), TAP_CASE(what_was_left_half_made_goes),
         TAP_CASE(nothing_is_removed_while_a_folder_is_made), TAP_CASE(a_cache_that_cannot_be_written_is_an_error))
