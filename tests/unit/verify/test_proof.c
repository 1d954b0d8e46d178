/* Proofs there and back. tests/fixtures/proof has what builds before this one wrote. */
#include "files.h"
#include "tap.h"
#include "verify/proof.h"

#include <math.h>
#include <string.h>

static ys_json *fixture(const char *name)
{
    char path[512];
    const char *root = getenv("YS_SOURCE_ROOT");
    ys_json *json = NULL;
    snprintf(path, sizeof path, "%s/tests/fixtures/proof/%s", root ? root : ".", name);
    CHECK(ys_json_read(path, &json) == YS_OK);
    return json;
}

/* An audit may have members that came later; those that it had are the same. */
static void audit_has(ys_json *proof, ys_json *back)
{
    const ys_json *there = ys_json_get(proof, "audit"), *here = ys_json_get(back, "audit");
    CHECK(!there == !here);
    for (void *it = ys_json_iter(there); it; it = ys_json_next(there, it))
        tap_check(ys_json_equal(ys_json_get(here, ys_json_iter_key(it)), ys_json_iter_value(it)), __LINE__, "audit.%s",
                  ys_json_iter_key(it));
    ys_json_remove(proof, "audit");
    ys_json_remove(back, "audit");
}

static void comes_back(ys_json *json, const char *name)
{
    struct ys_proof proof;
    if (!tap_check(ys_proof_read(json, name, &proof) == YS_OK, __LINE__, "%s: %s", name, ys_error()))
        return;
    ys_json *back = ys_record_json(&ys_proof_record, &proof);
    audit_has(json, back);
    tap_check(ys_json_equal(back, json), __LINE__, "%s comes back as something else", name);
    char *there = ys_json_dump(json, YS_JSON_COMPACT), *here = ys_json_dump(back, YS_JSON_COMPACT);
    /* Members of a proof without checks stood in another order. */
    if (proof.checks.count > 0)
        CHECK_TEXT(here, there);
    ys_free(there);
    ys_free(here);
    ys_json_free(back);
    ys_proof_fini(&proof);
}

static void proofs_of_every_kind_come_back_as_they_were_written(void)
{
    ys_json *all = fixture("proofs.json");
    REQUIRE(ys_json_size(all) >= 9);
    for (void *it = ys_json_iter(all); it; it = ys_json_next(all, it))
        comes_back(ys_json_iter_value(it), ys_json_iter_key(it));
    ys_json_free(all);
}

static void a_kept_file_comes_back_byte_for_byte(void)
{
    struct ys_buf there = {0}, here = {0};
    char path[512];
    const char *root = getenv("YS_SOURCE_ROOT");
    struct ys_proof proof;
    ys_json *json = fixture("kept.json");
    char *sum = ys_strdup(ys_json_get_text(json, "sha256", ""));
    REQUIRE(ys_proof_read(json, "kept.json", &proof) == YS_OK);
    ys_json *back = ys_record_json(&ys_proof_record, &proof);
    CHECK(ys_json_set_string(back, "sha256", sum) == YS_OK);
    REQUIRE(ys_json_write(files_path("kept.json"), back) == YS_OK);
    snprintf(path, sizeof path, "%s/tests/fixtures/proof/kept.json", root ? root : ".");
    REQUIRE(ys_fs_read(path, 1 << 20, &there) == YS_OK && ys_fs_read(files_path("kept.json"), 1 << 20, &here) == YS_OK);
    CHECK_TEXT(ys_buf_text(&here), ys_buf_text(&there));
    ys_buf_free(&there);
    ys_buf_free(&here);
    ys_free(sum);
    ys_json_free(back);
    ys_json_free(json);
    ys_proof_fini(&proof);
}

static void members_hold_what_was_read(void)
{
    ys_json *all = fixture("proofs.json");
    struct ys_proof proof;
    REQUIRE(ys_proof_read(ys_json_get(all, "fail with a trace"), "the fixture", &proof) == YS_OK);
    CHECK(proof.verdict == YS_PROOF_FAIL && proof.lasting == 1 && proof.cached == 0 && proof.rows == 8);
    CHECK(proof.whole && proof.whole->in_double && !proof.whole->twins);
    const struct ys_proof_check *check = ys_proof_find(&proof, YS_PROOF_MEANING, "gradients, whole batch");
    REQUIRE(check);
    CHECK(!check->pass && check->error > check->bound && check->bound == 1e-9);
    CHECK(!ys_proof_find(&proof, YS_PROOF_NUMERICS, "gradients, whole batch"));
    ys_proof_drop_checks(&proof);
    CHECK(proof.checks.count == 0 && !proof.twins && !proof.whole);
    CHECK(proof.trace && proof.trace->precision == YS_PRECISION_F64 && proof.trace->forward.first == YS_FIELD_NONE);
    CHECK(proof.trace->forward.places.count > 0 && proof.trace->backward->places.count > 0);
    ys_proof_fini(&proof);
    CHECK(!proof.trace && !proof.whole && proof.checks.count == 0 && proof.verdict == YS_PROOF_NONE);
    REQUIRE(ys_proof_read(ys_json_get(all, "adapter broke off"), "the fixture", &proof) == YS_OK);
    CHECK(proof.ended == YS_RUN_STALLED && proof.lasting == 0 && isnan(proof.twins->gradients) == 0);
    ys_proof_fini(&proof);
    REQUIRE(ys_proof_read(ys_json_get(all, "work diverges"), "the fixture", &proof) == YS_OK);
    CHECK(proof.ended == YS_NAME_NONE && proof.lasting == YS_NAME_NONE && proof.verdict == YS_PROOF_NONE);
    ys_proof_fini(&proof);
    REQUIRE(ys_proof_read(ys_json_get(all, "inference"), "the fixture", &proof) == YS_OK);
    CHECK(isnan(proof.twins->gradients) && proof.twins->forward > 0);
    ys_proof_fini(&proof);
    ys_json_free(all);
}

static void an_infinite_error_is_null_and_fails(void)
{
    struct ys_proof proof;
    struct ys_proof_pass pass;
    ys_proof_init(&proof);
    ys_proof_add_check(&proof, YS_PROOF_WORK, "batches", INFINITY, 0, "batch 3");
    ys_proof_add_check(&proof, YS_PROOF_WORK, "parameters", NAN, 0, NULL);
    CHECK(isnan(ys_proof_check_at(&proof, 0)->error) && !ys_proof_check_at(&proof, 0)->pass);
    CHECK(!ys_proof_check_at(&proof, 1)->pass);
    ys_json *json = ys_record_json(&ys_proof_record, &proof);
    char *text = ys_json_dump(json, YS_JSON_COMPACT);
    CHECK_TEXT(text, "{\"checks\":[{\"half\":\"work\",\"name\":\"batches\",\"error\":null,\"bound\":0.0,\"pass\":false,"
                     "\"worst\":\"batch 3\"},{\"half\":\"work\",\"name\":\"parameters\",\"error\":null,\"bound\":0.0,"
                     "\"pass\":false,\"worst\":null}],\"verdict\":\"none\",\"reason\":null}");
    ys_free(text);
    ys_json_free(json);
    ys_proof_fini(&proof);
    ys_record_init(&ys_proof_pass_record, &pass);
    ys_proof_add_place(&pass, "conv1", "Conv", "a", 1e-12, 1e-9);
    CHECK(pass.first == YS_FIELD_NONE);
    ys_proof_add_place(&pass, "conv2", "Conv", "b", INFINITY, 1e-9);
    CHECK(pass.first == 1);
    ys_proof_add_place(&pass, "fc", "Gemm", "c", 1, 1e-9);
    CHECK(pass.first == 1);
    ys_record_fini(&ys_proof_pass_record, &pass);
}

static void what_is_wrong_is_named(void)
{
    static const struct {
        const char *text, *error;
    } known[] = {
        {"{}", "a proof: proof.verdict is missing: must be a text"},
        {"{\"verdict\":\"good\"}", "a proof: proof.verdict is \"good\": no verdict of a proof of this version"},
        {"{\"verdict\":\"pass\",\"lasting\":\"yes\"}", "a proof: proof.lasting is a text: must be true or false"},
        {"{\"verdict\":\"pass\",\"checks\":[{\"half\":\"odd\"}]}",
         "a proof: check.half is \"odd\": no half of a proof of this version"},
        {"{\"verdict\":\"fail\",\"ended\":\"tired\"}",
         "a proof: proof.ended is \"tired\": no status of a run of this version"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        ys_json *json = NULL;
        struct ys_proof proof;
        REQUIRE(ys_json_parse(known[i].text, strlen(known[i].text), "the test", &json) == YS_OK);
        CHECK_INT(ys_proof_read(json, "a proof", &proof), YS_EFORMAT);
        CHECK_TEXT(ys_error(), known[i].error);
        CHECK(proof.verdict == YS_PROOF_NONE && proof.checks.count == 0);
        ys_json_free(json);
    }
}

TAP_MAIN(TAP_CASE(proofs_of_every_kind_come_back_as_they_were_written), TAP_CASE(a_kept_file_comes_back_byte_for_byte),
         TAP_CASE(members_hold_what_was_read), TAP_CASE(an_infinite_error_is_null_and_fails),
         TAP_CASE(what_is_wrong_is_named))
