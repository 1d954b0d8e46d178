#include "verify/kept.h"

#include "base/hash.h"
#include "base/mem.h"
#include "verify/check.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const char SUM[] = "sha256";

/* Over everything but the sum itself; the key is among it. */
static ys_status sum_of(const ys_json *proof, char sum[YS_SHA256_TEXT])
{
    ys_json *copy = ys_json_copy(proof);
    ys_json_remove(copy, SUM);
    char *text = copy ? ys_json_dump(copy, YS_JSON_SORTED) : NULL;
    if (text)
        ys_sha256_text(text, strlen(text), sum);
    ys_json_free(copy);
    ys_free(text);
    return text ? YS_OK : ys_out_of_memory();
}

ys_status ys_kept_write(const char *path, const ys_json *proof)
{
    char sum[YS_SHA256_TEXT];
    YS_TRY(sum_of(proof, sum));
    ys_json *kept = ys_json_copy(proof);
    ys_status status = kept ? ys_json_set_string(kept, SUM, sum) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_json_write(path, kept);
    ys_json_free(kept);
    return status;
}

/* The bound that a check of `half` must have had; of meaning the largest. */
static double bound_of(const ys_json *proof, const ys_json *check)
{
    const char *half = ys_json_get_text(check, "half", "");
    const char *name = ys_json_get_text(check, "name", "");
    bool is_gradients = strncmp(name, "gradients", strlen("gradients")) == 0;
    if (strcmp(half, "work") == 0)
        return 0;
    if (strcmp(half, "meaning") == 0)
        return YS_VERIFY_MEANING_LIMIT;
    const ys_json *of = strstr(name, YS_CHECK_WHOLE) ? ys_json_get(proof, "whole") : proof;
    const ys_json *twins = ys_json_get(of, "twins");
    double apart = ys_json_get_number(twins, is_gradients ? "gradients" : "forward", INFINITY);
    return YS_VERIFY_TWIN_FACTOR * fmax(apart, YS_VERIFY_TWIN_LEAST);
}

static bool is_half(const char *half)
{
    return strcmp(half, "work") == 0 || strcmp(half, "meaning") == 0 || strcmp(half, "numerics") == 0;
}

/* Whether the check passes as it says, within a bound as it had to be. */
static bool follows(const ys_json *proof, const ys_json *check)
{
    const ys_json *said = ys_json_get(check, "pass");
    double error = ys_json_get_number(check, "error", INFINITY), bound = ys_json_get_number(check, "bound", NAN);
    if (!is_half(ys_json_get_text(check, "half", "")) || ys_json_type_of(said) != YS_JSON_BOOL || error < 0)
        return false;
    bool is_meaning = strcmp(ys_json_get_text(check, "half", ""), "meaning") == 0;
    double right = bound_of(proof, check);
    bool good = is_meaning ? bound >= YS_VERIFY_MEANING_BOUND && bound <= right : bound == right;
    return good && ys_json_truth(said, false) == (error <= bound);
}

/* Whether every group that a proof has is there. */
static bool is_whole(const ys_json *checks)
{
    bool meaning = ys_check_of_proof(checks, "meaning", "logits") && ys_check_of_proof(checks, "meaning", "loss");
    return ys_check_of_proof(checks, "work", "parameters") && ys_check_of_proof(checks, "work", "initial weights") &&
           ys_check_of_proof(checks, "work", "batches") &&
           (meaning || ys_check_of_proof(checks, "numerics", "logits and loss"));
}

/* Why the proof is not to be believed; NULL. */
static const char *look_at(const ys_json *proof, const char *key, const char *sum)
{
    const ys_json *checks = ys_json_get(proof, "checks");
    if (strcmp(ys_json_get_text(proof, SUM, ""), sum) != 0)
        return "SHA-256 differs";
    if (strcmp(ys_json_get_text(proof, "key", ""), key) != 0)
        return "it is the proof of something else";
    if (!is_whole(checks) || !ys_json_get_bool(proof, "lasting", false))
        return "it is not whole";
    for (size_t i = 0; i < ys_json_size(checks); i++)
        if (!follows(proof, ys_json_at(checks, i)))
            return "a check of it does not follow from its error and bound";
    if (strcmp(ys_json_get_text(proof, "verdict", ""), ys_check_verdict(checks)) != 0)
        return "its verdict does not follow from its checks";
    return NULL;
}

ys_status ys_kept_read(const char *path, const char *key, ys_json **proof)
{
    ys_json *kept = NULL;
    char sum[YS_SHA256_TEXT];
    ys_status status = ys_json_read(path, &kept);
    if (status == YS_ENOTFOUND || status == YS_ENOMEM)
        return status;
    if (status != YS_OK)
        return ys_fail(YS_EFORMAT, "the proof kept in the cache cannot be read (%s)", ys_error());
    status = sum_of(kept, sum);
    const char *reason = status == YS_OK ? look_at(kept, key, sum) : NULL;
    if (reason)
        status = ys_fail(YS_EFORMAT, "the proof in %s was damaged (%s)", path, reason);
    if (status == YS_OK) {
        ys_json_remove(kept, SUM);
        status = ys_json_set_bool(kept, "cached", true);
    }
    if (status == YS_OK)
        *proof = kept;
    else
        ys_json_free(kept);
    return status;
}
