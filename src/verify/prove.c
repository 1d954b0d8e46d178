/* The order of a proof: oracle once per work, twins once per work and format, then the framework, then the checks. */
#include "verify/verify.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/steering.h"
#include "probe/host.h"
#include "verify/cached_proofs.h"
#include "verify/oracle/ceiling.h"
#include "verify/oracle/findings.h"
#include "verify/oracle/proof_checks.h"
#include "verify/oracle/reference.h"
#include "verify/oracle/ties.h"
#include "verify/oracle/twin.h"
#include "verify/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What oracle and twins have said of one extent of the work. */
struct extent_findings {
    struct ys_reference reference;
    struct {
        bool asked;
        struct ys_findings worst; /* their worst figures */
        struct ys_findings moved; /* the same of those whose moves the oracle went through, where it did */
    } twins[YS_VERIFY_STEPS];     /* of each batch, */
    int twins_precision;          /* enum ys_precision: in this one */
    char *twins_level;            /* what the job says of their instructions, as JSON; NULL before any was asked */
    bool doubles_asked;
    struct ys_findings doubles; /* the worst figures of the oracle's twins */
};

struct ys_verifier {
    const struct ys_framework *oracle;
    char *machine;          /* CPU model, instruction sets, and variables that trials are given: another proves anew */
    struct ys_working work; /* everything this verifier wrote; removed at the end */
    struct extent_findings few, whole; /* of the work last proven: some rows of many batches, and whole batches */
};

/* Those of the variables {NAME: value} that a program of that kind gets; of own programs this is the level of
 * instructions. As text; new string. */
static char *describe_passing(const ys_json *variables, enum ys_steered_program program)
{
    ys_json *passing = ys_json_object();
    for (void *it = ys_json_iter(variables); it; it = ys_json_next(variables, it))
        if (ys_steering_of(ys_json_iter_key(it)) && ys_steering_passes(ys_json_iter_key(it), program))
            ys_json_set_string(passing, ys_json_iter_key(it), ys_json_text(ys_json_iter_value(it), ""));
    char *text = ys_json_dump(passing, YS_JSON_SORTED);
    ys_json_free(passing);
    return text;
}

/* What of a host its rounding depends on. Which of the instruction sets compute is said by variables such as
 * ONEDNN_MAX_CPU_ISA, each library has its own: they are among those that trials are given. */
static ys_status describe_machine(char **machine)
{
    struct ys_host_known said;
    ys_json *host = NULL;
    YS_TRY(ys_host_describe(&host));
    ys_host_read(host, &said);
    char *isa = ys_json_dump(said.cpu.isa, YS_JSON_SORTED);
    char *steering = describe_passing(said.environment, YS_PROGRAM_MEASURED);
    *machine = ys_format("%s %s %s", said.cpu.model ? said.cpu.model : "?", isa, steering);
    ys_free(isa);
    ys_free(steering);
    ys_json_free(host);
    return YS_OK;
}

ys_status ys_verifier_open(const struct ys_framework *oracle, struct ys_verifier **verifier)
{
    struct ys_verifier *v = ys_alloc(1, sizeof *v);
    v->oracle = oracle;
    ys_status status = ys_working_in_cache("proofs", &v->work);
    if (status == YS_OK)
        status = describe_machine(&v->machine);
    if (status == YS_OK)
        *verifier = v;
    else
        ys_verifier_close(v);
    return status;
}

static void forget_twins(struct extent_findings *of)
{
    for (size_t b = 0; b < YS_VERIFY_STEPS; b++) {
        ys_findings_fini(&of->twins[b].worst);
        ys_findings_fini(&of->twins[b].moved);
        of->twins[b].asked = false;
    }
    ys_free(of->twins_level);
    of->twins_level = NULL;
}

static void forget(struct extent_findings *of)
{
    ys_reference_close(&of->reference);
    ys_findings_fini(&of->doubles);
    of->doubles_asked = false;
    forget_twins(of);
}

static void forget_work(struct ys_verifier *v)
{
    forget(&v->few);
    forget(&v->whole);
}

void ys_verifier_close(struct ys_verifier *verifier)
{
    if (!verifier)
        return;
    forget_work(verifier);
    ys_working_remove(&verifier->work);
    ys_free(verifier->machine);
    ys_free(verifier);
}

/* The folder before, and its lock, are those of the process that was copied. */
ys_status ys_verifier_move(struct ys_verifier *verifier)
{
    struct ys_working work;
    YS_TRY(ys_working_in_cache("proofs", &work));
    verifier->work = work;
    return YS_OK;
}

static void say(const struct ys_verify_request *request, const char *what)
{
    if (request->on_progress)
        request->on_progress(request->context, what);
}

/* A fresh, empty folder below the verifier's; new string. */
static ys_status make_folder(const struct ys_verifier *v, const char *name, char **folder)
{
    *folder = ys_path_join(v->work.path, name);
    ys_status status = ys_fs_remove_tree(*folder);
    if (status == YS_OK)
        status = ys_fs_make_dirs(*folder);
    if (status != YS_OK) {
        ys_free(*folder);
        *folder = NULL;
    }
    return status;
}

static ys_status ask_oracle(struct ys_verifier *v, struct extent_findings *of, const struct ys_verify_request *request,
                            int64_t batch)
{
    char *folder = NULL;
    if (of->reference.batch[batch].asked)
        return YS_OK;
    say(request, of == &v->whole ? "asking the oracle for a whole batch" : "asking the oracle");
    YS_TRY(make_folder(v, "oracle", &folder));
    ys_status status = ys_reference_ask(&of->reference, v->oracle, request->plan, batch, folder);
    ys_free(folder);
    return status;
}

static void raise_all(struct ys_findings *worst, const struct ys_findings *found)
{
    ys_worst_raise(&worst->logits, found->logits.error, found->logits.name);
    ys_worst_raise(&worst->loss, found->loss.error, found->loss.name);
    ys_worst_raise(&worst->gradients, found->gradients.error, found->gradients.name);
    ys_worst_raise(&worst->first, found->first.error, found->first.name);
    ys_worst_raise(&worst->last, found->last.error, found->last.name);
    ys_worst_raise(&worst->buffers, found->buffers.error, found->buffers.name);
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++)
        ys_worst_raise(&worst->input_gradient[lot], found->input_gradient[lot].error, found->input_gradient[lot].name);
}

/* Runs a twin and raises `worst` to what it is found to say. YS_EPROTOCOL: it broke off. */
static ys_status ask_moved(const struct ys_verifier *v, const struct extent_findings *of, const struct ys_plan *plan,
                           const ys_json *env, int twin, const struct ys_questions *questions,
                           struct ys_findings *worst)
{
    struct ys_findings found = {0};
    ys_status status =
        ys_findings_collect(&of->reference, v->oracle, plan, env, YS_EVIDENCE_PATIENCE_S, questions, &found);
    if (status == YS_OK && found.said.status) {
        bool lacks = found.said.status == YS_RUN_UNSUPPORTED;
        status = ys_fail(lacks ? YS_EUNSUPPORTED : YS_EPROTOCOL, "twin %d of the oracle ended as %s: %s", twin,
                         ys_run_status_name(found.said.status), found.said.message ? found.said.message : "no message");
    }
    raise_all(worst, &found);
    ys_findings_fini(&found);
    return status;
}

/* One twin: how far the built-in engine in the trial's format gets from the oracle when everything is moved by one
 * unit. */
static ys_status ask_twin(const struct ys_verifier *v, const struct extent_findings *of, const struct ys_plan *plan,
                          const ys_json *env, int twin, int64_t batch, const char *folder, struct ys_findings *worst)
{
    struct ys_questions questions = {.evaluation = of->reference.evaluation, .first = batch, .batches = 1};
    struct ys_plan moved;
    YS_TRY(ys_proof_plan_builtin(plan, NULL, folder, &moved));
    ys_status status = ys_reference_write_twin(&of->reference, &moved, twin, batch, (enum ys_precision)plan->precision,
                                               folder, &questions);
    if (status == YS_OK)
        status = ask_moved(v, of, &moved, env, twin, &questions, worst);
    /* What the default back end lacks plain C has, and rounds alike, where it has the format. */
    if (status == YS_EUNSUPPORTED && (int)ys_format_of(plan->precision)->kept == plan->precision) {
        ys_proof_plan_backend(&moved, "ref");
        status = ask_moved(v, of, &moved, env, twin, &questions, worst);
    }
    ys_reference_drop_twin(&questions);
    ys_plan_fini(&moved);
    return status;
}

static ys_status ask_double(const struct ys_verifier *v, struct extent_findings *of, const struct ys_plan *plan,
                            int twin, const struct ys_questions *questions, const char *folder)
{
    struct ys_plan moved;
    YS_TRY(ys_proof_plan_builtin(plan, "ref", folder, &moved));
    ys_status status = ys_twin_write_double(&moved, twin, folder);
    if (status == YS_OK)
        status = ask_moved(v, of, &moved, NULL, twin, questions, &of->doubles);
    ys_plan_fini(&moved);
    return status;
}

/* The moves of a twin of the trial's format, and nothing else: the oracle goes through them in double. */
static ys_status ask_moves(const struct ys_verifier *v, struct extent_findings *of, const struct ys_plan *plan,
                           enum ys_precision precision, int twin, int64_t batch, const char *folder)
{
    struct ys_questions questions = {.evaluation = of->reference.evaluation, .first = batch, .batches = 1};
    struct ys_plan moved;
    YS_TRY(ys_proof_plan_builtin(plan, "ref", folder, &moved));
    moved.precision = precision;
    ys_status status =
        ys_reference_write_twin(&of->reference, &moved, twin, batch, YS_PRECISION_F64, folder, &questions);
    moved.precision = YS_PRECISION_F64;
    if (status == YS_OK)
        status = ask_moved(v, of, &moved, NULL, twin, &questions, &of->twins[batch].moved);
    ys_reference_drop_twin(&questions);
    ys_plan_fini(&moved);
    return status;
}

/* Whether the twins of a batch lie below their ceiling. Of a whole batch that is what the proof's own rows say: more
 * rows are moved by as much, and their gradients by less. */
static ys_status check_ceiling(const struct ys_verifier *v, struct extent_findings *of,
                               const struct ys_verify_request *request, int64_t batch, const char *folder,
                               const struct ys_findings *worst)
{
    const enum ys_precision precision = (enum ys_precision)request->plan->precision;
    struct ys_plan plan;
    if (of == &v->whole)
        return ys_ceiling_check(&of->reference, precision, &v->few.twins[0].moved, worst);
    YS_TRY(ys_reference_plan(&of->reference, request->plan, YS_PRECISION_F64, folder, &plan));
    ys_status status = YS_OK;
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_MOVED; twin++)
        status = ask_moves(v, of, &plan, precision, twin, batch, folder);
    ys_plan_fini(&plan);
    return status == YS_OK ? ys_ceiling_check(&of->reference, precision, &of->twins[batch].moved, worst) : status;
}

/* What rounding alone does to this work in double. */
static ys_status ask_doubles(const struct ys_verifier *v, struct extent_findings *of,
                             const struct ys_verify_request *request)
{
    const bool evaluation = of->reference.evaluation;
    struct ys_questions questions = {
        .evaluation = evaluation, .batches = 1, .steps = evaluation ? 0 : of->reference.extent.trained};
    char *folder = NULL;
    if (of->doubles_asked)
        return YS_OK;
    ys_reference_put_inputs(&of->reference, YS_PRECISION_F64, &questions);
    say(request, "asking two twins of the oracle");
    YS_TRY(make_folder(v, "twin", &folder));
    struct ys_plan plan;
    ys_status status = ys_reference_plan(&of->reference, request->plan, YS_PRECISION_F64, folder, &plan);
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_DOUBLE_TWINS; twin++)
        status = ask_double(v, of, &plan, twin, &questions, folder);
    of->doubles_asked = status == YS_OK;
    ys_plan_fini(&plan);
    ys_free(folder);
    return status;
}

/* Twins of another format, or of other instructions, are those of another trial. */
static void keep_twins_of(struct extent_findings *of, const struct ys_verify_request *request)
{
    char *level = describe_passing(request->env, YS_PROGRAM_OWN);
    if (of->twins_precision != request->plan->precision || !of->twins_level || strcmp(of->twins_level, level) != 0)
        forget_twins(of);
    of->twins_precision = request->plan->precision;
    ys_free(of->twins_level);
    of->twins_level = level;
}

static ys_status ask_twins(const struct ys_verifier *v, struct extent_findings *of,
                           const struct ys_verify_request *request, int64_t batch)
{
    const enum ys_precision precision = (enum ys_precision)request->plan->precision;
    keep_twins_of(of, request);
    if (of->twins[batch].asked)
        return YS_OK;
    say(request, "asking eight twins");
    char *folder = NULL;
    YS_TRY(make_folder(v, "twin", &folder));
    struct ys_plan plan;
    struct ys_findings worst = {.batch = batch};
    ys_status status = ys_reference_plan(&of->reference, request->plan, precision, folder, &plan);
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_TWINS; twin++)
        status = ask_twin(v, of, &plan, request->env, twin, batch, folder, &worst);
    if (status == YS_OK)
        status = check_ceiling(v, of, request, batch, folder, &worst);
    if (status == YS_OK) {
        of->twins[batch].worst = worst;
        of->twins[batch].asked = true;
        status = ys_fs_remove_tree(folder);
    }
    ys_plan_fini(&plan);
    ys_free(folder);
    return status;
}

/* One answer of a proof may stand for many of a run: up to nine steps, in double. */
static double patience(const struct ys_verify_request *request)
{
    return request->stall_limit_s > 0 ? 10 * request->stall_limit_s : YS_EVIDENCE_PATIENCE_S;
}

/* One session of one framework's proof. */
static ys_status ask_half(const struct ys_verifier *v, const struct extent_findings *of,
                          const struct ys_verify_request *request, enum ys_precision precision,
                          const struct ys_questions *questions, struct ys_findings *findings)
{
    char *folder = NULL;
    YS_TRY(make_folder(v, "framework", &folder));
    struct ys_plan plan;
    ys_status status = ys_reference_plan(&of->reference, request->plan, precision, folder, &plan);
    if (status == YS_OK)
        status = ys_findings_collect(&of->reference, request->framework, &plan, request->env, patience(request),
                                     questions, findings);
    ys_plan_fini(&plan);
    ys_free(folder);
    return status;
}

/* The session in the trial's own format. */
static ys_status ask_numerics(const struct ys_verifier *v, const struct extent_findings *of,
                              const struct ys_verify_request *request, const struct ys_questions *questions,
                              struct ys_findings *findings)
{
    say(request, "proving the numerics");
    return ask_half(v, of, request, (enum ys_precision)request->plan->precision, questions, findings);
}

/* Logits, loss and gradients of another batch in place of those that `numerics` has. */
static ys_status ask_again(struct ys_verifier *v, struct extent_findings *of, const struct ys_verify_request *request,
                           int64_t batch, struct ys_findings *numerics)
{
    const struct ys_questions questions = {.first = batch, .batches = 1};
    struct ys_findings again = {0};
    YS_TRY(ask_oracle(v, of, request, batch));
    YS_TRY(ask_twins(v, of, request, batch));
    ys_status status = ask_numerics(v, of, request, &questions, &again);
    if (status == YS_OK && again.said.status) {
        ys_evidence_fini(&numerics->said);
        numerics->said = again.said;
        again.said = (struct ys_evidence){0};
    }
    numerics->batch = batch;
    numerics->logits = again.logits;
    numerics->loss = again.loss;
    numerics->gradients = again.gradients;
    numerics->matrices = again.matrices;
    ys_findings_fini(&again);
    return status;
}

static void describe_twins(const struct extent_findings *of, int64_t batch, const struct ys_findings *moved,
                           const struct ys_findings *numerics, struct ys_proof_twins **described)
{
    const struct ys_findings *worst = &of->twins[batch].worst;
    const enum ys_precision precision = (enum ys_precision)of->twins_precision;
    const bool trains = !of->reference.evaluation;
    struct ys_proof_twins *twins = ys_alloc(1, sizeof *twins);
    *twins = (struct ys_proof_twins){.count = YS_VERIFY_TWINS,
                                     .batch = batch,
                                     .forward = ys_findings_forward(worst)->error,
                                     .forward_ceiling = ys_ceiling_forward(&of->reference, precision, moved),
                                     .gradients = trains ? worst->gradients.error : (double)NAN,
                                     .gradients_ceiling =
                                         trains ? ys_ceiling_gradients(&of->reference, precision, moved) : (double)NAN,
                                     .input_gradient = (double)NAN,
                                     .input_gradient_ceiling = (double)NAN};
    if (numerics && numerics->has_input_gradient) {
        const int lot = ys_check_input_lot(numerics, worst);
        twins->input_gradient = worst->input_gradient[lot].error;
        twins->input_gradient_ceiling = ys_ceiling_input_gradient(&of->reference, precision, moved, lot);
    }
    *described = twins;
}

static void describe_whole(const struct extent_findings *of, int64_t batch, const struct ys_findings *moved,
                           bool in_double, struct ys_proof *proof)
{
    proof->whole = ys_alloc(1, sizeof *proof->whole);
    proof->whole->rows = of->reference.extent.rows;
    proof->whole->in_double = in_double;
    if (!in_double)
        describe_twins(of, batch, moved, NULL, &proof->whole->twins);
}

/* What the framework said, session by session. */
struct sessions {
    bool has_double, has_numerics, has_whole;
    bool whole_in_double;
    struct ys_findings meaning, numerics, whole;
};

static void check_once(const struct ys_verifier *v, const struct sessions *said, bool doubles, struct ys_proof *proof)
{
    const struct ys_check_whole whole = {
        .reference = &v->whole.reference,
        .found = &said->whole,
        .twins = said->whole_in_double ? NULL : &v->whole.twins[said->whole.batch].worst,
        .in_double = doubles && said->whole_in_double ? &v->whole.doubles : NULL,
    };
    ys_check_all(&v->few.reference, said->has_double ? &said->meaning : NULL,
                 said->has_numerics ? &said->numerics : NULL, &v->few.twins[said->numerics.batch].worst,
                 doubles ? &v->few.doubles : NULL, said->has_whole ? &whole : NULL, proof);
    if (said->has_numerics)
        describe_twins(&v->few, said->numerics.batch, &v->few.twins[said->numerics.batch].moved, &said->numerics,
                       &proof->twins);
    if (said->has_whole)
        describe_whole(&v->whole, said->whole.batch, &v->few.twins[0].moved, said->whole_in_double, proof);
}

/* The checks; again with what rounding alone does, where that may be what failed, and with the next batch, where it may
 * be a flipped ReLU. */
static ys_status check(struct ys_verifier *v, const struct ys_verify_request *request, struct sessions *said,
                       struct ys_proof *proof)
{
    bool doubles = false;
    for (;;) {
        check_once(v, said, doubles, proof);
        enum ys_check_flip flip = ys_check_flip(proof);
        if (!doubles && ys_check_may_be_rounding(proof)) {
            YS_TRY(ask_doubles(v, &v->few, request));
            if (said->whole_in_double)
                YS_TRY(ask_doubles(v, &v->whole, request));
            doubles = true;
        } else if (flip == YS_CHECK_FLIP_FEW && said->numerics.batch + 1 < v->few.reference.extent.steps) {
            YS_TRY(ask_again(v, &v->few, request, said->numerics.batch + 1, &said->numerics));
        } else if (flip == YS_CHECK_FLIP_WHOLE && said->whole.batch + 1 < v->whole.reference.extent.steps) {
            YS_TRY(ask_again(v, &v->whole, request, said->whole.batch + 1, &said->whole));
        } else {
            return YS_OK;
        }
    }
}

/* A whole batch, as the trial's runs will have it: in double with one step of training where that is affordable, else
 * loss and gradients in the trial's own format. One that the proof has looked at whole already needs no more. */
static ys_status ask_whole(struct ys_verifier *v, const struct ys_verify_request *request, bool in_double,
                           struct sessions *said)
{
    const struct ys_reference *whole = &v->whole.reference;
    const struct ys_questions questions = {.evaluation = whole->evaluation,
                                           .batches = 1,
                                           .steps = in_double ? whole->extent.trained : 0,
                                           .trained = in_double};
    if (whole->extent.rows <= v->few.reference.extent.rows)
        return YS_OK;
    if (request->meaning_only && whole->in_single)
        return YS_OK;
    YS_TRY(ask_oracle(v, &v->whole, request, 0));
    said->has_whole = true;
    said->whole_in_double = in_double && !whole->in_single;
    if (said->whole_in_double && whole->evaluation)
        return ask_half(v, &v->whole, request, YS_PRECISION_F64,
                        &(struct ys_questions){.evaluation = true, .batches = 1}, &said->whole);
    if (said->whole_in_double)
        return ask_half(v, &v->whole, request, YS_PRECISION_F64, &questions, &said->whole);
    const struct ys_questions in_format = {.evaluation = whole->evaluation, .batches = 1};
    YS_TRY(ask_twins(v, &v->whole, request, 0));
    return ask_numerics(v, &v->whole, request, &in_format, &said->whole);
}

/* Of attacks, which of equal values has the gradient: not where the adapter said that it chooses in another way. */
static ys_status ask_ties(struct ys_verifier *v, const struct ys_verify_request *request, bool in_double,
                          struct sessions *said)
{
    char *folder = NULL;
    if (!v->few.reference.attacked || !said->numerics.has_input_gradient || said->numerics.said.chooses_equals)
        return YS_OK;
    YS_TRY(make_folder(v, "ties", &folder));
    const struct ys_ties_request ties = {v->oracle,    request->framework, request->plan, v->few.reference.graph,
                                         request->env, patience(request),  folder};
    const ys_status status = ys_ties_ask(&ties, in_double ? &said->meaning : NULL, &said->numerics);
    ys_free(folder);
    return status;
}

/* The batches that the steps take need no look of their own in double: weights at 1e-9 show them. */
static ys_status ask_sessions(struct ys_verifier *v, const struct ys_verify_request *request, struct sessions *said)
{
    const bool evaluation = v->few.reference.evaluation;
    const int64_t steps = v->few.reference.extent.steps;
    struct ys_questions in_double = {
        .evaluation = evaluation, .start = true, .batches = 1, .steps = evaluation ? 0 : steps, .trained = true};
    struct ys_questions in_format = {.evaluation = evaluation, .start = true, .batches = steps, .timed = !evaluation};
    ys_reference_put_inputs(&v->few.reference, YS_PRECISION_F64, &in_double);
    if (v->few.reference.attacked) /* whose gradients count in that format */
        ys_reference_put_inputs(&v->few.reference, (enum ys_precision)request->plan->precision, &in_format);
    if (said->has_double) {
        say(request, "proving the meaning in double");
        YS_TRY(ask_half(v, &v->few, request, YS_PRECISION_F64, &in_double, &said->meaning));
    }
    const bool answered = said->has_double && !said->meaning.said.status;
    if (said->meaning.said.status && said->meaning.said.status != YS_RUN_UNSUPPORTED)
        return YS_OK;
    if (!(request->meaning_only && answered)) {
        said->has_numerics = true;
        YS_TRY(ask_twins(v, &v->few, request, 0));
        YS_TRY(ask_numerics(v, &v->few, request, &in_format, &said->numerics));
        if (said->numerics.said.status)
            return YS_OK;
    }
    YS_TRY(ask_whole(v, request, answered, said));
    return ask_ties(v, request, answered, said);
}

/* What it took to begin the work: of some rows in either format, so that hardly anything of it is the work itself. */
static void note_times(const struct sessions *said, struct ys_proof *proof)
{
    const struct ys_evidence *in_double = &said->meaning.said, *in_format = &said->numerics.said;
    proof->open_s = fmax(in_double->open.span_s, in_format->open.span_s);
    proof->open_cpu_s = fmax(in_double->open.cpu_s, in_format->open.cpu_s);
    proof->first_s = fmax(in_double->first.span_s, in_format->first.span_s);
    proof->first_cpu_s = fmax(in_double->first.cpu_s, in_format->first.cpu_s);
}

/* What it told in any of its sessions it can do in each of its runs too. */
static void note_features(const struct sessions *said, struct ys_proof *proof)
{
    const ys_json *const told[] = {said->meaning.said.features, said->numerics.said.features};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < ys_json_size(told[i]); k++) {
            const char *feature = ys_json_text(ys_json_at(told[i], k), "");
            if (i == 0 || !ys_json_lists(told[0], feature))
                ys_list_add_text(&proof->features, feature);
        }
}

/* All of one framework's proof, into `proof`. */
static ys_status ask_framework(struct ys_verifier *v, const struct ys_verify_request *request, struct ys_proof *proof)
{
    struct sessions said = {.has_double = request->framework->has_double};
    ys_status status = ask_sessions(v, request, &said);
    if (status == YS_OK)
        status = check(v, request, &said, proof);
    note_times(&said, proof);
    if (status == YS_OK)
        note_features(&said, proof);
    ys_findings_fini(&said.meaning);
    ys_findings_fini(&said.numerics);
    ys_findings_fini(&said.whole);
    return status;
}

/* Everything that a proof depends on: the work, the framework, the oracle, options, threads, instruction set. */
static char *proof_key(const struct ys_verifier *v, const struct ys_verify_request *request,
                       const struct ys_reference *few, const struct ys_reference *whole)
{
    char hash[YS_SHA256_TEXT], *key = NULL;
    const struct ys_plan *plan = request->plan;
    char ranks[64] = "";
    if (plan->dist.world > 1)
        snprintf(ranks, sizeof ranks, "|ranks %lld%s%s bucket %lld", (long long)plan->dist.world,
                 plan->dist.statistics == YS_STATISTICS_SYNC ? " sync" : "",
                 plan->dist.strategy == YS_STRATEGY_SHARDED ? " sharded" : "", (long long)plan->dist.bucket_bytes);
    char *options = ys_json_dump(plan->options, YS_JSON_SORTED);
    char *env = ys_json_dump(request->env, YS_JSON_SORTED);
    char *text =
        ys_format("%d|%s|%s|%s|%s|%s|%s|%s|%s|%s|%lld|%s|%s%s%s%s", YS_VERIFY_VERSION, few->identity, whole->identity,
                  request->framework->closure, request->framework->fingerprint, v->oracle->closure,
                  v->oracle->fingerprint, options, ys_name_of(&ys_precisions, plan->precision), plan->device,
                  (long long)plan->threads, v->machine, env, request->meaning_only ? "|meaning" : "",
                  plan->input.kind && strcmp(plan->input.kind, "file") != 0 ? plan->input.kind : "", ranks);
    ys_sha256_text(text, strlen(text), hash);
    key = ys_strdup(hash);
    ys_free(options);
    ys_free(env);
    ys_free(text);
    return key;
}

static ys_status cache_file(const char *key, char **path)
{
    char *folder = NULL;
    YS_TRY(ys_cache_path("proofs", &folder));
    *path = ys_format("%s/%s.json", folder, key);
    ys_free(folder);
    return YS_OK;
}

static void describe(const struct ys_verifier *v, const struct ys_verify_request *request, const char *key,
                     struct ys_proof *proof)
{
    char date[32];
    ys_date_text(ys_date_s(), date, sizeof date);
    proof->key = ys_strdup(key);
    proof->cached = false;
    proof->framework = ys_strdup(request->framework->spec);
    proof->version = ys_strdup(request->framework->version);
    proof->seed = request->plan->seed;
    proof->rows = v->few.reference.extent.rows;
    proof->batches = v->few.reference.extent.steps;
    if (v->few.reference.row_positions > 0)
        proof->positions = YS_VERIFY_POSITIONS;
    proof->date = ys_strdup(date);
}

static ys_status ask_everybody(struct ys_verifier *v, const struct ys_verify_request *request, struct ys_proof *proof)
{
    YS_TRY(ask_oracle(v, &v->few, request, 0));
    if (v->few.reference.finite)
        return ask_framework(v, request, proof);
    ys_proof_settle(proof, YS_PROOF_NONE,
                    "the work diverges within the steps of a proof, in the oracle too, so nothing can be "
                    "compared: take a smaller learning rate");
    return YS_OK;
}

/* Where yardstick's own engine breaks off (killed for want of memory, say) nothing is shown, of this work alone; nor
 * where it `lacks` what the work needs, such as bf16 on this processor. */
static void settle_for_none(struct ys_proof *proof, bool lacks)
{
    char *reason = ys_format("%s; so there was nothing to compare with%s", ys_error(),
                             lacks ? "" : ", and it will be tried again");
    ys_proof_settle(proof, YS_PROOF_NONE, reason);
    ys_free(reason);
    ys_proof_drop_checks(proof);
    proof->lasting = false;
    proof->ended = lacks ? YS_RUN_UNSUPPORTED : YS_NAME_NONE;
}

static ys_status prove(struct ys_verifier *v, const struct ys_verify_request *request, const char *key,
                       struct ys_proof *proof)
{
    uint64_t start_ns = ys_time_ns();
    describe(v, request, key, proof);
    ys_status status = ask_everybody(v, request, proof);
    if (status == YS_EPROTOCOL || status == YS_EUNSUPPORTED) {
        settle_for_none(proof, status == YS_EUNSUPPORTED);
        status = YS_OK;
        forget_work(v); /* what the oracle has said of it may be half of it */
    }
    proof->seconds = (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

/* Goes on with what oracle and twins have said already where `next` is the work of last time; its files are then those
 * of `next`, which lie in this verifier's folder also after it moved. `next` becomes the verifier's, or is closed. */
static void take_work(struct extent_findings *of, struct ys_reference *next)
{
    if (strcmp(of->reference.identity, next->identity) == 0) {
        ys_reference_swap_files(&of->reference, next);
        ys_reference_close(next);
    } else {
        forget(of);
        of->reference = *next;
        *next = (struct ys_reference){0};
    }
}

static ys_status open_work(const struct ys_verifier *v, const struct ys_verify_request *request,
                           struct ys_reference *few, struct ys_reference *whole)
{
    char *folder = ys_path_join(v->work.path, "whole");
    *few = *whole = (struct ys_reference){0};
    ys_status status = ys_fs_make_dirs(folder);
    if (status == YS_OK)
        status = ys_reference_open(request->plan, v->work.path, request->all_steps, few);
    if (status == YS_OK)
        status = ys_reference_open_whole(request->plan, folder, whole);
    if (status != YS_OK)
        ys_reference_close(few);
    ys_free(folder);
    return status;
}

/* From the cache or made now, in both cases into `proof`. */
static ys_status find_proof(struct ys_verifier *v, const struct ys_verify_request *request, struct ys_reference *few,
                            struct ys_reference *whole, struct ys_proof *proof)
{
    char *key = proof_key(v, request, few, whole), *path = NULL;
    ys_status status = cache_file(key, &path);
    if (status == YS_OK)
        status = request->fresh ? YS_ENOTFOUND : ys_kept_read(path, key, proof);
    if (status == YS_EFORMAT)
        ys_log_warn("%s: proven anew", ys_error());
    if (status == YS_ENOTFOUND || status == YS_EFORMAT) {
        take_work(&v->few, few);
        take_work(&v->whole, whole);
        status = prove(v, request, key, proof);
        if (status == YS_OK && request->check_inputs)
            status = request->check_inputs(request->context);
        /* A session that broke says nothing lasting about the work: it is tried again next time. */
        if (status == YS_OK && proof->lasting == 1 && !ys_working_cache_is_read_only())
            status = ys_kept_write(path, proof);
    }
    ys_free(path);
    ys_free(key);
    return status;
}

ys_status ys_verify_prove(struct ys_verifier *verifier, const struct ys_verify_request *request, struct ys_proof *proof)
{
    struct ys_reference few, whole;
    ys_proof_init(proof);
    if (request->framework->no_work) {
        ys_proof_settle(proof, YS_PROOF_NONE, "this adapter does no work, so there is nothing to prove");
        return YS_OK;
    }
    if (request->plan->dist.strategy == YS_STRATEGY_ALONE) {
        proof->lasting = true;
        ys_proof_settle(proof, YS_PROOF_NONE,
                        "strategy = alone: ranks that exchange nothing do not do the work of one process");
        return YS_OK;
    }
    YS_TRY(open_work(verifier, request, &few, &whole));
    ys_status status = find_proof(verifier, request, &few, &whole, proof);
    ys_reference_close(&few);
    ys_reference_close(&whole);
    if (status != YS_OK)
        ys_proof_fini(proof);
    return status;
}

/* Whether it is the trial's own format in which the difference shows, or the only one there is. */
static bool shows_in_format(const struct ys_verify_request *request, const struct ys_proof *proof)
{
    bool meaning = false, numerics = false;
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        meaning |= !check->pass && check->half == YS_PROOF_MEANING;
        numerics |= !check->pass && check->half == YS_PROOF_NUMERICS;
    }
    bool in_double = request->framework->has_double &&
                     (ys_proof_find(proof, YS_PROOF_MEANING, "logits") || proof->checks.count == 0);
    return !in_double || (numerics && !meaning);
}

static double bound_of(const struct ys_proof *proof, const char *name)
{
    const struct ys_proof_check *check = ys_proof_find(proof, YS_PROOF_MEANING, name);
    return check && !isnan(check->bound) ? check->bound : YS_VERIFY_MEANING_BOUND;
}

static ys_status trace(const struct ys_verify_request *request, const struct ys_framework *oracle, const char *folder,
                       struct ys_proof *proof)
{
    const struct ys_trace_request asked = {
        .oracle = oracle,
        .framework = request->framework,
        .plan = request->plan,
        .env = request->env,
        .patience_s = patience(request),
        .folder = folder,
        .in_format = shows_in_format(request, proof),
        .forward_bound = bound_of(proof, "logits"),
        .backward_bound = bound_of(proof, "gradients"),
    };
    struct ys_proof_trace *made = ys_alloc(1, sizeof *made);
    ys_status status = ys_trace_make(&asked, made);
    if (status == YS_OK)
        proof->trace = made;
    else
        ys_free(made);
    return status;
}

ys_status ys_verify_trace(struct ys_verifier *verifier, const struct ys_verify_request *request, struct ys_proof *proof)
{
    char *folder = NULL;
    say(request, "tracing");
    YS_TRY(make_folder(verifier, "trace", &folder));
    ys_status status = trace(request, verifier->oracle, folder, proof);
    ys_free(folder);
    return status;
}
