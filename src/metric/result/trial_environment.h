/* In what the surroundings of trials differ, beyond the factors that were asked for. Of this room alone. */
#ifndef YS_METRIC_RESULT_TRIAL_ENVIRONMENT_H
#define YS_METRIC_RESULT_TRIAL_ENVIRONMENT_H

#include "metric/study_view.h"

enum ys_difference_of {
    YS_DIFFERENCE_VERSION,
    YS_DIFFERENCE_RUNTIME,
    YS_DIFFERENCE_LIBRARIES,
    YS_DIFFERENCE_RECIPE,
    YS_DIFFERENCE_FILES,
    YS_DIFFERENCE_THREADS
};
extern const struct ys_names ys_differences; /* "version", "runtime", "libraries", "recipe", "files", "threads" */

/** What some trials have in common. */
struct ys_shared_value {
    char *value;
    struct ys_list trials; /* char *: their ids */
};
/** A difference, as the result document has it. */
struct ys_difference {
    int what;              /* enum ys_difference_of */
    char *text;            /* a sentence */
    struct ys_list values; /* struct ys_shared_value */
};
extern const struct ys_record ys_difference_record;

/** What was seen so far; {0} to begin with. Lists of struct ys_shared_value, where nothing else is said. */
struct ys_environments {
    struct ys_list versions; /* of each framework */
    struct ys_list runtimes, libraries;
    struct ys_list recipes, files; /* recipes that are none of yardstick's own, files that were changed or not pinned */
    struct ys_list threads;        /* struct ys_difference */
};
/** Takes note of a trial, which is loaded. */
void ys_environments_add(struct ys_environments *environment, const struct ys_metric_view_trial *trial);
/** An array of differences between trials that were added one after the other. */
ys_json *ys_environment_differences(const struct ys_environments *environment);
void ys_environments_fini(struct ys_environments *environment);

#endif
