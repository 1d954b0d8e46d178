/* Trainings to a target against each other. */
#include "compared_study.h"

/* Builtin against PyTorch at `rate` rows a second, in seven rounds of which PyTorch does not meet its target in the
 * first `lost`. */
static ys_json *meet(struct study *study, double rate, int lost)
{
    struct fake_trial trials[2] = {fake_trials[0], fake_trials[2]};
    trials[1].rate_per_s = rate;
    trials[1].slow_blocks = 0;
    ys_json_free(compare(study, trials, 2, 0, -1));
    for (int r = 0; r < 7; r++) {
        add_run(study, &trials[0], 0, (struct fake_run){r, 0, "ok"});
        add_run(study, &trials[1], 1, (struct fake_run){r, 0, r < lost ? "not_converged" : "ok"});
    }
    return compare_again(study);
}

static void what_lies_within_one_checkpoint_is_unclear(void)
{
    static const char grain[] = "the two lie within one checkpoint of each other: take a smaller eval_every";
    struct study study;
    double ci[2];
    fake_until = "accuracy >= 0.95";
    ys_json *result = meet(&study, 4700, 0); /* about a tenth slower, of 301 steps looked at every 50 */
    const ys_json *time = find(result, "time_to_target_s", "framework");
    CHECK_TEXT(ys_json_get_text(time, "verdict", ""), "unclear");
    CHECK_TEXT(ys_json_get_text(time, "reason", ""), grain);
    CHECK_INT(ys_json_get_int(time, "a_met", 0), 7);
    end(&study, result);
    result = meet(&study, 1000, 0);
    time = find(result, "time_to_target_s", "framework");
    const ys_json *steps = find(result, "steps_to_target", "framework");
    CHECK_TEXT(ys_json_get_text(time, "verdict", ""), "worse");
    CHECK_TEXT(ys_json_get_text(steps, "verdict", ""), "unclear"); /* both after 301 */
    CHECK_TEXT(ys_json_get_text(steps, "reason", ""), grain);
    ends(steps, ci);
    CHECK_NEAR(ci[0], 251.0 / 301, 1e-15); /* a logarithm and back */
    CHECK_NEAR(ci[1], 301.0 / 251, 1e-15);
    CHECK_TEXT(ys_json_get_text(find(result, "wall_s", "framework"), "verdict", ""), "invalid");
    end(&study, result);
    fake_look = 1;
    result = meet(&study, 4700, 0);
    CHECK_TEXT(ys_json_get_text(find(result, "time_to_target_s", "framework"), "verdict", ""), "worse");
    end(&study, result);
    fake_look = 50;
    fake_until = NULL;
}

static void rounds_that_did_not_meet_the_target_count_as_longer_than_any(void)
{
    struct study study;
    fake_until = "accuracy >= 0.95";
    ys_json *result = meet(&study, 52000, 0);
    CHECK_TEXT(ys_json_get_text(find(result, "time_to_target_s", "framework"), "verdict", ""), "better");
    end(&study, result);
    result = meet(&study, 52000, 4); /* ten times as fast, where it gets there */
    const ys_json *time = find(result, "time_to_target_s", "framework"), *ci = ys_json_get(time, "ci");
    CHECK_TEXT(ys_json_get_text(time, "verdict", ""), "unclear");
    CHECK(ys_json_get_int(time, "n", 0) == 7 && ys_json_get_int(time, "a_met", 0) == 3);
    CHECK_INT(ys_json_get_int(time, "b_met", 0), 7);
    CHECK(ys_json_type_of(ys_json_get(time, "ratio")) == YS_JSON_NULL); /* more than the limit tells */
    CHECK(ys_json_number(ys_json_at(ci, 0), 9) < 0.2 && ys_json_type_of(ys_json_at(ci, 1)) == YS_JSON_NULL);
    const ys_json *median =
        ys_json_get(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "metrics"), "steps_to_target");
    CHECK_TEXT(ys_json_get_text(median, "reason", ""), "more than 301: 3 of 7 runs met the target");
    end(&study, result);
    result = meet(&study, 52000, 7);
    time = find(result, "time_to_target_s", "framework");
    CHECK_TEXT(ys_json_get_text(time, "verdict", ""), "worse");
    CHECK(ys_json_get_int(time, "a_met", 9) == 0 && ys_json_get_int(time, "n", 0) == 7);
    end(&study, result);
    fake_until = NULL;
}

/* Wherever it stands in the job: `ratio` is then the speed-up. */

TAP_MAIN(TAP_CASE(what_lies_within_one_checkpoint_is_unclear),
         TAP_CASE(rounds_that_did_not_meet_the_target_count_as_longer_than_any))
