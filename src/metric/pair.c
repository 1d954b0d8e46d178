#include "metric/pair.h"

#include "base/mem.h"
#include "metric/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const compared[] = {"rate_per_s", "step_s",  "latency_p50_s", "latency_p99_s", "accuracy",
                                       "wall_s",     "start_s", "cpu_s",         "rss_peak_bytes"};
enum { COMPARED = sizeof compared / sizeof compared[0] };

static bool counts(const char *factor, bool frameworks_differ)
{
    return !frameworks_differ || strncmp(factor, "opt.", 4) != 0;
}

const char *ys_pair_varies(const ys_json *a, const ys_json *b)
{
    if (strcmp(ys_json_get_text(a, "section", ""), ys_json_get_text(b, "section", "")) != 0)
        return NULL;
    const ys_json *of_a = ys_json_get(a, "factors"), *of_b = ys_json_get(b, "factors");
    bool frameworks = !ys_json_equal(ys_json_get(of_a, "framework"), ys_json_get(of_b, "framework"));
    const char *varies = NULL;
    int differences = 0;
    for (void *it = ys_json_iter(of_a); it; it = ys_json_next(of_a, it)) {
        const char *factor = ys_json_iter_key(it);
        const ys_json *other = ys_json_get(of_b, factor);
        if (counts(factor, frameworks) && (!other || !ys_json_equal(ys_json_iter_value(it), other))) {
            varies = factor;
            differences++;
        }
    }
    for (void *it = ys_json_iter(of_b); it; it = ys_json_next(of_b, it)) {
        const char *factor = ys_json_iter_key(it);
        if (counts(factor, frameworks) && !ys_json_get(of_a, factor)) {
            varies = factor;
            differences++;
        }
    }
    return differences == 1 ? varies : NULL;
}

/* The last attempt of `round` in which both succeeded. `from` is a's run of it. */
static const struct ys_metric_view_run *partner(const struct ys_metric_view_run *from,
                                                const struct ys_metric_view_trial *b)
{
    for (size_t i = 0; i < b->run_count; i++) {
        const struct ys_metric_view_run *run = &b->runs[i];
        if (run->ok && run->round == from->round && run->attempt == from->attempt)
            return run;
    }
    return NULL;
}

struct matched {
    double *a, *b;
    size_t n;
    int64_t last_round;
};

/* Values of `name` round by round; of several matched attempts of one round the last. */
static ys_status match(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, const char *name,
                       struct matched *rounds)
{
    *rounds = (struct matched){ys_alloc(a->run_count, sizeof(double)), ys_alloc(a->run_count, sizeof(double)), 0, -1};
    if (!rounds->a || !rounds->b)
        return ys_out_of_memory();
    for (size_t i = 0; i < a->run_count; i++) {
        const struct ys_metric_view_run *run = &a->runs[i], *other = run->ok ? partner(run, b) : NULL;
        if (!other || isnan(ys_metric_view_value(run, name)) || isnan(ys_metric_view_value(other, name)))
            continue;
        if (rounds->n > 0 && rounds->last_round == run->round)
            rounds->n--;
        rounds->a[rounds->n] = ys_metric_view_value(run, name);
        rounds->b[rounds->n++] = ys_metric_view_value(other, name);
        rounds->last_round = run->round;
    }
    return YS_OK;
}

/* Why nothing may be concluded from these two trials; false when something may. */
static bool is_invalid(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, char *reason,
                       size_t size)
{
    const struct ys_metric_view_trial *const both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const struct ys_metric_view_trial *trial = both[i];
        if (trial->no_work)
            snprintf(reason, size, "%s does no work", trial->id);
        else if (trial->failed == trial->counted)
            snprintf(reason, size, "no run of %s succeeded: %s", trial->id, trial->status);
        else if (strcmp(trial->verdict, "none") == 0)
            snprintf(reason, size, "there is no proof that %s does the same work", trial->id);
        else if (strcmp(trial->verdict, "pass") != 0 && strcmp(trial->verdict, "weak") != 0)
            snprintf(reason, size, "the proof that %s does the same work failed", trial->id);
        else
            continue;
        return true;
    }
    return false;
}

/* Whether the two have the defaults of different frameworks, or for different data sets: then the time that one takes
 * says nothing against that of the other. Accuracy is that on the same test rows whatever was trained. */
static bool is_other_work(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, char *reason,
                          size_t size)
{
    const ys_json *of_a = ys_json_get(a->json, "keys"), *of_b = ys_json_get(b->json, "keys");
    const char *own_a = ys_json_get_text(of_a, "own_of", ""), *own_b = ys_json_get_text(of_b, "own_of", "");
    const char *data_a = ys_json_get_text(of_a, "own_data", ""), *data_b = ys_json_get_text(of_b, "own_data", "");
    if (strcmp(own_a, own_b) == 0 && strcmp(data_a, data_b) == 0)
        return false;
    snprintf(reason, size, "different work: the defaults of %s for %s against those of %s for %s", own_a, data_a, own_b,
             data_b);
    return true;
}

static double median_of(const ys_json *metrics, const char *name)
{
    return ys_json_get_number(ys_json_get(metrics, name), "value", NAN);
}

struct pair {
    const struct ys_metric_view_trial *a, *b;
    const ys_json *a_metrics, *b_metrics; /* of the trials */
    const char *varies;
    double margin;
};

static ys_status judge(const struct pair *pair, const struct ys_metric_info *info, double margin,
                       struct ys_comparison *found)
{
    struct matched rounds;
    bool fraction = strcmp(info->name, "accuracy") == 0;
    ys_status status = match(pair->a, pair->b, info->name, &rounds);
    if (status == YS_OK && fraction)
        status = ys_compare_difference(rounds.a, rounds.b, rounds.n, info->better, margin, found);
    else if (status == YS_OK)
        status = ys_compare_ratio(rounds.a, rounds.b, rounds.n, info->better, margin, found);
    ys_free(rounds.a);
    ys_free(rounds.b);
    return status;
}

static ys_status compare_one(const struct pair *pair, const char *name, ys_json *comparisons)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    bool fraction = strcmp(name, "accuracy") == 0;
    double margin = fraction ? YS_METRIC_ACCURACY_MARGIN : pair->margin;
    char reason[400];
    bool invalid = is_invalid(pair->a, pair->b, reason, sizeof reason) ||
                   (!fraction && is_other_work(pair->a, pair->b, reason, sizeof reason));
    struct ys_comparison found;
    YS_TRY(judge(pair, info, margin, &found));
    if (invalid)
        found = (struct ys_comparison){found.n, NAN, {false, NAN, NAN, NAN}, NAN, YS_VERDICT_INVALID, reason};
    ys_json *object = ys_json_object();
    ys_status status = YS_OK;
    ys_put_text(&status, object, "metric", name);
    ys_put_text(&status, object, "a", pair->a->id);
    ys_put_text(&status, object, "b", pair->b->id);
    ys_put_text(&status, object, "varies", pair->varies);
    ys_put_text(&status, object, "scale", fraction ? "difference" : "ratio");
    ys_put_real(&status, object, "ratio", fraction ? NAN : found.value);
    ys_put_real(&status, object, "difference", fraction ? found.value : NAN);
    ys_put_interval(&status, object, &found.interval, false);
    ys_put_int(&status, object, "n", (int64_t)found.n);
    ys_put_real(&status, object, "margin", margin);
    ys_put_text(&status, object, "verdict", ys_verdict_name(found.verdict));
    ys_put_real(&status, object, "resolution", found.resolution);
    ys_put_text(&status, object, "reason", found.reason);
    ys_put_real(&status, object, "a_value", median_of(pair->a_metrics, name));
    ys_put_real(&status, object, "b_value", median_of(pair->b_metrics, name));
    ys_put_text(&status, object, "unit", info->unit);
    ys_put_text(&status, object, "better", ys_better_name(info->better));
    ys_add(&status, comparisons, object);
    return status;
}

/* Trials that never ran are rows of their own; there is nothing to compare. A metric that neither has neither. */
static ys_status compare_pair(const struct pair *pair, ys_json *comparisons)
{
    if (pair->a->counted == 0 || pair->b->counted == 0)
        return YS_OK;
    bool failed = pair->a->failed == pair->a->counted || pair->b->failed == pair->b->counted;
    for (int m = 0; m < COMPARED; m++) {
        bool known = !isnan(median_of(pair->a_metrics, compared[m])) && !isnan(median_of(pair->b_metrics, compared[m]));
        if (known || (failed && m == 0))
            YS_TRY(compare_one(pair, compared[m], comparisons));
    }
    return YS_OK;
}

static ys_status compare_all(const struct ys_view *view, ys_json *const *metrics, ys_json *comparisons)
{
    double margin = ys_json_get_number(ys_json_get(view->study, "job"), "margin", 0.02);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < view->trial_count; j++) {
            for (size_t i = 0; i < j; i++) {
                struct pair pair = {&view->trials[j], &view->trials[i], metrics[j], metrics[i], NULL, margin};
                pair.varies = ys_pair_varies(pair.a->json, pair.b->json);
                bool first = pair.varies && strcmp(pair.varies, "framework") == 0;
                if (pair.varies && first == (pass == 0))
                    YS_TRY(compare_pair(&pair, comparisons));
            }
        }
    }
    return YS_OK;
}

ys_status ys_pair_comparisons(const struct ys_view *view, ys_json **comparisons)
{
    ys_json **metrics = ys_alloc(view->trial_count, sizeof *metrics);
    ys_json *array = ys_json_array();
    ys_status status = metrics && array ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < view->trial_count; i++)
        status = ys_trial_metrics(&view->trials[i], &metrics[i]);
    if (status == YS_OK)
        status = compare_all(view, metrics, array);
    for (size_t i = 0; metrics && i < view->trial_count; i++)
        ys_json_free(metrics[i]);
    ys_free(metrics);
    return ys_built(status, array, comparisons);
}
