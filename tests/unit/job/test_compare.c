/* compare = same-weights and compare = own: what they ask for, refuse, and resolve to. */
#include "helper.h"

#define SAME "version = 1\n[a]\nmodel = lenet\ndata = digits\ncompare = same-weights\n"
#define OWN  "version = 1\n[a]\ndata = digits\ncompare = own\n"

static void same_weights_answer_requests_with_weights_that_are_trained_first(void)
{
    struct helper_study study = study_of(SAME "steps = {0, 60}\nrows = 100\nlr = 0.5\neval_every = 5\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 2);
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "mode"), ""), "infer");
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "compare"), ""), "same-weights");
    CHECK_INT(ys_json_integer(key_of(&study, 0, "steps"), -1), 0);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "steps"), -1), 60);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "rows"), -1), 100);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "taught.batch"), -1), 64);
    CHECK(ys_json_number(key_of(&study, 1, "lr"), 0) == 0.5);
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "optimizer"), ""), "sgd");
    CHECK(ys_json_type_of(key_of(&study, 1, "epochs")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(key_of(&study, 1, "requests")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(key_of(&study, 1, "eval_every")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
}

static void without_a_length_same_weights_train_an_epoch_and_predict_all_rows(void)
{
    struct helper_study study = study_of(SAME);
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "epochs"), -1), 1);
    CHECK(ys_json_type_of(key_of(&study, 0, "rows")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
}

static void an_attack_asks_for_gradients_of_the_same_weights(void)
{
    struct helper_study study = study_of(SAME "mode = attack\nattack = fgsm(0.1)\nsteps = 60\nlr = 0.5\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(study.status == YS_OK);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "mode"), ""), "attack");
    CHECK_INT(ys_json_integer(key_of(&study, 0, "steps"), -1), 60);
    CHECK(ys_json_number(key_of(&study, 0, "lr"), 0) == 0.5);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "attack"), ""), "fgsm(0.1)");
    ys_job_fini(&study.job);
    CHECK_REFUSED(HEAD "mode = attack\nattack = fgsm(0.1)\n",
                  "t.ys:5:1: mode = attack asks every framework for the gradients of the same weights, and section [a] "
                  "has compare = controlled: write compare = same-weights, or attack = WORDS without a mode");
    CHECK_REFUSED(SAME "mode = attack\n",
                  "t.ys:6:1: section [a] has mode = attack and says no attack: write attack = pgd(0.1)");
    CHECK_REFUSED(SAME "mode = attack\nattack = fgsm(0.1)\nrequests = 5\n",
                  "t.ys:8:1: requests is for mode = infer, and section [a] has mode = train: write epochs or steps "
                  "instead, or mode = infer");
}

static void integers_are_f32_with_a_quantisation(void)
{
    struct helper_study study = study_of(SAME "precision = int8\nquant.calibration = percentile( 99.90 )\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(study.status == YS_OK && ys_json_size(study.job.trials) == 1);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "precision"), ""), "f32");
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "quant"), ""), "static");
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "quant.scheme"), ""), "per-channel");
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "quant.calibration"), ""), "percentile(99.9)");
    CHECK_INT(ys_json_integer(key_of(&study, 0, "quant.rows"), 0), 512);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "quant.range"), ""), "full");
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "quant.by"), ""), "yardstick");
    ys_job_fini(&study.job);
}

/* Of f32 the keys of quantisation say nothing, and of weights alone those of calibration: one trial each. */
static void axes_of_quantisation_make_no_trial_twice(void)
{
    static const char *const ids[] = {"a:precision=f32", "a:precision=int8,quant=static,quant.rows=8",
                                      "a:precision=int8,quant=static,quant.rows=16", "a:precision=int8,quant=weights"};
    struct helper_study study =
        study_of(SAME "precision = {f32, int8}\nquant = {static, weights}\nquant.rows = {8, 16}\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(study.status == YS_OK && ys_json_size(study.job.trials) == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_TEXT(ys_json_get_text(trial_at(&study, i), "id", ""), ids[i]);
    CHECK(ys_json_type_of(key_of(&study, 0, "quant")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(key_of(&study, 3, "quant.rows")) == YS_JSON_NULL);
    CHECK(ys_json_type_of(key_of(&study, 3, "quant.calibration")) == YS_JSON_NULL);
    CHECK_TEXT(ys_json_text(key_of(&study, 3, "quant.range"), ""), "full");
    ys_job_fini(&study.job);
}

static void integers_are_of_requests_with_the_same_weights(void)
{
    CHECK_REFUSED(HEAD "precision = int8\n",
                  "t.ys:5:1: precision = int8 is of inference with the same weights, and section [a] has compare = "
                  "controlled: write compare = same-weights");
    CHECK_REFUSED(SAME "precision = {f32, int8}\nmode = size\n",
                  "t.ys:6:1: precision = int8 is of trials that answer requests, and section [a] has mode = size: "
                  "remove one of them");
    CHECK_REFUSED(SAME "quant.range = reduced\n",
                  "t.ys:6:1: quant.range is of precision = int8, and section [a] has none: remove it, or write "
                  "precision = int8");
    CHECK_REFUSED(SAME "precision = int8\nquant.by = {yardstick, own}\n",
                  "t.ys:7:12: quant.by = {yardstick, own}: quant.by takes one value, not an axis: remove the braces");
    CHECK_REFUSED(SAME "precision = int8\nquant = weights\nquant.rows = 5\n",
                  "t.ys:8:1: quant.rows is of quant = static, which calibrates, and section [a] has none: remove it, "
                  "or write quant = static");
    CHECK_REFUSED(HEAD "quant = static\n",
                  "t.ys:5:1: quant is for compare = same-weights, and section [a] has compare = controlled: remove it");
    CHECK_REFUSED(SAME "precision = int8\nquant.calibration = percentile(40)\n",
                  "t.ys:7:21: quant.calibration = percentile(40): P must be above 50 and at most 100");
}

static void a_stored_model_has_the_same_weights_and_a_form(void)
{
    CHECK_REFUSED(HEAD "mode = size\n",
                  "t.ys:5:1: mode = size stores the same weights by every framework, and section [a] has compare = "
                  "controlled: write compare = same-weights");
    CHECK_REFUSED(
        SAME "form = onnx\n",
        "t.ys:6:1: form is for mode = size, and section [a] has mode = train: remove it, or write mode = size");
    struct helper_study study = study_of(SAME "mode = size\nsteps = 60\n"); /* no hooks: no framework has forms */
    REQUIRE(study.status == YS_OK);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "mode"), ""), "size");
    CHECK_TEXT(ys_json_get_text(ys_json_at(study.job.trials, 0), "unsupported", ""),
               "builtin stores no whole model: its recipe has no forms");
    ys_job_fini(&study.job);
}

static void what_does_not_go_with_a_way_to_compare_is_refused(void)
{
    CHECK_REFUSED(HEAD "rows = 10\n", "t.ys:5:1: rows is for compare = same-weights, and section [a] has compare = "
                                      "controlled: remove it");
    CHECK_REFUSED(HEAD "taught.batch = 8\n", "t.ys:5:1: taught.batch is for compare = same-weights, and section [a] "
                                             "has compare = controlled: remove it");
    CHECK_REFUSED(SAME "taught.batch = 0\n",
                  "t.ys:6:16: taught.batch = 0: out of range: write a whole number, 1 to 1048576");
    CHECK_REFUSED(HEAD "own_of = caffe\n",
                  "t.ys:5:1: own_of is for compare = own, and section [a] has compare = controlled: remove it");
    CHECK_REFUSED(SAME "own_data = mnist\n",
                  "t.ys:6:1: own_data is for compare = own, and section [a] has compare = same-weights: remove it");
    CHECK_REFUSED(SAME "mode = infer\n",
                  "t.ys:6:1: section [a] has compare = same-weights, which trains the weights first and then answers "
                  "requests: leave mode = infer out");
    CHECK_REFUSED(SAME "requests = 5\n", "t.ys:6:1: requests is for mode = infer, and section [a] has mode = train: "
                                         "write epochs or steps instead, or mode = infer");
    CHECK_REFUSED(HEAD "steps = {10, 0}\n",
                  "t.ys:5:9: steps = 0 trains nothing, which only compare = same-weights can do: write 1 or more");
    CHECK_REFUSED(SAME "rows = 0\n", "t.ys:6:8: rows = 0: out of range: write a whole number, 1 to 2147483648, or all");
    CHECK_REFUSED(HEAD "compare = same\n",
                  "t.ys:5:11: compare = same: there is no such choice: write controlled, same-weights or own");
    CHECK_REFUSED(HEAD "compare = {own, controlled}\n",
                  "t.ys:5:11: compare = {own, controlled}: compare takes one value, not an axis: remove the braces");
}

/* Two frameworks with defaults, one without. */
static ys_status own_settings(void *context, const char *framework, const char *data, ys_json **own, char **reason)
{
    static const char *const tables[][2] = {
        {"caffe", "{\"model\":\"caffe-mnist\",\"lr\":0.01,\"momentum\":0.9,\"batch\":64,\"steps\":10000}"},
        {"theano", "{\"model\":\"theano-mnist\",\"lr\":0.1,\"batch\":500,\"epochs\":200}"},
    };
    (void)context;
    if (strcmp(framework, "nobody") == 0)
        return ys_fail(YS_ENOTFOUND, "there is no recipe for a framework \"nobody\"");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(framework, tables[i][0]) == 0 && strcmp(data, "mnist") == 0)
            return ys_json_parse(tables[i][1], strlen(tables[i][1]), "table", own);
    *reason = ys_format("the recipe of %s has no defaults for %s", framework, data);
    return *reason ? YS_OK : ys_out_of_memory();
}

static struct helper_study own_study(const char *text)
{
    static const struct ys_job_hooks hooks = {.own_settings = own_settings};
    return study_with(text, NULL, 0, &hooks);
}

static void own_settings_lie_between_the_defaults_and_what_a_study_says(void)
{
    struct helper_study study =
        own_study("version = 1\n[global]\nbatch = 32\n[a]\ndata = mnist\ncompare = own\nframework = {caffe, theano}\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(ys_json_size(study.job.trials) == 2);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "model"), ""), "caffe-mnist");
    CHECK_INT(ys_json_integer(key_of(&study, 0, "batch"), 0), 32);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "steps"), 0), 10000);
    CHECK(ys_json_type_of(key_of(&study, 0, "epochs")) == YS_JSON_NULL);
    CHECK(ys_json_number(key_of(&study, 0, "momentum"), 0) == 0.9);
    CHECK(ys_json_number(key_of(&study, 0, "weight_decay"), 1) == 0); /* in no table: the option's default */
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "own_of"), ""), "caffe");
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "own_data"), ""), "mnist");
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "model"), ""), "theano-mnist");
    CHECK_INT(ys_json_integer(key_of(&study, 1, "epochs"), 0), 200);
    CHECK(!ys_json_get(trial_at(&study, 1), "unsupported"));
    ys_job_fini(&study.job);
}

static void a_length_that_is_given_takes_the_place_of_the_own_one(void)
{
    struct helper_study study = own_study(
        "version = 1\n[a]\ndata = mnist\ncompare = own\nframework = caffe\nepochs = 3\n[b]\ndata = mnist\ncompare = "
        "own\nframework = theano\nsteps = 7\n[c]\ndata = mnist\ncompare = own\nframework = theano\nmode = infer\n"
        "requests = 9\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(ys_json_size(study.job.trials) == 3);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "epochs"), 0), 3);
    CHECK(ys_json_type_of(key_of(&study, 0, "steps")) == YS_JSON_NULL);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "steps"), 0), 7);
    CHECK(ys_json_type_of(key_of(&study, 1, "epochs")) == YS_JSON_NULL);
    CHECK_INT(ys_json_integer(key_of(&study, 2, "requests"), 0), 9);
    CHECK(ys_json_type_of(key_of(&study, 2, "epochs")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
}

static void own_of_and_own_data_carry_defaults_over(void)
{
    struct helper_study study = own_study("version = 1\n[a]\ndata = digits\ncompare = own\nframework = builtin@1\n"
                                          "own_of = {caffe, theano}\nown_data = mnist\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(ys_json_size(study.job.trials) == 2);
    CHECK_TEXT(id_of(&study, 1), "a:own_of=theano");
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "model"), ""), "theano-mnist");
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "data"), ""), "digits");
    CHECK_TEXT(ys_json_text(key_of(&study, 1, "own_data"), ""), "mnist");
    ys_job_fini(&study.job);
}

static void a_framework_without_defaults_is_a_trial_that_says_so(void)
{
    struct helper_study study = own_study(OWN "framework = pytorch@2.13.0\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(ys_json_size(study.job.trials) == 1);
    CHECK_TEXT(ys_json_get_text(trial_at(&study, 0), "unsupported", ""),
               "the recipe of pytorch has no defaults for digits");
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "own_of"), ""), "pytorch");
    CHECK(ys_json_type_of(key_of(&study, 0, "model")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
    study = study_of(OWN); /* without hooks nobody has any */
    CHECK_TEXT(ys_json_get_text(trial_at(&study, 0), "unsupported", ""), "no defaults of frameworks are known here");
    ys_job_fini(&study.job);
}

static void own_of_names_a_framework(void)
{
    struct helper_study study = own_study(OWN "own_of = nobody\n");
    CHECK_INT(study.status, YS_EINVAL);
    CHECK_TEXT(study.error, "t.ys:5:10: own_of = nobody: there is no recipe for a framework \"nobody\"");
    ys_job_fini(&study.job);
}

static void only_own_does_without_a_model(void)
{
    CHECK_REFUSED("version = 1\n[a]\ndata = digits\ncompare = same-weights\n",
                  "t.ys:2:1: section [a] has no model: write model = NAME there or in [global]");
    CHECK_REFUSED("version = 1\n[a]\ncompare = own\n",
                  "t.ys:2:1: section [a] has no data: write data = NAME there or in [global]");
}

TAP_MAIN(TAP_CASE(same_weights_answer_requests_with_weights_that_are_trained_first),
         TAP_CASE(an_attack_asks_for_gradients_of_the_same_weights), TAP_CASE(integers_are_f32_with_a_quantisation),
         TAP_CASE(axes_of_quantisation_make_no_trial_twice), TAP_CASE(integers_are_of_requests_with_the_same_weights),
         TAP_CASE(a_stored_model_has_the_same_weights_and_a_form),
         TAP_CASE(without_a_length_same_weights_train_an_epoch_and_predict_all_rows),
         TAP_CASE(what_does_not_go_with_a_way_to_compare_is_refused),
         TAP_CASE(own_settings_lie_between_the_defaults_and_what_a_study_says),
         TAP_CASE(a_length_that_is_given_takes_the_place_of_the_own_one),
         TAP_CASE(own_of_and_own_data_carry_defaults_over),
         TAP_CASE(a_framework_without_defaults_is_a_trial_that_says_so), TAP_CASE(own_of_names_a_framework),
         TAP_CASE(only_own_does_without_a_model))
