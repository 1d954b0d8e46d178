#include "job/quant.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const struct ys_form calibrations[] = {
    [YS_QUANT_MINMAX] = {"minmax"},
    [YS_QUANT_PERCENTILE] = {"percentile", {{.name = "P", .low = 50, .high = 100, .above_low = true}}, 1},
    [YS_QUANT_MSE] = {"mse"},
    {NULL},
};
/* clang-format on */

const struct ys_form *ys_job_calibrations(void)
{
    return calibrations;
}

static ys_status parse_calibration(const char *text, int *calibration, double *percentile)
{
    const struct ys_form *form;
    double numbers[YS_FORM_ARGUMENTS];
    YS_TRY(ys_form_parse(calibrations, "calibration", text, strlen(text), &form, numbers));
    *calibration = (int)(form - calibrations);
    *percentile = form->count ? numbers[0] : (double)NAN;
    return YS_OK;
}

ys_status ys_job_calibration_print(const char *text, struct ys_buf *out)
{
    int calibration;
    double percentile;
    YS_TRY(parse_calibration(text, &calibration, &percentile));
    ys_form_print(&calibrations[calibration], &percentile, out);
    return YS_OK;
}

static const struct quant_key {
    const char *name;
    bool calibrates; /* it says something of quant = static alone */
} quant_keys[] = {{"quant", false},     {"quant.by", false},   {"quant.scheme", false}, {"quant.calibration", true},
                  {"quant.rows", true}, {"quant.range", false}};
enum { QUANT_KEYS = sizeof quant_keys / sizeof quant_keys[0] };

static const struct quant_key *find_key(const char *key)
{
    for (size_t i = 0; i < QUANT_KEYS; i++)
        if (strcmp(quant_keys[i].name, key) == 0)
            return &quant_keys[i];
    return NULL;
}

bool ys_quant_key(const char *key)
{
    return find_key(key) != NULL;
}

bool ys_quant_key_says(const char *key, const char *precision, const char *quant)
{
    const struct quant_key *found = find_key(key);
    if (!found)
        return true;
    return precision && strcmp(precision, YS_QUANT_PRECISION) == 0 &&
           (!found->calibrates || !quant || strcmp(quant, "static") == 0);
}

void ys_quant_finish(ys_json *keys)
{
    const char *precision = ys_json_get_text(keys, "precision", "");
    const bool is_int8 = strcmp(precision, YS_QUANT_PRECISION) == 0;
    bool says[QUANT_KEYS];
    for (size_t i = 0; i < QUANT_KEYS; i++)
        says[i] = ys_quant_key_says(quant_keys[i].name, precision, ys_json_get_text(keys, "quant", NULL));
    for (size_t i = 0; i < QUANT_KEYS; i++)
        if (!says[i])
            ys_json_set(keys, quant_keys[i].name, ys_json_null());
    if (is_int8)
        ys_json_set_string(keys, "precision", "f32");
}

bool ys_settings_quant_own(const struct ys_trial_settings *settings)
{
    return settings->quant_by == YS_QUANT_BY_OWN;
}

const char *ys_settings_quantiser(const struct ys_trial_settings *settings)
{
    return ys_settings_quant_own(settings) && settings->framework ? settings->framework : "";
}

bool ys_settings_quant_rule(const struct ys_trial_settings *settings, struct ys_quant_rule *rule)
{
    if (settings->quant == YS_NAME_NONE)
        return false;
    *rule = (struct ys_quant_rule){.kind = settings->quant,
                                   .scheme = settings->quant_scheme,
                                   .range = settings->quant_range,
                                   .calibration = YS_NAME_NONE,
                                   .percentile = NAN,
                                   .rows = settings->quant_rows};
    return !settings->quant_calibration ||
           parse_calibration(settings->quant_calibration, &rule->calibration, &rule->percentile) == YS_OK;
}
