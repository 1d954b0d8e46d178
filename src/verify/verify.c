/* The order of a proof: oracle once per work, twins once per work and format, then the framework, then the checks. */
#include "verify/verify.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "probe/host.h"
#include "verify/check.h"
#include "verify/evidence.h"
#include "verify/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct ys_verifier {
    const struct ys_framework *oracle;
    char *machine; /* CPU model and instruction sets: another machine proves anew */
    char *folder;  /* everything this verifier wrote; removed at the end */
    char *work;    /* of what follows; NULL before the first proof */
    char *order;   /* the proof's order file */
    int64_t rows;
    struct ys_evidence said;  /* by the oracle, in double */
    struct ys_numerics twins; /* their worst figures; */
    bool twins_asked;         /* once they ran in `twins_precision` */
    char twins_precision[8];
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
    char name[64], *folder = NULL;
    if (!v)
        return ys_out_of_memory();
    snprintf(name, sizeof name, "proofs/working-%ld", (long)getpid());
    ys_status status = ys_cache_path(name, &folder);
    if (status == YS_OK)
        status = describe_machine(&v->machine);
    if (status != YS_OK) {
        ys_free(folder);
        ys_free(v);
        return status;
    }
    v->oracle = oracle;
    v->folder = folder;
    v->twins_asked = false;
    *verifier = v;
    return YS_OK;
}

static void forget_work(struct ys_verifier *v)
{
    ys_evidence_fini(&v->said);
    ys_free(v->work);
    ys_free(v->order);
    v->work = v->order = NULL;
    v->twins_asked = false;
}

void ys_verifier_close(struct ys_verifier *verifier)
{
    if (!verifier)
        return;
    forget_work(verifier);
    if (ys_fs_remove_tree(verifier->folder) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_free(verifier->machine);
    ys_free(verifier->folder);
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
    *folder = ys_path_join(v->folder, name);
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

/* What the oracle says of this work; kept until another work comes. */
static ys_status ask_oracle(struct ys_verifier *v, const struct ys_verify_request *request)
{
    if (v->work && strcmp(v->work, request->work) == 0)
        return YS_OK;
    forget_work(v);
    say(request, "asking the oracle");
    char *folder = NULL;
    YS_TRY(make_folder(v, "oracle", &folder));
    v->order = ys_path_join(v->folder, "order.safetensors");
    ys_status status = v->order ? ys_proof_order_write(request->plan, v->order, &v->rows) : ys_out_of_memory();
    if (status == YS_OK) {
        ys_json *base = ys_proof_plan(request->plan, v->order, v->rows, "f64", folder);
        ys_json *plan = ys_proof_plan_builtin(base, "ref", folder);
        status =
            ys_evidence_collect(v->oracle, plan, NULL, YS_EVIDENCE_PATIENCE_S, YS_EVIDENCE_STEPS, folder, &v->said);
        ys_json_free(plan);
        ys_json_free(base);
    }
    if (status == YS_OK && v->said.status)
        status = ys_fail(YS_EINTERNAL, "the oracle ended as %s: %s", v->said.status, v->said.message);
    if (status == YS_OK) {
        v->work = ys_strdup(request->work);
        status = v->work ? YS_OK : ys_out_of_memory();
    }
    ys_free(folder);
    return status;
}

/* One twin: how far the built-in engine in the trial's format gets from the oracle when everything is moved by one
 * unit. */
static ys_status ask_twin(struct ys_verifier *v, const ys_json *plan, int twin, const char *folder,
                          struct ys_numerics *worst)
{
    struct ys_evidence said = {0};
    ys_json *moved = ys_proof_plan_builtin(plan, NULL, folder);
    uint64_t seed = (uint64_t)ys_json_get_int(plan, "seed", 0);
    ys_status status = ys_proof_move(moved, seed, twin, folder);
    if (status == YS_OK)
        status = ys_evidence_collect(v->oracle, moved, NULL, YS_EVIDENCE_PATIENCE_S, YS_EVIDENCE_FIRST, folder, &said);
    if (status == YS_OK && said.status)
        status = ys_fail(YS_EINTERNAL, "twin %d ended as %s: %s", twin, said.status, said.message);
    if (status == YS_OK) {
        struct ys_numerics found;
        ys_check_numerics(&said, &v->said, &found);
        worst->forward.error = fmax(worst->forward.error, found.forward.error);
        worst->gradients.error = fmax(worst->gradients.error, found.gradients.error);
    }
    ys_evidence_fini(&said);
    ys_json_free(moved);
    return status;
}

static ys_status ask_twins(struct ys_verifier *v, const struct ys_verify_request *request, const char *precision)
{
    if (v->twins_asked && strcmp(v->twins_precision, precision) == 0)
        return YS_OK;
    say(request, "asking eight twins");
    char *folder = NULL;
    YS_TRY(make_folder(v, "twin", &folder));
    ys_json *plan = ys_proof_plan(request->plan, v->order, v->rows, precision, folder);
    struct ys_numerics worst = {0};
    ys_status status = YS_OK;
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_TWINS; twin++)
        status = ask_twin(v, plan, twin, folder, &worst);
    if (status == YS_OK) {
        v->twins = worst;
        v->twins_asked = true;
        snprintf(v->twins_precision, sizeof v->twins_precision, "%s", precision);
    }
    ys_json_free(plan);
    ys_free(folder);
    return status;
}

/* Both halves of one framework's proof, into `proof`. */
static ys_status ask_framework(struct ys_verifier *v, const struct ys_verify_request *request, ys_json *proof)
{
    const char *precision = ys_json_get_text(request->plan, "precision", "f32");
    struct ys_evidence meaning = {0}, numerics = {0};
    /* One answer of a proof may stand for many of a run: up to ten steps, in double. */
    double patience_s = request->stall_limit_s > 0 ? 10 * request->stall_limit_s : YS_EVIDENCE_PATIENCE_S;
    struct ys_graph *graph = NULL;
    char *folder = NULL;
    YS_TRY(ys_graph_read(ys_json_get_text(request->plan, "graph", ""), &graph));
    ys_status status = make_folder(v, "framework", &folder);
    if (status == YS_OK && request->framework->has_double) {
        say(request, "proving the meaning in double");
        ys_json *plan = ys_proof_plan(request->plan, v->order, v->rows, "f64", folder);
        status = ys_evidence_collect(request->framework, plan, request->env, patience_s, YS_EVIDENCE_STEPS, folder,
                                     &meaning);
        ys_json_free(plan);
    }
    bool lost = meaning.status && strcmp(meaning.status, "unsupported") != 0;
    if (status == YS_OK && !lost) {
        say(request, "proving the numerics");
        ys_json *plan = ys_proof_plan(request->plan, v->order, v->rows, precision, folder);
        status = ys_evidence_collect(request->framework, plan, request->env, patience_s, YS_EVIDENCE_BATCHES, folder,
                                     &numerics);
        ys_json_free(plan);
    }
    if (status == YS_OK)
        status = ys_check_all(graph, &meaning, lost ? NULL : &numerics, &v->said, &v->twins,
                              ys_json_get_text(request->plan, "weights", ""), request->framework->has_double, proof);
    ys_evidence_fini(&meaning);
    ys_evidence_fini(&numerics);
    ys_graph_free(graph);
    ys_free(folder);
    return status;
}

/* Everything that a proof depends on, as text: the work, the framework, the oracle, options, threads, instruction set.
 */
static char *proof_key(const struct ys_verifier *v, const struct ys_verify_request *request)
{
    char hash[YS_SHA256_TEXT];
    char *options = ys_json_dump(ys_json_get(request->plan, "options"), YS_JSON_SORTED);
    char *optimizer = ys_json_dump(ys_json_get(request->plan, "optimizer"), YS_JSON_SORTED);
    char *env = ys_json_dump(request->env, YS_JSON_SORTED);
    char *text =
        ys_format("%d|%s|%s|%s|%s|%s|%s|%lld|%s|%s", YS_VERIFY_VERSION, request->work, request->framework->closure,
                  v->oracle->closure, options, optimizer, ys_json_get_text(request->plan, "precision", "f32"),
                  (long long)ys_json_get_int(request->plan, "threads", 0), v->machine, env ? env : "");
    if (text)
        ys_sha256_text(text, strlen(text), hash);
    ys_free(options);
    ys_free(optimizer);
    ys_free(env);
    char *key = text ? ys_strdup(hash) : NULL;
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
    ys_json_set_int(proof, "rows", v->rows);
    ys_json_set_int(proof, "batches", YS_VERIFY_BATCHES);
    ys_json_set_string(proof, "date", date);
}

static ys_status prove(struct ys_verifier *v, const struct ys_verify_request *request, const char *key, ys_json *proof)
{
    uint64_t start_ns = ys_time_ns();
    YS_TRY(ask_oracle(v, request));
    YS_TRY(ask_twins(v, request, ys_json_get_text(request->plan, "precision", "f32")));
    describe(v, request, key, proof);
    YS_TRY(ask_framework(v, request, proof));
    ys_json *twins = ys_json_object();
    ys_json_set_int(twins, "count", YS_VERIFY_TWINS);
    ys_json_set_real(twins, "forward", v->twins.forward.error);
    ys_json_set_real(twins, "gradients", v->twins.gradients.error);
    ys_json_set(proof, "twins", twins);
    return ys_json_set_real(proof, "seconds", (double)(ys_time_ns() - start_ns) * 1e-9);
}

static ys_json *no_proof(const char *reason)
{
    ys_json *proof = ys_json_object();
    ys_json_set_string(proof, "verdict", "none");
    ys_json_set_string(proof, "reason", reason);
    ys_json_set(proof, "checks", ys_json_array());
    return proof;
}

ys_status ys_verify_prove(struct ys_verifier *verifier, const struct ys_verify_request *request, ys_json **proof)
{
    if (request->framework->no_work) {
        *proof = no_proof("this adapter does no work, so there is nothing to prove");
        return *proof ? YS_OK : ys_out_of_memory();
    }
    char *key = proof_key(verifier, request), *path = NULL;
    if (!key)
        return ys_out_of_memory();
    ys_status status = cache_file(key, &path);
    ys_json *made = NULL;
    if (status == YS_OK && !request->fresh && ys_fs_exists(path) && ys_json_read(path, &made) == YS_OK) {
        ys_json_set_bool(made, "cached", true);
    } else if (status == YS_OK) {
        made = ys_json_object();
        status = prove(verifier, request, key, made);
        /* A session that broke says nothing lasting about the work: it is tried again next time. */
        if (status == YS_OK && ys_json_get_bool(made, "lasting", false))
            status = ys_json_write(path, made);
    }
    if (status == YS_OK)
        *proof = made;
    else
        ys_json_free(made);
    ys_free(path);
    ys_free(key);
    return status;
}
