/* From a trial to its files and its plan. */
#include "unit/job/helper.h"

#include "base/files/fs.h"
#include "base/stored/safetensors.h"
#include "prepare/work.h"
#include "probe/host.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

static char cache[] = "/tmp/ys-work-XXXXXX";
static char train_path[] = "/nowhere/train.safetensors", test_path[] = "/nowhere/test.safetensors";

/* Small enough that a case is quick; nothing is read from it. */
static struct ys_dataset data = {.train_path = train_path,
                                 .test_path = test_path,
                                 .train_hash = "0123",
                                 .train_count = 100,
                                 .test_count = 10,
                                 .rows = YS_ROWS_OF_IMAGES(1, 28, 28, 10),
                                 .scale = 1.0 / 255};

static void begin(void)
{
    strcpy(cache, "/tmp/ys-work-XXXXXX");
    REQUIRE(mkdtemp(cache) != NULL);
    setenv("YARDSTICK_CACHE", cache, 1);
}

static void end(void)
{
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
}

/* The only trial of HEAD (an mlp, batches of 8, 4 steps) and `keys`. */
static bool open_trial(const char *keys, struct helper_study *study, struct ys_trial *trial)
{
    char text[1024];
    snprintf(text, sizeof text, "version = 1\n[a]\nmodel = mlp\ndata = digits\nbatch = 8\n%s", keys);
    *study = study_of(text);
    CHECK_TEXT(study->error, "");
    *trial = (struct ys_trial){.data = &data, .steps = 4, .threads = 1};
    return study->status == YS_OK &&
           CHECK(ys_record_read(&ys_trial_record, ys_json_at(study->job.trials, 0), "test", &trial->record) == YS_OK);
}

/* The plan of that trial as text, as far as `member` of it goes; the caller's until the next call. */
static const char *plan_member(const char *keys, const char *member)
{
    static char text[1024];
    struct helper_study study;
    struct ys_trial trial;
    struct ys_work work;
    text[0] = 0;
    if (!open_trial(keys, &study, &trial))
        return text;
    if (CHECK(ys_work_prepare(&trial, 1, 0, &work) == YS_OK)) {
        struct ys_plan plan;
        CHECK(ys_work_plan(&work, &trial, 1, "/f", &plan) == YS_OK);
        ys_json *sent = ys_record_json(&ys_plan_record, &plan), *only = ys_json_array();
        ys_json *value = ys_json_get(sent, member);
        ys_json_append(only, value ? ys_json_copy(value) : ys_json_string("absent"));
        char *dump = ys_json_dump(only, YS_JSON_COMPACT);
        snprintf(text, sizeof text, "%s", dump ? dump : "");
        ys_free(dump);
        ys_json_free(only);
        ys_json_free(sent);
        ys_plan_fini(&plan);
        ys_work_fini(&work);
    }
    ys_record_fini(&ys_trial_record, &trial.record);
    ys_job_fini(&study.job);
    return text;
}

#define USUAL "\"beta1\":0.9,\"beta2\":0.999,\"alpha\":0.99,\"epsilon\":1e-08"

static void the_optimizer_of_a_plan_has_all_members(void)
{
    begin();
    CHECK_TEXT(plan_member("", "optimizer"),
               "[{\"name\":\"sgd\",\"momentum\":0.0,\"nesterov\":false,\"weight_decay\":0."
               "0," USUAL ",\"clip_norm\":null}]");
    CHECK_TEXT(plan_member("optimizer = nesterov\nmomentum = 0.9\nweight_decay = 5e-4\nclip_norm = 2\n", "optimizer"),
               "[{\"name\":\"sgd\",\"momentum\":0.9,\"nesterov\":true,\"weight_decay\":0.0005," USUAL
               ",\"clip_norm\":2.0}]");
    CHECK_TEXT(
        plan_member("optimizer = adamw(0.8, 0.9, 1e-6)\n", "optimizer"),
        "[{\"name\":\"adamw\",\"momentum\":0.0,\"nesterov\":false,\"weight_decay\":0.0,\"beta1\":0.8,\"beta2\":0."
        "9,\"alpha\":0.99,\"epsilon\":1e-06,\"clip_norm\":null}]");
    CHECK_TEXT(
        plan_member("optimizer = rmsprop(0.9, 0.1)\nmomentum = 0.5\n", "optimizer"),
        "[{\"name\":\"rmsprop\",\"momentum\":0.5,\"nesterov\":false,\"weight_decay\":0.0,\"beta1\":0.9,\"beta2\":"
        "0.999,\"alpha\":0.9,\"epsilon\":0.1,\"clip_norm\":null}]");
    CHECK_TEXT(plan_member("compare = same-weights\noptimizer = adam\nweight_decay = 1\n", "optimizer"),
               "[{\"name\":\"sgd\",\"momentum\":0.0,\"nesterov\":false,\"weight_decay\":0.0," USUAL
               ",\"clip_norm\":null}]"); /* the framework trains nothing */
    CHECK_TEXT(plan_member("mode = infer\n", "optimizer"),
               "[{\"name\":\"sgd\",\"momentum\":0.0,\"nesterov\":false,\"weight_decay\":0.0," USUAL
               ",\"clip_norm\":null}]");
    end();
}

static void a_plan_says_mode_precision_loss_and_seed(void)
{
    begin();
    CHECK_TEXT(plan_member("", "mode"), "[\"train\"]");
    CHECK_TEXT(plan_member("mode = infer\n", "mode"), "[\"infer\"]");
    CHECK_TEXT(plan_member("mode = infer\n", "eval_every"), "[0]");
    CHECK_TEXT(plan_member("precision = bf16\n", "precision"), "[\"bf16\"]");
    CHECK_TEXT(plan_member("", "seed"), "[1]");
    CHECK_TEXT(plan_member("", "loss"), "[\"softmax_cross_entropy\"]");
    CHECK_TEXT(plan_member("", "label_smoothing"), "[0.0]");
    CHECK_TEXT(plan_member("loss = softmax_cross_entropy(0.1)\n", "label_smoothing"), "[0.1]");
    CHECK_TEXT(plan_member("loss = mse\n", "loss"), "[\"mean_squared_error\"]");
    end();
}

/* The graph's member `name` in the file of a trial with `keys`. */
static const char *graph_member(const char *keys, const char *name)
{
    static char text[64];
    struct helper_study study;
    struct ys_trial trial;
    struct ys_work work;
    text[0] = 0;
    if (!open_trial(keys, &study, &trial))
        return text;
    if (CHECK(ys_work_prepare(&trial, 1, 0, &work) == YS_OK)) {
        ys_json *graph = NULL;
        CHECK_INT(ys_json_read(work.graph_path, &graph), YS_OK);
        const ys_json *value = ys_json_get(graph, name);
        snprintf(text, sizeof text, "%g", ys_json_number(value, -1));
        if (ys_json_type_of(value) == YS_JSON_STRING)
            snprintf(text, sizeof text, "%s", ys_json_text(value, ""));
        ys_json_free(graph);
        ys_work_fini(&work);
    }
    ys_record_fini(&ys_trial_record, &trial.record);
    ys_job_fini(&study.job);
    return text;
}

static void the_graph_has_the_jobs_loss(void)
{
    begin();
    CHECK_TEXT(graph_member("", "loss"), "softmax_cross_entropy");
    CHECK_TEXT(graph_member("loss = mse\n", "loss"), "mean_squared_error");
    CHECK_TEXT(graph_member("loss = softmax_cross_entropy(0.25)\n", "label_smoothing"), "0.25");
    end();
}

static void resolving_counts_the_network_and_names_its_loss(void)
{
    struct helper_study study;
    struct ys_trial trial;
    REQUIRE(open_trial("", &study, &trial));
    CHECK_INT(ys_work_resolve(&trial), YS_OK);
    CHECK_INT(trial.parameters, 535818); /* 784 * 512 + 512 + 512 * 256 + 256 + 256 * 10 + 10 */
    CHECK_INT(trial.multiply_adds, 535040);
    CHECK_TEXT(trial.record.keys.loss, "softmax_cross_entropy");
    CHECK_INT(ys_work_resolve(&trial), YS_OK); /* as a study that is resumed does */
    ys_record_fini(&ys_trial_record, &trial.record);
    ys_job_fini(&study.job);
    REQUIRE(open_trial("loss = nll\n", &study, &trial));
    CHECK_INT(ys_work_resolve(&trial), YS_EINVAL);
    CHECK_TEXT(ys_error(),
               "loss = nll needs a network that ends in LogSoftmax, and mlp does not: write softmax_cross_entropy");
    ys_record_fini(&ys_trial_record, &trial.record);
    ys_job_fini(&study.job);
}

/* Prepares a trial with `keys`; the weights' inode, which is the same for a file that was not written again. */
static ino_t weights_of(const char *keys, uint64_t seed, char key[YS_SHA256_TEXT])
{
    struct helper_study study;
    struct ys_trial trial;
    struct ys_work work;
    struct stat file = {.st_ino = 0};
    if (open_trial(keys, &study, &trial) && CHECK(ys_work_prepare(&trial, seed, 0, &work) == YS_OK)) {
        CHECK(stat(work.weights_path, &file) == 0);
        memcpy(key, work.key, YS_SHA256_TEXT);
        ys_work_fini(&work);
    }
    ys_record_fini(&ys_trial_record, &trial.record);
    ys_job_fini(&study.job);
    return file.st_ino;
}

static void trials_of_one_network_and_seed_share_their_weights(void)
{
    begin();
    char first[YS_SHA256_TEXT] = "", other[YS_SHA256_TEXT] = "";
    ino_t weights = weights_of("", 1, first);
    static const char *const same[] = {"lr = 0.5\n", "schedule = cosine\n", "loss = mse\n", "mode = infer\n"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        CHECK(weights_of(same[i], 1, other) == weights);
        CHECK(strcmp(first, other) != 0); /* it is other work all the same */
    }
    CHECK(weights_of("optimizer = adam\n", 1, other) == weights);
    CHECK_TEXT(other, first); /* the same files */
    CHECK(weights_of("", 2, other) != weights);
    end();
}

static void rates_of_a_short_run_follow_the_run_not_the_proof(void)
{
    begin();
    struct helper_study study;
    struct ys_trial trial;
    struct ys_work work;
    REQUIRE(open_trial("schedule = cosine\nlr = 1\n", &study, &trial));
    REQUIRE(ys_work_prepare(&trial, 1, 10, &work) == YS_OK);
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *lr;
    REQUIRE(ys_safetensors_open(work.order_path, &file) == YS_OK);
    CHECK_INT(ys_safetensors_need(file, "lr", YS_F64, 1, (int64_t[]){10}, &lr), YS_OK);
    /* cosine over the run's 4 steps, (1 + cos(k pi / 4)) / 2, then 0; rounding stays below 4.5e-16 */
    const double *rates = lr->data, expected[10] = {1, 0.85355339059327376, 0.5, 0.14644660940672624};
    for (int k = 0; k < 10; k++)
        tap_check(fabs(rates[k] - expected[k]) < 4.5e-16, __LINE__, "rate %d is %.17g", k, rates[k]);
    ys_safetensors_close(file);
    ys_work_fini(&work);
    ys_record_fini(&ys_trial_record, &trial.record);
    ys_job_fini(&study.job);
    end();
}

static void a_plan_of_other_hosts_keeps_the_cpus_that_this_one_has(void)
{
    static const int launchers[] = {YS_LAUNCHER_LOCAL, YS_LAUNCHER_SSH, YS_LAUNCHER_MPI, YS_LAUNCHER_SLURM};
    int own;
    REQUIRE(ys_host_cpu_pick(1, &own) == YS_OK);
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const struct ys_trial trial = {.record.keys.launch = launchers[i]};
        int64_t some[] = {1 << 20, own, 1 << 21}, none[] = {1 << 20};
        struct ys_plan plan = {.cpus = {some, 3}}, other = {.cpus = {none, 1}};
        const bool is_here = launchers[i] == YS_LAUNCHER_LOCAL;
        ys_work_plan_here(&trial, &plan);
        ys_work_plan_here(&trial, &other);
        CHECK_INT(plan.cpus.count, is_here ? 3 : 1);
        CHECK_INT(some[0], is_here ? 1 << 20 : own);
        CHECK_INT(other.cpus.count, is_here);
    }
}

TAP_MAIN(TAP_CASE(the_optimizer_of_a_plan_has_all_members), TAP_CASE(a_plan_says_mode_precision_loss_and_seed),
         TAP_CASE(the_graph_has_the_jobs_loss), TAP_CASE(resolving_counts_the_network_and_names_its_loss),
         TAP_CASE(trials_of_one_network_and_seed_share_their_weights),
         TAP_CASE(rates_of_a_short_run_follow_the_run_not_the_proof),
         TAP_CASE(a_plan_of_other_hosts_keeps_the_cpus_that_this_one_has))
