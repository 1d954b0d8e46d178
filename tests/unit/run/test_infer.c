/* Runs of mode "infer": what a message of latencies must be to be believed, and what is kept of a run. */
#include "taking.h"

/** Requests 0 to 19, of which four are done; a right message of the next three: 300, 0 and 700 ns in 1000. */
static void begin(struct setup *setup)
{
    static const int latencies[] = {300, 0, 700};
    *setup = (struct setup){.take = ys_run_take_latencies, .is_whole = true};
    setup->spec.plan = &setup->plan;
    setup->plan.prompt = setup->plan.tokens = YS_FIELD_NONE;
    int64_t now_ns = (int64_t)ys_time_ns();
    setup->run = (struct ys_run){.spec = &setup->spec,
                                 .series = &setup->series,
                                 .mode = ys_mode_of(YS_MODE_INFER),
                                 .steps = 20,
                                 .to = 20,
                                 .next_step = 4,
                                 .asked_ns = (uint64_t)now_ns - 9000,
                                 .last_end_ns = (uint64_t)now_ns - 5000};
    setup->message = fixture_message("latencies");
    ys_json_set_int(setup->message, "first", 4);
    ys_json_set_int(setup->message, "count", 3);
    ys_json_set_int(setup->message, "t_start_ns", now_ns - 2000);
    ys_json_set_int(setup->message, "t_end_ns", now_ns - 1000);
    ys_json *array = ys_json_array();
    for (int i = 0; i < 3; i++)
        ys_json_append(array, ys_json_int(latencies[i]));
    ys_json_set(setup->message, "latency_ns", array);
}

static void set_latency(struct setup *setup, size_t index, ys_json *value)
{
    ys_json *old = ys_json_get(setup->message, "latency_ns"), *array = ys_json_array();
    for (size_t i = 0; i < 3; i++)
        ys_json_append(array, i == index ? value : ys_json_ref(ys_json_at(old, i)));
    ys_json_set(setup->message, "latency_ns", array);
}

static void one_that_is_right_is_kept(void)
{
    struct setup setup;
    begin(&setup);
    CHECK_INT(ys_run_take_latencies(&setup.run, setup.message), YS_OK);
    CHECK_INT(setup.run.next_step, 7);
    const struct ys_series *latency = ys_series_find(&setup.series, "latency_ns");
    CHECK(latency && latency->count == 3 && latency->ints[0] == 300 && latency->ints[1] == 0 &&
          latency->ints[2] == 700);
    CHECK_INT(ys_series_find(&setup.series, "block_first")->ints[0], 4);
    CHECK_INT(ys_series_find(&setup.series, "block_count")->ints[0], 3);
    finish(&setup);
}

static void requests_timed_together_are_kept_as_such(void)
{
    struct setup setup;
    begin(&setup);
    ys_json_set_int(setup.message, "group", 3);
    CHECK_INT(ys_run_take_latencies(&setup.run, setup.message), YS_OK);
    const struct ys_series *group = ys_series_find(&setup.series, "latency_group");
    CHECK(group && group->count == 1 && group->ints[0] == 3);
    finish(&setup);
    begin(&setup);
    ys_json_set_int(setup.message, "group", 1); /* as without it */
    CHECK_INT(ys_run_take_latencies(&setup.run, setup.message), YS_OK);
    CHECK(!ys_series_find(&setup.series, "latency_group"));
    finish(&setup);
    for (int group_size = 0; group_size <= 4; group_size += 4) {
        begin(&setup);
        ys_json_set_int(setup.message, "group", group_size);
        check_refused(&setup, "together; 1 to 3 can be");
    }
}

static void put_instructions(struct setup *setup, int count, int64_t last)
{
    ys_json *array = ys_json_array();
    for (int i = 1; i < count; i++)
        ys_json_append(array, ys_json_int(900 + i));
    ys_json_append(array, ys_json_int(last));
    ys_json_set(setup->message, "instructions", array);
}

static void instructions_of_each_request_are_kept(void)
{
    struct setup setup;
    begin(&setup);
    put_instructions(&setup, 3, 6);
    CHECK_INT(ys_run_take_latencies(&setup.run, setup.message), YS_OK);
    const struct ys_series *counted = ys_series_find(&setup.series, "instructions");
    CHECK(counted && counted->count == 3 && counted->ints[0] == 901 && counted->ints[2] == 6);
    finish(&setup);
    for (int count = 2; count <= 4; count++) {
        begin(&setup);
        put_instructions(&setup, count, -1);
        check_refused(&setup, "must have 3 instructions");
    }
}

static void requests_may_not_be_left_out_or_repeated(void)
{
    check_its_first(begin, 0, "begin at request 0 where request 4 was due", "request -1");
}

static void the_count_is_that_of_the_latencies_and_of_what_is_due(void)
{
    struct setup setup;
    begin(&setup);
    ys_json_set_int(setup.message, "count", 2);
    check_refused(&setup, "3 latencies for 2 requests");
    begin(&setup);
    ys_json_set_int(setup.message, "count", 0);
    check_refused(&setup, "tells of 0 requests; 1 to 16 were due");
    begin(&setup);
    setup.run.to = 6;
    check_refused(&setup, "tells of 3 requests; 1 to 2 were due");
    begin(&setup);
    setup.run.to = 100000;
    ys_json_set_int(setup.message, "count", 4097);
    check_refused(&setup, "1 to 4096 were due");
    begin(&setup);
    ys_json_remove(setup.message, "latency_ns");
    check_refused(&setup, "0 latencies for 3 requests");
}

static void latencies_add_up_to_no_more_than_the_time_that_passed(void)
{
    struct setup setup;
    begin(&setup);
    set_latency(&setup, 1, ys_json_int(1));
    check_refused(&setup, "from request 4 to request 6 are together longer than the 1000 ns");
    begin(&setup);
    set_latency(&setup, 0, ys_json_int(INT64_MAX));
    set_latency(&setup, 1, ys_json_int(INT64_MAX)); /* a sum that wraps is no smaller */
    check_refused(&setup, "together longer");
}

static void a_latency_is_a_whole_number_of_nanoseconds(void)
{
    struct setup setup;
    begin(&setup);
    set_latency(&setup, 2, ys_json_int(-1));
    check_refused(&setup, "the latency of request 6 is not a number of nanoseconds");
    begin(&setup);
    set_latency(&setup, 1, ys_json_string("fast"));
    check_refused(&setup, "the latency of request 5");
    begin(&setup);
    set_latency(&setup, 1, ys_json_real(0.5));
    check_refused(&setup, "the latency of request 5");
}

/** A list of nanoseconds below `key`. */
static void set_spans(struct setup *setup, const char *key, const int *spans, size_t count)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; i < count; i++)
        ys_json_append(array, ys_json_int(spans[i]));
    ys_json_set(setup->message, key, array);
}

/** The same message, of a prompt and two tokens for each request. */
static void begin_pieces(struct setup *setup)
{
    begin(setup);
    setup->plan.prompt = 6;
    setup->plan.tokens = 2;
    set_spans(setup, "prompt_ns", (const int[]){100, 0, 500}, 3);
    set_spans(setup, "token_ns", (const int[]){150, 50, 0, 0, 90, 80}, 6);
}

static void pieces_of_requests_are_kept(void)
{
    struct setup setup;
    begin_pieces(&setup);
    CHECK_INT(ys_run_take_latencies(&setup.run, setup.message), YS_OK);
    const struct ys_series *prompt = ys_series_find(&setup.series, "prompt_ns");
    const struct ys_series *token = ys_series_find(&setup.series, "token_ns");
    CHECK(prompt && prompt->count == 3 && prompt->ints[2] == 500);
    CHECK(token && token->count == 6 && token->ints[0] == 150 && token->ints[5] == 80);
    finish(&setup);
}

static void pieces_are_as_many_as_asked_for_and_no_longer_than_their_request(void)
{
    struct setup setup;
    begin_pieces(&setup);
    set_spans(&setup, "prompt_ns", (const int[]){100, 0}, 2);
    check_refused(&setup, "must have 3 prompt_ns and 6 token_ns");
    begin_pieces(&setup);
    ys_json_remove(setup.message, "token_ns");
    check_refused(&setup, "must have 3 prompt_ns and 6 token_ns");
    begin_pieces(&setup);
    set_spans(&setup, "prompt_ns", (const int[]){100, 0, -500}, 3);
    check_refused(&setup, "each a number of nanoseconds");
    begin_pieces(&setup);
    set_spans(&setup, "token_ns", (const int[]){150, 51, 0, 0, 90, 80}, 6);
    check_refused(&setup, "prompt and tokens of request 4 took together longer than it did");
    begin_pieces(&setup);
    ys_json *most = ys_json_array();
    for (size_t i = 0; i < 6; i++)
        ys_json_append(most, ys_json_int(INT64_MAX)); /* whose sum no number of nanoseconds holds */
    ys_json_set(setup.message, "token_ns", most);
    check_refused(&setup, "prompt and tokens of request 4 took together longer than it did");
}

static void messages_lie_between_question_and_answer(void)
{
    check_its_times(begin);
}

/** A run of `requests` requests of 4 rows; `options` of the plan may be NULL (taken). */
static void run_requests(const char *const *argv, int64_t requests, double stall_limit_s, ys_json *options,
                         struct ys_run_record *record)
{
    struct ys_plan plan = fixture_plan(3, 1);
    plan.mode = YS_MODE_INFER;
    plan.batch = 4;
    plan.requests = requests;
    plan.options = options;
    struct ys_run_spec spec = {.plan = &plan,
                               .launch = {.argv = argv,
                                          .folder = fixture_open(),
                                          .stall_limit_s = stall_limit_s,
                                          .run_time_limit_s = 60,
                                          .sample_hz = 20}};
    CHECK_INT(ys_run_execute(&spec, record), YS_OK);
    CHECK_INT(fixture_descendants(), 0);
    ys_plan_fini(&plan);
}

static size_t length_of(const struct ys_run_record *record, const char *name)
{
    const struct ys_series *series = ys_series_find(&record->series, name);
    return series ? series->count : 0;
}

static int64_t time_of(const ys_json *facts, const char *key)
{
    return ys_json_get_int(ys_json_get(facts, "times"), key, -1);
}

static void every_request_is_kept_and_nothing_saved(void)
{
    struct ys_run_record record;
    char *null = fixture_null();
    run_requests((const char *const[]){null, NULL}, 9000, 20, NULL, &record);
    REQUIRE(record.has_facts);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "ok");
    CHECK_INT(length_of(&record, "latency_ns"), 9000);
    CHECK(length_of(&record, "block_first") >= 3 && length_of(&record, "step_loss") == 0);
    CHECK_INT(ys_json_get_int(fixture_facts(&record), "steps_done", -1), 9000);
    CHECK_INT(ys_json_type_of(ys_json_get(fixture_facts(&record), "weights")), YS_JSON_NULL);
    CHECK(time_of(fixture_facts(&record), "opened_ns") > 0 &&
          time_of(fixture_facts(&record), "infer_ns") >= time_of(fixture_facts(&record), "opened_ns") &&
          time_of(fixture_facts(&record), "inferred_ns") >= time_of(fixture_facts(&record), "infer_ns"));
    CHECK_INT(time_of(fixture_facts(&record), "train_ns"), -1);
    ys_run_record_fini(&record);
    ys_free(null);
}

/** A run of the Python adapter whose answer to `infer` is `answer`, indented by eight; false when it was skipped. */
static bool run_python(const char *answer, double stall_limit_s, struct ys_run_record *record)
{
    *record = (struct ys_run_record){0};
    if (!fixture_has_python())
        return false;
    char *text = ys_format("%s"
                           "def tell(first, latencies, **over):\n"
                           "    t = now()\n"
                           "    time.sleep(1e-9 * sum(latencies))\n"
                           "    send(**dict(dict(type='latencies', first=first, count=len(latencies), t_start_ns=t,\n"
                           "                     t_end_ns=now(), latency_ns=latencies), **over))\n"
                           "def on(k, m):\n"
                           "    if k == 'infer':\n"
                           "%s"
                           "        return True\n"
                           "serve(on)\n",
                           FIXTURE_PYTHON, answer);
    run_requests((const char *const[]){fixture_script("adapter.py", text), NULL}, 10, stall_limit_s, NULL, record);
    ys_free(text);
    return CHECK(record->has_facts);
}

/** That the run ended as `status` with `part` in its message, having kept `kept` latencies. */
static void check_end(const char *answer, double stall_limit_s, const char *status, const char *part, size_t kept)
{
    struct ys_run_record record;
    if (run_python(answer, stall_limit_s, &record)) {
        CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), status);
        CHECK_HAS(ys_json_get_text(fixture_facts(&record), "message", ""), part);
        CHECK_INT(length_of(&record, "latency_ns"), kept);
        CHECK_INT(ys_json_get_int(fixture_facts(&record), "steps_done", -1), kept);
        CHECK_INT(time_of(fixture_facts(&record), "inferred_ns"),
                  kept == 10 ? time_of(fixture_facts(&record), "inferred_ns") : -1);
    }
    ys_run_record_fini(&record);
}

static void an_honest_one_is_ok(void)
{
    check_end("        assert (m['requests'], m['batch']) == (10, 4)\n"
              "        tell(0, [50, 60, 70])\n"
              "        tell(3, [50] * 7)\n"
              "        send(type='done')\n",
              20, "ok", "", 10);
}

static void what_came_before_a_crash_is_kept(void)
{
    check_end("        tell(0, [50] * 3)\n"
              "        os._exit(4)\n",
              20, "crashed", "exit code 4", 3);
}

static void one_that_falls_silent_is_stalled(void)
{
    check_end("        tell(0, [50] * 3)\n"
              "        time.sleep(60)\n",
              10, "stalled", "stall_limit", 3);
}

static void done_too_early_is_a_protocol_error(void)
{
    check_end("        tell(0, [50] * 3)\n"
              "        send(type='done')\n",
              20, "protocol_error", "\"done\" came after request 3 of 10", 3);
}

static void what_cannot_be_is_a_protocol_error(void)
{
    check_end("        tell(0, [50] * 3)\n        tell(4, [50] * 3)\n", 20, "protocol_error", "request 3 was due", 3);
    check_end("        tell(0, [50] * 3, count=4)\n", 20, "protocol_error", "3 latencies for 4 requests", 0);
    check_end("        tell(0, [50] * 3)\n        tell(3, [50, 10 ** 7], t_start_ns=now(), t_end_ns=now())\n", 20,
              "protocol_error", "together longer", 3);
    check_end("        tell(0, [50, -20, 50])\n", 20, "protocol_error", "latency of request 1", 0);
    check_end("        tell(0, [50] * 11)\n", 20, "protocol_error", "1 to 10 were due", 0);
}

static void blocks_do_not_answer_requests(void)
{
    check_end("        send(type='block', first=0, count=10, t_start_ns=now(), t_end_ns=now(), input_ns=0,\n"
              "             loss=[1.0] * 10)\n",
              20, "protocol_error", "a message \"block\"", 0);
}

static void latencies_are_no_blocks(void)
{
    if (!fixture_has_python())
        return;
    char *text = ys_format("%s"
                           "def on(k, m):\n"
                           "    if k == 'train': send(type='latencies', first=0, count=1, t_start_ns=now(),\n"
                           "                          t_end_ns=now(), input_ns=0, loss=[1.0]); return True\n"
                           "serve(on)\n",
                           FIXTURE_PYTHON);
    const char *argv[] = {fixture_script("adapter.py", text), NULL};
    struct ys_plan plan = fixture_plan(3, 1);
    struct ys_run_spec spec = {
        .plan = &plan, .launch = {.argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60}};
    struct ys_run_record record;
    CHECK_INT(ys_run_execute(&spec, &record), YS_OK);
    CHECK_TEXT(ys_json_get_text(fixture_facts(&record), "status", NULL), "protocol_error");
    CHECK_HAS(ys_json_get_text(fixture_facts(&record), "message", ""), "a message \"latencies\"");
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    ys_free(text);
}

static void requests_may_be_given_by_the_trial(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_plan plan = fixture_plan(3, 1);
    plan.mode = YS_MODE_INFER;
    struct ys_run_spec spec = {.requests = 5, .plan = &plan, .launch = {.argv = argv, .folder = fixture_open()}};
    struct ys_run_record record;
    CHECK_INT(ys_run_execute(&spec, &record), YS_OK);
    CHECK_INT(length_of(&record, "latency_ns"), 5);
    ys_run_record_fini(&record);
    spec.requests = 0;
    CHECK_INT(ys_run_execute(&spec, &record), YS_EINTERNAL);
    CHECK_HAS(ys_error(), "0 requests");
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    ys_free(null);
}

TAP_MAIN(TAP_CASE(one_that_is_right_is_kept), TAP_CASE(requests_timed_together_are_kept_as_such),
         TAP_CASE(instructions_of_each_request_are_kept), TAP_CASE(requests_may_not_be_left_out_or_repeated),
         TAP_CASE(the_count_is_that_of_the_latencies_and_of_what_is_due),
         TAP_CASE(latencies_add_up_to_no_more_than_the_time_that_passed),
         TAP_CASE(a_latency_is_a_whole_number_of_nanoseconds), TAP_CASE(pieces_of_requests_are_kept),
         TAP_CASE(pieces_are_as_many_as_asked_for_and_no_longer_than_their_request),
         TAP_CASE(messages_lie_between_question_and_answer), TAP_CASE(every_request_is_kept_and_nothing_saved),
         TAP_CASE(an_honest_one_is_ok), TAP_CASE(what_came_before_a_crash_is_kept),
         TAP_CASE(one_that_falls_silent_is_stalled), TAP_CASE(done_too_early_is_a_protocol_error),
         TAP_CASE(what_cannot_be_is_a_protocol_error), TAP_CASE(blocks_do_not_answer_requests),
         TAP_CASE(latencies_are_no_blocks), TAP_CASE(requests_may_be_given_by_the_trial))
