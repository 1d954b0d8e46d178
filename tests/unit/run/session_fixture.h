/* Sessions with adapters that are a few lines of Python. */
#ifndef YS_TESTS_RUN_SESSION_FIXTURE_H
#define YS_TESTS_RUN_SESSION_FIXTURE_H

#include "run_fixture.h"
#include "session/session.h"

__attribute__((unused)) static struct ys_launch launch_of(const char *const *argv)
{
    return (struct ys_launch){.argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60};
}

/** Opens a session with a Python adapter that is FIXTURE_PYTHON and `own`. */
__attribute__((unused)) static ys_status open_python(const char *own, struct ys_launch *launch,
                                                     struct ys_session **session)
{
    static const char *argv[] = {NULL, NULL};
    char *text = ys_format("%s%s", FIXTURE_PYTHON, own);
    argv[0] = fixture_script("adapter.py", text);
    ys_free(text);
    struct ys_launch limits = *launch;
    *launch = launch_of(argv);
    if (limits.stall_limit_s > 0)
        launch->stall_limit_s = limits.stall_limit_s;
    if (limits.run_time_limit_s > 0)
        launch->run_time_limit_s = limits.run_time_limit_s;
    launch->stop_grace_s = limits.stop_grace_s;
    launch->sample_hz = limits.sample_hz;
    launch->samples = limits.samples;
    launch->memory_limit_bytes = limits.memory_limit_bytes;
    launch->cpu_time_limit_s = limits.cpu_time_limit_s;
    launch->log_limit_bytes = limits.log_limit_bytes;
    return ys_session_open(launch, session);
}

__attribute__((unused)) static ys_status ask(struct ys_session *session, const char *type)
{
    ys_json *reply = NULL;
    ys_status status = ys_session_request(session, fixture_message(type), NULL, NULL, &reply);
    ys_json_free(reply);
    return status;
}

/** The end of a session with an adapter that is `own` and is asked to open, which comes to `expected`. false, and a
 * skipped case, without Python. */
__attribute__((unused)) static bool opened(const char *own, struct ys_launch launch, ys_status expected,
                                           struct ys_session_end *end)
{
    struct ys_session *session;
    if (!fixture_has_python())
        return false;
    if (!CHECK((open_python(own, &launch, &session) == YS_OK)))
        return false;
    CHECK_INT(ask(session, "open"), expected);
    ys_session_close(session, end);
    return true;
}

#endif
