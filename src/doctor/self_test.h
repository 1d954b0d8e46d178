/* Whether what yardstick observes is true here: a small program does known things and says what its own clocks and
 * counters made of them; yardstick observes it as it does any adapter, and the two are compared. */
#ifndef YS_DOCTOR_SELF_TEST_H
#define YS_DOCTOR_SELF_TEST_H

#include "base/json/record.h"

enum ys_self_test_verdict { YS_SELF_TEST_TRUE, YS_SELF_TEST_WRONG, YS_SELF_TEST_UNKNOWN };
extern const struct ys_names ys_self_test_verdicts; /* "true", "wrong", "unknown" */

/** One thing that was done; medians. Texts are owned. */
struct ys_self_test_row {
    char *what, *unit;
    double truth, observed, error, bound; /* NaN where this machine cannot show it */
    int verdict;                          /* enum ys_self_test_verdict */
    char *reason;                         /* of what is unknown; else NULL */
};

struct ys_self_test {
    char *date, *host, *kernel;
    int64_t times;       /* how often each was done */
    struct ys_list rows; /* struct ys_self_test_row */
};
extern const struct ys_record ys_self_test_record;

/** Does each thing `times` times, some 0.2 s each. *table is overwritten, and as after ys_record_init() on failure;
 * ys_record_fini() frees it. Other results are those of sessions. */
ys_status ys_self_test(int times, struct ys_self_test *table) YS_MUST_CHECK;

#endif
