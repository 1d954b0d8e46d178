#include "job/optimizer.h"

#include <string.h>

/* The betas and epsilon of Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015; alpha as in PyTorch.
 */
static const struct ys_job_optimizer standard = {"sgd", false, 0.9, 0.999, 0.99, 1e-8};

#define BELOW_1 .low = 0, .high = 1, .below_high = true
#define EPSILON                                                                                                        \
    {                                                                                                                  \
        .name = "EPSILON", .low = 0, .above_low = true, .high = 1                                                      \
    }
#define BETAS                                                                                                          \
    {.name = "BETA1", BELOW_1},                                                                                        \
    {                                                                                                                  \
        .name = "BETA2", BELOW_1                                                                                       \
    }

enum optimizer_form { SGD, NESTEROV, ADAM, ADAM_NUMBERS, ADAMW, ADAMW_NUMBERS, RMSPROP, RMSPROP_NUMBERS };

/* clang-format off */
static const struct ys_form forms[] = {
    [SGD] = {"sgd"},
    [NESTEROV] = {"nesterov"},
    [ADAM] = {"adam"},
    [ADAM_NUMBERS] = {"adam", {BETAS, EPSILON}, 3},
    [ADAMW] = {"adamw"},
    [ADAMW_NUMBERS] = {"adamw", {BETAS, EPSILON}, 3},
    [RMSPROP] = {"rmsprop"},
    [RMSPROP_NUMBERS] = {"rmsprop", {{.name = "ALPHA", BELOW_1}, EPSILON}, 2},
    {NULL},
};
/* clang-format on */

const struct ys_form *ys_job_optimizers(void)
{
    return forms;
}

static bool has_betas(const struct ys_job_optimizer *optimizer)
{
    return strncmp(optimizer->name, "adam", 4) == 0;
}

static bool has_alpha(const struct ys_job_optimizer *optimizer)
{
    return strcmp(optimizer->name, "rmsprop") == 0;
}

ys_status ys_job_optimizer_parse(const char *text, struct ys_job_optimizer *optimizer)
{
    const struct ys_form *form;
    double numbers[YS_FORM_ARGUMENTS];
    YS_TRY(ys_form_parse(forms, "optimizer", text, strlen(text), &form, numbers));
    *optimizer = standard;
    optimizer->nesterov = form == &forms[NESTEROV];
    if (!optimizer->nesterov)
        optimizer->name = form->name;
    if (form->count == 3) {
        optimizer->beta1 = numbers[0];
        optimizer->beta2 = numbers[1];
    } else if (form->count == 2) {
        optimizer->alpha = numbers[0];
    }
    if (form->count > 0)
        optimizer->epsilon = numbers[form->count - 1];
    return YS_OK;
}

void ys_job_optimizer_print(const struct ys_job_optimizer *optimizer, struct ys_buf *out)
{
    bool usual = optimizer->beta1 == standard.beta1 && optimizer->beta2 == standard.beta2 &&
                 optimizer->alpha == standard.alpha && optimizer->epsilon == standard.epsilon;
    double betas[] = {optimizer->beta1, optimizer->beta2, optimizer->epsilon},
           alpha[] = {optimizer->alpha, optimizer->epsilon};
    if (usual)
        ys_buf_puts(out, optimizer->nesterov ? forms[NESTEROV].name : optimizer->name);
    else if (has_alpha(optimizer))
        ys_form_print(&forms[RMSPROP_NUMBERS], alpha, out);
    else
        ys_form_print(&forms[strcmp(optimizer->name, "adam") == 0 ? ADAM_NUMBERS : ADAMW_NUMBERS], betas, out);
}

void ys_job_optimizer_put(const struct ys_job_optimizer *optimizer, ys_json *keys)
{
    bool betas = has_betas(optimizer), alpha = has_alpha(optimizer);
    ys_json_set(keys, "beta1", betas ? ys_json_real(optimizer->beta1) : ys_json_null());
    ys_json_set(keys, "beta2", betas ? ys_json_real(optimizer->beta2) : ys_json_null());
    ys_json_set(keys, "alpha", alpha ? ys_json_real(optimizer->alpha) : ys_json_null());
    ys_json_set(keys, "epsilon", betas || alpha ? ys_json_real(optimizer->epsilon) : ys_json_null());
}

ys_status ys_job_optimizer_check(const struct ys_job_optimizer *optimizer, double momentum)
{
    if (optimizer->nesterov && momentum == 0)
        return ys_fail(YS_EINVAL,
                       "nesterov needs a momentum above 0: write momentum = 0.9, or leave the point out with exclude");
    if (has_betas(optimizer) && momentum > 0)
        return ys_fail(YS_EINVAL,
                       "%s has BETA1 in the place of a momentum: write momentum = 0, or leave the point out with "
                       "exclude",
                       optimizer->name);
    return YS_OK;
}
