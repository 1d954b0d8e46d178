/* Fuzz target of the CIFAR reader and of tar and gzip below it: whatever the bytes, an answer within bounded memory.
 * Batches have one record here, so that a whole archive is small. tests/unit/data/test_fuzz_cifar.c replays the corpus
 * tests/fuzz/cifar. With libFuzzer, from the root of the source, in one line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc tests/fuzz/cifar.c
 *           $(find src/data -name "*.c") $(find src/base -name "*.c") -ljansson -lmd -lz -lm -o cifar-fuzz
 *     ./cifar-fuzz -max_len=32768 NEW-INPUTS tests/fuzz/cifar
 */
#include "data/sets/cifar.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ys_data_rows train = {0}, test = {0};
    ys_status status = ys_cifar_parse(&ys_cifar10, bytes, size, "input", 1, &train, &test);
    if (status != YS_OK && status != YS_EFORMAT && status != YS_ENOMEM)
        abort();
    if (status == YS_OK && (train.count != YS_CIFAR_TRAIN_BATCHES || test.count != 1))
        abort();
    for (int64_t i = 0; status == YS_OK && i < train.count; i++)
        if (ys_data_labels(&train)[i] < 0 || ys_data_labels(&train)[i] > 9)
            abort();
    if (status != YS_OK && (train.array[0] || test.array[0]))
        abort();
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
    return 0;
}
