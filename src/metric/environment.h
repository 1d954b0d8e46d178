/* In what the surroundings of trials differ, beyond the factors that were asked for. Of this room alone. */
#ifndef YS_METRIC_ENVIRONMENT_H
#define YS_METRIC_ENVIRONMENT_H

#include "metric/trial.h"

/** [{what, text, values: [{value, trials: [id]}]}]: `what` is version, runtime, libraries, recipe, files or
 * threads; `text` a sentence. */
ys_status ys_environment_differences(const struct ys_view *view, ys_json **differences) YS_MUST_CHECK;

#endif
