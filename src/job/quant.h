/* Keys of precision = int8: how a network is quantised. Inside, such a trial is one of f32 with a quantisation; what
 * its rule means is in graph/scales.h. */
#ifndef YS_JOB_QUANT_H
#define YS_JOB_QUANT_H

#include "graph/scales.h"
#include "job/settings.h"
#include "job/value_form.h"

#define YS_QUANT_PRECISION "int8" /* value of key precision in a job; a resolved trial has f32 and `quant` */

/** What may be written for quant.calibration. */
const struct ys_form *ys_job_calibrations(void);
/** As the resolved study writes it: "minmax", "percentile(99.9)". Appended; YS_EINVAL says what is wrong. */
ys_status ys_job_calibration_print(const char *text, struct ys_buf *out) YS_MUST_CHECK;

/** Whether it is one of them: "quant", "quant.rows". */
bool ys_quant_key(const char *key);
/** Whether the key says something where the keys precision and quant have these values, NULL for their defaults: other
 * keys always do. */
bool ys_quant_key_says(const char *key, const char *precision, const char *quant);
/** Of a trial's keys: makes int8 f32, and null what says nothing. */
void ys_quant_finish(ys_json *keys);

/** Whether the framework's own quantiser chooses the scales. */
bool ys_settings_quant_own(const struct ys_trial_settings *settings);
/** Then the framework; "" where the scales are yardstick's or there are none. What different ones made is different
 * work. */
const char *ys_settings_quantiser(const struct ys_trial_settings *settings);
/** Whether the trial is quantised; then its rule. */
bool ys_settings_quant_rule(const struct ys_trial_settings *settings, struct ys_quant_rule *rule);

#endif
