/* What several ranks show of one thing, as one process would show it. Of this room alone. */
#ifndef YS_VERIFY_ORACLE_RANK_FILES_H
#define YS_VERIFY_ORACLE_RANK_FILES_H

#include "base/stored/safetensors.h"
#include "graph/graph.h"

struct ys_join_request {
    const struct ys_graph *graph;
    struct ys_safetensors *const *files; /* of each rank */
    size_t count;
    const double *shares; /* of each: what it counts for in the mean over the batch; together 1 */
    bool has_rows;        /* the tensors are of each rank's rows: they are put one behind the other */
    const char *folder;   /* where the file may lie for a moment */
};

/** A new file, loaded and gone from the disk: `loss` is the mean of the ranks' losses, each by its share; with
 * rows the others are those of rank 0, 1 and so on in a row; else they are those of rank 0, and weights and gradients
 * must be the same in every rank, to the bit (buffers may differ: each rank keeps statistics of its own rows).
 * YS_EPROTOCOL: they are not, or a tensor lacks; the message names rank and tensor. */
ys_status ys_ranks_join_files(const struct ys_join_request *request, struct ys_safetensors **joined) YS_MUST_CHECK;

#endif
