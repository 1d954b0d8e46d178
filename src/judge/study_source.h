/* One side of a judgement across studies: a stored study, one trial of it, or a study in a file that `export` wrote. */
#ifndef YS_JUDGE_STUDY_SOURCE_H
#define YS_JUDGE_STUDY_SOURCE_H

#include "metric/metric.h"
#include "metric/result_document.h"
#include "store/store.h"

struct ys_side {
    char *word; /* as it was named */
    struct ys_result result;
    const ys_json *anchors; /* array of struct ys_anchor, borrowed from the result; NULL */
    char *store;            /* absolute folder of the results that it is stored in; NULL: of a file */
    int64_t trial;          /* its number inside the study; YS_FIELD_NONE: all */
};

/** `word`: a file's path, or what ys_store_select() takes of the results in `results`. `side` is overwritten.
 *   YS_ENOTFOUND  neither
 *   YS_EFORMAT    the file is no export, or is cut short */
ys_status ys_side_load(const char *results, const char *word, struct ys_side *side) YS_MUST_CHECK;
/** The same of a baseline, which a name or a date that several studies have is not: YS_EINVAL lists them. */
ys_status ys_side_load_single(const char *results, const char *word, struct ys_side *side) YS_MUST_CHECK;
/** A stored study; `trial_id` 0: all of its trials. */
ys_status ys_side_load_stored(struct ys_store *store, int64_t study_id, int64_t trial_id, const char *word,
                              struct ys_side *side) YS_MUST_CHECK;
/** Of a stored study nothing but the trial of that name, which it need not have, with that metric. */
ys_status ys_side_load_one(struct ys_store *store, int64_t study_id, const char *trial,
                           const struct ys_metric_info *metric, struct ys_side *side) YS_MUST_CHECK;
void ys_side_fini(struct ys_side *side); /* a zeroed one is fine */

#endif
