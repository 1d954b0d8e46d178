/* Fuzz target of the graph reader: whatever the bytes, ys_graph_from_json() says yes or YS_EFORMAT, and what it says
 * yes to survives being written and read again. tests/unit/graph/test_fuzz.c replays the corpus tests/fuzz/graph. With
 * libFuzzer, from the root of the source, in one line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc tests/fuzz/graph.c
 *           $(find src/graph -name "*.c") $(find src/base -name "*.c") -ljansson -lmd -lm -o graph-fuzz
 *     ./graph-fuzz NEW-INPUTS tests/fuzz/graph
 */
#include "base/json/json.h"
#include "graph/graph.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct ys_graph *graph_of(const ys_json *json, const char *name)
{
    struct ys_graph *graph = NULL;
    ys_status status = ys_graph_from_json(json, name, &graph);
    if (status != YS_OK && status != YS_EFORMAT && status != YS_ENOMEM)
        abort();
    return graph;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    ys_json *json = NULL;
    if (ys_json_parse((const char *)bytes, size, "input", &json) != YS_OK)
        return 0;
    struct ys_graph *graph = graph_of(json, "input");
    if (graph) {
        ys_json *written = ys_graph_to_json(graph);
        struct ys_graph *again = written ? graph_of(written, "again") : NULL;
        ys_json *written_again = again ? ys_graph_to_json(again) : NULL;
        if (!written_again || !ys_json_equal(written, written_again) ||
            ys_graph_multiply_adds(again) != ys_graph_multiply_adds(graph) ||
            ys_graph_parameter_count(again) != ys_graph_parameter_count(graph))
            abort();
        ys_json_free(written_again);
        ys_graph_free(again);
        ys_json_free(written);
    }
    ys_graph_free(graph);
    ys_json_free(json);
    return 0;
}
