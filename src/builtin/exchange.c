#include "builtin/exchange.h"

#include "dist/dist.h"

ys_status ys_builtin_tell_exchange(const struct ys_plan_dist *dist, const char *wire, ys_json *reply)
{
    char path[YS_DIST_WIRE_PATH];
    YS_TRY(ys_json_set_string(reply, "exchange", "ring"));
    if (!wire)
        return YS_OK;
    ys_dist_wire_path(wire, (int)dist->rank, path);
    return ys_json_set_string(reply, "network", path);
}
