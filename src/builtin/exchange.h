/* What an adapter in C says of how its ranks exchange numbers. Of this room alone. */
#ifndef YS_BUILTIN_EXCHANGE_H
#define YS_BUILTIN_EXCHANGE_H

#include "base/json.h"
#include "base/status.h"
#include "protocol/plan.h"

/** Adds to `reply`, the answer to `open`, that it is a ring, and where its connections are: `wire` as of struct
 * ys_dist_config. */
ys_status ys_builtin_tell_exchange(const struct ys_plan_dist *dist, const char *wire, ys_json *reply) YS_MUST_CHECK;

#endif
