#include "protocol/latency_message.h"
#include "base/status.h"
#include <inttypes.h>
#include <stdio.h>

bool ys_latencies_have_room(const struct ys_latencies *l)
{
    return l->count < YS_LATENCIES_LIMIT && (l->count + 1) * l->tokens <= YS_LATENCIES_LIMIT;
}

static void add_array(struct ys_latencies *l, size_t *used, const char *name, const uint64_t *values, size_t count)
{
    *used += (size_t)snprintf(l->text + *used, sizeof l->text - *used, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        *used += (size_t)snprintf(l->text + *used, sizeof l->text - *used, "%s%" PRIu64, i ? "," : "", values[i]);
    *used += (size_t)snprintf(l->text + *used, sizeof l->text - *used, "]");
}

size_t ys_latencies_format(struct ys_latencies *l)
{
    size_t used = (size_t)snprintf(l->text, sizeof l->text,
                                   "{\"type\":\"latencies\",\"first\":%" PRId64 ",\"count\":%zu,\"t_start_ns\":%" PRIu64
                                   ",\"t_end_ns\":%" PRIu64,
                                   l->first, l->count, l->t_start_ns, l->t_end_ns);
    add_array(l, &used, "latency_ns", l->latency_ns, l->count);
    if (l->counted)
        add_array(l, &used, "instructions", l->instructions, l->count);
    if (l->tokens > 0) {
        add_array(l, &used, "prompt_ns", l->prompt_ns, l->count);
        add_array(l, &used, "token_ns", l->token_ns, l->count * l->tokens);
    }
    used += (size_t)snprintf(l->text + used, sizeof l->text - used, "}\n");
    YS_ASSERT(used < sizeof l->text);
    return used;
}
