#include "verify/oracle/evidence.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "crew/ranks.h"
#include "data/rank_share.h"
#include "framework/network_file.h"
#include "framework/start_env.h"
#include "graph/graph.h"
#include "protocol/request.h"
#include "session/checked_message.h"
#include "verify/oracle/input_gradient.h"
#include "verify/oracle/rank_files.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Once it has answered, an adapter has nothing more to say: how it ends is no evidence, and some take a second over it.
 */
static const double STOP_GRACE_S = 0.001;
/* Processor time is looked at around questions; more often nobody asks for it. */
static const double LOOKS_HZ = 0.001;

void ys_evidence_fini(struct ys_evidence *evidence)
{
    ys_json_free(evidence->features);
    ys_free(evidence->message);
    *evidence = (struct ys_evidence){0};
}

/* One session, or those of the ranks that the plan says train together. */
struct asker {
    size_t count;
    struct ys_session *sessions[YS_SESSIONS_MOST];
    struct ys_plan *plans;      /* of each */
    struct ys_feeder feeder;    /* of the one there is */
    struct ys_dist_place place; /* where they meet */
    struct ys_graph *graph;     /* of several: which of their tensors are weights; else NULL */
    struct ys_shares *shares;   /* and what each counts for in a batch */
    double *losses;             /* of each: of the first step, from `train` */
    struct ys_evidence *evidence;
    struct ys_evidence_took took; /* from the last question to its answer */
    bool mapped;
    ys_on_answer on_answer;
    void *context;
    bool failed; /* yardstick's own doing: on_answer */
};

static ys_status refuse(struct ys_evidence *evidence, enum ys_run_status status, const char *text)
{
    evidence->status = status;
    evidence->message = ys_strdup(text);
    return ys_fail(YS_EPROTOCOL, "%s", text);
}

static void free_replies(struct asker *asker, ys_json **replies)
{
    for (size_t r = 0; r < asker->count; r++) {
        ys_json_free(replies[r]);
        replies[r] = NULL;
    }
}

/* The final answers once all have come; a session that has failed is the failure. */
static ys_status await(struct asker *asker, ys_json **replies)
{
    bool is_busy = true;
    while (is_busy && ys_ranks_wait(asker->sessions, asker->count, UINT64_MAX, -1)) {
        is_busy = false;
        for (size_t r = 0; r < asker->count; r++)
            is_busy = is_busy || ys_session_is_busy(asker->sessions[r]);
    }
    for (size_t r = 0; r < asker->count; r++)
        replies[r] = NULL;
    ys_status status = YS_OK;
    for (size_t r = 0; r < asker->count; r++) {
        ys_status own = ys_session_answer(asker->sessions[r], &replies[r], NULL);
        status = status == YS_OK ? own : status;
    }
    if (status != YS_OK)
        free_replies(asker, replies);
    return status;
}

static double used_s(const struct asker *asker)
{
    double sum_s = 0;
    for (size_t r = 0; r < asker->count; r++)
        sum_s += ys_session_cpu_s(asker->sessions[r]);
    return sum_s;
}

/* One question for each, of which the answers are to be of type `wanted`. Each is asked before any is waited for: ranks
 * answer together or not at all. YS_EPROTOCOL: an adapter failed, as `evidence` now says. */
static ys_status ask(struct asker *asker, ys_json **requests, const char *wanted, ys_session_on_message on_message,
                     ys_json **replies)
{
    const double before_s = used_s(asker);
    const uint64_t asked_ns = ys_time_ns();
    ys_status status = YS_OK;
    for (size_t r = 0; r < asker->count; r++) { /* a request is taken even by a session that failed */
        ys_status sent =
            ys_session_send(asker->sessions[r], requests[r], on_message, on_message ? &asker->losses[r] : NULL);
        status = status == YS_OK ? sent : status;
    }
    YS_TRY(status);
    YS_TRY(await(asker, replies));
    asker->took.span_s = (double)(ys_time_ns() - asked_ns) * 1e-9;
    asker->took.cpu_s = used_s(asker) - before_s;
    for (size_t r = 0; r < asker->count; r++) {
        const char *type = ys_message_type(replies[r]);
        if (strcmp(type, wanted) == 0)
            continue;
        char *text = ys_format("it answered \"%s\" where \"%s\" was due", type, wanted);
        status = refuse(asker->evidence, YS_RUN_PROTOCOL_ERROR, text);
        ys_free(text);
        free_replies(asker, replies);
        return status;
    }
    return YS_OK;
}

/* The same question for all. */
static void repeat(const struct asker *asker, ys_json *request, ys_json **requests)
{
    requests[0] = request;
    for (size_t r = 1; r < asker->count; r++)
        requests[r] = ys_json_copy(request);
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
static ys_status open_answer(struct asker *asker, const char *path, size_t rank, struct ys_safetensors **file)
{
    ys_status status = ys_evidence_open(path, asker->plans[rank].folder, asker->mapped, file);
    if (status == YS_OK)
        return YS_OK;
    return refuse(asker->evidence, status == YS_EPROTOCOL ? YS_RUN_PROTOCOL_ERROR : YS_RUN_WRONG_OUTPUT, ys_error());
}

/* What several ranks show, as one process would: rows of all, means of losses, and what they hold in common, which must
 * be the same to the bit. */
static ys_status join(struct asker *asker, enum ys_answer answer, int64_t batch, struct ys_safetensors **files,
                      struct ys_safetensors **joined)
{
    double shares[YS_SESSIONS_MOST];
    for (size_t r = 0; r < asker->count; r++)
        shares[r] = ys_share_of(asker->shares, (int64_t)asker->count, batch, (int64_t)r);
    const struct ys_join_request request = {.graph = asker->graph,
                                            .files = files,
                                            .count = asker->count,
                                            .shares = shares,
                                            .has_rows = answer == YS_ANSWER_FORWARD,
                                            .folder = asker->plans[0].folder};
    ys_status status = ys_ranks_join_files(&request, joined);
    return status == YS_EPROTOCOL ? refuse(asker->evidence, YS_RUN_WRONG_OUTPUT, ys_error()) : status;
}

/* Hands over what the files named by `paths`, one of each rank, say. */
static ys_status take_files(struct asker *asker, const char *const *paths, enum ys_answer answer, int64_t batch)
{
    struct ys_safetensors *files[YS_SESSIONS_MOST] = {NULL}, *joined = NULL;
    ys_status status = YS_OK;
    for (size_t r = 0; status == YS_OK && r < asker->count; r++)
        status = open_answer(asker, paths[r], r, &files[r]);
    if (status == YS_OK && asker->count > 1)
        status = join(asker, answer, batch, files, &joined);
    if (status == YS_OK) {
        status = asker->on_answer(asker->context, answer, batch, asker->count > 1 ? &joined : &files[0]);
        asker->failed = status != YS_OK;
    }
    for (size_t r = 0; r < asker->count; r++)
        ys_safetensors_close(files[r]);
    ys_safetensors_close(joined);
    return status;
}

static ys_status ask_tensors(struct asker *asker, ys_json *request, enum ys_answer answer, int64_t batch)
{
    ys_json *requests[YS_SESSIONS_MOST], *replies[YS_SESSIONS_MOST];
    const char *paths[YS_SESSIONS_MOST];
    struct ys_message said;
    repeat(asker, request, requests);
    YS_TRY(ask(asker, requests, "tensors", NULL, replies));
    for (size_t r = asker->count; r-- > 0;) { /* rank 0 last: what it says beside the path counts */
        ys_message_read(replies[r], &said);
        paths[r] = said.tensors.path;
    }
    if (said.tensors.multiply_adds >= 0)
        asker->evidence->multiply_adds = said.tensors.multiply_adds;
    ys_status status = take_files(asker, paths, answer, batch);
    free_replies(asker, replies);
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
    double *loss = context;
    struct ys_message said;
    ys_message_read(block, &said);
    *loss = ys_json_number(ys_json_at(said.block.loss, 0), NAN);
    return YS_OK;
}

/* The first step on the way that a run is timed on. */
static ys_status train_first(struct asker *asker)
{
    ys_json *requests[YS_SESSIONS_MOST], *replies[YS_SESSIONS_MOST];
    repeat(asker, ys_request_train(0, 1, 1), requests);
    YS_TRY(ask(asker, requests, "done", take_block, replies));
    free_replies(asker, replies);
    asker->evidence->first.span_s += asker->took.span_s;
    asker->evidence->first.cpu_s += asker->took.cpu_s;
    return YS_OK;
}

/* It, and the weights after it into `paths`. */
static ys_status train_once(struct asker *asker, char *const *paths)
{
    const char *dtype = ys_name_of(&ys_precisions, (int)ys_format_of(asker->plans[0].precision)->kept);
    ys_json *requests[YS_SESSIONS_MOST], *replies[YS_SESSIONS_MOST];
    YS_TRY(train_first(asker));
    double sum = 0;
    for (size_t r = 0; r < asker->count; r++) {
        sum += ys_share_of(asker->shares, (int64_t)asker->count, 0, (int64_t)r) * asker->losses[r];
        requests[r] = ys_request_save(paths[r], dtype);
    }
    asker->evidence->train_loss = sum;
    YS_TRY(ask(asker, requests, "saved", NULL, replies));
    free_replies(asker, replies);
    return YS_OK;
}

static ys_status ask_trained(struct asker *asker)
{
    char *paths[YS_SESSIONS_MOST];
    for (size_t r = 0; r < asker->count; r++)
        paths[r] = ys_path_join(asker->plans[r].folder, "trained.safetensors");
    ys_status status = train_once(asker, paths);
    if (status == YS_OK)
        status = take_files(asker, (const char *const *)paths, YS_ANSWER_FIRST_STEP, 0);
    for (size_t r = 0; r < asker->count; r++)
        ys_free(paths[r]);
    return status;
}

static bool chooses_equals(const ys_json *deviations)
{
    static const char begin[] = "of equal values";
    bool does = false;
    for (size_t i = 0; i < ys_json_size(deviations); i++)
        does |= strncmp(ys_json_text(ys_json_at(deviations, i), ""), begin, sizeof begin - 1) == 0;
    return does;
}

static ys_status ask_open(struct asker *asker)
{
    ys_json *requests[YS_SESSIONS_MOST], *replies[YS_SESSIONS_MOST];
    struct ys_message said;
    for (size_t r = 0; r < asker->count; r++)
        requests[r] = ys_request_open(&asker->plans[r]);
    YS_TRY(ask(asker, requests, "opened", NULL, replies));
    ys_message_read(replies[0], &said);
    asker->evidence->parameters = said.opened.parameters;
    asker->evidence->open = asker->took;
    asker->evidence->chooses_equals = chooses_equals(said.opened.deviations);
    free_replies(asker, replies);
    return YS_OK;
}

static ys_status ask_passes(struct asker *asker, const struct ys_questions *questions)
{
    if (!questions->evaluation && !questions->forward_only) {
        YS_TRY(ask_batch(asker, questions, YS_ANSWER_BACKWARD, questions->first));
        asker->evidence->first = asker->took;
    }
    for (int64_t b = 0; b < questions->batches; b++) {
        YS_TRY(ask_batch(asker, questions, YS_ANSWER_FORWARD, questions->first + b));
        if (asker->evidence->first.span_s == 0)
            asker->evidence->first = asker->took;
    }
    return YS_OK;
}

static ys_status ask_all_steps(struct asker *asker, const struct ys_questions *questions)
{
    if (questions->start)
        YS_TRY(ask_steps(asker, 0, YS_ANSWER_START));
    if (questions->steps == 0)
        return questions->timed ? train_first(asker) : YS_OK;
    YS_TRY(questions->trained ? ask_trained(asker) : ask_steps(asker, 1, YS_ANSWER_FIRST_STEP));
    return questions->steps > 1 ? ask_steps(asker, questions->steps - 1, YS_ANSWER_LAST_STEP) : YS_OK;
}

static ys_status ask_input_gradient(struct asker *asker, const struct ys_questions *questions)
{
    struct ys_message hello;
    ys_message_read(ys_session_hello(asker->sessions[0]), &hello);
    if (!ys_input_gradient_is_due(&asker->plans[0], hello.hello.features))
        return YS_OK;
    for (int lot = 0; lot < YS_INPUT_LOTS && questions->inputs[lot]; lot++)
        YS_TRY(ask_tensors(asker, ys_request_input_gradient(questions->inputs[lot], questions->cotangent[lot]),
                           YS_ANSWER_INPUT_GRADIENT, lot));
    return YS_OK;
}

static ys_status ask_all(struct asker *asker, const struct ys_questions *questions)
{
    YS_TRY(ask_open(asker));
    YS_TRY(ask_passes(asker, questions));
    /* By the first weights: those after all steps may have gone astray where a step's do not show it. */
    YS_TRY(ask_input_gradient(asker, questions));
    return ask_all_steps(asker, questions);
}

/* The CPUs of the plan, as the launcher takes them. */
static int *plan_cpus(const struct ys_plan *plan)
{
    const int64_t *listed = plan->cpus.items;
    int *cpus = ys_alloc(plan->cpus.count, sizeof *cpus);
    for (size_t i = 0; i < plan->cpus.count; i++)
        cpus[i] = (int)listed[i];
    return cpus;
}

/* An adapter that failed is an answer, not a failure of yardstick. */
static ys_status settle(struct asker *asker, ys_status status)
{
    struct ys_session_end ends[YS_SESSIONS_MOST] = {{0}}, fed = {0};
    struct ys_evidence *evidence = asker->evidence;
    bool have_begun = true;
    for (size_t r = 0; r < asker->count; r++)
        have_begun = have_begun && (asker->sessions[r] || asker->feeder.session);
    char *said = ys_strdup(ys_error());
    ys_ranks_bye(asker->sessions, asker->count);
    for (size_t r = 0; r < asker->count; r++)
        ys_session_close(asker->sessions[r], &ends[r]);
    ys_feeder_end(&asker->feeder, &ends[0], &fed);
    ys_session_end_fini(&fed);
    const size_t culprit = ys_ranks_culprit(ends, asker->count);
    if (!have_begun || asker->failed || status == YS_EINTR || status == YS_EINTERNAL) {
        status = status == YS_OK ? status : ys_fail(status, "%s", said ? said : ""); /* not the adapter failed */
    } else if (status != YS_OK && !evidence->status) {
        char *text = ys_session_end_text(&ends[culprit], said);
        evidence->status = ends[culprit].status != YS_RUN_OK ? ends[culprit].status : YS_RUN_PROTOCOL_ERROR;
        evidence->message =
            asker->count > 1 ? ys_format("rank %zu of %zu: %s", culprit, asker->count, text ? text : "") : text;
        if (asker->count > 1)
            ys_free(text);
        status = YS_OK;
    } else {
        status = YS_OK;
    }
    for (size_t r = 0; r < asker->count; r++)
        ys_session_end_fini(&ends[r]);
    ys_free(said);
    return status;
}

static ys_status begin(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *extra_env,
                       double patience_s, double stop_grace_s, struct ys_session **session, struct ys_feeder *feeder)
{
    char **env = NULL;
    int *cpus = plan_cpus(plan);
    struct ys_launch launch = {.argv = (const char *const *)framework->argv,
                               .program = framework->is_own ? YS_PROGRAM_OWN : YS_PROGRAM_MEASURED,
                               .folder = plan->folder,
                               .kept = framework->cache,
                               .cpus = cpus,
                               .cpu_count = plan->cpus.count,
                               .sample_hz = LOOKS_HZ,
                               .stall_limit_s = patience_s,
                               .run_time_limit_s = YS_EVIDENCE_PATIENCE_S,
                               .stop_grace_s = stop_grace_s,
                               .rank = plan->dist.rank};
    *session = NULL;
    ys_start_env(framework, (int)plan->threads, plan->options, extra_env, &env);
    launch.env = (const char *const *)env;
    if (feeder)
        *feeder = YS_FEEDER_NONE;
    ys_status status = feeder ? ys_feeder_start(plan, &launch, feeder) : YS_OK;
    if (feeder)
        ys_feeder_pass(feeder, &launch);
    if (status == YS_OK)
        status = ys_session_begin(&launch, session);
    if (feeder)
        ys_feeder_passed(feeder);
    ys_start_env_free(env);
    ys_free(cpus);
    return status;
}

ys_status ys_evidence_start(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *extra_env,
                            double patience_s, double stop_grace_s, struct ys_session **session,
                            struct ys_feeder *feeder)
{
    ys_json *none;
    YS_TRY(begin(framework, plan, extra_env, patience_s, stop_grace_s, session, feeder));
    while (ys_session_is_busy(*session))
        ys_session_turn(session, 1, UINT64_MAX);
    return ys_session_answer(*session, &none, NULL);
}

/* Whoever does not know of several processes would train each alone. */
static ys_status check_feature(const struct asker *asker)
{
    for (size_t r = 0; asker->count > 1 && r < asker->count; r++)
        if (!ys_message_has_feature(ys_session_hello(asker->sessions[r]), "dist"))
            return ys_session_fail(asker->sessions[r], YS_RUN_UNSUPPORTED, "it does not declare the feature dist");
    return YS_OK;
}

static ys_status start_all(struct asker *asker, const struct ys_framework *framework, const ys_json *extra_env,
                           double patience_s)
{
    ys_json *replies[YS_SESSIONS_MOST];
    for (size_t r = 0; r < asker->count; r++)
        YS_TRY(begin(framework, &asker->plans[r], extra_env, patience_s, STOP_GRACE_S, &asker->sessions[r],
                     asker->count == 1 ? &asker->feeder : NULL));
    YS_TRY(await(asker, replies)); /* hello has no other */
    struct ys_message said;
    ys_message_read(ys_session_hello(asker->sessions[0]), &said);
    asker->evidence->features = ys_json_copy(said.hello.features);
    return check_feature(asker);
}

static ys_status prepare(struct asker *asker, const struct ys_framework *framework, const struct ys_plan *plan)
{
    asker->plans = ys_alloc(asker->count, sizeof *asker->plans);
    asker->losses = ys_alloc(asker->count, sizeof *asker->losses);
    if (asker->count > 1) {
        YS_TRY(ys_dist_place_take(YS_DIST_LOOPBACK, &asker->place));
        YS_TRY(ys_graph_read(plan->graph, &asker->graph));
        YS_TRY(ys_shares_open(plan->input.path, plan->input.order, plan->dist.world, &asker->shares));
    }
    for (size_t r = 0; r < asker->count; r++) {
        asker->losses[r] = NAN;
        YS_TRY(ys_rank_plan(plan, (int64_t)r, &asker->place, &asker->plans[r]));
        YS_TRY(ys_framework_model_file(framework, &asker->plans[r]));
    }
    return YS_OK;
}

static void free_asker(struct asker *asker)
{
    for (size_t r = 0; asker->plans && r < asker->count; r++) {
        ys_framework_model_file_remove(&asker->plans[r]);
        ys_plan_fini(&asker->plans[r]);
    }
    ys_free(asker->plans);
    ys_free(asker->losses);
    ys_graph_free(asker->graph);
    ys_shares_close(asker->shares);
    ys_dist_place_give_back(&asker->place);
}

ys_status ys_evidence_collect(const struct ys_framework *framework, const struct ys_plan *plan,
                              const ys_json *extra_env, double patience_s, const struct ys_questions *questions,
                              ys_on_answer on_answer, void *context, struct ys_evidence *evidence)
{
    *evidence = (struct ys_evidence){.parameters = -1, .multiply_adds = -1, .train_loss = NAN};
    struct asker asker = {.count = (size_t)plan->dist.world,
                          .feeder = YS_FEEDER_NONE,
                          .place = YS_DIST_NO_PLACE,
                          .evidence = evidence,
                          .mapped = questions->mapped,
                          .on_answer = on_answer,
                          .context = context};
    if (asker.count > YS_SESSIONS_MOST)
        return ys_fail(YS_EINVAL, "a proof of %zu ranks: at most %d are followed", asker.count, YS_SESSIONS_MOST);
    ys_status status = prepare(&asker, framework, plan);
    if (status == YS_OK)
        status = start_all(&asker, framework, extra_env, patience_s);
    if (status == YS_OK)
        status = ask_all(&asker, questions);
    status = settle(&asker, status);
    free_asker(&asker);
    return status;
}
