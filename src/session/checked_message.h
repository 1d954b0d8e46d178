/* What an adapter says: the members that docs/protocol.md gives, and their types. */
#ifndef YS_SESSION_CHECKED_MESSAGE_H
#define YS_SESSION_CHECKED_MESSAGE_H

#include "base/status.h"
#include "protocol/messages.h"

/** YS_EPROTOCOL: a member of `message` is of another type, or one is missing that the work cannot go on without.
 * Members and messages that docs/protocol.md does not know are fine. */
ys_status ys_message_check(const ys_json *message) YS_MUST_CHECK;

/** Reads `message`, which may be NULL: none came. */
void ys_message_read(const ys_json *message, struct ys_message *read);
/** Its type alone, "" where it has none. */
const char *ys_message_type(const ys_json *message);

/** Whether an adapter's `hello` lists the feature. */
bool ys_message_has_feature(const ys_json *hello, const char *feature);

#endif
