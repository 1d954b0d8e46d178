#include "study/turn_group.h"

#include "probe/host.h"
#include "run/session.h"

#include <math.h>
#include <string.h>

static const double USUAL_TURN_S = 0.1;

/* Why it takes none, in words that follow "blocks: it"; NULL: it does. */
static const char *why_not(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    if (keys->mode == YS_MODE_INFER)
        return "answers requests, which are asked at once (mode = infer)";
    if (ys_trial_same_weights(trial))
        return "trains nothing (compare = same-weights)";
    if (strcmp(keys->input, "ring") == 0)
        return "has its rows from a feeder, which would go on for it (input = ring)";
    if (strcmp(keys->input, "own") == 0)
        return "has a loader of its own, which would go on for it (input = own)";
    if (keys->nodes != YS_FIELD_NONE)
        return "is on several hosts (nodes)";
    return NULL;
}

ys_status ys_turn_group_check(const struct ys_study *study)
{
    if (study->keys.interleave != YS_INTERLEAVE_BLOCKS)
        return YS_OK;
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        if (why_not(trial))
            return ys_fail(YS_EINVAL,
                           "%s cannot take turns with others, as interleave = blocks has it: it %s; "
                           "interleave = runs runs trials one after the other",
                           trial->record.id, why_not(trial));
    }
    return YS_OK;
}

/* Each does the same number of steps in every turn, and saves between the same. */
static bool go_together(const struct ys_trial *a, const struct ys_trial *b)
{
    const struct ys_trial_settings *x = &a->record.keys, *y = &b->record.keys;
    return a->steps == b->steps && x->block == y->block && x->eval_every == y->eval_every;
}

static int64_t ranks_of(const struct ys_trial *trial)
{
    return trial->record.keys.ranks == YS_FIELD_NONE ? 1 : trial->record.keys.ranks;
}

size_t ys_turn_group_take(const struct ys_study *study, struct ys_trial **trials, size_t *count,
                          struct ys_trial *members[YS_TURNS_MOST])
{
    size_t taken = 1, left = 0; /* the first is never left */
    int64_t sessions = ranks_of(trials[0]);
    members[0] = trials[0];
    for (size_t i = 1; i < *count; i++) {
        struct ys_trial *trial = trials[i];
        if (study->keys.interleave == YS_INTERLEAVE_BLOCKS && taken < YS_TURNS_MOST && go_together(members[0], trial) &&
            sessions + ranks_of(trial) <= YS_SESSIONS_MOST) {
            sessions += ranks_of(trial);
            members[taken++] = trial;
        } else {
            trials[left++] = trial;
        }
    }
    *count = left;
    return taken;
}

void ys_turn_group_turns(const struct ys_study *study, int64_t round, struct ys_turns *turns)
{
    *turns = (struct ys_turns){
        .turn_s = isnan(study->keys.turn_s) ? USUAL_TURN_S : study->keys.turn_s,
        .seed = study->seed + (uint64_t)round,
        .drops = study->keys.on_disturbance != YS_DISTURBANCE_IGNORE,
        .deadline_ns = study->deadline_ns,
        .room = ys_host_memory_room,
    };
}
