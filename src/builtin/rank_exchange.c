#include "builtin/rank_exchange.h"

enum ys_dist_transport ys_builtin_transport(int named)
{
    return named == YS_NAME_NONE ? YS_DIST_TCP : (enum ys_dist_transport)named;
}

ys_status ys_builtin_tell_exchange(const struct ys_plan_dist *dist, const char *wire, ys_json *reply)
{
    char path[YS_DIST_WIRE_PATH];
    YS_TRY(ys_json_set_string(reply, "exchange", "ring"));
    if (!wire)
        return YS_OK;
    ys_dist_wire_path(wire, (int)dist->rank, path);
    return ys_json_set_string(reply, "network", path);
}

void ys_builtin_count_exchange(const struct ys_dist *dist, const struct ys_dist_counters *before,
                               struct ys_block *block)
{
    const struct ys_dist_counters now = ys_dist_counters(dist);
    block->sent_bytes = (int64_t)(now.sent_bytes - before->sent_bytes);
    block->exchange_ns = (int64_t)(now.busy_ns - before->busy_ns);
}
