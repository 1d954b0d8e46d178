/* The files of tests/fuzz/safetensors: "ok-*.bin" must be read, "bad-*.bin" must be refused, and nothing made from them
 * by cutting or changing bytes may do anything else. */
#include "../../fuzz/fuzz_safetensors.c"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"
#include <dirent.h>

#define MAX_SEED_BYTES 4096

static void for_each_seed(void (*visit)(const char *name, const struct ys_buf *bytes), const char *prefix, int at_least)
{
    const char *root = getenv("YS_SOURCE_ROOT");
    char *folder = ys_path_join(root ? root : ".", "tests/fuzz/safetensors");
    DIR *entries = folder ? opendir(folder) : NULL;
    int seen = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || entry->d_name[0] == '.')
            continue;
        char *path = ys_path_join(folder, entry->d_name);
        struct ys_buf bytes = {0};
        if (CHECK(ys_fs_read(path, MAX_SEED_BYTES, &bytes) == YS_OK))
            visit(entry->d_name, &bytes);
        seen++;
        ys_buf_free(&bytes);
        ys_free(path);
    }
    if (entries)
        closedir(entries);
    ys_free(folder);
    CHECK(seen >= at_least);
}

static ys_status read_buf(const struct ys_buf *bytes, size_t size)
{
    return read_bytes((const uint8_t *)ys_buf_text(bytes), size);
}

static void expect_read(const char *name, const struct ys_buf *bytes)
{
    tap_check(read_buf(bytes, bytes->size) == YS_OK, __LINE__, "%s: %s", name, ys_error());
}

static void good_files_are_read(void)
{
    for_each_seed(expect_read, "ok-", 5);
}

static void expect_refused(const char *name, const struct ys_buf *bytes)
{
    tap_check(read_buf(bytes, bytes->size) == YS_EFORMAT, __LINE__, "%s is not refused as it should", name);
}

static void hostile_files_are_refused(void)
{
    for_each_seed(expect_refused, "bad-", 25);
}

static void expect_cut_refused(const char *name, const struct ys_buf *bytes)
{
    for (size_t size = 0; size < bytes->size; size++)
        tap_check(read_buf(bytes, size) == YS_EFORMAT, __LINE__, "%s cut to %zu bytes is not refused", name, size);
}

static void good_files_that_were_cut_are_refused(void)
{
    for_each_seed(expect_cut_refused, "ok-", 5);
}

static void change_bytes(const char *name, const struct ys_buf *bytes)
{
    uint8_t changed[MAX_SEED_BYTES];
    struct ys_rng rng;
    ys_rng_init(&rng, 1, name);
    for (int round = 0; round < 150 && bytes->size > 0; round++) {
        memcpy(changed, bytes->data, bytes->size);
        for (uint32_t i = 0, changes = 1 + ys_rng_below(&rng, 4); i < changes; i++) {
            static const char tokens[] = "0123456789-.,:[]{}\" ";
            uint8_t *byte = &changed[ys_rng_below(&rng, (uint32_t)bytes->size)];
            *byte = i % 2 ? (uint8_t)ys_rng_u32(&rng) : (uint8_t)tokens[ys_rng_below(&rng, sizeof tokens - 1)];
        }
        ys_status status = read_bytes(changed, bytes->size);
        tap_check(status == YS_OK || status == YS_EFORMAT, __LINE__, "%s, round %d: %s", name, round, ys_error());
    }
}

static void changed_files_are_read_or_refused(void)
{
    for_each_seed(change_bytes, "", 30);
}

TAP_MAIN(TAP_CASE(good_files_are_read), TAP_CASE(hostile_files_are_refused),
         TAP_CASE(good_files_that_were_cut_are_refused), TAP_CASE(changed_files_are_read_or_refused))
