/* Square attack: no gradient; a square of the image at a random place changes by EPS to either side, and stays so where
 * the margin of the class becomes smaller. */
#include "robust/attack_group.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double first_part = 0.8; /* of the image, that a square covers */

struct square {
    struct ys_attack_group *group; /* `changed`: the best so far */
    size_t *active, active_count;
    float *tried;   /* [active, pixels] */
    float *logits;  /* [active, classes] */
    double *margin; /* [count]: of `changed`: the logit of the class over the largest other */
    float *by;      /* [channels]: what a square changes by in each */
};

static float either(struct ys_rng *rng)
{
    return ys_rng_uniform(rng) < 0.5 ? -1 : 1;
}

/** The side of the square at `query` of `queries`: the part that it covers halves nine times, at the queries of the
 * authors' schedule, which is for 10,000. */
static int64_t side_at(const struct ys_attacked *model, size_t query, size_t queries)
{
    static const double halvings[] = {10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000};
    const double at = floor((double)query / (double)queries * 10000);
    const int64_t least = model->height < model->width ? model->height : model->width;
    double part = first_part;
    for (size_t i = 0; i < sizeof halvings / sizeof *halvings; i++)
        part = at > halvings[i] ? part / 2 : part;
    const int64_t side = (int64_t)nearbyint(sqrt(part * (double)(model->height * model->width)));
    return side < 1 ? 1 : side > least ? least : side;
}

/** Stripes, each the height of the image, by a lot that hangs on seed and row. */
static void make_stripes(const struct ys_attack_group *group, size_t i)
{
    const struct ys_attacked *model = group->model;
    const float eps = (float)group->attack->numbers[0];
    char name[64];
    struct ys_rng rng;
    snprintf(name, sizeof name, "square stripes of row %zu", group->rows[i]);
    ys_rng_init(&rng, group->seed, name);
    for (int64_t c = 0; c < model->channels; c++)
        for (int64_t x = 0; x < model->width; x++) {
            const float by = eps * either(&rng);
            for (int64_t y = 0; y < model->height; y++) {
                float *pixel =
                    &group->changed[i * model->pixels + (size_t)((c * model->height + y) * model->width + x)];
                *pixel = ys_clipped_pixel(*pixel + by);
            }
        }
}

/** Every active row with the square of this query, which is the same for all rows. */
static void try_square(const struct square *s, size_t query, size_t queries)
{
    const struct ys_attacked *model = s->group->model;
    const float eps = (float)s->group->attack->numbers[0];
    const int64_t side = side_at(model, query, queries);
    char name[64];
    struct ys_rng rng;
    snprintf(name, sizeof name, "square of query %zu", query);
    ys_rng_init(&rng, s->group->seed, name);
    const int64_t top = (int64_t)(ys_rng_uniform(&rng) * (double)(model->height - side));
    const int64_t left = (int64_t)(ys_rng_uniform(&rng) * (double)(model->width - side));
    for (int64_t c = 0; c < model->channels; c++)
        s->by[c] = 2 * eps * either(&rng);
    for (size_t a = 0; a < s->active_count; a++) {
        const size_t at = s->active[a] * model->pixels;
        float *tried = s->tried + a * model->pixels;
        memcpy(tried, s->group->changed + at, model->pixels * sizeof *tried);
        for (int64_t c = 0; c < model->channels; c++)
            for (int64_t y = top; y < top + side; y++)
                for (int64_t x = left; x < left + side; x++) {
                    const size_t p = (size_t)((c * model->height + y) * model->width + x);
                    tried[p] = ys_bounded_pixel(tried[p] + s->by[c], s->group->images[at + p], eps);
                }
    }
}

static double margin_of(const float *z, size_t classes, int64_t label)
{
    return (double)z[label] - z[ys_largest_other(z, classes, label)];
}

/** Keeps what is better, and what is broken, which then is active no more. */
static void keep_better(struct square *s)
{
    struct ys_attack_group *group = s->group;
    const size_t classes = group->model->classes, pixels = group->model->pixels;
    size_t kept = 0;
    for (size_t a = 0; a < s->active_count; a++) {
        const size_t i = s->active[a];
        const double margin = margin_of(s->logits + a * classes, classes, group->labels[i]);
        if (margin < s->margin[i] || margin <= 0) {
            s->margin[i] = margin;
            memcpy(group->changed + i * pixels, s->tried + a * pixels, pixels * sizeof *s->tried);
        }
        group->is_held[i] = s->margin[i] <= 0;
        if (!group->is_held[i])
            s->active[kept++] = i;
    }
    s->active_count = kept;
}

static ys_status search(struct square *s)
{
    struct ys_attack_group *group = s->group;
    const size_t queries = (size_t)group->attack->numbers[1];
    s->active_count = group->count;
    for (size_t i = 0; i < group->count; i++) {
        make_stripes(group, i);
        s->active[i] = i;
        s->margin[i] = INFINITY;
    }
    memcpy(s->tried, group->changed, group->count * group->model->pixels * sizeof *s->tried);
    YS_TRY(ys_group_logits(group, s->tried, NULL, s->active_count, s->logits));
    keep_better(s);
    for (size_t q = 0; q < queries && s->active_count > 0; q++) {
        try_square(s, q, queries);
        YS_TRY(ys_group_logits(group, s->tried, NULL, s->active_count, s->logits));
        keep_better(s);
    }
    return YS_OK;
}

ys_status ys_attack_square(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    struct square s = {.group = group,
                       .active = ys_group_room(group, 1, sizeof(size_t)),
                       .tried = ys_group_room(group, pixels, sizeof(float)),
                       .logits = ys_group_room(group, classes, sizeof(float)),
                       .margin = ys_group_room(group, 1, sizeof(double)),
                       .by = ys_group_room(group, (size_t)group->model->channels, sizeof(float))};
    return group->is_short_of_memory ? ys_out_of_memory() : search(&s);
}
