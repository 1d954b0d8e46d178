/* The order of a run and what is written down of it. */
#include "run/execute.h"
#include "base/clock.h"
#include "run_fixture.h"

struct progress {
    int calls;
    char stages[256];
    double last;
};

static void on_progress(void *context, enum ys_stage stage, double fraction)
{
    struct progress *progress = context;
    progress->calls++;
    progress->last = fraction;
    snprintf(progress->stages + strlen(progress->stages), sizeof progress->stages - strlen(progress->stages), "%s ",
             ys_stage_name(stage));
}

static void run_null(int64_t steps, int64_t block, double rate_per_s, struct progress *progress,
                     struct ys_run_record *record)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_plan plan = fixture_plan(steps, block);
    if (rate_per_s > 0) {
        plan.options = ys_json_object();
        ys_json_set_real(plan.options, "rate", rate_per_s);
    }
    struct ys_run_spec spec = {
        .plan = &plan,
        .round = 3,
        .launch =
            {.argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60, .sample_hz = 100},
        .on_progress = progress ? on_progress : NULL,
        .context = progress,
    };
    CHECK_INT(ys_run_execute(&spec, record), YS_OK);
    CHECK_INT(fixture_descendants(), 0);
    ys_plan_fini(&plan);
    ys_free(null);
}

/** A run of the Python adapter with `own` after the common part. */
static void run_python(const char *own, int64_t steps, int64_t block, int64_t eval_every, struct ys_run_record *record)
{
    char *text = ys_format("%s%s", FIXTURE_PYTHON, own);
    const char *argv[] = {fixture_script("adapter.py", text), NULL};
    struct ys_plan plan = fixture_plan(steps, block);
    plan.eval_every = eval_every;
    struct ys_run_spec spec = {
        .plan = &plan,
        .launch =
            {.argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60, .sample_hz = 20},
    };
    CHECK_INT(ys_run_execute(&spec, record), YS_OK);
    CHECK_INT(fixture_descendants(), 0);
    ys_plan_fini(&plan);
    ys_free(text);
}

static int64_t time_of(const ys_json *facts, const char *key)
{
    return ys_json_get_int(ys_json_get(facts, "times"), key, -1);
}

static const struct ys_series *series_of(const struct ys_run_record *record, const char *name)
{
    static const struct ys_series none;
    const struct ys_series *series = ys_series_find(&record->series, name);
    return series ? series : &none;
}

static void the_first_step_is_alone_and_blocks_follow(void)
{
    struct ys_run_record record;
    run_null(18, 5, 0, NULL, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "ok");
    const struct ys_series *first = series_of(&record, "block_first"), *count = series_of(&record, "block_count");
    static const int64_t firsts[] = {0, 1, 6, 11, 16}, counts[] = {1, 5, 5, 5, 2};
    CHECK_INT(first->count, 5);
    for (size_t i = 0; i < 5 && i < first->count && i < count->count; i++) {
        CHECK_INT(first->ints[i], firsts[i]);
        CHECK_INT(count->ints[i], counts[i]);
    }
    CHECK_INT(series_of(&record, "block_end_ns")->count, 5);
    CHECK_INT(series_of(&record, "block_input_ns")->count, 5);
    ys_run_record_fini(&record);
}

static void times_are_in_order(void)
{
    static const char *const order[] = {"exec_ns",  "hello_ns",   "open_ns", "opened_ns",
                                        "train_ns", "trained_ns", "bye_ns",  "end_ns"};
    struct ys_run_record record;
    run_null(10, 2, 0, NULL, &record);
    REQUIRE(record.has_facts);
    for (size_t i = 1; i < sizeof order / sizeof order[0]; i++)
        CHECK(time_of(fixture_facts(&record), order[i]) >= time_of(fixture_facts(&record), order[i - 1]) &&
              time_of(fixture_facts(&record), order[i - 1]) > 0);
    const struct ys_series *start = series_of(&record, "block_start_ns"), *end = series_of(&record, "block_end_ns");
    CHECK(start->count && start->ints[0] >= time_of(fixture_facts(&record), "train_ns"));
    CHECK(end->count && end->ints[end->count - 1] <= time_of(fixture_facts(&record), "trained_ns"));
    ys_run_record_fini(&record);
}

static void no_work_has_no_losses_and_no_weights(void)
{
    struct ys_run_record record;
    run_null(10, 2, 0, NULL, &record);
    REQUIRE(record.has_facts);
    CHECK_INT(series_of(&record, "step_loss")->count, 0);
    CHECK(ys_json_get(fixture_facts(&record), "weights") &&
          ys_json_type_of(ys_json_get(fixture_facts(&record), "weights")) == YS_JSON_NULL);
    CHECK_INT(ys_json_type_of(ys_json_get(ys_json_get(fixture_facts(&record), "times"), "save_ns")), YS_JSON_NULL);
    CHECK(ys_json_get_bool(ys_json_get(fixture_facts(&record), "hello"), "no_work", false));
    ys_run_record_fini(&record);
}

static void every_fact_is_there(void)
{
    static const char *const keys[] = {"status",   "stage",       "exit_code", "signal",     "message", "log_tail",
                                       "warnings", "times",       "hello",     "opened",     "usage",   "observed",
                                       "weights",  "checkpoints", "harness",   "steps_done", "round"};
    struct ys_run_record record;
    run_null(10, 2, 0, NULL, &record);
    REQUIRE(record.has_facts);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        tap_check(ys_json_get(fixture_facts(&record), keys[i]) != NULL, __LINE__, "%s is there", keys[i]);
    CHECK_INT(ys_json_get_int(fixture_facts(&record), "exit_code", -1), 0);
    CHECK_INT(ys_json_get_int(fixture_facts(&record), "round", -1), 3);
    CHECK_INT(ys_json_get_int(fixture_facts(&record), "steps_done", -1), 10);
    CHECK(ys_json_get_int(ys_json_get(fixture_facts(&record), "usage"), "user_ns", -1) >= 0);
    CHECK(ys_json_get_int(ys_json_get(fixture_facts(&record), "harness"), "cpu_ns", -1) > 0);
    char *text = ys_json_dump(fixture_facts(&record), YS_JSON_COMPACT);
    CHECK(text != NULL);
    ys_free(text);
    ys_run_record_fini(&record);
}

static void a_rate_is_kept_and_sampled(void)
{
    struct ys_run_record record;
    struct progress progress = {0};
    run_null(31, 5, 60, &progress, &record); /* 31 rows at 60 a second: half a second */
    REQUIRE(record.has_facts);
    CHECK(time_of(fixture_facts(&record), "trained_ns") - time_of(fixture_facts(&record), "train_ns") >= 500000000);
    const struct ys_series *samples = series_of(&record, "sample_t_ns");
    CHECK(samples->count >= 10); /* 50 at 100 Hz, where the machine does not get in the way */
    static const char *const names[] = {"sample_cpu_ns", "sample_rss_bytes", "sample_threads", "sample_processes",
                                        "sample_switches"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_INT(series_of(&record, names[i])->count, samples->count);
    for (size_t i = 1; i < samples->count; i++)
        CHECK(samples->ints[i] > samples->ints[i - 1]);
    CHECK_INT(ys_json_get_int(ys_json_get(fixture_facts(&record), "harness"), "samples", -1), samples->count);
    const ys_json *observed = ys_json_get(fixture_facts(&record), "observed");
    CHECK(fixture_is_one(ys_json_get_int(observed, "threads_peak", -1)));
    CHECK(fixture_is_one(ys_json_get_int(observed, "processes_peak", -1)));
    int64_t rss = ys_json_get_int(observed, "rss_peak_bytes", -1);
    CHECK(rss > 500000 && rss < 100 << 20);
    CHECK_HAS(progress.stages, "start open train ");
    CHECK(progress.calls >= 5);
    ys_run_record_fini(&record);
}

static void weights_are_saved_and_losses_kept(void)
{
    if (!fixture_has_python())
        return;
    struct ys_run_record record;
    run_python("serve(lambda k, m: False)", 7, 3, 0, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "ok");
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "weights", NULL), "weights.safetensors");
    char path[128];
    snprintf(path, sizeof path, "%s/weights.safetensors", fixture_folder);
    CHECK(ys_fs_exists(path));
    CHECK_INT(series_of(&record, "step_loss")->count, 7);
    CHECK(time_of(fixture_facts(&record), "saved_ns") > time_of(fixture_facts(&record), "save_ns"));
    CHECK_INT(ys_json_size(ys_json_get(fixture_facts(&record), "checkpoints")), 0);
    CHECK_INT(ys_json_size(ys_json_get(ys_json_get(fixture_facts(&record), "times"), "pauses")), 0);
    ys_run_record_fini(&record);
}

static void steps_are_split_where_weights_are_to_be_kept(void)
{
    if (!fixture_has_python())
        return;
    struct ys_run_record record;
    run_python("serve(lambda k, m: False)", 12, 5, 4, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "ok");
    const struct ys_series *first = series_of(&record, "block_first");
    static const int64_t firsts[] = {0, 1, 4, 8};
    CHECK_INT(first->count, 4);
    for (size_t i = 0; i < 4 && i < first->count; i++)
        CHECK_INT(first->ints[i], firsts[i]);
    const ys_json *checkpoints = ys_json_get(fixture_facts(&record), "checkpoints");
    const ys_json *pauses = ys_json_get(ys_json_get(fixture_facts(&record), "times"), "pauses");
    REQUIRE(ys_json_size(checkpoints) == 2 && ys_json_size(pauses) == 2); /* the third is the final save */
    CHECK_INT(ys_json_get_int(ys_json_at(checkpoints, 0), "step", -1), 4);
    CHECK_TEXT(ys_json_get_text(ys_json_at(checkpoints, 1), "path", NULL), "step-8.safetensors");
    CHECK(ys_json_integer(ys_json_at(ys_json_at(pauses, 0), 1), 0) >
          ys_json_integer(ys_json_at(ys_json_at(pauses, 0), 0), 0));
    ys_run_record_fini(&record);
}

static void weights_may_be_kept_after_every_step(void)
{
    if (!fixture_has_python())
        return;
    struct ys_run_record record;
    run_python("serve(lambda k, m: False)", 3, 5, 1, &record);
    REQUIRE(record.has_facts);
    CHECK_INT(series_of(&record, "block_first")->count, 3);
    CHECK_INT(ys_json_size(ys_json_get(fixture_facts(&record), "checkpoints")), 2);
    ys_run_record_fini(&record);
}

static void one_step_is_a_run_too(void)
{
    struct ys_run_record record;
    run_null(1, 100, 0, NULL, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "ok");
    CHECK_INT(series_of(&record, "block_first")->count, 1);
    CHECK(time_of(fixture_facts(&record), "trained_ns") > 0);
    ys_run_record_fini(&record);
}

static void weights_that_are_not_there_are_a_protocol_error(void)
{
    if (!fixture_has_python())
        return;
    struct ys_run_record record;
    run_python("serve(lambda k, m: k == 'save' and (os.path.exists(m['path']) and os.unlink(m['path']), "
               "send(type='saved', path=m['path'], bytes=5)))",
               3, 1, 0, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "protocol_error");
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "stage", NULL), "save");
    CHECK_HAS(ys_json_get_text(fixture_facts(&record), "message", NULL), "no file");
    CHECK_INT(series_of(&record, "block_first")->count, 3);
    ys_run_record_fini(&record);
}

static void a_done_that_comes_too_soon_is_a_protocol_error(void)
{
    if (!fixture_has_python())
        return;
    struct ys_run_record record;
    run_python("serve(lambda k, m: k == 'train' and m['from'] == 1 and (send(type='done'), True)[1])", 9, 3, 0,
               &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "protocol_error");
    CHECK_HAS(ys_json_get_text(fixture_facts(&record), "message", NULL), "after step 1 of 9");
    ys_run_record_fini(&record);
}

static void a_loss_that_grows_without_bound_ends_the_run_there(void)
{
    if (!fixture_has_python())
        return;
    struct ys_run_record record;
    run_python(
        "def on(k, m):\n"
        "    if k != 'train' or m['from'] == 0: return False\n"
        "    t = now()\n"
        "    send(type='block', first=1, count=4, t_start_ns=t, t_end_ns=t, input_ns=0, loss=[1, 2.5, 'inf', 'nan'])\n"
        "    time.sleep(600)\n"
        "serve(on)",
        9, 4, 0, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "diverged");
    CHECK_HAS(ys_json_get_text(fixture_facts(&record), "message", NULL), "step 3 is inf");
    const struct ys_series *loss = series_of(&record, "step_loss");
    REQUIRE(loss->count == 5);
    CHECK(loss->reals[2] == 2.5);
    CHECK(isinf(loss->reals[3]) && isnan(loss->reals[4]));
    ys_run_record_fini(&record);
}

static void a_program_that_is_not_there_is_a_run_that_failed(void)
{
    const char *argv[] = {"/nowhere/adapter", NULL};
    struct ys_plan plan = fixture_plan(5, 1);
    struct ys_run_spec spec = {.plan = &plan, .launch = {.argv = argv, .folder = fixture_open()}};
    struct ys_run_record record;
    CHECK_INT(ys_run_execute(&spec, &record), YS_OK);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "load_failed");
    CHECK_INT(ys_json_type_of(ys_json_get(fixture_facts(&record), "exit_code")), YS_JSON_NULL);
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
}

static void a_missing_launcher_is_an_error_and_there_is_a_record(void)
{
    const char *argv[] = {"true", NULL};
    struct ys_plan plan = fixture_plan(5, 1);
    struct ys_run_spec spec = {.plan = &plan, .launch = {.argv = argv, .folder = fixture_open()}};
    struct ys_run_record record;
    char *programs = ys_strdup(getenv("YARDSTICK_BIN")), *home = ys_strdup(getenv("YARDSTICK_HOME"));
    setenv("YARDSTICK_BIN", "/nowhere", 1);
    setenv("YARDSTICK_HOME", "/nowhere", 1);
    CHECK_INT(ys_run_execute(&spec, &record), YS_EIO);
    CHECK_HAS(ys_error(), "yardstick-launch");
    setenv("YARDSTICK_BIN", programs, 1);
    setenv("YARDSTICK_HOME", home ? home : "", 1);
    ys_free(home);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "cancelled");
    CHECK_HAS(ys_json_get_text(fixture_facts(&record), "message", NULL), "yardstick-launch");
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    ys_free(programs);
}

static void a_plan_of_no_steps_is_our_mistake(void)
{
    const char *argv[] = {"true", NULL};
    struct ys_plan plan = fixture_plan(0, 1);
    struct ys_run_spec spec = {.plan = &plan, .launch = {.argv = argv, .folder = fixture_open()}};
    struct ys_run_record record;
    CHECK_INT(ys_run_execute(&spec, &record), YS_EINTERNAL);
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
}

static void from_exec_to_the_first_step_it_takes_milliseconds(void)
{
    int64_t best_ns = INT64_MAX;
    for (int i = 0; i < 10; i++) {
        struct ys_run_record record;
        run_null(2, 1, 0, NULL, &record);
        REQUIRE(record.has_facts);
        const struct ys_series *start = series_of(&record, "block_start_ns");
        CHECK(start->count > 0 && start->ints[0] > time_of(fixture_facts(&record), "exec_ns"));
        if (start->count && start->ints[0] - time_of(fixture_facts(&record), "exec_ns") < best_ns)
            best_ns = start->ints[0] - time_of(fixture_facts(&record), "exec_ns");
        ys_run_record_fini(&record);
    }
    printf("# exec to first step of the null adapter: %.2f ms at best\n",
           (double)best_ns * 1e-6); /* said, not judged */
}

TAP_MAIN(TAP_CASE(the_first_step_is_alone_and_blocks_follow), TAP_CASE(times_are_in_order),
         TAP_CASE(no_work_has_no_losses_and_no_weights), TAP_CASE(every_fact_is_there),
         TAP_CASE(a_rate_is_kept_and_sampled), TAP_CASE(weights_are_saved_and_losses_kept),
         TAP_CASE(steps_are_split_where_weights_are_to_be_kept), TAP_CASE(weights_may_be_kept_after_every_step),
         TAP_CASE(one_step_is_a_run_too), TAP_CASE(weights_that_are_not_there_are_a_protocol_error),
         TAP_CASE(a_done_that_comes_too_soon_is_a_protocol_error),
         TAP_CASE(a_loss_that_grows_without_bound_ends_the_run_there),
         TAP_CASE(a_program_that_is_not_there_is_a_run_that_failed),
         TAP_CASE(a_missing_launcher_is_an_error_and_there_is_a_record), TAP_CASE(a_plan_of_no_steps_is_our_mistake),
         TAP_CASE(from_exec_to_the_first_step_it_takes_milliseconds))
