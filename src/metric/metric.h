/* Metrics: from the facts and series of runs to the numbers that are shown, and nothing else goes in: whatever is here
 * can be computed again from what is stored. docs/results.md describes the documents, metrics/NAME.metric each metric.
 */
#ifndef YS_METRIC_METRIC_H
#define YS_METRIC_METRIC_H

#include "base/json/json.h"
#include "base/json/shared_words.h"
#include "base/modes.h"
#include "crew/facts.h"
#include "stat/compare.h"
#include "stat/series.h"
#include "store/store.h"

/* The version of the algorithms, as a whole: raise it with a new metric, and when one of the
 * same facts can come out differently. */
#define YS_METRIC_VERSION 16

/* What counts as the same between two accuracies, as a difference; ratios are judged by the study's `margin`. */
#define YS_METRIC_ACCURACY_MARGIN 0.005

/* What metrics/NAME.metric says (CONTRIBUTING.md); tools/metric_infos.py makes a table of those files at the build. */
struct ys_metric_info {
    const char *name;
    const char *title;     /* for people: "peak memory" */
    const char *head;      /* of a column, in a word or two: "step time"; NULL: the title */
    const char *part;      /* as a part of a run's time: "start-up" */
    const char *part_head; /* of a narrow column of such parts: "warm-\nup" */
    const char *ratio;     /* what a ratio of it says, after "1.93x": "the memory" */
    const char *unit;      /* SI: "s", "1/s", "B", "1" for pure numbers */
    enum ys_kind kind;
    enum ys_better better;
    const char *method;           /* exact, counter, sampled, estimated, derived */
    const char *scope;            /* of what it is a measure: "process tree, exec to end" */
    const char *source;           /* where the numbers come from */
    const char *formula, *limits; /* how it is computed, and what it cannot tell */
    bool learning;                /* null for programs that do no work */
    bool of_steady;               /* of the steady part of a run alone: what is left of warm-up is in it */
    bool whole;                   /* a whole number: printed as one */
    bool of_questions;            /* null in runs that train: it is of those whose units are timed each */
    int mode;                     /* enum ys_mode: null in runs of the other modes; YS_NAME_NONE: of all */
};
/** All metrics, in the order in which they are listed. */
const struct ys_metric_info *ys_metric_infos(size_t *count);
const struct ys_metric_info *ys_metric_find(const char *name); /* NULL when there is none */
/** The metric that somebody wrote. YS_EINVAL: there is none of that name; the nearest is named. */
ys_status ys_metric_named(const char *name, const struct ys_metric_info **info) YS_MUST_CHECK;

/* The metrics that are compared, as their files order them; the first YS_WINDOW_METRICS are of the steady part alone.
 */
enum { YS_COMPARED = 15 };
extern const char *const ys_compared[YS_COMPARED];
/** Of what part of the run each is, and how often what was taken from it may count in it: of a mean once; a median is
 * half way through its blocks, so that what shortens that half moves it by twice as much a block as the mean, and the
 * 99 % quantile moves by a hundred times as much. The processor's time does not pass while nothing of it runs. */
extern const struct ys_disturbed_part {
    enum { YS_PART_OF_NOTHING, YS_PART_OF_WORK, YS_PART_OF_RUN, YS_PART_OF_PROCESSOR } part;
    double times;
} ys_disturbed_parts[YS_COMPARED];
/** The metrics that stand behind the speed in tables of results, in order; `if_known`: where some trial has a value. */
enum { YS_METRIC_COLUMNS = 8 };
extern const struct ys_metric_column {
    const char *name;
    bool if_known;
} ys_metric_columns[YS_METRIC_COLUMNS];
/** Whether metric `m` of them is of meeting a target: a run that did not meet it has a value too, INFINITY. */
bool ys_compared_of_target(int m);
/** Where a metric stands there, which it must; else the last place. */
int ys_compared_place(const char *metric);

/** The {name: metric} of a run, which has each, in the order of ys_metric_infos(); new. */
ys_json *ys_metric_in_order(const ys_json *metrics);

/** What `list metrics` says of each. */
extern const struct ys_record ys_metric_listed_record;
/** What reports say of them: {NAME: {title, ratio, unit, kind, better}}. */
ys_json *ys_metric_texts(void);

/** Every metric of one run: {name: {value, unit, method, scope, source, better} | {value: null, reason}}. `trial` as in
 * the job (`keys`), `facts` and `series` as a run leaves them; a run that failed has times and counters, never a speed.
 */
ys_json *ys_metric_of_run(const ys_json *trial, const struct ys_facts *facts, const struct ys_series_set *series);

/** Stores the metrics of a run, as ys_metric_of_run() made them, together with YS_METRIC_VERSION: as a member
 * `metrics_version`, {value}, which is added to `metrics`. */
ys_status ys_metric_put(struct ys_store *store, int64_t run_id, ys_json *metrics) YS_MUST_CHECK;

/** The speeds of two trials of a study, by their places in its job, one over the other, in the rounds in which both
 * have one: over the part that both runs share, as comparisons take them. `biases`: of each what is left of both
 * warm-ups, as `bias` of struct ys_compare_rule; empty where that cannot be told. Both double, new. */
ys_status ys_metric_rounds_of(struct ys_store *store, int64_t study_id, size_t a, size_t b, struct ys_list *ratios,
                              struct ys_list *biases) YS_MUST_CHECK;

/** How far apart the speed of a trial and that of its runs as a whole lie (docs/proof.md), in the run in which they do
 * most. NaN: nowhere. */
struct ys_apart_speeds {
    double times, steps; /* by how much; and of how many steps, or requests, a run would be to have one speed */
};
/** Of trial `trial` of a stored study. */
ys_status ys_metric_apart_speeds(struct ys_store *store, int64_t study_id, const char *trial,
                                 struct ys_apart_speeds *apart) YS_MUST_CHECK;

/* Of the runs of a study a page draws the curves of so many: of the first trials, and of each the first runs. */
enum { YS_RESULT_DRAWN_TRIALS = 24, YS_RESULT_DRAWN_RUNS = 100 };

enum ys_result_flags {
    YS_RESULT_RUNS = 1, /* with runs_detail: curves, samples, logs */
    YS_RESULT_PAGE = 2, /* with runs_detail of what a page shows: YS_RESULT_DRAWN_RUNS runs, and of others that failed
                           how they ended, without curves */
    /* Which trials are compared; without either as the study's key `comparisons` says. */
    YS_RESULT_AXES = 4, /* along the axes, each with the first */
    YS_RESULT_ALL = 8,  /* all pairs that differ in one factor */
};
struct ys_result;
/** The result of a study (metric/result_document.h), into a zeroed struct. Needs only to read: metrics that are not
 * stored, or were computed by another version of the algorithms, are computed. Takes time and memory about as trials
 * and runs, beside YS_RESULT_ALL. */
ys_status ys_metric_result_load(struct ys_store *store, int64_t study_id, unsigned flags,
                                struct ys_result *result) YS_MUST_CHECK;
/** Of one trial alone, with one metric of ys_metric_infos(), without comparisons, and of its runs, unless
 * that is a time or a speed, nothing else but how they ended: for those who go through many studies. One that the study
 * does not have is no error: the result is of none. */
ys_status ys_metric_result_load_trial(struct ys_store *store, int64_t study_id, const char *trial,
                                      const struct ys_metric_info *metric, struct ys_result *result) YS_MUST_CHECK;

#endif
