#include "robust/attack.h"

#include <string.h>

#define RESULT struct ys_attack_result
static const struct ys_field result_fields[] = {
    YS_FIELD(RESULT, attack, YS_FIELD_TEXT, NULL, 0, "with all its numbers, those that were not said too"),
    YS_FIELD(RESULT, rows, YS_FIELD_INT, "1", 0, "test rows"),
    YS_FIELD(RESULT, clean, YS_FIELD_INT, "1", 0, "of them right before the attack; the others are not attacked"),
    YS_FIELD(RESULT, broken, YS_FIELD_INT, "1", 0, "of those that were right, as judged again in double"),
    YS_FIELD(RESULT, target_reached, YS_FIELD_INT, "1", YS_FIELD_NULL,
             "of the broken rows, those that became the class after the true one; null where none is aimed at"),
    YS_FIELD(RESULT, blindly_broken, YS_FIELD_INT, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "of the broken rows, those that stood until autoattack came to its part without gradients"),
    YS_FIELD(RESULT, change_p25, YS_FIELD_REAL, "1", YS_FIELD_NULL,
             "of all rows, 0 of one that was wrong before; null where it is infinite, since too few rows were broken, "
             "and where no row was right before"),
    YS_FIELD(RESULT, change_p50, YS_FIELD_REAL, "1", YS_FIELD_NULL, "likewise"),
    YS_FIELD(RESULT, change_p75, YS_FIELD_REAL, "1", YS_FIELD_NULL, "likewise"),
    YS_FIELD(RESULT, gradients, YS_FIELD_INT, "1", 0, "of one image each, all together"),
    YS_FIELD(RESULT, queries, YS_FIELD_INT, "1", 0, "logits of one image without a gradient, all together"),
    YS_FIELD(RESULT, attack_s, YS_FIELD_REAL, "s", YS_FIELD_NULL, "wall time of attacking and judging"),
    YS_FIELD(RESULT, outcomes, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "a letter for each row: b broken, s standing, w wrong before"),
};
const struct ys_record ys_attack_result_record = YS_RECORD("attack_result", RESULT, result_fields);

static const struct ys_field standing_fields[] = {
    YS_FIELD(struct ys_eps_standing, eps, YS_FIELD_REAL, "1", 0, "the largest change of a pixel, in pixels of 0 to 1"),
    YS_FIELD(struct ys_eps_standing, standing, YS_FIELD_INT, "1", 0,
             "rows that were right before and that no attack bounded by it or less breaks"),
};
const struct ys_record ys_eps_standing_record = YS_RECORD("standing", struct ys_eps_standing, standing_fields);

#define CORRUPTED struct ys_corruption_result
static const struct ys_field corruption_fields[] = {
    YS_FIELD(CORRUPTED, kind, YS_FIELD_TEXT, NULL, 0, "of corruption, by its name in MNIST-C or CIFAR-10-C"),
    YS_FIELD(CORRUPTED, severity, YS_FIELD_INT, "1", 0, "1 to 5"),
    YS_FIELD(CORRUPTED, right, YS_FIELD_INT, "1", 0, "rows that are right after it, by the network's own logits"),
};
const struct ys_record ys_corruption_result_record = YS_RECORD("corruption", CORRUPTED, corruption_fields);

#define ALARM struct ys_attack_alarm
static const struct ys_field alarm_fields[] = {
    YS_FIELD(ALARM, attack, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "that raised it; null: the model, before any"),
    YS_FIELD(ALARM, alarm, YS_FIELD_TEXT, NULL, 0, "in words"),
    YS_FIELD(ALARM, value, YS_FIELD_REAL, "1", 0, "what was found"),
    YS_FIELD(ALARM, threshold, YS_FIELD_REAL, "1", 0, "that it is above"),
};
const struct ys_record ys_attack_alarm_record = YS_RECORD("attack_alarm", ALARM, alarm_fields);

#define FOUND struct ys_robustness
static const struct ys_field found_fields[] = {
    YS_FIELD(FOUND, rows, YS_FIELD_INT, "1", 0, "test rows"),
    YS_FIELD(FOUND, clean, YS_FIELD_INT, "1", 0, "of them right before any attack, as judged in double"),
    YS_FIELD_OF(FOUND, attacks, YS_FIELD_LIST, &ys_attack_result_record, 0,
                "in the order in which they were asked for"),
    YS_FIELD_OF(FOUND, robust, YS_FIELD_LIST, &ys_eps_standing_record, 0, "for each EPS of an attack, ascending"),
    YS_FIELD_OF(FOUND, curve, YS_FIELD_LIST, &ys_eps_standing_record, 0, "by pgd alone, for each EPS of the curve"),
    YS_FIELD_OF(FOUND, alarms, YS_FIELD_LIST, &ys_attack_alarm_record, 0, "signs that gradients may be masked"),
    YS_FIELD_OF(FOUND, corruptions, YS_FIELD_LIST, &ys_corruption_result_record, YS_FIELD_MAY_LACK,
                "where corruptions were asked for: each kind at each severity"),
    YS_FIELD(
        FOUND, perturbation_p50, YS_FIELD_REAL, "1", YS_FIELD_NULL | YS_FIELD_LATER,
        "median over all rows of the smallest L2 that any attack found, 0 of one that was wrong before; null where "
        "it is infinite, since too few rows were broken, where no attack looks for it and where no row was right"),
    YS_FIELD(FOUND, is_masked, YS_FIELD_FLAG, NULL, 0, "there are alarms: what stands is at most that"),
};
const struct ys_record ys_robustness_record = YS_RECORD("robustness", FOUND, found_fields);

void ys_robustness_fini(struct ys_robustness *found)
{
    ys_record_fini(&ys_robustness_record, found);
}

int64_t ys_attack_apart(const struct ys_attack_result *a, const struct ys_attack_result *b)
{
    int64_t apart = 0;
    if (!a->outcomes || !b->outcomes || strlen(a->outcomes) != strlen(b->outcomes))
        return -1;
    for (size_t i = 0; a->outcomes[i]; i++)
        apart += a->outcomes[i] != b->outcomes[i];
    return apart;
}
