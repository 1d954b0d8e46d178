#include "probe/mapped_files.h"

#include "machine.h"

#include <sys/stat.h>
#include <unistd.h>

static void each_file_counts_once_by_what_it_is(void)
{
    static const char *const none[] = {NULL};
    const char *own[] = {NULL, NULL};
    struct ys_mapped_files files = {0}, without = {0};
    char path[512];
    struct stat program;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    REQUIRE(length > 0);
    path[length] = 0;
    REQUIRE(stat(path, &program) == 0);
    CHECK(ys_mapped_files_add(&files, "", getpid(), "/nowhere", none) == YS_OK);
    const int64_t once = files.other_bytes;
    CHECK(files.libc_bytes > 0 && once >= program.st_size);
    CHECK(ys_mapped_files_add(&files, "", getpid(), "/nowhere", none) == YS_OK);
    ys_mapped_files_add_path(&files, path);
    ys_mapped_files_add_path(&files, "/nowhere/at/all");
    CHECK_INT(files.other_bytes, once);
    own[0] = path;
    CHECK(ys_mapped_files_add(&without, "", getpid(), "/nowhere", own) == YS_OK);
    CHECK_INT(without.other_bytes, once - program.st_size);
    ys_mapped_files_fini(&files);
    ys_mapped_files_fini(&without);
}

TAP_MAIN(TAP_CASE(each_file_counts_once_by_what_it_is))
