#include "compared_study.h"

#include "metric/compare/compared_trials.h"
#include "tap.h"

static const char *varies(const char *a, const char *b)
{
    ys_json *of_a = fake_json(a), *of_b = fake_json(b);
    ys_json_set_string(of_a, "id", "a");
    ys_json_set_string(of_b, "id", "b");
    struct ys_trial_record left, right;
    CHECK(ys_record_read(&ys_trial_record, of_a, "a", &left) == YS_OK &&
          ys_record_read(&ys_trial_record, of_b, "b", &right) == YS_OK);
    const char *factor = ys_pair_varies(&left, &right);
    static char text[64];
    snprintf(text, sizeof text, "%s", factor ? factor : "-");
    ys_json_free(of_a);
    ys_json_free(of_b);
    ys_record_fini(&ys_trial_record, &left);
    ys_record_fini(&ys_trial_record, &right);
    return text;
}

static void pairs_differ_in_exactly_one_factor_of_one_section(void)
{
    CHECK_TEXT(varies("{\"section\":\"s\",\"factors\":{\"framework\":\"a\",\"threads\":1}}",
                      "{\"section\":\"s\",\"factors\":{\"framework\":\"b\",\"threads\":1}}"),
               "framework");
    CHECK_TEXT(varies("{\"section\":\"s\",\"factors\":{\"framework\":\"a\",\"threads\":1}}",
                      "{\"section\":\"s\",\"factors\":{\"framework\":\"b\",\"threads\":2}}"),
               "-");
    CHECK_TEXT(
        varies("{\"section\":\"s\",\"factors\":{\"threads\":1}}", "{\"section\":\"t\",\"factors\":{\"threads\":2}}"),
        "-");
    CHECK_TEXT(
        varies("{\"section\":\"s\",\"factors\":{\"threads\":1}}", "{\"section\":\"s\",\"factors\":{\"threads\":1}}"),
        "-");
}

static void options_of_one_framework_do_not_part_it_from_others(void)
{
    const char *off = "{\"section\":\"s\",\"factors\":{\"framework\":\"a\",\"opt.a.compile\":false}}";
    const char *on = "{\"section\":\"s\",\"factors\":{\"framework\":\"a\",\"opt.a.compile\":true}}";
    const char *other = "{\"section\":\"s\",\"factors\":{\"framework\":\"b\"}}";
    CHECK_TEXT(varies(off, on), "opt.a.compile");
    CHECK_TEXT(varies(off, other), "framework");
    CHECK_TEXT(varies(other, on), "framework");
}

/* "1-0 2-0": the places of a and b of all comparisons of speed, in their order. */
static const char *speed_pairs(const ys_json *result)
{
    static char text[1024];
    const ys_json *all = ys_json_get(result, "comparisons"), *trials = ys_json_get(result, "trials");
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < ys_json_size(all); i++) {
        const ys_json *one = ys_json_at(all, i);
        size_t a = 0, b = 0;
        if (strcmp(ys_json_get_text(one, "metric", ""), "rate_per_s") != 0)
            continue;
        while (!ys_json_equal(ys_json_get(ys_json_at(trials, a), "id"), ys_json_get(one, "a")))
            a++;
        while (!ys_json_equal(ys_json_get(ys_json_at(trials, b), "id"), ys_json_get(one, "b")))
            b++;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu-%zu", used ? " " : "", a, b);
    }
    return text;
}

static void frameworks_come_first_and_the_earlier_trial_is_the_base(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    const ys_json *all = ys_json_get(result, "comparisons");
    CHECK_INT(ys_json_size(all), 5 * 7);
    for (size_t i = 0; i < 14; i++)
        CHECK_TEXT(ys_json_get_text(ys_json_at(all, i), "varies", ""), "framework");
    CHECK_TEXT(speed_pairs(result), "2-0 3-1 1-0 2-1 3-2");
    CHECK_TEXT(ys_json_get_text(ys_json_at(all, 0), "a", ""), "lenet:framework=pytorch,threads=1");
    CHECK_TEXT(ys_json_get_text(ys_json_at(all, 0), "b", ""), "lenet:framework=builtin,threads=1");
    end(&study, result);
}

static void the_verdict_says_what_a_is_against_b(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    const ys_json *rate = find(result, "rate_per_s", "framework"), *wall = find(result, "wall_s", "framework");
    /* 4350 against 5200 samples a second, with 2 % of noise in each. */
    CHECK_NEAR(ys_json_get_number(rate, "ratio", 0), 0.8365, 0.06);
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "worse");
    CHECK(ys_json_get_number(wall, "ratio", 0) > 1.5);
    CHECK_TEXT(ys_json_get_text(wall, "verdict", ""), "worse");
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "threads"), "verdict", ""), "better");
    CHECK_INT(ys_json_get_int(rate, "n", 0), 6);
    CHECK(ys_json_get_number(rate, "resolution", 0) > 0.02);
    CHECK(ys_json_get_number(rate, "a_value", 0) > 4000 && ys_json_get_number(rate, "b_value", 0) > 5000);
    CHECK(ys_json_type_of(ys_json_get(rate, "reason")) == YS_JSON_NULL);
    end(&study, result);
}

static void accuracies_are_compared_by_difference(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    const ys_json *accuracy = find(result, "accuracy", "framework");
    CHECK_TEXT(ys_json_get_text(accuracy, "scale", ""), "difference");
    CHECK(ys_json_type_of(ys_json_get(accuracy, "ratio")) == YS_JSON_NULL);
    CHECK_NEAR(ys_json_get_number(accuracy, "difference", 0), 0.0002, 1e-15); /* fractions of 10000, subtracted */
    CHECK(ys_json_get_number(accuracy, "margin", 0) == YS_METRIC_ACCURACY_MARGIN);
    CHECK_TEXT(ys_json_get_text(accuracy, "verdict", ""), "same");
    end(&study, result);
}

static void rounds_in_which_one_of_the_two_failed_do_not_count(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 7, 2);
    const ys_json *all = ys_json_get(result, "comparisons");
    for (size_t i = 0; i < ys_json_size(all); i++) {
        bool with_failure =
            strcmp(ys_json_get_text(ys_json_at(all, i), "a", ""), "lenet:framework=pytorch,threads=2") == 0;
        CHECK_INT(ys_json_get_int(ys_json_at(all, i), "n", 0), with_failure ? 6 : 7);
    }
    end(&study, result);
}

/* Three frameworks with 1, 2 and 4 threads; the place of each says its framework and its threads. */
enum { GRID = 9 };

static void fill_grid(struct fake_trial *trials)
{
    static const char *const frameworks[] = {"builtin", "jax", "pytorch"};
    for (int i = 0; i < GRID; i++) {
        trials[i] = fake_trials[0];
        trials[i].framework = trials[i].title = frameworks[i / 3];
        trials[i].threads = 1 << i % 3;
        trials[i].rate_per_s = 1000 * (i + 1);
    }
}

static void each_trial_is_compared_with_the_first_along_each_axis(void)
{
    struct fake_trial trials[GRID];
    struct study study;
    fill_grid(trials);
    ys_json *result = compare(&study, trials, GRID, 1, -1);
    CHECK_TEXT(speed_pairs(result), "3-0 4-1 5-2 6-0 7-1 8-2 8-5 1-0 2-0 4-3 5-3 7-6 8-0 8-1 8-3 8-4 8-6 8-7");
    CHECK_TEXT(ys_json_get_text(ys_json_get(result, "study"), "comparisons", ""), "axes");
    end(&study, result);
}

static void all_pairs_are_compared_when_asked_for(void)
{
    struct fake_trial trials[GRID];
    struct study study;
    ys_json *all = NULL;
    fill_grid(trials);
    ys_json *result = compare(&study, trials, GRID, 1, -1);
    REQUIRE(result_document(study.store, study.id, YS_RESULT_ALL, &all) == YS_OK);
    CHECK_TEXT(speed_pairs(all),
               "3-0 4-1 5-2 6-0 6-3 7-1 7-4 8-2 8-5 1-0 2-0 2-1 4-3 5-3 5-4 7-6 8-0 8-1 8-3 8-4 8-6 8-7");
    CHECK_TEXT(ys_json_get_text(ys_json_get(all, "study"), "comparisons", ""), "all");
    ys_json_free(all);
    end(&study, result);
}

/* With a base of which nothing can be said the others would have no comparison at all. */
static void a_first_trial_that_says_nothing_is_not_the_base(void)
{
    struct fake_trial trials[GRID];
    struct study study;
    fill_grid(trials);
    trials[0].verdict = "fail";
    ys_json *result = compare(&study, trials, GRID, 1, -1);
    CHECK_TEXT(speed_pairs(result), "3-0 4-1 5-2 6-3 7-1 8-2 8-5 1-0 2-1 4-3 5-3 7-6 8-0 8-1 8-3 8-4 8-6 8-7");
    end(&study, result);
}

/* Options of one framework are no difference between two; of several equal trials the first is the base. */
static void options_of_a_framework_are_an_axis_of_its_own(void)
{
    struct study study;
    int64_t trial_id;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 1, -1);
    ys_json_free(result);
    for (int on = 0; on < 2; on++) {
        ys_json *trial = fake_trial_json(&fake_trials[2 + on], 2 + on);
        ys_json *factors = ys_json_get(trial, "factors");
        CHECK(ys_json_set_int(factors, "threads", 1) == YS_OK &&
              ys_json_set_bool(factors, "opt.pytorch.compile", on) == YS_OK);
        CHECK(fake_put_trial(study.store, study.id, trial, &trial_id) == YS_OK);
        ys_json_free(trial);
    }
    result = compare_again(&study);
    CHECK_TEXT(speed_pairs(result), "2-0 3-0 1-0 2-1 3-1 3-2");
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "opt.pytorch.compile"), "a", ""),
               "lenet:framework=pytorch,threads=2");
    end(&study, result);
}

/* The comparison of speed of two trials, by their ids, in either order; turned so that the ratio is of `one`. */
static const ys_json *find_two(const ys_json *result, const char *one, const char *other, double *ratio)
{
    const ys_json *all = ys_json_get(result, "comparisons");
    for (size_t i = 0; i < ys_json_size(all); i++) {
        const ys_json *found = ys_json_at(all, i);
        const char *a = ys_json_get_text(found, "a", ""), *b = ys_json_get_text(found, "b", "");
        if (strcmp(ys_json_get_text(found, "metric", ""), "rate_per_s") != 0)
            continue;
        if (strcmp(a, one) == 0 && strcmp(b, other) == 0)
            *ratio = ys_json_get_number(found, "ratio", NAN);
        else if (strcmp(a, other) == 0 && strcmp(b, one) == 0)
            *ratio = 1 / ys_json_get_number(found, "ratio", NAN);
        else
            continue;
        return found;
    }
    return NULL;
}

static const char *name_of(const struct fake_trial *trial, char *text, size_t size)
{
    snprintf(text, size, "lenet:framework=%s,threads=%d", trial->framework, trial->threads);
    return text;
}

static void the_best_is_compared_with_every_other_in_whatever_order(void)
{
    static const int orders[][FAKE_TRIALS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 1, 3, 0}};
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        struct fake_trial trials[FAKE_TRIALS];
        struct study study;
        char best[64], other[64];
        for (int i = 0; i < FAKE_TRIALS; i++)
            trials[i] = fake_trials[orders[o][i]];
        ys_json *result = compare(&study, trials, FAKE_TRIALS, 7, -1);
        const ys_json *group = ys_json_at(ys_json_get(result, "groups"), 0);
        name_of(&fake_trials[1], best, sizeof best); /* the fastest */
        CHECK_INT(ys_json_size(ys_json_get(result, "groups")), 1);
        CHECK_INT(ys_json_size(ys_json_get(group, "trials")), FAKE_TRIALS);
        CHECK_TEXT(ys_json_get_text(group, "best", ""), best);
        for (int i = 0; i < FAKE_TRIALS; i++) {
            double ratio = NAN;
            if (i == 1)
                continue;
            const ys_json *found = find_two(result, name_of(&fake_trials[i], other, sizeof other), best, &ratio);
            REQUIRE(found);
            const bool is_a = strcmp(ys_json_get_text(found, "a", ""), best) == 0;
            CHECK_TEXT(ys_json_get_text(found, "best", ""), is_a ? "a" : "b");
            CHECK_TEXT(ys_json_get_text(found, "verdict", ""), is_a ? "better" : "worse");
            CHECK_NEAR(ratio, fake_trials[i].rate_per_s / fake_trials[1].rate_per_s, 0.08);
        }
        double ratio;
        name_of(&fake_trials[2], other, sizeof other); /* pytorch on one thread, builtin on two */
        CHECK_TEXT(ys_json_get_text(find_two(result, best, other, &ratio), "varies", ""), "framework, threads");
        end(&study, result);
    }
}

/* By how much the interval of a comparison is wider than were it the only one, in logarithms. */
static double stretch_of(const ys_json *comparison)
{
    const ys_json *ci = ys_json_get(comparison, "ci"), *single = ys_json_get(ys_json_get(comparison, "single"), "ci");
    return log(ys_json_number(ys_json_at(ci, 1), NAN) / ys_json_number(ys_json_at(ci, 0), NAN)) /
           log(ys_json_number(ys_json_at(single, 1), NAN) / ys_json_number(ys_json_at(single, 0), NAN));
}

/* Which one is the best is read off the values: its intervals are those of all six pairs, one factor for all; the
 * others are those of the pairs that were chosen before. */
static void with_the_best_intervals_hold_for_all_pairs(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 7, -1);
    const ys_json *all = ys_json_get(result, "comparisons");
    double of_best = NAN, of_others = NAN;
    for (size_t i = 0; i < ys_json_size(all); i++) {
        const ys_json *one = ys_json_at(all, i);
        if (strcmp(ys_json_get_text(one, "metric", ""), "rate_per_s") != 0)
            continue;
        const bool has_best = ys_json_type_of(ys_json_get(one, "best")) == YS_JSON_STRING;
        double *known = has_best ? &of_best : &of_others;
        if (isnan(*known))
            *known = stretch_of(one);
        CHECK_NEAR(stretch_of(one), *known, 1e-9); /* logarithms and back */
    }
    CHECK(of_others > 1);
    CHECK(of_best > of_others);
    end(&study, result);
}

/* All pairs of a thousand trials are half a million. */
static void of_a_large_group_the_best_is_compared_by_its_speed_alone(void)
{
    enum { MANY = 101 };
    static struct fake_trial trials[MANY];
    struct study study;
    for (int i = 0; i < MANY; i++) {
        trials[i] = fake_trials[0];
        trials[i].threads = i + 1;
        trials[i].rate_per_s *= i == 50 ? 2 : 1;
    }
    ys_json *result = compare(&study, trials, MANY, 1, -1);
    const ys_json *all = ys_json_get(result, "comparisons");
    int of_speed = 0, of_others = 0;
    for (size_t i = 0; i < ys_json_size(all); i++) {
        const ys_json *one = ys_json_at(all, i);
        if (ys_json_type_of(ys_json_get(one, "best")) != YS_JSON_STRING)
            continue;
        of_speed += strcmp(ys_json_get_text(one, "metric", ""), "rate_per_s") == 0;
        of_others += strcmp(ys_json_get_text(one, "metric", ""), "rate_per_s") != 0;
    }
    CHECK_INT(of_speed, MANY - 1);
    CHECK_INT(of_others, 0);
    end(&study, result);
}

/* Weak scaling is other work; of ranks that divide the same rows it is the same. */
static void ranks_that_divide_the_rows_are_of_one_group(void)
{
    struct ys_trial_settings one = {.batch = 32, .ranks = YS_FIELD_NONE, .strategy = YS_NAME_NONE, .bn = YS_NAME_NONE};
    struct ys_trial_settings two = one, weak = one, alone = one;
    two.batch = 16;
    two.ranks = weak.ranks = alone.ranks = 2;
    alone.batch = 16;
    two.strategy = weak.strategy = YS_STRATEGY_DATA;
    alone.strategy = YS_STRATEGY_ALONE;
    char *of_one = ys_settings_work(&one), *of_two = ys_settings_work(&two), *of_weak = ys_settings_work(&weak),
         *of_alone = ys_settings_work(&alone);
    CHECK_TEXT(of_one, of_two);
    CHECK(strcmp(of_one, of_weak) != 0);
    CHECK(strcmp(of_one, of_alone) != 0);
    two.threads = 4;
    char *of_more = ys_settings_work(&two);
    CHECK_TEXT(of_more, of_two);
    ys_free(of_one);
    ys_free(of_two);
    ys_free(of_weak);
    ys_free(of_alone);
    ys_free(of_more);
}

static void five_rounds_are_unclear_with_a_reason(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 5, -1);
    const ys_json *rate = find(result, "rate_per_s", "framework");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "unclear");
    CHECK_HAS(ys_json_get_text(rate, "reason", ""), "fewer than 6");
    CHECK(ys_json_get_number(rate, "ratio", 0) > 0.7);
    CHECK(ys_json_type_of(ys_json_get(rate, "resolution")) == YS_JSON_NULL);
    end(&study, result);
}

static void without_a_proof_comparisons_are_invalid(void)
{
    static const struct {
        const char *verdict, *reason;
    } cases[] = {{"fail", "failed"}, {"none", "no proof"}, {NULL, "no proof"}};
    for (int i = 0; i < 3; i++) {
        struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
        trials[1].verdict = cases[i].verdict;
        struct study study;
        ys_json *result = compare(&study, trials, 2, 6, -1);
        const ys_json *rate = find(result, "rate_per_s", "framework");
        CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "invalid");
        CHECK_HAS(ys_json_get_text(rate, "reason", ""), cases[i].reason);
        CHECK_HAS(ys_json_get_text(rate, "reason", ""), "pytorch");
        CHECK(ys_json_type_of(ys_json_get(rate, "ratio")) == YS_JSON_NULL);
        CHECK(ys_json_get_number(rate, "a_value", 0) > 0);
        CHECK_TEXT(ys_json_get_text(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "proof"), "verdict", ""),
                   cases[i].verdict ? cases[i].verdict : "none");
        end(&study, result);
    }
}

static void what_does_no_work_is_compared_with_its_like_alone(void)
{
    struct fake_trial trials[] = {fake_trials[0], fake_trials[0], fake_trials[2]};
    for (int i = 0; i < 2; i++) {
        trials[i].no_work = true;
        trials[i].verdict = "none";
        trials[i].threads = i + 1;
    }
    trials[1].rate_per_s *= 2;
    struct study study;
    ys_json *result = compare(&study, trials, 3, 6, -1);
    const ys_json *beside_work = find(result, "rate_per_s", "framework");
    CHECK_TEXT(ys_json_get_text(beside_work, "verdict", ""), "invalid");
    CHECK_HAS(ys_json_get_text(beside_work, "reason", ""), "does no work");
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "threads"), "verdict", ""), "better");
    end(&study, result);
}

static void a_weak_proof_is_enough_to_compare(void)
{
    struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
    trials[1].verdict = "weak";
    struct study study;
    ys_json *result = compare(&study, trials, 2, 6, -1);
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "framework"), "verdict", ""), "worse");
    end(&study, result);
}

/* Gives trial `index` of the study keys, each with its value behind it, ended by NULL. */
static void give_keys(struct study *study, size_t index, const char *const *given)
{
    ys_json *trials = NULL;
    int64_t trial_id = 0;
    if (!CHECK(ys_store_trials_get(study->store, study->id, &trials) == YS_OK))
        return;
    ys_json *trial = ys_json_at(trials, index), *keys = ys_json_get(trial, "keys");
    for (; given[0]; given += 2)
        CHECK(ys_json_set_string(keys, given[0], given[1]) == YS_OK);
    CHECK(fake_put_trial(study->store, study->id, trial, &trial_id) == YS_OK);
    ys_json_free(trials);
}

/* The defaults of `of`, as compare = own resolves them. */
static void give_defaults(struct study *study, size_t index, const char *of)
{
    const char *const given[] = {"compare", "own", "own_of", of, "own_data", "mnist", NULL};
    give_keys(study, index, given);
}

static void networks_of_different_quantisers_are_compared_by_accuracy_alone(void)
{
    static const char *const own[] = {"quant", "static", "quant.by", "own", NULL};
    static const char *const common[] = {"quant", "static", "quant.by", "yardstick", NULL};
    struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
    struct study study;
    ys_json_free(compare(&study, trials, 2, 6, -1));
    for (size_t i = 0; i < 2; i++)
        give_keys(&study, i, own);
    ys_json *result = compare_again(&study);
    const ys_json *rate = find(result, "rate_per_s", "framework");
    CHECK_HAS(ys_json_get_text(rate, "reason", ""), "different work: the quantiser of ");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "invalid");
    CHECK_TEXT(ys_json_get_text(find(result, "accuracy", "framework"), "verdict", ""), "same");
    ys_json_free(result);
    for (size_t i = 0; i < 2; i++)
        give_keys(&study, i, common);
    result = compare_again(&study);
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "framework"), "verdict", ""), "worse");
    end(&study, result);
}

static void different_defaults_are_compared_by_accuracy_alone(void)
{
    struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
    struct study study;
    ys_json_free(compare(&study, trials, 2, 6, -1));
    give_defaults(&study, 0, "caffe");
    give_defaults(&study, 1, "theano");
    ys_json *result = compare_again(&study);
    const ys_json *rate = find(result, "rate_per_s", "framework"), *all = ys_json_get(result, "comparisons");
    CHECK_TEXT(ys_json_get_text(rate, "reason", ""),
               "different work: the defaults of theano for mnist against those of caffe for mnist");
    CHECK(ys_json_type_of(ys_json_get(rate, "ratio")) == YS_JSON_NULL);
    for (size_t i = 0; i < ys_json_size(all); i++) {
        bool accuracy = strcmp(ys_json_get_text(ys_json_at(all, i), "metric", ""), "accuracy") == 0;
        CHECK_TEXT(ys_json_get_text(ys_json_at(all, i), "verdict", ""), accuracy ? "same" : "invalid");
    }
    const ys_json *deviations = ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "deviations");
    CHECK_TEXT(ys_json_text(ys_json_at(deviations, 0), ""), "not the common work but the defaults of theano for mnist");
    ys_json_free(result);
    give_defaults(&study, 1, "caffe"); /* own_of: the same work in both */
    result = compare_again(&study);
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "framework"), "verdict", ""), "worse");
    end(&study, result);
}

static void a_trial_that_always_fails_is_compared_once_as_invalid(void)
{
    struct study study;
    ys_json *result = compare(&study, fake_trials, 3, 1, 0); /* the only run of the last trial crashes */
    const ys_json *rate = find(result, "rate_per_s", "framework");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "invalid");
    CHECK_HAS(ys_json_get_text(rate, "reason", ""), "crashed");
    CHECK(!find(result, "wall_s", "framework"));
    end(&study, result);
}

static void only_runs_of_one_attempt_are_paired(void)
{
    struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
    struct study study;
    ys_json *result = compare(&study, trials, 2, 6, -1);
    ys_json_free(result);
    /* Round 6 was broken off after the first trial, and repeated by the second alone: nothing to pair. */
    add_run(&study, &trials[0], 0, (struct fake_run){6, 0, "ok"});
    add_run(&study, &trials[1], 1, (struct fake_run){6, 1, "ok"});
    result = compare_again(&study);
    CHECK_INT(ys_json_get_int(find(result, "rate_per_s", "framework"), "n", 0), 6);
    const ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    CHECK_INT(ys_json_get_int(trial, "runs", 0), 7);
    CHECK(!ys_json_get_bool(ys_json_at(ys_json_get(trial, "runs_detail"), 6), "matched", true));
    ys_json_free(result);
    add_run(&study, &trials[0], 0, (struct fake_run){6, 1, "ok"});
    result = compare_again(&study);
    CHECK_INT(ys_json_get_int(find(result, "rate_per_s", "framework"), "n", 0), 7);
    trial = ys_json_at(ys_json_get(result, "trials"), 0);
    CHECK_INT(ys_json_get_int(trial, "runs", 0), 7); /* the unpaired run stays, and counts no longer */
    CHECK_INT(ys_json_size(ys_json_get(trial, "runs_detail")), 8);
    CHECK(!ys_json_get_bool(ys_json_at(ys_json_get(trial, "runs_detail"), 6), "matched", true));
    CHECK(ys_json_get_bool(ys_json_at(ys_json_get(trial, "runs_detail"), 7), "matched", false));
    end(&study, result);
}

static void a_cancelled_run_is_no_failure_of_its_trial(void)
{
    struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
    struct study study;
    ys_json *result = compare(&study, trials, 2, 6, -1);
    ys_json_free(result);
    add_run(&study, &trials[1], 1, (struct fake_run){6, 0, "cancelled"});
    result = compare_again(&study);
    const ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 1);
    CHECK_TEXT(ys_json_get_text(trial, "status", ""), "ok");
    CHECK_INT(ys_json_get_int(trial, "runs", 0), 6);
    CHECK_INT(ys_json_get_int(trial, "failed", 9), 0);
    CHECK_INT(ys_json_size(ys_json_get(trial, "runs_detail")), 7);
    CHECK_INT(ys_json_get_int(ys_json_get(result, "study"), "rounds", 0), 6);
    end(&study, result);
}

static void a_round_of_which_nobody_knows_what_was_taken_is_left_out(void)
{
    struct study study;
    fake_disturbed = "builtin";
    fake_disturbed_round = 3;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    const ys_json *rate = find(result, "rate_per_s", "framework");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "unclear");
    CHECK_HAS(ys_json_get_text(rate, "reason", ""), "fewer than 6 rounds are left");
    CHECK_INT(ys_json_get_int(rate, "n", 0), 5);
    CHECK_INT(ys_json_get_int(find(result, "accuracy", "framework"), "n", 0), 6);
    CHECK_INT(ys_json_get_int(find(result, "rss_peak_bytes", "framework"), "n", 0), 6);
    const ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    CHECK_INT(ys_json_get_int(trial, "disturbed", 9), 1);
    CHECK_HAS(ys_json_text(ys_json_at(ys_json_get(trial, "warnings"), 0), ""),
              "1 of 6 runs were disturbed; in round 4");
    end(&study, result);
    fake_disturbed = ""; /* of both */
    result = compare(&study, fake_trials, FAKE_TRIALS, 7, -1);
    rate = find(result, "rate_per_s", "framework");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "worse");
    CHECK_INT(ys_json_get_int(rate, "n", 0), 6);
    CHECK_INT(ys_json_get_int(rate, "left_out", 0), 1);
    end(&study, result);
    fake_disturbed = NULL;
}

/* It was tried again, and that run stands in place of the first, whatever the two measured; one that is disturbed
 * itself stands in place of none. */
static void another_attempt_counts_where_more_is_known_of_it(void)
{
    struct study study;
    for (int is_later = 0; is_later < 2; is_later++) {
        fake_disturbed = is_later ? NULL : "builtin";
        fake_disturbed_round = 5;
        ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
        ys_json_free(result);
        fake_disturbed = is_later ? "builtin" : NULL;
        for (size_t i = 0; i < FAKE_TRIALS; i++)
            add_run(&study, &fake_trials[i], i, (struct fake_run){5, 1, "ok"});
        fake_disturbed = NULL;
        result = compare_again(&study);
        const ys_json *rate = find(result, "rate_per_s", "framework");
        CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "worse");
        CHECK_INT(ys_json_get_int(rate, "n", 0), 6);
        CHECK_INT(ys_json_get_int(rate, "left_out", 9), 0);
        end(&study, result);
    }
}

/* Of two attempts the one that does not count must not be what the verdict hangs on: builtin was slow in it. */
static void an_attempt_that_does_not_count_is_put_back(void)
{
    struct study study;
    struct fake_trial slow = fake_trials[0];
    slow.rate_per_s = 2000;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    CHECK_TEXT(ys_json_get_text(find(result, "rate_per_s", "framework"), "verdict", ""), "worse");
    ys_json_free(result);
    fake_disturbed = "builtin";
    fake_disturbed_round = 5;
    for (size_t i = 0; i < FAKE_TRIALS; i++)
        add_run(&study, i ? &fake_trials[i] : &slow, i, (struct fake_run){5, 1, "ok"});
    fake_disturbed = NULL;
    result = compare_again(&study);
    const ys_json *rate = find(result, "rate_per_s", "framework");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "unclear");
    CHECK_TEXT(ys_json_get_text(rate, "reason", ""), YS_COMPARE_HANGS);
    CHECK_INT(ys_json_get_int(rate, "n", 0), 6);
    CHECK_INT(ys_json_get_int(rate, "left_out", 9), 0);
    CHECK_TEXT(ys_json_get_text(find(result, "rss_peak_bytes", "framework"), "verdict", ""), "worse");
    end(&study, result);
}

/* builtin, the base, would have been faster: the interval reaches down to where it is so. */
static void what_was_taken_at_most_is_in_the_interval(void)
{
    struct study study;
    double quiet[2], bounded[2];
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    ends(find(result, "rate_per_s", "framework"), quiet);
    end(&study, result);
    fake_disturbed = "builtin";
    fake_disturbed_round = 3;
    fake_taken = "{\"run_s\":0.3,\"work_s\":0.2,\"share\":0.03,\"by_host\":true}";
    result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    const ys_json *rate = find(result, "rate_per_s", "framework"), *taken = ys_json_get(rate, "taken");
    ends(rate, bounded);
    CHECK_INT(ys_json_get_int(rate, "n", 0), 6);
    CHECK_INT(ys_json_get_int(rate, "left_out", 9), 0);
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "worse");
    CHECK(bounded[0] < quiet[0]);
    CHECK_NEAR(bounded[1], quiet[1], 0);
    CHECK_INT(ys_json_get_int(taken, "rounds", 0), 1);
    CHECK_NEAR(ys_json_get_number(taken, "least", 0), 0.03, 0);
    CHECK_NEAR(ys_json_get_number(taken, "most", 0), 0.03, 0);
    CHECK(ys_json_get_bool(taken, "by_host", false));
    const ys_json *memory = find(result, "rss_peak_bytes", "framework");
    CHECK_INT(ys_json_get_int(ys_json_get(memory, "taken"), "rounds", 9), 0);
    end(&study, result);
    fake_disturbed = fake_taken = NULL;
}

static void bits_a_token_are_compared_by_their_ratio_whatever_disturbed(void)
{
    struct study study;
    fake_disturbed = "builtin";
    fake_disturbed_round = 3;
    fake_positions = 8;
    ys_json *result = compare(&study, fake_trials, FAKE_TRIALS, 6, -1);
    const ys_json *bits = find(result, "bits_per_token", "framework");
    CHECK_TEXT(ys_json_get_text(bits, "scale", ""), "ratio");
    CHECK_TEXT(ys_json_get_text(bits, "better", ""), "lower");
    CHECK_TEXT(ys_json_get_text(bits, "verdict", ""), "same");
    CHECK(ys_json_get_number(bits, "ratio", 0) == 1); /* both have the losses of fake_facts, round by round */
    CHECK_NEAR(ys_json_get_number(bits, "a_value", 0), ys_json_get_number(bits, "b_value", 9), 0);
    end(&study, result);
    fake_positions = 0;
    fake_disturbed = NULL;
}

static void the_trial_of_one_process_is_the_base_of_those_of_several(void)
{
    static const int ranks[] = {4, 1, 2};
    struct fake_trial trials[3];
    struct study study;
    ys_json *all = NULL;
    for (int i = 0; i < 3; i++) {
        trials[i] = fake_trials[0];
        trials[i].ranks = ranks[i];
    }
    ys_json *result = compare(&study, trials, 3, 6, -1);
    CHECK_TEXT(speed_pairs(result), "0-1 2-1");
    const ys_json *rate = find(result, "rate_per_s", "ranks");
    REQUIRE(rate);
    CHECK_TEXT(ys_json_get_text(rate, "scaling", ""), "weak");
    CHECK_NEAR(ys_json_get_number(rate, "ratio", 0), 4, 1e-9); /* the same steps, of four times the rows */
    CHECK_NEAR(ys_json_get_number(rate, "efficiency", 0), 1, 1e-9);
    REQUIRE(result_document(study.store, study.id, YS_RESULT_ALL, &all) == YS_OK);
    CHECK_TEXT(speed_pairs(all), "0-1 2-0 2-1");
    ys_json_free(all);
    end(&study, result);
    trials[1].verdict = "fail"; /* it can say nothing of the others */
    result = compare(&study, trials, 3, 1, -1);
    CHECK_TEXT(speed_pairs(result), "0-1 2-0");
    end(&study, result);
}

/* Ranks that exchange, of which the proof says `verdict`, and ranks that do not, which are never proven. */
static void fill_exchanging(struct fake_trial trials[2], const char *verdict)
{
    trials[0] = trials[1] = fake_trials[0];
    trials[0].strategy = "data";
    trials[0].verdict = verdict;
    trials[1].strategy = "alone";
    trials[1].verdict = "none";
    trials[1].rate_per_s = 6500;
}

static void what_exchanging_adds_is_told_of_ranks_that_are_proven(void)
{
    struct fake_trial trials[2];
    struct study study;
    fill_exchanging(trials, "pass");
    ys_json *result = compare(&study, trials, 2, 6, -1);
    const ys_json *rate = find(result, "rate_per_s", "strategy");
    CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "invalid");
    /* A round scatters by 1.2 %, in both alike; 4 % are allowed of the median of six. */
    CHECK_NEAR(ys_json_get_number(rate, "exposed_s", 0), FAKE_BATCH / 5200.0 - FAKE_BATCH / 6500.0, 1e-4);
    CHECK_INT(ys_json_size(ys_json_get(rate, "exposed_s_ci")), 2);
    end(&study, result);
    fill_exchanging(trials, "fail");
    result = compare(&study, trials, 2, 6, -1);
    rate = find(result, "rate_per_s", "strategy");
    CHECK(rate && ys_json_type_of(ys_json_get(rate, "exposed_s")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(ys_json_get(rate, "exposed_s_ci")) == YS_JSON_NULL);
    end(&study, result);
}

static void what_exchanging_adds_is_told_without_rounds_that_are_left_out(void)
{
    struct fake_trial trials[2];
    struct study study;
    fill_exchanging(trials, "pass");
    ys_json *result = compare(&study, trials, 2, 6, -1);
    ys_json_free(result);
    add_run(&study, &trials[0], 0, (struct fake_run){6, 0, "ok"});
    fake_disturbed = "builtin";
    fake_disturbed_round = 6;
    add_run(&study, &trials[1], 1, (struct fake_run){6, 0, "ok"});
    fake_disturbed = NULL;
    result = compare_again(&study);
    const ys_json *rate = find(result, "rate_per_s", "strategy");
    CHECK_INT(ys_json_get_int(rate, "left_out", 0), 0); /* nothing is, of what has no verdict */
    CHECK_NEAR(ys_json_get_number(rate, "exposed_s", 0), FAKE_BATCH / 5200.0 - FAKE_BATCH / 6500.0, 1e-4);
    end(&study, result);
}

TAP_MAIN(TAP_CASE(the_best_is_compared_with_every_other_in_whatever_order),
         TAP_CASE(with_the_best_intervals_hold_for_all_pairs),
         TAP_CASE(of_a_large_group_the_best_is_compared_by_its_speed_alone),
         TAP_CASE(ranks_that_divide_the_rows_are_of_one_group),
         TAP_CASE(the_trial_of_one_process_is_the_base_of_those_of_several),
         TAP_CASE(what_exchanging_adds_is_told_of_ranks_that_are_proven),
         TAP_CASE(what_exchanging_adds_is_told_without_rounds_that_are_left_out),
         TAP_CASE(bits_a_token_are_compared_by_their_ratio_whatever_disturbed),
         TAP_CASE(a_round_of_which_nobody_knows_what_was_taken_is_left_out),
         TAP_CASE(another_attempt_counts_where_more_is_known_of_it),
         TAP_CASE(an_attempt_that_does_not_count_is_put_back), TAP_CASE(what_was_taken_at_most_is_in_the_interval),
         TAP_CASE(pairs_differ_in_exactly_one_factor_of_one_section),
         TAP_CASE(options_of_one_framework_do_not_part_it_from_others),
         TAP_CASE(frameworks_come_first_and_the_earlier_trial_is_the_base),
         TAP_CASE(each_trial_is_compared_with_the_first_along_each_axis),
         TAP_CASE(all_pairs_are_compared_when_asked_for), TAP_CASE(a_first_trial_that_says_nothing_is_not_the_base),
         TAP_CASE(options_of_a_framework_are_an_axis_of_its_own), TAP_CASE(the_verdict_says_what_a_is_against_b),
         TAP_CASE(accuracies_are_compared_by_difference), TAP_CASE(rounds_in_which_one_of_the_two_failed_do_not_count),
         TAP_CASE(five_rounds_are_unclear_with_a_reason), TAP_CASE(without_a_proof_comparisons_are_invalid),
         TAP_CASE(what_does_no_work_is_compared_with_its_like_alone), TAP_CASE(a_weak_proof_is_enough_to_compare),
         TAP_CASE(networks_of_different_quantisers_are_compared_by_accuracy_alone),
         TAP_CASE(different_defaults_are_compared_by_accuracy_alone),
         TAP_CASE(a_trial_that_always_fails_is_compared_once_as_invalid), TAP_CASE(only_runs_of_one_attempt_are_paired),
         TAP_CASE(a_cancelled_run_is_no_failure_of_its_trial))
