/* What a run can be asked to do. A mode is a row of one table (modes.c), which says what rooms ask of it; where modes
 * behave otherwise than by a fact there is a switch over enum ys_mode without a default, so that the compiler names
 * each place to which a new one is unknown. */
#ifndef YS_BASE_MODES_H
#define YS_BASE_MODES_H

#include "base/json/record.h"

enum ys_mode { YS_MODE_TRAIN, YS_MODE_INFER, YS_MODE_ATTACK, YS_MODE_SIZE };
enum { YS_MODE_COUNT = YS_MODE_SIZE + 1 };
extern const struct ys_names ys_modes; /* "train", "infer", "attack", "size" */

struct ys_mode_facts {
    enum ys_mode mode;
    const char *unit, *units; /* what a run is so many of, as a key of a job says: "step", "steps" */
    const char *lengths[2]; /* keys of a job that say how long it is; NULL: no second, or none: what is asked says it */
    bool trains;            /* weights change; else the network is as it is evaluated, and its rows go round */
    bool answers;           /* it is asked for requests, `infer` */
    bool times_each;        /* the units are one question and have a latency each; else they come in blocks */
    double passes;          /* through the network, each at the cost of a forward one, of a unit */
    double least_passes;    /* of a network that may save some of them */
    /* Seconds of the steady part; of a typical unit; what verdicts that decide how often it runs go by. */
    const char *work_metric, *unit_metric, *speed_metric;
    const char *no_turns;        /* why it takes none with others, in words that follow "it"; NULL: it does */
    const char *does;            /* why a run has no metric of another mode */
    const char *verb, *speed_at; /* of several frameworks, "train"; of one before its speed, "trains at" */
};

/** YS_NAME_NONE, of a document that says none, is training. */
const struct ys_mode_facts *ys_mode_of(int mode);
/** The mode whose runs' length a job's key says; YS_NAME_NONE: it says none. */
int ys_mode_of_length(const char *key);

#endif
