/* What of a named model can be chosen. */
#include "graph/model.h"
#include <math.h>

const char *ys_model_size_name(enum ys_model_size size)
{
    static const char *const names[] = {"width", "depth", "layers", "heads"};
    _Static_assert(sizeof names / sizeof names[0] == YS_MODEL_SIZE_COUNT, "one name a size");
    return names[size];
}

double ys_model_size(const struct ys_model_key *keys, const struct ys_model_input *input, enum ys_model_size size)
{
    return input->sizes[size] != 0 ? input->sizes[size] : keys[size].standard;
}

static bool allows(const struct ys_model_key *key, double value)
{
    for (size_t i = 0; i < YS_MODEL_MAX_ALLOWED && key->allowed[i] != 0; i++)
        if (key->allowed[i] == value)
            return true;
    if (key->allowed[0] != 0 || !(value >= key->low && value <= key->high))
        return false;
    return key->step == 0 || fmod(value - key->low, key->step) == 0;
}

void ys_model_key_range(const struct ys_model_key *key, struct ys_buf *out)
{
    if (key->allowed[0] == 0 && key->step == 0)
        ys_buf_printf(out, "%g to %g", key->low, key->high);
    else if (key->allowed[0] == 0)
        ys_buf_printf(out, "%g, %g, %g ... %g", key->low, key->low + key->step, key->low + 2 * key->step, key->high);
    for (size_t i = 0; i < YS_MODEL_MAX_ALLOWED && key->allowed[i] != 0; i++) {
        const bool is_last = i + 1 == YS_MODEL_MAX_ALLOWED || key->allowed[i + 1] == 0;
        ys_buf_printf(out, "%s%g", i == 0 ? "" : is_last ? " or " : ", ", key->allowed[i]);
    }
}

/* The keys that the model has, after "it has ". */
static void list_keys(const struct ys_model *model, struct ys_buf *out)
{
    for (int size = 0; model->keys && size < YS_MODEL_SIZE_COUNT; size++)
        if (model->keys[size].meaning)
            ys_buf_printf(out, "model.%s, ", ys_model_size_name((enum ys_model_size)size));
    ys_buf_puts(out, "model.classes");
}

ys_status ys_model_check_sizes(const struct ys_model *model, const struct ys_model_input *input)
{
    ys_status status = YS_OK;
    for (int size = 0; status == YS_OK && size < YS_MODEL_SIZE_COUNT; size++) {
        const double value = input->sizes[size];
        const struct ys_model_key *key = model->keys ? &model->keys[size] : NULL;
        const char *name = ys_model_size_name((enum ys_model_size)size);
        struct ys_buf text = {0};
        if (value == 0 || (key && key->meaning && allows(key, value)))
            continue;
        if (!key || !key->meaning) {
            list_keys(model, &text);
            status = ys_fail(YS_EINVAL, "model.%s = %g: the model %s has no such key, but %s", name, value, model->name,
                             ys_buf_text(&text));
        } else {
            ys_model_key_range(key, &text);
            status = ys_fail(YS_EINVAL, "model.%s = %g: must be %s for the model %s", name, value, ys_buf_text(&text),
                             model->name);
        }
        ys_buf_free(&text);
    }
    return status;
}
