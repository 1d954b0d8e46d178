/* What of a proof in the cache is believed. */
#include "base/hash.h"
#include "files.h"
#include "tap.h"
#include "verify/kept.h"
#include "verify/verify.h"

static const char KEY[] = "a3";

static void add_check(ys_json *proof, const char *half, const char *name, double error, double bound, bool pass)
{
    ys_json *check = ys_json_object();
    ys_json_set_string(check, "half", half);
    ys_json_set_string(check, "name", name);
    ys_json_set(check, "error", isfinite(error) ? ys_json_real(error) : ys_json_null());
    ys_json_set_real(check, "bound", bound);
    ys_json_set_bool(check, "pass", pass);
    ys_json_set_string(check, "worst", NULL);
    CHECK(ys_json_append(ys_json_get(proof, "checks"), check) == YS_OK);
}

/* One that passes; `error` is that of its logits in double. */
static ys_json *make_proof(double error, const char *verdict)
{
    ys_json *proof = ys_json_object(), *twins = ys_json_object();
    ys_json_set_string(proof, "key", KEY);
    ys_json_set_string(proof, "verdict", verdict);
    ys_json_set_bool(proof, "lasting", true);
    ys_json_set_bool(proof, "cached", false);
    ys_json_set_real(proof, "seconds", 1.0 / 3);
    ys_json_set_real(twins, "forward", 1e-5);
    ys_json_set_real(twins, "gradients", 0);
    ys_json_set(proof, "twins", twins);
    ys_json_set(proof, "checks", ys_json_array());
    add_check(proof, "work", "parameters", 0, 0, true);
    add_check(proof, "work", "initial weights", 0, 0, true);
    add_check(proof, "work", "batches", 0, 0, true);
    add_check(proof, "meaning", "logits", error, YS_VERIFY_MEANING_BOUND, error <= YS_VERIFY_MEANING_BOUND);
    add_check(proof, "meaning", "loss", 1e-14, YS_VERIFY_MEANING_BOUND, true);
    add_check(proof, "numerics", "logits and loss", 1e-6, 8e-5, true);
    add_check(proof, "numerics", "gradients", 1e-8, 8 * 0x1p-23, true);
    return proof;
}

/* Written, then read as the proof of `key`. */
static ys_status keep_and_read(ys_json *proof_taken, const char *key)
{
    ys_json *read = NULL;
    CHECK(ys_kept_write(files_path("kept.json"), proof_taken) == YS_OK);
    ys_json_free(proof_taken);
    ys_status status = ys_kept_read(files_path("kept.json"), key, &read);
    ys_json_free(read);
    return status;
}

/* A check of a proof that passes. */
static ys_json *check_of(ys_json *proof, size_t index)
{
    return ys_json_at(ys_json_get(proof, "checks"), index);
}

static void what_was_kept_comes_back(void)
{
    ys_json *proof = make_proof(1e-12, "pass"), *read = NULL;
    REQUIRE(ys_kept_write(files_path("whole.json"), proof) == YS_OK);
    REQUIRE(ys_kept_read(files_path("whole.json"), KEY, &read) == YS_OK);
    CHECK(ys_json_get_bool(read, "cached", false));
    ys_json_set_bool(read, "cached", false);
    CHECK(ys_json_equal(proof, read));
    ys_json_free(proof);
    ys_json_free(read);
    CHECK_INT(ys_kept_read(files_path("nowhere.json"), KEY, &read), YS_ENOTFOUND);
    CHECK_INT(keep_and_read(make_proof(1e-3, "fail"), KEY), YS_OK);
    CHECK_INT(keep_and_read(make_proof(INFINITY, "fail"), KEY), YS_OK);
}

static void what_somebody_wrote_is_no_proof(void)
{
    static const char *const bad[] = {"{\"verdict\":\"pass\"}",
                                      "{}",
                                      "[]",
                                      "null",
                                      "",
                                      "{\"verdict\":\"pass\",\"checks\":[]}",
                                      "{\"verdict\":\"pass\",\"key\":\"a3\",\"lasting\":true,\"checks\":[]}"};
    ys_json *read = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(ys_fs_write(files_path("bad.json"), bad[i], strlen(bad[i])) == YS_OK);
        tap_check(ys_kept_read(files_path("bad.json"), KEY, &read) == YS_EFORMAT, __LINE__, "%s is believed", bad[i]);
        CHECK(!read);
    }
}

static void a_member_that_was_changed_is_found(void)
{
    ys_json *kept = NULL, *read = NULL, *proof = make_proof(1e-3, "fail");
    REQUIRE(ys_kept_write(files_path("changed.json"), proof) == YS_OK);
    REQUIRE(ys_json_read(files_path("changed.json"), &kept) == YS_OK);
    ys_json_set_string(kept, "verdict", "pass");
    ys_json_set_bool(check_of(kept, 3), "pass", true);
    REQUIRE(ys_json_write(files_path("changed.json"), kept) == YS_OK);
    CHECK_INT(ys_kept_read(files_path("changed.json"), KEY, &read), YS_EFORMAT);
    CHECK_HAS(ys_error(), "changed.json was damaged (SHA-256 differs)");
    ys_json_free(kept);
    ys_json_free(proof);
}

static void the_proof_of_something_else_is_refused(void)
{
    CHECK_INT(keep_and_read(make_proof(1e-12, "pass"), "b4"), YS_EFORMAT);
    CHECK_HAS(ys_error(), "something else");
}

/* As if a program with a mistake had kept it: its sum is right. */
static void a_verdict_must_follow_from_its_checks(void)
{
    CHECK_INT(keep_and_read(make_proof(1e-3, "pass"), KEY), YS_EFORMAT);
    CHECK_HAS(ys_error(), "its verdict does not follow");
    CHECK_INT(keep_and_read(make_proof(1e-12, "weak"), KEY), YS_EFORMAT);
    CHECK_INT(keep_and_read(make_proof(1e-12, "none"), KEY), YS_EFORMAT);
    static const struct {
        size_t check;
        const char *member;
        double value;
    } moved[] = {{0, "bound", 5}, {3, "error", 1e-8}, {3, "bound", 1e-3},
                 {3, "bound", 0}, {5, "bound", 1},    {6, "error", -1}};
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
        ys_json *proof = make_proof(1e-12, "pass");
        ys_json_set_real(check_of(proof, moved[i].check), moved[i].member, moved[i].value);
        tap_check(keep_and_read(proof, KEY) == YS_EFORMAT, __LINE__, "change %zu is believed", i);
        CHECK_HAS(ys_error(), "a check of it does not follow");
    }
    ys_json *proof = make_proof(1e-12, "pass");
    ys_json_set(check_of(proof, 3), "pass", ys_json_string("yes"));
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
    proof = make_proof(1e-12, "pass");
    ys_json_set_bool(proof, "lasting", false);
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
}

TAP_MAIN(TAP_CASE(what_was_kept_comes_back), TAP_CASE(what_somebody_wrote_is_no_proof),
         TAP_CASE(a_member_that_was_changed_is_found), TAP_CASE(the_proof_of_something_else_is_refused),
         TAP_CASE(a_verdict_must_follow_from_its_checks))
