/* A made network to attack: z = V f(U x + a), f the hyperbolic tangent, or nothing, in double. */
#ifndef YS_TESTS_ROBUST_MADE_MODEL_H
#define YS_TESTS_ROBUST_MADE_MODEL_H

#include "base/mem.h"
#include "base/rng.h"
#include "robust/attack.h"

#include "tap.h"

enum { PIXELS = 20, HIDDEN = 12, CLASSES = 4, ROWS = 30 };

struct made_model {
    double u[HIDDEN][PIXELS], a[HIDDEN], v[CLASSES][HIDDEN];
    bool is_linear;
    double scale;             /* of the logits */
    double slope;             /* of the gradient: 1, or what an adversary makes of it */
    size_t calls, wide_calls; /* how often it was asked; for more rows than its batch */
    size_t batch;
};

static void forward(const struct made_model *m, const float *x, double *h, double *z)
{
    for (int k = 0; k < HIDDEN; k++) {
        double sum = m->a[k];
        for (int p = 0; p < PIXELS; p++)
            sum += m->u[k][p] * x[p];
        h[k] = m->is_linear ? sum : tanh(sum);
    }
    for (int c = 0; c < CLASSES; c++) {
        z[c] = 0;
        for (int k = 0; k < HIDDEN; k++)
            z[c] += m->scale * m->v[c][k] * h[k];
    }
}

static void backward(const struct made_model *m, const float *x, const double *cotangent, double *gradient)
{
    double h[HIDDEN], z[CLASSES];
    forward(m, x, h, z);
    for (int p = 0; p < PIXELS; p++)
        gradient[p] = 0;
    for (int k = 0; k < HIDDEN; k++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++)
            sum += m->scale * m->v[c][k] * cotangent[c];
        for (int p = 0; p < PIXELS; p++)
            gradient[p] += sum * (m->is_linear ? 1 : 1 - h[k] * h[k]) * m->u[k][p];
    }
}

static ys_status made_logits(void *of, const float *images, size_t count, float *logits)
{
    struct made_model *m = of;
    m->calls++;
    m->wide_calls += count > m->batch;
    for (size_t i = 0; i < count; i++) {
        double h[HIDDEN], z[CLASSES];
        forward(m, images + i * PIXELS, h, z);
        for (int c = 0; c < CLASSES; c++)
            logits[i * CLASSES + (size_t)c] = (float)z[c];
    }
    return YS_OK;
}

static ys_status made_gradient(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                               float *gradient)
{
    struct made_model *m = of;
    m->calls++;
    m->wide_calls += count > m->batch;
    for (size_t i = 0; i < count; i++) {
        double c[CLASSES], g[PIXELS];
        for (int k = 0; k < CLASSES; k++)
            c[k] = cotangent[i * CLASSES + (size_t)k];
        backward(m, images + i * PIXELS, c, g);
        for (int p = 0; p < PIXELS; p++)
            gradient[i * PIXELS + (size_t)p] = (float)(m->slope * g[p]);
    }
    return logits ? made_logits(of, images, count, logits) : YS_OK;
}

__attribute__((unused)) static struct made_model made(bool is_linear, const char *name)
{
    struct made_model m = {.is_linear = is_linear, .scale = 1, .slope = 1, .batch = 7};
    struct ys_rng rng;
    ys_rng_init(&rng, 1, name);
    for (int k = 0; k < HIDDEN; k++) {
        m.a[k] = 0.1 * ys_rng_normal(&rng);
        for (int p = 0; p < PIXELS; p++)
            m.u[k][p] = ys_rng_normal(&rng);
        for (int c = 0; c < CLASSES; c++)
            m.v[c][k] = ys_rng_normal(&rng);
    }
    return m;
}

static struct ys_attacked attacked(struct made_model *m)
{
    return (struct ys_attacked){.of = m,
                                .logits = made_logits,
                                .gradient = made_gradient,
                                .pixels = PIXELS,
                                .classes = CLASSES,
                                .batch = m->batch,
                                .height = 4,
                                .width = 5,
                                .channels = 1};
}

struct made_images {
    float pixels[ROWS * PIXELS];
    int64_t labels[ROWS];
};

/** Images between `low` and `high`, with the labels that the model gives them, but for each fifth. */
__attribute__((unused)) static void make_images(const struct made_model *m, double low, double high,
                                                struct made_images *images)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 2, "images");
    for (int i = 0; i < ROWS * PIXELS; i++)
        images->pixels[i] = (float)(low + (high - low) * ys_rng_uniform(&rng));
    for (int i = 0; i < ROWS; i++) {
        double h[HIDDEN], z[CLASSES];
        int best = 0;
        forward(m, images->pixels + (size_t)i * PIXELS, h, z);
        for (int c = 1; c < CLASSES; c++)
            best = z[c] > z[best] ? c : best;
        images->labels[i] = i % 5 == 4 ? (best + 1) % CLASSES : best;
    }
}

/** What the judge saw last: the images that the attack that was asked for made, where it is the last of all. */
struct made_judge {
    const struct made_model *model;
    float images[ROWS * PIXELS];
    size_t count;
};

static ys_status made_judge(void *of, const float *images, size_t count, double *logits)
{
    struct made_judge *judge = of;
    memcpy(judge->images, images, count * PIXELS * sizeof *images);
    judge->count = count;
    for (size_t i = 0; i < count; i++) {
        double h[HIDDEN];
        forward(judge->model, images + i * PIXELS, h, logits + i * CLASSES);
    }
    return YS_OK;
}

/** `words` against the images; `judge` may be NULL. */
__attribute__((unused)) static ys_status attack_made(struct made_model *m, const struct made_images *images,
                                                     const char *words, struct made_judge *judge,
                                                     struct ys_robustness *found)
{
    const struct ys_attacked model = attacked(m);
    struct ys_attack_spec spec = {
        .images = images->pixels, .labels = images->labels, .rows = ROWS, .restarts = 1, .seed = 3};
    if (judge) {
        judge->model = m;
        spec.judge = made_judge;
        spec.judge_of = judge;
    }
    YS_TRY(ys_attacks_read(words, &spec.attacks));
    return ys_attack_model(&model, &spec, found);
}

__attribute__((unused)) static const struct ys_attack_result *result_of(const struct ys_robustness *found, size_t i)
{
    return (const struct ys_attack_result *)found->attacks.items + i;
}

#endif
