/* The documents of judgements, field by field: docs/judging.md. */
#include "judge/gate.h"
#include "judge/history.h"

#define OF_DIFFERENCE(member, flags, what)                                                                             \
    YS_FIELD(struct ys_judged_difference, member, YS_FIELD_TEXT, NULL, flags, what)
static const struct ys_field difference_fields[] = {
    OF_DIFFERENCE(what, 0, "that is not the same on both sides"),
    OF_DIFFERENCE(base, YS_FIELD_NULL, "its value there; null: none"),
    OF_DIFFERENCE(candidate, YS_FIELD_NULL, "likewise"),
};
const struct ys_record ys_judged_difference_record =
    YS_RECORD("difference", struct ys_judged_difference, difference_fields);

#define METRIC                              struct ys_judged_metric
#define OF_METRIC(member, kind, unit, what) YS_FIELD(METRIC, member, kind, unit, YS_FIELD_NULL, what)
static const struct ys_field metric_fields[] = {
    YS_FIELD(METRIC, metric, YS_FIELD_TEXT, NULL, 0, "its name"),
    YS_FIELD(METRIC, unit, YS_FIELD_TEXT, NULL, 0, "of its values"),
    YS_FIELD_NAMED(METRIC, better, &ys_betters, 0, "which direction is"),
    YS_FIELD_NAMED(METRIC, scale, &ys_scales, 0, "what is compared"),
    OF_METRIC(base_value, YS_FIELD_REAL, NULL, "median; null: no run has it"),
    OF_METRIC(candidate_value, YS_FIELD_REAL, NULL, "likewise"),
    YS_FIELD(METRIC, base_n, YS_FIELD_INT, "1", 0, "runs that it is of"),
    YS_FIELD(METRIC, candidate_n, YS_FIELD_INT, "1", 0, "likewise"),
    OF_METRIC(ratio, YS_FIELD_REAL, "1", "centre of candidate / base; null of a difference"),
    OF_METRIC(difference, YS_FIELD_REAL, "1", "centre of candidate - base; null of a ratio"),
    YS_FIELD(METRIC, ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "its interval, widened by drift"),
    OF_METRIC(level, YS_FIELD_REAL, "1", "of the ranks' part of it"),
    YS_FIELD(METRIC, settled_ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY,
             "the interval were what is left of warm-up gone; null: no question, or cannot be told"),
    YS_FIELD(METRIC, disturbed, YS_FIELD_INT, "1", 0, "runs from which the machine took a known time, which is in ci"),
    YS_FIELD(METRIC, left_out, YS_FIELD_INT, "1", 0,
             "runs of which nobody knows how much it took: they count for none"),
    YS_FIELD(METRIC, drift, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY,
             "by what ratio the machine may have changed; null: not known, or no question"),
    YS_FIELD(METRIC, margin, YS_FIELD_REAL, "1", 0, "what counts as the same"),
    YS_FIELD_NAMED(METRIC, verdict, &ys_verdicts, 0, "what the candidate is against the base"),
    OF_METRIC(reason, YS_FIELD_TEXT, NULL, "why it is unclear or invalid"),
};
const struct ys_record ys_judged_metric_record = YS_RECORD("metric", METRIC, metric_fields);

#define PAIR                             struct ys_judged_pair
#define LIST(type, member, record, what) YS_FIELD_OF(type, member, YS_FIELD_LIST, record, 0, what)
static const struct ys_field pair_fields[] = {
    YS_FIELD(PAIR, base, YS_FIELD_TEXT, NULL, 0, "name of a trial"),
    YS_FIELD(PAIR, candidate, YS_FIELD_TEXT, NULL, 0, "likewise"),
    LIST(PAIR, differences, &ys_judged_difference_record, "of their surroundings"),
    LIST(PAIR, other, &ys_judged_difference_record, "of their work: nothing of it, and it is the same"),
    YS_FIELD(PAIR, drift, YS_FIELD_TEXT, NULL, 0, "what bounds it"),
    YS_FIELD(PAIR, invalid, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why nothing may be concluded"),
    YS_FIELD(PAIR, base_fault, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "failed or not proven, on that side"),
    YS_FIELD(PAIR, candidate_fault, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "likewise"),
    YS_FIELD(PAIR, reference, YS_FIELD_FLAG, NULL, 0, "the same engine on the same work: bounds the drift of others"),
    LIST(PAIR, metrics, &ys_judged_metric_record, "one by one"),
    LIST(PAIR, confirmed, &ys_judged_metric_record, "by fresh rounds of both in turn; empty: none were run"),
    YS_FIELD(PAIR, unconfirmed, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why there are none, where they were asked for"),
};
const struct ys_record ys_judged_pair_record = YS_RECORD("pair", PAIR, pair_fields);

#define SIDE                  struct ys_judged_side
#define OF_SIDE(member, what) YS_FIELD(SIDE, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
static const struct ys_field side_fields[] = {
    OF_SIDE(selector, "as it was named"),
    OF_SIDE(name, "of the study"),
    OF_SIDE(started, "date"),
    OF_SIDE(version, "of yardstick"),
    YS_FIELD(SIDE, id, YS_FIELD_INT, NULL, YS_FIELD_NULL, "in the store; null of a file"),
};
const struct ys_record ys_judged_side_record = YS_RECORD("side", SIDE, side_fields);

#define JUDGED struct ys_judged
static const struct ys_field judged_fields[] = {
    YS_FIELD(JUDGED, schema, YS_FIELD_TEXT, NULL, 0, "of this document"),
    YS_FIELD_OF(JUDGED, base, YS_FIELD_OBJECT, &ys_judged_side_record, 0, "what is compared with"),
    YS_FIELD_OF(JUDGED, candidate, YS_FIELD_OBJECT, &ys_judged_side_record, 0, "what is compared"),
    LIST(JUDGED, differences, &ys_judged_difference_record, "of the studies and their machines"),
    YS_FIELD(JUDGED, anchors, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY,
             "by what ratio the machine was faster for the candidate by its own anchors; null: cannot be compared"),
    LIST(JUDGED, pairs, &ys_judged_pair_record, "of trials"),
    YS_FIELD(JUDGED, only_base, YS_FIELD_TEXTS, NULL, 0, "trials that the candidate has not"),
    YS_FIELD(JUDGED, only_candidate, YS_FIELD_TEXTS, NULL, 0, "trials that the base has not"),
};
const struct ys_record ys_judged_record = YS_RECORD("judgement", JUDGED, judged_fields);

#define CHECK                               struct ys_gate_check
#define OF_CHECK(member, kind, flags, what) YS_FIELD(CHECK, member, kind, NULL, flags, what)
static const struct ys_field check_fields[] = {
    OF_CHECK(trial, YS_FIELD_TEXT, 0, "of the baseline"),
    OF_CHECK(rule, YS_FIELD_TEXT, 0, "as it was written"),
    YS_FIELD_NAMED(CHECK, outcome, &ys_gate_outcomes, 0, "of this rule for this trial"),
    OF_CHECK(base_value, YS_FIELD_REAL, YS_FIELD_NULL, "median; null: none"),
    OF_CHECK(candidate_value, YS_FIELD_REAL, YS_FIELD_NULL, "likewise"),
    YS_FIELD_NAMED(CHECK, scale, &ys_scales, YS_FIELD_NULL, "what was compared; null: nothing was"),
    OF_CHECK(ratio, YS_FIELD_REAL, YS_FIELD_NULL, "centre of candidate / base"),
    OF_CHECK(difference, YS_FIELD_REAL, YS_FIELD_NULL, "centre of candidate - base"),
    OF_CHECK(ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY, "its interval, widened by drift"),
    OF_CHECK(settled_ci, YS_FIELD_REALS, YS_FIELD_NULL | YS_FIELD_EMPTY,
             "the interval were what is left of warm-up gone; null: no question, or cannot be told"),
    OF_CHECK(reason, YS_FIELD_TEXT, YS_FIELD_NULL, "where the interval does not say it"),
    OF_CHECK(fresh_rounds, YS_FIELD_INT, YS_FIELD_NULL, "that confirmed it; null: it was not tried"),
    OF_CHECK(fresh_change, YS_FIELD_REAL, YS_FIELD_NULL, "their centre of candidate / base, or their difference"),
    OF_CHECK(fresh_p, YS_FIELD_REAL, YS_FIELD_NULL, "how surely that is not the bound"),
};
const struct ys_record ys_gate_check_record = YS_RECORD("check", CHECK, check_fields);

#define GATE struct ys_gate
static const struct ys_field gate_fields[] = {
    YS_FIELD(GATE, schema, YS_FIELD_TEXT, NULL, 0, "of this document"),
    YS_FIELD_NAMED(GATE, outcome, &ys_gate_outcomes, 0, "of all checks"),
    YS_FIELD(GATE, sentence, YS_FIELD_TEXT, NULL, 0, "what came out"),
    YS_FIELD_OF(GATE, base, YS_FIELD_OBJECT, &ys_judged_side_record, 0, "the baseline"),
    YS_FIELD_OF(GATE, candidate, YS_FIELD_OBJECT, &ys_judged_side_record, 0, "what is checked"),
    LIST(GATE, checks, &ys_gate_check_record, "a rule for a trial each"),
    LIST(GATE, differences, &ys_judged_difference_record, "of the machines"),
    YS_FIELD(GATE, added, YS_FIELD_TEXTS, NULL, 0, "trials that the baseline has not: no rule says anything of them"),
};
const struct ys_record ys_gate_record = YS_RECORD("gate", GATE, gate_fields);

#define POINT struct ys_history_point
static const struct ys_field point_fields[] = {
    YS_FIELD(POINT, study, YS_FIELD_INT, NULL, 0, "its number"),
    YS_FIELD(POINT, started, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "its date"),
    YS_FIELD(POINT, version, YS_FIELD_TEXT, NULL, 0, "of the framework"),
    YS_FIELD(POINT, value, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "median; null: no run succeeded"),
    YS_FIELD(POINT, n, YS_FIELD_INT, "1", 0, "runs that it is of"),
    YS_FIELD(POINT, ci, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "its rank interval"),
    YS_FIELD(POINT, anchor, YS_FIELD_REALS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY,
             "how fast the machine was against the first study that says it, least and most of its anchors; null: not "
             "known"),
    YS_FIELD(POINT, change, YS_FIELD_FLAG, NULL, 0, "between the point before and this one"),
};
const struct ys_record ys_history_point_record = YS_RECORD("point", POINT, point_fields);

#define HISTORY struct ys_history
static const struct ys_field history_fields[] = {
    YS_FIELD(HISTORY, schema, YS_FIELD_TEXT, NULL, 0, "of this document"),
    YS_FIELD(HISTORY, trial, YS_FIELD_TEXT, NULL, 0, "its name"),
    YS_FIELD(HISTORY, metric, YS_FIELD_TEXT, NULL, 0, "its name"),
    YS_FIELD(HISTORY, unit, YS_FIELD_TEXT, NULL, 0, "of the values"),
    LIST(HISTORY, points, &ys_history_point_record, "studies by date"),
};
const struct ys_record ys_history_record = YS_RECORD("history", HISTORY, history_fields);
