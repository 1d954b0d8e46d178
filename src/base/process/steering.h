/* Variables of the surroundings that steer threads, numerical libraries, allocators, interpreters or the format of
 * numbers, and which of yardstick's own variables a program that it starts gets. docs/measuring.md shows the table. */
#ifndef YS_BASE_PROCESS_STEERING_H
#define YS_BASE_PROCESS_STEERING_H

#include <stdbool.h>

enum ys_steering_rule {
    YS_STEERING_KEPT,       /* a trial gets it, and has it among its deviations; yardstick's own programs do not */
    YS_STEERING_RESET,      /* nobody gets it: what it steers is the job's, or chance */
    YS_STEERING_EVERYWHERE, /* the level of instructions, how threads wait: all get it, a trial as a deviation */
};

struct ys_steering {
    const char *names; /* a pattern of fnmatch() */
    enum ys_steering_rule rule;
    const char *what; /* it steers */
};

/** Ended by one without names. The first row that fits a variable is its own. */
extern const struct ys_steering ys_steerings[];
/** The row of `variable`, "NAME" or "NAME=value"; NULL: it steers nothing. */
const struct ys_steering *ys_steering_of(const char *variable);

/** Whose surroundings they are. */
enum ys_steered_program {
    YS_PROGRAM_MEASURED, /* an adapter: without what is reset */
    YS_PROGRAM_OWN,      /* oracle, twin, evaluator, feeder: nothing that steers but what all get */
    YS_PROGRAM_OTHER,    /* somebody's tool (pip, curl, ssh): those of yardstick itself */
};

/** Whether a program of that kind gets it. */
bool ys_steering_passes(const char *variable, enum ys_steered_program program);

/** yardstick's own variables, as far as the program gets them, with those of each of `lists` put over them in turn
 * ("NAME=value", ended by NULL; `lists` is ended by NULL). New array of borrowed texts; NULL: no memory. */
const char **ys_surroundings(enum ys_steered_program program, const char *const *const *lists);

#endif
