#include "robust/transfer.h"

#include "base/mem.h"
#include "robust/attack_rows.h"

#include <string.h>

#define RESULT struct ys_transfer_result
static const struct ys_field result_fields[] = {
    YS_FIELD(RESULT, attack, YS_FIELD_TEXT, NULL, 0, "with all its numbers"),
    YS_FIELD(RESULT, both_right, YS_FIELD_INT, "rows", 0, "that both had right before"),
    YS_FIELD(RESULT, broken, YS_FIELD_INT, "rows", 0, "of those, that the attack broke where it was made"),
    YS_FIELD(RESULT, also_wrong, YS_FIELD_INT, "rows", 0, "of those, that the other gets wrong too"),
};
const struct ys_record ys_transfer_result_record = YS_RECORD("transfer", RESULT, result_fields);

/** Of the attacks on a model all have the same rows right before. */
static const char *outcomes_of(const struct ys_robustness *found, size_t attack)
{
    const struct ys_attack_result *results = found->attacks.items;
    const char *outcomes = attack < found->attacks.count ? results[attack].outcomes : NULL;
    return outcomes && strlen(outcomes) == (size_t)found->rows ? outcomes : NULL;
}

ys_status ys_transfer_begin(struct ys_transfer *transfer)
{
    const char *before = outcomes_of(transfer->to, 0);
    transfer->results = (struct ys_list){0};
    for (size_t k = 0; k < transfer->from->attacks.count; k++) {
        const char *outcomes = outcomes_of(transfer->from, k);
        if (!outcomes || !before || transfer->from->rows != transfer->to->rows)
            return ys_fail(YS_EINVAL,
                           "attacks on %lld rows are to be shown to a model that has outcomes of %lld: both need the "
                           "same rows, and attacks whose outcomes were kept",
                           (long long)transfer->from->rows, (long long)transfer->to->rows);
        struct ys_transfer_result *one = ys_list_add(&ys_transfer_result_record, &transfer->results);
        if (!one)
            return ys_out_of_memory();
        ys_set_text(&one->attack, ((const struct ys_attack_result *)transfer->from->attacks.items)[k].attack);
        for (int64_t row = 0; row < transfer->from->rows; row++) {
            const bool is_both = outcomes[row] != 'w' && before[row] != 'w';
            one->both_right += is_both;
            one->broken += is_both && outcomes[row] == 'b';
        }
    }
    return YS_OK;
}

static ys_status check(const struct ys_transfer *transfer, const struct ys_crafted *one)
{
    const bool is_known = one->attack >= 0 && one->attack < (int64_t)transfer->results.count && one->row >= 0 &&
                          one->row < transfer->from->rows && one->label >= 0 && one->label < (int64_t)transfer->classes;
    return is_known ? YS_OK
                    : ys_fail(YS_EINVAL, "a kept image is of attack %lld, row %lld and class %lld, which are none",
                              (long long)one->attack, (long long)one->row, (long long)one->label);
}

ys_status ys_transfer_show(struct ys_transfer *transfer, const struct ys_crafted *crafted, const float *images,
                           size_t count)
{
    struct ys_transfer_result *results = transfer->results.items;
    const char *before = outcomes_of(transfer->to, 0);
    float *shown = ys_alloc(count, transfer->pixels * sizeof *shown);
    double *logits = ys_alloc(count, transfer->classes * sizeof *logits);
    int64_t *judged = ys_alloc(count, sizeof *judged);
    size_t *which = ys_alloc(count, sizeof *which), right = 0;
    ys_status status = shown && logits && judged && which ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        status = check(transfer, &crafted[i]);
        if (status != YS_OK || before[crafted[i].row] == 'w')
            continue;
        memcpy(shown + right * transfer->pixels, images + i * transfer->pixels, transfer->pixels * sizeof *shown);
        which[right++] = i;
    }
    if (status == YS_OK && right > 0)
        status = transfer->judge(transfer->judge_of, shown, right, logits);
    if (status == YS_OK)
        status = ys_judged_classes(logits, right, transfer->classes, judged);
    for (size_t i = 0; status == YS_OK && i < right; i++)
        results[crafted[which[i]].attack].also_wrong += judged[i] != crafted[which[i]].label;
    ys_free(shown);
    ys_free(logits);
    ys_free(judged);
    ys_free(which);
    return status;
}

void ys_transfer_fini(struct ys_transfer *transfer)
{
    ys_list_fini(&ys_transfer_result_record, &transfer->results);
}
