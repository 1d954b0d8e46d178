/* Replays the corpus of the fuzz target, whole, cut off everywhere, and with bytes changed at random from a fixed seed.
 */
#include "../../fuzz/job.c"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/rng.h"
#include "tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls `use` with each file of the corpus; the number of files. */
static int each_input(void (*use)(const struct ys_buf *input))
{
    const char *root = getenv("YS_SOURCE_ROOT");
    char folder[4096], path[8192];
    int count = 0;
    if (!root) {
        tap_skip("YS_SOURCE_ROOT is not set");
        return -1;
    }
    snprintf(folder, sizeof folder, "%s/tests/fuzz/job", root);
    DIR *entries = opendir(folder);
    if (!CHECK(entries != NULL))
        return 0;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        struct ys_buf input = {0};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (CHECK(ys_fs_read(path, (size_t)1 << 20, &input) == YS_OK))
            use(&input);
        ys_buf_free(&input);
        count++;
    }
    closedir(entries);
    return count;
}

static void run_whole(const struct ys_buf *input)
{
    CHECK_INT(LLVMFuzzerTestOneInput((const uint8_t *)ys_buf_text(input), input->size), 0);
}

static void run_cut_off(const struct ys_buf *input)
{
    for (size_t size = 0; size < input->size; size++)
        LLVMFuzzerTestOneInput((const uint8_t *)input->data, size);
}

static void run_changed(const struct ys_buf *input)
{
    static const char interesting[] = "{}[]\",;#=.:*+-()\\ \t\n\r019aexz";
    struct ys_rng rng;
    uint8_t bytes[4096];
    ys_rng_init(&rng, 1, "job-fuzz");
    if (input->size == 0 || !CHECK(input->size <= sizeof bytes))
        return;
    for (int variation = 0; variation < 300; variation++) {
        memcpy(bytes, input->data, input->size);
        for (uint32_t change = ys_rng_below(&rng, 4) + 1; change > 0; change--) {
            uint32_t at = ys_rng_below(&rng, (uint32_t)input->size);
            bytes[at] = (uint8_t)(ys_rng_below(&rng, 8) == 0
                                      ? ys_rng_below(&rng, 256)
                                      : (uint32_t)interesting[ys_rng_below(&rng, sizeof interesting - 1)]);
        }
        LLVMFuzzerTestOneInput(bytes, input->size);
    }
}

static void the_corpus_is_read_or_refused(void)
{
    int count = each_input(run_whole);
    CHECK(count == -1 || count >= 16);
}

static void studies_cut_off_anywhere_are_read_or_refused(void)
{
    each_input(run_cut_off);
}

static void studies_with_changed_bytes_are_read_or_refused(void)
{
    each_input(run_changed);
}

TAP_MAIN(TAP_CASE(the_corpus_is_read_or_refused), TAP_CASE(studies_cut_off_anywhere_are_read_or_refused),
         TAP_CASE(studies_with_changed_bytes_are_read_or_refused))
