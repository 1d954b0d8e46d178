#include "campaign/tune_document.h"

#include "stat/compare.h"

static const char *const answer_words[] = {"better", "none better", "unconfirmed", "cannot run"};
const struct ys_names ys_tune_answers = YS_NAMES("answer", answer_words);

int ys_tuned_code(const struct ys_tuned *tuned)
{
    enum { UNCONFIRMED = 4, NOTHING_RAN = 6 };
    const struct ys_tuned_trial *trials = tuned->trials.items;
    size_t unconfirmed = 0, unable = 0;
    for (size_t i = 0; i < tuned->trials.count; i++) {
        unconfirmed += trials[i].answer == YS_TUNE_UNCONFIRMED;
        unable += trials[i].answer == YS_TUNE_CANNOT_RUN;
    }
    return unable == tuned->trials.count ? NOTHING_RAN : unconfirmed ? UNCONFIRMED : unable ? 1 : 0;
}

#define POINT struct ys_tuned_point
static const struct ys_field point_fields[] = {
    YS_FIELD(POINT, settings, YS_FIELD_TEXT, NULL, 0, "KNOB=VALUE with blanks between; empty: as the study has it"),
    YS_FIELD(POINT, rung, YS_FIELD_INT, "1", 0, "the last in which it was measured; 0: none"),
    YS_FIELD(POINT, rounds, YS_FIELD_INT, "1", 0, "of all rungs"),
    YS_FIELD(POINT, ratio, YS_FIELD_REAL, "1", YS_FIELD_NULL,
             "of its metric to that of the trial as it is, in that rung"),
    YS_FIELD(POINT, out, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why it went no further, beside being slower"),
    YS_FIELD(POINT, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what is known of that"),
    YS_FIELD(POINT, value, YS_FIELD_REAL, NULL, YS_FIELD_NULL,
             "with --over: median over the seeds, in the metric's unit; null: most did not reach the target"),
    YS_FIELD(POINT, steps, YS_FIELD_INT, "steps", YS_FIELD_NULL, "with --over: of all its runs"),
};
const struct ys_record ys_tuned_point_record = YS_RECORD("point", POINT, point_fields);

#define PART struct ys_tuned_part
static const struct ys_field part_fields[] = {
    YS_FIELD(PART, what, YS_FIELD_TEXT, NULL, 0, "what it was spent for"),
    YS_FIELD(PART, seconds, YS_FIELD_REAL, "s", 0, "wall-clock time"),
    YS_FIELD(PART, runs, YS_FIELD_INT, "1", 0, "of the trial"),
};
const struct ys_record ys_tuned_part_record = YS_RECORD("part", PART, part_fields);

#define TRIAL struct ys_tuned_trial
static const struct ys_field trial_fields[] = {
    YS_FIELD(TRIAL, trial, YS_FIELD_TEXT, NULL, 0, "its name in the study"),
    YS_FIELD(TRIAL, framework, YS_FIELD_TEXT, NULL, 0, "as a job names it"),
    YS_FIELD_NAMED(TRIAL, answer, &ys_tune_answers, 0, "what came out"),
    YS_FIELD(TRIAL, sentence, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "the same"),
    YS_FIELD(TRIAL, settings, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "the winner of the search; null: none"),
    YS_FIELD(TRIAL, during, YS_FIELD_REAL, "1", YS_FIELD_NULL,
             "what the search saw of it: too good, as the best of many is"),
    YS_FIELD(TRIAL, rounds, YS_FIELD_INT, "1", 0, "fresh ones, of the winner and of the trial as it is"),
    YS_FIELD(TRIAL, ratio, YS_FIELD_REAL, "1", YS_FIELD_NULL,
             "of the metric in them, winner to as it is; of a share the difference"),
    YS_FIELD(TRIAL, ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "its interval at 95 %"),
    YS_FIELD_NAMED(TRIAL, verdict, &ys_verdicts, YS_FIELD_NULL, "what the winner is against the trial as it is"),
    YS_FIELD(TRIAL, doubt, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why that is unclear"),
    YS_FIELD(TRIAL, memory, YS_FIELD_REAL, "1", YS_FIELD_NULL, "ratio of peak memory in them"),
    YS_FIELD(TRIAL, memory_ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "its interval"),
    YS_FIELD(TRIAL, study, YS_FIELD_INT, "1", YS_FIELD_NULL, "where they are stored"),
    YS_FIELD(TRIAL, lines, YS_FIELD_TEXTS, NULL, 0, "of a section of a job file that give the answer again"),
    YS_FIELD(TRIAL, outside, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how the framework is set so without yardstick"),
    YS_FIELD_OF(TRIAL, points, YS_FIELD_LIST, &ys_tuned_point_record, 0, "what was tried; the trial as it is first"),
    YS_FIELD(TRIAL, steps, YS_FIELD_INT, "steps", YS_FIELD_NULL, "with --over: that the search took"),
    YS_FIELD(TRIAL, judged, YS_FIELD_INT, "1", YS_FIELD_NULL, "likewise: points that were run on all seeds"),
    YS_FIELD(TRIAL, skipped, YS_FIELD_INT, "1", YS_FIELD_NULL, "likewise: points that were refused"),
    YS_FIELD(TRIAL, search_s, YS_FIELD_REAL, "s", YS_FIELD_NULL, "likewise: wall-clock time of the search"),
    YS_FIELD(TRIAL, value, YS_FIELD_REAL, NULL, YS_FIELD_NULL,
             "likewise: median of the winner in fresh rounds; null: most did not reach the target"),
    YS_FIELD(TRIAL, as_it_is, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "likewise: the same of the trial as it is"),
    YS_FIELD(TRIAL, met, YS_FIELD_INT, "1", YS_FIELD_NULL,
             "of time or steps to a target: fresh rounds of the winner that reached it"),
    YS_FIELD_OF(TRIAL, spent, YS_FIELD_LIST, &ys_tuned_part_record, 0, "its share of the budget"),
};
const struct ys_record ys_tuned_trial_record = YS_RECORD("tuned trial", TRIAL, trial_fields);

#define ALL struct ys_tuned
static const struct ys_field all_fields[] = {
    YS_FIELD(ALL, schema, YS_FIELD_TEXT, NULL, 0, "of this document"),
    YS_FIELD(ALL, wanted, YS_FIELD_TEXT, NULL, 0, "as --for said it"),
    YS_FIELD(ALL, metric, YS_FIELD_TEXT, NULL, 0, "that is to be best"),
    YS_FIELD(ALL, study, YS_FIELD_TEXT, NULL, 0, "its name"),
    YS_FIELD(ALL, budget_s, YS_FIELD_REAL, "s", YS_FIELD_NULL, "of all trials, in equal shares; null with --over"),
    YS_FIELD(ALL, search, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how hyper-parameters were searched (--over)"),
    YS_FIELD(ALL, over, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "which, with their values"),
    YS_FIELD(ALL, budget_steps, YS_FIELD_INT, "steps", YS_FIELD_NULL, "of all trials, in equal shares"),
    YS_FIELD(ALL, interrupted, YS_FIELD_FLAG, NULL, 0, "it was asked to stop: what it had is unconfirmed"),
    YS_FIELD_OF(ALL, trials, YS_FIELD_LIST, &ys_tuned_trial_record, 0, "in the order of the study"),
};
const struct ys_record ys_tuned_record = YS_RECORD("tuned", ALL, all_fields);
