/* The result document as the reports see it: trials with names for people, the factors in which they differ, metrics.
 */
#ifndef YS_REPORT_VIEW_H
#define YS_REPORT_VIEW_H

#include "base/buf.h"
#include "base/json.h"
#include "report/label.h"
#include <stdbool.h>
#include <stddef.h>

struct ys_view_trial {
    const ys_json *json; /* borrowed from the result */
    const char *id;      /* "" when the document has none */
    char *framework;     /* "pytorch"; "pytorch@2.13.0" when the study has two versions of it. Clean text, as all that
                            follow */
    char *title;         /* "PyTorch", with the version when the study has two; the name when it has no title */
    char *name;          /* "pytorch, 2 threads": unique in the study */
    const char *status;  /* a run status word */
    int64_t runs, failed;
    bool measured; /* at least one run was ok, so its metrics say something */
    bool no_work;  /* the framework does no work by declaration */
    bool infers;   /* it answered requests, where others trained */
    int group;     /* which framework, counted in order of appearance: its colour */
    int member;    /* which trial of that framework: its dashes */
};

struct ys_view {
    const ys_json *result;
    struct ys_view_trial *trials;
    size_t count;
    ys_json *places; /* {id: place in trials} */
    ys_json *axes;   /* array: names of the factors (not framework) with more than one value or absent in some trial */
    bool many_sections; /* trials come from more than one section */
    int64_t rounds, repeat;
    char
        *unit; /* what a rate counts: "images", as the data sets say; "rows" where they do not, or differ. Clean text */
};

/** `view` borrows from `result`. */
ys_status ys_view_init(struct ys_view *view, const ys_json *result) YS_MUST_CHECK;
void ys_view_fini(struct ys_view *view);

/** Whether some trial answers requests (`infers`), or some trains. */
bool ys_view_has_mode(const struct ys_view *view, bool infers);

/** The trial of that id, NULL when there is none. */
const struct ys_view_trial *ys_view_find(const struct ys_view *view, const char *id);

size_t ys_view_axes(const struct ys_view *view);
const char *ys_view_axis(const struct ys_view *view, size_t index);
/** The value of a factor or key in this trial: factors first, then keys, then options; NULL when it has none. */
const ys_json *ys_view_value(const struct ys_view_trial *trial, const char *name);

/** Appends a value: "on" and "off" for booleans, "none" for null, compact JSON for containers. Clean text. */
void ys_view_put_value(struct ys_buf *out, const ys_json *value);
/** Appends "2 threads", "batch 64", "compile on": the factor's last dotted part and the value. */
void ys_view_put_factor(struct ys_buf *out, const char *name, const ys_json *value);

/** The metric object of a trial; NULL when there is none. */
const ys_json *ys_view_metric(const struct ys_view_trial *trial, const char *name);
/** Its value; NAN when unknown. */
double ys_view_number(const struct ys_view_trial *trial, const char *name);
/** Value and interval of a metric object, for people. */
struct ys_measure ys_view_measure(const ys_json *metric);
/** Its value alone, to three digits: "5.18 ms". */
struct ys_label ys_view_label(const ys_json *metric);
/** Both ends of `object.ci`; NAN when it has none. */
void ys_view_interval(const ys_json *object, double *lo, double *hi);

/** What the document calls a metric: "peak memory" for "rss_peak_bytes"; the name itself when unknown. */
const char *ys_view_metric_title(const struct ys_view *view, const char *name);
/** What its ratio says, after "1.93x": "as fast", "the memory"; "its value" when unknown. */
const char *ys_view_ratio_words(const struct ys_view *view, const char *name);
enum ys_kind ys_view_kind(const struct ys_view *view, const char *name);

/** "pass", "weak", "fail", "none". */
const char *ys_view_verdict(const struct ys_view_trial *trial);
/** " *" for a weak proof, " !" for a failed one, " ?" for none, else "". A trial that was not
 * measured, or that does no work by declaration, has no mark unless its proof failed. */
const char *ys_view_proof_mark(const struct ys_view_trial *trial);

/** Appends why a trial has no numbers, or the runs that failed: "missing: not installed; to get it: yardstick install
 * jax", "2 of 6 runs crashed (train): signal 11". Appends nothing for a trial without failure. Clean text. */
void ys_view_put_failure(struct ys_buf *out, const struct ys_view_trial *trial);

/** Appends "builtin vs pytorch, 2 threads", or the two ids when a trial is not in the document. */
void ys_view_put_pair(struct ys_buf *out, const struct ys_view *view, const ys_json *comparison);

/** Appends one environment difference, a string or an object, as a sentence part. Clean text. */
void ys_view_put_difference(struct ys_buf *out, const ys_json *difference);

/** The keys whose value is the same in all trials, those that describe the work first: a new object {key: value}. */
ys_status ys_view_common(const struct ys_view *view, ys_json **common) YS_MUST_CHECK;

/** Every metric name that occurs in a trial, in order of first appearance: a new array of strings. */
ys_status ys_view_metric_names(const struct ys_view *view, ys_json **names) YS_MUST_CHECK;

#endif
