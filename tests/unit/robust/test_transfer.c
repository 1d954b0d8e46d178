/* What broke one model, shown to another: which rows count, and that a model shown its own has its own outcome. */
#include "unit/robust/made_model.h"

#include "robust/transfer.h"

enum { MOST = 4 * ROWS };

/* What attacks broke, as it is told. */
struct told {
    const struct made_images *images;
    struct ys_crafted crafted[MOST];
    float pixels[MOST * PIXELS];
    size_t count;
};

static ys_status keep(void *of, size_t attack, size_t row, const float *image)
{
    struct told *told = of;
    memcpy(told->pixels + told->count * PIXELS, image, PIXELS * sizeof *image);
    told->crafted[told->count++] = (struct ys_crafted){(int64_t)attack, (int64_t)row, told->images->labels[row]};
    return YS_OK;
}

static ys_status attack_and_keep(struct made_model *m, const struct made_images *images, const char *words,
                                 struct made_judge *judge, struct told *told, struct ys_robustness *found)
{
    const struct ys_attacked model = attacked(m);
    struct ys_attack_spec spec = {.images = images->pixels,
                                  .labels = images->labels,
                                  .rows = ROWS,
                                  .restarts = 2,
                                  .seed = 3,
                                  .broken = keep,
                                  .broken_of = told,
                                  .judge = made_judge,
                                  .judge_of = judge};
    *told = (struct told){.images = images};
    judge->model = m;
    YS_TRY(ys_attacks_read(words, &spec.attacks));
    return ys_attack_model(&model, &spec, found);
}

static const struct ys_transfer_result *shown(const struct ys_transfer *transfer, size_t i)
{
    return (const struct ys_transfer_result *)transfer->results.items + i;
}

/* Alarms attack too, and autoattack by its parts: neither is told of but as what was asked for. */
static void a_model_that_is_shown_its_own_has_its_own_outcome(void)
{
    struct made_model m = made(false, "own");
    static struct made_images images;
    static struct made_judge judge;
    static struct told told;
    struct ys_robustness found;
    make_images(&m, 0.2, 0.8, &images);
    REQUIRE(attack_and_keep(&m, &images, "pgd(0.1) fgsm(0.05) ddn(50) autoattack(0.05)", &judge, &told, &found) ==
            YS_OK);
    struct ys_transfer transfer = {
        .from = &found, .to = &found, .pixels = PIXELS, .classes = CLASSES, .judge = made_judge, .judge_of = &judge};
    REQUIRE(ys_transfer_begin(&transfer) == YS_OK);
    for (size_t at = 0; at < told.count; at += ROWS)
        REQUIRE(ys_transfer_show(&transfer, told.crafted + at, told.pixels + at * PIXELS,
                                 told.count - at < ROWS ? told.count - at : ROWS) == YS_OK);
    size_t all = 0;
    for (size_t i = 0; i < 4; i++) {
        const struct ys_attack_result *own = result_of(&found, i);
        CHECK_TEXT(shown(&transfer, i)->attack, own->attack);
        CHECK_INT(shown(&transfer, i)->both_right, own->clean);
        CHECK_INT(shown(&transfer, i)->broken, own->broken);
        CHECK_INT(shown(&transfer, i)->also_wrong, own->broken);
        CHECK(own->broken > 0 && own->clean < ROWS);
        all += (size_t)own->broken;
    }
    CHECK_INT(told.count, all);
    ys_transfer_fini(&transfer);
    ys_robustness_fini(&found);
}

/* Gives every image the class that it is told to. */
static ys_status judge_as(void *of, const float *images, size_t count, double *logits)
{
    (void)images;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < CLASSES; k++)
            logits[i * CLASSES + k] = k == *(const size_t *)of ? 1 : 0;
    return YS_OK;
}

static struct ys_robustness outcomes(char *text, struct ys_attack_result *result)
{
    *result = (struct ys_attack_result){.attack = (char *)(uintptr_t) "fgsm(0.1)", .outcomes = text};
    return (struct ys_robustness){.rows = (int64_t)strlen(text), .attacks = {result, 1}};
}

/* Of eight rows; one that either had wrong before is no row that carries over, whatever becomes of it. */
static void rows_that_were_wrong_before_are_not_counted(void)
{
    char from_text[] = "bbbbssww", to_text[] = "bsswswsw";
    struct ys_attack_result from_result, to_result;
    const struct ys_robustness from = outcomes(from_text, &from_result), to = outcomes(to_text, &to_result);
    static const struct ys_crafted crafted[] = {{0, 0, 1}, {0, 1, 2}, {0, 2, 1}, {0, 3, 2}};
    static const float images[4 * PIXELS];
    size_t as = 1;
    struct ys_transfer transfer = {
        .from = &from, .to = &to, .pixels = PIXELS, .classes = CLASSES, .judge = judge_as, .judge_of = &as};
    REQUIRE(ys_transfer_begin(&transfer) == YS_OK);
    REQUIRE(ys_transfer_show(&transfer, crafted, images, 4) == YS_OK);
    CHECK_INT(shown(&transfer, 0)->both_right, 4); /* 0, 1, 2 and 4 */
    CHECK_INT(shown(&transfer, 0)->broken, 3);
    CHECK_INT(shown(&transfer, 0)->also_wrong, 1); /* row 1; row 3, wrong as well, was wrong there before */
    ys_transfer_fini(&transfer);
}

static void what_does_not_go_together_is_refused(void)
{
    char eight[] = "bbbbssww", seven[] = "bsswsws";
    struct ys_attack_result from_result, to_result;
    const struct ys_robustness from = outcomes(eight, &from_result), to = outcomes(seven, &to_result);
    static const struct ys_crafted none[] = {{1, 0, 0}, {0, 8, 0}, {0, 0, CLASSES}, {0, -1, 0}};
    static const float image[PIXELS];
    size_t as = 0;
    struct ys_transfer transfer = {
        .from = &from, .to = &to, .pixels = PIXELS, .classes = CLASSES, .judge = judge_as, .judge_of = &as};
    CHECK_INT(ys_transfer_begin(&transfer), YS_EINVAL);
    CHECK_HAS(ys_error(), "8 rows");
    ys_transfer_fini(&transfer);
    from_result.outcomes = NULL;
    transfer.to = &from;
    CHECK_INT(ys_transfer_begin(&transfer), YS_EINVAL);
    ys_transfer_fini(&transfer);
    from_result.outcomes = eight;
    REQUIRE(ys_transfer_begin(&transfer) == YS_OK);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK_INT(ys_transfer_show(&transfer, &none[i], image, 1), YS_EINVAL);
    ys_transfer_fini(&transfer);
}

TAP_MAIN(TAP_CASE(a_model_that_is_shown_its_own_has_its_own_outcome),
         TAP_CASE(rows_that_were_wrong_before_are_not_counted), TAP_CASE(what_does_not_go_together_is_refused))
