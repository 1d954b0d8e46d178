/* Fuzz target of the reader of zip archives: whatever the bytes, an answer, and no byte read or written beyond.
 * tests/unit/data/test_fuzz_zip.c replays the corpus tests/fuzz/zip. With libFuzzer, from the root of the source, in
 * one line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc tests/fuzz/zip.c
 *           src/data/archives/zip.c src/data/archives/gzip.c $(find src/base -name "*.c") -ljansson -lmd -lz -lm -o
 * zip-fuzz
 *     ./zip-fuzz -max_len=4096 NEW-INPUTS tests/fuzz/zip
 */
#include "base/mem.h"
#include "data/archives/zip.h"
#include <stdlib.h>
#include <string.h>

#define MAX_MEMBER_BYTES 65536 /* as who unpacks one has a limit */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_member(const struct ys_zip *zip, const struct ys_zip_member *member)
{
    uint8_t *out = ys_alloc(member->size + 1, 1);
    if (!out)
        return;
    ys_status status = ys_zip_read(zip, member, out);
    if (status != YS_OK && status != YS_EFORMAT && status != YS_ENOMEM)
        abort();
    if (out[member->size] != 0)
        abort();
    ys_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ys_zip zip;
    struct ys_zip_member member;
    bool ended = false;
    ys_status status = ys_zip_open(bytes, size, "input", &zip);
    while (status == YS_OK && !ended) {
        status = ys_zip_next(&zip, &member, &ended);
        if (status == YS_OK && !ended && (strlen(member.name) < 1 || strlen(member.name) > YS_ZIP_NAME_BYTES))
            abort();
        if (status == YS_OK && !ended && member.size <= MAX_MEMBER_BYTES)
            read_member(&zip, &member);
    }
    if (status != YS_OK && status != YS_EFORMAT)
        abort();
    return 0;
}
