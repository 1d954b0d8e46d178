/* The trials of a study by the work that they do, and the best of each such group. Of this room alone. */
#ifndef YS_METRIC_COMPARE_SAME_WORK_H
#define YS_METRIC_COMPARE_SAME_WORK_H

#include "metric/result_document.h"
#include "metric/study_view.h"

#define YS_GROUP_NO_BEST SIZE_MAX

struct ys_work_group {
    size_t *trials; /* places in the job, ascending; borrowed from the groups */
    size_t count;
    size_t best; /* of them the one of the highest median speed, of those from which something may be concluded */
};

struct ys_groups {
    struct ys_work_group *items; /* by their first trials */
    size_t count;
    size_t *trials; /* all of them */
};

/** Trials of the same work, in whatever section of the job: alike in what they compute (ys_settings_work()), and in
 * whether they do any. Each trial is in one group. The view's trials have their metrics. */
void ys_groups_find(const struct ys_metric_view *view, struct ys_groups *groups);
void ys_groups_fini(struct ys_groups *groups);

/** New: struct ys_result_group. */
struct ys_list ys_groups_list(const struct ys_metric_view *view, const struct ys_groups *groups);

#endif
