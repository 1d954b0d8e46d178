/* Several sessions side by side in one loop: each has its own limits, messages, samples, log and end, and none waits
 * for another. */
#include "base/clock.h"
#include "session/session.h"
#include "unit/run/run_fixture.h"

enum { MOST = 3 };

/** One session and what it is to do: a question after the other, then bye. */
struct act {
    const char *behaviour; /* of tests/adapters/misbehaving.py */
    const char *const *questions;
    struct ys_launch launch;
    struct ys_series_set samples;
    struct ys_session *session;
    size_t asked, blocks;
    bool is_leaving;
    uint64_t answered_ns; /* the last answer */
    ys_status status;     /* of the last question */
    struct ys_session_end end;
    char *folder, *variable;
    const char *argv[3], *env[2];
};

static bool prepare(struct act *acts, size_t count)
{
    static char script[512];
    const char *source = getenv("YS_SOURCE_ROOT");
    if (!fixture_has_python())
        return false;
    snprintf(script, sizeof script, "%s/tests/adapters/misbehaving.py", source ? source : ".");
    for (size_t i = 0; i < count; i++) {
        struct act *act = &acts[i];
        act->folder = ys_format("%s/%s-%zu", fixture_open(), act->behaviour, i);
        act->variable = ys_format("MISBEHAVE=%s", act->behaviour);
        act->argv[0] = "python3";
        act->argv[1] = script;
        act->env[0] = act->variable;
        if (!CHECK((ys_fs_make_dirs(act->folder) == YS_OK)))
            return false;
        act->launch.argv = act->argv;
        act->launch.env = act->env;
        act->launch.folder = act->folder;
        act->launch.run_time_limit_s = 60;
        act->launch.sample_hz = 100;
        act->launch.rank = (int64_t)i;
        act->launch.samples = &act->samples;
        act->status = ys_session_begin(&act->launch, &act->session);
        if (!CHECK((act->status == YS_OK)))
            return false;
    }
    return true;
}

static ys_status count_block(void *context, const ys_json *message)
{
    struct act *act = context;
    CHECK_INT(ys_json_get_int(message, "first", -1) % 20, 5 * (act->blocks % 4));
    act->blocks++;
    return YS_OK;
}

static ys_json *question(const char *type)
{
    ys_json *message = fixture_message(type);
    if (strcmp(type, "open") == 0)
        ys_json_set(message, "plan", fixture_plan_sent(20, 5, fixture_open()));
    ys_json_set_int(message, "from", 0);
    ys_json_set_int(message, "to", 20);
    ys_json_set_int(message, "block", 5);
    return message;
}

/** Its answer is taken, and the next question sent, or bye. */
static void go_on(struct act *act)
{
    ys_json *reply;
    act->status = ys_session_answer(act->session, &reply, &act->answered_ns);
    ys_json_free(reply);
    const char *next = act->status == YS_OK ? act->questions[act->asked] : NULL;
    if (next) {
        act->asked++;
        act->status = ys_session_send(act->session, question(next), count_block, act);
    }
    if (!next || act->status != YS_OK) {
        act->is_leaving = true;
        ys_session_bye(act->session);
    }
}

/** Until all have ended. */
static void drive(struct act *acts, size_t count)
{
    struct ys_session *sessions[MOST];
    for (size_t i = 0; i < count; i++)
        sessions[i] = acts[i].session;
    for (;;) {
        size_t busy = 0;
        for (size_t i = 0; i < count; i++) {
            if (!ys_session_is_busy(sessions[i]) && !acts[i].is_leaving)
                go_on(&acts[i]);
            busy += ys_session_is_busy(sessions[i]);
        }
        if (!busy)
            break;
        ys_session_turn(sessions, count, UINT64_MAX);
    }
    for (size_t i = 0; i < count; i++)
        ys_session_close(acts[i].session, &acts[i].end);
}

static void forget(struct act *acts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ys_session_end_fini(&acts[i].end);
        ys_series_set_free(&acts[i].samples);
        ys_free(acts[i].folder);
        ys_free(acts[i].variable);
    }
    CHECK_INT(fixture_descendants(), 0);
}

static const char *const open_and_train[] = {"open", "train", NULL};

static void each_comes_to_its_own_end(void)
{
    struct act acts[] = {
        {.behaviour = "hang_after_blocks", .questions = open_and_train, .launch.stall_limit_s = 10},
        {.behaviour = "honest", .questions = open_and_train, .launch.stall_limit_s = 30},
        {.behaviour = "killed", .questions = open_and_train, .launch.stall_limit_s = 30},
    };
    if (!prepare(acts, 3))
        return;
    drive(acts, 3);
    CHECK_TEXT(ys_run_status_name(acts[0].end.status), "stalled");
    CHECK_TEXT(ys_stage_name(acts[0].end.stage), "train");
    CHECK_HAS(acts[0].end.message, "for 10 s");
    CHECK_INT(acts[0].blocks, 2);
    CHECK_INT(acts[0].end.signal, 9);
    CHECK_TEXT(ys_run_status_name(acts[1].end.status), "ok");
    CHECK_INT(acts[1].blocks, 4);
    CHECK_INT(acts[1].end.exit_code, 0);
    CHECK(acts[1].end.message == NULL);
    CHECK_TEXT(ys_run_status_name(acts[2].end.status), "killed");
    CHECK_TEXT(ys_stage_name(acts[2].end.stage), "open");
    CHECK_HAS(acts[2].end.log_tail, "about to be killed");
    for (size_t i = 0; i < 3; i++) {
        const struct ys_series *times = ys_series_find(&acts[i].samples, "sample_t_ns");
        CHECK(acts[i].end.exec_ns < acts[i].end.hello_ns && acts[i].end.hello_ns < acts[i].end.end_ns);
        if (!CHECK(times && times->count > 0))
            continue;
        CHECK_INT(ys_series_rank(ys_series_find(&acts[i].samples, "sample_rank"), times->count - 1), i);
        CHECK((uint64_t)times->ints[0] > acts[i].end.exec_ns &&
              (uint64_t)times->ints[times->count - 1] < acts[i].end.end_ns);
        CHECK(i == 2 || !strstr(acts[i].end.log_tail, "killed"));
    }
    /* The one that hangs has ten seconds; the others were over before. */
    CHECK(acts[1].end.end_ns < acts[0].end.end_ns && acts[2].end.end_ns < acts[0].end.end_ns);
    forget(acts, 3);
}

static void one_that_does_not_want_to_end_delays_no_other(void)
{
    static const char *const open_alone[] = {"open", NULL};
    static const char *const many[] = {"open", "train", "train", "train", "train", "train", "train", "train", NULL};
    struct act acts[] = {
        {.behaviour = "ignore_bye", .questions = open_alone, .launch.stop_grace_s = 10},
        {.behaviour = "honest", .questions = many},
        {.behaviour = "children", .questions = open_alone},
    };
    if (!prepare(acts, 3))
        return;
    drive(acts, 3);
    CHECK_TEXT(ys_run_status_name(acts[0].end.status), "stalled");
    CHECK_HAS(acts[0].end.message, "10 s after bye");
    CHECK_TEXT(ys_run_status_name(acts[1].end.status), "ok");
    CHECK_INT(acts[1].blocks, 7 * 4);
    CHECK(acts[1].answered_ns < acts[1].end.bye_ns && acts[1].end.end_ns < acts[0].end.end_ns);
    CHECK_TEXT(ys_run_status_name(acts[2].end.status), "ok");
    CHECK_HAS(fixture_warning(acts[2].end.warnings), "left behind");
    CHECK(acts[2].end.end_ns < acts[0].end.end_ns);
    forget(acts, 3);
}

/** A session with a Python adapter of FIXTURE_PYTHON and `own`, which has said hello. */
static struct ys_session *open_python(const char *name, const char *own, double stall_limit_s)
{
    char *text = ys_format("%s%s", FIXTURE_PYTHON, own);
    const char *argv[] = {fixture_script(name, text), NULL};
    struct ys_launch launch = {
        .argv = argv, .folder = fixture_open(), .stall_limit_s = stall_limit_s, .run_time_limit_s = 60};
    struct ys_session *session = NULL;
    CHECK_INT(ys_session_open(&launch, &session), YS_OK);
    ys_free(text);
    return session;
}

static void one_that_waits_for_the_others_and_dies_is_noticed(void)
{
    if (!fixture_has_python())
        return;
    struct ys_session *sessions[2] = {
        open_python("dies.py",
                    "def on(k, m):\n    if k == 'open':\n        send(type='opened', parameters=0)\n"
                    "        os._exit(3)\nserve(on)\n",
                    0),
        open_python("hangs.py", "def on(k, m):\n    if k == 'open': time.sleep(60)\nserve(on)\n", 30)};
    struct ys_session_end end;
    ys_json *reply = NULL;
    REQUIRE(sessions[0] && sessions[1]);
    CHECK_INT(ys_session_request(sessions[0], question("open"), NULL, NULL, &reply), YS_OK);
    ys_json_free(reply);
    CHECK_INT(ys_session_send(sessions[1], question("open"), NULL, NULL), YS_OK);
    uint64_t until_ns = ys_time_ns() + 20000000000;
    ys_status status = YS_OK;
    while (status == YS_OK && ys_time_ns() < until_ns) {
        ys_session_turn(sessions, 2, until_ns);
        status = ys_session_answer(sessions[0], &reply, NULL);
    }
    CHECK_INT(status, YS_EIO);
    CHECK_HAS(ys_error(), "exit code 3");
    CHECK(ys_session_is_busy(sessions[1]));
    ys_session_fail(sessions[1], YS_RUN_CANCELLED, "enough");
    ys_session_close(sessions[0], &end);
    CHECK_TEXT(ys_run_status_name(end.status), "crashed");
    ys_session_end_fini(&end);
    ys_session_close(sessions[1], NULL);
    CHECK_INT(fixture_descendants(), 0);
}

/** `open` with four MiB that nobody reads at once. */
static ys_json *large_question(void)
{
    const size_t size = (size_t)4 << 20;
    char *text = ys_alloc(size + 1, 1);
    ys_json *message = question("open");
    memset(text, 'x', size);
    ys_json_set_string(message, "ballast", text);
    ys_free(text);
    return message;
}

static void one_that_does_not_read_delays_no_other(void)
{
    if (!fixture_has_python())
        return;
    const char *deaf = "def on(k, m):\n    if k != 'hello': return False\n"
                       "    send(type='hello', protocol=1, adapter='t', version='1')\n    time.sleep(60)\n"
                       "serve(on)\n";
    struct ys_session *sessions[2] = {open_python("deaf.py", deaf, 10),
                                      open_python("hears.py", "serve(lambda k, m: False)\n", 30)};
    struct ys_session_end ends[2];
    ys_json *reply = NULL;
    REQUIRE(sessions[0] && sessions[1]);
    CHECK_INT(ys_session_send(sessions[0], large_question(), NULL, NULL), YS_OK);
    CHECK_INT(ys_session_send(sessions[1], large_question(), NULL, NULL), YS_OK);
    while (ys_session_is_busy(sessions[1]))
        ys_session_turn(sessions, 2, UINT64_MAX);
    CHECK_INT(ys_session_answer(sessions[1], &reply, NULL), YS_OK);
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "opened");
    ys_json_free(reply);
    CHECK(ys_session_is_busy(sessions[0]));
    ys_session_bye(sessions[1]);
    while (ys_session_is_busy(sessions[0]) || ys_session_is_busy(sessions[1]))
        ys_session_turn(sessions, 2, UINT64_MAX);
    for (size_t i = 0; i < 2; i++) {
        ys_session_close(sessions[i], &ends[i]);
        CHECK_TEXT(ys_run_status_name(ends[i].status), i == 0 ? "stalled" : "ok");
        ys_session_end_fini(&ends[i]);
    }
    CHECK_INT(fixture_descendants(), 0);
}

TAP_MAIN(TAP_CASE(each_comes_to_its_own_end), TAP_CASE(one_that_does_not_want_to_end_delays_no_other),
         TAP_CASE(one_that_waits_for_the_others_and_dies_is_noticed), TAP_CASE(one_that_does_not_read_delays_no_other))
