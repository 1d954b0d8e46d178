/* Sentences and lists that the text table, the page and the Markdown share. All of them append clean text on one line.
 */
#ifndef YS_REPORT_SHARED_SENTENCES_H
#define YS_REPORT_SHARED_SENTENCES_H

#include "metric/metric.h"
#include "report/view/view.h"

/** A part of wall_s, as its metric's file names it. */
struct ys_time_part {
    const char *metric, *head, *title;
};
enum { YS_TIME_PARTS = 11 };
/** Part k, in the order in which they happen. */
struct ys_time_part ys_time_part(size_t k);
/** Which parts some trial has: training and inference do not have the same. */
struct ys_section_parts {
    bool has[YS_TIME_PARTS];
};
struct ys_section_parts ys_section_find_parts(const struct ys_view *view);

/** What stands behind the rate and its interval in tables of results. `metrics` get the names of those that this study
 * has: those of training where some trial trains, some where a trial has a value. How many there are. */
size_t ys_section_columns(const struct ys_view *view, const char *metrics[YS_METRIC_COLUMNS]);

/** The percentiles of latency. */
enum { YS_LATENCY_PARTS = 5 };
extern const char *const ys_latency_parts[YS_LATENCY_PARTS]; /* metrics */

/** "builtin and PyTorch train lenet on digits". */
void ys_section_title(struct ys_buf *out, const struct ys_view *view);
/** "Study first: done, 6 of 6 rounds, begun 2026-11-21T04:00:00Z". */
void ys_section_study(struct ys_buf *out, const struct ys_view *view);
/** "Work: lenet on digits (3.27 M parameters, 13.9 M multiply-adds a row; data verified)". */
void ys_section_work(struct ys_buf *out, const struct ys_view *view);
/** "The same in all trials: batch 64, optimizer sgd, ...": the keys that a reader looks for first. */
void ys_section_same(struct ys_buf *out, const struct ys_view *view);
/** "Host: Xeon ..., 2 CPUs, 4.1 GB memory": what the host block says of itself. */
void ys_section_host(struct ys_buf *out, const struct ys_view *view);
/** "Measuring took 0.3 % of a CPU, ...". */
void ys_section_harness(struct ys_buf *out, const struct ys_view *view);

/** How one comparison reads: "1.93x" and "1.85 to 2.01", or for differences (scale "difference", of shares) "+0.21
 * points" and
 * "-0.05 to 0.40"; "" where there is none. */
struct ys_effect {
    struct ys_label value, range;
};
struct ys_effect ys_section_effect(const struct ys_result_comparison *comparison);
/** The smallest difference that a comparison could have shown: "3.1 %", "0.50 points", "above 2x", "" when unknown. */
struct ys_label ys_section_smallest(const struct ys_result_comparison *comparison);
/** "Brackets hold the rank interval of the median, at a level of 98.4 %." Nothing without an interval. */
void ys_section_level(struct ys_buf *out, const struct ys_view *view);

/** "1.93x as fast (1.85 to 2.01, 6 rounds): better". */
void ys_section_comparison(struct ys_buf *out, const struct ys_result_comparison *comparison);
/** Appends what bounds it: over which part both were compared, what may be left of warm-up there, whether its rounds
 * hang together. Nothing of a comparison that is invalid. Clean text. */
void ys_section_bounds(struct ys_buf *out, const struct ys_result_comparison *comparison);
/** "12300 against 6370"; nothing when a value is unknown. */
void ys_section_base(struct ys_buf *out, const struct ys_result_comparison *comparison);
/** "Smallest difference that could have been shown: 3.1 % to 5.0 %; same means within 2.0 %." Nothing when unknown. */
void ys_section_resolution(struct ys_buf *out, const struct ys_view *view, const char *metric);
/** What yardstick-feeder took for a trial, and how long it was waited for; nothing where there was none. */
void ys_section_feeder(struct ys_buf *out, const struct ys_view_trial *trial);
/** The metrics that are compared, speed first: a new array of strings. */
ys_json *ys_section_compared(const struct ys_view *view);

/** What sentences are about: the page has each where its question stands. */
enum ys_words_part {
    YS_WORDS_STATE = 1, /* whether the study is complete */
    YS_WORDS_SPEED = 2, /* the answer (answer.h) */
    YS_WORDS_FAILED = 4,
    YS_WORDS_ANSWERS = 8, /* with the same weights */
    YS_WORDS_PROOFS = 16,
    YS_WORDS_IDLE = 32, /* who does no work, data that mean nothing */
    YS_WORDS_DOUBTS = 64,
    YS_WORDS_DISTURBED = 128,
    YS_WORDS_ROUNDS = 256,  /* too few of them */
    YS_WORDS_REMARKS = 512, /* what has tables or lists of its own elsewhere, a sentence for each kind */
    YS_WORDS_FEW = 1024,    /* three names in a sentence, four sentences of a sort, before some the mark of a name */
    YS_WORDS_ALL = 511,
    YS_WORDS_BRIEF = 2047 - YS_WORDS_STATE - YS_WORDS_SPEED - YS_WORDS_ROUNDS,
};
/** The result in plain sentences, as ys_report_words(): those parts of it. */
ys_json *ys_words(const struct ys_view *view, unsigned parts);

#endif
