#include "study/disturbed.h"

#include "base/buf.h"
#include "base/mem.h"

#include <math.h>
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

static void add(ys_json *causes, char *text_taken)
{
    ys_json_append(causes, ys_json_string(text_taken ? text_taken : "out of memory"));
    ys_free(text_taken);
}

static double own_s(const ys_json *facts)
{
    const ys_json *usage = ys_json_get(facts, "usage");
    return (ys_json_get_number(usage, "user_ns", NAN) + ys_json_get_number(usage, "system_ns", NAN) +
            ys_json_get_number(usage, "unwaited_ns", 0)) *
           1e-9;
}

static void look(int64_t threads, const ys_json *facts, double seconds, ys_json *causes)
{
    const ys_json *beside = ys_json_get(facts, "disturbance");
    double used_s = own_s(facts), harness_s = ys_json_get_number(ys_json_get(facts, "harness"), "cpu_ns", 0) * 1e-9;
    double foreign = (ys_json_get_number(beside, "busy_s", NAN) - used_s - harness_s) / seconds;
    double wait = ys_json_get_number(ys_json_get(facts, "observation"), "cpu_wait_ns", NAN) * 1e-9 / used_s;
    double busy = ys_json_get_number(ys_json_get(facts, "observed"), "threads_busy", 0);
    if (foreign > MOST_FOREIGN_CORES)
        add(causes, ys_format("other programs used %.2f of a CPU", foreign));
    /* Threads beyond the CPUs that the run is bound to wait for each other. */
    if (wait > MOST_WAIT && foreign > FOREIGN_OF_WAIT && busy <= (double)threads + 0.5)
        add(causes, ys_format("its threads waited for a CPU %.2f times as long as they ran", wait));
    if (ys_json_get_number(beside, "steal_share", 0) > MOST_STEAL)
        add(causes,
            ys_format("the hypervisor took %.3f of the CPUs' time", ys_json_get_number(beside, "steal_share", 0)));
    if (ys_json_get_number(beside, "throttled_s", 0) / seconds > MOST_THROTTLED)
        add(causes, ys_format("a quota stopped it for %.2f s", ys_json_get_number(beside, "throttled_s", 0)));
    if (ys_json_get_number(beside, "memory_stalled_s", 0) / seconds > MOST_STALLED)
        add(causes,
            ys_format("everything waited for memory for %.2f s", ys_json_get_number(beside, "memory_stalled_s", 0)));
    if (ys_json_get_number(beside, "swapped_bytes", 0) > MOST_SWAPPED_BYTES)
        add(causes, ys_format("the machine swapped %.0f bytes", ys_json_get_number(beside, "swapped_bytes", 0)));
}

bool ys_disturbed(int64_t threads, ys_json *facts)
{
    double seconds = ys_json_get_number(ys_json_get(facts, "disturbance"), "seconds", 0);
    ys_json *causes = seconds >= SHORTEST_S ? ys_json_array() : ys_json_null();
    if (seconds >= SHORTEST_S)
        look(threads, facts, seconds, causes);
    bool is_disturbed = ys_json_size(causes) > 0;
    ys_json_set(facts, "disturbed", causes);
    return is_disturbed;
}
