/* Is this machine fit to measure: what can be observed on it, and what disturbs. */
#ifndef YS_DOCTOR_EXAMINE_H
#define YS_DOCTOR_EXAMINE_H

#include "base/json/record.h"

enum ys_doctor_state { YS_DOCTOR_GOOD, YS_DOCTOR_POOR, YS_DOCTOR_UNKNOWN };
extern const struct ys_names ys_doctor_states; /* "good", "poor", "unknown" */

/** One thing that was looked at; texts are owned. */
struct ys_doctor_line {
    char *name;
    int state; /* enum ys_doctor_state */
    char *found;
    char *consequence; /* NULL where all is well */
    char *remedy;      /* NULL likewise, or where there is none */
};
extern const struct ys_record ys_doctor_line_record;

/** Looks at the machine, most of a second, half of it at its load: a list of struct ys_doctor_line, which is
 * overwritten; ys_list_fini() frees it. */
ys_status ys_doctor_look(struct ys_list *lines) YS_MUST_CHECK;

#endif
