#include "protocol/latency.h"
#include "base/status.h"
#include <inttypes.h>
#include <stdio.h>

size_t ys_latencies_format(struct ys_latencies *l)
{
    size_t used = (size_t)snprintf(l->text, sizeof l->text,
                                   "{\"type\":\"latencies\",\"first\":%" PRId64 ",\"count\":%zu,\"t_start_ns\":%" PRIu64
                                   ",\"t_end_ns\":%" PRIu64 ",\"latency_ns\":[",
                                   l->first, l->count, l->t_start_ns, l->t_end_ns);
    for (size_t i = 0; i < l->count; i++)
        used += (size_t)snprintf(l->text + used, sizeof l->text - used, "%s%" PRIu64, i ? "," : "", l->latency_ns[i]);
    used += (size_t)snprintf(l->text + used, sizeof l->text - used, "]}\n");
    YS_ASSERT(used < sizeof l->text);
    return used;
}
