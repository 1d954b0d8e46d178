/* The pipe to a browser, in the DevTools protocol of Chromium (chromedevtools.github.io/devtools-protocol): JSON
 * objects over two pipes, each ended by a zero byte. A command has a number and one answer; events come when they come.
 */
#ifndef YS_BRIDGE_DEVTOOLS_H
#define YS_BRIDGE_DEVTOOLS_H

#include "base/json/json.h"
#include "base/status.h"

#include <stdint.h>

#define YS_DEVTOOLS_LINE_LIMIT ((size_t)64 << 20) /* bytes of a message */

struct ys_devtools;

/** Over descriptors that it takes and closes: one for what comes and one for what goes. */
ys_status ys_devtools_open(int in_fd, int out_fd, struct ys_devtools **pipe) YS_MUST_CHECK;
void ys_devtools_close(struct ys_devtools *pipe); /* NULL is fine */

/** That at which what comes can be waited for; true: a message lies ready besides. */
int ys_devtools_fd(const struct ys_devtools *pipe);
bool ys_devtools_has_event(const struct ys_devtools *pipe);

/** Where commands go from now on: the session of a page; owned by the caller; NULL: the browser itself. */
void ys_devtools_use(struct ys_devtools *pipe, const char *session);

/** Sends a command and does not wait. `params` is taken; NULL: none. `*id` (may be NULL) is its number.
 * YS_EIO: the browser has gone. */
ys_status ys_devtools_send(struct ys_devtools *pipe, const char *method, ys_json *params, int64_t *id) YS_MUST_CHECK;
/** Sends a command and waits for its answer; events that come meanwhile are kept. `*result` (may be NULL) is the
 * caller's. YS_EPROTOCOL: the browser refused it, with its words; YS_ETIMEOUT: nothing for `limit_s`; YS_EIO. */
ys_status ys_devtools_ask(struct ys_devtools *pipe, const char *method, ys_json *params, double limit_s,
                          ys_json **result) YS_MUST_CHECK;
/** The oldest event, or answer to a command that was only sent: of those kept, else the next that comes until
 * `deadline_ns` of ys_time_ns(). The caller's. YS_ETIMEOUT; YS_EIO: the browser has gone; YS_EPROTOCOL: not JSON, or
 * too long. */
ys_status ys_devtools_event(struct ys_devtools *pipe, uint64_t deadline_ns, ys_json **event) YS_MUST_CHECK;

#endif
