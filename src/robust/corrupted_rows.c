#include "robust/corrupted_rows.h"

#include "base/mem.h"
#include "base/stop.h"

#include <math.h>

/* A batch of pictures under work. */
struct batch {
    const struct ys_attacked_rows *rows;
    struct ys_corruption corruption;
    float *pictures; /* [batch, pixels] */
    float *logits;   /* [batch, classes] */
};

/** Rows from `from` on, as many as a batch has; *right is counted up. */
static ys_status ask(struct batch *batch, size_t from, int64_t *right)
{
    const struct ys_attacked *model = batch->rows->model;
    const struct ys_attack_spec *spec = batch->rows->spec;
    const size_t left = spec->rows - from, count = left < model->batch ? left : model->batch;
    if (ys_stop_signal())
        return ys_stopped();
    for (size_t i = 0; i < count; i++) {
        batch->corruption.row = from + i;
        ys_corrupt(&batch->corruption, spec->images + (from + i) * model->pixels, batch->pictures + i * model->pixels);
    }
    YS_TRY(model->logits(model->of, batch->pictures, count, batch->logits));
    for (size_t i = 0; i < count * model->classes; i++)
        if (!isfinite(batch->logits[i]))
            return ys_fail(YS_EINVAL, "after %s the logits of an image are no finite numbers",
                           ys_corruption_name(batch->corruption.shape.channels, batch->corruption.kind));
    for (size_t i = 0; i < count; i++)
        *right += ys_first_largest(batch->logits + i * model->classes, model->classes) == spec->labels[from + i];
    return YS_OK;
}

/** All kinds at one severity, into `list`. */
static ys_status corrupt(struct batch *batch, struct ys_list *list)
{
    const struct ys_attacked_rows *rows = batch->rows;
    const int64_t channels = batch->corruption.shape.channels;
    const size_t kinds = ys_corruption_count(channels);
    for (size_t kind = 0; kind < kinds; kind++) {
        struct ys_corruption_result *one = ys_list_add(&ys_corruption_result_record, list);
        ys_set_text(&one->kind, ys_corruption_name(channels, kind));
        one->severity = batch->corruption.severity;
        one->right = 0;
        batch->corruption.kind = kind;
        ys_attacked_rows_progress(rows, (double)kind / (double)kinds, one->kind);
        for (size_t from = 0; from < rows->spec->rows; from += rows->model->batch)
            YS_TRY(ask(batch, from, &one->right));
    }
    return YS_OK;
}

ys_status ys_corrupt_rows(struct ys_attacked_rows *rows, struct ys_robustness *found)
{
    const struct ys_attacked *model = rows->model;
    struct batch batch = {
        .rows = rows,
        .corruption = {.shape = {model->channels, model->height, model->width}, .seed = rows->spec->seed},
        .pictures = ys_alloc(model->batch * model->pixels, sizeof(float)),
        .logits = ys_alloc(model->batch * model->classes, sizeof(float))};
    struct ys_list made = {0};
    ys_status status = batch.pictures && batch.logits ? YS_OK : ys_out_of_memory();
    for (int severity = 1; status == YS_OK && severity <= YS_SEVERITIES; severity++) {
        if (!rows->spec->attacks.corrupts[severity - 1])
            continue;
        batch.corruption.severity = severity;
        status = corrupt(&batch, &made);
        rows->attacks_done++;
    }
    if (status == YS_OK)
        found->corruptions = made;
    else
        ys_list_fini(&ys_corruption_result_record, &made);
    ys_free(batch.pictures);
    ys_free(batch.logits);
    return status;
}
