/* What attacks did in runs, as two metrics and as rounds come to. */
#include "fixture.h"

#include "metric/result/attack_results.h"
#include "metric/run/withstood.h"
#include "tap.h"

enum { MOST = 3 };

/* Of 10 rows `clean` were right; pgd breaks `broken` of them, and half of all rows are fooled by `change` or less. */
static ys_json *attacked(int clean, int broken, const char *change, bool is_masked)
{
    return fake_jsonf(
        "{\"reason\":null,\"attack_s\":1.5,\"found\":{\"rows\":10,\"clean\":%d,\"attacks\":["
        "{\"attack\":\"pgd(0.1, 40, 0.01)\",\"rows\":10,\"clean\":%d,\"broken\":%d,\"target_reached\":null,"
        "\"change_p25\":0.1,\"change_p50\":0.1,\"change_p75\":null,\"gradients\":320,\"queries\":320,\"attack_s\":1},"
        "{\"attack\":\"ddn(100)\",\"rows\":10,\"clean\":%d,\"broken\":%d,\"target_reached\":null,"
        "\"change_p25\":0.25,\"change_p50\":%s,\"change_p75\":null,\"gradients\":800,\"queries\":800,\"attack_s\":2}],"
        "\"robust\":[{\"eps\":0.1,\"standing\":%d},{\"eps\":0.2,\"standing\":0}],"
        "\"curve\":[{\"eps\":0.05,\"standing\":%d}],\"alarms\":%s,\"is_masked\":%s,\"perturbation_p50\":%s}}",
        clean, clean, broken, clean, broken, change, clean - broken, clean,
        is_masked ? "[{\"attack\":null,\"alarm\":\"outputs are probabilities\",\"value\":1,\"threshold\":0.5}]" : "[]",
        is_masked ? "true" : "false", change);
}

static struct ys_facts_robustness *read_one(ys_json *json_taken)
{
    struct ys_facts_robustness *found = ys_alloc(1, sizeof *found);
    const ys_status status = ys_record_read(&ys_facts_robustness_record, json_taken, "test", found);
    tap_check(status == YS_OK, __LINE__, "not read: %s", ys_error());
    ys_json_free(json_taken);
    return found;
}

static void the_smallest_eps_is_what_is_compared_and_wrong_rows_count_as_broken(void)
{
    struct ys_facts_robustness *found = read_one(attacked(8, 3, "0.5", false));
    CHECK_NEAR(ys_withstood_accuracy(found).value, 0.5, 0); /* 5 of 10 stand, not 5 of 8 */
    CHECK_NEAR(ys_withstood_change(found).value, 0.5, 0);
    found->found->perturbation_p50 = 0.375; /* of each row the smallest of several attacks: below their medians */
    CHECK_NEAR(ys_withstood_change(found).value, 0.375, 0);
    found->found->attacks.count = 1; /* pgd is bounded, and looks for no smallest change */
    CHECK_HAS(ys_withstood_change(found).reason, "no attack that looks for the smallest change");
    found->found->attacks.count = 2;
    ys_record_free(&ys_facts_robustness_record, found);
}

static void what_is_no_number_says_why(void)
{
    struct ys_facts_robustness *masked = read_one(attacked(8, 3, "0.5", true)),
                               *wrong = read_one(attacked(0, 0, "null", false)),
                               *infinite = read_one(attacked(9, 1, "null", false)),
                               *broke =
                                   read_one(fake_json("{\"reason\":\"they ended\",\"attack_s\":1,\"found\":null}"));
    CHECK(isnan(ys_withstood_accuracy(masked).value));
    CHECK_TEXT(ys_withstood_accuracy(masked).reason, "gradients may be masked: it is at most 50 %");
    CHECK_TEXT(ys_withstood_accuracy(wrong).reason,
               "no row was right before the attacks, so there was nothing to attack");
    CHECK_TEXT(ys_withstood_change(wrong).reason, ys_withstood_accuracy(wrong).reason);
    CHECK(isnan(ys_withstood_change(infinite).value));
    CHECK_HAS(ys_withstood_change(infinite).reason, "the median is infinite");
    CHECK_TEXT(ys_withstood_accuracy(broke).reason, "nothing is known of attacks: they ended");
    CHECK_TEXT(ys_withstood_change(NULL).reason, "nothing was to attack the weights");
    ys_record_free(&ys_facts_robustness_record, masked);
    ys_record_free(&ys_facts_robustness_record, wrong);
    ys_record_free(&ys_facts_robustness_record, infinite);
    ys_record_free(&ys_facts_robustness_record, broke);
}

struct rounds {
    struct ys_metric_view_run runs[MOST];
    struct ys_metric_view_trial trial;
};

/* Runs of these facts, NULL without. */
static ys_json *block_of(struct rounds *rounds, struct ys_facts_robustness *const *found, size_t count)
{
    *rounds = (struct rounds){.trial = {.run_count = count, .runs = rounds->runs}};
    for (size_t i = 0; i < count; i++) {
        rounds->runs[i] = (struct ys_metric_view_run){.round = (int64_t)i, .ok = true, .counted = true};
        rounds->runs[i].facts.robustness = found[i];
    }
    struct ys_robustness_block *made = ys_robustness_block(&rounds->trial);
    ys_json *block = made ? ys_record_json(&ys_robustness_block_record, made) : NULL;
    ys_record_free(&ys_robustness_block_record, made);
    for (size_t i = 0; i < count; i++)
        ys_record_free(&ys_facts_robustness_record, found[i]);
    return block;
}

static void runs_come_to_their_medians(void)
{
    struct rounds rounds;
    struct ys_facts_robustness *const found[] = {read_one(attacked(8, 3, "0.5", false)),
                                                 read_one(attacked(9, 5, "null", true)),
                                                 read_one(attacked(10, 9, "0.75", false))};
    ys_json *block = block_of(&rounds, found, 3);
    const ys_json *pgd = ys_json_at(ys_json_get(block, "attacks"), 0),
                  *ddn = ys_json_at(ys_json_get(block, "attacks"), 1),
                  *robust = ys_json_at(ys_json_get(block, "robust"), 0),
                  *alarm = ys_json_at(ys_json_get(block, "alarms"), 0);
    CHECK_INT(ys_json_get_int(block, "runs", 0), 3);
    CHECK_INT(ys_json_get_int(block, "rows", 0), 10);
    CHECK_NEAR(ys_json_get_number(block, "accuracy", 0), 0.9, 1e-12);
    CHECK(ys_json_get_bool(block, "is_masked", false));
    CHECK_TEXT(ys_json_get_text(pgd, "attack", ""), "pgd(0.1, 40, 0.01)");
    CHECK_NEAR(ys_json_get_number(pgd, "broken", 0), 5, 0);
    CHECK_NEAR(ys_json_get_number(ddn, "change_p50", 0), 0.75, 0); /* of 0.5, infinite and 0.75 */
    CHECK(ys_json_type_of(ys_json_get(ddn, "change_p75")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(ys_json_get(ddn, "target_reached")) == YS_JSON_NULL);
    CHECK_NEAR(ys_json_get_number(robust, "accuracy", 0), 0.4, 1e-12); /* of 0.5, 0.4 and 0.1 */
    CHECK_NEAR(ys_json_get_number(ys_json_at(ys_json_get(block, "curve"), 0), "accuracy", 0), 0.9, 1e-12);
    CHECK_INT(ys_json_size(ys_json_get(block, "alarms")), 1);
    CHECK_INT(ys_json_get_int(alarm, "runs", 0), 1);
    CHECK_TEXT(ys_json_get_text(alarm, "alarm", ""), "outputs are probabilities");
    ys_json_free(block);
}

/* Of the run of the first round, though it is not counted; of one that gradients may be masked in nothing is known. */
static void twins_have_the_same_metrics(void)
{
    struct rounds rounds;
    struct ys_facts_robustness *const found[] = {read_one(attacked(8, 3, "0.5", false)),
                                                 read_one(attacked(9, 5, "0.5", false))};
    for (int t = 0; t < 3; t++) {
        ys_json *json = fake_jsonf(
            "{\"rows\":10,\"clean\":9,\"attacks\":[],\"robust\":[{\"eps\":0.1,\"standing\":%d}],\"curve\":[],"
            "\"alarms\":[],\"is_masked\":%s}",
            4 + t, t == 2 ? "true" : "false");
        struct ys_robustness *twin = ys_list_add(&ys_robustness_record, &found[0]->twins);
        REQUIRE(ys_record_read(&ys_robustness_record, json, "twin", twin) == YS_OK);
        ys_json_free(json);
    }
    ys_json *block = block_of(&rounds, found, 2);
    const ys_json *twins = ys_json_get(block, "twins");
    CHECK_INT(ys_json_size(twins), 3);
    CHECK_NEAR(ys_json_get_number(ys_json_at(twins, 0), "robust_accuracy", 0), 0.4, 1e-12);
    CHECK_NEAR(ys_json_get_number(ys_json_at(twins, 1), "robust_accuracy", 0), 0.5, 1e-12);
    CHECK(ys_json_type_of(ys_json_get(ys_json_at(twins, 2), "robust_accuracy")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(ys_json_get(ys_json_at(twins, 0), "perturbation_p50")) == YS_JSON_NULL);
    ys_json_free(block);
}

static struct ys_facts_robustness *corrupted(int fog, int snow, const char *reason)
{
    ys_json *json = NULL;
    char *text =
        ys_format("{\"reason\":%s,\"attack_s\":1,\"found\":{\"rows\":10,\"clean\":0,\"attacks\":[],\"robust\":[],"
                  "\"curve\":[],\"alarms\":[],\"perturbation_p50\":null,\"is_masked\":false,\"corruptions\":["
                  "{\"kind\":\"fog\",\"severity\":3,\"right\":%d},"
                  "{\"kind\":\"snow\",\"severity\":3,\"right\":%d}]}}",
                  reason, fog, snow);
    CHECK(ys_json_parse(text, strlen(text), "test", &json) == YS_OK);
    ys_free(text);
    return read_one(json);
}

/* Of a network that was wrong on every row before, too: what is right after a corruption is counted, not what stays so.
 */
static void corruptions_are_a_mean_and_medians_of_each(void)
{
    struct rounds rounds = {0};
    struct ys_facts_robustness *const found[] = {corrupted(8, 1, "null"), corrupted(6, 4, "null"),
                                                 corrupted(2, 2, "null")};
    CHECK_NEAR(ys_withstood_corruptions(found[0]).value, 0.45, 1e-12);
    CHECK(isnan(ys_withstood_accuracy(found[0]).value));
    ys_json *block = block_of(&rounds, found, 3);
    const ys_json *fog = ys_json_at(ys_json_get(block, "corruptions"), 0),
                  *snow = ys_json_at(ys_json_get(block, "corruptions"), 1);
    CHECK_TEXT(ys_json_get_text(fog, "kind", ""), "fog");
    CHECK_INT(ys_json_get_int(fog, "severity", 0), 3);
    CHECK_NEAR(ys_json_get_number(fog, "accuracy", 0), 0.6, 1e-12);
    CHECK_NEAR(ys_json_get_number(snow, "accuracy", 0), 0.2, 1e-12);
    CHECK_INT(ys_json_size(ys_json_get(block, "attacks")), 0);
    ys_json_free(block);
    struct ys_facts_robustness *broke = corrupted(8, 1, "\"interrupted\""),
                               *none = read_one(attacked(8, 3, "0.5", false));
    CHECK_TEXT(ys_withstood_corruptions(broke).reason, "not all is known of attacks: interrupted");
    CHECK_TEXT(ys_withstood_corruptions(none).reason, "no corruptions were asked for");
    ys_record_free(&ys_facts_robustness_record, broke);
    ys_record_free(&ys_facts_robustness_record, none);
}

/* They are in no median and in no metric beside a run that was attacked to the end, and stand where there is none. */
static void finished_attacks_stand_where_no_run_has_them_all(void)
{
    struct rounds rounds;
    for (size_t whole = 0; whole < 2; whole++) {
        struct ys_facts_robustness *const found[] = {read_one(attacked(8, 3, "0.5", false)),
                                                     read_one(attacked(9, 5, "0.25", false))};
        ys_set_text(&found[0]->reason, "interrupted");
        if (!whole)
            ys_set_text(&found[1]->reason, "interrupted");
        CHECK_TEXT(ys_withstood_accuracy(found[0]).reason, "not all is known of attacks: interrupted");
        CHECK_TEXT(ys_withstood_change(found[0]).reason, "not all is known of attacks: interrupted");
        ys_json *block = block_of(&rounds, found, 2);
        CHECK_INT(ys_json_get_int(block, "runs", -1), whole ? 1 : 2);
        CHECK_TEXT(ys_json_get_text(block, "reason", ""), "interrupted");
        CHECK_NEAR(ys_json_get_number(ys_json_at(ys_json_get(block, "attacks"), 0), "broken", 0), whole ? 5 : 4, 0);
        ys_json_free(block);
    }
}

static void attacks_that_broke_off_leave_the_reason(void)
{
    struct rounds rounds;
    struct ys_facts_robustness *const found[] = {
        read_one(fake_json("{\"reason\":\"they ended with exit code 2\",\"attack_s\":1,\"found\":null}"))};
    ys_json *block = block_of(&rounds, found, 1);
    CHECK_INT(ys_json_get_int(block, "runs", -1), 0);
    CHECK_TEXT(ys_json_get_text(block, "reason", ""), "they ended with exit code 2");
    CHECK_INT(ys_json_size(ys_json_get(block, "attacks")), 0);
    ys_json_free(block);
    struct ys_facts_robustness *const none[] = {NULL};
    CHECK(!block_of(&rounds, none, 1));
}

/* Two trials of three rounds: of the first both runs say something, of the second one run failed, and the third was
 * made again. What the pair is, the run that came later says, whichever trial that is. */
static void what_carries_over_is_summed_over_rounds_of_which_both_count(void)
{
    static const struct {
        size_t trial, run;
        int64_t from, to, wrong;
    } told[] = {{1, 0, 0, 1, 2}, {1, 0, 1, 0, 3}, {0, 1, 0, 1, 50}, {0, 2, 0, 1, 70}, {1, 3, 0, 1, 4}};
    struct ys_trial_record records[] = {
        {.id = (char *)(uintptr_t) "a", .index = 0, .section = (char *)(uintptr_t) "s"},
        {.id = (char *)(uintptr_t) "b", .index = 1, .section = (char *)(uintptr_t) "s"}};
    static struct ys_metric_view_run runs[2][4];
    struct ys_metric_view_trial trials[2];
    for (size_t t = 0; t < 2; t++) {
        trials[t] = (struct ys_metric_view_trial){.record = &records[t], .runs = runs[t], .run_count = 4};
        for (int r = 0; r < 4; r++) {
            runs[t][r] = (struct ys_metric_view_run){
                .round = r < 3 ? r : 2, .attempt = r == 3, .ok = t == 0 || r != 1, .counted = r != 2};
            runs[t][r].facts.robustness = read_one(fake_json("{\"reason\":null,\"attack_s\":1,\"found\":null}"));
        }
    }
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        struct ys_facts_transfer *one =
            ys_list_add(&ys_facts_transfer_record, &runs[told[i].trial][told[i].run].facts.robustness->transfers);
        one->from = told[i].from;
        one->to = told[i].to;
        ys_set_text(&one->attack, "fgsm(0.1)");
        one->both_right = 90;
        one->broken = 80;
        one->also_wrong = told[i].wrong;
    }
    const struct ys_metric_view view = {.trials = trials, .trial_count = 2};
    struct ys_transfers transfers = {0};
    struct ys_list list = {0};
    for (size_t t = 0; t < 2; t++)
        ys_transfers_add(&trials[t], &transfers);
    ys_transfers_sum(&view, &transfers, &list);
    const struct ys_result_transfer *found = list.items;
    REQUIRE(list.count == 2);
    CHECK_TEXT(found[0].from, "a");
    CHECK_TEXT(found[0].to, "b");
    CHECK_TEXT(found[0].section, "s");
    CHECK_INT(found[0].rounds, 2);
    CHECK_INT(found[0].broken, 160);
    CHECK_INT(found[0].also_wrong, 6);
    CHECK_TEXT(found[1].from, "b");
    CHECK_INT(found[1].also_wrong, 3);
    ys_list_fini(&ys_result_transfer_record, &list);
    for (size_t i = 0; i < 8; i++)
        ys_record_free(&ys_facts_robustness_record, runs[i / 4][i % 4].facts.robustness);
}

TAP_MAIN(TAP_CASE(the_smallest_eps_is_what_is_compared_and_wrong_rows_count_as_broken),
         TAP_CASE(what_is_no_number_says_why), TAP_CASE(runs_come_to_their_medians),
         TAP_CASE(twins_have_the_same_metrics), TAP_CASE(attacks_that_broke_off_leave_the_reason),
         TAP_CASE(finished_attacks_stand_where_no_run_has_them_all),
         TAP_CASE(corruptions_are_a_mean_and_medians_of_each),
         TAP_CASE(what_carries_over_is_summed_over_rounds_of_which_both_count))
