/* The rows of a plan: a prepared data file, mapped, or a ring of batches. An array for each input of a graph, and the
 * targets (docs/data.md). */
#ifndef YS_BUILTIN_PLAN_ROWS_H
#define YS_BUILTIN_PLAN_ROWS_H

#include "base/stored/safetensors.h"
#include "engine/engine.h"
#include "graph/graph.h"
#include "protocol/batch_ring.h"

struct ys_builtin_rows {
    struct ys_safetensors *file;                           /* NULL: a ring */
    struct ys_feed *feed;                                  /* NULL: a file */
    size_t input_count, count;                             /* arrays before the target; rows */
    const struct ys_tensor *array[YS_ROWS_MAX_INPUTS + 1]; /* of the inputs in the graph's order, then the target */
    size_t row_bytes[YS_ROWS_MAX_INPUTS + 1];
    int64_t classes; /* of the target, where it tells classes */
};

/** Opens the file and checks it against what the graph wants of a row. An input of bytes takes the file's floats as
 * well, and its type becomes theirs: open it before the engine. Labels that are no class of the graph, and floats that
 * are not finite, are YS_EFORMAT with their row. */
ys_status ys_builtin_rows_open(const char *path, struct ys_graph *graph, struct ys_builtin_rows *rows) YS_MUST_CHECK;
/** The same of the batches of a ring, whose descriptors are taken over. */
ys_status ys_builtin_rows_feed(int channel, int memory, struct ys_graph *graph,
                               struct ys_builtin_rows *rows) YS_MUST_CHECK;
void ys_builtin_rows_close(struct ys_builtin_rows *rows);
/** Copies row `row` of a file, below rows->count, to row `to` of the engine's batch. */
void ys_builtin_rows_copy(const struct ys_builtin_rows *rows, size_t row, size_t to, struct ys_engine *engine);
/** Copies batch `batch` of a ring, whole, to the engine, and frees its slot. YS_EIO: the feeder is gone. */
ys_status ys_builtin_rows_take(const struct ys_builtin_rows *rows, int64_t batch,
                               struct ys_engine *engine) YS_MUST_CHECK;
/** As many rows as keep the largest value of the network within 64 MiB, at most `most`. */
int64_t ys_builtin_batch(const struct ys_graph *graph, int64_t most);

#endif
