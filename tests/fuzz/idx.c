/* Fuzz target of the IDX reader and of gzip below it: whatever the bytes, an answer within bounded memory.
 * tests/unit/data/test_fuzz.c replays the corpus tests/fuzz/idx. With libFuzzer, from the root of the source, in one
 * line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc tests/fuzz/idx.c
 *           src/data/archives/idx.c src/data/archives/gzip.c $(find src/base -name "*.c") -ljansson -lmd -lz -lm -o
 * idx-fuzz
 *     ./idx-fuzz NEW-INPUTS tests/fuzz/idx
 */
#include "data/archives/idx.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ys_idx idx = {0};
    ys_status status = ys_idx_parse(bytes, size, "input", &idx);
    if (status != YS_OK && status != YS_EFORMAT && status != YS_ENOMEM)
        abort();
    if (status == YS_OK) {
        int64_t elements = 1;
        for (size_t i = 0; i < idx.rank; i++)
            elements *= idx.shape[i];
        volatile uint8_t last = idx.data[elements - 1]; /* the room is there */
        (void)last;
    }
    ys_idx_fini(&idx);
    return 0;
}
