#include "verify/trace.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "graph/expose_values.h"
#include "graph/op.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/proof_plan.h"
#include "verify/oracle/tensor_error.h"
#include "verify/oracle/twin.h"
#include "verify/verify.h"

#include <math.h>

struct tracer {
    const struct ys_trace_request *request;
    struct ys_graph *graph; /* without dropout */
    struct ys_tap tap;
    char *graph_path, *tap_path, *order_path;
    struct ys_proof_extent extent;
    bool evaluation;
};

/* One of the two passes: what is asked, and the figures of each place. */
struct trace_pass {
    const char *graph_path;
    struct ys_questions questions;
    size_t count; /* places: values forward, parameters backward */
    double *errors, *bounds;
    char *reason; /* why the framework, or the oracle, gave no answer */
};

static ys_status write_graph(const struct ys_graph *graph, const char *folder, const char *name, char **path)
{
    *path = ys_path_join(folder, name);
    ys_json *json = ys_graph_to_json(graph);
    ys_status status = ys_json_write(*path, json);
    ys_json_free(json);
    return status;
}

static ys_status open_work(struct tracer *t)
{
    const struct ys_plan *plan = t->request->plan;
    const char *folder = t->request->folder;
    YS_TRY(ys_graph_read(plan->graph, &t->graph));
    (void)ys_proof_drop_dropout(t->graph);
    YS_TRY(ys_tap_make(t->graph, &t->tap));
    YS_TRY(write_graph(t->graph, folder, "graph.json", &t->graph_path));
    YS_TRY(write_graph(t->tap.graph, folder, "tap.json", &t->tap_path));
    t->order_path = ys_path_join(folder, "order.safetensors");
    t->extent = ys_proof_extent(t->graph, plan->batch);
    t->evaluation = !ys_mode_of(plan->mode)->trains;
    return ys_proof_order_write(plan, t->extent, t->order_path);
}

static void close_work(struct tracer *t)
{
    ys_tap_fini(&t->tap);
    ys_graph_free(t->graph);
    ys_free(t->graph_path);
    ys_free(t->tap_path);
    ys_free(t->order_path);
}

static ys_status keep(void *context, enum ys_answer answer, int64_t batch, struct ys_safetensors **file)
{
    struct ys_safetensors **kept = context;
    (void)answer;
    (void)batch;
    ys_safetensors_close(*kept);
    *kept = *file;
    *file = NULL;
    return YS_OK;
}

static enum ys_precision format_of(const struct tracer *t)
{
    return t->request->in_format ? (enum ys_precision)t->request->plan->precision : YS_PRECISION_F64;
}

static ys_status make_plan(const struct tracer *t, const struct trace_pass *pass, enum ys_precision precision,
                           struct ys_plan *plan)
{
    const struct ys_trace_request *request = t->request;
    YS_TRY(ys_proof_plan(request->plan, t->extent, pass->graph_path, t->order_path, precision, request->folder, plan));
    plan->dist.world = 1;                        /* values inside the network are those of one process, */
    plan->prompt = plan->tokens = YS_FIELD_NONE; /* and of whole rows */
    return YS_OK;
}

/* Of yardstick's own engine. YS_EUNSUPPORTED: its back end cannot do this; YS_EPROTOCOL: it broke off. */
static ys_status ask_oracle(const struct tracer *t, const struct trace_pass *pass, const struct ys_plan *plan,
                            struct ys_safetensors **file)
{
    struct ys_evidence said = {0};
    ys_status status = ys_evidence_collect(t->request->oracle, plan, NULL, YS_EVIDENCE_PATIENCE_S, &pass->questions,
                                           keep, file, &said);
    if (status == YS_OK && said.status) {
        bool lacks = said.status == YS_RUN_UNSUPPORTED;
        status = ys_fail(lacks ? YS_EUNSUPPORTED : YS_EPROTOCOL, "the oracle ended as %s: %s",
                         ys_run_status_name(said.status), said.message ? said.message : "no message");
    }
    ys_evidence_fini(&said);
    return status;
}

/* Raises each figure to that of `file` where it is larger. */
static void measure(const struct tracer *t, const struct trace_pass *pass, const struct ys_safetensors *file,
                    const struct ys_safetensors *ref, double *figures)
{
    if (pass->questions.batches == 0) {
        double *errors = ys_alloc(pass->count, sizeof *errors);
        ys_error_each(t->graph, YS_ROLE_WEIGHT, "grad.", file, ref, NULL, errors);
        for (size_t p = 0; p < pass->count; p++)
            figures[p] = fmax(figures[p], errors[p]);
        ys_free(errors);
        return;
    }
    const struct ys_tensor *theirs = ys_safetensors_find(file, "logits"), *ours = ys_safetensors_find(ref, "logits");
    for (size_t i = 0; i < pass->count; i++)
        figures[i] = fmax(figures[i], ys_error_columns(theirs, ours, t->tap.slices[i].offset, t->tap.slices[i].length));
}

static ys_status ask_twin(const struct tracer *t, struct trace_pass *pass, const struct ys_plan *plan, int twin,
                          const struct ys_safetensors *ref)
{
    const char *folder = t->request->folder;
    struct ys_safetensors *file = NULL;
    struct ys_plan moved;
    YS_TRY(ys_proof_plan_builtin(plan, NULL, folder, &moved));
    ys_status status = ys_twin_write(&moved, twin, 0, folder);
    if (status == YS_OK)
        status = ask_oracle(t, pass, &moved, &file);
    if (status == YS_EUNSUPPORTED) { /* as in a proof */
        ys_proof_plan_backend(&moved, "ref");
        status = ask_oracle(t, pass, &moved, &file);
    }
    if (status == YS_OK)
        measure(t, pass, file, ref, pass->bounds);
    ys_safetensors_close(file);
    ys_plan_fini(&moved);
    return status;
}

/* What rounding alone does at each place. */
static ys_status ask_twins(const struct tracer *t, struct trace_pass *pass, const struct ys_safetensors *ref)
{
    struct ys_plan plan;
    YS_TRY(make_plan(t, pass, format_of(t), &plan));
    ys_status status = YS_OK;
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_TWINS; twin++)
        status = ask_twin(t, pass, &plan, twin, ref);
    for (size_t i = 0; i < pass->count; i++)
        pass->bounds[i] = YS_VERIFY_TWIN_FACTOR * fmax(pass->bounds[i], YS_VERIFY_TWIN_LEAST);
    ys_plan_fini(&plan);
    return status;
}

static ys_status ask_framework(const struct tracer *t, struct trace_pass *pass, const struct ys_safetensors *ref)
{
    const struct ys_trace_request *request = t->request;
    struct ys_safetensors *file = NULL;
    struct ys_evidence said = {0};
    struct ys_plan plan;
    YS_TRY(make_plan(t, pass, format_of(t), &plan));
    ys_status status = ys_evidence_collect(request->framework, &plan, request->env, request->patience_s,
                                           &pass->questions, keep, &file, &said);
    if (status == YS_OK && said.status)
        pass->reason =
            ys_format("the adapter ended as %s: %s", ys_run_status_name(said.status), said.message ? said.message : "");
    else if (status == YS_OK)
        measure(t, pass, file, ref, pass->errors);
    ys_safetensors_close(file);
    ys_evidence_fini(&said);
    ys_plan_fini(&plan);
    return status;
}

/* What both are held against. */
static ys_status ask_reference(const struct tracer *t, const struct trace_pass *pass, struct ys_safetensors **ref)
{
    struct ys_plan plan, asked;
    YS_TRY(make_plan(t, pass, YS_PRECISION_F64, &plan));
    ys_status status = ys_proof_plan_builtin(&plan, "ref", t->request->folder, &asked);
    if (status == YS_OK) {
        status = ask_oracle(t, pass, &asked, ref);
        ys_plan_fini(&asked);
    }
    ys_plan_fini(&plan);
    return status;
}

static ys_status ask_all(const struct tracer *t, struct trace_pass *pass, double bound)
{
    struct ys_safetensors *ref = NULL;
    pass->errors = ys_alloc(pass->count, sizeof *pass->errors);
    pass->bounds = ys_alloc(pass->count, sizeof *pass->bounds);
    ys_status status = ask_reference(t, pass, &ref);
    if (status == YS_OK && t->request->in_format)
        status = ask_twins(t, pass, ref);
    for (size_t i = 0; !t->request->in_format && i < pass->count; i++)
        pass->bounds[i] = bound;
    if (status == YS_OK)
        status = ask_framework(t, pass, ref);
    if (status == YS_EPROTOCOL) { /* nothing to compare with: that ends this trace and nothing else */
        pass->reason = ys_strdup(ys_error());
        status = YS_OK;
    }
    ys_safetensors_close(ref);
    return status;
}

static void add_place(struct ys_proof_pass *half, const struct ys_node *node, const char *name,
                      const struct trace_pass *pass, size_t place)
{
    ys_proof_add_place(half, node->name, ys_op_name(node->op), name, pass->errors[place], pass->bounds[place]);
}

static void finish(struct trace_pass *pass)
{
    ys_free(pass->errors);
    ys_free(pass->bounds);
    ys_free(pass->reason);
}

/* Its reason becomes that of `half`. */
static void take_reason(struct trace_pass *pass, struct ys_proof_pass *half)
{
    half->reason = pass->reason;
    pass->reason = NULL;
}

static ys_status trace_forward(const struct tracer *t, struct ys_proof_pass *half)
{
    struct trace_pass pass = {.graph_path = t->tap_path,
                              .questions = {.evaluation = t->evaluation, .forward_only = true, .batches = 1},
                              .count = t->tap.count};
    ys_status status = ask_all(t, &pass, t->request->forward_bound);
    for (size_t i = 0; status == YS_OK && !pass.reason && i < pass.count; i++) {
        const struct ys_tap_slice *slice = &t->tap.slices[i];
        add_place(half, &t->graph->nodes[slice->node], t->graph->values[slice->value].name, &pass, i);
    }
    take_reason(&pass, half);
    finish(&pass);
    return status;
}

/* From the loss back: the last node first, and in each node its last parameter. */
static ys_status trace_backward(const struct tracer *t, struct ys_proof_pass *half)
{
    struct trace_pass pass = {.graph_path = t->graph_path, .count = t->graph->param_count};
    ys_status status = ask_all(t, &pass, t->request->backward_bound);
    for (size_t n = t->graph->node_count; status == YS_OK && !pass.reason && n-- > 0;) {
        const struct ys_node *node = &t->graph->nodes[n];
        for (int which = YS_NODE_RUNNING_MEAN; which-- > 0;) {
            const int param = ys_node_param(node, (enum ys_node_param)which);
            if (param >= 0)
                add_place(half, node, t->graph->params[param].name, &pass, (size_t)param);
        }
    }
    take_reason(&pass, half);
    finish(&pass);
    return status;
}

static ys_status add_backward(const struct tracer *t, struct ys_proof_trace *trace)
{
    trace->backward = ys_alloc(1, sizeof *trace->backward);
    ys_record_init(&ys_proof_pass_record, trace->backward);
    return trace_backward(t, trace->backward);
}

ys_status ys_trace_make(const struct ys_trace_request *request, struct ys_proof_trace *trace)
{
    struct tracer tracer = {.request = request};
    ys_record_init(&ys_proof_trace_record, trace);
    ys_status status = open_work(&tracer);
    trace->precision = format_of(&tracer);
    if (status == YS_OK)
        status = trace_forward(&tracer, &trace->forward);
    if (status == YS_OK && !tracer.evaluation)
        status = add_backward(&tracer, trace);
    close_work(&tracer);
    if (status != YS_OK)
        ys_record_fini(&ys_proof_trace_record, trace);
    return status;
}
