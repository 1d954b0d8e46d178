/* A run of yardstick-known with sleeps in its phases and between its blocks, gone through as any run: what each took by
 * yardstick's clock, and how long the program slept by its own. Part of doctor/self_test.h. */
#ifndef YS_DOCTOR_SELF_TEST_PHASE_H
#define YS_DOCTOR_SELF_TEST_PHASE_H

#include "base/status.h"
#include <stdbool.h>

enum ys_known_phase {
    YS_KNOWN_START, /* exec to hello */
    YS_KNOWN_OPEN,
    YS_KNOWN_TRAIN, /* all of it, what lies between blocks included */
    YS_KNOWN_GAP,   /* the blocks that come after a pause: a pause belongs to the block behind it */
    YS_KNOWN_SAVE,
    YS_KNOWN_STOP, /* bye to the end of the last process */
    YS_KNOWN_PHASES
};

struct ys_known_times {
    double slept_s[YS_KNOWN_PHASES];    /* by the program's clock; 0 in a run without sleeps */
    double observed_s[YS_KNOWN_PHASES]; /* NaN where it was not reached */
    char reason[200];                   /* why the run did not end well; "" where it did */
};

/** One run in `folder`, which exists. The reason may say that this machine has no such thing; other results are those
 * of ys_run_execute(). */
ys_status ys_known_run(const char *program, const char *folder, bool sleeps,
                       struct ys_known_times *times) YS_MUST_CHECK;

#endif
