/* In what the surroundings of trials differ, beyond the factors that were asked for. Of this room alone. */
#ifndef YS_METRIC_ENVIRONMENT_H
#define YS_METRIC_ENVIRONMENT_H

#include "metric/trial.h"

/** What was seen so far; {0} to begin with. */
struct ys_environments {
    ys_json *versions;             /* {framework: values}, values as below */
    ys_json *runtimes, *libraries; /* values */
    ys_json *recipes, *files;      /* values: recipes that are none of yardstick's own, files that were changed */
    ys_json *threads;              /* differences */
};
/** Takes note of a trial, which is loaded. */
ys_status ys_environments_add(struct ys_environments *environment,
                              const struct ys_metric_view_trial *trial) YS_MUST_CHECK;
/** [{what, text, values: [{value, trials: [id]}]}]: `what` is version, runtime, libraries, recipe, files or
 * threads; `text` a sentence. Between trials that were added one after the other. */
ys_status ys_environment_differences(const struct ys_environments *environment, ys_json **differences) YS_MUST_CHECK;
void ys_environments_fini(struct ys_environments *environment);

#endif
