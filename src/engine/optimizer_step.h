/* One step of the optimizer as numbers: what of the formulas in yardstick/engine.h is the same for every element of an
 * update range. A back end asks for it once a range and step, and does the arithmetic over the elements. */
#ifndef YS_ENGINE_OPTIMIZER_STEP_H
#define YS_ENGINE_OPTIMIZER_STEP_H

#include "engine/backend.h"

struct ys_optimizer_step {
    enum ys_engine_rule rule;
    bool nesterov;
    double gradient_scale; /* on G before all else: 1, or clip_norm / norm */
    double rate, decay;    /* r and d */
    double momentum, beta1, beta2, alpha, epsilon;
    double correction1, correction2; /* 1 - beta1^t and 1 - beta2^t; of ADAM and ADAMW */
};

/** Of the step about to run, for one of low->ranges. `sum_of_squares`: of G over all ranges together, summed in double;
 * read only where ys_optimizer_clips(). A norm that is not a number leaves G as it is. */
void ys_optimizer_step(const struct ys_lowering *low, const struct ys_update_range *range, double sum_of_squares,
                       struct ys_optimizer_step *step);
/** Whether a step has to know the sum of squares. */
bool ys_optimizer_clips(const struct ys_lowering *low);

/** Whether the rule keeps state1 and state2. */
bool ys_optimizer_has_state1(const struct ys_engine_optimizer *optimizer);
bool ys_optimizer_has_state2(const struct ys_engine_optimizer *optimizer);

/** Refuses, by name, what lies outside its range; members that the rule does not read are not looked at. */
ys_status ys_optimizer_check(const struct ys_engine_optimizer *optimizer) YS_MUST_CHECK;

#endif
