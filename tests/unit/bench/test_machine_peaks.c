/* No figure is asserted, only that there is one and that its parts fit together. */
#include "bench/machine_peaks.h"

#include "probe/host.h"
#include "tap.h"
#include <math.h>

static void memory_has_a_speed(void)
{
    struct ys_peak_memory memory;
    CHECK(ys_peak_memory((size_t)1 << 20, 1, 2, &memory) == YS_OK);
    CHECK(memory.read > 0 && memory.copy > 0 && memory.triad > 0);
    CHECK(isfinite(memory.read) && isfinite(memory.copy) && isfinite(memory.triad));
}

static void a_line_takes_time_from_one_cpu_to_another(void)
{
    int cpus[2];
    if (ys_host_cpus_allowed() < 2) {
        tap_skip("one CPU");
        return;
    }
    struct ys_peak_handover handover;
    CHECK(ys_host_cpu_pick(2, cpus) == YS_OK);
    CHECK(ys_peak_handover(cpus, 3, &handover) == YS_OK);
    CHECK_INT(handover.samples, 3);
    CHECK(0 < handover.fastest_ns && handover.fastest_ns <= handover.median_ns &&
          handover.median_ns <= handover.slowest_ns);
}

TAP_MAIN(TAP_CASE(memory_has_a_speed), TAP_CASE(a_line_takes_time_from_one_cpu_to_another))
