/* Sessions with adapters that behave, and what limits do to them. */
#include "base/clock.h"
#include "base/stop.h"
#include "unit/run/session_fixture.h"
#include <signal.h>
#include <sys/wait.h>

static void hello_is_exchanged_and_bye_ends_it(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_launch launch = launch_of(argv);
    struct ys_session *session;
    struct ys_session_end end;
    REQUIRE((ys_session_open(&launch, &session) == YS_OK));
    CHECK_TEXT(ys_json_get_text(ys_session_hello(session), "adapter", NULL), "null");
    CHECK_INT(ask(session, "reset"),
              YS_EPROTOCOL); /* before open there is nothing to reset: an error of the adapter's */
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "protocol_error");
    ys_session_end_fini(&end);
    REQUIRE((ys_session_open(&launch, &session) == YS_OK));
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    CHECK_TEXT(ys_stage_name(end.stage), "stop");
    CHECK_INT(end.exit_code, 0);
    CHECK(!fixture_warning(end.warnings));
    CHECK(end.message == NULL);
    CHECK(end.exec_ns < end.hello_ns && end.hello_ns <= end.bye_ns && end.bye_ns < end.end_ns);
    CHECK_INT(fixture_descendants(), 0);
    ys_session_end_fini(&end);
    ys_free(null);
}

static void a_session_starts_in_milliseconds(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_launch launch = launch_of(argv);
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        struct ys_session *session;
        struct ys_session_end end;
        REQUIRE((ys_session_open(&launch, &session) == YS_OK));
        ys_session_close(session, &end);
        if (end.end_ns - end.exec_ns < best_ns)
            best_ns = end.end_ns - end.exec_ns;
        CHECK_TEXT(ys_run_status_name(end.status), "ok");
        ys_session_end_fini(&end);
    }
    printf("# exec to end of the null adapter: %.2f ms at best\n", (double)best_ns * 1e-6); /* said, not judged */
    ys_free(null);
}

static void an_unknown_request_is_a_mistake_of_ours(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_launch launch = launch_of(argv);
    struct ys_session *session;
    struct ys_session_end end;
    REQUIRE((ys_session_open(&launch, &session) == YS_OK));
    CHECK_INT(ask(session, "dance"), YS_EINTERNAL);
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    ys_session_end_fini(&end);
    ys_free(null);
}

static void an_error_that_is_provoked_does_not_end_it(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_launch launch = launch_of(argv);
    struct ys_session *session;
    struct ys_session_end end;
    REQUIRE((ys_session_open(&launch, &session) == YS_OK));
    static const struct {
        const char *type, *code;
    } provoked[] = {{"dance", "unsupported"}, {"reset", "protocol_error"}};
    for (size_t i = 0; i < 2; i++) {
        ys_json *reply = NULL;
        CHECK_INT(ys_session_provoke(session, fixture_message(provoked[i].type), &reply), YS_OK);
        CHECK_TEXT(ys_json_get_text(reply, "type", NULL), "error");
        CHECK_TEXT(ys_json_get_text(reply, "code", NULL), provoked[i].code);
        CHECK_TEXT(ys_json_get_text(reply, "stage", NULL), provoked[i].type);
        ys_json_free(reply);
    }
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    CHECK_INT(end.exit_code, 0);
    ys_session_end_fini(&end);
    ys_free(null);
}

static void a_program_that_cannot_be_executed_is_load_failed(void)
{
    const char *argv[] = {"/nowhere/adapter", NULL};
    struct ys_launch launch = launch_of(argv);
    struct ys_session *session;
    struct ys_session_end end;
    CHECK_INT(ys_session_open(&launch, &session), YS_EIO);
    REQUIRE(session);
    CHECK(ys_session_hello(session) == NULL);
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "load_failed");
    CHECK_TEXT(ys_stage_name(end.stage), "start");
    CHECK_HAS(end.message, "/nowhere/adapter");
    ys_session_end_fini(&end);
}

static void a_missing_launcher_is_our_failure_and_is_named(void)
{
    const char *argv[] = {"true", NULL};
    struct ys_launch launch = launch_of(argv);
    struct ys_session *session = NULL;
    char *programs = ys_strdup(getenv("YARDSTICK_BIN")), *home = ys_strdup(getenv("YARDSTICK_HOME"));
    setenv("YARDSTICK_BIN", "/nowhere", 1);
    setenv("YARDSTICK_HOME", "/nowhere", 1);
    CHECK_INT(ys_session_open(&launch, &session), YS_EIO);
    CHECK_HAS(ys_error(), "yardstick-launch");
    CHECK(session == NULL);
    setenv("YARDSTICK_BIN", programs, 1);
    setenv("YARDSTICK_HOME", home ? home : "", 1);
    ys_free(programs);
    ys_free(home);
}

static void an_adapter_that_says_another_version_is_a_protocol_error(void)
{
    if (!fixture_has_python())
        return;
    struct ys_launch launch = {0};
    struct ys_session *session;
    struct ys_session_end end;
    CHECK_INT(open_python("serve(lambda k, m: False, protocol=7)", &launch, &session), YS_EPROTOCOL);
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "protocol_error");
    CHECK_HAS(end.message, "version 7");
    CHECK_TEXT(ys_stage_name(end.stage), "start");
    ys_session_end_fini(&end);
}

static void an_error_is_passed_on_with_stage_and_operator_and_bye_is_still_said(void)
{
    if (!fixture_has_python())
        return;
    struct ys_launch launch = {0};
    struct ys_session *session;
    struct ys_session_end end;
    REQUIRE((open_python(
                 "serve(lambda k, m: k == 'open' and (send(type='error', code='unsupported', stage='build', op='Gelu',"
                 " message='no such operator'), True)[1])",
                 &launch, &session) == YS_OK));
    CHECK_INT(ask(session, "open"), YS_EUNSUPPORTED);
    CHECK_INT(ask(session, "reset"), YS_EUNSUPPORTED); /* a failed session stays failed */
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "unsupported");
    CHECK_TEXT(ys_stage_name(end.stage), "open"); /* "build" is no stage */
    ;
    CHECK_TEXT(end.message, "Gelu: no such operator");
    CHECK_INT(end.exit_code, 0); /* it ended by itself, of the bye */
    ys_session_end_fini(&end);
}

static void an_error_of_an_unknown_code_is_a_protocol_error(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and (send(type='error', code='ok', message='fine'), True)[1])",
                (struct ys_launch){0}, YS_EPROTOCOL, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "protocol_error");
    CHECK_INT(end.signal, SIGKILL);
    ys_session_end_fini(&end);
}

static void an_answer_of_the_wrong_type_is_a_protocol_error(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and (send(type='done'), True)[1])", (struct ys_launch){0}, YS_EPROTOCOL,
                &end))
        return;
    CHECK_HAS(end.message, "\"done\" where \"opened\" was due");
    ys_session_end_fini(&end);
}

static void silence_is_stalled(void)
{
    struct ys_session_end end;
    const struct ys_launch launch = {.stall_limit_s = 10}; /* Python itself needs a while to begin on a busy machine */
    if (!opened("serve(lambda k, m: k == 'open' and (time.sleep(600), True)[1])", launch, YS_ETIMEOUT, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "stalled");
    CHECK_TEXT(ys_stage_name(end.stage), "open");
    CHECK_INT(end.signal, SIGKILL);
    CHECK_INT(fixture_descendants(), 0);
    ys_session_end_fini(&end);
}

static void a_block_where_none_is_due_is_a_protocol_error(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and (send(type='block', first=0), True)[1])", (struct ys_launch){0},
                YS_EPROTOCOL, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "protocol_error");
    CHECK_HAS(end.message, "\"block\" where \"opened\" was due");
    ys_session_end_fini(&end);
}

#define BLOCK "type='block', first=0, count=1, t_start_ns=1, t_end_ns=2, input_ns=0, loss=[]"

static ys_status count_message(void *context, const ys_json *message)
{
    (void)message;
    ++*(int *)context;
    return YS_OK;
}

static void the_wall_clock_limit_holds_while_messages_pour_in(void)
{
    if (!fixture_has_python())
        return;
    struct ys_launch launch = {.run_time_limit_s = 2, .sample_hz = 50};
    struct ys_series_set series = {0};
    struct ys_session *session;
    struct ys_session_end end;
    int count = 0;
    launch.samples = &series;
    REQUIRE((open_python("def on(k, m):\n"
                         "    while k == 'train': send(" BLOCK ")\n"
                         "serve(on)",
                         &launch, &session) == YS_OK));
    ys_json *reply;
    CHECK_INT(ys_session_request(session, fixture_message("train"), count_message, &count, &reply), YS_ETIMEOUT);
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "timeout_wall");
    CHECK_TEXT(ys_stage_name(end.stage), "train");
    CHECK(count > 10);
    CHECK(ys_series_find(&series, "sample_t_ns") && ys_series_find(&series, "sample_t_ns")->count > 1);
    CHECK_INT(fixture_descendants(), 0);
    ys_session_end_fini(&end);
    ys_series_set_free(&series);
}

static ys_status refuse_message(void *context, const ys_json *message)
{
    (void)context, (void)message;
    return ys_fail(YS_EFORMAT, "this is not to my liking");
}

static void a_message_that_the_caller_refuses_ends_it(void)
{
    if (!fixture_has_python())
        return;
    struct ys_launch launch = {0};
    struct ys_session *session;
    struct ys_session_end end;
    ys_json *reply;
    REQUIRE(
        (open_python("serve(lambda k, m: k == 'train' and (send(" BLOCK "), True)[1])", &launch, &session) == YS_OK));
    CHECK_INT(ys_session_request(session, fixture_message("train"), refuse_message, NULL, &reply), YS_EPROTOCOL);
    ys_session_close(session, &end);
    CHECK_TEXT(ys_run_status_name(end.status), "protocol_error");
    CHECK_HAS(end.message, "not to my liking");
    ys_session_end_fini(&end);
}

static void a_kill_from_elsewhere_is_killed(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and os.kill(os.getpid(), signal.SIGKILL))", (struct ys_launch){0},
                YS_EIO, &end))
        return;
    /* A process killed for want of memory anywhere on the machine in this moment would make it oom_host. */
    CHECK_TEXT(ys_run_status_name(end.status), "killed");
    CHECK_INT(end.signal, SIGKILL);
    CHECK_INT(end.exit_code, -1);
    ys_session_end_fini(&end);
}

static void a_signal_of_its_own_is_crashed(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and os.abort())", (struct ys_launch){0}, YS_EIO, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "crashed");
    CHECK_INT(end.signal, SIGABRT);
    CHECK_HAS(end.message, "signal 6");
    ys_session_end_fini(&end);
}

static void what_was_said_before_the_end_still_counts(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and (send(type='error', code='oom_device', message='full'), "
                "os._exit(1)))",
                (struct ys_launch){0}, YS_EIO, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "oom_device");
    CHECK_INT(end.exit_code, 1);
    ys_session_end_fini(&end);
}

static void the_end_of_the_log_is_kept(void)
{
    struct ys_session_end end;
    if (!opened("serve(lambda k, m: k == 'open' and ([print('line', i) for i in range(5000)], 1 / 0))",
                (struct ys_launch){.log_limit_bytes = 1000}, YS_EIO, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "crashed");
    CHECK_INT(end.exit_code, 1);
    CHECK_HAS(end.log_tail, "ZeroDivisionError");
    CHECK_HAS(fixture_warning(end.warnings), "dropped");
    char path[128];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", fixture_folder, YS_LOG_NAME);
    CHECK(stat(path, &file) == 0 && file.st_size < 1200);
    ys_session_end_fini(&end);
}

/* What is left in it by a process that was killed goes too. */
static void temporary_files_have_a_folder_that_ends_with_the_session(void)
{
    struct ys_session_end end;
    struct ys_buf told = {0};
    char path[128];
    if (!opened("import tempfile\n"
                "open(tempfile.mkdtemp() + '/left', 'w').write('x')\n"
                "open('told', 'w').write(tempfile.gettempdir())\n"
                "serve(lambda k, m: k == 'open' and os.kill(os.getpid(), signal.SIGKILL))",
                (struct ys_launch){0}, YS_EIO, &end))
        return;
    snprintf(path, sizeof path, "%s/told", fixture_folder);
    REQUIRE((ys_fs_read(path, 4096, &told) == YS_OK));
    CHECK_HAS(ys_buf_text(&told), "/yardstick-");
    CHECK(!ys_fs_exists(ys_buf_text(&told)));
    ys_buf_free(&told);
    ys_session_end_fini(&end);
}

static void no_place_for_temporary_files_is_our_failure_and_is_named(void)
{
    char *null = fixture_null(), *before = getenv("TMPDIR") ? ys_strdup(getenv("TMPDIR")) : NULL;
    const char *argv[] = {null, NULL};
    struct ys_launch launch = launch_of(argv);
    struct ys_session *session;
    char nowhere[128];
    snprintf(nowhere, sizeof nowhere, "%s/not-there", fixture_folder);
    setenv("TMPDIR", nowhere, 1);
    CHECK_INT(ys_session_open(&launch, &session), YS_EIO);
    CHECK(session == NULL);
    CHECK_HAS(ys_error(), "/not-there/yardstick-");
    CHECK_HAS(ys_error(), "TMPDIR");
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    ys_free(before);
    ys_free(null);
}

/* What is our child for another reason is no business of a session's. */
static void what_the_session_did_not_start_is_neither_counted_nor_killed(void)
{
    fflush(stdout);
    pid_t stranger = fork();
    if (stranger == 0) {
        pause();
        _exit(0);
    }
    struct ys_session_end end;
    struct ys_series_set series = {0};
    if (opened("serve(lambda k, m: k == 'open' and time.sleep(0.2))",
               (struct ys_launch){.sample_hz = 50, .samples = &series}, YS_OK, &end)) {
        CHECK_TEXT(ys_run_status_name(end.status), "ok");
        CHECK_INT(end.peak.processes, 1);
        CHECK(!fixture_warning(end.warnings));
        ys_session_end_fini(&end);
        ys_series_set_free(&series);
    }
    CHECK_INT(waitpid(stranger, NULL, WNOHANG), 0); /* it lives, and is ours to wait for */
    kill(stranger, SIGKILL);
    CHECK_INT(waitpid(stranger, NULL, 0), stranger);
}

static void two_sessions_live_side_by_side(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_session *sessions[2];
    struct ys_session_end ends[2];
    struct ys_series_set series[2] = {{0}, {0}};
    char folders[2][96];
    for (int i = 0; i < 2; i++) {
        struct ys_launch launch = launch_of(argv);
        snprintf(folders[i], sizeof folders[i], "%s/side-%d", fixture_folder, i);
        REQUIRE((ys_fs_make_dirs(folders[i]) == YS_OK));
        launch.folder = folders[i];
        launch.sample_hz = 100;
        launch.samples = &series[i];
        REQUIRE((ys_session_open(&launch, &sessions[i]) == YS_OK));
        ys_session_look(sessions[i]);
    }
    ys_session_close(sessions[0], &ends[0]);
    CHECK_INT(ask(sessions[1], "reset"), YS_EPROTOCOL); /* it is there still, and has no plan */
    ys_session_close(sessions[1], &ends[1]);
    CHECK_TEXT(ys_run_status_name(ends[0].status), "ok");
    CHECK_TEXT(ys_run_status_name(ends[1].status), "protocol_error");
    CHECK_INT(ends[1].exit_code, 0);
    for (int i = 0; i < 2; i++) {
        char *log = ys_path_join(folders[i], YS_LOG_NAME);
        CHECK(fixture_is_one(ends[i].peak.processes));
        CHECK(ends[i].user_ns + ends[i].system_ns > 0);
        CHECK(ends[i].keeper_ns > 0);
        CHECK(ys_series_find(&series[i], "sample_t_ns") && ys_series_find(&series[i], "sample_t_ns")->count > 0);
        CHECK(log && ys_fs_exists(log));
        ys_free(log);
        ys_session_end_fini(&ends[i]);
        ys_series_set_free(&series[i]);
    }
    CHECK_INT(fixture_descendants(), 0);
    ys_free(null);
}

struct side {
    int64_t asked, next; /* steps */
    int parts;
};

static ys_status take_part(void *context, const ys_json *message)
{
    struct side *side = context;
    side->parts++;
    side->next += ys_json_get_int(message, "count", 0);
    return YS_OK;
}

static ys_status train_some(struct ys_session *session, struct side *side, int64_t steps)
{
    ys_json *message = fixture_message("train"), *reply = NULL;
    side->asked += steps;
    ys_json_set_int(message, "from", side->next);
    ys_json_set_int(message, "to", side->asked);
    ys_json_set_int(message, "block", steps);
    ys_status status = ys_session_request(session, message, take_part, side, &reply);
    ys_json_free(reply);
    return status;
}

static void begin_side(int rank, const char *const *argv, struct ys_series_set *samples, struct ys_session **session)
{
    char folder[96];
    ys_json *message = fixture_message("open"), *reply = NULL;
    struct ys_launch launch = launch_of(argv);
    snprintf(folder, sizeof folder, "%s/rank-%d", fixture_folder, rank);
    CHECK_INT(ys_fs_make_dirs(folder), YS_OK);
    ys_json_set(message, "plan", fixture_plan_sent(40, 10, folder));
    launch.folder = folder;
    launch.sample_hz = 50;
    launch.samples = samples;
    launch.rank = rank;
    CHECK_INT(ys_session_open(&launch, session), YS_OK);
    CHECK_INT(ys_session_request(*session, message, NULL, NULL, &reply), YS_OK);
    ys_json_free(reply);
}

/* Two adapters at work by turns, one of which fails in the middle: the other is not touched by it. */
static void sessions_that_take_turns_keep_their_own(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_session *sessions[2];
    struct ys_session_end ends[2];
    struct ys_series_set samples[2] = {{0}, {0}};
    struct side sides[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++)
        begin_side(i, argv, &samples[i], &sessions[i]);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 2; i++) {
            CHECK_INT(train_some(sessions[i], &sides[i], 10), YS_OK);
            ys_session_look(sessions[i]);
        }
    CHECK_INT(ys_session_fail(sessions[1], YS_RUN_DIVERGED, "enough"), YS_EIO);
    CHECK_INT(train_some(sessions[1], &sides[1], 10), YS_EIO);
    CHECK_INT(train_some(sessions[0], &sides[0], 10), YS_OK);
    for (int i = 0; i < 2; i++)
        ys_session_close(sessions[i], &ends[i]);
    CHECK_TEXT(ys_run_status_name(ends[0].status), "ok");
    CHECK_TEXT(ys_run_status_name(ends[1].status), "diverged");
    CHECK_TEXT(ends[1].message, "enough");
    CHECK(sides[0].next == 40 && sides[0].parts == 4 && sides[1].next == 30 && sides[1].parts == 3);
    CHECK(!ys_series_find(&samples[0], "sample_rank"));
    const struct ys_series *times = ys_series_find(&samples[1], "sample_t_ns");
    ys_session_end_fini(&ends[0]);
    ys_session_end_fini(&ends[1]);
    const struct ys_series *ranks = ys_series_find(&samples[1], "sample_rank");
    CHECK(times && ranks && ranks->count == times->count && ranks->ints[0] == 1);
    ys_series_set_free(&samples[0]);
    ys_series_set_free(&samples[1]);
    CHECK_INT(fixture_descendants(), 0);
    ys_free(null);
}

/* Its workers, in sessions of their own, are known from the samples. */
static void a_keeper_that_is_killed_takes_the_session_with_it(void)
{
    struct ys_session_end end;
    struct ys_buf told = {0};
    char path[128];
    if (!opened("def on(k, m):\n"
                "    if k != 'open': return False\n"
                "    worker = os.fork()\n"
                "    if worker == 0:\n"
                "        os.setsid()\n"
                "        time.sleep(600)\n"
                "    open('told', 'w').write(str(worker))\n"
                "    time.sleep(3)\n" /* a hundred and fifty samples: on a busy machine one at least */
                "    os.kill(os.getppid(), signal.SIGKILL)\n"
                "    time.sleep(600)\n"
                "serve(on)",
                (struct ys_launch){.sample_hz = 50}, YS_EIO, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "killed");
    CHECK_HAS(end.message, "keeper");
    CHECK_HAS(fixture_warning(end.warnings), "not known in full");
    snprintf(path, sizeof path, "%s/told", fixture_folder);
    REQUIRE((ys_fs_read(path, 100, &told) == YS_OK));
    CHECK(fixture_is_gone((pid_t)atoi(ys_buf_text(&told))));
    ys_buf_free(&told);
    ys_session_end_fini(&end);
}

static void a_wish_to_stop_cancels(void)
{
    if (!fixture_has_python())
        return;
    fflush(stdout);
    pid_t child = fork(); /* the wish cannot be taken back: in a process of its own */
    if (child == 0) {
        struct ys_launch launch = {0};
        struct ys_session *session;
        struct ys_session_end end;
        if (ys_stop_install() != YS_OK)
            _exit(10);
        char *own =
            ys_format("serve(lambda k, m: k == 'open' and (os.kill(%d, signal.SIGINT), time.sleep(600)))", getpid());
        if (!own || open_python(own, &launch, &session) != YS_OK)
            _exit(11);
        if (ask(session, "open") != YS_EINTR)
            _exit(12);
        ys_session_close(session, &end);
        if (end.status != YS_RUN_CANCELLED || fixture_descendants() != 0)
            _exit(13);
        if (ys_session_open(&launch, &session) != YS_EINTR || session)
            _exit(14);
        ys_session_end_fini(&end);
        _exit(0);
    }
    int state = 0;
    CHECK_INT(waitpid(child, &state, 0), child);
    CHECK_INT(WIFEXITED(state) ? WEXITSTATUS(state) : -1, 0);
}

TAP_MAIN(TAP_CASE(hello_is_exchanged_and_bye_ends_it), TAP_CASE(a_session_starts_in_milliseconds),
         TAP_CASE(an_unknown_request_is_a_mistake_of_ours), TAP_CASE(an_error_that_is_provoked_does_not_end_it),
         TAP_CASE(a_program_that_cannot_be_executed_is_load_failed),
         TAP_CASE(a_missing_launcher_is_our_failure_and_is_named),
         TAP_CASE(an_adapter_that_says_another_version_is_a_protocol_error),
         TAP_CASE(an_error_is_passed_on_with_stage_and_operator_and_bye_is_still_said),
         TAP_CASE(an_error_of_an_unknown_code_is_a_protocol_error),
         TAP_CASE(an_answer_of_the_wrong_type_is_a_protocol_error), TAP_CASE(silence_is_stalled),
         TAP_CASE(a_block_where_none_is_due_is_a_protocol_error),
         TAP_CASE(the_wall_clock_limit_holds_while_messages_pour_in),
         TAP_CASE(a_message_that_the_caller_refuses_ends_it), TAP_CASE(a_kill_from_elsewhere_is_killed),
         TAP_CASE(a_signal_of_its_own_is_crashed), TAP_CASE(what_was_said_before_the_end_still_counts),
         TAP_CASE(the_end_of_the_log_is_kept), TAP_CASE(temporary_files_have_a_folder_that_ends_with_the_session),
         TAP_CASE(no_place_for_temporary_files_is_our_failure_and_is_named),
         TAP_CASE(what_the_session_did_not_start_is_neither_counted_nor_killed),
         TAP_CASE(two_sessions_live_side_by_side), TAP_CASE(sessions_that_take_turns_keep_their_own),
         TAP_CASE(a_keeper_that_is_killed_takes_the_session_with_it), TAP_CASE(a_wish_to_stop_cancels))
