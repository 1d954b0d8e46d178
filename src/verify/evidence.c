#include "verify/evidence.h"

#include "base/mem.h"
#include "framework/start_env.h"
#include "run/session.h"

#include <stdio.h>
#include <string.h>

/* Once it has answered, an adapter has nothing more to say: how it ends is no evidence, and some take a second over it.
 */
static const double STOP_GRACE_S = 0.001;

void ys_evidence_fini(struct ys_evidence *evidence)
{
    ys_safetensors_close(evidence->start);
    for (int b = 0; b < YS_VERIFY_BATCHES; b++)
        ys_safetensors_close(evidence->forward[b]);
    ys_safetensors_close(evidence->backward);
    ys_safetensors_close(evidence->step1);
    ys_safetensors_close(evidence->step10);
    ys_free(evidence->version);
    ys_free(evidence->status);
    ys_free(evidence->message);
    *evidence = (struct ys_evidence){0};
}

struct asker {
    struct ys_session *session;
    const char *folder;
    struct ys_evidence *evidence;
};

static ys_json *message(const char *type)
{
    ys_json *made = ys_json_object();
    ys_json_set_string(made, "type", type);
    return made;
}

static ys_status refuse(struct ys_evidence *evidence, const char *status, const char *text)
{
    evidence->status = ys_strdup(status);
    evidence->message = ys_strdup(text);
    return ys_fail(YS_EPROTOCOL, "%s", text);
}

/* Sends `request` and wants an answer of type `wanted`. YS_EPROTOCOL: the adapter failed, as `evidence` now says. */
static ys_status ask(struct asker *asker, ys_json *request, const char *wanted, ys_json **reply)
{
    YS_TRY(ys_session_request(asker->session, request, NULL, NULL, reply));
    const char *type = ys_json_get_text(*reply, "type", "");
    if (strcmp(type, wanted) == 0)
        return YS_OK;
    char *text = ys_format("it answered \"%s\" where \"%s\" was due", type, wanted);
    ys_status status = refuse(asker->evidence, "protocol_error", text ? text : "a wrong answer");
    ys_free(text);
    ys_json_free(*reply);
    *reply = NULL;
    return status;
}

/* Asks for tensors; the file is moved to `name` in the folder, so that the adapter may use one name for all its
 * answers. */
static ys_status ask_tensors(struct asker *asker, ys_json *request, const char *name, struct ys_safetensors **file)
{
    ys_json *reply = NULL;
    YS_TRY(ask(asker, request, "tensors", &reply));
    const char *from = ys_json_get_text(reply, "path", "");
    char *to = ys_format("%s/%s.safetensors", asker->folder, name);
    ys_status status = to ? YS_OK : ys_out_of_memory();
    if (status == YS_OK && rename(from, to) != 0)
        status = refuse(asker->evidence, "protocol_error", "the file of tensors it named is not there");
    if (status == YS_OK && ys_safetensors_open(to, file) != YS_OK)
        status = refuse(asker->evidence, "wrong_output", ys_error());
    if (ys_json_get(reply, "multiply_adds"))
        asker->evidence->multiply_adds = ys_json_get_int(reply, "multiply_adds", -1);
    ys_json_free(reply);
    ys_free(to);
    return status;
}

static ys_status ask_batch(struct asker *asker, const char *type, int batch, const char *mode, const char *name,
                           struct ys_safetensors **file)
{
    ys_json *request = message(type);
    ys_json_set_int(request, "batch", batch);
    ys_json_set_string(request, "mode", mode);
    return ask_tensors(asker, request, name, file);
}

static ys_status ask_steps(struct asker *asker, int steps, const char *name, struct ys_safetensors **file)
{
    ys_json *request = message("step");
    ys_json_set_int(request, "n", steps);
    return ask_tensors(asker, request, name, file);
}

static ys_status ask_all(struct asker *asker, const ys_json *plan, enum ys_evidence_depth depth)
{
    struct ys_evidence *evidence = asker->evidence;
    ys_json *open = message("open"), *reply = NULL;
    ys_json_set(open, "plan", ys_json_copy(plan));
    YS_TRY(ask(asker, open, "opened", &reply));
    evidence->parameters = ys_json_get_int(reply, "parameters", -1);
    ys_json_free(reply);
    YS_TRY(ask_batch(asker, "backward", 0, "train", "backward", &evidence->backward));
    int batches = depth == YS_EVIDENCE_FIRST ? 1 : YS_VERIFY_BATCHES;
    for (int b = 0; b < batches; b++) {
        char name[32];
        snprintf(name, sizeof name, "forward-%d", b);
        YS_TRY(ask_batch(asker, "forward", b, "train", name, &evidence->forward[b]));
    }
    if (depth == YS_EVIDENCE_FIRST)
        return YS_OK;
    YS_TRY(ask_steps(asker, 0, "start", &evidence->start));
    if (depth == YS_EVIDENCE_BATCHES)
        return YS_OK;
    YS_TRY(ask_steps(asker, 1, "step-1", &evidence->step1));
    return ask_steps(asker, YS_VERIFY_BATCHES - 1, "step-10", &evidence->step10);
}

/* The CPUs of the plan, as numbers; `count` receives how many. */
static int *plan_cpus(const ys_json *plan, size_t *count)
{
    const ys_json *listed = ys_json_get(plan, "cpus");
    *count = ys_json_size(listed);
    int *cpus = ys_alloc(*count, sizeof *cpus);
    for (size_t i = 0; cpus && i < *count; i++)
        cpus[i] = (int)ys_json_integer(ys_json_at(listed, i), 0);
    return cpus;
}

/* An adapter that failed is an answer, not a failure of yardstick. */
static ys_status settle(struct ys_session *session, struct ys_evidence *evidence, ys_status status)
{
    struct ys_session_end end = {0};
    if (!session)
        return status; /* yardstick itself failed, not the adapter */
    if (status == YS_OK)
        evidence->version = ys_strdup(ys_json_get_text(ys_session_hello(session), "version", ""));
    ys_session_close(session, &end);
    if (status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL) {
        ys_session_end_fini(&end);
        return status;
    }
    if (status != YS_OK && !evidence->status) {
        evidence->status = ys_strdup(end.status && strcmp(end.status, "ok") != 0 ? end.status : "protocol_error");
        evidence->message = ys_strdup(end.message ? end.message : ys_error());
    }
    ys_session_end_fini(&end);
    return YS_OK;
}

ys_status ys_evidence_collect(const struct ys_framework *framework, const ys_json *plan, const ys_json *extra_env,
                              double patience_s, enum ys_evidence_depth depth, const char *folder,
                              struct ys_evidence *evidence)
{
    *evidence = (struct ys_evidence){.parameters = -1, .multiply_adds = -1};
    struct asker asker = {.folder = folder, .evidence = evidence};
    char **env = NULL;
    struct ys_launch launch = {.argv = (const char *const *)framework->argv,
                               .folder = folder,
                               .stall_limit_s = patience_s,
                               .run_time_limit_s = YS_EVIDENCE_PATIENCE_S,
                               .stop_grace_s = STOP_GRACE_S};
    int *cpus = plan_cpus(plan, &launch.cpu_count);
    ys_status status =
        cpus ? ys_start_env(framework, (int)ys_json_get_int(plan, "threads", 1), extra_env, &env) : ys_out_of_memory();
    launch.cpus = cpus;
    launch.env = (const char *const *)env;
    if (status == YS_OK) {
        status = ys_session_open(&launch, &asker.session);
        if (status == YS_OK)
            status = ask_all(&asker, plan, depth);
        status = settle(asker.session, evidence, status);
    }
    ys_start_env_free(env);
    ys_free(cpus);
    return status;
}
