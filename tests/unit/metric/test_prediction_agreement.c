/* What rounds of same weights come to. */
#include "fixture.h"

#include "metric/result/prediction_agreement.h"
#include "tap.h"

enum { MOST = 4 };

struct rounds {
    struct ys_metric_view_run runs[MOST];
    struct ys_facts_agreement found[MOST];
    struct ys_metric_view_trial trial;
};

/* One run for each text, the facts of which it is the agreement; NULL is a run without. */
static ys_json *block_of(const char *const *texts, size_t count, struct rounds *rounds)
{
    *rounds = (struct rounds){.trial = {.run_count = count, .runs = rounds->runs}};
    for (size_t i = 0; i < count; i++) {
        rounds->runs[i] = (struct ys_metric_view_run){.round = (int64_t)i, .ok = true, .counted = true};
        if (!texts[i])
            continue;
        ys_json *json = fake_json(texts[i]);
        CHECK(ys_record_read(&ys_facts_agreement_record, json, "test", &rounds->found[i]) == YS_OK);
        rounds->runs[i].facts.agreement = &rounds->found[i];
        ys_json_free(json);
    }
    struct ys_agreement_block *found = ys_agreement_block(&rounds->trial);
    ys_json *block = found ? ys_record_json(&ys_agreement_block_record, found) : NULL;
    if (found)
        ys_record_fini(&ys_agreement_block_record, found);
    ys_free(found);
    return block;
}

static void end(struct rounds *rounds, ys_json *block)
{
    ys_json_free(block);
    for (size_t i = 0; i < MOST; i++)
        ys_record_fini(&ys_facts_agreement_record, &rounds->found[i]);
}

#define FIRST                                                                                                          \
    "{\"reference\":\"builtin\",\"weights_steps\":60,\"rows\":100,\"disagreements\":2,\"accuracy\":0.9,"               \
    "\"reference_accuracy\":0.92,\"only_here\":1,\"only_reference\":3,\"classes\":10,\"logits_error\":2e-6,"           \
    "\"reason\":null,\"layers_rows\":8,\"layers\":["                                                                   \
    "{\"value\":\"conv1\",\"op\":\"Conv\",\"error\":1e-7},{\"value\":\"fc\",\"op\":\"Gemm\",\"error\":5e-7}],"         \
    "\"layers_reason\":null}"
#define SECOND                                                                                                         \
    "{\"reference\":\"builtin\",\"weights_steps\":60,\"rows\":100,\"disagreements\":1,\"accuracy\":0.8,"               \
    "\"reference_accuracy\":0.8,\"logits_error\":1e-6,\"reason\":null,\"layers_rows\":8,\"layers\":["                  \
    "{\"value\":\"conv1\",\"op\":\"Conv\",\"error\":3e-7},{\"value\":\"fc\",\"op\":\"Gemm\",\"error\":null}],"         \
    "\"layers_reason\":null}"
#define BROKEN                                                                                                         \
    "{\"reference\":\"builtin\",\"weights_steps\":60,\"rows\":100,\"disagreements\":null,\"accuracy\":null,"           \
    "\"reference_accuracy\":null,\"logits_error\":null,\"reason\":\"crashed: signal 11\",\"layers_rows\":8,"           \
    "\"layers\":null,\"layers_reason\":\"unsupported: Concat\"}"

static void rounds_are_summed_and_errors_the_largest(void)
{
    static const char *const texts[] = {FIRST, SECOND};
    struct rounds rounds;
    ys_json *block = block_of(texts, 2, &rounds);
    CHECK_TEXT(ys_json_get_text(block, "reference", ""), "builtin");
    CHECK_INT(ys_json_get_int(block, "predictions", 0), 200);
    CHECK_INT(ys_json_get_int(block, "disagreements", 0), 3);
    CHECK_NEAR(ys_json_get_number(block, "accuracy", 0), 0.85, 1e-15); /* two sums of doubles below 1, halved */
    CHECK_NEAR(ys_json_get_number(block, "reference_accuracy", 0), 0.86, 1e-15);
    CHECK(ys_json_get_number(block, "logits_error", 0) == 2e-6);
    const ys_json *layers = ys_json_get(block, "layers");
    CHECK_INT(ys_json_size(layers), 2);
    CHECK(ys_json_get_number(ys_json_at(layers, 0), "error", 0) == 3e-7);
    CHECK(ys_json_type_of(ys_json_get(ys_json_at(layers, 1), "error")) == YS_JSON_NULL); /* once not finite */
    CHECK_TEXT(ys_json_get_text(ys_json_at(layers, 1), "op", ""), "Gemm");
    CHECK_INT(ys_json_size(ys_json_get(block, "rounds")), 2);
    CHECK_INT(ys_json_get_int(ys_json_at(ys_json_get(block, "rounds"), 1), "disagreements", 0), 1);
    end(&rounds, block);
}

/* Rounds of the same rows: what they say together is what their means say. */
static void the_change_is_of_the_mean_round(void)
{
    static const char *const one[] = {FIRST}, *const twice[] = {FIRST, FIRST};
    struct rounds rounds;
    ys_json *once = block_of(one, 1, &rounds);
    CHECK_NEAR(ys_json_get_number(once, "change", 0), -0.02, 1e-15);
    CHECK_NEAR(ys_json_get_number(once, "change_p", 0), 2.0 * 5 / 16, 1e-15); /* 0 or 1 of 4 coins, either way */
    CHECK(ys_json_get_number(once, "change_lo", 0) < -0.02 && ys_json_get_number(once, "change_hi", 0) > -0.02);
    CHECK_INT(ys_json_get_int(once, "classes", 0), 10);
    CHECK_INT(ys_json_get_int(ys_json_at(ys_json_get(once, "rounds"), 0), "only_reference", 0), 3);
    CHECK(ys_json_type_of(ys_json_get(once, "rounds_lo")) == YS_JSON_NULL);
    end(&rounds, NULL);
    ys_json *again = block_of(twice, 2, &rounds);
    CHECK(ys_json_get_number(again, "change_lo", 0) == ys_json_get_number(once, "change_lo", 1));
    CHECK(ys_json_get_number(again, "change", 0) == ys_json_get_number(once, "change", 1));
    ys_json_free(once);
    end(&rounds, again);
}

/* As studies were stored before the rows that one alone got right were counted. */
static void rounds_that_do_not_count_them_have_no_change(void)
{
    static const char *const texts[] = {SECOND};
    static const char *const unknown[] = {"change", "change_lo", "change_hi", "change_p", "classes"};
    struct rounds rounds;
    ys_json *block = block_of(texts, 1, &rounds);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        CHECK(ys_json_get(block, unknown[i]) && ys_json_type_of(ys_json_get(block, unknown[i])) == YS_JSON_NULL);
    end(&rounds, block);
}

static void a_round_without_predictions_counts_as_none(void)
{
    static const char *const texts[] = {FIRST, BROKEN};
    struct rounds rounds;
    ys_json *block = block_of(texts, 2, &rounds);
    CHECK_INT(ys_json_get_int(block, "predictions", 0), 100);
    CHECK_INT(ys_json_get_int(block, "disagreements", 0), 2);
    CHECK(ys_json_get_number(block, "accuracy", 0) == 0.9);
    CHECK_INT(ys_json_size(ys_json_get(block, "layers")), 2);
    CHECK(ys_json_type_of(ys_json_get(block, "layers_reason")) == YS_JSON_NULL);
    CHECK_TEXT(ys_json_get_text(ys_json_at(ys_json_get(block, "rounds"), 1), "reason", ""), "crashed: signal 11");
    end(&rounds, block);
}

static void without_any_prediction_numbers_are_null_and_say_why(void)
{
    static const char *const texts[] = {BROKEN};
    struct rounds rounds;
    ys_json *block = block_of(texts, 1, &rounds);
    CHECK_INT(ys_json_get_int(block, "predictions", -1), 0);
    static const char *const unknown[] = {"disagreements", "accuracy", "reference_accuracy", "logits_error", "layers"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        CHECK(ys_json_get(block, unknown[i]) && ys_json_type_of(ys_json_get(block, unknown[i])) == YS_JSON_NULL);
    CHECK_TEXT(ys_json_get_text(block, "layers_reason", ""), "unsupported: Concat");
    end(&rounds, block);
}

static void other_trials_have_none(void)
{
    static const char *const texts[] = {NULL, FIRST};
    struct rounds rounds;
    ys_json *block = block_of(texts, 1, &rounds);
    CHECK(!block);
    end(&rounds, block);
    ys_json_free(block_of(texts, 2, &rounds));
    rounds.runs[1].ok = false; /* a run that failed says nothing */
    CHECK(!ys_agreement_block(&rounds.trial));
    end(&rounds, NULL);
}

TAP_MAIN(TAP_CASE(rounds_are_summed_and_errors_the_largest), TAP_CASE(the_change_is_of_the_mean_round),
         TAP_CASE(rounds_that_do_not_count_them_have_no_change), TAP_CASE(a_round_without_predictions_counts_as_none),
         TAP_CASE(without_any_prediction_numbers_are_null_and_say_why), TAP_CASE(other_trials_have_none))
