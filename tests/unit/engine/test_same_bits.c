/* The back end `ref` in single precision computes the same bits on every processor: it adds, multiplies, divides and
 * takes square roots alone, in the order in which it is written, without contraction. The hashes below were noted on
 * x86-64; `tools/matrix.py BUILD --row aarch64 --row wasm` runs this program under qemu and under Node. Networks with
 * exp or tanh are left out: these are the C library's, and only within a unit of each other. */
#include "unit/engine/open.h"

#include "base/hash.h"
#include "base/rng.h"

#include <stdlib.h>

static void check_bits(const char *model, int64_t rows, const char *noted)
{
    const struct ys_engine_config config = {
        .batch = rows, .precision = YS_ENGINE_F32, .backend = "ref", .threads = 1, .training = false};
    struct ys_engine *engine = NULL;
    struct ys_rng rng;
    char hash[YS_SHA256_TEXT];
    CHECK_TEXT(ys_engine_open_model(model, &config, &engine) == 0 ? "" : ys_engine_error(), "");
    REQUIRE(engine != NULL);
    CHECK(ys_engine_draw(engine, 1) == 0);
    const size_t size = (size_t)rows * ys_engine_rows(engine).row_bytes;
    uint8_t *pixels = malloc(size);
    int64_t *classes = calloc((size_t)rows, sizeof *classes);
    ys_rng_init(&rng, 1, model);
    for (size_t i = 0; i < size; i++)
        pixels[i] = (uint8_t)ys_rng_below(&rng, 256);
    CHECK(ys_engine_forward(engine, pixels, classes, YS_ENGINE_EVAL, NULL) == 0);
    CHECK_INT(ys_engine_real_size(engine), sizeof(float));
    ys_sha256_text(ys_engine_logits(engine), (size_t)rows * ys_engine_row_logits(engine) * sizeof(float), hash);
    CHECK_TEXT(hash, noted);
    ys_engine_close(engine);
    free(pixels);
    free(classes);
}

static void lenet_has_the_same_bits_everywhere(void)
{
    check_bits("lenet", 16, "2bd7dcf74e292f1d9adbe7189999bdc6b5eca451c339093a5a47c620a8e2f8d0");
}

static void resnet20_has_the_same_bits_everywhere(void)
{
    check_bits("resnet20", 16, "7343ab2f3795e5bfc620a4c902b12c5eb36ee3f0cac5bf14962a340d042b9df1");
}

static void mobilenet_has_the_same_bits_everywhere(void)
{
    check_bits("mobilenet-v2", 2, "06b81e1dd822e6bf646fc00c8e8b0c798cf0c06b14b1fcc2b03acecb70b0e375");
}

TAP_MAIN(TAP_CASE(lenet_has_the_same_bits_everywhere), TAP_CASE(resnet20_has_the_same_bits_everywhere),
         TAP_CASE(mobilenet_has_the_same_bits_everywhere))
