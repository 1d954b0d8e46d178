#include "verify/cached_proofs.h"

#include "base/hash.h"
#include "base/mem.h"
#include "verify/oracle/proof_checks.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const char SUM[] = "sha256";

struct proof_seal {
    const char *sha256;
};

static const struct ys_field sealed_fields[] = {
    YS_FIELD(struct proof_seal, sha256, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of the rest"),
};
static const struct ys_record sealed_record = YS_RECORD("proof", struct proof_seal, sealed_fields);

/* Over everything but the sum itself; the key is among it, and what a newer version may have written. */
static void sum_of(const ys_json *proof, char sum[YS_SHA256_TEXT])
{
    ys_json *copy = ys_json_copy(proof);
    ys_json_remove(copy, SUM);
    char *text = copy ? ys_json_dump(copy, YS_JSON_SORTED) : NULL;
    if (text)
        ys_sha256_text(text, strlen(text), sum);
    ys_json_free(copy);
    ys_free(text);
}

ys_status ys_kept_write(const char *path, const struct ys_proof *proof)
{
    char sum[YS_SHA256_TEXT];
    ys_json *kept = ys_record_json(&ys_proof_record, proof);
    sum_of(kept, sum);
    ys_json_set_string(kept, SUM, sum);
    ys_status status = ys_json_write(path, kept);
    ys_json_free(kept);
    return status;
}

static double bound_below(double apart, double ceiling)
{
    double bound = YS_VERIFY_TWIN_FACTOR * fmax(apart, YS_VERIFY_TWIN_LEAST);
    return isnan(apart) || !(bound <= ceiling) ? (double)NAN : bound;
}

/* The bound that a check must have had; of meaning the largest. NaN: none, for want of twins or above their ceiling. */
static double bound_of(const struct ys_proof *proof, const struct ys_proof_check *check)
{
    bool is_gradients = strncmp(check->name, "gradients", strlen("gradients")) == 0;
    if (check->half == YS_PROOF_WORK)
        return 0;
    if (check->half == YS_PROOF_MEANING)
        return YS_VERIFY_MEANING_LIMIT;
    if (strncmp(check->name, YS_CHECK_VECTORS, strlen(YS_CHECK_VECTORS)) == 0)
        return YS_VERIFY_SUM_IN_BF16;
    const struct ys_proof_twins *twins = proof->twins;
    if (strstr(check->name, YS_CHECK_WHOLE))
        twins = proof->whole ? proof->whole->twins : NULL;
    if (strcmp(check->name, YS_CHECK_TIES) == 0)
        return YS_VERIFY_TIES;
    if (twins && strcmp(check->name, YS_CHECK_INPUT_GRADIENT) == 0)
        return bound_below(twins->input_gradient, twins->input_gradient_ceiling);
    double apart = !twins ? (double)NAN : is_gradients ? twins->gradients : twins->forward;
    double ceiling = !twins ? (double)NAN : is_gradients ? twins->gradients_ceiling : twins->forward_ceiling;
    return bound_below(apart, ceiling);
}

/* Whether the check passes as it says, within a bound as it had to be. */
static bool follows(const struct ys_proof *proof, const struct ys_proof_check *check)
{
    double right = bound_of(proof, check);
    bool good = check->half == YS_PROOF_MEANING ? check->bound >= YS_VERIFY_MEANING_BOUND && check->bound <= right
                                                : check->bound == right;
    if (check->half == YS_PROOF_NUMERICS && strstr(check->name, YS_CHECK_WHOLE)) /* sums of batch norms may widen it */
        good |= check->bound > right && check->bound < YS_VERIFY_SUM_IN_BF16;
    return good && !(check->error < 0) && check->pass == (check->error <= check->bound);
}

/* Whether every group that a proof has is there. */
static bool is_whole(const struct ys_proof *proof)
{
    bool meaning = ys_proof_find(proof, YS_PROOF_MEANING, "logits") && ys_proof_find(proof, YS_PROOF_MEANING, "loss");
    return ys_proof_find(proof, YS_PROOF_WORK, "parameters") &&
           ys_proof_find(proof, YS_PROOF_WORK, "initial weights") && ys_proof_find(proof, YS_PROOF_WORK, "batches") &&
           (meaning || ys_proof_find(proof, YS_PROOF_NUMERICS, "logits and loss"));
}

/* Why the proof is not to be believed; NULL. */
static const char *look_at(const struct ys_proof *proof, const char *key)
{
    if (!proof->key || strcmp(proof->key, key) != 0)
        return "it is the proof of something else";
    if (!is_whole(proof) || proof->lasting != 1)
        return "it is not whole";
    for (size_t i = 0; i < proof->checks.count; i++)
        if (!follows(proof, ys_proof_check_at(proof, i)))
            return "a check of it does not follow from its error and bound";
    if (proof->verdict != (int)ys_check_verdict(proof))
        return "its verdict does not follow from its checks";
    return NULL;
}

/* Takes the sum off `kept` and reads the rest. */
static ys_status read_kept(ys_json *kept, const char *path, const char *key, struct ys_proof *proof)
{
    char sum[YS_SHA256_TEXT];
    sum_of(kept, sum);
    struct proof_seal sealed;
    ys_record_glance(&sealed_record, kept, &sealed);
    if (!sealed.sha256 || strcmp(sealed.sha256, sum) != 0)
        return ys_fail(YS_EFORMAT, "the proof in %s was damaged (SHA-256 differs)", path);
    YS_TRY(ys_proof_read(kept, path, proof));
    const char *reason = look_at(proof, key);
    if (!reason)
        return YS_OK;
    ys_proof_fini(proof);
    return ys_fail(YS_EFORMAT, "the proof in %s was damaged (%s)", path, reason);
}

ys_status ys_kept_read(const char *path, const char *key, struct ys_proof *proof)
{
    ys_json *kept = NULL;
    ys_proof_init(proof);
    ys_status status = ys_json_read(path, &kept);
    if (status == YS_ENOTFOUND)
        return status;
    if (status != YS_OK)
        return ys_fail(YS_EFORMAT, "the proof kept in the cache cannot be read (%s)", ys_error());
    status = read_kept(kept, path, key, proof);
    if (status == YS_OK)
        proof->cached = true;
    ys_json_free(kept);
    return status;
}
