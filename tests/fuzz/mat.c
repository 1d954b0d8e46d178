/* Fuzz target of the reader of SVHN and of MAT-files below it: whatever the bytes, an answer within bounded memory.
 * tests/unit/data/test_fuzz_mat.c replays the corpus tests/fuzz/mat. With libFuzzer, from the root of the source, in
 * one line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc tests/fuzz/mat.c
 *           $(find src/data -name "*.c") $(find src/base -name "*.c") -ljansson -lmd -lz -lm -o mat-fuzz
 *     ./mat-fuzz -max_len=8192 NEW-INPUTS tests/fuzz/mat
 */
#include "data/sets/svhn.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ys_data_rows rows = {0};
    ys_status status = ys_svhn_parse(bytes, size, "input", &rows);
    if (status != YS_OK && status != YS_EFORMAT && status != YS_ENOMEM)
        abort();
    for (int64_t i = 0; status == YS_OK && i < rows.count; i++)
        if (ys_data_labels(&rows)[i] < 0 || ys_data_labels(&rows)[i] > 9)
            abort();
    if (status != YS_OK && rows.array[0])
        abort();
    ys_data_rows_fini(&rows);
    return 0;
}
