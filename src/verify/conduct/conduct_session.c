#include "verify/conduct/conduct_session.h"

#include "base/mem.h"
#include "verify/oracle/evidence.h"

#include <math.h>
#include <string.h>

/* Small networks; but a framework may compile in an answer. */
static const double PATIENCE_S = 600, STOP_GRACE_S = 30;

static char *trouble_of(const struct ys_session_end *end)
{
    char *text = ys_session_end_text(end, NULL);
    char *trouble = ys_format("it ended as %s: %s", ys_run_status_name(end->status), text ? text : "no message");
    ys_free(text);
    return trouble;
}

/* What of a failure is the adapter's becomes `trouble`; the rest is passed on. */
static ys_status settle(struct ys_manners *m, ys_status status)
{
    if (status == YS_OK || status == YS_EINTR || status == YS_EINTERNAL || !m->session)
        return status;
    struct ys_session_end end = {0};
    ys_session_close(m->session, &end);
    m->session = NULL;
    m->is_open = false;
    m->trouble = trouble_of(&end);
    ys_session_end_fini(&end);
    return YS_OK;
}

ys_status ys_manners_start(struct ys_manners *m)
{
    const struct ys_conduct *conduct = m->conduct;
    ys_manners_fini(m);
    return settle(m, ys_evidence_start(conduct->framework, conduct->plan, conduct->env, PATIENCE_S, STOP_GRACE_S,
                                       &m->session, NULL));
}

ys_status ys_manners_ask(struct ys_manners *m, ys_json *message_taken, ys_json **reply)
{
    return settle(m, ys_session_provoke(m->session, message_taken, reply));
}

static ys_status pass_over(void *context, const ys_json *message)
{
    (void)context;
    (void)message;
    return YS_OK;
}

ys_status ys_manners_need(struct ys_manners *m, ys_json *message_taken, ys_json **reply)
{
    bool opens = strcmp(ys_message_type(message_taken), "open") == 0;
    ys_json *answer = NULL;
    if (reply)
        *reply = NULL;
    if (m->trouble || !m->session) {
        ys_json_free(message_taken);
        return YS_OK;
    }
    YS_TRY(settle(m, ys_session_request(m->session, message_taken, pass_over, NULL, &answer)));
    m->is_open |= opens && !m->trouble;
    if (reply)
        *reply = answer;
    else
        ys_json_free(answer);
    return YS_OK;
}

ys_status ys_manners_say(const struct ys_manners *m, const char *name, enum ys_conduct_verdict verdict,
                         const char *message)
{
    const struct ys_conduct_case found = {
        .name = name, .verdict = verdict, .message = message, .error = NAN, .bound = NAN};
    return m->conduct->on_case(m->conduct->context, &found);
}

ys_status ys_manners_end(struct ys_manners *m, const char *name)
{
    struct ys_session_end end = {0};
    ys_session_close(m->session, &end);
    m->session = NULL;
    m->is_open = false;
    bool right = end.status == YS_RUN_OK;
    char *text = right ? NULL : ys_session_end_text(&end, NULL);
    ys_status status = YS_OK;
    if (name)
        status = ys_manners_say(m, name, right ? YS_CONDUCT_PASS : YS_CONDUCT_FAIL, text);
    else if (!right)
        m->trouble = trouble_of(&end);
    ys_free(text);
    ys_session_end_fini(&end);
    return status;
}

void ys_manners_fini(struct ys_manners *m)
{
    ys_session_close(m->session, NULL);
    m->session = NULL;
    m->is_open = false;
    ys_free(m->trouble);
    m->trouble = NULL;
}
