/* What yardstick itself asks of its engine beyond include/yardstick/engine.h: graphs in memory, and where a step spends
 * its time. */
#ifndef YS_ENGINE_ENGINE_H
#define YS_ENGINE_ENGINE_H

#include "yardstick/engine.h"

struct ys_graph;   /* graph/graph.h */
struct ys_program; /* engine/program.h */

/** Compiles a graph that the caller keeps alive until close. */
int ys_engine_open_graph(const struct ys_graph *graph, const struct ys_engine_config *config,
                         struct ys_engine **engine);
const struct ys_graph *ys_engine_graph(const struct ys_engine *engine);
const struct ys_program *ys_engine_program(const struct ys_engine *engine);
/** Runs one call of the program, in mode TRAIN if the engine trains. Every call in order is a step at the rate of the
 * last ys_engine_step(), on the rows in ys_engine_input(), that is not counted; a convolution or product that is run
 * again at its turn gives the same once more. */
int ys_engine_run_call(struct ys_engine *engine, size_t call);
/** Sets the velocity of SGD (0 after open and reset) of trained parameter `param`, like its values (float or double, in
 * the graph's layout). YS_EINVAL: this engine's optimizer has none, or it is a buffer. */
int ys_engine_velocity_set(struct ys_engine *engine, size_t param, enum ys_engine_precision format, const void *values);
/** Of a guarded engine: fails when something was written outside a buffer. */
int ys_engine_check(const struct ys_engine *engine);

#endif
