#include "run/turns.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "crew/run_state.h"
#include "run/local_run.h"
#include "stat/steady.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of one processor: others, the hypervisor among them, had more of it during a turn than this; or the member's threads
 * were ready and had none for longer, as far as others had it. The first is counted in ticks, the second exactly. */
static const double MOST_TAKEN = 0.25, MOST_WAITED = 0.05;
/* So much of all pairs of cycles may be dropped. */
static const double MOST_DROPPED = 0.75;
/* Of one processor: one that used less of it while it waited kept still. */
static const double STILL = 0.01;
/* Of that of the slowest, so much is the turn of the fastest at least. */
static const double LEAST_TURN = 0.25;
/* In a turn, so that the step to settle in is not most of it; and how much longer than the last one it may be. */
enum { LEAST_STEPS = 3, MOST_GROWTH = 4 };

struct turn_member {
    struct ys_local_run going;
    bool lives, burns; /* burns: it was seen to use a processor while others had their turn */
    uint64_t paused_ns;
    double step_s; /* of its last turn; NaN: there was none */
};

struct turn_pair {
    bool is_disturbed;
    int64_t blocks; /* of its turns, those that count */
};

struct turn_group {
    const struct ys_turns *turns;
    struct turn_member members[YS_TURNS_MOST];
    size_t count;
    uint32_t order[YS_TURNS_MOST]; /* of the cycle under way */
    int64_t cycle, steps;          /* steps: of a turn, those that count */
    bool is_cut;                   /* a turn had fewer of them than a block has */
    struct turn_pair *pairs;       /* owned: of cycles */
    size_t capacity;
};

/* The processors, and what of their time was a member's or yardstick's. */
struct processor_look {
    struct ys_host_cpu_counters cpus;
    double own_s, wait_s; /* wait_s: its threads were ready and had no processor */
};

static double sum(const struct ys_crew *crew, double (*seen)(const struct ys_session *session))
{
    double sum_s = 0;
    for (size_t i = 0; i < crew->count; i++)
        sum_s += seen(crew->sessions[i]);
    return sum_s;
}

static void look_at(const struct turn_member *member, struct processor_look *look)
{
    look->own_s = sum(&member->going.crew, ys_session_seen_cpu_s) + (double)ys_run_own_cpu_ns() * 1e-9;
    look->wait_s = sum(&member->going.crew, ys_session_seen_wait_s);
    ys_run_count_cpus(member->going.crew.runs, &look->cpus);
}

static bool is_disturbed(const struct processor_look *before, const struct processor_look *after)
{
    const double span_s = (double)(after->cpus.t_ns - before->cpus.t_ns) * 1e-9;
    const double others_s = after->cpus.busy_s - before->cpus.busy_s - (after->own_s - before->own_s);
    const double stolen_s = after->cpus.steal_s - before->cpus.steal_s;
    if (before->cpus.cpus <= 0 || after->cpus.cpus != before->cpus.cpus)
        return false;
    return fmax(others_s, 0) + stolen_s - after->cpus.tick_s > MOST_TAKEN * span_s ||
           fmin(after->wait_s - before->wait_s, others_s) > MOST_WAITED * span_s;
}

/** One turn of the loop, for all that live: those who wait have their logs drained and their limits watched. */
static void turn_all(struct turn_group *group)
{
    struct ys_session *sessions[YS_SESSIONS_MOST];
    size_t count = 0;
    for (size_t m = 0; m < group->count; m++) {
        const struct ys_crew *crew = &group->members[m].going.crew;
        for (size_t i = 0; group->members[m].lives && i < crew->count && count < YS_SESSIONS_MOST; i++)
            sessions[count++] = crew->sessions[i];
    }
    ys_session_turn(sessions, count, UINT64_MAX);
}

/** Takes the answer to what it was asked. */
static ys_status hear(struct turn_group *group, struct turn_member *member, bool *is_done)
{
    struct ys_crew *crew = &member->going.crew;
    while (ys_crew_is_busy(crew) && !ys_crew_has_failed(crew))
        turn_all(group);
    return ys_crew_has_failed(crew) ? ys_crew_fail(crew) : ys_crew_take(crew, is_done);
}

/** Asks what is next, and takes the answer. */
static ys_status ask(struct turn_group *group, struct turn_member *member, bool *is_done)
{
    YS_TRY(ys_crew_ask(&member->going.crew));
    return hear(group, member, is_done);
}

/** What comes before its next turn, or to the end. */
static ys_status go_on(struct turn_group *group, struct turn_member *member, bool *is_done)
{
    while (!*is_done && !ys_crew_takes_turns(&member->going.crew))
        YS_TRY(ask(group, member, is_done));
    return YS_OK;
}

static void pause_member(struct turn_member *member)
{
    struct ys_crew *crew = &member->going.crew;
    for (size_t i = 0; i < crew->count; i++)
        ys_session_pause(crew->sessions[i], member->burns);
    member->paused_ns = ys_time_ns();
}

/** Gives back the processor time that it used meanwhile. */
static int64_t resume_member(struct turn_member *member)
{
    struct ys_crew *crew = &member->going.crew;
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < crew->count; i++) {
        uint64_t used_ns = 0;
        ys_session_resume(crew->sessions[i], &used_ns);
        sum_ns += used_ns;
    }
    member->burns = member->burns || (double)sum_ns > STILL * (double)(ys_time_ns() - member->paused_ns);
    return (int64_t)sum_ns;
}

/** Ends a member, which has done its work, or of which `status` says why not. */
static ys_status end_member(struct turn_member *member, ys_status status)
{
    member->lives = false;
    return ys_local_run_end(&member->going, status);
}

/** It failed, or is done: ended at once. Failures are yardstick's own. */
static ys_status settle(struct turn_member *member, ys_status status, bool is_done)
{
    if (status != YS_OK || is_done)
        return end_member(member, status);
    pause_member(member);
    return YS_OK;
}

static ys_status start(struct turn_group *group, struct turn_member *member, const struct ys_run_spec *spec,
                       struct ys_run_record *record)
{
    const struct ys_run_turn before = {.cycle = -1};
    bool is_done = false;
    member->lives = true;
    ys_status status = ys_local_run_begin(spec, record, &member->going);
    if (status == YS_OK) {
        ys_crew_set_turn(&member->going.crew, &before);
        status = hear(group, member, &is_done);
    }
    if (status == YS_OK)
        status = go_on(group, member, &is_done);
    return settle(member, status, is_done);
}

/** Of its last question: seconds a step. */
static double last_step_s(const struct turn_member *member, int64_t steps)
{
    const struct ys_series_set *series = member->going.crew.runs->series;
    const struct ys_series *sent = ys_series_find(series, "request_sent_ns"),
                           *done = ys_series_find(series, "request_done_ns");
    if (!sent || !done || done->count == 0 || steps < 1)
        return NAN;
    return (double)(done->ints[done->count - 1] - sent->ints[done->count - 1]) * 1e-9 / (double)steps;
}

/** The step to settle in, and those that count. */
static ys_status train(struct turn_group *group, struct turn_member *member, int64_t ahead_ns, bool *is_done)
{
    struct ys_run_turn turn = {.steps = 1, .cycle = group->cycle, .settles = true};
    const struct ys_run *first = member->going.crew.runs;
    ys_crew_set_turn(&member->going.crew, &turn);
    YS_TRY(ask(group, member, is_done));
    YS_TRY(go_on(group, member, is_done));
    if (*is_done)
        return YS_OK;
    turn = (struct ys_run_turn){.steps = group->steps, .cycle = group->cycle, .ahead_ns = ahead_ns};
    const int64_t from = first->next_step;
    ys_crew_set_turn(&member->going.crew, &turn);
    YS_TRY(ask(group, member, is_done));
    member->step_s = last_step_s(member, first->next_step - from);
    return YS_OK;
}

/** Marks the pair of cycles under way where others had the processors. Of a run that is not counted nothing is known.
 */
static void judge(struct turn_group *group, const struct processor_look *before, const struct turn_member *member)
{
    struct processor_look after;
    look_at(member, &after);
    if (sum(&member->going.crew, ys_session_seen_cpu_s) > 0)
        group->pairs[group->cycle / 2].is_disturbed |= is_disturbed(before, &after);
}

static ys_status take_turn(struct turn_group *group, struct turn_member *member)
{
    struct processor_look before;
    bool is_done = false;
    const int64_t ahead_ns = resume_member(member);
    look_at(member, &before);
    ys_status status = train(group, member, ahead_ns, &is_done);
    const bool was_last = status == YS_OK && !ys_crew_has_steps(&member->going.crew);
    if (was_last) /* it was looked at there, and what comes now is no turn */
        judge(group, &before, member);
    if (status == YS_OK)
        status = go_on(group, member, &is_done);
    YS_TRY(settle(member, status, is_done));
    if (member->lives && !was_last)
        judge(group, &before, member);
    return YS_OK;
}

static void order_cycle(struct turn_group *group)
{
    if (group->cycle % 2 == 0) {
        char name[40];
        struct ys_rng rng;
        snprintf(name, sizeof name, "cycle/%" PRId64, group->cycle);
        ys_rng_init(&rng, group->turns->seed, name);
        ys_rng_shuffle(&rng, group->order, (uint32_t)group->count);
        return;
    }
    for (size_t i = 0, last = group->count; i + 1 < last; i++) {
        const uint32_t kept = group->order[i];
        group->order[i] = group->order[--last];
        group->order[last] = kept;
    }
}

static int64_t whole_blocks(int64_t steps, int64_t block)
{
    return steps < block ? steps : (steps + block - 1) / block * block;
}

/** So many that the slowest member's turn takes its time, and that of the fastest no small part of it: in a short one a
 * member would mostly fill caches that others have emptied. Whole blocks, unless one is longer than that. */
static void choose_steps(struct turn_group *group, struct turn_pair *pair)
{
    double slowest_s = 0, fastest_s = INFINITY;
    int64_t block = 1, steps = LEAST_STEPS; /* as long as nothing is known */
    for (size_t m = 0; m < group->count; m++) {
        const struct turn_member *member = &group->members[m];
        if (!member->lives)
            continue;
        block = member->going.crew.runs->block;
        slowest_s = fmax(slowest_s, member->step_s);
        fastest_s = fmin(fastest_s, member->step_s);
    }
    if (slowest_s > 0) {
        const double turn_s = group->turns->turn_s,
                     due = fmax(ceil(fmax(turn_s / slowest_s, LEAST_TURN * turn_s / fastest_s)), LEAST_STEPS);
        group->is_cut = group->is_cut || due < (double)block;
        steps = (int64_t)fmin(due, (double)(MOST_GROWTH * group->steps));
    }
    group->steps = whole_blocks(steps, block);
    *pair = (struct turn_pair){.blocks = 2 * (group->steps > block ? group->steps / block : 1)};
}

int64_t ys_turns_least_blocks(int64_t steps, int64_t block)
{
    const int64_t turn = block > LEAST_STEPS ? block : whole_blocks(LEAST_STEPS, block);
    return (steps - 1) / (turn + 1) * (turn / block); /* a step comes before them, and one in each settles */
}

/** The first cycle of a pair says how long turns are, and in what order. */
static void begin_cycle(struct turn_group *group)
{
    const size_t at = (size_t)(group->cycle / 2);
    order_cycle(group);
    if (group->cycle % 2)
        return;
    if (at >= group->capacity)
        group->pairs = ys_grown(group->pairs, at, &group->capacity, sizeof *group->pairs);
    choose_steps(group, &group->pairs[at]);
}

static bool is_any_alive(const struct turn_group *group)
{
    for (size_t m = 0; m < group->count; m++)
        if (group->members[m].lives)
            return true;
    return false;
}

/** Ends those that live, for a reason that is none of theirs. */
static ys_status end_all(struct turn_group *group, ys_status status)
{
    char *said = ys_strdup(ys_error());
    for (size_t m = 0; m < group->count; m++) {
        if (!group->members[m].lives)
            continue;
        ys_fail(status, "%s", said);
        (void)!end_member(&group->members[m], status);
    }
    ys_fail(status, "%s", said);
    ys_free(said);
    return status;
}

static ys_status end_late(struct turn_group *group)
{
    for (size_t m = 0; m < group->count; m++) {
        struct turn_member *member = &group->members[m];
        struct ys_crew *crew = &member->going.crew;
        if (!member->lives)
            continue;
        (void)!ys_session_fail(crew->sessions[0], YS_RUN_TIMEOUT_WALL, "there was no time left for it");
        YS_TRY(end_member(member, ys_crew_fail(crew)));
    }
    return YS_OK;
}

static bool is_late(const struct turn_group *group)
{
    return group->turns->deadline_ns && ys_time_ns() >= group->turns->deadline_ns;
}

static ys_status go_round(struct turn_group *group)
{
    for (; is_any_alive(group); group->cycle++) {
        if (is_late(group))
            return end_late(group);
        begin_cycle(group);
        for (size_t i = 0; i < group->count; i++) {
            struct turn_member *member = &group->members[group->order[i]];
            if (member->lives)
                YS_TRY(take_turn(group, member));
        }
    }
    return YS_OK;
}

static size_t count_marked(const struct turn_group *group, size_t pairs)
{
    size_t marked = 0;
    for (size_t p = 0; p < pairs; p++)
        marked += group->pairs[p].is_disturbed;
    return marked;
}

/** Not where that would be too many of them, nor where so few blocks would be left that nothing could be told of
 * warm-up. (The last pair may have been cut short.) */
static bool drops(const struct turn_group *group, size_t pairs)
{
    int64_t all = 0, left = 0;
    for (size_t p = 0; p + 1 < pairs; p++) {
        all += group->pairs[p].blocks;
        left += group->pairs[p].is_disturbed ? 0 : group->pairs[p].blocks;
    }
    return group->turns->drops && (double)count_marked(group, pairs) <= MOST_DROPPED * (double)pairs &&
           (left >= YS_STEADY_MIN_BLOCKS || all < YS_STEADY_MIN_BLOCKS);
}

static void count_settled(const struct ys_series_set *series, struct ys_facts_turns *facts)
{
    size_t count = SIZE_MAX;
    const int64_t *settles = ys_series_column(series, "request_settles", &count),
                  *dropped = ys_series_column(series, "request_dropped", &count),
                  *sent_ns = ys_series_column(series, "request_sent_ns", &count),
                  *done_ns = ys_series_column(series, "request_done_ns", &count);
    facts->settled = facts->settled_ns = 0;
    for (size_t i = 0; settles && dropped && sent_ns && done_ns && i < count; i++) {
        if (!settles[i] || dropped[i])
            continue;
        facts->settled++;
        facts->settled_ns += done_ns[i] - sent_ns[i];
    }
}

/** Which questions do not count, and how many pairs of cycles that are. */
static void drop(const struct turn_group *group, size_t place, struct ys_run_record *record)
{
    const size_t pairs = (size_t)(group->cycle + 1) / 2, marked = count_marked(group, pairs);
    const struct ys_series *cycles = ys_series_find(&record->series, "request_cycle");
    struct ys_facts_turns *facts = record->has_facts ? record->facts.turns : NULL;
    const bool is_dropping = drops(group, pairs);
    for (size_t i = 0, count = cycles ? cycles->count : 0; i < count; i++) {
        const int64_t cycle = ys_series_find(&record->series, "request_cycle")->ints[i];
        ys_series_add_int(&record->series, "request_dropped",
                          is_dropping && cycle >= 0 && group->pairs[cycle / 2].is_disturbed);
    }
    if (!facts)
        return;
    count_settled(&record->series, facts);
    facts->members = (int64_t)group->count;
    facts->place = (int64_t)place;
    facts->pairs = (int64_t)pairs;
    facts->disturbed = (int64_t)marked;
    facts->dropped = is_dropping ? (int64_t)marked : 0;
    facts->block_cut = group->is_cut;
}

/** Whether one more may be started: those that live have not reached their peaks. */
static bool has_room(const struct turn_group *group)
{
    uint64_t largest_bytes = 0;
    for (size_t m = 0; m < group->count; m++) {
        const struct ys_crew *crew = &group->members[m].going.crew;
        uint64_t held_bytes = 0;
        for (size_t i = 0; group->members[m].lives && i < crew->count; i++)
            held_bytes += ys_session_seen_rss_bytes(crew->sessions[i]);
        largest_bytes = held_bytes > largest_bytes ? held_bytes : largest_bytes;
    }
    return group->turns->room() > 2 * (int64_t)largest_bytes;
}

static ys_status start_all(struct turn_group *group, const struct ys_run_spec *specs, size_t count,
                           struct ys_run_record *records)
{
    ys_status status = YS_OK;
    while (status == YS_OK && group->count < count && (group->count == 0 || has_room(group))) {
        const size_t m = group->count++;
        group->order[m] = (uint32_t)m;
        group->members[m].step_s = NAN;
        status = start(group, &group->members[m], &specs[m], &records[m]);
    }
    return status;
}

ys_status ys_turns_execute(const struct ys_run_spec *specs, size_t count, const struct ys_turns *turns,
                           struct ys_run_record *records, size_t *started)
{
    struct turn_group group = {.turns = turns, .steps = LEAST_STEPS};
    memset(records, 0, count * sizeof *records);
    YS_ASSERT(count <= YS_TURNS_MOST);
    ys_status status = start_all(&group, specs, count, records);
    *started = group.count;
    if (status == YS_OK)
        status = go_round(&group);
    if (status != YS_OK)
        status = end_all(&group, status);
    for (size_t m = 0; m < group.count; m++)
        drop(&group, m, &records[m]);
    ys_free(group.pairs);
    return status;
}
