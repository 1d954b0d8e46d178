#include "metric/run/waited_input.h"

#include <math.h>

double ys_waited_part(int64_t span_ns, int64_t said_ns, int64_t threads, const struct ys_facts_phase_cpu *cpu)
{
    static const double COPYING = 0.05;
    if (!cpu || isnan(cpu->steps_s) || threads < 1) /* YS_FIELD_NONE too */
        return 1;
    const double idle_ns = fmax((double)span_ns - cpu->steps_s * 1e9 / (double)threads, 0);
    return (double)said_ns <= idle_ns + COPYING * (double)span_ns ? 1 : idle_ns / (double)said_ns;
}
