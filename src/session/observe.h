/* What is observed of a session beside when it did what: its control group, which also limits, holds and kills it, what
 * sources of observations find (probe/observed/observation.h), and what it leaves behind. Belongs to the session, which
 * calls it. */
#ifndef YS_SESSION_OBSERVE_H
#define YS_SESSION_OBSERVE_H

#include "probe/observed/observation.h"
#include "session/launch.h"
#include "session/leftover.h"

struct ys_observe {
    struct ys_group *group; /* NULL: none */
    struct ys_group_usage usage;
    void *states[YS_PROBE_COUNT]; /* of the sources */
    struct ys_leftover leftover;
    struct ys_observation found;
};

/** Makes the group, where one can be made. The variable YARDSTICK_CGROUP=off asks for none. */
void ys_observe_open(struct ys_observe *observe, uint64_t memory_limit_bytes);
/** The adapter has begun, and has joined the group or not. */
void ys_observe_begun(struct ys_observe *observe, const struct ys_started *process);
/** A sample of the group, processor time and memory, and of all sources. */
void ys_observe_sample(struct ys_observe *observe);
/** The same, of all that the group tells. */
void ys_observe_look(struct ys_observe *observe);
/** At the end of a phase, never while timing: `members` are its processes. */
void ys_observe_phase(struct ys_observe *observe, const struct ys_tree_member *members, size_t count);
/** All processes have been waited for, and their keeper is still there; `peak` is of their tree. Sentences are added to
 * `warnings`, NULL: to none. What was found then goes to `found`, which owns it. */
void ys_observe_ended(struct ys_observe *observe, const struct ys_started *process, const struct ys_tree_peak *peak,
                      ys_json *warnings, struct ys_observation *found);
void ys_observe_close(struct ys_observe *observe);

#endif
