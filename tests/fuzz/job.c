/* Fuzz target of the job reader: any bytes either make a study or are refused with a message that has a place; the text
 * kept of a study reads as the same study. tests/unit/job/test_fuzz.c replays the corpus tests/fuzz/job and variations
 * of it. With libFuzzer, from the root of the source:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -DYS_VERSION='"fuzz"' -Isrc -Iinclude
 * tests/fuzz/job.c \ $(find src/job -name "*.c") $(find src/data -name "*.c") $(find src/graph -name "*.c") $(find
 * src/base -name "*.c") -ljansson -lmd -lz -lm -o job-fuzz
 *     ./job-fuzz -max_len=4096 NEW-INPUTS tests/fuzz/job */
#include "base/mem.h"
#include "job/job.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ys_job job, again;
    char *bytes = ys_alloc(size, 1); /* exactly as long as the input, so that a sanitizer sees reads past its end */
    if (!bytes)
        return 0;
    if (size > 0)
        memcpy(bytes, data, size);
    ys_status status = ys_job_parse("fuzz.ys", bytes, size, NULL, 0, NULL, &job);
    ys_free(bytes);
    if (status != YS_OK) {
        YS_ASSERT(status == YS_EINVAL);
        YS_ASSERT(strncmp(ys_error(), "fuzz.ys:", 8) == 0);
        return 0;
    }
    YS_ASSERT(ys_json_size(job.trials) > 0);
    YS_ASSERT(ys_job_parse("fuzz.ys", job.text, strlen(job.text), NULL, 0, NULL, &again) == YS_OK);
    YS_ASSERT(ys_json_equal(job.trials, again.trials));
    ys_job_fini(&again);
    ys_job_fini(&job);
    return 0;
}
