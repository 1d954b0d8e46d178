/* In what the surroundings of trials differ, beyond the factors that were asked for. Of this room alone. */
#ifndef YS_METRIC_RESULT_TRIAL_ENVIRONMENT_H
#define YS_METRIC_RESULT_TRIAL_ENVIRONMENT_H

#include "metric/result_document.h"
#include "metric/study_view.h"

/** What was seen so far; {0} to begin with. Lists of struct ys_shared_value, where nothing else is said. */
struct ys_environments {
    struct ys_list versions; /* of each framework */
    struct ys_list runtimes, libraries;
    struct ys_list recipes, files; /* recipes that are none of yardstick's own, files that were changed or not pinned */
    struct ys_list threads;        /* struct ys_difference */
};
/** Takes note of a trial, which is loaded. */
void ys_environments_add(struct ys_environments *environment, const struct ys_metric_view_trial *trial);
/** New: struct ys_difference, between trials that were added one after the other. Takes what was seen. */
struct ys_list ys_environment_differences(struct ys_environments *environment);
void ys_environments_fini(struct ys_environments *environment);

#endif
