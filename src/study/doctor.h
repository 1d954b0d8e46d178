/* Is this machine fit to measure: what can be observed on it, and what disturbs. */
#ifndef YS_STUDY_DOCTOR_H
#define YS_STUDY_DOCTOR_H

#include "base/json.h"
#include "base/status.h"

/** Looks at the machine, half a second of it at its load. New array of {"name", "state": "good" | "poor" | "unknown",
 * "found", "consequence" (null where all is well), "remedy" (null likewise, or where there is none)}. */
ys_status ys_doctor_look(ys_json **lines) YS_MUST_CHECK;

#endif
