#include "verify/evidence.h"

#include "base/fs.h"
#include "base/mem.h"
#include "framework/model_file.h"
#include "framework/start_env.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Once it has answered, an adapter has nothing more to say: how it ends is no evidence, and some take a second over it.
 */
static const double STOP_GRACE_S = 0.001;

void ys_evidence_fini(struct ys_evidence *evidence)
{
    ys_free(evidence->status);
    ys_free(evidence->message);
    *evidence = (struct ys_evidence){0};
}

struct asker {
    struct ys_session *session;
    struct ys_evidence *evidence;
    const char *folder; /* of the plan */
    bool mapped;
    ys_on_answer on_answer;
    void *context;
    bool failed; /* yardstick's own doing: on_answer, or memory */
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

ys_status ys_evidence_open(const char *path, const char *folder, bool mapped, struct ys_safetensors **file)
{
    if (!ys_fs_exists(path))
        return ys_fail(YS_EPROTOCOL, "the file of tensors it named is not there");
    char *real = ys_path_real_below(path, folder);
    if (!real)
        return ys_fail(YS_EPROTOCOL, "it named the file of tensors %s, which does not lie in its folder %s", path,
                       folder);
    ys_status status = mapped ? ys_safetensors_open(real, file) : ys_safetensors_load(real, file);
    if (status == YS_OK)
        (void)unlink(real);
    ys_free(real);
    return status;
}

/* The adapter may use one name for all its answers: each is gone before the next is asked for. */
static ys_status open_answer(struct asker *asker, const char *path, struct ys_safetensors **file)
{
    ys_status status = ys_evidence_open(path, asker->folder, asker->mapped, file);
    if (status == YS_OK)
        return YS_OK;
    return refuse(asker->evidence, status == YS_EPROTOCOL ? "protocol_error" : "wrong_output", ys_error());
}

static ys_status ask_tensors(struct asker *asker, ys_json *request, enum ys_answer answer, int64_t batch)
{
    ys_json *reply = NULL;
    struct ys_safetensors *file = NULL;
    YS_TRY(ask(asker, request, "tensors", &reply));
    if (ys_json_get(reply, "multiply_adds"))
        asker->evidence->multiply_adds = ys_json_get_int(reply, "multiply_adds", -1);
    ys_status status = open_answer(asker, ys_json_get_text(reply, "path", ""), &file);
    ys_json_free(reply);
    if (status == YS_OK) {
        status = asker->on_answer(asker->context, answer, batch, &file);
        asker->failed = status != YS_OK;
    }
    ys_safetensors_close(file);
    return status;
}

static ys_status ask_batch(struct asker *asker, const struct ys_questions *questions, enum ys_answer answer,
                           int64_t batch)
{
    ys_json *request = message(answer == YS_ANSWER_BACKWARD ? "backward" : "forward");
    ys_json_set_int(request, "batch", batch);
    ys_json_set_string(request, "mode", questions->evaluation ? "eval" : "train");
    return ask_tensors(asker, request, answer, batch);
}

static ys_status ask_steps(struct asker *asker, int64_t steps, enum ys_answer answer)
{
    ys_json *request = message("step");
    ys_json_set_int(request, "n", steps);
    return ask_tensors(asker, request, answer, 0);
}

static ys_status take_block(void *context, const ys_json *block)
{
    struct ys_evidence *evidence = context;
    evidence->train_loss = ys_json_number(ys_json_at(ys_json_get(block, "loss"), 0), NAN);
    return YS_OK;
}

/* The first step on the way that a run is timed on. */
static ys_status ask_trained(struct asker *asker, const ys_json *plan)
{
    ys_json *train = message("train"), *save = message("save"), *reply = NULL;
    struct ys_safetensors *file = NULL;
    char *path = ys_path_join(asker->folder, "trained.safetensors");
    ys_json_set_int(train, "from", 0);
    ys_json_set_int(train, "to", 1);
    ys_json_set_int(train, "block", 1);
    ys_json_set_string(save, "format", "safetensors");
    ys_json_set_string(save, "dtype", strcmp(ys_json_get_text(plan, "precision", ""), "f64") == 0 ? "f64" : "f32");
    ys_status status = path ? ys_json_set_string(save, "path", path) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_session_request(asker->session, train, take_block, asker->evidence, &reply);
    else
        ys_json_free(train);
    ys_json_free(reply);
    reply = NULL;
    if (status == YS_OK)
        status = ask(asker, save, "saved", &reply);
    else
        ys_json_free(save);
    ys_json_free(reply);
    if (status == YS_OK)
        status = open_answer(asker, path, &file);
    ys_free(path);
    if (status == YS_OK) {
        status = asker->on_answer(asker->context, YS_ANSWER_FIRST_STEP, 0, &file);
        asker->failed = status != YS_OK;
    }
    ys_safetensors_close(file);
    return status;
}

static ys_status ask_all(struct asker *asker, ys_json *plan, const struct ys_questions *questions)
{
    ys_json *open = message("open"), *reply = NULL;
    ys_json_set(open, "plan", ys_json_ref(plan));
    YS_TRY(ask(asker, open, "opened", &reply));
    asker->evidence->parameters = ys_json_get_int(reply, "parameters", -1);
    ys_json_free(reply);
    if (!questions->evaluation && !questions->forward_only)
        YS_TRY(ask_batch(asker, questions, YS_ANSWER_BACKWARD, questions->first));
    for (int64_t b = 0; b < questions->batches; b++)
        YS_TRY(ask_batch(asker, questions, YS_ANSWER_FORWARD, questions->first + b));
    if (questions->start)
        YS_TRY(ask_steps(asker, 0, YS_ANSWER_START));
    if (questions->steps == 0)
        return YS_OK;
    YS_TRY(questions->trained ? ask_trained(asker, plan) : ask_steps(asker, 1, YS_ANSWER_FIRST_STEP));
    return questions->steps > 1 ? ask_steps(asker, questions->steps - 1, YS_ANSWER_LAST_STEP) : YS_OK;
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
static ys_status settle(const struct asker *asker, ys_status status)
{
    struct ys_session_end end = {0};
    struct ys_evidence *evidence = asker->evidence;
    if (!asker->session)
        return status; /* yardstick itself failed, not the adapter */
    char *said = ys_strdup(ys_error());
    ys_session_close(asker->session, &end);
    if (asker->failed || status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL) {
        status = ys_fail(status, "%s", said ? said : "");
    } else if (status != YS_OK && !evidence->status) {
        evidence->status = ys_strdup(ys_run_status_name(end.status != YS_RUN_OK ? end.status : YS_RUN_PROTOCOL_ERROR));
        evidence->message = ys_strdup(end.message ? end.message : said);
        status = YS_OK;
    } else {
        status = YS_OK;
    }
    ys_session_end_fini(&end);
    ys_free(said);
    return status;
}

ys_status ys_evidence_start(const struct ys_framework *framework, const ys_json *plan, const ys_json *extra_env,
                            double patience_s, double stop_grace_s, struct ys_session **session)
{
    char **env = NULL;
    struct ys_launch launch = {.argv = (const char *const *)framework->argv,
                               .folder = ys_json_get_text(plan, "folder", ""),
                               .stall_limit_s = patience_s,
                               .run_time_limit_s = YS_EVIDENCE_PATIENCE_S,
                               .stop_grace_s = stop_grace_s};
    int *cpus = plan_cpus(plan, &launch.cpu_count);
    *session = NULL;
    ys_status status = cpus ? ys_start_env(framework, (int)ys_json_get_int(plan, "threads", 1),
                                           ys_json_get(plan, "options"), extra_env, &env)
                            : ys_out_of_memory();
    launch.cpus = cpus;
    launch.env = (const char *const *)env;
    if (status == YS_OK)
        status = ys_session_open(&launch, session);
    ys_start_env_free(env);
    ys_free(cpus);
    return status;
}

ys_status ys_evidence_collect(const struct ys_framework *framework, const ys_json *plan, const ys_json *extra_env,
                              double patience_s, const struct ys_questions *questions, ys_on_answer on_answer,
                              void *context, struct ys_evidence *evidence)
{
    *evidence = (struct ys_evidence){.parameters = -1, .multiply_adds = -1, .train_loss = NAN};
    struct asker asker = {.evidence = evidence, .on_answer = on_answer, .context = context};
    ys_json *own = ys_json_copy(plan);
    ys_status status = own ? ys_framework_model_file(framework, own) : ys_out_of_memory();
    asker.folder = ys_json_get_text(own, "folder", "");
    asker.mapped = questions->mapped;
    if (status == YS_OK)
        status = ys_evidence_start(framework, own, extra_env, patience_s, STOP_GRACE_S, &asker.session);
    if (status == YS_OK)
        status = ask_all(&asker, own, questions);
    status = settle(&asker, status);
    ys_framework_model_file_remove(own);
    ys_json_free(own);
    return status;
}
