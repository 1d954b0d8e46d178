/* Reading a file that a test made, and what the oracle makes of it. */
#ifndef YS_TESTS_UNIT_ONNX_EVAL_ONNX_H
#define YS_TESTS_UNIT_ONNX_EVAL_ONNX_H

#include "base/mem.h"
#include "engine/engine.h"
#include "onnx/read/onnx_read.h"
#include "tap.h"
#include "unit/onnx/build_onnx.h"

#include <stdio.h>

/* The file that `m` is, read, which must not be refused; `m` is empty afterwards. */
static inline struct ys_onnx_import *made_read(struct made *m, const char *output, int64_t opset)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, output, opset, &file);
    if (!CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_OK))
        printf("# %s\n", ys_error());
    ys_buf_free(&file);
    *m = (struct made){0};
    return import;
}

/* Logits of `rows` rows of bytes, in double, with the values of the file. */
static inline bool made_evaluate(const struct ys_onnx_import *import, const unsigned char *x, size_t rows,
                                 double *logits)
{
    const int64_t labels[8] = {0};
    const struct ys_engine_config config = {
        .batch = (int64_t)rows, .precision = YS_ENGINE_F64, .backend = "ref", .threads = 1, .training = false};
    struct ys_engine *engine = NULL;
    if (!CHECK(rows <= 8 && ys_engine_open_graph(import->graph, &config, &engine) == 0))
        return false;
    for (size_t i = 0; i < import->graph->param_count; i++)
        CHECK(ys_engine_param_set(engine, i, YS_ENGINE_F32, import->values[i]) == 0);
    const bool done = CHECK(ys_engine_forward(engine, x, labels, YS_ENGINE_EVAL, NULL) == 0);
    if (done)
        memcpy(logits, ys_engine_logits(engine), rows * (size_t)ys_engine_classes(engine) * sizeof *logits);
    ys_engine_close(engine);
    return done;
}

/* A dense layer behind `from`, flattened to `features`: what every network here ends in. */
static inline void end_in_dense(struct made *m, const char *from, int64_t features)
{
    made_node(m, "Flatten", from, "flat");
    made_node(m, "Gemm", "flat w", "y");
    made_weight(m, "w", features, 3, 0, 0);
}

/* NULL: none. */
static inline const struct ys_node *node_called(const struct ys_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    return NULL;
}

/* Reads the file that `m` is, of which the message must have each of `words`, separated by |; "" must be read. */
static inline void check_read(struct made *m, const char *output, int64_t opset, const char *words)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, output, opset, &file);
    ys_status status = ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import);
    if (!*words && !CHECK(status == YS_OK))
        printf("# %s\n", ys_error());
    if (*words && !CHECK(status == YS_EUNSUPPORTED || status == YS_EFORMAT || status == YS_ENOTFOUND))
        printf("# was read, not refused with %s\n", words);
    for (const char *at = words; *at; at += strspn(at, "|")) {
        size_t size = strcspn(at, "|");
        char *word = ys_strndup(at, size);
        if (!CHECK(strstr(ys_error(), word) != NULL))
            printf("# \"%s\" is not in: %s\n", word, ys_error());
        ys_free(word);
        at += size;
    }
    if (status == YS_OK)
        ys_onnx_import_free(import);
    ys_buf_free(&file);
    *m = (struct made){0};
}

#endif
