#include "verify/evidence.h"

#include "base/fs.h"
#include "base/mem.h"
#include "framework/model_file.h"
#include "framework/start_env.h"
#include "protocol/request.h"
#include "run/message.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Once it has answered, an adapter has nothing more to say: how it ends is no evidence, and some take a second over it.
 */
static const double STOP_GRACE_S = 0.001;

void ys_evidence_fini(struct ys_evidence *evidence)
{
    ys_free(evidence->message);
    *evidence = (struct ys_evidence){0};
}

struct asker {
    struct ys_session *session;
    struct ys_feeder feeder;
    struct ys_evidence *evidence;
    const char *folder; /* of the plan */
    bool mapped;
    ys_on_answer on_answer;
    void *context;
    bool failed; /* yardstick's own doing: on_answer, or memory */
};

static ys_status refuse(struct ys_evidence *evidence, enum ys_run_status status, const char *text)
{
    evidence->status = status;
    evidence->message = ys_strdup(text);
    return ys_fail(YS_EPROTOCOL, "%s", text);
}

/* Sends `request` and wants an answer of type `wanted`. YS_EPROTOCOL: the adapter failed, as `evidence` now says. */
static ys_status ask(struct asker *asker, ys_json *request, const char *wanted, ys_json **reply)
{
    YS_TRY(ys_session_request(asker->session, request, NULL, NULL, reply));
    const char *type = ys_message_type(*reply);
    if (strcmp(type, wanted) == 0)
        return YS_OK;
    char *text = ys_format("it answered \"%s\" where \"%s\" was due", type, wanted);
    ys_status status = refuse(asker->evidence, YS_RUN_PROTOCOL_ERROR, text ? text : "a wrong answer");
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
    return refuse(asker->evidence, status == YS_EPROTOCOL ? YS_RUN_PROTOCOL_ERROR : YS_RUN_WRONG_OUTPUT, ys_error());
}

static ys_status ask_tensors(struct asker *asker, ys_json *request, enum ys_answer answer, int64_t batch)
{
    ys_json *reply = NULL;
    struct ys_safetensors *file = NULL;
    YS_TRY(ask(asker, request, "tensors", &reply));
    struct ys_message said;
    ys_message_read(reply, &said);
    if (said.tensors.multiply_adds >= 0)
        asker->evidence->multiply_adds = said.tensors.multiply_adds;
    ys_status status = open_answer(asker, said.tensors.path, &file);
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
    const char *type = answer == YS_ANSWER_BACKWARD ? "backward" : "forward";
    const char *mode = questions->evaluation ? "eval" : "train";
    return ask_tensors(asker, ys_request_pass(type, batch, mode), answer, batch);
}

static ys_status ask_steps(struct asker *asker, int64_t steps, enum ys_answer answer)
{
    return ask_tensors(asker, ys_request_step(steps), answer, 0);
}

static ys_status take_block(void *context, const ys_json *block)
{
    struct ys_evidence *evidence = context;
    struct ys_message said;
    ys_message_read(block, &said);
    evidence->train_loss = ys_json_number(ys_json_at(said.block.loss, 0), NAN);
    return YS_OK;
}

/* The first step on the way that a run is timed on; it leaves the weights after it in `path`. */
static ys_status train_once(struct asker *asker, const struct ys_plan *plan, const char *path)
{
    const char *dtype = plan->precision == YS_PRECISION_F64 ? "f64" : "f32";
    ys_json *reply = NULL;
    YS_TRY(ys_session_request(asker->session, ys_request_train(0, 1, 1), take_block, asker->evidence, &reply));
    ys_json_free(reply);
    YS_TRY(ask(asker, ys_request_save(path, dtype), "saved", &reply));
    ys_json_free(reply);
    return YS_OK;
}

static ys_status ask_trained(struct asker *asker, const struct ys_plan *plan)
{
    struct ys_safetensors *file = NULL;
    char *path = ys_path_join(asker->folder, "trained.safetensors");
    ys_status status = path ? train_once(asker, plan, path) : ys_out_of_memory();
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

static ys_status ask_all(struct asker *asker, const struct ys_plan *plan, const struct ys_questions *questions)
{
    ys_json *reply = NULL;
    YS_TRY(ask(asker, ys_request_open(plan), "opened", &reply));
    struct ys_message said;
    ys_message_read(reply, &said);
    asker->evidence->parameters = said.opened.parameters;
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

/* The CPUs of the plan, as the launcher takes them. */
static int *plan_cpus(const struct ys_plan *plan)
{
    const int64_t *listed = plan->cpus.items;
    int *cpus = ys_alloc(plan->cpus.count, sizeof *cpus);
    for (size_t i = 0; cpus && i < plan->cpus.count; i++)
        cpus[i] = (int)listed[i];
    return cpus;
}

/* An adapter that failed is an answer, not a failure of yardstick. */
static ys_status settle(struct asker *asker, ys_status status)
{
    struct ys_session_end end = {0}, fed = {0};
    struct ys_evidence *evidence = asker->evidence;
    const bool is_started = asker->session || asker->feeder.session;
    char *said = ys_strdup(ys_error());
    ys_session_close(asker->session, &end);
    ys_feeder_end(&asker->feeder, &end, &fed);
    ys_session_end_fini(&fed);
    if (!is_started) { /* yardstick itself failed, not the adapter */
        status = ys_fail(status, "%s", said ? said : "");
        ys_free(said);
        return status;
    }
    if (asker->failed || status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL) {
        status = ys_fail(status, "%s", said ? said : "");
    } else if (status != YS_OK && !evidence->status) {
        evidence->status = end.status != YS_RUN_OK ? end.status : YS_RUN_PROTOCOL_ERROR;
        evidence->message = ys_session_end_text(&end, said);
        status = YS_OK;
    } else {
        status = YS_OK;
    }
    ys_session_end_fini(&end);
    ys_free(said);
    return status;
}

ys_status ys_evidence_start(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *extra_env,
                            double patience_s, double stop_grace_s, struct ys_session **session,
                            struct ys_feeder *feeder)
{
    char **env = NULL;
    int *cpus = plan_cpus(plan);
    struct ys_launch launch = {.argv = (const char *const *)framework->argv,
                               .folder = plan->folder,
                               .kept = framework->cache,
                               .cpus = cpus,
                               .cpu_count = plan->cpus.count,
                               .stall_limit_s = patience_s,
                               .run_time_limit_s = YS_EVIDENCE_PATIENCE_S,
                               .stop_grace_s = stop_grace_s};
    *session = NULL;
    ys_status status =
        cpus ? ys_start_env(framework, (int)plan->threads, plan->options, extra_env, &env) : ys_out_of_memory();
    launch.env = (const char *const *)env;
    if (feeder)
        *feeder = YS_FEEDER_NONE;
    if (status == YS_OK && feeder)
        status = ys_feeder_start(plan, &launch, feeder);
    if (feeder)
        ys_feeder_pass(feeder, &launch);
    if (status == YS_OK)
        status = ys_session_open(&launch, session);
    if (feeder)
        ys_feeder_passed(feeder);
    ys_start_env_free(env);
    ys_free(cpus);
    return status;
}

ys_status ys_evidence_collect(const struct ys_framework *framework, const struct ys_plan *plan,
                              const ys_json *extra_env, double patience_s, const struct ys_questions *questions,
                              ys_on_answer on_answer, void *context, struct ys_evidence *evidence)
{
    *evidence = (struct ys_evidence){.parameters = -1, .multiply_adds = -1, .train_loss = NAN};
    struct asker asker = {.evidence = evidence,
                          .feeder = YS_FEEDER_NONE,
                          .mapped = questions->mapped,
                          .on_answer = on_answer,
                          .context = context};
    struct ys_plan own;
    YS_TRY(ys_plan_copy(plan, &own));
    ys_status status = ys_framework_model_file(framework, &own);
    asker.folder = own.folder;
    if (status == YS_OK)
        status = ys_evidence_start(framework, &own, extra_env, patience_s, STOP_GRACE_S, &asker.session, &asker.feeder);
    if (status == YS_OK)
        status = ask_all(&asker, &own, questions);
    status = settle(&asker, status);
    ys_framework_model_file_remove(&own);
    ys_plan_fini(&own);
    return status;
}
