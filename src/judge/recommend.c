#include "judge/recommend.h"

#include "base/mem.h"
#include "judge/judge_parts.h"
#include "stat/family.h"
#include "store/stored_trial.h"
#include "verify/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One trial while it is weighed. */
struct weighed {
    const struct ys_result_trial *trial;
    int standing; /* enum ys_standing */
    double value; /* of what is wished, turned so that more is better; NaN: none */
    size_t place; /* in the study */
    char *fault;  /* why it is unfit; owned */
    bool front;
};

struct weighing {
    const struct ys_side *side;
    const struct ys_wish *wish;
    struct weighed *trials;
    size_t count;
    struct ys_recommended *out;
};

static const struct ys_trial_metric *metric_of(const struct ys_result_trial *trial, const struct ys_metric_info *info)
{
    size_t count;
    return &trial->values[info - ys_metric_infos(&count)];
}

static double median_of(const struct ys_result_trial *trial, const struct ys_metric_info *info)
{
    const struct ys_trial_metric *metric = metric_of(trial, info);
    return metric->n ? metric->summary.median : NAN;
}

static bool is_framework(const struct ys_wish_key *key, const ys_json *value)
{
    const char *asked = ys_json_text(key->value, ""), *has = ys_json_text(value, "");
    size_t length = strcspn(has, "@");
    return strcmp(key->name, "framework") == 0 && !strchr(asked, '@') && strlen(asked) == length &&
           strncmp(asked, has, length) == 0;
}

/* A framework without a version is any version of it. */
static bool has_keys(const struct ys_wish *wish, const struct ys_result_trial *trial)
{
    ys_json *keys = ys_record_json(&ys_trial_settings_record, &trial->keys);
    bool has = true;
    for (size_t i = 0; i < wish->key_count; i++) {
        const ys_json *value = ys_json_get(keys, wish->keys[i].name);
        has &= ys_json_equal(value, wish->keys[i].value) || is_framework(&wish->keys[i], value);
    }
    ys_json_free(keys);
    return has;
}

/* An empty interval, as fewer than 6 runs have it, tells nothing: what lies inside then may meet the bound. */
static int stands_of(const struct ys_wish_bound *bound, const struct ys_summary *summary)
{
    const struct ys_interval *interval = &summary->interval;
    const double sign = bound->at_least ? 1 : -1, limit = sign * bound->limit, median = sign * summary->median;
    if (!interval->known)
        return median >= limit ? YS_STANDS_MAY : YS_STANDS_MISSES;
    const double low = sign * (bound->at_least ? interval->lo : interval->hi),
                 high = sign * (bound->at_least ? interval->hi : interval->lo);
    return low >= limit ? YS_STANDS_MEETS : high < limit ? YS_STANDS_MISSES : YS_STANDS_MAY;
}

/* Of what its runs may be as a whole, which is worse, or else what they are. */
static struct ys_summary summarize_whole(const struct ys_trial_metric *metric)
{
    size_t n = 0;
    double *values = ys_alloc(metric->rounds, sizeof *values);
    for (size_t r = 0; r < metric->rounds; r++)
        if (isfinite(metric->by_round[r]))
            values[n++] = metric->whole[r];
    const struct ys_summary summary = ys_stat_summarize(values, n);
    ys_free(values);
    return summary;
}

/* What does not stand at both ends may: as measured, and as the whole runs have it. */
static int stands(const struct ys_wish_bound *bound, const struct ys_result_trial *trial)
{
    const struct ys_trial_metric *metric = metric_of(trial, bound->metric);
    const int standing = metric->n ? stands_of(bound, &metric->summary) : YS_STANDS_MISSES;
    if (metric->n == 0 || !metric->whole)
        return standing;
    const struct ys_summary whole = summarize_whole(metric);
    return stands_of(bound, &whole) == standing ? standing : YS_STANDS_MAY;
}

static void weigh(const struct weighing *weighing, struct weighed *weighed)
{
    const struct ys_wish *wish = weighing->wish;
    weighed->fault = ys_judge_fault(weighed->trial, NULL);
    const double median = median_of(weighed->trial, wish->metric);
    weighed->value = wish->highest ? median : -median;
    weighed->standing = YS_STANDS_MEETS;
    if (!weighed->fault && weighed->trial->software)
        weighed->fault = ys_format("its graphics processor is drawn in software (%s)", weighed->trial->software);
    if (!weighed->fault && isnan(median))
        weighed->fault = ys_format("it has no %s", wish->metric->name);
    for (size_t i = 0; i < wish->bound_count; i++) {
        const int standing = stands(&wish->bounds[i], weighed->trial);
        weighed->standing = standing > weighed->standing ? standing : weighed->standing;
    }
    if (weighed->fault)
        weighed->standing = YS_STANDS_UNFIT;
}

static ys_status take_trials(struct weighing *weighing)
{
    const struct ys_result *result = &weighing->side->result;
    weighing->trials = ys_alloc(result->trial_count + 1, sizeof *weighing->trials);
    for (size_t i = 0; i < result->trial_count; i++) {
        if (weighing->side->trial != YS_FIELD_NONE && (size_t)weighing->side->trial != i)
            continue;
        if (!has_keys(weighing->wish, &result->trials[i]))
            continue;
        struct weighed *weighed = &weighing->trials[weighing->count++];
        *weighed = (struct weighed){.trial = &result->trials[i], .place = i};
        weigh(weighing, weighed);
    }
    weighing->out->left_out = (int64_t)(result->trial_count - weighing->count);
    if (weighing->count == 0)
        return ys_fail(YS_EINVAL, "no trial of %s has what the wish \"%s\" says of keys: `yardstick show` lists them",
                       weighing->side->word, weighing->wish->text);
    return YS_OK;
}

/* The values of the wish of a trial, each turned so that more is better; a metric that is not there is the worst. */
static double turned(const struct ys_wish *wish, const struct ys_result_trial *trial, size_t at)
{
    const struct ys_wish_bound *bound = at ? &wish->bounds[at - 1] : NULL;
    const double value = median_of(trial, bound ? bound->metric : wish->metric);
    const bool more = bound ? bound->at_least : wish->highest;
    return isnan(value) ? -INFINITY : more ? value : -value;
}

static bool dominates(const struct ys_wish *wish, const struct ys_result_trial *one,
                      const struct ys_result_trial *other)
{
    bool better = false;
    for (size_t i = 0; i <= wish->bound_count; i++) {
        const double a = turned(wish, one, i), b = turned(wish, other, i);
        if (a < b)
            return false;
        better |= a > b;
    }
    return better;
}

static void find_front(const struct weighing *weighing)
{
    for (size_t i = 0; i < weighing->count; i++) {
        struct weighed *weighed = &weighing->trials[i];
        weighed->front = weighed->standing != YS_STANDS_UNFIT;
        for (size_t k = 0; k < weighing->count && weighed->front; k++)
            weighed->front = weighing->trials[k].standing == YS_STANDS_UNFIT ||
                             !dominates(weighing->wish, weighing->trials[k].trial, weighed->trial);
    }
}

/* By standing, then the best first; what is unfit in the order of the job. */
static int by_standing(const void *a, const void *b)
{
    const struct weighed *one = a, *other = b;
    if (one->standing != other->standing)
        return (one->standing > other->standing) - (one->standing < other->standing);
    if (one->standing != YS_STANDS_UNFIT && one->value != other->value)
        return one->value > other->value ? -1 : 1;
    return (one->place > other->place) - (one->place < other->place);
}

/* What is compared with the choice: values round by round. */
struct round_matrix {
    double *values; /* [trial * rounds + round], of ratios logarithms; NaN: none */
    double *bias;   /* likewise: their change were what is left of warm-up gone (metric/result_document.h); behind the
                       values */
    double *down, *up; /* likewise: how far they may lie down and up (ys_judge_ends()) */
    size_t trials, rounds;
    bool warms_up; /* there is such a question */
};

static size_t rounds_of(const struct weighing *weighing, size_t first, size_t end)
{
    size_t rounds = 0;
    for (size_t i = first; i < end; i++) {
        const struct ys_trial_metric *metric = metric_of(weighing->trials[i].trial, weighing->wish->metric);
        rounds = metric->rounds > rounds ? metric->rounds : rounds;
    }
    return rounds;
}

static double on(double value, bool difference)
{
    return difference ? value : value > 0 ? log(value) : NAN;
}

static void put_round(struct round_matrix *matrix, size_t place, const struct weighing *weighing, size_t trial,
                      size_t round)
{
    size_t count;
    const struct ys_metric_info *info = weighing->wish->metric;
    const struct ys_trial_metric *metric = metric_of(weighing->trials[trial].trial, info);
    const bool difference = info->kind == YS_KIND_SHARE;
    struct ys_ends ends;
    matrix->values[place] = matrix->bias[place] = NAN;
    if (round >= metric->rounds)
        return;
    ys_judge_ends(metric, (size_t)(info - ys_metric_infos(&count)), round, &ends);
    const double value = on(metric->by_round[round], difference);
    matrix->values[place] = value;
    matrix->bias[place] = metric->bias ? metric->bias[round] : NAN;
    matrix->down[place] = ends.untold ? INFINITY : value - on(ends.low, difference);
    matrix->up[place] = ends.untold ? INFINITY : on(ends.high, difference) - value;
}

static void fill_matrix(const struct weighing *weighing, size_t first, size_t end, struct round_matrix *matrix)
{
    *matrix = (struct round_matrix){.trials = end - first,
                                    .rounds = rounds_of(weighing, first, end),
                                    .warms_up = weighing->wish->metric->of_steady};
    const size_t each = matrix->trials * matrix->rounds;
    matrix->values = ys_alloc(4 * each + 1, sizeof(double));
    matrix->bias = matrix->values + each;
    matrix->down = matrix->bias + each;
    matrix->up = matrix->down + each;
    for (size_t i = first; i < end; i++)
        for (size_t r = 0; r < matrix->rounds; r++)
            put_round(matrix, (i - first) * matrix->rounds + r, weighing, i, r);
}

/* All pairs together: which trial the others are compared with was read off the same values. */
static double stretch_of(const struct round_matrix *matrix)
{
    struct ys_family_pair *pairs = ys_alloc(matrix->trials * matrix->trials / 2 + 1, sizeof *pairs);
    const struct ys_family family = {
        matrix->trials, matrix->rounds, matrix->values, pairs, ys_family_each_with_each(matrix->trials, pairs),
        YS_STAT_LEVEL};
    const double stretch = ys_family_stretch(&family);
    ys_free(pairs);
    return stretch;
}

/* One trial and the choice, in the rounds that both have; `bias` of the one less that of the other. */
struct compared_trial {
    double *mine, *his, *bias, *down, *up;
    size_t n, told; /* rounds, and those of which the bias is known */
};

static void put_beside(const struct round_matrix *matrix, size_t at, bool difference, struct compared_trial *beside)
{
    *beside = (struct compared_trial){.mine = ys_alloc(5 * matrix->rounds + 1, sizeof(double))};
    beside->his = beside->mine + matrix->rounds;
    beside->bias = beside->his + matrix->rounds;
    beside->down = beside->bias + matrix->rounds;
    beside->up = beside->down + matrix->rounds;
    for (size_t r = 0; r < matrix->rounds; r++) {
        const size_t place = at * matrix->rounds + r;
        const double mine = matrix->values[place], his = matrix->values[r];
        if (!isfinite(mine) || !isfinite(his))
            continue;
        beside->mine[beside->n] = difference ? mine : exp(mine);
        beside->his[beside->n] = difference ? his : exp(his);
        beside->bias[beside->n] = matrix->bias[place] - matrix->bias[r];
        beside->down[beside->n] = matrix->down[place] + matrix->up[r];
        beside->up[beside->n] = matrix->up[place] + matrix->down[r];
        beside->told += isfinite(beside->bias[beside->n++]);
    }
}

static void compare_with_choice(const struct weighing *weighing, const struct round_matrix *matrix, size_t at,
                                bool difference, double stretch, struct ys_recommend_trial *told)
{
    struct ys_comparison found;
    struct compared_trial beside;
    put_beside(matrix, at, difference, &beside);
    const bool is_told = matrix->warms_up && beside.told == beside.n;
    const struct ys_compare_rule rule = {.better = weighing->wish->highest ? YS_BETTER_HIGHER : YS_BETTER_LOWER,
                                         .difference = difference,
                                         .margin = weighing->out->margin,
                                         .stretch = stretch,
                                         .bias = is_told ? beside.bias : NULL,
                                         .bias_untold = matrix->warms_up && !is_told,
                                         .down = beside.down,
                                         .up = beside.up};
    ys_compare(beside.mine, beside.his, beside.n, &rule, &found);
    ys_free(beside.mine);
    told->ratio = difference ? NAN : found.value;
    told->difference = difference ? found.value : NAN;
    told->verdict = (int)found.verdict;
    told->doubt = ys_strdup(found.reason);
    ys_judge_set_ends(&told->ci, &found.interval);
    ys_judge_set_ends(&told->settled_ci, &found.settled);
}

static void compare_all(const struct weighing *weighing, size_t end)
{
    struct ys_recommend_trial *told = weighing->out->trials.items;
    struct round_matrix matrix;
    const bool difference = weighing->wish->metric->kind == YS_KIND_SHARE;
    fill_matrix(weighing, 0, end, &matrix);
    const double stretch = stretch_of(&matrix);
    for (size_t i = 1; i < end; i++) {
        compare_with_choice(weighing, &matrix, i, difference, stretch, &told[i]);
        if (told[i].verdict == YS_VERDICT_SAME || told[i].verdict == YS_VERDICT_UNCLEAR)
            ys_list_add_text(&weighing->out->alike, told[i].trial);
    }
    ys_free(matrix.values);
}

static void tell_value(const struct ys_metric_info *info, const struct ys_result_trial *trial, struct ys_list *values)
{
    const struct ys_trial_metric *metric = metric_of(trial, info);
    struct ys_recommend_value *told = ys_list_add(&ys_recommend_value_record, values);
    told->metric = ys_strdup(info->name);
    told->unit = ys_strdup(info->unit);
    told->value = median_of(trial, info);
    told->n = (int64_t)metric->n;
    if (metric->n)
        ys_judge_set_ends(&told->ci, &metric->summary.interval);
}

static bool was_told(const struct ys_list *values, const struct ys_metric_info *info)
{
    const struct ys_recommend_value *all = values->items;
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(all[i].metric, info->name) == 0)
            return true;
    return false;
}

static void tell_trial(const struct weighing *weighing, struct weighed *weighed)
{
    const struct ys_wish *wish = weighing->wish;
    struct ys_recommend_trial *told = ys_list_add(&ys_recommend_trial_record, &weighing->out->trials);
    told->trial = ys_strdup(weighed->trial->id);
    told->standing = weighed->standing;
    told->front = weighed->front;
    told->reason = weighed->fault;
    weighed->fault = NULL;
    tell_value(wish->metric, weighed->trial, &told->values);
    for (size_t i = 0; i < wish->bound_count; i++) {
        if (!was_told(&told->values, wish->bounds[i].metric))
            tell_value(wish->bounds[i].metric, weighed->trial, &told->values);
        if (weighed->standing != YS_STANDS_UNFIT && stands(&wish->bounds[i], weighed->trial) != YS_STANDS_MEETS)
            ys_list_add_text(&told->misses, wish->bounds[i].text);
    }
}

struct worded {
    int verdict;
};
static const struct ys_field worded_fields[] = {
    YS_FIELD_NAMED(struct worded, verdict, &ys_audit_verdicts, YS_FIELD_NULL, "of the audit")};
static const struct ys_record worded_record = YS_RECORD("audit", struct worded, worded_fields);

static ys_status tell_choice(const struct weighing *weighing)
{
    const struct ys_result_trial *trial = weighing->trials[0].trial;
    struct ys_recommended *out = weighing->out;
    struct ys_recommend_trial *told = out->trials.items;
    struct worded audit;
    ys_record_glance(&worded_record, ys_stored_audit(trial->proof), &audit);
    out->sure = told->standing == YS_STANDS_MEETS;
    out->choice = ys_strdup(trial->id);
    out->proof = ys_strdup(ys_judge_proof_word(trial));
    out->rounds = (int64_t)metric_of(trial, weighing->wish->metric)->n;
    const char *word = ys_name_of(&ys_audit_verdicts, audit.verdict);
    out->audit = ys_strdup(word);
    told->standing = YS_STANDS_CHOSEN;
    for (size_t i = 1; i < weighing->count; i++)
        told[i].better = told[i].standing != YS_STANDS_UNFIT && weighing->trials[i].value > weighing->trials[0].value;
    return ys_recommend_lines(weighing->side, trial, &out->lines);
}

/* After the trials are sorted: those that stand as the first does. */
static size_t as_good_as_first(const struct weighing *weighing)
{
    size_t end = 0;
    while (end < weighing->count && weighing->trials[end].standing == weighing->trials[0].standing)
        end++;
    return end;
}

static void tell_frame(const struct weighing *weighing)
{
    const struct ys_wish *wish = weighing->wish;
    struct ys_recommended *out = weighing->out;
    const bool share = wish->metric->kind == YS_KIND_SHARE;
    out->schema = ys_strdup(YS_RECOMMEND_SCHEMA);
    out->wish = ys_strdup(wish->text);
    out->metric = ys_strdup(wish->metric->name);
    out->highest = wish->highest;
    out->rounds = YS_FIELD_NONE;
    out->margin = share ? YS_METRIC_ACCURACY_MARGIN : weighing->side->result.study.margin;
    for (size_t i = 0; i < wish->bound_count; i++)
        ys_list_add_text(&out->bounds, wish->bounds[i].text);
    ys_judge_tell_side(weighing->side, &out->study);
}

static ys_status recommend(struct weighing *weighing)
{
    tell_frame(weighing);
    YS_TRY(take_trials(weighing));
    find_front(weighing);
    qsort(weighing->trials, weighing->count, sizeof *weighing->trials, by_standing);
    const int first = weighing->trials[0].standing;
    const size_t end = as_good_as_first(weighing);
    for (size_t i = 0; i < weighing->count; i++)
        tell_trial(weighing, &weighing->trials[i]);
    if (first != YS_STANDS_MEETS && first != YS_STANDS_MAY)
        return YS_OK;
    compare_all(weighing, end);
    return tell_choice(weighing);
}

ys_status ys_recommend(const struct ys_side *side, const struct ys_wish *wish, struct ys_recommended *recommended)
{
    struct weighing weighing = {.side = side, .wish = wish, .out = recommended};
    ys_record_init(&ys_recommended_record, recommended);
    ys_status status = recommend(&weighing);
    for (size_t i = 0; i < weighing.count; i++)
        ys_free(weighing.trials[i].fault);
    ys_free(weighing.trials);
    if (status != YS_OK)
        ys_record_fini(&ys_recommended_record, recommended);
    return status;
}

/* ---- the document */

static const char *const standing_words[] = {"chosen", "meets", "may meet", "misses", "unfit"};
const struct ys_names ys_standings = YS_NAMES("standing", standing_words);

#define VALUE struct ys_recommend_value
static const struct ys_field value_fields[] = {
    YS_FIELD(VALUE, metric, YS_FIELD_TEXT, NULL, 0, "its name"),
    YS_FIELD(VALUE, unit, YS_FIELD_TEXT, NULL, 0, "of the value"),
    YS_FIELD(VALUE, value, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "median; null: none"),
    YS_FIELD(VALUE, n, YS_FIELD_INT, "1", 0, "runs that it is of"),
    YS_FIELD(VALUE, ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "its rank interval"),
};
const struct ys_record ys_recommend_value_record = YS_RECORD("value", VALUE, value_fields);

#define TRIAL struct ys_recommend_trial
static const struct ys_field trial_fields[] = {
    YS_FIELD(TRIAL, trial, YS_FIELD_TEXT, NULL, 0, "its name"),
    YS_FIELD_NAMED(TRIAL, standing, &ys_standings, 0, "against the bounds"),
    YS_FIELD(TRIAL, front, YS_FIELD_FLAG, NULL, 0, "no other is as good in everything and better in something"),
    YS_FIELD_OF(TRIAL, values, YS_FIELD_LIST, &ys_recommend_value_record, 0, "of the wish"),
    YS_FIELD(TRIAL, misses, YS_FIELD_TEXTS, NULL, 0, "bounds that it misses, or only may meet"),
    YS_FIELD(TRIAL, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why it is unfit"),
    YS_FIELD(TRIAL, better, YS_FIELD_FLAG, NULL, 0, "it would be chosen without what it misses"),
    YS_FIELD(TRIAL, ratio, YS_FIELD_REAL, "1", YS_FIELD_NULL, "centre of it / the choice"),
    YS_FIELD(TRIAL, difference, YS_FIELD_REAL, "1", YS_FIELD_NULL, "centre of it - the choice"),
    YS_FIELD(TRIAL, ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "its interval, together with the others"),
    YS_FIELD(TRIAL, settled_ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY,
             "the interval were what is left of warm-up gone; null: no question, or cannot be told"),
    YS_FIELD_NAMED(TRIAL, verdict, &ys_verdicts, YS_FIELD_NULL, "what it is against the choice; null: not compared"),
    YS_FIELD(TRIAL, doubt, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why that is unclear"),
};
const struct ys_record ys_recommend_trial_record = YS_RECORD("trial", TRIAL, trial_fields);

#define ALL struct ys_recommended
static const struct ys_field all_fields[] = {
    YS_FIELD(ALL, schema, YS_FIELD_TEXT, NULL, 0, "of this document"),
    YS_FIELD(ALL, wish, YS_FIELD_TEXT, NULL, 0, "as it was written"),
    YS_FIELD_OF(ALL, study, YS_FIELD_OBJECT, &ys_judged_side_record, 0, "among whose trials"),
    YS_FIELD(ALL, metric, YS_FIELD_TEXT, NULL, 0, "what is wished"),
    YS_FIELD(ALL, highest, YS_FIELD_FLAG, NULL, 0, "of it the highest; else the lowest"),
    YS_FIELD(ALL, choice, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "a trial; null: none meets the wish"),
    YS_FIELD(ALL, sure, YS_FIELD_FLAG, NULL, 0, "it meets every bound with its whole interval"),
    YS_FIELD(ALL, proof, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of its work"),
    YS_FIELD(ALL, audit, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of its runs; null: there was none"),
    YS_FIELD(ALL, rounds, YS_FIELD_INT, "1", YS_FIELD_NULL, "runs that its value is of"),
    YS_FIELD(ALL, margin, YS_FIELD_REAL, "1", 0, "what counts as the same"),
    YS_FIELD(ALL, bounds, YS_FIELD_TEXTS, NULL, 0, "of the wish, as they were understood"),
    YS_FIELD_OF(ALL, trials, YS_FIELD_LIST, &ys_recommend_trial_record, 0, "the choice, then by standing"),
    YS_FIELD(ALL, alike, YS_FIELD_TEXTS, NULL, 0, "trials that are not told apart from the choice"),
    YS_FIELD(ALL, lines, YS_FIELD_TEXTS, NULL, 0, "of a job file's section that give the choice again"),
    YS_FIELD(ALL, left_out, YS_FIELD_INT, "1", 0, "trials of other keys than the wish has"),
};
const struct ys_record ys_recommended_record = YS_RECORD("recommendation", ALL, all_fields);
