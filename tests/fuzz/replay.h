/* Replays a corpus through LLVMFuzzerTestOneInput(), which the including file has: each file whole, cut off everywhere,
 * and with bytes changed at random from a fixed seed. */
#ifndef YS_TESTS_FUZZ_REPLAY_H
#define YS_TESTS_FUZZ_REPLAY_H

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"
#include <dirent.h>
#include <stdlib.h>

/** Calls `use` with each file of tests/fuzz/`corpus`; at least `least` must be there. */
static void replay_each(const char *corpus, int least, void (*use)(const char *name, const struct ys_buf *input))
{
    const char *root = getenv("YS_SOURCE_ROOT");
    if (!root) {
        tap_skip("YS_SOURCE_ROOT is not set");
        return;
    }
    char *folder = ys_format("%s/tests/fuzz/%s", root, corpus);
    DIR *entries = opendir(folder);
    int count = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = ys_path_join(folder, entry->d_name);
        struct ys_buf input = {0};
        if (CHECK(ys_fs_read(path, (size_t)1 << 20, &input) == YS_OK))
            use(entry->d_name, &input);
        ys_buf_free(&input);
        ys_free(path);
        count++;
    }
    if (entries)
        closedir(entries);
    ys_free(folder);
    CHECK(count >= least);
}

static void replay_whole(const char *name, const struct ys_buf *input)
{
    (void)name;
    CHECK_INT(LLVMFuzzerTestOneInput((const uint8_t *)ys_buf_text(input), input->size), 0);
}

/** A copy of exactly `size` bytes, so that reading beyond them is seen by a sanitizer. */
static void replay_copy(const char *bytes, size_t size)
{
    uint8_t *copy = ys_alloc(size, 1);
    memcpy(copy, bytes, size);
    CHECK_INT(LLVMFuzzerTestOneInput(copy, size), 0);
    ys_free(copy);
}

__attribute__((unused)) static void replay_cut(const char *name, const struct ys_buf *input)
{
    (void)name;
    for (size_t size = 0; size < input->size; size++)
        replay_copy(input->data, size);
}

__attribute__((unused)) static void replay_changed(const char *name, const struct ys_buf *input)
{
    static const char interesting[] = "{}[]\",:.-0123456789eN \x01\x08\x1f\x8b\xff";
    struct ys_rng rng;
    ys_rng_init(&rng, 1, name);
    for (int round = 0; round < 200 && input->size > 0; round++) {
        char *copy = ys_alloc(input->size, 1);
        memcpy(copy, input->data, input->size);
        for (uint32_t i = 0, changes = 1 + ys_rng_below(&rng, 4); i < changes; i++)
            copy[ys_rng_below(&rng, (uint32_t)input->size)] =
                i % 2 ? (char)ys_rng_u32(&rng) : interesting[ys_rng_below(&rng, sizeof interesting - 1)];
        CHECK_INT(LLVMFuzzerTestOneInput((const uint8_t *)copy, input->size), 0);
        ys_free(copy);
    }
}

#endif
