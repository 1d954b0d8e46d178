/* Any bytes, read as a safetensors file, are refused with a message or give tensors whose every element can be read.
 *
 * The unit test `base/corpus` includes this file and feeds it the files beside it and what chance makes of them. For a
 * search by libFuzzer, which the normal build does not need:
 *
 *     clang -g -O1 -std=gnu17 -D_GNU_SOURCE -DYS_FUZZ -fsanitize=fuzzer,address,undefined -Isrc \
 *         tests/fuzz/fuzz_safetensors.c $(find src/base -name "*.c") -ljansson -o fuzz
 *     ./fuzz -max_len=4096 found tests/fuzz/safetensors
 */
#include "base/stored/safetensors.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/** Opens the bytes as a file and reads all of it; what the opening answered. */
static ys_status read_bytes(const uint8_t *data, size_t size)
{
    int fd = memfd_create("safetensors", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort(); /* without memory nothing is learned */
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct ys_safetensors *file = NULL;
    ys_status status = ys_safetensors_open(path, &file);
    close(fd);
    if (status != YS_OK) {
        YS_ASSERT(!file && ys_error()[0]);
        return status;
    }
    volatile double sum = 0; /* volatile: every element is to be read */
    for (size_t t = 0; t < ys_safetensors_count(file); t++) {
        const struct ys_tensor *tensor = ys_safetensors_at(file, t);
        size_t count = ys_tensor_count(tensor);
        YS_ASSERT(count * ys_dtype_size(tensor->dtype) == tensor->size_bytes && tensor->size_bytes <= size);
        YS_ASSERT(ys_safetensors_find(file, tensor->name) == tensor);
        for (size_t i = 0; i < count; i++)
            sum += ys_tensor_value(tensor, i);
    }
    (void)sum;
    ys_safetensors_close(file);
    return YS_OK;
}

#ifdef YS_FUZZ
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ys_status status = read_bytes(data, size);
    YS_ASSERT(status == YS_OK || status == YS_EFORMAT);
    return 0;
}
#endif
