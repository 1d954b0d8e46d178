/* Fuzz target of the ONNX reader: whatever the bytes, ys_onnx_read_bytes() says yes or why not, and a graph that it
 * says yes to is one that graph files may hold. tests/unit/onnx/test_fuzz.c replays the corpus tests/fuzz/onnx. With
 * libFuzzer, from the root of the source, in one line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -DYS_VERSION='"0"' -Isrc
 *           tests/fuzz/onnx.c $(find src/onnx -name "*.c") $(find src/graph -name "*.c") $(find src/base -name "*.c")
 * -ljansson -lmd -lm -o onnx-fuzz
 *     ./onnx-fuzz NEW-INPUTS tests/fuzz/onnx
 */
#include "base/json/json.h"
#include "onnx/read/onnx_read.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ys_onnx_import *import = NULL;
    ys_status status = ys_onnx_read_bytes("/nowhere/input.onnx", bytes, size, NULL, &import);
    if (status != YS_OK) {
        if (status != YS_EFORMAT && status != YS_EUNSUPPORTED && status != YS_ENOTFOUND && status != YS_EIO &&
            status != YS_ENOMEM)
            abort();
        return 0;
    }
    ys_json *written = ys_graph_to_json(import->graph);
    struct ys_graph *again = NULL;
    if (!written || ys_graph_from_json(written, "again", &again) != YS_OK) {
        fprintf(stderr, "an import is no graph: %s\n", ys_error());
        abort();
    }
    ys_graph_free(again);
    ys_json_free(written);
    ys_onnx_import_free(import);
    return 0;
}
