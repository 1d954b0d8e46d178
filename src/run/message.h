/* What an adapter says has the types that docs/protocol.md gives. */
#ifndef YS_RUN_MESSAGE_H
#define YS_RUN_MESSAGE_H

#include "base/json.h"
#include "base/status.h"

/** YS_EPROTOCOL: a member of `message` is of another type, or one is missing that the work cannot go on without.
 * Members and messages that docs/protocol.md does not know are fine. */
ys_status ys_message_check(const ys_json *message) YS_MUST_CHECK;

#endif
