/* Folders with a manifest: what is changed in them is found, whoever changed it and however. */
#include "base/stored/sealed.h"
#include "scratch.h"
#include "tap.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BYTES = 5000 };

static void write_bytes(const char *folder, const char *name, int value)
{
    char bytes[BYTES], *path = ys_path_join(folder, name);
    memset(bytes, value, sizeof bytes);
    CHECK(ys_fs_make_dirs(folder) == YS_OK);
    CHECK(ys_fs_write(path, bytes, sizeof bytes) == YS_OK);
    ys_free(path);
}

/* A sealed folder of that name whose files hold `value`; its path, borrowed until the next one. */
static const char *make(const char *name, int value, char hash[YS_SHA256_TEXT])
{
    static char folder[PATH_MAX + 256];
    char made[PATH_MAX + 256];
    snprintf(folder, sizeof folder, "%s", scratch(name));
    snprintf(made, sizeof made, "%s", scratch("made"));
    CHECK(ys_fs_remove_tree(made) == YS_OK);
    write_bytes(made, "order.safetensors", value);
    write_bytes(made, "graph.json", value + 1);
    CHECK(ys_sealed_seal(made, hash) == YS_OK);
    CHECK_INT(ys_sealed_put(made, folder), YS_OK);
    return folder;
}

static char *file_in(const char *folder, const char *name)
{
    return ys_path_join(folder, name);
}

/* Calls `change` in a process of its own, as somebody else. */
static void elsewhere(void (*change)(const char *folder), const char *folder)
{
    int code = 1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        change(folder);
        _exit(tap_failures ? 1 : 0);
    }
    CHECK(pid > 0 && waitpid(pid, &code, 0) == pid && code == 0);
}

/* A byte of the order is another one, and the file's size and times are as they were. */
static void flip(const char *folder)
{
    char *path = file_in(folder, "order.safetensors");
    struct stat before;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fstat(fd, &before) == 0);
    CHECK(pwrite(fd, "\xff", 1, 100) == 1);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    CHECK(futimens(fd, times) == 0);
    close(fd);
    ys_free(path);
}

/* Everything is new, and a new manifest says that it is right. */
static void seal_anew(const char *folder)
{
    char hash[YS_SHA256_TEXT];
    write_bytes(folder, "order.safetensors", 77);
    CHECK(ys_sealed_seal(folder, hash) == YS_OK);
}

static void a_flipped_byte_is_found_though_size_and_times_are_the_same(void)
{
    char hash[YS_SHA256_TEXT];
    const char *folder = make("flipped", 1, hash);
    CHECK_INT(ys_sealed_check(folder), YS_OK);
    elsewhere(flip, folder);
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT);
    CHECK_HAS(ys_error(), "the prepared order.safetensors in ");
    CHECK_HAS(ys_error(), folder);
    CHECK_HAS(ys_error(), "was damaged (SHA-256 differs)");
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT); /* and so it stays */
}

/* Renamed, the folder is one that this process knows nothing of. */
static void what_nobody_has_checked_goes_by_its_manifest(void)
{
    char hash[YS_SHA256_TEXT], moved[PATH_MAX + 256];
    const char *folder = make("first", 1, hash);
    snprintf(moved, sizeof moved, "%s", scratch("moved"));
    REQUIRE(rename(folder, moved) == 0);
    CHECK_INT(ys_sealed_check(moved), YS_OK);
    folder = make("first", 2, hash);
    snprintf(moved, sizeof moved, "%s", scratch("moved-too"));
    flip(folder);
    REQUIRE(rename(folder, moved) == 0);
    CHECK_INT(ys_sealed_check(moved), YS_EFORMAT);
    CHECK_HAS(ys_error(), "SHA-256 differs");
}

static void what_is_missing_short_or_in_the_way_is_named(void)
{
    char hash[YS_SHA256_TEXT];
    const char *folder = make("parts", 1, hash);
    char *order = file_in(folder, "order.safetensors"), *manifest = file_in(folder, YS_SEALED_MANIFEST);
    CHECK(truncate(order, 10) == 0);
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT);
    CHECK_HAS(ys_error(), "order.safetensors");
    CHECK_HAS(ys_error(), "its size differs");
    CHECK(remove(order) == 0);
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT);
    CHECK_HAS(ys_error(), "it is missing");
    CHECK(mkdir(order, 0777) == 0);
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT);
    CHECK_HAS(ys_error(), "it is no file");
    CHECK(remove(order) == 0);
    write_bytes(folder, "order.safetensors", 1);
    CHECK_INT(ys_sealed_check(folder), YS_OK); /* the same bytes in another file */
    CHECK(remove(manifest) == 0);
    CHECK_INT(ys_sealed_check(folder), YS_OK); /* this process knows */
    ys_free(order);
    ys_free(manifest);
}

static void without_a_manifest_nothing_is_believed(void)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{\"format\":\"yardstick-manifest\",\"version\":1,\"files\":[]}",
        "{\"format\":\"yardstick-manifest\",\"version\":2,\"files\":[{\"name\":\"a\",\"size\":1,\"sha256\":\"0\"}]}",
        "{\"format\":\"yardstick-manifest\",\"version\":1,\"files\":[{\"name\":\"../a\",\"size\":1,\"sha256\":"
        "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}]}",
        "{\"format\":\"yardstick-manifest\",\"version\":1,\"files\":[{\"name\":\"a\",\"size\":-1,\"sha256\":"
        "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}]}",
    };
    const char *folder = scratch("bare");
    write_bytes(folder, "a", 0);
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT);
    CHECK_HAS(ys_error(), "manifest.json");
    char *manifest = file_in(folder, YS_SEALED_MANIFEST);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(ys_fs_write(manifest, bad[i], strlen(bad[i])) == YS_OK);
        tap_check(ys_sealed_check(folder) == YS_EFORMAT, __LINE__, "manifest %zu is believed", i);
    }
    ys_free(manifest);
    CHECK_INT(ys_sealed_check(scratch("nowhere")), YS_EFORMAT);
}

static void a_manifest_that_is_written_later_does_not_count(void)
{
    char hash[YS_SHA256_TEXT];
    const char *folder = make("anew", 1, hash);
    elsewhere(seal_anew, folder);
    CHECK_INT(ys_sealed_check(folder), YS_EFORMAT);
    CHECK_HAS(ys_error(), "order.safetensors");
    CHECK_HAS(ys_error(), "SHA-256 differs");
}

static void equal_files_have_equal_manifests(void)
{
    char first[YS_SHA256_TEXT], second[YS_SHA256_TEXT], other[YS_SHA256_TEXT];
    make("equal-a", 5, first);
    make("equal-b", 5, second);
    make("equal-c", 6, other);
    CHECK_TEXT(first, second);
    CHECK(strcmp(first, other) != 0);
}

static void what_is_whole_stays_and_what_is_damaged_is_replaced(void)
{
    char hash[YS_SHA256_TEXT];
    struct stat before, after;
    const char *folder = make("place", 1, hash);
    char *order = file_in(folder, "order.safetensors");
    CHECK(stat(order, &before) == 0);
    make("place", 1, hash);
    CHECK(stat(order, &after) == 0 && after.st_ino == before.st_ino);
    CHECK(ys_fs_exists(scratch("made"))); /* for who made it to remove */
    flip(folder);
    make("place", 1, hash);
    CHECK(stat(order, &after) == 0 && after.st_ino != before.st_ino);
    CHECK_INT(ys_sealed_check(folder), YS_OK);
    CHECK(ys_fs_remove_tree(folder) == YS_OK && ys_fs_write(folder, "x", 1) == YS_OK); /* a file is in the way */
    make("place", 1, hash);
    CHECK_INT(ys_sealed_check(folder), YS_OK);
    ys_free(order);
}

static void what_was_used_is_known(void)
{
    char hash[YS_SHA256_TEXT];
    const char *folder = make("used", 1, hash);
    CHECK(!ys_sealed_is_used(folder));
    ys_sealed_use(scratch("never-heard-of"));
    ys_sealed_use(folder);
    CHECK(ys_sealed_is_used(folder) && !ys_sealed_is_used(scratch("never-heard-of")));
    CHECK_INT(ys_sealed_check(folder), YS_OK);
    CHECK(ys_sealed_is_used(folder));
}

TAP_MAIN(TAP_CASE(a_flipped_byte_is_found_though_size_and_times_are_the_same),
         TAP_CASE(what_nobody_has_checked_goes_by_its_manifest), TAP_CASE(what_is_missing_short_or_in_the_way_is_named),
         TAP_CASE(without_a_manifest_nothing_is_believed), TAP_CASE(a_manifest_that_is_written_later_does_not_count),
         TAP_CASE(equal_files_have_equal_manifests), TAP_CASE(what_is_whole_stays_and_what_is_damaged_is_replaced),
         TAP_CASE(what_was_used_is_known))
