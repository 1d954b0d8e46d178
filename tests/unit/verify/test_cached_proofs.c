/* What of a proof in the cache is believed. */
#include "base/hash.h"
#include "files.h"
#include "tap.h"
#include "verify/cached_proofs.h"
#include "verify/verify.h"

static const char KEY[] = "a3";

static void add_check(struct ys_proof *proof, enum ys_proof_half half, const char *name, double error, double bound)
{
    ys_proof_add_check(proof, half, name, error, bound, NULL);
}

/* One of that verdict; `error` is that of its logits in double. */
static struct ys_proof make_proof(double error, enum ys_proof_verdict verdict)
{
    struct ys_proof proof;
    ys_proof_init(&proof);
    proof.key = ys_strdup(KEY);
    proof.verdict = verdict;
    proof.lasting = true;
    proof.cached = false;
    proof.seconds = 1.0 / 3;
    proof.twins = ys_alloc(1, sizeof *proof.twins);
    *proof.twins =
        (struct ys_proof_twins){.count = 8, .forward = 1e-5, .forward_ceiling = 1e-3, .gradients_ceiling = 1e-3};
    add_check(&proof, YS_PROOF_WORK, "parameters", 0, 0);
    add_check(&proof, YS_PROOF_WORK, "initial weights", 0, 0);
    add_check(&proof, YS_PROOF_WORK, "batches", 0, 0);
    add_check(&proof, YS_PROOF_MEANING, "logits", error, YS_VERIFY_MEANING_BOUND);
    add_check(&proof, YS_PROOF_MEANING, "loss", 1e-14, YS_VERIFY_MEANING_BOUND);
    add_check(&proof, YS_PROOF_NUMERICS, "logits and loss", 1e-6, 8e-5);
    add_check(&proof, YS_PROOF_NUMERICS, "gradients", 1e-8, 8 * 0x1p-23);
    return proof;
}

/* Written, then read as the proof of `key`. */
static ys_status keep_and_read(struct ys_proof proof_taken, const char *key)
{
    struct ys_proof read;
    CHECK(ys_kept_write(files_path("kept.json"), &proof_taken) == YS_OK);
    ys_proof_fini(&proof_taken);
    ys_status status = ys_kept_read(files_path("kept.json"), key, &read);
    ys_proof_fini(&read);
    return status;
}

static struct ys_proof_check *check_of(struct ys_proof *proof, size_t index)
{
    return (struct ys_proof_check *)proof->checks.items + index;
}

static void what_was_kept_comes_back(void)
{
    struct ys_proof proof = make_proof(1e-12, YS_PROOF_PASS), read;
    REQUIRE(ys_kept_write(files_path("whole.json"), &proof) == YS_OK);
    REQUIRE(ys_kept_read(files_path("whole.json"), KEY, &read) == YS_OK);
    CHECK_INT(read.cached, true);
    read.cached = false;
    ys_json *there = ys_record_json(&ys_proof_record, &proof), *back = ys_record_json(&ys_proof_record, &read);
    CHECK(ys_json_equal(there, back));
    ys_json_free(there);
    ys_json_free(back);
    ys_proof_fini(&proof);
    ys_proof_fini(&read);
    CHECK_INT(ys_kept_read(files_path("nowhere.json"), KEY, &read), YS_ENOTFOUND);
    CHECK_INT(keep_and_read(make_proof(1e-3, YS_PROOF_FAIL), KEY), YS_OK);
    CHECK_INT(keep_and_read(make_proof(INFINITY, YS_PROOF_FAIL), KEY), YS_OK);
}

/* tests/fixtures/proof/kept.json lay in a cache. */
static void what_a_build_before_this_one_kept_is_believed(void)
{
    char path[512];
    const char *root = getenv("YS_SOURCE_ROOT");
    struct ys_proof read;
    snprintf(path, sizeof path, "%s/tests/fixtures/proof/kept.json", root ? root : ".");
    REQUIRE(ys_kept_read(path, "882273d6b5b0dd25f12ffa9fed6630656da4324227fbd62223aa84df3b416ba0", &read) == YS_OK);
    CHECK(read.cached == 1 && read.verdict == YS_PROOF_PASS && read.whole->rows == 64 && read.twins->count == 8);
    ys_proof_fini(&read);
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
    struct ys_proof read;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(ys_fs_write(files_path("bad.json"), bad[i], strlen(bad[i])) == YS_OK);
        tap_check(ys_kept_read(files_path("bad.json"), KEY, &read) == YS_EFORMAT, __LINE__, "%s is believed", bad[i]);
        CHECK(!read.key && read.checks.count == 0 && read.verdict == YS_PROOF_NONE);
    }
}

static void a_member_that_was_changed_is_found(void)
{
    ys_json *kept = NULL;
    struct ys_proof read, proof = make_proof(1e-3, YS_PROOF_FAIL);
    REQUIRE(ys_kept_write(files_path("changed.json"), &proof) == YS_OK);
    REQUIRE(ys_json_read(files_path("changed.json"), &kept) == YS_OK);
    ys_json_set_string(kept, "verdict", "pass");
    ys_json_set_bool(ys_json_at(ys_json_get(kept, "checks"), 3), "pass", true);
    REQUIRE(ys_json_write(files_path("changed.json"), kept) == YS_OK);
    CHECK_INT(ys_kept_read(files_path("changed.json"), KEY, &read), YS_EFORMAT);
    CHECK_HAS(ys_error(), "changed.json was damaged (SHA-256 differs)");
    ys_json_free(kept);
    ys_proof_fini(&proof);
}

static void the_proof_of_something_else_is_refused(void)
{
    CHECK_INT(keep_and_read(make_proof(1e-12, YS_PROOF_PASS), "b4"), YS_EFORMAT);
    CHECK_HAS(ys_error(), "something else");
}

/* As if a program with a mistake had kept it: its sum is right. */
static void a_verdict_must_follow_from_its_checks(void)
{
    CHECK_INT(keep_and_read(make_proof(1e-3, YS_PROOF_PASS), KEY), YS_EFORMAT);
    CHECK_HAS(ys_error(), "its verdict does not follow");
    CHECK_INT(keep_and_read(make_proof(1e-12, YS_PROOF_WEAK), KEY), YS_EFORMAT);
    CHECK_INT(keep_and_read(make_proof(1e-12, YS_PROOF_NONE), KEY), YS_EFORMAT);
    static const struct {
        size_t check;
        double error, bound; /* NaN: as it was */
    } moved[] = {{0, NAN, 5}, {3, 1e-8, NAN}, {3, NAN, 1e-3}, {3, NAN, 0}, {5, NAN, 1}, {6, -1, NAN}};
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
        struct ys_proof proof = make_proof(1e-12, YS_PROOF_PASS);
        struct ys_proof_check *check = check_of(&proof, moved[i].check);
        check->error = isnan(moved[i].error) ? check->error : moved[i].error;
        check->bound = isnan(moved[i].bound) ? check->bound : moved[i].bound;
        tap_check(keep_and_read(proof, KEY) == YS_EFORMAT, __LINE__, "change %zu is believed", i);
        CHECK_HAS(ys_error(), "a check of it does not follow");
    }
    struct ys_proof proof = make_proof(1e-12, YS_PROOF_PASS);
    check_of(&proof, 3)->pass = false;
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
    proof = make_proof(1e-12, YS_PROOF_PASS);
    proof.lasting = false;
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
    proof = make_proof(1e-12, YS_PROOF_PASS);
    proof.lasting = YS_NAME_NONE;
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
}

/* As if it had been kept by a program that knew none, or by one whose judges had failed. */
static void bounds_above_their_ceiling_are_refused(void)
{
    const double ceilings[] = {NAN, 7.9e-5};
    for (size_t i = 0; i < sizeof ceilings / sizeof ceilings[0]; i++) {
        struct ys_proof proof = make_proof(1e-12, YS_PROOF_PASS);
        proof.twins->forward_ceiling = ceilings[i];
        CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
        CHECK_HAS(ys_error(), "a check of it does not follow");
    }
    struct ys_proof proof = make_proof(1e-12, YS_PROOF_PASS);
    proof.twins->gradients_ceiling = 1e-7;
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
}

/* One at which other work would pass shows nothing, however honest it is. */
static void a_bound_of_one_makes_it_weak(void)
{
    for (int verdict = YS_PROOF_PASS; verdict <= YS_PROOF_WEAK; verdict++) {
        struct ys_proof proof = make_proof(1e-12, (enum ys_proof_verdict)verdict);
        proof.twins->forward = 0.125;
        proof.twins->forward_ceiling = 3;
        check_of(&proof, 5)->bound = 1;
        CHECK_INT(keep_and_read(proof, KEY), verdict == YS_PROOF_WEAK ? YS_OK : YS_EFORMAT);
    }
}

/* Sums of batch norms widen the bound of a whole batch in the trial's own format; of vectors in bf16 it is another. */
static void bounds_that_twins_alone_do_not_give_are_believed(void)
{
    struct ys_proof proof = make_proof(1e-12, YS_PROOF_WEAK);
    proof.whole = ys_alloc(1, sizeof *proof.whole);
    proof.whole->twins = ys_alloc(1, sizeof *proof.whole->twins);
    *proof.whole->twins = (struct ys_proof_twins){
        .count = 8, .forward = 1e-6, .forward_ceiling = 1e-3, .gradients = 1e-6, .gradients_ceiling = 1e-3};
    add_check(&proof, YS_PROOF_NUMERICS, "gradients, whole batch", 1e-5, 1e-4);
    add_check(&proof, YS_PROOF_NUMERICS, "gradients of vectors", 0.2, YS_VERIFY_SUM_IN_BF16);
    CHECK_INT(keep_and_read(proof, KEY), YS_OK);
    proof = make_proof(1e-12, YS_PROOF_WEAK);
    add_check(&proof, YS_PROOF_NUMERICS, "gradients of vectors", 0.2, 2 * YS_VERIFY_SUM_IN_BF16);
    CHECK_INT(keep_and_read(proof, KEY), YS_EFORMAT);
}

TAP_MAIN(TAP_CASE(what_was_kept_comes_back), TAP_CASE(what_a_build_before_this_one_kept_is_believed),
         TAP_CASE(what_somebody_wrote_is_no_proof), TAP_CASE(a_member_that_was_changed_is_found),
         TAP_CASE(the_proof_of_something_else_is_refused), TAP_CASE(a_verdict_must_follow_from_its_checks),
         TAP_CASE(bounds_above_their_ceiling_are_refused), TAP_CASE(a_bound_of_one_makes_it_weak),
         TAP_CASE(bounds_that_twins_alone_do_not_give_are_believed))
