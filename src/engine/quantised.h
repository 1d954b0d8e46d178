/* What the engine itself does of a quantised network (engine/engine.h). */
#ifndef YS_ENGINE_QUANTISED_H
#define YS_ENGINE_QUANTISED_H

#include "engine/backend.h"
#include "graph/scales.h"

/** Plans low->graph by `scales`; see ys_engine_open_quantised(). */
ys_status ys_quantised_begin(struct ys_lowering *low, const struct ys_scales *scales) YS_MUST_CHECK;
/** Whether a parameter is rounded to its integers when it is set: a weight of kind weights. */
bool ys_quantised_rounds(const struct ys_lowering *low, size_t param);
/** Then: its numbers, in C order, to what the integers stand for. */
void ys_quantised_round(const struct ys_lowering *low, size_t param, float *values);

#endif
