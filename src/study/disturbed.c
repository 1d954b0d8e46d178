#include "study/disturbed.h"

#include "run/machines.h"

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

static void YS_PRINTF(3, 4) add(struct ys_facts *facts, const char *host, const char *format, ...)
{
    char text[320];
    const int named = host ? snprintf(text, 160, "%s: ", host) : 0;
    const size_t at = named < 0 ? 0 : named < 160 ? (size_t)named : 159;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, sizeof text - at, format, arguments);
    va_end(arguments);
    (void)!ys_list_add_text(&facts->disturbed, text);
}

/** `host`: its name; NULL where the run was on one machine. */
static void look(int64_t threads, struct ys_facts *facts, const struct ys_facts_machine *machine, const char *host)
{
    struct beside beside;
    if (!machine->disturbance || ys_record_read(&record, machine->disturbance, "disturbance", &beside) != YS_OK ||
        beside.seconds < SHORTEST_S)
        return;
    const double seconds = beside.seconds;
    const double foreign = (beside.busy_s - machine->used_s - machine->harness_s) / seconds;
    const double wait = machine->cpu_wait_s / machine->used_s;
    if (foreign > MOST_FOREIGN_CORES)
        add(facts, host, "other programs used %.2f of a CPU", foreign);
    /* Threads beyond the CPUs that the run is bound to wait for each other. */
    if (wait > MOST_WAIT && foreign > FOREIGN_OF_WAIT && !(machine->threads_busy > (double)threads + 0.5))
        add(facts, host, "its threads waited for a CPU %.2f times as long as they ran", wait);
    if (beside.steal_share > MOST_STEAL)
        add(facts, host, "the hypervisor took %.3f of the CPUs' time", beside.steal_share);
    if (beside.throttled_s / seconds > MOST_THROTTLED)
        add(facts, host, "a quota stopped it for %.2f s", beside.throttled_s);
    if (beside.memory_stalled_s / seconds > MOST_STALLED)
        add(facts, host, "everything waited for memory for %.2f s", beside.memory_stalled_s);
    if (beside.swapped_bytes > MOST_SWAPPED_BYTES)
        add(facts, host, "the machine swapped %.0f bytes", beside.swapped_bytes);
}

bool ys_disturbed(int64_t threads, struct ys_facts *facts)
{
    const struct ys_facts_machine *machines = facts->machines.items;
    for (size_t i = 0; i < facts->machines.count; i++)
        look(threads, facts, &machines[i], machines[i].host ? machines[i].host : "another host");
    if (facts->machines.count == 0 && facts->usage) {
        struct ys_facts_machine only = {.disturbance = facts->disturbance}; /* borrowed */
        ys_machine_add(&only, facts);
        look(threads, facts, &only, NULL);
    }
    return facts->disturbed.count > 0;
}
