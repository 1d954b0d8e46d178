/* The order of a proof: oracle once per work, twins once per work and format, then the framework, then the checks. */
#include "verify/verify.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/working.h"
#include "probe/host.h"
#include "verify/check.h"
#include "verify/findings.h"
#include "verify/kept.h"
#include "verify/reference.h"
#include "verify/trace.h"
#include "verify/twin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ys_verifier {
    const struct ys_framework *oracle;
    char *machine;                 /* CPU model and instruction sets: another machine proves anew */
    struct ys_working work;        /* everything this verifier wrote; removed at the end */
    struct ys_reference reference; /* of the work last proven */
    struct {
        bool asked;
        struct ys_findings worst; /* their worst figures */
    } twins[YS_VERIFY_STEPS];     /* of each batch, */
    char twins_precision[8];      /* in this precision */
    bool doubles_asked;
    struct ys_findings doubles; /* the worst figures of the oracle's twins */
};

static ys_status describe_machine(char **machine)
{
    ys_json *host = NULL;
    YS_TRY(ys_host_describe(&host));
    const ys_json *cpu = ys_json_get(host, "cpu");
    char *isa = ys_json_dump(ys_json_get(cpu, "isa"), YS_JSON_SORTED);
    *machine = isa ? ys_format("%s %s", ys_json_get_text(cpu, "model", "?"), isa) : NULL;
    ys_free(isa);
    ys_json_free(host);
    return *machine ? YS_OK : ys_out_of_memory();
}

ys_status ys_verifier_open(const struct ys_framework *oracle, struct ys_verifier **verifier)
{
    struct ys_verifier *v = ys_alloc(1, sizeof *v);
    if (!v)
        return ys_out_of_memory();
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

static void forget_twins(struct ys_verifier *v)
{
    for (size_t b = 0; b < YS_VERIFY_STEPS; b++) {
        ys_findings_fini(&v->twins[b].worst);
        v->twins[b].asked = false;
    }
}

static void forget_work(struct ys_verifier *v)
{
    ys_reference_close(&v->reference);
    ys_findings_fini(&v->doubles);
    v->doubles_asked = false;
    forget_twins(v);
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

static void say(const struct ys_verify_request *request, const char *what)
{
    if (request->on_progress)
        request->on_progress(request->context, what);
}

/* A fresh, empty folder below the verifier's; new string. */
static ys_status make_folder(const struct ys_verifier *v, const char *name, char **folder)
{
    *folder = ys_path_join(v->work.path, name);
    if (!*folder)
        return ys_out_of_memory();
    ys_status status = ys_fs_remove_tree(*folder);
    if (status == YS_OK)
        status = ys_fs_make_dirs(*folder);
    if (status != YS_OK) {
        ys_free(*folder);
        *folder = NULL;
    }
    return status;
}

static ys_status ask_oracle(struct ys_verifier *v, const struct ys_verify_request *request, int64_t batch)
{
    char *folder = NULL;
    if (v->reference.batch[batch].asked)
        return YS_OK;
    say(request, "asking the oracle");
    YS_TRY(make_folder(v, "oracle", &folder));
    ys_status status = ys_reference_ask(&v->reference, v->oracle, request->plan, batch, folder);
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
}

/* Runs a twin and raises `worst` to what it is found to say. YS_EPROTOCOL: it broke off. */
static ys_status ask_moved(struct ys_verifier *v, const ys_json *plan, int twin, const struct ys_questions *questions,
                           struct ys_findings *worst)
{
    struct ys_findings found = {0};
    ys_status status =
        ys_findings_collect(&v->reference, v->oracle, plan, NULL, YS_EVIDENCE_PATIENCE_S, questions, &found);
    if (status == YS_OK && found.said.status) {
        bool lacks = strcmp(found.said.status, "unsupported") == 0;
        status = ys_fail(lacks ? YS_EUNSUPPORTED : YS_EPROTOCOL, "twin %d of the oracle ended as %s: %s", twin,
                         found.said.status, found.said.message ? found.said.message : "no message");
    }
    raise_all(worst, &found);
    ys_findings_fini(&found);
    return status;
}

/* One twin: how far the built-in engine in the trial's format gets from the oracle when everything is moved by one
 * unit. */
static ys_status ask_twin(struct ys_verifier *v, const ys_json *plan, int twin, int64_t batch, const char *folder,
                          struct ys_findings *worst)
{
    const struct ys_questions questions = {.evaluation = v->reference.evaluation, .first = batch, .batches = 1};
    ys_json *moved = ys_proof_plan_builtin(plan, NULL, folder);
    ys_status status = ys_twin_write(moved, twin, batch, folder);
    if (status == YS_OK)
        status = ask_moved(v, moved, twin, &questions, worst);
    if (status == YS_EUNSUPPORTED) { /* what the default back end lacks plain C has, and rounds alike */
        ys_json_set_string(ys_json_get(moved, "options"), "backend", "ref");
        status = ask_moved(v, moved, twin, &questions, worst);
    }
    ys_json_free(moved);
    return status;
}

/* What rounding alone does to this work in double. */
static ys_status ask_doubles(struct ys_verifier *v, const struct ys_verify_request *request)
{
    const bool evaluation = v->reference.evaluation;
    const struct ys_questions questions = {
        .evaluation = evaluation, .batches = 1, .steps = evaluation ? 0 : v->reference.extent.steps};
    char *folder = NULL;
    if (v->doubles_asked)
        return YS_OK;
    say(request, "asking two twins of the oracle");
    YS_TRY(make_folder(v, "twin", &folder));
    ys_json *plan = ys_reference_plan(&v->reference, request->plan, "f64", folder);
    ys_status status = YS_OK;
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_DOUBLE_TWINS; twin++) {
        ys_json *moved = ys_proof_plan_builtin(plan, "ref", folder);
        status = ys_twin_write_double(moved, twin, folder);
        if (status == YS_OK)
            status = ask_moved(v, moved, twin, &questions, &v->doubles);
        ys_json_free(moved);
    }
    v->doubles_asked = status == YS_OK;
    ys_json_free(plan);
    ys_free(folder);
    return status;
}

static ys_status ask_twins(struct ys_verifier *v, const struct ys_verify_request *request, int64_t batch)
{
    const char *precision = ys_json_get_text(request->plan, "precision", "f32");
    if (strcmp(v->twins_precision, precision) != 0)
        forget_twins(v);
    snprintf(v->twins_precision, sizeof v->twins_precision, "%s", precision);
    if (v->twins[batch].asked)
        return YS_OK;
    say(request, "asking eight twins");
    char *folder = NULL;
    YS_TRY(make_folder(v, "twin", &folder));
    ys_json *plan = ys_reference_plan(&v->reference, request->plan, precision, folder);
    struct ys_findings worst = {.batch = batch};
    ys_status status = YS_OK;
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_TWINS; twin++)
        status = ask_twin(v, plan, twin, batch, folder, &worst);
    if (status == YS_OK) {
        v->twins[batch].worst = worst;
        v->twins[batch].asked = true;
        status = ys_fs_remove_tree(folder);
    }
    ys_json_free(plan);
    ys_free(folder);
    return status;
}

/* One answer of a proof may stand for many of a run: up to nine steps, in double. */
static double patience(const struct ys_verify_request *request)
{
    return request->stall_limit_s > 0 ? 10 * request->stall_limit_s : YS_EVIDENCE_PATIENCE_S;
}

/* One half of one framework's proof. */
static ys_status ask_half(struct ys_verifier *v, const struct ys_verify_request *request, const char *precision,
                          const struct ys_questions *questions, struct ys_findings *findings)
{
    char *folder = NULL;
    YS_TRY(make_folder(v, "framework", &folder));
    ys_json *plan = ys_reference_plan(&v->reference, request->plan, precision, folder);
    ys_status status = ys_findings_collect(&v->reference, request->framework, plan, request->env, patience(request),
                                           questions, findings);
    ys_json_free(plan);
    ys_free(folder);
    return status;
}

/* The session in the trial's own format. */
static ys_status ask_numerics(struct ys_verifier *v, const struct ys_verify_request *request,
                              const struct ys_questions *questions, struct ys_findings *findings)
{
    say(request, "proving the numerics");
    return ask_half(v, request, ys_json_get_text(request->plan, "precision", "f32"), questions, findings);
}

/* Logits, loss and gradients of another batch in place of those that `numerics` has. */
static ys_status ask_again(struct ys_verifier *v, const struct ys_verify_request *request, int64_t batch,
                           struct ys_findings *numerics)
{
    const struct ys_questions questions = {.first = batch, .batches = 1};
    struct ys_findings again = {0};
    YS_TRY(ask_oracle(v, request, batch));
    YS_TRY(ask_twins(v, request, batch));
    ys_status status = ask_numerics(v, request, &questions, &again);
    if (status == YS_OK && again.said.status) {
        ys_evidence_fini(&numerics->said);
        numerics->said = again.said;
        again.said = (struct ys_evidence){0};
    }
    numerics->batch = batch;
    numerics->logits = again.logits;
    numerics->loss = again.loss;
    numerics->gradients = again.gradients;
    ys_findings_fini(&again);
    return status;
}

static ys_status describe_twins(const struct ys_verifier *v, const struct ys_findings *twins, ys_json *proof)
{
    ys_json *said = ys_json_object();
    ys_json_set_int(said, "count", YS_VERIFY_TWINS);
    ys_json_set_int(said, "batch", twins->batch);
    ys_json_set_real(said, "forward", ys_findings_forward(twins)->error);
    if (!v->reference.evaluation)
        ys_json_set_real(said, "gradients", twins->gradients.error);
    return ys_json_set(proof, "twins", said);
}

/* The checks; again with what rounding alone does, where that may be what failed, and with the next batch, where it may
 * be a flipped ReLU. `numerics` NULL: the session in double broke off. */
static ys_status check(struct ys_verifier *v, const struct ys_verify_request *request,
                       const struct ys_findings *meaning, struct ys_findings *numerics, ys_json *proof)
{
    const struct ys_findings *doubles = NULL;
    for (int64_t batch = 0;;) {
        const struct ys_findings *twins = &v->twins[batch].worst;
        YS_TRY(ys_check_all(&v->reference, meaning, numerics, twins, doubles, proof));
        if (numerics)
            YS_TRY(describe_twins(v, twins, proof));
        if (!doubles && ys_check_may_be_rounding(proof)) {
            YS_TRY(ask_doubles(v, request));
            doubles = &v->doubles;
        } else if (batch + 1 < v->reference.extent.steps && ys_check_may_be_a_flip(proof)) {
            YS_TRY(ask_again(v, request, ++batch, numerics));
        } else {
            return YS_OK;
        }
    }
}

/* Both halves of one framework's proof, into `proof`. The batches that the steps take need no look of their own in
 * double: weights at 1e-9 show them. */
static ys_status ask_framework(struct ys_verifier *v, const struct ys_verify_request *request, ys_json *proof)
{
    const bool has_double = request->framework->has_double, evaluation = v->reference.evaluation;
    const int64_t steps = v->reference.extent.steps;
    const struct ys_questions in_double = {
        .evaluation = evaluation, .start = true, .batches = 1, .steps = evaluation ? 0 : steps};
    const struct ys_questions in_format = {.evaluation = evaluation, .start = true, .batches = steps};
    struct ys_findings meaning = {0}, numerics = {0};
    ys_status status = YS_OK;
    if (has_double) {
        say(request, "proving the meaning in double");
        status = ask_half(v, request, "f64", &in_double, &meaning);
    }
    bool lost = meaning.said.status && strcmp(meaning.said.status, "unsupported") != 0;
    bool enough = lost || (request->meaning_only && has_double && !meaning.said.status);
    if (status == YS_OK && !enough)
        status = ask_twins(v, request, 0);
    if (status == YS_OK && !enough)
        status = ask_numerics(v, request, &in_format, &numerics);
    if (status == YS_OK)
        status = check(v, request, has_double ? &meaning : NULL, enough ? NULL : &numerics, proof);
    ys_findings_fini(&meaning);
    ys_findings_fini(&numerics);
    return status;
}

/* Everything that a proof depends on: the work, the framework, the oracle, options, threads, instruction set. */
static char *proof_key(const struct ys_verifier *v, const struct ys_verify_request *request, const char *identity)
{
    char hash[YS_SHA256_TEXT], *key = NULL;
    const ys_json *plan = request->plan;
    char *options = ys_json_dump(ys_json_get(plan, "options"), YS_JSON_SORTED);
    char *env = ys_json_dump(request->env, YS_JSON_SORTED);
    char *text = ys_format("%d|%s|%s|%s|%s|%s|%s|%s|%s|%lld|%s|%s%s", YS_VERIFY_VERSION, identity,
                           request->framework->closure, request->framework->fingerprint, v->oracle->closure,
                           v->oracle->fingerprint, options ? options : "", ys_json_get_text(plan, "precision", "f32"),
                           ys_json_get_text(plan, "device", "cpu"), (long long)ys_json_get_int(plan, "threads", 0),
                           v->machine, env ? env : "", request->meaning_only ? "|meaning" : "");
    if (text) {
        ys_sha256_text(text, strlen(text), hash);
        key = ys_strdup(hash);
    }
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
    return *path ? YS_OK : ys_out_of_memory();
}

static void describe(const struct ys_verifier *v, const struct ys_verify_request *request, const char *key,
                     ys_json *proof)
{
    char date[32];
    ys_date_text(ys_date_s(), date, sizeof date);
    ys_json_set_string(proof, "key", key);
    ys_json_set_bool(proof, "cached", false);
    ys_json_set_string(proof, "framework", request->framework->spec);
    ys_json_set_string(proof, "version", request->framework->version);
    ys_json_set_int(proof, "seed", ys_json_get_int(request->plan, "seed", 0));
    ys_json_set_int(proof, "rows", v->reference.extent.rows);
    ys_json_set_int(proof, "batches", v->reference.extent.steps);
    ys_json_set_string(proof, "date", date);
}

static ys_status set_verdict(ys_json *proof, const char *verdict, const char *reason)
{
    ys_json_set_string(proof, "verdict", verdict);
    ys_json_set_string(proof, "reason", reason);
    return ys_json_set(proof, "checks", ys_json_array());
}

static ys_status ask_everybody(struct ys_verifier *v, const struct ys_verify_request *request, ys_json *proof)
{
    YS_TRY(ask_oracle(v, request, 0));
    if (v->reference.finite)
        return ask_framework(v, request, proof);
    return set_verdict(proof, "none",
                       "the work diverges within the steps of a proof, in the oracle too, so nothing can be compared: "
                       "take a smaller learning rate");
}

/* Where yardstick's own engine breaks off (killed for want of memory, say) nothing is shown, of this work alone. */
static ys_status settle_for_none(ys_json *proof)
{
    char *reason = ys_format("%s; so there was nothing to compare with, and it will be tried again", ys_error());
    ys_status status = reason ? set_verdict(proof, "none", reason) : ys_out_of_memory();
    ys_free(reason);
    ys_json_remove(proof, "twins");
    return status == YS_OK ? ys_json_set_bool(proof, "lasting", false) : status;
}

static ys_status prove(struct ys_verifier *v, const struct ys_verify_request *request, const char *key, ys_json *proof)
{
    uint64_t start_ns = ys_time_ns();
    describe(v, request, key, proof);
    ys_status status = ask_everybody(v, request, proof);
    if (status == YS_EPROTOCOL) {
        status = settle_for_none(proof);
        forget_work(v); /* what the oracle has said of it may be half of it */
    }
    YS_TRY(status);
    return ys_json_set_real(proof, "seconds", (double)(ys_time_ns() - start_ns) * 1e-9);
}

/* Proves `next`, or goes on with what the oracle and the twins said already where it is the work of last time. `next`
 * becomes the verifier's, or is closed. */
static ys_status prove_work(struct ys_verifier *v, const struct ys_verify_request *request, struct ys_reference *next,
                            const char *key, ys_json *proof)
{
    if (strcmp(v->reference.identity, next->identity) == 0) {
        ys_reference_close(next);
    } else {
        forget_work(v);
        v->reference = *next;
        *next = (struct ys_reference){0};
    }
    return prove(v, request, key, proof);
}

ys_status ys_verify_prove(struct ys_verifier *verifier, const struct ys_verify_request *request, ys_json **proof)
{
    ys_json *made = NULL;
    if (request->framework->no_work) {
        made = ys_json_object();
        YS_TRY(set_verdict(made, "none", "this adapter does no work, so there is nothing to prove"));
        *proof = made;
        return YS_OK;
    }
    struct ys_reference next;
    YS_TRY(ys_reference_open(request->plan, verifier->work.path, &next));
    char *key = proof_key(verifier, request, next.identity), *path = NULL;
    ys_status status = key ? cache_file(key, &path) : ys_out_of_memory();
    if (status == YS_OK)
        status = request->fresh ? YS_ENOTFOUND : ys_kept_read(path, key, &made);
    if (status == YS_EFORMAT)
        ys_log_warn("%s: proven anew", ys_error());
    if (status == YS_ENOTFOUND || status == YS_EFORMAT) {
        made = ys_json_object();
        status = prove_work(verifier, request, &next, key, made);
        if (status == YS_OK && request->check_inputs)
            status = request->check_inputs(request->context);
        /* A session that broke says nothing lasting about the work: it is tried again next time. */
        if (status == YS_OK && ys_json_get_bool(made, "lasting", false))
            status = ys_kept_write(path, made);
    }
    ys_reference_close(&next);
    if (status == YS_OK)
        *proof = made;
    else
        ys_json_free(made);
    ys_free(path);
    ys_free(key);
    return status;
}

/* Whether it is the trial's own format in which the difference shows, or the only one there is. */
static bool shows_in_format(const struct ys_verify_request *request, const ys_json *proof)
{
    const ys_json *checks = ys_json_get(proof, "checks");
    bool meaning = false, numerics = false;
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        bool failed = !ys_json_get_bool(check, "pass", true);
        meaning |= failed && strcmp(ys_json_get_text(check, "half", ""), "meaning") == 0;
        numerics |= failed && strcmp(ys_json_get_text(check, "half", ""), "numerics") == 0;
    }
    bool in_double = request->framework->has_double &&
                     (ys_check_of_proof(ys_json_get(proof, "checks"), "meaning", "logits") || !ys_json_size(checks));
    return !in_double || (numerics && !meaning);
}

ys_status ys_verify_trace(struct ys_verifier *verifier, const struct ys_verify_request *request, const ys_json *proof,
                          ys_json **trace)
{
    char *folder = NULL;
    say(request, "tracing");
    YS_TRY(make_folder(verifier, "trace", &folder));
    struct ys_trace_request asked = {
        .oracle = verifier->oracle,
        .framework = request->framework,
        .plan = request->plan,
        .env = request->env,
        .patience_s = patience(request),
        .folder = folder,
        .in_format = shows_in_format(request, proof),
        .forward_bound = ys_json_get_number(ys_check_of_proof(ys_json_get(proof, "checks"), "meaning", "logits"),
                                            "bound", YS_VERIFY_MEANING_BOUND),
        .backward_bound = ys_json_get_number(ys_check_of_proof(ys_json_get(proof, "checks"), "meaning", "gradients"),
                                             "bound", YS_VERIFY_MEANING_BOUND),
    };
    ys_status status = ys_trace_make(&asked, trace);
    ys_free(folder);
    return status;
}
