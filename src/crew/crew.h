/* The processes of a run that one host has: all of them, or of a run of several hosts those of one of them. Each is a
 * session (session/session.h), and they go from question to question together:
 *
 *     ys_crew_open(&spec, plans, count, records, &crew)
 *     ys_crew_begin(&crew)
 *     while it is not done:
 *         while ys_crew_is_busy(&crew) && ys_crew_wait(&crew, -1): nothing
 *         ys_crew_take(&crew, &is_done)
 *         ys_crew_ask(&crew)
 *     ys_crew_end(&crew, NULL)
 *     ... records and crew.members[i].end
 *     ys_crew_close(&crew)
 *
 * None is asked before all have answered and have been looked at: what one does between two questions (a save) falls
 * into no other's time, and no look at one into the training of others. So in a run on several hosts (run/nodes.h) all
 * crews are asked once the last of them has taken its answers. */
#ifndef YS_CREW_CREW_H
#define YS_CREW_CREW_H

#include "protocol/plan.h"
#include "crew/heard_collectives.h"
#include "crew/run_spec.h"
#include "session/session.h"

struct ys_run;
struct ys_run_turn;

/** A process, with what it was asked. */
struct ys_crew_member {
    struct ys_run_spec spec; /* of the run, with its own share */
    int *cpus;               /* owned; of one process alone NULL */
    struct ys_session_end end;
    struct ys_listening listening;
};

struct ys_crew {
    size_t count;
    struct ys_crew_member *members; /* owned, as the next */
    struct ys_run *runs;
    struct ys_session *sessions[YS_SESSIONS_MOST];
};

/** Makes ready `count` processes, at most YS_SESSIONS_MOST, of the plans `plans`, which are borrowed until the end, as
 * `spec` is. What `spec` says of CPUs, of memory and of processor time is that of all ranks of the run together; of
 * several ranks each has the CPUs of its plan and an equal part of the rest. `records` (count of them, overwritten)
 * get what is known of each. The crew is to be closed whatever comes of it. YS_EINVAL, YS_EINTERNAL. */
ys_status ys_crew_open(const struct ys_run_spec *spec, const struct ys_plan *plans, size_t count,
                       struct ys_run_record *records, struct ys_crew *crew) YS_MUST_CHECK;
/** Starts them; each is asked for hello. As ys_session_begin(). */
ys_status ys_crew_begin(struct ys_crew *crew) YS_MUST_CHECK;

/** Whether one of them is asked something. */
bool ys_crew_is_busy(const struct ys_crew *crew);
/** Whether one of them has failed. */
bool ys_crew_has_failed(const struct ys_crew *crew);
/** One turn of the loop of sessions (ys_session_turn()), which also returns when there is something to read from
 * `beside_fd` (-1: nothing else is waited for). When one has failed the reason is waited for a moment, and the others
 * are failed as cancelled (ys_ranks_wait()): the failure is then that of ys_session_answer(). Failures of looking at
 * answers are yardstick's own. */
ys_status ys_crew_wait(struct ys_crew *crew, int beside_fd) YS_MUST_CHECK;
/** None is busy, and none has failed: takes what each has answered, and looks at it. *is_done: all are at the end of
 * their order. Failures are those of ys_session_request(). */
ys_status ys_crew_take(struct ys_crew *crew, bool *is_done) YS_MUST_CHECK;
/** Then: each is asked what is next, unless it is at the end of its order. Failures as before. */
ys_status ys_crew_ask(struct ys_crew *crew) YS_MUST_CHECK;
/** Whether all of them are where runs by turns wait for theirs. */
bool ys_crew_takes_turns(const struct ys_crew *crew);
/** Whether they have steps to do. */
bool ys_crew_has_steps(const struct ys_crew *crew);
/** What they are asked there next. */
void ys_crew_set_turn(struct ys_crew *crew, const struct ys_run_turn *turn);
/** One has failed: the others are too, as ys_crew_wait() does it, and that failure is returned. */
ys_status ys_crew_fail(struct ys_crew *crew) YS_MUST_CHECK;
/** Where the first of them is, and how many steps it has done. */
enum ys_stage ys_crew_stage(const struct ys_crew *crew, int64_t *steps);

/** Whether `status` is a failure of yardstick's own, or the user's wish, and not an adapter's. */
bool ys_crew_is_ours(const struct ys_crew *crew, ys_status status);
/** Says bye to all, waits until the last of their processes has gone, and writes down what is known. `failed` is why
 * the run breaks off where that is no fault of theirs, NULL otherwise. */
void ys_crew_end(struct ys_crew *crew, const char *failed);
/** Frees what is not the caller's; ys_crew_end() comes first where ys_crew_open() was called. */
void ys_crew_close(struct ys_crew *crew);

#endif
