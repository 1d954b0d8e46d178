/* What an adapter in C says of how its ranks exchange numbers. Of this room alone. */
#ifndef YS_BUILTIN_RANK_EXCHANGE_H
#define YS_BUILTIN_RANK_EXCHANGE_H

#include "base/json/json.h"
#include "base/status.h"
#include "dist/dist.h"
#include "protocol/block_message.h"
#include "protocol/plan.h"

/** The transport of that value of ys_dist_transports; TCP where none is named. */
enum ys_dist_transport ys_builtin_transport(int named);

/** Adds to `reply`, the answer to `open`, that it is a ring, and where its connections are: `wire` as of struct
 * ys_dist_config. */
ys_status ys_builtin_tell_exchange(const struct ys_plan_dist *dist, const char *wire, ys_json *reply) YS_MUST_CHECK;

/** Notes in the block what was exchanged since `before`. */
void ys_builtin_count_exchange(const struct ys_dist *dist, const struct ys_dist_counters *before,
                               struct ys_block *block);

#endif
