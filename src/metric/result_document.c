#include "metric/result_document.h"

#include "stat/compare.h"
#include "store/stored_study.h"

static const char *const scale_words[] = {[YS_SCALE_RATIO] = "ratio", [YS_SCALE_DIFFERENCE] = "difference"};
const struct ys_names ys_scales = YS_NAMES("scale", scale_words);

#define OF_QUIET(member, unit, what) YS_FIELD(struct ys_result_quiet, member, YS_FIELD_REAL, unit, YS_FIELD_NULL, what)
static const struct ys_field quiet_fields[] = {
    YS_FIELD(struct ys_result_quiet, runs, YS_FIELD_INT, "1", 0, "that count, are ok and were not disturbed"),
    OF_QUIET(rate_per_s, "1/s", "median of those"),
    OF_QUIET(latency_p50_s, "s", "median of those"),
    OF_QUIET(wall_s, "s", "median of those"),
    OF_QUIET(cpu_s, "s", "median of those"),
};
static const struct ys_record quiet_record = YS_RECORD("quiet", struct ys_result_quiet, quiet_fields);

static const char *const warned_words[] = {[YS_WARNED_DISTURBED] = "disturbed",
                                           [YS_WARNED_UNSTEADY] = "unsteady",
                                           [YS_WARNED_SHORT] = "short",
                                           [YS_WARNED_LACKING] = "lacking",
                                           [YS_WARNED_SAID] = "said"};
const struct ys_names ys_warneds = YS_NAMES("kind of warning", warned_words);
static const struct ys_field warned_fields[] = {
    YS_FIELD_NAMED(struct ys_result_warned, kind, &ys_warneds, 0, "of the warning"),
    YS_FIELD(struct ys_result_warned, runs, YS_FIELD_INT, "1", 0, "of which it is true"),
    YS_FIELD(struct ys_result_warned, text, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what they said; of other kinds null"),
};
const struct ys_record ys_result_warned_record = YS_RECORD("warning", struct ys_result_warned, warned_fields);

#define ERRORS(type)                                                                                                   \
    YS_FIELD(type, disagreements, YS_FIELD_INT, "1", YS_FIELD_NULL,                                                    \
             "answers that differ from the reference's; null: there are none"),                                        \
        YS_FIELD(type, accuracy, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the framework"),                               \
        YS_FIELD(type, reference_accuracy, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the reference"),                     \
        YS_FIELD(type, logits_error, YS_FIELD_REAL, "1", YS_FIELD_NULL,                                                \
                 "largest difference over largest value; null: not finite")
#define LAYER struct ys_agreement_layer
static const struct ys_field layer_fields[] = {
    YS_FIELD(LAYER, value, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of the graph"),
    YS_FIELD(LAYER, op, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "that makes it"),
    YS_FIELD(LAYER, error, YS_FIELD_REAL, "1", YS_FIELD_NULL, "largest difference over largest value"),
};
static const struct ys_record layer_record = YS_RECORD("layer", LAYER, layer_fields);

#define ROUND struct ys_agreement_round
static const struct ys_field round_fields[] = {
    YS_FIELD(ROUND, round, YS_FIELD_INT, "1", YS_FIELD_NULL, "from 0"),
    ERRORS(ROUND),
    YS_FIELD(ROUND, only_here, YS_FIELD_INT, "1", YS_FIELD_NULL, "that it got right and the reference did not"),
    YS_FIELD(ROUND, only_reference, YS_FIELD_INT, "1", YS_FIELD_NULL, "that the reference got right and it did not"),
    YS_FIELD(ROUND, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why there are no predictions"),
};
static const struct ys_record round_record = YS_RECORD("round", ROUND, round_fields);

#define BLOCK                              struct ys_agreement_block
#define OF_BLOCK(member, kind, unit, what) YS_FIELD(BLOCK, member, kind, unit, YS_FIELD_NULL, what)
static const struct ys_field block_fields[] = {
    OF_BLOCK(reference, YS_FIELD_TEXT, NULL, "who is right"),
    OF_BLOCK(weights_steps, YS_FIELD_INT, "1", "that the weights were trained"),
    OF_BLOCK(rows, YS_FIELD_INT, "1", "that were predicted"),
    OF_BLOCK(predictions, YS_FIELD_INT, "1", "rows of all rounds"),
    ERRORS(BLOCK),
    OF_BLOCK(classes, YS_FIELD_INT, "1", "of an answer"),
    OF_BLOCK(change, YS_FIELD_REAL, "1", "of the accuracy, against the reference's"),
    OF_BLOCK(change_lo, YS_FIELD_REAL, "1", "of its 95 % interval over the rows, Tango's"),
    OF_BLOCK(change_hi, YS_FIELD_REAL, "1", "likewise"),
    OF_BLOCK(change_p, YS_FIELD_REAL, "1", "McNemar's exact test, the largest of the rounds"),
    OF_BLOCK(rounds_lo, YS_FIELD_REAL, "1", "of the median's interval over the rounds; null: fewer than six"),
    OF_BLOCK(rounds_hi, YS_FIELD_REAL, "1", "likewise"),
    OF_BLOCK(layers_rows, YS_FIELD_INT, "1", "that values inside the network were compared on"),
    OF_BLOCK(layers_reason, YS_FIELD_TEXT, NULL, "why they were not"),
    YS_FIELD_OF(BLOCK, layers, YS_FIELD_LIST, &layer_record, YS_FIELD_NULL | YS_FIELD_EMPTY,
                "the largest error of each over the rounds"),
    YS_FIELD_OF(BLOCK, in_float, YS_FIELD_TEXTS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY | YS_FIELD_LATER,
                "of a quantised network: nodes that are computed in float, and why"),
    YS_FIELD_OF(BLOCK, rounds, YS_FIELD_LIST, &round_record, 0, "each of them"),
};
const struct ys_record ys_agreement_block_record = YS_RECORD("agreement", BLOCK, block_fields);

#define OF_ATTACK(member, kind, unit, what) YS_FIELD(struct ys_attack_block, member, kind, unit, YS_FIELD_NULL, what)
static const struct ys_field attack_fields[] = {
    OF_ATTACK(attack, YS_FIELD_TEXT, NULL, "with all its numbers"),
    OF_ATTACK(clean, YS_FIELD_REAL, "rows", "that were right before, median of the runs as all that follows"),
    OF_ATTACK(broken, YS_FIELD_REAL, "rows", "of those, that it broke"),
    OF_ATTACK(target_reached, YS_FIELD_REAL, "rows", "of those, of jsma; null of others"),
    OF_ATTACK(change_p25, YS_FIELD_REAL, "1", "of the change over all rows; null: infinite, or nothing was right"),
    OF_ATTACK(change_p50, YS_FIELD_REAL, "1", "likewise"),
    OF_ATTACK(change_p75, YS_FIELD_REAL, "1", "likewise"),
    OF_ATTACK(gradients, YS_FIELD_REAL, "1", "of a row, that it asked for in all"),
    OF_ATTACK(queries, YS_FIELD_REAL, "1", "logits of a row without a gradient, likewise"),
    OF_ATTACK(attack_s, YS_FIELD_REAL, "s", "that it took"),
};
const struct ys_record ys_attack_block_record = YS_RECORD("attack", struct ys_attack_block, attack_fields);

static const struct ys_field standing_fields[] = {
    YS_FIELD(struct ys_standing_block, eps, YS_FIELD_REAL, "1", 0, "the most that a pixel of [0, 1] changes"),
    YS_FIELD(struct ys_standing_block, accuracy, YS_FIELD_REAL, "1", YS_FIELD_NULL, "that is left there"),
};
const struct ys_record ys_standing_block_record = YS_RECORD("standing", struct ys_standing_block, standing_fields);

#define OF_CORRUPTION(member, kind, flags, what) YS_FIELD(struct ys_corruption_block, member, kind, "1", flags, what)
static const struct ys_field corruption_fields[] = {
    YS_FIELD(struct ys_corruption_block, kind, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of corruption"),
    OF_CORRUPTION(severity, YS_FIELD_INT, 0, "1 to 5"),
    OF_CORRUPTION(accuracy, YS_FIELD_REAL, YS_FIELD_NULL, "on the rows after it"),
};
const struct ys_record ys_corruption_block_record =
    YS_RECORD("corruption", struct ys_corruption_block, corruption_fields);

#define OF_ALARM(member, kind, flags, what) YS_FIELD(struct ys_alarm_block, member, kind, NULL, flags, what)
static const struct ys_field alarm_fields[] = {
    OF_ALARM(attack, YS_FIELD_TEXT, YS_FIELD_NULL, "that it is of; null: the network itself"),
    OF_ALARM(alarm, YS_FIELD_TEXT, YS_FIELD_NULL, "in words"),
    OF_ALARM(value, YS_FIELD_REAL, YS_FIELD_NULL, "what was found, in the first of its runs"),
    OF_ALARM(threshold, YS_FIELD_REAL, YS_FIELD_NULL, "that it is over"),
    OF_ALARM(runs, YS_FIELD_INT, 0, "that have it"),
};
const struct ys_record ys_alarm_block_record = YS_RECORD("alarm", struct ys_alarm_block, alarm_fields);

#define OF_TWIN(member, unit, what) YS_FIELD(struct ys_twin_block, member, YS_FIELD_REAL, unit, YS_FIELD_NULL, what)
static const struct ys_field twin_fields[] = {
    OF_TWIN(robust_accuracy, "1", "as the metric; null: not known"),
    OF_TWIN(perturbation_p50, "1", "likewise"),
    YS_FIELD(struct ys_twin_block, corrupted_accuracy, YS_FIELD_REAL, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "likewise, where corruptions were asked for"),
};
const struct ys_record ys_twin_block_record = YS_RECORD("twin", struct ys_twin_block, twin_fields);

#define WITHSTANDS struct ys_robustness_block
static const struct ys_field robustness_fields[] = {
    YS_FIELD(WITHSTANDS, runs, YS_FIELD_INT, "1", 0, "that were attacked"),
    YS_FIELD(WITHSTANDS, rows, YS_FIELD_INT, "rows", YS_FIELD_NULL, "of each; null: no run was"),
    YS_FIELD(WITHSTANDS, accuracy, YS_FIELD_REAL, "1", YS_FIELD_NULL, "on these rows before"),
    YS_FIELD(WITHSTANDS, is_masked, YS_FIELD_FLAG, NULL, 0, "some run has an alarm"),
    YS_FIELD(WITHSTANDS, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why a run was not attacked, or not to the end"),
    YS_FIELD(WITHSTANDS, question_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "that a gradient of a batch took in mode attack, files and messages included"),
    YS_FIELD(WITHSTANDS, computed_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "of that, what the adapter says it computed"),
    YS_FIELD_OF(WITHSTANDS, attacks, YS_FIELD_LIST, &ys_attack_block_record, 0, "as they were asked for"),
    YS_FIELD_OF(WITHSTANDS, robust, YS_FIELD_LIST, &ys_standing_block_record, 0, "for each EPS that was asked for"),
    YS_FIELD_OF(WITHSTANDS, curve, YS_FIELD_LIST, &ys_standing_block_record, 0, "for each EPS of attack.curve, by pgd"),
    YS_FIELD_OF(WITHSTANDS, alarms, YS_FIELD_LIST, &ys_alarm_block_record, 0, "that gradients may be masked"),
    YS_FIELD_OF(WITHSTANDS, corruptions, YS_FIELD_LIST, &ys_corruption_block_record, YS_FIELD_MAY_LACK,
                "each kind at each severity that was asked for"),
    YS_FIELD_OF(WITHSTANDS, twins, YS_FIELD_LIST, &ys_twin_block_record, YS_FIELD_MAY_LACK,
                "of trainings of the built-in engine that rounding alone sets apart, in the first round"),
};
const struct ys_record ys_robustness_block_record = YS_RECORD("robustness", WITHSTANDS, robustness_fields);

#define OF_RANK(member, kind, unit, flags, what) YS_FIELD(struct ys_result_rank, member, kind, unit, flags, what)
#define MEDIAN(member, unit, what)               OF_RANK(member, YS_FIELD_REAL, unit, YS_FIELD_NULL, what)
#define ENDS(member, what)                       OF_RANK(member, YS_FIELD_REALS, "s", YS_FIELD_NULL | YS_FIELD_EMPTY, what)
#define WIRE(member, what)                       OF_RANK(member, YS_FIELD_REAL, "B", YS_FIELD_LATER | YS_FIELD_NULL, what)
#define HEARD(member, kind, unit, what)          OF_RANK(member, kind, unit, YS_FIELD_LATER | YS_FIELD_NULL, what)
static const char *const part_words[] = {[YS_RANK_COMPUTE] = "compute",
                                         [YS_RANK_OPTIMIZER] = "optimizer",
                                         [YS_RANK_FRAMEWORK] = "framework",
                                         [YS_RANK_INPUT] = "input",
                                         [YS_RANK_REST] = "rest"};
const struct ys_names ys_rank_parts = YS_NAMES("part of a step", part_words);

static const struct ys_field rank_fields[] = {
    OF_RANK(rank, YS_FIELD_INT, "1", 0, "counted from 0"),
    OF_RANK(host, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "that it was on; null: all were on one"),
    OF_RANK(clock_error_s, YS_FIELD_REAL, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of its host's clock, the largest"),
    YS_FIELD_NAMED(struct ys_result_rank, status, &ys_run_statuses, YS_FIELD_NULL,
                   "how it ended in the failure that the trial tells of; ok without any"),
    OF_RANK(runs, YS_FIELD_INT, "1", 0, "that are ok, which the rest is of"),
    MEDIAN(rate_per_s, "1/s", "rows of its own, median"),
    MEDIAN(cpu_s, "s", "processor time, median"),
    MEDIAN(cpu_wait_s, "s", "threads were ready and had no CPU, summed; median"),
    MEDIAN(rss_peak_bytes, "B", "median"),
    MEDIAN(threads_peak, "1", "median"),
    MEDIAN(compute_s, "s", "of a step, median"),
    MEDIAN(communication_s, "s", "of a step, median"),
    MEDIAN(waiting_s, "s", "of a step, median"),
    OF_RANK(optimizer_s, YS_FIELD_REAL, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of a step, median"),
    OF_RANK(framework_s, YS_FIELD_REAL, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of a step, median"),
    MEDIAN(input_s, "s", "of a step, median"),
    MEDIAN(rest_s, "s", "of a step, median"),
    ENDS(compute_ci, "of that median"),
    ENDS(communication_ci, "of that median"),
    ENDS(waiting_ci, "of that median"),
    OF_RANK(optimizer_ci, YS_FIELD_REALS, "s", YS_FIELD_LATER | YS_FIELD_NULL | YS_FIELD_EMPTY, "of that median"),
    OF_RANK(framework_ci, YS_FIELD_REALS, "s", YS_FIELD_LATER | YS_FIELD_NULL | YS_FIELD_EMPTY, "of that median"),
    ENDS(input_ci, "of that median"),
    ENDS(rest_ci, "of that median"),
    MEDIAN(level, "1", "true level of these intervals"),
    YS_FIELD_NAMED(struct ys_result_rank, late_part, &ys_rank_parts, YS_FIELD_NULL,
                   "what of its own takes longer than that of others by most"),
    MEDIAN(late_s, "s", "by how much for a step, median"),
    ENDS(late_ci, "of that median"),
    MEDIAN(sent_bytes, "B", "to other ranks for a step, median"),
    OF_RANK(untimed, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "why the parts of its step are null"),
    OF_RANK(interface, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "of its host, which the next ones are of"),
    WIRE(wire_sent_bytes, "that went out for a step, median"),
    WIRE(wire_received_bytes, "that came in for a step, median"),
    WIRE(wire_needed_bytes,
         "that the way named has to send from there for a step; of mean and servers the mean over hosts"),
    HEARD(collective_library, YS_FIELD_TEXT, NULL, "whose collectives; null: nothing is known of them"),
    HEARD(collective_reason, YS_FIELD_TEXT, NULL, "why something is not known of them"),
    HEARD(collective_calls, YS_FIELD_REAL, "1", "of a step, median"),
    HEARD(collective_bytes, YS_FIELD_REAL, "B", "handed to them for a step, median"),
    HEARD(collective_s, YS_FIELD_REAL, "s", "of a step: at least one was under way; median"),
    HEARD(hidden_s, YS_FIELD_REAL, "s", "of that, while it did not wait for its gradients; median"),
};
const struct ys_record ys_result_rank_record = YS_RECORD("rank", struct ys_result_rank, rank_fields);

static const struct ys_field look_fields[] = {
    YS_FIELD(struct ys_result_look, rounds, YS_FIELD_INT, "1", 0, "after so many"),
    YS_FIELD(struct ys_result_look, level, YS_FIELD_REAL, "1", 0, "of its intervals"),
};
const struct ys_record ys_result_look_record = YS_RECORD("look", struct ys_result_look, look_fields);
static const struct ys_field decide_fields[] = {
    YS_FIELD(struct ys_result_decide, metric, YS_FIELD_TEXT, NULL, 0, "by which; auto: the speed of each comparison"),
    YS_FIELD_OF(struct ys_result_decide, looks, YS_FIELD_LIST, &ys_result_look_record, 0, "at its comparisons"),
};
const struct ys_record ys_result_decide_record = YS_RECORD("decide", struct ys_result_decide, decide_fields);
static const struct ys_field chain_fields[] = {
    YS_FIELD(struct ys_result_chain, link, YS_FIELD_INT, "1", 0, "its number"),
    YS_FIELD(struct ys_result_chain, hash, YS_FIELD_TEXT, NULL, 0, "SHA-256 of it"),
};
const struct ys_record ys_result_chain_record = YS_RECORD("chain", struct ys_result_chain, chain_fields);

#define OF_STUDY(member, kind, flags, what) YS_FIELD(struct ys_result_study, member, kind, NULL, flags, what)
#define PART_OF_STUDY(member, record, flags, what)                                                                     \
    YS_FIELD_OF(struct ys_result_study, member, YS_FIELD_OBJECT_OWNED, record, flags, what)
static const struct ys_field study_fields[] = {
    OF_STUDY(id, YS_FIELD_INT, YS_FIELD_NULL, "in the store"),
    OF_STUDY(name, YS_FIELD_TEXT, 0, "of the study"),
    OF_STUDY(folder, YS_FIELD_TEXT, 0, "below the results folder"),
    OF_STUDY(started, YS_FIELD_TEXT, YS_FIELD_NULL, "date"),
    OF_STUDY(ended, YS_FIELD_TEXT, YS_FIELD_NULL, "date"),
    YS_FIELD_NAMED(struct ys_result_study, status, &ys_study_states, YS_FIELD_NULL, "running, or how it ended"),
    OF_STUDY(exit_code, YS_FIELD_INT, YS_FIELD_NULL | YS_FIELD_LATER, "of its last session"),
    OF_STUDY(seed, YS_FIELD_INT, YS_FIELD_NULL, "of round 0"),
    OF_STUDY(repeat, YS_FIELD_INT, YS_FIELD_NULL, "rounds that it has, as far as that is known"),
    PART_OF_STUDY(decide, &ys_result_decide_record, YS_FIELD_NULL | YS_FIELD_LATER, "where comparisons end it"),
    OF_STUDY(rounds, YS_FIELD_INT, 0, "that are complete"),
    OF_STUDY(margin, YS_FIELD_REAL, 0, "what counts as the same"),
    OF_STUDY(comparisons, YS_FIELD_TEXT, YS_FIELD_LATER, "axes or all"),
    OF_STUDY(interleave, YS_FIELD_TEXT, YS_FIELD_LATER, "how its trials shared the machine"),
    OF_STUDY(on_disturbance, YS_FIELD_TEXT, YS_FIELD_NULL | YS_FIELD_LATER, "what became of disturbed runs"),
    OF_STUDY(command, YS_FIELD_TEXT, YS_FIELD_NULL | YS_FIELD_LATER, "that began it"),
    OF_STUDY(job_hash, YS_FIELD_TEXT, 0, "SHA-256 of its trials"),
    OF_STUDY(job_text, YS_FIELD_TEXT, YS_FIELD_NULL, "as it was given; null of flags alone"),
    OF_STUDY(version, YS_FIELD_TEXT, YS_FIELD_NULL | YS_FIELD_LATER, "of yardstick"),
    OF_STUDY(timing, YS_FIELD_JSON, YS_FIELD_NULL | YS_FIELD_LATER, "what its sessions took"),
    OF_STUDY(imported, YS_FIELD_TEXT, YS_FIELD_NULL | YS_FIELD_LATER, "the file that it came from"),
    PART_OF_STUDY(chain, &ys_result_chain_record, YS_FIELD_NULL | YS_FIELD_LATER,
                  "of the store, the link that holds it"),
};
const struct ys_record ys_result_study_record = YS_RECORD("study", struct ys_result_study, study_fields);

#define OBSERVED struct ys_result_observed
static const struct ys_field observed_fields[] = {
    YS_FIELD(OBSERVED, grouped, YS_FIELD_FLAG, NULL, 0, "it had a control group"),
    YS_FIELD(OBSERVED, group, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "which, or why not"),
    YS_FIELD(OBSERVED, guarded, YS_FIELD_FLAG, NULL, 0, "it could not write what is not its own"),
    YS_FIELD(OBSERVED, guard, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "by what, or why not"),
    YS_FIELD(OBSERVED, libraries, YS_FIELD_TEXTS, NULL, 0, "numerical ones that were mapped"),
    YS_FIELD(OBSERVED, notes, YS_FIELD_TEXTS, NULL, 0, "what hides in them"),
};
const struct ys_record ys_result_observed_record = YS_RECORD("observed", OBSERVED, observed_fields);

#define OF_TRIAL(member, kind, flags, what)     YS_FIELD(struct ys_result_trial, member, kind, NULL, flags, what)
#define PART(member, kind, record, flags, what) YS_FIELD_OF(struct ys_result_trial, member, kind, record, flags, what)
static const struct ys_field trial_fields[] = {
    OF_TRIAL(id, YS_FIELD_TEXT, 0, "its name, for people"),
    OF_TRIAL(index, YS_FIELD_INT, YS_FIELD_LATER, "its number inside the study: place in the job, from 0"),
    OF_TRIAL(trial_id, YS_FIELD_INT, 0, "its number in the database"),
    OF_TRIAL(section, YS_FIELD_TEXT, YS_FIELD_NULL, "of the job"),
    OF_TRIAL(factors, YS_FIELD_JSON, YS_FIELD_NULL, "the keys that vary in that section, with this trial's values"),
    PART(framework, YS_FIELD_OBJECT_OWNED, &ys_trial_framework_record, YS_FIELD_NULL, "as it was found"),
    YS_FIELD_NAMED(struct ys_result_trial, status, &ys_run_statuses, 0, "of most of its failures; ok without any"),
    YS_FIELD_NAMED(struct ys_result_trial, stage, &ys_stages, YS_FIELD_NULL,
                   "where an example of those failures ended"),
    OF_TRIAL(reason, YS_FIELD_TEXT, YS_FIELD_NULL, "how it did, or why the trial never ran"),
    OF_TRIAL(command, YS_FIELD_TEXT, YS_FIELD_NULL, "that would help"),
    OF_TRIAL(runs, YS_FIELD_INT, 0, "runs that count"),
    OF_TRIAL(failed, YS_FIELD_INT, 0, "those of them that failed"),
    OF_TRIAL(disturbed, YS_FIELD_INT, YS_FIELD_LATER, "those of them during which the machine did much else"),
    OF_TRIAL(runs_planned, YS_FIELD_INT, YS_FIELD_LATER, "rounds in which it has to run"),
    OF_TRIAL(runs_lacking, YS_FIELD_INT, YS_FIELD_LATER, "those of which it has no run that counts"),
    OF_TRIAL(threads_shared, YS_FIELD_TRUTH, YS_FIELD_NULL | YS_FIELD_LATER,
             "false: one of its threads did the work, or all lay on one CPU; null: not known, or one was asked for"),
    OF_TRIAL(deviations, YS_FIELD_JSON, 0, "texts"),
    OF_TRIAL(scales, YS_FIELD_JSON, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "texts: those that its framework's own quantiser chose, as its first ok run read them back"),
    OF_TRIAL(software, YS_FIELD_TEXT, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "what stands for its graphics processor, as its adapter says"),
    OF_TRIAL(warnings, YS_FIELD_JSON, 0, "texts"),
    PART(warned, YS_FIELD_LIST, &ys_result_warned_record, YS_FIELD_LATER, "of how many runs each kind of them is true"),
    OF_TRIAL(doubts, YS_FIELD_JSON, YS_FIELD_NULL | YS_FIELD_LATER,
             "texts: which checks of its runs were not made, and what its speed is known within"),
    OF_TRIAL(proof, YS_FIELD_JSON, 0, "object"),
    OF_TRIAL(metrics, YS_FIELD_JSON, 0, "name to metric object"),
    PART(agreement, YS_FIELD_OBJECT_OWNED, &ys_agreement_block_record, YS_FIELD_NULL,
         "what was predicted with the same weights"),
    PART(robustness, YS_FIELD_OBJECT_OWNED, &ys_robustness_block_record, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
         "what it withstands, where something was to attack it"),
    PART(stored, YS_FIELD_OBJECT_OWNED, &ys_facts_stored_record, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
         "what it stored and loaded again, in mode size, as its last run that counts found it"),
    PART(ranks, YS_FIELD_LIST, &ys_result_rank_record, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
         "each of its processes, where there are several"),
    PART(quiet, YS_FIELD_OBJECT_OWNED, &quiet_record, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "without its disturbed runs"),
    PART(perf, YS_FIELD_OBJECT_OWNED, &ys_facts_perf_record, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
         "where processor time went, mean of its runs"),
    PART(keys, YS_FIELD_OBJECT, &ys_trial_settings_record, YS_FIELD_LATER, "the settings, resolved"),
    OF_TRIAL(options, YS_FIELD_JSON, YS_FIELD_NULL | YS_FIELD_LATER, "of the framework's recipe, by name"),
    OF_TRIAL(env, YS_FIELD_JSON, YS_FIELD_NULL | YS_FIELD_LATER, "environment variables that the job set"),
    PART(observed, YS_FIELD_OBJECT_OWNED, &ys_result_observed_record, YS_FIELD_NULL | YS_FIELD_LATER,
         "how its runs were"),
    PART(said, YS_FIELD_LIST, &ys_said_record, YS_FIELD_LATER,
         "what its adapter says of itself, beside what was observed"),
    OF_TRIAL(runs_detail, YS_FIELD_JSON, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "where single runs were asked for"),
};
const struct ys_record ys_result_trial_record = YS_RECORD("trial", struct ys_result_trial, trial_fields);

static const char *const rounds_words[] = {[YS_ROUNDS_INDEPENDENT] = "independent",
                                           [YS_ROUNDS_CORRELATED] = "correlated",
                                           [YS_ROUNDS_UNKNOWN] = "cannot be told"};
const struct ys_names ys_rounds_say = YS_NAMES("word for rounds", rounds_words);

static const char *const decision_words[] = {
    [YS_DECISION_MADE] = "decided", [YS_DECISION_OPEN] = "open", [YS_DECISION_NEVER] = "never"};
const struct ys_names ys_decisions = YS_NAMES("decision", decision_words);

static const char *const scaling_words[] = {[YS_SCALING_STRONG] = "strong", [YS_SCALING_WEAK] = "weak"};
const struct ys_names ys_scalings = YS_NAMES("scaling", scaling_words);

#define OF_SINGLE(member, kind, flags, what) YS_FIELD(struct ys_comparison_single, member, kind, NULL, flags, what)
static const struct ys_field single_fields[] = {
    OF_SINGLE(ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY, "both ends"),
    OF_SINGLE(level, YS_FIELD_REAL, YS_FIELD_NULL, "true level of that interval"),
};
static const struct ys_record single_record = YS_RECORD("single", struct ys_comparison_single, single_fields);

#define OF_TAKEN(member, kind, flags, what) YS_FIELD(struct ys_comparison_taken, member, kind, NULL, flags, what)
static const struct ys_field taken_fields[] = {
    OF_TAKEN(rounds, YS_FIELD_INT, 0, "from a run of which something was taken, at most so much"),
    OF_TAKEN(least, YS_FIELD_REAL, YS_FIELD_NULL, "share of the time of its CPUs"),
    OF_TAKEN(most, YS_FIELD_REAL, YS_FIELD_NULL, "share of the time of its CPUs"),
    OF_TAKEN(by_host, YS_FIELD_FLAG, 0, "by nothing but the hypervisor"),
};
static const struct ys_record taken_record = YS_RECORD("taken", struct ys_comparison_taken, taken_fields);

static const char *const best_words[] = {[YS_BEST_A] = "a", [YS_BEST_B] = "b"};
const struct ys_names ys_pair_bests = YS_NAMES("best of a pair", best_words);

#define OF_PAIR(member, kind, flags, what) YS_FIELD(struct ys_comparison_record, member, kind, NULL, flags, what)
#define WORD(member, names, what)          YS_FIELD_NAMED(struct ys_comparison_record, member, names, 0, what)
static const struct ys_field comparison_fields[] = {
    OF_PAIR(metric, YS_FIELD_TEXT, 0, "that is compared"),
    OF_PAIR(a, YS_FIELD_TEXT, 0, "id of the later trial of the job, or of the one of several ranks"),
    OF_PAIR(b, YS_FIELD_TEXT, 0, "id of the other one, the base"),
    OF_PAIR(a_index, YS_FIELD_INT, YS_FIELD_LATER, "number of that trial inside the study"),
    OF_PAIR(b_index, YS_FIELD_INT, YS_FIELD_LATER, "number of that trial inside the study"),
    OF_PAIR(varies, YS_FIELD_TEXT, 0, "the factor in which they differ; of several the names of all"),
    YS_FIELD_NAMED(struct ys_comparison_record, best, &ys_pair_bests, YS_FIELD_NULL | YS_FIELD_LATER,
                   "which of them is the best of the group of both"),
    WORD(scale, &ys_scales, "ratio, or difference"),
    OF_PAIR(ratio, YS_FIELD_REAL, YS_FIELD_NULL, "median of a / b over matched rounds"),
    OF_PAIR(difference, YS_FIELD_REAL, YS_FIELD_NULL, "median of a - b"),
    OF_PAIR(ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY,
            "rank interval of that median; null for fewer than 6 matched rounds"),
    OF_PAIR(level, YS_FIELD_REAL, YS_FIELD_NULL, "true level of that interval"),
    YS_FIELD_OF(struct ys_comparison_record, single, YS_FIELD_OBJECT, &single_record, 0, "as if it were the only one"),
    OF_PAIR(settled_ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY | YS_FIELD_LATER,
            "the interval were what is left of warm-up gone"),
    WORD(rounds, &ys_rounds_say, "whether a round's ratio tells the next one's"),
    OF_PAIR(round_correlation, YS_FIELD_REAL, YS_FIELD_NULL, "of a round's ratio with the next one's, by ranks"),
    OF_PAIR(bias_bound, YS_FIELD_REAL, YS_FIELD_NULL, "what is left of warm-up may make of it"),
    OF_PAIR(window_from, YS_FIELD_REAL, YS_FIELD_NULL | YS_FIELD_LATER, "where the window that both share begins"),
    OF_PAIR(n, YS_FIELD_INT, 0, "matched rounds"),
    OF_PAIR(left_out, YS_FIELD_INT, YS_FIELD_LATER,
            "rounds beside these from which the machine took nobody knows how much"),
    YS_FIELD_OF(struct ys_comparison_record, taken, YS_FIELD_OBJECT, &taken_record, YS_FIELD_LATER,
                "what it took from the others, which is in ci"),
    YS_FIELD_NAMED(struct ys_comparison_record, decision, &ys_decisions, YS_FIELD_NULL | YS_FIELD_LATER,
                   "of a study that goes on until this comparison is decided: whether it is"),
    OF_PAIR(look_rounds, YS_FIELD_INT, YS_FIELD_NULL | YS_FIELD_LATER,
            "rounds of the look that it is as of, where they go on until it is decided"),
    OF_PAIR(margin, YS_FIELD_REAL, 0, "what counted as the same, on that scale"),
    WORD(verdict, &ys_verdicts, "what a is against b"),
    OF_PAIR(resolution, YS_FIELD_REAL, YS_FIELD_NULL,
            "the smallest true difference that a study like this finds nine times of ten"),
    OF_PAIR(reason, YS_FIELD_TEXT, YS_FIELD_NULL, "why it is unclear or invalid"),
    OF_PAIR(a_value, YS_FIELD_REAL, YS_FIELD_NULL, "median of trial a"),
    OF_PAIR(b_value, YS_FIELD_REAL, YS_FIELD_NULL, "median of trial b"),
    OF_PAIR(a_met, YS_FIELD_INT, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "of a target: rounds in which a met it"),
    OF_PAIR(b_met, YS_FIELD_INT, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "likewise b"),
    OF_PAIR(unit, YS_FIELD_TEXT, 0, "of the metric"),
    WORD(better, &ys_betters, "which values of the metric are better"),
    YS_FIELD_NAMED(
        struct ys_comparison_record, scaling, &ys_scalings, YS_FIELD_NULL | YS_FIELD_LATER,
        "of a speed of several ranks against that of one: strong where the batch is one, weak where it grows"),
    OF_PAIR(efficiency, YS_FIELD_REAL, YS_FIELD_NULL | YS_FIELD_LATER, "that ratio over the number of ranks"),
    OF_PAIR(efficiency_ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY | YS_FIELD_LATER,
            "ci over the number of ranks"),
    OF_PAIR(
        exposed_s, YS_FIELD_REAL, YS_FIELD_NULL | YS_FIELD_LATER,
        "of the speed of ranks that exchange against that of ranks that do not: by how much step_s is longer, median"),
    OF_PAIR(exposed_s_ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY | YS_FIELD_LATER,
            "rank interval of that median, as ci"),
};
const struct ys_record ys_comparison_record = YS_RECORD("comparison", struct ys_comparison_record, comparison_fields);

static const char *const difference_words[] = {
    [YS_DIFFERENCE_VERSION] = "version", [YS_DIFFERENCE_RUNTIME] = "runtime", [YS_DIFFERENCE_LIBRARIES] = "libraries",
    [YS_DIFFERENCE_RECIPE] = "recipe",   [YS_DIFFERENCE_FILES] = "files",     [YS_DIFFERENCE_THREADS] = "threads"};
const struct ys_names ys_differences = YS_NAMES("difference", difference_words);

#define OF_VALUE(member, kind, what) YS_FIELD(struct ys_shared_value, member, kind, NULL, 0, what)
static const struct ys_field value_fields[] = {
    OF_VALUE(value, YS_FIELD_TEXT, "in words"),
    OF_VALUE(trials, YS_FIELD_TEXTS, "ids of those that have it"),
};
const struct ys_record ys_shared_value_record = YS_RECORD("value", struct ys_shared_value, value_fields);

static const struct ys_field difference_fields[] = {
    YS_FIELD_NAMED(struct ys_difference, what, &ys_differences, 0, "in which trials differ"),
    YS_FIELD(struct ys_difference, text, YS_FIELD_TEXT, NULL, 0, "a sentence"),
    YS_FIELD_OF(struct ys_difference, values, YS_FIELD_LIST, &ys_shared_value_record, 0, "what the trials have"),
};
const struct ys_record ys_difference_record = YS_RECORD("difference", struct ys_difference, difference_fields);

#define CARRIED(member, kind, unit, what) YS_FIELD(struct ys_result_transfer, member, kind, unit, 0, what)
static const struct ys_field transfer_fields[] = {
    CARRIED(section, YS_FIELD_TEXT, NULL, "that both trials are of"),
    CARRIED(attack, YS_FIELD_TEXT, NULL, "with all its numbers"),
    CARRIED(from, YS_FIELD_TEXT, NULL, "id of the trial on whose weights it was made"),
    CARRIED(to, YS_FIELD_TEXT, NULL, "id of the trial to whose weights it was shown"),
    CARRIED(rounds, YS_FIELD_INT, "1", "whose rows are summed"),
    CARRIED(both_right, YS_FIELD_INT, "rows", "that both had right before"),
    CARRIED(broken, YS_FIELD_INT, "rows", "of those, that it broke where it was made"),
    CARRIED(also_wrong, YS_FIELD_INT, "rows", "of those, that the other gets wrong too"),
};
const struct ys_record ys_result_transfer_record = YS_RECORD("transfer", struct ys_result_transfer, transfer_fields);

static const struct ys_field group_fields[] = {
    YS_FIELD(struct ys_result_group, trials, YS_FIELD_TEXTS, NULL, 0, "ids, in the order of the job"),
    YS_FIELD(struct ys_result_group, best, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "the fastest that may be one"),
};
const struct ys_record ys_result_group_record = YS_RECORD("group", struct ys_result_group, group_fields);
