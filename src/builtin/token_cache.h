/* Rows of tokens answered by the built-in engine a few positions at a time, with a cache of keys and values: those of
 * the prompt together, the others one by one. Two engines with weights of their own, one of each extent. */
#ifndef YS_BUILTIN_TOKEN_CACHE_H
#define YS_BUILTIN_TOKEN_CACHE_H

#include "base/stored/safetensors.h"
#include "builtin/plan_rows.h"
#include "engine/engine.h"

struct ys_builtin_cached {
    struct ys_graph *graph[2]; /* of the prompt, of one position */
    struct ys_engine *engine[2];
    struct ys_safetensors *weights; /* read again for each position where a parameter has a row for it */
    int64_t *elements;              /* [parameters]: of the file's, over all positions */
    const struct ys_builtin_rows *rows;
    int64_t batch, prompt, tokens; /* rows; positions of a row in the prompt, and those behind it */
};

/** Opens both for the network of `graph_path` and the weights of `weights_path`. `config` is of evaluation, `rows` a
 * file's and the caller's until close. YS_EUNSUPPORTED: the network is none for it, or a ring brings the rows.
 * YS_EINVAL: prompt and tokens are not the positions of a row. YS_EFORMAT: the file of weights is of another network.
 * On failure `cached` is closed. */
ys_status ys_builtin_cached_open(const char *graph_path, const char *weights_path, int64_t prompt, int64_t tokens,
                                 const struct ys_engine_config *config, const struct ys_builtin_rows *rows,
                                 struct ys_builtin_cached *cached) YS_MUST_CHECK;
void ys_builtin_cached_close(struct ys_builtin_cached *cached);
/** Of a piece, in evaluation. */
struct ys_builtin_piece_loss {
    double mean;     /* over its targets that are not hidden; 0 where all are */
    int64_t targets; /* that are not */
};
/** Piece 0, the prompt, or piece i, position prompt + i - 1, of the rows with these numbers; pieces come in their
 * order. *logits: [batch, positions of the piece, classes], as those of an engine, until the next piece. `loss` (may be
 * NULL): without it the piece's targets are not looked at. YS_EINVAL: a row that the file has not, or a token beyond
 * the vocabulary. */
ys_status ys_builtin_cached_answer(struct ys_builtin_cached *cached, const uint32_t *rows, int64_t piece,
                                   const void **logits, struct ys_builtin_piece_loss *loss) YS_MUST_CHECK;
/** The positions of that piece, and the first of them. */
int64_t ys_builtin_cached_piece(const struct ys_builtin_cached *cached, int64_t piece, int64_t *first);
/** All pieces of these rows: logits [batch, prompt + tokens, classes] into `logits`, and the graph's loss, its
 * mean over the targets of all pieces that are not hidden. YS_EINVAL: there is none. */
ys_status ys_builtin_cached_forward(struct ys_builtin_cached *cached, const uint32_t *rows, void *logits,
                                    double *loss) YS_MUST_CHECK;

#endif
