#include "verify/replay.h"

#include "base/fs.h"
#include "base/mem.h"
#include "data/order.h"
#include "run/session.h"
#include "verify/evidence.h"

#include <math.h>
#include <string.h>

static const double STOP_GRACE_S = 0.001; /* of an engine that has said all */

/* The steps' rows and rates as an order of their own. */
static ys_status write_order(const struct ys_replay *replay, const char *path)
{
    const char *source = ys_json_get_text(ys_json_get(replay->plan, "input"), "order", "");
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *order, *lr;
    YS_TRY(ys_safetensors_open(source, &file));
    ys_status status = ys_safetensors_need(file, "order", YS_U32, 2, NULL, &order);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "lr", YS_F64, 1, NULL, &lr);
    if (status == YS_OK && (order->shape[0] < replay->first + replay->steps || lr->shape[0] < order->shape[0]))
        status = ys_fail(YS_EINTERNAL, "%s has no step %lld", source, (long long)(replay->first + replay->steps - 1));
    if (status == YS_OK)
        status = ys_order_save(path, (const uint32_t *)order->data + replay->first * order->shape[1], order->shape[1],
                               replay->steps, (const double *)lr->data + replay->first);
    ys_safetensors_close(file);
    return status;
}

static ys_status make_plan(const struct ys_replay *replay, const char *backend, const char *order, ys_json **made)
{
    ys_json *plan = ys_json_copy(replay->plan), *options = ys_json_object();
    if (backend)
        ys_json_set_string(options, "backend", backend);
    ys_json_set(plan, "options", options);
    ys_json_set_string(ys_json_get(plan, "input"), "order", order);
    ys_json_set_int(plan, "steps", replay->steps);
    ys_json_set_int(plan, "block", replay->steps);
    ys_json_set_int(plan, "seed", ys_json_get_int(plan, "seed", 0) + replay->seed);
    if (replay->precision)
        ys_json_set_string(plan, "precision", replay->precision);
    if (replay->weights)
        ys_json_set_string(plan, "weights", replay->weights);
    if (replay->velocity)
        ys_json_set_string(plan, "velocity", replay->velocity);
    if (ys_json_set_string(plan, "folder", replay->folder) == YS_OK) {
        *made = plan;
        return YS_OK;
    }
    ys_json_free(plan);
    return ys_out_of_memory();
}

struct taker {
    double *losses;
    int64_t steps, count;
};

static ys_status take_block(void *context, const ys_json *block)
{
    struct taker *taker = context;
    const ys_json *losses = ys_json_get(block, "loss");
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

static ys_json *message(const char *type)
{
    ys_json *made = ys_json_object();
    ys_json_set_string(made, "type", type);
    return made;
}

static ys_status ask_all(struct ys_session *session, ys_json *plan, struct taker *taker, const char *saved)
{
    ys_json *open = message("open"), *train = message("train"), *save = message("save");
    ys_json_set(open, "plan", ys_json_ref(plan));
    ys_json_set_int(train, "from", 0);
    ys_json_set_int(train, "to", taker->steps);
    ys_json_set_int(train, "block", taker->steps);
    ys_json_set_string(save, "format", "safetensors");
    ys_json_set_string(save, "dtype", strcmp(ys_json_get_text(plan, "precision", ""), "f64") == 0 ? "f64" : "f32");
    ys_json_set_string(save, "path", saved);
    ys_status status = ask(session, open, NULL, NULL);
    if (status == YS_OK)
        status = ask(session, train, take_block, taker);
    else
        ys_json_free(train);
    if (status == YS_OK && saved)
        status = ask(session, save, NULL, NULL);
    else
        ys_json_free(save);
    for (int64_t i = 0; status == YS_OK && i < taker->steps; i++)
        if (i >= taker->count || !isfinite(taker->losses[i]))
            status = ys_fail(YS_EPROTOCOL, "the built-in engine's loss of step %lld is no number", (long long)i);
    return status;
}

static ys_status run_with(const struct ys_replay *replay, const char *backend, const char *order, const char *saved,
                          double *losses)
{
    struct ys_session *session = NULL;
    struct ys_session_end end = {0};
    struct taker taker = {.losses = losses, .steps = replay->steps};
    ys_json *plan = NULL;
    YS_TRY(make_plan(replay, backend, order, &plan));
    ys_status status = ys_evidence_start(replay->engine, plan, NULL, YS_EVIDENCE_PATIENCE_S, STOP_GRACE_S, &session);
    if (status == YS_OK)
        status = ask_all(session, plan, &taker, saved);
    char *said = status == YS_OK ? NULL : ys_strdup(ys_error());
    if (session)
        ys_session_close(session, &end);
    ys_json_free(plan);
    if (status != YS_OK && session && status != YS_EINTR && status != YS_ENOMEM && status != YS_EUNSUPPORTED)
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
    ys_status status = order && saved ? run_named(replay, order, saved, losses, after) : ys_out_of_memory();
    ys_free(order);
    ys_free(saved);
    return status;
}
