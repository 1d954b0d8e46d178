/* How a network was quantised: the rule that was asked for, and the scales that it led to.
 *
 * A quantised number is an integer q that stands for scale * (q - zero_point). Activations are unsigned bytes, one
 * scale and one zero point a value; weights are signed bytes, symmetric (their zero point is 0), one scale each or one
 * for each channel of their result. Values and parameters are those of the folded graph (graph/fold.h); which of them
 * have scales, and what is computed in integers, says quant/quant_plan.h. Source of the scheme: Jacob et al.,
 * "Quantization and training of neural networks for efficient integer-arithmetic-only inference", CVPR 2018, in the
 * form of ONNX's QuantizeLinear. docs/quantised.md has the rule. */
#ifndef YS_GRAPH_SCALES_H
#define YS_GRAPH_SCALES_H

#include "base/json/record.h"
#include "base/status.h"

/** What is quantised: activations by scales that were found before, or by those of each batch itself (ONNX's
 * DynamicQuantizeLinear in front of each product), or weights alone, which are stored so and computed with in float. */
enum ys_quant_kind { YS_QUANT_STATIC, YS_QUANT_DYNAMIC, YS_QUANT_WEIGHTS };
extern const struct ys_names ys_quant_kinds; /* "static", "dynamic", "weights" */

/** Who chooses scales: yardstick, once for every framework, or each framework's own quantiser. */
enum ys_quant_by { YS_QUANT_BY_YARDSTICK, YS_QUANT_BY_OWN };
extern const struct ys_names ys_quant_makers; /* "yardstick", "own" */

/** How many scales a weight has. */
enum ys_quant_scheme { YS_QUANT_PER_CHANNEL, YS_QUANT_PER_TENSOR };
extern const struct ys_names ys_quant_schemes; /* "per-channel", "per-tensor" */

/** What of a signed byte weights use: [-127, 127], or [-63, 63], whose products no processor saturates. */
enum ys_quant_range { YS_QUANT_FULL, YS_QUANT_REDUCED };
extern const struct ys_names ys_quant_ranges; /* "full", "reduced" */

/** By what of the values observed the range of an activation is chosen. */
enum ys_quant_calibration { YS_QUANT_MINMAX, YS_QUANT_PERCENTILE, YS_QUANT_MSE };
extern const struct ys_names ys_quant_calibrations; /* "minmax", "percentile", "mse" */

#define YS_QUANT_DRAW                                                                                                  \
    "calibration" /* the stream that draws the rows: a shuffle of all, of which the first are taken                    \
                   */

struct ys_quant_rule {
    int kind;          /* enum ys_quant_kind */
    int scheme;        /* enum ys_quant_scheme */
    int range;         /* enum ys_quant_range */
    int calibration;   /* enum ys_quant_calibration; YS_NAME_NONE where nothing is calibrated: dynamic, weights */
    double percentile; /* of YS_QUANT_PERCENTILE: above 50, at most 100; NaN with the others */
    int64_t rows;      /* that were calibrated on; YS_FIELD_NONE where none were */
};
extern const struct ys_record ys_quant_rule_record;

struct ys_activation_scale {
    char *value;        /* its name in the folded graph; owned */
    double scale;       /* positive, a normal float32 exactly */
    int64_t zero_point; /* 0 to 255 */
    bool constant;      /* it was 0 in all rows seen, so that its scale is 1 for want of a better */
};

struct ys_weight_scale {
    char *param;           /* its name in the folded graph; owned */
    struct ys_list scales; /* double, each as above; one, or one for each entry of the parameter's first axis */
};

/** Static: all values and weights that have scales. Dynamic and weights: the weights alone. */
struct ys_scales {
    struct ys_quant_rule rule;
    struct ys_list activations; /* struct ys_activation_scale */
    struct ys_list weights;     /* struct ys_weight_scale */
};
extern const struct ys_record ys_scales_record;

void ys_scales_init(struct ys_scales *scales);
void ys_scales_fini(struct ys_scales *scales);
/** One more, as ys_record_init() leaves it; NULL without memory. */
struct ys_activation_scale *ys_scales_add_activation(struct ys_scales *scales);
struct ys_weight_scale *ys_scales_add_weight(struct ys_scales *scales);
/** NULL: it has none. */
const struct ys_activation_scale *ys_scales_of_value(const struct ys_scales *scales, const char *value);
const struct ys_weight_scale *ys_scales_of_param(const struct ys_scales *scales, const char *param);
/** The scale of channel `channel` of a weight. */
double ys_weight_scale_at(const struct ys_weight_scale *weight, int64_t channel);

/** YS_EINVAL: a rule that there is not, such as a percentile of 40; the message begins with "quant". */
ys_status ys_quant_rule_check(const struct ys_quant_rule *rule) YS_MUST_CHECK;
/** Reads and checks; `label` begins messages. YS_EFORMAT: a scale that is no positive float32, a zero point that is no
 * byte, a name that comes twice, a rule that there is not. On failure `scales` is as after ys_scales_init(). */
ys_status ys_scales_from_json(const ys_json *json, const char *label, struct ys_scales *scales) YS_MUST_CHECK;
ys_status ys_scales_read(const char *path, struct ys_scales *scales) YS_MUST_CHECK;
ys_status ys_scales_write(const char *path, const struct ys_scales *scales) YS_MUST_CHECK; /* atomically */

#endif
