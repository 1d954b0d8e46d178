#include "robust/attack_rows.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stat/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_BYTES = 16 << 20 }; /* of the images of a group; the attacks keep up to nine times as much */

typedef ys_status attack_run(struct ys_attack_group *group);

static attack_run *const runs[YS_ATTACK_KINDS] = {
    [YS_ATTACK_FGSM] = ys_attack_bounded,  [YS_ATTACK_BIM] = ys_attack_bounded,
    [YS_ATTACK_PGD] = ys_attack_bounded,   [YS_ATTACK_DEEPFOOL] = ys_attack_deepfool,
    [YS_ATTACK_CW] = ys_attack_cw,         [YS_ATTACK_DDN] = ys_attack_ddn,
    [YS_ATTACK_JSMA] = ys_attack_jsma,     [YS_ATTACK_APGD_CE] = ys_attack_apgd,
    [YS_ATTACK_APGD_T] = ys_attack_apgd,   [YS_ATTACK_FAB_T] = ys_attack_fab,
    [YS_ATTACK_SQUARE] = ys_attack_square,
};
/* What autoattack is made of, in the published order, with each one's share of the time where most rows stand. */
static const struct {
    enum ys_attack_kind kind;
    double share;
} ensemble[] = {{YS_ATTACK_APGD_CE, 0.04}, {YS_ATTACK_APGD_T, 0.36}, {YS_ATTACK_FAB_T, 0.3}, {YS_ATTACK_SQUARE, 0.3}};

/** Without a judge of its own: the model's own logits. */
static ys_status ask_model(const struct ys_attacked *model, const float *images, size_t count, double *logits)
{
    float *own = ys_alloc(model->batch, model->classes * sizeof *own);
    ys_status status = own ? YS_OK : ys_out_of_memory();
    for (size_t from = 0; status == YS_OK && from < count; from += model->batch) {
        const size_t n = count - from < model->batch ? count - from : model->batch;
        status = model->logits(model->of, images + from * model->pixels, n, own);
        for (size_t k = 0; k < n * model->classes; k++)
            logits[from * model->classes + k] = own[k];
    }
    ys_free(own);
    return status;
}

ys_status ys_judged_classes(const double *logits, size_t count, size_t classes, int64_t *judged)
{
    for (size_t i = 0; i < count; i++) {
        const double *row = logits + i * classes;
        size_t best = 0;
        for (size_t k = 0; k < classes; k++) {
            if (!isfinite(row[k]))
                return ys_fail(YS_EINVAL, "the logits of an image are no finite numbers: there is nothing to attack");
            best = row[k] > row[best] ? k : best;
        }
        judged[i] = (int64_t)best;
    }
    return YS_OK;
}

/** The class of each of `count` images, the first of equals. */
static ys_status judge(const struct ys_attacked_rows *rows, const float *images, size_t count, int64_t *classes)
{
    const struct ys_attack_spec *spec = rows->spec;
    double *logits = ys_alloc(count, rows->model->classes * sizeof *logits);
    if (!logits)
        return ys_out_of_memory();
    ys_status status = spec->judge ? spec->judge(spec->judge_of, images, count, logits)
                                   : ask_model(rows->model, images, count, logits);
    if (status == YS_OK)
        status = ys_judged_classes(logits, count, rows->model->classes, classes);
    ys_free(logits);
    return status;
}

ys_status ys_attacked_rows_init(const struct ys_attacked *model, const struct ys_attack_spec *spec,
                                struct ys_attacked_rows *rows)
{
    *rows = (struct ys_attacked_rows){.model = model, .spec = spec};
    int64_t *classes = ys_alloc(spec->rows, sizeof *classes);
    rows->is_right = ys_alloc(spec->rows, sizeof *rows->is_right);
    rows->smallest = ys_alloc(spec->rows, sizeof *rows->smallest);
    ys_status status = classes && rows->is_right && rows->smallest ? judge(rows, spec->images, spec->rows, classes)
                                                                   : ys_out_of_memory();
    for (size_t row = 0; status == YS_OK && row < spec->rows; row++) {
        rows->is_right[row] = classes[row] == spec->labels[row];
        rows->smallest[row] = rows->is_right[row] ? (double)INFINITY : 0;
        rows->clean += rows->is_right[row];
    }
    ys_free(classes);
    if (status != YS_OK)
        ys_attacked_rows_fini(rows);
    return status;
}

void ys_attacked_rows_fini(struct ys_attacked_rows *rows)
{
    ys_free(rows->is_right);
    ys_free(rows->smallest);
    rows->is_right = NULL;
    rows->smallest = NULL;
}

ys_status ys_attacked_rows_group(const struct ys_attacked_rows *rows, const size_t *list, size_t count,
                                 struct ys_attack_group *group)
{
    const size_t pixels = rows->model->pixels;
    *group = (struct ys_attack_group){.model = rows->model, .count = count, .rows = list, .seed = rows->spec->seed};
    float *images = ys_group_room(group, pixels, sizeof *images);
    int64_t *labels = ys_group_room(group, 1, sizeof *labels);
    group->images = images;
    group->labels = labels;
    group->changed = ys_group_room(group, pixels, sizeof *group->changed);
    group->is_held = ys_group_room(group, 1, sizeof *group->is_held);
    group->gathered = ys_group_room(group, (rows->model->batch + count - 1) / count * pixels, sizeof *group->gathered);
    if (group->is_short_of_memory) {
        ys_group_fini(group);
        return ys_out_of_memory();
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(images + i * pixels, rows->spec->images + list[i] * pixels, pixels * sizeof *images);
        labels[i] = rows->spec->labels[list[i]];
    }
    memcpy(group->changed, images, count * pixels * sizeof *images);
    return YS_OK;
}

static bool is_apgd(enum ys_attack_kind kind)
{
    return kind == YS_ATTACK_APGD_CE || kind == YS_ATTACK_APGD_T;
}

/** The beginning of row `row` of pgd and apgd: as far as EPS from the image, by a lot that hangs on seed, pass and row
 * alone. apgd stretches it until its largest change is EPS. */
static void begin_elsewhere(const struct ys_attack_spec *spec, const struct ys_attack *attack, size_t pass, size_t row,
                            size_t pixels, float *changed)
{
    const bool is_given = spec->start && (pass == 0 || attack->kind == YS_ATTACK_APGD_T);
    double scale = attack->numbers[0], largest = 0;
    char name[64];
    struct ys_rng rng;
    snprintf(name, sizeof name, "attack start %zu of row %zu", pass, row);
    ys_rng_init(&rng, spec->seed, name);
    for (size_t p = 0; !is_given && is_apgd(attack->kind) && p < pixels; p++)
        largest = fmax(largest, fabs(2 * ys_rng_uniform(&rng) - 1));
    scale = largest > 0 ? scale / largest : scale;
    ys_rng_init(&rng, spec->seed, name);
    for (size_t p = 0; p < pixels; p++) {
        const float by = is_given ? spec->start[row * pixels + p] : (float)((2 * ys_rng_uniform(&rng) - 1) * scale);
        changed[p] = ys_clipped_pixel(changed[p] + by);
    }
}

static double change_of(enum ys_attack_norm norm, const float *changed, const float *image, size_t pixels)
{
    double largest = 0, count = 0;
    if (norm == YS_CHANGE_L2)
        return ys_distance_l2(changed, image, pixels);
    for (size_t p = 0; p < pixels; p++) {
        largest = fmax(largest, fabs((double)changed[p] - image[p]));
        count += changed[p] != image[p];
    }
    return norm == YS_CHANGE_LARGEST ? largest : count;
}

static ys_status tell_broken(const struct ys_attacked_rows *rows, size_t row, const float *image)
{
    const struct ys_attack_spec *spec = rows->spec;
    if (!spec->broken || !rows->asked)
        return YS_OK;
    return spec->broken(spec->broken_of, (size_t)(rows->asked - spec->attacks.items), row, image);
}

/** Judges a group that was attacked; `change`: [rows]. */
static ys_status judge_group(const struct ys_attacked_rows *rows, const struct ys_attack_group *group,
                             const size_t *list, struct ys_attack_result *result, double *change)
{
    const size_t pixels = rows->model->pixels;
    int64_t *classes = ys_alloc(group->count, sizeof *classes);
    ys_status status = classes ? judge(rows, group->changed, group->count, classes) : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < group->count; i++) {
        if (!group->is_held[i] || classes[i] == group->labels[i])
            continue;
        result->outcomes[list[i]] = 'b';
        result->broken++;
        if (group->attack->kind == YS_ATTACK_JSMA)
            result->target_reached += classes[i] == (group->labels[i] + 1) % (int64_t)rows->model->classes;
        change[list[i]] = change_of(ys_attack_norm(group->attack->kind), group->changed + i * pixels,
                                    group->images + i * pixels, pixels);
        status = tell_broken(rows, list[i], group->changed + i * pixels);
    }
    ys_free(classes);
    return status;
}

static ys_status attack_group(const struct ys_attacked_rows *rows, const struct ys_attack *attack, size_t pass,
                              const size_t *list, size_t count, struct ys_attack_result *result, double *change)
{
    const size_t pixels = rows->model->pixels;
    struct ys_attack_group group;
    YS_TRY(ys_attacked_rows_group(rows, list, count, &group));
    group.attack = attack;
    group.pass = pass;
    for (size_t i = 0; (attack->kind == YS_ATTACK_PGD || is_apgd(attack->kind)) && i < count; i++)
        begin_elsewhere(rows->spec, attack, pass, list[i], pixels, group.changed + i * pixels);
    ys_status status = runs[attack->kind](&group);
    if (status == YS_OK)
        status = judge_group(rows, &group, list, result, change);
    result->gradients += group.gradients;
    result->queries += group.queries;
    ys_group_fini(&group);
    return status;
}

void ys_attacked_rows_progress(const struct ys_attacked_rows *rows, double part, const char *what)
{
    if (rows->spec->progress)
        rows->spec->progress(rows->spec->progress_of, ((double)rows->attacks_done + part) / (double)rows->attacks_to_do,
                             what);
}

/** How often an attack goes over the rows that stand: once for each restart or target, as it has them. */
static size_t passes_of(const struct ys_attacked_rows *rows, enum ys_attack_kind kind)
{
    const size_t others = rows->model->classes - 1;
    if (kind == YS_ATTACK_APGD_T || kind == YS_ATTACK_FAB_T)
        return others < YS_TARGETS_MOST ? others : YS_TARGETS_MOST;
    return kind == YS_ATTACK_PGD ? rows->spec->restarts : 1;
}

/** Pass after pass, all rows that stand. `list`: room for as many. The pass is a part `share` from `done` on. */
static ys_status attack_standing(const struct ys_attacked_rows *rows, const struct ys_attack *attack, double done,
                                 double share, size_t *list, struct ys_attack_result *result, double *change)
{
    const size_t batch = rows->model->batch, fit = GROUP_BYTES / sizeof(float) / rows->model->pixels;
    const size_t most = fit / batch > 0 ? fit / batch * batch : batch, passes = passes_of(rows, attack->kind);
    for (size_t pass = 0; pass < passes; pass++) {
        size_t standing = 0;
        for (size_t row = 0; row < rows->spec->rows; row++)
            if (result->outcomes[row] == 's')
                list[standing++] = row;
        for (size_t from = 0; from < standing; from += most) {
            const double part = ((double)pass + (double)from / (double)standing) / (double)passes;
            ys_attacked_rows_progress(rows, done + share * part, result->attack);
            YS_TRY(attack_group(rows, attack, pass, list + from, standing - from < most ? standing - from : most,
                                result, change));
        }
    }
    return YS_OK;
}

static ys_status attack_by_ensemble(const struct ys_attacked_rows *rows, const struct ys_attack *attack, size_t *list,
                                    struct ys_attack_result *result, double *change)
{
    double done = 0;
    for (size_t i = 0; i < sizeof ensemble / sizeof *ensemble; i++) {
        const struct ys_attack part = ys_attack_at(ensemble[i].kind, attack->numbers[0]);
        const int64_t broken = result->broken;
        YS_TRY(attack_standing(rows, &part, done, ensemble[i].share, list, result, change));
        result->blindly_broken = result->broken - broken; /* of the last part */
        done += ensemble[i].share;
    }
    return YS_OK;
}

static ys_status fill(const struct ys_attacked_rows *rows, const struct ys_attack *attack,
                      struct ys_attack_result *result, double *change)
{
    const size_t count = rows->spec->rows;
    size_t *list = ys_alloc(count, sizeof *list);
    result->attack = ys_attack_text(attack);
    result->outcomes = ys_alloc(count + 1, 1);
    ys_status status = list && result->attack && result->outcomes ? YS_OK : ys_out_of_memory();
    for (size_t row = 0; status == YS_OK && row < count; row++) {
        result->outcomes[row] = rows->is_right[row] ? 's' : 'w';
        change[row] = rows->is_right[row] ? (double)INFINITY : 0;
    }
    if (status == YS_OK && attack->kind == YS_ATTACK_AUTOATTACK)
        status = attack_by_ensemble(rows, attack, list, result, change);
    else if (status == YS_OK)
        status = attack_standing(rows, attack, 0, 1, list, result, change);
    ys_free(list);
    return status;
}

/** Between two values of which one is infinite lies infinity. */
static double quartile(const double *sorted, size_t count, double p)
{
    const double at = p * (double)(count - 1);
    return isinf(sorted[(size_t)ceil(at)]) ? (double)INFINITY : ys_stat_quantile(sorted, count, p);
}

double ys_attacked_rows_smallest(struct ys_attacked_rows *rows)
{
    ys_stat_sort(rows->smallest, rows->spec->rows);
    const double median = quartile(rows->smallest, rows->spec->rows, 0.5);
    return rows->clean > 0 && isfinite(median) ? median : (double)NAN;
}

ys_status ys_attack_rows(struct ys_attacked_rows *rows, const struct ys_attack *attack, struct ys_attack_result *result)
{
    const size_t count = rows->spec->rows;
    const uint64_t start_ns = ys_time_ns();
    double *change = ys_alloc(count, sizeof *change);
    ys_record_init(&ys_attack_result_record, result);
    result->rows = (int64_t)count;
    result->clean = (int64_t)rows->clean;
    result->target_reached = attack->kind == YS_ATTACK_JSMA ? 0 : YS_FIELD_NONE;
    result->blindly_broken = attack->kind == YS_ATTACK_AUTOATTACK ? 0 : YS_FIELD_NONE;
    ys_status status = change ? fill(rows, attack, result, change) : ys_out_of_memory();
    for (size_t row = 0; status == YS_OK && ys_attack_norm(attack->kind) == YS_CHANGE_L2 && row < count; row++)
        rows->smallest[row] = fmin(rows->smallest[row], change[row]);
    if (status == YS_OK && rows->clean > 0) {
        ys_stat_sort(change, count);
        result->change_p25 = quartile(change, count, 0.25);
        result->change_p50 = quartile(change, count, 0.5);
        result->change_p75 = quartile(change, count, 0.75);
    }
    ys_free(change);
    result->attack_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    rows->attacks_done++;
    if (status != YS_OK)
        ys_record_fini(&ys_attack_result_record, result);
    return status;
}
