/* Several processes that train together, the ranks of a run: what each of them gets, and which of them is to blame when
 * they fail. Each is a session (session/session.h), and one loop goes through all. */
#ifndef YS_CREW_RANKS_H
#define YS_CREW_RANKS_H

#include "dist/meeting_place.h"
#include "protocol/plan.h"
#include "session/launch.h"
#include "session/session.h"

/** What rank `rank` of `world` gets of `count` CPUs: from *first on so many as are given back. Shares are equal where
 * one of the two numbers divides the other; of fewer CPUs than ranks several ranks have the same one. */
size_t ys_rank_cpus(size_t count, int64_t world, int64_t rank, size_t *first);
/** The same of threads, of which each rank has one at least. */
int64_t ys_rank_threads(int64_t threads, int64_t world);

/** The folder of a rank, which exists then: rank 0 has the run's own, the others "rank-1" and so on below it. New
 * string in *path. */
ys_status ys_rank_folder(const char *folder, int64_t rank, char **path) YS_MUST_CHECK;

/** The plan of rank `rank` of `plan`, which is that of all, and whose dist.world says how many they are: with its share
 * of threads and CPUs and its folder. `made` owns nothing after a failure. */
ys_status ys_rank_plan(const struct ys_plan *plan, int64_t rank, const struct ys_dist_place *place,
                       struct ys_plan *made) YS_MUST_CHECK;

/** The plans of all ranks of a run, and the place where they meet. */
struct ys_rank_plans {
    size_t count;
    struct ys_plan *items;
    struct ys_dist_place place;
};
/** Of `plan`, whose dist.world is 1 to YS_SESSIONS_MOST, on `nodes` hosts (0: one), which have as many ranks each: the
 * first ones are of the first host. Where hosts are `apart` each has the plan's threads and CPUs for its own ranks,
 * else they are those of all ranks. Where ranks of several hosts meet is not known yet: see ys_rank_plan_meet(). `made`
 * owns nothing after a failure: YS_EINVAL, YS_EIO. */
ys_status ys_rank_plans_make(const struct ys_plan *plan, int64_t nodes, bool apart,
                             struct ys_rank_plans *made) YS_MUST_CHECK;
/** Says where all ranks meet ("ADDRESS:PORT") and at which address the others reach this one. */
void ys_rank_plan_meet(struct ys_plan *plan, const char *rendezvous, const char *address);
void ys_rank_plans_fini(struct ys_rank_plans *plans);

/** Waits until no session is asked anything any more, or one has failed: then, where there are several, a moment longer
 * for the reason (a rank that dies takes others with it, which may be heard first), and the rest is failed as
 * cancelled. False: one has failed. The rest as for ys_session_turn_beside(), which is called once. */
bool ys_ranks_wait(struct ys_session *const *sessions, size_t count, uint64_t until_ns, int beside_fd);
/** Says bye to all, and waits until the last of their processes has gone. They are then to be closed. */
void ys_ranks_bye(struct ys_session *const *sessions, size_t count);

/** Which of the ranks was the first cause, going by how each ended; 0 where all went well. A rank that was killed, or
 * stopped, comes before one that crashed, that before one that told an error, and that before one that was ended
 * because of others. */
size_t ys_ranks_culprit(const struct ys_session_end *ends, size_t count);

#endif
