#include "judge/study_pair.h"

#include "base/mem.h"
#include "judge/gate.h"
#include "judge/judge_parts.h"
#include "metric/metric.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, TRIALS = 2 };

/* Records own their texts, so they are not constants; nothing here frees them. */
static char made_word[] = "made", engine[] = "builtin", name_one[] = "one", name_two[] = "two", name_three[] = "three";
static char older[] = "old", newer[] = "new";

/* A study of two trials of the built-in engine, whose runs scatter by a few parts in a thousand about `speed`. */
struct made {
    struct ys_side side;
    struct ys_result_trial trials[TRIALS];
    struct ys_trial_framework frameworks[TRIALS];
    /* bias: nothing is left of warm-up; taken: nothing. Behind the runs one more, which does not count. */
    double speeds[TRIALS][RUNS + 1], bias[TRIALS][RUNS + 1], taken[TRIALS][RUNS + 1];
};

static size_t place_of(const char *metric)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    return (size_t)(ys_metric_find(metric) - infos);
}

static void make(struct made *made, char *closure, double speed, double other_speed)
{
    size_t count;
    ys_metric_infos(&count);
    *made = (struct made){.side = {.word = made_word, .trial = YS_FIELD_NONE}};
    made->side.result.study.margin = 0.02;
    made->side.result.trials = made->trials;
    made->side.result.trial_count = TRIALS;
    for (size_t t = 0; t < TRIALS; t++) {
        struct ys_result_trial *trial = &made->trials[t];
        made->frameworks[t] = (struct ys_trial_framework){.name = engine, .closure = t ? engine : closure};
        ys_record_init(&ys_trial_settings_record, &trial->keys);
        trial->keys.threads = (int64_t)t + 1;
        trial->id = t ? name_two : name_one;
        trial->framework = &made->frameworks[t];
        trial->runs = RUNS;
        trial->proof = ys_json_object();
        ys_json_set_string(trial->proof, "verdict", "pass");
        trial->values = ys_alloc(count, sizeof *trial->values);
        REQUIRE(trial->proof && trial->values);
        for (size_t r = 0; r < RUNS; r++)
            made->speeds[t][r] = (t ? other_speed : speed) * (1 + 0.001 * (double)r);
        struct ys_trial_metric *rate = &trial->values[place_of("rate_per_s")];
        *rate = (struct ys_trial_metric){
            .n = RUNS, .by_round = made->speeds[t], .bias = made->bias[t], .taken = made->taken[t], .rounds = RUNS};
        rate->summary = ys_stat_summarize(made->speeds[t], RUNS);
    }
}

static void drop(struct made *made)
{
    for (size_t t = 0; t < TRIALS; t++) {
        ys_json_free(made->trials[t].proof);
        ys_free(made->trials[t].values);
    }
}

static const struct ys_judged_metric *rate_of(const struct ys_judged *judged, size_t place)
{
    const struct ys_judged_pair *pairs = judged->pairs.items;
    return pairs[place].metrics.items;
}

static void what_differs_is_found_by_name(void)
{
    static const char *const except[] = {"load", NULL};
    ys_json *a = NULL, *b = NULL;
    struct ys_list found = {0};
    const char *of_a = "{\"cpu\":{\"model\":\"x\",\"n\":2,\"isa\":[1]},\"load\":3,\"only\":{\"a\":1}}";
    const char *of_b = "{\"cpu\":{\"model\":\"y\",\"n\":2,\"isa\":[1]},\"load\":4,\"new\":true,\"none\":null}";
    REQUIRE(ys_json_parse(of_a, strlen(of_a), "a", &a) == YS_OK && ys_json_parse(of_b, strlen(of_b), "b", &b) == YS_OK);
    ys_judge_differ(a, b, "", except, &found);
    const struct ys_judged_difference *all = found.items;
    REQUIRE(found.count == 3);
    CHECK_TEXT(all[0].what, "cpu.model");
    CHECK_TEXT(all[0].base, "x");
    CHECK_TEXT(all[0].candidate, "y");
    CHECK_TEXT(all[1].what, "only.a");
    CHECK(strcmp(all[1].base, "1") == 0 && !all[1].candidate);
    CHECK_TEXT(all[2].what, "new");
    ys_list_fini(&ys_judged_difference_record, &found);
    ys_json_free(a);
    ys_json_free(b);
}

static void a_change_is_found_where_what_is_common_bounds_the_drift(void)
{
    struct made base, candidate;
    struct ys_judged judged;
    make(&base, older, 1000, 500);
    make(&candidate, newer, 900, 500);
    ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
    CHECK_INT(judged.pairs.count, 2);
    const struct ys_judged_metric *rate = rate_of(&judged, 0);
    CHECK_INT(rate->verdict, YS_VERDICT_WORSE);
    CHECK_NEAR(rate->ratio, 0.9, 1e-12);
    const double *drift = rate->drift.items, *ci = rate->ci.items;
    REQUIRE(rate->drift.count == 2 && rate->ci.count == 2);
    CHECK(drift[0] < 1 && drift[1] > 1 && ci[0] < 0.9 && ci[1] > 0.9);
    /* Of the other, the first is no bound: it is not the same engine any more. */
    CHECK_INT(rate_of(&judged, 1)->verdict, YS_VERDICT_UNCLEAR);
    CHECK_INT(rate_of(&judged, 1)->drift.count, 0);
    ys_record_fini(&ys_judged_record, &judged);
    drop(&base);
    drop(&candidate);
}

/* The machine is a tenth slower, which the other trial shows: nothing is left of the difference. */
static void drift_widens_an_interval_towards_its_cause(void)
{
    struct made base, candidate;
    struct ys_judged judged;
    make(&base, older, 1000, 500);
    make(&candidate, newer, 900, 450);
    ys_judge_two(&base.side, &candidate.side, 0.02, "rate_per_s", &judged);
    const struct ys_judged_metric *rate = rate_of(&judged, 0);
    const double *ci = rate->ci.items;
    CHECK_INT(rate->verdict, YS_VERDICT_UNCLEAR);
    REQUIRE(rate->ci.count == 2);
    CHECK(ci[0] < 0.9 && ci[1] >= 1);
    CHECK_NEAR(rate->ratio, 0.9, 1e-12); /* a bound corrects nothing */
    ys_record_fini(&ys_judged_record, &judged);
    drop(&base);
    drop(&candidate);
}

/* A tenth slower; of that a tenth, or a hundredth, may be what is left of warm-up, or it cannot be told. */
static void what_is_left_of_warm_up_must_change_no_verdict(void)
{
    static const struct {
        double left;
        int verdict;
        const char *reason;
        size_t ends;
    } cases[] = {{0.1, YS_VERDICT_UNCLEAR, "warming up", 2},
                 {0.01, YS_VERDICT_WORSE, NULL, 2},
                 {-0.1, YS_VERDICT_WORSE, NULL, 2}, /* the base's: without it, it would be faster still */
                 {NAN, YS_VERDICT_UNCLEAR, "fewer than 30 blocks", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made base, candidate;
        struct ys_judged judged;
        make(&base, older, 1000, 500);
        make(&candidate, newer, 900, 500);
        for (size_t r = 0; r < RUNS; r++)
            *(cases[i].left < 0 ? &base.bias[0][r] : &candidate.bias[0][r]) = fabs(cases[i].left);
        ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
        const struct ys_judged_metric *rate = rate_of(&judged, 0);
        CHECK_INT(rate->verdict, cases[i].verdict);
        CHECK(cases[i].reason ? rate->reason && strstr(rate->reason, cases[i].reason) : !rate->reason);
        CHECK_INT(rate->ci.count, 2);
        CHECK_INT(rate->settled_ci.count, cases[i].ends);
        CHECK_INT(rate->is_untold, isnan(cases[i].left));
        ys_record_fini(&ys_judged_record, &judged);
        drop(&base);
        drop(&candidate);
    }
}

/* A tenth slower. What the machine took from the candidate's runs bounds that; runs of which nobody knows what it took
 * are in no interval, and must not be what the verdict hangs on. */
static void what_the_machine_took_bounds_a_verdict(void)
{
    static const struct {
        double taken; /* part of the time of the candidate's first `runs` runs */
        size_t runs;
        int verdict, outcome;
        int64_t disturbed, left_out;
        const char *reason;
    } cases[] = {{0.03, RUNS, YS_VERDICT_WORSE, YS_GATE_BROKEN, RUNS, 0, NULL},
                 {0.12, RUNS, YS_VERDICT_UNCLEAR, YS_GATE_OPEN, RUNS, 0, "differ too much"},
                 {NAN, 1, YS_VERDICT_WORSE, YS_GATE_BROKEN, 0, 1, NULL},
                 {NAN, 2, YS_VERDICT_UNCLEAR, YS_GATE_OPEN, 0, 2, "fewer than 6"},
                 {NAN, 3, YS_VERDICT_UNCLEAR, YS_GATE_OPEN, 0, 3, "more than a third"}};
    struct ys_rule rule = {(char[]){"rate_per_s >= -3 %"}, "rate_per_s", true, -0.03};
    const struct ys_rules rules = {&rule, 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made base, candidate;
        struct ys_judged judged;
        struct ys_gate gate;
        make(&base, older, 1000, 500);
        make(&candidate, newer, 900, 500);
        for (size_t r = 0; r < cases[i].runs; r++)
            candidate.taken[0][r] = cases[i].taken;
        ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
        const struct ys_judged_metric *rate = rate_of(&judged, 0);
        CHECK_INT(rate->verdict, cases[i].verdict);
        CHECK_INT(rate->disturbed, cases[i].disturbed);
        CHECK_INT(rate->left_out, cases[i].left_out);
        CHECK(cases[i].reason ? rate->reason && strstr(rate->reason, cases[i].reason) : !rate->reason);
        ys_record_fini(&ys_judged_record, &judged);
        REQUIRE(ys_gate_judge(&base.side, &candidate.side, &rules, &gate) == YS_OK);
        const struct ys_gate_check *check = gate.checks.items;
        CHECK_INT(check->outcome, cases[i].outcome);
        ys_record_fini(&ys_gate_record, &gate);
        drop(&base);
        drop(&candidate);
    }
}

/* 12 % faster as it says, and 5 % faster as its runs have it as a whole: then 3 % slower. */
static void a_speed_that_is_a_range_gets_a_verdict_at_both_ends(void)
{
    static const struct {
        double part;
        int verdict;
    } wholes[] = {{1.05 / 1.12, YS_VERDICT_BETTER}, {0.97 / 1.12, YS_VERDICT_UNCLEAR}};
    for (size_t w = 0; w < 2; w++) {
        struct made base, candidate;
        struct ys_judged judged;
        double whole[RUNS];
        make(&base, older, 1000, 500);
        make(&candidate, newer, 1120, 500);
        for (size_t r = 0; r < RUNS; r++)
            whole[r] = candidate.speeds[0][r] * wholes[w].part;
        candidate.trials[0].values[place_of("rate_per_s")].whole = whole;
        ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
        const struct ys_judged_metric *rate = rate_of(&judged, 0);
        const double *ci = rate->ci.items;
        CHECK_INT(rate->verdict, wholes[w].verdict);
        REQUIRE(rate->ci.count == 2);
        CHECK(ci[0] < 1.12 * wholes[w].part && ci[1] > 1.12);
        CHECK_NEAR(rate->ratio, 1.12, 1e-9);
        ys_record_fini(&ys_judged_record, &judged);
        drop(&base);
        drop(&candidate);
    }
}

/* One that looks disturbed in the run in which it is slow must not be called the same without that run, nor with
 * another in its place. */
static void a_verdict_must_not_hang_on_runs_that_were_left_out(void)
{
    for (size_t again = 0; again < 2; again++) {
        struct made base, candidate;
        struct ys_judged judged;
        const size_t at = again ? RUNS : 3;
        make(&base, older, 1000, 500);
        make(&candidate, newer, 1000.5, 500);
        candidate.trials[0].values[place_of("rate_per_s")].again = again;
        candidate.speeds[0][at] = 500;
        candidate.taken[0][at] = NAN;
        base.side.result.study.margin = 0.05;
        ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
        const struct ys_judged_metric *rate = rate_of(&judged, 0);
        CHECK_INT(rate->left_out, 1 - again);
        CHECK_INT(rate->verdict, YS_VERDICT_UNCLEAR);
        CHECK(rate->reason && strcmp(rate->reason, YS_COMPARE_HANGS) == 0);
        ys_record_fini(&ys_judged_record, &judged);
        drop(&base);
        drop(&candidate);
    }
}

static void add_accuracy(struct made *made, double by_round[RUNS], int64_t seed)
{
    struct ys_trial_metric *accuracy = &made->trials[0].values[place_of("accuracy")];
    made->side.result.study.seed = seed;
    *accuracy = (struct ys_trial_metric){.n = RUNS, .by_round = by_round, .rounds = RUNS};
    accuracy->summary = ys_stat_summarize(by_round, RUNS);
}

/* From the same seeds the same was learned, whatever the seeds differ among themselves. */
static void what_was_learned_is_matched_by_seed(void)
{
    static const struct {
        int64_t seed;
        int outcome;
    } cases[] = {{1, YS_GATE_HOLDS}, {8, YS_GATE_OPEN}};
    double learned[RUNS] = {0.80, 0.95, 0.85, 0.91, 0.83, 0.94, 0.88};
    struct ys_rule rule = {(char[]){"accuracy >= -1 %"}, "accuracy", true, -0.01};
    const struct ys_rules rules = {&rule, 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made base, candidate;
        struct ys_gate gate;
        make(&base, older, 1000, 500);
        make(&candidate, newer, 1000, 500);
        add_accuracy(&base, learned, 1);
        add_accuracy(&candidate, learned, cases[i].seed);
        REQUIRE(ys_gate_judge(&base.side, &candidate.side, &rules, &gate) == YS_OK);
        const struct ys_gate_check *check = gate.checks.items;
        REQUIRE(gate.checks.count == 1);
        CHECK_INT(check->outcome, cases[i].outcome);
        CHECK_NEAR(check->difference, 0, 1e-12);
        ys_record_fini(&ys_gate_record, &gate);
        drop(&base);
        drop(&candidate);
    }
}

static char rule_text[] = "rate_per_s >= -3 %", rule_metric[] = "rate_per_s", rule_unit[] = "1/s";

enum { FRESH = 8 };

/* Eight fresh rounds, a tenth slower each. */
struct fresh {
    double a[FRESH], b[FRESH], bias[FRESH], of_a[FRESH], of_b[FRESH];
    struct ys_compare_rounds rounds;
};

static void make_fresh(struct fresh *fresh)
{
    *fresh = (struct fresh){.rounds = {fresh->a, fresh->b, fresh->bias, fresh->of_a, fresh->of_b, FRESH}};
    for (int r = 0; r < FRESH; r++) {
        fresh->b[r] = 100 + r;
        fresh->a[r] = fresh->b[r] * (0.9 + 0.001 * r);
    }
}

/* The outcome of the rule "no more than 3 % slower", and the verdict at a margin of 2 %. */
static void check_fresh(const struct fresh *fresh, int outcome, int verdict, const char *reason, size_t settled_ends)
{
    const struct ys_rule rule = {rule_text, "rate_per_s", true, -0.03};
    struct ys_gate_check check = {.scale = YS_SCALE_RATIO};
    struct ys_judged_pair pair = {0};
    struct ys_judged_metric metric = {
        .metric = rule_metric, .unit = rule_unit, .better = YS_BETTER_HIGHER, .scale = YS_SCALE_RATIO, .margin = 0.02};
    ys_gate_confirm(&check, &rule, &fresh->rounds, 0.05 / 3);
    CHECK_INT(check.outcome, outcome);
    CHECK_INT(check.fresh_rounds, FRESH);
    CHECK(strstr(check.reason, reason) != NULL);
    ys_free(check.reason);
    ys_judged_confirm(&pair, &metric, &fresh->rounds);
    const struct ys_judged_metric *found = pair.confirmed.items;
    CHECK_INT(found->verdict, verdict);
    CHECK_INT(found->settled_ci.count, settled_ends);
    ys_list_fini(&ys_judged_metric_record, &pair.confirmed);
}

static void fresh_rounds_decide_only_what_warm_up_does_not(void)
{
    static const struct {
        double left;
        int outcome, verdict;
        const char *reason;
        size_t ends;
    } cases[] = {{0.1, YS_GATE_OPEN, YS_VERDICT_UNCLEAR, "still have been warming up", 2},
                 {0.01, YS_GATE_BROKEN, YS_VERDICT_WORSE, "8 fresh rounds of both in turn: 0.9", 2},
                 {NAN, YS_GATE_OPEN, YS_VERDICT_UNCLEAR, "fewer than 30 blocks", 0}};
    struct fresh fresh;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_fresh(&fresh);
        for (int r = 0; r < FRESH; r++)
            fresh.bias[r] = cases[i].left;
        check_fresh(&fresh, cases[i].outcome, cases[i].verdict, cases[i].reason, cases[i].ends);
    }
    fresh.rounds.bias = NULL;
    check_fresh(&fresh, YS_GATE_BROKEN, YS_VERDICT_WORSE, "", 0);
}

/* As what was taken bounds the verdict of two studies. */
static void what_the_machine_took_bounds_what_fresh_rounds_say(void)
{
    static const struct {
        bool of_base;
        double taken,
            own; /* of the first `runs` runs; `own`: their values, as a ratio, in the place of what they are */
        int runs, outcome, verdict;
        const char *reason;
    } cases[] = {
        {false, 0.03, NAN, FRESH, YS_GATE_BROKEN, YS_VERDICT_WORSE, "turn: 0.9"},
        {false, 0.12, NAN, FRESH, YS_GATE_OPEN, YS_VERDICT_UNCLEAR, "more of them are needed"},
        {true, 0.12, NAN, FRESH, YS_GATE_BROKEN, YS_VERDICT_WORSE, "turn: 0.9"},
        {false, NAN, NAN, 1, YS_GATE_BROKEN, YS_VERDICT_WORSE, "turn, 1 of them left out"},
        {false, NAN, 1.2, 1, YS_GATE_OPEN, YS_VERDICT_UNCLEAR, "could change the answer"},
        {true, NAN, 0.5, 1, YS_GATE_OPEN, YS_VERDICT_UNCLEAR, "could change the answer"},
        {false, NAN, NAN, 2, YS_GATE_OPEN, YS_VERDICT_WORSE, "turn, 2 of them left out"}, /* six cannot be so sure */
        {false, NAN, NAN, 3, YS_GATE_OPEN, YS_VERDICT_UNCLEAR, "turn, 3 of them left out"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fresh fresh;
        make_fresh(&fresh);
        for (int r = 0; r < cases[i].runs; r++) {
            double *value = cases[i].of_base ? &fresh.b[r] : &fresh.a[r];
            *(cases[i].of_base ? &fresh.of_b[r] : &fresh.of_a[r]) = cases[i].taken;
            *value *= isnan(cases[i].own) ? 1 : cases[i].own;
        }
        check_fresh(&fresh, cases[i].outcome, cases[i].verdict, cases[i].reason, cases[i].runs == 3 ? 0 : 2);
    }
}

static ys_json *parsed(const char *text)
{
    ys_json *json = NULL;
    CHECK_INT(ys_json_parse(text, strlen(text), "made", &json), YS_OK);
    return json;
}

/* Trials of two engines, so that nothing but the anchors can bound the drift; what is said where they do not. */
static void it_is_said_why_anchors_bound_nothing(void)
{
#define SPEEDS "\"started_s\":1,\"seconds\":1,\"arithmetic_per_s\":1,\"memory_bytes_per_s\":1,\"branches_per_s\":1}]"
#define ONE    "[{\"version\":1,\"compiler\":\"c\"," SPEEDS
#define TWO    "[{\"version\":2,\"compiler\":\"c\"," SPEEDS
    static const struct {
        const char *model, *anchors, *said, *unsaid;
    } cases[] = {
        {"{\"cpu\":{\"model\":\"x\"}}", ONE, "by the anchors alone", "nothing that both"},
        {"{\"cpu\":{\"model\":\"x\"}}", "[]", "or anchor = on", "are not compared"},
        {"{\"cpu\":{\"model\":\"x\"}}", TWO, "two versions or compilers", "anchor = on"},
        {"{\"cpu\":{\"model\":\"y\"}}", ONE, "two models of processor", "anchor = on"},
        {"{\"cpu\":{\"model\":\"y\"}}", "[]", "two models of processor", "anchor = on"},
        {"{\"cpu\":{\"model\":null}}", ONE, "of unknown ones", "anchor = on"},
    };
    ys_json *host = parsed(cases[0].model), *anchors = parsed(ONE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made base, candidate;
        struct ys_judged judged;
        ys_json *other_host = parsed(cases[i].model), *others = parsed(cases[i].anchors);
        make(&base, older, 1000, 500);
        make(&candidate, newer, 900, 500);
        base.side.result.trial_count = candidate.side.result.trial_count = 1;
        base.side.result.host = host;
        base.side.anchors = anchors;
        candidate.side.result.host = other_host;
        candidate.side.anchors = others;
        ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
        const struct ys_judged_pair *pair = judged.pairs.items;
        CHECK(strstr(pair->drift, cases[i].said) != NULL);
        CHECK(strstr(pair->drift, cases[i].unsaid) == NULL);
        CHECK_INT(rate_of(&judged, 0)->verdict, i == 0 ? YS_VERDICT_WORSE : YS_VERDICT_UNCLEAR);
        CHECK_INT(judged.anchors.count, i == 0 ? 2 : 0);
        ys_record_fini(&ys_judged_record, &judged);
        ys_json_free(other_host);
        ys_json_free(others);
        drop(&base);
        drop(&candidate);
    }
    ys_json_free(host);
    ys_json_free(anchors);
#undef SPEEDS
#undef ONE
#undef TWO
}

static void other_work_and_no_proof_are_invalid(void)
{
    struct made base, candidate;
    struct ys_judged judged;
    make(&base, older, 1000, 500);
    make(&candidate, older, 900, 500);
    candidate.trials[0].keys.batch = 64;
    ys_json_set_string(candidate.trials[1].proof, "verdict", "fail");
    ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
    CHECK_INT(rate_of(&judged, 0)->verdict, YS_VERDICT_INVALID);
    CHECK(strstr(rate_of(&judged, 0)->reason, "not the same work: batch") != NULL);
    CHECK_INT(rate_of(&judged, 1)->verdict, YS_VERDICT_INVALID);
    CHECK(strstr(rate_of(&judged, 1)->reason, "proof failed") != NULL);
    ys_record_fini(&ys_judged_record, &judged);
    drop(&base);
    drop(&candidate);
}

/* A file and a folder of one's own, as two checkouts have them: known by what is in them, not by where they lie. */
static void places_of_files_are_no_other_work(void)
{
    static char here[] = "/here/net.json", there[] = "/there/net.json", photos[] = "/here/photos",
                copies[] = "/there/photos";
    static const struct {
        const char *works, *reason;
    } cases[] = {
        {"[{\"model\":\"/there/net.json\",\"model_hash\":\"aa\",\"data\":\"/there/"
         "photos\",\"train_hash\":\"11\",\"test_hash\":\"22\"}]",
         NULL},
        {"[{\"model\":\"/there/net.json\",\"model_hash\":\"ab\",\"data\":\"/there/"
         "photos\",\"train_hash\":\"11\",\"test_hash\":\"22\"}]",
         "network file is aa there and ab here"},
        {"[{\"model\":\"/there/net.json\",\"model_hash\":\"aa\",\"data\":\"/there/"
         "photos\",\"train_hash\":\"12\",\"test_hash\":\"22\"}]",
         "training data is 11 there and 12 here"},
        {"[{\"model\":\"/there/net.json\",\"data\":\"/there/photos\",\"train_hash\":\"11\",\"test_hash\":\"22\"}]",
         "model is /here/net.json there and /there/net.json here"},
    };
    ys_json *works = parsed("[{\"model\":\"/here/net.json\",\"model_hash\":\"aa\",\"data\":\"/here/photos\","
                            "\"train_hash\":\"11\",\"test_hash\":\"22\"}]");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made base, candidate;
        struct ys_judged judged;
        ys_json *other = parsed(cases[i].works);
        make(&base, older, 1000, 500);
        make(&candidate, older, 900, 500);
        base.side.result.work = works;
        candidate.side.result.work = other;
        for (size_t t = 0; t < TRIALS; t++) {
            base.trials[t].keys.model = here;
            base.trials[t].keys.data = photos;
            candidate.trials[t].keys.model = there;
            candidate.trials[t].keys.data = copies;
        }
        ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
        const struct ys_judged_metric *rate = rate_of(&judged, 0);
        CHECK_INT(rate->verdict == YS_VERDICT_INVALID, cases[i].reason != NULL);
        CHECK(!cases[i].reason || strstr(rate->reason, cases[i].reason) != NULL);
        ys_record_fini(&ys_judged_record, &judged);
        drop(&base);
        drop(&candidate);
        ys_json_free(other);
    }
    ys_json_free(works);
}

static void trials_are_paired_by_name_or_as_they_were_named(void)
{
    struct made base, candidate;
    struct ys_judged judged;
    make(&base, older, 1000, 500);
    make(&candidate, older, 900, 500);
    candidate.trials[1].id = name_three;
    ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
    CHECK(judged.pairs.count == 1 && judged.only_base.count == 1 && judged.only_candidate.count == 1);
    ys_record_fini(&ys_judged_record, &judged);
    base.side.trial = 1;
    candidate.side.trial = 1;
    ys_judge_two(&base.side, &candidate.side, NAN, "rate_per_s", &judged);
    const struct ys_judged_pair *pair = judged.pairs.items;
    REQUIRE(judged.pairs.count == 1 && judged.only_base.count == 0);
    CHECK_TEXT(pair->candidate, "three");
    ys_record_fini(&ys_judged_record, &judged);
    drop(&base);
    drop(&candidate);
}

TAP_MAIN(TAP_CASE(what_differs_is_found_by_name), TAP_CASE(a_change_is_found_where_what_is_common_bounds_the_drift),
         TAP_CASE(drift_widens_an_interval_towards_its_cause), TAP_CASE(what_is_left_of_warm_up_must_change_no_verdict),
         TAP_CASE(what_the_machine_took_bounds_a_verdict),
         TAP_CASE(a_speed_that_is_a_range_gets_a_verdict_at_both_ends),
         TAP_CASE(a_verdict_must_not_hang_on_runs_that_were_left_out), TAP_CASE(what_was_learned_is_matched_by_seed),
         TAP_CASE(fresh_rounds_decide_only_what_warm_up_does_not),
         TAP_CASE(what_the_machine_took_bounds_what_fresh_rounds_say), TAP_CASE(it_is_said_why_anchors_bound_nothing),
         TAP_CASE(other_work_and_no_proof_are_invalid), TAP_CASE(places_of_files_are_no_other_work),
         TAP_CASE(trials_are_paired_by_name_or_as_they_were_named))
