/* Whether what yardstick observes is true here: a small program does known things and says what its own clocks and
 * counters made of them; yardstick observes it as it does any adapter, and the two are compared. */
#ifndef YS_STUDY_SELF_TEST_H
#define YS_STUDY_SELF_TEST_H

#include "base/json.h"
#include "base/status.h"

/** Does each thing `times` times, some 0.2 s each. New object {"date", "host", "group", "times", "rows": [{"what",
 * "unit", "truth", "observed", "error" (medians), "bound", "verdict": "true" | "wrong" | "unknown", "reason"}]}; what
 * this machine cannot show has observed null and a reason. Other results are those of sessions. */
ys_status ys_self_test(int times, ys_json **table) YS_MUST_CHECK;

#endif
