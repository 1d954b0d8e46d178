#include "data/dataset.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/stored/sealed.h"
#include "data/prepared.h"
#include "data/sets/digits.h"
#include "mnist_files.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *path_before; /* PATH as the program got it */

/** A fresh cache of that name; its path, borrowed until the next one. */
static const char *use_cache(const char *name)
{
    static char path[PATH_MAX + 256];
    ys_log_set_level(YS_LOG_ERROR);
    snprintf(path, sizeof path, "%s", scratch(name));
    setenv("YARDSTICK_CACHE", path, 1);
    return path;
}

/** Entries of cache/`sub` that begin with `prefix`, temporary ones included. */
static int count_in(const char *cache, const char *sub, const char *prefix)
{
    char *folder = ys_path_join(cache, sub);
    DIR *entries = opendir(folder);
    int count = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (entries)
        closedir(entries);
    ys_free(folder);
    return count;
}

static int count_entries(const char *cache)
{
    return count_in(cache, "data", "");
}

static void digits_are_generated_once_then_found(void)
{
    const char *cache = use_cache("digits");
    struct ys_dataset first = {0}, second = {0};
    struct stat before, after;
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &first) == YS_OK);
    CHECK_TEXT(first.name, "digits");
    CHECK_TEXT(first.train_hash, YS_DIGITS_TRAIN_HASH);
    CHECK_TEXT(first.test_hash, YS_DIGITS_TEST_HASH);
    CHECK(first.train_count == 3840 && first.test_count == 1000 && first.rows.classes == 10 && first.verified);
    const struct ys_rows images = YS_ROWS_OF_IMAGES(1, 28, 28, 10);
    CHECK(ys_rows_equal(&first.rows, &images));
    CHECK_TEXT(first.rows.unit, "images");
    CHECK(first.scale == 1.0 / 255 && first.train_path[0] == '/');
    CHECK(stat(first.train_path, &before) == 0);
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &second) == YS_OK);
    CHECK(stat(second.train_path, &after) == 0 && before.st_ino == after.st_ino);
    CHECK_INT(count_entries(cache), 1);
    ys_dataset_fini(&first);
    ys_dataset_fini(&second);
}

static void the_prepared_file_holds_what_it_says(void)
{
    use_cache("contents");
    struct ys_dataset d = {0};
    struct ys_safetensors *file;
    const struct ys_tensor *x, *y;
    uint8_t digest[32];
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    REQUIRE(ys_safetensors_open(d.test_path, &file) == YS_OK);
    CHECK(ys_safetensors_need(file, "x", YS_U8, 4, (const int64_t[]){1000, 1, 28, 28}, &x) == YS_OK);
    CHECK(ys_safetensors_need(file, "y", YS_I64, 1, (const int64_t[]){1000}, &y) == YS_OK);
    ys_sha256_joined(x->data, x->size_bytes, y->data, y->size_bytes, digest);
    for (int i = 0; i < 32; i++) {
        char two[3];
        snprintf(two, sizeof two, "%02x", digest[i]);
        CHECK(strncmp(two, d.test_hash + 2 * i, 2) == 0);
    }
    CHECK_TEXT(ys_safetensors_meta(file, "classes"), "10");
    ys_safetensors_close(file);
    ys_dataset_fini(&d);
}

static void damaged_digits_are_made_again(void)
{
    use_cache("damaged");
    struct ys_dataset d = {0};
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    CHECK(ys_fs_write(d.train_path, "rubbish", 7) == YS_OK);
    ys_dataset_fini(&d);
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    CHECK_TEXT(d.train_hash, YS_DIGITS_TRAIN_HASH);
    CHECK(remove(d.test_path) == 0);
    ys_dataset_fini(&d);
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    CHECK(ys_fs_exists(d.test_path));
    ys_dataset_fini(&d);
}

static void processes_may_prepare_at_once(void)
{
    const char *cache = use_cache("race");
    enum { PROCESSES = 4 };
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct ys_dataset d = {0};
            struct ys_safetensors *file = NULL;
            bool good =
                ys_data_prepare("digits", NULL, NULL, &d) == YS_OK && ys_safetensors_open(d.train_path, &file) == YS_OK;
            ys_safetensors_close(file);
            ys_dataset_fini(&d);
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK_INT(count_entries(cache), 1);
}

static void unknown_sets_are_refused(void)
{
    use_cache("unknown");
    struct ys_dataset d = {0};
    CHECK(ys_data_prepare("imagenet", NULL, NULL, &d) == YS_EINVAL);
    CHECK_HAS(ys_error(), "no data set \"imagenet\"");
    CHECK(ys_data_fetch("../mnist", NULL, true) == YS_EINVAL);
    CHECK(ys_data_find("imagenet") == NULL && ys_data_find("mnist") != NULL);
    CHECK(!d.name);
}

static void a_set_that_is_not_here_says_how_to_get_it(void)
{
    use_cache("nothing");
    struct ys_dataset d = {0};
    CHECK(ys_data_prepare("mnist", NULL, NULL, &d) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "yardstick data fetch mnist");
}

static void an_unverified_import_is_marked(void)
{
    const char *cache = use_cache("import");
    struct ys_dataset d = {0};
    write_mnist("folder", true);
    CHECK(ys_data_fetch("mnist", scratch("folder"), false) == YS_EFORMAT);
    CHECK_INT(count_entries(cache), 0);
    REQUIRE(ys_data_fetch("mnist", scratch("folder"), true) == YS_OK);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK(!d.verified && d.train_count == FAKE_TRAIN && d.test_count == FAKE_TEST);
    CHECK_INT(strlen(d.train_hash), 64);
    CHECK_TEXT(d.source, "local files; the publisher gives no sums, others do");
    CHECK_INT(count_entries(cache), 1);
    ys_dataset_fini(&d);
}

/** The entry of `name`, borrowed from `list`. */
static const struct ys_data_entry *entry_of(const struct ys_list *list, const char *name)
{
    static const struct ys_data_entry none = {.state = YS_NAME_NONE};
    const struct ys_data_entry *entries = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    CHECK(!"the list has an entry of that name");
    return &none;
}

/** Imports fake files of which `test_rows` are to test: each number is another version. */
static void import_rows(uint32_t test_rows)
{
    write_mnist("rows-in", false);
    write_idx("rows-in", "t10k-images-idx3-ubyte", test_rows, 28, false);
    write_idx("rows-in", "t10k-labels-idx1-ubyte", test_rows, 0, false);
    CHECK_INT(ys_data_fetch("mnist", scratch("rows-in"), true), YS_OK);
}

/** Versions of data/mnist: what has the length of a sum. */
static int count_versions(const char *cache)
{
    char *folder = ys_format("%s/data/mnist", cache);
    DIR *entries = opendir(folder);
    int count = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        count += strlen(entry->d_name) == 64;
    if (entries)
        closedir(entries);
    ys_free(folder);
    return count;
}

static void importing_again_makes_another_version(void)
{
    const char *cache = use_cache("again");
    struct ys_dataset first = {0}, second = {0};
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &first) == YS_OK);
    import_rows(7);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &second) == YS_OK);
    CHECK_INT(second.test_count, 7);
    CHECK_TEXT(second.train_hash, first.train_hash);
    CHECK(strcmp(second.test_hash, first.test_hash) != 0);
    CHECK(ys_data_check(&first) == YS_OK && ys_data_check(&second) == YS_OK);
    import_rows(5);
    CHECK_INT(count_versions(cache), 2); /* what was there before is current again */
    CHECK_INT(count_entries(cache), 1);
    ys_dataset_fini(&first);
    ys_dataset_fini(&second);
}

static void versions_stay_while_they_are_held_and_one_longer(void)
{
    const char *cache = use_cache("held");
    struct ys_dataset held = {0};
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &held) == YS_OK);
    for (uint32_t rows = 6; rows < 9; rows++)
        import_rows(rows);
    CHECK_INT(count_versions(cache), 3); /* held, the one before, current */
    CHECK(ys_fs_exists(held.train_path) && ys_data_check(&held) == YS_OK);
    ys_data_sweep(NULL);
    CHECK_INT(count_versions(cache), 2);
    ys_dataset_fini(&held);
    ys_data_sweep(NULL);
    CHECK_INT(count_versions(cache), 1);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &held) == YS_OK);
    CHECK_INT(held.test_count, 8);
    ys_dataset_fini(&held);
}

static void a_version_is_found_by_its_rows(void)
{
    use_cache("wanted");
    struct ys_dataset first = {0}, again = {0};
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &first) == YS_OK);
    const struct ys_data_wanted wanted = {.train_hash = first.train_hash, .test_hash = first.test_hash};
    import_rows(7);
    REQUIRE(ys_data_prepare("mnist", NULL, &wanted, &again) == YS_OK);
    CHECK_TEXT(again.folder, first.folder);
    ys_dataset_fini(&again);
    CHECK(ys_fs_remove_tree(first.folder) == YS_OK);
    CHECK_INT(ys_data_prepare("mnist", NULL, &wanted, &again), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), first.train_hash);
    CHECK_HAS(ys_error(), "yardstick data fetch mnist --from DIR");
    ys_dataset_fini(&first);
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &first) == YS_OK);
    const struct ys_data_wanted other = {.train_hash = YS_DIGITS_TEST_HASH, .test_hash = YS_DIGITS_TRAIN_HASH};
    CHECK_INT(ys_data_prepare("digits", NULL, &other, &again), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "run it anew");
    ys_dataset_fini(&first);
}

/** Puts the files of the current version where earlier versions of yardstick had them, and removes it. */
static void make_old(const char *name, const char *cache)
{
    struct ys_dataset d = {0};
    REQUIRE(ys_data_prepare(name, NULL, NULL, &d) == YS_OK);
    char *old = ys_format("%s/data/%s", cache, name), *train = ys_path_join(old, "train.safetensors");
    char *test = ys_path_join(old, "test.safetensors"), *current = ys_path_join(old, "current");
    CHECK(rename(d.train_path, train) == 0 && rename(d.test_path, test) == 0 && remove(current) == 0);
    CHECK(ys_fs_remove_tree(d.folder) == YS_OK);
    ys_dataset_fini(&d);
    ys_free(old);
    ys_free(train);
    ys_free(test);
    ys_free(current);
}

static void files_of_an_earlier_yardstick_become_a_version(void)
{
    const char *cache = use_cache("earlier");
    struct ys_dataset d = {0};
    struct ys_list list;
    import_rows(5);
    make_old("mnist", cache);
    CHECK_INT(count_versions(cache), 0);
    REQUIRE(ys_data_list(&list) == YS_OK);
    CHECK_INT(entry_of(&list, "mnist")->state, YS_DATA_READY);
    ys_list_fini(&ys_data_entry_record, &list);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK(!d.verified && d.test_count == 5);
    CHECK_TEXT(d.source, "local files; the publisher gives no sums, others do");
    CHECK_INT(ys_data_check(&d), YS_OK);
    CHECK_INT(count_versions(cache), 1);
    CHECK_INT(count_in(cache, "data/mnist", "t"), 0); /* the old files */
    ys_dataset_fini(&d);
}

/** Other pixels in the first rows. */
static void damage(const char *path)
{
    static const char bytes[64] = {1, 2, 3};
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(pwrite(fd, bytes, sizeof bytes, 4000) == sizeof bytes);
    close(fd);
}

static void damaged_files_of_an_earlier_yardstick_are_not_taken(void)
{
    const char *cache = use_cache("earlier-bad");
    struct ys_dataset d = {0};
    import_rows(5);
    make_old("mnist", cache);
    char *train = ys_format("%s/data/mnist/train.safetensors", cache);
    damage(train);
    CHECK_INT(ys_data_prepare("mnist", NULL, NULL, &d), YS_EFORMAT);
    CHECK_HAS(ys_error(), "SHA-256 of its rows differs");
    CHECK_HAS(ys_error(), "yardstick data fetch mnist");
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK(!ys_fs_exists(train));
    ys_dataset_fini(&d);
    ys_free(train);
}

static void changed_pixels_are_found(void)
{
    use_cache("pixels");
    struct ys_dataset d = {0};
    char whole[YS_SHA256_TEXT], again[YS_SHA256_TEXT];
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    CHECK_INT(ys_data_check(&d), YS_OK);
    CHECK(ys_sha256_file(d.test_path, whole) == YS_OK);
    damage(d.test_path);
    CHECK_INT(ys_data_check(&d), YS_OK); /* made again, in the same place */
    CHECK(ys_sha256_file(d.test_path, again) == YS_OK);
    CHECK_TEXT(again, whole);
    ys_sealed_use(d.folder);
    damage(d.test_path);
    CHECK_INT(ys_data_check(&d), YS_EIO);
    CHECK_HAS(ys_error(), "test.safetensors");
    CHECK_HAS(ys_error(), "yardstick resume");
    ys_dataset_fini(&d);
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    damage(d.train_path);
    CHECK_INT(ys_data_check(&d), YS_EFORMAT);
    CHECK_HAS(ys_error(), "the data set mnist is damaged");
    CHECK_HAS(ys_error(), "yardstick data fetch mnist");
    import_rows(5); /* the same files: what was damaged is replaced */
    CHECK_INT(ys_data_check(&d), YS_OK);
    ys_dataset_fini(&d);
}

static void another_manifest_does_not_make_other_pixels_right(void)
{
    use_cache("forged");
    struct ys_dataset d = {0};
    char hash[YS_SHA256_TEXT];
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    damage(d.test_path);
    REQUIRE(ys_sealed_seal(d.folder, hash) == YS_OK);
    ys_dataset_fini(&d);
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK); /* made again */
    CHECK(ys_sha256_file(d.test_path, hash) == YS_OK);
    damage(d.test_path);
    CHECK_INT(ys_data_check(&d), YS_OK);
    char again[YS_SHA256_TEXT];
    CHECK(ys_sha256_file(d.test_path, again) == YS_OK);
    CHECK_TEXT(again, hash);
    ys_dataset_fini(&d);
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    damage(d.test_path);
    REQUIRE(ys_sealed_seal(d.folder, hash) == YS_OK);
    ys_dataset_fini(&d);
    CHECK_INT(ys_data_prepare("mnist", NULL, NULL, &d), YS_EFORMAT);
    CHECK_HAS(ys_error(), "yardstick data fetch mnist");
    import_rows(5);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK_INT(ys_data_check(&d), YS_OK);
    ys_dataset_fini(&d);
}

static void what_killed_processes_left_is_swept(void)
{
    const char *cache = use_cache("swept");
    struct ys_dataset d = {0};
    char *left = ys_format("%s/data/working-abcdef", cache),
         *half = ys_format("%s/data/digits/current.aB3dE6.tmp", cache);
    char *old = ys_format("%s/data/.mnist.17.99", cache), *young = ys_format("%s/data/.mnist.18.99", cache);
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    CHECK(ys_fs_make_dirs(left) == YS_OK && ys_fs_write(half, "x", 1) == YS_OK);
    CHECK(ys_fs_make_dirs(old) == YS_OK && utimensat(AT_FDCWD, old, long_ago, 0) == 0);
    CHECK(ys_fs_make_dirs(young) == YS_OK); /* a yardstick of an earlier version may be at it */
    ys_dataset_fini(&d);
    REQUIRE(ys_data_prepare("digits", NULL, NULL, &d) == YS_OK);
    CHECK(!ys_fs_exists(left) && !ys_fs_exists(half) && !ys_fs_exists(old) && ys_fs_exists(young));
    ys_dataset_fini(&d);
    ys_free(left);
    ys_free(half);
    ys_free(old);
    ys_free(young);
}

static void damaged_prepared_files_say_what_to_do(void)
{
    use_cache("broken");
    struct ys_dataset d = {0};
    write_mnist("broken-in", false);
    REQUIRE(ys_data_fetch("mnist", scratch("broken-in"), true) == YS_OK);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK(truncate(d.train_path, 2000) == 0);
    ys_dataset_fini(&d);
    CHECK(ys_data_prepare("mnist", NULL, NULL, &d) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "yardstick data fetch mnist");
}

static void the_published_set_is_imported_verified(void)
{
    char *folder = find_real_mnist();
    if (!folder) {
        tap_skip("the published MNIST files are not here: YS_DATA_DIR names the folder that has them");
        return;
    }
    use_cache("real");
    struct ys_dataset d = {0};
    ys_status status = ys_data_fetch("mnist", folder, false);
    ys_free(folder);
    REQUIRE(status == YS_OK);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK(d.verified && d.train_count == 60000 && d.test_count == 10000);
    ys_dataset_fini(&d);
}

/** Puts a program named curl first on PATH: it runs `body` with the file to write in $out and the address in $url. */
static void fake_curl(const char *folder, const char *body)
{
    path_before = path_before ? path_before : ys_strdup(getenv("PATH"));
    char *text =
        ys_format("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=$2; shift; done\nurl=$1\n%s\n", body);
    CHECK(ys_fs_make_dirs(scratch(folder)) == YS_OK);
    char *program = ys_path_join(scratch(folder), "curl"), *path = ys_format("%s:%s", scratch(folder), path_before);
    CHECK(ys_fs_write(program, text, strlen(text)) == YS_OK && chmod(program, 0755) == 0);
    setenv("PATH", path, 1);
    ys_free(text);
    ys_free(program);
    ys_free(path);
}

static void a_download_goes_on_at_the_next_mirror(void)
{
    const char *cache = use_cache("download");
    struct ys_dataset d = {0};
    write_mnist("served", true);
    char *body = ys_format("case $url in *ossci*) exit 22;; esac\ncp \"%s/${url##*/}\" \"$out\"", scratch("served"));
    fake_curl("bin1", body);
    ys_free(body);
    CHECK(ys_data_fetch("mnist", NULL, true) == YS_OK);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    CHECK_HAS(d.source, "https://storage.googleapis.com/");
    CHECK(!d.verified);
    CHECK_INT(count_entries(cache), 1);
    ys_dataset_fini(&d);
    setenv("PATH", path_before, 1);
}

static void a_failing_download_says_why_and_leaves_nothing(void)
{
    const char *cache = use_cache("offline");
    fake_curl("bin2", "exit 6");
    CHECK(ys_data_fetch("mnist", NULL, false) == YS_EIO);
    CHECK_HAS(ys_error(), "curl ended with exit code 6");
    CHECK_HAS(ys_error(), "yardstick data fetch mnist --from DIR");
    CHECK_INT(count_entries(cache), 0);
    fake_curl("bin3", "echo '<html>' > \"$out\"");
    CHECK(ys_data_fetch("mnist", NULL, true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "not an IDX file");
    CHECK_INT(count_entries(cache), 0);
    setenv("PATH", scratch("no-programs-here"), 1);
    CHECK(ys_data_fetch("mnist", NULL, false) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "curl, which is not installed");
    setenv("PATH", path_before, 1);
}

static void what_cannot_be_fetched_is_refused(void)
{
    use_cache("refused");
    CHECK(ys_data_fetch("mnist", scratch("no such folder"), false) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "no such folder");
    CHECK(ys_data_fetch("mnist", scratch_text("a-file", "x"), false) == YS_EINVAL);
    CHECK_HAS(ys_error(), "a-file is not a folder");
    CHECK(ys_data_fetch("digits", scratch("."), false) == YS_EINVAL);
    CHECK(ys_data_fetch("text", NULL, false) == YS_EINVAL);
    CHECK_HAS(ys_error(), "yardstick data fetch text --from FILE");
    CHECK(ys_data_fetch("digits", NULL, false) == YS_OK);
}

static void the_list_says_what_is_here(void)
{
    use_cache("list");
    struct ys_list list;
    REQUIRE(ys_data_list(&list) == YS_OK);
    CHECK_INT(list.count, 16);
    CHECK_INT(entry_of(&list, "digits")->state, YS_DATA_GENERATED);
    static const char *const fetched[] = {"mnist", "fashion-mnist", "cifar10", "cifar100"};
    for (size_t i = 0; i < sizeof fetched / sizeof fetched[0]; i++) {
        char command[64];
        snprintf(command, sizeof command, "yardstick data fetch %s", fetched[i]);
        CHECK_INT(entry_of(&list, fetched[i])->state, YS_DATA_MISSING);
        CHECK_TEXT(entry_of(&list, fetched[i])->command, command);
    }
    CHECK_TEXT(entry_of(&list, "text")->command, "yardstick data fetch text --from FILE");
    CHECK_INT(entry_of(&list, "text")->train, YS_FIELD_NONE);
    const struct ys_data_entry *cifar = entry_of(&list, "cifar10");
    CHECK_INT(cifar->train, 50000);
    REQUIRE(cifar->shape.count == 3);
    CHECK_INT(((const int64_t *)cifar->shape.items)[0], 3);
    ys_list_fini(&ys_data_entry_record, &list);
    write_mnist("list-in", false);
    REQUIRE(ys_data_fetch("mnist", scratch("list-in"), true) == YS_OK);
    REQUIRE(ys_data_list(&list) == YS_OK);
    const struct ys_data_entry *mnist = entry_of(&list, "mnist");
    CHECK_INT(mnist->state, YS_DATA_READY);
    CHECK_INT(mnist->verified, 0);
    CHECK_INT(mnist->train, FAKE_TRAIN);
    ys_list_fini(&ys_data_entry_record, &list);
}

static void the_list_has_no_form_where_the_model_gives_it(void)
{
    use_cache("list-form");
    struct ys_list list;
    REQUIRE(ys_data_list(&list) == YS_OK);
    const struct ys_data_entry *entry = entry_of(&list, "synthetic");
    CHECK_INT(entry->state, YS_DATA_GENERATED);
    CHECK(!entry->command);
    ys_json *json = ys_record_json(&ys_data_entry_record, entry);
    static const char *const unknown[] = {"shape", "classes", "train", "test"};
    for (size_t i = 0; i < 4; i++)
        CHECK(ys_json_get(json, unknown[i]) && ys_json_type_of(ys_json_get(json, unknown[i])) == YS_JSON_NULL);
    ys_json_free(json);
    ys_list_fini(&ys_data_entry_record, &list);
}

static void synthetic_has_the_form_asked_for(void)
{
    const char *cache = use_cache("synthetic");
    const struct ys_rows small = YS_ROWS_OF_IMAGES(3, 8, 4, 7), other = YS_ROWS_OF_IMAGES(3, 4, 8, 7);
    struct ys_dataset first = {0}, second = {0}, again = {0};
    struct stat before, after;
    REQUIRE(ys_data_prepare("synthetic", &small, NULL, &first) == YS_OK);
    CHECK_TEXT(first.name, "synthetic");
    CHECK(first.train_count == 4096 && first.test_count == 256 && first.rows.classes == 7 && first.verified);
    CHECK(ys_rows_equal(&first.rows, &small) && first.scale == 1.0 / 255);
    CHECK_TEXT(first.source, "generated by yardstick");
    REQUIRE(ys_data_prepare("synthetic", &other, NULL, &second) == YS_OK);
    CHECK(ys_rows_equal(&second.rows, &other));
    CHECK(strcmp(first.train_path, second.train_path) != 0);
    CHECK(stat(first.train_path, &before) == 0);
    REQUIRE(ys_data_prepare("synthetic", &small, NULL, &again) == YS_OK);
    CHECK(stat(again.train_path, &after) == 0 && before.st_ino == after.st_ino);
    CHECK_TEXT(again.train_hash, first.train_hash);
    CHECK_INT(count_entries(cache), 2);
    ys_dataset_fini(&first);
    ys_dataset_fini(&second);
    ys_dataset_fini(&again);
}

static void a_form_that_cannot_be_is_refused(void)
{
    const char *cache = use_cache("forms");
    static const struct ys_rows bad[] = {
        YS_ROWS_OF_IMAGES(0, 8, 8, 10),         YS_ROWS_OF_IMAGES(3, -8, 8, 10),
        YS_ROWS_OF_IMAGES(3, 8, 8, 0),          YS_ROWS_OF_IMAGES(3, 8, 8, 1LL << 31),
        YS_ROWS_OF_IMAGES(3, 4096, 4096, 10),   YS_ROWS_OF_IMAGES(1LL << 40, 1LL << 40, 1, 10),
        YS_ROWS_OF_IMAGES(1, 1, INT64_MAX, 10), YS_ROWS_OF_IMAGES(2, 1LL << 62, 4, 1000),
        {.input_count = 0, .classes = 10},
    };
    struct ys_dataset d = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tap_check(ys_data_prepare("synthetic", &bad[i], NULL, &d) == YS_EINVAL, __LINE__, "form %zu is taken", i);
        CHECK_HAS(ys_error(), "the data set synthetic cannot have rows of ");
    }
    CHECK(ys_data_prepare("synthetic", NULL, NULL, &d) == YS_EINVAL);
    CHECK(ys_data_fetch("synthetic", NULL, false) == YS_EINVAL);
    CHECK_HAS(ys_error(), "made when a study uses it");
    CHECK(!d.name);
    CHECK_INT(count_entries(cache), 0);
}

static void a_wrong_label_in_a_prepared_file_is_named(void)
{
    use_cache("labels");
    struct ys_dataset d = {0};
    write_mnist("labels-in", false);
    REQUIRE(ys_data_fetch("mnist", scratch("labels-in"), true) == YS_OK);
    REQUIRE(ys_data_prepare("mnist", NULL, NULL, &d) == YS_OK);
    struct ys_buf bytes = {0};
    REQUIRE(ys_fs_read(d.test_path, 1 << 20, &bytes) == YS_OK);
    /* y, of 8-byte elements, lies before x */
    size_t y_at = bytes.size - (size_t)FAKE_TEST * (784 + sizeof(int64_t));
    const int64_t wrong = -3;
    memcpy(bytes.data + y_at + 4 * sizeof wrong, &wrong, sizeof wrong);
    CHECK(ys_fs_write(d.test_path, bytes.data, bytes.size) == YS_OK);
    ys_dataset_fini(&d);
    CHECK(ys_data_prepare("mnist", NULL, NULL, &d) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "test.safetensors: label -3 of row 4 is not one of 10 classes");
    CHECK_HAS(ys_error(), "yardstick data fetch mnist");
    ys_buf_free(&bytes);
}

/** The set as it is published has 184 MB; a file with holes is as long and takes no room. */
static void cifar10_is_imported_from_whole_batches_only(void)
{
    static const char *const names[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                        "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
    use_cache("cifar");
    CHECK(ys_fs_make_dirs(scratch("cifar-in")) == YS_OK);
    for (size_t i = 0; i < 6; i++) {
        char *path = ys_path_join(scratch("cifar-in"), names[i]);
        CHECK(ys_fs_write(path, "", 0) == YS_OK && truncate(path, i == 5 ? 9999L * 3073 : 10000L * 3073) == 0);
        ys_free(path);
    }
    CHECK(ys_data_fetch("cifar10", scratch("cifar-in"), true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "test_batch.bin: 30726927 bytes, not 30730000 (10000 records of 3073)");
    struct ys_dataset d = {0};
    CHECK(ys_data_prepare("cifar10", NULL, NULL, &d) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "`yardstick data fetch cifar10` (--from FILE");
}

TAP_MAIN(TAP_CASE(digits_are_generated_once_then_found), TAP_CASE(the_prepared_file_holds_what_it_says),
         TAP_CASE(damaged_digits_are_made_again), TAP_CASE(processes_may_prepare_at_once),
         TAP_CASE(unknown_sets_are_refused), TAP_CASE(a_set_that_is_not_here_says_how_to_get_it),
         TAP_CASE(an_unverified_import_is_marked), TAP_CASE(importing_again_makes_another_version),
         TAP_CASE(versions_stay_while_they_are_held_and_one_longer), TAP_CASE(a_version_is_found_by_its_rows),
         TAP_CASE(files_of_an_earlier_yardstick_become_a_version),
         TAP_CASE(damaged_files_of_an_earlier_yardstick_are_not_taken), TAP_CASE(changed_pixels_are_found),
         TAP_CASE(another_manifest_does_not_make_other_pixels_right), TAP_CASE(what_killed_processes_left_is_swept),
         TAP_CASE(damaged_prepared_files_say_what_to_do), TAP_CASE(the_published_set_is_imported_verified),
         TAP_CASE(a_download_goes_on_at_the_next_mirror), TAP_CASE(a_failing_download_says_why_and_leaves_nothing),
         TAP_CASE(what_cannot_be_fetched_is_refused), TAP_CASE(the_list_says_what_is_here),
         TAP_CASE(the_list_has_no_form_where_the_model_gives_it), TAP_CASE(synthetic_has_the_form_asked_for),
         TAP_CASE(a_form_that_cannot_be_is_refused), TAP_CASE(a_wrong_label_in_a_prepared_file_is_named),
         TAP_CASE(cifar10_is_imported_from_whole_batches_only))
