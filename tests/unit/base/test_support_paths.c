/* The order of places needs programs that lie elsewhere: the test copies itself there and asks the copy. */
#include "base/process/child.h"
#include "scratch.h"
#include "tap.h"
#include <sys/stat.h>

static void check_taken(char *made, const char *expected)
{
    CHECK_TEXT(made, expected);
    ys_free(made);
}

static void the_cache_goes_where_it_is_told(void)
{
    setenv("HOME", "/home/somebody", 1);
    setenv("XDG_CACHE_HOME", "/var/xdg", 1);
    setenv("YARDSTICK_CACHE", "/big//disk/", 1);
    check_taken(ys_cache_dir(), "/big/disk");
    setenv("YARDSTICK_CACHE", "", 1);
    check_taken(ys_cache_dir(), "/var/xdg/yardstick");
    setenv("XDG_CACHE_HOME", "relative", 1);
    check_taken(ys_cache_dir(), "/home/somebody/.cache/yardstick");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("YARDSTICK_CACHE");
    check_taken(ys_cache_dir(), "/home/somebody/.cache/yardstick");
    unsetenv("HOME");
    char *fallback = ys_cache_dir();
    CHECK(fallback && fallback[0] == '/');
    CHECK_HAS(fallback, "/.cache/yardstick");
    ys_free(fallback);
}

static void cache_paths_are_made(void)
{
    setenv("YARDSTICK_CACHE", scratch("cache"), 1);
    char *path = NULL;
    CHECK_INT(ys_cache_path("env/pytorch", &path), YS_OK);
    CHECK_TEXT(path, scratch("cache/env/pytorch"));
    CHECK(ys_fs_is_dir(scratch("cache/env/pytorch")));
    ys_free(path);
    setenv("YARDSTICK_CACHE", scratch_text("occupied", "x"), 1);
    path = NULL;
    CHECK_INT(ys_cache_path("env", &path), YS_EIO);
    CHECK_HAS(ys_error(), "YARDSTICK_CACHE");
    CHECK(!path);
    unsetenv("YARDSTICK_CACHE");
}

static void nothing_outside_the_tree_is_found(void)
{
    setenv("YARDSTICK_HOME", "/usr", 1);
    CHECK(!ys_find_support("/etc/passwd"));
    CHECK(!ys_find_support("../etc/passwd"));
    CHECK(!ys_find_support("share/../../etc/passwd"));
    CHECK(!ys_find_support(""));
    CHECK(!ys_find_support("no-such-thing"));
    check_taken(ys_find_support("share"), "/usr/share");
}

static void the_folder_of_the_program_is_known(void)
{
    CHECK(ys_exe_dir()[0] == '/');
    char self[PATH_MAX] = "";
    REQUIRE(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    check_taken(ys_path_dir(self), ys_exe_dir());
}

/** Runs this program's copy at `program` as `program find relative` and checks what it says. */
static void check_found(const char *program, const char *relative, const char *expected)
{
    const char *const argv[] = {program, "find", relative, NULL};
    struct ys_buf output = {0};
    int exit_code = -1;
    CHECK_INT(ys_child_run(argv, NULL, &output, &exit_code), YS_OK);
    CHECK_TEXT(ys_buf_text(&output), expected);
    ys_buf_free(&output);
}

static bool copy_self_to(const char *path)
{
    struct ys_buf self = {0};
    bool copied = ys_fs_read("/proc/self/exe", (size_t)1 << 30, &self) == YS_OK &&
                  ys_fs_write(path, self.data, self.size) == YS_OK && chmod(path, 0755) == 0;
    ys_buf_free(&self);
    return copied;
}

static void places_are_searched_in_order(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("prefix/bin")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("prefix/share/yardstick/adapters")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("home/adapters")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("build")) == YS_OK);
    REQUIRE(copy_self_to(scratch("prefix/bin/asker")));
    setenv("YARDSTICK_HOME", scratch("home"), 1);
    setenv("YARDSTICK_BIN", scratch("build"), 1);
    scratch_text("home/adapters/a.py", "");
    check_found(scratch("prefix/bin/asker"), "adapters/a.py", scratch("home/adapters/a.py"));
    scratch_text("build/helper", "");
    scratch_text("home/helper", "");
    check_found(scratch("prefix/bin/asker"), "helper", scratch("build/helper"));
    scratch_text("prefix/share/yardstick/adapters/a.py", "");
    check_found(scratch("prefix/bin/asker"), "adapters/a.py", scratch("prefix/share/yardstick/adapters/a.py"));
    REQUIRE(ys_fs_make_dirs(scratch("prefix/bin/adapters")) == YS_OK);
    scratch_text("prefix/bin/adapters/a.py", "");
    check_found(scratch("prefix/bin/asker"), "adapters/a.py", scratch("prefix/bin/adapters/a.py"));
    check_found(scratch("prefix/bin/asker"), "asker", scratch("prefix/bin/asker"));
}

static void programs_below_libexec_find_the_prefix(void)
{
    REQUIRE(ys_fs_make_dirs(scratch("other/libexec/yardstick")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("other/share/yardstick/metrics")) == YS_OK);
    REQUIRE(ys_fs_make_dirs(scratch("other/bin")) == YS_OK);
    REQUIRE(copy_self_to(scratch("other/libexec/yardstick/asker")));
    scratch_text("other/bin/main-program", "");
    check_found(scratch("other/libexec/yardstick/asker"), "metrics", scratch("other/share/yardstick/metrics"));
    check_found(scratch("other/libexec/yardstick/asker"), "main-program", scratch("other/bin/main-program"));
    check_found(scratch("other/libexec/yardstick/asker"), "bin/main-program", "nowhere");
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "find") == 0) {
        char *found = ys_find_support(argv[2]);
        printf("%s", found ? found : "nowhere");
        ys_free(found);
        return 0;
    }
    static const struct tap_case cases[] = {
        TAP_CASE(the_cache_goes_where_it_is_told),   TAP_CASE(cache_paths_are_made),
        TAP_CASE(nothing_outside_the_tree_is_found), TAP_CASE(the_folder_of_the_program_is_known),
        TAP_CASE(places_are_searched_in_order),      TAP_CASE(programs_below_libexec_find_the_prefix),
    };
    return tap_main(cases, (int)(sizeof cases / sizeof cases[0]), argc, argv);
}
