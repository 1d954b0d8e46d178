/* Scales from numbers that were seen: of activations from what they were on some rows, of weights from themselves. */
#ifndef YS_QUANT_CALIBRATE_H
#define YS_QUANT_CALIBRATE_H

#include "graph/fold.h"
#include "quant/quant_plan.h"

#define YS_OBSERVED_BINS 2048

/** Of one value. Seen twice, since bins need the ends: first all numbers by ys_observe_ends(), then, for percentile and
 * mse, all again by ys_observe_bins(). */
struct ys_numbers_seen {
    double low, high;                         /* 0 among them; both 0 at first */
    uint64_t counts[YS_OBSERVED_BINS], total; /* of equal parts of [low, high] */
};

/** YS_EINVAL: one of the numbers is none, or infinite; `value` names them. */
ys_status ys_observe_ends(struct ys_numbers_seen *observed, const char *value, const float *x,
                          size_t count) YS_MUST_CHECK;
void ys_observe_bins(struct ys_numbers_seen *observed, const float *x, size_t count);

/** The range that a rule chooses, 0 in it. minmax: the ends. percentile(P): the smallest whole bins that leave at most
 * (100 - P) / 2 percent of the numbers out on each side. mse: low and high times the same one of 1/128, 2/128 ... 1, at
 * which the squared distance between the middles of the bins and what they are rounded to is least; of equal ones the
 * largest. */
void ys_quant_range(const struct ys_numbers_seen *observed, const struct ys_quant_rule *rule, double *low,
                    double *high);
/** scale = (high - low) / 255, rounded to float32; zero_point = -low / scale, rounded. Where that is no normal float32
 * the value is constant: scale 1, zero point 0. */
void ys_quant_activation(double low, double high, struct ys_activation_scale *at);

/** The weights' scales, behind those of the activations, which `scales` has already: largest |w| of a channel, or of
 * all, over 127 or 63; larger where a static bias would have more than 2^30 steps; 1 where all is 0. */
ys_status ys_quant_weights(const struct ys_folded *folded, const struct ys_quant_plan *plan,
                           struct ys_scales *scales) YS_MUST_CHECK;

#endif
