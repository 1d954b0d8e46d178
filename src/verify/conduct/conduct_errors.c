/* Errors. What is saved is in conduct_weights.c. */
#include "verify/conduct/conduct.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "protocol/request.h"
#include "verify/conduct/conduct_session.h"

#include <stdio.h>
#include <string.h>

#define NONSUCH "Nonsuch" /* an operator, an option, ... that nobody has */

ys_status ys_conduct_hello(const struct ys_conduct *conduct, ys_json **hello, char **message)
{
    struct ys_manners m = {.conduct = conduct};
    *hello = NULL;
    *message = NULL;
    ys_status status = ys_manners_start(&m);
    if (status == YS_OK && !m.trouble) {
        *hello = ys_json_copy(ys_session_hello(m.session));
        status = ys_manners_end(&m, NULL);
    }
    *message = m.trouble;
    return status;
}

/* What is asked for that must be answered by an error. */
struct provocation {
    const char *name;
    const char *code;                                                /* of the error */
    const char *named;                                               /* what the error must name, or NULL */
    ys_json *(*message)(const struct ys_conduct *);                  /* NULL: the plan below is opened */
    ys_status (*spoil)(const struct ys_conduct *, struct ys_plan *); /* makes the plan one that cannot be opened */
};

static ys_json *say_nonsense(const struct ys_conduct *conduct)
{
    (void)conduct;
    return ys_request(NONSUCH);
}

static ys_json *say_other_protocol(const struct ys_conduct *conduct)
{
    (void)conduct;
    ys_json *message = ys_request("hello");
    ys_json_set_int(message, "protocol", 99);
    return message;
}

static ys_json *say_forward(const struct ys_conduct *conduct)
{
    (void)conduct;
    return ys_request_pass("forward", 0, "eval");
}

static ys_json *say_input_gradient(const struct ys_conduct *conduct)
{
    (void)conduct;
    return ys_request("input_gradient");
}

static ys_json *say_batch_beyond(const struct ys_conduct *conduct)
{
    return ys_request_pass("forward", conduct->plan->steps, "eval");
}

static ys_json *say_dream(const struct ys_conduct *conduct)
{
    (void)conduct;
    return ys_request_pass("forward", 0, "dream");
}

static ys_json *say_steps_back(const struct ys_conduct *conduct)
{
    (void)conduct;
    return ys_request_step(-1);
}

static ys_json *say_train_elsewhere(const struct ys_conduct *conduct)
{
    (void)conduct;
    return ys_request_train(3, 4, YS_MANNERS_BLOCK);
}

static ys_json *say_infer(const struct ys_conduct *conduct)
{
    ys_json *message = ys_request("infer");
    ys_json_set_int(message, "requests", 1);
    ys_json_set_int(message, "batch", conduct->plan->batch);
    return message;
}

static ys_json *say_save_other(const struct ys_conduct *conduct)
{
    char *path = ys_path_join(conduct->folder, "other");
    ys_json *message = ys_request_save(path, NULL);
    ys_json_set_string(message, "format", NONSUCH);
    ys_free(path);
    return message;
}

static ys_json *say_open(const struct ys_conduct *conduct)
{
    return ys_request_open(conduct->plan);
}

/* No plan of ours can say that. */
static ys_json *say_other_precision(const struct ys_conduct *conduct)
{
    ys_json *plan = ys_record_json(&ys_plan_record, conduct->plan), *message = ys_request("open");
    ys_json_set_string(plan, "precision", NONSUCH);
    ys_json_set(message, "plan", plan);
    return message;
}

/* The graph with another name for its ReLUs, which no struct of ours can have: as text. */
static ys_status other_op(const struct ys_conduct *conduct, struct ys_plan *plan)
{
    struct ys_buf graph = {0};
    char *path = ys_path_join(conduct->folder, "other-graph.json"), *text = NULL;
    ys_status status = ys_fs_read(plan->graph, (size_t)1 << 24, &graph);
    if (status == YS_OK)
        text = ys_replace(ys_buf_text(&graph), "\"Relu\"", "\"" NONSUCH "\"");
    if (status == YS_OK)
        status = ys_fs_write(path, text, strlen(text));
    if (status == YS_OK)
        ys_set_text(&plan->graph, path);
    ys_buf_free(&graph);
    ys_free(text);
    ys_free(path);
    return status;
}

static ys_status other_option(const struct ys_conduct *conduct, struct ys_plan *plan)
{
    ys_json *options = ys_json_copy(conduct->plan->options);
    ys_json_set_bool(options, NONSUCH, true);
    ys_json_free(plan->options);
    plan->options = options;
    return YS_OK;
}

static ys_status other_optimizer(const struct ys_conduct *conduct, struct ys_plan *plan)
{
    (void)conduct;
    ys_set_text(&plan->optimizer.name, NONSUCH);
    return YS_OK;
}

static ys_status cut_weights(const struct ys_conduct *conduct, struct ys_plan *plan)
{
    struct ys_buf whole = {0};
    char *path = ys_path_join(conduct->folder, "cut.safetensors");
    ys_status status = ys_fs_read(plan->weights, (size_t)1 << 30, &whole);
    if (status == YS_OK)
        status = ys_fs_write(path, ys_buf_text(&whole), whole.size / 2);
    if (status == YS_OK)
        ys_set_text(&plan->weights, path);
    ys_buf_free(&whole);
    ys_free(path);
    return status;
}

static ys_status no_weights(const struct ys_conduct *conduct, struct ys_plan *plan)
{
    char *path = ys_path_join(conduct->folder, "there-is-no-such.safetensors");
    ys_set_text(&plan->weights, path);
    ys_free(path);
    return YS_OK;
}

/* Those that come before a plan is open. */
static const struct provocation closed[] = {
    {"a message that there is not", "unsupported", NONSUCH, say_nonsense, NULL},
    {"hello of protocol 99", "unsupported", NULL, say_other_protocol, NULL},
    {"forward before open", "protocol_error", NULL, say_forward, NULL},
    {"an operator that there is not", "unsupported", NONSUCH, NULL, other_op},
    {"an option that there is not", "unsupported", NONSUCH, NULL, other_option},
    {"a precision that there is not", "unsupported", NONSUCH, say_other_precision, NULL},
    {"an optimizer that there is not", "unsupported", NONSUCH, NULL, other_optimizer},
    {"a file of weights cut in half", "load_failed", NULL, NULL, cut_weights},
    {"a file of weights that is not there", "load_failed", NULL, NULL, no_weights},
};
/* Those that come after. */
static const struct provocation opened[] = {
    {"open a second time", "protocol_error", NULL, say_open, NULL},
    {"a batch beyond the last", "protocol_error", NULL, say_batch_beyond, NULL},
    {"a mode that there is not", "protocol_error", NULL, say_dream, NULL},
    {"a number of steps below 0", "protocol_error", NULL, say_steps_back, NULL},
    {"training from another step", "protocol_error", NULL, say_train_elsewhere, NULL},
    {"infer in a plan for training", "protocol_error", NULL, say_infer, NULL},
    {"save in another format", "unsupported", NONSUCH, say_save_other, NULL},
    {"input_gradient, which it does not declare", "unsupported", NULL, say_input_gradient, NULL},
    {"input_gradient of no file", "protocol_error", NULL, say_input_gradient, NULL},
};

static ys_status make_message(const struct ys_conduct *conduct, const struct provocation *p, ys_json **message)
{
    if (p->message) {
        *message = p->message(conduct);
        return YS_OK;
    }
    struct ys_plan plan;
    YS_TRY(ys_plan_copy(conduct->plan, &plan));
    ys_status status = p->spoil(conduct, &plan);
    *message = status == YS_OK ? ys_request_open(&plan) : NULL;
    ys_plan_fini(&plan);
    return status;
}

/* Why `reply` is not the error that was due; NULL when it is. New string. */
static char *judge(const struct provocation *p, const ys_json *reply)
{
    struct ys_message said;
    ys_message_read(reply, &said);
    if (strcmp(said.type, "error") != 0)
        return ys_format("it answered \"%s\" where an error of code %s was due", said.type, p->code);
    const char *message = said.error.message, *op = said.error.op;
    if (strcmp(said.error.code, p->code) != 0)
        return ys_format("its error has code %s, not %s: %s", said.error.code, p->code, message ? message : "");
    if (p->named && !(message && strstr(message, p->named)) && !(op && strstr(op, p->named)))
        return ys_format("its error does not name \"%s\": %s", p->named, message ? message : "");
    return NULL;
}

/* An adapter that answers wrongly goes on in an unknown state: the next case gets a fresh one. */
static ys_status provoke(struct ys_manners *m, const struct provocation *p, bool plan_is_open)
{
    ys_json *message = NULL, *reply = NULL;
    char *wrong = NULL;
    YS_TRY(make_message(m->conduct, p, &message));
    ys_status status = m->session ? YS_OK : ys_manners_start(m);
    if (status == YS_OK && plan_is_open && !m->is_open)
        status = ys_manners_need(m, say_open(m->conduct), NULL);
    if (status == YS_OK && !m->trouble)
        status = ys_manners_ask(m, message, &reply);
    else
        ys_json_free(message);
    m->is_open = plan_is_open;
    if (status == YS_OK && !m->trouble)
        wrong = judge(p, reply);
    ys_json_free(reply);
    bool right = !m->trouble && !wrong;
    if (status == YS_OK)
        status = ys_manners_say(m, p->name, right ? YS_CONDUCT_PASS : YS_CONDUCT_FAIL, m->trouble ? m->trouble : wrong);
    ys_free(wrong);
    if (!right)
        ys_manners_fini(m);
    return status;
}

/* Whether the adapter could not be asked at all without what it does not declare. */
static bool concerns(const struct ys_message *said, const struct provocation *p)
{
    const ys_json *features = said->hello.features;
    if (p->message == say_train_elsewhere || p->spoil == other_optimizer)
        return ys_json_lists(features, "train");
    if (p->message == say_infer)
        return ys_json_lists(features, "train") && ys_json_lists(features, "infer");
    if (p->message == say_input_gradient)
        return ys_json_lists(features, "input_gradient") == (strcmp(p->code, "protocol_error") == 0);
    if (p->message == say_save_other)
        return ys_json_lists(features, "save");
    return true;
}

ys_status ys_conduct_errors(const struct ys_conduct *conduct, const struct ys_message *hello)
{
    struct ys_manners m = {.conduct = conduct};
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < sizeof closed / sizeof closed[0]; i++)
        if (concerns(hello, &closed[i]))
            status = provoke(&m, &closed[i], false);
    for (size_t i = 0; status == YS_OK && i < sizeof opened / sizeof opened[0]; i++)
        if (concerns(hello, &opened[i]))
            status = provoke(&m, &opened[i], true);
    if (status == YS_OK && m.session) {
        status = ys_manners_need(&m, say_forward(conduct), NULL);
        if (status == YS_OK)
            status = ys_manners_say(&m, "it goes on after all these errors",
                                    m.trouble ? YS_CONDUCT_FAIL : YS_CONDUCT_PASS, m.trouble);
    }
    if (status == YS_OK && m.session && !m.trouble)
        status = ys_manners_end(&m, "it ends with exit code 0 after bye");
    ys_manners_fini(&m);
    return status;
}
