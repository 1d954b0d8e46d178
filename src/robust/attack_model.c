#include "base/mem.h"
#include "robust/attack_alarms.h"
#include "robust/attack_rows.h"
#include "robust/corrupted_rows.h"

#include <math.h>

/** One more, at the end of `list`. */
static ys_status add_standing(struct ys_list *list, double eps, int64_t standing)
{
    struct ys_eps_standing *item = ys_list_add(&ys_eps_standing_record, list);
    if (!item)
        return ys_out_of_memory();
    item->eps = eps;
    item->standing = standing;
    return YS_OK;
}

/** The smallest EPS of an attack that is above `eps`; NaN: none is. */
static double next_eps(const struct ys_attacks *attacks, double eps)
{
    double next = NAN;
    for (size_t i = 0; i < attacks->count; i++) {
        const double own = ys_attack_eps(&attacks->items[i]);
        if (own > eps && !(own >= next))
            next = own;
    }
    return next;
}

static ys_status count_standing(const struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    const struct ys_attacks *attacks = &rows->spec->attacks;
    const struct ys_attack_result *results = found->attacks.items;
    for (double eps = next_eps(attacks, -1); !isnan(eps); eps = next_eps(attacks, eps)) {
        int64_t standing = 0;
        for (size_t row = 0; row < rows->spec->rows; row++) {
            bool stands = rows->is_right[row];
            for (size_t i = 0; i < attacks->count; i++)
                if (ys_attack_eps(&attacks->items[i]) <= eps && results[i].outcomes[row] == 'b')
                    stands = false;
            standing += stands;
        }
        YS_TRY(add_standing(&found->robust, eps, standing));
    }
    return YS_OK;
}

static ys_status follow_curve(struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    for (size_t i = 0; i < rows->spec->curve_count; i++) {
        const double eps = rows->spec->curve[i];
        const struct ys_attack attack = ys_attack_at(YS_ATTACK_PGD, eps);
        struct ys_attack_result result;
        YS_TRY(ys_attack_rows(rows, &attack, &result));
        ys_status status = add_standing(&found->curve, eps, result.clean - result.broken);
        ys_record_fini(&ys_attack_result_record, &result);
        YS_TRY(status);
    }
    return YS_OK;
}

static ys_status attack_all(struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    const struct ys_attack_spec *spec = rows->spec;
    rows->attacks_to_do = 1 + ys_attacks_severities(&spec->attacks) + spec->attacks.count + spec->curve_count;
    for (size_t i = 0; i < spec->attacks.count; i++) /* what alarms may ask for */
        rows->attacks_to_do +=
            spec->attacks.items[i].kind == YS_ATTACK_PGD || spec->attacks.items[i].kind == YS_ATTACK_SQUARE;
    YS_TRY(ys_corrupt_rows(rows, found));
    if (spec->finished && found->corruptions.count > 0)
        YS_TRY(spec->finished(spec->finished_of, found));
    const bool attacks = rows->clean > 0 && spec->attacks.count + spec->curve_count > 0;
    if (attacks)
        YS_TRY(ys_attack_alarms_before(rows, found));
    for (size_t i = 0; i < spec->attacks.count; i++) {
        struct ys_attack_result result, *place;
        rows->asked = &spec->attacks.items[i];
        YS_TRY(ys_attack_rows(rows, rows->asked, &result));
        rows->asked = NULL;
        place = ys_list_add(&ys_attack_result_record, &found->attacks);
        if (!place) {
            ys_record_fini(&ys_attack_result_record, &result);
            return ys_out_of_memory();
        }
        *place = result;
        if (spec->finished)
            YS_TRY(spec->finished(spec->finished_of, found));
    }
    if (attacks)
        YS_TRY(ys_attack_alarms_behind(rows, found));
    YS_TRY(follow_curve(rows, found));
    found->perturbation_p50 = ys_attacked_rows_smallest(rows);
    return count_standing(rows, found);
}

ys_status ys_attack_model(const struct ys_attacked *model, const struct ys_attack_spec *spec,
                          struct ys_robustness *found)
{
    struct ys_attacked_rows rows;
    ys_record_init(&ys_robustness_record, found);
    YS_ASSERT(spec->rows > 0 && spec->restarts > 0 && model->batch > 0 && model->classes > 1);
    YS_TRY(ys_attacks_check(&spec->attacks, model->classes,
                            &(struct ys_picture_shape){model->channels, model->height, model->width}));
    YS_TRY(ys_attacked_rows_init(model, spec, &rows));
    found->rows = (int64_t)spec->rows;
    found->clean = (int64_t)rows.clean;
    ys_status status = attack_all(&rows, found);
    ys_attacked_rows_fini(&rows);
    return status;
}
