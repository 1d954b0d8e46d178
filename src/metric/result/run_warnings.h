/* What is to be known of a trial's runs before its numbers are believed. Of this room alone. */
#ifndef YS_METRIC_RESULT_RUN_WARNINGS_H
#define YS_METRIC_RESULT_RUN_WARNINGS_H

#include "metric/result/wire_traffic.h"
#include "metric/study_view.h"

/** The sentences, a new array; and in *warned, struct ys_result_warned, of how many runs each kind is true. */
ys_json *ys_warnings_find(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial,
                          struct ys_list *warned);

/** Adds a sentence of the first run in which less, or more, went through interfaces than the way to exchange gradients
 * needs. */
void ys_warn_of_wire(ys_json *array, const struct ys_metric_view_trial *trial, enum ys_wire_fault fault);

/** Rounds in which a trial that takes part has to run: none for one that could not when the study began; and those of
 * them of which it has no run that counts. */
int64_t ys_warnings_planned(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial);
int64_t ys_warnings_lacking(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial);

#endif
