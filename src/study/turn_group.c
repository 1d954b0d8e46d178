#include "study/turn_group.h"

#include "base/log.h"
#include "probe/host.h"
#include "session/session.h"
#include "stat/steady.h"

#include <math.h>
#include <string.h>

static const double USUAL_TURN_S = 0.1;
static const double MOST_TIMES = 4; /* as much work a step as another member */

/* Why it takes none, in words that follow "blocks: it"; NULL: it does. */
static const char *why_not(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    if (ys_mode_of(keys->mode)->no_turns)
        return ys_mode_of(keys->mode)->no_turns;
    if (ys_trial_same_weights(trial))
        return "trains nothing (compare = same-weights)";
    if (strcmp(keys->input, "ring") == 0)
        return "has its rows from a feeder, which would go on for it (input = ring)";
    if (strcmp(keys->input, "own") == 0)
        return "has a loader of its own, which would go on for it (input = own)";
    if (keys->until)
        return "ends where its target is met, which others would have to wait for (until)";
    if (keys->nodes != YS_FIELD_NONE)
        return "is on several hosts (nodes)";
    return NULL;
}

static double work_of(const struct ys_trial *trial)
{
    return (double)trial->multiply_adds * (double)trial->record.keys.batch;
}

/* The least work of a step that is more than this. */
static double next_work(const struct ys_study *study, double than)
{
    double least = INFINITY;
    for (size_t i = 0; i < study->set.count; i++)
        if (work_of(&study->set.items[i]) > than)
            least = fmin(least, work_of(&study->set.items[i]));
    return least;
}

/* The least work of a step that is of one kind with the trial's: kinds begin where the work is beyond MOST_TIMES the
 * least of the kind before. So they are the same in every round. */
static double kind_of(const struct ys_study *study, const struct ys_trial *trial)
{
    double least = next_work(study, -1);
    while (work_of(trial) > MOST_TIMES * least)
        least = next_work(study, MOST_TIMES * least);
    return least;
}

/* Each does the same number of steps in every turn, and saves between the same. Between the long turns of one that has
 * far more work a step the other's caches would be cold most of its own time. */
static bool go_together(const struct ys_study *study, const struct ys_trial *a, const struct ys_trial *b)
{
    const struct ys_trial_settings *x = &a->record.keys, *y = &b->record.keys;
    return a->steps == b->steps && x->block == y->block && x->eval_every == y->eval_every &&
           kind_of(study, a) == kind_of(study, b);
}

/* Steps that settle do not count, and without so many blocks speeds have no verdict. */
static bool loses_blocks(const struct ys_trial *trial)
{
    const int64_t block = trial->record.keys.block;
    return trial->steps / block >= YS_STEADY_MIN_BLOCKS &&
           ys_turns_least_blocks(trial->steps, block) < YS_STEADY_MIN_BLOCKS;
}

static bool has_mates(const struct ys_study *study, const struct ys_trial *trial)
{
    for (size_t i = 0; i < study->set.count; i++)
        if (&study->set.items[i] != trial && ys_trial_can_run(&study->set.items[i]) &&
            go_together(study, trial, &study->set.items[i]))
            return true;
    return false;
}

/* The first trial that takes no turns, with why; NULL: there is none. Where turns are not asked for in so many words
 * (`prefers`) each that can run has to have others to take them with, and to lose nothing by it. */
static const struct ys_trial *find_lonely(const struct ys_study *study, bool prefers, const char **why)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        const bool is_weighed = prefers && ys_trial_can_run(trial);
        *why = why_not(trial);
        if (!*why && is_weighed && !has_mates(study, trial))
            *why = "trains for other steps, in other blocks, or with far more or less work a step than all others";
        if (!*why && is_weighed && loses_blocks(trial))
            *why = "would have too few blocks left to tell its warm-up by";
        if (*why)
            return trial;
    }
    return NULL;
}

/* By all trials or by none. */
static void choose(struct ys_study *study)
{
    const char *why = NULL;
    const struct ys_trial *lonely = find_lonely(study, true, &why);
    study->keys.interleave = lonely ? YS_INTERLEAVE_RUNS : YS_INTERLEAVE_BLOCKS;
    if (study->set.count == 1)
        return;
    if (lonely)
        ys_log_info("interleave = auto: runs, one after the other, for %s %s", lonely->record.id, why);
    else
        ys_log_info("interleave = auto: blocks, trials take turns");
}

/* As they are asked for, each has to be able to. */
static ys_status require(const struct ys_study *study)
{
    const char *why = NULL;
    const struct ys_trial *lonely = find_lonely(study, false, &why);
    return lonely ? ys_fail(YS_EINVAL,
                            "%s cannot take turns with others, as interleave = blocks has it: it %s; "
                            "interleave = runs runs trials one after the other",
                            lonely->record.id, why)
                  : YS_OK;
}

ys_status ys_turn_group_settle(struct ys_study *study)
{
    if (study->keys.interleave == YS_INTERLEAVE_AUTO)
        choose(study);
    return study->keys.interleave == YS_INTERLEAVE_BLOCKS ? require(study) : YS_OK;
}

static int64_t ranks_of(const struct ys_trial *trial)
{
    return trial->record.keys.ranks == YS_FIELD_NONE ? 1 : trial->record.keys.ranks;
}

/* Groups as even as can be: of nine, five and four. */
static size_t size_of_group(const struct ys_study *study, struct ys_trial *const *trials, size_t count)
{
    size_t mates = 0;
    for (size_t i = 0; i < count; i++)
        mates += go_together(study, trials[0], trials[i]);
    const size_t groups = (mates + YS_TURNS_MOST - 1) / YS_TURNS_MOST;
    return (mates + groups - 1) / groups;
}

size_t ys_turn_group_take(const struct ys_study *study, struct ys_trial **trials, size_t *count,
                          struct ys_trial *members[YS_TURNS_MOST])
{
    const size_t most = study->keys.interleave == YS_INTERLEAVE_BLOCKS ? size_of_group(study, trials, *count) : 1;
    size_t taken = 1, left = 0; /* the first is never left */
    int64_t sessions = ranks_of(trials[0]);
    members[0] = trials[0];
    for (size_t i = 1; i < *count; i++) {
        struct ys_trial *trial = trials[i];
        if (taken < most && go_together(study, members[0], trial) && sessions + ranks_of(trial) <= YS_SESSIONS_MOST) {
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
