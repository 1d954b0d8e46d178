/* Parts of the result document as structs: what docs/results.md and docs/result.schema.json list is what these tables
 * list. */
#ifndef YS_METRIC_DOCUMENT_H
#define YS_METRIC_DOCUMENT_H

#include "base/record.h"
#include "store/trial.h"

/** A trial: members as docs/results.md has them. */
struct ys_result_trial {
    char *id;
    int64_t index, trial_id;
    char *section;
    ys_json *factors;
    struct ys_trial_framework *framework;
    int status; /* enum ys_run_status */
    char *stage, *reason, *command;
    int64_t runs, failed, disturbed, runs_planned, runs_lacking;
    ys_json *deviations, *warnings, *proof, *metrics, *agreement;
    struct ys_trial_settings keys;
    ys_json *options, *env;
    ys_json *runs_detail; /* NULL where it was not asked for */
};
extern const struct ys_record ys_result_trial_record;

/** As if a comparison were the only one of its family. */
struct ys_comparison_single {
    struct ys_list ci; /* double: both ends, or empty */
    double level;
};

/** One comparison. */
struct ys_comparison_record {
    char *metric;
    char *a, *b; /* names of trials */
    int64_t a_index, b_index;
    char *varies;
    int scale; /* enum ys_scale */
    double ratio, difference;
    struct ys_list ci; /* double: both ends, or empty */
    double level;
    struct ys_comparison_single single;
    int rounds; /* enum ys_rounds_say */
    double round_correlation, bias_bound;
    int64_t n;
    double margin;
    int verdict; /* enum ys_verdict */
    double resolution;
    char *reason;
    double a_value, b_value;
    char *unit;
    int better; /* enum ys_better */
};
extern const struct ys_record ys_comparison_record;

/** Whether a round's ratio tells the next one's. */
enum ys_rounds_say { YS_ROUNDS_INDEPENDENT, YS_ROUNDS_CORRELATED, YS_ROUNDS_UNKNOWN };
extern const struct ys_names ys_rounds_say; /* "independent", "correlated", "cannot be told" */

enum ys_scale { YS_SCALE_RATIO, YS_SCALE_DIFFERENCE };
extern const struct ys_names ys_scales; /* "ratio", "difference" */

#endif
