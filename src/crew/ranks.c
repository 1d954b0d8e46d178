#include "crew/ranks.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"

#include <inttypes.h>

/* A rank that died is known to the kernel when others notice; this is for yardstick to hear of it on a busy machine. */
static const uint64_t REASON_NS = 1000000000;

size_t ys_rank_cpus(size_t count, int64_t world, int64_t rank, size_t *first)
{
    const size_t ranks = (size_t)world, at = (size_t)rank;
    *first = at * count / ranks;
    return count >= ranks ? (at + 1) * count / ranks - *first : count > 0;
}

int64_t ys_rank_threads(int64_t threads, int64_t world)
{
    return threads > world ? threads / world : 1;
}

ys_status ys_rank_folder(const char *folder, int64_t rank, char **path)
{
    *path = rank == 0 ? ys_strdup(folder) : ys_format("%s/rank-%" PRId64, folder, rank);
    ys_status status = ys_fs_make_dirs(*path);
    if (status != YS_OK) {
        ys_free(*path);
        *path = NULL;
    }
    return status;
}

/** Of `sharers` ranks that have them together, those of the one of that number. */
static void share_cpus(const struct ys_plan *plan, int64_t sharers, int64_t number, struct ys_list *share)
{
    size_t first;
    const size_t count = ys_rank_cpus(plan->cpus.count, sharers, number, &first);
    const int64_t *all = plan->cpus.items;
    int64_t *items = share->items;
    for (size_t i = 0; i < count; i++)
        items[i] = all[first + i];
    share->count = count; /* it is a copy of all: there is room */
}

void ys_rank_plan_meet(struct ys_plan *plan, const char *rendezvous, const char *address)
{
    ys_set_text(&plan->dist.rendezvous, rendezvous);
    ys_set_text(&plan->dist.address, address);
}

static ys_status make_plan(const struct ys_plan *plan, int64_t rank, int64_t sharers, struct ys_plan *made)
{
    char *folder = NULL;
    YS_TRY(ys_plan_copy(plan, made));
    made->dist.rank = made->dist.local_rank = rank;
    if (plan->dist.world == 1)
        return YS_OK;
    made->threads = ys_rank_threads(plan->threads, sharers);
    share_cpus(plan, sharers, rank % sharers, &made->cpus);
    ys_status status = ys_rank_folder(plan->folder, rank, &folder);
    if (status == YS_OK)
        ys_set_text(&made->folder, folder);
    else
        ys_plan_fini(made);
    ys_free(folder);
    return status;
}

ys_status ys_rank_plan(const struct ys_plan *plan, int64_t rank, const struct ys_dist_place *place,
                       struct ys_plan *made)
{
    YS_TRY(make_plan(plan, rank, plan->dist.world, made));
    if (plan->dist.world > 1)
        ys_rank_plan_meet(made, place->text, YS_DIST_LOOPBACK);
    return YS_OK;
}

ys_status ys_rank_plans_make(const struct ys_plan *plan, int64_t nodes, bool apart, struct ys_rank_plans *made)
{
    const int64_t world = plan->dist.world, per_node = nodes > 1 ? world / nodes : world;
    *made = (struct ys_rank_plans){.place = YS_DIST_NO_PLACE};
    if (world > YS_SESSIONS_MOST)
        return ys_fail(YS_EINVAL, "a run of %" PRId64 " ranks: at most %d are followed", world, YS_SESSIONS_MOST);
    made->items = ys_alloc((size_t)world, sizeof *made->items);
    ys_status status = YS_OK;
    if (nodes <= 1)
        status = ys_dist_place_take(YS_DIST_LOOPBACK, &made->place);
    for (int64_t r = 0; status == YS_OK && r < world; r++) {
        status = nodes > 1 ? make_plan(plan, r, apart ? per_node : world, &made->items[r])
                           : ys_rank_plan(plan, r, &made->place, &made->items[r]);
        if (status != YS_OK)
            break;
        made->items[r].dist.local_rank = r % per_node;
        made->count++;
    }
    if (status != YS_OK)
        ys_rank_plans_fini(made);
    return status;
}

void ys_rank_plans_fini(struct ys_rank_plans *plans)
{
    for (size_t r = 0; r < plans->count; r++)
        ys_plan_fini(&plans->items[r]);
    ys_free(plans->items);
    ys_dist_place_give_back(&plans->place);
    *plans = (struct ys_rank_plans){.place = YS_DIST_NO_PLACE};
}

static bool has_any_failed(struct ys_session *const *sessions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ys_session_has_failed(sessions[i]))
            return true;
    return false;
}

static bool is_any_busy(struct ys_session *const *sessions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ys_session_is_busy(sessions[i]))
            return true;
    return false;
}

/** One has failed. What the others say now is why, or a consequence. */
static void settle(struct ys_session *const *sessions, size_t count)
{
    const uint64_t until_ns = ys_time_ns() + REASON_NS;
    while (is_any_busy(sessions, count) && ys_time_ns() < until_ns)
        ys_session_turn(sessions, count, until_ns);
    for (size_t i = 0; i < count; i++)
        if (!ys_session_has_failed(sessions[i]))
            ys_session_fail(sessions[i], YS_RUN_CANCELLED, "it was ended because another rank had failed");
}

bool ys_ranks_wait(struct ys_session *const *sessions, size_t count, uint64_t until_ns, int beside_fd)
{
    if ((is_any_busy(sessions, count) || beside_fd >= 0) && !has_any_failed(sessions, count))
        ys_session_turn_beside(sessions, count, until_ns, beside_fd);
    if (!has_any_failed(sessions, count))
        return true;
    if (count > 1)
        settle(sessions, count);
    return false;
}

void ys_ranks_bye(struct ys_session *const *sessions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sessions[i])
            ys_session_bye(sessions[i]);
    for (bool is_busy = true; is_busy;) {
        is_busy = false;
        for (size_t i = 0; i < count; i++)
            is_busy = is_busy || (sessions[i] && ys_session_is_busy(sessions[i]));
        if (is_busy)
            ys_session_turn(sessions, count, UINT64_MAX);
    }
}

/** The larger, the nearer to the cause. */
static int blame(const struct ys_session_end *end)
{
    switch (end->status) {
    case YS_RUN_OK:
        return 0;
    case YS_RUN_CANCELLED:
        return 1;
    case YS_RUN_STALLED:
        return end->is_stopped ? 5 : 3;
    case YS_RUN_KILLED:
    case YS_RUN_OOM_HOST:
    case YS_RUN_OOM_DEVICE:
        return end->is_told ? 2 : 5;
    default:
        return end->is_told ? 2 : 4;
    }
}

size_t ys_ranks_culprit(const struct ys_session_end *ends, size_t count)
{
    size_t culprit = 0;
    for (size_t i = 1; i < count; i++) {
        const int more = blame(&ends[i]) - blame(&ends[culprit]);
        if (more > 0 || (more == 0 && ends[i].failed_ns < ends[culprit].failed_ns))
            culprit = i;
    }
    return culprit;
}
