/* A search for settings (campaign/tune.h): what is asked, and what is told of it, yardstick/tune/1. */
#ifndef YS_CAMPAIGN_TUNE_DOCUMENT_H
#define YS_CAMPAIGN_TUNE_DOCUMENT_H

#include "base/json/record.h"
#include "job/job.h"

#define YS_TUNE_SCHEMA "yardstick/tune/1"

struct ys_tune_wish {
    const char *path; /* of a study; NULL: flags alone */
    const struct ys_job_flag *flags;
    size_t flag_count;
    const char *wanted; /* a metric that is compared, or a wish of `recommend` */
    const char *knobs;  /* names with commas between; NULL: all */
    double budget_s;
    /* Of a search for hyper-parameters (campaign/tune_over.h), in the place of knobs and budget_s. */
    const char *over, *search; /* keys with their values; how, NULL: the usual. NULL: knobs are searched */
    int64_t budget_steps;
    const char *const *recipe_dirs;
    const char *command;
};

enum ys_tune_answer { YS_TUNE_BETTER, YS_TUNE_NONE_BETTER, YS_TUNE_UNCONFIRMED, YS_TUNE_CANNOT_RUN };
extern const struct ys_names ys_tune_answers; /* "better", "none better", "unconfirmed", "cannot run" */

/** A set of values that was tried, or would have been. */
struct ys_tuned_point {
    char *settings; /* "threads=2 wait=passive"; "" is as by default */
    int64_t rung;   /* the last in which it was measured; 0: none */
    int64_t rounds; /* of all rungs */
    double ratio;   /* of its metric to that of the trial as it is, in that rung; NaN */
    char *out;      /* why it went no further beside being slower: "crashed", "not proven", "unsupported"; NULL */
    char *reason;   /* what is known of that; NULL */
    double value;   /* of hyper-parameters: the median over the seeds; NaN: most did not reach the target */
    int64_t steps;  /* likewise: of all its runs; YS_FIELD_NONE */
};

/** What time was spent for. */
struct ys_tuned_part {
    char *what;
    double seconds;
    int64_t runs;
};

struct ys_tuned_trial {
    char *trial, *framework; /* its name in the study, and as a job names it */
    int answer;              /* enum ys_tune_answer */
    char *sentence;
    char *settings;           /* of the winner, confirmed or not; NULL: none */
    double during;            /* the ratio that the search saw of it; NaN */
    int64_t rounds;           /* fresh ones of both; 0: none */
    double ratio;             /* of the metric, winner to default, fresh; of a share the difference; NaN */
    struct ys_list ci;        /* double: both ends, or empty */
    int verdict;              /* enum ys_verdict; YS_NAME_NONE */
    char *doubt;              /* why that is unclear or invalid; NULL */
    double memory;            /* ratio of peak memory, fresh; NaN */
    struct ys_list memory_ci; /* double: both ends, or empty */
    int64_t study;            /* of the fresh rounds, in the store; YS_FIELD_NONE */
    struct ys_list lines;     /* char *: of a section of a job file that give the answer again */
    char *outside;            /* how the framework is set so without yardstick; NULL */
    struct ys_list points;    /* struct ys_tuned_point: the trial as it is first */
    /* Of a search for hyper-parameters; else none. */
    int64_t steps, judged, skipped; /* that the search took; points on all seeds; points that were refused */
    double search_s;                /* wall-clock time of it */
    double value;                   /* median of the winner in fresh rounds; NaN: most did not arrive */
    double as_it_is;                /* the same of the trial as it is */
    int64_t met;                    /* fresh rounds of the winner that reached the target */
    struct ys_list spent;           /* struct ys_tuned_part */
};

struct ys_tuned {
    char *schema, *wanted, *metric, *study;
    double budget_s; /* of all trials */
    bool interrupted;
    char *search, *over;   /* of hyper-parameters; NULL */
    int64_t budget_steps;  /* likewise, of all trials; YS_FIELD_NONE */
    struct ys_list trials; /* struct ys_tuned_trial */
};
extern const struct ys_record ys_tuned_record, ys_tuned_trial_record, ys_tuned_point_record, ys_tuned_part_record;

/** The exit code that belongs to it: 0, 4 where an answer lacks its confirmation, 6 where no trial can run. */
int ys_tuned_code(const struct ys_tuned *tuned);

#endif
