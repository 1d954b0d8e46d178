#include "run/execute.h"
#include "base/mem.h"
#include "crew/ranks.h"
#include "crew/run_state.h"
#include "run/join_ranks.h"
#include "run/local_run.h"
#include "run/nodes.h"

/** Makes one record of those of the ranks, whose crew has ended. */
static ys_status join(const struct ys_run_spec *spec, const struct ys_plan *plans, const struct ys_crew *crew,
                      struct ys_run_record *own, struct ys_run_record *record)
{
    struct ys_run_record *parts[YS_SESSIONS_MOST];
    struct ys_session_end ends[YS_SESSIONS_MOST]; /* borrowed from the crew */
    struct ys_list one_host = {0};
    for (size_t r = 0; r < crew->count; r++) {
        parts[r] = &own[r];
        ends[r] = crew->members[r].end;
    }
    ys_status status =
        ys_run_join(spec->plan, plans, parts, crew->count, ys_ranks_culprit(ends, crew->count), &one_host, record);
    if (status != YS_OK)
        ys_facts_fini(&record->facts);
    record->has_facts = status == YS_OK;
    return status;
}

static ys_status go_through(struct ys_crew *crew)
{
    bool is_done = false;
    while (!is_done) {
        while (ys_crew_is_busy(crew))
            YS_TRY(ys_crew_wait(crew, -1));
        YS_TRY(ys_crew_take(crew, &is_done));
        YS_TRY(ys_crew_ask(crew));
    }
    return YS_OK;
}

ys_status ys_local_run_begin(const struct ys_run_spec *spec, struct ys_run_record *record, struct ys_local_run *going)
{
    *going = (struct ys_local_run){.spec = spec, .record = record, .own = record, .count = 1};
    *record = (struct ys_run_record){0};
    const struct ys_plan *plans = spec->plan;
    if (spec->plan->dist.world > 1) {
        YS_TRY(ys_rank_plans_make(spec->plan, 1, false, &going->plans));
        plans = going->plans.items;
        going->count = going->plans.count;
        going->own = ys_alloc(going->count, sizeof *going->own);
    }
    going->is_open = true;
    YS_TRY(ys_crew_open(spec, plans, going->count, going->own, &going->crew));
    return ys_crew_begin(&going->crew);
}

static ys_status write_down(struct ys_local_run *going, ys_status status)
{
    const bool is_own_failure = ys_crew_is_ours(&going->crew, status);
    char *message = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    ys_status written = YS_OK;
    ys_crew_end(&going->crew, is_own_failure ? message : NULL);
    if (going->own != going->record)
        written = join(going->spec, going->plans.items, &going->crew, going->own, going->record);
    ys_crew_close(&going->crew);
    if (written != YS_OK)
        status = written;
    else if (is_own_failure)
        ys_fail(status, "%s", message);
    else
        status = YS_OK;
    ys_free(message);
    return status;
}

ys_status ys_local_run_end(struct ys_local_run *going, ys_status status)
{
    if (going->is_open)
        status = write_down(going, status);
    if (going->own != going->record) {
        for (size_t r = 0; going->own && r < going->count; r++)
            ys_run_record_fini(&going->own[r]);
        ys_free(going->own);
        ys_rank_plans_fini(&going->plans);
    }
    *going = (struct ys_local_run){0};
    return status;
}

static ys_status execute_on_nodes(const struct ys_run_spec *spec, struct ys_run_record *record)
{
    struct ys_rank_plans plans;
    *record = (struct ys_run_record){0};
    YS_TRY(ys_rank_plans_make(spec->plan, spec->nodes, spec->launcher != YS_LAUNCHER_LOCAL, &plans));
    struct ys_run_record *own = ys_alloc(plans.count, sizeof *own);
    ys_status status = ys_nodes_execute(spec, &plans, own, record);
    for (size_t r = 0; r < plans.count; r++)
        ys_run_record_fini(&own[r]);
    ys_free(own);
    ys_rank_plans_fini(&plans);
    return status;
}

ys_status ys_run_execute(const struct ys_run_spec *spec, struct ys_run_record *record)
{
    struct ys_local_run going;
    if (spec->plan->dist.world > 1 && spec->nodes > 1)
        return execute_on_nodes(spec, record);
    ys_status status = ys_local_run_begin(spec, record, &going);
    if (status == YS_OK)
        status = go_through(&going.crew);
    return ys_local_run_end(&going, status);
}
