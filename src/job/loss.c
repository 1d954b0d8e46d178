#include "job/loss.h"

#include <string.h>

enum loss_form { AUTO, CROSS_ENTROPY, SMOOTHED, NLL, SQUARED, MSE };

/* clang-format off */
static const struct ys_form forms[] = {
    [AUTO] = {"auto"},
    [CROSS_ENTROPY] = {"softmax_cross_entropy"},
    [SMOOTHED] = {"softmax_cross_entropy", {{.name = "SMOOTHING", .low = 0, .high = 1, .below_high = true}}, 1},
    [NLL] = {"nll"},
    [SQUARED] = {"mean_squared_error"},
    [MSE] = {"mse"},
    {NULL},
};
/* clang-format on */

const struct ys_form *ys_job_losses(void)
{
    return forms;
}

ys_status ys_job_loss_parse(const char *text, struct ys_job_loss *loss)
{
    static const enum ys_loss losses[] = {
        [AUTO] = YS_LOSS_SOFTMAX_CROSS_ENTROPY,     [CROSS_ENTROPY] = YS_LOSS_SOFTMAX_CROSS_ENTROPY,
        [SMOOTHED] = YS_LOSS_SOFTMAX_CROSS_ENTROPY, [NLL] = YS_LOSS_NLL,
        [SQUARED] = YS_LOSS_MEAN_SQUARED_ERROR,     [MSE] = YS_LOSS_MEAN_SQUARED_ERROR,
    };
    const struct ys_form *form;
    double numbers[YS_FORM_ARGUMENTS];
    YS_TRY(ys_form_parse(forms, "loss", text, strlen(text), &form, numbers));
    *loss = (struct ys_job_loss){form == &forms[AUTO], losses[form - forms], numbers[0]};
    return YS_OK;
}

void ys_job_loss_print(const struct ys_job_loss *loss, struct ys_buf *out)
{
    if (loss->own)
        ys_buf_puts(out, forms[AUTO].name);
    else if (loss->label_smoothing > 0)
        ys_form_print(&forms[SMOOTHED], &loss->label_smoothing, out);
    else
        ys_buf_puts(out, ys_loss_name(loss->loss));
}
