/* What killed processes left in the cache, in all of its rooms. */
#include "prepare/sweep_work.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "tap.h"

#include <stdlib.h>

static void count(void *context, const char *path, uint64_t size_bytes)
{
    (void)path;
    *(uint64_t *)context += size_bytes;
}

static bool is_there(const char *cache, const char *name)
{
    char *path = ys_path_join(cache, name);
    bool there = ys_fs_exists(path);
    ys_free(path);
    return there;
}

static void everything_that_was_left_goes_and_what_is_in_use_stays(void)
{
    static const char *const left[] = {"work/working-abcdef/content/order", "proofs/working-abcdef/x",
                                       "proofs/aa.json.abcdef.tmp", "checks/working-abcdef/x", "data/working-abcdef/x"};
    static const char *const kept[] = {"work/lock", "proofs/aa.json"};
    char cache[] = "/tmp/ys-sweep-XXXXXX";
    uint64_t size_bytes = 0;
    const struct ys_sweep look = {.dry = true, .on_leftover = count, .context = &size_bytes};
    struct ys_working working;
    REQUIRE(mkdtemp(cache) != NULL);
    setenv("YARDSTICK_CACHE", cache, 1);
    ys_cache_sweep(NULL); /* nothing is there yet, and nothing is made */
    CHECK(!is_there(cache, "work") && !is_there(cache, "data"));
    for (size_t i = 0; i < 7; i++) {
        char *path = ys_path_join(cache, i < 5 ? left[i] : kept[i - 5]), *folder = ys_path_dir(path);
        CHECK(ys_fs_make_dirs(folder) == YS_OK && ys_fs_write(path, "1234567890", 10) == YS_OK);
        ys_free(path);
        ys_free(folder);
    }
    char *proofs = ys_path_join(cache, "proofs");
    REQUIRE(ys_working_make(proofs, YS_WORKING_IN_CACHE, &working) == YS_OK);
    ys_cache_sweep(&look);
    CHECK(size_bytes >= 40); /* five of ten bytes; one that is locked to look at it may lose them */
    CHECK(is_there(cache, left[0]));
    ys_cache_sweep(NULL);
    for (size_t i = 0; i < 5; i++)
        tap_check(!is_there(cache, left[i]), __LINE__, "%s is still there", left[i]);
    CHECK(is_there(cache, kept[0]) && is_there(cache, kept[1]));
    CHECK(ys_fs_is_dir(working.path));
    ys_working_remove(&working);
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
    ys_free(proofs);
}

TAP_MAIN(TAP_CASE(everything_that_was_left_goes_and_what_is_in_use_stays))
