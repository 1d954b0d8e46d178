/* A result as the reports see it: trials with names for people, the factors in which they differ, metrics, comparisons.
 * Texts that are not said to be clean are as others wrote them; what the result lacks is NULL, NaN, YS_FIELD_NONE or
 * YS_NAME_NONE. */
#ifndef YS_REPORT_VIEW_VIEW_H
#define YS_REPORT_VIEW_VIEW_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/modes.h"
#include "metric/result_document.h"
#include "report/label.h"
#include "stat/compare.h"
#include "store/stored_study.h"
#include <stdbool.h>
#include <stddef.h>

struct ys_view_framework {
    const char *name; /* as the trial asks for it, where nothing was found */
    const char *version, *title;
    bool no_work, emulated;
};

struct ys_view_proof {
    int verdict; /* enum ys_proof_verdict */
    const char *reason;
    const ys_json *checks, *diagnosis, *audit;
};

struct ys_view_trial {
    const struct ys_result_trial *told;
    ys_json *keys; /* owned; told's as JSON */
    struct ys_view_framework found;
    struct ys_view_proof proof;
    const char *id;
    char *framework; /* "pytorch"; "pytorch@2.13.0" when the study has two versions of it. Clean text, as all that
                        follow */
    char *title;     /* "PyTorch", with the version when the study has two; the name when it has no title */
    char *name;      /* "pytorch, 2 threads": unique in the study */
    enum ys_run_status status; /* skipped, when the document has none */
    int64_t runs, failed;
    bool measured; /* at least one run was ok, so its metrics say something */
    bool no_work;  /* the framework does no work by declaration */
    int group;     /* which framework, counted in order of appearance */
    int member;    /* which trial of that framework */
    /* How its curves are drawn: each framework in a colour of its own, its trials by their dashes; the trials of one
     * framework alone in colours. */
    int hue, dashes;
};

/** A metric of a trial. */
struct ys_view_metric {
    bool known; /* there is such a metric, as a value or as a reason */
    double value;
    bool interval;        /* lo and hi are told */
    double lo, hi, level; /* of that interval */
    int64_t n;
    enum ys_kind kind;
    const char *reason;                /* why it has no value */
    const struct ys_metric_info *info; /* NULL: there is none of that name */
    const double *by_round;            /* NaN where it has none */
    size_t rounds;
    size_t lost;  /* of the n those that did not meet their target, whose value is INFINITY */
    double limit; /* which is more than this */
};

/** A network on a data set. */
struct ys_view_work {
    const char *model, *data, *unit;
    double parameters, multiply_adds, classes, train_count, test_count;
    const char *left_out;    /* of a folder of images: what lies there and is none of its rows */
    const ys_json *verified; /* whether its data are; null of a folder of images */
};

/** Trials that do the same work. */
struct ys_view_group {
    const struct ys_view_trial *
        *trials;                      /* the fastest first; at the end, in the order of the job, those without speed */
    size_t count, measured;           /* how many of them have a speed */
    const struct ys_view_trial *best; /* the fastest of those of which something may be said; NULL: there is none */
};

struct ys_view {
    int64_t id; /* of the study; 1 when unknown */
    const struct ys_result_study *study;
    struct ys_view_work *works;
    size_t work_count;
    const struct ys_result_harness *harness;
    const ys_json *host, *host_warnings;
    const struct ys_list *told_groups, *differences; /* struct ys_result_group, struct ys_difference */
    const struct ys_list *transfers;                 /* struct ys_result_transfer */
    struct ys_view_trial *trials;
    size_t count;
    size_t frameworks; /* groups of trials that do work; where none does, of all */
    bool works_at_all; /* some trial does work */
    const struct ys_result_comparison *comparisons;
    size_t comparison_count;
    struct ys_view_group *groups; /* of a document of earlier versions, which has none: all of its trials are one */
    size_t group_count;
    ys_json *places; /* {id: place in trials} */
    ys_json *axes;   /* array: names of the factors (not framework) with more than one value or absent in some trial */
    bool many_sections; /* trials come from more than one section */
    int64_t rounds, repeat;
    char
        *unit; /* what a rate counts: "images", as the data sets say; "rows" where they do not, or differ. Clean text */
};

/** `view` borrows from `result`. */
void ys_view_init(struct ys_view *view, const struct ys_result *result);
void ys_view_fini(struct ys_view *view);

/* Of view_read.c: */

/** Fills all that is told: `trials` as far as they are, and the rest but `places`, `axes` and what is made of them. */
void ys_view_read(struct ys_view *view, const struct ys_result *result);
/** `text`, or `fallback` for NULL. */
const char *ys_view_or(const char *text, const char *fallback);

/** Whether it was measured, has work to do, and was not found to do other work. */
bool ys_view_counts(const struct ys_view_trial *trial);

/** Whether some trial is of it. */
bool ys_view_has_mode(const struct ys_view *view, enum ys_mode mode);

/** The trial of that id, NULL when there is none. */
const struct ys_view_trial *ys_view_find(const struct ys_view *view, const char *id);

size_t ys_view_axes(const struct ys_view *view);
const char *ys_view_axis(const struct ys_view *view, size_t index);
/** What a factor is called in a head: what stands behind the last dot of its key. */
const char *ys_view_short_axis(const char *axis);
/** The value of a factor or key in this trial: factors first, then keys, then options; NULL when it has none. */
const ys_json *ys_view_value(const struct ys_view_trial *trial, const char *name);

enum ys_view_member { YS_VIEW_FACTORS, YS_VIEW_KEYS };
/** Whether every trial has that value of a factor, or of a key. */
bool ys_view_is_common(const struct ys_view *view, enum ys_view_member of, const char *name, const ys_json *value);

/** Appends a value: "on" and "off" for booleans, "none" for null, compact JSON for containers. Clean text. */
void ys_view_put_value(struct ys_buf *out, const ys_json *value);
/** Whether it is known that the trial's threads did not share its work. */
bool ys_view_is_alone(const struct ys_view_trial *trial);
/** Appends "2 threads", "batch 64", "compile on": the factor's last dotted part and the value; "2 threads asked for"
 * of a trial in which one did the work. */
void ys_view_put_factor(struct ys_buf *out, const struct ys_view_trial *trial, const char *name, const ys_json *value);
/** What stands before that: "on" of ranks, and of threads that share the work; else "with". */
const char *ys_view_joint(const struct ys_view_trial *trial, const char *name);

/** A metric of a trial. */
struct ys_view_metric ys_view_metric(const struct ys_view_trial *trial, const char *name);
/** Its value; NAN when unknown. */
double ys_view_number(const struct ys_view_trial *trial, const char *name);
/** Whether some trial has a value of it. */
bool ys_view_is_known(const struct ys_view *view, const char *name);
/** Value and interval, for people. */
struct ys_measure ys_view_measure(struct ys_view_metric metric);
/** Its value alone, to three digits: "5.18 ms". */
struct ys_label ys_view_label(struct ys_view_metric metric);
/** Its value of a round; NaN where it has none. */
double ys_view_round(struct ys_view_metric metric, size_t round);
/** Whether the two have the same values round by round, and some. */
bool ys_view_same_values(struct ys_view_metric a, struct ys_view_metric b);

/** What a metric is called: "peak memory" for "rss_peak_bytes"; the name itself when unknown. */
const char *ys_view_metric_title(const char *name);
/** What heads a column of it, as its `.metric` file says: "Step time"; narrow: "step\ntime". Its name, when unknown. */
struct ys_label ys_view_metric_head(const char *name, bool narrow);
/** What its file calls a metric that is a part of a time: "waiting for data"; and what heads a column of that part:
 * "Waiting for data"; narrow: "data\nwait". Its name, when unknown. */
const char *ys_view_part(const char *name);
struct ys_label ys_view_part_head(const char *name, bool narrow);
/** What its ratio says, after "1.93x": "as fast", "the memory"; "its value" when unknown. */
const char *ys_view_ratio_words(const char *name);
enum ys_kind ys_view_kind(const char *name);

/** Of its proof; none, where the document has no word for it. */
enum ys_proof_verdict ys_view_verdict(const struct ys_view_trial *trial);
/** The word for the verdict of a comparison; "unclear" where the document has none. */
const char *ys_view_verdict_word(const struct ys_result_comparison *comparison);
/** " *" for a weak proof, " !" for a failed one, " ?" for none, " ~" where a check of its runs was not made or its
 * speed is known within bounds alone (`doubts`), else "". A trial that was not measured, or that does no work by
 * declaration, has no mark unless its proof failed. */
const char *ys_view_proof_mark(const struct ys_view_trial *trial);

/** Appends why a trial has no numbers, or the runs that failed: "missing: not installed; to get it: `yardstick install
 * jax", "2 of 6 runs crashed (train): signal 11". Appends nothing for a trial without failure. Clean text. */
void ys_view_put_failure(struct ys_buf *out, const struct ys_view_trial *trial);
/** Why a trial without failure has no numbers. */
const char *ys_view_no_run(const struct ys_view_trial *trial);

/** Appends "builtin vs pytorch, 2 threads", or the two ids when a trial is not in the document. */
void ys_view_put_pair(struct ys_buf *out, const struct ys_view *view, const struct ys_result_comparison *comparison);

/** Appends "PyTorch, batch 64": what a trial is called without the factor `without`. */
void ys_view_put_name_without(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                              const char *without);

/** Appends "PyTorch on 2 threads with batch 64": its title, and its factors in a sentence, but for those in which all
 * of `group` (NULL: no trials) are alike. */
void ys_view_put_phrase(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                        const struct ys_view_group *group);
/** Whether all of a group have that value of a factor. */
bool ys_view_is_alike(const struct ys_view_group *group, const char *factor);

/** Appends what it says, as a sentence part. Clean text. */
void ys_view_put_difference(struct ys_buf *out, const struct ys_difference *difference);

/** The keys whose value is the same in all trials, those that describe the work first: a new object {key: value}. */
ys_json *ys_view_common(const struct ys_view *view);

#endif
