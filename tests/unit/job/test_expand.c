#include "helper.h"

static void a_section_without_axes_is_one_trial_named_after_it(void)
{
    struct helper_study study = study_of(HEAD);
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 1);
    CHECK_TEXT(id_of(&study, 0), "a");
    CHECK_TEXT(ys_json_get_text(trial_at(&study, 0), "section", ""), "a");
    CHECK_INT(ys_json_size(ys_json_get(trial_at(&study, 0), "factors")), 0);
    CHECK_INT(ys_json_size(ys_json_get(trial_at(&study, 0), "options")), 0);
    CHECK_INT(ys_json_size(ys_json_get(trial_at(&study, 0), "env")), 0);
    ys_job_fini(&study.job);
}

static void keys_are_typed_and_defaults_filled_in(void)
{
    struct helper_study study = study_of(HEAD "run_time_limit = 90s\ncpus = 0-2\nkeep_log = off\n");
    REQUIRE(study.status == YS_OK);
    char *keys = ys_json_dump(ys_json_get(trial_at(&study, 0), "keys"), YS_JSON_COMPACT);
    CHECK_TEXT(
        keys,
        "{\"mode\":\"train\",\"framework\":\"builtin\",\"device\":\"cpu\",\"model\":\"lenet\",\"data\":\"digits\","
        "\"input\":\"file\",\"input.threads\":1,\"input.decode\":\"once\",\"input.size\":null,\"input.width\":null,"
        "\"input.crop\":null,"
        "\"input.dtype\":\"uint8\",\"augment\":\"none\",\"batch\":64,\"global_batch\":null,"
        "\"ranks\":null,\"nodes\":null,\"ranks_per_node\":null,\"launch\":null,\"hosts\":null,\"strategy\":null,\"bn\":"
        "null,"
        "\"bucket\":null,\"block\":10,\"epochs\":1,\"steps\":"
        "null,\"requests\":null,\"prompt\":null,"
        "\"optimizer\":\"sgd\",\"lr\":0.01,\"momentum\":0.0,\"weight_decay\":0.0,\"schedule\":\"constant\",\"clip_"
        "norm\":"
        "null,\"carry_state\":\"off\",\"loss\":\"auto\",\"precision\":\"f32\",\"quant\":null,\"quant.by\":null,\"quant."
        "scheme\":null,"
        "\"quant.calibration\":null,"
        "\"quant.rows\":null,\"quant.range\":null,\"eval_every\":null,\"until\":null,\"tune.rows\":null,"
        "\"attack\":null,\"attack.rows\":null,\"attack.restarts\":null,\"attack.curve\":null,\"attack.twins\":null,"
        "\"attack.transfer\":null,"
        "\"compare\":\"controlled\",\"rows\":null,\"form\":null,\"taught.batch\":null,\"own_of\":null,\"own_data\":"
        "null,"
        "\"model.freeze\":null,\"model.train\":null,\"model.tie\":null,\"model.untie\":null,\"model.mean\":null,"
        "\"model.std\":null,\"model.input\":null,\"model.output\":null,\"model.layout\":\"auto\",\"model.width\":null,"
        "\"model.depth\":null,"
        "\"model.layers\":null,\"model.heads\":null,\"model.classes\":null,\"init\":\"auto\",\"on_bad_row\":\"refuse\","
        "\"threads\":null,\"cpus\":[0,1,2],\"input.cpus\":null,"
        "\"cpu_time_limit\":null,\"memory_limit\":null,\"run_time_limit\":90.0,"
        "\"stall_limit\":120.0,\"sample_hz\":10.0,"
        "\"listen\":null,\"perf\":false,\"keep_log\":false,\"beta1\":null,\"beta2\":null,\"alpha\":null,\"epsilon\":"
        "null}");
    ys_free(keys);
    ys_job_fini(&study.job);
}

static void axes_multiply_framework_slowest(void)
{
    struct helper_study study =
        study_of(HEAD "threads = {1, 2}\nframework = {pytorch, builtin}\nbatch = {16..32 *2}\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 8);
    CHECK_TEXT(id_of(&study, 0), "a:framework=pytorch,batch=16,threads=1");
    CHECK_TEXT(id_of(&study, 1), "a:framework=pytorch,batch=16,threads=2");
    CHECK_TEXT(id_of(&study, 2), "a:framework=pytorch,batch=32,threads=1");
    CHECK_TEXT(id_of(&study, 7), "a:framework=builtin,batch=32,threads=2");
    for (size_t i = 0; i < 8; i++)
        CHECK_INT(ys_json_get_int(trial_at(&study, i), "index", -1), i);
    const ys_json *factors = ys_json_get(trial_at(&study, 7), "factors");
    CHECK_INT(ys_json_size(factors), 3);
    CHECK_TEXT(ys_json_get_text(factors, "framework", ""), "builtin");
    CHECK_INT(ys_json_get_int(factors, "threads", 0), 2);
    CHECK_INT(ys_json_integer(key_of(&study, 7, "batch"), 0), 32);
    ys_job_fini(&study.job);
}

/* All ids of the study are different, and its second trial has `second`. */
static void check_ids(const char *text, const char *second)
{
    struct helper_study study = study_of(text);
    CHECK_TEXT(study.error, "");
    size_t count = ys_json_size(study.job.trials);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            tap_check(strcmp(id_of(&study, i), id_of(&study, k)) != 0, __LINE__, "two trials are %s", id_of(&study, i));
    if (CHECK(count > 1))
        CHECK_TEXT(id_of(&study, 1), second);
    ys_job_fini(&study.job);
}

static void no_two_trials_have_one_id(void)
{
    /* A = x, B = "y,env.B=z" and A = "x,env.B=y", B = z were one. */
    check_ids(HEAD "env.A = {x, \"x,env.B=y\"}\nenv.B = {\"y,env.B=z\", z}\n", "a:env.A=x,env.B=z");
    check_ids(HEAD "env.A = {x, \"x,env.B=y\"}\nenv.B = {z, \"y,env.B=z\"}\n", "a:env.A=x,env.B=\"y,env.B=z\"");
    /* A text that looks as if it were quoted, and one that is. */
    check_ids(HEAD "env.A = {\"\\\"x,env.B=y\\\"\", \"x,env.B=y\"}\nenv.B = {z, \"y\\\",env.B=z\"}\n",
              "a:env.A=\"\\\"x,env.B=y\\\"\",env.B=\"y\\\",env.B=z\"");
    check_ids(HEAD "env.A = {\"p,opt.builtin.x=q\", p}\nopt.builtin.x = {r, \"q,opt.builtin.x=r\"}\n",
              "a:env.A=\"p,opt.builtin.x=q\",opt.builtin.x=\"q,opt.builtin.x=r\"");
}

static void ordinary_values_stand_in_an_id_as_they_are(void)
{
    check_ids(HEAD "env.XLA_FLAGS = {\"--a=1,--b=2\", \"--a=1, --b=3\"}\n", "a:env.XLA_FLAGS=--a=1, --b=3");
    check_ids(HEAD "schedule = {constant, step(30, 0.1)}\nthreads = 1\n", "a:schedule=step(30,0.1)");
    check_ids(HEAD "cpus = {0-3, \"0,2\"}\n", "a:cpus=0,2");
    check_ids(HEAD "env.LD_PRELOAD = {none, \"a b,c\"}\n", "a:env.LD_PRELOAD=a b,c");
    check_ids(HEAD "env.A = {\"say \\\"x\\\"\", \"1,2,threads\"}\n", "a:env.A=1,2,threads");
}

static void an_axis_of_one_value_is_no_factor(void)
{
    struct helper_study study = study_of(HEAD "threads = {2}\nlr = {log 0.01..1 x 3}\n");
    REQUIRE(study.status == YS_OK);
    CHECK_TEXT(id_of(&study, 0), "a:lr=0.01");
    CHECK_TEXT(id_of(&study, 1), "a:lr=0.1");
    CHECK_INT(ys_json_size(ys_json_get(trial_at(&study, 0), "factors")), 1);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "threads"), 0), 2);
    ys_job_fini(&study.job);
}

static void null_is_a_value_of_an_axis(void)
{
    struct helper_study study = study_of(HEAD "threads = {1, all}\nepochs = {1, 2}\n");
    REQUIRE(study.status == YS_OK);
    CHECK_TEXT(id_of(&study, 1), "a:epochs=1,threads=all");
    CHECK(ys_json_type_of(key_of(&study, 1, "threads")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
}

static void options_multiply_only_their_framework(void)
{
    struct helper_study study = study_of(
        HEAD "framework = {builtin, pytorch@2.13.0}\nopt.pytorch.compile = {on, off}\nopt.pytorch.level = 3\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 3);
    CHECK_TEXT(id_of(&study, 0), "a:framework=builtin");
    CHECK_TEXT(id_of(&study, 1), "a:framework=pytorch@2.13.0,opt.pytorch.compile=on");
    CHECK_INT(ys_json_size(ys_json_get(trial_at(&study, 0), "options")), 0);
    const ys_json *options = ys_json_get(trial_at(&study, 2), "options");
    CHECK_INT(ys_json_size(options), 2);
    CHECK(!ys_json_get_bool(options, "compile", true));
    CHECK_INT(ys_json_get_int(options, "level", 0), 3);
    CHECK(!ys_json_get_bool(ys_json_get(trial_at(&study, 2), "factors"), "opt.pytorch.compile", true));
    ys_job_fini(&study.job);
}

static void options_of_an_absent_framework_are_refused(void)
{
    CHECK_REFUSED(HEAD "framework = {builtin, pytorch}\nopt.jax.jit = on\n",
                  "t.ys:6:1: no trial that opt.jax.jit holds for is of framework jax: remove it, or add the framework");
    CHECK_REFUSED(
        HEAD "framework = pytorch2\nopt.pytorch.jit = on\n",
        "t.ys:6:1: no trial that opt.pytorch.jit holds for is of framework pytorch: remove it, or add the framework");
    CHECK_REFUSED(HEAD "opt.jit = on\n", "t.ys:5:1: opt.jit names no option: write opt.FRAMEWORK.NAME");
}

static void variables_are_texts_and_may_vary(void)
{
    struct helper_study study =
        study_of(HEAD "env.OMP_WAIT_POLICY = {active, passive}\nenv.CUDA_VISIBLE_DEVICES = \"\"\n");
    REQUIRE(study.status == YS_OK);
    CHECK_TEXT(id_of(&study, 1), "a:env.OMP_WAIT_POLICY=passive");
    const ys_json *env = ys_json_get(trial_at(&study, 1), "env");
    CHECK_TEXT(ys_json_get_text(env, "OMP_WAIT_POLICY", ""), "passive");
    CHECK_TEXT(ys_json_get_text(env, "CUDA_VISIBLE_DEVICES", "?"), "");
    ys_job_fini(&study.job);
    CHECK_REFUSED(HEAD "env.1X = 2\n",
                  "t.ys:5:1: env.1X names no environment variable: write env.NAME, NAME in letters, digits and _");
    CHECK_REFUSED(HEAD "env.YARDSTICK_FD = 2\n",
                  "t.ys:5:1: env.YARDSTICK_FD: variables that begin with YARDSTICK_ are yardstick's own: remove it");
}

static void excluded_points_are_left_out(void)
{
    struct helper_study study = study_of(HEAD "framework = {builtin, jax@0.4}\nthreads = {1, 2}\nlr = {0.1, 0.2}\n"
                                              "exclude = framework=jax threads=1\nexclude = lr=2e-1   threads=2\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 4);
    CHECK_TEXT(id_of(&study, 0), "a:framework=builtin,lr=0.1,threads=1");
    CHECK_TEXT(id_of(&study, 1), "a:framework=builtin,lr=0.1,threads=2");
    CHECK_TEXT(id_of(&study, 2), "a:framework=builtin,lr=0.2,threads=1");
    CHECK_TEXT(id_of(&study, 3), "a:framework=jax@0.4,lr=0.1,threads=2");
    CHECK_INT(ys_json_get_int(trial_at(&study, 3), "index", -1), 3);
    ys_job_fini(&study.job);
}

static void excludes_know_defaults_options_and_variables(void)
{
    struct helper_study study =
        study_of(HEAD "framework = {builtin, pytorch}\nopt.pytorch.compile = {on, off}\nenv.A = {x, y z}\n"
                      "exclude = batch=64 opt.pytorch.compile=on\nexclude = env.A=\"y z\" framework=builtin\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 3);
    CHECK_TEXT(id_of(&study, 0), "a:framework=builtin,env.A=x");
    CHECK_TEXT(id_of(&study, 2), "a:framework=pytorch,env.A=y z,opt.pytorch.compile=off");
    ys_job_fini(&study.job);
}

static void excludes_are_inherited(void)
{
    struct helper_study study =
        study_of("version = 1\n[global]\nmodel = lenet\ndata = digits\nthreads = {1, 2, 3, 4}\n"
                 "exclude = threads=1\n[a]\nexclude = threads=2\n[b : a]\nexclude = threads=3\n");
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 3);
    CHECK_TEXT(id_of(&study, 2), "b:threads=4");
    ys_job_fini(&study.job);
}

static void useless_and_malformed_excludes_are_refused(void)
{
    CHECK_REFUSED(HEAD "threads = {1, 2}\nexclude = threads=3\n",
                  "t.ys:6:11: this exclude removes no point: no trial has all of its values");
    CHECK_REFUSED(HEAD "exclude = steps=3\n",
                  "t.ys:5:11: this exclude removes no point: no trial has all of its values");
    CHECK_REFUSED(HEAD "threads = {1, 2}\nexclude = batch=64\n",
                  "t.ys:2:1: every point of section [a] is excluded: remove the section or an exclude line");
    CHECK_REFUSED(HEAD "exclude = threads\n",
                  "t.ys:5:11: \"threads\" is not key=value: write exclude = framework=jax threads=1");
    CHECK_REFUSED(HEAD "exclude = thread=1\n", "t.ys:5:11: there is no key thread; did you mean threads?");
    CHECK_REFUSED(HEAD "exclude = threads=x\n",
                  "t.ys:5:11: threads = x: this is no whole number: write a whole number, 1 to 4096, or all");
    CHECK_REFUSED(
        HEAD "exclude = seed=1\n",
        "t.ys:5:11: seed does not tell points of a section apart: exclude by work, machine and observation keys");
}

/* A number of a trial's keys; -1: null. */
static double number_of(const struct helper_study *study, size_t trial, const char *key)
{
    return ys_json_number(key_of(study, trial, key), -1);
}

static void an_optimizer_says_all_of_its_numbers(void)
{
    struct helper_study study =
        study_of(HEAD "optimizer = {sgd, adam, adamw(0.8, 0.9, 1e-6), rmsprop(0.9, 1e-3)}\nclip_norm = {none, 2}\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 8);
    CHECK_TEXT(id_of(&study, 0), "a:optimizer=sgd,clip_norm=none");
    CHECK_TEXT(id_of(&study, 3), "a:optimizer=adam,clip_norm=2");
    CHECK_TEXT(id_of(&study, 4), "a:optimizer=adamw(0.8,0.9,1e-06),clip_norm=none");
    CHECK_TEXT(ys_json_get_text(ys_json_get(trial_at(&study, 3), "factors"), "optimizer", ""), "adam");
    const double expected[4][4] = {{-1, -1, -1, -1}, {0.9, 0.999, -1, 1e-8}, {0.8, 0.9, -1, 1e-6}, {-1, -1, 0.9, 1e-3}};
    for (size_t i = 0; i < 4; i++) {
        CHECK(number_of(&study, 2 * i, "beta1") == expected[i][0]);
        CHECK(number_of(&study, 2 * i, "beta2") == expected[i][1]);
        CHECK(number_of(&study, 2 * i, "alpha") == expected[i][2]);
        CHECK(number_of(&study, 2 * i, "epsilon") == expected[i][3]);
    }
    CHECK(number_of(&study, 6, "clip_norm") == -1 && number_of(&study, 7, "clip_norm") == 2);
    ys_job_fini(&study.job);
    CHECK_REFUSED(HEAD "optimizer = {adam, adam(0.9, 0.999, 1e-8)}\n",
                  "t.ys:5:13: optimizer has the value adam(0.9, 0.999, 1e-8) twice: remove one");
}

static void momentum_and_optimizer_must_go_together(void)
{
    CHECK_REFUSED(
        HEAD "optimizer = nesterov\n",
        "t.ys:5:13: optimizer = nesterov with momentum = 0 in section [a]: nesterov needs a momentum above 0: "
        "write momentum = 0.9, or leave the point out with exclude");
    CHECK_REFUSED(HEAD "optimizer = {sgd, adamw}\nmomentum = {0, 0.9}\n",
                  "t.ys:6:12: optimizer = adamw with momentum = 0.9 in section [a]: adamw has BETA1 in the place of a "
                  "momentum: write momentum = 0, or leave the point out with exclude");
    CHECK_REFUSED_FLAG(HEAD "momentum = 0.9\n", "optimizer", "adam",
                       "t.ys:5:12: optimizer = adam with momentum = 0.9 in section [a]: adam has BETA1 in the place of "
                       "a momentum: write momentum = 0, or leave the point out with exclude");
    struct helper_study study = study_of(HEAD "optimizer = {sgd, nesterov, adam, rmsprop}\nmomentum = {0, 0.9}\n"
                                              "exclude = optimizer=nesterov momentum=0\n"
                                              "exclude = optimizer=adam(0.9,0.999,1e-8) momentum=0.9\n");
    CHECK_TEXT(study.error, "");
    CHECK_INT(ys_json_size(study.job.trials), 6);
    ys_job_fini(&study.job);
}

static void inference_has_requests_and_no_training(void)
{
    struct helper_study study = study_of("version = 1\n[global]\nmodel = lenet\ndata = digits\nepochs = 3\nlr = 0.5\n"
                                         "optimizer = adam\neval_every = 5\nblock = 2\n"
                                         "[t]\n[i]\nmode = infer\nrequests = {20, 30}\nloss = mse\nbatch = 1\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 3);
    CHECK(number_of(&study, 0, "epochs") == 3 && number_of(&study, 0, "requests") == -1);
    CHECK_TEXT(id_of(&study, 1), "i:requests=20");
    CHECK(number_of(&study, 2, "requests") == 30 && number_of(&study, 2, "block") == 2);
    CHECK_TEXT(ys_json_text(key_of(&study, 2, "loss"), ""), "mean_squared_error");
    static const char *const none[] = {"epochs",   "steps",     "optimizer",  "lr",    "momentum", "weight_decay",
                                       "schedule", "clip_norm", "eval_every", "beta1", "epsilon"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        tap_check(key_of(&study, 1, none[i]) && ys_json_type_of(key_of(&study, 1, none[i])) == YS_JSON_NULL, __LINE__,
                  "%s says something", none[i]);
    ys_job_fini(&study.job);
    study = study_of(HEAD "mode = infer\n");
    CHECK_INT(study.status, YS_OK);
    CHECK(number_of(&study, 0, "requests") == 1000 && number_of(&study, 0, "epochs") == -1);
    CHECK_INT(number_of(&study, 0, "prompt"), -1);
    ys_job_fini(&study.job);
    study = study_of("version = 1\n[global]\nmodel = lenet\ndata = digits\nprompt = none\n"
                     "[t]\n[i]\nmode = infer\nprompt = {8, none}\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(ys_json_size(study.job.trials) == 3);
    CHECK(number_of(&study, 0, "prompt") == -1 && number_of(&study, 2, "prompt") == -1);
    CHECK(number_of(&study, 1, "prompt") == 8);
    CHECK_TEXT(id_of(&study, 1), "i:prompt=8");
    ys_job_fini(&study.job);
}

static void keys_of_the_other_mode_are_refused(void)
{
    CHECK_REFUSED(HEAD "mode = infer\nepochs = 2\n", "t.ys:6:1: epochs is for mode = train, and section [a] has mode = "
                                                     "infer: write requests instead, or mode = train");
    CHECK_REFUSED(HEAD "steps = 2\nmode = infer\n", "t.ys:5:1: steps is for mode = train, and section [a] has mode = "
                                                    "infer: write requests instead, or mode = train");
    CHECK_REFUSED(HEAD "requests = 2\n", "t.ys:5:1: requests is for mode = infer, and section [a] has mode = train: "
                                         "write epochs or steps instead, or mode = infer");
    CHECK_REFUSED("version = 1\n[global]\nsteps = 9\n[a]\nmodel = lenet\ndata = digits\nmode = infer\n",
                  "t.ys:3:1: steps is for mode = train, and section [a] has mode = infer: write requests instead, or "
                  "mode = train");
    CHECK_REFUSED(HEAD "mode = infer\nlr = {0.1, 0.2}\n",
                  "t.ys:6:1: lr is for mode = train, and section [a] has mode = infer, where its values would all give "
                  "the same trial: remove it");
    CHECK_REFUSED(HEAD "prompt = 8\n", "t.ys:5:1: prompt is for mode = infer, and section [a] has mode = train: remove "
                                       "it, or write mode = infer");
    CHECK_REFUSED(HEAD "prompt = {8, 16}\n",
                  "t.ys:5:1: prompt is for mode = infer, and section [a] has mode = train, where its values would all "
                  "give the same trial: remove it");
    CHECK_REFUSED(HEAD "compare = same-weights\nprompt = 8\n",
                  "t.ys:6:1: prompt is for mode = infer, and section [a] has mode = train: remove it, or write mode = "
                  "infer");
    CHECK_REFUSED_FLAG(
        HEAD "steps = 2\n", "prompt", "8",
        "command line: prompt is for mode = infer, and section [a] has mode = train: remove it, or write "
        "mode = infer");
    CHECK_REFUSED(HEAD "mode = infer\nprompt = 0\n",
                  "t.ys:6:10: prompt = 0: out of range: write a whole number, 1 to 1048576, or none");
    CHECK_REFUSED(HEAD "steps = 2\nrequests = 3\n",
                  "t.ys:6:1: requests and steps (line 5) both say how long a run is: keep one of them");
    CHECK_REFUSED_FLAG(HEAD "steps = 2\n", "mode", "infer",
                       "t.ys:5:1: steps is for mode = train, and section [a] has mode = infer: write requests instead, "
                       "or mode = train");
    CHECK_REFUSED(HEAD "mode = {train, infer}\n",
                  "t.ys:5:8: mode = {train, infer}: mode takes one value, not an axis: remove the braces");
}

static void requests_take_the_place_of_a_weaker_length(void)
{
    char words[][16] = {"mode", "infer", "requests", "7"};
    struct ys_job_flag flags[] = {{words[0], words[1]}, {words[2], words[3]}};
    struct helper_study study = study_with(HEAD "steps = 2\n", flags, 2, NULL);
    CHECK_TEXT(study.error, "");
    CHECK(number_of(&study, 0, "requests") == 7);
    ys_job_fini(&study.job);
}

static void every_new_key_can_vary(void)
{
    struct helper_study study = study_of(
        HEAD "precision = {f32, bf16}\nloss = {auto, nll, softmax_cross_entropy(0.1), mse}\n"
             "schedule = {constant, step(30, 0.1), inv(1e-4, 0.75), warmup(5) cosine(100)}\nclip_norm = {none, 1}\n");
    REQUIRE(study.status == YS_OK);
    REQUIRE(ys_json_size(study.job.trials) == 64);
    CHECK_TEXT(id_of(&study, 63),
               "a:schedule=warmup(5) cosine(100),clip_norm=1,loss=mean_squared_error,precision=bf16");
    ys_job_fini(&study.job);
}

static void the_number_of_runs_is_capped(void)
{
    CHECK_REFUSED("version = 1\nrepeat = 10\n[a]\nmodel = lenet\ndata = digits\nbatch = {1..101}\n",
                  "t.ys: 101 trials, each run 10 times, make 1010 runs, more than max_runs = 1000: shorten the axes, "
                  "lower repeat, or "
                  "raise max_runs");
    struct helper_study study =
        study_of("version = 1\nrepeat = 10\nmax_runs = 1010\n[a]\nmodel = lenet\ndata = digits\nbatch = {1..101}\n");
    CHECK_INT(study.status, YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 101);
    ys_job_fini(&study.job);
    CHECK_REFUSED(HEAD "batch = {1..1000}\nthreads = {1..1000}\n",
                  "t.ys:2:1: with section [a] the study has more than 100000 points: shorten its axes");
}

static ys_status only_known(void *context, const char *framework)
{
    ++*(int *)context;
    return strncmp(framework, "pytorch", 7) == 0
               ? YS_OK
               : ys_fail(YS_ENOTFOUND, "there is no recipe %s; did you mean pytorch?", framework);
}

static ys_status typed(void *context, const char *framework, const char *option, const char *text, ys_json **value)
{
    (void)context;
    if (strcmp(framework, "pytorch@2") != 0 || strcmp(option, "compile") != 0)
        return ys_fail(YS_EINVAL, "%s has no option %s", framework, option);
    *value = ys_json_string(text);
    return YS_OK;
}

static void a_target_needs_checkpoints_of_a_training(void)
{
    struct helper_study study = study_of(HEAD "until = accuracy >= 98 %\neval_every = 20\n");
    CHECK_TEXT(study.error, "");
    REQUIRE(ys_json_size(study.job.trials) == 1);
    CHECK_TEXT(ys_json_text(key_of(&study, 0, "until"), ""), "accuracy >= 0.98");
    ys_job_fini(&study.job);
    study = study_of(HEAD "until = none\nmode = infer\n");
    CHECK_INT(study.status, YS_OK);
    CHECK(ys_json_type_of(key_of(&study, 0, "until")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
    CHECK_REFUSED(
        HEAD "until = accuracy >= 98 %\n",
        "t.ys:5:9: until = accuracy >= 0.98 looks at checkpoints, and section [a] has none: write eval_every = "
        "STEPS, from one to the next");
    CHECK_REFUSED(
        HEAD "until = speed >= 98\neval_every = 20\n",
        "t.ys:5:9: until = speed >= 98: a checkpoint cannot tell speed: write accuracy >= SHARE, test_loss <= "
        "NUMBER or bits_per_token <= NUMBER");
    CHECK_REFUSED(HEAD "until = accuracy >= 98 %\neval_every = 20\nmode = infer\n",
                  "t.ys:5:1: until ends a training, and section [a] has mode = infer, which trains nothing: remove it, "
                  "or write until = none");
    CHECK_REFUSED(HEAD "until = accuracy >= 98 %\neval_every = 20\ncompare = same-weights\n",
                  "t.ys:5:1: until ends the training of a framework, and section [a] has compare = same-weights, where "
                  "none trains: remove it, or write until = none");
    CHECK_REFUSED(
        HEAD "until = accuracy >= 98 %\neval_every = 20\nranks = 2\nnodes = 2\n",
        "t.ys:5:9: until = accuracy >= 0.98 looks at checkpoints while a run stands still, and those of several "
        "hosts lie on others: remove nodes from section [a], or write until = none");
}

static void hooks_check_frameworks_and_type_options(void)
{
    int calls = 0;
    struct ys_job_hooks hooks = {&calls, NULL, only_known, typed};
    struct helper_study study = study_with(HEAD "framework = pytorch@2\nopt.pytorch.compile = on\n", NULL, 0, &hooks);
    REQUIRE(study.status == YS_OK);
    CHECK_TEXT(ys_json_get_text(ys_json_get(trial_at(&study, 0), "options"), "compile", ""), "on");
    ys_job_fini(&study.job);
    CHECK(calls > 0);
    study = study_with(HEAD "framework = {pytorch, pytroch}\n", NULL, 0, &hooks);
    CHECK_INT(study.status, YS_EINVAL);
    CHECK_TEXT(study.error, "t.ys:5:13: framework = pytroch: there is no recipe pytroch; did you mean pytorch?");
    study = study_with(HEAD "framework = pytorch@2\nopt.pytorch.compil = on\n", NULL, 0, &hooks);
    CHECK_INT(study.status, YS_EINVAL);
    CHECK_TEXT(study.error, "t.ys:6:22: pytorch@2 has no option compil");
}

TAP_MAIN(TAP_CASE(a_section_without_axes_is_one_trial_named_after_it), TAP_CASE(keys_are_typed_and_defaults_filled_in),
         TAP_CASE(axes_multiply_framework_slowest), TAP_CASE(an_axis_of_one_value_is_no_factor),
         TAP_CASE(no_two_trials_have_one_id), TAP_CASE(ordinary_values_stand_in_an_id_as_they_are),
         TAP_CASE(null_is_a_value_of_an_axis), TAP_CASE(options_multiply_only_their_framework),
         TAP_CASE(options_of_an_absent_framework_are_refused), TAP_CASE(variables_are_texts_and_may_vary),
         TAP_CASE(excluded_points_are_left_out), TAP_CASE(excludes_know_defaults_options_and_variables),
         TAP_CASE(excludes_are_inherited), TAP_CASE(useless_and_malformed_excludes_are_refused),
         TAP_CASE(an_optimizer_says_all_of_its_numbers), TAP_CASE(momentum_and_optimizer_must_go_together),
         TAP_CASE(inference_has_requests_and_no_training), TAP_CASE(keys_of_the_other_mode_are_refused),
         TAP_CASE(requests_take_the_place_of_a_weaker_length), TAP_CASE(every_new_key_can_vary),
         TAP_CASE(the_number_of_runs_is_capped), TAP_CASE(a_target_needs_checkpoints_of_a_training),
         TAP_CASE(hooks_check_frameworks_and_type_options))
