/* The attacks against what foolbox and torchattacks did to the same network and images, as it was recorded
 * (tests/fixtures/robust/make.py). No library is needed. */
#include "base/json/json.h"
#include "unit/robust/made_model.h"

#include <stdlib.h>

/* What each attack is held to. The libraries differ from themselves, between float32 and double, by up to 2e-7 of a
 * pixel and 2e-6 of an L2. Pixels are recorded to 5e-8, an L2 to 5e-7, which is 2e-5 of the smallest of them. Where an
 * attack is the same by definition that is all that may lie between, but for the rounding of float here, 6e-8 a pixel.
 * cw ends its searches by a rule of its own, and has the bounds of docs/robustness.md. */
static const struct {
    const char *name;
    double pixel, mean, each; /* NAN: not compared */
} bounds[] = {{"fgsm", 4e-7, NAN, NAN}, {"bim", 4e-7, NAN, NAN},       {"pgd", 4e-7, NAN, NAN},
              {"jsma", 4e-7, NAN, NAN}, {"deepfool", NAN, 1e-4, 1e-4}, {"cw", NAN, 0.005, 0.03},
              {"ddn", NAN, 1e-4, 1e-4}};
enum { RECORDED = sizeof bounds / sizeof bounds[0] };

/* Judges, and keeps what the attack made: first it sees the rows themselves, then those of the attack that is always
 * done, then these, and after pgd those of fgsm. */
struct keeping_judge {
    struct made_judge seen;
    float made[ROWS * PIXELS];
    size_t calls;
};

static ys_status judge_and_keep(void *of, const float *images, size_t count, double *logits)
{
    struct keeping_judge *judge = of;
    if (++judge->calls == 3)
        memcpy(judge->made, images, count * PIXELS * sizeof *images);
    return made_judge(&judge->seen, images, count, logits);
}

static ys_json *read_recorded(void)
{
    char *path = ys_format("%s/tests/fixtures/robust/library_outcomes.json", getenv("YS_SOURCE_ROOT"));
    ys_json *recorded = NULL;
    const ys_status status = ys_json_read(path, &recorded);
    tap_check(status == YS_OK, __LINE__, "%s", status ? ys_error() : "");
    ys_free(path);
    return recorded;
}

static double number_at(const ys_json *rows, size_t row, size_t column)
{
    return ys_json_number(ys_json_at(ys_json_at(rows, row), column), NAN);
}

static void read_network(const ys_json *recorded, struct made_model *m, struct made_images *images, float *start)
{
    const ys_json *u = ys_json_get(recorded, "u"), *a = ys_json_get(recorded, "a"), *v = ys_json_get(recorded, "v");
    *m = (struct made_model){.scale = 1, .slope = 1, .batch = 7};
    for (size_t k = 0; k < HIDDEN; k++) {
        m->a[k] = ys_json_number(ys_json_at(a, k), NAN) / 1000;
        for (size_t p = 0; p < PIXELS; p++)
            m->u[k][p] = number_at(u, k, p) / 1000;
        for (size_t c = 0; c < CLASSES; c++)
            m->v[c][k] = number_at(v, c, k) / 1000;
    }
    for (size_t i = 0; i < ROWS; i++) {
        images->labels[i] = ys_json_integer(ys_json_at(ys_json_get(recorded, "labels"), i), -1);
        for (size_t p = 0; p < PIXELS; p++) {
            images->pixels[i * PIXELS + p] = (float)number_at(ys_json_get(recorded, "images"), i, p) / 255;
            start[i * PIXELS + p] = (float)(number_at(ys_json_get(recorded, "start"), i, p) * 0.05 / 100);
        }
    }
}

/* The furthest that a pixel lies from the recorded one. */
static double furthest_pixel(const ys_json *pixels, const float *changed)
{
    double furthest = 0;
    CHECK_INT(ys_json_size(pixels), ROWS);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t p = 0; p < PIXELS; p++)
            furthest = fmax(furthest, fabs(changed[i * PIXELS + p] - number_at(pixels, i, p)));
    return furthest;
}

static void compare_norms(const ys_json *norms, const struct made_images *images, const float *changed, double mean,
                          double each)
{
    double here = 0, there = 0, furthest = 0;
    REQUIRE(ys_json_size(norms) == ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        double squares = 0;
        for (size_t at = i * PIXELS; at < (i + 1) * PIXELS; at++) {
            const double change = (double)changed[at] - images->pixels[at];
            squares += change * change;
        }
        const double recorded = ys_json_number(ys_json_at(norms, i), NAN);
        here += sqrt(squares);
        there += recorded;
        furthest = fmax(furthest, fabs(sqrt(squares) / recorded - 1));
    }
    tap_check(fabs(here / there - 1) <= mean, __LINE__, "the mean lies %g of it apart", here / there - 1);
    tap_check(furthest <= each, __LINE__, "an image lies %g of it apart", furthest);
}

static void compare_attack(const ys_json *recorded, size_t k)
{
    struct made_model m;
    struct made_images images;
    struct keeping_judge judge = {.seen = {.model = &m}};
    struct ys_robustness found;
    float start[ROWS * PIXELS];
    const ys_json *entry = NULL, *attacks = ys_json_get(recorded, "attacks");
    for (size_t i = 0; i < ys_json_size(attacks); i++)
        if (strncmp(ys_json_get_text(ys_json_at(attacks, i), "attack", ""), bounds[k].name, strlen(bounds[k].name)) ==
            0)
            entry = ys_json_at(attacks, i);
    REQUIRE(entry != NULL);
    read_network(recorded, &m, &images, start);
    const struct ys_attacked model = attacked(&m);
    struct ys_attack_spec spec = {.images = images.pixels, .labels = images.labels, .rows = ROWS, .restarts = 1};
    spec.start = start;
    spec.judge = judge_and_keep;
    spec.judge_of = &judge;
    REQUIRE(ys_attacks_read(ys_json_get_text(entry, "attack", ""), &spec.attacks) == YS_OK);
    REQUIRE(ys_attack_model(&model, &spec, &found) == YS_OK);
    CHECK_INT(found.clean, ROWS);
    CHECK_TEXT(result_of(&found, 0)->outcomes, ys_json_get_text(entry, "outcomes", ""));
    if (!isnan(bounds[k].pixel)) {
        const double furthest = furthest_pixel(ys_json_get(entry, "pixels"), judge.made);
        tap_check(furthest <= bounds[k].pixel, __LINE__, "%s: a pixel lies %g away", bounds[k].name, furthest);
    } else {
        compare_norms(ys_json_get(entry, "l2"), &images, judge.made, bounds[k].mean, bounds[k].each);
    }
    ys_robustness_fini(&found);
}

static void each_attack_does_what_the_library_did(void)
{
    ys_json *recorded = read_recorded();
    for (size_t k = 0; k < RECORDED; k++)
        compare_attack(recorded, k);
    ys_json_free(recorded);
}

TAP_MAIN(TAP_CASE(each_attack_does_what_the_library_did))
