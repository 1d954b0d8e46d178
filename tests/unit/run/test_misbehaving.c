/* Runs of tests/adapters/misbehaving.py: each misbehaviour ends in its status, and nothing is left of it. */
#include "run_fixture.h"
#include <signal.h>

struct bad_run {
    struct ys_run_record record;
    const ys_json *facts;
};

/** A run of 20 steps in blocks of 5; false when it was skipped. */
static bool run_bad(const char *behaviour, double stall_limit_s, struct bad_run *bad)
{
    *bad = (struct bad_run){0};
    if (!fixture_has_python())
        return false;
    char *script =
        ys_format("%s/tests/adapters/misbehaving.py", getenv("YS_SOURCE_ROOT") ? getenv("YS_SOURCE_ROOT") : ".");
    if (!ys_fs_exists(script)) {
        tap_skip("%s is not there", script);
        ys_free(script);
        return false;
    }
    char *variable = ys_format("MISBEHAVE=%s", behaviour);
    const char *argv[] = {"python3", script, NULL}, *env[] = {variable, NULL};
    struct ys_plan plan = fixture_plan(20, 5);
    ys_set_text(&plan.weights, script); /* a file that is there */
    ys_set_text(&plan.graph, script);
    struct ys_run_spec spec = {
        .plan = &plan,
        .launch = {.argv = argv,
                   .env = env,
                   .folder = fixture_open(),
                   .stall_limit_s = stall_limit_s,
                   .run_time_limit_s = 60,
                   .sample_hz = 20,
                   .stop_grace_s = 0.5},
    };
    CHECK_INT(ys_run_execute(&spec, &bad->record), YS_OK);
    bad->facts = fixture_facts(&bad->record);
    CHECK_INT(fixture_descendants(), 0);
    ys_plan_fini(&plan);
    ys_free(variable);
    ys_free(script);
    return CHECK(bad->facts != NULL);
}

static const char *text_of(const struct bad_run *bad, const char *key)
{
    return ys_json_get_text(bad->facts, key, NULL);
}

static size_t length_of(const struct bad_run *bad, const char *name)
{
    const struct ys_series *series = ys_series_find(&bad->record.series, name);
    return series ? series->count : 0;
}

static void check_status(const char *behaviour, double stall_limit_s, const char *status, const char *stage,
                         struct bad_run *bad)
{
    if (!run_bad(behaviour, stall_limit_s, bad))
        return;
    CHECK_TEXT(text_of(bad, "status"), status);
    CHECK_TEXT(text_of(bad, "stage"), stage);
    if (strcmp(status, "ok") != 0)
        CHECK(text_of(bad, "message") != NULL);
}

static void an_honest_one_is_ok(void)
{
    struct bad_run bad;
    check_status("", 30, "ok", "stop", &bad);
    CHECK_INT(length_of(&bad, "block_first"), bad.facts ? 5 : 0);
    ys_run_record_fini(&bad.record);
}

static void a_crash_at_the_start_is_crashed(void)
{
    struct bad_run bad;
    check_status("crash", 30, "crashed", "start", &bad);
    if (bad.facts) {
        CHECK_INT(ys_json_get_int(bad.facts, "exit_code", -1), 3);
        CHECK_HAS(text_of(&bad, "log_tail"), "cannot load a library");
        CHECK_INT(ys_json_type_of(ys_json_get(ys_json_get(bad.facts, "times"), "hello_ns")), YS_JSON_NULL);
    }
    ys_run_record_fini(&bad.record);
}

static void a_segmentation_fault_is_crashed(void)
{
    struct bad_run bad;
    check_status("segv", 30, "crashed", "open", &bad);
    if (bad.facts)
        CHECK_INT(ys_json_get_int(bad.facts, "signal", -1), SIGSEGV);
    ys_run_record_fini(&bad.record);
}

static void one_that_hangs_is_stalled(void)
{
    struct bad_run bad;
    check_status("hang", 10, "stalled", "open", &bad);
    ys_run_record_fini(&bad.record);
}

static void rubbish_is_a_protocol_error(void)
{
    struct bad_run bad;
    check_status("rubbish", 30, "protocol_error", "open", &bad);
    if (bad.facts)
        CHECK_HAS(text_of(&bad, "message"), "Loading the framework");
    ys_run_record_fini(&bad.record);
}

static void an_endless_line_is_a_protocol_error(void)
{
    struct bad_run bad;
    check_status("endless_line", 30, "protocol_error", "open", &bad);
    ys_run_record_fini(&bad.record);
}

static void a_channel_closed_early_is_a_protocol_error(void)
{
    struct bad_run bad;
    check_status("close_early", 30, "protocol_error", "open", &bad);
    if (bad.facts)
        CHECK_HAS(text_of(&bad, "message"), "closed the channel");
    ys_run_record_fini(&bad.record);
}

static void an_unsupported_operator_is_named(void)
{
    struct bad_run bad;
    check_status("error_unsupported", 30, "unsupported", "open", &bad);
    if (bad.facts)
        CHECK_HAS(text_of(&bad, "message"), "Conv");
    ys_run_record_fini(&bad.record);
}

static void children_left_behind_are_killed_with_a_warning(void)
{
    struct bad_run bad;
    check_status("children", 30, "ok", "stop", &bad);
    if (bad.facts)
        CHECK_HAS(ys_json_text(ys_json_at(ys_json_get(bad.facts, "warnings"), 0), NULL),
                  "2 processes were left behind");
    ys_run_record_fini(&bad.record);
}

static void one_that_hangs_after_some_blocks_keeps_them(void)
{
    struct bad_run bad;
    check_status("hang_after_blocks", 10, "stalled", "train", &bad);
    if (bad.facts) {
        CHECK_INT(length_of(&bad, "block_first"), 3); /* the first step alone, then two blocks */
        CHECK_INT(ys_json_get_int(bad.facts, "steps_done", -1), 11);
        CHECK(length_of(&bad, "sample_t_ns") > 0);
    }
    ys_run_record_fini(&bad.record);
}

static void a_crash_in_training_keeps_what_was_measured(void)
{
    struct bad_run bad;
    check_status("crash_mid_train", 30, "crashed", "train", &bad);
    if (bad.facts) {
        CHECK_INT(ys_json_get_int(bad.facts, "exit_code", -1), 4);
        CHECK_INT(length_of(&bad, "block_first"), 3);
        CHECK_HAS(text_of(&bad, "log_tail"), "Traceback");
        CHECK_INT(ys_json_type_of(ys_json_get(ys_json_get(bad.facts, "times"), "trained_ns")), YS_JSON_NULL);
        CHECK(ys_json_get_int(ys_json_get(bad.facts, "usage"), "user_ns", -1) > 0);
    }
    ys_run_record_fini(&bad.record);
}

static void a_full_log_is_bounded_and_said(void)
{
    struct bad_run bad;
    struct stat file;
    char path[128];
    if (!run_bad("fill_log", 3, &bad))
        return;
    snprintf(path, sizeof path, "%s/%s", fixture_folder, YS_LOG_NAME);
    CHECK(stat(path, &file) == 0 && (size_t)file.st_size < YS_LOG_LIMIT_BYTES + 200 &&
          (size_t)file.st_size >= YS_LOG_LIMIT_BYTES);
    const ys_json *warnings = ys_json_get(bad.facts, "warnings");
    CHECK_HAS(fixture_warning(warnings), "dropped");
    ys_run_record_fini(&bad.record);
}

static void times_that_run_backwards_are_a_protocol_error(void)
{
    struct bad_run bad;
    check_status("wrong_times", 30, "protocol_error", "train", &bad);
    if (bad.facts)
        CHECK_HAS(text_of(&bad, "message"), "before it began");
    ys_run_record_fini(&bad.record);
}

static void a_loss_that_is_no_number_is_diverged(void)
{
    struct bad_run bad;
    check_status("nan_loss", 30, "diverged", "train", &bad);
    if (bad.facts) {
        CHECK_HAS(text_of(&bad, "message"), "step 0 is nan");
        CHECK_INT(length_of(&bad, "step_loss"), 1);
        CHECK_INT(ys_json_type_of(ys_json_get(bad.facts, "weights")), YS_JSON_NULL);
    }
    ys_run_record_fini(&bad.record);
}

static void an_exit_code_after_bye_is_crashed(void)
{
    struct bad_run bad;
    check_status("exit_nonzero_at_bye", 30, "crashed", "stop", &bad);
    if (bad.facts)
        CHECK_INT(ys_json_get_int(bad.facts, "exit_code", -1), 5);
    ys_run_record_fini(&bad.record);
}

static void check_protocol_error(const char *behaviour, const char *stage, const char *named)
{
    struct bad_run bad;
    check_status(behaviour, 30, "protocol_error", stage, &bad);
    if (bad.facts)
        CHECK_HAS(text_of(&bad, "message"), named);
    ys_run_record_fini(&bad.record);
}

static void a_message_after_bye_is_a_protocol_error(void)
{
    check_protocol_error("late_message", "stop", "\"done\" where none was due");
    check_protocol_error("late_rubbish", "stop", "Goodbye");
}

static void members_of_another_type_are_a_protocol_error(void)
{
    static const struct {
        const char *behaviour, *stage, *named;
    } cases[] = {
        {"type hello protocol", "start", "protocol"},   {"type hello ops", "start", "ops"},
        {"type hello no_work", "start", "no_work"},     {"type opened parameters", "open", "parameters"},
        {"type opened libraries", "open", "libraries"}, {"type block first", "train", "first"},
        {"type block loss", "train", "loss"},           {"type saved path", "save", "path"},
        {"type saved bytes", "save", "bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_protocol_error(cases[i].behaviour, cases[i].stage, cases[i].named);
}

static void what_is_saved_is_the_file_that_was_asked_for(void)
{
    char path[128];
    check_protocol_error("save_elsewhere", "save", "says that it saved");
    check_protocol_error("save_unsized", "save", "\"bytes\" of the message");
    check_protocol_error("save_link", "save", "there is no file " YS_RUN_WEIGHTS_NAME);
    snprintf(path, sizeof path, "%s/" YS_RUN_WEIGHTS_NAME, fixture_folder);
    unlink(path);
}

static void one_that_does_not_leave_is_killed_and_stalled(void)
{
    struct bad_run bad;
    check_status("ignore_bye", 30, "stalled", "stop", &bad);
    if (bad.facts)
        CHECK_HAS(text_of(&bad, "message"), "after bye");
    ys_run_record_fini(&bad.record);
}

TAP_MAIN(TAP_CASE(an_honest_one_is_ok), TAP_CASE(a_crash_at_the_start_is_crashed),
         TAP_CASE(a_segmentation_fault_is_crashed), TAP_CASE(one_that_hangs_is_stalled),
         TAP_CASE(rubbish_is_a_protocol_error), TAP_CASE(an_endless_line_is_a_protocol_error),
         TAP_CASE(a_channel_closed_early_is_a_protocol_error), TAP_CASE(an_unsupported_operator_is_named),
         TAP_CASE(children_left_behind_are_killed_with_a_warning),
         TAP_CASE(one_that_hangs_after_some_blocks_keeps_them), TAP_CASE(a_crash_in_training_keeps_what_was_measured),
         TAP_CASE(a_full_log_is_bounded_and_said), TAP_CASE(times_that_run_backwards_are_a_protocol_error),
         TAP_CASE(a_loss_that_is_no_number_is_diverged), TAP_CASE(an_exit_code_after_bye_is_crashed),
         TAP_CASE(a_message_after_bye_is_a_protocol_error), TAP_CASE(members_of_another_type_are_a_protocol_error),
         TAP_CASE(what_is_saved_is_the_file_that_was_asked_for),
         TAP_CASE(one_that_does_not_leave_is_killed_and_stalled))
