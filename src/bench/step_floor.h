/* A training step taken apart: its convolutions and matrix products timed alone, and where the rest of it goes. */
#ifndef YS_BENCH_STEP_FLOOR_H
#define YS_BENCH_STEP_FLOOR_H

#include "engine/engine.h"
#include "engine/program.h"
#include "graph/model.h"
#include "stat/summary.h"

/** Medians over the rounds, by call of the program. */
struct ys_floor {
    struct ys_graph *graph;
    struct ys_engine *engine;
    const struct ys_program *program;
    size_t rounds;
    double *alone_s;          /* [call_count]: again and again at its turn; of products only, else 0 */
    double *in_step_s;        /* [call_count]: as a step comes by it */
    double step_s;            /* the whole step */
    struct ys_interval ratio; /* of step / sum of the products, round by round */
};

/** Opens the model for its usual input and measures `repeat` rounds, or with 0 as many as fit in some time. The
 * engine computes on config->threads threads, with config's batch, precision and back end. */
ys_status ys_floor_measure(const struct ys_model_choice *model, const struct ys_engine_config *config, int64_t repeat,
                           struct ys_floor *floor) YS_MUST_CHECK;
void ys_floor_fini(struct ys_floor *floor); /* also after a failure */

bool ys_floor_is_product(const struct ys_call *call);

#endif
