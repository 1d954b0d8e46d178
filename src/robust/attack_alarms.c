#include "robust/attack_alarms.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* Of the largest logit: above what rounding in another order makes of it, below what a random layer does. */
static const double change_threshold = 1e-4;
static const double sum_tolerance = 1e-3;         /* of the sum of probabilities from 1 */
static const double probabilities_threshold = .5; /* of the rows */
static const double zero_threshold = .1;          /* of the rows */
static const double fewer_threshold = .002;       /* of the rows, and at least two of them */

/** Raises it where `value` is above `threshold`. */
static ys_status raise(struct ys_robustness *found, const char *attack, const char *what, double value,
                       double threshold)
{
    if (value <= threshold)
        return YS_OK;
    struct ys_attack_alarm *alarm = ys_list_add(&ys_attack_alarm_record, &found->alarms);
    if (!alarm)
        return ys_out_of_memory();
    alarm->attack = ys_strdup(attack);
    alarm->alarm = ys_strdup(what);
    alarm->value = value;
    alarm->threshold = threshold;
    found->is_masked = true;
    return alarm->alarm && (alarm->attack || !attack) ? YS_OK : ys_out_of_memory();
}

struct seen {
    double largest, change;     /* logit, by its size; difference between two calls */
    size_t probabilities, zero; /* rows */
};

static bool are_probabilities(const float *logits, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        if (logits[k] < 0 || logits[k] > 1)
            return false;
        sum += logits[k];
    }
    return fabs(sum - 1) < sum_tolerance;
}

static bool is_zero(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != 0)
            return false;
    return true;
}

/** A group of rows as they are, at most a batch. */
static ys_status look(struct ys_attack_group *group, struct seen *seen)
{
    const size_t classes = group->model->classes, pixels = group->model->pixels;
    float *logits = ys_group_room(group, classes, sizeof *logits);
    float *again = ys_group_room(group, classes, sizeof *again);
    float *gradients = ys_group_room(group, pixels, sizeof *gradients);
    if (group->is_short_of_memory)
        return ys_out_of_memory();
    YS_TRY(ys_group_logits(group, group->images, NULL, group->count, logits));
    YS_TRY(ys_group_logits(group, group->images, NULL, group->count, again));
    for (size_t k = 0; k < group->count * classes; k++) {
        seen->largest = fmax(seen->largest, fabs(logits[k]));
        seen->change = fmax(seen->change, fabs((double)logits[k] - again[k]));
    }
    for (size_t i = 0; i < group->count; i++) {
        seen->probabilities += are_probabilities(logits + i * classes, classes);
        ys_loss_cotangent(logits + i * classes, classes, group->labels[i], again + i * classes);
    }
    YS_TRY(ys_group_gradients(group, group->images, NULL, group->count, again, NULL, gradients));
    for (size_t i = 0; i < group->count; i++)
        seen->zero += is_zero(gradients + i * pixels, pixels);
    return YS_OK;
}

static ys_status look_at_all(const struct ys_attacked_rows *rows, struct seen *seen)
{
    size_t count = 0, *list = ys_alloc(rows->clean, sizeof *list);
    ys_status status = list ? YS_OK : ys_out_of_memory();
    for (size_t row = 0; list && row < rows->spec->rows; row++)
        if (rows->is_right[row])
            list[count++] = row;
    for (size_t from = 0; status == YS_OK && from < count; from += rows->model->batch) {
        const size_t left = count - from, n = left < rows->model->batch ? left : rows->model->batch;
        struct ys_attack_group group;
        status = ys_attacked_rows_group(rows, list + from, n, &group);
        if (status != YS_OK)
            break;
        status = look(&group, seen);
        ys_group_fini(&group);
    }
    ys_free(list);
    return status;
}

static ys_status attack_without_bound(struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    const struct ys_attack everything = ys_attack_at(YS_ATTACK_PGD, 1);
    struct ys_attack_result result;
    YS_TRY(ys_attack_rows(rows, &everything, &result));
    ys_status status =
        raise(found, result.attack, "a change without bound leaves more rows than chance",
              (double)(result.clean - result.broken) / (double)result.rows, 1 / (double)rows->model->classes);
    ys_record_fini(&ys_attack_result_record, &result);
    return status;
}

ys_status ys_attack_alarms_before(struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    struct seen seen = {0};
    const double clean = (double)rows->clean;
    YS_TRY(look_at_all(rows, &seen));
    YS_TRY(raise(found, NULL, "outputs change from call to call", seen.largest > 0 ? seen.change / seen.largest : 0,
                 change_threshold));
    YS_TRY(raise(found, NULL, "outputs are probabilities in place of logits", (double)seen.probabilities / clean,
                 probabilities_threshold));
    YS_TRY(raise(found, NULL, "gradients are zero", (double)seen.zero / clean, zero_threshold));
    return attack_without_bound(rows, found);
}

/** How many rows an attack breaks at that EPS; it is made where nobody asked for it. */
static ys_status count_broken(struct ys_attacked_rows *rows, enum ys_attack_kind kind, double eps,
                              const struct ys_robustness *found, int64_t *broken)
{
    const struct ys_attack attack = ys_attack_at(kind, eps);
    struct ys_attack_result result;
    const struct ys_attack_result *results = found->attacks.items;
    const struct ys_attacks *asked = &rows->spec->attacks;
    for (size_t i = 0; i < found->attacks.count; i++)
        if (asked->items[i].kind == kind && asked->items[i].numbers[0] == eps) {
            *broken = results[i].broken;
            return YS_OK;
        }
    YS_TRY(ys_attack_rows(rows, &attack, &result));
    *broken = result.broken;
    ys_record_fini(&ys_attack_result_record, &result);
    return YS_OK;
}

static bool follows_gradients(enum ys_attack_kind kind)
{
    return ys_attack_norm(kind) == YS_CHANGE_LARGEST && kind != YS_ATTACK_SQUARE && kind != YS_ATTACK_AUTOATTACK;
}

/** How many rows attacks that follow gradients break at that EPS, one or the other of those that were asked for. */
static ys_status count_broken_by_gradients(struct ys_attacked_rows *rows, double eps, const struct ys_robustness *found,
                                           int64_t *broken)
{
    const struct ys_attack_result *results = found->attacks.items;
    const struct ys_attacks *asked = &rows->spec->attacks;
    bool was_asked = false;
    *broken = 0;
    for (size_t row = 0; row < rows->spec->rows; row++) {
        bool is_broken = false;
        for (size_t i = 0; i < found->attacks.count; i++)
            if (follows_gradients(asked->items[i].kind) && asked->items[i].numbers[0] == eps) {
                was_asked = true;
                is_broken = is_broken || results[i].outcomes[row] == 'b';
            }
        *broken += is_broken;
    }
    return was_asked ? YS_OK : count_broken(rows, YS_ATTACK_PGD, eps, found, broken);
}

ys_status ys_attack_alarms_behind(struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    const double rows_threshold = fmax(2, fewer_threshold * (double)rows->spec->rows);
    const struct ys_attack_result *results = found->attacks.items;
    for (size_t i = 0; i < found->attacks.count; i++) {
        const struct ys_attack *attack = &rows->spec->attacks.items[i];
        int64_t broken;
        if (attack->kind == YS_ATTACK_PGD) {
            YS_TRY(count_broken(rows, YS_ATTACK_FGSM, attack->numbers[0], found, &broken));
            YS_TRY(raise(found, results[i].attack, "one step of the same size breaks more rows",
                         (double)(broken - results[i].broken), rows_threshold));
        } else if (attack->kind == YS_ATTACK_SQUARE) {
            YS_TRY(count_broken_by_gradients(rows, attack->numbers[0], found, &broken));
            YS_TRY(raise(found, results[i].attack, "it breaks more rows without gradients than others with them",
                         (double)(results[i].broken - broken), rows_threshold));
        } else if (attack->kind == YS_ATTACK_AUTOATTACK) {
            YS_TRY(raise(found, results[i].attack, "its part without gradients breaks rows that the others did not",
                         (double)results[i].blindly_broken, rows_threshold));
        }
    }
    return YS_OK;
}
