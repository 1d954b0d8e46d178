#include "study/disturbed.h"

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
/* The kernel counts everybody's time in hundredths of a second: a run shorter than this cannot be told. */
static const double SHORTEST_S = 1;

/* What ys_host_disturbance() says. */
struct beside {
    double seconds, steal_share, busy_s, memory_stalled_s, throttled_s, swapped_bytes;
};
#define BESIDE(member, unit, what)                                                                                     \
    YS_FIELD(struct beside, member, YS_FIELD_REAL, unit, YS_FIELD_NULL | YS_FIELD_LATER, what)
static const struct ys_field fields[] = {
    BESIDE(seconds, "s", "looked at"),
    BESIDE(steal_share, "1", "of all CPUs' time, taken by the hypervisor"),
    BESIDE(busy_s, "s", "of processors, by everybody"),
    BESIDE(memory_stalled_s, "s", "everything waited for memory"),
    BESIDE(throttled_s, "s", "stopped by a quota"),
    BESIDE(swapped_bytes, "B", "moved to or from swap"),
};
static const struct ys_record record = YS_RECORD("disturbance", struct beside, fields);

static void YS_PRINTF(2, 3) add(struct ys_facts *facts, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)!ys_list_add_text(&facts->disturbed, text);
}

static double seconds_of(int64_t span_ns)
{
    return span_ns == YS_FIELD_NONE ? NAN : (double)span_ns * 1e-9;
}

static void look(int64_t threads, struct ys_facts *facts, const struct beside *beside)
{
    const struct ys_facts_usage *usage = facts->usage;
    double used_s = seconds_of(usage->user_ns) + seconds_of(usage->system_ns) + seconds_of(usage->unwaited_ns);
    if (facts->feeder)
        used_s += seconds_of(facts->feeder->user_ns) + seconds_of(facts->feeder->system_ns);
    double harness_s = seconds_of(facts->harness.cpu_ns), seconds = beside->seconds,
           busy = facts->observed.threads_busy;
    double foreign = (beside->busy_s - used_s - harness_s) / seconds;
    double wait = facts->observation ? seconds_of(facts->observation->cpu_wait_ns) / used_s : NAN;
    if (foreign > MOST_FOREIGN_CORES)
        add(facts, "other programs used %.2f of a CPU", foreign);
    /* Threads beyond the CPUs that the run is bound to wait for each other. */
    if (wait > MOST_WAIT && foreign > FOREIGN_OF_WAIT && !(busy > (double)threads + 0.5))
        add(facts, "its threads waited for a CPU %.2f times as long as they ran", wait);
    if (beside->steal_share > MOST_STEAL)
        add(facts, "the hypervisor took %.3f of the CPUs' time", beside->steal_share);
    if (beside->throttled_s / seconds > MOST_THROTTLED)
        add(facts, "a quota stopped it for %.2f s", beside->throttled_s);
    if (beside->memory_stalled_s / seconds > MOST_STALLED)
        add(facts, "everything waited for memory for %.2f s", beside->memory_stalled_s);
    if (beside->swapped_bytes > MOST_SWAPPED_BYTES)
        add(facts, "the machine swapped %.0f bytes", beside->swapped_bytes);
}

bool ys_disturbed(int64_t threads, struct ys_facts *facts)
{
    struct beside beside;
    if (!facts->usage || !facts->disturbance ||
        ys_record_read(&record, facts->disturbance, "disturbance", &beside) != YS_OK)
        return false;
    if (beside.seconds >= SHORTEST_S)
        look(threads, facts, &beside);
    return facts->disturbed.count > 0;
}
