/* Signs that an attack fails for another reason than that the model withstands it: Carlini et al., "On evaluating
 * adversarial robustness", arXiv 1902.06705, section 5. */
#ifndef YS_ROBUST_ATTACK_ALARMS_H
#define YS_ROBUST_ATTACK_ALARMS_H

#include "robust/attack_rows.h"

/** What is seen on the images as they are: outputs that change from call to call, probabilities in place of logits,
 * gradients of zero; then that pgd at EPS 1, which may make any image of any, leaves more rows than chance would. */
ys_status ys_attack_alarms_before(struct ys_attacked_rows *rows, struct ys_robustness *found) YS_MUST_CHECK;
/** What results say: at the EPS of a pgd fgsm breaks more; square breaks more than what follows
 * gradients at its EPS, or than autoattack's other parts did. Runs fgsm and pgd where nobody asked for them. */
ys_status ys_attack_alarms_behind(struct ys_attacked_rows *rows, struct ys_robustness *found) YS_MUST_CHECK;

#endif
