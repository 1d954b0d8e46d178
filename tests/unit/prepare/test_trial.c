/* From the trials of a job to those of a study: what same weights and own defaults add. */
#include "unit/job/helper.h"

#include "base/files/fs.h"
#include "prepare/trial.h"

#include <stdlib.h>

static char cache[] = "/tmp/ys-trial-XXXXXX";

static void begin(void)
{
    strcpy(cache, "/tmp/ys-trial-XXXXXX");
    REQUIRE(mkdtemp(cache) != NULL);
    setenv("YARDSTICK_CACHE", cache, 1);
}

/* The trials of a section of `keys`, on framework null. */
static bool resolve(const char *keys, struct helper_study *study, struct ys_trial_set *set)
{
    char text[1024];
    snprintf(text, sizeof text, "version = 1\n[a]\nframework = null\ndata = synthetic\n%s", keys);
    *study = study_of(text);
    CHECK_TEXT(study->error, "");
    *set = (struct ys_trial_set){0};
    return study->status == YS_OK && CHECK(ys_trials_resolve(study->job.trials, NULL, NULL, NULL, set) == YS_OK);
}

static void finish(struct helper_study *study, struct ys_trial_set *set)
{
    ys_trials_fini(set);
    ys_job_fini(&study->job);
}

static void same_weights_are_trained_so_long_and_predict_so_many_rows(void)
{
    struct helper_study study;
    struct ys_trial_set set;
    begin();
    /* mlp on synthetic: 4096 rows to train on, 256 to test on. */
    if (resolve("model = mlp\ncompare = same-weights\nbatch = 100\nrows = {10, 201, 1000}\nsteps = {0, 7}\n", &study,
                &set)) {
        static const int64_t rows[] = {10, 201, 256}, requests[] = {1, 3, 3};
        CHECK_INT(set.count, 6);
        for (size_t i = 0; i < set.count; i++) {
            const struct ys_trial *trial = &set.items[i];
            const struct ys_trial_settings *keys = &trial->record.keys;
            size_t of_steps = (size_t)keys->steps / 7, of_rows = i % 3;
            CHECK(ys_trial_same_weights(trial));
            CHECK_INT(trial->taught_steps, of_steps * 7);
            CHECK_INT(keys->rows, rows[of_rows]);
            CHECK_INT(keys->requests, requests[of_rows]);
            CHECK_INT(trial->steps, requests[of_rows]); /* batches of its order */
        }
    }
    finish(&study, &set);
    if (resolve("model = mlp\ncompare = same-weights\nbatch = {1, 100}\ntaught.batch = {100, 5000}\nepochs = 2\n",
                &study, &set)) {
        CHECK_INT(set.count, 4);
        for (size_t i = 0; i < set.count; i += 2) {
            CHECK_INT(set.items[i].taught_steps, 2 * 40); /* 40 whole batches in 4096 rows */
            CHECK_INT(set.items[i].record.keys.rows, 256);
            CHECK(set.items[i + 1].impossible);
            CHECK_TEXT(set.items[i + 1].record.reason,
                       "taught.batch = 5000 is larger than the data set synthetic: it has 4096 training rows, give at "
                       "most that");
        }
    }
    finish(&study, &set);
    if (resolve("model = mlp\ncompare = same-weights\nbatch = 1\ntaught.batch = 5000\nsteps = 0\n", &study, &set))
        CHECK(!set.items[0].impossible); /* nothing is trained */
    finish(&study, &set);
    if (resolve("model = mlp\n", &study, &set))
        CHECK(!ys_trial_same_weights(&set.items[0]) && set.items[0].taught_steps == 0);
    finish(&study, &set);
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
}

static void without_defaults_a_trial_is_unsupported_and_needs_no_data(void)
{
    struct helper_study study;
    struct ys_trial_set set;
    begin();
    if (resolve("compare = own\nthreads = 1\n", &study, &set)) {
        CHECK_INT(set.items[0].record.status, YS_RUN_UNSUPPORTED);
        CHECK_TEXT(set.items[0].record.reason, "no defaults of frameworks are known here");
        CHECK(!set.items[0].data && set.items[0].framework && set.items[0].threads == 1);
        CHECK_INT(set.dataset_count, 0);
    }
    finish(&study, &set);
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
}

static void cpus_of_other_hosts_are_not_looked_for_on_this_one(void)
{
#define TWO "model = mlp\nbatch = 8\nsteps = 4\nnodes = 2\nthreads = 1\ncpus = 4000-4095\n"
    struct helper_study study;
    struct ys_trial_set set;
    begin();
    if (resolve(TWO "launch = ssh\nhosts = h0, h1\n", &study, &set) && CHECK(set.items[0].cpu_count == 96)) {
        CHECK(ys_trial_can_run(&set.items[0]));
        CHECK_INT(set.items[0].cpus[95], 4095);
    }
    finish(&study, &set);
    if (resolve(TWO, &study, &set)) { /* launch = local: this host is each of them */
        CHECK_INT(set.items[0].record.status, YS_RUN_SKIPPED);
        CHECK_HAS(set.items[0].record.reason, "cpus names CPU 4000, which yardstick may not use");
    }
    finish(&study, &set);
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
#undef TWO
}

static void attacks_need_pixels_a_class_and_weights(void)
{
#define ATTACKED "optimizer = sgd\nsteps = 4\nbatch = 8\nattack = fgsm(0.1)\n"
    static const struct {
        const char *keys, *reason;
    } refused[] = {
        {"[a]\nframework = builtin\ndata = synthetic\nmodel = gpt-nano\n" ATTACKED, "it reads tokens"},
        {"[a]\nframework = null\ndata = synthetic\nmodel = mlp\n" ATTACKED, "this framework does no work"},
    };
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct ys_trial_set set = {0};
        char text[1024];
        snprintf(text, sizeof text, "version = 1\n%s", refused[i].keys);
        struct helper_study study = study_of(text);
        CHECK_TEXT(study.error, "");
        CHECK_INT(ys_trials_resolve(study.job.trials, NULL, NULL, NULL, &set), YS_EINVAL);
        CHECK_HAS(ys_error(), refused[i].reason);
        finish(&study, &set);
    }
    struct ys_trial_set set = {0};
    struct helper_study study =
        study_of("version = 1\n[a]\nframework = builtin\ndata = synthetic\nmodel = mlp\n" ATTACKED);
    CHECK_TEXT(study.error, "");
    if (CHECK(ys_trials_resolve(study.job.trials, NULL, NULL, NULL, &set) == YS_OK))
        CHECK_INT(set.items[0].record.keys.attack_rows, 256); /* all that synthetic has to test on */
    finish(&study, &set);
    CHECK(ys_fs_remove_tree(cache) == YS_OK);
#undef ATTACKED
}

TAP_MAIN(TAP_CASE(attacks_need_pixels_a_class_and_weights),
         TAP_CASE(cpus_of_other_hosts_are_not_looked_for_on_this_one),
         TAP_CASE(same_weights_are_trained_so_long_and_predict_so_many_rows),
         TAP_CASE(without_defaults_a_trial_is_unsupported_and_needs_no_data))
