/* Weights that are saved and loaded again. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "framework/network_file.h"
#include "protocol/request.h"
#include "verify/conduct/conduct_session.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/tensor_error.h"

#include <math.h>
#include <string.h>

enum { STEPS = 3 };

/* The same steps twice, or the same logits: nothing differs but perhaps the order in which several threads add up. A
 * few units in float32's last place for each of some hundred sums. */
static const double AGAIN_BOUND = 0x1p-16;

struct keeper {
    struct ys_manners m;
    struct ys_graph *graph;
    char *saved;         /* path */
    struct ys_plan plan; /* of the process that loads what was saved */
    /* Of the first process: weights after some steps, as step gave them, after save, and after a reset and training;
     * its logits. Of the second: weights as loaded, logits. */
    struct ys_safetensors *stepped, *file, *trained, *loaded, *logits, *again;
};

static ys_status note(const struct keeper *k, const char *name, const struct ys_worst *found, double bound)
{
    const struct ys_manners *m = &k->m;
    if (m->trouble)
        return ys_manners_say(m, name, YS_CONDUCT_FAIL, m->trouble);
    const struct ys_conduct_case line = {.name = name,
                                         .verdict = found->error <= bound ? YS_CONDUCT_PASS : YS_CONDUCT_FAIL,
                                         .error = isfinite(found->error) ? found->error : (double)NAN,
                                         .bound = bound,
                                         .worst = found->name[0] ? found->name : NULL};
    return m->conduct->on_case(m->conduct->context, &line);
}

/* Asks for a file of tensors and opens it; nothing where there is trouble. */
static ys_status ask_tensors(struct keeper *k, ys_json *message, struct ys_safetensors **file)
{
    ys_json *reply = NULL;
    YS_TRY(ys_manners_need(&k->m, message, &reply));
    struct ys_message said;
    ys_message_read(reply, &said);
    if (reply && ys_evidence_open(said.tensors.path, k->m.conduct->folder, false, file) != YS_OK)
        k->m.trouble = ys_strdup(ys_error());
    ys_json_free(reply);
    return YS_OK;
}

/* Equal to the last digit, of every parameter and buffer. */
static struct ys_worst compare_exactly(const struct ys_graph *graph, const struct ys_safetensors *a,
                                       const struct ys_safetensors *b)
{
    struct ys_worst worst = {0};
    for (size_t p = 0; a && b && p < graph->param_count; p++) {
        const struct ys_tensor *ta = ys_safetensors_find(a, graph->params[p].name);
        const struct ys_tensor *tb = ys_safetensors_find(b, graph->params[p].name);
        if (!tb || !ys_tensors_equal(ta, tb))
            ys_worst_raise(&worst, INFINITY, graph->params[p].name);
    }
    return worst;
}

static void compare_nearly(const struct ys_graph *graph, const struct ys_safetensors *a, const struct ys_safetensors *b,
                           struct ys_worst *worst)
{
    struct ys_worst buffers = {0};
    *worst = (struct ys_worst){0};
    if (!a || !b)
        return;
    ys_error_parameters(graph, YS_ROLE_WEIGHT, "", a, b, NULL, worst);
    ys_error_parameters(graph, YS_ROLE_BUFFER, "", a, b, NULL, &buffers);
    ys_worst_raise(worst, buffers.error, buffers.name);
}

static ys_status ask_first(struct keeper *k, bool trains)
{
    struct ys_worst worst;
    YS_TRY(ys_manners_start(&k->m));
    YS_TRY(ys_manners_need(&k->m, ys_request_open(k->m.conduct->plan), NULL));
    YS_TRY(ask_tensors(k, ys_request_step(trains ? STEPS : 0), &k->stepped));
    YS_TRY(ask_tensors(k, ys_request_pass("forward", 0, "eval"), &k->logits));
    YS_TRY(ys_manners_need(&k->m, ys_request_save(k->saved, NULL), NULL));
    if (!k->m.trouble && ys_safetensors_load(k->saved, &k->file) != YS_OK)
        k->m.trouble = ys_strdup(ys_error());
    worst = compare_exactly(k->graph, k->stepped, k->file);
    YS_TRY(note(k, "save writes the weights that step gave", &worst, 0));
    if (k->m.trouble || !trains)
        return YS_OK;
    YS_TRY(ys_manners_need(&k->m, ys_request("reset"), NULL));
    YS_TRY(ys_manners_need(&k->m, ys_request_train(0, STEPS, YS_MANNERS_BLOCK), NULL));
    YS_TRY(ask_tensors(k, ys_request_step(0), &k->trained));
    compare_nearly(k->graph, k->trained, k->stepped, &worst);
    return note(k, "after a reset, train comes to the weights of step", &worst, AGAIN_BOUND);
}

static ys_status ask_second(struct keeper *k)
{
    struct ys_worst worst;
    YS_TRY(ys_framework_model_file(k->m.conduct->framework, &k->plan));
    YS_TRY(ys_manners_start(&k->m));
    YS_TRY(ys_manners_need(&k->m, ys_request_open(&k->plan), NULL));
    YS_TRY(ask_tensors(k, ys_request_step(0), &k->loaded));
    worst = compare_exactly(k->graph, k->file, k->loaded);
    YS_TRY(note(k, "saved weights are loaded as they are", &worst, 0));
    YS_TRY(ask_tensors(k, ys_request_pass("forward", 0, "eval"), &k->again));
    worst = (struct ys_worst){0};
    if (k->again)
        ys_worst_raise(&worst,
                       ys_error_max(ys_safetensors_find(k->again, "logits"), ys_safetensors_find(k->logits, "logits")),
                       "logits");
    return note(k, "loaded weights give the logits of those that were saved", &worst, AGAIN_BOUND);
}

static ys_status prepare(struct keeper *k)
{
    const struct ys_conduct *conduct = k->m.conduct;
    YS_TRY(ys_graph_read(conduct->plan->graph, &k->graph));
    k->saved = ys_path_join(conduct->folder, "saved.safetensors");
    YS_TRY(ys_plan_copy(conduct->plan, &k->plan));
    ys_set_text(&k->plan.weights, k->saved);
    return YS_OK;
}

ys_status ys_conduct_weights(const struct ys_conduct *conduct, const struct ys_message *hello)
{
    struct keeper k = {.m.conduct = conduct};
    if (!ys_json_lists(hello->hello.features, "save"))
        return ys_manners_say(&k.m, "weights saved and loaded", YS_CONDUCT_UNSUPPORTED, "it does not declare save");
    ys_status status = prepare(&k);
    if (status == YS_OK)
        status = ask_first(&k, ys_json_lists(hello->hello.features, "train"));
    if (status == YS_OK && k.file)
        status = ask_second(&k);
    ys_manners_fini(&k.m);
    struct ys_safetensors *files[] = {k.stepped, k.file, k.trained, k.loaded, k.logits, k.again};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        ys_safetensors_close(files[i]);
    ys_graph_free(k.graph);
    ys_plan_fini(&k.plan);
    ys_free(k.saved);
    return status;
}
