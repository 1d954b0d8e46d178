#include "judge/history.h"

#include "base/mem.h"
#include "base/rng.h"
#include "judge/judge_parts.h"
#include "metric/metric.h"
#include "probe/anchor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERMUTATIONS = 999 };

/* The largest over all splits of |rank sum before it, less what is expected|, in its own standard deviation; *split is
 * how many points lie before it. Splits that leave fewer than two points on a side are none. */
static double largest(const double *rank, size_t n, size_t *split)
{
    double sum = 0, most = 0;
    for (size_t k = 1; k + 1 < n; k++) {
        sum += rank[k - 1];
        double before = (double)k, after = (double)(n - k);
        double score = fabs(sum) / sqrt(before * after * ((double)n + 1) / 12);
        if (k >= 2 && score > most) {
            most = score;
            *split = k;
        }
    }
    return most;
}

/* Ranks of the values less their mean; equal values share theirs. */
static void rank_values(const double *values, size_t n, double *rank)
{
    for (size_t i = 0; i < n; i++) {
        rank[i] = 0;
        for (size_t k = 0; k < n; k++)
            rank[i] += (values[k] < values[i]) - (values[k] > values[i]);
        rank[i] /= 2;
    }
}

/* Whether at most YS_HISTORY_LEVEL of the orders of the ranks have as large a statistic. */
static bool is_rare(double *rank, size_t n, double found)
{
    struct ys_rng rng;
    size_t split, as_large = 1; /* the order that is there is one of them */
    ys_rng_init(&rng, 1, "history");
    for (int p = 0; p < PERMUTATIONS; p++) {
        for (size_t i = n - 1; i > 0; i--) {
            size_t k = (size_t)ys_rng_below(&rng, (uint32_t)i + 1);
            double kept = rank[i];
            rank[i] = rank[k];
            rank[k] = kept;
        }
        as_large += largest(rank, n, &split) >= found - 1e-12;
    }
    return (double)as_large / (PERMUTATIONS + 1) <= YS_HISTORY_LEVEL;
}

/* A stretch of points, and how far each may lie down and up. */
struct point_range {
    const double *values, *low, *high;
    size_t n;
};

/* Whether the points are rarely so apart by chance, and by more than the margin. `scratch` has room for n. */
static bool is_change(const double *values, size_t n, size_t split, double found, double margin, double *scratch)
{
    rank_values(values, n, scratch);
    if (found <= 0 || !is_rare(scratch, n, found))
        return false;
    double before = ys_stat_median(values, split, scratch), after = ys_stat_median(values + split, n - split, scratch);
    return fabs(after - before) > margin * fmin(fabs(before), fabs(after));
}

/* The same of the points at those ends where both parts are closest, which must still lie the same way. */
static bool is_change_at_worst(const struct point_range *of, size_t split, double margin, double *scratch)
{
    double *worst = scratch + of->n;
    const bool rises =
        ys_stat_median(of->values + split, of->n - split, scratch) > ys_stat_median(of->values, split, scratch);
    for (size_t i = 0; i < of->n; i++)
        worst[i] = (i < split) == rises ? of->high[i] : of->low[i];
    double before = ys_stat_median(worst, split, scratch),
           after = ys_stat_median(worst + split, of->n - split, scratch);
    size_t other = 0;
    rank_values(worst, of->n, scratch);
    return (after > before) == rises &&
           is_change(worst, of->n, split, largest(scratch, of->n, &other), margin, scratch);
}

/* Where a stretch changes; 0: nowhere. `scratch` has room for 2 n. */
static size_t change_of(const struct point_range *of, double margin, double *scratch)
{
    size_t split = 0;
    if (of->n < YS_HISTORY_POINTS)
        return 0;
    rank_values(of->values, of->n, scratch);
    double found = largest(scratch, of->n, &split);
    return is_change(of->values, of->n, split, found, margin, scratch) && is_change_at_worst(of, split, margin, scratch)
               ? split
               : 0;
}

void ys_history_changes(const double *values, const double *low, const double *high, size_t n, double margin,
                        bool *change)
{
    double *scratch = ys_alloc(2 * n + 1, sizeof *scratch);
    size_t from = 0;
    memset(change, 0, n * sizeof *change);
    /* Each stretch between two changes, from the first on: one that splits is looked at again from where it began. */
    while (from < n) {
        size_t end = from + 1;
        while (end < n && !change[end])
            end++;
        const struct point_range stretch = {values + from, (low ? low : values) + from, (high ? high : values) + from,
                                            end - from};
        size_t split = change_of(&stretch, margin, scratch);
        if (split)
            change[from + split] = true;
        else
            from = end;
    }
    ys_free(scratch);
}

struct listed {
    int64_t id;
    const char *name;
};
static const struct ys_field listed_fields[] = {
    YS_FIELD(struct listed, id, YS_FIELD_INT, NULL, 0, "of a study"),
    YS_FIELD(struct listed, name, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "its"),
};
static const struct ys_record listed_record = YS_RECORD("study", struct listed, listed_fields);

/* Against the anchors of the first study that has some; *first (kept by the caller) is that one's JSON. */
static void add_anchor(const struct ys_side *side, ys_json **first, struct ys_history_point *point)
{
    const ys_json *anchors = side->anchors;
    struct ys_anchor_range then, now;
    struct ys_interval ends = {.known = true};
    double range[2];
    if (!*first && ys_json_size(anchors))
        *first = ys_json_copy(anchors);
    ys_anchor_range(*first, &then);
    ys_anchor_range(anchors, &now);
    if (!ys_anchor_compare(&then, &now, range))
        return;
    ends.lo = range[0];
    ends.hi = range[1];
    ys_judge_set_ends(&point->anchor, &ends);
}

/* Its value at both ends of its runs, of those of which is known how much the machine took. */
static void bound_point(const struct ys_trial_metric *of, size_t metric, struct ys_history_point *point)
{
    struct ys_ends ends;
    size_t kept = 0;
    double *low = ys_alloc(3 * of->rounds + 1, sizeof *low);
    double *high = low + of->rounds;
    for (size_t r = 0; of->n && r < of->rounds; r++) {
        ys_judge_ends(of, metric, r, &ends);
        if (!isfinite(of->by_round[r]) || ends.untold)
            continue;
        low[kept] = ends.low;
        high[kept++] = ends.high;
    }
    const bool tells = kept > 0 && (of->n - kept) * 3 <= of->n;
    point->low = tells ? ys_stat_median(low, kept, high + of->rounds) : NAN;
    point->high = tells ? ys_stat_median(high, kept, high + of->rounds) : NAN;
    ys_free(low);
}

static void add_point(const struct ys_side *side, const struct ys_result_trial *trial, size_t metric, ys_json **first,
                      struct ys_history *history)
{
    const struct ys_trial_metric *of = &trial->values[metric];
    struct ys_history_point *point = ys_list_add(&ys_history_point_record, &history->points);
    point->study = side->result.study.id;
    point->started = ys_strdup(side->result.study.started);
    point->version = ys_strdup(trial->framework && trial->framework->version ? trial->framework->version : "");
    point->value = of->n ? of->summary.median : NAN;
    point->n = (int64_t)of->n;
    if (of->n && of->summary.interval.known)
        ys_judge_set_ends(&point->ci, &of->summary.interval);
    bound_point(of, metric, point);
    add_anchor(side, first, point);
}

static ys_status add_study(struct ys_store *store, int64_t id, const struct ys_metric_info *info, ys_json **first,
                           struct ys_history *history)
{
    struct ys_side side;
    size_t count;
    const size_t metric = (size_t)(info - ys_metric_infos(&count));
    YS_TRY(ys_side_load_one(store, id, history->trial, info, &side));
    if (side.result.trial_count)
        add_point(&side, &side.result.trials[0], metric, first, history);
    ys_side_fini(&side);
    return YS_OK;
}

static ys_status add_studies(struct ys_store *store, int64_t study_id, const struct ys_metric_info *info,
                             struct ys_history *history)
{
    ys_json *studies = NULL, *first = NULL;
    struct listed one, self = {0};
    YS_TRY(ys_store_studies(store, &studies));
    for (size_t i = 0; i < ys_json_size(studies); i++) {
        ys_record_glance(&listed_record, ys_json_at(studies, i), &one);
        if (one.id == study_id)
            self = one;
    }
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < ys_json_size(studies); i++) {
        ys_record_glance(&listed_record, ys_json_at(studies, i), &one);
        if (one.name && self.name && strcmp(one.name, self.name) == 0)
            status = add_study(store, one.id, info, &first, history);
    }
    ys_json_free(studies);
    ys_json_free(first);
    return status;
}

static int by_date(const void *a, const void *b)
{
    const struct ys_history_point *one = a, *other = b;
    int order = strcmp(one->started ? one->started : "", other->started ? other->started : "");
    return order ? order : (one->study > other->study) - (one->study < other->study);
}

/* Points without a value, or of too few runs without a doubt, tell nothing of changes. */
static void find_changes(struct ys_history *history, double margin)
{
    struct ys_history_point *points = history->points.items;
    size_t n = 0, count = history->points.count;
    double *values = ys_alloc(3 * count + 1, sizeof *values);
    size_t *place = ys_alloc(count + 1, sizeof *place);
    bool *change = ys_alloc(count + 1, sizeof *change);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(points[i].value) || !isfinite(points[i].low))
            continue;
        values[n] = points[i].value;
        values[count + n] = fmin(points[i].low, points[i].value);
        values[2 * count + n] = fmax(points[i].high, points[i].value);
        place[n++] = i;
    }
    ys_history_changes(values, values + count, values + 2 * count, n, margin, change);
    for (size_t i = 0; i < n; i++)
        points[place[i]].change = change[i];
    ys_free(values);
    ys_free(place);
    ys_free(change);
}

static ys_status load(struct ys_store *store, int64_t study_id, int64_t trial_id, const struct ys_metric_info *info,
                      struct ys_history *history)
{
    struct ys_side side;
    YS_TRY(ys_side_load_stored(store, study_id, trial_id, "", &side));
    size_t place = side.trial == YS_FIELD_NONE ? 0 : (size_t)side.trial;
    double margin = side.result.study.margin;
    if (side.result.trial_count > place)
        history->trial = ys_strdup(side.result.trials[place].id);
    ys_side_fini(&side);
    history->schema = ys_strdup(YS_HISTORY_SCHEMA);
    history->metric = ys_strdup(info->name);
    history->unit = ys_strdup(info->unit);
    YS_TRY(add_studies(store, study_id, info, history));
    if (history->points.count)
        qsort(history->points.items, history->points.count, sizeof(struct ys_history_point), by_date);
    find_changes(history, margin);
    return YS_OK;
}

ys_status ys_history_load(struct ys_store *store, int64_t study_id, int64_t trial_id, const char *metric,
                          struct ys_history *history)
{
    const struct ys_metric_info *info;
    ys_record_init(&ys_history_record, history);
    ys_status status = ys_metric_named(metric, &info);
    if (status != YS_OK)
        return ys_fail_in(status, "--metric=%s", metric);
    status = load(store, study_id, trial_id, info, history);
    if (status != YS_OK)
        ys_record_fini(&ys_history_record, history);
    return status;
}
