/* yardstick-feeder beside an adapter: a session of its own, with its own processor time and memory, that fills the ring
 * which the adapter of a plan with input "ring" maps (protocol/batch_ring.h). Its folder is `feeder` in that of the
 * plan, its log lies there.
 *
 *     ys_feeder_start(plan, &launch, &feeder)
 *     ys_feeder_pass(&feeder, &launch)
 *     ys_session_open(&launch, &session)      the adapter
 *     ys_feeder_passed(&feeder)
 *     ...
 *     ys_session_close(session, &end)
 *     ys_feeder_end(&feeder, &end, &feeder_end)
 *
 * All of it does nothing for a plan with another input. */
#ifndef YS_CREW_FEEDER_H
#define YS_CREW_FEEDER_H

#include "protocol/plan.h"
#include "session/session.h"

enum { YS_FEEDER_PASSED = 2 }; /* the socket and the ring */

struct ys_feeder {
    struct ys_session *session;   /* NULL: there is none */
    int passed[YS_FEEDER_PASSED]; /* for the adapter; -1: closed */
};
#define YS_FEEDER_NONE ((struct ys_feeder){.passed = {-1, -1}})

/** Starts it, on any of the CPUs that yardstick may use, and gives it the plan. The limits of time are those of
 * `adapter`. When it cannot feed (there is no room for the ring, a file cannot be read): the failure of
 * ys_session_request(), and feeder->session says why in the end. YS_ENOTFOUND, YS_EIO: it was not started.
 */
ys_status ys_feeder_start(const struct ys_plan *plan, const struct ys_launch *adapter,
                          struct ys_feeder *feeder) YS_MUST_CHECK;
/** Makes the adapter get what it needs of the feeder; `launch` borrows it. */
void ys_feeder_pass(const struct ys_feeder *feeder, struct ys_launch *launch);
/** The adapter has it: once our own copies are closed, either of both notices when the other is gone. */
void ys_feeder_passed(struct ys_feeder *feeder);
/** Ends it and says in `own_end` how it went; to be freed with ys_session_end_fini(). An adapter that failed, or never
 * began, because its feeder did has the feeder's status and reason in `end` then. */
void ys_feeder_end(struct ys_feeder *feeder, struct ys_session_end *end, struct ys_session_end *own_end);

/** Points a plan with input "ring" at a file that holds the same batches, made in `folder`: for who does something to
 * them before they are read. YS_EIO, YS_ENOTFOUND. */
ys_status ys_feeder_settle(struct ys_plan *plan, const char *folder) YS_MUST_CHECK;

/** Writes the batches of input->order, or without one the rows of input->path, each once and nothing of them by lot, as
 * a prepared file: cut, standardised and of the type that `input` says. YS_EIO, YS_ENOTFOUND. */
ys_status ys_feeder_write_batches(const struct ys_plan_input *input, const char *path) YS_MUST_CHECK;

#endif
