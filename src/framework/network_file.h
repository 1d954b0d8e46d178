/* The network as a file of the kind that a framework reads, for those that do not build it node by node. */
#ifndef YS_FRAMEWORK_NETWORK_FILE_H
#define YS_FRAMEWORK_NETWORK_FILE_H

#include "framework/framework.h"
#include "protocol/plan.h"

/** Where the recipe of `framework` says `model_format = onnx`: writes the plan's graph with the plan's weights as
 * model.onnx into the plan's folder, in double for a plan of precision f64, quantised for one with scales, and sets the
 * plan's member `onnx` to its path. A network that ONNX cannot hold leaves the plan without it, with a warning. Where
 * the recipe names a converter, sets the member `converted` (framework/converter.h); for a plan with `quantise` it is
 * the quantiser that does so, and of what it is given. Does nothing for other frameworks.
 * To be called for every plan, once its graph and weights are those that the adapter gets. Errors as ys_onnx_write().
 */
ys_status ys_framework_model_file(const struct ys_framework *framework, struct ys_plan *plan) YS_MUST_CHECK;
/** Removes it again; it is as large as the weights. */
void ys_framework_model_file_remove(const struct ys_plan *plan);

#endif
