#include "graph/scales.h"

#include "base/mem.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const char *const kind_names[] = {"static", "dynamic", "weights"};
const struct ys_names ys_quant_kinds = YS_NAMES("kind of quantisation", kind_names);
static const char *const maker_names[] = {"yardstick", "own"};
const struct ys_names ys_quant_makers = YS_NAMES("one who chooses scales", maker_names);
static const char *const scheme_names[] = {"per-channel", "per-tensor"};
const struct ys_names ys_quant_schemes = YS_NAMES("scheme of scales", scheme_names);
static const char *const range_names[] = {"full", "reduced"};
const struct ys_names ys_quant_ranges = YS_NAMES("range of weights", range_names);
static const char *const calibration_names[] = {"minmax", "percentile", "mse"};
const struct ys_names ys_quant_calibrations = YS_NAMES("calibration", calibration_names);

#define RULE struct ys_quant_rule
static const struct ys_field rule_fields[] = {
    YS_FIELD_NAMED(RULE, kind, &ys_quant_kinds, 0, "what is quantised"),
    YS_FIELD_NAMED(RULE, scheme, &ys_quant_schemes, 0, "how many scales a weight has"),
    YS_FIELD_NAMED(RULE, range, &ys_quant_ranges, 0, "full: weights in [-127, 127]; reduced: in [-63, 63]"),
    YS_FIELD_NAMED(RULE, calibration, &ys_quant_calibrations, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
                   "by what ranges of activations are chosen; lacks where none are"),
    YS_FIELD(RULE, percentile, YS_FIELD_REAL, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
             "of calibration percentile: percent of the values that lie in the range"),
    YS_FIELD(RULE, rows, YS_FIELD_INT, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK, "rows that were calibrated on"),
};
const struct ys_record ys_quant_rule_record = YS_RECORD("quant rule", RULE, rule_fields);

#define ACTIVATION struct ys_activation_scale
static const struct ys_field activation_fields[] = {
    YS_FIELD(ACTIVATION, value, YS_FIELD_TEXT, NULL, 0, "name of the value"),
    YS_FIELD(ACTIVATION, scale, YS_FIELD_REAL, "1", 0, "what a step of the integer stands for"),
    YS_FIELD(ACTIVATION, zero_point, YS_FIELD_INT, "1", 0, "the integer that stands for 0"),
    YS_FIELD(ACTIVATION, constant, YS_FIELD_FLAG, NULL, YS_FIELD_MAY_LACK, "it was 0 in all rows seen"),
};
static const struct ys_record activation_record = YS_RECORD("scale of a value", ACTIVATION, activation_fields);

#define WEIGHT struct ys_weight_scale
static const struct ys_field weight_fields[] = {
    YS_FIELD(WEIGHT, param, YS_FIELD_TEXT, NULL, 0, "name of the parameter"),
    YS_FIELD(WEIGHT, scales, YS_FIELD_REALS, "1", 0, "one, or one for each channel"),
};
static const struct ys_record weight_record = YS_RECORD("scales of a weight", WEIGHT, weight_fields);

#define SCALES struct ys_scales
static const struct ys_field scales_fields[] = {
    YS_FIELD_OF(SCALES, rule, YS_FIELD_OBJECT, &ys_quant_rule_record, 0, "what was asked for"),
    YS_FIELD_OF(SCALES, activations, YS_FIELD_LIST, &activation_record, 0, "of values; none but of kind static"),
    YS_FIELD_OF(SCALES, weights, YS_FIELD_LIST, &weight_record, 0, "of weights"),
};
const struct ys_record ys_scales_record = YS_RECORD("scales", SCALES, scales_fields);

void ys_scales_init(struct ys_scales *scales)
{
    ys_record_init(&ys_scales_record, scales);
}

void ys_scales_fini(struct ys_scales *scales)
{
    ys_record_fini(&ys_scales_record, scales);
}

struct ys_activation_scale *ys_scales_add_activation(struct ys_scales *scales)
{
    return ys_list_add(&activation_record, &scales->activations);
}

struct ys_weight_scale *ys_scales_add_weight(struct ys_scales *scales)
{
    return ys_list_add(&weight_record, &scales->weights);
}

const struct ys_activation_scale *ys_scales_of_value(const struct ys_scales *scales, const char *value)
{
    const struct ys_activation_scale *at = scales->activations.items;
    for (size_t i = 0; i < scales->activations.count; i++)
        if (strcmp(at[i].value, value) == 0)
            return &at[i];
    return NULL;
}

const struct ys_weight_scale *ys_scales_of_param(const struct ys_scales *scales, const char *param)
{
    const struct ys_weight_scale *at = scales->weights.items;
    for (size_t i = 0; i < scales->weights.count; i++)
        if (strcmp(at[i].param, param) == 0)
            return &at[i];
    return NULL;
}

double ys_weight_scale_at(const struct ys_weight_scale *weight, int64_t channel)
{
    const double *scales = weight->scales.items;
    YS_ASSERT(weight->scales.count == 1 || (channel >= 0 && (size_t)channel < weight->scales.count));
    return scales[weight->scales.count == 1 ? 0 : channel];
}

ys_status ys_quant_rule_check(const struct ys_quant_rule *rule)
{
    const bool is_static = rule->kind == YS_QUANT_STATIC, is_cut = rule->calibration == YS_QUANT_PERCENTILE;
    if (!ys_name_of(&ys_quant_kinds, rule->kind) || !ys_name_of(&ys_quant_schemes, rule->scheme) ||
        !ys_name_of(&ys_quant_ranges, rule->range))
        return ys_fail(YS_EINVAL, "quant: a kind, scheme or range that there is not");
    if (is_static != (ys_name_of(&ys_quant_calibrations, rule->calibration) != NULL))
        return ys_fail(YS_EINVAL,
                       is_static ? "quant: static needs a calibration: minmax, percentile(P) or mse"
                                 : "quant: %s calibrates nothing: leave the calibration out",
                       ys_name_of(&ys_quant_kinds, rule->kind));
    if (is_cut != !isnan(rule->percentile))
        return ys_fail(YS_EINVAL, "quant: calibration percentile, and it alone, has a percentile");
    if (is_cut && !(rule->percentile > 50 && rule->percentile <= 100))
        return ys_fail(YS_EINVAL, "quant: percentile(%g): P is above 50 and at most 100", rule->percentile);
    if (is_static && rule->rows != YS_FIELD_NONE && rule->rows < 1)
        return ys_fail(YS_EINVAL, "quant: %lld rows: at least one row is calibrated on", (long long)rule->rows);
    return YS_OK;
}

/** Whether it is what a float32 of normal size holds. */
static bool is_scale(double scale)
{
    return scale >= FLT_MIN && scale <= FLT_MAX && (double)(float)scale == scale;
}

static ys_status check_activation(const struct ys_scales *scales, const struct ys_activation_scale *at,
                                  const char *label)
{
    if (!is_scale(at->scale))
        return ys_fail(YS_EFORMAT, "%s: value %s: scale %g is no positive float32", label, at->value, at->scale);
    if (at->zero_point < 0 || at->zero_point > UINT8_MAX)
        return ys_fail(YS_EFORMAT, "%s: value %s: zero point %lld is no byte", label, at->value,
                       (long long)at->zero_point);
    return ys_scales_of_value(scales, at->value) == at
               ? YS_OK
               : ys_fail(YS_EFORMAT, "%s: value %s has scales twice", label, at->value);
}

static ys_status check_weight(const struct ys_scales *scales, const struct ys_weight_scale *at, const char *label)
{
    for (size_t c = 0; c < at->scales.count; c++) {
        const double scale = ((const double *)at->scales.items)[c];
        if (!is_scale(scale))
            return ys_fail(YS_EFORMAT, "%s: weight %s: scale %g of channel %zu is no positive float32", label,
                           at->param, scale, c);
    }
    if (at->scales.count == 0)
        return ys_fail(YS_EFORMAT, "%s: weight %s has no scale", label, at->param);
    return ys_scales_of_param(scales, at->param) == at
               ? YS_OK
               : ys_fail(YS_EFORMAT, "%s: weight %s has scales twice", label, at->param);
}

static ys_status check(const struct ys_scales *scales, const char *label)
{
    const struct ys_activation_scale *activations = scales->activations.items;
    const struct ys_weight_scale *weights = scales->weights.items;
    if (ys_quant_rule_check(&scales->rule) != YS_OK)
        return ys_fail(YS_EFORMAT, "%s: %s", label, ys_error());
    for (size_t i = 0; i < scales->activations.count; i++)
        YS_TRY(check_activation(scales, &activations[i], label));
    for (size_t i = 0; i < scales->weights.count; i++)
        YS_TRY(check_weight(scales, &weights[i], label));
    return YS_OK;
}

ys_status ys_scales_from_json(const ys_json *json, const char *label, struct ys_scales *scales)
{
    YS_TRY(ys_record_read(&ys_scales_record, json, label, scales));
    ys_status status = check(scales, label);
    if (status != YS_OK)
        ys_scales_fini(scales);
    return status;
}

ys_status ys_scales_read(const char *path, struct ys_scales *scales)
{
    ys_json *json;
    ys_scales_init(scales);
    YS_TRY(ys_json_read(path, &json));
    ys_status status = ys_scales_from_json(json, path, scales);
    ys_json_free(json);
    return status;
}

ys_status ys_scales_write(const char *path, const struct ys_scales *scales)
{
    ys_json *json = ys_record_json(&ys_scales_record, scales);
    ys_status status = json ? ys_json_write(path, json) : ys_out_of_memory();
    ys_json_free(json);
    return status;
}
