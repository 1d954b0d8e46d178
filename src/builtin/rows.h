/* A prepared data file, mapped: tensors x (pixels of `count` rows) and y (int64 labels). */
#ifndef YS_BUILTIN_ROWS_H
#define YS_BUILTIN_ROWS_H

#include "base/safetensors.h"
#include "graph/graph.h"

struct ys_builtin_rows {
    struct ys_safetensors *file;
    const struct ys_tensor *x, *y;
    size_t count, row_bytes;
};

/** Opens the file and checks it against the graph's input, whose format becomes that of the file's pixels: open it
 * before the engine. Labels that are no class of the graph, and float pixels that are not finite, are YS_EFORMAT with
 * their row. */
ys_status ys_builtin_rows_open(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows) YS_MUST_CHECK;
void ys_builtin_rows_close(struct ys_builtin_rows *rows);
/** Copies row `row`, below rows->count, to row `to` of the given buffers. */
void ys_builtin_rows_copy(const struct ys_builtin_rows *rows, size_t row, size_t to, void *x, int64_t *y);

#endif
