#include "files.h"
#include "tap.h"
#include "verify/oracle/proof_checks.h"

#include <math.h>

/* One dense layer, 2 to 3, and a batch normalisation, whose numbers are made up: the checks compare files, they do not
 * compute. */
static const char GRAPH[] =
    "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"tiny\",\"inputs\":[{\"name\":\"x\",\"shape\":[\"N\",2],"
    "\"dtype\":\"F32\"}],\"nodes\":["
    "{\"op\":\"Gemm\",\"name\":\"d\",\"in\":[\"x\"],\"out\":[\"a\"],\"params\":{\"weight\":\"d.weight\"}},"
    "{\"op\":\"BatchNormalization\",\"name\":\"bn\",\"in\":[\"a\"],\"out\":[\"logits\"],"
    "\"attrs\":{\"epsilon\":1e-5,\"momentum\":0.1},\"params\":{\"weight\":\"bn.weight\",\"bias\":\"bn.bias\","
    "\"running_mean\":\"bn.running_mean\",\"running_var\":\"bn.running_var\"}}],\"params\":["
    "{\"name\":\"d.weight\",\"shape\":[3,2],\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0.5}},"
    "{\"name\":\"bn.weight\",\"shape\":[3],\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":1}},"
    "{\"name\":\"bn.bias\",\"shape\":[3],\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0}},"
    "{\"name\":\"bn.running_mean\",\"shape\":[3],\"role\":\"buffer\",\"init\":{\"dist\":\"constant\",\"value\":0}},"
    "{\"name\":\"bn.running_var\",\"shape\":[3],\"role\":\"buffer\",\"init\":{\"dist\":\"constant\",\"value\":1}}],"
    "\"output\":\"logits\",\"loss\":\"softmax_cross_entropy\"}";

enum { STEPS = 3 };

/* What the next session says; a test moves one of them while the framework's files are written. */
static double w0[6] = {.5, .5, .5, .5, .5, .5}, one[3] = {1, 1, 1}, zero[3], x[2] = {1, 2}, logits[3] = {1, 2, 3};
static double loss = 0.25, gw[6] = {1, 2, 3, 4, 5, 6}, gb[3] = {1, 1, 1};
static double w1[6] = {.4, .3, .2, .1, 0, -.1}, b1[3] = {-.1, -.1, -.1}, mean1[3] = {1, 2, 3}, var1[3] = {4, 5, 6};

static struct ys_safetensors *weights_file(const char *name, double *w, double *b, double *mean, double *var)
{
    struct ys_tensor tensors[] = {vector64("d.weight", w, 6), vector64("bn.weight", one, 3), vector64("bn.bias", b, 3),
                                  vector64("bn.running_mean", mean, 3), vector64("bn.running_var", var, 3)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = 3;
    tensors[0].shape[1] = 2;
    return files_make(name, tensors, 5);
}

static struct ys_safetensors *forward_file(const char *name, int64_t *label)
{
    struct ys_tensor tensors[] = {
        vector64("x", x, 2),
        vector64("logits", logits, 3),
        scalar64("loss", &loss),
        {.name = "y", .dtype = YS_I64, .rank = 1, .shape = {1}, .data = label, .size_bytes = sizeof *label}};
    tensors[0].rank = 2;
    tensors[0].shape[0] = 1;
    tensors[0].shape[1] = 2;
    return files_make(name, tensors, 4);
}

static struct ys_safetensors *backward_file(const char *name)
{
    struct ys_tensor tensors[] = {vector64("grad.d.weight", gw, 6), vector64("grad.bn.weight", gb, 3),
                                  vector64("grad.bn.bias", gb, 3), scalar64("loss", &loss)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = 3;
    tensors[0].shape[1] = 2;
    return files_make(name, tensors, 4);
}

static int64_t label = 1;

static struct ys_reference make_reference(void)
{
    static uint32_t order[STEPS];
    struct ys_reference reference = {.extent = {.rows = 1, .steps = STEPS}, .finite = true};
    ys_json *json = NULL;
    if (ys_json_parse(GRAPH, sizeof GRAPH - 1, "graph", &json) != YS_OK ||
        ys_graph_from_json(json, "graph", &reference.graph) != YS_OK) {
        printf("# %s\n", ys_error());
        abort();
    }
    ys_json_free(json);
    struct ys_tensor orders = {
        .name = "order", .dtype = YS_U32, .rank = 2, .shape = {STEPS, 1}, .data = order, .size_bytes = sizeof order};
    reference.order = files_make("order", &orders, 1);
    reference.data = forward_file("data", &label); /* it has x and y */
    reference.weights = weights_file("initial", w0, zero, zero, one);
    reference.batch[0].forward = forward_file("forward", &label);
    reference.batch[0].backward = backward_file("backward");
    reference.first = weights_file("first", w1, b1, mean1, var1);
    reference.last = weights_file("last", w1, b1, mean1, var1);
    return reference;
}

static void add(const struct ys_reference *reference, enum ys_answer answer, int64_t batch, struct ys_safetensors *file,
                struct ys_findings *findings)
{
    ys_findings_add(reference, answer, batch, file, findings);
    ys_safetensors_close(file);
}

/* What a framework that says the same as the oracle is found to say, but for what a test has moved. */
static struct ys_findings find(const struct ys_reference *reference)
{
    struct ys_findings findings = {.said = {.parameters = 12, .multiply_adds = 6}};
    add(reference, YS_ANSWER_BACKWARD, 0, backward_file("said"), &findings);
    for (int b = 0; b < STEPS; b++)
        add(reference, YS_ANSWER_FORWARD, b, forward_file("said", &label), &findings);
    add(reference, YS_ANSWER_START, 0, weights_file("said", w0, zero, zero, one), &findings);
    add(reference, YS_ANSWER_FIRST_STEP, 0, weights_file("said", w1, b1, mean1, var1), &findings);
    add(reference, YS_ANSWER_LAST_STEP, 0, weights_file("said", w1, b1, mean1, var1), &findings);
    return findings;
}

static const struct ys_findings *doubles; /* those of the oracle, where a case asks them */
static struct ys_findings twins = {.logits = {.error = 1e-6}, .gradients = {.error = 1e-2}};

/* Frees everything but the proof. */
static struct ys_proof judge(struct ys_reference *reference, struct ys_findings *meaning, struct ys_findings *numerics)
{
    struct ys_proof proof;
    ys_proof_init(&proof);
    ys_check_all(reference, meaning, numerics, &twins, doubles, NULL, &proof);
    if (meaning)
        ys_findings_fini(meaning);
    if (numerics)
        ys_findings_fini(numerics);
    ys_reference_close(reference);
    return proof;
}

/* The first of that name, in whatever half. */
static const struct ys_proof_check *check_of(const struct ys_proof *proof, const char *name)
{
    for (size_t i = 0; i < proof->checks.count; i++)
        if (strcmp(ys_proof_check_at(proof, i)->name, name) == 0)
            return ys_proof_check_at(proof, i);
    return NULL;
}

static bool passes(const struct ys_proof *proof, const char *name)
{
    const struct ys_proof_check *check = check_of(proof, name);
    return check && check->pass;
}

static int failures(const struct ys_proof *proof)
{
    int count = 0;
    for (size_t i = 0; i < proof->checks.count; i++)
        count += !ys_proof_check_at(proof, i)->pass;
    return count;
}

static void comes_to(const struct ys_proof *proof, enum ys_proof_verdict verdict, const char *reason)
{
    CHECK_TEXT(ys_name_of(&ys_proof_verdicts, proof->verdict), ys_name_of(&ys_proof_verdicts, verdict));
    if (reason)
        CHECK_HAS(proof->reason ? proof->reason : "", reason);
    else
        CHECK(!proof->reason);
}

static void equal_answers_pass(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference), numerics = find(&reference);
    struct ys_proof proof = judge(&reference, &meaning, &numerics);
    comes_to(&proof, YS_PROOF_PASS, NULL);
    CHECK_INT(proof.checks.count, 13);
    CHECK(passes(&proof, "buffers"));
    CHECK(passes(&proof, "weights after 3 steps"));
    CHECK_INT(proof.lasting, true);
    ys_proof_fini(&proof);
}

/* The framework in double says `moved` where the oracle said *value. */
static struct ys_proof judge_moved(double *value, double moved)
{
    struct ys_reference reference = make_reference();
    struct ys_findings numerics = find(&reference);
    double kept = *value;
    *value = moved;
    struct ys_findings meaning = find(&reference);
    *value = kept;
    return judge(&reference, &meaning, &numerics);
}

static void fails_at(double *value, double moved, const char *check, const char *diagnosis)
{
    struct ys_proof proof = judge_moved(value, moved);
    comes_to(&proof, YS_PROOF_FAIL, diagnosis);
    tap_check(!passes(&proof, check), __LINE__, "%s passed", check);
    ys_proof_fini(&proof);
}

static void each_difference_fails_its_own_check(void)
{
    fails_at(&w0[3], 0.500001, "initial weights", "initial weights");
    fails_at(&x[1], 3, "batches", "batches");
    fails_at(&logits[0], 1 + 1e-8, "logits", "forward pass");
    fails_at(&loss, 0.25 * (1 + 1e-8), "loss", "loss");
    fails_at(&gw[5], 6 * (1 + 1e-7), "gradients", "gradients");
    fails_at(&w1[0], 0.4 * (1 + 1e-7), "weights after 1 step", "optimizer");
    fails_at(&w1[0], 0.4 * (1 + 1e-7), "weights after 3 steps", "optimizer");
}

static void a_running_variance_that_differs_fails_the_buffers_and_nothing_else(void)
{
    fails_at(&var1[2], 6 * (1 + 1e-7), "buffers", "running statistics");
    struct ys_proof proof = judge_moved(&var1[2], 6 * (1 + 1e-7));
    CHECK_INT(failures(&proof), 1);
    CHECK_TEXT(check_of(&proof, "buffers")->worst, "bn.running_var");
    ys_proof_fini(&proof);
}

static void buffers_that_are_not_said_fail(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference), numerics = find(&reference);
    struct ys_tensor weights[] = {vector64("d.weight", w1, 6), vector64("bn.weight", one, 3),
                                  vector64("bn.bias", b1, 3)};
    weights[0].rank = 2;
    weights[0].shape[0] = 3;
    weights[0].shape[1] = 2;
    add(&reference, YS_ANSWER_LAST_STEP, 0, files_make("said", weights, 3), &meaning);
    struct ys_proof proof = judge(&reference, &meaning, &numerics);
    CHECK(!passes(&proof, "buffers"));
    CHECK(passes(&proof, "weights after 3 steps"));
    CHECK(isnan(check_of(&proof, "buffers")->error));
    ys_proof_fini(&proof);
}

static void differences_below_the_bound_pass(void)
{
    struct ys_proof proof = judge_moved(&logits[2], 3 * (1 + 1e-11));
    comes_to(&proof, YS_PROOF_PASS, NULL);
    ys_proof_fini(&proof);
}

static void what_rounding_alone_does_raises_the_bound_up_to_a_limit(void)
{
    const struct ys_findings moved = {.logits = {.error = 1e-9}, .last = {.error = 1}};
    struct ys_proof proof = judge_moved(&logits[2], 3 * (1 + 4e-9));
    CHECK(ys_check_may_be_rounding(&proof));
    ys_proof_fini(&proof);
    doubles = &moved;
    proof = judge_moved(&logits[2], 3 * (1 + 4e-9)); /* 64 times 1e-9 is allowed */
    comes_to(&proof, YS_PROOF_PASS, NULL);
    CHECK_NEAR(check_of(&proof, "logits")->bound, 64e-9, 1e-20);
    CHECK_NEAR(check_of(&proof, "weights after 3 steps")->bound, 1e-5, 0);
    CHECK_NEAR(check_of(&proof, "gradients")->bound, 1e-9, 0);
    ys_proof_fini(&proof);
    doubles = NULL;
    proof = judge_moved(&w1[0], 0.4 * (1 + 1e-3));
    CHECK(!ys_check_may_be_rounding(&proof));
    ys_proof_fini(&proof);
    proof = judge_moved(&w0[3], 0.5 + 1e-9); /* work is never a matter of rounding */
    CHECK(!ys_check_may_be_rounding(&proof));
    ys_proof_fini(&proof);
}

static void another_number_of_parameters_fails(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference), numerics = find(&reference);
    numerics.said.parameters = 13;
    struct ys_proof proof = judge(&reference, &meaning, &numerics);
    CHECK(!passes(&proof, "parameters"));
    CHECK_HAS(proof.reason, "another network");
    ys_proof_fini(&proof);
}

static void without_double_the_proof_is_weak(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings numerics = find(&reference);
    struct ys_proof proof = judge(&reference, NULL, &numerics);
    comes_to(&proof, YS_PROOF_WEAK, "no double");
    ys_proof_fini(&proof);
    reference = make_reference();
    numerics = find(&reference);
    struct ys_findings lacking = {.said = {.status = YS_RUN_UNSUPPORTED}};
    proof = judge(&reference, &lacking, &numerics);
    comes_to(&proof, YS_PROOF_WEAK, "could not do this work in double");
    ys_proof_fini(&proof);
}

static void too_little_precision_fails_the_numerics_alone(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference);
    double kept = logits[1];
    logits[1] = 2.01; /* an error of 0.0033 where the twins reached 1e-6, and 1e-2 in a gradient */
    struct ys_findings numerics = find(&reference);
    logits[1] = kept;
    struct ys_proof proof = judge(&reference, &meaning, &numerics);
    CHECK_INT(proof.verdict, YS_PROOF_FAIL);
    CHECK(!passes(&proof, "logits and loss"));
    CHECK_INT(failures(&proof), 1);
    ys_proof_fini(&proof);
}

static void twins_that_agree_leave_room_for_rounding(void)
{
    const struct ys_findings kept = twins;
    for (int units = 1; units <= 9; units += 8) {
        struct ys_reference reference = make_reference();
        struct ys_findings meaning = find(&reference), numerics = find(&reference);
        ys_worst_raise(&numerics.loss, units * 0x1p-23, "loss");
        twins.logits.error = twins.loss.error = 0;
        struct ys_proof proof = judge(&reference, &meaning, &numerics);
        tap_check(passes(&proof, "logits and loss") == (units <= 8), __LINE__, "%d units", units);
        ys_proof_fini(&proof);
        twins = kept;
    }
}

static void statistics_of_a_whole_batch_may_be_rounded_at_each_row(void)
{
    const struct ys_findings agreeing = {0};
    for (int rows = 64; rows <= 6400; rows *= 100) { /* 8 * 2^-24 * sqrt(rows): 3.8e-6 and 3.8e-5 */
        struct ys_reference reference = make_reference();
        struct ys_findings meaning = find(&reference), numerics = find(&reference), found = find(&reference);
        struct ys_reference many = {.graph = reference.graph, .extent = {.rows = rows, .steps = 1}};
        ys_worst_raise(&found.logits, 1e-5, "logits");
        const struct ys_check_whole whole = {.reference = &many, .found = &found, .twins = &agreeing};
        struct ys_proof proof;
        ys_proof_init(&proof);
        ys_check_all(&reference, &meaning, &numerics, &twins, NULL, &whole, &proof);
        const struct ys_proof_check *check = check_of(&proof, "logits and loss, whole batch");
        CHECK_NEAR(check->bound, 8 * 0x1p-24 * sqrt(rows), 1e-18);
        CHECK(check->pass == (rows == 6400));
        ys_proof_fini(&proof);
        ys_findings_fini(&meaning);
        ys_findings_fini(&numerics);
        ys_findings_fini(&found);
        ys_reference_close(&reference);
    }
}

static void gradients_of_the_numerics_alone_may_be_a_flip(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference), numerics = find(&reference);
    ys_worst_raise(&numerics.gradients, 0.5, "d.weight"); /* twins reached 0.01 */
    struct ys_proof proof = judge(&reference, &meaning, &numerics);
    CHECK(ys_check_flip(&proof) == YS_CHECK_FLIP_FEW);
    ys_proof_fini(&proof);
    reference = make_reference();
    meaning = find(&reference), numerics = find(&reference);
    ys_worst_raise(&numerics.gradients, 0.5, "d.weight");
    ys_worst_raise(&numerics.logits, 0.5, "logits");
    proof = judge(&reference, &meaning, &numerics);
    CHECK(ys_check_flip(&proof) == YS_CHECK_FLIP_NONE);
    ys_proof_fini(&proof);
    reference = make_reference();
    meaning = find(&reference), numerics = find(&reference);
    proof = judge(&reference, &meaning, &numerics);
    CHECK(ys_check_flip(&proof) == YS_CHECK_FLIP_NONE);
    ys_proof_fini(&proof);
}

/* Whose gradients in the trial's own format have `value` moved. */
static struct ys_proof judge_format(enum ys_precision precision, double *value, double moved)
{
    const double was = *value;
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference);
    *value = moved;
    struct ys_findings numerics = find(&reference);
    *value = was;
    numerics.precision = precision;
    return judge(&reference, &meaning, &numerics);
}

static void gradients_of_vectors_that_are_added_up_in_bf16_are_weak(void)
{
    struct ys_proof proof = judge_format(YS_PRECISION_BF16, &gb[0], 1.4); /* 0.23; twins reached 0.01 */
    comes_to(&proof, YS_PROOF_WEAK, "added up in bfloat16");
    CHECK(check_of(&proof, YS_CHECK_VECTORS)->pass && passes(&proof, "gradients"));
    CHECK(ys_check_flip(&proof) == YS_CHECK_FLIP_NONE);
    ys_proof_fini(&proof);
    static const struct {
        enum ys_precision precision;
        double *value, moved;
    } others[] = {{YS_PRECISION_F32, &gb[0], 1.4}, {YS_PRECISION_BF16, &gb[0], 2}, {YS_PRECISION_BF16, &gw[5], 8}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        proof = judge_format(others[i].precision, others[i].value, others[i].moved);
        comes_to(&proof, YS_PROOF_FAIL, "less precision than it says");
        CHECK(check_of(&proof, YS_CHECK_VECTORS) == NULL);
        ys_proof_fini(&proof);
    }
    proof = judge_format(YS_PRECISION_BF16, &gb[0], 1);
    comes_to(&proof, YS_PROOF_PASS, NULL);
    CHECK(check_of(&proof, YS_CHECK_VECTORS) == NULL);
    ys_proof_fini(&proof);
}

static void of_inference_logits_and_loss_are_judged(void)
{
    struct ys_reference reference = make_reference();
    reference.evaluation = true;
    struct ys_findings meaning = find(&reference), numerics = find(&reference);
    struct ys_proof proof = judge(&reference, &meaning, &numerics);
    comes_to(&proof, YS_PROOF_PASS, NULL);
    CHECK_INT(proof.checks.count, 7);
    CHECK(check_of(&proof, "gradients") == NULL);
    ys_proof_fini(&proof);
}

static void an_adapter_that_broke_fails_and_is_not_kept(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = {.said = {.status = YS_RUN_CRASHED, .message = ys_strdup("signal 11")}};
    struct ys_proof proof = judge(&reference, &meaning, NULL);
    comes_to(&proof, YS_PROOF_FAIL, "crashed: signal 11");
    CHECK_INT(proof.lasting, false);
    ys_proof_fini(&proof);
}

static void the_meaning_alone_is_a_proof_where_no_more_was_wanted(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings meaning = find(&reference);
    struct ys_proof proof = judge(&reference, &meaning, NULL);
    comes_to(&proof, YS_PROOF_PASS, NULL);
    CHECK_INT(proof.lasting, true);
    for (size_t i = 0; i < proof.checks.count; i++)
        CHECK(ys_proof_check_at(&proof, i)->half != YS_PROOF_NUMERICS);
    CHECK_TEXT(ys_proof_check_at(&proof, 0)->name, "parameters");
    CHECK_TEXT(ys_proof_check_at(&proof, proof.checks.count - 1)->name, "loss of training");
    ys_proof_fini(&proof);
}

static void an_adapter_that_lacks_an_operator_has_no_proof(void)
{
    struct ys_reference reference = make_reference();
    struct ys_findings numerics = {.said = {.status = YS_RUN_UNSUPPORTED, .message = ys_strdup("no Conv")}};
    struct ys_proof proof = judge(&reference, NULL, &numerics);
    comes_to(&proof, YS_PROOF_NONE, "no Conv");
    CHECK_INT(proof.ended, YS_RUN_UNSUPPORTED);
    ys_proof_fini(&proof);
}

TAP_MAIN(TAP_CASE(equal_answers_pass), TAP_CASE(each_difference_fails_its_own_check),
         TAP_CASE(a_running_variance_that_differs_fails_the_buffers_and_nothing_else),
         TAP_CASE(buffers_that_are_not_said_fail), TAP_CASE(differences_below_the_bound_pass),
         TAP_CASE(what_rounding_alone_does_raises_the_bound_up_to_a_limit),
         TAP_CASE(another_number_of_parameters_fails), TAP_CASE(without_double_the_proof_is_weak),
         TAP_CASE(too_little_precision_fails_the_numerics_alone), TAP_CASE(twins_that_agree_leave_room_for_rounding),
         TAP_CASE(statistics_of_a_whole_batch_may_be_rounded_at_each_row),
         TAP_CASE(gradients_of_the_numerics_alone_may_be_a_flip),
         TAP_CASE(gradients_of_vectors_that_are_added_up_in_bf16_are_weak),
         TAP_CASE(of_inference_logits_and_loss_are_judged), TAP_CASE(an_adapter_that_broke_fails_and_is_not_kept),
         TAP_CASE(the_meaning_alone_is_a_proof_where_no_more_was_wanted),
         TAP_CASE(an_adapter_that_lacks_an_operator_has_no_proof))
