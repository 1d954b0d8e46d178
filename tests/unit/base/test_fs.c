#include "scratch.h"
#include "tap.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void folders_are_made_with_their_parents(void)
{
    CHECK_INT(ys_fs_make_dirs(scratch("a/b//c/")), YS_OK);
    CHECK(ys_fs_is_dir(scratch("a/b/c")));
    CHECK_INT(ys_fs_make_dirs(scratch("a/b/c")), YS_OK);
    scratch_text("plain", "x");
    CHECK_INT(ys_fs_make_dirs(scratch("plain/below")), YS_EIO);
    CHECK_HAS(ys_error(), "plain");
    CHECK_INT(ys_fs_make_dirs(""), YS_EINVAL);
}

static void the_kinds_of_path_are_told_apart(void)
{
    const char *file = scratch_text("kind", "x");
    CHECK(ys_fs_exists(file) && ys_fs_is_file(file) && !ys_fs_is_dir(file) && !ys_fs_is_executable(file));
    CHECK(chmod(file, 0755) == 0);
    CHECK(ys_fs_is_executable(file));
    CHECK(!ys_fs_is_executable(scratch(".")) && !ys_fs_is_file(scratch(".")));
    CHECK(!ys_fs_exists(scratch("nowhere")));
}

static void what_is_written_is_read_back(void)
{
    struct ys_buf buf = {0};
    CHECK_INT(ys_fs_write(scratch("data"), "a\0b", 3), YS_OK);
    ys_buf_puts(&buf, "before ");
    CHECK_INT(ys_fs_read(scratch("data"), 3, &buf), YS_OK);
    CHECK_INT(buf.size, 10);
    CHECK(memcmp(buf.data, "before a\0b", 11) == 0);
    ys_buf_free(&buf);
}

static void writing_replaces_whole_and_leaves_nothing_beside(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("replace")) == YS_OK);
    CHECK_INT(ys_fs_write(scratch("replace/file"), "a longer text", 13), YS_OK);
    CHECK_INT(ys_fs_write(scratch("replace/file"), "short", 5), YS_OK);
    uint64_t size_bytes = 0;
    CHECK_INT(ys_fs_tree_size(scratch("replace"), &size_bytes), YS_OK);
    CHECK_INT(size_bytes, 5);
}

static void a_failed_write_leaves_the_old_file(void)
{
    scratch_text("kept", "old");
    ys_mem_fail_at(1);
    CHECK_INT(ys_fs_write(scratch("kept"), "new", 3), YS_ENOMEM);
    CHECK_INT(ys_fs_write(scratch("no/such/folder/file"), "new", 3), YS_EIO);
    CHECK_HAS(ys_error(), "no/such/folder/file");
    struct ys_buf buf = {0};
    CHECK_INT(ys_fs_read(scratch("kept"), 100, &buf), YS_OK);
    CHECK_TEXT(ys_buf_text(&buf), "old");
    ys_buf_free(&buf);
}

static void a_file_that_cannot_take_a_name_removes_its_temporary(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("taken/file")) == YS_OK); /* a folder stands where the file should go */
    CHECK_INT(ys_fs_write(scratch("taken/file"), "new", 3), YS_EIO);
    uint64_t size_bytes = 99;
    CHECK_INT(ys_fs_tree_size(scratch("taken"), &size_bytes), YS_OK);
    CHECK_INT(size_bytes, 0);
}

static void reading_refuses_what_it_should(void)
{
    struct ys_buf buf = {0};
    ys_buf_puts(&buf, "kept");
    scratch_text("four", "1234");
    CHECK_INT(ys_fs_read(scratch("four"), 3, &buf), YS_EFORMAT);
    CHECK_HAS(ys_error(), "larger");
    CHECK_INT(ys_fs_read(scratch("missing"), 3, &buf), YS_ENOTFOUND);
    CHECK_INT(ys_fs_read(scratch("."), 3, &buf), YS_EINVAL);
    REQUIRE(mkfifo(scratch("pipe"), 0600) == 0);
    CHECK_INT(ys_fs_read(scratch("pipe"), 3, &buf), YS_EINVAL);
    ys_mem_fail_at(1);
    CHECK_INT(ys_fs_read("/proc/self/maps", 1 << 20, &buf), YS_ENOMEM);
    CHECK_TEXT(ys_buf_text(&buf), "kept");
    ys_buf_free(&buf);
}

static void pipes_are_read_where_they_may_be(void)
{
    struct ys_buf buf = {0};
    bool is_regular = true;
    int ends[2];
    char path[40];
    REQUIRE(pipe(ends) == 0 && write(ends[1], "through a pipe", 14) == 14 && close(ends[1]) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    CHECK_INT(ys_fs_read(path, 100, &buf), YS_EINVAL);
    CHECK_INT(ys_fs_read_any(path, 100, &buf, &is_regular), YS_OK);
    CHECK(!is_regular);
    CHECK_TEXT(ys_buf_text(&buf), "through a pipe");
    close(ends[0]);
    CHECK_INT(ys_fs_read_any("/dev/zero", 100000, &buf, &is_regular), YS_EFORMAT);
    CHECK_TEXT(ys_buf_text(&buf), "through a pipe");
    CHECK_INT(ys_fs_read_any(scratch("."), 3, &buf, &is_regular), YS_EINVAL);
    CHECK_INT(ys_fs_read_any(scratch("missing"), 3, &buf, &is_regular), YS_ENOTFOUND);
    ys_buf_clear(&buf);
    CHECK_INT(ys_fs_read_any(scratch_text("plain", "text"), 4, &buf, &is_regular), YS_OK);
    CHECK(is_regular);
    CHECK_TEXT(ys_buf_text(&buf), "text");
    ys_buf_free(&buf);
}

static void files_of_unknown_size_are_read(void)
{
    struct ys_buf buf = {0};
    CHECK_INT(ys_fs_read("/proc/self/status", 1 << 20, &buf), YS_OK);
    CHECK_HAS(ys_buf_text(&buf), "Name:");
    ys_buf_free(&buf);
}

static void an_empty_file_reads_as_empty_text(void)
{
    struct ys_buf buf = {0};
    CHECK_INT(ys_fs_read(scratch_text("empty", ""), 0, &buf), YS_OK);
    CHECK_TEXT(ys_buf_text(&buf), "");
    ys_buf_free(&buf);
}

static void trees_are_removed_without_following_links(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("tree/deep/er")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("outside")) == YS_OK);
    scratch_text("outside/precious", "x");
    scratch_text("tree/deep/file", "x");
    REQUIRE(symlink(scratch("outside"), scratch("tree/deep/link")) == 0);
    CHECK_INT(ys_fs_remove_tree(scratch("tree")), YS_OK);
    CHECK(!ys_fs_exists(scratch("tree")));
    CHECK(ys_fs_exists(scratch("outside/precious")));
    CHECK_INT(ys_fs_remove_tree(scratch("tree")), YS_OK);
    CHECK_INT(ys_fs_remove_tree(scratch("outside/precious")), YS_OK);
    CHECK(!ys_fs_exists(scratch("outside/precious")));
}

/* Deeper than any path may be long, and than a process may have folders open. */
static void a_tree_of_any_depth_is_removed(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("abyss")) == YS_OK);
    scratch_text("abyss/.removed-0", "a name that removing would like to have");
    int fd = open(scratch("abyss"), O_RDONLY | O_DIRECTORY | O_CLOEXEC), depth = 0;
    for (; fd >= 0 && depth < 1200; depth++) {
        int file = openat(fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        int inner = mkdirat(fd, "deeper", 0700) == 0 ? openat(fd, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        close(file);
        close(fd);
        fd = inner;
    }
    close(fd);
    CHECK_INT(depth, 1200);
    CHECK_INT(ys_fs_remove_tree(scratch("abyss")), YS_OK);
    CHECK(!ys_fs_exists(scratch("abyss")));
}

static void a_tree_counts_each_inode_once_and_no_links(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("count/sub")) == YS_OK);
    scratch_text("count/five", "12345");
    scratch_text("count/sub/three", "123");
    REQUIRE(link(scratch("count/five"), scratch("count/sub/same")) == 0);
    REQUIRE(symlink(scratch("count/five"), scratch("count/sub/pointer")) == 0);
    uint64_t size_bytes = 0;
    CHECK_INT(ys_fs_tree_size(scratch("count"), &size_bytes), YS_OK);
    CHECK_INT(size_bytes, 8);
    CHECK_INT(ys_fs_tree_size(scratch("nowhere"), &size_bytes), YS_ENOTFOUND);
    CHECK_INT(size_bytes, 8);
}

static void check_text(char *made, const char *expected)
{
    CHECK_TEXT(made, expected);
    ys_free(made);
}

static void paths_are_taken_apart_and_put_together(void)
{
    check_text(ys_path_join("a", "b/c"), "a/b/c");
    check_text(ys_path_join("a/", "b"), "a/b");
    check_text(ys_path_join("", "b"), "b");
    check_text(ys_path_join("/a", "/b"), "/b");
    check_text(ys_path_dir("a/b/c"), "a/b");
    check_text(ys_path_dir("a"), ".");
    check_text(ys_path_dir("/a"), "/");
    CHECK_TEXT(ys_path_base("a/b/c"), "c");
    CHECK_TEXT(ys_path_base("c"), "c");
}

static void absolute_paths_begin_at_the_current_folder(void)
{
    check_text(ys_path_absolute("/a/./b//c/"), "/a/b/c");
    check_text(ys_path_absolute("/"), "/");
    check_text(ys_path_absolute("/a/../b"), "/a/../b"); /* a may be a link: only the system knows its parent */
    REQUIRE(chdir("/usr") == 0);
    check_text(ys_path_absolute("./x"), "/usr/x");
    check_text(ys_path_absolute("."), "/usr");
    REQUIRE(chdir("/") == 0);
    check_text(ys_path_absolute("x"), "/x");
}

TAP_MAIN(TAP_CASE(folders_are_made_with_their_parents), TAP_CASE(the_kinds_of_path_are_told_apart),
         TAP_CASE(what_is_written_is_read_back), TAP_CASE(writing_replaces_whole_and_leaves_nothing_beside),
         TAP_CASE(a_failed_write_leaves_the_old_file), TAP_CASE(a_file_that_cannot_take_a_name_removes_its_temporary),
         TAP_CASE(reading_refuses_what_it_should), TAP_CASE(files_of_unknown_size_are_read),
         TAP_CASE(pipes_are_read_where_they_may_be), TAP_CASE(an_empty_file_reads_as_empty_text),
         TAP_CASE(trees_are_removed_without_following_links), TAP_CASE(a_tree_of_any_depth_is_removed),
         TAP_CASE(a_tree_counts_each_inode_once_and_no_links), TAP_CASE(paths_are_taken_apart_and_put_together),
         TAP_CASE(absolute_paths_begin_at_the_current_folder))
