#include "session/observe.h"
#include "base/mem.h"
#include "session/guard.h"
#include <stdlib.h>
#include <string.h>

void ys_observe_open(struct ys_observe *observe, uint64_t memory_limit_bytes)
{
    static bool has_swept;
    const char *wish = getenv("YARDSTICK_CGROUP");
    *observe = (struct ys_observe){.usage.oom_kills = -1};
    ys_record_init(&ys_observation_record, &observe->found);
    for (size_t i = 0; i < YS_PROBE_COUNT; i++)
        observe->states[i] = ys_alloc(1, ys_probes[i]->size_bytes);
    ys_leftover_begin(&observe->leftover, NULL);
    if (wish && strcmp(wish, "off") == 0) {
        ys_set_text(&observe->found.group, "YARDSTICK_CGROUP is off");
        return;
    }
    if (!has_swept)
        ys_group_sweep("");
    has_swept = true;
    if (ys_group_open("", memory_limit_bytes, &observe->group) != YS_OK) {
        ys_set_text(&observe->found.group, ys_error());
        return;
    }
    observe->found.grouped = true;
    observe->found.killed_as_a_whole = ys_group_can_kill(observe->group);
    ys_set_text(&observe->found.group, ys_group_text(observe->group));
}

static void note_guard(struct ys_observation *found, const struct ys_started *process)
{
    const char *reason = "";
    found->guarded = process->guard_version > 0;
    if (found->guarded)
        found->guard = ys_format("Landlock, version %d", process->guard_version);
    else if (process->guard_errno)
        found->guard = ys_format("Landlock refused: %s", strerror(process->guard_errno));
    else
        ys_set_text(&found->guard, ys_guard_version(&reason) == 0 ? reason : "");
}

void ys_observe_begun(struct ys_observe *observe, const struct ys_started *process)
{
    const struct ys_probed session = {.keeper = process->keeper, .usage = &observe->usage};
    const struct ys_tree_member adapter = {.pid = process->pid};
    for (size_t i = 0; i < YS_PROBE_COUNT; i++)
        if (ys_probes[i]->begin)
            ys_probes[i]->begin(observe->states[i], &session);
    note_guard(&observe->found, process);
    ys_leftover_look(&observe->leftover, &adapter, 1);
    if (!observe->group)
        return;
    ys_group_joined(observe->group);
    if (!process->group_errno)
        return;
    ys_group_close(observe->group);
    observe->group = NULL;
    observe->found.grouped = observe->found.killed_as_a_whole = false;
    ys_free(observe->found.group);
    observe->found.group = ys_format("one was made, but could not be joined: %s", strerror(process->group_errno));
}

static void sample_all(struct ys_observe *observe)
{
    const struct ys_probed session = {.usage = &observe->usage};
    for (size_t i = 0; i < YS_PROBE_COUNT; i++)
        if (observe->states[i] && ys_probes[i]->sample)
            ys_probes[i]->sample(observe->states[i], &session);
}

void ys_observe_sample(struct ys_observe *observe)
{
    if (observe->group)
        ys_group_sample(observe->group, &observe->usage);
    sample_all(observe);
}

void ys_observe_look(struct ys_observe *observe)
{
    if (observe->group)
        ys_group_read(observe->group, &observe->usage);
    sample_all(observe);
}

void ys_observe_phase(struct ys_observe *observe, const struct ys_tree_member *members, size_t count)
{
    const struct ys_probed session = {.usage = &observe->usage, .processes = members, .process_count = count};
    ys_observe_sample(observe);
    ys_leftover_look(&observe->leftover, members, count);
    for (size_t i = 0; i < YS_PROBE_COUNT; i++)
        if (ys_probes[i]->phase)
            ys_probes[i]->phase(observe->states[i], &session);
}

void ys_observe_ended(struct ys_observe *observe, const struct ys_started *process, const struct ys_tree_peak *peak,
                      ys_json *warnings, struct ys_observation *found)
{
    const struct ys_probed session = {
        .keeper = process->is_lost ? 0 : process->keeper, .usage = &observe->usage, .peak = peak};
    ys_observe_look(observe);
    if (warnings)
        ys_leftover_end(&observe->leftover, warnings);
    for (size_t i = 0; i < YS_PROBE_COUNT; i++)
        if (observe->states[i] && ys_probes[i]->end) /* none: it was not opened */
            ys_probes[i]->end(observe->states[i], &session, &observe->found);
    *found = observe->found;
    observe->found = (struct ys_observation){0};
}

void ys_observe_close(struct ys_observe *observe)
{
    ys_group_close(observe->group);
    observe->group = NULL;
    ys_leftover_fini(&observe->leftover);
    for (size_t i = 0; i < YS_PROBE_COUNT; i++)
        ys_free(observe->states[i]);
    ys_record_fini(&ys_observation_record, &observe->found);
}
