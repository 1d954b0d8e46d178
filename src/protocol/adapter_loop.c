#include "protocol/adapter_loop.h"
#include "base/clock.h"
#include "base/json/shared_words.h"
#include "base/log.h"
#include "base/mem.h"
#include "protocol/answer_ring.h"
#include "protocol/channel.h"
#include "protocol/emulator_counter.h"
#include "protocol/latency_message.h"
#include "protocol/messages.h"
#include "protocol/run_status.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Requests are told of at least this often, so that yardstick sees them go on. */
static const uint64_t LATENCIES_SPAN_NS = 250000000;

struct server {
    const struct ys_adapter_ops *ops;
    void *self;
    struct ys_channel *channel;
    struct ys_plan plan;
    bool is_open; /* the plan */
    const struct ys_mode_facts *mode;
    int64_t batch, steps; /* of the plan */
    bool in_double;       /* its precision */
    int64_t next;         /* the step that comes next; -1 after a failure in the middle of training */
    struct ys_block_line line;
    const volatile uint64_t *counter; /* of instructions, for one thread; NULL: nobody counts */
    bool done;
};

struct adapter_request {
    const ys_json *message;
    ys_json *reply; /* an object; the answer when the handler succeeds, its member `op` is kept when it fails */
};

typedef ys_status (*handler)(struct server *server, const struct adapter_request *request);

const char *ys_adapter_error_code(ys_status status, const char *stage)
{
    const bool opens = strcmp(stage, ys_stage_name(YS_STAGE_OPEN)) == 0;
    switch (status) {
    case YS_EUNSUPPORTED:
        return ys_run_status_name(YS_RUN_UNSUPPORTED);
    case YS_ENOMEM:
        return ys_run_status_name(YS_RUN_OOM_HOST);
    case YS_EPROTOCOL:
        return ys_run_status_name(YS_RUN_PROTOCOL_ERROR);
    case YS_EINVAL:
        return ys_run_status_name(opens ? YS_RUN_BUILD_FAILED : YS_RUN_PROTOCOL_ERROR);
    default:
        return ys_run_status_name(opens ? YS_RUN_LOAD_FAILED : YS_RUN_CRASHED);
    }
}

ys_status ys_adapter_set_names(ys_json *object, const char *key, const char *const *names)
{
    ys_json *array = ys_json_array();
    for (; *names; names++) {
        ys_status status = ys_json_append(array, ys_json_string(*names));
        if (status != YS_OK) {
            ys_json_free(array);
            return status;
        }
    }
    return ys_json_set(object, key, array);
}

/* An integer member within [low, high]. */
static ys_status need_int(const ys_json *object, const char *key, int64_t low, int64_t high, int64_t *value)
{
    const ys_json *member = ys_json_get(object, key);
    if (ys_json_type_of(member) != YS_JSON_INT)
        return ys_fail(YS_EPROTOCOL, "member \"%s\" must be an integer", key);
    int64_t got = ys_json_integer(member, 0);
    if (got < low || got > high)
        return ys_fail(YS_EPROTOCOL, "member \"%s\" is %lld; it must lie between %lld and %lld", key, (long long)got,
                       (long long)low, (long long)high);
    *value = got;
    return YS_OK;
}

static ys_status describe(const struct ys_adapter_ops *ops, ys_json *reply)
{
    static const char *const devices[] = {"cpu", NULL};
    const struct ys_adapter_about *about = &ops->about;
    const struct {
        const char *name;
        bool is_there;
    } known[] = {
#define QUESTION(upper, name, reply, part, mode) {#name, YS_STAGE_##upper != YS_STAGE_RESET && ops->name},
        YS_QUESTIONS_OF_PLANS(QUESTION)
#undef QUESTION
            {"state", ops->save_state},
        {"answers", ops->infer && !about->no_work},
        {"dist", about->dist}};
    const char *features[sizeof known / sizeof known[0] + 1] = {NULL};
    for (size_t i = 0, count = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].is_there)
            features[count++] = known[i].name;
    YS_TRY(ys_json_set_string(reply, "adapter", about->adapter));
    YS_TRY(ys_json_set_string(reply, "framework", about->framework));
    YS_TRY(ys_json_set_string(reply, "version", YS_VERSION));
    YS_TRY(ys_json_set_string(reply, "runtime", "C"));
    YS_TRY(ys_adapter_set_names(reply, "devices", devices));
    YS_TRY(ys_adapter_set_names(reply, "precisions", about->precisions));
    YS_TRY(ys_adapter_set_names(reply, "ops", about->ops));
    YS_TRY(ys_adapter_set_names(reply, "optimizers", about->optimizers));
    YS_TRY(ys_adapter_set_names(reply, "features", features));
    if (about->forms)
        YS_TRY(ys_adapter_set_names(reply, "forms", about->forms));
    return ys_json_set_bool(reply, "no_work", about->no_work);
}

static ys_status on_hello(struct server *server, const struct adapter_request *request)
{
    int64_t protocol;
    YS_TRY(need_int(request->message, "protocol", 1, INT64_MAX, &protocol));
    if (protocol != YS_PROTOCOL_VERSION)
        return ys_fail(YS_EUNSUPPORTED, "protocol %lld is unknown; this adapter speaks protocol %d",
                       (long long)protocol, YS_PROTOCOL_VERSION);
    YS_TRY(ys_json_set_string(request->reply, "type", "hello"));
    YS_TRY(ys_json_set_int(request->reply, "protocol", YS_PROTOCOL_VERSION));
    return describe(server->ops, request->reply);
}

static bool has_mode(const struct ys_adapter_ops *ops, enum ys_mode mode)
{
    switch (mode) {
    case YS_MODE_TRAIN:
        return true;
    case YS_MODE_INFER:
        return ops->infer != NULL;
    case YS_MODE_ATTACK:
        return ops->input_gradient != NULL;
    case YS_MODE_SIZE:
        return ops->infer != NULL && ops->save_form != NULL;
    }
    return false;
}

/* The plan in `server` is read; the message loop takes what it needs of it. */
static ys_status open_plan(struct server *server, const struct adapter_request *request)
{
    const struct ys_plan *plan = &server->plan;
    server->mode = ys_mode_of(plan->mode);
    if (plan->dist.world > 1 && (!server->mode->trains || !server->ops->about.dist))
        return ys_fail(YS_EUNSUPPORTED, "this adapter has no work of mode \"%s\" for %lld processes",
                       ys_name_of(&ys_modes, plan->mode), (long long)plan->dist.world);
    if (plan->dist.world > 1 && plan->dist.strategy == YS_STRATEGY_SHARDED)
        return ys_fail(YS_EUNSUPPORTED, "strategy \"sharded\": each process of this adapter holds the whole network");
    if (plan->dist.world > 1 && plan->dist.strategy == YS_STRATEGY_ALONE && !server->ops->about.alone)
        return ys_fail(YS_EUNSUPPORTED, "strategy \"alone\": processes of this adapter always exchange gradients");
    if (!has_mode(server->ops, server->mode->mode))
        return ys_fail(YS_EUNSUPPORTED, "mode \"%s\" is not among those of this adapter, which has \"train\"",
                       ys_name_of(&ys_modes, plan->mode));
    if (ys_plan_has_prompt(plan) && !server->ops->infer_piece)
        return ys_fail(YS_EUNSUPPORTED, "prompt = %lld: this adapter answers rows whole: write prompt = none",
                       (long long)plan->prompt);
    server->batch = plan->batch;
    server->steps = plan->steps;
    server->in_double = ys_format_of(plan->precision)->dtype == YS_F64;
    YS_TRY(ys_json_set_string(request->reply, "type", "opened"));
    return server->ops->open(server->self, plan, request->reply);
}

static ys_status on_open(struct server *server, const struct adapter_request *request)
{
    if (server->is_open)
        return ys_fail(YS_EPROTOCOL, "a plan is already open; one adapter process runs one plan");
    YS_TRY(ys_plan_read(ys_json_get(request->message, "plan"), &server->plan));
    ys_status status = open_plan(server, request);
    server->is_open = status == YS_OK;
    server->next = 0;
    if (status != YS_OK)
        ys_plan_fini(&server->plan);
    return status;
}

static ys_status on_reset(struct server *server, const struct adapter_request *request)
{
    YS_TRY(ys_json_set_string(request->reply, "type", "done"));
    YS_TRY(server->ops->reset(server->self));
    server->next = 0;
    return YS_OK;
}

/* "<folder>/<what>-<number><suffix>.safetensors", put into the reply as `path`; borrowed from there. */
static ys_status name_tensors(struct server *server, ys_json *reply, const char *what, int64_t number,
                              const char *suffix, const char **path)
{
    char *text = ys_format("%s/%s-%lld%s.safetensors", server->plan.folder, what, (long long)number, suffix);
    if (!text)
        return ys_out_of_memory();
    ys_status status = ys_json_set_string(reply, "path", text);
    ys_free(text);
    YS_TRY(status);
    *path = ys_json_get_text(reply, "path", NULL);
    return ys_json_set_string(reply, "type", "tensors");
}

/* The arguments that forward and backward share. */
static ys_status pass_arguments(struct server *server, const struct adapter_request *request, const char *what,
                                int64_t *batch, bool *train_mode, const char **path)
{
    YS_TRY(need_int(request->message, "batch", 0, server->steps - 1, batch));
    const char *mode = ys_json_get_text(request->message, "mode", "");
    *train_mode = strcmp(mode, "train") == 0;
    if (!*train_mode && strcmp(mode, "eval") != 0)
        return ys_fail(YS_EPROTOCOL, "member \"mode\" is \"%s\"; it must be \"train\" or \"eval\"", mode);
    if (*train_mode && !server->mode->trains)
        return ys_fail(YS_EPROTOCOL, "member \"mode\" is \"train\"; in a plan of mode \"%s\" it must be \"eval\"",
                       ys_name_of(&ys_modes, (int)server->mode->mode));
    return name_tensors(server, request->reply, what, *batch, *train_mode ? "-train" : "-eval", path);
}

static ys_status on_forward(struct server *server, const struct adapter_request *request)
{
    int64_t batch;
    bool train_mode;
    const char *path;
    YS_TRY(pass_arguments(server, request, "forward", &batch, &train_mode, &path));
    return server->ops->forward(server->self, batch, train_mode, path, request->reply);
}

static ys_status on_backward(struct server *server, const struct adapter_request *request)
{
    int64_t batch;
    bool train_mode;
    const char *path;
    YS_TRY(pass_arguments(server, request, "backward", &batch, &train_mode, &path));
    return server->ops->backward(server->self, batch, train_mode, path);
}

static ys_status check_counter(const struct server *server)
{
    if (server->next < 0)
        return ys_fail(YS_EPROTOCOL, "training failed before; send \"reset\" first");
    return YS_OK;
}

static ys_status on_step(struct server *server, const struct adapter_request *request)
{
    YS_TRY(check_counter(server));
    int64_t count, first = server->next;
    YS_TRY(need_int(request->message, "n", 0, server->mode->trains ? server->steps - first : 0, &count));
    const char *path;
    YS_TRY(name_tensors(server, request->reply, "step", first + count, "", &path));
    server->next = -1;
    YS_TRY(server->ops->step(server->self, first, count, path));
    server->next = first + count;
    return YS_OK;
}

static ys_status train_blocks(struct server *server, int64_t to, int64_t block)
{
    while (server->next < to) {
        int64_t first = server->next, count = to - first < block ? to - first : block;
        struct ys_block measured = ys_block_begin(&server->line);
        server->next = -1;
        YS_TRY(server->ops->train(server->self, first, count, &measured));
        YS_ASSERT(measured.loss_count <= (size_t)count && measured.stamp_count <= (size_t)count);
        size_t size = ys_block_line_format(&server->line, first, count, &measured);
        YS_TRY(ys_channel_send_line(server->channel, server->line.text, size));
        server->next = first + count;
    }
    return YS_OK;
}

static ys_status on_train(struct server *server, const struct adapter_request *request)
{
    YS_TRY(check_counter(server));
    int64_t from, to, block;
    YS_TRY(need_int(request->message, "from", 0, server->steps, &from));
    YS_TRY(need_int(request->message, "to", from, server->steps, &to));
    YS_TRY(need_int(request->message, "block", 1, YS_PROTOCOL_BLOCK_LIMIT, &block));
    if (from != server->next)
        return ys_fail(YS_EPROTOCOL, "training cannot start at step %lld: the next step is %lld", (long long)from,
                       (long long)server->next);
    YS_TRY(ys_json_set_string(request->reply, "type", "done"));
    YS_TRY(ys_block_line_init(&server->line, (size_t)block));
    ys_status status = train_blocks(server, to, block);
    ys_block_line_fini(&server->line);
    return status;
}

/* One request: the rows of `batch`, whole or piece by piece. */
static ys_status answer_one(const struct server *server, int64_t batch, uint64_t asked_ns, struct ys_latencies *l,
                            struct ys_adapter_logits *logits)
{
    const struct ys_adapter_ops *ops = server->ops;
    if (l->tokens == 0)
        return ops->infer(server->self, batch, logits);
    for (size_t piece = 0; piece <= l->tokens; piece++) {
        YS_TRY(ops->infer_piece(server->self, batch, (int64_t)piece, logits));
        const uint64_t now_ns = ys_time_ns();
        *(piece == 0 ? &l->prompt_ns[l->count] : &l->token_ns[l->count * l->tokens + piece - 1]) = now_ns - asked_ns;
        asked_ns = now_ns;
    }
    return YS_OK;
}

/* Of one request, where an emulator counts: what ran since it had counted `before`. */
static void count_request(const volatile uint64_t *counter, uint64_t before, struct ys_latencies *l)
{
    if (counter)
        l->instructions[l->count] = *counter - before;
}

/* Requests from latencies->first on, until the message is full, or due, or no request is left. To show an answer is
 * part of it: what is shown later could be made later. */
static ys_status answer_requests(const struct server *server, int64_t requests, struct ys_ring *ring,
                                 struct ys_latencies *l)
{
    l->count = 0;
    l->t_start_ns = l->t_end_ns = ys_time_ns();
    while (ys_latencies_have_room(l) && l->first + (int64_t)l->count < requests &&
           l->t_end_ns - l->t_start_ns < LATENCIES_SPAN_NS) {
        const int64_t request = l->first + (int64_t)l->count, batch = request % server->steps;
        struct ys_adapter_logits logits = {0};
        uint64_t asked_ns = ys_time_ns(), before = server->counter ? *server->counter : 0;
        YS_TRY(answer_one(server, batch, asked_ns, l, &logits));
        count_request(server->counter, before, l);
        if (ring && logits.values)
            ys_ring_write(ring, request, batch, logits.values, logits.count, logits.in_double);
        l->t_end_ns = ys_time_ns();
        l->latency_ns[l->count++] = l->t_end_ns - asked_ns;
    }
    return YS_OK;
}

static ys_status on_infer(struct server *server, const struct adapter_request *request)
{
    int64_t requests, batch;
    YS_TRY(need_int(request->message, "requests", 1, INT64_MAX, &requests));
    YS_TRY(need_int(request->message, "batch", server->batch, server->batch, &batch));
    YS_TRY(ys_json_set_string(request->reply, "type", "done"));
    const char *answers = ys_json_get_text(request->message, "answers", NULL);
    struct ys_ring *ring = NULL;
    struct ys_latencies *latencies = ys_alloc(1, sizeof *latencies);
    ys_status status = latencies ? YS_OK : ys_out_of_memory();
    if (latencies && ys_plan_has_prompt(&server->plan))
        latencies->tokens = (size_t)server->plan.tokens;
    if (status == YS_OK && answers && !server->ops->about.no_work)
        status = ys_ring_open(answers, &ring);
    server->counter = server->plan.threads == 1 ? ys_emulator_counter() : NULL;
    if (latencies)
        latencies->counted = server->counter != NULL;
    while (status == YS_OK && latencies->first < requests) {
        status = answer_requests(server, requests, ring, latencies);
        if (status == YS_OK)
            status = ys_channel_send_line(server->channel, latencies->text, ys_latencies_format(latencies));
        latencies->first += (int64_t)latencies->count;
    }
    ys_ring_close(ring);
    ys_free(latencies);
    return status;
}

/* An absolute path; NULL where it is not there and need not be. */
static ys_status take_path(const ys_json *message, const char *key, bool need, const char **path)
{
    *path = ys_json_get_text(message, key, NULL);
    if (*path ? (*path)[0] == '/' : !need && !ys_json_get(message, key))
        return YS_OK;
    return ys_fail(YS_EPROTOCOL, "member \"%s\" must be an absolute path", key);
}

static ys_status on_input_gradient(struct server *server, const struct adapter_request *request)
{
    const char *inputs, *cotangent, *path;
    if (server->plan.dist.world > 1 || ys_plan_has_prompt(&server->plan))
        return ys_fail(YS_EUNSUPPORTED, "input_gradient is of one process, and of rows that are answered whole");
    YS_TRY(take_path(request->message, "path", true, &inputs));
    YS_TRY(take_path(request->message, "cotangent", false, &cotangent));
    YS_TRY(name_tensors(server, request->reply, "input-gradient", 0, "", &path));
    return server->ops->input_gradient(server->self, inputs, cotangent, path, request->reply);
}

static bool has_form(const struct ys_adapter_about *about, const char *form)
{
    for (size_t i = 0; about->forms && about->forms[i]; i++)
        if (strcmp(about->forms[i], form) == 0)
            return true;
    return false;
}

static ys_status save_form(const struct server *server, const struct adapter_request *request, const char *form)
{
    const char *path;
    YS_TRY(take_path(request->message, "path", true, &path));
    if (!server->ops->save_form || !has_form(&server->ops->about, form))
        return ys_fail(YS_EUNSUPPORTED, "this adapter saves no form \"%s\"", form);
    YS_TRY(server->ops->save_form(server->self, form, path));
    YS_TRY(ys_json_set_string(request->reply, "type", "saved"));
    return ys_json_set_string(request->reply, "path", path);
}

static ys_status on_save(struct server *server, const struct adapter_request *request)
{
    const char *form = ys_json_get_text(request->message, "form", NULL);
    if (form)
        return save_form(server, request, form);
    const char *format = ys_json_get_text(request->message, "format", "");
    if (strcmp(format, "safetensors") != 0)
        return ys_fail(YS_EUNSUPPORTED, "this adapter saves the format \"safetensors\", not \"%s\"", format);
    const char *path;
    YS_TRY(take_path(request->message, "path", true, &path));
    const char *dtype = ys_json_get_text(request->message, "dtype", "f32");
    const int precision = ys_name_find(&ys_precisions, dtype);
    const bool in_double = precision == YS_PRECISION_F64;
    if ((!in_double && precision != YS_PRECISION_F32) || (in_double && !server->in_double))
        return ys_fail(YS_EUNSUPPORTED, "this adapter saves f32, and f64 in a plan of that precision, not \"%s\"",
                       dtype);
    const bool with_state = ys_json_get_bool(request->message, "state", false);
    if (with_state && !server->ops->save_state)
        return ys_fail(YS_EUNSUPPORTED, "this adapter does not save the optimizer's state");
    YS_TRY(with_state ? server->ops->save_state(server->self, path) : server->ops->save(server->self, path, in_double));
    struct stat saved;
    if (stat(path, &saved) != 0)
        return ys_fail(YS_EIO, "cannot find what was saved as %s: %s", path, strerror(errno));
    YS_TRY(ys_json_set_string(request->reply, "type", "saved"));
    YS_TRY(ys_json_set_string(request->reply, "path", path));
    return ys_json_set_int(request->reply, "bytes", (int64_t)saved.st_size);
}

enum { YS_MODE_ANY = YS_NAME_NONE };

static const struct question {
    const char *type;
    handler answer;
    enum ys_stage stage; /* of the same name */
    int mode;            /* that the plan must have */
} of_plans[] = {
#define QUESTION(upper, name, reply, part, mode) {#name, on_##name, YS_STAGE_##upper, YS_MODE_##mode},
    YS_QUESTIONS_OF_PLANS(QUESTION)
#undef QUESTION
};

/* Whether there is a function for a question that needs an open plan. */
static bool is_there(const struct ys_adapter_ops *ops, enum ys_stage question)
{
    switch (question) {
#define QUESTION(upper, name, reply, part, mode)                                                                       \
    case YS_STAGE_##upper:                                                                                             \
        return ops->name != NULL;
        YS_QUESTIONS_OF_PLANS(QUESTION)
#undef QUESTION
    default:
        return false;
    }
}

static ys_status check_mode(const struct server *server, const struct question *question)
{
    const int mode = (int)server->mode->mode;
    const bool fits = question->mode == YS_MODE_INFER ? server->mode->answers : question->mode == mode;
    return question->mode == YS_MODE_ANY || fits
               ? YS_OK
               : ys_fail(YS_EPROTOCOL, "\"%s\" needs a plan of mode \"%s\"; this one's is \"%s\"", question->type,
                         ys_name_of(&ys_modes, question->mode), ys_name_of(&ys_modes, mode));
}

static ys_status dispatch(struct server *server, const char *type, const struct adapter_request *request)
{
    if (strcmp(type, "hello") == 0)
        return on_hello(server, request);
    if (strcmp(type, "open") == 0)
        return on_open(server, request);
    server->done = strcmp(type, "bye") == 0;
    if (server->done)
        return YS_OK;
    for (size_t i = 0; i < sizeof of_plans / sizeof of_plans[0]; i++) {
        const struct question *question = &of_plans[i];
        if (strcmp(type, question->type) != 0 || !is_there(server->ops, question->stage))
            continue;
        if (!server->is_open)
            return ys_fail(YS_EPROTOCOL, "no plan is open; send \"open\" before \"%s\"", type);
        YS_TRY(check_mode(server, question));
        return question->answer(server, request);
    }
    return ys_fail(YS_EUNSUPPORTED, "this adapter cannot answer the message \"%s\"", type);
}

static ys_status make_error(ys_status status, const char *stage, const char *op, ys_json *error)
{
    YS_TRY(ys_json_set_string(error, "type", "error"));
    YS_TRY(ys_json_set_string(error, "code", ys_adapter_error_code(status, stage)));
    YS_TRY(ys_json_set_string(error, "stage", stage));
    if (op)
        YS_TRY(ys_json_set_string(error, "op", op));
    return ys_json_set_string(error, "message", ys_error());
}

static ys_status send_error(struct server *server, ys_status status, const char *stage, const char *op)
{
    ys_json *error = ys_json_object();
    ys_status made = make_error(status, stage, op, error);
    if (made == YS_OK)
        made = ys_channel_send(server->channel, error);
    ys_json_free(error);
    return made;
}

static ys_status answer(struct server *server, const ys_json *message)
{
    const char *type = ys_json_get_text(message, "type", "");
    struct adapter_request request = {.message = message, .reply = ys_json_object()};
    ys_status status = dispatch(server, type, &request);
    if (status != YS_OK)
        status = send_error(server, status, type, ys_json_get_text(request.reply, "op", NULL));
    else if (!server->done)
        status = ys_channel_send(server->channel, request.reply);
    ys_json_free(request.reply);
    return status;
}

static ys_status serve(struct server *server)
{
    while (!server->done) {
        ys_json *message = NULL;
        ys_status status = ys_channel_receive(server->channel, UINT64_MAX, &message);
        if (ys_channel_eof(server->channel) && status != YS_OK)
            return YS_OK;
        if (status == YS_EPROTOCOL) {
            YS_TRY(send_error(server, status, "protocol", NULL));
            return ys_fail(YS_EPROTOCOL, "stopped after a line that is not a message");
        }
        YS_TRY(status);
        status = answer(server, message);
        ys_json_free(message);
        YS_TRY(status);
    }
    return YS_OK;
}

int ys_adapter_serve(const struct ys_adapter_ops *ops, void *self, int fd)
{
    struct server server = {.ops = ops, .self = self};
    ys_status status = ys_channel_open(fd, &server.channel);
    if (status == YS_OK)
        status = serve(&server);
    if (status != YS_OK)
        ys_log_error("%s", ys_error());
    if (server.is_open && ops->close)
        ops->close(self);
    ys_plan_fini(&server.plan);
    ys_channel_close(server.channel);
    return status == YS_OK ? 0 : 1;
}

int ys_adapter_serve_environment(const struct ys_adapter_ops *ops, void *self)
{
    const char *text = getenv("YARDSTICK_FD");
    char *end = NULL;
    long fd = text ? strtol(text, &end, 10) : -1;
    if (!text || end == text || *end || fd < 0 || fd > INT32_MAX) {
        ys_log_error("this program is an adapter: yardstick starts it and names a socket in YARDSTICK_FD, which is %s",
                     text ? text : "not set");
        return 2;
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then an error that can be said */
    return ys_adapter_serve(ops, self, (int)fd);
}
