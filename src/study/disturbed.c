#include "study/disturbed.h"

#include "base/mem.h"
#include "run/rank_machines.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* The shares beyond which a run counts as disturbed, fixed before anything is measured. A burner on one core took 48 to
 * 54 % of it beside runs of two threads, and a quiet machine 4 to 16 %. */
static const double MOST_FOREIGN_CORES = 0.25; /* used by others, of one CPU */
static const double MOST_WAIT = 0.2;           /* ready and without a CPU, of the processor time used */
static const double FOREIGN_OF_WAIT = 0.1;     /* waiting is others' doing where they used as much of a CPU as this */
static const double MOST_STEAL = 0.01;         /* of all CPUs' time */
static const double MOST_THROTTLED = 0.01;     /* of the run's time */
static const double MOST_STALLED = 0.01;       /* of the run's time, everything waiting for memory */
static const double MOST_SWAPPED_BYTES = 1 << 20;
/* The kernel counts everybody's time in hundredths of a second: in a run shorter than this nobody else's can be told.
 */
static const double SHORTEST_S = 1;

/* What ys_host_cpus_between() says. */
struct cpus {
    double seconds, cpus, busy_s, steal_s, throttled_s, tick_s;
};
#define OF_CPUS(member, unit, what)                                                                                    \
    YS_FIELD(struct cpus, member, YS_FIELD_REAL, unit, YS_FIELD_NULL | YS_FIELD_LATER, what)
static const struct ys_field cpus_fields[] = {
    OF_CPUS(seconds, "s", "looked at"),
    OF_CPUS(cpus, "1", "that the run may use"),
    OF_CPUS(busy_s, "s", "of them, by everybody"),
    OF_CPUS(steal_s, "s", "of them, taken by the hypervisor"),
    OF_CPUS(throttled_s, "s", "stopped by a quota"),
    OF_CPUS(tick_s, "s", "by which these may be more than counted"),
};
static const struct ys_record cpus_record = YS_RECORD("cpus", struct cpus, cpus_fields);

/* What ys_host_disturbance() says, and what of the run's CPUs. */
struct disturbance {
    double seconds, steal_share, busy_s, memory_stalled_s, throttled_s, swapped_bytes;
    struct cpus *cpus, *work; /* owned; NULL: not counted */
};
#define BESIDE(member, unit, what)                                                                                     \
    YS_FIELD(struct disturbance, member, YS_FIELD_REAL, unit, YS_FIELD_NULL | YS_FIELD_LATER, what)
#define CPUS(member, what)                                                                                             \
    YS_FIELD_OF(struct disturbance, member, YS_FIELD_OBJECT_OWNED, &cpus_record, YS_FIELD_NULL | YS_FIELD_LATER, what)
static const struct ys_field fields[] = {
    BESIDE(seconds, "s", "looked at"),
    BESIDE(steal_share, "1", "of all CPUs' time, taken by the hypervisor"),
    BESIDE(busy_s, "s", "of processors, by everybody"),
    BESIDE(memory_stalled_s, "s", "everything waited for memory"),
    BESIDE(throttled_s, "s", "stopped by a quota"),
    BESIDE(swapped_bytes, "B", "moved to or from swap"),
    CPUS(cpus, "of the run's CPUs"),
    CPUS(work, "of them while it worked"),
};
static const struct ys_record record = YS_RECORD("disturbance", struct disturbance, fields);

/* A run under judgement: what was taken from it, as far as is known, on all its machines. */
struct judgement {
    struct ys_facts *facts;
    int64_t threads;
    struct ys_facts_taken taken;
    double lost_s, work_cpus_s; /* while it worked: what was counted as taken, and all time of its CPUs */
    bool is_disturbed;
};

static void YS_PRINTF(3, 4) add(struct judgement *judgement, const char *host, const char *format, ...)
{
    char text[320];
    const int named = host ? snprintf(text, 160, "%s: ", host) : 0;
    const size_t at = named < 0 ? 0 : named < 160 ? (size_t)named : 159;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, sizeof text - at, format, arguments);
    va_end(arguments);
    judgement->is_disturbed = true;
    ys_list_add_text(&judgement->facts->disturbed, text);
}

/* Of what cannot be said how much time it took. */
static void lose(struct judgement *judgement)
{
    judgement->taken.run_s = judgement->taken.work_s = NAN;
    judgement->taken.by_host = false;
}

static double share_of(const struct cpus *cpus)
{
    return cpus && cpus->seconds > 0 ? cpus->steal_s / (cpus->seconds * cpus->cpus) : NAN;
}

static double or_zero(double value)
{
    return value > 0 ? value : 0;
}

/* At most so much: the hypervisor's, a quota's, and of waiting what others used of these CPUs; each a tick more than
 * was counted. */
static double taken_s(const struct cpus *cpus, double used_s, double wait_s)
{
    const double others_s = or_zero(cpus->busy_s - used_s);
    return cpus->steal_s + cpus->tick_s + or_zero(cpus->throttled_s) + fmin(or_zero(wait_s), others_s);
}

/* What the run used while it worked. */
static double worked_s(const struct ys_facts *facts)
{
    const struct ys_facts_phase_cpu *phases = facts->phase_cpu;
    return phases ? or_zero(phases->steps_s) + or_zero(phases->requests_s) : 0;
}

/** What others did beside it, which only a longer run can tell. `host`: its name; NULL where the run was on one
 * machine. True where its threads waited for CPUs that others used: those beyond the CPUs that the run is bound to wait
 * for each other. */
static bool look_at_others(struct judgement *judgement, const struct ys_facts_machine *machine,
                           const struct disturbance *beside, const char *host)
{
    const double seconds = beside->seconds, wait = machine->cpu_wait_s / machine->used_s;
    const double foreign = (beside->busy_s - machine->used_s - machine->harness_s) / seconds;
    const bool waits =
        wait > MOST_WAIT && foreign > FOREIGN_OF_WAIT && !(machine->threads_busy > (double)judgement->threads + 0.5);
    if (foreign > MOST_FOREIGN_CORES) {
        add(judgement, host, "other programs used %.2f of a CPU", foreign);
        lose(judgement);
    }
    if (waits) {
        add(judgement, host, "its threads waited for a CPU %.2f times as long as they ran", wait);
        judgement->taken.by_host = false;
    }
    if (beside->throttled_s / seconds > MOST_THROTTLED) {
        add(judgement, host, "a quota stopped it for %.2f s", beside->throttled_s);
        judgement->taken.by_host = false;
    }
    if (beside->memory_stalled_s / seconds > MOST_STALLED) {
        add(judgement, host, "everything waited for memory for %.2f s", beside->memory_stalled_s);
        lose(judgement);
    }
    if (beside->swapped_bytes > MOST_SWAPPED_BYTES) {
        add(judgement, host, "the machine swapped %.0f bytes", beside->swapped_bytes);
        lose(judgement);
    }
    return waits;
}

static void look_at(struct judgement *judgement, const struct ys_facts_machine *machine,
                    const struct disturbance *beside, const char *host)
{
    const bool is_long = beside->seconds >= SHORTEST_S;
    const bool waits = is_long && look_at_others(judgement, machine, beside, host);
    const double steal = beside->cpus ? share_of(beside->cpus) : is_long ? beside->steal_share : (double)NAN;
    if (steal > MOST_STEAL || share_of(beside->work) > MOST_STEAL)
        add(judgement, host, "the hypervisor took %.3f of the CPUs' time", fmax(steal, share_of(beside->work)));
    if (!beside->cpus || !beside->work) {
        lose(judgement);
        return;
    }
    const double wait_s = waits ? machine->cpu_wait_s : 0;
    const double work_s = taken_s(beside->work, worked_s(judgement->facts), wait_s);
    judgement->taken.run_s += taken_s(beside->cpus, machine->used_s + or_zero(machine->harness_s), wait_s);
    judgement->taken.work_s += work_s;
    judgement->lost_s += work_s - beside->work->tick_s;
    judgement->work_cpus_s += beside->work->seconds * beside->work->cpus;
}

static void look(struct judgement *judgement, const struct ys_facts_machine *machine, const char *host)
{
    struct disturbance beside;
    if (!machine->disturbance || ys_record_read(&record, machine->disturbance, "disturbance", &beside) != YS_OK)
        return;
    look_at(judgement, machine, &beside, host);
    ys_record_fini(&record, &beside);
}

/* What was taken, where it was disturbed. */
static void keep(struct judgement *judgement)
{
    if (!judgement->is_disturbed || !(judgement->facts->taken = ys_alloc(1, sizeof judgement->taken)))
        return;
    judgement->taken.share =
        isfinite(judgement->taken.work_s) ? judgement->lost_s / judgement->work_cpus_s : (double)NAN;
    *judgement->facts->taken = judgement->taken;
}

enum ys_disturbance ys_disturbed(int64_t threads, struct ys_facts *facts)
{
    struct judgement judgement = {.facts = facts, .threads = threads, .taken = {.by_host = true}};
    if (facts->turns) /* what the machine did hit all that took turns alike; what it used is theirs as well */
        return YS_DISTURBED_NOT;
    const struct ys_facts_machine *machines = facts->machines.items;
    for (size_t i = 0; i < facts->machines.count; i++)
        look(&judgement, &machines[i], machines[i].host ? machines[i].host : "another host");
    if (facts->machines.count == 0 && facts->usage) {
        struct ys_facts_machine only = {.disturbance = facts->disturbance}; /* borrowed */
        ys_machine_add(&only, facts);
        look(&judgement, &only, NULL);
    }
    keep(&judgement);
    if (!judgement.is_disturbed)
        return YS_DISTURBED_NOT;
    return isfinite(judgement.taken.work_s) ? YS_DISTURBED_BOUNDED : YS_DISTURBED_UNTOLD;
}
