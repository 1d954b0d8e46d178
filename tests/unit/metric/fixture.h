/* A study made up: facts of recorded runs, with made-up times, processor time and memory, and series as runs leave
 * them, put through the store. */
#ifndef YS_TESTS_METRIC_FIXTURE_H
#define YS_TESTS_METRIC_FIXTURE_H

#include "base/files/fs.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "metric/study_view.h"
#include "recorded.h"
#include "unit/base/scratch.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

struct fake_trial {
    const char *framework, *title, *version, *runtime, *library, *deviation;
    const char *verdict; /* of the proof; NULL: none is stored */
    int threads;
    double rate_per_s, noise; /* steady speed; relative standard deviation of a block and of a round */
    int64_t start_ns, build_ns, rss_bytes;
    int slow_blocks; /* of warm-up after the first step, twice as slow */
    bool no_work;
    int ranks;            /* a factor; 0: none */
    const char *strategy; /* likewise; NULL: none */
};

/* Rows have a class for each of so many positions; 0: one for the row. */
__attribute__((unused)) static int fake_positions;
/* How late the first sample was stamped; the one after it was not. */
__attribute__((unused)) static int64_t fake_late_ns;

/* The target that runs end at after all of their steps, looked at each `fake_look` of them; NULL: none. */
__attribute__((unused)) static const char *fake_until;
__attribute__((unused)) static int fake_look = 50;

/* The study goes on until it is decided. */
__attribute__((unused)) static bool fake_decides;

/* Runs of this framework in this round are marked as disturbed; NULL: none, "": those of all. */
__attribute__((unused)) static const char *fake_disturbed;
__attribute__((unused)) static int64_t fake_disturbed_round;
/* What was taken from them, as the fact of that name; NULL: nobody knows. */
__attribute__((unused)) static const char *fake_taken;

struct fake_run {
    int64_t round;
    int attempt;
    const char *status; /* "ok", "not_converged" after all steps, or how it fails in `train` */
};

enum { FAKE_STEPS = 301, FAKE_BLOCK = 5, FAKE_BATCH = 64 };

static const struct fake_trial fake_trials[] = {
    {"builtin", "yardstick's own engine", "0.1.0", "native", "oneDNN 2.6.3", NULL, "pass", 1, 5200, 0.012, 9 * MS,
     45 * MS, 96 << 20, 0},
    {"builtin", "yardstick's own engine", "0.1.0", "native", "oneDNN 2.6.3", NULL, "pass", 2, 8900, 0.02, 9 * MS,
     46 * MS, 99 << 20, 0},
    {"pytorch", "PyTorch", "2.13.0", "CPython 3.11.7", "MKL-DNN 3.5, OpenMP", "channels_last memory format", "pass", 1,
     4350, 0.015, 1840 * MS, 130 * MS, 412 << 20, 2},
    {"pytorch", "PyTorch", "2.13.0", "CPython 3.11.7", "MKL-DNN 3.5, OpenMP", "channels_last memory format", "weak", 2,
     6900, 0.03, 1850 * MS, 131 * MS, 431 << 20, 2},
};
enum { FAKE_TRIALS = sizeof fake_trials / sizeof fake_trials[0] };

static ys_json *fake_json(const char *text)
{
    ys_json *value = NULL;
    if (ys_json_parse(text, strlen(text), "fixture", &value) != YS_OK) {
        printf("# %s\n", ys_error());
        abort();
    }
    return value;
}

__attribute__((format(printf, 1, 2))) static ys_json *fake_jsonf(const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fake_json(text);
}

/* A factor more, which is in the id too. */
static void fake_factor(ys_json *trial, const char *name, const char *text, ys_json *value)
{
    char id[200];
    snprintf(id, sizeof id, "%s,%s=%s", ys_json_get_text(trial, "id", ""), name, text);
    ys_json_set_string(trial, "id", id);
    ys_json_set(ys_json_get(trial, "factors"), name, ys_json_ref(value));
    ys_json_set(ys_json_get(trial, "keys"), name, value);
}

static ys_json *fake_trial_json(const struct fake_trial *trial, int index)
{
    ys_json *json = fake_jsonf(
        "{\"id\":\"lenet:framework=%s,threads=%d\",\"index\":%d,\"section\":\"lenet\","
        "\"factors\":{\"framework\":\"%s\",\"threads\":%d},"
        "\"keys\":{\"mode\":\"train\",\"framework\":\"%s\",\"device\":\"cpu\",\"model\":\"lenet\",\"data\":\"digits\","
        "\"batch\":%d,\"block\":%d,\"steps\":%d,\"optimizer\":\"sgd\",\"lr\":0.01,\"momentum\":0.9,"
        "\"weight_decay\":0.0005,\"schedule\":\"constant\",\"loss\":\"softmax_cross_entropy\",\"precision\":\"f32\","
        "\"threads\":%d,\"sample_hz\":10,"
        "\"compare\":\"controlled\",\"memory_limit\":null,\"run_time_limit\":3600.0},"
        "\"options\":{},\"env\":{},\"framework\":{\"name\":\"%s\",\"version\":\"%s\",\"title\":\"%s\"}}",
        trial->framework, trial->threads, index, trial->framework, trial->threads, trial->framework, FAKE_BATCH,
        FAKE_BLOCK, FAKE_STEPS, trial->threads, trial->framework, trial->version, trial->title);
    char ranks[16];
    snprintf(ranks, sizeof ranks, "%d", trial->ranks);
    if (fake_until)
        ys_json_set_string(ys_json_get(json, "keys"), "until", fake_until);
    if (trial->ranks > 0)
        fake_factor(json, "ranks", ranks, ys_json_int(trial->ranks));
    if (trial->strategy)
        fake_factor(json, "strategy", trial->strategy, ys_json_string(trial->strategy));
    return json;
}

/* A trial as JSON into the store. */
__attribute__((unused)) static ys_status fake_put_trial(struct ys_store *store, int64_t study_id, const ys_json *json,
                                                        int64_t *trial_id)
{
    struct ys_trial_record trial;
    YS_TRY(ys_record_read(&ys_trial_record, json, "fixture", &trial));
    ys_status status = ys_store_trial_put(store, study_id, &trial, trial_id);
    ys_record_fini(&ys_trial_record, &trial);
    return status;
}

/* A trial whose framework is not installed. */
__attribute__((unused)) static ys_json *fake_missing_json(int index)
{
    static const struct fake_trial jax = {.framework = "jax", .title = "JAX", .version = "0.10.2", .threads = 1};
    ys_json *trial = fake_trial_json(&jax, index);
    ys_json_set_string(trial, "status", "missing");
    ys_json_set_string(trial, "reason", "JAX 0.10.2 is not installed");
    ys_json_set_string(trial, "command", "yardstick install jax@0.10.2");
    return trial;
}

static ys_json *fake_study_json(int repeat)
{
    char rounds[60];
    snprintf(rounds, sizeof rounds, fake_decides ? "null,\"repeat_most\":20" : "%d", repeat);
    return fake_jsonf(
        "{\"name\":\"first\",\"job_text\":\"version = 1\\nname = first\\nrepeat = %d\\n\\n[lenet]\\n"
        "framework = {builtin, pytorch}\\nmodel = lenet\\ndata = digits\\nthreads = {1, 2}\\nsteps = 301\\n\","
        "\"job\":{\"name\":\"first\",\"repeat\":%s,\"margin\":0.02,\"seed\":1,\"order\":\"random\"},\"trials_planned\":"
        "4,"
        "\"started_s\":1795233482,\"seed\":1,\"command\":\"yardstick run studies/first.ys\",\"version\":\"0.1.0\","
        "\"model_info\":[{\"model\":\"lenet\",\"parameters\":3274634,\"multiply_adds\":13886464,\"data\":\"digits\","
        "\"train_hash\":\"6a1c9f0d5c3be1f0a4f1f8f36b0b3a9d0e7b2c4d5e6f708192a3b4c5d6e7f809\","
        "\"test_hash\":\"0b7d5e1f2a3c4b5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5\","
        "\"verified\":true,\"source\":\"generated by yardstick\"}]}",
        repeat, rounds);
}

static ys_json *fake_host_json(void)
{
    return fake_json(
        "{\"cpu\":\"Example CPU @ "
        "2.50GHz\",\"cpus\":2,\"cpus_allowed\":2,\"cores\":1,\"threads_per_core\":2,\"sockets\":1,"
        "\"memory_bytes\":24696061952,\"kernel\":\"Linux 6.18.0\",\"distribution\":\"Debian GNU/Linux 12\","
        "\"virtual\":\"kvm\",\"governor\":null,\"isa\":\"avx512\",\"load_1min\":0.21,"
        "\"warnings\":[\"this is a virtual machine: other guests can disturb every measurement\"]}");
}

static ys_json *fake_proof_json(const struct fake_trial *trial)
{
    bool builtin = strcmp(trial->framework, "builtin") == 0, weak = strcmp(trial->verdict, "weak") == 0;
    bool fail = strcmp(trial->verdict, "fail") == 0;
    ys_json *proof = fake_jsonf(
        "{\"verdict\":\"%s\",\"reason\":%s,\"key\":\"8f14e45fceea167a\",\"cached\":false,\"framework\":\"%s\","
        "\"version\":\"%s\","
        "\"seed\":1,\"rows\":8,\"batches\":10,\"seconds\":2.41,\"date\":\"2026-11-21T03:58:02Z\",\"checks\":["
        "{\"half\":\"work\",\"name\":\"parameters\",\"error\":0,\"bound\":0,\"pass\":true,\"worst\":null},"
        "{\"half\":\"work\",\"name\":\"multiply_adds\",\"error\":0,\"bound\":0,\"pass\":true,\"worst\":null},"
        "{\"half\":\"work\",\"name\":\"initial weights\",\"error\":0,\"bound\":0,\"pass\":true,\"worst\":null},"
        "{\"half\":\"work\",\"name\":\"batches\",\"error\":0,\"bound\":0,\"pass\":true,\"worst\":null}],"
        "\"twins\":{\"count\":8,\"batch\":0,\"forward\":3.1e-06,\"gradients\":2e-06},\"diagnosis\":[]}",
        trial->verdict, weak ? "\"the framework has no double: only the second half was judged\"" : "null",
        trial->framework, trial->version);
    static const char *const names[] = {"logits", "loss", "gradients", "weights after 1 step",
                                        "weights after 10 steps"};
    static const double errors[] = {4.3e-15, 1.1e-16, 2.7e-14, 3.9e-14, 3.8e-13};
    for (int i = 0; !weak && i < 5; i++)
        ys_json_append(
            ys_json_get(proof, "checks"),
            fake_jsonf(
                "{\"half\":\"meaning\",\"name\":\"%s\",\"error\":%g,\"bound\":1e-9,\"pass\":%s,\"worst\":\"%s\"}",
                names[i],
                builtin         ? 0
                : fail && i > 2 ? 0.0123
                                : errors[i],
                fail && i > 2 ? "false" : "true", i == 1 ? "loss" : "conv1.weight"));
    ys_json_append(
        ys_json_get(proof, "checks"),
        fake_jsonf("{\"half\":\"numerics\",\"name\":\"first batch\",\"error\":%g,\"bound\":2.48e-05,\"pass\":true,"
                   "\"worst\":\"conv1.weight\"}",
                   builtin ? 1.3e-6 : 5.9e-6));
    return proof;
}

/* 1 + noise * normal. */
static double fake_wobble(const struct fake_trial *trial, struct ys_rng *rng)
{
    return 1 + trial->noise * ys_rng_normal(rng);
}

/* Blocks, losses and samples from `t_ns` on; returns when the last block ends. */
static int64_t fake_series(const struct fake_trial *trial, const struct fake_run *run, int64_t exec_ns, int64_t t_ns,
                           struct ys_series_set *series)
{
    char stream[80];
    struct ys_rng rng;
    snprintf(stream, sizeof stream, "%s/%d/%lld", trial->framework, trial->threads, (long long)run->round);
    ys_rng_init(&rng, 1, stream);
    double round_factor = fake_wobble(trial, &rng);
    const int status = ys_name_find(&ys_run_statuses, run->status);
    bool does_all = status == YS_RUN_OK || status == YS_RUN_NOT_CONVERGED;
    int steps = does_all ? FAKE_STEPS : 41;
    int64_t first_t_ns = t_ns;
    for (int step = 0, block = 0; step < steps; block++) {
        int count = block == 0 ? 1 : FAKE_BLOCK;
        double step_ns = 1e9 * FAKE_BATCH / (trial->rate_per_s * round_factor) * fake_wobble(trial, &rng);
        if (block == 0)
            step_ns *= strcmp(trial->framework, "builtin") == 0 ? 1.6 : 14;
        else if (block <= trial->slow_blocks)
            step_ns *= 2;
        ys_series_add_int(series, "block_first", step);
        ys_series_add_int(series, "block_count", count);
        ys_series_add_int(series, "block_start_ns", t_ns);
        t_ns += (int64_t)(step_ns * count);
        ys_series_add_int(series, "block_end_ns", t_ns);
        ys_series_add_int(series, "block_input_ns", (int64_t)(step_ns * count * 0.004));
        t_ns += 40000;
        for (int i = 0; i < count; i++, step++)
            ys_series_add_real(series, "step_loss", 0.05 + 2.25 * exp(-step / 60.0) * (1 + 0.1 * ys_rng_normal(&rng)));
    }
    int64_t cpu_ns = 0, last_ns = exec_ns;
    for (int64_t at = exec_ns + 100 * MS; at < t_ns; at += 100 * MS) {
        bool training = at > first_t_ns;
        cpu_ns += (int64_t)((double)(at - last_ns) * (training ? 0.985 * trial->threads : 0.93));
        last_ns = at;
        ys_series_add_int(series, "sample_t_ns", at + (at == exec_ns + 100 * MS ? fake_late_ns : 0));
        ys_series_add_int(series, "sample_cpu_ns", cpu_ns);
        ys_series_add_int(series, "sample_rss_bytes",
                          training ? trial->rss_bytes : trial->rss_bytes * (at - exec_ns) / (first_t_ns - exec_ns + 1));
        ys_series_add_int(series, "sample_threads", training ? trial->threads : 1);
        ys_series_add_int(series, "sample_processes", 1);
        ys_series_add_int(series, "sample_switches", (at - exec_ns) / MS / 7);
    }
    return t_ns;
}

/* What the trial's framework says of itself. */
static void fake_words(const struct fake_trial *trial, ys_json *hello, ys_json *opened)
{
    ys_json_set_string(hello, "adapter", trial->framework);
    ys_json_set_string(hello, "framework", trial->title);
    ys_json_set_string(hello, "version", trial->version);
    ys_json_set_string(hello, "runtime", trial->runtime);
    ys_json_set_bool(hello, "no_work", trial->no_work);
    ys_json_set_int(opened, "parameters", 3274634);
    ys_json_set_int(opened, "threads", trial->threads);
    ys_json_set(opened, "libraries", fake_jsonf("[\"%s\"]", trial->library));
    ys_json_set(opened, "deviations", trial->deviation ? fake_jsonf("[\"%s\"]", trial->deviation) : ys_json_array());
}

static ys_json *fake_facts(const struct fake_trial *trial, const struct fake_run *run, struct ys_series_set *series)
{
    const int status = ys_name_find(&ys_run_statuses, run->status);
    bool lost = status == YS_RUN_NOT_CONVERGED, ok = lost || status == YS_RUN_OK,
         builtin = strcmp(trial->framework, "builtin") == 0;
    int64_t exec = 7200000000000 + run->round * 60000 * MS + trial->threads * 20000 * MS;
    int64_t hello = exec + trial->start_ns * (97 + 5 * run->round % 7) / 100,
            rss_bytes = trial->rss_bytes + (run->round * 13 % 5 << 18);
    int64_t open = hello + MS, opened = open + trial->build_ns * (96 + 3 * run->round % 8) / 100,
            train = opened + MS / 2;
    int64_t trained = fake_series(trial, run, exec, train + MS / 5, series);
    int64_t save = trained + MS / 4, saved = save + 21 * MS, bye = saved + MS / 10, end = bye + (builtin ? 4 : 95) * MS;
    ys_json *times = ys_json_object();
    const char *names[] = {"exec_ns",    "hello_ns", "open_ns",  "opened_ns", "train_ns",
                           "trained_ns", "save_ns",  "saved_ns", "bye_ns"};
    int64_t stamps[] = {exec, hello, open, opened, train, trained, save, saved, bye};
    for (int i = 0; i < (ok ? 9 : 5); i++)
        ys_json_set_int(times, names[i], stamps[i]);
    ys_json_set(times, "pauses", ys_json_array());
    if (!ok)
        end = trained + 30 * MS;
    ys_json_set_int(times, "end_ns", end);
    double lived = (double)(end - exec);
    ys_json *facts = recorded_facts(!ok ? "crashed" : builtin ? "builtin" : "pytorch");
    ys_json *usage = ys_json_get(facts, "usage"), *observed = ys_json_get(facts, "observed");
    ys_json *harness = ys_json_get(facts, "harness");
    if (!ok) {
        ys_json_set_string(facts, "status", run->status);
        ys_json_set(facts, "exit_code", ys_json_null());
        ys_json_set_int(facts, "signal", 11);
        ys_json_set_string(facts, "message", "the adapter ended by signal 11 (Segmentation fault)");
        ys_json_set_string(facts, "log_tail",
                           "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f1c (most recent call "
                           "first):\n  File adapters/pytorch.py, line 212 in train");
    }
    fake_words(trial, ys_json_get(facts, "hello"), ys_json_get(facts, "opened"));
    ys_json_set_int(usage, "user_ns", (int64_t)(lived * 0.96 * trial->threads));
    ys_json_set_int(usage, "system_ns", (int64_t)(lived * 0.02));
    ys_json_set_int(usage, "voluntary_switches", 140 + 3 * trial->threads);
    ys_json_set_int(usage, "involuntary_switches", 25);
    ys_json_set_int(observed, "threads_peak", trial->threads + (builtin ? 0 : 1));
    ys_json_set_int(observed, "rss_peak_bytes", rss_bytes);
    ys_json_set_int(harness, "cpu_ns", (int64_t)(lived * 0.0007));
    ys_json_set_int(harness, "samples", (int64_t)ys_series_find(series, "sample_t_ns")->count);
    ys_json_set_int(harness, "lateness_max_ns", 180000);
    if (ok)
        ys_json_set_int(facts, "steps_done", FAKE_STEPS);
    if (lost)
        ys_json_set_string(facts, "status", run->status);
    if (fake_until && ok)
        ys_json_set(facts, "target",
                    fake_jsonf("{\"until\":\"%s\",\"step\":%s,\"before\":%d,\"best\":0.96,\"best_step\":301}",
                               fake_until, lost ? "null" : "301", FAKE_STEPS - fake_look));
    ys_json_remove(facts, "disturbed");
    ys_json_remove(facts, "work"); /* that of another network: the study says what this one's is */
    if (fake_positions)
        ys_json_set(facts, "work", fake_jsonf("{\"positions\":%d}", fake_positions));
    ys_json_set(facts, "times", times);
    if (fake_disturbed && fake_disturbed_round == run->round &&
        (!*fake_disturbed || strcmp(fake_disturbed, trial->framework) == 0)) {
        ys_json_set(facts, "disturbed", fake_json("[\"other programs used 0.51 of a CPU\"]"));
        if (fake_taken)
            ys_json_set(facts, "taken", fake_json(fake_taken));
    }
    if (ok) {
        int64_t correct = 9632 + 7 * (run->round % 5) + (builtin ? 0 : 2);
        ys_json_set_string(facts, "weights", "weights.safetensors");
        ys_json_set_int(facts, "weights_bytes", 13099208);
        ys_json_set(facts, "evaluation",
                    fake_jsonf("{\"accuracy\":%.17g,\"correct\":%lld,\"count\":10000,\"loss\":%.4f,\"seconds\":%.3f,"
                               "\"weights_hash\":\"d2f1\"}",
                               (double)correct / 10000, (long long)correct, 0.1184 - 0.0003 * (double)(run->round % 5),
                               0.412 + 0.003 * (double)(run->round % 4)));
    }
    return facts;
}

/* The metrics of facts as they are stored. */
static ys_status fake_metrics_of(const ys_json *trial, const ys_json *json, const struct ys_series_set *series,
                                 ys_json **metrics)
{
    struct ys_facts facts;
    YS_TRY(ys_facts_read(json, "the test", &facts));
    *metrics = ys_metric_of_run(trial, &facts, series);
    ys_facts_fini(&facts);
    return YS_OK;
}

/* One run into the store, with its metrics. */
static ys_status fake_put_run(struct ys_store *store, const struct fake_trial *trial, const ys_json *trial_json,
                              int64_t trial_id, const struct fake_run *run)
{
    struct ys_series_set series = {0};
    ys_json *facts = fake_facts(trial, run, &series), *metrics = NULL;
    int64_t run_id = 0;
    ys_status status = ys_store_run_put(store, trial_id, run->round, run->attempt, facts, &series, &run_id);
    if (status == YS_OK)
        status = fake_metrics_of(trial_json, facts, &series, &metrics);
    if (status == YS_OK)
        status = ys_store_metric_put(store, run_id, metrics);
    ys_json_free(metrics);
    ys_json_free(facts);
    ys_series_set_free(&series);
    return status;
}

/* A run that answers `requests` requests of `batch` rows, in microseconds: exec 0, hello 10000, open 11000, opened
 * 31000, infer 32000; the first request 900 long, the others `usual` but each tenth twice that, 1 apart; bye takes
 * 2000. */
__attribute__((unused)) static ys_json *fake_infer_facts(int requests, int usual, struct ys_series_set *series)
{
    int64_t t = 32000, end = 0;
    ys_series_add_int(series, "block_first", 0);
    ys_series_add_int(series, "block_count", requests);
    ys_series_add_int(series, "block_start_ns", t * 1000);
    for (int i = 0; i < requests; i++) {
        int64_t latency = i == 0 ? 900 : i % 10 == 9 ? 2 * usual : usual;
        ys_series_add_int(series, "latency_ns", latency * 1000);
        end = t + latency;
        t = end + 1;
    }
    ys_series_add_int(series, "block_end_ns", end * 1000);
    ys_json *facts = recorded_facts("builtin-infer");
    ys_json_set(facts, "times",
                fake_jsonf("{\"exec_ns\":0,\"hello_ns\":10000000,\"open_ns\":11000000,\"opened_ns\":31000000,"
                           "\"infer_ns\":32000000,\"inferred_ns\":%lld,\"save_ns\":null,\"saved_ns\":null,"
                           "\"bye_ns\":%lld,\"end_ns\":%lld,\"pauses\":[]}",
                           (long long)end * 1000, (long long)end * 1000, (long long)(end + 2000) * 1000));
    ys_json_set_int(ys_json_get(facts, "opened"), "parameters", 77);
    ys_json_set_int(ys_json_get(facts, "opened"), "threads", 2);
    ys_json_set_int(ys_json_get(facts, "work"), "multiply_adds", 1000);
    return facts;
}

/* What a run of same weights has beside. */
__attribute__((unused)) static ys_json *fake_agreement(void)
{
    return fake_json(
        "{\"reference\":\"builtin\",\"weights_steps\":60,\"rows\":100,\"disagreements\":2,\"accuracy\":0.9,"
        "\"reference_accuracy\":0.92,\"logits_error\":2e-6,\"reason\":null,\"layers_rows\":8,\"layers\":["
        "{\"value\":\"conv1\",\"op\":\"Conv\",\"error\":1e-7}],\"layers_reason\":null}");
}

__attribute__((unused)) static int fake_group = 1; /* requests that its runs timed together */

/* A trial of mode "infer" at `framework`, with one run a round; as one of same weights. */
__attribute__((unused)) static ys_status fake_infer_trial(struct ys_store *store, int64_t study_id, int index,
                                                          const char *framework, int usual, int rounds)
{
    int64_t trial_id = 0, run_id;
    ys_json *trial = fake_jsonf(
        "{\"id\":\"serve:framework=%s\",\"index\":%d,\"section\":\"serve\",\"factors\":{\"framework\":\"%s\"},"
        "\"keys\":{\"mode\":\"infer\",\"framework\":\"%s\",\"model\":\"lenet\",\"data\":\"digits\",\"batch\":4,"
        "\"requests\":501,\"threads\":1,\"precision\":\"f32\"},\"options\":{},\"env\":{},"
        "\"framework\":{\"name\":\"%s\",\"version\":\"1\",\"title\":\"%s\"}}",
        framework, index, framework, framework, framework, framework);
    ys_json *proof = fake_json("{\"verdict\":\"pass\",\"reason\":null,\"checks\":[]}");
    ys_status status = fake_put_trial(store, study_id, trial, &trial_id);
    if (status == YS_OK)
        status = ys_store_proof_put(store, trial_id, proof);
    for (int round = 0; status == YS_OK && round < rounds; round++) {
        struct ys_series_set series = {0};
        ys_json *facts = fake_infer_facts(501, usual + round, &series), *metrics = NULL;
        if (fake_group > 1)
            ys_series_add_int(&series, "latency_group", fake_group);
        (void)!ys_json_set(facts, "agreement", fake_agreement());
        status = ys_store_run_put(store, trial_id, round, 0, facts, &series, &run_id);
        if (status == YS_OK)
            status = fake_metrics_of(trial, facts, &series, &metrics);
        if (status == YS_OK)
            status = ys_store_metric_put(store, run_id, metrics);
        ys_json_free(metrics);
        ys_json_free(facts);
        ys_series_set_free(&series);
    }
    ys_json_free(trial);
    ys_json_free(proof);
    return status;
}

/* A folder for one test, removed when the program ends, if not before. */
__attribute__((unused)) static char *fake_folder(void)
{
    static char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s", scratch("metric-XXXXXX"));
    return mkdtemp(path);
}

enum { FAKE_TRIALS_MOST = 128 };

/* A study of `count` trials (FAKE_TRIALS_MOST at most) and `rounds` rounds, begun and filled but not ended; round
 * `failing` of the last trial crashes. */
__attribute__((unused)) static ys_status fake_study(struct ys_store *store, const struct fake_trial *trials, int count,
                                                    int rounds, int failing, int64_t *study_id)
{
    ys_json *study = fake_study_json(rounds), *host = fake_host_json();
    int64_t ids[FAKE_TRIALS_MOST] = {0};
    ys_json *json[FAKE_TRIALS_MOST] = {0};
    ys_status status = ys_store_study_begin(store, study, study_id);
    if (status == YS_OK)
        status = ys_store_host_put(store, *study_id, host);
    for (int t = 0; status == YS_OK && t < count; t++) {
        json[t] = fake_trial_json(&trials[t], t);
        ys_json_set(json[t], "work", ys_json_copy(ys_json_at(ys_json_get(study, "model_info"), 0)));
        status = fake_put_trial(store, *study_id, json[t], &ids[t]);
        ys_json *proof = trials[t].verdict ? fake_proof_json(&trials[t]) : NULL;
        if (status == YS_OK && proof)
            status = ys_store_proof_put(store, ids[t], proof);
        ys_json_free(proof);
    }
    for (int r = 0; status == YS_OK && r < rounds; r++) {
        for (int t = 0; status == YS_OK && t < count; t++) {
            struct fake_run run = {r, 0, r == failing && t == count - 1 ? "crashed" : "ok"};
            status = fake_put_run(store, &trials[t], json[t], ids[t], &run);
        }
    }
    for (int t = 0; t < count; t++)
        ys_json_free(json[t]);
    ys_json_free(study);
    ys_json_free(host);
    return status;
}

/* Computes the metrics of a stored run and stores them. */
static ys_status fake_measure_run(struct ys_store *store, const ys_json *trial, const ys_json *run)
{
    int64_t run_id = ys_json_get_int(run, "run_id", 0);
    struct ys_series_set series = {0};
    ys_json *metrics = NULL;
    struct ys_facts facts;
    YS_TRY(ys_facts_read(ys_json_get(run, "facts"), "run", &facts));
    ys_status status = ys_store_series_get(store, run_id, &series);
    if (status == YS_OK)
        metrics = ys_metric_of_run(trial, &facts, &series);
    if (status == YS_OK)
        status = ys_metric_put(store, run_id, metrics);
    ys_json_free(metrics);
    ys_series_set_free(&series);
    ys_facts_fini(&facts);
    return status;
}

/* The same of all runs of a study. */
__attribute__((unused)) static ys_status fake_measure_again(struct ys_store *store, int64_t study_id)
{
    ys_json *study = NULL;
    struct ys_trial_records trials = {0};
    YS_TRY(ys_store_study_get(store, study_id, &study));
    ys_status status = ys_store_trials_load(store, study_id, &trials);
    for (size_t t = 0; status == YS_OK && t < trials.count; t++) {
        ys_json *runs = NULL, *with_work = ys_metric_view_with_work(study, &trials.items[t]);
        status = ys_store_runs_get(store, trials.items[t].trial_id, &runs);
        for (size_t i = 0; status == YS_OK && i < ys_json_size(runs); i++)
            status = fake_measure_run(store, with_work, ys_json_at(runs, i));
        ys_json_free(with_work);
        ys_json_free(runs);
    }
    ys_trial_records_fini(&trials);
    ys_json_free(study);
    return status;
}

#endif
