/* The plans of a proof, made from a trial's plan: fewer rows and steps, a change of learning rate, no dropout, another
 * format. */
#ifndef YS_VERIFY_ORACLE_PROOF_PLAN_H
#define YS_VERIFY_ORACLE_PROOF_PLAN_H

#include "graph/graph.h"
#include "protocol/plan.h"

/** How much of a trial's work a proof does. */
struct ys_proof_extent {
    int64_t rows;        /* of a batch, the first of the trial's */
    int64_t steps;       /* and batches: the first of the trial's */
    int64_t rate_change; /* the step, counted from 0, from which the learning rate is a tenth */
    int64_t trained;     /* so many of the steps are trained in double; 0: none */
};

/** At most 8 rows and ten steps; for a graph of more than YS_VERIFY_LARGE multiply-adds a row, 2 rows and three. */
struct ys_proof_extent ys_proof_extent(const struct ys_graph *graph, int64_t batch);
/** The same with ten steps of a large graph too. */
struct ys_proof_extent ys_proof_extent_long(const struct ys_graph *graph, int64_t batch);

/** The trial's whole batches: one step in double where a batch has at most YS_VERIFY_WHOLE_LIMIT multiply-adds, and
 * more batches for a network that rounding flips a ReLU of. */
struct ys_proof_extent ys_proof_extent_whole(const struct ys_graph *graph, int64_t batch);

/** Writes the proof's own order file to `path`. */
ys_status ys_proof_order_write(const struct ys_plan *plan, struct ys_proof_extent extent,
                               const char *path) YS_MUST_CHECK;

/** Sets every ratio of dropout to 0: its mask is the framework's own, and no two draw the same. False: there is none.
 */
bool ys_proof_drop_dropout(struct ys_graph *graph);

/** The trial's plan, changed to the proof's graph and order, in `precision`, with `folder`. `made` owns nothing after a
 * failure, here and below. */
ys_status ys_proof_plan(const struct ys_plan *plan, struct ys_proof_extent extent, const char *graph, const char *order,
                        enum ys_precision precision, const char *folder, struct ys_plan *made) YS_MUST_CHECK;

/** The same work for the built-in engine: `backend` is "ref", or NULL for its default. A plan of several ranks becomes
 * one of a single process with whole batches, which does the same; but for batch normalisation where each rank has
 * statistics of its own rows: there it stays one of as many ranks. */
ys_status ys_proof_plan_builtin(const struct ys_plan *proof_plan, const char *backend, const char *folder,
                                struct ys_plan *made) YS_MUST_CHECK;
/** Gives a plan for the built-in engine another back end, and no other option. */
void ys_proof_plan_backend(struct ys_plan *plan, const char *backend);

#endif
