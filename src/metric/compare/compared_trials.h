/* Which trials of a study are compared with which. Of this room alone. */
#ifndef YS_METRIC_COMPARE_COMPARED_TRIALS_H
#define YS_METRIC_COMPARE_COMPARED_TRIALS_H

#include "metric/compare/same_work.h"

/** A pair that is to be compared: places of its trials in the job. */
struct ys_chosen {
    size_t a, b;
    char *varies; /* owned: the factor in which they differ; of several their names with commas between, and "section"
                     where they are of two */
    bool along;   /* one factor alone, with the first along it: chosen before anything was measured */
    int best;     /* enum ys_pair_best: which of them is the best of the group of both */
    size_t group; /* where one is: its place among the groups */
};

struct ys_choice {
    struct ys_chosen *pairs;
    size_t count, capacity;
};

/** The pairs of a study whose trials have their metrics, in the order of docs/results.md: pairs that differ in
 * `framework` first; a is the later trial of the job, b the earlier, but of a pair that differs in `ranks` b is that of
 * one process.
 *
 * Along each factor: trials that differ in it alone are compared with the first of them in the order of the job with
 * which comparing can say something, that is one that has a successful run and a speed, does work, and whose proof did
 * not fail; along `ranks` with that of one process, where it can. With `all` each of them is compared with each. And in
 * each group of the same work all others are compared with its best. So there are about as many pairs as trials times
 * factors. */
void ys_choice_make(const struct ys_metric_view *view, const struct ys_groups *groups, bool all,
                    struct ys_choice *choice);
void ys_choice_fini(struct ys_choice *choice);

bool ys_pair_is_of_one_section(const struct ys_trial_record *a, const struct ys_trial_record *b);
/** The factor in which two trials of one section differ; NULL when they differ in none, in several, or are of two
 * sections. An option of one framework alone ("opt.pytorch.compile") does not count where the frameworks differ. */
const char *ys_pair_varies(const struct ys_trial_record *a, const struct ys_trial_record *b);

#endif
