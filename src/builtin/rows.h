/* A prepared data file, mapped: an array for each input of a graph, and the targets (docs/data.md). */
#ifndef YS_BUILTIN_ROWS_H
#define YS_BUILTIN_ROWS_H

#include "base/safetensors.h"
#include "engine/engine.h"
#include "graph/graph.h"

struct ys_builtin_rows {
    struct ys_safetensors *file;
    size_t input_count, count;                             /* arrays before the target; rows */
    const struct ys_tensor *array[YS_ROWS_MAX_INPUTS + 1]; /* of the inputs in the graph's order, then the target */
    size_t row_bytes[YS_ROWS_MAX_INPUTS + 1];
};

/** Opens the file and checks it against what the graph wants of a row. An input of bytes takes the file's floats as
 * well, and its type becomes theirs: open it before the engine. Labels that are no class of the graph, and floats that
 * are not finite, are YS_EFORMAT with their row. */
ys_status ys_builtin_rows_open(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows) YS_MUST_CHECK;
void ys_builtin_rows_close(struct ys_builtin_rows *rows);
/** Copies row `row`, below rows->count, to row `to` of the engine's batch. */
void ys_builtin_rows_copy(const struct ys_builtin_rows *rows, size_t row, size_t to, struct ys_engine *engine);

#endif
