/* The gradient of logits by the input, of the weights as they are: an engine of its own beside the one that trains. */
#ifndef YS_BUILTIN_ANSWER_GRADIENT_H
#define YS_BUILTIN_ANSWER_GRADIENT_H

#include "base/json/json.h"
#include "base/stored/safetensors.h"
#include "engine/engine.h"
#include "graph/graph.h"

struct ys_builtin_input_gradient {
    struct ys_graph *graph; /* whose input takes floats; NULL: not yet asked for */
    struct ys_engine *engine;
    int64_t batch;
    int64_t computed_ns; /* of the last question, without its files: which the reply gets */
    uint64_t steps;      /* behind which `trained` had the weights that are in it */
};

/** As struct ys_adapter_ops has it, by the weights of `trained`, which was opened with `config` for the network of
 * `graph_path`. YS_EUNSUPPORTED: the network has no single input of numbers, or carries a state. */
ys_status ys_builtin_input_gradient(struct ys_builtin_input_gradient *self, const char *graph_path,
                                    const struct ys_engine_config *config, struct ys_engine *trained,
                                    const char *inputs, const char *cotangent, const char *path,
                                    ys_json *reply) YS_MUST_CHECK;
void ys_builtin_input_gradient_close(struct ys_builtin_input_gradient *self);

#endif
