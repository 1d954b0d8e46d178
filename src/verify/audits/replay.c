#include "verify/audits/replay.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "data/row_order.h"
#include "protocol/request.h"
#include "session/checked_message.h"
#include "session/session.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/proof_plan.h"

#include <math.h>

static const double STOP_GRACE_S = 0.001; /* of an engine that has said all */

/* The steps' rows and rates as an order of their own. */
static ys_status write_order(const struct ys_replay *replay, const char *path)
{
    const char *source = replay->plan->input.order;
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *order, *lr;
    YS_TRY(ys_safetensors_open(source, &file));
    ys_status status = ys_safetensors_need(file, "order", YS_U32, 2, NULL, &order);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "lr", YS_F64, 1, NULL, &lr);
    if (status == YS_OK && (order->shape[0] < replay->first + replay->steps || lr->shape[0] < order->shape[0]))
        status = ys_fail(YS_EINTERNAL, "%s has no step %lld", source, (long long)(replay->first + replay->steps - 1));
    const uint32_t *epochs = status == YS_OK ? ys_order_epochs(file, order->shape[0]) : NULL;
    if (status == YS_OK)
        status = ys_order_save(path, (const uint32_t *)order->data + replay->first * order->shape[1],
                               epochs ? epochs + replay->first : NULL, order->shape[1], replay->steps,
                               (const double *)lr->data + replay->first);
    ys_safetensors_close(file);
    return status;
}

static ys_status make_plan(const struct ys_replay *replay, const char *backend, const char *order, struct ys_plan *plan)
{
    YS_TRY(ys_proof_plan_builtin(replay->plan, backend, replay->folder, plan));
    if (plan->dist.world > 1) {
        ys_plan_fini(plan);
        return ys_fail(YS_EUNSUPPORTED,
                       "steps of %lld ranks, each of which normalises by its own rows, are not gone through again yet",
                       (long long)replay->plan->dist.world);
    }
    plan->steps = plan->block = replay->steps;
    plan->seed += replay->seed;
    plan->precision = replay->precision;
    ys_set_text(&plan->input.order, order);
    if (replay->weights)
        ys_set_text(&plan->weights, replay->weights);
    if (replay->state)
        ys_set_text(&plan->state, replay->state);
    return YS_OK;
}

struct loss_taker {
    double *losses;
    int64_t steps, count;
};

static ys_status take_block(void *context, const ys_json *block)
{
    struct loss_taker *taker = context;
    struct ys_message said;
    ys_message_read(block, &said);
    const ys_json *losses = said.block.loss;
    for (size_t i = 0; i < ys_json_size(losses) && taker->count < taker->steps; i++)
        taker->losses[taker->count++] = ys_json_number(ys_json_at(losses, i), NAN);
    return YS_OK;
}

static ys_status ask(struct ys_session *session, ys_json *request, ys_session_on_message on_message, void *context)
{
    ys_json *reply = NULL;
    ys_status status = ys_session_request(session, request, on_message, context, &reply);
    ys_json_free(reply);
    return status;
}

static ys_status ask_all(struct ys_session *session, const struct ys_plan *plan, struct loss_taker *taker,
                         const char *saved)
{
    const char *dtype = ys_name_of(&ys_precisions, (int)ys_format_of(plan->precision)->kept);
    ys_status status = ask(session, ys_request_open(plan), NULL, NULL);
    if (status == YS_OK)
        status = ask(session, ys_request_train(0, taker->steps, taker->steps), take_block, taker);
    if (status == YS_OK && saved)
        status = ask(session, ys_request_save(saved, dtype), NULL, NULL);
    for (int64_t i = 0; status == YS_OK && i < taker->steps; i++)
        if (i >= taker->count || !isfinite(taker->losses[i]))
            status = ys_fail(YS_EPROTOCOL, "the built-in engine's loss of step %lld is no number", (long long)i);
    return status;
}

static ys_status run_with(const struct ys_replay *replay, const char *backend, const char *order, const char *saved,
                          double *losses)
{
    struct ys_session *session = NULL;
    struct ys_session_end end = {0}, fed = {0};
    struct ys_feeder feeder;
    struct loss_taker taker = {.losses = losses, .steps = replay->steps};
    struct ys_plan plan;
    YS_TRY(make_plan(replay, backend, order, &plan));
    ys_status status =
        ys_evidence_start(replay->engine, &plan, NULL, YS_EVIDENCE_PATIENCE_S, STOP_GRACE_S, &session, &feeder);
    if (status == YS_OK)
        status = ask_all(session, &plan, &taker, saved);
    char *said = status == YS_OK ? NULL : ys_strdup(ys_error());
    const bool is_started = session || feeder.session;
    ys_session_close(session, &end);
    ys_feeder_end(&feeder, &end, &fed);
    ys_session_end_fini(&fed);
    ys_plan_fini(&plan);
    if (status != YS_OK && taker.count == taker.steps && said) /* what it said was wrong, and not how it ended */
        status = ys_fail(status, "%s", said);
    else if (status != YS_OK && is_started && status != YS_EINTR && status != YS_EUNSUPPORTED)
        status = ys_fail(YS_EPROTOCOL, "the built-in engine ended as %s: %s", ys_run_status_name(end.status),
                         end.message ? end.message
                         : said      ? said
                                     : "no message");
    ys_session_end_fini(&end);
    ys_free(said);
    return status;
}

static ys_status run_named(const struct ys_replay *replay, const char *order, const char *saved, double *losses,
                           struct ys_safetensors **after)
{
    const char *wanted = after ? saved : NULL;
    YS_TRY(write_order(replay, order));
    ys_status status = run_with(replay, replay->backend, order, wanted, losses);
    if (status == YS_EUNSUPPORTED && !replay->backend)
        status = run_with(replay, "ref", order, wanted, losses);
    return status == YS_OK && after ? ys_evidence_open(saved, replay->folder, true, after) : status;
}

ys_status ys_replay_run(const struct ys_replay *replay, double *losses, struct ys_safetensors **after)
{
    char *order = ys_path_join(replay->folder, "replay-order.safetensors");
    char *saved = ys_path_join(replay->folder, "replay-after.safetensors");
    ys_status status = run_named(replay, order, saved, losses, after);
    ys_free(order);
    ys_free(saved);
    return status;
}
